"""`loop` and `call`: compiled loops around kernels, and their cache."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import casadi
import numpy as np
import pytest

from zwang import codegen
from zwang.codegen.call import call, part
from zwang.codegen.jit import loop
from zwang.codegen.loops.values import LoopError

# The sources that count are those of a folder of the test's own, which nobody else edits.
LOOP = """
    import sys
    from pathlib import Path
    import casadi, numpy as np
    from zwang import codegen
    from zwang.codegen.call import call
    from zwang.codegen.jit import loop

    sys.modules["zwang.codegen.jit"]._PACKAGE = Path(__file__).parent / "sources"

    @loop
    def step(address, x, y, work):
        call(address, x, y, work)

    @loop
    def repeat(address, x, y, work, times):
        for _ in range(times):
            step(address, x, y, work)
            for i in range(x.shape[0]):
                x[i] = y[i]

    def main():
        x = casadi.SX.sym("x", 2)
        kernel = codegen.compile(casadi.Function("f", [x], [x * 2]))
        state = np.array([1.0, 3.0])
        repeat(kernel.address, state, np.zeros(2), kernel.work(), 3)
        print(state.tolist(), repeat.loaded)

    main()
"""


@pytest.fixture
def run_loop(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(textwrap.dedent(LOOP))
    for name in ("codegen", "integrators"):
        (tmp_path / "sources" / name).mkdir(parents=True)
    (tmp_path / "sources" / "integrators" / "called.py").write_text("x = 1")

    def run(**environment):
        found = subprocess.run(
            [sys.executable, str(script)],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()

    return run


def loop_files(cache_folder):
    return sorted(path for path in (cache_folder / "loops").rglob("*") if path.is_file())


def test_loops_are_compiled_once_and_then_loaded(run_loop, cache_folder):
    assert run_loop() == "[8.0, 24.0] 0"
    written = loop_files(cache_folder)
    assert written
    assert run_loop() == "[8.0, 24.0] 1"
    assert loop_files(cache_folder) == written


def test_an_edit_in_a_file_of_the_package_compiles_loops_again(run_loop, tmp_path):
    run_loop()
    (tmp_path / "sources" / "integrators" / "called.py").write_text("x = 2")
    assert run_loop() == "[8.0, 24.0] 0"
    assert run_loop() == "[8.0, 24.0] 1"


def test_an_edit_in_its_own_file_compiles_a_loop_again(run_loop, tmp_path):
    run_loop()
    script = tmp_path / "loop.py"
    script.write_text(script.read_text().replace("x[i] = y[i]", "x[i] = -y[i]"))
    assert run_loop() == "[-8.0, -24.0] 0"


def test_a_damaged_loop_is_compiled_again(run_loop, cache_folder):
    run_loop()
    for path in loop_files(cache_folder):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
    assert run_loop() == "[8.0, 24.0] 0"
    assert run_loop() == "[8.0, 24.0] 1"


def test_loops_run_where_nothing_can_be_written(run_loop, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert run_loop(ZWANG_CACHE_DIR=str(tmp_path / "file" / "cache")) == "[8.0, 24.0] 0"


def test_loops_run_as_plain_python_and_without_compiled_kernels(run_loop, cache_folder):
    assert run_loop(ZWANG_LLVM="kernels") == "[8.0, 24.0] 0"
    assert run_loop(ZWANG_LLVM="off") == "[8.0, 24.0] 0"
    assert loop_files(cache_folder) == []
    assert run_loop(ZWANG_LLVM="loops") == "[8.0, 24.0] 0"


def test_a_loop_that_captures_values_is_compiled_for_each(cache_folder):
    def adder(amount):
        @loop
        def add(x):
            return x + amount

        return add

    assert [adder(k)(1.0) for k in (1, 2, 3)] == [2.0, 3.0, 4.0]
    assert loop_files(cache_folder) == []


@loop
def described(a, b):
    if len(a.shape) == 1:
        return a[0] * b
    return a[1, 0] + b


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((np.array([2.0, 9.0]), 3.0), 6.0),
        ((np.array([2, 9]), 3), 6),
        ((np.array([2.0, 9.0]), np.float64(3.0)), 6.0),
        ((np.array([2.0, 9.0]), np.int64(3)), 6.0),
        ((np.array([[2.0], [9.0]]), True), 10.0),
        ((np.array([True, False]), 5), 5),
    ],
)
def test_arguments_of_other_types_have_code_of_their_own(arguments, expected):
    for _ in range(2):
        result = described(*arguments)
        assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((4, 4))[:, 0],
        np.zeros(3, dtype=np.float32),
        np.zeros(3, dtype=">f8"),
        [1.0, 2.0],
        None,
    ],
)
def test_what_loops_cannot_take_is_refused(wrong):
    described(np.zeros(3), 1.0)  # also where the loop has code already
    with pytest.raises(TypeError, match="loops take"):
        described(wrong, 1.0)


def test_loops_run_in_many_threads_at_once():
    @loop
    def harmonic(n, out):
        total = 0.0
        for k in range(1, n):
            total += 1.0 / k
        out[0] = total
        return total

    def sums(n):
        out = np.zeros(1)
        return [harmonic(n + k, out) == out[0] for k in range(200)]

    with ThreadPoolExecutor(4) as pool:
        assert all(all(found) for found in pool.map(sums, range(1000, 1008)))


def test_addresses_and_slices_are_taken_as_pointers():
    x = casadi.SX.sym("x", 2)
    kernel = codegen.compile(casadi.Function("f", [x], [x[0] - x[1]]))

    @loop
    def rows(address, table, result, work):
        for k in range(table.shape[0]):
            call(address, table[k], result[k:], work)

    table, result = np.array([[3.0, 1.0], [10.0, 4.0], [0.0, 7.0]]), np.zeros(3)
    rows(kernel.address, table, result, kernel.work())
    np.testing.assert_array_equal(result, [2.0, 6.0, -7.0])


def test_kernels_take_arrays_of_reals_only():
    @loop
    def careless(address, x, y, work):
        call(address, x, y, work)

    with pytest.raises(LoopError, match="argument 1 of a kernel call"):
        careless(0, np.zeros(4, dtype=np.int64), np.zeros(1), np.zeros(1))


def test_many_pointers_arrive_in_order():
    symbols = [casadi.SX.sym(f"x{k}") for k in range(9)]
    outputs = [symbols[0] - 2 * symbols[8], symbols[7], symbols[3] * symbols[4]]
    kernel = codegen.compile(casadi.Function("f", symbols, outputs))
    inputs = [np.array([float(k)]) for k in range(9)]
    found = [np.zeros(1) for _ in range(3)]

    @loop
    def once(address, a, b, c, d, e, f, g, h, i, x, y, z, w):
        call(address, a, b, c, d, e, f, g, h, i, x, y, z, w)

    once(kernel.address, *inputs, *found, kernel.work())
    assert [float(value[0]) for value in found] == [-16.0, 7.0, 12.0]


def test_part_of_an_array_may_be_counted_in_numpy_integers():
    x = casadi.SX.sym("x", 2)
    kernel = codegen.compile(casadi.Function("twice", [x], [2.0 * x]))
    numbers, y, work = np.arange(4.0), np.zeros(2), kernel.work()
    call(kernel.address, part(numbers, np.int64(2)), y, work)
    assert y.tolist() == [4.0, 6.0]
