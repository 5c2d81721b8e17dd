"""The explicit methods behind the common interface of loops."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from zwang.integrators import memory as sh
from zwang.integrators.contract import Loop
from zwang.integrators.explicit import step
from zwang.integrators.explicit.records import (
    INTEGERS,
    MARKS,
    NUMBERS,
    VECTORS,
    ExplicitMethod,
    ExplicitRoom,
)
from zwang.integrators.explicit.tableaus import TABLEAUS
from zwang.integrators.output import LoopOutput
from zwang.integrators.stiffness import SAMPLES, leaving_numbers

__all__ = ["ExplicitLoop", "held_back"]

#: Looks at stability, one in `explicit.SAMPLE` steps, below which an implicit method saves nothing.
MANY_LOOKS = 30


def held_back(counts: np.ndarray) -> bool:
    """`ExplicitLoop.held_back` from what a lane counted."""
    looks = counts[sh.ACCEPTS] // step.SAMPLE
    return bool(looks >= MANY_LOOKS and counts[sh.AT_STABILITY] > 0.5 * looks)


class ExplicitLoop(Loop):
    """Runge–Kutta of order 8 or 5, in any number of lanes."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (
        *Loop.REMEMBERED,
        "stages",
        "sample_times",
        "samples",
        "leaving",
    )
    KERNELS: ClassVar[tuple[str, ...]] = ("arrival",)

    def prepare(self) -> None:
        """Coefficients and stages."""
        super().prepare()
        self.tableau = c = TABLEAUS[self.settings.integrator]
        self.method = ExplicitMethod(
            *(c.A, c.B, c.C, c.P, c.S), c.stability, c.stages, c.error_order, c.loosest
        )
        n, W = self.state.shape
        self.stages = np.zeros((len(c.C), n, W))
        # Where nobody asks whether to leave, nothing is sampled.
        rows = (SAMPLES, n) if self.may_leave else (0, 0)
        self.sample_times, self.samples = np.zeros((rows[0], W)), np.zeros((*rows, W))
        self.leaving = leaving_numbers(self.program, c.stages, self.returns)
        self.room = ExplicitRoom(
            self.stages,
            np.empty((VECTORS, n, W)),
            np.empty((2, W)),
            np.zeros((NUMBERS, W)),
            np.zeros((MARKS, W), dtype=bool),
            np.zeros((INTEGERS, W), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            *(self.sample_times, self.samples, self.leaving),
        )

    def clear(self) -> None:
        """Give all that is remembered the values that it has before a loop begins."""
        super().clear()
        self.leaving[...] = leaving_numbers(self.program, self.tableau.stages, self.returns)

    def begin(self) -> None:
        """The first stage, and a step."""
        self.first_step(self.stages[0], self.tableau.error_order)

    def held_back(self, lane: int = 0) -> bool:
        """Whether most of many steps were as long as stability allows: the motion is stiff."""
        return held_back(self.counts[:, lane])

    def run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop."""
        self.room.spent[0] = 0
        return step.advance(
            self.equations,
            self.remembered_steps,
            self.choices,
            out.buffers,
            self.event_memory,
            self.onto,
            self.method,
            self.room,
            budget,
        )
