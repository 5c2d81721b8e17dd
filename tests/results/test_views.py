"""Runs as labelled arrays and figures; their error and their ledger of work."""

import builtins
from dataclasses import replace

import numpy as np
import pytest
from pendulums import EVENTS, START, driven, pendulum

import zwang as zw
from zwang.errors import MissingExtraError

SYSTEM = pendulum()


@pytest.fixture(scope="module")
def run():
    return SYSTEM.simulate(*START, until=5.0, tolerance=1e-7)


def test_to_xarray_names_every_channel(run):
    pytest.importorskip("xarray")
    data = run.to_xarray()
    assert set(data.data_vars) == set(run.channels)
    assert {"x", "y", "x_dot", "y_dot", "rod.multiplier", "energy"} <= set(data.data_vars)
    assert data["y_dot"].values.tobytes() == run["y_dot"].tobytes()
    assert data["time"].values.tobytes() == run.t.tobytes()
    assert data.attrs["parameters.L"] == 1.0
    assert data.attrs["settings.integrator"] == "auto"


def test_a_dataset_can_be_kept(tmp_path):
    xarray = pytest.importorskip("xarray")
    system = zw.System(
        ["x"],
        parameters={"K": [[2.0, 0.0], [0.0, 1.0]], "k": [1.0, 3.0]},
        mass=lambda: [[1.0]],
        force=lambda q, p: [-p.K[0, 0] * p.k[1] * q[0]],
    )
    data = system.simulate([1.0], until=1.0).to_xarray()
    data.to_zarr(tmp_path / "run.zarr", consolidated=False)
    again = xarray.open_zarr(tmp_path / "run.zarr", consolidated=False)
    assert again.attrs == data.attrs
    assert data.attrs["parameters.k"] == [1.0, 3.0]
    # What netCDF takes for an attribute.
    assert all(isinstance(x, str | float | list) for x in data.attrs.values())


def test_plot_draws_what_was_asked_for(run, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    figure = run.plot("x", "energy")
    assert [axis.get_ylabel() for axis in figure.axes] == ["x", "energy"]
    drawn = figure.axes[0].lines[0].get_ydata()
    assert np.isin(run["x"], drawn).all()  # and states between steps, so that the curve is smooth
    plt.close(figure)
    with pytest.raises(zw.ZwangError, match="'w'"):
        run.plot("w")


@pytest.mark.parametrize(
    ("call", "package", "extra"),
    [("to_xarray", "xarray", "data"), ("plot", "matplotlib", "plot")],
)
def test_a_missing_extra_is_named(run, call, package, extra, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf"zwang\[{extra}\]"):
        getattr(run, call)()


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_the_error_estimate_is_within_a_factor_of_ten(tolerance):
    run = SYSTEM.simulate(*START, until=5.0, tolerance=tolerance, save=0.05)
    truth = SYSTEM.simulate(*START, until=5.0, tolerance=1e-13, save=0.05)
    error = max(np.abs(truth.q - run.q).max(), np.abs(truth.v - run.v).max())
    assert error / 10.0 < run.error_estimate().worst < error * 10.0


def test_the_error_is_estimated_where_the_tightest_second_run_does_not_get_far():
    """Rounding may take over sooner in the coordinates of the system than in those of the run."""
    run = SYSTEM.simulate(*START, until=2.0, tolerance=1e-7, save=0.05)
    asked = []

    def stops_below(tolerance, times):
        asked.append(tolerance)
        second = run.again(tolerance, times)
        if tolerance >= 5e-9:
            return second
        return replace(second, t=second.t[:3], q=second.q[:3], v=second.v[:3])

    estimate = replace(run, again=stops_below).error_estimate()
    assert asked == pytest.approx([1e-9, 1e-8])
    assert estimate.worst == pytest.approx(run.error_estimate().worst, rel=0.5)


def test_the_error_of_a_stored_run_is_estimated_alike(run, tmp_path):
    run.save(tmp_path / "run")
    stored = zw.load(tmp_path / "run", SYSTEM)
    # A saved run begins at its first saved state, which is the start put on the constraints.
    assert stored.error_estimate().worst == pytest.approx(run.error_estimate().worst, rel=1e-3)


def test_the_error_is_estimated_across_events():
    run = SYSTEM.simulate(*START, until=4.0, tolerance=1e-7, events=EVENTS)
    estimate = run.error_estimate()
    assert len(run.segments) > 2
    assert estimate.q.shape == run.q.shape
    assert 1e-12 < estimate.worst < 1e-4


@pytest.mark.parametrize("save", [None, 0.1])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-6, 1e-7, 1e-8])
def test_the_error_of_a_run_that_an_event_stops_is_estimated(tolerance, save):
    """The second run stops a rounding earlier or later, which is the error of that time."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    events = {"low": zw.event("pin.angle", "stop", at=np.pi / 2)}
    run = m.simulate(until=10.0, tolerance=tolerance, events=events, save=save)
    estimate = run.error_estimate()
    assert estimate.q.shape == run.q.shape
    assert estimate.worst < 100.0 * tolerance
    (truth,) = m.simulate(until=10.0, tolerance=1e-13, events=events).events
    # Both are errors of one angle, whose rate is some 5 rad/s.
    assert estimate.stop == pytest.approx(truth.t - run.t[-1], abs=0.1 * tolerance)


def test_no_error_is_told_where_the_second_run_ends_much_earlier():
    run = SYSTEM.simulate(
        *START, until=4.0, tolerance=1e-7, events={"low": zw.event("x", "stop", at=0.0)}, save=0.05
    )

    def half_as_far(tolerance, times):
        second = run.again(tolerance, times)
        n = len(second) // 2
        record = replace(second.events[-1], t=float(second.t[n]))
        parts = {"t": second.t[:n], "q": second.q[:n], "v": second.v[:n]}
        return replace(second, **parts, events=(record,))

    with pytest.raises(zw.InputError, match="goes as far as the first"):
        replace(run, again=half_as_far).error_estimate()


# Work and energy. Balances are sums of local errors over the run; a thousand tolerances times the
# energies of order ten is far below any of the works themselves.
BALANCE = 1e-6


def test_work_of_gravity_is_the_change_of_potential_energy(run):
    assert run.work.applied == pytest.approx(
        run.potential_energy[0] - run.potential_energy, abs=1e-5
    )
    assert np.abs(run.work.constraint).max() < 1e-12


def test_work_balances_the_kinetic_energy_with_damping_and_a_push():
    run = driven().simulate(*START, until=5.0)
    assert np.abs(run.work.applied).max() > 1.0
    assert np.abs(run.work.balance).max() < BALANCE


def test_work_balances_with_a_mass_that_depends_on_the_position():
    """Two masses on rods in angles: M(q) changes, and Q has velocity terms to match."""
    system = zw.System.from_lagrangian(
        ["a", "b"],
        T=lambda q, v: v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1]),
        V=lambda q: -2.0 * 9.81 * np.cos(q[0]) - 9.81 * np.cos(q[1]),
    )
    run = system.simulate([1.0, 2.0], [0.0, 0.0], until=3.0)
    assert np.abs(run.work.inertia).max() > 0.1
    assert np.abs(run.work.balance).max() < BALANCE
    assert np.ptp(run.energy) < BALANCE


def test_work_balances_with_a_moving_constraint():
    """A bead on a rod that turns at a given rate: the rod does work on it."""
    system = zw.System(
        coordinates=["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"rod": zw.position(lambda q, t: q[0] * np.sin(t) - q[1] * np.cos(t))},
    )
    run = system.simulate([1.0, 0.0], [0.0, 1.0], until=2.0)
    # r = cosh t, and the energy is ½ (ṙ² + r²).
    assert run.work.constraint[-1] == pytest.approx(0.5 * (np.cosh(4.0) - 1.0), rel=1e-8)
    assert np.abs(run.work.balance).max() < BALANCE


def test_impulses_are_in_the_ledger():
    run = SYSTEM.simulate(*START, until=4.0, events=EVENTS)
    assert run.work.impulses[-1] < -0.1  # restitution 0.9
    assert np.abs(run.work.balance).max() < BALANCE


@pytest.mark.parametrize("save", [0.15, 1.5, [0.0, 2.4], [0.3, 2.4]])
def test_work_across_events_whose_instants_are_not_saved(save):
    ball = zw.System(["h"], mass=lambda: [[2.0]], force=lambda: [-20.0])
    floor = zw.event("h", zw.bounce(0.5), direction=-1)
    run = ball.simulate([5.0], until=2.4, events={"floor": floor}, save=save)
    # It falls 5 m within 1 s; the impact takes three quarters of the 100 J, so does the next one.
    taken = -75.0 * (run.t > 1.0) - 18.75 * (run.t > 2.0)
    assert np.abs(run.work.impulses - taken).max() < BALANCE
    fallen = run.q[0, 0] - run.q[:, 0]
    assert np.abs(run.work.applied - 20.0 * fallen).max() < BALANCE
    assert np.abs(run.work.balance).max() < BALANCE


def test_states_are_known_from_the_start_on_whatever_is_saved():
    run = SYSTEM.simulate(*START, until=1.0, save=[0.5, 0.8])
    assert np.array_equal(run.at(0.0).q, [1.0, 0.0])
    whole = SYSTEM.simulate(*START, until=1.0)
    assert np.abs(run.at([0.2, 0.6]).q - whole.at([0.2, 0.6]).q).max() < 1e-8
    with pytest.raises(zw.InputError, match=r"from 0 to 0\.8, between saved states"):
        run.at(0.9)


def test_a_run_without_saved_states_says_so():
    run = SYSTEM.simulate(*START, until=1.0, save=[])
    with pytest.raises(zw.InputError, match="run must have at least one saved state, but has none"):
        _ = run.acceleration


def test_a_saved_run_remembers_its_events_and_times(tmp_path):
    run = SYSTEM.simulate(*START, until=3.0, events=EVENTS, save=0.25)
    run.save(tmp_path / "run")
    zw.load(tmp_path / "run", SYSTEM, events=EVENTS).save(tmp_path / "copy")
    again = zw.load(tmp_path / "copy", SYSTEM, events=EVENTS)
    assert np.array_equal(again.times, run.times)
    assert again.error_estimate().worst == run.error_estimate().worst
    with pytest.raises(
        zw.InputError,
        match=r"must be the same as when it was made \(low, seen,.*but differ in low, seen, wall",
    ):
        zw.load(tmp_path / "copy", SYSTEM).error_estimate()


def test_saved_states_by_number_slice_and_mask(run):
    assert np.array_equal(run[-1].q, run.q[-1])
    assert run[-1].t == run.t[-1]
    some = run[2:5]
    assert np.array_equal(some.v, run.v[2:5])
    assert np.array_equal(run[run.t > 0.5].t, run.t[run.t > 0.5])
    assert len(list(run)) == len(run)
    with pytest.raises(IndexError, match="saved states"):
        run[len(run)]
    for wrong in (0.5, slice(0.2, 0.4)):
        with pytest.raises(zw.InputError, match=r"run.at\(t\) gives states at times"):
            run[wrong]


def test_a_system_without_constraints_has_no_multipliers():
    free = zw.System(coordinates=["x"], mass=lambda: [[1.0]], force=lambda q: [-q[0]])
    run = free.simulate([1.0], until=0.2, save=0.1)
    assert run.multipliers().shape == (3, 0)
    assert not run.constraint_force().any()
