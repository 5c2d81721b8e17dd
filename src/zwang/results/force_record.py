"""Forces and energies that are computed while a run is made, and kept with its states.

    acceleration        (time, velocity)      v̇
    multiplier          (time, row)           λ of all rows, of least norm
    constraint_force    (time, velocity)      Aᵀλ + C
    reaction_force      (time, joint, axis)   of joints on their second bodies, ground axes
    reaction_moment     (time, joint, axis)   about the joint's point
    determinate         (time, joint)         whether the motion determines a reaction
    kinetic_energy      (time,)
    potential_energy    (time,)

They are those that a run computes when it is asked for them, and stand in their place. Rows and
joints are those of the whole system; while one does not act its numbers are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.errors import UnknownNameError, ZwangError
from zwang.results.event_rows import changed
from zwang.results.forces import StretchForces, told_for_all_joints
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.results.run import Run
    from zwang.results.segments import Segment
    from zwang.system import System

__all__ = ["ForceLayout", "ForceRecord", "RecordedForces", "computed_forces", "with_forces"]

#: States whose forces are computed at a time: some megabytes of a mechanism of a hundred bodies.
BATCH = 4096

#: Array → dimensions after time, unit for a mechanism, description.
QUANTITIES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "acceleration": (("velocity",), "", "rates of the velocities"),
    "multiplier": (("row",), "", "Lagrange multipliers, of least norm where rows are redundant"),
    "constraint_force": (("velocity",), "", "generalized force of all constraints"),
    "reaction_force": (("joint", "axis"), "N", "force of a joint on its second body, ground axes"),
    "reaction_moment": (
        ("joint", "axis"),
        "N m",
        "moment of a joint on its second body about the joint's point, ground axes",
    ),
    "determinate": (("joint",), "", "1 where the motion determines the reaction of a joint"),
    "kinetic_energy": ((), "J", "kinetic energy"),
    "potential_energy": ((), "J", "potential energy"),
}
#: Those that only a mechanism has.
OF_JOINTS = {"reaction_force", "reaction_moment", "determinate"}


@dataclass(frozen=True)
class ForceLayout:
    """Which arrays a record has, and the names along them.

    Attributes
    ----------
    arrays : names of `QUANTITIES`.
    groups : constraint → its rows.
    rows, joints : labels.
    mechanism : whether units are those of mechanics; of functions they are the user's own.
    """

    arrays: tuple[str, ...]
    groups: Mapping[str, tuple[int, ...]]
    rows: tuple[str, ...]
    joints: tuple[str, ...]
    mechanism: bool

    @classmethod
    def of_system(cls, system: System) -> ForceLayout:
        """That of the runs of a system."""
        parts = system.mechanism
        joints: list[str] = []
        left_out = set()
        if parts is None:
            left_out |= OF_JOINTS
            if system.opaque or system.model.V is None:
                left_out.add("potential_energy")
        else:
            joints = [n for n, j in parts.joints.items() if j.a is not None and j.b is not None]
            if system.equations.rows_independent or not told_for_all_joints(system.equations):
                left_out.add("determinate")  # always, or asked for when it is wanted
        groups = {name: tuple(rows) for name, rows in system.groups.items()}
        arrays = tuple(name for name in QUANTITIES if name not in left_out)
        return cls(arrays, groups, tuple(system.row_names), tuple(joints), parts is not None)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> ForceLayout:
        """From plain values."""
        groups = {name: tuple(rows) for name, rows in plain["groups"].items()}
        rows, joints = tuple(plain["rows"]), tuple(plain["joints"])
        return cls(tuple(plain["arrays"]), groups, rows, joints, plain["mechanism"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for storage."""
        return {
            "arrays": list(self.arrays),
            "groups": {name: list(rows) for name, rows in self.groups.items()},
            "rows": list(self.rows),
            "joints": list(self.joints),
            "mechanism": self.mechanism,
        }

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Dimension → names along it, but for the velocities."""
        labels = {"row": self.rows}
        return {**labels, "joint": self.joints, "axis": ("x", "y", "z")} if self.joints else labels

    def shape(self, name: str, velocities: int) -> tuple[int, ...]:
        """Of one state."""
        sizes = {"velocity": velocities, **{k: len(v) for k, v in self.labels.items()}}
        return tuple(sizes.get(dimension, 0) for dimension in QUANTITIES[name][0])

    def width(self, velocities: int) -> int:
        """Numbers of one state."""
        return sum(int(np.prod(self.shape(name, velocities))) for name in self.arrays)

    def unit(self, name: str) -> str:
        """Of an array; empty where it differs along it, or is the user's own."""
        return QUANTITIES[name][1] if self.mechanism else ""


class ForceRecord:
    """Forces and energies at the saved states of a run.

    Parameters
    ----------
    layout : names and shapes.
    read : gives an array by its name; each is asked for once.
    """

    def __init__(self, layout: ForceLayout, read: Callable[[str], FloatArray]) -> None:
        self.layout, self._read = layout, read
        self._arrays: dict[str, FloatArray] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: all arrays, in memory."""
        return _remade, (self.layout, self.arrays())

    def __contains__(self, name: object) -> bool:
        return name in self.layout.arrays

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def arrays(self) -> dict[str, FloatArray]:
        """All of them."""
        return {name: self[name] for name in self.layout.arrays}

    def along(self, run: Run) -> tuple[tuple[Segment, StretchForces], ...]:
        """Segments of its run with saved states, each with its forces."""
        return tuple((s, RecordedForces(run, self, s)) for s in run.segments if s.last > s.first)

    def reaction(self, joint: str) -> tuple[FloatArray, FloatArray]:
        """Force and moment of a joint in ground axes, each (nt, 3)."""
        k = self._joint(joint)
        return self["reaction_force"][:, k].copy(), self["reaction_moment"][:, k].copy()

    def determinate(self, joint: str) -> np.ndarray:
        """Whether the motion determines the reaction of a joint, booleans (nt,)."""
        return self["determinate"][:, self._joint(joint)] != 0.0

    def _joint(self, name: str) -> int:
        if name not in self.layout.joints:
            raise UnknownNameError("joint", name, self.layout.joints)
        return self.layout.joints.index(name)


def _remade(layout: ForceLayout, arrays: Mapping[str, FloatArray]) -> ForceRecord:
    return ForceRecord(layout, dict(arrays).__getitem__)


class RecordedForces(StretchForces):
    """Forces along a segment of a run, from its record."""

    def __init__(
        self,
        run: Run,
        record: ForceRecord,
        segment: Segment,
    ) -> None:
        # A run that was loaded without its system has no equations, and needs none for most.
        self._system, self.parameters, self._record = segment.system, segment.parameters, record
        here = self._here = slice(segment.first, segment.last)
        self._run, self.t = run, run.t[here]

    @computed_once
    def q(self) -> FloatArray:
        """Coordinates, shape (n, nq)."""
        return self._run.q[self._here]

    @computed_once
    def v(self) -> FloatArray:
        """Velocities, shape (n, nv)."""
        return self._run.v[self._here]

    @property
    def equations(self) -> Equations:
        """Those of the constraints that act."""
        return self._system.equations

    @property
    def p(self) -> FloatArray:
        """Parameters as one array."""
        return self._system.parameter_vector(self.parameters)

    @computed_once
    def groups(self) -> Mapping[str, Sequence[int]]:
        """Constraint that acts → its rows."""
        return self._system.groups

    @property
    def acceleration(self) -> FloatArray:
        """v̇, shape (n, nv)."""
        return self._record["acceleration"][self._here]

    @property
    def multipliers(self) -> FloatArray:
        """λ of the rows that act, shape (n, m)."""
        groups, whole = self.groups, self._record.layout.groups
        columns = np.empty(sum(map(len, groups.values())), dtype=int)
        for name, rows in groups.items():
            columns[list(rows)] = whole[name]
        return self._record["multiplier"][self._here][:, columns]

    @property
    def constraint_force(self) -> FloatArray:
        """Aᵀλ + C, shape (n, nv)."""
        return self._record["constraint_force"][self._here]


# --- computing ------------------------------------------------------------------------------------


def with_forces(run: Run) -> Run:
    """A run with the forces at all its saved states; where one has none it is no number."""
    if not len(run) or run.force_record is not None:
        return run
    layout = ForceLayout.of_system(run.system)
    arrays, notes = computed_forces(run, layout)
    notes = tuple(note for note in notes if note not in run.notes)
    return replace(run, force_record=_remade(layout, arrays), notes=(*run.notes, *notes))


def computed_forces(run: Run, layout: ForceLayout) -> tuple[Mapping[str, FloatArray], list[str]]:
    """Arrays of a record at all saved states of a run, and what could not be computed."""
    count, nv = len(run.t), run.v.shape[1]
    arrays = {name: np.zeros((count, *layout.shape(name, nv))) for name in layout.arrays}
    notes: list[str] = []
    for first in range(0, count, BATCH):
        here = slice(first, min(first + BATCH, count))
        part = _rows_of(run, here)
        try:
            compute_part(part, layout, {name: array[here] for name, array in arrays.items()})
        except ZwangError as error:
            for name, array in arrays.items():
                array[here] = 0.0 if name == "determinate" else np.nan
            notes.append(f"from t = {part.t[0]:.6g} s on forces could not be computed: {error}")
    return arrays, notes


def _rows_of(run: Run, here: slice) -> Run:
    """A run of some saved states of another."""
    segments = []
    for s in run.segments:
        first, last = max(s.first, here.start), min(s.last, here.stop)
        if last > first:
            segments.append(replace(s, first=first - here.start, last=last - here.start))
    return changed(run, t=run.t[here], q=run.q[here], v=run.v[here], segments=tuple(segments))


def compute_part(run: Run, layout: ForceLayout, into: Mapping[str, FloatArray]) -> None:
    """Forces and energies at all saved states of a run, into arrays."""
    into["acceleration"][...] = run.acceleration
    into["constraint_force"][...] = run.constraint_force()
    for name, rows in layout.groups.items():
        into["multiplier"][:, list(rows)] = run.multipliers(name)
    for k, joint in enumerate(layout.joints):
        reaction = run.reaction(joint)
        into["reaction_force"][:, k], into["reaction_moment"][:, k] = (
            reaction.force,
            reaction.moment,
        )
        if "determinate" in into:
            into["determinate"][:, k] = reaction.determinate
    into["kinetic_energy"][...] = run.kinetic_energy
    if "potential_energy" in into:
        V = run.potential_energy
        into["potential_energy"][...] = 0.0 if V is None else V
