"""Ready-made thin disk on a plane, rolling or sliding, in all forms of Blajer (1992), section 6.

Coordinates are x_P, y_P, z_P of the lowest point P of the rim, the heading φ, the lean θ (0 is
upright) and the spin ψ. The frame ξηζ at the centre leans and turns with the disk but does not
spin: ξ is horizontal in the plane of the disk, η points from P to the centre. The equations are
those of `zwang.library.disk_equations`; here they are assembled into systems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.errors import UnknownNameError
from zwang.library import random_states
from zwang.library.disk_equations import (
    coordinate_force,
    coordinate_mass,
    free_force,
    free_mass,
    inverse_kinematics,
    kinematics,
    rolling_directions,
    rolling_force,
    rolling_mass,
)
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import Constraint, position, velocity

__all__ = [
    "ROLLING_FORMS",
    "SLIDING_FORMS",
    "rolling_disk",
    "rolling_disk_states",
    "sliding_disk",
    "sliding_disk_states",
]

ROLLING_FORMS = ("dependent", "inertial", "coordinates", "velocities")
SLIDING_FORMS = ("dependent", "coordinates")

_ALL = ["x_P", "y_P", "z_P", "phi", "theta", "psi"]
_FIVE = ["x_P", "y_P", "phi", "theta", "psi"]


def rolling_disk(
    form: str = "dependent",
    *,
    m: float = 1.0,
    r: float = 0.5,
    J: float | None = None,
    g: float = 9.81,
) -> System:
    """A disk that rolls without slipping.

    Source: Blajer (1992), section 6, as corrected.

    The heading φ turns about the vertical z, from x to the horizontal ξ in the plane of the disk,
    anticlockwise from above. The lean θ, zero upright, is positive towards the left of ξ: with
    φ = 0 the centre moves towards +y. The spin ψ turns about ζ = ξ × η, the normal to the right of
    ξ, with η from the contact to the centre, so that a positive ψ̇ rolls along −ξ: ẋ_P = −r ψ̇ cos φ.

    Parameters
    ----------
    form : ``"dependent"``: six coordinates and quasi-velocities v; the point of contact is at
        rest, ``contact_xi``, ``contact_eta``, ``contact_zeta``, and λ is the force of the ground
        along ξ, η, ζ; (6.2)–(6.13).
        ``"inertial"``: the same with the conditions as first stated, ``roll_x``, ``roll_y`` and
        ``plane``, and λ the force of the ground along x, y, z; (6.1).
        ``"coordinates"``: without z_P, five coordinates and their rates; ``roll_x``,
        ``roll_y``, λ the horizontal force of the ground; (6.21)–(6.23).
        ``"velocities"``: three independent quasi-velocities (φ̇, θ̇, ψ̇), no constraint left;
        (6.25)–(6.28).
    m, r, g : mass [kg], radius [m], gravity [m/s²].
    J : moment of inertia about a diameter [kg·m²]; mr²/4 unless given.

    Examples
    --------
    Upright and at rest the ground carries the weight, along η:

    >>> disk = rolling_disk(m=2.0, g=10.0)
    >>> disk.solve(q=[0, 0, 0, 0.3, 0.0, 0.0]).multipliers + 0.0
    array([ 0., 20.,  0.])
    """
    parameters = {"m": m, "r": r, "J": m * r**2 / 4 if J is None else J, "g": g}
    if form == "dependent":
        return _dependent(parameters, _contact_at_rest())
    if form == "inertial":
        return _dependent(parameters, {**_rolling_in_x(), **_plane()})
    if form == "coordinates":
        return _independent_coordinates(parameters, _rolling_in_q())
    if form == "velocities":
        return System(
            coordinates=_FIVE,
            velocities=["omega1", "omega2", "omega3"],
            kinematics=lambda q, p: rolling_directions(q, p.r).T,
            parameters=parameters,
            mass=lambda q, p: rolling_mass(q[3], p),
            force=lambda q, v, p: rolling_force(q[3], v, p),
            potential=lambda q, p: p.m * p.g * p.r * np.cos(q[3]),
        )
    raise UnknownNameError("form of rolling_disk", form, ROLLING_FORMS)


def sliding_disk(
    form: str = "dependent",
    *,
    m: float = 1.0,
    r: float = 0.5,
    J: float | None = None,
    g: float = 9.81,
) -> System:
    """The disk on a smooth plane: the first stage of Blajer's reduction.

    Source: Blajer (1992), section 6, (6.14)–(6.20), as corrected.

    Parameters
    ----------
    form : ``"dependent"``: six coordinates and quasi-velocities v, ``plane``: z_P = 0, whose λ is
        the normal force; (6.15), (6.16), (6.19), (6.20).
        ``"coordinates"``: five independent coordinates, no constraint left; (6.14)–(6.18).
    m, r, J, g : as for `rolling_disk`.

    Examples
    --------
    A leaning disk lets go more easily: at rest λ = mgJ/(J + mr² sin²θ).

    >>> disk = sliding_disk(m=1.0, r=1.0, J=0.25, g=10.0)
    >>> disk.solve(q=[0, 0, 0, 0.0, np.pi / 6, 0.0]).multipliers.round(12)
    array([5.])
    """
    parameters = {"m": m, "r": r, "J": m * r**2 / 4 if J is None else J, "g": g}
    if form == "dependent":
        return _dependent(parameters, _plane())
    if form == "coordinates":
        return _independent_coordinates(parameters, {})
    raise UnknownNameError("form of sliding_disk", form, SLIDING_FORMS)


def _dependent(parameters: dict[str, float], constraints: dict[str, Constraint]) -> System:
    return System(
        coordinates=_ALL,
        velocities=[f"v{k}" for k in range(1, 7)],
        kinematics=lambda q, p: kinematics(q[3], q[4], p.r),
        parameters=parameters,
        mass=free_mass,
        force=lambda q, v, p: free_force(q[4], v, p),
        potential=lambda q, p: p.m * p.g * (q[2] + p.r * np.cos(q[4])),
        constraints=constraints,
    )


def _independent_coordinates(
    parameters: dict[str, float], constraints: dict[str, Constraint]
) -> System:
    return System(
        coordinates=_FIVE,
        parameters=parameters,
        mass=coordinate_mass,
        force=coordinate_force,
        potential=lambda q, p: p.m * p.g * p.r * np.cos(q[3]),
        constraints=constraints,
    )


# --- constraints ---------------------------------------------------------------------------------


def _contact_at_rest() -> dict[str, Constraint]:
    """(6.5): the velocity of the disk's point at P, along ξ, η, ζ."""
    return {
        "contact_xi": velocity(lambda v, p: v[0] + p.r * v[5]),
        "contact_eta": velocity(lambda v: v[1]),
        "contact_zeta": velocity(lambda v, p: v[2] - p.r * v[3]),
    }


def _rolling_in_x() -> dict[str, Constraint]:
    """(6.1a, b) with ẋ_P, ẏ_P, ψ̇ from q̇ = A v."""

    def roll(row: int, direction: Any) -> Constraint:
        def psi(q: Any, v: Any, p: Any) -> Any:
            q_dot = kinematics(q[3], q[4], p.r) @ v
            return q_dot[row] + p.r * q_dot[5] * direction(q[3])

        return velocity(psi)

    return {"roll_x": roll(0, np.cos), "roll_y": roll(1, np.sin)}


def _plane() -> dict[str, Constraint]:
    """(6.1c)."""
    return {"plane": position(lambda q: q[2])}


def _rolling_in_q() -> dict[str, Constraint]:
    """(6.1a, b) for five coordinates; A and b are (6.22), (6.23)."""
    return {
        "roll_x": velocity(lambda q, v, p: v[0] + p.r * v[4] * np.cos(q[2])),
        "roll_y": velocity(lambda q, v, p: v[1] + p.r * v[4] * np.sin(q[2])),
    }


# --- states --------------------------------------------------------------------------------------


def rolling_disk_states(
    rng: np.random.Generator, count: int, form: str = "dependent", *, r: float = 0.5
) -> State:
    """Any place and heading, lean up to 1.2, any rates."""
    return _states(rng, count, form, ROLLING_FORMS, r, slipping=0.0)


def sliding_disk_states(
    rng: np.random.Generator, count: int, form: str = "dependent", *, r: float = 0.5
) -> State:
    """Any place and heading, lean up to 1.2, any rates."""
    return _states(rng, count, form, SLIDING_FORMS, r, slipping=1.0)


def _states(
    rng: np.random.Generator,
    count: int,
    form: str,
    forms: tuple[str, ...],
    r: float,
    slipping: float,
) -> State:
    if form not in forms:
        raise UnknownNameError("form of the disk", form, forms)
    q = random_states.normal(rng, count, 6)
    q[:, 2], q[:, 4] = 0.0, rng.uniform(-1.2, 1.2, count)
    q_dot = random_states.normal(rng, count, 6)
    q_dot[:, 2] = 0.0
    roll = -r * q_dot[:, 5:]
    q_dot[:, :2] = slipping * q_dot[:, :2] + roll * random_states.columns(
        np.cos(q[:, 3]), np.sin(q[:, 3])
    )
    five = [0, 1, 3, 4, 5]
    if form == "coordinates":
        return random_states.state(rng, q[:, five], q_dot[:, five])
    if form == "velocities":
        return random_states.state(rng, q[:, five], q_dot[:, 3:])
    v = [inverse_kinematics(a[3], a[4], r) @ a_dot for a, a_dot in zip(q, q_dot, strict=True)]
    return random_states.state(rng, q, np.array(v))
