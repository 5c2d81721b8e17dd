"""Bodies and joints of a mechanism as tables, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zwang.display import html_table
from zwang.multibody.body import Body
from zwang.multibody.marker import Joint
from zwang.multibody.pose import SCALAR

__all__ = ["mechanism_html"]

#: Rows of a table; of a longer one the number of the others is given.
LISTED = 12


def mechanism_html(title: str, bodies: Sequence[Body], joints: Iterable[Joint]) -> str:
    """Tables of bodies, with mass and initial position, and of joints, with the bodies joined."""
    names = {body.index: body.name for body in bodies}
    of_bodies = [
        [body.name, f"{body.inertia.mass:g}", _place(body)] for body in bodies if body.index >= 0
    ]
    of_joints = [
        [joint.name, _kind(joint), " — ".join(names.get(k, "ground") for k in joint.bodies)]
        for joint in joints
    ]
    head = ["body", "mass [kg]", "initial position [m]"]
    return html_table(head, _listed(of_bodies), caption=title) + (
        html_table(["joint", "kind", "between"], _listed(of_joints)) if of_joints else ""
    )


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
