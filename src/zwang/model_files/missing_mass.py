"""Bodies of a model file whose mass, or whose moments of inertia, are not written there.

Bodies without mass are allowed, and so are point masses; where a key is missing, the file may have
forgotten it. ``mass = 0``, a shape of type point and an inertia of zero say that it is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zwang.diagnosis.wording import shortened

if TYPE_CHECKING:
    from zwang.model_files.model import Model

__all__ = ["mass_notes"]


def mass_notes(model: Model) -> list[str]:
    """Sentences that name bodies without mass, and those with mass and no moment of inertia."""
    if model.mechanism is None:
        return []
    massless, points = [], []
    for body in model.mechanism.parts.bodies:
        table = model.tables.get("body", {}).get(body.name)
        if table is None or {"shape", "inertia"} & table.keys():
            continue
        if "mass" not in table:
            massless.append(repr(body.name))
        elif body.inertia.mass > 0.0:
            points.append(repr(body.name))
    return [
        *_said(massless, "has no mass: neither weight nor inertia", "mass = 0"),
        *_said(
            points, "has mass but no moment of inertia: a point mass", 'shape = { type = "point" }'
        ),
    ]


def _said(names: list[str], what: str, meant: str) -> list[str]:
    if not names:
        return []
    if len(names) > 1:
        what = what.replace("has ", "have ").replace("a point mass", "point masses")
    bodies = "body" if len(names) == 1 else "bodies"
    return [f"{bodies} {shortened(names)} {what} ({meant} says that this is meant)"]
