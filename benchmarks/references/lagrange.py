"""Trees of hinges with springs and bushings in joint coordinates, by Lagrange's equations.

Each body that no joint holds has three positions and three angles (z, y, x), each other one the
angle of its hinge. Kinetic and potential energy and half the dissipated power are written down in
these, and

    M v̇ = ∂T/∂q − (∂p/∂q) v − ∂V/∂q − ∂D/∂v,     p = ∂T/∂v,  M = ∂p/∂v

is differentiated by CasADi and integrated by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from benchmarks.cases.model import Work

__all__ = ["LagrangianMotion"]


class LagrangianMotion:
    """Rates of a work of free bodies and others on hinges, with springs and bushings.

    Attributes
    ----------
    start : coordinates and velocities.
    rate : (t, y) → ẏ.
    centers : y → places of all bodies.
    """

    def __init__(self, work: Work) -> None:
        self.work, first = work, list[float]()
        self._q, self._v = list[ca.SX](), list[ca.SX]()
        #: Body → rotation and shift of what was there at the start.
        self._moved: dict[int, tuple[ca.SX, ca.SX]] = {-1: (ca.SX.eye(3), ca.SX.zeros(3))}
        for k in work.free:
            body = work.bodies[k]
            shift = ca.vertcat(*(self._coordinate() for _ in range(3)))
            turn = ca.SX.eye(3)
            for axis in np.eye(3)[::-1]:
                turn = turn @ _turn(axis, self._coordinate())
            self._moved[k] = turn, body.center + shift - turn @ body.center
            first += [*body.velocity, *body.omega[::-1]]
        for joint in work.joints:
            turn, shift = self._moved[joint.a]
            own = _turn(joint.axis, self._coordinate())
            self._moved[joint.b] = turn @ own, turn @ (joint.point - own @ joint.point) + shift
            first.append(joint.rate)
        q, v = ca.vertcat(*self._q), ca.vertcat(*self._v)
        self.start = np.concatenate([np.zeros(len(first)), first])
        rates, y = self._accelerations(q, v), ca.vertcat(q, v)
        rate = ca.Function("rate", [y], [ca.vertcat(v, rates)])
        places = [self._place(k, body.center) for k, body in enumerate(work.bodies)]
        where = ca.Function("where", [y], [ca.horzcat(*places).T])
        self.rate: Callable[[float, np.ndarray], np.ndarray] = lambda _, y: rate(y).full().ravel()
        self.centers: Callable[[np.ndarray], np.ndarray] = lambda y: where(y).full()

    def _coordinate(self) -> ca.SX:
        self._q.append(ca.SX.sym(f"q{len(self._q)}"))
        self._v.append(ca.SX.sym(f"v{len(self._v)}"))
        return self._q[-1]

    def _place(self, k: int, start: np.ndarray) -> ca.SX:
        turn, shift = self._moved[k]
        return turn @ start + shift

    def _accelerations(self, q: ca.SX, v: ca.SX) -> ca.SX:
        T, V, D = ca.SX(0), ca.SX(0), ca.SX(0)

        def rate(x: ca.SX) -> ca.SX:
            return ca.jtimes(x, q, v)

        for k, body in enumerate(self.work.bodies):
            turn, place = self._moved[k][0], self._place(k, body.center)
            spin = turn.T @ ca.reshape(rate(ca.vec(turn)), 3, 3)  # ω × in its own axes
            omega = body.axes.T @ ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
            T += 0.5 * body.mass * ca.sumsqr(rate(place)) + 0.5 * ca.dot(body.inertia, omega**2)
            V -= body.mass * ca.dot(self.work.gravity, place)
        for spring in self.work.springs:
            ends = self._place(spring.b, spring.at_b) - self._place(spring.a, spring.at_a)
            length = ca.norm_2(ends)
            V += 0.5 * spring.stiffness * (length - spring.length) ** 2
            D += 0.5 * spring.damping * rate(length) ** 2
        for mount in self.work.mounts:
            apart = self._place(mount.b, mount.point) - self._place(mount.a, mount.point)
            V += 0.5 * mount.stiffness * ca.sumsqr(apart)
            D += 0.5 * mount.damping * ca.sumsqr(rate(apart))
        p = ca.gradient(T, v)
        force = ca.gradient(T - V, q) - ca.jtimes(p, q, v) - ca.gradient(D, v)
        return ca.solve(ca.jacobian(p, v), force)


def _turn(axis: np.ndarray, angle: ca.SX) -> ca.SX:
    """Rotation about an axis by an angle."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return ca.SX.eye(3) + ca.sin(angle) * K + (1 - ca.cos(angle)) * (K @ K)
