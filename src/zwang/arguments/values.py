"""Numbers, vectors, names and paths that users give, checked, or refused with a sentence."""

from __future__ import annotations

import keyword
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import InputError, shown
from zwang.terms import FloatArray

__all__ = [
    "angle_notes",
    "by_name",
    "check_name",
    "checked_names",
    "is_folder",
    "number",
    "path_of",
    "positive",
    "vector",
]

FULL_TURN = 2.0 * np.pi
#: How near to a whole multiple of π an angle is meant as one: four digits behind the point.
MULTIPLE = 1e-4


def number(what: str, value: Any) -> float:
    """One finite number."""
    try:
        given = float(value)
    except (TypeError, ValueError):
        raise InputError(what, found=shown(value), expected="a number") from None
    if not isfinite(given):
        raise InputError(what, found=shown(value), expected="a finite number")
    return given


def positive(what: str, value: Any) -> float:
    """One positive number."""
    given = number(what, value)
    if not given > 0.0:
        raise InputError(what, found=f"{given:g}", expected="a positive number")
    return given


def vector(what: str, value: Any, *, planar: bool = False) -> FloatArray:
    """Three finite numbers.

    Parameters
    ----------
    planar : whether two may be given, of which the caller has made three: for the message.
    """
    try:
        result = np.array(value, dtype=float)
    except (TypeError, ValueError):
        expected = "two numbers in the plane, or three" if planar else "three numbers"
        raise InputError(what, found=shown(value), expected=expected) from None
    if result.shape != (3,) or not all(map(isfinite, result.tolist())):
        expected = "two finite numbers in the plane, or three" if planar else "three finite numbers"
        raise InputError(what, found=shown(value), expected=expected)
    return result


def checked_names(what: str, names: Sequence[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Names as a tuple, refused unless they are distinct and words, or `known` already."""
    if isinstance(names, str):
        raise InputError(
            what, found=repr(names), expected="a list of names", advice=f"Write [{names!r}]."
        )
    if isinstance(names, AbstractSet) or not isinstance(names, Iterable):
        raise InputError(
            what,
            found=shown(names),
            expected="a list of names",
            advice="A set has no order." if isinstance(names, AbstractSet) else "Write ['x', 'y'].",
        )
    result = tuple(names)
    if not result:
        raise InputError(what, must="have at least one name", but="has none")
    for name in result:
        if name not in known:  # those of a mechanism have a point
            check_name(what, name)
    if len(set(result)) != len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise InputError(what, must="be distinct", but=f"{twice!r} occurs twice")
    return result


def check_name(kind: str, name: Any) -> None:
    """Refuse a name that is no word."""
    if isinstance(name, str) and name[:1].isdigit() and f"_{name}".isidentifier():
        raise InputError(
            f"name of {kind}", must="begin with a letter", but=f"{name!r} begins with a digit"
        )
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(
            f"name of {kind}",
            expected="letters, digits and _, and no Python keyword",
            found=shown(name),
        )


def by_name(what: str, given: Any, of: str, example: str) -> Mapping[str, Any]:
    """Things by name, none of None; anything but a dictionary is refused.

    Parameters
    ----------
    of : what belongs to a name, for the message.
    example : the argument as it is written.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            what,
            found=shown(given),
            expected=f"a dictionary of names and {of}",
            advice=f"Write {example}.",
        )
    return given


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


def angle_notes(given: Mapping[str, Any]) -> list[str]:
    """What is said of angles by the names of joint coordinates that are in degrees perhaps.

    These are angles beyond a full turn, and whole numbers beyond half a turn, such as 5 or 90,
    which radians hardly are. Values that are no plain numbers are left out, and whole multiples
    of π, such as 12.5664, which are wanted.
    """
    notes = []
    for name, value in given.items():
        part = str(name).rpartition(".")[2]
        angle = part.startswith("angle") and not part.endswith("_rate")
        plain = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (angle and plain and np.isfinite(value)):
            continue
        whole = float(value).is_integer()
        if not whole and abs(value - np.pi * np.round(value / np.pi)) < MULTIPLE:
            continue
        if abs(value) > (0.5 * FULL_TURN if whole else FULL_TURN):
            notes.append(
                f"{name} = {value:g} is in radians, {np.rad2deg(value):.0f}°: {value:g}° are "
                f"np.deg2rad({value:g})"
            )
    return notes
