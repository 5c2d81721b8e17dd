"""Functions to compile, and a way to run assembly with settings that `compile` chooses itself."""

from __future__ import annotations

import ctypes

import casadi
import numpy as np

from zwang.codegen.emit import assemble
from zwang.codegen.llvm import load, object_code


def random_function(operations: int, *, seed: int, inputs: int = 12, outputs: int = 9):
    """Expression of about that many operations, of all sorts, whose values stay moderate."""
    rng = np.random.default_rng(seed)
    x, y = casadi.SX.sym("x", inputs), casadi.SX.sym("y", 3)
    pool = [*casadi.vertsplit(x), *casadi.vertsplit(y)]
    steps = [
        (5, lambda a, b: a * b + 0.3),
        (5, lambda a, b: a - b * a),
        (1, lambda a, b: a / (2 + b * b)),
        (1, lambda a, b: casadi.sqrt(casadi.fabs(a) + 1)),
        (1, lambda a, b: casadi.sin(a) + casadi.cos(a)),
        (1, lambda a, b: casadi.cos(a + b)),
        (1, lambda a, b: casadi.if_else(a < b, a, -b)),
        (1, lambda a, b: casadi.fmin(a, b) + casadi.exp(-a * a)),
        (1, casadi.atan2),
    ]
    weights = np.array([w for w, _ in steps], dtype=float)
    count = len(pool)
    while count < operations:
        step = steps[rng.choice(len(steps), p=weights / weights.sum())][1]
        a, b = (pool[-1 - int(k)] for k in rng.integers(0, min(len(pool), 60), 2))
        value = step(a, b)
        pool.append(2 * value / (1 + value * value))  # between −1 and 1
        count += 6
    chosen = rng.choice(len(pool), size=outputs, replace=False)
    results = [casadi.vertcat(*[pool[int(k)] for k in chosen]), pool[-1]]
    return casadi.Function("random", [x, y], results, ["x", "y"], ["many", "last"])


def random_inputs(expression, lanes: int, rng) -> list[np.ndarray]:
    return [rng.normal(size=(port.size, lanes)) for port in expression.inputs]


def run(expression, inputs, *, lanes: int, fma: bool = True, chunk: int = 250):
    """Outputs, shape (size, lanes), of freshly compiled code with these settings."""
    assembly = assemble(expression, lanes=lanes, fma=fma, chunk=chunk)
    code = load(object_code(assembly.text))
    outputs = [np.full((port.size, lanes), np.nan) for port in expression.outputs]
    work = np.full(assembly.work_size + 1, np.nan)
    work[-1] = 1.25  # a guard: nothing may be written behind the work array
    arrays = [*(np.ascontiguousarray(a) for a in inputs), *outputs, work]
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
    prototype(code.address)(*[a.ctypes.data for a in arrays])
    assert work[-1] == 1.25
    return outputs
