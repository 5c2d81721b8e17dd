"""A point on a curve, against closed forms: a helix, a cycloid, a cam that moves."""

import numpy as np
import pytest

import zwang as zw

#: Positions after two seconds at a tolerance of 1e-10.
CLOSE = 1e-7


def test_a_bead_slides_down_a_helix_as_down_a_ramp():
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    bead = m.body("bead", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    m.point_on_curve("helix", m.ground, bead, at=(1, 0, 0), curve=helix)
    assert m.explain().degrees_of_freedom == 4
    run = m.simulate(until=2.0, tolerance=1e-10, save=0.5)
    angle = -0.5 * 0.1 * 9.81 / 1.01 * run.t**2
    assert np.abs(run["helix_s"] - angle).max() < CLOSE
    assert np.abs(run.body("bead").position - np.transpose(helix(angle))).max() < CLOSE
    reaction = run.reaction("helix")
    tangent = np.transpose([-np.sin(angle), np.cos(angle), 0.1 + 0 * angle])
    assert np.abs(np.sum(reaction.force * tangent, axis=1)).max() < CLOSE
    assert np.abs(reaction.moment).max() < CLOSE
    rate = -0.1 * 9.81 / 1.01 * run.t
    inward = np.sum(
        reaction.force * np.transpose([-np.cos(angle), -np.sin(angle)] + [0 * angle]), 1
    )
    assert np.abs(inward - 2.0 * rate**2).max() < 1e-5


def helix(s):
    return [np.cos(s), np.sin(s), 0.1 * s]


def test_the_period_on_a_cycloid_does_not_depend_on_the_amplitude():
    """Huygens: x = r (s + sin s), z = r (1 − cos s) has the period 4π √(r/g)."""
    periods = []
    for start in (0.3, 1.5):
        m = zw.Mechanism(plane="xz", gravity=(0.0, -9.81))
        x, z = start + np.sin(start), 1.0 - np.cos(start)
        bead = m.body("bead", mass=1.0, inertia=0.1, position=(x, z))
        m.point_on_curve("bowl", m.ground, bead, at=(x, z), start=start, curve=cycloid)
        quarter = np.pi * np.sqrt(1.0 / 9.81)
        run = m.simulate(until=quarter, tolerance=1e-11)
        periods.append(run["bowl_s"][-1])
    assert np.abs(periods).max() < CLOSE


def cycloid(s):
    return [s + np.sin(s), 1.0 - np.cos(s)]


def test_the_curve_moves_with_its_body():
    """A slot in a turning disk drives a follower on a rail, at any point of the disk's frame."""
    m = zw.Mechanism(plane="xy")
    disk = m.body("disk", inertia=zw.inertia.cylinder(1.0, 0.5, 0.1).at((0.2, 0, 0)))
    follower = m.body("follower", mass=1.0, inertia=0.1, position=(0.5, 0))
    m.revolute("axle", m.ground, disk, at=(0, 0))
    m.prismatic("rail", m.ground, follower, at=(0.5, 0), axis="x")
    m.drive("motor", "axle.angle", lambda t: t)
    # An eccentric circle about (0.1, 0) of radius 0.4.
    m.point_on_curve(
        "cam",
        disk,
        follower,
        at=(0.5, 0),
        curve=lambda s: [0.1 + 0.4 * np.cos(s), 0.4 * np.sin(s), 0.0],
    )
    assert m.explain().degrees_of_freedom == 0
    run = m.simulate(until=2.0, save=0.25)
    x = 0.1 * np.cos(run.t) + np.sqrt(0.16 - 0.01 * np.sin(run.t) ** 2)
    assert np.abs(run["rail.displacement"] + 0.5 - x).max() < CLOSE


def test_a_coordinate_without_mass_works_in_a_large_mechanism():
    """Blocks need inertia everywhere; what has none is carried as one expression."""
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    for k in range(12):
        ball = m.body(f"ball{k}", inertia=zw.inertia.sphere(1.0, 0.1), position=(k, 0, 0))
        m.revolute(f"pin{k}", m.ground, ball, at=(k, 0, 0.5), axis="y")
    bead = m.body("bead", inertia=zw.inertia.sphere(1.0, 0.1), position=(1, 1, 0))
    m.point_on_curve("rail", m.ground, bead, at=(1, 1, 0), curve=lambda s: [1.0 + s, 1.0, s])
    assert m.solve().acceleration[-1] == pytest.approx(-9.81 / 2.0)


def test_a_curve_that_is_none_is_refused():
    m = zw.Mechanism()
    bead = m.body("bead", mass=1.0)
    with pytest.raises(zw.InputError, match="curve of point_on_curve joint 'rail'"):
        m.point_on_curve("rail", m.ground, bead, curve=[1, 2, 3])
    m.point_on_curve("rail", m.ground, bead, curve=lambda s: [s, s])
    with pytest.raises(zw.InputError, match=r"curve of point_on_curve joint 'rail'.*three"):
        m.solve()
