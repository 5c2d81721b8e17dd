"""The worked examples are evaluated by the compiled kernel to what `solve` gives, and timed."""

import numpy as np
import pytest

from benchmarks import real_time

EXAMPLES = real_time.examples()


@pytest.mark.inventory("UK-26")
@pytest.mark.parametrize("title", EXAMPLES)
def test_what_is_timed_is_the_motion(title):
    system, state = EXAMPLES[title]
    evaluation = real_time.Evaluation(system, state)
    evaluation(1)
    if evaluation.program.carrier is None:
        rate, solution = system.position_rate(state), system.solve(state)
        size = 1.0 + np.abs(solution.acceleration).max()
        assert np.abs(evaluation.v_dot - solution.acceleration).max() <= 1e-11 * size
        assert evaluation.q_dot == pytest.approx(rate)
        assert np.abs(solution.acceleration).max() > 0.0


@pytest.mark.inventory("UK-26")
def test_an_evaluation_has_a_time_both_ways():
    system, state = EXAMPLES["UK example 1, spherical pendulum"]
    found = real_time.timing(system, state, seconds=0.01)
    assert found.compiled > 0.0
    assert found.solve > 0.0
    assert len(EXAMPLES) == 9
