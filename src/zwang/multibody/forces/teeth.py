"""Teeth that push their wheels apart: |F| tan α along the common normal, F the tangential force.

Where bearings hold the wheels this force does no work: the motion does not depend on it, and it
is added when reactions are asked for. Where bearings have friction, or let the wheels give way, it
is part of the motion, a law of the reaction like friction itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.multibody.element import Arguments, Element, ElementLaw
from zwang.multibody.forces.friction import JointFriction
from zwang.multibody.forces.laws import wrench
from zwang.multibody.joints.gears import separation
from zwang.multibody.marker import Joint
from zwang.multibody.pose import zeros
from zwang.terms import FloatArray
from zwang.tracing.symbol import symbols_of
from zwang.tracing.trace import vector

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.frozen import Parts

__all__ = ["NUMBERS", "acts_on_motion", "pitch_point", "teeth_element", "tooth_laws"]

#: What teeth are described by besides radii: the pressure angle, and the components of the normal
#: along the radius of the first wheel and along its axis.
NUMBERS = ("pressure_angle", "normal_radial", "normal_axial")

#: A force of unit size of which more than this is left when all rows have taken their share does
#: work. Placements that do not quite close leave 1e-3, wheels that give way some tenths.
WORKS = 1e-2
#: How far the mechanism is moved for a second look, relative to its velocities of unit size.
MOVED = 0.03


def teeth_element(joint: Joint, element: Element, pressure_angle: float, normal: Any) -> Element:
    """The numbers by which teeth of a joint push apart."""
    numbers: dict[str, Any] = dict(
        zip(NUMBERS, map(np.asarray, (pressure_angle, *normal)), strict=True)
    )
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(NUMBERS, ())
    law = ElementLaw(("teeth", joint.name), "teeth", element.law.kinds, shapes, "friction", _never)
    return Element(f"{joint.name}.teeth", law, joint.bodies, numbers)


def _never(*_: Any) -> Any:
    message = "teeth are placed with their joint"
    raise AssertionError(message)


def tooth_laws(parts: Parts) -> list[JointFriction]:
    """Forces between teeth of all joints that act; joints of a kind share a function."""
    functions: dict[Any, tuple[casadi.Function, ...]] = {}
    places = {e.name: i for i, e in enumerate(parts.constraints)}
    found = []
    for teeth in parts.teeth:
        name = teeth.name.removesuffix(".teeth")
        if name not in places:
            continue  # switched off with its joint
        element = parts.constraints[places[name]]
        key = element.law.key
        if key not in functions:
            functions[key] = _traced(parts.joints[name], element, parts.parameters)
        found.append(JointFriction(places[name], teeth, *functions[key]))
    return found


def _traced(
    joint: Joint, element: Element, parameters: Mapping[str, np.ndarray]
) -> tuple[casadi.Function, ...]:
    """The functions of `JointFriction`: what presses is |F|."""
    import casadi as ca

    symbols = Arguments.of(element.law, parameters)
    kinds, layout, kind = element.law.kinds, joint.layout, joint.kind
    assert layout is not None
    assert kind is not None
    contact = kind.contact
    assert contact is not None
    own, lam, size = ca.SX.sym("own", len(NUMBERS)), ca.SX.sym("lam", 1), ca.SX.sym("F")
    given = _ToothConstants(dict(zip(NUMBERS, symbols_of(own), strict=True)))

    def efforts(poses: Any, data: Any) -> list[Any]:
        a, b = (layout.frame(pose, data, x) for pose, x in zip(poses, "ab", strict=True))
        P, force = separation(a, contact(a, b, data), given, symbols_of(size)[0])
        pairs = ((a, -force), (b, force))
        return [
            vector("teeth", wrench(k, f, P, F, zeros(3))) if k.nv else ca.SX(0, 1)
            for k, (f, F) in zip(kinds, pairs, strict=True)
        ]

    law = replace(element.law, function=efforts, what="teeth of")
    found = [ca.densify(x) for x in symbols.evaluated(law, joint.name, parameters)]
    pressing = ca.sqrt(lam * lam + 1e-30)  # smooth where nothing presses
    arguments = [*symbols.columns, own, lam]
    return (
        ca.Function("teeth", arguments, [ca.substitute(x, size, pressing) for x in found]),
        ca.Function("pressure", arguments, [pressing]),
        ca.Function("teeth", [*symbols.columns, own, size], found),
    )


def pitch_point(
    joint: Joint, element: Element, parameters: Mapping[str, np.ndarray]
) -> casadi.Function:
    """Columns of the joint's element → where its teeth meet, in the world."""
    import casadi as ca

    symbols, layout, kind = Arguments.of(element.law, parameters), joint.layout, joint.kind
    assert layout is not None
    assert kind is not None
    contact = kind.contact
    assert contact is not None

    def place(poses: Any, data: Any) -> Any:
        a, b = (layout.frame(pose, data, x) for pose, x in zip(poses, "ab", strict=True))
        return contact(a, b, data).point

    law = replace(element.law, function=place, what="teeth of")
    P = vector(joint.name, symbols.evaluated(law, joint.name, parameters))
    return ca.Function("pitch_point", symbols.columns, [ca.densify(P)])


class _ToothConstants:
    """Numbers of the teeth as attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


def acts_on_motion(parts: Parts) -> bool:
    """Whether teeth can push their wheels apart, so that the motion depends on it.

    They cannot where the force is a sum of reactions, at the placement and a little further on.
    """
    from zwang.multibody.element_batches import Bulk

    if not parts.tooth_laws:
        return False
    bulk, p = Bulk(parts), parts.defaults
    q = parts.start[0][None]
    A = _rows(bulk, q, p)
    if _left(bulk, A, q, p) > WORKS:
        return True
    free = np.random.default_rng(0).standard_normal(A.shape[1])
    free = free - A.T @ np.linalg.lstsq(A.T, free, rcond=None)[0]
    size = float(np.abs(free).max(initial=0.0))
    if size < 1e-6:
        return False  # nothing can move
    moved = q + MOVED * bulk.rates(q[0], free / size)[None]
    return _left(bulk, _rows(bulk, moved, p), moved, p) > WORKS


def _rows(bulk: Any, q: FloatArray, p: FloatArray) -> FloatArray:
    from zwang.multibody.element_batches import bulk_rows

    parts = bulk.parts
    nothing = np.zeros((1, len(parts.velocities)))
    found = bulk.rows(q, nothing, np.zeros(1), p)
    return bulk_rows(found, 0, (parts.row_starts[-1], nothing.shape[1]))


def _left(bulk: Any, A: FloatArray, q: FloatArray, p: FloatArray) -> float:
    """The largest share of the teeth's force that no row takes."""
    parts, worst = bulk.parts, 0.0
    nothing = np.zeros((1, len(parts.velocities)))
    for law in parts.tooth_laws:
        lam = np.zeros((1, A.shape[0]))
        lam[0, parts.row_starts[law.constraint]] = 1.0
        force = bulk.laws([law], q, nothing, np.zeros(1), p, lam)[0]
        size = float(np.linalg.norm(force))
        if size > 0.0:
            rest = force - A.T @ np.linalg.lstsq(A.T, force, rcond=None)[0]
            worst = max(worst, float(np.linalg.norm(rest)) / size)
    return worst
