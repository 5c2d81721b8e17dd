"""Statics and modes of large mechanisms: terms at rest, element by element, as sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.errors import NotApplicableError
from zwang.multibody.element import Arguments, Element
from zwang.multibody.element_batches import Bulk
from zwang.multibody.pose import config_rate
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = [
    "DELTA",
    "REFINEMENTS",
    "require_plain_joints",
    "sparse_reactions",
    "sparse_slopes",
    "sparse_terms",
]

#: Regularization of the rows, which redundant ones need, relative; refined away.
DELTA, REFINEMENTS = 1e-10, 3


def require_plain_joints(what: str, equations: EquationsOf) -> None:
    """Refuse friction, teeth and rows of velocities, which dense matrices alone can do."""
    parts = equations.parts
    if parts.friction or parts.teeth_act_on_motion or not equations.is_position.all():
        raise NotApplicableError(
            what,
            must="have joints without friction that restrict positions",
            but="there is friction in joints"
            if parts.friction
            else "there are teeth that move their wheels"
            if parts.teeth_act_on_motion
            else "there are constraints on velocities",
        )


def sparse_terms(equations: EquationsOf, bulk: Bulk, q: FloatArray) -> tuple[Any, FloatArray, Any]:
    """M, Q and A at rest."""
    from scipy import sparse

    at = q[None], np.zeros((1, equations.nv)), np.array([equations.t])
    masses, force, _, _ = bulk.bodies(at[0], at[1], equations.p)
    force = force + bulk.forces(*at, equations.p)[0]
    rows = bulk.rows(*at, equations.p)
    shape = (equations.rows, equations.nv)
    A = sparse.coo_array((rows.entries[0], (rows.rows, rows.columns)), shape=shape).tocsr()
    return sparse.block_diag([x[0] for x in masses], format="csr"), force[0], A


def sparse_reactions(M: Any, A: Any, force: FloatArray) -> FloatArray:
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


def sparse_slopes(
    equations: EquationsOf, bulk: Bulk, q: FloatArray, lam: FloatArray
) -> tuple[Any, Any]:
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
    by_pi, by_v = (sparse.coo_array((x, (r, c)), shape=(n, n)).tocsr() for x in (K, B))
    return by_pi, by_v


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
