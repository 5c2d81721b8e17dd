"""Tolerances that rounding does not allow: a run goes on with what it leaves, and notes it.

Rows of Bennett's linkage that act come close to depending on each other in configurations that are
not singular; there rounding is divided by how close.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zwang as zw


def bennett() -> zw.Mechanism:
    """Bennett's linkage with sides of 0.5 and 0.8, its axes turned by 30° along the shorter one."""
    a, twist, b, first = 0.5, np.pi / 6, 0.8, 1.1
    other = np.arcsin(b * np.sin(twist) / a)
    ratio = np.sin((other + twist) / 2) / np.sin((other - twist) / 2)
    second = 2 * np.arctan(ratio / np.tan(first / 2))
    R, place, frames = np.eye(3), np.zeros(3), []
    for turn, (length, tilt) in zip(
        (first, second, -first, -second), ((a, twist), (b, other)) * 2, strict=True
    ):
        frames.append((R.copy(), place))
        c, s, ct, st = np.cos(turn), np.sin(turn), np.cos(tilt), np.sin(tilt)
        R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        place = place + length * R[:, 0]
        R = R @ np.array([[1, 0, 0], [0, ct, -st], [0, st, ct]])
    g = np.array([0.3, -0.5, -0.81])
    m = zw.Mechanism(gravity=tuple(9.81 * g / np.linalg.norm(g)))
    bodies = [m.ground]
    for k, (mass, length) in enumerate(((1.2, a), (2.0, b), (0.9, a))):
        along = (frames[k + 1][1] - frames[k][1]) / length
        axis = frames[k][0][:, 2]
        turned = np.column_stack([along, np.cross(axis, along), axis])
        middle = (frames[k][1] + frames[k + 1][1]) / 2
        inertia = zw.inertia.box(mass, (length, 0.06, 0.04))
        bodies.append(m.body(f"link{k}", inertia=inertia, position=middle, orientation=turned))
    for k in range(4):
        pair = (bodies[k], bodies[k + 1]) if k < 3 else (m.ground, bodies[3])
        m.revolute(f"J{k + 1}", *pair, at=frames[k][1], axis=frames[k][0][:, 2])
    return m


@pytest.mark.parametrize("integrator", ["auto", "order8", "gauss"])
def test_a_run_goes_on_where_rounding_leaves_no_step_small_enough(integrator: str) -> None:
    m = bennett()
    run = m.simulate(
        until=3.0, tolerance=1e-14, save=0.05, integrator=integrator, coordinates="absolute"
    )
    assert run.finished, run.status
    notes = [note for note in run.notes if "rounding leaves no step small enough" in note]
    # Another processor, with other roundings, may find steps that are small enough.
    assert bool(notes) == (run.settings.tolerance > 1e-14)
    assert run.settings.tolerance <= 1e-12
    other = m.simulate(until=3.0, tolerance=1e-12, save=0.05, coordinates="absolute")
    assert np.abs(run.q - other.q).max() < 1e-8


def test_a_stored_run_keeps_the_tolerance_that_was_kept(tmp_path: Path) -> None:
    m, path = bennett(), tmp_path / "run"
    choices = {"until": 0.6, "tolerance": 1e-14, "save": 0.05, "coordinates": "absolute"}
    run = m.simulate(**choices, store=path)
    assert run.finished, run.status
    assert zw.load(path, m).settings.tolerance == run.settings.tolerance
    np.testing.assert_array_equal(run.q, m.simulate(**choices).q)


def test_a_tolerance_that_can_be_kept_is_kept() -> None:
    run = bennett().simulate(until=3.0, tolerance=1e-11, save=0.05)
    assert run.finished
    assert run.settings.tolerance == 1e-11
    assert not [note for note in run.notes if "rounding" in note]


def test_a_motion_that_ends_is_not_blamed_on_rounding() -> None:
    fall = zw.System(["x"], mass=lambda: np.eye(1), force=lambda q: [-1.0 / q[0] ** 2])
    run = fall.simulate([1.0], [0.0], until=2.0, tolerance=1e-13)
    assert not run.finished
    assert run.settings.tolerance == 1e-13
    assert "rounding" not in " ".join([run.status, *run.notes])


def test_the_second_run_of_an_error_estimate_goes_to_the_end() -> None:
    run = bennett().simulate(until=3.0, tolerance=1e-13, save=0.05)
    assert run.finished, run.status
    # Where it stopped, one of ten times the tolerance was taken, and its error was the estimate.
    assert len(run.again(1e-14, run.t)) == len(run.t)
    assert run.error_estimate().worst < 1e-8
