"""Block programs: a call list in which every call is followed by its derivative in one direction.

With ẋ of the arguments x of a call y = f(x), those of its results are ẏ = f′(x) ẋ. The inputs q and
v have their rates after them; p stands still, and calls do not look at t.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zwang.programs.blocks.call_list import (
    OUT,
    WORK,
    CallList,
    Place,
    Q,
    V,
    offset_of,
    place,
    space_of,
)

if TYPE_CHECKING:
    import casadi

__all__ = ["RateTape"]


class RateTape(CallList):
    """A tape that writes, to its outputs, the rates of what another one writes.

    Parameters
    ----------
    sizes : lengths of q and of v, by space.
    """

    def __init__(self, sizes: Mapping[int, int]) -> None:
        super().__init__(1)
        self._sizes = sizes
        self._rates: dict[tuple[int, tuple[int, ...]], casadi.Function] = {}
        self._kept: list[casadi.Function] = []  # their identity is a key

    def call(self, function: casadi.Function, *places: Place) -> None:
        """Add a call, unless its results are the outputs, and one for the rates of its results."""
        given, results = places[: function.n_in()], places[function.n_in() :]
        if all(space_of(at) == WORK for at in results):
            super().call(function, *places)
        moving = tuple(k for k, at in enumerate(given) if space_of(at) in (Q, V, WORK))
        key = id(function), moving
        if key not in self._rates:
            self._kept.append(function)
            self._rates[key] = _rates(function, moving)
        rates = [self._rate(given[k]) for k in moving]
        super().call(self._rates[key], *given, *rates, *(self._rate(x) for x in results))

    def _rate(self, of: Place) -> Place:
        """Where the rate of something is; outputs are rates themselves."""
        space, at = space_of(of), offset_of(of)
        if space >= OUT and space != WORK:
            return of
        if space == WORK:
            return self.work.at(("rate", at), self.work.sizes[at])
        return place(space, self._sizes[space] + at)


def _rates(function: casadi.Function, moving: tuple[int, ...]) -> casadi.Function:
    """(arguments…, rates of those that move…) → rates of the results."""
    import casadi as ca

    inputs = [ca.SX.sym(f"x{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    rates = [ca.SX.sym(f"r{k}", function.sparsity_in(k)) for k in moving]
    x = ca.vertcat(*(ca.vec(inputs[k]) for k in moving))
    x_dot = ca.vertcat(*(ca.vec(r) for r in rates))
    moved = [
        ca.jtimes(ca.vec(ca.densify(y)), x, x_dot) if moving else ca.SX.zeros(y.numel(), 1)
        for y in function.call(inputs)
    ]
    return ca.Function("rates", [*inputs, *rates], [ca.densify(y) for y in moved])
