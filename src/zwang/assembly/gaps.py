"""Assembly: how far joints are from being met, as lengths that a reader can measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint, Marker
from zwang.multibody.wrench import pose
from zwang.terms import FloatArray

__all__ = ["as_lengths", "gap_unit", "gaps_by_name"]

#: Joints whose first equation is that two points are apart by a length.
LINKS = ("spherical_link", "revolute_spherical_link")


def as_lengths(parts: Parts, q: FloatArray, values: FloatArray, names: Sequence[str]) -> FloatArray:
    """Values of conditions at q, with those of links as what is missing from their length.

    The equation of a link, φ = ½ (d²/l − l) with the distance d of its ends, is d − l to first
    order only: of ends 1.3 m apart on a link of 2 m, φ is −0.58 m.

    Parameters
    ----------
    values, names : of the conditions, (m,) numbers and names of the rows.
    """
    result = np.array(values, dtype=float)
    for i, name in enumerate(names):
        element, _, row = name.partition("[")
        joint = parts.joints.get(parts.owner(element))
        if joint is None or joint.kind is None or joint.kind.name not in LINKS:
            continue
        if row in ("", "0]"):
            d = _distance(parts, joint, q)
            # l² + 2 φ l − d² = 0, be l a number or a function of time
            result[i] = d + result[i] - np.hypot(result[i], d)
    return result


def gap_unit(parts: Parts, name: str) -> str:
    """Unit of a gap, with a space before it; empty where lengths and directions are together.

    Parameters
    ----------
    name : of a joint or driver, or ``"hold NAME"``.
    """
    joint = parts.joints.get(name)
    coordinate = name.removeprefix("hold ") if joint is None else joint.drives
    of = coordinate.rpartition(".")[2] if "." in coordinate else ""
    if of.startswith(("angle", "displacement")) and not of.endswith("_rate"):
        return " rad" if of.startswith("angle") else " m"
    kind = None if joint is None or joint.kind is None else joint.kind.name
    of_points = ("revolute",) if parts.kind.plane is not None else ()
    return " m" if kind in (*of_points, "spherical", *LINKS) else ""


def _distance(parts: Parts, joint: Joint, q: FloatArray) -> float:
    """How far the ends of a link are apart."""
    assert joint.a is not None
    assert joint.b is not None
    apart = _point(parts, joint.b, q) - _point(parts, joint.a, q)
    if parts.kind.plane is not None:  # equations know of nothing across the plane
        apart[parts.kind.plane[2]] = 0.0
    return float(np.linalg.norm(apart))


def _point(parts: Parts, marker: Marker, q: FloatArray) -> FloatArray:
    """Where a marker is, world axes."""
    if marker.body < 0:
        return marker.arm
    (center,), (R,) = pose(parts, marker.body, q[None])
    return center + R @ marker.arm


def gaps_by_name(
    group: Sequence[str], owners: Sequence[str], values: FloatArray
) -> dict[str, float]:
    """Joint or held value of a group → how far it is from being met."""
    pairs = list(zip(values, owners, strict=True))
    return {name: float(np.linalg.norm([x for x, o in pairs if o == name])) for name in group}
