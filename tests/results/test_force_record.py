"""Forces that are computed while a run is made: those that it computes when asked, and checked."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pendulums import EVENTS, START, driven, pendulum

import zwang as zw
from zwang import library
from zwang.errors import UnknownNameError
from zwang.integrators.chunk_size import ChunkSize
from zwang.model_files.examples import example_path
from zwang.results import force_record, writer
from zwang.results.determined import determined
from zwang.results.force_record import ForceLayout
from zwang.results.resample import at_times
from zwang.results.store import Store, digest, read_store, sealed
from zwang.results.verify import Verdict
from zwang.results.writer import RunWriter

RECORD = Path("time", "record")
#: Kept forces are those of the same kernels; where a system of functions has so few states that
#: dense matrices serve, rounding differs.
SAME = 1e-12


def three_points():
    """A point on a rod that is stated three times, with a law of its own: least norm, C ≠ 0."""
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda p: [0.0, -p.m * p.g],
        constraints={
            name: zw.position(lambda q, p, k=k: k * (q[0] ** 2 + q[1] ** 2 - p.L**2))
            for name, k in (("rod", 1.0), ("twice", 2.0), ("half", 0.5))
        },
        nonideal={"rod": lambda v: [-0.1 * v[0], -0.1 * v[1]]},
    )


def free_fall():
    return zw.System(coordinates=["x"], mass=lambda: [[1.0]], force=lambda: [-9.81])


def with_motor():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.drive("motor", "pin.angle", lambda t: 0.3 * t * t)
    return m


SUBJECTS = {
    "functions": lambda: (pendulum(), START),
    "dependent rows": lambda: (three_points(), START),
    "no constraint": lambda: (free_fall(), ([1.0], [0.0])),
    "four-bar": lambda: (library.four_bar(), ()),
    "door": lambda: (library.door(), ()),  # redundant: least norm, indeterminate reactions
    "coin": lambda: (library.rolling_coin(), ()),  # nonholonomic
    "by elements": lambda: (library.chain(30), ()),
    "driver": lambda: (with_motor(), ()),
}


def same(x, y):
    size = np.abs(x).max(initial=0.0) + np.abs(y).max(initial=0.0)
    return x.shape == y.shape and np.abs(x - y).max(initial=0.0) <= SAME * max(size, 1e-300)


def require_same_forces(lazily, kept):
    """All that a run can be asked for about forces and energies."""
    assert kept.force_record is not None
    assert lazily.force_record is None
    assert same(lazily.acceleration, kept.acceleration)
    assert same(lazily.multipliers(), kept.multipliers())
    assert same(lazily.constraint_force(), kept.constraint_force())
    assert same(lazily.kinetic_energy, kept.kinetic_energy)
    assert same(lazily.energy, kept.energy)
    for name in lazily.system.constraints:
        assert same(lazily.multipliers(name), kept.multipliers(name))
        assert same(lazily.constraint_force(name), kept.constraint_force(name))
    for joint in kept.force_record.layout.joints:
        for axes in ("world", "body", "joint"):
            one, other = lazily.reaction(joint, axes), kept.reaction(joint, axes)
            assert same(one.force, other.force)
            assert same(one.moment, other.moment)
        assert np.array_equal(one.determinate, other.determinate)


@pytest.mark.parametrize("name", SUBJECTS)
def test_kept_forces_are_those_that_a_run_computes(name, tmp_path, monkeypatch):
    subject, start = SUBJECTS[name]()
    choices = {"until": 0.3, "save": 0.01}
    lazily = subject.simulate(*start, **choices)
    with monkeypatch.context() as patch:
        patch.setattr(force_record, "BATCH", 28)
        in_memory = subject.simulate(*start, **choices, forces=True)
        subject.simulate(*start, **choices, forces=True, store=tmp_path / "run")
    in_memory.save(tmp_path / "saved")
    assert np.array_equal(lazily.q, in_memory.q)
    assert lazily.notes == in_memory.notes
    require_same_forces(lazily, in_memory)
    outcome = zw.verify(tmp_path / "run", subject)
    assert outcome, str(outcome)
    assert outcome.checked["states with forces"] == len(lazily)

    def computed_again(*_, **__):
        raise AssertionError("what is kept is not computed again")

    with monkeypatch.context() as patch:  # what is loaded needs no computation
        patch.setattr("zwang.results.forces._kind_of", computed_again)
        patch.setattr("zwang.results.energies.energies", computed_again)
        for path in (tmp_path / "run", tmp_path / "saved"):
            loaded = zw.load(path, subject)
            assert loaded.energy.shape == loaded.t.shape
            assert loaded.force_record is not None
            for joint in loaded.force_record.layout.joints:
                assert loaded.reaction(joint).force.shape == (len(loaded), 3)
            for constraint in loaded.system.constraints:
                loaded.constraint_force(constraint)
    require_same_forces(lazily, zw.load(tmp_path / "run", subject))
    require_same_forces(lazily, zw.load(tmp_path / "saved", subject))


def in_pieces(system, path, monkeypatch, *, dies_at=None):
    """A run with events that commits whenever it can; it may die at a commit."""
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == dies_at:
            raise KeyboardInterrupt
        commit(self, *arguments)

    choices = {"until": 2.5, "events": EVENTS, "save": 0.05, "forces": True}
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        return system.simulate(*START, **choices, store=path, store_every=0.0)


def test_events_switches_and_resumed_runs(tmp_path, monkeypatch):
    system = pendulum()
    lazily = system.simulate(*START, until=2.5, events=EVENTS, save=0.05)
    assert len(lazily.segments) > 3
    stored = in_pieces(system, tmp_path / "run", monkeypatch)
    assert len(read_store(tmp_path / "run").commits) > 2
    require_same_forces(lazily, stored)
    with pytest.raises(KeyboardInterrupt):
        in_pieces(system, tmp_path / "part", monkeypatch, dies_at=2)
    rows = len(zw.load(tmp_path / "part", system))
    resumed = zw.resume(tmp_path / "part", system, events=EVENTS)
    assert rows < len(resumed) == len(lazily)
    require_same_forces(lazily, resumed)
    assert zw.verify(tmp_path / "part", system)


def test_memory_is_bounded_by_numbers(tmp_path, monkeypatch):
    """States and forces are committed as soon as they are many, however seldom it is asked for."""
    m = library.four_bar()
    width = len(m.system.coordinates) + len(m.system.velocities)
    layout = ForceLayout.of_system(m.system)
    rows = 100
    monkeypatch.setattr(writer, "NUMBERS_IN_MEMORY", rows * (width + layout.width(width)))
    commits = []
    commit = RunWriter.commit

    def counted(self, simulation):
        commits.append(sum(map(len, simulation.history.t)))
        commit(self, simulation)

    monkeypatch.setattr(RunWriter, "commit", counted)
    # Whether it is time is asked before each chunk: few steps in each.
    monkeypatch.setattr(ChunkSize, "advance", lambda _, loop: loop.advance(50))
    run = m.simulate(until=20.0, forces=True, store=tmp_path / "run", store_every=1e9)
    assert sum(commits) == len(run)
    assert len(commits) > 3
    assert max(commits) <= rows + 60


# --- readers --------------------------------------------------------------------------------------


def test_other_tools_read_forces_with_names_and_units(tmp_path):
    xarray = pytest.importorskip("xarray")
    m = library.door()
    run = m.simulate(until=0.2, save=0.05, forces=True, store=tmp_path / "run")
    with xarray.open_zarr(tmp_path / "run") as data:
        assert data.reaction_force.dims == ("time", "joint", "axis")
        assert data.reaction_force.attrs["units"] == "N"
        assert data.reaction_moment.attrs["units"] == "N m"
        assert data.kinetic_energy.attrs["units"] == "J"
        hinge = data.reaction_force.sel(joint="hinge2")
        assert np.array_equal(hinge, run.reaction("hinge2").force)
        assert np.array_equal(hinge.sel(axis="z"), run["hinge2.force.z"])
        assert np.array_equal(data.multiplier.sel(row="hinge1[0]"), run.multipliers("hinge1")[:, 0])
        assert not data.determinate.sel(joint="hinge1").any()  # three hinges on one axis


def test_a_run_without_its_system_has_tables_of_the_times_that_are_saved(tmp_path):
    library.door().simulate(until=0.5, save=0.01, forces=True, store=tmp_path / "run")
    bare = zw.load(tmp_path / "run")
    names = ["door.x", "hinge1.force", "energy"]
    some, whole = bare.to_pandas(names, every=0.1), bare.to_pandas(names)
    assert np.allclose(some.index, 0.1 * np.arange(6), atol=1e-15)
    assert np.array_equal(some, whole.iloc[::10])
    assert some.attrs == whole.attrs
    with pytest.raises(zw.InputError, match=r"state at t = 0\.013 must be integrated"):
        bare.to_pandas(names, every=0.013)


def test_a_run_without_its_system_has_its_forces(tmp_path):
    m = library.door()
    run = m.simulate(until=0.2, save=0.05, forces=True, store=tmp_path / "run")
    bare = zw.load(tmp_path / "run")
    assert bare.system.coordinates == run.system.coordinates  # names alone
    assert np.array_equal(bare.reaction("hinge1").moment, run.reaction("hinge1").moment)
    assert np.array_equal(bare.reaction("hinge1").determinate, run.reaction("hinge1").determinate)
    assert np.array_equal(bare["hinge3.force.magnitude"], run["hinge3.force.magnitude"])
    assert np.array_equal(bare.multipliers("hinge2"), run.multipliers("hinge2"))
    assert np.array_equal(bare["energy"], run.energy)
    assert bare.channels["hinge1.force"].unit == "N"
    without = library.door().simulate(until=0.2, save=0.05, store=tmp_path / "other")
    assert without.force_record is None
    with pytest.raises(zw.StoreError, match="was loaded without the system"):
        zw.load(tmp_path / "other").multipliers("hinge1")


def rubbing(**numbers):
    m = library.bricard()
    m.friction("hinge2", **numbers)
    return m


def two_motors():
    """Two drivers share a torque, which leaves the reaction of the pin alone."""
    m = with_motor()
    m.drive("other", "pin.angle", lambda t: 0.3 * t * t)
    return m


MARKED = {
    "door": library.door,
    "bricard": library.bricard,
    "bricard with viscous friction": lambda: rubbing(viscous=0.1),
    "bricard with dry friction": lambda: rubbing(coefficient=0.1, radius=0.01),
    "four-bar": library.four_bar,
    "two motors": two_motors,
    "functions": three_points,
}


@pytest.mark.parametrize("name", MARKED)
@pytest.mark.parametrize("afterwards", [False, True])
def test_a_run_without_its_system_has_the_marks_of_what_is_indeterminate(
    name, tmp_path, afterwards
):
    m = MARKED[name]()
    start = START if name == "functions" else ()
    if afterwards:
        run = m.simulate(*start, until=0.1, save=0.05, forces=True)
        run.save(tmp_path / "run")
    else:
        run = m.simulate(*start, until=0.1, save=0.05, forces=True, store=tmp_path / "run")
    bare, whole = zw.load(tmp_path / "run"), zw.load(tmp_path / "run", m)
    found = {}
    for channel in bare.channels:
        if channel not in run.channels:  # multipliers of joints are told without the system alone
            joint = channel.rpartition("[")[0] or channel.removesuffix(".multiplier")
            assert bare.channels.determinate(channel) == run.channels.statuses().get(joint, True)
            continue
        found[channel] = bare.channels.determinate(channel)
        assert found[channel] == determined(bare, channel)
        assert run.channels.determinate(channel) == whole.channels.determinate(channel)
        # Force or moment alone may be determinate, which it takes the system to tell.
        assert found[channel] <= run.channels.determinate(channel)
        joint = run.channels[channel].joint
        assert found[channel] == (not joint or run.channels.statuses().get(joint, True))
    assert all(found.values()) == (name == "four-bar")
    bare.to_csv(tmp_path / "bare.csv", list(found), units=True)
    heads = (tmp_path / "bare.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert any("(indeterminate)" in head for head in heads) == (name != "four-bar")
    record = run.force_record
    if record is not None and record.layout.joints and name != "four-bar":
        joint = record.layout.joints[0]
        assert "determinate" in record
        assert np.array_equal(bare.reaction(joint).determinate, run.reaction(joint).determinate)
        assert "determinate" in str(bare.reaction(joint))


def test_the_command_line_marks_what_is_indeterminate_without_the_model(tmp_path):
    from typer.testing import CliRunner

    from zwang.cli.app import app

    library.bricard().simulate(until=0.1, save=0.05, forces=True, store=tmp_path / "run")
    table = tmp_path / "table.csv"
    given = ["export", str(tmp_path / "run"), "hinge1.force", "--units", "-o", str(table)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert "hinge1.force.x [N] (indeterminate)" in table.read_text(encoding="utf-8")


def test_kept_determinacy_with_friction_is_that_of_the_constraints():
    """By one kernel, and by the passport of each state."""
    m = rubbing(coefficient=0.1, radius=0.01)
    run = m.simulate(until=0.1, save=0.05, forces=True)
    for name in run.force_record.layout.joints:
        told = [
            str(m.system.passport(q, v, t).groups[name].status) == "determinate"
            for q, v, t in zip(run.q, run.v, run.t, strict=True)
        ]
        assert run.reaction(name).determinate.tolist() == told


def test_viscous_friction_depends_on_no_reaction():
    run = rubbing(viscous=0.1).simulate(until=0.1, save=0.05)
    torque, rate = run["hinge2.friction_torque"], run["hinge2.angle_rate"]
    np.testing.assert_allclose(torque, -0.1 * rate, rtol=0, atol=1e-15)
    assert run.channels.determinate("hinge2.friction_torque")
    dry = rubbing(coefficient=0.1, radius=0.01).simulate(until=0.1, save=0.05)
    assert not dry.channels.determinate("hinge2.friction_torque")


def test_other_states_have_other_forces():
    run = library.four_bar().simulate(until=0.5, save=0.1, forces=True)
    between = at_times(run, np.array([0.05, 0.15]))
    assert between.force_record is None
    assert between.reaction("A").force.shape == (2, 3)


# --- edits ----------------------------------------------------------------------------------------


def edit(path, system, name, change):
    """Change an array of a store and write all its hashes anew."""
    import zarr

    stored = read_store(path)
    arrays = {key: stored.read(key) for key in stored.commits[0]["sha256"]}
    change(arrays[name])
    group: Any = zarr.open_group(path, mode="r+", use_consolidated=False)
    group[name][:] = arrays[name]
    previous = digest((path / RECORD / "header.json").read_bytes())
    for k, commit in enumerate(stored.commits):
        rows = slice(commit["first"], commit["last"])
        hashes = {key: digest(values[rows]) for key, values in arrays.items()}
        content = sealed({**commit, "sha256": hashes, "previous": previous})
        (path / RECORD / f"commit-{k:06d}.json").write_bytes(content)
        previous = digest(content)
    return zw.verify(path, system)


@pytest.fixture(scope="module")
def stored_door(tmp_path_factory):
    m, path = library.door(), tmp_path_factory.mktemp("door") / "run"
    m.simulate(until=0.2, save=0.02, forces=True, store=path)
    return m, path


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("acceleration", "equations of motion"),
        ("multiplier", "multipliers"),
        ("constraint_force", "multipliers"),
        ("reaction_force", "reactions"),
        ("reaction_moment", "reactions"),
        ("kinetic_energy", "energies"),
        ("potential_energy", "energies"),
    ],
)
def test_edited_forces_are_found_even_with_new_hashes(stored_door, tmp_path, name, finding):
    m, path = stored_door
    shutil.copytree(path, tmp_path / "run")

    def change(array):
        array[7] += 1e-5 * (1.0 + np.abs(array[7]))

    outcome = edit(tmp_path / "run", m, name, change)
    assert outcome.verdict in (Verdict.NO_MOTION, Verdict.INACCURATE)
    assert outcome.figures[finding] > 1.0
    assert "at t = 0.14 s" in str(outcome)
    assert "kept" in str(outcome)


def test_an_edited_determinacy_is_found(stored_door, tmp_path):
    m, path = stored_door
    shutil.copytree(path, tmp_path / "run")

    def change(array):
        array[7] = 1 - array[7]

    outcome = edit(tmp_path / "run", m, "determinate", change)
    assert outcome.verdict is Verdict.NO_MOTION, str(outcome)
    assert "at t = 0.14 s the kept determinacy" in str(outcome)


@pytest.mark.parametrize("name", ["multiplier", "reaction_force", "kinetic_energy"])
def test_forces_that_are_no_numbers_are_found(stored_door, tmp_path, name):
    """Whatever is right at the states after them."""
    m, path = stored_door
    shutil.copytree(path, tmp_path / "run")

    def change(array):
        array[7] = np.nan

    outcome = edit(tmp_path / "run", m, name, change)
    assert outcome.verdict is Verdict.NO_MOTION
    assert "at t = 0.14 s" in str(outcome)


def test_multipliers_must_be_those_of_least_norm(tmp_path):
    """An edit along a dependency changes no force: only the norm of the multipliers shows it."""
    system = three_points()
    run = system.simulate(*START, until=0.3, save=0.02, forces=True, store=tmp_path / "run")
    dependency = np.array([2.0, -1.0, 0.0])  # 2 rod − twice

    def change(array):
        array[7] += 1e-3 * np.abs(run.multipliers()[7]).max() * dependency

    outcome = edit(tmp_path / "run", system, "multiplier", change)
    assert "least norm" in str(outcome)
    assert outcome.figures["equations of motion"] < 1.0


def test_damaged_forces_are_found(tmp_path):
    m = library.four_bar()
    m.simulate(until=0.2, save=0.02, forces=True, store=tmp_path / "run")
    file = tmp_path / "run" / "reaction_force" / "c" / "0" / "0" / "0"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    outcome = zw.verify(tmp_path / "run", m)
    assert outcome.verdict is Verdict.DAMAGED
    assert "reaction_force" in str(outcome)


# --- files, commands, ensembles -------------------------------------------------------------------


def test_model_files_and_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from zwang.cli.app import app

    text = example_path("pendulum").read_text(encoding="utf-8")
    file, asked = tmp_path / "plain.toml", tmp_path / "asked.toml"
    file.write_text(text.replace("10 s", "0.2 s"), encoding="utf-8")
    asked.write_text(text.replace("10 s", "0.2 s") + "forces = true\n", encoding="utf-8")
    assert zw.read_model(asked).simulate().force_record is not None
    assert zw.read_model(asked).simulate(forces=False).force_record is None
    folder = tmp_path
    for k, (path, more) in enumerate(((file, []), (file, ["--forces"]), (asked, []))):
        folder = tmp_path / f"run{k}"
        result = CliRunner().invoke(app, ["run", str(path), "-o", str(folder), *more])
        assert result.exit_code == 0, result.output
        assert (zw.load(folder).force_record is not None) is (k > 0)
    result = CliRunner().invoke(app, ["run", str(file), "-o", str(folder), "--resume", "--forces"])
    assert result.exit_code == 1
    assert "--forces was given too" in " ".join(result.output.split())


def test_refusals():
    wrong: Any = "all"
    with pytest.raises(zw.InputError, match="True or False"):
        pendulum().simulate(*START, until=0.1, forces=wrong)
    with pytest.raises(zw.InputError, match="True or False"):
        pendulum().simulate_many(np.array([START[0]] * 2), START[1], until=0.1, forces=wrong)


def test_states_without_forces_are_no_numbers_and_a_note(monkeypatch):
    """Where forces cannot be computed the motion is kept, and the run says so."""
    compute = force_record.compute_part

    def failing(run, layout, into):
        if run.t[0] > 0.25:
            raise zw.InputError("friction", must="have a reaction", but="has none")
        compute(run, layout, into)

    monkeypatch.setattr(force_record, "compute_part", failing)
    monkeypatch.setattr(force_record, "BATCH", 5)
    run = library.four_bar().simulate(until=0.5, save=0.05, forces=True)
    assert np.isfinite(run.acceleration[:5]).all()
    assert np.isnan(run.reaction("A").force[10]).all()
    assert any("from t = 0.5 s on forces could not be computed" in note for note in run.notes)


def test_ensembles_have_forces_by_name_over_members_and_times():
    m = library.four_bar()
    speeds = np.linspace(0.5, 1.5, 10)
    start = m.assemble()
    V = speeds[:, None] * start.v
    choices = {"until": 0.3, "save": 0.1, "integrator": "order8"}
    for forces in (False, True):
        runs = m.simulate_many(start.q, V, **choices, forces=forces, threads=2)
        assert all((run.force_record is not None) is forces for run in runs)
        one = m.simulate(start.q, V[3], **choices).reaction("A")
        found = runs.reaction("A")
        assert found.force.shape == found.moment.shape == (10, 4, 3)
        assert same(found.force[3], one.force)
        assert np.array_equal(found.determinate[3], one.determinate)
        assert same(runs["A.force"][3], one.force)
        assert runs["energy"].shape == runs.t.shape == (10, 4)
        assert runs.multipliers("A").shape == (10, 4, 2)


def test_an_ensemble_has_no_numbers_where_a_run_has_no_states():
    system = driven()
    q = np.array([START[0], [3.0, 0.0], START[0]])  # the second is far from its constraint
    runs = system.simulate_many(q, START[1], until=0.3, save=0.1, forces=True)
    assert not runs[1].finished
    found = runs["rod.multiplier"]
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()
    with pytest.raises(UnknownNameError):
        runs["rope.multiplier"]


def test_layout_survives_storage():
    layout = ForceLayout.of_system(library.door().system)
    assert ForceLayout.of(json.loads(json.dumps(layout.to_dict()))) == layout


def test_forces_of_a_structure_at_rest_are_verified(tmp_path):
    """Its accelerations are rounding: of what gravity alone would give."""
    m = zw.Mechanism(gravity=(0.3, 0.2, -9.81))
    plate = m.body("plate", inertia=zw.inertia.box(20.0, (1.0, 1.0, 0.1)))
    for k, at in enumerate([(0.5, 0.4, 0.1), (0.5, -0.6, 0), (-0.5, 0.5, 0), (-0.3, -0.5, 0.2)]):
        m.spherical(f"leg{k}", m.ground, plate, at=at)
    m.simulate(until=0.2, save=0.02, forces=True, store=tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", m)
    assert outcome, str(outcome)
