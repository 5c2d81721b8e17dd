"""Studies of one model, one after the other, as one dataset; nothing is computed again."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from zwang.errors import InputError, StoreError
from zwang.studies.study import Study, study

__all__ = ["concatenate"]

#: Keys of a plan in which studies may differ.
_ROWS = (
    "grid", "list", "table", "random", "sobol", "latin_hypercube", "samples", "seed",
    "correlation", "shard", "description",
)  # fmt: skip


def concatenate(studies: Sequence[Study], output: str | PathLike[str]) -> Study:
    """One study with the runs of several, in their order.

    Parameters
    ----------
    studies : complete ones of the same model, with the same names that vary, the same outputs and
        all else alike but the rows.
    output : folder of the new dataset.
    """
    if len(studies) < 2:
        raise InputError(
            "studies", must="be two or more", but="there is one" if studies else "there is none"
        )
    first = studies[0]
    rest = _rest(first)
    for k, other in enumerate(studies):
        if not other.complete:
            raise StoreError(f"study '{other.path}'", must="be complete", but="lacks some runs")
        if set(other.plan.names) != set(first.plan.names) or _rest(other) != rest:
            raise InputError(
                f"study {k}",
                must="differ from the first in its rows alone",
                but="has other names, outputs, times or settings",
            )
        if other.subject.digest != first.subject.digest:
            raise InputError(f"study {k}", must="be of the same model as the first", but="is not")
    rows = [s.plan.rows(0, s.plan.count) for s in studies]
    columns = {name: np.concatenate([r[name] for r in rows]) for name in first.plan.names}
    whole = study(first.subject, {"list": columns, **rest}, output=output)
    store = whole.store()
    data = [s.dataset for s in studies]
    offsets = np.cumsum([0, *(s.plan.count for s in studies)])
    for task in store.missing():
        a, b = store.span(task)
        values: dict[str, Any] = {"run": np.arange(a, b)}
        for layout in store.layouts:
            if not layout.by_run or layout.name == "run":
                continue
            pieces = [
                d[layout.name][max(a - lo, 0) : max(b - lo, 0)].values
                for d, lo, hi in zip(data, offsets, offsets[1:], strict=False)
                if lo < b and hi > a
            ]
            joined = np.concatenate(pieces)
            values[layout.name] = joined.tolist() if layout.kind == "str" else joined
        store.write(task, values)
    return whole


def _rest(of: Study) -> dict[str, Any]:
    """The plan without its rows."""
    return {key: value for key, value in of.plan.values.items() if key not in _ROWS}
