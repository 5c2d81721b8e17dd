"""Closed forms end in time, wherever they are, and say how far they came."""

import threading
import time

import pytest

from zwang import library
from zwang.closed_form.budget import STAGES, Budget, DerivationProgress
from zwang.errors import InputError, NotApplicableError


def test_what_takes_too_long_is_given_up_with_what_was_done():
    with pytest.raises(NotApplicableError) as caught:
        library.spherical_pendulum().derive(seconds=1e-9)
    assert (
        "must be derived within 1e-09 s, but after this time it is still reading the terms"
        in str(caught.value)
    )
    assert "derive(seconds=…)" in str(caught.value)


def asking_nobody(most):
    """Two steps of three, of which the second never looks at the budget."""
    started = time.thread_time()
    with Budget(0.5) as budget:
        budget.begin(1, 3)
        budget.step()
        while time.thread_time() - started < most:
            pass


def test_a_step_that_asks_nobody_is_interrupted():
    """As one division of long polynomials is, which may take hours."""
    with pytest.raises(NotApplicableError, match="solving for the acceleration: 1 of 3"):
        asking_nobody(most=60.0)


def test_a_budget_that_ends_in_time_leaves_nothing_behind():
    before = threading.active_count()
    with Budget(1e9) as budget:
        budget.begin(0, 1)
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before


def test_progress_grows_from_stage_to_stage():
    parts = [DerivationProgress(s, k, 4, 0.0).part for s in STAGES for k in range(5)]
    assert parts == sorted(parts)
    assert (parts[0], parts[-1]) == (0.0, 1.0)
    assert str(DerivationProgress(STAGES[0], 1, 4, 0.0)) == "reading the terms: 1 of 4"


@pytest.mark.parametrize("seconds", [0.0, -1.0, "long"])
def test_time_is_a_positive_number(seconds):
    with pytest.raises(InputError, match="seconds must be a positive number"):
        Budget(seconds)
