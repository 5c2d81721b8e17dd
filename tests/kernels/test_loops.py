"""`jit` and `call`: compiled loops around kernels, and their cache."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import casadi
import numpy as np
import pytest
from numba.core.errors import TypingError

from zwang import kernels
from zwang.kernels.call import call
from zwang.kernels.jit import jit

# The sources that count are those of a folder of the test's own, which nobody else edits.
LOOP = """
    import sys
    from pathlib import Path
    import casadi, numpy as np
    from zwang import kernels
    from zwang.kernels.call import call
    from zwang.kernels.jit import jit

    sys.modules["zwang.kernels.jit"]._PACKAGE = Path(__file__).parent / "sources"

    @jit
    def step(address, x, y, work):
        call(address, x, y, work)

    @jit
    def repeat(address, x, y, work, times):
        for _ in range(times):
            step(address, x, y, work)
            x[:] = y

    def main():
        x = casadi.SX.sym("x", 2)
        kernel = kernels.compile(casadi.Function("f", [x], [x * 2]))
        state = np.array([1.0, 3.0])
        repeat(kernel.address, state, np.zeros(2), kernel.work(), 3)
        hits = sum(repeat.stats.cache_hits.values()) if hasattr(repeat, "stats") else None
        print(state.tolist(), hits)

    main()
"""


@pytest.fixture
def run_loop(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(textwrap.dedent(LOOP))
    (tmp_path / "sources" / "engine").mkdir(parents=True)
    (tmp_path / "sources" / "engine" / "called.py").write_text("x = 1")

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
    assert len(loop_files(cache_folder)) == 2
    assert run_loop() == "[8.0, 24.0] 1"
    assert len(loop_files(cache_folder)) == 2


def test_an_edit_in_a_file_of_the_package_compiles_loops_again(run_loop, tmp_path):
    run_loop()
    (tmp_path / "sources" / "engine" / "called.py").write_text("x = 2")
    assert run_loop() == "[8.0, 24.0] 0"
    assert run_loop() == "[8.0, 24.0] 1"


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


def test_loops_run_without_numba_and_without_compiled_kernels(run_loop):
    assert run_loop(NUMBA_DISABLE_JIT="1") == "[8.0, 24.0] None"
    assert run_loop(NUMBA_DISABLE_JIT="1", ZWANG_JIT="0") == "[8.0, 24.0] None"
    assert run_loop(ZWANG_JIT="0") == "[8.0, 24.0] 0"


def test_a_function_that_captures_values_is_compiled_for_each(cache_folder):
    def adder(amount):
        @jit
        def add(x):
            return x + amount

        return add

    assert [adder(k)(1.0) for k in (1, 2, 3)] == [2.0, 3.0, 4.0]


def test_options_are_passed_on():
    @jit(boundscheck=True)
    def last(x):
        return x[3]

    with pytest.raises(IndexError):
        last(np.zeros(2))


def test_addresses_and_slices_are_taken_as_pointers():
    x = casadi.SX.sym("x", 2)
    kernel = kernels.compile(casadi.Function("f", [x], [x[0] - x[1]]))

    @jit
    def rows(address, table, result, work):
        for k in range(table.shape[0]):
            call(address, table[k], result[k:], work.ctypes.data)

    table, result = np.array([[3.0, 1.0], [10.0, 4.0], [0.0, 7.0]]), np.zeros(3)
    rows(kernel.address, table, result, kernel.work())
    np.testing.assert_array_equal(result, [2.0, 6.0, -7.0])


def test_an_array_with_gaps_is_refused():
    @jit
    def careless(address, x, y, work):
        call(address, x[::2], y, work)

    with pytest.raises(TypingError, match="argument 1 of a kernel call"):
        careless(0, np.zeros(4), np.zeros(1), np.zeros(1))


def test_many_pointers_arrive_in_order():
    symbols = [casadi.SX.sym(f"x{k}") for k in range(9)]
    outputs = [symbols[0] - 2 * symbols[8], symbols[7], symbols[3] * symbols[4]]
    kernel = kernels.compile(casadi.Function("f", symbols, outputs))
    inputs = [np.array([float(k)]) for k in range(9)]
    found = [np.zeros(1) for _ in range(3)]

    @jit
    def once(address, a, b, c, d, e, f, g, h, i, x, y, z, w):
        call(address, a, b, c, d, e, f, g, h, i, x, y, z, w)

    once(kernel.address, *inputs, *found, kernel.work())
    assert [float(value[0]) for value in found] == [-16.0, 7.0, 12.0]
