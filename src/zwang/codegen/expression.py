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

import numpy as np
from numpy.typing import NDArray

from zwang.codegen.casadi_instructions import serialized_instructions
from zwang.codegen.environment import uses_llvm
from zwang.codegen.instruction_passes import (
    COPY,
    IS_COMMUTATIVE,
    NUMBER_OF_ARGUMENTS,
    STORE,
    empty_table,
    number_values,
)
from zwang.codegen.operations import (
    ARITIES,
    COMMUTATIVE,
    NAMES,
    NUMBERS,
    OPERATIONS,
    STRUCTURAL,
    UnsupportedOperationError,
)
from zwang.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import casadi

__all__ = [
    "Expression",
    "Instruction",
    "InstructionBuilder",
    "IntArray",
    "Port",
    "StoreOutput",
    "read",
]


IntArray = NDArray[np.int64]
#: Instructions from which it is quicker to have all at once than one by one.
MANY = 100
#: In place of one of our numbers: an operation that is spelled out, or that there is none for.
UNKNOWN = -3


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


@dataclass(frozen=True, eq=False)
class Expression:
    """Scalar instructions from inputs to outputs.

    Attributes
    ----------
    inputs, outputs : names and sizes; only structural nonzeros exist here, in CasADi's order
        (column by column).
    constants : the numbers that ``const`` instructions refer to.
    code : value i is computed by row i, an operation (see `operations.NUMBERS`) and its arguments,
        padded with zeros; shape (n, 4).
    targets : output, nonzero and value of each number that is written out, in the order of the
        outputs, shape (m, 3).
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: tuple[float, ...]
    code: IntArray
    targets: IntArray

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The rows of `code`, for those who look at them one by one."""
        counts = [ARITIES[name] for name in NAMES]
        return tuple(
            (NAMES[row[0]], tuple(row[1 : 1 + counts[row[0]]])) for row in self.code.tolist()
        )

    @cached_property
    def stores(self) -> tuple[StoreOutput, ...]:
        """The rows of `targets`."""
        return tuple(StoreOutput(*row) for row in self.targets.tolist())

    @property
    def operation_count(self) -> int:
        """Number of instructions that compute, leaving out inputs and constants."""
        return int((self.code[:, 0] > NUMBERS["const"]).sum())

    @cached_property
    def key(self) -> str:
        """SHA-256 of all but the names of ports, which do not change the code."""
        sizes = [port.size for port in (*self.inputs, *self.outputs)]
        found = hashlib.sha256(repr((len(self.inputs), sizes, len(self.code))).encode())
        for array in (np.array(self.constants), self.code, self.targets):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

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
        """SHA-256 of `text`, which stored runs know a model by; `key` is quicker to find."""
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
    if function.n_instructions() >= MANY and uses_llvm("loops"):
        found = _read_at_once(function)
        if found is not None:
            return found
    return _read_one_by_one(function)


def _read_at_once(function: casadi.Function) -> Expression | None:
    """The instructions from all of CasADi's at once; None if some have to be looked at."""
    given = serialized_instructions(function)
    if given is None:
        return None
    operations, own = _own_numbers()[given[:, 0]], given.astype(np.int64)
    if (operations == UNKNOWN).any():
        return None
    own[:, 0] = operations
    is_constant = operations == NUMBERS["const"]
    bits = np.ascontiguousarray(given[is_constant, 2:]).view(np.int64).ravel()
    _, first, places = np.unique(bits, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # in the order of their first use
    own[is_constant, 2], own[is_constant, 3] = rank[places.ravel()], 0
    n, stores = len(own), int((operations == STORE).sum())
    code, targets = np.zeros((n, 4), dtype=np.int64), np.empty((stores, 3), dtype=np.int64)
    slots = np.zeros(int(own[:, 1].max(initial=0)) + 1, dtype=np.int64)
    tables = NUMBER_OF_ARGUMENTS, IS_COMMUTATIVE
    count = number_values(own, *tables, slots, empty_table(n), code, targets)
    constants = bits[np.sort(first)].view(np.float64).tolist()
    order = np.lexsort(targets.T[::-1])
    return Expression(*_ports(function), tuple(constants), code[:count], targets[order])


def _read_one_by_one(function: casadi.Function) -> Expression:
    """The instructions, asked for one by one."""
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
    code = [
        (NUMBERS[operation], *arguments, *(0,) * (3 - len(arguments)))
        for operation, arguments in number_of.instructions
    ]
    rows = np.array(code, dtype=np.int64).reshape(-1, 4)
    targets = np.array(sorted(stores), dtype=np.int64).reshape(-1, 3)
    return Expression(*_ports(function), tuple(number_of.constants), rows, targets)


def _ports(function: casadi.Function) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Inputs and outputs of a function."""
    inputs = (Port(function.name_in(k), function.nnz_in(k)) for k in range(function.n_in()))
    outputs = (Port(function.name_out(k), function.nnz_out(k)) for k in range(function.n_out()))
    return tuple(inputs), tuple(outputs)


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


@cache
def _own_numbers() -> IntArray:
    """Our number of each of CasADi's operation codes; `UNKNOWN` where there is more to do."""
    forms = _forms()
    special = {"OP_OUTPUT": STORE, "OP_ASSIGN": COPY, "OP_LIFT": COPY}
    own = {"OP_INPUT": NUMBERS["input"], "OP_CONST": NUMBERS["const"], **special}
    result = np.full(max(forms) + 1, UNKNOWN)
    for code, (name, operation, count) in forms.items():
        number = NUMBERS.get(operation, UNKNOWN) if count else UNKNOWN
        result[code] = own.get(name, number)
    return result


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
