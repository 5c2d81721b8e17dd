"""Ready-made systems whose constraints are nonlinear in the velocities.

The reactions are taken as ideal in the sense of Gauss: A = ∂ψ/∂v, and the acceleration is as near
to the free one as A v̇ = b allows.
"""

from __future__ import annotations

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import velocity

__all__ = [
    "appell_hamel",
    "appell_hamel_states",
    "constant_speed_particle",
    "constant_speed_particle_states",
]


def constant_speed_particle(*, m: float = 1.0, g: float = 9.81, speed: float = 3.0) -> System:
    """A particle under gravity forced to constant speed; q = (x, y, z), z upwards.

    ``speed``: ½(|v|² − s²) = 0, so A = vᵀ. The force is along the velocity and cancels the power
    of gravity: λ = m g ż / s².

    Source: nonlinear velocity constraints as in Blajer (1992), (5.8), and Udwadia & Kalaba (1996),
    (2); the example is a classic.

    Examples
    --------
    >>> particle = constant_speed_particle(speed=5.0, g=10.0)
    >>> particle.solve(q=[0, 0, 0], v=[3.0, 0.0, 4.0]).acceleration.round(12)
    array([ 4.8,  0. , -3.6])
    """
    return System(
        coordinates=["x", "y", "z"],
        parameters={"m": m, "g": g, "s": speed},
        mass=lambda p: p.m * np.eye(3),
        potential=lambda q, p: p.m * p.g * q[2],
        constraints={"speed": velocity(lambda v, p: (v @ v - p.s**2) / 2)},
    )


def constant_speed_particle_states(
    rng: np.random.Generator, count: int, *, speed: float = 3.0
) -> State:
    """Any place, any direction of the velocity."""
    return random_states.state(
        rng, random_states.normal(rng, count, 3), speed * random_states.unit(rng, count, 3)
    )


def appell_hamel(*, m: float = 1.0, g: float = 9.81, ratio: float = 1.5) -> System:
    """Appell and Hamel's machine with massless wheels; q = (x, y, z) of its weight, z upwards.

    A weight hangs on a thread that is wound up by a drum of radius b, fixed to a wheel of radius a
    that rolls on the ground in whichever direction it is turned: ``roll``,
    ½(ẋ² + ẏ² − κ²ż²) = 0 with κ = a/b. The weight falls with g/(1 + κ²).

    Source: P. Appell, Rendiconti del Circolo Matematico di Palermo 32 (1911) 48–50; G. Hamel,
    Theoretische Mechanik (1949); in the frame of Blajer (1992), (5.8).

    Examples
    --------
    >>> machine = appell_hamel(g=10.0, ratio=2.0)
    >>> machine.solve(q=[0, 0, 0], v=[2.0, 0.0, -1.0]).acceleration.round(12) + 0.0
    array([ 4.,  0., -2.])
    """
    return System(
        coordinates=["x", "y", "z"],
        parameters={"m": m, "g": g, "kappa": ratio},
        mass=lambda p: p.m * np.eye(3),
        potential=lambda q, p: p.m * p.g * q[2],
        constraints={
            "roll": velocity(lambda v, p: (v[0] ** 2 + v[1] ** 2 - (p.kappa * v[2]) ** 2) / 2)
        },
    )


def appell_hamel_states(rng: np.random.Generator, count: int, *, ratio: float = 1.5) -> State:
    """Any heading; the weight rises or falls, never rests (there the constraint is singular)."""
    z_dot = rng.uniform(0.3, 2.0, count) * rng.choice([-1.0, 1.0], count)
    across = ratio * np.abs(z_dot)[:, None] * random_states.unit(rng, count, 2)
    v = np.concatenate([across, z_dot[:, None]], axis=1)
    return random_states.state(rng, random_states.normal(rng, count, 3), v)
