"""Ready-made mechanism: Andrews' squeezer as seven bodies and ten pins."""

from __future__ import annotations

import numpy as np

from zwang.library.benchmarks import SQUEEZER, andrews_squeezer_start
from zwang.mechanism import Mechanism
from zwang.multibody.handles import BodyHandle
from zwang.terms import FloatArray

__all__ = ["andrews"]


def andrews(*, torque: float = 0.033, planar: bool = True) -> Mechanism:
    """Andrews' squeezing mechanism: seven bodies in the plane xy, a spring and a constant torque.

    The crank ``K1`` turns about O and carries ``K2`` at F; the other end E of ``K2`` is shared by
    ``K3``, which turns about B, and by ``K4`` and ``K6``, each the second link of a chain from A
    over ``K5`` at G and ``K7`` at H. A spring leads from C to ``K3``, the torque acts on the crank,
    there is no gravity. One degree of freedom; 20 equations for 21 velocities, in space 50 for 42,
    of which 9 are redundant. `zwang.library.andrews_squeezer` is the same as a system of functions
    of seven angles.

    Source: E. Hairer, G. Wanner: Solving Ordinary Differential Equations II, sections VI.9 and
    VII.7; W. Schiehlen (ed.): Multibody Systems Handbook (1990); Test Set for IVP Solvers,
    "andrews". The start is the published one, at rest.

    Parameters
    ----------
    torque : on the crank [N·m].
    planar : in the plane xy, or in space with hinges about z.

    Examples
    --------
    The crank's acceleration at the start:

    >>> round(float(andrews().solve().acceleration[2]), 6)
    14222.44392
    """
    p = SQUEEZER
    beta, theta, gamma, phi, delta, omega, epsilon = andrews_squeezer_start().q
    O, F = np.zeros(2), p["rr"] * _turned(beta, (1.0, 0.0))
    A, B = np.array([p["xa"], p["ya"]]), np.array([p["xb"], p["yb"]])
    E = B + _turned(gamma, (0.0, -p["ss"]))
    G, H = A + _turned(delta, (p["zt"], 0.0)), A + _turned(epsilon, (0.0, -p["u"]))
    m = Mechanism(plane="xy" if planar else None)

    def body(k: int, origin: FloatArray, angle: float, centre: tuple[float, float]) -> BodyHandle:
        J = p[f"I{k}"]
        c, s = np.cos(angle), np.sin(angle)
        return m.body(
            f"K{k}",
            mass=p[f"m{k}"],
            inertia=(0.5 * J, 0.5 * J, J),
            position=(*(origin + _turned(angle, centre)), 0.0),
            orientation=((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)),
        )

    K = [
        body(1, O, beta, (p["ra"], 0.0)),
        body(2, F, beta + theta, (-p["da"], 0.0)),
        body(3, B, gamma, (p["sb"], -p["sa"])),
        body(4, G, phi + delta, (0.0, p["ea"] - p["e"])),
        body(5, A, delta, (p["ta"], p["tb"])),
        body(6, H, omega + epsilon, (p["zf"] - p["fa"], 0.0)),
        body(7, A, epsilon, (-p["ub"], -p["ua"])),
    ]
    for name, first, second, at in (
        ("O", m.ground, K[0], O),
        ("F", K[0], K[1], F),
        ("B", m.ground, K[2], B),
        ("E3", K[1], K[2], E),
        ("A5", m.ground, K[4], A),
        ("G", K[4], K[3], G),
        ("E4", K[1], K[3], E),
        ("A7", m.ground, K[6], A),
        ("H", K[6], K[5], H),
        ("E6", K[1], K[5], E),
    ):
        m.revolute(name, first, second, at=(*at, 0.0), axis="z")
    end = B + _turned(gamma, (p["sd"], -p["sc"]))
    m.spring_damper(
        "spring",
        m.ground,
        K[2],
        at=((p["xc"], p["yc"], 0.0), (*end, 0.0)),
        stiffness=p["c0"],
        length=p["l0"],
    )
    m.force("motor", K[0], torque=(0.0, 0.0, torque))
    return m


def _turned(angle: float, arm: tuple[float, float]) -> FloatArray:
    """A vector of the plane turned by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]])
