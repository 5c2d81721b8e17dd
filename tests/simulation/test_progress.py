"""How far a run has got is told, and Ctrl-C ends it with all that was computed."""

import io
import signal
import sys
import threading
import types

import numpy as np
import pytest

import zwang as zw
from zwang.simulation.progress import EnsembleProgress, Progress
from zwang.simulation.start import LANES

START = ([1.0, 0.0], [0.0, 0.0])

#: Would take hours.
FOREVER = 1e9


@pytest.fixture(autouse=True)
def handler_is_left_as_it_was():
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def press(*_):
    """Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("save", [None, 0.003])
def test_numbers_do_not_depend_on_where_chunks_end(pendulum, save, monkeypatch):
    whole = pendulum.simulate(*START, until=20.0, save=save)
    for steps, rows in ((1, 7), (13, 64), (1000, 5)):
        for name, value in (("FIRST_STEPS", steps), ("FIRST_ENTRIES", 0), ("GROWTH", 1.0)):
            monkeypatch.setattr(f"zwang.integrators.chunk_size.{name}", value)
        monkeypatch.setattr("zwang.integrators.chunk_size.SMALLEST_ROWS", rows)
        monkeypatch.setattr("zwang.integrators.chunk_size.LARGEST_BUFFER", 0)
        run = pendulum.simulate(*START, until=20.0, save=save)
        assert run.q.tobytes() == whole.q.tobytes()
        assert run.counts == whole.counts


def test_a_function_is_told_how_far_the_run_is(pendulum):
    records = []
    run = pendulum.simulate(*START, until=50.0, progress=records.append)
    assert all(isinstance(r, Progress) for r in records)
    assert np.all(np.diff([r.t for r in records]) > 0.0)
    last = records[-1]
    assert (last.t, last.start, last.until, last.part) == (50.0, 0.0, 50.0, 1.0)
    assert (last.steps, last.rejected) == (run.counts.steps, run.counts.rejected)
    assert last.seconds_left == 0.0


def test_time_left_is_in_proportion_to_what_is_done():
    record = Progress(3.0, 0.0, 10.0, 5, 0, seconds=4.0, begun_at=2.0)  # resumed at 2 s
    assert record.part == 0.3
    assert record.seconds_left == 28.0
    assert str(record) == "t = 3 of 10 s, about 28 s left"
    assert "1 min 40 s" in str(EnsembleProgress(1, 11, 10.0))
    assert "2 h 46 min" in str(EnsembleProgress(1, 1001, 10.0))


def test_ctrl_c_in_a_function_returns_everything(pendulum):
    run = pendulum.simulate(*START, until=FOREVER, progress=press)
    assert run.status.startswith("stopped by the user at t = ")
    assert "run.at(run.t[-1])" in run.status
    assert not run.finished
    assert len(run) == run.counts.steps + 1 > 1
    on = pendulum.simulate(run.at(run.t[-1]), until=run.t[-1] + 1.0)
    assert on.finished


def test_ctrl_c_from_outside_returns_everything(pendulum):
    timer = threading.Timer(0.2, press)

    def start_once(_):
        if timer.ident is None:  # everything is compiled, and the signal expected
            timer.start()

    run = pendulum.simulate(*START, until=FOREVER, progress=start_once)
    timer.join()
    assert "stopped by the user" in run.status
    assert len(run) == run.counts.steps + 1 > 100


def test_a_second_ctrl_c_acts_at_once(pendulum):
    def twice(_):
        press()
        press()

    with pytest.raises(KeyboardInterrupt):
        pendulum.simulate(*START, until=FOREVER, progress=twice)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("choices", [{}, {"events": {"seen": zw.event(lambda q: q[1] + 5.0)}}])
def test_ctrl_c_in_an_ensemble_keeps_what_is_finished(pendulum, threads, choices):
    records = []

    def press_then(record):
        records.append(record)
        if len(records) == 1:
            press()

    # The first group is done in no time, for its pendulums are so slow; the others never end.
    g = np.concatenate([np.full(LANES, 1e-30), np.full(2 * LANES, 9.81)])
    runs = pendulum.simulate_many(
        *START,
        until=1e7,
        save=[0.0],
        parameters={"g": g},
        threads=threads,
        progress=press_then,
        **choices,
    )
    assert isinstance(records[0], EnsembleProgress)
    assert 1 <= records[0].done <= LANES
    assert records[0].count == 3 * LANES
    assert runs.finished.sum() >= records[0].done
    assert not runs.finished[LANES:].any()
    assert all("stopped by the user" in status for status in runs.status[LANES:])


def test_a_mistake_in_a_function_ends_an_ensemble(pendulum):
    def mistaken(_):
        raise ZeroDivisionError

    g = np.concatenate([np.full(LANES, 1e-30), np.full(2 * LANES, 9.81)])
    with pytest.raises(ZeroDivisionError):
        pendulum.simulate_many(
            *START, until=1e7, save=[0.0], parameters={"g": g}, threads=2, progress=mistaken
        )


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_in(monkeypatch, stream, pendulum, progress):
    monkeypatch.setattr("zwang.simulation.progress.PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", stream)
    pendulum.simulate(*START, until=5000.0, save=[0.0], progress=progress)  # several chunks
    return stream.getvalue()


def test_a_bar_is_shown_in_terminals_alone(monkeypatch, pendulum):
    monkeypatch.setenv("TERM", "xterm")
    assert "100%" in shown_in(monkeypatch, Terminal(), pendulum, None)
    assert "of 5000 s" in shown_in(monkeypatch, Terminal(), pendulum, None)
    assert shown_in(monkeypatch, Terminal(), pendulum, False) == ""
    assert shown_in(monkeypatch, io.StringIO(), pendulum, None) == ""
    lines = shown_in(monkeypatch, io.StringIO(), pendulum, True).splitlines()
    assert 1 <= len(lines) <= 11
    assert "t = 5000 of 5000 s" in lines[-1]


def test_short_runs_show_nothing(monkeypatch, pendulum):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    pendulum.simulate(*START, until=1.0)
    assert stream.getvalue() == ""


def test_a_line_is_shown_in_notebooks(monkeypatch, pendulum):
    written = []

    class Handle:
        def update(self, data, raw):
            written.append(data["text/plain"])

    def display(data, raw, display_id):
        written.append(data["text/plain"])
        return Handle()

    shell = types.ModuleType("IPython")
    shell.get_ipython = type("ZMQInteractiveShell", (), {})
    page = types.ModuleType("IPython.display")
    page.display = display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", page)
    assert shown_in(monkeypatch, io.StringIO(), pendulum, None) == ""
    assert any("of 5000 s" in line for line in written)
    assert written[-1] == ""
