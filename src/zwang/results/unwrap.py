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

#: Times that are asked for at once at most; where more are in doubt, the first ones are looked at.
MOST_ASKED = 200_000

#: Times → angle and rate there, each of shape (nt,).
States = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def followed(t: FloatArray, angle: FloatArray, rate: FloatArray, between: States) -> FloatArray:
    """Angles without jumps, shape (nt,), from those modulo 2π and their rates.

    What turns so fast that no pieces would show it, as where a simulation diverged, is not looked
    at: its turns are those of the mean rate.

    Parameters
    ----------
    t, angle, rate : saved times, angles in (−π, π] and rates, shape (nt,).
    between : gives angles and rates at other times; asked where the saved ones are too far apart.
    """
    turned = _turned(t[None], angle[None], rate[None], between, DEPTH)[0]
    gone = np.concatenate([np.zeros(min(1, len(t))), np.cumsum(turned)])
    # Whole turns are counted and not added up: an angle then has the bits of its own state,
    # whatever times were saved before it.
    return angle + FULL_TURN * np.round((gone - (angle - angle[:1].sum())) / FULL_TURN)


def _turned(
    t: FloatArray, angle: FloatArray, rate: FloatArray, between: States, depth: int
) -> FloatArray:
    """The change of angles from each time to the next in a row, rows of nt to rows of nt − 1."""
    time, step = np.diff(t), np.diff(angle)
    guess = 0.5 * (rate[:, 1:] + rate[:, :-1]) * time
    turned = step + FULL_TURN * np.round((guess - step) / FULL_TURN)
    uneven = np.abs(np.diff(rate)) * time
    fastest = np.maximum(np.abs(rate[:, 1:]), np.abs(rate[:, :-1])) * time
    doubtful = (np.abs(guess - turned) > MISSED) | (uneven > EVEN)
    rows, places = np.nonzero(doubtful & (fastest <= float(PIECES) ** depth))
    rows, places = rows[: MOST_ASKED // PIECES], places[: MOST_ASKED // PIECES]
    if not depth or not len(rows):
        return turned
    parts = np.arange(1, PIECES) / PIECES
    inner = t[rows, places, None] + time[rows, places, None] * parts
    found = [x.reshape(inner.shape) for x in between(inner.ravel())]
    times, angles, rates = (
        np.concatenate([x[rows, places, None], new, x[rows, places + 1, None]], axis=1)
        for x, new in zip((t, angle, rate), (inner, *found), strict=True)
    )
    turned[rows, places] = _turned(times, angles, rates, between, depth - 1).sum(axis=1)
    return turned
