"""Exceptions: the named thing, what it must be, what it is instead, and what to do about it.

Every error the library raises on purpose is a `ZwangError`. The message is one sentence a user
can act on; the attributes carry the same facts for programs.
"""

from __future__ import annotations

import difflib
import re
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
    "NotIntegratedError",
    "NotUniqueError",
    "PainleveError",
    "StoreError",
    "TooManyStepsError",
    "TraceError",
    "UnknownNameError",
    "UnreachableError",
    "ZwangError",
    "counted",
    "near_names",
    "shown",
    "told_names",
]


#: Where a function or an object is in memory, as Python shows it.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def shown(value: object) -> str:
    """A value as a message shows it: on one line, short, and without addresses in memory."""
    shape = getattr(value, "shape", None)
    if shape and getattr(value, "size", 0) > 6:
        return f"an array of shape {tuple(shape)}"
    text = str(value) if shape == () else " ".join(repr(value).split())
    text = ADDRESS.sub("", text)
    return text if len(text) <= 80 else f"{text[:76]} …"


def counted(number: int) -> str:
    """``1 value``, ``2 values``."""
    return "1 value" if number == 1 else f"{number} values"


#: How advice begins that names what was meant perhaps.
MEANT = "Did you mean"
#: Letters of a sentence from which on that comes first.
LONG_LIST = 240


class ZwangError(Exception):
    """Base of all errors raised by Zwang.

    The message is composed of the facts: "tolerance must be a number from 1e-14 to 0.1, not 5.",
    "mass matrix M must be symmetric, but M[0, 1] = 2 and M[1, 0] = 3.", "store 'a' cannot be
    read.", each followed by the advice.

    Parameters
    ----------
    what : the named thing that is wrong, for example ``"mass matrix M"``.
    expected : what it must be: a noun phrase, after "must be".
    must : what it must do or have, in place of `expected`: a verb phrase, after "must".
    found : what it is instead: a value or a noun phrase, after "not".
    but : what is the case instead, in place of `found`: a verb phrase or a clause, after "but".
    advice : what to do about it, a sentence.

    Attributes
    ----------
    what, found, expected, advice : the facts as text, None where not given; `found` is what was
        given as `found` or `but`, `expected` what was given as `expected` or `must`.
    batch_place : which of many systems that were given together it is about, and how many more
        there are of which the like holds; None of a single one.
    run : what there is of a run that the error ended, where the law of a controller raised it or a
        store could not be written; else None.
    """

    batch_place: tuple[int, int] | None = None
    run: Any = None

    def __init__(
        self,
        what: str,
        *,
        expected: str | None = None,
        must: str | None = None,
        found: str | None = None,
        but: str | None = None,
        advice: str | None = None,
    ) -> None:
        self.what, self.advice = what, advice
        self.found = found if but is None else but
        self.expected = expected if must is None else must
        self._given = {"expected": expected, "must": must, "found": found, "but": but}
        super().__init__(self._whole())

    def _whole(self) -> str:
        """Sentence and advice; what was meant perhaps comes before a long list of what there is."""
        sentence = self._sentence()
        found = self._given["found"]
        meant = self.advice is not None and self.advice.startswith(MEANT)
        if not meant or found is None or self.expected is None or len(sentence) < LONG_LIST:
            return " ".join(filter(None, [sentence, self.advice]))
        return f"{self.what}: {found} is not known. {self.advice} It must be {self.expected}."

    def _sentence(self) -> str:
        """The facts but for the advice, as one sentence."""
        given = self._given
        need = self._need()
        if need and self.found is not None:
            need += f", but {given['but']}" if given["found"] is None else f", not {given['found']}"
        elif given["but"] is not None:
            need = f"{self.what} {given['but']}"
        elif given["found"] is not None:
            need = f"{self.what}: {given['found']}"
        sentence = need or self.what
        return sentence if sentence.endswith(".") else f"{sentence}."

    def _need(self) -> str:
        """What the thing must be, as the beginning of a sentence; empty if it is not known."""
        if self.expected is None:
            return ""
        be = "be " if self._given["must"] is None else ""
        return f"{self.what} must {be}{self.expected}"

    @property
    def facts(self) -> dict[str, str | None]:
        """What was found, expected and advised, as it was given: for an error about the same."""
        return {**self._given, "advice": self.advice}

    def in_batch(self, kind: str, shape: Sequence[int], index: int, more: int = 0) -> Self:
        """The same error with the place of what it is about among many of a kind.

        Parameters
        ----------
        kind : what there are many of, ``"system"``.
        shape : of the batch.
        index : place in it, counted over all its axes.
        more : how many others it holds for.
        """
        place: list[int] = []
        rest = index
        for size in reversed(shape):
            rest, k = divmod(rest, size)
            place.insert(0, k)
        where = place[0] if len(place) == 1 else tuple(place)
        also = f" (and {more} more)" if more else ""
        self.batch_place, self._alone = (index, more), str(self)
        self.args = (f"{kind} {where} of the batch{also}: {self}",)
        return self

    def alone(self) -> Self:
        """The same error without its place in a batch that its reader knows nothing of."""
        if self.batch_place is not None:
            self.batch_place, self.args = None, (self._alone,)
        return self

    def at_time(self, t: float) -> Self:
        """The same error of a batch of saved states, with the time of the one it is about."""
        assert self.batch_place is not None
        more = self.batch_place[1]
        also = f" (and at {more} more)" if more else ""
        self.batch_place, self.args = None, (f"saved state at t = {t:.9g}{also}: {self._alone}",)
        return self

    def located(self, file: str, places: Sequence[tuple[int, str]]) -> Self:
        """The same error with the model file it comes from; it gets `file`, `line` and `key`.

        Parameters
        ----------
        places : line, 0 of the whole file, and dotted key of all that it is about, the first to
            look at first.
        """
        self.file, (self.line, self.key) = file, places[0]
        line = f", line {self.line}" if self.line else ""
        where = f"{file}{line}" + (f", key {self.key}" if self.key else "")
        message = f"{where}: {self}"
        if len(places) > 1:
            message += f" In the file: {', '.join(f'{key} (line {n})' for n, key in places)}."
        self.args = (message,)
        return self


class InputError(ZwangError):
    """An argument has the wrong shape, type or value."""

    def about(self, owner: str) -> InputError:
        """The same error, with the thing that it belongs to."""
        return InputError(f"{self.what} of {owner}", **self.facts)


#: Known names that a message lists; of more those of the same owner, or the near ones and the
#: first, and `known` has them all.
LISTED = 40
#: Letters of the last part of a name, as ``x``, that say nothing of what it is like.
A_LETTER = 2


def of_owner(name: str, names: Sequence[str]) -> list[str]:
    """Names that belong to a name, as ``pin.angle`` to ``pin``, or to its owner, ``pin.angel``."""
    own = [n for n in names if n.startswith(f"{name}.")]
    owner = name.rpartition(".")[0]
    return own or [n for n in names if owner and n.startswith(f"{owner}.")]


#: What a joint, a driver and an element exert is called; one has one or two of them.
EFFORTS = ("effort", "torque", "force", "moment")


def _in_other_words(name: str, names: Sequence[str]) -> list[str]:
    """Names of the same owner for the same thing: ``motor.effort`` where ``motor.force`` is given.

    Rates are ``cart.vx`` of a body and ``pin.angle_rate`` of a joint, for ``_dot``.
    """
    owner, _, part = name.rpartition(".")
    own = {n.rpartition(".")[2]: n for n in names if owner and n.rpartition(".")[0] == owner}
    base = part.removesuffix("_dot")
    words = (f"v{base}", f"{base}_rate") if base != part else ()
    if difflib.get_close_matches(part, EFFORTS, n=1, cutoff=0.8):
        words = () if difflib.get_close_matches(part, own, n=1, cutoff=0.8) else EFFORTS
    return [own[word] for word in words if word in own]


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """Names that may have been meant: of a known owner those whose last part is like that given."""
    near = [n for n in names if n.lower() == name.lower()] or _in_other_words(name, names)
    if near:
        return near
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    owner, _, part = name.rpartition(".")
    near.sort(key=lambda n: n.rpartition(".")[0] != owner)
    if len(part) <= A_LETTER or not any(n.startswith(f"{owner}.") for n in names):
        return near
    like = difflib.get_close_matches(part, [n.rpartition(".")[2] for n in names], cutoff=0.6)
    return [n for n in near if n.rpartition(".")[2] in like]


def told_names(name: str, names: Sequence[str], near: Sequence[str]) -> str:
    """Names as a message lists them: all, or of many those of the same owner, or the first."""
    if len(names) <= LISTED:
        return ", ".join(names)
    own = of_owner(name, names)
    if set(own) - set(near):
        more = f" and {len(own) - LISTED} more" if len(own) > LISTED else ""
        return ", ".join(own[:LISTED]) + more
    first = [*near, *(n for n in names if n not in near)][:LISTED]
    return f"{', '.join(first)} and {len(names) - LISTED} more"


class UnknownNameError(InputError):
    """A name is not among the known ones; the message lists these, of very many those like it.

    Parameters
    ----------
    known : all names.
    more : a further sentence of advice.
    listed : those that the message lists, if not all; the others are told if they are near.
    """

    def __init__(
        self,
        what: str,
        name: str,
        known: Iterable[str],
        more: str = "",
        *,
        listed: Iterable[str] = (),
    ) -> None:
        names, written = list(known), str(name)  # a place in a list is a common mistake
        near = near_names(written, names)
        advice = more or None
        if near:
            advice = f"{MEANT} {' or '.join(repr(n) for n in near)}? {more}".rstrip()
        told = told_names(written, list(listed) or names, near)
        if names:
            super().__init__(what, expected=f"one of {told}", found=repr(name), advice=advice)
        else:
            super().__init__(
                f"{what} {name!r}", but="does not exist, as there are none", advice=advice
            )
        self.name, self.known = name, names


class ModelError(InputError):
    """A model file has an entry that cannot be meant; the message begins with the place.

    Parameters
    ----------
    about : the thing that is wrong; if not given, the entry itself.
    facts : as in `ZwangError`.

    Attributes
    ----------
    file, line, key : where: path of the file, line from 1 (0 if it is not known), dotted key.
    """

    def __init__(
        self, file: str, line: int, key: str, *, about: str = "", **facts: str | None
    ) -> None:
        place = [file, *([f"line {line}"] if line else []), *([f"key {key}"] if key else [])]
        self.file, self.line, self.key, self.subject = file, line, key, about
        super().__init__(", ".join(place) + (f": {about}" if about else ""), **facts)

    def _need(self) -> str:
        if self.subject or self.expected is None:
            return super()._need()
        return (
            f"{self.what}: {'expected' if self._given['must'] is None else 'must'} {self.expected}"
        )


class TooManyStepsError(ZwangError):
    """A motion takes far more steps than it did, or than can be waited for."""


class NotIntegratedError(InputError):
    """A motion cannot be integrated from a saved state to the time that is asked for."""


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
    gap : the norm of the constraints' residual there; of joints the sum of their gaps.
    group : names of an irreducible group of constraints and held values (``"hold x"``) that
        contradict each other: released alone, any one of them lets the others hold. Of large
        mechanisms it may have more names, which the message says.
    likely : those of them that are likely to be wrong: the ones that alone are open as bodies were
        placed, or else the drivers; empty where nothing tells.
    """

    def __init__(
        self,
        what: str,
        *,
        nearest: Any = None,
        gap: float = 0.0,
        group: Sequence[str] = (),
        likely: Sequence[str] = (),
        **facts: str | None,
    ) -> None:
        super().__init__(what, **facts)
        self.nearest, self.gap, self.group = nearest, gap, tuple(group)
        self.likely = tuple(likely)


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
            but=f"needs the package '{package}', which is not installed",
            advice=f"Run: python -m pip install 'zwang[{extra}]'",
        )
        self.package, self.extra = package, extra


class StoreError(ZwangError):
    """A run could not be written or read.

    Attributes
    ----------
    run : what there is of the run in memory and on the disk, where writing failed; else None.
    """


class DamageError(StoreError):
    """A stored run is not what was written.

    Attributes
    ----------
    sound_rows : saved states before the damage, which can still be read.
    """

    def __init__(self, what: str, *, sound_rows: int = 0, **facts: str | None) -> None:
        super().__init__(what, **facts)
        self.sound_rows = sound_rows
