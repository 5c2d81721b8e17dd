"""Formulas for each entry: compiled for any number of lanes, they give what NumPy gives."""

import numpy as np
import pytest

from zwang.codegen.elementwise import elementwise, greater, weighted
from zwang.codegen.jit import loop

WEIGHTS = np.array([0.5, 0.0, -2.0, 0.25])
#: A product and a sum may be rounded once or twice: some last digits of the largest term.
ROUNDING = 1e-15

step = elementwise(lambda y, h, K: y + h * weighted(WEIGHTS, K))
several = elementwise(
    lambda y, z, factor: (1.0 / (factor * (y + greater(abs(y), abs(z)))), y - z / 3.0)
)


@loop
def steps(lanes, out, y, h, K):
    step(lanes, (out,), y, h, K)


@loop
def several_at_once(lanes, first, second, y, z, factor):
    several(lanes, (first, second), y, z, factor)


def arrays(entries, lanes):
    rng = np.random.default_rng(entries + 10 * lanes)
    y, z = rng.uniform(0.5, 1.5, (2, entries, lanes))
    return y, z, rng.normal(size=lanes), rng.normal(size=(len(WEIGHTS), entries, lanes))


@pytest.mark.parametrize("lanes", [1, 3, 4, 8])
@pytest.mark.parametrize("entries", [1, 2, 3, 4, 7, 16])
def test_compiled_formulas_give_what_numpy_gives(entries, lanes):
    y, z, h, K = arrays(entries, lanes)
    beyond = np.full((entries + 1, lanes), 7.0)
    out = beyond[:entries]
    steps((0,) * lanes, out, y, h, K)
    np.testing.assert_allclose(
        out, y + h * np.einsum("j,jik->ik", WEIGHTS, K), rtol=0, atol=20 * ROUNDING
    )
    assert (beyond[entries] == 7.0).all()
    first, second = np.empty_like(y), np.empty_like(y)
    several_at_once((0,) * lanes, first, second, y, z, 3.0)
    np.testing.assert_allclose(first, 1 / (3 * (y + np.maximum(y, z))), rtol=ROUNDING)
    np.testing.assert_allclose(second, y - z / 3, rtol=0, atol=ROUNDING)


def test_an_entry_is_the_same_number_in_any_lane_and_place():
    y, _, h, K = arrays(5, 4)
    together = np.empty_like(y)
    steps((0,) * 4, together, y, h, K)
    for lane in range(4):
        alone = np.empty((5, 1))
        one = np.ascontiguousarray(K[:, :, lane : lane + 1])
        steps((0,), alone, y[:, lane : lane + 1].copy(), h[lane : lane + 1].copy(), one)
        assert alone[:, 0].tobytes() == together[:, lane].tobytes()
        for i in range(5):
            single = np.empty((1, 1))
            steps(
                (0,),
                single,
                y[i : i + 1, lane : lane + 1].copy(),
                h[lane : lane + 1].copy(),
                one[:, i : i + 1].copy(),
            )
            assert single[0, 0] == together[i, lane]


def test_a_result_may_be_written_over_its_argument():
    y, _, h, K = arrays(6, 1)
    out = y.copy()
    steps((0,), out, out, h, K)
    apart = np.empty_like(y)
    steps((0,), apart, y, h, K)
    assert out.tobytes() == apart.tobytes()


def test_formulas_run_in_python_as_well():
    y, z, h, K = arrays(3, 2)
    out, other = np.empty_like(y), np.empty_like(y)
    step((0, 0), (out,), y, h, K)
    np.testing.assert_allclose(out, y + h * np.einsum("j,jik->ik", WEIGHTS, K), rtol=0, atol=1e-14)
    several((0, 0), (out, other), y, z, 2.0)
    np.testing.assert_allclose(out, 1 / (2 * (y + np.maximum(y, z))))


def test_arrays_that_are_not_contiguous_are_refused():
    y, _, h, K = arrays(4, 2)
    with pytest.raises(Exception, match="gaps"):
        steps((0,), np.empty((4, 1)), y[:, :1], h[:1], K[:, :, :1])
