"""The program of a large system: tapes for derivative, projection, residual and forces.

    derivative   nodes → forces → constraints (A, S, c) → couplings → factor → λ, corrected → v̇
    project      nodes of unit length → φ, A, S → factor → q; ψ there → same factor → v, corrected
    residual     φ and ψ of all rows, and lengths of unit groups
    misses       the same of φ and ψ as they are
    arrival      derivative and residual in one
    forces       as derivative, with λ
    settle       what neither mass nor constraint determines, see `Sweep.settle`

The cost is that of the kernels, in proportion to the
number of elements where the order of elimination has no fill.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.engine.blocks.algebra import reduce_sum
from zwang.engine.blocks.pattern import Pattern
from zwang.engine.blocks.play import TapeKernel
from zwang.engine.blocks.structure import Structure
from zwang.engine.blocks.sweep import Sweep
from zwang.engine.blocks.tape import OUT, Place, Tape
from zwang.kernels.element import Kernel
from zwang.kernels.expression import Port

__all__ = ["BlockProgram", "block_program"]


@dataclass(frozen=True)
class BlockProgram:
    """Equations of motion of a large system; the same interface as `zwang.engine.program.Program`.

    Attributes
    ----------
    nq, nv, rows, lanes, left_out, carrier, frames : as there.
    structure : what it was made from.
    """

    nq: int
    nv: int
    rows: tuple[int, int, int]
    lanes: int
    structure: Structure = field(repr=False)
    left_out: tuple[int, ...] = ()
    carrier: None = None
    frames: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _pattern: Pattern = field(repr=False, kw_only=True)
    _kernels: dict[str, Kernel] = field(default_factory=dict, repr=False)

    def kernel(self, name: str) -> Kernel:
        """A kernel, made when it is first asked for."""
        if name not in self._kernels:
            self._kernels[name] = self._made(name)
        return self._kernels[name]

    def _made(self, name: str) -> Kernel:
        """One tape as a kernel."""
        s, nq, nv, m = self.structure, self.nq, self.nv, self.structure.rows
        ports = {
            "q_dot": nq,
            "v_dot": nv,
            "q": nq,
            "v": nv,
            "multipliers": m,
            "pivots": max(2 * m, 1),
        }
        ports["ratios"] = self.rows[1]
        ports["positions"] = sum(e.type.rows for e in s.constraints if e.type.position)
        ports["rates"] = m
        tape = Tape(self.lanes)
        _WRITERS[name](s, self._pattern, tape)
        inputs = (Port("q", nq), Port("v", nv), Port("t", 1), Port("p", s.parameters))
        outputs = tuple(Port(port, ports[port]) for port in _OUTPUTS[name])
        return TapeKernel(name, inputs, outputs, self.lanes, tape.stream())

    def _used(self, events: Kernel | None, further: Sequence[str]) -> list[Kernel | None]:
        names = ("derivative", "project", "residual")
        common = [self.kernel(n) if self.rows[1] or n == "derivative" else None for n in names]
        return [*common, events, *(self.kernel(name) for name in further)]

    def addresses(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> np.ndarray:
        """Addresses of derivative, project, residual, events, and of `further` kernels."""
        used = self._used(events, further)
        return np.array([0 if x is None else x.address for x in used], dtype=np.int64)

    def work(self, events: Kernel | None = None, further: tuple[str, ...] = ()) -> np.ndarray:
        """A work array large enough for every one of these kernels."""
        used = [x for x in self._used(events, further) if x is not None]
        return max(used, key=lambda kernel: kernel.work_size).work()

    @property
    def has_nodes(self) -> bool:
        """Not yet."""
        return False

    @property
    def watches_all_rows(self) -> bool:
        """Whether `residual` holds the rows that are left out."""
        return False

    def failure(self) -> None:
        """Nothing here calls Python."""


def block_program(
    structure: Structure, *, lanes: int = 1, left_out: tuple[int, ...] = ()
) -> BlockProgram:
    """The program of a large system."""
    nq, nv = structure.q_starts[-1], structure.v_starts[-1]
    m = structure.rows
    position = sum(e.type.rows for e in structure.constraints if e.type.position)
    unit = sum(1 for node in structure.nodes if node.type.unit)
    rows = (m, position + m + unit, m)
    pattern = Pattern(structure)
    return BlockProgram(nq, nv, rows, lanes, structure, left_out, _pattern=pattern)


# --- what each kernel computes --------------------------------------------------------------------


def _output(s: Structure, space: int, what: str) -> Callable[[int], Place]:
    """Places of the nodes in an output of coordinates or of velocities."""
    starts = s.q_starts if what == "q" else s.v_starts
    return lambda n: (space, starts[n])


def _derivative(s: Structure, pattern: Pattern, tape: Tape) -> Sweep:
    """(q̇, v̇)."""
    sweep = Sweep(s, pattern, tape, "accelerate", q_dot=_output(s, OUT, "q"))
    sweep.accelerate(_output(s, OUT + 1, "v"))
    return sweep


def _arrival(s: Structure, pattern: Pattern, tape: Tape) -> None:
    """(q̇, v̇) and the ratios of `_residual`."""
    _derivative(s, pattern, tape).ratios(OUT + 2)


def _forces(s: Structure, pattern: Pattern, tape: Tape) -> None:
    """(v̇, λ)."""
    lam = Sweep(s, pattern, tape, "accelerate").accelerate(_output(s, OUT, "v"))
    for e, element in enumerate(s.constraints):
        tape.call(reduce_sum(element.type.rows, 1), lam(e), (OUT + 1, element.row))


def _project(s: Structure, pattern: Pattern, tape: Tape) -> None:
    """(q, v, pivots), the sizes of rows after their pivots."""
    sweep = Sweep(s, pattern, tape, "place", pivots=OUT + 2)
    sweep.project(_output(s, OUT, "q"), _output(s, OUT + 1, "v"))


def _residual(s: Structure, pattern: Pattern, tape: Tape) -> None:
    """Ratios: φ of position rows, ψ of all rows, lengths of unit groups."""
    Sweep(s, pattern, tape, "check").ratios(OUT)


def _misses(s: Structure, pattern: Pattern, tape: Tape) -> None:
    """φ of position rows and ψ of all rows."""
    Sweep(s, pattern, tape, "check").misses(OUT, OUT + 1)


def _settle(s: Structure, pattern: Pattern, tape: Tape) -> None:
    """v̇ after one correction of the accelerations given in place of v, without forces."""
    Sweep(s, pattern, tape, "settle").settle(_output(s, OUT, "v"))


_WRITERS: dict[str, Callable[[Structure, Pattern, Tape], Any]] = {
    "derivative": _derivative,
    "arrival": _arrival,
    "forces": _forces,
    "project": _project,
    "residual": _residual,
    "misses": _misses,
    "settle": _settle,
}
_OUTPUTS = {
    "derivative": ("q_dot", "v_dot"),
    "arrival": ("q_dot", "v_dot", "ratios"),
    "forces": ("v_dot", "multipliers"),
    "project": ("q", "v", "pivots"),
    "residual": ("ratios",),
    "misses": ("positions", "rates"),
    "settle": ("v_dot",),
}
