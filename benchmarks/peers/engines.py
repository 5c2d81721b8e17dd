"""The engines: each builds a work in its own way and runs it at several settings.

`ENGINES` maps a name to a function that gives, for a work, its settings from coarse to fine and a
function that runs one: it returns the CPU time of the simulation alone and the centres of mass.
Engines that are not installed are left out.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from peers.works import INERTIA, MASS, Work

__all__ = ["ENGINES", "Setting", "available"]

#: What a setting is called, and what runs it: () → (CPU seconds, centres (samples + 1, rods, 3)).
Setting = tuple[str, Callable[[], tuple[float, np.ndarray]]]


def available() -> dict[str, Callable[[Work], Iterator[Setting]]]:
    """The engines that are installed."""
    modules = {"zwang": "zwang", "MuJoCo": "mujoco", "Pinocchio": "pinocchio"}
    return {
        name: ENGINES[name]
        for name, module in modules.items()
        if importlib.util.find_spec(module) is not None
    }


def zwang(work: Work) -> Iterator[Setting]:
    """One call of `simulate`, everything that Python does in it included."""
    import zwang as zw

    m = zw.Mechanism(gravity=work.gravity, plane="xz" if work.planar else None)
    bodies = [m.ground]
    for k, rod in enumerate(work.rods):
        if work.planar:
            place = {
                "position": rod.center[[0, 2]],
                "velocity": rod.velocity[[0, 2]],
                "angular_velocity": float(rod.omega[1]),
            }
            bodies.append(m.body(f"b{k}", mass=MASS, inertia=float(INERTIA[1]), **place))
        else:
            inertia = zw.inertia.principal(MASS, INERTIA)
            bodies.append(
                m.body(f"b{k}", inertia=inertia, position=rod.center, orientation=rod.axes)
            )
    for k, pin in enumerate(work.pins):
        at = pin.point[[0, 2]] if work.planar else pin.point
        axis = "y" if work.planar else pin.axis
        m.revolute(f"j{k}", bodies[pin.a + 1], bodies[pin.b + 1], at=at, axis=axis)
    start = m.assemble()
    m.simulate(start, until=1e-3, save=[0.0, 1e-3])

    def run(tolerance: float) -> tuple[float, np.ndarray]:
        begin = time.process_time()
        result = m.simulate(start, until=work.until, tolerance=tolerance, save=work.times)
        spent = time.process_time() - begin
        if not result.finished:
            return spent, np.full((len(work.times), len(work.rods), 3), np.nan)
        motion = [result.body(f"b{k}").center for k in range(len(work.rods))]
        return spent, np.stack(motion, axis=1)

    for exponent in range(4, 13):
        tolerance = 10.0**-exponent
        yield f"tolerance {tolerance:g}", lambda tolerance=tolerance: run(tolerance)


def mujoco(work: Work) -> Iterator[Setting]:
    """Joint coordinates; loops by soft equalities as stiff as the step allows; stepped in C."""
    import mujoco as mj

    def build(h: float) -> tuple[Any, Any]:
        spec = mj.MjSpec()
        spec.option.timestep, spec.option.gravity = h, work.gravity
        spec.option.integrator = mj.mjtIntegrator.mjINT_RK4
        spec.option.tolerance, spec.option.iterations = 1e-12, 100
        frames: dict[int, Any] = {-1: (np.eye(3), np.zeros(3), spec.worldbody)}
        for k, pin in enumerate(p for p in work.pins if not p.closing):
            rod = work.rods[pin.b]
            axes, center, parent = frames[pin.a]
            quaternion = np.zeros(4)
            mj.mju_mat2Quat(quaternion, np.ascontiguousarray(axes.T @ rod.axes).ravel())
            body = parent.add_body(
                name=f"b{pin.b}",
                pos=axes.T @ (rod.center - center),
                quat=quaternion,
                mass=MASS,
                inertia=INERTIA,
                ipos=(0, 0, 0),
                explicitinertial=True,
            )
            body.add_joint(
                name=f"j{k}",
                type=mj.mjtJoint.mjJNT_HINGE,
                pos=rod.axes.T @ (pin.point - rod.center),
                axis=rod.axes.T @ pin.axis,
            )
            frames[pin.b] = (rod.axes, rod.center, body)
        for pin in (p for p in work.pins if p.closing):
            rod = work.rods[pin.b]
            for along in (0.0,) if work.planar else (0.0, 0.5):
                equality = spec.add_equality(
                    type=mj.mjtEq.mjEQ_CONNECT,
                    objtype=mj.mjtObj.mjOBJ_BODY,
                    name1=f"b{pin.b}",
                    name2=f"b{pin.a}" if pin.a >= 0 else "world",
                )
                equality.data[:3] = rod.axes.T @ (pin.point + along * pin.axis - rod.center)
                equality.solref = (2 * h, 1.0)
                equality.solimp = (0.9999, 0.9999, 1e-3, 0.5, 2.0)
        model = spec.compile()
        data = mj.MjData(model)
        for k, pin in enumerate(p for p in work.pins if not p.closing):
            data.qvel[model.jnt_dofadr[model.joint(f"j{k}").id]] = pin.rate
        mj.mj_forward(model, data)
        return model, data

    def run(h: float) -> tuple[float, np.ndarray]:
        model, data = build(h)
        ids = [model.body(f"b{k}").id for k in range(len(work.rods))]
        each = round(work.until / work.samples / h)
        centers, spent = [data.xpos[ids].copy()], 0.0
        for _ in range(work.samples):
            begin = time.process_time()
            mj.mj_step(model, data, each)
            spent += time.process_time() - begin
            mj.mj_kinematics(model, data)
            centers.append(data.xpos[ids].copy())
        return spent, np.array(centers)

    for h in (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5):
        yield f"RK4, step {h:g}", lambda h=h: run(h)


def pinocchio(work: Work) -> Iterator[Setting]:  # noqa: C901, PLR0915 - one engine, told in one go
    """Joint coordinates, `aba` or `constraintDynamics`; it has no integrator, so Python steps it.

    Trees by SciPy's DOP853, loops by a Runge–Kutta step of order 4 with Baumgarte's correction.
    """
    import pinocchio as pin
    from scipy.integrate import solve_ivp

    def order() -> list[Any]:
        tree = [p for p in work.pins if not p.closing]
        if all(p.a == p.b - 1 for p in tree):
            return tree
        found: list[Any] = []

        def visit(body: int) -> None:
            for p in tree:
                if p.a == body:
                    found.append(p)
                    visit(p.b)

        visit(-1)  # depth first, or its loops are silently wrong
        return found

    def build(rate: float) -> tuple[Any, ...]:
        model = pin.Model()
        model.gravity = pin.Motion(work.gravity, np.zeros(3))
        place: dict[int, Any] = {-1: (np.zeros(3), np.eye(3), 0)}
        for k, p in enumerate(order()):
            rod = work.rods[p.b]
            point, axes, parent = place[p.a]
            frame = pin.SE3(axes.T @ rod.axes, axes.T @ (p.point - point))
            joint = pin.JointModelRevoluteUnaligned(rod.axes.T @ p.axis)
            index = model.addJoint(parent, joint, frame, f"j{k}")
            arm = rod.axes.T @ (rod.center - p.point)
            inertia = pin.Inertia(MASS, np.zeros(3), np.diag(INERTIA))
            model.appendBodyToJoint(index, inertia, pin.SE3(np.eye(3), arm))
            place[p.b] = (p.point, rod.axes, index)
        models, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for p in (p for p in work.pins if p.closing):
            pa, ra, ia = place[p.a]
            pb, rb, ib = place[p.b]
            for along in (0.0,) if work.planar else (0.0, 0.5):
                x = p.point + along * p.axis
                constraint = pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_3D,
                    model,
                    ib,
                    pin.SE3(np.eye(3), rb.T @ (x - pb)),
                    ia,
                    pin.SE3(ra.T @ rb, ra.T @ (x - pa)),
                    pin.ReferenceFrame.LOCAL,
                )
                constraint.setBaumgarteCorrectorParameters(
                    pin.BaumgarteCorrectorParameters(rate**2, 2 * rate)
                )
                models.append(constraint)
                held.append(constraint.createData())
        data = model.createData()
        if len(models):
            pin.initConstraintDynamics(model, data, models, held)
        v = np.zeros(model.nv)
        for p in order():
            v[model.joints[place[p.b][2]].idx_v] = p.rate
        arms = [
            (place[k][2], rod.axes.T @ (rod.center - place[k][0]))
            for k, rod in enumerate(work.rods)
        ]
        return model, data, models, held, v, arms

    def centers_of(model: Any, data: Any, arms: Any, q: np.ndarray) -> np.ndarray:
        pin.forwardKinematics(model, data, q)
        return np.array([data.oMi[i].rotation @ arm + data.oMi[i].translation for i, arm in arms])

    def tree(tolerance: float) -> tuple[float, np.ndarray]:
        model, data, _, _, v, arms = build(1.0)
        n, tau = model.nq, np.zeros(model.nv)
        y, found, spent = np.concatenate([np.zeros(n), v]), [], 0.0
        found.append(centers_of(model, data, arms, y[:n]))

        def f(_: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n:], pin.aba(model, data, y[:n], y[n:], tau)])

        for _ in range(work.samples):
            begin = time.process_time()
            span = (0.0, work.until / work.samples)
            y = solve_ivp(f, span, y, method="DOP853", rtol=tolerance, atol=tolerance).y[:, -1]
            spent += time.process_time() - begin
            found.append(centers_of(model, data, arms, y[:n]))
        return spent, np.array(found)

    def loops(h: float) -> tuple[float, np.ndarray]:
        model, data, models, held, v, arms = build(0.2 / h)
        tau, settings = np.zeros(model.nv), pin.ProximalSettings(1e-12, 1e-10, 20)
        q, found, spent = np.zeros(model.nq), [], 0.0
        found.append(centers_of(model, data, arms, q))

        def a(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return pin.constraintDynamics(model, data, q, v, tau, models, held, settings).copy()

        for _ in range(work.samples):
            begin = time.process_time()
            for _ in range(round(work.until / work.samples / h)):
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
            found.append(centers_of(model, data, arms, q))
        return spent, np.array(found)

    if any(p.closing for p in work.pins):
        for h in (1e-2, 5e-3, 2e-3, 1e-3, 5e-4):
            yield f"RK4 in Python, step {h:g}", lambda h=h: loops(h)
    else:
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
            yield f"DOP853 of SciPy, {tolerance:g}", lambda t=tolerance: tree(t)


ENGINES: dict[str, Callable[[Work], Iterator[Setting]]] = {
    "zwang": zwang,
    "MuJoCo": mujoco,
    "Pinocchio": pinocchio,
}
