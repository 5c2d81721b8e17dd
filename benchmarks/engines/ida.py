"""SUNDIALS IDA, variable-order BDF, on Zwang's own compiled equations and Jacobian.

No engine: what remains of a comparison where equations are the same and the integrator alone
differs. Residual and Jacobian are called from Python, which its interface asks for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sksundae.ida import IDA

from benchmarks.cases.model import Work
from benchmarks.engines.base import CannotError, Ran, Settings
from benchmarks.engines.zwang import mechanism
from zwang import Mechanism
from zwang.integrators.settings import Settings as Choices
from zwang.programs.contract import Program
from zwang.simulation.select_program import ProgramStart, select_program

MODULE, PACKAGES = "sksundae", ("scikit-sundae",)
STEPPED = "BDF of variable order, in C, on the compiled equations and Jacobian of Zwang"

TOLERANCES = [10.0**-k for k in range(3, 14)]


def settings(work: Work) -> Settings:
    """Tolerances, on the program that a run of Zwang takes."""
    if not work.stiff:
        raise CannotError("asked for stiff cases alone")
    m = mechanism(work)
    start, system = m.assemble(), m.system
    y, p = np.concatenate([start.q, start.v]), system.parameter_vector()
    program = select_program(system.equations, ProgramStart(y, 0.0, p), Choices(until=1.0))
    carrier = program.carrier
    if carrier is not None:
        y, p = (x[:, 0] for x in carrier.enter(y[:, None], 0.0, p[:, None]))

    def run(tolerance: float) -> Ran:
        solver, rates = _solver(program, p, tolerance)
        begin = time.process_time()
        found = solver.solve(work.times, y, rates(0.0, y))
        spent = time.process_time() - begin
        states = np.asarray(found.y)
        if not found.success:
            return Ran(spent, np.full((len(work.times), len(work.points), 3), np.nan))
        if carrier is not None:
            states = carrier.leave(states, work.times, np.tile(p, (len(states), 1)))
        return Ran(spent, lambda: _centers(work, m, states))

    return {f"BDF, tolerance {x:g}": lambda x=x: run(x) for x in TOLERANCES}


def _solver(
    program: Program, p: np.ndarray, tolerance: float
) -> tuple[IDA, Callable[[float, np.ndarray], np.ndarray]]:
    """IDA with the kernels of a program, and the derivative they give."""
    derivative, slopes, nq = program.kernel("derivative"), program.kernel("jacobian"), program.nq
    n, place = nq + program.nv, np.diag_indices(nq + program.nv)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(derivative(y[:nq], y[nq:], [t], p))

    def residual(t: float, y: np.ndarray, yp: np.ndarray, res: np.ndarray) -> None:
        res[:] = yp - rates(t, y)

    def jacobian(
        t: float, y: np.ndarray, yp: np.ndarray, res: np.ndarray, cj: float, JJ: np.ndarray
    ) -> None:
        del yp, res
        JJ[:, :] = -slopes(y[:nq], y[nq:], [t], p)[0].reshape(n, n).T
        JJ[place] += cj

    options = {"rtol": tolerance, "atol": tolerance, "max_num_steps": 1_000_000}
    return IDA(residual, jacfn=jacobian, **options), rates


def _centers(work: Work, m: Mechanism, states: np.ndarray) -> np.ndarray:
    """Centres of the bodies, which stand first among their coordinates."""
    names = m.system.coordinates
    flat = work.planar
    found = []
    for k in work.points:
        own = [i for i, name in enumerate(names) if name.startswith(f"b{k}.")]
        x, z = states[:, own[0]], states[:, own[1 if flat else 2]]
        between = 0.0 * x if flat else states[:, own[1]]
        found.append(np.stack([x, between, z], axis=1))
    return np.stack(found, axis=1)


def evaluation(work: Work) -> None:
    """It has no equations of its own."""
    del work
