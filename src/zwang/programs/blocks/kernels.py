"""Block programs: the kernels of bodies, elements and couplings that large systems are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from zwang.programs.blocks.algebra import Pivot, inverse, packed, solve_lower, symmetric
from zwang.programs.blocks.layout import ElementType, NodeType
from zwang.programs.factor import MASS_SHIFT

if TYPE_CHECKING:
    import casadi

__all__ = [
    "Ends",
    "block_sizes",
    "column",
    "constraint",
    "corrected",
    "force",
    "freely",
    "kicked",
    "missed",
    "misses",
    "node",
    "node_rate",
    "node_sizes",
    "pair",
    "placed_config",
    "placed_node",
    "pulled",
    "rates",
    "residual",
    "shifted_node",
    "unit_miss",
]


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Remember results with the type they are made from, its first argument."""

    @wraps(function)
    def wrapper(kind: Any, *arguments: Any, **choices: bool) -> Any:
        key = (function.__name__, *arguments, *choices.values())
        found = kind.memo.get(key)
        if found is None:
            found = kind.memo[key] = function(kind, *arguments, **choices)
        return found

    return wrapper


def inverse_pattern(kind: NodeType) -> casadi.Sparsity:
    """Where the inverse of a node's mass block has entries."""
    return _terms_of(kind)["W"].sparsity()


@remembered
def node_sizes(kind: NodeType) -> dict[str, int]:
    """Numbers of entries of what belongs to a node, those of velocities not among them."""
    sizes = {"config": kind.config, "q_dot": kind.nq, "unit_q": kind.nq}
    return {**sizes, "W": inverse_pattern(kind).nnz(), "M": mass_pattern(kind).nnz()}


def mass_pattern(kind: NodeType) -> casadi.Sparsity:
    """Where a node's mass block has entries."""
    return _terms_of(kind)["M"].sparsity()


@remembered
def _terms_of(kind: NodeType) -> dict[str, casadi.SX]:
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", kind.terms.sparsity_in(k)) for k in range(4)]
    config, N, M, f = kind.terms.call(inputs)
    q, v, data, shared = inputs
    full = M + ca.diag(_raised(M, kind.shift)) if kind.shift else M
    return {
        "q": q,
        "v": v,
        "data": data,
        "shared": shared,
        "config": ca.densify(config),
        "N": N,
        "q_dot": ca.densify(ca.mtimes(N, v)),
        "M": M,
        "W": inverse(full),
        "f": ca.densify(f),
    }


def _raised(M: casadi.SX, shift: tuple[float, ...]) -> casadi.SX:
    """What is added to the diagonal of a mass block: a share of it, or the shift where it is zero.

    The turns of a point have a share of its mass, which may be light beside others.
    """
    import casadi as ca

    diagonal = ca.densify(ca.diag(M))
    mass = MASS_SHIFT / shift[0] * diagonal[0]
    own = mass + (mass == 0.0)
    return MASS_SHIFT * diagonal + (diagonal == 0.0) * own * ca.SX(list(shift))


@remembered
def node(kind: NodeType) -> casadi.Function:
    """(q, v, data, shared) → config, q̇, force, inverse mass, and M where that is shifted."""
    import casadi as ca

    t = _terms_of(kind)
    outputs = [t["config"], t["q_dot"], t["f"], t["W"], *([t["M"]] if kind.shift else [])]
    return ca.Function("node", [t["q"], t["v"], t["data"], t["shared"]], outputs)


@remembered
def node_rate(kind: NodeType) -> casadi.Function:
    """(q, v) → q̇."""
    import casadi as ca

    t = _terms_of(kind)
    return ca.Function("node_rate", [t["q"], t["v"]], [t["q_dot"]])


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


#: Ends of constraints at a node, each by the type of the constraint, which of its nodes it is, and
#: whether its block is full rather than of the pattern of A.
Ends = tuple[tuple["ElementType", int, bool], ...]


def pull_of(ends: Ends, size: int) -> tuple[casadi.SX, list[casadi.SX]]:
    """Σ Aᵀλ of some ends, and the symbols (A, λ)… it takes."""
    import casadi as ca

    total, inputs = ca.SX.zeros(size, 1), []
    for k, (kind, place, full) in enumerate(ends):
        pattern = block_patterns(kind)[place]
        A = ca.SX.sym(f"A{k}", *pattern.shape) if full else ca.SX.sym(f"A{k}", pattern)
        lam = ca.SX.sym(f"lam{k}", kind.rows)
        total = total + ca.mtimes(A.T, lam)
        inputs += [A, lam]
    return total, inputs


@remembered
def pulled(kind: NodeType, ends: Ends) -> casadi.Function:
    """(f, (A, λ)…) → f + Σ Aᵀλ."""
    import casadi as ca

    f = ca.SX.sym("f", kind.nv)
    pull, inputs = pull_of(ends, kind.nv)
    return ca.Function("pulled", [f, *inputs], [ca.densify(f + pull)])


@remembered
def freely(kind: NodeType, ends: Ends) -> casadi.Function:
    """(W, f, (A, λ)…) → W (f + Σ Aᵀλ)."""
    import casadi as ca

    W = ca.SX.sym("W", inverse_pattern(kind))
    f = ca.SX.sym("f", kind.nv)
    pull, inputs = pull_of(ends, kind.nv)
    return ca.Function("freely", [W, f, *inputs], [ca.densify(ca.mtimes(W, f + pull))])


@remembered
def kicked(kind: NodeType, ends: Ends) -> casadi.Function:
    """(v, W, f, (A, λ)…) → v + W (f + Σ Aᵀλ)."""
    import casadi as ca

    v, f = ca.SX.sym("v", kind.nv), ca.SX.sym("f", kind.nv)
    W = ca.SX.sym("W", inverse_pattern(kind))
    pull, inputs = pull_of(ends, kind.nv)
    return ca.Function("kicked", [v, W, f, *inputs], [ca.densify(v + ca.mtimes(W, f + pull))])


@remembered
def corrected(kind: NodeType, ends: Ends) -> casadi.Function:
    """(v̇, M, W, f, (A, λ)…) → v̇ + W (f + Σ Aᵀλ − M v̇), where W is not the inverse of M."""
    import casadi as ca

    a, f = ca.SX.sym("a", kind.nv), ca.SX.sym("f", kind.nv)
    M, W = ca.SX.sym("M", mass_pattern(kind)), ca.SX.sym("W", inverse_pattern(kind))
    pull, inputs = pull_of(ends, kind.nv)
    shortfall = f + pull - ca.mtimes(M, a)
    better = ca.densify(a + ca.mtimes(W, shortfall))
    return ca.Function("corrected", [a, M, W, f, *inputs], [better])


@remembered
def shifted_node(kind: NodeType, ends: Ends) -> casadi.Function:
    """(q, W, f, (A, λ)…) → q + N W (f + Σ Aᵀλ), and its config."""
    import casadi as ca

    t = _terms_of(kind)
    W = ca.SX.sym("W", inverse_pattern(kind))
    f = ca.SX.sym("f", kind.nv)
    pull, inputs = pull_of(ends, kind.nv)
    q = ca.densify(t["q"] + ca.mtimes(t["N"], ca.mtimes(W, f + pull)))
    config = ca.substitute(t["config"], t["q"], q)
    return ca.Function("shifted_node", [t["q"], W, f, *inputs], [q, config])


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
def inputs_of(kind: ElementType) -> list[casadi.SX]:
    import casadi as ca

    return [ca.SX.sym(f"i{k}", kind.terms.sparsity_in(k)) for k in range(kind.terms.n_in())]


@remembered
def equations_of(kind: ElementType) -> tuple[casadi.SX, ...]:
    """φ, ψ, b, A… of a constraint."""
    return tuple(kind.terms.call(inputs_of(kind)))


def block_patterns(kind: ElementType) -> list[casadi.Sparsity]:
    """Where each block of A has entries."""
    return [A.sparsity() for A in equations_of(kind)[3:]]


@remembered
def block_sizes(kind: ElementType) -> list[int]:
    """How many entries each block of A has."""
    return [pattern.nnz() for pattern in block_patterns(kind)]


@remembered
def force(kind: ElementType) -> casadi.Function:
    """(config…, v…, t, numbers, shared) → force on each node."""
    import casadi as ca

    _, *forces = kind.terms.call(inputs_of(kind))
    kept = [ca.densify(f) for f, node_ in zip(forces, kind.kinds, strict=True) if node_]
    return ca.Function("force", inputs_of(kind), kept)


def moving_nodes(kind: ElementType) -> list[int]:
    """Which of an element's nodes are no ground."""
    return [k for k, node_ in enumerate(kind.kinds) if node_ is not None]


@remembered
def constraint(kind: ElementType, purpose: str, *, sized: bool, with_b: bool) -> casadi.Function:
    """A…, S = Σ A W Aᵀ, what stands on the right, and the diagonal of S and b if asked for.

    The inputs go on, for each node, with

        accelerate   W, f        c = b − Σ A W f
        place        W           c = −φ, or 0 at velocity level
        settle       W, v̇, M     c = −Σ A (v̇ − W M v̇), of nodes where W is not the inverse of M
    """
    import casadi as ca

    phi, _, b, *blocks = equations_of(kind)
    moving = moving_nodes(kind)
    more: list[casadi.SX] = []
    S, c = ca.SX.zeros(kind.rows, kind.rows), ca.SX.zeros(kind.rows, 1)
    if purpose == "accelerate":
        c = b
    elif purpose == "place" and kind.position:
        c = -phi
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
        elif purpose == "settle" and node_.shift:
            a, M = ca.SX.sym(f"a{k}", node_.nv), ca.SX.sym(f"M{k}", mass_pattern(node_))
            more += [a, M]
            c = c - ca.mtimes(blocks[k], a) + ca.mtimes(AW, ca.mtimes(M, a))
    outputs = [*(blocks[k] for k in moving), packed(S), ca.densify(c)]
    outputs += [ca.diag(S)] if sized else []
    outputs += [ca.densify(b)] if purpose == "accelerate" and with_b else []
    return ca.Function("constraint", [*inputs_of(kind), *more], outputs)


@remembered
def missed(kind: ElementType) -> casadi.Function:
    """(b, (A, v̇)…) → b − Σ A v̇."""
    import casadi as ca

    patterns = block_patterns(kind)
    c = ca.SX.sym("b", kind.rows)
    inputs = [c]
    for k in moving_nodes(kind):
        node_ = kind.kinds[k]
        assert node_ is not None
        A, a = ca.SX.sym(f"A{k}", patterns[k]), ca.SX.sym(f"a{k}", node_.nv)
        inputs += [A, a]
        c = c - ca.mtimes(A, a)
    return ca.Function("missed", inputs, [ca.densify(c)])


@remembered
def rates(kind: ElementType) -> casadi.Function:
    """−ψ."""
    import casadi as ca

    return ca.Function("rates", inputs_of(kind), [ca.densify(-equations_of(kind)[1])])


@remembered
def residual(kind: ElementType) -> casadi.Function:
    """φᵢ/max(1, |Aᵢ| |q|), at position level, and ψᵢ/max(1, |Aᵢ| |v|), of its own nodes."""
    import casadi as ca

    phi, psi, _, *blocks = equations_of(kind)
    inputs, count = inputs_of(kind), len(kind.kinds)
    squares = sum(
        (ca.sum2(blocks[k] * blocks[k]) for k in moving_nodes(kind)), ca.SX.zeros(kind.rows, 1)
    )
    lengths = ca.sqrt(squares)
    size_q = ca.sqrt(sum((ca.sumsqr(x) for x in inputs[:count]), ca.SX(0)))
    size_v = ca.sqrt(sum((ca.sumsqr(x) for x in inputs[count : 2 * count]), ca.SX(0)))
    outputs = [ca.densify(psi / ca.fmax(1.0, lengths * size_v))]
    if kind.position:
        outputs.insert(0, ca.densify(phi / ca.fmax(1.0, lengths * size_q)))
    return ca.Function("residual", inputs, outputs)


@remembered
def misses(kind: ElementType) -> casadi.Function:
    """φ, at position level, and ψ."""
    import casadi as ca

    phi, psi, *_ = equations_of(kind)
    outputs = [phi, psi] if kind.position else [psi]
    return ca.Function("misses", inputs_of(kind), [ca.densify(x) for x in outputs])


@remembered
def pair(first: ElementType, i: int, second: ElementType, j: int, *, more: bool) -> casadi.Function:
    """(A of the first, W, A of the second) → A₂ W A₁ᵀ, their coupling through a common node.

    With `more` the coupling through another node comes last and is added.
    """
    import casadi as ca

    C, inputs = _coupling(first, i, second, j)
    if more:
        before = ca.SX.sym("C", second.rows, first.rows)
        return ca.Function("pair", [*inputs, before], [before + C])
    return ca.Function("pair", inputs, [C])


def _coupling(
    first: ElementType, i: int, second: ElementType, j: int
) -> tuple[casadi.SX, list[casadi.SX]]:
    import casadi as ca

    node_ = first.kinds[i]
    assert node_ is not None
    A = ca.SX.sym("A", block_patterns(first)[i])
    B = ca.SX.sym("B", block_patterns(second)[j])
    W = ca.SX.sym("W", inverse_pattern(node_))
    return ca.densify(ca.mtimes(ca.mtimes(B, W), A.T)), [A, W, B]


@remembered
def column(
    first: ElementType,
    i: int,
    second: ElementType,
    j: int,
    *,
    regular: bool,
    kept: bool,
    sized: bool,
    once: bool,
) -> casadi.Function:
    """A column with one block below its diagonal, in one go; most columns of trees are like that.

    Inputs of `Pivot`, of `pair`, S and c of the second; outputs of `Pivot`, the block P of the
    factor, and S − P D Pᵀ and c − P y of the second.
    """
    import casadi as ca

    pivot = Pivot(first.rows, regular=regular, kept=kept, sized=sized, once=once)
    C, inputs = _coupling(first, i, second, j)
    half, S = symmetric(second.rows)
    c = ca.SX.sym("c2", second.rows)
    X = solve_lower(pivot.L, C.T).T
    P = ca.mtimes(X, ca.diag(pivot.inverse))
    outputs = [ca.densify(P), packed(S - ca.mtimes(P, X.T)), c - ca.mtimes(P, pivot.y)]
    return ca.Function("column", [*pivot.inputs, *inputs, half, c], [*pivot.outputs, *outputs])
