"""Compiled code on disk, which is run as it is found: so it is looked at before.

A cache may vanish, be read-only, be damaged, or be written by several processes at once; none of
this is an error. What cannot be read back exactly as it was written counts as absent, and so does
what somebody else may have written:

*   folders and files are the user's own and nobody else may write to them, whatever the umask;
    those that are not so are left alone, with a warning;
*   every file carries a digest of its contents and its name, made with a key of the user's own,
    which lies in the cache where only they can read it;
*   whoever loads code says how to tell it from anything else.

The cache is kept below ``ZWANG_CACHE_SIZE`` megabytes: what was not used for longest goes first.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from zwang.errors import InputError

__all__ = [
    "KERNELS",
    "LOOPS",
    "clear",
    "folder",
    "load",
    "make_folder",
    "save",
    "size_limit",
    "source_digest",
]

_LOG = logging.getLogger("zwang.codegen")
_MAGIC = b"zwang cache 2\n"
_DIGEST_SIZE = _KEY_SIZE = 32
# Sections, which are subfolders. Only these and the key are ever deleted: the user may point
# ZWANG_CACHE_DIR at a folder with other things in it.
KERNELS, LOOPS = "kernels", "loops"
_KEY = "zwang-cache.key"

#: Megabytes that the cache may hold; a suite of tests makes some hundred.
SIZE_LIMIT = 1000
#: What is left of a cache that was too large, so that not every file that comes has another go.
_KEPT_SHARE = 0.8
#: The size is looked at when a process first saves something, and whenever it has saved this share
#: of the limit since.
_LOOK_SHARE = 0.05
#: Seconds after which use of a file is noted anew; sooner would be a write for every read.
_USE_NOTED = 3600.0
#: Seconds after which a file that was never finished belongs to a process that died.
_ABANDONED = 3600.0

_told: set[str] = set()  # places that were warned of
_saved_since_look = [float("inf")]  # bytes


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


def make_folder() -> None:
    """Make the folder, if there is a place for it, so that another process may save to it."""
    base = folder()
    if base is not None and size_limit():
        try:
            _make(base)
        except OSError as error:
            _LOG.debug("there is no cache in %s: %s", base, error)


def size_limit() -> float:
    """Bytes that the cache may hold."""
    given = os.environ.get("ZWANG_CACHE_SIZE", "").strip()
    try:
        megabytes = float(given) if given else float(SIZE_LIMIT)
    except ValueError:
        megabytes = -1.0
    if not megabytes >= 0.0:
        raise InputError(
            "environment variable ZWANG_CACHE_SIZE",
            expected="a number of megabytes (0: no cache)",
            found=repr(given),
        )
    return megabytes * 1e6


def clear() -> None:
    """Delete all compiled code of Zwang from the disk; it is rebuilt when needed.

    Code that is loaded in this or another process stays valid.
    """
    base = folder()
    if base is None:
        return
    for name in (KERNELS, LOOPS):
        shutil.rmtree(base / name, ignore_errors=True)
    try:
        (base / _KEY).unlink(missing_ok=True)
    except OSError as error:
        _LOG.debug("the key of the cache stays: %s", error)


def load(section: str, key: str, sound: Callable[[bytes], bool]) -> bytes | None:
    """What was saved in a section under a key; None if there is nothing, or nothing sound.

    Parameters
    ----------
    sound : whether some bytes are what is kept there; asked of what has the right digest as well.
    """
    base = folder()
    if base is None or not size_limit():
        return None
    path = _file(base, section, key)
    if not all(_private(place) for place in (base, path.parent.parent, path.parent)):
        return None
    content, secret = _read(path), _secret(base)
    if content is None or secret is None:
        return None
    head = len(_MAGIC) + _DIGEST_SIZE
    payload = content[head:]
    if content[:head] != _MAGIC + _digest(secret, section, key, payload) or not sound(payload):
        _LOG.info("damaged cache file %s: its contents are compiled again", path)
        return None
    _note_use(path)
    return payload


def save(section: str, key: str, payload: bytes) -> bool:
    """Save in a section under a key; False if there is no place to save to.

    Readers see the old state or the new one, never a part: the file gets its name when it is
    complete. If several processes save the same key, one of the equal files stays.
    """
    base, limit = folder(), size_limit()
    if base is None or not limit:
        return False
    path = _file(base, section, key)
    try:
        for place in (base, path.parent.parent, path.parent):
            _make(place)
            if not _private(place):
                return False
        secret = _secret(base) or _new_secret(base)
        content = _MAGIC + _digest(secret, section, key, payload) + payload
        _write(path, content)
    except OSError as error:
        _LOG.debug("not cached in %s: %s", path, error)
        return False
    _saved_since_look[0] += len(content)
    if _saved_since_look[0] > _LOOK_SHARE * limit:
        _saved_since_look[0] = 0.0
        _evict(base, limit)
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


def _digest(secret: bytes, section: str, key: str, payload: bytes) -> bytes:
    """Keyed digest of a file's contents and of the name it is asked for by."""
    name = f"{section} {key}\n".encode()
    return hashlib.blake2b(name + payload, key=secret, digest_size=_DIGEST_SIZE).digest()


# --- the user's own -------------------------------------------------------------------------------


def _own(place: os.stat_result) -> str:
    """What is wrong with who may write to a place; nothing if the user alone may."""
    if not hasattr(os, "geteuid"):  # Windows: what is in the user's folders is theirs
        return ""
    if place.st_uid != os.geteuid():
        return f"it belongs to another user (number {place.st_uid})"
    if place.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (mode {stat.S_IMODE(place.st_mode):o})"
    return ""


def _private(place: Path) -> bool:
    """Whether a folder is there and the user alone may write to it."""
    try:
        found = place.stat()
    except OSError:
        return False
    wrong = _own(found)
    if wrong:
        _tell(place, wrong)
    return not wrong and stat.S_ISDIR(found.st_mode)


def _tell(place: Path, wrong: str) -> None:
    """Say of each place once why it is not used."""
    if str(place) not in _told:
        _told.add(str(place))
        _LOG.warning(
            "compiled code in %s is not used: %s; remove it, or give it to the user alone "
            "(chmod go-w), or set ZWANG_CACHE_DIR to another folder",
            place,
            wrong,
        )


def _make(place: Path) -> None:
    """Make a folder for the user alone, and those it is in; whatever the umask."""
    if place.is_dir():
        return
    if not place.parent.is_dir():
        _make(place.parent)
    try:
        place.mkdir(mode=0o700)
    except FileExistsError:  # by another process
        return
    place.chmod(0o700)


def _read(path: Path) -> bytes | None:
    """The contents of a file of the user's own."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # noqa: PTH123 - flags
            found = os.fstat(file.fileno())
            wrong = _own(found)
            if wrong:
                _tell(path, wrong)
            return None if wrong or not stat.S_ISREG(found.st_mode) else file.read()
    except OSError:
        return None


def _write(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Write a file for the user alone, in full or not at all; it may have to be the first there."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        part = Path(file.name)
        try:
            part.chmod(0o600)  # as it was made, unless the umask is very strict
            file.write(content)
            file.close()
            if replace or sys.platform == "win32":  # where a rename never replaces a file
                part.replace(path) if replace else part.rename(path)
            else:
                path.hardlink_to(part)
        finally:
            part.unlink(missing_ok=True)


def _secret(base: Path) -> bytes | None:
    """The user's key, if there is one."""
    found = _read(base / _KEY)
    return found if found is not None and len(found) == _KEY_SIZE else None


def _new_secret(base: Path) -> bytes:
    """A key for the user; the first one stays if several processes make one."""
    path, secret = base / _KEY, os.urandom(_KEY_SIZE)
    if path.exists():  # and is no key, or not the user's
        _write(path, secret)
        return secret
    try:
        _write(path, secret, replace=False)
    except FileExistsError:
        return _secret(base) or secret
    except OSError:  # a disk that knows no links
        _write(path, secret)
    return secret


# --- the size -------------------------------------------------------------------------------------


def _note_use(path: Path) -> None:
    """Remember that a file was used, for it to stay."""
    try:
        if time.time() - path.stat().st_mtime > _USE_NOTED:
            os.utime(path)
    except OSError as error:
        _LOG.debug("use of %s is not noted: %s", path, error)


def _evict(base: Path, limit: float) -> None:
    """Delete what was not used for longest until the cache is well below its limit."""
    found: list[tuple[float, int, str]] = []
    total, now = 0, time.time()
    for section in (KERNELS, LOOPS):
        for place, _, names in os.walk(base / section):
            for name in names:
                path = os.path.join(place, name)  # noqa: PTH118 - there are thousands
                try:
                    facts = os.lstat(path)
                except OSError:  # another process deletes too
                    continue
                dead = name.endswith(".part") and now - facts.st_mtime > _ABANDONED
                found.append((0.0 if dead else facts.st_mtime, facts.st_size, path))
                total += facts.st_size
    aim = _KEPT_SHARE * limit if total > limit else total
    for used, size, path in sorted(found):
        if used and total <= aim:
            break
        try:
            os.unlink(path)  # noqa: PTH108 - as above
        except OSError as error:
            _LOG.debug("%s stays in the cache: %s", path, error)
        total -= size
