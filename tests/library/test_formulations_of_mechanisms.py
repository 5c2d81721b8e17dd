"""Nikravesh's three formulations and the singular-mass form for every mechanism of the library."""

import numpy as np
import pytest
from mechanism_cases import CASES, every

from zwang import library
from zwang.equations.euler_parameters import OF_BODIES

#: Relative to the largest number of a state; 2e-14 is reached.
AGREEMENT = 1e-10


@pytest.mark.parametrize("case", every(CASES))
def test_accelerations_and_reactions_agree_at_random_states(case):
    m = case.build()
    state = library.states(case.name, np.random.default_rng(6), 3, **case.options)
    expected = m.solve(state)
    for name in OF_BODIES:
        found = m.solve(state, formulation=name)
        for what in ("acceleration", "constraint_force", "multipliers"):
            a, b = getattr(found, what), getattr(expected, what)
            size = np.maximum(1.0, np.abs(b).max(axis=-1, keepdims=True))
            assert (np.abs(a - b) / size).max() < AGREEMENT, (name, what)
