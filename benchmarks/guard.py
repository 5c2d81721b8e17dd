"""Fail when Zwang has become slower: ratios to fixed jobs that are measured in the same run.

    python -m benchmarks.guard            # compare with the stored ratios; exit code 1 if one is
                                          # worse by more than 30 %
    python -m benchmarks.guard --store    # measure and store them, on purpose

A job's ratio is its least processor time over that of a yardstick that Zwang has no part in:
NumPy's singular values for what Python and NumPy do, CasADi's virtual machine for what is compiled.
Both take turns, so that a slow or busy machine changes both. Not part of the checks of every
change.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.about import about
from benchmarks.around import chain, pendulum, reactions, runs
from benchmarks.cases import WORKS
from benchmarks.engines.zwang import evaluation, model
from benchmarks.rows import warm
from zwang import library

__all__ = ["ALLOWED", "judge", "main"]

FILE = Path(__file__).with_name("results") / "guard.json"
#: A ratio may be so many times the stored one.
ALLOWED = 1.3
PASSES = 15

Job = Callable[[], object]


def judge(stored: dict[str, float], found: dict[str, float], allowed: float = ALLOWED) -> list[str]:
    """Sentences on jobs that have become slower, or are missing."""
    complaints = []
    for name, before in stored.items():
        if name not in found:
            complaints.append(f"{name}: stored, but not measured")
        elif found[name] > allowed * before:
            worse = found[name] / before
            complaints.append(
                f"{name}: ratio {found[name]:.4g}, stored {before:.4g}: {worse:.2f} ×"
            )
    return complaints


# --- yardsticks and jobs --------------------------------------------------------------------------


def yardsticks() -> dict[str, Job]:
    """Fixed work that has nothing to do with Zwang."""
    import casadi

    random = np.random.default_rng(1)
    A, x = random.standard_normal((40, 60)), casadi.SX.sym("x", 40)
    terms = x
    for _ in range(60):
        terms = casadi.sin(terms) + 0.5 * casadi.vertcat(terms[1:], terms[0]) * terms
    function, value = casadi.Function("f", [x], [terms]), random.standard_normal(40)

    def python() -> None:
        for _ in range(4):
            np.linalg.svd(A)

    def compiled() -> None:
        for _ in range(20):
            function(value)

    return {"python": python, "compiled": compiled}


def jobs() -> dict[str, tuple[str, Job]]:
    """Name → yardstick and job."""
    found: dict[str, tuple[str, Job]] = {}
    for name in ("chain(10)", "chain(100)", "four_bars(1)", "bricard", "bicycle"):
        work = WORKS[name]()
        subject, start, _ = model(work)
        found[f"simulate {name}"] = ("python", _simulation(subject, start, work.until))
    for name in ("chain(10)", "chain(100)", "four_bars(1)"):
        evaluate = evaluation(WORKS[name]())
        found[f"evaluate {name}"] = ("compiled", lambda evaluate=evaluate: evaluate(200))
    linkage = library.n_four_bar(1)
    start = library.start("n_four_bar", n=1)
    speeds = np.linspace(0.9, 1.1, 64)[:, None] * start.v
    found["ensemble of 64"] = (
        "python",
        lambda: linkage.simulate_many(start.q, speeds, until=5.0, save=[5.0], threads=1),
    )
    found |= _around()
    random = np.random.default_rng(2)
    F, A = random.standard_normal((500, 12, 24)), random.standard_normal((500, 8, 12))
    terms = (F @ F.mT, random.standard_normal((500, 12)), A, random.standard_normal((500, 8)))
    found["solve 500 systems"] = ("python", lambda: zw.solve(*terms))
    found["build chain(10)"] = ("python", lambda: model(WORKS["chain(10)"]()))
    return found


def _around() -> dict[str, tuple[str, Job]]:
    """What users ask of a run, each of a fresh one, and the natural call."""
    found: dict[str, tuple[str, Job]] = {}
    for name, planar, n in (("plane", True, 10), ("space", False, 100)):
        make = runs(chain(n, planar=planar), 1.0)
        found[f"run and reactions chain({n}), {name}"] = (
            "python",
            lambda make=make: reactions(make()),
        )
    balance = runs(library.double_wishbone(), 1.0)
    found["run and energy balance"] = ("python", lambda: balance().work)
    for n in (15, 40, 80):  # on both sides of where programs change
        m = chain(n, planar=True)
        found[f"scan chain({n})"] = ("python", lambda m=m: m.simulate(until=0.5, save=[0.5]))
    governor = library.ball_governor()
    found["stiff governor"] = (
        "python",
        lambda: governor.simulate(until=0.5, tolerance=1e-6, save=[0.5]),
    )
    found["first result pendulum"] = ("python", lambda: pendulum().simulate(until=0.01))
    linkage = library.four_bar()
    found["natural call"] = ("python", lambda: linkage.simulate(until=0.1, save=[0.1]))
    return found


def _simulation(subject: Any, start: Any, until: float) -> Job:
    return lambda: subject.simulate(start, until=until, save=[until])


# --- measuring ------------------------------------------------------------------------------------


def ratios() -> dict[str, float]:
    """Least time of every job over that of its yardstick, all taking turns."""
    rulers, work = yardsticks(), jobs()
    calls = {**rulers, **{name: job for name, (_, job) in work.items()}}
    least = dict.fromkeys(calls, float("inf"))
    warm(*calls.values())
    for _ in range(PASSES):
        for name, call in calls.items():
            begin = time.process_time()
            call()
            least[name] = min(least[name], time.process_time() - begin)
    return {name: least[name] / least[ruler] for name, (ruler, _) in work.items()}


def main(arguments: list[str] | None = None) -> int:
    """Measure; store, or compare and complain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true", help="store what is measured")
    parser.add_argument("--file", type=Path, default=FILE, help="file of the stored ratios")
    chosen = parser.parse_args(arguments)
    found = ratios()
    for name, ratio in found.items():
        print(f"{name:<26} {ratio:10.4g}")
    if chosen.store:
        kept = {**about(), "ratios": found}
        chosen.file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        return 0
    complaints = judge(json.loads(chosen.file.read_text(encoding="utf-8"))["ratios"], found)
    for complaint in complaints:
        print("SLOWER", complaint)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
