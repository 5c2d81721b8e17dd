"""Expressions of loops: what stands in a line."""

from __future__ import annotations

import ast
import builtins
import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.jit import CompiledLoop
from zwang.codegen.loops.code import FunctionCode
from zwang.codegen.loops.functions import FUNCTIONS, KINDS_OF_TYPES, PLAIN
from zwang.codegen.loops.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    KINDS,
    Array,
    RuntimeNumber,
    is_record,
)
from zwang.codegen.loops.values import (
    BIT,
    WORD,
    LoopError,
    form,
    is_static,
    kind_of,
    parts,
    room_in,
    types,
)

if TYPE_CHECKING:
    from zwang.codegen.loops.translate import Module

__all__ = ["FunctionTranslator"]

OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class FunctionTranslator(ABC):
    """A function being translated: what its names stand for, and the values of expressions."""

    def __init__(
        self,
        module: Module,
        loop: CompiledLoop,
        code: FunctionCode,
        arguments: Sequence[Any],
        room: Callable[[Any], Any] | None = None,
    ) -> None:
        self.module, self.loop, self.code = module, loop, code
        self.b: Any = code.builder
        self.tree = module.tree(loop)
        self.room = room
        #: Room for what it returns, once that is known; where it goes after a return.
        self.result: Any = None
        self.returned = False
        self.exit = self.b.append_basic_block("exit")
        #: Where `continue` and `break` go.
        self.ways: list[tuple[Any, Any]] = []
        self.depth = 0
        self.mask = code.mask  # the lanes it is called for
        #: Memory to be given back.
        self.memory: list[Any] = []
        self.known: dict[str, Any] = {}  # names that stand for one value
        self.places: dict[str, Any] = {}  # names that stand for changing ones
        self.stores = Counter(
            node.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        names = [argument.arg for argument in self.tree.args.args]
        if len(names) != len(arguments):
            raise LoopError(f"{loop.name} takes {len(names)} arguments, not {len(arguments)}")
        for name, value in zip(names, arguments, strict=True):
            if self.stores[name]:
                self.places[name] = code.place(value)
                code.put(self.places[name], value)
            else:
                self.known[name] = value

    @abstractmethod
    def write(self) -> None:
        """Translate the function; the builder stands behind it afterwards."""

    def error(self, node: Any, message: str) -> LoopError:
        """An error with its line."""
        first = self.loop.function.__code__.co_firstlineno
        line = first + node.lineno - 1
        return LoopError(f"{self.loop.name}, line {line}: {message}", located=True)

    def value(self, node: ast.expr) -> Any:
        """The value of an expression."""
        try:
            read = getattr(self, f"read_{type(node).__name__}")
        except AttributeError:
            raise self.error(node, "this expression has no compiled form") from None
        return read(node)

    def read_Constant(self, node: ast.Constant) -> Any:
        """A number."""
        return node.value

    def read_Name(self, node: ast.Name) -> Any:
        """What a name stands for here."""
        if node.id in self.known:
            return self.known[node.id]
        if node.id in self.places:
            return self.code.get(self.places[node.id])
        if self.stores[node.id]:
            raise self.error(node, f"{node.id} stands for nothing yet")
        return _meaning(self.loop.function, node.id)

    def read_Tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        """Several values."""
        return tuple(self.several(node.elts))

    def several(self, nodes: Sequence[ast.expr]) -> list[Any]:
        """Values, where *name stands for those of a tuple."""
        values = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self.value(node.value)
            else:
                values.append(self.value(node))
        return values

    def read_Attribute(self, node: ast.Attribute) -> Any:
        """A name of a module, a field of a record, the lengths of an array, a part of a complex."""
        owner = self.value(node.value)
        if is_record(type(owner)) and node.attr in (*owner._fields, "_replace"):
            return getattr(owner, node.attr)
        if isinstance(owner, Array) and node.attr == "shape":
            return tuple(RuntimeNumber(INT, length) for length in owner.shape)
        if (
            isinstance(owner, RuntimeNumber)
            and node.attr in ("real", "imag")
            and owner.kind == COMPLEX
        ):
            return RuntimeNumber(FLOAT, owner.value[node.attr == "imag"])
        if is_static(owner):
            return getattr(owner, node.attr)
        raise self.error(node, f".{node.attr} has no compiled form")

    def indices(self, node: ast.expr) -> list[Any]:
        """What stands in brackets."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        found = []
        for index in nodes:
            if isinstance(index, ast.Slice):
                bounds = (index.lower, index.upper, index.step)
                found.append(slice(*(None if x is None else self.value(x) for x in bounds)))
            else:
                found.append(self.value(index))
        return found

    def read_Subscript(self, node: ast.Subscript) -> Any:
        """A number or a part of an array, an entry of a tuple."""
        owner, indices = self.value(node.value), self.indices(node.slice)
        if is_static(owner) and not all(map(is_static, indices)):
            owner = self.code.constant_array(np.asarray(owner, dtype=float), "table")
        if isinstance(owner, Array):
            whole = len(indices) == len(owner.shape) and not isinstance(indices[-1], slice)
            return (self.code.entry if whole else self.code.part)(owner, indices)
        if not all(map(is_static, indices)):
            raise self.error(node, "an index of a tuple of values that are not known")
        return owner[indices[0] if len(indices) == 1 else tuple(indices)]

    def read_BinOp(self, node: ast.BinOp) -> Any:
        """Arithmetic."""
        left, right = self.value(node.left), self.value(node.right)
        return self.code.binary(self.operation(node, node.op), left, right)

    def operation(self, node: ast.AST, sign: ast.AST) -> Callable[[Any, Any], Any]:
        """What an operator or a comparison does."""
        if type(sign) not in OPERATORS:
            raise self.error(node, "this operator has no compiled form")
        return OPERATORS[type(sign)]

    def read_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """−a, not a."""
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.code.negative(value)
        if not isinstance(node.op, ast.Not):
            raise self.error(node, "this operator has no compiled form")
        test = self.code.truth(value)
        return not test if isinstance(test, bool) else RuntimeNumber(BOOL, self.b.not_(test))

    def read_Compare(self, node: ast.Compare) -> Any:
        """a < b < c; a value in the middle is worked out once."""
        result: Any = True
        left = self.value(node.left)
        for operation, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            holds = self.code.compared(self.operation(node, operation), left, right)
            if result is True:
                result = holds
            else:
                _, (a, b) = self.code.common(result, holds)
                result = RuntimeNumber(BOOL, self.b.and_(a.value, b.value))
            left = right
        return result

    def read_BoolOp(self, node: ast.BoolOp) -> Any:
        """a and b, a or b: of conditions; what need not be worked out is not."""
        if self.code.lanes:
            return self.of_lanes(node)
        decided = isinstance(node.op, ast.Or)  # what settles it
        result, after = None, None
        for k, operand in enumerate(node.values):
            test = self.code.truth(self.value(operand))
            if isinstance(test, bool):
                if test is not decided:
                    continue
                if result is None:
                    return decided
            if result is None:
                if k == len(node.values) - 1:
                    return test if isinstance(test, bool) else RuntimeNumber(BOOL, test)
                result = self.code.place_for(BIT)
                after = self.b.append_basic_block("decided")
            self.b.store(BIT(test) if isinstance(test, bool) else test, result)
            following = self.b.append_basic_block("further")
            yes, no = (after, following) if decided else (following, after)
            self.b.cbranch(BIT(test) if isinstance(test, bool) else test, yes, no)
            self.b.position_at_end(following)
        if result is None:
            return not decided
        self.b.branch(after)
        self.b.position_at_end(after)
        return RuntimeNumber(BOOL, self.b.load(result))

    def of_lanes(self, node: ast.BoolOp) -> Any:
        """As `read_BoolOp` where lanes are side by side: all conditions are worked out."""
        decided = isinstance(node.op, ast.Or)
        join, result = (self.b.or_ if decided else self.b.and_), None
        for operand in node.values:
            test = self.code.truth(self.value(operand))
            if isinstance(test, bool):
                if test is decided:
                    return decided
                continue
            found = RuntimeNumber(BOOL, test)
            if result is not None:
                _, (a, b) = self.code.common(result, found)
                found = RuntimeNumber(BOOL, join(a.value, b.value))
            result = found
        return (not decided) if result is None else result

    def read_IfExp(self, node: ast.IfExp) -> Any:
        """a if test else b; only one of them is worked out."""
        test = self.code.truth(self.value(node.test))
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse)
        if self.code.lanes:
            return self.code.chosen(test, self.value(node.body), self.value(node.orelse))
        blocks = [self.b.append_basic_block(s) for s in ("yes", "no")]
        after = self.b.append_basic_block("either")
        self.b.cbranch(test, *blocks)
        found = []
        for start, expression in zip(blocks, (node.body, node.orelse), strict=True):
            self.b.position_at_end(start)
            found.append((self.value(expression), self.b.block))
        place = self.code.place(_wider(*(value for value, _ in found)))
        for value, end in found:
            self.b.position_at_end(end)
            self.code.put(place, value)
            self.b.branch(after)
        self.b.position_at_end(after)
        return self.code.get(place)

    def read_Call(self, node: ast.Call) -> Any:
        """Another loop, or a function with a compiled form."""
        function = self.value(node.func)
        arguments = self.several(node.args)
        named = {str(word.arg): self.value(word.value) for word in node.keywords}
        if isinstance(function, CompiledLoop) and not named:
            return self.call(function, arguments)
        if is_record(function) or is_record(type(getattr(function, "__self__", None))):
            return function(*arguments, **named)  # a record, or another with some fields replaced
        if function in (np.empty, np.empty_like):
            return self.allocate(node, function, *arguments, **named)
        known = all(map(is_static, (*arguments, *named.values())))
        emitter = FUNCTIONS.get(function) or getattr(function, "compiled", None)
        if known and (emitter is None or function in PLAIN):
            return function(*arguments, **named)
        if emitter is not None and not named:
            return emitter(self.code, *arguments)
        how = " with named arguments" if named else ""
        name = getattr(function, "__name__", function)
        raise self.error(node, f"{name}{how} has no compiled form")

    def call(self, loop: CompiledLoop, arguments: Sequence[Any]) -> Any:
        """Another loop, written here or called."""
        if loop.inlined:
            writer = type(self)(self.module, loop, self.code, arguments)
            writer.write()
            return self.code.get(writer.result)
        if self.code.lanes:
            raise LoopError(f"a call of {loop.name} for each lane; only what is inlined can be")
        values = tuple(map(self.code.registered, arguments))
        function, result = self.module.function(loop, form(values))
        function.attributes.add("noinline")
        with self.b.goto_entry_block():
            area = self.b.alloca(WORD, max(len(types(result)), 1))
        self.b.call(function, [*parts(values), area])
        return self.code.get(self.code.place(result, room_in(self.b, area)))

    def allocate(self, node: ast.Call, function: Any, shape: Any, dtype: Any = np.float64) -> Array:
        """A new array, given back where the function ends."""
        if self.ways:
            raise self.error(node, "a new array in every turn of a loop")
        if function is np.empty_like:
            kind, lengths = shape.kind, tuple(RuntimeNumber(INT, length) for length in shape.shape)
        elif dtype in KINDS_OF_TYPES:
            kind, lengths = KINDS_OF_TYPES[dtype], shape if isinstance(shape, tuple) else (shape,)
        else:
            raise self.error(node, f"arrays of {dtype!r} have no compiled form")
        array, place = self.code.allocated(kind, lengths)
        self.memory.append(place)
        return array


def _meaning(function: Callable[..., Any], name: str) -> Any:
    """What a name stands for that is not a function's own."""
    free = function.__code__.co_freevars
    if name in free:
        return (function.__closure__ or ())[free.index(name)].cell_contents
    for known in (function.__globals__, vars(builtins)):
        if name in known:
            return known[name]
    raise LoopError(f"nothing is known as {name}")


def _wider(a: Any, b: Any) -> Any:
    """The one of two numbers that the other can turn into; anything else must be alike."""
    if isinstance(a, (Array, tuple)):
        return a
    return max(a, b, key=lambda value: KINDS.index(kind_of(value)))
