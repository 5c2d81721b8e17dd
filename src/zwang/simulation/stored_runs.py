"""Simulation from stored runs: loaded with their system, and integrated anew to verify them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from zwang.results.run import Run
from zwang.results.segments import Segment
from zwang.results.store import read_store
from zwang.results.verify import Propagate, Verdict, Verification, Ways, check_motion
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.simulation.controllers import Controller
    from zwang.system import System
    from zwang.tracing.event import Watched

__all__ = ["load", "system_of", "verify"]

#: The check of a run integrates this much more tightly than the run, so that what is compared is
#: the error of the run.
CHECK_FACTOR = 0.1
#: Steps that integrating anew may try, in those that the run took, and besides. A force that jumps
#: back and forth asks for any number as soon as a state or a tolerance is another.
MOST_STEPS, LEAST_STEPS = 50, 20_000
#: Numbers of a system and of a run that differ by less than this, relative, differ by rounding; and
#: how many others a note lists.
SAME_NUMBERS, LISTED = 1e-12, 5
#: States of each segment at which its program is compared with the full terms of the system.
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
    """Read a stored run; `zwang.load` documents the arguments."""
    stored = read_store(path)
    if not sound_part or not stored.commits:
        stored.require_sound()
    if system is None:
        return StoredRun.of(stored, None, _needs_system)
    system = system_of(system)
    require_same_model(stored, system)
    from zwang.simulation.controllers import controllers_of
    from zwang.simulation.interpolate import states_between
    from zwang.simulation.resume import rerun_of
    from zwang.tracing.event import events_of

    watched = events_of(events)
    if watched:
        require_same_events(stored, system, watched)
    sampled = controllers_of(controllers)
    if sampled:
        require_same_controllers(stored, sampled)
    again = rerun_of(stored, system, watched, sampled)
    return StoredRun.of(stored, system, states_between, again, watched)


def system_of(model: Any) -> System:
    """The system itself, or that of a mechanism or a model."""
    system = getattr(model, "system", model)
    if not hasattr(system, "definition"):
        raise InputError(
            "system of a stored run",
            found=repr(model),
            expected="the zwang.System or zwang.Mechanism that made it",
        )
    return system


def _needs_system(run: Run, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    between = times[~np.isin(times, run.t)]
    raise InputError(
        f"state at t = {(between if between.size else times)[0]:.6g}",
        must="be integrated from the saved state before, which takes the system",
        but="the run was loaded without it",
        advice="Load it as zw.load(path, system).",
    )


def _require_its_numbers(run: Run) -> None:
    """Refuse a mechanism of the same equations whose dimensions do not follow as the run's do."""
    for segment in run.segments:
        try:
            segment.system.parameter_vector(segment.parameters)
        except InputError as error:
            why = InputError(error.what, **{**error.facts, "advice": None})
            raise InputError(
                "system for the run",
                must="be the one that made the run",
                but=f"cannot have its numbers: {why}",
            ) from None


def _other_numbers(run: StoredRun, system: System) -> tuple[str, ...]:
    """Notes on numbers of the system that are others in the run, by which it is checked."""
    own, differing, controlled = system.definition.parameters, [], []
    sets = run.stored.commits[-1].get("controllers", {}).get("sets", ())
    for name, value in run.segments[0].parameters.items() if run.segments else ():
        here, there = np.asarray(own[name], dtype=float), np.asarray(value, dtype=float)
        size = float(np.abs(here).max(initial=0.0))
        if np.allclose(there, here, rtol=0.0, atol=SAME_NUMBERS * size):
            continue
        if name in sets:
            controlled.append(name)
            continue
        scalar = here.ndim == 0
        differing.append(f"{name} is {there:.6g}, not {here:.6g}" if scalar else name)
    notes = []
    if differing:
        notes.append(
            "checked with the numbers stored with the run; the system given has others: "
            + _few(differing, "; ")
        )
    if controlled:
        notes.append(
            f"{_few(controlled, ', ')}: set by a controller, whatever the system given has there"
        )
    return tuple(notes)


def _few(items: Sequence[str], between: str) -> str:
    """The first of some items, and how many more there are."""
    more = len(items) - LISTED
    return between.join(items[:LISTED]) + (f"{between}and {more} more" if more > 0 else "")


def verify(
    path: str | PathLike[str],
    system: System | _HasSystem,
    *,
    controllers: Mapping[str, Controller] | None = None,
    intervals: int | None = 20_000,
    sample: int = 20,
) -> Verification:
    """Whether a stored run is a motion of its system; `zwang.verify` documents the arguments."""
    from zwang.simulation.check_controllers import with_controllers
    from zwang.simulation.check_forces import check_forces
    from zwang.simulation.controllers import controllers_of
    from zwang.simulation.interpolate import disagreements, propagate

    for name, count in (("intervals", intervals), ("sample", sample)):
        if not (count is None and name == "intervals") and not isinstance(count, int | np.integer):
            raise InputError(name, found=shown(count), expected="a whole number")
        if count is not None and count < 1:
            raise InputError(name, found=repr(count), expected="one or more")
    system = system_of(system)
    try:
        stored = read_store(path)
        damage = stored.damage or tuple(stored.lesser_damage())
        if damage:
            return Verification(Verdict.DAMAGED, damage, {}, {"chunks": len(stored.commits)})
        try:
            run = load(path, system)
            _require_its_numbers(run)
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
    found = replace(found, notes=(*_other_numbers(run, system), *found.notes))
    return with_controllers(found, run, system, controllers_of(controllers))
