"""Ready-made chains of masses and springs with singular mass matrices.

Each part has its own coordinates, as if it hung on a support of its own; equations of the parts
are written down separately and the joints become constraints. A part without a mass of its own
in some direction makes M singular; together with the constraints the motion is unique.
"""

from __future__ import annotations

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import position

__all__ = ["three_mass_chain", "three_mass_chain_states", "two_mass_chain", "two_mass_chain_states"]


def two_mass_chain(
    *, m1: float = 1.0, m2: float = 2.0, k1: float = 30.0, k2: float = 20.0
) -> System:
    """Wall, spring, mass, spring, mass, cut between the masses; q = (x1, q1, x2).

    x₁ is the stretch of the first spring, q₁ the place where the second part is held and x₂ the
    stretch of its spring, so that the second mass is at q₁ + x₂. M has rank 2. ``joint``: x₁ = q₁;
    λ is the force in the second spring, k₂x₂.

    Source: F. E. Udwadia, P. Phohomsiri, Proceedings of the Royal Society A 462 (2006) 2097–2117,
    the idea of the example; Udwadia & Schutte (2010), (1)–(8).

    Examples
    --------
    >>> s = two_mass_chain(k2=20.0).solve(q=[0.1, 0.1, 0.3])
    >>> s.ranks.mass, s.multipliers.round(12)
    (2, array([6.]))
    """
    return System(
        coordinates=["x1", "q1", "x2"],
        parameters={"m1": m1, "m2": m2, "k1": k1, "k2": k2},
        mass=lambda p: [[p.m1, 0, 0], [0, p.m2, p.m2], [0, p.m2, p.m2]],
        potential=lambda q, p: (p.k1 * q[0] ** 2 + p.k2 * q[2] ** 2) / 2,
        constraints={"joint": position(lambda q: q[0] - q[1])},
    )


def two_mass_chain_states(rng: np.random.Generator, count: int) -> State:
    """Any stretches and rates."""
    return random_states.state(rng, *(_joined(random_states.normal(rng, count, 2)) for _ in "qv"))


def three_mass_chain(
    *,
    m1: float = 1.0,
    m2: float = 2.0,
    m3: float = 0.5,
    k1: float = 30.0,
    k2: float = 20.0,
    k3: float = 10.0,
) -> System:
    """The same with a third mass and spring; q = (x1, q1, x2, q2, x3), M of rank 3.

    ``first_joint``: x₁ = q₁, ``second_joint``: q₁ + x₂ = q₂; their λ are k₂x₂ and k₃x₃.

    Source: as for `two_mass_chain`; joining parts as in Udwadia & Mogharabin (2022), introduction.

    Examples
    --------
    >>> s = three_mass_chain().solve(q=[0.1, 0.1, 0.3, 0.4, 0.5])
    >>> s.ranks.mass, s.multipliers.round(12)
    (3, array([6., 5.]))
    """
    return System(
        coordinates=["x1", "q1", "x2", "q2", "x3"],
        parameters={"m1": m1, "m2": m2, "m3": m3, "k1": k1, "k2": k2, "k3": k3},
        mass=lambda p: [
            [p.m1, 0, 0, 0, 0],
            [0, p.m2, p.m2, 0, 0],
            [0, p.m2, p.m2, 0, 0],
            [0, 0, 0, p.m3, p.m3],
            [0, 0, 0, p.m3, p.m3],
        ],
        potential=lambda q, p: (p.k1 * q[0] ** 2 + p.k2 * q[2] ** 2 + p.k3 * q[4] ** 2) / 2,
        constraints={
            "first_joint": position(lambda q: q[0] - q[1]),
            "second_joint": position(lambda q: q[1] + q[2] - q[3]),
        },
    )


def three_mass_chain_states(rng: np.random.Generator, count: int) -> State:
    """Any stretches and rates."""
    return random_states.state(rng, *(_joined(random_states.normal(rng, count, 3)) for _ in "qv"))


def _joined(stretches: np.ndarray) -> np.ndarray:
    """x₁, q₁, x₂, (q₂, x₃) from the stretches: each part is held where the one before it ends."""
    columns = [stretches[:, 0]]
    for k in range(1, stretches.shape[1]):
        columns += [stretches[:, :k].sum(axis=1), stretches[:, k]]
    return random_states.columns(*columns)
