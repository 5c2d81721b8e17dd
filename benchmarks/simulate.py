"""Speed of simulations: against SciPy's integrator, the price of projection, ensembles, memory.

    python -m benchmarks.simulate            # print the figures beside their goals
    python -m benchmarks.simulate --check    # and end with an error if a goal is missed
    python -m benchmarks.simulate --memory   # a stored run of ten million steps as well, minutes

CPU times, the least of several passes in which the contenders take turns, so that a busy machine
slows all of them alike; the ensemble is measured in wall time, since it uses all cores. Everything
is measured in one run; compare ratios.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import zwang as zw
from zwang.integrators.settings import Settings
from zwang.simulation.select_program import ProgramStart, select_program

PASSES = 7
#: A share is the difference of two times that noise moves as much: it takes more of them.
DIFFERENCE_PASSES = 60
UNTIL = 100.0
TOLERANCE = 1e-9
ENSEMBLE = 1000


def pendulum() -> tuple[zw.System, np.ndarray, np.ndarray]:
    """A point on a rod, from the horizontal."""
    system = zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda p: [0.0, -p.m * p.g],
        constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    )
    return system, np.array([1.0, 0.0]), np.zeros(2)


def four_bar() -> tuple[zw.System, np.ndarray, np.ndarray]:
    """Crank, coupler and rocker as rods in the plane: three angles, one loop, under gravity."""
    a, b, c, ground = 1.0, 3.0, 2.5, 3.0

    def kinetic(q: Any, v: Any) -> Any:
        total = 0.5 * (a**2 * v[0] ** 2 + c**2 * v[2] ** 2) / 3.0
        # The coupler's centre moves with the crank's tip and turns about it.
        x = -a * np.sin(q[0]) * v[0] - 0.5 * b * np.sin(q[1]) * v[1]
        y = a * np.cos(q[0]) * v[0] + 0.5 * b * np.cos(q[1]) * v[1]
        return total + 0.5 * (x**2 + y**2 + b**2 * v[1] ** 2 / 12.0)

    def height(q: Any) -> Any:
        crank = 0.5 * a * np.sin(q[0])
        coupler = a * np.sin(q[0]) + 0.5 * b * np.sin(q[1])
        return 9.81 * (crank + coupler + 0.5 * c * np.sin(q[2]))

    system = zw.System.from_lagrangian(
        ["crank", "coupler", "rocker"],
        T=kinetic,
        V=height,
        constraints={
            "loop": zw.position(
                lambda q: [
                    a * np.cos(q[0]) + b * np.cos(q[1]) - c * np.cos(q[2]) - ground,
                    a * np.sin(q[0]) + b * np.sin(q[1]) - c * np.sin(q[2]),
                ]
            )
        },
    )
    state = system.assemble(hold={"crank": 1.0}, prefer={"coupler": 0.5, "rocker": 1.5})
    return system, state.q, state.v


def right_hand_side(
    system: zw.System, q: np.ndarray, v: np.ndarray
) -> Callable[[float, np.ndarray], np.ndarray]:
    """The compiled derivative, called from Python with as little in between as there can be."""
    y = np.concatenate([q, v])
    p = system.parameter_vector()
    program = select_program(system.equations, ProgramStart(y, 0.0, p), Settings(until=1.0))
    kernel = program.kernel("derivative")
    state, out, moment, work = np.empty_like(y), np.empty_like(y), np.empty(1), kernel.work()
    p = np.ascontiguousarray(np.append(p, 0.0))
    size = 8 * len(q)
    pointers = [
        state.ctypes.data,
        state.ctypes.data + size,
        moment.ctypes.data,
        p.ctypes.data,
        out.ctypes.data,
        out.ctypes.data + size,
        work.ctypes.data,
    ]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(kernel.address)
    keep = (kernel, state, out, moment, p, work)

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        state[:], moment[0] = y, t
        function(*pointers)
        return out.copy()

    derivative.keep = keep  # type: ignore[attr-defined]
    return derivative


def least(
    contenders: dict[str, Callable[[], object]], clock: Callable[[], float], passes: int = PASSES
) -> dict[str, float]:
    """Least time of each contender, in turns."""
    best = dict.fromkeys(contenders, np.inf)
    for work in contenders.values():
        work()  # compiled and loaded
    for _ in range(passes):
        for name, work in contenders.items():
            begin = clock()
            work()
            best[name] = min(best[name], clock() - begin)
    return best


def against_scipy(name: str, model: tuple[zw.System, np.ndarray, np.ndarray]) -> float:
    """How many times faster than DOP853 of SciPy with the same compiled right-hand side."""
    system, q, v = model
    derivative, y = right_hand_side(system, q, v), np.concatenate([q, v])
    times = least(
        {
            "zwang": lambda: system.simulate(q, v, until=UNTIL, tolerance=TOLERANCE),
            "scipy": lambda: solve_ivp(
                derivative, (0.0, UNTIL), y, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE
            ),
        },
        time.process_time,
    )
    ratio = times["scipy"] / times["zwang"]
    print(
        f"{name:<10} {UNTIL:.0f} s: zwang {1e3 * times['zwang']:8.2f} ms, "
        f"DOP853 from Python {1e3 * times['scipy']:8.1f} ms"
    )
    return ratio


def projection_share(model: tuple[zw.System, np.ndarray, np.ndarray]) -> float:
    """Part of the time of a step that keeping the constraints takes."""
    system, q, v = model
    long = 10.0 * UNTIL
    steps = {
        drift: system.simulate(q, v, until=long, drift=drift, save=[long]).counts.steps
        for drift in ("projection", "none")
    }
    times = least(
        {
            drift: lambda drift=drift: system.simulate(q, v, until=long, drift=drift, save=[long])
            for drift in steps
        },
        time.process_time,
        DIFFERENCE_PASSES,
    )
    per_step = {drift: times[drift] / steps[drift] for drift in steps}
    return 1.0 - per_step["none"] / per_step["projection"]


def ensemble_gain() -> float:
    """Throughput of an ensemble over that of a loop of single runs, in wall time."""
    system, _, _ = pendulum()
    angles = np.random.default_rng(1).uniform(-2.5, 2.5, ENSEMBLE)
    q = np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    v = np.zeros_like(q)
    times = least(
        {
            "many": lambda: system.simulate_many(q, v, until=10.0),
            "loop": lambda: [system.simulate(q[i], v[i], until=10.0) for i in range(ENSEMBLE)],
        },
        time.perf_counter,
    )
    print(
        f"{ENSEMBLE} runs: together {1e3 * times['many']:.0f} ms, "
        f"one after the other {1e3 * times['loop']:.0f} ms"
    )
    return times["loop"] / times["many"]


def peak_memory() -> float:
    """Largest memory [MB] of a process that stores a run of ten million steps."""
    with tempfile.TemporaryDirectory() as folder:
        program = (
            "import resource, sys\n"
            "from benchmarks import simulate\n"
            "system, q, v = simulate.pendulum()\n"
            "run = system.simulate(q, v, until=1e4, step=1e-3, store=sys.argv[1])\n"
            "assert run.counts.steps == 10_000_000, run.counts\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, f"{folder}/run"],
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def main() -> None:
    """Measure everything and compare with the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    parser.add_argument("--memory", action="store_true", help="measure the memory of a long run")
    options = parser.parse_args()
    models = {"pendulum": pendulum(), "four-bar": four_bar()}
    results: list[tuple[str, float, str, float]] = []
    for name, model in models.items():
        results.append((f"{name}: times faster than DOP853", against_scipy(name, model), "≥", 40.0))
    for name, model in models.items():
        results.append((f"{name}: share of projection", projection_share(model), "≤", 0.25))
    results.append((f"ensemble of {ENSEMBLE}: gain", ensemble_gain(), "≥", 5.0))
    if options.memory:
        results.append(("ten million stored steps: MB", peak_memory(), "≤", 300.0))
    missed = False
    for name, value, relation, goal in results:
        kept = value >= goal if relation == "≥" else value <= goal
        missed |= not kept
        print(f"{name:<40} {value:8.2f}   goal {relation} {goal:g}{'' if kept else '   MISSED'}")
    if options.check and missed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
