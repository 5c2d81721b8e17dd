"""Values while a loop is translated: known ones, and parts of others in LLVM.

What is known while a loop is compiled is an ordinary Python object; what is known only when it runs
is a `RuntimeNumber` or an `Array`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from llvmlite import ir

from zwang.codegen.loops.kinds import BOOL, COMPLEX, FLOAT, INT, Array, Lanes, RuntimeNumber, alike

__all__ = [
    "BIT",
    "BYTE",
    "BYTES",
    "REAL",
    "STORED",
    "TYPES",
    "WORD",
    "LoopError",
    "described",
    "form",
    "is_static",
    "is_thing",
    "is_vector",
    "kind_of",
    "parts",
    "rebuilt",
    "room_in",
    "types",
    "wide",
]

BIT, BYTE, WORD, REAL = ir.IntType(1), ir.IntType(8), ir.IntType(64), ir.DoubleType()
#: What a number of a kind is in a register, and in an array; complex numbers are two reals.
TYPES = {BOOL: BIT, INT: WORD, FLOAT: REAL, COMPLEX: REAL}
STORED = {BOOL: BYTE, INT: WORD, FLOAT: REAL, COMPLEX: REAL}
_VECTOR = ir.VectorType
BYTES = {BOOL: 1, INT: 8, FLOAT: 8, COMPLEX: 16}


class LoopError(Exception):
    """A loop says what has no compiled form: a mistake in the library, not of its user.

    `located` tells whether the message says where.
    """

    def __init__(self, message: str, *, located: bool = False) -> None:
        super().__init__(message)
        self.located = located


def described(value: Any) -> str:
    """What a value is, in an error."""
    if isinstance(value, tuple):
        name = "a tuple" if type(value) is tuple else f"the record {type(value).__name__}"
        return f"{name} of {len(value)} values"
    if isinstance(value, Array):
        return f"an array of {len(value.shape)} axes"
    return f"a number ({value.kind})" if isinstance(value, RuntimeNumber) else repr(value)


def is_static(value: Any) -> bool:
    """Whether a value is known while the loop is compiled."""
    if isinstance(value, tuple):
        return all(map(is_static, value))
    return not isinstance(value, (RuntimeNumber, Array))


def kind_of(value: Any) -> str:
    """The kind of a number, known or not."""
    if isinstance(value, RuntimeNumber):
        return value.kind
    for kind, types in ((BOOL, (bool, np.bool_)), (INT, (int, np.integer))):
        if isinstance(value, types):
            return kind
    if isinstance(value, (float, np.floating)):
        return FLOAT
    if isinstance(value, (complex, np.complexfloating)):
        return COMPLEX
    raise LoopError(f"{value!r} is not a number")


def is_vector(value: Any) -> bool:
    """Whether a number is another in each lane."""
    return isinstance(value, RuntimeNumber) and isinstance(
        getattr(value.value, "type", None), _VECTOR
    )


def wide(kind: Any, like: Any) -> Any:
    """A type of one number, or that of as many as a value in LLVM has."""
    return _VECTOR(kind, like.type.count) if isinstance(like.type, _VECTOR) else kind


def form(value: Any) -> Any:
    """A value without what it holds: equal for values of one type.

    Numbers that are known have the form of those that are not.
    """
    if isinstance(value, tuple):
        return alike(value, map(form, value))
    if isinstance(value, Array):
        return Array(value.kind, None, (None,) * len(value.shape))
    return value if is_thing(value) else RuntimeNumber(kind_of(value), None)


def parts(value: Any) -> list[Any]:
    """The values in LLVM that a value is made of."""
    if isinstance(value, tuple):
        return [part for entry in value for part in parts(entry)]
    if isinstance(value, Array):
        return [value.data, *value.shape]
    if isinstance(value, RuntimeNumber):
        return list(value.value) if value.kind == COMPLEX else [value.value]
    return []


def types(shape: Any) -> list[Any]:
    """Types in LLVM of the parts of a form."""
    if isinstance(shape, tuple):
        return [kind for entry in shape for kind in types(entry)]
    if isinstance(shape, Array):
        return [STORED[shape.kind].as_pointer(), *(WORD for _ in shape.shape)]
    if isinstance(shape, RuntimeNumber):
        return [TYPES[shape.kind]] * (2 if shape.kind == COMPLEX else 1)
    return []


def rebuilt(shape: Any, given: Iterator[Any]) -> Any:
    """A value of a form, from its parts."""
    if isinstance(shape, tuple):
        return alike(shape, [rebuilt(entry, given) for entry in shape])
    if isinstance(shape, Array):
        return Array(shape.kind, next(given), tuple(next(given) for _ in shape.shape))
    if isinstance(shape, RuntimeNumber):
        pair = shape.kind == COMPLEX
        return RuntimeNumber(shape.kind, (next(given), next(given)) if pair else next(given))
    return shape


def is_thing(value: Any) -> bool:
    """Whether a known value is no number: it stays what it is."""
    return value is None or callable(value) or isinstance(value, (str, type, np.ndarray, Lanes))


def room_in(b: ir.IRBuilder, area: Any) -> Callable[[Any], Any]:
    """Gives one word of an area after the other."""
    used = iter(range(1 << 30))

    def new(kind: Any) -> Any:
        with b.goto_entry_block():
            return b.bitcast(b.gep(area, [WORD(next(used))]), kind.as_pointer())

    return new
