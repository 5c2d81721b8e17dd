"""Friction without a coefficient is an ordinary force: dampers about the same axes say the same."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw

#: Motions by two programs at a tolerance of 1e-10.
SAME_MOTION = 1e-8
VISCOUS = 0.1, 0.15, 0.2, 0.25


def four_bar(friction: str) -> zw.Mechanism:
    """Built in space, so that rows are redundant; with friction or with dampers in its hinges."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    P = np.array([[0, 0, 0], [0.2, 0, 0.4], [1.2, 0, 0.8], [1.0, 0, 0]])
    bodies = [m.ground]
    for k, name in enumerate(("crank", "coupler", "rocker")):
        along = P[k + 1] - P[k]
        inertia = zw.inertia.rod(1.0 + k, float(np.linalg.norm(along)), axis=along)
        bodies.append(m.body(name, inertia=inertia, position=(P[k] + P[k + 1]) / 2))
    for k, (i, j) in enumerate(((0, 1), (1, 2), (2, 3), (0, 3))):
        pair = bodies[i], bodies[j]
        m.revolute(f"hinge{k}", *pair, at=P[k], axis="y")
        if friction == "viscous":
            m.friction(f"hinge{k}", viscous=VISCOUS[k])
        else:
            m.torsion_spring(
                f"damper{k}", *pair, at=P[k], axis="y", stiffness=0.0, damping=VISCOUS[k]
            )
    return m


def pendulum(**friction: float) -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    if friction:
        m.friction("pin", **friction)
    return m


@pytest.mark.parametrize("integrator", ["auto", "gauss", "order5"])
def test_motion_and_reactions_are_those_of_dampers(integrator: str) -> None:
    m = four_bar("viscous")
    assert not m.system.equations.reaction_dependent
    runs = [
        x.simulate(until=0.5, save=0.1, tolerance=1e-10, integrator=integrator)
        for x in (m, four_bar("dampers"))
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=SAME_MOTION)
    for k in range(4):
        found, expected = (run.reaction(f"hinge{k}") for run in runs)
        np.testing.assert_allclose(found.force, expected.force, atol=1e-6)
    torque = -VISCOUS[0] * runs[0]["hinge0.angle_rate"]
    np.testing.assert_allclose(runs[0]["hinge0.friction_torque"], torque, atol=1e-12)
    lost, taken = runs[0].work, runs[1].work
    np.testing.assert_allclose(lost.applied + lost.nonideal, taken.applied, atol=1e-6)
    assert lost.nonideal[-1] < -1e-3
    assert np.abs(lost.balance).max() < 1e-6


def test_a_run_with_it_is_verified(tmp_path) -> None:
    m = four_bar("viscous")
    run = m.simulate(until=0.5, save=0.1, tolerance=1e-10, forces=True)
    run.save(tmp_path / "run")
    assert zw.verify(tmp_path / "run", m)


def test_inverse_dynamics_adds_what_it_takes() -> None:
    t = np.linspace(0.0, 0.5, 6)
    motion = (t, {"pin.angle": lambda t: 0.4 * t**2})
    with_it, without = (
        x.inverse_dynamics(motion, ["pin.angle"]).effort["pin.angle"]
        for x in (pendulum(viscous=0.3), pendulum())
    )
    np.testing.assert_allclose(with_it - without, 0.3 * 0.8 * t, atol=1e-10)


def test_reduced_and_derived_equations_have_it() -> None:
    m = pendulum(viscous=0.3)
    start = m.assemble()
    reduced = m.system.reduce(velocities=["rod.omega2"], at=start)
    v = start.v + np.array([0.0, 0.0, -0.5, 0.0, 1.0, 0.0])  # one radian a second about the pin
    expected = m.solve(start.q, v).acceleration[4]
    found = reduced.solve(q=start.q, v=[1.0]).acceleration[0]
    assert found == pytest.approx(expected, abs=1e-10)
    at_rest = m.solve(start).acceleration[4]
    assert expected - at_rest == pytest.approx(-0.3 / (1.0 / 3.0), abs=1e-9)
    form = m.derive()
    assert "pin_dot" in str(form)


def test_a_coefficient_of_zero_may_become_another() -> None:
    m = pendulum(coefficient=0.0, viscous=0.3, radius=0.05)
    assert m.system.equations.reaction_dependent
    free, held = (
        m.simulate(until=0.5, save=0.1, parameters={"pin.friction.coefficient": mu})
        for mu in (0.0, 0.5)
    )
    same = pendulum(viscous=0.3).simulate(until=0.5, save=0.1)
    np.testing.assert_allclose(free.q, same.q, atol=1e-7)
    assert np.abs(held.q - free.q).max() > 1e-3
