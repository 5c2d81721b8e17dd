"""Wording of a diagnosis: numbers, lists and directions in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from zwang.terms import FloatArray

__all__ = [
    "combination",
    "first_of",
    "listing",
    "motion",
    "number",
    "shortened",
    "tidy",
    "without_noise",
]

#: A coefficient this close, relatively, to a small fraction is that fraction: null vectors of
#: scaled matrices carry errors of 1e-16 times a condition number, fractions up to 1/24 lie apart.
TIDY_TOLERANCE = 1e-10

#: Largest denominator that still reads better than decimals.
LARGEST_DENOMINATOR = 24

#: Coordinates or rows named one by one in a sentence before the rest is only counted.
NAMED_IN_SENTENCE = 8
#: The same where each is named with a number.
NAMED_FIRST = 3


def tidy(vector: FloatArray) -> FloatArray:
    """A multiple of the vector with small whole numbers if there is one, else of largest entry 1.

    The first entry other than zero becomes positive.

    Examples
    --------
    >>> tidy(np.array([-0.5, 0.0, 1 / 3]))
    array([ 3.,  0., -2.])
    """
    size = np.abs(vector)
    used = size > 0.0
    if not used.any():
        return vector
    sign = np.sign(vector[np.argmax(used)])
    for factor in range(1, LARGEST_DENOMINATOR + 1):
        candidate = vector * (sign * factor / size[used].min())
        whole = np.round(candidate)
        if np.all(np.abs(candidate - whole) <= TIDY_TOLERANCE * np.maximum(np.abs(whole), 1.0)):
            return whole + 0.0  # no negative zeros
    return vector * (sign / size.max()) + 0.0


def without_noise(values: FloatArray) -> FloatArray:
    """The values for a table, where what is below 1e-13 of the largest is shown as zero."""
    return np.where(np.abs(values) > 1e-13 * np.max(np.abs(values), initial=0.0), values, 0.0)


def number(value: float) -> str:
    """A short form: ``2``, ``−1/3``, ``0.707107``."""
    sign, size = ("−" if value < 0 else ""), abs(value)
    if size and np.isfinite(size):
        near = Fraction(size).limit_denominator(LARGEST_DENOMINATOR)
        close = abs(size - float(near)) <= TIDY_TOLERANCE * size
        if close and near.numerator < 1e6 and near.denominator > 1:
            return f"{sign}{near.numerator}/{near.denominator}"
    return sign + f"{size:.6g}".replace("e-", "e−")


def shortened(names: Sequence[str]) -> str:
    """``a, b and c``; of many names the first, and how many more there are."""
    if len(names) <= NAMED_IN_SENTENCE + 1:
        return listing(names)
    first = names[:NAMED_IN_SENTENCE]
    return f"{', '.join(first)} and {len(names) - NAMED_IN_SENTENCE} more"


def first_of(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    more = len(names) - NAMED_FIRST
    first = listing(names[:NAMED_FIRST])
    return first if more <= 0 else f"{first}, … and {more} more"


def listing(words: Sequence[str], joint: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``; long lists end in a count."""
    words = list(words)
    if len(words) > NAMED_IN_SENTENCE:
        rest = len(words) - NAMED_IN_SENTENCE + 1
        words = [*words[: NAMED_IN_SENTENCE - 1], f"{rest} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"


def combination(coefficients: Sequence[float] | FloatArray, names: Sequence[str]) -> str:
    """``2 rod + pin[0] − 1/3 bar``."""
    text = ""
    for coefficient, name in list(zip(coefficients, names, strict=True))[:NAMED_IN_SENTENCE]:
        factor = "" if abs(coefficient) == 1.0 else f"{number(abs(coefficient))}·"
        sign = "−" if coefficient < 0 else "+"
        text += f" {sign} {factor}{name}" if text else f"{'−' * (sign == '−')}{factor}{name}"
    rest = len(names) - NAMED_IN_SENTENCE
    return f"{text} + ({rest} more terms)" if rest > 0 else text


def motion(direction: FloatArray, coordinates: Sequence[str]) -> str:
    """A direction of motion in words: ``x and y move together, y = −2 x``."""
    moving = [int(j) for j in np.flatnonzero(direction)]
    names = [coordinates[j] for j in moving]
    if len(moving) == 1:
        return f"{names[0]} moves alone"
    lead = direction[moving[0]]
    ratios = []
    for j, name in zip(moving[1:], names[1:], strict=True):
        ratio = direction[j] / lead
        factor = {1.0: "", -1.0: "−"}.get(ratio, f"{number(ratio)} ")
        ratios.append(f"{name} = {factor}{names[0]}")
    if len(ratios) > NAMED_IN_SENTENCE:
        ratios = [*ratios[: NAMED_IN_SENTENCE - 1], "…"]
    return f"{listing(names)} move together, {', '.join(ratios)}"
