"""OpenSim (Simbody): joint coordinates, loops by point constraints, projected; error control."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import opensim as osim

from benchmarks.cases.model import Work
from benchmarks.engines.base import CannotError, Ran, Settings

MODULE, PACKAGES = "opensim", ("opensim",)
STEPPED = "in C++, Merson's method of order 4 with error control"

osim.Logger.setLevelString("Error")
METHOD = osim.Manager.IntegratorMethod_RungeKuttaMerson
ACCURACIES = (1e-3, 1e-5, 1e-7, 1e-9)
NO_ROLLING = "cannot: no constraint on velocities from Python"
NO_DAMPER = "cannot: its spring between points has no damper"
CANNOT = {
    "rolling_disk": NO_ROLLING,
    "bicycle": NO_ROLLING,
    "nonholonomic_particle": NO_ROLLING,
    "car_axis": "cannot: its distances are constant, and no base can be driven from Python",
    "governor": NO_DAMPER,
    "vehicle": NO_DAMPER,
}


def vector(x: Any) -> Any:
    """Three numbers as its type."""
    return osim.Vec3(*(float(c) for c in x))


def angles(R: np.ndarray) -> Any:
    """Body-fixed x-y-z angles of a rotation."""
    b = np.arcsin(np.clip(R[0, 2], -1, 1))
    if abs(R[0, 2]) < 1 - 1e-12:
        turns = (np.arctan2(-R[1, 2], R[2, 2]), b, np.arctan2(-R[0, 1], R[0, 0]))
    else:
        turns = (np.arctan2(R[1, 0], R[1, 1]), b, 0.0)
    return vector(turns)


def frame_of(joint: Any) -> np.ndarray:
    """A frame for a joint: its pins turn about z, its sliders move along x."""
    axis = joint.axis
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    across = np.cross(helper, axis)
    across /= np.linalg.norm(across)
    if joint.kind == "pin":
        return np.column_stack([across, np.cross(axis, across), axis])
    return np.column_stack([axis, across, np.cross(axis, across)])


def build(work: Work) -> tuple[Any, list[Any], list[Any]]:
    """Model, bodies, and what Python must not let go of."""
    model = osim.Model()
    model.setGravity(vector(work.gravity))
    place = [(np.zeros(3), np.eye(3), model.getGround())]
    keep: list[Any] = []
    for k, body in enumerate(work.bodies):
        inertia = osim.Inertia(*(float(x) for x in body.inertia))
        made = osim.Body(f"b{k}", body.mass, vector((0, 0, 0)), inertia)
        model.addBody(made)
        place.append((body.center, body.axes, made))
    for k, joint in enumerate(work.tree):
        ends: list[Any] = []
        for number in (joint.a, joint.b):
            center, axes, body = place[number + 1]
            at = vector(axes.T @ (joint.point - center))
            ends += [body, at, angles(axes.T @ frame_of(joint))]
        kind = osim.PinJoint if joint.kind == "pin" else osim.SliderJoint
        made = kind(f"j{k}", *ends)
        made.updCoordinate().setDefaultSpeedValue(float(joint.rate))
        model.addJoint(made)
        keep.append(made)
    for k, joint in enumerate(work.loops):
        (pa, ra, a), (pb, rb, b) = place[joint.a + 1], place[joint.b + 1]
        for side, along in enumerate((0.0,) if work.planar else (0.0, 0.5)):
            x = joint.point + along * joint.axis
            held = osim.PointConstraint(a, vector(ra.T @ (x - pa)), b, vector(rb.T @ (x - pb)))
            held.setName(f"c{k}_{side}")
            model.addConstraint(held)
            keep.append(held)
    for spring in work.springs:
        (pa, ra, a), (pb, rb, b) = place[spring.a + 1], place[spring.b + 1]
        at = vector(ra.T @ (spring.at_a - pa)), vector(rb.T @ (spring.at_b - pb))
        made = osim.PointToPointSpring(a, at[0], b, at[1], spring.stiffness, spring.length)
        model.addForce(made)
        keep.append(made)
    for k, (number, torque) in enumerate(work.torques):
        made = osim.PrescribedForce(f"t{k}", place[number + 1][2])
        functions = [osim.Constant(float(x)) for x in torque]
        made.setTorqueFunctions(*functions)
        model.addForce(made)
        keep += [made, functions]
    return model, [body for _, _, body in place[1:]], keep


def settings(work: Work) -> Settings:
    """Merson's method at several accuracies."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])

    def run(accuracy: float) -> Ran:
        begin = time.process_time()
        model, bodies, keep = build(work)
        state = model.initSystem()
        manager = osim.Manager(model)
        manager.setIntegratorMethod(METHOD)
        manager.setIntegratorAccuracy(accuracy)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.initialize(state)
        build_time = time.process_time() - begin

        def centers() -> np.ndarray:
            now = manager.getState()
            model.realizePosition(now)
            at = [bodies[k].getPositionInGround(now) for k in work.points]
            return np.array([[x.get(0), x.get(1), x.get(2)] for x in at])

        places, spent = [centers()], 0.0
        for t in work.times[1:]:
            begin = time.process_time()
            manager.integrate(float(t))
            spent += time.process_time() - begin
            places.append(centers())
        del keep
        return Ran(spent, np.array(places), build_time)

    return {f"Merson, accuracy {x:g}": lambda x=x: run(x) for x in ACCURACIES}


def evaluation(work: Work) -> None:
    """No call from Python evaluates accelerations without the cache getting in the way."""
    del work
