"""The worked examples of Udwadia & Kalaba (1996), in closed form, as corrected for misprints."""

import numpy as np
import pytest

from samples import assert_close
from zwang.formulations.constraint_rows import position_rows, velocity_rows
from zwang.linalg.rank import pinv
from zwang.solvers.dense import FORMULATIONS, solve

any_formulation = pytest.mark.parametrize("formulation", ["auto", *FORMULATIONS])


@any_formulation
@pytest.mark.inventory("UK-16")
def test_spherical_pendulum(formulation):
    # Example 1, Y down: rod force −m (|v|² + g y)/L² · position, λ = −m (|v|² + g y)/L²
    m, g, L = 1.7, 9.81, 2.0
    q = L * np.array([2.0, 6.0, -3.0]) / 7.0
    v = np.cross(q, [0.3, -0.8, 1.1])
    A, b = position_rows([q], [v], v)  # of ½(x² + y² + z² − L²)
    assert_close(b, [-(v @ v)])
    s = solve(m * np.eye(3), [0.0, m * g, 0.0], A, b, formulation=formulation)
    lam = -m * (v @ v + g * q[1]) / L**2
    assert_close(s.multipliers, [lam])
    assert_close(s.constraint_force, lam * q)
    assert_close(s.acceleration, [0.0, g, 0.0] + lam / m * q)


EPSILON, P, C, MASS = 0.6, 1.3, 0.9, 2.5


def planet(angle):
    """Position and velocity on the ellipse r = ε x + p with the areal constant c."""
    r = P / (1.0 - EPSILON * np.cos(angle))
    x = r * np.array([np.cos(angle), np.sin(angle)])
    # r² θ̇ = c, and ṙ from the derivative of r along the ellipse
    rate = C / r**2
    r_rate = -P * EPSILON * np.sin(angle) / (1.0 - EPSILON * np.cos(angle)) ** 2 * rate
    v = r_rate * x / r + rate * np.array([-x[1], x[0]])
    assert np.hypot(*x) == pytest.approx(EPSILON * x[0] + P)
    assert x[0] * v[1] - x[1] * v[0] == pytest.approx(C)
    return x, v, r


def ellipse_rows(x, v, r):
    """Rows of √(x² + y²) − ε x − p = 0."""
    radial_rate = v / r - x * (x @ v) / r**3  # (x/r)˙
    return position_rows([x / r - [EPSILON, 0.0]], [radial_rate], v)


def area_rows(x, v):
    """Rows of x ẏ − y ẋ − c = 0, of velocity level."""
    return velocity_rows([[-x[1], x[0]]], [[v[1], -v[0]]], v)


@any_formulation
@pytest.mark.parametrize("angle", [0.3, 1.9, 4.0])
@pytest.mark.inventory("UK-17")
def test_kepler_from_his_first_two_laws(formulation, angle):
    # (34): the force −(c²/p)(m/r²) along the radius; nothing but the constraints was given
    x, v, r = planet(angle)
    rows = [ellipse_rows(x, v, r), area_rows(x, v)]
    A = np.vstack([rows[0][0], rows[1][0]])
    b = np.concatenate([rows[0][1], rows[1][1]])
    # (32), with the first row multiplied by r and the second by −1
    turned = np.array([r, -1.0])
    assert_close(A * turned[:, None], [[x[0] - r * EPSILON, x[1]], [x[1], -x[0]]])
    assert_close(b * turned, [-(C**2) / r**2, 0.0])
    # (33): the inverse in closed form
    closed = np.array([[x[0], x[1]], [x[1], -(x[0] - r * EPSILON)]]) / (r * P)
    assert_close(pinv(A * turned[:, None]), closed)
    s = solve(MASS * np.eye(2), [0.0, 0.0], A, b, formulation=formulation)
    assert_close(s.constraint_force, -(C**2) / P * MASS / r**2 * x / r)


@pytest.mark.inventory("UK-18")
def test_the_ellipse_alone_needs_another_force():
    forces, radii = [], []
    for angle in (0.3, 1.9, 4.0):
        x, v, r = planet(angle)
        A, b = ellipse_rows(x, v, r)
        force = solve(MASS * np.eye(2), [0.0, 0.0], A, b).constraint_force
        # Along the normal of the ellipse, not along the radius
        assert abs(force[0] * x[1] - force[1] * x[0]) / np.linalg.norm(force) / r > 0.1
        forces.append(np.linalg.norm(force))
        radii.append(r)
    law = np.array(forces) * np.square(radii)
    assert np.ptp(law) > 0.02 * np.max(law)  # nor does it fall as 1/r²


@any_formulation
@pytest.mark.inventory("UK-19")
def test_time_dependent_nonholonomic_constraint(formulation):
    # (35)–(37): ẏ = z ẋ + α(t), forces X, Y, Z
    m, t = 0.8, 0.4
    force = np.array([1.5, -2.0, 0.7])
    z, x_dot, z_dot = 1.3, 0.6, -0.9
    alpha, alpha_dot = np.sin(3.0 * t), 3.0 * np.cos(3.0 * t)
    v = np.array([x_dot, z * x_dot + alpha, z_dot])
    A, b = velocity_rows([[-z, 1.0, 0.0]], [[0.0, 0.0, -x_dot]], v, [-alpha_dot])
    assert_close(b, [z_dot * x_dot + alpha_dot])
    s = solve(m * np.eye(3), force, A, b, formulation=formulation)
    size = (m * (z_dot * x_dot + alpha_dot) + z * force[0] - force[1]) / (z**2 + 1.0)
    assert_close(s.constraint_force, size * np.array([-z, 1.0, 0.0]))
    assert_close(m * s.acceleration, force + size * np.array([-z, 1.0, 0.0]))
    assert_close(s.multipliers, [size])
