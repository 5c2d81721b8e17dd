"""What loops say of each lane is the same written for all lanes at once, to the bit."""

import numpy as np
import pytest

from zwang.codegen.jit import inlined, loop
from zwang.codegen.loops.values import LoopError
from zwang.codegen.simd import all_of, any_of, side_by_side


@inlined
def largest(x, lane):
    size = 0.0
    for i in range(x.shape[0]):
        size = max(size, abs(x[i, lane]))
    return size


@loop
def everything(x, y, marks, numbers, choice, lanes):
    """Conditions in conditions, loops in them, functions of the C library, whole numbers."""
    for lane in side_by_side(lanes):
        size = largest(x, lane)
        marks[lane] = size > 1.0 and numbers[lane] != 2
        if marks[lane]:
            y[0, lane] = np.sqrt(size) + np.log(size)
            numbers[lane] += 1
        elif size < 0.3 or choice > 3:
            y[0, lane] = -1.0 / size
        else:
            positive = 0
            for i in range(x.shape[0]):
                if x[i, lane] > 0.0:
                    positive += 1
            y[0, lane] = 2.0 * positive if numbers[lane] > 3 else size / 3.0
        y[1, lane] = numbers[lane] % 3 + numbers[lane] // 2 + (choice if choice > 2 else size)
    found = 1 if any_of(marks, lanes) else 0
    return found + (2 if all_of(marks, lanes) else 0)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_lanes_at_once_are_lanes_one_by_one(lanes):
    rng = np.random.default_rng(lanes)
    found = set()
    for choice in range(60):
        x = rng.normal(size=(3, lanes)) * rng.choice([0.1, 0.5, 3.0])
        together = np.zeros((2, lanes)), np.zeros(lanes, bool), rng.integers(-5, 5, lanes)
        apart = tuple(array.copy() for array in together)
        result = everything(x, *together, choice % 6, (0,) * lanes)
        for lane in range(lanes):
            alone = [np.ascontiguousarray(array[..., lane : lane + 1]) for array in (x, *apart)]
            everything(*alone, choice % 6, (0,))
            for array, one in zip(together, alone[1:], strict=True):
                assert np.array_equal(array[..., lane], one[..., 0])
        marks = together[1]
        assert result == marks.any() + 2 * marks.all()
        found.add(result)
    assert found >= {0, 3}


def leaves(x, lanes):
    for lane in side_by_side(lanes):
        if x[lane] > 0.0:
            return 1
    return 0


def goes_on(x, lanes):
    for lane in side_by_side(lanes):
        if x[lane] > 0.0:
            continue
        x[lane] = 1.0


def collects(x, lanes):
    total = 0.0
    for lane in side_by_side(lanes):
        total += x[lane]
    return total


def writes_elsewhere(x, lanes):
    for lane in side_by_side(lanes):
        if x[lane] > 0.0:
            x[0] = 1.0


@loop
def called(x):
    return x


def calls(x, lanes):
    for lane in side_by_side(lanes):
        x[lane] = called(x[lane])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (leaves, "a lane cannot leave by itself"),
        (goes_on, "a lane cannot leave by itself"),
        (collects, "a number for each lane where there was one for all"),
        (writes_elsewhere, "under a condition of each"),
        (calls, "only what is inlined can be"),
    ],
)
def test_what_lanes_cannot_do_at_once_is_named(function, message):
    with pytest.raises(LoopError, match=message):
        loop(function)(np.zeros(4), (0,) * 4)
