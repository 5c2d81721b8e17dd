"""Open chains: rods on pins, in a plane and about axes that turn from pin to pin."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.model import GRAVITY, Body, Joint, Work, Y, rod
from benchmarks.references import stored
from benchmarks.references.chain import chain_centers

__all__ = ["chain", "skew_chain"]

TIMES = np.linspace(0.0, 1.0, 21)
#: From so many rods on every hundredth is compared, at the end alone: the reference is stored.
LONG = 10_000


def rods(n: int) -> tuple[Body, ...]:
    """Rods of 1 m and 1 kg along x, end to end."""
    return tuple(rod((k, 0, 0), (k + 1, 0, 0)) for k in range(n))


def chain(n: int) -> Work:
    """Rods on pins about y, from the horizontal at rest."""
    times, watched = (TIMES, None) if n < LONG else (TIMES[[0, -1]], tuple(range(0, n, 100)))
    what = "a rod on a pin" if n == 1 else f"{n:,} rods on pins"
    return Work(
        f"chain({n})",
        f"{what} about one direction, from the horizontal, 1 s",
        times,
        (lambda: stored(f"chain({n})")) if n >= LONG else lambda: chain_centers(n, GRAVITY, times),
        "absolute angles, Newton and Euler with the pins' forces; DOP853",
        watched,
        rods(n),
        tuple(Joint(k - 1, k, np.array([k, 0.0, 0.0]), Y) for k in range(n)),
        planar=True,
    )


def skew_chain(n: int) -> Work:
    """The same rods on pins whose axes turn by 0.7 rad about the rods from one to the next."""
    axes = [np.array([0.0, np.cos(0.7 * k), np.sin(0.7 * k)]) for k in range(n)]
    return Work(
        f"skew_chain({n})",
        f"{n} rods on pins whose axes turn by 0.7 rad from one to the next, 1 s",
        TIMES,
        lambda: stored(f"skew_chain({n})"),
        "joint angles, dense recursion of Newton and Euler; DOP853",
        None,
        rods(n),
        tuple(Joint(k - 1, k, np.array([k, 0.0, 0.0]), axes[k]) for k in range(n)),
    )
