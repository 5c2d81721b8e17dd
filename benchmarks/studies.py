"""Studies against what they are made of: the bare ensemble, MuJoCo's rollout, a loop of processes.

Times are processor times of one run of everything, so that ratios hold on a busy machine; workers
of the loop are counted with it.
"""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.cases import WORKS
from benchmarks.engines import installed
from benchmarks.ensembles import Case

__all__ = ["studies"]

PENDULUMS, FOUR_BARS, LOOPED = 100_000, 10_000, 200
THREADS, PASSES, TIMES = 2, 6, 21
LENGTH, UNTIL = 1.0, 10.0
#: Runs of the studies whose memory is compared.
MEMORY = (10_000, 1_000_000)
#: Positions of the pendulum's end are this accurate [m], and of the four-bar's bodies.
LEVEL = 1e-3
MODEL = """<mujoco><option timestep="{h}" integrator="RK4"/><worldbody><body>
<joint type="hinge" axis="0 1 0"/><inertial pos="0.5 0 0" mass="1"
diaginertia="0.0833333333 0.0833333333 0.0833333333"/></body></worldbody></mujoco>"""


def pendulum() -> zw.Mechanism:
    """A rod on a pin, in its plane."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=1.0 / 12.0, position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    return m


def studies(say: Callable[[str], None]) -> dict[str, Any]:
    """Figures of studies, each a ratio within one run."""
    cases: dict[str, Any] = {}
    for name, case in (("pendulum", PendulumStudy()), ("four-bar", FourBarStudy())):
        cases[name] = case.figures()
        say(f"{name}: {cases[name]}")
    memory = {f"{count:,}": peak_memory(count) for count in MEMORY}
    say(f"peak memory [MB]: {memory}")
    return {"cases": cases, "memory": memory}


def peak_memory(count: int) -> float:
    """Largest memory of a process with a study of so many pendulums [MB]."""
    code = f"from benchmarks.studies import _only_study; _only_study({count})"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(told.stdout)


def _only_study(count: int) -> None:
    """A study of pendulums, and the memory that it took at most [MB]."""
    case = PendulumStudy()
    plan = case.plan(count, outputs=list(case.system.coordinates[:4]))
    with tempfile.TemporaryDirectory() as folder:
        case.study(plan, Path(folder))
    # Not `ru_maxrss`, which begins with what the process had that started this one.
    told = Path("/proc/self/status").read_text(encoding="utf-8")
    print(next(int(line.split()[1]) for line in told.splitlines() if "VmHWM" in line) / 1024.0)


def _spent(*works: Callable[[Path], Any]) -> list[float]:
    """Least processor times of things that take turns, some passes each, children included [s].

    Each is given an empty folder; what it wrote there is removed apart from that.
    """
    result: list[list[float]] = [[] for _ in works]
    for _ in range(PASSES):
        for work, spent in zip(works, result, strict=True):
            with tempfile.TemporaryDirectory() as folder:
                before = time.process_time(), _children()
                work(Path(folder))
                spent.append(time.process_time() - before[0] + _children() - before[1])
    return [min(spent) for spent in result]


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _single(factor: float) -> np.ndarray:
    """One run of the loop, its end."""
    (case,) = _LOOPED
    run = case.system.simulate(
        case.q, factor * case.v, until=case.until, tolerance=case.tolerance, save=[case.until]
    )
    return run.q[-1]


#: The case that a loop of processes runs.
_LOOPED: list[StudyCase] = []


class StudyCase:
    """A system with starts, as a study, a bare ensemble and a loop."""

    system: zw.System
    q: np.ndarray
    v: np.ndarray
    until: float
    tolerance: float

    def plan(self, count: int, **kept: Any) -> dict[str, Any]:
        """The study: velocities at the start times factors."""
        moving = [k for k in range(len(self.v)) if self.v[k] != 0.0]
        first = f"start.{self.system.velocities[moving[0]]}"
        start: dict[str, Any] = dict(zip(self.system.coordinates, self.q.tolist(), strict=True))
        for k in moving[1:]:
            share = float(self.v[k] / self.v[moving[0]])
            start[self.system.velocities[k]] = f"{share!r} * '{first}'"
        low, high = sorted(float(self.v[moving[0]]) * f for f in (0.9, 1.1))
        return {
            "grid": {first: {"from": low, "to": high, "count": count}},
            "start": start,
            "until": self.until,
            "settings": {"tolerance": self.tolerance},
            **kept,
        }

    def study(self, plan: dict[str, Any], folder: Path) -> zw.Study:
        """Run it into a new dataset."""
        found = zw.study(self.system, plan, output=folder / "a.zarr")
        return found.run(workers=THREADS, progress=False)

    def ensemble(self, count: int, save: Any) -> None:
        """The same as a bare ensemble, of which only the compiled runs are kept."""
        factors = np.linspace(0.9, 1.1, count)
        for k in range(0, count, 10_000):
            self.system.simulate_many(
                self.q,
                factors[k : k + 10_000, None] * self.v,
                until=self.until,
                tolerance=self.tolerance,
                save=save,
                threads=THREADS,
                progress=False,
            )

    def looped(self, count: int) -> None:
        """A loop of two processes over `simulate`, as one writes it by hand."""
        _LOOPED[:] = [self]  # forked processes have it; functions of a case cannot be sent
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(_single, np.linspace(0.9, 1.1, count), chunksize=25)

    def against_ensemble(self, count: int) -> dict[str, float]:
        """Throughput of the study relative to that of the bare ensemble."""
        names = list(self.system.coordinates[:4])
        times = np.linspace(0.0, self.until, TIMES)
        ends, series = self.plan(count, outputs=names), self.plan(count, outputs=names, times=TIMES)
        self.ensemble(64, [self.until])
        bare, kept, bare_series, kept_series, loop = _spent(
            lambda _: self.ensemble(count, [self.until]),
            lambda folder: self.study(ends, folder),
            lambda _: self.ensemble(count, times),
            lambda folder: self.study(series, folder),
            lambda _: self.looped(LOOPED),
        )
        loop /= LOOPED
        return {
            "runs": count,
            "study_each": kept / count,
            "end_values": bare / kept,
            "series": bare_series / kept_series,
            "against_loop": loop / (kept / count),
        }


class PendulumStudy(StudyCase):
    """A pendulum, from the horizontal with a push."""

    def __init__(self) -> None:
        self.mechanism = pendulum()
        self.system, self.until = self.mechanism.system, UNTIL
        state = self.mechanism.assemble(velocity={"hold": {"pin.angle_rate": 2.0}})
        self.q, self.v = state.q, state.v
        reference = self._tip(1e-13)
        self.tolerance = next(
            tol
            for tol in (10.0**-k for k in range(3, 12))
            if np.abs(self._tip(tol) - reference).max() <= LEVEL
        )
        self.reference = reference

    def _tip(self, tolerance: float) -> np.ndarray:
        run = self.system.simulate(
            self.q, self.v, until=self.until, tolerance=tolerance, save=[self.until]
        )
        return run.body("rod").center[-1] * 2.0

    def figures(self) -> dict[str, Any]:
        """All ratios."""
        found: dict[str, Any] = self.against_ensemble(PENDULUMS)
        if "MuJoCo" in installed():
            found["against_mujoco"] = self._mujoco() / found["study_each"]
        return found

    def _mujoco(self) -> float:
        """Processor time of one of MuJoCo's runs, with the largest step that is good enough."""
        for h in (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4):
            tip, each = self._rollout(h)
            if np.abs(tip - self.reference).max() <= LEVEL:
                return each
        return float("nan")

    def _rollout(self, h: float, count: int = 1000) -> tuple[np.ndarray, float]:
        import mujoco
        from mujoco import rollout

        model = mujoco.MjModel.from_xml_string(MODEL.format(h=h))
        data = mujoco.MjData(model)
        data.qvel[0] = 2.0
        full = mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(mujoco.mj_stateSize(model, full))
        mujoco.mj_getState(model, data, state, full)
        starts = np.tile(state, (count, 1))
        threads = [mujoco.MjData(model) for _ in range(THREADS)]
        begin = time.process_time()
        states, _ = rollout.rollout(model, threads, starts, nstep=round(self.until / h))
        each = (time.process_time() - begin) / count
        angle = states[0, -1, 1]
        return np.array([np.cos(angle), 0.0, -np.sin(angle)]) * LENGTH, each


class FourBarStudy(StudyCase):
    """The four-bar of the comparison of engines, which passes its singular position."""

    def __init__(self) -> None:
        self.case = Case(WORKS["four_bars(1)"]())
        self.system, self.until = self.case.system, self.case.until
        self.q, self.v = self.case.q, self.case.v
        ours = self.case.ours(LEVEL)
        assert ours is not None
        self.tolerance = float(ours["setting"].split()[-1])

    def figures(self) -> dict[str, Any]:
        """All ratios."""
        found: dict[str, Any] = self.against_ensemble(FOUR_BARS)
        if "MuJoCo" in installed():
            other = self.case.mujoco(LEVEL)
            if other is not None:
                found["against_mujoco"] = other["cpu_each"] / found["study_each"]
        return found


if __name__ == "__main__":
    studies(print)
