"""Where the points of the works must be, by code that owes nothing to any engine.

What takes long to compute is stored here as JSON with the script that wrote it:

    python -m benchmarks.references.make

The rest is computed when it is needed: `chain`, and the pendulums in `benchmarks.cases`. Motions
with many digits come from `tests/reference`, where the scripts that made them are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["FILE", "governor_states", "known_motion", "stored"]

FILE = Path(__file__).with_name("places.json")
TESTS = Path(__file__).parents[2] / "tests" / "reference"


def stored(name: str) -> np.ndarray:
    """Places of the points of a work at its times, as the script wrote them."""
    places = json.loads(FILE.read_text(encoding="utf-8"))
    return np.array(places[name]["places"])


def known_motion(name: str) -> dict[str, Any]:
    """An entry of the motions that the tests know to 30 digits; q_end and v_end as floats."""
    entries = json.loads((TESTS / "motions.json").read_text(encoding="utf-8"))
    entry = next(e for e in entries if e["name"] == name)
    ends = {key: [float(x) for x in entry[key]] for key in ("q_end", "v_end")}
    return {**entry, **ends}


def governor_states() -> tuple[np.ndarray, np.ndarray]:
    """Times, and (ψ, s, a, ṡ, ȧ) of the flyball governor there."""
    entry = json.loads((TESTS / "flyball_governor.json").read_text(encoding="utf-8"))
    return np.array(entry["t"]), np.array(entry["states"])
