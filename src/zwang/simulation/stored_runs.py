"""Stored runs: load, resume, verify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from zwang.errors import DamageError, InputError, shown
from zwang.integrators.settings import Coordinates
from zwang.results.consistency import claims
from zwang.results.event_rows import with_instants
from zwang.results.records import (
    StoredRun,
    require_same_controllers,
    require_same_events,
    require_same_model,
)
from zwang.results.run import Run, Segment
from zwang.results.store import read_store
from zwang.results.verify import Propagate, Verdict, Verification, Ways, check_motion
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.simulation.controllers import Controller
    from zwang.simulation.progress import Report
    from zwang.system import System
    from zwang.tracing.event import Watched

__all__ = ["load", "resume", "verify"]

#: The check of a run integrates this much more tightly than the run, so that what is compared is
#: the error of the run.
CHECK_FACTOR = 0.1
#: Steps that integrating anew may try, in those that the run took, and besides. A force that jumps
#: back and forth asks for any number as soon as a state or a tolerance is another.
MOST_STEPS, LEAST_STEPS = 50, 20_000
#: States of each stretch at which its program is compared with the full terms of the system.
LOOKS = 5


class _HasSystem(Protocol):
    """A `zwang.Mechanism` or a `zwang.Model`."""

    @property
    def system(self) -> Any:
        """Its system."""
        ...


def load(
    path: str | PathLike[str],
    system: System | _HasSystem | None = None,
    *,
    events: Mapping[str, Watched] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    sound_part: bool = False,
) -> Run:
    """Read a stored run; its arrays are read when they are first asked for.

    Parameters
    ----------
    path : folder written by ``run.save`` or ``simulate(…, store=…)``, finished or not.
    system : the system or mechanism that made it, for forces, energies and states between the
        saved ones; without it the run has its states, names, settings and events.
    events, controllers : those it was made with, if `Run.error_estimate` is wanted.
    sound_part : of a damaged store, give what comes before the damage.

    Raises
    ------
    DamageError
        The store is not what was written; the message says where.
    InputError
        The system is not the one that made the run.
    """
    stored = read_store(path)
    if not sound_part or not stored.commits:
        stored.require_sound()
    if system is None:
        return StoredRun.of(stored, None, _needs_system)
    system = _system_of(system)
    require_same_model(stored, system)
    from zwang.simulation.controllers import controllers_of
    from zwang.simulation.interpolate import states_between
    from zwang.simulation.simulation import rerun_of
    from zwang.tracing.event import events_of

    watched = events_of(events)
    if watched:
        require_same_events(stored, system, watched)
    sampled = controllers_of(controllers)
    if sampled:
        require_same_controllers(stored, sampled)
    again = rerun_of(stored, system, watched, sampled)
    return StoredRun.of(stored, system, states_between, again, watched)


def _system_of(model: Any) -> System:
    system = getattr(model, "system", model)
    if not hasattr(system, "definition"):
        raise InputError(
            "system of a stored run",
            found=repr(model),
            expected="the zwang.System or zwang.Mechanism that made it",
        )
    return system


def _needs_system(_: Run, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    raise InputError(
        f"state at t = {times[0]:g}",
        must="be integrated from the saved state before, which takes the system",
        but="the run was loaded without it",
        advice="Load it as zw.load(path, system).",
    )


def resume(
    path: str | PathLike[str],
    system: System | _HasSystem,
    *,
    events: Mapping[str, Watched] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    store_every: float = 1.0,
    progress: bool | Report | None = None,
    certify: bool | float = False,
) -> Run:
    """Go on with a stored run that was interrupted, from its last committed chunk.

    On the same machine and with the same versions it ends bit for bit as if it had never been
    interrupted. A run that has ended already is loaded.

    Parameters
    ----------
    path : of ``simulate(…, store=path)``.
    system : the system or mechanism that made it.
    events, controllers : those it was made with.
    store_every : seconds between commits.
    progress, certify : as in `zwang.System.simulate`.

    Raises
    ------
    StoreError
        The store cannot be written, or was made with other versions.
    DamageError
        The store is not what was written.
    InputError
        System or events are not those that made the run.
    """
    from zwang.simulation.simulation import resume as go_on

    return go_on(
        path,
        _system_of(system),
        events=events,
        controllers=controllers,
        store_every=store_every,
        progress=progress,
        certify=certify,
    )


def verify(
    path: str | PathLike[str],
    system: System | _HasSystem,
    *,
    controllers: Mapping[str, Controller] | None = None,
    intervals: int | None = 20_000,
    sample: int = 20,
) -> Verification:
    """Check that a stored run is what was written, and a motion of its system.

    Hashes tell damage. What has sound hashes is asked whether it is a motion: residuals at every
    saved state, the motion from each saved state to the next within ten tolerances, in the
    coordinates of the system, the energy and Gauss's principle at a sample, and whether the program
    that made it agrees with the full terms; forces that are kept must satisfy the full equations
    with the states they belong to. An edit above ten tolerances is found even if its
    hashes were written anew.

    Parameters
    ----------
    path : of a stored run.
    system : the system or mechanism that made it.
    controllers : those it was made with: their laws are called again on the stored states and must
        give the stored values. Without them the motion is checked with the stored values.
    intervals : how many intervals between saved states to integrate anew in each stretch between
        events, evenly spread; all of them if None. At as many states forces are checked.
    sample : how many states and intervals to take for Gauss's principle and the energy.

    Returns
    -------
    Verification
        True in a condition if the run is verified; printed, it lists the findings.
    """
    from zwang.simulation.check_controllers import with_controllers
    from zwang.simulation.check_forces import check_forces
    from zwang.simulation.controllers import controllers_of
    from zwang.simulation.interpolate import disagreements, propagate

    for name, count in (("intervals", intervals), ("sample", sample)):
        if not (count is None and name == "intervals") and not isinstance(count, int | np.integer):
            raise InputError(name, found=shown(count), expected="a whole number")
        if count is not None and count < 1:
            raise InputError(name, found=repr(count), expected="one or more")
    system = _system_of(system)
    try:
        stored = read_store(path)
        damage = stored.damage or tuple(stored.lesser_damage())
        if damage:
            return Verification(Verdict.DAMAGED, damage, {}, {"chunks": len(stored.commits)})
        try:
            run = load(path, system)
        except InputError as error:
            return Verification(Verdict.OTHER_MODEL, (str(error),))
    except DamageError as error:
        return Verification(Verdict.DAMAGED, (str(error),))
    tolerance = max(run.settings.tolerance * CHECK_FACTOR, 1e-14)
    assert isinstance(run, StoredRun)
    whole, _ = with_instants(run)
    most = MOST_STEPS * (run.counts.steps + run.counts.rejected) + LEAST_STEPS

    def way(*, strict: bool = False, **choices: Any) -> Propagate:
        settings = replace(run.settings, formulation="auto", **choices)

        def go(segment: Segment, t: float, y: FloatArray, times: FloatArray) -> FloatArray:
            chosen = settings
            if strict:  # the most accurate method that is fit for the motion
                stiff = "radau5" in (run.settings.integrator, segment.integrator)
                chosen = replace(settings, integrator="radau5" if stiff else "order8")
            return propagate(whole, segment, chosen, t, np.asarray(y), times, most=most)

        return go

    ways = Ways(
        # In the coordinates of the system, whatever the run was carried in.
        way(strict=True, tolerance=tolerance, coordinates=Coordinates.ABSOLUTE),
        way(),
        way(coordinates=Coordinates.ABSOLUTE),
        way(step=0.5 * run.settings.step),
    )
    doubts = disagreements(whole, LOOKS)
    forces = check_forces(run, intervals)
    found = check_motion(
        whole, ways, claims(run), doubts, forces, intervals=intervals, sample=sample
    )
    return with_controllers(found, run, system, controllers_of(controllers))
