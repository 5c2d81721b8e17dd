"""Studies: the dataset is that of single runs, and nothing of it is lost."""

import errno
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.studies.study_models import digest, pendulum, pendulum_plan

import zwang as zw
from zwang.model_files.examples import example_path
from zwang.results.lock import WriteLock
from zwang.results.run import Run
from zwang.studies import dataset
from zwang.studies.compute import FAILED, FINISHED, REFUSED
from zwang.studies.reductions import REDUCTIONS, last_valid
from zwang.studies.uses_of_constants import constants_in_expressions


@pytest.fixture(scope="module")
def system():
    return pendulum()


@pytest.fixture(scope="module")
def whole(system, tmp_path_factory):
    """A study that was computed at once, in one thread."""
    path = tmp_path_factory.mktemp("studies") / "whole.zarr"
    return zw.study(system, pendulum_plan(), output=path).run(workers=1, progress=False)


def test_values_are_those_of_single_runs(system, whole):
    data = whole.dataset
    times = np.linspace(0.0, 1.0, 201)
    for i in (0, 13, 39):
        L, v = float(data["L"][i]), float(data["start.x_dot"][i])
        run = system.simulate(
            [0.0, -L],
            [v, 0.0],
            until=1.0,
            save=times,
            parameters={"L": L},
            tolerance=1e-8,
            integrator="order8",
        )
        assert np.array_equal(data["x"][i], run["x"][[0, 100, 200]])
        assert data["end(y)"][i] == run["y"][-1]
        assert data["steps"][i] == run.counts.steps
        assert data["evaluations"][i] == run.counts.evaluations


def test_reductions_agree_with_the_closed_form(whole):
    """Of a pendulum with small ω: the amplitude follows from the energy."""
    data = whole.dataset
    L, v = data["L"].values, data["start.x_dot"].values
    amplitude = L * np.sin(np.arccos(1.0 - v**2 / (2 * 9.81 * L)))
    turned = np.isfinite(data["turn"].values)
    assert turned.sum() > 30
    # Parabolas through samples 5 ms apart are good to (Δt)⁴ x⁗/100, below 1e-6 here.
    np.testing.assert_allclose(data["peak(x)"].values[turned], amplitude[turned], atol=1e-6)
    # A quarter of the period, by the complete elliptic integral.
    from scipy.special import ellipk

    period = 4 * np.sqrt(L / 9.81) * ellipk(v**2 / (4 * 9.81 * L))
    np.testing.assert_allclose(data["turn"].values[turned], period[turned] / 4, atol=1e-6)


def test_the_last_value_is_that_of_the_last_sample_that_is_a_number():
    nan = np.nan
    x = np.array([[1.0, 2, 3], [4, 5, nan], [nan, nan, nan], [6, nan, nan], [7, np.inf, nan]])
    assert np.array_equal(last_valid(x), [3.0, 5.0, nan, 6.0, 7.0], equal_nan=True)
    assert np.array_equal(last_valid(x[:, :1]), [1.0, 4.0, nan, 6.0, 7.0], equal_nan=True)


def test_parameters_that_cannot_be_are_rows_with_their_sentence(tmp_path):
    """With all coordinates given, which are taken as they are, and without."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    whole = dict(zip(m.system.coordinates, m.assemble().q.tolist(), strict=True))
    for start in (whole, {}):
        plan = {"list": {"rod.mass": [1.0, -1.0, 2.0]}, "start": start, "until": 0.1}
        study = zw.study(m, {**plan, "outputs": ["pin.angle"]}, output=tmp_path / f"{len(start)}")
        data = study.run(progress=False).dataset
        assert data["status"].values.tolist() == [FINISHED, REFUSED, FINISHED]
        assert "mass" in str(data["reason"].values[1])


def test_xarray_opens_it_with_what_varies_as_coordinates(whole):
    data = xr.open_zarr(whole.path)
    assert {"L", "start.x_dot", "status", "reason"} <= set(data.coords)
    assert data["x"].dims == ("run", "time")
    assert json.loads(data.attrs["plan"])["until"] == 1.0
    assert set(data.attrs["versions"]) >= {"zwang", "numpy"}
    grid = whole.on_grid
    assert grid["x"].dims == ("L", "start.x_dot", "time")
    assert np.array_equal(grid["x"].values.reshape(-1, 3), data["x"].values)


def test_a_run_is_had_again_bit_for_bit(whole):
    run = whole.run_of(13)
    assert isinstance(run, zw.Run)
    assert run.at(1.0).q[0] == whole.dataset["x"].values[13, -1]
    assert whole.values_of(-1) == {"L": 1.5, "start.x_dot": 2.0}
    with pytest.raises(zw.InputError, match="from 0 to 39"):
        whole.run_of(40)


def test_what_is_missing_is_computed_and_nothing_else(system, whole, tmp_path):
    path = tmp_path / "a.zarr"
    shutil.copytree(whole.path, path)
    shutil.rmtree(path / "record" / "log")
    (path / "record" / "log").mkdir()
    (path / "record" / "done" / "1.json").unlink()  # killed before it was complete
    (path / "x" / "c" / "1" / "0").write_bytes(b"half")
    (path / "peak(x)" / "c" / "2").write_bytes(b"")  # lost with the power
    study = zw.study(system, pendulum_plan(), output=path)
    assert not study.complete
    study.run(workers=1, progress=False)
    assert study.complete
    assert digest(path) == digest(whole.path)
    computed = "".join(f.read_text() for f in (path / "record" / "log").iterdir())
    assert sorted(json.loads(line)["task"] for line in computed.splitlines()) == [1, 2]


def test_another_plan_or_model_is_refused(system, whole, tmp_path):
    before = digest(whole.path)
    with pytest.raises(zw.StoreError, match="another plan"):
        zw.study(system, pendulum_plan(until=1.1), output=whole.path).run(progress=False)
    other = zw.System(
        ["x", "y"], mass=np.eye(2), constraints={"rod": lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L},
        parameters={"m": 1.0, "g": 9.81, "L": 1.0},
    )  # fmt: skip
    with pytest.raises(zw.StoreError, match="another model"):
        zw.study(other, pendulum_plan(), output=whole.path).run(progress=False)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("…")
    with pytest.raises(zw.StoreError, match="something else"):
        zw.study(system, pendulum_plan(), output=tmp_path / "precious").run(progress=False)
    assert digest(whole.path) == before


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('until = "10 s"', 'until = "5 s"', False),
        ("tolerance = 1e-9", "tolerance = 1e-6", False),
        ("[simulation]", '[start]\nhold = { "pin.angle" = 0.5 }\n\n[simulation]', False),
        ("let go from", "dropped from", True),
        ("# A rod that swings on a pin.", "# A rod.", True),
    ],
)
def test_a_model_file_that_changes_between_runs_is_noticed(tmp_path, old, new, same):
    """Whatever the plan takes from it: the end, settings, the start."""
    text = Path(example_path("pendulum")).read_text(encoding="utf-8")
    assert old in text
    model, path = tmp_path / "model.toml", tmp_path / "a.zarr"
    model.write_text(text, encoding="utf-8")
    plan = {"grid": {"rod.mass": [1.0, 2.0]}, "outputs": ["pin.angle"]}
    whole = zw.study(model, plan, output=path).run(progress=False)
    model.write_text(text.replace(old, new), encoding="utf-8")
    again = zw.study(model, plan, output=path)
    if same:
        again.run(progress=False)
    else:
        with pytest.raises(zw.StoreError, match="another model"):
            again.run(progress=False)
    assert zw.open_study(path).digest == whole.digest  # it has its own


def test_one_writer_at_a_time(system, tmp_path):
    study = zw.study(system, pendulum_plan(), output=tmp_path / "a.zarr")
    store = study.store()
    with (
        WriteLock(store.path, store.record),
        pytest.raises(zw.StoreError, match=r"one writer.* run\(\) again"),
    ):
        study.run(progress=False)
    assert study.run(progress=False).complete


def test_a_study_is_opened_again(system, whole):
    assert zw.open_study(whole.path, system).plan.digest == whole.plan.digest
    with pytest.raises(zw.StoreError, match="Python model"):
        zw.open_study(whole.path)
    with pytest.raises(zw.StoreError, match="not there"):
        zw.open_study(whole.path / "nothing")


def test_a_study_of_a_python_mechanism_is_opened_without_it(tmp_path):
    from typer.testing import CliRunner

    from zwang.cli.app import app

    m, path = zw.library.bricard(), tmp_path / "a.zarr"
    plan = {"grid": {"bar1.mass": [1.0, 2.0]}, "until": 0.1, "outputs": ["end(hinge1.angle)"]}
    study = zw.study(m, plan, output=path).run(progress=False)
    for again in (zw.open_study(path), zw.open_study(path, m)):
        assert again.digest == study.digest
        assert again.run_of(1)["hinge1.angle"][-1] == study.run_of(1)["hinge1.angle"][-1]
    table = tmp_path / "a.csv"
    result = CliRunner().invoke(app, ["export", str(path), "-o", str(table)])
    assert result.exit_code == 0, result.output
    assert table.read_text(encoding="utf-8").startswith("run,bar1.mass")


@pytest.mark.parametrize("given", [False, True])
def test_another_model_is_asked_for_and_nothing_is_to_be_removed(tmp_path, given):
    m = zw.library.bricard()
    path = tmp_path / "a.zarr"
    plan = {"grid": {"bar1.mass": [1.0, 2.0]}, "until": 0.1, "outputs": ["end(hinge1.angle)"]}
    study = zw.study(m, plan, output=path).run(progress=False)
    heavier = zw.library.bricard(mass=3.0)
    text = zw.study(heavier, plan).subject.text
    (study.store().record / "model.toml").write_text(text, encoding="utf-8")
    with pytest.raises(zw.StoreError) as caught:
        zw.open_study(path, heavier) if given else zw.open_study(path)
    assert "zw.open_study(path, model" in str(caught.value)
    assert ("another model" if given else "a Python model") in str(caught.value)
    assert "remove" not in str(caught.value)
    with pytest.raises(zw.StoreError, match=r"another plan. Choose another output\.$"):
        zw.study(m, {**plan, "until": 0.2}, output=path).run(progress=False)


def test_a_run_whose_forces_cannot_be_computed_is_a_row_with_its_sentence(
    system, tmp_path, monkeypatch
):
    """Its motion is kept, and the other runs are not touched."""
    of_run = Run.__getitem__

    def refused(run, name):
        if name == "rod.multiplier" and run.parameters["L"] == 1.0:
            raise zw.InconsistentConstraintsError("saved state at t = 0.5", but="is off its rod")
        return of_run(run, name)

    plan = {
        "grid": {"L": [0.8, 1.0, 1.2]},
        "start": {"x": 0.0, "y": "-L", "x_dot": 1.0},
        "until": 1.0,
        "outputs": ["end(x)", "load = peak(rod.multiplier)", "rod.multiplier"],
    }
    before = zw.study(system, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    monkeypatch.setattr(Run, "__getitem__", refused)
    study = zw.study(system, plan, output=tmp_path / "b.zarr").run(workers=1, progress=False)
    data = study.dataset
    assert data["status"].values.tolist() == [FINISHED, FAILED, FINISHED]
    assert list(study.failed) == [1]
    assert study.failed[1].startswith("output rod.multiplier cannot be computed: saved state")
    assert np.array_equal(data["end(x)"], before.dataset["end(x)"])
    for name in ("load", "rod.multiplier"):
        assert np.array_equal(data[name][[0, 2]], before.dataset[name][[0, 2]])
        assert np.isnan(data[name][1])


def test_runs_that_cannot_be_are_rows_with_their_sentence(tmp_path):
    model = Path("examples/four_bar.toml")
    plan = {
        "grid": {"crank_length": [0.45, 0.5, 6.0]},
        "until": 0.2,
        "outputs": ["D.angle", "A.force"],
        "settings": {"tolerance": 1e-6},
    }
    study = zw.study(model, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    data = study.dataset
    assert data["status"].values.tolist() == [0, 0, REFUSED]
    assert list(study.failed) == [2]
    assert "loop of joints A, B, C and D cannot be closed" in study.failed[2]
    assert np.isfinite(data["D.angle"].values[:2]).all()
    assert np.isnan(data["D.angle"].values[2])
    assert data["A.force.x"].attrs["units"] == "N"
    single = zw.read_model(model, values={"crank_length": 0.45}).simulate(
        until=0.2, save=[0.2], tolerance=1e-6
    )
    # The initial state is assembled from other placements: to rounding, not bit for bit.
    np.testing.assert_allclose(data["D.angle"].values[0], single["D.angle"][-1], atol=1e-9)
    # From the folder alone, with the model in it.
    again = zw.open_study(tmp_path / "a.zarr")
    assert again.run_of(1, save=[0.2])["D.angle"][-1] == data["D.angle"].values[1]


def test_settings_vary_and_are_words_of_the_dataset(system, tmp_path):
    plan = {
        "grid": {"settings.integrator": ["order5", "order8"], "settings.tolerance": [1e-4, 1e-10]},
        "start": {"x": 0.6, "y": -0.8},
        "until": 1.0,
        "outputs": ["x"],
    }
    study = zw.study(system, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    data = study.dataset
    assert data["settings.integrator"].values.tolist() == ["order5"] * 2 + ["order8"] * 2
    x, steps = data["x"].values, data["steps"].values
    assert abs(x[1] - x[3]) < 1e-9 < abs(x[0] - x[1])
    assert steps[0] < steps[1]
    assert steps[2] < steps[3]


def test_a_full_disk_loses_nothing(system, whole, tmp_path, monkeypatch):
    path, write, room = tmp_path / "a.zarr", dataset.write_file, [40]

    def full(place, content):
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(place, content)

    monkeypatch.setattr(dataset, "write_file", full)
    study = zw.study(system, pendulum_plan(), output=path)
    with pytest.raises(zw.StoreError, match="No space left"):
        study.run(workers=1, progress=False)
    assert 0 < len(study._opened().missing()) < 3
    room[0] = 10**6
    study.run(workers=1, progress=False)
    assert digest(path) == digest(whole.path)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_files_that_may_not_grow_lose_nothing(system, whole, tmp_path):
    """The operating system refuses a chunk of 384 bytes, and later takes it."""
    import resource

    path = tmp_path / "a.zarr"
    study = zw.study(system, pendulum_plan(), output=path)
    study.store()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        with pytest.raises(zw.StoreError, match="cannot be written: File too large"):
            study.run(workers=1, progress=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(path.rglob("*.part"))
    assert study._opened().missing() == [0, 1, 2]
    study.run(workers=1, progress=False)
    assert digest(path) == digest(whole.path)


def test_a_dataset_that_does_not_fit_is_refused_before(system, tmp_path):
    plan = pendulum_plan()
    plan["grid"] = {"L": {"from": 0.5, "to": 1.5, "count": 1_000_000}, "m": np.arange(1.0, 9000.0)}
    with pytest.raises(zw.StoreError, match="GB are free"):
        zw.study(system, {**plan, "times": 10_000}, output=tmp_path / "a.zarr").run()
    assert not (tmp_path / "a.zarr").exists()


def test_events_of_the_model_are_kept(tmp_path):
    plan = {
        "list": {"start.x": [-0.6, -0.8]},
        "outputs": ["hit = event_time(EVENT)", "hits = event_count(EVENT)", "x"],
    }
    model = zw.read_model("examples/bouncing_pendulum.toml")
    name = next(iter(model.events))
    plan = json.loads(json.dumps(plan).replace("EVENT", name))
    study = zw.study(model, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    run = study.run_of(1)
    times = [e.t for e in run.events if e.name == name]
    assert len(times) > 0
    assert study.dataset["hits"].values[1] == len(times)
    assert study.dataset["hit"].values[1] == times[0]
    assert not study.failed


#: A ram that falls on a stop of great stiffness, beside which it is pushed to its guide.
RAM_ON_STOP = """
[parameters]
k = "1e7 N/m"
[mechanism]
plane = "xy"
gravity = [0, -9.81]
[body.ram]
mass = "10 kg"
shape = { type = "box", size = ["100 mm", "80 mm", "100 mm"] }
position = [0, 0]
[joint.guide]
type = "prismatic"
bodies = ["ground", "ram"]
at = [0, 0]
axis = "y"
[force.stop]
type = "force"
body = "ram"
force = ["k * max(-ram.position[1] - 0.05, 0)", "k * max(-ram.position[1] - 0.05, 0)"]
[simulation]
until = 1
"""


def test_peaks_that_are_shorter_than_samples_are_found(tmp_path):
    """Energy: the largest force of the stop is m g + √((m g)² + 2 m g h k), for 3 ms."""
    path = tmp_path / "ram.toml"
    path.write_text(RAM_ON_STOP)
    plan = {
        "list": {"k": [1e7, 1e8]},
        "outputs": ["stop = max(stop.force.y)", "guide = peak(guide.force.magnitude)"],
    }
    model = zw.read_model(path)
    data = zw.study(model, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False).dataset
    weight = 10.0 * 9.81
    largest = weight + np.sqrt(weight**2 + 2.0 * weight * 0.05 * data["k"].values)
    for name in ("stop", "guide"):
        assert np.allclose(data[name], largest, rtol=1e-3)
    coarse = {**plan, "resolution": 201}
    data = zw.study(model, coarse, output=tmp_path / "b.zarr").run(workers=1, progress=False)
    assert (data.dataset["stop"].values < 0.9 * largest).all()


def test_parabolas_go_through_uneven_samples():
    t = np.array([0.0, 0.1, 0.5, 0.6, 1.0])
    x = 1.0 - (t - 0.42) ** 2
    assert np.isclose(REDUCTIONS["max"].function(x[None], t)[0], 1.0, rtol=1e-12)


def test_no_parabola_passes_a_limit_or_a_jump():
    """Force at its limit of 15 N, reached by a corner, and from there to the other side."""
    t = np.linspace(0.0, 0.6, 7)
    for x in (
        [0.0, 5.0, 15.0, 15.0, -15.0, -14.9, -14.0],
        [0.0, 5.0, 10.0, 15.0, -15.0, -14.9, -14.0],
        [14.0, 14.9, 15.0, -15.0, -15.0, 15.0, 14.0],
    ):
        for sign in (1.0, -1.0):
            found = REDUCTIONS["peak"].function(sign * np.array([x]), t)[0]
            assert found == 15.0, (x, sign)
    smooth = 15.0 - 40.0 * (t - 0.33) ** 2 + 9.0 * (t - 0.33) ** 3
    # The third power bends the parabola by 9 h³/6 about; samples alone are 0.04 lower.
    assert abs(REDUCTIONS["max"].function(smooth[None], t)[0] - 15.0) < 3e-3


def test_events_of_the_call_stop_runs_of_a_mechanism(tmp_path):
    """A ball that falls from several heights stops at the floor, after √(2h/g)."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ball = m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.prismatic("rail", m.ground, ball, at=(0, 0, 0), axis="z")
    floor = {"floor": zw.event("rail.displacement", "stop", at=0.0, direction=-1)}
    heights = [0.5, 1.0, 30.0]
    plan = {
        "list": {"start.rail.displacement": heights},
        "until": 1.0,
        "outputs": ["landed = event_time(floor)"],
    }
    path = tmp_path / "a.zarr"
    study = zw.study(m, plan, output=path, events=floor).run(progress=False)
    expected = [*np.sqrt(2.0 * np.array(heights[:2]) / 9.81), np.nan]
    np.testing.assert_allclose(study.dataset["landed"].values, expected, atol=1e-8)
    assert study.run_of(1).events[0].name == "floor"
    again = zw.open_study(path, m, events=floor)
    assert again.counts()["finished"] == 3
    with pytest.raises(zw.ZwangError):
        zw.open_study(path, m)  # another study, without events
    with pytest.raises(zw.ZwangError, match=r"events=\{"):
        zw.study(m, {**plan, "events": {"floor": "stop"}})
    with pytest.raises(zw.InputError, match="has its own"):
        zw.study(example_path("pendulum"), {"list": {"rod.mass": [1.0]}}, events=floor)


def test_outputs_of_a_run_that_an_event_stops_reach_to_the_stop(tmp_path):
    """A ball that is dropped from h stops at the floor with √(2gh), having fallen for √(2h/g)."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ball = m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.prismatic("rail", m.ground, ball, at=(0, 0, 0), axis="z")
    floor = {"floor": zw.event("rail.displacement", "stop", at=0.0, direction=-1)}
    heights = np.array([0.5, 1.0])
    fall, speed = np.sqrt(2.0 * heights / 9.81), np.sqrt(2.0 * 9.81 * heights)
    wanted = {
        "e": (["e = end(ball.vz)"], -speed),
        "ball.vz": (["ball.vz"], -speed),
        "rail.displacement_rate": (["rail.displacement_rate"], -speed),
        "last": (["last = end(rail.displacement)", "top = max(rail.displacement)"], 0.0 * heights),
        "fastest": (["fastest = peak(rail.displacement_rate)"], speed),
        "lowest": (["lowest = min(ball.z)"], 0.0 * heights),
        "path": (["path = integral(ball.vz)"], -heights),
        "mean": (["mean = mean(ball.vz)"], -heights / fall),
    }
    for k, (name, (outputs, expected)) in enumerate(wanted.items()):
        plan = {
            "list": {"start.rail.displacement": heights},
            "until": 7.0,
            "outputs": outputs,
        }
        study = zw.study(m, plan, output=tmp_path / f"{k}.zarr", events=floor).run(progress=False)
        # The tolerance of the run is 1e-9; samples are 35 ms apart.
        np.testing.assert_allclose(study.dataset[name].values, expected, atol=1e-8, err_msg=name)


def test_a_peak_that_a_limit_holds_is_the_limit():
    """A force that is clipped at 10 has samples of 10 before it falls, and is never above."""
    t = np.linspace(0.0, 1.0, 11)
    x = np.minimum(10.0, 10.0 + 8.0 * np.cos(2.0 * np.pi * t - 2.0))[None]
    assert REDUCTIONS["peak"].function(x, t)[0] == 10.0
    assert REDUCTIONS["min"].function(-x, t)[0] == -10.0


def test_angles_of_one_run_again_have_the_bits_of_the_study(tmp_path: Path) -> None:
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    cart = m.body("cart", mass=1.0, inertia=0.1)
    pole = m.body("pole", inertia=zw.inertia.rod(0.2, 1.0, axis="z"), position=(0, 0, 0.5))
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0, 0))
    plan = {
        "random": {"start.pin.angle": {"uniform": [-0.5, 0.5]}},
        "samples": 6,
        "seed": 3,
        "until": 2.0,
        "outputs": ["pin.angle", "pole.sin"],
    }
    study = zw.study(m, plan, output=tmp_path / "study.zarr").run(progress=False)
    assert np.abs(study.dataset["pin.angle"]).max() > np.pi  # beyond what one state tells
    for name in ("pin.angle", "pole.sin"):
        again = [study.run_of(i)[name][-1] for i in range(6)]
        assert again == study.dataset[name].values.tolist()


SLIDE = """
[constants]
k = "10 N"
T = "1 s"
L = "1 m"
far = "2 * L"
[mechanism]
plane = "xz"
gravity = [0, 0]
[body.cart]
mass = "2 kg"
inertia = 1
[body.driven]
mass = "2 kg"
inertia = 1
position = [0, 1]
[joint.rail]
type = "prismatic"
bodies = ["ground", "cart"]
axis = "x"
[joint.rail2]
type = "prismatic"
bodies = ["ground", "driven"]
at = [0, 1]
axis = "x"
[drive.jack]
of = "rail2.displacement"
value = "far * (t / T)^3"
[force.push]
type = "actuator"
of = "rail.displacement"
effort = "k"
[output.twice]
value = "2 * k"
[event.reached]
function = "rail.displacement"
at = "L"
[simulation]
until = 1
"""


def test_constants_in_laws_outputs_and_events_take_the_values_of_each_run(tmp_path):
    """x = k t²/2m reaches L at √(2mL/k); the driver ends at 2L/T³."""
    path = tmp_path / "slide.toml"
    path.write_text(SLIDE, encoding="utf-8")
    plan = {
        "list": {
            "k": [10.0, 20.0, 10.0, 10.0],
            "L": [1.0, 1.0, 0.5, 1.0],
            "T": [1.0, 1.0, 1.0, 2.0],
        },
        "outputs": [
            "end(rail.displacement)",
            "driven = end(rail2.displacement)",
            "end(twice)",
            "peak(push.effort)",
            "when = event_time(reached)",
        ],
    }
    data = zw.study(path, plan, output=tmp_path / "a.zarr").run(progress=False).dataset
    k, L, T = (data[name].values for name in "kLT")
    np.testing.assert_allclose(data["end(rail.displacement)"], k / 4.0, rtol=1e-8)
    np.testing.assert_allclose(data["driven"], 2.0 * L / T**3, rtol=1e-8)
    np.testing.assert_allclose(data["end(twice)"], 2.0 * k)
    np.testing.assert_allclose(data["peak(push.effort)"], k)
    np.testing.assert_allclose(data["when"], np.sqrt(4.0 * L / k), rtol=1e-8)


def test_where_a_file_uses_its_constants():
    found = constants_in_expressions(SLIDE + '[case.heavy]\nset = { k = "20 N" }\n')
    assert found == {"k", "T", "L", "far"}
    plain = SLIDE.partition("[drive.jack]")[0].replace('mass = "2 kg"', 'mass = "k * T / L"')
    assert constants_in_expressions(plain) == frozenset()


def test_a_stop_between_samples_counts_among_extremes(tmp_path):
    m = zw.Mechanism(plane="xz", gravity=(0, 0))
    cart = m.body("cart", mass=1.0, inertia=1.0, velocity=(1.0, 0.0))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    stop = {"wall": zw.event("rail.displacement", "stop", at=0.777)}
    for more in ({}, {"resolution": 11}):
        plan = {
            "grid": {"cart.mass": [1.0]},
            "until": 2.0,
            "outputs": ["max(rail.displacement)"],
            **more,
        }
        path = tmp_path / f"{len(more)}.zarr"
        study = zw.study(m, plan, output=path, events=stop).run(progress=False)
        np.testing.assert_allclose(study.dataset["max(rail.displacement)"], 0.777, rtol=1e-9)
