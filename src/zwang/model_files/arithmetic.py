"""Expressions of model files: the numbers, vectors and bodies they compute with, and functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.multibody.pose import Pose, cross
from zwang.tracing.symbol import Symbol, SymbolArray, where

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "ExpressionError",
    "Function",
    "add",
    "both",
    "compare",
    "entry",
    "listed",
    "multiply",
    "negated",
    "power",
]

CONSTANTS = {"pi": math.pi}


class ExpressionError(Exception):
    """An expression is wrong; it does not know its place in the file.

    Attributes
    ----------
    found, expected, advice : as in `zwang.errors.ZwangError`.
    near : a name that is not known, and those that are.
    """

    def __init__(
        self,
        found: str,
        expected: str,
        advice: str | None = None,
        *,
        near: tuple[str, Any] | None = None,
    ) -> None:
        super().__init__(found)
        self.found, self.expected, self.advice, self.near = found, expected, advice, near


def _kind(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, np.ndarray):
        shape = value.shape
        return f"a vector of {shape[0]}" if len(shape) == 1 else f"a matrix of shape {shape}"
    if isinstance(value, Symbol | float):
        return "a number"
    return "a body"


def _number(value: Any, what: str) -> Any:
    if not isinstance(value, Symbol | float):
        raise ExpressionError(f"{_kind(value)} in {what}", "numbers")
    return value


def _safe(what: str, f: Callable[..., Any], *values: Any) -> Any:
    """A function of plain numbers, refused where it has no finite value."""
    try:
        result = f(*values)
    except (ArithmeticError, ValueError):
        result = math.nan
    if not math.isfinite(result):
        shown = ", ".join(f"{value:g}" for value in values)
        raise ExpressionError(f"{what} of {shown}", "an operation that has a finite value")
    return float(result)


def add(a: Any, b: Any, *, minus: bool = False) -> Any:
    """a + b or a − b, of numbers, or of vectors or matrices of one shape."""
    if not _computes(a) or not _computes(b) or np.shape(a) != np.shape(b):
        sign = "minus" if minus else "plus"
        raise ExpressionError(f"{_kind(a)} {sign} {_kind(b)}", "terms of the same kind")
    f = operator.sub if minus else operator.add
    if isinstance(a, float) and isinstance(b, float):
        return _safe("a difference" if minus else "a sum", f, a, b)
    return f(a, b)


def multiply(a: Any, b: Any, *, divide: bool = False) -> Any:
    """a·b or a/b, at least one a number."""
    for value in (a, b):
        if not _computes(value):
            raise ExpressionError(f"{_kind(value)} in a product", "numbers or vectors")
    if isinstance(b, np.ndarray) and (divide or isinstance(a, np.ndarray)):
        sign = "divided by" if divide else "times"
        raise ExpressionError(
            f"{_kind(a)} {sign} {_kind(b)}",
            "a number",
            "dot(a, b) and cross(a, b) multiply vectors.",
        )
    f = operator.truediv if divide else operator.mul
    if isinstance(a, float) and isinstance(b, float):
        return _safe("a quotient" if divide else "a product", f, a, b)
    if divide and isinstance(b, float) and b == 0.0:
        raise ExpressionError("a division by zero", "a divisor that is not zero")
    return f(a, b)


def power(a: Any, b: Any) -> Any:
    """a^b of numbers."""
    _number(a, "a power")
    _number(b, "a power")
    if isinstance(a, float) and isinstance(b, float):
        return _safe("a power", math.pow, a, b)
    if isinstance(b, float) and b.is_integer():
        b = int(b)  # CasADi multiplies small whole powers out
        if abs(b) > 1000:
            raise ExpressionError(f"the power {b}", "an exponent from -1000 to 1000")
    return a**b


def compare(sign: str, a: Any, b: Any) -> Any:
    """1 or 0."""
    _number(a, "a comparison")
    _number(b, "a comparison")
    signs = {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "==": operator.eq,
        "!=": operator.ne,
    }
    result = signs[sign](a, b)
    return float(result) if isinstance(result, bool) else result


def both(sign: str, a: Any, b: Any) -> Any:
    """1 if both or one of two conditions holds, else 0."""
    _number(a, f"{sign!r}")
    _number(b, f"{sign!r}")
    if isinstance(a, float) and isinstance(b, float):
        return float(bool(a) and bool(b)) if sign == "and" else float(bool(a) or bool(b))
    f = np.logical_and if sign == "and" else np.logical_or
    return f(a, b)


def negated(sign: str, a: Any) -> Any:
    """−a, or 1 − a for a condition."""
    if sign == "-":
        if not _computes(a):
            raise ExpressionError(f"minus {_kind(a)}", "a number or a vector")
        return -a
    _number(a, "'not'")
    return float(not a) if isinstance(a, float) else ~a


def entry(a: Any, place: int) -> Any:
    """Entry or row of a vector or matrix."""
    if not isinstance(a, np.ndarray):
        raise ExpressionError(f"an entry [{place}] of {_kind(a)}", "an entry of a vector")
    if not -len(a) <= place < len(a):
        raise ExpressionError(
            f"entry [{place}] of {_kind(a)}", f"one from 0 to {len(a) - 1}", "Entries count from 0."
        )
    return a[place]


def listed(entries: list[Any]) -> Any:
    """A vector of numbers, or a matrix of vectors."""
    shapes = {np.shape(e) for e in entries}
    if len(shapes) != 1 or not all(_computes(e) for e in entries):
        raise ExpressionError("a list of unlike things", "numbers, or rows of equal length")
    (shape,) = shapes
    result = np.empty((len(entries), *shape), dtype=object)
    for k, value in enumerate(entries):
        result[k] = value
    return result.view(SymbolArray)


def _computes(value: Any) -> bool:
    return isinstance(value, Symbol | float | np.ndarray)


# --- functions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A function of the fixed list: how it is written, how many arguments, what it does."""

    usage: str
    counts: tuple[int, int]
    apply: Callable[..., Any]


def _scalar(name: str, plain: Callable[..., float], usage: str, ufunc: Any) -> Function:
    count = usage.count(",") + 1

    def apply(*values: Any) -> Any:
        for value in values:
            _number(value, name)
        if all(isinstance(value, float) for value in values):
            return _safe(name, plain, *values)
        return ufunc(*values)

    return Function(usage, (count, count), apply)


def _vectors(name: str, *values: Any, size: int | None = None) -> None:
    for value in values:
        good = isinstance(value, np.ndarray) and value.ndim == 1
        if not good or (size is not None and len(value) != size):
            wanted = "vectors" if size is None else f"vectors of {size}"
            raise ExpressionError(f"{name} of {_kind(value)}", wanted)


def _dot(a: Any, b: Any) -> Any:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        raise ExpressionError(f"dot of {_kind(a)} and {_kind(b)}", "vectors or matrices")
    if a.shape[-1] != b.shape[0]:
        raise ExpressionError(f"dot of {_kind(a)} and {_kind(b)}", "vectors of one length")
    return _plain(a @ b)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, int) else value


def _cross(a: Any, b: Any) -> Any:
    _vectors("cross", a, b, size=3)
    return cross(a, b)


def _norm(a: Any) -> Any:
    _vectors("norm", a)
    return FUNCTIONS["sqrt"].apply(_dot(a, a))


def _sum(a: Any) -> Any:
    _vectors("sum", a)
    total = 0.0
    for value in a:
        total = add(total, value)
    return total


def _diag(*values: Any) -> Any:
    entries = values
    if len(values) == 1 and isinstance(values[0], np.ndarray):
        _vectors("diag", values[0])
        entries = tuple(values[0])
    for value in entries:
        _number(value, "diag")
    rows = [[v if i == k else 0.0 for k in range(len(entries))] for i, v in enumerate(entries)]
    return listed([listed(row) for row in rows])


def _where(condition: Any, yes: Any, no: Any) -> Any:
    _number(condition, "where")
    if np.shape(yes) != np.shape(no) or not _computes(yes) or not _computes(no):
        raise ExpressionError(f"{_kind(yes)} or {_kind(no)} in where", "two of the same kind")
    if isinstance(condition, float):
        return yes if condition else no
    return where(condition, yes, no)


def _of_body(method: str) -> Callable[..., Any]:
    def apply(body: Any, *local: Any) -> Any:
        if not isinstance(body, Pose):
            raise ExpressionError(f"{method} of {_kind(body)}", f"{method}(body, x, y, z)")
        point = local[0] if len(local) == 1 and isinstance(local[0], np.ndarray) else None
        if point is None:
            for value in local:
                _number(value, method)
            point = listed(list(local))
        _vectors(method, point, size=3)
        return getattr(body, method)(point)

    return apply


def _sign(x: float) -> float:
    return float((x > 0.0) - (x < 0.0))


FUNCTIONS: dict[str, Function] = {
    **{
        name: _scalar(name, getattr(math, name), f"{name}(x)", ufunc)
        for name, ufunc in (
            ("sin", np.sin),
            ("cos", np.cos),
            ("tan", np.tan),
            ("asin", np.arcsin),
            ("acos", np.arccos),
            ("atan", np.arctan),
            ("sinh", np.sinh),
            ("cosh", np.cosh),
            ("tanh", np.tanh),
            ("sqrt", np.sqrt),
            ("exp", np.exp),
            ("log", np.log),
            ("log10", np.log10),
            ("floor", np.floor),
            ("ceil", np.ceil),
        )
    },
    "atan2": _scalar("atan2", math.atan2, "atan2(y, x)", np.arctan2),
    "hypot": _scalar("hypot", math.hypot, "hypot(x, y)", np.hypot),
    "abs": _scalar("abs", math.fabs, "abs(x)", np.fabs),
    "sign": _scalar("sign", _sign, "sign(x)", np.sign),
    "min": _scalar("min", min, "min(x, y)", np.minimum),
    "max": _scalar("max", max, "max(x, y)", np.maximum),
    "where": Function("where(condition, a, b)", (3, 3), _where),
    "dot": Function("dot(a, b)", (2, 2), _dot),
    "cross": Function("cross(a, b)", (2, 2), _cross),
    "norm": Function("norm(a)", (1, 1), _norm),
    "sum": Function("sum(a)", (1, 1), _sum),
    "diag": Function("diag(x, y, …)", (1, 1000), _diag),
    "point": Function("point(body, x, y, z)", (2, 4), _of_body("point")),
    "vector": Function("vector(body, x, y, z)", (2, 4), _of_body("vector")),
    "point_velocity": Function("point_velocity(body, x, y, z)", (2, 4), _of_body("point_velocity")),
}
