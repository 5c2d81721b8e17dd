"""Rounding in traced expressions, and in the right sides of constraints: bounds.

A sum that cancels leaves rounding of what was summed, whatever is left of it; so its terms show how
large that may be, and `summed_sizes` follows them through an expression.

b = −(ψ_q q̇ + ψ_t) sums products of velocities that may cancel: where a body spins about the axis
of its own hinge nothing is left of them but rounding, and nothing else at the state shows how large
that may be. The terms show when the velocities are shifted: a shift by a share of their size
changes b by about that share of its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.expression import read
from zwang.codegen.operations import OPERATIONS
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["rhs_rounding", "summed_sizes", "time_rounding"]

#: Share of the velocities by which they are shifted; b is smooth over it.
SHIFT = 2.0**-10
#: Roundings a right side has room for: some ten operations, and a shift that happens to change a
#: row little.
ROUNDINGS = 64.0 * np.finfo(float).eps


def rhs_rounding(
    right_sides: Callable[[FloatArray], FloatArray],
    inertia: FloatArray,
    v: FloatArray,
    b: FloatArray,
) -> FloatArray:
    """A bound for the rounding in b, or in another sum of products of velocities, shape (…, m).

    Parameters
    ----------
    right_sides : b at the same place for other velocities.
    inertia, v, b : diagonal of M, velocities and b at the state, or at many.
    """
    root = np.sqrt(np.maximum(inertia, 0.0))
    # Velocities are known to a rounding of what has the kinetic energy of the whole.
    whole = np.linalg.norm(root * v, axis=-1, keepdims=True)
    size = np.divide(whole, root, out=np.zeros_like(v), where=root > 0.0)
    size = SHIFT * np.maximum(size, np.abs(v))
    # One shift may lie along the motion, which changes little; two do not.
    ways = np.random.default_rng(0).standard_normal((2, v.shape[-1]))
    changes = [np.abs(right_sides(v + size * way) - b) for way in ways]
    return ROUNDINGS / SHIFT * np.maximum(*changes)


def time_rounding(
    right_sides: Callable[[float], FloatArray], t: float, b: FloatArray
) -> FloatArray:
    """The same for what is summed in the course of drivers over time: where one comes to rest, the
    terms of its acceleration cancel.

    Parameters
    ----------
    right_sides : b at the same place and velocities at other times.
    """
    return ROUNDINGS / SHIFT * np.abs(right_sides(t * (1.0 + SHIFT)) - b)


def summed_sizes(expression: casadi.SX, inputs: Sequence[casadi.SX]) -> casadi.SX:
    """For each entry a size s of what it was computed from: rounding puts it off by some ε s.

    To first order: s of an operation f(x, y) is |f| + |∂f/∂x| s_x + |∂f/∂y| s_y; s of an input is
    its own size, as it is known to a rounding; constants are exact.

    Parameters
    ----------
    expression : dense, of the inputs alone.
    """
    import casadi as ca

    read_as = read(ca.Function("sizes", list(inputs), [expression]))
    entries = [ca.vertsplit(ca.vec(x)) for x in inputs]
    values: list[Any] = []
    sizes: list[Any] = []
    for operation, arguments in read_as.instructions:
        if operation == "const":
            value, size = ca.SX(read_as.constants[arguments[0]]), ca.SX(0)
        elif operation == "input":
            value = entries[arguments[0]][arguments[1]]
            size = ca.fabs(value)
        else:
            of = [values[k] for k in arguments]
            value, *slopes = _differentiated(operation)(*of)
            size = ca.fabs(value)
            for k, slope in zip(arguments, slopes, strict=True):
                if not sizes[k].is_zero():
                    size += ca.fabs(slope) * sizes[k]
        values.append(value)
        sizes.append(size)
    found = ca.SX.zeros(*expression.shape)  # dense, as the expression
    for _, entry, value in read_as.stores:
        found[entry] = sizes[value]
    return found


@cache
def _differentiated(operation: str) -> Callable[..., Any]:
    """An operation of scalars: its value and its slope along each argument."""
    import casadi as ca

    code = getattr(ca, f"OP_{operation.upper()}")
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    if OPERATIONS[operation] == 1:
        f = ca.SX.unary(code, x)
        return ca.Function(operation, [x], [f, ca.jacobian(f, x)])
    f = ca.SX.binary(code, x, y)
    return ca.Function(operation, [x, y], [f, ca.jacobian(f, x), ca.jacobian(f, y)])
