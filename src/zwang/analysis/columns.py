"""CSV files of kinematics and inverse dynamics: quantities as columns, names in the first line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from os import PathLike

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError
from zwang.terms import FloatArray

__all__ = ["expanded", "read_csv", "read_motion", "write_csv"]

#: What names of a table of a run have behind them where the motion does not determine them.
INDETERMINATE = " (indeterminate)"


def expanded(of: Callable[[str], FloatArray], names: Iterable[str]) -> dict[str, FloatArray]:
    """Name → column; a vector has one for each of x, y, z."""
    columns: dict[str, FloatArray] = {}
    for name in names:
        values = of(name)
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}.{part}": values[:, k] for k, part in enumerate("xyz")}
    return columns


def write_csv(path: str | PathLike[str], columns: Mapping[str, FloatArray]) -> None:
    """Columns of equal length to a file, with all digits."""
    with path_of(path, "CSV file").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(np.column_stack(list(columns.values())).tolist())


def read_csv(path: str | PathLike[str]) -> dict[str, FloatArray]:
    """Columns of a file by the names in its first line.

    Raises
    ------
    InputError : there is no such file, or something in it is no number; the line is told.
    """
    where = path_of(path, "CSV file")
    if not where.is_file():
        raise InputError(f"CSV file '{where}'", must="be a file to read", but="there is none")
    with where.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        raise InputError(
            f"CSV file '{where}'",
            must="have a line of names, then lines of numbers",
            but="has no lines of numbers",
        )
    names = [cell.strip() for cell in lines[0]]
    rows: list[list[float]] = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            rows.append([float(cell) for cell in line])
        except ValueError:
            rows.append([])
        if len(rows[-1]) != len(names):
            raise InputError(
                f"CSV file '{where}', line {number}",
                found=repr(",".join(line)),
                expected=f"{len(names)} numbers, one for each name of the first line",
            )
    return dict(zip(names, np.array(rows).T, strict=True))


def read_motion(
    path: str | PathLike[str], in_si: Callable[[str, str], float]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Times and samples of quantities of a file, whose first column is ``t``.

    Names may have units behind them, as ``t [s],pin.angle [deg]`` that tables of runs have.

    Parameters
    ----------
    in_si : name and unit of a column → what its numbers are multiplied by.
    """
    columns: dict[str, FloatArray] = {}
    found = read_csv(path)
    for title, values in found.items():
        name, bracket, unit = title.removesuffix(INDETERMINATE).partition("[")
        unit = unit.strip().removesuffix("]").strip()
        name = name.strip() if bracket else title
        try:
            columns[name] = values * in_si(name, unit) if unit else values
        except InputError as error:
            raise error.about(f"CSV file '{path}', line 1") from None
    if next(iter(columns)) != "t" or len(columns) < 2:
        raise InputError(
            f"CSV file '{path}', line 1",
            found=", ".join(found),
            expected="t, and then names of quantities such as pin.angle or pin.angle [deg]",
        )
    return columns.pop("t"), columns
