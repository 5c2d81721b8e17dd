"""Motions in CSV files: columns in SI units, or in the units that are behind their names."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from zwang.analysis.columns import read_csv, read_motion
from zwang.arguments.values import angle_notes
from zwang.errors import InputError
from zwang.model_files.arithmetic import ExpressionError
from zwang.model_files.units import quantity
from zwang.results.channel_catalog import unit_of_state
from zwang.terms import FloatArray

__all__ = ["motion_of_table"]


def motion_of_table(
    path: str | PathLike[str],
) -> tuple[tuple[FloatArray, dict[str, FloatArray]], list[str]]:
    """Times and quantities of a file in SI units, and notes on angles that are in degrees perhaps.

    Raises
    ------
    InputError : it is no such file, or has a unit that is not known or of another kind.
    """
    motion = read_motion(path, _in_si)
    given = [title for title in read_csv(path) if "[" not in title]
    largest = {
        name: float(values[np.nanargmax(np.abs(values))])
        for name, values in motion[1].items()
        if name in given and np.isfinite(values).any()
    }
    notes = [
        f"{Path(path).name}: {name} is taken in radians, as no unit is behind it, and reaches "
        f"{value:g}, which is {np.rad2deg(value):.0f}°; write {name} [deg] for degrees"
        for name, value in largest.items()
        if angle_notes({name: value})
    ]
    return motion, notes


def _in_si(name: str, unit: str) -> float:
    """What numbers of a column are multiplied by."""
    of_joint = name.rpartition(".")[2].startswith(("angle", "displacement"))
    own = "s" if name == "t" else (unit_of_state(name) if of_joint else None)
    try:
        return quantity(f"1 {unit.replace(' ', '*')}", own)
    except ExpressionError as error:
        raise InputError(
            f"unit of {name}", found=repr(unit), expected=f"one of {own}" if own else "a known unit"
        ) from error
