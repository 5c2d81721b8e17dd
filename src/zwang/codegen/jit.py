"""Just-in-time compilation of time loops, kept in the cache on disk.

    @loop
    def total(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
        return s

is compiled when it is first called with arguments of some types, or loaded if that was done before,
and called with arrays, numbers, and tuples and records (named tuples) of them.
`zwang.codegen.loops` lists what a loop may consist of. A loop whose code is in the cache needs
llvmlite and nothing else to run.

The key of the cache holds the sources that loops are made of and the processor; damaged or missing
files mean one more compilation. With ``ZWANG_LLVM=off`` in the environment, and after one logged
warning where LLVM fails, loops run as the plain Python they are, to the same results. On a first
run on a machine, long loops are compiled without optimisation, which takes a thirtieth of the time,
and optimised in the background, see `zwang.codegen.background`: the same bits.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import sys
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zwang.codegen import cache as disk
from zwang.codegen.background import enqueue
from zwang.codegen.environment import FAILURES, in_background, llvm_failed, uses_llvm
from zwang.codegen.interpreted_loops import in_python, inside, plain_function
from zwang.codegen.loops.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Array,
    RuntimeNumber,
    alike,
    signature,
)

if TYPE_CHECKING:
    from zwang.codegen.llvm import LoadedCode
    from zwang.codegen.machine_code import MachineCode

__all__ = ["CompiledLoop", "inlined", "loop"]

_LOG = logging.getLogger("zwang.codegen")
_PACKAGE = Path(__file__).parents[1]
# Folders with code that compiled loops are made of; an edit elsewhere compiles nothing again.
_COMPILED = ("codegen", "integrators")
_lock = threading.RLock()
#: Characters of LLVM assembly from which optimising is left to the background: a third of a second.
LONG = 100_000

_KINDS = {float: FLOAT, int: INT, bool: BOOL}
_KINDS_OF_ARRAYS = {"float64": FLOAT, "int64": INT, "bool": BOOL, "complex128": COMPLEX}
#: As ctypes knows the C functions; they let other threads run themselves.
_ENTRY = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)

#: A C function, and the addresses it is given besides its arguments.
_EntryPoint = tuple[Callable[[Any, Any], Any], Any]

Function = TypeVar("Function", bound="Callable[..., Any]")


def loop(function: Function, /, *, text: str | None = None) -> Function:
    """Compile a function when it is first called; `text` is its source if that is in no file."""
    return CompiledLoop(function, text=text)  # pyright: ignore[reportReturnType] - called like the function


def inlined(function: Function, /, *, text: str | None = None) -> Function:
    """`loop` for pieces of loops that run in every step: written into them, not called."""
    return CompiledLoop(function, inlined=True, text=text)  # pyright: ignore[reportReturnType] - called like the function


class CompiledLoop:
    """A Python function of numbers, arrays and tuples of them, and its compiled forms.

    Attributes
    ----------
    function : the function.
    inlined : whether it is written into the loops that use it, in place of a call.
    text : its source, if that is not in a file.
    loaded : how many of its forms came from the cache.
    """

    def __init__(
        self, function: Callable[..., Any], *, inlined: bool = False, text: str | None = None
    ) -> None:
        self.function, self.inlined, self.text = function, inlined, text
        self.__name__, self.__doc__, self.__wrapped__ = (
            function.__name__,
            function.__doc__,
            function,
        )
        self.loaded = 0
        #: C functions and the addresses they are given, by the forms of arguments.
        self._entries: dict[Any, _EntryPoint | None] = {}
        self._code: list[LoadedCode] = []
        self._hurried: list[HurriedLoop] = []
        #: The C function that was used last; it gives back arguments that are not for it.
        self._latest: _EntryPoint = ((lambda arguments, _: arguments), None)

    @property
    def name(self) -> str:
        """Where it stands and what it is called."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop."""
        run, things = self._latest
        result = run(arguments, things)
        return self._first(arguments) if result is arguments else result

    def _first(self, arguments: tuple[Any, ...]) -> Any:
        """Run it for arguments that are not like the last ones."""
        if inside():  # a plain loop, most of whose time would else be spent here
            return self._plain_function(*arguments)
        if not uses_llvm("loops"):
            return in_python(self._plain_function, arguments)
        arguments = _plain(arguments)
        forms = tuple(map(_form, arguments))
        key = signature(forms)
        with _lock:
            if key not in self._entries:
                self._entries[key] = self._entry(forms)
            entry = self._entries[key]
        if entry is None:
            return in_python(self._plain_function, arguments)
        self._latest = entry
        run, things = entry
        result = run(arguments, things)
        if result is arguments:
            raise TypeError(f"{self.name} takes no such arguments")
        return result

    @cached_property
    def _plain_function(self) -> Callable[..., Any]:
        return plain_function(self.function)

    def _entry(self, forms: tuple[Any, ...]) -> _EntryPoint | None:
        """The C function for arguments of these forms and its addresses; None where LLVM fails."""
        try:
            from zwang.codegen.loops.entry import check_layout, things

            check_layout()
            loaded = self._loaded_code(forms)
        except FAILURES as error:
            llvm_failed(error)
            return None
        self._code.append(loaded)
        return _ENTRY(loaded.address), things(forms)

    def _loaded_code(self, forms: tuple[Any, ...]) -> LoadedCode:
        """Code for arguments of these forms, from the cache or compiled now."""
        from zwang.codegen.llvm import Effort, is_object_code, load, object_code
        from zwang.codegen.machine_code import LoopJob

        key = self._key(forms)
        code = disk.load(disk.LOOPS, key, is_object_code) if key else None
        if code is not None:
            self.loaded += 1
            return load(code)
        from zwang.codegen.loops.translate import translate

        _LOG.info("compiling %s for this machine; later runs load it", self.name)
        job = LoopJob(translate(self, forms), key)
        if in_background() and len(job.text) > LONG:
            hurried = HurriedLoop(self, forms)
            self._hurried.append(hurried)
            enqueue(hurried, job)
            return load(object_code(job.text, Effort.LEAST))
        return load(job.make().code)

    def exchange(self, forms: tuple[Any, ...], loaded: LoadedCode) -> None:
        """Run other code from the next call on, for arguments of these forms."""
        from zwang.codegen.loops.entry import things

        self._code.append(loaded)
        key, entry = signature(forms), (_ENTRY(loaded.address), things(forms))
        with _lock:
            old, self._entries[key] = self._entries.get(key), entry
            if self._latest is old:
                self._latest = entry

    def _key(self, forms: tuple[Any, ...]) -> str | None:
        """Everything compiled code depends on; None if there is no telling."""
        from zwang.codegen.llvm import host

        code = self.function.__code__
        if self.function.__closure__:
            return None  # what it captured may be anything
        try:
            own_source = hashlib.sha256(Path(code.co_filename).read_bytes()).hexdigest()
        except OSError:
            return None  # typed in, not read from a file
        parts = (
            f"{self.name} line {code.co_firstlineno}",
            forms,
            host().identity,
            f"Python {sys.version} NumPy {np.__version__}",  # see `zwang.codegen.loops.entry`
            own_source,
            *(disk.source_digest(_PACKAGE / folder) for folder in _COMPILED),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class HurriedLoop:
    """A form of a loop that was compiled in a hurry, for a first run on a machine."""

    #: It is always worth the effort: the code is for all runs to come.
    operations_done = float("inf")

    def __init__(self, loop: CompiledLoop, forms: tuple[Any, ...]) -> None:
        self._loop, self._forms = loop, forms

    def exchange(self, made: MachineCode) -> None:
        """Run optimised code from the next call on."""
        from zwang.codegen.llvm import load

        self._loop.exchange(self._forms, load(made.code))


def _plain(argument: Any) -> Any:
    """An argument with numbers as Python has them."""
    if isinstance(argument, tuple):
        return alike(argument, map(_plain, argument))
    return argument.item() if isinstance(argument, np.generic) else argument


def _form(argument: Any) -> Any:
    """The form of an argument, see `zwang.codegen.loops.kinds`."""
    if isinstance(argument, tuple):
        return alike(argument, map(_form, argument))
    if isinstance(argument, np.ndarray):
        native = argument.dtype.isnative
        kind = _KINDS_OF_ARRAYS.get(argument.dtype.name) if native else None
        if kind is None or not argument.flags.c_contiguous:
            what = f"one of {argument.dtype}" if kind is None else "one with gaps"
            raise TypeError(f"loops take arrays of float64, int64, bool or complex128, not {what}")
        return Array(kind, None, (None,) * argument.ndim)
    if type(argument) not in _KINDS:
        raise TypeError(f"loops take numbers, arrays, tuples and records of them, not {argument!r}")
    return RuntimeNumber(_KINDS[type(argument)], None)
