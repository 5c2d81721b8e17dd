"""Run the marked tests of the rows against every mutant of what the rows name.

All tests are collected once; each mutant then lives in a copy of that process and runs the tests of
its rows there. What a test module made when it was imported was made unbroken: a mutant that
survives is therefore tried once more in a process that imports the modules anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import importlib
import io
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.mutations.mutants import Log, Mutant, apply, mutants_of

import theory_map

#: Seconds a mutant may keep its tests busy; one that hangs them is seen.
PATIENCE = 300
OPTIONS = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]

Say = Callable[[str], None]


@dataclasses.dataclass
class Outcome:
    """What the tests of one row say of one mutant."""

    row: str
    mutant: Mutant
    verdict: str  # "killed", "survived", "unfit"
    note: str = ""


class Watch:
    """Pytest plugin: which tests failed, and which rows that kills."""

    def __init__(self, rows: dict[str, list[str]]) -> None:
        self.rows = rows
        self.failed: set[str] = set()
        self.killed: set[str] = set()
        self.seconds: dict[str, float] = {}

    def rows_of(self, node: str) -> set[str]:
        """The rows that a test proves."""
        return {row for row, tests in self.rows.items() if any(_within(node, t) for t in tests)}

    def pytest_runtest_protocol(self, item: Any) -> bool | None:
        """Leave out what no longer matters."""
        return True if self.rows_of(item.nodeid) <= self.killed else None

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what fails."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)
            self.killed |= self.rows_of(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        """A module that cannot be imported fails all its tests."""
        if report.failed:
            file = report.nodeid.partition("::")[0]
            self.failed.add(file)
            self.killed |= {
                row
                for row, tests in self.rows.items()
                if any(t.partition("::")[0] == file for t in tests)
            }


def _within(node: str, test: str) -> bool:
    return node == test or node.startswith((f"{test}::", f"{test}["))


class Collected:
    """Pytest plugin: do something with the collected tests in place of running them."""

    def __init__(self, work: Callable[[list[Any]], None]) -> None:
        self.work = work

    def pytest_runtestloop(self, session: Any) -> bool:
        """All tests are there."""
        self.work(session.items)
        return True


@contextlib.contextmanager
def _silence() -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def with_collected(tests: Iterable[str], work: Callable[[list[Any]], None]) -> None:
    """Collect the tests and hand them over."""
    with _silence():
        code = pytest.main([*OPTIONS, *sorted(tests)], plugins=[Collected(work)])
    if code != pytest.ExitCode.OK:
        message = f"pytest ended with {code}: run the marked tests by themselves"
        raise RuntimeError(message)


def _run(items: list[Any], watch: Watch, order: dict[str, float]) -> None:
    """Run collected tests, the quick ones first, in this process."""
    config = items[0].config
    config.pluginmanager.register(watch)
    for item in sorted(items, key=lambda item: order.get(item.nodeid, 0.0)):
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)


def _run_anew(rows: dict[str, list[str]], order: dict[str, float]) -> Watch:
    """Import the test modules again; one that fails at that stops pytest, so once more."""
    _forget_tests()
    watch = Watch(rows)
    while remaining := {row: tests for row, tests in rows.items() if row not in watch.killed}:
        tests = sorted({t for ts in remaining.values() for t in ts}, key=lambda t: order.get(t, 0))
        known = len(watch.killed)
        with _silence():
            code = pytest.main([*OPTIONS, *tests], plugins=[watch])
        if code in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            break
        if len(watch.killed) == known:
            message = f"pytest ended with {code} for {tests}"
            raise RuntimeError(message)
    return watch


def _forget_tests() -> None:
    """Test modules, and what the library remembers of calls, as if they had never been."""
    folder = str(theory_map.TESTS)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(folder) and not name.startswith("tests.mutations"):
            del sys.modules[name]
    for found in gc.get_objects():
        if isinstance(found, functools._lru_cache_wrapper) and found.__module__.startswith("zwang"):
            found.cache_clear()


def warm_up() -> None:
    """Import, once for all processes to come, what takes time."""
    for module in ("casadi", "scipy.linalg", "scipy.optimize", "sympy", "mpmath"):
        importlib.import_module(module)
    for name in {name for row in theory_map.load().rows for name in row.offers}:
        theory_map.resolve(name)


def _child(work: Callable[[], Any], answer: Path) -> int:
    """Do it in a copy of this process."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        answer.write_text(json.dumps(work()))
        status = 0
    except BaseException as error:  # noqa: BLE001 - told to the parent
        answer.write_text(json.dumps({"error": repr(error)}))
    finally:
        os._exit(status)


def _side_by_side(tasks: Sequence[Callable[[], Any]], jobs: int, done: Callable[..., None]) -> None:
    """Each task in a process of its own; `done(number, answer or None)` as they end."""
    with tempfile.TemporaryDirectory() as folder:
        running: dict[int, int] = {}
        waiting = list(enumerate(tasks))
        while waiting or running:
            while waiting and len(running) < jobs:
                number, task = waiting.pop(0)
                running[_child(task, Path(folder) / str(number))] = number
            pid, status = os.wait()
            number = running.pop(pid)
            file = Path(folder) / str(number)
            done(number, None if os.WIFSIGNALED(status) else json.loads(file.read_text()))


def row_tests(rows: Iterable[str]) -> dict[str, list[str]]:
    """The marked tests of the rows."""
    proofs = theory_map.proofs()
    return {row: proofs.get(row, []) for row in rows}


@dataclasses.dataclass
class Examination:
    """Rows, their tests and the mutants of what they name."""

    rows: Sequence[str]
    jobs: int
    say: Say
    tests: dict[str, list[str]] = dataclasses.field(init=False)
    names: dict[str, list[str]] = dataclasses.field(init=False)
    order: dict[str, float] = dataclasses.field(default_factory=dict)
    failed: list[str] = dataclasses.field(default_factory=list)
    outcomes: list[Outcome] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.tests = row_tests(self.rows)
        self.names = {}
        for row in theory_map.load().rows:
            if row.id in self.tests:
                for name in row.offers:
                    self.names.setdefault(name, []).append(row.id)

    def run(self) -> None:
        """The tests as the code stands, then all mutants, then the survivors once more."""
        mutants = [m for name in self.names for m in mutants_of(name)]
        self.say(f"{len(mutants)} mutants of {len(self.names)} names for {len(self.rows)} rows")
        alive: list[Mutant] = []

        def work(items: list[Any]) -> None:
            self._baseline(items)
            if not self.failed:
                alive.extend(self._examine(mutants, functools.partial(self._quickly, items)))

        with_collected({t for tests in self.tests.values() for t in tests}, work)
        if alive:
            self.say(f"{len(alive)} mutants are tried once more, with tests imported anew")
            doubtful = set(alive)
            self.outcomes = [o for o in self.outcomes if o.mutant not in doubtful]
            self._examine(alive, self._thoroughly, last=True)

    def _baseline(self, items: list[Any]) -> None:
        def task(part: list[Any]) -> Callable[[], Any]:
            def work() -> Any:
                watch = Watch({f"#{item.nodeid}": [item.nodeid] for item in part})
                _run(part, watch, {})
                return {"failed": sorted(watch.failed), "seconds": watch.seconds}

            return work

        def done(_: int, answer: Any) -> None:
            if answer is None or "error" in answer:
                self.failed.append(f"tests ended with {answer}")
                return
            self.failed.extend(answer["failed"])
            self.order.update(answer["seconds"])

        parts = [items[k :: 4 * self.jobs] for k in range(4 * self.jobs)]
        _side_by_side([task(part) for part in parts if part], self.jobs, done)

    def _quickly(self, items: list[Any], mutant: Mutant) -> Any:
        rows = {row: self.tests[row] for row in self.names[mutant.name]}
        log, watch = Log(), Watch(rows)
        apply(mutant, log)
        own = [item for item in items if watch.rows_of(item.nodeid)]
        if own:
            _run(own, watch, self.order)
        return {"killed": sorted(watch.killed), **dataclasses.asdict(log)}

    def _thoroughly(self, mutant: Mutant) -> Any:
        rows = {row: self.tests[row] for row in self.names[mutant.name]}
        log = Log()
        apply(mutant, log)
        watch = _run_anew(rows, self.order)
        return {"killed": sorted(watch.killed), **dataclasses.asdict(log)}

    def _examine(
        self, mutants: list[Mutant], test: Callable[[Mutant], Any], *, last: bool = False
    ) -> list[Mutant]:
        """Outcomes of mutants; those that some row did not kill."""
        alive: list[Mutant] = []
        started, ended = time.monotonic(), 0

        def done(number: int, answer: Any) -> None:
            nonlocal ended
            ended += 1
            mutant = mutants[number]
            found = [_outcome(row, mutant, answer) for row in self.names[mutant.name]]
            self.outcomes.extend(found)
            if any(o.verdict == "survived" for o in found):
                alive.append(mutant)
                for o in found:
                    if last and o.verdict == "survived":
                        self.say(f"  {o.row}  {mutant.name}  {mutant}: survived ({o.note})")
            if ended % 100 == 0:
                self.say(f"  {ended} of {len(mutants)}, {time.monotonic() - started:.0f} s")

        _side_by_side([functools.partial(test, m) for m in mutants], self.jobs, done)
        return alive


def _outcome(row: str, mutant: Mutant, answer: Any) -> Outcome:
    if answer is None:
        return Outcome(row, mutant, "killed", "time")
    if "error" in answer:
        return Outcome(row, mutant, "survived", answer["error"])
    if row in answer["killed"]:
        return Outcome(row, mutant, "killed")
    if answer["unfit"] and not answer["changed"]:
        return Outcome(row, mutant, "unfit")
    return Outcome(row, mutant, "survived", "seen" if answer["called"] else "never called")
