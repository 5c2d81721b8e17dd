"""Verification after a simulation: whether stored forces belong to the stored states.

They must satisfy the full terms of the system as it was given, all rows, evaluated by nothing that
computed them:

    M v̇ = Q + F,   A v̇ = b,   F = Aᵀλ + C(λ),   Zᵀλ = 0 for Z = N(Aᵀ)

and reactions of joints must be those of their multipliers, energies those of the states, and a
reaction is determinate where no multipliers in N(Aᵀ) make a force of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import PassedOn
from zwang.linalg.residual_rounding import ROUNDINGS, free_acceleration, rounding_of_rows
from zwang.results.force_record import ForceRecord
from zwang.results.mechanism_run import joint_wrenches
from zwang.results.verify import ForceCheck
from zwang.simulation.full_terms import FullTerms, full_terms
from zwang.terms import EPSILON, FloatArray
from zwang.tracing.rhs_rounding import rhs_rounding, summed_sizes, time_rounding

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.results.run import Run
    from zwang.results.segments import Segment

__all__ = ["check_forces"]

#: Relative to the sizes of what is added up. Forces come with doubts of 1e-10 at most, and next to
#: singular positions rows that are nearly dependent leave a few digits less.
LIMIT = 1e-8
#: Rows of which less than the first is independent, relative, depend on others; between the two
#: nothing is decided.
NONE_LEFT, SOME_LEFT = 1e-12, 1e-6
#: Entries of A beyond which no dependencies are looked for.
LARGE = 250_000


class _Largest:
    """The largest value of each check."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[float, float]] = {}

    def add(
        self,
        name: str,
        difference: Any,
        size: Any,
        t: float,
        rounding: Callable[[], float] | None = None,
    ) -> None:
        """A difference beside the size of what it is a difference of; one that is no number is
        as large as can be, and stays so.

        Where all that is compared is next to nothing, as of a structure at rest, both sides may be
        no more than `rounding` of larger numbers that cancelled; it is asked for then alone.
        """
        gap = float(np.abs(difference).max(initial=0.0)) if np.size(difference) else 0.0
        limit = LIMIT * float(size) + np.finfo(float).tiny
        if rounding is not None and np.isfinite(gap) and gap > limit:
            gap = max(gap - rounding(), 0.0)
        value = gap / limit
        value = value if np.isfinite(value) else np.inf
        if value > self.values.get(name, (-1.0, 0.0))[0]:
            self.values[name] = value, t


#: What each check means if it fails.
_SENTENCES = {
    "equations of motion": "the kept accelerations and forces do not satisfy M v̇ = Q + Q_c",
    "constraint equations": "the kept accelerations do not satisfy the constraints",
    "multipliers": "the kept multipliers do not give the kept constraint forces",
    "least norm": "the kept multipliers are not those of least norm",
    "reactions": "the kept reactions are not those of the kept multipliers",
    "energies": "the kept energies are not those of the states",
    "determinacy": "the kept determinacy of a reaction is not that of the constraints",
}


def check_forces(run: Run, most: int | None) -> ForceCheck | None:
    """Look at the forces that are kept with a run, at so many states; None if it has none."""
    record = run.force_record
    if record is None or not len(run):
        return None
    largest, notes, count = _Largest(), [], 0
    for segment in run.segments:
        size = segment.last - segment.first
        if size == 0:
            continue
        share = size if most is None else min(size, most)
        rows = segment.first + np.unique(np.linspace(0, size - 1, share).astype(int))
        known = np.isfinite(record["acceleration"][rows]).all(axis=1)
        if not known.all():
            notes.append(f"{np.count_nonzero(~known)} states have no forces")
            rows = rows[known]
        count += len(rows)
        parts = segment.system.mechanism
        if parts is not None and parts.workless:
            notes.append("forces of teeth that push apart are not checked")
        else:
            _equations(largest, run, record, segment, rows)
        _energies(largest, run, record, segment, rows)
    if not notes:
        _reactions(largest, run, record)
    figures = tuple(
        (name, value, f"at t = {t:.6g} s {_SENTENCES[name]}")
        for name, (value, t) in largest.values.items()
    )
    return ForceCheck(figures, count, tuple(dict.fromkeys(notes)))


def _equations(
    largest: _Largest, run: Run, record: ForceRecord, segment: Segment, rows: np.ndarray
) -> None:
    """The equations of motion, the constraints, and what multipliers have to do with both."""
    equations = segment.system.equations
    p = equations.parameter_vector(segment.parameters)
    columns = np.empty(len(equations.row_names), dtype=int)
    for name, own in equations.groups.items():
        columns[list(own)] = record.layout.groups[name]
    for i in rows:
        q, v, t = run.q[i], run.v[i], float(run.t[i])
        f = full_terms(equations, np.concatenate([q, v]), t, p)
        a, force = record["acceleration"][i], record["constraint_force"][i]
        lam = record["multiplier"][i, columns]
        law = 0.0 if f.law is None else f.law(lam)[0]
        inertial, of_rows = f.M @ a, f.A.T @ lam + law
        size = sum(np.abs(x).max(initial=0.0) for x in (inertial, f.Q, force))
        in_force = partial(_summed, equations, (q, v, t), p, "force")
        largest.add("equations of motion", inertial - f.Q - of_rows, size, t, in_force)
        if lam.size:
            both = np.abs(f.b).max(initial=0.0) + abs(f.A).max() * np.abs(a).max()
            in_rows = partial(_rounding, equations, f, (q, v, t), p, (a, lam))
            largest.add("constraint equations", f.A @ a - f.b, both, t, in_rows)
        stated = _force_without_reaction(equations, q, v, t, p)
        largest.add("multipliers", of_rows + stated - force, size, t, in_force)
        if lam.size and f.A.shape[0] * f.A.shape[1] <= LARGE and not equations.rows_independent:
            A = f.A if isinstance(f.A, np.ndarray) else f.A.toarray()
            dependencies = _dependencies(A)
            if dependencies is not None:
                largest.add("least norm", dependencies.T @ lam, np.abs(lam).max(initial=0.0), t)
                _determinacy(largest, record, i, (A, dependencies, equations.groups), t)


def _force_without_reaction(
    equations: Equations, q: FloatArray, v: FloatArray, t: float, p: FloatArray
) -> FloatArray | float:
    """C of laws that do not look at their reaction, which the full terms have in Q."""
    if equations.by_elements is not None or equations.model.ideal or equations.reaction_dependent:
        return 0.0
    return equations.evaluator("nonideal", lambda m: {"C": m.C}, q, v, np.asarray(t), p)[0]


def _rounding(
    equations: Equations,
    f: FullTerms,
    state: tuple[FloatArray, FloatArray, float],
    p: FloatArray,
    kept: tuple[FloatArray, FloatArray],
) -> float:
    """What rounding may leave of A a − b, see `rounding_of_rows`; `kept` are a and λ.

    a is what is left of the forces that act and of those of all rows, which may cancel: a light arm
    that carries a heavy load has far larger ones than its own weight.
    """
    (q, v, t), (a, lam) = state, kept
    inertia, sizes = f.M.diagonal(), abs(f.A)

    def right_sides(w: FloatArray, at: float) -> FloatArray:
        return full_terms(equations, np.concatenate([q, w]), at, p).b

    in_b = rhs_rounding(lambda w: right_sides(w, t), inertia, v, f.b)
    in_b += time_rounding(lambda at: right_sides(v, at), t, f.b)
    forces = np.abs(f.Q) + sizes.T @ np.abs(lam)
    summed = np.abs(f.b) + sizes @ (np.abs(a) + free_acceleration(forces, inertia))
    return float(rounding_of_rows(summed, len(v), in_b)[0])


class _SummedSizes(PassedOn):
    """Sizes of what is summed in the forces that act, and in the potential energy."""

    def __init__(self, equations: Equations) -> None:
        import casadi as ca

        m = equations.model
        s, potential = m.state, ca.SX(0) if m.V is None else m.V
        inputs = [s.q, s.v, s.t, s.p]
        sums = [ca.densify(summed_sizes(ca.densify(x), inputs)) for x in (m.Q, potential)]
        self.functions = {
            name: ca.Function(name, inputs, [x])
            for name, x in zip(("force", "energy"), sums, strict=True)
        }


def _summed(
    equations: Equations, state: tuple[FloatArray, FloatArray, float], p: FloatArray, name: str
) -> float:
    """What rounding may leave of forces that cancel, springs against each other for one, or of
    potential energies; 0 where functions are called, in which nothing can be followed.
    """
    if equations.opaque:
        return 0.0
    q, v, t = state
    sizes = equations.cache.once(_SummedSizes, lambda: _SummedSizes(equations))
    largest = float(np.max(np.array(sizes.functions[name](q, v, t, p)), initial=0.0))
    return ROUNDINGS * math.sqrt(len(v)) * EPSILON * largest


def _dependencies(A: FloatArray) -> FloatArray | None:
    """A basis of N(Aᵀ), shape (m, k); None where it is not clear which rows are dependent."""
    U, sizes, _ = np.linalg.svd(A)
    share = np.zeros(len(A))
    share[: len(sizes)] = sizes / max(sizes[0], np.finfo(float).tiny)
    if np.any((share > NONE_LEFT) & (share < SOME_LEFT)):
        return None
    return U[:, share <= NONE_LEFT]


def _determinacy(
    largest: _Largest,
    record: ForceRecord,
    i: int,
    rows: tuple[FloatArray, FloatArray, Mapping[str, Sequence[int]]],
    t: float,
) -> None:
    """Dependencies make no force of a joint that is kept as determinate, and some of another."""
    if "determinate" not in record:
        return
    A, Z, groups = rows
    for k, name in enumerate(record.layout.joints):
        own = list(groups.get(name, ()))  # none while it does not act
        part = np.abs(A[own].T @ Z[own]).max(initial=0.0)
        share = part / max(float(np.abs(A[own]).max(initial=0.0)), np.finfo(float).tiny)
        if not NONE_LEFT < share < SOME_LEFT:
            kept = bool(record["determinate"][i, k])
            largest.add("determinacy", float(kept != (share <= NONE_LEFT)), 1.0, t)


def _reactions(largest: _Largest, run: Run, record: ForceRecord) -> None:
    """Forces and moments of joints, from their rows."""
    if run.mechanism is None:
        return
    for name in record.layout.joints:
        kept = np.concatenate(record.reaction(name), axis=1)
        wanted = np.concatenate(joint_wrenches(run, run.mechanism.joints[name]), axis=1)
        size = np.abs(kept).max(axis=1, initial=0.0) + np.abs(wanted).max(axis=1, initial=0.0)
        gap = np.abs(kept - wanted).max(axis=1)
        # Of a moment that vanishes no digit is known beside those of the whole mechanism.
        least = LIMIT * np.abs(record["constraint_force"]).max(axis=1, initial=0.0)
        # Where one is no number, that is the largest.
        i = int(np.argmax(gap / (size + least + np.finfo(float).tiny)))
        largest.add("reactions", gap[i], size[i] + least[i], float(run.t[i]))


def _energies(
    largest: _Largest, run: Run, record: ForceRecord, segment: Segment, rows: np.ndarray
) -> None:
    """Energies of the states."""
    states = run.q[rows], run.v[rows], run.t[rows]
    equations = segment.system.equations
    p = equations.parameter_vector(segment.parameters)
    T, V = segment.system.energy(*states, parameters=segment.parameters)
    for name, wanted in (("kinetic_energy", T), ("potential_energy", V)):
        if name in record and wanted is not None:
            gap = np.abs(record[name][rows] - wanted)
            if gap.size:
                i = int(np.argmax(gap))
                size = np.abs(wanted).max() + np.abs(T).max()
                at = run.q[rows[i]], run.v[rows[i]], float(run.t[rows[i]])
                in_sum = partial(_summed, equations, at, p, "energy")
                largest.add("energies", gap[i], size, at[2], in_sum)
