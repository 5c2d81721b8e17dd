"""Least CPU time to a wanted accuracy, for every engine that is installed, in one run.

    python benchmarks/against_peers.py                       # all works, some minutes
    python benchmarks/against_peers.py --works chain bricard # works whose name begins so
    python benchmarks/against_peers.py --json results.json   # keep every row

Errors are largest distances of any centre of mass from a reference of our own at all sampled
times. Times are CPU times of one core, the least of three passes for settings that are fast. For
Zwang a time is that of the whole call `simulate`; for the others building is not counted. Where an
engine has no integrator of its own, stepping it from Python is part of its time: see `engines.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

sys.path.insert(0, str(Path(__file__).parent))

from peers.engines import available  # noqa: E402 - the threads come first
from peers.works import Work, bricard, chain, four_bars  # noqa: E402

WORKS: dict[str, Callable[[], Work]] = {
    "chain(10)": lambda: chain(10),
    "chain(100)": lambda: chain(100),
    "four_bars(1)": lambda: four_bars(1),
    "four_bars(2)": lambda: four_bars(2),
    "four_bars(40)": lambda: four_bars(40),
    "bricard": bricard,
}
LEVELS = (1e-3, 1e-6, 1e-9)
#: Seconds after which an engine is spared finer settings, and below which it gets further passes.
PATIENCE, QUICK = 20.0, 0.5
PASSES = 3


def measure(work: Work) -> list[dict[str, object]]:
    """All settings of all engines on one work."""
    rows: list[dict[str, object]] = []
    for engine, settings in available().items():
        for label, run in settings(work):
            spent, centers = run()
            for _ in range(PASSES - 1 if spent < QUICK else 0):
                spent = min(spent, run()[0])
            rows.append(
                {
                    "work": work.name,
                    "engine": engine,
                    "setting": label,
                    "cpu": spent,
                    "error": work.error(centers),
                }
            )
            if spent > PATIENCE:
                break
    return rows


def table(rows: list[dict[str, object]]) -> list[str]:
    """Least time of each engine at each level, and ours beside the best of the others."""
    lines = [f"{'':<14} {'engine':<10}" + "".join(f"{f'≤ {x:g} m':>16}" for x in LEVELS)]
    for work in dict.fromkeys(str(r["work"]) for r in rows):
        best: dict[str, list[float]] = {}
        for engine in dict.fromkeys(str(r["engine"]) for r in rows if r["work"] == work):
            here = [r for r in rows if r["work"] == work and r["engine"] == engine]
            best[engine] = [
                min((float(r["cpu"]) for r in here if float(r["error"]) <= x), default=float("inf"))
                for x in LEVELS
            ]
            cells = ["–" if t == float("inf") else f"{1e3 * t:.2f} ms" for t in best[engine]]
            lines.append(f"{work:<14} {engine:<10}" + "".join(f"{c:>16}" for c in cells))
        others = [times for engine, times in best.items() if engine != "zwang"]
        if others and "zwang" in best:
            ratios = [t / min(column) for t, *column in zip(best["zwang"], *others, strict=True)]
            cells = ["" if not 0.0 < x < 1e9 else f"× {x:.3f}" for x in ratios]
            lines.append(f"{'':<14} {'':<10}" + "".join(f"{c:>16}" for c in cells))
    return lines


def main() -> int:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", nargs="*", default=list(WORKS), help="beginnings of names")
    parser.add_argument("--json", type=Path, help="file for every row")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name, make in WORKS.items():
        if name.startswith(tuple(arguments.works)):
            rows += measure(make())
            print("\n".join(table([r for r in rows if r["work"] == name])), flush=True)
    if arguments.json:
        from importlib.metadata import PackageNotFoundError, version

        versions = {}
        for package in ("zwang", "mujoco", "pin", "numpy", "scipy"):
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                continue
        about = {"python": platform.python_version(), "versions": versions}
        arguments.json.write_text(json.dumps({"about": about, "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
