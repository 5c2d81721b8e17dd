"""The plain saddle-point system."""

import numpy as np
import pytest

from samples import assert_close, constraint_force, motion, plus, with_any_mass
from zwang.formulations.projection import Projection
from zwang.formulations.saddle_point import SaddlePoint


@with_any_mass
@pytest.mark.inventory("BL-08")
def test_saddle_matrix_holds_the_equations_of_motion_and_the_constraints(given):
    # Blajer (2.8a), (2.8c): M v̇ = h* + Cᵀλ, C v̇ + c₀* = 0, in the unknowns v̇ and −λ
    saddle = SaddlePoint(given.terms)
    m = given.m

    def formula(s):
        return np.block([[s.M, s.A.T], [s.A, np.zeros((m, m))]])

    assert_close(saddle.saddle_matrix, given.each(formula))
    unknowns = np.concatenate([saddle.acceleration, -saddle.multipliers], axis=-1)
    right = np.concatenate([given.Q + given.C, given.b], axis=-1)
    assert_close((saddle.saddle_matrix @ unknowns[..., None])[..., 0], right)


@with_any_mass
def test_motion_force_and_least_norm_multipliers(given):
    saddle = SaddlePoint(given.terms)
    assert_close(saddle.acceleration, given.each(motion))
    assert_close(saddle.constraint_force, given.each(constraint_force))
    least = given.each(lambda s: plus(s.A.T) @ (constraint_force(s) - s.C))
    assert_close(saddle.multipliers, least)


@with_any_mass
@pytest.mark.inventory("BL-08")
def test_generalized_dalembert_balance(given):
    # Blajer (2.9): s + h + r = 0 with the inertial force s* = −M v̇
    balance = Projection(given.terms).force_balance
    assert_close(sum(balance.values()), np.zeros((*given.batch, given.n)))
    assert_close(balance["inertial"], -given.each(lambda s: s.M @ motion(s)))
