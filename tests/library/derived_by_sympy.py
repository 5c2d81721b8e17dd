"""Equations of motion derived with SymPy, without any of the package.

A test states energies, kinematics and constraints anew; Lagrange's equations and the constraint
rows come from `sympy.diff`, the acceleration from one bordered system of linear equations.
"""

from types import SimpleNamespace

import mpmath
import numpy as np
import sympy as sp

#: Relative accuracy that is asked of every library system.
TOLERANCE = 1e-11
COUNT = 100


class Derivation:
    """M, Q, A, b and the motion, from functions of SymPy symbols.

    T(q, w, t, p), V(q, t, p), forces(q, w, t, p) with w = q̇; N(q, p) of q̇ = N v where v are
    quasi-velocities, else v = w. Constraints are pairs (level, function(q, v, t, p)); at the
    level "rate" the function gets w in place of v.
    """

    def __init__(self, size, parameters, T, *, V=None, forces=None, N=None, constraints=()):
        q, w = sp.symbols(f"q0:{size}"), sp.symbols(f"w0:{size}")
        t, p = sp.Symbol("t"), SimpleNamespace(**{k: sp.Symbol(k) for k in parameters})
        kinematics = sp.eye(size) if N is None else sp.Matrix(N(q, p))
        v = w if N is None else sp.symbols(f"v0:{kinematics.cols}")
        rates = kinematics * sp.Matrix(v)
        to_v = dict(zip(w, rates, strict=True))

        def total(e):  # d/dt at fixed v
            return (e.jacobian(q) * rates + e.diff(t)) if q else e

        energy = T(q, w, t, p)
        momentum = sp.Matrix([energy.diff(x) for x in w])
        mass = momentum.jacobian(w)
        force = sp.Matrix([energy.diff(x) for x in q])
        force -= momentum.jacobian(q) * sp.Matrix(w) + momentum.diff(t)
        if V is not None:
            force -= sp.Matrix([sp.sympify(V(q, t, p)).diff(x) for x in q])
        if forces is not None:
            force += sp.Matrix(forces(q, w, t, p))
        # q̈ = N v̇ + Ṅ v, and virtual displacements are N δ
        turning = total(kinematics.reshape(len(kinematics), 1)).reshape(*kinematics.shape)
        mass, force = mass.subs(to_v), force.subs(to_v)
        self.M = kinematics.T * mass * kinematics
        self.Q = kinematics.T * (force - mass * turning * sp.Matrix(v))
        rows, right = [], []
        for level, function in constraints:
            psi = sp.Matrix(sp.flatten([function(q, w if level == "rate" else v, t, p)]))
            psi = total(psi) if level == "position" else psi.subs(to_v)
            rows.append(psi.jacobian(v))
            right.append(-total(psi))
        n = len(v)
        self.A = sp.Matrix.vstack(sp.zeros(0, n), *rows)
        self.b = sp.Matrix.vstack(sp.zeros(0, 1), *right)
        self.names = list(parameters)
        shapes = [self.M.shape, self.Q.shape[:1], self.A.shape, self.b.shape[:1]]
        flat = [*self.M, *self.Q, *self.A, *self.b]
        self._shapes = shapes
        self._problem = [*q, *v, t, *vars(p).values()], flat

    def at(self, state, parameters, digits=None):
        """Terms and motion at a batch of states; terms with that many digits, then rounded."""
        values = [parameters[name] for name in self.names]
        count = len(state.q)
        arguments = [*state.q.T, *state.v.T, np.broadcast_to(state.t, count)]
        if digits is None:
            entries = sp.lambdify(*self._problem, "numpy", cse=True)(*arguments, *values)
        else:
            function = sp.lambdify(*self._problem, "mpmath", cse=True)
            with mpmath.workdps(digits):
                exact = [mpmath.mpf(x) for x in values]
                each = zip(*arguments, strict=True)
                rows = [function(*map(mpmath.mpf, column), *exact) for column in each]
            entries = np.array(rows, dtype=float).T
        entries = [np.broadcast_to(np.asarray(e, dtype=float), count) for e in entries]
        result, start = [], 0
        for shape in self._shapes:
            size = int(np.prod(shape))
            part = np.array(entries[start : start + size]).reshape(size, count)
            result.append(part.T.reshape(count, *shape))
            start += size
        return motion(*result)


def motion(M, Q, A, b, C=0.0):
    """Acceleration, force and multipliers from [[M, −Aᵀ], [A, 0]] [v̇; λ] = [Q + C; b]."""
    n, m = M.shape[-1], A.shape[-2]
    bordered = np.zeros((len(M), n + m, n + m))
    bordered[:, :n, :n], bordered[:, n:, :n] = M, A
    bordered[:, :n, n:] = -np.swapaxes(A, -1, -2)
    right = np.concatenate([Q + C, b], axis=-1)
    answer = np.linalg.solve(bordered, right[..., None])[..., 0]
    acceleration, multipliers = answer[:, :n], answer[:, n:]
    force = np.einsum("kmn,km->kn", A, multipliers) + C
    return SimpleNamespace(
        M=M, Q=Q, A=A, b=b, acceleration=acceleration, force=force, multipliers=multipliers
    )


def assert_close(actual, expected, tolerance=TOLERANCE):
    """Relative to the size of the quantity at its own state (not below 1/1000 of its largest).

    What is zero but for rounding at all states is compared with 1.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    size = np.abs(expected).reshape(len(expected), -1).max(axis=-1, initial=0.0)
    size = np.maximum(size, 1e-3 * size.max()) if size.max() > 1e-9 else np.ones_like(size)
    error = np.abs(actual - expected).reshape(len(expected), -1).max(axis=-1, initial=0.0) / size
    assert error.max() <= tolerance, f"relative error {error.max():.2e}"


def assert_same_motion(system, state, parameters, expected):
    """Terms, acceleration, force and multipliers of the system equal the independent ones."""
    terms = system.terms(state, parameters=parameters)
    assert_close(terms.mass_matrix, expected.M)
    assert_close(terms.applied_force, expected.Q)
    assert_close(terms.constraint_matrix, expected.A)
    assert_close(terms.constraint_rhs, expected.b)
    solution = system.solve(state, parameters=parameters)
    assert_close(solution.acceleration, expected.acceleration)
    assert_close(solution.constraint_force, expected.force)
    assert_close(solution.multipliers, expected.multipliers)


def assert_consistent(system, state, parameters=None):
    """φ, φ̇ and ψ vanish to rounding, for rows up to quadratic in the state."""
    residuals = system.residuals(state, parameters=parameters)
    q, v = (max(1.0, np.abs(x).max()) for x in (state.q, state.v))
    assert np.abs(residuals.position).max(initial=0) <= 1e-13 * q**2
    assert np.abs(residuals.velocity).max(initial=0) <= 1e-13 * (q + v) * v
