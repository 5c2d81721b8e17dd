"""Coordinate change of a program: other coordinates to integrate in, the way into them and back.

A mechanism may be integrated in coordinates other than those of its system: in its plane, or in the
coordinates of its joints. The loop alone sees them. States enter them where a loop begins and leave
them where it hands anything over, so that runs, events and reactions know those of the system only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.jit import inlined, loop
from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["CoordinateChange", "CoordinateChangeByExpression", "distance", "enter_tree", "through"]


@dataclass(frozen=True)
class CoordinateChange(ABC):
    """The coordinates q̂, v̂ of a program, and q(q̂), v(q̂, v̂) of the system it carries.

    Kernels take q̂, v̂, t, p̂; p̂ are the parameters p of the system and, after them, numbers of the
    carrier's own, which belong to one start.

    Attributes
    ----------
    name : what kind of coordinates, for notes.
    into : (Y, t, P) → (Ŷ, P̂) of N states (N, n) with parameters (N, np), row by row: what a state
        becomes does not depend on its company.
    scales : sizes of the entries of (q, v) → those of (q̂, v̂).
    """

    name: str
    into: Callable[[FloatArray, float, FloatArray], tuple[FloatArray, FloatArray]] = field(
        repr=False
    )
    scales: Callable[[FloatArray], FloatArray] = field(repr=False)
    _last: dict[int, Any] = field(default_factory=dict, repr=False, compare=False, kw_only=True)

    @property
    @abstractmethod
    def leaving(self) -> Kernel:
        """(q̂, v̂, t, p̂) → (q, v)."""

    @abstractmethod
    def seen(self, name: str, e: casadi.SX, symbols: tuple[casadi.SX, ...]) -> Kernel:
        """A kernel of the carrier's for an expression of the system's symbols q, v, t, p."""

    @abstractmethod
    def accelerations(
        self, Y: FloatArray, rates: FloatArray, t: float, P: FloatArray
    ) -> FloatArray:
        """v̇ (N, nv) of the system from Ŷ (N, n̂), its rates and P̂ (N, np̂)."""

    @cached_property
    def inner(self) -> tuple[int, int]:
        """Numbers of coordinates q̂ and velocities v̂."""
        q, v, *_ = self.leaving.inputs
        return q.size, v.size

    @cached_property
    def outer(self) -> tuple[int, int]:
        """Numbers of coordinates q and velocities v of the system."""
        q, v = self.leaving.outputs
        return q.size, v.size

    def entered(self, y: FloatArray, t: float, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ŷ and p̂ of one state, remembered: a program is chosen where its loop begins."""
        key = (y.tobytes(), t, p.tobytes())
        last = self._last.get(0)
        if last is None or last[0] != key:
            Y, P = self.entered_rows(y[None], t, p[None])
            last = self._last[0] = key, (Y[0], P[0])
        return last[1]

    def reached(
        self, y: FloatArray, t: float, p: FloatArray, limit: float
    ) -> tuple[FloatArray, FloatArray] | None:
        """`entered`, or None if ŷ does not lead back to q, to a limit relative to |q| or 1."""
        kernel, sizes, entered = self.leaving, (self.inner[0], self.outer[0]), self.entered(y, t, p)
        near = _near(kernel.address, y, np.array([t]), *entered, sizes, limit, kernel.work())
        return entered if near else None

    def all_reached(
        self, Y: FloatArray, t: float, P: FloatArray, limit: float
    ) -> tuple[FloatArray, FloatArray] | None:
        """`entered_rows`, or None if some ŷ does not lead back to its q, as in `reached`."""
        (hats, P), nq = self.entered_rows(Y, t, P), self.outer[0]
        apart = np.abs(self.leave(hats, np.full(len(Y), t), P)[:, :nq] - Y[:, :nq])
        sizes = np.maximum(1.0, np.abs(Y[:, :nq]).max(axis=1, initial=0.0))
        near = bool(np.all(apart.max(axis=1, initial=0.0) <= limit * sizes))
        return (hats, P) if near else None

    def placed(self, q: FloatArray, v: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """q̂ and v̂ of one state, at t = 0."""
        Y, _ = self.entered_rows(np.concatenate([q, v])[None], 0.0, p[None])
        return Y[0, : self.inner[0]], Y[0, self.inner[0] :]

    def entered_rows(self, Y: FloatArray, t: float, P: FloatArray) -> tuple[FloatArray, FloatArray]:
        """States (N, n) and parameters (N, np) of the system as Ŷ (N, n̂) and P̂ (N, np̂)."""
        return self.into(np.ascontiguousarray(Y), t, np.ascontiguousarray(P))

    def enter(self, y: FloatArray, t: float, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """States (n, W) and parameters (np, W) of the system as ŷ (n̂, W) and p̂ (np̂, W)."""
        if y.shape[1] == 1:
            y, p = self.entered(y[:, 0], t, p[:, 0])
            return y[:, None], p[:, None]
        Y, P = self.entered_rows(y.T, t, p.T)
        return Y.T, P.T

    def leave(self, y: FloatArray, t: FloatArray, p: FloatArray) -> FloatArray:
        """States ŷ (rows, n̂) at times (rows,), with parameters p̂ or (rows, np̂), as y (rows, n)."""
        return through(self.leaving, y, t, p)


def through(kernel: Kernel, y: FloatArray, t: FloatArray, p: FloatArray) -> FloatArray:
    """What a kernel (q, v, t, p) → (q′, v′) makes of the rows of y, each with its time."""
    inner, (q, v) = kernel.inputs[0].size, kernel.outputs
    out = np.empty((len(y), q.size + v.size))
    y, t, p = np.ascontiguousarray(y), np.ascontiguousarray(t), np.ascontiguousarray(p)
    P = p[None] if p.ndim == 1 else p
    _through(kernel.address, y, t, P, out, inner, q.size, kernel.work())
    return out


@dataclass(frozen=True)
class CoordinateChangeByExpression(CoordinateChange):
    """A carrier whose way back is written down.

    Attributes
    ----------
    inputs : symbols q̂, v̂, t, p̂.
    q, v : the system's coordinates and velocities as expressions of the inputs.
    """

    inputs: tuple[casadi.SX, casadi.SX, casadi.SX, casadi.SX] = field(repr=False)
    q: casadi.SX = field(repr=False)
    v: casadi.SX = field(repr=False)

    @cached_property
    def inner(self) -> tuple[int, int]:
        """Numbers of coordinates q̂ and velocities v̂."""
        return self.inputs[0].numel(), self.inputs[1].numel()

    @cached_property
    def outer(self) -> tuple[int, int]:
        """Numbers of coordinates q and velocities v of the system."""
        return self.q.numel(), self.v.numel()

    def seen(self, name: str, e: casadi.SX, symbols: tuple[casadi.SX, ...]) -> Kernel:
        """A kernel of the carrier's for an expression of the system's symbols q, v, t, p."""
        import casadi as ca

        _, _, t, p = self.inputs
        values = [self.q, self.v, t, p[: symbols[3].numel()]]
        return self._kernel(name, [ca.substitute([e], list(symbols), values)[0]])

    def accelerations(
        self, Y: FloatArray, rates: FloatArray, t: float, P: FloatArray
    ) -> FloatArray:
        """v̇ (N, nv) of the system from Ŷ (N, n̂), its rates and P̂ (N, np̂)."""
        kernel, found = self._rate_kernel, np.empty((len(Y), self.outer[1]))
        Y, rates, P = (np.ascontiguousarray(x) for x in (Y, rates, P))
        _accelerate(kernel.address, Y, rates, np.array([t]), P, found, self.inner[0], kernel.work())
        return found

    def _kernel(self, name: str, outputs: Sequence[casadi.SX]) -> Kernel:
        import casadi as ca

        dense = [ca.densify(e) for e in outputs]
        return compile_kernel(ca.Function(name, list(self.inputs), dense), name=name)

    @property
    def leaving(self) -> Kernel:
        """(q̂, v̂, t, p̂) → (q, v)."""
        return self._leaving

    @cached_property
    def _leaving(self) -> Kernel:
        return self._kernel("leave", [self.q, self.v])

    @cached_property
    def _rate_kernel(self) -> Kernel:
        """(q̂, v̂, t, p̂, ŷ̇) → v̇, along a motion."""
        import casadi as ca

        q, v, t, p = self.inputs
        rates = ca.SX.sym("rates", sum(self.inner))
        moved = ca.jtimes(self.v, ca.vertcat(q, v, t), ca.vertcat(rates, 1.0))
        function = ca.Function("rates", [q, v, t, p, rates], [ca.densify(moved)])
        return compile_kernel(function, name="rates")


@inlined
def distance(x, y):
    """Largest |x − y| relative to the largest |y| or 1; no number, or infinite, if one is none."""
    most, largest = 0.0, 1.0
    for i in range(y.shape[0]):
        apart = abs(x[i] - y[i])
        if not apart <= most:
            most = apart if apart < np.inf else np.inf  # noqa: FURB136 - NaN too
        largest = max(largest, abs(y[i]))
    return most / largest


@loop
def _through(kernel, y, t, p, out, inner, outer, work):
    """Both outputs for each row of y; `inner` and `outer` are the numbers of coordinates."""
    for k in range(y.shape[0]):
        own = min(k, p.shape[0] - 1)
        call(
            kernel,
            y[k, :inner],
            y[k, inner:],
            t[k:],
            p[own],
            out[k, :outer],
            out[k, outer:],
            work,
        )


@loop
def _near(kernel, y, t, start, p, sizes, limit, work):
    """Whether a kernel leads from ŷ to the q of a state, see `CoordinateChange.reached`."""
    (inner, outer), there = sizes, np.empty_like(y)
    call(kernel, start[:inner], start[inner:], t, p, there[:outer], there[outer:], work)
    return distance(there[:outer], y[:outer]) <= limit


@loop
def _accelerate(kernel, Y, rates, t, P, found, inner, work):
    """v̇ of each row of Ŷ, from its rates."""
    for k in range(Y.shape[0]):
        call(kernel, Y[k, :inner], Y[k, inner:], t, P[k], rates[k], found[k], work)


@loop
def enter_tree(kernels, Y, t, hat, rows, there, off, sizes, in_q, in_p, work):
    """Enter each row of Y, give Euler parameters its signs, and tell how far from it that leads.

    Parameters
    ----------
    kernels : addresses of the ways in and back.
    off : |y(ŷ) − y| of each row, relative to the largest entry of y, or to 1.
    sizes : nq and n̂q.
    in_q, in_p : where Euler parameters of bodies are in q, and those of their axes in p̂.
    """
    for k in range(Y.shape[0]):
        off[k] = _entered(kernels, Y[k], t, hat[k], rows[k], there, sizes, in_q, in_p, work)


@loop
def _entered(kernels, y, t, p, row, there, sizes, in_q, in_p, work):
    """`enter_tree` for one row."""
    nq, n = sizes
    call(kernels[0], y[:nq], y[nq:], t, p, row[:n], row[n:], work)
    call(kernels[1], row[:n], row[n:], t, p, there[:nq], there[nq:], work)
    for i in range(in_q.shape[0]):
        same = 0.0
        for j in range(4):
            same += y[in_q[i] + j] * there[in_q[i] + j]
        if same < 0.0:
            for j in range(4):
                p[in_p[i] + j] *= -1.0
                there[in_q[i] + j] *= -1.0
    return distance(there, y)
