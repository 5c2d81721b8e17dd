"""What users feel around the time loop: forces, the energy balance, and the natural call.

    python -m benchmarks.around               # about two minutes; sections of python -m benchmarks
    python -m benchmarks.around --only forces

*Forces* are force and moment of every joint at 501 saved states, beside MuJoCo, which is stepped to
the same instants and asked for the same by `mj_rnePostConstraint` (only that is timed, with the
forward dynamics that it needs), or beside our own run. *Energy balance* is `run.energy` and
`run.work` beside a run saved at the same states. *Natural call* is `m.simulate(until=…)` beside
`system.simulate(state, …)`, and that beside the time in compiled loops alone. *Built again* is a
mechanism that is built and simulated though an equal one was, beside another call of one. All
ratios are of CPU times in one process, the least of several passes in which candidates take turns;
the exit code is 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.engines.zwang import in_the_loop
from benchmarks.rows import PASSES, Row, least, table, warm
from zwang import library
from zwang.model_files.examples import example_path

STATES = 501
#: Beyond a ratio of a run, so much is allowed for what Python does around any call [s].
AROUND = 50e-6
#: What Python may take around the time loop [s].
CALL = 60e-6
#: How often a call may be repeated while an equal mechanism is built, guarded and simulated.
BUILT_AGAIN = 100.0
#: Moments of inertia of a rod of 1 kg and 1 m, about its axis as well.
ROD = (0.01, 1.0 / 12.0, 1.0 / 12.0)


def chain(n: int, *, planar: bool) -> zw.Mechanism:
    """Rods on pins about y, from the horizontal."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), **({"plane": "xz"} if planar else {}))
    last = m.ground
    for k in range(n):
        body = m.body(f"rod{k}", mass=1.0, inertia=ROD, position=(k + 0.5, 0, 0))
        m.revolute(f"pin{k}", last, body, at=(k, 0, 0), axis="y")
        last = body
    return m


def reactions(run: zw.Run) -> None:
    """Force and moment of every joint."""
    assert run.mechanism is not None
    for name in run.mechanism.joints:
        found = run.reaction(name)
        assert len(found.force) == len(found.moment)


def asked(make: Callable[[], zw.Run], question: Callable[[zw.Run], Any]) -> Callable[[], float]:
    """A question to a fresh run, of whose time the run is no part."""

    def ask() -> float:
        run = make()
        began = time.process_time()
        question(run)
        return time.process_time() - began

    warm(ask)
    return ask


def runs(m: zw.Mechanism, until: float) -> Callable[[], zw.Run]:
    """Makes runs of a mechanism with so many saved states."""
    system, start = m.system, m.assemble()
    times = np.linspace(0.0, until, STATES)

    def make() -> zw.Run:
        return system.simulate(start, until=until, tolerance=1e-8, integrator="auto", save=times)

    warm(make)
    return make


# --- forces ---------------------------------------------------------------------------------------


def mujoco_chain(n: int, states: int = STATES) -> Callable[[], float]:
    """Forces of all joints of the same chain at as many instants, by MuJoCo.

    Parameters
    ----------
    states : how many are measured; the time is that of `STATES`.
    """
    import mujoco as mj

    spec = mj.MjSpec()
    spec.option.timestep, spec.option.gravity = 1.0 / (STATES - 1), (0, 0, -9.81)
    parent: Any = spec.worldbody
    for k in range(n):
        at = (0.5, 0, 0) if k == 0 else (1.0, 0, 0)
        parent = parent.add_body(pos=at, mass=1.0, inertia=ROD, explicitinertial=True)
        parent.add_joint(type=mj.mjtJoint.mjJNT_HINGE, pos=(-0.5, 0, 0), axis=(0, 1, 0))
    model = spec.compile()
    data = mj.MjData(model)

    def forces() -> float:
        mj.mj_resetData(model, data)
        spent = 0.0
        for _ in range(states):
            began = time.process_time()
            mj.mj_forward(model, data)
            mj.mj_rnePostConstraint(model, data)
            spent += time.process_time() - began
            mj.mj_Euler(model, data)
        return spent * STATES / states

    return forces


def forces() -> list[Row]:
    """Beside MuJoCo where it is there, and beside our own runs."""
    rows: list[Row] = []
    times: dict[tuple[int, bool], float] = {}
    try:
        import mujoco  # noqa: F401 - is it there?
    except ImportError:
        print("MuJoCo is not installed: forces are measured beside our own runs alone")
        peers = False
    else:
        peers = True
    for n, planar, goal in ((10, True, 0.15), (100, False, 0.15), (100, True, 0.08)):
        ours = asked(runs(chain(n, planar=planar), 1.0), reactions)
        if peers:
            mine, theirs = least(ours, mujoco_chain(n))
            where = "plane" if planar else "space"
            rows.append(Row("forces", f"chain({n}), {where}", "MuJoCo", mine, theirs, goal))
        else:
            (mine,) = least(ours)
        times[n, planar] = mine
    thousand, hundred = asked(runs(chain(1000, planar=True), 0.2), reactions), times[100, True]
    if peers:  # 25 ms a state, and more than the square of the number of bodies
        long, theirs = least(thousand, mujoco_chain(1000, states=21))
        rows.append(Row("forces", "chain(1000), plane", "MuJoCo", long, theirs, 0.08))
    else:
        (long,) = least(thousand)
    rows.append(Row("forces", "chain(1000), plane", "chain(100), plane", long, hundred, 11.0))
    for name, until in (("bricard", 10.0), ("door", 5.0), ("stewart_platform", 1.0)):
        make = runs(getattr(library, name)(), until)
        mine, run = least(asked(make, reactions), make)
        rows.append(Row("forces", name, "its run", mine, run, 3.0))
    return rows


# --- energies and calls ---------------------------------------------------------------------------

MECHANISMS = {
    "four_bar": 2.0,
    "four_bars": 2.0,
    "parallelogram": 2.0,
    "slider_crank": 2.0,
    "theo_jansen_leg": 2.0,
    "andrews": 0.03,
    "bricard": 10.0,
    "door": 5.0,
    "stewart_platform": 1.0,
    "double_wishbone": 1.0,
    "universal_joint_shaft": 1.0,
    "spinning_top": 1.0,
    "rolling_coin": 2.0,
    "gyroscope": 1.0,
    "ball_governor": 1.0,
    "satellite": 1.0,
    "chain": 1.0,
    "net": 0.5,
    "whipple_bicycle": 1.0,
}


def energy_balance() -> list[Row]:
    """`run.energy` and `run.work` of all mechanisms of the library."""
    rows = []
    built = {name: (getattr(library, name)(), until) for name, until in MECHANISMS.items()}
    built["chain(1000)"] = chain(1000, planar=True), 0.2
    for name, (m, until) in built.items():
        make = runs(m, until)
        energy, work = asked(make, lambda run: run.energy), asked(make, lambda run: run.work)
        passes = 3 if name == "chain(1000)" else PASSES
        one, two, run = least(energy, work, make, passes=passes)
        rows.append(Row("energy balance", f"run.energy, {name}", "its run", one, run, 0.5, AROUND))
        rows.append(Row("energy balance", f"run.work, {name}", "its run", two, run, 2.0, AROUND))
    return rows


def pendulum() -> zw.Mechanism:
    """A rod on a pin, stated in space."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=ROD, position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m


def natural_call() -> list[Row]:
    """`m.simulate(until=…)`, `system.simulate(state, …)` and the compiled loop in it."""
    rows = []
    cases = {
        "chain(10)": chain(10, planar=True),
        "pendulum": pendulum(),
        "four_bar": library.four_bar(),
        "bricard": library.bricard(),  # has a row that is left out, and looked at
    }
    for name, m in cases.items():
        system, start = m.system, m.assemble()
        short: dict[str, Any] = {"until": 0.1, "tolerance": 1e-6, "save": [0.1]}

        def natural(m: zw.Mechanism = m, short: dict[str, Any] = short) -> None:
            m.simulate(**short)

        def direct(system: Any = system, start: Any = start, short: dict[str, Any] = short) -> None:
            system.simulate(start, **short)

        def inner(call: Callable[[], None] = direct) -> float:
            with in_the_loop() as spent:
                call()
            return spent[0]

        warm(natural, direct)
        one, two = least(natural, direct, passes=20)
        (three,) = least(inner)  # apart: what it wraps slows the next call down
        section = "natural call"
        rows.append(Row(section, f"m.simulate, {name}", "system.simulate", one, two, 1.1))
        rows.append(Row(section, f"system.simulate, {name}", "the loop", two, three, 1.0, CALL))
    return rows


def built_again() -> list[Row]:
    """A mechanism that is built and simulated each time, beside one that is simulated again."""
    rows = []
    file = example_path("four_bar")
    cases: dict[str, Callable[[], Any]] = {
        "four_bar": library.four_bar,
        "bricard": library.bricard,
        "stewart_platform": library.stewart_platform,
        "read_model": lambda: zw.read_model(file),
    }
    for name, make in cases.items():
        m = make()

        def again(make: Callable[[], Any] = make) -> None:
            make().simulate(until=0.1)

        def call(m: Any = m) -> None:
            m.simulate(until=0.1)

        warm(again, call)
        mine, repeated = least(again, call)
        rows.append(Row("built again", name, "the same one again", mine, repeated, BUILT_AGAIN))
    return rows


SECTIONS = {
    "forces": forces,
    "energy balance": energy_balance,
    "natural call": natural_call,
    "built again": built_again,
}


def main() -> int:
    """Print a table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="sections whose name has this text")
    options = parser.parse_args()
    rows = [row for name, make in SECTIONS.items() if options.only in name for row in make()]
    print("\n".join(table(rows)))
    return int(not all(row.kept for row in rows))


if __name__ == "__main__":
    sys.exit(main())
