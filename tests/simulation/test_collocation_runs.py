"""Collocation at Gauss's points: order, accuracy, company, going on, and where it is refused."""

import signal

import mpmath
import numpy as np
import pytest

import zwang as zw
from zwang import library

G = 9.81
#: With a fixed step the tolerance says how well sweeps converge.
SOLVED = 1e-14
#: How far the measured order may be from the method's. With steps that differ more, errors are
#: either of rounding or of steps too long for the leading term of the error to decide.
ORDER, MISS = 16, 0.5


def circle():
    """A bead that no force drives goes round steadily."""
    return zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"circle": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
    )


def pendulum():
    return zw.System(["a"], mass=lambda: [[1.0]], force=lambda q: [-G * np.sin(q[0])])


def angle(t, amplitude=2.0):
    k = mpmath.sin(mpmath.mpf(amplitude) / 2)
    phase = mpmath.ellipk(k**2) - mpmath.sqrt(mpmath.mpf(G)) * mpmath.mpf(t)
    return float(2 * mpmath.asin(k * mpmath.ellipfun("sn", phase, m=k**2)))


def test_order_at_the_ends_of_steps():
    """Of a steady oscillation, at steps of half a period and a third of one."""
    system = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [-q[0]])
    errors, steps = [], np.array([3.0, 2.0])
    for step in steps:
        run = system.simulate(
            [1.0], [0.0], until=12.0, step=step, tolerance=SOLVED, integrator="gauss"
        )
        assert run.finished, run.status
        errors.append(np.hypot(run.q[-1, 0] - np.cos(12.0), run.v[-1, 0] + np.sin(12.0)))
    order = np.log(errors[0] / errors[1]) / np.log(steps[0] / steps[1])
    assert abs(order - ORDER) < MISS, errors


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
def test_states_within_steps_are_as_near_as_asked(tolerance):
    times = np.linspace(0.0, 5.0, 101)
    run = pendulum().simulate([2.0], until=5.0, tolerance=tolerance, save=times, integrator="gauss")
    exact = np.array([angle(t) for t in times])
    assert run.counts.steps < len(times)
    assert np.abs(run.q[:, 0] - exact).max() < 10.0 * tolerance


@pytest.mark.parametrize("save", [None, 0.03])
def test_time_may_appear_in_forces(save):
    system = zw.System(
        ["x"], mass=lambda: [[2.0]], force=lambda q, t: [-8.0 * q[0] + 6.0 * np.cos(t)]
    )
    run = system.simulate([1.0], [0.5], until=6.0, tolerance=1e-10, save=save, integrator="gauss")
    np.testing.assert_allclose(
        run["x"], np.cos(run.t) + 0.25 * np.sin(2.0 * run.t), rtol=0.0, atol=1e-9
    )


def test_positions_and_velocities_stay_on_constraints_between_steps():
    run = circle().simulate([1.0, 0.0], [0.0, 2.0], until=9.0, save=0.01, integrator="gauss")
    exact = np.stack([np.cos(2.0 * run.t), np.sin(2.0 * run.t)], axis=1)
    assert np.abs(run.q - exact).max() < 1e-9
    assert np.abs(np.sum(run.q**2, axis=1) - 1.0).max() < 1e-13
    assert np.abs(np.sum(run.q * run.v, axis=1)).max() < 1e-13


def test_it_takes_far_fewer_kernel_calls_than_order_8_and_is_no_worse():
    system = pendulum()
    for tolerance in (1e-6, 1e-8, 1e-10):
        runs = {
            name: system.simulate([2.0], until=20.0, tolerance=tolerance, integrator=name)
            for name in ("gauss", "order8")
        }
        exact = angle(20.0)
        error = {name: abs(run.q[-1, 0] - exact) for name, run in runs.items()}
        assert error["gauss"] < max(error["order8"], 1e-12)
        assert runs["gauss"].counts.evaluations / 8 < runs["order8"].counts.evaluations / 2


def test_an_event_is_found_within_a_long_step():
    upright = {"upright": zw.event(lambda q: q[0], direction=-1)}
    run = pendulum().simulate(
        [2.0], until=10.0, tolerance=1e-10, events=upright, integrator="gauss"
    )
    quarter = float(mpmath.ellipk(mpmath.sin(1) ** 2) / mpmath.sqrt(G))
    wanted = quarter * np.arange(1.0, 10.0 / quarter, 4.0)
    np.testing.assert_allclose([e.t for e in run.events], wanted, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("integrator", ["gauss", "auto"])
def test_a_trajectory_is_the_same_alone_and_in_company(integrator):
    system = circle()
    v = np.outer(np.linspace(0.5, 2.0, 6), [0.0, 1.0])
    choices = {"until": 3.0, "tolerance": 1e-8, "integrator": integrator}
    together = system.simulate_many(np.tile([1.0, 0.0], (6, 1)), v, threads=2, **choices)
    for i, run in enumerate(together):
        # Of "auto" an ensemble takes the method whose trajectories run side by side.
        assert run.settings.integrator == ("order8" if integrator == "auto" else integrator)
        alone = system.simulate(
            [1.0, 0.0], v[i], **choices | {"integrator": run.settings.integrator}
        )
        assert run.q.tobytes() == alone.q.tobytes()
        assert run.counts == alone.counts


def test_a_stored_run_goes_on_with_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("zwang.integrators.chunk_size.FIRST_STEPS", 3)
    monkeypatch.setattr("zwang.integrators.chunk_size.FIRST_ENTRIES", 0)
    system, start = library.n_four_bar(1), library.start("n_four_bar", n=1)
    choices = {"until": 4.0, "tolerance": 1e-8, "save": 0.07, "integrator": "gauss"}
    whole = system.simulate(start, **choices)

    def press_once(record, pressed=[]):  # noqa: B006 - remembers
        if not pressed:
            pressed.append(1)
            signal.raise_signal(signal.SIGINT)

    part = system.simulate(start, store=tmp_path / "run", progress=press_once, **choices)
    assert "stopped by the user" in part.status
    run = zw.resume(tmp_path / "run", system)
    assert run.q.tobytes() == whole.q.tobytes()
    assert run.counts == whole.counts
    assert zw.verify(tmp_path / "run", system, intervals=3, sample=2)


@pytest.mark.parametrize("integrator", ["gauss", "order8"])
def test_passages_are_logged_at_low_accuracy(integrator):
    run = library.four_bars(1).simulate(until=10.0, tolerance=1e-5, integrator=integrator)
    exact = library.four_bars(1).simulate(until=10.0, tolerance=1e-11, integrator="order8")
    assert len(run.ranks) == len(exact.ranks) == 10
    # Errors of positions grow with every passage.
    found, wanted = ([change.t for change in r.ranks] for r in (run, exact))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=5e-3)


def test_stiff_motion_is_called_so():
    governor, start = library.flyball_governor(), library.start("flyball_governor")
    run = governor.simulate(start, until=1.0, tolerance=1e-6, integrator="gauss")
    assert "stiff" in run.status


def test_what_it_cannot_do_is_said_and_auto_does_otherwise():
    system = circle()
    choices = {"until": 0.1, "formulation": "udwadia_kalaba"}
    with pytest.raises(zw.InputError, match="compiled equations"):
        system.simulate([1.0, 0.0], [0.0, 2.0], integrator="gauss", **choices)
    assert system.simulate([1.0, 0.0], [0.0, 2.0], integrator="auto", **choices).finished


def test_auto_takes_nodes_where_there_are_some():
    system, start = circle(), ([1.0, 0.0], [0.0, 2.0])
    named, chosen = (
        system.simulate(*start, until=2.0, integrator=name) for name in ("gauss", "auto")
    )
    assert named.q.tobytes() == chosen.q.tobytes()


def test_collocation_notes_that_it_may_step_over_jumps() -> None:
    """Asked for by name: the figure stands in the run, and bounds what is off."""
    floor = 50.0
    system = zw.System(
        ["x"],
        mass=lambda: [[1.0]],
        force=lambda q: [-9.81 + zw.where(q[0] < 0.0, floor - 1000.0 * q[0], 0.0)],
    )
    drop = {"q": [1.0], "v": [0.0], "until": 0.6, "tolerance": 1e-8}
    noted = system.simulate(**drop, integrator="gauss")
    assert any("a jump between the last node of a step" in note for note in noted.notes)
    for other in ("auto", "order8"):
        run = system.simulate(**drop, integrator=other)
        assert not any("jump" in note for note in run.notes)
    right = system.simulate(**{**drop, "tolerance": 1e-12}, integrator="order8")
    longest = float(np.diff(noted.t).max())
    assert abs(noted.v[-1, 0] - right.v[-1, 0]) < 2.0 * longest / 50.0 * floor + 1e-6
