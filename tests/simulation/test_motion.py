"""Simulated motions against motions known by other means, and the promises of a run."""

import numpy as np
import pytest
from known_motions import parallelogram_angle, parallelogram_state, pendulum_angle

import zwang as zw
from zwang import library

AMPLITUDE = np.pi / 2
START = [1.0, 0.0]


def pendulum_point(t):
    angle = pendulum_angle(t, AMPLITUDE)
    return np.array([np.sin(angle), -np.cos(angle)])


def test_pendulum_follows_jacobis_elliptic_functions(pendulum):
    run = pendulum.simulate(START, until=5.0, tolerance=1e-11, save=0.5)
    exact = np.array([pendulum_point(t) for t in run.t])
    assert np.abs(run.q - exact).max() < 1e-9


@pytest.mark.parametrize("integrator", ["order8", "order5"])
def test_error_falls_in_proportion_to_the_tolerance(pendulum, integrator):
    tolerances = np.array([1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11])
    exact = pendulum_point(10.0)
    errors = [
        np.abs(
            pendulum.simulate(START, until=10.0, tolerance=t, integrator=integrator).q[-1] - exact
        ).max()
        for t in tolerances
    ]
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.8 < slope < 1.2


# Durations at which the leading terms of the error do not happen to cancel.
@pytest.mark.parametrize(
    ("integrator", "order", "until", "counts"),
    [("order8", 8, 2.0, [42, 60, 84]), ("order5", 5, 1.0, [50, 100, 200])],
)
def test_fixed_steps_converge_with_the_order_of_the_method_on_constraints(
    pendulum, integrator, order, until, counts
):
    exact = pendulum_point(until)
    errors = []
    for n in counts:
        run = pendulum.simulate(START, until=until, step=until / n, integrator=integrator)
        errors.append(np.abs(run.q[-1] - exact).max())
    measured = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert abs(measured - order) < 0.2


def test_constraints_hold_to_rounding_at_every_saved_state(pendulum):
    for save in (None, 0.037):
        run = pendulum.simulate(START, until=10.0, tolerance=1e-7, save=save)
        assert run.worst_residual < 1e-13 * 5.0  # |v| and |φ_q| |q| are at most 5 here


def test_energy_is_kept_within_a_hundred_tolerances(pendulum):
    run = pendulum.simulate(START, until=10.0, tolerance=1e-9)
    scale = 1.3 * 9.81
    assert np.ptp(run.energy) < 100 * 1e-9 * scale
    assert np.abs(run.power["constraint"]).max() < 1e-12


@pytest.mark.parametrize("save", ["steps", "dense"])
def test_words_for_every_step(pendulum, save):
    run, plain = (pendulum.simulate(START, until=1.0, save=x) for x in (save, None))
    np.testing.assert_array_equal(run.q, plain.q)
    assert len(run) == run.counts.steps + 1


def test_states_between_saved_ones_are_as_accurate_as_these(pendulum):
    run = pendulum.simulate(START, until=3.0, tolerance=1e-10)
    for t in (0.123, 1.7, 2.999):
        assert np.abs(run.at(t).q - pendulum_point(t)).max() < 1e-8
    several = run.at([0.5, 0.25, 0.5])
    assert several.q.shape == (3, 2)
    assert np.array_equal(several.q[0], several.q[2])
    assert np.array_equal(run.at(run.t[7]).q, run.q[7])


def test_states_between_are_those_of_their_own_run_whichever_was_asked_before():
    def runs():
        m = library.double_wishbone()
        return [m.simulate(until=0.2, coordinates=c, save=0.1) for c in ("joint", "absolute")]

    alone = [runs()[k].at([0.03, 0.17]).q for k in (0, 1)]
    together = runs()
    in_turn = [run.at(t).q for t in (0.03, 0.17) for run in together]
    assert not np.array_equal(*alone)
    for k, run in enumerate(together):
        np.testing.assert_array_equal(in_turn[k::2], alone[k])
        np.testing.assert_array_equal(run.at([0.03, 0.17]).q, alone[k])


def test_rod_force_is_the_centripetal_force_plus_weight(pendulum):
    run = pendulum.simulate(START, until=2.0, tolerance=1e-10, save=0.1)
    m = 1.3
    tension = m * (np.sum(run.v**2, axis=1) - 9.81 * run["y"])
    assert np.abs(run.constraint_force("rod") + tension[:, None] * run.q).max() < 1e-9
    assert np.abs(run.multipliers("rod")[:, 0] + tension / 2).max() < 1e-9
    assert np.abs(run.constraint_force("rod") - run.constraint_force()).max() < 1e-12


def test_drift_is_what_projection_and_baumgarte_remove(pendulum):
    choices = {"until": 10.0, "tolerance": 1e-7, "integrator": "order8"}
    loose = pendulum.simulate(START, **choices, drift="none").worst_residual
    held = pendulum.simulate(START, **choices, drift="baumgarte").worst_residual
    kept = pendulum.simulate(START, **choices).worst_residual
    assert kept < 1e-12 < held < loose


def test_parameters_change_the_motion_without_compiling(pendulum):
    from zwang.codegen.kernel import compilations

    pendulum.simulate(START, until=0.1)
    before = compilations()
    run = pendulum.simulate([2.0, 0.0], until=1.0, parameters={"L": 2.0}, tolerance=1e-10)
    assert compilations() == before
    angle = pendulum_angle(1.0, AMPLITUDE, length=2.0)
    assert np.abs(run.q[-1] - 2.0 * np.array([np.sin(angle), -np.cos(angle)])).max() < 1e-8


@pytest.mark.parametrize("rate", [-1.0, -1.37])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-10, 1e-11])
def test_parallelogram_passes_its_flat_positions_on_its_branch(parallelogram, rate, tolerance):
    q, v = parallelogram_state(np.pi / 2, rate)
    run = parallelogram.simulate(q, v, until=10.0, tolerance=tolerance)
    assert run.finished
    expected = parallelogram_state(parallelogram_angle(10.0, np.pi / 2, rate), 0.0)[0]
    assert np.abs(run.q[-1] - expected).max() < 100 * tolerance
    assert np.abs(run["a1"]).max() < 100 * tolerance  # the coupler stays level


@pytest.mark.campaign
@pytest.mark.parametrize("rate", np.linspace(-1.0, -2.0, 11))
def test_parallelogram_keeps_its_branch_at_every_tolerance(parallelogram, rate):
    q, v = parallelogram_state(np.pi / 2, rate)
    expected = parallelogram_state(parallelogram_angle(10.0, np.pi / 2, rate), 0.0)[0]
    for tolerance in 10.0 ** np.arange(-5.0, -11.6, -0.5):
        run = parallelogram.simulate(q, v, until=10.0, tolerance=tolerance)
        assert run.finished
        assert np.abs(run["a1"]).max() < 1e-2  # on the other branch the coupler turns by radians
        assert np.abs(run.q[-1] - expected).max() < 1e-2


def test_friction_that_depends_on_its_reaction_follows_the_closed_form():
    m, g, mu, k = 2.0, 9.81, 0.3, 5.0
    block = zw.System(
        ["x", "y"],
        parameters={"mu": mu},
        mass=lambda: np.diag([m, m]),
        force=lambda v: [0.0, -m * g - k * v[0]],
        constraints={"table": zw.position(lambda q: q[1])},
        nonideal={
            "table": lambda v, p, reaction: [-p.mu * np.abs(reaction[1]) * np.sign(v[0]), 0.0]
        },
    )
    run = block.simulate([0.0, 0.0], [3.0, 0.0], until=0.5, tolerance=1e-11)
    exact = (3.0 + m * g / k) * np.exp(-mu * k * 0.5 / m) - m * g / k
    assert abs(run.v[-1, 0] - exact) < 1e-9


def test_quasi_velocities_and_velocity_constraints_are_held():
    # A sleigh in body velocities (u along, w across, r turning); the blade forbids w.
    sleigh = zw.System(
        ["x", "y", "a"],
        velocities=["u", "w", "r"],
        kinematics=lambda q: [
            [np.cos(q[2]), -np.sin(q[2]), 0.0],
            [np.sin(q[2]), np.cos(q[2]), 0.0],
            [0.0, 0.0, 1.0],
        ],
        mass=lambda: np.diag([1.0, 1.0, 0.5]),
        force=lambda v: [v[1] * v[2], -v[0] * v[2], 0.0],
        constraints={"blade": zw.velocity(lambda v: v[1])},
    )
    run = sleigh.simulate([0, 0, 0], [1.0, 0.0, 0.7], until=2 * np.pi / 0.7, tolerance=1e-11)
    assert np.abs(run.q[-1] - [0.0, 0.0, 2 * np.pi]).max() < 1e-9  # a circle
    assert run.worst_residual < 1e-13


def test_massless_link_between_masses_moves_as_without_it():
    # Two masses tied to a massless middle point by x1 − x2 = 1, x2 − x3 = 1, springs to ground.
    chain = zw.System(
        ["x1", "x2", "x3"],
        mass=lambda: np.diag([1.0, 0.0, 2.0]),
        force=lambda q: [-4.0 * q[0], 0.0, -5.0 * q[2]],
        constraints={
            "left": zw.position(lambda q: q[0] - q[1] - 1.0),
            "right": zw.position(lambda q: q[1] - q[2] - 1.0),
        },
    )
    run = chain.simulate([2.0, 1.0, 0.0], until=3.0, tolerance=1e-11)
    # 3 ẍ = −4x − 5(x − 2): x = x̄ + (2 − x̄) cos ωt
    mean, w = 10.0 / 9.0, np.sqrt(3.0)
    assert abs(run.q[-1, 0] - (mean + (2.0 - mean) * np.cos(w * 3.0))) < 1e-9


def test_rheonomic_constraint_does_work():
    lift = zw.System(
        ["y"],
        mass=lambda: [[2.0]],
        force=lambda: [-2.0 * 9.81],
        potential=lambda q: 2.0 * 9.81 * q[0],
        constraints={"hoist": zw.position(lambda q, t: q[0] - np.sin(t))},
    )
    run = lift.simulate([0.0], [1.0], until=1.5, tolerance=1e-10, save=0.01)
    work = np.trapezoid(run.power["constraint"], run.t)
    assert abs(work - (run.energy[-1] - run.energy[0])) < 1e-3  # quadrature at 0.01 s


def test_lanes_give_the_bits_of_a_single_trajectory(parallelogram):
    from zwang.integrators.registry import start_loop
    from zwang.integrators.settings import Settings
    from zwang.simulation.select_program import ProgramStart, select_program

    settings = Settings(until=2.0, tolerance=1e-9, integrator="order8")
    starts = [np.concatenate(parallelogram_state(np.pi / 2, r)) for r in (-1.0, -1.2, -1.5, -2.0)]
    p = parallelogram.parameter_vector()

    def final(lanes, chosen):
        program = select_program(
            parallelogram.equations,
            ProgramStart(starts[0], 0.0, p),
            settings,
            lanes=lanes,
        )
        y, many = np.column_stack(chosen), np.column_stack([p] * lanes)
        loop = start_loop(program, settings, 0.0, y, many, times=None, scales=np.ones(len(y)))
        while not loop.finished:
            loop.advance()
        return loop.state

    together = final(4, starts)
    for k, start in enumerate(starts):
        assert np.array_equal(together[:, k], final(1, [start])[:, 0])
