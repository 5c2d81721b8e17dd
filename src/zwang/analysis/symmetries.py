"""Steady motions: the symmetries along which a system can move steadily.

A symmetry is a field on states, q̇ = N w(q), v̇ = Y v, that commutes with the motion. Candidates are
shifts and turns of a whole mechanism, turns of each body about axes of its own, and shifts of each
coordinate of a system of functions; and the passing of time, for what is driven at a constant rate.
A combination w = Σ w_k c_k is a symmetry if, at states on the constraints,

    φ_π w = 0,    ψ_π w + A Y v = 0,    δa[w, Y v] = Y a

with δa the change of the acceleration with the state: linear equations for c, whose solutions are
found from a few states at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf, spaces_of
from zwang.analysis.flow import SmallMotions
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["Candidates", "candidates_of", "symmetries"]

#: States at which candidates are tried, and how far these lie from the given one.
TRIED, AWAY = 3, 0.15
#: Defects of a symmetry, relative to the size of what is compared.
KEPT = 1e-8


@dataclass(frozen=True)
class Candidates:
    """Fields that may be symmetries.

    Attributes
    ----------
    names : ``shift x``, ``turn z``, ``coin.turn2``, or of coordinates ``shift phi``; ``time`` last.
    lifts : Y of each, shape (n, n).
    """

    equations: EquationsOf
    names: tuple[str, ...]
    lifts: tuple[FloatArray, ...]

    def fields(self, q: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """w of each, shape (n, k), and ∂(Σ w_k c_k)/∂π, shape (n, n)."""
        x, k = self.equations.expressions, len(self.names)

        def outputs() -> dict[str, casadi.SX]:
            W = _expressions(self.equations)
            return {"W": W, "slope": x.jacobian(W @ rates, x.state.q), "N": x.model.N}

        import casadi as ca

        rates = ca.SX.sym("c", k)
        v, equations = np.zeros(self.equations.nv), self.equations
        found = x.evaluate("symmetries", outputs, {"c": rates}, q, v, [equations.t], equations.p, c)
        return found["W"], found["slope"] @ found["N"]

    def lift(self, c: FloatArray) -> FloatArray:
        """Y of a combination, shape (n, n)."""
        n = self.equations.nv
        return sum((x * Y for x, Y in zip(c, self.lifts, strict=True)), np.zeros((n, n)))


def candidates_of(equations: EquationsOf) -> Candidates:
    """All fields that are tried."""
    n, parts = equations.nv, equations.parts
    names: list[str] = []
    lifts: list[FloatArray] = []
    if parts is None:
        if equations.nq == equations.nv:
            names = [f"shift {c}" for c in equations.system.coordinates]
            lifts = [np.zeros((n, n)) for _ in names]
        return Candidates(equations, (*names, "time"), (*lifts, np.zeros((n, n))))
    starts = parts.places[1]
    whole = [b for b in parts.bodies if b.kind.nv > 1]
    plane = next((b.kind.plane for b in whole), None)
    shifts = (0, 1, 2) if plane is None else plane[:2]
    for axis in shifts:
        names.append(f"shift {'xyz'[axis]}")
        lifts.append(np.zeros((n, n)))
    for axis in (0, 1, 2) if plane is None else plane[2:]:
        names.append(f"turn {'xyz'[axis]}")
        lifts.append(_turning(equations, axis))
    for body in parts.bodies:
        for k in range({6: 3, 3: 1}.get(body.kind.nv, 0)):
            Y = np.zeros((n, n))
            if body.kind.nv == 6:
                at = starts[body.index] + 3
                Y[at : at + 3, at : at + 3] = -_cross(np.eye(3)[k])
            names.append(f"{body.name}.turn{k + 1 if body.kind.nv == 6 else ''}")
            lifts.append(Y)
        if body.kind.nv == 1:
            names.append(f"shift {body.name}")
            lifts.append(np.zeros((n, n)))
    return Candidates(equations, (*names, "time"), (*lifts, np.zeros((n, n))))


def _cross(a: FloatArray) -> FloatArray:
    """The matrix of a ×."""
    return np.cross(a, np.eye(3)).T


def _turning(equations: EquationsOf, axis: int) -> FloatArray:
    """Y of a turn of everything about an axis of the world: velocities of centres turn with it."""
    parts, n = equations.parts, equations.nv
    Y, turn, starts = np.zeros((n, n)), _cross(np.eye(3)[axis]), parts.places[1]
    for body in parts.bodies:
        at = starts[body.index]
        if body.kind.nv == 6:
            Y[at : at + 3, at : at + 3] = turn
        elif body.kind.nv == 3:
            own = list(body.kind.plane[:2])
            Y[at : at + 2, at : at + 2] = turn[np.ix_(own, own)]
    return Y


def _expressions(equations: EquationsOf) -> casadi.SX:
    """w of all candidates as one matrix of expressions, shape (n, k)."""
    import casadi as ca

    x, parts = equations.expressions, equations.parts
    still = ca.SX.zeros(equations.nv, 1)
    if parts is None:
        square = equations.nq == equations.nv
        return ca.horzcat(ca.inv(x.model.N), still) if square else still
    from zwang.multibody.pose import config_of

    columns = []
    q_starts, v_starts = parts.places
    configs = [
        config_of(b.kind, x.state.q[q_starts[b.index] : q_starts[b.index + 1]])
        for b in parts.bodies
    ]
    plane = next((b.kind.plane for b in parts.bodies if b.kind.nv > 1), None)
    for axis in (0, 1, 2) if plane is None else plane[:2]:
        w = ca.SX.zeros(equations.nv, 1)
        for body in parts.bodies:
            if body.kind.nv > 1:
                place = axis if plane is None else list(plane).index(axis)
                w[v_starts[body.index] + place] = 1
        columns.append(w)
    for axis in (0, 1, 2) if plane is None else plane[2:]:
        w, n = ca.SX.zeros(equations.nv, 1), ca.SX(ca.DM(np.eye(3)[axis]))
        for body, config in zip(parts.bodies, configs, strict=True):
            at = v_starts[body.index]
            if body.kind.nv == 6:
                w[at : at + 3] = ca.cross(n, config[:3])
                # Entries of R come by rows, so that this is Rᵀ n.
                w[at + 3 : at + 6] = ca.mtimes(ca.reshape(config[3:], 3, 3), n)
            elif body.kind.nv == 3:
                i, j, _ = body.kind.plane
                r = ca.SX.zeros(3, 1)
                r[i], r[j] = config[0], config[1]
                u = ca.cross(n, r)
                w[at], w[at + 1], w[at + 2] = u[i], u[j], 1
        columns.append(w)
    for body in parts.bodies:
        at = v_starts[body.index]
        first = {6: 3, 3: 2, 1: 0}[body.kind.nv]
        for k in range(first, body.kind.nv):
            w = ca.SX.zeros(equations.nv, 1)
            w[at + k] = 1
            columns.append(w)
    return ca.horzcat(*columns, still)


def symmetries(candidates: Candidates, q: FloatArray, seed: int = 0) -> FloatArray:
    """Combinations c that are symmetries near a configuration, as columns, shape (k, s)."""
    equations, k = candidates.equations, len(candidates.names)
    rng = np.random.default_rng(seed)
    rows = [_defects(candidates, *_drawn(equations, q, rng)) for _ in range(TRIED)]
    _, s, Vt = np.linalg.svd(np.vstack(rows))
    s = np.concatenate([s, np.zeros(k - len(s))]) if len(s) < k else s
    return _sparse_columns(Vt[s <= KEPT].T)


def _drawn(
    equations: EquationsOf, q: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A state near a configuration that satisfies all constraints."""
    values = equations.values(q)
    D = spaces_of(values.M, values.A[equations.is_position]).basis
    d = np.abs(D).max(initial=1e-300)
    moved = equations.moved(q, AWAY / d * (D @ rng.standard_normal(D.shape[1])), values.N)
    q, _ = equations.corrected(moved)
    v = np.zeros(equations.nv)
    draw = rng.standard_normal(equations.nv)
    for _ in range(20):  # rates may be nonlinear in v
        values = equations.values(q, v)
        rated = spaces_of(values.M, values.A[equations.is_rated])
        if draw is not None:
            v, draw = rated.basis @ rng.standard_normal(rated.basis.shape[1]), None
            continue
        if np.abs(values.rate).max(initial=0.0) < 1e-13:
            break
        v = v - rated.particular(values.rate)
    return q, v


def _defects(candidates: Candidates, q: FloatArray, v: FloatArray) -> FloatArray:
    """How far each candidate is from a symmetry at a state, as columns."""
    equations, k = candidates.equations, len(candidates.names)
    values = equations.values(q, v)
    spaces = spaces_of(values.M, values.A)
    D, M = spaces.basis, values.M
    force = values.Q + values.C
    part = spaces.particular(values.b)
    a = part + D @ np.linalg.solve(D.T @ M @ D, D.T @ (force - M @ part))
    lam = spaces.multipliers(M @ a - force)
    slopes = equations.slopes(q, v, a, lam)
    motions = SmallMotions(equations, slopes, None, ~equations.is_rated, spaces)
    W, _ = candidates.fields(q, np.zeros(k))
    y = np.array([Y @ v for Y in candidates.lifts]).T.reshape(-1, k)
    x = motions.slopes
    by_time = equations.expressions.parameter_slopes(None, q, v, equations.t, equations.p, a, lam)
    force_t, right_t = np.zeros_like(W), np.zeros((equations.rows, k))
    force_t[:, -1], right_t[:, -1] = -by_time["E"], -by_time["H"]
    changed = motions.response(W, y, force_t, right_t).v_dot
    turned = np.array([Y @ a for Y in candidates.lifts]).T.reshape(-1, k)
    at_position = x.A[equations.is_position] @ W
    rates = x.psi_pi @ W + x.A[equations.is_rated] @ y
    at_position[:, -1] += by_time["phi"]
    rates[:, -1] += by_time["rate"]
    size = 1.0 + float(np.abs(a).max(initial=0.0)) + float(np.abs(changed).max(initial=0.0))
    return np.vstack([at_position, rates, (changed - turned) / size])


def _sparse_columns(Z: FloatArray) -> FloatArray:
    """A basis of the same space with many zeros: each column has an entry that the others lack."""
    from scipy.linalg import qr

    if not Z.shape[1]:
        return Z
    decomposed: Any = qr(Z.T, pivoting=True)
    order = decomposed[2]
    chosen = np.sort(order[: Z.shape[1]])
    found = np.linalg.solve(Z[chosen].T, Z.T).T
    return np.where(np.abs(found) < 1e-12, 0.0, found)
