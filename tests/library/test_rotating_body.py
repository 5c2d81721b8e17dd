"""Rotation in quaternions as systems: all forms against Euler's equations and each other."""

import numpy as np
import pytest
import sympy as sp
from derived_by_sympy import (
    COUNT,
    Derivation,
    assert_close,
    assert_consistent,
    assert_same_motion,
    motion,
)

import zwang as zw
from zwang import library
from zwang.rotation import euler_parameters as ep
from zwang.rotation import quaternion as qt
from zwang.rotation import quaternion_motion as qm

# Not principal axes: the formulas hold for any symmetric J.
INERTIA = np.array([[1.2, 0.1, -0.2], [0.1, 1.7, 0.3], [-0.2, 0.3, 2.1]])


def push(u, omega, t):
    """A torque in body axes that depends on everything."""
    return np.array([np.sin(t) + u[1], -0.3 * omega[1], u[0] * omega[2] - 1.0])


def push_at(state, omega):
    return np.array([push(u, w, t) for u, w, t in zip(state.q, omega, state.t, strict=True)])


TORQUES = pytest.mark.parametrize("torque", [None, push], ids=["torque-free", "torqued"])


def draw(form):
    return library.states("rotating_body", np.random.default_rng(31), COUNT, form=form)


def euler(state, torque):
    """ω, Γ_B, ω̇ by Euler's equations and ü by differentiating u̇ = ½ u∘(0, ω) twice."""
    omega = 2.0 * np.array([_vector(_conjugate(u), u_dot) for u, u_dot in zip(*state, strict=True)])
    body = np.zeros((COUNT, 3)) if torque is None else push_at(state, omega)
    moment = body - np.cross(omega, omega @ INERTIA)
    omega_dot = np.linalg.solve(INERTIA, moment.T).T
    u_ddot = 0.5 * np.array(
        [
            _product(u_dot, np.r_[0, w]) + _product(u, np.r_[0, w_dot])
            for u, u_dot, w, w_dot in zip(*state, omega, omega_dot, strict=True)
        ]
    )
    return omega, body, omega_dot, u_ddot


def _conjugate(u):
    return u * [1, -1, -1, -1]


def _product(p, q):
    w = p[0] * q[0] - p[1:] @ q[1:]
    return np.r_[w, p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]


def _vector(p, q):
    return _product(p, q)[1:]


def sympy_energy(q, w, t, p):
    """½ ωᵀJω with ω = 2 × vector part of ūu̇, all four components free."""
    scalar, rest = q[0], sp.Matrix(q[1:])
    rate = sp.Matrix(w[1:])
    omega = 2 * (scalar * rate - w[0] * rest - rest.cross(rate))
    J = sp.Matrix([[p.a, p.b, p.c], [p.b, p.d, p.e], [p.c, p.e, p.f]])
    return (omega.T * J * omega)[0] / 2


NUMBERS = dict(zip("abcdef", INERTIA[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]], strict=True))
UNIT = [("position", lambda q, v, t, p: (sum(x**2 for x in q) - 1) / 2)]


@TORQUES
@pytest.mark.inventory("US-32", "US-33")
def test_lagrange_form_equals_sympys_lagrange_equations(torque):
    def forces(q, w, t, p):
        if torque is None:
            return [0.9 * x for x in q]
        scalar, rest = q[0], sp.Matrix(q[1:])
        rate = sp.Matrix(w[1:])
        omega = 2 * (scalar * rate - w[0] * rest - rest.cross(rate))
        body = sp.Matrix([sp.sin(t) + q[1], -0.3 * omega[1], q[0] * omega[2] - 1])
        power = (body.T * omega)[0]  # Γ_u·u̇ = Γ_B·ω, Γ_B held fixed
        held = sp.symbols("n0:3")
        power = (sp.Matrix(held).T * omega)[0]
        return [
            power.diff(x).subs(dict(zip(held, body, strict=True))) + 0.9 * y
            for x, y in zip(w, q, strict=True)
        ]

    derivation = Derivation(4, NUMBERS, sympy_energy, forces=forces, constraints=UNIT)
    system = library.rotating_body(J=np.eye(3), torque=torque)
    state = draw("lagrange")
    assert_consistent(system, state)
    expected = derivation.at(state, NUMBERS)
    assert_same_motion(system, state, {"J": INERTIA, "radial": 0.9}, expected)


def test_lagrange_form_is_what_from_lagrangian_makes_of_the_energy():
    # (81), (87)
    by_energy = zw.System.from_lagrangian(
        coordinates=["u0", "u1", "u2", "u3"],
        parameters={"J": INERTIA},
        T=lambda q, v, p: qt.kinetic_energy_by_rate(q, v, p.J),
        constraints={"unit": zw.position(lambda q: (q @ q - 1) / 2)},
    )
    state = draw("lagrange")
    ours, theirs = library.rotating_body(J=INERTIA).terms(state), by_energy.terms(state)
    assert_close(ours.mass_matrix, theirs.mass_matrix)
    assert_close(ours.applied_force, theirs.applied_force)
    kinetic, potential = by_energy.energy(state)
    assert_close(kinetic, library.rotating_body(J=INERTIA).energy(state)[0])
    assert_close(potential, np.zeros(COUNT))


@TORQUES
@pytest.mark.inventory("US-32", "US-44", "XX-03")
def test_lagrange_form_obeys_eulers_equations_and_has_the_published_constraint_torque(torque):
    # (91)–(93), (121)
    state = draw("lagrange")
    omega, body, _, u_ddot = euler(state, torque)
    system = library.rotating_body(J=INERTIA, torque=torque, radial=0.8)
    s = system.solve(state)
    assert set(s.ranks.mass) == {3}
    assert_close(s.acceleration, u_ddot)
    gamma_u = qt.torque_u(state.q, body) + 0.8 * state.q
    assert_close(s.terms.applied_force, qt.force(*state, INERTIA, gamma_u))
    along = 2 * np.einsum("ki,ij,kj->k", omega, INERTIA, omega) + 0.8
    assert_close(s.multipliers[:, 0], -along)
    assert_close(s.constraint_force, -along[:, None] * state.q)
    assert_close(s.constraint_force, qm.constraint_torque(*state, INERTIA, gamma_u))


@TORQUES
@pytest.mark.parametrize("alpha", [1.0, -0.6, 2.5])
@pytest.mark.inventory("US-34", "US-36", "US-43", "US-45")
def test_auxiliary_form_has_the_same_motion_and_for_z_of_b_the_same_torque(torque, alpha):
    # (94), (120), (122), (123)
    state = draw("auxiliary")
    real = library.rotating_body(J=INERTIA, torque=torque, radial=0.8).solve(state)
    dyad = state.q[:, :, None] * state.q[:, None, :]
    for z in (None, 1.9):
        system = library.rotating_body(
            "auxiliary", J=INERTIA, torque=torque, radial=0.8, alpha=alpha, z=z
        )
        M = real.terms.mass_matrix + alpha**2 * dyad
        shift = -(alpha**2) * (state.v**2).sum(-1) if z is None else np.full(COUNT, z)
        Q = real.terms.applied_force + shift[:, None] * state.q
        A, b = state.q[:, None, :], -(state.v**2).sum(-1)[:, None]
        assert_same_motion(system, state, None, motion(M, Q, A, b))
        s = system.solve(state)
        assert set(s.ranks.mass) == {4}
        assert_close(s.acceleration, real.acceleration)
        if z is None:
            assert_close(s.constraint_force, real.constraint_force)
        gamma_u = real.terms.applied_force - qt.force(*state, INERTIA)
        expected = qm.auxiliary_constraint_torque(*state, INERTIA, gamma_u, alpha, shift)
        assert_close(s.constraint_force, expected)


@TORQUES
@pytest.mark.inventory("US-36", "US-42")
def test_explicit_form_needs_no_constraint(torque):
    # (107), (119)
    state = draw("explicit")
    omega, body, _, u_ddot = euler(state, torque)
    alpha = 1.4
    system = library.rotating_body("explicit", J=INERTIA, torque=torque, radial=0.8, alpha=alpha)
    s = system.solve(state)
    assert s.terms.constraint_count == 0
    assert_close(s.acceleration, u_ddot)
    E = qt.matrix_E(state.q)
    M = 4 * np.swapaxes(E, -1, -2) @ INERTIA @ E
    M += alpha**2 * state.q[:, :, None] * state.q[:, None, :]
    assert_close(s.terms.mass_matrix, M)
    by_omega = qm.right_side_by_omega(state.q, omega, INERTIA, body, alpha)
    assert_close(s.terms.applied_force, by_omega)


@TORQUES
@pytest.mark.inventory("US-30", "XX-03", "NI-13")
def test_form_in_angular_velocities_is_eulers_equations(torque):
    # (79), (11.18)
    state = draw("velocities")
    in_rates = zw.State(state.q, qt.rate(state.q, state.v), state.t)
    omega, body, omega_dot, _ = euler(in_rates, torque)
    assert_close(omega, state.v)
    system = library.rotating_body("velocities", J=INERTIA, torque=torque)
    s = system.solve(state)
    assert_close(s.terms.mass_matrix, np.broadcast_to(INERTIA, (COUNT, 3, 3)))
    assert_close(s.terms.applied_force, body - np.cross(omega, omega @ INERTIA))
    assert_close(s.acceleration, omega_dot)
    assert_close(system.position_rate(state), in_rates.v)


@TORQUES
@pytest.mark.inventory("XX-03")
def test_all_forms_and_formulations_one_to_three_give_one_acceleration(torque):
    state = draw("lagrange")
    omega, body, _, _ = euler(state, torque)
    n_star = ep.euler_moment(state.q, body)
    first = ep.formulation_1(*state, INERTIA, n_star)
    second = ep.formulation_2(*state, INERTIA, body)
    third = ep.formulation_3(state.q, omega, INERTIA, body)
    forms = {}
    for form in ("lagrange", "auxiliary", "explicit"):
        forms[form] = library.rotating_body(form, J=INERTIA, torque=torque).solve(state)
    in_omega = library.rotating_body("velocities", J=INERTIA, torque=torque)
    omega_dot = in_omega.solve(state.q, omega, state.t).acceleration
    others = [
        *(s.acceleration for s in forms.values()),
        qt.second_rate(state.q, omega, omega_dot),
        second.p_ddot,
        third.p_ddot,
        qm.acceleration(*state, INERTIA, n_star),
        qm.acceleration_by_omega(state.q, omega, INERTIA, body),
    ]
    for other in others:
        assert_close(other, first.p_ddot)
    # Q^c = −σp: the constraint torque is Nikravesh's artificial variable
    sigma = first.unknowns[:, 4:]
    assert_close(sigma[:, 0], ep.sigma(*state, INERTIA))
    assert_close(forms["lagrange"].constraint_force, -sigma * state.q)
    assert_close(forms["auxiliary"].constraint_force, -sigma * state.q)


def test_free_body_keeps_energy_and_angular_momentum_to_second_order():
    # d/dt of T and of R J ω vanish along the acceleration found
    state = draw("lagrange")
    omega, _, _, _ = euler(state, None)
    u_ddot = library.rotating_body(J=INERTIA).solve(state).acceleration
    omega_dot = 2 * np.einsum("kij,kj->ki", qt.matrix_E(state.q), u_ddot)
    power = np.einsum("ki,ij,kj->k", omega, INERTIA, omega_dot)
    momentum = omega_dot @ INERTIA + np.cross(omega, omega @ INERTIA)
    assert np.abs(power).max() < 1e-12 * np.abs(omega).max() ** 3
    assert np.abs(momentum).max() < 1e-12 * np.abs(omega).max() ** 2
