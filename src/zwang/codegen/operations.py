"""The operations that compiled kernels are made of, and CasADi's operations they come from.

Every operation code of CasADi is either one of `OPERATIONS`, removed while the expression is read
(`STRUCTURAL`), or refused by name with advice (`UnsupportedOperationError`).
"""

from __future__ import annotations

from zwang.errors import ZwangError

__all__ = [
    "ARITIES",
    "COMMUTATIVE",
    "NAMES",
    "NUMBERS",
    "OPERATIONS",
    "STRUCTURAL",
    "UnsupportedOperationError",
]

# Our name of an operation → number of arguments. CasADi's name is "OP_" + the upper-case name.
OPERATIONS: dict[str, int] = {
    # arithmetic
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "constpow", "fmod", "remainder"), 2),
    **dict.fromkeys(("neg", "sq", "twice", "inv", "sqrt"), 1),
    # elementary functions
    **dict.fromkeys(("exp", "log", "expm1", "log1p", "erf", "erfinv"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("atan2", "hypot"), 2),
    # rounding, signs, extremes
    **dict.fromkeys(("floor", "ceil", "fabs", "sign"), 1),
    **dict.fromkeys(("copysign", "fmin", "fmax"), 2),
    # truth values are 0.0 and 1.0; if_else_zero(x, y) is y where x ≠ 0, else 0
    **dict.fromkeys(("lt", "le", "eq", "ne", "and", "or", "if_else_zero"), 2),
    "not": 1,
}

# x ∘ y and y ∘ x are the same number, so only one of them is computed.
COMMUTATIVE = frozenset({"add", "mul", "eq", "ne", "and", "or"})

# Two leaves, then what kernels are made of: ``erfinv`` is spelled out when it is read, and products
# are joined with sums in a pass of their own.
ARITIES: dict[str, int] = {
    "input": 2,
    "const": 1,
    **{name: count for name, count in OPERATIONS.items() if name != "erfinv"},
    **dict.fromkeys(("fma", "fms", "fnma"), 3),
}
# Their numbers in the code of an expression.
NAMES = tuple(ARITIES)
NUMBERS = {name: number for number, name in enumerate(NAMES)}

# These vanish while the instructions are read: an assigned or lifted value is the value itself.
STRUCTURAL = frozenset({"OP_INPUT", "OP_OUTPUT", "OP_CONST", "OP_ASSIGN", "OP_LIFT"})

_ADVICE = {
    "OP_CALL": (
        "A function inside the expression is kept as a call (option 'never_inline', a callback or "
        "an external function). Build it without that option, or write it with SX operations."
    ),
    "OP_PARAMETER": "Pass every symbol of the expression as an input of the function.",
    "OP_PRINTME": (
        "A compiled kernel cannot print. Remove 'printme', or make the value an output of its own."
    ),
}
_MATRIX_ADVICE = (
    "This is an operation on whole matrices. Write the function with SX symbols, or expand it "
    "with Function.expand()."
)


class UnsupportedOperationError(ZwangError):
    """An expression contains an operation that cannot become part of a kernel.

    Attributes
    ----------
    operation : CasADi's name of the operation, for example ``"OP_CALL"``.
    """

    def __init__(self, function: str, operation: str, detail: str = "") -> None:
        super().__init__(
            f"function '{function}'",
            but=f"contains operation {operation}{detail}, which has no compiled form",
            advice=_ADVICE.get(operation, _MATRIX_ADVICE),
        )
        self.operation = operation
