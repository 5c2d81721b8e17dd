"""The records of the Radau loop: Newton's method, and the step under way."""

from __future__ import annotations

from typing import NamedTuple

from zwang.integrators.records import FloatArray, IntArray

__all__ = ["NewtonRoom", "RadauMemory", "RadauStep"]


class RadauMemory(NamedTuple):
    """What the method remembers between steps.

    Attributes
    ----------
    f : derivative at y (n, 1).
    Z : stages of the last accepted step (3, n, 1).
    J : Jacobian, column by column (n², 1).
    newton : NEWTON numbers of Newton's method, see `stages`.
    leaving : when to leave to another method, see `zwang.integrators.stiffness`.
    """

    f: FloatArray
    Z: FloatArray
    J: FloatArray
    newton: FloatArray
    leaving: FloatArray


class NewtonRoom(NamedTuple):
    """What Newton's method works with.

    Attributes
    ----------
    real, complex_, exchanged : factors of γ/h − J (n, n) and of (α + iβ)/h − J, real and imaginary
        parts (2, n, n), column by column, and their row exchanges.
    trial : the state of a stage (n, 1), at the time `moment` (1, 1).
    F : derivatives at the stages (3, n, 1).
    W : stages in the eigenvectors of A⁻¹ (3, n).
    x, z : changes of W, real (n,) and complex, real and imaginary parts (2, n).
    size : magnitude of each entry that changes are relative to (n,).
    """

    real: FloatArray
    complex_: FloatArray
    exchanged: IntArray
    trial: FloatArray
    moment: FloatArray
    F: FloatArray
    W: FloatArray
    x: FloatArray
    z: FloatArray
    size: FloatArray


class RadauStep(NamedTuple):
    """The step under way, and room to work in.

    Attributes
    ----------
    start, end : times (1, 1).
    stages : (3, n, 1).
    new, point : the new point before and after it is projected, (n, 1).
    rate : derivative there.
    error, defect : error estimate, and h times what the polynomial misses of the motion (n,).
    weights : of the stages in the interpolant (3,).
    looked : two vectors for saving and for the search for lost rank (2, n, 1).
    """

    start: FloatArray
    end: FloatArray
    stages: FloatArray
    new: FloatArray
    point: FloatArray
    rate: FloatArray
    error: FloatArray
    defect: FloatArray
    weights: FloatArray
    looked: FloatArray
