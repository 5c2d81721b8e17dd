"""Closed forms: factors of polynomials, found by greatest common divisors.

Formulas of mechanics factor in simple ways: into symbols, into parts that lack some symbol, into
squares. These are found without a search:

    Σ P_k g^k   has the factor gcd(P_k), which lacks g
    f² h        has the factor f of gcd(P, ∂P/∂g)

Only what is left, if it is small, is given to SymPy's factorisation. That one picks random points,
and with many generators an unlucky one takes minutes.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

__all__ = ["factored"]

#: Largest number of generators, and of terms times generators, that SymPy is asked to factor.
SEARCH_GENERATORS = 5
SEARCH_SIZE = 100
#: Polynomials with more terms are only freed of common symbols.
DIVISOR_TERMS = 100


def factored(polynomial: Any) -> tuple[Any, list[tuple[Any, int]]]:
    """Rational factor, and other factors with their powers.

    Most terms of each factor are positive; where as many are negative, the sign goes into the
    factor rather than before it all.
    """
    ring = polynomial.ring
    shared = tuple(min(powers) for powers in zip(*polynomial.itermonoms(), strict=True))
    powers: dict[Any, int] = {g: k for g, k in zip(ring.gens, shared, strict=True) if k}
    rest = polynomial.quo(ring.term_new(shared, ring.domain.one)) if powers else polynomial
    for factor in _split(rest) if len(rest) <= DIVISOR_TERMS else [rest]:
        if not factor.is_ground:
            normal = _normal(factor)
            powers[normal] = powers.get(normal, 0) + 1
    product = reduce(lambda x, f: x * f[0].LC ** f[1], powers.items(), ring.domain.one)
    content = polynomial.LC / product
    if content < 0:
        for factor, power in powers.items():
            if power == 1 and 2 * _negative(factor) == len(factor):
                signed = {(-f if f == factor else f): k for f, k in powers.items()}
                return -content, list(signed.items())
    return content, list(powers.items())


def _negative(polynomial: Any) -> int:
    return sum(coefficient < 0 for coefficient in polynomial.itercoeffs())


def _normal(polynomial: Any) -> Any:
    """Whole coefficients without a common divisor, most of them positive."""
    primitive = polynomial.primitive()[1]
    negative = _negative(primitive)
    flip = 2 * negative > len(primitive) or (2 * negative == len(primitive) and primitive.LC < 0)
    return -primitive if flip else primitive


def _split(polynomial: Any) -> list[Any]:
    if len(polynomial) == 1:
        return [polynomial]
    used = [k for k, powers in enumerate(zip(*polynomial.itermonoms(), strict=True)) if any(powers)]
    for k in used:
        divisor = _content(polynomial, k)
        if not divisor.is_ground:
            return [*_split(divisor), *_split(polynomial.quo(divisor))]
    # A repeated factor has every generator by now, so that looking along one is enough.
    first = polynomial.ring.gens[used[0]]
    repeated = polynomial.gcd(polynomial.diff(first))
    if not repeated.is_ground:
        return [*_split(repeated), *_split(polynomial.quo(repeated))]
    if len(used) <= SEARCH_GENERATORS and len(polynomial) * len(used) <= SEARCH_SIZE:
        return [f for f, power in polynomial.factor_list()[1] for _ in range(power)]
    return [polynomial]


def _content(polynomial: Any, generator: int) -> Any:
    """Greatest common divisor of the coefficients of the generator's powers."""
    ring = polynomial.ring
    parts: dict[int, Any] = {}
    for monomial, coefficient in polynomial.iterterms():
        without = (*monomial[:generator], 0, *monomial[generator + 1 :])
        parts.setdefault(monomial[generator], ring.zero.copy())[without] = coefficient
    divisor = ring.zero
    for part in sorted(parts.values(), key=len):
        divisor = divisor.gcd(part) if divisor else part
        if divisor.is_ground:
            break
    return divisor
