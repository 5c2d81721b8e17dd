"""Ready-made free rigid body: rotation in quaternions, in the forms of Udwadia & Schutte (2010).

All forms have the coordinates q = (u0, u1, u2, u3), the quaternion (w, x, y, z) from body to world
axes. The equations are those of `zwang.rotation`; here they are assembled into systems.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.errors import UnknownNameError
from zwang.library import random_states
from zwang.rotation import quaternion, quaternion_motion
from zwang.rotation.arrays import matvec, tilde
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import Constraint, position

__all__ = ["FORMS", "rotating_body", "rotating_body_states"]

FORMS = ("lagrange", "auxiliary", "explicit", "velocities")

_COORDINATES = ["u0", "u1", "u2", "u3"]
_INERTIA = ((1.0, 0.0, 0.0), (0.0, 1.5, 0.0), (0.0, 0.0, 2.0))


def rotating_body(
    form: str = "lagrange",
    *,
    J: ArrayLike = _INERTIA,
    torque: Callable[[Any, Any, Any], Any] | None = None,
    radial: float = 0.0,
    alpha: float = 1.0,
    z: float | None = None,
) -> System:
    """A body turning about its mass centre.

    Source: Udwadia & Schutte (2010), section 4.

    Parameters
    ----------
    form : ``"lagrange"``: four coordinates as if they were independent, M = 4EᵀJE of rank 3, with
        the constraint ``unit``, ½(uᵀu − 1) = 0; (91)–(93).
        ``"auxiliary"``: M_A = 4EᵀJE + α²uuᵀ, positive definite, and Q + uz with the same
        constraint: the same acceleration for every α ≠ 0 and z, and for z = α²b the same
        constraint torque; (94), (122).
        ``"explicit"``: M_A with the constraint torque written out, no constraint left; (107).
        ``"velocities"``: the angular velocity ω in body axes as quasi-velocities, u̇ = ½Eᵀω and
        Jω̇ = Γ_B − ω̃Jω; (79) and Nikravesh's Formulation III, (11.18).
    J : inertia about the mass centre in body axes [kg·m²], shape (3, 3).
    torque : Γ_B(u, ω, t), the torque in body axes [N·m]; none by default.
    radial : part of the torque Γ_u along u; it does no work, and the constraint cancels it. Of no
        effect in the form ``"velocities"``, which has no place for it.
    alpha : α, for the forms ``"auxiliary"`` and ``"explicit"``.
    z : for the form ``"auxiliary"``; z = α²b = −α²N(u̇) unless given.

    Examples
    --------
    The torque of the constraint at 2 rad/s about the first axis, −2(ωᵀJω)u:

    >>> body = rotating_body()
    >>> s = body.solve(q=[1.0, 0.0, 0.0, 0.0], v=[0.0, 1.0, 0.0, 0.0])
    >>> s.acceleration.round(12) + 0.0, s.constraint_force.round(12) + 0.0
    (array([-1.,  0.,  0.,  0.]), array([-8.,  0.,  0.,  0.]))
    """
    if form not in FORMS:
        raise UnknownNameError("form of rotating_body", form, FORMS)
    parameters: dict[str, Any] = {"J": J}
    if form == "velocities":
        return _with_angular_velocity(parameters, torque)

    parameters["radial"] = radial

    def torque_u(q: Any, v: Any, t: Any, p: Any) -> Any:
        """Γ_u = 2EᵀΓ_B + (part along u), (113)."""
        along = p.radial * q
        if torque is None:
            return along
        omega = quaternion.angular_velocity(q, v)
        return quaternion.torque_u(q, torque(q, omega, t)) + along

    if form == "lagrange":
        return System(
            coordinates=_COORDINATES,
            parameters=parameters,
            mass=lambda q, p: quaternion.mass_matrix(q, p.J),
            force=lambda q, v, t, p: quaternion.force(q, v, p.J, torque_u(q, v, t, p)),
            constraints={"unit": _unit()},
        )
    parameters["alpha"] = alpha
    if form == "explicit":
        return System(
            coordinates=_COORDINATES,
            parameters=parameters,
            mass=lambda q, p: quaternion_motion.auxiliary_mass(q, p.J, p.alpha),
            force=lambda q, v, t, p: quaternion_motion.right_side(
                q, v, p.J, torque_u(q, v, t, p), p.alpha
            ),
        )
    if z is not None:
        parameters["z"] = z

    def force(q: Any, v: Any, t: Any, p: Any) -> Any:
        free = torque_u(q, v, t, p)
        if z is None:
            return quaternion_motion.given_force(q, v, p.J, free, p.alpha)
        return quaternion_motion.auxiliary_force(q, v, p.J, free, p.z)

    return System(
        coordinates=_COORDINATES,
        parameters=parameters,
        mass=lambda q, p: quaternion_motion.auxiliary_mass(q, p.J, p.alpha),
        force=force,
        constraints={"unit": _unit()},
    )


def _unit() -> Constraint:
    return position(lambda q: (q @ q - 1) / 2)


def _with_angular_velocity(
    parameters: dict[str, Any], torque: Callable[[Any, Any, Any], Any] | None
) -> System:
    def force(q: Any, v: Any, t: Any, p: Any) -> Any:
        gyroscopic = matvec(tilde(v), matvec(np.asarray(p.J), np.asarray(v)))
        return (0.0 if torque is None else np.asarray(torque(q, v, t))) - gyroscopic

    return System(
        coordinates=_COORDINATES,
        velocities=["omega1", "omega2", "omega3"],
        kinematics=lambda q: 0.5 * quaternion.matrix_E(q).T,
        parameters=parameters,
        mass=lambda p: p.J,
        force=force,
    )


def rotating_body_states(rng: np.random.Generator, count: int, form: str = "lagrange") -> State:
    """Any orientation, any angular velocity."""
    if form not in FORMS:
        raise UnknownNameError("form of rotating_body", form, FORMS)
    u, omega = random_states.unit(rng, count, 4), 2.0 * random_states.normal(rng, count, 3)
    v = omega if form == "velocities" else quaternion.rate(u, omega)
    return random_states.state(rng, u, v)
