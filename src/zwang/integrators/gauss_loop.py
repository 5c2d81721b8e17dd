"""Collocation behind the common interface of loops."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy as np

from zwang.integrators import gauss
from zwang.integrators import gauss_nodes as nodes
from zwang.integrators import shared as sh
from zwang.integrators.collocation import gauss as gauss_points
from zwang.integrators.loop import Loop, Output
from zwang.kernels.element import Kernel
from zwang.kernels.mixing import NODES
from zwang.terms import FloatArray

__all__ = ["GaussLoop"]

#: Steps below which an implicit method saves nothing.
MANY_STEPS = 500
_LINE = 64  # bytes of a line of the cache, and of eight numbers


class GaussLoop(Loop):
    """Collocation at eight points of Gauss, which are the lanes of its kernels."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (*Loop.REMEMBERED, "kept", "past")
    LOOKS: ClassVar[tuple[float, ...]] = tuple(gauss_points(NODES).c.tolist())

    def prepare(self) -> None:
        """Coefficients, nodes and what belongs to them."""
        program, n = self.program, len(self.state)
        self.node_addresses, most = _node_kernels(program)
        if most.work_size > len(self.work):
            self.work = most.work()
        c = gauss_points(NODES)
        self.coefficients = (c.c, c.b, c.integral, c.analysis)
        lines = aligned((1 + gauss.NODE_VECTORS) * n + 4 * NODES, NODES)
        self.kept, self.past = lines[:n], np.zeros(nodes.PAST)
        self.memory[sh.ERROR] = sh.LEAST_ERROR
        self.sizes_of_entries = self.entry_sizes[:, :, 0].copy()
        self.space = (
            np.empty((gauss.VECTORS, n, 1)),
            lines[n : -4 * NODES].reshape(gauss.NODE_VECTORS, n, NODES),
            lines[-4 * NODES :].reshape(4, NODES, NODES),
            np.zeros((max(n, NODES), 1)),
            np.zeros((3, 1)),
            np.empty(n),
            self.pivots,
            sh.room_for_pivots(program.rows[0], NODES),
            np.empty((max(self.sizes[2], 1), 1)),
            np.empty((max(self.event_count, 1), 1)),
            self.absolute,
            np.zeros((2, 1), dtype=bool),
        )

    def begin(self) -> None:
        """The derivative at the present state stands for a step before, and a step."""
        derivative = np.empty_like(self.state)
        self.first_step(derivative, gauss.ERROR_ORDER)
        self.kept[...] = derivative
        self.past[...] = 0.0
        self.past[nodes.LENGTH] = self.past[nodes.LAST] = self.memory[sh.H, 0]
        self.past[nodes.RATE] = nodes.LOWEST_RATE

    def held_back(self, lane: int = 0) -> bool:
        """Whether most of many steps were as long as sweeps converge: the motion is stiff."""
        steps = self.counts[sh.ACCEPTS, lane]
        return bool(steps >= MANY_STEPS and self.counts[sh.AT_STABILITY, lane] > 0.5 * steps)

    def run(self, out: Output, budget: int) -> int:
        """Call the compiled loop."""
        settings = self.settings
        return gauss.advance(
            self.addresses,
            self.node_addresses,
            self.sizes,
            self.state,
            self.parameters,
            self.memory,
            self.counts,
            self.kept,
            self.past,
            self.coefficients,
            settings.until,
            settings.tolerance,
            self.sizes_of_entries,
            self.limits,
            self.options,
            self.times,
            out.t,
            out.y,
            out.filled,
            out.ranks,
            out.rank_rows,
            self.event_values,
            self.event_before,
            self.previous,
            *self.space,
            self.work,
            budget,
            self.lanes,
        )


def _node_kernels(program: Any) -> tuple[np.ndarray, Kernel]:
    """Addresses of acceleration, rates and project at nodes, 0 for those that are not needed.

    And the kernel among them that needs the most room to work in.
    """
    if "nodes" not in program.frames:
        names = ["acceleration", *([] if program.plain_rates else ["rates"])]
        names += ["project"] if program.rows[0] else []
        kernels = {name: program.at_nodes(name) for name in names}
        wanted = [kernels.get(name) for name in ("acceleration", "rates", "project")]
        addresses = [0 if kernel is None else kernel.address for kernel in wanted]
        most = max(kernels.values(), key=lambda kernel: kernel.work_size)
        program.frames["nodes"] = np.array(addresses, dtype=np.int64), most
    return program.frames["nodes"]


def aligned(*shape: int) -> FloatArray:
    """An array of zeros that begins with a line of the cache."""
    size = prod(shape)
    array = np.zeros(size + _LINE // 8)
    first = -array.ctypes.data % _LINE // 8
    return array[first : first + size].reshape(shape)
