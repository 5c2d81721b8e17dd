"""What analyses ask of a system: values, derivatives, names. The one place that knows how.

A state is displaced by δπ in the directions of the velocities, q → q + N δπ, with coordinates of
unit length kept so. Rows of channels are by these displacements too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.second_derivatives import Expressions, Slopes, expressions_of
from zwang.arguments.states import single_time
from zwang.errors import InputError, UnknownNameError, shown
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry, equilibrate
from zwang.linalg.row_factor import RowFactor
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.system import System

__all__ = ["ChannelRow", "EquationsOf", "Spaces", "Values", "spaces_of"]

#: Newton steps that put a configuration back on its constraints, and the residual at which it is.
CORRECTIONS, ON_CONSTRAINTS = 30, 1e-14
#: Velocities of a mechanism up to which matrices are dense.
LARGEST = 300


@dataclass(frozen=True)
class Values:
    """Terms at a state.

    Attributes
    ----------
    phi, rate : residuals of the rows that have them.
    M, Q, C, A, b, N, n0 : the terms, and the kinematics q̇ = N v + n₀.
    """

    phi: FloatArray
    rate: FloatArray
    M: FloatArray
    Q: FloatArray
    C: FloatArray
    A: FloatArray
    b: FloatArray
    N: FloatArray
    n0: FloatArray


@dataclass(frozen=True)
class ChannelRow:
    """A channel at a state: its value, and its derivatives by displacements and velocities.

    Attributes
    ----------
    value : of the channel.
    by_pi, by_v : shape (n,).
    angle : whether it is an angle, which is the same after a full turn.
    """

    value: float
    by_pi: FloatArray
    by_v: FloatArray
    angle: bool = False


class EquationsOf:
    """A system at a time, with its parameters as numbers."""

    def __init__(self, system: System, t: float, parameters: Mapping[str, Any] | None) -> None:
        self.system, self.t = system, single_time(t)
        self.parameters = None if parameters is None else dict(parameters)
        self.p = system.parameter_vector(parameters)
        levels = np.array(system.row_levels(), dtype=object)
        self.is_position = levels == "position"
        self.is_rated = levels != "acceleration"
        self.nq, self.nv = len(system.coordinates), len(system.velocities)
        self.rows = len(levels)

    def with_value(self, place: int, value: float) -> EquationsOf:
        """The same with another value of one entry of the parameters."""
        other = copy(self)
        other.p = self.p.copy()
        other.p[place] = value
        other.p = self.system.equations.consistent_parameters(other.p)
        return other

    @property
    def expressions(self) -> Expressions:
        """The traced terms, as expressions."""
        return expressions_of(self.system)

    @property
    def parts(self) -> Any:
        """Bodies and joints of a mechanism, or None of a system of functions."""
        parts = self.system.mechanism
        return None if parts is None else parts.at_vector(self.p)

    @property
    def owner(self) -> str:
        """What users call it, in advice: ``m.equilibrium()``."""
        return "system" if self.system.mechanism is None else "m"

    @property
    def is_large(self) -> bool:
        """Whether dense matrices would keep a user waiting."""
        return self.parts is not None and self.nv > LARGEST

    @property
    def turns(self) -> list[int]:
        """Where the angular velocities of bodies in space begin among the velocities."""
        if self.parts is None:
            return []
        starts = self.parts.places[1]
        return [starts[b.index] + 3 for b in self.parts.bodies if b.kind.nv == 6]

    # --- numbers ----------------------------------------------------------------------------------

    def values(
        self, q: FloatArray, v: FloatArray | None = None, lam: FloatArray | None = None
    ) -> Values:
        """Terms at a state; at rest and without reactions if these are not given."""
        v = np.zeros(self.nv) if v is None else v
        lam = np.zeros(self.rows) if lam is None else lam
        found = Values(**self.expressions.values(q, v, self.t, self.p, lam))
        if not (np.isfinite(found.Q).all() and np.isfinite(found.A).all()):
            self.system.equations.terms_at(q, v, np.asarray(self.t), self.p)  # names the culprit
        return found

    def slopes(self, q: FloatArray, v: FloatArray, a: FloatArray, lam: FloatArray) -> Slopes:
        """Derivatives at a state."""
        return self.expressions.slopes(q, v, self.t, self.p, a, lam)

    def energy(self, q: FloatArray) -> float | None:
        """Potential energy, where there is one."""
        V = self.system.energy(q, None, self.t, parameters=self.parameters)[1]
        return None if V is None else float(V)

    def gradient(self, q: FloatArray) -> FloatArray:
        """Slope of the potential energy by displacements, shape (n,)."""
        x = self.expressions

        def outputs() -> dict[str, casadi.SX]:
            V = x.model.V
            assert V is not None
            return {"V_q": x.jacobian(V, x.state.q), "N": x.model.N}

        v = np.zeros(self.nv)
        found = x.evaluate("gradient", outputs, {}, q, v, [self.t], self.p)
        return (found["V_q"] @ found["N"])[0]

    # --- displacements ----------------------------------------------------------------------------

    def moved(self, q: FloatArray, step: FloatArray, N: FloatArray | None = None) -> FloatArray:
        """q + N δπ with coordinates of unit length kept so."""
        N = self.values(q).N if N is None else N
        return self.on_unit_length(q + N @ step)

    def on_unit_length(self, q: FloatArray) -> FloatArray:
        """Euler parameters and (cos, sin) of unit length; other coordinates as they are."""
        q = q.copy()
        for group in self.system.model.unit:
            own = list(group)
            q[own] /= np.linalg.norm(q[own])
        return q

    def corrected(
        self, q: FloatArray, held: Held | None = None, *, without: Sequence[int] = ()
    ) -> tuple[FloatArray, bool]:
        """The configuration nearest to q that satisfies the position constraints, and whether.

        Parameters
        ----------
        held : what is to be satisfied besides.
        without : numbers of rows that are not to be satisfied.
        """
        best, kept = np.inf, self.is_position.copy()
        kept[list(without)] = False
        for _ in range(CORRECTIONS):
            now = self.values(q)
            phi, G = now.phi[kept[self.is_position]], now.A[kept]
            if held is not None:
                gap, rows = held.at(q)
                phi, G = np.concatenate([phi, gap]), np.vstack([G, rows])
            size = float(np.abs(phi).max(initial=0.0))
            limit = ON_CONSTRAINTS * max(1.0, float(np.abs(q).max(initial=0.0)))
            if size <= limit or (size >= 0.5 * best and size <= 1e3 * limit):
                return q, True
            if not np.isfinite(size) or size > 4.0 * best:
                return q, False
            best = min(best, size)
            d, _ = equilibrate(now.M, G)
            step = d * np.linalg.lstsq(G * d, -phi, rcond=DEFAULT_TOLERANCES.rank)[0]
            q = self.moved(q, step, now.N)
        return q, False

    # --- names ------------------------------------------------------------------------------------

    def channel(self, name: str, q: FloatArray, v: FloatArray) -> ChannelRow:
        """A coordinate, a velocity, a joint's coordinate or rate, at a state."""
        system = self.system
        if name in system.velocities:
            row = np.zeros(self.nv)
            row[system.velocities.index(name)] = 1.0
            return ChannelRow(float(v @ row), np.zeros(self.nv), row)
        if name in system.coordinates:
            i = system.coordinates.index(name)
            return ChannelRow(float(q[i]), self.values(q).N[i], np.zeros(self.nv))
        if name not in system.channels:
            raise UnknownNameError("channel", name, self.known_channels)
        (found,) = self.joint_channels([name.removesuffix("_rate")], q, v)
        return found[1] if name.endswith("_rate") else found[0]

    def joint_channels(
        self, names: Sequence[str], q: FloatArray, v: FloatArray
    ) -> list[tuple[ChannelRow, ChannelRow]]:
        """Coordinates of joints with their rates, by one kernel for all of them."""
        x, system = self.expressions, self.system

        def outputs() -> dict[str, casadi.SX]:
            import casadi as ca

            values = ca.vertcat(*(system.channel(name)[0] for name in names))
            return {
                "value": values,
                "by_pi": x.by_pi(values),
                "by_v": x.jacobian(values, x.state.v),
            }

        label = _label(",".join(names))
        every = x.evaluate(f"channels{label}", outputs, {}, q, v, [self.t], self.p)
        values, by_pi, by_v = every["value"][:, 0], every["by_pi"], every["by_v"]
        result, none, first, sizes = [], np.zeros(self.nv), 0, x.channel_sizes
        for name in names:
            if name not in sizes:  # sine, cosine and rate, or value and rate
                sizes[name] = system.channel(name)[0].numel()
            last = first + sizes[name] - 1
            rate = ChannelRow(float(values[last]), by_pi[last], by_v[last])
            own = ChannelRow(float(values[first]), by_pi[first], none)
            if last - first == 2:
                sine, cosine = values[first : first + 2]
                slope = cosine * by_pi[first] - sine * by_pi[first + 1]
                own = ChannelRow(float(np.arctan2(sine, cosine)), slope, none, angle=True)
            result.append((own, rate))
            first = last + 1
        return result

    @property
    def known_channels(self) -> list[str]:
        """Names that `channel` knows."""
        system = self.system
        return [*system.channels, *system.coordinates, *system.velocities]

    def motion_in_words(self, q: FloatArray, direction: FloatArray) -> str:
        """A small displacement in words, by joints and bodies or by coordinates."""
        if self.parts is not None:
            from zwang.multibody.explanation import in_bodies

            return in_bodies(self.parts, q, direction)
        from zwang.diagnosis.wording import motion, tidy

        small = np.abs(direction) < 1e-9 * np.abs(direction).max(initial=0.0)
        same = self.system.definition.kinematics is None
        names = self.system.coordinates if same else self.system.velocities
        return motion(tidy(np.where(small, 0.0, direction)), names)

    def parameter_place(self, name: str) -> int:
        """Where a parameter that is one number is in the flat array; ``gravity.z`` for a part."""
        start = 0
        owner, _, part = name.rpartition(".")
        known = []
        for key, value in self.system.definition.parameters.items():
            size = int(np.size(value))
            known.append(key)
            if key == name:
                if size != 1:
                    raise InputError(
                        f"parameter {name!r}",
                        found=f"{size} numbers",
                        expected="one number",
                        advice=f"Name one of them: '{name}.x', '{name}.y' or '{name}.z'."
                        if size == 3
                        else "Make the number that changes a parameter of its own.",
                    )
                return start
            if key == owner and size == 3 and part in ("x", "y", "z"):
                return start + "xyz".index(part)
            start += size
        raise UnknownNameError("parameter", name, known)


class Held:
    """Channels that are kept at their values, as further rows.

    Attributes
    ----------
    names : one for each row.
    targets : the values.
    """

    def __init__(self, equations: EquationsOf, q: FloatArray, names: list[str]) -> None:
        self.equations, self.names = equations, names
        rest = np.zeros(equations.nv)
        self.targets = [equations.channel(name, q, rest).value for name in names]

    def at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far each is from its target, and the rows, shapes (k,) and (k, n)."""
        gaps, rows, rest = [], [], np.zeros(self.equations.nv)
        for name, target in zip(self.names, self.targets, strict=True):
            found = self.equations.channel(name, q, rest)
            gap = found.value - target
            gaps.append((gap + np.pi) % (2.0 * np.pi) - np.pi if found.angle else gap)
            rows.append(found.by_pi)
        return np.array(gaps), np.array(rows).reshape(-1, self.equations.nv)


@dataclass(frozen=True)
class Spaces:
    """Displacements that rows allow, and multipliers that do nothing, with scaled ranks.

    Attributes
    ----------
    basis : columns that span N(A), shape (n, f), orthonormal in scaled velocities.
    idle : columns that span N(Aᵀ), shape (m, k).
    d, e : scales of velocities and rows.
    """

    basis: FloatArray
    idle: FloatArray
    d: FloatArray
    e: FloatArray
    _factor: RowFactor | RowGeometry

    @property
    def rank(self) -> int:
        """Of the rows."""
        return self._factor.rank

    def multipliers(self, force: FloatArray) -> FloatArray:
        """The least-norm λ with Aᵀλ = force, for a force that rows can exert, (m,) or (m, k)."""
        scaled = self.d[:, None] * force.reshape(len(self.d), _columns(force))
        factor = self._factor
        if isinstance(factor, RowGeometry):
            lam = self.e[:, None] * (factor.pinv.T @ scaled)
        else:
            lam = self.e[:, None] * factor.multipliers(scaled)
        if self.idle.shape[1]:  # least norm in the rows as they are given
            lam = lam - self.idle @ np.linalg.lstsq(self.idle, lam, rcond=None)[0]
        return lam.reshape((len(self.e), *force.shape[1:]))

    def particular(self, rhs: FloatArray) -> FloatArray:
        """Some x with A x = rhs, in the sense of least squares, (n,) or (n, k)."""
        scaled = self.e[:, None] * rhs.reshape(len(self.e), _columns(rhs))
        factor = self._factor
        if isinstance(factor, RowGeometry):
            x = self.d[:, None] * (factor.pinv @ scaled)
        else:
            x = self.d[:, None] * factor.least_norm(scaled)
        return x.reshape((len(self.d), *rhs.shape[1:]))


def _columns(x: FloatArray) -> int:
    return 1 if x.ndim == 1 else x.shape[1]


def spaces_of(M: FloatArray, A: FloatArray) -> Spaces:
    """Null spaces of a constraint matrix; ranks do not depend on units."""
    d, e = equilibrate(M, A)
    e = np.where(np.isfinite(e), e, 0.0)
    factor = RowFactor.of(e[:, None] * A * d)
    return Spaces(d[:, None] * factor.null_space, e[:, None] * factor.dependencies, d, e, factor)


def held_channels(equations: EquationsOf, hold: Mapping[str, Any] | None) -> list[str]:
    """Names of what is held; a body as a whole by its velocities is not among them."""
    if hold is None:
        return []
    if not isinstance(hold, Mapping):
        raise InputError(
            "hold", expected="a dictionary of names and held values", found=shown(hold)
        )
    names: list[str] = []
    for name in hold:
        bodies = {b.name for b in equations.parts.bodies} if equations.parts is not None else set()
        if name in bodies:
            names += [c for c in equations.system.coordinates if c.startswith(f"{name}.")]
        else:
            names.append(str(name))
    return names


def _label(names: str) -> str:
    """A name for a kernel; that of a user may be no name for CasADi."""
    return f"_{hashlib.sha256(names.encode()).hexdigest()[:16]}"
