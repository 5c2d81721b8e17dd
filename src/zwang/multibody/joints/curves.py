"""A point of one body on a curve of another.

Where on the curve the point is, is an unknown of its own: an extra generalized coordinate s without
mass. Nothing pushes along it, so that the reaction stands across the curve:

    P_b − P_a(curve(s)) = 0,   λ · d curve/ds = 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zwang.multibody.checks import three
from zwang.multibody.element import ElementLaw, LawConstants
from zwang.multibody.pose import BodyKind
from zwang.tracing.trace import call

__all__ = ["curve_law"]


def curve_law(
    name: str,
    kinds: tuple[BodyKind, BodyKind, BodyKind],
    constants: LawConstants,
    curve: Callable[..., Any],
    plane: tuple[int, int, int] | None,
) -> ElementLaw:
    """The equations that a point of the second body lies on a curve of the first.

    Parameters
    ----------
    kinds : of the two bodies and of the coordinate s.
    constants : centers of mass of the bodies, ``center_0`` and ``center_1``, in their frames, and
        ``at``, the point in the frame of the second body.
    curve : f(s, t, p), or of some of these by name, in the frame of the first body.
    plane : axes and normal of a planar mechanism, whose normal has no equation.
    """
    what = f"curve of point_on_curve joint {name!r}"
    pair, rows = (None, (0, 1, 2)) if plane is None else (plane[:2], plane[:2])

    def function(poses: Any, data: Any) -> list[Any]:
        a, b = (poses[k].about(constants.get(f"center_{k}", data)) for k in range(2))
        given = call(what, curve, {"s": poses[2].value, "t": data.t, "p": data.p})
        gap = b.point(constants.get("at", data)) - a.point(three(what, given, pair))
        return [gap[k] for k in rows]

    shapes = constants.shapes
    return ElementLaw(("curve", name), "point_on_curve joint", kinds, shapes, "position", function)
