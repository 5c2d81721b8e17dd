"""All engines on all works: processor time and error of every setting, and cost of an evaluation.

First every engine runs every setting once, from coarse to fine. Then those settings that decide the
tables are run again, all engines taking turns, and the least time of each counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.cases import WORKS, Work
from benchmarks.engines import installed
from benchmarks.engines.base import CannotError
from benchmarks.worker import FailedError, Worker

__all__ = ["LEVELS", "OURS", "compare", "evaluations", "least"]

OURS = "Zwang"
LEVELS = (1e-3, 1e-6, 1e-9)
#: Runs of each setting that decides a table: of those that are quick, and of the others.
PASSES, FEW = 5, 2
#: Runs in a row in each pass of what takes a few milliseconds, which is as long as caches take to
#: fill after another engine; the first is not the least, of any engine.
IN_A_ROW, SHORT = 8, 0.02
#: Seconds of processor time below which a setting is quick, from which on an engine is spared finer
#: settings, and after which a question is given up.
QUICK, PATIENCE, TIMEOUT = 0.2, 3.0, 60.0
#: Error below which no finer setting is asked for [m].
FINE = 1e-10
#: Settings kept for further passes at each level: the fastest so far, and those near it.
NEAR = 1.6

#: Works whose evaluations are measured: one against the other, and as their number of bodies grows.
EVALUATED = (
    "chain(1)",
    "chain(10)",
    "chain(100)",
    "chain(1000)",
    "chain(10000)",
    "skew_chain(10)",
    "skew_chain(100)",
    "four_bars(1)",
    "four_bars(40)",
    "bricard",
)
#: Works only Zwang is asked for: no engine of the others takes so many bodies in time.
OURS_ALONE = {"chain(10000)"}

Row = dict[str, Any]


def compare(
    names: Iterable[str], say: Callable[[str], None], keep: Callable[[dict[str, Any]], None]
) -> None:
    """Rows of all settings, and sentences of engines that cannot do a work, work by work."""
    workers = {name: Worker(name) for name in installed()}
    try:
        for name in names:
            work = WORKS[name]()
            here, sentences = _first(work, workers)
            _again(work, workers, here)
            about = {"about": work.about, "source": work.source}
            keep({"works": {name: about}, "rows": here, "cannot": {name: sentences}})
            for line in table(here, sentences):
                say(line)
    finally:
        for worker in workers.values():
            worker.close()


def _first(work: Work, workers: dict[str, Worker]) -> tuple[list[Row], dict[str, str]]:
    rows: list[Row] = []
    sentences: dict[str, str] = {}
    for name, worker in workers.items():
        if work.name in OURS_ALONE and name != OURS:
            sentences[name] = "not asked: a thousand took it long enough"
            continue
        try:
            settings = worker.ask(TIMEOUT, "settings", work.name)
        except (CannotError, FailedError) as error:
            sentences[name] = str(error)
            continue
        done: set[str] = set()  # methods of which no finer setting is needed, or bearable
        for setting in settings:
            method = setting.split(",")[0]
            if method in done:
                continue
            try:
                row = _run(work, worker, setting)
            except (CannotError, FailedError) as error:
                sentences[name] = str(error)
                if "no answer" in str(error):
                    done.add(method)
                continue
            rows.append({"work": work.name, "engine": name, "setting": setting, **row})
            if row["cpu"] > PATIENCE or (name != OURS and reaches(row, FINE)):
                done.add(method)
        if any(row["engine"] == name for row in rows):
            sentences.pop(name, None)
    return rows, sentences


def _run(work: Work, worker: Worker, setting: str, times: int = 1) -> Row:
    ran = worker.ask(TIMEOUT, "run", work.name, setting, times)
    error = work.error(ran.pop("places"))
    return {**ran, "error": error if error < 1e3 else None}  # JSON knows no infinity


def _again(work: Work, workers: dict[str, Worker], rows: list[Row]) -> None:
    """Further passes in turns; rows keep the least times."""
    deciding = [row for row in rows if _decides(row, rows)]
    for k in range(1, PASSES):
        for row in deciding:
            if k >= FEW and row["cpu"] > QUICK:
                continue
            times = IN_A_ROW if row["cpu"] < SHORT else 1
            try:
                ran = _run(work, workers[row["engine"]], row["setting"], times)
            except FailedError:
                continue
            for key in ("cpu", "advance", "build"):
                if row[key] is not None and ran[key] is not None:
                    row[key] = min(row[key], ran[key])


def _decides(row: Row, rows: list[Row]) -> bool:
    if row["engine"] == OURS:
        return True
    mine = [r for r in rows if r["engine"] == row["engine"]]
    return any(
        reaches(row, level) and row["cpu"] <= NEAR * least(mine, level)["cpu"] for level in LEVELS
    )


def reaches(row: Row, level: float) -> bool:
    """Whether the error is known and within a level."""
    return row["error"] is not None and row["error"] <= level


def least(rows: Iterable[Row], level: float, key: str = "cpu") -> Row | None:
    """The row with the least time among those that reach a level, if any does."""
    good = [row for row in rows if reaches(row, level)]
    return min(good, key=lambda row: row[key]) if good else None


def table(rows: list[Row], sentences: dict[str, str]) -> list[str]:
    """Least time of each engine at each level, or what happens."""
    work = rows[0]["work"] if rows else ""
    lines = [f"{work:<22} {'':<10}" + "".join(f"{f'≤ {x:g} m':>14}" for x in LEVELS)]
    for name in dict.fromkeys(row["engine"] for row in rows):
        mine = [row for row in rows if row["engine"] == name]
        cells = []
        for level in LEVELS:
            best = least(mine, level)
            cells.append("–" if best is None else f"{1e3 * best['cpu']:.3f} ms")
        lines.append(f"{'':<22} {name:<10}" + "".join(f"{cell:>14}" for cell in cells))
    lines += [f"{'':<22} {name:<10}   {sentence}" for name, sentence in sentences.items()]
    return lines


def evaluations(names: Iterable[str], say: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Seconds of processor time of one evaluation, engines taking turns."""
    workers = {name: Worker(name) for name in installed()}
    found: dict[str, dict[str, float]] = {}
    try:
        for name in names:
            best: dict[str, float] = {}
            able = [OURS] if name in OURS_ALONE else list(workers)
            for _ in range(PASSES):
                for engine in list(able):
                    try:
                        spent = workers[engine].ask(TIMEOUT, "evaluation", name)
                    except (CannotError, FailedError):
                        able.remove(engine)
                        continue
                    best[engine] = min(best.get(engine, float("inf")), spent)
            found[name] = best
            figures = ", ".join(f"{engine} {1e6 * t:.3f} µs" for engine, t in best.items())
            say(f"{name:<22} {figures}")
    finally:
        for worker in workers.values():
            worker.close()
    return found
