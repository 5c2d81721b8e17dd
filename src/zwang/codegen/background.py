"""Compiling in the background what runs already: kernels that are interpreted, and time loops.

A kernel that is in no cache is usable within a millisecond or two, as bytecode (`interpreter`). One
that has been run for a while is compiled by another process (`background_process`), and its entry
point is then led to the compiled code (`entry_slots`). Kernels that are hardly used are never
compiled. Time loops, of a first run on a machine, run as code that LLVM made in a hurry and are
optimised in the same way. Both ways give the same bits, so that nothing depends on when this
happens.

The other process has no part in this one: a program that ends does not wait for it. What it was
asked for it completes, for the cache, and then it ends too. It also ends after some seconds without
work. Where it cannot be started, or fails, kernels are compiled by the thread that would have asked
for them, after one logged warning. In a forked process this thread does not exist; it is started
again when it is needed.
"""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ReferenceType, ref

if TYPE_CHECKING:
    from zwang.codegen.background_process import CompilerProcess
    from zwang.codegen.machine_code import KernelJob, LoopJob, MachineCode

__all__ = ["Exchangeable", "enqueue", "finish", "wake"]

_LOG = logging.getLogger("zwang.codegen")
#: Operations that bytecode has done when its kernel is worth compiling: about a millisecond.
WORTH_COMPILING = 300_000
#: Seconds between looks at what has been run: at first, and at most.
SOON, LATER = 0.03, 1.0
#: Seconds without work after which the other process is let go.
IDLE = 5.0
#: What may go wrong in talking with the other process.
_LOST = (OSError, EOFError, ValueError, pickle.PickleError)


class Exchangeable(Protocol):
    """Code that runs already, and whose place better code can take."""

    @property
    def operations_done(self) -> float:
        """How many operations it did so far, about."""
        ...

    def exchange(self, made: MachineCode) -> None:
        """Run this from now on."""
        ...


_Waiting = tuple["ReferenceType[Exchangeable]", "KernelJob | LoopJob"]


class _BackgroundWork:
    """What this process has asked for; one object, made anew in a forked process."""

    def __init__(self, waiting: list[_Waiting]) -> None:
        self.changed = threading.Condition()
        #: Held while the other process is given work, and while code is linked into this one:
        #: neither the end of this process nor a fork may come in between.
        self.talking, self.linking = threading.Lock(), threading.Lock()
        self.waiting, self.under_way = waiting, list[_Waiting]()
        self.process: CompilerProcess | None = None
        self.running = self.closing = self.alone = self.hurry = False
        self.pause = SOON

    # --- asked from outside -----------------------------------------------------------------------

    def enqueue(self, code: Exchangeable, job: KernelJob | LoopJob) -> None:
        """Compile a kernel once it has been run for a while."""
        with self.changed:
            self.waiting.append((ref(code), job))
            if self.pause > SOON:  # asleep for long
                self.pause = SOON
                self.changed.notify_all()
            self.wake()

    def wake(self) -> None:
        """See that the thread runs."""
        if self.waiting and not self.running and not self.closing:
            self.running = True
            threading.Thread(target=self._serve, name="zwang compiler", daemon=True).start()

    def finish(self, timeout: float) -> bool:
        """Wait until all kernels are compiled, used or not; False if that takes too long."""
        end = time.monotonic() + timeout
        with self.changed:
            self.hurry = True
            self.wake()
            self.changed.notify_all()
            while self.waiting or self.under_way:
                self._prune()
                if time.monotonic() >= end:
                    break
                self.changed.wait(0.05)
            self.hurry = False
            return not self.waiting and not self.under_way

    def leave(self) -> None:
        """End with the program: hand over what is worth it, and wait for nothing."""
        self.closing = True
        with self.talking, self.linking:
            due = self._due()
            try:
                if due and not self.alone:
                    self._process().send([job for _, job in due])
            except _LOST as error:
                _LOG.debug("not compiled for the cache: %s", error)
            if self.process is not None:
                self.process.let_go()

    # --- the thread -------------------------------------------------------------------------------

    def _serve(self) -> None:
        last_work = time.monotonic()
        while True:
            with self.changed:
                self.changed.wait(0.0 if self.hurry and self.waiting else self.pause)
                if self.closing:
                    return
                due = self.under_way = self._due()
                if due:
                    self.pause = SOON
                else:
                    self.pause = min(2.0 * self.pause, LATER)
                    if time.monotonic() - last_work > IDLE:
                        self._close()
                        if not self.waiting:
                            self.running = False
                            return
            if due:
                try:
                    self._compile(due)
                except Exception as error:  # noqa: BLE001 - all goes on interpreted, and is told
                    self._failed(f"{type(error).__name__}: {error}")
                with self.changed:
                    self.under_way = []
                    self.changed.notify_all()
                last_work = time.monotonic()

    def _prune(self) -> None:
        self.waiting = [entry for entry in self.waiting if entry[0]() is not None]

    def _due(self) -> list[_Waiting]:
        """Take what is to be compiled now from what waits; kernels that are gone are forgotten."""
        due: list[_Waiting] = []
        kept: list[_Waiting] = []
        for entry in self.waiting:
            code = entry[0]()
            if code is not None:
                worth = self.hurry or code.operations_done >= WORTH_COMPILING
                (due if worth else kept).append(entry)
        self.waiting = kept
        return sorted(due, key=lambda entry: entry[1].takes_long)

    def _compile(self, due: list[_Waiting]) -> None:
        """Have kernels compiled, and lead their entry points to the code."""
        left = list(due)
        try:
            if not self.alone:
                with self.talking:
                    if self.closing:
                        return
                    process = self._process()
                    process.send([job for _, job in due])
                # After a failure the other process is closed: the numbers of its files may be
                # those of others by then.
                while left and not self.alone:
                    self._exchange(left[0], process.receive())
                    left.pop(0)
        except _LOST as error:
            self._failed(f"{type(error).__name__}: {error}")
        for entry in left:
            if entry[0]() is not None and not self.closing:
                with self.linking:
                    found: Any = _compiled_here(entry[1])
                self._exchange(entry, found)

    def _exchange(self, entry: _Waiting, found: MachineCode | str) -> None:
        """Put compiled code in the place of bytecode; where there is none, that stays."""
        code = entry[0]()
        if isinstance(found, str):
            self._failed(found)
        elif code is not None:
            with self.linking:
                if not self.closing:
                    code.exchange(found)

    def _process(self) -> CompilerProcess:
        from zwang.codegen.background_process import CompilerProcess

        if self.process is None:
            self.process = CompilerProcess()
        return self.process

    def _failed(self, reason: str) -> None:
        """Say, once, that something is not compiled in the background, and do so no more."""
        if not self.alone:
            self.alone = True
            _LOG.warning(
                "compiling in the background failed (%s); what is not compiled is interpreted "
                "or compiled within this process: same results, slower",
                reason,
            )
        self._close()

    def _close(self) -> None:
        with self.talking:
            if self.process is not None and not self.closing:
                self.process.close()
                self.process = None


def _compiled_here(job: KernelJob | LoopJob) -> MachineCode | str:
    """Compile within this process; the reason as a string where that fails."""
    from zwang.codegen.environment import FAILURES

    try:
        return job.make()
    except FAILURES as error:
        return f"{type(error).__name__}: {error}"


_work = _BackgroundWork([])


def enqueue(code: Exchangeable, job: KernelJob | LoopJob) -> None:
    """Compile something in the background once it has been run for a while."""
    _work.enqueue(code, job)


def wake() -> None:
    """Go on with what waits, in a forked process; elsewhere nothing happens."""
    if _work.waiting and not _work.running:
        with _work.changed:
            _work.wake()


def finish(timeout: float = 60.0) -> bool:
    """Compile all kernels that are interpreted, and wait for it; False if that takes too long."""
    return _work.finish(timeout)


def _before_fork() -> None:
    _work.talking.acquire()
    _work.linking.acquire()


def _after_fork_in_parent() -> None:
    _work.linking.release()
    _work.talking.release()


def _after_fork_in_child() -> None:
    global _work  # noqa: PLW0603 - the one of this process
    old = _work
    if old.process is not None:
        old.process.forget()
    _work = _BackgroundWork([*old.under_way, *old.waiting])
    _work.alone = old.alone


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
atexit.register(lambda: _work.leave())  # noqa: PLW0108 - the one that there is then
