"""Pinocchio: joint coordinates, `aba` or `constraintDynamics`; no integrator, so Python steps it.

SciPy's DOP853 or the classical Runge–Kutta method, loops with Baumgarte's correction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks.engines.base import CannotError, Ran, Settings
from benchmarks.works.model import Work

MODULE = "pinocchio"
PACKAGES = ("pin", "libpinocchio", "eigenpy", "coal", "libcoal")
STEPPED = "from Python, RK4 with fixed steps or SciPy's DOP853"

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

    def acceleration(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """(q, v) → v̇."""
        model, data, tau = self.model, self.data, np.zeros(self.model.nv)
        if not len(self.loops):
            return lambda q, v: pin.aba(model, data, q, v, tau)
        loops, held, proximal = self.loops, self.held, pin.ProximalSettings(1e-12, 1e-10, 20)

        def constrained(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return pin.constraintDynamics(model, data, q, v, tau, loops, held, proximal).copy()

        return constrained

    def centers(self, q: np.ndarray) -> np.ndarray:
        """Where the bodies are."""
        pin.forwardKinematics(self.model, self.data, q)
        pose = self.data.oMi
        return np.array([pose[i].rotation @ arm + pose[i].translation for i, arm in self.arms])


def build(work: Work, rate: float) -> Built:
    """The work with Baumgarte's rate for its loops."""
    model = pin.Model()
    model.gravity = pin.Motion(work.gravity, np.zeros(3))
    place: dict[int, Any] = {-1: (np.zeros(3), np.eye(3), 0)}
    kinds = {"pin": pin.JointModelRevoluteUnaligned, "slide": pin.JointModelPrismaticUnaligned}
    for k, joint in enumerate(work.tree):
        body = work.bodies[joint.b]
        point, axes, parent = place[joint.a]
        frame = pin.SE3(axes.T @ body.axes, axes.T @ (joint.point - point))
        index = model.addJoint(parent, kinds[joint.kind](body.axes.T @ joint.axis), frame, f"j{k}")
        inertia = pin.Inertia(body.mass, np.zeros(3), np.diag(body.inertia))
        arm = body.axes.T @ (body.center - joint.point)
        model.appendBodyToJoint(index, inertia, pin.SE3(np.eye(3), arm))
        place[joint.b] = (joint.point, body.axes, index)
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
    data = model.createData()
    if len(loops):
        pin.initConstraintDynamics(model, data, loops, held)
    v = np.zeros(model.nv)
    for joint in work.tree:
        v[model.joints[place[joint.b][2]].idx_v] = joint.rate
    arms = []
    for k in work.points:
        point, axes, index = place[k]
        arms.append((index, axes.T @ (work.bodies[k].center - point)))
    return Built(model, data, loops, held, v, arms)


def settings(work: Work) -> Settings:
    """Both ways of stepping."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])
    if work.springs:
        raise CannotError("has no springs: forces between points are left to the user's own Python")
    if len(work.bodies) > LARGEST:
        raise CannotError("no result in 40 s: its data for 1,000 joints fill 20 GB")

    def adaptive(tolerance: float) -> Ran:
        begin = time.process_time()
        built = build(work, MODERATE)
        build_time = time.process_time() - begin
        acceleration, n, count = built.acceleration(), built.model.nq, 0
        y, spent = np.concatenate([np.zeros(n), built.v]), 0.0
        places = [built.centers(y[:n])]

        def f(_: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n:], acceleration(y[:n], y[n:])])

        for span in np.diff(work.times):
            begin = time.process_time()
            done = solve_ivp(f, (0.0, span), y, method="DOP853", rtol=tolerance, atol=tolerance)
            y, count = done.y[:, -1], count + done.nfev
            spent += time.process_time() - begin
            places.append(built.centers(y[:n]))
        return Ran(spent, np.array(places), build_time, evaluations=count)

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

    ladder: Settings = {f"RK4, step {h:g} s": lambda h=h: fixed(h) for h in STEPS}
    for x in TOLERANCES:
        ladder[f"DOP853, tolerance {x:g}"] = lambda x=x: adaptive(x)
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
