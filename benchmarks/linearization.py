"""What a linearization costs: its kernel, its call, and the modes of a long chain.

    python -m benchmarks.linearization

Processor time. Of chains of hinged rods in space: the kernel of all derivatives, in accelerations
times the number of velocities (goal: 3 of these), and the whole call (goal: 2 ms up to 15 bodies).
Of a planar chain of 1,000 links: linearization and its first 20 modes (goal: 2 s).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import zwang as zw
from zwang.analysis.equations_of import EquationsOf

__all__ = ["main"]

SECONDS = 1.0


def chain(links: int, *, plane: bool) -> zw.Mechanism:
    """Rods that hang below each other."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz" if plane else None)
    last: Any = m.ground
    for k in range(links):
        down = -k - 0.5
        rod = m.body(
            f"rod{k}",
            mass=1.0,
            inertia=0.1 if plane else (0.1, 0.12, 0.05),
            position=(0.0, down) if plane else (0.0, 0.0, down),
        )
        at = (0.0, -float(k)) if plane else (0.0, 0.0, -float(k))
        m.revolute(f"pin{k}", last, rod, at=at, axis=None if plane else "xy"[k % 2])
        last = rod
    return m


def seconds_of(act: Callable[[], Any]) -> float:
    """Processor time of a call, in the mean."""
    act()
    began, calls = time.thread_time(), 0
    while time.thread_time() - began < SECONDS:
        act()
        calls += 1
    return (time.thread_time() - began) / calls


def main() -> int:
    """Measure and print."""
    for bodies in (1, 3, 5, 10, 15):
        m = chain(bodies, plane=False)
        q, system = m.assemble().q, m.system
        equations = EquationsOf(system, 0.0, None)
        rest, lam = np.zeros(equations.nv), np.zeros(equations.rows)
        slopes = seconds_of(lambda e=equations, q=q, v=rest, x=lam: e.slopes(q, v, v, x))
        terms = seconds_of(lambda e=equations, q=q: e.values(q))
        call = seconds_of(lambda s=system, q=q: s.linearize(q))
        print(
            f"{bodies:3} bodies: derivatives {1e6 * slopes:8.1f} µs "
            f"({slopes / terms / equations.nv:.2f} evaluations of the terms for each velocity), "
            f"linearize {1e3 * call:6.2f} ms"
        )
    m = chain(1000, plane=True)
    q = m.assemble().q
    began = time.thread_time()
    lin = m.linearize(q)
    modes = lin.modes(20)
    spent = time.thread_time() - began
    print(f"chain of 1,000 links: {len(modes)} modes in {spent:.2f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
