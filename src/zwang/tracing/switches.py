"""Whether traced functions jump, and where they switch in time.

A comparison of states makes a force jump, somewhere. One whose argument is a function of t and p
alone switches at times that are known before: ``where(t > 3, 20, 0)`` where t − 3 changes its sign,
``min(t/T, 1)`` where t/T − 1 does, ``floor(t/T)`` where t/T passes a whole number. Such functions
s(t, p) are collected here; `zwang.simulation.switching_times` finds where they switch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["TimeSwitch", "expressions_jump", "function_jumps", "function_switches", "time_switches"]

#: CasADi's operations whose value jumps, or switches between others, where an argument passes one.
_JUMPS = ("LT", "LE", "EQ", "NE", "IF_ELSE_ZERO", "SIGN", "FLOOR", "CEIL", "FMOD")
#: Those of two arguments that switch where these are equal.
_OF_TWO = ("LT", "LE", "EQ", "NE", "FMIN", "FMAX")
#: Those of one argument that switch where it is zero, and where it passes a whole number.
_OF_ONE = ("FABS", "SIGN")
_OF_WHOLE = ("FLOOR", "CEIL")


class TimeSwitch(NamedTuple):
    """A function of time whose sign, or whole part, decides a branch.

    Attributes
    ----------
    function : s(t, p) and ds/dt, for a row of times.
    whole : whether the branch is the whole part of s; else it is its sign.
    straight : whether s is linear in time, piece by piece.
    """

    function: casadi.Function
    whole: bool
    straight: bool

    def values(self, t: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The function and its rate at some times, shape (nt,) each."""
        s, rate = self.function(np.asarray(t)[None], p)
        return np.broadcast_to(s.full().ravel(), t.shape), np.broadcast_to(
            rate.full().ravel(), t.shape
        )


def function_jumps(function: casadi.Function) -> bool:
    """Whether a function of scalars has an operation that jumps."""
    return _has(function, _JUMPS)


def expressions_jump(*expressions: casadi.SX) -> bool:
    """Whether one of some expressions has an operation that jumps."""
    import casadi as ca

    whole = ca.veccat(*expressions)
    return function_jumps(ca.Function("jumps", ca.symvar(whole), [whole]))


def function_switches(function: casadi.Function) -> bool:
    """Whether a function of scalars has an operation that switches, or has a kink."""
    return _has(function, (*_OF_TWO, *_OF_ONE, *_OF_WHOLE, "FMOD"))


def _has(function: casadi.Function, operations: Sequence[str]) -> bool:
    """Whether one of some operations occurs in a function of scalars."""
    import casadi as ca

    codes = {getattr(ca, f"OP_{name}") for name in operations}
    return any(function.instruction_id(k) in codes for k in range(function.n_instructions()))


def time_switches(
    expressions: Iterable[casadi.SX], t: casadi.SX, p: casadi.SX
) -> tuple[TimeSwitch, ...]:
    """The switches of some expressions that time and parameters alone decide.

    Inner ones come before those that they are part of.
    """
    import casadi as ca

    whole = ca.veccat(*expressions)
    if not ca.depends_on(whole, t):
        return ()
    others = [x for x in ca.symvar(whole) if not ca.depends_on(ca.vertcat(t, p), x)]
    function = ca.Function("switching", [t, p, ca.vertcat(*others)], [whole])
    if not function_switches(function):
        return ()
    found: dict[str, TimeSwitch] = {}
    for s, levels in _arguments(function, (t, p)):
        rate = ca.densify(ca.jacobian(s, t))
        key = f"{levels} {s}"
        if key not in found and ca.depends_on(s, t):
            straight = ca.jacobian(rate, t).is_zero()
            found[key] = TimeSwitch(ca.Function("switch", [t, p], [s, rate]), levels, straight)
    return tuple(found.values())


def _arguments(
    function: casadi.Function, inputs: Sequence[casadi.SX]
) -> list[tuple[casadi.SX, bool]]:
    """What operations of a function switch by, in order, where only its first inputs decide."""
    import casadi as ca

    two, one, integer = (
        {getattr(ca, f"OP_{name}") for name in names} for names in (_OF_TWO, _OF_ONE, _OF_WHOLE)
    )
    work: dict[int, casadi.SX | None] = {}
    found: list[tuple[casadi.SX, bool]] = []
    for k in range(function.n_instructions()):
        code, places = function.instruction_id(k), function.instruction_input(k)
        if code == ca.OP_OUTPUT:
            continue
        (to,) = function.instruction_output(k)
        if code == ca.OP_CONST:
            work[to] = ca.SX(function.instruction_constant(k))
            continue
        if code == ca.OP_INPUT:
            which, entry = places
            work[to] = inputs[which][entry] if which < len(inputs) else None
            continue
        given = [x for x in (work[place] for place in places) if x is not None]
        if len(given) < len(places):
            work[to] = None
            continue
        if code in two:
            found.append((given[0] - given[1], False))
        elif code in one or code in integer:
            found.append((given[0], code in integer))
        elif code == ca.OP_FMOD:
            found.append((given[0] / given[1], True))
        make = ca.SX.unary if len(given) == 1 else ca.SX.binary
        work[to] = make(code, *given)
    return found
