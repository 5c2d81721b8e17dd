"""Contraction, order and chunks."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from builders import random_function, random_inputs, run

from zwang import codegen
from zwang.codegen.expression import StoreOutput, read
from zwang.codegen.schedule import contract, cut, gather_sines, share_reciprocals

OPERANDS = casadi.SX.sym("x", 4)
a, b, c, d = casadi.vertsplit(OPERANDS)


def operations_of(value: casadi.SX, transform=contract) -> list[str]:
    expression = transform(read(casadi.Function("f", [OPERANDS], [value])))
    return [
        operation for operation, _ in expression.instructions if operation not in {"input", "const"}
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (a * b + c, ["fma"]),
        (c + a * b, ["fma"]),
        (a * b - c, ["fms"]),
        (c - a * b, ["fnma"]),
        (a * a + c, ["fma"]),
        ((a + b) * c + d, ["add", "fma"]),
    ],
)
def test_a_product_joins_the_sum_it_goes_into(value, expected):
    assert operations_of(value) == expected


def test_a_sum_of_two_products_stays_as_it_is():
    assert sorted(operations_of(a * a - b * b)) == ["sq", "sq", "sub"]
    assert "fma" not in operations_of(a * d + b * c)
    assert "fnma" not in operations_of(a * d - 2 * (b * c))


def test_a_product_that_is_used_twice_is_computed_once():
    assert sorted(operations_of(casadi.vertcat(a * b + c, a * b))) == ["add", "mul"]


def test_a_difference_of_squares_of_equal_numbers_is_zero():
    function = casadi.Function("f", [OPERANDS], [a * a - b * b, a * d - b * c])
    inputs = np.array([1.1, 1.1, 0.7, 0.7])
    for found in run(read(function), [inputs[:, None]], lanes=1):
        assert found[0, 0] == 0.0


def test_contraction_changes_values_by_rounding_only():
    expression = read(random_function(2000, seed=5))
    inputs = random_inputs(expression, 1, np.random.default_rng(5))
    fused = run(expression, inputs, lanes=1, fma=True)
    plain = run(expression, inputs, lanes=1, fma=False)
    for found, expected in zip(fused, plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    assert any((f != p).any() for f, p in zip(fused, plain, strict=True))


def test_three_divisions_by_one_value_become_one():
    thrice = casadi.vertcat(a / d, b / d, c / d)
    assert operations_of(thrice, share_reciprocals) == ["inv", "mul", "mul", "mul"]
    with_reciprocal = casadi.vertcat(a / d, 1 / d, c / d)
    assert sorted(operations_of(with_reciprocal, share_reciprocals)) == ["inv", "mul", "mul"]
    twice = casadi.vertcat(a / d, b / d, c / b)
    assert operations_of(twice, share_reciprocals) == ["div", "div", "div"]


def test_shared_reciprocals_keep_directions_within_one():
    x = casadi.SX.sym("x", 3)
    length = casadi.sqrt(casadi.sumsqr(x))
    function = casadi.Function("f", [x], [x / length, casadi.acos(x / length)])
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 400)) * np.array([[1.0], [1e-9], [0.0]])
    kernel = codegen.compile(function)
    for vector in vectors.T:
        direction, angle = kernel(vector)
        assert abs(direction).max() <= 1.0
        assert np.isfinite(angle).all()
        expected = np.array(function(vector)[0]).ravel()
        np.testing.assert_allclose(direction, expected, rtol=4e-16)


def test_sines_and_cosines_of_one_angle_become_neighbours():
    value = casadi.sin(a) + b * c + casadi.exp(d) * casadi.cos(b) - casadi.cos(a) * casadi.sin(b)
    found = operations_of(value, gather_sines)
    assert found[:2] == ["sin", "cos"]
    place = found.index("cos", 2)
    assert "sin" in {found[place - 1], found[place + 1]}


def test_each_step_is_in_one_chunk_and_values_cross_through_their_slots():
    expression = gather_sines(contract(read(random_function(3000, seed=2))))
    plan = cut(expression, 40)
    assert len(plan.chunks) > 50
    steps = [step for chunk in plan.chunks for step in chunk]
    assert sorted(s for s in steps if isinstance(s, StoreOutput)) == sorted(expression.stores)
    computed = [s for s in steps if not isinstance(s, StoreOutput)]
    assert len(set(computed)) == len(computed) == expression.operation_count

    # Run the plan on names instead of numbers: a slot must still hold what a chunk reads from it.
    slots: dict[int, int] = {}
    for chunk in plan.chunks:
        known: set[int] = set()
        for step in chunk:
            if isinstance(step, StoreOutput):
                used = [step.value]
            elif expression.instructions[step][0] in {"input", "const"}:
                used = []
            else:
                used = expression.instructions[step][1]
            for value in used:
                if expression.instructions[value][0] not in {"input", "const"}:
                    assert value in known or slots[plan.slots[value]] == value
            if not isinstance(step, StoreOutput):
                known.add(step)
                if step in plan.slots:
                    slots[plan.slots[step]] = step
    assert plan.work_size == max(plan.slots.values()) + 1
    assert plan.work_size < len(plan.slots)  # places are used again


def test_chunks_are_even():
    plan = cut(read(random_function(5000, seed=4)), 250)
    sizes = [len(chunk) for chunk in plan.chunks]
    assert max(sizes) < 2.5 * np.mean(sizes)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("chunk", [1, 2, 3, 17, 100])
def test_where_the_cuts_are_changes_no_bit(chunk, lanes):
    expression = read(random_function(700, seed=9))
    inputs = random_inputs(expression, lanes, np.random.default_rng(1))
    whole = run(expression, inputs, lanes=lanes, chunk=10**6)
    pieces = run(expression, inputs, lanes=lanes, chunk=chunk)
    for found, expected in zip(pieces, whole, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_row_of_sines_is_cut_too():
    x = casadi.SX.sym("x", 200)
    plan = cut(gather_sines(read(casadi.Function("f", [x], [casadi.sin(x)]))), 250)
    assert len(plan.chunks) > 10
