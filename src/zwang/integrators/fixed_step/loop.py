"""Fixed-step methods behind the common interface of loops."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zwang.codegen.call import call
from zwang.integrators import memory as sh
from zwang.integrators.contract import Loop
from zwang.integrators.fixed_step import step
from zwang.integrators.fixed_step.records import DiscreteStage, DiscreteStep, RootProblem
from zwang.integrators.output import LoopOutput
from zwang.integrators.settings import Drift

__all__ = ["GeneralizedAlphaLoop", "RattleLoop"]


class DiscreteLoop(Loop):
    """A method whose steps are roots of the equations in `zwang.programs.fixed_step`, in one
    lane.
    """

    REMEMBERED: ClassVar[tuple[str, ...]] = (*Loop.REMEMBERED, "remembered")

    @property
    def method(self) -> str:
        """Name of the discrete equations."""
        return self.settings.integrator

    def prepare(self) -> None:
        """The stages, and what the method remembers from step to step."""
        super().prepare()
        stages = self.program.stages(self.method)
        none = DiscreteStage(0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
        given = [DiscreteStage(s.kernel.address, s.rows, s.columns, s.unknowns) for s in stages]
        self.stages = (given[0], given[1] if len(given) > 1 else none)  # one type to compile for
        self.remembered = np.zeros((stages[0].kernel.inputs[2].size, 1))
        largest = max(stages, key=lambda s: s.kernel.work_size)
        if largest.kernel.work_size > len(self.work):
            self.work = largest.kernel.work()
        #: t, h and the coefficients of the method.
        self.scalars = np.zeros((6, 1))
        n = len(self.state)
        start, new, rate, rate_new, between = np.empty((5, n, 1))
        self.step_under_way = DiscreteStep(
            self.scalars,
            self.remembered,
            *(np.empty_like(self.remembered), np.empty_like(self.remembered)),
            *(start, new, np.empty((max(s.unknowns for s in stages), 1))),
            *(rate, rate_new, between),
            *(np.empty((2, n, 1)), np.empty((1, 1))),
        )

    def begin(self) -> None:
        """Nothing need be known besides the state."""

    def run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop."""
        return step.advance(
            self.equations,
            self.remembered_steps,
            self.choices,
            out.buffers,
            self.event_memory,
            self.onto,
            self.stages,
            self.step_under_way,
            budget,
        )


class RattleLoop(DiscreteLoop):
    """RATTLE: each step begins from the state alone and ends on all constraints."""


class GeneralizedAlphaLoop(DiscreteLoop):
    """Generalized-α; it remembers accelerations and multipliers."""

    KERNELS: ClassVar[tuple[str, ...]] = ("forces",)

    @property
    def method(self) -> str:
        """Positions and velocities are held, or positions alone where drift is let be."""
        held = self.settings.drift is Drift.PROJECTION
        return "generalized_alpha" if held else "generalized_alpha_index_3"

    def prepare(self) -> None:
        """The stages, and the coefficients for the spectral radius ρ (Chung & Hulbert 1993).

        α_m = (2ρ − 1)/(ρ + 1), α_f = ρ/(ρ + 1), γ = ½ + α_f − α_m, β = ¼(γ + ½)².
        """
        super().prepare()
        rho = self.settings.spectral_radius
        alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        self.scalars[2:, 0] = alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma

    def begin(self) -> None:
        """Accelerations and multipliers at the present state.

        a belongs to the time t + (α_m − α_f) h. To have it there to order 2, which the velocities
        need for theirs, a trial step tells the change of v̇ (Arnold, Brüls & Cardona 2015).
        """
        nq, nv = self.program.nq, self.program.nv
        t = self.memory[sh.T : sh.T + 1].copy()
        acceleration, multipliers = np.empty((nv, 1)), np.empty((self.program.rows[2], 1))
        q, v, p = self.state[:nq], self.state[nq:], self.parameters
        call(self.addresses[4], q, v, t, p, acceleration, multipliers, self.work)
        self.remembered[:, 0] = np.concatenate([v, acceleration, acceleration, multipliers])[:, 0]
        h = min(self.settings.step, self.settings.until - float(t[0, 0]))
        end = self._trial(float(t[0, 0]), h)
        if end is None:
            return  # the loop will say that there is no step
        after, rate = np.empty((nv, 1)), np.empty((nq, 1))
        t += h
        call(self.addresses[0], end[:nq], end[nq:], t, p, rate, after, self.work)
        if np.isfinite(after).all():
            shift = self.scalars[2, 0] - self.scalars[3, 0]
            self.remembered[nv : 2 * nv] += shift * (after - acceleration)

    def _trial(self, t: float, h: float) -> NDArray[np.float64] | None:
        """Where a step from here leads, or None."""
        end, scalars = np.empty_like(self.state), self.scalars.copy()
        scalars[:2, 0] = t, h
        tries = step.root(
            self.stages[0],
            RootProblem(self.state, self.remembered, scalars, self.parameters),
            end,
            np.empty_like(self.remembered),
            np.empty((self.stages[0].unknowns, 1)),
            self.entry_sizes,
            int(self.program.nq),
            self.work,
        )
        return end if tries > 0 else None
