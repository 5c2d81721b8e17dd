"""Friction where equations of loops are redundant: a four-bar in space moves as in its plane.

In a plane its rows are independent, so that nothing has to be shared out there.
"""

import numpy as np
import pytest

import zwang as zw

TIMES = np.linspace(0.0, 0.4, 5)


def four_bar(*, planar, joints, seed, driven=False, coefficient=0.3, viscous=0.0):
    """In the plane xz; lengths and masses by chance."""
    generator = np.random.default_rng(seed)
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz" if planar else None)
    crank, base = generator.uniform(0.25, 0.35), generator.uniform(0.9, 1.1)
    coupler, rocker = generator.uniform(0.8, 0.95), generator.uniform(0.6, 0.75)
    angle = generator.uniform(0.5, 1.5)
    A = crank * np.array([np.cos(angle), 0.0, np.sin(angle)])
    D = np.array([base, 0.0, 0.0])
    d = D - A
    reach = np.linalg.norm(d)
    along = (reach**2 + coupler**2 - rocker**2) / (2.0 * reach)
    across = np.sqrt(coupler**2 - along**2)
    B = A + (along * d + across * np.array([-d[2], 0.0, d[0]])) / reach
    O = np.zeros(3)
    rods = {}
    for name, a, b in (("crank", O, A), ("coupler", A, B), ("rocker", D, B)):
        mass = generator.uniform(0.5, 2.0)
        made = zw.inertia.cylinder(mass, 0.03, float(np.linalg.norm(b - a)), axis=b - a)
        rods[name] = m.body(name, inertia=made, position=(a + b) / 2.0)
    m.revolute("O", m.ground, rods["crank"], at=O, axis="y")
    m.revolute("A", rods["crank"], rods["coupler"], at=A, axis="y")
    m.revolute("B", rods["coupler"], rods["rocker"], at=B, axis="y")
    m.revolute("D", m.ground, rods["rocker"], at=D, axis="y")
    for name in joints:
        m.friction(name, coefficient=coefficient, radius=0.02, viscous=viscous, velocity=0.1)
    if driven:
        m.drive("motor", "O.angle", lambda t: 1.5 * t + 0.5 * t**2)
    return m


def positions(m, **choices):
    run = m.simulate(until=TIMES[-1], save=TIMES, tolerance=1e-10, **choices)
    assert run.finished, run.status
    places = [run.body(name).position for name in ("crank", "coupler", "rocker")]
    return np.concatenate(places, axis=1), run


@pytest.mark.parametrize("integrator", ["order8", "gauss", "auto"])
@pytest.mark.parametrize(
    ("seed", "joints", "numbers"),
    [
        (1, "O", {"coefficient": 0.0, "viscous": 0.02}),
        (2, "O", {}),
        pytest.param(3, "OABD", {"viscous": 0.01}, marks=pytest.mark.campaign),
        pytest.param(4, "AB", {}, marks=pytest.mark.campaign),
        pytest.param(5, "D", {"coefficient": 0.8}, marks=pytest.mark.campaign),
    ],
)
def test_it_moves_as_in_its_plane(seed, joints, numbers, integrator):
    given = {"seed": seed, "joints": joints, **numbers}
    found, run = positions(four_bar(planar=False, **given), integrator=integrator)
    expected, _ = positions(four_bar(planar=True, **given))
    np.testing.assert_allclose(found, expected, atol=1e-8)
    assert any("follow from the others" in note for note in run.notes)


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.campaign)])
def test_a_driven_one_takes_the_torque_that_it_takes_in_its_plane(seed):
    given = {"seed": seed, "joints": "AD", "driven": True}
    found, run = positions(four_bar(planar=False, **given))
    expected, flat = positions(four_bar(planar=True, **given))
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(run.multipliers("motor"), flat.multipliers("motor"), rtol=1e-6)


def test_hinges_that_share_a_door_share_its_friction_as_solve_says():
    """What presses in three hinges of one door is left open: the multipliers have least norm."""
    m = zw.library.door(hinges=3, rate=1.0)
    for k in (1, 2, 3):
        m.friction(f"hinge{k}", coefficient=0.4, radius=0.02)
    turning = m.solve().acceleration[5]
    h = 1e-4
    run = m.simulate(until=h, tolerance=1e-11)
    assert run.finished, run.status
    slope = (run["hinge1.angle_rate"][-1] - run["hinge1.angle_rate"][0]) / h
    assert slope == pytest.approx(turning, rel=1e-3)
    rough = zw.library.door(hinges=3, rate=1.0).solve().acceleration[5]
    assert abs(turning - rough) > 0.01 * abs(rough)
