"""Letters for the numbers of a mechanism in formulas: m_rod, J_rod, k_spring, c_spring and g.

Dimensions are numbers, without the digits that rounding made.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.closed_form.convert import number, short_ratio
from zwang.closed_form.decimals import too_long
from zwang.errors import UnknownNameError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.multibody.frozen import Parts

__all__ = [
    "LETTERS",
    "cleaned",
    "gravity_letters",
    "in_letters",
    "letters_of",
    "owned_names",
    "principal_moments",
]

#: Letters of the numbers of bodies and forces, before the name of what they belong to.
LETTERS = {"mass": "m", "inertia": "J", "stiffness": "k", "damping": "c"}
#: Dimensions are written with so many digits, and are zero below this share of the largest.
DIGITS, NOTHING = 13, 1e-14
#: Multiples of this angle are kept as such: cos(θ + π/2) is −sin θ.
STEP = np.pi / 12
#: Ratios, and roots of ratios, with denominators up to this are kept with all digits, so that a
#: closed form has 1/3 and √2/2 in place of decimals.
SMALL = 100


def letters_of(
    parts: Parts, name: str, flat: FloatArray, order: Iterable[int] | None = None
) -> list[str]:
    """A letter for each entry of a number of the mechanism, none for dimensions.

    Entries with the same number in `order` share one. A tensor without products of inertia, which
    one computed from parameters may be, has the letters of its moments alone.
    """
    if name in parts.parameters:
        return [name] if flat.size == 1 else [f"{name}_{k}" for k in range(flat.size)]
    owner, _, what = name.rpartition(".")
    if what not in LETTERS or not np.any(flat):
        return [""] * flat.size
    base = f"{LETTERS[what]}_{re.sub(r'[^0-9A-Za-z_]+', '', owner)}"
    if flat.size == 1:
        return [base]
    moments = principal_moments(flat)
    if moments is None or flat.size == moments.size:
        return [f"{base}{k + 1}" for k in (range(flat.size) if order is None else order)]
    letters = [""] * flat.size
    letters[:: len(moments) + 1] = letters_of(parts, name, moments, order)
    return letters


def principal_moments(flat: FloatArray) -> FloatArray | None:
    """The moments of inertia of a diagonal tensor, given as these or whole; else None."""
    if flat.size == 3:
        return flat
    if flat.size != 9:
        return None
    J = flat.reshape(3, 3)
    off = np.abs(J - np.diag(np.diag(J))).max()
    return np.diag(J).copy() if off <= NOTHING * np.abs(J).max() else None


def gravity_letters(flat: FloatArray) -> list[tuple[str, float]]:
    """Letter and sign of each entry: g, which points down; no letter where nothing acts."""
    acting = np.count_nonzero(flat)
    return [
        (("g" if acting == 1 else f"g_{'xyz'[k]}") if x else "", float(np.sign(x)))
        for k, x in enumerate(flat)
    ]


def in_letters(parts: Parts, values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every number of a mechanism as SymPy expressions: letters, and dimensions as they are.

    Parameters
    ----------
    values : all numbers by name.
    given : name or letter → number or expression to put in its place.
    """
    import sympy as sp

    fixed = () if parts.geometry is None else parts.geometry.names
    known: dict[str, None] = {}
    found: dict[str, Any] = {}
    for name, value in values.items():
        known[name] = None
        flat = np.ravel(np.asarray(value, dtype=float))
        signed = [(letter, 1.0) for letter in letters_of(parts, name, flat)]
        if name == "gravity":
            signed = gravity_letters(flat)
        entries = np.empty(flat.size, dtype=object)
        for k, ((letter, sign), x) in enumerate(zip(signed, cleaned(flat), strict=True)):
            known |= {letter: None} if letter else {}
            entries[k] = number(float(x))
            if letter in given:
                entries[k] = sp.sympify(given[letter]) * int(sign)
            elif letter and name not in fixed:
                entries[k] = sp.Symbol(letter) * int(sign)
        found[name] = given.get(name, entries.reshape(np.shape(value)))
    for name in given:
        if name not in known:
            raise UnknownNameError("parameter", name, known)
    return found


def owned_names(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Names of coordinates and velocities → letter and owner: ``rod.vx`` is v_x of the rod."""
    return {name: (name.rpartition(".")[2], name.rpartition(".")[0]) for name in names}


def is_long(x: float) -> bool:
    """Whether a number is written as a decimal in formulas: no short ratio, nor root of one."""
    import sympy as sp

    return any(too_long(part) for part in number(float(x)).atoms(sp.Rational))


def cleaned(values: FloatArray) -> FloatArray:
    """Numbers without the last digits, which rounding made."""
    limit = NOTHING * np.abs(values).max(initial=1.0)
    return np.array([_cleaned(float(x), limit) for x in values])


def _cleaned(x: float, limit: float) -> float:
    """A number, or zero, a multiple of `STEP`, a ratio or root of one within a limit of it."""
    if abs(x) <= limit or not math.isfinite(x):
        return 0.0 if abs(x) <= limit else x
    short = float(f"{x:.{DIGITS}g}")
    if short == float(f"{x:.{DIGITS - 2}g}"):  # it ends by itself, as numbers do that are typed
        return short
    turn = round(x / STEP) * STEP
    ratio = float(Fraction(x).limit_denominator(SMALL))
    root = math.copysign(math.sqrt(Fraction(x * x).limit_denominator(SMALL)), x)
    found = next((meant for meant in (turn, ratio, root) if abs(x - meant) <= limit), None)
    if found is not None:
        return found
    exact = short_ratio(x)
    return short if exact is None else float(exact)
