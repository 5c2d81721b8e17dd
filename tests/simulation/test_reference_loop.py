"""Formulations by name and functions that cannot be traced drive the same time loop."""

import signal

import numpy as np
import pytest
from known_motions import pendulum_angle

import zwang as zw

START = ([1.0, 0.0], [0.0, 0.0])

#: Local errors of 1e-9 grow to less than this in a second of these motions.
AGREEMENT = 1e-7


@pytest.fixture(scope="module")
def held_twice():
    """A pendulum on two rods in one place: redundant rows, which agree on the constraint alone."""
    return zw.System(
        ["x", "y"],
        mass=lambda: 2.0 * np.eye(2),
        force=lambda: [0.0, -2.0 * 9.81],
        constraints={
            "rod": zw.position(lambda q: q @ q - 1.0),
            "other_rod": zw.position(lambda q: np.sqrt(q @ q) - 1.0),
        },
    )


@pytest.mark.parametrize("formulation", zw.FORMULATIONS)
def test_every_formulation_follows_jacobis_elliptic_functions(pendulum, held_twice, formulation):
    angle = pendulum_angle(0.4, np.pi / 2)
    for system in (pendulum, held_twice):
        run = system.simulate(*START, until=0.4, formulation=formulation)
        assert np.allclose(run.q[-1], [np.sin(angle), -np.cos(angle)], rtol=0.0, atol=AGREEMENT)
        assert run.worst_residual < 1e-12
        assert run.settings.formulation == formulation
        assert f"{formulation!r}" in run.notes[0]
        assert "in Python" in run.notes[0]


@pytest.mark.parametrize(
    "choices", [{"integrator": "order5"}, {"drift": "baumgarte"}, {"drift": "none"}, {"step": 0.01}]
)
def test_all_else_is_as_with_the_compiled_equations(pendulum, choices):
    choices = {"integrator": "order8", "until": 0.5, "save": 0.1, **choices}
    compiled = pendulum.simulate(*START, **choices)
    run = pendulum.simulate(*START, formulation="projection", **choices)
    # The accelerations differ by rounding alone, and so the error estimates hardly.
    assert run.counts.steps == compiled.counts.steps
    assert np.allclose(run.q, compiled.q, rtol=0.0, atol=1e-9)


def test_a_formulation_that_does_not_apply_is_refused_at_the_start():
    massless = zw.System(
        ["x", "y"],
        mass=lambda: np.diag([1.0, 0.0]),
        force=lambda q: [-q[0], 0.0],
        constraints={"line": zw.position(lambda q: q[1] - 2.0 * q[0])},
    )
    with pytest.raises(zw.NotApplicableError, match="'udwadia_kalaba'"):
        massless.simulate([1.0, 2.0], until=1.0, formulation="udwadia_kalaba")
    run = massless.simulate([1.0, 2.0], until=1.0, formulation="udwadia_schutte")
    assert abs(run["x"][-1] - np.cos(1.0)) < AGREEMENT


def test_integrators_that_need_expressions_are_refused(pendulum):
    with pytest.raises(
        zw.InputError,
        match=r"integrator must be 'order8' or 'order5', as.*not one that needs 'rattle' as an",
    ):
        pendulum.simulate(
            *START, until=1.0, integrator="rattle", step=0.01, formulation="projection"
        )


def test_a_law_of_the_reaction_is_solved_along_the_way():
    slide = zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"floor": zw.position(lambda q: q[1])},
        nonideal={"floor": lambda reaction: [-0.3 * np.abs(reaction[1]), 0.0]},
    )
    run = slide.simulate([0.0, 0.0], [3.0, 0.0], until=0.5, formulation="saddle_point")
    assert abs(run["x"][-1] - (1.5 - 0.5 * 0.3 * 9.81 * 0.25)) < AGREEMENT


def test_an_ensemble_by_name_is_each_run_alone(pendulum):
    runs = pendulum.simulate_many(
        *START, until=0.2, parameters={"g": [1.0, 9.81]}, formulation="udwadia_kalaba", threads=2
    )
    alone = pendulum.simulate(
        *START, until=0.2, parameters={"g": 9.81}, formulation="udwadia_kalaba"
    )
    assert runs[1].q.tobytes() == alone.q.tobytes()


# ------------------------------------------------------------------ functions that cannot be traced


def bead(height):
    """A bead on a wire y = h(x)."""
    return zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"wire": zw.position(lambda q: q[1] - height(q[0]))},
    )


WIRE = ([0.5, 0.125], [0.0, 0.0])


@pytest.fixture(scope="module")
def called():
    return bead(zw.opaque(lambda x: 0.5 * x**2, name="height"))


@pytest.fixture(scope="module")
def traced():
    return bead(lambda x: 0.5 * x**2)


def test_a_bead_on_a_called_wire_moves_as_on_a_traced_one(called, traced):
    wall = {"wall": zw.event(lambda q: q[0] + 0.3, zw.bounce(0.5), direction=-1)}
    run = called.simulate(*WIRE, until=1.0, events=wall, save=0.1)
    expected = traced.simulate(*WIRE, until=1.0, events=wall, save=0.1)
    assert len(run.events) == len(expected.events) > 0
    assert np.allclose(run.q, expected.q, rtol=0.0, atol=AGREEMENT)
    assert np.array_equal(run.t, expected.t)
    assert run.worst_residual < 1e-12
    assert run.notes[0].startswith("height cannot be traced")
    assert np.allclose(run.at(0.55).q, expected.at(0.55).q, rtol=0.0, atol=AGREEMENT)


def test_a_run_with_calls_is_stored_and_resumed_to_the_same_bits(called, tmp_path):
    whole = called.simulate(*WIRE, until=2.0)

    def press_once(record, pressed=[]):  # noqa: B006 - remembers
        if not pressed:
            pressed.append(1)
            signal.raise_signal(signal.SIGINT)

    part = called.simulate(*WIRE, until=2.0, store=tmp_path / "run", progress=press_once)
    assert "stopped by the user" in part.status
    assert 1 < len(part) < len(whole)
    run = zw.resume(tmp_path / "run", called)
    assert run.q.tobytes() == whole.q.tobytes()
    assert run.counts == whole.counts
    assert zw.verify(tmp_path / "run", called, intervals=3, sample=2)


def test_a_table_that_ends_ends_the_run_with_a_sentence():
    def table(x):
        if x > 1.0:
            message = "beyond the table"
            raise ValueError(message)
        return x

    push = zw.opaque(table)
    system = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [push(q[0])])
    run = system.simulate([0.5], [0.0], until=5.0)
    assert not run.finished
    assert run.status.startswith("stopped at t = 1.31696 s: ")  # cosh t = 2
    assert (
        "opaque function 'table' must return a value, but raised ValueError: beyond the table"
        in run.status
    )
    assert abs(run["x"][-1] - 1.0) < AGREEMENT


def test_ctrl_c_twice_within_a_call_stops_at_once():
    def height(x):
        if x < 0.4:
            signal.raise_signal(signal.SIGINT)
        return 0.5 * x**2

    with pytest.raises(KeyboardInterrupt):
        bead(zw.opaque(height)).simulate(*WIRE, until=100.0)


def test_a_mistake_in_a_function_at_the_start_is_told():
    with pytest.raises(zw.InputError, match=r"'height'.*ZeroDivisionError"):
        bead(zw.opaque(lambda x: 1.0 / 0.0, name="height")).simulate(*WIRE, until=1.0)


def _bennett():
    """A falling Bennett linkage: of its 20 rows 3 are redundant, on the constraints alone."""
    long, short, twist = 1.0, 0.7, np.radians(75.0)
    other = np.arcsin(short / long * np.sin(twist))
    angle = 1.1
    ratio = np.sin((other + twist) / 2) / np.sin((other - twist) / 2)
    second = 2.0 * np.arctan(ratio / np.tan(angle / 2))
    position, turned = np.zeros(3), np.eye(3)
    points, axes, frames = [position], [turned[:, 2]], []
    links = [(angle, long, twist), (second, short, other), (-angle, long, twist)]
    for about_z, length, about_x in links:
        c, s, d, e = np.cos(about_z), np.sin(about_z), np.cos(about_x), np.sin(about_x)
        position = position + turned @ [length * c, length * s, 0.0]
        turned = turned @ np.array([[c, -s * d, s * e], [s, c * d, -c * e], [0.0, e, d]])
        points.append(position)
        axes.append(turned[:, 2])
        frames.append(turned)
    m = zw.Mechanism(gravity=(0.0, 3.0, -9.81))
    chain = [m.ground]
    for k, (_, length, _) in enumerate(links):
        inertia = zw.inertia.cylinder(1.0 + 0.2 * k, 0.03, length, axis="x")
        middle = (points[k] + points[k + 1]) / 2
        chain.append(m.body(f"bar{k}", inertia=inertia, position=middle, orientation=frames[k]))
    chain.append(m.ground)
    for k in range(4):
        m.revolute(f"hinge{k}", chain[k], chain[k + 1], at=points[k], axis=axes[k])
    return m


@pytest.mark.parametrize("formulation", ["udwadia_kalaba", "udwadia_mogharabin", "saddle_point"])
def test_long_steps_of_a_loop_with_redundant_rows_come_back_to_the_constraints(formulation):
    m, times = _bennett(), np.linspace(0.0, 1.5, 31)
    closely = m.simulate(until=1.5, save=times, tolerance=1e-11)
    run = m.simulate(until=1.5, save=times, tolerance=1e-2, formulation=formulation)
    assert run.finished, run.status
    assert np.abs(run.q - closely.q).max() < 1e-3  # a tenth of a tolerance
    assert run.counts.rejected <= 1  # stages that lie on no solution would have all be rejected


def test_a_state_between_steps_that_has_no_value_ends_the_run():
    def push(t):
        return 1.0 if abs(t - 0.01) > 1e-6 else np.nan

    cart = zw.System(
        ["x"],
        mass=lambda: [[1.0]],
        force=lambda t: [zw.opaque(push)(t)],
    )
    # The interpolant of a step of order 8 takes a stage at a tenth of it, the step itself none.
    run = cart.simulate([0.0], [0.0], until=0.3, step=0.1, save=0.05, integrator="order8")
    assert not run.finished
    assert np.isfinite(run.q).all()
    assert run.status.startswith("stopped at t = 0.05 s: ")
