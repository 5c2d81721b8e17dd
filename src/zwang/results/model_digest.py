"""Hash of the model of a run from its expressions, and the versions that made it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from zwang import __version__
from zwang.caching import PassedOn

if TYPE_CHECKING:
    from zwang.system import System
    from zwang.tracing.event import Event

__all__ = ["describe_events", "describe_model", "versions"]


def describe_model(system: System) -> dict[str, Any]:
    """Names, levels and a hash of all expressions; values of parameters are not part of it."""
    names = {
        "coordinates": list(system.coordinates),
        "velocities": list(system.velocities),
        "parameters": {k: list(v.shape) for k, v in system.definition.parameters.items()},
        "constraints": dict(system.levels),
    }
    elements = system.equations.by_elements
    if elements is None:
        own = system.equations.cache.once(_ExpressionDigest, lambda: _ExpressionDigest(system)).text
    else:
        own = elements.elements_digest()
    return {**names, "digest": hashlib.sha256(f"{own} {names}".encode()).hexdigest()}


class _ExpressionDigest(PassedOn):
    """A hash of the terms of a system, kept with its equations."""

    def __init__(self, system: System) -> None:
        self.text = _digest(system)


def _digest(system: System) -> str:
    """A hash of all terms as one expression."""
    import casadi as ca

    from zwang.codegen.expression import read

    m, s = system.model, system.model.state
    energies = [m.T] if m.V is None else [m.T, m.V]
    outputs = [m.M, m.Q, m.A, m.b, m.C, m.N, m.n0, m.position_values, m.rates, *energies]
    # What an opaque function computes cannot be known, but where it stands and what it is given.
    hidden = [x for call in s.calls for x in (call.values, call.jacobian, call.hessian)]
    outputs += [call.arguments for call in s.calls]
    function = ca.Function(
        "model",
        [s.q, s.v, s.t, s.p, m.multipliers, *(ca.vec(x) for x in hidden)],
        [ca.densify(x) for x in outputs],
    )
    return f"{read(function).digest} {[call.name for call in s.calls]}"


def describe_events(system: System, events: Mapping[str, Event]) -> dict[str, str]:
    """Name → hash of what the event is and does."""
    if not events:
        return {}
    import casadi as ca

    from zwang.codegen.expression import read
    from zwang.results.event_expression import of_channels, watched

    s = system.equations.symbols
    result = {}
    for name, e in events.items():
        found = of_channels(system, name, e)
        if found is not None:  # forces would need the state of a start: their names say it
            text = f"{found} {e.at!r} {e.direction} {e.actions!r}"
        else:
            value = watched(system, name, e).value
            function = ca.Function("event", [s.q, s.v, s.t, s.p], [ca.densify(value)])
            text = f"{read(function).digest} {e.direction} {e.actions!r}"
        result[name] = hashlib.sha256(text.encode()).hexdigest()
    return result


def versions() -> dict[str, str]:
    """All that the bits of a run depend on besides its model: packages and the processor."""
    from zwang.codegen.environment import target, uses_llvm

    processor = _processor(uses_llvm("kernels"), uses_llvm("loops"), target())
    python = platform.python_version()
    return {"zwang": __version__, **_packages(), "python": python, "processor": processor}


@cache
def _packages() -> dict[str, str]:
    from importlib.metadata import version  # loads a mail parser, and reads by it

    return {name: version(name) for name in ("numpy", "casadi", "llvmlite")}


@cache
def _processor(*environment: bool | str) -> str:  # noqa: ARG001 - what it depends on
    """What compiles, which takes a first compilation to know."""
    from zwang.codegen.llvm import identity

    return identity()
