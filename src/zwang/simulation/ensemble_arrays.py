"""Ensemble simulation: results as arrays over all runs, without a `Run` for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from zwang.integrators.contract import WORK
from zwang.integrators.memory import ACTIVE
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["EnsembleArrays", "ensemble_arrays"]


class EnsembleArrays(NamedTuple):
    """Results of all runs of an ensemble.

    Attributes
    ----------
    states : saved q and v (N, count, nq + nv), NaN beyond what a run has saved.
    work : what each run took, as `zwang.results.run.Counts` has it, whole numbers (N, 6).
    finished : which reached their end, booleans (N,).
    """

    states: FloatArray
    work: np.ndarray
    finished: np.ndarray


def ensemble_arrays(runs: Sequence[Any], count: int) -> EnsembleArrays:
    """Arrays of runs that each were to save so many states."""
    size = runs[0].q.shape[1] + runs[0].v.shape[1] if len(runs) else 0
    found = EnsembleArrays(
        np.full((len(runs), count, size), np.nan),
        np.zeros((len(runs), len(WORK)), dtype=np.int64),
        np.zeros(len(runs), dtype=bool),
    )
    parts: dict[int, tuple[Any, list[int], list[int]]] = {}
    for i in range(len(runs)):
        run: Any = runs[i]
        part = None if isinstance(runs[i], Run) else run.part
        if part is None:
            rows = min(len(run.q), count)
            found.states[i, :rows] = np.concatenate([run.q[:rows], run.v[:rows]], axis=1)
            found.work[i], found.finished[i] = list(vars(run.counts).values()), run.finished
            continue
        entry = parts.get(id(part))
        if entry is None:
            entry = parts[id(part)] = (part, [], [])
        entry[1].append(i)
        entry[2].append(run.place)
    for part, members, places in parts.values():
        queue = part.relay
        found.states[members] = queue.saved_of_all(count)[places]
        found.work[members] = queue.counts[list(WORK)][:, places].T
        found.finished[members] = queue.counts[ACTIVE, places] == 0
    return found
