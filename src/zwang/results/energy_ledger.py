"""The ledger of work: where the energy of a run came from and went to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError
from zwang.results.energies import powers
from zwang.results.event_rows import with_instants
from zwang.results.quadrature import Antiderivative
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run, Segment

__all__ = ["Work", "work_of"]

#: Powers whose sum is the rate of the kinetic energy.
NAMES = ("applied", "constraint", "nonideal", "inertia")
#: What the last polynomials of a power may be, in tolerances of the run: their integral over a
#: piece of a step is less by far, and the states they come from are no better.
SHARE = 10.0
#: So many saved states to a piece are enough to begin with, however short steps are.
STATES = 8


@dataclass(frozen=True)
class Work:
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
    """

    applied: FloatArray
    constraint: FloatArray
    nonideal: FloatArray
    inertia: FloatArray
    impulses: FloatArray
    balance: FloatArray


def work_of(run: Run) -> Work:
    """The ledger of a run, by quadrature of the powers between saved states."""
    run, rows = with_instants(run)
    occupied = [s for s in run.segments if s.last > s.first]
    if any(run.t[a.last - 1] != run.t[b.first] for a, b in pairwise(occupied)):
        raise InputError(
            "work",
            found="a run of an earlier version, with events whose instants were not saved",
            expected="one that knows them",
            advice="Simulate it again.",
        )
    steps = {name: np.zeros(len(run.t)) for name in (*NAMES, "impulses")}
    T = run.kinetic_energy
    for segment in run.segments:
        first, last = segment.first, segment.last
        if last == first:
            continue
        if first:
            steps["impulses"][first] = T[first] - T[first - 1]
        if last - first == 1:
            continue
        for name, work in _work_between(run, segment).items():
            steps[name][first + 1 : last] = np.diff(work)
    sums = {name: np.cumsum(values) for name, values in steps.items()}
    balance = T - T[:1] - np.sum(list(sums.values()), axis=0)
    every = {**sums, "balance": balance}
    # From the first saved state on.
    return Work(
        **{name: (x - x[rows[:1]])[rows] if len(rows) else x[:0] for name, x in every.items()}
    )


def _work_between(run: Run, segment: Segment) -> dict[str, FloatArray]:
    """Work of each kind from the first saved state of a stretch to each of them."""
    t = run.t[segment.first : segment.last]

    def power(times: FloatArray) -> FloatArray:
        q, v = run.between(run, times)
        found = powers(segment.system, (q, v, times), segment.parameters)
        return np.array([found[name] for name in NAMES])

    whole = run.t[-1] - run.t[0]
    length = max(whole / max(run.counts.steps, 1), STATES * (t[-1] - t[0]) / len(t))
    # What is next to nothing beside energies, over the time of the run, need not be known well.
    V = run.potential_energy
    energy = np.abs(run.kinetic_energy).max() + (0.0 if V is None else np.abs(V).max())
    error = SHARE * run.settings.tolerance
    work = Antiderivative(power, t[0], t[-1], length, error, energy / whole)
    return dict(zip(NAMES, work(t), strict=True))
