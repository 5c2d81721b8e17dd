"""Collocation behind the common interface of loops."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from zwang.codegen.kernel import address
from zwang.codegen.node_sums import NODES
from zwang.integrators import memory as sh
from zwang.integrators.collocation import step
from zwang.integrators.collocation.coefficients import gauss as gauss_points
from zwang.integrators.collocation.records import (
    PAST,
    VECTORS,
    CollocationMethod,
    CollocationStep,
    NodeSweeps,
    StepBefore,
)
from zwang.integrators.contract import Loop
from zwang.integrators.explicit.tableaus import TABLEAUS
from zwang.integrators.output import LoopOutput
from zwang.integrators.records import MotionSamples
from zwang.integrators.stiffness import NEXT_METHOD, PATIENCE, SAMPLES, leaving_numbers
from zwang.programs.contract import Program
from zwang.terms import FloatArray

__all__ = ["GaussLoop"]

#: Steps below which an implicit method saves nothing.
MANY_STEPS = 500
#: Of the explicit method that it may leave to.
STAGES = TABLEAUS[NEXT_METHOD["gauss"]].stages
_LINE = 64  # bytes of a line of the cache, and of eight numbers


class GaussLoop(Loop):
    """Collocation at eight points of Gauss, which are the lanes of its kernels."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (
        *Loop.REMEMBERED,
        "kept",
        "past",
        "sample_times",
        "samples",
        "leaving",
    )
    LOOKS: ClassVar[tuple[float, ...]] = tuple(gauss_points(NODES).c.tolist())

    def prepare(self) -> None:
        """Coefficients, nodes and what belongs to them."""
        n = len(self.state)
        addresses, work_size = _node_kernels(self.program)
        c = gauss_points(NODES)
        self.method = CollocationMethod(addresses, c.c, c.b, c.integral, c.analysis)
        work_size = max(self.largest.work_size, work_size, 1)
        arrays, tables = 6 * n, 4 * NODES  # of those below, in lines of the cache
        lines = aligned(NODES * (arrays + tables) + work_size)
        self.work = lines[-work_size:]
        lines = lines[:-work_size].reshape(-1, NODES)
        at_nodes, table = lines[:arrays].reshape(6, n, NODES), lines[arrays:].reshape(4, NODES, -1)
        self.kept, self.past = at_nodes[0], np.zeros(PAST)
        self.before = StepBefore(self.kept, self.past)
        self.sweeps = NodeSweeps(
            at_nodes[1],
            at_nodes[2],
            at_nodes[3],
            at_nodes[4:],
            table[3, 0:1],
            self.room_for_pivots(NODES),
            np.empty(n),
            table[3, 1],
            table,
            np.zeros((max(n, NODES), 1)),
        )
        self.step_under_way = CollocationStep(
            np.empty((1, 1)), np.empty((1, 1)), np.empty((VECTORS, n, 1))
        )

        # Where nobody asks whether to leave, nothing is sampled.
        rows = (SAMPLES, n) if self.may_leave else (0, 0)
        self.sample_times, self.samples = np.zeros((rows[0], 1)), np.zeros((*rows, 1))
        self.leaving = leaving_numbers(self.program, STAGES, self.returns)

    def clear(self) -> None:
        """Give all that is remembered the values that it has before a loop begins."""
        super().clear()
        self.leaving[...] = leaving_numbers(self.program, STAGES, self.returns)

    def begin(self) -> None:
        """The derivative at the present state stands for a step before, and a step."""
        step.begin(self.equations, self.remembered_steps, self.choices, self.before)

    def next_method(self) -> str:
        """The method that takes over: the implicit one if samples told so."""
        smooth = self.counts.item(sh.SMOOTH, 0) >= self.leaving.item(PATIENCE)
        return "radau5" if smooth else super().next_method()

    def held_back(self, lane: int = 0) -> bool:
        """Whether most of many steps were as long as sweeps converge: the motion is stiff."""
        steps = self.counts.item(sh.ACCEPTS, lane)
        return steps >= MANY_STEPS and self.counts.item(sh.AT_STABILITY, lane) > 0.5 * steps

    def run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop."""
        return step.advance(
            self.equations,
            self.remembered_steps,
            self.choices,
            out.buffers,
            self.event_memory,
            self.onto,
            self.method,
            self.before,
            self.sweeps,
            self.step_under_way,
            MotionSamples(self.sample_times, self.samples, self.leaving),
            budget,
        )


def _node_kernels(program: Program) -> tuple[np.ndarray, int]:
    """Addresses of acceleration, rates and project at nodes, 0 for those that are not needed.

    And the length of the work array that will do for all of them.
    """
    found = program.frames.get("nodes")
    if found is None:
        names = ["acceleration", *([] if program.plain_rates else ["rates"])]
        names += ["project"] if program.rows[0] else []
        kernels = {name: program.at_nodes(name) for name in names}
        wanted = [kernels.get(name) for name in ("acceleration", "rates", "project")]
        addresses = [0 if kernel is None else kernel.address for kernel in wanted]
        most = max(kernel.work_size for kernel in kernels.values())
        # Another thread may empty the frames at any time.
        found = program.frames["nodes"] = np.array(addresses, dtype=np.int64), most
    return found


def aligned(size: int) -> FloatArray:
    """An array of zeros that begins with a line of the cache."""
    array = np.zeros(size + _LINE // 8)
    first = -address(array) % _LINE // 8
    return array[first : first + size]
