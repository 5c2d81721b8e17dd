"""The engines of the comparison, and which of them are installed here."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

__all__ = ["ENGINES", "engine", "installed"]

#: What an engine is called in tables → what is imported from this package, and what it needs.
ENGINES = {
    "Zwang": ("zwang", "zwang"),
    "MuJoCo": ("mujoco", "mujoco"),
    "Pinocchio": ("pinocchio", "pinocchio"),
    "Exudyn": ("exudyn", "exudyn"),
    "Drake": ("drake", "pydrake"),
    "OpenSim": ("opensim", "opensim"),
    "SymPy": ("sympy", "pydy"),
}


def installed() -> list[str]:
    """Names of the engines that can be imported here."""
    return [name for name, (_, needs) in ENGINES.items() if importlib.util.find_spec(needs)]


def engine(name: str) -> ModuleType:
    """The module that runs an engine."""
    return importlib.import_module(f"benchmarks.engines.{ENGINES[name][0]}")
