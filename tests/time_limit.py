"""Time that a test or a fixture may take where nothing is compiled; then it is skipped and said so.

Code that is interpreted takes hundreds of times as long. A signal raises an error in what runs
then, wherever that is: within a `finally`, at an instruction without a line, in a callback whose
errors nobody sees, in code that catches everything. So it is raised again until the call has ended,
never in pytest itself nor in an import, which does not recover; and whatever the call ends with, a
skip is raised in its place, by the frame around it.
"""

from __future__ import annotations

import functools
import gc
import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterator
from time import monotonic, process_time
from types import FrameType
from typing import Any

import pytest

#: Processor time that a test or a fixture may take [s]; 0 is without end. Its own variable says
#: so; else there is an end where nothing is compiled, as is asked for when the tests begin.
VARIABLE = "ZWANG_TEST_SECONDS"
INTERPRETED = 3.0
SECONDS = float(
    os.environ.get(VARIABLE) or (INTERPRETED if os.environ.get("ZWANG_LLVM") == "off" else 0.0)
)
#: By the clock as many times that: what waits, for a process say, takes no processor time.
WAITING = 10.0
#: The error is raised again so often while the call has not ended [s].
AGAIN = 0.25


class _TooLongError(BaseException):
    """Not for the tests to catch."""


class _Limit:
    """The call that runs at present, and whether it has been told to end."""

    def __init__(self) -> None:
        self.running = self.expired = False
        self.before: list[Any] = []
        self.began = 0.0, 0.0
        self.own = {f.__code__ for f in (self.call, self.begin, self.end, self.unraisable)}

    def call(self, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
        """Call a function, which ends in time, or a skip is raised."""
        if self.running or not SECONDS:
            return function(*args, **keywords)
        self.begin()
        try:
            return function(*args, **keywords)
        except BaseException:
            if not self.expired:
                raise
        finally:
            self.end()
            if self.expired:  # whatever was raised or returned: a call cut short says nothing
                _skip()
        return None

    def begin(self) -> None:
        """Start the timer: of the clock, for those of processor time make its readings coarse."""
        self.before = [sys.unraisablehook, signal.getsignal(signal.SIGINT)]
        sys.unraisablehook = self.unraisable
        self.began = process_time(), monotonic()
        self.expired, self.running = False, True
        signal.signal(signal.SIGALRM, self.too_long)  # for good: a late one would end pytest
        signal.setitimer(signal.ITIMER_REAL, SECONDS)

    def end(self) -> None:
        """Stop it; what a call that was cut short has left is thrown away and put back."""
        self.running = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        hook, interrupt = self.before
        if self.expired:
            gc.collect()
            signal.signal(signal.SIGINT, interrupt)
        if sys.unraisablehook == self.unraisable:
            sys.unraisablehook = hook

    def too_long(self, number: int, frame: FrameType | None) -> None:
        """Raise in what runs if it has taken too long, unless that is this limit or an import."""
        spent = process_time() - self.began[0], (monotonic() - self.began[1]) / WAITING
        left = SECONDS - max(spent)
        signal.setitimer(signal.ITIMER_REAL, max(left, AGAIN) if self.running else 0.0)
        if left > 0.0 or not self.running or (frame is not None and frame.f_code in self.own):
            return
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return
            frame = frame.f_back
        self.expired = True
        raise _TooLongError

    def unraisable(self, error: Any) -> None:
        """Say nothing of callbacks and finalizers that were cut short, nor of files left open."""
        if not self.expired:
            self.before[0](error)


def _skip() -> None:
    __tracebackhide__ = True
    error = pytest.skip.Exception(
        f"takes more than {SECONDS:g} s of processor time, or waits for {WAITING * SECONDS:g} s; "
        f"{VARIABLE} says how long a test may take"
    )
    error.__suppress_context__ = True
    raise error


LIMIT = _Limit()


def limited(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function, or a generator of one value, whose every part ends in time."""
    if inspect.ismethod(function):  # pytest binds it to another instance
        return limited(function.__func__).__get__(function.__self__)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def parts(*args: Any, **keywords: Any) -> Iterator[Any]:
            generator, nothing = function(*args, **keywords), object()
            first = LIMIT.call(next, generator, nothing)
            if first is nothing:
                return
            yield first
            if LIMIT.call(next, generator, nothing) is not nothing:
                yield None  # pytest says what is wrong

        return parts

    @functools.wraps(function)
    def whole(*args: Any, **keywords: Any) -> Any:
        return LIMIT.call(function, *args, **keywords)

    return whole


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any) -> None:
    """A fixture may run a motion, too; pytest keeps its skip for all tests that ask for it."""
    if SECONDS and not hasattr(fixturedef, "limited"):
        fixturedef.func, fixturedef.limited = limited(fixturedef.func), True


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> None:
    """The test itself."""
    if SECONDS:
        pyfuncitem.obj = limited(pyfuncitem.obj)
