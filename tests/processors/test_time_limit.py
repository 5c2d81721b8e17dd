"""A test that takes too long is skipped wherever it is at that time, and the others go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]

#: Every test that has "long" in its name never ends by itself.
HARD = """
import ctypes
import time
import threading
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given, strategies

def spin():
    while True:
        pass

@pytest.fixture(scope="module")
def long_made():
    spin()

@pytest.fixture
def long_undone():
    yield 1
    spin()

@pytest.fixture
def once():
    yield 2

class TestWithin:
    @pytest.fixture
    def own(self):
        yield self

    def test_long_method(self, own):
        assert own is self
        spin()

    def test_short_method(self, own):
        assert own is self

def test_long_plain():
    spin()

def test_long_in_a_fixture(long_made):
    pass

def test_long_in_the_same_fixture(long_made):
    pass

def test_long_afterwards(long_undone):
    assert long_undone == 1

def test_long_sleep():
    time.sleep(1000)

def test_long_wait_for_a_thread():
    threading.Event().wait()

def test_long_wait_for_a_process():
    subprocess.run([sys.executable, "-c", "import time; time.sleep(1000)"])

def test_long_with_an_open_file():
    file = open(__file__)
    spin()

@pytest.mark.parametrize("function", [1])
def test_long_of_a_function(function):
    spin()

def test_long_finally():
    try:
        spin()
    finally:
        spin()

def test_long_and_catches_everything():
    for _ in range(3):
        try:
            spin()
        except BaseException:
            pass

def test_long_and_another_error():
    try:
        spin()
    except BaseException as error:
        raise ValueError("another") from error

def test_long_callback():
    ctypes.CFUNCTYPE(None)(spin)()
    spin()

def test_long_finalizer():
    class Thing:
        def __del__(self):
            spin()
    Thing()
    spin()

@given(strategies.integers())
def test_long_drawn(number):
    spin()

@given(strategies.lists(strategies.integers()))
def test_long_many_drawn(numbers):
    with suppress(Exception):
        time.sleep(0.002)
        sum(range(200_000))

def test_long_without_lines():
    code = compile("while True: pass", "none", "exec")
    exec(code.replace(co_linetable=b""))

def test_fails(once):
    assert once == 3

def test_passes(once):
    assert once == 2

@given(strategies.integers())
def test_passes_drawn(number):
    assert number == number
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hard")
    (folder / "test_hard.py").write_text(HARD, encoding="utf-8")
    paths = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [
            sys.executable,
            *["-m", "pytest", "-p", "time_limit", "-p", "no:cacheprovider", "-v", "-W", "error"],
            ".",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "ZWANG_TEST_SECONDS": "0.1", "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return found.stdout + found.stderr


def test_whatever_a_test_does_it_is_skipped(told):
    lines = [line for line in told.splitlines() if "::test_long" in line and "[" in line]
    done = [line for line in lines if "SKIPPED" not in line]
    assert len(lines) - len(done) == HARD.count("def test_long"), told
    # What comes after this one has no end.
    assert len(done) == 1, told
    assert "test_long_afterwards PASSED" in done[0], told
    assert "takes more than 0.1 s of processor time, or waits for 1 s" in told


def test_others_pass_and_fail_as_ever(told):
    assert "test_hard.py::test_passes PASSED" in told
    assert "test_hard.py::test_passes_drawn PASSED" in told
    assert "test_hard.py::TestWithin::test_short_method PASSED" in told
    assert "test_hard.py::test_fails FAILED" in told
    assert "1 failed" in told
    assert "INTERNALERROR" not in told
