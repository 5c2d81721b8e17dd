"""Ready-made particles under constraints: the three examples of Udwadia & Kalaba (1996).

Coordinates are Cartesian; M = m·I, so that M^(½)(AM^(−½))⁺ = M A⁺.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import position, velocity

__all__ = [
    "kepler_ellipse",
    "kepler_ellipse_states",
    "kepler_laws",
    "kepler_laws_states",
    "nonholonomic_particle",
    "nonholonomic_particle_states",
    "spherical_pendulum",
    "spherical_pendulum_states",
]


def spherical_pendulum(*, m: float = 1.0, g: float = 9.81, L: float = 2.0) -> System:
    """A point mass on a weightless rigid rod; q = (x, y, z) from the pivot, y downwards.

    The constraint ``rod`` is half of x² + y² + z² = L², so that A = (x, y, z) as in the source and
    λ = −m(|v|² + gy)/L² is minus the rod's tension divided by L.

    Source: Udwadia & Kalaba (1996), example 1, (24)–(28).

    Examples
    --------
    >>> pendulum = spherical_pendulum(m=2.0, L=1.0)
    >>> pendulum.solve(q=[0.0, 1.0, 0.0], v=[3.0, 0.0, 0.0]).multipliers
    array([-37.62])
    """
    return System(
        coordinates=["x", "y", "z"],
        parameters={"m": m, "g": g, "L": L},
        mass=lambda p: p.m * np.eye(3),
        potential=lambda q, p: -p.m * p.g * q[1],
        constraints={"rod": position(lambda q, p: (q @ q - p.L**2) / 2)},
    )


def spherical_pendulum_states(rng: np.random.Generator, count: int, *, L: float = 2.0) -> State:
    """Any direction of the rod, any velocity across it."""
    e = random_states.unit(rng, count, 3)
    return random_states.state(rng, L * e, 2.0 * random_states.tangent(rng, e))


def kepler_laws(*, m: float = 1.0, epsilon: float = 0.5, p: float = 1.0, c: float = 1.0) -> System:
    """A free particle made to obey Kepler's first two laws; q = (x, y) from the focus.

    ``ellipse``: √(x² + y²) = εx + p. ``area``: c − (xẏ − yẋ) = 0, twice the area swept in unit
    time. The force that does it is −(c²/p)(m/r²) along the radius: Newton's law of attraction.

    Source: Udwadia & Kalaba (1996), example 2, (29)–(34).

    Examples
    --------
    >>> planet = kepler_laws(epsilon=0.0, p=2.0, c=3.0)
    >>> planet.solve(q=[2.0, 0.0], v=[0.0, 1.5]).constraint_force + 0.0
    array([-1.125,  0.   ])
    """
    return System(
        coordinates=["x", "y"],
        parameters={"m": m, "epsilon": epsilon, "p": p, "c": c},
        mass=lambda p: p.m * np.eye(2),
        constraints={"ellipse": position(_ellipse), "area": velocity(_area)},
    )


def kepler_ellipse(*, m: float = 1.0, epsilon: float = 0.5, p: float = 1.0) -> System:
    """The same particle kept on the ellipse and left to itself otherwise; q = (x, y).

    The force is then at right angles to the ellipse: neither central nor inverse-square.

    Source: Udwadia & Kalaba (1996), the remark after (34).

    Examples
    --------
    >>> bead = kepler_ellipse(epsilon=0.5, p=1.0)
    >>> force = bead.solve(q=[0.0, 1.0], v=[2.0, 1.0]).constraint_force
    >>> force.round(12)
    array([ 1.6, -3.2])
    """
    return System(
        coordinates=["x", "y"],
        parameters={"m": m, "epsilon": epsilon, "p": p},
        mass=lambda p: p.m * np.eye(2),
        constraints={"ellipse": position(_ellipse)},
    )


def _ellipse(q: Any, p: Any) -> Any:
    return np.sqrt(q @ q) - p.epsilon * q[0] - p.p


def _area(q: Any, v: Any, p: Any) -> Any:
    return q[1] * v[0] - q[0] * v[1] + p.c


def _on_ellipse(
    rng: np.random.Generator, count: int, epsilon: float, p: float
) -> tuple[Any, Any, Any]:
    """Positions, their derivatives by the angle, and r²."""
    angle = rng.uniform(0, 2 * np.pi, count)
    cos, sin = np.cos(angle), np.sin(angle)
    r = p / (1 - epsilon * cos)
    slope = -r * epsilon * sin / (1 - epsilon * cos)  # dr/dangle
    return (
        random_states.columns(r * cos, r * sin),
        random_states.columns(slope * cos - r * sin, slope * sin + r * cos),
        r**2,
    )


def kepler_laws_states(
    rng: np.random.Generator,
    count: int,
    *,
    epsilon: float = 0.5,
    p: float = 1.0,
    c: float = 1.0,
) -> State:
    """Any place on the ellipse; the area law gives the velocity."""
    q, derivative, r2 = _on_ellipse(rng, count, epsilon, p)
    return random_states.state(rng, q, derivative * (c / r2)[:, None])


def kepler_ellipse_states(
    rng: np.random.Generator, count: int, *, epsilon: float = 0.5, p: float = 1.0
) -> State:
    """Any place on the ellipse, any speed along it."""
    q, derivative, _ = _on_ellipse(rng, count, epsilon, p)
    return random_states.state(rng, q, derivative * random_states.normal(rng, count, 1))


def _push(t: Any) -> list[Any]:
    return [np.cos(t), 1.0 + np.sin(2 * t), t - 1.0]


def nonholonomic_particle(
    *,
    m: float = 1.0,
    alpha: Callable[[Any], Any] = np.sin,
    force: Callable[[Any], Any] = _push,
) -> System:
    """A particle with ẏ = zẋ + α(t) under a given force (X, Y, Z)(t); q = (x, y, z).

    The constraint ``slope`` is not integrable and depends on time; α̇ is found by differentiation.

    Source: Udwadia & Kalaba (1996), example 3, (35)–(37).

    Parameters
    ----------
    m : mass [kg].
    alpha : α(t), a function NumPy can evaluate on a symbol.
    force : (X, Y, Z) as a function of t.

    Examples
    --------
    >>> particle = nonholonomic_particle(m=2.0, force=lambda t: [0.0, 6.0, 0.0])
    >>> particle.solve(q=[0.0, 0.0, 1.0], v=[0.0, 0.0, 0.0], t=0.0).acceleration
    array([1., 2., 0.])
    """

    def given(t: Any) -> Any:
        return force(t)  # whatever its argument is called

    return System(
        coordinates=["x", "y", "z"],
        parameters={"m": m},
        mass=lambda p: p.m * np.eye(3),
        force=given,
        constraints={"slope": velocity(lambda q, v, t: v[1] - q[2] * v[0] - alpha(t))},
    )


def nonholonomic_particle_states(
    rng: np.random.Generator, count: int, *, alpha: Callable[[Any], Any] = np.sin
) -> State:
    """Any position, x and z velocity; the constraint gives ẏ."""
    q, v, t = (
        random_states.normal(rng, count, 3),
        random_states.normal(rng, count, 3),
        random_states.instants(rng, count),
    )
    v[:, 1] = q[:, 2] * v[:, 0] + alpha(t)
    return random_states.state(rng, q, v, t)
