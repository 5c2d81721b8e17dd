"""Stores that were begun and never held a run: their process was killed before the header.

A header is the last file of a store that is written before its first rows, so that without one
there is nothing to load and nothing to continue. Such a store is taken over by the next run: under
the lock, so that nobody is writing it, and only if all that is there was put there for a store.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from zwang.results.force_record import QUANTITIES
from zwang.results.lock import LOCK, WriteLock
from zwang.results.stored_arrays import STATES

__all__ = ["HEADER", "clear", "is_abandoned"]

HEADER = "header.json"
#: What a store has beside its record: arrays, names along them, and their description.
_OWN = {"zarr.json", *STATES, *QUANTITIES, "coordinate", "velocity", "row", "joint", "axis"}
#: Beginnings of what holds rows: with one of them it is a run that lost its header.
_OF_ROWS = ("commit-", "state-", "count")


def is_abandoned(path: Path, record: Path) -> bool:
    """Whether a folder is a store without any record of a run, whoever may be writing it."""
    if not record.is_dir() or not {one.name for one in path.iterdir()} <= _OWN:
        return False
    names = {one.name for one in record.iterdir()}
    if names and LOCK not in names:
        return False
    return HEADER not in names and not any(name.startswith(_OF_ROWS) for name in names)


def clear(path: Path, record: Path, lock: WriteLock) -> bool:
    """Remove all of an abandoned store but its lock, which is held; False if it is none, or if
    nobody can tell that no other process writes it.
    """
    if not lock.held or not is_abandoned(path, record):
        return False
    for folder, kept in ((path, record.parent), (record.parent, record), (record, record / LOCK)):
        for one in folder.iterdir():
            if one == kept:
                continue
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one)
            else:
                one.unlink()
    return True
