"""Constraint rows against 40-digit derivatives of constraints along an arbitrary motion."""

import mpmath as mp
import numpy as np
import pytest

import zwang as zw
from samples import assert_close
from zwang.formulations.constraint_rows import (
    integrable,
    position_rows,
    stabilized_rhs,
    velocity_rows,
    violated,
)
from zwang.solvers.dense import solve

#: Numbers are rounded to double once, after 40-digit differentiation.
ONCE_ROUNDED = 1e-13

T = mp.mpf("0.7")


@pytest.fixture(autouse=True)
def forty_digits():
    with mp.workdps(40):
        yield


def course(t):
    """An arbitrary motion; it need not satisfy any constraint, the identities hold off them too."""
    return [mp.cos(t) + t**2 / 3, mp.sin(2 * t) * mp.exp(-t), 1 + t**3 / 5]


def numbers(values):
    return np.array(values, dtype=float)


def time_derivative(f, order=1):
    """Derivative at T of a list, or a matrix, of functions of time."""
    start = f(T)
    if isinstance(start[0], list):
        return [
            [mp.diff(lambda t, i=i, j=j: f(t)[i][j], T, order) for j in range(len(start[0]))]
            for i in range(len(start))
        ]
    return [mp.diff(lambda t, i=i: f(t)[i], T, order) for i in range(len(start))]


def jacobian(f, x):
    """∂f/∂x of a list-valued function of a list."""
    at = [mp.mpf(value) for value in x]

    def entry(i, j):
        return mp.diff(lambda s: f([*at[:j], s, *at[j + 1 :]])[i], at[j])

    return [[entry(i, j) for j in range(len(at))] for i in range(len(f(at)))]


# --- position level -------------------------------------------------------------------------------


def holonomic(x, t):
    """A rod of changing length and a driven curve: integrable, nonlinear, time-dependent."""
    return [
        x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - (2 + mp.sin(t)) ** 2,
        x[0] * x[1] - mp.exp(t) * x[2],
    ]


@pytest.mark.inventory("UK-02", "US-02", "BL-04")
def test_position_constraint_differentiated_twice():
    def f_x(t):
        return jacobian(lambda x: holonomic(x, t), course(t))

    def f_t(t):
        x = course(t)
        return [mp.diff(lambda s, i=i: holonomic(x, s)[i], t) for i in range(2)]

    A, b = position_rows(
        numbers(f_x(T)),
        numbers(time_derivative(f_x)),
        numbers(time_derivative(course)),
        drift_rate=numbers(time_derivative(f_t)),
    )
    # f̈ along the motion is A v̇ − b, whatever the motion
    f_ddot = numbers(time_derivative(lambda t: holonomic(course(t), t), 2))
    assert_close(A @ numbers(time_derivative(course, 2)) - b, f_ddot, ONCE_ROUNDED)


def kinematics(x, t):
    """N and n₀ of ẋ = N v + n₀, arbitrary but regular."""
    N = [[1, x[2], 0], [-x[2], mp.cos(t), 1], [mp.sin(x[0]), 0, 2]]
    return N, [t * x[1], 0, mp.cos(t)]


def quasi_velocity(t):
    """v = N⁻¹(ẋ − n₀) along the course (2.2)."""
    N, n0 = kinematics(course(t), t)
    x_dot = [mp.diff(lambda s, i=i: course(s)[i], t) for i in range(3)]
    right = mp.matrix([a - b for a, b in zip(x_dot, n0, strict=True)])
    return list(mp.lu_solve(mp.matrix(N), right))


@pytest.mark.inventory("BL-01", "BL-04", "UK-02", "US-02")
def test_position_constraint_in_quasi_velocities():
    # (2.5), (2.6) as corrected: C = f_x N, c₀* = (f_x N)˙v + (f_x n₀ + f_t)˙
    def f_x(t):
        return jacobian(lambda x: holonomic(x, t), course(t))

    def drift(t):
        x, (_, n0) = course(t), kinematics(course(t), t)
        f_t = [mp.diff(lambda s, i=i: holonomic(x, s)[i], t) for i in range(2)]
        J = f_x(t)
        return [sum(J[i][j] * n0[j] for j in range(3)) + f_t[i] for i in range(2)]

    A, b = position_rows(
        numbers(f_x(T)),
        numbers(time_derivative(f_x)),
        numbers(quasi_velocity(T)),
        kinematics=numbers(kinematics(course(T), T)[0]),
        kinematics_rate=numbers(time_derivative(lambda t: kinematics(course(t), t)[0])),
        drift_rate=numbers(time_derivative(drift)),
    )
    f_ddot = numbers(time_derivative(lambda t: holonomic(course(t), t), 2))
    assert_close(A @ numbers(time_derivative(quasi_velocity)) - b, f_ddot, ONCE_ROUNDED)


def test_constant_kinematics_needs_no_rate():
    J, J_dot, N = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([[1.0], [5.0]])
    A, b = position_rows(J, J_dot, [2.0], kinematics=N)
    assert A.tolist() == [[11.0]]
    assert b.tolist() == [-46.0]


# --- velocity level -------------------------------------------------------------------------------


def nonholonomic(v, x, t):
    """Not integrable, the second nonlinear in the velocity."""
    return [v[1] - x[2] * v[0] - mp.sin(t), v[0] ** 2 + v[1] ** 2 * x[0] - t * v[2] ** 2 - 3]


@pytest.mark.inventory("UK-02", "US-02", "BL-04")
def test_velocity_constraint_differentiated_once():
    # In quasi-velocities: φ̇ = φ_v v̇ + φ_x (N v + n₀) + φ_t
    x, v = course(T), quasi_velocity(T)
    A, b = velocity_rows(
        numbers(jacobian(lambda u: nonholonomic(u, x, T), v)),
        numbers(jacobian(lambda y: nonholonomic(v, y, T), x)),
        numbers(time_derivative(course)),
        numbers([mp.diff(lambda s, i=i: nonholonomic(v, x, s)[i], T) for i in range(2)]),
    )
    rate = numbers(time_derivative(lambda t: nonholonomic(quasi_velocity(t), course(t), t)))
    assert_close(A @ numbers(time_derivative(quasi_velocity)) - b, rate, ONCE_ROUNDED)


@pytest.mark.inventory("BL-04", "UK-02", "US-02")
def test_both_ways_to_differentiate_a_position_constraint_agree():
    # ḟ = 0 taken as a constraint of velocity level gives the same rows.
    x, v = course(T), time_derivative(course)

    def f_dot(u, y, t):
        J = jacobian(lambda z: holonomic(z, t), y)
        return [
            sum(J[i][j] * u[j] for j in range(3)) + mp.diff(lambda s, i=i: holonomic(y, s)[i], t)
            for i in range(2)
        ]

    by_velocity = velocity_rows(
        numbers(jacobian(lambda u: f_dot(u, x, T), v)),
        numbers(jacobian(lambda y: f_dot(v, y, T), x)),
        numbers(v),
        numbers([mp.diff(lambda s, i=i: f_dot(v, x, s)[i], T) for i in range(2)]),
    )

    def f_x(t):
        return jacobian(lambda y: holonomic(y, t), course(t))

    def f_t(t):
        y = course(t)
        return [mp.diff(lambda s, i=i: holonomic(y, s)[i], t) for i in range(2)]

    by_position = position_rows(
        numbers(f_x(T)),
        numbers(time_derivative(f_x)),
        numbers(v),
        drift_rate=numbers(time_derivative(f_t)),
    )
    for one, other in zip(by_velocity, by_position, strict=True):
        assert_close(one, other, ONCE_ROUNDED)


@pytest.mark.inventory("US-02")
def test_dependent_constraints_become_rows_of_lower_rank():
    # Twice the same sphere, once squared: f and (f + 1)² − 1 are dependent where f = 0.
    x, v = np.array([1.0, 2.0, 2.0]), np.array([2.0, -2.0, 1.0])
    J = np.array([2.0 * x, 2.0 * 2.0 * x])  # d/dx of f and of (f + 1)² − 1 at f = 0
    J_dot = np.array([2.0 * v, 2.0 * 2.0 * v])  # ḟ = 0 at this velocity
    A, b = position_rows(J, J_dot, v)
    s = solve(np.eye(3), [0.0, 0.0, -9.81], A, b)
    assert s.ranks.constraint == 1
    assert 2.0 * x @ s.acceleration == pytest.approx(-2.0 * v @ v)


# --- initial conditions and drift -----------------------------------------------------------------


@pytest.mark.inventory("US-02", "UK-23", "BL-05")
def test_starts_that_violate_a_constraint_are_found():
    # A rod of length 5 whose tip slides, ẏ = 2 ẋ: f = 0, ḟ = 0 and φ = 0 are asked of a start.
    def residuals(x, v):
        f, f_dot, phi = x @ x - 25.0, 2.0 * x @ v, v[1] - 2.0 * v[0]
        scale = [x @ x + 25.0, 2.0 * np.abs(x) @ np.abs(v), np.abs(v[1]) + 2.0 * np.abs(v[0])]
        return [f, f_dot, phi], scale

    on = residuals(np.array([2.0, -1.0]) * np.sqrt(5.0), np.array([1.0, 2.0]))
    assert violated(*on).tolist() == [False, False, False]  # rounding is no violation
    assert on[0][0] != 0.0
    off = residuals(np.array([3.0, 4.0 + 1e-6]), np.array([1.0, 2.0]))
    assert violated(*off).tolist() == [True, True, False]
    slipping = residuals(np.array([3.0, 4.0]), np.array([4.0, -3.0]))
    assert violated(*slipping).tolist() == [False, False, True]
    assert violated([1e-4], [1.0], tolerance=1e-3).tolist() == [False]


G = np.array([0.0, -9.81])


def pendulum(x, v, frequency=0.0):
    """Acceleration of a particle on a rod of length 1, stabilised or not, and (f, ḟ)."""
    f, f_dot = x @ x - 1.0, 2.0 * x @ v
    A, b = position_rows([2.0 * x], [2.0 * v], v)
    b = stabilized_rhs(b, [f], [f_dot], frequency=frequency)
    return solve(np.eye(2), G, A, b).acceleration, f, f_dot


def swing(frequency, steps=150, h=0.01):
    """|f| at the end of a run by Heun's method, from a start that misses the rod a little."""
    x, v = np.array([1.01, 0.0]), np.array([0.1, -1.0])
    for _ in range(steps):
        a, _, _ = pendulum(x, v, frequency)
        x1, v1 = x + h * v, v + h * a
        a1, _, _ = pendulum(x1, v1, frequency)
        x, v = x + h / 2 * (v + v1), v + h / 2 * (a + a1)
    return abs(x @ x - 1.0)


@pytest.mark.inventory("BL-15")
def test_violation_is_monitored_and_reduced_by_stabilisation():
    plain, stabilised = swing(0.0), swing(10.0)
    # Without, f₀ + ḟ₀ t = 0.32: nothing corrects the start. With, the error of the steps is left.
    assert plain == pytest.approx(0.0201 + 0.202 * 1.5, abs=0.01)
    assert violated([plain, stabilised], [1.0, 1.0], tolerance=5e-3).tolist() == [True, False]
    # In an independent variable, the angle, there is nothing to violate.
    angle, rate = 0.3, 1.1
    x = np.array([np.sin(angle), -np.cos(angle)])
    v = rate * np.array([np.cos(angle), np.sin(angle)])
    assert not violated([x @ x - 1.0, 2.0 * x @ v], [1.0, 1.0]).any()
    a, _, _ = pendulum(x, v)
    assert [np.cos(angle), np.sin(angle)] @ a == pytest.approx(-9.81 * np.sin(angle))


@pytest.mark.inventory("BL-15")
def test_stabilised_residual_decays_like_a_critically_damped_oscillator():
    # f̈ = A v̇ − b₀ with b = b₀ − 2ω ḟ − ω² f gives f̈ + 2ω ḟ + ω² f = 0
    b0, f, f_dot, om = np.array([0.3, -1.0]), np.array([0.1, 0.2]), np.array([-0.4, 0.5]), 7.0
    f_ddot = stabilized_rhs(b0, f, f_dot, frequency=om) - b0
    assert_close(f_ddot + 2 * om * f_dot + om**2 * f, np.zeros(2))
    assert np.array_equal(stabilized_rhs(b0, f, f_dot, frequency=0.0), b0)


def rod():
    return zw.System(
        ["x", "y"],
        mass=np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"rod": zw.position(lambda q: q @ q - 1.0)},
    )


@pytest.mark.inventory("BL-15")
def test_drift_of_a_run_is_left_reduced_or_removed():
    # A coarse fixed step, so that the error shows.
    runs = {
        drift: rod().simulate(
            [1.0, 0.0], [0.0, -1.0], until=10.0, integrator="order5", step=0.1, drift=drift, **more
        )
        for drift, more in (("none", {}), ("baumgarte", {"baumgarte": 5.0}), ("projection", {}))
    }
    missed = {name: np.abs(run.residuals[0].position[-1]).max() for name, run in runs.items()}
    # What is reported is |x|² − 1 of the states themselves.
    for name, run in runs.items():
        lengths = (run.q**2).sum(axis=1) - 1.0
        assert run.residuals[0].position[:, 0] == pytest.approx(lengths, abs=1e-15), name
        assert run.worst_residual >= np.abs(lengths).max()
    assert missed["none"] > 10 * missed["baumgarte"] > 0.0
    assert missed["projection"] < 1e-13 < missed["baumgarte"]


@pytest.mark.inventory("UK-23")
def test_simulate_refuses_a_start_that_violates_a_constraint():
    with pytest.raises(zw.ZwangError, match="rod"):
        rod().simulate([1.01, 0.0], [0.0, -1.0], until=0.1)
    with pytest.raises(zw.ZwangError, match="rod"):
        rod().simulate([1.0, 0.0], [0.1, -1.0], until=0.1)
    run = rod().simulate([1.0, 0.0], [0.0, -1.0], until=0.4)
    # Energy and length: ½|v|² + g y is kept, and with it the speed at the end is known.
    assert (run.q[-1] ** 2).sum() == pytest.approx(1.0, abs=1e-12)
    assert 0.5 * run.v[-1] @ run.v[-1] + 9.81 * run.q[-1, 1] == pytest.approx(0.5, abs=1e-7)
    assert run.q[-1, 1] < -0.5
    assert run.t[-1] == 0.4


@pytest.mark.inventory("UK-23")
def test_motion_from_an_admissible_start_keeps_length_and_energy():
    def rate(state):
        return np.concatenate([state[2:], pendulum(state[:2], state[2:])[0]])

    state, h = np.array([1.0, 0.0, 0.0, -1.0]), 0.005
    energy = 0.5 * state[2:] @ state[2:] - G @ state[:2]
    for _ in range(100):  # Runge–Kutta of order 4: errors of about 100 h⁴ in this time
        k1 = rate(state)
        k2 = rate(state + h / 2 * k1)
        k3 = rate(state + h / 2 * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert state[:2] @ state[:2] == pytest.approx(1.0, abs=1e-6)
    assert 0.5 * state[2:] @ state[2:] - G @ state[:2] == pytest.approx(energy, abs=1e-6)


# --- quasi-velocities -----------------------------------------------------------------------------


def row_jacobians(B, x):
    """∂b_i/∂x of the rows of B(x)."""
    rows = len(B([mp.mpf(value) for value in x]))
    return numbers([jacobian(lambda y, i=i: list(B(y)[i]), x) for i in range(rows)])


@pytest.mark.inventory("BL-01")
def test_polar_velocities_are_integrable_and_body_velocities_are_not():
    def polar(x):  # ṙ and θ̇ from ẋ, ẏ
        r = mp.sqrt(x[0] ** 2 + x[1] ** 2)
        return [[x[0] / r, x[1] / r], [-x[1] / r**2, x[0] / r**2]]

    assert integrable(row_jacobians(polar, [1.2, -0.7])).tolist() == [True, True]

    def transverse(x):  # r θ̇, the usual velocity component, is only a quasi-velocity
        r = mp.sqrt(x[0] ** 2 + x[1] ** 2)
        return [[-x[1] / r, x[0] / r]]

    assert integrable(row_jacobians(transverse, [1.2, -0.7])).tolist() == [False]


@pytest.mark.inventory("BL-01")
def test_angular_velocity_in_body_axes_is_not_integrable():
    def body_rates(x):  # ω from the rates of the angles (ψ, θ, φ), axes z, x, z
        _, th, ph = x
        return [
            [mp.sin(th) * mp.sin(ph), mp.cos(ph), 0],
            [mp.sin(th) * mp.cos(ph), -mp.sin(ph), 0],
            [mp.cos(th), 0, 1],
        ]

    assert integrable(row_jacobians(body_rates, [0.3, 1.1, -0.5])).tolist() == [False] * 3
    constant = np.zeros((2, 3, 3))  # constant combinations of ẋ always integrate
    assert integrable(constant).tolist() == [True, True]
