"""The stiff governor with defaults, no integrator named, beside Exudyn and SUNDIALS IDA.

    python -m benchmarks.stiff                 # a section of python -m benchmarks

Processor time of the cheapest setting that comes within 1e-3, 1e-6 and 1e-9 m of the reference.
IDA gets the compiled equations and the Jacobian of Zwang. Goals: 0.1 of Exudyn, 0.5 of IDA. Engines
that are not installed are left out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from benchmarks.cases import WORKS, Work
from benchmarks.comparison import LEVELS
from benchmarks.engines.base import Ran
from benchmarks.engines.zwang import model
from benchmarks.rows import Row, least, table, warm

__all__ = ["main", "stiff"]

#: Engine → what it needs, and the largest part of its time; and what the page calls it.
PEERS = {"exudyn": ("exudyn", 0.1), "ida": ("sksundae", 0.5)}
SHOWN = {"exudyn": "Exudyn", "ida": "SUNDIALS IDA"}
TOLERANCES = [10.0**-k for k in range(3, 11)]


def stiff() -> list[Row]:
    """Each level that an engine reaches, beside it."""
    work = WORKS["governor"]()
    found = _ours(work)
    rows = []
    for name, (needs, goal) in PEERS.items():
        if not importlib.util.find_spec(needs):
            continue
        engine = importlib.import_module(f"benchmarks.engines.{name}")
        theirs = [_measured(work.error, f) for f in engine.settings(work).values()]
        for level in LEVELS:
            mine, yardstick = _least(found, level), _least(theirs, level)
            if yardstick < float("inf"):
                what = f"governor to {level:g} m"
                rows.append(Row("stiff", what, SHOWN[name], mine, yardstick, goal))
    return rows


def _ours(work: Work) -> list[tuple[float, float]]:
    """Processor time and error at all tolerances, with defaults."""
    m, start, points = model(work)
    found = []
    for tolerance in TOLERANCES:
        choices = {"until": work.until, "tolerance": tolerance, "save": work.times}
        warm(lambda choices=choices: m.simulate(start, **choices))
        (spent,) = least(lambda choices=choices: m.simulate(start, **choices) and None)
        found.append((spent, work.error(points(m.simulate(start, **choices)))))
    return found


def _least(found: list[tuple[float, float]], level: float) -> float:
    return min((cpu for cpu, error in found if error <= level), default=float("inf"))


def main() -> int:
    """Print a table; 1 if a goal is missed."""
    rows = stiff()
    print("\n".join(table(rows)))
    return int(not all(row.kept for row in rows))


def _measured(error: Callable[..., float], run: Callable[[], Ran]) -> tuple[float, float]:
    """Processor time and error of a setting."""
    ran = run()
    places = ran.places() if callable(ran.places) else ran.places
    return ran.cpu, error(places)


if __name__ == "__main__":
    raise SystemExit(main())
