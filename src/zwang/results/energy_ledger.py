"""Energy balance of a run: the work of forces, drivers, friction and impacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from zwang.display import Displayed, without_rounding
from zwang.errors import InputError
from zwang.results.energies import (
    acting_powers,
    constraints_do_work,
    only_potential_forces,
    powers,
)
from zwang.results.event_rows import changed, with_instants
from zwang.results.quadrature import Antiderivative, integrals_of_samples
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.results.segments import Segment

__all__ = ["Work", "work_of"]

#: Powers whose sum is the rate of the kinetic energy.
NAMES = ("applied", "constraint", "nonideal", "inertia")
#: What the last polynomials of a power may be, in tolerances of the run: their integral over a
#: piece of a step is less by far, and the states they come from are no better.
SHARE = 10.0
#: Pieces that a step is divided into.
PIECES = 2
#: So many saved states to a piece are enough to begin with, however short steps are.
STATES = 8


@dataclass(frozen=True, repr=False)
class Work(Displayed):
    """Work done from the start to each saved state, arrays (nt,).

    Attributes
    ----------
    applied : by the applied force Q, forces of a potential included.
    constraint : by the ideal constraint forces, as moving constraints do.
    nonideal : by the non-ideal forces C.
    inertia : ∫ ½ vᵀ Ṁ v dt, what a mass matrix that changes takes up; for M(q) it is what Q's
        velocity terms give back, so that the two cancel.
    impulses : by impulses at events.
    balance : T − T₀ minus all of these: zero up to the error of the run.
    summed : size of the energies that these were computed from [J].
    """

    applied: FloatArray
    constraint: FloatArray
    nonideal: FloatArray
    inertia: FloatArray
    impulses: FloatArray
    balance: FloatArray
    summed: float = 0.0

    def __str__(self) -> str:
        """What was done up to the last state, and by how much the balance is off at most."""
        if not len(self.balance):
            return "no saved states"
        kinds_of_work = self.applied, self.constraint, self.nonideal, self.inertia, self.impulses
        size = max(self.summed, *(float(np.abs(x).max()) for x in kinds_of_work))
        done = [
            f"{without_rounding(value[-1], size):.6g} J by {words}"
            for words, value in (
                ("applied forces", self.applied),
                ("constraints", self.constraint),
                ("non-ideal forces", self.nonideal),
                ("inertia that changes", self.inertia),
                ("impulses", self.impulses),
            )
            if without_rounding(float(np.abs(value).max()), size)
        ]
        off = float(np.abs(self.balance).max())
        kinds = ", ".join(done) or "none"
        return (
            f"work to the last of {len(self.balance)} states: {kinds}; balance within {off:.2g} J"
        )


def work_of(run: Run) -> Work:
    """The energy balance of a run: potentials, and quadrature of the powers of other forces."""
    known, (run, rows) = with_instants(run)[0], with_instants(_stretches(run))
    occupied = [s for s in run.segments if s.last > s.first]
    if any(run.t[a.last - 1] != run.t[b.first] for a, b in pairwise(occupied)):
        raise InputError(
            "work of a run",
            must="have the instants of its events",
            but="this run of an earlier version did not save them",
            advice="Simulate it again.",
        )
    table = np.zeros((len(NAMES) + 2, len(run.t)))  # the last row is for the balance
    steps: dict[str, FloatArray] = dict(zip((*NAMES, "impulses"), table, strict=False))
    T = run.kinetic_energy
    for segment in run.segments:
        first, last = segment.first, segment.last
        if last == first:
            continue
        if first:
            steps["impulses"][first] = T[first] - T[first - 1]
        if run.t[last - 1] == run.t[first]:  # as between impacts that accumulate
            continue
        for name, work in _work_between(run, segment, known).items():
            steps[name][first + 1 : last] = np.diff(work)
    np.cumsum(table[:-1], axis=1, out=table[:-1])
    table[-1] = T - T[:1] - np.sum(table[:-1], axis=0)
    if len(rows):  # from the first saved state on
        table = (table - table[:, rows[:1]]).take(rows, axis=1)
    V = run.potential_energy
    energies = np.abs(T).max(initial=0.0) + (0.0 if V is None else np.abs(V).max(initial=0.0))
    return Work(*(table if len(rows) else table[:, :0]), summed=float(energies))


def _stretches(run: Run) -> Run:
    """A run whose segments are one where only the method changed: the motion is smooth there."""
    stretches = list(run.segments[:1])
    for before, s in pairwise(run.segments):
        if _goes_on(run, before, s):
            stretches[-1] = replace(stretches[-1], last=s.last)
        else:
            stretches.append(s)
    same = len(stretches) == len(run.segments)
    return run if same else changed(run, segments=tuple(stretches))


def _goes_on(run: Run, before: Segment, after: Segment) -> bool:
    """Whether a segment is of the same motion as the one before, by another method."""
    began, system = after.began, after.system
    if began is None or before.integrator == after.integrator or system is not before.system:
        return False
    scales = 1.0 if run.scales is None else run.scales
    allowed = run.settings.tolerance * np.maximum(np.abs(began.found), scales)
    return np.array_equal(before.p, after.p) and bool(
        np.all(np.abs(began.left - began.found) <= allowed)
    )


def _work_between(run: Run, segment: Segment, known: Run) -> dict[str, FloatArray]:
    """Work of each kind from the first saved state of a segment to each of them.

    States between them are those of `known`, whose segments are of one method each.
    """
    here = slice(segment.first, segment.last)
    system, V, t = segment.system, run.potential_energy, run.t[here]
    conservative = only_potential_forces(system)
    if conservative and not constraints_do_work(system):
        assert V is not None
        none = np.zeros(len(t))
        unworking: dict[str, FloatArray] = dict.fromkeys(NAMES, none)
        return {**unworking, "applied": V[segment.first] - V[here]}

    names = acting_powers(system)

    def power(q: FloatArray, v: FloatArray, times: FloatArray) -> FloatArray:
        found = powers(system, (q, v, times), segment.parameters)
        return np.array([found[name] for name in names])

    def between(times: FloatArray) -> FloatArray:
        return power(*known.between(known, times), times)

    whole = run.t[-1] - run.t[0]
    # What is next to nothing beside energies, over the time of the run, need not be known well.
    energy = np.abs(run.kinetic_energy).max() + (0.0 if V is None else np.abs(V).max())
    error, size = SHARE * run.settings.tolerance, energy / whole
    sampled = None
    if len(t) >= run.counts.steps * (t[-1] - t[0]) / whole:
        sampled = integrals_of_samples(t, power(run.q[here], run.v[here], t), error, size)
    if sampled is None:
        work = Antiderivative(between, _edges(known, t[0], t[-1]), error, size)(t)
    else:
        steps, rough = sampled
        if rough.stop > rough.start:
            there = t[rough.start : rough.stop + 1]
            steps[:, rough] = np.diff(Antiderivative(between, there, error, size)(there))
        work = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    found: dict[str, FloatArray] = dict(zip(names, work, strict=True))
    if conservative:  # without an error of quadrature
        assert V is not None
        found["applied"] = V[segment.first] - V[here]
    return found


def _edges(run: Run, first: float, last: float) -> FloatArray:
    """Ends of pieces on which powers are smooth, about, in each segment between two times."""
    step, edges = (run.t[-1] - run.t[0]) / max(run.counts.steps, 1), [np.array([first])]
    for s in run.segments:
        states = s.last - s.first
        a, b = run.t[[s.first, s.last - 1]] if states else (first, first)
        if first <= a < b <= last:
            length = max(step, STATES * (b - a) / states)
            count = max(int(np.ceil(PIECES * (b - a) / length)), 1)
            edges.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(edges)
