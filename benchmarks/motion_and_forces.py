"""Motion to 1e-6 m by a call with defaults, without forces and with those of every joint.

Our side is `m.simulate(until=…, tolerance=…, save=…)`, the whole call, and then
`run.reaction(joint)` of every joint at every saved state. The other side is the fastest setting of
each engine that is installed and reached 1e-6 m in the stored comparison, measured again beside
ours. To its time we add what MuJoCo, the one engine with a call for it, takes for the forces of
all joints at as many states, whichever engine is the fastest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.beside_peers import PASSES, Peers
from benchmarks.cases import WORKS, Work
from benchmarks.engines.zwang import mechanism
from benchmarks.rows import Row, least, warm

__all__ = ["GOALS", "motion_and_forces"]

LEVEL = 1e-6
#: Case → goal for the motion, and with forces on both sides.
GOALS = {
    "chain(10)": (0.05, 0.08),
    "chain(100)": (0.05, 0.08),
    "skew_chain(10)": (0.10, 0.13),
    "four_bars(1)": (0.005, 0.006),
    "four_bars(2)": (0.006, 0.007),
    "four_bars(40)": (0.005, 0.006),
    "bricard": (0.004, 0.005),
}
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


def motion_and_forces(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Rows of all cases, without and with forces."""
    rows: list[Row] = []
    for name, goals in GOALS.items():
        found = _case(WORKS[name](), goals)
        rows += found
        for row in found:
            ours, theirs = 1e3 * row.ours, 1e3 * row.yardstick
            told = f"{row.what:<28} {ours:8.3f} ms {row.beside} {theirs:8.3f} ms"
            say(f"{told} {row.ratio:.4f} ≤ {row.goal:g} {'kept' if row.kept else 'MISSED'}")
    return [row.plain() for row in rows]


def _case(work: Work, goals: tuple[float, float]) -> list[Row]:
    m = mechanism(work)
    tolerance = _loosest(m, work)

    def motion() -> Any:
        return m.simulate(until=work.until, tolerance=tolerance, save=work.times)

    def with_forces() -> None:
        run = motion()
        assert run.mechanism is not None
        for joint in run.mechanism.joints:
            run.reaction(joint)

    warm(with_forces)
    ours = [np.inf, np.inf]
    with Peers(work, LEVEL) as peers:
        for _ in range(PASSES):
            found = least(lambda: motion() and None, with_forces, passes=2)
            ours = [min(a, b) for a, b in zip(ours, found, strict=True)]
            peers.take_turn()
    if peers.best is None:
        return []
    best, theirs = peers.best
    forces = _mujoco_forces(work)
    section = "motion and forces"
    return [
        Row(section, work.name, best, ours[0], theirs, goals[0]),
        Row(section, f"{work.name}, with forces", best, ours[1], theirs + forces, goals[1]),
    ]


def _loosest(m: Any, work: Work) -> float:
    """The tolerance of the fastest call that is accurate enough."""
    spent: dict[float, float] = {}
    for tolerance in TOLERANCES:
        choices = {"until": work.until, "tolerance": tolerance, "save": work.times}
        warm(lambda c=choices: m.simulate(**c))
        run = m.simulate(**choices)
        places = np.stack([run.body(f"b{k}").center for k in work.points], axis=1)
        if run.finished and work.error(places) <= LEVEL:
            (spent[tolerance],) = least(lambda c=choices: m.simulate(**c) and None, passes=5)
    return min(spent, key=spent.__getitem__)


def _mujoco_forces(work: Work) -> float:
    """Seconds for the forces of all joints at all saved states; nothing without MuJoCo."""
    try:
        import mujoco as mj

        from benchmarks.engines.mujoco import build
    except ImportError:
        return 0.0
    model, data = build(work, 1e-3)

    def forces() -> float:
        began = time.process_time()
        for _ in work.times:
            mj.mj_forward(model, data)
            mj.mj_rnePostConstraint(model, data)
        return time.process_time() - began

    return least(forces)[0]
