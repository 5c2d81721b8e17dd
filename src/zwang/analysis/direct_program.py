"""Analysis of servo constraints: programs along which the actuators push.

Where efforts act on the second derivatives of the programmed quantities, a state determines
accelerations, reactions and efforts at once,

    M v̇ − Aᵀλ − B τ = Q,    A v̇ = b,    C v̇ = f̈ − c̈₀

a constrained system whose program is maintained by forces along B. Its motion is integrated, and
each step ends on the constraints and on the program; where both determine the configuration, as
in a robot with a motor for each degree of freedom, it is found at each time by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.state_sizes import StateSizes
from zwang.codegen.kernel import compile as compile_kernel
from zwang.errors import NotApplicableError, TooManyStepsError
from zwang.linalg.rank import DEFAULT_TOLERANCES, equilibrate, inverse_power_of_two, nullspace
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian, rate

if TYPE_CHECKING:
    import casadi

    from zwang.analysis.quantities import Quantity
    from zwang.system import System

__all__ = ["DirectProgram", "FollowedState", "LostError"]

#: Local error of the integration.
FORWARD = 1e-12
#: Reciprocal condition, of scaled equations, from which accelerations and efforts are determined
#: at the start, and below which they no longer are on the way.
REGULAR, SINGULAR = 1e-10, 1e-13
#: Parts of scaled rows below this are none: rows depend on others.
DEPENDENT = 1e-9
#: Corrections of Newton's method, the size at which they have come to rest, and residuals of rows
#: that are met, beside what displacements of the size of the system make of them.
ROUNDS, SETTLED, MET = 12, 1e-14, 1e-9
#: Corrections of coordinates, beside their sizes, from which a shorter step is taken: half a turn
#: away is another position of the same program.
BRANCH = 0.1
#: Halvings of a step over which a state predicts the next.
HALVINGS = 24
#: Steps are at most this share of the whole time, and so many intervals of the times: a program
#: that moves after long rest would be stepped over.
SHARE, INTERVALS = 0.02, 8.0
#: Powers of two up to which rows and velocities are not scaled beforehand.
NEAR_ONE = 10.0
#: Steps after which a motion is given up.
MOST = 200_000
#: Times at which is looked how far a program leads.
LOOKED_AT = 200


class LostError(Exception):
    """Accelerations and efforts are not determined at a time, or no configuration is found."""


class NoConfigurationError(LostError):
    """No configuration is found."""


class FollowedState(NamedTuple):
    """A state on the program with accelerations v̇ and efforts τ."""

    q: FloatArray
    v: FloatArray
    acceleration: FloatArray
    effort: FloatArray


class _Place(NamedTuple):
    """φ of positions, φ̇ or ψ of all rows, and their Jacobian by v."""

    phi: FloatArray
    rate: FloatArray
    rows: FloatArray


class DirectProgram:
    """Equations of a system that follows a program by actuators that push along it.

    Parameters
    ----------
    wanted : (order, t) → program and derivatives, shape (order + 1, programs).
    q, v : a state near the program at the first time.
    times : over which it is followed.
    name : of the program, for messages.

    Attributes
    ----------
    regular : whether accelerations and efforts are determined at the state.
    determined : whether constraints and program determine the configuration.
    sizes : of the state, with which corrections and errors are compared.
    """

    def __init__(
        self,
        system: System,
        programs: tuple[Quantity, ...],
        B: casadi.SX,
        p: FloatArray,
        wanted: Callable[[int, float], FloatArray],
        q: FloatArray,
        v: FloatArray,
        times: FloatArray,
        name: str,
    ) -> None:
        import casadi as ca

        model = system.model
        s, self.p, self._wanted, self.name = model.state, p, wanted, name
        self.nq, self.nv, self.k = s.q.numel(), s.v.numel(), B.shape[1]
        self.units = [list(group) for group in model.unit]
        self.m = m = model.A.shape[0]
        y, y_dot = ca.SX.sym("y", self.k), ca.SX.sym("y_dot", self.k)
        phi, rates = [], []
        valued: list[bool] = []
        for block in model.blocks.values():
            assert block.rate is not None  # rows of accelerations are refused before
            rates.append(block.rate)
            valued += [block.level == "position"] * block.rate.numel()
            if block.level == "position":
                phi.append(block.value)
        own, self._first = [], []
        for i, of in enumerate(programs):
            part = "xyz".index(of.part) if of.part else 0
            own.append(of.rate[part])
            positional = not of.order and of.value is not None
            self._first.append(1 if positional else 0)
            valued.append(positional)
            rates.append(of.rate[part] - (y_dot[i] if positional else y[i]))
            if not positional:
                continue
            assert of.value is not None
            if of.angle:
                phi.append(of.value[0] * ca.cos(y[i]) - of.value[1] * ca.sin(y[i]))
            else:
                phi.append(of.value[part] - y[i])
        self._valued = np.flatnonzero(valued)
        c = ca.vertcat(*own)
        C, bias = jacobian(c, s.v, s), rate(c, s)
        K = ca.blockcat(
            [
                [model.M, -model.A.T, -B],
                [model.A, ca.SX(m, m), ca.SX(m, self.k)],
                [C, ca.SX(self.k, m), ca.SX(self.k, self.k)],
            ]
        )
        r = ca.vertcat(model.Q, model.b, -bias)
        state = [s.q, s.v, s.t, s.p]
        self._equations = _kernel("direct", state, [K, r, s.q_dot])
        self._place = _kernel(
            "direct_place",
            [*state, y, y_dot],
            [ca.vertcat(*phi), ca.vertcat(*rates), ca.vertcat(model.A, C)],
        )
        w = ca.SX.sym("w", self.nv)
        self._moved = _kernel("direct_moved", [s.q, s.t, s.p, w], [ca.mtimes(model.N, w)])
        self._directions = _kernel("direct_displacements", [s.q, s.t, s.p], [model.N])
        self._mass = _kernel("direct_mass", state, [model.M])
        t = float(times[0])
        self.sizes = self._sizes(system, q, v, times)
        self.regular, A = self._choose(q, v, t) > REGULAR, self._unit_positions(q, v, t)
        values = np.linalg.svd(A, compute_uv=False) if len(A) else np.zeros(0)
        self.determined = int(np.sum(values > DEPENDENT)) == self.nv

    def _sizes(self, system: System, q: FloatArray, v: FloatArray, times: FloatArray) -> StateSizes:
        """Sizes of the state, by itself and by how far the program leads."""
        t, span = float(times[0]), float(times[-1] - times[0])
        some = times[:: max(1, len(times) // LOOKED_AT)]
        values = np.array([self._wanted(0, float(s))[0] for s in (*some, times[-1])])
        positional = np.array(self._first) == 1
        way = np.where(positional, np.abs(values - values[0]), span * np.abs(values))
        M, rows = self.mass(q, v, t), self._at(q, v, t).rows
        led = np.concatenate([np.zeros(self.m), way.max(axis=0)])
        return StateSizes.of(system, q, self.displacements(q, t), M, _least_by(M, rows, led))

    def _unit_positions(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Rows of positions by displacements of the size of the state, of length one."""
        rows = self._at(q, v, t).rows[self._position_rows] * self.sizes.w
        lengths = np.linalg.norm(rows, axis=1)
        return rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]

    def _choose(self, q: FloatArray, v: FloatArray, t: float) -> float:
        """Independent rows and the scales of the equations at a state; their condition."""
        from scipy.linalg import qr

        n, m, k = self.nv, self.m, self.k
        rows = self._at(q, v, t).rows * self.sizes.w
        lengths = np.linalg.norm(rows, axis=1)
        unit = rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        found: Any = qr(unit[:m].T, mode="r", pivoting=True) if m else (np.zeros((0, 0)), [])
        size = np.abs(np.diagonal(found[0]))
        rank = int(np.sum(size > DEPENDENT))
        chosen = sorted(int(i) for i in found[1][:rank])
        self.rows = np.array([*chosen, *range(m, m + k)], dtype=int)
        self.kept = np.array([*range(n), *(n + self.rows)], dtype=int)
        self.positions = np.array(
            [i for i, row in enumerate(self._valued) if row in set(self.rows)], dtype=int
        )
        self._position_rows = self._valued[self.positions]
        K = self._matrix(q, v, t)[0]
        d, e = equilibrate(K[:n, :n], K[n:, :n])  # any factor of a row, and units of coordinates
        pushes = np.abs(d[:, None] * K[:n, len(K) - k :]).max(axis=0, initial=0.0)
        left = _far(np.concatenate([d, e]))
        right = _far(np.concatenate([d, e[: len(e) - k], inverse_power_of_two(pushes)]))
        for _ in range(3):
            left /= _power(np.abs(left[:, None] * K * right).max(axis=1, initial=0.0))
            right /= _power(np.abs(left[:, None] * K * right).max(axis=0, initial=0.0))
        self._left, self._right = left, right
        return self._factored(K)[1]

    # --- one state --------------------------------------------------------------------------------

    def _matrix(self, q: FloatArray, v: FloatArray, t: float) -> tuple[FloatArray, ...]:
        """K and its right side, of chosen rows, and q̇."""
        size = self.nv + self.m + self.k
        K, r, q_dot = self._equations(q, v, [t], self.p)
        wanted = self._wanted(2, t)
        r[self.nv + self.m :] += wanted[[1 + i for i in self._first], range(self.k)]
        kept = self.kept
        return K.reshape(size, size).T[np.ix_(kept, kept)], r[kept], q_dot

    def _factored(self, K: FloatArray) -> tuple[Any, float]:
        """Factors of scaled equations, and their reciprocal condition."""
        from scipy.linalg import lapack as routines

        scaled = self._left[:, None] * K * self._right
        if not np.isfinite(scaled).all():
            return None, 0.0
        lapack: Any = routines
        norm = float(np.abs(scaled).sum(axis=0).max())
        lu, pivots, info = lapack.dgetrf(scaled)
        if info:
            return None, 0.0
        return (lu, pivots), float(lapack.dgecon(lu, norm)[0])

    def solved(self, q: FloatArray, v: FloatArray, t: float) -> tuple[FloatArray, ...]:
        """v̇, τ and q̇ at a state."""
        from scipy.linalg import lapack as routines

        K, r, q_dot = self._matrix(q, v, t)
        factors, condition = self._factored(K)
        if not condition > SINGULAR:  # other rows may be independent here
            self._choose(q, v, t)
            K, r, q_dot = self._matrix(q, v, t)
            factors, condition = self._factored(K)
        if not condition > SINGULAR:
            raise LostError
        lapack: Any = routines
        x = self._right * lapack.dgetrs(*factors, self._left * r)[0]
        return x[: self.nv], x[len(x) - self.k :], q_dot

    def _at(self, q: FloatArray, v: FloatArray, t: float) -> _Place:
        """Constraints and program at a state."""
        y = self._wanted(1, t)
        phi, rates, J = self._place(q, v, [t], self.p, y[0], y[1])
        return _Place(phi, rates, J.reshape(self.nv, -1).T)

    def projected(
        self, q: FloatArray, v: FloatArray, t: float, mass: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The nearest state on constraints and program, nearest in v by a mass matrix."""
        q, last, w = self._unit(q.copy()), np.inf, self.sizes.w
        far = max(1.0, float(np.abs(q / self.sizes.q).max(initial=0.0)))  # where rounding is larger
        lengths = np.zeros(len(self._valued))
        for i in range(ROUNDS):
            at = self._at(q, v, t)
            lengths = np.maximum(lengths, np.linalg.norm(at.rows[self._valued] * w, axis=1))
            step = -w * _least(at.rows[self._position_rows] * w, at.phi[self.positions])
            size = float(np.abs(step / w).max(initial=0.0)) / far
            if not np.isfinite(size) or (i > 2 and size > 0.5 * last and size > MET):
                raise NoConfigurationError
            if size < SETTLED or (size < MET and size >= 0.5 * last):
                break
            q = self._unit(q + self._moved(q, [t], self.p, step)[0])
            last = size
        at = self._at(q, v, t)
        if (np.abs(at.phi) > MET * far * lengths).any():
            raise NoConfigurationError
        J, miss = at.rows[self.rows], at.rate[self.rows]
        return q, v - (w * _least(J * w, miss) if mass is None else _least_by(mass, J, miss))

    def _unit(self, q: FloatArray) -> FloatArray:
        """The same with Euler parameters and pairs (cos, sin) of unit length."""
        for group in self.units:
            q[group] /= np.linalg.norm(q[group])
        return q

    def mass(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """M at a state."""
        return self._mass(q, v, [t], self.p)[0].reshape(self.nv, self.nv).T

    def followed(self, q: FloatArray, v: FloatArray, t: float) -> FollowedState:
        """The state on the program that is nearest to one, with accelerations and efforts."""
        q, v = self.projected(q, v, t)
        a, tau, _ = self.solved(q, v, t)
        return FollowedState(q, v, a, tau)

    def started(self, q: FloatArray, v: FloatArray, t: float) -> FollowedState:
        """The same at the beginning, with the velocities that the least impulse gives."""
        q, v = self.projected(q, v, t, self.mass(q, v, t))
        return self.followed(q, v, t)

    # --- what the program leaves free -------------------------------------------------------------

    def free(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray | None:
        """Z such that Zᵀw measures displacements that nothing holds by the size of the state.

        None where rows of velocities take part.
        """
        if len(self.positions) < len(self.rows):
            return None
        rows = self._unit_positions(q, v, t)
        return np.linalg.svd(rows)[2][len(rows) :].T / self.sizes.w[:, None]

    def displacements(self, q: FloatArray, t: float) -> FloatArray:
        """N of q̇ = N v."""
        return self._directions(q, [t], self.p)[0].reshape(self.nv, self.nq).T

    def pinned(
        self,
        q: FloatArray,
        t: float,
        place: tuple[FloatArray, FloatArray, FloatArray],
        motion: tuple[FloatArray, FloatArray],
    ) -> tuple[FloatArray, FloatArray]:
        """The state on the program with R (q − q₀) = ξ and Zᵀv = η, for (R, q₀, ξ) and (Z, η)."""
        (R, origin, xi), (Z, eta) = place, motion
        q, zero, last = q.copy(), np.zeros(self.nv), np.inf
        for _ in range(ROUNDS):
            at = self._at(q, zero, t)
            J = at.rows[self._position_rows]
            miss = np.concatenate([at.phi[self.positions], R @ (q - origin) - xi])
            K = np.vstack([J, R @ self.displacements(q, t)])
            step = self._one_solution(K, -miss)
            size = float(np.abs(step / self.sizes.w).max(initial=0.0))
            q = self._unit(q + self._moved(q, [t], self.p, step)[0])
            if size < SETTLED or (size < MET and size >= 0.5 * last):
                at = self._at(q, zero, t)
                K = np.vstack([at.rows[self.rows], Z.T])
                return q, self._one_solution(K, np.concatenate([-at.rate[self.rows], eta]))
            last = size
        raise NoConfigurationError

    def internal_change(
        self, q: FloatArray, t: float, R: FloatArray, change: FloatArray
    ) -> FloatArray:
        """How q changes with ξ = R (q − q₀) while constraints and program hold."""
        J = self._at(q, np.zeros(self.nv), t).rows[self._position_rows]
        N = self.displacements(q, t)
        right = np.concatenate([np.zeros(len(J)), change])
        return N @ self._one_solution(np.vstack([J, R @ N]), right)

    def _one_solution(self, K: FloatArray, right: FloatArray) -> FloatArray:
        scaled = K * self.sizes.w
        lengths = np.linalg.norm(scaled, axis=1)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        try:
            found = self.sizes.w * np.linalg.solve(scaled / lengths[:, None], right / lengths)
        except np.linalg.LinAlgError:
            raise LostError from None
        if not np.isfinite(found).all():
            raise LostError
        return found

    # --- over time --------------------------------------------------------------------------------

    def all_states(self, q: FloatArray, v: FloatArray, times: FloatArray) -> list[FollowedState]:
        """States at times from one near the first of them."""
        t = float(times[0])
        try:
            first = self.started(q, v, t)
        except LostError as lost:
            raise self._beyond(t, lost) from None
        return (self.positioned if self.determined else self.integrated)(first, times)

    def positioned(self, first: FollowedState, times: FloatArray) -> list[FollowedState]:
        """States at times, each by itself; the last one predicts the next."""
        found = [first]
        for a, b in pairwise(times):
            found.append(self._carried(found[-1], float(a), float(b), HALVINGS))
        return found

    def _carried(self, at: FollowedState, a: float, b: float, depth: int) -> FollowedState:
        h, sizes = b - a, self.sizes
        lost: LostError | None = None
        moved = self._moved(at.q, [a], self.p, h * at.v + 0.5 * h**2 * at.acceleration)[0]
        try:
            turned = np.abs(moved / sizes.q)[sizes.turning]
            if float(turned.max(initial=0.0)) < 3.0 * BRANCH:
                found = self.followed(at.q + moved, at.v + h * at.acceleration, b)
                if np.abs((found.q - at.q - moved) / sizes.q).max(initial=0.0) < BRANCH:
                    return found
        except LostError as error:
            lost = error
        if not depth or not a < 0.5 * (a + b) < b:
            raise self._beyond(a, lost)
        half = self._carried(at, a, 0.5 * (a + b), depth - 1)
        return self._carried(half, 0.5 * (a + b), b, depth - 1)

    def _beyond(self, t: float, lost: LostError | None) -> NotApplicableError:
        unreached = isinstance(lost, NoConfigurationError)
        return NotApplicableError(
            f"program {self.name}",
            must="be one that the system can follow from its start",
            but=f"leaves its reach at t = {t:.6g}: beyond it no configuration is found that "
            "constraints allow"
            if unreached
            else "leaves its reach, or meets a position in which the actuators have no influence "
            f"on it, at t = {t:.6g}",
            advice="Give a program that stays away from there.",
        )

    def integrated(self, first: FollowedState, times: FloatArray) -> list[FollowedState]:
        """States at times, from the first one on."""
        from scipy.integrate import DOP853

        nq = self.nq

        def slope(t: float, x: FloatArray) -> FloatArray:
            a, _, q_dot = self.solved(x[:nq], x[nq:], t)
            return np.concatenate([q_dot, a])

        span = float(times[-1] - times[0])
        most = min(SHARE * span, INTERVALS * float(np.diff(times).max()))
        x = np.concatenate([first.q, first.v])
        error: Any = FORWARD * self._of_state(span)
        t, found, steps = float(times[0]), [first], 0
        solver: Any = None
        try:
            solver = DOP853(slope, t, x, float(times[-1]), max_step=most, rtol=FORWARD, atol=error)
            while len(found) < len(times) and steps < MOST:
                solver.step()
                if solver.status == "failed":
                    break
                found += self._between(solver, times[len(found) :])
                t, steps = float(solver.t), steps + 1
                solver.y = np.concatenate(self.projected(solver.y[:nq], solver.y[nq:], t))
                solver.f = slope(t, solver.y)
        except LostError as lost:
            raise self._ended(t, lost) from None
        if len(found) < len(times):
            raise self._long(t) if steps >= MOST else self._ended(t, None)
        return found

    def _of_state(self, span: float) -> FloatArray:
        """Sizes of (q, v) in a motion that takes some time."""
        return np.concatenate([self.sizes.q, self.sizes.w / span])

    def _between(self, solver: Any, times: FloatArray) -> list[FollowedState]:
        """States at the times that the last step has passed."""
        passed = times[times <= solver.t]
        if not len(passed):
            return []
        at, nq = solver.dense_output(), self.nq
        return [self.followed(at(s)[:nq], at(s)[nq:], s) for s in map(float, passed)]

    def _ended(self, t: float, lost: LostError | None) -> NotApplicableError:
        if lost is None:
            reason = "what it leaves free moves ever faster there"
        elif isinstance(lost, NoConfigurationError):
            reason = "no configuration is found there that follows it and that constraints allow"
        else:
            reason = (
                "there the actuators lose their influence on it, or what it leaves free moves "
                "ever faster"
            )
        return NotApplicableError(
            f"program {self.name}",
            must="leave a motion that goes on to the last time",
            but=f"cannot be followed beyond t = {t:.6g}: {reason}",
            advice="Give earlier times, another start, or a program that stays away from there.",
        )

    def _long(self, t: float) -> TooManyStepsError:
        return TooManyStepsError(
            f"program {self.name}",
            must=f"be followed in {MOST} steps",
            but=f"these lead to t = {t:.6g}",
            advice="Give times that end earlier, or a slower program.",
        )


def _kernel(name: str, inputs: list[casadi.SX], outputs: list[casadi.SX]) -> Any:
    import casadi as ca

    return compile_kernel(ca.Function(name, inputs, [ca.densify(ca.SX(x)) for x in outputs]))


def _far(scales: FloatArray) -> FloatArray:
    """Scales that are far from one; near a singular position others may cost digits of pivots."""
    return np.where(np.abs(np.log2(scales)) < NEAR_ONE, 1.0, scales)


def _power(sizes: FloatArray) -> FloatArray:
    """Powers of two near the square roots of sizes, 1 for none."""
    return 2.0 ** np.round(0.5 * np.log2(np.where(sizes > 0.0, sizes, 1.0)))


def _least(J: FloatArray, right: FloatArray) -> FloatArray:
    """The least x with J x = right, for rows that are independent."""
    if not len(J):
        return np.zeros(J.shape[1])
    lengths = np.linalg.norm(J, axis=1)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    try:
        return np.linalg.lstsq(J / lengths[:, None], right / lengths, rcond=1e-13)[0]
    except np.linalg.LinAlgError:
        raise LostError from None


def _least_by(M: FloatArray, J: FloatArray, right: FloatArray) -> FloatArray:
    """The same with the least ½ xᵀM x; of several, as without mass, the least of scaled ones.

    From one solution x₀ in the scales of `equilibrate` by what rows leave free, N: its part that
    kinetic energy sees is taken off, x₀ − N (NᵀM N)⁺ NᵀM x₀.
    """
    d, e = equilibrate(M, J)
    scaled, rows = M * d * d[:, None], J * d * e[:, None]
    try:
        found = np.linalg.lstsq(rows, e * right, rcond=1e-13)[0] if len(J) else np.zeros(len(M))
        free = nullspace(rows, DEPENDENT)
        inverse = np.linalg.pinv(
            free.T @ scaled @ free, rcond=DEFAULT_TOLERANCES.definite, hermitian=True
        )
    except np.linalg.LinAlgError:
        raise LostError from None
    return d * (found - free @ (inverse @ (free.T @ (scaled @ found))))
