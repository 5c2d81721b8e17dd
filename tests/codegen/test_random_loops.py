"""Programs at random in the language of loops: compiled they give the bits of plain Python.

Every program ends, and indices stay within their arrays, by the way it is written. Functions whose
last bit is left to the library (sines, exponentials) are not in them: a branch could hang on it.
"""

from __future__ import annotations

import math
import random
from typing import NamedTuple

import numpy as np
import pytest

from zwang.codegen.interpreted_loops import in_python, plain_function
from zwang.codegen.jit import inlined, loop

SIZE = 4  # of the arrays


class Point(NamedTuple):
    first: float
    second: float


class Turned(NamedTuple):  # the same values under exchanged names
    second: float
    first: float


class Inner(NamedTuple):
    x: np.ndarray
    marks: np.ndarray


class Box(NamedTuple):
    inner: Inner
    gain: float
    turns: int


class Program:
    """The source of a loop, line by line."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[str] = []
        self.depth, self.counters, self.fresh = 1, 0, 0
        self.reals, self.wholes, self.truths = ["a", "b"], ["n"], ["p"]
        self.inner = ""  # the source of a loop that is called
        self.room = 40

    def text(self) -> str:
        self.say("r0, r1, r2 = 0.5, -a, b * 0.25")
        self.say("i0, t0 = n, a < b")
        self.reals += ["r0", "r1", "r2"]
        self.wholes += ["i0"]
        self.truths += ["t0"]
        self.say("local = np.empty((3, 2))")
        self.say("for z0 in range(3):")
        self.say("    for z1 in range(2):")
        self.say("        local[z0, z1] = z0 - 0.5 * z1")
        self.block(self.chance.randint(4, 8))
        self.say(f"return {self.real(2)}")
        head = "def program(a, b, n, p, x, m, k, u, pair, box):"
        return "\n".join([head, *self.lines]) + "\n"

    def say(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    # --- statements

    def block(self, count: int, loops: int = 0) -> None:
        for _ in range(count):
            self.statement(loops)

    def statement(self, loops: int) -> None:
        self.room -= 1
        kinds = ["real", "real", "real", "whole", "truth", "entry", "entry", "row", "two", "record"]
        if self.room > 0 and self.depth < 5:
            kinds += ["if", "if", "for", "while", "tuple"]
        if loops:
            kinds += ["leave"]
        getattr(self, f"write_{self.chance.choice(kinds)}")(loops)

    def write_real(self, _: int) -> None:
        name = self.chance.choice(["r0", "r1", "r2"])
        sign = self.chance.choice(["=", "=", "+=", "-=", "*="])
        self.say(f"{name} {sign} {self.real(3)}")

    def write_whole(self, _: int) -> None:
        self.say(f"i0 = ({self.whole(2)}) % 1000")

    def write_truth(self, _: int) -> None:
        self.say(f"t0 = {self.truth(2)}")

    def write_entry(self, _: int) -> None:
        sign = self.chance.choice(["=", "+=", "*="])
        kind = self.chance.randrange(6)
        if kind == 0:
            self.say(f"x[{self.index()}] {sign} {self.real(2)}")
        elif kind == 1:
            self.say(f"m[{self.index()}, {self.index(3)}] {sign} {self.real(2)}")
        elif kind == 2:
            self.say(f"k[{self.index()}] = ({self.whole(2)}) % 97")
        elif kind == 3:
            self.say(f"box.inner.x[{self.index()}] {sign} {self.real(2)}")
        elif kind == 4:
            self.say(f"box.inner.marks[{self.index()}] = {self.truth(1)}")
        else:
            self.say(f"u[{self.index()}] = {self.truth(1)}")

    def write_row(self, _: int) -> None:
        name = f"row{self.fresh}"
        self.fresh += 1
        part = self.chance.choice([f"m[{self.index()}]", "x[1:]", "pair[0]", "local[1]"])
        self.say(f"{name} = {part}")
        self.say(f"{name}[{self.index(2)}] = {self.real(2)} + {name}[0]")

    def write_record(self, _: int) -> None:
        name = f"point{self.fresh}"
        self.fresh += 1
        kind = self.chance.choice(["Point", "Turned"])
        first, second, other = self.real(2), self.real(1), self.real(1)
        self.say(f"{name} = {kind}(first={first}, second={second})")
        self.say(f"{name} = {name}._replace(second={other})")
        self.say(f"r0 = {name}.first - measured({name})")

    def write_two(self, _: int) -> None:
        self.say("r0, r1 = r1, r0")

    def write_if(self, loops: int) -> None:
        self.say(f"if {self.truth(2)}:")
        self.within(loops)
        if self.chance.random() < 0.6:
            self.say("else:" if self.chance.random() < 0.6 else f"elif {self.truth(1)}:")
            self.within(loops)

    def write_for(self, loops: int) -> None:
        counter = f"c{self.counters}"
        self.counters += 1
        low, high = sorted(self.chance.sample(range(SIZE + 1), 2))
        bounds = self.chance.choice([f"{high}", f"{low}, {high}", "x.shape[0]", f"0, {high}, 2"])
        self.say(f"for {counter} in range({bounds}):")
        self.wholes.append(counter)
        self.within(loops + 1)
        self.wholes.remove(counter)

    def write_while(self, loops: int) -> None:
        counter = f"w{self.counters}"
        self.counters += 1
        self.say(f"{counter} = {self.chance.randint(1, 5)}")
        self.say(f"while {counter} > 0 and {self.truth(1)}:")
        self.depth += 1
        self.say(f"{counter} -= 1")
        self.depth -= 1
        self.within(loops + 1)

    def write_tuple(self, loops: int) -> None:
        name = f"v{self.counters}"
        self.counters += 1
        self.say(f"for {name} in ({self.real(1)}, {self.real(1)}, 0.75):")
        self.reals.append(name)
        self.within(loops)
        self.reals.remove(name)

    def write_leave(self, loops: int) -> None:
        self.say(f"if {self.truth(1)}:")
        self.depth += 1
        self.say(self.chance.choice(["break", "continue", f"return {self.real(1)}"]))
        self.depth -= 1

    def within(self, loops: int) -> None:
        self.depth += 1
        self.block(self.chance.randint(1, 3), loops)
        self.depth -= 1

    # --- expressions

    def index(self, size: int = SIZE) -> str:
        if self.chance.random() < 0.5:
            return str(self.chance.randrange(size))
        return f"({self.chance.choice(self.wholes)}) % {size}"

    def real(self, deep: int) -> str:
        c = self.chance
        if deep == 0 or c.random() < 0.2:
            return c.choice(
                [
                    *self.reals,
                    repr(round(c.uniform(-3.0, 3.0), 3)),
                    f"x[{self.index()}]",
                    f"m[{self.index()}, {self.index(3)}]",
                    f"pair[0][{self.index(2)}]",
                    "pair[1]",
                    "box.gain",
                    f"box.inner.x[{self.index()}]",
                    f"local[{self.index(3)}, {self.index(2)}]",
                    f"float({c.choice(self.wholes)})",
                ]
            )
        x, y = self.real(deep - 1), self.real(deep - 1)
        return c.choice(
            [
                *(f"({x} {sign} {y})" for sign in ("+", "-", "*", "/")),
                f"-({x})",
                f"({x}) ** 2",  # cubes may round otherwise
                f"abs({x})",
                f"min({x}, {y})",
                f"max({x}, {y})",
                f"np.sqrt(abs({x}))",
                f"({x} if {self.truth(deep - 1)} else {y})",
                f"helper({x}, {y})",
                f"measured({c.choice(['Point', 'Turned'])}({x}, {y}))",
                f"exchanged(Point({x}, {y})).second",
                f"(Point({x}, {y}) if {self.truth(deep - 1)} else Point({y}, {x})).first",
                f"({x} * {self.whole(1)})",
            ]
        )

    def whole(self, deep: int) -> str:
        c = self.chance
        if deep == 0 or c.random() < 0.3:
            entry = f"k[{self.index()}]"
            return c.choice([*self.wholes, str(c.randint(-9, 9)), entry, "len(x)", "box.turns"])
        x, y = self.whole(deep - 1), self.whole(deep - 1)
        number = c.choice([-7, -3, 2, 5])
        return c.choice(
            [
                *(f"({x} {sign} {y})" for sign in ("+", "-")),
                f"({x} * {number})",
                f"({x} // {number})",
                f"({x} % {number})",
                f"abs({x})",
                f"max({x}, {y})",
            ]
        )

    def truth(self, deep: int) -> str:
        c = self.chance
        if deep == 0 or c.random() < 0.2:
            marked = f"box.inner.marks[{self.index()}]"
            less = f"{c.choice(self.reals)} < 1.0"
            return c.choice([*self.truths, f"u[{self.index()}]", marked, less])
        sign = c.choice(["<", "<=", ">", ">=", "==", "!="])
        return c.choice(
            [
                f"({self.real(deep - 1)} {sign} {self.real(deep - 1)})",
                f"({self.whole(deep - 1)} {sign} {self.whole(deep - 1)})",
                f"(not {self.truth(deep - 1)})",
                f"({self.truth(deep - 1)} and {self.truth(deep - 1)})",
                f"({self.truth(deep - 1)} or {self.truth(deep - 1)})",
            ]
        )


@loop
def helper(x, y):
    if x < y:
        return 2.0 * x - y
    return x / (1.0 + y * y)


@loop
def measured(point):
    if point.first < point.second:
        return 3.0 * point.first - point.second
    return point.second


@inlined
def exchanged(point):
    return Point(first=point.second, second=point.first)


def arguments(seed: int):
    rng = np.random.default_rng(seed)
    special = np.array([0.0, -0.0, np.inf, np.nan, 1e300, 5e-324])
    x = rng.normal(size=SIZE)
    if seed % 3 == 0:
        x[rng.integers(SIZE)] = rng.choice(special)
    m, k = rng.normal(size=(SIZE, 3)), rng.integers(-50, 50, size=SIZE)
    u, inner = rng.random(SIZE) < 0.5, (rng.normal(size=3), float(rng.normal()))
    a, b = (float(value) for value in rng.normal(size=2))
    box = Box(
        Inner(rng.normal(size=SIZE), rng.random(SIZE) < 0.5),
        float(rng.normal()),
        int(rng.integers(-9, 9)),
    )
    return a, b, int(rng.integers(0, 9)), bool(seed % 2), x, m, k, u, inner, box


def copied(value):
    if isinstance(value, tuple):
        entries = map(copied, value)
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return value.copy() if isinstance(value, np.ndarray) else value


def same(one, other) -> bool:
    if isinstance(one, tuple):
        return all(map(same, one, other))
    return bool(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"))


def check(seed: int) -> float:
    text = Program(seed).text()
    names = {"np": np, "helper": helper, "measured": measured, "exchanged": exchanged}
    names |= {"Point": Point, "Turned": Turned, "range": range}
    exec(compile(text, f"<program {seed}>", "exec"), names)
    compiled = loop(names["program"], text=text)
    result = math.nan
    for sample in range(4):
        given = arguments(10 * seed + sample)
        here, there = copied(given), copied(given)
        result, expected = compiled(*here), in_python(plain_function(names["program"]), there)
        assert same(result, expected), f"program {seed}, sample {sample}:\n{text}"
        assert same(here, there), f"program {seed}, sample {sample}, arrays:\n{text}"
    return result


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_programs_at_random_give_the_bits_of_plain_python(first):
    for seed in range(first, first + 10):
        check(seed)


@pytest.mark.campaign
def test_a_thousand_programs_at_random(capsys):
    finite = sum(math.isfinite(check(seed)) for seed in range(1000, 2000))
    assert finite > 500
