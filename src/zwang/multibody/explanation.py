"""Multibody diagnosis: loops, redundant equations, motions and conflicts of a mechanism by joint.

Ranks are those of `zwang.explain`. For a set of joints alone, with A_s their rows at the velocities
of the bodies they join, equations beyond rank A_s are redundant among them, and n_s − rank A_s
degrees of freedom remain, less those of the whole set as one body where the ground is not part of
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from zwang.diagnosis.explanation import LISTED_IN_REPORT, Explanation
from zwang.diagnosis.wording import listing, number, shortened
from zwang.display import counted
from zwang.linalg.rank import DEFAULT_TOLERANCES, equilibrate
from zwang.multibody.connections import bodies_in_words, connections, connections_in_words
from zwang.multibody.frozen import Parts
from zwang.multibody.graph import loops
from zwang.multibody.motion_words import body_motion, joint_rates, moving_bodies
from zwang.multibody.unknown_tooth_forces import UNTOLD, untold_joints
from zwang.terms import EquationTerms, FloatArray

__all__ = [
    "JointSet",
    "MechanismExplanation",
    "explained",
    "in_bodies",
    "joined",
    "motions",
    "without_inertia",
]

#: Joint rates below this, relative to the largest, are rounding.
NOISE = 1e-9
#: Joints of a group that are named one by one: a mechanism of usual size has no more.
NAMED = 24
#: Rates of joints in a motion whose largest velocity is about 1 below this are rest.
STILL = 1e-6


@dataclass(frozen=True)
class JointSet:
    """Some joints by themselves: a loop, or joints whose equations depend on each other.

    Attributes
    ----------
    joints : names.
    freedoms : degrees of freedom that they leave their bodies relative to each other.
    redundancy : how many of their equations follow from the others.
    loop : whether they follow each other round.
    """

    joints: tuple[str, ...]
    freedoms: int
    redundancy: int
    loop: bool

    def __str__(self) -> str:
        verb = "is" if self.redundancy == 1 else "are"
        redundant = counted(self.redundancy, "equation") if self.redundancy else "no equations"
        if not self.loop:
            return f"{redundant} among {_named(self.joints)} {verb} redundant"
        left = counted(self.freedoms, "freedom") if self.freedoms else "no freedom"
        return (
            f"the loop of joints {_named(self.joints)} leaves {left}; "
            f"{redundant} among these {verb} redundant"
        )


@dataclass(frozen=True, repr=False)
class MechanismExplanation(Explanation):
    """The diagnosis of a mechanism at a state.

    Attributes
    ----------
    bodies : their names, extra coordinates among them.
    bodies_counted : how many there are, in words.
    joints : names of joints, with drivers and constraints of the user's.
    connections : how many of them are joints, drivers, couplers and own constraints.
    loops : a basis of the loops of joints.
    dependent_joints : joints and constraints whose equations depend on each other.
    motions : the degrees of freedom in words of joints, or of bodies.
    undetermined_motions : motions with neither mass nor constraint, in words.
    conflicts : groups of joints, drivers and constraints that contradict each other.
    without_inertia : what is missing → the bodies that M is singular for.
    """

    bodies: tuple[str, ...] = ()
    bodies_counted: str = ""
    joints: tuple[str, ...] = ()
    connections: Mapping[str, int] = field(default_factory=dict)
    loops: tuple[JointSet, ...] = ()
    dependent_joints: tuple[JointSet, ...] = ()
    motions: tuple[str, ...] = ()
    undetermined_motions: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    without_inertia: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def _head(self) -> str:
        bodies = self.bodies_counted or counted(len(self.bodies), "body", "bodies")
        joined = connections_in_words(self.connections or {"joint": len(self.joints)})
        return (
            f"{bodies}, {joined}: {self.coordinate_count} velocities, "
            f"{counted(self.constraint_count, 'equation')} of rank {self.ranks['A']}, "
            f"{counted(self.degrees_of_freedom, 'degree')} of freedom."
        )

    def freedom(self, index: int) -> str:
        """One of the degrees of freedom in words."""
        return self.motions[index]

    def _about_mass(self) -> list[str]:
        told = [f"{what}: {shortened(names)}" for what, names in self.without_inertia.items()]
        lines = super()._about_mass()
        if told and self.ranks["M"] < self.coordinate_count:
            lines[-1] = f"{lines[-1].removesuffix('.')}. Without {'; without '.join(told)}."
        return lines

    def _about_rows(self) -> list[str]:
        if not self.constraint_count:
            return []
        sets = [s for s in self.loops if s.redundancy]
        told = {frozenset(s.joints) for s in sets}
        sets += [s for s in self.dependent_joints if frozenset(s.joints) not in told]
        plain = [s for s in self.loops if not s.redundancy]
        lines = [] if self.redundancy else ["No equation is redundant."]
        lines += [f"{_sentence(str(s))}." for s in (*sets, *plain)[:LISTED_IN_REPORT]]
        more = len(sets) + len(plain) - LISTED_IN_REPORT
        if more > 0:
            lines.append(f"… and {more} more loops and groups")
        return lines

    def _about_contradictions(self) -> list[str]:
        if not self.contradictions:
            return []
        return [f"{_sentence(listing(names))} contradict each other." for names in self.conflicts]

    def _about_motion(self) -> list[str]:
        lines = []
        if not self.unique:
            said = "; ".join(self.undetermined_motions)
            lines.append(f"The acceleration is not unique. Neither mass nor constraint: {said}.")
        if self.redundancy:
            lines.append("Not all reactions are determinate; passport() reports which are.")
        return lines


def _named(joints: Sequence[str]) -> str:
    """All names, but of a group too large to be read."""
    if len(joints) > NAMED or len(joints) < 2:
        return shortened(joints)
    return f"{', '.join(joints[:-1])} and {joints[-1]}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def explained(
    parts: Parts, q: FloatArray, terms: EquationTerms, found: Explanation
) -> MechanismExplanation:
    """A diagnosis in words of the mechanism's joints and bodies."""
    system = _Sets(parts, terms)
    names = [parts.owner(name.split("[")[0]) for name in found.names]
    groups = [tuple(dict.fromkeys(names[i] for i in g.rows)) for g in found.dependent_groups]
    conflicts = [
        tuple(dict.fromkeys(parts.described(names[i]) for i in c.rows))
        for c in found.contradictions or ()
    ]
    facts = {f.name: getattr(found, f.name) for f in fields(Explanation)}
    facts["notes"] = (*found.notes, *(f"{j.name} {UNTOLD}" for j in untold_joints(parts)))
    facts["freedoms"], said = motions(parts, q, found.freedoms)
    acting = [j for j in parts.joints.values() if j.name in system.rows]
    return MechanismExplanation(
        **facts,
        bodies=tuple(b.name for b in parts.bodies),
        bodies_counted=bodies_in_words(b.kind for b in parts.bodies),
        joints=tuple(j.name for j in acting),
        connections=connections(acting),
        loops=tuple(system.of(loop, loop=True) for loop in loops(acting)),
        dependent_joints=tuple(system.of(group, loop=False) for group in joined(groups)),
        motions=tuple(said),
        undetermined_motions=tuple(in_bodies(parts, q, d) for d in found.undetermined.T),
        conflicts=tuple(dict.fromkeys(conflicts)),
        without_inertia=without_inertia(parts, terms.mass_matrix.diagonal()),
    )


def without_inertia(parts: Parts, diagonal: FloatArray) -> dict[str, tuple[str, ...]]:
    """Bodies by what they lack: mass, moments of inertia, or that of a thin rod about its axis.

    Parameters
    ----------
    diagonal : of the mass matrix.
    """
    found: dict[str, tuple[str, ...]] = {}
    _, starts = parts.places
    for body, first, last in zip(parts.bodies, starts, starts[1:], strict=False):
        own = diagonal[first:last]
        half = (len(own) + 1) // 2  # two and an angle in a plane, three and three in space
        if not own[:half].any():
            lacking = "mass"
        elif len(own) > 1 and not own[half:].any():
            lacking = "moments of inertia"
        elif body.singular:
            lacking = "a moment of inertia about their axes"
        else:
            continue
        found[lacking] = (*found.get(lacking, ()), body.name)
    return found


def joined(groups: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Groups that share a joint as one, in the order in which they come."""
    result: list[tuple[str, ...]] = []
    for group in groups:
        meeting = [other for other in result if set(other) & set(group)]
        result = [other for other in result if other not in meeting]
        result.append(tuple(dict.fromkeys(x for part in (*meeting, group) for x in part)))
    return result


class _Sets:
    """Ranks of some joints by themselves."""

    def __init__(self, parts: Parts, terms: EquationTerms) -> None:
        self.parts, self.A = parts, terms.constraint_matrix
        self.d, _ = equilibrate(terms.mass_matrix, self.A)
        self.rows: dict[str, list[int]] = {}
        for i, name in enumerate(terms.names):
            self.rows.setdefault(name.split("[")[0], []).append(i)

    def of(self, joints: tuple[str, ...], *, loop: bool) -> JointSet:
        """Degrees of freedom and redundant equations of some joints."""
        members = [self.parts.joints[name] for name in joints]
        rows = [i for j in members for i in self.rows.get(j.name, ())]
        bodies = sorted({b for j in members for b in j.bodies})
        _, starts = self.parts.places
        columns = [k for b in bodies if b >= 0 for k in range(starts[b], starts[b + 1])]
        A = self.A[np.ix_(rows, columns)] * self.d[columns]
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        A = np.divide(A, lengths, out=np.zeros_like(A), where=lengths > 0.0)
        rank = int(np.linalg.matrix_rank(A, tol=DEFAULT_TOLERANCES.rank)) if A.size else 0
        rigid = 0 if -1 in bodies else {3: 3, 6: 6}.get(self.parts.kind.nv, 0)
        return JointSet(joints, max(0, len(columns) - rank - rigid), len(rows) - rank, loop)


def motions(parts: Parts, q: FloatArray, freedoms: FloatArray) -> tuple[FloatArray, list[str]]:
    """The freedoms, each led by one joint where joints distinguish them, and in words."""
    joints = joint_rates(parts, q)
    rates = joints.times(freedoms)
    if rates.size:
        freedoms, rates = _led(freedoms, rates)
    said = [
        _in_joints(joints.names, rate) or in_bodies(parts, q, d)
        for d, rate in zip(freedoms.T, rates.T, strict=True)
    ]
    return freedoms, said


def in_bodies(parts: Parts, q: FloatArray, d: FloatArray) -> str:
    """A motion in words of the bodies that take part in it."""
    return shortened([body_motion(parts, b, q, d) for b in moving_bodies(parts, d)])


def _led(freedoms: FloatArray, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Another basis: each motion has one joint's rate 1 that is 0 in the others (Gauss–Jordan)."""
    freedoms, rates = freedoms.copy(), rates.copy()
    done = 0
    limit = NOISE * np.abs(rates).max(initial=0.0)
    for row in range(len(rates)):
        if done == freedoms.shape[1]:
            break
        k = done + int(np.argmax(np.abs(rates[row, done:])))
        if not abs(rates[row, k]) > max(limit, STILL):
            continue
        pivot = rates[row, k]
        for x in (freedoms, rates):
            x[:, [done, k]] = x[:, [k, done]]
            x[:, done] /= pivot
        factors = rates[row].copy()
        factors[done] = 0.0
        freedoms -= np.outer(freedoms[:, done], factors)
        rates -= np.outer(rates[:, done], factors)
        done += 1
    return freedoms, rates


def _in_joints(channels: Sequence[str], rates: FloatArray) -> str:
    """``pin.angle changes at 1, elbow.angle at −1/2``; empty where no joint moves."""
    largest = np.abs(rates).max(initial=0.0)
    moving = np.flatnonzero(np.abs(rates) > NOISE * largest).tolist() if largest > STILL else []
    if not moving:
        return ""
    first, *others = (f"{channels[i]} {{}} {number(float(rates[i]))}" for i in moving)
    told = [first.format("changes at"), *(text.format("at") for text in others)]
    return ", ".join(told[:8]) + (f" and {len(told) - 8} more" if len(told) > 8 else "")
