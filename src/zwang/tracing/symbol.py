"""Symbols: numbers that record how they are computed, for tracing functions.

A user's function is called with `Symbol`s in place of numbers. A `Symbol` wraps a scalar
CasADi expression and behaves like a float in arithmetic and in NumPy functions, alone or in object
arrays; whatever would need its *value* (a branch, ``float(x)``, ``math.sin(x)``) raises
`ValueNeededError`, which the tracer turns into a message that shows the offending line. (A bare
CasADi scalar gives NaN there, silently.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.keywords import known_keywords
from zwang.codegen.casadi_operators import minus, plus, times

if TYPE_CHECKING:
    import casadi

__all__ = [
    "JOINED",
    "WAY_OUT",
    "WAY_OUT_WITHOUT_OPAQUE",
    "Symbol",
    "SymbolArray",
    "ValueNeededError",
    "expression",
    "symbols_of",
    "where",
]


WAY_OUT = (
    "Use zw.where(condition, a, b) for a choice, np.clip for limits, "
    "np.sin and the like for functions, or wrap what "
    "cannot be traced in zw.opaque(f)."
)


#: The same where opaque functions cannot be called: laws of mechanisms, and events.
WAY_OUT_WITHOUT_OPAQUE = (
    "Use zw.where(condition, a, b) for a choice, np.clip for limits, "
    "np.sin and the like for functions, np.interp for "
    "a table, or compute it in a sampled zw.controller, which is called with numbers; zw.opaque is "
    "for forces and constraints of a zw.System."
)


#: What comes before it where conditions are joined by words, which need their values.
JOINED = (
    "Join conditions with & and |, negate them with ~, each in parentheses: (a < 1) & (b > 0); "
    "a < b < c is (a < b) & (b < c)."
)


#: What is found where & or | stands between numbers that were meant to be compared before.
BOUND = "a number joined by & or |, or negated by ~, which bind more closely than comparisons"


class ValueNeededError(Exception):
    """A traced function does what symbols cannot; the argument is what, `advice` an alternative."""

    def __init__(
        self, found: str, advice: str | None = WAY_OUT, *, of_condition: bool = False
    ) -> None:
        super().__init__(found)
        self.advice, self.of_condition = advice, of_condition


def _casadi() -> Any:
    import casadi

    return casadi


def expression(value: Any) -> casadi.SX:
    """The CasADi scalar behind a Symbol or a number."""
    if isinstance(value, Symbol):
        return value.sx
    ca = _casadi()
    if isinstance(value, ca.SX):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return expression(value.item())
    return ca.SX(_number(value))


def _number(value: Any) -> float:
    number = float(value)
    if number != number:  # noqa: PLR0124 - only NaN differs from itself
        raise ValueNeededError("a computation with nan", "Look where it comes from.")
    return number


def symbols_of(vector: casadi.SX) -> SymbolArray:
    """The entries of a CasADi column as an array of symbols, shape (n,)."""
    result = np.empty(vector.numel(), dtype=object)
    for i, entry in enumerate(_casadi().densify(vector).nonzeros()):
        result[i] = Symbol(entry)
    return result.view(SymbolArray)


class _SymbolDispatch:
    """What NumPy's functions are asked to do with symbols and arrays of them."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Any,
        kwargs: Any,
    ) -> Any:
        return _apply_function(func, args, kwargs)


class Symbol(_SymbolDispatch):
    """A scalar that stands for a number not known yet."""

    __slots__ = ("sx",)

    def __init__(self, sx: casadi.SX) -> None:
        self.sx = sx

    def __repr__(self) -> str:
        return f"Symbol({self.sx})"

    __hash__ = object.__hash__

    # --- arithmetic: with numbers and symbols here, with arrays in NumPy ------------------------

    def _binary(
        self, other: Any, operation: Callable[[Any, Any], Any], *, swap: bool = False
    ) -> Any:
        if isinstance(other, Symbol):
            right = other.sx
        elif isinstance(other, int | float | np.floating | np.integer):
            right = _casadi().SX(_number(other))
        elif isinstance(other, complex | np.complexfloating):
            raise ValueNeededError("arithmetic with a complex number", None)
        else:
            return NotImplemented
        return Symbol(operation(right, self.sx) if swap else operation(self.sx, right))

    def __add__(self, other: Any) -> Any:
        return self._binary(other, plus)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._binary(other, minus)

    def __rsub__(self, other: Any) -> Any:
        return self._binary(other, minus, swap=True)

    def __mul__(self, other: Any) -> Any:
        return self._binary(other, times)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: a / b, swap=True)

    def __pow__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: a**b)

    def __rpow__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: _casadi().power(a, b), swap=True)

    def __mod__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: a - b * _casadi().floor(a / b))

    def __floordiv__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: _casadi().floor(a / b))

    def __neg__(self) -> Symbol:
        return Symbol(-self.sx)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol(_casadi().fabs(self.sx))

    # --- comparisons give symbols that are 1 or 0 -----------------------------------------------

    def _compared(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """A comparison, but of a condition that `&` has bound to a number before it."""
        for side in (self, other):
            if isinstance(side, Symbol) and _binds_a_number(side.sx):
                raise ValueNeededError(BOUND, JOINED)
        return self._binary(other, operation)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a != b)

    def __and__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: _casadi().logic_and(a, b))

    def __or__(self, other: Any) -> Any:
        return self._binary(other, lambda a, b: _casadi().logic_or(a, b))

    def __rand__(self, other: Any) -> Any:
        if isinstance(other, bool | np.bool_):
            return self & int(other)
        raise ValueNeededError(BOUND, JOINED)

    def __ror__(self, other: Any) -> Any:
        if isinstance(other, bool | np.bool_):
            return self | int(other)
        raise ValueNeededError(BOUND, JOINED)

    def __xor__(self, other: Any) -> Any:
        if _is_condition(self) and _is_condition(other):
            return self != other
        raise ValueNeededError("^ between numbers", "A power is a**b; ^ is one condition alone.")

    __rxor__ = __xor__

    def __invert__(self) -> Symbol:
        return Symbol(_casadi().logic_not(self.sx))

    # --- what needs a value ---------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise ValueNeededError(
            "a decision by the value of a symbol (if, and, or, max, min, …)",
            of_condition=not self.sx.is_leaf() and self.sx.op() in _conditions(),
        )

    def __float__(self) -> float:
        raise ValueNeededError("a symbol converted to a plain number (float(), the math module, …)")

    __int__ = __index__ = __complex__ = __round__ = __float__

    def __len__(self) -> int:
        message = "a symbol is a scalar and has no length"
        raise TypeError(message)

    def conjugate(self) -> Symbol:
        """Itself, being real."""
        return self

    @property
    def real(self) -> Symbol:
        """Itself, being real."""
        return self

    @property
    def T(self) -> Symbol:
        """Itself, being a scalar."""
        return self


class SymbolArray(_SymbolDispatch, np.ndarray):
    """An object array of symbols on which NumPy functions that compare or branch work too."""


@cache
def _conditions() -> frozenset[int]:
    """Operations of CasADi that are true or false."""
    ca = _casadi()
    compared = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE}
    return frozenset({*compared, ca.OP_AND, ca.OP_OR, ca.OP_NOT})


def _is_condition(value: Any) -> bool:
    """Whether a value is true or false, and no number."""
    if isinstance(value, bool | np.bool_):
        return True
    return isinstance(value, Symbol) and not value.sx.is_leaf() and value.sx.op() in _conditions()


def _binds_a_number(e: casadi.SX) -> bool:
    """Whether an expression joins or negates something that is no condition."""
    ca = _casadi()
    if e.is_leaf() or e.op() not in (ca.OP_AND, ca.OP_OR, ca.OP_NOT):
        return False
    parts = [e.dep(i) for i in range(e.n_dep())]
    return any(
        not part.is_constant() and (part.is_leaf() or part.op() not in _conditions())
        for part in parts
    )


def _functions() -> dict[str, Callable[..., Any]]:
    """NumPy's name → the function on CasADi scalars."""
    ca = _casadi()
    log, pi = ca.log, float(np.pi)
    return {
        **{name: getattr(ca, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        **{f"arc{name}": getattr(ca, f"a{name}") for name in ("sin", "cos", "tan")},
        **{f"arc{name}": getattr(ca, f"a{name}") for name in ("sinh", "cosh", "tanh")},
        **{name: getattr(ca, name) for name in ("sqrt", "exp", "log", "log1p", "expm1")},
        **{name: getattr(ca, name) for name in ("floor", "ceil", "sign", "fabs", "hypot")},
        "absolute": ca.fabs,
        "arctan2": ca.atan2,
        "maximum": ca.fmax,
        "minimum": ca.fmin,
        "fmax": ca.fmax,
        "fmin": ca.fmin,
        "copysign": ca.copysign,
        "fmod": ca.fmod,
        "power": ca.power,
        "float_power": ca.power,
        "square": lambda a: times(a, a),
        "reciprocal": lambda a: 1.0 / a,
        "negative": lambda a: -a,
        "positive": lambda a: a,
        "log2": lambda a: log(a) / float(np.log(2.0)),
        "log10": lambda a: log(a) / float(np.log(10.0)),
        "exp2": lambda a: ca.exp(a * float(np.log(2.0))),
        "cbrt": lambda a: ca.sign(a) * ca.power(ca.fabs(a), 1.0 / 3.0),
        "deg2rad": lambda a: a * (pi / 180.0),
        "radians": lambda a: a * (pi / 180.0),
        "rad2deg": lambda a: a * (180.0 / pi),
        "degrees": lambda a: a * (180.0 / pi),
        "heaviside": lambda a, b: ca.if_else(a > 0, 1.0, ca.if_else(a < 0, 0.0, b)),
        "conjugate": lambda a: a,
        "add": plus,
        "subtract": minus,
        "multiply": times,
        "divide": lambda a, b: a / b,
        "floor_divide": lambda a, b: ca.floor(a / b),
        "remainder": lambda a, b: a - b * ca.floor(a / b),
        "less": lambda a, b: a < b,
        "less_equal": lambda a, b: a <= b,
        "greater": lambda a, b: a > b,
        "greater_equal": lambda a, b: a >= b,
        "equal": lambda a, b: a == b,
        "not_equal": lambda a, b: a != b,
        "logical_and": ca.logic_and,
        "logical_or": ca.logic_or,
        "logical_not": ca.logic_not,
        "logical_xor": lambda a, b: ca.logic_not(a) != ca.logic_not(b),
        "bitwise_and": ca.logic_and,
        "bitwise_or": ca.logic_or,
        "invert": ca.logic_not,
    }


def _give_methods() -> None:
    """NumPy applies a function to an object array by calling the method of that name."""

    def method(name: str) -> Callable[..., Symbol]:
        def call(self: Symbol, *others: Any) -> Symbol:
            return Symbol(_functions()[name](self.sx, *(expression(other) for other in others)))

        call.__name__ = name
        return call

    for name in (
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
        *("arcsinh", "arccosh", "arctanh", "sqrt", "exp", "log", "log1p", "expm1", "log2"),
        *("log10", "exp2", "cbrt", "floor", "ceil", "fabs", "deg2rad", "rad2deg"),
        *("arctan2", "hypot", "copysign", "fmod", "logical_and", "logical_or", "logical_not"),
    ):
        setattr(Symbol, name, method(name))


_give_methods()


def _plain(value: Any) -> Any:
    """Symbol arrays as plain object arrays, so that NumPy's own loops run."""
    return value.view(np.ndarray) if isinstance(value, SymbolArray) else value


def _symbolic(result: Any) -> Any:
    """Object arrays as symbol arrays, zero-dimensional ones as their scalar."""
    if isinstance(result, np.ndarray) and result.dtype == object:
        return result.view(SymbolArray) if result.ndim else result.item()
    return result


def _apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: Any) -> Any:
    name = ufunc.__name__
    if method == "__call__" and not kwargs:
        function = _functions().get(name)
        if function is not None:

            def scalar(*args: Any) -> Symbol:
                return Symbol(function(*(expression(a) for a in args)))

            arrays = [_plain(a) for a in inputs]
            if all(np.ndim(a) == 0 for a in arrays):
                return scalar(*arrays)
            return _symbolic(np.frompyfunc(scalar, len(inputs), 1)(*(_boxed(a) for a in arrays)))
    if name in ("add", "multiply", "matmul", "vecdot", "matvec", "vecmat") or (
        method == "reduce" and name in ("maximum", "minimum")
    ):
        # Sums and products only add and multiply the entries; NumPy's object loops do that.
        arrays = [_boxed(_plain(a)) for a in inputs]
        if name in ("maximum", "minimum"):
            kwargs.pop("initial", None)
            ufunc = np.frompyfunc(
                lambda a, b: _functions()[name](expression(a), expression(b)), 2, 1
            )
            return _symbolic(_wrapped(getattr(ufunc, method)(*arrays, **kwargs)))
        return _symbolic(getattr(ufunc, method)(*arrays, **kwargs))
    message = f"numpy.{name} on symbols (method {method})"
    raise ValueNeededError(f"a call of {message}, which has no symbolic form")


def _wrapped(result: Any) -> Any:
    if isinstance(result, np.ndarray):
        return np.frompyfunc(lambda a: a if isinstance(a, Symbol) else Symbol(a), 1, 1)(result)
    return result if isinstance(result, Symbol) else Symbol(result)


def _boxed(value: Any) -> np.ndarray:
    """An object array, with a Symbol boxed rather than asked for its own loop."""
    if isinstance(value, Symbol):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return np.asarray(value, dtype=object)


def _apply_function(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if func is np.where and len(args) == 3:
        return where(*args)
    if func is np.clip:
        low = args[1] if len(args) > 1 else kwargs.get("min", kwargs.get("a_min"))
        high = args[2] if len(args) > 2 else kwargs.get("max", kwargs.get("a_max"))
        result = args[0]
        result = result if low is None else np.maximum(result, low)
        return result if high is None else np.minimum(result, high)
    if func in (np.max, np.min, np.amax, np.amin):
        largest = func in (np.max, np.amax)
        array = _boxed(_plain(args[0])).view(SymbolArray)
        return (np.maximum if largest else np.minimum).reduce(array, *args[1:], **kwargs)
    if func is np.linalg.norm and len(args) == 1 and not kwargs:
        entries = np.ravel(_boxed(_plain(args[0])))
        return np.sqrt(sum(entry * entry for entry in entries))
    if func is np.interp:
        from zwang.tracing.tables import interpolated

        return interpolated(*args, **kwargs)
    if func in (np.linalg.inv, np.linalg.det, np.linalg.solve):
        return _linear_algebra(func.__name__, args)
    plain = [_deep_plain(a) for a in args]
    return _symbolic(func(*plain, **{k: _deep_plain(v) for k, v in kwargs.items()}))


def _deep_plain(value: Any) -> Any:
    if isinstance(value, Symbol):
        return _boxed(value)
    if isinstance(value, list | tuple):
        return type(value)(_deep_plain(v) for v in value)
    return _plain(value)


def _linear_algebra(name: str, args: Any) -> Any:
    ca = _casadi()
    matrices = []
    for a in args:
        array = _boxed(_plain(a))
        sx = ca.SX(array.shape[0], 1 if array.ndim == 1 else array.shape[1])
        for index, entry in np.ndenumerate(array):
            sx[index if len(index) == 2 else index[0]] = expression(entry)
        matrices.append(sx)
    result = {"inv": ca.inv, "det": ca.det, "solve": ca.solve}[name](*matrices)
    if name == "det":
        return Symbol(result)
    shape = np.shape(args[-1])
    out = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        out[index] = Symbol(result[index if len(index) == 2 else index[0]])
    return out.view(SymbolArray)


@known_keywords()
def where(condition: Any, yes: Any, no: Any) -> Any:
    """Choose between two values by a condition, elementwise, for symbols as for numbers.

    Both sides are computed; the derivative is that of the chosen side. Use it in place of ``if``
    in functions given to `zwang.System`.

    Examples
    --------
    >>> import zwang as zw
    >>> float(zw.where(3.0 > 2.0, 1.0, 0.0))
    1.0
    """
    parts = (condition, yes, no)
    if not any(isinstance(part, Symbol) or _holds_symbols(part) for part in parts):
        return np.where(condition, yes, no)
    ca = _casadi()

    def scalar(c: Any, a: Any, b: Any) -> Symbol:
        return Symbol(ca.if_else(expression(c), expression(a), expression(b)))

    boxes = [_boxed(_plain(part)) for part in parts]
    if all(box.ndim == 0 for box in boxes):
        return scalar(*(box.item() for box in boxes))
    return _symbolic(np.frompyfunc(scalar, 3, 1)(*boxes))


def _holds_symbols(value: Any) -> bool:
    array = (
        np.asarray(value, dtype=object) if isinstance(value, list | tuple | np.ndarray) else None
    )
    return array is not None and any(isinstance(entry, Symbol) for entry in array.flat)
