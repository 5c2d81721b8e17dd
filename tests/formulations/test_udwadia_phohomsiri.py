"""Udwadia & Phohomsiri (2006), as quoted by Udwadia & Schutte (2010)."""

import numpy as np
import pytest

from samples import assert_close, constraint_force, motion, plus, tangent, with_any_mass
from zwang.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri
from zwang.formulations.udwadia_schutte import AuxiliarySystem, UdwadiaSchutte
from zwang.solvers.dense import solve
from zwang.terms import EquationTerms


def stacked(s, mass=None):
    return np.vstack([tangent(s.A) @ (s.M if mass is None else mass), s.A])


@with_any_mass
@pytest.mark.inventory("US-07")
def test_acceleration_by_the_stacked_pseudoinverse(given):
    # (8): q̈ = [(I − A⁺A) M; A]⁺ [Q + C; b]
    up = UdwadiaPhohomsiri(given.terms)
    assert_close(up.stacked_matrix, given.each(stacked))
    assert_close(up.stacked_rhs, given.each(lambda s: np.concatenate([s.Q + s.C, s.b])))
    formula = given.each(lambda s: plus(stacked(s)) @ np.concatenate([s.Q + s.C, s.b]))
    assert_close(up.acceleration, formula)
    assert_close(up.acceleration, given.each(motion))


@with_any_mass
@pytest.mark.inventory("US-03", "US-22")
def test_constraint_force_is_what_the_equation_of_motion_lacks(given):
    # (5), (64): Q^c = M q̈ − Q
    up = UdwadiaPhohomsiri(given.terms)
    assert_close(up.constraint_force, given.each(constraint_force))
    balance = (given.M @ up.acceleration[..., None])[..., 0] - given.Q - up.constraint_force
    assert_close(balance, np.zeros_like(balance))
    assert_close(UdwadiaSchutte(given.terms).constraint_force, given.each(constraint_force))
    solution = solve(given.M, given.Q, given.A, given.b, given.C)
    assert_close(solution.constraint_force, given.each(constraint_force))


@with_any_mass
@pytest.mark.inventory("US-11")
def test_adding_a_force_along_the_constraints_changes_nothing(given):
    # (26): [(I − A⁺A) M_A; A]⁺ [Q + A⁺z + C; b] does not depend on z
    z = np.random.default_rng(6).standard_normal((*given.batch, given.m))
    up = UdwadiaPhohomsiri(given.terms)
    extra = up.geometry.least_norm(z)
    assert_close(up.respond(given.Q + given.C + extra, given.b)[0], given.each(motion))
    pushed = EquationTerms.of(given.M, given.Q + extra, given.A, given.b, given.C)
    assert_close(UdwadiaPhohomsiri(pushed).acceleration, given.each(motion))
    assert_close(AuxiliarySystem(given.terms, z=z).applied_force, given.Q + extra)
    for one, its_z in zip(given.systems(), given.split(z), strict=True):
        M_A = AuxiliarySystem(one.terms, alpha=0.7).mass_matrix
        right = np.concatenate([one.Q + plus(one.A) @ its_z + one.C, one.b])
        assert_close(plus(stacked(one, M_A)) @ right, motion(one))
