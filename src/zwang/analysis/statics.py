"""Equilibria: Q + C + Aᵀλ = 0 on the constraints, with reactions, stability and families."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.analysis.at_rest import effort_unit
from zwang.analysis.equations_of import EquationsOf, Held, held_channels
from zwang.analysis.higher_order import beyond_second_order
from zwang.analysis.search import AT_ONCE, Found, Point, newton_only, point_at, search, stiffness
from zwang.analysis.stability import Variation, depends_on_sharing, second_variation, verdict
from zwang.analysis.stationary_state import StationaryState
from zwang.analysis.sticking import (
    WITHIN,
    HeldByFriction,
    Sticking,
    frictions_of,
    held_by_friction,
    limits_at,
    ranges,
    sliding,
)
from zwang.analysis.time_dependence import changes_with_time
from zwang.analysis.turning import TURN, turning_coordinates
from zwang.arguments.keywords import known_keywords_of_methods
from zwang.arguments.values import positive
from zwang.caching import computed_once
from zwang.diagnosis.passport import Passport, Status, passport_terms
from zwang.diagnosis.splits import Split, Splits, splits_terms
from zwang.display import without_rounding
from zwang.errors import (
    InputError,
    NoEquilibriumError,
    UnknownNameError,
    ZwangError,
    shown,
)
from zwang.state import State
from zwang.terms import EquationTerms, FloatArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from zwang.analysis.linearization import Linearization
    from zwang.results.run import Run
    from zwang.system import System
    from zwang.view.static import StaticScene

__all__ = ["Equilibrium", "StaticReaction", "equilibria", "equilibrium"]

#: How a start is told that friction alone holds.
BY_FRICTION = "friction"
#: Equilibria whose coordinates differ by less than this, relative, are one.
SAME = 1e-6
#: Steps from one member of a family to another, of an eighth of the way; how far Newton's method
#: may lead off each, of its length; and the least part of the way that must be along the family,
#: which bends.
FAMILY_STEPS, PART_OF_WAY = 32, 0.125
LED_OFF, ALONG = 0.5, 0.02


@dataclass(frozen=True)
class StaticReaction:
    """What a constraint or joint exerts at rest.

    Attributes
    ----------
    name : of the constraint or joint.
    generalized : A_gᵀλ_g on all velocities, shape (n,).
    determinate : whether it follows from the forces; if not, it is the least-norm share.
    force, moment, point : of a joint, on its second body at its point, world axes, shape (3,) each;
        None of constraints that act at no point.
    """

    name: str
    generalized: FloatArray
    determinate: bool
    force: FloatArray | None = None
    moment: FloatArray | None = None
    point: FloatArray | None = None


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class Equilibrium(StationaryState):
    """A system at rest, or a state from which it does not move.

    Attributes
    ----------
    q, v : coordinates, shape (nq,), and velocities, all zero, shape (nv,).
    t : time [s] at which forces and drivers are taken.
    stability : ``"stable"``, ``"unstable"``, ``"marginal"`` where a displacement meets no
        resistance of any order, or ``"undecided"``, as where several meet none but of higher order,
        or a constraint or a force changes with time: the
        state is then an equilibrium of the system held as it stands at t, and a note names what
        changes.
    residual : the largest of three shares: of the force that is left, relative to the largest that
        acts or that displacements as large as the coordinates would make; of what position
        constraints miss, relative to the coordinates; of what held values miss, relative to them.
    method : how it was found: ``"the start is at rest"``, ``"descent"``, ``"Newton"``,
        ``"continuation"``, ``"dynamic relaxation"``, or ``"friction"`` where that alone holds it.
    steps : of that method.
    families : neutral displacements in words, and those along which dry friction sticks; the
        equilibrium is one of a family along each.
    family_directions : the same as columns by the velocities, shape (n, k).
    stiffness : eigenvalues of the constrained second variation, smallest first.
    holding : effort that holds a coordinate, by its name, positive along it.
    notes : what else there is to know, as sentences.
    """

    stability: str
    residual: float
    method: str
    steps: int
    families: tuple[str, ...]
    family_directions: FloatArray = field(repr=False)
    stiffness: FloatArray = field(repr=False)
    holding: Mapping[str, float]
    notes: tuple[str, ...]
    _point: Point = field(repr=False)

    # --- reactions --------------------------------------------------------------------------------

    @computed_once
    def terms(self) -> EquationTerms:
        """The equations of statics as terms: unit masses, since nothing accelerates."""
        equations, values = self._equations, self._point.values
        force = self._point.force + self._held_force + self._tooth_force
        return EquationTerms.of(
            np.diag(1.0 / self._point.spaces.d**2),
            force,
            values.A,
            np.zeros(equations.rows),
            names=equations.system.row_names,
            coordinates=equations.system.velocities,
        )

    @property
    def _held_force(self) -> FloatArray:
        """What holds coordinates, as a generalized force."""
        if not self.holding:
            return np.zeros(self._equations.nv)
        rows = Held(self._equations, self.q, list(self.holding)).at(self.q)[1]
        return rows.T @ np.array(list(self.holding.values()))

    @property
    def _tooth_force(self) -> FloatArray:
        """Forces by which teeth push bearings apart, which move nothing."""
        parts = self._equations.parts
        if parts is None or not parts.workless:
            return np.zeros(self._equations.nv)
        at = self.q, self.v, np.asarray(self.t), self._equations.p
        return self.system.equations.terms_at(*at).nonideal_force

    def passport(self, groups: Mapping[str, Iterable[int | str] | str] | None = None) -> Passport:
        """Which reactions are determinate, with their least-norm values; see `zwang.passport`."""
        chosen = self._groups if groups is None else groups
        return passport_terms(self.terms, groups=chosen)

    @computed_once
    def sticking(self) -> tuple[Sticking, ...]:
        """What dry friction in joints can hold: effort, limit, and between which positions."""
        return ranges(self._equations, self.q, dict(self.holding))

    def splits(
        self, *, weights: ArrayLike | None = None, compliance: ArrayLike | None = None
    ) -> Splits:
        """Ways to share indeterminate reactions among the rows; see `zwang.splits`."""
        return splits_terms(self.terms, weights=weights, compliance=compliance)

    @property
    def _groups(self) -> dict[str, list[int]]:
        bodies = self.system.equations.of_bodies
        return (bodies.rows_of_joints if bodies is not None else {}) or self.system.groups

    @computed_once
    def _passport(self) -> Passport:
        return self.passport(self.system.groups)

    def multipliers(self, name: str, lam: Split | ArrayLike | None = None) -> FloatArray:
        """λ of a constraint or joint, the least-norm ones, shape (rows,).

        Parameters
        ----------
        lam : other multipliers of all rows, or a choice of `splits`:
            ``eq.splits(compliance=…)["compliance-weighted"]``.
        """
        rows = self._rows(name)
        given = lam.multipliers if isinstance(lam, Split) else lam
        try:
            every = self._passport.multipliers if given is None else np.array(given, dtype=float)
        except (TypeError, ValueError):
            every = np.full(1, np.nan)
        if every.shape != (self._equations.rows,):
            raise InputError(
                "multipliers",
                expected=f"{self._equations.rows} numbers, one for each row, or a choice of splits",
                found=shown(given),
            )
        return every[rows]

    def _rows(self, name: str) -> list[int]:
        groups = self.system.groups
        if name not in groups:
            raise UnknownNameError("constraint or joint", str(name), groups)
        return groups[name]

    def reaction(self, name: str, lam: Split | ArrayLike | None = None) -> StaticReaction:
        """What a constraint or joint exerts.

        Parameters
        ----------
        lam : other multipliers of all rows, or a choice of `splits`; the least-norm ones if not
            given.
        """
        multipliers, rows = self.multipliers(name, lam), self._rows(name)
        generalized = self._point.values.A[rows].T @ multipliers
        known = self._passport.groups[name].status is Status.DETERMINATE
        parts: Any = self._equations.parts
        joint = None if parts is None else parts.joints.get(name)
        if joint is None or joint.a is None or joint.b is None:
            return StaticReaction(name, generalized, known)
        from zwang.multibody.wrench import joint_wrench

        total, q, point = generalized[None], self.q[None], None
        if joint.toothed:
            t, p, bodies = np.array([self.t]), self._equations.p, self.system.equations.of_bodies
            assert bodies is not None
            total = total + bodies.tooth_force(name, q, self.v[None], t, multipliers[None], p)
            point = bodies.pitch_point(name, q, t, p)
        assert parts is not None
        found = joint_wrench(parts, joint, total, q, point)
        return StaticReaction(
            name, generalized, known, found.force[0], found.moment[0], found.point[0]
        )

    # --- what follows -----------------------------------------------------------------------------

    def linearize(
        self,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        independent: Sequence[str] | None = None,
    ) -> Linearization:
        """The same with inputs, outputs or states of your choice; see `zwang.System.linearize`."""
        if self.holding:
            raise InputError(
                "linearization of an equilibrium",
                must="have no held coordinates",
                but=f"has some ({', '.join(self.holding)})",
                advice="Hold them by drivers or constraints, which the linearization keeps.",
            )
        return self.system.linearize(
            self.state, inputs, outputs, independent, parameters=self.parameters
        )

    def as_run(self) -> Run:
        """The equilibrium as a run of one state, to be drawn: ``eq.as_run().view()``."""
        from zwang.analysis.mode_motion import still_run

        return still_run(self._equations, self.q, f"equilibrium, {self.stability}")

    def show(self, *others: Equilibrium, title: str | None = None) -> StaticScene:
        """The mechanism at rest in three dimensions, with its reactions and applied forces.

        In a notebook it is shown; ``eq.show().save("rest.html")`` is a file that opens without
        Python.

        Parameters
        ----------
        others : equilibria of the same mechanism that a menu offers beside this one.
        title : heading.
        """
        from zwang.view.small_motions import show_equilibria

        return show_equilibria([self, *others], title=title)

    def _place(self) -> list[str]:
        """Where it is: coordinates of joints with their units, or those of the system."""
        from zwang.results.channel_catalog import unit_of_state

        joints = [name for name in self.system.channels if not name.endswith("_rate")]
        if joints:
            units = {n: unit_of_state(n) for n in joints}
            # Beside bodies far away a small displacement is their rounding.
            places = [
                abs(x)
                for n, x in zip(self.system.coordinates, self.q, strict=True)
                if unit_of_state(n) == "m"
            ]
            places += [abs(self[n]) for n in joints if units[n] == "m"]
            sizes = {"m": max(places, default=0.0)}
            told = {n: without_rounding(self[n], sizes.get(units[n], 1.0)) for n in joints}
            return [f"{n} = {x:.6g} {units[n]}" for n, x in told.items()]
        return [f"{n} = {x:.6g}" for n, x in zip(self.system.coordinates, self.q, strict=True)]

    def __str__(self) -> str:
        pairs = self._place()
        if len(pairs) > 12:
            pairs = [*pairs[:12], f"and {len(pairs) - 12} more"]
        return "\n".join([self._head(), ", ".join(pairs), *self._facts()])

    def without_place(self) -> str:
        """The same without its coordinates, for where these are in a table."""
        return "\n".join([self._head(), *self._facts()])

    def _head(self) -> str:
        if self._has_no_freedom:
            return "Equilibrium without a degree of freedom: nothing moves by itself."
        return f"Equilibrium, {self.stability}{_how(self.method, self.steps)}."

    @property
    def _has_no_freedom(self) -> bool:
        """Whether constraints leave no displacement, without held values."""
        of_dense = not self._equations.is_large
        return of_dense and not len(self.stiffness) and not self.holding and not self.families

    def _facts(self) -> list[str]:
        lines = [f"Forces balance to {self.residual:.1e} of the largest."]
        lines += [f"One of a family: {words}." for words in self.families]
        for name, effort in self.holding.items():
            lines.append(f"{name} is held by {f'{effort:.6g} {effort_unit(name)}'.strip()}.")
        lines += [f"{str(one)[0].upper()}{str(one)[1:]}." for one in self.sticking]
        return [*lines, *self.notes]


def _how(method: str, steps: int) -> str:
    if method == AT_ONCE:
        return ": the start is in static equilibrium"
    return f", found by {method} in {steps} step{'s' if steps != 1 else ''}"


def equilibrium(
    system: System,
    start: Any = None,
    hold: Mapping[str, Any] | None = None,
    prefer: Mapping[str, Any] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Any:
    """A configuration at rest; see `zwang.System.equilibrium`."""
    equations = EquationsOf(system, t, parameters)
    if equations.is_large:
        from zwang.analysis.sparse_statics import sparse_equilibrium

        return sparse_equilibrium(equations, start, hold, prefer)
    q = _start(equations, start, hold, prefer)
    names = held_channels(equations, hold)
    held = Held(equations, q, names) if names else None
    _require_rest(equations, q)
    q, met = equations.corrected(q, held)
    if not met:
        raise InputError("start", must="satisfy the constraints")
    found = search(equations, q, held)
    if held is not None or found.method == AT_ONCE:
        if not found.at_rest:
            raise _none(equations, found)
        return _equilibrium(equations, found, held)
    stuck = held_by_friction(equations, q)
    holds = stuck is not None and stuck.share <= WITHIN
    if found.at_rest:
        rest = _equilibrium(equations, found, held)
        if stuck is None or not holds:
            return rest
        told = ", ".join(stuck.held.names)
        share = without_rounding(stuck.share, 1.0)
        note = f"Friction holds the start too, with {share:.4g} of its limits: hold {told}."
        return replace(rest, notes=(*rest.notes, note))
    if stuck is None or not holds:
        raise _none(equations, found, None if stuck is None else stuck.share)
    return _stuck(equations, stuck)


def _stuck(equations: EquationsOf, stuck: HeldByFriction) -> Equilibrium:
    """The equilibrium at a start that friction holds, with its efforts as holding ones."""
    point = stuck.found.point._replace(lam=stuck.multipliers)
    found = Found(point, BY_FRICTION, stuck.found.steps, at_rest=True)
    rest = _equilibrium(equations, found, stuck.held)
    free = point_at(equations, rest.q)._replace(lam=stuck.multipliers[: equations.rows])
    words, directions = _sticking_families(equations, free, second_variation(equations, free))
    note = (
        "Nothing but friction holds it: the efforts above are those of friction, which needs "
        f"{stuck.share:.4g} of what it can exert. In a simulation, where its sign is smoothed, it "
        "creeps."
    )
    changes = changes_with_time(equations, rest.q, free.lam)
    return replace(
        rest,
        stability="undecided" if changes.now else "marginal",
        families=(*rest.families, *words),
        family_directions=np.hstack([rest.family_directions, directions]),
        notes=(*rest.notes, note),
    )


def at_rest(equations: EquationsOf, q: FloatArray, method: str, steps: int) -> Equilibrium:
    """The equilibrium at a configuration that is known to be one."""
    return _equilibrium(equations, Found(point_at(equations, q), method, steps, at_rest=True), None)


def _start(
    equations: EquationsOf,
    start: Any,
    hold: Mapping[str, Any] | None,
    prefer: Mapping[str, Any] | None,
) -> FloatArray:
    """A configuration on the constraints from which the search begins."""
    system = equations.system
    if equations.parts is None and start is None and not hold and not prefer:
        start = np.zeros(equations.nq)
        q, met = equations.corrected(equations.on_unit_length(start))
        if met:
            return q
    found: Any = system.assemble(
        hold, prefer, t=equations.t, parameters=equations.parameters, start=start
    )
    return np.array(found.q, dtype=float)


def _require_rest(equations: EquationsOf, q: FloatArray) -> None:
    """Refuse rows of velocity that no rest satisfies, and kinematics that move by themselves."""
    values = equations.values(q)
    levels = equations.system.row_levels()
    names = [n for n, k in zip(equations.system.row_names, levels, strict=True) if k == "velocity"]
    rated = [k for k in levels if k != "acceleration"]
    moving = [
        (name, float(rate))
        for name, rate in zip(
            names, values.rate[[i for i, k in enumerate(rated) if k == "velocity"]], strict=True
        )
        if abs(rate) > 1e-9
    ]
    if moving:
        name, rate = moving[0]
        raise NoEquilibriumError(
            f"constraint {name!r}",
            must="allow rest",
            but=f"prescribes a velocity of {rate:.6g}",
            advice=f"Ask for a steady motion, {equations.owner}.steady_motion(rates=…).",
        )
    if np.abs(values.n0).max(initial=0.0) > 1e-12:
        raise NoEquilibriumError(
            "kinematics n0",
            must="be zero, so that rest exists",
            but="coordinates change at zero velocity",
        )


def _none(
    equations: EquationsOf, found: Found, friction: float | None = None
) -> NoEquilibriumError:
    """The error where no rest was found: what moves, and what drives it.

    Parameters
    ----------
    friction : how many times as large dry friction would have to be to hold the start.
    """
    at = found.point
    direction = at.spaces.basis @ at.g
    words = equations.motion_in_words(at.q, direction)
    size = float(np.abs(at.force).max(initial=0.0))
    along = direction / max(float(np.abs(direction).max(initial=0.0)), 1e-300)
    effort = abs(float(at.force @ along))
    far = found.method == "descent"
    bodies = _bodies(equations, direction)
    what = f"equilibrium of {bodies}" if bodies else "equilibrium"
    return NoEquilibriumError(
        what,
        direction=direction,
        must="be a configuration in which all forces balance",
        but=f"nothing holds this motion: {words}, driven by {effort:.6g} (largest force {size:.6g})"
        if far
        else f"none is found by {', '.join(found.tried)}; the remaining force drives this motion: "
        f"{words}, by {effort:.6g}",
        advice=f"Friction would hold the start if it were {friction:.4g} times as large."
        if friction is not None
        else "Support it by a joint or a spring, or hold a coordinate, hold={…}."
        if far
        else "Give a start nearer to it, start=… or prefer={…}.",
    )


def _bodies(equations: EquationsOf, direction: FloatArray) -> str:
    """``body 'ball'``, of a mechanism."""
    if equations.parts is None:
        return ""
    from zwang.diagnosis.wording import listing
    from zwang.multibody.motion_words import moving_bodies

    names = [repr(b.name) for b in moving_bodies(equations.parts, direction)]
    return f"{'body' if len(names) == 1 else 'bodies'} {listing(names)}"


def _equilibrium(
    equations: EquationsOf, found: Found, held: Held | None, *, beyond: bool = True
) -> Equilibrium:
    """An equilibrium with its stability, beyond the second order or as far as that tells."""
    at = found.point
    variation = second_variation(equations, at, held)
    left = at.force + _rows(at, held).T @ at.lam
    size = max(
        float(np.abs(at.force).max(initial=0.0)),
        float(np.abs(at.values.Q).max(initial=0.0)),
        float(
            np.abs(stiffness(equations, at, held)).max(initial=0.0) * np.abs(at.q).max(initial=0.0)
        ),
    )
    notes = list(_notes(equations, at, found, held))
    stability = _stability(equations, at, variation, held)
    neutral = _one_by_one(equations, variation.neutral)
    known = held is None and variation.symmetric and variation.holonomic
    if beyond and known and stability == "marginal":
        stability, neutral, told = _beyond(equations, at, variation, neutral)
        notes += told
    if stability == "unstable" and found.method == AT_ONCE:
        notes.append("Start a little off it to find a stable one.")
    if depends_on_sharing(equations, at):
        notes.append(
            "Reactions are indeterminate, and stability depends on how they are shared (prestress)."
        )
        stability = "undecided" if stability != "unstable" or variation.symmetric else stability
    changes = changes_with_time(equations, at.q, at.lam[: equations.rows])
    # Where nothing can move by itself, there are no small motions that could grow.
    if len(variation.eigenvalues) or held is not None or not changes.now:
        notes += changes.notes_at_rest(stability)
        if changes.now:
            stability = "undecided"
    families = [equations.motion_in_words(at.q, d) for d in neutral.T]
    words, directions = _sticking_families(equations, at, variation)
    holding = (
        {}
        if held is None
        else dict(zip(held.names, (float(x) for x in at.lam[equations.rows :]), strict=True))
    )
    return Equilibrium(
        at.q,
        np.zeros(equations.nv),
        equations.t,
        equations,
        stability,
        max(
            float(np.abs(left).max(initial=0.0)) / size if size > 0.0 else 0.0,
            _missed(at, held),
        ),
        found.method,
        found.steps,
        *_joined(families, neutral, words, directions),
        variation.eigenvalues,
        holding,
        tuple(notes),
        at,
    )


def _beyond(
    equations: EquationsOf, at: Point, variation: Variation, neutral: FloatArray
) -> tuple[str, FloatArray, list[str]]:
    """Stability by terms of higher order, the displacements of families, and what is told."""
    higher = beyond_second_order(equations, at, variation)
    if not higher.order:
        return higher.stability, neutral, []
    moves = " or ".join(equations.motion_in_words(at.q, d) for d in neutral.T)
    told = (
        f"No force of first order resists this: {moves}; the forces of order {higher.order} "
        "decide on stability."
    )
    alone = neutral.shape[1] == 1  # at rest at no other place along it
    return higher.stability, neutral[:, :0] if alone else neutral, [told]


def _missed(at: Point, held: Held | None) -> float:
    """What position constraints and held values miss, relative to coordinates and values."""
    size = max(1.0, float(np.abs(at.q).max(initial=0.0)))
    missed = float(np.abs(at.values.phi).max(initial=0.0)) / size
    if held is None or not held.names:
        return missed
    gaps = np.abs(held.at(at.q)[0]) / np.maximum(1.0, np.abs(held.targets))
    return max(missed, float(gaps.max()))


def _sticking_families(
    equations: EquationsOf, at: Point, variation: Variation
) -> tuple[list[str], FloatArray]:
    """Motions along which dry friction keeps what is moved a little, in words and as columns."""
    words: list[str] = []
    directions: list[FloatArray] = [np.zeros((equations.nv, 0))]
    frictions = frictions_of(equations)
    limits = limits_at(equations, frictions, at.q, at.lam) if frictions else []
    for of, limit in zip(frictions, limits, strict=True):
        along = sliding(equations, at, variation.K, of.coordinate)
        if along is None:
            continue
        motion = equations.motion_in_words(at.q, along)
        words.append(f"{motion}, which friction in {of.joint} holds against up to {limit:.6g}")
        directions.append(along[:, None])
    return words, np.hstack(directions)


def _joined(
    families: list[str], neutral: FloatArray, words: list[str], directions: FloatArray
) -> tuple[tuple[str, ...], FloatArray]:
    """Families without those that friction holds as well, which are told with that."""
    kept = [
        k
        for k, told in enumerate(families)
        if not any(w.startswith(f"{told}, which") for w in words)
    ]
    both = np.hstack([neutral[:, kept], directions])
    return (*(families[k] for k in kept), *words), both


def _rows(at: Point, held: Held | None) -> FloatArray:
    return at.values.A if held is None else np.vstack([at.values.A, held.at(at.q)[1]])


def _one_by_one(equations: EquationsOf, neutral: FloatArray) -> FloatArray:
    """Neutral displacements apart from each other, body by body where that is possible."""
    if not neutral.shape[1]:
        return neutral
    orthonormal = np.linalg.qr(neutral)[0]
    if equations.parts is not None:
        from zwang.multibody.motion_words import one_by_one

        return one_by_one(equations.parts, orthonormal)
    from scipy.linalg import qr

    found: Any = qr(orthonormal.T, pivoting=True)
    order = found[2]
    chosen = order[: neutral.shape[1]]
    return np.linalg.solve(orthonormal[chosen].T, orthonormal.T).T


def _stability(equations: EquationsOf, at: Point, variation: Variation, held: Held | None) -> str:
    found = verdict(variation, None)
    if found != "undecided" or held is not None:
        return found
    from zwang.analysis.linearization import linearize

    try:
        state = State(at.q, np.zeros(equations.nv), equations.t)
        lin = linearize(equations.system, state, parameters=equations.parameters)
    except ZwangError:  # accelerations are not unique, or drivers move
        return found
    return verdict(variation, lin.eigenvalues)


def _notes(equations: EquationsOf, at: Point, found: Found, held: Held | None) -> Iterable[str]:
    if len(found.tried) > 1:
        yield f"Tried in turn: {', '.join(found.tried)}."
    if at.spaces.idle.shape[1]:
        yield (
            f"Reactions are indeterminate by {at.spaces.idle.shape[1]}; passport() says which, "
            "splits() shares them out."
        )
    if held is None and frictions_of(equations):
        yield (
            "Dry friction exerts nothing in this position, and holds neighboring ones; sticking "
            "says between which values."
        )


def equilibria(
    system: System,
    starts: Any = None,
    count: int = 40,
    hold: Mapping[str, Any] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    spread: float = 3.0,
) -> list[Equilibrium]:
    """Several equilibria, nearest to the first start first; see `zwang.System.equilibria`."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
        raise InputError("count", found=shown(count), expected="a number of starts, 0 or more")
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InputError("seed", found=shown(seed), expected="a whole number, 0 or more")
    spread = positive("spread", spread)
    equations = EquationsOf(system, t, parameters)
    given = None if starts is None else [np.asarray(getattr(s, "q", s), float) for s in starts]
    first = _start(equations, None if not given else given[0], hold, None)
    names = held_channels(equations, hold)
    _require_rest(equations, first)
    rng = np.random.default_rng(seed)
    found: list[Equilibrium] = []
    ends: list[Found] = []
    begin = [first] if given is None else [_start(equations, s, hold, None) for s in given]
    begin += [_drawn(equations, first, rng, spread) for _ in range(count)]
    held = Held(equations, first, names) if names else None
    turning = turning_coordinates(equations, first, rng)

    def is_one(one: Equilibrium, other: Equilibrium) -> bool:
        if _same(equations, one.q, other.q, turning):
            return True
        return _one_family(equations, one, _nearest(equations, other.q, one.q, turning), held)

    for q in begin:
        on, met = equations.corrected(q, held)
        if not met:
            continue
        for end in _from(equations, on, held):
            one = _equilibrium(equations, end, held, beyond=False)
            k = next((k for k, other in enumerate(found) if is_one(one, other)), None)
            if k is None:
                found.append(one)
                ends.append(end)
            elif np.linalg.norm(one.q - first) < np.linalg.norm(found[k].q - first):
                found[k], ends[k] = one, end  # full turns nearer to the start
    found = [
        _equilibrium(equations, end, held) if one.stability == "marginal" else one
        for one, end in zip(found, ends, strict=True)
    ]
    return sorted(found, key=lambda one: float(np.linalg.norm(one.q - first)))


def _drawn(
    equations: EquationsOf, q: FloatArray, rng: np.random.Generator, spread: float
) -> FloatArray:
    """A configuration displaced at random along what the constraints allow, in a few steps."""
    goal = rng.standard_normal(equations.nv) * spread * rng.uniform(0.1, 1.0)
    for _ in range(8):
        at = point_at(equations, q)
        D, d = at.spaces.basis, at.spaces.d
        step = D @ (D.T @ (goal / 8.0 / d**2))
        new, met = equations.corrected(equations.moved(q, step, at.values.N))
        if not met:
            break
        q = new
    return q


def _from(equations: EquationsOf, q: FloatArray, held: Held | None) -> Iterable[Found]:
    """Equilibria that descent and Newton find from one start: the second finds unstable ones."""
    for method in (search, newton_only):
        try:
            found = method(equations, q, held)
        except np.linalg.LinAlgError:
            continue
        if found.at_rest:
            yield found


def _same(equations: EquationsOf, a: FloatArray, b: FloatArray, turning: NDArray[np.bool_]) -> bool:
    """Whether two configurations are one: Euler parameters up to sign, angles up to full turns."""
    size = max(1.0, float(np.abs(b).max(initial=0.0)))
    gap = np.abs(_nearest(equations, a, b, turning) - b)
    return bool(gap.max(initial=0.0) <= SAME * size)


def _nearest(
    equations: EquationsOf, a: FloatArray, b: FloatArray, turning: NDArray[np.bool_]
) -> FloatArray:
    """The same configuration as `a` in the numbers that are nearest to `b`."""
    a = a.copy()
    a[turning] -= TURN * np.round((a - b)[turning] / TURN)
    for group in equations.system.model.unit:
        own = list(group)
        if len(own) == 4 and a[own] @ b[own] < 0.0:
            a[own] = -a[own]
    return a


def _one_family(
    equations: EquationsOf, one: Equilibrium, goal: FloatArray, held: Held | None
) -> bool:
    """Whether rests between an equilibrium and a configuration lead from one to the other.

    Steps along the neutral displacements towards the goal are followed by Newton's method, which
    stays near within a family.
    """
    size, whole = max(1.0, float(np.abs(goal).max(initial=0.0))), 0.0
    for _ in range(FAMILY_STEPS):
        if np.abs(goal - one.q).max(initial=0.0) <= SAME * size:
            return True
        F, N = one.family_directions, point_at(equations, one.q, held).values.N
        if not F.shape[1]:
            return False
        way = np.linalg.lstsq(N, goal - one.q, rcond=None)[0]
        step = F @ np.linalg.lstsq(F, way, rcond=None)[0]
        length, along = float(np.linalg.norm(way)), float(np.linalg.norm(step))
        whole = whole or length
        if along < ALONG * length:
            return False
        step *= min(along, PART_OF_WAY * whole) / along
        on, met = equations.corrected(equations.moved(one.q, step, N), held)
        found = newton_only(equations, on, held) if met else None
        far = LED_OFF * float(np.linalg.norm(on - one.q)) + SAME
        if found is None or not found.at_rest or np.linalg.norm(found.point.q - on) > far:
            return False
        one = _equilibrium(equations, found, held, beyond=False)
    return False
