"""All instructions of a CasADi function at once.

CasADi's interface gives out one at a time, by three calls of a microsecond each. Its text form of a
function, by which functions are stored, has all of them as numbers of 32 bits: operation, slot of
the result, two arguments, or in their place the 64 bits of a constant. Where they begin is found by
what the interface says of some; a version of CasADi that writes something else is read one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import casadi
    from numpy.typing import NDArray

__all__ = ["serialized_instructions"]

_WORDS = 4  # of an instruction
_BYTES = 4 * _WORDS
#: How many instructions are compared with what the interface says, about.
_COMPARED = 8


def serialized_instructions(function: casadi.Function) -> NDArray[np.int32] | None:
    """Instructions of a function of SX symbols, shape (n, 4); None if they are not recognised."""
    count = function.n_instructions()
    try:
        text = function.serialize()
    except RuntimeError:  # something in it cannot be stored
        return None
    digits = np.frombuffer(text.encode(), dtype=np.uint8) - ord("a")
    if len(digits) % 2 or digits.max(initial=0) > 15:
        return None
    content = (digits[0::2] | digits[1::2] << 4).tobytes()
    known = [_instruction(function, k) for k in _spread(count)]
    head = known[0][1].tobytes()
    end = len(content) - count * _BYTES + len(head)  # little comes after the last one
    while (start := content.rfind(head, 0, max(end, 0))) >= 0:
        found = np.frombuffer(content, np.int32, count * _WORDS, start).reshape(count, _WORDS)
        if all((found[k, : len(words)] == words).all() for k, words in known):
            return found
        end = start + len(head) - 1
    return None


def _spread(count: int) -> list[int]:
    """Numbers of some instructions, the first and the last among them."""
    return sorted({round(k) for k in np.linspace(0, count - 1, _COMPARED)})


def _instruction(function: casadi.Function, k: int) -> tuple[int, NDArray[np.int32]]:
    """Number of an instruction and its first words, but for the bits of a constant."""
    import casadi

    operation = function.instruction_id(k)
    given, result = function.instruction_input(k), function.instruction_output(k)
    words = [operation, result[0]]
    if operation != casadi.OP_CONST:
        words.append(given[0])
    return k, np.array(words, dtype=np.int32)
