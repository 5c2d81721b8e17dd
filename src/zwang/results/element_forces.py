"""Forces of springs, bushings and of the user along a run, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.multibody.element import Element
from zwang.multibody.element_batches import Bulk
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR
from zwang.multibody.wrench import pose
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = [
    "ElementForce",
    "about_center",
    "element_force",
    "element_force_on",
    "element_named",
    "generalized_on",
    "marker_axis",
    "marker_points",
    "spring_tension",
]


class ElementForce(NamedTuple):
    """What an element exerts on a body, ground axes, each (nt, 3).

    Attributes
    ----------
    force, moment : the moment is about `point`.
    point : the element's marker on the body; the center of mass where it has none.
    """

    force: FloatArray
    moment: FloatArray
    point: FloatArray


def element_force(run: Run, parts: Parts, element: Element) -> ElementForce:
    """What an element exerts on its last body, as a joint does; on the ground, by reaction."""
    on = element.bodies[-1]
    if on >= 0:
        return element_force_on(run, parts, element, on)
    other = next(i for i in element.bodies if i >= 0)
    found = element_force_on(run, parts, element, other)
    points = marker_points(run, parts, element, "b")
    point = found.point if points is None else points
    moment = found.moment + np.cross(found.point - point, found.force)
    return ElementForce(-found.force, -moment, point)


def element_force_on(run: Run, parts: Parts, element: Element, body: int) -> ElementForce:
    """What an element exerts on one of its bodies, at its marker there."""
    assert parts.bodies[body].kind is not SCALAR
    own = generalized_on(run, parts, element, body)
    force, about, center = about_center(run, parts, body, own)
    side = "ab"[element.bodies.index(body)] if len(element.bodies) <= 2 else ""
    points = marker_points(run, parts, element, side) if side else None
    if points is None:
        return ElementForce(force, about, center)
    return ElementForce(force, about - np.cross(points - center, force), points)


def about_center(run: Run, parts: Parts, body: int, own: FloatArray) -> ElementForce:
    """Force and moment about the center of mass of a generalized force on a body, (nt, nv)."""
    kind = parts.bodies[body].kind
    center, R = pose(parts, body, run.q)
    force, about = np.zeros((len(run), 3)), np.zeros((len(run), 3))
    if kind.plane is None:
        force, about = own[:, :3], (R @ own[:, 3:, None])[..., 0]
    else:
        a, b, k = kind.plane
        force[:, [a, b]], about[:, k] = own[:, :2], own[:, 2]
    return ElementForce(force, about, center)


def element_named(parts: Parts, name: str) -> Element:
    """A force element by its name."""
    return next(e for e in parts.forces if e.name == name)


def spring_tension(run: Run, parts: Parts, element: Element) -> FloatArray:
    """Force along the line of a spring's two points, positive where it pulls, (nt,)."""
    found = element_force(run, parts, element)
    start = marker_points(run, parts, element, "a")
    assert start is not None
    d = found.point - start
    length = np.linalg.norm(d, axis=1)
    return -np.einsum("ti,ti->t", found.force, d) / length


def marker_points(run: Run, parts: Parts, element: Element, side: str) -> FloatArray | None:
    """Positions of an element's marker of one side, (nt, 3), or None if it has none."""
    if f"at_{side}" not in element.numbers:
        return None
    points = np.empty((len(run), 3))
    for s in run.segments:
        rows = slice(s.first, s.last)
        arm = np.asarray(s.parameters[f"{element.name}.at_{side}"], dtype=float)
        i = element.bodies["ab".index(side)]
        plane = parts.kind.plane
        if arm.size == 2 and plane is not None:
            arm = np.insert(arm, plane[2], 0.0)
        if i < 0:
            points[rows] = arm
        else:
            center, R = pose(parts, i, run.q[rows])
            points[rows] = center + R @ arm
    return points


def marker_axis(run: Run, parts: Parts, element: Element) -> FloatArray:
    """Direction z of an element's first marker, (nt, 3)."""
    plane = parts.kind.plane
    if plane is not None:
        return np.broadcast_to(np.eye(3)[plane[2]], (len(run), 3))
    z, i = np.empty((len(run), 3)), element.bodies[0]
    for s in run.segments:
        rows = slice(s.first, s.last)
        axes = np.reshape(s.parameters[f"{element.name}.axes_a"], (3, 3))
        z[rows] = axes[:, 2] if i < 0 else pose(parts, i, run.q[rows])[1] @ axes[:, 2]
    return z


def generalized_on(run: Run, parts: Parts, element: Element, body: int) -> FloatArray:
    """Generalized force of an element on one of its bodies, shape (nt, nv of the body)."""
    bulk = Bulk(parts)
    involved = [i for i in element.bodies if i >= 0]
    total = np.zeros((len(run), parts.bodies[body].kind.nv))
    function = parts.traced[element.law.key].function
    for s in run.segments:
        rows = slice(s.first, s.last)
        if s.last <= s.first:
            continue
        p = run.system.parameter_vector(s.parameters)
        state = (run.q[rows], run.v[rows], run.t[rows])
        configs = bulk.configs(state[0], involved)
        _, *efforts = bulk.evaluate(element.law.key, function, [element], state, p, configs)
        total[rows] = efforts[element.bodies.index(body)][0]
    return total
