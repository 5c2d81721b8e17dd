"""How long one evaluation of each worked example takes, beside a control step of 1 ms.

    python -m benchmarks.real_time

Udwadia & Kalaba (1996) close with the claim that their equations can be computed in real time. An
evaluation gives q̇ and v̇ at a state: compiled, as integrators call it, and by `System.solve` from
Python, which adds constraint force, multipliers and all checks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.engines.zwang import repeat
from zwang import library
from zwang.integrators.settings import Settings as Choices
from zwang.simulation.select_program import ProgramStart, select_program
from zwang.state import State
from zwang.system import System

#: A control loop of 1 kHz.
STEP = 1e-3


class Timing(NamedTuple):
    """Seconds of one evaluation, compiled and from Python."""

    compiled: float
    solve: float


def examples() -> dict[str, tuple[System, State]]:
    """Name → system and a state that satisfies its constraints, of all worked examples."""
    rng = np.random.default_rng(1)
    named: dict[str, tuple[str, dict[str, Any]]] = {
        "UK example 1, spherical pendulum": ("spherical_pendulum", {}),
        "UK example 2, Kepler's laws": ("kepler_laws", {}),
        "UK example 2, the ellipse alone": ("kepler_ellipse", {}),
        "UK example 3, nonholonomic particle": ("nonholonomic_particle", {}),
        "US section 4, body in quaternions": ("rotating_body", {}),
        "BL section 6, disk, six coordinates": ("rolling_disk", {"form": "dependent"}),
        "BL section 6, disk, five coordinates": ("rolling_disk", {"form": "coordinates"}),
        "BL section 6, disk, three velocities": ("rolling_disk", {"form": "velocities"}),
        "BL section 6, disk on a smooth plane": ("sliding_disk", {"form": "dependent"}),
    }
    found = {}
    for title, (name, options) in named.items():
        states = library.states(name, rng, 1, **options)
        system = getattr(library, name)(**options)
        found[title] = system, State(states.q[0], states.v[0], float(np.ravel(states.t)[0]))
    return found


class Evaluation:
    """q̇ and v̇ of a system at a state by the compiled kernel that integrators call."""

    def __init__(self, system: System, state: State) -> None:
        y, p = np.concatenate([state.q, state.v]), system.parameter_vector()
        self.program = select_program(
            system.equations,
            ProgramStart(y, state.t, p),
            Choices(until=state.t + 1.0),
        )
        if self.program.carrier is not None:
            y, p = (x[:, 0] for x in self.program.carrier.enter(y[:, None], state.t, p[:, None]))
        kernel = self.program.kernel("derivative")
        self.q_dot, self.v_dot = (np.empty(port.size) for port in kernel.outputs)
        nq = self.program.nq
        self.given = (y[:nq].copy(), y[nq:].copy(), np.array([state.t]), np.append(p, 0.0))
        self.work = kernel.work()

    def __call__(self, count: int) -> None:
        """Evaluate so many times in a compiled loop."""
        address = self.program.kernel("derivative").address
        repeat(address, *self.given, self.q_dot, self.v_dot, self.work, count)


def measure(work: Callable[[int], None], seconds: float) -> float:
    """Processor time of one, the best of five turns of about so many seconds in all."""
    count, spent = 1, 0.0
    while spent < seconds / 10:
        count *= 2
        begun = time.process_time()
        work(count)
        spent = time.process_time() - begun
    best = spent
    for _ in range(4):
        begun = time.process_time()
        work(count)
        best = min(best, time.process_time() - begun)
    return best / count


def timing(system: System, state: State, seconds: float = 0.2) -> Timing:
    """Both ways to evaluate one example."""

    def from_python(count: int) -> None:
        for _ in range(count):
            system.solve(state)

    return Timing(measure(Evaluation(system, state), seconds), measure(from_python, seconds))


def main() -> None:
    """Print the table."""
    print(f"{'':<38}{'compiled':>12}{'solve':>12}   of a step of {1e3 * STEP:g} ms")
    for title, (system, state) in examples().items():
        t = timing(system, state)
        share = f"{100 * t.compiled / STEP:8.3f} % {100 * t.solve / STEP:8.1f} %"
        print(f"{title:<38}{1e6 * t.compiled:>9.2f} µs{1e6 * t.solve:>9.0f} µs   {share}")


if __name__ == "__main__":
    main()
