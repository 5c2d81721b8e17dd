"""The conditions that joints are made of, as equations of points and directions in space.

Nikravesh's table 11.1 lists them with Jacobian and right-hand side; here each is its equation only,
the rest comes from differentiation.

    table      here
    Φ^(n1,1)   perpendicular(a, b)              two directions, one in each body
    Φ^(n2,1)   perpendicular(a, d)              a direction and the vector between two points
    Φ^(p1,2)   parallel(a, b)                   three equations, two of them independent
    Φ^(p2,2)   parallel(a, d)
    Φ^(s,3)    coincident(P, Q)
    Φ^(s-s,1)  distance(P, Q, l)

Joints use two perpendicularities in place of a parallelism, so that no row is redundant.
"""

from __future__ import annotations

from typing import Any

from zwang.multibody.pose import cross

__all__ = ["coincident", "distance", "parallel", "perpendicular"]


def perpendicular(a: Any, b: Any) -> list[Any]:
    """aᵀb = 0."""
    return [a @ b]


def parallel(a: Any, b: Any) -> list[Any]:
    """a × b = 0: three equations of rank two."""
    return list(cross(a, b))


def coincident(P: Any, Q: Any) -> list[Any]:
    """Q − P = 0."""
    return list(Q - P)


def distance(P: Any, Q: Any, length: Any) -> list[Any]:
    """½ (dᵀd/l − l) = 0 with d = Q − P: to first order the distance itself, without a root."""
    d = Q - P
    return [0.5 * (d @ d / length - length)]
