"""The coefficients of the Runge–Kutta pairs satisfy the identities that define them."""

import os
import subprocess
import sys

import numpy as np
import pytest

from zwang.integrators.explicit.tableaus import ORDER_5, ORDER_8

# Sums of a dozen coefficients of size up to 30, each rounded once.
ROUNDING = 1e-13
# Those of the corrected interpolant are of size up to 1000, from a system of equations.
CORRECTED = 1e-11
TABLEAUS = pytest.mark.parametrize("tableau", [ORDER_5, ORDER_8], ids=["order 5", "order 8"])


@TABLEAUS
def test_rows_of_stage_coefficients_sum_to_the_stage_times(tableau):
    assert np.abs(tableau.A.sum(axis=1) - tableau.C).max() < ROUNDING


@TABLEAUS
def test_no_stage_lies_in_the_widest_gap(tableau):
    low, high = tableau.gap
    assert not any(low < node < high for node in tableau.C[: tableau.stages + 1])
    assert high - low == pytest.approx(0.5 if tableau is ORDER_5 else 0.6 - 1.0 / 3.0)


@TABLEAUS
def test_weights_integrate_powers_of_time_exactly_up_to_the_order(tableau):
    c = tableau.C[: tableau.stages]
    for k in range(tableau.order):
        assert abs(tableau.B @ c**k - 1.0 / (k + 1)) < ROUNDING
    assert abs(tableau.B @ c**tableau.order - 1.0 / (tableau.order + 1)) > 1e-6


@TABLEAUS
def test_nested_order_conditions_hold(tableau):
    # Σ bᵢ aᵢⱼ cⱼᵏ = 1/((k+1)(k+2)): trees with one branch, up to the order.
    s = tableau.stages
    c, A = tableau.C[:s], tableau.A[:s, :s]
    for k in range(tableau.order - 1):
        assert abs(tableau.B @ (A @ c**k) - 1.0 / ((k + 1) * (k + 2))) < ROUNDING


@TABLEAUS
def test_error_weights_vanish_on_constants_and_see_only_high_orders(tableau):
    c = tableau.C[: tableau.stages + 1]
    for row in tableau.E:
        for k in range(3 if tableau is ORDER_8 else 4):
            assert abs(row @ c**k) < ROUNDING


@TABLEAUS
def test_interpolant_ends_at_the_step_and_starts_along_the_first_stage(tableau):
    assert np.abs(tableau.P.sum(axis=1)[: tableau.stages] - tableau.B).max() < CORRECTED
    first = np.zeros(len(tableau.P))
    first[0] = 1.0
    assert np.abs(tableau.P[:, 0] - first).max() < CORRECTED


@TABLEAUS
def test_interpolant_integrates_powers_of_time_at_every_point(tableau):
    degree = tableau.P.shape[1]
    for theta in (0.2, 0.5, 0.9):
        weights = tableau.P @ theta ** np.arange(1, degree + 1)
        for k in range(tableau.order - 1):
            assert abs(weights @ tableau.C**k - theta ** (k + 1) / (k + 1)) < CORRECTED


PROGRAM = """
import hashlib
from zwang.integrators.collocation.coefficients import gauss
from zwang.integrators.explicit.tableaus import TABLEAUS
tables = [x for t in TABLEAUS.values() for x in (t.A, t.B, t.C, t.E, t.P, t.S)]
rule = gauss(8)
tables += [rule.c, rule.b, rule.integral, rule.analysis]
print(hashlib.sha256(b"".join(x.tobytes() for x in tables)).hexdigest())
"""


def test_coefficients_are_the_same_bits_whatever_the_processor():
    """They are constants of compiled loops, which are kept on disk under their sources."""
    found = set()
    for core in ("", "Nehalem"):  # as OpenBLAS adds up here, and did long ago
        setting = {"OPENBLAS_CORETYPE": core} if core else {}
        child = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **setting},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(child.stdout)
    assert len(found) == 1
