"""A study as a table: a line for each run, or for each run and time, and statistics of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError, StoreError, UnknownNameError
from zwang.studies.compute import FINISHED, STATUS

if TYPE_CHECKING:
    from zwang.studies.study import Study

__all__ = ["statistics_of", "study_to_csv", "study_to_pandas"]

#: Digits of what varies in a file, where further ones are rounding of its steps: where the number
#: is by so many digits shorter without them.
DIGITS, MUCH_SHORTER = 15, 4


def study_to_pandas(study: Study, names: Sequence[str] | str | None, *, units: bool) -> Any:
    """See `Study.to_pandas`."""
    data = study.dataset
    chosen = _chosen(study, names)
    found = data[chosen].to_dataframe().reset_index()
    found["status"] = [STATUS[int(k)] for k in found["status"]]
    times = [n for n in (study.outputs.time_name,) if n in found.columns]
    varied = list(study.plan.names)
    found = found[["run", *varied, *times, *chosen, "status", "reason"]].set_index("run")
    if not units:
        return found
    return found.rename(columns={n: _with_unit(data, n) for n in (*varied, *times, *chosen)})


def study_to_csv(
    study: Study, path: str | PathLike[str], names: Sequence[str] | str | None, *, units: bool
) -> Path:
    """See `Study.to_csv`."""
    where = path_of(path, "table")
    found = study_to_pandas(study, names, units=units)
    for column in found.columns[: len(study.plan.names)]:
        if found[column].dtype == float:  # 0.8 + 2 · 0.2 is 1.2
            found[column] = [_without_rounding(value) for value in found[column]]
    try:
        found.to_csv(where, lineterminator="\n")
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
    data = study.dataset
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
