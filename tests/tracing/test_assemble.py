"""Consistent starts: exact where held, nearest where preferred, named where impossible."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linkages import double_pendulum, four_bar, pendulum, planar_pendulum, rolling_disk
from scipy.optimize import minimize

import zwang as zw

#: The promise for nearest values, relative to sizes near one.
NEAREST = 1e-10

#: The limit of residuals that the design sets, relative to slope times size.
RESIDUAL = 1e-13


def assert_consistent(system, state, **options):
    """Residuals at rounding, by the design's measure."""
    left = system.residuals(state, **options)
    q = np.concatenate([state.q, [1.0]])
    assert np.abs(left.position).max(initial=0.0) <= RESIDUAL * max(1.0, 20 * np.linalg.norm(q))
    size = max(1.0, 20 * np.linalg.norm(state.v)) * max(1.0, np.linalg.norm(q))
    assert np.abs(left.velocity).max(initial=0.0) <= RESIDUAL * size


@pytest.mark.inventory("BL-05")
def test_held_values_are_exact_and_all_three_residuals_vanish():
    disk = rolling_disk()
    state = disk.assemble(
        hold={"theta": 0.3, "phi": -1.1}, velocity={"hold": {"v4": 0.2, "v6": 2.0}}
    )
    assert state.q[4] == 0.3
    assert state.q[3] == -1.1
    assert state.v[3] == 0.2
    assert state.v[5] == 2.0
    left = disk.residuals(state)
    assert left.position_names == ("contact",)
    assert left.velocity_names == ("contact", "rolling[0]", "rolling[1]")
    assert np.abs(left.position).max() <= 1e-15
    assert np.abs(left.velocity).max() <= 1e-15
    # Off the plane and slipping: φ = z_P, φ̇ = ż_P, and what the contact point moves along x, y.
    q, v = [0.3, 0.1, 0.2, 0.0, 0.0, 0.4], [0.7, 0.5, 0.9, 0.2, 1.0, 2.0]
    off = disk.residuals(q, v)
    assert off.position == pytest.approx([0.2])
    assert off.velocity == pytest.approx([0.5, 0.7 + 0.5 * 2.0, -(0.9 - 0.5 * 0.2)])
    # (6.5): v1 + r v6 = 0, v2 = 0, v3 − r v4 = 0
    assert state.v[:3] == pytest.approx([-1.0, 0.0, 0.1], abs=1e-14)


def test_an_assembly_unpacks_and_serves_as_a_state():
    system = pendulum()
    state = system.assemble(hold={"x": 1.0}, prefer={"y": 1.7}, velocity={"hold": {"z_dot": 0.5}})
    q, v = state
    assert q[:2] == pytest.approx([1.0, 1.7], abs=0)
    assert q[2] == pytest.approx(np.sqrt(0.11), abs=1e-15)
    assert state.moved == {"y": 0.0}
    assert state.distance == 0.0
    assert state.t == 0.0
    assert state.iterations > 0
    by_state, by_arrays = system.solve(state), system.solve(q, v)
    assert np.array_equal(by_state.acceleration, by_arrays.acceleration)
    assert_consistent(system, state)


def test_without_wishes_any_configuration_will_do():
    for system in (pendulum(), double_pendulum(), four_bar(), rolling_disk()):
        assert_consistent(system, system.assemble())
    assert "1 degree of freedom" in str(four_bar().explain())


def chain(count, length, span):
    """Rods between a fixed pivot and a fixed end."""

    def rods(q):
        points = np.concatenate([np.zeros((1, 2)), q.reshape(count, 2)])
        steps = points[1:] - points[:-1]
        return [*(step @ step - length**2 for step in steps), q[-2] - span, q[-1]]

    return zw.System(
        coordinates=[f"{c}{k}" for k in range(count) for c in "xy"],
        mass=lambda: np.eye(2 * count),
        constraints={"rods": zw.position(rods)},
    )


@pytest.mark.parametrize(
    ("length", "span"), [(1.0, 20.0), (1.0, 29.99), (1e-3, 0.02), (1e5, 1.8e6)]
)
def test_long_chains_unfold_from_nothing_in_any_unit(length, span):
    system = chain(30, length, span)
    state = system.assemble()
    slope = 4 * length * np.abs(state.q).max()
    assert np.abs(system.residuals(state).position).max() <= RESIDUAL * max(1.0, slope)
    steps = np.diff(state.q.reshape(30, 2), axis=0, prepend=0.0)
    assert np.linalg.norm(steps, axis=1) == pytest.approx(length, rel=1e-9)
    # In whatever unit, the first start serves: without a sense of scale it takes thousands.
    assert state.iterations < 400


def test_without_wishes_there_is_no_end_of_branches_to_be_found():
    # A sphere is one piece: whatever the start, the nearest point is the same.
    assert len(pendulum().assemble(branches=True)) == 1


# --- nearest --------------------------------------------------------------------------------------


def test_the_nearest_point_of_a_sphere_is_the_radial_one():
    target = np.array([3.0, 1.0, -2.0])
    state = pendulum().assemble(prefer=dict(zip("xyz", target, strict=True)))
    nearest = 2.0 * target / np.linalg.norm(target)
    assert np.abs(state.q - nearest).max() <= NEAREST / 1e4
    assert state.distance == pytest.approx(np.linalg.norm(target) - 2.0, rel=1e-14)
    assert list(state.moved.values()) == pytest.approx(nearest - target, rel=1e-12)


def test_what_is_preferred_comes_before_what_is_free():
    # The nearest point in the plane x, y is on the equator; z follows from that alone.
    state = pendulum().assemble(prefer={"x": 3.0, "y": 4.0}, start={"z": 0.4})
    assert np.abs(state.q - [1.2, 1.6, 0.0]).max() <= NEAREST


def test_free_values_stay_near_their_start_where_there_is_a_choice():
    # x is met; (y, z) is then the point of a circle nearest to the start (2, 1).
    state = pendulum().assemble(prefer={"x": 1.0}, start={"y": 2.0, "z": 1.0})
    expected = np.sqrt(3.0) * np.array([2.0, 1.0]) / np.sqrt(5.0)
    assert state.q[0] == 1.0
    assert np.abs(state.q[1:] - expected).max() <= NEAREST


def test_a_hand_out_of_reach_stretches_the_arm():
    arm = zw.System(
        coordinates=["x", "y", "a", "b", "c"],
        mass=lambda: np.eye(5),
        constraints={
            "hand": zw.position(
                lambda q: [q[0] - np.cos(q[2]) - np.cos(q[3]), q[1] - np.sin(q[2]) - np.sin(q[3])]
            ),
            "spare": zw.position(lambda q: q[4] ** 2 - q[2] - 3.0),
        },
    )
    state = arm.assemble(prefer={"x": 5.0, "y": 1.0}, start={"c": 1.0})
    a = np.arctan2(1.0, 5.0)
    expected = [2 * np.cos(a), 2 * np.sin(a), a, a, np.sqrt(3.0 + a)]
    assert np.abs(state.q - expected).max() <= NEAREST


def test_weights_decide_which_wish_gives_way():
    # On the line x + y = 3, minimise w (x − 0)² + (y − 0)²: x = 3/(1 + w).
    line = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"line": zw.position(lambda q: q[0] + q[1] - 3.0)},
    )
    for weight in (0.01, 1.0, 50.0):
        state = line.assemble(prefer={"x": 0.0, "y": 0.0}, weights={"x": weight})
        assert state.q == pytest.approx(3.0 * np.array([1, weight]) / (1 + weight), abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_nearest_point_agrees_with_slsqp_among_redundant_quadrics(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    m = int(rng.integers(1, n))
    point, target = rng.normal(size=n), 1.5 * rng.normal(size=n)
    forms = [B @ B.T / n + 0.1 * np.eye(n) for B in rng.normal(size=(m, n, n))]
    levels = [float(point @ form @ point) for form in forms]

    def quadrics(q):
        return [q @ form @ q - level for form, level in zip(forms, levels, strict=True)]

    system = zw.System(
        coordinates=[f"x{i}" for i in range(n)],
        mass=lambda: np.eye(n),
        constraints={
            "quadrics": zw.position(quadrics),
            "again": zw.position(lambda q: 1e3 * quadrics(q)[0]),
        },
    )
    state = system.assemble(prefer={f"x{i}": target[i] for i in range(n)})
    conditions = [
        {"type": "eq", "fun": lambda x, k=k: quadrics(x)[k], "jac": lambda x, k=k: 2 * forms[k] @ x}
        for k in range(m)
    ]
    found = [
        minimize(
            lambda x: 0.5 * np.sum((x - target) ** 2),
            start,
            jac=lambda x: x - target,
            constraints=conditions,
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 300},
        )
        for start in [target, *(2 * rng.normal(size=(8, n)))]
    ]
    feasible = [r for r in found if np.abs(quadrics(r.x)).max() < 1e-9]
    best = min(feasible, key=lambda r: r.fun)
    assert state.distance <= np.sqrt(2 * best.fun) + 1e-12
    # SLSQP stops where the distance no longer changes, so its point is good to the root of that.
    if state.distance >= np.sqrt(2 * best.fun) - 1e-12:
        assert np.abs(state.q - best.x).max() <= 1e-6
    # Stationary by itself: q − q̂ is a combination of the gradients.
    gradients = np.array([2 * form @ state.q for form in forms]).T
    step = state.q - target
    assert np.abs(step - gradients @ np.linalg.lstsq(gradients, step)[0]).max() <= NEAREST


def test_the_nearest_of_two_ovals_is_found_from_the_side_of_the_other():
    # Cassini's ovals; the way straight from the wish to the curve leads to the wrong one.
    def oval(x, y):
        return (x**2 + y**2) ** 2 - 2 * (x**2 - y**2) + 0.3

    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"ovals": zw.position(lambda q: oval(*q))},
    )
    wish = np.array([-0.06003623, -0.80288124])
    angle = np.linspace(0, 2 * np.pi, 20001)
    # In polar coordinates: r⁴ − 2 r² cos 2φ + 0.3 = 0.
    c = np.cos(2 * angle)
    root = np.sqrt(np.where(c**2 >= 0.3, c**2 - 0.3, np.nan))
    r = np.sqrt(np.where(c > 0, np.array([c - root, c + root]), np.nan))
    x, y = r * np.cos(angle), r * np.sin(angle)
    least = np.nanmin(np.hypot(x - wish[0], y - wish[1]))
    assert system.assemble(prefer=dict(zip("xy", wish, strict=True))).distance == pytest.approx(
        least, abs=1e-6
    )


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_wishes_out_of_reach_are_missed_by_as_little_as_possible(seed, started):
    """With free coordinates beside: Σ(x − x̂)² of the preferred ones is stationary."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    m, preferred = int(rng.integers(1, n)), int(rng.integers(1, n))
    point, target = rng.normal(size=n), 3.0 * rng.normal(size=preferred)
    forms = [B @ B.T / n + 0.1 * np.eye(n) for B in rng.normal(size=(m, n, n))]
    levels = [float(point @ form @ point) for form in forms]
    system = zw.System(
        coordinates=[f"x{i}" for i in range(n)],
        mass=lambda: np.eye(n),
        constraints={
            "quadrics": zw.position(
                lambda q: [q @ form @ q - level for form, level in zip(forms, levels, strict=True)]
            )
        },
    )
    state = system.assemble(
        prefer={f"x{i}": target[i] for i in range(preferred)},
        start=rng.normal(size=n) if started else None,
    )
    gradients = np.array([2 * form @ state.q for form in forms]).T
    pull = np.zeros(n)
    pull[:preferred] = state.q[:preferred] - target
    left = pull - gradients @ np.linalg.lstsq(gradients, pull)[0]
    assert np.abs(left).max() <= NEAREST


# --- independence ---------------------------------------------------------------------------------


LINKAGE = four_bar()


@settings(deadline=None, max_examples=8)
@given(
    order=st.permutations(["crank_x", "coupler_angle", "rocker_y", "rocker_angle", "coupler_x"]),
    rates=st.permutations(["crank_angle_dot", "rocker_x_dot", "coupler_y_dot"]),
)
def test_the_order_in_which_values_are_given_does_not_matter(order, rates):
    wishes = {
        "crank_x": 0.3,
        "coupler_angle": 0.8,
        "rocker_y": 1.0,
        "rocker_angle": 1.4,
        "coupler_x": 2.1,
    }
    speeds = {"crank_angle_dot": 2.0, "rocker_x_dot": 0.1, "coupler_y_dot": -0.3}
    weights = {"rocker_y": 3.0, "crank_x": 0.5}
    first = LINKAGE.assemble(prefer=wishes, weights=weights, velocity={"prefer": speeds})
    again = LINKAGE.assemble(
        prefer={name: wishes[name] for name in order},
        weights=dict(reversed(weights.items())),
        velocity={"prefer": {name: speeds[name] for name in rates}},
    )
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.v, again.v)


def test_order_copies_and_units_of_constraints_do_not_matter():
    rods = {
        "upper": lambda q: q[0] ** 2 + q[1] ** 2 - 1.0,
        "lower": lambda q: (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 0.49,
        "copy": lambda q: 1e6 * (q[0] ** 2 + q[1] ** 2 - 1.0),
        "small": lambda q: 1e-4 * ((q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 0.49),
    }
    wishes = {"x1": 0.5, "y1": 0.9, "x2": 1.5, "y2": 0.2}
    results = []
    for names in [("upper", "lower"), *itertools.permutations(rods)]:
        system = zw.System(
            coordinates=["x1", "y1", "x2", "y2"],
            mass=lambda: np.eye(4),
            constraints={name: zw.position(rods[name]) for name in names},
        )
        results.append(system.assemble(prefer=wishes).q)
    assert np.abs(np.array(results) - results[0]).max() <= 1e-11


def test_parameters_and_time_are_taken_into_account():
    crank = zw.System(
        coordinates=["x", "y"],
        parameters={"R": 1.0, "w": 2.0},
        mass=lambda: np.eye(2),
        constraints={
            "driver": zw.position(
                lambda q, t, p: [q[0] - p.R * np.cos(p.w * t), q[1] - p.R * np.sin(p.w * t)]
            )
        },
    )
    state = crank.assemble(t=0.4, parameters={"R": 3.0})
    assert state.t == 0.4
    assert state.q == pytest.approx([3 * np.cos(0.8), 3 * np.sin(0.8)], abs=1e-14)
    assert state.v == pytest.approx([-6 * np.sin(0.8), 6 * np.cos(0.8)], abs=1e-14)


# --- branches -------------------------------------------------------------------------------------


def four_bar_by_hand(crank, lengths, ground):
    """Angles of coupler and rocker in both assemblies, from the two circles."""
    a, b, c = lengths
    elbow = a * np.array([np.cos(crank), np.sin(crank)])
    to_foot = np.array([ground, 0.0]) - elbow
    d = np.linalg.norm(to_foot)
    along = (d**2 + b**2 - c**2) / (2 * d)
    across = np.sqrt(b**2 - along**2)
    unit = to_foot / d
    normal = np.array([-unit[1], unit[0]])
    for side in (1, -1):
        wrist = elbow + along * unit + side * across * normal
        coupler, rocker = wrist - elbow, wrist - [ground, 0.0]
        yield np.arctan2(coupler[1], coupler[0]), np.arctan2(rocker[1], rocker[0])


@pytest.mark.parametrize("crank", [0.7, 2.9, -1.3])
def test_both_assemblies_of_a_four_bar_are_found(crank):
    linkage = four_bar()
    found = linkage.assemble(hold={"crank_angle": crank}, branches=True)
    angles = sorted((state.q[5], state.q[8]) for state in found)
    assert np.array(angles) == pytest.approx(
        np.array(sorted(four_bar_by_hand(crank, (1.0, 3.0, 2.5), 3.0))), abs=1e-12
    )
    for state in found:
        assert_consistent(linkage, state)


def test_a_start_chooses_the_branch_and_branches_are_sorted_by_distance():
    linkage = four_bar()
    both = linkage.assemble(hold={"crank_angle": 0.7}, prefer={"rocker_angle": -2.0}, branches=True)
    assert len(both) == 2
    assert both[0].distance < both[1].distance
    # Angles are given in the turn nearest to what is preferred: 1.52 as 1.52 − 2π.
    (_, above), (_, below) = four_bar_by_hand(0.7, (1.0, 3.0, 2.5), 3.0)
    expected = [below, above - 2 * np.pi]
    assert [state.q[8] for state in both] == pytest.approx(expected, abs=1e-12)
    for state in both:
        again = linkage.assemble(hold={"crank_angle": 0.7}, start=state)
        assert np.abs(again.q - state.q).max() <= 1e-9


# --- velocities -----------------------------------------------------------------------------------


def test_preferred_velocities_are_projected_in_the_metric_of_the_mass_matrix():
    system = double_pendulum()
    q = system.assemble(hold={"x1": 0.6, "x2": 0.9}).q
    wish = np.array([1.0, -2.0, 0.5, 3.0])
    names = system.velocities
    state = system.assemble(
        hold=dict(zip(system.coordinates, q, strict=True)),
        velocity={"prefer": dict(zip(names, wish, strict=True))},
    )
    terms = system.terms(q, wish)
    M, A = terms.mass_matrix, terms.constraint_matrix
    inverse = np.linalg.inv(M)
    expected = wish - inverse @ A.T @ np.linalg.solve(A @ inverse @ A.T, A @ wish)
    assert np.abs(state.v - expected).max() <= 1e-13
    # Weights replace the mass matrix.
    w = np.array([1.0, 10.0, 2.0, 0.1])
    state = system.assemble(
        hold=dict(zip(system.coordinates, q, strict=True)),
        velocity={
            "prefer": dict(zip(names, wish, strict=True)),
            "weights": dict(zip(names, w, strict=True)),
        },
    )
    inverse = np.diag(1 / w)
    expected = wish - inverse @ A.T @ np.linalg.solve(A @ inverse @ A.T, A @ wish)
    assert np.abs(state.v - expected).max() <= 1e-13


def test_free_velocities_have_least_kinetic_energy_and_do_not_spoil_preferred_ones():
    linkage = four_bar()
    state = linkage.assemble(
        hold={"crank_angle": 0.7}, velocity={"prefer": {"rocker_angle_dot": 0.5}}
    )
    assert state.v[8] == pytest.approx(0.5, abs=1e-13)
    assert_consistent(linkage, state)
    free = pendulum().assemble(hold={"x": 0.0, "y": 2.0}, velocity={"prefer": {"x_dot": 3.0}})
    assert free.v == pytest.approx([3.0, 0.0, 0.0], abs=1e-15)


def test_massless_coordinates_are_no_obstacle():
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: [[1.0, 0.0], [0.0, 0.0]],
        constraints={"link": zw.position(lambda q: q[1] - 2.0 * q[0])},
    )
    state = system.assemble(hold={"x": 1.0}, velocity={"prefer": {"y_dot": 4.0}})
    assert state.q == pytest.approx([1.0, 2.0])
    assert state.v == pytest.approx([2.0, 4.0])


def test_badly_scaled_velocity_constraints_are_met_to_rounding():
    names = [f"x{j}" for j in range(6)]
    system = zw.System(
        coordinates=names,
        parameters={"A": np.zeros((4, 6)), "c": np.zeros(4), "m": np.ones(6)},
        mass=lambda p: np.diag(p.m),
        constraints={"rows": zw.velocity(lambda v, p: p.A @ v - p.c)},
    )
    rng = np.random.default_rng(0)
    for _ in range(60):
        A = rng.normal(size=(4, 6)) * 10.0 ** rng.uniform(-3, 3, (4, 1))
        A *= 10.0 ** rng.uniform(-3, 3, 6)
        A[3] = 2.0 * A[0] + A[1]
        c = A @ (rng.normal(size=6) * 10.0 ** rng.uniform(-3, 3, 6))
        p = {"A": A, "c": c, "m": 10.0 ** rng.uniform(-6, 6, 6)}
        state = system.assemble(velocity={"prefer": {"x0_dot": 1.0}}, parameters=p)
        left = np.abs(A @ state.v - c) / (np.abs(A) @ np.abs(state.v) + np.abs(c))
        assert left.max() <= 1e-14


def test_nonlinear_velocity_constraints_are_met_at_the_nearest_velocity():
    # A particle of constant speed: of all velocities of length 2, the one along the wish. With
    # mass diag(1, 4) in place of lengths: minimise (x−3)² + 4 (y−1)² on x² + y² = 4.
    speed = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.diag([1.0, 4.0]),
        constraints={"speed": zw.velocity(lambda v: v @ v - 4.0)},
    )
    state = speed.assemble(velocity={"prefer": {"x_dot": 3.0, "y_dot": 1.0}})
    assert abs(state.v @ state.v - 4.0) <= 1e-14
    # Stationary: (v̂ − v) weighted is along v.
    pull = np.array([3.0, 4.0]) - np.array([1.0, 4.0]) * state.v
    assert abs(pull[0] * state.v[1] - pull[1] * state.v[0]) <= NEAREST
    assert speed.assemble(velocity={"hold": {"x_dot": 1.2}}).v[1] == pytest.approx(1.6, abs=1e-14)


def test_acceleration_constraints_restrict_no_start():
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"push": zw.acceleration(lambda: [1.0, 0.0], lambda: 3.0)},
    )
    state = system.assemble(hold={"x": 5.0, "y": 6.0}, velocity={"hold": {"x_dot": 7.0}})
    assert state.q == pytest.approx([5.0, 6.0], abs=0)
    assert state.v == pytest.approx([7.0, 0.0], abs=0)


# --- impossible -----------------------------------------------------------------------------------


def test_a_loop_that_cannot_close_is_named_and_its_nearest_shape_given():
    with pytest.raises(zw.AssemblyError, match=r"base\[0\], elbow\[0\], wrist\[0\] and") as caught:
        four_bar(ground=8.0).assemble()
    error = caught.value
    assert error.group == ("base[0]", "elbow[0]", "wrist[0]", "foot[0]")
    # 1.5 is missing, shared by four joints: 0.375 each.
    assert error.gap == pytest.approx(2 * 0.375, abs=1e-9)
    assert np.abs(four_bar(ground=8.0).residuals(error.nearest).position[::2]) == pytest.approx(
        0.375, abs=1e-9
    )


def test_a_held_value_that_cannot_be_met_takes_part_in_the_conflict():
    with pytest.raises(zw.AssemblyError, match="rod and hold x cannot hold together") as caught:
        pendulum().assemble(hold={"x": 3.0}, prefer={"z": 1.0})
    assert caught.value.group == ("rod", "hold x")
    assert caught.value.nearest.q == pytest.approx([3.0, 0.0, 0.0], abs=1e-9)
    assert caught.value.gap == pytest.approx(5.0)


def test_only_the_conflicting_ones_are_named():
    system = zw.System(
        coordinates=["x", "y", "z"],
        mass=lambda: np.eye(3),
        constraints={
            "fine": zw.position(lambda q: q[2] - np.sin(q[0])),
            "rail": zw.position(lambda q: q[0] - q[1]),
            "offset": zw.position(lambda q: q[1] - q[0] - 1.0),
        },
    )
    with pytest.raises(zw.AssemblyError) as caught:
        system.assemble()
    assert caught.value.group == ("rail", "offset")


def test_of_two_conflicts_one_is_named():
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={
            "one": zw.position(lambda q: q[0]),
            "other": zw.position(lambda q: q[0] - 1.0),
            "low": zw.position(lambda q: q[1] ** 2 - 4.0),
            "high": zw.position(lambda q: q[1] ** 2 - 9.0),
        },
    )
    with pytest.raises(zw.AssemblyError) as caught:
        system.assemble()
    assert caught.value.group in {("one", "other"), ("low", "high")}


def test_a_condition_without_solution_stands_alone():
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"never": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 + 1.0)},
    )
    with pytest.raises(zw.AssemblyError, match="never cannot hold ") as caught:
        system.assemble()
    assert caught.value.group == ("never",)
    assert caught.value.gap == pytest.approx(1.0)


def test_everything_held_is_checked():
    assert planar_pendulum().assemble(hold={"x": 0.0, "y": 2.0}).distance == 0.0
    with pytest.raises(zw.AssemblyError) as caught:
        planar_pendulum().assemble(hold={"x": 1.0, "y": 1.0})
    assert caught.value.group == ("rod", "hold x", "hold y")


def test_velocities_that_contradict_are_named():
    with pytest.raises(zw.AssemblyError, match="rod and hold x_dot") as caught:
        pendulum().assemble(
            hold={"x": 2.0, "y": 0.0, "z": 0.0}, velocity={"hold": {"x_dot": 1.0, "y_dot": 1.0}}
        )
    assert caught.value.group == ("rod", "hold x_dot")
    with pytest.raises(zw.AssemblyError) as caught:
        rolling_disk().assemble(velocity={"hold": {"v1": 1.0, "v6": 1.0}})
    assert "hold v1" in caught.value.group
    assert "hold v6" in caught.value.group


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hold": {"X": 1.0}}, "held coordinate must be one of x, y, z, not 'X'"),
        ({"prefer": {"w": 1.0}}, "preferred coordinate must be one of x, y, z, not 'w'"),
        (
            {"velocity": {"hold": {"x": 1.0}}},
            "held velocity must be one of x_dot, y_dot, z_dot, not 'x'",
        ),
        (
            {"velocity": {"held": {}}},
            r"velocity must be one of hold, prefer, weights, not 'held'.*Did you mean 'hold'",
        ),
        (
            {"hold": {"x": 1.0}, "prefer": {"x": 1.0}},
            "coordinate 'x' must be held or preferred, but is both",
        ),
        (
            {"weights": {"x": 1.0}},
            "weight of coordinate 'x' must belong to a preferred value, but 'x' has none",
        ),
        (
            {"prefer": {"x": 1.0}, "weights": {"x": -1.0}},
            "weight of coordinate 'x' must be a positive number, not -1",
        ),
        ({"hold": {"x": float("nan")}}, "held coordinate 'x' must be a finite number, not nan"),
        ({"hold": {"x": "one"}}, "held coordinate 'x' must be a number, not 'one'"),
        (
            {"hold": ["x"]},
            r"held coordinate values must be a mapping such as \{'x': 1\.0\}, not \['x'\]",
        ),
        (
            {"start": [1.0]},
            r"start of coordinate must be 3 finite numbers \(x, y,.*not an array of shape \(1,\)",
        ),
        ({"t": [0.0, 1.0]}, r"time t must be a finite number, not \[0\.0, 1\.0\]"),
    ],
)
def test_bad_wishes_are_named(arguments, message):
    with pytest.raises(zw.InputError, match=message):
        pendulum().assemble(**arguments)


@pytest.mark.parametrize("middle", [1.0, 1.5, 1.7, 1.9])
@pytest.mark.parametrize("order", list(itertools.permutations(["left", "right", "between"])))
def test_a_group_is_irreducible_and_not_of_linearised_constraints(order, middle):
    """Of three circles in a row the outer ones do not meet, and the one between meets both.

    In the nearest point all slopes have one direction, and any two of them contradict each other.
    """
    centers = {"left": 0.0, "right": 3.0, "between": middle}
    circles = {
        name: zw.position(lambda q, c=centers[name]: (q[0] - c) ** 2 + q[1] ** 2 - 1.0)
        for name in order
    }
    system = zw.System(["x", "y"], mass=lambda: np.eye(2), constraints=circles)
    with pytest.raises(zw.AssemblyError) as caught:
        system.assemble(prefer={"x": 1.5, "y": 0.1})
    assert set(caught.value.group) == {"left", "right"}


def test_coordinates_that_no_constraint_decides_are_named():
    """They have the values that searches begin with, which looked like a result."""
    skate = zw.System(
        ["x", "y", "th"],
        mass=np.eye(3),
        constraints={
            "blade": zw.velocity(lambda q, v: v[1] * np.cos(q[2]) - v[0] * np.sin(q[2])),
        },
    )
    state = skate.assemble(hold={"th": 0.0})
    (note,) = state.notes
    assert note.startswith("no constraint of positions decides x = ")
    assert "y = " in note
    assert "th" not in note.split(":")[0]
    assert note in skate.simulate(state, until=0.1).notes
    assert skate.assemble(hold={"th": 0.0, "x": 0.0}, prefer={"y": 1.0}).notes == ()
    assert skate.assemble(start=[0.0, 0.0, 0.0]).notes == ()


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (lambda q, p: q @ q == p.L**2, r"comparison with ==.*difference of its sides"),
        (lambda q, p: q[0] < p.L, r"comparison with <.*An inequality"),
    ],
)
def test_a_comparison_is_no_constraint(row, told):
    given = {"parameters": {"L": 1.0}, "mass": np.eye(2)}
    with pytest.raises(zw.InputError, match=told):
        zw.System(["x", "y"], **given, constraints={"rod": zw.position(row)})
