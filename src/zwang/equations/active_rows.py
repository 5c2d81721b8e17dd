"""Which constraint rows of the equations are active: those that stay redundant are left out.

At a state on its constraints a redundant row does no harm: the regularised solve shares its force
out. The stages of an integrator, however, lie a little off, and there the row says something of its
own: in Bricard's loop of six hinges the thirtieth equation, empty on the constraints, becomes a
constraint against the motion as soon as a stage misses them by 1e-5. So rows that depend on others
at *all* states near by are left out of the accelerations and of the corrections; their residuals
are still computed, and the reactions are distributed among all rows as before.

Which rows: with Z a basis of null(Aᵀ) at several states, a set of rows may go when Z restricted to
it is regular at each of them. Rows are taken in turn, the one with the largest least share first.
The states lie along a walk through what the mechanism can reach: a row whose share vanishes on the
way must stay, since there the other rows do not imply it. A beam on three parallel cranks has one
equation too many, but near a flat position another one than near an upright one. Where no choice
does for the whole walk, as in most of Bennett's linkages, one is made for its beginning: a
redundant row that acts ends a motion at once, while rows that are no longer good are chosen again.

Rows of positions go only for what they imply among themselves. One that follows from rows of
velocities holds what those let drift, as where a wheel touches a curved road and its lowest point
rests: there a row of velocities goes.

A row may vanish on all configurations of a loop and on none beside them: in Sarrus's linkage, whose
platform cannot turn, the row against its turning. What is left of it there is rounding, and to take
that for a row stops the motion. So a row is judged against the terms that it was summed from, see
`zwang.equations.row_sizes`, and not against its own length alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.caching import PassedOn, Remembered
from zwang.equations.row_sizes import LEFT, shares_left, shifted
from zwang.errors import ZwangError
from zwang.linalg.rank import equilibrate, scaled_rows
from zwang.programs.cost import COST
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = [
    "ActiveRows",
    "RowsAtStart",
    "deficit",
    "may_go",
    "redundant_rows",
    "redundant_rows_of_many",
    "scaled_rows_at",
    "verdict_at",
]

#: Singular values of rows of unit length below this belong to dependent rows; states are on the
#: constraints to 1e-13, and close to a singular position values are still above it.
DEPENDENT = 1e-9
#: States that are looked at, fewer where each is costly, and how far they lie from each other at
#: most [m, rad]: a turn of a crank in all.
STATES = 16
STATES_OF_LARGE = 5
STEP = 0.4
#: Share of chance in the direction of a step, against going on as before.
CHANCE = 0.3
#: Steps of Newton's method that lead back onto the constraints, at most.
NEWTON_STEPS = 12
#: Residuals of a configuration on its constraints, and of one that Newton's method leads no nearer
#: to them, relative to what is summed in them: angles move what is far away by much.
ON_ROWS, NEAR_ROWS = 1e-13, 1e-11
#: A row with a smaller share than this in the dependency at some state of the walk stays, if the
#: rows that go can be chosen so: those that are left are then far from depending on each other.
LEAST_SHARE = 0.15
#: The same for a choice that is good for the beginning of the walk alone, and at a start. Of d
#: dependencies among m rows some d rows have a share of 1/√(1 + d (m − d)) at each state.
LEAST_SHARE_NEAR = 0.05
#: Steps along the motion in which rows are to stay good, and how far each leads [m, rad].
LOOKS_AHEAD, AHEAD = 2, 0.2
#: Rows this near to being a combination of others, relative, depend on them: a start may be off
#: its constraints by as much.
NEARLY = 1e-5
#: Squared distance of a scaled row from those before it, above which rows are independent.
DISTINCT = 1e-8
#: Rows shorter than this, relative to the longest, are looked at more closely: they may be what
#: rounding left of longer ones.
SHORT = 1e-6


class ActiveRows(NamedTuple):
    """Which rows of A act.

    Attributes
    ----------
    inactive : numbers of those that do not, in order; none for most systems.
    distinct : whether those that act are independent, but for singular positions.
    """

    inactive: tuple[int, ...] = ()
    distinct: bool = True


class RowsAtStart(NamedTuple):
    """What was found of the rows at a start.

    Attributes
    ----------
    acting : which rows act.
    here : whether those are independent at the start itself, which may be singular.
    """

    acting: ActiveRows = ActiveRows()
    here: bool = True


_ALL = ActiveRows()
_NOTHING_SPECIAL = RowsAtStart()


def redundant_rows(
    system: Equations, y: FloatArray, t: float, p: FloatArray, span: float, *, ahead: bool = False
) -> ActiveRows:
    """Which rows of A can be left out.

    A mechanism is walked through once, from its placement; at a start where the rows found there
    may not go, and for systems of functions, which have no placement, the walk is from the start.

    Parameters
    ----------
    y, t : a state on the constraints, or close to them.
    span : length of the simulation, over which prescribed motions are looked at [s].
    ahead : whether rows are to be good a little further along the motion, too.
    """
    return verdict_at(system, y, t, p, span, ahead=ahead).acting


def verdict_at(
    system: Equations, y: FloatArray, t: float, p: FloatArray, span: float, *, ahead: bool = False
) -> RowsAtStart:
    """`redundant_rows`, and whether they are independent at the start; remembered by start.

    Rows that are independent in one assembly of a mechanism may depend on each other in another.
    """
    if not system.model.blocks:
        return _NOTHING_SPECIAL
    known = _Known.of(system)
    start = (known.geometry(p, t, span), p.tobytes(), y.tobytes(), t, ahead)
    found = known.get(start)
    if found is None:
        found = known[start] = _judged(system, known, (y, t, p, span), ahead=ahead)
    return found


def _judged(
    system: Equations,
    known: _Known,
    start: tuple[FloatArray, float, FloatArray, float],
    *,
    ahead: bool,
) -> RowsAtStart:
    y, t, p, span = start
    nq, view = len(system.coordinates), _RowsAtState(system, p)
    q, v = y[:nq], y[nq:]
    placed = known.from_placement(p, t, span)
    if (placed == _ALL or system.placement is None) and view.plainly_distinct(q, v, t):
        return _NOTHING_SPECIAL
    closed = view.moved(q, t, np.zeros(view.nv))
    q = q if closed is None else closed
    scaled, rows = view.scaled(q, v, t), placed
    if rows is not None and not rows.inactive and deficit(scaled) == 0:
        rows = _ALL  # of the placement, or of another assembly than that
    elif (
        rows is None
        or rows == _ALL
        or not may_go(scaled, rows.inactive)
        or (ahead and _near_ahead(view, q, v, t, rows.inactive))
    ):
        rows = _walk(view, q, v, t, span, onward=ahead)
    rows = rows or ActiveRows(distinct=False)
    return RowsAtStart(rows, deficit(np.delete(scaled, rows.inactive, axis=0)) == 0)


def redundant_rows_of_many(
    system: Equations,
    Y: FloatArray,
    t: float,
    P: FloatArray,
    span: float,
    M: FloatArray,
    A: FloatArray,
) -> list[ActiveRows]:
    """`redundant_rows` of many starts (N, n); nearly all are told by M and A there, at once."""
    if not A.shape[1]:
        return [_ALL] * len(Y)
    rows, plain = scaled_rows(M, A), _plain(M, A)
    if plain.all() and _distinct(rows[:1]) and _distinct(rows):
        return [_ALL] * len(Y)
    known, groups = _Known.of(system), {}
    for i, key in enumerate(known.geometries(P, t, span)):
        groups.setdefault(key, []).append(i)
    found: list[ActiveRows] = [_ALL] * len(Y)
    for members in groups.values():
        placed = known.from_placement(P[members[0]], t, span)
        fits = np.zeros(len(members), bool)
        if placed is not None and placed.inactive:
            kept = np.delete(rows[members], placed.inactive, axis=-2)
            fits = may_go(rows[members], placed.inactive) & plain[members] & _distinct(kept)
        for i, fit in zip(members, fits, strict=True):
            if placed is not None and fit:
                found[i] = placed
            else:
                found[i] = redundant_rows(system, Y[i], t, P[i], span)
    return found


def _distinct(rows: FloatArray) -> bool:
    """Whether all sets of scaled rows (N, m, n) are independent, by a wide margin."""
    try:
        factors = np.linalg.cholesky(rows @ rows.mT)
    except np.linalg.LinAlgError:
        return False
    return bool(np.min(factors.diagonal(axis1=-2, axis2=-1)) ** 2 > DISTINCT)


def _plain(M: FloatArray, A: FloatArray) -> np.ndarray:
    """Whether no row of A (N, m, n) is so short that it may be rounding, for each of many."""
    d, _ = equilibrate(M, A)
    length = np.abs(A * d[..., None, :]).max(axis=-1, initial=0.0)
    return length.min(axis=-1, initial=np.inf) > SHORT * length.max(axis=-1, initial=0.0)


#: So many findings are remembered; an ensemble may ask for any number of starts.
KEPT = 1000


class _Known(Remembered[Any, Any], PassedOn):
    """Rows by geometry, None where the placement decides nothing; a `RowsAtStart` by start.

    Parameters
    ----------
    system : whose rows.
    """

    def __init__(self, system: Equations) -> None:
        super().__init__(KEPT)
        import casadi as ca

        m, s = system.model, system.model.state
        e = ca.veccat(m.A, m.position_values, m.N)
        self.scleronomic = not depends_on(e, s.t, s)
        # Which parameters decide about rows; with functions that cannot be traced, any may.
        pattern = ca.jacobian_sparsity(e, s.p).get_triplet()[1]
        self.used = np.arange(s.p.numel()) if s.calls else np.unique(pattern).astype(int)
        self.system, self.defaults = system, system.parameter_vector()
        self.unused = np.setdiff1d(np.arange(len(self.defaults)), self.used)

    @classmethod
    def of(cls, system: Equations) -> _Known:
        """What is known of a system, kept with it."""
        return system.cache.once(cls, lambda: cls(system))

    def geometry(self, p: FloatArray, t: float, span: float) -> Any:
        """What decides about rows besides the state: parameters, and time if that is prescribed."""
        return (p[self.used].tobytes(), *(() if self.scleronomic else (t, span)))

    def geometries(self, P: FloatArray, t: float, span: float) -> list[Any]:
        """`geometry` of each of many sets of parameters (N, np)."""
        if bool(np.all(P[0] == P)):
            return [self.geometry(P[0], t, span)] * len(P)
        return [self.geometry(p, t, span) for p in P]

    def from_placement(self, p: FloatArray, t: float, span: float) -> ActiveRows | None:
        """Rows that may go by a walk from the placement, with default masses; None if unknown."""
        key, placement = self.geometry(p, t, span), self.system.placement
        if key not in self and placement is not None:
            values = p.copy()  # those of a carrier come after the parameters, and stay
            values[self.unused] = self.defaults[self.unused]
            self[key] = _walk(_RowsAtState(self.system, values), *placement, t, span)
        return self.get(key)


def _near_ahead(
    view: _RowsAtState, q: FloatArray, v: FloatArray, t: float, numbers: tuple[int, ...]
) -> bool:
    """Whether rows that stay without these come near to depending on each other along a motion."""
    speed = float(np.abs(v).max(initial=0.0))
    if not numbers or not speed > 0.0:
        return False
    for _ in range(LOOKS_AHEAD):
        found = view.moved(q, t, v * (AHEAD / speed))
        if found is None:
            return False
        q = found
        if not may_go(view.scaled(q, v, t), numbers):
            return True
    return False


def _walk(
    view: _RowsAtState,
    q: FloatArray,
    v: FloatArray,
    t: float,
    span: float,
    *,
    onward: bool = False,
) -> ActiveRows | None:
    """Rows that may go at all states of a walk from a state; None if it meets no constraints.

    Parameters
    ----------
    onward : whether it begins along the velocities.
    """
    found = view.moved(q, t, np.zeros(view.nv))
    if found is None:
        return None
    if deficit(view.scaled(found, v, t)) == 0:
        return _ALL
    before = v if onward and v.any() else None
    return _choose(view, _states(view, found, t, span, before), onward=before is not None)


def may_go(rows: FloatArray, numbers: tuple[int, ...]) -> np.ndarray:
    """Whether some of the scaled rows (…, m, n) of A follow from the others, by a wide margin.

    With K the rows that stay, those that go must be X K; a large X tells that K nearly depends.
    """
    if not numbers:
        return np.ones(rows.shape[:-2], bool)
    K, G = np.delete(rows, numbers, axis=-2), rows[..., list(numbers), :]
    S = K @ K.mT + 1e-14 * np.eye(K.shape[-2])  # regular, however dependent K may be
    X = np.linalg.solve(S, K @ G.mT).mT
    off, size = np.abs(G - X @ K).max(axis=(-2, -1)), np.linalg.norm(X, 2, axis=(-2, -1))
    return (off <= NEARLY) & (size <= 1.0 / LEAST_SHARE)


class _RowsAtState:
    """Rows, values and kinematics of a system at a state."""

    def __init__(self, system: Equations, p: FloatArray) -> None:
        self.system, self.p = system, p
        self.nv = len(system.velocities)
        self.at_position = np.array([level == "position" for level in system.row_levels()], bool)

    def rows(
        self, q: FloatArray, v: FloatArray, t: float, p: FloatArray | None = None
    ) -> tuple[FloatArray, ...]:
        """A, φ, the rows of φ, M and N."""
        nq, nv = len(q), self.nv
        A, phi, M, N = self.system.evaluator(
            "redundancy",
            lambda m: {"A": m.A, "phi": m.position_values, "M": m.M, "N": m.N},
            q,
            v,
            np.asarray(t),
            self.p if p is None else p,
        )
        A = A.reshape(-1, nv)
        return A, np.atleast_1d(phi), A[self.at_position], M.reshape(nv, nv), N.reshape(nq, nv)

    def scaled(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """A with velocities and rows scaled, those of which rounding alone is left to nothing."""
        A, _, _, M, _ = self.rows(q, v, t)
        d, _ = equilibrate(M, A)
        near = [self.rows(x, v, t, p)[0] * d for x, p in shifted(self.system, q, self.p)]
        return scaled_rows(M, A) * np.minimum(1.0, shares_left(A * d, near) / LEFT)[:, None]

    def plainly_distinct(self, q: FloatArray, v: FloatArray, t: float) -> bool:
        """Whether all rows are independent at a state by a wide margin, and none is short."""
        A, _, _, M, _ = self.rows(q, v, t)
        return bool(_plain(M, A)) and _distinct(scaled_rows(M, A)[None])

    def moved(self, q: FloatArray, t: float, step: FloatArray) -> FloatArray | None:
        """A configuration a step away, put back on φ = 0; None where that fails."""
        rest = np.zeros(self.nv)
        _, _, _, _, N = self.rows(q, rest, t)
        q = self._normal(q + N @ step)
        for _ in range(NEWTON_STEPS):
            _, phi, G, M, N = self.rows(q, rest, t)
            if not np.isfinite(phi).all():
                return None
            d, _ = equilibrate(M, G)
            there = self._normal(q + N @ (d * np.linalg.lstsq(G * d, -phi, rcond=1e-7)[0]))
            if np.all(np.abs(phi) < ON_ROWS * _sizes(G, q)):
                return there  # one step more: rows that vanish on paper are as small as can be
            q = there
        _, phi, G, _, _ = self.rows(q, rest, t)
        return q if np.all(np.abs(phi) < NEAR_ROWS * _sizes(G, q)) else None

    def moves(self, q: FloatArray, t: float) -> bool:
        """Whether a configuration has a motion but for those that change with time, as drivers."""
        if int(self.fixed.sum()) < self.nv:
            return True
        rows = self.scaled(q, np.zeros(self.nv), t)[self.fixed]
        return int(np.sum(np.linalg.svd(rows, compute_uv=False) > DEPENDENT)) < self.nv

    @cached_property
    def fixed(self) -> np.ndarray:
        """Which rows hold positions, whatever the time."""
        import casadi as ca

        values, s = self.system.model.position_values, self.system.model.state
        if s.calls:
            rows = [i for i, x in enumerate(ca.vertsplit(values)) if depends_on(x, s.t, s)]
        else:
            rows = ca.jacobian_sparsity(values, s.t).get_triplet()[0]
        found = self.at_position.copy()
        found[np.flatnonzero(found)[np.array(rows, dtype=int)]] = False
        return found

    def _normal(self, q: FloatArray) -> FloatArray:
        for group in self.system.model.unit:
            q[list(group)] /= np.linalg.norm(q[list(group)])
        return q


def _sizes(G: FloatArray, q: FloatArray) -> FloatArray:
    """Of what is summed in the constraints with slopes G (m, nv), those of one length at least."""
    return np.maximum(1.0, np.abs(G).max(axis=1, initial=0.0)) * max(1.0, float(np.abs(q).max()))


def scaled_rows_at(
    system: Equations, q: FloatArray, v: FloatArray, t: float, p: FloatArray
) -> FloatArray:
    """A at a state, with velocities and rows scaled."""
    if system.by_elements is None:
        return _RowsAtState(system, p).scaled(q, v, t)
    terms = system.ideal_terms_at(q, v, np.asarray(t), p)
    return scaled_rows(terms.mass_matrix, terms.constraint_matrix)


def deficit(rows: FloatArray) -> int:
    """How many of some scaled rows depend on others."""
    if not rows.size:
        return 0
    return len(rows) - int(np.sum(np.linalg.svd(rows, compute_uv=False) > DEPENDENT))


def _states(
    view: _RowsAtState, q: FloatArray, t: float, span: float, before: FloatArray | None = None
) -> list[tuple[FloatArray, FloatArray, float]]:
    """The state and some near by: along free motions, and later in time.

    Parameters
    ----------
    before : the direction in which it got there.
    """
    generator = np.random.default_rng(0)
    rest = np.zeros(view.nv)
    states: list[tuple[FloatArray, FloatArray, float]] = [(q, rest, t)]
    for k in range(1, STATES if view.nv < COST.walk_velocities else STATES_OF_LARGE):
        start, _, _ = states[-1]
        later = t + 1e-3 * span * k
        A, _, _, M, _ = view.rows(start, rest, later)
        d, _ = equilibrate(M, A)
        _, s, Vt = np.linalg.svd(view.scaled(start, rest, later))
        free = Vt[int(np.sum(s > DEPENDENT)) :].T
        parts = generator.standard_normal(free.shape[1])
        if before is not None:
            onward = free.T @ (before / d)
            length = float(np.linalg.norm(onward))
            parts = CHANCE * parts + np.sqrt(len(parts)) * onward / (length or 1.0)
        direction = d * (free @ parts)
        size = float(np.abs(direction).max(initial=0.0))
        step = STEP * direction / size if size > 0.0 else direction
        for _ in range(4):
            found = view.moved(start, later, step)
            # Newton's method may end in another assembly; one that cannot move was not reached so.
            if found is not None and (not free.shape[1] or view.moves(found, later)):
                states.append((found, rest, later))
                before = direction
                break
            step = 0.3 * step
    return states


def _choose(
    view: _RowsAtState,
    states: list[tuple[FloatArray, FloatArray, float]],
    *,
    onward: bool = False,
) -> ActiveRows:
    """Rows that may go at all states alike.

    Parameters
    ----------
    onward : whether rows that are good for the beginning are better than some that hardly do for
        longer, as they are chosen again.
    """
    try:
        matrices = [view.scaled(*state) for state in states]
    except ZwangError:
        return ActiveRows(distinct=False)
    deficits = [deficit(rows) for rows in matrices]
    wanted = min(deficits)
    matrices = [A for A, dependent in zip(matrices, deficits, strict=True) if dependent == wanted]
    bases = [_dependencies(rows, wanted) for rows in matrices]
    levels = np.array(view.system.row_levels())
    best: list[int] = []
    if wanted and {"position", "velocity"} <= set(levels):
        among = _dependencies_among_positions(matrices, levels)
        positions = partial(_positions_kept, bases, among, levels)
        best = _of_most_states(len(bases), wanted, positions, onward=onward)
    if len(best) < wanted:
        # What acts on accelerations alone leaves no residual by which a contradiction would show.
        free = levels != "acceleration"
        best = _of_most_states(
            len(bases),
            wanted,
            lambda n, least: _with_shares(bases[:n], wanted, free, least),
            onward=onward,
        )
    return ActiveRows(tuple(sorted(best)), len(best) == wanted)


def _of_most_states(
    count: int, wanted: int, rows: Callable[[int, float], list[int]], *, onward: bool
) -> list[int]:
    """The most rows that may go at the first so many states, up to as many as wanted."""
    counts = [count >> k for k in range(count.bit_length())]
    tried = [(n, LEAST_SHARE) for n in (counts[:-1] if onward else counts[:1])]
    tried += [(n, LEAST_SHARE_NEAR) for n in (counts if onward else counts[1:])]
    best: list[int] = []
    for n, least in tried:
        gone = rows(n, least)
        best = gone if len(gone) > len(best) else best
        if len(best) == wanted:
            break
    return best


def _dependencies(rows: FloatArray, count: int) -> FloatArray:
    """A basis of so many dependencies between scaled rows, (m, count)."""
    U, _, _ = np.linalg.svd(rows)
    return U[:, len(rows) - count :]


def _dependencies_among_positions(
    matrices: list[FloatArray], levels: np.ndarray
) -> list[FloatArray]:
    """Bases of the dependencies between rows of positions alone, (m, k)."""
    at_position = levels == "position"
    count = min(deficit(rows[at_position]) for rows in matrices)
    found = []
    for rows in matrices:
        Z = np.zeros((len(rows), count))
        Z[at_position] = _dependencies(rows[at_position], count)
        found.append(Z)
    return found


def _positions_kept(
    bases: list[FloatArray],
    among: list[FloatArray],
    levels: np.ndarray,
    count: int,
    least: float,
) -> list[int]:
    """Rows of positions that follow from such rows alone, then rows of velocities.

    A row of positions that follows from rows of velocities holds what those let drift: in its place
    one of them goes.
    """
    gone = _with_shares(among[:count], among[0].shape[1], levels == "position", least)
    bases = bases[:count]
    for row in gone:
        bases = [_without(Z, row) for Z in bases]
    return gone + _with_shares(bases, bases[0].shape[1], levels == "velocity", least)


def _with_shares(bases: list[FloatArray], wanted: int, free: np.ndarray, least: float) -> list[int]:
    """Rows that have shares in the dependencies at all states, up to as many as wanted."""
    gone: list[int] = []
    free = free.copy()
    for _ in range(wanted):
        shares = np.min([np.linalg.norm(Z, axis=1) for Z in bases], axis=0) * free
        row = len(shares) - 1 - int(np.argmax(np.round(shares[::-1], 6)))
        if shares[row] < least:
            break
        gone.append(row)
        free[row] = False
        bases = [_without(Z, row) for Z in bases]
    return gone


def _without(Z: FloatArray, row: int) -> FloatArray:
    """A basis of the dependencies that do not contain a row."""
    Q, _ = np.linalg.qr(Z[row][:, None], mode="complete")
    return Z @ Q[:, 1:]
