"""Ensemble simulation: starts against the full terms of the system as given, many at once.

A trajectory of each program is looked at by `guard`; but parameters are inputs of programs, and
what is wrong may be wrong for some values alone. So accelerations at the starts of all members, or
of as many as cost little, the extreme ones in parameters and states first, are compared here with
M v̇ − Q in the range of Aᵀ, A v̇ = b and q̇ = N v + n₀. Terms come from CasADi's own machine, which
shares nothing with programs. What is suspicious is looked at as in a single run, which decides.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from zwang.caching import PassedOn
from zwang.simulation.constraint_geometry import RELATIVE, REST, velocity_scales
from zwang.simulation.full_terms import full_terms_function
from zwang.simulation.program_check import DIFFERENCE, ROUNDINGS
from zwang.simulation.state_kinds import Kinds, StateKinds
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.programs.contract import Program

__all__ = ["SHARE", "TOGETHER", "EnsembleStates", "can_check", "suspicious"]

#: States that are evaluated in one call.
TOGETHER = 64
#: Part of the time that an ensemble took, which this may take.
SHARE = 0.03
#: Regularisation of the rows, and corrections for it: of a force along rows that are independent
#: by 1e-4 no more than 1e-6 is left.
DELTA, CORRECTIONS = 1e-10, 3


class EnsembleStates(NamedTuple):
    """States of some members in the coordinates of their program, with its derivatives there.

    Attributes
    ----------
    y, rates : (N, n̂).
    t : time of all.
    inner, p : parameters of the program (N, np̂), and of the system (N, np).
    """

    y: FloatArray
    rates: FloatArray
    t: float
    inner: FloatArray
    p: FloatArray

    def of(self, some: np.ndarray) -> EnsembleStates:
        """Some of them."""
        y, rates, t, inner, p = self
        return EnsembleStates(y[some], rates[some], t, inner[some], p[some])


def can_check(equations: Equations) -> bool:
    """Whether the full terms are one expression, without a law of the reactions."""
    return not (
        equations.by_elements is not None or equations.opaque or equations.reaction_dependent
    )


def suspicious(
    equations: Equations, program: Program, states: EnsembleStates, most: int
) -> np.ndarray:
    """Numbers of states at which a program may not do what the full terms say, worst first.

    Parameters
    ----------
    most : how many to look at, extreme ones first.
    """
    order, found = _extremes_first(states)[:most], []
    for first in range(0, len(order), TOGETHER):
        some = order[first : first + TOGETHER]
        ratios = _ratios(equations, program, states.of(some))
        found += [(ratio, i) for ratio, i in zip(ratios, some, strict=True) if not ratio <= 1.0]
    found.sort(key=lambda entry: (-np.nan_to_num(entry[0], nan=np.inf), entry[1]))
    return np.array([i for _, i in found], dtype=int)


def _extremes_first(states: EnsembleStates) -> np.ndarray:
    """All numbers: first those with the least and the largest parameters and coordinates that
    differ, then the others spread over all.
    """
    values = np.concatenate([states.p, states.y], axis=1)
    differ = np.flatnonzero(np.ptp(values, axis=0) > 0.0)
    few = values[:, differ[: TOGETHER // 2]]
    extremes = np.stack([few.argmin(axis=0), few.argmax(axis=0)], axis=1).ravel()
    count = len(values)
    spread = np.argsort(np.arange(count) * 0.6180339887498949 % 1.0, kind="stable")
    _, first = np.unique(order := np.concatenate([extremes, spread]), return_index=True)
    return order[np.sort(first)]


def _ratios(equations: Equations, program: Program, states: EnsembleStates) -> FloatArray:
    """The largest miss of each state in units of its limit."""
    y, rates, rough = _in_system(program, states)
    nq = len(equations.coordinates)
    terms = equations.cache.once(_TermsOfMany, lambda: _TermsOfMany(equations))
    M, Q, A, b, q_dot = terms(y[:, :nq], y[:, nq:], states.t, states.p)
    with np.errstate(all="ignore"):  # what is no number is not judged here
        kinematics = _kinematics(y, rates[:, :nq], rough[:, :nq], q_dot)
        kinds = StateKinds.of(equations).velocities
        dynamics = _dynamics(M, Q, A, b, rates[:, nq:], rough[:, nq:], kinds)
        ratios = np.maximum(kinematics, dynamics)
    known = np.isfinite(rates).all(axis=1)
    return np.where(known & ~np.isnan(ratios), ratios, 0.0)


def _kinematics(y: FloatArray, rates: FloatArray, rough: FloatArray, q_dot: FloatArray) -> Any:
    """q̇ = N v + n₀."""
    sizes = RELATIVE * np.abs(q_dot).max(axis=1, initial=0.0)
    floor = ROUNDINGS * np.abs(y).max(axis=1, initial=1.0)
    limits = (sizes + floor)[:, None] + rough
    return (np.abs(rates - q_dot) / limits).max(axis=1, initial=0.0)


def _dynamics(
    M: FloatArray,
    Q: FloatArray,
    A: FloatArray,
    b: FloatArray,
    a: FloatArray,
    rough: FloatArray,
    kinds: Kinds,
) -> FloatArray:
    """A v̇ = b, and M v̇ − Q in the range of Aᵀ; scaled as in `constraint_geometry`."""
    tiny = np.finfo(float).tiny
    d = velocity_scales(np.diagonal(M, axis1=1, axis2=2), kinds)
    force = d * (_times(M, a) - Q)
    summed = d * (_times(np.abs(M), np.abs(a)) + np.abs(Q))
    room = d * _times(np.abs(M), rough)
    ratios = np.zeros(len(a))
    if A.shape[1]:
        lengths = np.sqrt(_times(A * A, d * d))
        B = A * d[:, None, :] / np.maximum(lengths, tiny)[:, :, None]
        whole = np.linalg.norm(a / d, axis=1) + np.linalg.norm(d * Q, axis=1)
        sizes = _times(np.abs(A), np.abs(a)) + np.abs(b)
        limits = RELATIVE * np.maximum(sizes, REST * whole[:, None] * lengths)
        limits += _times(np.abs(A), rough) + tiny
        ratios = (np.abs(_times(A, a) - b) / limits).max(axis=1)
        force = _off_range(B, force)
    size = RELATIVE * np.linalg.norm(summed, axis=1) + np.linalg.norm(room, axis=1) + tiny
    return np.maximum(ratios, np.linalg.norm(force, axis=1) / size)


def _off_range(B: FloatArray, force: FloatArray) -> FloatArray:
    """What is left of forces (N, nv) off the range of Bᵀ, of rows (N, m, nv) of unit length."""
    gram = B @ B.mT
    diagonal = np.arange(B.shape[1])
    gram[:, diagonal, diagonal] += DELTA
    good = np.isfinite(gram).all(axis=(1, 2))
    gram[~good] = np.eye(B.shape[1])
    inverse = np.linalg.inv(gram)
    for _ in range(CORRECTIONS):
        force = force - _times(B.mT, _times(inverse, _times(B, force)))
    force[~good] = np.nan
    return force


def _times(A: FloatArray, x: FloatArray) -> FloatArray:
    """Matrices (N, m, n) times vectors (N, n)."""
    return (A @ x[:, :, None])[:, :, 0]


def _in_system(
    program: Program, states: EnsembleStates
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """States and rates in the coordinates of the system, and how far these may be off.

    As `program_check.motion_of`, for many.
    """
    y, rates, t, inner, _ = states
    carrier, nq, count = program.carrier, program.nq, len(y)
    if carrier is None:
        return y, rates, np.zeros_like(y)
    h = DIFFERENCE / np.maximum(1.0, np.abs(rates[:, :nq]).max(axis=1, initial=0.0))
    h = np.where(np.isfinite(h), h, DIFFERENCE)
    steps = np.array([0.0, -1.0, 1.0, -0.5, 0.5])[:, None] * h
    moved = (y + steps[:, :, None] * rates).reshape(-1, y.shape[1])
    left = carrier.leave(moved, t + steps.ravel(), np.tile(inner, (5, 1)))
    here, *there = left.reshape(5, count, -1)
    step = h[:, None]
    coarse, fine = (there[1] - there[0]) / (2.0 * step), (there[3] - there[2]) / step
    rough = np.abs(fine - coarse) + ROUNDINGS / step * np.abs(here)
    return here, fine + (fine - coarse) / 3.0, rough


class _TermsOfMany(PassedOn):
    """M, Q, A, b and q̇ at `TOGETHER` states, on CasADi's machine."""

    def __init__(self, equations: Equations) -> None:
        self.nv, self.lock = len(equations.velocities), Lock()
        function, self.sizes = full_terms_function(equations)
        self.function = function.map(TOGETHER)
        self.inputs = [np.zeros((TOGETHER, max(function.numel_in(k), 1))) for k in range(4)]
        self.outputs = [np.zeros((TOGETHER, max(size, 1))) for size in self.sizes]
        self.buffer: Any
        self.buffer, self.evaluate = self.function.buffer()
        for k, array in enumerate(self.inputs):
            self.buffer.set_arg(k, memoryview(cast("Any", array.ravel())))
        for k, array in enumerate(self.outputs):
            self.buffer.set_res(k, memoryview(cast("Any", array.ravel())))

    def __call__(
        self, q: FloatArray, v: FloatArray, t: float, p: FloatArray
    ) -> tuple[FloatArray, ...]:
        """At no more states than `TOGETHER`."""
        count, nv = len(q), self.nv
        with self.lock:
            for array, values in zip(self.inputs, (q, v, np.full((count, 1), t), p), strict=True):
                if values.shape[1]:
                    array[:count] = values
                    array[count:] = values[-1]
            self.evaluate()
            found = [
                x[:count, :size].copy() for x, size in zip(self.outputs, self.sizes, strict=True)
            ]
        M, Q, A, b, _, _, q_dot = found
        # Entries of matrices are handed over column by column.
        return M.reshape(count, nv, nv).mT, Q, A.reshape(count, nv, -1).mT, b, q_dot
