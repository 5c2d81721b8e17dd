"""Closed loops from one rate and rough placements; coordinates, curves and actuators of one's own;
events, switches, stores and ensembles of mechanisms."""

import numpy as np
import pytest

import zwang as zw

#: Assembled states and velocities meet their equations to rounding.
ASSEMBLED = 1e-10
#: Motions over a second or two at a tolerance of 1e-10, against closed forms.
MOTION = 1e-7
TOLERANCE = 1e-10

CRANK, COUPLER, ROCKER, BASE = 1.0, 3.0, 2.5, 3.5


def corners(theta, side=1.0):
    """Points A, B, C, D of the four-bar at a crank angle, by the intersection of two circles."""
    A, D = np.zeros(2), np.array([BASE, 0.0])
    B = CRANK * np.array([np.cos(theta), np.sin(theta)])
    d = D - B
    r = np.linalg.norm(d)
    along = (COUPLER**2 - ROCKER**2 + r**2) / (2.0 * r)
    across = side * np.sqrt(COUPLER**2 - along**2)
    return A, B, B + (along * d + across * np.array([-d[1], d[0]])) / r, D


def four_bar(theta=1.0, side=1.0, off=0.0, seed=0):
    """The four-bar placed at a crank angle, its bodies off by a part of the crank's length."""
    rng = np.random.default_rng(seed)
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    A, B, C, D = corners(theta, side)
    bars = {}
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        turn = np.arctan2(*(Q - P)[::-1])
        place = (P + Q) / 2 + off * rng.uniform(-1, 1, 2)
        bars[name] = m.body(
            name, mass=1.0, inertia=0.3, position=place, angle=turn + off * rng.uniform(-1, 1)
        )
    a, b, c = (np.array([x / 2, 0.0]) for x in (CRANK, COUPLER, ROCKER))
    crank, coupler, rocker = bars.values()
    m.revolute("A", m.ground, crank, at=(A, crank.marker(-a)))
    m.revolute("B", crank, coupler, at=(crank.marker(a), coupler.marker(-b)))
    m.revolute("C", coupler, rocker, at=(coupler.marker(b), rocker.marker(c)))
    m.revolute("D", m.ground, rocker, at=(D, rocker.marker(-c)))
    return m


def angle(state, m, body):
    index = m.system.coordinates.index(f"{body}.cos")
    return np.arctan2(state.q[index + 1], state.q[index])


def directions(theta, side=1.0):
    """Angles of coupler and rocker."""
    _, B, C, D = corners(theta, side)
    return np.arctan2(*(C - B)[::-1]), np.arctan2(*(C - D)[::-1])


def test_one_rate_gives_all_velocities_of_a_loop():
    m = four_bar(theta=0.7)
    state = m.assemble(velocity={"hold": {"A.angle_rate": 2.0}})
    # Freudenstein: the velocity of C seen from both sides, across coupler and rocker.
    th2, (th3, th4) = 0.7, directions(0.7)
    coupler = 2.0 * CRANK * np.sin(th4 - th2) / (COUPLER * np.sin(th3 - th4))
    rocker = 2.0 * CRANK * np.sin(th2 - th3) / (ROCKER * np.sin(th4 - th3))
    found = dict(zip(m.system.velocities, state.v, strict=True))
    assert found["crank.omega"] == pytest.approx(2.0, abs=ASSEMBLED)
    assert found["coupler.omega"] == pytest.approx(coupler, abs=ASSEMBLED)
    assert found["rocker.omega"] == pytest.approx(rocker, abs=ASSEMBLED)


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["open", "crossed"])
def test_prefer_chooses_the_way_of_assembling(side):
    m = four_bar(theta=1.0, side=1.0)
    held = {"crank": True}
    wanted = directions(1.0, side)[1]
    state = m.assemble(hold=held, prefer={"D.angle": wanted - directions(1.0)[1]})
    assert angle(state, m, "rocker") == pytest.approx(wanted, abs=ASSEMBLED)
    assert angle(state, m, "crank") == pytest.approx(1.0, abs=ASSEMBLED)


@pytest.mark.parametrize("seed", range(3))
def test_rough_placements_close(seed):
    m = four_bar(theta=1.2, off=0.2 * CRANK, seed=seed)
    state = m.assemble()
    residuals = m.system.residuals(state.q, state.v)
    assert np.abs(residuals.position).max() < ASSEMBLED
    th3, th4 = directions(angle(state, m, "crank"))
    assert angle(state, m, "coupler") == pytest.approx(th3, abs=ASSEMBLED)
    assert angle(state, m, "rocker") == pytest.approx(th4, abs=ASSEMBLED)


@pytest.mark.parametrize("copies", [1, 12], ids=["small", "large"])
def test_a_search_may_begin_where_euler_parameters_are_not_of_unit_length(copies):
    m = zw.Mechanism()
    for k in range(copies):
        rod = m.body(f"rod{k}", mass=1.0, inertia=(1, 1, 1), position=(0.5, k, 0))
        m.revolute(f"pin{k}", m.ground, rod, at=(0, k, 0), axis="y")
    assert (m.system.equations.by_elements is not None) == (copies > 1)
    start = m.system.equations.placement[0].copy()
    start[3:7] = 0.4 * np.array([np.cos(0.1), 0.0, np.sin(0.1), 0.0])  # 0.2 rad about y
    state = m.assemble(start=start)
    assert np.linalg.norm(state.q[3:7]) == pytest.approx(1.0, abs=ASSEMBLED)
    assert np.abs(m.system.residuals(state).position).max() < ASSEMBLED
    # How far it moved counts from the placement, not from where the search began.
    assert state.moved["rod0.e2"] == state.q[5]
    assert 0.01 < state.q[5] < 0.2


def test_a_mechanism_in_independent_velocities_has_the_same_accelerations():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    state = m.assemble(velocity={"hold": {"pin.angle_rate": 2.0}})
    reduced = m.system.reduce()
    assert len(reduced.velocities) == 1
    full = reduced.way_back(reduced.way_in(state))
    assert full.acceleration == pytest.approx(m.solve(state).acceleration, abs=ASSEMBLED)


# --- mechanisms combined with functions -----------------------------------------------------------


def test_a_geared_motor_is_a_further_coordinate():
    m = zw.Mechanism(plane="xy")
    arm = m.body("arm", mass=2.0, inertia=0.5)
    m.revolute("pivot", m.ground, arm)
    rotor = m.coordinate("rotor", mass=0.01)
    ratio, torque = 20.0, 0.3
    m.constraint(
        "gear", [arm, rotor], lambda bodies: bodies[1].rate - ratio * bodies[0].angular_velocity[2]
    )
    m.user_force("motor", [rotor], lambda bodies: torque)
    run = m.simulate(until=1.0, save=0.25, tolerance=TOLERANCE)
    # (J + n² J_r) θ̈ = n τ
    expected = 0.5 * ratio * torque / (0.5 + ratio**2 * 0.01) * run.t**2
    assert np.abs(run["pivot.angle"] - expected).max() < MOTION
    assert np.abs(run["rotor"] - ratio * expected).max() < ratio * MOTION


def test_a_bead_on_a_parabola():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    bead = m.body("bead", mass=0.5, inertia=0.01, position=(0.5, 0.25))
    m.point_on_curve("wire", m.ground, bead, at=(0.5, 0.25), curve=lambda s: (s, s**2), start=0.45)
    run = m.simulate(until=1.0, save=0.1, tolerance=TOLERANCE)
    x, v = run["bead.x"], run["bead.vx"]
    assert np.abs(run["bead.z"] - x**2).max() < ASSEMBLED
    assert np.abs(run["wire_s"] - x).max() < ASSEMBLED
    # ½ (1 + 4 x²) ẋ² + g x² is kept.
    assert np.ptp(0.5 * (1 + 4 * x**2) * v**2 + 9.81 * x**2) < MOTION
    assert np.ptp(x) > 0.5


def test_a_cylinder_of_given_length_lifts_its_arm():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    arm = m.body("arm", mass=1.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.spherical_link(
        "cylinder", m.ground, arm, at=((0, -1), (1, 0)), length=lambda t: np.sqrt(2.0) + 0.2 * t
    )
    start = m.assemble()
    run = m.simulate(start, until=1.0, save=0.2, tolerance=TOLERANCE)
    tip = run.body("arm").point((0.5, 0, 0))
    length = np.linalg.norm(tip - np.array([0, 0, -1]), axis=1)
    assert np.abs(length - np.sqrt(2.0) - 0.2 * run.t).max() < ASSEMBLED
    # l² = 2 + 2 sin(elevation), from the triangle of sides 1, 1, l.
    elevation = np.arctan2(tip[:, 2], tip[:, 0])
    assert np.abs(length**2 - 2.0 - 2.0 * np.sin(elevation)).max() < ASSEMBLED


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (
            lambda t: None,
            r"joint 'cylinder' must give one value, but returns None",
        ),
        (
            lambda x: x,
            r"joint 'cylinder' must be a function of \(t, p\), or.*not a function of \(x\)",
        ),
    ],
)
def test_a_cylinder_that_has_no_length_is_refused(length, words):
    m = zw.Mechanism(plane="xz")
    arm = m.body("arm", mass=1.0, inertia=0.1)
    m.spherical_link("cylinder", m.ground, arm, at=((0, -1), (1, 0)), length=length)
    with pytest.raises(zw.errors.ZwangError, match=words):
        m.solve()


# --- runs -----------------------------------------------------------------------------------------


def pendulum():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=1 / 12, position=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    return m


def test_an_event_lets_a_body_fly():
    m = pendulum()
    low = zw.event(lambda q: q[0], zw.switch(off=["pin"]))
    run = m.simulate(until=1.0, save=0.01, events={"low": low}, tolerance=TOLERANCE)
    (record,) = run.events
    after = run.t > record.t
    # ½ (m l²/3) ω² = m g l/2 at the lowest point; then the centre flies on a parabola.
    speed = 0.5 * np.sqrt(3.0 * 9.81)
    assert np.abs(np.abs(record.v[0]) - speed) < MOTION
    fall = run["rod.z"][after] + 0.5 + 0.5 * 9.81 * (run.t[after] - record.t) ** 2
    assert np.abs(fall).max() < MOTION


def falling_door():
    """A rod from the horizontal, with a latch on the vertical through its hinge."""
    door = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    rod = zw.inertia.rod(1.0, 1.0, axis="x")
    leaf = door.body("leaf", inertia=rod, position=(0.5, 0, 0))
    door.revolute("hinge", door.ground, leaf, at=(0, 0, 0))
    door.point_on_line("latch", door.ground, leaf, at=((0, 0, 0), (1, 0, 0)), axis="z")
    return door


@pytest.mark.parametrize("inactive", ["latch", ["latch"], {"latch"}])
def test_an_inactive_joint_does_not_hold_the_placement(inactive):
    door = falling_door()
    run = door.simulate(until=0.1, save=0.1, inactive=inactive)
    assert run["hinge.angle"][0] == pytest.approx(0.0, abs=1e-12)
    (many,) = door.simulate_many(
        until=0.1, save=[0.0], inactive=inactive, parameters={"leaf.mass": [1.0]}
    )
    assert many["hinge.angle"][0] == pytest.approx(0.0, abs=1e-12)
    held = door.simulate(until=0.1, save=0.1)  # assembled with it, on the vertical
    assert abs(held["hinge.angle"][0]) == pytest.approx(np.pi / 2.0, abs=1e-9)


def test_an_inactive_joint_does_not_act():
    run = pendulum().simulate(until=0.5, save=0.1, inactive=["pin"], tolerance=TOLERANCE)
    assert np.abs(run["rod.z"] + 0.5 * 9.81 * run.t**2).max() < MOTION


def test_a_run_is_stored_read_and_verified(tmp_path):
    m = pendulum()
    run = m.simulate(until=0.5, save=0.1, store=tmp_path / "run")
    again = zw.load(tmp_path / "run", m.system)
    assert np.array_equal(again["pin.angle"], run["pin.angle"])
    assert zw.verify(tmp_path / "run", m.system)
    assert zw.resume(tmp_path / "run", m.system).finished


def test_many_mechanisms_run_as_one_does():
    m = pendulum()
    start, masses = m.assemble(), [1.0, 2.0, 3.0]
    runs = m.simulate_many(start, until=0.5, save=0.1, parameters={"rod.mass": masses})
    alone = m.simulate(
        start, until=0.5, save=0.1, parameters={"rod.mass": 2.0}, integrator="order8"
    )
    assert all(runs.finished)
    assert np.array_equal(runs[1].q, alone.q)


def rough_linkage(seed, unit):
    """A planar loop of links placed some tenths of their length, and of a radian, off."""
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.5, 1.5, 4)
    angles = np.cumsum(rng.uniform(0.3, 1.4, 4))
    ways = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ends = np.concatenate([np.zeros((1, 2)), np.cumsum(ways, axis=0)])
    m = zw.Mechanism(plane="xz")
    before, at = m.ground, (0.0, 0.0)
    for k, length in enumerate(unit * lengths):
        link = m.body(
            f"link{k}",
            inertia=zw.inertia.rod(1.0, length),
            position=unit * (ends[k : k + 2].mean(axis=0) + rng.normal(0.0, 0.2, 2)),
            angle=-(angles[k] + rng.normal(0.0, 0.4)),
        )
        m.revolute(f"pin{k}", before, link, at=(at, link.marker((-0.5 * length, 0.0))))
        before, at = link, link.marker((0.5 * length, 0.0))
    m.revolute("end", before, m.ground, at=(at, unit * ends[-1]))
    return m


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e6])
def test_small_and_large_mechanisms_are_assembled_alike(seed, unit):
    """A turn is as far in millimeters: it had been bounded by the size in place of a radian."""
    start = rough_linkage(seed, 1.0).assemble()
    found = rough_linkage(seed, unit).assemble()
    scale = np.tile([1.0 / unit, 1.0 / unit, 1.0, 1.0], 4)
    assert np.allclose(found.q * scale, start.q, rtol=0.0, atol=1e-12)
