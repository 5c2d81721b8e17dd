"""Formulations used by themselves, without `solve` before them, refuse what has no answer."""

import numpy as np
import pytest

from samples import assert_close, motion, sample
from zwang.errors import NotApplicableError, NotUniqueError, ZwangError
from zwang.formulations.projection import Projection
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.formulations.udwadia_schutte import AuxiliarySystem
from zwang.solvers.dense import FORMULATIONS
from zwang.terms import EquationTerms

any_formulation = pytest.mark.parametrize("kind", FORMULATIONS.values(), ids=list(FORMULATIONS))


def turned_by(angle):
    """A rotation of three coordinates, to bring rounding into exact zeros."""
    c, s = np.cos(angle), np.sin(angle)
    one = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    two = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return one @ two


#: Each with rank [M; A] = 2 of 3.
ILL_POSED = [
    pytest.param([[1, -1, 0], [-1, 1, 0], [0, 0, 1]], [[1, -1, 0]], id="a sum"),
    pytest.param([[1, 0, 0], [0, 1, 0], [0, 0, 0]], [[1, 1, 0]], id="a coordinate"),
    pytest.param(
        [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]], [[1, -1, 0], [0, 1, -1]], id="all together"
    ),
    pytest.param(np.diag([1, 1, 0]), np.zeros((0, 3)), id="no constraints"),
]


@any_formulation
@pytest.mark.parametrize("angle", [0.0, 0.7])
@pytest.mark.parametrize(("M", "A"), ILL_POSED)
def test_a_direction_with_neither_mass_nor_constraint_has_no_acceleration(kind, M, A, angle):
    R = turned_by(angle)
    M, A = R.T @ M @ R, A @ R
    terms = EquationTerms.of(0.5 * (M + M.T), [1.0, 2.0, 3.0], A, np.zeros(len(A)))
    with pytest.raises(ZwangError):
        _ = kind(terms).acceleration


def test_a_singular_mass_matrix_is_refused_with_the_formulations_that_apply():
    uk = UdwadiaKalaba(sample("singular mass").terms)
    with pytest.raises(
        NotApplicableError,
        match=r"udwadia_kalaba must be given a positive.*but it is singular.*'udwadia_schutte'",
    ):
        _ = uk.acceleration


def test_an_ill_posed_auxiliary_system_is_refused():
    terms = EquationTerms.of([[1, -1], [-1, 1]], [0, 0], [[1, -1]], [0])
    with pytest.raises(NotUniqueError, match=r"rank \[M; A\] = n.*zwang\.explain names the"):
        _ = AuxiliarySystem(terms).acceleration


def test_quantities_that_need_the_inverse_of_M_are_refused_for_singular_M():
    p = Projection(sample("singular mass").terms)
    assert_close(p.acceleration, motion(sample("singular mass")))
    with pytest.raises(
        NotApplicableError, match=r"projection must be given a positive.*but it is singular"
    ):
        _ = p.orthogonal_multipliers


def test_acceleration_is_refused_where_it_is_not_unique():
    terms = EquationTerms.of(np.diag([2.0, 2.0, 0.0]), [0, 0, 0], [[0.0, 1.0, 0.0]], [3.0])
    with pytest.raises(
        NotUniqueError,
        match=r"must be determined by mass or.*but there is a direction with neither.*family=True",
    ):
        _ = UdwadiaMogharabin(terms).acceleration
