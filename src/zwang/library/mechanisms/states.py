"""Random states of ready-made mechanisms that satisfy their joints."""

from __future__ import annotations

import numpy as np

from zwang.errors import AssemblyError
from zwang.mechanism import Mechanism
from zwang.state import State

__all__ = ["mechanism_states"]

#: How far a state may lie from the placement, in each free direction [m, rad], and how often a
#: state that cannot be closed is drawn again.
FAR = 0.3
ATTEMPTS = 20


def mechanism_states(m: Mechanism, rng: np.random.Generator, count: int) -> State:
    """States near the placement with all joints closed, each moving at random.

    A free motion of random size leads away from the placement; there the joints are closed again,
    and random velocities are changed as little as they need to be.
    """
    system = m.system
    here = system.assemble()
    freedoms = system.explain(here).freedoms
    drawn = []
    for _ in range(count):
        for _ in range(ATTEMPTS):
            move = freedoms @ rng.standard_normal(freedoms.shape[1])
            move *= rng.uniform(0.1, FAR) / max(float(np.abs(move).max()), 1e-12)
            v = freedoms @ rng.standard_normal(freedoms.shape[1])
            q = system.of_bodies.on_unit_length(here.q + system.position_rate(here.q, move))
            try:
                drawn.append(system.assemble(start=State(q, v, 0.0)))
            except AssemblyError:
                continue
            break
    q, v = (np.array([getattr(state, x) for state in drawn]) for x in "qv")
    return State(q, v, np.zeros(len(drawn)))
