"""Conditions, such as q[0] > 1, as values that cross zero where the condition begins to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zwang.errors import InputError

if TYPE_CHECKING:
    import casadi

__all__ = ["comparisons", "margin", "require_no_steps"]


def margin(where: str, value: casadi.SX) -> casadi.SX | None:
    """What is positive where a condition holds and negative where it does not; None of a number.

    Of a comparison it is the difference of its sides, of `and` the least and of `or` the largest
    of the margins of the parts: it passes through zero just where the condition changes.

    Parameters
    ----------
    where : whose value it is, for messages.

    Raises
    ------
    InputError
        It is an equality, or it joins a condition with a number.
    """
    import casadi as ca

    if not value.is_scalar() or value.is_leaf():
        return None
    op = value.op()
    if op in (ca.OP_LT, ca.OP_LE):
        return value.dep(1) - value.dep(0)
    if op == ca.OP_NOT:
        inner = margin(where, value.dep(0))
        return None if inner is None else -inner
    if op in (ca.OP_AND, ca.OP_OR):
        parts = [margin(where, value.dep(k)) for k in range(2)]
        one, two = parts
        if one is None or two is None:
            raise InputError(
                where,
                must="join conditions alone with & or |",
                but="one side is a number",
                advice="Put parentheses around comparisons: (q[0] > 1) & (v[0] > 0).",
            )
        return ca.fmin(one, two) if op == ca.OP_AND else ca.fmax(one, two)
    if op in (ca.OP_EQ, ca.OP_NE):
        raise InputError(
            where,
            must="be a quantity that crosses zero, or a condition with < or >",
            but="is an equality, which holds at single instants at most",
            advice="Write the difference of its sides: it is zero there.",
        )
    return None


def comparisons(value: casadi.SX) -> list[casadi.SX]:
    """Margins of the comparisons that a condition joins, each of which is smooth by itself.

    The condition can change only where one of them crosses zero.
    """
    import casadi as ca

    if value.is_leaf():
        return []
    op = value.op()
    if op in (ca.OP_LT, ca.OP_LE):
        return [value.dep(1) - value.dep(0)]
    if op == ca.OP_NOT:
        return comparisons(value.dep(0))
    if op in (ca.OP_AND, ca.OP_OR):
        return comparisons(value.dep(0)) + comparisons(value.dep(1))
    return []


def require_no_steps(where: str, value: casadi.SX, parameters: casadi.SX) -> None:
    """Refuse a number that changes in jumps alone, such as a product of conditions.

    It lies on zero for as long as it is zero, and crosses it nowhere.

    Parameters
    ----------
    where : whose value it is, for messages.
    parameters : what may make it jump: they change at events alone.
    """
    import casadi as ca

    own = {x.__hash__() for x in ca.symvar(ca.vec(parameters))}
    moving = [x for x in ca.symvar(value) if x.__hash__() not in own]
    if not moving or not ca.jacobian(value, ca.vertcat(*moving)).is_zero():
        return
    raise InputError(
        where,
        must="be a quantity that changes smoothly, or a condition",
        but="is a number that jumps",
        advice="Give the condition itself, without where; join conditions with & and |, and not "
        "with * and +: (q[0] > 1) & (v[0] < 0).",
    )
