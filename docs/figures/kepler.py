"""Draw docs/images/kepler.svg: the ellipse and the areas swept in equal times, from a run.

python docs/figures/kepler.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import numpy as np

from zwang import library
from zwang.library.kepler_figure import kepler_figure

IMAGE = Path(__file__).resolve().parent.parent / "images" / "kepler.svg"


def main(target: Path) -> None:
    """One turn of a planet with ε = 0.5, p = 1, c = 1, and three sectors of equal times."""
    epsilon = 0.5
    period = 2 * np.pi / (1 - epsilon**2) ** 1.5
    planet = library.kepler_laws(epsilon=epsilon, p=1.0, c=1.0)
    run = planet.simulate([2.0, 0.0], [0.0, 0.5], until=period)
    tenth = period / 10
    mpl.rcParams["svg.hashsalt"] = "kepler"
    figure = kepler_figure(run, [(k * tenth, (k + 1) * tenth) for k in (0, 3, 5)])
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGE)
