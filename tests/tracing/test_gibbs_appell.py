"""Gibbs–Appell equations: from the acceleration energy, the same motion as by all others."""

import numpy as np
import pytest

import zwang as zw
from zwang import library

#: Solves of six equations with condition below 1e3.
SAME = 1e-11


def disk_by_gibbs_appell():
    """The rolling disk of Blajer, section 6, from ½ ∫ |a|² dm and three quasi-velocities.

    With ω the angular velocity of the disk along ξηζ and Ω that of the frame, which does not
    spin, the centre has v = ω × rη and a = v̇ + Ω × v, and S = ½ m|a|² + ½ ω̇·Jω̇ + ω̇·(Ω × Jω).
    """

    def S(q, v, a, p):
        theta = q[3]
        frame = np.array([v[0], v[1], v[1] * np.tan(theta)])
        spin, rate = np.array([v[0], v[1], v[2]]), np.array([a[0], a[1], a[2]])
        centre = cross(spin, [0.0, p.r, 0.0])
        acceleration = cross(rate, [0.0, p.r, 0.0]) + cross(frame, centre)
        J = np.array([p.J, p.J, 2 * p.J])
        gyroscopic = cross(frame, J * spin)
        return (
            0.5 * p.m * (acceleration @ acceleration) + 0.5 * rate @ (J * rate) + rate @ gyroscopic
        )

    def kinematics(q, p):
        # φ̇ = v2/cos θ, θ̇ = −v1, ψ̇ = v3 − v2 tan θ, and ẋ_P, ẏ_P from rolling.
        c, tan = np.cos(q[3]), np.tan(q[3])
        roll = np.array([0.0, p.r * tan, -p.r])
        return np.array(
            [roll * np.cos(q[2]), roll * np.sin(q[2]), [0, 1 / c, 0], [-1, 0, 0], [0, -tan, 1]]
        )

    return zw.System.from_acceleration_energy(
        ["x_P", "y_P", "phi", "theta", "psi"],
        velocities=["w1", "w2", "w3"],
        kinematics=kinematics,
        parameters={"m": 1.3, "r": 0.6, "J": 0.2, "g": 9.4},
        S=S,
        potential=lambda q, p: p.m * p.g * p.r * np.cos(q[3]),
    )


def cross(a, b):
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


@pytest.mark.inventory("BL-60")
@pytest.mark.parametrize("seed", range(4))
def test_the_rolling_disk_moves_as_by_the_six_formulations(seed):
    rng = np.random.default_rng(seed)
    P = {"m": rng.uniform(1, 3), "r": rng.uniform(0.2, 2), "J": rng.uniform(0.1, 1), "g": 9.81}
    appell, disk = disk_by_gibbs_appell(), library.rolling_disk(**P)
    q, w = np.append(rng.normal(size=5), 0.0)[:5], rng.normal(size=3)
    q[3] = rng.uniform(-1.2, 1.2)
    full = np.array([q[0], q[1], 0.0, *q[2:]])
    # v = (velocity of G, angular velocity): rolling makes the first three follow.
    v = np.array([-P["r"] * w[2], 0.0, P["r"] * w[0], *w])
    assert appell.position_rate(q, w, parameters=P) == pytest.approx(
        disk.position_rate(full, v)[[0, 1, 3, 4, 5]]
    )
    found = appell.solve(q, w, parameters=P).acceleration
    assert len(disk.formulations) == 6
    for name in disk.formulations:
        other = disk.solve(full, v, formulation=name).acceleration[3:]
        assert found == pytest.approx(other, rel=SAME, abs=SAME * (1 + np.abs(other).max()))


@pytest.mark.inventory("BL-60")
def test_terms_are_the_derivatives_of_the_acceleration_energy():
    # S = ½ m((r̈ − rθ̇²)² + (rθ̈ + 2ṙθ̇)²): polar coordinates, with a spring and a wind.
    polar = zw.System.from_acceleration_energy(
        ["r", "theta"],
        parameters={"m": 2.0, "k": 5.0},
        S=lambda q, v, a, p: (
            0.5 * p.m * ((a[0] - q[0] * v[1] ** 2) ** 2 + (q[0] * a[1] + 2 * v[0] * v[1]) ** 2)
        ),
        force=lambda t: [np.cos(t), 0.7],
        potential=lambda q, p: 0.5 * p.k * q[0] ** 2,
    )
    by_lagrange = zw.System.from_lagrangian(
        ["r", "theta"],
        parameters={"m": 2.0, "k": 5.0},
        T=lambda q, v, p: 0.5 * p.m * (v[0] ** 2 + (q[0] * v[1]) ** 2),
        V=lambda q, p: 0.5 * p.k * q[0] ** 2,
        forces=lambda t: [np.cos(t), 0.7],
    )
    q, v, t = [1.2, 0.3], [0.4, -0.9], 0.8
    terms, expected = polar.terms(q, v, t), by_lagrange.terms(q, v, t)
    assert terms.mass_matrix == pytest.approx(np.diag([2.0, 2.0 * 1.44]))
    assert terms.applied_force == pytest.approx(expected.applied_force)
    by_hand = [2.0 * 1.2 * 0.81 - 5.0 * 1.2 + np.cos(0.8), -2 * 2.0 * 1.2 * 0.4 * -0.9 + 0.7]
    assert terms.applied_force == pytest.approx(by_hand)
    assert np.array(polar.energy(q, v, t)) == pytest.approx(np.array(by_lagrange.energy(q, v, t)))


@pytest.mark.inventory("BL-60")
def test_constraints_programs_and_reduction_work_as_for_any_system():
    pendulum = zw.System.from_acceleration_energy(
        ["x", "y"],
        parameters={"m": 2.0, "g": 10.0, "L": 0.5},
        S=lambda a, p: 0.5 * p.m * (a @ a),
        force=lambda p: [0.0, -p.m * p.g],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    )
    by_angle = pendulum.reduce(
        ["angle"], map=lambda s, p: [p.L * np.sin(s[0]), -p.L * np.cos(s[0])]
    )
    assert by_angle.solve([np.pi / 2], [0.0]).acceleration == pytest.approx([-20.0])
    assert by_angle.way_back([np.pi / 2], [3.0]).reaction("rod") == pytest.approx([-9.0, 0.0])
    # Held at a constant speed: the rod still carries m v²/L, the program all of gravity.
    programmed = pendulum.with_program(
        {"still": zw.velocity(lambda q, v: v[0] * q[1] - v[1] * q[0])}
    )
    assert programmed.solve([0.5, 0.0]).constraint_force == pytest.approx([0.0, 20.0])


def test_what_is_no_acceleration_energy_is_refused():
    with pytest.raises(
        zw.InputError, match=r"acceleration energy S must be quadratic in a: ½ aᵀ M a.*but is not"
    ):
        zw.System.from_acceleration_energy(["x"], S=lambda a: a[0] ** 4)
    with pytest.raises(zw.InputError, match="depends on v"):
        zw.System.from_acceleration_energy(["x"], S=lambda v, a: v[0] * a[0] ** 2)
    with pytest.raises(
        zw.InputError, match="acceleration energy S must be one number, but has 2 values"
    ):
        zw.System.from_acceleration_energy(["x", "y"], S=lambda a: a)


def test_no_model_file_can_hold_an_acceleration_energy(tmp_path):
    bead = zw.System.from_acceleration_energy(["x"], S=lambda a: a[0] ** 2)
    with pytest.raises(
        zw.InputError,
        match=r"acceleration energy must be an expression to be.*but is a Python function",
    ):
        zw.write_model(bead, tmp_path / "bead.toml")
