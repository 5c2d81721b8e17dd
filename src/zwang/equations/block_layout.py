"""From the equations of a mechanism to the layout of its block program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.pose import BodyKind, config_of, kinematics
from zwang.multibody.terms import body_slots, body_terms
from zwang.programs.blocks.layout import (
    BlockElement,
    BlockFriction,
    BlockLayout,
    ElementType,
    LawType,
    Node,
    NodeType,
)
from zwang.programs.factor import MASS_SHIFT

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.element import Element as Part

__all__ = ["structure_of"]


def structure_of(
    parts: Parts, left_out: frozenset[int] = frozenset(), *, distinct: bool = False
) -> BlockLayout:
    """The mechanism as nodes and elements; rows that are left out do not act.

    Parameters
    ----------
    left_out : numbers of rows among all rows of the mechanism.
    distinct : whether the others are independent but for singular positions.
    """
    slots = parts.slots
    traced = parts.traced
    shifts = _mass_shifts(parts)
    node_types: dict[Any, NodeType] = {}
    nodes = []
    for body in parts.bodies:
        place = body_slots(slots, body.name)
        key = (body.kind, place[1] - place[0], shifts[body.kind] if body.singular else ())
        if key not in node_types:
            node_types[key] = _node_type(*key)
        nodes.append(Node(node_types[key], place))
    element_types: dict[object, ElementType] = {}

    def element(part: Part, row: int, kept: tuple[int, ...] | None) -> BlockElement:
        kinds = tuple(None if i < 0 else nodes[i].type for i in part.bodies)
        same = tuple(part.bodies.index(i) for i in part.bodies)
        key = (part.law.key, tuple(id(kind) for kind in kinds), same, kept)
        if key not in element_types:
            found = traced[part.law.key]
            function = found.function if kept is None else _some_rows(found.function, kept)
            rows = found.rows if kept is None else len(kept)
            element_types[key] = ElementType(function, rows, found.level == "position", kinds, same)
        numbers = [slots[f"{part.name}.{n}"] for n in part.law.shapes]
        place = (numbers[0][0], numbers[-1][1]) if numbers else (0, 0)
        return BlockElement(element_types[key], part.bodies, place, row)

    constraints, row, full_row = [], 0, 0
    for part in parts.constraints:
        count = traced[part.law.key].rows
        kept = tuple(i for i in range(count) if full_row + i not in left_out)
        full_row += count
        if kept:
            constraints.append(element(part, row, None if len(kept) == count else kept))
            row += len(kept)
    assert not (left_out and parts.frictions), "friction looks at the multipliers of all rows"
    user = sum(value.size for value in parts.parameters.values())
    return BlockLayout(
        nodes,
        constraints,
        [element(part, 0, None) for part in parts.forces],
        (0, user),
        slots["gravity"],
        parts.defaults.size,
        parts.is_forest,
        _laws(parts, constraints),
        distinct,
    )


def _laws(parts: Parts, constraints: list[BlockElement]) -> tuple[BlockFriction, ...]:
    """Friction in the joints."""
    types: dict[tuple[int, int], LawType] = {}
    found = []
    for friction in parts.frictions:
        kind = constraints[friction.constraint].type
        key = id(friction.function), id(kind)
        if key not in types:
            types[key] = LawType(friction.function, kind)
        name, shapes = friction.element.name, list(friction.element.law.shapes)
        ends = [parts.slots[f"{name}.{shapes[k]}"][k] for k in (0, -1) if shapes]
        place = (ends[0], ends[1]) if shapes else (0, 0)  # a law of the user's has no numbers
        found.append(BlockFriction(types[key], friction.constraint, place))
    return tuple(found)


def _mass_shifts(parts: Parts) -> dict[BodyKind, tuple[float, ...]]:
    """Mass to add to each velocity of bodies that can move without inertia, by kind.

    A share of the mean mass and of the mean moment of inertia of those that have some: it only
    decides how fast corrections converge, and is rounded to a power of ten, so that mechanisms
    share their code.
    """
    if not any(body.singular for body in parts.bodies):
        return dict.fromkeys((body.kind for body in parts.bodies), ())
    masses, moments = [], []
    for body in parts.bodies:
        masses.append(body.inertia.mass)
        moments += np.diag(body.inertia.tensor).tolist()

    def share(values: list[float]) -> float:
        some = [x for x in values if x > 0.0]
        return 10.0 ** round(np.log10(MASS_SHIFT * np.mean(some))) if some else MASS_SHIFT

    turns = {6: 3, 3: 1, 1: 0}
    return {
        kind: (share(masses),) * (kind.nv - turns[kind.nv]) + (share(moments),) * turns[kind.nv]
        for kind in {body.kind for body in parts.bodies}
    }


def _node_type(kind: BodyKind, numbers: int, shift: tuple[float, ...]) -> NodeType:
    import casadi as ca

    q, v = ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)
    data, gravity = ca.SX.sym("data", numbers), ca.SX.sym("gravity", 3)
    config = config_of(kind, q)
    M, force, _ = body_terms(kind, config, v, data, gravity)
    terms = ca.Function("body", [q, v, data, gravity], [config, kinematics(kind, q), M, force])
    return NodeType(kind.nq, kind.nv, kind.config, terms, kind.unit, shift)


def _some_rows(function: casadi.Function, kept: tuple[int, ...]) -> casadi.Function:
    """A constraint with some of its equations only."""
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    rows = list(kept)
    outputs = [x[rows, :] if x.shape[0] else x for x in function.call(inputs)]
    return ca.Function("constraint", inputs, outputs)
