"""Radau IIA behind the common interface of loops."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from zwang.integrators import memory as sh
from zwang.integrators.contract import Loop
from zwang.integrators.explicit.tableaus import TABLEAUS
from zwang.integrators.output import LoopOutput
from zwang.integrators.radau import stages, step
from zwang.integrators.radau.records import NewtonRoom, RadauMemory, RadauStep
from zwang.integrators.stiffness import NEXT_METHOD, leaving_numbers

__all__ = ["RadauLoop"]

#: Of the explicit method that it may leave to.
STAGES = TABLEAUS[NEXT_METHOD["radau5"]].stages


class RadauLoop(Loop):
    """Radau IIA of order 5, for stiff systems; one lane."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (
        *Loop.REMEMBERED,
        "derivative",
        "stages",
        "jacobian",
        "newton",
        "leaving",
    )
    KERNELS: ClassVar[tuple[str, ...]] = ("jacobian",)

    def prepare(self) -> None:
        """Derivative, stages, Jacobian, and what Newton's method remembers."""
        super().prepare()
        n = len(self.state)
        self.derivative, self.stages = np.zeros((n, 1)), np.zeros((3, n, 1))
        self.jacobian, self.newton = np.zeros((n * n, 1)), np.zeros(stages.NEWTON)
        self.leaving = leaving_numbers(self.program, STAGES, self.returns)
        self.past = RadauMemory(
            self.derivative, self.stages, self.jacobian, self.newton, self.leaving
        )
        self.room = NewtonRoom(
            *(np.empty((n, n)), np.empty((2, n, n)), np.empty((2, n), np.int64)),
            *(np.empty((n, 1)), np.empty((1, 1)), np.empty((3, n, 1)), np.empty((3, n))),
            *(np.empty(n), np.empty((2, n)), np.empty(n)),
        )
        self.step_under_way = RadauStep(
            *(np.empty((1, 1)), np.empty((1, 1)), np.empty((3, n, 1))),
            *(np.empty((n, 1)), np.empty((n, 1)), np.empty((n, 1))),
            *(np.empty(n), np.empty(n), np.empty(3), np.empty((2, n, 1))),
        )

    def clear(self) -> None:
        """Give all that is remembered the values that it has before a loop begins."""
        super().clear()
        self.leaving[...] = leaving_numbers(self.program, STAGES, self.returns)

    def begin(self) -> None:
        """Derivative and step at the present state, nothing known of earlier ones."""
        self.newton[...] = 0.0
        self.newton[stages.SLOW] = 1.0
        self.memory[sh.LOOKED] = self.memory[sh.T]
        self.first_step(self.derivative, step.ERROR_ORDER)

    def run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop."""
        return step.advance(
            self.equations,
            self.remembered_steps,
            self.choices,
            out.buffers,
            self.event_memory,
            self.onto,
            self.past,
            self.room,
            self.step_under_way,
            budget,
        )
