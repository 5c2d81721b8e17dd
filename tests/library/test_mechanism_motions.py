"""Redundant mechanisms and singular positions, over ten seconds, against one-freedom references.

The references are in `tests/reference/mechanisms.json`, with the script that made them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from zwang import library

STORED = {
    motion["name"]: motion
    for motion in json.loads(
        (Path(__file__).parents[1] / "reference" / "mechanisms.json").read_text(encoding="utf-8")
    )
}
#: What is asked of positions after ten seconds [m].
POSITION = 1e-7
#: Reactions follow from accelerations, and these from positions through g/L ≈ 10 [N].
REACTION = 1e-5
#: Rates of the joints at speeds of up to 8 m/s; within 0.01 rad of a flat position a projection
#: onto rows that are nearly dependent leaves 8e-13.
RATE = 2e-12

slow = pytest.mark.campaign


def stored(name, key):
    """Numbers at whole seconds, the start left out."""
    return np.array(STORED[name][key], dtype=float)


def simulated(name, tolerance=1e-11, integrator="order8", **options):
    motion = STORED[name]
    m = getattr(library, motion["mechanism"])(**motion["options"], **options)
    run = m.simulate(until=10.0, tolerance=tolerance, save=1.0, integrator=integrator)
    assert run.finished
    for residuals in run.residuals:  # one for each choice of rows that acted
        assert np.abs(residuals.position).max(initial=0.0) < 1e-13
        assert np.abs(residuals.velocity).max(initial=0.0) < RATE
    return run


# --- four-bars: through flat positions, where the equations lose rank -----------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("four_bars_1", {}),
        ("four_bars_2", {}),
        pytest.param("four_bars_2", {"planar": False}, marks=slow),
        pytest.param("four_bars_40", {}, marks=slow),
    ],
)
def test_four_bars_stay_parallelograms(name, options):
    run = simulated(name, **options)
    theta = stored(name, "angle")
    assert theta[-1] > 4 * np.pi  # many flat positions have been passed
    for i in range(STORED[name]["options"]["n"] + 1):
        tip = run.body(f"crank{i}").point((0.5, 0.0, 0.0))[1:]
        expected = np.transpose([i + np.sin(theta), np.zeros(10), np.cos(theta)])
        assert np.abs(tip - expected).max() < POSITION


def test_pins_of_one_four_bar_carry_what_newton_and_euler_say():
    """Forces on the coupler at its left and right end; it moves in parallel, so both ends share.

    F_z = ½ m (z̈ + g), and about the foot of a crank, clockwise,
    ⅓ m L² θ̈ = ½ m g L sin θ − L (F_x cos θ − F_z sin θ).
    """
    name = "four_bars_1"
    run = simulated(name)
    theta, rate, acceleration = (stored(name, k) for k in ("angle", "rate", "acceleration"))
    s, c = np.sin(theta), np.cos(theta)
    up = -s * acceleration - c * rate**2
    along = 9.81 / 2.0 * s - acceleration / 3.0
    F_z = (up + 9.81) / 2.0
    F_x = (along + F_z * s) / c
    left, right = run.reaction("left1"), run.reaction("right1")
    assert left.determinate.all()
    away = np.abs(c) > 0.1  # at flat positions the horizontal force is left open
    for force in (left.force[1:], -right.force[1:]):
        assert np.abs(force[:, 2] - F_z).max() < REACTION
        assert np.abs(force[away, 0] - F_x[away]).max() < REACTION


# --- three cranks: one more than needed -----------------------------------------------------------


@pytest.mark.parametrize("planar", [True, pytest.param(False, marks=slow)])
@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("integrator", ["order8", "gauss"])
def test_three_cranks_move_together_through_flat_positions(planar, tolerance, integrator):
    """Near flat positions another row is the redundant one than near upright ones."""
    run = simulated("parallelogram", planar=planar, tolerance=tolerance, integrator=integrator)
    theta = stored("parallelogram", "angle")
    for i in range(3):
        tip = run.body(f"crank{i}").point((0.5, 0.0, 0.0))[1:]
        expected = np.transpose([0.8 * i + np.sin(theta), np.zeros(10), np.cos(theta)])
        assert np.abs(tip - expected).max() < 1e3 * tolerance


def test_three_cranks_share_the_beam_in_a_way_left_open():
    """The sum of their forces is m (a − g); across a crank each force follows from its own turn."""
    run = simulated("parallelogram")
    theta, rate, acceleration = (
        stored("parallelogram", k) for k in ("angle", "rate", "acceleration")
    )
    s, c = np.sin(theta), np.cos(theta)
    across = np.transpose([c, np.zeros(10), -s])
    inward = -np.transpose([s, np.zeros(10), c])
    needed = 1.6 * (across.T * acceleration + inward.T * rate**2).T + [0.0, 0.0, 1.6 * 9.81]
    pins = [run.reaction(f"B{i}") for i in range(3)]
    assert np.abs(sum(pin.force[1:] for pin in pins) - needed).max() < REACTION
    own = 9.81 / 2.0 * s - acceleration / 3.0  # ⅓ θ̈ = ½ g sin θ − F across the crank
    for pin in pins:
        assert not pin.determinate.any()
        assert np.abs(np.sum(pin.force[1:] * across, axis=1) - own).max() < REACTION


# --- door on three hinges -------------------------------------------------------------------------


def test_door_swings_as_a_pendulum_and_its_hinges_carry_it_together():
    run = simulated("door")
    theta, rate, acceleration = (stored("door", k) for k in ("angle", "rate", "acceleration"))
    corner = run.body("door").point((0.9, 0.0, 2.0))[1:]
    expected = np.transpose([0.9 * np.cos(theta), 0.9 * np.sin(theta), np.full(10, 2.0)])
    assert np.abs(corner - expected).max() < POSITION
    # Newton: Σ F = m (a − g) for the centre at half the width and half the height.
    out = np.transpose([np.cos(theta), np.sin(theta), np.zeros(10)])
    along = np.transpose([-np.sin(theta), np.cos(theta), np.zeros(10)])
    a = 0.45 * (along.T * acceleration - out.T * rate**2).T
    needed = 20.0 * (a - 9.81 * np.array([np.sin(0.1), 0.0, -np.cos(0.1)]))
    hinges = [run.reaction(f"hinge{k}") for k in (1, 2, 3)]
    assert np.abs(sum(h.force[1:] for h in hinges) - needed).max() < 20.0 * REACTION
    # Euler about the centre across the axis: J (α out × …) has no share there, as α is along z and
    # the plate is symmetric: the moments of all hinges about the centre vanish across z.
    center = run.body("door").center[1:]
    moment = sum(h.moment[1:] + np.cross(h.point[1:] - center, h.force[1:]) for h in hinges)
    assert np.abs(moment[:, :2]).max() < 20.0 * REACTION
    assert not any(h.determinate.any() for h in hinges)


# --- Bricard's loop -------------------------------------------------------------------------------


@slow
def test_bricard_moves_as_its_one_freedom_says():
    run = simulated("bricard")
    P3 = run.body("bar2").point((0.0, -0.5, 0.0))[1:]
    assert np.abs(P3 - stored("bricard", "P3")).max() < POSITION
    for k in (1, 3, 5):
        angle = run[f"hinge{k}.angle"][1:]
        assert np.abs(angle - stored("bricard", "first")).max() < POSITION
    # One force is left open within the loop; what the ground exerts altogether is not.
    first, last = run.reaction("hinge1"), run.reaction("hinge6")
    total = first.force[1:] - last.force[1:]  # the last hinge acts on its second body, the ground
    assert np.abs(total - stored("bricard", "support")).max() < REACTION
    assert not first.determinate.any()
    assert not last.determinate.any()
