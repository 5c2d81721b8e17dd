"""Modes of large mechanisms at rest, element by element and without dense matrices.

With K = E_π, B = E_v and rows A, eigenvalues s of M π̈ + B π̇ + K π = Aᵀλ, A π = 0 nearest to a
shift σ are those of (𝒜 − σ)⁻¹ that are largest: for (π₀, v₀) it gives (π, π₀ + σ π) with

    (K + σ B + σ² M) π − Aᵀλ = −M v₀ − (B + σ M) π₀,     A π = 0

so that one sparse factor of the left side serves all steps of Arnoldi's method (ARPACK).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.modes import Mode
from zwang.caching import computed_once
from zwang.errors import InputError, NotApplicableError, shown
from zwang.linalg.rank import inverse_power_of_two
from zwang.multibody.element import Arguments, Element
from zwang.multibody.element_batches import Bulk
from zwang.multibody.pose import config_rate
from zwang.state import State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["SparseLinearization", "sparse_linearization"]

#: Regularization of the rows, which redundant ones need, relative; refined away.
DELTA, REFINEMENTS = 1e-10, 3
#: Share of all forces that may be left at rest.
AT_REST = 1e-7
#: The shift, where none is given, in units of a typical frequency: next to zero, and not on it.
NEXT_TO_ZERO = 1e-3


class SparseTerms(NamedTuple):
    """M, K = E_π, B = E_v and A at rest, sparse, and the state."""

    M: Any
    K: Any
    B: Any
    A: Any
    q: FloatArray


@dataclass(frozen=True)
class SparseLinearization:
    """Small motions of a large mechanism about rest, for its modes.

    Attributes
    ----------
    state : that about which it is.
    mass, stiffness, damping, rows : sparse matrices of M π̈ + B π̇ + K π = Aᵀλ, A π = 0 in the
        displacements of all bodies.
    """

    state: State
    mass: Any = field(repr=False)
    stiffness: Any = field(repr=False)
    damping: Any = field(repr=False)
    rows: Any = field(repr=False)
    _equations: EquationsOf = field(repr=False)
    _bulk: Bulk = field(repr=False)

    def modes(self, count: int = 20, near: complex = 0.0) -> list[Mode]:
        """Modes by rising frequency, those whose eigenvalues are nearest to a number.

        Parameters
        ----------
        count : how many eigenvalue pairs at most.
        near : an eigenvalue [1/s]: 0 for the lowest frequencies, ``100j`` for those near 100 rad/s.
        """
        from scipy.sparse import linalg

        n = self.mass.shape[0]
        if not isinstance(count, int | np.integer) or not 0 < count < n // 2:
            raise InputError("count", found=shown(count), expected=f"1 to {n // 2 - 1} modes")
        sigma = complex(near)
        if abs(sigma) < NEXT_TO_ZERO * self._typical:
            sigma = complex(NEXT_TO_ZERO * self._typical)
        sigma_or_real: Any = sigma if sigma.imag else sigma.real
        solve = self._inverse(sigma_or_real)
        dtype = complex if sigma.imag else float
        arpack: Any = linalg
        operator = arpack.LinearOperator((2 * n, 2 * n), matvec=solve, dtype=dtype)
        start = solve(np.random.default_rng(0).standard_normal(2 * n).astype(dtype))
        pairs = 2 * count if not sigma.imag else count
        values, vectors = arpack.eigs(operator, k=pairs, v0=start, tol=1e-13)
        found = []
        for theta, z in zip(values, vectors.T, strict=True):
            s = sigma + 1.0 / theta
            if s.imag < -1e-9 * abs(s):
                continue
            found.append(self._mode(complex(s), z[:n]))
        return sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real))[:count]

    def _mode(self, s: complex, pi: FloatArray) -> Mode:
        q = np.asarray(self.state.q)
        moved = self._bulk.rates(q, np.ascontiguousarray(pi.real)) + 1j * self._bulk.rates(
            q, np.ascontiguousarray(pi.imag)
        )
        moved = moved / moved[int(np.abs(moved).argmax())]
        names = self._equations.system.coordinates
        return Mode(s, {n: complex(x) for n, x in zip(names, moved, strict=True)}, moved)

    @computed_once
    def _typical(self) -> float:
        """A typical frequency [rad/s]."""
        K, M = abs(self.stiffness).sum(), abs(self.mass).sum()
        return float(np.sqrt(K / M)) if K > 0.0 and M > 0.0 else 1.0

    def _inverse(self, sigma: Any) -> Any:
        """(𝒜 − σ)⁻¹ as a function of (π₀, v₀)."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        M, B, A = self.mass, self.damping, self.rows
        left = self.stiffness + sigma * B + sigma**2 * M
        n, m = M.shape[0], A.shape[0]
        size = float(abs(left).max()) if left.nnz else 1.0
        e = sparse.diags_array(size * inverse_power_of_two(np.sqrt((A**2).sum(axis=1))))
        rows = e @ A
        exact: Any = sparse.block_array([[left, -rows.T], [rows, None]], format="csc")
        loose: Any = sparse.block_array(
            [[left, -rows.T], [rows, DELTA * size * sparse.eye_array(m)]], format="csc"
        )
        factor = splu(loose)
        if m == 0:
            exact = loose
        beside = B + sigma * M

        def solve(x: FloatArray) -> FloatArray:
            pi, v = x[:n], x[n:]
            rhs = np.concatenate([-(M @ v) - beside @ pi, np.zeros(m)])
            y = factor.solve(rhs)
            for _ in range(REFINEMENTS):
                y = y + factor.solve(rhs - exact @ y)
            return np.concatenate([y[:n], pi + sigma * y[:n]])

        return solve

    def __str__(self) -> str:
        n, m = self.mass.shape[0], self.rows.shape[0]
        return (
            f"Linearization of a large mechanism: {n} velocities, {m} rows; modes(count) on call."
        )


def sparse_linearization(equations: EquationsOf, q: FloatArray) -> SparseLinearization:
    """Small motions of a large mechanism about rest."""
    parts = equations.parts
    if parts.friction or parts.teeth_act_on_motion or not equations.is_position.all():
        raise NotApplicableError(
            "linearization of a large mechanism",
            found="friction in joints"
            if parts.friction
            else "teeth that move their wheels"
            if parts.teeth_act_on_motion
            else "constraints on velocities",
            expected="joints without friction that restrict positions",
        )
    bulk = Bulk(parts)
    M, force, A = _terms(equations, bulk, q)
    lam = _reactions(M, A, force)
    _require_rest(equations, q, M, A, force, lam)
    K, B = _slopes(equations, bulk, q, lam)
    state = State(q, np.zeros(equations.nv), equations.t)
    return SparseLinearization(state, M, K, B, A, equations, bulk)


def _terms(equations: EquationsOf, bulk: Bulk, q: FloatArray) -> tuple[Any, FloatArray, Any]:
    """M, Q and A at rest."""
    from scipy import sparse

    at = q[None], np.zeros((1, equations.nv)), np.array([equations.t])
    masses, force, _, _ = bulk.bodies(at[0], at[1], equations.p)
    force = force + bulk.forces(*at, equations.p)[0]
    rows = bulk.rows(*at, equations.p)
    shape = (equations.rows, equations.nv)
    A = sparse.coo_array((rows.entries[0], (rows.rows, rows.columns)), shape=shape).tocsr()
    return sparse.block_diag([x[0] for x in masses], format="csr"), force[0], A


def _reactions(M: Any, A: Any, force: FloatArray) -> FloatArray:
    """λ with Aᵀλ = −Q, of rows that may be redundant, as far as they can."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    if not A.shape[0]:
        return np.zeros(0)
    weights = sparse.diags_array(1.0 / np.maximum(M.diagonal(), M.diagonal().mean() * 1e-6))
    S = A @ weights @ A.T
    e = sparse.diags_array(1.0 / np.sqrt(np.maximum(S.diagonal(), 1e-300)))
    scaled = e @ S @ e
    factor = splu((scaled + DELTA * sparse.eye_array(A.shape[0])).tocsc())
    lam = np.zeros(A.shape[0])
    for _ in range(REFINEMENTS + 1):
        lam = lam - e @ factor.solve(e @ (A @ (weights @ (force + A.T @ lam))))
    return lam


def _require_rest(
    equations: EquationsOf, q: FloatArray, M: Any, A: Any, force: FloatArray, lam: FloatArray
) -> None:
    left = force + A.T @ lam
    d = 1.0 / np.sqrt(np.maximum(M.diagonal(), M.diagonal().mean() * 1e-6))
    share = float(np.linalg.norm(d * left)) / max(float(np.linalg.norm(d * force)), 1e-300)
    if share > AT_REST:
        k = int(np.abs(d * left).argmax())
        raise InputError(
            "state",
            found=f"no equilibrium: {equations.system.velocities[k]} is driven by {left[k]:.6g} "
            f"({share:.1e} of all forces)",
            expected="a state in which all forces balance",
        )
    del q


def _slopes(equations: EquationsOf, bulk: Bulk, q: FloatArray, lam: FloatArray) -> tuple[Any, Any]:
    """K = E_π and B = E_v at rest, with reactions λ."""
    from scipy import sparse

    parts, n = equations.parts, equations.nv
    state = q[None], np.zeros((1, n)), np.array([equations.t])
    configs = bulk.configs(q[None])
    starts, first = parts.places[1], parts.row_starts
    groups: dict[Any, list[tuple[Element, FloatArray | None]]] = {}
    for i, element in enumerate(parts.constraints):
        groups.setdefault(element.law.key, []).append((element, lam[first[i] : first[i + 1]]))
    for element in parts.forces:
        groups.setdefault(element.law.key, []).append((element, None))
    entries: tuple[list[Any], list[Any], list[Any], list[Any]] = ([], [], [], [])
    for key, members in groups.items():
        elements = [element for element, _ in members]
        further = [np.array([x for _, x in members])] if members[0][1] is not None else []
        function = _element_slopes(parts, elements[0])
        found = bulk.evaluate(
            ("slopes", key), function, elements, state, equations.p, configs, further
        )
        nodes = [k for k, kind in enumerate(elements[0].law.kinds) if kind.nv]
        at = iter(found)
        for i in nodes:
            for j in nodes:
                by_pi, by_v = next(at)[:, 0], next(at)[:, 0]
                ni, nj = (elements[0].law.kinds[k].nv for k in (i, j))
                top = np.array([starts[e.bodies[i]] for e in elements])
                side = np.array([starts[e.bodies[j]] for e in elements])
                # CasADi's entries come column by column.
                r = top[:, None] + np.tile(np.arange(ni), nj)[None]
                c = side[:, None] + np.repeat(np.arange(nj), ni)[None]
                for store, x in zip(entries, (r, c, by_pi, by_v), strict=True):
                    store.append(x.ravel())
    if not entries[0]:
        none: Any = sparse.csr_array((n, n))
        return none, none
    r, c, K, B = (np.concatenate(x) for x in entries)
    return tuple(sparse.coo_array((x, (r, c)), shape=(n, n)).tocsr() for x in (K, B))  # type: ignore[return-value] - two matrices, as K and B


def _element_slopes(parts: Any, element: Element) -> casadi.Function:
    """Derivatives of −Aᵀλ, or of minus a force, on each body by motions of each, dense."""
    import casadi as ca

    law = element.law
    symbols = Arguments.of(law, parts.parameters)
    traced = parts.traced[law.key]
    results = traced.function.call(symbols.columns)
    further = []
    if traced.level == "force":
        efforts = [-x for x in results[1:]]
    else:
        lam = ca.SX.sym("lambda", traced.rows)
        further = [lam]
        efforts = [-ca.mtimes(block.T, lam) for block in results[3:]]
    outputs = []
    for i, kind_i in enumerate(law.kinds):
        for j, kind_j in enumerate(law.kinds):
            if not kind_i.nv or not kind_j.nv:
                continue
            c, v = symbols.configs[j], symbols.velocities[j]
            directions = ca.jacobian(config_rate(kind_j, c, v), v)
            by_pi = ca.mtimes(ca.jacobian(efforts[i], c), directions)
            outputs += [ca.densify(by_pi), ca.densify(ca.jacobian(efforts[i], v))]
    return ca.Function("slopes", [*symbols.columns, *further], outputs)
