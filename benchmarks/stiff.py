"""Stiff motions with defaults, no integrator named, beside other engines and SUNDIALS IDA.

    python -m benchmarks.stiff                 # a section of python -m benchmarks

A flyball governor, and a vehicle whose axles are mounted on rubber bushings. Processor time of the
cheapest setting that comes within 1e-3, 1e-6 and 1e-9 m of the reference; of each other engine the
fastest that did in the stored comparison, measured again. IDA gets the compiled equations and the
Jacobian of Zwang. Goals: 0.1 of the best engine, 0.5 of IDA. What is not installed is left out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from benchmarks.beside_peers import PASSES, Peers
from benchmarks.cases import WORKS, Work
from benchmarks.comparison import LEVELS
from benchmarks.engines.base import Ran
from benchmarks.engines.zwang import model
from benchmarks.rows import Row, least, table, warm

__all__ = ["main", "stiff"]

CASES = ("governor", "vehicle")
#: The largest part of the time of the best engine, and of IDA.
OF_PEERS, OF_IDA = 0.1, 0.5
TOLERANCES = [10.0**-k for k in range(2, 11)]


def stiff() -> list[Row]:
    """Each case and level, beside what reaches it."""
    return [row for name in CASES for row in _case(WORKS[name]())]


def _case(work: Work) -> list[Row]:
    rows = []
    ours, theirs = _ours(work), _ida(work)
    for level in LEVELS:
        call = _fastest(ours, level)
        if call is None:
            continue
        what = f"{work.name} to {level:g} m"
        mine = float("inf")
        with Peers(work, level) as peers:
            for _ in range(PASSES):
                mine = min(mine, *least(call, passes=2))
                peers.take_turn()
        if peers.best is not None:
            engine, spent = peers.best
            rows.append(Row("stiff", what, engine, mine, spent, OF_PEERS))
        run = _fastest(theirs, level)
        if run is not None:
            one, two = least(call, run, passes=PASSES)
            rows.append(Row("stiff", what, "SUNDIALS IDA", one, two, OF_IDA))
    return rows


#: A call, its processor time [s] and its error [m].
Measured = tuple[Callable[[], float | None], float, float]


def _ours(work: Work) -> list[Measured]:
    """Calls with defaults at all tolerances."""
    m, start, points = model(work)
    found: list[Measured] = []
    for tolerance in TOLERANCES:
        choices = {"until": work.until, "tolerance": tolerance, "save": work.times}

        def call(choices: dict = choices) -> None:
            m.simulate(start, **choices)

        warm(call)
        (spent,) = least(call, passes=3)
        run = m.simulate(start, **choices)
        found.append((call, spent, work.error(points(run)) if run.finished else float("inf")))
    return found


def _ida(work: Work) -> list[Measured]:
    """Runs of IDA at all tolerances; none where it is not installed."""
    if not importlib.util.find_spec("sksundae"):
        return []
    from benchmarks.engines import ida

    found: list[Measured] = []
    for setting in ida.settings(work).values():

        def run(setting: Callable[[], Ran] = setting) -> float:
            return setting().cpu

        ran = setting()
        places = ran.places() if callable(ran.places) else ran.places
        found.append((run, ran.cpu, work.error(places)))
    return found


def _fastest(found: list[Measured], level: float) -> Callable[[], float | None] | None:
    """The fastest call that is accurate enough."""
    good = [(spent, k) for k, (_, spent, error) in enumerate(found) if error <= level]
    return found[min(good)[1]][0] if good else None


def main() -> int:
    """Print a table; 1 if a goal is missed."""
    rows = stiff()
    print("\n".join(table(rows)))
    return int(not all(row.kept for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
