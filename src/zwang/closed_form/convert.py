"""CasADi expressions as SymPy expressions, through the instruction list of `zwang.codegen`.

Every operation of a kernel has its SymPy form here, or is refused by name. Truth values, which are
0 and 1 in kernels, become SymPy's relations, and numbers again where they are calculated with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from zwang.codegen.expression import read
from zwang.errors import InputError

if TYPE_CHECKING:
    import casadi
    import sympy as sp

__all__ = ["REFUSED", "number", "short_ratio", "to_sympy"]

#: Operations without a readable closed form.
REFUSED = ("remainder", "erfinv")

#: Numbers with no more digits than this are taken to be typed, not computed.
TYPED_DIGITS = 12
#: Largest product of the two numbers of a ratio by which a float is replaced, and share of it that
#: a sum or product of a few floats is off.
RATIO, OFF = 10**6, 1e-15
#: Units in the last place by which a function of a rounded argument is off.
ROUNDING = 2


def to_sympy(
    outputs: Mapping[str, casadi.SX], inputs: Sequence[tuple[casadi.SX, Sequence[Any]]]
) -> dict[str, sp.MutableDenseMatrix]:
    """Matrices of SymPy expressions.

    Parameters
    ----------
    outputs : name → expression, any shape.
    inputs : columns of CasADi symbols with the SymPy expressions to put in their place.
    """
    import casadi as ca
    import sympy as sp

    function = ca.Function(
        "closed_form",
        [symbols for symbols, _ in inputs],
        [ca.densify(e) for e in outputs.values()],
        [f"i{k}" for k in range(len(inputs))],
        list(outputs),
    )
    refused = {getattr(ca, f"OP_{name.upper()}"): name for name in REFUSED}
    for k in range(function.n_instructions()):
        if function.instruction_id(k) in refused:
            _refuse(refused[function.instruction_id(k)])
    expression = read(function)
    table = _operations()
    values: list[Any] = []
    for operation, arguments in expression.instructions:
        if operation == "input":
            port, entry = arguments
            values.append(sp.sympify(inputs[port][1][entry]))
        elif operation == "const":
            values.append(number(expression.constants[arguments[0]]))
        elif operation in table:
            values.append(table[operation](*(values[k] for k in arguments)))
        else:
            _refuse(operation)
    results = {name: sp.zeros(*e.shape) for name, e in outputs.items()}
    matrices = list(results.values())
    for port, entry, value in expression.stores:
        rows = matrices[port].rows
        matrices[port][entry % rows, entry // rows] = _as_number(values[value])
    return results


def _refuse(operation: str) -> None:
    raise InputError(
        "closed form",
        but=f"cannot be written, as the operation '{operation}' has no symbolic form",
        advice="The numerical functions of the system are not affected.",
    )


def number(value: float) -> Any:
    """An exact number for a float: the decimal, ratio, root or multiple of π that was meant.

    A ratio or root is taken only where it has small numbers in it and gives the same float up to
    rounding: sin(np.radians(30)) is a half.
    """
    import sympy as sp

    if not math.isfinite(value):
        raise InputError("closed form", must="have finite constants", but=f"contains {value}")
    decimal = repr(value)
    if len(decimal.partition("e")[0].strip("-0.").replace(".", "")) <= TYPED_DIGITS:
        return sp.Rational(decimal)
    for unit, scale in ((sp.S.One, 1.0), (sp.pi, math.pi)):
        ratio = Fraction(value / scale).limit_denominator(1000)
        if _same(float(ratio) * scale, value):
            return sp.Rational(ratio.numerator, ratio.denominator) * unit
    short = short_ratio(value)
    if short is not None and _same(float(short), value):
        return sp.Rational(short.numerator, short.denominator)
    square = Fraction(value * value).limit_denominator(100)
    if _same(math.copysign(math.sqrt(square), value), value):
        return (1 if value > 0 else -1) * sp.sqrt(sp.Rational(square.numerator, square.denominator))
    return sp.Rational(decimal)


def short_ratio(value: float, off: float = OFF) -> Fraction | None:
    """The ratio p/q with a small product p q that a number is but for rounding, if there is one.

    So few ratios are short that none is met by chance: 1/30000 is one, and 12345/67890 is not.
    """
    if not math.isfinite(value) or not 1.0 / RATIO <= abs(value) <= RATIO:
        return None
    ratio = Fraction(value).limit_denominator(math.isqrt(int(RATIO / abs(value))) or 1)
    return ratio if abs(float(ratio) - value) <= off * abs(value) else None


def _same(x: float, y: float) -> bool:
    return abs(x - y) <= ROUNDING * math.ulp(y)


def _as_number(x: Any) -> Any:
    import sympy as sp

    if x in (sp.true, sp.false):
        return sp.Integer(bool(x))
    return x if isinstance(x, sp.Expr) else sp.Piecewise((1, x), (0, True))


def _as_truth(x: Any) -> Any:
    import sympy as sp

    return sp.Ne(x, 0) if isinstance(x, sp.Expr) else x


def _chosen(condition: Any, value: Any) -> Any:
    """Value where the condition holds, else 0."""
    import sympy as sp

    return sp.Piecewise((_as_number(value), _as_truth(condition)), (0, True))


def _truncated_remainder(x: Any, y: Any) -> Any:
    """C's fmod: the remainder has the sign of x."""
    import sympy as sp

    return x - y * sp.sign(x / y) * sp.floor(sp.Abs(x / y))


def _operations() -> dict[str, Callable[..., Any]]:
    """Name of a kernel's operation → the same on SymPy expressions."""
    import sympy as sp

    def of_numbers(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *xs: f(*(_as_number(x) for x in xs))

    numeric: dict[str, Callable[..., Any]] = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "pow": lambda x, y: x**y,
        "constpow": lambda x, y: x**y,
        "fmod": _truncated_remainder,
        "neg": lambda x: -x,
        "sq": lambda x: x**2,
        "twice": lambda x: 2 * x,
        "inv": lambda x: 1 / x,
        "sqrt": sp.sqrt,
        "exp": sp.exp,
        "log": sp.log,
        "expm1": lambda x: sp.exp(x) - 1,
        "log1p": lambda x: sp.log(1 + x),
        "erf": sp.erf,
        **{f: getattr(sp, f) for f in ("sin", "cos", "tan", "asin", "acos", "atan")},
        **{f: getattr(sp, f) for f in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
        "atan2": sp.atan2,
        "hypot": lambda x, y: sp.sqrt(x**2 + y**2),
        "floor": sp.floor,
        "ceil": sp.ceiling,
        "fabs": sp.Abs,
        "sign": sp.sign,
        "copysign": lambda x, y: sp.Abs(x) * sp.Piecewise((-1, y < 0), (1, True)),
        "fmin": sp.Min,
        "fmax": sp.Max,
        "lt": sp.Lt,
        "le": sp.Le,
        "eq": sp.Eq,
        "ne": sp.Ne,
    }
    return {
        **{name: of_numbers(f) for name, f in numeric.items()},
        "and": lambda x, y: sp.And(_as_truth(x), _as_truth(y)),
        "or": lambda x, y: sp.Or(_as_truth(x), _as_truth(y)),
        "not": lambda x: sp.Not(_as_truth(x)),
        "if_else_zero": _chosen,
    }
