"""Code generation from a CasADi function: a plain list of scalar instructions.

The list is in static single assignment form: instruction i defines value i, from values with
smaller numbers. It holds no CasADi object, so that it can be hashed, stored, compiled (`emit`) and
handed back to CasADi (`casadi_vm`). Equal subexpressions appear once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from zwang.codegen.operations import (
    COMMUTATIVE,
    OPERATIONS,
    STRUCTURAL,
    UnsupportedOperationError,
)
from zwang.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import casadi

__all__ = ["Expression", "Instruction", "InstructionBuilder", "Port", "StoreOutput", "read"]


class Port(NamedTuple):
    """An input or output: a name and the number of its structural nonzeros."""

    name: str
    size: int


#: One value: an operation and the numbers of the values it takes. Two leaves have other arguments:
#: ``input`` (port, entry) and ``const``, whose one argument is its place in `Expression.constants`.
#: A plain pair, since kernels have thousands of them.
Instruction = tuple[str, tuple[int, ...]]


class StoreOutput(NamedTuple):
    """Output `port`, nonzero `entry`, is `value`."""

    port: int
    entry: int
    value: int


@dataclass(frozen=True)
class Expression:
    """Scalar instructions from inputs to outputs.

    Attributes
    ----------
    inputs, outputs : names and sizes; only structural nonzeros exist here, in CasADi's order
        (column by column).
    constants : the numbers that ``const`` instructions refer to.
    instructions : value i is computed by instruction i.
    stores : which value goes to which output entry, in the order of the outputs.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: tuple[float, ...]
    instructions: tuple[Instruction, ...]
    stores: tuple[StoreOutput, ...]

    @property
    def operation_count(self) -> int:
        """Number of instructions that compute, leaving out inputs and constants."""
        return sum(operation not in {"input", "const"} for operation, _ in self.instructions)

    @cached_property
    def text(self) -> str:
        """One line for each port, instruction and store; equal texts are equal expressions.

        Port names are left out: they do not change the code.
        """
        lines = [f"inputs {[p.size for p in self.inputs]} outputs {[p.size for p in self.outputs]}"]
        for operation, arguments in self.instructions:
            if operation == "const":
                lines.append(f"const {self.constants[arguments[0]].hex()}")
            else:
                lines.append(f"{operation} {' '.join(map(str, arguments))}")
        lines.extend(f"store {port} {entry} {value}" for port, entry, value in self.stores)
        return "\n".join(lines)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of `text`."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read(function: casadi.Function) -> Expression:
    """Instructions of a CasADi function.

    Parameters
    ----------
    function : of SX symbols. One of MX symbols is expanded first, if CasADi can.

    Raises
    ------
    UnsupportedOperationError
        The function contains an operation that cannot be compiled; the message names it.
    """
    function = _as_scalar_function(function)
    forms, number_of = _forms(), InstructionBuilder()
    add, operate = number_of.add, number_of.operation
    stores: list[StoreOutput] = []
    slots: dict[int, int] = {}  # CasADi reuses work-vector slots; here: which value is in each
    # Bound methods looked up once: this loop runs once an operation.
    code_of = function.instruction_id
    inputs_of, outputs_of = function.instruction_input, function.instruction_output

    for k in range(function.n_instructions()):
        name, operation, count = forms[code_of(k)]
        if count == 2:
            x, y = inputs_of(k)
            slots[outputs_of(k)[0]] = add(operation, slots[x], slots[y])
        elif count == 1:  # CasADi reports two inputs for some of these
            slots[outputs_of(k)[0]] = operate(operation, slots[inputs_of(k)[0]])
        elif name == "OP_INPUT":
            slots[outputs_of(k)[0]] = add("input", *inputs_of(k))
        elif name == "OP_CONST":
            slots[outputs_of(k)[0]] = number_of.constant(function.instruction_constant(k))
        elif name == "OP_OUTPUT":
            port, entry = outputs_of(k)
            stores.append(StoreOutput(port, entry, slots[inputs_of(k)[0]]))
        elif name in STRUCTURAL:
            slots[outputs_of(k)[0]] = slots[inputs_of(k)[0]]
        else:
            detail = f" (symbols {function.free_sx()})" if name == "OP_PARAMETER" else ""
            raise UnsupportedOperationError(function.name(), name, detail)

    return Expression(
        inputs=tuple(Port(function.name_in(i), function.nnz_in(i)) for i in range(function.n_in())),
        outputs=tuple(
            Port(function.name_out(i), function.nnz_out(i)) for i in range(function.n_out())
        ),
        constants=tuple(number_of.constants),
        instructions=tuple(number_of.instructions),
        stores=tuple(sorted(stores)),
    )


def _as_scalar_function(function: casadi.Function) -> casadi.Function:
    """The function itself if it is one of SX symbols, else its expansion."""
    if function.is_a("SXFunction"):
        return function
    try:
        return function.expand()
    except RuntimeError as error:
        raise InputError(
            f"function '{function.name()}'",
            must="be a function of SX symbols, or expand to one",
            but=f"is a CasADi function of type {function.class_name()} that cannot be expanded",
            advice=f"CasADi reports: {str(error).strip().splitlines()[-1]}",
        ) from error


@cache
def _forms() -> dict[int, tuple[str, str, int]]:
    """CasADi's operation codes, as this version of CasADi numbers them: its name of each, ours,
    and the number of arguments; 0 for what is none of ours.
    """
    import casadi

    found: dict[int, tuple[str, str, int]] = {}
    for name in dir(casadi):
        if name.startswith("OP_"):
            operation = name[3:].lower()
            found[getattr(casadi, name)] = name, operation, OPERATIONS.get(operation, 0)
    return found


class InstructionBuilder:
    """Instructions under construction; equal ones are given the same number."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.constants: list[float] = []
        self._numbers: dict[Instruction, int] = {}
        self._constant_places: dict[str, int] = {}

    def add(self, operation: str, *arguments: int) -> int:
        """Number of the value of an instruction, a new one or the one that is there."""
        if operation in COMMUTATIVE and arguments[0] > arguments[1]:
            arguments = arguments[::-1]
        instruction = operation, arguments
        number = self._numbers.get(instruction)
        if number is None:
            number = self._numbers[instruction] = len(self.instructions)
            self.instructions.append(instruction)
        return number

    def constant(self, value: float) -> int:
        """Number of the value of a constant."""
        # By its bits, since 0.0 == -0.0 and nan != nan.
        place = self._constant_places.setdefault(value.hex(), len(self.constants))
        if place == len(self.constants):
            self.constants.append(value)
        return self.add("const", place)

    def operation(self, operation: str, *arguments: int) -> int:
        """Number of the value of an operation, spelled out if it has no direct form."""
        spell = _SPELLED_OUT.get(operation)
        return self.add(operation, *arguments) if spell is None else spell(self, *arguments)

    def inverse_error_function(self, x: int) -> int:
        """erf⁻¹(x) from erf, exp and log1p.

        CasADi's own erf⁻¹ is wrong in the eighth digit for x < −0.7, so compiled code and CasADi's
        machine are both given this one. It solves erf(y) = x to rounding: Winitzki's closed form,
        good to 2e-3, then two Halley steps, y ← y − d / (1 + y d) with d = (erf y − x) / erf′(y),
        each of which cubes the error.
        """
        add, constant = self.add, self.constant
        one = constant(1.0)
        # Winitzki (2008): y² = −g + √(g² − L/a), L = log(1 − x²), g = 2/(π a) + L/2, a = 0.147;
        # and without cancellation for small x: y² = (−L/a) / (√(g² − L/a) + g).
        a = 0.147
        L = add("log1p", add("neg", add("sq", x)))
        g = add("add", constant(2.0 / (3.141592653589793 * a)), add("mul", constant(0.5), L))
        minus_L_over_a = add("mul", constant(-1.0 / a), L)
        root = add("sqrt", add("add", add("sq", g), minus_L_over_a))
        y_abs = add("sqrt", add("div", minus_L_over_a, add("add", root, g)))
        y = add("copysign", y_abs, x)
        for _ in range(2):
            # 1 / erf′(y) = √π/2 · exp(y²)
            inverse_slope = add("mul", constant(0.886226925452758), add("exp", add("sq", y)))
            d = add("mul", add("sub", add("erf", y), x), inverse_slope)
            y = add("sub", y, add("div", d, add("add", one, add("mul", y, d))))
        # erf⁻¹(±1) = ±∞; beyond, the logarithm has made y not-a-number already.
        x_abs = add("fabs", x)
        infinite = add("copysign", constant(float("inf")), x)
        inside = add("if_else_zero", add("ne", x_abs, one), y)
        return add("add", inside, add("if_else_zero", add("eq", x_abs, one), infinite))


_SPELLED_OUT: dict[str, Callable[..., int]] = {"erfinv": InstructionBuilder.inverse_error_function}
