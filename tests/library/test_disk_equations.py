"""The disk of any size: equations of Blajer (1992), section 6, against systems built with them.

`rolling_disk` and `sliding_disk` are built with random m, r, J and g, and are themselves compared
with Lagrange's equations by SymPy in test_rolling_disk.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from zwang import library
from zwang.library import disk_equations as de

#: Six equations of condition below 1e4, formulas of a few products.
SAME = 1e-10


def close(found, expected):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= SAME * (1.0 + np.abs(expected).max())


def disks():
    """Random parameters over three powers of ten, and J apart from mr²/4."""
    rng = np.random.default_rng(17)
    for seed in range(6):
        m, r, g = 10.0 ** rng.uniform(-1, 2, 3)
        yield seed, {"m": m, "r": r, "J": m * r**2 * rng.uniform(0.1, 0.9), "g": g}


CASES = [pytest.param(seed, P, id=f"disk {seed}") for seed, P in disks()]
of_any_size = pytest.mark.parametrize(("seed", "P"), CASES)


def rolling(seed, P, form="dependent"):
    system = library.rolling_disk(form, **P)
    rng = np.random.default_rng(seed)
    state = library.states("rolling_disk", rng, 1, form=form, r=P["r"])
    return system, state.q[0], state.v[0]


def sliding(seed, P, form="dependent"):
    system = library.sliding_disk(form, **P)
    rng = np.random.default_rng(seed)
    state = library.states("sliding_disk", rng, 1, form=form, r=P["r"])
    return system, state.q[0], state.v[0]


def frame(phi, theta):
    """ξ, η, ζ as rows, written from the words of the paper."""
    xi = np.array([np.cos(phi), np.sin(phi), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    side = np.cross(up, xi)  # horizontal, to the left of the heading
    eta = np.cos(theta) * up + np.sin(theta) * side
    return np.array([xi, eta, np.cross(xi, eta)])


@of_any_size
@pytest.mark.inventory("BL-34", "BL-36")
def test_coordinates_and_frame(seed, P):
    # v is the velocity of G = P + rη and the disk's angular velocity, along ξηζ.
    system, q, v = rolling(seed, P)
    assert system.coordinates == ("x_P", "y_P", "z_P", "phi", "theta", "psi")
    rate, h = system.position_rate(q, v), 1e-6

    def centre(s):
        at = q + s * rate
        return at[:3] + P["r"] * frame(*at[3:5])[1]

    axes = frame(*q[3:5])
    velocity = (centre(h) - centre(-h)) / (2 * h)
    assert axes @ velocity == pytest.approx(v[:3], rel=1e-6, abs=1e-6 * P["r"])
    turning = (frame(*(q + h * rate)[3:5]) - frame(*(q - h * rate)[3:5])) / (2 * h)
    spin = [turning[1] @ axes[2], turning[2] @ axes[0], turning[0] @ axes[1] + rate[5]]
    assert spin == pytest.approx(v[3:], abs=1e-7)
    close(de.kinematics(*q[3:5], P["r"]) @ v, rate)
    close(de.inverse_kinematics(*q[3:5], P["r"]) @ rate, v)
    both = de.kinematics(*q[3:5], P["r"]) @ de.inverse_kinematics(*q[3:5], P["r"])
    assert np.abs(both - np.eye(6)).max() <= 1e-12 * max(1.0, P["r"])
    close(system.solve(q, v).terms.mass_matrix, de.free_mass(SimpleNamespace(**P)))


@of_any_size
@pytest.mark.inventory("BL-35")
def test_constraints_as_first_stated(seed, P):
    # (6.1): ẋ_P + rψ̇ cos φ = 0, ẏ_P + rψ̇ sin φ = 0, z_P = 0, at a state that breaks all three
    system, q, v = rolling(seed, P, "inertial")
    q, v = q + [0, 0, 0.3, 0, 0, 0], v + [0.2, -0.1, 0.4, 0, 0, 0.3]
    rate, left = system.position_rate(q, v), system.residuals(q, v)
    slip = P["r"] * rate[5]
    assert left.position == pytest.approx([0.3])
    close(left.velocity, [rate[0] + slip * np.cos(q[3]), rate[1] + slip * np.sin(q[3]), rate[2]])
    assert np.abs(left.velocity).min() > 1e-3
    # The force of the ground along x, y, z is m (a_G + g e_z).
    system, q, v = rolling(seed, P, "inertial")
    solution = system.solve(q, v)
    axes, a = frame(*q[3:5]), solution.acceleration
    turn = np.array([v[3], v[4], v[4] * np.tan(q[4])])
    ground = P["m"] * (axes.T @ (a[:3] + np.cross(turn, v[:3])) + [0, 0, P["g"]])
    close(solution.multipliers, ground)


@of_any_size
@pytest.mark.inventory("BL-37", "BL-38", "BL-59")
def test_rows_and_their_complement(seed, P):
    # (6.5)–(6.8)
    system, q, v = rolling(seed, P)
    C, D, r = de.contact_rows(P["r"]), de.contact_directions(P["r"]), P["r"]
    terms = system.terms(q, v)
    close(terms.constraint_matrix, C)
    close(terms.constraint_rhs, np.zeros(3))
    broken = v + [0.2, -0.1, 0.4, 0, 0, 0.3]
    left = [broken[0] + r * broken[5], broken[1], broken[2] - r * broken[3]]
    close(system.residuals(q, broken).velocity, left)
    close(C @ broken, left)
    # D: columns of Dᵀ are v for (v6, v5, v4) = unit vectors, with the rest from (6.5)
    by_hand = np.zeros((3, 6))
    by_hand[0, [5, 0]] = 1.0, -r
    by_hand[1, 4] = 1.0
    by_hand[2, [3, 2]] = 1.0, r
    close(D, by_hand)
    assert np.abs(C @ D.T).max() <= 1e-12 * max(1.0, r)


@of_any_size
@pytest.mark.inventory("BL-39")
def test_terms_of_the_free_disk(seed, P):
    # (6.9), (6.10) from Newton and Euler in the frame that does not spin
    p = SimpleNamespace(**P)
    _, q, v = sliding(seed, P)
    axes, turn = frame(*q[3:5]), np.array([v[3], v[4], v[4] * np.tan(q[4])])
    J = np.diag([p.J, p.J, 2 * p.J])
    force = -p.m * np.cross(turn, v[:3]) - p.m * p.g * axes[:, 2]
    moment = -np.cross(turn, J @ v[3:])
    close(de.free_force(q[4], v, p), np.concatenate([force, moment]))
    close(de.free_mass(p), np.diag([p.m, p.m, p.m, p.J, p.J, 2 * p.J]))
    system, q, v = rolling(seed, P)
    close(system.terms(q, v).applied_force, de.free_force(q[4], v, p))


@of_any_size
@pytest.mark.inventory("BL-40", "BL-59")
def test_reaction_free_equations(seed, P):
    # (6.6), (6.11): [C; D M] v̇ = [0; D h*], solved to the motion of the disk
    p = SimpleNamespace(**P)
    system, q, v = rolling(seed, P)
    matrix, right = de.reaction_free_equations(q[4], v, p)
    D, M = de.contact_directions(p.r), np.array(de.free_mass(p))
    close(matrix, np.concatenate([de.contact_rows(p.r), D @ M]))
    close(right, np.concatenate([np.zeros(3), D @ np.array(de.free_force(q[4], v, p))]))
    close(np.linalg.solve(matrix, right), system.solve(q, v).acceleration)
    # As they stand the formulas hold for any v, with v2 as well.
    v = np.random.default_rng(seed).normal(size=6)
    _, right = de.reaction_free_equations(q[4], v, p)
    close(right[3:], D @ np.array(de.free_force(q[4], v, p)))


@of_any_size
@pytest.mark.inventory("BL-41", "BL-42", "BL-59")
def test_multipliers_and_reactions(seed, P):
    # (6.12), (6.13)
    p = SimpleNamespace(**P)
    system, q, v = rolling(seed, P)
    solution = system.solve(q, v)
    lam = de.contact_forces(q[4], v, p)
    close(lam, solution.multipliers)
    each = de.reactions(p.r, lam)
    close(each.sum(axis=0), solution.constraint_force)
    close(each, solution.terms.constraint_matrix * solution.multipliers[:, None])
    close(each[2], [0, 0, lam[2], -p.r * lam[2], 0, 0])
    # (3.6) with c0* = 0 for any v, with v2 as well: λ = −(C M⁻¹Cᵀ)⁻¹ C M⁻¹h*
    v = np.random.default_rng(seed).normal(size=6)
    C, M = de.contact_rows(p.r), np.array(de.free_mass(p))
    pull = np.linalg.solve(M, C.T)
    expected = -np.linalg.solve(C @ pull, pull.T @ np.array(de.free_force(q[4], v, p)))
    close(de.contact_forces(q[4], v, p), expected)


@of_any_size
@pytest.mark.inventory("BL-43")
def test_first_stage_rows(seed, P):
    # (6.14)–(6.16)
    system, q, v = sliding(seed, P)
    row, bias = de.plane_row(q, v, P["r"])
    terms = system.terms(q, v)
    close(terms.constraint_matrix[0], row)
    close(terms.constraint_rhs[0], -bias)
    rate = system.position_rate(q, v)
    close(row @ v, rate[2])
    # v = B̃ u with u the rates without ż_P, which is zero: D = B̃ᵀ
    B = np.delete(de.inverse_kinematics(*q[3:5], P["r"]), 2, axis=1)
    close(B @ np.delete(rate, 2), v)
    assert np.abs(row @ B).max() <= 1e-12 * max(1.0, P["r"])


@of_any_size
@pytest.mark.inventory("BL-45", "BL-59")
def test_normal_force_on_a_smooth_plane(seed, P):
    # (6.19), (6.20)
    p = SimpleNamespace(**P)
    system, q, v = sliding(seed, P)
    solution, rate = system.solve(q, v), system.position_rate(q, v)
    lam = de.normal_force(np.delete(q, 2), np.delete(rate, 2), p)
    close(lam, solution.multipliers[0])
    close(lam * de.plane_row(q, v, p.r)[0], solution.constraint_force)
    # Upright and sliding straight on it carries the weight.
    close(de.normal_force(np.zeros(5), [1.0, 0, 0, 0, 0], p), p.m * p.g)


@of_any_size
@pytest.mark.inventory("BL-44", "BL-46", "BL-47", "BL-48", "BL-50")
def test_both_stages(seed, P):
    # (6.17), (6.18), (6.21)–(6.28)
    p = SimpleNamespace(**P)
    five, q, u = rolling(seed, P, "coordinates")
    close(five.terms(q, u).mass_matrix, de.coordinate_mass(q, p))
    close(five.terms(q, u).applied_force, de.coordinate_force(q, u, p))
    three, q3, w = rolling(seed, P, "velocities")
    close(three.terms(q3, w).mass_matrix, de.rolling_mass(q3[3], p))
    close(three.terms(q3, w).applied_force, de.rolling_force(q3[3], w, p))
    close(three.position_rate(q3, w), de.rolling_directions(q3, p.r).T @ w)
    close(q, q3)
    close(five.solve(q, u).acceleration[2:], three.solve(q3, w).acceleration)
    # The horizontal force of the ground is m times the acceleration of G.
    full, q6, v = rolling(seed, P)
    ground = frame(*q6[3:5]).T @ full.solve(q6, v).multipliers
    close(five.solve(q, u).multipliers, ground[:2])
    close(full.solve(q6, v).multipliers, de.contact_forces(q6[4], v, p))
