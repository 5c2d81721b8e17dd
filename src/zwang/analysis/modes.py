"""Modes of small motions: eigenvalues with frequency, damping and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from zwang.terms import FloatArray

__all__ = ["Mode", "modes_of"]

#: Imaginary parts below this share of an eigenvalue are rounding.
REAL = 1e-9


@dataclass(frozen=True)
class Mode:
    """One mode z(t) = Re(shape · exp(eigenvalue · t)).

    Attributes
    ----------
    eigenvalue : s = −ζ ω ± i ω √(1 − ζ²), that with the positive imaginary part [1/s].
    shape : state → complex amplitude, the largest displacement 1.
    displacement : the same by the coordinates q, complex, shape (nq,).
    """

    eigenvalue: complex
    shape: dict[str, complex] = field(repr=False)
    displacement: FloatArray = field(repr=False)

    @property
    def frequency(self) -> float:
        """Undamped angular frequency ω = |s| [rad/s]; zero where the mode does not oscillate."""
        return abs(self.eigenvalue) if self.oscillates else 0.0

    @property
    def hertz(self) -> float:
        """Frequency [Hz]."""
        return self.frequency / (2.0 * np.pi)

    @property
    def damping(self) -> float:
        """Damping ratio ζ = −Re s/|s|, negative where the mode grows; 0 for s = 0."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size > 0.0 else 0.0

    @property
    def oscillates(self) -> bool:
        """Whether the eigenvalue has an imaginary part."""
        return abs(self.eigenvalue.imag) > REAL * abs(self.eigenvalue)

    def __str__(self) -> str:
        moving = {n: x for n, x in self.shape.items() if not n.endswith(("_rate", "_dot"))}
        moving = moving if any(moving.values()) else self.shape
        leading = max(moving, key=lambda name: abs(moving[name]), default="")
        s = self.eigenvalue
        if self.oscillates:
            return f"{self.hertz:.6g} Hz, damping ratio {_shown(self.damping)}, mostly {leading}"
        return f"s = {s.real:.6g} 1/s, no oscillation, mostly {leading}"


def _shown(ratio: float) -> str:
    return f"{ratio:.3g}" if abs(ratio) > REAL else "0"


def modes_of(A: FloatArray, states: Sequence[str], displacements: FloatArray) -> list[Mode]:
    """Modes of ż = A z by rising frequency.

    Parameters
    ----------
    displacements : columns of δq for a unit of each state, shape (nq, f).
    """
    if not A.size:
        return []
    values, vectors = np.linalg.eig(A)
    found = [
        mode_of(complex(s), z, states, displacements)
        for s, z in zip(values, vectors.T, strict=True)
        if s.imag >= 0.0
    ]
    return sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real))


def mode_of(s: complex, z: FloatArray, states: Sequence[str], displacements: FloatArray) -> Mode:
    """One mode, scaled such that its largest displacement, or else its largest state, is 1."""
    moved = displacements @ z
    lead = moved if np.abs(moved).max(initial=0.0) > 1e-8 * np.abs(z).max() else z
    factor = lead[int(np.abs(lead).argmax())]
    z, moved = z / factor, moved / factor
    return Mode(s, {n: complex(x) for n, x in zip(states, z, strict=True)}, moved)
