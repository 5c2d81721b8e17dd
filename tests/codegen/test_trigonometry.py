"""Our sine and cosine: coefficients, accuracy, far arguments."""

from __future__ import annotations

import casadi
import mpmath
import numpy as np
import pytest
from builders import run

from zwang.codegen.expression import read
from zwang.codegen.trigonometry import COSINE, LIMIT, PI_HALF, SINE

COUNT = 250
# 0.9 units in the last place of numbers near 1; three million arguments gave 0.84 at most.
ABSOLUTE_ERROR = 1.0e-16
# Near their zeros, sine and cosine keep this relative error.
RELATIVE_ERROR = 2.5e-16


@pytest.fixture(scope="module")
def expression():
    x = casadi.SX.sym("x", COUNT)
    return read(casadi.Function("f", [x], [casadi.sin(x), casadi.cos(x)]))


def arguments(kind: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    if kind == "one turn":
        return rng.uniform(-7, 7, COUNT)
    if kind == "small":
        return rng.normal(size=COUNT) * 10.0 ** rng.uniform(-300, 0, COUNT)
    if kind == "up to the limit":
        return rng.uniform(-LIMIT, LIMIT, COUNT)
    if kind == "next to multiples of π/2":
        k = rng.integers(-63000, 63000, COUNT)
        nearest = k * (np.pi / 2)
        return np.nextafter(nearest, np.where(rng.random(COUNT) < 0.5, -np.inf, np.inf))
    assert kind == "far"
    return rng.normal(size=COUNT) * 10.0 ** rng.uniform(6, 60, COUNT)


@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize(
    "kind",
    ["one turn", "small", "up to the limit", "next to multiples of π/2", "far"],
)
def test_sine_and_cosine_are_accurate(expression, kind, fma):
    x = arguments(kind)
    results = run(expression, [x[:, None]], lanes=1, fma=fma)
    with mpmath.workdps(100):  # enough to reduce 1e60
        for found, function in zip(results, (mpmath.sin, mpmath.cos), strict=True):
            for value, argument in zip(found.ravel(), x, strict=True):
                exact = function(mpmath.mpf(float(argument)))
                error = abs(mpmath.mpf(float(value)) - exact)
                assert error <= ABSOLUTE_ERROR, (argument, value)
                assert error <= RELATIVE_ERROR * abs(exact), (argument, value)


def test_zero_keeps_its_sign_and_what_is_no_angle_gives_no_number(expression):
    x = np.zeros(COUNT)
    x[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    sine, cosine = run(expression, [x[:, None]], lanes=1)
    assert sine[0, 0] == 0
    assert not np.signbit(sine[0, 0])
    assert sine[1, 0] == 0
    assert np.signbit(sine[1, 0])
    assert cosine[0, 0] == cosine[1, 0] == 1
    assert np.isnan(sine[2:5]).all()
    assert np.isnan(cosine[2:5]).all()


def test_the_parts_of_half_pi_sum_to_it_and_multiply_exactly():
    with mpmath.workdps(60):
        rest = mpmath.pi / 2 - sum(mpmath.mpf(part) for part in PI_HALF)
        assert abs(rest) < 1e-36
    largest_k = int(LIMIT / PI_HALF[0]) + 1
    for part in PI_HALF[:2]:
        numerator, _ = part.as_integer_ratio()
        assert (numerator * largest_k).bit_length() <= 53


def test_the_coefficients_are_the_interpolation_they_are_said_to_be():
    with mpmath.workdps(50):
        top = (mpmath.pi / 4) ** 2
        zeros = [mpmath.cos(mpmath.pi * (2 * k + 1) / 14) for k in range(7)]
        nodes = [top * (t - zeros[6]) / (1 - zeros[6]) for t in zeros[:6]]
        matrix = mpmath.matrix([[z**j for j in range(6)] for z in nodes])
        sine = [(mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z for z in nodes]
        cosine = [(mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2 for z in nodes]
        for values, coefficients in ((sine, SINE), (cosine, COSINE)):
            exact = mpmath.lu_solve(matrix, mpmath.matrix(values))
            assert tuple(float(c) for c in exact) == coefficients
