"""How long one waits for the first answer, what an import takes, and how large an engine is.

Processor times of fresh processes, the least of several in turns: what is imported, and from
starting Python to the end of the first trajectory of a four-bar. Once with everything compiled
before, once with empty caches, as on the first run ever; byte code is there, as it is after an
installation. One thread does all of it: on a machine without other work one waits as long. Sizes
are of the files of an engine's own distributions, without byte code.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import zwang
from benchmarks.engines import ENGINES, installed

__all__ = ["of_children", "starting"]

PASSES = 3
#: What users import first of an engine; Python and NumPy for scale.
IMPORTS = {
    "Python alone": "",
    "NumPy": "import numpy",
    "Zwang": "import zwang",
    "MuJoCo": "import mujoco",
    "Pinocchio": "import pinocchio",
    "Exudyn": "import exudyn",
    "Drake": "import pydrake.multibody.plant",
    "OpenSim": "import opensim",
    "SymPy": "import sympy.physics.mechanics",
}
#: The distributions that are an engine, without what they share with others.
DISTRIBUTIONS = {
    "Zwang": (),  # by its folder: of an editable installation no files are known
    "MuJoCo": ("mujoco", "mujoco-core"),
    "Pinocchio": ("pin", "libpinocchio", "eigenpy", "coal", "libcoal"),
    "Exudyn": ("exudyn",),
    "Drake": ("drake",),
    "OpenSim": ("opensim",),
    "SymPy": ("sympy", "mpmath", "pydy"),
    "what Zwang needs": ("numpy", "scipy", "casadi", "llvmlite", "zarr"),
}
#: From starting Python to a first trajectory, and to the first steps of something large.
FIRST = "from zwang import library; assert library.{}.simulate(until={}).finished"
FOUR_BAR, CHAIN = FIRST.format("four_bars(1)", 10.0), FIRST.format("chain(1000)", 1e-3)


def starting(say: Callable[[str], None]) -> dict[str, Any]:
    """Imports, first trajectories and sizes."""
    here = installed()
    imports = {name: code for name, code in IMPORTS.items() if name in here or name not in ENGINES}
    least = dict.fromkeys(imports, float("inf"))
    with tempfile.TemporaryDirectory() as byte_code:
        for _ in range(PASSES + 1):
            for name, code in imports.items():
                least[name] = min(least[name], _seconds(code, byte_code))
        first, large = (_first_and_later(code, byte_code) for code in (FOUR_BAR, CHAIN))
    found = {
        "imports": least,
        "first_trajectory": first,
        "large_chain": large,
        "megabytes": {name: size for name, size in sizes().items() if size},
    }
    for key, figures in found.items():
        say(f"{key}: " + ", ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    return found


def _first_and_later(code: str, byte_code: str) -> dict[str, float]:
    """With an empty cache, and with what that has left there."""
    first = later = float("inf")
    for _ in range(2):  # the first time byte code is written, which installing would have done
        with tempfile.TemporaryDirectory() as cache:
            first = min(first, _seconds(code, byte_code, cache))
            later = min(later, *(_seconds(code, byte_code, cache) for _ in range(PASSES)))
    return {"first run ever": first, "later": later}


def _seconds(code: str, byte_code: str, cache: str | None = None) -> float:
    place = {**os.environ, "PYTHONPYCACHEPREFIX": byte_code}
    place.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        place["ZWANG_CACHE_DIR"] = cache
    begin = of_children()
    subprocess.run([sys.executable, "-c", code], env=place, check=True, stdout=subprocess.DEVNULL)
    return of_children() - begin


def of_children() -> float:
    """Processor time of all processes that were started and have ended."""
    used = os.times()
    return used.children_user + used.children_system


def sizes() -> dict[str, float]:
    """Megabytes of the files of each engine's distributions; 0 where it is not installed as one."""
    found = {}
    for name, distributions in DISTRIBUTIONS.items():
        total = _own() if name == "Zwang" else 0
        for package in distributions:
            try:
                files = distribution(package).files or []
            except PackageNotFoundError:
                continue
            total += _bytes(Path(str(f.locate())) for f in files)
        found[name] = total / 1e6
    return found


def _own() -> int:
    """Bytes of Zwang's own files."""
    return _bytes(Path(zwang.__file__).parent.rglob("*"))


def _bytes(files: Iterable[Path]) -> int:
    """Of all files but byte code, which some installations write and others do not."""
    return sum(f.stat().st_size for f in files if f.suffix != ".pyc" and f.is_file())
