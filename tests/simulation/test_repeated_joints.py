"""Joints that are given twice: the program is that of the mechanism with each of them once."""

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.simulation.repeated_joints import RepeatedJoints


def doubled(m):
    """A mechanism with each of its joints a second time."""
    for call in list(m.description):
        if call.method == "joint":
            m.joint(**{**call.arguments, "name": f"{call.arguments['name']}_again"})
    return m


def chain(count):
    """Rods on pins, in space."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    before = m.ground
    for k in range(count):
        rod = m.body(
            f"rod{k}", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(k + 0.5, 0, 0)
        )
        m.revolute(f"pin{k}", before, rod, at=(k, 0, 0), axis="y")
        before = rod
    return m


MECHANISMS = {
    "planar": library.four_bar,
    "tree": lambda: chain(3),
    "large tree": lambda: chain(20),
    "rows left out": library.bricard,
}


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
def test_the_motion_is_that_of_each_joint_once_to_the_bit(make):
    once, twice = (m.simulate(until=0.3, save=0.1) for m in (make(), doubled(make())))
    assert np.array_equal(once.q, twice.q)
    assert np.array_equal(once.v, twice.v)
    assert once.counts == twice.counts


def test_all_rows_that_do_not_act_are_told():
    run = doubled(library.bricard()).simulate(until=0.1)
    assert any(note.startswith("31 of 60 constraint rows follow") for note in run.notes)
    assert run.ranks[0].dependent_rows == 31


def test_a_joint_that_is_moved_by_a_parameter_repeats_none():
    """Two hinges in one place, then the second somewhere else on the same axis."""
    m = doubled(chain(1))
    system = m.system
    repeated = RepeatedJoints.of(system.equations)
    assert repeated is not None
    assert repeated.left_out(system.parameter_vector()) is not None
    elsewhere = {"pin0_again.at_a": (0.0, 0.1, 0.0), "pin0_again.at_b": (-0.5, 0.1, 0.0)}
    p = system.parameter_vector(elsewhere)
    assert repeated.left_out(p) is None
    run = m.simulate(until=0.2, save=0.1, parameters=elsewhere)
    assert np.abs(run.q - m.simulate(until=0.2, save=0.1).q).max() < 1e-9


@pytest.mark.parametrize(
    "parameters",
    [
        {
            "pin0_again.at_a": [(0.0, y, 0.0) for y in (0.0, 0.1)],
            "pin0_again.at_b": [(-0.5, y, 0.0) for y in (0.0, 0.1)],
        },
        {"rod0.mass": [1.0, 2.0]},
    ],
    ids=["some repeat", "all repeat"],
)
def test_members_of_an_ensemble_are_as_alone(parameters):
    m = doubled(chain(2))
    together = m.simulate_many(until=0.2, save=0.1, parameters=parameters)
    for i, run in enumerate(together):
        given = {name: values[i] for name, values in parameters.items()}
        alone = m.simulate(until=0.2, save=0.1, parameters=given, integrator="order8")
        assert np.array_equal(run.q, alone.q)
        assert run.notes == alone.notes


def test_friction_shares_the_reactions_of_all_joints():
    m = doubled(chain(1))
    m.friction("pin0", coefficient=0.2, radius=0.05)
    run = m.simulate(until=0.1)
    assert run.finished
    assert not run.reaction("pin0").determinate.any()
