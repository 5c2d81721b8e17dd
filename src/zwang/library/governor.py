"""Ready-made governor of Watt with stiff springs, for which explicit methods take tiny steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import Constraint, position

__all__ = ["flyball_governor", "flyball_governor_start", "flyball_governor_states"]


def _rod_energy(q: Any, v: Any, p: Any) -> Any:
    """Kinetic energy of one rod with its ball, q = (r, z, a); ψ̇ is the last of v."""
    (r, _, a), (r_dot, z_dot, a_dot, omega) = q, v
    cos, sin, half = np.cos(a), np.sin(a), p.length / 2
    ball = (r_dot - half * sin * a_dot) ** 2 + (z_dot - half * cos * a_dot) ** 2
    ball = ball + ((r + half * cos) * omega) ** 2
    centre = r_dot**2 + z_dot**2 + (r * omega) ** 2
    across = a_dot**2 + (omega * cos) ** 2
    spin = p.transverse * across + p.axial * (omega * sin) ** 2
    return (p.ball * ball + p.rod * centre + spin) / 2


def flyball_governor(
    *,
    slider: float = 3.0,
    rod: float = 0.3,
    ball: float = 5.0,
    inertia: float = 0.005005,
    axial: float = 5e-6,
    transverse: float = 0.0250025,
    arm: float = 0.05,
    height: float = 1.0,
    length: float = 1.0,
    stiffness: float = 8e5,
    damping: float = 4e4,
    rest: float = 0.5,
    g: float = 9.81,
) -> System:
    """A spinning shaft, a slider on it and two rods with balls; q = (ψ, s, r₁, z₁, a₁, r₂, z₂, a₂).

    The shaft has turned by ψ and carries the slider at the height s. Each rod lies in the plane
    that turns with the shaft: its centre at the distance r from the axis and at the height z, its
    outer end, with the ball, at the angle a below the horizontal. ``hinge_1`` and ``hinge_2`` hold
    the inner ends at the distance `arm` and the height `height`. A spring with a damper joins each
    rod's centre with a point of the slider at the distance `arm`.

    The defaults are those of a benchmark problem of IFToMM: the dampers make what changes the
    length of the springs die out within a millisecond, while the governor swings in seconds.

    Source: IFToMM, Library of Computational Benchmark Problems for multibody dynamics, A05.

    Parameters
    ----------
    slider, rod, ball : masses [kg]; each rod and each ball.
    inertia : of shaft and slider about the axis [kg·m²].
    axial, transverse : inertia of a rod about its axis, and across it about its centre [kg·m²].
    arm, height, length : of the hinges and the rods [m].
    stiffness, damping, rest : of the springs [N/m], the dampers [N·s/m]; length without force [m].

    Examples
    --------
    >>> run = flyball_governor().simulate(
    ...     flyball_governor_start(), until=0.5, tolerance=1e-6, integrator="radau5"
    ... )
    >>> run["s"][[0, -1]].round(3)
    array([0.5  , 0.743])
    """

    def kinetic(q: Any, v: Any, p: Any) -> Any:
        rods = sum(_rod_energy(q[k : k + 3], [*v[k : k + 3], v[0]], p) for k in (2, 5))
        return rods + (p.inertia * v[0] ** 2 + p.slider * v[1] ** 2) / 2

    def springs(q: Any, p: Any) -> list[Any]:
        return [np.sqrt((q[k] - p.arm) ** 2 + (q[k + 1] - q[1]) ** 2) for k in (2, 5)]

    def potential(q: Any, p: Any) -> Any:
        stretch = sum((d - p.rest) ** 2 for d in springs(q, p))
        balls = sum(q[k] - p.length / 2 * np.sin(q[k + 1]) for k in (3, 6))
        weight = p.slider * q[1] + p.rod * (q[3] + q[6]) + p.ball * balls
        return p.stiffness * stretch / 2 + p.g * weight

    def dissipation(q: Any, v: Any, p: Any) -> Any:
        rates = [
            ((q[k] - p.arm) * v[k] + (q[k + 1] - q[1]) * (v[k + 1] - v[1])) / d
            for k, d in zip((2, 5), springs(q, p), strict=True)
        ]
        return p.damping * sum(rate**2 for rate in rates) / 2

    def hinge(k: int) -> Constraint:
        return position(
            lambda q, p: [
                q[k] - p.length / 2 * np.cos(q[k + 2]) - p.arm,
                q[k + 1] + p.length / 2 * np.sin(q[k + 2]) - p.height,
            ]
        )

    return System.from_lagrangian(
        ["psi", "s", "r1", "z1", "a1", "r2", "z2", "a2"],
        parameters={
            "slider": slider,
            "rod": rod,
            "ball": ball,
            "inertia": inertia,
            "axial": axial,
            "transverse": transverse,
            "arm": arm,
            "height": height,
            "length": length,
            "stiffness": stiffness,
            "damping": damping,
            "rest": rest,
            "g": g,
        },
        T=kinetic,
        V=potential,
        dissipation=dissipation,
        constraints={"hinge_1": hinge(2), "hinge_2": hinge(5)},
    )


def flyball_governor_start(*, arm: float = 0.05, height: float = 1.0, length: float = 1.0) -> State:
    """All turns at 2π rad/s like one body, rods 30° below the horizontal, springs at rest."""
    half = length / 2
    rod = [arm + half * np.cos(np.pi / 6), height - half / 2, np.pi / 6]
    return State(np.array([0.0, height - half, *rod, *rod]), np.eye(8)[0] * 2.0 * np.pi, 0.0)


def flyball_governor_states(
    rng: np.random.Generator,
    count: int,
    *,
    arm: float = 0.05,
    height: float = 1.0,
    length: float = 1.0,
) -> State:
    """Rods below the horizontal, the slider below their centres, moderate rates."""
    psi, s = rng.uniform(-3.0, 3.0, count), rng.uniform(0.0, 0.4, count)
    q, v = [psi, s * height], list(random_states.normal(rng, count, 2).T)
    for _ in range(2):
        a, a_dot = rng.uniform(0.1, 1.2, count), rng.standard_normal(count)
        cos, sin, half = np.cos(a), np.sin(a), length / 2
        q += [arm + half * cos, height - half * sin, a]
        v += [-half * sin * a_dot, -half * cos * a_dot, a_dot]
    return random_states.state(rng, random_states.columns(*q), random_states.columns(*v))
