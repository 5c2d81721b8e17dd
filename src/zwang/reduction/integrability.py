"""Integrability of velocity constraints: which are holonomic, and which v are true velocities.

Motions allowed by linear constraints A v + η = 0, in the space of coordinates and time, are
combinations of the vector fields

    X = E (w, τ),   E = [[N, n₀], [0, 1]],   A w + η τ = 0

since q̇ = N v + n₀ and ṫ = 1. By Frobenius' theorem the smallest set of fields that contains them
and all their brackets [X, Y] = Y_x X − X_x Y determines what can be reached: a constraint, or a
combination of several, that vanishes on all of it can be integrated to f(q, t) = const. Position
constraints take part with their rates, so that what is integrable only along them is found too.

A quasi-velocity v_i is a true velocity, the rate of some function of q and t, when its form is
closed; with the forms dual to the columns of E this is [E_a, E_b]_i = 0 for all a, b, which is the
symmetry of ∂b_i/∂x of Blajer (1992), after (2.2), with the terms in time.

Brackets are taken by automatic differentiation and evaluated at random states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from zwang.linalg.rank import nullspace
from zwang.reduction.integrability_report import (
    Combination,
    Integrability,
    QuasiVelocities,
    RowVerdict,
)
from zwang.reduction.partition import leading_columns, rates_of_rows
from zwang.reduction.vector_fields import NEW, Fields, States, frame, unit
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on, jacobian

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.traced_model import TracedModel

__all__ = ["integrability", "quasi_velocities"]

#: Sets of other constraints that are examined in search of the smallest that makes one integrable.
SEARCH_LIMIT = 64


def quasi_velocities(model: TracedModel, places: States) -> QuasiVelocities:
    """Which velocities are the rate of a function of coordinates and time."""
    names = model.definition.velocities
    if model.definition.kinematics is None:
        return QuasiVelocities(names, ())
    E = frame(model)
    fields = Fields(model.state, E, places)
    count = len(fields.fields)
    pairs = list(combinations(range(count), 2))
    parts = [fields.bracket(fields.fields[a], fields.fields[b]) for a, b in pairs]
    first = fields.values([one for one, _ in parts])
    second = fields.values([other for _, other in parts])
    bases = fields.values([E])
    quasi = np.zeros(len(names), dtype=bool)
    for k in range(len(places.q)):
        inverse = np.linalg.pinv(bases[k])
        difference = inverse @ (first[k] - second[k])
        parts_size = (np.abs(first[k]) + np.abs(second[k])).max(initial=0.0)
        size = np.linalg.norm(inverse) * (parts_size + 1e-3 * np.linalg.norm(bases[k]))
        quasi |= np.any(np.abs(difference) > NEW * size, axis=1)[:-1]
    return QuasiVelocities(
        tuple(n for n, q in zip(names, quasi, strict=True) if not q),
        tuple(n for n, q in zip(names, quasi, strict=True) if q),
    )


# --- constraints ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reach:
    """What motions under some rows reach.

    Attributes
    ----------
    vanishing : rows (by number) that vanish on all that is reached.
    annihilators : per place, a basis of the combinations of the rows that do, shape (m, k).
    """

    growth: tuple[int, ...]
    vanishing: frozenset[int]
    annihilators: list[FloatArray]
    independent: int


class _Codistribution:
    """Linear constraint rows K = [A, η] of a model, examined in sets."""

    def __init__(
        self, model: TracedModel, rows: Sequence[int], anywhere: States, on: States
    ) -> None:
        import casadi as ca

        self.model, self.anywhere, self.on = model, anywhere, on
        s = model.state
        rates = rates_of_rows(model)
        self.K: dict[int, casadi.SX] = {}
        for row in rows:
            (eta,) = ca.substitute([rates[row]], [s.v], [ca.SX.zeros(s.v.shape)])
            self.K[row] = ca.horzcat(jacobian(rates[row], s.v, s), eta)
        self.E = frame(model)
        self.known: dict[tuple[frozenset[int], bool], _Reach] = {}

    def reach(self, rows: frozenset[int], *, on_constraints: bool) -> _Reach:
        """What is reached under some rows, at states on the position constraints or anywhere."""
        key = rows, on_constraints
        if key not in self.known:
            self.known[key] = self._reach(
                sorted(rows), self.on if on_constraints else self.anywhere
            )
        return self.known[key]

    def _reach(self, rows: list[int], places: States) -> _Reach:
        import casadi as ca

        K = ca.vertcat(*(self.K[row] for row in rows))
        fields = Fields(self.model.state, self.E, places)
        numbers, bases = fields.values([K]), fields.values([self.E])
        length = np.linalg.norm(numbers, axis=2)
        length = np.where(length > 0.0, length, 1.0)
        rows_at = numbers / length[:, :, None]
        ranks = [int(np.sum(np.linalg.svd(k, compute_uv=False) > NEW)) for k in rows_at]
        best = int(np.argmax(ranks))
        rank = ranks[best]
        # Dependent velocities and rows, chosen where the rows are most independent; time stays free
        # where it can.
        late = np.ones(K.shape[1])
        late[-1] = 1e-3
        dependent = leading_columns(rows_at[best] * late, rank)
        free = [j for j in range(K.shape[1]) if j not in dependent]
        part = rows_at[best][:, dependent]
        used = leading_columns(part.T, rank)
        W = ca.SX.zeros(K.shape[1], len(free))
        for column, j in enumerate(free):
            W[j, column] = 1
        if rank:
            W[dependent, :] = -ca.solve(K[used, dependent], K[used, free])
        allowed = Fields(self.model.state, ca.mtimes(self.E, W), places)
        values, growth = allowed.closure(self.E.shape[1])
        annihilators, vanishing = [], set(rows)
        for k in range(len(places.q)):
            reached = unit((np.linalg.pinv(bases[k]) @ values[k])[None])[0]
            on_rows = rows_at[k] @ reached
            vanishing -= {row for row, x in zip(rows, on_rows, strict=True) if _large(x)}
            basis = nullspace(on_rows.T, NEW) if on_rows.any() else np.eye(len(rows))
            annihilators.append(basis / length[k][:, None])
        return _Reach(growth, frozenset(vanishing), annihilators, rank)


def _large(x: FloatArray) -> bool:
    return bool(np.max(np.abs(x), initial=0.0) > NEW)


def integrability(model: TracedModel, anywhere: States, on: States) -> Integrability:
    """The report on a model's velocity constraints.

    Parameters
    ----------
    anywhere, on : random states, without regard to position constraints and satisfying them.
    """
    s, names = model.state, model.row_names
    position, linear, nonlinear = [], [], []
    for name, numbers in model.rows_of_blocks.items():
        block = model.blocks[name]
        if block.level == "position":
            position += numbers
        elif block.level == "velocity":
            (nonlinear if depends_on(block.A, s.v, s) else linear).extend(numbers)
    verdicts = {names[i]: RowVerdict(names[i], "nonlinear") for i in nonlinear}
    rows = frozenset([*position, *linear])
    if not linear:
        return Integrability(verdicts, 0, 0, (), ())
    cod = _Codistribution(model, sorted(rows), anywhere, on)
    whole = cod.reach(rows, on_constraints=True)
    for i in linear:
        verdicts[names[i]] = _verdict(cod, i, linear, position, whole)
    order = [names[i] for name in model.groups for i in model.groups[name]]
    verdicts = {name: verdicts[name] for name in order if name in verdicts}
    # Dimensions: nv + 1 directions in all; positions take away their rank, integrable velocity
    # constraints what else is never reached.
    total = model.state.v.numel() + 1
    by_position = cod.reach(frozenset(position), on_constraints=True).independent if position else 0
    holonomic = total - whole.growth[-1] - by_position
    return Integrability(
        verdicts,
        holonomic,
        whole.independent - by_position - holonomic,
        _combinations(whole, sorted(rows), linear, names),
        whole.growth,
    )


def _verdict(
    cod: _Codistribution, row: int, linear: list[int], position: list[int], whole: _Reach
) -> RowVerdict:
    names = cod.model.row_names
    if row not in whole.vanishing:
        return RowVerdict(names[row], "nonholonomic")
    if row in cod.reach(frozenset([row]), on_constraints=False).vanishing:
        return RowVerdict(names[row], "holonomic")
    others = _smallest(cod, row, [i for i in linear if i != row], position)
    return RowVerdict(names[row], "holonomic with others", tuple(names[i] for i in sorted(others)))


def _smallest(
    cod: _Codistribution, row: int, candidates: list[int], position: list[int]
) -> frozenset[int]:
    """Few rows that make one integrable: the fewest velocity rows, then no superfluous position."""
    every = frozenset(position)
    tried = 0
    found = frozenset(candidates) | every
    for size in range(len(candidates) + 1):
        for extra in combinations(candidates, size):
            tried += 1
            trial = frozenset(extra) | every
            if trial and row in cod.reach(trial | {row}, on_constraints=True).vanishing:
                found = trial
                break
        else:
            if tried > SEARCH_LIMIT:
                break
            continue
        break
    # Position constraints that are not needed even off their surfaces may go.
    for i in sorted(every, reverse=True):
        rest = found - {i}
        if row in cod.reach(rest | {row}, on_constraints=False).vanishing:
            found = rest
    return found


def _combinations(
    whole: _Reach, rows: list[int], linear: list[int], names: Sequence[str]
) -> tuple[Combination, ...]:
    """Holonomic combinations of velocity rows that are not holonomic themselves."""
    own = [k for k, row in enumerate(rows) if row in linear and row not in whole.vanishing]
    if not own:
        return ()
    found = []
    for basis in whole.annihilators:
        part = _echelon(basis[own].T)
        found.append(part)
    count = min(len(part) for part in found)
    result = []
    for k in range(count):
        c = found[0][k]
        used = np.abs(c) > 1e-6
        constant = all(np.allclose(part[k], c, atol=1e-6) for part in found)
        result.append(
            Combination(tuple(names[rows[own[j]]] for j in np.flatnonzero(used)), c[used], constant)
        )
    return tuple(result)


def _echelon(basis: FloatArray) -> FloatArray:
    """Reduced row echelon form of what is not zero, shape (k, n)."""
    R = basis.copy()
    pivots = 0
    for column in range(R.shape[1]):
        if pivots == len(R):
            break
        best = pivots + int(np.argmax(np.abs(R[pivots:, column])))
        if abs(R[best, column]) < 1e-6:
            continue
        R[[pivots, best]] = R[[best, pivots]]
        R[pivots] /= R[pivots, column]
        others = [i for i in range(len(R)) if i != pivots]
        R[others] -= np.outer(R[others, column], R[pivots])
        pivots += 1
    return R[:pivots]
