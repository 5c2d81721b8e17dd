"""Quasi-velocities: all three levels through N and n₀, and which of them are true velocities."""

import numpy as np
import pytest
from linkages import disk_kinematics, rolling_disk

import zwang as zw
from zwang.formulations.constraint_rows import integrable

#: Central differences of fourth order with h = 1e-3: h⁴ and rounding/h are both below 1e-11.
STEP, DIFFERENCES = 1e-3, 1e-9

P = {"a": 0.7, "b": -0.4}


def kinematics(q, t, p):
    s, c = np.sin(q[2]), np.cos(q[2])
    return [[c, -s, 0.1 * t], [s, c, p.a * q[0]], [0.2 * q[1], 0.0, 1.0 + 0.3 * c]]


def drift(q, t, p):
    return [p.b * np.sin(t), q[2] ** 2, 0.5 * t * q[0]]


def surface(q, t, p):
    return [q[0] ** 2 + q[1] * np.sin(q[2]) + p.a * t**2, q[2] * q[0] - np.cos(t) * q[1]]


def nonlinear(q, v, t, p):
    return v[0] ** 2 * q[1] + np.sin(v[1]) * v[2] - p.b * t * q[0] * v[2] ** 3


def linear(q, v, t):
    return np.sin(q[0]) * v[0] + t * v[1] - q[2]


SYSTEM = zw.System(
    coordinates=["x", "y", "z"],
    velocities=["u1", "u2", "u3"],
    kinematics=(kinematics, drift),
    parameters=P,
    mass=lambda: np.eye(3),
    constraints={
        "surface": zw.position(surface),
        "nonlinear": zw.velocity(nonlinear),
        "linear": zw.velocity(linear),
        "given": zw.acceleration(lambda q, t: [q[0], t, 1.0], lambda v: v[0] * v[1]),
    },
)


class Values:
    """Parameters as plain functions see them."""

    a, b = P["a"], P["b"]


def motion(q0, v0, a0, t0):
    """A motion through the state: v quadratic in time, q by the Taylor method of the kinematics."""

    def velocity(t):
        s = t - t0
        return v0 + s * a0 + 0.3 * s**2 * np.cos(np.arange(3))

    def q_dot(q, t):
        return np.array(kinematics(q, t, Values)) @ velocity(t) + np.array(drift(q, t, Values))

    def position(t, steps=40):
        # Classical Runge–Kutta; over |t − t0| ≤ 2e-3 in 40 steps its error is below 1e-18.
        q, h = q0.copy(), (t - t0) / steps
        for k in range(steps):
            s = t0 + k * h
            k1 = q_dot(q, s)
            k2 = q_dot(q + h / 2 * k1, s + h / 2)
            k3 = q_dot(q + h / 2 * k2, s + h / 2)
            k4 = q_dot(q + h * k3, s + h)
            q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return q

    return position, velocity


def derivative(f, t):
    """Fourth-order central difference."""
    h = STEP
    return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)


@pytest.mark.inventory("BL-01", "BL-04")
@pytest.mark.parametrize("seed", range(4))
def test_all_levels_agree_with_differences_along_a_motion(seed):
    rng = np.random.default_rng(seed)
    q0, v0, a0 = rng.normal(size=(3, 3))
    t0 = float(rng.uniform(0.2, 1.0))
    position, velocity = motion(q0, v0, a0, t0)
    assert SYSTEM.position_rate(q0, v0, t0) == pytest.approx(
        derivative(position, t0), abs=DIFFERENCES
    )
    terms = SYSTEM.terms(q0, v0, t0)
    left = terms.constraint_matrix @ a0 - terms.constraint_rhs
    rates = SYSTEM.residuals(q0, v0, t0).velocity

    def phi(t):
        return np.array(surface(position(t), t, Values))

    assert rates[:2] == pytest.approx(derivative(phi, t0), abs=DIFFERENCES)

    # φ̈ by differences of the rates, which the line above has proved.
    def all_rates(t):
        return SYSTEM.residuals(position(t), velocity(t), t).velocity

    assert left[:4] == pytest.approx(derivative(all_rates, t0), abs=DIFFERENCES)
    # The same for ψ itself by complex step, to rounding: d/dt ψ(q, v, t) = Im ψ(… + i h …)/h.
    h = 1e-30j
    q, v, t = q0 + h * SYSTEM.position_rate(q0, v0, t0), v0 + h * a0, t0 + h
    assert left[2] == pytest.approx(nonlinear(q, v, t, Values).imag / 1e-30, rel=1e-13)
    assert left[3] == pytest.approx(linear(q, v, t).imag / 1e-30, rel=1e-13)
    assert left[4] == pytest.approx(q0[0] * a0[0] + t0 * a0[1] + a0[2] - v0[0] * v0[1], rel=1e-13)


@pytest.mark.inventory("BL-01")
def test_true_velocities_of_the_disk_and_of_nothing_but_coordinates():
    # v4 = −θ̇; v5 = φ̇ cos θ and v6 = ψ̇ + φ̇ sin θ have no integral.
    report = rolling_disk().quasi_velocities()
    assert report.true == ("v4",)
    assert report.quasi == ("v1", "v2", "v3", "v5", "v6")
    assert "True velocities: v4." in str(report)
    plain = zw.System(coordinates=["x", "y"], mass=lambda: np.eye(2)).quasi_velocities()
    assert plain.true == ("x_dot", "y_dot")
    assert plain.quasi == ()


@pytest.mark.inventory("BL-01")
def test_the_verdict_is_the_symmetry_of_the_rows_of_the_inverse():
    # ∂b_i/∂x by differences of B = N⁻¹, as the paper states the test.
    class R:
        r = 0.5

    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    h = 1e-5

    def B(x):
        return np.linalg.inv(np.array(disk_kinematics(x, R), dtype=float))

    jacobians = np.stack(
        [(B(q + h * e) - B(q - h * e)) / (2 * h) for e in np.eye(6)], axis=-1
    )  # b_i, entry, along
    jacobians[np.abs(jacobians) < 1e-9] = 0.0
    verdict = integrable(jacobians, 1e-6)
    names = rolling_disk().velocities
    assert tuple(n for n, true in zip(names, verdict, strict=True) if true) == ("v4",)


@pytest.mark.inventory("BL-01")
@pytest.mark.parametrize(
    ("N", "n0", "true"),
    [
        # u = B (q̇ − n₀); polar velocities: ṙ is true, r φ̇ is not.
        (lambda q: [[1.0, 0.0], [0.0, 1.0 / (q[0] + 3.0)]], None, ("u1",)),
        # new coordinates s = (x + y², y): both true.
        (lambda q: [[1.0, -2 * q[1]], [0.0, 1.0]], None, ("u1", "u2")),
        # u1 = ẋ − y: its integral would have to be x − ∫ y dt.
        (lambda: np.eye(2), lambda q: [q[1], 0.0], ("u2",)),
        # u1 = ẋ − cos t = d(x − sin t).
        (lambda: np.eye(2), lambda t: [np.cos(t), 0.0], ("u1", "u2")),
        # u1 = t ẋ: symmetric in x, yet t dx is not closed in time; u2 = t ẏ + y = d(t y).
        (
            lambda t: [[1.0 / (t + 1.0), 0.0], [0.0, 1.0 / (t + 1.0)]],
            lambda q, t: [0.0, -q[1] / (t + 1.0)],
            ("u2",),
        ),
    ],
)
def test_time_counts_among_the_terms(N, n0, true):
    system = zw.System(
        coordinates=["x", "y"],
        velocities=["u1", "u2"],
        kinematics=N if n0 is None else (N, n0),
        mass=lambda: np.eye(2),
    )
    assert system.quasi_velocities().true == true


def test_a_row_that_the_kinematics_satisfies_is_zero_and_not_rounding():
    # q̇ = ½ Lᵀ ω keeps q·q by itself. Its row φ_q N, evaluated, would be 1e-17 and count as one.
    body = zw.System(
        coordinates=["e0", "e1", "e2", "e3"],
        velocities=["w1", "w2", "w3"],
        kinematics=lambda q: (
            0.5
            * np.array(
                [
                    [-q[1], -q[2], -q[3]],
                    [q[0], -q[3], q[2]],
                    [q[3], q[0], -q[1]],
                    [-q[2], q[1], q[0]],
                ]
            )
        ),
        mass=lambda: np.diag([1.0, 2.0, 3.0]),
        force=lambda v: [-v[1] * v[2], 2 * v[0] * v[2], -v[0] * v[1]],
        constraints={
            "norm": zw.position(lambda q: q @ q - 1.0),
            "both": zw.position(lambda q: [q[1], 3.0 * (q @ q) - 3.0]),
        },
    )
    state = body.assemble(
        prefer={"e0": 1.0, "e2": 0.3, "e3": -0.7}, velocity={"prefer": {"w3": 1.0}}
    )
    assert abs(state.q @ state.q - 1.0) <= 1e-15
    terms = body.terms(state)
    assert np.array_equal(terms.constraint_matrix[[0, 2]], np.zeros((2, 3)))
    assert np.array_equal(terms.constraint_rhs[[0, 2]], np.zeros(2))
    solution = body.solve(state)
    assert solution.ranks.constraint == 1
    # Only e1 = 0 restricts the motion: Gauss' principle with that row alone.
    M, Q = terms.mass_matrix, terms.applied_force
    A, b = terms.constraint_matrix[1], terms.constraint_rhs[1]
    free = np.linalg.solve(M, Q)
    pull = np.linalg.solve(M, A)
    assert solution.acceleration == pytest.approx(free + pull * (b - A @ free) / (A @ pull))
