"""Code generation: order of operations, contraction to FMA, and splitting of an expression.

Each pass takes an expression and gives an equal one, except that `share_reciprocals` and `contract`
round in other places. None of them looks at the lane width: scalar and vector code are written
from the same list, which is what makes a lane bit-identical to the scalar kernel.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zwang.codegen.expression import Expression, Instruction, InstructionBuilder, StoreOutput

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LEAVES", "SINES", "Plan", "contract", "cut", "gather_sines", "share_reciprocals"]

LEAVES = frozenset({"input", "const"})  # written where they are used, never carried between chunks

SINES = frozenset({"sin", "cos"})

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
    divisions = Counter(
        arguments[-1]
        for operation, arguments in expression.instructions
        if operation in {"div", "inv"}
    )
    shared = {divisor for divisor, count in divisions.items() if count >= 3}
    if not shared:
        return expression
    builder = InstructionBuilder()
    add = builder.add
    numbers: list[int] = []
    for operation, arguments in expression.instructions:
        if operation == "const":
            numbers.append(builder.constant(expression.constants[arguments[0]]))
        elif operation == "input":
            numbers.append(add("input", *arguments))
        elif operation == "div" and arguments[1] in shared:
            reciprocal = add("inv", numbers[arguments[1]])
            numbers.append(add("mul", numbers[arguments[0]], reciprocal))
        elif len(arguments) == 2:
            numbers.append(add(operation, numbers[arguments[0]], numbers[arguments[1]]))
        else:
            numbers.append(add(operation, *[numbers[a] for a in arguments]))
    return replace(
        expression,
        constants=tuple(builder.constants),
        instructions=tuple(builder.instructions),
        stores=tuple(StoreOutput(port, entry, numbers[v]) for port, entry, v in expression.stores),
    )


def contract(expression: Expression) -> Expression:
    """Join a product and the sum it goes into to one operation with one rounding.

    New operations: ``fma`` a·b + c, ``fms`` a·b − c, ``fnma`` c − a·b. The choice is made here, and
    not by LLVM's ``contract`` flag, because LLVM decides anew for every vector width.

    A product is joined only if nothing else uses it and the other summand is not a product too.
    The second rule costs few joins and keeps x² − y² zero for x = y, and a·d − b·c antisymmetric:
    with one product rounded and the other not, √(x² − y²) could be the root of −1e-17.
    """
    uses = [0] * len(expression.instructions)
    for operation, arguments in expression.instructions:
        if operation not in LEAVES:
            for argument in arguments:
                uses[argument] += 1
    for store in expression.stores:
        uses[store.value] += 1

    like_product = [False] * len(uses)
    joined: set[int] = set()
    instructions = list(expression.instructions)
    for number, (operation, arguments) in enumerate(expression.instructions):
        if operation not in {"add", "sub"}:
            like_product[number] = operation in {"mul", "sq"} or (
                operation in {"neg", "twice"} and like_product[arguments[0]]
            )
            continue
        left, right = arguments
        if like_product[left] == like_product[right]:
            continue
        product, other = (left, right) if like_product[left] else (right, left)
        kind, factors = expression.instructions[product]
        if uses[product] != 1 or kind not in {"mul", "sq"}:
            continue
        a, b = factors if kind == "mul" else (factors[0], factors[0])
        form = "fma" if operation == "add" else "fms" if product == left else "fnma"
        instructions[number] = form, (a, b, other)
        joined.add(product)
    if not joined:
        return expression
    kept = [number for number in range(len(instructions)) if number not in joined]
    return _renumbered(replace(expression, instructions=tuple(instructions)), kept)


def gather_sines(expression: Expression) -> Expression:
    """Put sines and cosines that can be computed at once next to each other.

    sin x and cos x together cost little more than one of them, and those of several angles are one
    stretch of vector code (see `emit`). So all whose angle is an input, or one operation away from
    inputs, come first, each sine beside its cosine; the others stay where they are, in pairs.
    """
    instructions = expression.instructions
    sines = {i: n for n, i in enumerate(instructions) if i[0] in SINES}
    if not sines:
        return expression

    def pair(number: int) -> list[int]:
        operation, arguments = instructions[number]
        partner = sines.get(("cos" if operation == "sin" else "sin", arguments))
        return [number] if partner is None else [number, partner]

    def is_leaf(number: int) -> bool:
        return instructions[number][0] in LEAVES

    order: dict[int, None] = {}  # a set that remembers its order
    early: list[int] = []
    for number in sines.values():
        (angle,) = instructions[number][1]
        operation, arguments = instructions[angle]
        if is_leaf(angle):
            order[angle] = None
        elif operation not in SINES and all(is_leaf(a) for a in arguments):
            order.update(dict.fromkeys((*arguments, angle)))
        else:
            continue
        early.append(number)
    for number in early:
        order.update(dict.fromkeys(pair(number)))
    for number, (operation, _) in enumerate(instructions):
        if operation in SINES:
            order.update(dict.fromkeys(pair(number)))
        else:
            order[number] = None
    return _renumbered(expression, order)


def _renumbered(expression: Expression, order: Iterable[int]) -> Expression:
    """The instructions `order` names, in that order, with arguments and stores following."""
    given = expression.instructions
    new_number = [0] * len(given)
    instructions: list[Instruction] = []
    for new, old in enumerate(order):
        operation, arguments = given[old]
        if operation not in LEAVES:
            if len(arguments) == 2:
                arguments = new_number[arguments[0]], new_number[arguments[1]]
            else:
                arguments = tuple([new_number[a] for a in arguments])
        new_number[old] = new
        instructions.append((operation, arguments))
    stores = tuple(StoreOutput(port, entry, new_number[v]) for port, entry, v in expression.stores)
    return replace(expression, instructions=tuple(instructions), stores=stores)


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
