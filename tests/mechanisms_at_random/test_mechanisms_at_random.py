"""Mechanisms at random move as their full terms say, in all coordinates, by all integrators.

    python -m pytest tests/mechanisms_at_random                       a slice
    python -m pytest -m campaign tests/mechanisms_at_random -n 2 -rP  the whole, some hours

`campaign.py` runs the same in pieces, and `trial.py` one mechanism again.
"""

import numpy as np
import pytest
from campaign import campaign, schedule, table
from referee import Referee
from trial import FAMILIES, INTEGRATORS, Outcome, combinations, compared, drawn_of, tried

#: Family, number, coordinates and integrator of those that run with every change.
SLICE = [
    ("hinged_tree", 0, "auto", "gauss"),
    ("mixed_tree", 1, "joint", "order8"),
    ("door", 0, "auto", "order5"),
    ("rolling_ball", 0, "auto", "gauss"),
    ("rack_and_pinion", 0, "joint", "radau5"),
    ("four_bar", 0, "auto", "rattle"),
    ("massless_coupler", 0, "auto", "gauss"),
    ("ring_of_masses", 0, "auto", "order8"),
    ("slider_crank_in_space", 0, "planar", "gauss"),
    ("spherical_four_bar", 0, "joint", "gauss"),
    ("platform_on_six_legs", 0, "auto", "order5"),
    ("sarrus_of_two", 7, "auto", "gauss"),
    ("bennett", 7, "auto", "gauss"),
    ("bricard_plane", 27, "joint", "order5"),  # has another assembly, in which it cannot move
    ("door_held", 7, "auto", "order8"),
    ("locked_triangle", 1, "auto", "gauss"),
    ("four_bar_viscous", 7, "auto", "gauss"),
    ("planetary", 1, "auto", "gauss"),
]


@pytest.mark.parametrize("task", SLICE, ids=lambda task: " ".join(map(str, task)))
def test_a_slice_agrees(task):
    outcome = tried(*task)
    assert outcome.right, f"\n{outcome}"


@pytest.mark.campaign
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_agrees_in_all_coordinates_by_all_integrators(family):
    outcomes = campaign(schedule([family]))
    print(table(outcomes))
    wrong = [outcome for outcome in outcomes if not outcome.right]
    assert not wrong, "\n" + "\n".join(map(str, wrong))


# ---------------------------------------------------------------------------- the checks themselves


class Mistaken:
    """A system whose simulations are those of another."""

    def __init__(self, system, **changes):
        self.system, self.changes = system, changes

    def __getattr__(self, name):
        return getattr(self.system, name)

    def simulate(self, *start, **choices):
        return self.system.simulate(*start, **choices, **self.changes)


def test_a_motion_under_slightly_wrong_gravity_is_noticed():
    referee, motion = drawn_of("four_bar", 0)
    right = compared(referee, motion, "auto", "order8")
    referee.system = Mistaken(referee.system, parameters={"gravity": (0.0, 0.0, -9.81002)})
    wrong = compared(referee, motion, "auto", "order8")
    assert (right[0], wrong[0]) == ("agrees", "mismatch")


def test_a_mechanism_that_hangs_still_is_noticed():
    referee, motion = drawn_of("door", 1)
    still = np.repeat(motion[3][:1], len(motion[3]), axis=0)
    wrong = compared(referee, (*motion[:3], still), "auto", "order8")
    assert wrong[0] == "mismatch"


def test_the_referee_keeps_energy_and_all_rows():
    """Of a linkage that the literature says moves, by terms of all rows and a rank counted."""
    for family in ("bennett", "goldberg", "bricard_plane", "sarrus_of_two"):
        referee, (q, v, times, Y) = drawn_of(family, 0)
        assert isinstance(referee, Referee)
        nq = len(q)
        E = [referee.energy(y[:nq], y[nq:]) for y in (Y[0], Y[-1])]
        assert abs(E[1] - E[0]) < 1e-8 * max(1.0, abs(E[0]))
        assert referee.missed(Y[-1], times[-1]) < 1e-9 * max(1.0, np.abs(v).max())
        assert np.abs(Y[-1] - Y[0]).max() > 0.01


def test_each_family_meets_each_choice_three_times():
    tasks = schedule(["door", "four_bar_in_space"])
    for family in ("door", "four_bar_in_space"):
        pairs = combinations(drawn_of(family, 0)[0].drawn)
        counts = [sum(task[0] == family and task[2:] == pair for task in tasks) for pair in pairs]
        assert min(counts) >= 3
        assert {pair[1] for pair in pairs} == set(INTEGRATORS)


def test_what_went_wrong_is_printed_with_the_line_that_makes_it_again():
    outcome = Outcome("door", 7, "auto", "gauss", "stopped", "no step is small enough")
    assert "trial.py door 7 auto gauss" in str(outcome)
    assert "stopped" in table([outcome])
