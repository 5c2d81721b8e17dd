"""Speed of compiled kernels: running, building, and growth of compile time.

    python -m benchmarks.kernels            # print the figures beside their goals
    python -m benchmarks.kernels --check    # and end with an error if a goal is missed

Times are CPU times on one core, the least of several passes in which the contenders take turns, so
that a busy machine slows all of them alike. Everything is measured in one run; compare ratios.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from numba import njit

from zwang import codegen
from zwang.codegen.call import call
from zwang.codegen.emit import assemble
from zwang.codegen.expression import read
from zwang.codegen.jit import loop
from zwang.codegen.llvm import host, load, object_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PASSES = 40
EVALUATIONS = 20_000  # in one pass of a compiled contender
MACHINE_EVALUATIONS = 1_000  # in one pass of CasADi's machine, whose inputs stay in the cache then
LANES = 4


# ---------------------------------------------------------------------------------------- systems


def acceleration(
    name: str,
    q: casadi.SX,
    v: casadi.SX,
    p: casadi.SX,
    *,
    mass: casadi.SX,
    force: casadi.SX,
    phi: casadi.SX,
) -> casadi.Function:
    """(q, v, p) → v̇ by elimination of the multipliers: S λ = b − A M⁻¹Q, S = A M⁻¹ Aᵀ = L D Lᵀ.

    `mass` is the diagonal of M; the factorisation is symbolic and sparse.
    """
    A = casadi.jacobian(phi, q)
    b = -casadi.jtimes(casadi.mtimes(A, v), q, v)
    inverse_mass = 1 / mass  # multiplied with, since divisions are the slowest operations here
    free = force * inverse_mass
    W = casadi.mtimes(casadi.diag(inverse_mass), A.T)
    D, Lt, order = casadi.ldl(casadi.mtimes(A, W))
    multipliers = casadi.ldl_solve(b - casadi.mtimes(A, free), D, Lt, order)
    result = casadi.densify(free + casadi.mtimes(W, multipliers))
    return casadi.Function(name, [q, v, p], [result], ["q", "v", "p"], ["a"])


def pendulum() -> casadi.Function:
    """Spherical pendulum; p = (mass, gravity, length)."""
    q, v, p = casadi.SX.sym("q", 3), casadi.SX.sym("v", 3), casadi.SX.sym("p", 3)
    mass = casadi.repmat(p[0], 3, 1)
    force = casadi.vertcat(0, 0, -p[0] * p[1])
    phi = casadi.sumsqr(q) - p[2] ** 2
    return acceleration("pendulum", q, v, p, mass=mass, force=force, phi=phi)


def pins(q: casadi.SX, lengths: casadi.SX, base: casadi.SX | None) -> list[casadi.SX]:
    """Pin joints of a planar row of rods from the origin on; its end is held at `base`, if any."""
    conditions, tip = [], (0.0, 0.0)
    for k in range(lengths.numel()):
        x, y, angle, half = q[3 * k], q[3 * k + 1], q[3 * k + 2], lengths[k] / 2
        dx, dy = half * casadi.cos(angle), half * casadi.sin(angle)
        conditions += [x - dx - tip[0], y - dy - tip[1]]
        tip = (x + dx, y + dy)
    if base is not None:
        conditions += [tip[0] - base, tip[1]]
    return conditions


def four_bar() -> casadi.Function:
    """Three rods, nine coordinates, eight constraints; p = (lengths, masses, gravity, base)."""
    q, v, p = casadi.SX.sym("q", 9), casadi.SX.sym("v", 9), casadi.SX.sym("p", 8)
    mass = casadi.vertcat(*[f for k in range(3) for f in rod_mass(p[3 + k], p[k])])
    force = casadi.vertcat(*[f for k in range(3) for f in (0, -p[3 + k] * p[6], 0)])
    phi = casadi.vertcat(*pins(q, p[:3], p[7]))
    return acceleration("four_bar", q, v, p, mass=mass, force=force, phi=phi)


def chain(bodies: int) -> casadi.Function:
    """Row of rods hanging from one end; p = (length, mass, g)."""
    q, v = casadi.SX.sym("q", 3 * bodies), casadi.SX.sym("v", 3 * bodies)
    p = casadi.SX.sym("p", 3)
    mass = casadi.repmat(casadi.vertcat(*rod_mass(p[1], p[0])), bodies, 1)
    force = casadi.repmat(casadi.vertcat(0, -p[1] * p[2], 0), bodies, 1)
    phi = casadi.vertcat(*pins(q, casadi.repmat(p[0], bodies, 1), None))
    return acceleration("chain", q, v, p, mass=mass, force=force, phi=phi)


def rod_mass(mass: casadi.SX, length: casadi.SX) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    """Diagonal of a rod's mass matrix."""
    return mass, mass, mass * length**2 / 12


@njit(fastmath=True)
def dense_terms(
    q: Array, v: Array, p: Array, A: Array, b: Array, inverse_mass: Array, a: Array
) -> None:
    """Constraint matrix, right side, inverse masses and free acceleration, written by hand."""
    A[:] = 0.0
    b[:] = 0.0
    for k in range(3):
        half = 0.5 * p[k]
        c, s = half * math.cos(q[3 * k + 2]), half * math.sin(q[3 * k + 2])
        w2 = v[3 * k + 2] ** 2
        # The pin before the rod; then the one behind it, which has the opposite sign, but for the
        # last, where the next rod is the ground.
        A[2 * k, 3 * k], A[2 * k, 3 * k + 2] = 1.0, s
        A[2 * k + 1, 3 * k + 1], A[2 * k + 1, 3 * k + 2] = 1.0, -c
        b[2 * k] -= c * w2
        b[2 * k + 1] -= s * w2
        sign = 1.0 if k == 2 else -1.0
        A[2 * k + 2, 3 * k], A[2 * k + 2, 3 * k + 2] = sign, -sign * s
        A[2 * k + 3, 3 * k + 1], A[2 * k + 3, 3 * k + 2] = sign, sign * c
        b[2 * k + 2] += sign * c * w2
        b[2 * k + 3] += sign * s * w2
        inverse_mass[3 * k] = inverse_mass[3 * k + 1] = 1.0 / p[3 + k]
        inverse_mass[3 * k + 2] = 12.0 / (p[3 + k] * p[k] ** 2)
        a[3 * k], a[3 * k + 1], a[3 * k + 2] = 0.0, -p[6], 0.0


@njit(fastmath=True)
def cholesky_solve(S: Array, b: Array) -> None:
    """Solve S x = b in place, from the lower triangle of S."""
    for j in range(8):
        for i in range(j, 8):
            for k in range(j):
                S[i, j] -= S[i, k] * S[j, k]
        S[j, j] = math.sqrt(S[j, j])
        for i in range(j + 1, 8):
            S[i, j] /= S[j, j]
    for i in range(8):
        for k in range(i):
            b[i] -= S[i, k] * b[k]
        b[i] /= S[i, i]
    for i in range(7, -1, -1):
        for k in range(i + 1, 8):
            b[i] -= S[k, i] * b[k]
        b[i] /= S[i, i]


@njit(fastmath=True)
def dense_solve(A: Array, b: Array, inverse_mass: Array, a: Array, S: Array) -> None:
    """Add the constraint acceleration M⁻¹ Aᵀ λ to a, with (A M⁻¹ Aᵀ) λ = b − A a."""
    for i in range(8):
        for j in range(i + 1):
            total = 0.0
            for k in range(9):
                total += A[i, k] * inverse_mass[k] * A[j, k]
            S[i, j] = total
        for k in range(9):
            b[i] -= A[i, k] * a[k]
    cholesky_solve(S, b)
    for i in range(8):
        for k in range(9):
            a[k] += inverse_mass[k] * A[i, k] * b[i]


@njit
def repeat_dense(q: Array, v: Array, p: Array, a: Array, times: int) -> None:
    """Call the hand-written version in a compiled loop; its arrays are made before."""
    A, b, inverse_mass, S = np.empty((8, 9)), np.empty(8), np.empty(9), np.empty((8, 8))
    for _ in range(times):
        dense_terms(q, v, p, A, b, inverse_mass, a)
        dense_solve(A, b, inverse_mass, a, S)


@loop
def repeat_kernel(
    address: int, q: Array, v: Array, p: Array, a: Array, work: Array, times: int
) -> None:
    """Call a kernel in a compiled loop."""
    for _ in range(times):
        call(address, q, v, p, a, work)


def four_bar_state() -> tuple[Array, Array, Array]:
    """A state on the constraints: the crank at 1.2 rad; the assembly by Newton's method."""
    p = np.array([1.0, 2.0, 1.8, 1.0, 2.0, 1.5, 9.81, 2.2])
    q_symbol = casadi.SX.sym("q", 9)
    phi = casadi.vertcat(*pins(q_symbol, casadi.SX(p[:3]), casadi.SX(p[7])), q_symbol[2] - 1.2)
    newton = casadi.rootfinder("assemble", "newton", {"x": q_symbol, "g": phi})
    q = np.array(newton(x0=[0.2, 0.5, 1.2, 1.3, 1.3, 0.4, 2.0, 1.0, -2.0])["x"]).ravel()
    A = np.array(casadi.Function("A", [q_symbol], [casadi.jacobian(phi[:8], q_symbol)])(q))
    return q, 3.0 * np.linalg.svd(A)[2][-1], p


# --------------------------------------------------------------------------------------- measuring


def least_times(contenders: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Least CPU time of one evaluation by each contender, in nanoseconds; they take turns.

    A contender is a function and the number of evaluations that one call of it makes.
    """
    least = dict.fromkeys(contenders, math.inf)
    for _ in range(PASSES):
        for name, (run, evaluations) in contenders.items():
            start = time.process_time()
            run()
            seconds = time.process_time() - start
            least[name] = min(least[name], seconds / evaluations * 1e9)
    return least


def moved(arrays: list[Array], shifts: Iterator[int]) -> list[Array]:
    """Copies of arrays at another place than last time.

    A load that falls on the same place in its page as a recent store waits for it, and where the
    stack lies is chance; a pass in which nothing collides is the one to count.
    """
    start = 8 * next(shifts)  # a cache line on
    buffer = np.empty(start + sum(array.size for array in arrays))
    copies = []
    for array in arrays:
        copies.append(buffer[start : start + array.size].reshape(array.shape))
        copies[-1][:] = array
        start += array.size
    return copies


def machine_loop(
    function: casadi.Function, inputs: list[Array], output: Array
) -> Callable[[], object]:
    """CasADi's machine in CasADi's own loop."""
    symbols = function.sx_in()
    reduced = casadi.Function("reduced", symbols, casadi.cse(function.call(symbols)))
    buffer: Any
    buffer, evaluate = reduced.map(MACHINE_EVALUATIONS).buffer()
    arrays: list[Any] = [np.tile(array, MACHINE_EVALUATIONS) for array in inputs]
    results: Any = np.zeros(MACHINE_EVALUATIONS * output.size)
    for place, array in enumerate(arrays):
        buffer.set_arg(place, memoryview(array))
    buffer.set_res(0, memoryview(results))

    # CasADi holds bare pointers: what they point to must live as long as the loop does.
    def run(_kept: object = (buffer, arrays, results)) -> None:
        evaluate()
        output[:] = results[-output.size :]

    return run


def right_hand_side(
    function: casadi.Function, inputs: list[Array], dense: Callable[..., None] | None
) -> dict[str, float]:
    """Time of one evaluation, in nanoseconds, by each way; they must agree."""
    size = function.nnz_out(0)
    wide_inputs = [np.repeat(array[:, None], LANES, axis=1) for array in inputs]
    scalar, wide = codegen.compile(function), codegen.compile(function, lanes=LANES)
    scalar_work, wide_work = scalar.work(), wide.work()
    results: dict[str, Any] = {name: np.zeros(size) for name in ("compiled", "machine", "dense")}
    results["lanes"] = np.zeros((size, LANES))

    shifts = itertools.count()

    def run_scalar() -> None:
        q, v, p = moved(inputs, shifts)
        repeat_kernel(scalar.address, q, v, p, results["compiled"], scalar_work, EVALUATIONS)

    def run_wide() -> None:
        q, v, p = moved(wide_inputs, shifts)
        times = EVALUATIONS // LANES
        repeat_kernel(wide.address, q, v, p, results["lanes"], wide_work, times)

    def run_dense() -> None:
        assert dense is not None
        dense(*moved(inputs, shifts), results["dense"], EVALUATIONS)

    contenders: dict[str, tuple[Callable[[], object], int]] = {
        "compiled": (run_scalar, EVALUATIONS),
        "lanes": (run_wide, EVALUATIONS),
        "machine": (machine_loop(function, inputs, results["machine"]), MACHINE_EVALUATIONS),
    }
    if dense is not None:
        contenders["dense"] = (run_dense, EVALUATIONS)
    for name, (run, _) in contenders.items():
        run()  # loops are compiled here
        assert np.allclose(results[name].T, results["compiled"], rtol=1e-11, atol=1e-11), name
    assert (results["lanes"] == results["compiled"][:, None]).all()
    return least_times(contenders)


def start_up() -> tuple[float, float]:
    """CPU seconds to build the four-bar in a new process: without and with a cache.

    From the functions to the first result: differentiation, elimination, compiling or loading.
    Imports are left out.
    """
    command = [sys.executable, __file__, "--build-once"]
    cold, warm = [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"ZWANG_CACHE_DIR": folder}
            for times in (cold, warm):
                output = subprocess.run(command, env=environment, capture_output=True, check=True)
                times.append(json.loads(output.stdout))
    assert all(built["compilations"] == 1 for built in cold)
    assert all(built["compilations"] == 0 for built in warm)
    return min(built["seconds"] for built in cold), min(built["seconds"] for built in warm)


def build_once() -> None:
    """In a process of its own: build the four-bar, evaluate it once, print the CPU time."""
    p = np.array([1.0, 2.0, 1.8, 1.0, 2.0, 1.5, 9.81, 2.2])
    start = time.process_time()
    kernel = codegen.compile(four_bar())
    kernel(np.linspace(0.1, 0.9, 9), np.ones(9), p)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "compilations": codegen.compilations()}))


def compile_times() -> dict[int, float]:
    """CPU seconds from a CasADi function to code in memory, by number of operations."""
    host()  # LLVM is set up once, not once a kernel
    per_body = (read(chain(40)).operation_count - read(chain(20)).operation_count) / 20
    functions = [chain(round(target / per_body)) for target in (2_000, 10_000, 50_000)]
    least: dict[int, float] = {}
    for round_ in range(4):
        for function in functions if round_ < 2 else functions[:2]:
            start = time.process_time()
            expression = read(function)
            assembly = assemble(expression, lanes=1, fma=host().fma)
            load(object_code(assembly.text))
            seconds = time.process_time() - start
            count = expression.operation_count
            least[count] = min(least.get(count, math.inf), seconds)
    return least


# ------------------------------------------------------------------------------------------ report


def main() -> int:
    """Measure and print; the number of missed goals."""
    missed = 0

    def report(what: str, value: str, goal: str = "", *, reached: bool = True) -> None:
        nonlocal missed
        missed += not reached
        mark = "" if not goal else "reached" if reached else "MISSED"
        print(f"{what:<58}{value:>12}   {goal:<12}{mark}", flush=True)

    swing = [np.array([0.6, 0.0, -0.8]), np.array([0.0, 0.8, 0.0]), np.array([2.0, 9.81, 1.0])]
    cases = (
        ("spherical pendulum", pendulum(), swing, None),
        ("planar four-bar", four_bar(), list(four_bar_state()), repeat_dense),
    )
    for name, function, inputs, dense in cases:
        times = right_hand_side(function, inputs, dense)
        print(f"\n{name}: one right-hand side, {read(function).operation_count} operations")
        report("  compiled", f"{times['compiled']:.1f} ns")
        report(f"  compiled, {LANES} lanes, each", f"{times['lanes']:.1f} ns")
        report("  CasADi's machine", f"{times['machine']:.1f} ns")
        ratio = times["machine"] / times["compiled"]
        report("  compiled against the machine", f"{ratio:.1f} x", ">= 8", reached=ratio >= 8)
        if dense is not None:
            report("  dense, written by hand, Numba", f"{times['dense']:.1f} ns")
            ratio = times["dense"] / times["compiled"]
            report("  compiled against dense", f"{ratio:.1f} x", ">= 3", reached=ratio >= 3)

    print("\nfour-bar, from its functions to the first result, imports left out")
    cold, warm = start_up()
    report("  nothing cached", f"{cold * 1e3:.0f} ms", "<= 300", reached=cold <= 0.3)
    report("  cached", f"{warm * 1e3:.1f} ms", "<= 30", reached=warm <= 0.03)

    print("\ncompile time of a planar chain")
    measured = compile_times()
    for count, seconds in measured.items():
        report(f"  {count} operations", f"{seconds:.2f} s")
    logs = np.log([list(measured), list(measured.values())])
    exponent = float(np.polyfit(logs[0], logs[1], 1)[0])
    report("  exponent", f"{exponent:.3f}", "<= 1.15", reached=exponent <= 1.15)
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Speed of compiled kernels.")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    parser.add_argument("--build-once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build_once:
        build_once()
    else:
        missed_goals = main()
        sys.exit(missed_goals if arguments.check else 0)
