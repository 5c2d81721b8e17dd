"""Angles over full turns and states between saved times, however far apart these are."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw

#: The run follows its driver to rounding; a lost turn would be 6.28.
FOLLOWED = 1e-7


def uneven(t):
    """A motor that runs on, and swings by several turns both ways: up to 71 rad/s."""
    return 12.0 * t + 20.0 * np.sin(3.0 * t) - 3.0 * np.sin(7.0 * t)


@pytest.mark.parametrize("plane", ["xz", None])
@pytest.mark.parametrize("save", [0.37, 1.0, [0.0, 4.0]])
def test_a_driven_angle_is_followed_between_saved_times(plane, save):
    m = zw.Mechanism(plane=plane)
    wheel = m.body("wheel", inertia=zw.inertia.cylinder(1.0, 0.2, 0.1, axis="y"))
    m.revolute("axle", m.ground, wheel, axis="y")
    m.drive("motor", "axle.angle", uneven)
    run = m.simulate(until=4.0, save=save)
    assert np.abs(run["axle.angle"] - uneven(run.t)).max() < FOLLOWED


def test_angles_are_followed_across_events_that_change_the_motion():
    m = zw.Mechanism(plane="xz", parameters={"torque": 2.0})
    wheel = m.body("wheel", mass=1.0, inertia=0.02)
    m.revolute("axle", m.ground, wheel)
    m.force("motor", wheel, torque=lambda p: p.torque)
    reverse = zw.event(lambda t: t - 1.0, zw.set_parameters(torque=-2.0))
    run = m.simulate(until=2.5, save=2.5, events={"reverse": reverse})
    # ω̇ = ±100 rad/s²: 50 rad up to the event, and 150 t' − 50 t'² after it with t' = 1.5 s.
    after = 1.5
    assert abs(run["axle.angle"][-1] - (50.0 + 100.0 * after - 50.0 * after**2)) < FOLLOWED


@pytest.mark.parametrize("save", [2.5, [0.0, 1.0, 2.5], None])
def test_states_are_known_after_events_between_saved_times(save, tmp_path):
    m = zw.Mechanism(parameters={"pull": 1.0})
    ball = m.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(2.0, 0, 0), free=True)
    m.force("spring", ball, lambda p: [-2.0 * p.pull, 0.0, 0.0])
    wall = zw.event("ball.x", zw.bounce(1.0), at=1.0, direction=-1)
    run = m.simulate(until=2.5, save=save, events={"wall": wall})
    # x = 2 − t² down to the wall at t = 1 s, thence 1 + 2 t' − t'².
    times = np.array([0.5, 1.0, 1.25, 2.0])
    expected = np.where(times < 1.0, 2.0 - times**2, 1.0 + 2.0 * (times - 1.0) - (times - 1.0) ** 2)
    assert np.abs(run.at(times).q[:, 0] - expected).max() < FOLLOWED
    run.save(tmp_path / "ball.run")
    again = zw.load(tmp_path / "ball.run", m)
    assert np.array_equal(again.at(times).q, run.at(times).q)
