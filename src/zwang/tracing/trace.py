"""Tracing: a user's function called with symbols, and clear errors where that fails."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, TraceError, UnknownNameError, ZwangError, counted, shown
from zwang.tracing.repeatable import is_own, require_repeatable
from zwang.tracing.symbol import (
    JOINED,
    WAY_OUT,
    WAY_OUT_WITHOUT_OPAQUE,
    Symbol,
    SymbolArray,
    ValueNeededError,
    expression,
    symbols_of,
)

if TYPE_CHECKING:
    import casadi

__all__ = [
    "ParameterSymbols",
    "being_traced",
    "call",
    "matrix",
    "opaque_calls",
    "parameter_symbols",
    "vector",
]

#: What the function belongs to that is being traced; nameless functions in it are named after it.
being_traced: ContextVar[str] = ContextVar("the function being traced", default="")

#: Opaque calls of the model being traced, `zwang.tracing.opaque`; None where there can be none.
opaque_calls: ContextVar[list[Any] | None] = ContextVar("opaque calls of the model", default=None)

#: Words that need the value of a condition, and what needs it for a choice.
_WORDS = re.compile(r"\b(and|or|not)\b")
_CHOICES = re.compile(r"\b(if|while|assert|max|min|sorted|any|all|bool)\b")
_HERE = Path(__file__).parent
_OURS = {str(_HERE / name) for name in ("trace.py", "symbol.py", "differentiate.py", "opaque.py")}
_BODIES = str(_HERE.parent / "multibody")


class ParameterSymbols:
    """Parameters as a traced function sees them: ``p.m``, or ``p["m"]``."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        for value in values.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__["_values"] = dict(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        values = self.__dict__["_values"]
        if name not in values:
            raise _UnknownParameterError("parameter", name, values)
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise ValueNeededError(f"an assignment to {name!r}, a parameter", "Parameters are read.")


class _UnknownParameterError(UnknownNameError):
    """A parameter that does not exist, as yet without the function that asked for it."""


def call(what: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """The result of a user's function for symbolic arguments.

    It is called twice, and refused if it gives two results, see `repeatable`.

    Parameters
    ----------
    what : the named thing the function belongs to, for messages.
    arguments : all that may be asked for, by name and in positional order.
    """
    positional, keyword = _bind(what, function, arguments)
    token = being_traced.set(what)
    recorded = _opaque_count()

    def called() -> Any:
        return function(
            *(_fresh(x) for x in positional), **{k: _fresh(x) for k, x in keyword.items()}
        )

    try:
        result = called()
        # Calls of opaque functions have symbols of their own each time.
        if is_own(function) and _opaque_count() == recorded:
            require_repeatable(what, result, called())
    except ValueNeededError as error:
        advice = _way_out(error.advice)
        if error.of_condition and _joins(_place(error.__traceback__)):
            advice = f"{JOINED} {advice}"
        raise _failure(what, error, f"contains {error}", advice) from error
    except _UnknownParameterError as error:
        where = _place(error.__traceback__)
        raise UnknownNameError(
            f"{error.what} in {what}{_at(where)}", error.name, error.known
        ) from error
    except ZwangError:
        raise
    except Exception as error:
        # A TypeError is what functions for plain numbers raise; the others are plain mistakes.
        advice = WAY_OUT if isinstance(error, TypeError) else None
        said = f"raises {type(error).__name__}: {error}"
        raise _failure(what, error, said, _way_out(advice)) from error
    else:
        return result
    finally:
        being_traced.reset(token)


def _joins(place: traceback.FrameSummary | None) -> bool:
    """Whether a line that needs the value of a condition joins or negates conditions in words.

    What is neither a choice nor a call does, as ``a < b < c``, and so may a line that is not known.
    """
    line = (place.line or "") if place else ""
    return bool(_WORDS.search(line)) or not _CHOICES.search(line)


def _opaque_count() -> int:
    """Calls of opaque functions so far."""
    return len(opaque_calls.get() or ())


def _way_out(advice: str | None) -> str | None:
    """What to do instead, which is no opaque function where none can be called."""
    without = opaque_calls.get() is None
    return WAY_OUT_WITHOUT_OPAQUE if advice == WAY_OUT and without else advice


def _fresh(value: Any) -> Any:
    """A copy of an array, so that what a function assigns to its arguments stays in it."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _bind(
    what: str, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name where all names are known ones, else by position."""
    expected = f"a function of ({', '.join(arguments)}), or of some of these by name"
    if not callable(function):
        raise InputError(what, found=shown(function), expected=expected)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return list(arguments.values()), {}
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return list(arguments.values()), {}
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    names = [p.name for p in needed]
    if all(name in arguments for name in names):
        if any(p.kind is p.POSITIONAL_ONLY for p in needed):
            return [arguments[name] for name in names], {}
        return [], {name: arguments[name] for name in names}
    if len(names) == len(arguments):
        return list(arguments.values()), {}
    raise InputError(what, found=f"a function of ({', '.join(names)})", expected=expected)


def vector(what: str, result: Any, length: int | None = None) -> casadi.SX:
    """A traced result as a CasADi column; a single value counts as one entry."""
    import casadi as ca

    entries = _entries(what, result)
    if entries.ndim > 1 and max(entries.shape, default=0) != entries.size:
        raise InputError(
            what, must="return one value or a list of values", but=f"returned shape {entries.shape}"
        )
    flat = entries.ravel()
    if length is not None and flat.size != length:
        raise InputError(
            what,
            must="return one value"
            if length == 1
            else f"return {length} values, one for each velocity",
            but=f"returned {counted(flat.size)}",
        )
    return ca.vertcat(*(_checked(what, entry) for entry in flat)) if flat.size else ca.SX(0, 1)


def matrix(what: str, result: Any, shape: tuple[int | None, int]) -> casadi.SX:
    """A traced result as a CasADi matrix; one row may be given flat if the rows are open."""
    import casadi as ca

    entries = _entries(what, result)
    rows, columns = shape
    if entries.ndim == 0 and columns == 1:
        entries = entries.reshape(1, 1)
    if entries.ndim == 1 and rows is None and entries.size == columns:
        entries = entries.reshape(1, -1)
    good = entries.ndim == 2 and entries.shape[1] == columns and rows in (None, entries.shape[0])
    if not good:
        wanted = f"({'m' if rows is None else rows}, {columns})"
        raise InputError(
            what, must=f"return a matrix of shape {wanted}", but=f"returned shape {entries.shape}"
        )
    out = ca.SX(*entries.shape)
    for index, entry in np.ndenumerate(entries):
        value = _checked(what, entry)
        if not value.is_zero():
            out[index] = value
    return out


def _entries(what: str, result: Any) -> np.ndarray:
    """Any nesting of numbers, symbols, lists, arrays and CasADi matrices as an object array."""
    import casadi as ca

    if result is None:
        raise InputError(
            what, must="return a value", but="returned None", advice="Is a 'return' missing?"
        )
    if isinstance(result, Symbol):
        box = np.empty((), dtype=object)
        box[()] = result
        return box
    if isinstance(result, ca.SX | ca.DM):
        out = np.empty(result.shape, dtype=object)
        for index in np.ndindex(*result.shape):
            out[index] = Symbol(ca.SX(result[index]))
        return out if result.shape[1] != 1 else out[:, 0]
    if isinstance(result, np.ndarray):
        plain = result.view(np.ndarray) if isinstance(result, SymbolArray) else result
        if plain.dtype != object:
            return plain.astype(object)
        parts = [_entries(what, entry) for entry in plain.flat]
        if all(part.ndim == 0 for part in parts):
            return plain
        return np.array(parts, dtype=object).reshape(*plain.shape, *parts[0].shape)
    if isinstance(result, list | tuple):
        return _listed_entries(what, result)
    if isinstance(result, int | float | np.number):
        return np.asarray(result, dtype=object)
    raise InputError(
        what,
        must="return numbers, lists or arrays computed from the arguments",
        but=f"returned a {type(result).__name__}",
    )


def _listed_entries(what: str, result: list[Any] | tuple[Any, ...]) -> np.ndarray:
    if any(entry is None for entry in result):
        raise InputError(what, must="return numbers", but="returned None among them")
    parts = [_entries(what, entry) for entry in result]
    if len({part.shape for part in parts}) > 1:
        raise InputError(
            what, must="return a rectangular array", but="returned rows of unequal length"
        )
    out = np.empty((len(parts), *(parts[0].shape if parts else ())), dtype=object)
    for k, part in enumerate(parts):
        out[k] = part if part.ndim else part.item()
    return out


def _checked(what: str, entry: Any) -> casadi.SX:
    if isinstance(entry, complex | np.complexfloating):
        raise InputError(what, must="return real numbers", but="returned a complex one")
    if not isinstance(entry, Symbol | int | float | np.number):
        raise InputError(
            what, must="return numbers", but=f"returned an entry of type {type(entry).__name__}"
        )
    if isinstance(entry, int | float | np.number) and not np.isfinite(entry):
        raise InputError(what, must="return finite numbers", but=f"returned {entry}")
    value = expression(entry)
    if value.is_constant() and not np.isfinite(float(value)):
        raise InputError(what, must="return finite numbers", but=f"returned {float(value)}")
    return value


def parameter_symbols(values: Mapping[str, np.ndarray]) -> tuple[casadi.SX, ParameterSymbols]:
    """One column for all parameters, and the namespace that hands out its parts."""
    import casadi as ca

    parts = {}
    columns = []
    for name, value in values.items():
        column = ca.SX.sym(name, value.size)
        columns.append(column)
        entries = symbols_of(column)
        parts[name] = entries[0] if value.ndim == 0 else entries.reshape(value.shape)
    return (ca.vertcat(*columns) if columns else ca.SX(0, 1)), ParameterSymbols(parts)


def _place(trail: TracebackType | None) -> traceback.FrameSummary | None:
    """The innermost line of the user's own code."""
    frames = traceback.extract_tb(trail)
    own = [
        frame
        for frame in frames
        if frame.filename not in _OURS
        and not frame.filename.startswith(_BODIES)
        and "site-packages" not in frame.filename
        and not frame.filename.endswith(("functools.py", "inspect.py"))
    ]
    return own[-1] if own else None


def _at(place: traceback.FrameSummary | None) -> str:
    if place is None:
        return ""
    return f" (line {place.lineno}: `{place.line}`)" if place.line else f" (line {place.lineno})"


def _failure(what: str, error: BaseException, found: str, advice: str | None) -> TraceError:
    place = _place(error.__traceback__)
    return TraceError(
        what,
        filename=place.filename if place else "",
        lineno=(place.lineno or 0) if place else 0,
        line=(place.line or "") if place else "",
        must="consist of arithmetic and NumPy functions of the arguments",
        but=found,
        advice=advice,
    )
