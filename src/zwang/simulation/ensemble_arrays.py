"""Ensemble simulation: results as arrays over all runs, without a `Run` for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zwang.integrators.contract import WORK
from zwang.integrators.memory import ACTIVE
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


def ensemble_arrays(
    own: Mapping[int, Any], parts: Sequence[Any], shape: tuple[int, int, int]
) -> EnsembleArrays:
    """Arrays of runs, those of the parts of an ensemble and those that are by themselves.

    Parameters
    ----------
    own : number of a run that is by itself → the run.
    shape : how many runs, states that each was to save, entries of a state.
    """
    number, count, _ = shape
    found = EnsembleArrays(
        np.full(shape, np.nan),
        np.zeros((number, len(WORK)), dtype=np.int64),
        np.zeros(number, dtype=bool),
    )
    for part in parts:
        found.states[part.members] = part.relay.saved_of_all(count)
        found.work[part.members] = part.relay.counts[list(WORK)].T
        found.finished[part.members] = part.relay.counts[ACTIVE] == 0
    for i, run in own.items():
        rows = min(len(run.q), count)
        found.states[i] = np.nan
        found.states[i, :rows] = np.concatenate([run.q[:rows], run.v[:rows]], axis=1)
        found.work[i], found.finished[i] = list(vars(run.counts).values()), run.finished
    return found
