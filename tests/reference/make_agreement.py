"""Write `agreement.json`: exact solutions of a fixed set of systems, for tests without long solves.

    python tests/reference/make_agreement.py

Each entry holds the size and the seed of one system of `systems.random_systems`, the checksum of
its terms, its exact ranks, and the exact answers as pairs of float64 (high, low) whose sum is right
to 32 digits. `test_oracle.py` fails when this script would write something else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.oracle import DoubleDouble, ExactSolution, solve_exactly
from reference.systems import Draws, Systems, random_systems

FILE = Path(__file__).with_name("agreement.json")

#: n, m and how many systems of that size: no constraint to more rows than coordinates, n to 60.
SIZES = [
    *((1, 0, 1), (1, 1, 2), (1, 3, 2), (2, 1, 3), (2, 2, 3), (2, 5, 2), (3, 2, 3), (3, 3, 3)),
    *((4, 6, 3), (5, 0, 1), (5, 3, 3), (6, 6, 3), (7, 9, 3), (8, 4, 3), (10, 12, 3), (12, 8, 4)),
    *((15, 15, 2), (18, 25, 2), (24, 10, 2), (30, 33, 1), (40, 20, 1), (60, 30, 1), (60, 66, 1)),
]


def seeds() -> list[tuple[int, int, int]]:
    """(n, m, seed) of every stored system."""
    return [(n, m, seed) for n, m, count in SIZES for seed in range(count)]


def system(n: int, m: int, seed: int) -> Systems:
    """One stored system."""
    return random_systems(Draws(2010, n, m, seed), 1, n, m)[0]


def entry(n: int, m: int, seed: int) -> dict[str, Any]:
    """What is stored of one system."""
    terms = system(n, m, seed)
    exact = solve_exactly(*terms.terms)
    ranks = [exact.constraint_rank, exact.mass_rank, exact.stacked_rank]
    return {
        "n": n,
        "m": m,
        "seed": seed,
        "checksum": terms.checksum(),
        "ranks of A, M, [M; A]": ranks,
        "acceleration": _pair(exact.acceleration),
        "constraint_force": _pair(exact.constraint_force),
        "multipliers": _pair(exact.multipliers),
    }


def read(stored: dict[str, Any]) -> ExactSolution:
    """The exact solution of an entry."""
    quantities = (
        DoubleDouble(*(np.array(part, dtype=float) for part in stored[name]))
        for name in ("acceleration", "constraint_force", "multipliers")
    )
    return ExactSolution(*quantities, *stored["ranks of A, M, [M; A]"])


def _pair(value: DoubleDouble) -> list[list[float]]:
    return [value.high.tolist(), value.low.tolist()]


def main() -> None:
    """Write the file, one system a line."""
    lines = [json.dumps(entry(*seed)) for seed in seeds()]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
