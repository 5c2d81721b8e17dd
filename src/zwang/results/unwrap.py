"""Unwrapping of angles beyond ±π over the times of a run.

A state gives an angle θ modulo 2π only. From one saved time to the next it is taken to have
changed by what is nearest to the mean of both rates times the time between, Δt (ω₀ + ω₁)/2. Where
saved times are far apart and the rate changes in between, the mean may be off by π and
more. Such segments are recognized by a guess that differs from the angle, or rates that
differ. States in between are asked for there, and each piece is judged in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zwang.terms import FloatArray

__all__ = ["followed"]

FULL_TURN = 2.0 * np.pi
#: A segment is trusted when its guess differs from the angle, modulo 2π, by less than this [rad]
#: and its rates differ by less than `EVEN` [rad] over it. The guess errs by Δt²(ω̇₁ − ω̇₀)/12 to
#: first order, a twelfth of what `EVEN` allows, where π would be needed to mislead it.
MISSED = 0.1
EVEN = 1.0
#: Pieces that a doubtful segment is cut into, and how often: 16⁴ is beyond what a run resolves.
PIECES = 16
DEPTH = 4

#: Times → angle and rate there, each of shape (nt,).
States = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def followed(t: FloatArray, angle: FloatArray, rate: FloatArray, between: States) -> FloatArray:
    """Angles without jumps, shape (nt,), from those modulo 2π and their rates.

    Parameters
    ----------
    t, angle, rate : saved times, angles in (−π, π] and rates, shape (nt,).
    between : gives angles and rates at other times; asked where the saved ones are too far apart.
    """
    turned = _turned(t, angle, rate, between, DEPTH)
    return angle[:1].sum() + np.concatenate([np.zeros(min(1, len(t))), np.cumsum(turned)])


def _turned(
    t: FloatArray, angle: FloatArray, rate: FloatArray, between: States, depth: int
) -> FloatArray:
    """The change of the angle from each time to the next, shape (nt − 1,)."""
    time, step = np.diff(t), np.diff(angle)
    guess = 0.5 * (rate[1:] + rate[:-1]) * time
    turned = step + FULL_TURN * np.round((guess - step) / FULL_TURN)
    doubtful = (np.abs(guess - turned) > MISSED) | (np.abs(np.diff(rate)) * time > EVEN)
    for i in np.flatnonzero(doubtful) if depth else ():
        inner = np.linspace(t[i], t[i + 1], PIECES + 1)[1:-1]
        angles, rates = between(inner)
        ends = slice(i, i + 2)
        turned[i] = _turned(
            np.insert(t[ends], 1, inner),
            np.insert(angle[ends], 1, angles),
            np.insert(rate[ends], 1, rates),
            between,
            depth - 1,
        ).sum()
    return turned
