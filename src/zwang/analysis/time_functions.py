"""Prescribed functions of time in analyses, with derivatives: traced, or splines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.errors import InputError, counted, shown
from zwang.terms import FloatArray
from zwang.tracing.symbol import Symbol
from zwang.tracing.trace import call, vector

__all__ = ["TimeFunction", "time_function"]

#: Degree of splines through samples: accelerations are smooth then.
DEGREE = 5


class TimeFunction:
    """f(t) of one or several components, with derivatives.

    Attributes
    ----------
    size : number of components.
    """

    def __init__(self, size: int, derivative: Callable[[FloatArray, int], FloatArray]) -> None:
        self.size, self._derivative = size, derivative

    def __call__(self, t: FloatArray, order: int = 0) -> FloatArray:
        """The derivative of an order at times (…), shape (…, size)."""
        t = np.asarray(t, dtype=float)
        return self._derivative(t.ravel(), order).reshape(*t.shape, self.size)

    def jet(self, t: float, order: int) -> FloatArray:
        """All derivatives up to an order at one time, shape (order + 1, size)."""
        return np.array([self._derivative(np.array([t]), j)[0] for j in range(order + 1)])


def time_function(
    what: str, given: Any, times: FloatArray, size: int, pair: tuple[int, int] | None = None
) -> TimeFunction:
    """A function of t, a number, or samples at the times, as a function with derivatives.

    Parameters
    ----------
    what : for messages.
    size : number of components that are expected.
    pair : the axes of a plane, along which two components may be given in place of three.
    """
    if callable(given):
        return _traced(what, given, size, pair)
    try:
        samples = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        samples = np.array(np.nan)
    if samples.ndim == 0 and size == 1:
        samples = np.full(len(times), float(samples))
    if samples.ndim == 1 and size == 1:
        samples = samples[:, None]
    if pair is not None and samples.shape == (len(times), 2):
        flat, samples = samples, np.zeros((len(times), size))
        samples[:, list(pair)] = flat
    if samples.shape != (len(times), size) or not np.isfinite(samples).all():
        wanted = f"{len(times)} numbers" if size == 1 else f"shape ({len(times)}, {size})"
        wanted += f" or ({len(times)}, 2)" if pair else ""
        raise InputError(
            what, found=shown(given), expected=f"a function of t, or samples at the times: {wanted}"
        )
    return _spline(what, samples, times)


def _spline(what: str, samples: FloatArray, times: FloatArray) -> TimeFunction:
    from scipy.interpolate import make_interp_spline

    degree = min(DEGREE, len(times) - 1)
    degree -= 1 - degree % 2  # splines of even degree have their knots between samples
    if degree < 3:
        raise InputError(
            what,
            found=f"{len(times)} samples",
            expected="four or more, so that accelerations can be found",
            advice="Or give a function of t.",
        )
    spline = make_interp_spline(times, samples, k=degree)
    return TimeFunction(samples.shape[1], spline)


def _traced(
    what: str, given: Callable[..., Any], size: int, pair: tuple[int, int] | None
) -> TimeFunction:
    import casadi as ca

    t = ca.SX.sym("t")
    value = vector(what, call(what, given, {"t": Symbol(t)}), None)
    if pair is not None and value.numel() == 2:
        flat, value = value, ca.SX.zeros(size)
        value[list(pair)] = flat
    if value.numel() != size:
        some = "two numbers in the plane, or three" if pair else counted(size)
        raise InputError(
            what,
            expected=f"a function that gives {some}",
            found=f"one that gives {value.numel()}",
        )
    kept: dict[int, Kernel] = {}

    def derivative(at: FloatArray, order: int) -> FloatArray:
        if order not in kept:
            e = value
            for _ in range(order):
                e = ca.jacobian(e, t)
            kept[order] = compile_kernel(ca.Function("f", [t], [ca.densify(e)]))
        return np.array([kept[order]([x])[0] for x in at]).reshape(len(at), size)

    return TimeFunction(size, derivative)
