"""The works as SymPy's `KanesMethod` takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

from benchmarks.cases.model import Body, Joint, Spring, Work

__all__ = ["WEIGHT", "car_axis", "disk", "mechanism", "particle", "start"]

#: A constant is needed: PyDy 0.9.4 does not generate code without one.
WEIGHT = sm.Symbol("g")
TIME = me.dynamicsymbols._t  # noqa: SLF001 - its documented name of time


def _vector(frame: Any, x: np.ndarray) -> Any:
    parts = zip(x, frame, strict=True)
    return sum((sm.nsimplify(v) * e for v, e in parts if abs(v) > 1e-14), me.Vector(0))


class _Linkage:
    """Bodies on a tree of pins and guides, all frames being those of the world at the start.

    A planar work has the absolute angles of its bodies, as PyDy's own chain of links; one in space
    the angles of its joints.
    """

    def __init__(self, work: Work) -> None:
        n = len(work.bodies)
        self.work = work
        self.q, self.u = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}")
        self.world, self.origin = me.ReferenceFrame("N"), me.Point("O")
        self.origin.set_vel(self.world, 0)
        self.frames: dict[int, Any] = {-1: self.world}
        self.centers: dict[int, Any] = {}
        for joint in work.tree:
            (self._slide if joint.kind == "slide" else self._pin)(joint)

    def point(self, number: int, x: np.ndarray) -> Any:
        """The point of a body that was at x at the start."""
        if number < 0:
            made = self.origin.locatenew("P", _vector(self.world, x))
            made.set_vel(self.world, 0)
            return made
        arm = _vector(self.frames[number], x - self.work.bodies[number].center)
        made = self.centers[number].locatenew("P", arm)
        made.v2pt_theory(self.centers[number], self.world, self.frames[number])
        return made

    def _pin(self, joint: Joint) -> None:
        k, parent = joint.b, self.world if self.work.planar else self.frames[joint.a]
        axis = _vector(parent, joint.axis)
        frame = parent.orientnew(f"B{k}", "Axis", [self.q[k], axis])
        frame.set_ang_vel(parent, self.u[k] * axis)
        self.frames[k], pivot = frame, self.point(joint.a, joint.point)
        arm = _vector(frame, self.work.bodies[k].center - joint.point)
        self.centers[k] = pivot.locatenew(f"G{k}", arm)
        self.centers[k].v2pt_theory(pivot, self.world, frame)

    def _slide(self, joint: Joint) -> None:
        k, frame = joint.b, self.frames[joint.a]
        axis, base = _vector(frame, joint.axis), self.point(joint.a, self.work.bodies[k].center)
        self.frames[k] = frame
        self.centers[k] = base.locatenew(f"G{k}", self.q[k] * axis)
        turning = frame.ang_vel_in(self.world).cross(self.q[k] * axis)
        self.centers[k].set_vel(self.world, base.vel(self.world) + turning + self.u[k] * axis)

    def body(self, k: int, body: Body) -> Any:
        """A body of Kane's equations."""
        J = body.axes @ np.diag(body.inertia) @ body.axes.T
        J = [sm.nsimplify(x) if abs(x) > 1e-14 else sm.S.Zero for x in J[*_INERTIA]]
        central = (me.inertia(self.frames[k], *J), self.centers[k])
        mass = sm.nsimplify(body.mass)
        return me.RigidBody(f"R{k}", self.centers[k], self.frames[k], mass, central)

    def gap(self, a: Any, b: Any) -> tuple[Any, Any]:
        """What leads from one point to another, and its rate."""
        apart = b.pos_from(self.origin) - a.pos_from(self.origin)
        return apart, b.vel(self.world) - a.vel(self.world)

    def spring(self, spring: Spring) -> list[Any]:
        """The forces on both ends."""
        a, b = self.point(spring.a, spring.at_a), self.point(spring.b, spring.at_b)
        apart, rate = self.gap(a, b)
        length = sm.sqrt(apart.dot(apart))
        stretch = spring.stiffness * (length - spring.length)
        pull = stretch + spring.damping * rate.dot(apart) / length
        ends = ((spring.a, a, apart), (spring.b, b, -apart))
        return [(end, pull / length * way) for number, end, way in ends if number >= 0]


#: The order in which SymPy takes the six numbers of an inertia tensor.
_INERTIA = ([0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2])


def mechanism(work: Work) -> Any:
    """Kane's equations of pins and guides, springs and torques."""
    model = _Linkage(work)
    bodies = [model.body(k, body) for k, body in enumerate(work.bodies)]
    down = work.gravity / max(np.linalg.norm(work.gravity), 1e-14)
    loads = [
        (model.centers[k], WEIGHT * body.mass * _vector(model.world, down))
        for k, body in enumerate(work.bodies)
    ]
    loads += [load for spring in work.springs for load in model.spring(spring)]
    loads += [(model.frames[k], _vector(model.world, torque)) for k, torque in work.torques]
    gaps, rates = [], []
    for joint in work.loops:
        gap, rate = model.gap(*(model.point(k, joint.point) for k in (joint.a, joint.b)))
        gaps += [gap.dot(e) for e in (model.world.x, model.world.z)]
        rates += [rate.dot(e) for e in (model.world.x, model.world.z)]
    own = len(work.bodies) - len(gaps)
    kane = me.KanesMethod(
        model.world,
        q_ind=model.q[:own],
        u_ind=model.u[:own],
        q_dependent=model.q[own:],
        u_dependent=model.u[own:],
        configuration_constraints=gaps,
        velocity_constraints=rates,
        kd_eqs=[a - b.diff() for a, b in zip(model.u, model.q, strict=True)],
    )
    kane.kanes_equations(bodies, loads)
    return kane


def start(work: Work) -> np.ndarray:
    """Coordinates and speeds of a mechanism when it starts."""
    u = np.zeros(len(work.bodies))
    for joint in work.tree:
        absolute = work.planar and joint.kind == "pin"
        u[joint.b] = work.bodies[joint.b].omega[1] if absolute else joint.rate
    return np.concatenate([np.zeros(len(u)), u])


def particle() -> Any:
    """The nonholonomic particle: a constraint that depends on time."""
    x, y, z, u, v, w = me.dynamicsymbols("x y z u v w")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    point = origin.locatenew("P", x * frame.x + y * frame.y + z * frame.z)
    point.set_vel(frame, u * frame.x + v * frame.y + w * frame.z)
    kane = me.KanesMethod(
        frame,
        q_ind=[x, y, z],
        u_ind=[u, w],
        u_dependent=[v],
        velocity_constraints=[v - z * u - sm.sin(TIME)],
        kd_eqs=[u - x.diff(), v - y.diff(), w - z.diff()],
    )
    force = sm.cos(TIME) * frame.x + (1 + sm.sin(2 * TIME)) * frame.y + (TIME - 1) * frame.z
    kane.kanes_equations([me.Particle("p", point, 1)], [(point, force)])
    return kane


def car_axis() -> Any:
    """Two masses on springs over a driven base, one on a line and both on an axle.

    Numbers of the Test Set for IVP Solvers, "caraxis". The left end's height and the right end's
    are independent.
    """
    length, rest, mass = sm.Integer(1), sm.Rational(1, 2), 5 * sm.Rational(1, 100) ** 2
    base = sm.sin(10 * TIME) / 10
    wheel = (sm.sqrt(length**2 - base**2), base)
    a, b, c, d, u, v, w, s = me.dynamicsymbols("a b c d u v w s")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    bodies, loads = [], []
    for name, place, rate, foot in (("l", (a, b), (u, v), (0, 0)), ("r", (c, d), (w, s), wheel)):
        point = origin.locatenew(name, place[0] * frame.x + place[1] * frame.y)
        point.set_vel(frame, rate[0] * frame.x + rate[1] * frame.y)
        apart = [x - y for x, y in zip(place, foot, strict=True)]
        distance = sm.sqrt(apart[0] ** 2 + apart[1] ** 2)
        pull = (rest - distance) / distance
        force = pull * (apart[0] * frame.x + apart[1] * frame.y)
        bodies.append(me.Particle(name, point, mass))
        loads.append((point, force - mass * frame.y))  # gravity is 1 in the source
    gaps = [wheel[0] * a + wheel[1] * b, (a - c) ** 2 + (b - d) ** 2 - length**2]
    speeds = {x.diff(): rate for x, rate in zip((a, b, c, d), (u, v, w, s), strict=True)}
    kane = me.KanesMethod(
        frame,
        q_ind=[b, d],
        u_ind=[v, s],
        q_dependent=[a, c],
        u_dependent=[u, w],
        configuration_constraints=gaps,
        velocity_constraints=[gap.diff(TIME).subs(speeds) for gap in gaps],
        kd_eqs=[rate - x for x, rate in speeds.items()],
    )
    kane.kanes_equations(bodies, loads)
    return kane


def disk() -> Any:
    """The rolling disk: three speeds, and two that follow from them for the point of contact."""
    r, mass = sm.Rational(1, 2), sm.Integer(1)
    q, u = me.dynamicsymbols("x y phi theta psi"), me.dynamicsymbols("u:5")
    x, y, phi, theta, psi = q
    world, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(world, 0)
    heading = world.orientnew("H", "Axis", [phi, world.z])
    lean = heading.orientnew("L", "Axis", [-theta, heading.x])
    rim = lean.orientnew("D", "Axis", [-psi, lean.y])
    lean.set_ang_vel(world, u[2] * world.z - u[3] * heading.x)
    rim.set_ang_vel(world, u[2] * world.z - u[3] * heading.x - u[4] * lean.y)
    touch = origin.locatenew("P", x * world.x + y * world.y)
    touch.set_vel(world, 0)  # of the disk's point that is there
    center = touch.locatenew("G", r * lean.z)
    center.v2pt_theory(touch, world, rim)
    J = mass * r**2 / 4
    body = me.RigidBody("disk", center, rim, mass, (me.inertia(lean, J, 2 * J, J), center))
    kane = me.KanesMethod(
        world,
        q_ind=q,
        u_ind=u[2:],
        u_dependent=u[:2],
        velocity_constraints=[u[0] + r * u[4] * sm.cos(phi), u[1] + r * u[4] * sm.sin(phi)],
        kd_eqs=[rate - place.diff() for rate, place in zip(u, q, strict=True)],
    )
    kane.kanes_equations([body], [(center, -WEIGHT * mass * world.z)])
    return kane
