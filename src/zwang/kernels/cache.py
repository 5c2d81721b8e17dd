"""Compiled code on disk.

A cache may vanish, be read-only, be damaged, or be written by several processes at once; none of
this is an error. What cannot be read back exactly as it was written counts as absent.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["KERNELS", "LOOPS", "clear", "folder", "load", "save", "source_digest"]

_LOG = logging.getLogger("zwang.kernels")
_MAGIC = b"zwang cache 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
# Sections, which are subfolders. Only these are ever deleted: the user may point ZWANG_CACHE_DIR at
# a folder with other things in it.
KERNELS, LOOPS = "kernels", "loops"


def folder() -> Path | None:
    """Folder for compiled code: ``ZWANG_CACHE_DIR``, else ``zwang`` in the user's cache folder.

    It need not exist. None means that this user has no home.
    """
    chosen = os.environ.get("ZWANG_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    try:
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            return (Path(local) if local else Path.home() / "AppData" / "Local") / "zwang" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "zwang"
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "zwang"
    except RuntimeError:  # pathlib's way to say that there is no home
        return None


def clear() -> None:
    """Delete all compiled code of Zwang from the disk; it is rebuilt when needed.

    Code that is loaded in this or another process stays valid.
    """
    base = folder()
    if base is not None:
        for name in (KERNELS, LOOPS):
            shutil.rmtree(base / name, ignore_errors=True)


def load(section: str, key: str) -> bytes | None:
    """What was saved in a section under a key; None if there is nothing, or nothing sound."""
    base = folder()
    if base is None:
        return None
    path = _file(base, section, key)
    try:
        content = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_SIZE
    payload = content[head:]
    if content[:head] != _MAGIC + hashlib.sha256(payload).digest():
        _LOG.info("damaged cache file %s: its contents are compiled again", path)
        return None
    return payload


def save(section: str, key: str, payload: bytes) -> bool:
    """Save in a section under a key; False if there is no place to save to.

    Readers see the old state or the new one, never a part: the file gets its name when it is
    complete. If several processes save the same key, one of the equal files stays.
    """
    base = folder()
    if base is None:
        return False
    path = _file(base, section, key)
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            temporary = Path(file.name)
            file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
        temporary.replace(path)
    except OSError as error:
        _LOG.debug("not cached in %s: %s", path, error)
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        return False
    return True


@cache
def source_digest(root: Path, pattern: str = "*.py") -> str:
    """Hash of all source files below a folder, so that edited code finds no stale cache."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _file(base: Path, section: str, key: str) -> Path:
    return base / section / key[:2] / key
