"""Many trajectories at once: Zwang's `simulate_many` and MuJoCo's `rollout`, two threads each.

Trajectories a second of wall time, and processor time of one trajectory, which other programs on
the machine disturb less. MuJoCo gets the largest step, Zwang the largest tolerance, with which
sampled trajectories keep to the wanted accuracy; a smaller number of MuJoCo's trajectories is run
where a thousand would take minutes, which cost the same each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.cases import WORKS, Work
from benchmarks.cases.model import GRAVITY
from benchmarks.engines import installed
from benchmarks.engines.zwang import mechanism
from benchmarks.references.make import Closed, moved
from benchmarks.references.one_freedom import pendulum

__all__ = ["ensembles"]

COUNT, THREADS, PASSES = 1000, 2, 2
LEVELS = (1e-3, 1e-6)
#: Factors on the velocities at the start, and how many of the trajectories are compared.
FACTORS, SAMPLES = (0.9, 1.1), 2
TOLERANCES = [10.0**-k for k in range(4, 12)]
STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)
#: Seconds that MuJoCo may take for one measurement, about.
PATIENCE = 4.0
#: Joint rate of Bricard's loop at the start: at rest all factors would give one motion.
BRICARD_RATE = 0.3


def ensembles(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Trajectories a second at each level, on four-bar and Bricard."""
    found = []
    for name in ("four_bars(1)", "bricard"):
        case = Case(WORKS[name]())
        for level in LEVELS:
            row: dict[str, Any] = {"work": name, "level": level, "ours": case.ours(level)}
            if "MuJoCo" in installed():
                row["mujoco"] = case.mujoco(level)
            found.append(row)
            say(f"{name:<14} ≤ {level:g} m: {row}")
    return found


class Case:
    """A work with velocities at the start times factors, compared at the end."""

    def __init__(self, work: Work) -> None:
        self.work, self.until = work, work.until
        self.mechanism = mechanism(work)
        self.system = self.mechanism.system
        start = self.system.assemble()
        self.q, self.v = start.q, start.v
        self.factors = np.linspace(*FACTORS, COUNT)
        self.sample = np.linspace(0, COUNT - 1, SAMPLES).astype(int)
        if work.name == "bricard":
            self.v, self.rates = self._along_the_loop()
        else:
            self.rates = np.array([joint.rate for joint in work.tree])
        self.reference = np.array([self._end(factor) for factor in self.factors[self.sample]])

    def _along_the_loop(self) -> tuple[np.ndarray, np.ndarray]:
        """Velocities that the loop allows, and the joints' rates with them."""
        A = self.system.terms(self.q, self.v).constraint_matrix
        v = np.linalg.svd(A)[2][-1]
        omega = [np.zeros(3)]
        for k, body in enumerate(self.work.bodies):
            omega.append(body.axes @ v[6 * k + 3 : 6 * k + 6])
        rates = np.array([j.axis @ (omega[j.b + 1] - omega[j.a + 1]) for j in self.work.tree])
        return v * BRICARD_RATE / rates[0], rates * BRICARD_RATE / rates[0]

    def _end(self, factor: float) -> np.ndarray:
        """Where the centres must be at the end."""
        if self.work.name == "bricard":
            loop, span = Closed(self.work), 0.25
            y = np.concatenate([np.zeros(loop.n), factor * self.rates])
            for _ in range(round(self.until / span)):
                y = loop.closed(moved(loop.rate, y, span))
            return np.array(loop.tree.centers(y[: loop.n]))
        times = np.array([0.0, self.until])
        (angle,) = pendulum(GRAVITY * 2.0 / (5.0 / 3.0), 0.0, factor, times)[1:]
        tip = np.array([np.sin(angle), 0.0, np.cos(angle)])
        return np.array([tip / 2, np.array([1, 0, 0]) + tip / 2, np.array([0.5, 0, 0]) + tip])

    def _error(self, centers: np.ndarray) -> float:
        distance = np.linalg.norm(centers - self.reference, axis=-1).max()
        return float(distance) if np.isfinite(distance) else float("inf")

    # --- Zwang ------------------------------------------------------------------------------------

    def _many(self, tolerance: float, factors: np.ndarray) -> zw.Runs:
        return self.system.simulate_many(
            self.q,
            factors[:, None] * self.v,
            until=self.until,
            tolerance=tolerance,
            save=[self.until],
            threads=THREADS,
        )

    def ours(self, level: float) -> dict[str, Any] | None:
        """Trajectories a second with the largest tolerance that is good enough."""
        count = len(self.work.bodies)
        for tolerance in TOLERANCES:
            runs = self._many(tolerance, self.factors[self.sample])
            centers = [[run.body(f"b{k}").center[-1] for k in range(count)] for run in runs]
            error = self._error(np.array(centers))
            if error <= level:
                break
        else:
            return None
        spent = []
        for _ in range(PASSES):
            begin = time.perf_counter(), time.process_time()
            self._many(tolerance, self.factors)
            spent.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        return _row(f"tolerance {tolerance:g}", error, COUNT, spent)

    # --- MuJoCo -----------------------------------------------------------------------------------

    def mujoco(self, level: float) -> dict[str, Any] | None:
        """The same with the largest step that is good enough."""
        for h in STEPS:
            centers, (wall, _) = self._rollout(h, self.factors[self.sample])
            error = self._error(centers)
            if error <= level:
                break
        else:
            return None
        count = int(np.clip(PATIENCE / wall * SAMPLES, 2 * THREADS, COUNT))
        spent = [self._rollout(h, self.factors[:count])[1] for _ in range(PASSES)]
        return _row(f"RK4, step {h:g} s", error, count, spent)

    def _rollout(self, h: float, factors: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
        import mujoco
        from mujoco import rollout

        from benchmarks.engines.mujoco import build

        model, data = build(self.work, h)
        data.qvel[:] = self.rates
        full = mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(mujoco.mj_stateSize(model, full))
        mujoco.mj_getState(model, data, state, full)
        starts = np.tile(state, (len(factors), 1))
        starts[:, 1 + model.nq : 1 + model.nq + model.nv] *= factors[:, None]
        threads = [mujoco.MjData(model) for _ in range(THREADS)]
        begin = time.perf_counter(), time.process_time()
        states, _ = rollout.rollout(model, threads, starts, nstep=round(self.until / h))
        spent = time.perf_counter() - begin[0], time.process_time() - begin[1]
        centers = []
        for k in np.linspace(0, len(factors) - 1, SAMPLES).astype(int):
            mujoco.mj_setState(model, data, states[k, -1], full)
            mujoco.mj_kinematics(model, data)
            ids = [model.body(f"b{j}").id for j in range(len(self.work.bodies))]
            centers.append(data.xpos[ids].copy())
        return np.array(centers), spent


def _row(
    setting: str, error: float, count: int, spent: list[tuple[float, float]]
) -> dict[str, Any]:
    """Least wall and processor time of all passes."""
    wall, cpu = (min(times) for times in zip(*spent, strict=True))
    return {
        "setting": setting,
        "error": error,
        "count": count,
        "rate": count / wall,
        "cpu_each": cpu / count,
    }
