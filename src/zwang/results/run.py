"""The result of a simulation: states by name, energies, forces, events and a summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.caching import computed_once
from zwang.display import Displayed
from zwang.errors import InputError, UnknownNameError, shown
from zwang.integrators.settings import Settings
from zwang.results.parameter_entries import entry_of_parameter
from zwang.results.segments import EventRecord, RankChange, Segment, no_state
from zwang.results.status import Counts
from zwang.solvers.solution import Solution
from zwang.state import Residuals, State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from pathlib import Path

    from zwang.analysis.linearization import Linearization
    from zwang.analysis.statics import Equilibrium
    from zwang.multibody.frozen import Parts
    from zwang.results.certificate import RunCertificate
    from zwang.results.channels import ChannelTable
    from zwang.results.energy_ledger import Work
    from zwang.results.error_estimate import ErrorEstimate
    from zwang.results.force_record import ForceRecord
    from zwang.results.forces import StretchForces
    from zwang.results.mechanism_run import BodyMotion, Reaction
    from zwang.results.unbounded import UnboundedForces
    from zwang.system import System
    from zwang.tracing.event import Event, Watched
    from zwang.view.page import View
    from zwang.view.static import StaticScene

__all__ = ["Counts", "Run"]


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class Run(Displayed):
    """States of a system along its motion, and what follows from them.

    Attributes
    ----------
    system : the system, with all its constraints.
    t : saved times, shape (nt,).
    q, v : states, shapes (nt, nq) and (nt, nv).
    status : how the simulation ended, a sentence.
    finished : whether it reached its end or an event that stops it.
    settings : all choices that decide the numbers.
    segments : parts of the run, each with its constraints and parameters.
    counts : work done.
    between : gives the states at times between the saved ones, for `at`.
    events : what happened, in order.
    ranks : changes of rank, in order.
    notes : sentences on anything approximated or doubtful.
    scales : size of each coordinate and velocity below which its error is absolute, (nq + nv,).
    again : makes the run once more with another tolerance and other times, for `error_estimate`.
    certificate : grounds to trust accelerations and forces, if ``simulate(certify=…)`` asked.
    companions : gives the files that are saved along with the run, name → content: its model file.
    watched : the events that were looked for; of a loaded run those given to `zwang.load`.
    times : the times at which states were to be saved; None for every step.
    force_record : forces and energies that were computed while the run was made, with
        ``simulate(forces=True)``; otherwise they are computed when they are first asked for.
    """

    system: System = field(repr=False)
    t: FloatArray
    q: FloatArray
    v: FloatArray
    status: str
    finished: bool
    settings: Settings
    segments: tuple[Segment, ...]
    counts: Counts
    between: Callable[[Run, FloatArray], tuple[FloatArray, FloatArray]] = field(repr=False)
    events: tuple[EventRecord, ...] = ()
    ranks: tuple[RankChange, ...] = ()
    notes: tuple[str, ...] = ()
    scales: FloatArray | None = field(default=None, repr=False)
    again: Callable[[float, FloatArray], Run] | None = field(default=None, repr=False)
    certificate: RunCertificate | None = None
    companions: Callable[[], Mapping[str, bytes]] | None = field(default=None, repr=False)
    watched: Mapping[str, Event] = field(default_factory=dict, repr=False)
    times: FloatArray | None = field(default=None, repr=False)
    force_record: ForceRecord | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: all that it was made of, in memory; what was compiled is not."""
        values = {f.name: getattr(self, f.name) for f in fields(Run) if f.init}
        way = getattr(getattr(self.again, "func", self.again), "__qualname__", "")
        if "<locals>" in way:  # of an ensemble, all of which would have to go along
            values["again"] = None
        return _remade, (values,)

    # --- keeping ----------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the run to a new folder, which xarray opens and `zwang.load` reads.

        A run made from a model file takes the file with it: `zwang.read_model` reads it from there.
        """
        from zwang.results.records import save

        save(self, path)

    def to_csv(
        self,
        path: str | PathLike[str],
        channels: Sequence[str] | str | None = None,
        every: float | None = None,
        *,
        units: bool = False,
        degrees: bool = False,
    ) -> Path:
        """Write channels as comma-separated values, names in the first line; gives the path.

        Parameters
        ----------
        path : of the file; one that is there is replaced.
        channels : names as in ``run[name]``, vectors expanded to x, y, z; all of `channels` by
            default, with the parameters that controllers and events changed.
        every : seconds between lines; one for each saved state by default.
        units : whether the first line has units after the names, and after those of reactions that
            the motion does not determine ``(indeterminate)``.
        degrees : whether angles are in degrees.
        """
        from zwang.results.tables import to_csv

        return to_csv(self, path, channels, every, units=units, degrees=degrees)

    def to_pandas(
        self,
        channels: Sequence[str] | str | None = None,
        every: float | None = None,
        *,
        degrees: bool = False,
    ) -> Any:
        """Channels as a ``pandas.DataFrame`` over t (extra `data`); arguments as of `to_csv`.

        ``run.to_pandas().to_excel("run.xlsx")`` writes a spreadsheet.
        """
        from zwang.results.tables import to_pandas

        return to_pandas(self, channels, every, degrees=degrees)

    def to_mat(
        self,
        path: str | PathLike[str],
        channels: Sequence[str] | str | None = None,
        every: float | None = None,
        *,
        degrees: bool = False,
    ) -> Path:
        """Write channels as a MATLAB file, one variable a column; gives the path.

        ``pin.angle`` is the variable ``pin_angle``; the cell array ``channels`` has variables,
        names and units, and ``indeterminate`` the variables that the motion does not determine.
        Arguments as of `to_csv`.
        """
        from zwang.results.tables import to_mat

        return to_mat(self, path, channels, every, degrees=degrees)

    def to_xarray(
        self,
        channels: Sequence[str] | str | None = None,
        every: float | None = None,
        *,
        degrees: bool = False,
    ) -> Any:
        """Channels as an ``xarray.Dataset`` with units, one variable a column (extra `data`).

        Arguments as of `to_csv`.
        """
        from zwang.results.tables import to_xarray

        return to_xarray(self, channels, every, degrees=degrees)

    # --- seeing -----------------------------------------------------------------------------------

    @known_keywords()
    def plot(
        self,
        *names: str | Sequence[str],
        against: str | None = None,
        degrees: bool = False,
        compare: Run | Sequence[Run] = (),
        labels: Sequence[str] | None = None,
        titles: Mapping[str, str] | None = None,
        style: Literal["screen", "paper"] = "screen",
    ) -> Any:
        """Channels over time as a Matplotlib figure (extra `plot`).

        Parameters
        ----------
        names : of `channels`; by default the coordinates of joints, drivers, actuators and the
            energy, of a system of functions its coordinates. Each has a panel; a list of names is
            one panel with a line for each, of vectors the magnitudes.
        against : another channel for a phase portrait, or ``run.plot("tip.position.z",
            against="tip.position.x")`` for the curve of a point; of vectors the magnitude is taken.
        degrees : whether angles are in degrees.
        compare : other runs, drawn into the same panels; of vectors the magnitudes.
        labels : names of all runs, this one first.
        titles : channel → text of its axis in place of the name, LaTeX between dollar signs:
            a Greek theta for ``pin.angle``, say. The unit follows in brackets, unless the text
            ends in brackets itself.
        style : ``"paper"`` for a column of a journal, 86 mm wide with the letters of a page.
        """
        from zwang.view.plots import plot

        others = (compare,) if isinstance(compare, Run) else tuple(compare)
        return plot(
            (self, *others),
            names,
            against,
            degrees=degrees,
            labels=labels,
            titles=titles,
            style=style,
        )

    @known_keywords()
    def draw(
        self,
        t: float | None = None,
        *,
        axes: Any = None,
        traces: Sequence[str] | Mapping[str, Any] | None = None,
        forces: bool = False,
        azimuth: float | None = None,
        elevation: float | None = None,
    ) -> Any:
        """A still of a mechanism at a time, as a Matplotlib figure.

        Parameters
        ----------
        t : when [s]; the start by default.
        axes : of a figure to draw into.
        traces : bodies whose center of mass leaves a trace, or body → point of it.
        forces : whether reactions and applied forces are drawn as arrows.
        azimuth, elevation : of the eye [rad].
        """
        from zwang.view.plots import draw

        return draw(
            self,
            t,
            axes=axes,
            traces=traces,
            forces=forces,
            azimuth=azimuth,
            elevation=elevation,
        )

    @known_keywords()
    def animate(
        self,
        path: str | PathLike[str],
        *,
        fps: int = 30,
        speed: float = 1.0,
        size: tuple[int, int] = (720, 720),
        traces: Sequence[str] | Mapping[str, Any] | None = None,
        forces: bool = True,
        azimuth: float | None = None,
        elevation: float | None = None,
    ) -> Path:
        """Write a video, ``.mp4``, ``.gif`` or ``.webp`` (extra `plot`), and return its path.

        A notebook shows the video in place of the path.

        Parameters
        ----------
        path : of the video.
        fps : pictures a second, of ``.gif`` and ``.webp`` at most 50, as browsers slow down more.
        speed : seconds of the motion in one of the video.
        size : width and height in pixels.
        traces, forces, azimuth, elevation : as for `draw`.
        """
        from zwang.display import VideoPath
        from zwang.view.video import animate

        written = animate(
            self,
            path,
            fps=fps,
            speed=speed,
            size=size,
            traces=traces,
            forces=forces,
            azimuth=azimuth,
            elevation=elevation,
        )
        return VideoPath(written)

    @known_keywords()
    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        overwrite: bool = False,
        frames: int | None = None,
        start: float | None = None,
        end: float | None = None,
        traces: Sequence[str] | Mapping[str, Any] | None = None,
        forces: bool = True,
        modes: Linearization | None = None,
        equilibria: Sequence[Equilibrium] = (),
    ) -> Path:
        """Write one HTML file with the animated motion and the summary of the run; returns its
        path.

        It needs no extra and no network: it opens from disk.

        Parameters
        ----------
        path : an earlier report there is replaced; anything else with ``overwrite=True`` alone.
        title : heading; the mechanism's size by default.
        overwrite : whether anything but a report may be replaced.
        frames : how many pictures the animation has.
        start, end : of the animation [s], those of the run by default.
        traces : as for `draw`; the body that gets about most by default.
        forces : whether the animation has reactions and applied forces.
        modes : a linearization whose modes are shown too, with a slider for their amplitude.
        equilibria : shown too, with their reactions.
        """
        from zwang.view.report import report

        return report(
            self,
            path,
            title=title,
            overwrite=overwrite,
            frames=frames,
            start=start,
            end=end,
            traces=traces,
            forces=forces,
            modes=modes,
            equilibria=equilibria,
        )

    @known_keywords()
    def show(
        self,
        *others: Run,
        title: str | None = None,
        labels: Sequence[str] | None = None,
        frames: int | None = None,
        start: float | None = None,
        end: float | None = None,
        traces: Sequence[str] | Mapping[str, Any] | None = None,
        forces: bool = True,
        height: int = 520,
    ) -> StaticScene:
        """The motion in three dimensions, complete in itself: in a notebook, or as one HTML file.

        It needs no extra, no server and no network, so that it works in JupyterHub and Colab too;
        ``run.show().save("motion.html")`` is a file that opens without Python.

        Parameters
        ----------
        others : runs beside this one, for comparison; they share their time and their scale.
        title : heading.
        labels : of the runs.
        frames : how many pictures there are; as many as the motion needs by default.
        start, end : of what is shown [s], those of the run by default.
        traces : as for `draw`; the body that gets about most by default.
        forces : whether reactions and applied forces are there.
        height : of the frame in a notebook [pixels].
        """
        from zwang.view.static import show

        return show(
            [self, *others],
            title=title,
            labels=labels,
            frames=frames,
            start=start,
            end=end,
            traces=traces,
            forces=forces,
            height=height,
        )

    @known_keywords()
    def view(
        self,
        *others: Run,
        host: str = "127.0.0.1",
        port: int = 8080,
        live: bool | Mapping[str, tuple[float, float]] = False,
        events: Mapping[str, Watched] | None = None,
        follow: str | None = None,
        plot: str | Sequence[str] = (),
        beside: bool = False,
        frames: int | None = None,
        start: float | None = None,
        end: float | None = None,
        traces: Sequence[str] | Mapping[str, Any] | None = None,
        forces: bool = True,
    ) -> View:
        """Serve a page in three dimensions (extra `view`) and return it; `.address` is its address.

        Parameters
        ----------
        others : runs laid over this one, for comparison.
        host, port : where to listen, this machine alone by default; the next free port if it is
            taken.
        live : True to go on simulating while looking, ``{"L": (0.5, 2.0)}`` with sliders for these
            parameters.
        events : of a live motion, as in `simulate`.
        follow : a body that the camera goes along with.
        plot : channels drawn from the start.
        beside : whether the other runs stand beside this one in place of over it.
        frames : how many pictures there are.
        start, end : of what is shown [s], those of the run by default.
        traces : as for `draw`; the last body by default.
        forces : whether reactions and applied forces are shown.

        Examples
        --------
        In a script ``run.view().wait()`` serves until Ctrl-C; in a notebook ``run.view()`` shows
        the page.
        """
        from zwang.view.page import view

        return view(
            self,
            *others,
            host=host,
            port=port,
            live=live,
            events=events,
            follow=follow,
            plot=plot,
            beside=beside,
            frames=frames,
            start=start,
            end=end,
            traces=traces,
            forces=forces,
        )

    # --- trust ------------------------------------------------------------------------------------

    def certify(self, interval: float | None = None) -> RunCertificate:
        """Solve saved states by every formulation, and return the worst that was found.

        Parameters
        ----------
        interval : seconds between the states that are taken; a sample of 200 if not given.
        """
        from zwang.results.certificate import certify_run, interval_of

        return certify_run(self, interval_of(True if interval is None else interval) or 0.0)

    def error_estimate(self) -> ErrorEstimate:
        """Estimate of the global error at the saved states.

        The difference to a second run at a hundredth of the tolerance, in the coordinates of the
        system whatever coordinates the first was integrated in, which costs about twice what the
        run did; at a tenth, or for the least tolerances at ten times as much, where rounding would
        decide.
        """
        from zwang.results.error_estimate import error_estimate

        return error_estimate(self)

    # --- names ------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Coordinates, velocities and coordinates of joints; `channels` lists all there is."""
        return (*self.system.coordinates, *self.system.velocities, *self.system.channels)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values of the parameters at the start."""
        return self.segments[0].parameters

    @overload
    def __getitem__(self, name: str) -> FloatArray: ...
    @overload
    def __getitem__(self, name: int | slice | np.ndarray | Sequence[int]) -> State: ...
    def __getitem__(self, name: Any) -> FloatArray | State:
        """A channel over time by name, shape (nt,), or (nt, 3) of a vector; states by number.

        Names are those of coordinates and velocities, then those of `channels`; of a vector,
        ``run["pin.force.x"]`` and ``run["pin.force.magnitude"]`` are parts. A parameter has the
        values that events and controllers gave it, and ``run["gain[0]"]`` is an entry of one.

        ``run[-1]`` is the last saved state, ``run[10:20]`` and ``run[run.t > 1.0]`` are several.
        """
        if not isinstance(name, str):
            return self._saved(name)
        if name in self.system.coordinates:
            return self.q[:, self.system.coordinates.index(name)]
        if name in self.system.velocities:
            return self.v[:, self.system.velocities.index(name)]
        entry = entry_of_parameter(self.parameters, name)
        if entry is not None:
            return self[entry[0]][:, *entry[1]]
        if name in self.system.channels:
            return _of_mechanisms().channel(self, name)
        from zwang.results.channels import channel_values, held_values

        try:
            return channel_values(self, name)
        except UnknownNameError:
            if name not in self.parameters:
                raise
        self._occupied()  # raises where nothing is saved
        return held_values(self, name)

    @computed_once
    def channels(self) -> ChannelTable:
        """All that ``run[name]`` knows, with units and descriptions; printed, a table.

        Of parameters it has those that controllers and events changed; constants have a name in
        ``run[name]`` all the same.
        """
        from zwang.results.channels import ChannelTable, channels_of

        return ChannelTable(self, channels_of(self))

    @computed_once
    def unbounded_forces(self) -> tuple[UnboundedForces, ...]:
        """Singular positions that the motion passes at which forces are unbounded, the first ten.

        Each has its time ``t`` and the names of ``drivers``, whose dead center it is, and of
        ``others`` with such forces; what is saved beside it is of any size, as its times happen to
        be.
        """
        from zwang.results.unbounded import unbounded_forces_of

        return unbounded_forces_of(self)

    @computed_once
    def mechanism(self) -> Parts | None:
        """Bodies, joints and forces of the mechanism as data; None for a system of functions."""
        parts = self.system.mechanism
        if parts is None:
            return None
        return parts.at_vector(self.segments[0].p)

    def _saved(self, which: Any) -> State:
        """Saved states by number, slice or mask."""
        try:
            return State(self.q[which], self.v[which], self.t[which])
        except IndexError:
            if isinstance(which, int):
                raise IndexError(f"state {which} of a run with {len(self)} saved states") from None
        except TypeError:
            pass
        raise InputError(
            "run[…]",
            expected="a name, or indices of saved states (an integer, a slice or a mask)",
            found=repr(which),
            advice="run.at(t) gives states at times.",
        )

    def __len__(self) -> int:
        return len(self.t)

    def __str__(self) -> str:
        return "\n".join([self.status, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from zwang.view.notebook import run_html

        return run_html(self)

    # --- states -----------------------------------------------------------------------------------

    def at(self, t: ArrayLike) -> State:
        """The state at one time or several, to the accuracy of the run.

        Integrated from the last saved state before, or from the event after that, so that nothing
        is lost between saved times. At the instant of an event it is the state that the event left.
        """
        from zwang.results.event_rows import with_instants

        whole, _ = with_instants(self)
        if not len(whole):
            raise InputError("run", must="have a saved state to start from", but="has none")
        first, last = whole.t[0], whole.t[-1]
        try:
            wanted = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            wanted = np.array(np.nan)
        if not np.all((wanted >= first) & (wanted <= last)):
            raise InputError(
                "time",
                found=shown(t),
                expected=f"times from {first:g} to {last:g}, between saved states",
            )
        q, v = self.between(whole, wanted.ravel())
        shape = wanted.shape
        return State(
            q.reshape(*shape, q.shape[1]),
            v.reshape(*shape, v.shape[1]),
            wanted if shape else float(wanted),
        )

    @computed_once
    def joined_states(self) -> FloatArray:
        """q and v side by side, shape (nt, nq + nv), as compiled calls take them."""
        from zwang.programs.at_states import joined

        return joined(self.q, self.v)

    def _each(self, method: str) -> list[Any]:
        """A method of the system at the saved states of each segment, with the rows active then."""
        return [
            getattr(s.system, method)(
                self.q[s.first : s.last],
                self.v[s.first : s.last],
                self.t[s.first : s.last],
                parameters=s.parameters,
            )
            for s in self._occupied()
        ]

    def _states(self, s: Segment) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, v and t of a segment."""
        return self.q[s.first : s.last], self.v[s.first : s.last], self.t[s.first : s.last]

    def _occupied(self) -> list[Segment]:
        """Segments with saved states."""
        if not len(self):
            raise no_state()
        return [s for s in self.segments if s.last > s.first]

    # --- forces -----------------------------------------------------------------------------------

    @computed_once
    def solutions(self) -> tuple[Solution, ...]:
        """Acceleration, constraint force, multipliers and ranks, for each segment."""
        return tuple(self._each("solve"))

    @computed_once
    def segment_forces(self) -> tuple[tuple[Segment, StretchForces], ...]:
        """Segments with saved states, each with its forces."""
        return _of_forces().forces_along(self)

    @computed_once
    def told_wrenches(self) -> Mapping[str, FloatArray]:
        """Joint → force and moment (nt, 6) where they are known of all joints together."""
        return _of_mechanisms().told_wrenches(self)

    @computed_once
    def acceleration(self) -> FloatArray:
        """v̇ at the saved states, shape (nt, nv)."""
        return np.concatenate([forces.acceleration for _, forces in self.segment_forces])

    def multipliers(self, name: str | None = None) -> FloatArray:
        """λ of one constraint, or of all rows, shape (nt, rows); zero while it does not act."""
        groups = self.system.groups
        names = list(groups) if name is None else [self._known(name)]
        parts = [self._multipliers_of(n, len(groups[n])) for n in names]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(self), 0))

    def _multipliers_of(self, name: str, count: int) -> FloatArray:
        parts = []
        for segment, forces in self.segment_forces:
            rows = forces.groups.get(name)
            size = segment.last - segment.first
            parts.append(np.zeros((size, count)) if rows is None else forces.multipliers[:, rows])
        return np.concatenate(parts)

    def constraint_force(self, name: str | None = None) -> FloatArray:
        """Generalized force of one constraint, A_gᵀ λ_g, or Q_c of all, shape (nt, nv)."""
        if name is None:
            return np.concatenate([forces.constraint_force for _, forces in self.segment_forces])
        self._known(name)
        return np.concatenate(
            [
                forces.group_force(name)
                if name in forces.groups
                else np.zeros((segment.last - segment.first, self.v.shape[1]))
                for segment, forces in self.segment_forces
            ]
        )

    def _known(self, name: str) -> str:
        groups = self.system.groups
        if name not in groups:
            raise UnknownNameError("constraint", name, groups)
        return name

    # --- mechanisms -------------------------------------------------------------------------------

    def body(self, name: str) -> BodyMotion:
        """Motion of a body of a mechanism: position, rotation, velocities over time."""
        return _of_mechanisms().body_motion(self, name)

    def reaction(self, joint: str, axes: str = "world") -> Reaction:
        """Force and moment that a joint exerts on its second body, at the joint's point.

        Parameters
        ----------
        axes : ``"world"``, ``"body"`` (of the second body) or ``"joint"`` (of the joint's marker on
            the first body, z along its axis).
        """
        return _of_mechanisms().reaction(self, joint, axes)

    # --- summary ----------------------------------------------------------------------------------

    @computed_once
    def residuals(self) -> tuple[Residuals, ...]:
        """φ, φ̇ and ψ at the saved states, for each segment."""
        return tuple(self._each("residuals"))

    @property
    def worst_residual(self) -> float:
        """Largest |φ|, |φ̇| or |ψ| at any saved state."""
        values = [
            np.abs(x).max(initial=0.0) for r in self.residuals for x in (r.position, r.velocity)
        ]
        return float(max(values, default=0.0))

    @computed_once
    def _energies(self) -> tuple[FloatArray, FloatArray | None]:
        from zwang.results.energies import energies

        kept = self.force_record
        if kept is not None:
            has_potential = "potential_energy" in kept
            return kept["kinetic_energy"], kept["potential_energy"] if has_potential else None
        parts = [energies(s.system, self._states(s), s.parameters) for s in self._occupied()]
        potential = [V for _, V in parts if V is not None]
        return (
            np.concatenate([T for T, _ in parts]),
            np.concatenate(potential) if len(potential) == len(parts) else None,
        )

    @property
    def kinetic_energy(self) -> FloatArray:
        """½ vᵀ M v, shape (nt,)."""
        return self._energies[0]

    @property
    def potential_energy(self) -> FloatArray | None:
        """V, shape (nt,), or None when the system has no potential."""
        return self._energies[1]

    @property
    def energy(self) -> FloatArray:
        """Kinetic plus potential energy; kinetic alone when the system has no potential."""
        V = self.potential_energy
        return self.kinetic_energy if V is None else self.kinetic_energy + V

    @computed_once
    def work(self) -> Work:
        """Work of each kind of force from the start on, and how well it balances the energy."""
        from zwang.results.energy_ledger import work_of

        return work_of(self)

    @computed_once
    def power(self) -> dict[str, FloatArray]:
        """Power of applied, constraint and non-ideal forces at the saved states, each (nt,)."""
        from zwang.results.energies import powers

        found = [powers(s.system, self._states(s), s.parameters) for s in self._occupied()]
        names = ("applied", "constraint", "nonideal")
        return {name: np.concatenate([part[name] for part in found]) for name in names}


@cache
def _of_mechanisms() -> ModuleType:
    """What is asked of runs of mechanisms, which loads when it first is.

    Kept, as an import takes longer than the answer for a joint.
    """
    from zwang.results import mechanism_run

    return mechanism_run


@cache
def _of_forces() -> ModuleType:
    """The same for forces."""
    from zwang.results import forces

    return forces


def _remade(values: dict[str, Any]) -> Run:
    """A run from its fields, in another process or as a copy."""
    return Run(**values)
