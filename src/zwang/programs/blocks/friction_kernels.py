"""Block programs with friction: kernels of forces that depend on multipliers.

With B = A + (∂C/∂λ)ᵀ for the response to a multiplier, the blocks of S = A W Bᵀ are eliminated as

    D⁻¹,   P = S_lk D⁻¹,   S_lm − P S_km,   c_l − P c_k,   x_k = D⁻¹(c_k − Σ S_kl x_l).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zwang.programs.blocks.kernels import (
    Ends,
    block_patterns,
    equations_of,
    inputs_of,
    inverse_pattern,
    moving_nodes,
    pull_of,
    remembered,
)
from zwang.programs.factor import DELTA, LAW_TOLERANCE

if TYPE_CHECKING:
    import casadi

    from zwang.programs.blocks.layout import ElementType, LawType, NodeType

__all__ = [
    "agreed",
    "behind",
    "coupled",
    "diagonal",
    "eliminated",
    "inverted",
    "law",
    "stated",
    "substituted",
    "tally",
]


@remembered
def stated(kind: ElementType, *, sized: bool) -> casadi.Function:
    """A…, b and, if asked for, the diagonal of Σ A W Aᵀ; the inputs go on with W of each node."""
    import casadi as ca

    _, _, b, *blocks = equations_of(kind)
    size, weights = ca.SX.zeros(kind.rows, 1), []
    for k in moving_nodes(kind):
        node = kind.kinds[k]
        assert node is not None
        W = ca.SX.sym(f"W{k}", inverse_pattern(node))
        weights.append(W)
        for j in (j for j in moving_nodes(kind) if kind.same[j] == kind.same[k]):
            size = size + ca.sum2(ca.mtimes(blocks[k], W) * blocks[j])
    outputs = [*(blocks[k] for k in moving_nodes(kind)), ca.densify(b), *([size] if sized else [])]
    return ca.Function("stated", [*inputs_of(kind), *weights], outputs)


@remembered
def law(kind: LawType) -> casadi.Function:
    """(arguments of the constraint…, own numbers, λ) → C and then B, on each node."""
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", kind.terms.sparsity_in(k)) for k in range(kind.terms.n_in())]
    forces, element = kind.terms.call(inputs), kind.element
    _, _, _, *blocks = element.terms.call(inputs[:-2])
    moving = moving_nodes(element)
    B = [blocks[k] + ca.jacobian(forces[k], inputs[-1]).T for k in moving]
    outputs = [*(forces[k] for k in moving), *B]
    return ca.Function("law", inputs, [ca.densify(x) for x in outputs])


def _block(kind: ElementType, place: int, name: str, *, full: bool) -> casadi.SX:
    """Symbols for a block of A, or for one of B, which is full."""
    import casadi as ca

    pattern = block_patterns(kind)[place]
    return ca.SX.sym(name, *pattern.shape) if full else ca.SX.sym(name, pattern)


@remembered
def diagonal(kind: ElementType, *, full: bool, regular: bool) -> casadi.Function:
    """(A…, W…[, B…][, size]) → Σ A W Bᵀ + δ size; B is A where it is not `full`."""
    import casadi as ca

    moving = moving_nodes(kind)
    A = {k: _block(kind, k, f"A{k}", full=False) for k in moving}
    W = {k: ca.SX.sym(f"W{k}", _weights(kind, k)) for k in moving}
    B = {k: _block(kind, k, f"B{k}", full=True) for k in moving} if full else A
    size = ca.SX.sym("size", kind.rows)
    D = ca.SX.zeros(kind.rows, kind.rows)
    for k in moving:
        for j in (j for j in moving if kind.same[j] == kind.same[k]):
            D = D + ca.mtimes([A[k], W[k], B[j].T])
    if not regular:
        D = D + DELTA * ca.diag(size + (size == 0.0))  # a row that vanishes gets no force
    inputs = [*A.values(), *W.values(), *(B.values() if full else []), *([] if regular else [size])]
    return ca.Function("diagonal", inputs, [ca.densify(D)])


def _weights(kind: ElementType, k: int) -> casadi.Sparsity:
    node = kind.kinds[k]
    assert node is not None
    return inverse_pattern(node)


@remembered
def coupled(
    first: ElementType, i: int, second: ElementType, j: int, *, full: bool, more: bool
) -> casadi.Function:
    """(A of the first, W, B of the second[, before]) → A₁ W B₂ᵀ, through a common node."""
    import casadi as ca

    A, B = _block(first, i, "A", full=False), _block(second, j, "B", full=full)
    W = ca.SX.sym("W", _weights(first, i))
    C = ca.mtimes([A, W, B.T])
    before = ca.SX.sym("before", first.rows, second.rows)
    inputs = [A, W, B, *([before] if more else [])]
    return ca.Function("coupled", inputs, [ca.densify(before + C if more else C)])


@cache
def inverted(r: int) -> casadi.Function:
    """D⁻¹ of a small matrix, by Gauss–Jordan elimination."""
    import casadi as ca

    D = ca.SX.sym("D", r, r)
    beside = ca.horzcat(D, ca.SX.eye(r))
    rows = [[beside[i, j] for j in range(2 * r)] for i in range(r)]
    for k in range(r):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(r):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    inverse = ca.vertcat(*(ca.horzcat(*row[r:]) for row in rows))
    return ca.Function("inverted", [D], [ca.densify(inverse)])


@cache
def behind(s: int, r: int) -> casadi.Function:
    """(S_lk, D⁻¹, c_k, c_l) → P = S_lk D⁻¹, c_l − P c_k."""
    import casadi as ca

    S, D = ca.SX.sym("S", s, r), ca.SX.sym("D", r, r)
    c, own = ca.SX.sym("c", r), ca.SX.sym("own", s)
    P = ca.mtimes(S, D)
    return ca.Function("behind", [S, D, c, own], [P, own - ca.mtimes(P, c)])


@cache
def eliminated(s: int, u: int, r: int, *, first: bool) -> casadi.Function:
    """(P_lk, S_km[, S_lm]) → S_lm − P S_km; without S_lm where only fill puts a block."""
    import casadi as ca

    P, S, own = ca.SX.sym("P", s, r), ca.SX.sym("S", r, u), ca.SX.sym("own", s, u)
    change = ca.mtimes(P, S)
    if first:
        return ca.Function("eliminated", [P, S], [-change])
    return ca.Function("eliminated", [P, S, own], [own - change])


@cache
def substituted(r: int, sizes: tuple[int, ...], *, last: bool) -> casadi.Function:
    """(c, (S_kl, x_l)…[, D⁻¹]) → c − Σ S x, and times D⁻¹ at last."""
    import casadi as ca

    c, D = ca.SX.sym("c", r), ca.SX.sym("D", r, r)
    rest, inputs = c, [c]
    for k, s in enumerate(sizes):
        S, x = ca.SX.sym(f"S{k}", r, s), ca.SX.sym(f"x{k}", s)
        rest = rest - ca.mtimes(S, x)
        inputs += [S, x]
    if last:
        rest = ca.mtimes(D, rest)
        inputs.append(D)
    return ca.Function("substituted", inputs, [ca.densify(rest)])


@cache
def tally(r: int, *, lawful: bool) -> casadi.Function:
    """(gap and size so far, Δλ, λ) → the same with |Δλ|, where a law looks at λ, and |λ| added."""
    import casadi as ca

    before, change, lam = ca.SX.sym("before", 2), ca.SX.sym("change", r), ca.SX.sym("lam", r)
    gap = ca.norm_1(change) if lawful else ca.SX(0)
    return ca.Function("tally", [before, change, lam], [before + ca.vertcat(gap, ca.norm_1(lam))])


@remembered
def agreed(kind: NodeType, ends: Ends) -> casadi.Function:
    """(v̇, W, f, (B, Δλ)…, tally) → v̇ + W (f + Σ BᵀΔλ), NaN where law and reaction disagree."""
    import casadi as ca

    a, f = ca.SX.sym("a", kind.nv), ca.SX.sym("f", kind.nv)
    W, gap_size = ca.SX.sym("W", inverse_pattern(kind)), ca.SX.sym("tally", 2)
    pull, inputs = pull_of(ends, kind.nv)
    found = a + ca.mtimes(W, f + pull)
    apart = gap_size[0] > LAW_TOLERANCE * gap_size[1]
    checked = ca.if_else(apart, ca.SX(float("nan")), ca.densify(found))
    return ca.Function("agreed", [a, W, f, *inputs, gap_size], [ca.densify(checked)])
