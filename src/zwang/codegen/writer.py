"""Writes LLVM assembly, instruction by instruction, for values of any lane width.

With L lanes every value is a vector of L doubles. No instruction carries a fast-math flag, and
functions of the C library are called lane by lane: what happens in one lane depends on that lane
alone and rounds as scalar code does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from zwang.codegen.libm import FUNCTIONS

__all__ = ["LIBRARY_PREFIX", "InstructionWriter"]

# Functions of the C library go by names of ours: LLVM then knows nothing about them and cannot
# replace pow(x, 0.5) by a root at one lane width and not at another.
LIBRARY_PREFIX = "zwang_libm_"


class InstructionWriter:
    """Instructions of one function at a time; methods take and give names of values or literals.

    Parameters
    ----------
    lanes : lane width of every value.
    fma : write x y + z as one operation.
    """

    def __init__(self, *, lanes: int, fma: bool) -> None:
        self._fused = fma
        self._widen(lanes)
        self._declarations: set[str] = set()
        # Functions of the C library by name and lane width, and beyond which |x| they are called.
        self._functions: dict[tuple[str, int], float] = {}
        self._count = 0
        self.begin()

    def _widen(self, lanes: int) -> None:
        """Write for values of this lane width from now on."""
        self.lanes = lanes
        self.type = _vector("double", lanes)
        self._integer, self._truth = _vector("i64", lanes), _vector("i1", lanes)
        self._suffix = "f64" if lanes == 1 else f"v{lanes}f64"

    def begin(self, block: str = "start") -> None:
        """Start the body of a function, or a block of one."""
        self.lines: list[str] = []
        self._block = block

    # --------------------------------------------------------------------------------- arithmetic

    def constant(self, value: float) -> str:
        """Literal; its bits are written out, so that nothing is lost."""
        bits = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return bits if self.lanes == 1 else f"<{', '.join([f'double {bits}'] * self.lanes)}>"

    def binary(self, instruction: str, x: str, y: str) -> str:
        """``fadd``, ``fsub``, ``fmul`` or ``fdiv``."""
        return self._line(f"{instruction} {self.type} {x}, {y}")

    def negative(self, x: str) -> str:
        """−x."""
        return self._line(f"fneg {self.type} {x}")

    def fma(self, x: str, y: str, z: str) -> str:
        """X y + z, in one operation where the processor has it."""
        if self._fused:
            return self.intrinsic("fma", x, y, z)
        return self.binary("fadd", self.binary("fmul", x, y), z)

    def intrinsic(self, name: str, *x: str) -> str:
        """An operation that LLVM knows by name, such as ``sqrt``, with one correct result."""
        t, function = self.type, f"@llvm.{name}.{self._suffix}"
        self._declarations.add(f"declare {t} {function}({', '.join([t] * len(x))})")
        return self._line(f"call {t} {function}({', '.join(f'{t} {v}' for v in x)})")

    def library(self, name: str, *x: str) -> str:
        """A function of the C library, called once for each lane."""
        assert name in FUNCTIONS, name  # a name that cannot be linked would end the process
        function, t = f"@{LIBRARY_PREFIX}{name}", self.type
        self._declarations.add(
            f"declare double {function}({', '.join(['double'] * len(x))}) "
            "nounwind willreturn memory(none)"
        )
        if self.lanes == 1:
            return self._line(f"call double {function}({', '.join(f'double {v}' for v in x)})")
        result = "poison"
        for lane in range(self.lanes):
            one = [self._line(f"extractelement {t} {v}, i32 {lane}") for v in x]
            value = self._line(f"call double {function}({', '.join(f'double {v}' for v in one)})")
            result = self._line(f"insertelement {t} {result}, double {value}, i32 {lane}")
        return result

    # ------------------------------------------------------------------------- numbers to vectors

    @contextmanager
    def joined(self, x: list[str]) -> Iterator[str]:
        """Several numbers of one lane as one vector, whose width what is written inside has.

        The width is a power of two: the last number stands in all places that are left.
        """
        width = 1 << (len(x) - 1).bit_length()
        t, vector = _vector("double", width), "poison"
        for place in range(width):
            number = x[min(place, len(x) - 1)]
            vector = self._line(f"insertelement {t} {vector}, double {number}, i32 {place}")
        self._widen(width)
        try:
            yield vector
        finally:
            self._widen(1)

    def parts(self, vector: str, count: int) -> list[str]:
        """The first numbers of what `joined` put together."""
        t = _vector("double", 1 << (count - 1).bit_length())
        return [self._line(f"extractelement {t} {vector}, i32 {k}") for k in range(count)]

    # ----------------------------------------------------------------------- truth values and bits

    def compare(self, predicate: str, x: str, y: str) -> str:
        """A comparison; gives LLVM's truth values, not 0.0 and 1.0."""
        return self._line(f"fcmp {predicate} {self.type} {x}, {y}")

    def logic(self, instruction: str, x: str, y: str) -> str:
        """``and`` or ``or`` of LLVM's truth values."""
        return self._line(f"{instruction} {self._truth} {x}, {y}")

    def number(self, truth: str) -> str:
        """1.0 for true, 0.0 for false."""
        return self._line(f"uitofp {self._truth} {truth} to {self.type}")

    def select(self, condition: str, x: str, y: str) -> str:
        """X where the condition holds, else y."""
        t = self.type
        return self._line(f"select {self._truth} {condition}, {t} {x}, {t} {y}")

    def bits(self, x: str) -> str:
        """The bits of x as integers."""
        return self._line(f"bitcast {self.type} {x} to {self._integer}")

    def integer(self, instruction: str, x: str, y: int) -> str:
        """An operation of integers with a constant."""
        literal = str(y) if self.lanes == 1 else f"<{', '.join([f'i64 {y}'] * self.lanes)}>"
        return self._line(f"{instruction} {self._integer} {x}, {literal}")

    def odd(self, x: str) -> str:
        """Truth value: the integer x is odd."""
        return self.integer("icmp ne", self.integer("and", x, 1), 0)

    def flip_sign(self, x: str, quadrant: str) -> str:
        """−x in quadrants 2 and 3 (mod 4), x in 0 and 1."""
        sign = self.integer("shl", self.integer("and", quadrant, 2), 62)
        flipped = self._line(f"xor {self._integer} {self.bits(x)}, {sign}")
        return self._line(f"bitcast {self._integer} {flipped} to {self.type}")

    # ------------------------------------------------------------------------------ memory, control

    def load(self, pointer: str, entry: int) -> str:
        """Read an entry of an array."""
        return self._line(f"load {self.type}, ptr {self._place(pointer, entry)}, align 8")

    def load_shared(self, pointer: str, entry: int) -> str:
        """Read an entry of an array of which all lanes have the same numbers, stored once."""
        place = self._line(f"getelementptr inbounds double, ptr {pointer}, i64 {entry}")
        number = self._line(f"load double, ptr {place}, align 8")
        if self.lanes == 1:
            return number
        one = self._line(f"insertelement {self.type} poison, double {number}, i32 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self._line(f"shufflevector {self.type} {one}, {self.type} poison, {mask}")

    def store(self, pointer: str, entry: int, value: str) -> None:
        """Write an entry of an array."""
        place = self._place(pointer, entry)
        self.lines.append(f"store {self.type} {value}, ptr {place}, align 8")

    def offset(self, pointer: str, count: str) -> str:
        """The pointer so many bytes further on."""
        return self._line(f"getelementptr inbounds i8, ptr {pointer}, i64 {count}")

    def element(self, pointers: str, number: str, count: str) -> str:
        """One of several pointers, so many bytes further on."""
        place = self._line(f"getelementptr inbounds ptr, ptr {pointers}, i64 {number}")
        return self.offset(self._line(f"load ptr, ptr {place}, align 8"), count)

    def beyond(self, limit: float, x: str, results: dict[str, str]) -> dict[str, str]:
        """Results, replaced by the C library's in lanes beyond a limit or of no number.

        The keys are the functions' names. Where no lane is concerned, which is nearly always, the
        price is one branch.
        """
        outside = self._is_beyond(limit, x)
        if self.lanes > 1:
            reduce = f"@llvm.vector.reduce.or.v{self.lanes}i1({self._truth}"
            self._declarations.add(f"declare i1 {reduce})")
            outside = self._line(f"call i1 {reduce} {outside})")
        self._count += 1
        near, far, joined = self._block, f"far{self._count}", f"joined{self._count}"
        self.lines.append(f"br i1 {outside}, label %{far}, label %{joined}, !prof !0")
        self.lines.append(f"{far}:")
        t, replaced = self.type, {}
        for function, value in results.items():
            self._functions[function, self.lanes] = limit
            name = f"@far_{function}{self.lanes}"
            replaced[function] = self._line(f"call {t} {name}({t} {x}, {t} {value})")
        self.lines += [f"br label %{joined}", f"{joined}:"]
        self._block = joined
        return {
            function: self._line(f"phi {t} [{value}, %{near}], [{replaced[function]}, %{far}]")
            for function, value in results.items()
        }

    def extras(self) -> list[str]:
        """Functions and declarations that the lines written so far need."""
        functions = [self._far_function(*key, x) for key, x in sorted(self._functions.items())]
        weights = '!0 = !{!"branch_weights", i32 1, i32 1048576}'
        return [*functions, *sorted(self._declarations), weights]

    # ------------------------------------------------------------------------------------- inside

    def _line(self, text: str) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name} = {text}")
        return name

    def _place(self, pointer: str, entry: int) -> str:
        return self._line(f"getelementptr inbounds double, ptr {pointer}, i64 {entry * self.lanes}")

    def _is_beyond(self, limit: float, x: str) -> str:
        return self.compare("ugt", self.intrinsic("fabs", x), self.constant(limit))

    def _far_function(self, name: str, lanes: int, limit: float) -> str:
        """Internal function: the C library's value in lanes beyond the limit, else the given."""
        self.begin()
        self._widen(lanes)
        t = self.type
        result = self.select(self._is_beyond(limit, "%x"), self.library(name, "%x"), "%near")
        head = (
            f"define internal {t} @far_{name}{lanes}({t} %x, {t} %near) noinline cold nounwind {{"
        )
        return "\n".join([head, "start:", *self.lines, f"ret {t} {result}", "}"])


def _vector(scalar: str, lanes: int) -> str:
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"
