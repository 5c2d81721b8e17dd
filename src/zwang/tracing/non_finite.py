"""Which traced function, a constraint or an energy by name, has a value that is not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.tracing.traced_model import TracedModel

__all__ = ["culprit"]

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
