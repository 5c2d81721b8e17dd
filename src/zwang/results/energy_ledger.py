"""The ledger of work: where the energy of a run came from and went to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.linalg.products import dot
from zwang.results.event_rows import with_instants
from zwang.results.sparse_run import ByElements
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.system import System
    from zwang.tracing.traced_model import TracedModel

__all__ = ["Work", "powers", "work_of"]

#: Gauss–Legendre nodes between two saved states: order 16, above that of any integrator here, so
#: that the quadrature is as good as the states.
NODES = 8


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


def powers(
    system: System, q: FloatArray, v: FloatArray, t: FloatArray, parameters: Mapping[str, Any]
) -> dict[str, FloatArray]:
    """Powers whose sum is the rate of the kinetic energy, each (nt,)."""
    if isinstance(system, ByElements):
        found = system.balance(q, v, t, parameters)
        return {
            "applied": found.applied_power,
            "constraint": found.constraint_power,
            "nonideal": found.nonideal_power,
            "inertia": np.zeros(len(q)),  # masses of bodies are constant
        }
    s = system.solve(q, v, t, parameters=parameters)
    arguments = system.arguments(q, v, t, parameters)
    (inertia,) = system.evaluator("inertia_power", _inertia, *arguments)
    return {
        "applied": dot(s.terms.applied_force, v),
        "constraint": dot(s.constraint_force - s.terms.nonideal_force, v),
        "nonideal": dot(s.terms.nonideal_force, v),
        "inertia": inertia[..., 0],
    }


def _inertia(model: TracedModel) -> dict[str, Any]:
    """dT/dt at fixed v: ½ vᵀ Ṁ v."""
    from zwang.tracing.differentiate import rate

    return {"power": rate(model.T, model.state)}


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
    names = ("applied", "constraint", "nonideal", "inertia")
    steps = {name: np.zeros(len(run.t)) for name in (*names, "impulses")}
    T = run.kinetic_energy
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    for segment in run.segments:
        first, last = segment.first, segment.last
        if last == first:
            continue
        if first:
            steps["impulses"][first] = T[first] - T[first - 1]
        if last - first == 1:
            continue
        a, b = run.t[first : last - 1], run.t[first + 1 : last]
        half = 0.5 * (b - a)
        times = (a[:, None] + half[:, None] * (1.0 + nodes)).ravel()
        q, v = run.between(run, times)
        power = powers(segment.system, q, v, times, segment.parameters)
        for name in names:
            steps[name][first + 1 : last] = half * (power[name].reshape(-1, NODES) @ weights)
    sums = {name: np.cumsum(values) for name, values in steps.items()}
    balance = T - T[:1] - np.sum(list(sums.values()), axis=0)
    every = {**sums, "balance": balance}
    # From the first saved state on.
    return Work(
        **{name: (x - x[rows[:1]])[rows] if len(rows) else x[:0] for name, x in every.items()}
    )
