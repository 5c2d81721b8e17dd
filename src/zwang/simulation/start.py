"""Initial states of an ensemble simulation: checked all at once, and the program each takes.

Each start meets the same refusals as in a single run. What all of them have in common is computed
in one call; only a start at which there is something to remark is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.states import refuse_pair, single_time
from zwang.equations.many_states import all_regular, determined, terms_at
from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.integrators.settings import Settings
from zwang.simulation.ensemble_programs import EnsembleStarts, ProgramGroups, select_programs
from zwang.simulation.options import UNREMARKABLE, listed_states, require_law, require_start
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System
    from zwang.tracing.open_laws import OpenLaws

__all__ = ["LANES", "Starts", "parameter_rows"]

#: Trajectories that run side by side in one thread. With four, a pendulum takes 1.5 times as long
#: and a Bricard loop 1.2 times; four-bars take 0.85 times, for at singular positions one holds up
#: the others. One that ends makes way for the next, see `zwang.integrators.lane_queue`.
LANES = 8


class Starts:
    """Where the trajectories of an ensemble begin, and with which parameters.

    Attributes
    ----------
    system : of all.
    q, v : (N, nq) and (N, nv).
    t : time of all starts.
    P : parameters (N, np).
    refusals : number of a start → why it was refused.
    notes : number of a start → what there is to remark.
    laws : number of a start → what laws use of reactions that are not determinate, if there are
        laws of reactions.
    """

    def __init__(
        self, system: System, q: Any, v: Any, t: float, parameters: Mapping[str, Any]
    ) -> None:
        self.system, self.t = system, single_time(t)
        self.q, self.v, values = _broadcast(system, q, v, parameters)
        # Numbers as such: they are checked faster than arrays.
        self._values = {k: x.tolist() if x.ndim == 1 else x for k, x in values.items()}
        self.notes: dict[int, tuple[str, ...]] = {}
        self.laws: dict[int, OpenLaws] = {}
        if v is None:
            found = enumerate(listed_states(q) or [q] * len(self))
            self.notes = {i: told for i, s in found if (told := tuple(getattr(s, "notes", ())))}
        self.P, self.refusals = parameter_rows(system, values, len(self.q))

    def __len__(self) -> int:
        return len(self.q)

    def given(self, i: int) -> dict[str, Any]:
        """Values of the parameters that were given for a start."""
        return {name: values[i] for name, values in self._values.items()}

    def state(self, i: int) -> FloatArray:
        """Coordinates and velocities of a start as one array."""
        return np.concatenate([self.q[i], self.v[i]])

    def programs(self, settings: Settings) -> ProgramGroups:
        """The programs that starts take, each with the numbers of those; refused ones take none."""
        equations = self.system.equations
        if equations.by_elements is not None:
            self._check(np.arange(len(self)))
            good = self._accepted()
            return self._selected(good, settings, regular=False)
        Y = np.concatenate([self.q, self.v], axis=1)
        same = equations.mass_is_constant and not self._values
        regular = self._never_singular() if same else all_regular(self._terms(Y)[0])
        if equations.reaction_dependent:
            self._check(np.arange(len(self)))
        elif regular:
            self._check(self._remarkable(Y))
        else:
            doubtful = np.flatnonzero(~determined(*self._terms(Y)))
            self._check(np.union1d(self._remarkable(Y), doubtful))
        good = self._accepted()
        if not len(good):
            return []
        return self._selected(good, settings, regular=regular)

    def _accepted(self) -> np.ndarray:
        """Numbers of the starts that were not refused."""
        every = np.arange(len(self))
        return np.delete(every, list(self.refusals)) if self.refusals else every

    def _selected(self, good: np.ndarray, settings: Settings, *, regular: bool) -> ProgramGroups:
        """The programs that some starts take, each with the numbers of those."""
        Y = np.concatenate([self.q[good], self.v[good]], axis=1)
        terms, equations = partial(self._terms, Y, good), self.system.equations
        starts = EnsembleStarts(Y, self.t, self.P[good], settings, LANES, terms)
        groups = select_programs(equations, starts, regular=regular)
        return [(program, good[members]) for program, members in groups]

    def _terms(self, Y: FloatArray, which: Any = slice(None)) -> tuple[FloatArray, FloatArray]:
        """M (N, nv, nv) and A (N, m, nv) at states of some starts."""
        return terms_at(self.system.equations, Y, self.t, self.P[which])

    def _remarkable(self, Y: FloatArray) -> np.ndarray:
        """The starts that miss their constraints, or have values that are not finite."""
        t, equations = np.full(len(Y), self.t), self.system.equations
        same = not self._values
        if same and equations.largest_miss(Y, t, self.P[0]) <= UNREMARKABLE:
            return np.arange(0)
        return np.flatnonzero(equations.largest_misses(Y, self.t, self.P) > UNREMARKABLE)

    def _never_singular(self) -> bool:
        """Whether a mass matrix that is the same at all starts is regular."""
        first = self.q[0], self.v[0], np.asarray(self.t), self.P[0]
        return not self.system.equations.mass_is_singular(*first)

    def _check(self, which: np.ndarray) -> None:
        """Look at some of the starts as a single run would."""
        for i in which.tolist():
            if i in self.refusals:
                continue
            notes: list[str] = []
            try:
                q, v, t, _ = self.system.arguments(self.q[i], self.v[i], self.t, None)
                require_start(self.system, self.state(i), self.t, self.P[i], notes)
                laws = require_law(self.system, q, v, self.t, self.P[i], notes)
                if laws is not None:
                    self.laws[i] = laws
                self.system.equations.require_unique(q, v, t, self.P[i])
            except ZwangError as error:
                self.refusals[i] = str(error)
            if notes:
                self.notes[i] = (*self.notes.get(i, ()), *notes)


def _require_some(
    system: System, values: Mapping[str, FloatArray], varied: Container[str], count: int
) -> None:
    """Refuse unknown names and wrong shapes, and numbers that are wrong for all trajectories.

    One that is wrong for some is the reason why these fail.
    """
    refusal: InputError | None = None
    for i in range(max(count, 1)):
        try:
            system.parameter_vector({k: x[i] if k in varied else x for k, x in values.items()})
        except InputError as error:
            refusal = refusal or error
            if isinstance(error, UnknownNameError) or not any(k in varied for k in values):
                break
        else:
            return
    if refusal is not None:
        raise refusal


def parameter_rows(
    system: System, values: Mapping[str, FloatArray], count: int
) -> tuple[FloatArray, dict[int, str]]:
    """Parameters (N, np) of an ensemble, and number of a row → why it was refused.

    Parameters
    ----------
    values : name → values of all rows (N, …), of the shapes that the parameters have.
    """
    P = np.tile(system.parameter_vector(), (count, 1))
    refusals: dict[int, str] = {}
    slots, start = {}, 0
    for name, default in system.definition.parameters.items():
        slots[name] = slice(start, start + default.size)
        start += default.size
    if all(name in slots and system.equations.free_parameter(name) for name in values):
        # Numbers that nothing is checked of or computed from, but that they are finite.
        for name, rows in values.items():
            P[:, slots[name]] = np.asarray(rows).reshape(count, -1)
        doubtful = np.flatnonzero(~np.isfinite(P).all(axis=1)).tolist()
    else:
        doubtful = range(count)
    for i in doubtful:
        try:
            P[i] = system.parameter_vector({name: _given(rows[i]) for name, rows in values.items()})
        except ZwangError as error:
            refusals[i] = str(error)
    return P, refusals


def _given(value: Any) -> Any:
    """A number as such, which is checked faster than an array of no dimension."""
    return float(value) if np.ndim(value) == 0 else value


def _numbers(name: str, given: Any) -> FloatArray:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            name, expected="numbers, one row for each initial state", found=shown(given)
        ) from None


def _broadcast(
    system: System, q: Any, v: Any, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    """Starts (N, nq) and (N, nv), and parameters (N, …), from what was given."""
    listed = listed_states(q)
    if listed:
        v = np.array([s.v for s in listed]) if v is None else v
        q = np.array([s.q for s in listed])
    elif hasattr(q, "q"):
        q, v = q.q, q.v if v is None else v
    elif v is None:
        refuse_pair(q, "simulate_many")
    if isinstance(q, Mapping):
        q = system.arguments(q, None, 0.0, None)[0]
    if isinstance(v, Mapping):
        v = system.arguments(np.zeros(len(system.coordinates)), v, 0.0, None)[1]
    q, v = _numbers("q", q), np.zeros(len(system.velocities)) if v is None else _numbers("v", v)
    shapes = {k: x.shape for k, x in system.definition.parameters.items()}
    values = {name: _numbers(f"parameter {name!r}", x) for name, x in parameters.items()}
    sizes = {"q": q.shape[0]} if q.ndim == 2 else {}
    sizes |= {"v": v.shape[0]} if v.ndim == 2 else {}
    for name, value in values.items():
        if name in shapes and value.ndim == len(shapes[name]) + 1:
            sizes[f"parameter {name!r}"] = len(value)
    if len(set(sizes.values())) > 1:
        raise InputError(
            "ensemble",
            must="have the same number of each, or one for all",
            but=f"has {', '.join(f'{count} of {name}' for name, count in sizes.items())}",
        )
    count = next(iter(sizes.values()), 1)
    varied = {k for k in values if f"parameter {k!r}" in sizes and count}
    _require_some(system, values, varied, count)
    spread = {
        name: value
        if f"parameter {name!r}" in sizes
        else np.broadcast_to(value, (count, *value.shape))
        for name, value in values.items()
    }
    q, v = (x if x.ndim == 2 else np.broadcast_to(x, (count, x.size)) for x in (q, v))
    for name, array, names in (("q", q, system.coordinates), ("v", v, system.velocities)):
        if array.shape != (count, len(names)):
            raise InputError(
                name, must=f"have shape ({count}, {len(names)})", but=f"has shape {array.shape}"
            )
    return q, v, spread
