"""Names of entries of parameters that are arrays, ``gain[0]`` or ``gain[1,2]``, as in tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["entry_of_parameter"]

_ENTRY = re.compile(r"(.+)\[(\d+(?:, ?\d+)*)\]")


def entry_of_parameter(
    parameters: Mapping[str, Any], name: str
) -> tuple[str, tuple[int, ...]] | None:
    """The parameter that an entry is of, and where it is; None of any other name.

    >>> entry_of_parameter({"gain": [1.0, 2.0]}, "gain[1]")
    ('gain', (1,))
    """
    match = _ENTRY.fullmatch(name)
    if match is None or match[1] not in parameters:
        return None
    place, shape = tuple(int(k) for k in match[2].split(",")), np.shape(parameters[match[1]])
    if len(place) != len(shape) or any(k >= n for k, n in zip(place, shape, strict=True)):
        return None
    return match[1], place
