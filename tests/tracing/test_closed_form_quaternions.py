"""Closed forms of rotation in quaternions: Udwadia & Schutte (2010), (91)–(123)."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from same_expressions import assert_equal
from sympy import symbols
from sympy.polys.groebnertools import groebner
from sympy.polys.matrices import DomainMatrix
from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyRing

import zwang as zw
from zwang import library
from zwang.rotation import quaternion, quaternion_motion

U, U_DOT = sp.Matrix(symbols("u0:4")), sp.Matrix(symbols("u0_dot u1_dot u2_dot u3_dot"))
OMEGA = sp.Matrix(symbols("w1:4"))
GAMMA_U, GAMMA_B = sp.Matrix(symbols("G0:4")), sp.Matrix(symbols("B1:4"))
ALPHA, Z = symbols("alpha z")
PRINCIPAL = sp.diag(*symbols("J1:4"))
ANY_J = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"J{min(i, j)}{max(i, j)}"))


def E_of(u):
    """(80)."""
    return sp.Matrix(
        [
            [-u[1], u[0], u[3], -u[2]],
            [-u[2], -u[3], u[0], u[1]],
            [-u[3], u[2], -u[1], u[0]],
        ]
    )


def tilde(w):
    """(111)."""
    return sp.Matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def norm(x):
    """N of the paper, (78)."""
    return x.dot(x)


E, E_DOT = E_of(U), E_of(U_DOT)
W = 2 * E * U_DOT  # ω, (79)

#: Polynomials of everything that occurs in these equations, and the ideal of what the paper
#: simplifies with: uᵀu = 1 and uᵀu̇ = 0.
RING = PolyRing(
    [
        *U,
        *U_DOT,
        *OMEGA,
        *GAMMA_U,
        *GAMMA_B,
        ALPHA,
        Z,
        *ANY_J.free_symbols,
        *PRINCIPAL.free_symbols,
    ],
    sp.QQ,
    grevlex,
)
UNIT = groebner([RING.from_expr(e) for e in (norm(U) - 1, U.dot(U_DOT))], RING)


def remainder(polynomial):
    """A polynomial modulo the ideal, the coefficients of all symbols but u, u̇ one by one."""
    parts = {}
    for monomial, coefficient in polynomial.iterterms():
        state, others = monomial[:8], monomial[8:]
        parts.setdefault(others, {})[*state, *(0 for _ in others)] = coefficient
    total = RING.zero
    for others, part in parts.items():
        rest = RING.from_dict(part).rem(UNIT)
        total += rest.mul_monom((*(0 for _ in range(8)), *others))
    return total


def reduced(e):
    """A polynomial expression as a polynomial, modulo the ideal."""
    return remainder(RING.from_expr(sp.sympify(e)))


def polynomials(matrix):
    """A matrix of expressions as one of polynomials, modulo the ideal."""
    entries = [[reduced(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)]
    return DomainMatrix(entries, matrix.shape, RING.to_domain())


def assert_equal_on_unit_sphere(found, expected, scale=1):
    """found − expected / scale lies in the ideal; found may have a denominator."""
    for x, y in zip(sp.Matrix(found), sp.Matrix(expected), strict=True):
        top, bottom = map(reduced, sp.fraction(sp.sympify(x)))
        assert not remainder(top * reduced(scale) - bottom * reduced(y)), (x, y)


def body(form, J):
    """The systems of section 4 with any torque Γ_u as a parameter."""
    kinds = {
        "singular": (quaternion.mass_matrix, quaternion.force),  # (91)
        "auxiliary": (quaternion_motion.auxiliary_mass, quaternion_motion.auxiliary_force),  # (94)
        "given": (quaternion_motion.auxiliary_mass, quaternion_motion.given_force),  # (122)
    }
    mass, force = kinds[form]
    extra = {"singular": {}, "auxiliary": {"alpha": 1.3, "z": 0.4}, "given": {"alpha": 1.3}}[form]
    inertia = np.diag([1.0, 1.5, 2.0])
    system = zw.System(
        coordinates=["u0", "u1", "u2", "u3"],
        parameters={"J": inertia, "G": [0.1, 0.2, -0.3, 0.4], **extra},
        mass=lambda q, p: mass(q, p.J, *([p.alpha] if extra else [])),
        force=lambda q, v, p: force(
            q, v, p.J, p.G, *([p.z] if "z" in extra else [p.alpha] if extra else [])
        ),
        constraints={"unit": zw.position(lambda q: (q @ q - 1) / 2)},
    )
    return system, {"J": J, "G": list(GAMMA_U)}


@cache
def solved(form):
    """Numerators and denominators as elimination left them, for principal axes."""
    system, given = body(form, PRINCIPAL)
    return system.derive(parameters=given, simplify=False)


def acceleration_112(J):
    """det J times ü."""
    adjugate, det = J.adjugate(), J.det(method="berkowitz")
    turning = -E.T * adjugate * tilde(W) * J * W / 2 + E.T * adjugate * E * GAMMA_U / 4
    return turning - det * norm(U_DOT) * U


def torque_121(J):
    return -2 * (W.T * J * W)[0] * U - U * (U.T * GAMMA_U)[0]


DET = PRINCIPAL.det()


@pytest.mark.inventory("US-32", "US-33")
def test_quaternion_terms_are_91_and_93():
    system, given = body("singular", ANY_J)
    form = system.derive(solve=False, parameters=given)
    assert_equal(form.M, 4 * E.T * ANY_J * E)
    assert_equal(form.Q, -8 * E_DOT.T * ANY_J * E * U_DOT + GAMMA_U)
    assert_equal(form.A, U.T)
    assert_equal(form.b, [-norm(U_DOT)])


@pytest.mark.inventory("US-39", "US-44", "US-37")
def test_singular_system_is_solved_to_112_and_121():
    form, J = solved("singular"), PRINCIPAL
    assert_equal_on_unit_sphere(form.acceleration, acceleration_112(J), DET)
    assert_equal_on_unit_sphere(form.constraint_force, torque_121(J))
    # (108), (109): by the inverse of M_A, for every α; here times α² det J
    right = -8 * E_DOT.T * J * E * U_DOT - ALPHA**2 * norm(U_DOT) * U - 2 * (W.T * J * W)[0] * U
    right += GAMMA_U - U * U.dot(GAMMA_U)
    adjugate, scale = J.adjugate(), ALPHA**2 * DET
    inverse = ALPHA**2 * E.T * adjugate * E / 4 + DET * U * U.T
    assert_equal_on_unit_sphere(form.acceleration, inverse * right, scale)
    expanded = -2 * E.T * adjugate * E * E_DOT.T * J * E * U_DOT - DET * norm(U_DOT) * U
    expanded += E.T * adjugate * E * GAMMA_U / 4
    last = 8 * U * (U.T * E_DOT.T * J * E * U_DOT)[0] + 2 * U * (W.T * J * W)[0]
    assert_equal_on_unit_sphere(form.acceleration, ALPHA**2 * expanded - DET * last, scale)


@pytest.mark.inventory("US-39", "US-44")
def test_112_and_121_solve_the_singular_system_for_any_inertia():
    system, given = body("singular", ANY_J)
    form = system.derive(solve=False, simplify=False, parameters=given)
    # product by product, as polynomials; all times det J
    e, e_t, j, w, u = (polynomials(x) for x in (E, E.T, ANY_J, W, U))
    inverse = polynomials(ANY_J.adjugate())
    det = reduced(ANY_J.det(method="berkowitz"))
    half = RING(sp.QQ(1, 2))
    moment = e * polynomials(GAMMA_U) * half - polynomials(tilde(W)) * (j * w)
    turning = e_t * (inverse * moment) * half
    u_ddot = turning - u * (det * reduced(norm(U_DOT)))  # (112)
    right = polynomials(form.Q) + polynomials(torque_121(ANY_J))
    assert not any(
        remainder(x) for x in (polynomials(form.M) * u_ddot - right * det).to_list_flat()
    )
    b = polynomials(form.b) * det
    assert not any(remainder(x) for x in (polynomials(form.A) * u_ddot - b).to_list_flat())


@pytest.mark.inventory("US-36", "US-42")
def test_explicit_form_is_107_and_in_omega_119():
    J, T = ANY_J, GAMMA_B
    system = library.rotating_body("explicit")
    form = system.derive(parameters={"J": J, "radial": Z}, solve=False)
    assert_equal(form.M, 4 * E.T * J * E + ALPHA**2 * U * U.T)
    right = -8 * E_DOT.T * J * E * U_DOT - ALPHA**2 * norm(U_DOT) * U - 2 * (W.T * J * W)[0] * U
    assert_equal_on_unit_sphere(form.Q, right + (sp.eye(4) - U * U.T) * (Z * U))  # (107)
    # (119), by u̇ = ½Eᵀω
    in_omega = dict(zip(U_DOT, E.T * OMEGA / 2, strict=True))
    found = form.Q.subs({**in_omega, Z: 0}, simultaneous=True) + 2 * E.T * T
    expected = -2 * E.T * tilde(OMEGA) * J * OMEGA - ALPHA**2 * norm(OMEGA) * U / 4 + 2 * E.T * T
    assert_equal_on_unit_sphere(found, expected)


@pytest.mark.inventory("US-43")
def test_torque_of_the_auxiliary_system_is_120_for_any_alpha_and_z():
    form = solved("auxiliary")
    bracket = 2 * (W.T * PRINCIPAL * W)[0] + Z + U.dot(GAMMA_U)
    assert_equal_on_unit_sphere(form.constraint_force, U * (-(ALPHA**2) * norm(U_DOT) - bracket))
    assert_equal_on_unit_sphere(form.acceleration, acceleration_112(PRINCIPAL), DET)


@pytest.mark.inventory("US-45", "US-40", "US-41")
def test_given_and_constraint_part_are_122_and_123():
    form, J = solved("given"), PRINCIPAL
    Q_given = -8 * E_DOT.T * J * E * U_DOT - ALPHA**2 * norm(U_DOT) * U + GAMMA_U
    assert_equal_on_unit_sphere(form.Q, Q_given)  # (122)
    assert_equal_on_unit_sphere(form.constraint_force, torque_121(J))  # (123)
    # (116): in ω and Γ_B = ½EΓ_u, (114), by N(u̇) = ¼N(ω), (115)
    T, adjugate = E * GAMMA_U / 2, J.adjugate()
    turning = -E.T * adjugate * tilde(W) * J * W / 2 + E.T * adjugate * T / 2
    assert_equal_on_unit_sphere(form.acceleration, turning - DET * norm(W) * U / 4, DET)


@pytest.mark.inventory("US-38")
def test_identities_of_E_are_110_and_118():
    assert_equal_on_unit_sphere(E * E_DOT.T, tilde(W) / 2)
    assert_equal_on_unit_sphere(E_DOT.T, E.T * tilde(W) / 2 - U * W.T / 2)
