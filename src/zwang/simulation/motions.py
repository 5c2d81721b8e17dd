"""Simulations that users call: one motion from a state, or many; for systems and mechanisms.

What a user calls, written once: `zwang.System` and `zwang.Mechanism` have both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.equations.evaluations import Evaluations
from zwang.errors import InputError

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.simulation.controllers import Controller
    from zwang.simulation.ensemble_runs import Runs
    from zwang.simulation.progress import Report
    from zwang.tracing.event import Watched

__all__ = ["Motions"]

#: Why many simulations have no store.
_ONE_BY_ONE = "There is not one path for many runs; save them one by one: run.save(path)."
ONE_STORE: dict[str, str] = {
    **dict.fromkeys(("store", "store_every", "companions"), _ONE_BY_ONE),
    "controllers": "Controllers are called in single simulations: call simulate for each state.",
}


@known_keywords_of_methods
class Motions(Evaluations):
    """Motions over time, and what is asked at a state."""

    def _placed_many(self, parameters: Mapping[str, Any], t: Any) -> Any:
        """Where many motions begin if it is not given."""
        return self._placed(t, parameters)

    def _acting_without(self, inactive: Iterable[str] | str | None) -> Motions:
        """What is placed where some constraints do not act; others are refused where it begins."""
        if not inactive:
            return self
        system = self._analyzed()
        names = [inactive] if isinstance(inactive, str) else inactive
        return system.without(name for name in names if name in system.constraints)

    @known_keywords()
    def simulate(
        self,
        q: Any = None,
        v: Any = None,
        *,
        until: float,
        start: float | None = None,
        tolerance: float = 1e-9,
        integrator: str = "auto",
        drift: str = "projection",
        baumgarte: float = 20.0,
        step: float = 0.0,
        largest_step: float = float("inf"),
        spectral_radius: float = 0.8,
        formulation: str = "auto",
        on_singular: str = "continue",
        coordinates: str = "auto",
        save: Any = None,
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        events: Mapping[str, Watched] | None = None,
        controllers: Mapping[str, Controller] | None = None,
        inactive: Iterable[str] | str | None = (),
        store: str | PathLike[str] | None = None,
        store_every: float = 1.0,
        progress: bool | Report | None = None,
        certify: bool | float = False,
        forces: bool = False,
        velocity: Mapping[str, Mapping[str, float]] | str | None = None,
    ) -> Run:
        """Integrate the motion from a state, of a mechanism from its placement if none is given.

        Ctrl-C ends the simulation early and returns what there is; a second one acts at once.

        Parameters
        ----------
        q, v : initial state, or one object (a `State`, an `Assembly`) in place of both; of a
            mechanism its placement, assembled, if not given.
        until : end of the simulation [s].
        start : time of the start [s], unless the state knows it.
        tolerance : local error of a step, relative to the state and to `scales`.
        integrator : ``"auto"``, which begins with ``"gauss"``, collocation of order 16, and changes
            to ``"order8"``, explicit, or ``"radau5"``, implicit, where these need less work; one
            of these by name, or ``"order5"``, all with error control; or with a fixed step
            ``"generalized_alpha"``, for stiff systems whose fast vibrations are to be damped away,
            and ``"rattle"``, symmetric, for very long runs.
        drift : ``"projection"``, ``"baumgarte"`` or ``"none"``: how constraints are kept.
        baumgarte : rate of Baumgarte's method [1/s].
        step : a fixed step [s] in place of error control, needed by those that have none.
        largest_step : a limit of the step [s].
        spectral_radius : ρ of generalized-α, what is left of the fastest vibrations after a step,
            from 0 to 1.
        formulation : ``"auto"`` for the compiled equations of motion, or a name in
            `zwang.FORMULATIONS` to compute accelerations by it, in Python and slower.
        on_singular : ``"continue"`` to go on, on the same branch, where constraints lose rank, or
            ``"stop"``; ``run.ranks`` lists such positions, if drift is removed by projection.
        coordinates : what a mechanism is integrated in: ``"auto"``, ``"absolute"`` for those of its
            bodies, ``"planar"``, ``"joint"``; the run is in those of its bodies in all cases.
        save : None or ``"steps"`` for every accepted step (``"dense"`` says the same: from these
            `Run.at` gives the state at any time), an interval [s] from the start on, with the end
            or the state in which an event stops as the last, or exactly the times.
        scales : name → size below which the error of a coordinate or velocity counts as absolute.
        parameters : name → value in place of the default; nothing is recompiled.
        events : name → `zwang.event`; a bare function, or the name of a quantity, is watched for
            zero and recorded.
        controllers : name → `zwang.controller`: Python functions that are called at sampling times
            and set parameters, which are held until the next sample.
        inactive : constraints that do not act at the start, nor where a mechanism is placed, to be
            switched on by events.
        store : path of a new folder to write the run to while it is made, see `zwang.resume`.
        store_every : seconds between commits to the store.
        progress : a function that is given a `zwang.simulation.progress.Progress` about ten times a
            second; True for a bar, False for none, None for one in terminals and notebooks after a
            second.
        certify : True to solve a sample of saved states by every formulation at the end, a number
            for states as many seconds apart; ``run.certificate`` holds the worst.
        forces : True to compute multipliers, constraint forces, reactions of joints and energies at
            the saved states while the run is made, and to keep and store them with it; otherwise
            each is computed when it is first asked for.
        velocity : that of `Mechanism.assemble`, where a mechanism begins at its placement:
            ``"exact"`` refuses velocities of bodies that a joint does not allow, which are changed
            by an impulse otherwise.
        """
        from zwang.simulation.options import require_time_of_start
        from zwang.simulation.simulate import simulate

        require_time_of_start(start)
        if velocity is not None and q is not None:
            raise InputError(
                "velocity",
                must="be omitted where an initial state is given",
                advice="Give it to assemble, which computes the initial state.",
            )
        if q is None:
            at = 0.0 if start is None else start
            q = self._acting_without(inactive)._placed(at, parameters, velocity)  # noqa: SLF001 - of the same class
        return simulate(
            self._analyzed(),
            q,
            v,
            until=until,
            start=start,
            tolerance=tolerance,
            integrator=integrator,
            drift=drift,
            baumgarte=baumgarte,
            step=step,
            largest_step=largest_step,
            spectral_radius=spectral_radius,
            formulation=formulation,
            on_singular=on_singular,
            coordinates=coordinates,
            save=save,
            scales=scales,
            parameters=parameters,
            events=events,
            controllers=controllers,
            inactive=inactive,
            store=store,
            store_every=store_every,
            progress=progress,
            certify=certify,
            forces=forces,
        )

    @known_keywords(refused=ONE_STORE)
    def simulate_many(
        self,
        q: Any = None,
        v: Any = None,
        *,
        until: float,
        start: float | None = None,
        tolerance: float = 1e-9,
        integrator: str = "auto",
        drift: str = "projection",
        baumgarte: float = 20.0,
        step: float = 0.0,
        largest_step: float = float("inf"),
        spectral_radius: float = 0.8,
        formulation: str = "auto",
        on_singular: str = "continue",
        coordinates: str = "auto",
        save: Any = None,
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        events: Mapping[str, Watched] | None = None,
        inactive: Iterable[str] | str | None = (),
        threads: int | None = None,
        progress: bool | Report | None = None,
        certify: bool | float = False,
        forces: bool = False,
    ) -> Runs:
        """Integrate many motions: eight at a time in vector lanes, groups of them in threads.

        With an integrator by name each is the same, bit for bit, as `simulate` gives it alone with
        that one. ``"auto"`` is ``"order8"`` here and another one in `simulate` perhaps: then they
        agree to the tolerance. One that fails does not stop the others; it says so in its status.

        Parameters
        ----------
        q, v : initial states, shapes (N, nq) and (N, nv), or a list of states; one, (nq,) and
            (nv,), serves all. Without them a mechanism begins at its placement, assembled for each
            set of parameters.
        until : end of the simulations [s].
        start : time of all starts [s], unless the states know it.
        tolerance : local error of a step, relative to the state and to `scales`.
        integrator : ``"auto"``, which is ``"order8"`` here, explicit, trajectories side by side,
            with ``"radau5"``, implicit, for those that turn out stiff; one of these, ``"gauss"``
            or ``"order5"`` by name, all with error control; or with a fixed step
            ``"generalized_alpha"``, for stiff systems whose fast vibrations are to be damped away,
            and ``"rattle"``, symmetric, for very long runs.
        drift : ``"projection"``, ``"baumgarte"`` or ``"none"``: how constraints are kept.
        baumgarte : rate of Baumgarte's method [1/s].
        step : a fixed step [s] in place of error control, needed by those that have none.
        largest_step : a limit of the step [s].
        spectral_radius : ρ of generalized-α, what is left of the fastest vibrations after a step,
            from 0 to 1.
        formulation : ``"auto"`` for the compiled equations of motion, or a name in
            `zwang.FORMULATIONS` to compute accelerations by it, in Python and slower.
        on_singular : ``"continue"`` to go on, on the same branch, where constraints lose rank, or
            ``"stop"``; ``run.ranks`` lists such positions, if drift is removed by projection.
        coordinates : what a mechanism is integrated in: ``"auto"``, ``"absolute"`` for those of its
            bodies, ``"planar"``, ``"joint"``; the run is in those of its bodies in all cases.
        save : None or ``"steps"`` for every accepted step (``"dense"`` says the same: from these
            `Run.at` gives the state at any time), an interval [s] from the start on, with the end
            or the state in which an event stops as the last, or exactly the times.
        scales : name → size below which the error of a coordinate or velocity counts as absolute.
        parameters : name → values, shape (N, …), or one value for all.
        events : name → `zwang.event`; a bare function, or the name of a quantity, is watched for
            zero and recorded.
        inactive : constraints that do not act at the start, nor where a mechanism is placed, to be
            switched on by events.
        threads : how many run at once; one for each processor if not given.
        progress : as in `simulate`, with a `zwang.simulation.progress.EnsembleProgress`.
        certify : as in `simulate`, for each run.
        forces : as in `simulate`, for each run.

        Returns
        -------
        Runs
            A sequence of N runs, with `status`, `finished` and `last` of all.
        """
        from zwang.simulation.ensemble import simulate_many
        from zwang.simulation.options import require_time_of_start

        require_time_of_start(start)
        if q is None:
            at = 0.0 if start is None else start
            q = self._acting_without(inactive)._placed_many(parameters or {}, at)  # noqa: SLF001 - of the same class
        return simulate_many(
            self._analyzed(),
            q,
            v,
            until=until,
            start=start,
            tolerance=tolerance,
            integrator=integrator,
            drift=drift,
            baumgarte=baumgarte,
            step=step,
            largest_step=largest_step,
            spectral_radius=spectral_radius,
            formulation=formulation,
            on_singular=on_singular,
            coordinates=coordinates,
            save=save,
            scales=scales,
            parameters=parameters,
            events=events,
            inactive=inactive,
            threads=threads,
            progress=progress,
            certify=certify,
            forces=forces,
        )
