"""Simulation by a reference formulation, evaluated in Python for the same compiled time loops.

What a compiled program does in one kernel is done here in Python, call by call of the loop:

    M, Q, A, b, C at (q, v, t)  →  formulation  →  v̇

Some hundred times slower, and otherwise the same simulation: integrator, error control, projection,
events and storage do not know the difference. It serves formulations asked for by name, and systems
with functions that cannot be traced (`zwang.opaque`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from zwang.codegen.expression import Port
from zwang.codegen.kernel import Kernel
from zwang.codegen.python_kernel import CalledKernel
from zwang.errors import InputError
from zwang.programs.factor import ProgramExpressions
from zwang.programs.whole import WholeProgram, fuse
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.tracing.opaque import OpaqueCall

__all__ = ["ReferenceProgram", "reference_program"]


class _Derivative(CalledKernel):
    """(q, v, t, p) → (q̇, v̇), the second by a formulation.

    Attributes
    ----------
    project : a kernel that corrects (q, v) towards the constraints, or None. Redundant rows agree
        on the constraints alone, and stages of a step lie beside them; so v̇ is taken at the
        corrected state where rows are redundant.
    rate : r of Baumgarte's stabilisation, b − 2 r ψ − r² φ in place of b.
    """

    def __init__(
        self,
        system: Equations,
        e: ProgramExpressions,
        formulation: str,
        project: Kernel | None,
        rate: float,
    ) -> None:
        ports = [Port(k, x.numel()) for k, x in zip("qvtp", (e.q, e.v, e.t, e.p), strict=True)]
        super().__init__("derivative", tuple(ports), (ports[0], ports[1]))
        self.system, self.e, self.formulation = system, e, formulation
        self.project, self.rate = project, rate

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Evaluate; see `Kernel`."""
        q, v, t, p = self._checked(inputs)
        evaluate, time = self.system.evaluator, t.reshape(())
        (q_dot,) = evaluate("q_dot", lambda m: {"q_dot": m.state.q_dot}, q, v, time, p)
        if self.project is not None:
            for _ in range(2):  # the second takes the factor at the corrected position
                q, v, *_ = self.project(q, v, t, p)
        shift = None
        if self.rate:
            e, r = self.e, self.rate
            rows = {"value": e.value_of_row, "rate": e.rate_of_row}
            value, rate = evaluate("stabilisation", lambda _: rows, q, v, time, p)
            shift = -2.0 * r * rate - r * r * value
        solution = self.system.solve_at(q, v, time, p, formulation=self.formulation, shift=shift)
        return q_dot, solution.acceleration


class _Arrival(CalledKernel):
    """(q, v, t, p) → (q̇, v̇, ratios): the derivative, and the residuals if there are any."""

    def __init__(self, derivative: Kernel, residual: Kernel | None) -> None:
        self.parts = [derivative] if residual is None else [derivative, residual]
        outputs = tuple(port for part in self.parts for port in part.outputs)
        super().__init__("arrival", derivative.inputs, outputs)

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Evaluate; see `Kernel`."""
        return tuple(result for part in self.parts for result in part(*inputs))


@dataclass(frozen=True)
class ReferenceProgram(WholeProgram):
    """A program whose derivative is computed in Python, and whose projection is compiled.

    Attributes
    ----------
    derivative : makes the derivative, given the projection.
    calls : opaque calls, which are made between the compiled parts of a kernel.
    """

    derivative: Callable[[Kernel | None], Kernel] = field(repr=False, kw_only=True)
    calls: tuple[OpaqueCall, ...] = field(default=(), repr=False)

    @property
    def has_nodes(self) -> bool:
        """Python evaluates one state after the other."""
        return False

    def kernel(self, name: str) -> Kernel:
        """A kernel, made when it is first asked for."""
        if name not in self.compiled:
            self.compiled[name] = self._made(name)
        return self.compiled[name]

    def _made(self, name: str) -> Kernel:
        if name == "derivative":
            return self.derivative(self.kernel("project") if "project" in self.outputs else None)
        if name == "arrival":
            residual = self.kernel("residual") if "residual" in self.outputs else None
            return _Arrival(self.kernel("derivative"), residual)
        if name in ("project", "residual"):
            inputs = dict(zip("qvtp", self.inputs, strict=True))
            outputs = {f"{name}{k}": e for k, e in enumerate(self.outputs[name]())}
            return staged(name, inputs, outputs, self.calls)
        raise _needs_expressions(name)


def _needs_expressions(what: str) -> InputError:
    return InputError(
        "integrator",
        expected="'order8' or 'order5', as accelerations are computed in Python",
        found=f"one that needs {what!r} as an expression",
    )


def reference_program(
    system: Equations,
    e: ProgramExpressions,
    formulation: str,
    *,
    redundant: bool,
    rate: float,
    left_out: tuple[int, ...] = (),
) -> ReferenceProgram:
    """The program of a system with v̇ by a formulation, or by the best one if it is "auto".

    Parameters
    ----------
    e : its expressions, with the rows that states are projected onto.
    redundant : whether constraint rows depend on each other.
    rate : Baumgarte's rate [1/s], or 0.
    left_out : rows that are not among those of `e`; the formulation has them.
    """

    def derivative(project: Kernel | None) -> Kernel:
        return _Derivative(system, e, formulation, project if redundant else None, rate)

    def discrete(method: str) -> NoReturn:
        raise _needs_expressions(method)

    fused = fuse(replace(e, law=None, multipliers=None), left_out=left_out)
    return ReferenceProgram(
        fused.nq,
        fused.nv,
        fused.rows,
        1,
        fused.inputs,
        fused.outputs,
        discrete,
        left_out=left_out,
        derivative=derivative,
        calls=tuple(system.model.state.calls),
    )
