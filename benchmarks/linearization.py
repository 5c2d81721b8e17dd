"""What a linearization costs: its kernel, its call, and the modes of a long chain.

    python -m benchmarks.linearization [--json FILE]

Processor time, the least of many calls. Of chains of hinged rods in space: the kernel of all
derivatives, in evaluations of the terms times the number of velocities (goal: 3 of these), and the
whole call (goal: 2 ms up to 15 bodies). Of a planar chain of 1,000 links: linearization and its
first 20 modes (goal: 2 s). Beside them in the same run, where they are installed: Pinocchio's
derivatives of forward dynamics and Drake's `Linearize` of the same chains, and SymPy's linearizer
of a planar chain of three, derived and evaluated (`benchmarks.linearization_peers`). Eigenvalues of
all must agree.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zwang as zw
from benchmarks.linearization_peers import Peer, drake, pinocchio, sympy_chain
from zwang.analysis.equations_of import EquationsOf

__all__ = ["main"]

SECONDS = 0.5
#: Goals: evaluations of the terms for each velocity, seconds of a call, seconds of twenty modes.
KERNEL, CALL, MODES = 3.0, 2e-3, 2.0
#: Eigenvalues of different programs, relative to the largest.
SAME = 1e-8


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
    """Processor time of a call, the least of many."""
    act()
    began, least = time.thread_time(), np.inf
    while time.thread_time() - began < SECONDS:
        at = time.thread_time()
        act()
        least = min(least, time.thread_time() - at)
    return least


def beside(peer: Peer, own: np.ndarray, call: float) -> dict[str, Any]:
    """Time of a peer, its share of our call, and whether its eigenvalues are ours."""
    theirs, size = np.asarray(peer.eigenvalues()), float(np.abs(own).max())
    gap = max(float(np.abs(theirs - s).min()) for s in own) / size
    seconds = seconds_of(peer.call)
    print(
        f"     {peer.name:32} {1e6 * seconds:9.1f} µs, ratio of linearize to it "
        f"{call / seconds:8.2f}; eigenvalues differ by {gap:.0e}"
    )
    return {"peer": peer.name, "seconds": seconds, "ratio": call / seconds, "gap": gap}


def of_chain(bodies: int) -> dict[str, Any]:
    """A chain in space, beside its peers."""
    m = chain(bodies, plane=False)
    q, system = m.assemble().q, m.system
    equations = EquationsOf(system, 0.0, None)
    rest, lam = np.zeros(equations.nv), np.zeros(equations.rows)
    slopes = seconds_of(lambda: equations.slopes(q, rest, rest, lam))
    terms = seconds_of(lambda: equations.values(q))
    call = seconds_of(lambda: system.linearize(q))
    kernel = slopes / terms / equations.nv
    print(
        f"{bodies:3} bodies: derivatives {1e6 * slopes:8.1f} µs ({kernel:.2f} evaluations of the "
        f"terms for each velocity), linearize {1e3 * call:6.2f} ms"
    )
    own = system.linearize(q).eigenvalues
    peers = [beside(p, own, call) for p in (pinocchio(bodies), drake(bodies)) if p is not None]
    kept = kernel <= KERNEL and call <= CALL
    return {"bodies": bodies, "kernel": kernel, "seconds": call, "kept": kept, "peers": peers}


def of_planar_chain(links: int) -> dict[str, Any] | None:
    """A planar chain beside SymPy's linearizer; None without it."""
    derive = sympy_chain(links)
    if derive is None:
        return None
    began = time.thread_time()
    peer = derive()
    derived = time.thread_time() - began
    m = chain(links, plane=True)
    began = time.thread_time()
    lin = m.linearize(m.assemble().q)
    first = time.thread_time() - began
    call = seconds_of(lambda: m.linearize(lin.state))
    print(
        f"planar chain of {links}: linearize {1e3 * call:.2f} ms, first call {first:.2f} s; "
        f"SymPy derives it in {derived:.2f} s"
    )
    return {
        "links": links,
        "derived": derived,
        "first": first,
        **beside(peer, lin.eigenvalues, call),
    }


def of_modes() -> dict[str, Any]:
    """The first twenty modes of a chain of a thousand."""
    m = chain(1000, plane=True)
    q = m.assemble().q
    began = time.thread_time()
    modes = m.linearize(q).modes(20)
    spent = time.thread_time() - began
    print(f"chain of 1,000 links: {len(modes)} modes in {spent:.2f} s")
    return {"links": 1000, "seconds": spent, "kept": spent <= MODES}


def main() -> int:
    """Measure, print, and say by the exit code whether all goals are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    chains = [of_chain(bodies) for bodies in (1, 3, 5, 10, 15)]
    found = {"chains": chains, "planar": of_planar_chain(3), "modes": of_modes()}
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    peers = [p for c in chains for p in c["peers"]] + ([found["planar"]] if found["planar"] else [])
    kept = all(c["kept"] for c in chains) and found["modes"]["kept"]
    return int(not kept or any(p["gap"] > SAME for p in peers))


if __name__ == "__main__":
    raise SystemExit(main())
