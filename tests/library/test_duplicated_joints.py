"""Every joint of a mechanism twice: the same motion, each pair carries what one joint carried."""

import numpy as np
import pytest
from mechanism_cases import CASES, every

from zwang.diagnosis.passport import Status, passport_terms

#: Motion with and without the copies [m, rad, m/s, rad/s], relative to the velocities' size.
UNCHANGED = 1e-10
#: Reactions at one state, relative to the largest.
SAME_REACTION = 1e-9


def duplicated(case):
    """The mechanism with a copy ``…_again`` of every joint."""
    m = case.build()
    for joint in list(m._joints.values()):
        m._add_joint(
            f"{joint.name}_again", joint.kind, joint.a, joint.b, joint.layout, joint.numbers
        )
    return m


@pytest.mark.parametrize("case", every(CASES, only=("four_bar", "door")))
def test_copies_of_all_joints_change_no_motion(case):
    choices = {"until": case.until / 2, "tolerance": 1e-12, "save": case.until / 4}
    once, twice = case.build().simulate(**choices), duplicated(case).simulate(**choices)
    assert once.finished
    assert twice.finished
    size = max(1.0, np.abs(once.v).max())
    assert np.abs(once.q - twice.q).max() < UNCHANGED * size
    assert np.abs(once.v - twice.v).max() < UNCHANGED * size * max(1.0, np.abs(once.v).max())


@pytest.mark.parametrize("case", every(CASES, only=("parallelogram", "rolling_coin")))
def test_a_pair_carries_what_one_joint_carried(case):
    m, double = case.build(), duplicated(case)
    state = m.assemble()
    once, twice = (x.terms(state) for x in (m, double))
    joints = m.parts.joints.values()
    alone = passport_terms(once, {j.name: (j.name,) for j in joints})
    pairs = {j.name: (j.name, f"{j.name}_again") for j in joints}
    together = passport_terms(twice, pairs)
    single = passport_terms(twice, {j.name: (j.name,) for j in joints})
    solved, again = (x.solve(state) for x in (m, double))
    assert np.allclose(solved.acceleration, again.acceleration, rtol=0, atol=scale(solved) * 1e-10)
    for joint in joints:
        # A copy alone is open wherever it carries anything at all.
        assert single.groups[joint.name].status is not Status.DETERMINATE
        before, now = alone.groups[joint.name], together.groups[joint.name]
        assert (before.status is Status.DETERMINATE) == (now.status is Status.DETERMINATE)
        if before.status is Status.DETERMINATE:
            force = force_of(once, solved, (joint.name,))
            sum_of_pair = force_of(twice, again, pairs[joint.name])
            assert np.abs(force - sum_of_pair).max() < SAME_REACTION * scale(solved)


def test_reactions_of_a_run_are_shared_by_the_copies():
    """Of a four-bar, which is determinate: half each, and flagged."""
    case = next(c for c in CASES if c.name == "four_bar")
    once, twice = (m.simulate(until=0.1, save=0.05) for m in (case.build(), duplicated(case)))
    for name in "ABCD":
        before, now, copy = (
            once.reaction(name),
            twice.reaction(name),
            twice.reaction(f"{name}_again"),
        )
        assert before.determinate.all()
        assert not now.determinate.any()
        assert not copy.determinate.any()
        assert np.abs(now.force + copy.force - before.force).max() < 1e-7


def force_of(terms, solution, elements):
    """Generalized force of some rows."""
    rows = [
        i
        for i in range(terms.constraint_count)
        if terms.name(i).rpartition("[")[0] in elements or terms.name(i) in elements
    ]
    return terms.constraint_matrix[rows].T @ solution.multipliers[rows]


def scale(solution):
    """Size of accelerations and forces."""
    return max(1.0, np.abs(solution.acceleration).max(), np.abs(solution.constraint_force).max())
