"""Ready-made skates and wheels that do not slip sideways: linear nonholonomic constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import position, velocity

__all__ = [
    "chaplygin_sleigh",
    "chaplygin_sleigh_states",
    "knife_edge",
    "knife_edge_states",
    "snakeboard",
    "snakeboard_states",
]


def knife_edge(*, m: float = 1.0, I: float = 0.5, g: float = 9.81, slope: float = 0.4) -> System:
    """A skate on an inclined plane; q = (x, y, phi), x down the slope, φ the heading.

    ``blade``: ẋ sin φ − ẏ cos φ = 0 at the centre of mass. λ is the sideways force of the ice.
    The skate turns steadily and does not run away: on average it moves across the slope.

    Source: J. I. Neimark, N. A. Fufaev: Dynamics of Nonholonomic Systems (1972).

    Examples
    --------
    Pointing across the slope at rest, the blade carries the weight's component:

    >>> knife_edge(g=10.0, slope=np.pi / 6).solve(q=[0, 0, np.pi / 2]).multipliers.round(12)
    array([-5.])
    """
    return System(
        coordinates=["x", "y", "phi"],
        parameters={"m": m, "I": I, "g": g, "slope": slope},
        mass=lambda p: np.diag([p.m, p.m, p.I]),
        potential=lambda q, p: -p.m * p.g * np.sin(p.slope) * q[0],
        constraints={"blade": velocity(lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2]))},
    )


def knife_edge_states(rng: np.random.Generator, count: int) -> State:
    """Any heading, any speed along it, any rate of turn."""
    q, u = random_states.normal(rng, count, 3), random_states.normal(rng, count, 2)
    v = random_states.columns(u[:, 0] * np.cos(q[:, 2]), u[:, 0] * np.sin(q[:, 2]), u[:, 1])
    return random_states.state(rng, q, v)


def chaplygin_sleigh(*, m: float = 2.0, I: float = 0.7, a: float = 0.4) -> System:
    """A sleigh on one blade; q = (x, y, theta): the blade's point and the heading θ.

    The centre of mass lies a distance a ahead of the blade, I is the moment of inertia about it.
    ``blade``: −ẋ sin θ + ẏ cos θ = 0. With u the speed along the heading and ω = θ̇:
    u̇ = aω², (I + ma²)ω̇ = −m a u ω; the sleigh ends up running straight, centre of mass ahead.

    Source: S. A. Chaplygin, Matematicheskii Sbornik 28 (1911); Neimark & Fufaev (1972).

    Examples
    --------
    >>> sleigh = chaplygin_sleigh(a=0.5)
    >>> sleigh.solve(q=[0, 0, 0], v=[0.0, 0.0, 2.0]).acceleration.round(12) + 0.0
    array([2., 0., 0.])
    """

    def kinetic(q: Any, v: Any, p: Any) -> Any:
        x_dot = v[0] - p.a * v[2] * np.sin(q[2])
        y_dot = v[1] + p.a * v[2] * np.cos(q[2])
        return p.m * (x_dot**2 + y_dot**2) / 2 + p.I * v[2] ** 2 / 2

    return System.from_lagrangian(
        coordinates=["x", "y", "theta"],
        parameters={"m": m, "I": I, "a": a},
        T=kinetic,
        constraints={"blade": velocity(lambda q, v: v[1] * np.cos(q[2]) - v[0] * np.sin(q[2]))},
    )


def chaplygin_sleigh_states(rng: np.random.Generator, count: int) -> State:
    """Any heading, any speed along it, any rate of turn."""
    return knife_edge_states(rng, count)


def _ride(t: Any) -> list[Any]:
    """Torques on rotor, back and front wheels."""
    return [0.8 * np.sin(2 * t), 0.1 * np.cos(t), -0.1 * np.cos(t)]


def snakeboard(
    *,
    m: float = 6.0,
    J: float = 0.016,
    J_rotor: float = 0.072,
    J_wheel: float = 0.0013,
    length: float = 0.2,
    torque: Callable[[Any], Any] = _ride,
    mirrored: bool = False,
) -> System:
    """A snakeboard: a board on two steerable wheel pairs, driven by a rotor on top.

    q = (x, y, theta, psi, back, front): centre and heading of the board, rotor angle against the
    board, steering angles of the wheels. The wheels, a distance l from the centre, do not slip
    sideways: ``back_wheel``, −ẋ sin(θ+β) + ẏ cos(θ+β) − l θ̇ cos β = 0, and ``front_wheel`` with
    +l. All angles of the parts are measured against the board, so their rates add to θ̇ in the
    energy.

    Source: J. P. Ostrowski, A. Lewis, R. Murray, J. Burdick: Nonholonomic mechanics and locomotion:
    the snakeboard example (1994).

    Parameters
    ----------
    m : mass of the whole [kg].
    J, J_rotor, J_wheel : moments of inertia of board, rotor and each wheel pair [kg·m²].
    length : l [m].
    torque : of the motors on rotor, back and front wheels as functions of t, returned as a list.
    mirrored : add the position constraint ``steering``: front = −back, as in the usual model.

    Examples
    --------
    With straight wheels and the rotor pushed, the board cannot turn, and the wheels hold it:

    >>> board = snakeboard(torque=lambda t: [0.5, 0.0, 0.0])
    >>> s = board.solve(q=[0, 0, 0, 0, 0, 0])
    >>> s.acceleration[[2, 3]].round(12) + 0.0
    array([0.        , 6.94444444])
    """

    def kinetic(v: Any, p: Any) -> Any:
        turning = p.J * v[2] ** 2 + p.J_rotor * (v[2] + v[3]) ** 2
        wheels = p.J_wheel * ((v[2] + v[4]) ** 2 + (v[2] + v[5]) ** 2)
        return (p.m * (v[0] ** 2 + v[1] ** 2) + turning + wheels) / 2

    def sideways(q: Any, v: Any, steering: Any, arm: Any) -> Any:
        heading = q[2] + steering
        across = -v[0] * np.sin(heading) + v[1] * np.cos(heading)
        return across + arm * v[2] * np.cos(steering)

    constraints = {
        "back_wheel": velocity(lambda q, v, p: sideways(q, v, q[4], -p.l)),
        "front_wheel": velocity(lambda q, v, p: sideways(q, v, q[5], p.l)),
    }
    if mirrored:
        constraints["steering"] = position(lambda q: q[4] + q[5])
    return System.from_lagrangian(
        coordinates=["x", "y", "theta", "psi", "back", "front"],
        parameters={"m": m, "J": J, "J_rotor": J_rotor, "J_wheel": J_wheel, "l": length},
        T=kinetic,
        forces=lambda t: [0.0, 0.0, 0.0, *torque(t)],
        constraints=constraints,
    )


def snakeboard_states(
    rng: np.random.Generator, count: int, *, length: float = 0.2, mirrored: bool = False
) -> State:
    """Steering angles up to 0.6 and different; the wheels leave one rate of the board free."""
    q, v = random_states.normal(rng, count, 6), random_states.normal(rng, count, 6)
    back = rng.uniform(0.1, 0.6, count) * rng.choice([-1.0, 1.0], count)
    front = -back if mirrored else -back * rng.uniform(0.5, 1.5, count)
    q[:, 4], q[:, 5] = back, front
    if mirrored:
        v[:, 5] = -v[:, 4]
    # Speeds a along and c across the board, steering β and γ:
    #   −a sin β + c cos β = l θ̇ cos β,   −a sin γ + c cos γ = −l θ̇ cos γ
    along = random_states.normal(rng, count, 1)[:, 0]
    across = along * (np.tan(back) + np.tan(front)) / 2
    v[:, 2] = along * (np.tan(front) - np.tan(back)) / (2 * length)
    cos, sin = np.cos(q[:, 2]), np.sin(q[:, 2])
    v[:, 0], v[:, 1] = along * cos - across * sin, along * sin + across * cos
    return random_states.state(rng, q, v)
