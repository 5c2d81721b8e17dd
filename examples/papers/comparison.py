"""What a paper says beside what is computed, and by how much they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Differences below this share of the largest entry are rounding.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Result:
    """One result of a paper.

    Attributes
    ----------
    place : where the paper has it.
    what : what it is.
    computed : found by a general method, not from the paper's formula.
    printed : the paper's formula as it stands, or its number.
    corrected : the formula without its misprint; None where the print is right.
    why : the misprint.
    """

    place: str
    what: str
    computed: Any
    printed: Any
    corrected: Any = None
    why: str = ""

    @property
    def printed_differs(self) -> float:
        """Largest difference as printed, as a share of the largest entry computed."""
        return difference(self.printed, self.computed)

    @property
    def corrected_differs(self) -> float:
        """The same as corrected."""
        return difference(self.printed if self.corrected is None else self.corrected, self.computed)

    def cells(self) -> list[str]:
        """Place, what, values and differences as text."""
        corrected = "" if self.corrected is None else say(self.corrected_differs)
        return [
            self.place,
            self.what,
            show(self.computed),
            say(self.printed_differs),
            corrected,
            self.why,
        ]


def difference(found: Any, computed: Any) -> float:
    """Largest difference, as a share of the largest entry of what was computed."""
    found, computed = np.asarray(found, dtype=float), np.asarray(computed, dtype=float)
    if found.shape != computed.shape:
        return float("inf")
    size = np.abs(computed).max(initial=0.0)
    return float(np.abs(found - computed).max(initial=0.0) / (size if size > 0 else 1.0))


def say(share: float) -> str:
    """A difference in words that do not depend on the last bits."""
    if share < ROUNDING:
        return "rounding"
    if np.isinf(share):
        return "another size"
    return f"{100 * share:.3g} %"


def show(value: Any) -> str:
    """A number, a vector, or the size of a matrix."""
    array = np.asarray(value, dtype=float)
    if array.ndim > 1:
        return " × ".join(map(str, array.shape)) + " matrix"
    if array.size > 6:
        return f"{array.size} numbers"
    size = np.abs(array).max(initial=0.0)
    array = np.where(np.abs(array) < ROUNDING * max(size, 1.0), 0.0, array)
    text = ", ".join(f"{number:.4g}".replace("-", "−") for number in np.atleast_1d(array))
    return text if array.ndim == 0 else f"({text})"


def jacobian(function: Any, at: Any) -> np.ndarray:
    """∂f/∂x by complex steps: exact but for rounding, for functions NumPy evaluates."""
    at = np.asarray(at, dtype=float)
    step = 1e-30
    columns = [
        np.imag(function(at + 1j * step * direction)) / step for direction in np.eye(at.size)
    ]
    return np.stack(columns, axis=-1)


def rate(function: Any, at: Any, velocity: Any) -> np.ndarray:
    """d/dt f(x) along ẋ, by a complex step."""
    step = 1e-30
    return np.imag(function(np.asarray(at) + 1j * step * np.asarray(velocity))) / step


def report(title: str, results: list[Result]) -> None:
    """Print the table of a paper."""
    print(f"\n{title}\n")
    rows = [["place", "what", "computed", "as printed", "corrected", "why"]]
    rows += [result.cells() for result in results]
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    for row in rows:
        print("  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[5]]))
