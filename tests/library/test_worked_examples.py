"""The examples of Udwadia & Kalaba (1996) as systems, against the closed forms in the paper."""

import numpy as np
import pytest
from derived_by_sympy import COUNT, assert_close

from zwang import library


def rng():
    return np.random.default_rng(11)


@pytest.mark.inventory("UK-16", "XX-07")
def test_spherical_pendulum_has_the_force_of_equation_28():
    m, g, L = 1.3, 9.0, 1.6
    state = library.states("spherical_pendulum", rng(), COUNT, L=L)
    system = library.spherical_pendulum(m=m, g=g, L=L)
    solution = system.solve(state)
    q, v = state
    # (24)–(26)
    assert_close(solution.terms.mass_matrix, np.broadcast_to(m * np.eye(3), (COUNT, 3, 3)))
    assert_close(solution.terms.applied_force, np.broadcast_to([0, m * g, 0], (COUNT, 3)))
    assert_close(solution.terms.constraint_matrix[:, 0], q)
    assert_close(solution.terms.constraint_rhs[:, 0], -(v**2).sum(-1))
    # (28), with the velocities in the bracket
    multiplier = -m * ((v**2).sum(-1) + g * q[:, 1]) / L**2
    assert_close(solution.multipliers[:, 0], multiplier)
    assert_close(solution.constraint_force, multiplier[:, None] * q)
    assert_close(solution.acceleration, multiplier[:, None] * q / m + [0, g, 0])
    # a Cartesian check that needs no formula: the rod keeps the second derivative of r² at zero
    second = 2 * ((v**2).sum(-1) + (q * solution.acceleration).sum(-1))
    assert np.abs(second).max() < 1e-12 * np.abs(2 * (v**2).sum(-1)).max()


@pytest.mark.inventory("UK-16")
def test_spherical_pendulum_off_the_rod_has_the_force_of_equation_27():
    generator = rng()
    q, v = generator.standard_normal((2, COUNT, 3))
    solution = library.spherical_pendulum(m=2.0, g=9.0).solve(q, v)
    bracket = -(v**2).sum(-1) - 9.0 * q[:, 1]
    expected = 2.0 * q * (bracket / (q**2).sum(-1))[:, None]
    assert_close(solution.constraint_force, expected)


@pytest.mark.inventory("UK-17", "XX-07")
def test_keplers_laws_give_newtons_attraction():
    m, epsilon, p, c = 1.7, 0.4, 1.2, 0.9
    shape = {"epsilon": epsilon, "p": p, "c": c}
    state = library.states("kepler_laws", rng(), COUNT, **shape)
    solution = library.kepler_laws(m=m, **shape).solve(state)
    x, y = state.q.T
    r = np.hypot(x, y)
    # (32), the first row there multiplied by r
    A, b = solution.terms.constraint_matrix, solution.terms.constraint_rhs
    A, b = A * np.stack([r, np.ones_like(r)], -1)[..., None], b * np.stack([r, np.ones_like(r)], -1)
    matrix = np.stack([np.stack([x - r * epsilon, y], -1), np.stack([y, -x], -1)], axis=-2)
    assert_close(A, matrix)
    assert_close(b, np.stack([-(c**2) / r**2, np.zeros(COUNT)], axis=-1))
    # (33)
    inverse = np.stack([np.stack([x, y], -1), np.stack([y, r * epsilon - x], -1)], axis=-2)
    inverse /= (r * p)[:, None, None]
    assert_close(inverse @ matrix, np.broadcast_to(np.eye(2), (COUNT, 2, 2)))
    # (34)
    force = -(c**2 / p) * (m / r**3)[:, None] * state.q
    assert_close(solution.constraint_force, force)
    assert_close(solution.acceleration, force / m)


@pytest.mark.inventory("UK-18")
def test_the_ellipse_alone_gives_a_force_neither_central_nor_inverse_square():
    m, epsilon, p = 1.7, 0.4, 1.2
    state = library.states("kepler_ellipse", rng(), COUNT, epsilon=epsilon, p=p)
    solution = library.kepler_ellipse(m=m, epsilon=epsilon, p=p).solve(state)
    x, y = state.q.T
    r = np.hypot(x, y)
    area = x * state.v[:, 1] - y * state.v[:, 0]
    normal = np.stack([x - r * epsilon, y], axis=-1)
    expected = -m * (area**2 / (r**2 * (normal**2).sum(-1)))[:, None] * normal
    assert_close(solution.constraint_force, expected)
    force = solution.constraint_force
    moment = x * force[:, 1] - y * force[:, 0]
    leaning = np.abs(moment) / (r * np.linalg.norm(force, axis=-1))
    assert np.median(leaning) > 0.1  # central would be 0
    # At the same area rate, F r² would be the same everywhere if it were inverse-square.
    strength = np.linalg.norm(force, axis=-1) * r**2 / area**2
    assert strength.max() > 1.05 * strength.min()


@pytest.mark.inventory("UK-19", "XX-07")
def test_time_dependent_nonholonomic_particle_moves_by_equation_37():
    m = 1.4

    def alpha(t):
        return np.exp(-t) * np.sin(3 * t)

    def force(t):
        return [np.sin(t), t**2, 1.0 - t]

    state = library.states("nonholonomic_particle", rng(), COUNT, alpha=alpha)
    solution = library.nonholonomic_particle(m=m, alpha=alpha, force=force).solve(state)
    t, z, zero = state.t, state.q[:, 2], np.zeros(COUNT)
    alpha_dot = np.exp(-t) * (3 * np.cos(3 * t) - np.sin(3 * t))
    given = np.stack(force(t), axis=-1)
    row = np.stack([-z, zero + 1, zero], axis=-1)
    # (35), (36)
    assert_close(solution.terms.constraint_matrix[:, 0], row)
    b = state.v[:, 2] * state.v[:, 0] + alpha_dot
    assert_close(solution.terms.constraint_rhs[:, 0], b)
    # (37)
    multiplier = (m * b + z * given[:, 0] - given[:, 1]) / (z**2 + 1)
    assert_close(solution.multipliers[:, 0], multiplier)
    assert_close(m * solution.acceleration, given + multiplier[:, None] * row)


@pytest.mark.inventory("XX-07")
def test_examples_with_numbers():
    # A pendulum of 2 kg and 1 m passing the bottom at 3 m/s: tension m(g + v²/L) = 37.62 N
    pendulum = library.spherical_pendulum(m=2.0, g=9.81, L=1.0)
    s = pendulum.solve(q=[0.0, 1.0, 0.0], v=[3.0, 0.0, 0.0])
    np.testing.assert_allclose(s.constraint_force, [0.0, -37.62, 0.0], atol=1e-13)
    # A planet at the ends of its axis, ε = 0.5, p = 1.5: r = 3 and 1, attraction in ratio 1 : 9
    planet = library.kepler_laws(m=1.0, epsilon=0.5, p=1.5, c=1.5)
    far = planet.solve(q=[3.0, 0.0], v=[0.0, 0.5]).constraint_force
    near = planet.solve(q=[-1.0, 0.0], v=[0.0, -1.5]).constraint_force
    np.testing.assert_allclose(far, [-1.5 / 9, 0.0], atol=1e-15)
    np.testing.assert_allclose(near, [1.5, 0.0], atol=1e-14)


def test_friction_on_the_rotating_wire_follows_the_pressure():
    m, g, mu, Omega = 1.6, 9.0, 0.35, 2.2
    state = library.states("rough_wire_bead", rng(), COUNT, Omega=Omega)
    system = library.rough_wire_bead(m=m, g=g, mu=mu, Omega=Omega)
    cos, sin, zero = np.cos(Omega * state.t), np.sin(Omega * state.t), np.zeros(COUNT)
    along = np.stack([cos, sin, zero], axis=-1)
    across = np.stack([-sin, cos, zero], axis=-1)
    s, s_dot = (state.q * along).sum(-1), (state.v * along).sum(-1)
    # In the turning frame: N = m(2Ωṡ across + g up), and s̈ − Ω²s = −μ|N| sign ṡ / m
    pressure = m * np.stack([2 * Omega * s_dot, zero + g], axis=-1)
    friction = -mu * np.linalg.norm(pressure, axis=-1) * np.sign(s_dot)
    terms, solution = system.terms(state), system.solve(state)
    up = np.broadcast_to([0.0, 0.0, 1.0], (COUNT, 3))
    assert_close(terms.constraint_matrix, np.stack([across, up], axis=-2))
    assert_close(terms.constraint_rhs, np.stack([2 * Omega * s_dot + s * 0, zero], axis=-1))
    assert_close(solution.multipliers, pressure)
    assert_close(terms.nonideal_force, friction[:, None] * along)
    expected = (friction / m)[:, None] * along + (2 * Omega * s_dot)[:, None] * across
    assert_close(solution.acceleration, expected)
    weight = m * g * up
    assert_close(solution.constraint_force, m * expected + weight)


def test_wire_without_friction_is_ideal():
    state = library.states("rough_wire_bead", rng(), COUNT)
    solution = library.rough_wire_bead(mu=0.0).solve(state)
    along = np.stack([np.cos(2 * state.t), np.sin(2 * state.t), np.zeros(COUNT)], axis=-1)
    work = (solution.constraint_force * along).sum(-1)
    assert np.abs(work).max() < 1e-12 * np.abs(solution.constraint_force).max()
