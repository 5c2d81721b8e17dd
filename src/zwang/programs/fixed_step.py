"""Programs of fixed-step methods: the discrete equations of one step, to be compiled.

A method is one stage or two. A stage takes a state to another through unknowns x, the root of a
residual r(x) near x = 0; CasADi differentiates r, and what is compiled is

    (q, v, m, x, s, p) → (q₁, v₁, m₁, r, r_x)

with m what the method remembers from step to step, its first nv entries the mean velocity w of the
step, and s = (t, h, α_m, α_f, β, γ). The root is found by Newton's method. In all stages

*   unknowns and rows are scaled by powers of h so that r_x tends to [[M, −Aᵀ], [A, 0]] as h → 0:
    small steps do no harm to its condition (Bottasso, Dopico & Trainelli 2008);
*   redundant rows stay in: the iteration matrix gets δ R in the place of the zero, as in
    `zwang.programs.factor`. It changes the way to the root and not the root;
*   coordinates move by the midpoint rule for q̇ = N v + n₀ with the constant velocity w,

        q₁ = q₀ + h (N w + n₀) at ½(q₀ + q₁),

    which is symmetric, of order 2, and keeps quadratic invariants of the kinematics: quaternions
    stay unit. Where N and n₀ do not depend on q it is explicit, else q₁ joins the unknowns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from zwang.errors import NotApplicableError
from zwang.programs.factor import DELTA, ProgramExpressions, raised_diagonal

if TYPE_CHECKING:
    import casadi

__all__ = ["METHODS", "StageExpressions", "generalized_alpha", "rattle"]

#: Mass, relative to the mean of the diagonal of a singular M, that velocities have in the iteration
#: alone: what neither mass, force nor constraint decides about, the spin of a thin rod between two
#: spherical joints, then stays as it is. Smaller, and rounding would turn it; larger, and massless
#: coordinates held by springs would take many iterations at small steps.
IDLE_MASS = 1e-9


@dataclass(frozen=True)
class StageExpressions:
    """One stage: its symbols, what it leads to, and the equations for its unknowns.

    Attributes
    ----------
    inputs : q, v, m, x, s, p.
    q, v, m : the state and memory it leads to.
    residual, jacobian : r and the iteration matrix, r_x with regularised rows.
    """

    inputs: tuple[casadi.SX, ...]
    q: casadi.SX
    v: casadi.SX
    m: casadi.SX
    residual: casadi.SX
    jacobian: casadi.SX


class _TermsAt:
    """Terms of the equations at any arguments, and the drift of the coordinates."""

    def __init__(self, e: ProgramExpressions) -> None:
        import casadi as ca

        self.nq, self.nv, self.m = e.q.numel(), e.v.numel(), e.A.shape[0]
        self.singular_mass, self.of_body = e.singular_mass, e.of_body
        n0 = ca.substitute(e.q_dot, e.v, ca.SX.zeros(e.v.shape))
        state = [e.q, e.v, e.t, e.p]
        self.kinematics = ca.Function("kinematics", [e.q, e.t, e.p], [e.N, n0])
        self.free_drift = not ca.depends_on(ca.veccat(e.N, n0), e.q)
        self.constant_mass = not ca.depends_on(ca.vec(e.M), ca.vertcat(e.q, e.t))
        # Ṁ v, so that (M v)˙ = Q + C + Ṁ v + Aᵀλ.
        momentum = ca.mtimes(e.M, e.v)
        growth = ca.jtimes(momentum, e.q, e.q_dot) + ca.jtimes(momentum, e.t, ca.SX(1))
        lam = ca.SX.sym("lambda", self.m) if e.multipliers is None else e.multipliers
        law = ca.SX.zeros(self.nv, 1) if e.law is None else e.law
        self.M = ca.Function("M", state, [e.M])
        self.force = ca.Function("force", [*state, lam], [e.force + law])
        self.momentum_rate = ca.Function("momentum_rate", state, [e.force + growth])
        self.A = ca.Function("A", state, [e.A])
        self.b = ca.Function("b", state, [e.b])
        self.phi = ca.Function("phi", state, [e.value_of_row])
        self.phi_position = ca.Function("phi_position", state, [e.phi])
        self.A_position = ca.Function("A_position", state, [e.A_position])
        # `rate_of_row` holds ½ψ for velocity constraints.
        whole = ca.vertcat(*(1.0 if level == "position" else 2.0 for level in e.levels))
        self.psi = ca.Function("psi", state, [e.rate_of_row * whole])

    def symbols(self, memory: int, unknowns: int) -> tuple[casadi.SX, ...]:
        """Symbols q, v, m, x, s of a stage."""
        import casadi as ca

        sizes = {"q": self.nq, "v": self.nv, "m": memory, "x": unknowns, "s": 6}
        return tuple(ca.SX.sym(name, size) for name, size in sizes.items())

    def drift(
        self, q: casadi.SX, w: casadi.SX, t: casadi.SX, h: casadi.SX, p: casadi.SX, z: casadi.SX
    ) -> tuple[casadi.SX, casadi.SX]:
        """q₁, and h times what the midpoint rule asks to be zero.

        q₁ = q₀ + h (N₀ w + n₀) + z, where z is zero and has no entries when the rule is explicit.
        """
        import casadi as ca

        middle = t + 0.5 * h
        N, n0 = self.kinematics(q, middle if self.free_drift else t, p)
        first = q + h * (ca.mtimes(N, w) + n0)
        if self.free_drift:
            return first, ca.SX(0, 1)
        q1 = first + z
        N, n0 = self.kinematics(0.5 * (q + q1), middle, p)
        return q1, q1 - q - h * (ca.mtimes(N, w) + n0)

    def masses(self, M: casadi.SX) -> casadi.SX:
        """The diagonal of M, nowhere zero, shape (nv, 1)."""
        import casadi as ca

        if not self.singular_mass:
            return ca.densify(ca.diag(M))
        return ca.vertcat(*raised_diagonal(M, self.of_body))

    def regularised(self, jacobian: casadi.SX, M: casadi.SX, R: casadi.SX) -> casadi.SX:
        """r_x with δ R for the rows, after the velocities, and a mass for what has none."""
        import casadi as ca

        idle = ca.SX(self.nv, self.nv)
        if self.singular_mass:
            idle = IDLE_MASS * ca.trace(M) / self.nv * ca.SX.eye(self.nv)
        rest = jacobian.shape[0] - self.nv - R.numel()
        return jacobian + ca.diagcat(idle, ca.diag(DELTA * R), ca.SX(rest, rest))


def row_sizes(A: casadi.SX, D: casadi.SX) -> casadi.SX:
    """The size Σⱼ a_ij²/d_j of each row; 1 for a row that vanishes, which then gets no force."""
    import casadi as ca

    size = ca.densify(ca.mtimes(A * A, 1.0 / D))
    return size + ca.if_else(size == 0.0, 1.0, 0.0)


def generalized_alpha(e: ProgramExpressions, *, index: int = 2) -> list[StageExpressions]:
    """Generalized-α with accelerations-like a of its own, remembered beside v̇ and λ.

        (1 − α_m) a₁ + α_m a₀ = (1 − α_f) v̇₁ + α_f v̇₀
        v₁ = v₀ + h ((1 − γ) a₀ + γ a₁),        w = v₀ + h ((½ − β) a₀ + β a₁)

    and at the new point M v̇ = Q + C + Aᵀλ, with ψ = 0 for velocity rows and A v̇ = b for
    acceleration rows. Unknowns are the changes of v̇ and λ. Position rows, by `index`:

    3.  φ = 0 (Arnold & Brüls 2007). Velocities miss ψ = 0 by O(h²), and ρ near 1 is unstable.
    2.  ψ = 0 and φ = 0, the latter through multipliers μ of their own that move the coordinates
        (Gear, Gupta & Leimkuhler 1985; Arnold & Hante 2017): w gains h β D⁻¹Aᵀμ, D = diag M. As ψ
        decides about λ, a stays v̇ at t + (α_m − α_f) h in all directions. Projecting the
        velocities of index 3 does not leave it so, and changes the energy ten times as much.

    Increments of quasi-velocities are those of Brüls, Cardona & Arnold (2012).

    Parameters
    ----------
    index : 2 or 3.
    """
    import casadi as ca

    eq = _TermsAt(e)
    nq, nv, m = eq.nq, eq.nv, eq.m
    held = e.phi.numel() if index == 2 else 0
    q0, v0, memory, x, s = eq.symbols(3 * nv + m, nv + m + held + (0 if eq.free_drift else nq))
    t, h, alpha_m, alpha_f, beta, gamma = ca.vertsplit(s)
    _, a0, v_dot0, lam0 = ca.vertsplit(memory, [0, nv, 2 * nv, 3 * nv, 3 * nv + m])
    dv, dlam, mu, z = ca.vertsplit(x, [0, nv, nv + m, nv + m + held, x.numel()])
    weight = (1.0 - alpha_f) / (1.0 - alpha_m)  # of v̇₁ in a₁
    by_position, by_velocity = h * h * beta * weight, h * gamma * weight
    v_dot, lam = v_dot0 + dv, lam0 + dlam
    a = ((1.0 - alpha_f) * v_dot + alpha_f * v_dot0 - alpha_m * a0) / (1.0 - alpha_m)
    v = v0 + h * ((1.0 - gamma) * a0 + gamma * a)
    w = v0 + h * ((0.5 - beta) * a0 + beta * a)
    before = (q0, v0, t, e.p)
    A0 = eq.A_position(*before) if held else ca.SX(0, nv)
    D = eq.masses(eq.M(*before))
    moved = ca.mtimes(A0.T, mu) / D
    q, midpoint = eq.drift(q0, w + by_position / h * moved, t, h, e.p, by_position * z)
    at = (q, v, t + h, e.p)
    M, A, phi, psi = eq.M(*at), eq.A(*at), eq.phi(*at), eq.psi(*at)
    dynamics = ca.mtimes(M, v_dot) - eq.force(*at, lam) - ca.mtimes(A.T, lam)
    by_level = {
        "position": psi / by_velocity if index == 2 else phi / by_position,
        "velocity": psi / by_velocity,
        "acceleration": ca.mtimes(A, v_dot) - eq.b(*at),
    }
    rows = [by_level[level][k] for k, level in enumerate(e.levels)]
    residual = ca.vertcat(
        dynamics,
        *rows,
        *([eq.phi_position(*at) / by_position] if held else []),
        midpoint / by_position,
    )
    jacobian = ca.jacobian(residual, x)
    # Where forces are stiff, they and not M are what A meets.
    stiff = ca.vertcat(*(ca.fabs(jacobian[j, j]) for j in range(nv)))
    R = ca.vertcat(row_sizes(A, ca.fmax(stiff, eq.masses(M))), row_sizes(A0, D))
    return [
        StageExpressions(
            (q0, v0, memory, x, s, e.p),
            q,
            v,
            ca.vertcat(w, a, v_dot, lam),
            residual,
            eq.regularised(jacobian, M, R),
        )
    ]


def rattle(e: ProgramExpressions) -> list[StageExpressions]:
    """RATTLE for M that may depend on q (Jay 1994; Hairer, Lubich & Wanner VII.1.4).

    With momenta p = M v, ṗ = F + Aᵀλ, F = Q + C + Ṁ v, and u the velocity M⁻¹p½ at either end,

        M₀ u₀ = M₀ v₀ + ½h F(q₀, u₀) + A₀ᵀλ,    M₁ u₁ = M₀ u₀,    w = ½(u₀ + u₁)
        φ(q₁) = 0,    ψ(q₀, u₀) + ψ(q₁, u₁) = 0

    the last for velocity constraints, the trapezoidal rule for ∫ψ dt = 0; then

        M₁ v₁ = M₁ u₁ + ½h F(q₁, u₁) + A₁ᵀμ,    ψ(q₁, v₁) = 0.

    Exchanging the ends and the sign of h gives the same equations: the method is symmetric and of
    order 2, also with forces that depend on v. Where q̇ = v and the forces have a potential it is
    symplectic.
    """
    if e.law is not None:
        raise NotApplicableError(
            "integrator 'rattle'",
            must="be used with non-ideal forces of q, v and t",
            but="a non-ideal law depends on its reaction",
            advice="Use integrator='generalized_alpha'.",
        )
    if "acceleration" in e.levels:
        raise NotApplicableError(
            "integrator 'rattle'",
            must="be used with constraints on position and velocity",
            but="a constraint is stated at acceleration level",
            advice="State it with zw.velocity, or use integrator='generalized_alpha'.",
        )
    eq = _TermsAt(e)
    if e.singular_mass and not eq.constant_mass:
        raise NotApplicableError(
            "integrator 'rattle'",
            must="be used with a mass matrix that is regular or constant",
            but="it is singular and depends on the position",
            advice="Use integrator='generalized_alpha'.",
        )
    return [_first_half(e, eq), _second_half(e, eq)]


def _first_half(e: ProgramExpressions, eq: _TermsAt) -> StageExpressions:
    """Half a kick, the drift, and the multipliers that lead to φ = 0."""
    import casadi as ca

    nq, nv, m = eq.nq, eq.nv, eq.m
    varying, free = (0 if eq.constant_mass else nv), (0 if eq.free_drift else nq)
    q0, v0, memory, x, s = eq.symbols(nv, nv + m + varying + free)
    t, h = s[0], s[1]
    places = [0, nv, nv + m, nv + m + varying, nv + m + varying + free]
    du, lam, du1, z = ca.vertsplit(x, places)
    u0 = v0 + du
    u1 = v0 + du1 if varying else u0
    w = 0.5 * (u0 + u1)
    q, midpoint = eq.drift(q0, w, t, h, e.p, h * z)
    before, after = (q0, u0, t, e.p), (q, u1, t + h, e.p)
    M0, M1, A0 = eq.M(*before), eq.M(*after), eq.A(*before)
    kick = ca.mtimes(M0, du) - 0.5 * h * eq.momentum_rate(*before) - ca.mtimes(A0.T, lam)
    by_level = {
        "position": eq.phi(*after) / h,
        "velocity": 0.5 * (eq.psi(*before) + eq.psi(*after)),
    }
    rows = [by_level[level][k] for k, level in enumerate(e.levels)]
    carried = ca.mtimes(M1, u1) - ca.mtimes(M0, u0) if varying else ca.SX(0, 1)
    residual = ca.vertcat(kick, *rows, carried, midpoint / h)
    jacobian = eq.regularised(ca.jacobian(residual, x), M0, row_sizes(A0, eq.masses(M0)))
    return StageExpressions((q0, v0, memory, x, s, e.p), q, u1, w, residual, jacobian)


def _second_half(e: ProgramExpressions, eq: _TermsAt) -> StageExpressions:
    """Half a kick, and the multipliers that lead to ψ = 0."""
    import casadi as ca

    nv, m = eq.nv, eq.m
    q, u, memory, x, s = eq.symbols(nv, nv + m)
    t, h = s[0] + s[1], s[1]
    dv, mu = ca.vertsplit(x, [0, nv, nv + m])
    at = (q, u, t, e.p)
    M, A = eq.M(*at), eq.A(*at)
    kick = ca.mtimes(M, dv) - 0.5 * h * eq.momentum_rate(*at) - ca.mtimes(A.T, mu)
    residual = ca.vertcat(kick, eq.psi(q, u + dv, t, e.p))
    jacobian = eq.regularised(ca.jacobian(residual, x), M, row_sizes(A, eq.masses(M)))
    return StageExpressions((q, u, memory, x, s, e.p), q, u + dv, memory, residual, jacobian)


#: Fixed-step methods by name.
METHODS: dict[str, Callable[[ProgramExpressions], list[StageExpressions]]] = {
    "generalized_alpha": generalized_alpha,
    "generalized_alpha_index_3": partial(generalized_alpha, index=3),
    "rattle": rattle,
}
