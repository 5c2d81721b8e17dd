"""Statements of loops: what lines make of the values in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from llvmlite import ir

from zwang.codegen.loops.expressions import FunctionTranslator
from zwang.codegen.loops.kinds import INT, Array, Lanes, RuntimeNumber
from zwang.codegen.loops.values import BIT, WORD, LoopError, is_static
from zwang.codegen.simd import side_by_side

__all__ = ["Statements"]

_LEAVES = "a lane cannot leave by itself what all do side by side"


class Statements(FunctionTranslator):
    """A function being translated, line by line."""

    def write(self) -> None:
        """Translate the function; the builder stands behind it afterwards."""
        self.block(self.tree.body)
        if not self.ended:
            if self.returned and self.result is not None:
                raise self.error(self.tree, "it returns a value here and nothing there")
            self.b.branch(self.exit)
        self.b.position_at_start(self.exit)
        for place in self.memory:
            self.code.free(place)

    @property
    def ended(self) -> bool:
        """Whether nothing can follow here."""
        return self.b.block.is_terminated

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements up to the first that leaves."""
        for statement in statements:
            if self.ended:
                return
            try:
                write = getattr(self, f"write_{type(statement).__name__}")
            except AttributeError:
                raise self.error(statement, "this statement has no compiled form") from None
            try:
                write(statement)
            except LoopError as error:
                if error.located:
                    raise
                raise self.error(statement, str(error)) from None

    def write_Pass(self, _: ast.Pass) -> None:
        """Nothing."""

    def write_Expr(self, node: ast.Expr) -> None:
        """A call, or a docstring."""
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def write_Assign(self, node: ast.Assign) -> None:
        """a = b = value."""
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def write_AugAssign(self, node: ast.AugAssign) -> None:
        """a += value and the like."""
        read = ast.copy_location(_read(node.target), node.target)
        operation = self.operation(node, node.op)
        changed = self.code.binary(operation, self.value(read), self.value(node.value))
        self.assign(node.target, changed)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Let a target stand for a value, or write it to an array."""
        if isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise LoopError(f"{len(target.elts)} names for what are not as many values")
            for inner, entry in zip(target.elts, value, strict=True):
                self.assign(inner, entry)
        elif isinstance(target, ast.Subscript):
            array = self.value(target.value)
            indices = self.indices(target.slice)
            single = not any(isinstance(index, slice) for index in indices)
            if not isinstance(array, Array) or len(indices) != len(array.shape) or not single:
                raise LoopError("only single numbers of arrays can be written")
            self.code.write(array, indices, value)
        elif isinstance(target, ast.Name):
            self.name(target.id, value)
        else:
            raise LoopError("this cannot be assigned to")

    def name(self, name: str, value: Any) -> None:
        """Let a name stand for a value from here on; _ is for what nobody asks for."""
        if name == "_":
            return
        once = self.stores[name] == 1 and name not in self.places
        if once and (self.depth == 0 or is_static(value)):
            self.known[name] = value
            return
        new = name not in self.places
        if new:
            self.places[name] = self.code.place(value)
        try:
            # What a new name is in lanes that do not count is nobody's business; what happens to
            # be in memory there may be numbers that the processor is slow with.
            with self.code.where_all() if new else nullcontext():
                self.code.put(self.places[name], value)
        except LoopError as error:
            raise LoopError(f"{name}: {error}") from None

    def write_Return(self, node: ast.Return) -> None:
        """Leave the function."""
        value = None if node.value is None else self.value(node.value)
        if self.code.mask is not self.mask:
            raise LoopError(_LEAVES)
        if not self.returned:
            self.returned = True
            self.result = self.code.place(value, self.room)
        self.code.put(self.result, value)
        self.b.branch(self.exit)

    def write_If(self, node: ast.If) -> None:
        """One branch of it if the condition is known."""
        test = self.code.truth(self.value(node.test))
        if isinstance(test, bool):
            self.block(node.body if test else node.orelse)
            return
        if isinstance(test.type, ir.VectorType):
            for holds, statements in ((test, node.body), (self.b.not_(test), node.orelse)):
                with self.within(), self.code.where(holds):
                    self.block(statements)
            return
        then, other = self.b.append_basic_block("then"), self.b.append_basic_block("else")
        self.b.cbranch(test, then, other)
        after = None
        with self.within():
            for start, statements in ((then, node.body), (other, node.orelse)):
                self.b.position_at_end(start)
                self.block(statements)
                if not self.ended:
                    after = after or self.b.append_basic_block("after")
                    self.b.branch(after)
        if after is not None:
            self.b.position_at_end(after)

    def write_While(self, node: ast.While) -> None:
        """A loop with a condition."""
        self.require_no_else(node)
        again, inside, after = (self.b.append_basic_block(s) for s in ("while", "do", "done"))
        self.b.branch(again)
        self.b.position_at_end(again)
        with self.within():
            test = self.code.truth(self.value(node.test))
            self.b.cbranch(BIT(test) if isinstance(test, bool) else test, inside, after)
            self.b.position_at_end(inside)
            self.ways.append((again, after))
            self.block(node.body)
            self.ways.pop()
            if not self.ended:
                self.b.branch(again)
        self.b.position_at_end(after)

    def write_For(self, node: ast.For) -> None:
        """A loop over a range, or once for each value of a tuple."""
        self.require_no_else(node)
        call = node.iter
        counted = self.value(call.func) if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and counted is side_by_side:
            lanes = len(self.value(call.args[0]))
            if lanes == 1:
                self.count(node, [1])
            else:
                self.for_lanes(node, lanes)
            return
        if isinstance(call, ast.Call) and counted is range:
            self.count(node, self.several(call.args))
            return
        values = self.value(call)
        if not isinstance(values, tuple):
            raise LoopError("a loop over what is neither a range nor a tuple")
        after = self.b.append_basic_block("done")
        with self.within():
            for value in values:
                following = self.b.append_basic_block("next")
                self.ways.append((following, after))
                for name in ast.walk(node.target):  # they change with every turn
                    if isinstance(name, ast.Name):
                        self.stores[name.id] += 1
                self.assign(node.target, value)
                self.block(node.body)
                self.ways.pop()
                if not self.ended:
                    self.b.branch(following)
                self.b.position_at_end(following)
            self.b.branch(after)
        self.b.position_at_end(after)

    def for_lanes(self, node: ast.For, lanes: int) -> None:
        """A loop over lanes, for all of them at once; its names end with it."""
        assert isinstance(node.target, ast.Name)
        outside = set(self.places)
        with self.within(), self.code.side_by_side(lanes):
            self.known[node.target.id] = Lanes(lanes)
            self.ways.append((None, None))
            self.block(node.body)
            self.ways.pop()
            del self.known[node.target.id]
        self.places = {name: self.places[name] for name in outside}

    def count(self, node: ast.For, bounds: Sequence[Any]) -> None:
        """A loop over range(start, stop, step)."""
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        if not is_static(step):
            raise LoopError("a range with steps that are not known")
        b, code = self.b, self.code
        last, counter = code.word(stop), code.place_for(WORD)
        b.store(code.word(start), counter)
        again, inside, following, after = (
            b.append_basic_block(s) for s in ("for", "do", "next", "done")
        )
        b.branch(again)
        b.position_at_end(again)
        present = b.load(counter)
        b.cbranch(b.icmp_signed("<" if step > 0 else ">", present, last), inside, after)
        b.position_at_end(inside)
        with self.within():
            with self.code.where_all():
                self.assign(node.target, RuntimeNumber(INT, present))
            self.ways.append((following, after))
            self.block(node.body)
            self.ways.pop()
        if not self.ended:
            b.branch(following)
        b.position_at_end(following)
        b.store(b.add(b.load(counter), WORD(step)), counter)
        b.branch(again)
        b.position_at_end(after)

    def write_Continue(self, _: ast.Continue) -> None:
        """On with the next turn."""
        self.require_way(self.ways[-1][0])
        self.b.branch(self.ways[-1][0])

    def write_Break(self, _: ast.Break) -> None:
        """Leave the loop."""
        self.require_way(self.ways[-1][1])
        self.b.branch(self.ways[-1][1])

    def require_no_else(self, node: ast.For | ast.While) -> None:
        """Refuse what is to follow a loop that nothing has left."""
        if node.orelse:
            raise self.error(node.orelse[0], "an else of a loop has no compiled form")

    def require_way(self, way: Any) -> None:
        """Refuse to leave a loop in some lanes, or over lanes."""
        if way is None or self.code.mask is not None:
            raise LoopError(_LEAVES)

    @contextmanager
    def within(self) -> Iterator[None]:
        """In what may happen never or often: what a name stands for there need not last."""
        self.depth += 1
        yield
        self.depth -= 1


def _read(target: ast.expr) -> ast.expr:
    """A target as an expression."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    raise LoopError("this cannot be assigned to")
