"""Drake: continuous time with error control for trees; its discrete SAP solver for loops."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pydrake.common.value import Value
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialForce, SpatialVelocity
from pydrake.multibody.plant import (
    DiscreteContactApproximation,
    ExternallyAppliedSpatialForce_,
    MultibodyPlant,
)
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    LinearBushingRollPitchYaw,
    LinearSpringDamper,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from benchmarks.cases.model import Joint, Work
from benchmarks.engines.base import CannotError, Ran, Settings

MODULE, PACKAGES = "pydrake", ("drake",)
STEPPED = "in C++, orders 3 and 5 with error control; loops at order 1 with fixed steps"

NO_ROLLING = "cannot: no constraint on velocities in its public interface"
CANNOT = {
    "rolling_disk": NO_ROLLING,
    "bicycle": NO_ROLLING,
    "nonholonomic_particle": NO_ROLLING,
    "car_axis": "cannot: its distance constraints hold bodies of the plant only, not a driven base",
    "bricard": "stops: a ball constraint to the ground ends the process (segmentation fault)",
    "door": "stops: a ball constraint to the ground ends the process (segmentation fault)",
}


def build(work: Work, step: float) -> tuple[Any, list[Any], list[Any]]:
    """Plant, its tree joints and the bodies."""
    plant = MultibodyPlant(time_step=step)
    plant.mutable_gravity_field().set_gravity_vector(work.gravity)
    bodies, place = [plant.world_body()], [(np.zeros(3), np.eye(3))]
    for k, body in enumerate(work.bodies):
        unit = UnitInertia(*(body.inertia / body.mass))
        bodies.append(plant.AddRigidBody(f"b{k}", SpatialInertia(body.mass, np.zeros(3), unit)))
        place.append((body.center, body.axes))

    def frame(number: int, joint: Joint, name: str) -> Any:
        center, axes = place[number + 1]
        pose = RigidTransform(RotationMatrix(axes).inverse(), axes.T @ (joint.point - center))
        return plant.AddFrame(FixedOffsetFrame(name, bodies[number + 1].body_frame(), pose))

    joints = []
    for k, joint in enumerate(work.tree):
        kind = RevoluteJoint if joint.kind == "pin" else PrismaticJoint
        ends = frame(joint.a, joint, f"f{k}a"), frame(joint.b, joint, f"f{k}b")
        joints.append(plant.AddJoint(kind(f"j{k}", *ends, joint.axis)))
    if work.loops and step:
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    for joint in work.loops:
        (pa, ra), (pb, rb) = place[joint.a + 1], place[joint.b + 1]
        for along in (0.0,) if work.planar else (0.0, 0.5):
            x = joint.point + along * joint.axis
            plant.AddBallConstraint(
                bodies[joint.b + 1], rb.T @ (x - pb), bodies[joint.a + 1], ra.T @ (x - pa)
            )
    for spring in work.springs:
        (pa, ra), (pb, rb) = place[spring.a + 1], place[spring.b + 1]
        plant.AddForceElement(
            LinearSpringDamper(
                bodies[spring.a + 1],
                ra.T @ (spring.at_a - pa),
                bodies[spring.b + 1],
                rb.T @ (spring.at_b - pb),
                spring.length,
                spring.stiffness,
                spring.damping,
            )
        )
    for k, mount in enumerate(work.mounts):
        ends = []
        for number in (mount.a, mount.b):
            center, axes = place[number + 1]
            pose = RigidTransform(RotationMatrix(axes).inverse(), axes.T @ (mount.point - center))
            frame_of = bodies[number + 1].body_frame()
            ends.append(plant.AddFrame(FixedOffsetFrame(f"m{k}_{number}", frame_of, pose)))
        free, laws = np.zeros(3), (np.full(3, mount.stiffness), np.full(3, mount.damping))
        plant.AddForceElement(LinearBushingRollPitchYaw(*ends, free, free, *laws))
    plant.Finalize()
    return plant, joints, bodies[1:]


def _push(work: Work, plant: Any, context: Any, bodies: list[Any]) -> None:
    """The constant torques of a work."""
    loads = []
    for number, torque in work.torques:
        load = ExternallyAppliedSpatialForce_[float]()
        load.body_index = bodies[number].index()
        load.F_Bq_W = SpatialForce(torque, np.zeros(3))
        loads.append(load)
    if loads:
        port = plant.get_applied_spatial_force_input_port()
        port.FixValue(context, Value(loads))


def _release(work: Work, plant: Any, context: Any, bodies: list[Any]) -> None:
    """The start of bodies that no joint holds."""
    for k in work.free:
        body = work.bodies[k]
        pose = RigidTransform(RotationMatrix(body.axes), body.center)
        plant.SetFreeBodyPose(context, bodies[k], pose)
        motion = SpatialVelocity(body.omega, body.velocity)
        plant.SetFreeBodySpatialVelocity(bodies[k], motion, context)


def settings(work: Work) -> Settings:
    """Error control for trees, fixed steps for loops."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])

    def run(step: float, scheme: str = "", accuracy: float = 0.0) -> Ran:
        begin = time.process_time()
        plant, joints, bodies = build(work, step)
        simulator = Simulator(plant)
        context = simulator.get_mutable_context()
        for joint, own in zip(joints, work.tree, strict=True):
            set_rate = "set_angular_rate" if own.kind == "pin" else "set_translation_rate"
            getattr(joint, set_rate)(context, own.rate)
        _release(work, plant, context, bodies)
        _push(work, plant, context, bodies)
        if scheme:
            integrator = ResetIntegratorFromFlags(simulator, scheme, 0.1)
            integrator.set_target_accuracy(accuracy)
            integrator.set_fixed_step_mode(False)
        simulator.Initialize()
        build_time = time.process_time() - begin

        def centers() -> np.ndarray:
            poses = [plant.EvalBodyPoseInWorld(context, bodies[k]) for k in work.points]
            return np.array([pose.translation() for pose in poses])

        places, spent = [centers()], 0.0
        for t in work.times[1:]:
            begin = time.process_time()
            simulator.AdvanceTo(float(t))
            spent += time.process_time() - begin
            places.append(centers())
        count = simulator.get_integrator().get_num_derivative_evaluations() if scheme else None
        return Ran(spent, np.array(places), build_time, evaluations=count)

    scale = min(1.0, work.until)
    if work.loops:
        return {
            f"SAP, step {h * scale:g} s": lambda h=h: run(h * scale) for h in (1e-2, 1e-3, 1e-4)
        }
    ladder: Settings = {}
    schemes = ("runge_kutta3", "runge_kutta5", *(("radau3",) if work.springs else ()))
    for scheme in schemes:
        for accuracy in (1e-3, 1e-5, 1e-7, 1e-9):
            name = f"{scheme}, accuracy {accuracy:g}"
            ladder[name] = lambda scheme=scheme, accuracy=accuracy: run(0.0, scheme, accuracy)
    return ladder


def evaluation(work: Work) -> Callable[[int], None] | None:
    """`CalcTimeDerivatives`, called from Python; in continuous time it takes no loops."""
    if work.loops:
        return None
    plant, joints, _ = build(work, 0.0)
    context = plant.CreateDefaultContext()
    for joint, own in zip(joints, work.tree, strict=True):
        joint.set_angular_rate(context, own.rate)
    state, out = plant.GetPositionsAndVelocities(context).copy(), plant.AllocateTimeDerivatives()

    def evaluate(count: int) -> None:
        for _ in range(count):
            plant.SetPositionsAndVelocities(context, state)  # forgets what it has computed
            plant.CalcTimeDerivatives(context, out)

    return evaluate
