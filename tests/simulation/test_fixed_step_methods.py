"""Generalized-α and RATTLE: order, constraints, damping, structure, and the promises of a run."""

import numpy as np
import pytest
from known_motions import parallelogram_angle, parallelogram_state, pendulum_angle

import zwang as zw
from zwang import library
from zwang.library import knife_edge, rotating_body
from zwang.results.store import Store

METHODS = ["generalized_alpha", "rattle"]
both = pytest.mark.parametrize("integrator", METHODS)

#: A method of order 2 measured from three halvings of the step.
ORDER, ORDER_TOLERANCE = 2.0, 0.2
#: Newton's method solves the equations of a step to rounding; states here are of size 1 to 5.
ROUNDING = 1e-12


# --- motions in closed form -----------------------------------------------------------------------


def pendulum_state(t):
    angle = pendulum_angle(t, np.pi / 2)
    speed = np.sqrt(2.0 * 9.81 * np.cos(angle))  # from rest at the height of the pivot
    return np.array([np.sin(angle), -np.cos(angle)]), speed


def skate_state(t):
    """The knife edge turns at rate w; its speed along the heading is u + pull sin(wt)/w."""
    w, u, pull = 1.3, 0.7, 9.81 * np.sin(0.4)
    x = pull * np.sin(w * t) ** 2 / (2 * w**2) + u * np.sin(w * t) / w
    y = pull * (w * t / 2 - np.sin(2 * w * t) / 4) / w**2 + u * (1 - np.cos(w * t)) / w
    speed = u + pull * np.sin(w * t) / w
    return np.array([x, y, w * t]), np.array([speed * np.cos(w * t), speed * np.sin(w * t), w])


def hamilton(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:])]) + np.array(
        [0.0, *np.cross(a[1:], b[1:])]
    )


def turned(axis_rate, t):
    """Quaternion of a turn at a constant rate."""
    w = np.linalg.norm(axis_rate)
    return np.array([np.cos(w * t / 2), *(np.sin(w * t / 2) * np.asarray(axis_rate) / w)])


TOP = np.diag([1.0, 1.0, 2.0])
SPIN = np.array([0.8, 0.0, 1.1])


def top_state(t):
    """A symmetric top without torque: a turn about the angular momentum, one about its own axis."""
    own = (1.0 - TOP[2, 2] / TOP[0, 0]) * SPIN[2]  # ω turns at −own about the axis in the body
    q = hamilton(turned(TOP @ SPIN / TOP[0, 0], t), turned([0.0, 0.0, own], t))
    w = SPIN[0]
    return q, np.array([w * np.cos(own * t), -w * np.sin(own * t), SPIN[2]])


def oscillator():
    return zw.System(
        ["x"],
        parameters={"w": 1.0},
        mass=lambda: [[1.0]],
        potential=lambda q, p: 0.5 * p.w**2 * q[0] ** 2,
    )


def oscillator_state(t):
    return np.array([np.cos(2.0 * t)]), np.array([-2.0 * np.sin(2.0 * t)])


def double_pendulum():
    """In angles, so that M depends on them."""
    return zw.System.from_lagrangian(
        coordinates=["a", "b"],
        T=lambda q, v: v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * np.cos(q[0] - q[1]),
        V=lambda q: -9.81 * (2 * np.cos(q[0]) + np.cos(q[1])),
    )


def slope_of(errors):
    halvings = np.arange(len(errors))
    return -np.polyfit(halvings, np.log2(errors), 1)[0]


def errors_at_end(system, start, exact, until, integrator, counts=(100, 200, 400), **choices):
    errors = []
    for n in counts:
        run = system.simulate(*start, until=until, integrator=integrator, step=until / n, **choices)
        assert run.finished, run.status
        q, v = exact(until)
        errors.append([np.abs(run.q[-1] - q).max(), np.abs(run.v[-1] - v).max()])
    return np.array(errors)


def require_order_2(errors):
    for column in errors.T:
        assert abs(slope_of(column) - ORDER) < ORDER_TOLERANCE


# --- order ----------------------------------------------------------------------------------------


@both
def test_order_2_without_constraints(integrator):
    start = ([1.0], [0.0])
    choices = {"parameters": {"w": 2.0}}
    require_order_2(
        errors_at_end(oscillator(), start, oscillator_state, 1.7, integrator, **choices)
    )


@pytest.mark.parametrize(
    ("integrator", "choices"),
    [
        ("rattle", {}),
        *(("generalized_alpha", {"spectral_radius": r}) for r in (0.2, 0.8, 1.0)),
        ("generalized_alpha", {"drift": "none"}),
    ],
)
def test_order_2_on_a_position_constraint(pendulum, integrator, choices):
    def exact(t):
        q, speed = pendulum_state(t)
        return q, speed * np.array([q[1], -q[0]])  # the first swing goes to the left

    errors = errors_at_end(
        pendulum, ([1.0, 0.0],), exact, 0.6, integrator, (60, 120, 240), **choices
    )
    require_order_2(errors)


@both
def test_order_2_on_a_velocity_constraint(integrator):
    start = skate_state(0.0)
    require_order_2(errors_at_end(knife_edge(), start, skate_state, 1.0, integrator))


@both
def test_order_2_in_quasi_velocities_and_quaternions_stay_unit(integrator):
    body = rotating_body("velocities", J=TOP)
    start = top_state(0.0)
    require_order_2(errors_at_end(body, start, top_state, 2.0, integrator))
    run = body.simulate(*start, until=20.0, integrator=integrator, step=0.02)
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1.0).max() < ROUNDING


@both
def test_order_2_where_the_mass_matrix_depends_on_the_position(integrator):
    system, start = double_pendulum(), ([0.8, -0.3], [0.5, 0.0])
    fine = system.simulate(*start, until=1.0, tolerance=1e-12)
    require_order_2(
        errors_at_end(system, start, lambda _: (fine.q[-1], fine.v[-1]), 1.0, integrator)
    )


@pytest.mark.campaign
@both
@pytest.mark.parametrize("name", library.names())
def test_order_2_for_every_system_of_the_library(name, integrator):
    # Springs and dampers that these steps resolve; order is lost where they do not.
    softer = {"stiffness": 800.0, "damping": 40.0} if name == "flyball_governor" else {}
    system = getattr(library, name)(**softer)
    if name in {"andrews_squeezer", "car_axis", "n_four_bar"}:
        start, span = library.start(name), {"andrews_squeezer": 0.02}.get(name, 0.5)
    else:
        # A seed for which no disk comes close to falling flat and no friction turns round.
        s = library.states(name, np.random.default_rng(11), 1)
        start, span = zw.State(s.q[0], s.v[0], float(s.t[0])), 0.3
    refused = {"rough_wire_bead": "non-ideal law", "rotating_body": "singular mass matrix"}
    if integrator == "rattle" and name in refused:
        with pytest.raises(zw.NotApplicableError, match=refused[name]):
            system.simulate(start, until=start.t + span, integrator=integrator, step=0.1 * span)
        return
    fine = system.simulate(start, until=start.t + span, tolerance=1e-12)
    errors = []
    for n in (200, 400, 800):
        run = system.simulate(start, until=start.t + span, integrator=integrator, step=span / n)
        assert run.finished, run.status
        sizes = [1.0 + np.abs(x).max() for x in (fine.q[-1], fine.v[-1])]
        ends = [(run.q[-1], fine.q[-1]), (run.v[-1], fine.v[-1])]
        errors.append([np.abs(a - b).max() / s for (a, b), s in zip(ends, sizes, strict=True)])
    for column in np.array(errors).T:
        # Uniform motions have no error, and very slow ones less than the reference run.
        assert column[-1] < 1e-11 or abs(slope_of(column) - ORDER) < ORDER_TOLERANCE


@both
def test_order_2_at_times_between_steps(pendulum, integrator):
    times = np.array([0.1234, 0.3337, 0.5001])
    exact = np.array([pendulum_state(t)[0] for t in times])
    speed = np.array([pendulum_state(t)[1] for t in times])
    errors = []
    for h in (0.01, 0.005, 0.0025):
        run = pendulum.simulate([1.0, 0.0], until=0.6, integrator=integrator, step=h, save=times)
        assert run.worst_residual < ROUNDING
        off = np.linalg.norm(run.v, axis=1) - speed
        errors.append([np.abs(run.q - exact).max(), np.abs(off).max()])
    require_order_2(np.array(errors))


@both
def test_between_steps_lies_the_cubic_through_both_ends(integrator):
    h = 0.1
    choices = {"until": 1.0, "integrator": integrator, "step": h, "parameters": {"w": 2.0}}
    ends = oscillator().simulate([1.0], **choices)
    run = oscillator().simulate([1.0], **choices, save=h * (np.arange(10) + 0.5))
    q, v = ends.q, ends.v
    assert np.abs(run.q - (q[:-1] + q[1:]) / 2 - h * (v[:-1] - v[1:]) / 8).max() < ROUNDING
    assert np.abs(run.v - 1.5 * (q[1:] - q[:-1]) / h + (v[:-1] + v[1:]) / 4).max() < ROUNDING


@pytest.mark.parametrize(
    ("integrator", "choices"),
    [("rattle", {}), ("generalized_alpha", {}), ("generalized_alpha", {"spectral_radius": 0.0})],
)
def test_a_single_step_has_an_error_of_order_3(pendulum, integrator, choices):
    # Events and states between saved ones are reached by single steps from a fresh start.
    q0, _ = pendulum_state(0.4)
    start = (q0, pendulum_state(0.4)[1] * np.array([q0[1], -q0[0]]))
    errors = []
    for h in (0.02, 0.01, 0.005):
        run = pendulum.simulate(*start, until=h, integrator=integrator, step=h, **choices)
        exact, speed = pendulum_state(0.4 + h)
        off = run.v[-1] - speed * np.array([exact[1], -exact[0]])
        errors.append([np.abs(run.q[-1] - exact).max(), np.abs(off).max()])
    for column in np.array(errors).T:
        assert slope_of(column) > ORDER + 1.0 - ORDER_TOLERANCE


# --- constraints ----------------------------------------------------------------------------------


@both
def test_redundant_rows_change_nothing(pendulum, integrator):
    again = zw.System(
        ["x", "y"],
        parameters=dict(pendulum.parameters),
        mass=lambda p: np.diag([p.m, p.m]),
        potential=lambda q, p: p.m * p.g * q[1],
        constraints={
            "rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2),
            "twice": zw.position(lambda q, p: 3.0 * (q[0] ** 2 + q[1] ** 2 - p.L**2)),
        },
    )
    one, two = (
        s.simulate([1.0, 0.0], until=3.0, integrator=integrator, step=0.005)
        for s in (pendulum, again)
    )
    assert np.abs(one.q - two.q).max() < 1e-9
    assert np.abs(one.v - two.v).max() < 1e-9
    assert two.ranks[0].dependent_rows == 1
    assert max(one.worst_residual, two.worst_residual) < ROUNDING


@both
@pytest.mark.parametrize("step", [0.01, 0.0123])
def test_parallelogram_passes_its_flat_positions_on_its_branch(parallelogram, integrator, step):
    q, v = parallelogram_state(np.pi / 2, -1.37)
    run = parallelogram.simulate(q, v, until=10.0, integrator=integrator, step=step)
    assert run.finished
    expected = parallelogram_state(parallelogram_angle(10.0, np.pi / 2, -1.37), 0.0)[0]
    assert np.abs(run.q[-1] - expected).max() < 100 * step**2
    assert np.abs(run["a1"]).max() < 1e-9  # on the other branch the coupler turns by radians


def test_index_3_leaves_velocities_off_by_the_square_of_the_step(pendulum):
    missed = []
    for h in (0.01, 0.005, 0.0025):
        run = pendulum.simulate(
            [1.0, 0.0], until=1.0, integrator="generalized_alpha", step=h, drift="none"
        )
        assert np.abs(run.residuals[0].position).max() < ROUNDING
        missed.append(np.abs(run.residuals[0].velocity).max())
    assert abs(slope_of(missed) - ORDER) < ORDER_TOLERANCE


@pytest.mark.parametrize("drift", ["projection", "none"])
def test_small_steps_do_not_spoil_the_equations(pendulum, drift):
    # Unscaled, the rows of the positions would be of size h² = 1e-12, below the regularisation.
    run = pendulum.simulate(
        [1.0, 0.0], until=1e-3, integrator="generalized_alpha", step=1e-6, drift=drift
    )
    fallen = np.arcsin(-run["y"][-1])
    assert run.finished
    assert abs(fallen - 9.81 * 1e-6 / 2) < 1e-12


def test_generalized_alpha_takes_laws_of_the_reaction_and_rows_of_acceleration():
    m, g, mu, k = 2.0, 9.81, 0.3, 5.0
    block = zw.System(
        ["x", "y"],
        mass=lambda: np.diag([m, m]),
        force=lambda v: [0.0, -m * g - k * v[0]],
        constraints={"table": zw.acceleration(lambda: [[0.0, 1.0]], lambda: [0.0])},
        nonideal={"table": lambda v, reaction: [-mu * np.abs(reaction[1]) * np.sign(v[0]), 0.0]},
    )

    def exact(t):
        decay = np.exp(-mu * k * t / m)
        v = (3.0 + m * g / k) * decay - m * g / k
        x = (3.0 + m * g / k) * (1.0 - decay) * m / (mu * k) - m * g / k * t
        return np.array([x, 0.0]), np.array([v, 0.0])

    start = ([0.0, 0.0], [3.0, 0.0])
    require_order_2(errors_at_end(block, start, exact, 0.4, "generalized_alpha"))


def test_massless_coordinates_are_carried_along():
    chain = zw.System(
        ["x1", "x2", "x3"],
        mass=lambda: np.diag([1.0, 0.0, 2.0]),
        force=lambda q: [-4.0 * q[0], 0.0, -5.0 * q[2]],
        constraints={
            "left": zw.position(lambda q: q[0] - q[1] - 1.0),
            "right": zw.position(lambda q: q[1] - q[2] - 1.0),
        },
    )

    def exact(t):  # 3 ẍ = −4x − 5(x − 2)
        x = 10.0 / 9.0 + 8.0 / 9.0 * np.cos(np.sqrt(3.0) * t)
        v = -8.0 / 9.0 * np.sqrt(3.0) * np.sin(np.sqrt(3.0) * t)
        return np.array([x, x - 1.0, x - 2.0]), np.array([v, v, v])

    for integrator in METHODS:
        require_order_2(errors_at_end(chain, exact(0.0), exact, 2.0, integrator))


@both
def test_a_thin_rod_in_a_ball_joint_swings_though_nothing_decides_about_its_spin(integrator):
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    rod = m.body(
        "rod",
        mass=1.0,
        inertia=zw.inertia.rod(mass=1.0, length=1.0, axis="x"),
        position=(0.5, 0.0, 0.0),
    )
    m.spherical("ball", m.ground, rod, at=(0.0, 0.0, 0.0))
    angle = pendulum_angle(0.5, np.pi / 2, length=2.0 / 3.0)  # the rod's equivalent length
    exact = 0.5 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    errors = []
    for n in (50, 100, 200):
        run = m.simulate(until=0.5, integrator=integrator, step=0.5 / n)
        errors.append(np.abs(run.body("rod").position[-1] - exact).max())
        assert np.abs(run.v[:, 3]).max() < 1e-6  # the spin about its own axis: rounding alone
    assert abs(slope_of(errors) - ORDER) < ORDER_TOLERANCE


# --- damping --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.8])
def test_fast_oscillations_shrink_by_the_spectral_radius_in_a_step(rho):
    # At hω → ∞ the three roots are all −ρ, so that the n-th amplitude goes like n² ρⁿ.
    n = 200
    run = oscillator().simulate(
        [1.0],
        until=0.01 * n,
        integrator="generalized_alpha",
        step=0.01,
        spectral_radius=rho,
        parameters={"w": 1e7},
    )
    x = run.q[1:, 0] / np.arange(1, n + 1) ** 2
    ratios = x[100:] / x[99:-1]
    assert np.abs(ratios + rho).max() < 1e-3


def test_slow_oscillations_hardly_shrink():
    run = oscillator().simulate([1.0], until=100.0, integrator="generalized_alpha", step=0.01)
    assert run.energy[-1] > 0.999 * run.energy[0]


def test_a_stiff_spring_is_as_good_as_a_rod():
    spring = zw.System(
        ["x", "y"],
        parameters={"k": 1e10},
        mass=lambda: np.eye(2),
        potential=lambda q, p: 9.81 * q[1] + p.k * (np.sqrt(q[0] ** 2 + q[1] ** 2) - 1.0) ** 2 / 2,
    )
    exact, _ = pendulum_state(0.6)
    errors = []
    for n in (60, 120, 240):
        run = spring.simulate([1.0, 0.0], until=0.6, integrator="generalized_alpha", step=0.6 / n)
        errors.append(np.abs(run.q[-1] - exact).max())
    assert abs(slope_of(errors) - ORDER) < ORDER_TOLERANCE


def test_every_spectral_radius_is_stable_on_constraints(pendulum):
    for rho in (0.0, 0.5, 1.0):
        run = pendulum.simulate(
            [1.0, 0.0],
            until=200.0,
            integrator="generalized_alpha",
            step=0.01,
            spectral_radius=rho,
            save=1.0,
        )
        assert run.finished
        assert run.energy.max() < run.energy[0] + 0.05 * 1.3 * 9.81


# --- structure ------------------------------------------------------------------------------------


def rods():
    """A double pendulum in space of two masses on rods."""
    system = zw.System(
        ["x", "y", "z", "X", "Y", "Z"],
        mass=lambda: np.eye(6),
        potential=lambda q: 9.81 * (q[2] + q[5]),
        constraints={
            "upper": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 + q[2] ** 2 - 1.0),
            "lower": zw.position(
                lambda q: (q[3] - q[0]) ** 2 + (q[4] - q[1]) ** 2 + (q[5] - q[2]) ** 2 - 1.0
            ),
        },
    )
    a, b = 0.8, 0.3
    q = [np.sin(a), 0, -np.cos(a), np.sin(a), np.sin(b), -np.cos(a) - np.cos(b)]
    return system, np.array(q), np.array([0, 0.5, 0, 0, 0.5, 0])


def require_no_trend(run):
    """The energy wanders as much in every fifth of the run as in the first, about one mean."""
    parts = np.array_split(run.energy - run.energy[0], 5)
    spread = np.ptp(parts[0])
    assert all(np.ptp(part) < 2.0 * spread for part in parts)
    assert all(abs(part.mean() - parts[0].mean()) < 0.2 * spread for part in parts)
    return spread


@pytest.mark.parametrize("steps", [100_000, pytest.param(2_000_000, marks=pytest.mark.campaign)])
def test_energy_of_rattle_has_no_trend(steps):
    h = 0.01
    system, q, v = rods()
    run = system.simulate(q, v, until=steps * h, integrator="rattle", step=h, save=50 * h)
    assert require_no_trend(run) < 100 * h**2
    assert run.worst_residual < ROUNDING
    run = double_pendulum().simulate(
        [0.8, -0.3], until=steps * h, integrator="rattle", step=h, save=50 * h
    )
    assert require_no_trend(run) < 100 * h**2


@pytest.mark.parametrize("name", ["rods", "angles", "skate"])
def test_rattle_runs_backwards_to_where_it_came_from(name):
    system, q, v = {
        "rods": rods,
        "angles": lambda: (double_pendulum(), np.array([0.8, -0.3]), np.array([0.1, 0.0])),
        "skate": lambda: (knife_edge(), *skate_state(0.3)),
    }[name]()
    there = system.simulate(q, v, until=5.0, integrator="rattle", step=0.02)
    back = system.simulate(there.q[-1], -there.v[-1], until=5.0, integrator="rattle", step=0.02)
    # The motion itself spreads rounding by some 1e3 in this time.
    assert np.abs(back.q[-1] - q).max() < 1e-9
    assert np.abs(back.v[-1] + v).max() < 1e-9


def test_rattle_is_symplectic_where_the_mass_matrix_depends_on_the_position():
    system, h = double_pendulum(), 0.05

    def momentum(q, v):
        return system.terms(q, v).mass_matrix @ v

    def step(x):
        q, p = x[:2], x[2:]
        v = np.linalg.solve(system.terms(q, [0.0, 0.0]).mass_matrix, p)
        run = system.simulate(q, v, until=h, integrator="rattle", step=h)
        assert run.counts.steps == 1
        return np.concatenate([run.q[-1], momentum(run.q[-1], run.v[-1])])

    x, d = np.array([0.8, -0.3, 1.1, 0.7]), 1e-4
    # Differences of order 4: error d⁴.
    columns = [
        (8.0 * (step(x + d * e) - step(x - d * e)) - step(x + 2 * d * e) + step(x - 2 * d * e))
        / (12.0 * d)
        for e in np.eye(4)
    ]
    D = np.column_stack(columns)
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(D.T @ J @ D - J).max() < 1e-9


def test_rattle_keeps_energy_and_momentum_of_a_free_body():
    J = np.diag([1.0, 1.5, 2.0])
    body = rotating_body("velocities", J=J)
    run = body.simulate(
        [1.0, 0, 0, 0], [0.3, 1.2, -0.4], until=200.0, integrator="rattle", step=0.05
    )
    assert np.ptp(run.energy) < ROUNDING
    assert np.ptp(np.linalg.norm(run.v @ J, axis=1)) < ROUNDING


# --- promises of a run ----------------------------------------------------------------------------

CHOICES = {"until": 6.0, "step": 0.004}
EVENTS = {
    "wall": zw.event(lambda q: q[0] + 0.5, zw.bounce(0.9), direction=-1),
    "low": zw.event(lambda q: q[1] + 0.8, [zw.set_parameters(g=9.5)], direction=-1),
    "seen": zw.event(lambda q: q[1] + 0.3),
}


@pytest.mark.parametrize(("integrator", "save"), [("rattle", None), ("generalized_alpha", 0.003)])
def test_an_interrupted_run_goes_on_to_the_same_bits(
    pendulum, integrator, save, tmp_path, monkeypatch
):
    choices = {**CHOICES, "integrator": integrator, "save": save, "events": EVENTS}
    monkeypatch.setattr("zwang.integrators.contract.Loop.advance.__defaults__", (200, 64))
    whole = pendulum.simulate([1.0, 0.0], **choices)
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == 9:
            raise KeyboardInterrupt
        commit(self, *arguments)

    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            pendulum.simulate([1.0, 0.0], **choices, store=path, store_every=0.0)
    assert 0 < len(zw.load(path)) < len(whole)
    resumed = zw.resume(path, pendulum, events=EVENTS)
    for name in ("t", "q", "v"):
        assert getattr(resumed, name).tobytes() == getattr(whole, name).tobytes()
    assert [(e.name, e.t) for e in resumed.events] == [(e.name, e.t) for e in whole.events]
    assert zw.verify(path, pendulum).verdict == "verified"


@both
def test_events_are_found_to_the_order_of_the_method_and_recorded_ones_change_nothing(
    pendulum, integrator
):
    seen = {"low": zw.event(lambda q: q[0])}
    quarter = 1.0
    for _ in range(30):  # the pendulum is at its lowest after a quarter of its period
        quarter += pendulum_angle(quarter, np.pi / 2) / np.sqrt(2.0 * 9.81)
    errors = []
    for h in (0.02, 0.01, 0.005):
        choices = {"until": 1.0, "integrator": integrator, "step": h}
        run = pendulum.simulate([1.0, 0.0], **choices, events=seen)
        assert np.array_equal(run.q, pendulum.simulate([1.0, 0.0], **choices).q)
        errors.append(abs(run.events[0].t - quarter))
    assert abs(slope_of(errors) - ORDER) < ORDER_TOLERANCE


@both
def test_a_state_between_saved_ones_is_as_good_as_these(pendulum, integrator):
    run = pendulum.simulate([1.0, 0.0], until=0.6, integrator=integrator, step=0.002)
    exact, _ = pendulum_state(0.5555)
    assert (
        np.abs(run.at(0.5555).q - exact).max()
        < 2.0 * np.abs(run.q[-1] - pendulum_state(0.6)[0]).max()
    )


@both
def test_parameters_change_the_motion_without_compiling(pendulum, integrator):
    from zwang.codegen.kernel import compilations

    pendulum.simulate([1.0, 0.0], until=0.1, integrator=integrator, step=0.01)
    before = compilations()
    run = pendulum.simulate(
        [2.0, 0.0], until=1.0, integrator=integrator, step=0.001, parameters={"L": 2.0}
    )
    assert compilations() == before
    angle = pendulum_angle(1.0, np.pi / 2, length=2.0)
    assert np.abs(run.q[-1] - 2.0 * np.array([np.sin(angle), -np.cos(angle)])).max() < 1e-4


@both
def test_many_runs_are_those_of_each_alone(pendulum, integrator):
    starts = np.array([[1.0, 0.0], [0.6, -0.8]])
    choices = {"until": 1.0, "integrator": integrator, "step": 0.01}
    many = pendulum.simulate_many(starts, **choices)
    for start, run in zip(starts, many, strict=True):
        assert np.array_equal(run.q, pendulum.simulate(start, **choices).q)


# --- refusals -------------------------------------------------------------------------------------


@both
def test_a_missing_step_is_asked_for(pendulum, integrator):
    with pytest.raises(zw.InputError, match=f"step must be given.*{integrator}.*no error control"):
        pendulum.simulate([1.0, 0.0], until=1.0, integrator=integrator)


@pytest.mark.parametrize("rho", [-0.1, 1.1, np.nan])
def test_a_spectral_radius_outside_its_range_is_refused(pendulum, rho):
    with pytest.raises(zw.InputError, match="spectral_radius must be a number from 0 to 1, not"):
        pendulum.simulate(
            [1.0, 0.0], until=1.0, integrator="generalized_alpha", step=0.1, spectral_radius=rho
        )


@both
def test_baumgarte_has_no_place_in_equations_for_positions(pendulum, integrator):
    with pytest.raises(
        zw.InputError, match=r"drift must be 'projection' or 'none'.*not 'baumgarte'"
    ):
        pendulum.simulate([1.0, 0.0], until=1.0, integrator=integrator, step=0.1, drift="baumgarte")


def test_rattle_refuses_what_it_cannot_do():
    def of(constraint, nonideal=None):
        return zw.System(
            ["x"],
            mass=lambda: [[1.0]],
            force=lambda: [0.0],
            constraints={"c": constraint},
            nonideal=nonideal or {},
        )

    acceleration = of(zw.acceleration(lambda: [[1.0]], lambda: [0.0]))
    law = of(zw.position(lambda q: q[0]), {"c": lambda reaction: [0.1 * reaction[0]]})
    for system, found in (
        (acceleration, "a constraint is stated at acceleration level"),
        (law, "a non-ideal law depends on its reaction"),
    ):
        with pytest.raises(zw.NotApplicableError, match=f"'rattle' must be used .*but {found}"):
            system.simulate([0.0], until=1.0, integrator="rattle", step=0.1)
    with pytest.raises(
        zw.NotApplicableError,
        match=r"'rattle' must be used with a mass matrix.*but it is singular and depends on the",
    ):
        rotating_body("lagrange").simulate([1.0, 0, 0, 0], until=1.0, integrator="rattle", step=0.1)


@both
def test_a_step_without_solution_ends_the_run_with_a_sentence(pendulum, integrator):
    run = pendulum.simulate([1.0, 0.0], until=10.0, integrator=integrator, step=2.0)
    assert not run.finished
    assert "the equations of a step of 2 s have no solution near the step before" in run.status
