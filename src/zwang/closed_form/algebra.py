"""Closed forms: exact algebra on rational functions of symbols, angles, roots and other functions.

Each symbol, each sine, cosine, root, and anything else that is not rational becomes a generator of
a field of fractions, in which SymPy adds, multiplies and cancels quickly and exactly. What is known
about generators is kept as relations, by which powers are lowered (`Algebra.lowered`):

    cos²a = 1 − sin²a,        (ᵏ√e)ᵏ = e,        |e|² = e²,

and the last square of coordinates of unit length, such as Euler parameters, by the others.

Sines of sums are expanded where sines of the parts occur as well. The result is a normal form: a
fraction that is zero only if its numerator is, apart from relations that are not listed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from zwang.closed_form.angles import Angles
from zwang.closed_form.budget import Budget

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["Algebra", "Relation"]


@dataclass(frozen=True)
class Relation:
    """g^power = value, for the generator with this number; value has earlier generators only."""

    generator: int
    power: int
    value: Any


class Algebra:
    """The field of fractions that a set of expressions lives in.

    Parameters
    ----------
    expressions : all that will be calculated with; anything `encode` sees later must be made of
        the same symbols and functions.
    budget : the time it may take, asked before whatever may take long.
    unit : groups of symbols whose squares add up to one.
    """

    def __init__(
        self,
        expressions: Iterable[Any],
        budget: Budget | None = None,
        unit: Iterable[Iterable[Any]] = (),
    ) -> None:
        from sympy.polys.domains import QQ
        from sympy.polys.fields import FracField

        given = list(expressions)
        self.budget = Budget() if budget is None else budget
        self._angles = Angles.of(given)
        self._known: dict[Any, Any] = {}  # expression → rational expression of generators
        self._generators: dict[Any, Any] = {}  # generator symbol → what it stands for
        self._roots: dict[Any, tuple[Any, int]] = {}  # generator → (radicand, degree)
        self._cosines: dict[Any, Any] = {}  # generator of cos a → generator of sin a
        rewritten: list[Any] = [self._rewrite(e) for e in given]
        # A symbol may stand under a root alone.
        radicands = [radicand for radicand, _ in self._roots.values()]
        symbols: set[Any] = {s for e in [*rewritten, *radicands] for s in e.free_symbols}
        symbols -= set(self._generators)
        order = [*sorted(symbols, key=str), *self._generators]
        self.field: Any = FracField(order or [_dummy("one")], QQ)
        self._place = {s: k for k, s in enumerate(self.field.symbols)}
        self._elements: dict[Any, Any] = {}
        groups = [sorted(group, key=str) for group in unit]
        #: Last symbol of a group of unit length → the others, where all occur.
        self._unit = {g[-1]: g[:-1] for g in groups if all(s in self._place for s in g)}
        self.relations = self._relations()

    # --- expression → generators ------------------------------------------------------------------

    def _rewrite(self, e: Any) -> Any:
        """The expression with generators in place of all that is not rational."""
        found = self._known.get(e)
        if found is None:
            found = self._known[e] = self._rewritten(e)
        return found

    def _rewritten(self, e: Any) -> Any:
        import sympy as sp

        if e.is_Symbol or e.is_Rational:
            return e
        if e.is_Add or e.is_Mul:
            return e.func(*(self._rewrite(a) for a in e.args))
        if e.is_Pow and e.exp.is_Integer:
            return self._rewrite(e.base) ** e.exp
        if e.is_Pow and e.exp.is_Rational:
            return self._root(e.base, int(e.exp.q)) ** e.exp.p
        if isinstance(e, sp.exp):
            exponent: Any = e.args[0]
            if exponent.could_extract_minus_sign():
                return 1 / self._rewrite(sp.exp(-exponent))
            return self._generator(e)
        if isinstance(e, sp.sin | sp.cos | sp.tan):
            return self._rewrite_angle(e)
        if isinstance(e, sp.Abs):
            square = self._rewrite(e.args[0]) ** 2  # its generators come first
            g = self._generator(e)
            self._roots[g] = (square, 2)
            return g
        return self._generator(e)

    def _rewrite_angle(self, e: Any) -> Any:
        import sympy as sp

        sine, cosine = self._angles.expanded(e.args[0], self._angle)
        if isinstance(e, sp.tan):
            return sine / cosine
        return sine if isinstance(e, sp.sin) else cosine

    def _angle(self, argument: Any) -> tuple[Any, Any]:
        """Generators of sin and cos of one of the independent arguments."""
        import sympy as sp

        sine, cosine = self._generator(sp.sin(argument)), self._generator(sp.cos(argument))
        self._cosines[cosine] = sine
        return sine, cosine

    def _root(self, base: Any, degree: int) -> Any:
        import sympy as sp

        radicand = self._rewrite(base)
        g = self._generator(sp.Pow(base, sp.Rational(1, degree), evaluate=False))
        self._roots[g] = (radicand, degree)
        return g

    def _generator(self, e: Any) -> Any:
        g = self._known.get(("generator", e))
        if g is None:
            g = self._known["generator", e] = _dummy(f"g{len(self._generators)}")
            self._generators[g] = e
        return g

    def _relations(self) -> list[Relation]:
        """In the order in which powers are lowered: last generators first."""
        one = self.field.one
        found = []
        for g in reversed(self.field.symbols):
            if g in self._cosines:
                found.append(
                    Relation(self._place[g], 2, one - self._element(self._cosines[g]) ** 2)
                )
            elif g in self._unit:
                others = sum((self._element(s) ** 2 for s in self._unit[g]), self.field.zero)
                found.append(Relation(self._place[g], 2, one - others))
            elif g in self._roots:
                radicand, degree = self._roots[g]
                found.append(Relation(self._place[g], degree, self._element(radicand)))
        return found

    # --- generators → field -----------------------------------------------------------------------

    def _element(self, e: Any) -> Any:
        """A rational expression of generators as an element of the field."""
        found = self._elements.get(e)
        if found is not None:
            return found
        self.budget.check()
        if e.is_Symbol:
            found = self.field.gens[self._place[e]]
        elif e.is_Rational:
            found = self.field.from_expr(e)
        elif e.is_Add:
            found = self.total([self._element(a) for a in e.args])
        elif e.is_Mul:
            found = reduce(lambda x, y: x * y, (self._element(a) for a in e.args))
        else:
            found = self._element(e.base) ** int(e.exp)
        self._elements[e] = found
        return found

    def total(self, elements: list[Any]) -> Any:
        """Sum of fractions, cancelled once."""
        field = self.field
        denominators = {x.denom for x in elements}
        if len(denominators) <= 1:
            return field.new(
                sum((x.numer for x in elements), field.ring.zero),
                next(iter(denominators), field.ring.one),
            )
        common = reduce(lambda x, y: x.lcm(y), denominators)
        numerator = sum((x.numer * common.quo(x.denom) for x in elements), field.ring.zero)
        return field.new(numerator, common)

    def fraction(self, numerator: Any, denominator: Any) -> Any:
        """Quotient of two polynomials, cancelled, powers lowered."""
        return self.lowered(self.field.new(numerator, denominator))

    def encode(self, e: Any) -> Any:
        """Element of the field, powers lowered."""
        return self.lowered(self._element(self._rewrite(e)))

    def lowered(self, x: Any) -> Any:
        """The same with relations applied to numerator and denominator."""
        if not self.relations:
            return x
        return self._lower(x.numer) / self._lower(x.denom)

    def _lower(self, polynomial: Any, relations: Iterable[Relation] | None = None) -> Any:
        self.budget.check()
        field, ring = self.field, self.field.ring
        relations = self.relations if relations is None else list(relations)
        result = field.new(polynomial, ring.one)
        for k, relation in enumerate(relations):
            if result.denom != 1:
                rest = relations[k:]
                return self._lower(result.numer, rest) / self._lower(result.denom, rest)
            result = self._lower_one(result.numer, relation)
        return result

    def _lower_one(self, polynomial: Any, relation: Relation) -> Any:
        """Σ P_e g^e = Σ P_e value^(e // power) g^(e % power)."""
        ring = self.field.ring
        place, power = relation.generator, relation.power
        parts: dict[int, Any] = {}
        for monomial, coefficient in polynomial.iterterms():
            exponent = monomial[place]
            times, left = divmod(exponent, power)
            lowered = (*monomial[:place], left, *monomial[place + 1 :])
            part = parts.setdefault(times, ring.zero.copy())
            part[lowered] = part.get(lowered, ring.domain.zero) + coefficient
        if set(parts) <= {0}:
            return self.field.new(polynomial, ring.one)
        for part in parts.values():
            part.strip_zero()
        return self.total(
            [self.field.new(p, ring.one) * relation.value**e for e, p in parts.items()]
        )

    # --- what presentation needs ------------------------------------------------------------------

    @property
    def identities(self) -> list[Any]:
        """Polynomials that are zero, one for each relation."""
        ring = self.field.ring
        found = []
        for relation in self.relations:
            value = relation.value
            power = ring.gens[relation.generator] ** relation.power
            found.append(power * value.denom - value.numer)
        return found

    @property
    def atoms(self) -> list[sp.Expr]:
        """What the generators stand for."""
        return [self._generators.get(s, s) for s in self.field.symbols]

    @property
    def angles(self) -> list[tuple[Any, int, int]]:
        """Argument, and numbers of the generators of its sine and cosine."""
        return [
            (self._generators[s].args[0], self._place[s], self._place[c])
            for c, s in self._cosines.items()
        ]


def _dummy(name: str) -> Any:
    import sympy as sp

    return sp.Dummy(name)
