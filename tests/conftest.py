"""Its presence puts this folder on the path, so that all tests can import `samples`."""

import os
import signal
import sys
from collections.abc import Generator, Iterator
from types import FrameType

import pytest
from hypothesis import settings

# How long an example takes says something of the machine, nothing of the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

# A shell that starts the tests in the background has them ignore Ctrl-C, and whatever they start;
# tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    """Close what a test has drawn: pyplot keeps figures, and warns the test that makes the 21st."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(autouse=True)
def no_equal_mechanisms_before() -> None:
    """Forget mechanisms and files of other tests, which equal ones would share programs with."""
    mechanisms, files = (
        sys.modules.get(f"zwang.{m}") for m in ("mechanism", "model_files.read_again")
    )
    if mechanisms is not None:
        mechanisms.LATEST.clear()
    if files is not None:
        files.READ.clear()


#: Processor time that a test may take where kernels are interpreted, as is asked for [s].
INTERPRETED = 20.0


class _TooLongError(BaseException):
    """Not for the tests to catch."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise _TooLongError


def _limited() -> Generator[None, object, object]:
    """End a test that takes hundreds of times as long where nothing is compiled."""
    if os.environ.get("ZWANG_LLVM") != "off":
        return (yield)
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, INTERPRETED)
    try:
        return (yield)
    except _TooLongError:
        reason = f"takes more than {INTERPRETED:g} s of processor time without compiled kernels"
        # Raised anew: a frame that a signal interrupts may have no line, which pytest asks for.
        raise pytest.skip.Exception(reason) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """A fixture may run a motion, too."""
    return (yield from _limited())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """The test itself."""
    return (yield from _limited())
