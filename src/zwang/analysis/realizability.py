"""Analysis of servo constraints: ranks, relative degrees, index and internal dynamics.

All from the derivative array at a state on the program (`derivative_array`):

    index ν              the fewest differentiations after which q̇, v̇ and τ̇ are determined
    internal dynamics    the motions (q, v) that all equations leave free, and their linearization
    smoothness           the highest derivative of each program that an effort depends on
    relative degree      the first derivative of an output that an effort acts on
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.derivative_array import DerivativeArray
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Realizability", "realizability"]

#: The largest number of differentiations that is tried.
MOST = 8
#: Derivatives of a program, in its own units and seconds, that is looked at in motion.
MOVING = 0.3
#: Parts of determined quantities in free directions below this are rounding.
NOTHING = 1e-6
#: Free directions of (q, v), beside those of all derivatives, that are rounding of none.
NO_MOTION = 1e-9
#: Entries of linearized equations, beside the largest, that are left of others.
ROUNDING = 1e-13
#: What efforts act on directly, beside the sizes of what is multiplied.
DIRECT = 1e-9
#: Real parts of eigenvalues below this share of the largest, or of the slowest rate of the forward
#: motion, are zero: a double one at the origin is known to the root of what rounding leaves in W
#: alone, which on some processors was 3e-8.
AXIS = 1e-3
#: Products of eigenvalues, beside the fastest or the slowest rate of the forward motion, that are
#: rounding of those of a zero: two of 2e-4 1/s had been those of a double one.
MULTIPLE = 1e-8
#: Rates of the forward motion below this share of the largest, or below this [1/s], may be
#: rounding of none, as of double zeros; where all are, the rate is that of seconds.
NO_RATE = 1e-6


@dataclass(frozen=True)
class Realizability:
    """What a program asks of its actuators, at the start.

    Attributes
    ----------
    programs, actuators : names.
    rank : of the matrix through which efforts act on the second derivatives of the outputs; full
        where actuators push along the program directly.
    relative_degrees : program → first derivative of it that some effort acts on, 0 if none does.
    index : differentiation index of the equations; None where the program determines no efforts.
    internal_eigenvalues : of the motion that the program leaves free, shape (n,).
    smoothness : program → highest derivative that efforts depend on; it must be continuous.
    directions : of (q, v) that the program leaves free, orthonormal rows P, shape (n, nq + nv).
    matrix : W of ξ̇ = W ξ for small internal motions ξ = P (q, v), shape (n, n).
    rate : the slowest of the forward motion, beside which eigenvalues are zero [1/s].
    loose : bodies or coordinates that can move without inertia, constraint, program or force, so
        that nothing determines how; empty where there are none.
    """

    programs: tuple[str, ...]
    actuators: tuple[str, ...]
    rank: int
    relative_degrees: dict[str, int]
    index: int | None
    internal_eigenvalues: np.ndarray
    smoothness: dict[str, int]
    directions: FloatArray = field(repr=False, default_factory=lambda: np.zeros((0, 0)))
    matrix: FloatArray = field(repr=False, default_factory=lambda: np.zeros((0, 0)))
    rate: float = 1.0
    loose: tuple[str, ...] = ()

    @property
    def realizable(self) -> bool:
        """Whether the program determines the efforts."""
        return self.index is not None

    @property
    def flat(self) -> bool:
        """Whether program and its derivatives determine all of the motion."""
        return self.realizable and not len(self.internal_eigenvalues)

    @property
    def internal(self) -> str:
        """``"none"``, ``"stable"``, ``"marginal"``, ``"unstable"`` or ``"not hyperbolic"``."""
        e = self.internal_eigenvalues
        if not len(e):
            return "none"
        limit = AXIS * max(float(np.abs(e).max()), self.rate)
        growth = np.real(e)
        on_axis, right = bool((np.abs(growth) <= limit).any()), bool((growth > limit).any())
        if right:
            return "not hyperbolic" if on_axis else "unstable"
        return "marginal" if on_axis else "stable"

    @property
    def why(self) -> str:
        """Why a program does not determine the efforts; empty where it does."""
        if self.loose:
            return (
                f"nothing determines a motion of {', '.join(self.loose)}, which no inertia, "
                "constraint or force resists"
            )
        if self.index is None:
            return f"no number of differentiations up to {MOST} determines them"
        return ""

    def __str__(self) -> str:
        names = ", ".join(self.programs)
        if self.index is None:
            return (
                f"the efforts of the actuators ({', '.join(self.actuators)}) are not determined by "
                f"the program ({names}): {self.why}"
            )
        way = "push along it" if self.rank == len(self.programs) else "act on it through the motion"
        rank = f"(rank {self.rank} of {len(self.programs)}), index {self.index}"
        lines = [
            f"{names} by {', '.join(self.actuators)}: the actuators {way} {rank}",
            *(
                f"  {name}: relative degree {self.relative_degrees[name]}; its derivative of order "
                f"{order} must be continuous"
                for name, order in self.smoothness.items()
            ),
        ]
        if self.flat:
            lines.append("  no internal dynamics: efforts follow by differentiation (flat)")
        else:
            shown = ", ".join(f"{x:.4g}" for x in self.internal_eigenvalues)
            lines.append(f"  internal dynamics {self.internal}, eigenvalues {shown}")
        return "\n".join(lines)


def realizability(
    programs: tuple[str, ...],
    actuators: tuple[str, ...],
    array_of: Callable[[int], DerivativeArray],
    wanted: Callable[[int], FloatArray],
    start: FloatArray,
    t: float,
    forward: tuple[FloatArray, FloatArray, FloatArray],
    loose: tuple[str, ...] = (),
) -> Realizability:
    """The facts at a start.

    Parameters
    ----------
    array_of : order → derivative array.
    wanted : order → program and derivatives at t, shape (order + 1, programs).
    start : z near the program, shape (nz,).
    forward : A, B, C of the linearized forward motion.
    loose : names of what nothing determines; no number of differentiations helps then.
    """
    rank, degrees = _forward(forward, programs)
    if loose:
        return Realizability(programs, actuators, rank, degrees, None, np.zeros(0), {}, loose=loose)
    rate = _rate(forward[0])
    for order in range(1, MOST + 1):
        array = array_of(order)
        guess = np.zeros((order + 2, array.nz))
        guess[0] = start
        array.choose_unit_time(guess, wanted(order), t, rate)
        root = array.solve(guess, wanted(order), t)
        if not root.holds:
            continue
        array.note_rank(root.jets, wanted(order), t)
        nx = array.nq + array.nv
        kept = [*range(nx), *range(array.nz - array.k, array.nz)]
        free = array.free(root.jets, wanted(order), t, given=True)
        if not free.shape[-1] or np.abs(free[1, kept]).max() < NOTHING:
            internal, W = _internal(array, root.jets, wanted(order), t)
            e = np.linalg.eigvals(W) if len(W) else np.zeros(0)
            e = _without_rounding(e, rate)
            eigenvalues = e[np.lexsort((e.imag, e.real))]
            smooth = _smoothness(array, root.jets, wanted(order), t, internal, programs)
            smooth = _moving(array, root.jets, wanted(order), t, programs, smooth)
            return Realizability(
                programs, actuators, rank, degrees, order, eigenvalues, smooth, internal, W, rate
            )
    return Realizability(programs, actuators, rank, degrees, None, np.zeros(0), {})


def _rate(A: FloatArray) -> float:
    """The slowest rate of the linearized forward motion that is no rounding [1/s]; 1 without."""
    sizes = np.abs(np.linalg.eigvals(A)) if len(A) else np.zeros(0)
    clear = sizes[sizes > NO_RATE * max(float(sizes.max(initial=0.0)), 1.0)]
    return float(clear.min(initial=np.inf)) if len(clear) else 1.0


def _without_rounding(e: Any, rate: float) -> Any:
    """Eigenvalues with those zero that rounding makes of a multiple zero: its k-th root of k."""
    size = max(float(np.abs(e).max(initial=0.0)), rate)
    shares = np.abs(e) / size
    order = np.argsort(shares)
    products = np.cumprod(shares[order])
    zeros = (products < MULTIPLE) & (shares[order] < AXIS)
    result = e.copy()
    result[order[: int(np.flatnonzero(zeros).max(initial=-1)) + 1]] = 0.0
    return result


def _internal(
    array: DerivativeArray, jets: FloatArray, wanted: FloatArray, t: float
) -> tuple[FloatArray, FloatArray]:
    """Orthonormal free directions of (q, v), shape (n, nx), and W of their motion."""
    nx = array.nq + array.nv
    free = array.free(jets, wanted, t, given=False)
    # Of a free motion the high derivatives may be far larger than itself: each direction of it is
    # compared with the others.
    sizes = np.linalg.svd(free[0, :nx], compute_uv=False)
    n = int(np.sum(sizes > max(NOTHING * float(sizes.max(initial=0.0)), NO_MOTION)))
    if not n:
        return np.zeros((0, nx)), np.zeros((0, 0))
    X, rate = (
        scale[:nx, None] * f[:nx]
        for scale, f in zip(array.column.reshape(-1, array.nz), free[:2], strict=False)
    )
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    # ẋ of what moves by U ξ: coefficients Vtᵀ ξ/s of the basis.
    return U[:, :n].T, U[:, :n].T @ rate @ (Vt[:n].T / s[:n])


def _moving(
    array: DerivativeArray,
    jets: FloatArray,
    wanted: FloatArray,
    t: float,
    programs: tuple[str, ...],
    at_rest: dict[str, int],
) -> dict[str, int]:
    """The same on a program that moves: at rest, symmetry may hide what efforts depend on."""
    moving = wanted.copy()
    moving[1:] += MOVING * np.random.default_rng(0).standard_normal(moving[1:].shape)
    root = array.solve(jets, moving, t)
    if not root.holds:
        return at_rest
    array.note_rank(root.jets, moving, t)
    internal, _ = _internal(array, root.jets, moving, t)
    found = _smoothness(array, root.jets, moving, t, internal, programs)
    return {name: max(order, found[name]) for name, order in at_rest.items()}


def _smoothness(
    array: DerivativeArray,
    jets: FloatArray,
    wanted: FloatArray,
    t: float,
    internal: FloatArray,
    programs: tuple[str, ...],
) -> dict[str, int]:
    """Program → highest derivative that an effort depends on, internal motion held."""
    _, J = array.evaluate(jets, wanted, t)
    slopes = array.slopes(jets, wanted, t)
    extra = np.zeros((len(internal), J.shape[1]))
    n = internal.shape[1]
    extra[:, :n] = internal * array.column[:n]
    K = np.vstack([J, extra])
    lengths = np.linalg.norm(K, axis=1)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    right = np.vstack([-slopes, np.zeros((len(internal), slopes.shape[1]))])
    x = np.linalg.lstsq(K / lengths[:, None], right / lengths[:, None], rcond=1e-9)[0]
    tau = np.abs(x[array.nz - array.k : array.nz]).max(axis=0)
    by_order = tau.reshape(array.order + 1, len(programs))
    result = {}
    for i, name in enumerate(programs):
        depends = np.flatnonzero(by_order[:, i] > NOTHING * max(by_order[:, i].max(), 1e-300))
        result[name] = int(depends.max()) if len(depends) else 0
    return result


def _forward(
    of: tuple[FloatArray, FloatArray, FloatArray], programs: tuple[str, ...]
) -> tuple[int, dict[str, int]]:
    """Rank of C A B, and the relative degree of each output."""
    A, B, C = (np.where(np.abs(X) > ROUNDING * np.abs(X).max(initial=0.0), X, 0.0) for X in of)
    size = float(np.linalg.norm(C) * np.linalg.norm(B)) or 1.0
    rank = int(np.sum(np.linalg.svd(C @ A @ B, compute_uv=False) > DIRECT * size))
    degrees: dict[str, int] = {}
    for i, name in enumerate(programs):
        row, summed, degrees[name] = C[i], np.abs(C[i]), 0
        for r in range(1, len(A) + 1):
            # An effort acts if more is left of the products than rounding of what was summed.
            if (np.abs(row @ B) > DIRECT * (summed @ np.abs(B))).any():
                degrees[name] = r
                break
            row, summed = row @ A, summed @ np.abs(A)
    return rank, degrees
