"""Events on reactions, energies and outputs: the moment at which something lets go."""

import numpy as np
import pytest

import zwang as zw

LENGTH, MASS, GRAVITY, START = 2.0, 3.0, 9.81, np.radians(70.0)


def ladder():
    """A ladder that slides down a wall without friction; its angle to the floor is given."""
    m = zw.Mechanism(plane="xy", gravity=(0, -GRAVITY))
    x, y = 0.5 * LENGTH * np.cos(START), 0.5 * LENGTH * np.sin(START)
    rod = m.body(
        "ladder", inertia=zw.inertia.rod(MASS, LENGTH), position=(x, y), angle=np.pi - START
    )
    m.point_on_line("floor", m.ground, rod, at=((0, 0), rod.marker((-0.5 * LENGTH, 0))), axis="x")
    m.point_on_line("wall", m.ground, rod, at=((0, 0), rod.marker((0.5 * LENGTH, 0))), axis="y")
    return m


def test_a_ladder_leaves_the_wall_at_two_thirds_of_its_height():
    """sin θ = (2/3) sin θ₀: from energy and ẍ of the center, the force of the wall vanishes."""
    event = zw.event("wall.force.x", "stop", direction=-1)
    run = ladder().simulate(until=2.0, tolerance=1e-11, events={"leaves": event})
    height = run["ladder.position.y"][-1]
    assert height / (0.5 * LENGTH) == pytest.approx(2 / 3 * np.sin(START), abs=1e-9)
    assert abs(run["wall.force.x"][-1]) < 1e-7
    # (1/3) m L² θ̇²/2 = m g (L/2) (sin θ₀ − sin θ)
    spin = np.sqrt(GRAVITY / LENGTH * np.sin(START))
    assert abs(run["ladder.omega"][-1]) == pytest.approx(spin, abs=1e-8)


def test_without_the_wall_the_ladder_goes_on_with_its_momentum():
    event = zw.event("wall.force.x", zw.switch(off="wall"), direction=-1)
    run = ladder().simulate(until=0.8, events={"leaves": event})
    (left,) = run.events
    after = run.t > left.t
    assert after.any()
    np.testing.assert_array_equal(run["wall.force"][after], 0.0)
    speed = run["ladder.vx"][after]
    np.testing.assert_allclose(speed, left.v_after[0], atol=1e-9)  # nothing pushes along x


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_the_moment_does_not_depend_on_coordinates(coordinates):
    """A pendulum in space: m g cos θ + m L θ̇² = m g (3 cos θ − 2 cos θ₀) pulls the pin."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body("bob", 2.0, (0.0, 0.0, 0.0), position=(1.0, 0, 0))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis="y")
    events = {
        "named": zw.event("pin.force.magnitude", at=40.0),
        "own": zw.event(lambda c: c["pin.force"] @ c["pin.force"] - 1600.0),
        "energy": zw.event("kinetic_energy", at=10.0),
    }
    run = m.simulate(until=0.6, events=events, coordinates=coordinates)
    at = {e.name: e for e in run.events}
    z = -40.0 / (3 * 9.81 * 2.0)  # released from the horizontal: T = 3 m g cos θ
    assert at["named"].q[2] == pytest.approx(z, abs=1e-8)
    assert at["own"].t == pytest.approx(at["named"].t, abs=1e-10)
    assert at["energy"].q[2] == pytest.approx(-10.0 / (2.0 * 9.81), abs=1e-8)


def test_redundant_supports_share_the_least():
    """A beam on two equal hinges in line: each carries half, and the event sees that half."""
    m = zw.Mechanism(gravity=(0, 0, -10.0))
    door = m.body("door", inertia=zw.inertia.box(2.0, (1.0, 0.1, 2.0)), position=(0.5, 0, 0))
    m.revolute("low", m.ground, door, at=(0, 0, -0.5), axis="z")
    m.revolute("high", m.ground, door, at=(0, 0, 0.5), axis="z")
    m.force("push", door, lambda t: (0, 2.0 * t, 0), at=(0.5, 0, 0))
    run = m.simulate(until=1.0, events={"half": zw.event("low.force.y", "stop", at=0.25)})
    direct = m.simulate(until=1.0, save=0.001)
    want = np.interp(run.t[-1], direct.t, direct["low.force.y"])
    assert run["low.force.y"][-1] == pytest.approx(0.25, abs=1e-9)
    assert want == pytest.approx(0.25, abs=1e-3)


def test_mistakes_are_told():
    m = ladder()
    with pytest.raises(zw.InputError, match=r"wall\.force\.x"):
        m.simulate(until=1.0, events={"e": zw.event("wall.force")})
    with pytest.raises(zw.InputError, match="must watch a position to be an impact"):
        m.simulate(until=1.0, events={"e": zw.event("wall.force.x", zw.bounce(0.5))})
    with pytest.raises(zw.InputError, match=r"Did you mean 'wall\.force'"):
        m.simulate(until=1.0, events={"e": zw.event("wal.force")})


def test_a_stored_run_with_such_an_event_goes_on(tmp_path):
    m = ladder()
    events = {
        "leaves": zw.event("wall.force.x", zw.switch(off="wall"), direction=-1),
        "slow": zw.event(lambda c: c["ladder.velocity.magnitude"] - 1.0),
    }
    run = m.simulate(until=0.8, events=events, store=tmp_path / "run")
    again = zw.resume(tmp_path / "run", m.system, events=events)
    np.testing.assert_array_equal(run.q, again.q)


def whirling():
    """A rod that turns round and round; its angle passes ±π again and again."""
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    rod = m.body(
        "rod",
        inertia=zw.inertia.rod(1.0, 1.0, axis=(1, 0, 0)),
        position=(0.5, 0, 0),
        angular_velocity=(0, 7.0, 0),
        velocity=(0, 0, -3.5),
    )
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m


def test_an_angle_that_passes_half_a_turn_is_no_event():
    m = whirling()
    m.output("twice", lambda c: 2.0 * c["pin.angle"])
    watched = {
        "named": zw.event("pin.angle", at=1.0),
        "function": zw.event(lambda c: c["pin.angle"] - 1.0),
        "output": zw.event("twice", at=2.0),
    }
    run = m.simulate(until=3.0, events=watched)
    times = {name: [e.t for e in run.events if e.name == name] for name in watched}
    assert len(times["named"]) == 3
    np.testing.assert_allclose(times["function"], times["named"], atol=1e-12)
    np.testing.assert_allclose(times["output"], times["named"], atol=1e-12)


def parallelogram(angle):
    """Two equal cranks and a coupler, built in space: three redundant rows, one more if flat."""
    m, out, spin = zw.Mechanism(gravity=(0, 0, -GRAVITY)), np.array([2.0, 0, 0]), (0, -4.0, 0)
    crank = np.array([np.cos(angle), 0, np.sin(angle)])
    bodies = []
    for name, place, length in (("a", 0 * out, crank), ("b", out, crank), ("ab", crank, out)):
        turns = name != "ab"
        center = place + 0.5 * length
        velocity = np.cross(spin, 0.5 * crank if turns else crank)
        mass = zw.inertia.rod(1.0, np.linalg.norm(length), axis=length)
        bodies.append(
            m.body(
                name,
                inertia=mass,
                position=center,
                velocity=velocity,
                angular_velocity=spin if turns else (0, 0, 0),
            )
        )
    a, b, ab = bodies
    m.revolute("foot", m.ground, a, at=0 * out, axis="y")
    m.revolute("other", m.ground, b, at=out, axis="y")
    m.revolute("head", a, ab, at=crank, axis="y")
    m.revolute("last", ab, b, at=out + crank, axis="y")
    return m


@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_a_reaction_is_watched_from_a_singular_start_on(angle):
    m = parallelogram(angle)
    times = np.linspace(0.0, 0.4, 41)
    level = float(m.simulate(until=0.4, save=times)["foot.force.z"][25])
    run = m.simulate(until=0.4, save=times, events={"e": zw.event("foot.force.z", at=level)})
    assert min(abs(e.t - times[25]) for e in run.events) < 1e-9


def test_an_output_that_depends_on_itself_is_refused():
    m = whirling()
    m.output("one", lambda c: c["other"])
    m.output("other", lambda c: c["one"])
    with pytest.raises(zw.InputError, match="depends on itself: one → other → one"):
        m.simulate(until=0.1)["one"]
    with pytest.raises(zw.InputError, match="depends on itself"):
        m.simulate(until=0.1, events={"e": zw.event("one")})


def test_a_magnitude_that_only_touches_zero_is_refused():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    with pytest.raises(zw.InputError, match=r"never below zero.* pin\.force\.x"):
        m.simulate(until=0.1, events={"loose": zw.event("pin.force.magnitude")})
