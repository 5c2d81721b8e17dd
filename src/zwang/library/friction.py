"""Ready-made systems with Coulomb friction, a force that depends on the reaction itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import position

__all__ = ["rough_wire_bead", "rough_wire_bead_states"]


def rough_wire_bead(
    *, m: float = 1.0, g: float = 9.81, mu: float = 0.3, Omega: float = 2.0
) -> System:
    """A bead sliding on a straight wire that turns in a horizontal plane; q = (x, y, z), z up.

    The wire turns about the origin at the rate Ω. ``wire``: −x sin Ωt + y cos Ωt = 0 and z = 0,
    rows at right angles and of length one, so that the pressure N = √(λ₀² + λ₁²) is the length
    of the reaction. Friction −μN against the sliding: with s the place on the wire,
    s̈ = Ω²s − μ sign(ṡ) √(4Ω²ṡ² + g²). The law is that of sliding; at ṡ = 0 it gives no force.

    Source: non-ideal constraints as in Udwadia & Schutte (2010), (6); the example is a classic.

    Examples
    --------
    At the hub only the weight presses on the wire, and friction slows the bead by μg:

    >>> bead = rough_wire_bead(mu=0.5, g=10.0, Omega=0.0)
    >>> bead.solve(q=[0, 0, 0], v=[1.0, 0, 0]).acceleration.round(9) + 0.0
    array([-5.,  0.,  0.])
    """

    def wire(q: Any, t: Any, p: Any) -> list[Any]:
        return [q[1] * np.cos(p.Omega * t) - q[0] * np.sin(p.Omega * t), q[2]]

    def friction(v: Any, t: Any, p: Any, reaction: Any) -> list[Any]:
        cos, sin = np.cos(p.Omega * t), np.sin(p.Omega * t)
        sliding = v[0] * cos + v[1] * sin
        size = -p.mu * np.linalg.norm(reaction.multipliers) * np.sign(sliding)
        return [size * cos, size * sin, 0.0]

    return System(
        coordinates=["x", "y", "z"],
        parameters={"m": m, "g": g, "mu": mu, "Omega": Omega},
        mass=lambda p: p.m * np.eye(3),
        potential=lambda q, p: p.m * p.g * q[2],
        constraints={"wire": position(wire)},
        nonideal={"wire": friction},
    )


def rough_wire_bead_states(rng: np.random.Generator, count: int, *, Omega: float = 2.0) -> State:
    """Any place on the wire, sliding either way with a speed above 0.2."""
    t = random_states.instants(rng, count)
    s = random_states.normal(rng, count, 1)[:, 0]
    s_dot = rng.uniform(0.2, 2.0, count) * rng.choice([-1.0, 1.0], count)
    cos, sin = np.cos(Omega * t), np.sin(Omega * t)
    q = random_states.columns(s * cos, s * sin, 0.0)
    v = random_states.columns(s_dot * cos - s * Omega * sin, s_dot * sin + s * Omega * cos, 0.0)
    return random_states.state(rng, q, v, t)
