"""What `zwang.solve` costs, measured against the singular value decomposition it cannot do without.

    python -m benchmarks.solve            a table; exit code 1 when a goal is missed
    python -m benchmarks.solve --json     the same for machines

Times are CPU times on one thread, to which the package holds numerical libraries. Each is the least
of many short passes in which the candidate and its yardstick take turns, so that a busy machine
disturbs both alike and the quiet moments count. The yardstick is one `numpy.linalg.svd` of the same
A (batched where the candidate is), for sparse terms one sparse factorisation of the saddle-point
matrix.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

import zwang as zw

Terms = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Call = Callable[[], object]

#: Largest ratios to one SVD: 10,000 systems in one call, and a single call.
BATCH_GOAL, SINGLE_GOAL = 4.0, 15.0


@dataclass(frozen=True)
class Case:
    """A candidate, its yardstick, and how often each is called in one pass."""

    name: str
    candidate: Call
    yardstick: Call
    calls: int
    passes: int
    goal: float | None = None


@dataclass(frozen=True)
class Timing:
    """Least CPU time per call [s], and their ratio."""

    name: str
    seconds: float
    yardstick_seconds: float
    ratio: float
    goal: float | None

    @property
    def missed(self) -> bool:
        """Whether there is a goal and the ratio exceeds it."""
        return self.goal is not None and self.ratio > self.goal


# --- systems --------------------------------------------------------------------------------------


def terms(
    n: int, m: int, batch: tuple[int, ...] = (), *, redundant: int = 0, massless: int = 0
) -> Terms:
    """Random M, Q, A, b with so many redundant rows and coordinates without mass."""
    random = np.random.default_rng(1)
    F = random.standard_normal((*batch, n, 2 * n))
    F[..., :massless, :] = 0.0
    A = random.standard_normal((*batch, m, n))
    if redundant:
        A[..., m - redundant :, :] = A[..., :redundant, :] - 2.0 * A[..., 1 : redundant + 1, :]
    b = A @ random.standard_normal((*batch, n, 1))
    return F @ F.mT, random.standard_normal((*batch, n)), A, b[..., 0]


def chain(count: int) -> tuple[sparse.csr_array, np.ndarray, sparse.csr_array, np.ndarray]:
    """A hanging planar chain of point masses: 2·count coordinates, one rod for each mass."""
    random = np.random.default_rng(2)
    angle = random.uniform(-1.0, 1.0, count)
    direction = np.stack([np.sin(angle), -np.cos(angle)])
    M = sparse.diags_array(random.uniform(0.5, 2.0, 2 * count)).tocsr()
    Q = np.tile([0.0, -9.81], count) * M.diagonal()
    rods = np.arange(count)
    ends = [(rods, 2 * rods + k, direction[k]) for k in range(2)]
    starts = [(rods[1:], 2 * rods[:-1] + k, -direction[k, 1:]) for k in range(2)]
    row, column, value = (np.concatenate(part) for part in zip(*ends, *starts, strict=True))
    A = sparse.csr_array((value, (row, column)), shape=(count, 2 * count))
    return M, Q, A, random.standard_normal(count)


# --- cases ----------------------------------------------------------------------------------------


def single(name: str, given: Terms, goal: float | None = None, formulation: str = "auto") -> Case:
    """One system a call; enough calls a pass for the clock."""
    return Case(
        name,
        lambda: zw.solve(*given, formulation=formulation),
        lambda: np.linalg.svd(given[2]),
        calls=20,
        passes=200 if goal else 30,
        goal=goal,
    )


def batch(name: str, given: Terms, goal: float | None = None, formulation: str = "auto") -> Case:
    """Many systems in one call."""
    return Case(
        name,
        lambda: zw.solve(*given, formulation=formulation),
        lambda: np.linalg.svd(given[2]),
        calls=1,
        passes=12 if goal else 4,
        goal=goal,
    )


def cases() -> list[Case]:
    """All that is measured; the two with goals come first."""
    one, many = terms(12, 8), terms(12, 8, (10_000,))
    found = [
        batch("10,000 systems, n = 12, m = 8", many, BATCH_GOAL),
        single("single, n = 12, m = 8", one, SINGLE_GOAL),
        single("single, n = 3, m = 1", terms(3, 1)),
        single("single, n = 30, m = 20", terms(30, 20)),
        single("single, n = 60, m = 50", terms(60, 50)),
        single("single, 2 of 8 rows redundant", terms(12, 8, redundant=2)),
        single("single, 4 of 12 without mass", terms(12, 8, massless=4)),
        batch("10,000 systems, n = 3, m = 1", terms(3, 1, (10_000,))),
        batch("1,000 systems, n = 30, m = 20", terms(30, 20, (1_000,))),
        batch("10,000, 2 of 8 rows redundant", terms(12, 8, (10_000,), redundant=2)),
        batch("10,000, 4 of 12 without mass", terms(12, 8, (10_000,), massless=4)),
    ]
    found += [single(f"single, {name}", one, formulation=name) for name in zw.FORMULATIONS]
    small = terms(12, 8, (2_000,))
    found += [batch(f"2,000, {name}", small, formulation=name) for name in zw.FORMULATIONS]
    found.append(
        Case(
            "certify, single, n = 12, m = 8",
            lambda: zw.certify(*one),
            lambda: np.linalg.svd(one[2]),
            calls=10,
            passes=20,
        )
    )
    return [*found, sparse_case(10_000)]


def sparse_case(count: int) -> Case:
    """A long chain, against one factorisation of the same saddle-point matrix."""
    M, Q, A, b = chain(count)
    saddle = sparse.block_array([[M, A.T], [A, None]], format="csc")
    name = f"sparse chain, n = {2 * count:,}, m = {count:,}"
    return Case(name, lambda: zw.solve(M, Q, A, b), lambda: splu(saddle), calls=1, passes=3)


# --- measuring ------------------------------------------------------------------------------------


def measure(case: Case) -> Timing:
    """Least time of each of the two, taking turns."""
    for call in (case.candidate, case.yardstick):  # the first call loads and allocates
        call()
    passes = [
        (_seconds(case.yardstick, case.calls), _seconds(case.candidate, case.calls))
        for _ in range(case.passes)
    ]
    yardstick, candidate = (min(times) for times in zip(*passes, strict=True))
    return Timing(case.name, candidate, yardstick, candidate / yardstick, case.goal)


def _seconds(call: Call, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def _line(timing: Timing) -> str:
    goal = ""
    if timing.goal is not None:
        goal = f"≤ {timing.goal:g}  {'MISSED' if timing.missed else 'kept'}"
    return (
        f"{timing.name:<36} {_readable(timing.seconds):>10} "
        f"{_readable(timing.yardstick_seconds):>10} {timing.ratio:>7.1f}   {goal}"
    ).rstrip()


def _readable(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def main() -> int:
    """Measure, print, and say by the exit code whether the goals are kept."""
    parser = argparse.ArgumentParser(description="Cost of zwang.solve against one SVD.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name has this text")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in case.name]
    timings: list[Timing] = []
    if not arguments.json:
        print(f"{'':<36} {'CPU time':>10} {'yardstick':>10} {'ratio':>7}   goal")
    for case in chosen:
        timings.append(measure(case))
        if not arguments.json:
            print(_line(timings[-1]), flush=True)
    if arguments.json:
        versions = {"zwang": zw.__version__, "numpy": np.__version__}
        results = [{**asdict(timing), "missed": timing.missed} for timing in timings]
        print(json.dumps({"versions": versions, "results": results}, indent=2))
    return int(any(timing.missed for timing in timings))


if __name__ == "__main__":
    sys.exit(main())
