"""One task of a study: some runs, computed and written where the dataset is.

A task is known by the folder of the dataset and its number; everything else is read there, once in
a process. Only models of Python, which have no file, are sent along.
"""

from __future__ import annotations

import json
import os
import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from zwang.errors import StoreError, ZwangError
from zwang.results.model_digest import versions
from zwang.simulation.interrupt import postponed_interrupt
from zwang.studies.by_constants import simulated
from zwang.studies.compute import FINISHED, RunOutputs, TaskResult
from zwang.studies.dataset import StudyStore, open_store
from zwang.studies.plan import StudyPlan, plan_of
from zwang.studies.subject import Subject, subject_of

__all__ = [
    "NEEDS_MODEL",
    "StudyTasks",
    "TaskReport",
    "decisive_versions",
    "outputs_of",
    "own_versions",
    "run_task",
]

#: Advice where a study is of a model that is not in its folder.
NEEDS_MODEL = (
    "Give the model in Python, with the events of the study if it has some: "
    "zw.open_study(path, model, events={…}). The numbers can be read without it: "
    "xarray.open_zarr(path)."
)
#: Packages that decide the bits of results.
DECISIVE = ("zwang", "numpy", "casadi", "llvmlite")


@lru_cache(maxsize=1)
def own_versions() -> Mapping[str, str]:
    """Versions and processor of this process, which are looked up once."""
    return MappingProxyType(versions())


def decisive_versions() -> dict[str, str]:
    """Versions that a worker must share with the study."""
    return {name: own_versions()[name] for name in DECISIVE}


@dataclass(frozen=True)
class TaskReport:
    """What a task tells the study; results are in the dataset.

    Attributes
    ----------
    runs, failed : how many it had, and how many of them did not reach their end.
    seconds : that it took.
    stopped : whether the user stopped it, so that nothing was written.
    refusal : why it could not be done at all, a sentence.
    """

    task: int
    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    stopped: bool = False
    refusal: str = ""


def outputs_of(subject: Subject, plan: StudyPlan) -> Any:
    """What computes the rows of a plan: `RunOutputs`, or the same for another analysis."""
    if plan.compute == "run":
        return RunOutputs(subject, plan)
    from zwang.studies.analyses import AnalysisOutputs

    return AnalysisOutputs(subject, plan)


class StudyTasks:
    """The tasks of a study in this process."""

    def __init__(self, store: StudyStore, subject: Subject, plan: StudyPlan) -> None:
        self.store, self.subject, self.plan = store, subject, plan
        self.outputs = outputs_of(subject, plan)
        self._first = threading.Lock()
        self._compiled = False

    def run(self, task: int) -> TaskReport:
        """Compute the runs of a task and write them."""
        began = perf_counter()
        first, last = self.store.span(task)
        rows = self.plan.rows(first, last)
        with postponed_interrupt() as interrupt:
            if self._compiled:
                result = simulated(self.outputs, rows)
            else:
                with self._first:  # compile once, not in all threads at the same time
                    result = simulated(self.outputs, rows)
                    self._compiled = True
            if interrupt.asked:
                return TaskReport(task, stopped=True)
        failed = int(np.count_nonzero(result.status != FINISHED))
        self.store.write(task, columns(rows, result, first))
        seconds = perf_counter() - began
        self._log({"task": task, "runs": last - first, "failed": failed, "seconds": seconds})
        return TaskReport(task, last - first, failed, seconds)

    def _log(self, entry: Mapping[str, Any]) -> None:
        """Wall times, in a file of this process; losing them loses nothing."""
        worker = f"{platform.node()}-{os.getpid()}"
        try:
            with (self.store.record / "log" / f"{worker}.jsonl").open("a") as file:
                file.write(json.dumps({**entry, "worker": worker}) + "\n")
        except OSError:
            return


def columns(rows: Mapping[str, np.ndarray], result: TaskResult, first: int) -> dict[str, Any]:
    """All arrays of a task by name."""
    count = len(result.status)
    return {
        "run": np.arange(first, first + count, dtype=np.int64),
        **{
            name: column.tolist() if column.dtype.kind in "US" else column
            for name, column in rows.items()
        },
        **result.values,
        "status": result.status,
        "reason": result.reason,
        "steps": result.work[:, 0],
        "rejected": result.work[:, 1],
        "evaluations": result.work[:, 2],
    }


#: Studies that this process works for, by folder and digest.
_KNOWN: dict[tuple[str, str], StudyTasks] = {}
_OPENING = threading.Lock()
#: No more than so many are kept.
MOST_KNOWN = 8


def tasks_of(folder: str, digest: str, payload: bytes | None) -> StudyTasks:
    """The tasks of a study, opened once in a process."""
    with _OPENING:
        known = _KNOWN.get((folder, digest))
        if known is None:
            store = open_store(Path(folder))
            if store.header["digest"] != digest:
                raise StoreError(f"study '{folder}'", but="is another one by now")
            subject = subject_in(store, payload)
            known = StudyTasks(store, subject, stored_plan(store))
            while len(_KNOWN) >= MOST_KNOWN:
                _KNOWN.pop(next(iter(_KNOWN)))
            _KNOWN[folder, digest] = known
    return known


def stored_plan(store: StudyStore) -> StudyPlan:
    """The plan in a dataset."""
    content = store.read("plan.json")
    if content is None:
        raise StoreError(f"study '{store.path}'", but="has no plan")
    return plan_of(json.loads(content))


def subject_in(store: StudyStore, payload: bytes | None = None) -> Subject:
    """The model of a study: sent along, or in the dataset."""
    from zwang.model_files.read import model_of

    if payload is not None:
        return Subject.of_payload(payload)
    text = store.read("model.toml")
    if text is None:
        raise StoreError(
            f"study '{store.path}'",
            but="is of a Python model, which is not stored with it",
            advice=NEEDS_MODEL,
        )
    name = store.header.get("model", "model")
    return subject_of(model_of(text.decode(), str(store.record / "model.toml"), name))


def run_task(
    folder: str, digest: str, task: int, payload: bytes | None, wanted: Mapping[str, str]
) -> TaskReport:
    """One task in a worker; what is wrong with the worker or the model is reported as a sentence.

    Parameters
    ----------
    digest : of the study, so that a worker never works for another one in the same folder.
    wanted : versions of the packages that decide the bits of results.
    """
    found = decisive_versions()
    if found != dict(wanted):
        other = [
            f"{name} {found[name]} in place of {wanted[name]}"
            for name in wanted
            if found.get(name) != wanted[name]
        ]
        refusal = (
            f"The worker {platform.node()} (process {os.getpid()}) has {', '.join(other)}, and "
            "would compute other bits. Install the same versions there."
        )
        return TaskReport(task, refusal=refusal)
    try:
        return tasks_of(folder, digest, payload).run(task)
    except ZwangError as error:
        return TaskReport(task, refusal=str(error))
