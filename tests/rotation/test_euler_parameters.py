"""Nikravesh (1988), sections 11.1 and 11.2: moments and the three formulations of a free body."""

import numpy as np
import pytest
from bodies_at_random import BATCH, Bodies, assert_close, column, mv
from scipy.spatial.transform import Rotation

from zwang.rotation import euler_parameters as ep
from zwang.rotation import quaternion as qt
from zwang.rotation import quaternion_motion as qm

GIVEN = Bodies(3)
p, p_dot, omega, J = GIVEN.u, GIVEN.u_dot, GIVEN.omega, GIVEN.J
n_body = GIVEN.torque_body
n_star = ep.euler_moment(p, n_body)
L, G, A = ep.matrix_L(p), ep.matrix_G(p), ep.rotation_matrix(p)
s = np.random.default_rng(4).standard_normal((*BATCH, 3))


def t(matrix):
    return np.swapaxes(matrix, -1, -2)


def euler():
    """ω̇′ by Euler's equations, with NumPy's cross product."""
    moment = n_body - np.cross(omega, mv(J, omega))
    return np.linalg.solve(J, moment[..., None])[..., 0]


def test_G_and_L_give_the_rotation_matrix_and_both_angular_velocities():
    reference = Rotation.from_quat(p.reshape(-1, 4), scalar_first=True).as_matrix()
    assert_close(A, reference.reshape(*BATCH, 3, 3))
    assert_close(G @ t(L), A)
    assert_close(2 * mv(L, p_dot), omega)
    assert_close(2 * mv(G, p_dot), mv(A, omega))


@pytest.mark.inventory("NI-03")
def test_moments_convert_between_body_world_and_euler_components():
    # (a), (11.1)–(11.4)
    n = mv(A, n_body)
    assert_close((p_dot * n_star).sum(-1), (omega * n_body).sum(-1))
    assert_close(ep.euler_moment_of_global(p, n), n_star)
    assert_close(ep.body_moment(p, n_star), n_body)
    assert_close(ep.global_moment(p, n_star), n)


@pytest.mark.inventory("NI-04")
def test_derivative_of_a_body_point_by_the_euler_parameters():
    # (11.5), (b): A is quadratic in p, so the central difference is exact for any step
    r = np.random.default_rng(5).standard_normal((*BATCH, 3))
    assert_close(ep.point_position(r, p, s), r + mv(A, s))
    columns = [
        (ep.point_position(r, p + d, s) - ep.point_position(r, p - d, s)) / 2 for d in np.eye(4)
    ]
    assert_close(ep.point_jacobian(p, s), np.stack(columns, axis=-1))
    expected = -np.cross(s[..., None, :], t(L)).swapaxes(-1, -2) + column(s) * p[..., None, :]
    assert_close(L @ ep.bar(s), expected)
    # (11.6): where pᵀδp = 0 the shorter form does
    reduced = ep.point_jacobian_reduced(p, s)
    assert_close(mv(reduced, p_dot), mv(ep.point_jacobian(p, s), p_dot))
    assert np.abs(mv(reduced - ep.point_jacobian(p, s), p)).max() > 0.1


@pytest.mark.inventory("NI-05")
def test_virtual_work_of_a_force_at_a_point():
    # (11.7): fᵀδ(As′) = n*ᵀδp with n′ = s̃′f′
    f_body = np.random.default_rng(6).standard_normal((*BATCH, 3))
    moment = ep.moment_of_force(s, f_body)
    assert_close(moment, np.cross(s, f_body))
    work = (mv(A, f_body) * mv(ep.point_jacobian(p, s), p_dot)).sum(-1)
    assert_close((ep.euler_moment(p, moment) * p_dot).sum(-1), work)


@pytest.mark.inventory("NI-44")
def test_problem_11_6():
    q = [0.5, 0.7, -0.5, 0.1]
    n = ep.moment_of_force([1, -1, 2], [3, -2, -1])
    star = ep.euler_moment(q, n)
    np.testing.assert_allclose(n, [5, 7, 1], atol=1e-14)
    np.testing.assert_allclose(star, [-0.2, 2.6, 6.6, 15.8], atol=1e-14)
    np.testing.assert_allclose(ep.global_moment(q, star), [-3.56, -3.80, 6.92], atol=1e-14)


@pytest.mark.inventory("NI-07")
def test_three_equations_in_the_euler_parameters():
    # (11.9) at the p̈ that Euler's equations give
    p_ddot = qt.second_rate(p, omega, euler())
    assert_close(ep.euler_equations(p, p_dot, p_ddot, J), n_body)


@pytest.mark.inventory("NI-08", "NI-39", "NI-40")
def test_inertia_in_euler_parameters():
    # (11.11), (11.12); problems 11.1 and 11.2
    inertia = ep.euler_inertia(p, J)
    assert_close(inertia, 4 * t(L) @ J @ L)
    assert_close(mv(inertia, p), 0.0)
    assert_close(inertia, 4 * t(G) @ (A @ J @ t(A)) @ G)
    H = ep.matrix_H(p, p_dot, J)
    assert_close(H, 4 * t(ep.matrix_L(p_dot)) @ J @ L)
    # (11.10)
    p_ddot = qt.second_rate(p, omega, euler())
    assert_close(mv(inertia, p_ddot) + 2 * mv(t(L) @ L @ H, p_dot), n_star)


@pytest.mark.inventory("NI-43")
def test_kinetic_energy_in_euler_parameters():
    # Problem 11.5
    energy = 0.5 * np.einsum("...i,...ij,...j", p_dot, ep.euler_inertia(p, J), p_dot)
    assert_close(energy, qt.kinetic_energy(omega, J))
    in_world = 0.5 * np.einsum("...i,...ij,...j", mv(A, omega), A @ J @ t(A), mv(A, omega))
    assert_close(energy, in_world)


@pytest.mark.inventory("NI-09", "NI-10")
def test_artificial_variable_and_four_equations():
    # (11.13)–(11.15)
    sigma = ep.sigma(p, p_dot, J)
    assert_close(sigma, 2 * np.einsum("...i,...ij,...j", omega, J, omega))
    L_dot = ep.matrix_L(p_dot)
    assert_close(sigma, -8 * (p * mv(t(L_dot) @ J @ L, p_dot)).sum(-1))
    p_ddot = qt.second_rate(p, omega, euler())
    assert_close(ep.four_equations(p, p_dot, p_ddot, J), n_star)
    assert_close(ep.norm_acceleration(p, p_dot, p_ddot), 0.0)
    assert np.abs(ep.norm_acceleration(p, p_dot, p_ddot + p)).min() > 0.9


@pytest.mark.inventory("NI-11", "NI-12", "NI-13", "NI-14", "XX-03")
def test_three_formulations_of_five_four_and_three_equations_agree():
    # (11.16)–(11.18)
    first = ep.formulation_1(p, p_dot, J, n_star)
    second = ep.formulation_2(p, p_dot, J, n_body)
    third = ep.formulation_3(p, omega, J, n_body)
    assert [m.unknowns.shape[-1] for m in (first, second, third)] == [5, 4, 3]
    assert_close(third.unknowns, euler())
    expected = qt.second_rate(p, omega, euler())
    for motion in (first, second, third):
        assert_close(motion.p_ddot, expected)
        assert_close(mv(motion.matrix, motion.unknowns), motion.right_side)
    assert_close(first.unknowns[..., 4], ep.sigma(p, p_dot, J))


@pytest.mark.inventory("NI-41", "NI-48")
def test_problem_11_3_as_functions():
    first = ep.formulation_1(p, p_dot, J, n_star)
    assert_close(ep.inverse_1(p, J) @ first.matrix, np.eye(5))
    assert_close(first.matrix @ ep.inverse_1(p, J), np.eye(5))
    p_ddot, sigma = ep.acceleration_1(p, p_dot, J, n_star)
    # Against Euler's equations with NumPy's cross product, and (11.13).
    assert_close(p_ddot, qt.second_rate(p, omega, euler()))
    assert_close(sigma, 2 * (omega * mv(J, omega)).sum(-1))
    # A force with a part along p changes σ alone.
    p_same, more = ep.acceleration_1(p, p_dot, J, n_star + 0.7 * p)
    assert_close(p_same, p_ddot)
    assert_close(more - sigma, 0.7)


@pytest.mark.inventory("NI-42", "NI-48")
def test_problem_11_4_as_functions():
    second = ep.formulation_2(p, p_dot, J, n_body)
    assert_close(ep.inverse_2(p, J) @ second.matrix, np.eye(4))
    assert_close(ep.acceleration_2(p, p_dot, J, n_body), qt.second_rate(p, omega, euler()))


@pytest.mark.inventory("NI-10")
def test_norm_acceleration_is_half_the_second_derivative_of_the_square():
    a = np.random.default_rng(8).standard_normal(p.shape)
    h = 1e-4

    def square(s):
        at = p + s * p_dot + s**2 / 2 * a
        return (at**2).sum(-1)

    expected = (square(h) - 2 * square(0.0) + square(-h)) / (2 * h**2)
    assert_close(ep.norm_acceleration(p, p_dot, a), expected, 1e-6)


@pytest.mark.inventory("NI-41", "NI-42")
def test_inverses_of_formulations_one_and_two_in_closed_form():
    # Problems 11.3 and 11.4
    J_inv = np.linalg.inv(J)
    quarter = 0.25 * t(L) @ J_inv @ L
    row = p[..., None, :]
    inverse = np.concatenate(
        [
            np.concatenate([quarter, column(p)], axis=-1),
            np.concatenate([row, np.zeros((*BATCH, 1, 1))], axis=-1),
        ],
        axis=-2,
    )
    first = ep.formulation_1(p, p_dot, J, n_star)
    assert_close(inverse @ first.matrix, np.eye(5))
    free = n_star - 2 * mv(ep.matrix_H(p, p_dot, J), p_dot)
    speed = column((p_dot**2).sum(-1))
    assert_close(first.p_ddot, mv(quarter, free) - speed * p)
    assert_close(first.unknowns[..., 4], (p * free).sum(-1))
    second = ep.formulation_2(p, p_dot, J, n_body)
    inverse = np.concatenate([0.5 * t(L) @ J_inv, column(p)], axis=-1)
    assert_close(inverse @ second.matrix, np.eye(4))
    free = n_body - mv(L @ ep.matrix_H(p, p_dot, J), p_dot)
    assert_close(second.p_ddot, 0.5 * mv(t(L) @ J_inv, free) - speed * p)


@pytest.mark.inventory("XX-03")
def test_quaternion_equations_are_formulations_one_to_three():
    # Udwadia & Schutte (112), (116), (121) against Nikravesh (11.14), (11.16): Q^c = −σp
    first = ep.formulation_1(p, p_dot, J, n_star)
    assert_close(qm.acceleration(p, p_dot, J, n_star), first.p_ddot)
    assert_close(qm.acceleration_by_omega(p, omega, J, n_body), first.p_ddot)
    assert_close(qm.constraint_torque(p, p_dot, J, n_star), -first.unknowns[..., 4:] * p)
    assert_close(qt.mass_matrix(p, J), ep.euler_inertia(p, J))
    assert_close(qt.force(p, p_dot, J), -2 * mv(ep.matrix_H(p, p_dot, J), p_dot))
    assert_close(qt.torque_u(p, n_body), n_star)
