"""Inverse dynamics: a Stewart platform with heavy legs, and an open chain beside its peers.

    python -m benchmarks.efforts

Processor time of 1,000 samples, the least of several calls. Of the platform, whose loops
Pinocchio's and Drake's inverse dynamics do not have: goal 50 ms after compilation. Of a chain of
fifteen hinged rods with a motor in each: the same efforts by Pinocchio's and Drake's recursive
Newton–Euler algorithm in joint coordinates, called once for each sample.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.linearization import chain
from benchmarks.linearization_peers import DrakeChain, PinocchioChain

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from analysis.robots import Stewart

#: What the call may take after compilation, in seconds of processor time.
LIMIT = 0.05
#: Efforts of different programs, relative to the largest.
SAME = 1e-9
SAMPLES, LINKS = 1000, 15


def least(act: Callable[[], Any], calls: int = 5) -> float:
    """Processor time of a call, the least of some."""
    times = []
    for _ in range(calls):
        begun = time.process_time()
        act()
        times.append(time.process_time() - begun)
    return min(times)


def platform() -> bool:
    """Whether the platform keeps its goal."""
    robot = Stewart()
    motion = robot.mechanism(driven=True).kinematics(times=np.linspace(0.0, 1.0, SAMPLES))
    m, names = robot.mechanism(), [f"leg{i}.displacement" for i in range(6)]
    first = least(lambda: m.inverse_dynamics(motion, names), 1)
    later = least(lambda: m.inverse_dynamics(motion, names))
    print(f"Stewart platform: first call {first:.2f} s, later {1e3 * later:.1f} ms")
    return later <= LIMIT


def open_chain() -> bool:
    """Whether all programs find the same efforts of a chain."""
    m, driven = chain(LINKS, plane=False), chain(LINKS, plane=False)
    names = [f"pin{k}.angle" for k in range(LINKS)]
    for k, name in enumerate(names):
        driven.drive(f"motor{k}", name, lambda t, k=k: 0.2 * np.sin((2.0 + 0.1 * k) * t))
    motion = driven.kinematics(times=np.linspace(0.0, 1.0, SAMPLES))
    efforts = np.array(list(m.inverse_dynamics(motion, names).effort.values())).T
    own = least(lambda: m.inverse_dynamics(motion, names))
    print(f"chain of {LINKS}: {1e3 * own:.1f} ms")
    q, v, a = (
        np.column_stack([motion[f"{name}{end}"] for name in names])
        for end in ("", "_rate", "_acceleration")
    )
    same = True
    for name, made in (("Pinocchio", PinocchioChain), ("Drake", DrakeChain)):
        try:
            peer = made(LINKS)
        except ImportError:
            continue
        gap = float(np.abs(peer.efforts(q, v, a) - efforts).max() / np.abs(efforts).max())
        theirs = least(lambda peer=peer: peer.efforts(q, v, a))
        print(f"     {name:10} {1e3 * theirs:6.1f} ms, ratio {own / theirs:.2f}, gap {gap:.0e}")
        same = same and gap <= SAME
    return same


def main() -> int:
    """Measure and print; 1 where a goal is missed or efforts differ."""
    kept = [platform(), open_chain()]
    return int(not all(kept))


if __name__ == "__main__":
    raise SystemExit(main())
