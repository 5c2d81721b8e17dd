"""Expressions in model files: a small language that can compute and nothing else.

    expression  =  conjunction { "or" conjunction }
    conjunction =  test { "and" test }
    test        =  { "not" } sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
    sum         =  product { ("+" | "-") product }
    product     =  factor { ("*" | "/") factor }
    factor      =  ("-" | "+") factor  |  operand [ ("^" | "**") factor ]
    operand     =  value { "[" integer "]" | "." name }
    value       =  number | list | name | call | "(" expression ")"

A text becomes a tree of the classes below, and a tree is evaluated for numbers or symbols that are
given by name. No Python code is made on the way, and the lengths of text and nesting are limited,
so that neither reading nor evaluating can take long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.model_files.arithmetic import (
    CONSTANTS,
    FUNCTIONS,
    ExpressionError,
    add,
    both,
    compare,
    entry,
    listed,
    multiply,
    negated,
    power,
)

__all__ = [
    "DECIMALS",
    "ExpressionError",
    "Node",
    "Room",
    "evaluate",
    "names_in",
    "parse_expression",
]

#: Characters of an expression, and levels of brackets: far more than a formula has that a person
#: wrote, and little enough to be read in milliseconds.
LONGEST_TEXT = 50_000
DEEPEST_NESTING = 40
#: Indices one after the other, as of a matrix of matrices.
DEEPEST_ENTRY = 4
#: Characters of an operand that advice repeats.
LONGEST_ADVICE = 30
#: Numbers that one formula may compute, with the definitions it uses: lists of lists of lists grow
#: without a bound that the length of their text sets. A mass matrix of 300 × 300 is a third of it.
MOST_NUMBERS = 250_000

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^()\[\],.<>]))"
)
#: A number, or a name with its parts.
_OPERAND = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
#: Products and quotients of units with powers that have no sign.
_POWERS_OF_UNITS = re.compile(r"[A-Za-z]+(?:-?\d)?(?:(?:\s*[*/]\s*|\s+)[A-Za-z]+(?:-?\d)?)*")
#: Advice on a comma within a number.
DECIMALS = "Decimals follow a point, as in 0.5, and thousands have no sign: 1200."
#: What people write behind a number; `units` has all.
UNITS = frozenset(
    [
        "m",
        "mm",
        "cm",
        "km",
        "kg",
        "g",
        "t",
        "s",
        "ms",
        "min",
        "h",
        "rad",
        "deg",
        "rpm",
        "N",
        "kN",
        "kJ",
        "J",
        "kW",
        "W",
        "Nm",
        "Pa",
        "Hz",
    ]
)
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_WORDS = ("and", "or", "not")


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """A name, or several joined by dots: ``x``, ``crank.position``."""

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """As it is written."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of the fixed list, called."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands joined by operations of the same rank, from left to right."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Prefix:
    """``-`` or ``not`` before an operand."""

    sign: str
    operand: Node


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """An entry of a vector."""

    base: Node
    place: int


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A vector, or rows of a matrix."""

    entries: tuple[Node, ...]


Node = NumberLiteral | Name | FunctionCall | Chain | Prefix | VectorEntry | ListLiteral


def parse_expression(text: str) -> Node:
    """The tree of an expression.

    Raises
    ------
    ExpressionError
        The text is no expression.
    """
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(f"{len(text)} characters", f"at most {LONGEST_TEXT}")
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, int]] = []
        self.source = text
        text, at = text.rstrip(), 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                rest = text[at:].lstrip()
                raise ExpressionError(
                    f"{rest[0]!r} at character {len(text) - len(rest) + 1}",
                    "numbers, names, + - * / ^, brackets and commas",
                    _hint(rest[0]),
                )
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind], match.start(kind) + 1))
            at = match.end()
        self.at, self.depth = 0, 0

    # --- tokens -----------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The present token, empty at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    @property
    def kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.text
        self.at += 1
        return token

    def accept(self, *tokens: str) -> str:
        return self.take() if self.text and self.text in tokens else ""

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.wrong(f"{token!r}", self._advice())

    def wrong(self, expected: str, advice: str | None = None) -> ExpressionError:
        found = "the end of the expression"
        if self.text:
            found = f"{self.text!r} at character {self.tokens[self.at][2]}"
        return ExpressionError(found, expected, advice)

    # --- grammar ----------------------------------------------------------------------------------

    def whole(self) -> Node:
        if not self.tokens:
            raise ExpressionError("nothing", "an expression")
        tree = self.expression()
        if self.text:
            raise self.wrong("an operation", self._advice())
        return tree

    def _advice(self) -> str | None:
        """What to write where an operand is followed by something else than an operation."""
        before = [token[1] for token in self.tokens[max(self.at - 2, 0) : self.at]]
        if self.text == "," and self._between_numbers():
            return DECIMALS
        if self.text.lower() in _WORDS_HERE:
            return _WORDS_HERE[self.text.lower()]
        operand = self.kind in ("name", "number")
        if self.text in UNITS and self.at and self.tokens[self.at - 1][0] == "number":
            return self._power_without_sign() or (
                "In an expression numbers are in SI units, without a unit; a number with its "
                "unit can be a constant of the file."
            )
        if operand and before and before[-1] in FUNCTIONS and before[0] != ".":
            return (
                "What a function is of stands in parentheses: "
                f"{before[-1]}({self._rest_of_name()})."
            )
        return "Write * for a product." if operand or self.text == "(" else None

    def _rest_of_name(self) -> str:
        """The present number or name with its dots."""
        match = _OPERAND.match(self.source, self.tokens[self.at][2] - 1)
        return self.text if match is None else match[0]

    def _between_numbers(self) -> bool:
        """Whether a number stands before the present token and one behind it."""
        around = self.tokens[max(self.at - 1, 0) : self.at + 2 : 2]
        return [token[0] for token in around] == ["number", "number"]

    def _power_without_sign(self) -> str | None:
        """What to write for a number with a unit such as ``m/s2``, if that is the whole text."""
        unit = self.source[self.tokens[self.at][2] - 1 :].strip()
        alone = all(token[0] == "number" or token[1] in "+-" for token in self.tokens[: self.at])
        if not alone or _POWERS_OF_UNITS.fullmatch(unit) is None:
            return None
        written = re.sub(r"(?<=[A-Za-z])(?=-?\d)", "^", unit)
        return f"Powers of units have the sign ^: {written}." if written != unit else None

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise ExpressionError(
                f"brackets nested more than {DEEPEST_NESTING} deep", "fewer levels"
            )
        tree = self._chain(self._conjunction, "or")
        self.depth -= 1
        return tree

    def _chain(self, operand: Any, *signs: str) -> Node:
        first, rest = operand(), []
        while sign := self.accept(*signs):
            rest.append((sign, operand()))
        return Chain(first, tuple(rest)) if rest else first

    def _conjunction(self) -> Node:
        return self._chain(self._test, "and")

    def _test(self) -> Node:
        negated = 0
        while self.accept("not"):
            negated += 1
        tree = self._test_operand()
        for _ in range(2 - negated % 2 if negated else 0):  # twice: 1 or 0 of any number
            tree = Prefix("not", tree)
        return tree

    def _test_operand(self) -> Node:
        begin, first = self.at, self._sum()
        sign = self.accept(*_COMPARISONS)
        if not sign:
            return first
        middle, second = self.at, self._sum()
        if self.text in _COMPARISONS:
            if {sign, self.text} & {"==", "!="} and sign != self.text:
                raise self.wrong("one comparison", "Conditions compare as (a > 0) == (b > 0).")
            one, two = self._written(begin, middle - 1), self._written(middle, self.at)
            raise self.wrong(
                "one comparison",
                f"Join two by 'and': {one} {sign} {two} and {two} {self.text} …"
                if max(len(one), len(two)) <= LONGEST_ADVICE
                else "Join two by 'and'.",
            )
        return Chain(first, ((sign, second),))

    def _written(self, begin: int, end: int) -> str:
        """Tokens as they stand in the text."""
        last = self.tokens[end - 1]
        return self.source[self.tokens[begin][2] - 1 : last[2] - 1 + len(last[1])]

    def _sum(self) -> Node:
        return self._chain(self._product, "+", "-")

    def _product(self) -> Node:
        return self._chain(self._factor, "*", "/")

    def _factor(self) -> Node:
        minus = 0
        while sign := self.accept("-", "+"):
            minus += sign == "-"
        tree = self._operand()
        if self.accept("^", "**"):
            self.depth += 1
            if self.depth > DEEPEST_NESTING:
                raise ExpressionError("powers of powers without end", "a few")
            tree = Chain(tree, (("^", self._factor()),))
            self.depth -= 1
        return Prefix("-", tree) if minus % 2 else tree

    def _operand(self) -> Node:
        if self.kind == "number":
            tree: Node = NumberLiteral(float(self.take()))
        elif self.kind == "name" and self.text not in _WORDS:
            tree = self._name()
        elif self.accept("("):
            tree = self.expression()
            self.expect(")")
        elif self.accept("["):
            tree = ListLiteral(self._arguments("]"))
        else:
            raise self.wrong("a number, a name or a bracket", self._instead())
        depth = 0
        while self.accept("["):
            depth += 1
            if depth > DEEPEST_ENTRY:
                raise ExpressionError(
                    f"entries of entries, more than {DEEPEST_ENTRY} deep", "a vector or a matrix"
                )
            sign = self.accept("-")
            if self.kind != "number" or not self.text.isdigit():
                raise self.wrong("a whole number, counted from 0")
            place = int(self.take()) if len(self.text) < 8 else 10**7
            tree = VectorEntry(tree, -place if sign else place)
            self.expect("]")
        if self.text == "." and not isinstance(tree, Name):
            raise self.wrong("an operation", "Only a name may be followed by a dot.")
        return tree

    def _instead(self) -> str | None:
        """What to write where an operand is missing."""
        before = self.tokens[self.at - 1][1] if self.at else ""
        if before + self.text in ("<>", "><"):
            return "Unequal is a != b."
        if before + self.text == "//":
            return "The whole part is floor(a / b)."
        return _WORDS_HERE["not"] if self.text == "not" else None

    def _name(self) -> Node:
        parts = [self.take()]
        while self.accept("."):
            if self.kind != "name":
                raise self.wrong("a name")
            parts.append(self.take())
        if not self.accept("("):
            return Name(tuple(parts))
        name = ".".join(parts)
        if name not in FUNCTIONS:
            raise ExpressionError(
                f"the function {name!r}",
                f"one of {', '.join(FUNCTIONS)}",
                _WORDS_HERE.get(name.lower()),
                near=None if name.lower() in _WORDS_HERE else (name, FUNCTIONS),
            )
        arguments = self._arguments(")")
        low, high = FUNCTIONS[name].counts
        if not low <= len(arguments) <= high:
            wanted = f"{low}" if low == high else f"{low} to {high}"
            raise ExpressionError(
                f"{name} of {len(arguments)}", f"{wanted} argument(s), {FUNCTIONS[name].usage}"
            )
        return FunctionCall(name, arguments)

    def _arguments(self, end: str) -> tuple[Node, ...]:
        entries = []
        if self.accept(end):
            return ()
        while True:
            entries.append(self.expression())
            if self.accept(end):
                return tuple(entries)
            if not self.accept(","):
                entries_alone = end == "]" and self.kind == "number"
                raise self.wrong(f"',' or {end!r}", None if entries_alone else self._advice())
            if self.accept(end):
                return tuple(entries)


#: What people write for an operation, and how it is written here.
_WRITTEN_HERE = {
    "&": "Two conditions are joined by 'and': a > 0 and b > 0.",
    "|": "Two conditions are joined by 'or': a > 0 or b > 0.",
    "~": "A condition is negated by 'not': not a > 0.",
    "!": "A condition is negated by 'not': not a > 0; unequal is a != b.",
    "?": "A choice is where(condition, a, b).",
    "%": "The remainder is a - b * floor(a / b).",
    "≥": "It is written >=.",
    "≤": "It is written <=.",
    "≠": "It is written !=.",
    "·": "A product is a * b.",
    "×": "A product is a * b.",
    "²": "A power is a^2.",
    "³": "A power is a^3.",
}
#: The same of words, without regard to capitals.
_WORDS_HERE = {
    "and": "Two conditions are joined by 'and' in small letters: a > 0 and b > 0.",
    "or": "Two conditions are joined by 'or' in small letters: a > 0 or b > 0.",
    "not": "A condition is negated by 'not' in small letters, at its beginning or in parentheses: "
    "a > 0 and (not b > 0).",
    "xor": "One of two conditions alone is (a > 0) != (b > 0).",
    "if": "A choice is where(condition, a, b).",
    "else": "A choice is where(condition, a, b).",
    "in": "Write a == 1 or a == 2.",
    "is": "Write a == b.",
}


def _hint(character: str) -> str | None:
    if character in _WRITTEN_HERE:
        return _WRITTEN_HERE[character]
    if character in "\"'":
        return "Names are written without quotation marks."
    if character == "=":
        return "Write an expression that is zero, a - b for a = b; ==, <= and >= compare."
    return None


def names_in(tree: Node, *, conditions: bool = True) -> Iterator[Name]:
    """All names of a tree, with or without those in conditions of ``where``."""
    if isinstance(tree, Name):
        yield tree
        return
    parts: tuple[Node, ...] = ()
    if isinstance(tree, FunctionCall):
        parts = tree.arguments[1:] if tree.function == "where" else tree.arguments
        parts = tree.arguments if conditions else parts
    elif isinstance(tree, ListLiteral):
        parts = tree.entries
    elif isinstance(tree, Chain):
        parts = (tree.first, *(node for _, node in tree.rest))
    elif isinstance(tree, Prefix):
        parts = (tree.operand,)
    elif isinstance(tree, VectorEntry):
        parts = (tree.base,)
    for part in parts:
        yield from names_in(part, conditions=conditions)


class Room:
    """How many numbers a formula may still compute."""

    def __init__(self) -> None:
        self.left = MOST_NUMBERS

    def take(self, count: int) -> None:
        """Take some of it, before they are computed."""
        self.left -= count
        if self.left < 0:
            raise ExpressionError(
                f"more than {MOST_NUMBERS} numbers to compute", "a smaller formula"
            )


def _size(value: Any) -> int:
    return value.size if isinstance(value, np.ndarray) else 1


def _work(function: str, arguments: list[Any]) -> int:
    """Numbers that a function computes on the way to its result."""
    sizes = [_size(a) for a in arguments]
    if function == "dot" and all(isinstance(a, np.ndarray) for a in arguments):
        a, b = arguments
        return a.size * (b.size // max(len(b), 1))
    if function == "diag":
        return (sizes[0] if len(sizes) == 1 else len(sizes)) ** 2
    return sum(sizes)


def evaluate(tree: Node, values: Mapping[str, Any], room: Room | None = None) -> Any:
    """Value of a tree for values by (dotted) name, numbers or symbols.

    `room` is what is left to expressions that are evaluated together.
    """
    room = room or Room()
    if isinstance(tree, NumberLiteral):
        return tree.value
    if isinstance(tree, Name):
        return CONSTANTS[tree.text] if tree.text in CONSTANTS else values[tree.text]
    if isinstance(tree, FunctionCall):
        arguments = [evaluate(a, values, room) for a in tree.arguments]
        room.take(_work(tree.function, arguments))
        return FUNCTIONS[tree.function].apply(*arguments)
    if isinstance(tree, ListLiteral):
        entries = [evaluate(e, values, room) for e in tree.entries]
        room.take(sum(map(_size, entries)))
        return listed(entries)
    if isinstance(tree, VectorEntry):
        return entry(evaluate(tree.base, values, room), tree.place)
    if isinstance(tree, Prefix):
        operand = evaluate(tree.operand, values, room)
        room.take(_size(operand))
        return negated(tree.sign, operand)
    result = evaluate(tree.first, values, room)
    for sign, node in tree.rest:
        other = evaluate(node, values, room)
        room.take(max(_size(result), _size(other)))
        if sign in "+-":
            result = add(result, other, minus=sign == "-")
        elif sign in "*/":
            result = multiply(result, other, divide=sign == "/")
        elif sign == "^":
            result = power(result, other)
        elif sign in _COMPARISONS:
            result = compare(sign, result, other)
        else:
            result = both(sign, result, other)
    return result
