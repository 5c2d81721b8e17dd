"""Means over the time of a run in which controllers or events change parameters.

Forces jump there: saved states, each of which is one side of a jump, say nothing of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zwang.errors import ZwangError
from zwang.results.channels import changed_parameters
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["Nodes", "nodes_of"]

#: Intervals shorter than this, relative to the times, are rounding.
INSTANT = 1e-12
#: Entries of states at all nodes beyond which nothing is said: forces of so many take ten seconds.
MOST_ENTRIES = 2e7
#: Gauss's two nodes on an interval from −1 to 1.
GAUSS = np.array([-1.0, 1.0]) / np.sqrt(3.0)


class Nodes(NamedTuple):
    """A run at Gauss's nodes of the intervals in which its parameters are held.

    Attributes
    ----------
    run : at the nodes; None where it cannot be had there, as without its system.
    weights : of the nodes [s].
    """

    run: Run | None
    weights: FloatArray

    def mean(self, y: FloatArray) -> float:
        """Mean over time of values at the nodes; where it is undefined the time does not count."""
        good = np.isfinite(y)
        time = self.weights[good].sum()
        return float(y[good] @ self.weights[good] / time) if time > 0.0 else float("nan")

    def rms(self, y: FloatArray) -> float:
        """Root mean square over time."""
        return float(np.sqrt(self.mean(y * y)))


def nodes_of(run: Run, t: FloatArray) -> Nodes | None:
    """Nodes on all intervals between some times, and between changes; None without changes."""
    t = np.unique(t)
    if not changed_parameters(run) or len(t) < 2:
        return None
    begun = np.array([s.began.t for s in run.segments if s.began is not None])
    edges = np.unique(np.concatenate([t, begun[(begun > t[0]) & (begun < t[-1])]]))
    steps = np.diff(edges)
    real = steps > INSTANT * np.abs(edges).max()
    half = 0.5 * steps[real]
    weights = np.repeat(half, 2)
    if len(weights) * (run.q.shape[1] + run.v.shape[1]) > MOST_ENTRIES:
        return Nodes(None, weights)
    times = ((edges[:-1][real] + half)[:, None] + half[:, None] * GAUSS).ravel()
    try:
        return Nodes(at_times(run, times), weights)
    except ZwangError:  # of a stored run without its system
        return Nodes(None, weights)
