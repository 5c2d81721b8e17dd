"""Each engine in a process of its own, on one core, so that none can disturb or end another.

The engines take turns: only one process computes at a time. What an engine prints is dropped; if it
dies or does not answer in time, that is its result, and a new process takes the next question.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.cases import WORKS
from benchmarks.engines import engine
from benchmarks.engines.base import CannotError

__all__ = ["FailedError", "Worker", "hold_to_one_core"]

#: Seconds that one pass of evaluations takes, about, and passes of one question.
SPAN, PASSES = 0.02, 3


class FailedError(Exception):
    """What an engine was asked ended without an answer; the sentence says how."""


def hold_to_one_core() -> None:
    """Keep this process and its children on the core with the highest number, where possible."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class Worker:
    """A process with one engine in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process: Any = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(self.name, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, timeout: float, *question: Any) -> Any:
        """The answer; `CannotError` and `FailedError` otherwise."""
        if self.process is None or not self.process.is_alive():
            self._start()
        self.connection.send(question)
        try:
            if not self.connection.poll(timeout):
                self.close()
                raise FailedError(f"no answer in {timeout:g} s")
            kind, answer = self.connection.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            self.close()
            how = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
            raise FailedError(f"the process ended ({how})") from None
        if kind == "cannot":
            raise CannotError(answer)
        if kind == "failed":
            raise FailedError(answer)
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def _serve(name: str, connection: Connection) -> None:
    """Answer questions until the other side is gone."""
    hold_to_one_core()
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - its number is wanted
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
        prepared: dict[str, Any] = {}
        while True:
            try:
                question, work, *rest = connection.recv()
            except EOFError:
                return
            try:
                answer = ("answer", _answer(engine(name), question, work, rest, prepared))
            except CannotError as error:
                answer = ("cannot", str(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the engine's result
                words = " ".join(str(error).split())
                answer = ("failed", f"{type(error).__name__}: {words[:120]}")
            connection.send(answer)


def _answer(module: Any, question: str, name: str, rest: list[Any], prepared: dict) -> Any:
    work = WORKS[name]()
    if question == "settings":
        prepared.clear()  # one work at a time is in memory
        prepared[name] = module.settings(work)
        return list(prepared[name])
    if question == "run":
        if name not in prepared:
            prepared[name] = module.settings(work)
        setting, times = rest
        runs = [vars(prepared[name][setting]()) for _ in range(times)]
        places = runs[-1]["places"]
        found = places() if callable(places) else places
        ran = dict(runs[-1], places=np.asarray(found, dtype=float))
        for key in ("cpu", "advance", "build"):
            if ran[key] is not None:
                ran[key] = min(run[key] for run in runs)
        return ran
    assert question == "evaluation", question
    evaluate = prepared.get(("evaluation", name)) or module.evaluation(work)
    if evaluate is None:
        raise CannotError("no call evaluates accelerations alone")
    prepared["evaluation", name] = evaluate
    return _seconds_each(evaluate)


def _seconds_each(evaluate: Any) -> float:
    """Least processor time of one evaluation."""
    evaluate(3)
    begin = time.process_time()
    evaluate(10)
    count = max(10, int(10 * SPAN / max(time.process_time() - begin, 1e-6)))
    least = float("inf")
    for _ in range(PASSES):
        begin = time.process_time()
        evaluate(count)
        least = min(least, (time.process_time() - begin) / count)
    return least
