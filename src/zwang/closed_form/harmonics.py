"""Closed forms: polynomials of sines and cosines as sums of harmonics, and back to short products.

    s_k = (z_k − 1/z_k)/2i,   c_k = (z_k + 1/z_k)/2        z_k = exp(i a_k)

turns a polynomial of several angles into Σ C_f cos(f·a) + S_f sin(f·a), whatever sums of angles
were expanded in it before. Where all f are multiples of one, the whole is a polynomial of the sine
and cosine of a single angle: sin a cos a − 2 sin a cos b cos(a − b) + sin b cos b is
−sin(a − b) cos(a − b).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["Angle", "rational_number", "short_forms"]

#: Argument, and numbers of the generators of its sine and cosine.
Angle = tuple[Any, int, int]
Frequency = tuple[int, ...]
#: Real and imaginary part of the factors of exp(i f·a).
Harmonics = dict[Frequency, tuple[Any, Any]]


def short_forms(polynomial: Any, angles: Sequence[Angle]) -> Iterator[Any]:
    """Forms of a polynomial of several angles: of one angle, or if there is none as a sum."""
    found = _harmonics(polynomial, angles)
    along = [f for f in found if any(f)]
    if not along:
        return
    arguments = [argument for argument, _, _ in angles]
    direction = _direction(along)
    if direction is not None:
        yield from _of_one_angle(found, direction, _argument(direction, arguments))
    else:
        yield _sum(found, arguments)


def _harmonics(polynomial: Any, angles: Sequence[Angle]) -> Harmonics:
    """Factors of exp(i f·a) for each f; those of −f are their conjugates."""
    zero, half = polynomial.ring.domain.zero, polynomial.ring.domain(1) / 2
    total: Harmonics = {}
    for monomial, coefficient in polynomial.iterterms():
        product: Harmonics = {(0,) * len(angles): (coefficient, zero)}
        for k, (_, sine, cosine) in enumerate(angles):
            for generator, plus, minus in (
                (sine, (zero, -half), (zero, half)),
                (cosine, (half, zero), (half, zero)),
            ):
                for _ in range(monomial[generator]):
                    product = _turned(product, k, plus, minus)
        for f, value in product.items():
            total[f] = _added(total.get(f, (zero, zero)), value)
    return {f: value for f, value in total.items() if value[0] or value[1]}


def _turned(given: Harmonics, k: int, plus: tuple[Any, Any], minus: tuple[Any, Any]) -> Harmonics:
    """The product with plus exp(i a_k) + minus exp(−i a_k)."""
    found: Harmonics = {}
    for f, (re, im) in given.items():
        for step, (x, y) in ((1, plus), (-1, minus)):
            moved = (*f[:k], f[k] + step, *f[k + 1 :])
            value = (re * x - im * y, re * y + im * x)
            found[moved] = _added(found[moved], value) if moved in found else value
    return found


def _added(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return a[0] + b[0], a[1] + b[1]


def _direction(frequencies: Sequence[Frequency]) -> Frequency | None:
    """A frequency without a divisor that all others are multiples of, its first entry positive."""
    first = frequencies[0]
    divisor = math.gcd(*first)
    unit = tuple(x // divisor for x in first)
    k = next(k for k, x in enumerate(unit) if x)
    unit = unit if unit[k] > 0 else tuple(-x for x in unit)
    along = all(f == tuple(f[k] // unit[k] * x for x in unit) for f in frequencies)
    return unit if along else None


def _argument(frequency: Frequency, arguments: Sequence[Any]) -> Any:
    return sum((x * a for x, a in zip(frequency, arguments, strict=True)), 0)


def _of_one_angle(
    found: Mapping[Frequency, tuple[Any, Any]], direction: Frequency, argument: Any
) -> Iterator[Any]:
    """By the sine and cosine of one angle δ, factored: cos kδ = T_k(cos δ), sin kδ = sin δ U_k."""
    import sympy as sp

    k = next(k for k, x in enumerate(direction) if x)
    s, c = sp.Dummy("s"), sp.Dummy("c")  # a hinge may have either name
    total = sp.S.Zero
    for f, (re, im) in found.items():
        times = f[k] // direction[k]
        if times == 0:
            total += rational_number(re)
        elif times > 0:  # with its conjugate
            total += 2 * rational_number(re) * sp.chebyshevt(times, c)
            total -= 2 * rational_number(im) * s * sp.chebyshevu(times - 1, c)
    for lowered in (sp.expand(total), sp.rem(sp.expand(total), c**2 + s**2 - 1, c)):
        yield sp.factor(lowered).xreplace({s: sp.sin(argument), c: sp.cos(argument)})


def _sum(found: Mapping[Frequency, tuple[Any, Any]], arguments: Sequence[Any]) -> sp.Expr:
    """Σ C_f cos(f·a) + S_f sin(f·a)."""
    import sympy as sp

    terms = []
    for f, (re, im) in found.items():
        if not any(f):
            terms.append(rational_number(re))
        elif f > tuple(-x for x in f):  # with its conjugate
            argument = _argument(f, arguments)
            terms.append(
                2 * rational_number(re) * sp.cos(argument)
                - 2 * rational_number(im) * sp.sin(argument)
            )
    return sp.factor_terms(sp.Add(*terms))


def rational_number(x: Any) -> Any:
    """A number of a polynomial's domain as one of SymPy's."""
    import sympy as sp

    return sp.Rational(int(x.numerator), int(x.denominator))
