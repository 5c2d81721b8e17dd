"""Block program of a large system: call lists for derivative, projection, residual and forces.

    derivative   nodes → forces → constraints (A, S, c) → couplings → factor → λ, corrected → v̇
    acceleration, rates   v̇ alone, q̇ alone
    project      nodes of unit length → φ, A, S → factor → q; ψ there → same factor → v, corrected
    residual     φ and ψ of all rows, and lengths of unit groups
    misses       the same of φ and ψ as they are
    forces       as derivative, with λ
    settle       what neither mass nor constraint determines, see `Sweep.settle`

The cost is that of the kernels, in proportion to the
number of elements where the order of elimination has no fill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zwang.programs.blocks.algebra import reduce_sum
from zwang.programs.blocks.call_list import OUT, CallList, Place, place
from zwang.programs.blocks.call_list_program import TapeProgram
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.friction import LawSweep
from zwang.programs.blocks.layout import BlockLayout
from zwang.programs.blocks.pattern import Pattern

__all__ = ["BlockProgram", "block_program"]


@dataclass(frozen=True)
class BlockProgram(TapeProgram):
    """Equations of motion of a large system in the coordinates of its nodes.

    Attributes
    ----------
    structure : what it was made from.
    """

    structure: BlockLayout = field(repr=False, kw_only=True)


def block_program(
    structure: BlockLayout, *, lanes: int = 1, left_out: tuple[int, ...] = ()
) -> BlockProgram:
    """The program of a large system."""
    nq, nv = structure.q_starts[-1], structure.v_starts[-1]
    m = structure.rows
    position = sum(e.type.rows for e in structure.constraints if e.type.position)
    unit = sum(1 for node in structure.nodes if node.type.unit)
    rows = (m, position + m + unit, m)
    pattern = Pattern(structure)

    def written(
        writer: Callable[[BlockLayout, Pattern, CallList], Any],
    ) -> Callable[[CallList], Any]:
        return lambda tape: writer(structure, pattern, tape)

    writers = {name: written(writer) for name, writer in _WRITERS.items()}
    return BlockProgram(
        nq,
        nv,
        rows,
        lanes,
        structure.parameters,
        writers,
        left_out,
        placed=position,
        structure=structure,
    )


# --- what each kernel computes --------------------------------------------------------------------


def _output(s: BlockLayout, space: int, what: str) -> Callable[[int], Place]:
    """Places of the nodes in an output of coordinates or of velocities."""
    starts = s.q_starts if what == "q" else s.v_starts
    return lambda n: place(space, starts[n])


def _derivative(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """(q̇, v̇)."""
    sweep = _accelerating(s, pattern, tape, q_dot=_output(s, OUT, "q"))
    sweep.accelerate(_output(s, OUT + 1, "v"))


def _accelerating(s: BlockLayout, pattern: Pattern, tape: CallList, **outputs: Any) -> Sweep:
    """A sweep for accelerations, with laws of the reaction if there are any."""
    kind = LawSweep if s.laws else Sweep
    return kind(s, pattern, tape, "accelerate", **outputs)


def _acceleration(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """v̇."""
    _accelerating(s, pattern, tape).accelerate(_output(s, OUT, "v"))


def _rates(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """q̇."""
    Sweep(s, pattern, tape, "move").rates(_output(s, OUT, "q"))


def _forces(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """(v̇, λ)."""
    lam = _accelerating(s, pattern, tape).accelerate(_output(s, OUT, "v"))
    for e, element in enumerate(s.constraints):
        tape.call(reduce_sum(element.type.rows, 1), lam(e), place(OUT + 1, element.row))


def _project(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """(q, v, pivots), the sizes of rows after their pivots."""
    sweep = Sweep(s, pattern, tape, "place", pivots=OUT + 2)
    sweep.project(_output(s, OUT, "q"), _output(s, OUT + 1, "v"))


def _residual(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """Ratios: φ of position rows, ψ of all rows, lengths of unit groups."""
    Sweep(s, pattern, tape, "check").ratios(OUT)


def _misses(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """φ of position rows and ψ of all rows."""
    Sweep(s, pattern, tape, "check").misses(OUT, OUT + 1)


def _settle(s: BlockLayout, pattern: Pattern, tape: CallList) -> None:
    """v̇ after one correction of the accelerations given in place of v, without forces."""
    Sweep(s, pattern, tape, "settle").settle(_output(s, OUT, "v"))


_WRITERS: dict[str, Callable[[BlockLayout, Pattern, CallList], Any]] = {
    "derivative": _derivative,
    "acceleration": _acceleration,
    "rates": _rates,
    "forces": _forces,
    "project": _project,
    "residual": _residual,
    "misses": _misses,
    "settle": _settle,
}
