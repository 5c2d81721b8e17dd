"""Joint coordinates: dimensions that stay letters in closed forms.

Compiled code takes points of joints as numbers, which follow from the parameters of geometry by
building the mechanism anew. Where they are polynomials of these, some values tell which: with more
values than coefficients, anything else is seen by what is left over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.closed_form.convert import short_ratio
from zwang.errors import InputError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.frozen import Parts

__all__ = ["DimensionPolynomials", "polynomials", "separated"]

#: Highest power of dimensions: masses and moments of inertia of given density have up to five, and
#: are letters for those who want them shorter.
DEGREE = 3
#: Shares of a default between which dimensions are tried.
TRIED = 0.6, 1.5
#: What rounding leaves of a polynomial, as a share of the largest value, and of a coefficient.
LEFT, ROUNDED = 1e-11, 1e-9
#: Share of a coefficient that rounding leaves once all short ones are known, and digits of one that
#: is taken to be typed.
KNOWN, TYPED = 1e-11, 8
#: Largest denominator of a coefficient that is taken for a ratio.
DENOMINATOR = 1000


@dataclass(frozen=True)
class DimensionPolynomials:
    """Numbers as polynomials of dimensions.

    Attributes
    ----------
    names : of the dimensions.
    powers : of each monomial, shape (monomials, dimensions).
    coefficients : shape (monomials, numbers).
    """

    names: tuple[str, ...]
    powers: np.ndarray
    coefficients: FloatArray

    @property
    def varying(self) -> np.ndarray:
        """Places of the numbers that are not constant."""
        return np.flatnonzero(np.any(self.coefficients[self.powers.sum(axis=1) > 0], axis=0))

    def put(self, numbers: FloatArray, letters: Mapping[str, casadi.SX]) -> casadi.SX:
        """Numbers with polynomials of the letters in place of those that vary."""
        import casadi as ca

        result = ca.SX(ca.DM(numbers))
        for place in self.varying:
            value = ca.SX(0)
            for powers, c in zip(self.powers, self.coefficients[:, place], strict=True):
                if c:
                    term = ca.SX(float(c))
                    for name, power in zip(self.names, powers, strict=True):
                        term = term * letters[name] ** int(power) if power else term
                    value += term
            result[int(place)] = value
        return result


def separated(
    parts: Parts, parameters: Mapping[str, Any] | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Values of dimensions that are given as numbers, and names of those given as expressions."""
    names = () if parts.geometry is None else parts.geometry.names
    numbers: dict[str, Any] = {}
    kept: list[str] = []
    for name in (n for n in parameters or {} if n in names):
        value = (parameters or {})[name]
        entries = np.ravel(np.array(value, dtype=object))
        if not any(getattr(e, "free_symbols", None) for e in entries):
            numbers[name] = np.array(value, dtype=float) if np.ndim(value) else float(value)
        elif np.ndim(parts.parameters[name]):
            raise InputError(
                f"dimension {name!r}",
                must="be given as numbers in closed forms",
                but="is a vector of parameters with letters in it",
                advice="Use one parameter for each entry; these can stay letters.",
            )
        else:
            kept.append(name)
    return numbers, tuple(kept)


def polynomials(
    defaults: Mapping[str, float], numbers: Callable[[Mapping[str, float]], FloatArray]
) -> DimensionPolynomials:
    """Numbers as polynomials of dimensions.

    Parameters
    ----------
    defaults : dimension → value near which it is varied.
    numbers : all numbers for values of the dimensions.

    Raises
    ------
    InputError : they are no polynomials.
    """
    names = tuple(defaults)
    powers = np.array(
        [e for e in product(range(DEGREE + 1), repeat=len(names)) if sum(e) <= DEGREE]
    )
    rng = np.random.default_rng(0)
    tried = rng.uniform(*TRIED, size=(2 * len(powers) + 2, len(names)))
    sizes = np.array([defaults[name] or 1.0 for name in names])
    rows = np.array([numbers(dict(zip(names, x.tolist(), strict=True))) for x in tried * sizes])
    monomials = np.prod(tried[:, None, :] ** powers, axis=-1)
    found = np.linalg.lstsq(monomials, rows, rcond=None)[0]
    scale = np.prod(sizes**powers, axis=-1)
    top = np.abs(rows).max(initial=1.0)
    exact = np.array([[_simple(c, top) for c in row] for row in found / scale[:, None]])
    for place in range(exact.shape[1]):
        exact[:, place] = _sharpened(exact[:, place], rows[:, place], monomials, scale)
    left = np.abs((monomials * scale) @ exact - rows).max(initial=0.0)
    if not left <= LEFT * top:
        word = "dimension" if len(names) == 1 else "dimensions"
        raise InputError(
            f"{word} {' and '.join(map(repr, names))}",
            must=f"enter points, axes and inertias as a polynomial of degree {DEGREE} at most to "
            "stay a letter",
            but="they are other functions of it" if len(names) == 1 else "they are other functions",
            advice=f"Give a number, as in parameters={{{names[0]!r}: {defaults[names[0]]:g}}}.",
        )
    return DimensionPolynomials(names, powers, exact)


def _sharpened(
    coefficients: FloatArray, values: FloatArray, monomials: FloatArray, scale: FloatArray
) -> FloatArray:
    """Coefficients of which small ones have more digits: they are fitted when large ones are known.

    A thin cylinder has (3 r² + h²)/12, of which h² is lost in the rounding of r².
    """
    long = np.array([float(Fraction(c).limit_denominator(DENOMINATOR)) != c for c in coefficients])
    if not long.any():
        return coefficients
    found = coefficients.copy()
    rest = values - monomials[:, ~long] @ (coefficients * scale)[~long]
    fitted = np.linalg.lstsq(monomials[:, long], rest, rcond=None)[0] / scale[long]
    for k, c in zip(np.flatnonzero(long), fitted.tolist(), strict=True):
        ratio, decimal = short_ratio(c, KNOWN), float(f"{c:.{TYPED}g}")
        near = abs(decimal - c) <= KNOWN * abs(c)
        found[k] = decimal if near else c if ratio is None else float(ratio)
    return found


def _simple(value: float, top: float) -> float:
    """A coefficient without rounding: zero, a ratio of small numbers, or as it is."""
    if abs(value) <= ROUNDED * top:
        return 0.0
    ratio = Fraction(value).limit_denominator(DENOMINATOR)
    return float(ratio) if abs(float(ratio) - value) <= ROUNDED * abs(value) else value
