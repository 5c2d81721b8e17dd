"""Zwang: the motion of constrained mechanical systems.

Any constraint, any mass matrix, the right motion and the right forces, or a clear sentence that
names what is wrong. Importing the package loads NumPy and changes nothing.
"""

from importlib import import_module
from typing import Any

from zwang._version import __version__
from zwang.certify import Certificate, certify
from zwang.diagnosis.explain import Explanation, explain
from zwang.diagnosis.passport import Passport, passport
from zwang.diagnosis.portrait import Portrait, portrait
from zwang.diagnosis.splits import Split, splits
from zwang.errors import (
    AssemblyError,
    DamageError,
    InconsistentConstraintsError,
    InputError,
    ModelError,
    NotApplicableError,
    NotUniqueError,
    PainleveError,
    StoreError,
    TraceError,
    UnreachableError,
    ZwangError,
)
from zwang.formulations.rank import Tolerances
from zwang.functions.assembly.result import Assembly
from zwang.functions.constraint import acceleration, constraint, position, velocity
from zwang.functions.event import bounce, event, set_parameters, switch
from zwang.functions.opaque import opaque
from zwang.functions.symbol import where
from zwang.mechanism import Mechanism
from zwang.models.model import Model, read_model, write_model
from zwang.run.run import Run
from zwang.runs import load, resume, verify
from zwang.solution import Solution
from zwang.solve import FORMULATIONS, solve
from zwang.system import State, System
from zwang.terms import EquationTerms, join

__all__ = [
    "FORMULATIONS",
    "Assembly",
    "AssemblyError",
    "Certificate",
    "DamageError",
    "EquationTerms",
    "Explanation",
    "InconsistentConstraintsError",
    "InputError",
    "Mechanism",
    "Model",
    "ModelError",
    "NotApplicableError",
    "NotUniqueError",
    "PainleveError",
    "Passport",
    "Portrait",
    "Run",
    "Solution",
    "Split",
    "State",
    "StoreError",
    "System",
    "Tolerances",
    "TraceError",
    "UnreachableError",
    "ZwangError",
    "__version__",
    "acceleration",
    "bounce",
    "certify",
    "constraint",
    "event",
    "explain",
    "join",
    "load",
    "opaque",
    "passport",
    "portrait",
    "position",
    "read_model",
    "resume",
    "set_parameters",
    "solve",
    "splits",
    "switch",
    "velocity",
    "verify",
    "where",
    "write_model",
]


def __getattr__(name: str) -> Any:
    """Load `zwang.library`, `zwang.rotation` and `zwang.inertia` when they are first asked for."""
    if name in {"library", "rotation"}:
        return import_module(f"zwang.{name}")
    if name == "inertia":
        return import_module("zwang.bodies.inertia")
    message = f"module 'zwang' has no attribute {name!r}"
    raise AttributeError(message)
