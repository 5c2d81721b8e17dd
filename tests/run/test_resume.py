"""An interrupted run goes on to the same bits."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pendulums import CASES, EVENTS, LONG, START, pendulum

import zwang as zw
from zwang.run.store import Store

SYSTEM = pendulum()


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
    # Small buffers, so that short runs have many chunks; they are the same in both runs.
    monkeypatch.setattr("zwang.integrators.loop.Loop.advance.__defaults__", (200, 64))
    whole = SYSTEM.simulate(*START, **choices, events=events)
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


def test_ctrl_c_returns_what_there_is_and_the_store_goes_on(tmp_path, monkeypatch):
    from zwang.integrators.loop import Loop

    whole = SYSTEM.simulate(*START, until=400.0)
    advance, calls = Loop.advance, []

    def interrupted(self):
        calls.append(1)
        if len(calls) == 2:
            advance(self)
            raise KeyboardInterrupt
        return advance(self)

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "advance", interrupted)
        part = SYSTEM.simulate(*START, until=400.0, store=tmp_path / "run")
    assert "stopped by the user" in part.status
    assert not part.finished
    assert 0 < len(part) < len(whole)
    assert part.q.tobytes() == whole.q[: len(part)].tobytes()
    same_bits(zw.resume(tmp_path / "run", SYSTEM), whole)


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
    with pytest.raises(zw.InputError, match="others than it was made with: low, seen, wall"):
        zw.resume(tmp_path / "run", SYSTEM)
    softer = {**EVENTS, "wall": zw.event(lambda q: q[0] + 0.5, zw.bounce(0.8), direction=-1)}
    with pytest.raises(zw.InputError, match="made with: wall;"):
        zw.resume(tmp_path / "run", SYSTEM, events=softer)


def killed(path, after):
    """Start the run in a process of its own and kill it; whether it was still at work."""
    program = Path(__file__).with_name("pendulums.py")
    child = subprocess.Popen([sys.executable, program, path], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(after)
    child.send_signal(signal.SIGKILL)
    rest, _ = child.communicate()
    return "done" not in rest


def kill_and_resume(path, after, whole):
    at_work = killed(path, after)
    if not (path / "time" / "record" / "commit-000000.json").exists():
        return False  # killed before it began to store
    resumed = zw.resume(path, SYSTEM)
    same_bits(resumed, whole)
    return at_work


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_and_resume(tmp_path):
    whole = SYSTEM.simulate(*START, until=LONG["until"])
    moments = random.Random(4)
    at_work = [
        kill_and_resume(tmp_path / f"run{k}", moments.uniform(0.1, 0.5), whole) for k in range(3)
    ]
    assert any(at_work), "all were killed too late to test anything"


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_and_resume_twenty_times(tmp_path):
    whole = SYSTEM.simulate(*START, until=LONG["until"])
    moments, at_work, k = random.Random(5), 0, 0
    while at_work < 20:
        at_work += kill_and_resume(tmp_path / f"run{k}", moments.uniform(0.01, 1.5), whole)
        k += 1
        assert k < 80
