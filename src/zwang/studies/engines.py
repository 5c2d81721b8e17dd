"""Who runs the tasks of a study: threads of this process, other processes, or a Dask cluster.

All of them call the same function with the same numbers of tasks, and take results from nobody:
tasks write their own. What they give back is how many runs there were and how long they took.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import parent_process
from threading import Thread
from time import monotonic
from typing import Any

from zwang.errors import InputError, MissingExtraError, StoreError, shown
from zwang.simulation.interrupt import postponed_interrupt
from zwang.studies.task import StudyTasks, TaskReport, decisive_versions, run_task

__all__ = ["TaskCall", "run_tasks"]

_LOG = logging.getLogger("zwang.studies")
#: Tasks that wait for each worker, so that it has the next when one is done.
AHEAD = 2
#: How often a task is tried again by Dask, and a pool of processes made anew, when workers die.
RETRIES = 5
#: Seconds after which a waiting thread looks up.
NAP = 0.2
#: Seconds after which the workers of a cluster are counted again.
LOOK_AGAIN = 1.0
#: Seconds in which a scheduler must answer.
PATIENCE = 10.0


@dataclass(frozen=True)
class TaskCall:
    """What other processes are called with, besides the number of a task."""

    folder: str
    digest: str
    payload: bytes | None

    def arguments(self, task: int) -> tuple[Any, ...]:
        """Of `run_task`."""
        return self.folder, self.digest, task, self.payload, decisive_versions()


def run_tasks(
    tasks: StudyTasks,
    numbers: Sequence[int],
    call: Callable[[], TaskCall],
    scheduler: Any,
    workers: int | None,
) -> Iterator[TaskReport]:
    """Run tasks, and report each that is done.

    Parameters
    ----------
    call : makes what other processes are called with.
    scheduler : None for threads, ``"processes"``, the address of a Dask scheduler, or a client.
    workers : how many threads or processes; one for each processor if None.
    """
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise InputError("workers", found=shown(workers), expected="a positive whole number")
    count = workers or os.cpu_count() or 1
    if scheduler is None or scheduler == "threads":
        return _in_threads(tasks, numbers, count)
    if scheduler == "processes":
        return _in_processes(numbers, call(), count)
    return _on_cluster(numbers, call(), scheduler)


def _in_threads(tasks: StudyTasks, numbers: Sequence[int], count: int) -> Iterator[TaskReport]:
    if count == 1 or len(numbers) == 1:
        for number in numbers:
            yield tasks.run(number)
        return
    with postponed_interrupt() as interrupt, ThreadPoolExecutor(count) as pool:

        def submit(number: int) -> Future[TaskReport]:
            # In a copy of the context a task hears of Ctrl-C, which reaches this thread alone.
            return pool.submit(copy_context().run, tasks.run, number)

        try:
            yield from _flowing(submit, numbers, AHEAD * count)
        except BaseException:
            interrupt.asked = True  # the others need not go on
            raise


def _flowing(
    submit: Callable[[int], Future[TaskReport]], numbers: Sequence[int], ahead: int
) -> Iterator[TaskReport]:
    """Keep so many tasks under way; those that are done first come first."""
    waiting, left = set[Future[TaskReport]](), iter(numbers)
    while True:
        while len(waiting) < ahead and (number := next(left, None)) is not None:
            waiting.add(submit(number))
        if not waiting:
            return
        done, waiting = wait(waiting, NAP, FIRST_COMPLETED)
        for future in done:
            report = future.result()
            if report.stopped:
                left = iter(())
            yield report


def _in_processes(numbers: Sequence[int], call: TaskCall, count: int) -> Iterator[TaskReport]:
    from concurrent.futures.process import BrokenProcessPool

    left = list(numbers)
    for attempt in range(RETRIES + 1):
        done: set[int] = set()
        try:
            with _processes(count) as pool:

                def submit(number: int, pool: Executor = pool) -> Future[TaskReport]:
                    return pool.submit(run_task, *call.arguments(number))

                for report in _flowing(submit, left, AHEAD * count):
                    done.add(report.task)
                    yield report
        except BrokenProcessPool:
            if attempt == RETRIES:
                raise StoreError(
                    f"study '{call.folder}'",
                    but=f"lost a worker process {RETRIES + 1} times",
                    advice="run() again computes what is missing.",
                ) from None
            left = [number for number in left if number not in done]
        else:
            return


def _end_with_parent() -> None:
    """End this process when the one that started it does: killed, it can no longer say so.

    What is not written by then is not part of the study, and computed by the next `run()`.
    """
    parent = parent_process()
    assert parent is not None

    def wait_for_it() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait_for_it, name="zwang study ends", daemon=True).start()


@contextmanager
def _processes(count: int) -> Iterator[Executor]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# --- Dask -----------------------------------------------------------------------------------------


def _on_cluster(numbers: Sequence[int], call: TaskCall, scheduler: Any) -> Iterator[TaskReport]:
    with _client(scheduler) as client:
        yield from _with_client(client, numbers, call)


def _with_client(client: Any, numbers: Sequence[int], call: TaskCall) -> Iterator[TaskReport]:
    """Keep a few tasks for each thread of the cluster under way; Dask tries lost ones again.

    Tasks are handed in together, as many as have ended since the last time: one at a time they
    cost the scheduler more than a thousand cores leave it.
    """
    from distributed import as_completed

    name = f"zwang-{call.digest[:16]}-{os.urandom(3).hex()}"

    def submit(some: list[int]) -> list[Any]:
        keys = [f"{name}-{number}" for number in some]
        work = partial(run_task, call.folder, call.digest)
        further = {"payload": call.payload, "wanted": decisive_versions()}
        return client.map(work, some, key=keys, pure=False, retries=RETRIES, **further)

    if not client.nthreads():
        address = client.scheduler_info(n_workers=0)["address"]
        _LOG.warning("%s: waits for workers; the scheduler at %s has none", call.folder, address)
    left, room = iter(numbers), _OpenPlaces(client)
    first = list(islice(left, room.tasks()))
    waiting = len(first)
    try:
        queue = as_completed(submit(first), with_results=True)
        for batch in queue.batches():
            for future, report in batch:
                future.release()
                yield _report(report)
            waiting -= len(batch)
            some = list(islice(left, max(room.tasks() - waiting, 0)))
            if some:
                queue.update(submit(some))
                waiting += len(some)
    except (OSError, RuntimeError, TimeoutError, *_losses()) as error:
        raise StoreError(
            f"study '{call.folder}'",
            but=f"lost its cluster: {shown(error)}",
            advice="Completed tasks are kept: run() again computes what is missing.",
        ) from error


def _report(found: Any) -> TaskReport:
    """What a task reported; where the scheduler is lost, Dask gives an exception in its place."""
    if not isinstance(found, TaskReport):
        raise RuntimeError(str(found))  # noqa: TRY004 - it is no type that is wrong
    return found


class _OpenPlaces:
    """How many tasks a cluster should have at hand, which may grow and shrink.

    Its workers are counted once in a while: the answer is a list of all of them.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._counted, self._tasks = client, -LOOK_AGAIN, AHEAD

    def tasks(self) -> int:
        """A few for each thread."""
        if monotonic() - self._counted >= LOOK_AGAIN:
            self._tasks = AHEAD * max(sum(self._client.nthreads().values()), 1)
            self._counted = monotonic()
        return self._tasks


def _losses() -> tuple[type[BaseException], ...]:
    """How Dask tells that a scheduler is lost, or that a task has lost its workers too often."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    return CancelledError, KilledWorker


@contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    """A client of Dask: the one that was given, or one for an address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("a cluster", "distributed", "cluster") from None
    if isinstance(scheduler, Client):
        yield scheduler
        return
    if not isinstance(scheduler, str):
        raise InputError(
            "scheduler",
            found=shown(scheduler),
            expected="None, 'processes', the address of a Dask scheduler or a Dask client",
        )
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"scheduler {scheduler!r}",
            expected="the address of a Dask scheduler, such as 'tcp://127.0.0.1:8786'",
            but=f"it does not answer ({shown(error)})",
        ) from None
    try:
        yield client
    finally:
        client.close()
