"""An interrupted run goes on to the same bits."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from pendulums import CASES, EVENTS, LONG, START, pendulum

import zwang as zw
from zwang.results.store import Store, Stored

SYSTEM = pendulum()


def small_chunks(monkeypatch):
    """At most 200 steps and 64 rows at a stretch, so that short runs have many chunks."""
    limits = {"FIRST_STEPS": 200, "FIRST_ENTRIES": 0, "GROWTH": 1.0}
    limits |= {"SMALLEST_ROWS": 64, "LARGEST_BUFFER": 4 * 64}
    for name, value in limits.items():
        monkeypatch.setattr(f"zwang.integrators.chunk_size.{name}", value)


def same_bits(run, other):
    for name in ("t", "q", "v"):
        assert getattr(run, name).tobytes() == getattr(other, name).tobytes()
    assert run.counts == other.counts
    assert run.status == other.status
    assert [(e.name, e.t, e.q.tobytes(), e.v_after.tobytes()) for e in run.events] == [
        (e.name, e.t, e.q.tobytes(), e.v_after.tobytes()) for e in other.events
    ]
    assert [(s.first, s.last, s.parameters) for s in run.segments] == [
        (s.first, s.last, s.parameters) for s in other.segments
    ]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_a_run_that_dies_before_a_commit_goes_on_to_the_same_bits(
    case, chunk, tmp_path, monkeypatch
):
    choices, events = CASES[case]
    whole = SYSTEM.simulate(*START, **choices, events=events)
    small_chunks(monkeypatch)
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == chunk:
            # Rows reach the arrays, the commit does not.
            self._append("time", arguments[0][0])
            raise KeyboardInterrupt
        commit(self, *arguments)

    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            SYSTEM.simulate(*START, **choices, events=events, store=path, store_every=0.0)
    assert len(zw.load(path)) < len(whole)
    resumed = zw.resume(path, SYSTEM, events=events)
    same_bits(resumed, whole)
    same_bits(zw.load(path, SYSTEM), whole)


def at(count):
    """A function for `progress` that presses Ctrl-C when it is called for the count-th time."""
    calls = itertools.count(1)

    def press(_):
        if next(calls) == count:
            signal.raise_signal(signal.SIGINT)

    return press


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_keeps_and_stores_everything(case, tmp_path, monkeypatch):
    choices, events = CASES[case]
    whole = SYSTEM.simulate(*START, **choices, events=events)
    small_chunks(monkeypatch)
    path = tmp_path / "run"
    part = SYSTEM.simulate(*START, **choices, events=events, store=path, progress=at(3))
    assert part.status.startswith("stopped by the user at t = ")
    assert f"zw.resume({str(path)!r}, system)" in part.status
    assert not part.finished
    assert 0 < len(part) < len(whole)
    assert part.q.tobytes() == whole.q[: len(part)].tobytes()
    assert part.status == zw.load(path).status
    again = zw.resume(path, SYSTEM, events=events, progress=at(2))
    assert "stopped by the user" in again.status
    assert len(again) > len(part)
    same_bits(zw.resume(path, SYSTEM, events=events), whole)


def test_other_events_are_refused(tmp_path, monkeypatch):
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == 1:
            raise KeyboardInterrupt
        commit(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            SYSTEM.simulate(*START, until=5.0, events=EVENTS, store=tmp_path / "run")
    with pytest.raises(
        zw.InputError,
        match=r"must be the same as when it was made \(low, seen,.*but differ in low, seen, wall",
    ):
        zw.resume(tmp_path / "run", SYSTEM)
    softer = {**EVENTS, "wall": zw.event(lambda q: q[0] + 0.5, zw.bounce(0.8), direction=-1)}
    with pytest.raises(
        zw.InputError,
        match=r"must be the same as when it was made \(low, seen,.*but differ in wall",
    ):
        zw.resume(tmp_path / "run", SYSTEM, events=softer)


def test_the_memory_of_another_version_is_refused(tmp_path, monkeypatch):
    """A loop that remembers one count more than the one that stored the run."""
    small_chunks(monkeypatch)
    SYSTEM.simulate(*START, until=100.0, store=tmp_path / "run", progress=at(2))
    memory = Stored.state
    monkeypatch.setattr(
        Stored, "state", lambda self: {**memory(self), "counts": memory(self)["counts"][:-1]}
    )
    with pytest.raises(
        zw.StoreError,
        match=r"must use the same version of the time loop.*but its stored state is of another",
    ):
        zw.resume(tmp_path / "run", SYSTEM)


FIRST_COMMIT = Path("time", "record", "commit-000000.json")


def killed(path, after):
    """Start the run in a process of its own and kill it; whether it was still at work.

    The time counts from the first commit, which on a busy machine may be long in coming.
    """
    program = Path(__file__).with_name("pendulums.py")
    child = subprocess.Popen([sys.executable, program, path], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    while child.poll() is None and not (path / FIRST_COMMIT).exists():
        time.sleep(0.001)
    time.sleep(after)
    child.send_signal(signal.SIGKILL)
    rest, _ = child.communicate()
    return "done" not in rest


def kill_and_resume(path, after, whole):
    at_work = killed(path, after)
    resumed = zw.resume(path, SYSTEM)
    same_bits(resumed, whole)
    return at_work


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_and_resume(tmp_path):
    whole = SYSTEM.simulate(*START, until=LONG["until"])
    moments = random.Random(4)
    at_work = [
        kill_and_resume(tmp_path / f"run{k}", moments.uniform(0.0, 0.3), whole) for k in range(3)
    ]
    assert any(at_work), "all were killed too late to test anything"


def forked(path, until):
    """The run in a child of this process, which has everything compiled and loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which are Zarr's
        child = os.fork()
    if child == 0:
        try:
            SYSTEM.simulate(*START, until=until, store=path, store_every=0.0)
        finally:
            os._exit(0)
    return child


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_and_resume_at_250_points(tmp_path):
    until = 4000.0
    whole = SYSTEM.simulate(*START, until=until)
    begun = time.monotonic()
    os.waitpid(forked(tmp_path / "whole", until), 0)
    seconds = time.monotonic() - begun
    moments, at_work, k = random.Random(5), 0, 0
    while at_work < 250:
        path = tmp_path / f"run{k}"
        child = forked(path, until)
        while not (path / FIRST_COMMIT).exists():
            time.sleep(0.0002)
        time.sleep(moments.uniform(0.0, seconds))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        at_work += os.WIFSIGNALED(status)
        resumed = zw.resume(path, SYSTEM)
        same_bits(resumed, whole)
        assert zw.verify(path, SYSTEM, intervals=3, sample=1)
        shutil.rmtree(path)
        k += 1
        assert k < 1000
    print(f"killed at {at_work} points of {k} runs, all went on to the same bits")
