"""Whether traced functions jump: forces that are switched by a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import casadi

__all__ = ["expressions_jump", "function_jumps"]

#: CasADi's operations whose value jumps, or switches between others, where an argument passes one.
_JUMPS = ("LT", "LE", "EQ", "NE", "IF_ELSE_ZERO", "SIGN", "FLOOR", "CEIL", "FMOD")


def function_jumps(function: casadi.Function) -> bool:
    """Whether a function of scalars has an operation that jumps."""
    import casadi as ca

    jumps = {getattr(ca, f"OP_{name}") for name in _JUMPS}
    count = function.n_instructions()
    return any(function.instruction_id(k) in jumps for k in range(count))


def expressions_jump(*expressions: casadi.SX) -> bool:
    """Whether one of some expressions has an operation that jumps."""
    import casadi as ca

    whole = ca.veccat(*expressions)
    return function_jumps(ca.Function("jumps", ca.symvar(whole), [whole]))
