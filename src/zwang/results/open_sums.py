"""Which quantities of an expression change with forces that redundant constraints leave open.

An expression is walked from its symbols on, at one state. What is added up of open quantities, with
factors that are not open, changes by the same sum of their changes; where that is zero, the sum is
determinate, and so is whatever is made of it. All else that is made of something open is open: a
square, a comparison, a sign or a rounded number may change with it although its slope is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["OpenQuantity", "SumWalk"]


class OpenQuantity:
    """How a number changes with each choice of the open forces, as far as it is a sum of them.

    Attributes
    ----------
    change : with each choice (k,); None where it is no sum.
    added : the sizes of what was added up (k,), whose rounding a change may be.
    """

    __slots__ = ("added", "change")

    def __init__(self, change: FloatArray | None, added: FloatArray | None = None) -> None:
        self.change = change
        self.added = np.zeros(0) if added is None else added

    def times(self, factor: float) -> OpenQuantity:
        """The quantity with a factor that is determinate."""
        if self.change is None:
            return NO_SUM
        return OpenQuantity(factor * self.change, abs(factor) * self.added)

    def plus(self, other: OpenQuantity) -> OpenQuantity:
        """The sum of two."""
        if self.change is None or other.change is None:
            return NO_SUM
        return OpenQuantity(self.change + other.change, self.added + other.added)

    def is_rounding(self, rounding: float) -> bool:
        """Whether all that it changes by is rounding of what was added up."""
        if self.change is None:
            return False
        return bool(np.all(np.abs(self.change) <= rounding * self.added))


#: What is no sum of open quantities.
NO_SUM = OpenQuantity(None)


class SumWalk:
    """The way through an expression from its symbols to its value.

    Parameters
    ----------
    value : a scalar expression.
    inputs : symbols that it is made of, as the inputs of a function.
    """

    def __init__(self, value: casadi.SX, inputs: list[casadi.SX]) -> None:
        import casadi as ca

        self._nodes, self._parts = _in_order(ca.densify(value))
        self._number = {node.element_hash(): k for k, node in enumerate(self._nodes)}
        self._values = ca.Function("nodes", inputs, [ca.densify(ca.vertcat(*self._nodes))])

    def is_determinate(
        self,
        state: list[FloatArray | float],
        open_: Mapping[int, OpenQuantity],
        rounding: float,
    ) -> bool | None:
        """Whether the value is determinate at a state; None where it has none there, as 0/0.

        Parameters
        ----------
        state : values of the inputs.
        open_ : ``element_hash()`` of scalar symbols that are open, and how they change.
        rounding : of a sum, relative to what is added up.
        """
        values = np.array(self._values(*state)).ravel()
        if not np.isfinite(values[-1]):
            return None
        found: list[OpenQuantity | None] = [None] * len(self._nodes)
        for symbol, quantity in open_.items():
            k = self._number.get(symbol)
            if k is not None:
                found[k] = None if quantity.is_rounding(rounding) else quantity
        for k, parts in enumerate(self._parts):
            if any(found[i] is not None for i in parts):
                made = self._made(k, parts, found, values)
                found[k] = None if made.is_rounding(rounding) else made
        return found[-1] is None

    def _made(
        self, k: int, parts: list[int], found: list[OpenQuantity | None], values: FloatArray
    ) -> OpenQuantity:
        """What an operation makes of parts one of which is open."""
        rule = _rules().get(self._nodes[k].op())
        if rule is None or any(self._nodes[i].op() in _conditions() for i in parts):
            return NO_SUM
        none = np.zeros(_choices(found, parts))
        quantities = [found[i] or OpenQuantity(none, none) for i in parts]
        are_open = [found[i] is not None for i in parts]
        return rule(quantities, are_open, values[parts])


def _choices(found: list[OpenQuantity | None], parts: list[int]) -> int:
    """How many choices there are."""
    return max(
        (
            len(x.change)
            for x in (found[i] for i in parts)
            if x is not None and x.change is not None
        ),
        default=0,
    )


def _in_order(value: casadi.SX) -> tuple[list[casadi.SX], list[list[int]]]:
    """All that an expression is made of, each after its parts, and the numbers of these."""
    numbers: dict[int, int] = {}
    nodes: list[casadi.SX] = []
    parts: list[list[int]] = []
    waiting = [value]
    while waiting:
        node = waiting[-1]
        key = node.element_hash()
        inner = [] if node.is_leaf() else [node.dep(k) for k in range(node.n_dep())]
        missing = [x for x in inner if x.element_hash() not in numbers]
        if key not in numbers and missing:
            waiting += missing
            continue
        waiting.pop()
        if key not in numbers:
            numbers[key] = len(nodes)
            nodes.append(node)
            parts.append([numbers[x.element_hash()] for x in inner])
    return nodes, parts


_Rule = Callable[[list[OpenQuantity], list[bool], FloatArray], OpenQuantity]


def _product(x: list[OpenQuantity], are_open: list[bool], values: FloatArray) -> OpenQuantity:
    if all(are_open):
        return NO_SUM
    return x[0].times(float(values[1])) if are_open[0] else x[1].times(float(values[0]))


def _quotient(x: list[OpenQuantity], are_open: list[bool], values: FloatArray) -> OpenQuantity:
    return NO_SUM if are_open[1] or not values[1] else x[0].times(1.0 / float(values[1]))


def _rules() -> dict[int, _Rule]:
    """Operations that keep a sum one."""
    import casadi as ca

    return {
        ca.OP_ASSIGN: lambda x, _, __: x[0],
        ca.OP_NEG: lambda x, _, __: x[0].times(-1.0),
        ca.OP_TWICE: lambda x, _, __: x[0].times(2.0),
        ca.OP_ADD: lambda x, _, __: x[0].plus(x[1]),
        ca.OP_SUB: lambda x, _, __: x[0].plus(x[1].times(-1.0)),
        ca.OP_MUL: _product,
        ca.OP_DIV: _quotient,
    }


def _conditions() -> frozenset[int]:
    """What switches a factor on and off: it may be off at all states that are looked at."""
    import casadi as ca

    return frozenset({ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR})
