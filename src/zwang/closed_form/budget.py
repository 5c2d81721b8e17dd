"""The time that a derivation may take, and how far it is.

Steps of a derivation ask whether time is left. One step of SymPy's, a greatest common divisor of
long polynomials, can take hours and asks nobody: a second thread looks at the clock and interrupts
it, by the call that CPython has for this.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from zwang.errors import InputError, NotApplicableError, shown

__all__ = ["SECONDS", "Budget", "DerivationProgress"]

#: Time of the processor that a derivation may take [s]. The classics of the documentation take less
#: than ten.
SECONDS = 60.0
#: Between two records of progress [s].
PAUSE = 0.2
STAGES = ("reading the terms", "solving for the acceleration", "shortening the results")


@dataclass(frozen=True)
class DerivationProgress:
    """How far a derivation is.

    Attributes
    ----------
    stage : what it is at.
    done, count : of that stage.
    seconds : since it began.
    """

    stage: str
    done: int
    count: int
    seconds: float

    @property
    def part(self) -> float:
        """What is done, from 0 to 1; its stages count alike."""
        within = min(self.done / self.count, 1.0) if self.count else 1.0
        return (STAGES.index(self.stage) + within) / len(STAGES)

    def __str__(self) -> str:
        return f"{self.stage}: {self.done} of {self.count}"


class _TimeOver(BaseException):
    """Raised in the thread that derives, wherever it is; no error that SymPy may catch."""


class Budget:
    """Asked on the way; it reports, and ends what takes too long within ``with budget:``.

    Parameters
    ----------
    seconds : time of this thread's processor that may be taken, so that a busy machine changes
        nothing.
    report : called with a `DerivationProgress` now and then, or None.
    """

    def __init__(
        self, seconds: float = SECONDS, report: Callable[[DerivationProgress], Any] | None = None
    ) -> None:
        if not isinstance(seconds, int | float) or not seconds > 0.0:
            raise InputError("seconds", found=shown(seconds), expected="a positive number")
        self._seconds, self._report = seconds, report
        self._clock = _clock_of(threading.get_ident())
        self._start, self._reported = self._clock(), 0.0
        self._lock, self._over = threading.Lock(), threading.Event()
        self._stage, self._done, self._count = STAGES[0], 0, 0

    def __enter__(self) -> Self:
        """Let a second thread look at the clock."""
        watch = threading.Thread(target=self._watch, args=(threading.get_ident(),), daemon=True)
        watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            self._over.set()
        _interrupt(threading.get_ident(), None)  # one that has not come yet
        if kind is _TimeOver:
            raise self._refusal() from None

    def _watch(self, thread: int) -> None:
        while not self._over.wait(PAUSE):
            if self._clock() - self._start > self._seconds:
                with self._lock:
                    if not self._over.is_set():
                        _interrupt(thread, _TimeOver)
                return

    def begin(self, stage: int, count: int) -> None:
        """Another stage, with so many steps."""
        self._stage, self._done, self._count = STAGES[stage], 0, count
        self.check()

    def step(self) -> None:
        """One of the steps of the stage is done."""
        self._done = min(self._done + 1, self._count)
        self.check()

    def check(self) -> None:
        """Report, and refuse to go on when the time is over."""
        spent = self._clock() - self._start
        now = DerivationProgress(self._stage, self._done, self._count, spent)
        if self._report is not None and spent > self._reported + PAUSE:
            self._reported = spent
            self._report(now)
        if spent > self._seconds:
            raise self._refusal()

    def _refusal(self) -> NotApplicableError:
        now = DerivationProgress(self._stage, self._done, self._count, self._seconds)
        return NotApplicableError(
            "closed form",
            must=f"be derived within {self._seconds:g} s",
            but=f"after this time it is still {now}",
            advice="Allow more with derive(seconds=…), put numbers in for parameters with "
            "derive(parameters=…), or use derive(solve=False) for the terms alone.",
        )


def _clock_of(thread: int) -> Callable[[], float]:
    """Time of the processor that a thread has taken; that of all threads where none is known."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    number = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(number)


def _interrupt(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in a thread at its next instruction; None takes back one that waits."""
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
