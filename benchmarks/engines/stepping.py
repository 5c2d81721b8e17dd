"""SciPy's integrators around engines that bring none."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.cases.model import Work
from benchmarks.engines.base import Ran

__all__ = ["Places", "Rate", "adaptive"]

Rate = Callable[[float, np.ndarray], np.ndarray]
Places = Callable[[np.ndarray], np.ndarray]


def adaptive(
    work: Work,
    method: str,
    f: Rate,
    y: np.ndarray,
    tolerance: float,
    build: float,
    places: Places,
) -> Ran:
    """A run with error control, from each time of the work to the next."""
    found, spent, count = [places(y)], 0.0, 0
    if method == "Radau":  # it hands over columns, which compiled functions refuse
        f = _in_one_piece(f)
    for begin_time, end_time in zip(work.times[:-1], work.times[1:], strict=True):
        begin = time.process_time()
        span = (float(begin_time), float(end_time))
        done = solve_ivp(f, span, y, method=method, rtol=tolerance, atol=tolerance)
        y, count = done.y[:, -1], count + done.nfev
        spent += time.process_time() - begin
        found.append(places(y))
    return Ran(spent, np.array(found), build, evaluations=count)


def _in_one_piece(f: Rate) -> Rate:
    return lambda t, y: f(t, np.ascontiguousarray(y))
