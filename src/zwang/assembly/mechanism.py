"""Assembly of a mechanism: joints and requested values as conditions, and the error on conflict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import angle_notes, number
from zwang.assembly.contradiction import Subsets, irreducible_contradiction, with_a_loop
from zwang.assembly.gaps import as_lengths, gap_unit, gaps_by_name
from zwang.assembly.held_search import HeldSearch
from zwang.assembly.joint_moves import off_by
from zwang.assembly.newton import (
    MASSLESS,
    NewtonConditions,
    impulse_root,
    set_velocities,
    stacked,
)
from zwang.assembly.result import Assembly
from zwang.diagnosis.conflicts import conflicting_rows
from zwang.diagnosis.wording import first_of, listing, shortened
from zwang.errors import AssemblyError, InputError, UnknownNameError, shown
from zwang.multibody.graph import is_loop
from zwang.multibody.joint_coordinates import RATE, JointChannel
from zwang.multibody.pose import SCALAR
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.equations.mechanism import MechanismEquations

__all__ = ["EXACT", "AssemblyTable", "assembled", "moved_by_name"]

#: Slopes of a constraint in velocities, relative to its value, that are none: it would take a
#: change by a thousand million.
FLAT = 1e-9
#: That velocities are taken as they are given, or refused.
EXACT = "exact"
#: Rates that constraints and held rates leave, relative to the largest velocity, if these agree.
CLASH = 1e-9
#: Rows shorter than this are not scaled: they do not depend on the coordinates.
NO_SLOPE = 1e-12

#: Conditions that leave this share of the largest gap take part in what cannot be met; of more
#: than so many the irreducible group is not looked for.
TAKES_PART = 1e-6
SEARCHED = 500

#: Gaps as placed below this share of the mechanism's size are those of numbers with a few digits
#: less; and the share of a group up to which those that are open are told.
SHUT, FEW = 1e-3, 1 / 3

#: A held value as a condition on q: values g and their derivatives by increments, G.
Held = Callable[[FloatArray], tuple[Any, FloatArray]]


def assembled(
    table: AssemblyTable,
    q: FloatArray,
    v: FloatArray,
    hold: Mapping[str, Any],
    prefer: Mapping[str, Any],
    velocity: Mapping[str, Mapping[str, float]] | str,
) -> Assembly:
    """A state near (q, v) that satisfies all joints; see `MechanismSystem.assemble`."""
    if isinstance(velocity, str) and velocity != EXACT:
        expected = "'exact', or a dictionary with 'hold' and 'prefer'"
        raise InputError("velocity", found=shown(velocity), expected=expected)
    equations, t = table.equations, table.t
    held, placed = table.requests("hold", hold), q
    as_placed = HeldSearch(table, q, [*prefer, *held])
    if prefer:
        q = as_placed.nearest(q, {**table.requests("prefer", prefer), **held}).q
    found = as_placed.nearest(q, held)
    if not found.met:
        names = [
            *table.names("position"),
            *(f"hold {name}" for name in held for _ in range(table.rows(name))),
        ]
        nearest = Assembly(found.q, v, t)
        conditions = table.conditions(held)
        off = as_lengths(table.parts, placed, conditions.values(placed)[0], names)
        starts = (placed, found.q)
        raise table.impossible(
            "configuration", nearest, found.values, found.slopes, names, (conditions, starts), off
        )
    if velocity == EXACT:
        table.require_velocities(found.q, v)
        new, notes = v, ()
    else:
        new = table.velocities(velocity, found.q, v)
        notes = table.about_velocities(found.q, v, new)
    notes = (*as_placed.notes(found), *notes, *angle_notes({**prefer, **hold}))
    moved = found.q - table.parts.start[0]
    named = moved_by_name(equations, moved, new - v)
    return Assembly(found.q, new, t, named, float(np.linalg.norm(moved)), found.iterations, notes)


def moved_by_name(
    equations: MechanismEquations, moved: FloatArray, changed: FloatArray
) -> dict[str, float]:
    """How far coordinates and velocities are from those given, by name."""
    named = dict(zip(equations.coordinates, moved.tolist(), strict=True))
    return named | dict(zip(equations.velocities, changed.tolist(), strict=True))


def mapping(what: str, given: Any) -> Mapping[str, Any]:
    """Requested values, which are given by name."""
    if not isinstance(given, Mapping):
        raise InputError(
            what, expected="a dictionary of names and requested values", found=shown(given)
        )
    return given


class AssemblyTable:
    """The data for assembling a mechanism at a time, with all its parameters."""

    massless = MASSLESS

    def __init__(self, equations: MechanismEquations, t: float, p: FloatArray) -> None:
        self.equations, self.parts = equations, equations.parts.at_vector(p)
        self.t, self.time, self.p = t, np.asarray(t), p
        self.nq, self.nv = len(equations.coordinates), len(equations.velocities)
        self.size = self._size()
        self.weights = self._weights()

    def evaluate(
        self, name: str, outputs: Callable[[Any], Mapping[str, Any]], q: FloatArray, v: Any = None
    ) -> list[FloatArray]:
        """Outputs of a kernel at q and v; without v at rest."""
        v = np.zeros(self.nv) if v is None else v
        return self.equations.evaluated(name, outputs, q, v, self.time, self.p)

    def names(self, *levels: str) -> list[str]:
        """Names of the rows of some levels."""
        rows = zip(self.equations.row_names, self.equations.row_levels(), strict=True)
        return [name for name, level in rows if level in levels]

    def _size(self) -> float:
        """A length of the mechanism: how far its markers and bodies spread."""
        arms = [np.linalg.norm(m.arm) for j in self.parts.joints.values() for m in (j.a, j.b) if m]
        places = [np.linalg.norm(b.placement.position) for b in self.parts.bodies]
        return float(max([*arms, *places], default=1.0)) or 1.0

    def _weights(self) -> FloatArray:
        """Of increments: 1 for lengths, the square of a length for angles."""
        weights: list[float] = []
        for body in self.parts.bodies:
            turns = {6: 3, 3: 1}.get(body.kind.nv, 0)
            weights += [1.0] * (body.kind.nv - turns) + [self.size**2] * turns
        return np.array(weights)

    # --- positions --------------------------------------------------------------------------------

    def requests(self, what: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checked values for joint coordinates, coordinates and bodies."""
        equations = self.equations
        positions = [name for name in equations.joint_channels.names if not name.endswith(RATE)]
        valued = [*positions, *equations.coordinates]
        known = [*valued, *(body.name for body in self.parts.bodies)]
        result: dict[str, Any] = {}
        for name, value in mapping(what, given).items():
            if name not in known:
                moves = name in equations.joint_channels.names or name in equations.velocities
                more = (
                    f"Rates are given as velocity={{{what!r}: {{{name!r}: …}}}}." if moves else ""
                )
                raise UnknownNameError(f"name in {what}", name, known, more)
            if name in valued and isinstance(value, str):
                raise InputError(
                    f"{what} {name!r}",
                    found=repr(value),
                    expected="a number, in rad, m or the model's units",
                    advice="np.deg2rad(12) is 12 degrees; texts with units are for model files and "
                    "studies.",
                )
            if name in valued:
                result[name] = number(f"{what} {name!r}", value)
            elif value is True:
                result[name] = value
            else:
                first = next(c for c in equations.coordinates if c.startswith(f"{name}."))
                raise InputError(
                    f"{what} {name!r}",
                    expected="True, as a body is held where it was placed",
                    found=shown(value),
                    advice=f"Coordinates such as {first!r} take values.",
                )
        return result

    def rows(self, name: str) -> int:
        """How many conditions a held thing has."""
        kinds = {body.name: body.kind for body in self.parts.bodies}
        kind = kinds.get(name, SCALAR)
        return 1 if kind is SCALAR else kind.nv

    def conditions(self, requests: Mapping[str, Any]) -> NewtonConditions:
        """Constraints and requested values as conditions on q."""
        held = [self._held(name, value) for name, value in requests.items()]

        def values(q: FloatArray) -> tuple[FloatArray, Any]:
            parts = [self.position_rows(q), *(h(q) for h in held)]
            return np.concatenate([np.atleast_1d(g) for g, _ in parts]), stacked(
                [G for _, G in parts]
            )

        return NewtonConditions(values, self.moved, self.weights, self.size)

    def position_rows(self, q: FloatArray) -> tuple[FloatArray, Any]:
        """φ of all constraints of positions and their rows of A."""
        phi, A = self.evaluate(
            "placing",
            lambda m: {"position": m.position_values, "A": self._row_block(m, "value")},
            q,
        )
        return phi, A.reshape(len(phi), self.nv)

    def rate_rows(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, Any]:
        """Rates of all constraints and their rows of A."""
        psi, A = self.evaluate(
            "rates", lambda m: {"velocity": m.rates, "A": self._row_block(m, "rate")}, q, v
        )
        return np.atleast_1d(psi), A.reshape(-1, self.nv)

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """q after an increment of the velocities' kind."""
        return self.equations.on_unit_length(q + self._kinematics(q) @ step)

    def block(self, q: FloatArray, i: int) -> FloatArray:
        """N of one body."""
        q_starts, v_starts = self.parts.places
        return self._kinematics(q)[slice(*q_starts[i : i + 2]), slice(*v_starts[i : i + 2])]

    def _row_block(self, model: Any, level: str) -> casadi.SX:
        """Rows of A of all constraints that have a value, or a rate."""
        import casadi as ca

        rows = [block.A for block in model.blocks.values() if getattr(block, level) is not None]
        return ca.vertcat(*rows) if rows else ca.SX(0, self.nv)

    def _kinematics(self, q: FloatArray) -> FloatArray:
        """N of q̇ = N v."""
        (N,) = self.evaluate("N", lambda m: {"N": m.N}, q)
        return N.reshape(self.nq, self.nv)

    def _held(self, name: str, value: Any) -> Held:
        """A held joint coordinate, coordinate or body as a condition."""
        if name in self.equations.joint_channels.names:
            return self._held_joint(self.equations.joint_channels[name], value)
        if name in self.equations.coordinates:
            return self._held_coordinate(self.equations.coordinates.index(name), value)
        return self._held_body([body.name for body in self.parts.bodies].index(name))

    def _held_coordinate(self, k: int, value: float) -> Held:
        q_starts, v_starts = self.parts.places
        i = int(np.searchsorted(q_starts, k, side="right")) - 1

        def of_coordinate(q: FloatArray) -> tuple[Any, FloatArray]:
            G = np.zeros(self.nv)
            G[v_starts[i] : v_starts[i + 1]] = self.block(q, i)[k - q_starts[i]]
            return q[k] - value, G

        return of_coordinate

    def _held_joint(self, channel: JointChannel, value: float) -> Held:
        def of_joint(q: FloatArray) -> tuple[Any, FloatArray]:
            state, slope = self.state_and_slope(channel, q)
            return off_by(state, value), slope

        return of_joint

    def _held_body(self, i: int) -> Held:
        q0 = self.parts.start[0]
        q_starts, v_starts = self.parts.places
        index, columns = slice(*q_starts[i : i + 2]), slice(*v_starts[i : i + 2])
        G = np.zeros((v_starts[i + 1] - v_starts[i], self.nv))
        G[:, columns] = np.eye(len(G))

        def of_body(q: FloatArray) -> tuple[Any, FloatArray]:
            return np.linalg.lstsq(self.block(q, i), q[index] - q0[index], rcond=None)[0], G

        return of_body

    def state_and_slope(
        self, channel: JointChannel, q: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """A joint's coordinate and rate at rest, and the derivative of its rate by v."""

        def outputs(model: Any) -> dict[str, casadi.SX]:
            import casadi as ca

            state = self.equations.joint_expression(channel)
            return {"state": state, "slope": ca.jacobian(state[-1], model.state.v)}

        state, slope = self.evaluate(f"held{channel.label}", outputs, q)
        return state, slope.ravel()

    # --- velocities -------------------------------------------------------------------------------

    def velocities(
        self, requests: Mapping[str, Mapping[str, float]], q: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Velocities after an impulse of constraints and requested values on those given."""
        for key in mapping("velocity", requests):
            if key not in ("hold", "prefer"):
                raise UnknownNameError("velocity", key, ["hold", "prefer"])
        rates = [name for name in self.equations.joint_channels.names if name.endswith(RATE)]
        known = [*rates, *self.equations.velocities]
        held, preferred = (
            dict(mapping(f"{key} velocity", requests.get(key, {}))) for key in ("hold", "prefer")
        )
        for key, given in (("hold", held), ("prefer", preferred)):
            for name, value in given.items():
                if name not in known:
                    raise UnknownNameError(f"name in {key} velocity", name, known)
                given[name] = number(f"{key} velocity {name!r}", value)
        if preferred:
            v, _, _ = set_velocities(self._rates(q, {**preferred, **held}), v, self.root(q))
        v, psi, slopes = set_velocities(self._rates(q, held), v, self.root(q))
        size = max(1.0, float(np.abs(v).max(initial=0.0)))
        if np.abs(psi).max(initial=0.0) > CLASH * size:
            # Long chains with motions that have no mass leave a rest, which lengths can share.
            v, psi, slopes = set_velocities(self._rates(q, held), v, self.root(q, masses=False))
        if np.abs(psi).max(initial=0.0) > CLASH * size:
            names = [*self.names("position", "velocity"), *(f"hold {name}" for name in held)]
            raise self.impossible("velocity", Assembly(q, v, self.t), psi, slopes, names)
        return v

    def root(self, q: FloatArray, *, masses: bool = True) -> Any:
        """R with R Rᵀ = M⁻¹, see `impulse_root`; or with all masses alike."""
        root, (_, starts) = np.zeros((self.nv, self.nv)), self.parts.places
        for i, block in enumerate(self.roots(q, masses=masses)):
            root[starts[i] : starts[i + 1], starts[i] : starts[i + 1]] = block
        return root

    def roots(self, q: FloatArray, *, masses: bool) -> list[FloatArray]:
        """The same body by body."""
        arms = [m.arm for j in self.parts.joints.values() for m in (j.a, j.b) if m and m.body >= 0]
        arm = max((float(np.linalg.norm(x)) for x in arms), default=0.0) or 1.0
        turns = [{6: 3, 3: 1}.get(body.kind.nv, 0) for body in self.parts.bodies]
        if masses:
            return impulse_root(self.masses(q), turns, arm, self.massless)
        sizes = [b.kind.nv - k for b, k in zip(self.parts.bodies, turns, strict=True)]
        return [np.diag([1.0] * n + [1.0 / arm] * k) for n, k in zip(sizes, turns, strict=True)]

    def masses(self, q: FloatArray) -> list[FloatArray]:
        """Blocks of M, one a body."""
        (M,) = self.evaluate("mass", lambda m: {"M": m.M}, q)
        M, (_, starts) = M.reshape(self.nv, self.nv), self.parts.places
        places = [slice(*starts[i : i + 2]) for i in range(len(self.parts.bodies))]
        return [M[own, own] for own in places]

    def residuals(self, q: FloatArray, v: FloatArray) -> dict[str, float]:
        """Joint or constraint → the residual of velocities, largest first."""
        psi, _ = self.rate_rows(q, v)
        limit = CLASH * max(1.0, float(np.abs(v).max(initial=0.0)))
        found: dict[str, float] = {}
        for name, value in zip(self.names("position", "velocity"), psi.tolist(), strict=True):
            if abs(value) > limit:
                owner = self.parts.owner(name.split("[")[0])
                found[owner] = max(found.get(owner, 0.0), abs(value))
        return dict(sorted(found.items(), key=lambda entry: -entry[1]))

    def require_velocities(self, q: FloatArray, v: FloatArray) -> None:
        """Refuse velocities that a joint does not allow, by its name."""
        residuals = self.residuals(q, v)
        if residuals:
            worst, most = next(iter(residuals.items()))
            bodies = [self.parts.bodies[i].name for i in self.parts.joints[worst].bodies if i >= 0]
            raise InputError(
                f"velocities of {listing([f'body {name!r}' for name in bodies])}",
                must="satisfy all joints and drivers, as velocity='exact' requires",
                but=f"violate {self.parts.described(worst)} by {most:.3g}",
                advice="Give velocities that fit, or leave out velocity='exact': an impulse of "
                "the joints then corrects them.",
            )

    def about_velocities(self, q: FloatArray, given: FloatArray, v: FloatArray) -> tuple[str, ...]:
        """What became of velocities that were given and that joints do not allow, in words."""
        residuals = self.residuals(q, given) if np.any(given) else {}
        if not residuals:
            return ()
        _, starts = self.parts.places
        changes = []
        for i, body in enumerate(self.parts.bodies):
            own = slice(starts[i], starts[i + 1])
            if not np.any(given[own]):
                continue  # its velocity was not given
            n = body.kind.nv - {6: 3, 3: 1}.get(body.kind.nv, 0)
            sizes = [float(np.linalg.norm(x)) for x in np.split((v - given)[own], [n])]
            units = ("m/s", "rad/s") if body.kind is not SCALAR else ("", "")
            limit = CLASH * max(1.0, float(np.abs(v).max(initial=0.0)))
            large = [f"{x:.4g} {u}".strip() for x, u in zip(sizes, units, strict=True) if x > limit]
            if large:
                changes.append((max(sizes), f"{body.name} by {' and '.join(large)}"))
        if not changes:
            return ()
        bodies = [text for _, text in sorted(changes, key=lambda change: -change[0])]
        most = max(residuals.values())
        cause = f"the given velocities violate {first_of(list(residuals))} (by {most:.3g}): "
        return (f"{cause}an impulse of the joints changed {first_of(bodies)}",)

    def _rates(
        self, q: FloatArray, held: Mapping[str, float]
    ) -> Callable[[FloatArray], tuple[FloatArray, Any]]:
        """Rates of constraints and of what is held, and their derivatives by v."""
        lines = [self._held_rate(name, q) for name in held]
        rest = np.array([at_rest for at_rest, _ in lines])
        G = np.array([slope for _, slope in lines]).reshape(-1, self.nv)
        wanted = np.array(list(held.values()))

        def rates(v: FloatArray) -> tuple[FloatArray, Any]:
            psi, A = self.rate_rows(q, v)
            return np.concatenate([psi, rest + G @ v - wanted]), stacked([A, G])

        return rates

    def _held_rate(self, name: str, q: FloatArray) -> tuple[float, FloatArray]:
        """A rate at rest, which drivers may give, and its derivative by v."""
        if name in self.equations.velocities:
            own = np.zeros(self.nv)
            own[self.equations.velocities.index(name)] = 1.0
            return 0.0, own
        state, slope = self.state_and_slope(self.equations.joint_channels[name], q)
        return float(state[-1]), slope

    # --- refusals ---------------------------------------------------------------------------------

    def _conflicting(self, values: FloatArray, slopes: Any) -> tuple[int, ...] | None:
        """An irreducible group of linearised conditions that cannot hold, None if none is found.

        Where the search ended, what is left of the conditions is a dependency of their slopes,
        Gᵀg = 0: conditions that leave nothing have no part in it.
        """
        part = np.arange(len(values))
        if len(values) > SEARCHED:
            part = np.flatnonzero(np.abs(values) > TAKES_PART * np.abs(values).max(initial=0.0))
            if len(part) > SEARCHED:
                return None
        G = slopes[part]
        G = G if isinstance(G, np.ndarray) else G.toarray()
        lengths = np.linalg.norm(G, axis=1)
        scale = 1.0 / np.where(lengths > NO_SLOPE, lengths, 1.0)
        rows = conflicting_rows(G * scale[:, None], -values[part] * scale)
        return None if rows is None else tuple(int(part[i]) for i in rows)

    def _without_slope(
        self, values: FloatArray, slopes: Any, names: Sequence[str]
    ) -> dict[str, float]:
        """Constraints that are not satisfied and that no small change of velocities would change.

        One such is a prescribed speed |v| at rest: all directions are equally good there.
        """
        steepest = np.asarray(abs(slopes).max(axis=1)).ravel()
        flat = np.flatnonzero((np.abs(values) > CLASH) & (steepest <= FLAT * np.abs(values)))
        return {self.parts.owner(names[i].split("[")[0]): float(values[i]) for i in flat.tolist()}

    def _no_way(self, nearest: Assembly, flat: Mapping[str, float]) -> AssemblyError:
        """The error of constraints without a slope at the velocities to begin from."""
        group, gap = tuple(flat), sum(abs(x) for x in flat.values())
        has = "has" if len(group) == 1 else "have"
        return AssemblyError(
            "no velocity is nearest to the given ones among those that satisfy all constraints",
            nearest=nearest,
            gap=gap,
            group=group,
            found=f"{shortened([self.parts.described(name) for name in group])} {has} no slope at "
            f"these velocities (and a residual of {gap:.3g}), so that no direction is better than "
            "another",
            advice="Say which way it moves: velocity=… or angular_velocity=… of a body, or "
            "assemble(velocity={'prefer': {…}}).",
        )

    def impossible(
        self,
        what: str,
        nearest: Assembly,
        values: FloatArray,
        slopes: Any,
        names: Sequence[str],
        searched: tuple[NewtonConditions, Sequence[FloatArray]] | None = None,
        placed: FloatArray | None = None,
    ) -> AssemblyError:
        """The error of joints that cannot be closed, or of drivers and held values that clash.

        Parameters
        ----------
        values, slopes, names : of the conditions, at the nearest state.
        searched : of a configuration, its conditions and where searches begin.
        placed : how far each condition is from being met as the bodies are placed.
        """
        if what == "velocity" and (flat := self._without_slope(values, slopes, names)):
            return self._no_way(nearest, flat)
        share = np.abs(values)
        rows = self._conflicting(values, slopes)
        if rows is None:
            rows = tuple(int(i) for i in np.flatnonzero(share > 1e-3 * share.max(initial=0.0)))
        owners = [self.parts.owner(name.split("[")[0]) for name in names]
        group, irreducible = tuple(dict.fromkeys(owners[i] for i in rows)), True
        if searched is not None and len(values) <= SEARCHED:
            subsets = Subsets.of(self.parts, *searched, owners)
            group, irreducible = irreducible_contradiction(subsets, group)
        elif searched is not None:
            worst = owners[int(np.argmax(share))]
            group, irreducible = with_a_loop(self.parts, group, owners, worst), False
        if what == "configuration":
            values = as_lengths(self.parts, nearest.q, values, names)
        gaps = gaps_by_name(group, owners, values)
        worst = max(gaps, key=lambda name: gaps[name])
        opened = self._open(group, owners, placed)
        positions = what == "configuration"
        units = {name: gap_unit(self.parts, name) if positions else "" for name in group}
        told = listing([f"{name} by {gap:.3g}{units[name]}" for name, gap in opened.items()])
        drivers = [name for name in group if name in self.equations.driver_names]
        joints = [self.parts.joints[name] for name in group if name in self.parts.joints]
        unit = units[group[0]] if len(set(units.values())) == 1 else ""
        if what == "configuration" and len(joints) == len(group) and is_loop(joints):
            unit, units[worst] = " m", " m"
            found = f"the loop of joints {shortened(group)} cannot be closed"
            advice = "Move a body or a joint's point, or change a length"
        else:
            # What is held comes first, where not all can be named.
            ordered = sorted(group, key=lambda name: name in self.parts.joints)
            ordered = ordered if shortened(ordered) != listing(ordered) else group
            found = f"{shortened([self.parts.described(name) for name in ordered])} "
            found += "contradict each other" if len(group) > 1 else "contradicts the placement"
            found += "" if irreducible else " (perhaps not all of them have a part in it)"
            advice = "Release one of these, or change its value"
        mixed = ", of lengths [m] and angles [rad]" if positions and any(units.values()) else ""
        return AssemblyError(
            f"no {what} satisfies all joints and held values",
            nearest=nearest,
            gap=sum(gaps.values()),
            group=group,
            likely=[*opened] or drivers,
            found=f"{found}; at the nearest {what} the gaps add up to {sum(gaps.values()):.3g}"
            f"{unit or mixed}, the largest {gaps[worst]:.3g}{units[worst]} in {worst}"
            + (f"; as placed all of these hold but {told}" if told else ""),
            advice=f"{advice}; .nearest of this error is the nearest state.",
        )

    def _open(
        self, group: Sequence[str], owners: Sequence[str], placed: FloatArray | None
    ) -> dict[str, float]:
        """Which of a group do not hold as placed, and by how much, if these are few; else none.

        Where all others hold, their numbers are probably right, and those of these are not.
        """
        if placed is None:
            return {}
        gaps = gaps_by_name(group, owners, placed)
        gaps = {name: gap for name, gap in gaps.items() if gap > SHUT * self.size}
        return gaps if len(gaps) <= FEW * len(group) else {}
