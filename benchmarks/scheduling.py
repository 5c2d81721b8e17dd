"""What the tasks of a study cost besides their runs, and what follows for very many of them.

    python -m benchmarks.scheduling                       # measure, then simulate a cluster
    python -m benchmarks.scheduling --cores 2000 --runs 1e8 --each 1e-4
    python -m benchmarks.scheduling --plot docs/images/study_scaling.svg

Measured with two worker processes of this machine: processor time of Dask's scheduler, of the
client and of a worker for each task, files and bytes of a task, the time of a worker before its
first task, and what it takes to see what is missing. Simulated by `cluster_model`, event by event.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zwang as zw
from benchmarks.cluster_model import Cluster, Outcome, TaskCost, simulated
from benchmarks.studies import PendulumStudy
from zwang.studies import engines
from zwang.studies.dataset import open_store

__all__ = ["measured", "outcome"]

TRIVIAL, FIRST, TASKS, RUNS = 1000, 4, 500, 8
#: Tasks are at hand as for so many cores, so that they are handed in together as there.
CORES = 100
#: Seconds in which nothing is done, to see what that costs.
IDLE = 3.0
#: Runs in a task that are compared.
SHARDS = (1000, 16_384, 200_000, 1_000_000)
#: Seconds of a run that are compared: a pendulum, some ten bodies, a stiff vehicle.
EACH = (1e-5, 1e-3, 1e-1)
#: What a shared file system takes a second, unless said otherwise: files, and bytes.
CREATES, BANDWIDTH = 5000.0, 10e9
#: Mean hours until a core is lost: one of 10,000 every six minutes.
LOST_EVERY = 1000.0
#: Seconds in which the jobs of a cluster begin.
BEGINS = 60.0


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
        # Kernels are compiled and loaded by each worker.
        spent = _spent(client, lambda: ours(FIRST, "first.zarr"))
        first = FIRST * spent["workers"] / len(client.nthreads())
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
        began = time.process_time()
        assert not open_store(path).missing()
        looked = time.process_time() - began
        found["once"] = {"first task": first, "what is missing, each task": looked / TASKS}
    return found


def outcome(
    told: dict[str, dict[str, float]], cluster: Cluster, runs: float, shard: int, each: float
) -> tuple[int, Outcome]:
    """Tasks of a study, and what comes of them on a cluster, with costs that were measured."""
    costs, storage = told["a task of a study"], told["storage"]
    tasks = max(round(runs / shard), 1)
    cost = TaskCost(
        shard * each + costs["workers"],
        costs["scheduler"],
        costs["client"],
        storage["files"],
        shard * storage["bytes a run"],
    )
    return tasks, simulated(cluster, tasks, cost)


def main() -> None:
    """Measure and simulate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=10_000)
    parser.add_argument("--runs", type=float, default=1e9)
    parser.add_argument("--each", type=float, help="seconds of a run")
    parser.add_argument("--scheduler", help="address of a cluster; two processes by default")
    parser.add_argument("--creates", type=float, default=CREATES, help="files a second")
    parser.add_argument("--bandwidth", type=float, default=BANDWIDTH, help="bytes a second")
    parser.add_argument("--lost-every", type=float, default=LOST_EVERY, help="hours, each core")
    parser.add_argument("--plot", type=Path, help="draw cores that are busy over the size of tasks")
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
    cluster = Cluster(
        arguments.cores,
        begins=BEGINS,
        compiled=told["once"]["first task"],
        lost_every=arguments.lost_every,
        creates=arguments.creates,
        bandwidth=arguments.bandwidth,
    )
    found: dict[float, list[tuple[int, Outcome]]] = {}
    for each in (arguments.each,) if arguments.each else EACH:
        for shard in SHARDS:
            tasks, came = outcome(told, cluster, arguments.runs, shard, each)
            _tell(tasks, came, shard, each, told)
            found.setdefault(each, []).append((shard, came))
    if arguments.plot is not None:
        _draw(found, arguments.cores, arguments.plot)


def _tell(tasks: int, came: Outcome, shard: int, each: float, told: dict[str, Any]) -> None:
    """One line on a cluster with tasks of some size."""
    files = told["storage"]["files"] * tasks
    looked = told["once"]["what is missing, each task"] * tasks
    print(
        f"{each:g} s a run, shard {shard:>9,}: {tasks:,} tasks of {shard * each:.3g} s, "
        f"{came.seconds / 60:.3g} min, cores busy {came.busy:.0%}, scheduler "
        f"{came.scheduler:.0%}, client {came.client:.0%}, file system {came.storage:.0%}, "
        f"held up by {came.limit}; lost {came.lost_cores} cores, {came.lost_tasks} tasks, "
        f"{came.wasted:.2%} of the work; {files:,.0f} files, {files / came.seconds:,.0f} /s, "
        f"resume looks {looked:.3g} s"
    )


def _draw(found: dict[float, list[tuple[int, Outcome]]], cores: int, path: Path) -> None:
    """Cores that are busy over runs in a task, one line for each time of a run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for each, rows in found.items():
        busy = [100.0 * came.busy for _, came in rows]
        axes.semilogx([shard for shard, _ in rows], busy, "o-", label=f"a run takes {each:g} s")
    axes.set(xlabel="runs in a task", ylabel=f"{cores:,} cores busy [%]", ylim=(0, 105))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
