"""Udwadia & Schutte (2010), section 4: the auxiliary system and all forms of the equation."""

import numpy as np
import pytest
from bodies_at_random import Bodies, assert_close, column, mv

from zwang.rotation import quaternion as qt
from zwang.rotation import quaternion_motion as qm

# α of both signs, z arbitrary, torques with and without a part along u.
GIVEN = Bodies(2)
u, u_dot, omega, J = GIVEN.u, GIVEN.u_dot, GIVEN.omega, GIVEN.J
alpha, z = GIVEN.alpha, GIVEN.z
STATE = (u, u_dot, J)
E = qt.matrix_E(u)
E_T = np.swapaxes(E, -1, -2)
u_uT = column(u) * u[..., None, :]

BODY_TORQUE = qt.torque_u(u, GIVEN.torque_body)
torques = pytest.mark.parametrize(
    "torque", [0.0, BODY_TORQUE, GIVEN.torque], ids=["free", "across u", "along u too"]
)


def truth(torque):
    """ü, Q^c of M ü = Q + u λ, uᵀü = −N(u̇), by the bordered system of linear equations."""
    border = np.zeros((*u.shape[:-1], 5, 5))
    border[..., :4, :4] = 4.0 * E_T @ J @ E
    border[..., :4, 4] = border[..., 4, :4] = u
    right = np.zeros((*u.shape[:-1], 5))
    E_dot_T = np.swapaxes(qt.matrix_E(u_dot), -1, -2)
    right[..., :4] = -4.0 * mv(E_dot_T, mv(J, omega)) + torque  # −8ĖᵀJEu̇ + Γ_u with ω = 2Eu̇
    right[..., 4] = -(u_dot**2).sum(-1)
    answer = np.linalg.solve(border, right[..., None])[..., 0]
    return answer[..., :4], -u * answer[..., 4:]


def twice_energy():
    return np.einsum("...i,...ij,...j", omega, J, omega)


@pytest.mark.inventory("US-34")
def test_auxiliary_mass_is_positive_definite_by_the_papers_proof():
    # (94)–(99)
    M_A = qm.auxiliary_mass(u, J, alpha)
    assert_close(M_A, 4 * E_T @ J @ E + (alpha**2)[..., None, None] * u_uT)
    assert np.linalg.eigvalsh(M_A).min() > 0
    V, M_hat, W = qm.rank_proof(u, J)
    assert_close(V @ np.swapaxes(V, -1, -2), np.eye(5))
    assert_close(W @ (4 * E_T @ J @ E + u_uT), np.eye(4))
    assert_close(M_hat, np.concatenate([4 * E_T @ J @ E, u[..., None, :]], axis=-2))
    assert_close(V @ M_hat @ W, np.eye(5, 4))


@pytest.mark.inventory("US-35")
@pytest.mark.parametrize("k", [1.0, -1.0, 0.5, -0.5])
def test_powers_of_the_auxiliary_mass(k):
    # (101), for α < 0 with (α²)^k
    values, axes = np.linalg.eigh(qm.auxiliary_mass(u, J, alpha))
    expected = (axes * values[..., None, :] ** k) @ np.swapaxes(axes, -1, -2)
    assert_close(qm.auxiliary_mass_power(u, J, alpha, k), expected)


@torques
@pytest.mark.inventory("US-35")
def test_parts_of_the_fundamental_equation_in_closed_form(torque):
    # (102)–(104) from M_A and Q_z solved numerically
    M_A = qm.auxiliary_mass(u, J, alpha)
    Q_z = qt.force(u, u_dot, J, torque) + column(z) * u
    assert_close(qm.auxiliary_force(*STATE, torque, z), Q_z)
    a = np.linalg.solve(M_A, Q_z[..., None])[..., 0]
    tolerance = 1e-12  # M_A has a condition number of up to 300
    assert_close(qm.auxiliary_free_acceleration(*STATE, torque, alpha, z), a, tolerance)
    assert_close(qm.along_row(*STATE, torque, alpha, z), (u * a).sum(-1), tolerance)
    e = -(u_dot**2).sum(-1) - (u * a).sum(-1)
    assert_close(qm.dissatisfaction(*STATE, torque, alpha, z), e, tolerance)


@pytest.mark.inventory("US-35")
def test_weighted_pseudoinverse_is_u_times_the_size_of_alpha():
    # (105), (106); the paper's αu has the wrong sign for α < 0
    assert (alpha < 0).any()
    row = (u[..., None, :] @ qm.auxiliary_mass_power(u, J, alpha, -0.5))[..., 0, :]
    pinv = row / (row**2).sum(-1, keepdims=True)
    assert_close(qm.weighted_row_pinv(u, alpha), pinv)
    half = qm.auxiliary_mass_power(u, J, alpha, 0.5)
    assert_close(qm.gain(u, alpha), mv(half, pinv))
    assert np.abs(alpha[..., None] * u - pinv).max() > 0.1


@torques
@pytest.mark.inventory("US-36", "US-45")
def test_equation_with_positive_definite_mass_has_the_acceleration_of_the_singular_one(torque):
    # (107), (122), (123)
    u_ddot, Q_c = truth(torque)
    left = mv(qm.auxiliary_mass(u, J, alpha), u_ddot)
    assert_close(qm.right_side(*STATE, torque, alpha), left)
    given = qm.given_force(*STATE, torque, alpha)
    assert_close(given + Q_c, left)
    assert_close(given, qm.auxiliary_force(*STATE, torque, -(alpha**2) * (u_dot**2).sum(-1)))


@torques
@pytest.mark.inventory("US-37")
def test_explicit_acceleration_unsimplified_and_expanded(torque):
    # (108), (109): independent of α, also of its sign
    u_ddot, _ = truth(torque)
    for each in (alpha, -alpha, 3.0):
        assert_close(qm.acceleration_unsimplified(*STATE, torque, each), u_ddot)
        assert_close(qm.acceleration_expanded(*STATE, torque, each), u_ddot)


@torques
@pytest.mark.inventory("US-39")
def test_explicit_acceleration(torque):
    # (112)
    assert_close(qm.acceleration(*STATE, torque), truth(torque)[0])


@pytest.mark.inventory("US-41")
def test_explicit_acceleration_by_angular_velocity_and_body_torque():
    # (115), (116)
    assert_close((u_dot**2).sum(-1), 0.25 * (omega**2).sum(-1))
    found = qm.acceleration_by_omega(u, omega, J, GIVEN.torque_body)
    assert_close(found, truth(BODY_TORQUE)[0])


@pytest.mark.inventory("US-42")
def test_mass_matrix_form_by_angular_velocity_and_body_torque():
    # (119)
    left = mv(qm.auxiliary_mass(u, J, alpha), truth(BODY_TORQUE)[0])
    assert_close(qm.right_side_by_omega(u, omega, J, GIVEN.torque_body, alpha), left)


@torques
@pytest.mark.inventory("US-43")
def test_auxiliary_constraint_torque_for_any_alpha_and_z(torque):
    # (120): M_A ü − Q_z
    M_A, Q_z = qm.auxiliary_mass(u, J, alpha), qm.auxiliary_force(*STATE, torque, z)
    found = qm.auxiliary_constraint_torque(*STATE, torque, alpha, z)
    assert_close(found, mv(M_A, truth(torque)[0]) - Q_z)


@torques
@pytest.mark.inventory("US-44")
def test_constraint_torque_that_keeps_the_quaternion_unit(torque):
    # (121), and z = α²b in (120)
    expected = truth(torque)[1]
    along = (u * torque).sum(-1)
    assert_close(expected, -column(2 * twice_energy() + along) * u)
    assert_close(qm.constraint_torque(*STATE, torque), expected)
    z_b = -(alpha**2) * (u_dot**2).sum(-1)
    assert_close(qm.auxiliary_constraint_torque(*STATE, torque, alpha, z_b), expected)


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (qm.auxiliary_mass, 2),
        (qm.auxiliary_free_acceleration, 3),
        (qm.along_row, 3),
        (qm.dissatisfaction, 3),
        (qm.right_side, 3),
        (qm.right_side_by_omega, 3),
        (qm.acceleration_unsimplified, 3),
        (qm.acceleration_expanded, 3),
        (qm.auxiliary_constraint_torque, 3),
        (qm.given_force, 3),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_alpha_is_one_and_torque_and_z_are_zero_unless_given(function, count):
    state = {2: (u, J), 3: (u, omega if "omega" in function.__name__ else u_dot, J)}[count]
    zero = np.zeros((*u.shape[:-1], 3 if "omega" in function.__name__ else 4))
    given = [zero, np.ones(u.shape[:-1]), np.zeros(u.shape[:-1])]
    names = function.__code__.co_varnames[count : function.__code__.co_argcount]
    given = given[1:2] if count == 2 else given[: len(names)]
    assert_close(function(*state), function(*state, *given))
