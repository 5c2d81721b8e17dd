"""Zwang: the motion of constrained mechanical systems.

Any constraint, any mass matrix, the right motion and the right forces, or a clear sentence that
names what is wrong. Importing the package loads its errors alone, and changes nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zwang.errors import (
    AssemblyError,
    DamageError,
    InconsistentConstraintsError,
    InputError,
    ModelError,
    NoEquilibriumError,
    NotApplicableError,
    NotUniqueError,
    PainleveError,
    StoreError,
    TraceError,
    UnreachableError,
    ZwangError,
)

if TYPE_CHECKING:
    from zwang.analysis.linearization import Linearization
    from zwang.analysis.statics import Equilibrium
    from zwang.analysis.steady_motion import SteadyMotion
    from zwang.assembly.result import Assembly
    from zwang.diagnosis.explain import Explanation, explain
    from zwang.diagnosis.passport import Passport, passport
    from zwang.diagnosis.portrait import Portrait, portrait
    from zwang.diagnosis.splits import Split, splits
    from zwang.linalg.rank import Tolerances
    from zwang.mechanism import Mechanism
    from zwang.model_files.model import Model, read_model, write_model
    from zwang.model_files.stored import load, resume, verify
    from zwang.multibody.mesh import mesh
    from zwang.results.run import Run
    from zwang.simulation.controllers import controller
    from zwang.solvers.certify import Certificate, certify
    from zwang.solvers.dense import FORMULATIONS, solve
    from zwang.solvers.solution import Solution
    from zwang.state import State
    from zwang.studies.study import Study, open_study, study
    from zwang.system import System
    from zwang.terms import EquationTerms, join
    from zwang.tracing.constraint import acceleration, constraint, position, velocity
    from zwang.tracing.event import bounce, event, set_parameters, switch
    from zwang.tracing.opaque import opaque
    from zwang.tracing.symbol import where

__version__ = "0.1.0"  # here and nowhere else

__all__ = [
    "FORMULATIONS",
    "Assembly",
    "AssemblyError",
    "Certificate",
    "DamageError",
    "EquationTerms",
    "Equilibrium",
    "Explanation",
    "InconsistentConstraintsError",
    "InputError",
    "Linearization",
    "Mechanism",
    "Model",
    "ModelError",
    "NoEquilibriumError",
    "NotApplicableError",
    "NotUniqueError",
    "PainleveError",
    "Passport",
    "Portrait",
    "Run",
    "Solution",
    "Split",
    "State",
    "SteadyMotion",
    "StoreError",
    "Study",
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
    "controller",
    "event",
    "explain",
    "join",
    "load",
    "mesh",
    "opaque",
    "open_study",
    "passport",
    "portrait",
    "position",
    "read_model",
    "resume",
    "set_parameters",
    "solve",
    "splits",
    "study",
    "switch",
    "velocity",
    "verify",
    "where",
    "write_model",
]


#: Module → names of it that load when they are first asked for.
_LATER = {
    "zwang.analysis.linearization": ("Linearization",),
    "zwang.analysis.statics": ("Equilibrium",),
    "zwang.analysis.steady_motion": ("SteadyMotion",),
    "zwang.multibody.mesh": ("mesh",),
    "zwang.diagnosis.explain": ("Explanation", "explain"),
    "zwang.diagnosis.passport": ("Passport", "passport"),
    "zwang.diagnosis.portrait": ("Portrait", "portrait"),
    "zwang.diagnosis.splits": ("Split", "splits"),
    "zwang.linalg.rank": ("Tolerances",),
    "zwang.solvers.certify": ("Certificate", "certify"),
    "zwang.solvers.dense": ("FORMULATIONS", "solve"),
    "zwang.solvers.solution": ("Solution",),
    "zwang.terms": ("EquationTerms", "join"),
    "zwang.assembly.result": ("Assembly",),
    "zwang.tracing.constraint": ("acceleration", "constraint", "position", "velocity"),
    "zwang.simulation.controllers": ("controller",),
    "zwang.tracing.event": ("bounce", "event", "set_parameters", "switch"),
    "zwang.tracing.opaque": ("opaque",),
    "zwang.tracing.symbol": ("where",),
    "zwang.mechanism": ("Mechanism",),
    "zwang.model_files.model": ("Model", "read_model", "write_model"),
    "zwang.results.run": ("Run",),
    "zwang.model_files.stored": ("load", "resume", "verify"),
    "zwang.state": ("State",),
    "zwang.studies.study": ("Study", "open_study", "study"),
    "zwang.system": ("System",),
}
_HOME = {name: module for module, names in _LATER.items() for name in names}
#: Modules that are public by a name of their own.
_MODULES = {
    "cache": "zwang.codegen.cache",
    "inertia": "zwang.multibody.inertia",
    "library": "zwang.library",
    "rotation": "zwang.rotation",
}


def __getattr__(name: str) -> Any:
    """Load what `import zwang` leaves for later."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        message = f"module 'zwang' has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
