"""Inverse dynamics analysis, its result: efforts, powers, reactions, what cannot be reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.columns import write_csv
from zwang.analysis.quantities import derivatives, parts_of, quantity
from zwang.analysis.values_by_actuator import ValuesByActuator
from zwang.caching import computed_once
from zwang.errors import InputError, UnknownNameError
from zwang.multibody.wrench import joint_wrench
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.actuators import Actuators
    from zwang.analysis.given_motion import GivenMotion

__all__ = ["EffortReaction", "InverseDynamics", "TorqueSpeed"]

#: Columns of the motor table.
HEAD = ("actuator", "peak effort", "RMS effort", "peak speed", "peak power", "work")
#: Parts of dependencies below this are rounding.
ZERO = 1e-8


@dataclass(frozen=True)
class EffortReaction:
    """What a joint exerts on its second body under the efforts, at its point on that body.

    Attributes
    ----------
    joint : name.
    force, moment : shape (nt, 3), world axes; the moment is about `point`.
    point : in the world, shape (nt, 3).
    determinate : whether it follows from the motion at each time, shape (nt,): not where joints
        repeat each other, nor where it changes with efforts that move nothing, which `rule` chose.
    """

    joint: str
    force: FloatArray
    moment: FloatArray
    point: FloatArray
    determinate: np.ndarray


@dataclass(frozen=True)
class TorqueSpeed:
    """Effort over speed of one actuator, and the envelope that a motor must cover.

    Attributes
    ----------
    actuator : name.
    speed, effort : shape (nt,).
    """

    actuator: str
    speed: FloatArray
    effort: FloatArray

    def envelope(self, count: int = 20) -> tuple[FloatArray, FloatArray]:
        """Largest |effort| at speeds of at least so much: speeds (count,) and efforts (count,)."""
        speeds = np.linspace(0.0, float(np.abs(self.speed).max(initial=0.0)), count)
        size, at = np.abs(self.effort), np.abs(self.speed)
        return speeds, np.array([size[at >= s * (1 - 1e-12)].max(initial=0.0) for s in speeds])

    def outside(self, limit: Any) -> np.ndarray:
        """Where |effort| exceeds a limit, a number or a function of |speed|, shape (nt,)."""
        most = limit(np.abs(self.speed)) if callable(limit) else limit
        return np.abs(self.effort) > np.asarray(most)


@dataclass(frozen=True, repr=False)
class InverseDynamics:
    """Efforts of actuators for a motion.

    Attributes
    ----------
    t : times, shape (nt,).
    effort : actuator → effort, positive along its coordinate, [N m] or [N], shape (nt,).
    speed : actuator → rate of its coordinate, shape (nt,).
    power : actuator → effort times speed [W], shape (nt,).
    peak, rms : actuator → largest |effort|, and its root mean square over time.
    unreachable : coordinate → acceleration of the motion that the actuators cannot make, (nt,);
        empty where they make all of it.
    family : for each time an orthonormal basis (k, f) of efforts that move nothing: each
        ``effort + family[i] @ c`` makes the same motion and strains the mechanism.
    rule : by which the efforts were chosen from the family.
    notes : sentences.
    """

    _actuators: Actuators = field(repr=False)
    motion: GivenMotion = field(repr=False)
    _tau: FloatArray = field(repr=False)
    _rates: FloatArray = field(repr=False)
    _missed: FloatArray = field(repr=False)
    family: list[FloatArray] = field(repr=False)
    rule: str
    notes: tuple[str, ...]
    _p: FloatArray = field(repr=False)

    @property
    def t(self) -> FloatArray:
        """Times, shape (nt,)."""
        return self.motion.t

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators."""
        return self._actuators.names

    @property
    def effort(self) -> dict[str, FloatArray]:
        """Actuator → effort, positive along its coordinate, shape (nt,)."""
        return self._by_actuator(self._tau)

    @property
    def speed(self) -> dict[str, FloatArray]:
        """Actuator → rate of its coordinate, shape (nt,)."""
        return self._by_actuator(self._rates)

    @property
    def power(self) -> dict[str, FloatArray]:
        """Actuator → effort times speed, shape (nt,)."""
        return self._by_actuator(self._tau * self._rates)

    @property
    def peak(self) -> dict[str, float]:
        """Actuator → largest |effort|."""
        peaks = np.abs(self._tau).max(axis=0, initial=0.0)
        return ValuesByActuator(zip(self.actuators, peaks.tolist(), strict=True))

    @property
    def rms(self) -> dict[str, float]:
        """Actuator → root mean square of the effort over time."""
        means = [self._mean_square(x) ** 0.5 for x in self._tau.T]
        return ValuesByActuator(zip(self.actuators, means, strict=True))

    def _by_actuator(self, values: FloatArray) -> ValuesByActuator[FloatArray]:
        return ValuesByActuator(zip(self.actuators, values.T, strict=True))

    def _mean_square(self, x: FloatArray) -> float:
        if len(self.t) < 2:
            return float(np.mean(x**2))
        return float(np.trapezoid(x**2, self.t) / (self.t[-1] - self.t[0]))

    def torque_speed(self, actuator: str) -> TorqueSpeed:
        """Effort over speed of an actuator, for the choice of a motor."""
        if actuator not in self.actuators:
            raise UnknownNameError("actuator", str(actuator), self.actuators)
        return TorqueSpeed(actuator, self.speed[actuator], self.effort[actuator])

    # --- what is not reached ----------------------------------------------------------------------

    @computed_once
    def unreachable(self) -> dict[str, FloatArray]:
        """Coordinate → acceleration that the actuators cannot make, shape (nt,)."""
        if not self._missed.any():
            return {}
        system, at = self._actuators.system, self.motion
        joints = [c for c in system.channels if not c.endswith("_rate")]
        found = {}
        for name in joints or system.coordinates:
            d = derivatives(system, quantity(system, name), at.q, at.v, at.t, self._p)
            found[name] = np.einsum("nij,nj->ni", d.jacobian, self._missed)[:, 0]
        largest = max(np.abs(x).max(initial=0.0) for x in found.values())
        return {n: x for n, x in found.items() if np.abs(x).max(initial=0.0) > ZERO * largest}

    @property
    def reached_acceleration(self) -> FloatArray:
        """v̇ under the efforts: the motion nearest to the wanted one, shape (nt, nv)."""
        return self.motion.acceleration - self._missed

    # --- reactions --------------------------------------------------------------------------------

    @computed_once
    def _reactions(self) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """A (nt, m, nv), the least multipliers (nt, m), and what may be added to these.

        Dependencies of the rows may, and what efforts of the family change: they move nothing, but
        a rule chose among them.
        """
        system, at = self._actuators.system, self.motion
        terms = system.equations.terms_at(at.q, at.v, at.t, self._p)
        B, _ = self._actuators.rates(at, self._p)
        M, A = terms.mass_matrix, terms.constraint_matrix
        r = np.einsum("nij,nj->ni", M, self.reached_acceleration) - terms.applied_force
        lam, free = self._multipliers(A, r, self._tau, B, terms.nonideal_force)
        for k in range(max((Z.shape[1] for Z in self.family), default=0)):
            own = [Z[:, k] if k < Z.shape[1] else np.zeros(len(Z)) for Z in self.family]
            strain, _ = self._multipliers(A, 0.0 * r, own, B, 0.0 * r)
            free = [np.column_stack(pair) for pair in zip(free, strain, strict=True)]
        return A, lam, free

    def _multipliers(
        self, A: FloatArray, r: FloatArray, tau: Any, B: FloatArray, C: FloatArray
    ) -> tuple[FloatArray, list[FloatArray]]:
        """The least multipliers under efforts τ (nt, m), and dependencies of the rows."""
        system, at = self._actuators.system, self.motion
        r = r - np.einsum("nik,nk->ni", B, tau)
        parts = parts_of(system)
        if parts is None or not parts.workless:
            return _least(A, r - C)
        # Teeth push apart what bearings hold, by what they transmit under the efforts.
        bodies: Any = system.equations
        lam, _ = _least(A, r)
        return _least(A, r - bodies.bulk.laws(parts.workless, at.q, at.v, at.t, self._p, lam))

    def multipliers(self, name: str) -> FloatArray:
        """The least λ of a constraint under the efforts, shape (nt, rows)."""
        groups = self._actuators.system.groups
        if name not in groups:
            raise UnknownNameError("constraint", str(name), groups)
        return self._reactions[1][:, groups[name]]

    def reaction(self, name: str) -> EffortReaction:
        """Force and moment of a joint under the efforts, with whether they are determinate."""
        system = self._actuators.system
        parts = parts_of(system)
        joints = {} if parts is None else parts.joints
        joint = joints.get(name)
        if parts is None or joint is None or name not in system.groups:
            raise UnknownNameError("joint", str(name), [j for j in joints if j in system.groups])
        if joint.a is None or joint.b is None:
            raise InputError(
                f"reaction of {name!r}",
                must="be that of a joint",
                but="this constraint acts at no point",
                advice="multipliers(name) gives its generalized force.",
            )
        A, lam, free = self._reactions
        rows = system.groups[name]
        own = np.einsum("nij,ni->nj", A[:, rows], lam[:, rows])
        known = [
            bool(np.abs(A[i, rows].T @ Z[rows]).max(initial=0.0) < ZERO) for i, Z in enumerate(free)
        ]
        parts, point, at = parts.at_vector(self._p), None, self.motion
        if joint.toothed:
            bodies: Any = system.equations
            own = own + bodies.tooth_force(name, at.q, at.v, at.t, lam[:, rows], self._p)
            point = bodies.pitch_point(name, at.q, at.t, self._p)
        wrench = joint_wrench(parts, parts.joints[name], own, at.q, point)
        return EffortReaction(name, *wrench, np.array(known, dtype=bool))

    # --- account ----------------------------------------------------------------------------------

    def motor_table(self) -> list[dict[str, Any]]:
        """For each actuator peak and RMS effort, peak speed, peak power and work done."""
        rows = []
        for name in self.actuators:
            power = self.power[name]
            work = float(np.trapezoid(power, self.t)) if len(self.t) > 1 else 0.0
            rows.append(
                {
                    "actuator": name,
                    "peak": self.peak[name],
                    "rms": self.rms[name],
                    "speed": float(np.abs(self.speed[name]).max(initial=0.0)),
                    "power": float(np.abs(power).max(initial=0.0)),
                    "work": work,
                }
            )
        return rows

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write times, efforts, speeds and powers to a file."""
        columns: dict[str, FloatArray] = {"t": self.t}
        for what, values in (("effort", self.effort), ("speed", self.speed), ("power", self.power)):
            columns |= {f"{name} {what}": x for name, x in values.items()}
        write_csv(path, columns)

    def __repr__(self) -> str:
        state = "not all reached" if self._missed.any() else "reached"
        names = ", ".join(self.actuators)
        return f"<InverseDynamics of {names}: {len(self.t)} times, motion {state}>"

    def __str__(self) -> str:
        lines = [[*HEAD]]
        for name, *numbers in (row.values() for row in self.motor_table()):
            lines += [[name, *(f"{x:.5g}" for x in numbers)]]
        width = [max(len(line[k]) for line in lines) for k in range(len(HEAD))]
        text = [
            "  ".join([line[0].ljust(width[0]), *map(str.rjust, line[1:], width[1:])])
            for line in lines
        ]
        return "\n".join([*text, *self._remarks()])

    def _remarks(self) -> list[str]:
        """What is not reached, what is not unique, and notes, as sentences."""
        text = [
            f"not reached: {name}, whose acceleration is missed by up to {np.abs(missed).max():.4g}"
            for name, missed in self.unreachable.items()
        ]
        free = max((Z.shape[1] for Z in self.family), default=0)
        if free:
            text.append(
                f"{free} combination{'s' * (free > 1)} of efforts move nothing: {self.rule}"
            )
        return [*text, *(f"note: {note}" for note in self.notes)]

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{x}</th>" for x in HEAD)
        rows = [
            f"<tr><td>{escape(name)}</td>" + "".join(f"<td>{x:.5g}</td>" for x in numbers) + "</tr>"
            for name, *numbers in (row.values() for row in self.motor_table())
        ]
        notes = "".join(f"<p>{escape(line)}</p>" for line in self._remarks())
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>{notes}"


def _least(A: FloatArray, r: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """The least λ with Aᵀλ = r at each time (nt, m), and bases of what λ leaves open."""
    found, free = np.empty(A.shape[:2]), []
    for i, rows in enumerate(A):
        lengths = np.linalg.norm(rows, axis=1)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        U, s, Vt = np.linalg.svd(rows / lengths[:, None])
        rank = int(np.sum(s > 1e-10 * s.max(initial=1.0)))
        x = (U[:, :rank] @ ((Vt[:rank] @ r[i]) / s[:rank])) / lengths
        Z = np.linalg.qr(U[:, rank:] / lengths[:, None])[0]
        found[i] = x - Z @ (Z.T @ x)
        free.append(Z)
    return found, free
