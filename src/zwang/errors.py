"""Errors that name the thing, what was found, what was expected and what to do.

Every error the library raises on purpose is a `ZwangError`. The message is one sentence a user
can act on; the attributes carry the same facts for programs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, Self

__all__ = [
    "AssemblyError",
    "DamageError",
    "InconsistentConstraintsError",
    "InputError",
    "MissingExtraError",
    "ModelError",
    "NoEquilibriumError",
    "NotApplicableError",
    "NotUniqueError",
    "PainleveError",
    "StoreError",
    "TooManyStepsError",
    "TraceError",
    "UnknownNameError",
    "UnreachableError",
    "ZwangError",
    "shown",
]


def shown(value: object) -> str:
    """A value as a message shows it: on one line, and short."""
    shape = getattr(value, "shape", None)
    if shape and getattr(value, "size", 0) > 6:
        return f"an array of shape {tuple(shape)}"
    text = str(value) if shape == () else " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:76]} …"


class ZwangError(Exception):
    """Base of all errors raised by Zwang.

    Parameters
    ----------
    what : the named thing that is wrong, for example ``"mass matrix M"``.
    found : what was found there.
    expected : what was expected instead.
    advice : what to do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        advice: str | None = None,
    ) -> None:
        self.what, self.found, self.expected, self.advice = what, found, expected, advice
        message = what
        if found is not None:
            message += f": found {found}"
        if expected is not None:
            message += f"{'; ' if found is not None else ': '}expected {expected}"
        if not message.endswith("."):
            message += "."
        if advice is not None:
            message += f" {advice}"
        super().__init__(message)

    def located(self, file: str, places: Sequence[tuple[int, str]]) -> Self:
        """The same error told of the model file it comes from; it gets `file`, `line` and `key`.

        Parameters
        ----------
        places : line and dotted key of all that it is about, that to begin with first.
        """
        self.file, (self.line, self.key) = file, places[0]
        where = f"{file}, line {self.line}" + (f", key {self.key}" if self.key else "")
        message = f"{where}: {self}"
        if len(places) > 1:
            message += f" In the file: {', '.join(f'{key} (line {n})' for n, key in places)}."
        self.args = (message,)
        return self


class InputError(ZwangError):
    """An argument has the wrong shape, type or value."""

    def about(self, owner: str) -> InputError:
        """The same, told of the thing it belongs to."""
        return InputError(
            f"{self.what} of {owner}",
            found=self.found,
            expected=self.expected,
            advice=self.advice,
        )


#: Known names that a message lists; of more the near ones and the first, and `known` has them all.
LISTED = 40


class UnknownNameError(InputError):
    """A name is not among the known ones; the message lists these, of very many the near ones."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        advice = "Use one of these names."
        if near:
            advice = f"Did you mean {' or '.join(repr(n) for n in near)}?"
        listed = ", ".join(names) if names else "(there are none)"
        if len(names) > LISTED:
            first = [*near, *(n for n in names if n not in near)][:LISTED]
            listed = f"{', '.join(first)} and {len(names) - LISTED} more"
        super().__init__(what, found=repr(name), expected=f"one of {listed}", advice=advice)
        self.name, self.known = name, names


class ModelError(InputError):
    """A model file says something that cannot be meant; the message begins with the place.

    Attributes
    ----------
    file, line, key : where: path of the file, line from 1 (0 if it is not known), dotted key.
    """

    def __init__(
        self,
        file: str,
        line: int,
        key: str,
        *,
        about: str = "",
        found: str | None = None,
        expected: str | None = None,
        advice: str | None = None,
    ) -> None:
        place = [file, *([f"line {line}"] if line else []), *([f"key {key}"] if key else [])]
        what = ", ".join(place) + (f": {about}" if about else "")
        super().__init__(what, found=found, expected=expected, advice=advice)
        self.file, self.line, self.key, self.subject = file, line, key, about


class TooManyStepsError(ZwangError):
    """A motion takes far more steps than it did, or than can be waited for."""


class NotApplicableError(ZwangError):
    """A formulation's own conditions are not met by the system it was asked to solve."""


class NoEquilibriumError(ZwangError):
    """No configuration was found in which all forces balance.

    Attributes
    ----------
    direction : the displacement that what is left drives, by the velocities, shape (n,), or None.
    """

    def __init__(self, what: str, *, direction: object = None, **facts: str | None) -> None:
        super().__init__(what, **facts)
        self.direction = direction


class NotUniqueError(ZwangError):
    """Some direction has neither mass nor constraint, so the acceleration is not determined.

    Attributes
    ----------
    directions : array, shape (n, k); its columns span the undetermined accelerations.
    """

    def __init__(self, what: str, *, directions: object = None, **facts: str | None) -> None:
        super().__init__(what, **facts)
        self.directions = directions


class InconsistentConstraintsError(ZwangError):
    """The constraints contradict each other.

    Attributes
    ----------
    rows : the row numbers of an irreducible conflicting group (dropping any one resolves it).
    names : their names.
    """

    def __init__(
        self,
        what: str,
        *,
        rows: Sequence[int] = (),
        names: Sequence[str] = (),
        **facts: str | None,
    ) -> None:
        super().__init__(what, **facts)
        self.rows, self.names = tuple(rows), tuple(names)


class AssemblyError(ZwangError):
    """No state satisfies the constraints together with the held values.

    Attributes
    ----------
    nearest : the state that comes nearest, with ``.q``, ``.v`` and ``.t``: the constraints' values
        are least there in the sense of least squares.
    gap : the norm of what the constraints miss there.
    group : names of an irreducible group of constraints and held values (``"hold x"``) that
        contradict each other.
    """

    def __init__(
        self,
        what: str,
        *,
        nearest: Any = None,
        gap: float = 0.0,
        group: Sequence[str] = (),
        **facts: str | None,
    ) -> None:
        super().__init__(what, **facts)
        self.nearest, self.gap, self.group = nearest, gap, tuple(group)


class PainleveError(ZwangError):
    """A non-ideal law has no reaction that agrees with it, or several.

    Attributes
    ----------
    names : the constraints whose law it is.
    solutions : the multipliers found, one array (m,) for each; empty when there are none.
    """

    def __init__(
        self,
        what: str,
        *,
        names: Sequence[str] = (),
        solutions: Sequence[object] = (),
        **facts: str | None,
    ) -> None:
        super().__init__(what, **facts)
        self.names, self.solutions = tuple(names), tuple(solutions)


class TraceError(InputError):
    """A user's function could not be traced; the message shows the offending line.

    Attributes
    ----------
    filename, lineno, line : where it happened, as far as it is known.
    """

    def __init__(
        self,
        what: str,
        *,
        filename: str = "",
        lineno: int = 0,
        line: str = "",
        **facts: str | None,
    ) -> None:
        place = ""
        if line:
            place = f" (line {lineno}: `{line}`)"
        elif lineno:
            place = f" (line {lineno} of {filename})"
        super().__init__(what + place, **facts)
        self.filename, self.lineno, self.line = filename, lineno, line


class UnreachableError(ZwangError):
    """A program needs forces that the given actuators cannot supply.

    Attributes
    ----------
    names : the program rows concerned.
    direction : a displacement along which they need a force and no actuator works, shape (n,).
    """

    def __init__(
        self, what: str, *, names: Sequence[str] = (), direction: object = None, **facts: str | None
    ) -> None:
        super().__init__(what, **facts)
        self.names, self.direction = tuple(names), direction


class MissingExtraError(ZwangError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            feature,
            found=f"no package '{package}'",
            expected="it to be installed",
            advice=f"Run: python -m pip install 'zwang[{extra}]'",
        )
        self.package, self.extra = package, extra


class StoreError(ZwangError):
    """A run could not be written or read.

    Attributes
    ----------
    run : what there is of the run in memory and on the disk, where writing failed; else None.
    """

    run: Any = None


class DamageError(StoreError):
    """A stored run is not what was written.

    Attributes
    ----------
    sound_rows : saved states before the damage, which can still be read.
    """

    def __init__(self, what: str, *, sound_rows: int = 0, **facts: str | None) -> None:
        super().__init__(what, **facts)
        self.sound_rows = sound_rows
