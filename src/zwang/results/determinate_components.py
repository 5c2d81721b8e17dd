"""Components of reactions of a run that the motion determines, though not the reaction as a whole.

Multipliers may differ by any z with Aᵀz = 0. The bases A_gᵀ Z_g of a passport are what a joint's
force changes by then; a component of its wrench that none of them has is determinate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.diagnosis.passport import Status
from zwang.multibody.wrench import joint_wrench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zwang.results.determinate_outputs import Look
    from zwang.results.run import Run

__all__ = ["determinate_components"]

#: A change below this share of the largest of a joint's wrench is rounding.
NO_CHANGE = 1e-9


def determinate_components(run: Run, looks: Sequence[Look]) -> dict[str, np.ndarray]:
    """Joint → which components of its force and moment are determinate at the states that are
    looked at, booleans of shape (2, 3); without teeth, whose force has no such basis.
    """
    found: dict[str, np.ndarray] = {}
    for i, segment, passport in looks:
        equations = segment.system.equations.of_bodies
        if equations is None:
            return {}
        parts = equations.parts.at_vector(equations.parameter_vector(segment.parameters))
        for name, group in passport.groups.items():
            joint = parts.joints[name]
            if joint.toothed or joint.a is None or joint.b is None:
                continue
            own = found.setdefault(name, np.ones((2, 3), dtype=bool))
            changes = group.basis.T
            if changes.size and group.status is not Status.DETERMINATE:
                q = np.tile(run.q[i], (len(changes), 1))
                wrench = joint_wrench(parts, joint, changes, q)
                sizes = np.abs([wrench.force, wrench.moment]).max(axis=1)
                own &= sizes <= NO_CHANGE * max(sizes.max(), np.abs(changes).max())
    return found
