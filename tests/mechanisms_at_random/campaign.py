"""The campaign: every family with every choice of coordinates and every integrator.

    python tests/mechanisms_at_random/campaign.py                     all, 3,000 and more, in hours
    python tests/mechanisms_at_random/campaign.py --rounds 1          each combination once
    python tests/mechanisms_at_random/campaign.py --part 2/8          the second of eight pieces
    python tests/mechanisms_at_random/campaign.py --families bennett  some families
    python tests/mechanisms_at_random/campaign.py --processes 2       two at a time
    python tests/mechanisms_at_random/campaign.py --keep outcomes     written down as they come
    python tests/mechanisms_at_random/campaign.py --kept outcomes     the table of what was

Each mechanism is tried in a process that may crash, hang or run out of memory without harm to the
others. What went wrong is printed with the line that makes it again, then the table of families.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import resource
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from trial import FAMILIES, OUTCOMES, PATIENCE, Outcome, combinations, drawn_of, tried

__all__ = ["campaign", "schedule", "table"]

#: How often each family meets each choice of coordinates and integrator.
ROUNDS = 3
#: Mechanisms of a family at least, for 3,000 in all.
LEAST = 58
#: Wall-clock time after which a process that does not answer is ended [s], and its memory [bytes].
HUNG, MEMORY = 10.0 * PATIENCE, 8 * 2**30

Task = tuple[str, int, str, str]


def schedule(families: Iterable[str], rounds: int = ROUNDS) -> list[Task]:
    """Trials: number k of a family has combination k of its list, over and over again."""
    found: list[Task] = []
    for family in families:
        pairs = combinations(drawn_of(family, 0)[0].drawn)
        count = max(rounds * len(pairs), LEAST if rounds >= ROUNDS else 0)
        found += [(family, k, *pairs[k % len(pairs)]) for k in range(count)]
    return found


class Worker:
    """A process that tries one mechanism after the other."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, task: Task) -> Outcome:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                # Several of them share the processors: threads of OpenBLAS would wait for others'.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        hung = threading.Timer(HUNG, process.kill)
        hung.start()
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        in_time = hung.is_alive()
        hung.cancel()
        if line:
            return Outcome(**json.loads(line))
        code = process.wait()
        self.process = None
        what = ("crashed", f"the process ended with {code}") if in_time else ("slow", "it hung")
        return Outcome(*task, *what)

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()
            self.process = None


def campaign(tasks: list[Task], processes: int = 1, keep: Path | None = None) -> list[Outcome]:
    """All outcomes; those that are wrong are printed, and all are kept, as they come."""
    waiting: queue.SimpleQueue[list[Task]] = queue.SimpleQueue()
    for family in dict.fromkeys(task[0] for task in tasks):
        waiting.put([task for task in tasks if task[0] == family])
    found: list[Outcome] = []

    def work() -> None:
        while True:
            try:
                some = waiting.get_nowait()
            except queue.Empty:
                return
            worker = Worker()  # a family shares what it compiles
            for task in some:
                outcome = worker(task)
                found.append(outcome)
                if keep is not None:
                    with keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(outcome.to_dict()) + "\n")
                if not outcome.right:
                    print(outcome, flush=True)
            worker.close()
            done = [o for o in found if o.family == some[0][0]]
            print(f"# {some[0][0]}: {sum(o.right for o in done)} of {len(done)}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def table(outcomes: list[Outcome]) -> str:
    """Families down, outcomes across, and the largest error of those that agree."""
    order = list(FAMILIES)
    outcomes = sorted(outcomes, key=lambda o: (order.index(o.family), o.number))
    lines = [f"{'family':30}{'tried':>7}" + "".join(f"{name:>11}" for name in OUTCOMES)]
    lines[0] += f"{'error':>10}{'seconds':>9}"
    for family in [*dict.fromkeys(o.family for o in outcomes), "all"]:
        some = [o for o in outcomes if family in (o.family, "all")]
        kinds = Counter(o.outcome for o in some)
        worst = max((o.error for o in some if o.right and o.integrator not in STEPPED), default=0.0)
        line = f"{family:30}{len(some):7}" + "".join(f"{kinds[k] or '·':>11}" for k in OUTCOMES)
        lines.append(f"{line}{worst:10.1e}{sum(o.seconds for o in some):9.0f}")
    return "\n".join(lines)


#: Integrators whose errors are those of their step.
STEPPED = {"rattle", "generalized_alpha"}


def _worker() -> None:
    """Tasks in, outcomes out, one a line."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing but outcomes
    for line in sys.stdin:
        task = json.loads(line)
        try:
            outcome = tried(*task)
        except MemoryError:
            outcome = Outcome(*task, "crashed", "out of memory")
        print(json.dumps(outcome.to_dict()), file=out, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--part", default="1/1", help="piece K of N, as K/N")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], help="coordinates or integrators")
    parser.add_argument("--keep", type=Path, help="file to add all outcomes to, one a line")
    parser.add_argument("--kept", type=Path, nargs="+", help="only the table of such files")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        _worker()
        return 0
    if given.kept:
        lines = [line for path in given.kept for line in path.read_text("utf-8").splitlines()]
        outcomes = [Outcome(**json.loads(line)) for line in lines]
        print(*(outcome for outcome in outcomes if not outcome.right), sep="\n")
        print(table(outcomes))
        return int(not all(outcome.right for outcome in outcomes))
    part, parts = map(int, given.part.split("/"))
    tasks = schedule(given.families, given.rounds)
    if given.only:
        tasks = [task for task in tasks if set(task[2:]) & set(given.only)]
    outcomes = campaign(tasks[part - 1 :: parts], given.processes, given.keep)
    print(table(outcomes))
    return int(not all(outcome.right for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
