"""Passes over the instructions of an expression, as compiled loops.

The code of an expression is an array of four columns: the number of an operation (see
`operations.NUMBERS`) and up to three arguments, the numbers of the values that it takes, or zero.
New models bring a hundred thousand instructions, of which each passes here several times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.operations import ARITIES, COMMUTATIVE, NAMES, NUMBERS

__all__ = [
    "COPY",
    "FIRST_OPERATION",
    "IS_COMMUTATIVE",
    "NUMBER_OF_ARGUMENTS",
    "STORE",
    "empty_table",
    "join_products",
    "mark_used",
    "move_sines",
    "number_values",
    "renumber",
    "take_places",
    "use_reciprocals",
]

CONST, FIRST_OPERATION = NUMBERS["const"], 2
#: What CasADi's instructions have besides: a value that is written out, and one that is copied.
STORE, COPY = -1, -2
ADD, SUB, MUL, DIV = (NUMBERS[name] for name in ("add", "sub", "mul", "div"))
NEG, SQ, TWICE, INV = (NUMBERS[name] for name in ("neg", "sq", "twice", "inv"))
FMA, FMS, FNMA = (NUMBERS[name] for name in ("fma", "fms", "fnma"))
SIN, COS = NUMBERS["sin"], NUMBERS["cos"]

NUMBER_OF_ARGUMENTS = np.array([ARITIES[name] for name in NAMES])
IS_COMMUTATIVE = np.array([name in COMMUTATIVE for name in NAMES])


def empty_table(count: int) -> Any:
    """Where so many instructions are looked up."""
    return np.full(2 * count + 3, -1)


@inlined
def _number_of(code, count, table, operation, a, b, c):
    """The number of an instruction: of an equal one, else `count`, where it is put."""
    size = table.shape[0]
    at = (a * 73856093 + b * 19349663 + c * 83492791 + operation * 15485863) % size
    number = -1
    while number < 0:
        there = table[at]
        if there < 0:
            table[at] = count
            code[count, 0] = operation
            code[count, 1] = a
            code[count, 2] = b
            code[count, 3] = c
            number = count
        elif (
            code[there, 0] == operation
            and code[there, 1] == a
            and code[there, 2] == b
            and code[there, 3] == c
        ):
            number = there
        else:
            at = at + 1
            if at == size:
                at = 0
    return number


@loop
def number_values(given, arities, commutative, slots, table, code, targets):
    """One number for each value, in place of slots that are used again; equal ones are one.

    Parameters
    ----------
    given : (n, 4): operation, slot of the result, two arguments: slots, or what leaves have;
        `STORE` has a port, a slot and an entry.
    slots : (s,), for the values in each slot.
    code, targets : the results; the number of rows of the first is returned.
    """
    count, stored = 0, 0
    for k in range(given.shape[0]):
        operation = given[k, 0]
        if operation == STORE:
            targets[stored, 0] = given[k, 1]
            targets[stored, 1] = given[k, 3]
            targets[stored, 2] = slots[given[k, 2]]
            stored += 1
        elif operation == COPY:
            slots[given[k, 1]] = slots[given[k, 2]]
        else:
            a, b = given[k, 2], given[k, 3]
            if operation >= FIRST_OPERATION:
                a = slots[a]
                b = slots[b] if arities[operation] == 2 else 0
                if commutative[operation] and a > b:
                    a, b = b, a
            number = _number_of(code, count, table, operation, a, b, 0)
            if number == count:
                count += 1
            slots[given[k, 1]] = number
    return count


@loop
def use_reciprocals(given, shared, arities, commutative, numbers, table, code):
    """Products with 1/x in place of divisions by the values x that are `shared`.

    `numbers` become those of the values in `code`, whose number of rows is returned.
    """
    count = 0
    for k in range(given.shape[0]):
        operation = given[k, 0]
        a, b, c = given[k, 1], given[k, 2], given[k, 3]
        if operation >= FIRST_OPERATION:
            divided = operation == DIV and shared[b]
            a = numbers[a]
            b = numbers[b] if arities[operation] >= 2 else 0
            c = numbers[c] if arities[operation] == 3 else 0
            if divided:
                inverse = _number_of(code, count, table, INV, b, 0, 0)
                if inverse == count:
                    count += 1
                operation, b = MUL, inverse
            if commutative[operation] and a > b:
                a, b = b, a
        number = _number_of(code, count, table, operation, a, b, c)
        if number == count:
            count += 1
        numbers[k] = number
    return count


@loop
def join_products(given, arities, uses, like_product, joined, code):
    """Products joined with the sums that they go into; see `schedule.contract`.

    `uses` says how often each value is written out; `joined` becomes true for products that are
    part of a sum. Returns their number.
    """
    n = given.shape[0]
    for k in range(n):
        if given[k, 0] >= FIRST_OPERATION:
            for i in range(arities[given[k, 0]]):
                uses[given[k, 1 + i]] += 1
    count = 0
    for k in range(n):
        operation, left, right = given[k, 0], given[k, 1], given[k, 2]
        if operation != ADD and operation != SUB:
            like_product[k] = (
                operation == MUL
                or operation == SQ
                or ((operation == NEG or operation == TWICE) and like_product[left])
            )
        elif like_product[left] != like_product[right]:
            product, other = left, right
            if like_product[right]:
                product, other = right, left
            kind = given[product, 0]
            if uses[product] == 1 and (kind == MUL or kind == SQ):
                form = FMA
                if operation == SUB:
                    form = FMS if product == left else FNMA
                code[k, 0] = form
                code[k, 1] = given[product, 1]
                code[k, 2] = given[product, 2] if kind == MUL else given[product, 1]
                code[k, 3] = other
                joined[product] = True
                count += 1
    return count


@inlined
def _next(order, done, count, number):
    """Put a value at the end of an order, unless it is there; how many there are."""
    if not done[number]:
        done[number] = True
        order[count] = number
        count += 1
    return count


@loop
def move_sines(code, arities, sine_of, cosine_of, is_early, done, order):
    """The order of `schedule.gather_sines`; `sine_of` and `cosine_of` are −1 at first."""
    n, count, early = code.shape[0], 0, 0
    for k in range(n):
        if code[k, 0] == SIN:
            sine_of[code[k, 1]] = k
        elif code[k, 0] == COS:
            cosine_of[code[k, 1]] = k
    for k in range(n):
        operation, angle = code[k, 0], code[k, 1]
        if operation == SIN or operation == COS:
            inner = code[angle, 0]
            near = inner < FIRST_OPERATION
            if not near and inner != SIN and inner != COS:
                near = True
                for i in range(arities[inner]):
                    near = near and code[code[angle, 1 + i], 0] < FIRST_OPERATION
                if near:
                    for i in range(arities[inner]):
                        count = _next(order, done, count, code[angle, 1 + i])
            if near:
                count = _next(order, done, count, angle)
                is_early[early] = k
                early += 1
    for i in range(early + n):
        k = is_early[i] if i < early else i - early
        operation, angle = code[k, 0], code[k, 1]
        count = _next(order, done, count, k)
        if operation == SIN and cosine_of[angle] >= 0:
            count = _next(order, done, count, cosine_of[angle])
        elif operation == COS and sine_of[angle] >= 0:
            count = _next(order, done, count, sine_of[angle])
    return count


@loop
def renumber(given, order, arities, numbers, code):
    """The instructions that `order` names, in that order; `numbers` become theirs."""
    for new in range(order.shape[0]):
        old = order[new]
        operation = given[old, 0]
        code[new, 0] = operation
        for i in range(1, 4):
            code[new, i] = given[old, i]
        if operation >= FIRST_OPERATION:
            for i in range(arities[operation]):
                code[new, 1 + i] = numbers[given[old, 1 + i]]
        numbers[old] = new


@loop
def mark_used(code, arities, used):
    """What the values that are `used` are computed from is used too."""
    for k in range(code.shape[0] - 1, -1, -1):
        if used[k] and code[k, 0] >= FIRST_OPERATION:
            for i in range(arities[code[k, 0]]):
                used[code[k, 1 + i]] = True


@inlined
def _free_place(free, sizes):
    """A place that nothing is in: the latest, which is still in fast memory, or a new one."""
    place = sizes[1]
    if sizes[2] > 0:
        sizes[2] -= 1
        place = free[sizes[2]]
    else:
        sizes[1] += 1
    return place


@inlined
def _write_leaf(code, k, cases, shared, width, word):
    """The move of an input or a constant to its place."""
    if code[k, 0] == CONST:
        word[0] = cases[2]
        word[2] = 8 * code[k, 1]
    else:
        common = shared[code[k, 1]]
        word[0] = cases[1] if common else cases[0]
        word[2] = code[k, 1]
        word[3] = (8 if common else width) * code[k, 2]


@inlined
def _read_operands(code, k, arities, last, width, places, free, sizes, word):
    """Where operands are; what is read for the last time gives its place to what comes after."""
    count = arities[code[k, 0]]
    for i in range(count):
        word[2 + i] = places[code[k, 1 + i]] * width
    for i in range(count):
        a = code[k, 1 + i]
        if last[a] == k:
            free[sizes[2]] = places[a]
            sizes[2] += 1
            last[a] = code.shape[0]  # once, if it is there twice


@inlined
def _is_pair(code, k, last):
    """Whether the sine of an angle is followed by its cosine, or the other way round."""
    found = False
    if (code[k, 0] == SIN or code[k, 0] == COS) and k + 1 < code.shape[0]:
        both = code[k, 0] + code[k + 1, 0] == SIN + COS and code[k, 0] != code[k + 1, 0]
        found = both and code[k + 1, 1] == code[k, 1] and last[k + 1] >= 0
    return found


@loop
def take_places(code, arities, last, cases, shared, width, places, free, words, sizes):
    """Bytecode of the instructions of an expression, see `interpreter.encode`.

    Parameters
    ----------
    last : the instruction that uses each value last: n for outputs, −1 for all others; n is the
        number of instructions.
    cases : numbers of the moves load, load_shared, constant, sincos and of the first operation.
    shared : whether lanes have an input in common, for each.
    places, free, words : of values, that are free, and the instructions; −1, any and zeros.
    sizes : the results: instructions, places, free places.
    """
    n = code.shape[0]
    for k in range(n):
        if code[k, 0] >= FIRST_OPERATION:
            for i in range(arities[code[k, 0]]):
                last[code[k, 1 + i]] = max(last[code[k, 1 + i]], k)
    for k in range(n):
        if last[k] >= 0 and places[k] < 0:  # it is used, and not the second one of a pair
            word = words[sizes[0]]
            if code[k, 0] < FIRST_OPERATION:
                _write_leaf(code, k, cases, shared, width, word)
                places[k] = _free_place(free, sizes)
                word[1] = places[k] * width
            else:
                _read_operands(code, k, arities, last, width, places, free, sizes, word)
                word[0] = cases[4] + code[k, 0] - FIRST_OPERATION
                places[k] = _free_place(free, sizes)
                word[1] = places[k] * width
                if _is_pair(code, k, last):
                    word[0] = cases[3]
                    places[k + 1] = _free_place(free, sizes)
                    word[4] = places[k + 1] * width
                    if code[k, 0] == COS:
                        word[1], word[4] = word[4], word[1]
            sizes[0] += 1
