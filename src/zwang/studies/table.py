"""A study as a table: a line for each run, or for each run and time, and statistics of outputs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError, MissingExtraError, StoreError, UnknownNameError
from zwang.studies.compute import FINISHED, STATUS

if TYPE_CHECKING:
    from zwang.studies.study import Study

__all__ = ["statistics_of", "study_columns", "study_to_csv", "study_to_pandas"]

#: Digits of what varies in a file, where further ones are rounding of its steps: where the number
#: is by so many digits shorter without them.
DIGITS, MUCH_SHORTER = 15, 4


def study_columns(
    study: Study, names: Sequence[str] | str | None = None, *, units: bool = False
) -> dict[str, np.ndarray]:
    """Columns of the table by their titles, "run" first; of outputs over time all times."""
    data, chosen = study.arrays, _chosen(study, names)
    count = study.plan.count
    over = [name for name in chosen if data[name].ndim > 1]
    own = study.outputs.time_name
    times = data[own].values if over else np.zeros(1)
    varied = list(study.plan.names)
    found: dict[str, np.ndarray] = {"run": np.repeat(np.arange(count), len(times))}
    for name in varied:
        found[name] = np.repeat(data[name].values, len(times))
    if over:
        found[own] = np.tile(times, count)
    for name in chosen:
        values = data[name].values
        found[name] = values.ravel() if name in over else np.repeat(values, len(times))
    status = np.array([STATUS[int(k)] for k in data["status"].values], dtype=object)
    found["status"] = np.repeat(status, len(times))
    found["reason"] = np.repeat(data["reason"].values, len(times))
    if not units:
        return found
    own_units = {*varied, *chosen, own} & found.keys()
    return {_with_unit(data, n) if n in own_units else n: x for n, x in found.items()}


def study_to_pandas(study: Study, names: Sequence[str] | str | None, *, units: bool) -> Any:
    """See `Study.to_pandas`."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("study.to_pandas", "pandas", "data") from None
    return pd.DataFrame(study_columns(study, names, units=units)).set_index("run")


def study_to_csv(
    study: Study, path: str | PathLike[str], names: Sequence[str] | str | None, *, units: bool
) -> Path:
    """See `Study.to_csv`."""
    where = path_of(path, "table")
    found = study_columns(study, names, units=units)
    columns = []
    for k, column in enumerate(found.values()):
        values = column.tolist()
        if column.dtype.kind == "f":
            if 1 <= k <= len(study.plan.names):  # 0.8 + 2 · 0.2 is 1.2
                values = [_without_rounding(value) for value in values]
            values = ["" if np.isnan(value) else value for value in values]
        columns.append(values)
    try:
        with where.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(found)
            table.writerows(zip(*columns, strict=True))
    except OSError as error:
        raise StoreError(
            f"file '{where}'", but=f"cannot be written: {error.strerror or error}"
        ) from error
    return where


def _without_rounding(value: float) -> float:
    """A number whose last digits are rounding of others as the one that was meant."""
    short = float(f"{value:.{DIGITS}g}")
    return short if len(repr(short)) + MUCH_SHORTER <= len(repr(value)) else value


def statistics_of(study: Study, names: Sequence[str] | str | None) -> dict[str, dict[str, Any]]:
    """See `Study.statistics`."""
    data = study.arrays
    finished = data["status"].values == FINISHED
    result: dict[str, dict[str, Any]] = {}
    for name in _chosen(study, names):
        values = np.asarray(data[name].values, dtype=float)
        values = values if values.ndim == 1 else values[:, -1]
        runs = np.flatnonzero(finished & np.isfinite(values))
        facts: dict[str, Any] = {"unit": data[name].attrs.get("units", ""), "runs": len(runs)}
        facts["determinate"] = bool(data[name].attrs.get("determinate", 1))
        if len(runs):
            good = values[runs]
            low, high = int(np.argmin(good)), int(np.argmax(good))
            facts |= {
                "least": float(good[low]),
                "mean": float(good.mean()),
                "greatest": float(good[high]),
                "deviation": float(good.std()),
                "run_of_least": int(runs[low]),
                "run_of_greatest": int(runs[high]),
            }
        result[name] = facts
    return result


def _chosen(study: Study, names: Sequence[str] | str | None) -> list[str]:
    """Names of outputs, all of them if none is given."""
    known = [x.name for x in study.outputs.variables()]
    chosen = [names] if isinstance(names, str) else list(names or known)
    for name in chosen:
        if name not in known:
            raise UnknownNameError("output", name, known)
    if not chosen:
        raise InputError("study", must="keep an output", but="keeps none")
    return list(dict.fromkeys(chosen))


def _with_unit(data: Any, name: str) -> str:
    unit = data[name].attrs.get("units", "")
    titled = f"{name} [{unit}]" if unit else name
    return titled if data[name].attrs.get("determinate", 1) else f"{titled} (indeterminate)"
