"""Compiling in the background: same bits, whatever happens to the process that compiles."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import casadi
import numpy as np
import pytest
from builders import random_function, random_inputs

from zwang import codegen
from zwang.codegen import background, background_process, cache, llvm, machine_code
from zwang.codegen.expression import read
from zwang.codegen.machine_code import key_of

LONG = 300.0  # seconds, on any machine


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nothing waits from other tests, and nothing is left to them."""
    monkeypatch.setenv("ZWANG_BACKGROUND", "on")
    monkeypatch.setattr(background, "_work", background._BackgroundWork([]))
    yield
    background._work.leave()


def kernel_and_inputs(seed):
    function = random_function(400, seed=seed)
    inputs = random_inputs(read(function), 1, np.random.default_rng(seed))
    return codegen.compile(function), [array[:, 0] for array in inputs]


def runs_compiled(kernel, inputs):
    """Whether a call leaves the interpreter alone."""
    before = kernel._code.operations_done
    kernel(*inputs)
    return kernel._code.operations_done == before


def test_compiled_code_takes_the_place_of_bytecode():
    kernel, inputs = kernel_and_inputs(21)
    address, interpreted = kernel.address, kernel(*inputs)
    assert not runs_compiled(kernel, inputs)
    assert background.finish(LONG)
    assert runs_compiled(kernel, inputs)
    assert kernel.address == address
    for one, other in zip(kernel(*inputs), interpreted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_hardly_used_is_never_compiled(monkeypatch):
    kernel, inputs = kernel_and_inputs(22)
    kernel(*inputs)
    work = background._work
    assert work._due() == []
    monkeypatch.setattr(background, "WORTH_COMPILING", 1)
    assert [job.key for _, job in work._due()] == [key_of(read_again(22), 1, frozenset())]


def read_again(seed):
    return read(random_function(400, seed=seed))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to look at")
def test_a_process_that_is_let_go_leaves_no_zombie(monkeypatch):
    monkeypatch.setattr(background, "IDLE", 0.0)
    kernel, inputs = kernel_and_inputs(24)
    kernel(*inputs)
    work = background._work
    number = work._process()._process.pid
    assert background.finish(LONG)
    end = time.monotonic() + LONG
    while Path(f"/proc/{number}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{number}").exists()  # a zombie has its place there
    assert work.process is None


def test_kernels_that_are_gone_are_forgotten():
    kernel, _ = kernel_and_inputs(23)
    assert len(background._work.waiting) == 1
    del kernel
    assert background.finish(LONG)
    assert background._work.process is None


def test_what_is_compiled_is_in_the_cache():
    kernel, _ = kernel_and_inputs(24)
    assert background.finish(LONG)
    hits = codegen.cache_hits()
    del kernel
    kernel_and_inputs(24)
    assert codegen.cache_hits() == hits + 1


@pytest.mark.parametrize("failure", ["no Python", "ends at once", "answers nonsense"])
def test_without_the_other_process_kernels_are_compiled_here(monkeypatch, caplog, failure):
    if failure == "no Python":
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    elif failure == "ends at once":
        monkeypatch.setattr(background_process, "_START", "pass")
    else:
        nonsense = "import os; os.write(1, b'x' * 100)"
        monkeypatch.setattr(background_process, "_START", nonsense)
    kernel, inputs = kernel_and_inputs(25)
    expected = kernel(*inputs)
    with caplog.at_level(logging.WARNING, logger="zwang.codegen"):
        assert background.finish(LONG)
    assert [r.message for r in caplog.records if "in the background failed" in r.message]
    assert runs_compiled(kernel, inputs)
    for one, other in zip(kernel(*inputs), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_code_that_cannot_be_compiled_is_interpreted(monkeypatch, caplog):
    def refused(*_, **__):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(background_process.CompilerProcess, "receive", lambda _: "RuntimeError: no")
    monkeypatch.setattr(machine_code, "compiled", refused)
    kernel, inputs = kernel_and_inputs(26)
    expected = kernel(*inputs)
    with caplog.at_level(logging.WARNING, logger="zwang.codegen"):
        assert background.finish(LONG)
    assert any("RuntimeError: no" in record.message for record in caplog.records)
    assert not runs_compiled(kernel, inputs)
    np.testing.assert_array_equal(kernel(*inputs)[0], expected[0])


def test_a_process_that_was_closed_is_not_read_from(monkeypatch):
    """The numbers of its files may be those of other files by then."""
    closed, receive, close = (
        [],
        *(getattr(background_process.CompilerProcess, name) for name in ("receive", "close")),
    )
    read_from = []

    def receiving(process):
        read_from.append(process)
        assert process not in closed
        return receive(process)

    def closing(process):
        closed.append(process)
        close(process)

    monkeypatch.setattr(background_process.CompilerProcess, "receive", receiving)
    monkeypatch.setattr(background_process.CompilerProcess, "close", closing)
    kernels = [kernel_and_inputs(seed) for seed in (31, 32, 33)]
    work = background._work
    reference, job = work.waiting[0]
    work.waiting[0] = reference, machine_code.LoopJob("this is no LLVM assembly", None)
    del job
    work.waiting.sort(key=lambda entry: not isinstance(entry[1], machine_code.LoopJob))
    monkeypatch.setattr(background, "sorted", lambda due, **_: list(due), raising=False)
    assert background.finish(LONG)
    assert len(read_from) == 1
    assert [runs_compiled(*pair) for pair in kernels[1:]] == [True, True]


def test_code_that_cannot_be_linked_leaves_bytecode_and_the_thread(monkeypatch, caplog):
    def refusing(code):
        raise MemoryError("no room")

    first, second = kernel_and_inputs(34), kernel_and_inputs(35)
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(llvm, "load", refusing)
        assert background.finish(LONG)
    assert "compiling in the background failed (MemoryError: no room)" in caplog.text
    assert not runs_compiled(*first)
    assert not runs_compiled(*second)
    third = kernel_and_inputs(36)
    assert background.finish(LONG)
    assert runs_compiled(*third)


def test_an_unknown_setting_is_refused(monkeypatch):
    monkeypatch.setenv("ZWANG_BACKGROUND", "maybe")
    with pytest.raises(codegen.kernel.InputError, match="must be 'on' or 'off'"):
        codegen.compile(random_function(100, seed=27))


# --- the end of the program, and forks ------------------------------------------------------------

PROGRAM = """
    import casadi, time
    from zwang import codegen
    from zwang.codegen import background
    background.WORTH_COMPILING = 1
    x = casadi.SX.sym("x", 40)
    y = x
    for _ in range(12):
        y = casadi.sin(y) * x + y / (2 + y[::-1] ** 2)
    kernel = codegen.compile(casadi.Function("f", [x], [y]))
    kernel([0.1] * 40)
"""


def program(*more, **environment):
    """A program that ends right after a kernel was asked for: how, and what it said."""
    text = textwrap.dedent(PROGRAM) + "\n".join(more)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )


def compiled_kernels(folder):
    return [path for path in (folder / cache.KERNELS).rglob("*") if path.is_file()]


@pytest.mark.parametrize("when", ["", "time.sleep(0.3)"])
def test_a_program_that_ends_waits_for_nothing(cache_folder, when):
    done = program(when)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # What was under way is completed for the cache by a process that holds none of its files.
    end = time.monotonic() + LONG
    while not compiled_kernels(cache_folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(compiled_kernels(cache_folder)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_process_goes_on_by_itself():
    kernel, inputs = kernel_and_inputs(28)
    expected = kernel(*inputs)[0]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        good = background.finish(LONG) and runs_compiled(kernel, inputs)
        good = good and np.array_equal(kernel(*inputs)[0], expected)
        os.write(writing, b"1" if good else b"0")
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"1"
    os.waitpid(child, 0)
    assert background.finish(LONG)
    assert runs_compiled(kernel, inputs)


# --- names in the cache ---------------------------------------------------------------------------


def test_the_key_changes_with_everything_that_matters(monkeypatch):
    monkeypatch.delenv("ZWANG_LLVM_TARGET", raising=False)
    x = casadi.SX.sym("x", 3)

    def key(result, lanes=1, shared=(), symbols=(x,)):
        function = casadi.Function("f", list(symbols), [casadi.densify(result)])
        return key_of(read(function), lanes, frozenset(shared))

    y = casadi.SX.sym("y", 1)
    base = x[0] * x[1] + 2.0
    keys = [
        key(base),
        key(x[0] * x[1] + np.nextafter(2.0, 3.0)),  # a constant's last bit
        key(x[0] * x[2] + 2.0),  # another entry
        key(x[0] * x[1] - 2.0),  # another operation
        key(casadi.vertcat(base, base)),  # another output
        key(base, symbols=(x, y)),  # another input
        key(base, lanes=8),
        key(base, lanes=8, shared=[0]),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(cache, "source_digest", lambda *_: "other sources")
        keys.append(key(base))
    for target in llvm.targets()[1:]:
        monkeypatch.setenv("ZWANG_LLVM_TARGET", target)
        keys.append(key(base))
    assert len(set(keys)) == len(keys)


def test_the_key_does_not_change_with_names():
    keys = []
    for name in ("x", "other"):
        x = casadi.SX.sym(name, 2)
        function = casadi.Function(name, [x], [casadi.sin(x)], [name], ["result_" + name])
        keys.append(key_of(read(function), 1, frozenset()))
    assert keys[0] == keys[1]
