"""Simulation as it is asked for: checked arguments, then a run in memory or in a store.

A run with the choices of one before goes on in its loop (`zwang.simulation.prepared_run`); all
others are begun anew (`zwang.simulation.simulation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.results.certificate import interval_of
from zwang.results.force_record import with_forces
from zwang.simulation.controllers import Controller, controllers_of
from zwang.simulation.guard import Guard
from zwang.simulation.interrupt import postponed_interrupt
from zwang.simulation.notes import program_notes
from zwang.simulation.options import (
    choices_of,
    require_flag,
    require_pause,
    require_single,
    start_time,
)
from zwang.simulation.origin import Origin
from zwang.simulation.plain_run import PlainRun, RepeatedRun
from zwang.simulation.prepared_run import MOST_ENTRIES, PreparedRun, PreparedRuns
from zwang.simulation.progress import Report, reporting
from zwang.simulation.select_program import ProgramStart, in_python
from zwang.simulation.simulation import Simulation, run_again
from zwang.simulation.store_writer import store_writer
from zwang.simulation.undefined_forces import explained
from zwang.tracing.event import Watched, events_of

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.system import System

__all__ = ["simulate"]


def simulate(
    system: System,
    q: Any,
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
    companions: Mapping[str, bytes] | None = None,
) -> Run:
    """Integrate a system; `zwang.System.simulate` documents the arguments.

    `companions` are files to go along with the stored run, name → content.
    """
    require_pause(store_every)
    require_flag("forces", forces)
    start = start_time(q, start)
    how = {
        "tolerance": tolerance,
        "integrator": integrator,
        "drift": drift,
        "baumgarte": baumgarte,
        "step": step,
        "largest_step": largest_step,
        "spectral_radius": spectral_radius,
        "formulation": formulation,
        "on_singular": on_singular,
        "coordinates": coordinates,
    }
    plain = (
        (events is None and controllers is None and scales is None and store is None)
        and (certify is False and (progress is None or progress is False))
        and (inactive is None or (isinstance(inactive, tuple) and not inactive))
    )
    prepared = PreparedRuns.of(system.equations).find(how) if plain else None
    if prepared is not None:
        settings, times, sizes = prepared.choices(until, start, save)
    else:
        choices = {"until": until, "start": start, "save": save, "scales": scales, **how}
        settings, times, sizes = choices_of(system, **choices, watches=bool(events))
    notes = tuple(getattr(q, "notes", ())) if v is None else ()
    q, v, _, p = system.arguments(q, v, start, parameters)
    require_single(q, v)
    origin = Origin(
        system,
        settings,
        times,
        sizes,
        {} if events is None else events_of(events),
        frozenset([inactive] if isinstance(inactive, str) else inactive or ()),
        system.parameter_values(parameters),
        p,
        np.concatenate([q, v]),
        start,
        notes,
        {} if controllers is None else controllers_of(controllers),
    )
    if plain:
        run = _plain_run(origin, prepared, how, progress=progress is None)
        return with_forces(run) if forces else run
    with reporting(progress=progress) as report:
        simulation = Simulation.begun(origin)
        simulation.outcome.certify_every = None if certify is False else interval_of(certify)
        if store is None:
            simulation = simulation.run_guarded(report)
        else:
            with postponed_interrupt():  # half a store would be of no use
                _run_stored(simulation, report, store, store_every, companions, forces=forces)
    found = simulation.outcome.result()
    run = found if store is not None else explained(found)
    return with_forces(run) if forces else run


def _plain_run(
    origin: Origin, prepared: PreparedRun | None, how: Mapping[str, Any], *, progress: bool
) -> Run:
    """A run without events, controllers and store, in the loop of the last one if there is one."""
    equations, settings = origin.system.equations, origin.settings
    guard, begun = Guard(equations, settings), None
    if prepared is not None:
        start = ProgramStart(origin.y, origin.t, origin.p)
        begun = prepared.run(settings, start, origin.times, guard)
        if isinstance(begun, RepeatedRun):
            return PlainRun(origin, begun, partial(run_again, origin))
    with reporting(progress=None if progress else False) as report:
        simulation = Simulation.begun(origin, guard, begun)
        simulation = simulation.run_guarded(report)
    if _may_be_repeated(simulation):
        loop = simulation.now.segment.loop
        if prepared is not None and begun is not None and loop is begun.loop:
            prepared.take_back(loop)
        else:
            notes = program_notes(origin.system, loop.program)
            left = PreparedRun(equations, settings, origin.scales, loop, notes)
            PreparedRuns.of(equations).keep(how, left)
    return explained(simulation.outcome.result())


def _run_stored(simulation: Simulation, report: Report | None, *how: Any, forces: bool) -> None:
    """Run into a new store, see `store_writer` for how, and let others write to it then."""
    origin, settings = simulation.origin, simulation.now.settings
    simulation.outcome.keeper = keeper = store_writer(origin, settings, *how, forces=forces)
    try:
        simulation.run(report)
    finally:
        keeper.store.release()


def _may_be_repeated(simulation: Simulation) -> bool:
    """Whether the loop of a run is of use to the next one with the same choices."""
    equations, now = simulation.system.equations, simulation.now
    return (
        simulation.outcome.finished
        and now.settings is simulation.origin.settings
        and len(simulation.history.segments) == 1
        and not equations.time_switches
        and len(now.segment.loop.state) <= MOST_ENTRIES
        and now.segment.program.kernel("derivative").compiled
        and not equations.reaction_dependent
        and not in_python(equations, now.settings)
    )
