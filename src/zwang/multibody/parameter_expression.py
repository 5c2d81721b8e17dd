"""Dimensions of a mechanism as expressions of parameters: lengths, points, axes, inertias.

``L = m.parameter("L", 0.3)`` stands for a number that is not fixed. Arithmetic and functions of
NumPy, points and lists with it, and inertias of it are expressions, which a builder evaluates with
the values of its parameters; with other values the same calls build the same mechanism of other
dimensions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from zwang.errors import InputError, UnknownNameError, ZwangError

__all__ = [
    "Evaluation",
    "InertiaExpression",
    "ParameterExpression",
    "ParameterValue",
    "deferred",
    "evaluated",
    "expressions_in",
    "of_parameters",
    "parameters_in",
    "placed_inertia",
    "settled",
]

P = ParamSpec("P")
R = TypeVar("R")


#: A number for which functions of dimensions have values, to see of which shape these are.
TRIAL = 0.6180339887


class ParameterExpression:
    """A function applied to numbers and to further expressions, evaluated when values are known.

    Attributes
    ----------
    function : what is computed.
    arguments, keywords : of what; each may contain expressions.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...] = (),
        keywords: Mapping[str, Any] | None = None,
    ) -> None:
        self.function, self.arguments = function, settled(arguments)
        self.keywords = settled(dict(keywords or {}))
        self._digest: bytes | None = None

    def digest(self, make: Callable[[ParameterExpression], bytes]) -> bytes:
        """What one and the same function makes of it, made once: it may be part of many."""
        if self._digest is None:
            self._digest = make(self)
        return self._digest

    def value(self, values: Mapping[str, Any]) -> Any:
        """The value for values of the parameters by name."""
        given = [evaluated(x, values) for x in self.arguments]
        return self.function(*given, **{k: evaluated(x, values) for k, x in self.keywords.items()})

    def names(self) -> Iterator[str]:
        """Names of the parameters it depends on."""
        yield from self._names

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Found once: an expression may be part of many."""
        return tuple(dict.fromkeys(parameters_in((*self.arguments, *self.keywords.values()))))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.arguments, self.keywords)

    def __repr__(self) -> str:
        return f"<expression of {', '.join(dict.fromkeys(self.names()))}>"

    @cached_property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of its value, by a trial; None where that shows none."""
        try:
            with np.errstate(all="ignore"):
                return np.shape(self.function(*map(_trial, self.arguments), **self.keywords))
        except (ArithmeticError, LookupError, TypeError, ValueError, ZwangError):
            return None

    # --- NumPy ------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if method != "__call__" or keywords:
            return NotImplemented
        return _applied(ufunc, inputs)

    def __getitem__(self, place: Any) -> ParameterExpression:
        return ParameterExpression(operator.getitem, (self, place))

    def __iter__(self) -> Iterator[ParameterExpression]:
        shape = self.shape
        if shape is None:
            self._unknown("be taken apart by index, as in r[0]")
        if not shape:
            self._unknown("not be taken apart, as it is one number")
        return (self[i] for i in range(shape[0]))

    # --- what a value is needed for ---------------------------------------------------------------

    def __float__(self) -> NoReturn:
        self._unknown(
            "be used in arguments of the mechanism, with NumPy's functions (np.sin)",
            "Parameters of geometry belong to the mechanism whose m.parameter gave them.",
        )

    def _decide(self, *_: Any) -> NoReturn:
        self._unknown("not decide about anything, as its value may change")

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _decide

    def _unknown(self, must: str, advice: str | None = None) -> NoReturn:
        names = " and ".join(map(repr, dict.fromkeys(self.names())))
        raise InputError(f"expression of {names}", must=must, advice=advice)


def settled(value: Any) -> Any:
    """A value that later changes of the caller's arrays, lists and tables do not reach."""
    if isinstance(value, list | tuple):
        return type(value)(settled(entry) for entry in value)
    if type(value) is dict:
        return {key: settled(entry) for key, entry in value.items()}
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def _trial(value: Any) -> Any:
    """A value of the same shape, for the shape of what is computed from it."""
    shape = value.shape if isinstance(value, ParameterExpression) else None
    if shape is None:
        if _any(value):
            raise TypeError(value)
        return value
    return np.full(shape, TRIAL) if shape else TRIAL


def _applied(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """An expression; entry by entry, an array of them, where an argument is an array."""
    arrays = any(isinstance(x, np.ndarray) and x.ndim for x in arguments)
    own = [x for x in arguments if isinstance(x, ParameterExpression)]
    if not arrays or any(x.shape is None for x in own):
        return ParameterExpression(function, arguments)
    entries = [_entries(x) for x in arguments]
    if function in (operator.matmul, np.matmul):
        return function(*entries)  # of objects: sums of products of entries
    every = np.broadcast(*entries)
    result = np.empty(every.size, dtype=object)
    result[:] = [ParameterExpression(function, each) for each in every]
    return result.reshape(every.shape)


def _entries(value: Any) -> np.ndarray:
    """A number, an array or an expression as an array of numbers and expressions."""
    if not isinstance(value, ParameterExpression):
        return np.asarray(value, dtype=object)
    shape = value.shape
    assert shape is not None
    result = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        entry = value
        for k in place:
            entry = entry[k]
        result[place] = entry
    return result


def _operation(function: Callable[..., Any], *, reflected: bool = False) -> Callable[..., Any]:
    def apply(self: ParameterExpression, *others: Any) -> Any:
        return _applied(function, (*others, self) if reflected else (self, *others))

    return apply


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul", "neg", "pos", "abs"):
    _function = getattr(operator, _name)
    setattr(ParameterExpression, f"__{_name}__", _operation(_function))
    if _name not in ("neg", "pos", "abs"):
        setattr(ParameterExpression, f"__r{_name}__", _operation(_function, reflected=True))

#: What NumPy asks of the entries of an array of expressions: np.sin([L, 0]).
_NAMES = "sin cos tan arcsin arccos arctan arctan2 hypot sqrt exp log"
for _name in _NAMES.split():
    setattr(ParameterExpression, _name, _operation(getattr(np, _name)))


class ParameterValue(ParameterExpression):
    """A parameter itself.

    Attributes
    ----------
    name : of the parameter.
    shape : of its value.
    """

    def __init__(self, name: str, shape: tuple[int, ...] = ()) -> None:
        super().__init__(operator.pos)
        self.name, self.shape = name, shape

    def value(self, values: Mapping[str, Any]) -> Any:
        """Its value."""
        if self.name not in values:
            raise UnknownNameError("parameter", self.name, values)
        value = values[self.name]
        return value if np.ndim(value) else float(value)

    def names(self) -> Iterator[str]:
        """Its name."""
        yield self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return ParameterValue, (self.name, self.shape)


class InertiaExpression(ParameterExpression):
    """A `zwang.inertia` of parameters: it moves and adds up like one of numbers."""

    def at(self, position: Any, orientation: Any = None) -> InertiaExpression:
        """The same part placed elsewhere in the body."""
        return InertiaExpression(placed_inertia, (self, position, orientation))

    def __add__(self, other: Any) -> InertiaExpression:
        return InertiaExpression(operator.add, (self, other))

    def __radd__(self, other: Any) -> InertiaExpression:
        return InertiaExpression(operator.add, (other, self))


class Evaluation(Mapping[str, Any]):
    """Values of parameters, with those of all expressions that have been evaluated with them.

    An expression may be part of many, as in a product of rotations: each is evaluated once.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._found: dict[int, tuple[ParameterExpression, Any]] = {}  # kept, so that ids stay

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def of(self, expression: ParameterExpression) -> Any:
        """The value of an expression."""
        known = self._found.get(id(expression))
        if known is None:
            known = self._found[id(expression)] = expression, expression.value(self)
        return known[1]


def placed_inertia(inertia: Any, position: Any, orientation: Any) -> Any:
    """`Inertia.at` as a function."""
    return inertia.at(position, orientation)


def of_parameters(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that makes an inertia return an expression where it is given one."""

    @wraps(function)
    def calling(*args: P.args, **kwargs: P.kwargs) -> R:
        if _any(args) or _any(tuple(kwargs.values())):
            return InertiaExpression(calling, args, kwargs)  # type: ignore[return-value] - a value to come
        return function(*args, **kwargs)

    return calling


def deferred(function: Callable[..., Any], *arguments: Any) -> Any:
    """A function's value, or an expression where an argument is one."""
    if _any(arguments):
        return ParameterExpression(function, arguments)
    return function(*arguments)


def _any(value: Any) -> bool:
    return next(parameters_in(value), None) is not None


def parameters_in(value: Any) -> Iterator[str]:
    """Names of the parameters that a value, or what it contains, depends on."""
    for expression in expressions_in(value):
        yield from expression.names()


def expressions_in(value: Any) -> Iterator[ParameterExpression]:
    """Expressions among the entries of lists, tables and arrays."""
    if isinstance(value, ParameterExpression):
        yield value
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from expressions_in(entry)
    elif isinstance(value, dict):
        yield from expressions_in(tuple(value.values()))
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from expressions_in(tuple(value.ravel()))


def evaluated(value: Any, values: Mapping[str, Any]) -> Any:
    """A value with numbers in place of the expressions in it."""
    if not isinstance(values, Evaluation):
        values = Evaluation(values)
    if isinstance(value, ParameterExpression):
        return values.of(value)
    if type(value) in (list, tuple):
        return type(value)(evaluated(entry, values) for entry in value)
    if type(value) is dict:
        return {key: evaluated(entry, values) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        flat = [evaluated(entry, values) for entry in value.ravel()]
        return np.array(flat, dtype=float).reshape(value.shape)
    return value
