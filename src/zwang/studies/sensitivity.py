"""Sensitivity in a study: Sobol indices and Morris effects of what varies.

Sobol: the estimators of Saltelli (first order) and Jansen (total) from matrices A, B and A with
columns of B, N (d + 2) runs. A. Saltelli et al., Computer Physics Communications 181 (2010) 259.
Morris: elementary effects along N paths of d steps, N (d + 1) runs. M. Morris, Technometrics 33
(1991) 161; the mean of absolute effects is that of Campolongo et al. (2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.studies.plan import StudyPlan, plan_of
from zwang.studies.samples import RandomSamples
from zwang.terms import FloatArray

__all__ = ["MorrisEffects", "SobolIndices", "morris_plan", "sobol_plan"]

#: Resamples for the bounds of Sobol indices.
RESAMPLES = 200


@dataclass(frozen=True)
class SobolIndices:
    """Shares of the variance of an output.

    Attributes
    ----------
    names : what varies.
    first : share of each by itself.
    total : share of each with all its interactions.
    first_error, total_error : half the width of the interval of 95 %, by resampling.
    """

    names: tuple[str, ...]
    first: FloatArray
    total: FloatArray
    first_error: FloatArray
    total_error: FloatArray

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(
            self.names, self.first, self.first_error, self.total, self.total_error, strict=True
        )
        lines = [
            f"{n:<{width}}  {a:7.3f} ± {da:.3f}  {b:7.3f} ± {db:.3f}" for n, a, da, b, db in rows
        ]
        return "\n".join([f"{'':<{width}}  first order        total", *lines])


@dataclass(frozen=True)
class MorrisEffects:
    """Elementary effects on an output, for the whole range of each quantity.

    Attributes
    ----------
    names : what varies.
    mean, mean_absolute, deviation : of the effects.
    """

    names: tuple[str, ...]
    mean: FloatArray
    mean_absolute: FloatArray
    deviation: FloatArray


def _cube_of(given: Any) -> tuple[dict[str, Any], RandomSamples]:
    """A plan as plain data, and its one block of distributions."""
    plan = given if isinstance(given, StudyPlan) else plan_of(given)
    block = plan.samples[0]
    if len(plan.samples) > 1 or not isinstance(block, RandomSamples) or block.factor is not None:
        raise InputError(
            "plan",
            must="be one block of independent distributions",
            but="has other samples",
            advice="Use random, sobol or latin_hypercube, without correlation.",
        )
    rest = {
        key: value
        for key, value in plan.values.items()
        if key not in (block.method, "samples", "seed")
    }
    return rest, block


def _listed(rest: Mapping[str, Any], block: RandomSamples, u: FloatArray) -> dict[str, Any]:
    """The plan with the rows of a design in place of its distributions."""
    columns = {
        name: distribution.values(u[:, k]).tolist()
        for k, (name, distribution) in enumerate(zip(block.names, block.distributions, strict=True))
    }
    return {"list": columns, **rest}


def sobol_plan(plan: Any) -> dict[str, Any]:
    """The plan for Sobol indices: of a plan of N samples of d quantities, N (d + 2) runs.

    Parameters
    ----------
    plan : with one block of distributions; N is its number of samples, best a power of two.
    """
    from scipy.stats import qmc

    rest, block = _cube_of(plan)
    d, N = len(block.names), block.count
    engine = qmc.Sobol(2 * d, scramble=True, rng=np.random.default_rng(block.seed))
    whole = 2 ** int(np.ceil(np.log2(max(N, 2))))
    points = np.clip(engine.random(whole)[:N], 1e-12, 1.0 - 1e-12)
    A, B = points[:, :d], points[:, d:]
    mixed = []
    for k in range(d):
        C = A.copy()
        C[:, k] = B[:, k]
        mixed.append(C)
    return _listed(rest, block, np.concatenate([A, B, *mixed]))


def sobol_indices(values: FloatArray, names: tuple[str, ...]) -> SobolIndices:
    """Indices from the values (N (d + 2),) of a plan of `sobol_plan`."""
    d = len(names)
    if len(values) % (d + 2) or not np.isfinite(values).all():
        raise InputError(
            "output",
            must="have a value for all runs of a plan of sobol_plan",
            but=f"{int(np.count_nonzero(~np.isfinite(values)))} of {len(values)} have none",
        )
    a, b, *mixed = np.split(values, d + 2)
    c = np.array(mixed)

    def indices(rows: Any) -> tuple[FloatArray, FloatArray]:
        fa, fb, fc = a[rows], b[rows], c[:, rows]
        variance = np.concatenate([fa, fb]).var()
        if not variance > 0.0:
            return np.zeros(d), np.zeros(d)
        first = (fb * (fc - fa)).mean(axis=1) / variance
        total = ((fa - fc) ** 2).mean(axis=1) / (2.0 * variance)
        return first, total

    # Values are taken from their mean, which does not change the indices but their errors.
    center = np.concatenate([a, b]).mean()
    a, b, c = a - center, b - center, c - center
    first, total = indices(slice(None))
    rng = np.random.default_rng(0)
    again = [indices(rng.integers(0, len(a), len(a))) for _ in range(RESAMPLES)]
    errors = [1.96 * np.std([pair[k] for pair in again], axis=0) for k in (0, 1)]
    return SobolIndices(names, first, total, errors[0], errors[1])


def morris_plan(plan: Any, *, levels: int = 4) -> dict[str, Any]:
    """The plan for Morris effects: of a plan of N samples of d quantities, N (d + 1) runs.

    Parameters
    ----------
    levels : steps of the grid in the unit cube on which paths run; an even number.
    """
    rest, block = _cube_of(plan)
    if not isinstance(levels, int) or levels < 2 or levels % 2:
        raise InputError("levels", found=repr(levels), expected="an even number")
    d, rng = len(block.names), np.random.default_rng(block.seed)
    delta = levels / (2.0 * (levels - 1))
    rows = []
    for _ in range(block.count):
        low = rng.integers(0, levels // 2, d) / (levels - 1)
        up = rng.integers(0, 2, d).astype(bool)
        point = np.where(up, low + delta, low)
        rows.append(point.copy())
        for k in rng.permutation(d):
            point[k] = low[k] if up[k] else low[k] + delta
            rows.append(point.copy())
    # The ends of unbounded distributions are half a level inside.
    u = (np.array(rows) * (levels - 1) + 0.5) / levels
    return _listed(rest, block, u)


def morris_effects(
    values: FloatArray, columns: Mapping[str, FloatArray], plan_names: tuple[str, ...]
) -> MorrisEffects:
    """Effects from the values (N (d + 1),) of a plan of `morris_plan`.

    Parameters
    ----------
    columns : name → what it was in each run.
    """
    d = len(plan_names)
    if len(values) % (d + 1):
        raise InputError("output", must="be of a plan of morris_plan", but="is of another")
    spread = {n: float(np.ptp(columns[n])) for n in plan_names}
    effects: dict[str, list[float]] = {n: [] for n in plan_names}
    for first in range(0, len(values), d + 1):
        for i in range(first, first + d):
            moved = [n for n in plan_names if columns[n][i] != columns[n][i + 1]]
            if len(moved) != 1:
                raise InputError("output", must="be of a plan of morris_plan", but="is of another")
            (name,) = moved
            step = columns[name][i + 1] - columns[name][i]
            effects[name].append((values[i + 1] - values[i]) / step * spread[name])
    table = [np.array(effects[n]) for n in plan_names]
    return MorrisEffects(
        plan_names,
        np.array([x.mean() for x in table]),
        np.array([np.abs(x).mean() for x in table]),
        np.array([x.std(ddof=1) if len(x) > 1 else 0.0 for x in table]),
    )
