"""Its presence puts this folder on the path, so that all tests can import `samples`."""

import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from time_limit import pytest_fixture_setup, pytest_pyfunc_call  # noqa: F401, hooks

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
