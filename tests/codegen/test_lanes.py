"""A lane gives the bits that the scalar kernel gives, whatever is in the other lanes."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from builders import random_function, random_inputs, run
from test_operations import elementwise

from zwang import codegen
from zwang.codegen.expression import read
from zwang.codegen.operations import OPERATIONS

WIDTHS = [2, 4, 8]


def assert_lanes_equal_scalar(expression, inputs, lanes, **settings):
    together = run(expression, inputs, lanes=lanes, **settings)
    for lane in range(lanes):
        alone = run(expression, [a[:, lane : lane + 1] for a in inputs], lanes=1, **settings)
        for many, one in zip(together, alone, strict=True):
            np.testing.assert_array_equal(many[:, lane : lane + 1], one)


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("fma", [True, False])
def test_a_random_expression_has_the_same_bits_in_every_lane(lanes, fma):
    expression = read(random_function(600, seed=lanes))
    inputs = random_inputs(expression, lanes, np.random.default_rng(lanes))
    assert_lanes_equal_scalar(expression, inputs, lanes, fma=fma)


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_each_operation_has_the_same_bits_in_every_lane(operation, lanes):
    function = elementwise(operation, 12)
    rng = np.random.default_rng(11)
    inputs = [rng.normal(size=(12, lanes)) * 10.0 ** rng.uniform(-3, 3, (12, lanes)) for _ in "xy"]
    for array in inputs:
        array[0, 0], array[1, 1], array[2, 0] = np.inf, np.nan, -0.0
    scalar, wide = codegen.compile(function), codegen.compile(function, lanes=lanes)
    (together,) = wide(*inputs)
    for lane in range(lanes):
        (alone,) = scalar(*[np.ascontiguousarray(a[:, lane]) for a in inputs])
        np.testing.assert_array_equal(together[:, lane], alone)


@pytest.mark.parametrize("lanes", WIDTHS)
def test_a_far_angle_in_one_lane_leaves_the_others_alone(lanes):
    x = casadi.SX.sym("x", 3)
    expression = read(casadi.Function("f", [x], [casadi.sin(x), casadi.cos(x) * casadi.sin(2 * x)]))
    inputs = np.random.default_rng(0).normal(size=(3, lanes))
    inputs[0, 1], inputs[1, 0], inputs[2, lanes - 1] = 3e9, np.nan, -np.inf
    assert_lanes_equal_scalar(expression, [inputs], lanes)


def test_the_layout_is_entry_then_lane():
    x = casadi.SX.sym("x", 2)
    kernel = codegen.compile(casadi.Function("f", [x], [x[0] - x[1]]), lanes=4)
    (found,) = kernel(np.array([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]]))
    np.testing.assert_array_equal(found, [[-9.0, -18.0, -27.0, -36.0]])
