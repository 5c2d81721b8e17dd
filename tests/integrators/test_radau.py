"""Coefficients and parts of the implicit method: Radau IIA, LU factors, the Jacobian."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import zwang as zw
from zwang import library
from zwang.integrators.lu import (
    factorise,
    factorise_complex,
    substitute,
    substitute_complex,
)
from zwang.integrators.radau import stages as radau
from zwang.integrators.settings import Drift, Settings
from zwang.programs.jacobian_columns import ColumnsKernel
from zwang.simulation.select_program import ProgramStart, select_program

#: Rounding of a few operations, for numbers near one.
ROUNDING = 1e-13
C = np.array([radau.C1, radau.C2, 1.0])


def lagrange(k):
    """The polynomial that is 1 at node k of (0, c₁, c₂, 1) and 0 at the others."""
    nodes = np.array([0.0, *C])
    others = np.delete(nodes, k)
    return Polynomial.fromroots(others) / np.prod(nodes[k] - others)


def collocation_matrix():
    """A of Radau IIA: integrals up to c_i of the polynomials that are 1 at c_j."""
    others = [np.delete(C, j) for j in range(3)]
    bases = [Polynomial.fromroots(o) / np.prod(c - o) for c, o in zip(C, others, strict=True)]
    return np.array([[b.integ()(c) for b in bases] for c in C])


def test_nodes_are_those_of_radau():
    # Zeros of d²/dx² x²(x − 1)³, and the quadrature with them is exact for degree 4.
    zeros = (Polynomial([0, 0, 1]) * Polynomial([-1, 1]) ** 3).deriv(2).roots()
    np.testing.assert_allclose(np.sort(zeros.real), C, atol=1e-7)  # a double zero at 1 among them
    weights = collocation_matrix()[-1]
    for degree in range(5):
        assert abs(weights @ C**degree - 1.0 / (degree + 1)) < ROUNDING


def test_transformation_makes_the_inverse_of_a_one_real_and_one_complex_number():
    block = radau.T_INVERSE @ np.linalg.inv(collocation_matrix()) @ radau.T_MATRIX
    alpha, beta = radau.ALPHA_BETA.real, radau.ALPHA_BETA.imag
    # (α + iβ)(w₂ + iw₃) = (αw₂ − βw₃) + i(βw₂ + αw₃)
    expected = [[radau.GAMMA, 0, 0], [0, alpha, -beta], [0, beta, alpha]]
    np.testing.assert_allclose(block, expected, atol=ROUNDING)


def test_interpolation_and_defect_belong_to_the_collocation_polynomial():
    out = np.empty(3)
    for theta in (-0.3, 0.2, 0.77, 1.0, 2.1):
        radau.weights(theta, out)
        np.testing.assert_allclose(out, [lagrange(k)(theta) for k in (1, 2, 3)], atol=ROUNDING)
    slopes = [lagrange(k).deriv()(0.0) for k in (1, 2, 3)]
    np.testing.assert_allclose(radau.DEFECT, np.negative(slopes), atol=ROUNDING)


def test_lu_solves_as_numpy_does():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 12):
        A, x = rng.standard_normal((n, n)), rng.standard_normal(n)
        A[0, 0] = 0.0 if n > 1 else 2.0  # rows must be exchanged
        factors, exchanged, found = A.T.copy(), np.empty(n, dtype=np.int64), x.copy()
        factorise(factors, exchanged, 0)
        substitute(factors, exchanged, found)
        np.testing.assert_allclose(found, np.linalg.solve(A, x), rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 47])
def test_complex_lu_solves_as_numpy_does_by_the_largest_pivots(n):
    rng = np.random.default_rng(4)
    A = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    x = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    A[0, 0] = 0.0 if n > 1 else 2.0j
    exchanged = np.empty(n, dtype=np.int64)
    factors, found = np.array([A.real.T, A.imag.T], order="C"), np.stack([x.real, x.imag])
    factorise_complex(factors, exchanged, 0)
    substitute_complex(factors, exchanged, found)
    np.testing.assert_allclose(found[0] + 1j * found[1], np.linalg.solve(A, x), rtol=1e-10)
    sizes = np.abs(factors).sum(axis=0)  # as pivots are compared, within √2
    assert np.triu(sizes, 1).max(initial=0.0) <= 2.0 + ROUNDING


@pytest.mark.parametrize("shift", [1e-2, 1.0, 1e6])
def test_first_columns_have_their_pivots_in_the_first_rows(shift):
    # As of a stiff system: rates shift q̇ − v, forces far larger than their pivots.
    rng = np.random.default_rng(5)
    nq, n = 7, 12
    A = shift * np.eye(n)
    A[:nq, nq:] = rng.standard_normal((nq, n - nq))
    A[nq:] -= 1e5 * rng.standard_normal((n - nq, n))
    x, exchanged = rng.standard_normal(n), np.empty(n, dtype=np.int64)
    factors, found = A.T.copy(), x.copy()
    factorise(factors, exchanged, nq)
    substitute(factors, exchanged, found)
    np.testing.assert_allclose(found, np.linalg.solve(A, x), rtol=1e-7)
    assert (exchanged[:nq] == np.arange(nq)).all()
    factors = np.array([A.T, -2.0 * shift * np.eye(n)], order="C")
    found = np.stack([x, x])
    factorise_complex(factors, exchanged, nq)
    substitute_complex(factors, exchanged, found)
    expected = np.linalg.solve(A - 2j * shift * np.eye(n), x + 1j * x)
    np.testing.assert_allclose(found[0] + 1j * found[1], expected, rtol=1e-7)
    assert (exchanged[:nq] == np.arange(nq)).all()


def rubbing_hoop():
    """A law of the reaction, and rows that repeat each other."""

    def law(v, reaction):
        return -0.4 * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v)

    return zw.System(
        ["x", "y"],
        mass=lambda: np.diag([1.5, 1.5]),
        force=lambda q, t: [3.0 * np.sin(2.0 * t) * q[1], -9.81],
        constraints={"hoop": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
        nonideal={"hoop": law},
    )


def two_rods():
    """The same constraint twice."""
    rod = zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)
    return zw.System(
        ["x", "y"],
        mass=lambda q: np.eye(2) * (2.0 + q[0]),
        force=lambda q, v: [-3.0 * v[0] * v[1], -9.81 - 30.0 * q[0] ** 3],
        constraints={"rod": rod, "again": zw.position(lambda q: 3.0 * (q @ q) - 3.0)},
    )


ON_CIRCLE = (np.array([0.6, -0.8]), np.array([1.6, 1.2]))
JACOBIANS = {
    "flyball_governor": None,
    "constant_speed_particle": None,
    "two_mass_chain": None,
    "knife_edge": None,
    "rolling_disk": None,
    "a law of the reaction": (rubbing_hoop, ON_CIRCLE),
    "dependent rows": (two_rods, ON_CIRCLE),
}


@pytest.mark.parametrize("stabilised", [False, True])
@pytest.mark.parametrize("case", JACOBIANS)
def test_jacobian_is_the_derivative_of_the_derivative(case, stabilised):
    if JACOBIANS[case] is None:
        softer = {"stiffness": 90.0, "damping": 4.0} if case == "flyball_governor" else {}
        system = getattr(library, case)(**softer)
        state = library.states(case, np.random.default_rng(5), 1)
        q, v = state.q[0], state.v[0]
    else:
        build, (q, v) = JACOBIANS[case]
        system = build()
    y, p, t = np.concatenate([q, v]), system.parameter_vector(), np.array([0.3])
    settings = Settings(until=1.0, drift=Drift.BAUMGARTE if stabilised else Drift.PROJECTION)
    program, n = (
        select_program(system.equations, ProgramStart(y, 0.3, p), settings),
        len(y),
    )

    def derivative(y):
        return np.concatenate(program.kernel("derivative")(y[: len(q)], y[len(q) :], t, p))

    found = program.kernel("jacobian")(q, v, t, p)[0].reshape(n, n).T
    one_by_one = ColumnsKernel("jacobian", program.kernel("along"))
    by_columns = one_by_one(q, v, t, p)[0].reshape(n, n).T
    np.testing.assert_allclose(by_columns, found, atol=ROUNDING * np.abs(found).max())
    h = 1e-3  # five points: the error is of order h⁴, rounding is divided by h
    columns = [
        (
            8 * (derivative(y + e) - derivative(y - e))
            - derivative(y + 2 * e)
            + derivative(y - 2 * e)
        )
        / (12 * h)
        for e in h * np.eye(n)
    ]
    expected = np.stack(columns, axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))
