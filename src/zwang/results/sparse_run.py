"""Energies and forces of runs of large mechanisms, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.active_rows import ActiveRows
    from zwang.programs.blocks.program import BlockProgram

__all__ = ["Balance", "ByElements"]


class Balance(NamedTuple):
    """Both sides of the equations of motion at many states, and the powers in them.

    Attributes
    ----------
    force : |M v̇ − Q − C − Aᵀλ|, the gradient of Gauss's function on the constraints, shape (nt,).
    constraint : |A v̇ − b|, shape (nt,).
    applied_power, constraint_power, nonideal_power : Q·v, λ·(A v) and C·v, shape (nt,).
    """

    force: FloatArray
    constraint: FloatArray
    applied_power: FloatArray
    constraint_power: FloatArray
    nonideal_power: FloatArray


@runtime_checkable
class ByElements(Protocol):
    """A system that is evaluated element by element, at a cost that grows with their number."""

    def elements_digest(self) -> str:
        """A hash of all functions and connections, in place of one of a whole expression."""
        ...

    def block_program(
        self, left_out: tuple[int, ...] = (), lanes: int = 1, *, distinct: bool = False
    ) -> BlockProgram:
        """The compiled program; rows that are left out do not act."""
        ...

    def active_rows(self, q: FloatArray, t: float, p: FloatArray) -> ActiveRows:
        """Which rows act; those that depend on others do not."""
        ...

    def fast_forces(
        self,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        parameters: Mapping[str, Any],
        left_out: tuple[int, ...] = (),
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations (nt, nv) and multipliers (nt, m) at many states."""
        ...

    def group_force(
        self,
        name: str,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        multipliers: FloatArray,
        parameters: Mapping[str, Any],
    ) -> FloatArray:
        """Generalized force A_gᵀ λ_g of one constraint at many states, shape (nt, nv)."""
        ...

    def balance(
        self, q: FloatArray, v: FloatArray, t: FloatArray, parameters: Mapping[str, Any]
    ) -> Balance:
        """How well accelerations and multipliers satisfy the equations, relative, and powers."""
        ...

    def full_terms(self, q: FloatArray, v: FloatArray, t: float, p: FloatArray) -> tuple[Any, ...]:
        """M, Q, A, b, φ, ψ, q̇, a law of friction and multipliers that agree with it, at a state."""
        ...

    def residual_ratios(
        self, q: FloatArray, v: FloatArray, t: FloatArray, parameters: Mapping[str, Any]
    ) -> FloatArray:
        """Residuals as the integrator limits them, shape (nt, rows)."""
        ...
