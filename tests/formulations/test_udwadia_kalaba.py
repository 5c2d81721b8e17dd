"""Udwadia & Kalaba (1996), with M^(1/2) by Schur's method and pseudoinverses by NumPy."""

import numpy as np
import pytest

from samples import (
    assert_close,
    constraint_force,
    inverse_root,
    motion,
    plus,
    root,
    sample,
    with_definite_mass,
)
from zwang.formulations.contract import Facts
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.solvers.dense import solve
from zwang.terms import EquationTerms


def dissatisfaction(s):
    return s.b - s.A @ np.linalg.solve(s.M, s.Q)


@pytest.mark.inventory("UK-01")
def test_free_acceleration_of_particles_is_force_over_mass():
    mass = np.array([0.5, 0.5, 2.0, 2.0])
    F = np.array([1.0, -9.0, 3.0, 8.0])
    terms = EquationTerms.of(np.diag(mass), F, [[1.0, 0.0, -1.0, 0.0]], [0.0])
    assert_close(UdwadiaKalaba(terms).free_acceleration, F / mass)


@with_definite_mass
@pytest.mark.inventory("UK-01")
def test_free_acceleration_solves_the_unconstrained_equation(given):
    a = UdwadiaKalaba(given.terms).free_acceleration
    assert_close(a, given.each(lambda s: np.linalg.solve(s.M, s.Q)))


@with_definite_mass
@pytest.mark.inventory("UK-03")
def test_constraint_matrix_of_the_paper_is_A_by_the_inverse_root_of_M(given):
    uk = UdwadiaKalaba(given.terms)
    assert_close(uk.weighted_constraint_matrix, given.each(lambda s: s.A @ inverse_root(s.M)))
    half, inverse_half = uk.mass_roots
    assert_close(half, given.each(lambda s: root(s.M)))
    assert_close(inverse_half, given.each(lambda s: inverse_root(s.M)))


@with_definite_mass
@pytest.mark.inventory("UK-04")
def test_force_form_of_the_equation_of_motion(given):
    # (4): M ẍ = F + M^(1/2) (A M^(−1/2))⁺ (b − A M⁻¹F)
    def formula(s):
        B = s.A @ inverse_root(s.M)
        return s.Q + root(s.M) @ plus(B) @ dissatisfaction(s)

    ideal = given.ideal
    uk = UdwadiaKalaba(ideal.terms)
    assert_close(uk.force_form, ideal.each(formula))
    assert_close(uk.force_form, ideal.each(lambda s: s.M @ motion(s)))


@with_definite_mass
@pytest.mark.inventory("UK-05")
def test_acceleration_form_of_the_equation_of_motion(given):
    # (5): ẍ = a + M^(−1/2) (A M^(−1/2))⁺ (b − A a)
    def formula(s):
        a, W = np.linalg.solve(s.M, s.Q), inverse_root(s.M)
        return a + W @ plus(s.A @ W) @ (s.b - s.A @ a)

    ideal = given.ideal
    uk = UdwadiaKalaba(ideal.terms)
    assert_close(uk.acceleration, ideal.each(formula))
    assert_close(uk.acceleration, ideal.each(motion))
    assert_close(uk.respond(ideal.Q, ideal.b)[0], ideal.each(motion))


@with_definite_mass
@pytest.mark.inventory("US-05")
def test_fundamental_equation_with_nonideal_constraints(given):
    # (7) of Udwadia & Schutte: … + M^(−1/2) (I − B⁺B) M^(−1/2) C
    def share(s):
        W = inverse_root(s.M)
        B = s.A @ W
        return W @ (np.eye(s.n) - plus(B) @ B) @ W @ s.C

    def formula(s):
        a, W = np.linalg.solve(s.M, s.Q), inverse_root(s.M)
        return a + W @ plus(s.A @ W) @ (s.b - s.A @ a) + share(s)

    uk = UdwadiaKalaba(given.terms)
    assert_close(uk.nonideal_acceleration, given.each(share))
    assert_close(uk.acceleration, given.each(formula))
    assert_close(uk.acceleration, given.each(motion))
    assert_close(uk.constraint_force, given.each(constraint_force))


@with_definite_mass
@pytest.mark.inventory("UK-11")
def test_deviation_is_the_gain_times_the_dissatisfaction(given):
    ideal = given.ideal
    uk = UdwadiaKalaba(ideal.terms)
    assert_close(uk.dissatisfaction, ideal.each(dissatisfaction))
    # (15): K₁ = M^(−1/2) (A M^(−1/2))⁺
    gain = ideal.each(lambda s: inverse_root(s.M) @ plus(s.A @ inverse_root(s.M)))
    assert_close(uk.acceleration_gain, gain)
    assert_close(uk.deviation, ideal.each(lambda s: motion(s) - np.linalg.solve(s.M, s.Q)))
    assert_close(uk.deviation, (gain @ uk.dissatisfaction[..., None])[..., 0])
    # What the free motion misses is what the deviation supplies.
    assert_close((ideal.A @ uk.deviation[..., None])[..., 0], uk.dissatisfaction)


@with_definite_mass
@pytest.mark.inventory("UK-12")
def test_constraint_force_is_the_gain_times_the_dissatisfaction(given):
    ideal = given.ideal
    uk = UdwadiaKalaba(ideal.terms)
    # (17): K = M^(1/2) (A M^(−1/2))⁺
    assert_close(uk.force_gain, ideal.each(lambda s: root(s.M) @ plus(s.A @ inverse_root(s.M))))
    assert_close(uk.constraint_force, ideal.each(constraint_force))
    assert_close(uk.constraint_force, (uk.force_gain @ uk.dissatisfaction[..., None])[..., 0])


@with_definite_mass
@pytest.mark.inventory("UK-11", "UK-12")
def test_with_a_nonideal_force_deviation_and_constraint_force_hold_its_part(given):
    uk = UdwadiaKalaba(given.terms)
    assert np.abs(given.C).max() > 0.1
    assert_close(uk.deviation, given.each(lambda s: motion(s) - np.linalg.solve(s.M, s.Q)))
    assert_close(uk.constraint_force, given.each(constraint_force))


@with_definite_mass
@pytest.mark.inventory("UK-13")
def test_multipliers_exist_for_dependent_constraints_too(given):
    # (18): M ẍ = F + Aᵀλ, and with a non-ideal force + C
    uk = UdwadiaKalaba(given.terms)
    lam = uk.multipliers
    force = (np.swapaxes(given.A, -1, -2) @ lam[..., None])[..., 0]
    assert_close(force + given.Q + given.C, given.each(lambda s: s.M @ motion(s)))
    # (21): Bᵀλ = B⁺e leaves nothing unsolved
    assert uk.multiplier_existence < 1e-13


@pytest.mark.inventory("UK-13")
def test_multiplier_existence_sees_a_force_outside_the_rows(monkeypatch):
    uk = UdwadiaKalaba(sample("redundant rows").terms)
    tilted = uk._weighted.least_norm(uk.dissatisfaction) + 0.1
    monkeypatch.setattr(type(uk._weighted), "least_norm", lambda self, rhs: tilted)
    assert uk.multiplier_existence > 1e-3


@with_definite_mass
@pytest.mark.inventory("UK-14")
def test_all_multipliers_for_a_chosen_h(given):
    # (22): λ = (Aᵀ)⁺ F^c + [I − (Aᵀ)⁺Aᵀ] h
    uk = UdwadiaKalaba(given.terms)
    h = np.random.default_rng(4).standard_normal((*given.batch, given.m))

    def particular(s):
        return plus(s.A.T) @ (constraint_force(s) - s.C)

    def projector(s):
        return np.eye(s.m) - plus(s.A.T) @ s.A.T

    expected = given.each(particular) + (given.each(projector) @ h[..., None])[..., 0]
    lam = uk.all_multipliers(h)
    assert_close(lam, expected)
    force = (np.swapaxes(given.A, -1, -2) @ lam[..., None])[..., 0]
    assert_close(force + given.C, given.each(constraint_force))
    if given.m > given.rank:
        assert np.max(np.abs(lam - uk.multipliers)) > 1e-2


@pytest.mark.inventory("UK-14")
def test_every_set_of_multipliers_is_reached_by_taking_it_for_h():
    given = sample("redundant rows")
    uk = UdwadiaKalaba(given.terms)
    Z = np.linalg.svd(given.A.T)[2][given.rank :].T  # N(Aᵀ)
    other = uk.multipliers + Z @ [2.0, -5.0]
    assert_close(uk.all_multipliers(other), other)


@with_definite_mass
@pytest.mark.inventory("UK-15")
def test_multipliers_are_unique_exactly_for_independent_rows(given):
    uk = UdwadiaKalaba(given.terms)
    assert uk.multipliers_unique == (given.rank == given.m)


@with_definite_mass
@pytest.mark.inventory("UK-15")
def test_multipliers_are_their_gain_times_the_dissatisfaction(given):
    # (23): K₂ = (A M⁻¹Aᵀ)⁻¹ for independent rows, the pseudoinverse in general
    ideal = given.ideal
    uk = UdwadiaKalaba(ideal.terms)

    def gain(s):
        H = s.A @ np.linalg.solve(s.M, s.A.T)
        return np.linalg.inv(H) if s.rank == s.m else plus(H)

    assert_close(uk.multiplier_gain, ideal.each(gain))
    lam = (ideal.each(gain) @ uk.dissatisfaction[..., None])[..., 0]
    assert_close(uk.respond(ideal.Q, ideal.b)[1], lam)
    force = (np.swapaxes(ideal.A, -1, -2) @ lam[..., None])[..., 0]
    assert_close(force, ideal.each(constraint_force))


def test_obstacle_decides_from_the_mass_matrix_alone():
    assert UdwadiaKalaba.obstacle(Facts(positive_definite=True, unique=True)) is None
    why = UdwadiaKalaba.obstacle(Facts(positive_definite=False, unique=True))
    assert why is not None
    assert "positive definite" in why


# --- what the equation is for ---------------------------------------------------------------------


def controlled(state, t, wish):
    """Rate of (x, y, ẋ, ẏ) of two coupled nonlinear oscillators, and the control force on them."""
    x, y, u, w = state
    M = np.array([[2.0, 0.3], [0.3, 1.0]])
    Q = np.array([-(x**3) + 0.5 * y, np.sin(x) - y - 0.1 * w])
    s = solve(M, Q, [[1.0, 1.0]], [wish(t)])  # x + y is to follow a given course
    return np.array([u, w, *s.acceleration]), s.constraint_force, M, Q


@pytest.mark.inventory("UK-20")
def test_control_force_makes_a_nonlinear_system_follow_a_course_exactly():
    def course(t):
        return np.sin(t) + 0.2 * np.cos(3.0 * t)

    def wish(t):  # its second derivative
        return -np.sin(t) - 1.8 * np.cos(3.0 * t)

    state, t, h = np.array([0.15, 0.05, 0.4, 0.6]), 0.0, 0.01
    for _ in range(100):  # Runge–Kutta of order 4
        k1 = controlled(state, t, wish)[0]
        k2 = controlled(state + h / 2 * k1, t + h / 2, wish)[0]
        k3 = controlled(state + h / 2 * k2, t + h / 2, wish)[0]
        k4 = controlled(state + h * k3, t + h, wish)[0]
        state, t = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), t + h
    # The method errs by h⁴ per unit of time, times derivatives of the course up to 3⁵.
    assert state[0] + state[1] == pytest.approx(course(t), abs=1e-6)


@pytest.mark.inventory("UK-20")
def test_control_force_is_the_least_that_achieves_the_course():
    _, force, M, Q = controlled(np.array([0.3, -0.2, 1.0, 0.5]), 0.7, lambda t: 2.0 + t)
    cost = force @ np.linalg.solve(M, force)
    for direction in ([1.0, 0.0], [0.0, 1.0], [1.0, -1.0]):
        # Another force with the same effect on x + y: add M w with w₁ + w₂ = 0.
        w = 0.1 * (np.array(direction) - np.mean(direction))
        other = force + M @ w
        assert np.sum(np.linalg.solve(M, Q + other)) == pytest.approx(2.7)
        if np.any(w):
            assert other @ np.linalg.solve(M, other) > cost + 1e-6


@pytest.mark.inventory("UK-22")
def test_generalized_coordinates_give_the_motion_of_the_particles():
    # A double pendulum of unit rods whose angles obey θ₂ = 2θ₁: in angles with a full M(θ), and
    # as two particles with rods, in Cartesian coordinates.
    m1, m2, g = 1.5, 0.7, 9.81
    th, om = np.array([0.4, 0.8]), np.array([0.9, 1.8])
    s, c = np.sin(th), np.cos(th)
    s12, c12 = np.sin(th[0] - th[1]), np.cos(th[0] - th[1])
    M = np.array([[m1 + m2, m2 * c12], [m2 * c12, m2]])
    Q = np.array(
        [
            -m2 * om[1] ** 2 * s12 - (m1 + m2) * g * s[0],
            m2 * om[0] ** 2 * s12 - m2 * g * s[1],
        ]
    )
    angular = UdwadiaKalaba(EquationTerms.of(M, Q, [[2.0, -1.0]], [0.0])).acceleration
    d = np.array([1.0, 2.0])  # the one direction left
    assert_close(angular, d * (d @ Q) / (d @ M @ d))

    p1 = np.array([s[0], -c[0]])
    p2 = np.array([s[1], -c[1]])  # from the first particle to the second
    v1 = om[0] * np.array([c[0], s[0]])
    v2 = om[1] * np.array([c[1], s[1]])
    # Rods: p·p̈ = −|ṗ|². Angles: θ̈ = (p × p̈)/|p|² as the rods have constant length.
    cross1, cross2 = np.array([-p1[1], p1[0]]), np.array([-p2[1], p2[0]])
    A = np.array(
        [
            [*p1, 0.0, 0.0],
            [*-p2, *p2],
            [*(2.0 * cross1 + cross2), *-cross2],
        ]
    )
    b = np.array([-v1 @ v1, -v2 @ v2, 0.0])
    terms = EquationTerms.of(np.diag([m1, m1, m2, m2]), [0, -m1 * g, 0, -m2 * g], A, b)
    x = UdwadiaKalaba(terms).acceleration
    assert_close(angular, [cross1 @ x[:2], cross2 @ (x[2:] - x[:2])])


@with_definite_mass
@pytest.mark.inventory("UK-24")
def test_free_and_constrained_acceleration_stand_side_by_side(given):
    solution = solve(given.M, given.Q, given.A, given.b, given.C)
    free = solution.free_acceleration
    assert free is not None
    assert free.shape == solution.acceleration.shape == (*given.batch, given.n)
    assert_close(free, given.each(lambda s: np.linalg.solve(s.M, s.Q)))
    assert_close(solution.acceleration, given.each(motion))


@pytest.mark.inventory("UK-25")
@pytest.mark.parametrize(
    "turning", [pytest.param(0.0, id="integrable"), pytest.param(1.7, id="not")]
)
def test_integrable_and_nonintegrable_constraints_are_treated_alike(turning):
    # A skate on an incline, ẋ sin θ − ẏ cos θ = 0, whose heading is driven, θ̈ = 0. With θ̇ = 0 the
    # blade stays on one line and the constraint can be integrated; otherwise it cannot.
    m, J, g, th, speed = 2.0, 0.3, 4.0, 0.8, 0.6
    s, c = np.sin(th), np.cos(th)
    vx, vy = speed * c, speed * s
    A = [[s, -c, 0.0], [0.0, 0.0, 1.0]]
    b = [-turning * (vx * c + vy * s), 0.0]
    terms = EquationTerms.of(np.diag([m, m, J]), [m * g, 0.0, 0.5], A, b)
    uk = UdwadiaKalaba(terms)
    # By hand, with the speed u along the blade as quasi-velocity: u̇ = g cos θ, and u θ̇ across it.
    expected = [g * c * c - speed * turning * s, g * c * s + speed * turning * c, 0.0]
    assert_close(uk.acceleration, expected)
    # With Lagrange's multipliers: the side force of the blade, and the drive.
    side = m * (speed * turning + g * s)
    assert_close(uk.multipliers, [-side, -0.5])
    both = solve(np.diag([m, m, J]), [m * g, 0.0, 0.5], A, b)
    assert_close(both.acceleration, expected)
    assert_close(both.constraint_force, [-side * s, side * c, -0.5])
