"""Where the teeth of two wheels meet, found from the axes that bearings and bodies give.

A wheel turns about an axis of given direction; which line that is follows from its bearings, its
origin or its centre of mass, whichever fits radii and pitch point, or the centres that were given.

    parallel axes   distance of centres = r_a + r_b, the pitch point divides it (outside for a ring)
    axes that meet  pitch point at r_a from one axis and r_b from the other, in their plane
    rack            pitch line at r from the pinion's axis, on the side e = d × z
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from zwang.errors import InputError
from zwang.multibody.joints.gears import BEVEL_TEETH, RACK_TEETH, SPUR_TEETH
from zwang.multibody.joints.kind import JointKind
from zwang.terms import FloatArray

__all__ = ["GearMesh", "Wheel", "gear", "rack"]

#: How far centres may be from where radii put them, relative to these: placements are typed with
#: three or four digits. Ratios are those of the radii all the same.
FITS = 1e-3
#: Axes at a smaller angle are parallel.
PARALLEL = 1e-9


@dataclass(frozen=True)
class Wheel:
    """What is known of one side of a mesh, as placed.

    Attributes
    ----------
    name : of the body.
    axis : unit vector along its axis, or along the rack.
    points : points that its axis may go through, the likeliest first.
    middle : its centre of mass, in whose plane it is taken to lie.
    ground : whether it is the ground, of which any line may be the axis.
    """

    name: str
    axis: FloatArray
    points: Sequence[FloatArray]
    middle: FloatArray
    ground: bool = False


@dataclass(frozen=True)
class GearMesh:
    """Teeth that meet.

    Attributes
    ----------
    kind : which equations they have.
    a, b : points of the two axes for the markers, in the world.
    normal : components of the direction in which teeth push b away from a, along e and z_a.
    """

    kind: JointKind
    a: FloatArray
    b: FloatArray
    normal: tuple[float, float] = (1.0, 0.0)


def _refusal(what: str, must: str, but: str, advice: str | None = None) -> InputError:
    return InputError(
        what,
        must=must,
        but=but,
        advice=advice
        or "Give 'at' as the pitch point, or as the pair of the wheels' centres; a "
        "'pressure_angle' of None, in a model file false, ties the rates alone.",
    )


def _foot(point: FloatArray, on: FloatArray, axis: FloatArray) -> FloatArray:
    """The foot of a point on the line through `on` along `axis`."""
    return on + ((point - on) @ axis) * axis


def _length(x: FloatArray) -> float:
    return float(np.linalg.norm(x))


def spur(
    what: str, a: Wheel, b: Wheel, radii: tuple[float, float], pitch: FloatArray | None
) -> GearMesh:
    """Teeth of wheels with parallel axes, or an error that states what does not fit."""
    ra, rb = radii
    both, z = ra + rb, a.axis
    if abs(both) <= FITS * abs(ra):
        raise _refusal(
            f"radii of {what}", "have a ring larger than its pinion", f"are {ra:g} and {rb:g}"
        )
    if z @ b.axis < 0.0:
        raise _refusal(f"axes of {what}", "have the same direction", "are opposite")
    level = a.middle if not a.ground else b.middle
    level = level if pitch is None else pitch
    nearest = np.inf
    for one in a.points:
        A = _foot(level, one, z)
        others = [_foot(level, point, z) for point in b.points]
        if b.ground and pitch is not None:
            others.append(A + (both / ra) * (pitch - A))
        for B in others:
            gap = abs(_length(B - A) - abs(both))
            if pitch is not None:
                gap = max(gap, _length(A + (ra / both) * (B - A) - pitch))
            if gap <= FITS * max(abs(ra), abs(rb)):
                return GearMesh(SPUR_TEETH, A, B)
            nearest = min(nearest, gap)
    apart = f"those of {a.name!r} and {b.name!r} are off by {nearest:.3g} m or more"
    where = "" if pitch is None else ", and meet at the point given"
    raise _refusal(what, f"have axes {abs(both):g} m apart, as the radii require{where}", apart)


def bevel(
    what: str, a: Wheel, b: Wheel, radii: tuple[float, float], pitch: FloatArray | None
) -> GearMesh:
    """Teeth of wheels whose axes meet, or an error that states what does not fit."""
    ra, rb = radii
    size = max(abs(ra), abs(rb))
    square = np.cross(a.axis, b.axis)
    sine = _length(square)
    square = square / sine
    best: tuple[float, GearMesh] | None = None
    for one, other in product(a.points, b.points):
        if abs((other - one) @ square) > FITS * size:
            continue
        apex = one + (np.cross(other - one, b.axis) @ square / sine) * a.axis
        for P in _on_cones(apex, a.axis, b.axis, ra, rb, sine):
            mesh = _bevel_at(apex, P, a, b, ra, rb)
            A, B = _foot(P, apex, a.axis), _foot(P, apex, b.axis)
            off = [w.middle - c for w, c in ((a, A), (b, B)) if not w.ground]
            miss = _length(P - pitch) if pitch is not None else max(map(_length, off))
            if mesh is not None and (best is None or miss < best[0]):
                best = miss, mesh
    if best is None:
        raise _refusal(what, "have axes that are parallel or meet", "these do neither")
    if pitch is not None and best[0] > FITS * size:
        raise _refusal(
            f"pitch point of {what}",
            "be at the distance of the radii from both axes",
            f"is {best[0]:.3g} m from where wheels of these radii meet",
        )
    return best[1]


def _on_cones(
    apex: FloatArray, z: FloatArray, y: FloatArray, ra: float, rb: float, sine: float
) -> list[FloatArray]:
    """Points of the plane of two axes at |r_a| from one and |r_b| from the other."""
    # apex + s z + t y is |t| sine from the first axis and |s| sine from the second
    s, t = abs(rb) / sine, abs(ra) / sine
    return [apex + i * s * z + j * t * y for i, j in product((1.0, -1.0), repeat=2)]


def _bevel_at(
    apex: FloatArray, P: FloatArray, a: Wheel, b: Wheel, ra: float, rb: float
) -> GearMesh | None:
    """The teeth at a point, if wheels there turn as the signs of their radii require."""
    A, B = _foot(P, apex, a.axis), _foot(P, apex, b.axis)
    e, f = (P - A) / ra, (P - B) / rb
    if np.cross(a.axis, e) @ np.cross(b.axis, f) > 0.0:
        return None
    generator = (P - apex) / _length(P - apex)
    n = np.cross(np.cross(a.axis, e), generator)
    # The smaller wheel is pushed towards its own axis.
    away = n @ (P - A) if abs(ra) <= abs(rb) else n @ (B - P)
    n = n if away > 0.0 else -n
    # Any point of the second axis will do, if it is on the side of e.
    marker = B if e @ (B - A) > FITS * abs(rb) else apex + np.sign(e @ b.axis) * abs(rb) * b.axis
    return GearMesh(BEVEL_TEETH, A, marker, (float(n @ e), float(n @ a.axis)))


def rack(what: str, pinion: Wheel, bar: Wheel, radius: float, pitch: FloatArray | None) -> GearMesh:
    """Teeth of a pinion and a rack, or an error that states what does not fit."""
    z, d = pinion.axis, bar.axis
    if abs(z @ d) > PARALLEL:
        raise _refusal(
            f"axes of {what}",
            "be at right angles",
            "the rack is not perpendicular to the pinion's axis",
            "The pinion is the first body, the rack the second: 'axis' is what the pinion turns "
            "about, 'axis_b' where the rack moves.",
        )
    e = np.cross(d, z)
    level = pinion.middle if not pinion.ground else bar.middle
    nearest, mirrored = np.inf, False
    for one in pinion.points:
        A = _foot(level if pitch is None else pitch, one, z)
        P = A + radius * e
        gap = 0.0 if pitch is None else abs((pitch - P) @ e)
        if gap <= FITS * radius:
            return GearMesh(RACK_TEETH, A, P)
        nearest = min(nearest, gap)
        mirrored = mirrored or (
            pitch is not None and abs((pitch - A) @ e + radius) <= FITS * radius
        )
    raise _refusal(
        what,
        f"have its pitch point {radius:g} m from the pinion's axis, on the side that moves along "
        "axis_b",
        f"it is {nearest:.3g} m off the line where the pinion's teeth are",
        "It is on the other side of the pinion: turn 'axis_b' round." if mirrored else None,
    )


def gear(
    what: str, a: Wheel, b: Wheel, radii: tuple[float, float], pitch: FloatArray | None
) -> GearMesh:
    """Teeth of two wheels, by whether their axes are parallel."""
    parallel = _length(np.cross(a.axis, b.axis)) <= PARALLEL
    found: Callable[..., GearMesh] = spur if parallel else bevel
    return found(what, a, b, radii, pitch)
