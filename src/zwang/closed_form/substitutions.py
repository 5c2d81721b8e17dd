"""Closed forms: what constraints say outright, put in place before equations are solved.

A driver prescribes q = f(t, p), as sin(q − f) = 0 or as q − f = 0, and with it q̇ = ḟ; a distance
may be written with its root, √(x² + y²) − R = 0. As polynomials that vanish these shorten little:
the first has angles in it that the result has not, the second leaves the radicand as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

    from zwang.closed_form.names import SymbolNames

__all__ = ["Driven", "driven", "known_roots", "with_roots"]


@dataclass(frozen=True)
class Driven:
    """Coordinates that constraints give as functions of time.

    Attributes
    ----------
    positions : number of a coordinate → the function.
    values : coordinates and their velocities → what stands for them.
    of_sines : coordinates q of sin(q − f) = 0, which other values satisfy too: a driver means f
        alone, and a function of the user any of them.
    """

    positions: dict[int, sp.Expr]
    values: dict[Any, sp.Expr]
    of_sines: tuple[sp.Symbol, ...]


def driven(conditions: Sequence[sp.Expr], names: SymbolNames) -> Driven:
    """What conditions, which are zero, say of single coordinates."""
    import sympy as sp

    moving = {*names.coordinates, *names.velocities}
    positions: dict[int, Any] = {}
    values: dict[Any, Any] = {}
    of_sines: list[Any] = []
    for condition in conditions:
        _, rest = condition.as_coeff_Mul()
        sine = isinstance(rest, sp.sin)
        rest = rest.args[0] if sine else rest
        found = [x for x in names.coordinates if x in rest.free_symbols]
        if len(found) != 1 or found[0] in values:
            continue
        q = found[0]
        slope = sp.diff(rest, q)
        if not slope.is_number or not slope:
            continue
        f = sp.expand(q - rest / slope)
        rate = sp.diff(f, names.time)
        k = names.coordinates.index(q)
        bends = f.has(sp.Piecewise, sp.Abs, sp.sign, sp.floor, sp.ceiling, sp.Min, sp.Max)
        if bends or f.free_symbols & moving or names.rates[k] not in names.velocities:
            continue
        positions[k] = f
        values |= {q: f, names.rates[k]: rate}
        of_sines += [q] if sine else []
    return Driven(positions, values, tuple(of_sines))


def known_roots(
    conditions: Sequence[sp.Expr], moving: Collection[sp.Symbol]
) -> tuple[dict[Any, sp.Expr], list[sp.Expr]]:
    """Radicand of each root that a condition gives → the root, and what else vanishes by that."""
    import sympy as sp

    given: dict[Any, Any] = {}
    zeros: list[Any] = []
    for condition in conditions:
        roots = {p for p in condition.atoms(sp.Pow) if p.exp == sp.S.Half}
        roots = {p for p in roots if p.base.free_symbols & set(moving)}
        if len(roots) != 1:
            continue
        root = roots.pop()
        letter = sp.Dummy()
        written = sp.expand(condition.xreplace({root: letter}))
        slope = written.coeff(letter, 1)
        value = sp.expand(letter - written / slope) if slope else written
        if not slope or (slope.free_symbols | value.free_symbols) & {*moving, letter}:
            continue
        given[root.base] = value
        zeros.append(root.base - value**2)
    return given, zeros


def with_roots(e: Any, roots: dict[Any, sp.Expr]) -> Any:
    """The expression with what stands for roots in all their odd powers."""
    import sympy as sp

    powers: set[Any] = {p for p in e.atoms(sp.Pow) if p.base in roots}
    found = {p: roots[p.base] ** (2 * p.exp) for p in powers if (2 * p.exp).is_odd}
    return e.xreplace(found)
