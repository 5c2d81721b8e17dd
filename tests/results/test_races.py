"""Several processes and threads that write one store: one goes on, the others are told."""

import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pendulums import LONG, START, pendulum

import zwang as zw
from zwang.results.store import Store, lock_store

SYSTEM = pendulum()
PROGRAM = Path(__file__).with_name("pendulums.py")
FIRST_COMMIT = Path("time", "record", "commit-000000.json")


@pytest.fixture(scope="module")
def whole():
    return SYSTEM.simulate(*START, until=LONG["until"])


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def outcome(child):
    rest, _ = child.communicate(timeout=300)
    return rest.strip().splitlines()[-1]


def race(path, seed, whole):
    """A run that is killed or goes on, and three resumers at once; who came through."""
    chance = random.Random(seed)
    writer = start(path)
    assert writer.stdout.readline() == "ready\n"
    resumers = [start(path, "resume") for _ in range(3)]
    for child in resumers:
        assert child.stdout.readline() == "ready\n"
    while writer.poll() is None and not (path / FIRST_COMMIT).exists():
        time.sleep(0.001)
    time.sleep(chance.uniform(0.0, 0.2))
    killed = seed % 2 == 0
    if killed:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    path.with_name(f"{path.name}-go").touch()
    told = [outcome(child) for child in resumers]
    if not killed:
        assert outcome(writer) == "done"
    assert all(x == "done" or "is writing it" in x for x in told), told
    if killed:
        assert "done" in told
    found = zw.load(path, SYSTEM)
    if not found.finished:
        found = zw.resume(path, SYSTEM)
    for name in ("t", "q", "v"):
        assert getattr(found, name).tobytes() == getattr(whole, name).tobytes()
    assert found.counts == whole.counts
    return told


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_of_several_resumers_one_goes_on_and_nothing_is_lost(tmp_path, whole):
    race(tmp_path / "run", 0, whole)


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_fifty_races_of_resumers(tmp_path, whole):
    refused = 0
    for seed in range(50):
        told = race(tmp_path / f"run{seed}", seed, whole)
        refused += sum("is writing it" in x for x in told)
    assert refused >= 25, "they hardly ever met"
    print(f"50 races, {refused} of 150 resumers refused, nothing lost")


def test_a_run_that_is_being_written_is_not_resumed(tmp_path):
    """In one process: the lock is held by an open file."""
    path, errors = tmp_path / "run", []

    def resume(_):
        if not errors:
            try:
                zw.resume(path, SYSTEM)
            except zw.StoreError as error:
                errors.append(str(error))

    run = SYSTEM.simulate(*START, until=100.0, store=path, store_every=0.0, progress=resume)
    assert "is writing it" in errors[0]
    assert run.finished
    assert zw.resume(path, SYSTEM).finished
    assert zw.verify(path, SYSTEM)


def test_readers_need_no_lock(tmp_path):
    path = tmp_path / "run"
    run = SYSTEM.simulate(*START, until=2.0)
    run.save(path)
    with lock_store(path):
        assert zw.load(path, SYSTEM).q.tobytes() == run.q.tobytes()
        assert zw.verify(path, SYSTEM)


def test_a_run_that_fails_lets_go_of_its_store(tmp_path, monkeypatch):
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == 1:
            raise KeyboardInterrupt
        commit(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt) as caught:
            SYSTEM.simulate(*START, until=5.0, store=tmp_path / "run", store_every=0.0)
    assert zw.resume(tmp_path / "run", SYSTEM).finished
    assert caught.traceback  # which holds the store still


def test_of_several_that_make_a_store_at_one_path_one_does(tmp_path):
    path, outcomes, ready = tmp_path / "run", [], threading.Barrier(4)
    run = SYSTEM.simulate(*START, until=2.0)

    def save():
        ready.wait()
        try:
            run.save(path)
        except (zw.InputError, zw.StoreError) as error:
            outcomes.append(str(error))
        else:
            outcomes.append("saved")

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("saved") == 1
    refused = "must not exist yet, but does", "is writing it"
    assert sum(any(words in x for words in refused) for x in outcomes) == 3, outcomes
    assert zw.verify(path, SYSTEM)
