"""Analysis of servo constraints: their equations and the time derivatives of these.

With z = (q, v, λ, τ) the motion of a system that follows a program obeys

    q̇ = N v + n₀,   M v̇ = Q + Aᵀλ + B τ,   physical rows,   c(q) = f(t)

a differential-algebraic system F(z, ż, t) = 0. F and its first K total derivatives are algebraic
equations in z, ż, z̈, …, the derivative array (Campbell 1985). They say, at one instant and for any
index, what program and mechanics determine: efforts, motion, and what is left to internal dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.quantities import parts_of
from zwang.analysis.state_sizes import StateSizes
from zwang.codegen.kernel import compile as compile_kernel
from zwang.errors import InputError
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian

if TYPE_CHECKING:
    import casadi

    from zwang.analysis.quantities import Quantity
    from zwang.system import System

__all__ = ["ArrayRoot", "DerivativeArray"]

#: Corrections of Newton's method, and the residual, scaled, at which it has arrived.
ROUNDS, ARRIVED = 40, 1e-12
#: A correction that leaves more than this share of the residual takes the Jacobian anew.
CONTRACTED = 0.1
#: Singular values below this share of the largest are zero.
ZERO = 1e-9
#: Units of time that are tried [s], the plainest first, and rates of motions for which they serve
#: [1/s]; of slower and faster ones, units as many powers of ten away.
UNITS = (1.0, *10.0 ** np.arange(-4.0, 1.5, 0.5))
SLOWEST, FASTEST = 0.1, 1e4
#: Singular values below this are rounding, whose size says nothing of a unit: it had chosen one, by
#: the processor.
ROUNDED = 1e-15


class ArrayRoot(NamedTuple):
    """Derivatives of z at an instant: jets (K + 2, nz), and whether the equations hold."""

    jets: FloatArray
    holds: bool


class DerivativeArray:
    """F and its derivatives up to order K.

    Attributes
    ----------
    order : K.
    nq, nv, k : sizes of q, v and τ; z is (q, v, λ, τ).
    nz : size of z.
    rank : of the array at its roots, as far as it is noted; 0 before.
    sizes : of z, beside which it is measured.
    of_bodies : whether the coordinates are those of bodies, so that sizes are known.
    """

    def __init__(
        self,
        system: System,
        programs: tuple[Quantity, ...],
        B: casadi.SX,
        p: FloatArray,
        order: int,
    ) -> None:
        import casadi as ca

        model = system.model
        s, self.p, self.order = model.state, p, order
        self.nq, self.nv, self.k = s.q.numel(), s.v.numel(), B.shape[1]
        m = model.A.shape[0]
        lam, tau = ca.SX.sym("lambda", m), ca.SX.sym("tau", self.k)
        first = ca.vertcat(s.q, s.v, lam, tau)
        self.nz = first.numel()
        jets = [first, *(ca.SX.sym(f"z{j}", self.nz) for j in range(1, order + 2))]
        wanted = [ca.SX.sym(f"y{j}", len(programs)) for j in range(order + 1)]
        F = _equations(model, programs, B, jets, lam, tau, wanted[0])
        rows, block = [F], F
        for _ in range(order):
            block = _total(block, s.t, jets, wanted)
            rows.append(block)
        Z, Y = ca.vertcat(*jets), ca.vertcat(*wanted)
        e = ca.vertcat(*rows)
        self._rows_of_F, self.rank, self._system = F.numel(), 0, system
        self.sizes, self.of_bodies = np.ones(self.nz), parts_of(system) is not None
        self.measure_in(1.0)
        J = ca.densify(ca.jacobian(e, Z))
        Jy = ca.densify(ca.jacobian(e, Y))
        inputs = [Z, Y, s.t, s.p]
        self._values = compile_kernel(ca.Function("array", inputs, [ca.densify(e), J]))
        self._slopes = compile_kernel(ca.Function("array_y", inputs, [Jy]))
        self.shape = (e.numel(), Z.numel())

    def measure_in(self, unit_time: float) -> None:
        """Measure derivatives in a unit of time [s], as Taylor's coefficients are."""
        j = np.arange(self.order + 2)
        self.powers = unit_time**j / np.cumprod(np.maximum(j, 1.0))
        self.column = np.outer(1.0 / self.powers, self._units(unit_time)).ravel()
        self.row = np.repeat(self.powers[: self.order + 1], self._rows_of_F)

    def _units(self, unit_time: float) -> FloatArray:
        """Units of z: those of q, of displacements by v over T, of forces over T²; shape (nz,)."""
        forces = self.nz - self.nq - self.nv
        per_time = [1.0, 1.0 / unit_time, 1.0 / unit_time**2]
        return self.sizes * np.repeat(per_time, [self.nq, self.nv, forces])

    def _sizes_at(self, q: FloatArray, J: FloatArray) -> FloatArray:
        """Sizes of z by the Jacobian at q: forces do the work of kinetic energies on the way."""
        first, last = self.nq, self.nq + self.nv
        M = J[first:last, self.nz + first : self.nz + last]
        sizes = StateSizes.of(self._system, q, -J[:first, first:last], M, np.zeros(self.nv))
        energy = float((np.abs(M.diagonal()) * sizes.w**2).max(initial=0.0)) or 1.0
        work = (np.abs(J[first:last, last : self.nz]) * sizes.w[:, None]).max(axis=0, initial=0.0)
        return np.concatenate([sizes.q, sizes.w, energy / np.where(work > 0.0, work, 1.0)])

    def choose_unit_time(
        self, jets: FloatArray, wanted: FloatArray, t: float, rate: float = 1.0
    ) -> None:
        """Measure in the unit in which determined and free are farthest apart.

        A stiff spring of 400 1/s enters the fourth derivative by 400⁴: in seconds what it
        determines would be taken for rounding. The rate [1/s] is one of the motion.
        """
        away = np.log10(np.clip(rate, SLOWEST, FASTEST) / rate)
        J = self._values(jets.ravel(), wanted.ravel(), [t], self.p)[1].reshape(self.shape[::-1]).T
        self.sizes = self._sizes_at(jets[0, : self.nq], J)
        widest = -1.0, 1.0
        for unit in np.array(UNITS) * 10.0 ** np.round(away):
            self.measure_in(unit)
            s = np.linalg.svd(self._rows_of_length_one(jets, wanted, t), compute_uv=False)
            s = np.maximum(s / max(float(s[0]), 1e-300), ROUNDED)
            gap = float((s / np.append(s[1:], ROUNDED)).max())
            widest = max(widest, (gap, unit))
        self.measure_in(widest[1])

    def _rows_of_length_one(self, jets: FloatArray, wanted: FloatArray, t: float) -> FloatArray:
        _, J = self.evaluate(jets, wanted, t)
        lengths = np.linalg.norm(J, axis=1)
        return J / np.where(lengths > 0.0, lengths, 1.0)[:, None]

    def evaluate(self, jets: FloatArray, wanted: FloatArray, t: float) -> tuple[Any, Any]:
        """Scaled residual and Jacobian by scaled jets."""
        e, J = self._values(jets.ravel(), wanted.ravel(), [t], self.p)
        matrix = J.reshape(self.shape[1], self.shape[0]).T
        return self.row * e, self.row[:, None] * matrix * self.column

    def slopes(self, jets: FloatArray, wanted: FloatArray, t: float) -> FloatArray:
        """Scaled derivative by the program and its derivatives, scaled as well."""
        (J,) = self._slopes(jets.ravel(), wanted.ravel(), [t], self.p)
        column = np.repeat(1.0 / self.powers[: self.order + 1], wanted.shape[1])
        return self.row[:, None] * J.reshape(wanted.size, self.shape[0]).T * column

    def solve(
        self,
        guess: FloatArray,
        wanted: FloatArray,
        t: float,
        pinned: tuple[FloatArray, FloatArray] | None = None,
    ) -> ArrayRoot:
        """The nearest jets that satisfy the equations.

        Parameters
        ----------
        guess : jets, shape (K + 2, nz).
        wanted : f and its derivatives, shape (K + 1, programs).
        pinned : (P, ξ) for P (q, v) = ξ.
        """
        found = self._newton(guess, wanted, t, pinned, self.rank)
        return found if found.holds or not self.rank else self._newton(guess, wanted, t, pinned, 0)

    def note_rank(self, jets: FloatArray, wanted: FloatArray, t: float) -> None:
        """Take the rank at a root for that of all: away from one, dependent rows contradict."""
        s = np.linalg.svd(self._rows_of_length_one(jets, wanted, t), compute_uv=False)
        self.rank = max(self.rank, int(np.sum(s > ZERO * s.max(initial=1.0))))

    def _newton(
        self,
        guess: FloatArray,
        wanted: FloatArray,
        t: float,
        pinned: tuple[FloatArray, FloatArray] | None,
        rank: int,
    ) -> ArrayRoot:
        """The same by a rank that is known, or by that of each step where it is 0."""
        rank += len(pinned[1]) if rank and pinned is not None else 0
        Z, last, way, fresh = guess.ravel() / self.column, np.inf, None, False
        for _ in range(ROUNDS):
            e, J = self.evaluate((Z * self.column).reshape(-1, self.nz), wanted, t)
            if pinned is not None:
                P, xi = pinned
                n = self.nq + self.nv
                extra = np.zeros((len(xi), len(Z)))
                extra[:, :n] = P * self.column[:n]
                e, J = np.concatenate([e, extra @ Z - xi]), np.vstack([J, extra])
            if not np.isfinite(e).all():
                break
            lengths = np.linalg.norm(J, axis=1)
            lengths = np.where(lengths > 0.0, lengths, 1.0)
            size = float(np.abs(e / lengths).max())
            if size >= 0.5 * last and (size < ARRIVED or (fresh and last < 1e-8)):  # rounding
                break
            fresh = way is None or size > CONTRACTED * last
            if way is None or fresh:
                way = _LeastSquares(J, lengths, rank)
            step = -way.solution(e)
            last = size
            norm = float(np.linalg.norm(step))
            limit = 1.0 + float(np.linalg.norm(Z))
            Z = Z + step * min(1.0, limit / max(norm, 1e-300))
            if norm < 1e-15 * limit or size < 1e-15:
                break
        return ArrayRoot((Z * self.column).reshape(-1, self.nz), bool(last < 1e-8))

    def at_rest(self, z: FloatArray, wanted: FloatArray, t: float) -> FloatArray | None:
        """z near another one at which all derivatives vanish, or None; of an array of order 0."""
        Z = z.copy()
        for _ in range(ROUNDS):
            e, J = self.evaluate(np.stack([Z, np.zeros_like(Z)]), wanted, t)
            step = -np.linalg.lstsq(J[:, : self.nz], e, rcond=ZERO)[0]
            if not np.isfinite(step).all():
                return None
            size = float(np.linalg.norm(step))
            limit = 1.0 + float(np.linalg.norm(Z))
            Z = Z + step * min(1.0, limit / max(size, 1e-300))
            if size < ARRIVED * limit:
                e, _ = self.evaluate(np.stack([Z, np.zeros_like(Z)]), wanted, t)
                return Z if np.abs(e).max(initial=0.0) < 1e-8 * limit else None
        return None

    def free(self, jets: FloatArray, wanted: FloatArray, t: float, *, given: bool) -> FloatArray:
        """Null space of the Jacobian by scaled jets, shape (K + 2, nz, f).

        Parameters
        ----------
        given : whether z itself is held, so that its derivatives alone are free.
        """
        J = self._rows_of_length_one(jets, wanted, t)
        skip = self.nz if given else 0
        _, values, Vt = np.linalg.svd(J[:, skip:])
        rank = int(np.sum(values > ZERO * values.max(initial=1.0)))
        basis = np.zeros((J.shape[1], Vt.shape[0] - rank))
        basis[skip:] = Vt[rank:].T
        return basis.reshape(self.order + 2, self.nz, -1)


class _LeastSquares:
    """The least x with the least |J x − e|, by a rank or, where it is 0, by that of J.

    It is kept over corrections that contract well: a decomposition of a derivative array takes far
    longer than an evaluation.

    Parameters
    ----------
    lengths : by which rows are divided.
    """

    def __init__(self, J: FloatArray, lengths: FloatArray, rank: int) -> None:
        U, s, Vt = np.linalg.svd(J / lengths[:, None], full_matrices=False)
        r = rank or int(np.sum(s > ZERO * s.max(initial=0.0)))
        self._left, self._right, self._lengths = U[:, :r].T, Vt[:r].T / s[:r], lengths

    def solution(self, e: FloatArray) -> FloatArray:
        """x for one right side."""
        return self._right @ (self._left @ (e / self._lengths))


def _equations(
    model: Any,
    programs: tuple[Quantity, ...],
    B: casadi.SX,
    jets: list[casadi.SX],
    lam: casadi.SX,
    tau: casadi.SX,
    wanted: casadi.SX,
) -> casadi.SX:
    """F of z, ż and t."""
    import casadi as ca

    s = model.state
    nq, nv = s.q.numel(), s.v.numel()
    q_dot, v_dot = jets[1][:nq], jets[1][nq : nq + nv]
    rows = [
        q_dot - s.q_dot,
        ca.mtimes(model.M, v_dot) - model.Q - ca.mtimes(model.A.T, lam) - ca.mtimes(B, tau),
    ]
    for name, block in model.blocks.items():
        if block.level == "position":
            rows.append(block.value)
        elif block.level == "velocity":
            rows.append(block.rate)
        else:
            raise InputError(
                f"constraint {name!r}",
                must="be one of positions or velocities for servo constraints",
                but="is one of accelerations",
            )
    rows += [ca.sumsqr(s.q[list(group)]) - 1 for group in model.unit]
    for i, of in enumerate(programs):
        value = of.rate if of.order or of.value is None else of.value
        if of.angle and not of.order:
            rows.append(value[0] * ca.cos(wanted[i]) - value[1] * ca.sin(wanted[i]))
        else:
            rows.append(value["xyz".index(of.part) if of.part else 0] - wanted[i])
    return ca.vertcat(*rows)


def _total(e: casadi.SX, t: casadi.SX, jets: list[casadi.SX], wanted: list[casadi.SX]) -> casadi.SX:
    """The total time derivative."""
    import casadi as ca

    rate = ca.jtimes(e, t, ca.SX(1))
    for a, b in (*pairwise(jets), *pairwise(wanted)):
        rate = rate + ca.jtimes(e, a, b)
    return rate


def columns_of(system: System, of: tuple[Quantity, ...]) -> casadi.SX:
    """B of actuators on quantities, shape (nv, k)."""
    import casadi as ca

    s = system.model.state
    rates = [q.rate["xyz".index(q.part)] if q.part else q.rate for q in of]
    return ca.vertcat(*(jacobian(r, s.v, s) for r in rates)).T


def matrix_of(system: System, given: Any, parameters: Mapping[str, Any]) -> casadi.SX:
    """B of a matrix, or of a function of (q, v, t, p)."""
    import casadi as ca

    from zwang.tracing.symbol import Symbol, symbols_of
    from zwang.tracing.trace import ParameterSymbols, call, matrix

    s, nv = system.model.state, len(system.velocities)
    if not callable(given):
        array = np.asarray(given, dtype=float)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or array.shape[0] != nv:
            raise InputError(
                "actuators", must=f"have shape ({nv}, k)", but=f"has shape {array.shape}"
            )
        return ca.SX(ca.DM(array))
    numbers = ParameterSymbols({k: np.asarray(x) for k, x in parameters.items()})
    arguments = {"q": symbols_of(s.q), "v": symbols_of(s.v), "t": Symbol(s.t), "p": numbers}
    result = call("actuators", given, arguments)
    transposed = np.asarray(result, dtype=object)
    transposed = transposed[:, None] if transposed.ndim == 1 else transposed
    return matrix("actuators, transposed", transposed.T, (None, nv)).T
