"""Ctrl-C while a simulation runs: it ends after the present chunk, with all that was computed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["Interrupt", "postponed_interrupt"]


class Interrupt:
    """Whether the user has asked to stop."""

    asked = False


_present: ContextVar[Interrupt | None] = ContextVar("interrupt of the outer call", default=None)


@contextmanager
def postponed_interrupt() -> Iterator[Interrupt]:
    """While this is open, the first Ctrl-C is only noted; a second one acts at once, as always.

    A call within another, also in a thread that runs in a copy of its context, shares its note. A
    program that handles the signal in its own way is left to it, and so is every other thread, to
    which Python sends no signals.
    """
    outer = _present.get()
    if outer is not None:
        yield outer
        return
    interrupt = Interrupt()

    def note(number: int, frame: Any) -> None:
        if interrupt.asked:
            signal.default_int_handler(number, frame)
        interrupt.asked = True

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    token = _present.set(interrupt)
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _present.reset(token)
