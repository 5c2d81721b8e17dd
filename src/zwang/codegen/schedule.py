"""Code generation: order of operations, contraction to FMA, and splitting of an expression.

Each pass takes an expression and gives an equal one, except that `share_reciprocals` and `contract`
round in other places. None of them looks at the lane width: scalar and vector code are written
from the same list, which is what makes a lane bit-identical to the scalar kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.expression import StoreOutput
from zwang.codegen.instruction_passes import (
    IS_COMMUTATIVE,
    NUMBER_OF_ARGUMENTS,
    empty_table,
    join_products,
    move_sines,
    renumber,
    use_reciprocals,
)
from zwang.codegen.operations import NUMBERS

if TYPE_CHECKING:
    from zwang.codegen.expression import Expression, IntArray

__all__ = ["LEAVES", "SINES", "Plan", "contract", "cut", "gather_sines", "share_reciprocals"]

LEAVES = frozenset({"input", "const"})  # written where they are used, never carried between chunks

SINES = frozenset({"sin", "cos"})
_SINE_NUMBERS = [NUMBERS[name] for name in sorted(SINES)]

# What an operation costs the compiler, in simple operations, so that chunks come out even.
_WEIGHTS = {
    **dict.fromkeys(("sin", "cos"), 25),
    **dict.fromkeys(("sign", "fmin", "fmax"), 3),
    **dict.fromkeys(("lt", "le", "eq", "ne", "and", "or", "not", "if_else_zero"), 2),
}


def share_reciprocals(expression: Expression) -> Expression:
    """Divide by the same value three times or more by multiplying with its reciprocal.

    Processors do one division in the time of eight multiplications, wide vectors worse; symbolic
    elimination divides whole columns by one pivot. The price is a second rounding. What matters
    survives it: a/r stays within ±1 where −r ≤ a ≤ r, so that acos and the like stay defined.
    """
    code = expression.code
    divisors = np.concatenate(
        [code[code[:, 0] == NUMBERS["div"], 2], code[code[:, 0] == NUMBERS["inv"], 1]]
    )
    shared = np.bincount(divisors, minlength=len(code)) >= 3
    if not shared.any():
        return expression
    most = len(code) + int(shared.sum())
    numbers, result = np.zeros(len(code), dtype=np.int64), np.zeros((most, 4), dtype=np.int64)
    table = empty_table(most)
    arguments = code, shared, NUMBER_OF_ARGUMENTS, IS_COMMUTATIVE, numbers, table, result
    count = use_reciprocals(*arguments)
    return replace(expression, code=result[:count], targets=_followed(expression, numbers))


def contract(expression: Expression) -> Expression:
    """Join a product and the sum it goes into to one operation with one rounding.

    New operations: ``fma`` a·b + c, ``fms`` a·b − c, ``fnma`` c − a·b. The choice is made here, and
    not by LLVM's ``contract`` flag, because LLVM decides anew for every vector width.

    A product is joined only if nothing else uses it and the other summand is not a product too.
    The second rule costs few joins and keeps x² − y² zero for x = y, and a·d − b·c antisymmetric:
    with one product rounded and the other not, √(x² − y²) could be the root of −1e-17.
    """
    given = expression.code
    uses = np.bincount(expression.targets[:, 2], minlength=len(given))
    code, like_product, joined = given.copy(), *np.zeros((2, len(given)), dtype=bool)
    if not join_products(given, NUMBER_OF_ARGUMENTS, uses, like_product, joined, code):
        return expression
    return _renumbered(replace(expression, code=code), np.flatnonzero(~joined))


def gather_sines(expression: Expression) -> Expression:
    """Put sines and cosines that can be computed at once next to each other.

    sin x and cos x together cost little more than one of them, and those of several angles are one
    stretch of vector code (see `emit`). So all whose angle is an input, or one operation away from
    inputs, come first, each sine beside its cosine; the others stay where they are, in pairs.
    """
    code = expression.code
    if not np.isin(code[:, 0], _SINE_NUMBERS).any():
        return expression
    n = len(code)
    sine_of, cosine_of, is_early, order = np.full((4, n), -1)
    done = np.zeros(n, dtype=bool)
    move_sines(code, NUMBER_OF_ARGUMENTS, sine_of, cosine_of, is_early, done, order)
    return _renumbered(expression, order)


def _renumbered(expression: Expression, order: IntArray) -> Expression:
    """The instructions `order` names, in that order, with arguments and stores following."""
    numbers = np.zeros(len(expression.code), dtype=np.int64)
    code = np.empty((len(order), 4), dtype=np.int64)
    renumber(expression.code, order, NUMBER_OF_ARGUMENTS, numbers, code)
    return replace(expression, code=code, targets=_followed(expression, numbers))


def _followed(expression: Expression, numbers: IntArray) -> IntArray:
    """Where values with new numbers are written to."""
    targets = expression.targets.copy()
    targets[:, 2] = numbers[targets[:, 2]]
    return targets


@dataclass(frozen=True)
class Plan:
    """How an expression is cut.

    Attributes
    ----------
    chunks : what each chunk does, in order: compute a value (its number) or write an output.
    slots : for values used in a later chunk than their own, their place in the work array.
    work_size : number of places in the work array; a place is reused when its value is done with.
    """

    chunks: tuple[tuple[int | StoreOutput, ...], ...]
    slots: dict[int, int]
    work_size: int


def cut(expression: Expression, limit: int) -> Plan:
    """Cut an expression into even chunks of about `limit` operations, or not if they would be two.

    The effort of a compiler on straight code grows faster than its length; on chunks it is
    proportional to their number. Values that cross from one chunk to another go through memory.
    """
    chunks = _chunks(expression, limit)
    instructions = expression.instructions
    home: dict[int, int] = {}
    last_use: dict[int, int] = {}  # of values used outside their own chunk
    for place, chunk in enumerate(chunks):
        for step in chunk:
            if isinstance(step, StoreOutput):
                used: tuple[int, ...] = (step.value,)
            else:
                used = instructions[step][1]
                home[step] = place
            for value in used:
                if home.get(value, place) != place:  # leaves have no home
                    last_use[value] = place

    free: list[int] = []
    released: dict[int, list[int]] = {}
    slots: dict[int, int] = {}
    size = 0
    for place, chunk in enumerate(chunks):
        for step in chunk:
            if isinstance(step, StoreOutput) or step not in last_use:
                continue
            if free:
                slots[step] = free.pop()
            else:
                slots[step] = size
                size += 1
            released.setdefault(last_use[step], []).append(slots[step])
        # A place read in this chunk may be written again in the next one at the earliest.
        free.extend(released.pop(place, ()))
    return Plan(tuple(chunks), slots, size)


def _chunks(expression: Expression, limit: int) -> list[tuple[int | StoreOutput, ...]]:
    """Steps of each chunk; a value is written out where it is computed, leaves come last."""
    instructions = expression.instructions
    stores: dict[int, list[StoreOutput]] = {}
    for store in expression.stores:
        stores.setdefault(store.value, []).append(store)

    # Groups that stay together: a value with its stores, and sin x with cos x.
    groups: list[list[int | StoreOutput]] = []
    for number, (operation, arguments) in enumerate(instructions):
        if operation in LEAVES:
            continue
        partner = ("sin" if operation == "cos" else "cos", arguments)
        if not (operation in SINES and number and instructions[number - 1] == partner):
            groups.append([])
        groups[-1] += [number, *stores.pop(number, ())]
    groups.extend([store] for left in stores.values() for store in left)

    weights = [
        sum(1 if isinstance(s, StoreOutput) else _WEIGHTS.get(instructions[s][0], 1) for s in group)
        for group in groups
    ]
    total = sum(weights)
    count = 1 if total <= 2 * limit else round(total / limit)
    chunks: list[list[int | StoreOutput]] = [[]]
    done = 0
    for group, weight in zip(groups, weights, strict=True):
        if done * count >= len(chunks) * total:
            chunks.append([])
        chunks[-1] += group
        done += weight
    return [tuple(chunk) for chunk in chunks]
