"""Coordinates that a motion is carried in, and the way into them and back.

A mechanism may be integrated in coordinates other than those of its system: in its plane, or in the
coordinates of its joints. The loop alone sees them. States enter them where a loop begins and leave
them where it hands anything over, so that runs, events and reactions know those of the system only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.kernels.call import call
from zwang.kernels.element import Kernel
from zwang.kernels.element import compile as compile_kernel
from zwang.kernels.jit import loop
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["Carrier"]


@dataclass(frozen=True)
class Carrier:
    """The coordinates q̂, v̂ of a program, and q(q̂), v(q̂, v̂) of the system it carries.

    Attributes
    ----------
    name : what kind of coordinates, for notes.
    inputs : symbols q̂, v̂, t, p̂; p̂ are the parameters p of the system and, after them, numbers of
        the carrier's own, which belong to one start.
    q, v : the system's coordinates and velocities as expressions of the inputs.
    into : (q, v, t, p) → (q̂, v̂, numbers), at one state.
    scales : sizes of the entries of (q, v) → those of (q̂, v̂).
    """

    name: str
    inputs: tuple[casadi.SX, casadi.SX, casadi.SX, casadi.SX] = field(repr=False)
    q: casadi.SX = field(repr=False)
    v: casadi.SX = field(repr=False)
    into: Callable[
        [FloatArray, FloatArray, float, FloatArray], tuple[FloatArray, FloatArray, FloatArray]
    ] = field(repr=False)
    scales: Callable[[FloatArray], FloatArray] = field(repr=False)
    _last: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    def entered(
        self, q: FloatArray, v: FloatArray, t: float, p: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`into`, remembered for one state: a program is chosen at the state its loop begins at."""
        key = (q.tobytes(), v.tobytes(), t, p.tobytes())
        last = self._last.get(0)
        if last is None or last[0] != key:
            last = self._last[0] = key, self.into(q, v, t, p)
        return last[1]

    def enter(self, y: FloatArray, t: float, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """States (n, W) and parameters (np, W) of the system as ŷ (n̂, W) and p̂ (np̂, W)."""
        nq, states, parameters = self.q.numel(), [], []
        for k in range(y.shape[1]):
            q, v, numbers = self.entered(y[:nq, k], y[nq:, k], t, p[:, k])
            states.append(np.concatenate([q, v]))
            parameters.append(np.concatenate([p[:, k], numbers]))
        return np.stack(states, axis=1), np.stack(parameters, axis=1)

    def leave(self, y: FloatArray, t: FloatArray, p: FloatArray) -> FloatArray:
        """States ŷ (rows, n̂) at times (rows,), all with parameters p̂, as y (rows, n)."""
        nq, kernel = self.inputs[0].numel(), self._kernel
        y, t = np.ascontiguousarray(y), np.ascontiguousarray(t)
        out = np.empty((len(y), self.q.numel() + self.v.numel()))
        _leave(
            kernel.address, y, t, np.ascontiguousarray(p), out, nq, self.q.numel(), kernel.work()
        )
        return out

    def of_inputs(self, e: casadi.SX, symbols: tuple[casadi.SX, ...]) -> casadi.SX:
        """An expression of the system's q, v, t, p as one of the carrier's inputs."""
        import casadi as ca

        _, _, t, p = self.inputs
        values = [self.q, self.v, t, p[: symbols[3].numel()]]
        return ca.substitute([e], list(symbols), values)[0]

    def kernel(self, name: str, outputs: Sequence[casadi.SX]) -> Kernel:
        """Compile functions of the inputs."""
        import casadi as ca

        dense = [ca.densify(e) for e in outputs]
        return compile_kernel(ca.Function(name, list(self.inputs), dense), name=name)

    @cached_property
    def _kernel(self) -> Kernel:
        return self.kernel("leave", [self.q, self.v])


@loop
def _leave(kernel, y, t, p, out, inner, outer, work):
    """q and v of each row of ŷ; `inner` and `outer` are the numbers of coordinates."""
    for k in range(y.shape[0]):
        call(kernel, y[k, :inner], y[k, inner:], t[k:], p, out[k, :outer], out[k, outer:], work)
