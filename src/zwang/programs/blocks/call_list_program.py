"""Programs whose kernels are call lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.codegen.expression import Port
from zwang.codegen.kernel import Kernel
from zwang.codegen.node_sums import NODES
from zwang.programs.blocks.call_list import CallList, EncodedCalls
from zwang.programs.blocks.run_calls import CallListKernel
from zwang.programs.contract import Program
from zwang.programs.coordinate_change import CoordinateChange

__all__ = ["TapeProgram"]

#: Below this tolerance steps of forty four-bars become too small next to flat positions.
FINEST = 1e-11

#: What each kernel gives.
OUTPUTS = {
    "derivative": ("q_dot", "v_dot"),
    "rates": ("q_dot",),
    "acceleration": ("v_dot",),
    "arrival": ("q_dot", "v_dot", "ratios"),
    "forces": ("v_dot", "multipliers"),
    "project": ("q", "v", "pivots"),
    "residual": ("ratios",),
    "misses": ("positions", "rates"),
    "settle": ("v_dot",),
}


@dataclass(frozen=True)
class TapeProgram(Program):
    """Equations of motion of a large system, each kernel a list of calls.

    Attributes
    ----------
    parameters : length of p.
    writers : name of a kernel → what writes its tape. ``arrival`` needs none: it is ``derivative``
        and then ``residual``.
    placed : how many of the constraint rows are at position level.
    constants : entries of p that are known, see `zwang.programs.blocks.fold_constants`.
    """

    nq: int
    nv: int
    rows: tuple[int, int, int]
    lanes: int
    parameters: int
    writers: Mapping[str, Callable[[CallList], Any]] = field(repr=False)
    left_out: tuple[int, ...] = ()
    repeated: tuple[int, ...] = field(default=(), kw_only=True)
    fulfilled: tuple[int, ...] = field(default=(), kw_only=True)
    carrier: CoordinateChange | None = None
    constants: Mapping[int, float] | None = field(default=None, repr=False)
    placed: int = 0
    plain_rates: bool = False
    frames: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _kernels: dict[str, Kernel] = field(default_factory=dict, repr=False)
    _streams: dict[tuple[str, bool], EncodedCalls] = field(default_factory=dict, repr=False)

    def kernel(self, name: str) -> Kernel:
        """A kernel, made when it is first asked for."""
        if name not in self._kernels:
            self._kernels[name] = self._made(name)
        return self._kernels[name]

    def at_nodes(self, name: str) -> Kernel:
        """A kernel for `NODES` states of one trajectory at once, which share its parameters."""
        key = f"{name} at nodes"
        if key not in self._kernels:
            self._kernels[key] = self._made(name, nodes=True)
        return self._kernels[key]

    def _made(self, name: str, *, nodes: bool = False) -> Kernel:
        """One tape as a kernel."""
        nq, nv, (_, kept, m) = self.nq, self.nv, self.rows
        ports = {"q_dot": nq, "v_dot": nv, "q": nq, "v": nv, "ratios": kept}
        ports |= {"multipliers": m, "pivots": max(2 * m, 1), "positions": self.placed, "rates": m}
        lanes = NODES if nodes else self.lanes
        inputs = (Port("q", nq), Port("v", nv), Port("t", 1), Port("p", self.parameters))
        outputs = tuple(Port(port, ports[port]) for port in OUTPUTS[name])
        stream = self._stream(name, nodes=nodes)
        return CallListKernel(name, inputs, outputs, lanes, stream, shared=nodes)

    def _stream(self, name: str, *, nodes: bool) -> EncodedCalls:
        """The tape of a kernel."""
        key = name, nodes
        if key not in self._streams:
            if name == "arrival":
                first, then = (self._stream(x, nodes=nodes) for x in ("derivative", "residual"))
                self._streams[key] = first.then(then, len(OUTPUTS["derivative"]))
            else:
                tape = CallList(NODES if nodes else self.lanes, self.constants, shared=nodes)
                self.writers[name](tape)
                self._streams[key] = tape.stream()
        return self._streams[key]

    def _used(self, events: Kernel | None, further: Sequence[str]) -> list[Kernel | None]:
        names = ("derivative", "project", "residual")
        common = [self.kernel(n) if self.rows[1] or n == "derivative" else None for n in names]
        # Nobody arrives where there is nothing to keep: it would be the derivative once more.
        more = [self.kernel(n) if self.rows[1] or n != "arrival" else None for n in further]
        return [*common, events, *more]

    def addresses(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> np.ndarray:
        """Addresses of derivative, project, residual, events, and of `further` kernels."""
        used = self._used(events, further)
        return np.array([0 if x is None else x.address for x in used], dtype=np.int64)

    def largest(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> Kernel:
        """The one of these kernels whose work array is large enough for every one of them."""
        used = [x for x in self._used(events, further) if x is not None]
        return max(used, key=lambda kernel: kernel.work_size)

    @property
    def finest_at_nodes(self) -> float:
        """As there: blocks are summed up in another order, and leave a little more rounding."""
        return FINEST if self.rows[0] else 0.0

    @property
    def watches_all_rows(self) -> bool:
        """Whether `residual` holds the rows that are left out."""
        return False
