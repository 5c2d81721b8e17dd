"""What the tasks of a study cost besides their runs, and what follows for very many of them.

    python -m benchmarks.scheduling                       # measure, then simulate a cluster
    python -m benchmarks.scheduling --cores 2000 --runs 1e8 --each 1e-4

Measured with two worker processes of this machine: processor time of Dask's scheduler, of the
client and of a worker for each task, files and bytes of a task. Simulated: one scheduler that
serves one task after the other, and so many cores that compute.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zwang as zw
from benchmarks.studies import PendulumStudy
from zwang.studies import engines

__all__ = ["measured", "simulated"]

TRIVIAL, TASKS, RUNS = 1000, 500, 8
#: Tasks are at hand as for so many cores, so that they are handed in together as there.
CORES = 100
#: Seconds in which nothing is done, to see what that costs.
IDLE = 3.0
#: Runs in a task that are compared.
SHARDS = (1000, 16_384, 200_000, 1_000_000)
#: Seconds of a run that are compared: a pendulum, some ten bodies, a stiff vehicle.
EACH = (1e-5, 1e-3, 1e-1)
#: Runs of a task differ by so much, relatively.
SCATTER = 0.1


def _idle(number: int) -> int:
    return number


def _clock() -> float:
    return time.process_time()


def _clocks(client: Any) -> tuple[float, float, float, float]:
    """Processor times of scheduler, workers and client, and the time by the clock."""
    workers = sum(client.run(_clock).values())
    return client.run_on_scheduler(_clock), workers, time.process_time(), time.perf_counter()


def _spent(client: Any, work: Callable[[], int]) -> dict[str, float]:
    """Processor time of scheduler, workers and client, and time by the clock, for each task."""
    before = _clocks(client)
    count = work()
    spent = [b - a for a, b in zip(before, _clocks(client), strict=True)]
    names = ("scheduler", "workers", "client", "wall")
    return {name: x / count for name, x in zip(names, spent, strict=True)}


def _without_idling(costs: dict[str, float], idle: dict[str, float]) -> dict[str, float]:
    """Costs without what the processes spend anyway, by the second."""
    return {name: x - (name != "wall") * idle[name] * costs["wall"] for name, x in costs.items()}


@contextmanager
def from_the_shell(workers: int = 2) -> Iterator[str]:
    """A scheduler and workers as processes of their own; the address of the scheduler."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "scheduler.json"
        common = ["--scheduler-file", str(place), "--no-dashboard"]
        dask = [sys.executable, "-m", "dask"]
        started = [_started([*dask, "scheduler", "--port", "0", *common])]
        try:
            while not place.exists():
                time.sleep(0.1)
            worker = [*dask, "worker", *common, "--nthreads", "1", "--no-nanny"]
            started += [_started(worker) for _ in range(workers)]
            yield json.loads(place.read_text(encoding="utf-8"))["address"]
        finally:
            for process in started:
                process.kill()
                process.wait()


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet)


def measured(address: str) -> dict[str, dict[str, float]]:
    """Costs of trivial tasks and of ours, on the cluster at an address."""
    from distributed import Client

    case = PendulumStudy()
    names = list(case.system.coordinates[:4])
    with Client(address) as client, tempfile.TemporaryDirectory() as folder:

        def trivial() -> int:
            client.gather(client.map(_idle, range(TRIVIAL), pure=False))
            return TRIVIAL

        def ours(tasks: int, place: str) -> int:
            plan = case.plan(tasks * RUNS, outputs=names, shard=RUNS)
            study = zw.study(case.mechanism, plan, output=Path(folder) / place, scheduler=client)
            before, engines.AHEAD = engines.AHEAD, CORES * engines.AHEAD // 2
            try:
                study.run(progress=False)
            finally:
                engines.AHEAD = before
            return tasks

        client.wait_for_workers(2)
        trivial()
        ours(4, "first.zarr")  # kernels are compiled and loaded
        idle = _spent(client, lambda: time.sleep(IDLE) or round(IDLE))
        tasks = {
            "trivial": _spent(client, trivial),
            "a task of a study": _spent(client, lambda: ours(TASKS, "a.zarr")),
        }
        found = {name: _without_idling(costs, idle) for name, costs in tasks.items()}
        path = Path(folder) / "a.zarr"
        arrays = [f for f in path.rglob("*") if f.is_file() and "c" in f.parts]
        found["storage"] = {
            "files": 1.0 + len(arrays) / TASKS,
            "bytes a run": sum(f.stat().st_size for f in arrays) / (TASKS * RUNS),
        }
    return found


def simulated(
    tasks: int, cores: int, seconds: float, served: float, begun: float = 0.0, seed: int = 1
) -> dict[str, float]:
    """A scheduler that serves one task after the other, for cores that compute.

    Parameters
    ----------
    seconds : that a task takes, with some scatter.
    served : seconds of the scheduler for each task, when it is given out and reported.
    begun : seconds of a worker before its first task.
    """
    rng, free_at = random.Random(seed), 0.0
    # Each core has two tasks at hand: it waits only where the next has not come in time.
    given = [0.0] * cores
    heap = [(begun, core) for core in range(cores)]
    heapq.heapify(heap)
    busy, end = 0.0, 0.0
    for _ in range(tasks):
        ready, core = heapq.heappop(heap)
        free_at = max(free_at, given[core]) + served
        start = max(ready, free_at)
        duration = seconds * (1.0 + SCATTER * (2.0 * rng.random() - 1.0))
        # The next task of a core is asked for when the one before this one is reported.
        given[core] = start
        busy, end = busy + duration, max(end, start + duration)
        heapq.heappush(heap, (start + duration, core))
    return {"hours": end / 3600.0, "busy": busy / (cores * end)}


def main() -> None:
    """Measure and simulate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=10_000)
    parser.add_argument("--runs", type=float, default=1e9)
    parser.add_argument("--each", type=float, help="seconds of a run")
    parser.add_argument("--scheduler", help="address of a cluster; two processes by default")
    arguments = parser.parse_args()
    if arguments.scheduler:
        told = measured(arguments.scheduler)
    else:
        with from_the_shell() as address:
            told = measured(address)
    for name, costs in told.items():
        print(name, {key: float(f"{value:.3g}") for key, value in costs.items()})
    costs = told["a task of a study"]
    served = max(costs["scheduler"], costs["client"])
    print(f"a task should take more than {arguments.cores * served:.3g} s on so many cores")
    for each in (arguments.each,) if arguments.each else EACH:
        for shard in SHARDS:
            _tell(arguments.runs, arguments.cores, shard, each, served, told["storage"])


def _tell(
    runs: float, cores: int, shard: int, each: float, served: float, storage: dict[str, float]
) -> None:
    """One line on a cluster with tasks of some size."""
    tasks = max(round(runs / shard), 1)
    found = simulated(tasks, cores, shard * each, served)
    files = storage["files"] * tasks
    print(
        f"{each:g} s a run, shard {shard:>9,}: {tasks:,} tasks of {shard * each:.3g} s, "
        f"{60 * found['hours']:.3g} min, cores busy {found['busy']:.0%}, "
        f"{files:,.0f} files, {files / (3600 * found['hours']):,.0f} /s, "
        f"{storage['bytes a run'] * runs / 1e9:.3g} GB"
    )


if __name__ == "__main__":
    main()
