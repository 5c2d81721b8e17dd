"""What the outputs of a plan are measured in, and by what they are converted.

2 * peak(pin.force.magnitude)        N, as its channel: numbers in products have no unit
end(rod.position.z) - 0.1            m: numbers in sums are in SI units
motor.torque * motor.speed           of a known dimension, N m/s
end(height)                          not known, where the model gives `height` no unit

A unit that is asked for is converted to where this is known; else the plan says it, ``value_in``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeGuard

from zwang.errors import InputError
from zwang.model_files.arithmetic import ExpressionError
from zwang.model_files.measured_values import is_angular
from zwang.model_files.units import (
    PLAIN,
    TURNS,
    Dimension,
    dimension_of_unit,
    in_units,
    quantity,
    size_of_product,
    size_of_unit,
    times,
)
from zwang.studies.expressions import CONSTANTS, FUNCTIONS, dotted, function_name
from zwang.studies.outputs import OutputRequest
from zwang.studies.reductions import REDUCTIONS

__all__ = ["output_factor", "own_unit"]

#: Name of a channel, a parameter or what varies → its unit, empty where it has none.
UnitOf = Callable[[str], str]

_OF_ANGLES = {"sin", "cos", "tan", "asin", "acos", "atan", "exp", "log"}
#: Unit of a channel, the unit that is made of it by hand, and by what.
BY_HAND = (
    ("rad", "deg", 180.0 / math.pi),
    ("rad/s", "deg/s", 180.0 / math.pi),
    ("rad/s", "rpm", 30.0 / math.pi),
)
#: Relative difference up to which two factors are the same.
SAME = 1e-9


class MeasuredOutput(NamedTuple):
    """What an expression is measured in.

    Attributes
    ----------
    dimension : powers of metre, kilogram and second.
    scale : what one of it is in SI units.
    unit : as it is written; empty of products.
    number : whether it is a plain number, which a sum takes for one in SI units.
    pi : whether pi multiplies or divides it: an angle over 2 pi counts turns.
    """

    dimension: Dimension
    scale: float = 1.0
    unit: str = ""
    number: bool = False
    pi: bool = False


_NUMBER = MeasuredOutput(PLAIN, number=True)


class _UnknownUnitError(Exception):
    """The unit of an expression is not known, for a reason that is a clause."""


class _MixedTermsError(_UnknownUnitError):
    """Terms of a sum are of several kinds."""


class _MixedSizesError(_MixedTermsError):
    """Terms of a sum are of one kind and several sizes."""


def own_unit(request: OutputRequest, unit_of: UnitOf, unit_in_products: UnitOf) -> str:
    """The unit of an output where none is asked for.

    It is that of one channel, or of a reduction of one, or follows from all names of an expression
    without numbers, which may have units, and without pi: an angle over 2 pi counts turns. An angle
    or an angular rate alone, times what makes degrees or rpm of it, is in these.

    Parameters
    ----------
    unit_of : of channels.
    unit_in_products : of channels, parameters and what varies.
    """
    tree, name = request.tree, dotted(request.tree)
    if name is not None:
        return unit_of(name)
    if isinstance(tree, ast.Call) and function_name(tree) in REDUCTIONS:
        reduction = REDUCTIONS[function_name(tree)]
        if reduction.of == "series" and reduction.unit == "":  # an integral
            return _times_a_second(unit_of(dotted(tree.args[0]) or ""))
        own = reduction.unit
        return unit_of(dotted(tree.args[0]) or "") if own is None else own
    if (converted := _converted_angle(tree, unit_of)) is not None:
        return converted
    if _has_numbers(tree) or any(dotted(node) in CONSTANTS for node in _expressions(tree)):
        return ""
    try:
        found = _measured(tree, unit_in_products)
    except _UnknownUnitError:
        return ""
    in_si = found.scale == 1.0 and any(found.dimension)
    return found.unit or (in_units(found.dimension) if in_si else "")


def _converted_angle(tree: ast.expr, unit_of: UnitOf) -> str | None:
    """The unit of an angle or a rate that is multiplied by hand, None of anything else."""
    factor, measured = _factor_of(tree)
    if measured is None or factor == 1.0:
        return None
    of_reduction = isinstance(measured, ast.Call) and function_name(measured) in REDUCTIONS
    if not of_reduction or REDUCTIONS[function_name(measured)].unit is not None:
        return None
    unit = unit_of(dotted(measured.args[0]) or "")
    for known, made, size in BY_HAND:
        if unit == known and math.isclose(factor, size, rel_tol=SAME):
            return made
    return None


def _factor_of(tree: ast.expr) -> tuple[float, ast.Call | None]:
    """Numbers in a product, and the one call that they multiply; None where there is more in it."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float):
        return float(tree.value), None
    if dotted(tree) in CONSTANTS:
        return CONSTANTS[dotted(tree) or ""], None
    if isinstance(tree, ast.Call):
        return 1.0, tree
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.Div):
        (a, left), (b, right) = _factor_of(tree.left), _factor_of(tree.right)
        if isinstance(tree.op, ast.Mult) and (left is None or right is None):
            return a * b, left or right
        if isinstance(tree.op, ast.Div) and right is None and b != 0.0:
            return a / b, left
    return math.nan, None


def _has_numbers(tree: ast.expr) -> bool:
    """Whether a number, which may have a unit, is in an expression besides whole exponents."""
    own = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    powers = [node.right for node in ast.walk(tree) if _is_power(node)]
    return any(number not in powers for number in own)


def _expressions(tree: ast.expr) -> Iterator[ast.expr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.expr))


def _is_power(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


def output_factor(request: OutputRequest, unit_of: UnitOf) -> float:
    """By what to multiply the values of an output for the unit that is asked for.

    Raises
    ------
    InputError
        The unit is of another kind, or it is not known what the output is measured in.
    """
    wanted, said = request.unit, request.value_in
    if wanted is None:
        _require_one_kind(request, unit_of)
        return 1.0
    if said is not None:
        _require_one_kind(request, unit_of)
        _require_said(request, said, unit_of)
        return 1.0 if wanted == said else _converted(said, wanted)
    try:
        found = _measured(request.tree, unit_of)
    except _UnknownUnitError as reason:
        by_hand = isinstance(reason, _MixedSizesError) and _has_numbers(request.tree)
        raise _unknown(request, *reason.args[: 1 if by_hand else 2]) from None
    if found.unit:
        factor = _converted(found.unit, wanted)
    else:
        factor = _by_dimension(request, found)
    own = _number_in(request.tree)
    if factor != 1.0 and abs(own / factor - 1.0) < SAME:
        unit = found.unit or in_units(found.dimension)
        raise InputError(
            f"output {request.name!r}",
            but=f"is multiplied by {own:.6g}, and its unit {wanted!r} converts {unit} by the same "
            "once more",
            advice=f"Leave the number out of the expression, or write value_in = {wanted!r} in "
            "place of unit where the expression is in that unit already.",
        )
    if factor != 1.0 and found.pi and is_angular(found.unit):
        raise _unknown(
            request,
            "it has pi in a product, and may count turns or radians",
            "Leave out what converts, as the unit does, or say with value_in what it is in.",
        )
    return factor


def _require_one_kind(request: OutputRequest, unit_of: UnitOf) -> None:
    """Refuse sums of several kinds or sizes, unless a number in them may have a unit."""
    if _has_numbers(request.tree) or dotted(request.tree) is not None:
        return
    try:
        _measured(request.tree, unit_of)
    except _MixedTermsError as reason:
        raise InputError(
            f"output {request.name!r}",
            must="have terms in one unit",
            but=reason.args[0],
            advice=reason.args[1],
        ) from None
    except _UnknownUnitError:
        return


def _require_said(request: OutputRequest, said: str, unit_of: UnitOf) -> None:
    """Refuse a unit that an expression is certainly not in."""
    try:
        found = _measured(request.tree, unit_of)
    except _UnknownUnitError:
        return
    own = _of_unit(said)
    if own is None or found.number:
        return
    same = abs(own.scale / found.scale - 1.0) < SAME or not math.isfinite(found.scale)
    if own.dimension != found.dimension or (_number_in(request.tree) == 1.0 and not same):
        wanted = request.unit if own.dimension == found.dimension else None
        raise InputError(
            f"value_in {said!r}",
            must=f"be the unit that {request.text!r} is in, {_told(found)}",
            but="is another one",
            advice=None if wanted is None else f"Write unit = {wanted!r} alone, which converts.",
        )


def _converted(own: str, wanted: str) -> float:
    plain = own.replace("²", "^2").replace(" ", "*")
    try:
        return 1.0 / quantity(f"1 {wanted}", plain)
    except (ExpressionError, ZeroDivisionError):  # or numbers do not reach its size
        raise InputError(f"unit {wanted!r}", expected=f"one for a quantity in {own}") from None


def _by_dimension(request: OutputRequest, found: MeasuredOutput) -> float:
    """The factor for an expression whose dimension is known, and not its unit as text."""
    wanted = request.unit
    assert wanted is not None
    if TURNS.search(wanted):
        raise _unknown(request, "an expression may count turns or radians")
    dimension = dimension_of_unit(wanted)
    if dimension != found.dimension:
        raise InputError(
            f"unit {wanted!r}",
            expected=f"one for a quantity in {in_units(found.dimension)}, as {request.text!r} is",
        )
    if not math.isfinite(found.scale):
        raise _unknown(request, "it has a power of a unit that is too large for a number")
    try:
        return found.scale / size_of_unit(wanted)
    except ExpressionError:
        raise _unknown(request, f"the size of {wanted!r} is not known") from None


def _unknown(request: OutputRequest, reason: str, advice: str | None = None) -> InputError:
    """The refusal of a unit where it is not known what to convert from."""
    wanted = request.unit or ""
    dimension = dimension_of_unit(wanted)
    if dimension is None or "hz" in wanted.lower():
        own = wanted
    else:
        own = in_units(dimension) if any(dimension) else "rad"
        own = "rad/s" if TURNS.search(wanted) else own
    unit = "" if own == wanted else f', unit = "{wanted}"'
    line = f'{{ name = "{request.name}", value = "{request.text}", value_in = "{own}"{unit} }}'
    return InputError(
        f"unit {wanted!r}",
        must="be one that the output can be converted to",
        but=reason,
        advice=advice or f"Say what the expression is in: {line}.",
    )


def _of_unit(unit: str) -> MeasuredOutput | None:
    """That of a unit as channels have it; None where it is not known."""
    if not unit:
        return None
    if unit == "1":
        return MeasuredOutput(PLAIN)
    dimension = dimension_of_unit(unit)
    if dimension is None:
        return None
    plain = unit.replace("²", "^2").replace(" ", "*")
    try:
        size = quantity(f"1 {plain}", None)
    except ExpressionError:
        return None
    return MeasuredOutput(dimension, size, unit) if size > 0.0 else None


def _measured(node: ast.expr, unit_of: UnitOf) -> MeasuredOutput:
    name = dotted(node)
    if name is not None:
        return _NUMBER._replace(pi=True) if name in CONSTANTS else _of_name(name, unit_of)
    if isinstance(node, ast.Constant):
        return _NUMBER
    if isinstance(node, ast.UnaryOp):
        return _measured(node.operand, unit_of)
    if isinstance(node, ast.BinOp):
        return _of_operation(node, unit_of)
    assert isinstance(node, ast.Call)  # `parsed` lets nothing else through
    kind = function_name(node)
    if kind in FUNCTIONS:
        return _of_function(kind, [_measured(part, unit_of) for part in node.args])
    reduction = REDUCTIONS[kind]
    if reduction.of == "event" and not reduction.unit:
        return MeasuredOutput(PLAIN)
    if reduction.unit:
        return _of_unit(reduction.unit) or _NUMBER
    found = _of_name(dotted(node.args[0]) or "", unit_of)
    if reduction.unit is None:
        return found
    over_time = times(found.dimension, (0.0, 0.0, 1.0))
    return MeasuredOutput(over_time, found.scale, _times_a_second(found.unit))


def _times_a_second(unit: str) -> str:
    """The unit of an integral over time, as it is written; empty where that is not told so short.

    >>> [_times_a_second(unit) for unit in ("kW", "N", "rad/s", "N/m")]
    ['kJ', 'N s', 'rad', '']
    """
    if unit.endswith("W"):
        return f"{unit[:-1]}J"
    if unit.endswith("/s"):
        return unit[:-2]
    return f"{unit} s" if unit and "/" not in unit else ""


def _of_name(name: str, unit_of: UnitOf) -> MeasuredOutput:
    found = _of_unit(unit_of(name))
    if found is None:
        raise _UnknownUnitError(f"{name!r} has no unit in the model")
    return found


def _of_function(kind: str, parts: list[MeasuredOutput]) -> MeasuredOutput:
    if kind == "sqrt":
        return _power(parts[0], 0.5)
    if kind in _OF_ANGLES:
        if parts[0].dimension != PLAIN or parts[0].scale != 1.0:
            raise _UnknownUnitError(f"{kind} is of a quantity in {_told(parts[0])}")
        return _NUMBER
    found = parts[0]
    for part in parts[1:]:  # abs, minimum, maximum, hypot, atan2
        found = _of_terms(found, part)
    return MeasuredOutput(PLAIN, unit="rad") if kind == "atan2" else found


def _of_operation(node: ast.BinOp, unit_of: UnitOf) -> MeasuredOutput:
    left, right = _measured(node.left, unit_of), _measured(node.right, unit_of)
    if isinstance(node.op, ast.Add | ast.Sub):
        return _of_terms(left, right)
    if isinstance(node.op, ast.Pow):
        if left.number and right.number:
            return _NUMBER
        exponent = _number_in(node.right)
        if not right.number or math.isnan(exponent):
            raise _UnknownUnitError("it has a power that is no number")
        return left if exponent == 1.0 else _power(left, exponent)
    over, pi = isinstance(node.op, ast.Div), left.pi or right.pi
    if right.number:
        return left._replace(pi=pi)
    if left.number and not over:
        return right._replace(pi=pi)
    power = -1.0 if over else 1.0
    scale = size_of_product(left.scale, right.scale, power)
    return MeasuredOutput(times(left.dimension, right.dimension, power), scale)


def _power(base: MeasuredOutput, exponent: float) -> MeasuredOutput:
    if base.number:
        return base
    scale = size_of_product(1.0, base.scale, exponent)
    return MeasuredOutput(times(PLAIN, base.dimension, exponent), scale)


def _of_terms(left: MeasuredOutput, right: MeasuredOutput) -> MeasuredOutput:
    """That of a sum; a plain number is in SI units, and so is no term beside others."""
    if left.number and right.number:
        return _NUMBER
    for one, other in ((left, right), (right, left)):
        if one.number and other.scale == 1.0:
            return other
    same = abs(left.scale / right.scale - 1.0) < SAME
    mixed = not (left.number or right.number) and left.dimension != right.dimension
    if mixed or left.number or right.number or not same:
        reason = f"it has terms in {_told(left)} and in {_told(right)}"
        if mixed:
            raise _MixedTermsError(reason, "Add what is in one unit only.")
        numbers = left.number or right.number
        if not numbers and math.isfinite(left.scale) and math.isfinite(right.scale):
            small, large = sorted((left, right), key=lambda term: term.scale)
            ratio = f"{large.scale / small.scale:.12g}"
            advice = f"What is in {_told(large)} times {ratio} is in {_told(small)}."
            raise _MixedSizesError(reason, advice)
        raise _UnknownUnitError(reason, None)
    pi = left.pi or right.pi
    unit = left.unit if left.unit == right.unit else ""
    return MeasuredOutput(left.dimension, left.scale, unit, pi=pi)


def _told(found: MeasuredOutput) -> str:
    return found.unit or in_units(found.dimension)


def _number_in(node: ast.expr) -> float:
    """The number that a product is multiplied by; not a number where it is no product."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    name = dotted(node)
    if name is not None:
        return CONSTANTS.get(name, 1.0)
    if isinstance(node, ast.UnaryOp):
        own = _number_in(node.operand)
        return -own if isinstance(node.op, ast.USub) else own
    if isinstance(node, ast.BinOp):
        left, right = _number_in(node.left), _number_in(node.right)
        try:
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Div):
                return left / right
            if isinstance(node.op, ast.Pow):
                power = left**right
                return power if isinstance(power, float) else math.nan  # of a negative number
        except (ZeroDivisionError, OverflowError):
            return math.nan
        return math.nan
    assert isinstance(node, ast.Call)
    if function_name(node) == "abs":
        return _number_in(node.args[0])
    return 1.0 if function_name(node) in REDUCTIONS else math.nan
