"""A run says where a law of an actuator jumps because an angle passes half a turn."""

import pickle

import numpy as np
import pytest

import zwang as zw

#: A wheel without friction turns by this angle, beyond half a turn.
GOAL = 10.0


def _wheel(law, plane="xz", **parameters):
    m = zw.Mechanism(plane=plane, parameters={"gain": 0.5, "goal": GOAL, "torque": 0.0})
    wheel = m.body("wheel", mass=1.0, inertia=0.01 if plane else (0.01, 0.01, 0.01))
    m.revolute("axle", m.ground, wheel, at=(0, 0, 0), axis="y")
    m.actuator("motor", "axle.angle", law)
    return m


def _to_goal(c, p):
    return p.gain * (p.goal - c["axle.angle"]) - 0.1 * c["axle.angle_rate"]


def _told(run):
    return [note for note in run.notes if "half a turn" in note]


@pytest.mark.parametrize("plane", [None, "xz"])
@pytest.mark.parametrize("save", [None, 0.01])
def test_a_law_that_jumps_at_half_a_turn_is_told(plane, save, tmp_path):
    m = pickle.loads(pickle.dumps(_wheel(_to_goal, plane)))
    run = m.simulate(until=1.0, save=save, store=tmp_path / "run")
    assert run["axle.angle"][-1] > GOAL  # and does not come to rest there
    (note,) = _told(run)
    assert "axle.angle passes half a turn" in note
    assert "actuator motor" in note
    assert "zw.controller" in note
    passed = run.t[run["axle.angle"] <= np.pi][-1]
    assert f"after t = {passed:.6g} s" in note
    assert _told(zw.load(tmp_path / "run", m)) == [note]


def test_every_run_of_an_ensemble_is_told_by_its_own_parameters():
    runs = _wheel(_to_goal).simulate_many(parameters={"goal": [1.0, GOAL]}, until=1.0, save=0.01)
    assert [len(_told(run)) for run in runs] == [0, 1]


@pytest.mark.parametrize(
    "law",
    [
        lambda c: 0.5 + 0.0 * c["axle.angle"],
        lambda c: 0.5 + 0.2 * np.sin(3.0 * c["axle.angle"]) * np.cos(c["axle.angle"]),
        lambda c: 0.5 - 0.01 * c["axle.angle_rate"],
        lambda t, p: 0.5 * np.cos(0.1 * t),
        0.5,
    ],
)
def test_laws_that_go_on_over_full_turns_are_not_told(law):
    run = _wheel(law).simulate(until=2.0, save=0.01)
    assert run["axle.angle"][-1] > 2.0 * np.pi
    assert not _told(run)


def test_a_law_that_is_zero_at_half_a_turn_is_not_told():
    """Sines of both sides are 1e-16 and -1e-16 there, which is a large difference of nothing."""
    m = _wheel(lambda c: -0.02 * np.sin(c["axle.angle"]))
    start = m.assemble(velocity={"hold": {"axle.angle_rate": 9.0}})
    run = m.simulate(start, until=2.0, save=0.01)
    assert run["axle.angle"][-1] > 2.0 * np.pi
    assert not _told(run)


def test_a_law_that_jumps_is_not_told_before_half_a_turn():
    run = _wheel(lambda c: 1.0 * (1.0 - c["axle.angle"])).simulate(until=5.0)
    assert 1.9 < run["axle.angle"].max() < np.pi
    assert not _told(run)


def test_a_sampled_controller_leads_to_the_goal_as_the_note_says():
    m = _wheel(lambda p: p.torque)

    def law(sample):
        error = GOAL - sample["axle.angle"]
        return {"torque": 0.5 * error - 0.1 * sample["axle.angle_rate"]}

    run = m.simulate(until=3.0, controllers={"motor": zw.controller(law, 0.01)})
    assert abs(run["axle.angle"][-1] - GOAL) < 1e-3
    assert not _told(run)
