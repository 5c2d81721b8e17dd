"""Derivatives of opaque functions, which cannot be traced: complex step, or differences.

    complex step    f_j  = Im f(w + i h e_j) / h,  h ≈ 1e-30: no difference, so no cancellation;
                    f_jl = the difference quotient of that along e_l, extrapolated
    differences     f_j  = (f(w + h e_j) − f(w − h e_j)) / 2h, extrapolated;
                    f_jl = second differences along e_j, e_l and e_j + e_l, extrapolated

Extrapolation is Richardson's on steps h, h/2, h/4, …; of the whole table that entry is taken whose
neighbours differ least, and this difference is the error that is reported (after Ridders 1982). A
point where f fails is omitted, so that f may be used near the edge of its domain.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from zwang.errors import InputError
from zwang.terms import FloatArray

__all__ = ["Derivatives", "differentiate", "extrapolated"]

#: Imaginary step: its square vanishes against one, and it is far from underflow.
COMPLEX_STEP = 2.0**-100

#: First real step, as a fraction of the argument or of one; each next step is half the last.
FIRST_STEP = 2.0**-3
LEVELS = 10
COLUMNS = 6

#: A table whose best entry is not known to this fraction is tried again with smaller steps.
GOOD = 1e-5

#: A complex step is believed if a difference quotient agrees to this fraction. The quotient is good
#: to about 1e-9; where f is not differentiable in complex numbers they differ by far more.
AGREEMENT = 1e-4

#: Relative error up to which a table with smaller steps is worth considering.
SENSIBLE = 1e-2

EPSILON = float(np.finfo(float).eps)
LOST = 1e300  # the error of a table without entries

Function = Callable[[np.ndarray], np.ndarray]
Quotient = Callable[[float], tuple[FloatArray, FloatArray]]  # and the rounding it carries


class Derivatives(NamedTuple):
    """First and second derivatives at a point.

    Attributes
    ----------
    jacobian : the columns asked for, shape (m, len(columns)).
    hessian : the pairs asked for, shape (m, len(pairs)).
    method : ``"complex step"`` or ``"finite differences"``.
    error : largest estimated error of a derivative, relative to the largest derivative of its
        order; 0 when all came from complex steps alone.
    """

    jacobian: FloatArray
    hessian: FloatArray
    method: str
    error: float


def differentiate(
    f: Function,
    w: FloatArray,
    value: FloatArray,
    columns: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    method: str = "auto",
    name: str = "f",
) -> Derivatives:
    """Derivatives of f at w, where its value is known.

    Parameters
    ----------
    f : takes (n,), real or complex, and returns (m,).
    columns, pairs : arguments j of f_j and (j, l) of f_jl.
    method : ``"auto"`` prefers the complex step where it can be trusted.
    """
    if method != "finite differences":
        if _analytic(f, w, value):
            return _by_complex_step(f, w, columns, pairs, name)
        if method == "complex step":
            raise InputError(
                f"opaque function {name!r}",
                must="be differentiable in complex arguments, as derivatives='complex step' "
                "requires",
                but="is not, at this point",
            )
    return _by_differences(f, w, value, columns, pairs, name)


def _by_complex_step(
    f: Function,
    w: FloatArray,
    columns: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    name: str,
) -> Derivatives:
    def slope(w: FloatArray, j: int) -> FloatArray:
        try:
            return _imaginary(f, w, _unit(w, j))
        except Exception:  # noqa: BLE001 - outside of the domain of the user's function
            return np.full(1, np.nan)

    size = len(f(w))
    jacobian = np.empty((size, len(columns)))
    for k, j in enumerate(columns):
        jacobian[:, k] = slope(w, j)
    hessian, errors = np.empty((size, len(pairs))), np.zeros((size, len(pairs)))
    for k, (j, l) in enumerate(pairs):
        hessian[:, k], errors[:, k] = extrapolated(
            _central(lambda w, j=j: slope(w, j), w, _unit(w, l)), _scale(w[l]), name
        )
    return Derivatives(jacobian, hessian, "complex step", _relative(errors, hessian))


def _by_differences(
    f: Function,
    w: FloatArray,
    value: FloatArray,
    columns: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    name: str,
) -> Derivatives:
    grain = _grain(f, w)
    jacobian = np.empty((len(value), len(columns)))
    first_errors = np.zeros_like(jacobian)
    for k, j in enumerate(columns):
        jacobian[:, k], first_errors[:, k] = extrapolated(
            _central(lambda w: _real(f, w), w, _unit(w, j), grain), _scale(w[j]), name
        )

    bends: dict[tuple[int, int], tuple[FloatArray, FloatArray]] = {}

    def bend(j: int, l: int) -> tuple[FloatArray, FloatArray]:
        # dᵀ f_ww d along d = e_j, or along the sum of e_j and e_l, in units of the arguments
        if (j, l) not in bends:
            along = _scale(w[j]) * _unit(w, j) + (_scale(w[l]) * _unit(w, l) if l != j else 0.0)

            def second(h: float) -> tuple[FloatArray, FloatArray]:
                ahead, behind = _real(f, w + h * along), _real(f, w - h * along)
                size = np.maximum(np.abs(value), np.maximum(np.abs(ahead), np.abs(behind)))
                return (ahead - 2.0 * value + behind) / h**2, (EPSILON * size + grain) / h**2

            bends[j, l] = extrapolated(second, 1.0, name)
        return bends[j, l]

    hessian = np.empty((len(value), len(pairs)))
    errors = np.zeros_like(hessian)
    for k, (j, l) in enumerate(pairs):
        scale = _scale(w[j]) * _scale(w[l])
        if j == l:
            second, error = bend(j, j)
        else:
            parts = [bend(j, l), bend(j, j), bend(l, l)]
            second = 0.5 * (parts[0][0] - parts[1][0] - parts[2][0])
            error = 0.5 * sum(part[1] for part in parts)
        hessian[:, k], errors[:, k] = second / scale, error / scale
    worst = max(_relative(first_errors, jacobian), _relative(errors, hessian))
    return Derivatives(jacobian, hessian, "finite differences", worst)


def _central(
    f: Function, w: FloatArray, along: FloatArray, grain: FloatArray | float = 0.0
) -> Quotient:
    """(f(w + h d) − f(w − h d)) / 2h and what rounding makes of it."""

    def quotient(h: float) -> tuple[FloatArray, FloatArray]:
        ahead, behind = f(w + h * along), f(w - h * along)
        noise = EPSILON * np.maximum(np.abs(ahead), np.abs(behind)) + grain
        return (ahead - behind) / (2.0 * h), noise / h

    return quotient


def _grain(f: Function, w: FloatArray) -> FloatArray:
    """How finely the values of f are known: what high differences over tiny steps leave, (m,).

    Those of a smooth function vanish there; of values that carry independent errors of size σ, the
    difference of order k has the size σ √(2k over k) (Hamming's table).
    """
    along = np.array([_scale(x) for x in w])
    for step in (1e-12, 1e-9, 1e-6):
        table = np.array([_real(f, w + k * step * along) for k in range(-3, 4)])
        if np.ptp(table) > 0.0:  # else f stands still: see whether it is about to jump
            break
    sizes = []
    for order in (4, 5, 6):
        differences = np.diff(table, n=order, axis=0)
        sizes.append(np.max(np.abs(differences), axis=0) / math.sqrt(math.comb(2 * order, order)))
    grain = np.max(sizes, axis=0)
    return np.where(np.isfinite(grain), grain, 0.0)


def extrapolated(quotient: Quotient, scale: float, name: str) -> tuple[FloatArray, FloatArray]:
    """The limit for h → 0 of a quotient that is even in h, and its estimated error, both (m,)."""
    start = FIRST_STEP * scale
    best, error = _table(quotient, start)
    if np.all(error <= GOOD * np.abs(best)) and np.all(_confirmed(quotient, start, best, error)):
        return best, error
    for _ in range(3):
        # Quotients of steps that are too long for f are small, and so are their errors: what
        # counts is the relative error, and only one that makes sense. A table of mere rounding,
        # where the limit is zero or f is known to few digits, has none or is not confirmed.
        start *= 2.0**-LEVELS
        entry, doubt = _table(quotient, start)
        with np.errstate(over="ignore"):  # where one of them is lost
            better = doubt * np.abs(best) < error * np.abs(entry)
        better &= (doubt < SENSIBLE * np.abs(entry)) & _confirmed(quotient, start, entry, doubt)
        better |= error == LOST
        best, error = np.where(better, entry, best), np.where(better, doubt, error)
    if np.any(error == LOST):
        raise InputError(
            f"opaque function {name!r}",
            must="be differentiable here",
            but="has no finite values beside this point",
        )
    return best, error


def _confirmed(quotient: Quotient, start: float, best: FloatArray, error: FloatArray) -> np.ndarray:
    """Whether a much smaller step agrees: long steps may skip the waves of f altogether."""
    entry, noise = quotient(start * 2.0 ** (-LEVELS - 2))
    size = np.maximum(np.abs(entry), np.abs(best))
    return np.abs(entry - best) <= 1e-3 * size + 10.0 * noise + error


def _table(quotient: Quotient, start: float) -> tuple[FloatArray, FloatArray]:
    """Best entry of Richardson's table and its error, `LOST` when f failed at every step.

    The error of an entry is its largest difference from the entries of the same order with twice
    and half the step: that three agree by chance is rare, that two of a table do is not.
    """
    best, error = np.zeros(1), np.full(1, LOST)
    rows: list[list[FloatArray]] = []
    last_noise = np.zeros(1)
    for level in range(LEVELS):
        entry, noise = quotient(start * 2.0**-level)
        if not np.isfinite(entry).all():
            rows = []
            continue
        row = [entry]
        for k, old in enumerate(rows[-1][: COLUMNS - 1] if rows else (), start=1):
            # T[i, k] = T[i, k−1] + (T[i, k−1] − T[i−1, k−1]) / (4ᵏ − 1)
            row.append(row[-1] + (row[-1] - old) / (4.0**k - 1.0))
        rows.append(row)
        if len(rows) > 2:
            for below, entry, above in zip(*rows[-3:], strict=False):
                doubt = np.maximum(np.abs(entry - below), np.abs(entry - above)) + last_noise
                better = doubt < error
                best, error = np.where(better, entry, best), np.where(better, doubt, error)
        if np.all(error <= 4.0 * last_noise):
            break  # smaller steps have more rounding
        last_noise = noise
    return best, error


def _analytic(f: Function, w: FloatArray, value: FloatArray) -> bool:
    """Whether f takes complex numbers and its complex step agrees with a difference quotient."""
    # One direction through all arguments, with unequal weights so that errors cannot cancel.
    along = np.array([_scale(x) * (1.0 + 0.1 * k) for k, x in enumerate(w)])
    try:
        step = _imaginary(f, w, along)
    except Exception:  # noqa: BLE001 - whatever the user's function raises on complex numbers
        return False
    for h in (1e-5, 1e-7):  # the second for functions that vary fast
        quotient = (_real(f, w + h * along) - _real(f, w - h * along)) / (2.0 * h)
        size = np.maximum(np.abs(step), np.abs(quotient))
        rounding = 4.0 * EPSILON * np.abs(value) / h
        if np.all(np.abs(step - quotient) <= AGREEMENT * size + rounding):
            return True
    return False


def _imaginary(f: Function, w: FloatArray, along: FloatArray) -> FloatArray:
    """The derivative of f along a direction, by a complex step."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # A function that drops the imaginary part warns; then it does not take complex numbers.
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        return np.imag(f(w + 1j * COMPLEX_STEP * along)) / COMPLEX_STEP


def _real(f: Function, w: FloatArray) -> FloatArray:
    """Values of f, or NaN where it fails."""
    try:
        with np.errstate(all="ignore"):
            result = f(w)
    except Exception:  # noqa: BLE001 - outside of the domain of the user's function
        return np.full(1, np.nan)
    return np.full(len(result), np.nan) if np.iscomplexobj(result) else result.astype(float)


def _scale(x: float) -> float:
    # Where an argument is small because the unit is large, the tables with smaller steps take over.
    return max(abs(float(x)), 1.0)


def _unit(w: FloatArray, j: int) -> FloatArray:
    unit = np.zeros(len(w))
    unit[j] = 1.0
    return unit


def _relative(errors: FloatArray, values: FloatArray) -> float:
    size = np.max(np.abs(values), initial=0.0)
    return float(np.max(errors, initial=0.0) / size) if size else float(np.max(errors, initial=0.0))
