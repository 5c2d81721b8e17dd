"""Block programs: energies and the power of applied forces of a mechanism at many states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from zwang.codegen.expression import Port
from zwang.programs.at_states import SIDE_BY_SIDE
from zwang.programs.blocks import kernels
from zwang.programs.blocks.algebra import reduce_sum, zeros
from zwang.programs.blocks.call_list import OUT, CallList, P, place
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.layout import BlockLayout, ElementType
from zwang.programs.blocks.pattern import Pattern
from zwang.programs.blocks.run_calls import CallListKernel

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.kernel import Kernel

__all__ = ["SUMS", "energy_kernel"]

#: Kinetic energy, potential energy, power of the applied forces.
SUMS = 3


def energy_kernel(s: BlockLayout, of_nodes: Sequence[casadi.Function]) -> Kernel:
    """(q, v, t, p) → T, V, Q·v, side by side for several states.

    Parameters
    ----------
    of_nodes : for each node (q, v, data, shared) → its T, V and power.
    """
    tape = CallList(SIDE_BY_SIDE, shared=True)
    sweep = Sweep(s, Pattern(s), tape, "check")
    total = tape.work.new(SUMS)
    tape.call(zeros(SUMS), total)
    for n, (node, function) in enumerate(zip(s.nodes, of_nodes, strict=True)):
        target = tape.work.new(SUMS)
        numbers, shared = place(P, node.data[0]), place(P, s.node_shared[0])
        tape.call(_added(function), total, sweep.q(n), sweep.v(n), numbers, shared, target)
        total = target
    for element in s.forces:
        target = tape.work.new(SUMS)
        tape.call(_of_force(element.type), total, *sweep.arguments(element), target)
        total = target
    tape.call(reduce_sum(SUMS, 1), total, place(OUT, 0))
    inputs = (
        *(Port("q", s.q_starts[-1]), Port("v", s.v_starts[-1])),
        *(Port("t", 1), Port("p", s.parameters)),
    )
    outputs = (Port("sums", SUMS),)
    return CallListKernel("energies", inputs, outputs, SIDE_BY_SIDE, tape.stream(), shared=True)


@cache
def _added(function: casadi.Function) -> casadi.Function:
    """(total, …) → total + f(…)."""
    import casadi as ca

    total = ca.SX.sym("total", SUMS)
    inputs = [ca.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    return ca.Function("energy", [total, *inputs], [ca.densify(total + function(*inputs))])


@kernels.remembered
def _of_force(kind: ElementType) -> casadi.Function:
    """(total, config…, v…, t, numbers, shared) → total + (0, V, Σ f·v)."""
    import casadi as ca

    inputs, total, count = kernels.inputs_of(kind), ca.SX.sym("total", SUMS), len(kind.kinds)
    V, *forces = kind.terms.call(inputs)
    power = ca.SX(0)
    for k in kernels.moving_nodes(kind):
        power = power + ca.dot(forces[k], inputs[count + k])
    return ca.Function("energy", [total, *inputs], [ca.densify(total + ca.vertcat(0, V, power))])
