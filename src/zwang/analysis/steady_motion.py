"""Steady motions: those along a symmetry, at rest in a frame that moves with them.

With a symmetry w = Σ w_k c_k, Y = Σ Y_k c_k of `zwang.analysis.symmetries`, the motion q̇ = N w,
v = w, v̇ = Y w is one of the system if

    φ(q) = 0,   ψ(q, w) = 0,   Dᵀ(M Y w − Q(q, w) − C) = 0

equations for q and c that are solved together with the rates that are given. Small motions about it
are constant in the frame that moves along the symmetry (`zwang.analysis.flow`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf, Held, held_channels, spaces_of
from zwang.analysis.flow import MovingFrame
from zwang.analysis.linearization import Linearization, Steady, linearized
from zwang.analysis.stationary_state import StationaryState
from zwang.analysis.symmetries import Candidates, candidates_of, symmetries
from zwang.arguments.keywords import known_keywords_of_methods
from zwang.assembly.large_moves import large_moves
from zwang.caching import computed_once
from zwang.diagnosis.wording import first_of
from zwang.errors import InputError, NoEquilibriumError, UnknownNameError, shown
from zwang.linalg.rank import nullspace
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["SteadyMotion", "steady_motion"]

#: Steps of Newton's method, and what they must leave, relative to the sizes of the equations.
STEPS, FOUND = 200, 1e-11
#: Cost of a turn of the whole beside one of a body, where both make the same velocities.
WHOLE = 1e14
#: Forces that grew by this factor since the search began are its new unit.
LARGER = 10.0
#: Coordinates have moved far that changed by this, relative to the largest if that exceeds 1.
FAR = 0.5
#: Where no further step is taken.
ROUNDING = 1e-15


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class SteadyMotion(StationaryState):
    """A motion that stays the same in a frame that moves with it.

    Attributes
    ----------
    q, v : coordinates and velocities at one instant.
    t : time [s].
    rates : of the symmetries along which it moves: ``shift x`` [m/s], ``turn z`` [rad/s] of the
        whole, ``coin.turn2`` of a body about its own axis, or ``shift phi`` of a coordinate.
    acceleration : v̇, shape (nv,).
    residual : force that is left, relative to all forces.
    notes : what else there is to know, as sentences.
    """

    v: FloatArray
    rates: Mapping[str, float]
    acceleration: FloatArray = field(repr=False)
    residual: float
    _frame: MovingFrame = field(repr=False)
    _orbit: FloatArray = field(repr=False)
    notes: tuple[str, ...] = ()

    def linearize(
        self,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        independent: Sequence[str] | None = None,
    ) -> Linearization:
        """The same with inputs, outputs or states of your choice; see `zwang.System.linearize`."""
        steady = Steady(self.acceleration, self._frame, self._orbit)
        at = self.q, self.v, steady, inputs, outputs, independent
        return linearized(self._equations, *at)

    @computed_once
    def stability(self) -> str:
        """``"unstable"`` where a small motion grows, ``"stable"`` where all others decay,
        ``"marginal"`` where some neither grow nor decay.

        Directions along the symmetries, whose eigenvalues are zero, are left out.
        """
        values = self.linearization.eigenvalues
        size = float(np.abs(values).max(initial=0.0))
        moving = values[np.abs(values) > 1e-5 * size]
        if (moving.real > 1e-7 * size).any():
            return "unstable"
        return "stable" if (moving.real < -1e-7 * size).all() else "marginal"

    def __str__(self) -> str:
        moving = [f"{name} at {x:.6g}" for name, x in self.rates.items() if abs(x) > 1e-12]
        lines = [f"Steady motion, {self.stability}: {', '.join(moving) or 'at rest'}."]
        pairs = [f"{n} = {x:.6g}" for n, x in zip(self.system.coordinates, self.q, strict=True)]
        lines.append(", ".join(pairs[:12]) + (" …" if len(pairs) > 12 else ""))
        return "\n".join([*lines, *self.notes])


def steady_motion(
    system: System,
    rates: Mapping[str, float],
    start: Any = None,
    hold: Mapping[str, Any] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> SteadyMotion:
    """A motion with given rates that stays the same; see `zwang.System.steady_motion`."""
    if not isinstance(rates, Mapping) or not rates:
        raise InputError(
            "rates", expected="a dictionary of rates and their values", found=shown(rates)
        )
    given = parameters if parameters is not None else getattr(start, "parameters", None)
    equations = EquationsOf(system, t, given)
    found: Any = system.assemble(hold, t=t, parameters=given, start=start)
    q, v = np.array(found.q, dtype=float), np.array(found.v, dtype=float)
    candidates = candidates_of(equations)
    Z = symmetries(candidates, q)
    moving = [k for k, name in enumerate(candidates.names) if name != "time"]
    if not Z[moving].any() or not Z[-1].any():
        raise NoEquilibriumError(
            "steady motion",
            must="have a cyclic coordinate, a rotation about gravity or a body that is round",
            but="no translation, rotation or coordinate leaves the equations unchanged",
        )
    names = held_channels(equations, hold)
    held = Held(equations, q, names) if names else None
    problem = _Problem(equations, candidates, Z, _conditions(equations, candidates, Z, rates), held)
    motion = problem.solved(q, problem.first_rates(q, v))
    return replace(motion, notes=_far_from(equations, q, motion.q))


def _far_from(equations: EquationsOf, start: FloatArray, q: FloatArray) -> tuple[str, ...]:
    """That a motion is far from the start of its search, in words."""
    if equations.parts is not None:
        moved = [str(move) for move in large_moves(equations.parts, q, start)]
    else:
        names = equations.system.coordinates
        changes = sorted(zip(q - start, names, strict=True), key=lambda c: -abs(c[0]))
        limit = FAR * max(1.0, float(np.abs(start).max(initial=0.0)))
        moved = [f"{name} by {change:.2g}" for change, name in changes if abs(change) > limit]
    if not moved:
        return ()
    return (f"The search moved {first_of(moved)} from its start; another motion may be nearer.",)


class _Condition:
    """A rate that is given: of a channel, or of a symmetry by its coefficients."""

    def __init__(self, name: str, value: float, row: FloatArray | None) -> None:
        self.name, self.value, self.row = name, value, row


def _conditions(
    equations: EquationsOf, candidates: Candidates, Z: FloatArray, rates: Mapping[str, float]
) -> list[_Condition]:
    """What the given rates mean."""
    system = equations.system
    passing = np.array([float(name == "time") for name in candidates.names])
    result = [_Condition("time", 1.0, passing)]
    for name, value in rates.items():
        try:
            wanted = float(value)
        except (TypeError, ValueError):
            wanted = np.nan
        if not np.isfinite(wanted):
            raise InputError(f"rate of {name!r}", found=shown(value), expected="a finite number")
        row = None
        if name == "yaw":
            row = _yaw(equations, candidates)
        elif name.endswith(".spin"):
            row = _spin(equations, candidates, Z, name.removesuffix(".spin"))
        elif f"shift {name}" in candidates.names and equations.parts is None:
            row = np.array([float(n == f"shift {name}") for n in candidates.names])
        channel = f"{name}_rate" if f"{name}_rate" in system.channels else name
        if row is None and channel not in (*system.velocities, *system.channels):
            known = [c for c in system.channels if not c.endswith("_rate")]
            bodies = [] if equations.parts is None else [b.name for b in equations.parts.bodies]
            known += ["yaw", *(f"{b}.spin" for b in bodies)] if bodies else system.coordinates
            raise UnknownNameError("rate", name, [*known, *system.velocities])
        if row is not None and not np.abs(row @ Z).max(initial=0.0) > 1e-9:
            raise InputError(
                f"rate of {name!r}",
                must="be of a motion that leaves the equations as they are: a cyclic coordinate, a "
                "turn about gravity, a round body",
                but="is of one that does not",
            )
        result.append(_Condition(channel, wanted, row))
    return result


def _yaw(equations: EquationsOf, candidates: Candidates) -> FloatArray:
    """Coefficients of a turn of the whole about the direction against gravity, z without it."""
    if equations.parts is None:
        raise InputError(
            "rate of 'yaw'",
            must="be given for a mechanism",
            but="this is a system of functions",
            advice="Name a cyclic coordinate.",
        )
    start, end = equations.parts.slots["gravity"]
    g = equations.p[start:end]
    up = -g / np.linalg.norm(g) if np.linalg.norm(g) > 0.0 else np.array([0.0, 0.0, 1.0])
    row = np.zeros(len(candidates.names))
    for k, axis in enumerate("xyz"):
        if f"turn {axis}" in candidates.names:
            row[candidates.names.index(f"turn {axis}")] = up[k]
    if not row.any():  # a plane, about its normal
        row = np.array([float(n.startswith("turn ")) for n in candidates.names])
    return row


def _spin(equations: EquationsOf, candidates: Candidates, Z: FloatArray, body: str) -> FloatArray:
    """Coefficients of the turn of a body about the one axis about which it is round."""
    places = [k for k, n in enumerate(candidates.names) if n.startswith(f"{body}.turn")]
    if not places:
        bodies = [] if equations.parts is None else [b.name for b in equations.parts.bodies]
        raise UnknownNameError("body that spins", body, bodies)
    U, s, _ = np.linalg.svd(Z[places])
    rank = int(np.count_nonzero(s > 1e-9))
    if rank != 1:
        raise InputError(
            f"rate of '{body}.spin'",
            must="have one axis about which the body is round",
            but="there is none" if not rank else f"there are {rank}",
            advice=f"Name a velocity, such as '{body}.omega1', or a joint's coordinate.",
        )
    axis = U[:, 0] * np.sign(U[int(np.abs(U[:, 0]).argmax()), 0])
    row = np.zeros(len(candidates.names))
    row[places] = axis
    return row


@dataclass(frozen=True)
class _Problem:
    """Equations of a steady motion in q and the rates along a basis Z of symmetries."""

    equations: EquationsOf
    candidates: Candidates
    Z: FloatArray
    conditions: list[_Condition]
    held: Held | None

    def first_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Rates that are given, as far as q allows, the others nearest to those of the start.

        Channels are linear in the rates. At rest the forces of inertia would have no slope, and the
        first step would lead to an equilibrium without them.

        Nearest in the rates, not in the velocities they make: an upright top that is to spin may
        not turn backwards with its frame and rest. What bodies and the whole can do alike, as
        an upright top, the start does by its bodies.
        """
        W, _ = self.candidates.fields(q, np.zeros(len(self.Z)))
        whole = np.array([n.startswith("turn ") for n in self.candidates.names])
        cost = np.linalg.cholesky(self.Z.T @ (np.where(whole, WHOLE, 1.0)[:, None] * self.Z)).T

        def cheapest(rows: FloatArray, values: FloatArray) -> FloatArray:
            back = np.linalg.inv(cost)
            return back @ np.linalg.lstsq(rows @ back, values, rcond=1e-10)[0]

        of_start = cheapest(W @ self.Z, v)
        w = W @ self.Z @ of_start
        rows, left = [], []
        for one in self.conditions:
            gap, _, row = self._given(
                one, q, w, self.Z @ of_start, np.zeros((len(v),) * 2), W @ self.Z
            )
            assert row is not None
            rows.append(row[0])
            left.append(-gap[0])
        return of_start + cheapest(np.array(rows), np.array(left))

    def solved(self, q: FloatArray, rho: FloatArray) -> SteadyMotion:
        """Newton's method, halved where what is left does not fall."""
        size = self._forces(q, rho)
        left, J = self._system(q, rho, size)
        for _ in range(STEPS):
            total = float(np.linalg.norm(left))
            if total <= ROUNDING:
                break
            step = np.linalg.lstsq(J, -left, rcond=1e-10)[0]
            longest = float(np.abs(step[: self.equations.nv]).max(initial=0.0))
            share = min(1.0, 0.3 * max(1.0, float(np.abs(q).max())) / max(longest, 1e-300))
            # Once nothing but rounding is left, two tries are enough.
            for _ in range(2 if total < FOUND else 30):
                q_new = self.equations.moved(q, share * step[: self.equations.nv])
                rho_new = rho + share * step[self.equations.nv :]
                new = self._system(q_new, rho_new, size)
                if np.isfinite(new[0]).all() and np.linalg.norm(new[0]) < total:
                    break
                share *= 0.5
            else:
                break
            q, rho, (left, J) = q_new, rho_new, new
            if (grown := self._forces(q, rho)) > LARGER * size:
                size = grown
                left, J = self._system(q, rho, size)
        if float(np.linalg.norm(left)) > FOUND:
            raise self._none(q, rho)
        return self._motion(q, rho)

    def _forces(self, q: FloatArray, rho: FloatArray) -> float:
        """Size of the forces of a motion, by which what is left of them is judged.

        It stays the same while steps are compared: where all forces are one number, their sum
        divided by their size is ±1 wherever it does not vanish.
        """
        c = self.Z @ rho
        w = self.candidates.fields(q, c)[0] @ c
        values = self.equations.values(q, w)
        inertial = np.abs(values.M @ (self.candidates.lift(c) @ w))
        d = spaces_of(values.M, values.A).d
        return max(float(np.linalg.norm(d * (np.abs(values.Q) + inertial))), 1e-3)

    def _system(self, q: FloatArray, rho: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
        """What is left of all equations, with forces in units of size, and slopes by (π, ρ)."""
        equations, Z = self.equations, self.Z
        c = Z @ rho
        W, w_pi = self.candidates.fields(q, c)
        Y, w = self.candidates.lift(c), W @ c
        a = Y @ w
        values = equations.values(q, w)
        spaces = spaces_of(values.M, values.A)
        force = values.Q + values.C - values.M @ a
        lam, D = spaces.multipliers(-force), spaces.basis
        x = equations.slopes(q, w, a, lam)
        w_rho = W @ Z
        a_rho = Y @ w_rho + np.array([self.candidates.lift(z) @ w for z in Z.T]).T
        scale = 1.0 / size
        at_position, rated = equations.is_position, equations.is_rated
        e = spaces.e
        rows = [
            (e[at_position] * values.phi, e[at_position, None] * x.A[at_position], None),
            (
                e[rated] * values.rate,
                e[rated, None] * (x.psi_pi + x.A[rated] @ w_pi),
                e[rated, None] * (x.A[rated] @ w_rho),
            ),
            (
                -scale * (D.T @ force),
                scale * (D.T @ (x.E_pi + x.E_v @ w_pi + x.M @ Y @ w_pi)),
                scale * (D.T @ (x.E_v @ w_rho + x.M @ a_rho)),
            ),
        ]
        rows += [self._given(one, q, w, c, w_pi, w_rho) for one in self.conditions]
        if self.held is not None:
            gap, by_pi = self.held.at(q)
            rows.append((gap, by_pi, None))
        zero = np.zeros((0, Z.shape[1]))
        left = np.concatenate([r[0] for r in rows])
        J = np.vstack(
            [
                np.hstack([by_pi, np.zeros((len(by_pi), zero.shape[1])) if by is None else by])
                for _, by_pi, by in rows
            ]
        )
        return left, J

    def _given(
        self,
        one: _Condition,
        q: FloatArray,
        w: FloatArray,
        c: FloatArray,
        w_pi: FloatArray,
        w_rho: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """One given rate as an equation."""
        if one.row is not None:
            none = np.zeros((1, self.equations.nv))
            return np.array([one.row @ c - one.value]), none, (one.row @ self.Z)[None]
        channel = self.equations.channel(one.name, q, w)
        by_pi = channel.by_pi + channel.by_v @ w_pi
        return np.array([channel.value - one.value]), by_pi[None], (channel.by_v @ w_rho)[None]

    def _motion(self, q: FloatArray, rho: FloatArray) -> SteadyMotion:
        equations = self.equations
        c = self.Z @ rho
        W, w_pi = self.candidates.fields(q, c)
        Y, w = self.candidates.lift(c), W @ c
        values = equations.values(q, w)
        spaces = spaces_of(values.M, values.A)
        force = values.Q + values.C - values.M @ (Y @ w)
        size = float(np.linalg.norm(spaces.d * (np.abs(values.Q) + np.abs(values.M @ Y @ w))))
        left = float(np.linalg.norm(spaces.basis.T @ force))
        n = equations.nv
        return SteadyMotion(
            q,
            w,
            equations.t,
            equations,
            {n: float(x) for n, x in zip(self.candidates.names, c, strict=True) if n != "time"},
            Y @ w,
            left / size if size > 0.0 else 0.0,
            MovingFrame(w_pi, np.zeros((n, n)), Y),
            self._orbit(W, w),
        )

    def _orbit(self, W: FloatArray, w: FloatArray) -> FloatArray:
        """Displacements and velocities along symmetries in which time stands still, (2n, k)."""
        own = self.Z @ nullspace(self.Z[-1:])
        lifted = [self.candidates.lift(z) @ w for z in own.T]
        return np.vstack([W @ own, np.array(lifted).T.reshape(len(w), own.shape[1])])

    def _none(self, q: FloatArray, rho: FloatArray) -> NoEquilibriumError:
        c = self.Z @ rho
        W, _ = self.candidates.fields(q, c)
        w = W @ c
        values = self.equations.values(q, w)
        spaces = spaces_of(values.M, values.A)
        force = values.Q + values.C - values.M @ (self.candidates.lift(c) @ w)
        direction = spaces.basis @ (spaces.basis.T @ force)
        off = float(np.abs(values.rate).max(initial=0.0))
        if np.abs(direction).max(initial=0.0) > off:
            found = f"forces that drive {self.equations.motion_in_words(q, direction)}"
        else:
            found = f"constraints that the rates violate by {off:.3g}"
        return NoEquilibriumError(
            "steady motion",
            direction=direction,
            must="have rates and a configuration that belong together",
            but=f"none is found near the start: {found}",
            advice="Give other rates or fewer of them, or a start nearer to it.",
        )
