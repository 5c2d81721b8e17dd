"""Multibody formulations I, II and III of Nikravesh, written out from the book.

P. E. Nikravesh: Computer-Aided Analysis of Mechanical Systems (1988), sections 11.3 to 11.5, for b
bodies with m constraint equations. One free body is in `zwang.rotation.euler_parameters`.

    his        here                                      shape           equation
    N, J′      mass, J                                   (b,), (b, 3, 3) (11.8), (11.18)
    f, n′      force in world axes, moment in body axes  (…, b, 3)
    M*         `Bodies.M_star`                           (…, 7b, 7b)     (11.26)
    P, c       `Bodies.P`, `Bodies.c`                    (…, b, 7b), b   (11.27), (11.31)
    b*, g*     `Bodies.b_star`, `Bodies.g_star`          (…, 7b)         (11.30), (11.32)
    M of II    `Bodies.M_mixed`                          (…, 6b, 7b)     (11.34)
    M of III   `Bodies.M`                                (…, 6b, 6b)     (11.38)
    b, g       `Bodies.b`, `Bodies.g`                    (…, 6b)         (11.35), (11.40), (11.36)
    q̈, ḣ       (r̈, p̈) and (r̈, ω̇′) of all bodies          (…, 7b), 6b     (11.28), (11.39)
    Φ_q, γ     B, gamma                                  (…, m, 7b), m   (11.41), (11.43)
    B of III   `modified_jacobian`                       (…, m, 6b)      (11.46), (11.48)
    γ#         `modified_rhs`                            (…, m)          (11.48)
    σ, λ       `FormulationResult`: sigma, multipliers   (…, b), m       (11.29), (11.44)

The three matrices the book calls M differ in size and so have three names here, as do its two
Jacobians B. Leading axes are a batch. For mechanisms, `MechanismSystem.solve` takes the same
formulations by name; there a planar body enters with (cos, sin) for p and (−sin, cos) for 2L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from zwang.errors import InputError
from zwang.rotation.arrays import array, dot, matvec, solve, tilde, transpose
from zwang.rotation.euler_parameters import euler_inertia, euler_moment, matrix_H, matrix_L
from zwang.rotation.quaternion import angular_velocity
from zwang.terms import FloatArray

__all__ = [
    "Bodies",
    "FormulationResult",
    "Size",
    "constrained_sigma",
    "equation_counts",
    "equation_report",
    "formulation_1",
    "formulation_2",
    "formulation_3",
    "modified_jacobian",
    "modified_rhs",
    "reaction",
    "rotation_1",
    "rotation_2",
    "rotation_3",
    "solve_1",
    "solve_2",
    "solve_3",
    "translation",
]


# --- one constrained body, 11.3 -------------------------------------------------------------------


def reaction(B: Any, multipliers: Any) -> FloatArray:
    """Φ_qᵀλ, (11.20): the reaction that goes with the coordinates of the Jacobian."""
    return matvec(transpose(array(B)), array(multipliers))


def translation(mass: Any, r_ddot: Any, Phi_r: Any, multipliers: Any) -> FloatArray:
    """Left side of N r̈ − Φ_rᵀλ = f, (11.21); without rows (11.8)."""
    return array(mass)[..., None] * array(r_ddot) - reaction(Phi_r, multipliers)


def rotation_1(
    p: Any, p_dot: Any, p_ddot: Any, J: Any, sigma: Any, Phi_p: Any, multipliers: Any
) -> FloatArray:
    """Left side of J*p̈ + σp + 2Hṗ − Φ_pᵀλ = n*, (11.22); σ is an unknown, not (11.13)."""
    p, p_dot = array(p), array(p_dot)
    inertia = matvec(euler_inertia(p, J), array(p_ddot)) + array(sigma)[..., None] * p
    return inertia + 2.0 * matvec(matrix_H(p, p_dot, J), p_dot) - reaction(Phi_p, multipliers)


def rotation_2(p: Any, p_dot: Any, p_ddot: Any, J: Any, Phi_p: Any, multipliers: Any) -> FloatArray:
    """Left side of 2J′Lp̈ + LHṗ − ½LΦ_pᵀλ = n′, (11.23)."""
    L, p_dot = matrix_L(p), array(p_dot)
    inertia = 2.0 * matvec(array(J), matvec(L, array(p_ddot)))
    gyroscopic = matvec(L, matvec(matrix_H(p, p_dot, J), p_dot))
    return inertia + gyroscopic - 0.5 * matvec(L, reaction(Phi_p, multipliers))


def rotation_3(
    p: Any, omega: Any, omega_dot: Any, J: Any, Phi_p: Any, multipliers: Any
) -> FloatArray:
    """Left side of J′ω̇′ + ω̃′J′ω′ − ½LΦ_pᵀλ = n′, (11.24)."""
    omega, J = array(omega), array(J)
    turning = matvec(J, array(omega_dot)) + matvec(tilde(omega), matvec(J, omega))
    return turning - 0.5 * matvec(matrix_L(p), reaction(Phi_p, multipliers))


# --- b bodies, 11.4 -------------------------------------------------------------------------------


#: What each body has of each.
_SHAPES = {"mass": (), "J": (3, 3), "p": (4,), "p_dot": (4,), "force": (3,), "moment": (3,)}


@dataclass(frozen=True)
class Bodies:
    """b bodies at a state, or at many, and all that the formulations need of them.

    Attributes
    ----------
    mass : [kg], shape (b,).
    J : inertia about the mass centre in body axes, shape (b, 3, 3).
    p, p_dot : Euler parameters and their rates, shape (…, b, 4).
    force : resultant applied force f in world axes, shape (…, b, 3).
    moment : resultant applied moment n′ about the mass centre in body axes, shape (…, b, 3).
    """

    mass: Any
    J: Any
    p: Any
    p_dot: Any
    force: Any
    moment: Any

    def __post_init__(self) -> None:
        for name, own in _SHAPES.items():
            object.__setattr__(self, name, array(getattr(self, name)))
            count = (len(self.mass) if self.mass.ndim == 1 else -1, *own)
            found = getattr(self, name).shape
            if found[-len(count) :] != count:
                expected = ", ".join(["b", *map(str, own)])
                raise InputError(
                    f"{name} of the bodies",
                    must=f"have shape ({expected},) with b = {count[0]}"
                    if count[0] >= 0
                    else "have shape (b,)",
                    but=f"has shape {found}",
                )

    @property
    def omega(self) -> FloatArray:
        """ω′ = 2Lṗ of each body, shape (…, b, 3)."""
        return angular_velocity(self.p, self.p_dot)

    @property
    def N(self) -> FloatArray:
        """N = diag(m, m, m) of each body, (11.8), shape (b, 3, 3)."""
        return self.mass[..., None, None] * np.eye(3)

    @property
    def M_star(self) -> FloatArray:
        """M* = diag(N, J*), (11.26), shape (…, 7b, 7b), singular."""
        return _diagonal(_pair(self.N, euler_inertia(self.p, self.J)))

    @property
    def P(self) -> FloatArray:
        """Rows (0, pᵀ), (11.27), shape (…, b, 7b): P q̈ + c = 0."""
        rows = np.concatenate([np.zeros((*self.p.shape[:-1], 3)), self.p], axis=-1)
        return _diagonal(rows[..., None, :])

    @property
    def c(self) -> FloatArray:
        """ṗᵀṗ of each body, (11.31), shape (…, b)."""
        return dot(self.p_dot, self.p_dot)

    @property
    def b_star(self) -> FloatArray:
        """(0, 2Hṗ) of each body, (11.30), shape (…, 7b)."""
        turning = 2.0 * matvec(matrix_H(self.p, self.p_dot, self.J), self.p_dot)
        return _stacked(np.zeros((*turning.shape[:-1], 3)), turning)

    @property
    def g_star(self) -> FloatArray:
        """(f, n*) of each body, (11.32), shape (…, 7b)."""
        return _stacked(self.force, euler_moment(self.p, self.moment))

    @property
    def M_mixed(self) -> FloatArray:
        """M = diag(N, 2J′L) of Formulation II, (11.34), shape (…, 6b, 7b)."""
        return _diagonal(_pair(self.N, 2.0 * self.J @ matrix_L(self.p)))

    @property
    def M(self) -> FloatArray:
        """M = diag(N, J′) of Formulation III, (11.38), shape (6b, 6b), constant."""
        return _diagonal(_pair(self.N, self.J))

    @property
    def b_mixed(self) -> FloatArray:
        """(0, LHṗ) of each body, (11.35), shape (…, 6b); the same as `b`."""
        turning = matvec(matrix_H(self.p, self.p_dot, self.J), self.p_dot)
        moment = matvec(matrix_L(self.p), turning)
        return _stacked(np.zeros_like(moment), moment)

    @property
    def b(self) -> FloatArray:
        """(0, ω̃′J′ω′) of each body, (11.40), shape (…, 6b)."""
        moment = matvec(tilde(self.omega), matvec(self.J, self.omega))
        return _stacked(np.zeros_like(moment), moment)

    @property
    def g(self) -> FloatArray:
        """(f, n′) of each body, (11.36), shape (…, 6b)."""
        return _stacked(self.force, self.moment)


class FormulationResult(NamedTuple):
    """What a formulation gives.

    Attributes
    ----------
    acceleration : q̈ = (r̈, p̈) by I and II, ḣ = (r̈, ω̇′) by III, shape (…, 7b) or (…, 6b).
    sigma : σ by I, shape (…, b); none by the others, shape (…, 0).
    multipliers : λ, shape (…, m).
    matrix, right_side : the linear system that was solved, for (q̈, σ, −λ), (q̈, −λ) or (ḣ, −λ).
    """

    acceleration: FloatArray
    sigma: FloatArray
    multipliers: FloatArray
    matrix: FloatArray
    right_side: FloatArray


def formulation_1(
    bodies: Bodies, B: Any = None, gamma: Any = None, dependent: Any = 0
) -> FormulationResult:
    """Formulation I, (11.42), of 8b + m equations; without rows (11.25). See `solve_1`."""
    b = bodies
    B, gamma = _rows(B, gamma, 7 * b.p.shape[-2])
    return solve_1(b.M_star, b.P, b.g_star - b.b_star, b.c, B, gamma, dependent)


def formulation_2(
    bodies: Bodies, B: Any = None, gamma: Any = None, dependent: Any = 0
) -> FormulationResult:
    """Formulation II, (11.45), of 7b + m equations; without rows (11.33). See `solve_2`."""
    b = bodies
    B, gamma = _rows(B, gamma, 7 * b.p.shape[-2])
    modified = modified_jacobian(b.p, B)
    return solve_2(b.M_mixed, b.P, b.g - b.b_mixed, b.c, modified, B, gamma, dependent)


def formulation_3(
    bodies: Bodies, B: Any = None, gamma: Any = None, dependent: Any = 0
) -> FormulationResult:
    """Formulation III, (11.49), of 6b + m equations; without rows (11.37). See `solve_3`.

    B and gamma are Φ_q and γ as for the others; the modified ones are made from them.
    """
    b = bodies
    B, gamma = _rows(B, gamma, 7 * b.p.shape[-2])
    modified = modified_jacobian(b.p, B)
    rhs = modified_rhs(b.p, b.p_dot, B, gamma)
    return solve_3(b.M, b.g - b.b, modified, rhs, dependent)


def equation_counts(bodies: int, rows: int) -> dict[str, int]:
    """Number of equations by each formulation, 11.5; I and III are symmetric, II is not.

    Examples
    --------
    >>> equation_counts(bodies=2, rows=3)
    {'I': 19, 'II': 17, 'III': 15}
    """
    return {"I": 8 * bodies + rows, "II": 7 * bodies + rows, "III": 6 * bodies + rows}


class Size(NamedTuple):
    """How many equations a formulation has, and whether their matrix is symmetric."""

    equations: int
    symmetric: bool


def equation_report(bodies: int, rows: int) -> dict[str, Size]:
    """Size and symmetry of the three formulations, 11.5: III has 2b equations fewer than I.

    Examples
    --------
    >>> equation_report(bodies=2, rows=3)["II"]
    Size(equations=17, symmetric=False)
    """
    counts = equation_counts(bodies, rows)
    return {name: Size(count, name != "II") for name, count in counts.items()}


# --- the conversion of kinematic equations, 11.5 --------------------------------------------------


def modified_jacobian(p: Any, B: Any) -> FloatArray:
    """[Φ_r, ½Φ_pLᵀ] of all bodies, (11.46), (11.48), shape (…, m, 6b), from Φ_q (…, m, 7b).

    With it the velocity equations are Φ_q q̇ = [Φ_r, ½Φ_pLᵀ] h = 0, h = (ṙ, ω′), (11.51).
    """
    by_r, by_p = _by_body(B)
    turned = 0.5 * np.einsum("...mbk,...bik->...mbi", by_p, matrix_L(p))
    by_r = np.broadcast_to(by_r, turned.shape)
    both = np.concatenate([by_r, turned], axis=-1)
    return both.reshape(*both.shape[:-2], 6 * both.shape[-2])


def modified_rhs(p: Any, p_dot: Any, B: Any, gamma: Any) -> FloatArray:
    """γ# = γ + ¼ Σ ω² Φ_p p, (11.48), with ¼ω² = ṗᵀṗ, shape (…, m).

    From p̈ = ½Lᵀω̇′ − ¼ω²p. How A(p) is continued beyond pᵀp = 1 is a matter of taste that enters
    γ and Φ_p p; γ# is free of it.
    """
    _, by_p = _by_body(B)
    p_dot = array(p_dot)
    return array(gamma) + np.einsum("...mbk,...bk,...b->...m", by_p, p, dot(p_dot, p_dot))


def constrained_sigma(bodies: Bodies, B: Any, multipliers: Any) -> FloatArray:
    """σ = 8ṗᵀLᵀJ′Lṗ + pᵀΦ_pᵀλ, shape (…, b): what (11.42) gives for σ.

    The book's (11.13) is the first part alone, right for a free body; Φ_p p does not vanish for
    the usual constraint functions. Neither p̈ nor λ depends on it.
    """
    _, by_p = _by_body(B)
    along = np.einsum("...mbk,...bk,...m->...b", by_p, bodies.p, array(multipliers))
    return 2.0 * dot(bodies.omega, matvec(bodies.J, bodies.omega)) + along


# --- the linear systems ---------------------------------------------------------------------------


def solve_1(
    M_star: FloatArray,
    P: FloatArray,
    force: FloatArray,
    c: FloatArray,
    B: FloatArray,
    gamma: FloatArray,
    dependent: Any = 0,
) -> FormulationResult:
    """The solution of (11.42), with force = g* − b*.

        [ M*  Pᵀ  Bᵀ ] [  q̈ ]   [ force ]
        [ P   0   0  ] [  σ ] = [  −c   ]
        [ B   0   0  ] [ −λ ]   [   γ   ]

    Parameters
    ----------
    dependent : how many of the rows B follow from others, shape (…). The book has none; where there
        are some, the matrix is singular and λ is one of many, while q̈ is not touched.
    """
    n, k, m = M_star.shape[-1], P.shape[-2], B.shape[-2]
    matrix = _matrix(
        [
            [M_star, transpose(P), transpose(B)],
            [P, np.zeros((k, k + m))],
            [B, np.zeros((m, k + m))],
        ]
    )
    right = _vector([force, -c, gamma])
    x = _solved(matrix, right, dependent)
    return FormulationResult(x[..., :n], x[..., n : n + k], -x[..., n + k :], matrix, right)


def solve_2(
    M_mixed: FloatArray,
    P: FloatArray,
    force: FloatArray,
    c: FloatArray,
    modified: FloatArray,
    B: FloatArray,
    gamma: FloatArray,
    dependent: Any = 0,
) -> FormulationResult:
    """The solution of (11.45), with force = g − b; not symmetric.

        [ M  Bₘᵀ ] [  q̈ ]   [ force ]
        [ P  0   ] [ −λ ] = [  −c   ]
        [ B  0   ]          [   γ   ]

    The force rows carry the modified Jacobian Bₘ, the constraint rows Φ_q: with one and the same B
    the sizes would not fit. `dependent` is that of `solve_1`.
    """
    n, k, m = B.shape[-1], P.shape[-2], B.shape[-2]
    matrix = _matrix([[M_mixed, transpose(modified)], [P, np.zeros((k, m))], [B, np.zeros((m, m))]])
    right = _vector([force, -c, gamma])
    x = _solved(matrix, right, dependent)
    return FormulationResult(x[..., :n], x[..., :0], -x[..., n:], matrix, right)


def solve_3(
    M: FloatArray, force: FloatArray, modified: FloatArray, rhs: FloatArray, dependent: Any = 0
) -> FormulationResult:
    """The solution of (11.49), with force = g − b and right side γ#.

        [ M   Bₘᵀ ] [  ḣ ]   [ force ]
        [ Bₘ  0   ] [ −λ ] = [  γ#   ]

    `dependent` is that of `solve_1`.
    """
    n, m = modified.shape[-1], modified.shape[-2]
    matrix = _matrix([[M, transpose(modified)], [modified, np.zeros((m, m))]])
    right = _vector([force, rhs])
    x = _solved(matrix, right, dependent)
    return FormulationResult(x[..., :n], x[..., :0], -x[..., n:], matrix, right)


def _solved(matrix: FloatArray, right: FloatArray, dependent: Any) -> FloatArray:
    """The solution; where rows are dependent, by singular values without the smallest so many.

    How many are zero is known, not guessed from their size. Rows and columns are brought to similar
    size first, by powers of two, and rounding is corrected by the residual.
    """
    rows, columns = _scales(matrix)
    scaled = matrix * rows[..., None] * columns[..., None, :]
    inverse = _pseudoinverse(scaled, dependent) if np.any(dependent) else None

    def respond(b: FloatArray) -> FloatArray:
        b = rows * b
        return columns * (solve(scaled, b) if inverse is None else matvec(inverse, b))

    x = respond(right)
    for _ in range(2):
        x = x + respond(right - matvec(matrix, x))
    return x


def _pseudoinverse(matrix: FloatArray, dependent: Any) -> FloatArray:
    """The Moore–Penrose inverse of square matrices that lack `dependent` of their full rank."""
    U, s, Vt = np.linalg.svd(matrix)
    size = s.shape[-1]
    kept = np.broadcast_to(np.arange(size) < size - np.asarray(dependent)[..., None], s.shape)
    reciprocal = np.divide(1.0, s, out=np.zeros_like(s), where=kept)
    return (transpose(Vt) * reciprocal[..., None, :]) @ transpose(U)


def _scales(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Powers of two for rows and columns, by which all get a largest entry near one (Ruiz)."""
    rows, columns = np.ones(matrix.shape[:-1]), np.ones(matrix.shape[:-2] + matrix.shape[-1:])
    size = np.abs(matrix)
    for _ in range(8):  # halves the logarithms each time
        seen = size * rows[..., None] * columns[..., None, :]
        rows, columns = rows * _root(seen.max(axis=-1)), columns * _root(seen.max(axis=-2))
    return rows, columns


def _root(largest: FloatArray) -> FloatArray:
    """A power of two near 1/√largest, one for zeros."""
    exponent = np.round(-0.5 * np.log2(np.where(largest > 0.0, largest, 1.0)))
    return np.exp2(exponent)


# --- blocks ---------------------------------------------------------------------------------------


def _rows(B: Any, gamma: Any, columns: int) -> tuple[FloatArray, FloatArray]:
    """The constraint rows, or none."""
    if B is None:
        return np.zeros((0, columns)), np.zeros(0)
    B, gamma = array(B), array(gamma)
    if B.ndim < 2 or B.shape[-1] != columns or gamma.shape[-1:] != B.shape[-2:-1]:
        raise InputError(
            "constraint rows",
            must=f"have shapes (…, m, {columns}) and (…, m), with seven columns for each body",
            but=f"B has shape {B.shape} and gamma {gamma.shape}",
        )
    return B, gamma


def _by_body(B: Any) -> tuple[FloatArray, FloatArray]:
    """Φ_r (…, m, b, 3) and Φ_p (…, m, b, 4)."""
    B = array(B)
    each = B.reshape(*B.shape[:-1], B.shape[-1] // 7, 7)
    return each[..., :3], each[..., 3:]


def _pair(first: FloatArray, second: FloatArray) -> FloatArray:
    """diag(first, second) of each body."""
    upper = [first, np.zeros((first.shape[-2], second.shape[-1]))]
    return _matrix([upper, [np.zeros((second.shape[-2], first.shape[-1])), second]])


def _diagonal(blocks: FloatArray) -> FloatArray:
    """Blocks (…, b, i, j) along the diagonal of one matrix (…, b i, b j)."""
    *batch, b, i, j = blocks.shape
    result = np.zeros((*batch, b, i, b, j))
    for k in range(b):
        result[..., k, :, k, :] = blocks[..., k, :, :]
    return result.reshape(*batch, b * i, b * j)


def _stacked(first: FloatArray, second: FloatArray) -> FloatArray:
    """(first, second) of each body, one after the other."""
    both = _vector([first, second])
    return both.reshape(*both.shape[:-2], both.shape[-2] * both.shape[-1])


def _vector(parts: list[FloatArray]) -> FloatArray:
    """Parts one after the other, leading axes broadcast."""
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in parts))
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in parts], axis=-1)


def _matrix(rows: list[list[FloatArray]]) -> FloatArray:
    """A matrix from rows of blocks, leading axes broadcast."""
    batch = np.broadcast_shapes(*(x.shape[:-2] for row in rows for x in row))
    wide = [
        np.concatenate([np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in row], axis=-1)
        for row in rows
    ]
    return np.concatenate(wide, axis=-2)
