"""Quasi-velocities forward and back: v = B q̇ + b₀, u = γ(v, q, t), and ∂v̇/∂u̇."""

import numpy as np
import pytest
from linkages import planar_pendulum, rolling_disk

import zwang as zw
from zwang.formulations.projection import Projection

#: Solves of a few equations with condition below 1e3.
SAME = 1e-11


# --- (2.2) ----------------------------------------------------------------------------------------


@pytest.mark.inventory("BL-01", "BL-55")
def test_velocities_from_rates_are_b_times_them_plus_b0():
    # N and n₀ with an inverse known by hand: v1 = ẋ − y·t, v2 = (ẏ − sin t)/(1 + x²).
    system = zw.System(
        coordinates=["x", "y"],
        velocities=["v1", "v2"],
        kinematics=(
            lambda q: [[1.0, 0.0], [0.0, 1.0 + q[0] ** 2]],
            lambda q, t: [q[1] * t, np.sin(t)],
        ),
        mass=np.eye(2),
    )
    rng = np.random.default_rng(1)
    q, rate, t = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=5)
    found = system.velocity_from_rate(q, rate, t)
    first = rate[:, 0] - q[:, 1] * t
    second = (rate[:, 1] - np.sin(t)) / (1 + q[:, 0] ** 2)
    assert found == pytest.approx(np.stack([first, second], axis=1))
    assert system.position_rate(q, found, t) == pytest.approx(rate)
    assert system.velocity_from_rate(q[0], rate[0], t[0]) == pytest.approx(found[0])


@pytest.mark.inventory("BL-01", "BL-55")
def test_with_more_coordinates_than_velocities_rates_must_be_possible():
    body = zw.System(
        coordinates=["c", "s"],  # cosine and sine of an angle
        velocities=["w"],
        kinematics=lambda q: [[-q[1]], [q[0]]],
        mass=np.eye(1),
    )
    assert body.velocity_from_rate([0.6, 0.8], [-1.6, 1.2]) == pytest.approx([2.0])
    with pytest.raises(
        zw.InputError,
        match=r"must satisfy q̇ = N v \+ n₀ for.*but no velocities give it; the nearest",
    ):
        body.velocity_from_rate([0.6, 0.8], [1.0, 1.0])
    with pytest.raises(zw.InputError, match="position_rate"):
        body.velocity_from_rate([0.6, 0.8], [1.0])


def test_velocities_that_are_not_linear_have_no_such_inverse():
    cone = zw.System(
        ["x", "y"],
        mass=np.eye(2),
        constraints={"cone": zw.velocity(lambda v: v[0] ** 2 + v[1] ** 2 - 1.0)},
    )
    turned = cone.reduce(velocities=["a"], map=lambda u: [np.cos(u[0]), np.sin(u[0])])
    with pytest.raises(zw.NotApplicableError, match="not linear"):
        turned.velocity_from_rate([0.0, 0.0], [1.0, 0.0])


# --- (4.11) ---------------------------------------------------------------------------------------


@pytest.mark.inventory("BL-56", "BL-22")
def test_projection_is_the_derivative_of_accelerations_too():
    full = planar_pendulum()
    reduced = full.reduce(["angle"], map=lambda s, p: [p.L * np.sin(s[0]), p.L * np.cos(s[0])])
    slope = reduced.way_back.partial_accelerations([0.4], [1.3])
    assert slope == pytest.approx(np.array([[2.0 * np.cos(0.4)], [-2.0 * np.sin(0.4)]]))
    assert slope == pytest.approx(reduced.way_back.lift([0.4], [1.3]).partial_velocities)
    # By differences of v̇, which is linear in u̇.
    one, none = (reduced.way_back([0.4], [1.3], acceleration=[u]).acceleration for u in (1.0, 0.0))
    assert slope[:, 0] == pytest.approx(one - none)


@pytest.mark.inventory("BL-56")
def test_for_velocities_that_are_not_linear_in_u_as_well():
    full = zw.System(
        ["x", "y"],
        mass=np.diag([1.0, 2.0]),
        force=lambda q: [-q[0], 1.0],
        constraints={"speed": zw.velocity(lambda v, t: v[0] ** 2 + v[1] ** 2 - (1.0 + t) ** 2)},
    )
    reduced = full.reduce(
        velocities=["a"], map=lambda u, t: [(1 + t) * np.cos(u[0]), (1 + t) * np.sin(u[0])]
    )
    many = reduced.way_back.partial_accelerations(np.zeros((3, 2)), [[0.1], [0.2], [0.3]], 0.5)
    angle = np.array([0.1, 0.2, 0.3])
    assert many[..., 0] == pytest.approx(1.5 * np.stack([-np.sin(angle), np.cos(angle)], axis=1))


# --- (5.2) ----------------------------------------------------------------------------------------


@pytest.mark.inventory("BL-57", "BL-23")
def test_quasi_velocities_by_projection_are_those_of_the_tangent_part():
    rng = np.random.default_rng(5)
    for _ in range(5):
        R = rng.normal(size=(4, 4))
        M, A, Dt = R @ R.T + np.eye(4), rng.normal(size=(2, 4)), np.zeros((4, 2))
        Dt[:2] = rng.normal(size=(2, 2))
        Dt[2:] = -np.linalg.solve(A[:, 2:], A[:, :2] @ Dt[:2])
        u, normal = rng.normal(size=2), np.linalg.solve(M, A.T) @ rng.normal(size=2)
        terms = zw.EquationTerms.of(M, np.zeros(4), A, np.zeros(2))
        projection = Projection(terms, basis=Dt)
        # v = Dᵀu + v_⊥ with D M v_⊥ = 0
        assert projection.quasi_velocities(Dt @ u + normal) == pytest.approx(u)
        assert projection.quasi_velocities(normal) == pytest.approx([0.0, 0.0], abs=1e-12)


# --- (5.8) ----------------------------------------------------------------------------------------


def appell_hamel():
    """ẋ² + ẏ² = k² ż², a constraint that is not linear in the velocities."""
    return zw.System(
        coordinates=["x", "y", "z"],
        parameters={"m": 1.2, "k": 0.8, "g": 9.81},
        mass=lambda p: np.diag([p.m, 2 * p.m, 3 * p.m]),
        force=lambda q, v, p: [-q[0], 0.2 * v[2], -p.m * p.g],
        constraints={"cone": zw.velocity(lambda v, p: v[0] ** 2 + v[1] ** 2 - (p.k * v[2]) ** 2)},
    )


def chosen(q, v, t):
    """Two quasi-velocities for which v has no closed form."""
    return [v[0] * v[2] + q[1] * t, v[1] + 0.1 * v[1] ** 3 + q[0] * v[0]]


@pytest.mark.inventory("BL-58")
def test_velocities_defined_forward_give_the_motion():
    system, q, t = appell_hamel(), np.array([0.3, -0.2, 0.5]), 0.4
    v = np.array([0.6, 0.8, 1.25])
    found = system.forward_velocities(chosen, q, v, t)
    assert found.u == pytest.approx(chosen(q, v, t))
    exact = system.solve(q, v, t)
    assert found.acceleration == pytest.approx(exact.acceleration, abs=SAME)
    # u̇ is the rate of γ along the motion, by differences.
    h, a = 1e-6, exact.acceleration
    ahead, behind = (np.array(chosen(q + k * v + k**2 / 2 * a, v + k * a, t + k)) for k in (h, -h))
    assert found.rate == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
    # Dᵀ = ∂v/∂u: along its columns the constraint holds and u_k grows by one.
    slope = np.array([[v[2], 0.0, v[0]], [q[0], 1 + 0.3 * v[1] ** 2, 0.0]])
    cone = np.array([2 * v[0], 2 * v[1], -2 * 0.64 * v[2]])
    assert slope @ found.partial_velocities == pytest.approx(np.eye(2))
    assert cone @ found.partial_velocities == pytest.approx([0.0, 0.0], abs=1e-13)
    assert found.matrix == pytest.approx(np.vstack([cone, slope]))
    # The equations themselves: M_d u̇ = D (h* − M a_u).
    D, M = found.partial_velocities.T, np.diag([1.2, 2.4, 3.6])
    force = np.array([-0.3, 0.25, -1.2 * 9.81])
    assert found.mass_matrix == pytest.approx(D @ M @ D.T)
    assert found.force == pytest.approx(D @ (force - M @ found.bias))
    assert found.mass_matrix @ found.rate == pytest.approx(found.force)
    assert found.partial_velocities @ found.rate + found.bias == pytest.approx(found.acceleration)


@pytest.mark.inventory("BL-58")
def test_forward_and_back_are_the_same_where_both_have_a_closed_form():
    # The rolling disk's own ω = (φ̇, θ̇, ψ̇), forward from v and back by (6.25).
    disk = rolling_disk()
    state = disk.assemble(
        hold={"theta": 0.4, "phi": 0.3}, velocity={"prefer": {"v4": 0.5, "v5": 1.0, "v6": 2.0}}
    )

    def omega(q, v):
        return [v[4] / np.cos(q[4]), -v[3], v[5] - v[4] * np.tan(q[4])]

    found = disk.forward_velocities(omega, state.q, state.v)
    assert found.acceleration == pytest.approx(disk.solve(state).acceleration, abs=1e-10)
    p = disk.definition.parameters
    m, r, J, g = (float(p[name]) for name in ("m", "r", "J", "g"))
    s, c, k = np.sin(0.4), np.cos(0.4), m * r**2
    w1, w2, w3 = found.u
    M = [
        [(k + J) * s**2 + J, 0.0, (k + 2 * J) * s],
        [0.0, k + J, 0.0],
        [(k + 2 * J) * s, 0.0, k + 2 * J],
    ]
    h = [
        -2 * (k + J) * w1 * w2 * s * c - 2 * J * w2 * w3 * c,
        (k + J) * w1**2 * s * c + (k + 2 * J) * w1 * w3 * c + m * g * r * s,
        -2 * (k + J) * w1 * w2 * c,
    ]
    assert found.mass_matrix == pytest.approx(np.array(M))
    assert found.force == pytest.approx(h, abs=1e-9)


@pytest.mark.inventory("BL-58")
def test_definitions_of_too_low_rank_or_the_wrong_number_are_refused():
    system, q, v = appell_hamel(), [0.3, -0.2, 0.5], [0.6, 0.8, 1.25]
    with pytest.raises(
        zw.InputError,
        match=r"of u must have rank \[φ_v; γ_v\] = 3.*but it is 2 at this state\. u must",
    ):
        system.forward_velocities(lambda v: [v[0] ** 2 + v[1] ** 2 - 0.64 * v[2] ** 2, v[1]], q, v)
    with pytest.raises(
        zw.InputError, match=r"definition of u must have 2 values: 3 velocities.*but has 1"
    ):
        system.forward_velocities(lambda v: [v[0]], q, v)
    with pytest.raises(zw.InputError, match="q, v, t must be one state, not several states"):
        system.forward_velocities(chosen, [q, q], [v, v])
