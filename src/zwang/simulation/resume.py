"""Simulation that goes on where a store ends, or is made once more from what a store says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING

from zwang.results.certificate import interval_of
from zwang.results.records import (
    StoredRun,
    closing_attributes,
    require_same_controllers,
    require_same_events,
    require_same_memory,
    require_same_model,
    require_same_versions,
)
from zwang.results.run import Counts, Run
from zwang.results.store import Stored, lock_store, read_store
from zwang.results.writer import RunWriter
from zwang.simulation.controllers import Controller, controllers_of
from zwang.simulation.interpolate import states_between
from zwang.simulation.options import require_pause
from zwang.simulation.origin import Origin
from zwang.simulation.progress import Report, reporting
from zwang.simulation.simulation import Simulation, run_again
from zwang.terms import FloatArray
from zwang.tracing.event import Event, Watched, events_of

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["rerun_of", "resume"]


def resume(
    path: str | PathLike[str],
    system: System,
    *,
    events: Mapping[str, Watched] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    store_every: float = 1.0,
    progress: bool | Report | None = None,
    certify: bool | float = False,
) -> Run:
    """Go on with a stored run that was interrupted; `zwang.resume` documents it."""
    require_pause(store_every)
    watched, sampled = events_of(events), controllers_of(controllers)
    with lock_store(path):  # what is read is what is gone on with
        whole = read_store(path)
        stored = whole.to_go_on()
        require_same_model(stored, system)
        if not stored.commits[-1]["open"]:
            again = rerun_of(stored, system, watched, sampled)
            run = StoredRun.of(stored, system, states_between, again, watched)
            if not stored.closed:  # it was killed just before
                stored.reopen().close(closing_attributes(run))
            return run
        require_same_versions(stored)
        require_same_events(stored, system, watched)
        require_same_controllers(stored, sampled)
        origin = Origin.of(stored, system, watched, sampled)
        simulation = _restored(origin, stored, store_every)
        simulation.outcome.certify_every = interval_of(certify)
        if stored.rows < whole.rows or whole.damage:
            simulation.history.notes.append(
                f"the end of the store was damaged: gone on from chunk {len(stored.commits) - 1}"
            )
        with reporting(progress=progress) as report:
            simulation.run(report)
    return simulation.outcome.result()


def _restored(origin: Origin, stored: Stored, every: float) -> Simulation:
    """A stored simulation as it stood at its last commit."""
    state, system = stored.state(), origin.system
    last, simulation = StoredRun.of(stored, system, states_between), Simulation(origin)
    segment, now = last.segments[-1], simulation.now
    now.inactive = frozenset(system.constraints) - {*segment.system.constraints}
    now.parameters = segment.parameters
    now.p = system.parameter_vector(segment.parameters)
    now.kept.method, now.kept.returns = segment.integrator, int(state["returns"])
    now.kept.tolerance = float(state.get("tolerance", now.kept.tolerance))
    if now.ends.sampling is not None:
        now.ends.sampling.restore(stored.commits[-1]["controllers"])
    now.begin_segment(state["origin"], float(state["origin_time"]))
    require_same_memory(stored, state, simulation.outcome.memory())
    for name in now.segment.loop.REMEMBERED:
        getattr(now.segment.loop, name)[...] = state[name]
    history = simulation.history
    history.saved, history.segments = stored.rows, list(last.segments)
    history.ranks, history.records = list(last.ranks), list(last.events)
    history.notes = list(last.notes)
    now.counts = Counts(*(int(k) for k in state["closed_counts"]))
    kept = last.force_record
    layout = None if kept is None else kept.layout
    keeper = simulation.outcome.keeper = RunWriter(stored.reopen(), every, layout)
    keeper.remember(simulation.outcome)
    return simulation


def rerun_of(
    stored: Stored,
    system: System,
    events: Mapping[str, Event],
    controllers: Mapping[str, Controller],
) -> Callable[[float, FloatArray], Run]:
    """What makes a stored run once more, with another tolerance and other times."""
    return partial(_again, stored, system, events, controllers)


def _again(
    stored: Stored,
    system: System,
    events: Mapping[str, Event],
    controllers: Mapping[str, Controller],
    tolerance: float,
    times: FloatArray,
) -> Run:
    require_same_events(stored, system, events)
    require_same_controllers(stored, controllers)
    return run_again(Origin.of(stored, system, events, controllers), tolerance, times)
