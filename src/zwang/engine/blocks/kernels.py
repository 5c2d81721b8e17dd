"""The kernels that large systems are made of, as expressions: nodes, elements, block algebra.

Blocks of S = A M⁻¹ Aᵀ are dense and small. With the in-block factor K = L D Lᵀ (unit lower L),

    factor   S → L, D⁻¹, D/diag                    panel    S_lk, L, D⁻¹ → X = S_lk L⁻ᵀ, X D⁻¹
    update   S − P Xᵀ                              forward  y = L⁻¹(c − Σ P_j y_j)
    back     x = L⁻ᵀ(D⁻¹ y − Σ P_lᵀ x_l)

where P = X D⁻¹ are the blocks of the factor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from zwang.engine.blocks.structure import ElementType, NodeType
from zwang.engine.fused import DELTA

if TYPE_CHECKING:
    import casadi

__all__ = [
    "accelerate",
    "back",
    "constraint",
    "effort",
    "factor",
    "force",
    "forward",
    "node",
    "pair",
    "panel",
    "placed_node",
    "reduce_sum",
    "residual",
    "shifted_node",
    "update",
]


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Remember results with the type they are made from, its first argument."""

    @wraps(function)
    def wrapper(kind: Any, *arguments: Any) -> Any:
        key = (function.__name__, *arguments)
        if key not in kind.memo:
            kind.memo[key] = function(kind, *arguments)
        return kind.memo[key]

    return wrapper


def _inverse(M: casadi.SX) -> casadi.SX:
    """Inverse of a mass block, with its pattern: by entries where it is diagonal, else by parts."""
    import casadi as ca

    n = M.shape[0]
    result = ca.SX(n, n)
    seen: set[int] = set()
    for i in range(n):
        if i in seen:
            continue
        group = [j for j in range(n) if j == i or M.sparsity().has_nz(i, j)]
        seen |= set(group)
        if len(group) == 1:
            result[i, i] = 1.0 / M[i, i]
        else:
            result[group, group] = _symmetric_inverse(M[group, group])
    return result


def _symmetric_inverse(M: casadi.SX) -> casadi.SX:
    """Inverse of a small positive definite matrix, through L D Lᵀ."""
    import casadi as ca

    n = M.shape[0]
    L, d = _ldl(M)
    columns = []
    for k in range(n):
        e = ca.SX.zeros(n, 1)
        e[k] = 1
        columns.append(_solve_upper(L, _solve_lower(L, e) / d))
    return ca.horzcat(*columns)


def _ldl(S: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
    import casadi as ca

    n = S.shape[0]
    L, d = ca.SX.eye(n), ca.SX.zeros(n, 1)
    for j in range(n):
        d[j] = S[j, j] - sum((L[j, k] * L[j, k] * d[k] for k in range(j)), ca.SX(0))
        for i in range(j + 1, n):
            rest = S[i, j] - sum((L[i, k] * L[j, k] * d[k] for k in range(j)), ca.SX(0))
            L[i, j] = rest / d[j]
    return L, d


def _solve_lower(L: casadi.SX, c: casadi.SX) -> casadi.SX:
    import casadi as ca

    x = ca.SX(c)
    for i in range(c.shape[0]):
        for k in range(i):
            x[i, :] = x[i, :] - L[i, k] * x[k, :]
    return x


def _solve_upper(L: casadi.SX, c: casadi.SX) -> casadi.SX:
    import casadi as ca

    x = ca.SX(c)
    n = c.shape[0]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i, :] = x[i, :] - L[k, i] * x[k, :]
    return x


def inverse_pattern(kind: NodeType) -> casadi.Sparsity:
    """Where the inverse of a node's mass block has entries."""
    return _terms_of(kind)["W"].sparsity()


@remembered
def _terms_of(kind: NodeType) -> dict[str, casadi.SX]:
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", kind.terms.sparsity_in(k)) for k in range(4)]
    config, N, M, f = kind.terms.call(inputs)
    q, v, data, shared = inputs
    return {
        "q": q,
        "v": v,
        "data": data,
        "shared": shared,
        "config": ca.densify(config),
        "N": N,
        "q_dot": ca.densify(ca.mtimes(N, v)),
        "W": _inverse(M),
        "f": ca.densify(f),
    }


@remembered
def node(kind: NodeType) -> casadi.Function:
    """(q, v, data, shared) → config, q̇, force, inverse mass."""
    import casadi as ca

    t = _terms_of(kind)
    return ca.Function(
        "node", [t["q"], t["v"], t["data"], t["shared"]], [t["config"], t["q_dot"], t["f"], t["W"]]
    )


@remembered
def placed_node(kind: NodeType) -> casadi.Function:
    """(q, v, data, shared) → q of unit length, its config, inverse mass."""
    import casadi as ca

    t = _terms_of(kind)
    q = ca.SX(t["q"])
    if kind.unit:
        scale = 1.0 / ca.sqrt(sum((t["q"][k] ** 2 for k in kind.unit), ca.SX(0)))
        for k in kind.unit:
            q[k] = t["q"][k] * scale
    config = ca.substitute(t["config"], t["q"], q)
    return ca.Function("placed_node", [t["q"], t["v"], t["data"], t["shared"]], [q, config, t["W"]])


@remembered
def shifted_node(kind: NodeType, count: int) -> casadi.Function:
    """(q, W, efforts…) → q + N W Σ efforts, and its config."""
    import casadi as ca

    t = _terms_of(kind)
    W = ca.SX.sym("W", inverse_pattern(kind))
    efforts = [ca.SX.sym(f"g{k}", kind.nv) for k in range(count)]
    change = ca.mtimes(W, sum(efforts, ca.SX.zeros(kind.nv, 1)))
    q = ca.densify(t["q"] + ca.mtimes(t["N"], change))
    config = ca.substitute(t["config"], t["q"], q)
    return ca.Function("shifted_node", [t["q"], W, *efforts], [q, config])


@remembered
def accelerate(kind: NodeType, count: int) -> casadi.Function:
    """(a, W, efforts…) → a + W Σ efforts."""
    import casadi as ca

    W = ca.SX.sym("W", inverse_pattern(kind))
    a = ca.SX.sym("a", kind.nv)
    efforts = [ca.SX.sym(f"g{k}", kind.nv) for k in range(count)]
    total = sum(efforts, ca.SX.zeros(kind.nv, 1))
    return ca.Function("accelerate", [a, W, *efforts], [ca.densify(a + ca.mtimes(W, total))])


@remembered
def freely(kind: NodeType, count: int) -> casadi.Function:
    """(f, W, efforts…) → W (f + Σ efforts)."""
    import casadi as ca

    W = ca.SX.sym("W", inverse_pattern(kind))
    f = ca.SX.sym("f", kind.nv)
    efforts = [ca.SX.sym(f"g{k}", kind.nv) for k in range(count)]
    total = sum(efforts, f)
    return ca.Function("freely", [f, W, *efforts], [ca.densify(ca.mtimes(W, total))])


@cache
def reduce_sum(size: int, count: int) -> casadi.Function:
    """Sum of several vectors."""
    import casadi as ca

    parts = [ca.SX.sym(f"g{k}", size) for k in range(count)]
    return ca.Function("reduce_sum", parts, [ca.densify(sum(parts, ca.SX.zeros(size, 1)))])


@remembered
def unit_miss(kind: NodeType) -> casadi.Function:
    """(|q_g|² − 1)/2 of a node's unit group."""
    import casadi as ca

    q = ca.SX.sym("q", kind.nq)
    return ca.Function(
        "unit_miss", [q], [0.5 * (sum((q[k] ** 2 for k in kind.unit), ca.SX(0)) - 1.0)]
    )


@remembered
def placed_config(kind: NodeType) -> casadi.Function:
    """The configuration at coordinates as they are."""
    import casadi as ca

    t = _terms_of(kind)
    return ca.Function("placed_config", [t["q"]], [t["config"]])


# --- elements ------------------------------------------------------------------------------------


@remembered
def _inputs_of(kind: ElementType) -> list[casadi.SX]:
    import casadi as ca

    return [ca.SX.sym(f"i{k}", kind.terms.sparsity_in(k)) for k in range(kind.terms.n_in())]


@remembered
def _element(kind: ElementType) -> tuple[casadi.SX, ...]:
    """φ, ψ, b, A… of a constraint."""
    return tuple(kind.terms.call(_inputs_of(kind)))


def block_patterns(kind: ElementType) -> list[casadi.Sparsity]:
    """Where each block of A has entries."""
    return [A.sparsity() for A in _element(kind)[3:]]


@remembered
def force(kind: ElementType) -> casadi.Function:
    """(config…, v…, t, numbers, shared) → force on each node."""
    import casadi as ca

    _, *forces = kind.terms.call(_inputs_of(kind))
    kept = [ca.densify(f) for f, node_ in zip(forces, kind.kinds, strict=True) if node_]
    return ca.Function("force", _inputs_of(kind), kept)


def _moving(kind: ElementType) -> list[int]:
    """Which of an element's nodes are no ground."""
    return [k for k, node_ in enumerate(kind.kinds) if node_ is not None]


@remembered
def constraint(kind: ElementType, purpose: str) -> casadi.Function:
    """A…, S = Σ A W Aᵀ, and what stands on the right.

    For ``"accelerate"`` the inputs go on with (W, f) of each node and the right side is
    c = b − Σ A W f; for ``"place"`` with W and the right side is −φ, or 0 at velocity level.
    """
    import casadi as ca

    phi, _, b, *blocks = _element(kind)
    moving = _moving(kind)
    more: list[casadi.SX] = []
    S = ca.SX.zeros(kind.rows, kind.rows)
    c = b if purpose == "accelerate" else (-phi if kind.position else ca.SX.zeros(kind.rows, 1))
    for k in moving:
        node_ = kind.kinds[k]
        assert node_ is not None
        W = ca.SX.sym(f"W{k}", inverse_pattern(node_))
        more.append(W)
        AW = ca.mtimes(blocks[k], W)
        # A node may stand in several places of an element: they are coupled through it.
        for j in (j for j in moving if kind.same[j] == kind.same[k]):
            S = S + ca.mtimes(AW, blocks[j].T)
        if purpose == "accelerate":
            f = ca.SX.sym(f"f{k}", node_.nv)
            more.append(f)
            c = c - ca.mtimes(AW, f)
    outputs = [*(blocks[k] for k in moving), ca.densify(S), ca.densify(c)]
    return ca.Function("constraint", [*_inputs_of(kind), *more], outputs)


@remembered
def rates(kind: ElementType) -> casadi.Function:
    """−ψ."""
    import casadi as ca

    return ca.Function("rates", _inputs_of(kind), [ca.densify(-_element(kind)[1])])


@remembered
def residual(kind: ElementType) -> casadi.Function:
    """φᵢ/max(1, |Aᵢ| |q|), at position level, and ψᵢ/max(1, |Aᵢ| |v|), of its own nodes."""
    import casadi as ca

    phi, psi, _, *blocks = _element(kind)
    inputs, count = _inputs_of(kind), len(kind.kinds)
    squares = sum(
        (ca.sum2(blocks[k] * blocks[k]) for k in _moving(kind)), ca.SX.zeros(kind.rows, 1)
    )
    lengths = ca.sqrt(squares)
    size_q = ca.sqrt(sum((ca.sumsqr(x) for x in inputs[:count]), ca.SX(0)))
    size_v = ca.sqrt(sum((ca.sumsqr(x) for x in inputs[count : 2 * count]), ca.SX(0)))
    outputs = [ca.densify(psi / ca.fmax(1.0, lengths * size_v))]
    if kind.position:
        outputs.insert(0, ca.densify(phi / ca.fmax(1.0, lengths * size_q)))
    return ca.Function("residual", inputs, outputs)


@remembered
def effort(kind: ElementType) -> casadi.Function:
    """(A…, λ) → Aᵀλ on each moving node."""
    import casadi as ca

    patterns = block_patterns(kind)
    blocks = [ca.SX.sym(f"A{k}", patterns[k]) for k in _moving(kind)]
    lam = ca.SX.sym("lam", kind.rows)
    return ca.Function("effort", [*blocks, lam], [ca.densify(ca.mtimes(A.T, lam)) for A in blocks])


@remembered
def pair(first: ElementType, i: int, second: ElementType, j: int) -> casadi.Function:
    """(A of the first, W, A of the second) → A₂ W A₁ᵀ, their coupling through a common node."""
    import casadi as ca

    node_ = first.kinds[i]
    assert node_ is not None
    A = ca.SX.sym("A", block_patterns(first)[i])
    B = ca.SX.sym("B", block_patterns(second)[j])
    W = ca.SX.sym("W", inverse_pattern(node_))
    return ca.Function("pair", [A, W, B], [ca.densify(ca.mtimes(ca.mtimes(B, W), A.T))])


# --- block algebra -------------------------------------------------------------------------------


def _safe(size: casadi.SX) -> casadi.SX:
    """Sizes of rows, 1 for a row that vanishes: it keeps the pivot δ and gets no force."""
    return size + (size == 0.0)


@cache
def missing(r: int) -> casadi.Function:
    """(λ, size) → δR λ: what the regularised solution misses."""
    import casadi as ca

    lam, size = ca.SX.sym("lam", r), ca.SX.sym("size", r)
    return ca.Function("missing", [lam, size], [ca.densify(DELTA * _safe(size) * lam)])


@cache
def factor(r: int, *, regular: bool) -> casadi.Function:
    """(S, size) → L below its diagonal, 1/D, D/size; size the diagonal before any update.

    The regularisation δ·size is added here, unless the rows are known to be independent.
    """
    import casadi as ca

    S, size = ca.SX.sym("S", r, r), ca.SX.sym("size", r)
    safe = _safe(size)
    L, d = _ldl(S if regular else S + DELTA * ca.diag(safe))
    low = [L[i, j] for j in range(r) for i in range(j + 1, r)]
    return ca.Function(
        "factor", [S, size], [ca.vertcat(*low) if low else ca.SX(0, 1), 1.0 / d, d / safe]
    )


def _unpack(r: int) -> tuple[casadi.SX, casadi.SX]:
    """Symbols for the part of L below its diagonal, and L itself."""
    import casadi as ca

    low = ca.SX.sym("low", r * (r - 1) // 2)
    L = ca.SX.eye(r)
    k = 0
    for j in range(r):
        for i in range(j + 1, r):
            L[i, j] = low[k]
            k += 1
    return low, L


@cache
def panel(s: int, r: int) -> casadi.Function:
    """(S_lk, L, 1/D) → X = S_lk L⁻ᵀ, P = X D⁻¹."""
    import casadi as ca

    S, d = ca.SX.sym("S", s, r), ca.SX.sym("d", r)
    low, L = _unpack(r)
    X = _solve_lower(L, S.T).T
    return ca.Function("panel", [S, low, d], [ca.densify(X), ca.densify(ca.mtimes(X, ca.diag(d)))])


@cache
def update(s: int, u: int, r: int) -> casadi.Function:
    """S (s, u) − P (s, r) Xᵀ, with X (u, r)."""
    import casadi as ca

    S, P, X = ca.SX.sym("S", s, u), ca.SX.sym("P", s, r), ca.SX.sym("X", u, r)
    return ca.Function("update", [S, P, X], [S - ca.mtimes(P, X.T)])


@cache
def forward(r: int, sizes: tuple[int, ...], *, last: bool) -> casadi.Function:
    """(c, (P, y)…[, L]) → c − Σ P y, and through L⁻¹ at last."""
    import casadi as ca

    c = ca.SX.sym("c", r)
    rest, inputs = c, [c]
    for k, s in enumerate(sizes):
        P, y = ca.SX.sym(f"P{k}", r, s), ca.SX.sym(f"y{k}", s)
        rest = rest - ca.mtimes(P, y)
        inputs += [P, y]
    if last:
        low, L = _unpack(r)
        rest = _solve_lower(L, rest)
        inputs.append(low)
    return ca.Function("forward", inputs, [ca.densify(rest)])


@cache
def back(r: int, sizes: tuple[int, ...], *, first: bool, last: bool) -> casadi.Function:
    """(y[, 1/D], (P, x)…[, L]) → D⁻¹ y − Σ Pᵀ x, and through L⁻ᵀ at last."""
    import casadi as ca

    y = ca.SX.sym("y", r)
    rest, inputs = y, [y]
    if first:
        d = ca.SX.sym("d", r)
        rest = y * d
        inputs.append(d)
    for k, s in enumerate(sizes):
        P, x = ca.SX.sym(f"P{k}", s, r), ca.SX.sym(f"x{k}", s)
        rest = rest - ca.mtimes(P.T, x)
        inputs += [P, x]
    if last:
        low, L = _unpack(r)
        rest = _solve_upper(L, rest)
        inputs.append(low)
    return ca.Function("back", inputs, [ca.densify(rest)])


@cache
def first_update(s: int, u: int, r: int) -> casadi.Function:
    """−P Xᵀ: a block that only fill puts there."""
    import casadi as ca

    P, X = ca.SX.sym("P", s, r), ca.SX.sym("X", u, r)
    return ca.Function("first_update", [P, X], [-ca.mtimes(P, X.T)])


@cache
def diagonal(r: int) -> casadi.Function:
    """The diagonal of a block."""
    import casadi as ca

    S = ca.SX.sym("S", r, r)
    return ca.Function("diagonal", [S], [ca.diag(S)])
