"""Kernels of models with opaque calls: compiled parts, and numerical calls between them.

    w = w(q, v, t, p)                 compiled
    o, f_w, f_ww at w                 called, `finite_differences`
    outputs(q, v, t, p, o, f_w, f_ww) compiled

with as many rounds of the first two as calls are nested. Only the derivatives that the outputs
contain are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.codegen.python_kernel import CalledKernel
from zwang.terms import FloatArray
from zwang.tracing.finite_differences import differentiate
from zwang.tracing.opaque import OpaqueCall

if TYPE_CHECKING:
    import casadi

__all__ = ["StagedKernel", "staged"]


def staged(
    name: str,
    inputs: Mapping[str, casadi.SX],
    outputs: Mapping[str, casadi.SX],
    calls: Sequence[OpaqueCall],
) -> Kernel:
    """A kernel of the outputs; a plain one if they contain no opaque call."""
    import casadi as ca

    dense = {key: ca.densify(e) for key, e in outputs.items()}
    needed = _needs(calls, dense)
    if not needed:
        return _compiled(name, inputs, dense)
    stages: list[CallStage] = []
    known = ca.SX(0, 1)
    while needed:
        ready = [need for need in needed if not _waits(need, needed)]
        needed = [need for need in needed if need not in ready]
        w = ca.vertcat(*(ca.densify(need.call.arguments) for need in ready))
        kernel = _compiled(f"{name}_arguments{len(stages)}", {**inputs, "opaque": known}, {"w": w})
        stages.append(CallStage(kernel, tuple(ready)))
        known = ca.vertcat(known, *(need.symbols for need in ready))
    last = _compiled(name, {**inputs, "opaque": known}, dense)
    return StagedKernel(name, tuple(stages), last)


def _needs(calls: Sequence[OpaqueCall], outputs: Mapping[str, casadi.SX]) -> list[Need]:
    """The calls that the outputs contain, directly or in arguments of others, in order."""
    used = _used(list(outputs.values()))
    needed: list[Need] = []
    for call in reversed(calls):  # the arguments of a call contain earlier calls only
        need = Need.of(call, used)
        if need is not None:
            needed.insert(0, need)
            used |= _used([call.arguments])
    return needed


@dataclass(frozen=True, eq=False)
class Need:
    """Which results of a call are needed: its values always, and these derivatives."""

    call: OpaqueCall
    columns: tuple[int, ...]
    pairs: tuple[int, ...]

    @classmethod
    def of(cls, call: OpaqueCall, used: set[int]) -> Need | None:
        """What is used of a call, or None."""
        columns = _columns_used(call.jacobian, used)
        pairs = _columns_used(call.hessian, used)
        values = _columns_used(call.values, used)
        return cls(call, columns, pairs) if values or columns or pairs else None

    @property
    def symbols(self) -> casadi.SX:
        """Their symbols, in the order of `numbers`."""
        import casadi as ca

        call = self.call
        parts = [call.values]
        parts += [call.jacobian[:, j] for j in self.columns]
        parts += [call.hessian[:, k] for k in self.pairs]
        return ca.vertcat(*parts)

    def numbers(self, w: FloatArray) -> tuple[FloatArray, str, float]:
        """Values and derivatives at w; the method used, or "", and its estimated error."""
        call = self.call
        value = call.value(w)
        if not self.columns and not self.pairs:
            return value, "", 0.0
        all_pairs = call.pairs
        found = differentiate(
            call.evaluate,
            w,
            value,
            self.columns,
            [all_pairs[k] for k in self.pairs],
            call.function.method,
            call.name,
        )
        parts = [value, found.jacobian.ravel("F"), found.hessian.ravel("F")]
        return np.concatenate(parts), found.method, found.error


@dataclass(frozen=True)
class CallStage:
    """Calls whose arguments are all known, and the kernel that computes these."""

    kernel: Kernel
    needs: tuple[Need, ...]


@dataclass
class Report:
    """How derivatives of a function were found, and the worst error estimate, since the reset."""

    methods: set[str] = field(default_factory=set)
    error: float = 0.0

    def add(self, method: str, error: float) -> None:
        """Count one evaluation."""
        if method:
            self.methods.add(method)
            self.error = max(self.error, error)


class StagedKernel(CalledKernel):
    """A kernel with numerical calls between its compiled parts; the same interface."""

    def __init__(self, name: str, stages: tuple[CallStage, ...], last: Kernel) -> None:
        super().__init__(name, last.inputs[:-1], last.outputs)
        self.stages, self.last = stages, last
        self.reports: dict[str, Report] = {}
        self.reset()

    def reset(self) -> None:
        """Forget what earlier calls reported."""
        self.failure = None
        self.reports = {need.call.name: Report() for stage in self.stages for need in stage.needs}

    def __call__(self, *inputs: Any) -> tuple[NDArray[np.float64], ...]:
        """Evaluate; see `Kernel`."""
        arrays = self._checked(inputs)
        known = np.zeros(0)
        for stage in self.stages:
            (w,) = stage.kernel(*arrays, known)
            parts: list[Any] = [known]
            start = 0
            for need in stage.needs:
                stop = start + need.call.arguments.numel()
                numbers, method, error = need.numbers(w[start:stop])
                self.reports[need.call.name].add(method, error)
                parts.append(numbers)
                start = stop
            known = np.concatenate(parts)
        return self.last(*arrays, known)


def _compiled(
    name: str, inputs: Mapping[str, casadi.SX], outputs: Mapping[str, casadi.SX]
) -> Kernel:
    import casadi as ca

    function = ca.Function(
        name, list(inputs.values()), list(outputs.values()), list(inputs), list(outputs)
    )
    return compile_kernel(function, name=name)


def _used(expressions: Sequence[casadi.SX]) -> set[int]:
    import casadi as ca

    return {symbol.element_hash() for symbol in ca.symvar(ca.veccat(*expressions))}


def _columns_used(symbols: casadi.SX, used: set[int]) -> tuple[int, ...]:
    rows, columns = symbols.shape
    return tuple(
        j for j in range(columns) if any(symbols[i, j].element_hash() in used for i in range(rows))
    )


def _waits(need: Need, others: Sequence[Need]) -> bool:
    """Whether an argument depends on a call that has not been made."""
    used = _used([need.call.arguments])
    return any(Need.of(other.call, used) is not None for other in others if other is not need)
