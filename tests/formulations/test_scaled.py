"""Scaled terms, their ranks and groups; and the small tools below them."""

import numpy as np
import pytest

from samples import assert_close, assert_zero, motion, sample, with_any_mass
from zwang.caching import computed_once
from zwang.linalg.products import dot, matvec, transpose, transpose_matvec
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms


@with_any_mass
def test_scaled_terms_are_the_given_ones_exactly(given):
    system = ScaledTerms.of(given.terms)
    flat = (-1,) if given.batch else ()
    d = system.velocity_scale.reshape((*given.batch, given.n))
    e = system.row_scale.reshape((*given.batch, given.m))
    parts = system.scaled
    assert len(parts.batch_shape) == len(flat)
    M = parts.mass_matrix.reshape(given.M.shape)
    A = parts.constraint_matrix.reshape(given.A.shape)
    assert np.array_equal(M, given.M * d[..., None, :] * d[..., None])
    assert np.array_equal(A, given.A * d[..., None, :] * e[..., None])
    assert np.array_equal(parts.applied_force.reshape(given.Q.shape), given.Q * d)
    assert np.array_equal(parts.constraint_rhs.reshape(given.b.shape), given.b * e)
    assert np.array_equal(parts.nonideal_force.reshape(given.C.shape), given.C * d)


@with_any_mass
def test_ranks_of_A_M_and_both(given):
    system = ScaledTerms.of(given.terms)
    count = max(1, int(np.prod(given.batch)))
    assert np.all(system.constraint_ranks == given.rank)
    assert np.size(system.constraint_ranks) == count
    masses = [np.linalg.matrix_rank(s.M, tol=1e-9) for s in given.systems()]
    assert np.array_equal(np.ravel(system.mass.rank), masses)
    assert np.all(system.stacked_ranks == given.n)
    assert system.unique
    assert system.positive_definite == (min(masses) == given.n)


def test_a_direction_with_neither_mass_nor_constraint_lowers_the_stacked_rank():
    M = np.array([[4.0, -4.0, 0.0], [-4.0, 4.0, 0.0], [0.0, 0.0, 1e-6]])
    terms = EquationTerms.of(M, np.zeros(3), [[1e3, -1e3, 0.0]], [0.0])
    system = ScaledTerms.of(terms)
    assert system.stacked_ranks == 2
    assert not system.unique
    w = system.undetermined()
    assert w.shape == (3, 1)
    assert_zero(M @ w)
    assert_close(w[0], w[1])
    assert abs(w[0, 0]) > 0.1


def test_groups_of_a_mixed_batch_hold_each_system_once():
    A = np.array([[[1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    terms = EquationTerms.of(np.eye(2), np.zeros(2), A, np.zeros((3, 2)))
    groups = list(ScaledTerms.of(terms).groups())
    assert [g.geometry.rank for g in groups] == [0, 1, 2]
    assert np.concatenate([g.index for g in groups]).tolist() == [2, 0, 1]  # type: ignore[arg-type]


def test_one_system_of_a_batch_has_its_own_ranks_and_scales():
    given = sample("batch, singular mass")
    system = ScaledTerms.of(given.terms)
    singles = list(given.systems())
    for flat in range(4):
        one, alone = system.system(flat), ScaledTerms.of(singles[flat].terms)
        assert one.constraint_ranks == alone.constraint_ranks
        assert one.mass.rank == alone.mass.rank
        assert np.array_equal(one.velocity_scale, alone.velocity_scale)
        assert np.array_equal(one.scaled.constraint_matrix, alone.scaled.constraint_matrix)
        assert np.array_equal(one.terms.applied_force, singles[flat].Q)


def test_units_and_row_scales_do_not_change_ranks():
    given = sample("singular mass, redundant rows")
    rng = np.random.default_rng(0)
    for _ in range(5):
        unit, factor = 10.0 ** rng.uniform(-6, 6, given.n), 10.0 ** rng.uniform(-6, 6, given.m)
        M, A = given.M * unit * unit[:, None], given.A * unit * factor[:, None]
        terms = EquationTerms.of(M, given.Q * unit, A, given.b * factor, given.C * unit)
        system = ScaledTerms.of(terms)
        assert (system.constraint_ranks, system.mass.rank, system.stacked_ranks) == (3, 4, 6)


# --- small tools ----------------------------------------------------------------------------------


def test_products_of_batches_are_those_of_each_matrix():
    rng = np.random.default_rng(4)
    B, x, y = (
        rng.standard_normal((2, 3, 4, 5)),
        rng.standard_normal((2, 3, 5)),
        rng.standard_normal((2, 3, 4)),
    )
    for i in np.ndindex(2, 3):
        assert_close(matvec(B, x)[i], B[i] @ x[i])
        assert_close(transpose_matvec(B, y)[i], B[i].T @ y[i])
        assert_close(dot(x, x)[i], x[i] @ x[i])
        assert_close(matvec(B[i], x[i]), B[i] @ x[i])
        assert_close(transpose_matvec(B[i], y[i]), B[i].T @ y[i])
    assert np.array_equal(transpose(B), np.swapaxes(B, -1, -2))


def test_computed_once_runs_once_and_keeps_its_docstring():
    calls = []

    class Thing:
        @computed_once
        def value(self):
            """What it is."""
            calls.append(1)
            return 5

    thing = Thing()
    assert (thing.value, thing.value) == (5, 5)
    assert len(calls) == 1
    assert Thing.value.__doc__ == "What it is."
    assert Thing().value == 5
    assert len(calls) == 2


@pytest.mark.parametrize("kind", ["singular mass", "no mass at all"])
def test_scaled_motion_is_the_motion_in_other_units(kind):
    s = sample(kind)
    system = ScaledTerms.of(s.terms)
    d = system.velocity_scale
    assert_close(system.scaled.constraint_matrix @ (motion(s) / d), system.scaled.constraint_rhs)
