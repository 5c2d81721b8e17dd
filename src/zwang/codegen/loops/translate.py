"""Time loops to LLVM: a C function for Python, and a function for each loop that is called."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from zwang.codegen.emit import ENTRY_POINT
from zwang.codegen.jit import CompiledLoop
from zwang.codegen.loops.code import FunctionCode
from zwang.codegen.loops.entry import write_entry
from zwang.codegen.loops.kinds import COMPLEX, RuntimeNumber, signature
from zwang.codegen.loops.statements import Statements
from zwang.codegen.loops.values import WORD, LoopError, form, rebuilt, room_in, types

__all__ = ["Module", "translate"]


def translate(loop: CompiledLoop, forms: Sequence[Any]) -> str:
    """LLVM assembly of a C function that runs the loop, see `zwang.codegen.loops.entry`.

    Parameters
    ----------
    forms : of its arguments, see `zwang.codegen.loops.kinds`.

    Raises
    ------
    LoopError
        Something has no compiled form.
    """
    module = Module()
    inner, result = module.function(loop, tuple(forms))
    inner.attributes.add("alwaysinline")
    if result is not None and not (isinstance(result, RuntimeNumber) and result.kind != COMPLEX):
        raise LoopError(f"{loop.name}: what it returns is more than a number")
    write_entry(inner, tuple(forms), result, ENTRY_POINT)
    return str(module.module)


class Module:
    """All functions of a loop; each is translated once for each form of its arguments."""

    def __init__(self) -> None:
        self.module = ir.Module("loop")
        self.functions: dict[Any, tuple[ir.Function, Any]] = {}
        self.trees: dict[CompiledLoop, ast.FunctionDef] = {}

    def tree(self, loop: CompiledLoop) -> ast.FunctionDef:
        """The source of a loop, read once."""
        if loop not in self.trees:
            text = textwrap.dedent(loop.text or inspect.getsource(loop.function))
            self.trees[loop] = ast.parse(text).body[0]  # pyright: ignore[reportArgumentType] - a loop is one function
        return self.trees[loop]

    def function(self, loop: CompiledLoop, forms: tuple[Any, ...]) -> tuple[ir.Function, Any]:
        """A function of its own for a loop, and the form of its result.

        It takes the parts of its arguments and room for the parts of its result.
        """
        key = loop, signature(forms)
        if key not in self.functions:
            kinds = [*types(forms), WORD.as_pointer()]
            name = self.module.get_unique_name(loop.name)
            function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), name)
            function.linkage = "internal"
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            start = builder.append_basic_block("start")
            builder.branch(start)
            builder.position_at_start(start)
            given = rebuilt(forms, iter(function.args))
            writer = Statements(
                self, loop, FunctionCode(builder), given, room_in(builder, function.args[-1])
            )
            writer.write()
            builder.ret_void()
            self.functions[key] = function, form(writer.result)
        return self.functions[key]
