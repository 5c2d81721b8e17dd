"""Closed forms: square roots of what is shorter than it was written, √(1 − sin²θ) = |cos θ|.

A root becomes a generator of the algebra, and stands in each result with its radicand as written;
so that one is brought to a normal form before. All symbols are real numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zwang.closed_form.algebra import Algebra
from zwang.closed_form.budget import Budget
from zwang.closed_form.present import Presenter

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["with_short_roots"]

#: Radicands with more operations are left as they are.
LONGEST = 300


def with_short_roots(
    matrices: Mapping[str, sp.MutableDenseMatrix], budget: Budget, positive: Sequence[sp.Expr] = ()
) -> dict[str, sp.MutableDenseMatrix]:
    """The same matrices with shorter radicands, and without roots of squares.

    Parameters
    ----------
    positive : expressions that are their own absolute values.
    """
    import sympy as sp

    powers: set[Any] = {p for matrix in matrices.values() for p in matrix.atoms(sp.Pow)}
    powers = {p for p in powers if p.exp.is_Rational and p.exp.q == 2}
    found: dict[Any, Any] = {}
    radicands = {p.base for p in powers}
    for base in sorted(radicands, key=lambda e: int(e.count_ops())):  # inner ones come first
        if base.count_ops() > LONGEST:
            continue
        root = _root(base.xreplace(found), budget).xreplace({sp.Abs(e): e for e in positive})
        if root != sp.sqrt(base):
            found |= {p: root**p.exp.p for p in powers if p.base == base}
    if not found:
        return dict(matrices)
    return {name: matrix.xreplace(found) for name, matrix in matrices.items()}


def _root(radicand: Any, budget: Budget) -> Any:
    """√radicand with squares before it."""
    import sympy as sp

    algebra = Algebra([radicand], budget)
    short = Presenter(algebra).expression(algebra.encode(radicand), radicand)
    outside, inside = sp.S.One, sp.S.One
    for factor in sp.Mul.make_args(short):
        base, power = factor.as_base_exp()
        if base.is_number or not (power.is_Integer and power % 2 == 0):
            inside *= factor
        else:
            outside *= sp.Abs(base) ** (power // 2)
    return outside * sp.sqrt(inside)
