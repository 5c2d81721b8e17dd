"""Bodies and joints of a mechanism as tables, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from zwang.display import brief, html_table
from zwang.multibody.body import Body
from zwang.multibody.element import Element
from zwang.multibody.marker import Joint
from zwang.multibody.pose import SCALAR

__all__ = ["mechanism_html"]

#: Rows of a table; of a longer one the number of the others is given.
LISTED = 12


def mechanism_html(
    title: str,
    bodies: Sequence[Body],
    joints: Iterable[Joint],
    forces: Iterable[Element],
    parameters: Mapping[str, np.ndarray],
) -> str:
    """Tables of bodies, with mass and initial position, of joints and forces, and of parameters."""
    names = {body.index: body.name for body in bodies}
    of_bodies = [
        [body.name, f"{body.inertia.mass:g}", _place(body)] for body in bodies if body.index >= 0
    ]
    of_joints = [
        [joint.name, _kind(joint), " – ".join(names.get(k, "ground") for k in joint.bodies)]
        for joint in joints
    ]
    of_forces = [
        [force.name, force.law.what.replace("_", " "), _between(force, names)] for force in forces
    ]
    values = [
        [name, brief(np.atleast_1d(x)[0] if x.size == 1 else x), ""]
        for name, x in parameters.items()
    ]
    head = ["body", "mass [kg]", "initial position [m]"]
    made = html_table(head, _listed(of_bodies), caption=title)
    for first, rows in (("joint", of_joints), ("force", of_forces)):
        made += html_table([first, "kind", "between"], _listed(rows)) if rows else ""
    return made + (html_table(["parameter", "value", ""], _listed(values)) if values else "")


def _between(force: Element, names: Mapping[int, str]) -> str:
    """The bodies that it acts on, each once."""
    return " – ".join(names.get(k, "ground") for k in dict.fromkeys(force.bodies))


def _kind(joint: Joint) -> str:
    if joint.kind is not None:
        return joint.kind.name
    return f"drives {joint.drives}" if joint.drives else "constraint"


def _place(body: Body) -> str:
    if body.kind is SCALAR:
        return f"{body.placement.position[0]:g}"
    return ", ".join(f"{x:g}" for x in body.placement.position + 0.0)


def _listed(rows: list[list[str]]) -> list[list[str]]:
    rest = len(rows) - LISTED
    return [*rows[:LISTED], [f"… and {rest} more", "", ""]] if rest > 0 else rows
