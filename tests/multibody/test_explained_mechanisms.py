"""What `explain` and `passport` tell of mechanisms: loops, freedoms and reactions by joint."""

import numpy as np
import pytest

import zwang as zw
from zwang.diagnosis.passport import Status

#: Ratios of joint rates, found from null spaces of well-conditioned rows.
RATIO = 1e-9


def door():
    """A door on three hinges."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    leaf = m.body("leaf", inertia=zw.inertia.box(20.0, (0.8, 0.04, 2.0)), position=(0.4, 0, 1.0))
    for k in range(3):
        m.revolute(f"hinge{k + 1}", m.ground, leaf, at=(0, 0, 0.3 + 0.7 * k), axis="z")
    return m


def parallelogram(cranks=3):
    """A bar carried by parallel cranks in a plane."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    bar = m.body("bar", mass=2.0, inertia=0.7, position=(1, 1))
    for k, x in enumerate((0.0, 2.0, 1.0)[:cranks], start=1):
        crank = m.body(f"crank{k}", mass=1.0, inertia=0.1, position=(x, 0.5))
        m.revolute(f"foot{k}", m.ground, crank, at=(x, 0))
        m.revolute(f"head{k}", crank, bar, at=(x, 1))
    return m


def bricard():
    """Six hinges along the edges of a cube (IFToMM benchmark A04)."""
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    m = zw.Mechanism(gravity=(0, -9.81, 0))
    bodies = [m.ground]
    for k in range(5):
        size = np.where(P[k + 1] != P[k], 1.0, 0.1)
        made = zw.inertia.box(1.0, size)
        bodies.append(m.body(f"bar{k + 1}", inertia=made, position=(P[k] + P[k + 1]) / 2.0))
    for k, (axis, after) in enumerate(zip("yzxyzx", [*bodies[1:], m.ground], strict=True)):
        m.revolute(f"j{k + 1}", bodies[k], after, at=P[k], axis=axis)
    return m


def arm():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    a = m.body("upper", mass=1, inertia=0.1, position=(0.5, 0))
    b = m.body("lower", mass=1, inertia=0.1, position=(1.5, 0))
    m.revolute("shoulder", m.ground, a, at=(0, 0))
    m.revolute("elbow", a, b, at=(1, 0))
    return m


def test_bricard_is_one_loop_with_one_redundant_equation():
    m = bricard()
    found = m.explain()
    (loop,) = found.loops
    assert loop.joints == ("j1", "j2", "j3", "j4", "j5", "j6")
    assert (loop.freedoms, loop.redundancy) == (1, 1)
    assert m.degrees_of_freedom() == 1
    assert (
        "The loop of joints j1, j2, j3, j4, j5 and j6 leaves 1 freedom; "
        "1 equation among these is redundant." in str(found)
    )
    assert str(found).startswith(
        "5 bodies, 6 joints: 30 velocities, 30 equations of rank 29, 1 deg"
    )
    assert len(found.motions) == 1
    assert found.motions[0].startswith("j1.angle changes at 1, j2.angle at ")


def test_bricard_motion_in_words_is_the_motion():
    system = bricard().system
    state = system.assemble(velocity={"hold": {"j1.angle_rate": 1.0}})
    (direction,) = system.explain(state).freedoms.T
    assert np.abs(direction - state.v).max() < RATIO


def test_door_on_three_hinges():
    m = door()
    found = m.explain()
    assert [loop.joints for loop in found.loops] == [("hinge1", "hinge2"), ("hinge1", "hinge3")]
    assert [(x.freedoms, x.redundancy) for x in found.loops] == [(1, 5), (1, 5)]
    (together,) = found.dependent_joints
    assert (set(together.joints), together.redundancy) == ({"hinge1", "hinge2", "hinge3"}, 10)
    assert "10 equations among hinge1, hinge2 and hinge3 are redundant." in str(found)
    assert found.motions == ("hinge1.angle changes at 1, hinge2.angle at 1, hinge3.angle at 1",)


def test_three_cranks_are_redundant_only_together():
    found = parallelogram().explain()
    assert [(x.joints, x.redundancy) for x in found.loops] == [
        (("foot1", "head1", "head2", "foot2"), 0),
        (("foot1", "head1", "head3", "foot3"), 0),
    ]
    (together,) = found.dependent_joints
    assert (len(together.joints), together.redundancy) == (6, 1)
    assert found.motions[0].startswith("foot1.angle changes at 1, head1.angle at −1, foot2.angle")


def test_a_mechanism_without_redundancy_says_so():
    found = parallelogram(cranks=2).explain()
    assert "No equation is redundant." in str(found)
    assert "leaves 1 freedom; no equations among these are redundant." in str(found)
    assert found.to_dict()["loops"][0]["joints"] == ["foot1", "head1", "head2", "foot2"]


def test_each_freedom_is_led_by_a_joint():
    m = arm()
    assert m.explain().motions == ("shoulder.angle changes at 1", "elbow.angle changes at 1")
    assert m.degrees_of_freedom() == 2
    assert m.explain().loops == ()


def test_motions_without_joint_coordinates_are_told_by_bodies():
    m = zw.Mechanism()
    m.spherical("ball", m.ground, m.body("top", mass=1, inertia=(1, 1, 1)), at=(1, 0, 0))
    said = " | ".join(m.explain().motions)
    for axis in "yz":
        assert f"top turns about {axis} through (1, 0, 0)" in said
    assert "top turns about x through (0, 0, 0)" in said


def test_drivers_that_contradict_are_named():
    m = arm()
    m.drive("slow", "shoulder.angle", lambda t: t**2)
    m.drive("fast", "shoulder.angle", lambda t: 2.0 * t**2)
    found = m.explain()
    assert found.conflicts == (("driver slow", "driver fast"),)
    assert "Driver slow and driver fast contradict each other." in str(found)
    assert "1 equation among slow and fast is redundant." in str(found)


def test_what_nothing_determines_is_told_by_bodies():
    m = arm()
    m.revolute("end", "lower", m.body("ghost", position=(2, 0)), at=(2, 0))
    found = m.explain()
    assert not found.unique
    assert found.undetermined_motions == ("ghost turns about y through (2, 0, 0)",)
    assert "Neither mass nor constraint: ghost turns about y through (2, 0, 0)." in str(found)


def test_passport_and_reactions_go_by_joint():
    m = door()
    assert {g.status for g in m.passport().groups.values()} == {Status.INDETERMINATE}
    run = m.simulate(until=0.1, save=0.1)
    assert not run.reaction("hinge2").determinate.any()
    assert parallelogram(cranks=2).passport().status("head1") is Status.DETERMINATE


def test_a_joint_of_two_elements_is_one_group():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ball = m.body("ball", inertia=zw.inertia.sphere(1.0, 0.2), position=(0, 0, 0.2))
    m.rolling_sphere("roll", m.ground, ball, axis="z", radius=0.2, at=((0, 0, 0), (0, 0, 0.2)))
    passport = m.passport()
    assert list(passport.groups) == ["roll"]
    assert len(passport.groups["roll"].rows) == 3
    assert m.simulate(until=0.1, save=0.1).reaction("roll").determinate.all()


def test_splits_share_out_what_hinges_carry():
    splits = door().splits(compliance=np.ones(15))
    vertical = [splits.names.index(f"hinge{k}[2]") for k in (1, 2, 3)]
    for label in splits:
        # Together they carry the weight of 20 kg; nothing but a principle says in which shares.
        assert splits[label].multipliers[vertical].sum() == pytest.approx(20 * 9.81, rel=1e-9)


def test_forces_of_joints_are_newtons_and_moments_newton_metres():
    """A wheel on a pin off its centre, held by a driver: weight at the pin, its moment by hand."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    wheel = m.body("wheel", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    bar = m.body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0, 0))
    m.revolute("pin", m.ground, wheel, at=(0, 0, 0), axis="y")
    m.fixed("weld", wheel, bar, at=(0.8, 0, 0))
    m.drive("motor", "pin.angle", 0.0)
    groups = m.passport(m.assemble()).groups
    g = 9.81
    assert np.abs(groups["pin"].resultant - (0, 0, 3.0 * g)).max() < 1e-12
    assert np.abs(groups["pin"].moment).max() < 1e-12
    assert np.abs(groups["weld"].resultant - (0, 0, g)).max() < 1e-12
    assert np.abs(groups["weld"].moment - (0, -0.2 * g, 0)).max() < 1e-12
    assert np.abs(groups["motor"].resultant).max() < 1e-12
    assert np.abs(groups["motor"].moment - (0, -(0.5 * 2 + 1.0) * g, 0)).max() < 1e-11
    lines = str(m.passport(m.assemble())).splitlines()
    head = next(line for line in lines if line.startswith("group"))
    assert head.split("  ")[-1].strip() == "status"
    assert "force [N]" in head
    assert "moment [N m]" in head
    assert next(x for x in lines if x.startswith("pin  ")).split()[1:3] == ["29.43", "0"]
    assert next(x for x in lines if x.startswith("weld  ")).split()[1:3] == ["9.81", "1.962"]


def two_hinges(*, second_reversed=False):
    """A door of 3 kg on two hinges of the ground, its center half a meter off their axis."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    door = m.body("door", mass=3.0, inertia=(0.4, 0.1, 0.4), position=(0.5, 0, 1))
    leaf = m.body("leaf", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 1))
    m.revolute("lower", m.ground, door, at=(0, 0, 0), axis="z")
    pair = (door, m.ground) if second_reversed else (m.ground, door)
    m.revolute("upper", *pair, at=(0, 0, 2), axis="z")
    m.fixed("weld", door, leaf, at=(1, 0, 1))
    return m


@pytest.mark.parametrize("second_reversed", [False, True])
def test_a_group_of_joints_has_the_resultant_on_one_side(second_reversed):
    m = two_hinges(second_reversed=second_reversed)
    given = {"hinges": ["lower", "upper"], "held": ["upper", "weld"], "far": ["lower", "weld"]}
    found = m.passport(groups=given)
    hinges = found.groups["hinges"]
    np.testing.assert_allclose(hinges.resultant, (0, 0, 4.0 * 9.81), atol=1e-11)
    # About the lower hinge: against the weights of door and leaf.
    np.testing.assert_allclose(hinges.moment, (0, -(1.5 + 1.5) * 9.81, 0), atol=1e-11)
    line = next(x for x in str(found).splitlines() if x.startswith("hinges"))
    assert line.split()[1:3] == ["39.24", "29.43"]
    # Upper hinge on the door, and the door on the leaf: both act on the door.
    single = m.passport().groups
    sign = -1.0 if second_reversed else 1.0
    on_door = sign * single["upper"].resultant - single["weld"].resultant
    found_on_door = found.groups["held"].resultant
    assert np.allclose(found_on_door, on_door) or np.allclose(found_on_door, -on_door)


def test_a_group_of_joints_that_share_no_body_has_no_resultant():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bars = [m.body(f"bar{k}", mass=1.0, inertia=(0.1, 0.1, 0.1)) for k in range(4)]
    m.fixed("left", bars[0], bars[1], at=(0, 0, 0))
    m.fixed("right", bars[2], bars[3], at=(0, 0, 0))
    found = m.passport(groups={"both": ["left", "right"]})
    assert found.groups["both"].resultant is None
    assert "both has no resultant: the joints act on different bodies." in str(found)
    assert "—" in str(found).splitlines()[-1]


@pytest.mark.parametrize("plane", [None, "xz"])
def test_the_multiplier_of_a_driver_is_its_torque_or_force(plane):
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane)
    rod = m.body("rod", mass=2.0, inertia=(0.1, 0.2, 0.1), position=(0.5, 0, 0))
    block = m.body("block", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(4, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.prismatic("slide", m.ground, block, at=(4, 0, 0), axis="z")
    m.drive("motor", "pin.angle", lambda t: 0.5 * 3.0 * t * t)
    m.drive("lift", "slide.displacement", lambda t: 0.5 * 2.0 * t * t)
    run = m.simulate(until=0.2, save=0.1)
    # (J + m/4) θ̈ less the weight's moment, which turns the rod about +y as it falls
    weight = 2.0 * 9.81 * 0.5 * np.cos(run["pin.angle"])
    assert np.abs(run.multipliers("motor")[:, 0] - ((0.2 + 0.5) * 3.0 - weight)).max() < 1e-7
    assert np.abs(run.multipliers("lift")[:, 0] - 3.0 * (2.0 + 9.81)).max() < 1e-8
