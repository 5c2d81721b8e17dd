"""Angles of joints over full turns, however far apart the saved times are."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw

#: The run follows its driver to rounding; a lost turn would be 6.28.
FOLLOWED = 1e-7


def uneven(t):
    """A motor that runs on, and swings by several turns to and fro: up to 71 rad/s."""
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
