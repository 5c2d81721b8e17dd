"""Runs as plain records for the store, and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import DamageError, InputError, StoreError
from zwang.integrators.settings import Coordinates, Drift, OnSingular, Settings
from zwang.results.certificate import RunCertificate
from zwang.results.determined import open_constraints
from zwang.results.force_record import ForceLayout, ForceRecord
from zwang.results.model_digest import describe_events, describe_model, versions
from zwang.results.run import Counts, Run
from zwang.results.segments import Beginning, EventRecord, RankChange, Segment
from zwang.results.store import Store, Stored
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System
    from zwang.tracing.event import Event

__all__ = [
    "StoredRun",
    "closing_attributes",
    "determinacy_news",
    "header_of",
    "news_of",
    "require_same_controllers",
    "require_same_events",
    "require_same_memory",
    "require_same_model",
    "require_same_versions",
    "save",
    "settings_of",
]


def header_of(
    system: System,
    settings: Settings,
    scales: FloatArray,
    start: Mapping[str, Any],
    parameters: Mapping[str, Any],
    events: Mapping[str, str],
    forces: ForceLayout | None = None,
) -> dict[str, Any]:
    """What is known of a run when it begins; `events` as `describe_events` returns them."""
    plain = settings.to_dict()
    kept = {} if forces is None else {"forces": forces.to_dict()}
    return {
        **kept,
        "model": describe_model(system),
        "parameters": {k: np.asarray(v, dtype=float).tolist() for k, v in parameters.items()},
        # JSON has no infinity.
        "settings": {k: None if v == math.inf else v for k, v in plain.items()},
        "scales": scales.tolist(),
        "start": dict(start),
        "events": dict(events),
        "versions": versions(),
    }


def settings_of(header: Mapping[str, Any]) -> Settings:
    """The settings in a header."""
    plain = {k: math.inf if v is None else v for k, v in header["settings"].items()}
    on_singular = OnSingular(plain.get("on_singular", "continue"))  # not in earlier versions
    coordinates = Coordinates(plain.get("coordinates", "absolute"))
    chosen = {
        "drift": Drift(plain["drift"]),
        "on_singular": on_singular,
        "coordinates": coordinates,
    }
    return Settings(**{**plain, **chosen})


def news_of(run: Run, known: Mapping[str, int]) -> dict[str, Any]:
    """What to commit besides rows: how a run stands, and what happened since the last commit.

    Parameters
    ----------
    known : how many segments, events and rank changes are committed already.
    """
    # The last known segment may have grown since.
    first = max(known["segments"] - 1, 0)
    return {
        "status": run.status,
        "finished": run.finished,
        "counts": asdict(run.counts),
        "notes": list(run.notes),
        "tolerance": run.settings.tolerance,  # that is kept, see `rounding_note`
        "certificate": None if run.certificate is None else run.certificate.to_dict(),
        "segments": {"from": first, "new": [_segment(run, s) for s in run.segments[first:]]},
        "events": [asdict(e) for e in run.events[known["events"] :]],
        "ranks": [r.to_dict() for r in run.ranks[known["ranks"] :]],
    }


def determinacy_news(run: Run, forces: object) -> dict[str, Any]:
    """Which constraints the motion leaves open, where a run begins that is stored with forces."""
    found = None if forces is None or not len(run) else open_constraints(run)
    return {} if found is None else {"indeterminate": found}


def _segment(run: Run, segment: Segment) -> dict[str, Any]:
    inactive = set(run.system.constraints) - set(segment.system.constraints)
    return {
        "first": segment.first,
        "last": segment.last,
        "inactive": sorted(inactive),
        "parameters": {
            k: np.asarray(v, dtype=float).tolist() for k, v in segment.parameters.items()
        },
        "began": None if segment.began is None else segment.began._asdict(),
        "integrator": segment.integrator,
    }


def _beginning(plain: Mapping[str, Any] | None) -> Beginning | None:
    if plain is None:  # or not in earlier versions
        return None
    return Beginning(plain["t"], np.array(plain["left"]), np.array(plain["found"]))


class StoredRun(Run):
    """A run on disk; its arrays are read when they are first asked for."""

    stored: Stored

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():  # the others are read, see `__getattr__`
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        stored: Stored,
        system: System | None,
        between: Callable[[Run, FloatArray], tuple[FloatArray, FloatArray]],
        again: Callable[[float, FloatArray], Run] | None = None,
        watched: Mapping[str, Event] | None = None,
    ) -> StoredRun:
        """The run in a store, as far as it is committed."""
        try:
            return cls._of(stored, system, between, again, watched)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise DamageError(
                f"store {str(stored.path)!r}",
                but=f"has a record that cannot be read ({type(error).__name__}: {error})",
            ) from error

    @classmethod
    def _of(
        cls,
        stored: Stored,
        system: System | None,
        between: Callable[[Run, FloatArray], tuple[FloatArray, FloatArray]],
        again: Callable[[float, FloatArray], Run] | None,
        watched: Mapping[str, Event] | None,
    ) -> StoredRun:
        commits, header = stored.commits, stored.header
        last = commits[-1] if commits else {"status": "", "finished": False, "notes": ()}
        known: Any = absent_system(stored) if system is None else system
        segments: list[Segment] = []
        for commit in commits:
            del segments[commit["segments"]["from"] :]
            for s in commit["segments"]["new"]:
                active = known if system is None else known.without(s["inactive"])
                began, values = _beginning(s.get("began")), _values(s["parameters"])
                method = s.get("integrator", "")  # not in earlier versions
                segments.append(Segment(s["first"], s["last"], active, values, began, method))
        interrupted = "interrupted; zw.resume goes on with it"
        settings = settings_of(header)
        kept = last.get("tolerance", settings.tolerance)  # not in earlier versions
        fields: dict[str, Any] = {
            "stored": stored,
            "companions": stored.companions,
            "system": known,
            "status": last["status"] or interrupted,
            "finished": last["finished"],
            "settings": replace(settings, tolerance=kept),
            "segments": tuple(segments),
            "counts": Counts.of(last.get("counts", {})),
            "between": between,
            "again": again,
            "watched": dict(watched or {}),
            "times": stored.times(),
            "scales": np.array(header["scales"]),
            "events": tuple(
                EventRecord(e["name"], e["t"], *(np.array(e[k]) for k in ("q", "v", "v_after")))
                for commit in commits
                for e in commit["events"]
            ),
            "ranks": tuple(RankChange.of(r) for commit in commits for r in commit["ranks"]),
            "notes": tuple(last["notes"]),
            "certificate": RunCertificate.of(found) if (found := last.get("certificate")) else None,
            "force_record": force_record_of(stored),
        }
        return cls(fields)

    def __getattr__(self, name: str) -> Any:
        """Read an array on first use."""
        if name not in {"t", "q", "v"}:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message)
        value = self.stored.read("time" if name == "t" else name)
        object.__setattr__(self, name, value)
        return value

    def __len__(self) -> int:
        return self.stored.rows


def force_record_of(stored: Stored) -> ForceRecord | None:
    """The forces in a store, read when they are asked for; None if it has none."""
    plain = stored.header.get("forces")
    return None if plain is None else ForceRecord(ForceLayout.of(plain), stored.read)


def _values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v if isinstance(v, float) else np.array(v) for k, v in parameters.items()}


def absent_system(stored: Stored) -> Any:
    """Stands for the system of a run that was loaded without it: it knows the names alone."""
    return AbsentSystem(stored)


class AbsentSystem:
    """In place of the system of a run that was loaded without it."""

    def __init__(self, stored: Stored) -> None:
        model = stored.header["model"]
        self.coordinates = tuple(model["coordinates"])
        self.velocities = tuple(model["velocities"])
        self.constraints = tuple(model["constraints"])
        self.channels = ()
        self.path = stored.path
        #: Joints and constraints whose forces the motion leaves open, as far as it is stored.
        self.indeterminate: tuple[str, ...] = next(
            (tuple(c["indeterminate"]) for c in stored.commits if "indeterminate" in c), ()
        )
        if "forces" in stored.header:
            self.groups = ForceLayout.of(stored.header["forces"]).groups

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise StoreError(
            f"run {str(self.path)!r}",
            but="was loaded without the system that made it, and what is asked for follows from "
            "the equations of that",
            advice="Load it as zw.load(path, system).",
        )


def require_same_model(stored: Stored, system: System) -> None:
    """Refuse a system that is not the one of a stored run, naming what differs."""
    was, is_now = stored.header["model"], describe_model(system)
    if was == is_now:
        return
    parts = ("coordinates", "velocities", "parameters", "constraints")
    differing = [k for k in parts if was.get(k) != is_now[k]] or ["expressions"]
    raise InputError(
        f"system for the run {str(stored.path)!r}",
        must="be the one that made the run",
        but=f"differs in its {' and '.join(differing)}",
        advice="Values of parameters may differ; functions and names may not.",
    )


def require_same_events(stored: Stored, system: System, events: Mapping[str, Event]) -> None:
    """Refuse events that are not those of a stored run."""
    was, is_now = stored.header["events"], describe_events(system, events)
    differing = sorted(k for k in was.keys() | is_now.keys() if was.get(k) != is_now.get(k))
    if differing:
        raise InputError(
            f"events for the run {str(stored.path)!r}",
            must=f"be the same as when it was made ({', '.join(was) or 'none'})",
            but=f"differ in {', '.join(differing)}",
            advice="Give them as events={…}, as in simulate.",
        )


def require_same_controllers(stored: Stored, controllers: Mapping[str, Any]) -> None:
    """Refuse controllers whose names, periods or states are not those of a stored run."""
    was = stored.header.get("controllers", {})
    is_now = {name: one.describe() for name, one in controllers.items()}
    differing = sorted(k for k in was.keys() | is_now.keys() if was.get(k) != is_now.get(k))
    if differing:
        raise InputError(
            f"controllers for the run {str(stored.path)!r}",
            must=f"be the same as when it was made ({', '.join(was) or 'none'})",
            but=f"differ in {', '.join(differing)}",
            advice="Give them as controllers={…}, as in simulate.",
        )


def require_same_versions(stored: Stored) -> None:
    """Refuse to go on under versions or on a processor that would give other bits."""
    was, is_now = stored.header["versions"], versions()
    differing = [k for k in is_now if was.get(k) != is_now[k]]
    if differing:
        listed = "; ".join(f"{k} {was.get(k)}, now {is_now[k]}" for k in differing)
        raise StoreError(
            f"resuming {str(stored.path)!r}",
            must="use the same versions, to give the same bits",
            but=f"others are installed ({listed})",
            advice="zw.load(path, system).at(t) gives a state from which to start a new run.",
        )


def require_same_memory(
    stored: Stored, memory: Mapping[str, np.ndarray], mine: Mapping[str, np.ndarray]
) -> None:
    """Refuse to go on with what another time loop remembered.

    Parameters
    ----------
    memory, mine : name → array, as stored and as the loop has it that is to go on.
    """
    other = [k for k, x in mine.items() if k not in memory or np.shape(memory[k]) != np.shape(x)]
    if other:
        raise StoreError(
            f"resuming {str(stored.path)!r}",
            must="use the same version of the time loop",
            but=f"its stored state is of another ({', '.join(other)})",
            advice="zw.load(path, system).at(t) gives a state from which to start a new run.",
        )


def save(run: Run, path: Any) -> None:
    """Write a run as a whole; it can be read and verified, and there is nothing to resume."""
    if not len(run):
        raise InputError("run", must="have at least one saved state to be stored", but="has none")
    from zwang.results.controllers_of_runs import sampled_of

    inactive = set(run.system.constraints) - set(run.segments[0].system.constraints)
    began, nq = run.segments[0].began, run.q.shape[1]
    t, y = (run.t[0], np.append(run.q[0], run.v[0])) if began is None else began[:2]
    start = {"t": float(t), "q": y[:nq], "v": y[nq:], "inactive": sorted(inactive)}
    scales = np.ones(run.q.shape[1] + run.v.shape[1]) if run.scales is None else run.scales
    if isinstance(run, StoredRun):
        events = run.stored.header["events"]
    else:
        events = describe_events(run.system, run.watched)
    record = run.force_record
    layout = None if record is None else record.layout
    given, controllers, sets = sampled_of(run)
    header = header_of(run.system, run.settings, scales, start, given, events, layout)
    if controllers:
        header["controllers"] = controllers
    store = Store.create(path, header, run.times, run.companions and run.companions())
    none = {"segments": 0, "events": 0, "ranks": 0}
    y = np.concatenate([run.q, run.v], axis=1)
    try:
        forces = None if record is None else record.arrays()
        news = {**news_of(run, none), **determinacy_news(run, record), "open": False}
        if controllers:
            news["controllers"] = {"sets": sets}
        store.commit([run.t], [y], news, None, forces)
        store.close(closing_attributes(run))
    finally:
        store.release()


def closing_attributes(run: Run) -> dict[str, Any]:
    """How a run ended, for readers of its attributes."""
    return {
        "status": run.status,
        "finished": run.finished,
        "counts": asdict(run.counts),
        "notes": list(run.notes),
        "event_log": [{"name": e.name, "t": e.t} for e in run.events],
        "rank_changes": [r.to_dict() for r in run.ranks],
    }
