"""The stages of Radau IIA of order 5: coefficients, collocation polynomial and Newton's method.

The stages Zᵢ = Y(t + cᵢh) − y solve Z = h (A ⊗ I) F(Z). With A⁻¹ = T Λ T⁻¹ and W = (T⁻¹ ⊗ I) Z a
Newton step needs one real factor of γ/h − J and one complex factor of (α + iβ)/h − J. See Hairer &
Wanner, Solving Ordinary Differential Equations II, section IV.8.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.integrators.lu import (
    factorise,
    factorise_complex,
    substitute,
    substitute_complex,
)
from zwang.integrators.projection import evaluate
from zwang.integrators.radau.records import NewtonRoom
from zwang.integrators.records import LoopEquations

__all__ = [
    "C1",
    "C2",
    "CONVERGED",
    "DEFECT",
    "FACTORED_H",
    "FRESH",
    "GAMMA",
    "ITERATIONS",
    "LAST_H",
    "NEWTON",
    "SLOW",
    "UNDEFINED",
    "factorise_both",
    "solve_stages",
    "weights",
]

ROOT = np.sqrt(6.0)
C1, C2 = (4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0
#: f(t, y) − u′(t) = f(t, y) + Σ DEFECT_i Z_i / h.
DEFECT = np.array([-(13.0 + 7.0 * ROOT) / 3.0, (-13.0 + 7.0 * ROOT) / 3.0, -1.0 / 3.0])
#: Eigenvalues of A⁻¹: γ and α ± iβ.
CUBE = 3.0 ** (1.0 / 3.0)
GAMMA = 3.0 + CUBE**2 - CUBE
ALPHA_BETA = complex(3.0 - 0.5 * (CUBE**2 - CUBE), -0.5 * CUBE**0.5 * (CUBE**2 + CUBE**3))
#: Z = T W, and W = T_INVERSE Z; W₂ + iW₃ belongs to α + iβ.
T_MATRIX = np.array(
    [
        [0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
        [0.25021312296533332, 0.20412935229379994, -0.38294211275726192],
        [1.0, 1.0, 0.0],
    ]
)
T_INVERSE = np.array(
    [
        [4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
        [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
        [0.50287263494578682, -2.57192694985560522, 0.59603920482822492],
    ]
)

# What Newton's method remembers between steps.
FACTORED_H = 0  # step the factors are for, 0 if there are none
LAST_H = 1  # last accepted step, 0 if its stages are no use
SLOW = 2  # θ, the part of a change that the next one was, when Newton ended
FRESH = 3  # whether J belongs to the present point
NEWTON = 4

SUPPOSED_RATE = 0.1  # of convergence, at least, while it is not known
SLOWEST = 0.99  # what converges no faster is taken to diverge
ITERATIONS = 10
DIVERGED = 0.5  # change of h when Newton diverges
# How Newton ended.
CONVERGED, DIVERGENT, UNDEFINED = 0, 1, 2


@loop
def weights(theta, out):
    """Values at θ of the polynomials that are 1 at c₁, c₂ or 1, and 0 at the others and at 0."""
    out[0] = theta * (theta - C2) * (theta - 1.0) / (C1 * (C1 - C2) * (C1 - 1.0))
    out[1] = theta * (theta - C1) * (theta - 1.0) / (C2 * (C2 - C1) * (C2 - 1.0))
    out[2] = theta * (theta - C1) * (theta - C2) / ((1.0 - C1) * (1.0 - C2))


@loop
def factorise_both(J, h, nq, room: NewtonRoom):
    """Factors of γ/h − J and (α + iβ)/h − J; J holds its columns one after the other."""
    real, complex_, n = room.real, room.complex_, room.real.shape[0]
    for j in range(n):
        for i in range(n):
            entry = -J[j * n + i, 0]
            real[j, i], complex_[0, j, i], complex_[1, j, i] = entry, entry, 0.0
        real[j, j] += GAMMA / h
        shift = ALPHA_BETA / h
        complex_[0, j, j] += shift.real
        complex_[1, j, j] += shift.imag
    factorise(real, room.exchanged[0], nq)
    factorise_complex(complex_, room.exchanged[1], nq)


@inlined
def to_eigenvectors(Z, W):
    """W = T⁻¹ Z."""
    for i in range(W.shape[1]):
        for k in range(3):
            W[k, i] = (
                T_INVERSE[k, 0] * Z[0, i, 0]
                + T_INVERSE[k, 1] * Z[1, i, 0]
                + T_INVERSE[k, 2] * Z[2, i, 0]
            )


@inlined
def evaluate_stages(equations: LoopEquations, y, t, h, Z, room: NewtonRoom):
    """F = f at the three stages."""
    c = (C1, C2, 1.0)
    for k in range(3):
        room.moment[0, 0] = t + c[k] * h
        for i in range(y.shape[0]):
            room.trial[i, 0] = y[i, 0] + Z[k, i, 0]
        evaluate(equations, room.trial, room.moment, room.F[k])


@inlined
def newton_change(h, room: NewtonRoom):
    """The change of W of an iteration in x and z; its root mean square, relative to `size`."""
    F, W, x, z, size = room.F, room.W, room.x, room.z, room.size
    n, shift = x.shape[0], ALPHA_BETA / h
    for i in range(n):
        f0, f1, f2 = F[0, i, 0], F[1, i, 0], F[2, i, 0]
        x[i] = (T_INVERSE[0, 0] * f0 + T_INVERSE[0, 1] * f1 + T_INVERSE[0, 2] * f2) - GAMMA / h * W[
            0, i
        ]
        # − (α + iβ)/h (W₂ + iW₃)
        z[0, i] = (
            (T_INVERSE[1, 0] * f0 + T_INVERSE[1, 1] * f1 + T_INVERSE[1, 2] * f2)
            - shift.real * W[1, i]
            + shift.imag * W[2, i]
        )
        z[1, i] = (
            (T_INVERSE[2, 0] * f0 + T_INVERSE[2, 1] * f1 + T_INVERSE[2, 2] * f2)
            - shift.real * W[2, i]
            - shift.imag * W[1, i]
        )
    substitute(room.real, room.exchanged[0], x)
    substitute_complex(room.complex_, room.exchanged[1], z)
    change = 0.0
    for i in range(n):
        change += (x[i] ** 2 + z[0, i] ** 2 + z[1, i] ** 2) / size[i] ** 2
    return np.sqrt(change / (3 * n))


@inlined
def change_stages(Z, room: NewtonRoom):
    """Take the change of W, and Z = T W."""
    W, x, z = room.W, room.x, room.z
    for i in range(x.shape[0]):
        W[0, i] += x[i]
        W[1, i] += z[0, i]
        W[2, i] += z[1, i]
        for k in range(3):
            Z[k, i, 0] = (
                T_MATRIX[k, 0] * W[0, i] + T_MATRIX[k, 1] * W[1, i] + T_MATRIX[k, 2] * W[2, i]
            )


@loop
def solve_stages(
    equations: LoopEquations, y, t, h, Z, newton, goal, room: NewtonRoom, fixed
):  # fmt: skip
    """Newton's method for the stages Z, from the given ones on.

    Returns how it ended, the number of evaluations and by how much the step should change.
    """
    to_eigenvectors(Z, room.W)
    # θ/(1 − θ) times a change bounds all changes that would follow. Before there are two changes to
    # compare, the θ of the last step must do; but nothing vouches for a small one.
    rate = max(newton[SLOW] / (1.0 - min(newton[SLOW], 0.5)), SUPPOSED_RATE)
    before, quotient = 0.0, 0.0
    newton[SLOW] = 1.0
    for iteration in range(ITERATIONS):
        evaluate_stages(equations, y, t, h, Z, room)
        change = newton_change(h, room)
        done = 3 * (iteration + 1)
        if not change < np.inf:
            return UNDEFINED, done, DIVERGED
        if iteration > 0:
            last = quotient
            quotient = change / before
            slow = quotient if iteration == 1 else np.sqrt(quotient * last)
            newton[SLOW] = slow
            if not slow < SLOWEST:
                return DIVERGENT, done, DIVERGED
            rate = slow / (1.0 - slow)
            left = ITERATIONS - 1 - iteration
            ahead = rate * change * slow**left / goal
            # The first quotient still holds what the extrapolated start was off by.
            if iteration > 1 and ahead >= 1.0 and not fixed:
                excess = max(1e-4, min(20.0, ahead))  # these and 0.8 as in RADAU5
                return DIVERGENT, done, 0.8 * excess ** (-1.0 / (4.0 + left))
        before = max(change, 1e-300)
        change_stages(Z, room)
        if rate * change <= goal:
            if iteration == 0:
                newton[SLOW] = 0.0
            return CONVERGED, done, 1.0
    return DIVERGENT, 3 * ITERATIONS, DIVERGED
