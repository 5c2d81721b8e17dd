"""Closed forms: which arguments of sines and cosines are independent, and the others by them.

Arguments are linear combinations of monomials; a + b follows from a and b, 2a from a. Simple
arguments come first, so that sin(a + b) is kept whole unless sines of both a and b occur too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["Angles"]


@dataclass(frozen=True)
class Angles:
    """Independent arguments, and whole-number combinations of them for all others.

    Attributes
    ----------
    basis : independent arguments, simple ones first.
    combinations : argument → members of the basis and the whole numbers they are taken times.
    """

    basis: tuple[Any, ...]
    combinations: dict[Any, dict[Any, int]]

    @classmethod
    def of(cls, expressions: Iterable[sp.Expr]) -> Angles:
        """The angles that occur in expressions."""
        import sympy as sp

        found = {sp.expand(f.args[0]) for e in expressions for f in e.atoms(sp.sin, sp.cos, sp.tan)}
        arguments = sorted(found, key=_simplicity)
        monomials = sorted(
            {m for a in arguments for m in a.as_coefficients_dict()}, key=sp.default_sort_key
        )
        vectors = {
            a: sp.Matrix([a.as_coefficients_dict().get(m, sp.S.Zero) for m in monomials])
            for a in arguments
        }
        basis: list[Any] = []
        independent: list[Any] = []  # of the basis, those that combinations are made of
        combined: dict[Any, dict[Any, int]] = {}
        for a in arguments:
            factors = _factors([vectors[x] for x in independent], vectors[a])
            if factors is not None and all(f.is_Integer for f in factors):
                combined[a] = {x: int(f) for x, f in zip(independent, factors, strict=True) if f}
                continue
            basis.append(a)
            combined[a] = {a: 1}
            if factors is None:
                independent.append(a)
        return cls(tuple(basis), combined)

    def expanded(self, argument: Any, generators: Callable[[Any], tuple[Any, Any]]) -> Any:
        """Sin and cos of an argument from those of the basis."""
        import sympy as sp

        sine, cosine = sp.S.Zero, sp.S.One
        for a, count in self.combinations[sp.expand(argument)].items():
            s, c = generators(a)
            s, c = (s, c) if count > 0 else (-s, c)
            for _ in range(abs(count)):
                sine, cosine = sine * c + cosine * s, cosine * c - sine * s
        return sine, cosine


def _simplicity(argument: Any) -> tuple[Any, ...]:
    """Few terms first, small factors before larger ones, positive ones before negative ones."""
    import sympy as sp

    terms = argument.as_coefficients_dict()
    size = sum(abs(float(c)) for c in terms.values())
    return (
        len(terms),
        size,
        argument.count_ops(),
        argument.could_extract_minus_sign(),
        sp.default_sort_key(argument),
    )


def _factors(columns: Sequence[Any], vector: Any) -> Any:
    """Factors f with Σ f_i columns_i = vector, or None; the columns are independent."""
    import sympy as sp

    if not columns:
        return None
    A = sp.Matrix.hstack(*columns)
    factors = (A.T * A).LUsolve(A.T * vector)
    return factors if A * factors == vector else None
