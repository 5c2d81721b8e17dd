"""Paths of files and folders that users give, checked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from zwang.errors import InputError, shown

__all__ = ["is_folder", "path_of"]


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


def is_folder(path: Path) -> bool:
    """Whether a folder is there to be seen; no error where its place may not be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False
