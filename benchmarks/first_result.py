"""How long the first result of a new model takes, and the very first one on a machine.

    python -m benchmarks.first_result             # about three minutes
    python -m benchmarks.first_result --only chain --json

CPU times of `m.simulate(until=…)`, each in a process of its own in which small models were run
before (so that modules are imported and time loops are loaded), with a cache that has time loops
and no kernel: nothing of the model at hand was ever compiled. *Machine* is the same with an empty
cache. MuJoCo compiles the same chain and steps it over the same time. *Space* is beside the same
mechanism built in the plane, *doubled*, with each joint a second time, beside the same with each
once. The exit code is 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import zwang as zw
from benchmarks.around import ROD, chain
from benchmarks.rows import Row
from zwang import library

PASSES = 3
#: Models, how long they are run [s], and the goal [s].
SMALL = {
    "four_bar": 1.0,
    "slider_crank": 1.0,
    "theo_jansen_leg": 1.0,
    "andrews": 0.03,
    "bricard": 1.0,
    "door": 1.0,
    "double_wishbone": 1.0,
    "universal_joint_shaft": 1.0,
    "spinning_top": 1.0,
    "rolling_coin": 1.0,
    "gyroscope": 1.0,
    "ball_governor": 1.0,
    "satellite": 1.0,
}


class NewModel(NamedTuple):
    """A model that was never seen before."""

    make: Callable[[], zw.Mechanism]
    until: float
    goal: float


def doubled(m: zw.Mechanism) -> zw.Mechanism:
    """A mechanism with each of its joints a second time."""
    for call in list(m.description):
        if call.method == "joint":
            m.joint(**{**call.arguments, "name": f"{call.arguments['name']}_again"})
    return m


MODELS: dict[str, NewModel] = {
    **{name: NewModel(getattr(library, name), until, 0.3) for name, until in SMALL.items()},
    "stewart_platform": NewModel(library.stewart_platform, 1.0, 0.6),
    "chain(10), plane": NewModel(lambda: chain(10, planar=True), 1.0, 0.3),
    "chain(10), space": NewModel(lambda: chain(10, planar=False), 1.0, 0.3),
    "chain(100), plane": NewModel(lambda: chain(100, planar=True), 1.0, 0.6),
    "chain(100), space": NewModel(lambda: chain(100, planar=False), 1.0, 0.6),
    "four_bars(40), plane": NewModel(lambda: library.four_bars(40), 1.0, 0.6),
    "four_bars(40), space": NewModel(lambda: library.four_bars(40, planar=False), 1.0, 0.6),
    "chain(1000), plane": NewModel(lambda: chain(1000, planar=True), 0.2, 1.0),
    "chain(1000), space": NewModel(lambda: chain(1000, planar=False), 0.2, 1.0),
    "bricard, doubled": NewModel(lambda: doubled(library.bricard()), 1.0, 0.3),
    "door, doubled": NewModel(lambda: doubled(library.door()), 1.0, 0.3),
    "four_bar, doubled": NewModel(lambda: doubled(library.four_bar()), 1.0, 0.3),
    "chain(10), plane, doubled": NewModel(lambda: doubled(chain(10, planar=True)), 1.0, 0.3),
    "chain(10), space, doubled": NewModel(lambda: doubled(chain(10, planar=False)), 1.0, 0.3),
    "four_bars(40), plane, doubled": NewModel(lambda: doubled(library.four_bars(40)), 1.0, 1.2),
    "chain(100), plane, doubled": NewModel(lambda: doubled(chain(100, planar=True)), 1.0, 1.2),
    "chain(100), space, doubled": NewModel(lambda: doubled(chain(100, planar=False)), 1.0, 1.2),
    "stewart_platform, doubled": NewModel(lambda: doubled(library.stewart_platform()), 1.0, 1.2),
}
#: The very first run on a machine, beyond imports [s].
MACHINE_GOAL = 3.0
#: Built in space beside built in the plane, first call and repeated.
SPACE_GOAL = 1.3
#: With each joint a second time beside each once, first call and repeated.
DOUBLED_GOAL = 2.0


def measured(name: str, *, warm: bool) -> dict[str, float]:
    """CPU times [s] of the first call of a model and of a repeated one, in this process."""
    from zwang.codegen import background

    if warm:
        for planar in (True, False):
            chain(2, planar=planar).simulate(until=0.01)
    else:
        import casadi  # noqa: F401 - imports are no part of it
        import llvmlite.binding  # noqa: F401 - likewise

        import zwang.simulation.simulate  # noqa: F401 - likewise
    model = MODELS[name]
    mechanism = model.make()
    began = time.process_time()
    mechanism.simulate(until=model.until)
    first = time.process_time() - began
    background.finish()
    repeated = float("inf")
    for _ in range(5):
        began = time.process_time()
        mechanism.simulate(until=model.until)
        repeated = min(repeated, time.process_time() - began)
    return {"first": first, "repeated": repeated}


def mujoco_first(n: int, until: float) -> float:
    """CPU time [s] in which MuJoCo compiles a chain and steps it for the first time."""
    import mujoco as mj

    began = time.process_time()
    spec = mj.MjSpec()
    spec.option.timestep = 0.002
    parent: Any = spec.worldbody
    for k in range(n):
        at = (0.5, 0, 0) if k == 0 else (1.0, 0, 0)
        parent = parent.add_body(pos=at, mass=1.0, inertia=ROD, explicitinertial=True)
        parent.add_joint(type=mj.mjtJoint.mjJNT_HINGE, pos=(-0.5, 0, 0), axis=(0, 1, 0))
    model = spec.compile()
    data = mj.MjData(model)
    for _ in range(round(until / 0.002)):
        mj.mj_step(model, data)
    return time.process_time() - began


def in_new_process(name: str, cache: Path, *, warm: bool) -> dict[str, float]:
    """`measured` with a cache folder."""
    environment = {**os.environ, "ZWANG_CACHE_DIR": str(cache), "ZWANG_BACKGROUND": "on"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    code = "from benchmarks.first_result import *; import json; "
    code += f"print(json.dumps(measured({name!r}, warm={warm})))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def all_models(names: list[str]) -> dict[str, dict[str, float]]:
    """The least of several processes for each model, with time loops in the cache."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        loops = Path(folder) / "loops"
        for name in ("bricard", "chain(100), plane", "chain(100), space", *names):
            in_new_process(name, loops, warm=True)
        for k in range(PASSES):
            for name in names:
                own = Path(folder) / f"own{k}{len(found)}"
                shutil.copytree(loops, own, ignore=shutil.ignore_patterns("kernels"))
                times = in_new_process(name, own, warm=True)
                best = found.setdefault(name, times)
                found[name] = {key: min(best[key], times[key]) for key in times}
                shutil.rmtree(own, ignore_errors=True)
    return found


def machine() -> float:
    """The very first run ever, of a four-bar [s]."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return in_new_process("four_bar", Path(folder) / "new", warm=False)["first"]


def beside(found: dict[str, dict[str, float]]) -> list[Row]:
    """What was built in space beside the same built in the plane, doubled joints beside single."""
    rows = []
    for name, times in found.items():
        others = {
            name.replace("space", "plane"): ("built in the plane", SPACE_GOAL),
            name.removesuffix(", doubled"): ("each joint once", DOUBLED_GOAL),
        }
        for other, (what, goal) in others.items():
            if other != name and other in found:
                rows += [
                    Row("first result", f"{name}, {key}", what, times[key], found[other][key], goal)
                    for key in ("first", "repeated")
                ]
    return rows


def first_results() -> list[Row]:
    """CPU seconds of the first call of each model, and of the very first run, beside a second."""
    found = all_models(list(MODELS))
    section, second = "first result", "1 s"
    rows = [
        Row(section, name, second, times["first"], 1.0, MODELS[name].goal)
        for name, times in found.items()
    ]
    rows += beside(found)
    rows.append(Row(section, "very first run on a machine", second, machine(), 1.0, MACHINE_GOAL))
    return rows


def report(found: dict[str, dict[str, float]], first_ever: float | None) -> int:
    """Print a table; how many goals are missed."""
    missed = 0
    print(f"{'first result of':30s}{'CPU [s]':>9s}{'goal':>7s}{'repeated [ms]':>16s}")
    for name, times in found.items():
        kept = times["first"] <= MODELS[name].goal
        missed += not kept
        told = f"{times['first']:9.3f}{MODELS[name].goal:7.1f}{1e3 * times['repeated']:16.2f}"
        print(f"{name:30s}{told}  {'kept' if kept else 'MISSED'}")
    for row in beside(found):
        missed += not row.kept
        print(f"{row.what} / {row.beside}: {row.ratio:.2f}  {'kept' if row.kept else 'MISSED'}")
    if first_ever is not None:
        kept = first_ever <= MACHINE_GOAL
        missed += not kept
        print(f"first run on a machine: {first_ever:.2f} s  {'kept' if kept else 'MISSED'}")
    return missed


def main() -> int:
    """Measure, print, and say whether goals are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models whose name has this text")
    parser.add_argument("--json", action="store_true", help="for machines")
    arguments = parser.parse_args()
    found = all_models([name for name in MODELS if arguments.only in name])
    first_ever = None if arguments.only else machine()
    if arguments.json:
        print(json.dumps({"models": found, "machine": first_ever}))
        return 0
    missed = report(found, first_ever)
    try:
        for n in (10, 100):
            print(f"MuJoCo compiles and steps chain({n}): {mujoco_first(n, 1.0):.3f} s")
    except ImportError:
        print("MuJoCo is not installed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
