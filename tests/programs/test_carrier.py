"""How far a state is from where its coordinates lead back to."""

import numpy as np
import pytest

from zwang.programs.coordinate_change import distance


def test_distances_are_relative_to_the_largest_entry_or_to_one():
    y = np.array([0.25, -0.5])
    assert distance(y + [0.0, 0.125], y) == 0.125
    assert distance(8.0 * y + [0.0, 0.125], 8.0 * y) == 0.125 / 4.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_number_is_near_nothing(bad, place):
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.5])
    spoilt = x.copy()
    spoilt[place] = bad
    assert not distance(spoilt, y) <= 1e300
    assert not distance(x, spoilt) <= 1e300
