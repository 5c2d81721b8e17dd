"""Expressions of parameters as they are written in a model file."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.model_files.geometry import FileExpression
from zwang.model_files.inertia_tables import made_of_table, orientation_of
from zwang.multibody import inertia as shapes
from zwang.multibody.handles import MarkerExpression
from zwang.multibody.parameter_expression import (
    InertiaExpression,
    ParameterExpression,
    ParameterValue,
    placed_inertia,
)

__all__ = ["inertia_entries", "written"]

#: Operators and functions of expressions, with their places filled by the arguments.
_FORMS = {
    **{getattr(operator, name): form for name, form in (
        ("add", "({} + {})"), ("sub", "({} - {})"), ("mul", "{} * {}"), ("truediv", "{} / {}"),
        ("pow", "{} ^ {}"), ("neg", "(-{})"), ("pos", "{}"), ("abs", "abs({})"),
    )},
    **{getattr(np, name): form for name, form in (
        ("add", "({} + {})"), ("subtract", "({} - {})"), ("multiply", "{} * {}"),
        ("divide", "{} / {}"), ("power", "{} ^ {}"), ("negative", "(-{})"),
    )},
    **{getattr(np, name): f"{name.replace('arc', 'a')}({{}})" for name in (
        "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sqrt", "exp", "log"
    )},
    np.arctan2: "atan2({}, {})", np.hypot: "hypot({}, {})",
}  # fmt: skip
#: Arguments of operators that bind more strongly are put in parentheses unless they are atoms.
_TIGHT = (operator.truediv, operator.pow, operator.mul, np.multiply, np.divide, np.power)


def written(value: Any) -> Any:
    """A value with expressions of parameters as text, and numbers as floats."""
    if isinstance(value, MarkerExpression):
        at, axis, reference = value.arguments
        more = {"axis": axis, "reference": reference}
        named = {
            k: v if isinstance(v, str) else written(v) for k, v in more.items() if v is not None
        }
        return {"body": value.body.name, "at": written(at), **named}
    if isinstance(value, ParameterExpression):
        if value.function is orientation_of:
            return _table(value.arguments[0])
        return _text(value)
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return [written(entry) for entry in value]
    return np.asarray(value, dtype=float).tolist()


def _table(value: Any) -> Any:
    """A table of a file as it was."""
    if isinstance(value, Mapping):
        return {key: _table(entry) for key, entry in value.items()}
    if isinstance(value, str | bool):
        return value
    if isinstance(value, list | tuple):
        return [_table(entry) for entry in value]
    return written(value)


def _text(e: Any) -> str:
    if isinstance(e, FileExpression):
        return str(e.source)
    if isinstance(e, ParameterValue):
        return e.name
    if not isinstance(e, ParameterExpression):
        return repr(float(e))
    if e.function is operator.getitem and isinstance(e.arguments[1], int):
        return f"{_text(e.arguments[0])}[{e.arguments[1]}]"
    form = _FORMS.get(e.function)
    if form is None or e.keywords:
        raise InputError(
            repr(e),
            must="be made of numbers, parameters, + - * / ** and functions of model files to be "
            "written to a file",
            but=f"contains {getattr(e.function, '__name__', e.function)!r}",
        )
    texts = [_text(x) for x in e.arguments]
    if e.function in _TIGHT:
        texts = [t if _is_atom(t) else f"({t})" for t in texts]
    return form.format(*texts)


def _is_atom(text: str) -> bool:
    """Whether a text is a name, a number, or something in its own parentheses."""
    if text.startswith("(") and text.endswith(")"):
        return ")" not in text[:-1]
    return text.replace("_", "").replace(".", "").isalnum()


def inertia_entries(e: ParameterExpression) -> dict[str, Any]:
    """Mass and inertia of parameters as keys of a body."""
    if e.function is made_of_table:
        return _table(e.arguments[1])
    parts = _parts(e)
    if len(parts) == 1:
        mass = parts[0].pop("mass")
        return {"mass": mass, "shape": parts[0]}
    return {"shape": parts}


def _parts(e: Any) -> list[dict[str, Any]]:
    """Shapes that an inertia of parameters consists of."""
    if isinstance(e, InertiaExpression):
        if e.function is operator.add:
            return [part for x in e.arguments for part in _parts(x)]
        if e.function is shapes.composite:
            return [part for x in e.arguments for part in _parts(x)]
        if e.function is placed_inertia:
            return _placed(*e.arguments)
        if e.function is shapes.Inertia.at:
            return _placed(*(*e.arguments, None)[:3])
        given = inspect.signature(e.function).bind(*e.arguments, **e.keywords).arguments
        kind = getattr(e.function, "__name__", "")
        if kind in ("rod", "box", "cylinder", "tube", "sphere", "plate", "point"):
            mass = written(given.pop("mass"))
            own = {k: v if isinstance(v, str) else written(v) for k, v in given.items()}
            return [{"type": kind, "mass": mass, **own}]
    raise InputError(
        repr(e),
        must="be made of shapes to be written to a file",
        but="an inertia among them is none",
    )


def _placed(inertia: Any, position: Any, orientation: Any) -> list[dict[str, Any]]:
    parts = _parts(inertia)
    if len(parts) > 1 or {"position", "orientation"} & parts[0].keys():
        raise InputError(
            repr(inertia), must="be one shape that is placed once to be written to a file"
        )
    turned = {} if orientation is None else {"orientation": written(orientation)}
    return [{**parts[0], "position": written(position), **turned}]
