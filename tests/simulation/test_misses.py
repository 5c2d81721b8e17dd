"""By how much states miss constraints, in one compiled call, against the residuals by name."""

import numpy as np
import pytest

from zwang import library
from zwang.equations.elements import ElementEquations

#: The same sums in another order.
ROUNDING = 1e-12


@pytest.mark.parametrize("bodies", [3, 30])
def test_the_largest_miss_is_that_of_the_residuals(bodies):
    system = library.chain(bodies).system
    assert isinstance(system.equations, ElementEquations) == (bodies == 30)
    start, rng = system.assemble(), np.random.default_rng(2)
    y = np.concatenate([start.q, start.v])
    states = y + 0.1 * rng.standard_normal((4, len(y)))
    states[:, len(start.q) :] *= 10.0
    p, nq, times = system.parameter_vector(), len(start.q), np.linspace(0.0, 1.0, 4)
    found = system.equations.residuals_at(states[:, :nq], states[:, nq:], times, p)
    placed, moving = np.abs(found.position).max(), np.abs(found.velocity).max()
    assert moving > placed > 1e-2
    assert system.equations.largest_miss(states, times, p) == pytest.approx(moving, rel=ROUNDING)
    y[nq:] = 0.0
    y[: nq // 2] *= 1.1
    found = system.equations.residuals_at(y[:nq], y[nq:], times[0], p)
    placed, moving = np.abs(found.position).max(), np.abs(found.velocity).max()
    assert placed > moving
    assert system.equations.largest_miss(y[None], times[:1], p) == pytest.approx(
        placed, rel=ROUNDING
    )


def test_what_is_no_number_misses_by_infinity():
    system = library.chain(3).system
    start = system.assemble()
    y = np.concatenate([start.q, start.v])[None].copy()
    y[0, 0] = np.nan
    assert system.equations.largest_miss(y, np.zeros(1), system.parameter_vector()) == np.inf


def test_accelerations_by_the_rows_that_act_meet_all_or_are_told():
    """Bricard's loop in joint coordinates: one acceleration is right, another is not."""
    system = library.bricard().system
    run = system.simulate(system.assemble(), until=0.1, save=[0.05])
    q, v, p = run.q[0], run.v[0], system.parameter_vector()
    y, a = np.concatenate([q, v])[None], system.solve(q, v).acceleration
    assert run.ranks[0].dependent_rows > 0
    assert system.equations.agree(y, 0.05, p[None], a[None]).all()
    a[3] += 1.0
    assert not system.equations.agree(y, 0.05, p[None], a[None]).any()
