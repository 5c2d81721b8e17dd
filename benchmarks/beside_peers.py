"""The fastest setting of each engine that is installed and accurate enough, measured again.

Which settings these are is known from the stored comparison, `python -m benchmarks --only works`.
Times are taken in turns with ours, in the same session.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.cases import Work
from benchmarks.comparison import IN_A_ROW, OURS, SHORT, TIMEOUT, least
from benchmarks.engines import installed
from benchmarks.worker import FailedError, Worker

__all__ = ["PASSES", "Peers"]

#: Passes, of which a peer that takes longer than the second number of seconds has fewer.
PASSES, LONG, FEW = 9, 0.2, 2
RESULTS = Path(__file__).with_name("results") / "results.json"


class Peers:
    """The engines that reached a level of accuracy [m] on a work, each in a process of its own."""

    def __init__(self, work: Work, level: float) -> None:
        self._work, self._level, self._turns = work, level, 0
        self._settings = _fastest(work, level)
        self._workers = {engine: Worker(engine) for engine in self._settings}
        self._times = dict.fromkeys(self._settings, float("inf"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers.values():
            worker.close()

    def take_turn(self) -> None:
        """Let each engine run once, or not where that takes long and was done."""
        for engine, setting in self._settings.items():
            if self._turns < FEW or self._times[engine] < LONG:
                times = IN_A_ROW if self._times[engine] < SHORT else 1
                spent = self._asked(self._workers[engine], setting, times)
                self._times[engine] = min(self._times[engine], spent)
        self._turns += 1

    def _asked(self, worker: Worker, setting: str, times: int) -> float:
        try:
            ran = worker.ask(TIMEOUT, "run", self._work.name, setting, times)
        except FailedError:
            return float("inf")
        return ran["cpu"] if self._work.error(ran["places"]) <= self._level else float("inf")

    @property
    def best(self) -> tuple[str, float] | None:
        """The fastest engine and its processor time [s]; None if there is none."""
        reached = {engine: spent for engine, spent in self._times.items() if spent < float("inf")}
        return min(reached.items(), key=lambda item: item[1]) if reached else None


def _fastest(work: Work, level: float) -> dict[str, str]:
    """Engine that is here and was accurate enough → its fastest setting."""
    stored: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["works"][
        "results"
    ]["rows"]
    here = [row for row in stored if row["work"] == work.name]
    found = {}
    for engine in installed():
        best = least([row for row in here if row["engine"] == engine], level)
        if engine != OURS and best is not None:
            found[engine] = best["setting"]
    return found
