"""What a body costs as there are more of them: chains of 1 to 300, without cliffs.

    python -m benchmarks.size                  # two minutes; a section of python -m benchmarks

The yardstick of each size is the one before it: the time of a run for each body and evaluation may
be 1.5 of that at the most, wherever another program or other coordinates begin. Chains built in the
plane and in space, from the horizontal, with defaults.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.around import chain
from benchmarks.rows import Row, least, table, warm

__all__ = ["SIZES", "main", "scan"]

#: Numbers of bodies, dense where programs change.
SIZES = (1, 2, 3, 5, 8, 12, 15, 16, 20, 25, 31, 32, 40, 60, 61, 80, 100, 150, 200, 300)
#: Growth of the cost of a body and evaluation from one size to the next.
GOAL = 1.5
#: Seconds of motion of chains of so many bodies; shorter ones move longer, so that what Python does
#: around any call, some 60 µs, is small beside the time in the loop.
UNTIL, BODIES, CALL = 1.0, 60, 60e-6


def scan() -> list[Row]:
    """A row for each size but the first, of chains in the plane and in space."""
    rows: list[Row] = []
    for planar in (True, False):
        before: tuple[int, float] | None = None
        for n in SIZES:
            cost = cost_of_a_body(n, planar=planar)
            if before is not None:
                where = "plane" if planar else "space"
                what, beside = f"a body of chain({n}), {where}", f"one of chain({before[0]})"
                rows.append(Row("scan over size", what, beside, cost, before[1], GOAL))
            before = n, cost
    return rows


def cost_of_a_body(n: int, *, planar: bool) -> float:
    """Seconds for each body and evaluation of a chain, beyond what Python takes around the loop."""
    m = chain(n, planar=planar)
    until = UNTIL * max(1.0, BODIES / n)
    choices: dict[str, Any] = {"until": until, "tolerance": 1e-6, "save": [until]}
    warm(lambda: m.simulate(**choices))
    evaluations = m.simulate(**choices).counts.evaluations
    (spent,) = least(lambda: m.simulate(**choices) and None, passes=5)
    return (spent - CALL) / (n * evaluations)


def main() -> int:
    """Print a table; 1 if there is a cliff."""
    rows = scan()
    print("\n".join(table(rows)))
    return int(not all(row.kept for row in rows))


if __name__ == "__main__":
    sys.exit(main())
