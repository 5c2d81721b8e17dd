"""Modes and equilibria as runs that can be drawn."""

from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.library import four_bar, parallelogram


def test_a_drawn_mode_is_on_the_constraints_and_is_the_mode_to_first_order() -> None:
    eq = four_bar(planar=False).equilibrium()
    (mode,) = eq.linearization.modes()
    errors = []
    for amplitude in (1e-3, 1e-4):
        run = mode.animate(amplitude, frames=9)
        assert run.worst_residual < 1e-12
        for k, angle in enumerate(np.linspace(0.0, 2.0 * np.pi, 9)):
            first = np.real(amplitude * mode.displacement * np.exp(1j * angle))
            errors.append(np.abs(run.q[k] - eq.q - first).max() / amplitude**2)
        # What is left is of second order: it does not grow as the amplitude falls.
    assert max(errors) < 5.0
    assert max(errors[9:]) == pytest.approx(max(errors[:9]), rel=0.05)


def test_a_drawn_mode_has_the_velocities_of_its_displacements() -> None:
    (mode,) = four_bar().equilibrium().linearization.modes()
    run = mode.animate(1e-4, frames=5)
    ahead, behind = run.at(run.t[1] + 1e-5), run.at(run.t[1] - 1e-5)
    system = run.system
    rate = system.position_rate(run.q[1], run.v[1])
    # Second order in the amplitude, and the stencil's own error.
    np.testing.assert_allclose((ahead.q - behind.q) / 2e-5, rate, atol=1e-7)


def test_a_cycle_closes_and_lasts_a_period() -> None:
    (mode,) = parallelogram().equilibrium().linearization.modes()
    run = mode.animate(cycles=2, frames=41)
    assert run.t[-1] == pytest.approx(2.0 / mode.hertz)
    np.testing.assert_allclose(run.q[0], run.q[-1], atol=1e-12)
    turned = max(np.abs(run[name] - run[name][10]).max() for name in run.system.channels[:3:2])
    assert 0.05 < turned <= 2.0 * 0.3 * 1.1


def test_a_mode_that_does_not_oscillate_swings() -> None:
    free = zw.System(["x"], mass=lambda: np.eye(1), force=lambda q: [9.0 * q[0]])
    growing = max(free.linearize([0.0]).modes(), key=lambda m: m.eigenvalue.real)
    run = growing.animate(0.5)
    assert run.t[-1] == pytest.approx(1.0)
    assert np.ptp(run["x"]) == pytest.approx(1.0, rel=1e-2)


def test_an_equilibrium_is_a_run_of_one_state_with_its_reactions() -> None:
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    beam = m.body("beam", mass=2.0, inertia=np.eye(3), position=(0.5, 0.0, 0.0))
    m.fixed("wall", "ground", beam, at=(0.0, 0.0, 0.0))
    eq = m.equilibrium()
    run = eq.as_run()
    static = eq.reaction("wall").force
    assert static is not None
    np.testing.assert_allclose(run.reaction("wall").force[0], static, atol=1e-12)
    assert len(run) == 1


@pytest.mark.parametrize(
    ("given", "word"),
    [({"amplitude": -1.0}, "amplitude"), ({"frames": 1}, "frames"), ({"cycles": 0.0}, "cycles")],
)
def test_bad_choices_are_refused(given: dict[str, Any], word: str) -> None:
    (mode,) = four_bar().equilibrium().linearization.modes()
    with pytest.raises(zw.InputError, match=word):
        mode.animate(**given)
