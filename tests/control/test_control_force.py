"""Control forces follow their program exactly, at the least cost, beside physical constraints."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import zwang as zw
from zwang.codegen import compilations
from zwang.control.program import ControlledSystems

#: Small well-conditioned systems, solved to rounding.
ROUNDING = 1e-11

G = 9.81


def particle(n=2, mass=2.0):
    return zw.System([f"x{k}" for k in range(n)], mass=lambda: mass * np.eye(n))


def pendulum(**changes):
    given = {
        "coordinates": ["x", "y"],
        "parameters": {"m": 2.0, "L": 1.5},
        "mass": lambda p: np.diag([p.m, p.m]),
        "force": lambda p: [0.0, -p.m * G],
        "constraints": {"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    }
    return zw.System(**{**given, **changes})


def angle(q, p):
    return np.arctan2(q[0], -q[1])


def swing(q, t, p):
    return angle(q, p) - p.size * np.sin(p.rate * t)


def swinging(t, size=0.4, rate=3.0, L=1.5):
    a, a_dot = size * np.sin(rate * t), size * rate * np.cos(rate * t)
    q = L * np.array([np.sin(a), -np.cos(a)])
    return q, L * a_dot * np.array([np.cos(a), np.sin(a)])


SWING = {"size": 0.4, "rate": 3.0}


# --- exact following ------------------------------------------------------------------------------


@pytest.mark.inventory("UK-20", "UK-17")
def test_keplers_laws_as_a_program_need_the_inverse_square_force():
    ellipse = zw.position(lambda q, p: np.sqrt(q @ q) + p.e * q[0] - p.p)
    areas = zw.velocity(lambda q, v, p: q[0] * v[1] - q[1] * v[0] - p.c)
    p = {"e": 0.6, "p": 1.3, "c": 0.9}
    for anomaly in np.linspace(0.0, 6.0, 7):
        r = p["p"] / (1.0 + p["e"] * np.cos(anomaly))
        radial = np.array([np.cos(anomaly), np.sin(anomaly)])
        across = np.array([-np.sin(anomaly), np.cos(anomaly)])
        v = p["c"] / p["p"] * p["e"] * np.sin(anomaly) * radial + p["c"] / r * across
        c = particle(mass=2.0).control_force(
            r * radial, v, program={"ellipse": ellipse, "areas": areas}, parameters=p
        )
        expected = -(p["c"] ** 2 / p["p"]) * 2.0 / r**2 * radial
        np.testing.assert_allclose(c.force, expected, atol=ROUNDING)
        np.testing.assert_allclose(np.append(c.error, c.error_rate), 0.0, atol=ROUNDING)
        assert c.error_names == ("ellipse",)
        assert c.rate_names == ("ellipse", "areas")


@pytest.mark.inventory("UK-20")
def test_pendulum_follows_a_trajectory_and_the_rod_keeps_its_own_force():
    for t in (0.0, 0.2, 0.7):
        q, v = swinging(t)
        c = pendulum().control_force(q, v, t, program={"swing": swing}, parameters=SWING)
        a = 0.4 * np.sin(3.0 * t)
        a_dot, a_ddot = 1.2 * np.cos(3.0 * t), -3.6 * np.sin(3.0 * t)
        along, inward = np.array([np.cos(a), np.sin(a)]), -q / 1.5
        np.testing.assert_allclose(
            c.force, 2.0 * (1.5 * a_ddot + G * np.sin(a)) * along, atol=ROUNDING
        )
        np.testing.assert_allclose(
            c.reaction, 2.0 * (1.5 * a_dot**2 + G * np.cos(a)) * inward, atol=ROUNDING
        )
        np.testing.assert_allclose(
            c.acceleration, 1.5 * a_ddot * along + 1.5 * a_dot**2 * inward, atol=ROUNDING
        )
        np.testing.assert_allclose(c.cost, c.force @ c.force / 2.0, rtol=ROUNDING)


def satellites():
    """Two satellites of unequal mass around a centre with μ = 1."""

    def potential(q, p):
        first, second = q[:3], q[3:]
        return -p.m1 / np.sqrt(first @ first) - p.m2 / np.sqrt(second @ second)

    return zw.System(
        coordinates=["x1", "y1", "z1", "x2", "y2", "z2"],
        parameters={"m1": 3.0, "m2": 0.5},
        mass=lambda p: np.diag([p.m1] * 3 + [p.m2] * 3),
        potential=potential,
    )


FORMATION = {
    "distance": lambda q, p: (q[3:] - q[:3]) @ (q[3:] - q[:3]) - p.d**2,
    "plane": lambda q: q[5] - q[2],
}


def in_formation(seed):
    rng = np.random.default_rng(seed)
    q1, v1 = np.array([1.0, 0.1, 0.2]) + 0.1 * rng.normal(size=3), rng.normal(size=3)
    a, w = rng.uniform(0, 6), rng.normal()
    offset = 0.2 * np.array([np.cos(a), np.sin(a), 0.0])
    return np.append(q1, q1 + offset), np.append(v1, v1 + w * np.array([-offset[1], offset[0], 0]))


@pytest.mark.inventory("UK-20")
@pytest.mark.parametrize("seed", range(3))
def test_two_satellites_in_formation(seed):
    q, v = in_formation(seed)
    system = satellites()
    c = system.control_force(q, v, program=FORMATION, parameters={"d": 0.2})
    np.testing.assert_allclose(np.append(c.error, c.error_rate), 0.0, atol=1e-14)
    # The fundamental equation, u = M^(1/2) (A M^(-1/2))⁺ (b − A a), with A and b by hand.
    d, d_dot = q[3:] - q[:3], v[3:] - v[:3]
    A = np.array([np.append(-2 * d, 2 * d), [0, 0, -1, 0, 0, 1]])
    b = np.array([-2 * d_dot @ d_dot, 0.0])
    m = np.array([3.0] * 3 + [0.5] * 3)
    free = np.append(-q[:3] / np.linalg.norm(q[:3]) ** 3, -q[3:] / np.linalg.norm(q[3:]) ** 3)
    u = np.sqrt(m) * (np.linalg.pinv(A / np.sqrt(m)) @ (b - A @ free))
    np.testing.assert_allclose(c.force, u, atol=ROUNDING)
    np.testing.assert_allclose(c.acceleration, free + u / m, atol=ROUNDING)
    np.testing.assert_allclose(c.force[:3] + c.force[3:], 0.0, atol=ROUNDING)  # internal


def test_a_follower_can_do_it_alone():
    q, v = in_formation(4)
    c = satellites().control_force(
        q,
        v,
        program=FORMATION,
        parameters={"d": 0.2},
        actuators=np.vstack([np.zeros((3, 3)), np.eye(3)]),
    )
    np.testing.assert_array_equal(c.force[:3], 0.0)
    np.testing.assert_array_equal(c.actuation, c.force[3:])
    A = np.append(-2 * (q[3:] - q[:3]), 2 * (q[3:] - q[:3]))
    d_dot = v[3:] - v[:3]
    np.testing.assert_allclose(A @ c.acceleration, -2 * d_dot @ d_dot, rtol=1e-10)


def test_a_program_in_quasi_velocities_and_at_acceleration_level():
    sleigh = zw.System(
        coordinates=["x", "y", "a"],
        velocities=["u", "w"],
        kinematics=lambda q: [[np.cos(q[2]), 0.0], [np.sin(q[2]), 0.0], [0.0, 1.0]],
        mass=lambda: np.diag([2.0, 3.0]),
    )
    c = sleigh.control_force(
        [0.0, 0.0, 0.3],
        [1.0, 0.5],
        program=[
            zw.constraint(lambda v, a: a[0] - 4.0 * v[1]),
            zw.acceleration(lambda: [[0.0, 1.0]], lambda t: [np.cos(t)]),
        ],
    )
    np.testing.assert_allclose(c.acceleration, [2.0, 1.0], rtol=ROUNDING)
    np.testing.assert_allclose(c.force, [4.0, 3.0], rtol=ROUNDING)
    assert c.error.shape == c.error_rate.shape == (0,)


# --- least cost -----------------------------------------------------------------------------------


def spider(seed=0):
    """Six coordinates, two physical constraints, a full mass matrix and two programmed rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 6))
    K = rng.normal(size=(4, 6))
    system = zw.System(
        coordinates=[f"x{k}" for k in range(6)],
        mass=lambda: X @ X.T + np.eye(6),
        force=lambda q, v: [*np.sin(q[:3]), *(v[3:] ** 2)],
        constraints={
            "frame": zw.position(lambda q: K[0] @ q + q[0] * q[1]),
            "wheel": zw.velocity(lambda q, v: K[1] @ v + q[2] * v[3]),
        },
    )
    program = {
        "first": zw.position(lambda q, t: K[2] @ q - np.sin(t)),
        "second": zw.velocity(lambda v, t: K[3] @ v - t),
    }
    return system, program, rng.normal(size=6), rng.normal(size=6)


WEIGHTS = {
    "nature": None,
    "plain": np.ones(6),
    "diagonal": np.array([1.0, 10.0, 0.1, 3.0, 1.0, 5.0]),
    "full": np.eye(6) + 0.4 * np.ones((6, 6)),
    "function": lambda q, t: np.diag(1.0 + q**2 + t),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_no_admissible_alternative_is_cheaper(name):
    system, program, q, v = spider()
    c = system.control_force(q, v, 0.3, program=program, weight=WEIGHTS[name])
    whole = system.with_program(program).terms(q, v, 0.3)
    A, b = whole.constraint_matrix, whole.constraint_rhs
    M, Q = whole.mass_matrix, whole.applied_force
    np.testing.assert_allclose(A @ c.acceleration, b, atol=1e-10)  # program and physics
    np.testing.assert_allclose(M @ c.acceleration, Q + c.force + c.reaction, atol=1e-10)
    np.testing.assert_allclose(c.reaction, A[:2].T @ c.multipliers, atol=1e-10)
    W = {
        "nature": np.linalg.inv(M),
        "plain": np.eye(6),
        "diagonal": np.diag(WEIGHTS["diagonal"]) if name == "diagonal" else None,
        "full": WEIGHTS["full"],
        "function": np.diag(1.0 + q**2 + 0.3),
    }[name]
    np.testing.assert_allclose(c.cost, c.force @ W @ c.force, rtol=1e-10)
    # Alternatives: other accelerations that satisfy all rows, other shares of the reaction.
    rng = np.random.default_rng(1)
    free = np.linalg.svd(A)[2][4:].T
    for size in (1e-3, 1.0):
        for _ in range(50):
            other = c.acceleration + free @ rng.normal(size=2) * size
            u = M @ other - Q - A[:2].T @ (c.multipliers + size * rng.normal(size=2))
            assert u @ W @ u > c.cost * (1.0 - 1e-10)


def test_natures_weight_gives_the_motion_of_ideal_constraints():
    system, program, q, v = spider(3)
    c = system.control_force(q, v, program=program)
    whole = system.with_program(program).solve(q, v)
    np.testing.assert_allclose(c.acceleration, whole.acceleration, atol=1e-11)
    np.testing.assert_allclose(c.force + c.reaction, whole.constraint_force, atol=1e-10)


def test_redundant_actuators_share_the_work_at_least_cost():
    c = particle(1, mass=2.0).control_force(
        [0.0], [0.0], program=[lambda q, t: q[0] - t**2], actuators=[[1.0, 3.0]], weight=[1.0, 2.0]
    )
    # τ₁ + 3 τ₂ = 4 at least τ₁² + 2 τ₂²: τ = 4 / (1 + 9/2) · (1, 3/2)
    np.testing.assert_allclose(c.actuation, [8.0 / 11.0, 12.0 / 11.0], rtol=ROUNDING)
    np.testing.assert_allclose(c.cost, 64.0 / 121.0 + 2.0 * 144.0 / 121.0, rtol=ROUNDING)
    same = particle(1, mass=2.0).control_force(
        [0.0], [0.0], program=[lambda q, t: q[0] - t**2], actuators=[[1.0, 3.0]]
    )
    np.testing.assert_allclose(same.force, [4.0], rtol=ROUNDING)
    np.testing.assert_allclose(same.cost, 16.0 / 2.0, rtol=ROUNDING)


# --- singular masses, friction --------------------------------------------------------------------


def two_masses(**changes):
    """Absolute x1, relative x2 of the second mass, and a massless copy s of the first's place."""
    given = {
        "coordinates": ["x1", "x2", "s"],
        "mass": lambda: np.diag([2.0, 3.0, 0.0]),
        "force": lambda q: [-q[0], -q[1], 0.0],
        "constraints": {"copy": zw.position(lambda q: q[2] - q[0])},
    }
    return zw.System(**{**given, **changes})


def test_a_singular_mass_matrix_is_no_obstacle_where_physics_fixes_the_motion():
    program = {"track": lambda q, t: q[2] + q[1] - np.sin(t)}
    c = two_masses().control_force([0.2, 0.1, 0.2], [1.0, 0.0, 1.0], 0.0, program=program)
    # Without the copy: masses 2 and 3 with x1 + x2 = sin t, W = M⁻¹.
    A, M, Q = np.array([[1.0, 1.0]]), np.diag([2.0, 3.0]), np.array([-0.2, -0.1])
    lam = np.linalg.solve(A @ np.linalg.inv(M) @ A.T, 0.0 - A @ np.linalg.solve(M, Q))
    np.testing.assert_allclose(c.force[:2], (A.T @ lam), atol=ROUNDING)
    np.testing.assert_allclose(c.force[2], 0.0, atol=ROUNDING)
    np.testing.assert_allclose(c.acceleration[2], c.acceleration[0], atol=ROUNDING)


def test_where_only_the_program_fixes_the_motion_a_weight_is_needed():
    loose = two_masses(constraints={})
    program = {"copy": lambda q: q[2] - q[0], "track": lambda q, t: q[2] + q[1] - np.sin(t)}
    state = ([0.2, 0.1, 0.2], [1.0, 0.0, 1.0], 0.0)
    with pytest.raises(zw.InputError, match=r"weight of the control.*only the program"):
        loose.control_force(*state, program=program)
    c = loose.control_force(*state, program=program, weight=[1.0, 1.0, 1.0])
    terms = loose.with_program(program).terms(*state)
    np.testing.assert_allclose(
        terms.constraint_matrix @ c.acceleration, terms.constraint_rhs, atol=ROUNDING
    )
    np.testing.assert_allclose(
        terms.mass_matrix @ c.acceleration, terms.applied_force + c.force, atol=ROUNDING
    )
    assert c.reaction == pytest.approx(np.zeros(3))


def test_friction_in_the_physical_constraint_follows_the_reaction_under_control():
    def drag(v, reaction):
        return -0.3 * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v)

    system = pendulum(nonideal={"rod": drag})
    q, v = swinging(0.2)
    for weight in (None, [1.0, 4.0]):
        c = system.control_force(
            q, v, 0.2, program={"swing": swing}, parameters=SWING, weight=weight
        )
        ideal = c.multipliers[0] * 2.0 * q
        np.testing.assert_allclose(c.reaction, ideal + drag(v, ideal), atol=ROUNDING)
        np.testing.assert_allclose(
            2.0 * c.acceleration, [0.0, -2.0 * G] + c.force + c.reaction, atol=ROUNDING
        )
        a_ddot = -3.6 * np.sin(0.6)
        np.testing.assert_allclose(
            c.acceleration @ v / np.sqrt(v @ v), 1.5 * a_ddot * np.sign(v[0]), atol=ROUNDING
        )


# --- off the program ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stabilize", "k1", "k2"), [((3.0, 2.0), 3.0, 2.0), (0.5, 4.0, 4.0), (None, 0.0, 0.0)]
)
def test_an_error_dies_out_as_its_equation_says(stabilize, k1, k2):
    system = pendulum()
    program = {"swing": swing}
    (a, a_dot), L = (0.3, 0.1), 1.5
    q = L * np.array([np.sin(a), -np.cos(a)])
    v = L * a_dot * np.array([np.cos(a), np.sin(a)])
    c = system.control_force(q, v, 0.0, program=program, parameters=SWING, stabilize=stabilize)
    error, rate = a, a_dot - 1.2
    np.testing.assert_allclose(c.error, [error], atol=ROUNDING)
    np.testing.assert_allclose(c.error_rate, [rate], atol=ROUNDING)
    a_ddot = c.acceleration @ [np.cos(a), np.sin(a)] / L
    np.testing.assert_allclose(a_ddot, -k1 * rate - k2 * error, atol=ROUNDING)  # θ̈_d(0) = 0


def test_a_controlled_run_from_a_start_off_the_program_arrives():
    program = {"line": lambda q, t: q[0] - np.sin(t), "speed": zw.velocity(lambda v: v[1] - 1.0)}
    system = particle()

    def right_side(t, y):
        c = system.control_force(y[:2], y[2:], t, program=program, stabilize=(3.0, 2.0))
        return np.append(y[2:], c.acceleration)

    run = solve_ivp(right_side, (0.0, 1.0), [0.5, 0.0, 0.0, 0.0], rtol=1e-9, atol=1e-10)
    x, _, _, y_dot = run.y[:, -1]
    # φ(0) = 0.5, φ̇(0) = −1, φ̈ + 3 φ̇ + 2 φ = 0: φ = 0.5 exp(−2t); ψ(0) = −1, ψ̇ = −3 ψ
    phi = 0.5 * np.exp(-2.0)
    np.testing.assert_allclose(x - np.sin(1.0), phi, atol=1e-8)
    np.testing.assert_allclose(y_dot - 1.0, -np.exp(-3.0), atol=1e-8)


# --- the system with its program ------------------------------------------------------------------


def test_with_program_is_a_system_that_knows_its_program():
    system = pendulum().with_program({"swing": swing}, parameters=SWING)
    assert system.program == ("swing",)
    assert system.constraints == ("rod", "swing")
    assert pendulum().program == ()
    q, v = swinging(0.2)
    own = system.control_force(q, v, 0.2)
    other = pendulum().control_force(q, v, 0.2, program={"swing": swing}, parameters=SWING)
    np.testing.assert_array_equal(own.force, other.force)
    np.testing.assert_allclose(
        system.solve(q, v, 0.2).constraint_force, own.force + own.reaction, atol=ROUNDING
    )
    bigger = system.control_force(q, v, 0.2, parameters={"size": 0.5})
    assert abs(bigger.error[0]) > 0.01


def test_a_stabilised_program_leads_the_simulated_system_back():
    system = pendulum().with_program({"swing": swing}, parameters=SWING, stabilize=(3.0, 2.0))
    assert system.levels == {"rod": "position", "swing": "acceleration"}
    q, v = 1.5 * np.array([np.sin(0.3), -np.cos(0.3)]), np.zeros(2)
    want = pendulum().control_force(
        q, v, program={"swing": swing}, parameters=SWING, stabilize=(3.0, 2.0)
    )
    np.testing.assert_allclose(system.solve(q, v).acceleration, want.acceleration, atol=ROUNDING)
    own = system.control_force(q, v)
    np.testing.assert_allclose(own.force, want.force, atol=ROUNDING)
    np.testing.assert_allclose(own.error, [0.3], atol=ROUNDING)
    softer = system.solve(q, v, parameters={"program_k1": 0.0, "program_k2": 1.0})
    a_ddot = softer.acceleration @ [np.cos(0.3), np.sin(0.3)] / 1.5
    np.testing.assert_allclose(a_ddot, -0.3, atol=ROUNDING)


def test_gains_of_a_program_may_be_an_array():
    given = {"program": {"swing": swing}, "parameters": SWING}
    system = pendulum().with_program(**given, stabilize=np.array([3.0, 2.0]))
    assert system.parameters["program_k1"] == 3.0
    assert system.parameters["program_k2"] == 2.0
    with pytest.raises(
        zw.InputError, match=r"stabilize must be a positive time.*not negative, not 0\.0"
    ):
        pendulum().with_program(**given, stabilize=0.0)


def test_a_batch_is_the_same_as_its_states_one_by_one():
    states = [swinging(t) for t in (0.0, 0.1, 0.2)]
    q, v = (np.array(part) for part in zip(*states, strict=True))
    t = np.array([0.0, 0.1, 0.3])
    together = pendulum().control_force(q, v, t, program={"swing": swing}, parameters=SWING)
    for i in range(3):
        alone = pendulum().control_force(
            q[i], v[i], t[i], program={"swing": swing}, parameters=SWING
        )
        for name in ("force", "acceleration", "reaction", "cost", "error", "error_rate"):
            np.testing.assert_allclose(
                getattr(together, name)[i], getattr(alone, name), rtol=1e-12, atol=1e-12
            )


def test_repeated_calls_trace_and_compile_once():
    system, program = pendulum(), {"swing": zw.position(swing)}
    q, v = swinging(0.2)
    system.control_force(q, v, 0.2, program=program, parameters=SWING)
    before = compilations()
    for size in (0.1, 0.2):
        system.control_force(
            q,
            v,
            0.2,
            program=program,
            parameters={"size": size, "rate": 1.0, "L": 1.4},
            stabilize=0.1 + size,
        )
    assert compilations() == before
    assert len(system.equations.cache.once(ControlledSystems, ControlledSystems)) == 1


def test_functions_written_anew_at_each_call_do_not_pile_up():
    system = particle()
    for k in range(12):
        system.control_force([0.0, 0.0], program={"line": lambda q, k=k: q[0] - k * q[1]})
    assert len(system.equations.cache.once(ControlledSystems, ControlledSystems)) <= 8


def test_programs_to_follow_leave_compiled_programs_alone():
    # Each of more programs than are remembered once took the place of what simulations compiled.
    system, start = particle(), ([0.0, 0.0], [1.0, 0.5])
    system.simulate(*start, until=0.1)
    before = list(system.equations.cache.programs)
    for k in range(10):
        system.control_force(*start, program={"line": lambda q, k=k: q[0] - k * q[1]})
    assert list(system.equations.cache.programs) == before


# --- refusals -------------------------------------------------------------------------------------


def test_a_program_against_physics_names_both():
    program = {
        "up": zw.acceleration(lambda: [[0.0, 1.0]], lambda: [5.0]),
        "side": zw.acceleration(lambda: [[1.0, 0.0]], lambda: [1.0]),
    }
    system = pendulum()
    with pytest.raises(
        zw.InconsistentConstraintsError, match=r"program 'up'.*physical constraint 'rod'"
    ) as caught:
        system.control_force([0.0, -1.5], [1.0, 0.0], program=program)
    assert set(caught.value.names) == {"rod", "up"}


def test_a_program_against_itself_names_its_rows():
    program = {"one": lambda q, t: q[0] - t**2, "two": lambda q, t: q[0] + t**2}
    with pytest.raises(zw.InconsistentConstraintsError, match=r"'one' and 'two'.*itself"):
        particle().control_force([0.0, 0.0], [0.0, 0.0], program=program)


def test_in_a_batch_the_state_is_named():
    program = {"up": zw.acceleration(lambda: [[0.0, 1.0]], lambda: [5.0])}
    q = [[1.5, 0.0], [0.0, -1.5]]
    with pytest.raises(zw.InconsistentConstraintsError, match="state 1 of the batch"):
        pendulum().control_force(q, [[0.0, 0.0], [1.0, 0.0]], program=program)


def test_rows_out_of_reach_of_the_actuators_are_named():
    program = {"first": lambda q, t: q[0] - t**2, "second": lambda q, t: q[1] - t**2}
    with pytest.raises(zw.UnreachableError, match=r"program 'second'.*x1") as caught:
        particle().control_force([0.0, 0.0], program=program, actuators=[1.0, 0.0])
    assert caught.value.names == ("second",)
    np.testing.assert_allclose(np.abs(caught.value.direction), [0.0, 1.0], atol=1e-12)


def test_what_the_free_motion_does_by_itself_needs_no_actuator():
    program = {"first": lambda q, t: q[0] - t**2, "second": lambda q, t: q[1]}
    c = particle().control_force([0.0, 0.0], program=program, actuators=[1.0, 0.0])
    np.testing.assert_allclose(c.force, [4.0, 0.0], atol=ROUNDING)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": np.diag([1.0, -1.0])}, r"weight of the control.*positive definite"),
        ({"weight": [[1.0, 0.5], [0.0, 1.0]]}, r"weight of the control.*symmetric"),
        ({"weight": np.eye(3)}, r"weight must have shape \(2, 2\), but has shape \(3, 3\)"),
        ({"weight": "light"}, "weight must be numbers, not 'light'"),
        ({"weight": lambda z: z}, r"weight.*function of \(z\)"),
        ({"weight": [1.0, np.inf]}, r"weight.*not finite"),
        (
            {"actuators": np.ones((3, 1))},
            r"actuators must have shape \(2, k\), but has shape \(3, 1\)",
        ),
        ({"stabilize": (1.0, -1.0)}, r"stabilize.*\(1\.0, -1\.0\)"),
        ({"stabilize": 0.0}, r"stabilize.*positive time constant"),
        ({"stabilize": "fast"}, r"stabilize.*'fast'"),
        ({"program": {}}, r"program must be a dictionary of.*not \{\}"),
        ({"program": None}, "program must name the constraints to follow, unless the system was"),
        ({"program": "rod"}, r"program.*'rod'"),
        ({"program": {"rod": swing}}, r"program 'rod'.*same name"),
        (
            {"program": {"x": swing}},
            r"constraint 'x' must have a name of its own.*but a coordinate has the same name",
        ),
        ({"program": {"fast": lambda q, p: q[0] - p.Size}}, r"'fast'.*'Size'"),
        ({"parameters": {**SWING, "Size": 1.0}}, r"parameter that no program uses.*'Size'"),
        ({"program": {"flat": lambda t: t}}, r"'flat'.*does not depend on q"),
    ],
)
def test_mistakes_give_one_clear_sentence(change, words):
    given = {"program": {"swing": swing}, "parameters": SWING, **change}
    q, v = swinging(0.2)
    with pytest.raises(zw.ZwangError, match=words):
        pendulum().control_force(q, v, 0.2, **given)


def test_a_parameter_of_the_system_is_not_one_of_the_program():
    with pytest.raises(zw.InputError, match=r"parameter 'L' of the program"):
        pendulum().with_program({"swing": lambda q, p: q[0] - p.L}, parameters={"L": 2.0})
