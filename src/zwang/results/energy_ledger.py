"""Energy balance of a run: the work of forces, drivers, friction and impacts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from zwang.display import Displayed
from zwang.errors import InputError
from zwang.results.energies import constraints_do_work, only_potential_forces, powers
from zwang.results.event_rows import with_instants
from zwang.results.quadrature import Antiderivative, integral_of_samples
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
    """

    applied: FloatArray
    constraint: FloatArray
    nonideal: FloatArray
    inertia: FloatArray
    impulses: FloatArray
    balance: FloatArray


def work_of(run: Run) -> Work:
    """The energy balance of a run: potentials, and quadrature of the powers of other forces."""
    run, rows = with_instants(run)
    occupied = [s for s in run.segments if s.last > s.first]
    if any(run.t[a.last - 1] != run.t[b.first] for a, b in pairwise(occupied)):
        raise InputError(
            "work of a run",
            must="have the instants of its events",
            but="this run of an earlier version did not save them",
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
    """Work of each kind from the first saved state of a segment to each of them."""
    here = slice(segment.first, segment.last)
    system, V, t = segment.system, run.potential_energy, run.t[here]
    conservative = only_potential_forces(system)
    if conservative and not constraints_do_work(system):
        assert V is not None
        none = np.zeros(len(t))
        unworking: dict[str, FloatArray] = dict.fromkeys(NAMES, none)
        return {**unworking, "applied": V[segment.first] - V[here]}

    def power(q: FloatArray, v: FloatArray, times: FloatArray) -> FloatArray:
        found = powers(system, (q, v, times), segment.parameters)
        return np.array([found[name] for name in NAMES])

    def between(times: FloatArray) -> FloatArray:
        return power(*run.between(run, times), times)

    whole = run.t[-1] - run.t[0]
    # What is next to nothing beside energies, over the time of the run, need not be known well.
    energy = np.abs(run.kinetic_energy).max() + (0.0 if V is None else np.abs(V).max())
    error, size = SHARE * run.settings.tolerance, energy / whole
    work = None
    if len(t) >= run.counts.steps * (t[-1] - t[0]) / whole:
        work = integral_of_samples(t, power(run.q[here], run.v[here], t), error, size)
    if work is None:
        length = max(whole / max(run.counts.steps, 1), STATES * (t[-1] - t[0]) / len(t))
        work = Antiderivative(between, t[0], t[-1], length, error, size)(t)
    found: dict[str, FloatArray] = dict(zip(NAMES, work, strict=True))
    if conservative:  # without an error of quadrature
        assert V is not None
        found["applied"] = V[segment.first] - V[here]
    return found
