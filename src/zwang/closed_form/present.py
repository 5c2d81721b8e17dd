"""Closed forms: elements of an algebra as expressions that are pleasant to read.

A fraction modulo relations has many forms. It is shortened by using each relation in each way that
makes it shorter, such as 1 − sin² → cos² or x² + y² → r² (`Presenter.shortened`); numerator and
denominator are factored, and grouped by what most terms have in common; sin/cos becomes tan. The
form with the fewest operations is kept, the one the user wrote included.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zwang.closed_form.factors import factored
from zwang.closed_form.harmonics import rational_number, short_forms

if TYPE_CHECKING:
    import sympy as sp

    from zwang.closed_form.algebra import Algebra

__all__ = ["Presenter"]

#: Sums of angles are not looked for in polynomials with more terms.
ANGLE_TERMS = 25

Terms = Mapping[tuple[int, ...], Any]


class Presenter:
    """Makes readable expressions of an algebra's elements.

    Parameters
    ----------
    algebra : where the elements live.
    zeros : elements that are zero besides the algebra's own relations, such as constraints.
    """

    def __init__(self, algebra: Algebra, zeros: Sequence[Any] = ()) -> None:
        self.algebra = algebra
        self._zeros = [x.numer for x in zeros if x]
        self._factored: dict[Any, tuple[Any, list[tuple[Any, int]]]] = {}
        identities = [*self._zeros, *algebra.identities]
        self._rules = [
            _rule(polynomial, monomial)
            for polynomial in identities
            for monomial in polynomial.itermonoms()
            if any(monomial)
        ]

    def expression(self, x: Any, given: sp.Expr | None = None) -> sp.Expr:
        """The shortest form found; `given` is one that is known already."""
        import sympy as sp

        if not x:
            return sp.S.Zero
        candidates = [] if given is None else [given]
        short = self.shortened(x)
        if not short:  # on the constraints
            return sp.S.Zero
        factors = [self._factors(p) for p in (short.numer, short.denom)]
        if self._zeros:
            short = self._shortened_factors(factors)
            if not short:
                return sp.S.Zero
            factors = [self._factors(p) for p in (short.numer, short.denom)]
        candidates += self._forms(short, factors)
        return min(candidates, key=_length)

    def plain(self, x: Any) -> sp.Expr:
        """The fraction as it is."""
        atoms = self.algebra.atoms
        return x.numer.as_expr(*atoms) / x.denom.as_expr(*atoms)

    # --- shortening -------------------------------------------------------------------------------

    def shortened(self, x: Any) -> Any:
        """An equal fraction with fewer terms, as far as single uses of relations lead."""
        while True:
            self.algebra.budget.check()
            best = x
            for part in ((True, False), (False, True), (True, True)):
                for rule in self._rules:
                    numer, denom = (
                        _applied(p, rule) if wanted else p
                        for p, wanted in zip((x.numer, x.denom), part, strict=True)
                    )
                    if numer is None or denom is None or not denom:
                        continue
                    if _size(numer, denom) < _size(best.numer, best.denom):
                        best = x.raw_new(numer, denom)
            if best is x:
                return x
            x = x.new(best.numer, best.denom)

    def _shortened_factors(self, factors: Sequence[tuple[Any, list[tuple[Any, int]]]]) -> Any:
        """The product of all factors, each one shortened by itself."""
        field = self.algebra.field
        result = field.one
        for sign, (content, powers) in zip((1, -1), factors, strict=True):
            value = field(content)
            for polynomial, power in powers:
                value *= self.shortened(field.new(polynomial, field.ring.one)) ** power
            result *= value**sign
        return result

    # --- forms ------------------------------------------------------------------------------------

    def _factors(self, polynomial: Any) -> tuple[Any, list[tuple[Any, int]]]:
        found = self._factored.get(polynomial)
        if found is None:
            found = factored(polynomial)
            self._factored[polynomial] = found
        return found

    def _forms(self, x: Any, factors: Sequence[tuple[Any, Any]]) -> Iterator[sp.Expr]:
        import sympy as sp
        from sympy.simplify.fu import TR10i

        atoms = self.algebra.atoms
        top, bottom = (_grouped_factors(f, atoms) for f in factors)
        form = top / bottom
        yield form
        unfactored = _grouped(dict(x.numer), atoms) / _grouped(dict(x.denom), atoms)
        yield unfactored
        if self.algebra.angles:
            yield self._by_angles(x.numer) / self._by_angles(x.denom)
        for argument, sine, cosine in self.algebra.angles:
            power = min(m[cosine] for m in x.denom.itermonoms())
            if power:
                yield _with_tangent(x, (sine, cosine, power), [*atoms, sp.tan(argument)])
        if len(self.algebra.angles) > 1 and len(x.numer) <= ANGLE_TERMS:
            yield TR10i(form)
            yield TR10i(unfactored)

    def _by_angles(self, polynomial: Any) -> sp.Expr:
        """Products of velocities and parameters times functions of angles, as on paper.

        Each product of the other generators has a polynomial of sines and cosines as its factor.
        Factors of these are taken for letters, and what stands with the same one is grouped.
        """
        places = {k for _, *pair in self.algebra.angles for k in pair}
        parts: dict[tuple[int, ...], Any] = {}
        for monomial, coefficient in polynomial.iterterms():
            other = tuple(0 if k in places else e for k, e in enumerate(monomial))
            part = parts.setdefault(other, polynomial.ring.zero.copy())
            part[tuple(a - b for a, b in zip(monomial, other, strict=True))] = coefficient
        found = [(other, *self._of_angles(part)) for other, part in parts.items()]
        letters = list(dict.fromkeys(letter for *_, powers in found for letter in powers))
        terms = {
            (*other, *(powers.get(letter, 0) for letter in letters)): content
            for other, content, powers in found
        }
        return _grouped(terms, [*self.algebra.atoms, *letters])

    def _of_angles(self, polynomial: Any) -> tuple[Any, dict[Any, int]]:
        """Rational factor and other factors, with their powers, of a polynomial of angles."""
        import sympy as sp

        algebra = self.algebra
        content, factors = self._factors(polynomial)
        forms = [_times(rational_number(content), [self._angle_factor(f) ** k for f, k in factors])]
        if 1 < len(polynomial) <= ANGLE_TERMS:
            forms += short_forms(polynomial, algebra.angles)
        content, rest = min(forms, key=_length).as_coeff_Mul(rational=True)
        if rest == 1:
            return content, {}
        powers: dict[Any, int] = {}
        for factor in sp.Mul.make_args(rest):
            base, power = factor.as_base_exp()
            counts = power.is_Integer and power > 0
            powers[base if counts else factor] = int(power) if counts else 1
        return content, powers

    def _angle_factor(self, polynomial: Any) -> sp.Expr:
        forms = [_grouped(dict(polynomial), self.algebra.atoms)]
        if 1 < len(polynomial) <= ANGLE_TERMS:
            forms += short_forms(polynomial, self.algebra.angles)
        return min(forms, key=_length)


def _size(numer: Any, denom: Any) -> tuple[int, int]:
    return len(numer) + len(denom), sum(sum(m) for p in (numer, denom) for m in p.itermonoms())


def _length(e: sp.Expr) -> int:
    return int(e.count_ops())


# --- using a relation ----------------------------------------------------------------------------


def _rule(polynomial: Any, monomial: tuple[int, ...]) -> tuple[tuple[int, ...], Any]:
    """Monomial → what it equals where the polynomial is zero."""
    rest = polynomial.copy()
    coefficient = rest.pop(monomial)
    return monomial, rest.mul_ground(-1 / coefficient)


def _applied(polynomial: Any, rule: tuple[tuple[int, ...], Any]) -> Any:
    """The polynomial with the monomial replaced in all its multiples, or None if there are none."""
    monomial, value = rule
    wanted = [(k, e) for k, e in enumerate(monomial) if e]
    ring = polynomial.ring
    parts: dict[int, Any] = {}
    for m, coefficient in polynomial.iterterms():
        times = min(m[k] // e for k, e in wanted)
        left = tuple(a - times * e for a, e in zip(m, monomial, strict=True)) if times else m
        part = parts.setdefault(times, ring.zero.copy())
        part[left] = part.get(left, ring.domain.zero) + coefficient
    if set(parts) <= {0}:
        return None
    for part in parts.values():
        part.strip_zero()
    return sum((part * value**times if times else part for times, part in parts.items()), ring.zero)


# --- polynomials as expressions ------------------------------------------------------------------


def _grouped_factors(factors: tuple[Any, list[tuple[Any, int]]], atoms: list[Any]) -> sp.Expr:

    content, powers = factors
    parts = [_grouped(dict(polynomial), atoms) ** power for polynomial, power in powers]
    return _times(rational_number(content), parts)


def _grouped(terms: Terms, atoms: list[Any]) -> sp.Expr:
    """Σ terms, what most of them share put outside brackets, again and again."""
    import sympy as sp

    content, common, terms = _without_common(terms)
    outside = [atoms[k] ** e for k, e in enumerate(common) if e]
    if len(terms) == 1:
        return _times(content, outside)
    counts = Counter(k for m in terms for k, e in enumerate(m) if e)
    shared, count = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 1))
    if count < 2:
        total = sum(
            (
                c * sp.Mul(*(atoms[k] ** e for k, e in enumerate(m) if e))
                for m, c in _rational(terms).items()
            ),
            sp.S.Zero,
        )
        return _times(content, [*outside, total])
    inside = {m: c for m, c in terms.items() if m[shared]}
    others = {m: c for m, c in terms.items() if not m[shared]}
    total = _grouped(inside, atoms) + (_grouped(others, atoms) if others else 0)
    return _times(content, [*outside, total])


def _without_common(terms: Terms) -> tuple[Any, tuple[int, ...], Terms]:
    """Rational factor, monomial that divides all terms, and the rest."""
    import sympy as sp

    rational = _rational(terms)
    common = tuple(min(column) for column in zip(*rational, strict=True))
    numerator = math.gcd(*(int(c.p) for c in rational.values()))
    denominator = math.lcm(*(int(c.q) for c in rational.values()))
    sign = -1 if all(c < 0 for c in rational.values()) else 1
    content = sp.Rational(sign * numerator, denominator)
    rest = {
        tuple(a - b for a, b in zip(m, common, strict=True)): c / content
        for m, c in rational.items()
    }
    return content, common, rest


def _rational(terms: Terms) -> dict[tuple[int, ...], Any]:
    import sympy as sp

    return {m: c if isinstance(c, sp.Rational) else rational_number(c) for m, c in terms.items()}


def _times(content: Any, parts: list[Any]) -> sp.Expr:
    """A product in which a number stays outside brackets."""
    import sympy as sp

    rest = sp.Mul(*parts)
    if rest.is_Add and content not in (1, -1):
        return sp.Mul(content, rest, evaluate=False)
    return content * rest


def _with_tangent(x: Any, angle: tuple[int, int, int], atoms: list[Any]) -> sp.Expr:
    """Numerator divided by the denominator's power of a cosine, sin/cos written as tan."""
    sine, cosine, power = angle
    terms: dict[tuple[int, ...], Any] = {}
    lacking = 0  # powers of the cosine that stay below
    for m, c in x.numer.iterterms():
        tangents = min(m[sine], max(0, power - m[cosine]))
        exponents = [*m, tangents]
        exponents[sine] -= tangents
        exponents[cosine] += tangents - power
        lacking = max(lacking, -exponents[cosine])
        terms[tuple(exponents)] = c
    shifted = {
        tuple(e + lacking * (k == cosine) for k, e in enumerate(m)): c for m, c in terms.items()
    }
    bottom = {
        tuple(e - power * (k == cosine) for k, e in enumerate((*m, 0))): c
        for m, c in x.denom.iterterms()
    }
    form = _grouped(shifted, atoms) / _grouped(bottom, atoms)
    return form / atoms[cosine] ** lacking
