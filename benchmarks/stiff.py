"""The stiff governor with defaults, no integrator named, beside Exudyn and SUNDIALS IDA.

    python -m benchmarks.stiff

Processor time of the cheapest setting that comes within 1e-3, 1e-6 and 1e-9 m of the reference.
IDA gets the compiled equations and the Jacobian of Zwang. Goals: 0.1 of Exudyn, 0.5 of IDA. Engines
that are not installed are left out.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

from benchmarks.cases import WORKS
from benchmarks.comparison import LEVELS
from benchmarks.engines.base import Ran
from benchmarks.engines.zwang import model

__all__ = ["main"]

#: Engine → what it needs, and the largest part of its time.
PEERS = {"exudyn": ("exudyn", 0.1), "ida": ("sksundae", 0.5)}
TOLERANCES = [10.0**-k for k in range(3, 11)]
PASSES = 5


def main() -> int:
    """Measure, print, and tell whether a goal is missed."""
    work = WORKS["governor"]()
    m, start, points = model(work)
    found: dict[str, list[tuple[float, float]]] = {"zwang": []}
    for tolerance in TOLERANCES:
        times = []
        for _ in range(PASSES + 1):  # the first compiles
            begin = time.process_time()
            run = m.simulate(start, until=work.until, tolerance=tolerance, save=work.times)
            times.append(time.process_time() - begin)
        found["zwang"].append((min(times[1:]), work.error(points(run))))
    for name, (needs, _) in PEERS.items():
        if importlib.util.find_spec(needs):
            engine = importlib.import_module(f"benchmarks.engines.{name}")
            found[name] = [_measured(work.error, f) for f in engine.settings(work).values()]
    missed = False
    for level in LEVELS:
        least = {
            name: min((cpu for cpu, error in rows if error <= level), default=float("inf"))
            for name, rows in found.items()
        }
        print(f"≤ {level:g} m: zwang {1e3 * least['zwang']:.2f} ms")
        for name in found.keys() & PEERS.keys():
            if least[name] == float("inf"):
                print(f"    {name:<8} does not come so near")
                continue
            ratio, goal = least["zwang"] / least[name], PEERS[name][1]
            missed = missed or not ratio <= goal
            print(f"    {name:<8} {1e3 * least[name]:10.2f} ms, {ratio:.3f} × (goal ≤ {goal:g})")
    return int(missed)


def _measured(error: Callable[..., float], run: Callable[[], Ran]) -> tuple[float, float]:
    """Processor time and error of a setting."""
    ran = run()
    places = ran.places() if callable(ran.places) else ran.places
    return ran.cpu, error(places)


if __name__ == "__main__":
    raise SystemExit(main())
