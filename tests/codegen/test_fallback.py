"""CasADi's machine in the place of compiled code."""

from __future__ import annotations

import ctypes
import gc
import logging
import threading
from weakref import WeakValueDictionary

import casadi
import numpy as np
import pytest
from builders import random_function, random_inputs
from test_operations import SPECIAL, elementwise

from zwang import codegen
from zwang.codegen import environment, llvm
from zwang.codegen import kernel as element
from zwang.codegen.call import IN_PYTHON, call
from zwang.codegen.expression import read
from zwang.codegen.jit import loop
from zwang.codegen.operations import OPERATIONS

AGREEMENT = 1e-14  # relative to the largest number of each output


@pytest.fixture
def uncompiled(monkeypatch):
    def build(function, **options):
        with monkeypatch.context() as patch:
            patch.setenv("ZWANG_LLVM", "off")
            return codegen.compile(function, **options)

    return build


def assert_agree(compiled, machine):
    for one, other in zip(compiled, machine, strict=True):
        scale = abs(other[np.isfinite(other)]).max(initial=1e-300)
        np.testing.assert_allclose(one, other, rtol=AGREEMENT, atol=AGREEMENT * scale)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_machine_agrees_with_compiled_code(uncompiled, seed, lanes):
    function = random_function(250, seed=seed)
    machine, compiled = uncompiled(function, lanes=lanes), codegen.compile(function, lanes=lanes)
    assert compiled.compiled
    assert not machine.compiled
    inputs = random_inputs(read(function), lanes, np.random.default_rng(seed))
    if lanes == 1:
        inputs = [array[:, 0] for array in inputs]
    assert_agree(compiled(*inputs), machine(*inputs))


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_the_machine_agrees_on_each_operation(uncompiled, operation):
    function = elementwise(operation, len(SPECIAL))
    x, y = np.array(SPECIAL), np.array(SPECIAL[::-1])
    (found,), (expected,) = codegen.compile(function)(x, y), uncompiled(function)(x, y)
    np.testing.assert_allclose(found, expected, rtol=AGREEMENT, atol=2e-16)


def test_the_machine_is_reached_by_address_from_compiled_loops(uncompiled):
    x = casadi.SX.sym("x", 3)
    machine = uncompiled(casadi.Function("f", [x], [x + 1, casadi.sumsqr(x)]))

    @loop
    def repeat(address, x, y, norm, work, times):
        for _ in range(times):
            call(address, x, y, norm, work)
            for i in range(3):
                x[i] = y[i]
        return norm[0]

    x0 = np.array([1.0, 2.0, 3.0])
    norm = repeat(machine.address, x0, np.zeros(3), np.zeros(1), machine.work(), 5)
    np.testing.assert_array_equal(x0, [6.0, 7.0, 8.0])
    assert norm == 5**2 + 6**2 + 7**2


def test_threads_take_turns(uncompiled):
    function = random_function(200, seed=8)
    machine = uncompiled(function)
    rng = np.random.default_rng(0)
    cases = [[rng.normal(size=12), rng.normal(size=3)] for _ in range(4)]
    expected = [machine(*case) for case in cases]
    failures = []

    def work(case, right):
        failures.extend(
            case
            for _ in range(300)
            if any((a != b).any() for a, b in zip(machine(*case), right, strict=True))
        )

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(cases, expected, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("reason", [RuntimeError("no such target"), OSError("no library")])
def test_where_compiling_fails_the_machine_steps_in_with_one_warning(monkeypatch, caplog, reason):
    def fail(assembly):
        raise reason

    monkeypatch.setattr(llvm, "object_code", fail)
    monkeypatch.setattr(environment, "_failures", [])
    monkeypatch.setattr(element, "_loaded", WeakValueDictionary())
    x = casadi.SX.sym("x")
    with caplog.at_level(logging.WARNING, logger="zwang"):
        built = [codegen.compile(casadi.Function("f", [x], [x * (k + 7)])) for k in range(3)]
    assert [kernel.compiled for kernel in built] == [False] * 3
    assert [kernel(2.0)[0][0] for kernel in built] == [14.0, 16.0, 18.0]
    (warning,) = caplog.records
    assert str(reason) in warning.getMessage()


@pytest.mark.parametrize("value", ["off", "OFF", " loops "])
def test_compiling_can_be_switched_off(monkeypatch, cache_folder, value):
    monkeypatch.setenv("ZWANG_LLVM", value)
    before = codegen.compilations()
    x = casadi.SX.sym("x")
    kernel = codegen.compile(casadi.Function("f", [x], [x + 1.25]))
    assert not kernel.compiled
    assert kernel(1.0)[0] == 2.25
    assert codegen.compilations() == before
    assert not cache_folder.exists()


def test_empty_ports_are_left_alone(uncompiled):
    x, nothing = casadi.SX.sym("x"), casadi.SX.sym("n", 0)
    kernel = uncompiled(casadi.Function("f", [nothing, x], [casadi.SX(0, 1), 2 * x]))
    empty, doubled = kernel(np.empty(0), 4.0)
    assert empty.shape == (0,)
    assert doubled == 8.0
    # Through the address too, with null pointers where there is nothing to point to.
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)
    given, result = np.array([5.0]), np.zeros(1)
    prototype(kernel.address)(None, given.ctypes.data, None, result.ctypes.data, None)
    assert result == 10.0


def test_calls_from_python_need_no_detour_through_c_and_no_array_stays_behind(uncompiled):
    x = casadi.SX.sym("x", 2)
    made = uncompiled(casadi.Function("f", [x], [casadi.vertcat(x[0] + x[1], x[0] * x[1])]))
    found = []
    for k in range(200):  # more places than are kept
        given, out = np.array([k, 2.0]), np.zeros(2)
        call(made.address, given, out, np.zeros(1))
        found.append((out == [k + 2.0, 2.0 * k]).all())
    assert all(found)
    address = made.address
    assert address in IN_PYTHON
    del made
    gc.collect()
    assert address not in IN_PYTHON
