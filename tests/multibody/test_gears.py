"""Teeth press on both wheels: free-body diagrams by hand, momentum and energy, Willis's formula.

Oracles share nothing with the library: statics written out here, and balances over whole motions.
"""

from math import atan2, cos, pi, radians, sin, tan

import numpy as np
import pytest

import zwang as zw
from zwang.view.report import report_html

ALPHA = radians(20.0)
PLANES = [None, "xy"]


def wheel(m, name, radius, position=(0, 0, 0), mass=1.0, **more):
    moment = 0.5 * mass * radius**2
    inertia = (0.5 * moment, 0.5 * moment, moment)
    return m.body(name, mass=mass, inertia=inertia, position=position, **more)


def pair(plane=None, r=(0.2, 0.1), gravity=(0, 0, 0), **teeth):
    """Two wheels with bearings on the ground, centres on x."""
    m = zw.Mechanism(gravity=gravity, plane=plane)
    a, b = wheel(m, "a", r[0]), wheel(m, "b", abs(r[1]), (r[0] + r[1], 0, 0))
    m.revolute("left", m.ground, a, at=(0, 0, 0), axis="z")
    m.revolute("right", m.ground, b, at=(r[0] + r[1], 0, 0), axis="z")
    m.gear("mesh", a, b, axis="z", radius_a=r[0], radius_b=r[1], **teeth)
    return m


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_bearings_of_a_pair_at_rest_carry_tooth_force_and_separation(plane, sense):
    """1000 N m on one wheel, the other held: forces and moments from outside add up to zero."""
    m = pair(plane, (0.1, 0.2), at=(0.1, 0, 0), pressure_angle=ALPHA)
    m.force("load", "a", torque=(0, 0, sense * 1000.0))
    m.drive("motor", "right.angle", 0.0)
    run = m.simulate(until=0.01, save=0.01)
    # On a about its axis: load + 0.1·F_y = 0, F the force of b on a at x = 0.1.
    F = -sense * 1000.0 / 0.1
    apart = abs(F) * tan(ALPHA)
    on_a = np.array([-apart, F, 0.0])
    teeth, left, right = (run.reaction(n) for n in ("mesh", "left", "right"))
    assert np.abs(teeth.force - -on_a).max() < 1e-8 * abs(F)
    assert np.abs(teeth.point - (0.1, 0, 0)).max() < 1e-12
    assert np.abs(teeth.moment).max() < 1e-8 * abs(F)
    assert np.abs(left.force - -on_a).max() < 1e-8 * abs(F)
    assert np.abs(right.force - on_a).max() < 1e-8 * abs(F)
    # On b about its axis at x = 0.3: −0.1·... the lever of P is −0.2, the force on b −on_a.
    motor = run.reaction("motor")
    assert np.abs(motor.moment[:, 2] - -(-0.2 * -F)).max() < 1e-8 * abs(F)
    # From outside: load, motor and bearings, moments about the origin.
    outside = sense * 1000.0 + motor.moment[:, 2] + 0.3 * right.force[:, 1]
    assert np.abs(outside).max() < 1e-8 * abs(F)
    assert np.abs(left.force + right.force).max() < 1e-8 * abs(F)
    assert all(found.determinate.all() for found in (left, right, teeth))
    assert run.multipliers("mesh")[0, 0] == pytest.approx(F, rel=1e-9)


@pytest.mark.parametrize("plane", PLANES)
def test_a_pulled_rack_loads_the_axle_of_its_pinion(plane):
    m = zw.Mechanism(plane=plane)
    pinion = wheel(m, "pinion", 0.1, mass=1.0)
    rack = m.body("rack", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.1, 0))
    m.revolute("axle", m.ground, pinion, at=(0, 0, 0), axis="z")
    m.prismatic("guide", m.ground, rack, at=(0, 0.1, 0), axis="x")
    # With axis_b = −x the pitch line lies along e = −x × z = +y.
    m.rack_and_pinion("teeth", pinion, rack, at=(0, 0.1, 0), axis="z", axis_b="-x", radius=0.1)
    m.force("pull", rack, (10.0, 0, 0))
    run = m.simulate(until=0.5, save=0.1)
    # J/r² = 0.5 kg beside 2 kg: a = 4 m/s², and the teeth hold back 2 N.
    assert (
        np.abs(run.acceleration[:, list(run.system.velocities).index("rack.vx")] - 4.0).max() < 1e-9
    )
    F = 0.5 * 4.0
    assert np.abs(run.reaction("teeth").force - (-F, F * tan(ALPHA), 0)).max() < 1e-9
    assert np.abs(run.reaction("axle").force - (-F, F * tan(ALPHA), 0)).max() < 1e-9
    assert np.abs(run.reaction("guide").force - (0, -F * tan(ALPHA), 0)).max() < 1e-9


def test_a_ring_pushes_its_pinion_towards_the_centre_of_the_pinion():
    """Inside a ring of 0.3 a pinion of 0.1: P at x = 0.3, the pinion is pushed to −x."""
    m = zw.Mechanism()
    pinion, ring = wheel(m, "pinion", 0.1, (0.2, 0, 0)), wheel(m, "ring", 0.3)
    m.revolute("axle", m.ground, pinion, at=(0.2, 0, 0), axis="z")
    m.revolute("bearing", m.ground, ring, at=(0, 0, 0), axis="z")
    m.gear("mesh", pinion, ring, axis="z", radius_a=0.1, radius_b=-0.3, pressure_angle=ALPHA)
    m.force("motor", pinion, torque=(0, 0, 5.0))
    m.drive("held", "bearing.angle", 0.0)
    run = m.simulate(until=0.01, save=0.01)
    # 5 + 0.1·F_y = 0: the ring holds the tooth at x = 0.3 back by 50 N.
    expected = np.array([50.0 * tan(ALPHA), 50.0, 0.0])  # of the axle on the pinion
    assert np.abs(run.reaction("axle").force - expected).max() < 1e-8
    assert np.abs(run.reaction("bearing").force + expected).max() < 1e-8
    assert np.abs(run.reaction("mesh").point - (0.3, 0, 0)).max() < 1e-12
    assert np.abs(run.reaction("held").moment[:, 2] - -15.0).max() < 1e-7  # 0.3 m · 50 N


@pytest.mark.parametrize("turned", [False, True])
def test_bevel_gears_press_along_their_axes_too(turned):
    """Handbook: tangential F, radial F tan α cos δ, axial F tan α sin δ, away from the apex."""
    ra, rb = 0.1, 0.2  # axes z and x meet at the origin
    delta = atan2(ra, rb)
    R = np.eye(3)
    if turned:
        u = np.array([0.3, -0.5, 0.7, 0.41])
        u /= np.linalg.norm(u)
        w, x, y, z = u
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    m = zw.Mechanism()
    a = m.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=R @ (0, 0, rb))
    b = m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=R @ (ra, 0, 0))
    m.revolute("first", m.ground, a, at=R @ (0, 0, rb), axis=R[:, 2])
    m.revolute("second", m.ground, b, at=R @ (ra, 0, 0), axis=R[:, 0])
    m.gear("mesh", a, b, axis=R[:, 2], axis_b=R[:, 0], radius_a=ra, radius_b=rb)
    m.force("load", "a", torque=7.0 * R[:, 2])
    m.drive("held", "second.angle", 0.0)
    run = m.simulate(until=0.01, save=0.01)
    teeth = run.reaction("mesh")
    assert np.abs(teeth.point - R @ (ra, 0, rb)).max() < 1e-12
    # load + ra·F_y = 0 on a at (ra, 0, rb); pushed to −x (radial) and +z (axial, from the apex).
    F = -7.0 / ra
    on_a = np.array([-abs(F) * tan(ALPHA) * cos(delta), F, abs(F) * tan(ALPHA) * sin(delta)])
    assert np.abs(teeth.force - R @ -on_a).max() < 1e-9 * abs(F)
    assert np.abs(run.reaction("first").force - R @ -on_a).max() < 1e-9 * abs(F)
    # b turns about x by the force −on_a at lever (0, 0, rb): moment_x = −rb·(−F).
    held = run.reaction("held").moment @ R[:, 0]
    assert np.abs(held - -(-rb * -F)).max() < 1e-8 * abs(F)


def momentum(run, bodies):
    """Linear and angular momentum about the origin, from what the run shows of its bodies."""
    p, L = np.zeros((len(run.t), 3)), np.zeros((len(run.t), 3))
    for name, mass, moments in bodies:
        motion = run.body(name)
        J = np.einsum(
            "tij,j,tkj->tik", motion.rotation, np.asarray(moments, float), motion.rotation
        )
        p += mass * motion.velocity
        L += np.cross(motion.position, mass * motion.velocity)
        L += np.einsum("tij,tj->ti", J, motion.angular_velocity)
    return p, L


@pytest.mark.parametrize("plane", PLANES)
def test_a_free_gearbox_keeps_its_momentum(plane):
    m = zw.Mechanism(plane=plane)
    spin = 3.0 if plane else (0, 0, 3.0)
    housing = m.body("housing", mass=3.0, inertia=(0.2, 0.2, 0.3), position=(0.1, 0.05, 0))
    a = wheel(m, "a", 0.2, mass=2.0, angular_velocity=spin)
    b = wheel(m, "b", 0.1, (0.3, 0, 0), mass=0.5)
    m.revolute("left", housing, a, at=(0, 0, 0), axis="z")
    m.revolute("right", housing, b, at=(0.3, 0, 0), axis="z")
    m.gear("mesh", a, b, axis="z", radius_a=0.2, radius_b=0.1)
    m.torsion_spring("coil", housing, a, at=(0, 0, 0), axis="z", stiffness=2.0, angle=1.0)
    run = m.simulate(until=2.0, save=0.1, tolerance=1e-10)
    shapes = [("housing", 3.0, (0.2, 0.2, 0.3))]
    for name, mass, r in (("a", 2.0, 0.2), ("b", 0.5, 0.1)):
        J = 0.5 * mass * r * r
        shapes.append((name, mass, (0.5 * J, 0.5 * J, J)))
    p, L = momentum(run, shapes)
    assert np.abs(p - p[0]).max() < 1e-8
    assert np.abs(L - L[0]).max() < 1e-8
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8
    rates = {k: run.body(k).angular_velocity[:, 2] for k in ("housing", "a", "b")}
    against = [rates[k] - rates["housing"] for k in "ab"]
    assert np.abs(0.2 * against[0] + 0.1 * against[1]).max() < 1e-9
    assert np.abs(against[0][-1] - against[0][0]) > 0.5  # it does move


def test_a_free_rack_and_pinion_keep_their_momentum():
    m = zw.Mechanism()
    frame = m.body("frame", mass=2.0, inertia=(0.2, 0.3, 0.4), angular_velocity=(0.3, 0.2, 0.5))
    pinion = wheel(m, "pinion", 0.1)
    rack = m.body("rack", mass=1.5, inertia=(0.02, 0.2, 0.2), position=(0.1, -0.1, 0))
    m.revolute("axle", frame, pinion, at=(0, 0, 0), axis="z")
    m.prismatic("guide", frame, rack, at=(0, -0.1, 0), axis="x")
    m.rack_and_pinion("teeth", pinion, rack, at=(0, -0.1, 0), axis="z", axis_b="x", radius=0.1)
    m.torsion_spring("coil", frame, pinion, at=(0, 0, 0), axis="z", stiffness=3.0, angle=1.0)
    run = m.simulate(until=1.0, save=0.1, tolerance=1e-10)
    J = 0.5 * 0.01
    p, L = momentum(
        run,
        [
            ("frame", 2.0, (0.2, 0.3, 0.4)),
            ("pinion", 1.0, (0.5 * J, 0.5 * J, J)),
            ("rack", 1.5, (0.02, 0.2, 0.2)),
        ],
    )
    assert np.abs(p - p[0]).max() < 1e-8
    assert np.abs(L - L[0]).max() < 1e-8
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8
    assert np.ptp(run["guide.displacement"]) > 0.05


SUN, PLANET = 0.1, 0.05
RING = SUN + 2 * PLANET


def epicyclic(plane=None, planets=1):
    """Sun, planets on a carrier, ring."""
    m = zw.Mechanism(plane=plane)
    sun, ring = wheel(m, "sun", SUN, mass=1.0), wheel(m, "ring", RING, mass=2.0)
    carrier = m.body("carrier", mass=0.8, inertia=(0.01, 0.01, 0.02))
    m.revolute("sun_axle", m.ground, sun, at=(0, 0, 0), axis="z")
    m.revolute("ring_axle", m.ground, ring, at=(0, 0, 0), axis="z")
    m.revolute("carrier_axle", m.ground, carrier, at=(0, 0, 0), axis="z")
    for k in range(planets):
        angle = 0.3 + 2 * pi * k / planets
        at = (SUN + PLANET) * np.array([cos(angle), sin(angle), 0.0])
        planet = wheel(m, f"planet{k}", PLANET, at, mass=0.2)
        m.revolute(f"pin{k}", carrier, planet, at=at, axis="z")
        m.gear(f"inner{k}", sun, planet, axis="z", radius_a=SUN, radius_b=PLANET)
        m.gear(f"outer{k}", planet, ring, axis="z", radius_a=PLANET, radius_b=-RING)
    return m


@pytest.mark.parametrize("plane", PLANES)
def test_an_epicyclic_train_follows_willis_and_its_torques_add_up(plane):
    m = epicyclic(plane)
    m.drive("input", "sun_axle.angle", lambda t: 4.0 * t)
    m.drive("held", "ring_axle.angle", 0.0)
    m.force("load", "carrier", torque=(0, 0, -30.0))
    run = m.simulate(until=0.4, save=0.05, tolerance=1e-10)
    rate = {k: run.body(k).angular_velocity[:, 2] for k in ("sun", "carrier", "ring", "planet0")}
    c = rate["carrier"]
    # (ω_sun − ω_carrier) / (ω_ring − ω_carrier) = −RING/SUN
    assert np.abs((rate["sun"] - c) * SUN + (rate["ring"] - c) * RING).max() < 1e-9
    assert np.abs(c - 4.0 * SUN / (SUN + RING)).max() < 1e-9
    assert np.abs((rate["planet0"] - c) * PLANET + (rate["sun"] - c) * SUN).max() < 1e-9
    # At constant rates: T_sun + T_ring = 30, T_ring / T_sun = RING / SUN.
    T = {k: run.reaction(k).moment[:, 2] for k in ("input", "held")}
    assert np.abs(T["input"] - 30.0 * SUN / (SUN + RING)).max() < 1e-6
    assert np.abs(T["held"] - 30.0 * RING / (SUN + RING)).max() < 1e-6
    # Both teeth push the planet on with F = T_sun/SUN; what pushes apart cancels.
    F = 30.0 / (SUN + RING)
    at = run.body("planet0").position
    radial = at / np.linalg.norm(at, axis=1, keepdims=True)
    round_ = np.column_stack([-radial[:, 1], radial[:, 0], 0 * radial[:, 0]])
    inward = -0.2 * (SUN + PLANET) * (4.0 * SUN / (SUN + RING)) ** 2
    expected = inward * radial - 2 * F * round_
    assert np.abs(run.reaction("pin0").force - expected).max() < 1e-6
    assert (
        np.abs(np.linalg.norm(run.reaction("inner0").force, axis=1) - F / cos(ALPHA)).max() < 1e-6
    )


def test_three_planets_in_space_share_what_the_motion_does_not_tell():
    m = epicyclic(planets=3)
    m.force("push", "sun", torque=(0, 0, 2.0))
    run = m.simulate(until=0.2, save=0.1, tolerance=1e-10)
    assert run.finished
    passport = m.passport(run.q[-1], run.v[-1], float(run.t[-1]))
    assert passport.groups["inner0"].status == "indeterminate"
    assert np.abs(run.body("sun").angular_velocity[-1, 2]) > 0.1


@pytest.mark.parametrize("coordinates", ["absolute", "planar", "joint"])
@pytest.mark.parametrize("integrator", ["order5", "order8", "gauss", "radau5"])
def test_every_choice_of_coordinates_gives_the_same_motion_and_forces(coordinates, integrator):
    m = epicyclic()
    m.force("push", "sun", torque=(0, 0, 0.5))
    m.torsion_spring("coil", m.ground, "carrier", axis="z", stiffness=3.0)
    choice = {"integrator": integrator, "tolerance": 1e-9}
    run = m.simulate(until=0.3, save=0.1, coordinates=coordinates, **choice)
    plain = m.simulate(until=0.3, save=0.1, coordinates="absolute", tolerance=1e-11)
    assert run.finished
    assert np.abs(run.q - plain.q).max() < 1e-6
    for name in ("pin0", "sun_axle", "inner0"):
        assert np.abs(run.reaction(name).force - plain.reaction(name).force).max() < 1e-4


@pytest.mark.parametrize("integrator", ["rattle", "generalized_alpha"])
def test_methods_of_fixed_steps_turn_the_wheels_as_well(integrator):
    m = pair()
    m.force("motor", "a", torque=(0, 0, 1.0))
    run = m.simulate(until=1.0, save=0.5, integrator=integrator, step=1e-3)
    J = 0.5 * 0.2**2 + 4.0 * 0.5 * 0.1**2
    assert np.abs(run["left.angle"] - run.t**2 / 2.0 / J).max() < 2e-2


def test_friction_in_bearings_feels_the_separating_force():
    """One wheel held by a brake on the other: the bearing presses with F/cos α, not F."""
    moment = 4.0

    def friction_of(**teeth):
        m = pair(r=(0.1, 0.1), **teeth)
        m.force("motor", "a", torque=(0, 0, moment))
        m.torsion_spring("brake", m.ground, "b", at=(0.2, 0, 0), axis="z", damping=0.2)
        for bearing in ("left", "right"):
            m.friction(bearing, coefficient=0.2, radius=0.02, velocity=1e-3)
        return m.simulate(until=3.0, save=3.0, tolerance=1e-9)

    def steady(alpha):
        """ω with moment − f N − r F = 0 and r F − f N − c ω = 0, N = F/cos α, f = μ radius."""
        f, r = 0.2 * 0.02, 0.1
        F = moment / (r + f / cos(alpha))
        return (r * F - f * F / cos(alpha)) / 0.2

    found = friction_of(pressure_angle=ALPHA).body("a").angular_velocity[-1, 2]
    without = friction_of(pressure_angle=0.0).body("a").angular_velocity[-1, 2]
    assert found == pytest.approx(steady(ALPHA), rel=1e-6)
    assert without == pytest.approx(steady(0.0), rel=1e-6)
    assert abs(found - without) > 1e-2


def test_teeth_push_a_wheel_away_that_gives_way():
    """The second wheel on a swing arm with a spring: at rest the spring holds |F| tan α."""
    m = zw.Mechanism(plane="xy")
    a, b = wheel(m, "a", 0.1), wheel(m, "b", 0.1, (0.2, 0, 0))
    arm = m.body("arm", mass=0.5, inertia=0.05, position=(0.2, -0.4, 0))
    m.revolute("axle", m.ground, a, at=(0, 0))
    m.revolute("pivot", m.ground, arm, at=(0.2, -0.8))
    m.revolute("pin", arm, b, at=(0.2, 0))
    m.gear("mesh", a, b, at=(0.1, 0), radius_a=0.1, radius_b=0.1)
    m.torsion_spring("hold", m.ground, arm, at=(0.2, -0.8), stiffness=2000.0, damping=60.0)
    m.torsion_spring("brake", arm, b, at=(0.2, 0), damping=5.0)
    m.force("motor", a, torque=(0, 0, 1.0))
    assert m.parts.teeth_act_on_motion
    run = m.simulate(until=6.0, save=1.0, tolerance=1e-9)
    # At constant speed, on arm and wheel together about the pivot: spring and teeth.
    turned = run["pivot.angle"][-1]
    teeth = run.reaction("mesh")
    lever = teeth.point[-1] - (0.2, -0.8, 0)
    moment = np.cross(lever, teeth.force[-1])[2]
    assert moment - 2000.0 * turned == pytest.approx(0.0, abs=1e-6)
    tangential = abs(run.multipliers("mesh")[-1, 0])
    assert tangential == pytest.approx(10.0, rel=1e-2)
    assert np.linalg.norm(teeth.force[-1]) == pytest.approx(tangential / cos(ALPHA), rel=1e-9)


def test_rates_alone_leave_bearings_open():
    m = pair(pressure_angle=None)
    m.force("motor", "a", torque=(0, 0, 1.0))
    run = m.simulate(until=0.2, save=0.1)
    assert not run.reaction("left").determinate.any()
    assert not run.reaction("right").determinate.any()
    assert not run.reaction("mesh").determinate.any()
    told = str(m.passport(run.q[0]))
    assert "mesh ties rates alone" in told
    assert "All multipliers are determinate" not in told
    assert m.passport(run.q[0]).groups["left"].status != "determinate"
    assert "The motion determines all reactions" not in report_html(run, frames=2)
    # and the motion is that of teeth
    teeth = pair()
    teeth.force("motor", "a", torque=(0, 0, 1.0))
    assert np.abs(teeth.simulate(until=0.2, save=0.1).q - run.q).max() < 1e-10


def test_rates_alone_leave_other_joints_determinate():
    m = pair(pressure_angle=None)
    rod = m.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(5.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(5, 0, 0), axis="z")
    state = m.assemble()
    groups = m.passport(state.q).groups
    assert groups["pin"].status == "determinate"
    assert groups["left"].status != "determinate"


def test_wheels_that_cannot_mesh_are_refused_where_teeth_were_asked_for():
    m = pair(r=(0.2, 0.1))
    m.gear("other", "a", "b", axis="z", radius_a=0.2, radius_b=0.2, pressure_angle=ALPHA)
    with pytest.raises(
        zw.InputError,
        match=r"'other' must have axes 0\.4 m apart, as.*but those of 'a' and 'b' are off by 0\.1",
    ):
        m.system  # noqa: B018
    with pytest.raises(zw.InputError, match="meet at the point given"):
        pair(at=(0.15, 0, 0), pressure_angle=ALPHA).system  # noqa: B018
    with pytest.raises(zw.InputError, match=r"pressure_angle.*radians from 0"):
        pair(pressure_angle=20.0)
    m = pair(r=(0.2, 0.1))
    m.gear("other", "a", "b", axis="z", radius_a=0.2, radius_b=0.3)  # ties rates alone
    assert m.parts.joints["other"].kind.contact is None


def test_the_order_of_bearings_and_gears_does_not_matter():
    m = zw.Mechanism()
    a = m.body("a", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0, 0.7, 0))
    b = wheel(m, "b", 0.1, (0.3, 0, 0))
    m.gear("mesh", a, b, axis="z", radius_a=0.2, radius_b=0.1, pressure_angle=ALPHA)
    m.revolute("left", m.ground, a, at=(0, 0, 0), axis="z")  # a's origin lies off its axis
    m.revolute("right", m.ground, b, at=(0.3, 0, 0), axis="z")
    m.force("motor", a, torque=(0, 0, 1.0))
    run = m.simulate(until=0.1, save=0.1)
    assert np.abs(run.reaction("mesh").point - (0.2, 0, 0)).max() < 1e-12


def test_large_trains_carry_the_same_forces():
    """Eleven wheels in a row in space, by blocks: each bearing between two meshes, by hand."""
    n, r = 11, 0.1
    m = zw.Mechanism()
    names = [f"w{k}" for k in range(n)]
    for k, name in enumerate(names):
        body = wheel(m, name, r, (2 * r * k, 0, 0))
        m.revolute(f"axle{k}", m.ground, body, at=(2 * r * k, 0, 0), axis="z")
    for k in range(n - 1):
        m.gear(f"mesh{k}", names[k], names[k + 1], axis="z", radius_a=r, radius_b=r)
    m.force("motor", "w0", torque=(0, 0, 1.1))
    run = m.simulate(until=0.1, save=0.1)
    assert run.system.equations.by_elements
    # All turn alike: each takes 0.1 N m; mesh k carries F_k = (1.0 − 0.1 k) N m / r.
    F = np.array([(1.0 - 0.1 * k) / r for k in range(n - 1)])
    for k in range(n - 1):
        teeth = run.reaction(f"mesh{k}").force[0]
        assert abs(teeth[1]) == pytest.approx(F[k], rel=1e-8)
        assert teeth[0] == pytest.approx(F[k] * tan(ALPHA), rel=1e-8)
    for k in range(1, n - 1):
        # pushed by both neighbours along x, and to one side by both
        axle = run.reaction(f"axle{k}").force[0]
        assert axle[0] == pytest.approx((F[k] - F[k - 1]) * tan(ALPHA), rel=1e-6, abs=1e-9)
        assert abs(axle[1]) == pytest.approx(F[k] + F[k - 1], rel=1e-8)
