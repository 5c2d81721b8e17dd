"""Independent coordinates and velocities: the same motion and the same reactions with fewer."""

import dataclasses

import numpy as np
import pytest
from linkages import disk_kinematics, double_pendulum, four_bar, planar_pendulum, rolling_disk

import zwang as zw
from zwang.reduction.maggi import maggi_terms
from zwang.tracing.traced_model import trace

#: Agreement of two ways to the same numbers, relative to sizes of 1 to 100 at conditions below 1e3.
SAME = 1e-11

RNG = np.random.default_rng(7)


def assert_same_motion(reduced, full, q, v, t=0.0, **options):
    """All coordinates, velocities, accelerations and reactions as the full system gives them."""
    back = reduced.way_back(q, v, t, **options)
    direct = full.solve(back.q, back.v, t, **options)
    size = 1.0 + np.abs(direct.acceleration).max() + np.abs(direct.constraint_force).max()
    assert np.abs(back.acceleration - direct.acceleration).max() <= SAME * size
    assert np.abs(back.constraint_force - direct.constraint_force).max() <= SAME * size
    assert np.abs(back.multipliers - direct.multipliers).max() <= SAME * size
    assert np.abs(back.implied_force).max() == 0.0
    return back, direct


def assert_same_energy(ours, theirs):
    assert np.array(ours) == pytest.approx(np.array(theirs))


def by_angle(system=None, **options):
    return (system or planar_pendulum()).reduce(
        ["angle"], map=lambda s, p: [p.L * np.sin(s[0]), p.L * np.cos(s[0])], **options
    )


# --- holonomic: section 4 -------------------------------------------------------------------------


@pytest.mark.inventory("BL-16", "BL-20", "BL-21")
def test_a_pendulum_by_its_angle():
    full, reduced = planar_pendulum(), by_angle()
    assert reduced.coordinates == ("angle",)
    assert reduced.velocities == ("angle_dot",)
    assert reduced.constraints == ()
    assert reduced.eliminated == ("rod",)
    terms = reduced.terms([0.3], [1.2])
    assert terms.mass_matrix == pytest.approx(np.array([[1.5 * 4.0]]))
    assert terms.applied_force == pytest.approx([-1.5 * 9.81 * 2.0 * np.sin(0.3)])
    back, _ = assert_same_motion(reduced, full, [0.3], [1.2])
    # Tension m (L θ̇² + g cos θ) along the rod, towards the pivot.
    tension = 1.5 * (2.0 * 1.44 + 9.81 * np.cos(0.3))
    assert back.reaction("rod") == pytest.approx(-tension * np.array([np.sin(0.3), np.cos(0.3)]))
    assert np.array(reduced.energy([0.3], [1.2])) == pytest.approx(
        np.array(full.energy(back.q, back.v))
    )


def test_many_states_and_other_parameters_go_the_same_way():
    full, reduced = planar_pendulum(), by_angle()
    q, v = RNG.normal(size=(6, 1)), RNG.normal(size=(6, 1))
    back, _ = assert_same_motion(reduced, full, q, v, parameters={"L": 0.7, "m": 3.0})
    assert back.q.shape == (6, 2)
    assert back.reaction("rod").shape == (6, 2)
    one = reduced.way_back(q[2], v[2], parameters={"L": 0.7, "m": 3.0})
    assert np.abs(one.reaction("rod") - back.reaction("rod")[2]).max() <= 1e-13


def test_a_double_pendulum_has_its_textbook_mass_matrix():
    full = double_pendulum()
    reduced = full.reduce(
        ["a", "b"],
        map=lambda s, p: [
            p.L[0] * np.sin(s[0]),
            p.L[0] * np.cos(s[0]),
            p.L[0] * np.sin(s[0]) + p.L[1] * np.sin(s[1]),
            p.L[0] * np.cos(s[0]) + p.L[1] * np.cos(s[1]),
        ],
    )
    q, v = np.array([0.4, -0.9]), np.array([1.5, -0.7])
    (m1, m2), (L1, L2), c = (1.0, 2.0), (1.0, 0.7), np.cos(q[0] - q[1])
    M = reduced.terms(q, v).mass_matrix
    assert (
        pytest.approx(
            np.array([[(m1 + m2) * L1**2, m2 * L1 * L2 * c], [m2 * L1 * L2 * c, m2 * L2**2]])
        )
        == M
    )
    assert_same_motion(reduced, full, q, v)
    assert reduced.way_in(reduced.way_back(q, v), start=[0.3, -1.0]).q == pytest.approx(q)


@pytest.mark.inventory("BL-16", "BL-17", "BL-22")
def test_a_driven_pivot_and_quasi_velocities_of_the_reduced_system():
    # The pivot of a spherical pendulum shakes; u = (θ̇ − sin t, φ̇ sin θ), so Ã and ã₀ matter.
    full = zw.System(
        coordinates=["x", "y", "z"],
        parameters={"m": 0.8, "g": 9.81, "L": 1.3, "A": 0.4},
        mass=lambda p: np.diag([p.m] * 3),
        force=lambda p: [0.0, 0.0, -p.m * p.g],
        constraints={
            "rod": zw.position(
                lambda q, t, p: (q[0] - p.A * np.cos(2 * t)) ** 2 + q[1] ** 2 + q[2] ** 2 - p.L**2
            )
        },
    )
    reduced = full.reduce(
        ["theta", "phi"],
        ["u1", "u2"],
        map=lambda s, t, p: [
            p.A * np.cos(2 * t) + p.L * np.sin(s[0]) * np.cos(s[1]),
            p.L * np.sin(s[0]) * np.sin(s[1]),
            -p.L * np.cos(s[0]),
        ],
        kinematics=(
            lambda s: [[1.0, 0.0], [0.0, 1.0 / np.sin(s[0])]],
            lambda t: [np.sin(t), 0.0],
        ),
        at={"theta": 1.0, "phi": 0.3},
    )
    s, u, t = np.array([0.8, 2.0]), np.array([1.1, -0.6]), 0.7
    back, direct = assert_same_motion(reduced, full, s, u, t)
    rate = reduced.position_rate(s, u, t)
    assert rate == pytest.approx([u[0] + np.sin(t), u[1] / np.sin(s[0])])
    # (4.4), (4.5) by differences along a motion with this u̇.
    u_dot = reduced.solve(s, u, t).acceleration
    h = 1e-5

    def later(k):
        q_dot_dot = (
            reduced.position_rate(s + h * rate, u + h * u_dot, t + h)
            - reduced.position_rate(s - h * rate, u - h * u_dot, t - h)
        ) / (2 * h)
        return reduced.way_back.lift(
            s + k * h * rate + (k * h) ** 2 / 2 * q_dot_dot, u + k * h * u_dot, t + k * h
        )

    ahead, behind, here = later(1), later(-1), reduced.way_back.lift(s, u, t)
    assert (ahead.q - behind.q) / (2 * h) == pytest.approx(here.v, abs=1e-8)
    assert (ahead.v - behind.v) / (2 * h) == pytest.approx(back.acceleration, abs=1e-7)
    # (4.11): Dᵀ = ∂v/∂u, and Kane's equations (4.12): D (−M v̇ + h*) = 0.
    D = here.partial_velocities.T
    moved = reduced.way_back.lift(s, u + [0.1, 0.0], t)
    assert (moved.v - here.v) / 0.1 == pytest.approx(D[0])
    M, Q = direct.terms.mass_matrix, direct.terms.applied_force
    assert np.abs(D @ (Q - M @ back.acceleration)).max() <= 1e-12
    # The energy is that of the full system, with the velocity the driver adds.
    assert reduced.energy(s, u, t)[0] == pytest.approx(full.energy(back.q, back.v, t)[0])


@pytest.mark.inventory("BL-18")
def test_identities_hold_and_a_map_that_violates_a_constraint_is_named():
    reduced = by_angle()
    tangent, bias = reduced.way_back.identities([0.4], [1.3])
    assert np.abs(tangent).max() <= 1e-14
    assert np.abs(bias).max() <= 1e-13
    # A row that stays is not zero there: it is the row of the reduced system.
    kept = double_pendulum().reduce(
        ["a", "x", "y"],
        map=lambda s, p: [p.L[0] * np.sin(s[0]), p.L[0] * np.cos(s[0]), s[1], s[2]],
        keep=["lower"],
    )
    q, v = [0.4, 0.9, 1.1], [1.0, 0.2, -0.3]
    terms = kept.terms(q, v)
    tangent, bias = kept.way_back.identities(q, v, rows=["lower"])
    assert tangent == pytest.approx(terms.constraint_matrix)
    assert bias == pytest.approx(-terms.constraint_rhs)
    assert np.abs(bias).max() > 0.1
    with pytest.raises(zw.InputError, match="row"):
        kept.way_back.identities(q, v, rows=["middle"])
    with pytest.raises(
        zw.InputError,
        match=r"'rod' must be satisfied identically by.*but is violated: φ\(g\(s, t\), t\) is not",
    ):
        planar_pendulum().reduce(
            ["angle"], map=lambda s, p: [p.L * np.sin(s[0]), 1.1 * p.L * np.cos(s[0])]
        )
    with pytest.raises(zw.InputError, match="constraint 'lower'"):
        double_pendulum().reduce(
            ["a", "x", "y"],
            map=lambda s, p: [p.L[0] * np.sin(s[0]), p.L[0] * np.cos(s[0]), s[1], s[2]],
        )


@pytest.mark.inventory("BL-33")
def test_what_is_kept_stays_a_constraint():
    full = double_pendulum()
    reduced = full.reduce(
        ["a", "x", "y"],
        map=lambda s, p: [p.L[0] * np.sin(s[0]), p.L[0] * np.cos(s[0]), s[1], s[2]],
        keep=["lower"],
    )
    assert reduced.constraints == ("lower",)
    assert reduced.eliminated == ("upper",)
    state = reduced.assemble(hold={"a": 0.4}, velocity={"hold": {"a_dot": 1.0, "x_dot": 0.2}})
    assert_same_motion(reduced, full, state.q, state.v)
    with pytest.raises(
        zw.InputError,
        match=r"'rod' must be satisfied by the map, or.*but the map makes it a constant other",
    ):
        planar_pendulum().reduce(
            ["angle"], map=lambda s: [np.sin(s[0]), np.cos(s[0])], keep=["rod"]
        )


@pytest.mark.inventory("BL-19")
def test_a_map_states_constraints_that_nobody_wrote():
    free = zw.System(
        coordinates=["x", "y"],
        parameters={"m": 1.5, "g": 9.81, "L": 2.0},
        mass=lambda p: np.diag([p.m] * 2),
        force=lambda p: [0.0, p.m * p.g],
    )
    reduced, written = by_angle(free), by_angle()
    assert reduced.solve([0.3], [1.2]).acceleration == pytest.approx(
        written.solve([0.3], [1.2]).acceleration
    )
    assert reduced.way_back([0.3], [1.2]).implied_force == pytest.approx(
        written.way_back([0.3], [1.2]).reaction("rod")
    )


# --- nonholonomic: section 5 ----------------------------------------------------------------------

DISK = rolling_disk()
STAGE_1 = DISK.reduce(
    ["x", "y", "phi", "theta", "psi"], map=lambda s: [s[0], s[1], 0.0, s[2], s[3], s[4]]
)
STAGE_2 = STAGE_1.reduce(
    velocities=["w1", "w2", "w3"],
    map=lambda q, u, p: [
        -p.r * np.cos(q[2]) * u[2],
        -p.r * np.sin(q[2]) * u[2],
        u[0],
        u[1],
        u[2],
    ],
)


@pytest.mark.inventory("BL-33", "BL-20", "BL-27", "BL-29")
@pytest.mark.parametrize("seed", range(5))
def test_the_rolling_disk_in_two_stages(seed):
    rng = np.random.default_rng(seed)
    q, w = rng.uniform(-1.2, 1.2, 5), rng.normal(size=3)
    p = {"m": rng.uniform(1, 3), "r": rng.uniform(0.2, 1), "J": rng.uniform(0.1, 1), "g": 9.81}
    assert STAGE_1.constraints == ("rolling",)
    assert STAGE_1.eliminated == ("contact",)
    assert STAGE_2.constraints == ()
    # Blajer (6.26)–(6.28) as corrected; not v̇ alone but ω̇ is compared.
    m, r, J, g = p.values()
    s, c, k = np.sin(q[3]), np.cos(q[3]), m * r**2
    M = [
        [(k + J) * s**2 + J, 0.0, (k + 2 * J) * s],
        [0.0, k + J, 0.0],
        [(k + 2 * J) * s, 0.0, k + 2 * J],
    ]
    h = [
        -2 * (k + J) * w[0] * w[1] * s * c - 2 * J * w[1] * w[2] * c,
        (k + J) * w[0] ** 2 * s * c + (k + 2 * J) * w[0] * w[2] * c + m * g * r * s,
        -2 * (k + J) * w[0] * w[1] * c,
    ]
    terms = STAGE_2.terms(q, w, parameters=p)
    assert np.abs(terms.mass_matrix - M).max() <= SAME
    assert np.abs(terms.applied_force - h).max() <= SAME * (1 + np.abs(h).max())
    w_dot = STAGE_2.solve(q, w, parameters=p).acceleration
    assert w_dot == pytest.approx(np.linalg.solve(M, h), rel=1e-10, abs=1e-11)
    back, direct = assert_same_motion(STAGE_2, DISK, q, w, parameters=p)
    # Reactions as functions of u, x, t: each constraint's own force, by the rows of the full disk.
    for name, rows in DISK.groups.items():
        own = direct.terms.constraint_matrix[rows].T @ direct.multipliers[rows]
        assert np.abs(own).max() > 1e-3
        assert back.reaction(name) == pytest.approx(own, abs=1e-9 * (1 + np.abs(own).max()))
    # Through one stage only: u̇ of the first stage with its own constraints.
    one = STAGE_2.way_back.lift(q, w, parameters=p)
    first = STAGE_1.solve(one.q, one.v, parameters=p)
    assert one.acceleration(w_dot) == pytest.approx(first.acceleration, rel=1e-9, abs=1e-10)
    # The ground force: turned into inertial axes it is m (a_G + g e_z).
    phi, theta = q[2], q[3]
    xi = np.array([np.cos(phi), np.sin(phi), 0.0])
    eta = np.array([-np.sin(theta) * np.sin(phi), np.sin(theta) * np.cos(phi), np.cos(theta)])
    axes = np.array([xi, eta, np.cross(xi, eta)])
    ground = sum(direct.multipliers[i] * direct.terms.constraint_matrix[i, :3] for i in range(3))
    spin = np.array([back.v[3], back.v[4], back.v[4] * np.tan(theta)])
    a_G = back.acceleration[:3] + np.cross(spin, back.v[:3])
    assert ground @ axes == pytest.approx(m * (a_G @ axes + [0, 0, g]), abs=1e-9)


@pytest.mark.inventory("BL-23", "BL-24", "BL-25", "BL-26", "BL-27", "BL-28", "BL-30")
def test_maggi_term_by_term_for_a_driven_nonholonomic_constraint():
    # ẏ = z ẋ + α(t) and a driven rail: η is not zero, and neither is v_u.
    full = zw.System(
        coordinates=["x", "y", "z", "w"],
        velocities=["v1", "v2", "v3", "v4"],
        kinematics=(
            lambda q: np.diag([1.0, 1.0, 1.0, 1.0 + q[0] ** 2]),
            lambda t: [0.0, 0.0, 0.1 * t, 0.0],
        ),
        parameters={"a": 0.7},
        mass=lambda q: (
            np.diag([2.0, 3.0 + q[2] ** 2, 1.5, 1.0]) + 0.2 * np.outer([1, 0, 1, 1], [1, 0, 1, 1])
        ),
        force=lambda q, v, t: [-q[0], np.sin(t), -1.0 - 0.3 * v[2], q[1] * v[0]],
        constraints={
            "drive": zw.velocity(
                lambda q, v, t, p: [v[1] - q[2] * v[0] - p.a * np.cos(t), v[3] + v[0] * q[1] - t]
            )
        },
    )
    reduced = full.reduce(
        velocities=["u1", "u2"],
        basis=lambda q: [[1.0, 0.0], [q[2], 0.0], [0.3, 1.0 + q[0] ** 2], [-q[1], 0.0]],
    )
    assert reduced.eliminated == ("drive[0]", "drive[1]")
    q, u, t = np.array([0.3, -0.4, 0.8, 0.1]), np.array([0.9, -1.2]), 0.6
    lifted = reduced.way_back.lift(q, u, t)
    terms = full.terms(q, lifted.v, t)
    M, C = terms.mass_matrix, terms.constraint_matrix
    maggi = maggi_terms(reduced.way_back, q, u, t)
    # (5.3): v_u = −M⁻¹Cᵀ M_c⁻¹ η with η = C v + η at v = 0.
    eta = full.residuals(q, np.zeros(4), t).velocity
    inverse = np.linalg.inv(M)
    v_u = -inverse @ C.T @ np.linalg.solve(C @ inverse @ C.T, eta)
    assert np.abs(v_u).max() > 0.1
    assert maggi.offset == pytest.approx(v_u, abs=1e-13)
    assert lifted.v == pytest.approx(maggi.partial_velocities @ u + v_u)
    # (5.2): M_d u = D M v.
    D = maggi.partial_velocities.T
    assert maggi.mass_matrix @ u == pytest.approx(D @ M @ lifted.v)
    # (5.4): c0* = −b.
    assert maggi.constraint_bias == pytest.approx(-terms.constraint_rhs)
    # (5.5) and (5.6) against what differentiating v gives: a_u itself, and u̇, not only v̇.
    assert np.abs(maggi.momentum_bias).max() > 0.1
    differentiated = reduced.terms(q, u, t).applied_force - D @ terms.applied_force
    assert maggi.momentum_bias == pytest.approx(differentiated, abs=1e-12)
    assert maggi.bias == pytest.approx(lifted.bias, abs=1e-12)
    own = reduced.terms(q, u, t)
    assert maggi.mass_matrix == pytest.approx(own.mass_matrix)
    assert maggi.force == pytest.approx(own.applied_force, abs=1e-12)
    assert maggi.acceleration == pytest.approx(reduced.solve(q, u, t).acceleration)
    # (5.7)
    rate = maggi.kinematics @ u + maggi.drift
    assert rate == pytest.approx(full.position_rate(q, lifted.v, t))
    assert rate == pytest.approx(reduced.position_rate(q, u, t))
    # Maggi: D (M v̇ − h*) = 0, with the same motion and reactions as the full system.
    back, _ = assert_same_motion(reduced, full, q, u, t)
    assert np.abs(D @ (M @ back.acceleration - terms.applied_force)).max() <= 1e-12


@pytest.mark.inventory("BL-24")
def test_a_velocity_map_that_is_not_orthogonal_is_no_case_for_section_5():
    full = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"drive": zw.velocity(lambda v, t: v[1] - v[0] - t)},
    )
    reduced = full.reduce(velocities=["u"], map=lambda u, t: [u[0], u[0] + t])
    assert_same_motion(reduced, full, [0.0, 0.0], [1.0], 0.5)
    with pytest.raises(zw.NotApplicableError, match="not orthogonal"):
        maggi_terms(reduced.way_back, [0.0, 0.0], [1.0], 0.5)


@pytest.mark.inventory("BL-31")
def test_velocities_that_are_nonlinear_in_the_independent_ones():
    # Appell–Hamel: ẋ² + ẏ² = k² ż², with speed and heading as independent "velocities".
    full = zw.System(
        coordinates=["x", "y", "z"],
        parameters={"m": 1.2, "k": 0.8, "g": 9.81},
        mass=lambda p: np.diag([p.m, 2 * p.m, 3 * p.m]),
        force=lambda q, v, p: [-q[0], 0.2 * v[2], -p.m * p.g],
        constraints={"cone": zw.velocity(lambda v, p: v[0] ** 2 + v[1] ** 2 - (p.k * v[2]) ** 2)},
    )
    reduced = full.reduce(
        velocities=["speed", "heading"],
        map=lambda u, p: [u[0] * np.cos(u[1]), u[0] * np.sin(u[1]), u[0] / p.k],
    )
    q, u = np.array([0.4, 0.1, -0.3]), np.array([1.7, 0.6])
    back, _ = assert_same_motion(reduced, full, q, u)
    assert reduced.position_rate(q, u) == pytest.approx(back.v)
    assert reduced.terms(q, u).mass_matrix[1, 1] == pytest.approx(
        1.7**2 * 1.2 * (np.sin(0.6) ** 2 + 2 * np.cos(0.6) ** 2)
    )
    again = reduced.way_in(back.q, back.v)
    assert reduced.way_back.lift(again).v == pytest.approx(back.v)
    # The rank test of (5.8).
    with pytest.raises(
        zw.InputError,
        match=r"a, b must be independent \(rank ∂v/∂u.*but in this map only 1 of the 2 are",
    ):
        full.reduce(
            velocities=["a", "b"],
            map=lambda u, p: [u[0] * u[1], 0.0 * u[0], u[0] * u[1] / p.k],
        )
    with pytest.raises(zw.InputError, match=r"constraint 'cone'.*ψ"):
        full.reduce(velocities=["a", "b"], map=lambda u: [u[0], u[1], u[0]])


@pytest.mark.inventory("BL-32")
def test_acceleration_constraints_are_carried_along():
    full = zw.System(
        coordinates=["x", "y", "z"],
        mass=lambda: np.diag([1.0, 2.0, 3.0]),
        force=lambda v: [-1.0, v[0], 0.5],
        constraints={
            "bowl": zw.position(lambda q: q[2] - q[0] ** 2 - q[0] * q[1]),
            "push": zw.acceleration(lambda q: [1.0, q[2], 0.5], lambda v, t: 0.3 * v[2] + t),
        },
    )
    reduced = full.reduce(["x", "y"], map=lambda s: [s[0], s[1], s[0] ** 2 + s[0] * s[1]])
    assert reduced.levels == {"push": "acceleration"}
    assert_same_motion(reduced, full, [0.4, -0.7], [1.1, 0.6], 0.3)


# --- a choice among the velocities there are ------------------------------------------------------


def test_a_four_bar_by_its_crank_and_by_the_best_velocity():
    full = four_bar()
    state = full.assemble(hold={"crank_angle": 0.7}, velocity={"hold": {"crank_angle_dot": 2.0}})
    for reduced in (full.reduce(at=state), full.reduce(velocities=["crank_angle_dot"], at=state)):
        assert len(reduced.velocities) == 1
        assert reduced.constraints == ()
        assert len(reduced.invariants) == 8
        own = reduced.way_in(state)
        assert own.v[0] == pytest.approx(state.v[full.velocities.index(reduced.velocities[0])])
        back, _ = assert_same_motion(reduced, full, own.q, own.v)
        assert back.v == pytest.approx(state.v)
        assert reduced.solve(own).acceleration[0] == pytest.approx(
            back.acceleration[full.velocities.index(reduced.velocities[0])]
        )


def test_a_bad_partition_is_seen_and_switched():
    full = planar_pendulum()
    reduced = full.reduce(at=full.assemble(hold={"x": 0.1}, start={"y": 2.0}))
    assert reduced.velocities == ("x_dot",)
    # The tangent is (cos θ, −sin θ): the quality of ẋ is cos θ.
    for angle in (0.2, 0.9, 1.4):
        q = 2.0 * np.array([np.sin(angle), np.cos(angle)])
        assert reduced.quality(q) == pytest.approx(np.cos(angle))
    assert reduced.switched(2.0 * np.array([np.sin(0.9), np.cos(0.9)])) is reduced
    q = 2.0 * np.array([np.sin(1.45), np.cos(1.45)])
    old = zw.State(q, np.array([0.3]))
    new = reduced.switched(old)
    assert new.velocities == ("y_dot",)
    assert new.quality(q) == pytest.approx(np.sin(1.45))
    state = new.way_in(reduced.way_back.lift(old))
    assert new.way_back(state).acceleration == pytest.approx(reduced.way_back(old).acceleration)
    with pytest.raises(zw.InputError, match="leaves them all at rest"):
        full.reduce(velocities=["x_dot"], at=[2.0, 0.0])
    with pytest.raises(zw.NotApplicableError, match="reduced by a map"):
        by_angle().quality([0.3])


def test_units_do_not_choose_the_independent_velocity():
    # The pendulum at 45° and a little, with x in millimetres: ẏ is the smaller number, and yet the
    # two are equally independent but for the little.
    def measured_in(unit):
        return zw.System(
            coordinates=["x", "y"],
            mass=lambda: np.diag([unit**2, 1.0]),
            constraints={"rod": zw.position(lambda q: (unit * q[0]) ** 2 + q[1] ** 2 - 4.0)},
        )

    for angle, best in ((0.7, "x_dot"), (0.87, "y_dot")):
        for unit in (1.0, 1e-3, 1e3):
            at = [2.0 * np.sin(angle) / unit, 2.0 * np.cos(angle)]
            reduced = measured_in(unit).reduce(at=at)
            assert reduced.velocities == (best,)
            assert reduced.quality(at) == pytest.approx(max(np.cos(angle), np.sin(angle)))


def test_redundant_rows_and_nonlinear_ones_are_sorted_out():
    full = zw.System(
        coordinates=["x", "y", "z"],
        mass=lambda: np.diag([1.0, 2.0, 3.0]),
        force=lambda: [0.3, -0.2, 1.0],
        constraints={
            "plane": zw.position(lambda q: q[0] + q[1] + q[2] - 1.0),
            "again": zw.position(lambda q: 100.0 * (q[0] + q[1] + q[2] - 1.0)),
            "speed": zw.velocity(lambda v: v @ v - 4.0),
        },
    )
    reduced = full.reduce()
    assert reduced.eliminated == ("plane", "again")
    assert reduced.constraints == ("speed",)
    state = full.assemble(velocity={"prefer": {"x_dot": 1.0}})
    own = reduced.way_in(state)
    assert_same_motion(reduced, full, own.q, own.v)


# --- what is carried over -------------------------------------------------------------------------


def test_non_ideal_forces_of_removed_constraints_act_on():
    def drag(v):
        return [-0.4 * v[0], -0.4 * v[1]]

    def system(**more):
        return zw.System(
            coordinates=["x", "y"],
            parameters={"m": 1.5, "g": 9.81, "L": 2.0, "mu": 0.2},
            mass=lambda p: np.diag([p.m] * 2),
            force=lambda p: [0.0, p.m * p.g],
            constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
            **more,
        )

    full = system(nonideal={"rod": drag})
    reduced = by_angle(full)
    assert reduced.solve([0.3], [1.2]).acceleration == pytest.approx(
        [-9.81 / 2 * np.sin(0.3) - 0.4 * 1.2 / 1.5]
    )
    assert_same_motion(reduced, full, [0.3], [1.2])

    def friction(v, p, reaction):
        speed = np.sqrt(v @ v)
        return -p.mu * np.sqrt(reaction @ reaction) * v / speed

    with pytest.raises(zw.NotApplicableError, match="reaction which the map removes"):
        by_angle(system(nonideal={"rod": friction}))


def test_friction_of_a_constraint_that_stays_is_the_same_in_fewer_variables():
    def friction(v, p, reaction):
        speed = np.sqrt(v[0] ** 2 + v[1] ** 2 + 1e-4)
        return -p.mu * abs(reaction.multipliers[0]) / speed * np.array([v[0], v[1], 0.0, 0.0])

    full = zw.System(
        coordinates=["x", "y", "z", "w"],
        parameters={"mu": 0.3},
        mass=lambda: np.diag([1.0, 1.0, 1.0, 2.0]),
        force=lambda: [0.3, 0.1, -9.81, 1.0],
        constraints={
            "floor": zw.position(lambda q: q[2] - 0.1 * q[0] ** 2),
            "belt": zw.position(lambda q: q[3] - 2.0 * q[1]),
        },
        nonideal={"floor": friction},
    )
    reduced = full.reduce(
        ["x", "y", "z"], map=lambda s: [s[0], s[1], s[2], 2.0 * s[1]], keep=["floor"]
    )
    state = reduced.assemble(
        hold={"x": 1.0, "y": 0.2}, velocity={"hold": {"x_dot": 0.7, "y_dot": -0.4}}
    )
    _, direct = assert_same_motion(reduced, full, state.q, state.v)
    assert np.abs(direct.terms.nonideal_force).max() > 1.0


def test_a_reduced_definition_can_be_traced_again():
    for system in (by_angle(), STAGE_1, STAGE_2):
        again = zw.System.of(system.definition)
        q, v = RNG.uniform(-1, 1, len(system.coordinates)), RNG.normal(size=len(system.velocities))
        ours, theirs = system.terms(q, v, 0.2), again.terms(q, v, 0.2)
        for name in ("mass_matrix", "applied_force", "constraint_matrix", "constraint_rhs"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-12)
        assert trace(system.definition).row_names == system.model.row_names


def test_lagrangian_systems_and_opaque_functions_can_be_reduced():
    bowl = zw.opaque(lambda x: x**2 + 0.1 * x**3, name="bowl")
    full = zw.System.from_lagrangian(
        coordinates=["x", "y"],
        parameters={"m": 2.0},
        T=lambda v, p: 0.5 * p.m * (v @ v),
        V=lambda q, p: p.m * 9.81 * q[1],
        constraints={"wire": zw.position(lambda q: q[1] - bowl(q[0]))},
    )
    reduced = full.reduce(["s"], map=lambda s: [s[0], bowl(s[0])])
    back, _ = assert_same_motion(reduced, full, [0.6], [1.1])
    assert np.array(reduced.energy([0.6], [1.1])) == pytest.approx(
        np.array(full.energy(back.q, back.v))
    )


def test_both_systems_move_the_same():
    full, reduced = planar_pendulum(), by_angle()
    state = reduced.way_back([0.9], [0.4])
    short = reduced.simulate([0.9], [0.4], until=0.5, tolerance=1e-10)
    long = full.simulate(state.q, state.v, until=0.5, tolerance=1e-10)
    ends = reduced.way_back(short.q[-1], short.v[-1])
    assert ends.q == pytest.approx(long.q[-1], abs=1e-8)
    assert ends.v == pytest.approx(long.v[-1], abs=1e-8)
    # A state of the run in fewer variables gives all reactions along it.
    assert reduced.way_back(short.q, short.v, short.t).reaction("rod").shape == (len(short.t), 2)


def test_kinematics_of_the_disk_are_inverse_to_each_other():
    p = dataclasses.make_dataclass("P", ["r"])(0.5)
    N = np.array(disk_kinematics(np.array([0, 0, 0, 0.4, 0.7, 0]), p))
    lifted = STAGE_1.way_back.lift([0.1, 0.2, 0.4, 0.7, 0.3], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert N @ lifted.v == pytest.approx([1.0, 2.0, 0.0, 3.0, 4.0, 5.0])


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"coordinates": ["a"]},
            r"independent coordinates must come with map=lambda s, t, p: \[…q…\]",
        ),
        (
            {"map": lambda s: [s[0], s[0]]},
            "reduce must be given the names of the independent coordinates or",
        ),
        (
            {"coordinates": ["a"], "map": lambda s: [s[0]]},
            r"map must return 2 values \(x, y\), but returns 1",
        ),
        (
            {"velocities": ["u"], "map": lambda u: [u[0]]},
            r"map must return 2 values \(x_dot, y_dot\), but returns 1",
        ),
        (
            {"velocities": ["z_dot"]},
            "independent velocity must be one of x_dot, y_dot, not 'z_dot'",
        ),
        (
            {"velocities": ["x_dot", "y_dot"]},
            r"velocities x_dot, y_dot must be 1, as many as there are.*but there are 2",
        ),
        (
            {"coordinates": ["a"], "map": lambda s: [s[0], s[0]], "keep": ["bar"]},
            "constraint to keep must be one of rod, not 'bar'",
        ),
        (
            {"coordinates": ["a"], "velocities": ["u"], "map": lambda s: [s[0], s[0]]},
            r"independent coordinates must come with velocities and.*but one of them is missing",
        ),
        (
            {"coordinates": ["rod"], "map": lambda s, p: [p.L * np.sin(s[0]), p.L * np.cos(s[0])]},
            None,
        ),
        (
            {"coordinates": ["m"], "map": lambda s, p: [p.L * np.sin(s[0]), p.L * np.cos(s[0])]},
            r"parameter 'm' must have a name of its own.*but a coordinate has the same name",
        ),
        (
            {"coordinates": ["a"], "map": lambda s: [np.sqrt(-1.0 - s[0] ** 2), s[0]]},
            "map must be defined at random states, but has no finite value at 20 of them",
        ),
        (
            {"velocities": ["u"], "map": lambda u: u, "basis": lambda q: q},
            "reduce must be given a map or a basis, but both were given",
        ),
    ],
)
def test_bad_requests_are_named(arguments, message):
    if message is None:
        assert planar_pendulum().reduce(**arguments).coordinates == ("rod",)
        return
    with pytest.raises(zw.InputError, match=message):
        planar_pendulum().reduce(**arguments)


def test_a_map_may_not_leave_out_a_motion_that_is_allowed():
    with pytest.raises(
        zw.InputError, match=r"velocities a_dot must be 2: 4 velocities less 2.*but there are 1"
    ):
        double_pendulum().reduce(
            ["a"],
            map=lambda s, p: [
                p.L[0] * np.sin(s[0]),
                p.L[0] * np.cos(s[0]),
                (p.L[0] + p.L[1]) * np.sin(s[0]),
                (p.L[0] + p.L[1]) * np.cos(s[0]),
            ],
        )


def test_a_state_off_the_map_has_no_way_in():
    with pytest.raises(
        zw.InputError,
        match=r"configuration must satisfy the constraints.*but no independent values give it; the",
    ):
        by_angle().way_in([1.0, 1.0])
    with pytest.raises(
        zw.InputError,
        match=r"velocity must satisfy the constraints.*but no independent values give it; the",
    ):
        by_angle().way_in([0.0, 2.0], [0.0, 1.0])


def test_more_coordinates_than_velocities():
    # A body on a hinge in Euler parameters: N is 4 × 3, and the unit norm restricts no velocity.
    full = zw.System(
        coordinates=["e0", "e1", "e2", "e3"],
        velocities=["w1", "w2", "w3"],
        parameters={"J": [1.0, 2.0, 3.0], "k": 0.7},
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
        mass=lambda p: np.diag(p.J),
        force=lambda q, v, p: [0.3 * v[1] * v[2], -0.1 * q[1], -p.k * q[3]],
        constraints={
            "norm": zw.position(lambda q: q @ q - 1.0),
            "hinge": zw.position(lambda q: [q[1], q[2]]),
        },
    )
    reduced = full.reduce(["s"], map=lambda s: [np.cos(s[0] / 2), 0.0, 0.0, np.sin(s[0] / 2)])
    assert reduced.eliminated == ("norm", "hinge[0]", "hinge[1]")
    back, _ = assert_same_motion(reduced, full, [0.8], [1.3])
    assert back.v == pytest.approx([0.0, 0.0, 1.3])
    assert reduced.solve([0.8], [1.3]).acceleration == pytest.approx([-0.7 * np.sin(0.4) / 3.0])
    state = full.assemble(prefer={"e0": 2.0, "e3": 1.0}, velocity={"hold": {"w3": 1.3}})
    assert state.q == pytest.approx(np.array([2.0, 0.0, 0.0, 1.0]) / np.sqrt(5.0))
    assert reduced.way_in(state, start=[0.5]).q == pytest.approx([2 * np.arctan(0.5)])


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ({"x": 1.0}, "at must have a value for each name, but has no value for y"),
        ([1.0, "a"], r"at must be numbers, not \[1\.0, 'a'\]"),
        ([1.0, 2.0, 3.0], r"at must have 2 values \(x, y\), but has 3 values"),
    ],
)
def test_a_state_to_look_at_is_checked(at, words):
    ring = zw.System(["x", "y"], mass=np.eye(2), constraints={"ring": lambda q: q @ q - 1.0})
    for ask in (ring.reduce, ring.integrability):
        with pytest.raises(zw.InputError, match=words):
            ask(at=at)


def test_a_map_for_positive_radii_takes_coordinates_near_which_it_is_checked():
    """Atwood's machine with a swinging weight: r = √(x² + z²) for r > 0 alone."""
    s = zw.System(
        ["x", "z", "y"],
        parameters={"m": 1.0, "M": 2.5, "g": 9.81, "l": 3.0},
        mass=lambda p: np.diag([p.m, p.m, p.M]),
        potential=lambda q, p: p.m * p.g * q[1] + p.M * p.g * q[2],
        constraints={"rope": zw.position(lambda q, p: np.sqrt(q[0] ** 2 + q[1] ** 2) - q[2] - p.l)},
    )

    def polar(s, p):
        return [s[0] * np.sin(s[1]), -s[0] * np.cos(s[1]), s[0] - p.l]

    names = ["r", "theta"]
    with pytest.raises(
        zw.InputError, match=r"since it holds at other s, give coordinates .* at=\["
    ):
        s.reduce(names, map=polar)
    forms = [[1.0, 0.3], {"r": 1.0, "theta": 0.3}, ([1.0, 0.3], [0.1, 0.2])]
    state = zw.State(np.array([1.0, 0.3]), np.array([0.1, 0.2]))
    for at in (*forms, state):
        reduced = s.reduce(names, map=polar, at=at)
        r_ddot = (1.0 * 0.2**2 - 2.5 * 9.81 + 9.81 * np.cos(0.3)) / 3.5
        found = reduced.solve([1.0, 0.3], [0.1, 0.2]).acceleration
        assert found == pytest.approx([r_ddot, -9.81 * np.sin(0.3) - 0.04], rel=1e-12)
