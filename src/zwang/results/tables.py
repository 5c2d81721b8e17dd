"""A run as tables: CSV, pandas, xarray, MATLAB files."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import MissingExtraError, StoreError
from zwang.results.channel_catalog import PARTS
from zwang.results.channels import Channel
from zwang.results.determined import ONE_OF_MANY, determined
from zwang.results.resample import every_seconds
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["Table", "table_of", "to_csv", "to_mat", "to_pandas", "to_xarray"]

#: Units that degrees replace.
DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s²": "deg/s²"}


class Table:
    """Columns of one run at common times.

    Attributes
    ----------
    t : times (nt,).
    columns : name → values (nt,); vectors are one column a component.
    units, descriptions : of the columns.
    indeterminate : columns that the motion does not determine.
    """

    def __init__(self, t: FloatArray) -> None:
        self.t = t
        self.columns: dict[str, FloatArray] = {}
        self.units: dict[str, str] = {}
        self.descriptions: dict[str, str] = {}
        self.indeterminate: set[str] = set()

    def add(
        self, channel: Channel, names: Sequence[str], values: FloatArray, *, degrees: bool
    ) -> None:
        """Add the columns of a channel."""
        turned = degrees and channel.unit in DEGREES
        unit = DEGREES[channel.unit] if turned else channel.unit
        columns = values.reshape(len(self.t), -1)
        for k, name in enumerate(names):
            self.columns[name] = np.rad2deg(columns[:, k]) if turned else columns[:, k]
            self.units[name], self.descriptions[name] = unit, channel.description

    def add_parameter(self, name: str, values: FloatArray) -> None:
        """Add the values that a parameter has, one column an entry as ``gain[0]``."""
        entries = list(np.ndindex(*values.shape[1:]))
        for entry in entries:
            column = f"{name}[{','.join(map(str, entry))}]" if entry else name
            self.columns[column] = values[:, *entry]
            self.units[column] = ""
            self.descriptions[column] = f"parameter {column}, as held until then"


def table_of(
    run: Run,
    channels: Sequence[str] | str | None = None,
    every: float | None = None,
    *,
    degrees: bool = False,
) -> Table:
    """Channels of a run at common times.

    Parameters
    ----------
    channels : names as in ``run[name]``, those of parameters among them; all of `Run.channels` by
        default, which has the parameters that changed.
    every : seconds between the times; the saved times by default.
    degrees : whether angles and their rates are in degrees.
    """
    if isinstance(channels, str):
        channels = [channels]
    run = every_seconds(run, every)
    table, known = Table(np.asarray(run.t)), run.channels
    for name in list(known) if channels is None else channels:
        values = run[name] if isinstance(name, str) else run[str(name)]
        owner, _, part = name.rpartition(".")
        of_channel = name in known or (part in PARTS and owner in known)
        if not of_channel or (name in known and known[name].parameter):
            table.add_parameter(name, values)
            continue
        channel = known[name] if name in known else known[owner]
        of_part = name not in known and part in PARTS
        names = (name,) if of_part else channel.columns
        table.add(channel, names, values, degrees=degrees)
        if channel.joint or channel.output:
            table.indeterminate |= {n for n in names if not determined(run, n)}
    return table


def to_csv(
    run: Run,
    path: str | PathLike[str],
    channels: Sequence[str] | str | None,
    every: float | None,
    *,
    units: bool,
    degrees: bool,
) -> Path:
    """Write a table as comma-separated values, names in the first line, t in the first column."""
    target = path_of(path, "CSV file")
    table = table_of(run, channels, every, degrees=degrees)

    def title(name: str, unit: str) -> str:
        open_ = " (indeterminate)" if units and name in table.indeterminate else ""
        return f"{name} [{unit}]{open_}" if units and unit else f"{name}{open_}"

    head = [title("t", "s"), *(title(n, table.units[n]) for n in table.columns)]
    rows = np.column_stack([table.t, *table.columns.values()])
    with _writing(target) as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows.tolist())
    return target


def _writing(target: Path) -> Any:
    try:
        return target.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise StoreError(
            f"file '{target}'",
            found=f"that it cannot be written ({error.strerror})",
            expected="a file in a folder that exists and may be written to",
        ) from None


def to_pandas(
    run: Run, channels: Sequence[str] | str | None, every: float | None, *, degrees: bool
) -> Any:
    """A ``pandas.DataFrame`` with t as its index; units are in ``frame.attrs["units"]``.

    Columns that the motion does not determine are in ``frame.attrs["indeterminate"]``.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("run.to_pandas", "pandas", "data") from error
    table = table_of(run, channels, every, degrees=degrees)
    frame = pd.DataFrame(table.columns, index=pd.Index(table.t, name="t"))
    frame.attrs["units"] = dict(table.units)
    frame.attrs["indeterminate"] = sorted(table.indeterminate)
    return frame


def to_mat(
    run: Run,
    path: str | PathLike[str],
    channels: Sequence[str] | str | None,
    every: float | None,
    *,
    degrees: bool,
) -> Path:
    """Write a MATLAB file: ``t``, and for each column a variable with ``_`` in place of dots.

    Variables that the motion does not determine are listed in ``indeterminate``.
    """
    from scipy.io import savemat

    target = path_of(path, "MATLAB file")
    table = table_of(run, channels, every, degrees=degrees)
    variables: dict[str, Any] = {"t": table.t[:, None]}
    names = np.empty((len(table.columns), 3), dtype=object)
    for k, (name, values) in enumerate(table.columns.items()):
        variable = _variable(name, variables)
        variables[variable] = values[:, None]
        names[k] = [variable, name, table.units[name]]
    variables["channels"] = names
    open_ = [row[0] for row in names.tolist() if row[1] in table.indeterminate]
    variables["indeterminate"] = np.array(open_, dtype=object).reshape(-1, 1)
    try:
        savemat(target, variables, long_field_names=True, do_compression=True)
    except OSError as error:
        raise StoreError(
            f"file '{target}'",
            found=f"that it cannot be written ({error.strerror})",
            expected="a file in a folder that exists and may be written to",
        ) from None
    return target


#: Longest name of a variable that MATLAB reads.
LONGEST_NAME = 63


def _variable(name: str, taken: dict[str, Any]) -> str:
    """A name that MATLAB reads, and no other column has."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = (plain if plain[:1].isalpha() else f"x{plain}")[:LONGEST_NAME]
    result, number = plain, 2
    while result in taken or result in ("channels", "indeterminate"):
        ending = f"_{number}"
        result, number = plain[: LONGEST_NAME - len(ending)] + ending, number + 1
    return result


def to_xarray(
    run: Run, channels: Sequence[str] | str | None, every: float | None, *, degrees: bool
) -> Any:
    """An ``xarray.Dataset`` with one variable a column, its unit and description as attributes."""
    try:
        import xarray as xr
    except ImportError as error:
        raise MissingExtraError("run.to_xarray", "xarray", "data") from error
    table = table_of(run, channels, every, degrees=degrees)
    variables = {
        name: ("time", values, _labels(table.units[name], table.descriptions[name]))
        for name, values in table.columns.items()
    }
    for name in table.indeterminate:
        variables[name][2].update(determinate=0, comment=ONE_OF_MANY)
    tables = {
        "settings": run.settings.to_dict(),
        "parameters": run.parameters,
        "counts": asdict(run.counts),
    }
    attributes = {"status": run.status, "notes": "\n".join(run.notes)}
    for prefix, entries in tables.items():
        attributes |= {f"{prefix}.{name}": _plain(value) for name, value in entries.items()}
    time = ("time", table.t, {"units": "s"})
    return xr.Dataset(variables, coords={"time": time}, attrs=attributes)


def _labels(unit: str, description: str) -> dict[str, Any]:
    return {"units": unit, "long_name": description} if unit else {"long_name": description}


def _plain(value: Any) -> Any:
    """What both Zarr and netCDF keep as an attribute: a finite number, a list of them, or text."""
    if isinstance(value, str):
        return value
    array = np.asarray(value, dtype=float)
    if array.ndim > 1 or not all(map(math.isfinite, array.ravel())):
        return str(array.tolist())
    return array.tolist()
