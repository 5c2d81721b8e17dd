"""Numba for loops of ours, with compiled code kept in our cache.

Numba's own cache looks at the file of the function alone: an edit in a function it calls, in
another file, goes unnoticed, and a damaged file is an error. Here the key holds a hash of all
sources that loops are made of, and damaged or missing files mean one more compilation.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from zwang.kernels import cache as disk

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["inlined", "jit", "loop"]

_LOG = logging.getLogger("zwang.kernels")
_PACKAGE = Path(__file__).parents[1]
# Folders with code that compiled loops are made of; an edit elsewhere compiles nothing again.
_COMPILED = ("kernels", "engine", "integrators")
# No Python in loops, threads may run beside each other, and 1/0 is inf as in kernels.
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy"}

Function = TypeVar("Function", bound="Callable[..., Any]")


@overload
def jit(function: Function, /) -> Function: ...
@overload
def jit(**options: Any) -> Callable[[Function], Function]: ...
def jit(function: Any = None, /, **options: Any) -> Any:
    """Compile a function with Numba when it is first called, or load it from the cache.

    Parameters
    ----------
    options : of ``numba.jit``, added to ``nopython``, ``nogil`` and ``error_model="numpy"``.

    Examples
    --------
    >>> @jit
    ... def total(x):
    ...     s = 0.0
    ...     for value in x:
    ...         s += value
    ...     return s
    """
    if function is None:
        return lambda function: jit(function, **options)
    import numba

    dispatcher: Any = numba.jit(**_OPTIONS, **options)(function)
    if hasattr(dispatcher, "_cache"):  # not with NUMBA_DISABLE_JIT, which leaves functions alone
        dispatcher._cache = _Cache(function, options)  # noqa: SLF001 - there is no public way
    return dispatcher


def loop(function: Function, /) -> Function:
    """`jit` for time loops, without reference counts: they may allocate no array.

    Numba counts the references to every array that is passed on or looked at in part. In a loop
    whose arrays all belong to its caller that is needless, and it took longer than the arithmetic.
    """
    return jit(_nrt=False)(function)


def inlined(function: Function, /) -> Function:
    """`loop` for pieces of a time loop that run in every step: written into it, not called.

    A call hands over seven numbers for each array, some hundred in all.
    """
    return jit(_nrt=False, forceinline=True)(function)


class _Cache:
    """What Numba asks of a cache (``numba.core.caching``): one function, all its signatures."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """Folder; Numba shows it in its statistics."""
        base = disk.folder()
        return None if base is None else str(base / disk.LOOPS)

    def enable(self) -> None:
        """Use the cache."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor save."""
        self._enabled = False

    def flush(self) -> None:
        """Nothing is held back."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Compiled function for the types of a call; None if it has to be compiled."""
        import numba.core.compiler

        result_type: Any = numba.core.compiler.CompileResult
        context.refresh()
        key = self._key(signature, context.codegen())
        stored = disk.load(disk.LOOPS, key) if self._enabled and key else None
        if stored is not None:
            try:
                # A pickle of our own making: it carried a checksum. Numba's cache does the same.
                return result_type._rebuild(context, *pickle.loads(stored))  # noqa: S301, SLF001
            except Exception as error:  # noqa: BLE001 - whatever it is, compiling will do
                _LOG.info("compiled code of %s cannot be used: %s", self._name, error)
        _LOG.info("compiling %s for this machine; later runs load it", self._name)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function for other processes."""
        from numba.core.serialize import dumps

        key = self._key(signature, result.codegen)
        # Addresses of this process inside the code (dynamic globals) are no use to another.
        if self._enabled and key and not result.library.has_dynamic_globals:
            disk.save(disk.LOOPS, key, dumps(result._reduce()))  # noqa: SLF001

    @property
    def _name(self) -> str:
        return f"{self._function.__module__}.{self._function.__qualname__}"

    def _key(self, signature: Any, codegen: Any) -> str | None:
        """Everything compiled code depends on; None if there is no telling."""
        import numba

        types = str(signature)
        if " at 0x" in types or self._function.__closure__:
            return None  # functions among the arguments, or captured, are known by address only
        code = self._function.__code__
        try:
            own_source = hashlib.sha256(Path(code.co_filename).read_bytes()).hexdigest()
        except OSError:
            return None  # typed in, not read from a file
        parts = (
            f"{self._name} line {code.co_firstlineno}",
            types,
            sorted(self._options.items()),
            codegen.magic_tuple(),  # target, processor and its features
            f"Python {sys.version} Numba {numba.__version__}",
            own_source,
            *(disk.source_digest(_PACKAGE / folder) for folder in _COMPILED),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()
