"""What of a system changes with time at rest, by name: stability is that of a system that does not.

A constraint φ(q, t), a force Q(q, v, t), M or N with t in it may still be the same at all times, as
a reduced system in which cos² + sin² is left, or may stand still for now, as a driver before it
starts. With R = φ, ψ, Q, … and its derivatives by displacements and velocities,

    X = (R, R_π, R_v, (Aᵀλ)_π)

an entry of X that is the same at times near and far is constant; one that differs there, with
Ẋ = Ẍ = 0 now, is at rest; otherwise it moves. Rest is then one of the system held as it stands, and
eigenvalues of that system say nothing about the motion: a bead at the bottom of a hoop that turns
fast leaves it, and one of the hoop at rest does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.system_time import system_time
from zwang.diagnosis.wording import listing
from zwang.errors import ZwangError
from zwang.multibody.element import Arguments
from zwang.multibody.element_batches import Bulk
from zwang.multibody.pose import config_rate
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on
from zwang.tracing.rhs_rounding import summed_sizes

if TYPE_CHECKING:
    import casadi

__all__ = ["ChangesWithTime", "changes_with_time"]

#: Where else in time a system is looked at, relative to the time of the state, in `system_time`.
ELSEWHERE = (-83.1, -9.73, -1.13, -0.0317, 0.00137, 0.0413, 0.571, 1.39, 12.7, 131.0)
#: What changes by less, relative to its size, is the same; its derivatives count from there too, in
#: the time of the system.
SAME = 1e-11
#: Roundings of what was summed, below which a change is none: the parts of a force may cancel at
#: all times. `summed_sizes` counts one rounding an operation, and of more of them it is not asked.
ROUNDINGS, MOST_OPERATIONS = 4.0 * np.finfo(float).eps, 5000


class _Part(NamedTuple):
    """A part of the equations that has t in it, as functions of time.

    Attributes
    ----------
    name : ``driver 'motor'``; `owner` that of the constraint or force alone.
    restricts : whether it is a constraint.
    at : t → (R, what is derived of it), flat arrays, each of which has a size of its own.
    derivatives : of the same by time, Ẋ and Ẍ, at the time of the state.
    summed : how many derivatives by time, and t → the sizes of what was summed in them; None where
        these are not known.
    """

    name: str
    owner: str
    restricts: bool
    at: Callable[[float], list[FloatArray]]
    derivatives: Callable[[], tuple[list[FloatArray], list[FloatArray]]]
    summed: Callable[[int, float], list[FloatArray] | None]


@dataclass(frozen=True)
class _Change:
    """How one part changes with time at a state."""

    part: _Part
    moves: bool
    accelerates: bool
    varies: bool

    @property
    def name(self) -> str:
        """With what it is."""
        return self.part.name

    @property
    def restricts(self) -> bool:
        """Whether it is a constraint."""
        return self.part.restricts

    @property
    def active(self) -> bool:
        """Whether it changes now, and not only at other times."""
        return self.moves or self.accelerates or self.varies


@dataclass(frozen=True)
class ChangesWithTime:
    """What changes with time at a state, and what that means for its stability.

    Attributes
    ----------
    t : time of the state.
    parts : that change now, or at other times.
    """

    t: float
    parts: tuple[_Change, ...]

    @property
    def now(self) -> list[_Change]:
        """Parts that change at the time of the state."""
        return [one for one in self.parts if one.active]

    @property
    def linear_terms_vary(self) -> bool:
        """Whether the matrix of small motions depends on time, so that it has no modes."""
        return any(one.varies for one in self.parts)

    def without(self, owners: Iterable[str]) -> ChangesWithTime:
        """The same without some drivers, whose motion is an input."""
        left = set(owners)
        return ChangesWithTime(self.t, tuple(x for x in self.parts if x.part.owner not in left))

    def notes_at_rest(self, held: str) -> list[str]:
        """Sentences on an equilibrium.

        Parameters
        ----------
        held : stability of the system held as it stands.
        """
        notes, now = self._held_notes(), self.now
        if now:
            would = f", in which it is {held}" if held != "undecided" else ""
            notes.insert(
                0,
                f"{self._told(now)}. This is an equilibrium of the system held as it stands then"
                f"{would}; whether small motions grow while it changes remains undecided. "
                f"{_advice(now)}",
            )
        return notes

    def notes_on_eigenvalues(self) -> list[str]:
        """Sentences on a linearization about rest."""
        notes, now = self._held_notes(), self.now
        if now:
            what = (
                "A is that of this instant alone, and its eigenvalues do not tell whether small "
                "motions grow"
                if self.linear_terms_vary
                else "the state is an equilibrium of the system held as it stands then, and does "
                "not stay one"
            )
            notes.insert(0, f"{self._told(now)}: {what}. {_advice(now)}")
        return notes

    def _told(self, parts: Sequence[_Change]) -> str:
        """``Driver 'motor' moves and force 'push' changes at t = 0``."""
        groups = (
            ("moves", "move", [x.name for x in parts if x.moves and x.restricts]),
            (
                "is accelerated",
                "are accelerated",
                [x.name for x in parts if x.restricts and x.accelerates and not x.moves],
            ),
            (
                "changes with time",
                "change with time",
                [x.name for x in parts if not x.restricts or not (x.moves or x.accelerates)],
            ),
        )
        told = [
            f"{listing(names)} {one if len(names) == 1 else more}"
            for one, more, names in groups
            if names
        ]
        text = listing(told)
        return f"{text[0].upper()}{text[1:]} at t = {self.t:g}"

    def _held_notes(self) -> list[str]:
        names = [one.name for one in self.parts if not one.active]
        if not names:
            return []
        text = listing(names)
        told = (
            "stands still at t = {}, and changes at other times: it is taken as held."
            if len(names) == 1
            else "stand still at t = {}, and change at other times: they are taken as held."
        )
        return [f"{text[0].upper()}{text[1:]} {told.format(f'{self.t:g}')}"]


def _advice(parts: Sequence[_Change]) -> str:
    if any(one.restricts for one in parts):
        return (
            "Independent coordinates (reduce) may be free of time, and what turns or travels at a "
            "constant rate has a steady motion (steady_motion, rates)."
        )
    return "A simulation shows what the motion does."


def changes_with_time(equations: EquationsOf, q: FloatArray, lam: FloatArray) -> ChangesWithTime:
    """What changes with time at rest at a configuration with reactions λ."""
    make = _parts_of_functions if equations.parts is None else _parts_of_mechanism
    size = max(1.0, float(np.abs(q).max(initial=0.0)))
    parts = list(make(equations, q, lam))
    unit = system_time(equations, q, lam) if parts else 1.0
    found = [_change(part, equations.t, size, unit) for part in parts]
    return ChangesWithTime(equations.t, tuple(one for one in found if one is not None))


def _change(part: _Part, t: float, reach: float, unit: float) -> _Change | None:
    """How a part changes, or None where it is the same at all times, in a unit of time [s]."""
    with np.errstate(all="ignore"):
        now = part.at(t)
        times = [t + unit * apart for apart in ELSEWHERE]
        others = [_or_nan(part.at, time) for time in times]
        sizes = [_size(k, now, others, reach) for k in range(len(now))]
        if not any(_changes(now, other, sizes) for other in others):
            return None
        rounding = _rounding(part, 0, t, now)
        if not any(
            _changes(now, other, sizes, [a + b for a, b in zip(rounding, further, strict=True)])
            for time, other in zip(times, others, strict=True)
            for further in [_rounding(part, 0, time, now)]
        ):
            return None
        try:
            first, second = part.derivatives()
        except ZwangError:  # time passes through a function that cannot be differentiated so often
            return _Change(part, moves=True, accelerates=True, varies=True)
        found = []
        for order, rates in enumerate((first, second), start=1):
            parts = zip(rates, sizes, _rounding(part, order, t, rates), strict=True)
            found.append([_differ(x, 0.0 * x, s / unit**order, r) for x, s, r in parts])
    (moves, *vary), (accelerates, *bend) = found
    return _Change(part, moves, accelerates, any(vary) or any(bend))


def _changes(
    now: list[FloatArray],
    other: list[FloatArray],
    sizes: list[float],
    rounding: list[FloatArray] | None = None,
) -> bool:
    """Whether any of a part's values differs from those at another time by more than rounding."""
    known = [np.zeros(1)] * len(now) if rounding is None else rounding
    return any(_differ(*given) for given in zip(now, other, sizes, known, strict=True))


def _rounding(part: _Part, order: int, t: float, of: list[FloatArray]) -> list[FloatArray]:
    """What rounding may be in values of a part, or in derivatives by time; zero if unknown."""
    try:
        found = part.summed(order, t)
    except (ZwangError, ArithmeticError, ValueError):
        found = None
    if found is None:
        return [np.zeros(x.shape) for x in of]
    return [ROUNDINGS * np.where(np.isfinite(x), x, 0.0) for x in found]


def _or_nan(at: Callable[[float], list[FloatArray]], t: float) -> list[FloatArray]:
    """Values at another time; where a function refuses it, they are others."""
    try:
        return at(t)
    except (ZwangError, ArithmeticError, ValueError):
        return [np.full(1, np.nan)] * 3


def _size(k: int, now: list[FloatArray], others: list[list[FloatArray]], reach: float) -> float:
    """How large entries are: of R, also what displacements as large as the coordinates make."""
    every = [now, *others]
    finite = [x[k][np.isfinite(x[k])] for x in every]
    size = max((float(np.abs(x).max(initial=0.0)) for x in finite), default=0.0)
    own = float(np.abs(now[k]).max(initial=0.0))
    if k == 0:
        size, own = own, max(own, reach * float(np.abs(now[1]).max(initial=0.0)))
    return own if np.isfinite(own) and own > 0.0 else size


def _differ(a: FloatArray, b: FloatArray, size: float, rounding: FloatArray | float = 0.0) -> bool:
    if a.shape != b.shape:
        return True
    return bool((~(np.abs(a - b) <= np.maximum(SAME * size, rounding))).any())


# --- systems of functions -----------------------------------------------------------------------


def _parts_of_functions(equations: EquationsOf, q: FloatArray, lam: FloatArray) -> Iterable[_Part]:
    """Constraints, forces, mass matrix and kinematics that have t in them."""
    import casadi as ca

    x = equations.expressions
    if x.timed is None:
        x.timed = _timed(x)
    v = np.zeros(equations.nv)
    inputs = {"lambda": x.lam}
    for number, (name, owner, restricts, groups) in enumerate(x.timed):

        def values(t: float, number: int = number, groups: Any = groups) -> list[FloatArray]:
            made = {f"x{k}": e for k, e in enumerate(groups)}
            label = f"timed{number}"
            found = x.evaluate(label, lambda: made, inputs, q, v, [t], equations.p, lam)
            return [found[key][:, 0] for key in made]

        def derivatives(
            number: int = number, groups: Any = groups
        ) -> tuple[list[FloatArray], list[FloatArray]]:
            def outputs() -> dict[str, casadi.SX]:
                first = [x.jacobian(e, x.state.t) for e in groups]
                second = [x.jacobian(e, x.state.t) for e in first]
                return {
                    **{f"d{k}": ca.densify(e) for k, e in enumerate(first)},
                    **{f"e{k}": ca.densify(e) for k, e in enumerate(second)},
                }

            label = f"timed_rates{number}"
            found = x.evaluate(label, outputs, inputs, q, v, [equations.t], equations.p, lam)
            count = range(len(groups))
            return [found[f"d{k}"][:, 0] for k in count], [found[f"e{k}"][:, 0] for k in count]

        summed = partial(_summed_of_functions, equations, q, lam, number, groups)
        yield _Part(name, owner, restricts, values, derivatives, summed)


def _summed_of_functions(
    equations: EquationsOf,
    q: FloatArray,
    lam: FloatArray,
    number: int,
    groups: list[casadi.SX],
    order: int,
    t: float,
) -> list[FloatArray] | None:
    """Sizes of what is summed in a part of functions, derived by time so often, at a time."""
    x = equations.expressions
    s = x.state
    given = [s.q, s.v, s.t, s.p, x.lam]
    if s.calls or _operations(groups, given) > MOST_OPERATIONS:
        return None

    def outputs() -> dict[str, casadi.SX]:
        return {f"s{k}": e for k, e in enumerate(_sizes(groups, s.t, order, given))}

    label, v = f"timed_sizes{number}_{order}", np.zeros(equations.nv)
    found = x.evaluate(label, outputs, {"lambda": x.lam}, q, v, [t], equations.p, lam)
    return [found[f"s{k}"][:, 0] for k in range(len(groups))]


def _operations(groups: list[casadi.SX], inputs: list[casadi.SX]) -> int:
    import casadi as ca

    return int(ca.Function("operations", inputs, groups).n_instructions())


def _sizes(
    groups: list[casadi.SX], t: casadi.SX, order: int, inputs: list[casadi.SX]
) -> list[casadi.SX]:
    """Sizes of what is summed in some expressions derived by time so often."""
    import casadi as ca

    for _ in range(order):
        groups = [ca.jacobian(x, t) for x in groups]
    return [summed_sizes(ca.densify(x), inputs) for x in groups]


def _timed(x: Any) -> list[tuple[str, str, bool, list[casadi.SX]]]:
    """Name, owner, whether it restricts, and (R, derivatives, geometric stiffness) of each part."""
    import casadi as ca

    m, s = x.model, x.state
    result: list[tuple[str, str, bool, list[casadi.SX]]] = []

    def slopes(e: casadi.SX) -> list[casadi.SX]:
        by_state = [ca.vec(ca.densify(x.by_pi(e))), ca.vec(ca.densify(x.jacobian(e, s.v)))]
        return by_state if m.ideal else [*by_state, ca.vec(ca.densify(x.jacobian(e, x.lam)))]

    rows = m.rows_of_blocks
    for name, block in m.blocks.items():
        R = block.value if block.value is not None else block.rate
        R = -block.b if R is None else R
        if not depends_on(ca.veccat(R, block.A), s.t, s):
            continue
        bent = x.by_pi(ca.mtimes(block.A.T, x.lam[rows[name]]))
        straight = [ca.vec(ca.densify(block.A))] if block.rate is None else []
        groups = [ca.densify(R), ca.vertcat(*slopes(R), *straight), ca.vec(ca.densify(bent))]
        owner = m.owner(name)
        result.append((f"constraint {owner!r}", owner, True, groups))
    none = ca.SX.zeros(0, 1)
    force = m.Q + m.C
    if depends_on(force, s.t, s):
        groups = [ca.densify(force), ca.vertcat(*slopes(force)), none]
        result.append(("the force", "", False, groups))
    if depends_on(ca.vec(m.M), s.t, s):
        result.append(("the mass matrix", "", False, [none, ca.vec(ca.densify(m.M)), none]))
    if depends_on(ca.veccat(m.N, m.n0), s.t, s):
        groups = [ca.densify(m.n0), ca.vec(ca.densify(m.N)), ca.vec(ca.densify(x.by_pi(m.n0)))]
        result.append(("the kinematics", "", False, groups))
    return result


# --- mechanisms ---------------------------------------------------------------------------------


def _parts_of_mechanism(equations: EquationsOf, q: FloatArray, lam: FloatArray) -> Iterable[_Part]:
    """Drivers, constraints, forces and laws of friction that have t in them."""
    parts = equations.parts
    first = parts.row_starts
    with_time = {
        e.law.key: _has_time(parts.traced[e.law.key].function, len(e.law.kinds))
        for e in {e.law.key: e for e in parts.constraints + parts.forces}.values()
    }
    timed = [
        (element, lam[first[i] : first[i + 1]])
        for i, element in enumerate(parts.constraints)
        if with_time[element.law.key]
    ]
    timed += [(element, None) for element in parts.forces if with_time[element.law.key]]
    bulk = Bulk(parts)
    configs = bulk.configs(q[None]) if timed else {}
    sizes: dict[Any, casadi.Function | None] = {}
    for element, own in timed:
        further = [] if own is None else [own[None]]
        one = _ElementInTime(equations, bulk, q, configs, element, further, sizes)
        name = f"{_kind(element)} {element.name!r}"
        restricts = own is not None
        yield _Part(name, element.name, restricts, one.at, one.derivatives, one.summed)
    for law in parts.frictions:
        if _has_time(law.function, len(parts.constraints[law.constraint].law.kinds)):
            joint = parts.constraints[law.constraint].name
            unknown = [np.full(1, np.nan)] * 3
            yield _Part(
                f"friction in {joint!r}",
                law.element.name,
                restricts=False,
                at=lambda _, unknown=unknown: unknown,
                derivatives=lambda unknown=unknown: (unknown, unknown),
                summed=lambda _order, _t: None,
            )


@dataclass
class _ElementInTime:
    """An element at a configuration, as functions of time; see `_Part`.

    Attributes
    ----------
    configs : of the bodies, see `Bulk.configs`.
    further : its reaction, if it has one.
    sizes : functions of what is summed, by law and how often derived, of all elements.
    """

    equations: EquationsOf
    bulk: Bulk
    q: FloatArray
    configs: Any
    element: Any
    further: list[FloatArray]
    sizes: dict[Any, casadi.Function | None]

    def __post_init__(self) -> None:
        self.functions = _element_functions(self.equations.parts, self.element)

    def at(self, t: float) -> list[FloatArray]:
        return self._found(("time", 0), self.functions[0], t)

    def derivatives(self) -> tuple[list[FloatArray], list[FloatArray]]:
        t = self.equations.t
        return (
            self._found(("time", 1), self.functions[1], t),
            self._found(("time", 2), self.functions[2], t),
        )

    def summed(self, order: int, t: float) -> list[FloatArray] | None:
        key = (order, self.element.law.key)
        if key not in self.sizes:
            self.sizes[key] = _element_sizes(self.equations.parts, self.element, order)
        function = self.sizes[key]
        return None if function is None else self._found(("time sizes", order), function, t)

    def _found(self, key: tuple[Any, ...], function: casadi.Function, t: float) -> list[FloatArray]:
        state = self.q[None], np.zeros((1, self.equations.nv)), np.array([t])
        key, p = (*key, self.element.law.key), self.equations.p
        every = self.bulk.evaluate(
            key, function, [self.element], state, p, self.configs, self.further
        )
        return [x[0, 0] for x in every]


def _kind(element: Any) -> str:
    """What an element is called in a note."""
    what = str(element.law.what)
    return what if what == "driver" or element.law.level == "force" else "constraint"


def _has_time(function: casadi.Function, bodies: int) -> bool:
    """Whether a traced law has t in it, which follows configurations and velocities."""
    import casadi as ca

    symbols = [ca.SX.sym("x", *function.size_in(k)) for k in range(function.n_in())]
    return bool(ca.depends_on(ca.veccat(*function.call(symbols)), symbols[2 * bodies]))


def _element_functions(parts: Any, element: Any) -> list[casadi.Function]:
    """(R, its derivatives, geometric stiffness) of an element, and these derived by time twice."""
    import casadi as ca

    groups, inputs, t = _element_groups(parts, element)
    functions = []
    for k in range(3):
        functions.append(ca.Function(f"time{k}", inputs, [ca.densify(x) for x in groups]))
        groups = [ca.jacobian(x, t) for x in groups]
    return functions


def _element_sizes(parts: Any, element: Any, order: int) -> casadi.Function | None:
    """Sizes of what is summed in the same; None where these are not known."""
    import casadi as ca

    groups, inputs, t = _element_groups(parts, element)
    own = ca.Function("time", inputs, groups, {"allow_free": True})
    if own.has_free() or own.n_instructions() > MOST_OPERATIONS:
        return None
    return ca.Function("time_sizes", inputs, _sizes(groups, t, order, inputs))


def _element_groups(parts: Any, element: Any) -> tuple[list[casadi.SX], list[casadi.SX], casadi.SX]:
    """(R, its derivatives, geometric stiffness) of an element, what they depend on, and t."""
    import casadi as ca

    law = element.law
    symbols = Arguments.of(law, parts.parameters)
    traced = parts.traced[law.key]
    results = traced.function.call(symbols.columns)
    further: list[casadi.SX] = []
    bent = ca.SX.zeros(1, 1)
    if traced.level == "force":
        R = ca.vertcat(*results[1:])
    else:
        R = results[0] if traced.level == "position" else results[1]
        further = [ca.SX.sym("lambda", traced.rows)]
        bent = ca.vertcat(*(ca.mtimes(block.T, further[0]) for block in results[3:]))

    def slopes(e: casadi.SX, *, by_v: bool) -> casadi.SX:
        found = []
        for kind, c, v in zip(law.kinds, symbols.configs, symbols.velocities, strict=True):
            if kind.nv:
                directions = ca.jacobian(config_rate(kind, c, v), v)
                found.append(ca.vec(ca.densify(ca.mtimes(ca.jacobian(e, c), directions))))
                if by_v:
                    found.append(ca.vec(ca.densify(ca.jacobian(e, v))))
        return ca.vertcat(*found)

    groups = [ca.densify(R), slopes(R, by_v=True), slopes(bent, by_v=False)]
    return groups, [*symbols.columns, *further], symbols.t
