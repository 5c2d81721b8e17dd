"""Block programs: known zeros folded into the calls of a list, unused results removed.

A kernel is written for all entries of its arguments. On a tape more is known: numbers of p that are
zero or one by structure (a hinge along an axis), results that are zero because of them, and results
that no later call looks at. What a compiler does with a program that is one expression is done here
from call to call, once for each kind of call:

    forwards    which entries are constants, from those of p through every call
    backwards   which entries are needed, from the outputs through every call

Where something lies stays as it is; what is constant or not needed is neither written nor read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.expression import Expression, read
from zwang.codegen.instruction_passes import NUMBER_OF_ARGUMENTS, mark_used
from zwang.codegen.operations import NUMBERS

if TYPE_CHECKING:
    import casadi

__all__ = ["Constants", "Special"]

#: Constants among the entries of an array: position and value.
Constants = tuple[tuple[int, float], ...]


class Special:
    """A kernel with some entries of its arguments known.

    Attributes
    ----------
    constants : those among the entries of each result.
    """

    def __init__(self, function: casadi.Function, known: Sequence[Constants]) -> None:
        import casadi as ca

        self.name = function.name()
        self._symbols, given = [], []
        for k, entries in enumerate(known):
            pattern = function.sparsity_in(k)
            x = ca.SX.sym(f"i{k}", pattern.nnz())
            self._symbols.append(x)
            values = ca.SX(x)
            for place, value in entries:
                values[place] = value
            given.append(ca.SX(pattern, values))
        results = [ca.SX(x) for x in function.call(given)]
        patterns = [function.sparsity_out(k) for k in range(function.n_out())]
        self._results: list[list[Any]] = [
            ca.project(x, pattern).nonzeros() for x, pattern in zip(results, patterns, strict=True)
        ]
        self.constants: list[Constants] = [
            tuple((k, float(e)) for k, e in enumerate(entries) if e.is_constant())
            for entries in self._results
        ]
        self._variants: dict[tuple[int, ...], tuple[Expression, tuple[int, ...]]] = {}

    def everything(self, k: int) -> int:
        """Bits of all entries of a result."""
        return (1 << len(self._results[k])) - 1

    def variable(self, k: int) -> int:
        """Bits of the entries of a result that are no constants."""
        return self.everything(k) & ~sum(1 << place for place, _ in self.constants[k])

    def for_needs(self, needs: tuple[int, ...]) -> tuple[Expression, tuple[int, ...]]:
        """The instructions for those entries of each result that are needed, as bits, and which
        entries of each argument they look at.
        """
        if needs not in self._variants:
            self._variants[needs] = self._written(needs)
        return self._variants[needs]

    def _written(self, needs: tuple[int, ...]) -> tuple[Expression, tuple[int, ...]]:
        import casadi as ca

        zero = ca.SX(0.0)
        outputs = [
            ca.densify(ca.vertcat(*(e if need >> k & 1 else zero for k, e in enumerate(entries))))
            for entries, need in zip(self._results, needs, strict=True)
        ]
        whole = read(ca.Function(self.name, self._symbols, outputs))
        code, targets = whole.code, whole.targets
        wanted = [bool(needs[port] >> entry & 1) for port, entry, _ in targets.tolist()]
        targets = targets[np.array(wanted, dtype=bool)]
        used = np.zeros(len(code), dtype=bool)
        used[targets[:, 2]] = True
        mark_used(code, NUMBER_OF_ARGUMENTS, used)
        seen = [0] * len(self._symbols)
        for port, entry in code[used & (code[:, 0] == NUMBERS["input"]), 1:3].tolist():
            seen[port] |= 1 << entry
        return replace(whole, targets=targets), tuple(seen)
