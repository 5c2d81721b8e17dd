"""Conditions, such as q[0] > 1, as values that cross zero where the condition begins to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zwang.errors import InputError

if TYPE_CHECKING:
    import casadi

__all__ = ["margin"]


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
