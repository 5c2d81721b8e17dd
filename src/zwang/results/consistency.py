"""Consistency of a stored run's records: its states are all that were saved, up to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zwang.results.records import StoredRun

__all__ = ["claims"]


def claims(run: StoredRun) -> list[str]:
    """Contradictions between the records of a run and its states, as sentences.

    Rows may have been taken away without touching a single number: at the end, at the beginning, in
    the middle. What is left is a motion; but not the one that settings, counts and status describe.
    """
    return [*_description(run), *_rows(run), *_status(run)]


def _description(run: StoredRun) -> list[str]:
    """What is recorded in more than one place agrees."""
    header = run.stored.header
    parameters = {k: np.asarray(v, dtype=float).tolist() for k, v in run.parameters.items()}
    controlled = run.stored.commits[-1].get("controllers", {}).get("sets", ())
    given = header["parameters"]
    if {**parameters, **{k: given[k] for k in controlled if k in given}} != given:
        return ["parameters of the first chunk are not those of the description"]
    return []


def _rows(run: StoredRun) -> list[str]:
    """The times of the rows are those that were to be saved."""
    start, until = run.stored.header["start"]["t"], run.settings.until
    stopped = bool(run.finished and run.events and "by event" in run.status)
    end = run.events[-1].t if stopped else until
    times, last = run.times, float(run.t[-1])
    if times is not None:
        wanted = times[times <= end] if run.finished else times[: len(run)]
        if stopped and run.settings.stop_saved:
            wanted = np.union1d(wanted, [end])
        if not np.array_equal(wanted, run.t):
            return [f"the {len(run)} saved times are not those that were asked for"]
        return []
    found = []
    if run.t[0] != start:
        found.append(f"the first state is of t = {run.t[0]:.6g} s, the start was at {start:.6g} s")
    if run.finished and last != end:
        found.append(
            f"the last state is of t = {last:.6g} s, the run records that it reached {end:.6g} s"
        )
    steps = run.counts.steps
    if run.finished and len(run.segments) == 1 and not stopped and len(run) != steps + 1:
        found.append(f"there are {len(run)} states, and after {steps} steps {steps + 1} were saved")
    return found


def _status(run: StoredRun) -> list[str]:
    """The status records the same end and the same counts."""
    work = run.counts
    done = f"{work.steps} steps, {work.rejected} rejected, {work.evaluations} evaluations"
    reached = f"reached t = {run.settings.until:.6g} s: {done}"
    if run.finished and "by event" not in run.status and not run.status.startswith(reached):
        return [f"the status is {run.status!r}; settings and counts give {reached!r}"]
    return []
