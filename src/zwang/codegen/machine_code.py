"""Machine code of one expression: its name in the cache, and how it is made."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zwang.codegen import cache as disk

if TYPE_CHECKING:
    from zwang.codegen.expression import Expression

__all__ = ["KernelJob", "LoopJob", "MachineCode", "compiled", "key_of", "stored"]

_HEADER = struct.Struct("<q")  # length of the work array, before the object code


class MachineCode(NamedTuple):
    """Object code of a kernel and the length of its work array, all lanes counted."""

    work_size: int
    code: bytes


class KernelJob(NamedTuple):
    """A kernel that is to be compiled, and its name in the cache."""

    expression: Expression
    lanes: int
    shared: frozenset[int]
    key: str

    @property
    def takes_long(self) -> bool:
        """Whether it takes seconds: kernels are compiled before time loops."""
        return False

    def done(self) -> MachineCode | None:
        """Its code, if it is in the cache."""
        return stored(self.key)

    def make(self, *, keep: bool = True) -> MachineCode:
        """Compile it, and `keep` it in the cache."""
        return compiled(self.expression, self.lanes, self.shared, self.key, keep=keep)


class LoopJob(NamedTuple):
    """A loop that is to be optimised, as LLVM assembly, its name in the cache, and where there."""

    text: str
    key: str | None
    folder: str = disk.LOOPS

    @property
    def takes_long(self) -> bool:
        """Whether it is a time loop, which takes seconds."""
        return self.folder == disk.LOOPS

    def done(self) -> MachineCode | None:
        """Its code, if it is in the cache."""
        from zwang.codegen.llvm import is_object_code

        code = disk.load(self.folder, self.key, is_object_code) if self.key else None
        return None if code is None else MachineCode(0, code)

    def make(self, *, keep: bool = True) -> MachineCode:
        """Compile it, and `keep` it in the cache."""
        from zwang.codegen.llvm import Effort, object_code

        code = object_code(self.text, Effort.LOOP if self.takes_long else Effort.KERNEL)
        if keep and self.key:
            disk.save(self.folder, self.key, code)
        return MachineCode(0, code)


def key_of(expression: Expression, lanes: int, shared: frozenset[int]) -> str:
    """All that code depends on: operations, lanes, processor, and how code is written."""
    from zwang.codegen.llvm import host

    version = disk.source_digest(Path(__file__).parent)
    parts = f"{expression.key} {lanes} {sorted(shared)} {host().identity} {version}"
    return hashlib.sha256(parts.encode()).hexdigest()


def stored(key: str) -> MachineCode | None:
    """What is in the cache under a key."""
    from zwang.codegen.llvm import is_object_code

    found = disk.load(disk.KERNELS, key, lambda x: is_object_code(x[_HEADER.size :]))
    if found is None:
        return None
    return MachineCode(_HEADER.unpack_from(found)[0], found[_HEADER.size :])


def compiled(
    expression: Expression, lanes: int, shared: frozenset[int], key: str, *, keep: bool = True
) -> MachineCode:
    """Compile an expression, and `keep` the code in the cache."""
    from zwang.codegen.emit import assemble
    from zwang.codegen.llvm import host, object_code

    assembly = assemble(expression, lanes=lanes, fma=host().fma, shared=shared)
    code = object_code(assembly.text)
    if keep:
        disk.save(disk.KERNELS, key, _HEADER.pack(assembly.work_size) + code)
    return MachineCode(assembly.work_size, code)
