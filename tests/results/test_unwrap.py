"""Angles over full turns from saved states that are far apart, without endless work."""

import numpy as np
import pytest

from zwang.results.unwrap import MOST_ASKED, followed
from zwang.terms import FloatArray


class Spin:
    """An angle a sin(w t) + b t², modulo 2π, that counts what it is asked."""

    def __init__(self, a: float, w: float, b: float) -> None:
        self.a, self.w, self.b, self.calls, self.asked = a, w, b, 0, 0

    def exact(self, t: FloatArray) -> FloatArray:
        return self.a * np.sin(self.w * t) + self.b * t**2

    def states(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        rate = self.a * self.w * np.cos(self.w * t) + 2.0 * self.b * t
        return np.angle(np.exp(1j * self.exact(t))), rate

    def between(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        self.calls, self.asked = self.calls + 1, self.asked + t.size
        return self.states(t)


@pytest.mark.parametrize("motion", [(30.0, 5.0, 0.0), (0.0, 1.0, 40.0), (8.0, 9.0, -3.0)])
def test_turns_between_states_far_apart_are_counted(motion: tuple[float, float, float]) -> None:
    spin, t = Spin(*motion), np.linspace(0.0, 10.0, 41)
    found = followed(t, *spin.states(t), spin.between)
    np.testing.assert_allclose(found, spin.exact(t), atol=1e-9)
    assert spin.calls <= 4  # all that is in doubt is asked for together


def test_a_motion_that_diverged_is_not_followed_for_ever() -> None:
    t = np.linspace(0.0, 10.0, 100_001)
    spin = Spin(1e9, 1e6, 0.0)
    found = followed(t, *spin.states(t), spin.between)
    assert np.isfinite(found).all()
    assert spin.asked == 0  # no pieces would show 1e11 rad within a tenth of a millisecond
    spin = Spin(1e6, 1e3, 0.0)
    followed(t, *spin.states(t), spin.between)
    assert spin.asked <= 4 * MOST_ASKED


def test_no_state_and_one_state_have_no_turns() -> None:
    spin = Spin(1.0, 1.0, 1.0)
    for count in (0, 1):
        t = np.zeros(count)
        assert len(followed(t, *spin.states(t), spin.between)) == count


def test_an_angle_does_not_depend_on_the_times_saved_before_it():
    t = np.linspace(0.0, 20.0, 2001)
    angle, rate = 2.7 * t + np.sin(t) + 0.1, 2.7 + np.cos(t)
    wrapped = np.arctan2(np.sin(angle), np.cos(angle))

    def between(times):
        raise AssertionError(times)  # none of these is in doubt

    fine = followed(t, wrapped, rate, between)
    coarse = followed(t[::7], wrapped[::7], rate[::7], between)
    np.testing.assert_allclose(fine, angle, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(coarse, fine[::7])
