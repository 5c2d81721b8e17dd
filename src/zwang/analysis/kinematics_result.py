"""What kinematics gives: states along a path, quantities by name, what engineers ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.analysis.columns import expanded, write_csv
from zwang.analysis.dead_points import DeadPoint, DriverRange, reach
from zwang.analysis.path_equations import PathEquations, driven_coordinate
from zwang.analysis.path_following import Follower, Path, root
from zwang.analysis.path_samples import sampled
from zwang.analysis.quantities import (
    Quantity,
    QuantityDerivatives,
    derivatives,
    parts_of,
    quantity,
    quantity_names,
    values_of,
)
from zwang.arguments.values import vector
from zwang.errors import InputError, UnknownNameError, shown
from zwang.multibody.wrench import pose
from zwang.results.unwrap import followed
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.multibody.frozen import Parts
    from zwang.multibody.marker import Marker
    from zwang.system import System

__all__ = ["END", "Kinematics"]

#: The share of a path's span by which samples may pass its end and still count as on it.
END = 1e-12


@dataclass(frozen=True, repr=False)
class Kinematics:
    """The motion that drivers and joints determine.

    Attributes
    ----------
    system : whose motion it is.
    variable : ``"t"``, or the driven coordinate that the motion is over, as ``"pin.angle"``.
    t : times [s], or values of that coordinate, as far as they were reached, shape (nt,).
    q, v : states, shapes (nt, nq) and (nt, nv). Over a coordinate, v and all rates are those for a
        unit rate of it.
    acceleration : v̇, shape (nt, nv); over a coordinate, its second derivatives.
    dead_points : positions on the way in which drivers do not determine the motion.
    branch : +1 where the path began, changing sign at each change point passed, shape (nt,).
    finished : whether all values were reached.
    status : how it ended, a sentence.
    notes : sentences on what is idle or inaccurate.
    parameters : values in place of defaults.
    """

    system: System = field(repr=False)
    variable: str
    t: FloatArray
    q: FloatArray
    v: FloatArray
    acceleration: FloatArray
    dead_points: tuple[DeadPoint, ...]
    branch: FloatArray
    finished: bool
    status: str
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] | None = None
    _follower: Follower = field(repr=False, kw_only=True)
    _path: Path = field(repr=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<Kinematics over {self.variable}: {len(self)} states, {self.status}>"

    def __str__(self) -> str:
        lines = [self.status, *map(str, self.dead_points), *(f"note: {n}" for n in self.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    # --- quantities by name -----------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """What ``k[name]`` knows, besides parts of vectors such as ``slider.position.x``."""
        return quantity_names(self.system)

    def __getitem__(self, name: str) -> FloatArray:
        """A quantity over the path, shape (nt,), or (nt, 3) of a vector, ground axes."""
        of = quantity(self.system, name)
        found = self._derivatives(of)
        values = values_of(of, found, self.acceleration)
        if not (of.angle and of.order == 0):
            return values
        return followed(self.t, values, found.rate[:, 0], lambda t: self._angle(of, t))

    def _angle(self, of: Quantity, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = self.at(t)._derivatives(of)  # noqa: SLF001 - of its own kind
        assert found.value is not None
        return found.value[:, 0], found.rate[:, 0]

    def _derivatives(self, of: Quantity) -> QuantityDerivatives:
        return derivatives(self.system, of, self.q, self.v, self._times, self._p)

    @property
    def _times(self) -> FloatArray:
        if self.variable == "t":
            return self.t
        return np.full(len(self.t), self._follower.equations.frozen)

    @property
    def _p(self) -> FloatArray:
        return self.system.parameter_vector(self.parameters)

    def to_csv(self, path: str | PathLike[str], channels: Sequence[str] | None = None) -> None:
        """Write quantities over the path to a file, one column each and the variable first.

        Parameters
        ----------
        path : of the file; one that is there is replaced.
        channels : names that ``k[name]`` knows; coordinates and velocities if not given. Vectors
            have three columns.
        """
        names = (*self.system.coordinates, *self.system.velocities)
        columns = expanded(self.__getitem__, names if channels is None else channels)
        write_csv(path, {self.variable: self.t, **columns})

    def at(self, values: ArrayLike) -> Kinematics:
        """The same motion at other times, or other values of the driver, within those reached."""
        s = np.atleast_1d(np.asarray(values, dtype=float))
        low, high = sorted((self._path.nodes[0].s, self._path.nodes[-1].s))
        room = END * (high - low)
        if not np.all((s >= low - room) & (s <= high + room)):
            raise InputError(
                self.variable, found=shown(values), expected=f"values from {low:g} to {high:g}"
            )
        found = sampled(self._follower, self._path, s)
        return replace(
            self, t=s, q=found.q, v=found.v, acceleration=found.acceleration, branch=found.branch
        )

    # --- what engineers ask -----------------------------------------------------------------------

    def velocity_ratio(self, output: str, of: str | None = None) -> FloatArray:
        """Rate of a quantity for a unit rate of a driver, all other drivers at rest, shape (nt,).

        Parameters
        ----------
        output : a quantity, for example ``"slide.displacement"`` or ``"slider.position.x"``.
        of : a driver, or the coordinate that it drives; that of the path by default.
        """
        what = quantity(self.system, output, "output")
        rates = np.einsum("nij,nj->ni", self._derivatives(what).jacobian, self._unit_motion(of))
        return values_of(
            replace(what, order=1), QuantityDerivatives(None, rates, rates[..., None], rates), rates
        )

    def mechanical_advantage(self, output: str, of: str | None = None) -> FloatArray:
        """Force or torque at the output for a unit effort of the driver, without friction or mass.

        By the balance of power it is one over the velocity ratio, infinite where the output stands
        still.
        """
        ratio = self.velocity_ratio(output, of)
        with np.errstate(divide="ignore"):
            return 1.0 / ratio

    def _unit_motion(self, of: str | None) -> FloatArray:
        """Velocities for a unit rate of one driver with the others at rest, shape (nt, nv)."""
        coordinate = self._driver(of)
        if coordinate == self.variable:
            return self.v
        equations = PathEquations(self.system, self.parameters, coordinate, self._times)
        A = equations.geometry(np.column_stack([self.q, self[coordinate]])).rows
        return np.einsum("nij,nj->ni", np.linalg.pinv(A[..., :-1]), -A[..., -1])

    def _driver(self, of: str | None) -> str:
        if of is not None:
            return driven_coordinate(self.system, of)[0]
        if self.variable != "t":
            return self.variable
        parts = parts_of(self.system)
        drivers = [] if parts is None else [j.drives for j in parts.joints.values() if j.drives]
        if len(drivers) != 1:
            raise InputError(
                "of",
                must="name the driver whose rate is meant",
                but=f"there are {len(drivers)} drivers of coordinates",
            )
        return drivers[0]

    @property
    def _parts(self) -> Parts | None:
        """The mechanism with the dimensions of these parameters."""
        parts = parts_of(self.system)
        return None if parts is None else parts.at_vector(self._p)

    def coupler_curve(self, body: str, at: Any) -> FloatArray:
        """World positions of a point of a body, given in its own frame, shape (nt, 3)."""
        parts = self._parts
        bodies = {} if parts is None else {b.name: b for b in parts.bodies}
        if parts is None or body not in bodies:
            raise UnknownNameError("body", str(body), bodies)
        own = bodies[body]
        given = np.asarray(at, dtype=float)
        if given.shape == (2,) and own.kind.plane is not None:
            placed = np.zeros(3)
            placed[list(own.kind.plane[:2])] = given
            given = placed
        local = vector(f"point of body {body!r}", given)
        center, R = pose(parts, own.index, self.q)
        return center + R @ (local - own.inertia.center)

    def transmission_angle(self, at: str, coupler: str, output: str) -> FloatArray:
        """Transmission angle μ between coupler and output link, from 0 to π/2, shape (nt,).

        The coupler pushes along the line through its two joints; the output link lets the point
        move at right angles to its lever, or along its slide. The pressure angle is between both,
        and μ is π/2 less that: with a rocker the angle between coupler and rocker.

        Parameters
        ----------
        at : joint between coupler and output link.
        coupler : the other joint of the coupler.
        output : joint of the output link about which it turns, or along which it slides.
        """
        point, push = self._point(at), self._point(at) - self._point(coupler)
        axis = self._axis(output)
        kind = self._joint(output).kind
        slides = kind is not None and "angle" not in kind.coordinates
        way = axis if slides else np.cross(axis, point - self._point(output))
        cosine = np.sum(push * way, axis=1)
        across = np.linalg.norm(np.cross(push, way), axis=1)
        return np.arctan2(np.abs(cosine), across)

    def _joint(self, name: str) -> Any:
        parts = self._parts
        joints = {} if parts is None else parts.joints
        if name not in joints or joints[name].a is None:
            raise UnknownNameError("joint", str(name), [j for j in joints if joints[j].a])
        return joints[name]

    def _frame(self, marker: Marker) -> tuple[FloatArray, FloatArray]:
        """Origin (nt, 3) and axes (nt, 3, 3) of a marker."""
        parts = self._parts
        assert parts is not None
        if marker.body < 0:
            count = len(self.t)
            return np.tile(marker.arm, (count, 1)), np.tile(marker.axes, (count, 1, 1))
        center, R = pose(parts, marker.body, self.q)
        return center + R @ marker.arm, R @ marker.axes

    def _point(self, name: str) -> FloatArray:
        return self._frame(self._joint(name).b)[0]

    def _axis(self, name: str) -> FloatArray:
        return self._frame(self._joint(name).a)[1][..., 2]

    def limit_positions(self, name: str) -> FloatArray:
        """Values of t, or of the driver, at which a quantity turns back: dead centers of an output.

        Its rate changes sign there; found between the given values to rounding.
        """
        of = replace(quantity(self.system, name), order=1)

        def rate(s: float) -> float:
            one = self.at(s)
            return float(values_of(of, one._derivatives(of), one.acceleration)[0])  # noqa: SLF001 - of its own kind

        rates = values_of(of, self._derivatives(of), self.acceleration)
        found = [float(self.t[i]) for i in np.flatnonzero(rates == 0.0)]
        for i in np.flatnonzero(rates[1:] * rates[:-1] < 0.0):
            ends = float(self.t[i]), float(self.t[i + 1])
            found.append(root(rate, *ends))
        return np.array(sorted(found))

    def reachable(self, driver: str | None = None) -> DriverRange:
        """How far a driver can go, both ways from the first state, with other drivers at rest."""
        coordinate = self._driver(driver)
        t = float(self._times[0])
        equations = PathEquations(self.system, self.parameters, coordinate, t)
        value = float(self[coordinate][0])
        is_angle = quantity(self.system, coordinate).angle
        return reach(equations, np.append(self.q[0], value), turns=is_angle)
