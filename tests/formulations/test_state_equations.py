"""Blajer (1992), (2.8) and (3.5): all equations for v̇, ẋ and λ as one linear set."""

import numpy as np
import pytest

import zwang as zw
from zwang.formulations.state_equations import full_equations, reaction_free_equations

#: Two dense solves of ten equations with condition below 1e3.
SAME = 1e-11


def driven_system():
    """Quasi-velocities with N and n₀, a full mass matrix, two independent rows, M > 0."""
    return zw.System(
        coordinates=["x", "y", "z", "w"],
        velocities=["v1", "v2", "v3", "v4"],
        kinematics=(
            lambda q, t: [
                [1.0, 0.2 * t, 0.0, 0.0],
                [0.0, 1.0 + q[0] ** 2, 0.3, 0.0],
                [0.0, 0.0, 1.0, q[1]],
                [0.4, 0.0, 0.0, 2.0],
            ],
            lambda q, t: [np.sin(t), 0.0, 0.1 * t, q[2]],
        ),
        mass=lambda q: (
            np.diag([2.0, 3.0 + q[2] ** 2, 1.5, 1.0]) + 0.2 * np.outer([1, 0, 1, 1], [1, 0, 1, 1])
        ),
        force=lambda q, v, t: [-q[0], np.sin(t), -1.0 - 0.3 * v[2], q[1] * v[0]],
        constraints={
            "rail": zw.velocity(lambda q, v, t: v[1] - q[2] * v[0] - np.cos(t)),
            "surface": zw.position(lambda q, t: q[0] * q[3] + q[1] ** 2 - t),
        },
    )


STATE = np.array([0.3, -0.4, 0.8, 0.1]), np.array([0.9, -1.2, 0.7, 0.2]), 0.6


@pytest.mark.inventory("BL-08")
def test_all_2n_plus_m_equations_hold_for_the_motion_and_have_no_other_solution():
    system = driven_system()
    q, v, t = STATE
    terms, rate = system.terms(q, v, t), system.position_rate(q, v, t)
    equations = full_equations(terms, rate)
    assert equations.matrix.shape == (10, 10)
    assert equations.right_side.shape == (10,)
    assert np.array_equal(equations.matrix[:4, :4], terms.mass_matrix)
    assert np.array_equal(equations.right_side[:4], terms.applied_force)
    solution = equations.solve()
    # By Gauss's principle, without any of the matrices above: the projected free acceleration.
    M, A = terms.mass_matrix, terms.constraint_matrix
    free = np.linalg.solve(M, terms.applied_force)
    pull = np.linalg.solve(M, A.T)
    lam = np.linalg.solve(A @ pull, terms.constraint_rhs - A @ free)
    assert solution[:4] == pytest.approx(free + pull @ lam, abs=SAME)
    # ẋ by hand
    N = [[1, 0.12, 0, 0], [0, 1.09, 0.3, 0], [0, 0, 1, -0.4], [0.4, 0, 0, 2]]
    x_dot = np.array(N) @ v + [np.sin(0.6), 0.0, 0.06, 0.8]
    assert solution[4:8] == pytest.approx(x_dot, abs=SAME)
    assert solution[8:] == pytest.approx(lam, abs=SAME)
    assert np.abs(lam).min() > 0.01


@pytest.mark.inventory("BL-12")
def test_2n_equations_without_reactions_give_the_same_rates():
    system = driven_system()
    q, v, t = STATE
    terms, rate = system.terms(q, v, t), system.position_rate(q, v, t)
    expected = np.concatenate([system.solve(q, v, t).acceleration, rate])
    assert np.abs(expected).min() > 0.01
    own = np.array([[1.0, 0.3], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    A = terms.constraint_matrix
    own[1:3] = -np.linalg.solve(A[:, 1:3], A[:, [0, 3]] @ [[1.0, 0.3], [0.0, 1.0]])
    own[3] = [0.0, 1.0]
    for basis in (None, own):  # any complement D of C will do
        equations = reaction_free_equations(terms, rate, basis)
        assert equations.matrix.shape == (8, 8)
        assert equations.solve() == pytest.approx(expected, abs=SAME)
    D = own.T
    assert reaction_free_equations(terms, rate, own).right_side == pytest.approx(
        np.concatenate([terms.constraint_rhs, D @ terms.applied_force, rate])
    )


@pytest.mark.inventory("BL-08", "BL-12")
def test_many_states_at_once():
    system = driven_system()
    q, v, t = STATE
    many = [q * k for k in (1.0, 1.1, 1.2)], [v * k for k in (1.0, 0.9, 0.8)], [t, t, 0.2]
    terms, rate = system.terms(*many), system.position_rate(*many)
    full, free = full_equations(terms, rate).solve(), reaction_free_equations(terms, rate).solve()
    assert full[:, :8] == pytest.approx(free, abs=SAME)
    assert full[0] == pytest.approx(
        full_equations(system.terms(q, v, t), system.position_rate(q, v, t)).solve()
    )
