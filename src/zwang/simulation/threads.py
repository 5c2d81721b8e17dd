"""Ensemble simulation in threads that share its work, and one that reports and hears Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from queue import Empty, SimpleQueue
from time import monotonic

from zwang.simulation.interrupt import Interrupt
from zwang.simulation.progress import EnsembleProgress, Report

__all__ = ["ThreadTeam"]


class ThreadTeam:
    """Threads that take parts of the work in turn until none is left.

    Parameters
    ----------
    threads : how many.
    interrupt : whether the user has asked to stop; work looks at it by itself.
    report : is told how many trajectories have ended; None if nobody looks.
    """

    #: Seconds after which the waiting thread looks up, for on some systems no signal wakes it.
    NAP = 0.1

    def __init__(self, threads: int, interrupt: Interrupt, report: Report | None) -> None:
        self.threads, self.interrupt, self.report = threads, interrupt, report
        self.began = monotonic()

    def share(self, work: Callable[[int], Iterator[int]], parts: int, count: int) -> None:
        """Do all parts of the work; each yields how many more of the `count` trajectories ended."""
        done = 0
        parts_left = iter(range(parts))
        if self.threads == 1 or parts <= 1:
            for number in self._worked(work, parts_left):
                done += number
                self._tell(done, count)
            return
        ended: SimpleQueue[int] = SimpleQueue()

        def labour() -> None:
            for number in self._worked(work, parts_left):
                ended.put(number)

        with ThreadPoolExecutor(self.threads) as pool:
            # In a copy of the context the work hears of Ctrl-C, which reaches this thread alone.
            hands = [pool.submit(copy_context().run, labour) for _ in range(self.threads)]
            try:
                self._watch(hands, ended, count)
            except BaseException:
                self.interrupt.asked = True  # the others need not go on
                raise

    def _worked(self, work: Callable[[int], Iterator[int]], parts: Iterator[int]) -> Iterator[int]:
        """Do one part after the other; threads may share the iterator of a range."""
        for part in parts:
            yield from work(part)

    def _watch(self, hands: list[Future[None]], ended: SimpleQueue[int], count: int) -> None:
        """Wait for all hands, tell of what has ended, and raise what one of them raised."""
        done, waiting = 0, set(hands)
        while waiting or not (self.report is None or ended.empty()):
            if self.report is None:
                finished, waiting = wait(waiting, self.NAP, FIRST_COMPLETED)
            else:
                finished = {hand for hand in waiting if hand.done()}
                waiting -= finished
                try:
                    done += ended.get(timeout=self.NAP if waiting else 0.0)
                    self._tell(done, count)
                except Empty:
                    pass
            for hand in finished:
                hand.result()

    def _tell(self, done: int, count: int) -> None:
        if self.report is not None:
            self.report(EnsembleProgress(done, count, monotonic() - self.began))
