"""Runs on disk: what is written comes back, and what goes wrong is told."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from pendulums import EVENTS, START, driven, pendulum

import zwang as zw
from zwang import DamageError, StoreError
from zwang.results import store as storage
from zwang.results.lock import WriteLock
from zwang.results.store import Store, read_store
from zwang.results.verify import Verdict

RECORD = Path("time", "record")


@pytest.fixture(scope="module")
def system():
    return pendulum()


@pytest.fixture(scope="module")
def run(system):
    return system.simulate(*START, until=5.0)


def test_a_saved_run_comes_back(system, run, tmp_path):
    run.save(tmp_path / "run")
    back = zw.load(tmp_path / "run", system)
    for name in ("t", "q", "v", "energy"):
        assert getattr(back, name).tobytes() == getattr(run, name).tobytes()
    assert back.status == run.status
    assert back.counts == run.counts
    assert back.settings == run.settings
    assert back.parameters == run.parameters
    assert back.at(1.234).q.tobytes() == run.at(1.234).q.tobytes()


def test_storing_does_not_change_the_run(system, run, tmp_path):
    stored = system.simulate(*START, until=5.0, store=tmp_path / "run")
    assert stored.q.tobytes() == run.q.tobytes()
    assert stored.counts == run.counts


def test_events_rank_changes_and_segments_come_back(system, tmp_path):
    run = system.simulate(*START, until=4.0, events=EVENTS)
    run.save(tmp_path / "run")
    back = zw.load(tmp_path / "run", system)
    assert len(run.events) > 5
    assert [(e.name, e.t, e.v_after.tolist()) for e in back.events] == [
        (e.name, e.t, e.v_after.tolist()) for e in run.events
    ]
    assert [(s.first, s.last, s.parameters) for s in back.segments] == [
        (s.first, s.last, s.parameters) for s in run.segments
    ]
    assert back.energy.tobytes() == run.energy.tobytes()


def test_xarray_opens_it_with_names(run, tmp_path):
    xr = pytest.importorskip("xarray")
    run.save(tmp_path / "run")
    data = xr.open_zarr(tmp_path / "run")
    assert data.q.sel(coordinate="y").values.tobytes() == run["y"].copy().tobytes()
    assert data.v.sel(velocity="x_dot").values.tobytes() == run["x_dot"].copy().tobytes()
    assert data.time.values.tobytes() == run.t.tobytes()
    assert data.attrs["parameters"]["L"] == 1.0
    assert data.attrs["settings"]["tolerance"] == 1e-9
    assert {"zwang", "numpy", "casadi", "llvmlite"} < set(data.attrs["versions"])


def test_without_its_system_a_run_has_states_and_names_alone(run, tmp_path):
    run.save(tmp_path / "run")
    back = zw.load(tmp_path / "run")
    assert back["x_dot"].tobytes() == run["x_dot"].tobytes()
    with pytest.raises(
        StoreError,
        match=r"was loaded without the system that made it, and what is.*zw.load\(path, system\)",
    ):
        back.constraint_force("rod")
    with pytest.raises(
        zw.InputError,
        match=r"state at t = 1 must be integrated from the.*but the run was loaded without it",
    ):
        back.at(1.0)


def test_another_system_is_refused(run, tmp_path):
    run.save(tmp_path / "run")
    with pytest.raises(zw.InputError, match="differs in its expressions"):
        zw.load(tmp_path / "run", driven())


def test_a_path_in_use_is_refused(system, run, tmp_path):
    (tmp_path / "thesis.txt").write_text("all of it")
    for path in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(zw.InputError, match=r"must not exist yet.*but does"):
            run.save(path)
    assert (tmp_path / "thesis.txt").read_text() == "all of it"


def begun(path, *, with_arrays):
    """What a process leaves that is killed before the header of its store."""
    record = path / RECORD
    record.mkdir(parents=True)
    (record / "lock").write_text("process 1 on a machine")
    if with_arrays:
        (record / "times.npy").write_bytes(b"part of it")
        (record / "header.part").write_bytes(b"{")
        (path / "zarr.json").write_text("{}")
        (path / "q" / "c").mkdir(parents=True)


@pytest.mark.parametrize("with_arrays", [False, True])
def test_a_store_killed_before_its_header_is_begun_anew(system, run, with_arrays, tmp_path):
    begun(tmp_path / "run", with_arrays=with_arrays)
    for call in (zw.load, zw.resume):
        with pytest.raises(StoreError, match=r"no record of a run.*begins it anew"):
            call(tmp_path / "run", system)
    made = system.simulate(*START, until=1.0, store=tmp_path / "run")
    assert len(zw.load(tmp_path / "run", system)) == len(made)
    assert zw.verify(tmp_path / "run", system)


def test_a_store_that_is_begun_by_another_process_is_left_to_it(system, tmp_path):
    begun(tmp_path / "run", with_arrays=True)
    with (
        WriteLock(tmp_path / "run", tmp_path / "run" / RECORD),
        pytest.raises(StoreError, match=r"one writer at a time.*is writing it"),
    ):
        system.simulate(*START, until=1.0, store=tmp_path / "run")
    assert (tmp_path / "run" / RECORD / "times.npy").exists()


@pytest.mark.parametrize("extra", ["thesis.txt", "time/record/commit-000000.json"])
def test_more_than_a_begun_store_is_not_taken_over(system, extra, tmp_path):
    begun(tmp_path / "run", with_arrays=True)
    (tmp_path / "run" / extra).write_text("all of it")
    with pytest.raises(zw.InputError, match=r"must not exist yet.*but does"):
        system.simulate(*START, until=1.0, store=tmp_path / "run")
    assert (tmp_path / "run" / extra).read_text() == "all of it"


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(StoreError, match="no record of a run"):
        zw.load(tmp_path)


def test_an_unwritable_folder_is_told_before_the_run(system, tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.mkdir", refused)  # a real folder would let the superuser pass
    with pytest.raises(StoreError, match="cannot be written: Permission denied"):
        system.simulate(*START, until=5.0, store=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_path_below_a_file_is_told_before_the_run(system, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        system.simulate(*START, until=5.0, store=tmp_path / "file" / "run")


def test_a_full_disk_loses_nothing(system, tmp_path, monkeypatch):
    whole = system.simulate(*START, until=400.0, integrator="order8")
    write = storage._write

    def full(path, content):
        if path.name == "commit-000002.json":
            path.with_suffix(".part").write_bytes(content[:10])
            raise OSError(28, "No space left on device")
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "_write", full)
        with pytest.raises(StoreError, match="No space left on device") as caught:
            system.simulate(
                *START, until=400.0, integrator="order8", store=tmp_path / "run", store_every=0.0
            )
    kept = caught.value.run
    rows = len(kept)
    assert 1 < rows <= len(whole)
    assert kept.q.tobytes() == whole.q[:rows].tobytes()
    committed = zw.load(tmp_path / "run", system)
    assert "interrupted" in committed.status
    assert 0 < len(committed) < rows
    assert committed.q.tobytes() == whole.q[: len(committed)].tobytes()
    resumed = zw.resume(tmp_path / "run", system)
    assert resumed.q.tobytes() == whole.q.tobytes()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_file_the_system_will_not_let_grow_loses_nothing(system, tmp_path):
    """As with a full disk, but the refusal comes from the system, within the arrays."""
    import resource

    whole = system.simulate(*START, until=1000.0, integrator="order8")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, limits[1]))
    try:
        with pytest.raises(StoreError, match="cannot be written: File too large") as caught:
            system.simulate(
                *START, until=1000.0, integrator="order8", store=tmp_path / "run", store_every=0.0
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    kept = caught.value.run
    assert kept.q.tobytes() == whole.q[: len(kept)].tobytes()
    committed = zw.load(tmp_path / "run", system)
    assert 0 < len(committed) < len(kept) <= len(whole)
    assert zw.resume(tmp_path / "run", system).q.tobytes() == whole.q.tobytes()


def stored_in_chunks(system, path):
    return system.simulate(*START, until=400.0, integrator="order8", store=path, store_every=0.0)


def files_of(path):
    return sorted(f for f in path.rglob("*") if f.is_file())


def test_damage_anywhere_is_found(system, tmp_path):
    """Each file that counts is cut short, then has a byte changed."""
    path = tmp_path / "run"
    stored_in_chunks(system, path)
    # Zarr's description of the arrays and labels are not ours to check, nor is an old state.
    names = [f for f in files_of(path) if "c" in f.relative_to(path).parts or "commit" in f.name]
    names = [f for f in names if f.relative_to(path).parts[0] not in ("coordinate", "velocity")]
    assert len(names) > 5
    for file in names:
        content = file.read_bytes()
        middle = len(content) // 2
        for bad in (content[:middle], content[:middle] + b"\x07" + content[middle + 1 :]):
            file.write_bytes(bad)
            with pytest.raises(DamageError):
                zw.load(path)
        file.write_bytes(content)
    zw.load(path)


def test_chunks_before_the_damage_can_be_read(system, tmp_path):
    path = tmp_path / "run"
    whole = stored_in_chunks(system, path).q
    commits = sorted((path / RECORD).glob("commit-*.json"))
    assert len(commits) >= 3
    text = commits[2].read_text().replace('"first"', '"prime"')
    commits[2].write_text(text)
    with pytest.raises(DamageError, match=r"chunk 2.*sound_part") as caught:
        zw.load(path, system)
    part = zw.load(path, system, sound_part=True)
    assert len(part) == caught.value.sound_rows > 0
    assert part.q.tobytes() == whole[: len(part)].tobytes()


@pytest.mark.parametrize("states", [1, 2])
def test_damaged_memory_of_the_loop_is_not_gone_on_from(system, tmp_path, monkeypatch, states):
    """Of two memories the one before is taken; without either the run cannot go on."""
    path = tmp_path / "run"
    whole = system.simulate(*START, until=400.0, integrator="order8")
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == 2:
            raise KeyboardInterrupt
        commit(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            stored_in_chunks(system, path)
    kept = sorted((path / RECORD).glob("state-*.npz"))
    assert len(kept) == 2
    for state in kept[2 - states :]:
        content = bytearray(state.read_bytes())
        content[len(content) // 2] ^= 1
        state.write_bytes(content)
    outcome = zw.verify(path, system)
    assert outcome.verdict is Verdict.DAMAGED
    assert "state after chunk 1 is not what was written" in str(outcome)
    rows = len(zw.load(path, system))  # states that were saved can be read
    if states == 2:
        with pytest.raises(DamageError, match="state after chunk 1"):
            zw.resume(path, system)
        return
    resumed = zw.resume(path, system)
    assert resumed.q.tobytes() == whole.q.tobytes()
    assert len(resumed) > rows
    assert "gone on from chunk 0" in resumed.notes[-1]
    assert zw.verify(path, system)


def test_the_last_commit_of_a_finished_run_is_missed(system, tmp_path):
    path = tmp_path / "run"
    whole = stored_in_chunks(system, path)
    commits = sorted((path / RECORD).glob("commit-*.json"))
    commits[-1].unlink()
    outcome = zw.verify(path, system)
    assert outcome.verdict is Verdict.DAMAGED
    assert f"{len(commits) - 1} chunks, and {len(commits)} were committed" in str(outcome)
    with pytest.raises(DamageError, match="were committed"):
        zw.load(path, system)
    resumed = zw.resume(path, system)  # the memory before it is still there
    assert resumed.q.tobytes() == whole.q.tobytes()
    assert zw.verify(path, system)


def test_the_last_commit_of_an_interrupted_run_is_missed(system, tmp_path, monkeypatch):
    path, commit = tmp_path / "run", Store.commit
    whole = system.simulate(*START, until=400.0, integrator="order8")

    def dying(self, *arguments):
        if self._commits == 2:
            raise KeyboardInterrupt
        commit(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            stored_in_chunks(system, path)
    (path / RECORD / "commit-000001.json").unlink()
    assert "1 chunks, and 2 were committed" in str(zw.verify(path, system))
    assert zw.resume(path, system).q.tobytes() == whole.q.tobytes()


def test_other_tools_are_told_of_the_end_at_once_or_not_at_all(system, tmp_path, monkeypatch):
    """A kill while attributes are written leaves none of them, or all."""
    import zarr

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(zarr.Group, "update_attributes", killed)
        patch.setattr(zarr, "consolidate_metadata", killed)
        with pytest.raises(KeyboardInterrupt):
            stored_in_chunks(system, tmp_path / "run")
    assert read_store(tmp_path / "run").closed
    assert zw.verify(tmp_path / "run", system)


def test_a_run_killed_before_other_tools_were_told_of_its_end_is_told_of(
    system, tmp_path, monkeypatch
):
    def killed(self, attributes):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "close", killed)
        with pytest.raises(KeyboardInterrupt):
            stored_in_chunks(system, tmp_path / "run")
    assert not read_store(tmp_path / "run").closed
    assert zw.resume(tmp_path / "run", system).finished
    assert read_store(tmp_path / "run").closed
    assert zw.verify(tmp_path / "run", system)


def test_other_versions_are_refused_with_their_names(system, tmp_path, monkeypatch):
    path = tmp_path / "run"
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == 2:
            raise KeyboardInterrupt
        commit(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            stored_in_chunks(system, path)
    others = dict.fromkeys(("numpy", "casadi", "llvmlite"), "0.0.1")
    monkeypatch.setattr("zwang.results.model_digest._packages", lambda: others)
    with pytest.raises(
        StoreError,
        match=r"same versions, to give the same bits.*but others are installed \(numpy",
    ):
        zw.resume(path, system)
    zw.load(path, system)  # reading is not tied to versions


def test_a_run_saved_as_a_whole_has_nothing_to_resume(system, run, tmp_path):
    run.save(tmp_path / "run")
    assert zw.resume(tmp_path / "run", system).q.tobytes() == run.q.tobytes()


def test_the_marker_of_a_commit_comes_last(system, tmp_path):
    stored_in_chunks(system, tmp_path / "run")
    record = tmp_path / "run" / RECORD
    assert not list(record.glob("*.part"))
    stored = read_store(tmp_path / "run")
    firsts = [json.loads(f.read_text())["first"] for f in sorted(record.glob("commit-*.json"))]
    assert firsts == [c["first"] for c in stored.commits]
    assert np.all(np.diff(firsts) >= 0)
    assert len(list(record.glob("state-*.npz"))) <= 2
