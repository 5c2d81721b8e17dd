"""Ready-made satellites in formation: a prescribed relative motion, and the control it requires.

A chief runs on a circular orbit of radius R at the rate n = √(μ/R³). Deputies are described in
the chief's frame: x radially outwards, y along the track, z across the orbit. Their equations are
the full ones, without expansion in the distance,

    m(ẍ − 2nẏ − n²x) = m μ [R g − x/s]/R³,   s = (r/R)³,   g = 1 − 1/s,   r² = (R + x)² + y² + z²,
    m(ÿ + 2nẋ − n²y) = −m μ y/(s R³),        m z̈ = −m μ z/(s R³),

with g written so that nothing cancels when the distance is a small part of R.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import Constraint, position

__all__ = ["formation_program", "satellite_formation", "satellite_formation_states"]

#: Earth's μ [m³/s²].
EARTH = 3.986004418e14


def satellite_formation(
    *,
    deputies: int = 1,
    kept: bool = True,
    m: float = 100.0,
    mu: float = EARTH,
    R: float = 7.0e6,
    rho: float = 1000.0,
) -> System:
    """Deputies around a chief on a circular orbit; q = (x1, y1, z1, x2, …).

    With ``kept`` the program of `formation_program` is a set of constraints: their force is the
    control that makes the deputies follow it exactly, the least one in the sense of Gauss. Without
    it the deputies are free, and ``system.control_force(…, program=formation_program())`` gives
    the same control.

    Source: Udwadia & Kalaba (1996), conclusion ("control force"); the program as in H. Cho,
    F. E. Udwadia: Explicit solution to the full nonlinear problem for satellite formation-keeping,
    Acta Astronautica 67 (2010).

    Parameters
    ----------
    deputies : how many.
    kept : whether the program is imposed.
    m : mass of each deputy [kg].
    mu, R : of the attracting body [m³/s²], and radius of the chief's orbit [m].
    rho : radius of the formation [m].

    Examples
    --------
    >>> pair = satellite_formation(deputies=2)
    >>> pair.coordinates
    ('x1', 'y1', 'z1', 'x2', 'y2', 'z2')
    >>> pair.constraints
    ('circle1', 'plane1', 'circle2', 'plane2')
    """
    return System(
        coordinates=[f"{axis}{k}" for k in range(1, deputies + 1) for axis in "xyz"],
        parameters={"m": m, "mu": mu, "R": R, "rho": rho},
        mass=lambda p: p.m * np.eye(3 * deputies),
        force=lambda q, v, p: [
            f for k in range(deputies) for f in _relative_force(q[3 * k :], v[3 * k :], p)
        ],
        constraints=formation_program(deputies) if kept else {},
    )


def formation_program(deputies: int = 1) -> dict[str, Constraint]:
    """The projected circular orbit: seen from the attracting body the deputy circles the chief.

    ``circle1``: ½(y² + z² − ρ²) = 0 and ``plane1``: z − 2x = 0, and so on for each deputy. Small
    free motions do this by themselves at the rate n; at larger distances control is needed.
    """

    def circle(k: int) -> Constraint:
        return position(lambda q, p: (q[3 * k + 1] ** 2 + q[3 * k + 2] ** 2 - p.rho**2) / 2)

    def plane(k: int) -> Constraint:
        return position(lambda q: q[3 * k + 2] - 2 * q[3 * k])

    program: dict[str, Constraint] = {}
    for k in range(deputies):
        program[f"circle{k + 1}"] = circle(k)
        program[f"plane{k + 1}"] = plane(k)
    return program


def _relative_force(q: Any, v: Any, p: Any) -> list[Any]:
    x, y, z = q[0], q[1], q[2]
    n2 = p.mu / p.R**3
    n = np.sqrt(n2)
    w = (x * (2 * p.R + x) + y**2 + z**2) / p.R**2  # (r/R)² − 1
    s = (1 + w) * np.sqrt(1 + w)
    g = w * (3 + w * (3 + w)) / (s * (1 + s))  # 1 − 1/s
    return [
        p.m * (2 * n * v[1] + n2 * (x - x / s + p.R * g)),
        p.m * (-2 * n * v[0] + n2 * (y - y / s)),
        -p.m * n2 * z / s,
    ]


def satellite_formation_states(
    rng: np.random.Generator,
    count: int,
    *,
    deputies: int = 1,
    mu: float = EARTH,
    R: float = 7.0e6,
    rho: float = 1000.0,
) -> State:
    """Each deputy anywhere on the projected circle, turning at up to twice the orbital rate."""
    n = np.sqrt(mu / R**3)
    q, v = [], []
    for _ in range(deputies):
        angle = rng.uniform(0, 2 * np.pi, count)
        turning = n * rng.uniform(-2.0, 2.0, count)
        cos, sin = rho * np.cos(angle), rho * np.sin(angle)
        q += [sin / 2, cos, sin]
        v += [turning * cos / 2, -turning * sin, turning * cos]
    return random_states.state(rng, random_states.columns(*q), random_states.columns(*v))
