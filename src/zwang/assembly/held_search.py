"""The configuration with requested values in which other joints stay as they were placed.

First whatever is beyond the joint of a requested coordinate moves as a whole; that is all where
joints form no loop. What loops ask for besides is a search for the nearest configuration, in which
joints outside the loops keep their coordinates. Joints that moved although nothing made them, since
a loop has more degrees of freedom than values were given, are noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.assembly.joint_moves import Branches, moved_by_joints, off_by
from zwang.assembly.newton import NewtonResult, is_met, place
from zwang.caching import computed_once
from zwang.diagnosis.wording import first_of
from zwang.linalg.rank import nullspace
from zwang.multibody.joint_coordinates import RATE, value_and_rate
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.assembly.mechanism import AssemblyTable

__all__ = ["HeldSearch"]

#: Changes of joint coordinates below this are not noted [m, rad].
NOTED = 1e-6
#: A coordinate is free that changes by this share of a unit motion which the conditions leave.
FREE = 1e-7
#: Of mechanisms with more velocities it is not asked which coordinates are free.
LARGEST = 500


class HeldSearch:
    """Searches for requested values from one placement.

    Parameters
    ----------
    q : where bodies were placed.
    named : all that is requested.
    """

    def __init__(self, table: AssemblyTable, q: FloatArray, named: Iterable[str]) -> None:
        self.table, self.start, self.named = table, q, frozenset(named)
        self.searched = False

    def nearest(self, q: FloatArray, requests: Mapping[str, Any]) -> NewtonResult:
        """The configuration near q with requested values of coordinates and bodies."""
        table, conditions = self.table, self.table.conditions(requests)
        of_joints = {name: x for name, x in requests.items() if name in self._coordinates}
        if not of_joints:
            return place(conditions, q)
        own = {name: x for name, x in of_joints.items() if _joint(name) in self._branches.dividing}
        if own:
            q = moved_by_joints(table, self._closed(q), own, self._branches)
        if not is_met(conditions, q):
            self.searched = True
            found = self._with_others_kept(q, requests)
            if found is not None:
                return found
        return place(conditions, q)

    def _with_others_kept(self, q: FloatArray, requests: Mapping[str, Any]) -> NewtonResult | None:
        """The configuration in which joints outside loops stay; None if there is none nearby."""
        if any(name in self.table.equations.coordinates for name in requests):
            return None
        others = [
            name
            for name in self._coordinates
            if name not in self.named and _joint(name) in self._branches.dividing
        ]
        if not others:
            return None
        closed = self._closed(q)
        kept = {name: float(value_and_rate(self._state(name, closed))[0]) for name in others}
        found = place(self.table.conditions({**requests, **kept}), q)
        return found if found.met else None

    def notes(self, found: NewtonResult) -> tuple[str, ...]:
        """Which joint coordinates moved that the requests leave free, in words."""
        G = found.slopes
        if not self.searched or G.shape[1] > LARGEST:
            return ()
        Z = nullspace(G if isinstance(G, np.ndarray) else G.toarray(), 1e-10)
        if not Z.shape[1]:
            return ()
        start, moved = self._closed(self.start), []
        for name in self._coordinates:
            if name in self.named:
                continue
            state, slope = self.table.state_and_slope(self._channels[name], found.q)
            off = off_by(state, float(value_and_rate(self._state(name, start))[0]))
            if abs(off) > NOTED and np.abs(slope @ Z).max() > FREE:
                moved.append(f"{name} by {off:.4g} {'rad' if len(state) == 3 else 'm'}")
        if not moved:
            return ()
        free = "the requested values leave other joints free, and the nearest configuration moved"
        return (f"{free} {first_of(moved)}: hold what is to stay",)

    def _closed(self, q: FloatArray) -> FloatArray:
        """q, or the nearest configuration that satisfies the joints."""
        conditions = self.table.conditions({})
        if is_met(conditions, q):
            return q
        found = place(conditions, q)
        return found.q if found.met else q

    def _state(self, name: str, q: FloatArray) -> FloatArray:
        return self.table.state_and_slope(self._channels[name], q)[0]

    @property
    def _channels(self) -> Any:
        return self.table.equations.joint_channels

    @computed_once
    def _coordinates(self) -> tuple[str, ...]:
        """Coordinates of all joints."""
        return tuple(name for name in self._channels.names if not name.endswith(RATE))

    @computed_once
    def _branches(self) -> Branches:
        parts = self.table.parts
        owners = dict.fromkeys(
            parts.owner(row.split("[")[0]) for row in self.table.names("position")
        )
        held = [i for i, body in enumerate(parts.bodies) if body.name in self.named]
        return Branches.of(parts, owners, held)


def _joint(name: str) -> str:
    return name.partition(".")[0]
