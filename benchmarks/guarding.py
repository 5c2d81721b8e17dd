"""What the guard of simulations costs: its part of long runs, and microseconds of short ones.

    python -m benchmarks.guarding

The guard (`zwang.simulation.guard`) compares programs with the full terms of their systems. Its
time is measured inside the runs, call by call, in processor time of the thread.
Runs over 10 ms may spend 5 % on it, shorter ones 15 µs a call in the mean; the first run of each
program, which compiles, is not counted. What reading the clock takes is measured between the runs,
as it is more where other work has taken the caches.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.cases import WORKS
from benchmarks.engines.zwang import model
from zwang import library
from zwang.simulation.guard import Guard

__all__ = ["main"]

#: What may be spent: of runs over so many seconds a part, of others seconds a call.
LONG, PART, A_CALL = 10e-3, 0.05, 15e-6
#: Seconds that each job is repeated for.
SECONDS = 2.0


class Clock:
    """Processor time spent in some functions, without what reading the clock takes.

    One that is called by another of them is part of that one.
    """

    def __init__(self) -> None:
        self.spent, self.calls, self.inside = 0.0, 0, False
        self.own, self.readings = 0.0, 0  # what is measured of a function that does nothing
        self._nothing = self.timed(lambda: None)

    def restart(self) -> None:
        self.spent, self.calls, self.own, self.readings = 0.0, 0, 0.0, 0

    def read(self) -> None:
        """Measure what is measured of a function that does nothing."""
        spent, calls = self.spent, self.calls
        self._nothing()
        self.own += self.spent - spent
        self.spent, self.calls, self.readings = spent, calls, self.readings + 1

    @property
    def seconds(self) -> float:
        return self.spent - self.calls * self.own / self.readings

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, measured."""

        def measured(*arguments: Any, **choices: Any) -> Any:
            if self.inside:
                return function(*arguments, **choices)
            self.inside = True
            began = time.thread_time()
            try:
                return function(*arguments, **choices)
            finally:
                self.spent += time.thread_time() - began
                self.calls += 1
                self.inside = False

        return measured


def jobs() -> dict[str, Callable[[], Any]]:
    """Name → a run."""
    found: dict[str, Callable[[], Any]] = {}

    def add(name: str, subject: Any, start: Any, until: float, **choices: Any) -> None:
        found[f"{name}, {until:g} s"] = lambda: subject.simulate(start, until=until, **choices)

    for name in ("four_bars(1)", "bricard", "bicycle", "chain(10)", "chain(100)"):
        work = WORKS[name]()
        subject, start, _ = model(work)
        for until in (0.01 * work.until, work.until, 10.0 * work.until):
            add(name, subject, start, until, save=[until])
    pendulum = library.spherical_pendulum()
    start = pendulum.assemble(prefer={"x": 0.5, "z": -0.8})
    for until in (0.1, 100.0, 3000.0):
        add("spherical pendulum", pendulum, start, until, save=[until])
    return found


def main() -> int:
    """Measure, print, and fail if the guard takes more than it may."""
    clock = Clock()
    for name in ("__init__", "begin", "wanted", "start", "rows", "look"):
        setattr(Guard, name, clock.timed(getattr(Guard, name)))
    failed = False
    print(f"{'run':<34} {'ms':>9} {'calls':>6} {'µs of guard':>12} {'part':>7}")
    for name, job in jobs().items():
        job()
        clock.restart()
        calls, began = 0, time.thread_time()
        while calls < 3 or time.thread_time() - began < SECONDS:
            job()
            clock.read()
            calls += 1
        run, guard = (time.thread_time() - began) / calls, clock.seconds / calls
        allowed = PART * run if run > LONG else A_CALL
        wrong = guard > allowed
        failed = failed or wrong
        print(
            f"{name:<34} {1e3 * run:9.3f} {calls:6d} {1e6 * guard:12.1f} {guard / run:7.2%}"
            f"{'  TOO MUCH' if wrong else ''}",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
