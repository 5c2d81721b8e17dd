"""Adaptive studies: more runs where an output changes, until a boundary is known well enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError
from zwang.studies.plan import plan_of
from zwang.studies.samples import GridSamples
from zwang.studies.study import Study, study
from zwang.terms import FloatArray

__all__ = ["Boundary", "refine"]

#: Rounds of refinement, at most: each halves the cells.
MOST_ROUNDS = 30


@dataclass(frozen=True)
class Boundary:
    """Where an output passes a level.

    Attributes
    ----------
    names : what varies.
    points : middles of the smallest cells that it passes through (n, d).
    size : their extent along each name (d,).
    runs : how many were computed in all.
    studies : the rounds, coarse to fine.
    """

    names: tuple[str, ...]
    points: FloatArray
    size: FloatArray
    runs: int
    studies: tuple[Study, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.points)} cells of {', '.join(f'{s:.3g}' for s in self.size)} "
            f"({', '.join(self.names)}), {self.runs} runs in {len(self.studies)} rounds"
        )


def refine(
    model: Any,
    plan: Any,
    output: str | PathLike[str],
    *,
    of: str,
    level: float = 0.0,
    tolerance: float | dict[str, float],
    most_runs: int = 100_000,
    scheduler: Any = None,
    workers: int | None = None,
    progress: Any = False,
) -> Boundary:
    """Follow the boundary on which an output passes a level: of a basin, of stability.

    A grid is computed first. Cells on whose corners the output is on both sides of the level, or
    fails on some and not on others, are halved, and their new corners computed, until cells are
    small enough. Every round is a study of its own in the folder; calling this again goes on.

    Parameters
    ----------
    model : as for `zwang.study`.
    plan : one grid of numbers, with evenly spaced axes.
    output : folder for the rounds.
    of : output that is looked at, a single value.
    level : value that it passes.
    tolerance : extent of the smallest cells, for all names or by name.
    most_runs : the search ends before it takes more.
    scheduler, workers, progress : as for `zwang.study` and `Study.run`.
    """
    coarse = plan_of(plan)
    block = coarse.samples[0]
    if len(coarse.samples) > 1 or not isinstance(block, GridSamples):
        raise InputError("plan", must="be one grid", but="has other samples")
    names = block.names
    wanted = np.array(
        [tolerance[n] if isinstance(tolerance, dict) else float(tolerance) for n in names]
    )
    first = np.array([axis[0] for axis in block.axes])
    step = np.array([(axis[-1] - axis[0]) / max(len(axis) - 1, 1) for axis in block.axes])
    if not np.all(wanted > 0.0) or not np.all(step > 0.0):
        raise InputError("tolerance", expected="positive, on axes that increase")
    rounds: list[Study] = []
    known: dict[tuple[int, ...], float] = {}
    folder = path_of(output, "output", "the path of a folder")
    rest = {k: v for k, v in coarse.values.items() if k != "grid"}
    depth = int(max(0, np.ceil(np.log2((step / wanted).max() * (1 - 1e-12)))))
    depth = min(depth, MOST_ROUNDS)
    unit = 2**depth  # whole numbers of the finest cells
    counts = [len(axis) for axis in block.axes]
    cells = [tuple(unit * int(k) for k in cell) for cell in np.ndindex(*[n - 1 for n in counts])]
    compute = _Rounds(model, rest, names, folder, of, scheduler, workers, progress)
    width = unit
    while True:
        corners = {
            tuple(c + width * b for c, b in zip(cell, corner, strict=True))
            for cell in cells
            for corner in np.ndindex(*[2] * len(names))
        }
        new = sorted(corners - known.keys())
        if len(known) + len(new) > most_runs:
            break
        if new:
            places = first + np.array(new) * (step / unit)
            done, values = compute(len(rounds), places)
            rounds.append(done)
            known |= dict(zip(new, values.tolist(), strict=True))
        cells = [cell for cell in cells if _passes(known, cell, width, level)]
        if width == 1 or not cells:
            break
        width //= 2
        cells = [
            tuple(c + width * b for c, b in zip(cell, corner, strict=True))
            for cell in cells
            for corner in np.ndindex(*[2] * len(names))
        ]
    middle = np.array(cells, dtype=float).reshape(-1, len(names)) + width / 2
    points = first + middle * (step / unit)
    return Boundary(names, points, step * width / unit, len(known), tuple(rounds))


def _passes(
    known: dict[tuple[int, ...], float], cell: tuple[int, ...], width: int, level: float
) -> bool:
    """Whether the corners of a cell are on both sides; one that failed is a side of its own."""
    sides = set()
    for corner in np.ndindex(*[2] * len(cell)):
        value = known[tuple(c + width * b for c, b in zip(cell, corner, strict=True))]
        sides.add("none" if np.isnan(value) else value > level)
    return len(sides) > 1


@dataclass(frozen=True)
class _Rounds:
    """Computes values at places, one study a round."""

    model: Any
    rest: dict[str, Any]
    names: tuple[str, ...]
    folder: Path
    of: str
    scheduler: Any
    workers: int | None
    progress: bool | Callable[[Any], Any] | None

    def __call__(self, number: int, places: FloatArray) -> tuple[Study, FloatArray]:
        plan = {"list": {n: places[:, k] for k, n in enumerate(self.names)}, **self.rest}
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"round-{number}.zarr"
        done = study(self.model, plan, output=path, scheduler=self.scheduler)
        done.run(workers=self.workers, progress=self.progress)
        data = done.dataset
        if self.of not in data or data[self.of].ndim != 1:
            raise InputError(f"output {self.of!r}", expected="one of the plan, a single value")
        return done, data[self.of].values
