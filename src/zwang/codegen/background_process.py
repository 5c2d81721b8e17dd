"""The process that compiles kernels for another one, see `zwang.codegen.background`.

It reads jobs from its standard input, all that there are, and writes machine code or the reason of
a failure to its standard output, in the same order. When its input ends it completes what it was
asked for, as long as there is a cache to keep it in.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen import cache as disk
from zwang.codegen.environment import FAILURES, TARGET
from zwang.codegen.expression import Expression, Port
from zwang.codegen.machine_code import KernelJob, LoopJob

if TYPE_CHECKING:
    from zwang.codegen.machine_code import MachineCode

__all__ = ["CompilerProcess", "main"]

_LENGTH = struct.Struct("<q")
_SETTINGS = ("ZWANG_CACHE_DIR", "ZWANG_CACHE_SIZE", TARGET)
_START = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


class CompilerProcess:
    """The other process, as the one that asks sees it."""

    def __init__(self) -> None:
        path = [os.path.abspath(place) for place in sys.path]  # noqa: PTH100 - strings
        if not sys.executable or getattr(sys, "frozen", False):  # a program that is packed whole
            raise OSError("there is no Python to start")
        # Plain numbers of files: nothing of them is locked when the program ends.
        given, self._input = os.pipe()
        self._output, made = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this Python, with a text of ours
                [sys.executable, "-c", _START.format(path=path, module=__name__)],
                stdin=given,
                stdout=made,
                stderr=subprocess.DEVNULL,
                cwd=Path(__file__).parent,
                start_new_session=True,  # Ctrl-C is for the program, not for its compiler
            )
        except OSError:
            self._close(self._input, self._output)
            raise
        finally:
            self._close(given, made)

    @staticmethod
    def _close(*files: int) -> None:
        for file in files:
            os.close(file)

    def send(self, jobs: list[KernelJob | LoopJob]) -> None:
        """Ask for kernels and loops."""
        settings = {name: os.environ.get(name, "") for name in _SETTINGS}
        disk.make_folder()  # the other process makes none: somebody may have removed it on purpose
        base = disk.folder()
        settings["ZWANG_CACHE_DIR"] = "" if base is None else str(base.absolute())
        for job in jobs:
            packed = _packed(job.expression) if isinstance(job, KernelJob) else job.text
            _write(self._input, (settings, packed, *job[1:]))

    def receive(self) -> MachineCode | str:
        """The next answer: code, or why there is none."""
        answer = _read(self._output)
        if answer is None:
            raise EOFError("the process that compiles has ended")
        return answer

    def let_go(self) -> None:
        """Let it complete what it was asked for, and end; its answers may still be read."""
        self._close(self._input)
        self._process.poll()
        if self._process.returncode is None:
            self._process.returncode = 0  # nobody waits for it, and nothing is wrong with that

    def close(self) -> None:
        """Have no more to do with it; whenever it ends, it leaves no zombie behind."""
        self._close(self._input, self._output)
        threading.Thread(target=self._process.wait, name="zwang compiler ends", daemon=True).start()

    def forget(self) -> None:
        """In a forked process: this is somebody else's."""
        self._process.returncode = 0
        self._close(self._input, self._output)


def _packed(expression: Expression) -> tuple[Any, ...]:
    """An expression as what is quick to write and to read."""
    ports = [[tuple(port) for port in ports] for ports in (expression.inputs, expression.outputs)]
    arrays = [(x.tobytes(), x.shape) for x in (expression.code, expression.targets)]
    return *ports, expression.constants, *arrays


def _unpacked(packed: tuple[Any, ...]) -> Expression:
    inputs, outputs, constants, *arrays = packed
    code, targets = (np.frombuffer(x, dtype=np.int64).reshape(shape) for x, shape in arrays)
    given, made = (tuple(Port(*port) for port in ports) for ports in (inputs, outputs))
    return Expression(given, made, constants, code, targets)


def _write(file: int, thing: Any) -> None:
    content = pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    left = memoryview(_LENGTH.pack(len(content)) + content)
    while left:
        left = left[os.write(file, left) :]


def _read(file: int) -> Any:
    """What was written next; None at the end."""
    head = _exactly(file, _LENGTH.size)
    if head is None:
        return None
    content = _exactly(file, _LENGTH.unpack(head)[0])
    return None if content is None else pickle.loads(content)  # noqa: S301 - from our own process


def _exactly(file: int, size: int) -> bytes | None:
    parts = []
    while size:
        part = os.read(file, min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def main() -> None:
    """What the other process does."""
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
    ended = threading.Event()

    def collect() -> None:
        while (job := _read(0)) is not None:
            jobs.put(job)
        ended.set()
        jobs.put(None)

    threading.Thread(target=collect, daemon=True).start()
    while (job := jobs.get()) is not None:
        if ended.is_set() and not _can_keep(job[0]):
            break
        answer = _compiled(*job)
        try:
            _write(1, answer)
        except OSError:  # nobody reads it any more
            continue


def _can_keep(settings: dict[str, str]) -> bool:
    """Whether there is a cache for code that nobody waits for."""
    os.environ.update(settings)
    base = disk.folder() if settings["ZWANG_CACHE_DIR"] else None
    return base is not None and base.is_dir() and bool(disk.size_limit())


def _compiled(settings: dict[str, str], what: Any, *rest: Any) -> MachineCode | str:
    """Code from the cache, if somebody else was first, or compiled now."""
    keep = _can_keep(settings)
    job = LoopJob(what, *rest) if isinstance(what, str) else KernelJob(_unpacked(what), *rest)
    try:
        return (job.done() if keep else None) or job.make(keep=keep)
    except FAILURES as error:
        return f"{type(error).__name__}: {error}"
