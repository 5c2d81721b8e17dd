"""Paths as users give them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from zwang.errors import InputError, shown

__all__ = ["path_of"]


def path_of(given: Any, what: str, expected: str = "the path of a file") -> Path:
    """A path, ``~`` being the folder of the user; what no system takes for one is refused."""
    try:
        path = Path(given).expanduser()
        encoded = os.fsencode(path)
    except (TypeError, ValueError, RuntimeError):
        encoded, path = b"\0", Path()
    if b"\0" in encoded:
        raise InputError(what, found=shown(given), expected=expected)
    return path
