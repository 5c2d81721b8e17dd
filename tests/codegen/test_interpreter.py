"""Kernels that are interpreted give the bits of compiled ones."""

from __future__ import annotations

import numpy as np
import pytest
from builders import random_function, random_inputs
from test_operations import SPECIAL, elementwise

from zwang import codegen
from zwang.codegen import kernel as kernels
from zwang.codegen.expression import read
from zwang.codegen.operations import OPERATIONS


@pytest.fixture
def both_ways(monkeypatch):
    """Kernels of a function, interpreted and compiled."""

    def build(function, **options):
        found = []
        for background in ("on", "off"):
            with monkeypatch.context() as patch:
                patch.setenv("ZWANG_BACKGROUND", background)
                patch.setattr(kernels, "_loaded", {})
                found.append(codegen.compile(function, **options))
        assert isinstance(found[0]._code, kernels.InterpretedCode)
        assert not isinstance(found[1]._code, kernels.InterpretedCode)
        return found

    return build


def assert_same_bits(one, other):
    """Equal, zeros with their signs too; a number that is none is like any other such."""
    for x, y in zip(one, other, strict=True):
        numbers = ~np.isnan(y)
        np.testing.assert_array_equal(np.isnan(x), ~numbers)
        np.testing.assert_array_equal(x[numbers].view(np.int64), y[numbers].view(np.int64))


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_each_operation(both_ways, operation):
    function = elementwise(operation, len(SPECIAL))
    interpreted, compiled = both_ways(function)
    x, y = np.array(SPECIAL), np.array(SPECIAL[::-1])
    for second in (y, np.roll(y, 1), np.full_like(y, 0.5)):
        assert_same_bits(interpreted(x, second), compiled(x, second))


@pytest.mark.parametrize("lanes", codegen.LANES)
@pytest.mark.parametrize("seed", range(3))
def test_functions_at_random(both_ways, seed, lanes):
    function = random_function(900, seed=seed)
    interpreted, compiled = both_ways(function, lanes=lanes)
    inputs = random_inputs(read(function), lanes, np.random.default_rng(seed))
    inputs = [array[:, 0] for array in inputs] if lanes == 1 else inputs
    assert_same_bits(interpreted(*inputs), compiled(*inputs))


def test_inputs_that_lanes_share(both_ways):
    function = random_function(300, seed=5)
    interpreted, compiled = both_ways(function, lanes=4, shared=[1])
    x, y = random_inputs(read(function), 4, np.random.default_rng(5))
    assert_same_bits(interpreted(x, y[:, 0]), compiled(x, y[:, 0]))


def test_angles_far_beyond_the_polynomials(both_ways):
    function = random_function(300, seed=6)
    interpreted, compiled = both_ways(function)
    x, y = random_inputs(read(function), 1, np.random.default_rng(6))
    for scale in (1e4, 1e6, 1e300, np.inf):
        assert_same_bits(interpreted(scale * x[:, 0], y[:, 0]), compiled(scale * x[:, 0], y[:, 0]))


def test_the_work_array_is_large_enough_for_both(both_ways):
    interpreted, compiled = both_ways(random_function(3000, seed=7), lanes=8)
    assert interpreted.work_size >= compiled.work_size > 0
