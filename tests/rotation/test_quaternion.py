"""Udwadia & Schutte (2010), section 4: kinematics, energies, Lagrange's equations."""

import numpy as np
import pytest
import sympy as sp
from bodies_at_random import Bodies, assert_close, column, mv, quaternion_product
from scipy.spatial.transform import Rotation

from zwang.errors import InputError
from zwang.rotation import quaternion as qt

GIVEN = Bodies(1)
u, u_dot, omega, J = GIVEN.u, GIVEN.u_dot, GIVEN.omega, GIVEN.J
E, E_dot = qt.matrix_E(u), qt.matrix_E(u_dot)
E_T, E_dot_T = np.swapaxes(E, -1, -2), np.swapaxes(E_dot, -1, -2)
u_uT = column(u) * u[..., None, :]


@pytest.mark.inventory("US-28")
def test_kinetic_energy_is_the_same_from_omega_from_the_rate_and_from_E_dot():
    # (76), (81)
    expected = 0.5 * np.einsum("...i,...ij,...j", omega, J, omega)
    assert_close(qt.kinetic_energy(omega, J), expected)
    assert_close(qt.kinetic_energy_by_rate(u, u_dot, J), expected)
    assert_close(qt.kinetic_energy_by_E_dot(u, u_dot, J), expected)


@pytest.mark.inventory("US-28")
def test_neither_quadratic_form_of_the_energy_is_definite():
    # (82): zero for a rate along u, and for ‖u‖ scaled
    assert_close(qt.kinetic_energy_by_rate(u, u, J), 0.0)
    assert_close(qt.kinetic_energy_by_E_dot(u_dot, u_dot, J), 0.0)
    for form in (E_T @ J @ E, E_dot_T @ J @ E_dot):
        assert np.all(np.linalg.matrix_rank(form, tol=1e-9) == 3)


@pytest.mark.inventory("US-29")
def test_quaternion_of_axis_and_angle_turns_like_scipys_rotation():
    # (77), (78)
    rng = np.random.default_rng(3)
    axis, angle = rng.standard_normal((4, 25, 3)), rng.uniform(-6, 6, (4, 25))
    found = qt.from_axis_angle(axis, angle)
    assert_close(qt.square_norm(found), 1.0)
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    reference = Rotation.from_rotvec((angle[..., None] * unit).reshape(-1, 3))
    assert_close(qt.rotation_matrix(found), reference.as_matrix().reshape(4, 25, 3, 3))
    other = reference.as_quat(scalar_first=True).reshape(4, 25, 4)
    same_sign = np.sign((found * other).sum(-1, keepdims=True))
    assert_close(found, other * same_sign)
    # (77) fixes the sign too: u₀ = cos ½θ, and sin ½θ along the axis.
    assert_close(found[..., 0], np.cos(angle / 2))
    assert_close(found[..., 1:], np.sin(angle / 2)[..., None] * unit)


@pytest.mark.inventory("US-29")
def test_axis_of_no_length_and_quaternion_of_wrong_length_are_refused():
    with pytest.raises(InputError, match="rotation axis must be a nonzero vector"):
        qt.from_axis_angle([0.0, 0.0, 0.0], 1.0)
    assert np.array_equal(qt.require_unit(u), u)
    long = u.copy()
    long[2, 3] *= 1.01
    with pytest.raises(InputError, match=r"quaternion must have length 1, but has length 1\.01"):
        qt.require_unit(long)


@pytest.mark.inventory("US-30")
def test_angular_velocity_and_rate_are_each_others_inverse():
    # (79), (80); ω of the test comes from Hamilton's product 2ūu̇
    assert_close(qt.angular_velocity(u, u_dot), omega)
    assert_close(qt.angular_velocity_by_E_dot(u, u_dot), omega)
    assert_close(qt.rate(u, omega), u_dot)
    half = [0.5 * quaternion_product(a, np.r_[0, w]) for a, w in zip(*_flat(u, omega), strict=True)]
    assert_close(qt.rate(u, omega), np.reshape(half, u.shape))


@pytest.mark.inventory("US-31")
def test_identities_of_E():
    # (83)–(86), (84) as corrected: Ėu̇ = 0
    assert_close(mv(E, u), 0.0)
    assert_close(mv(E_dot, u_dot), 0.0)
    assert_close(E_T @ E + u_uT, np.eye(4))
    assert_close(E @ E_T, np.eye(3))
    # the printed (84), read as Ėu = 0, would be wrong: Ėu = −ω/2
    assert_close(mv(E_dot, u), -0.5 * omega)


@pytest.mark.inventory("US-38")
def test_products_of_E_and_its_rate_are_half_the_cross_product_matrix():
    # (110), (111), (117), (118)
    half_tilde = 0.5 * np.cross(omega[..., None, :], np.eye(3)).swapaxes(-1, -2)
    assert_close(qt.tilde(omega), 2.0 * half_tilde)
    assert_close(E @ E_dot_T, half_tilde)
    assert_close(E_T @ E @ E_dot_T, E_T @ half_tilde)
    assert_close(E_dot_T + 0.5 * column(u) * omega[..., None, :], E_T @ half_tilde)
    assert_close(qt.E_dot_transposed(u, omega), E_dot_T)


@pytest.fixture(scope="module")
def lagrange_by_sympy():
    """d/dt ∂T/∂u̇ and ∂T/∂u of T = 2u̇ᵀEᵀJEu̇ for four free components, by SymPy."""
    a, b, c = (sp.Matrix(sp.symbols(f"{x}0:4")) for x in "abc")  # u, u̇, ü
    j = sp.symbols("j0:6")
    inertia = sp.Matrix([[j[0], j[1], j[2]], [j[1], j[3], j[4]], [j[2], j[4], j[5]]])
    matrix = sp.Matrix(
        [[-a[1], a[0], a[3], -a[2]], [-a[2], -a[3], a[0], a[1]], [-a[3], a[2], -a[1], a[0]]]
    )
    T = (2 * (matrix * b).T * inertia * (matrix * b))[0]
    momentum = sp.Matrix([T.diff(x) for x in b])
    rate = momentum.jacobian(a) * b + momentum.jacobian(b) * c
    gradient = sp.Matrix([T.diff(x) for x in a])
    return sp.lambdify([a, b, c, j], [rate, gradient], cse=True)


@pytest.mark.inventory("US-32")
def test_lagranges_equation_with_four_free_components(lagrange_by_sympy):
    # (87)–(90)
    u_ddot = np.random.default_rng(5).standard_normal(u.shape)
    entries = J[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    results = [lagrange_by_sympy(*x) for x in zip(*_flat(u, u_dot, u_ddot, entries), strict=True)]
    rate = np.array([r[0][:, 0] for r in results]).reshape(u.shape)
    gradient = np.array([r[1][:, 0] for r in results]).reshape(u.shape)
    assert_close(qt.momentum_rate(u, u_dot, u_ddot, J), rate)
    assert_close(qt.energy_gradient(u, u_dot, J), gradient)
    assert_close(gradient, -4.0 * mv(E_dot_T, mv(J, mv(E, u_dot))))
    residual = qt.lagrange_residual(u, u_dot, u_ddot, J, GIVEN.torque)
    assert_close(residual, rate - gradient - GIVEN.torque)
    # (91) is (90) on Ėu̇ = 0
    M, Q = qt.mass_matrix(u, J), qt.force(u, u_dot, J, GIVEN.torque)
    assert_close(mv(M, u_ddot) - Q, residual)


@pytest.mark.inventory("US-32")
def test_mass_matrix_has_rank_three_and_the_free_equation_no_solution():
    # (91): uᵀM = 0 but uᵀQ = 2ωᵀJω + uᵀΓ_u
    M, Q = qt.mass_matrix(u, J), qt.force(u, u_dot, J, GIVEN.torque)
    assert_close(mv(M, u), 0.0)
    assert np.all(np.linalg.matrix_rank(M, tol=1e-9) == 3)
    expected = 2 * np.einsum("...i,...ij,...j", omega, J, omega) + (u * GIVEN.torque).sum(-1)
    assert_close((u * Q).sum(-1), expected)


@pytest.mark.inventory("US-33")
def test_unit_norm_row_is_the_second_derivative_of_the_norm():
    # (92), (93), along the motion cos t, sin t of two unit quaternions at right angles
    A, b = qt.unit_norm_row(u, u_dot)
    assert A.shape == (4, 25, 1, 4)
    assert b.shape == (4, 25, 1)
    speed = np.linalg.norm(u_dot, axis=-1, keepdims=True)
    steady = -(speed**2) * u  # ü of u cos st + (u̇/s) sin st
    assert_close(mv(A, steady), b)
    assert_close(A[..., 0, :], u)
    assert_close(b, -(speed**2))


@pytest.mark.inventory("US-40")
def test_torques_convert_and_keep_their_power():
    # (113), (114): exact inverse only for Γ_u ⟂ u
    torque = qt.torque_u(u, GIVEN.torque_body)
    assert_close(qt.torque_B(u, torque), GIVEN.torque_body)
    assert_close((torque * u_dot).sum(-1), (GIVEN.torque_body * omega).sum(-1))
    back = qt.torque_u(u, qt.torque_B(u, GIVEN.torque))
    assert_close(back, GIVEN.torque - mv(u_uT, GIVEN.torque))
    assert np.abs(back - GIVEN.torque).max() > 0.1


@pytest.mark.inventory("NI-26")
def test_second_rate_is_the_derivative_of_the_rate():
    # with ω = 2Eu̇ differentiated: ω̇ = 2Eü, as Ėu̇ = 0; and uᵀü = −N(u̇)
    omega_dot = np.random.default_rng(6).standard_normal(omega.shape)
    u_ddot = qt.second_rate(u, omega, omega_dot)
    assert_close(2.0 * mv(E, u_ddot), omega_dot)
    assert_close((u * u_ddot).sum(-1), -(u_dot**2).sum(-1))


def _flat(*arrays):
    return [a.reshape(-1, a.shape[-1]) for a in arrays]
