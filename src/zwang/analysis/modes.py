"""Modes of small motions: eigenvalues with frequency, damping and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import NotApplicableError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.mode_motion import ModeOrigin
    from zwang.results.run import Run

__all__ = ["Mode", "modes_of"]

#: Imaginary parts below this share of an eigenvalue are rounding.
REAL = 1e-9
#: Eigenvalues below this share of the largest are zero.
NOTHING = 1e-12


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
    _origin: ModeOrigin | None = field(default=None, repr=False, compare=False)

    def animate(
        self, amplitude: float | None = None, *, cycles: float = 1.0, frames: int = 61
    ) -> Run:
        """The mode as a run, to be drawn: ``mode.animate().view()``, ``.animate("mode.gif")``.

        Its states are on the position constraints and agree with the mode to first order in the
        amplitude; of large mechanisms they are first order alone. Damping and growth are left out;
        a mode that does not oscillate swings back and forth once a second. About a steady motion,
        the state that moves steadily is drawn at rest.

        Parameters
        ----------
        amplitude : of the coordinate that moves most; by default such that no body turns by more
            than 0.3 rad or moves by more than a tenth of the mechanism's size.
        cycles : how many, 1 or a part of it.
        frames : saved states, the first and the last included.
        """
        if self._origin is None:
            raise NotApplicableError(
                "animation of a mode",
                must="be of one of lin.modes()",
                but="this one was made without its system",
            )
        return self._origin.run(self.eigenvalue, amplitude, cycles, frames, str(self))

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
        rate = f"{s.real + 0.0:.6g}".replace("-", "−")
        return f"s = {rate} 1/s, no oscillation, mostly {leading}"


def _shown(ratio: float) -> str:
    return f"{ratio:.3g}" if abs(ratio) > REAL else "0"


def modes_of(
    A: FloatArray, states: Sequence[str], pi: FloatArray, N: FloatArray, about: ModeOrigin
) -> list[Mode]:
    """Modes of ż = A z by rising frequency.

    Parameters
    ----------
    pi : columns of δπ for a unit of each state, shape (n, f).
    N : δq = N δπ.
    about : the state about which they are, with any shape.
    """
    if not A.size:
        return []
    values, vectors = np.linalg.eig(A)
    values = np.where(np.abs(values) <= NOTHING * np.abs(values).max(), 0.0, values)
    found = [
        _mode_of(complex(s), z, states, pi @ z, N, about)
        for s, z in zip(values, vectors.T, strict=True)
        if s.imag >= 0.0
    ]
    return sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real))


def _mode_of(
    s: complex,
    z: FloatArray,
    states: Sequence[str],
    pi: FloatArray,
    N: FloatArray,
    about: ModeOrigin,
) -> Mode:
    """One mode, scaled such that its largest displacement, or else its largest state, is 1."""
    moved = N @ pi
    lead = moved if np.abs(moved).max(initial=0.0) > 1e-8 * np.abs(z).max() else z
    factor = lead[int(np.abs(lead).argmax())]
    shape = {n: complex(x) for n, x in zip(states, z / factor, strict=True)}
    return Mode(s, shape, moved / factor, replace(about, pi=pi / factor))
