"""The implicit integrator behind the same call: stiff motion, events, storage, ensembles."""

import json
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.codegen.kernel import compilations

REFERENCE = Path(__file__).parents[1] / "reference" / "flyball_governor.json"
#: Work of the implicit method on a stiff problem, relative to the explicit one.
SHARE = 1 / 20
#: Error of the explicit method at a tolerance of 1e-6: its steps are as long as stability allows,
#: and which of them are rejected, rounding decides (measured: 3.7e-5 on an AMD EPYC, 1.3e-4 on it
#: with the settings of a Nehalem).
AT_STABILITY_LIMIT = 3e-4


def governor(**changes):
    """The governor of IFToMM's problem A05, and its start."""
    return library.flyball_governor(**changes), library.start("flyball_governor")


@pytest.fixture(scope="module")
def reference():
    """Times and (ψ, s, a, ṡ, ȧ), from equations of two freedoms and another integrator."""
    stored = json.loads(REFERENCE.read_text())
    return np.array(stored["t"]), np.array(stored["states"])


def columns(run):
    return np.stack([run[name] for name in ("psi", "s", "a1", "s_dot", "a1_dot")], axis=1)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_governor_follows_the_equations_of_two_freedoms(reference, tolerance):
    times, states = reference
    system, start = governor()
    run = system.simulate(start, until=10.0, tolerance=tolerance, integrator="radau5", save=times)
    error = np.abs(columns(run) - states) / (1.0 + np.abs(states))
    assert error.max() < 10.0 * tolerance
    assert run.worst_residual < 1e-11
    np.testing.assert_allclose(run["a1"], run["a2"], rtol=0, atol=10.0 * tolerance)


def test_stiff_motion_takes_a_twentieth_of_the_evaluations(reference):
    times, states = reference
    system, start = governor()
    explicit, implicit = (
        system.simulate(start, until=10.0, tolerance=1e-6, integrator=method, save=times)
        for method in ("order8", "radau5")
    )
    errors = [
        np.max(np.abs(columns(run) - states) / (1.0 + np.abs(states)))
        for run in (explicit, implicit)
    ]
    assert errors[1] < errors[0] < AT_STABILITY_LIMIT
    assert implicit.counts.evaluations <= SHARE * explicit.counts.evaluations
    assert "stiff" not in implicit.status
    assert 'stiff, the steps are as short as stability asks: integrator="radau5"' in str(explicit)
    counts = implicit.counts
    assert 0 < counts.jacobians <= counts.factorizations < 2 * counts.steps


def test_a_fiftieth_where_dampers_are_ten_times_as_strong():
    # So stiff that the explicit method is more accurate in positions than it was asked to be:
    # compare at the same accuracy, the implicit method with a hundredth of the tolerance.
    system, start = governor(damping=4e5)
    best = system.simulate(start, until=1.0, tolerance=1e-11, integrator="radau5")
    explicit = system.simulate(start, until=1.0, tolerance=1e-6, integrator="order8")
    implicit = system.simulate(start, until=1.0, tolerance=1e-8, integrator="radau5")
    errors = [np.abs(run.q[-1] - best.q[-1]).max() for run in (explicit, implicit)]
    assert errors[1] < max(errors[0], 1e-8)
    assert implicit.counts.evaluations <= explicit.counts.evaluations / 50


@pytest.mark.parametrize("integrator", ["auto", "order8"])
def test_long_motion_that_is_not_stiff_is_not_called_so(pendulum, integrator):
    run = pendulum.simulate([1.0, 0.0], until=400.0, tolerance=1e-6, integrator=integrator)
    assert run.counts.steps > 1000
    assert "stiff" not in run.status
    assert not any("stiff" in note for note in run.notes)


def test_van_der_pols_relaxation_has_its_known_period():
    # (3 − 2 ln 2) μ + 3 a μ^(−1/3), −a the first zero of Airy's function; what follows is of the
    # order ln μ/μ, 4e-6 of the period at μ = 1000.
    mu, a, beyond = 1000.0, 2.338107410459767, 1e-5
    period = (3.0 - 2.0 * np.log(2.0)) * mu + 3.0 * a * mu ** (-1.0 / 3.0)
    system = zw.System(
        ["x"],
        parameters={"mu": mu},
        mass=lambda: [[1.0]],
        force=lambda q, v, p: [p.mu * (1.0 - q[0] ** 2) * v[0] - q[0]],
    )
    run = system.simulate(
        [2.0],
        until=5000.0,
        tolerance=1e-7,
        integrator="radau5",
        events={"through": zw.event(lambda q: q[0], direction=-1)},
    )
    moments = [e.t for e in run.events]
    assert len(moments) == 3
    np.testing.assert_allclose(np.diff(moments), period, rtol=beyond)
    assert run.counts.evaluations < 30_000  # an explicit method needs millions


def test_events_happen_when_they_do_explicitly(pendulum):
    events = {
        "wall": zw.event(lambda q: q[0] + 0.5, zw.bounce(0.9), direction=-1),
        "low": zw.event(lambda q: q[1] + 0.8, [zw.set_parameters(g=9.5)], direction=-1),
        "seen": zw.event(lambda q: q[1] + 0.3),
    }
    runs = [
        pendulum.simulate(
            [1.0, 0.0], until=4.0, tolerance=1e-9, events=events, integrator=method, save=0.05
        )
        for method in ("order8", "radau5")
    ]
    explicit, implicit = ([(e.name, e.t) for e in run.events] for run in runs)
    assert [name for name, _ in implicit] == [name for name, _ in explicit]
    assert len(implicit) > 10
    np.testing.assert_allclose(
        [t for _, t in implicit], [t for _, t in explicit], rtol=0, atol=1e-7
    )
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=0, atol=1e-6)


def test_states_between_and_the_error_estimate(pendulum):
    run = pendulum.simulate([1.0, 0.0], until=3.0, tolerance=1e-8, integrator="radau5")
    times = np.linspace(0.05, 2.95, 7)
    exact = pendulum.simulate([1.0, 0.0], until=3.0, tolerance=1e-13, save=times)
    np.testing.assert_allclose(run.at(times).q, exact.q, rtol=0, atol=1e-7)
    estimate = run.error_estimate()
    last = pendulum.simulate([1.0, 0.0], until=3.0, tolerance=1e-13)
    true = np.abs(run.q[-1] - last.q[-1])
    np.testing.assert_allclose(np.abs(estimate.q[-1]), true, rtol=0.2, atol=1e-10)


def test_a_stored_run_is_honest_and_an_edited_one_is_not(tmp_path):
    system, start = governor()
    run = system.simulate(start, until=1.0, tolerance=1e-7, integrator="radau5", save=0.02)
    run.save(tmp_path / "run")
    verdict = zw.verify(tmp_path / "run", system)
    assert verdict, verdict
    assert verdict.figures["step"] < 0.5
    loaded = zw.load(tmp_path / "run", system)
    assert loaded.settings == run.settings
    assert loaded.counts == run.counts
    run.v[20, 1] += 1e-4
    run.save(tmp_path / "edited")
    assert not zw.verify(tmp_path / "edited", system)


def test_new_parameters_compile_nothing():
    system, start = governor()
    system.simulate(start, until=0.1, integrator="radau5")
    before = compilations()
    other = system.simulate(
        start, until=0.1, integrator="radau5", parameters={"damping": 1e4, "ball": 4.0}
    )
    assert compilations() == before
    assert other.finished


def test_explicit_runs_compile_no_jacobian():
    from zwang.integrators.settings import Settings
    from zwang.simulation.select_program import ProgramStart, select_program

    system, start = governor()
    system.simulate(start, until=1e-3, integrator="order8")
    y = np.concatenate([start.q, start.v])
    program = select_program(
        system.equations,
        ProgramStart(y, 0.0, system.parameter_vector()),
        Settings(until=1.0),
    )
    assert set(program.compiled) == {"derivative", "project", "residual", "arrival"}


def test_many_runs_are_the_runs_alone(pendulum):
    lengths = np.array([1.0, 1.0, 1.0])
    masses = np.array([1.0, 2.0, 3.0])
    starts = np.array([[1.0, 0.0], [0.6, -0.8], [0.0, -1.0]])
    choices = {"until": 1.0, "integrator": "radau5", "tolerance": 1e-7}
    many = pendulum.simulate_many(
        starts, np.zeros((3, 2)), parameters={"m": masses, "L": lengths}, **choices
    )
    for run, q, m in zip(many, starts, masses, strict=True):
        alone = pendulum.simulate(q, [0.0, 0.0], parameters={"m": m, "L": 1.0}, **choices)
        assert run.q.tobytes() == alone.q.tobytes()
        assert run.counts == alone.counts


@pytest.mark.parametrize("drift", ["projection", "baumgarte", "none"])
def test_drift_is_kept_as_asked(pendulum, drift):
    run = pendulum.simulate([1.0, 0.0], until=5.0, tolerance=1e-6, integrator="radau5", drift=drift)
    limits = {"projection": 1e-12, "baumgarte": 1e-4, "none": 1e-2}
    assert run.finished
    assert run.worst_residual < limits[drift]
    assert (run.worst_residual > 1e-12) == (drift != "projection")


def test_folding_parallelogram_is_passed(parallelogram):
    from known_motions import parallelogram_angle, parallelogram_state

    run = parallelogram.simulate(
        *parallelogram_state(np.pi / 2, -1.0), until=2.0, tolerance=1e-8, integrator="radau5"
    )
    assert run.finished
    assert abs(run.q[-1, 2] - parallelogram_angle(2.0, np.pi / 2, -1.0)) < 1e-5


def test_a_fixed_step_too_long_for_newton_is_told():
    stiff = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [-np.sinh(40.0 * q[0])])
    run = stiff.simulate([1.0], until=10.0, step=5.0, integrator="radau5")
    assert not run.finished
    assert "the equations of a step of 5 s have no solution near" in run.status


def test_accelerations_in_python_are_refused_for_they_have_no_jacobian(pendulum):
    with pytest.raises(zw.InputError, match="one that needs 'jacobian' as an expression"):
        pendulum.simulate([1.0, 0.0], until=1.0, integrator="radau5", formulation="udwadia_kalaba")


def test_where_the_force_has_no_value_the_run_stops_with_what_it_has():
    ends = zw.System(["x"], mass=lambda: [[1.0]], force=lambda t: [np.sqrt(1.0 - t)])
    run = ends.simulate([1.0], until=5.0, tolerance=1e-6, integrator="radau5")
    assert not run.finished
    assert "not finite beyond it" in run.status
    assert abs(run.t[-1] - 1.0) < 1e-6
    assert np.isfinite(run.q).all()


def test_more_save_times_in_a_step_than_the_buffer_holds(pendulum, monkeypatch):
    monkeypatch.setattr("zwang.integrators.contract.Loop.advance.__defaults__", (20_000, 4))
    few = pendulum.simulate([1.0, 0.0], until=0.5, tolerance=1e-4, integrator="radau5", save=0.01)
    monkeypatch.undo()
    many = pendulum.simulate([1.0, 0.0], until=0.5, tolerance=1e-4, integrator="radau5", save=0.01)
    assert len(few) == 51
    assert few.q.tobytes() == many.q.tobytes()
