"""Positions where constraints lose rank are found within the steps that pass them, and named.

A parallelogram of equal rods with its cranks at θ from the upward vertical, turning with ω there,
has sin(θ/2) = sn(ωt/2 | −4κ/ω²), κ = 6g/5: it lies flat, θ = π/2 + kπ, at
t = 2 F(θ/2 | −4κ/ω²)/ω. See `reference/make_motions.py`.
"""

import mpmath
import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.errors import UnknownNameError

G = 9.81
UNTIL = 10.0
#: Error of the times, in parts of the time for a turn.
TIME_ERROR = 1e-3
RODS = {"crank0", "crank1", "coupler1"}
#: All joints of the closed chain; the joints along a flat chain share one force.
JOINTS = {"A0", "A1", "left1", "right1"}


def flat_times(rate=1.0, until=UNTIL):
    """Times at which one four-bar lies flat, and the time for a turn."""
    kappa = G * (2 / 2 + 1) / (2 / 3 + 1)

    def time(angle):
        return float(mpmath.re(2 * mpmath.ellipf(angle / 2, -4 * kappa / rate**2) / rate))

    times = [time(mpmath.pi / 2 + k * mpmath.pi) for k in range(40)]
    return np.array([t for t in times if t < until]), time(2 * mpmath.pi)


@pytest.fixture(scope="module")
def linkage():
    return library.n_four_bar(1), library.start("n_four_bar", n=1)


def assert_passages(run, names, rate=1.0, dependent=1):
    """Each flat position is logged once, in time, with what is dependent there."""
    exact, turn = flat_times(rate, run.t[-1])
    found = np.array([change.t for change in run.ranks])
    assert len(found) == len(exact) > 3
    assert np.abs(found - exact).max() < TIME_ERROR * turn
    for change in run.ranks:
        assert (change.dependent_rows, change.lasting) == (dependent, False)
        assert set(change.names) == names


@pytest.mark.parametrize("integrator", ["order8", "order5"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_each_passage_is_logged_once_with_time_and_names(linkage, tolerance, integrator):
    system, start = linkage
    run = system.simulate(start, until=UNTIL, tolerance=tolerance, integrator=integrator)
    assert_passages(run, RODS)


@pytest.mark.parametrize(
    "choices",
    [
        {"integrator": "radau5", "tolerance": 1e-7},
        {"integrator": "rattle", "step": 2e-3},
        {"integrator": "generalized_alpha", "step": 2e-3},
        {"integrator": "order8", "step": 0.02},
    ],
)
def test_every_integrator_logs_passages(linkage, choices):
    system, start = linkage
    assert_passages(system.simulate(start, until=5.0, **choices), RODS)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_passages_of_a_mechanism_name_its_joints(tolerance):
    run = library.four_bars(1).simulate(until=UNTIL, tolerance=tolerance)
    assert_passages(run, JOINTS)


@pytest.mark.campaign
@pytest.mark.parametrize("rate", np.linspace(0.5, 2.0, 31))
def test_passages_are_logged_at_any_speed_and_tolerance(linkage, rate):
    system, start = linkage
    for tolerance in 10.0 ** np.arange(-6.0, -12.1, -0.25):
        run = system.simulate(start.q, rate * start.v, until=UNTIL, tolerance=tolerance)
        assert_passages(run, RODS, rate)


def test_two_linkages_lose_two_rows():
    run = library.n_four_bar(2).simulate(library.start("n_four_bar", n=2), until=3.0)
    assert {change.dependent_rows for change in run.ranks} == {2}
    assert set(run.ranks[0].names) == {"crank0", "crank1", "crank2", "coupler1", "coupler2"}


def test_only_what_is_dependent_is_named(linkage):
    """A pendulum beside the four-bar has no part in its flat positions."""
    four_bar, start = linkage
    both = zw.System(
        coordinates=[*four_bar.coordinates, "x", "y"],
        mass=lambda: np.kron(np.array([[2, 0.5, 0], [0.5, 2, 0], [0, 0, 3]]) / 3.0, np.eye(2)),
        force=lambda: [0.0, -G] * 3,
        constraints={
            "rod": zw.position(lambda q: q[4] ** 2 + q[5] ** 2 - 1.0),
            "crank0": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0),
            "crank1": zw.position(lambda q: (q[2] - 1.0) ** 2 + q[3] ** 2 - 1.0),
            "coupler1": zw.position(lambda q: (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1.0),
        },
    )
    run = both.simulate([*start.q, 1.0, 0.0], [*start.v, 0.0, 0.0], until=2.0)
    assert len(run.ranks) == 2
    assert all(set(change.names) == RODS for change in run.ranks)


def test_a_step_that_ends_in_a_flat_position_is_no_second_passage(linkage):
    system, start = linkage
    still = {"g": 0.0}  # θ = t
    run = system.simulate(start, until=5.0, step=np.pi / 32, parameters=still)
    assert np.allclose([change.t for change in run.ranks], [np.pi / 2, 3 * np.pi / 2], atol=1e-3)
    assert not any(change.lasting for change in run.ranks)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_regular_mechanisms_log_nothing(pendulum, tolerance):
    assert not pendulum.simulate([1.0, 0.0], until=UNTIL, tolerance=tolerance).ranks
    for mechanism in (library.slider_crank(rate=5.0), library.four_bar(rate=5.0)):
        assert not mechanism.simulate(until=5.0, tolerance=tolerance).ranks


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_nearly_a_parallelogram_is_regular(tolerance):
    """A coupler 0.1 % too short keeps the linkage from lying flat: its least pivot is some 1e-3."""
    frame = 1.001
    system = zw.System(
        coordinates=["x0", "y0", "x1", "y1"],
        mass=lambda: np.kron(np.array([[4.0, 1.0], [1.0, 4.0]]) / 6.0, np.eye(2)),
        force=lambda: [0.0, -G] * 2,
        constraints={
            "crank0": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0),
            "crank1": zw.position(lambda q: (q[2] - frame) ** 2 + q[3] ** 2 - 1.0),
            "coupler1": zw.position(lambda q: (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1.0),
        },
    )
    start = system.assemble(hold={"x0": 0.0}, prefer={"y0": 1.0, "x1": 1.0, "y1": 1.0})
    start = system.assemble(
        hold={"x0": 0.0},
        prefer={"y0": 1.0, "x1": start.q[2], "y1": start.q[3]},
        velocity={"hold": {"x0_dot": 1.0}},
    )
    run = system.simulate(start, until=5.0, tolerance=tolerance)
    assert run.finished
    assert not run.ranks


def test_ensembles_and_chunks_log_the_same(linkage, monkeypatch):
    system, start = linkage
    rates = np.array([0.7, 1.0, 1.3, 1.6, 1.9])
    v = rates[:, None] * start.v
    together = system.simulate_many(np.tile(start.q, (5, 1)), v, until=4.0, tolerance=1e-7)
    monkeypatch.setattr("zwang.integrators.chunk_size.FIRST_STEPS", 1)
    monkeypatch.setattr("zwang.integrators.chunk_size.FIRST_ENTRIES", 0)
    monkeypatch.setattr("zwang.integrators.chunk_size.GROWTH", 1.0)
    for i, run in enumerate(together):
        alone = system.simulate(start.q, v[i], until=4.0, tolerance=1e-7, integrator="order8")
        assert alone.ranks == run.ranks
        assert [c.names for c in alone.ranks] == [c.names for c in run.ranks]
        assert_passages(run, RODS, rates[i])


# --- stopping -------------------------------------------------------------------------------------


def test_a_run_may_stop_at_a_singular_position(linkage, tmp_path):
    system, start = linkage
    path = tmp_path / "run"
    run = system.simulate(start, until=UNTIL, on_singular="stop", store=path)
    exact = flat_times()[0][0]
    (change,) = run.ranks
    assert abs(change.t - exact) < 1e-4
    assert run.status == (
        f"stopped at t = {change.t:.6g} s, a singular position: constraints crank0, crank1, "
        "coupler1 are dependent there (on_singular='stop')"
    )
    assert not run.finished
    assert run.t[-1] <= change.t
    for again in (zw.resume(path, system), zw.load(path, system)):
        assert again.status == run.status
        assert np.array_equal(again.t, run.t)
        assert again.ranks == run.ranks
        assert again.ranks[0].names == change.names
        assert again.settings.on_singular == "stop"


def test_numbers_up_to_the_stop_are_those_of_a_run_that_goes_on(linkage):
    system, start = linkage
    stopped = system.simulate(start, until=UNTIL, on_singular="stop")
    on = system.simulate(start, until=UNTIL)
    assert np.array_equal(stopped.q, on.q[: len(stopped)])
    assert on.t[len(stopped)] > stopped.ranks[0].t == on.ranks[0].t


def test_members_of_an_ensemble_stop_by_themselves(linkage):
    system, start = linkage
    v = np.array([0.0, 1.0])[:, None] * start.v  # upright at rest, and turning
    runs = system.simulate_many(np.tile(start.q, (2, 1)), v, until=1.0, on_singular="stop")
    assert runs.finished.tolist() == [True, False]
    assert "a singular position" in runs.status[1]


def test_passages_survive_storage_and_resumption(linkage, tmp_path):
    system, start = linkage
    run = system.simulate(start, until=3.0)
    run.save(tmp_path / "run")
    for system_or_none in (system, None):
        loaded = zw.load(tmp_path / "run", system_or_none)
        assert loaded.ranks == run.ranks
        assert [c.names for c in loaded.ranks] == [c.names for c in run.ranks]


def test_unknown_choices_are_refused(linkage):
    system, start = linkage
    with pytest.raises(
        UnknownNameError, match="on_singular must be one of continue, stop, not 'halt'"
    ):
        system.simulate(start, until=1.0, on_singular="halt")


def test_a_start_that_is_nearly_singular_is_no_singular_position():
    """A flat linkage of a light crank and a heavy coupler: near dependence, and not dependent."""
    m = zw.Mechanism(gravity=(0, -G), plane="xy")
    slope = 0.05
    tip = np.array([np.cos(slope), np.sin(slope)])
    crank = m.body("crank", inertia=zw.inertia.rod(0.01, 1.0), position=tip / 2, angle=slope)
    coupler = m.body(
        "coupler",
        inertia=zw.inertia.rod(300.0, 1.0),
        position=tip / 2 + np.array([np.cos(slope), 0.0]) / 2,
        angle=-slope,
    )
    m.revolute("pin", m.ground, crank, at=(0, 0))
    m.revolute("joint", crank, coupler, at=tip)
    m.point_on_line("guide", m.ground, coupler, at=(2 * np.cos(slope), 0.0), axis="x")
    m.drive("motor", "pin.angle", lambda t: 0.3 * t)
    run = m.simulate(until=0.5)
    assert run.finished
    assert run.ranks == ()


@pytest.mark.parametrize("drive", ["rail.displacement", "block.position"])
def test_a_driver_beyond_reach_is_named_where_the_run_ends(drive):
    """Two bars of 1 m, of which a driver asks for a length of 2.2 m."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    half = np.array([0.8, 0.6]) / 2
    angle = np.arctan2(0.6, 0.8)
    first = m.body("first", inertia=zw.inertia.rod(1.0, 1.0), position=half, angle=angle)
    second = m.body("second", inertia=zw.inertia.rod(1.0, 1.0), position=(1.2, 0.3), angle=-angle)
    block = m.body("block", mass=1.0, inertia=0.1, position=(1.6, 0))
    m.revolute("A", m.ground, first, at=(0, 0))
    m.revolute("B", first, second, at=(0.8, 0.6))
    m.revolute("C", second, block, at=(1.6, 0))
    if drive == "rail.displacement":
        m.prismatic("rail", m.ground, block, at=((0, 0), (1.6, 0)), axis="x")
        m.drive("ram", drive, lambda t: 1.6 + 0.3 * t**2)
    else:
        m.drive("ram", drive, lambda t: [1.6 + 0.3 * t**2, 0.0])
    run = m.simulate(until=1.5)
    assert not run.finished
    assert run.t[-1] == pytest.approx(np.sqrt(0.4 / 0.3), abs=1e-2)
    assert "driver ram may ask for more than the mechanism can reach" in run.status
    assert "A, B, C, " in run.status
