"""Trajectories with interpreted kernels are those of compiled ones, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from compiling import needs_compiler
from zwang import library
from zwang.codegen import background
from zwang.codegen import kernel as kernels
from zwang.mechanism import LATEST

LONG = 300.0  # seconds, on any machine
CASES = {
    "four_bar": (library.four_bar, 0.5, "order8"),
    "bricard": (library.bricard, 0.3, "gauss"),
    "spinning_top": (library.spinning_top, 0.2, "order8"),
    "rolling_coin": (library.rolling_coin, 0.3, "gauss"),
    "chain of 20": (lambda: library.chain(20), 0.1, "order8"),
}


@pytest.fixture
def nothing_compiled(monkeypatch):
    """Kernels are in no cache; time loops may be. Nothing waits from other tests."""
    monkeypatch.setenv("ZWANG_BACKGROUND", "on")
    monkeypatch.setattr(background, "_work", background._BackgroundWork([]))
    monkeypatch.setattr(kernels, "stored", lambda _: None)
    monkeypatch.setattr(kernels, "_loaded", {})
    yield
    background._work.leave()


def bits(run):
    return run.t.tobytes(), run.q.tobytes(), run.v.tobytes(), run.counts


@needs_compiler
@pytest.mark.parametrize("name", CASES)
def test_interpreted_and_compiled_kernels_give_the_same_bits(nothing_compiled, monkeypatch, name):
    make, until, integrator = CASES[name]
    model = make()
    interpreted = bits(model.simulate(until=until, integrator=integrator))
    assert any(isinstance(code, kernels.InterpretedCode) for code in kernels._loaded.values())
    # Compiled by another process, and taken over by the same kernels.
    assert background.finish(LONG)
    done = operations_done()
    assert bits(model.simulate(until=until, integrator=integrator)) == interpreted
    assert operations_done() == done
    # Compiled before they are first used.
    monkeypatch.setenv("ZWANG_BACKGROUND", "off")
    monkeypatch.setattr(kernels, "_loaded", {})
    assert bits(make().simulate(until=until, integrator=integrator)) == interpreted
    assert not any(isinstance(x, kernels.InterpretedCode) for x in kernels._loaded.values())


def operations_done():
    codes = kernels._loaded.values()
    return sum(x.operations_done for x in codes if isinstance(x, kernels.InterpretedCode))


@needs_compiler
def test_kernels_are_exchanged_within_a_run(nothing_compiled, monkeypatch):
    """Some calls of a run are interpreted, others compiled; its bits do not show which."""
    model, until = library.four_bar(), 4.0
    states = []

    def exchange(progress):
        states.append(operations_done())
        if len(states) == 2:
            assert background.finish(LONG)

    expected = bits(model.simulate(until=until))
    LATEST.clear()  # of the first, with its kernels
    again = library.four_bar()
    monkeypatch.setattr(kernels, "_loaded", {})
    monkeypatch.setattr("zwang.integrators.chunk_size.MOST_FIRST_STEPS", 20)
    monkeypatch.setattr("zwang.integrators.chunk_size.GROWTH", 1.0)
    run = again.simulate(until=until, progress=exchange)
    assert len(states) >= 3
    assert states[1] > states[0]  # interpreted
    assert states[-1] == states[1]  # and compiled from there on
    np.testing.assert_array_equal(run.q, np.frombuffer(expected[1]).reshape(run.q.shape))


FIRST_EVER = """
import hashlib
from zwang import library
from zwang.codegen import background
from zwang.codegen.jit import HurriedLoop
digests = []
for name, integrator in (("four_bar", "order8"), ("bricard", "gauss"), ("four_bar", "radau5")):
    run = getattr(library, name)().simulate(until=0.2, integrator=integrator)
    digests.append(hashlib.sha256(run.t.tobytes() + run.q.tobytes() + run.v.tobytes()).hexdigest())
hurried = sum(isinstance(code(), HurriedLoop) for code, _ in background._work.waiting)
background._work.closing = True  # nothing of it is compiled for a cache that goes
print(*digests, hurried + len(background._work.under_way))
"""


@needs_compiler
def test_loops_compiled_in_a_hurry_give_the_same_bits(tmp_path):
    """A first run on a machine, beside one with optimised loops."""

    def digests(**environment):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_EVER],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.split()

    hurried = digests(ZWANG_CACHE_DIR=str(tmp_path / "cache"), ZWANG_BACKGROUND="on")
    assert int(hurried[-1]) >= 1  # others may be optimised by then
    assert hurried[:-1] == digests(ZWANG_BACKGROUND="off")[:-1]
