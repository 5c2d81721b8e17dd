"""Block programs: algebra with small dense blocks, as expressions.

With the in-block factor K = L D Lᵀ (unit lower L) of a diagonal block of S,

    factor   S, c → L, D⁻¹, y = L⁻¹c               panel    S_lk, L, D⁻¹ → X = S_lk L⁻ᵀ, P = X D⁻¹
    update   S − P Xᵀ,  c − P y
    forward  y = L⁻¹(c − Σ P_j y_j)                 back     x = L⁻ᵀ(D⁻¹ y − Σ P_lᵀ x_l)

where P are the blocks of the factor below its diagonal.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zwang.codegen.casadi_operators import minus, plus, times
from zwang.programs.factor import DELTA

if TYPE_CHECKING:
    import casadi

__all__ = [
    "Pivot",
    "back",
    "factor",
    "forward",
    "inverse",
    "missing",
    "packed",
    "panel",
    "reduce_sum",
    "solve_lower",
    "symmetric",
    "update",
    "update_diagonal",
    "zeros",
]


def inverse(M: casadi.SX) -> casadi.SX:
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
            result[group, group] = _definite_inverse(M[group, group])
    return result


def _definite_inverse(M: casadi.SX) -> casadi.SX:
    """Inverse of a small positive definite matrix, through L D Lᵀ."""
    import casadi as ca

    n = M.shape[0]
    L, d = _ldl(M)
    columns = []
    for k in range(n):
        e = ca.SX.zeros(n, 1)
        e[k] = 1
        columns.append(_solve_upper(L, solve_lower(L, e) / d))
    return ca.horzcat(*columns)


def _ldl(S: casadi.SX, least: casadi.SX | None = None) -> tuple[casadi.SX, casadi.SX]:
    """S = L D Lᵀ, with pivots no smaller than the least that are allowed."""
    import casadi as ca

    n = S.shape[0]
    L, d = ca.SX.eye(n), ca.SX.zeros(n, 1)
    for j in range(n):
        d[j] = minus(S[j, j], _weighted(L[j, :], L[j, :], d, j))
        if least is not None:
            d[j] = ca.fmax(d[j], least[j])
        for i in range(j + 1, n):
            L[i, j] = minus(S[i, j], _weighted(L[i, :], L[j, :], d, j)) / d[j]
    return L, d


def _weighted(a: casadi.SX, b: casadi.SX, d: casadi.SX, count: int) -> casadi.SX:
    """Σ a_k b_k d_k."""
    import casadi as ca

    total = ca.SX(0)
    for k in range(count):
        total = plus(total, times(times(a[k], b[k]), d[k]))
    return total


def solve_lower(L: casadi.SX, c: casadi.SX) -> casadi.SX:
    """L⁻¹ c for columns c."""
    import casadi as ca

    x = ca.SX(c)
    for i in range(c.shape[0]):
        for k in range(i):
            x[i, :] = minus(x[i, :], times(L[i, k], x[k, :]))
    return x


def _solve_upper(L: casadi.SX, c: casadi.SX) -> casadi.SX:
    import casadi as ca

    x = ca.SX(c)
    n = c.shape[0]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i, :] = minus(x[i, :], times(L[k, i], x[k, :]))
    return x


@cache
def reduce_sum(size: int, count: int) -> casadi.Function:
    """Sum of several vectors; a copy of one."""
    import casadi as ca

    parts = [ca.SX.sym(f"g{k}", size) for k in range(count)]
    return ca.Function("reduce_sum", parts, [ca.densify(sum(parts, ca.SX.zeros(size, 1)))])


@cache
def zeros(size: int) -> casadi.Function:
    """() → zeros."""
    import casadi as ca

    return ca.Function("zeros", [], [ca.SX.zeros(size, 1)])


def packed(S: casadi.SX) -> casadi.SX:
    """The lower half of a symmetric matrix, column by column."""
    import casadi as ca

    n = S.shape[0]
    return ca.densify(ca.vertcat(*(S[i, j] for j in range(n) for i in range(j, n))))


def symmetric(r: int) -> tuple[casadi.SX, casadi.SX]:
    """Symbols for the lower half of a symmetric matrix, and the matrix."""
    import casadi as ca

    half = ca.SX.sym("S", r * (r + 1) // 2)
    S, k = ca.SX.zeros(r, r), 0
    for j in range(r):
        for i in range(j, r):
            S[i, j] = S[j, i] = half[k]
            k += 1
    return half, S


def _safe(size: casadi.SX) -> casadi.SX:
    """Sizes of rows, 1 for a row that vanishes: it keeps the pivot δ and gets no force."""
    return size + (size == 0.0)


@cache
def missing(r: int) -> casadi.Function:
    """(λ, size) → δR λ: what the regularised solution misses."""
    import casadi as ca

    lam, size = ca.SX.sym("lam", r), ca.SX.sym("size", r)
    return ca.Function("missing", [lam, size], [ca.densify(DELTA * _safe(size) * lam)])


class Pivot:
    """The first step of a column: S = L D Lᵀ and y = L⁻¹ c.

    The regularisation δ·size is added here, unless the rows are known to be independent; where they
    are but for singular positions (`kept`), no pivot is let below it instead.

    Attributes
    ----------
    inputs : S, c, and size if there are sizes.
    outputs : L below its diagonal, 1/D, y, and D/size if there are sizes; or only L and D⁻¹y where
        this right side is the only one.
    """

    def __init__(self, r: int, *, regular: bool, kept: bool, sized: bool, once: bool) -> None:
        import casadi as ca

        half, S = symmetric(r)
        c, size = ca.SX.sym("c", r), ca.SX.sym("size", r)
        if kept:
            self.L, d = _ldl(S, DELTA * _safe(size))
        else:
            self.L, d = _ldl(S if regular else S + DELTA * ca.diag(_safe(size)))
        self.inverse, self.y = 1.0 / d, solve_lower(self.L, c)
        low = [self.L[i, j] for j in range(r) for i in range(j + 1, r)]
        self.inputs = [half, c, *([size] if sized else [])]
        self.outputs = [ca.vertcat(*low) if low else ca.SX(0, 1)]
        self.outputs += [self.y * self.inverse] if once else [self.inverse, self.y]
        self.outputs += [d / _safe(size)] if sized else []


@cache
def factor(r: int, *, regular: bool, kept: bool, sized: bool, once: bool) -> casadi.Function:
    """A column by itself, or the first step of one: see `Pivot`."""
    import casadi as ca

    pivot = Pivot(r, regular=regular, kept=kept, sized=sized, once=once)
    return ca.Function("factor", pivot.inputs, pivot.outputs)


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
    """(S_lk, L, 1/D, y, c) → X = S_lk L⁻ᵀ, P = X D⁻¹, c − P y."""
    import casadi as ca

    S, d = ca.SX.sym("S", s, r), ca.SX.sym("d", r)
    y, c = ca.SX.sym("y", r), ca.SX.sym("c", s)
    low, L = _unpack(r)
    X = ca.densify(solve_lower(L, S.T).T)
    P = ca.densify(ca.mtimes(X, ca.diag(d)))
    return ca.Function("panel", [S, low, d, y, c], [X, P, c - ca.mtimes(P, y)])


@cache
def update_diagonal(s: int, r: int) -> casadi.Function:
    """S (s, s) − P (s, r) Xᵀ, both halves being equal."""
    import casadi as ca

    half, S = symmetric(s)
    P, X = ca.SX.sym("P", s, r), ca.SX.sym("X", s, r)
    return ca.Function("update_diagonal", [half, P, X], [packed(S - ca.mtimes(P, X.T))])


@cache
def update(s: int, u: int, r: int, *, first: bool) -> casadi.Function:
    """S (s, u) − P (s, r) Xᵀ, with X (u, r); without S where only fill puts a block."""
    import casadi as ca

    P, X = ca.SX.sym("P", s, r), ca.SX.sym("X", u, r)
    change = -ca.mtimes(P, X.T)
    if first:
        return ca.Function("update", [P, X], [change])
    S = ca.SX.sym("S", s, u)
    return ca.Function("update", [S, P, X], [S + change])


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
        rest = solve_lower(L, rest)
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
