"""Bricard's mechanism at four times of its motion, with the reactions in its hinges.

Run: python docs/figures/bricard.py [FILE.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import zwang as zw

HERE = Path(__file__).parent


def draw(target: Path) -> None:
    """Simulate two seconds and draw four moments."""
    mechanism = zw.library.bricard()
    run = mechanism.simulate(mechanism.assemble(), until=2.1)
    plt.rcParams.update({"svg.hashsalt": "zwang", "font.size": 9})
    figure, row = plt.subplots(1, 4, figsize=(10.0, 2.9), layout="constrained")
    for axes, t in zip(row, (0.0, 0.7, 1.4, 2.1), strict=True):
        run.draw(t, axes=axes, forces=True, traces=["bar3"])
        axes.set_title(f"t = {t:g} s")
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "images" / "bricard.svg")
