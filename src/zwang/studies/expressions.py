"""Expressions of a study's outputs and initial values: read, never executed, for many runs.

    peak(pin.force.magnitude) / (m * 9.81)        end(rod.position.x) - start(rod.position.x)

Names are channels and parameters, also in quotation marks; functions are those of `FUNCTIONS` and,
where an output is meant, the reductions of `zwang.studies.reductions`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from zwang.errors import InputError, shown

__all__ = ["FUNCTIONS", "calls_in", "dotted", "evaluated", "function_name", "names_in", "parsed"]

#: Longer texts are refused, as are deeper ones.
LONGEST, DEEPEST = 500, 30
CONSTANTS = {"pi": math.pi}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, np.abs),
    "sqrt": (1, np.sqrt),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "tan": (1, np.tan),
    "asin": (1, np.arcsin),
    "acos": (1, np.arccos),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "hypot": (2, np.hypot),
    "minimum": (2, np.minimum),
    "maximum": (2, np.maximum),
}
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
#: An event with spaces in its name, as ``event_count(at the stop)``.
_SPACED_EVENT = re.compile(r"\b(event_time|event_count)\(\s*([\w.]+(?:\s+[\w.]+)+)\s*\)")


def parsed(text: str, what: str) -> ast.expr:
    """An expression as a tree of numbers, names, operations and calls; anything else is refused."""
    if not text.strip() or len(text) > LONGEST:
        found = "nothing" if not text.strip() else f"{len(text)} characters"
        raise InputError(
            what, expected=f"an expression of at most {LONGEST} characters", found=found
        )
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = getattr(error, "msg", None) or "it cannot be read"
        problem = problem.partition(".")[0]  # what Python guesses besides is of no use here
        raise InputError(
            what,
            expected="an expression",
            but=f"in {shown(text)}, {problem}",
            advice=_quoted_event(text),
        ) from None
    _require(tree, text, what, DEEPEST)
    return tree


def _quoted_event(text: str) -> str | None:
    """How to write an event whose name has spaces, where one is given without quotes."""
    found = _SPACED_EVENT.search(text)
    if found is None:
        return None
    return f"Names with spaces are quoted: {found[1]}('{found[2].strip()}')."


def _require(node: ast.expr, text: str, what: str, depth: int) -> None:
    if depth == 0:
        raise InputError(what, must=f"have at most {DEEPEST} levels", but="has more")
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        inside = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inside = [node.operand]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        inside = node.args
    elif (isinstance(node, ast.Constant) and _is_number_or_text(node.value)) or dotted(
        node
    ) is not None:
        return
    else:
        raise InputError(
            what,
            expected="an expression of numbers, names, + − * / ^ and functions",
            but=f"{shown(text)} has something else in it",
        )
    for part in inside:
        _require(part, text, what, depth - 1)


def _is_number_or_text(value: object) -> bool:
    if isinstance(value, str):
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def function_name(call: ast.Call) -> str:
    """What a call is of."""
    assert isinstance(call.func, ast.Name)  # `parsed` lets nothing else through
    return call.func.id


def dotted(node: ast.expr) -> str | None:
    """The name that a node is, as ``pin.force.x``, ``gravity[2]`` or ``'pin[0].multiplier'``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner, place = dotted(node.value), node.slice.value
        if owner is not None and isinstance(place, int) and not isinstance(place, bool):
            return f"{owner}[{place}]"
    return None


def names_in(tree: ast.expr) -> Iterator[str]:
    """Names outside of calls that are not functions."""
    name = dotted(tree)
    if name is not None:
        if name not in CONSTANTS:
            yield name
    elif isinstance(tree, ast.BinOp):
        yield from names_in(tree.left)
        yield from names_in(tree.right)
    elif isinstance(tree, ast.UnaryOp):
        yield from names_in(tree.operand)
    elif isinstance(tree, ast.Call) and function_name(tree) in FUNCTIONS:
        for part in tree.args:
            yield from names_in(part)


def calls_in(tree: ast.expr) -> Iterator[ast.Call]:
    """Calls of anything besides `FUNCTIONS`."""
    if isinstance(tree, ast.BinOp):
        yield from calls_in(tree.left)
        yield from calls_in(tree.right)
    elif isinstance(tree, ast.UnaryOp):
        yield from calls_in(tree.operand)
    elif isinstance(tree, ast.Call):
        if function_name(tree) not in FUNCTIONS:
            yield tree
        else:
            for part in tree.args:
                yield from calls_in(part)


def evaluated(
    tree: ast.expr,
    values: Mapping[str, Any],
    call: Callable[[ast.Call], Any] | None = None,
) -> Any:
    """The value, a number or an array with one for each run.

    Parameters
    ----------
    values : by name.
    call : gives the value of a call of something besides `FUNCTIONS`.
    """

    def value(node: ast.expr) -> Any:
        name = dotted(node)
        if name is not None:
            return CONSTANTS[name] if name in CONSTANTS and name not in values else values[name]
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.UnaryOp):
            inner = value(node.operand)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](value(node.left), value(node.right))
        assert isinstance(node, ast.Call)
        function = FUNCTIONS.get(function_name(node))
        if function is not None:
            return function[1](*map(value, node.args))
        assert call is not None
        return call(node)

    with np.errstate(all="ignore"):
        try:
            return value(tree)
        except (ZeroDivisionError, OverflowError, ValueError):
            return float("nan")
