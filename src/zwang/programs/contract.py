"""The contract of a program, all that integrators see: sizes and the addresses of a few kernels.

A `Program` hides where the equations came from. Its kernels share one form,

    derivative   (q, v, t, p) → (q̇, v̇)
    project      (q, v, t, p) → (q, v, pivots)     one correction onto φ = 0 and ψ = 0; for position
                                                   rows pivots relative to their sizes, then sizes
    residual     (q, v, t, p) → ratios              φ and ψ relative to the size of their terms
    arrival      (q, v, t, p) → (q̇, v̇, ratios)      derivative and residual in one
    rates        (q, v, t, p) → q̇
    acceleration (q, v, t, p) → v̇
    forces       (q, v, t, p) → (v̇, λ)
    events       (q, v, t, p) → g
    jacobian     (q, v, t, p) → ∂(q̇, v̇)/∂(q, v)   column by column

with arrays laid out [entry][lane]. Where the lanes are nodes within a step of one trajectory,
parameters are shared by them, see `Program.at_nodes`. Fixed-step methods have stages, see
`zwang.programs.fixed_step`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.errors import NotApplicableError, ZwangError
from zwang.programs.coordinate_change import CoordinateChange

if TYPE_CHECKING:
    from zwang.programs.fixed_step import StageExpressions

__all__ = ["Program", "Stage"]


@dataclass(frozen=True)
class Stage:
    """A compiled stage of a fixed-step method, see `zwang.programs.fixed_step`.

    Attributes
    ----------
    kernel : (q, v, m, x, s, p) → (q₁, v₁, m₁, r, entries of r_x).
    rows, columns : where the entries belong.
    """

    kernel: Kernel
    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, name: str, e: StageExpressions) -> Stage:
        """Compile a stage."""
        import casadi as ca

        outputs = [*(ca.densify(x) for x in (e.q, e.v, e.m, e.residual)), e.jacobian]
        kernel = compile_kernel(ca.Function(name, list(e.inputs), outputs), name=name)
        rows, columns = e.jacobian.sparsity().get_triplet()
        return cls(kernel, np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))

    @property
    def unknowns(self) -> int:
        """How many equations there are."""
        return self.kernel.inputs[3].size


class Program(ABC):
    """Equations of motion, compiled as far as they are used: all that an integrator sees.

    Attributes
    ----------
    nq, nv : numbers of coordinates and velocities.
    rows : position rows, rows that `residual` returns, all constraint rows.
    lanes : trajectories that run side by side.
    left_out : numbers of the constraint rows that follow from others and do not act; whether they
        still do so is looked at all the way.
    repeated : numbers of the rows of joints that repeat others to the bit, which do not act.
    fulfilled : numbers of the rows that its coordinates fulfil whatever their values, which do not
        act either.
    carrier : the coordinates it is written in, if these are not those of its system.
    plain_rates : whether q̇ = v.
    frames : what loops keep here for the next of their kind.
    """

    nq: int
    nv: int
    rows: tuple[int, int, int]
    lanes: int
    left_out: tuple[int, ...]
    repeated: tuple[int, ...] = ()
    fulfilled: tuple[int, ...] = ()
    carrier: CoordinateChange | None
    plain_rates: bool
    frames: dict[Any, Any]

    @property
    def idle_rows(self) -> tuple[int, ...]:
        """Numbers of all constraint rows that do not act."""
        return tuple(sorted((*self.left_out, *self.repeated, *self.fulfilled)))

    @abstractmethod
    def kernel(self, name: str) -> Kernel:
        """A kernel, made when it is first asked for."""

    @abstractmethod
    def at_nodes(self, name: str) -> Kernel:
        """A kernel for `NODES` states of one trajectory at once, which share its parameters."""

    @abstractmethod
    def addresses(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> np.ndarray:
        """Addresses of derivative, project, residual, events, and of `further` kernels."""

    @abstractmethod
    def largest(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> Kernel:
        """The one of these kernels whose work array is large enough for every one of them."""

    def stages(self, method: str) -> tuple[Stage, ...]:
        """The stages of a fixed-step method, compiled when they are first asked for."""
        raise NotApplicableError(
            f"integrator {method!r}",
            must="be used with equations of one expression",
            but="these are evaluated element by element",
        )

    @property
    def has_nodes(self) -> bool:
        """Whether its kernels come for nodes of one trajectory as well."""
        return True

    @property
    def finest_at_nodes(self) -> float:
        """The least tolerance at which sweeps over nodes converge at singular positions."""
        return 0.0

    @property
    @abstractmethod
    def watches_all_rows(self) -> bool:
        """Whether `residual` holds the rows that are left out."""

    def failure(self) -> ZwangError | None:
        """Why a kernel that calls Python failed, since this was last asked; else None."""
        return None
