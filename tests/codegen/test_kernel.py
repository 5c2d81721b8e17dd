"""Kernels as Python objects: calls, errors, sharing, counting, size."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap

import casadi
import numpy as np
import pytest
from builders import random_function

from zwang import codegen
from zwang.codegen.expression import read
from zwang.errors import InputError


def pendulum() -> casadi.Function:
    """Acceleration of a spherical pendulum; length and gravity are inputs."""
    q, v, p = casadi.SX.sym("q", 3), casadi.SX.sym("v", 3), casadi.SX.sym("p", 2)
    length, gravity = p[0], p[1]
    multiplier = (gravity * q[2] - casadi.dot(v, v)) / length**2
    acceleration = casadi.vertcat(0, 0, -gravity) + multiplier * q
    return casadi.Function("pendulum", [q, v, p], [acceleration], ["q", "v", "p"], ["a"])


def test_new_parameter_values_compile_nothing():
    kernel = codegen.compile(pendulum())
    before = codegen.compilations()
    q, v = np.array([0.6, 0.0, -0.8]), np.array([0.0, 0.3, 0.0])
    for length in (1.0, 2.0, 3.5):
        (found,) = kernel(q, v, [length, 9.81])
        expected = np.array(pendulum()(q, v, [length, 9.81])).ravel()
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert codegen.compile(pendulum()).address == kernel.address
    assert codegen.compilations() == before


def test_what_is_compiled_is_counted_and_what_is_cached_is_too():
    before = codegen.compilations(), codegen.cache_hits()
    kernel = codegen.compile(pendulum())
    assert (codegen.compilations(), codegen.cache_hits()) == (before[0] + 1, before[1])
    del kernel
    gc.collect()  # the code leaves memory with its last kernel; the disk still has it
    kernel = codegen.compile(pendulum())
    assert (codegen.compilations(), codegen.cache_hits()) == (before[0] + 1, before[1] + 1)
    assert kernel.compiled
    wide = codegen.compile(pendulum(), lanes=4)
    assert codegen.compilations() == before[0] + 2
    assert wide.lanes == 4


def test_arguments_are_checked_and_the_culprit_is_named():
    kernel = codegen.compile(pendulum(), name="swing")
    good = [np.zeros(3), np.zeros(3), np.ones(2)]
    with pytest.raises(
        InputError, match=r"kernel 'swing' must have 3 arguments \(q, v, p\), but was given 2"
    ):
        kernel(*good[:2])
    with pytest.raises(
        InputError, match=r"kernel 'swing', input 'v' must have shape \(3,\), but has shape \(4,\)"
    ):
        kernel(good[0], np.zeros(4), good[2])
    with pytest.raises(
        InputError,
        match=r"kernel 'pendulum', input 'q' must have shape \(3, 4\), but has shape \(3,\)",
    ):
        codegen.compile(pendulum(), lanes=4)(*good)
    with pytest.raises(InputError, match=r"lanes must be one of \(1, 2, 4, 8\), not 3"):
        codegen.compile(pendulum(), lanes=3)


def test_lists_integers_strides_and_read_only_arrays_are_taken():
    kernel = codegen.compile(pendulum())
    table = np.arange(12.0).reshape(3, 4)
    q = table[:, 1]
    frozen = np.array([1.0, 0.0, 2.0])
    frozen.flags.writeable = False
    (found,) = kernel(q, frozen, [2, 9])
    (expected,) = kernel(q.copy(), frozen.copy(), np.array([2.0, 9.0]))
    np.testing.assert_array_equal(found, expected)


def test_a_kernel_describes_itself():
    assert repr(codegen.compile(pendulum(), lanes=4)) == (
        "<Kernel pendulum: (q[3], v[3], p[2]) -> (a[3]), lanes=4>"
    )


def test_work_arrays_are_aligned_and_long_enough():
    kernel = codegen.compile(random_function(3000, seed=0), lanes=4)
    assert kernel.work_size > 0
    work = kernel.work()
    assert len(work) == kernel.work_size
    assert work.ctypes.data % 64 == 0
    assert len(codegen.compile(pendulum()).work()) == 1


def test_fifty_thousand_operations_compile_and_agree():
    function = random_function(65_000, seed=42)
    assert read(function).operation_count > 50_000
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=12), rng.normal(size=3)]
    kernel = codegen.compile(function)
    assert kernel.compiled
    for found, expected in zip(kernel(*inputs), function(*inputs), strict=True):
        np.testing.assert_allclose(found, np.array(expected).ravel(), rtol=1e-9, atol=1e-12)


def test_importing_kernels_loads_no_compiler_and_no_casadi():
    script = """
        import sys
        import zwang.codegen, zwang.codegen.cache
        print([name for name in ("casadi", "numba", "llvmlite") if name in sys.modules])
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
