"""Forces of what is at rest, or comes to rest, in all sizes: what is compared is rounding there."""

import numpy as np
import pytest

import zwang as zw
from zwang.simulation.check_forces import check_forces


def turned(angle):
    return (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)


def lift(length, mass, rng):
    """A stage of crossed arms that lifts a load far heavier than they are; it starts and ends at
    rest. All axes are parallel, which makes equations depend on each other.
    """
    low, high, load = np.radians(15), np.radians(60), mass * 10.0 ** rng.uniform(1, 3)
    x, z = length * np.cos(low), length * np.sin(low)
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    box = zw.inertia.box(mass, (length, 0.02 * length, 0.05 * length))
    a = m.body("a", inertia=box, position=(x / 2, 0, z / 2), orientation=turned(-low))
    b = m.body("b", inertia=box, position=(x / 2, 0, z / 2), orientation=turned(low))
    cube = (length / 10,) * 3
    shoe = m.body("shoe", inertia=zw.inertia.box(mass / 6, cube), position=(x, 0, 0))
    top = m.body("top", inertia=zw.inertia.box(mass / 6, cube), position=(x, 0, z))
    table = (length, length / 2, length / 10)
    platform = m.body("platform", inertia=zw.inertia.box(load, table), position=(x / 2, 0, z))
    m.revolute("base", m.ground, a, at=(0, 0, 0), axis="y")
    m.prismatic("slide", m.ground, shoe, at=(x, 0, 0), axis="x")
    m.revolute("pin", shoe, b, at=(x, 0, 0), axis="y")
    m.revolute("cross", a, b, at=(x / 2, 0, z / 2), axis="y")
    m.revolute("left", b, platform, at=(0, 0, z), axis="y")
    m.revolute("right", a, top, at=(x, 0, z), axis="y")
    m.prismatic("top_slide", platform, top, at=(x, 0, z), axis="x")
    way = length * (np.cos(high) - np.cos(low))
    m.drive("jack", "slide.displacement", lambda t: way * t**3 * (10 - 15 * t + 6 * t**2))
    return m


def door(length, mass, rng):
    """Three hinges on one axis, with arms as long as the door."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    box = zw.inertia.box(mass, (length, length / 20, 2 * length))
    panel = m.body("panel", inertia=box, position=(length / 2, 0.1 * length, length))
    for k, z in enumerate(rng.uniform(0, 2, 3)):
        m.revolute(f"hinge{k}", m.ground, panel, at=(0, 0, z * length), axis="z")
    return m


def stretched(length, mass, rng):
    """A slide on two rails between springs that pull it both ways: their sum is rounding."""
    m = zw.Mechanism()
    at, stiffness = 0.3 * length, mass * 10.0 ** rng.uniform(0, 3)
    cube = zw.inertia.box(mass, (length,) * 3)
    slide = m.body("slide", inertia=cube, position=(at, 0, 0))
    for k, y in enumerate((-0.1, 0.1)):
        m.prismatic(f"rail{k}", m.ground, slide, at=(at, y * length, 0), axis="x")
    free = length * rng.uniform(0.5, 0.9)
    for k, x in enumerate((-length, length)):
        ends = (at + x, 0.2 * length, 0), (at, 0.2 * length, 0)
        m.spring_damper(f"s{k}", m.ground, slide, at=ends, stiffness=stiffness, length=free)
    return m


@pytest.mark.parametrize("made", [lift, door, stretched])
def test_kept_forces_agree_in_all_sizes(made):
    for seed in range(6):
        rng = np.random.default_rng([seed, 5])
        length, mass = 10.0 ** rng.uniform(-4, 4, 2)
        run = made(length, mass, rng).simulate(until=1.0, save=0.5, forces=True)
        found = check_forces(run, None)
        assert found is not None
        wrong = [sentence for _, value, sentence in found.figures if value > 1.0]
        assert not wrong, f"{length:.3g} m, {mass:.3g} kg: {wrong}"


def test_a_lift_that_comes_to_rest_is_verified(tmp_path):
    m = lift(2.0, 30.0, np.random.default_rng(0))
    m.simulate(until=1.0, save=0.25, forces=True, store=tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", m)
    assert outcome, str(outcome)


def test_rounding_of_what_arms_carry_is_no_finding():
    """Their own weight is far less than what they carry, and what is left of both is zero."""
    run = lift(2.0, 30.0, np.random.default_rng(0)).simulate(until=1.0, save=0.5, forces=True)
    record = run.force_record
    assert record is not None
    carried = np.abs(record["multiplier"][-1]).max() / 30.0
    noise = np.random.default_rng(0).standard_normal(run.v.shape[1])
    record["acceleration"][-1] += np.finfo(float).eps * carried * noise
    found = check_forces(run, None)
    assert found is not None
    assert all(value <= 1.0 for _, value, _ in found.figures), found.figures


@pytest.mark.parametrize("name", ["acceleration", "multiplier", "potential_energy"])
def test_an_edit_of_what_is_at_rest_is_found(name):
    run = lift(2.0, 30.0, np.random.default_rng(0)).simulate(until=1.0, save=0.25, forces=True)
    assert run.force_record is not None
    array = run.force_record[name]
    array[-1] += 1e-6 * np.abs(array).max()
    found = check_forces(run, None)
    assert found is not None
    assert any(value > 1.0 and "at t = 1 s" in words for _, value, words in found.figures)
