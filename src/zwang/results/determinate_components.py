"""Components of reactions of a run that the motion determines, though not the reaction as a whole.

Multipliers may differ by any z with Aᵀz = 0. The bases A_gᵀ Z_g of a passport are what a joint's
force changes by then; a component of its wrench that none of them has is determinate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.multibody.wrench import joint_wrench

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["determinate_components"]

#: Saved states that are looked at, evenly spread: axes of the ground turn against the bodies.
STATES = 5
#: A change below this share of the largest of a joint's wrench is rounding.
NO_CHANGE = 1e-9


def determinate_components(run: Run, name: str) -> np.ndarray:
    """Which components of force and moment of a joint are determinate at the states that are
    looked at, booleans of shape (2, 3); of teeth, whose force has no such basis, none.
    """
    found = np.ones((2, 3), dtype=bool)
    for i in np.unique(np.linspace(0, len(run) - 1, STATES).astype(int)):
        segment = next(s for s in run.segments if s.first <= i < s.last)
        equations = segment.system.equations.of_bodies
        if equations is None:
            return np.zeros((2, 3), dtype=bool)
        parts = equations.parts.at_vector(equations.parameter_vector(segment.parameters))
        joint = parts.joints[name]
        if joint.kind is not None and joint.kind.contact is not None:
            return np.zeros((2, 3), dtype=bool)
        state = run.q[i], run.v[i], float(run.t[i])
        group = segment.system.passport(*state, parameters=segment.parameters).groups.get(name)
        if group is None or not group.basis.size:  # it does not act, or nothing is open
            continue
        changes = group.basis.T
        wrench = joint_wrench(parts, joint, changes, np.tile(run.q[i], (len(changes), 1)))
        sizes = np.abs([wrench.force, wrench.moment]).max(axis=1)
        found &= sizes <= NO_CHANGE * sizes.max()
    return found
