"""With an interval to save at, the end of a motion is saved, whatever ends it."""

import numpy as np
import pytest

import zwang as zw

#: A fall of a metre or two at a tolerance of 1e-9.
FALL = 1e-8
HEIGHT, GRAVITY = 1.0, 9.81
#: When a body that falls from rest has fallen by the height.
LANDS = np.sqrt(2.0 * HEIGHT / GRAVITY)


@pytest.fixture(scope="module")
def falling():
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    ball = m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, HEIGHT))
    m.prismatic("rail", m.ground, ball, at=(0, 0, HEIGHT), axis="z")
    return m


def stop():
    return {"floor": zw.event(lambda q: q[2], "stop")}


def test_an_end_that_is_no_multiple_is_saved(falling):
    run = falling.simulate(until=0.25, save=0.1)
    assert np.array_equal(run.t, [0.0, 0.1, 0.2, 0.25])
    assert abs(run["rail.displacement"][-1] + 0.5 * GRAVITY * 0.25**2) < FALL
    assert np.array_equal(falling.simulate(until=0.25, save=0.1).t, run.t)  # in the same loop


@pytest.mark.parametrize("interval", [0.1, 1.0 / 3.0, 0.05])
def test_an_end_that_is_a_multiple_is_saved_once(falling, interval):
    run = falling.simulate(until=3 * interval, save=interval)
    assert len(run) == 4
    assert run.t[-1] <= 3 * interval


def test_times_that_are_given_stay_as_they_are(falling):
    times = np.array([0.05, 0.1, 0.4, 0.7])
    assert np.array_equal(falling.simulate(until=1.0, save=times).t, times)
    run = falling.simulate(until=1.0, save=times, events=stop())
    assert np.array_equal(run.t, times[:3])


def test_the_state_in_which_an_event_stops_is_saved(falling):
    run = falling.simulate(until=1.0, save=0.1, events=stop())
    assert np.array_equal(run.t[:-1], 0.1 * np.arange(5))
    assert run.t[-1] == run.events[0].t
    assert abs(run.t[-1] - LANDS) < FALL
    assert abs(run["rail.displacement"][-1] + HEIGHT) < FALL
    assert abs(run.at(0.43).q[2] - HEIGHT + 0.5 * GRAVITY * 0.43**2) < FALL


def test_last_states_of_an_ensemble_are_those_of_their_events(falling):
    starts = [falling.assemble(velocity={"hold": {"rail.displacement_rate": v}}) for v in (0, 1)]
    runs = falling.simulate_many(starts, until=1.0, save=0.3, events=stop())
    q, v = runs.last
    assert np.abs(q[:, 2]).max() < FALL
    assert np.abs(v[:, 2] + np.sqrt(2.0 * GRAVITY * HEIGHT + np.array([0.0, 1.0]))).max() < FALL


def test_stored_runs_that_stop_are_verified(falling, tmp_path):
    run = falling.simulate(until=1.0, save=0.1, events=stop(), store=tmp_path / "a.run")
    loaded = zw.load(tmp_path / "a.run", falling.system)
    assert np.array_equal(loaded.t, run.t)
    assert loaded.settings.stop_saved
    assert zw.verify(tmp_path / "a.run", falling.system)
    falling.simulate(until=1.0, save=0.1, events=stop()).save(tmp_path / "b.run")
    assert zw.verify(tmp_path / "b.run", falling.system)
