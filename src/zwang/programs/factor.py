"""Programs of small systems: the whole solve as one expression, to be compiled into one kernel.

What the interpreter of a general solver would do at run time — look up entries, follow the pattern
of the factor, skip zeros — is done here once, on symbols: what remains is straight arithmetic.

The recipe, for M v̇ = f + Aᵀλ, A v̇ = b with rows of any rank:

1.  M̃ = M, or M with its diagonal raised by the share ε where M is singular; where it is zero, by ε
    of the mass of the same body, or of the mean: a light body keeps its mass, however heavy others
    are.
2.  K = [[M̃, Aᵀ], [A, −δ R]] with R = diag(Σⱼ a_ij²/M̃_jj), the size each row has in A M⁻¹ Aᵀ; it is
    quasi-definite, so that K = L D Lᵀ exists in any order, without pivoting.
3.  Solve, and correct once for δ, whose effect is known. For singular M, correct three times
    by the residual of the unregularised system. The answer has the Moore–Penrose acceleration
    to rounding; dependent rows share their force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from zwang.codegen.casadi_operators import dense, inverse, minus, plus, times
from zwang.programs.elimination import Elimination, analyse

if TYPE_CHECKING:
    import casadi

__all__ = [
    "DELTA",
    "MASS_SHIFT",
    "Factor",
    "ProgramExpressions",
    "accelerate",
    "entries_of",
    "law_slope",
    "least_norm",
    "project",
    "raised_diagonal",
    "seen_by",
    "sum_of_squares",
    "triplets",
]

#: Regularisation of the rows. One correction leaves a relative error of (δ/p)² where the pivots are
#: down to p, so a small δ lets stages come near a singular position: a distance σ from it, p is
#: about σ². Much smaller, and rounding decides whether redundant rows look independent.
DELTA = 1e-12

#: Mass given to every velocity where M is singular, relative to its own, to that of its body where
#: it has none, or to the mean of the diagonal where the body has none.
MASS_SHIFT = 1e-6


@dataclass(frozen=True)
class ProgramExpressions:
    """All a program computes from, as expressions of the symbols q, v, t, p.

    Attributes
    ----------
    q_dot : N v + n₀; `N` itself turns a change of velocity-like coordinates into one of q.
    M, force : mass matrix and Q + C.
    A, b : all constraint rows.
    phi, A_position : the position constraints and their rows φ_q N.
    psi, A_rate : rates of position and velocity constraints and their rows ψ_v.
    value_of_row, rate_of_row : φ, and φ̇ or ½ψ, for each row of A, zero where its level has none;
        with them stabilisation adds 2 r rate + r² value.
    levels : position, velocity or acceleration, for each row of A.
    checked : φ and ψ of all rows, those that do not act among them, whose size is told.
    unit : groups of coordinates that have unit length together and keep it by q̇ = N v.
    independent : whether no row can depend on others; then nothing is regularised.
    distinct : whether no row depends on others but in singular positions.
    singular_mass : whether M may be singular.
    of_body : the first velocity of its body, for each velocity; none where there are no bodies.
    multipliers, law : symbols λ and the non-ideal force C(q, v, t, p, λ) that depends on them, or
        None when `force` holds all of C.
    pressures : symbols n, their values as functions of λ, and the same law as one that is linear in
        n; or None.
    acceleration : v̇ where it is known and nothing constrains; M and force are not used then.
    """

    q: casadi.SX
    v: casadi.SX
    t: casadi.SX
    p: casadi.SX
    N: casadi.SX
    q_dot: casadi.SX
    M: casadi.SX
    force: casadi.SX
    A: casadi.SX
    b: casadi.SX
    phi: casadi.SX
    A_position: casadi.SX
    psi: casadi.SX
    A_rate: casadi.SX
    value_of_row: casadi.SX
    rate_of_row: casadi.SX
    levels: tuple[str, ...]
    checked: tuple[casadi.SX, casadi.SX]
    unit: tuple[tuple[int, ...], ...] = ()
    independent: bool = False
    distinct: bool = False
    singular_mass: bool = False
    of_body: tuple[int, ...] = ()
    multipliers: casadi.SX | None = None
    law: casadi.SX | None = None
    pressures: tuple[casadi.SX, casadi.SX, casadi.SX] | None = None
    acceleration: casadi.SX | None = None


class Factor:
    """L D Lᵀ of the regularised system, as expressions.

    Attributes
    ----------
    pivots : the row pivots relative to R, shape (m, 1): near 1 for a row by itself, near δ for one
        that depends on rows eliminated before it.
    sizes : R, zero for a row that vanishes, shape (m, 1).
    """

    def __init__(self, e: ProgramExpressions, A: casadi.SX) -> None:
        import casadi as ca

        M = e.M
        self.M, self.A = M, A
        self.n, self.m = M.shape[0], A.shape[0]
        self.corrections = 3 if e.singular_mass else 0
        self.delta = 0.0 if e.independent and not e.singular_mass else DELTA
        n = self.n
        diagonal = raised_diagonal(M, e.of_body) if e.singular_mass else entries_of(ca.diag(M))
        inverse_mass = [inverse(d) for d in diagonal]
        entries = {(i, j): value for i, j, value in triplets(M) if i > j}
        size: list[casadi.SX] = [ca.SX(0)] * self.m
        for row, j, value in triplets(A):
            entries[n + row, j] = value
            size[row] = plus(size[row], times(times(value, value), inverse_mass[j]))
        self.sizes = ca.vertcat(*size) if self.m else ca.SX(0, 1)
        # A row that vanishes keeps the pivot −δ and gets no force.
        self.row_size = [s + (s == 0.0) for s in size]
        diagonal += [-self.delta * s for s in self.row_size]
        self.plan: Elimination = analyse(
            n,
            self.m,
            [(i, j) for i, j in entries if i < n],
            [(i - n, j) for i, j in entries if i >= n],
        )
        self._eliminate(diagonal, entries)
        relative = [-d / s for d, s in zip(diagonal[n:], self.row_size, strict=True)]
        self.pivots = ca.vertcat(*relative) if self.m else ca.SX(0, 1)

    def _eliminate(
        self, diagonal: list[casadi.SX], entries: dict[tuple[int, int], casadi.SX]
    ) -> None:
        """D on the diagonal, and the columns of L in the order of elimination."""
        self.inverse: dict[int, casadi.SX] = {}
        self.columns: list[tuple[int, list[tuple[int, casadi.SX]]]] = []
        for k, below in zip(self.plan.order, self.plan.below, strict=True):
            reciprocal = self.inverse[k] = inverse(diagonal[k])
            couplings = [
                (i, a) for i in below if (a := entries.get((i, k) if i > k else (k, i))) is not None
            ]
            column = [(i, times(a_ik, reciprocal)) for i, a_ik in couplings]
            self.columns.append((k, column))
            for place, (i, factor) in enumerate(column):
                diagonal[i] = minus(diagonal[i], times(factor, couplings[place][1]))
                for j, a_jk in couplings[place + 1 :]:
                    key = (i, j) if i > j else (j, i)
                    change = times(factor, a_jk)
                    entries[key] = minus(entries[key], change) if key in entries else -change

    def _forward(self, x: list[casadi.SX]) -> list[casadi.SX]:
        """L⁻¹ x."""
        x = list(x)
        for k, column in self.columns:
            for i, factor in column:
                x[i] = minus(x[i], times(factor, x[k]))
        return x

    def _back(self, x: list[casadi.SX]) -> list[casadi.SX]:
        """L⁻ᵀ D⁻¹ x."""
        x = [times(value, self.inverse[k]) for k, value in enumerate(x)]
        for k, column in reversed(self.columns):
            for i, factor in column:
                x[k] = minus(x[k], times(factor, x[i]))
        return x

    def solve(self, force: casadi.SX, rhs: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        """(v̇, λ) of M̃ v̇ = force + Aᵀλ, A v̇ = rhs; shapes (n, 1) and (m, 1).

        With μ = −λ the regularised rows say A v̇ = rhs + δRμ, and nothing else is off. So the
        correction has the right side −δRμ in the rows and zero in the velocities. It joins the
        first right side half way: of the first way back only what μ needs is computed.
        """
        import casadi as ca

        n = self.n
        x = self._forward(entries_of(force) + entries_of(rhs))
        if self.m and self.delta:
            mu = self._back(x)[n:]
            delta = ca.SX(-self.delta)
            missing = [times(times(delta, s), y) for s, y in zip(self.row_size, mu, strict=True)]
            change = self._forward([ca.SX(0)] * n + missing)
            x = [plus(first, second) for first, second in zip(x, change, strict=True)]
        x = self._back(x)
        lam = ca.vertcat(*(-y for y in x[n:])) if self.m else ca.SX(0, 1)
        return ca.vertcat(*x[:n]), lam

    def move(self, force: casadi.SX, rhs: casadi.SX) -> casadi.SX:
        """v̇ of `respond`."""
        return self.respond(force, rhs)[0]

    def respond(self, force: casadi.SX, rhs: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        """(v̇, λ) with M itself: where M̃ differs, corrected by the residual."""
        import casadi as ca

        a, lam = self.solve(force, rhs)
        for _ in range(self.corrections):
            r1 = force + ca.mtimes(self.A.T, lam) - ca.mtimes(self.M, a)
            r2 = rhs - ca.mtimes(self.A, a)
            da, dlam = self.solve(r1, r2)
            a, lam = a + da, lam + dlam
        return a, lam


def raised_diagonal(M: casadi.SX, of_body: tuple[int, ...] = ()) -> list[casadi.SX]:
    """The diagonal of M̃ for a singular M, nowhere zero; see `ProgramExpressions`."""
    import casadi as ca

    return [
        value + MASS_SHIFT * (value + (value == 0.0) * other)
        for value, other in zip(entries_of(ca.diag(M)), _typical(M, of_body), strict=True)
    ]


def _typical(M: casadi.SX, of_body: tuple[int, ...]) -> list[casadi.SX]:
    """For each velocity the mass of its body, or the mean of the diagonal where that has none."""
    import casadi as ca

    values, mean = entries_of(ca.diag(M)), ca.trace(M) / M.shape[0]
    masses = [values[i] for i in of_body] or [ca.SX(0)] * len(values)
    return [m + (m == 0.0) * mean for m in masses]


def _with_mass_everywhere(e: ProgramExpressions) -> ProgramExpressions:
    """The same with the typical mass where there is none, by which dependent rows are told.

    Of two rows on a massless body the second has a pivot of the size of `MASS_SHIFT`, however
    distinct they are, and rows that come to depend on each other are not to be told from these.
    """
    import casadi as ca

    values = entries_of(ca.diag(e.M))
    filled = [
        (value == 0.0) * other
        for value, other in zip(values, _typical(e.M, e.of_body), strict=True)
    ]
    return replace(e, M=e.M + ca.diag(ca.vertcat(*filled)))


def triplets(x: casadi.SX) -> Iterator[tuple[int, int, casadi.SX]]:
    """Row, column and value of each structural nonzero."""
    rows, columns = x.sparsity().get_triplet()
    return zip(rows, columns, _values(x), strict=True)


def entries_of(x: casadi.SX) -> list[casadi.SX]:
    """The entries of a column, zeros too; indexing an SX one by one is slow."""
    return _values(dense(x))


def sum_of_squares(x: Sequence[casadi.SX]) -> casadi.SX:
    """Of some entries."""
    return reduce(plus, (times(entry, entry) for entry in x))


def _values(x: casadi.SX) -> list[casadi.SX]:
    # CasADi's annotations name another type than the one it returns.
    return cast("list[casadi.SX]", x.nonzeros())


def accelerate(e: ProgramExpressions) -> tuple[casadi.SX, casadi.SX, Factor | None]:
    """v̇ and λ, and the factor they were found with, if they were solved for."""
    if e.acceleration is not None:
        return e.acceleration, e.b, None
    factor = Factor(e, e.A)
    if e.law is None:
        a, lam = factor.respond(e.force, e.b)
    elif e.pressures is not None:
        a, lam = _under_pressures(e, factor)
    else:
        a, lam = _with_law(e, factor)
    return a, lam, factor


#: Newton steps for a law that depends on its reaction. Coulomb's is linear on each side of zero, so
#: that two suffice once the side is right.
LAW_STEPS = 5
#: How well force and reaction must agree in the end, relative; otherwise there is no answer, or
#: none that Newton finds, and the result is NaN, which stops the integrator with a message.
LAW_TOLERANCE = 1e-9


def _with_law(e: ProgramExpressions, factor: Factor) -> tuple[casadi.SX, casadi.SX]:
    """v̇ and λ with M v̇ = Q + C(λ) + Aᵀλ: the non-ideal force and the reaction it causes agree.

    λ responds linearly to C. Newton's method on g(λ) = λ − λ(C(λ)), with ∂C/∂λ by differentiation
    and one solve with the same factor for each multiplier that the law looks at.
    """
    import casadi as ca

    assert e.law is not None
    assert e.multipliers is not None
    symbols, law = e.multipliers, e.law
    seen = seen_by(law, symbols)
    slopes = ca.jacobian(law, symbols[seen])
    _, ideal = factor.respond(e.force, e.b)
    lam = ideal
    for _ in range(LAW_STEPS):
        C, dC = (ca.substitute(x, symbols, lam) for x in (law, slopes))
        _, caused = factor.respond(e.force + C, e.b)
        better = lam[seen] - ca.solve(law_slope(factor, dC, seen), lam[seen] - caused[seen])
        lam = ca.SX(caused)
        lam[seen] = better
    a, caused = factor.respond(e.force + ca.substitute(law, symbols, lam), e.b)
    gap = ca.norm_1(caused[seen] - lam[seen])
    size = ca.norm_1(caused[seen]) + ca.norm_1(ideal)
    return ca.if_else(gap > LAW_TOLERANCE * size, ca.SX(float("nan")), a), caused


def _under_pressures(e: ProgramExpressions, factor: Factor) -> tuple[casadi.SX, casadi.SX]:
    """`_with_law` of a law that is linear in a few numbers n(λ).

    λ = λ₀ + Λ n is linear in them, so that one solve for each leaves n = n(λ₀ + Λ n) to Newton's
    method: a number or two in place of all multipliers that the law looks at.
    """
    import casadi as ca

    assert e.pressures is not None
    assert e.multipliers is not None
    n, values, force = e.pressures
    none, slopes = ca.SX.zeros(factor.m, 1), ca.jacobian(force, n)
    at_rest = ca.substitute(force, n, ca.SX.zeros(n.shape))
    a, lam = factor.respond(e.force + at_rest, e.b)
    responses = [factor.respond(slopes[:, k], none) for k in range(n.numel())]
    a_of, lam_of = (ca.horzcat(*(r[i] for r in responses)) for i in (0, 1))
    caused = ca.substitute(values, e.multipliers, lam + ca.mtimes(lam_of, n))
    slope = ca.SX.eye(n.numel()) - ca.jacobian(caused, n)
    first = x = ca.substitute(values, e.multipliers, lam)
    for _ in range(LAW_STEPS):
        there, J = (ca.substitute(y, n, x) for y in (caused, slope))
        x = x - ca.solve(J, x - there)
    gap = ca.norm_1(x - ca.substitute(caused, n, x))
    agree = gap <= LAW_TOLERANCE * (ca.norm_1(x) + ca.norm_1(first))
    a = ca.if_else(agree, a + ca.mtimes(a_of, x), ca.SX(float("nan")))
    return a, lam + ca.mtimes(lam_of, x)


def least_norm(e: ProgramExpressions, gone: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
    """Matrices that turn the multipliers of rows that act into those of least norm of all rows.

    With G = X A the rows that are gone, λ_G = (1 + X Xᵀ)⁻¹ X λ, and λ − Xᵀ λ_G is left for those
    that act: the same force, shared among all. Returned are X of shape (gone, m) and the first
    factor, such that λ_G is its product with λ.
    """
    import casadi as ca

    factor = Factor(e, e.A)
    none = ca.SX.zeros(factor.m, 1)
    X = ca.horzcat(*(-factor.respond(gone[k, :].T, none)[1] for k in range(gone.shape[0]))).T
    return X, _solved(ca.SX.eye(gone.shape[0]) + ca.mtimes(X, X.T), X)


def _solved(S: casadi.SX, right: casadi.SX) -> casadi.SX:
    """S⁻¹ right for a positive definite S, by elimination."""
    import casadi as ca

    n = S.shape[0]
    S, x = ca.SX(ca.densify(S)), ca.SX(ca.densify(right))
    for k in range(n):
        for i in range(k + 1, n):
            factor = S[i, k] / S[k, k]
            S[i, k:] = S[i, k:] - factor * S[k, k:]
            x[i, :] = x[i, :] - factor * x[k, :]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            x[k, :] = x[k, :] - S[k, i] * x[i, :]
        x[k, :] = x[k, :] / S[k, k]
    return x


def _of_unit_length(e: ProgramExpressions) -> casadi.SX:
    """q with its unit groups scaled to unit length."""
    import casadi as ca

    if not e.unit:
        return ca.SX(e.q)
    q = entries_of(e.q)
    for group in e.unit:
        scale = inverse(ca.sqrt(sum_of_squares([q[k] for k in group])))
        for k in group:
            q[k] = times(q[k], scale)
    return ca.vertcat(*q)


def seen_by(law: casadi.SX, symbols: casadi.SX) -> list[int]:
    """Multipliers that the law looks at."""
    import casadi as ca

    return [i for i in range(symbols.numel()) if ca.depends_on(law, symbols[i])]


def law_slope(factor: Factor, dC: casadi.SX, seen: list[int]) -> casadi.SX:
    """∂g/∂λ of g(λ) = λ − λ(C(λ)), for the multipliers seen."""
    import casadi as ca

    none = ca.SX.zeros(factor.m, 1)
    columns = [factor.respond(dC[:, k], none)[1][seen] for k in range(len(seen))]
    return ca.SX.eye(len(seen)) - ca.horzcat(*columns)


def project(
    e: ProgramExpressions, factor_of: Callable[[ProgramExpressions, casadi.SX], Any]
) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    """One mass-weighted correction of q and v, and pivots of the position rows, then their sizes.

    Groups of unit length are scaled to it. Then q ← q − N M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺ φ, a Newton step; then
    v ← v − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺ ψ at the new q, with the same factor when all constraints are position
    constraints. What is free stays untouched.
    """
    import casadi as ca

    zero = ca.SX.zeros(e.v.numel(), 1)
    q, pivots, factor = _of_unit_length(e), ca.SX(0, 1), None
    if e.phi.numel():
        factor = factor_of(e, e.A_position)
        phi = ca.substitute(e.phi, e.q, q) if e.unit else e.phi
        step = factor.move(zero, -phi)
        q = q + ca.mtimes(e.N, step)
        seen = factor_of(_with_mass_everywhere(e), e.A_position) if e.singular_mass else factor
        pivots = ca.vertcat(seen.pivots, seen.sizes)
    v = e.v
    if e.psi.numel():
        psi = ca.substitute(e.psi, e.q, q) if e.phi.numel() or e.unit else e.psi
        if factor is None or e.psi.numel() != e.phi.numel():
            factor = factor_of(e, e.A_rate)
        v = e.v + factor.move(zero, -psi)
    return q, v, pivots
