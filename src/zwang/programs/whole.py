"""Whole programs: a system each of whose kernels is one compiled expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.codegen.node_sums import NODES
from zwang.errors import ZwangError
from zwang.programs.contract import Program, Stage
from zwang.programs.coordinate_change import CoordinateChange
from zwang.programs.cost import COST
from zwang.programs.direct import Direct, is_direct
from zwang.programs.factor import (
    Factor,
    ProgramExpressions,
    accelerate,
    entries_of,
    project,
    sum_of_squares,
)
from zwang.programs.fixed_step import METHODS, StageExpressions
from zwang.programs.jacobian import along, jacobian
from zwang.programs.jacobian_columns import ColumnsKernel

if TYPE_CHECKING:
    import casadi

__all__ = ["WholeProgram", "fuse"]

#: Number of the parameters among the inputs of a kernel.
_PARAMETERS = 3


@dataclass(frozen=True)
class WholeProgram(Program):
    """Equations of motion as whole expressions, compiled as far as they are used.

    Attributes
    ----------
    inputs : symbols of the kernels.
    outputs : name of a kernel → what writes its expressions down.
    discrete : writes down the stages of a fixed-step method by its name.
    direction : symbol of a further input of the kernel ``along``, J(q, v)·direction.
    compiled : name → kernel, of those that were asked for.
    """

    nq: int
    nv: int
    rows: tuple[int, int, int]
    lanes: int
    inputs: Sequence[casadi.SX] = field(repr=False)
    outputs: Mapping[str, Callable[[], Sequence[casadi.SX]]] = field(repr=False)
    discrete: Callable[[str], Sequence[StageExpressions]] = field(repr=False)
    left_out: tuple[int, ...] = ()
    repeated: tuple[int, ...] = field(default=(), kw_only=True)
    fulfilled: tuple[int, ...] = field(default=(), kw_only=True)
    carrier: CoordinateChange | None = None
    plain_rates: bool = False
    direction: casadi.SX | None = field(default=None, repr=False)
    compiled: dict[str, Kernel] = field(default_factory=dict, repr=False)
    frames: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _stages: dict[str, tuple[Stage, ...]] = field(default_factory=dict, repr=False)
    _calls: dict[tuple[str, ...], tuple[tuple[int, ...], Kernel]] = field(
        default_factory=dict, repr=False
    )

    @property
    def watches_all_rows(self) -> bool:
        """Whether `residual` holds the rows that are left out."""
        return self.carrier is None

    def kernel(self, name: str) -> Kernel:
        """A kernel, compiled when it is first asked for."""
        if name not in self.compiled:
            if (
                name == "jacobian"
                and self.nq + self.nv > COST.jacobian_freedoms
                and self.lanes == 1
            ):
                self.compiled[name] = ColumnsKernel(name, self.kernel("along"))
            else:
                function = self._function(name)
                self.compiled[name] = compile_kernel(function, lanes=self.lanes, name=name)
        return self.compiled[name]

    def at_nodes(self, name: str) -> Kernel:
        """A kernel for `NODES` states of one trajectory at once, which share its parameters."""
        key = f"{name} at nodes"
        if key not in self.compiled:
            self.compiled[key] = compile_kernel(
                self._function(name), lanes=NODES, shared=[_PARAMETERS], name=key
            )
        return self.compiled[key]

    def _function(self, name: str) -> casadi.Function:
        import casadi as ca

        outputs = [ca.densify(x) for x in self.outputs[name]()]
        inputs = [*self.inputs, *([self.direction] if name == "along" else [])]
        return ca.Function(name, inputs, outputs)

    def stages(self, method: str) -> tuple[Stage, ...]:
        """The stages of a fixed-step method, compiled when they are first asked for."""
        if method not in self._stages:
            written = self.discrete(method)
            self._stages[method] = tuple(Stage.of(f"{method}{k}", e) for k, e in enumerate(written))
        return self._stages[method]

    def failure(self) -> ZwangError | None:
        """Why a kernel that calls Python failed, since this was last asked; else None.

        What is no error of this library, Ctrl-C for one, is raised.
        """
        found = None
        for kernel in self.compiled.values():
            if kernel.failure is not None:
                found, kernel.failure = kernel.failure, None
        if found is not None and not isinstance(found, ZwangError):
            raise found
        return found

    def _used(self, further: tuple[str, ...]) -> tuple[tuple[int, ...], Kernel]:
        """Addresses of derivative, project, residual, none and `further`; the one with most work.

        Found once for every loop that asks.
        """
        if further not in self._calls:
            names = [name for name in ("derivative", "project", "residual") if name in self.outputs]
            # Nobody arrives where there is nothing to keep: it would be the derivative once more.
            names += [name for name in further if name != "arrival" or self.rows[1]]
            kernels = {name: self.kernel(name) for name in names}
            order = ("derivative", "project", "residual", "", *further)
            addresses = tuple(kernels[name].address if name in kernels else 0 for name in order)
            most = max(kernels.values(), key=lambda kernel: kernel.work_size)
            self._calls[further] = addresses, most
        return self._calls[further]

    def addresses(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> np.ndarray:
        """Addresses of derivative, project, residual, events, and of `further` kernels."""
        addresses = np.array(self._used(further)[0], dtype=np.int64)
        if events is not None:
            addresses[3] = events.address
        return addresses

    def largest(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> Kernel:
        """The one of these kernels whose work array is large enough for every one of them."""
        most = self._used(further)[1]
        return events if events is not None and events.work_size > most.work_size else most


def fuse(
    e: ProgramExpressions,
    *,
    lanes: int = 1,
    stabilisation: float = 0.0,
    left_out: tuple[int, ...] = (),
    carrier: CoordinateChange | None = None,
) -> WholeProgram:
    """A system as a whole, each kernel one expression.

    Parameters
    ----------
    stabilisation : Baumgarte's rate [1/s]; b is replaced by b − 2 r ψ − r² φ when it is not zero.
    left_out : rows of the system that are not among those of `e`.
    carrier : the coordinates of `e`, if these are not those of the system.
    """
    import casadi as ca

    if stabilisation:
        e = _stabilised(e, stabilisation)
    direction = ca.SX.sym("direction", e.q.numel() + e.v.numel())
    solved = cache(lambda: accelerate(e)[:2])
    direct, ratios = _DirectFactors(e), cache(lambda: _ratios(e))
    alone = cache(direct.accelerations) if is_direct(e) else lambda: solved()[0]
    outputs: dict[str, Callable[[], Sequence[casadi.SX]]] = {
        "derivative": lambda: [e.q_dot, alone()],
        "rates": lambda: [e.q_dot],
        "acceleration": lambda: [alone()],
        "arrival": lambda: [e.q_dot, alone(), ratios()],
        "forces": solved,
        "jacobian": lambda: [jacobian(e)],
        "along": lambda: [along(e, direction)],
    }
    kept = sum(values.numel() for values in e.checked) + len(e.unit)
    if kept:  # though none of these rows may act: what they say is looked at all the same
        loops = is_direct(e) and not e.independent
        outputs["project"] = lambda: project(e, direct.of_rows if loops else Factor)
        outputs["residual"] = lambda: [ratios()]
    rows = (e.phi.numel(), kept, e.A.shape[0])
    inputs = [e.q, e.v, e.t, e.p]
    return WholeProgram(
        e.q.numel(),
        e.v.numel(),
        rows,
        lanes,
        inputs,
        outputs,
        lambda name: METHODS[name](e),
        left_out,
        carrier,
        _are_velocities(e.q_dot, e.v),
        direction,
    )


class _DirectFactors:
    """The eliminations of a system, of all its rows once: where all are of positions, accelerations
    and corrections are found by the same.
    """

    def __init__(self, e: ProgramExpressions) -> None:
        self.e = e

    @cached_property
    def of_all(self) -> Direct:
        """That of all rows."""
        return Direct(self.e, self.e.A)

    def accelerations(self) -> casadi.SX:
        """v̇, shape (nv, 1)."""
        return self.of_all.move(self.e.force, self.e.b)

    def of_rows(self, e: ProgramExpressions, A: casadi.SX) -> Direct:
        """That of some rows."""
        import casadi as ca

        all_rows = self.e.A
        same = A.sparsity() == all_rows.sparsity() and ca.is_equal(A, all_rows)
        return self.of_all if same else Direct(e, A)


def _are_velocities(q_dot: casadi.SX, v: casadi.SX) -> bool:
    """Whether q̇ is v, entry by entry."""
    import casadi as ca

    if q_dot.numel() != v.numel():
        return False
    pairs = zip(ca.vertsplit(ca.densify(q_dot)), ca.vertsplit(v), strict=True)
    return all(a.is_symbolic() and ca.is_equal(a, b) for a, b in pairs)


def _stabilised(e: ProgramExpressions, r: float) -> ProgramExpressions:
    """φ̈ + 2 r φ̇ + r² φ = 0 and ψ̇ + r ψ = 0 in place of φ̈ = 0 and ψ̇ = 0 (Baumgarte 1972)."""
    return replace(e, b=e.b - 2.0 * r * e.rate_of_row - r * r * e.value_of_row)


def _ratios(e: ProgramExpressions) -> casadi.SX:
    """φᵢ / max(1, |φ_q,ᵢ| |q|), ψᵢ / max(1, |ψ_v,ᵢ| |v|) and (|q_g|² − 1)/2 of unit groups."""
    import casadi as ca

    parts = []
    for values, symbols in zip(e.checked, (e.q, e.v), strict=True):
        if values.numel():
            jacobian = ca.jacobian(values, symbols)
            lengths = ca.sqrt(ca.mtimes(jacobian * jacobian, ca.SX.ones(symbols.numel(), 1)))
            parts.append(values / ca.fmax(1.0, lengths * ca.norm_2(symbols)))
    entries = entries_of(e.q) if e.unit else []
    for group in e.unit:
        parts.append(0.5 * (sum_of_squares([entries[k] for k in group]) - 1.0))
    return ca.vertcat(*parts)
