"""MuJoCo: joint coordinates; loops by soft equalities as stiff as the step allows; stepped in C."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco as mj
import numpy as np

from benchmarks.cases.model import Joint, Spring, Work
from benchmarks.engines.base import CannotError, Ran, Settings

MODULE, PACKAGES = "mujoco", ("mujoco", "mujoco-core")
STEPPED = "in C, RK4 with fixed steps"

STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)
#: For springs and dampers, beside RK4: of order 1 and implicit in the dampers' forces.
IMPLICIT_STEPS = (1e-2, 1e-3, 1e-4, 1e-5)
NO_ROLLING = (
    "cannot: its constraints are connect, weld, joint, tendon and flex, none on velocities; "
    "a wheel rolls by soft contact with friction"
)
CANNOT = {
    "rolling_disk": NO_ROLLING,
    "bicycle": NO_ROLLING,
    "nonholonomic_particle": "cannot: no constraint on velocities, and none of the user's own",
    "vehicle": "cannot: no bushing, and its springs between points damp along their line alone",
    "car_axis": "cannot: a driven base is a mocap body, whose velocity the constraints do not see",
}


def spec(work: Work, h: float, integrator: Any) -> Any:
    """The work as a specification of MuJoCo."""
    made = mj.MjSpec()
    made.option.timestep, made.option.gravity = h, work.gravity
    made.option.integrator = integrator
    made.option.tolerance, made.option.iterations = 1e-12, 100
    frames: dict[int, Any] = {-1: (np.eye(3), np.zeros(3), made.worldbody)}
    kinds = {"pin": mj.mjtJoint.mjJNT_HINGE, "slide": mj.mjtJoint.mjJNT_SLIDE}
    for k, joint in enumerate(work.tree):
        own = work.bodies[joint.b]
        axes, center, parent = frames[joint.a]
        quaternion = np.zeros(4)
        mj.mju_mat2Quat(quaternion, np.ascontiguousarray(axes.T @ own.axes).ravel())
        body = parent.add_body(
            name=f"b{joint.b}",
            pos=axes.T @ (own.center - center),
            quat=quaternion,
            mass=own.mass,
            inertia=own.inertia,
            ipos=(0, 0, 0),
            explicitinertial=True,
        )
        body.add_joint(
            name=f"j{k}",
            type=kinds[joint.kind],
            pos=own.axes.T @ (joint.point - own.center),
            axis=own.axes.T @ joint.axis,
        )
        frames[joint.b] = (own.axes, own.center, body)
    for joint in work.loops:
        _close(made, work, joint, h)
    for k, spring in enumerate(work.springs):
        _spring(made, frames, k, spring)
    return made


def _close(made: Any, work: Work, joint: Joint, h: float) -> None:
    """One point held for a planar loop, two for a hinge in space."""
    own = work.bodies[joint.b]
    for along in (0.0,) if work.planar else (0.0, 0.5):
        equality = made.add_equality(
            type=mj.mjtEq.mjEQ_CONNECT,
            objtype=mj.mjtObj.mjOBJ_BODY,
            name1=f"b{joint.b}",
            name2=f"b{joint.a}" if joint.a >= 0 else "world",
        )
        equality.data[:3] = own.axes.T @ (joint.point + along * joint.axis - own.center)
        equality.solref = (2 * h, 1.0)
        equality.solimp = (0.9999, 0.9999, 1e-3, 0.5, 2.0)


def _spring(made: Any, frames: dict[int, Any], k: int, spring: Spring) -> None:
    tendon = made.add_tendon(name=f"s{k}", stiffness=spring.stiffness, damping=spring.damping)
    tendon.springlength = [spring.length, spring.length]
    for end, (number, at) in enumerate(((spring.a, spring.at_a), (spring.b, spring.at_b))):
        axes, center, body = frames[number]
        body.add_site(name=f"s{k}_{end}", pos=axes.T @ (at - center))
        tendon.wrap_site(f"s{k}_{end}")


def build(work: Work, h: float, integrator: Any = mj.mjtIntegrator.mjINT_RK4) -> tuple[Any, Any]:
    """Model and data at the start."""
    model = spec(work, h, integrator).compile()
    data = mj.MjData(model)
    for k, joint in enumerate(work.tree):
        data.qvel[model.jnt_dofadr[model.joint(f"j{k}").id]] = joint.rate
    for number, torque in work.torques:
        data.xfrc_applied[model.body(f"b{number}").id, 3:] = torque
    mj.mj_forward(model, data)
    return model, data


def settings(work: Work) -> Settings:
    """Fixed steps."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])

    def run(h: float, integrator: Any, stages: int) -> Ran:
        begin = time.process_time()
        model, data = build(work, h, integrator)
        build_time = time.process_time() - begin
        ids = [model.body(f"b{k}").id for k in work.points]
        places, spent = [data.xpos[ids].copy()], 0.0
        for span in np.diff(work.times):
            begin = time.process_time()
            mj.mj_step(model, data, round(span / h))
            spent += time.process_time() - begin
            mj.mj_kinematics(model, data)
            places.append(data.xpos[ids].copy())
        return Ran(
            spent,
            np.array(places),
            build_time,
            evaluations=stages * round(work.until / h),
        )

    scale = min(1.0, work.until)  # shorter works get shorter steps
    ladder: Settings = {}
    for h in STEPS:
        name = f"RK4, step {h * scale:g} s"
        ladder[name] = lambda h=h: run(h * scale, mj.mjtIntegrator.mjINT_RK4, 4)
    for h in IMPLICIT_STEPS if work.springs else ():
        name = f"implicitfast, step {h * scale:g} s"
        ladder[name] = lambda h=h: run(h * scale, mj.mjtIntegrator.mjINT_IMPLICITFAST, 1)
    return ladder


def evaluation(work: Work) -> Callable[[int], None]:
    """`mj_forward`, called from Python."""
    model, data = build(work, 1e-3)

    def evaluate(count: int) -> None:
        for _ in range(count):
            mj.mj_forward(model, data)

    return evaluate
