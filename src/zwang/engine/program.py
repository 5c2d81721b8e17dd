"""What integrators run: sizes and the addresses of a few kernels.

A `Program` hides where the equations came from. Its kernels share one form,

    derivative   (q, v, t, p) → (q̇, v̇)
    project      (q, v, t, p) → (q, v, pivots)     one correction onto φ = 0 and ψ = 0
    residual     (q, v, t, p) → ratios              φ and ψ relative to the size of their terms
    forces       (q, v, t, p) → (v̇, λ)
    events       (q, v, t, p) → g

with arrays laid out [entry][lane].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.engine.fused import Expressions, accelerate, project
from zwang.kernels.element import Kernel
from zwang.kernels.element import compile as compile_kernel

if TYPE_CHECKING:
    import casadi

__all__ = ["Program", "fuse"]


@dataclass(frozen=True)
class Program:
    """Compiled equations of motion.

    Attributes
    ----------
    nq, nv : numbers of coordinates and velocities.
    rows : position rows, rows that `residual` returns, all constraint rows.
    lanes : trajectories that run side by side.
    kernels : name → kernel.
    """

    nq: int
    nv: int
    rows: tuple[int, int, int]
    lanes: int
    kernels: Mapping[str, Kernel]

    def addresses(self, events: Kernel | None = None) -> np.ndarray:
        """Addresses in the order the integrators expect."""
        names = ("derivative", "project", "residual")
        found = [self.kernels[name].address if name in self.kernels else 0 for name in names]
        return np.array([*found, events.address if events is not None else 0], dtype=np.int64)

    def work(self, events: Kernel | None = None) -> np.ndarray:
        """A work array large enough for every kernel."""
        kernels = [*self.kernels.values(), *([events] if events is not None else [])]
        return max(kernels, key=lambda kernel: kernel.work_size).work()


def fuse(e: Expressions, *, lanes: int = 1, stabilisation: float = 0.0) -> Program:
    """Compile a system as a whole.

    Parameters
    ----------
    stabilisation : Baumgarte's rate [1/s]; b is replaced by b − 2 r ψ − r² φ when it is not zero.
    """
    import casadi as ca

    if stabilisation:
        e = _stabilised(e, stabilisation)
    a, lam, _ = accelerate(e)
    inputs = [e.q, e.v, e.t, e.p]
    outputs: dict[str, list[casadi.SX]] = {"derivative": [e.q_dot, a], "forces": [a, lam]}
    if e.psi.numel():
        outputs["project"] = list(project(e))
        outputs["residual"] = [_ratios(e)]
    kernels = {
        name: compile_kernel(
            ca.Function(name, inputs, [ca.densify(x) for x in expressions]), lanes=lanes, name=name
        )
        for name, expressions in outputs.items()
    }
    rows = (e.phi.numel(), e.phi.numel() + e.psi.numel(), e.A.shape[0])
    return Program(e.q.numel(), e.v.numel(), rows, lanes, kernels)


def _stabilised(e: Expressions, r: float) -> Expressions:
    """φ̈ + 2 r φ̇ + r² φ = 0 and ψ̇ + r ψ = 0 in place of φ̈ = 0 and ψ̇ = 0 (Baumgarte 1972)."""
    return replace(e, b=e.b - 2.0 * r * e.rate_of_row - r * r * e.value_of_row)


def _ratios(e: Expressions) -> casadi.SX:
    """φᵢ / max(1, |φ_q,ᵢ| |q|) and ψᵢ / max(1, |ψ_v,ᵢ| |v|), stacked."""
    import casadi as ca

    parts = []
    for values, symbols in ((e.phi, e.q), (e.psi, e.v)):
        if values.numel():
            jacobian = ca.jacobian(values, symbols)
            lengths = ca.sqrt(ca.mtimes(jacobian * jacobian, ca.SX.ones(symbols.numel(), 1)))
            parts.append(values / ca.fmax(1.0, lengths * ca.norm_2(symbols)))
    return ca.vertcat(*parts)
