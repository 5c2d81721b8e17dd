"""Large mechanisms put together with held values, against the geometry of their joints."""

import numpy as np
import pytest

import zwang as zw
from zwang.rotation.quaternion import rotation_matrix

#: Assembled states and velocities meet what is asked to rounding, along chains of fifty bars.
ASSEMBLED = 1e-10
BARS = 50


def turned(axis, angle):
    """Rotation about an axis (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def chain(plane, bars=BARS):
    m = zw.Mechanism(plane=plane, gravity=(0, 0, -9.81))
    before, axes = m.ground, []
    for k in range(bars):
        body = m.body(
            f"bar{k}", mass=1.0, inertia=zw.inertia.rod(1.0, 1.0), position=(k + 0.5, 0, 0)
        )
        axes.append("y" if plane or k % 2 == 0 else "z")
        m.revolute(f"pin{k}", before, body, at=(k, 0, 0), axis=axes[-1])
        before = body
    assert m.system.equations.by_elements
    return m, np.array([np.eye(3)["xyz".index(a)] for a in axes])


@pytest.mark.parametrize("plane", ["xz", None])
def test_held_angles_and_rates_of_a_long_chain_place_all_of_it(plane):
    m, axes = chain(plane)
    rng = np.random.default_rng(3)
    angles, rates = rng.uniform(-0.5, 0.5, (2, BARS))
    state = m.assemble(
        hold={f"pin{k}.angle": angle for k, angle in enumerate(angles)},
        velocity={"hold": {f"pin{k}.angle_rate": rate for k, rate in enumerate(rates)}},
    )
    # Outwards from the ground: each bar turns about its pin's axis as the bar before has it.
    R, P, u, omega = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for axis, angle, rate in zip(axes, angles, rates, strict=True):
        omega = omega + rate * (R @ axis)
        R = R @ turned(axis, angle)
        arm = R @ [1.0, 0.0, 0.0]
        center, velocity = P + arm / 2, u + np.cross(omega, arm / 2)
        P, u = P + arm, u + np.cross(omega, arm)
    q, v = m.system.parts.places
    last, moving = state.q[q[-2] :], state.v[v[-2] :]
    if plane:
        assert np.abs(last[:2] - center[[0, 2]]).max() < ASSEMBLED
        assert np.abs(moving - [velocity[0], velocity[2], omega[1]]).max() < ASSEMBLED
    else:
        assert np.abs(last[:3] - center).max() < ASSEMBLED
        assert np.abs(rotation_matrix(last[3:]) - R).max() < ASSEMBLED
        assert np.abs(moving - [*velocity, *(R.T @ omega)]).max() < ASSEMBLED


def test_a_held_coordinate_and_a_held_body_are_met():
    m, _ = chain("xz")
    state = m.assemble(hold={"bar49.z": -3.0, "bar10": True})
    q = m.system.coordinates.index
    assert abs(state.q[q("bar49.z")] + 3.0) < ASSEMBLED
    placed = m.system.equations.placement[0]
    assert np.abs(state.q[q("bar10.x") :][:4] - placed[q("bar10.x") :][:4]).max() < ASSEMBLED
    assert np.abs(m.system.residuals(state).position).max() < ASSEMBLED


def test_wishes_that_clash_in_a_long_chain_are_named():
    m, _ = chain("xz")
    with pytest.raises(zw.AssemblyError, match=r"hold pin0\.angle and hold bar0 contradict each"):
        m.assemble(hold={"pin0.angle": 0.3, "bar0": True})
    with pytest.raises(zw.AssemblyError, match=r"hold bar49\.x.* and 43 more contradict each"):
        m.assemble(hold={"bar49.x": 60.0})
    with pytest.raises(zw.errors.UnknownNameError, match=r"Did you mean 'pin13\.angle'") as unknown:
        m.assemble(hold={"pin13.angel": 0.1})
    assert len(str(unknown.value)) < 1000
