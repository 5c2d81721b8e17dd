"""Rows of a study whose constants differ, where more follows from these than numbers of parts.

Laws, outputs and events are made with the constants that a file was read with, and so are
dimensions that depend on its parameters. With other constants the file is read once for each of
them, and its rows run with the mechanism that it has then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.errors import ZwangError
from zwang.studies.compute import REFUSED, TaskResult
from zwang.studies.subject import Subject

__all__ = ["simulated"]


def simulated(outputs: Any, rows: Mapping[str, np.ndarray]) -> TaskResult:
    """Run all rows and keep what is asked for, as ``outputs.simulate``."""
    subject: Subject = outputs.subject
    names = subject.constants_read_anew(rows)
    if not names:
        return outputs.simulate(rows)
    count = len(next(iter(rows.values())))
    result = TaskResult(
        {x.name: np.full((count, *x.dimensions.values()), np.nan) for x in outputs.variables()},
        np.full(count, REFUSED, dtype=np.uint8),
        [""] * count,
        np.zeros((count, 3), dtype=np.int64),
    )
    groups: dict[tuple[float, ...], list[int]] = {}
    for i in range(count):
        groups.setdefault(tuple(float(rows[name][i]) for name in names), []).append(i)
    for key, members in groups.items():
        here = np.array(members)
        try:
            own = type(outputs)(
                subject.with_constants(dict(zip(names, key, strict=True))), outputs.plan
            )
            found = own.simulate({name: column[here] for name, column in rows.items()})
        except ZwangError as error:
            for i in members:
                result.reason[i] = str(error)
            continue
        for name, values in found.values.items():
            result.values[name][here] = values
        result.status[here], result.work[here] = found.status, found.work
        for i, reason in zip(members, found.reason, strict=True):
            result.reason[i] = reason
    return result
