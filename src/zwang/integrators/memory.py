"""Integrators: what compiled time loops remember between steps, and why they return.

State, memory and counts of a loop are arrays [entry][lane]; the constants below name the entries.
What a loop remembers is enough to stop anywhere and go on with the same bits.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "BUDGET",
    "DONE",
    "EVENT",
    "FULL",
    "HANDOVER",
    "LEAVES",
    "NOT_FINITE",
    "NO_FURTHER",
    "NO_ROOT",
    "OFF_CONSTRAINTS",
    "ROWS_NEAR",
    "SINGULAR",
    "TOO_SMALL",
    "UNDER_WAY",
]

# Why the loop returned.
DONE, FULL, BUDGET, EVENT, TOO_SMALL, NOT_FINITE, NO_ROOT, SINGULAR = 0, 1, 2, 3, 4, 5, 6, 7
HANDOVER = 8  # one of several lanes has ended
OFF_CONSTRAINTS = 9  # a fixed step ended where it could not be put on its constraints
LEAVES = 10  # another method would do with less work, and may take over from the present state
ROWS_NEAR = 11  # rows that act come near to depending on each other, and others do not act
GOES_ON = -1  # of a part of a step: the loop does not return
#: The same loop goes on from there.
UNDER_WAY = frozenset({FULL, BUDGET, EVENT, SINGULAR})
#: No step leads on: among others, where rows that act depend on each other.
NO_FURTHER = frozenset({TOO_SMALL, NOT_FINITE})

# Real numbers the loop remembers for each lane.
T, H, ERROR, SAVED, PIVOT, HIGHEST, AHEAD, LOOKED = 0, 1, 2, 3, 4, 5, 6, 7
REALS = 8
# Whole numbers the loop remembers for each lane.
(
    REJECTED,
    NEAR,
    ACCEPTS,
    REJECTS,
    EVALUATIONS,
    PROJECTIONS,
    NEXT,
    DEFICIT,
    ACTIVE,
    AVOIDED,
    JACOBIANS,
    FACTORISATIONS,
    AT_STABILITY,
    ENDED,
    FALLING,
    APPROACHES,
    WARY,  # whether steps that pass singular positions need projected stages
    HELD,  # looks, or steps, that found another method to do with less work
    SMOOTH,  # looks in a row at sampled states that found Radau IIA to
    SAMPLED,  # states that were sampled to see that
) = range(20)
COUNTS = 20

FAILED_PROJECTION = 0.6  # change of h after a projection that did not contract
AVOIDANCE = 0.7  # change of h when the new point would lie where the rows have just lost rank
AVOIDANCES = 4  # how often in a row; then the loss is taken to be lasting
PI_BETA = 0.05  # weight of the previous error in step control
LEAST_ERROR = np.log(1e-4)  # logarithm of the error of the step before, at least
NO_ERROR = 1e-9  # errors count as no less, so that they have logarithms
LAST_STEP = 1.0000001  # so much longer, and a step takes the place of a tiny one after it
SAFETY = 0.9
GROWTH, SHRINK = 6.0, 0.2  # largest and smallest change of h in a step
STAGES_KEPT = 3  # accepted steps with projected stages after a rejection or such a position
RANK_PIVOT = 1e-7  # relative pivots below this belong to dependent rows (1e5 times δ)
