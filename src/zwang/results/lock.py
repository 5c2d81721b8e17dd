"""File lock of a stored run: one process at a time writes it.

The lock is the system's, on a file in the record: it ends with the process that holds it, however
that ends, so that nothing is left to be cleared away after a crash. It is held by an open file and
not by a process, so that two threads of one process exclude each other as well.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import platform
from pathlib import Path
from types import TracebackType
from typing import Self

from zwang.errors import StoreError

__all__ = ["LOCK", "WriteLock"]

#: Name of the file.
LOCK = "lock"
_LOG = logging.getLogger("zwang.results")
#: Where Windows is to lock a byte: beyond what is in the file, which then can be read.
_BEYOND = 1 << 30
#: Errors of systems that do not know locks, as on some network drives.
_UNKNOWN = {errno.ENOLCK, errno.ENOSYS, errno.EINVAL, getattr(errno, "ENOTSUP", errno.EINVAL)}
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}


class WriteLock:
    """The right to write a store, until it is released or the process ends.

    Parameters
    ----------
    path : of the store.
    record : folder in it where the lock is; where there is none, or it is read-only, nothing can be
        written and nothing is locked.
    advice : what to do when whoever writes it has ended.

    Raises
    ------
    StoreError
        Somebody else is writing it.
    """

    def __init__(
        self, path: Path, record: Path, advice: str = "Then continue with zw.resume."
    ) -> None:
        self._file: int | None = None
        try:
            file = os.open(record / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            if error.errno in _READ_ONLY:
                return
            raise StoreError(
                f"store {str(path)!r}", but=f"cannot be locked: {error.strerror}"
            ) from error
        try:
            _lock(file)
        except OSError as error:
            holder = _holder(file)
            os.close(file)
            if error.errno in _UNKNOWN:
                _LOG.warning("%s: no locks there (%s); see that one process writes it", path, error)
                return
            raise StoreError(
                f"store {str(path)!r}",
                must="have one writer at a time",
                but=f"{holder} is writing it",
                advice=f"Wait until it has ended, or stop it. {advice}",
            ) from error
        self._file = file
        with contextlib.suppress(OSError):  # it only records who
            os.ftruncate(file, 0)
            os.write(file, f"process {os.getpid()} on {platform.node()}".encode())

    @property
    def held(self) -> bool:
        """Whether it is; not where nothing can be locked."""
        return self._file is not None

    def release(self) -> None:
        """Let others write it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _lock(file: int) -> None:
    """Lock an open file, or raise OSError at once."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        os.lseek(file, _BEYOND, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue] - on Windows alone
        os.lseek(file, 0, os.SEEK_SET)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(file: int) -> str:
    """Who holds the lock, as far as the file records it."""
    try:
        os.lseek(file, 0, os.SEEK_SET)
        text = os.read(file, 200).decode(errors="replace").strip()
    except OSError:
        text = ""
    return text or "another process"
