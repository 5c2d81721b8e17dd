"""Exudyn: absolute coordinates with joints, implicit; its kinematic tree, explicit, for chains."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items  # noqa: N813 - our words for its names
import numpy as np
from exudyn.rigidBodyUtilities import RigidBodyInertia

from benchmarks.cases.model import Wheel, Work
from benchmarks.engines.base import Ran, Settings
from benchmarks.engines.exudyn_functions import CarAxis, Particle

MODULE, PACKAGES = "exudyn", ("exudyn",)
STEPPED = "in C++, generalised-α with fixed steps; RK44 and DOPRI5 for trees"

OUT = exu.OutputVariableType
IMPLICIT, EXPLICIT = (1e-2, 5e-3, 2e-3, 1e-3, 2e-4), (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
#: With 1 (no damping) every run through a singular position blew up.
SPECTRAL_RADIUS = 0.9
#: From so many bodies on its sparse solver is the faster one.
MANY = 12
#: Its tree takes so many joints in reasonable time: the cost grows with their square.
LARGEST_TREE = 100
FUNCTIONS: dict[str, Callable[[Work], Any]] = {
    "nonholonomic_particle": lambda _: Particle(),
    "car_axis": lambda _: CarAxis(),
}


class Model:
    """Bodies as nodes, with joints; planar works in two dimensions (its y is our z)."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.bodies: list[Any] = []
        self.flat = work.planar
        (self._plane if self.flat else self._space)()
        contacts = [self._wheel(wheel) for wheel in work.wheels]
        if work.touching:
            kind, watched = items.SensorObject, [{"objectNumber": k} for k in contacts]
        else:
            kind, watched = items.SensorBody, [{"bodyNumber": self.bodies[k]} for k in work.points]
        stored = {"outputVariableType": OUT.Position, "storeInternal": True, "writeToFile": False}
        self.sensors = [self.mbs.AddSensor(kind(**what, **stored)) for what in watched]
        self.mbs.Assemble()

    def _plane(self) -> None:
        def flat(x: np.ndarray) -> list[float]:
            return [x[0], x[2], 0.0]

        mbs, work = self.mbs, self.work
        for body in work.bodies:
            node = mbs.AddNode(
                items.Rigid2D(
                    referenceCoordinates=flat(body.center),
                    initialVelocities=[body.velocity[0], body.velocity[2], -body.omega[1]],
                )
            )
            made = items.RigidBody2D(mass=body.mass, inertia=body.inertia[1], nodeNumber=node)
            self.bodies.append(mbs.AddObject(made))
            marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=self.bodies[-1]))
            load = items.LoadMassProportional(markerNumber=marker, loadVector=flat(work.gravity))
            mbs.AddLoad(load)

        def marker(number: int, at: np.ndarray, kind: Any) -> Any:
            start = np.zeros(3) if number < 0 else work.bodies[number].center
            body = self.ground if number < 0 else self.bodies[number]
            return mbs.AddMarker(kind(bodyNumber=body, localPosition=flat(at - start)))

        for joint in work.joints:
            if joint.kind == "pin":
                ends = [
                    marker(k, joint.point, items.MarkerBodyPosition) for k in (joint.a, joint.b)
                ]
                mbs.AddObject(items.RevoluteJoint2D(markerNumbers=ends))
            else:
                ends = [marker(k, joint.point, items.MarkerBodyRigid) for k in (joint.a, joint.b)]
                across = [-joint.axis[2], joint.axis[0], 0.0]
                made = items.PrismaticJoint2D(
                    markerNumbers=ends, axisMarker0=flat(joint.axis), normalMarker1=across
                )
                mbs.AddObject(made)
        for spring in work.springs:
            kind = items.MarkerBodyPosition
            ends = [marker(spring.a, spring.at_a, kind), marker(spring.b, spring.at_b, kind)]
            mbs.AddObject(
                items.SpringDamper(
                    markerNumbers=ends,
                    referenceLength=spring.length,
                    stiffness=spring.stiffness,
                    damping=spring.damping,
                )
            )
        for number, torque in work.torques:
            at = marker(number, work.bodies[number].center, items.MarkerBodyRigid)
            load = items.LoadTorqueVector(markerNumber=at, loadVector=[0.0, 0.0, -torque[1]])
            mbs.AddLoad(load)

    def _space(self) -> None:
        mbs, work = self.mbs, self.work
        for body in work.bodies:
            inertia = RigidBodyInertia(mass=body.mass, inertiaTensor=np.diag(body.inertia))
            self.bodies.append(
                mbs.CreateRigidBody(
                    referencePosition=body.center,
                    referenceRotationMatrix=body.axes,
                    initialVelocity=body.velocity,
                    initialAngularVelocity=body.omega,
                    inertia=inertia,
                    gravity=work.gravity,
                )
            )
        every = [self.ground, *self.bodies]
        for joint in work.joints:
            pair = [every[joint.b + 1], every[joint.a + 1]]
            place = {"position": joint.point, "axis": joint.axis, "useGlobalFrame": True}
            if joint.kind == "pin":
                mbs.CreateRevoluteJoint(itemNumbers=pair, **place)
            else:
                mbs.CreatePrismaticJoint(itemNumbers=pair, **place)
        for spring in work.springs:
            local = []
            for number, at in ((spring.a, spring.at_a), (spring.b, spring.at_b)):
                body = None if number < 0 else work.bodies[number]
                local.append(at if body is None else body.axes.T @ (at - body.center))
            mbs.CreateSpringDamper(
                bodyNumbers=[every[spring.a + 1], every[spring.b + 1]],
                localPosition0=local[0],
                localPosition1=local[1],
                referenceLength=spring.length,
                stiffness=spring.stiffness,
                damping=spring.damping,
            )
        for mount in work.mounts:
            ends = []
            for number in (mount.a, mount.b):
                body = None if number < 0 else work.bodies[number]
                ends.append(
                    mount.point if body is None else body.axes.T @ (mount.point - body.center)
                )
            mbs.CreateCartesianSpringDamper(
                bodyNumbers=[every[mount.a + 1], every[mount.b + 1]],
                localPosition0=ends[0],
                localPosition1=ends[1],
                stiffness=[mount.stiffness] * 3,
                damping=[mount.damping] * 3,
            )
        for number, torque in work.torques:
            mbs.CreateTorque(bodyNumber=self.bodies[number], loadVector=torque)

    def _wheel(self, wheel: Wheel) -> Any:
        return self.mbs.CreateRollingDisc(
            bodyNumbers=[self.ground, self.bodies[wheel.body]],
            axisPosition=[0.0, 0.0, 0.0],
            axisVector=self.work.bodies[wheel.body].axes.T @ wheel.axis,
            planePosition=[0.0, 0.0, 0.0],
            planeNormal=[0.0, 0.0, 1.0],
            discRadius=wheel.radius,
        )

    def places(self) -> np.ndarray:
        """What the sensors stored, in our axes."""
        stored = np.stack([self.mbs.GetSensorStoredData(s)[:, 1:4] for s in self.sensors], axis=1)
        if not self.flat:
            return stored
        return np.stack([stored[..., 0], 0 * stored[..., 0], stored[..., 1]], axis=-1)


class TreeModel:
    """A planar chain in joint angles."""

    def __init__(self, work: Work) -> None:
        n = len(work.bodies)
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        node = self.mbs.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * n,
                initialCoordinates=[0.0] * n,
                initialCoordinates_t=[0.0] * n,
                numberOfODE2Coordinates=n,
            )
        )
        body = work.bodies[0]
        tree = items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exu.JointType.RevoluteY] * n,
            linkParents=list(range(-1, n - 1)),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList([[0, 0, 0]] + [[1.0, 0, 0]] * (n - 1)),
            linkInertiasCOM=exu.Matrix3DList([np.diag(body.inertia)] * n),
            linkCOMs=exu.Vector3DList([[0.5, 0, 0]] * n),
            linkMasses=[body.mass] * n,
            gravity=work.gravity,
        )
        self.mbs.AddObject(tree)
        self.sensor = self.mbs.AddSensor(
            items.SensorNode(
                nodeNumber=node,
                outputVariableType=OUT.Coordinates,
                storeInternal=True,
                writeToFile=False,
            )
        )
        self.mbs.Assemble()

    def places(self) -> np.ndarray:
        """Centres from the stored angles."""
        angle = np.cumsum(self.mbs.GetSensorStoredData(self.sensor)[:, 1:], axis=1)
        along = np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=-1)
        return np.cumsum(along, axis=1) - along / 2


def _choices(work: Work, h: float, solver: str) -> Any:
    s = exu.SimulationSettings()
    s.timeIntegration.verboseMode = 0
    s.solution.file.write = False
    s.solution.sensors.writePeriod = float(np.diff(work.times).min())
    s.timeIntegration.endTime = work.until
    s.timeIntegration.numberOfSteps = round(work.until / h)
    s.timeIntegration.newton.useModifiedNewton = not (work.loops and work.planar)
    s.timeIntegration.generalizedAlpha.spectralRadius = SPECTRAL_RADIUS
    s.timeIntegration.adaptiveStep = False  # a failed step is a failure, not a silent retry
    s.timeIntegration.automaticStepSize = False
    s.parallel.numberOfThreads = 1
    kinds = exu.LinearSolverType
    redundant = bool(work.loops) and not work.planar
    s.linearSolver.solverType = {
        "dense": kinds.EigenDense if redundant else kinds.EXUdense,
        "sparse": kinds.EigenSparse,
    }[solver]
    s.linearSolver.ignoreSingularJacobian = redundant
    return s


def settings(work: Work) -> Settings:
    """Implicit with joints for all works; explicit on its tree for planar chains."""
    solver = "sparse" if len(work.bodies) > MANY else "dense"
    kinds = exu.DynamicSolverType

    def run(model: Callable[[Work], Any], h: float, kind: Any, stages: int | None) -> Ran:
        begin = time.process_time()
        made = model(work)
        build_time = time.process_time() - begin
        choices = _choices(work, h, solver)
        begin = time.process_time()
        made.mbs.SolveDynamic(choices, solverType=kind, showHints=False)
        spent = time.process_time() - begin
        count = None if stages is None else stages * round(work.until / h)
        return Ran(spent, made.places(), build_time, evaluations=count)

    scale = min(1.0, work.until)
    ladder: Settings = {}
    if work.name.startswith("chain") and len(work.bodies) <= LARGEST_TREE:
        for h in EXPLICIT:
            name = f"tree, RK44, step {h:g} s"
            ladder[name] = lambda h=h: run(TreeModel, h, kinds.RK44, 4)
    bodies = FUNCTIONS.get(work.name, Model)
    for h in IMPLICIT:
        name = f"generalised-α, step {h * scale:g} s"
        ladder[name] = lambda h=h: run(bodies, h * scale, kinds.GeneralizedAlpha, None)
    return ladder


def evaluation(work: Work) -> None:
    """Its steps are implicit, or of a tree by a dense method: no call evaluates accelerations."""
    del work
