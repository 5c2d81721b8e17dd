"""A cluster that works on a study, event by event, with costs that were measured.

Who takes part, and what each can do at a time:

    client      hands in tasks and hears of those that are done; one at a time
    scheduler   gives tasks to cores and takes reports; one message at a time
    cores       have a few tasks at hand and compute one; they begin late, are lost, and come back
    file system creates files one after the other, and moves so many bytes a second

A core is free when its file is written. What a lost core had at hand goes back to the scheduler
once that has noticed; a task that is lost too often ends the study. A core without a task is given
one that waits at another, as Dask does.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field

__all__ = ["Cluster", "Outcome", "TaskCost", "simulated"]


@dataclass(frozen=True)
class TaskCost:
    """What a task takes.

    Attributes
    ----------
    seconds : on a core.
    scheduler, client : processor time that they spend on it [s].
    files, size : that it writes [bytes].
    """

    seconds: float
    scheduler: float = 0.0
    client: float = 0.0
    files: float = 0.0
    size: float = 0.0


@dataclass(frozen=True)
class Cluster:
    """What a cluster is like.

    Attributes
    ----------
    cores : all of them; they begin within `begins` seconds, evenly spread.
    ahead : tasks at hand for each core, as the client hands them in.
    scatter : tasks take that much less or more, relatively.
    compiled : seconds before the first task of a core.
    lost_every : mean hours until a core is lost; 0 for never.
    noticed, back : seconds until the scheduler knows, and until another core takes its place.
    retries : a task that is lost more often ends the study.
    creates, bandwidth : files and bytes that the file system takes a second; 0 for any number.
    """

    cores: int
    ahead: int = 2
    scatter: float = 0.1
    begins: float = 0.0
    compiled: float = 0.0
    lost_every: float = 0.0
    noticed: float = 30.0
    back: float = 60.0
    retries: int = 5
    creates: float = 0.0
    bandwidth: float = 0.0


@dataclass
class Outcome:
    """What came of it.

    Attributes
    ----------
    seconds : that the study took.
    busy : share of the cores' time that was computed for the study.
    scheduler, client, storage : share of the time that they worked.
    lost_cores, lost_tasks : how often.
    wasted : share of the computed time that was lost with cores.
    broken : number of tasks that were lost too often.
    """

    seconds: float = 0.0
    busy: float = 0.0
    scheduler: float = 0.0
    client: float = 0.0
    storage: float = 0.0
    lost_cores: int = 0
    lost_tasks: int = 0
    wasted: float = 0.0
    broken: int = 0

    @property
    def limit(self) -> str:
        """What is busiest, and so held up the rest."""
        shares = {
            "scheduler": self.scheduler,
            "client": self.client,
            "file system": self.storage,
            "cores": self.busy,
        }
        most = max(shares, key=lambda name: shares[name])
        return most if shares[most] > HELD_UP else "last tasks"


#: Who works for this share of the time holds up the others; else it is the end that takes long.
HELD_UP = 0.8


class _Server:
    """Serves one after the other."""

    def __init__(self) -> None:
        self.free_at = self.worked = 0.0

    def serve(self, now: float, cost: float) -> float:
        """When it is done with what arrives now."""
        self.free_at = max(self.free_at, now) + cost
        self.worked += cost
        return self.free_at


@dataclass
class _Core:
    """A core, the tasks that it has at hand or on their way, and how often it was lost."""

    tasks: deque[int] = field(default_factory=deque)
    coming: int = 0
    life: int = 0
    alive: bool = False
    since: float = 0.0
    extra: float = 0.0


def simulated(cluster: Cluster, tasks: int, cost: TaskCost, seed: int = 1) -> Outcome:
    """So many tasks on a cluster."""
    return _Simulation(cluster, tasks, cost, seed).run()


class _Simulation:
    """Events by time: (when, number, what, core, life, task)."""

    def __init__(self, cluster: Cluster, tasks: int, cost: TaskCost, seed: int) -> None:
        self.cluster, self.cost, self.random = cluster, cost, random.Random(seed)
        self.left, self.undone = tasks, tasks
        self.scheduler, self.client, self.storage = _Server(), _Server(), _Server()
        self.cores = [_Core() for _ in range(cluster.cores)]
        # Cores with room for a task, those with the fewest at hand first; old entries are skipped.
        self.room: list[tuple[int, int, int]] = []
        self.unassigned: deque[int] = deque()
        # Tasks that arrived at a core behind another one: core, its life, task.
        self.behind: deque[tuple[int, int, int]] = deque()
        self.handed_in = self.open_places = self.next_task = 0
        self.lost_times: dict[int, int] = {}
        self.events: list[tuple[float, int, str, int, int, int]] = []
        self.count = 0
        self.computed = self.wasted = self.end = 0.0
        self.outcome = Outcome()

    def at(self, when: float, what: str, core: int = 0, task: int = 0) -> None:
        """Plan an event; one of a core that is lost meanwhile does not happen."""
        self.count += 1
        life = self.cores[core].life
        heapq.heappush(self.events, (when, self.count, what, core, life, task))

    def run(self) -> Outcome:
        """Until all tasks are done."""
        c = self.cluster
        for k in range(c.cores):
            self.at(c.begins * k / c.cores, "begin", k)
        happen = {
            "begin": self._begin,
            "given": self._given,
            "computed": self._computed,
            "written": self._written,
            "reported": self._reported,
            "handed in": self._handed_in,
            "lost": self._lost,
            "noticed": self._noticed,
        }
        while self.undone and self.events:
            now, _, what, core, life, task = heapq.heappop(self.events)
            if what in _OF_A_LIFE and life != self.cores[core].life:
                if what == "given":  # on its way to a core that is lost
                    self.at(now + self.cluster.noticed, "noticed", core, task)
                continue
            happen[what](now, core, task)
        return self._told()

    def _told(self) -> Outcome:
        found, end = self.outcome, max(self.end, 1e-12)
        found.seconds = end
        found.busy = (self.computed - self.wasted) / (end * self.cluster.cores)
        found.wasted = self.wasted / max(self.computed, 1e-12)
        # What is served after the end is no part of the study.
        for name in ("scheduler", "client", "storage"):
            setattr(found, name, min(getattr(self, name).worked / end, 1.0))
        return found

    # --- cores ------------------------------------------------------------------------------------

    def _begin(self, now: float, core: int, _: int) -> None:
        """A core is there, or there again."""
        own, c = self.cores[core], self.cluster
        own.alive, own.extra = True, c.compiled
        self.open_places += c.ahead
        heapq.heappush(self.room, (0, core, own.life))
        if c.lost_every:
            self.at(now + self.random.expovariate(1.0 / (3600.0 * c.lost_every)), "lost", core)
        self._hand_in(now)
        self._assign(now)
        self._steal(now, core)

    def _start(self, now: float, core: int) -> None:
        """Compute the first task at hand."""
        own, c = self.cores[core], self.cluster
        spread = 1.0 + c.scatter * (2.0 * self.random.random() - 1.0)
        own.since = now + own.extra
        self.at(own.since + self.cost.seconds * spread, "computed", core, own.tasks[0])
        own.extra = 0.0

    def _given(self, now: float, core: int, task: int) -> None:
        """A task arrives at a core."""
        own = self.cores[core]
        own.tasks.append(task)
        own.coming -= 1
        if len(own.tasks) == 1:
            self._start(now, core)
        else:
            self.behind.append((core, own.life, task))

    def _computed(self, now: float, core: int, task: int) -> None:
        """The file system takes what a task computed."""
        c, cost = self.cluster, self.cost
        needed = (cost.files / c.creates if c.creates else 0.0) + (
            cost.size / c.bandwidth if c.bandwidth else 0.0
        )
        self.computed += now - self.cores[core].since
        self.at(self.storage.serve(now, needed), "written", core, task)

    def _written(self, now: float, core: int, task: int) -> None:
        """A task is done; its core goes on with the next, and reports."""
        own = self.cores[core]
        own.tasks.popleft()
        self.at(self.scheduler.serve(now, 0.5 * self.cost.scheduler), "reported", core, task)
        if own.tasks:
            self._start(now, core)

    def _lost(self, now: float, core: int, _: int) -> None:
        """A core is lost with the tasks that it has at hand."""
        own, c = self.cores[core], self.cluster
        self.outcome.lost_cores += 1
        if own.tasks:
            self.computed += max(now - own.since, 0.0)
            self.wasted += max(now - own.since, 0.0)
        own.life, own.alive, own.coming = own.life + 1, False, 0
        self.open_places -= c.ahead
        for task in own.tasks:
            self.at(now + c.noticed, "noticed", core, task)
        own.tasks.clear()
        self.at(now + c.back, "begin", core)

    # --- scheduler and client ---------------------------------------------------------------------

    def _noticed(self, now: float, _: int, task: int) -> None:
        """The scheduler gives a lost task to another core, or gives it up."""
        self.outcome.lost_tasks += 1
        self.lost_times[task] = self.lost_times.get(task, 0) + 1
        if self.lost_times[task] > self.cluster.retries:
            self.outcome.broken += 1
            self.handed_in -= 1
            self._done(now)
            self._hand_in(now)
            return
        self.unassigned.append(task)
        self._assign(now)

    def _reported(self, now: float, core: int, _: int) -> None:
        """The scheduler knows that a task is done: the core has room, the client is told."""
        own = self.cores[core]
        if own.alive:
            heapq.heappush(self.room, (len(own.tasks), core, own.life))
        self.handed_in -= 1
        self._done(now)
        self._hand_in(now)
        self._assign(now)
        self._steal(now, core)

    def _done(self, now: float) -> None:
        self.undone -= 1
        self.end = now

    def _hand_in(self, now: float) -> None:
        """The client hands in as many tasks as there are places for."""
        some = min(self.open_places - self.handed_in, self.left)
        for _ in range(max(some, 0)):
            self.left -= 1
            self.handed_in += 1
            self.next_task += 1
            self.at(self.client.serve(now, self.cost.client), "handed in", 0, self.next_task)

    def _handed_in(self, now: float, _: int, task: int) -> None:
        self.unassigned.append(task)
        self._assign(now)

    def _assign(self, now: float) -> None:
        """Give tasks to cores with room, as long as there are both."""
        while self.unassigned and self.room:
            load, core, life = heapq.heappop(self.room)
            own = self.cores[core]
            if life != own.life or not own.alive:
                continue
            self._give(now, core, self.unassigned.popleft())
            if load + 1 < self.cluster.ahead:
                heapq.heappush(self.room, (load + 1, core, life))

    def _give(self, now: float, core: int, task: int) -> None:
        self.cores[core].coming += 1
        self.at(self.scheduler.serve(now, 0.5 * self.cost.scheduler), "given", core, task)

    def _steal(self, now: float, core: int) -> None:
        """Give a core that has nothing to do a task that waits at another."""
        own = self.cores[core]
        if not own.alive or own.tasks or own.coming or self.unassigned or self.left:
            return
        while self.behind:
            other, life, task = self.behind.popleft()
            there = self.cores[other]
            if there.life == life and task in there.tasks and there.tasks[0] != task:
                there.tasks.remove(task)
                self._give(now, core, task)
                return


#: Events of a core that do not happen once it is lost.
_OF_A_LIFE = frozenset({"computed", "written", "lost", "given"})
