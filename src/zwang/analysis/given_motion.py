"""Inverse dynamics analysis: the given motion, a run, kinematics, or functions of quantities.

Given quantities c(q) = f(t) are rows beside those of the mechanism; where they determine the
motion together, the rest follows as in `kinematics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.idle_motions import require_driven
from zwang.analysis.kinematics_result import Kinematics
from zwang.analysis.path_equations import PathEquations, PathRows
from zwang.analysis.path_following import DEAD, Follower, Path
from zwang.analysis.path_samples import sampled
from zwang.analysis.quantities import Quantity, derivatives, quantity
from zwang.analysis.time_functions import TimeFunction, time_function
from zwang.errors import AssemblyError, InputError, shown
from zwang.results.run import Run
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["GivenMotion", "given_motion"]

#: Rows of a motion that was made elsewhere may be missed by this, relative to their size.
MISSED = 1e-6


class GivenMotion(NamedTuple):
    """States and accelerations at times (nt,), and sentences on them."""

    t: FloatArray
    q: FloatArray
    v: FloatArray
    acceleration: FloatArray
    notes: tuple[str, ...] = ()

    def piece(self, which: Any) -> GivenMotion:
        """Some of the states, by slice or numbers."""
        return GivenMotion(self.t[which], self.q[which], self.v[which], self.acceleration[which])


class PrescribedPath(PathEquations):
    """Constraints over time together with quantities that are functions of time."""

    def __init__(
        self,
        system: System,
        parameters: Mapping[str, Any] | None,
        given: list[tuple[Quantity, TimeFunction]],
    ) -> None:
        super().__init__(system, parameters)
        self.given = given
        names, valued = list(self.row_names), list(self.valued)
        for of, f in given:
            names += [of.name] * f.size
            valued += [of.order == 0] * f.size
        self.row_names, self.valued = tuple(names), np.array(valued, dtype=bool)

    def geometry(self, x: FloatArray) -> PathRows:
        """φ and Â of constraints and given quantities."""
        own = super().geometry(x)
        phi, A = [own.phi], [own.rows]
        q, t = x[..., :-1], x[..., -1]
        for of, f in self.given:
            d = derivatives(self.system, of, q, np.zeros((*t.shape, self.nv)), t, self.p)
            if of.order:
                phi.append(np.zeros((*t.shape, f.size)))
                drift = d.rate[..., self._part(of)] - f(t)
            else:
                assert d.value is not None
                miss = d.value[..., self._part(of)] - f(t)
                phi.append(np.remainder(miss + np.pi, 2 * np.pi) - np.pi if of.angle else miss)
                drift = d.rate[..., self._part(of)] - f(t, 1)
            rows = d.jacobian[..., self._part(of), :]
            A.append(np.concatenate([rows, drift[..., None]], axis=-1))
        return PathRows(np.concatenate(phi, axis=-1), np.concatenate(A, axis=-2))

    def bias(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """b̂ of constraints and given quantities."""
        b = [super().bias(x, w)]
        q, t, v, rate = x[..., :-1], x[..., -1], w[..., :-1], w[..., -1:]
        for of, f in self.given:
            d = derivatives(self.system, of, q, v, t, self.p)
            forced = f(t, 1) * rate if of.order else f(t, 2) * rate**2
            b.append(forced - d.bias[..., self._part(of)])
        return np.concatenate(b, axis=-1)

    @staticmethod
    def _part(of: Quantity) -> slice:
        if not of.part:
            return slice(None)
        k = "xyz".index(of.part)
        return slice(k, k + 1)


def given_motion(
    system: System, motion: Any, parameters: Mapping[str, Any] | None, start: Any
) -> GivenMotion:
    """The states of a motion in the coordinates of a system."""
    if isinstance(motion, Run | Kinematics):
        _require_same(system, motion)
        return GivenMotion(motion.t, motion.q, motion.v, motion.acceleration)
    try:
        times, quantities = motion
        times = np.asarray(times, dtype=float)
        good = times.ndim == 1 and len(times) > 0 and bool((np.diff(times) > 0.0).all())
    except (TypeError, ValueError):
        times, quantities, good = np.zeros(0), None, False
    if not good or not isinstance(quantities, Mapping) or not quantities:
        raise InputError(
            "motion",
            found=shown(motion),
            expected="a run, kinematics over time, or (times, {quantity: function of t or "
            "samples}) with times that grow",
        )
    return _from_quantities(system, times, quantities, parameters, start)


def _require_same(system: System, motion: Run | Kinematics) -> None:
    if isinstance(motion, Kinematics) and motion.variable != "t":
        raise InputError(
            "motion",
            found=f"kinematics over {motion.variable}, which has no times",
            expected="kinematics over time",
            advice="Drive the coordinate by a function of t, or give (times, {coordinate: f}).",
        )
    theirs = motion.system
    if theirs.coordinates != system.coordinates or theirs.velocities != system.velocities:
        raise InputError(
            "motion",
            found=f"a motion of {_few(theirs.coordinates)}",
            expected=f"one of the same bodies in the same order, {_few(system.coordinates)}",
        )


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def _from_quantities(
    system: System,
    times: FloatArray,
    quantities: Mapping[str, Any],
    parameters: Mapping[str, Any] | None,
    start: Any,
) -> GivenMotion:
    given, parts = [], system.mechanism
    for name, f in quantities.items():
        of = quantity(system, name, "quantity of the motion")
        if of.order == 2 or of.part == "magnitude":
            raise InputError(
                f"quantity {name!r} of the motion",
                found="an acceleration" if of.order == 2 else "the magnitude of a vector",
                expected="a position, an angle or a velocity",
            )
        size = 1 if of.part else int(of.rate.numel())
        plane = None if parts is None or size == 1 else parts.kind.plane
        pair = None if plane is None or of.name.endswith(".rotation") else plane[:2]
        given.append((of, time_function(f"motion of {name!r}", f, times, size, pair)))
    equations = PrescribedPath(system, parameters, given)
    held = {
        name: float(f(times[0])[0])
        for name, (of, f) in zip(quantities, given, strict=True)
        if of.order == 0 and (name in system.channels or name in system.coordinates)
    }
    first = float(times[0])
    q = system.assemble(hold=held, start=start, t=first, parameters=parameters).q
    x = np.append(q, first)
    span = float(times[-1] - first) or 1.0
    follower = Follower(equations, x, span)
    if follower.idle < 0:  # more independent rows than unknowns
        raise _unmet(quantities, first)
    notes = require_driven(follower, x, list(quantities))
    corrected = sampled(follower, _at_rest(follower, x), times[:1])
    if corrected.residual[0] > MISSED:
        raise _unmet(quantities, first)
    x = np.append(corrected.q[0], first)
    path = follower.follow(follower.start(x, 1.0), float(times[-1]))
    if not path.reached:
        raise _unmet(quantities, _farthest(path), beyond=True)
    found = sampled(follower, path, times)
    if found.residual.max() > MISSED:
        raise _unmet(quantities, float(times[np.argmax(found.residual)]))
    return GivenMotion(times, found.q, found.v, found.acceleration, tuple(notes))


def _at_rest(follower: Follower, x: FloatArray) -> Path:
    return Path([follower.start(x, 1.0)], [])


def _farthest(path: Path) -> float:
    """The last time that a path reaches: a dead point, or the last of its places."""
    return max(
        [node.s for node in path.nodes]
        + [float(place.x[-1]) for place in path.singular if place.kind == DEAD]
    )


def _unmet(quantities: Mapping[str, Any], t: float, *, beyond: bool = False) -> AssemblyError:
    place = f"has them beyond t = {t:.6g}" if beyond else f"has them at t = {t:.6g}"
    return AssemblyError(
        f"motion of {', '.join(map(repr, quantities))}",
        must="have values that the mechanism can reach, and that do not contradict each other",
        but=f"no configuration {place}",
        advice="Give a start near the first values, or take a quantity out.",
    )
