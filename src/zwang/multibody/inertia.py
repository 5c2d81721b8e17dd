"""Mass, centre and inertia tensor of rigid bodies, from shapes or from numbers.

An `Inertia` is given in the axes of its body: its centre of mass and the tensor about it. Parts add
up (`+`, `composite`), move and rotate. The shape it came from stays with it, for drawings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from zwang.arguments.keywords import known_keywords
from zwang.arguments.values import number, positive, vector
from zwang.errors import InputError, shown
from zwang.multibody.parameter_expression import InertiaExpression, of_parameters
from zwang.terms import FloatArray

__all__ = [
    "Inertia",
    "Shape",
    "box",
    "composite",
    "cylinder",
    "massless",
    "plate",
    "point",
    "principal",
    "rod",
    "sphere",
    "tensor",
    "tube",
]

#: A body may violate the triangle inequality of its principal moments by this, relative: data are
#: often rounded to a few digits, and a flat plate meets it with equality.
TRIANGLE = 1e-6

#: By how much R Rᵀ of an orientation may differ from the unit matrix: axes may have been rounded in
#: length, hardly in direction.
UNIT = np.eye(3)
ORTHONORMAL = 1e-9 + 1e-5 * UNIT

AXES = {"x": 0, "y": 1, "z": 2}
#: Axes, as columns, with the third along a letter and the others in turn.
CYCLIC = {letter: np.roll(UNIT, k - 2, axis=0) for letter, k in AXES.items()}


@dataclass(frozen=True)
class Shape:
    """What a body looks like: a kind, its sizes [m], and where it is in the body.

    Attributes
    ----------
    kind : rod, box, cylinder, sphere, tube or plate.
    size : by kind: (length,), (x, y, z), (radius, length), (radius,), (inner, outer, length) or
        (side, side); long shapes lie along their z axis, plates are normal to it.
    center, axes : pose in the body, axes as columns.
    """

    kind: str
    size: tuple[float, ...]
    center: FloatArray
    axes: FloatArray


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], centre [m] and tensor about the centre [kg m²], in the axes of the body.

    With ``check=False`` principal moments may break the triangle inequality. Its arrays cannot be
    written to: bodies of several mechanisms may have it. `points` are where its point masses are.
    """

    mass: float
    center: FloatArray
    tensor: FloatArray
    shapes: tuple[Shape, ...] = ()
    check: bool = True
    points: tuple[FloatArray, ...] = ()

    def __post_init__(self) -> None:
        mass = number("mass", self.mass)
        if mass < 0.0:
            raise InputError("mass", found=f"{mass:g}", expected="zero or a positive number")
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "center", vector("centre of mass", self.center))
        object.__setattr__(self, "tensor", _checked_tensor(self.tensor, triangle=self.check))
        self.center.flags.writeable = self.tensor.flags.writeable = False

    @of_parameters
    def at(self, position: Any, orientation: Any = None) -> Inertia:
        """The same part placed elsewhere in the body: moved to `position` after rotation."""
        R = np.eye(3) if orientation is None else rotation(orientation)
        where = vector("position", position)
        shapes = tuple(
            replace(s, center=where + R @ s.center, axes=R @ s.axes) for s in self.shapes
        )
        points = tuple(where + R @ p for p in self.points)
        J = R @ self.tensor @ R.T
        return Inertia(self.mass, where + R @ self.center, J, shapes, self.check, points)

    def about(self, position: Any) -> FloatArray:
        """Tensor about another point of the body, by Steiner's theorem."""
        return self.tensor + _steiner(self.mass, vector("point", position) - self.center)

    def __add__(self, other: Inertia) -> Inertia:
        if isinstance(other, InertiaExpression):
            return NotImplemented
        mass = self.mass + other.mass
        if mass > 0.0:
            center = (self.mass * self.center + other.mass * other.center) / mass
        else:
            center = 0.5 * (self.center + other.center)
        J = self.about(center) + other.about(center)
        check, points = self.check and other.check, self.points + other.points
        return Inertia(mass, center, J, self.shapes + other.shapes, check, points)


@of_parameters
@known_keywords()
def rod(mass: float, length: float, axis: Any = "x") -> Inertia:
    """A thin uniform rod along an axis, centre at the origin."""
    z = positive("length", length)
    return _turned(mass, (z**2 / 12.0, z**2 / 12.0, 0.0), axis, "rod", (z,))


@of_parameters
@known_keywords()
def box(mass: float, size: Any) -> Inertia:
    """A uniform box with edges of lengths `size` along x, y, z."""
    x, y, z = (positive("size", s) for s in vector("size", size))
    moments = (y**2 + z**2, x**2 + z**2, x**2 + y**2)
    return _turned(mass, tuple(m / 12.0 for m in moments), "z", "box", (x, y, z))


@of_parameters
@known_keywords()
def cylinder(mass: float, radius: float, length: float, axis: Any = "z") -> Inertia:
    """A uniform solid cylinder."""
    r, h = positive("radius", radius), positive("length", length)
    across = r**2 / 4.0 + h**2 / 12.0
    return _turned(mass, (across, across, r**2 / 2.0), axis, "cylinder", (r, h))


@of_parameters
@known_keywords()
def tube(mass: float, inner: float, outer: float, length: float, axis: Any = "z") -> Inertia:
    """A uniform hollow cylinder."""
    a, b, h = (
        positive(what, value)
        for what, value in (("inner radius", inner), ("outer radius", outer), ("length", length))
    )
    if not a < b:
        raise InputError("inner radius", found=f"{a:g}", expected=f"less than the outer one, {b:g}")
    across = (a**2 + b**2) / 4.0 + h**2 / 12.0
    return _turned(mass, (across, across, (a**2 + b**2) / 2.0), axis, "tube", (a, b, h))


@of_parameters
@known_keywords()
def sphere(mass: float, radius: float) -> Inertia:
    """A uniform solid sphere."""
    r = positive("radius", radius)
    return _turned(mass, (0.4 * r**2,) * 3, "z", "sphere", (r,))


@of_parameters
@known_keywords()
def plate(mass: float, sides: Any, normal: Any = "z") -> Inertia:
    """A thin uniform rectangular plate; its sides lie along the other two axes in turn."""
    if np.shape(sides) != (2,):
        raise InputError("sides of plate", found=shown(sides), expected="two lengths")
    a, b = (positive("side", s) for s in sides)
    moments = (b**2 / 12.0, a**2 / 12.0, (a**2 + b**2) / 12.0)
    return _turned(mass, moments, normal, "plate", (a, b))


@of_parameters
@known_keywords()
def point(mass: float, at: Any = (0.0, 0.0, 0.0)) -> Inertia:
    """A point mass."""
    place = vector("centre of mass", at)
    return Inertia(mass, place, np.zeros((3, 3)), points=(place.copy(),) if mass else ())


@known_keywords()
def massless() -> Inertia:
    """Nothing: a body that only transmits."""
    return point(0.0)


@of_parameters
@known_keywords()
def principal(mass: float, moments: Any) -> Inertia:
    """Principal moments of inertia about the centre, along the body's axes."""
    return Inertia(mass, np.zeros(3), np.diag(vector("moments of inertia", moments)))


@of_parameters
@known_keywords()
def tensor(
    mass: float,
    inertia: Any,
    *,
    center: Any = (0.0, 0.0, 0.0),
    about: Any = None,
    axes: Any = None,
    check: bool = True,
) -> Inertia:
    """A full tensor, about any point and in any axes.

    Parameters
    ----------
    inertia : the tensor, shape (3, 3); products of inertia with their sign as matrix entries.
    center : centre of mass in the body.
    about : point of the body that the tensor refers to; the centre of mass by default.
    axes : rotation from the axes of the tensor to those of the body (quaternion or matrix).
    check : False to accept principal moments that no mass distribution has, one of them larger than
        the sum of the others; runs note it.
    """
    J, c = _matrix(inertia), vector("centre of mass", center)
    if axes is not None:
        R = rotation(axes)
        J = R @ J @ R.T
    if about is not None:
        J = J - _steiner(number("mass", mass), vector("point", about) - c)
    return Inertia(mass, c, J, check=check)


@of_parameters
@known_keywords()
def composite(*parts: Inertia) -> Inertia:
    """Several parts as one rigid body."""
    if not parts:
        raise InputError("composite inertia", must="have at least one part", but="has none")
    for part in parts:
        if not isinstance(part, Inertia):
            raise InputError(
                "composite inertia", found=shown(part), expected="zwang.inertia shapes"
            )
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


# --- checking ------------------------------------------------------------------------------------


def direction(what: str, value: Any) -> FloatArray:
    """A unit vector from a letter or from three numbers that are not all zero."""
    if isinstance(value, str):
        letter = value.lstrip("-")
        if letter not in AXES:
            raise InputError(what, found=repr(value), expected="'x', 'y', 'z' or three numbers")
        sign = -1.0 if value.startswith("-") else 1.0
        return sign * UNIT[AXES[letter]]
    result = vector(what, value)
    length = length_of(result)
    if length == 0.0:
        raise InputError(
            what, expected="a nonzero direction", advice="Give 'x', 'y', 'z' or three numbers."
        )
    return result / length


def rotation(value: Any) -> FloatArray:
    """A rotation matrix from a matrix, or from a quaternion (w, x, y, z)."""
    from zwang.rotation.quaternion import rotation_matrix

    try:
        given = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            "orientation",
            expected="a rotation matrix or a quaternion (w, x, y, z)",
            found=shown(value),
        ) from None
    if given.shape == (4,) and np.isfinite(given).all() and np.linalg.norm(given) > 0.0:
        return rotation_matrix(given / np.linalg.norm(given))
    if given.shape == (3, 3) and (np.abs(given @ given.T - UNIT) <= ORTHONORMAL).all():
        if given[0] @ cross(given[1], given[2]) > 0.0:
            return given
        raise InputError("orientation", found="a reflection", expected="a rotation")
    raise InputError(
        "orientation",
        found=shown(value),
        expected="a rotation matrix or a nonzero quaternion (w, x, y, z)",
    )


def axes_along(z: FloatArray, x: FloatArray | None = None) -> FloatArray:
    """Axes as columns with the third along z; the first along x as far as that can be."""
    wanted = UNIT[int(np.argmin(np.abs(z)))] if x is None else x
    first = wanted - (wanted @ z) * z
    length = length_of(first)
    if length < 1e-9:
        raise InputError("reference direction", must="not be parallel to the axis")
    first = first / length
    return as_columns(first, cross(z, first), z)


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """a × b of two vectors; `numpy.cross` spends thirty times as long on its axes."""
    x, y, z = a.tolist()
    u, v, w = b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def length_of(a: FloatArray) -> float:
    """|a| of a vector, in a tenth of the time of `numpy.linalg.norm`."""
    x, y, z = a.tolist()
    return sqrt(x * x + y * y + z * z)


def as_columns(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Three vectors as the columns of a matrix; `numpy.column_stack` takes its time."""
    result = np.empty((3, 3))
    result[:, 0], result[:, 1], result[:, 2] = a, b, c
    return result


def _turned(
    mass: float, radii: tuple[float, ...], axis: Any, kind: str, size: tuple[float, ...]
) -> Inertia:
    """Inertia m·diag(radii) of a shape whose z axis lies along `axis`."""
    m = number("mass", mass)
    z = direction("axis", axis)
    cyclic = isinstance(axis, str) and not axis.startswith("-")
    R = CYCLIC[axis] if cyclic else axes_along(z)
    tensor = m * ((R * radii) @ R.T)
    return Inertia(m, np.zeros(3), tensor, (Shape(kind, size, np.zeros(3), R.copy()),))


def _steiner(mass: float, d: FloatArray) -> FloatArray:
    return mass * ((d @ d) * np.eye(3) - np.outer(d, d))


def _matrix(value: Any) -> FloatArray:
    try:
        J = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            "inertia",
            found=shown(value),
            expected="a zwang.inertia shape, three moments or a (3, 3) tensor",
        ) from None
    if J.shape == (3,):
        J = np.diag(J)
    if J.shape != (3, 3) or not np.isfinite(J).all():
        raise InputError(
            "inertia", found=shown(value), expected="three moments or a (3, 3) tensor, finite"
        )
    return J


def _checked_tensor(value: Any, *, triangle: bool) -> FloatArray:
    """A symmetric tensor whose principal moments some mass distribution has."""
    J = _matrix(value)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = J.tolist()
    size = max(abs(xx), abs(yy), abs(zz))
    if xy == yx == xz == zx == yz == zy == 0.0:
        a, b, c = sorted((xx, yy, zz))
    else:
        size = float(np.abs(J).max())
        if np.abs(J - J.T).max() > 1e-9 * size:
            i, j = np.unravel_index(int(np.argmax(np.abs(J - J.T))), J.shape)
            raise InputError(
                "inertia",
                must="be symmetric",
                but=f"has {J[i, j]:g} and {J[j, i]:g} across the diagonal",
            )
        J = 0.5 * (J + J.T)
        a, b, c = np.linalg.eigvalsh(J)
    if a < -1e-12 * size:
        raise InputError(
            "inertia",
            must="have principal moments of zero or more",
            but=f"has a principal moment of {a:g}",
        )
    if triangle and c > (a + b) * (1.0 + TRIANGLE) + 1e-300:
        raise InputError(
            "inertia",
            must="have principal moments of which none exceeds the sum of the other two, as every "
            "mass distribution has",
            but=f"they are {a:g}, {b:g} and {c:g}",
            advice="zw.inertia.tensor(…, check=False) accepts them as they are.",
        )
    return J
