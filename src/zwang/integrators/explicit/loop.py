"""The explicit methods behind the common interface of loops."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from zwang.integrators import memory as sh
from zwang.integrators.contract import Loop
from zwang.integrators.explicit import step
from zwang.integrators.explicit.tableaus import TABLEAUS
from zwang.integrators.output import LoopOutput

__all__ = ["ExplicitLoop", "held_back"]

#: Looks at stability, one in `explicit.SAMPLE` steps, below which an implicit method saves nothing.
MANY_LOOKS = 30


def held_back(counts: np.ndarray) -> bool:
    """`ExplicitLoop.held_back` from what a lane counted."""
    looks = counts[sh.ACCEPTS] // step.SAMPLE
    return bool(looks >= MANY_LOOKS and counts[sh.AT_STABILITY] > 0.5 * looks)


class ExplicitLoop(Loop):
    """Runge–Kutta of order 8 or 5, in any number of lanes."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (*Loop.REMEMBERED, "stages")
    KERNELS: ClassVar[tuple[str, ...]] = ("arrival",)

    def prepare(self) -> None:
        """Coefficients and stages."""
        super().prepare()
        self.tableau = TABLEAUS[self.settings.integrator]
        n, W = self.state.shape
        self.stages = np.zeros((len(self.tableau.C), n, W))
        self.spent = np.zeros(1, dtype=np.int64)
        self.vectors = np.empty((step.VECTORS, n, W))
        self.ratio = np.empty((max(self.program.rows[1], 1), W))
        self.numbers = np.zeros((step.NUMBERS, W))
        self.marks = np.zeros((step.MARKS, W), dtype=bool)
        self.integers = np.zeros((step.INTEGERS, W), dtype=np.int64)
        self.space = (
            self.vectors,
            np.empty((2, W)),
            self.ratio,
            np.empty((max(self.event_count, 1), W)),
            self.numbers,
            self.marks,
            self.integers,
            self.spent,
        )

    def begin(self) -> None:
        """The first stage, and a step."""
        self.first_step(self.stages[0], self.tableau.error_order)

    def held_back(self, lane: int = 0) -> bool:
        """Whether most of many steps were as long as stability allows: the motion is stiff."""
        return held_back(self.counts[:, lane])

    def run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop."""
        return step.advance(*self.arguments(out, budget))

    def arguments(self, out: LoopOutput, budget: int) -> tuple[Any, ...]:
        """What the compiled loop is called with."""
        c, self.spent[0] = self.tableau, 0
        tableau = (c.A, c.B, c.C, c.P, c.S), c.stability, c.stages, c.error_order
        own = self.stages, *tableau, min(self.settings.tolerance, self.tableau.loosest)
        return self.handed_over(out, budget, own, self.space)
