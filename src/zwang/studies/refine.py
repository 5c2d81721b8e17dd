"""Adaptive studies: more runs where an output changes, until a boundary is known well enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError, UnknownNameError, shown
from zwang.studies.plan import StudyPlan, plan_of
from zwang.studies.samples import GridSamples
from zwang.studies.study import Study, study
from zwang.terms import FloatArray

__all__ = ["Boundary", "refine"]

#: Rounds of refinement, at most: each halves the cells.
MOST_ROUNDS = 30
#: Runs in all rounds together, unless said otherwise.
MOST_RUNS = 100_000
#: Steps of an axis that differ by less, relatively, are even: those of a printed decimal grid.
EVEN = 1e-9


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
    reached : whether the cells are as small as was asked for; if not, that took too many runs.
    """

    names: tuple[str, ...]
    points: FloatArray
    size: FloatArray
    runs: int
    studies: tuple[Study, ...]
    reached: bool = True

    def __str__(self) -> str:
        told = (
            f"{len(self.points)} cells of {', '.join(f'{s:.3g}' for s in self.size)} "
            f"({', '.join(self.names)}), {self.runs} runs in {len(self.studies)} rounds"
        )
        return told if self.reached else f"{told}; finer ones would take too many"


def refine(
    model: Any,
    plan: Any,
    output: str | PathLike[str],
    *,
    of: str | None = None,
    level: float | None = None,
    tolerance: float | Mapping[str, float] | None = None,
    most_runs: int | None = None,
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
    plan : one grid of numbers, with evenly spaced axes. Its table ``refine`` has what is not given
        here.
    output : folder for the rounds.
    of : output that is looked at, a single value.
    level : value that it passes, zero by default.
    tolerance : extent of the smallest cells, for all names or by name.
    most_runs : the search ends before it takes more, 100,000 by default.
    scheduler, workers, progress : as for `zwang.study` and `Study.run`.
    """
    coarse = plan_of(plan)
    given = {"of": of, "level": level, "tolerance": tolerance, "most_runs": most_runs}
    wanted: dict[str, Any] = {"level": 0.0, "most_runs": MOST_RUNS, **(coarse.refine or {})}
    wanted |= {key: value for key, value in given.items() if value is not None}
    for key in ("of", "tolerance"):
        if key not in wanted:
            raise InputError(key, expected="given", but="neither the call nor the plan has it")
    grid = _Grid.of(coarse, wanted["tolerance"])
    known = coarse.model if model is None else model
    folder = path_of(output, "output", "the path of a folder")
    rest = {k: v for k, v in coarse.values.items() if k != "grid"}
    compute = _Rounds(known, rest, grid.names, folder, wanted["of"], scheduler, workers, progress)
    return _followed(grid, compute, wanted["level"], wanted["most_runs"])


def _followed(grid: _Grid, compute: _Rounds, level: float, most_runs: int) -> Boundary:
    """Halve the cells that the boundary passes through, round by round."""
    rounds: list[Study] = []
    known: dict[Corner, float] = {}
    width, cells = grid.unit, grid.cells()
    passed, known_width, reached = cells, width, True
    while True:
        new = sorted({c for cell in cells for c in _corners(cell, width)} - known.keys())
        if len(known) + len(new) > most_runs:
            reached = False
            break
        if new:
            done, values = compute(len(rounds), grid.places(np.array(new)))
            rounds.append(done)
            known |= dict(zip(new, values.tolist(), strict=True))
        passed = [cell for cell in cells if _passes(known, cell, width, level)]
        known_width = width
        if width == 1 or not passed:
            break
        width //= 2
        cells = [corner for cell in passed for corner in _corners(cell, width)]
    if not known:
        raise InputError("most_runs", expected=f"at least {len(new)}, those of the first grid")
    middle = np.array(passed, dtype=float).reshape(-1, len(grid.names)) + known_width / 2
    size = grid.step * known_width / grid.unit
    return Boundary(grid.names, grid.places(middle), size, len(known), tuple(rounds), reached)


#: Place of a corner, in whole numbers of the finest cells.
Corner = tuple[int, ...]


@dataclass(frozen=True)
class _Grid:
    """The first grid, and how often its cells may be halved.

    Attributes
    ----------
    first, step, counts : of the axes.
    unit : finest cells along one of the first grid, a power of two.
    """

    names: tuple[str, ...]
    first: FloatArray
    step: FloatArray
    counts: tuple[int, ...]
    unit: int

    @classmethod
    def of(cls, plan: StudyPlan, tolerance: Any) -> _Grid:
        """From the one grid of a plan."""
        block = plan.samples[0]
        if len(plan.samples) > 1 or not isinstance(block, GridSamples):
            raise InputError("plan", must="be one grid", but="has other samples")
        for name, axis in zip(block.names, block.axes, strict=True):
            if axis.dtype.kind != "f" or len(axis) < 2 or not _even(axis):
                raise InputError(
                    f"axis {name!r}",
                    must="have two or more numbers that increase evenly",
                    but=f"has {shown(axis.tolist())}",
                )
        if isinstance(tolerance, Mapping):
            for name in tolerance:
                if name not in block.names:
                    raise UnknownNameError("tolerance of a name that varies", name, block.names)
        wanted = [
            tolerance.get(name, np.nan) if isinstance(tolerance, Mapping) else float(tolerance)
            for name in block.names
        ]
        if not np.all(np.array(wanted) > 0.0):
            raise InputError(
                "tolerance", expected="positive, for each name that varies", found=shown(tolerance)
            )
        step = np.array([(axis[-1] - axis[0]) / (len(axis) - 1) for axis in block.axes])
        depth = int(max(0, np.ceil(np.log2((step / wanted).max() * (1 - 1e-12)))))
        first = np.array([axis[0] for axis in block.axes])
        counts = tuple(len(axis) for axis in block.axes)
        return cls(block.names, first, step, counts, 2 ** min(depth, MOST_ROUNDS))

    def cells(self) -> list[Corner]:
        """The lowest corners of all cells of the first grid."""
        shape = [n - 1 for n in self.counts]
        return [tuple(self.unit * int(k) for k in cell) for cell in np.ndindex(*shape)]

    def places(self, corners: FloatArray) -> FloatArray:
        """Values (n, d) of what varies."""
        return self.first + corners * (self.step / self.unit)


def _even(axis: FloatArray) -> bool:
    steps = np.diff(axis)
    return bool(steps[0] > 0.0 and np.ptp(steps) <= EVEN * np.abs(axis).max() + EVEN * steps[0])


def _corners(cell: Corner, width: int) -> list[Corner]:
    """All corners of a cell, or the lowest ones of its parts."""
    return [
        tuple(c + width * b for c, b in zip(cell, corner, strict=True))
        for corner in np.ndindex(*[2] * len(cell))
    ]


def _passes(known: Mapping[Corner, float], cell: Corner, width: int, level: float) -> bool:
    """Whether the corners of a cell are on both sides; one that failed is a side of its own."""
    values = [known[corner] for corner in _corners(cell, width)]
    return len({"none" if np.isnan(value) else value > level for value in values}) > 1


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
        single = [x.name for x in done.outputs.variables() if not x.dimensions]
        if self.of not in single:
            raise UnknownNameError("output of single values", self.of, single)
        done.run(workers=self.workers, progress=self.progress)
        return done, done.arrays[self.of].values
