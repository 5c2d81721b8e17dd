"""Which traced function, a constraint or an energy by name, has a value that is not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.expression import read
from zwang.codegen.operations import OPERATIONS
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.traced_model import TracedModel

__all__ = ["culprit", "undefined_operation"]

#: Operations of casadi without a value for some arguments, as they are told.
UNDEFINED = {
    "sqrt": "square root of a negative number, {0}",
    "log": "logarithm of {0}",
    "log1p": "logarithm of 1 + {0}",
    "asin": "arc sine of {0}",
    "acos": "arc cosine of {0}",
    "acosh": "inverse hyperbolic cosine of {0}",
    "atanh": "inverse hyperbolic tangent of {0}",
    "pow": "power {1} of {0}",
    "constpow": "power {1} of {0}",
    "div": "{0} divided by {1}",
    "inv": "1 divided by {0}",
    "exp": "overflow of exp({0})",
    "sinh": "overflow of sinh({0})",
    "cosh": "overflow of cosh({0})",
}

KINDS = {
    "M": "mass matrix M",
    "T": "kinetic energy",
    "V": "potential",
    "Q": "force on",
    "C": "non-ideal force on",
    "q_dot": "rate of",
}


def culprit(model: TracedModel, output: str, value: FloatArray, batch_axes: int) -> str:
    """What the first value of an output that is not finite belongs to.

    Parameters
    ----------
    output : name of a term, as in `zwang.tracing.traced_model.TracedModel`, or ``position``,
        ``velocity``.
    value : shape (…, entries, …), the entries on the axis after those of the batch.
    """
    laws = list(model.definition.nonideal)
    if output == "C" and len(laws) == 1:
        return f"non-ideal law of {laws[0]!r}"
    names = _entries(model, output)
    if not names:
        return KINDS.get(output, f"{output} of the system")
    others = tuple(k for k in range(value.ndim) if k != batch_axes)
    first = int(np.argmax((~np.isfinite(value)).any(axis=others)))
    return f"{KINDS.get(output, 'constraint')} {names[first]!r}"


def _entries(model: TracedModel, output: str) -> list[str]:
    """Names of what the entries of an output belong to; none where it is one thing."""
    definition = model.definition
    if output in ("Q", "C"):
        plain = definition.kinematics is None
        return list(definition.coordinates if plain else definition.velocities)
    if output == "q_dot":
        return list(definition.coordinates)
    levels = [block.level for block in model.blocks.values() for _ in range(block.A.shape[0])]
    rows = list(zip(model.row_names, levels, strict=True))
    return {
        "A": list(model.row_names),
        "b": list(model.row_names),
        "position": [name for name, level in rows if level == "position"],
        "velocity": [name for name, level in rows if level != "acceleration"],
    }.get(output, [])


def undefined_operation(function: casadi.Function, inputs: Sequence[FloatArray]) -> str:
    """The first operation of finite numbers that gives none, as ``square root of …``; else empty.

    Parameters
    ----------
    function : of scalar operations, of dense inputs.
    """
    import casadi as ca

    read_as = read(function)
    entries = [np.ravel(x) for x in inputs]
    values: list[float] = []
    for operation, arguments in read_as.instructions:
        if operation == "const":
            value = float(read_as.constants[arguments[0]])
        elif operation == "input":
            value = float(entries[arguments[0]][arguments[1]])
        else:
            of = [values[k] for k in arguments]
            make = ca.SX.unary if OPERATIONS[operation] == 1 else ca.SX.binary
            value = float(make(getattr(ca, f"OP_{operation.upper()}"), *map(ca.SX, of)))
            if not math.isfinite(value) and all(map(math.isfinite, of)):
                words = UNDEFINED.get(operation, f"overflow of {operation}")
                return words.format(*(f"{x:.6g}" for x in of))
        values.append(value)
    return ""
