"""Programs for forces at saved states: accelerations, multipliers and reactions as one expression.

For rows that act, which are independent, and rows that are gone, which depend on them, G = X A:

    M v̇ = Q + C + Aᵀλ,   A v̇ = b           solved as in `factor`, and corrected by the residual
    λ_G = (1 + X Xᵀ)⁻¹ X λ,   λ − Xᵀ λ_G      the multipliers of least norm of all rows

With the numbers come their doubts: the size of the last correction, and by how much rows that are
gone are no combinations of the others. Where one is too large another choice of rows, or a solution
by dense matrices, has to be taken; see `zwang.results.forces`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zwang.codegen.kernel import compile as compile_kernel
from zwang.programs.at_states import SIDE_BY_SIDE
from zwang.programs.factor import Factor, ProgramExpressions, accelerate, entries_of

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.kernel import Kernel

__all__ = ["DOUBTS", "ForceExpressions", "force_kernel", "solved"]

#: Corrections by the residual. The first has nearly all that elimination without pivoting loses;
#: the second tells what it left.
CORRECTIONS = 2
#: Multipliers and accelerations that are next to nothing beside the forces that act, by this share,
#: are judged by the latter: of the forces of a chain in free fall no digit is known.
NEXT_TO_NOTHING = 1e-3
#: Added to what is divided by and may be zero.
TINY = 1e-300
#: Numbers that the output begins with.
DOUBTS = 2
#: Number of the parameters among the inputs of the kernel.
_PARAMETERS = 3


@dataclass(frozen=True)
class ForceExpressions:
    """What forces are computed from, as expressions of the symbols q, v, t, p.

    Attributes
    ----------
    M, Q, A, b, C : the terms, with all rows.
    multipliers, pressures : of a law of the reaction, see `ProgramExpressions`; else None.
    gone : numbers of the rows that depend on the others; none where there is a law.
    singular_mass : whether M is singular.
    independent : whether rows cannot depend on each other.
    """

    q: casadi.SX
    v: casadi.SX
    t: casadi.SX
    p: casadi.SX
    M: casadi.SX
    Q: casadi.SX
    A: casadi.SX
    b: casadi.SX
    C: casadi.SX
    multipliers: casadi.SX | None
    pressures: tuple[casadi.SX, casadi.SX, casadi.SX] | None
    gone: tuple[int, ...]
    singular_mass: bool
    independent: bool

    @property
    def acting(self) -> list[int]:
        """Numbers of the rows that act."""
        return [i for i in range(self.A.shape[0]) if i not in self.gone]


def force_kernel(f: ForceExpressions) -> Kernel:
    """(q, v, t, p) → doubts, v̇, λ of all rows, Aᵀλ + C, side by side for several states.

    The doubts are the size of the last correction, and how far rows that are gone are independent.
    """
    import casadi as ca

    a, whole, doubt, apart = _solution(f)
    C = f.C if f.multipliers is None else ca.substitute(f.C, f.multipliers, whole)
    parts = [doubt, apart, a, whole, ca.mtimes(f.A.T, whole) + C]
    output = ca.vertcat(*(ca.densify(part) for part in parts))
    function = ca.Function("forces", [f.q, f.v, f.t, f.p], [output])
    return compile_kernel(function, lanes=SIDE_BY_SIDE, shared=[_PARAMETERS])


def solved(f: ForceExpressions) -> tuple[casadi.SX, casadi.SX]:
    """v̇ and λ of all rows, of least norm, as expressions."""
    return _solution(f)[:2]


def _solution(f: ForceExpressions) -> tuple[casadi.SX, casadi.SX, casadi.SX, casadi.SX]:
    """v̇, λ of all rows, and the two doubts."""
    e = _program(f)
    a, lam, factor = accelerate(e)
    assert factor is not None
    a, lam, doubt = _corrected(f, e, factor, (a, lam))
    X, apart = _combinations(f, e, factor)
    return a, _least(f, lam, X), doubt, apart


def _corrected(
    f: ForceExpressions, e: ProgramExpressions, factor: Factor, first: tuple[casadi.SX, casadi.SX]
) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    """v̇, λ of the rows that act, and the size of the last correction, relative."""
    import casadi as ca

    a, lam = first
    law = f.multipliers is not None
    # A law has been satisfied by Newton's method: one more answer only tells how well.
    force = e.force if f.multipliers is None else e.force + ca.substitute(f.C, f.multipliers, lam)
    da, dlam = ca.SX.zeros(a.shape), ca.SX.zeros(lam.shape)
    for _ in range(1 if law or f.independent else CORRECTIONS):
        r1 = force + ca.mtimes(e.A.T, lam) - ca.mtimes(e.M, a)
        r2 = e.b - ca.mtimes(e.A, a)
        da, dlam = factor.solve(r1, r2)
        if not law:
            a, lam = a + da, lam + dlam
    acting = NEXT_TO_NOTHING * (_size(force) + _size(ca.mtimes(e.M, a))) + TINY
    doubt = _size(da) / (_size(a) + acting / _size(ca.diag(e.M)))
    if f.acting:
        doubt = ca.fmax(doubt, _size(dlam) / (_size(lam) + acting / (_size(ca.vec(e.A)) + TINY)))
    return a, lam, doubt


def _program(f: ForceExpressions) -> ProgramExpressions:
    """What `factor` asks for, of the rows that act; of positions and rates it sees nothing."""
    import casadi as ca

    acting, none = f.acting, ca.SX(0, 1)
    law = f.multipliers is not None
    assert not (law and f.gone), "a law looks at the multipliers of all rows"
    A = f.A[acting, :] if acting else ca.SX(0, f.v.numel())
    b = f.b[acting] if acting else none
    M, force = f.M, f.Q if law else f.Q + f.C
    if f.singular_mass and acting:
        # With A v̇ = b the same v̇ and λ solve M + α AᵀA, Q + α Aᵀb; where v̇ is unique, that mass is
        # positive definite.
        share = ca.trace(M) / (ca.sumsqr(A) + TINY)
        M = M + share * ca.mtimes(A.T, A)
        force = force + share * ca.mtimes(A.T, b)
    return ProgramExpressions(
        *(f.q, f.v, f.t, f.p, none, none, M),
        force=force,
        A=A,
        b=b,
        phi=none,
        A_position=none,
        psi=none,
        A_rate=none,
        value_of_row=none,
        rate_of_row=none,
        levels=(),
        checked=(none, none),
        independent=True,
        multipliers=f.multipliers,
        law=f.C if law else None,
        pressures=f.pressures,
    )


def _combinations(
    f: ForceExpressions, e: ProgramExpressions, factor: Factor
) -> tuple[casadi.SX, casadi.SX]:
    """X with G = X A for the rows G that are gone, (gone, acting), and what is left of them."""
    import casadi as ca

    if not f.gone:
        return ca.SX(0, len(f.acting)), ca.SX(0)
    none = ca.SX.zeros(e.A.shape[0], 1)
    rows, apart = [], ca.SX(0)
    for k in f.gone:
        row = f.A[k, :].T
        x = -factor.solve(row, none)[1]
        left = row - ca.mtimes(e.A.T, x)
        x = x - factor.solve(left, none)[1]
        left = row - ca.mtimes(e.A.T, x)
        apart = ca.fmax(apart, _size(left) / (_size(row) + TINY))
        rows.append(x.T)
    return ca.vertcat(*rows), apart


def _least(f: ForceExpressions, lam: casadi.SX, X: casadi.SX) -> casadi.SX:
    """λ of all rows, of least norm, from those of the rows that act."""
    import casadi as ca

    if not f.gone:
        return lam
    S = ca.SX.eye(len(f.gone)) + ca.mtimes(X, X.T)
    of_gone = _positive_solution(S, ca.mtimes(X, lam))
    whole = ca.SX.zeros(f.A.shape[0], 1)
    whole[list(f.gone)] = of_gone
    whole[f.acting] = lam - ca.mtimes(X.T, of_gone)
    return whole


def _positive_solution(S: casadi.SX, y: casadi.SX) -> casadi.SX:
    """S⁻¹ y of a positive definite S, by L D Lᵀ."""
    import casadi as ca

    n, x = S.shape[0], entries_of(y)
    low: dict[tuple[int, int], casadi.SX] = {}
    d: list[casadi.SX] = []
    for j in range(n):
        d.append(S[j, j] - sum((low[j, k] ** 2 * d[k] for k in range(j)), ca.SX(0)))
        for i in range(j + 1, n):
            inner = sum((low[i, k] * low[j, k] * d[k] for k in range(j)), ca.SX(0))
            low[i, j] = (S[i, j] - inner) / d[j]
    for i in range(n):
        for j in range(i):
            x[i] = x[i] - low[i, j] * x[j]
    for i in reversed(range(n)):
        x[i] = x[i] / d[i]
        for j in range(i + 1, n):
            x[i] = x[i] - low[j, i] * x[j]
    return ca.vertcat(*x)


def _size(x: casadi.SX) -> casadi.SX:
    """|x|, and 0 of nothing."""
    import casadi as ca

    return ca.sqrt(ca.sumsqr(x)) if x.numel() else ca.SX(0)
