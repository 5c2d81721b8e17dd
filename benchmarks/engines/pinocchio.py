"""Pinocchio: joint coordinates, `aba` or `constraintDynamics`; no integrator, so Python steps it.

SciPy's DOP853 or the classical Runge–Kutta method, loops with Baumgarte's correction. It has no
springs: their forces are computed in Python, as its users do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.cases.model import Mount, Spring, Work
from benchmarks.engines.base import CannotError, Ran, Settings
from benchmarks.engines.stepping import adaptive

MODULE = "pinocchio"
PACKAGES = ("pin", "libpinocchio", "eigenpy", "coal", "libcoal")
STEPPED = "from Python, RK4 with fixed steps or SciPy's DOP853 and Radau"

STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4)
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
#: Baumgarte's rates [1/s]: with fixed steps the stiffest that RK4 bears, else a moderate one.
FOR_STEP, MODERATE = 0.2, 20.0
#: Its data for 1,000 joints fill 20 GB.
LARGEST = 300
OWN = "cannot by itself: only with constraint rows and their drift written by the user"
CANNOT = {
    "rolling_disk": OWN,
    "bicycle": OWN,
    "nonholonomic_particle": OWN,
    "car_axis": OWN,
}


@dataclass
class Built:
    """A model with its data, loop constraints, start and where the centres are."""

    model: Any
    data: Any
    loops: Any
    held: Any
    v: np.ndarray
    arms: list[tuple[int, np.ndarray]]
    pulls: list[tuple[Spring, list[tuple[float, int]]]]
    beds: list[tuple[Mount, list[tuple[float, int]]]]
    turns: list[tuple[int, np.ndarray]]

    def acceleration(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """(q, v) → v̇."""
        model, data, none = self.model, self.data, np.zeros(self.model.nv)
        loaded = bool(self.pulls or self.beds or self.turns)
        if not len(self.loops):
            if not loaded:
                return lambda q, v: pin.aba(model, data, q, v, none)
            return lambda q, v: pin.aba(model, data, q, v, self.load(q, v))
        loops, held, proximal = self.loops, self.held, pin.ProximalSettings(1e-12, 1e-10, 20)

        def constrained(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            tau = self.load(q, v) if loaded else none
            return pin.constraintDynamics(model, data, q, v, tau, loops, held, proximal).copy()

        return constrained

    def load(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What springs, bushings and torques do to the joints."""
        model, data, tau = self.model, self.data, np.zeros(self.model.nv)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)

        def rows(frame: int) -> np.ndarray:
            return pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)

        for spring, ends in self.pulls:
            apart = sum(sign * data.oMf[frame].translation for sign, frame in ends)
            J = sum(sign * rows(frame)[:3] for sign, frame in ends)
            length = np.sqrt(apart @ apart)
            rate = apart @ (J @ v) / length
            pull = spring.stiffness * (length - spring.length) + spring.damping * rate
            tau -= pull / length * (apart @ J)
        for mount, ends in self.beds:
            apart = sum(sign * data.oMf[frame].translation for sign, frame in ends)
            J = sum(sign * rows(frame)[:3] for sign, frame in ends)
            tau -= (mount.stiffness * apart + mount.damping * (J @ v)) @ J
        for frame, torque in self.turns:
            tau += torque @ rows(frame)[3:]
        return tau

    def centers(self, q: np.ndarray) -> np.ndarray:
        """Where the bodies are."""
        pin.forwardKinematics(self.model, self.data, q)
        pose = self.data.oMi
        return np.array([pose[i].rotation @ arm + pose[i].translation for i, arm in self.arms])


def tree(work: Work) -> tuple[Any, dict[int, Any], dict[int, np.ndarray]]:
    """The model without loops, where its bodies hang, and rates of joints at the start."""
    model = pin.Model()
    model.gravity = pin.Motion(work.gravity, np.zeros(3))
    place: dict[int, Any] = {-1: (np.zeros(3), np.eye(3), 0)}
    speeds: dict[int, np.ndarray] = {}
    kinds = {"pin": pin.JointModelRevoluteUnaligned, "slide": pin.JointModelPrismaticUnaligned}
    parents = {joint.a for joint in work.tree}
    for k in work.free:
        if k not in parents:
            _release(work, k, model, place, speeds)
    for k, joint in enumerate(work.tree):
        body = work.bodies[joint.b]
        if joint.a not in place:
            _release(work, joint.a, model, place, speeds)
        point, axes, parent = place[joint.a]
        frame = pin.SE3(axes.T @ body.axes, axes.T @ (joint.point - point))
        index = model.addJoint(parent, kinds[joint.kind](body.axes.T @ joint.axis), frame, f"j{k}")
        inertia = pin.Inertia(body.mass, np.zeros(3), np.diag(body.inertia))
        arm = body.axes.T @ (body.center - joint.point)
        model.appendBodyToJoint(index, inertia, pin.SE3(np.eye(3), arm))
        place[joint.b] = (joint.point, body.axes, index)
        speeds[index] = np.array([joint.rate])
    return model, place, speeds


def _release(
    work: Work, k: int, model: Any, place: dict[int, Any], speeds: dict[int, np.ndarray]
) -> None:
    """A body that no joint holds, in coordinates whose rates are its velocities at the start."""
    body = work.bodies[k]
    moved = model.addJoint(
        0, pin.JointModelTranslation(), pin.SE3(np.eye(3), body.center), f"shift{k}"
    )
    turned = model.addJoint(
        moved, pin.JointModelSphericalZYX(), pin.SE3(body.axes, np.zeros(3)), f"turn{k}"
    )
    inertia = pin.Inertia(body.mass, np.zeros(3), np.diag(body.inertia))
    model.appendBodyToJoint(turned, inertia, pin.SE3.Identity())
    speeds[moved], speeds[turned] = body.velocity, (body.axes.T @ body.omega)[::-1]
    place[k] = (body.center, body.axes, turned)


def build(work: Work, rate: float) -> Built:
    """The work with Baumgarte's rate for its loops."""
    model, place, speeds = tree(work)
    loops, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint in work.loops:
        pa, ra, ia = place[joint.a]
        pb, rb, ib = place[joint.b]
        for along in (0.0,) if work.planar else (0.0, 0.5):
            x = joint.point + along * joint.axis
            constraint = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                model,
                ib,
                pin.SE3(np.eye(3), rb.T @ (x - pb)),
                ia,
                pin.SE3(ra.T @ rb, ra.T @ (x - pa)),
                pin.ReferenceFrame.LOCAL,
            )
            corrector = pin.BaumgarteCorrectorParameters(rate**2, 2 * rate)
            constraint.setBaumgarteCorrectorParameters(corrector)
            loops.append(constraint)
            held.append(constraint.createData())

    def frame(k: int, x: np.ndarray) -> int:
        point, axes, index = place[k]
        spot = pin.SE3(np.eye(3), axes.T @ (x - point))
        return model.addFrame(pin.Frame(f"f{model.nframes}", index, spot, pin.FrameType.OP_FRAME))

    pulls = [(s, [(-1.0, frame(s.a, s.at_a)), (1.0, frame(s.b, s.at_b))]) for s in work.springs]
    beds = [(m, [(-1.0, frame(m.a, m.point)), (1.0, frame(m.b, m.point))]) for m in work.mounts]
    turns = [(frame(k, work.bodies[k].center), torque) for k, torque in work.torques]
    data = model.createData()
    if len(loops):
        pin.initConstraintDynamics(model, data, loops, held)
    v = np.zeros(model.nv)
    for index, speed in speeds.items():
        first = model.joints[index].idx_v
        v[first : first + len(speed)] = speed
    arms = []
    for k in work.points:
        point, axes, index = place[k]
        arms.append((index, axes.T @ (work.bodies[k].center - point)))
    return Built(model, data, loops, held, v, arms, pulls, beds, turns)


def settings(work: Work) -> Settings:
    """Both ways of stepping."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])
    if len(work.bodies) > LARGEST:
        raise CannotError("no result in 40 s: its data for 1,000 joints fill 20 GB")

    def controlled(method: str, tolerance: float) -> Ran:
        begin = time.process_time()
        built = build(work, MODERATE)
        build_time = time.process_time() - begin
        acceleration, n = built.acceleration(), built.model.nq

        def f(_: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n:], acceleration(y[:n], y[n:])])

        def places(y: np.ndarray) -> np.ndarray:
            return built.centers(y[:n])

        start = np.concatenate([np.zeros(n), built.v])
        return adaptive(work, method, f, start, tolerance, build_time, places)

    def fixed(h: float) -> Ran:
        begin = time.process_time()
        built = build(work, FOR_STEP / h)
        build_time = time.process_time() - begin
        a, q, v, spent = built.acceleration(), np.zeros(built.model.nq), built.v, 0.0
        places = [built.centers(q)]
        for span in np.diff(work.times):
            begin = time.process_time()
            for _ in range(round(span / h)):
                a1 = a(q, v)
                v2 = v + h / 2 * a1
                a2 = a(q + h / 2 * v, v2)
                v3 = v + h / 2 * a2
                a3 = a(q + h / 2 * v2, v3)
                v4 = v + h * a3
                a4 = a(q + h * v3, v4)
                q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
                v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            spent += time.process_time() - begin
            places.append(built.centers(q))
        return Ran(spent, np.array(places), build_time, evaluations=4 * round(work.until / h))

    steps = [h * min(1.0, work.until) for h in STEPS]
    ladder: Settings = {f"RK4, step {h:g} s": lambda h=h: fixed(h) for h in steps}
    for method in ("Radau", "DOP853") if work.stiff else ("DOP853",):
        for x in TOLERANCES:
            name = f"{method}, tolerance {x:g}"
            ladder[name] = lambda x=x, m=method: controlled(m, x)
    return ladder


def evaluation(work: Work) -> Callable[[int], None] | None:
    """`aba` or `constraintDynamics`, called from Python."""
    if len(work.bodies) > LARGEST:
        return None
    built = build(work, 1.0)
    acceleration, q, v = built.acceleration(), np.zeros(built.model.nq), built.v

    def evaluate(count: int) -> None:
        for _ in range(count):
            acceleration(q, v)

    return evaluate
