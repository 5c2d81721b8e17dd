"""Joint coordinates: the equations of a mechanism with letters for its numbers, for closed forms.

The full terms of the mechanism are projected on the motions that the joints of its tree allow
(Blajer 1992, (3.5)): with v = J(q̂) v̂,

    Jᵀ M J v̂̇ = Jᵀ (Q − M J̇ v̂) + (A J)ᵀ λ,    A J v̂̇ = b − A J̇ v̂,

with the rows A of what closes loops, drives or is the user's own. Masses, moments of inertia,
gravity, numbers of forces and the user's parameters stay letters; dimensions become numbers, or
polynomials of parameters that are to stay letters (`dimensions`). Free bodies that are part of
something, and balls, have three turns in place of Euler parameters (`turns`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.coordinates.joint.dimensions import TRIED, DimensionPolynomials, polynomials
from zwang.coordinates.joint.equations import FrameOnLink, Recursion
from zwang.coordinates.joint.exact_frames import ExactFrames
from zwang.coordinates.joint.from_bodies import symbolic
from zwang.coordinates.joint.link_constants import LinkConstants
from zwang.coordinates.joint.programs import JointConstants, JointCoordinateCache
from zwang.coordinates.joint.tree import MOTIONS, STEPS, Branch, Tree
from zwang.coordinates.joint.turns import TURNS, equal_moments, in_turns, turns_of
from zwang.equations.contract import Equations
from zwang.errors import AssemblyError, InputError, NotApplicableError
from zwang.multibody.formula_letters import (
    DIGITS,
    LETTERS,
    cleaned,
    gravity_letters,
    is_long,
    letters_of,
)
from zwang.multibody.frozen import Parts
from zwang.multibody.terms import MechanismSymbols, model_of
from zwang.solvers.dense import solve
from zwang.state import State
from zwang.terms import FloatArray
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import Symbols, TracedConstraint
from zwang.tracing.traced_model import Definition, TracedModel
from zwang.tracing.vanishing_rows import without_vanishing_entries

if TYPE_CHECKING:
    import casadi

__all__ = ["ProjectedMechanism", "projected"]

#: Formulas of more bodies are not attempted.
MOST_BODIES = 10
#: What so few digits leave of a sum that cancels, as a share of what was summed: a row of a loop in
#: a plane that is zero on paper. Some hundred numbers go into an entry.
CANCELLED = 100.0 * 10.0**-DIGITS
#: Iterations by which states are put on constraints, and how near they come.
ITERATIONS, CLOSED = 30, 1e-12
#: Other values of dimensions for which frames have to be turned alike.
DIMENSIONS_TRIED = 2


@dataclass(frozen=True)
class _PlacedSymbols(MechanismSymbols):
    """A mechanism whose terms are functions of where bodies stand and how they are turned.

    Turns are then entries of rotation matrices, which have the angles of joints in them, and not
    Euler parameters, which would have halves of these.
    """

    @cached_property
    def configs(self) -> list[casadi.SX]:
        """A column of symbols for each body."""
        import casadi as ca

        return [ca.SX.sym("config", body.kind.config) for body in self.parts.bodies]


@dataclass(frozen=True)
class ProjectedMechanism:
    """A mechanism in the coordinates of its joints, as `zwang.closed_form` takes a system.

    Attributes
    ----------
    joints : the tree and link constants that motions are computed with.
    dimensions : parameters of geometry that stay letters.
    on_constraints : whether formulas hold where constraints do, and nowhere else.
    contradicting : joints that contradict each other, so that no state satisfies all.
    """

    joints: JointConstants
    dimensions: tuple[str, ...] = ()
    on_constraints: bool = False
    contradicting: tuple[str, ...] = ()

    @computed_once
    def tree(self) -> Tree:
        """The tree whose coordinates the closed form has.

        A free body by itself keeps Euler parameters, and with them Euler's equations.
        """
        tree = self.joints.found.tree
        apart = not tree.constraints and all(link.parent < 0 for link in tree.links)
        balls = any(link.motion == "spherical" for link in tree.links)
        return tree if apart and not balls else in_turns(tree)

    @property
    def parts(self) -> Parts:
        """The mechanism."""
        return self.joints.found.tree.parts

    @property
    def notes(self) -> tuple[str, ...]:
        """What the angles are that stand for Euler parameters, and of which sign others are."""
        found = []
        for branch in self.tree.branches:
            if branch.reverse and branch.joint is not None and branch.links:
                bodies = self.parts.bodies
                child = bodies[branch.child].name
                parent = "ground" if branch.parent < 0 else bodies[branch.parent].name
                order = ", in the opposite order" if len(branch.links) > 1 else ""
                found.append(
                    f"joint {branch.joint.name} is given from {child} to {parent}: its coordinates "
                    f"here are measured from {parent} to {child}, with the opposite sign{order}"
                )
            axes = ["xyz"[axis] for axis in turns_of(branch)]
            if axes:
                owner = _owner(self.tree, branch)
                psi, theta, phi = (f"{owner}_{letter}" for letter in TURNS)
                found.append(
                    f"{owner} is turned by {psi} about {axes[0]}, then by {theta}, between −π/2 "
                    f"and π/2, about its own {axes[1]}, then by {phi} about its own {axes[2]}"
                )
        return tuple(found)

    @property
    def owned(self) -> dict[str, tuple[str, str]]:
        """Coordinates that are called by a letter and what they belong to: ``psi`` of the coin."""
        return {
            f"{owner}_{letter}": (letter, owner)
            for branch in self.tree.branches
            for owner in (_owner(self.tree, branch),)
            for letter in _coordinate_letters(self.tree, branch)
            if len(branch.links) > 1 and not letter.isdigit() and "_" not in letter
        }

    def fixed_dimensions(self, given: Container[str]) -> tuple[str, ...]:
        """Which dimensions not given are numbers here, and which numbers follow from letters."""
        values = {
            name: value
            for name, value in self._dimension_values.items()
            if name not in given and name not in self.dimensions and not np.ndim(value)
        }
        found = []
        if values:
            told = ", ".join(f"{name} = {float(value):g}" for name, value in values.items())
            able = [name for name, value in values.items() if self._is_polynomial(name, value)]
            symbols = ", ".join(f'"{name}": sympy.Symbol("{name}")' for name in able)
            kept = "keeps a letter" if len(able) == 1 else "keeps letters"
            further = [f"parameters={{{symbols}}} {kept}"] if able else []
            others = [name for name in values if name not in able]
            if others:
                verb = "enters" if len(others) == 1 else "enter"
                further.append(
                    f"{' and '.join(others)} {verb} by other functions than polynomials and cannot "
                    "be kept; tilting gravity in place of the mechanism keeps its components"
                )
            found.append("; ".join([f"dimensions are numbers here, with {told}", *further]))
        follow = [
            name
            for name, (start, end) in self.parts.slots.items()
            if name.rpartition(".")[2] in LETTERS and self._varying.intersection(range(start, end))
        ]
        if follow:
            verb = "follows" if len(follow) == 1 else "follow"
            found.append(
                f"{', '.join(follow)} {verb} from {', '.join(self.dimensions)}"
                f"{self._with_masses(follow)}"
            )
        return tuple(found)

    def _is_polynomial(self, name: str, value: float) -> bool:
        """Whether a dimension by itself may stay a letter."""
        try:
            polynomials({name: float(value)}, self._numbers_at)
        except InputError:
            return False
        return True

    def _with_masses(self, follow: Sequence[str]) -> str:
        """That moments of inertia have masses in them which are letters elsewhere, as a clause."""
        bodies = {name.rpartition(".")[0] for name in follow if name.endswith(".inertia")}
        masses = [
            f"{letter} = {self.parts.defaults[places[0]]:g}"
            for letter, (name, _, places) in self.letters.items()
            if name.endswith(".mass") and name.rpartition(".")[0] in bodies
        ]
        if not masses:
            return ""
        return (
            f"; if computed from the mass, as by zwang.inertia, for {', '.join(masses)} alone: a "
            "mass that is a parameter of the mechanism can be a letter in both"
        )

    @property
    def acute(self) -> tuple[str, ...]:
        """Angles between −π/2 and π/2: the second of three turns, which reach every position."""
        branches = [branch for branch in self.tree.branches if turns_of(branch)]
        return tuple(f"{_owner(self.tree, branch)}_{TURNS[1]}" for branch in branches)

    @computed_once
    def letters(self) -> dict[str, tuple[str, float, tuple[int, ...]]]:
        """Letter → what it stands for: name and sign in the mechanism, places among its numbers.

        One for each number that is kept, with +1, or −1 for g, which points down. Equal moments of
        inertia of a body with three turns share one, so that it is seen to be symmetric.
        """
        parts, kept, varying = self.parts, {}, self._varying
        for name, value in parts.all_parameters.items():
            start = parts.slots[name][0]
            flat = np.ravel(value)
            if name == "gravity":
                for k, (letter, sign) in enumerate(gravity_letters(flat)):
                    kept |= {letter: (name, sign, (start + k,))} if letter else {}
                continue
            for k, letter in enumerate(self._letters_of(name, flat)):
                if letter and start + k not in varying:
                    places = kept[letter][2] if letter in kept else ()
                    kept[letter] = (name, 1.0, (*places, start + k))
        return kept

    def _letters_of(self, name: str, flat: FloatArray) -> list[str]:
        """A letter for each entry of a number of the mechanism, none for dimensions."""
        geometry = self.parts.geometry
        if geometry is not None and name in geometry.names and name not in self.dimensions:
            return [""] * flat.size
        owner = name.rpartition(".")[0]
        order = equal_moments(self.parts, owner) if owner in self._turned else None
        return letters_of(self.parts, name, flat, order)

    @computed_once
    def _turned(self) -> set[str]:
        """Bodies with three turns of their own."""
        bodies = self.parts.bodies
        return {bodies[b.child].name for b in self.tree.branches if turns_of(b)}

    @property
    def definition(self) -> Definition:
        """Names: of a joint with one coordinate its own, of others with what it measures."""
        return self._definition

    @computed_once
    def _definition(self) -> Definition:
        tree, parts = self.tree, self.parts
        q, v = _names(tree)
        values = parts.defaults
        for name in (*q, *v):
            if name in self.letters:
                number = self.letters[name][0]
                raise InputError(
                    f"the coordinate {name!r} of a closed form",
                    must="have another name than the letters of numbers",
                    but=f"{name} stands for '{number}'",
                    advice="Call the joint otherwise.",
                )
        return Definition(
            coordinates=q,
            velocities=v,
            parameters={
                letter: np.array(sign * values[places[0]])
                for letter, (_, sign, places) in self.letters.items()
            },
            mass=None,
            force=None,
            constraints={
                element.name: Constraint(parts.traced[element.law.key].level, (_by_elements,))
                for _, element in tree.constraints
            },
        )

    @computed_once
    def model(self) -> TracedModel:
        """M̂, Q̂, Â and b̂ as expressions of the joints' coordinates and the letters."""
        import casadi as ca

        tree, symbols = self.tree, _PlacedSymbols.of(self.parts)
        full = model_of(self.parts, symbols)
        theta = ca.SX.sym("theta", tree.nq)  # zero as placed
        v_hat, t = ca.SX.sym("v", tree.nv), ca.SX.sym("t")
        p = ca.SX.sym("p", len(self.letters))
        recursion = self._recursion(theta, v_hat, t, p)
        N = recursion.kinematics()
        bodies = [recursion.body(i) for i in range(len(self.parts.bodies))]
        q_dot, J = ca.mtimes(N, v_hat), _jacobian(recursion, bodies)
        v = ca.mtimes(J, v_hat)
        drift = ca.jtimes(v, theta, q_dot)  # J̇ v̂
        given = ca.vertcat(*(body.config for body in bodies), v, t, recursion.p)
        asked = ca.vertcat(*symbols.configs, symbols.v, symbols.t, symbols.p)

        def put(e: casadi.SX) -> casadi.SX:
            return ca.substitute(e, asked, given)

        def cleared(e: casadi.SX) -> casadi.SX:
            numbers = np.array([float(x) for x in self.definition.parameters.values()])
            return without_vanishing_entries(e, (theta, v_hat, t, p), numbers, CANCELLED)

        def rows(block: TracedConstraint) -> TracedConstraint:
            A = put(block.A)
            value = None if block.value is None else put(block.value)
            rate = None if block.rate is None else put(block.rate)
            A_hat, b_hat = ca.mtimes(A, J), put(block.b) - ca.mtimes(A, drift)
            return TracedConstraint(block.level, value, rate, cleared(A_hat), cleared(b_hat))

        M, Q = put(full.M), put(full.Q + full.C)
        blocks = {name: rows(full.blocks[name]) for name in self.definition.constraints}
        reduced = ca.mtimes([J.T, M, J])
        return TracedModel(
            self.definition,
            Symbols(theta, v_hat, t, p, q_dot),
            N,
            ca.SX.zeros(tree.nq, 1),
            reduced,
            ca.mtimes(J.T, Q - ca.mtimes(M, drift)),
            0.5 * ca.mtimes([v_hat.T, reduced, v_hat]),
            None,
            blocks,
            ca.SX.sym("lambda", sum(block.A.shape[0] for block in blocks.values())),
            ca.SX.zeros(tree.nv, 1),
            unit=tree.unit,
        )

    def _recursion(
        self, theta: casadi.SX, v_hat: casadi.SX, t: casadi.SX, p: casadi.SX
    ) -> Recursion:
        """The passes over the tree with numbers for its dimensions, or polynomials of letters."""
        n, count = self.joints.p.size, LinkConstants.count(self.tree)
        every = self._put(self._cleaned_numbers, p)
        values, links, origin = every[:n], every[n : n + count], every[n + count :]
        for k, (_, sign, places) in enumerate(self.letters.values()):
            for place in places:
                values[place] = sign * p[k]
        return Recursion(self.tree, theta + origin, v_hat, t, values, symbolic(self.tree, links))

    @computed_once
    def _cleaned_numbers(self) -> FloatArray:
        """Numbers of the mechanism, of its links, and where coordinates are zero, one array."""
        numbers, origin = self._constants(self.joints.p)
        vector = cleaned(numbers.vector)
        for place, value in numbers.pattern():
            vector[place] = value
        return np.concatenate([cleaned(self.joints.p), vector, cleaned(origin)])

    def _numbers_at(self, values: Mapping[str, float]) -> FloatArray:
        """The same for other dimensions, with all digits."""
        p = self._parameters_at(values)
        numbers, origin = self._constants(p)
        return np.concatenate([p, numbers.vector, origin])

    def _parameters_at(self, values: Mapping[str, float]) -> FloatArray:
        """Parameters of the mechanism for other dimensions."""
        mechanism = self.joints.found.mechanism
        return mechanism.parameter_vector({**self._dimension_values, **values})

    @computed_once
    def _frames(self) -> ExactFrames:
        return ExactFrames(self.joints, self.tree)

    def _constants(self, p: FloatArray) -> tuple[LinkConstants, FloatArray]:
        """Constants of links, and where coordinates are zero."""
        links = self._frames.links(p, self._unturned)
        return links, self._frames.origin(p, links.offset)

    @computed_once
    def _unturned(self) -> frozenset[int]:
        """Hinges whose frames stay where the joints have them.

        Where there are decimals anyway, one of an angle is shorter than those of sine and cosine.
        """
        frames, p, tried = self._frames, self.joints.p, [self.joints.p]
        rng = np.random.default_rng(0)
        for _ in range(DIMENSIONS_TRIED if self.dimensions else 0):
            sizes = {name: float(self.parts.parameters[name]) or 1.0 for name in self.dimensions}
            values = {name: size * rng.uniform(*TRIED) for name, size in sizes.items()}
            tried.append(self._parameters_at(values))
        found = frames.inexact(tried)
        if self.dimensions or not found:
            return found
        letters = [place for _, _, places in self.letters.values() for place in places]
        own = not any(is_long(x) for x in cleaned(np.delete(p, letters)))
        return found if own and frames.all_short(p, found) else frozenset()

    @property
    def _dimension_values(self) -> dict[str, Any]:
        """Values of all parameters of geometry."""
        parts = self.parts
        return (
            {} if parts.geometry is None else {n: parts.parameters[n] for n in parts.geometry.names}
        )

    @computed_once
    def _polynomials(self) -> DimensionPolynomials | None:
        if not self.dimensions:
            return None
        defaults = {name: float(self.parts.parameters[name]) for name in self.dimensions}
        return polynomials(defaults, self._numbers_at)

    @computed_once
    def _varying(self) -> frozenset[int]:
        """Places of numbers that follow from dimensions which are letters."""
        found = self._polynomials
        own = {self.parts.slots[name][0] for name in self.dimensions}
        return frozenset() if found is None else frozenset(found.varying.tolist()) - own

    def _put(self, numbers: FloatArray, p: casadi.SX) -> casadi.SX:
        """Numbers, with polynomials of dimensions that are letters."""
        import casadi as ca

        found = self._polynomials
        if found is None:
            return ca.SX(ca.DM(numbers))
        order = list(self.letters)
        return found.put(numbers, {name: p[order.index(name)] for name in self.dimensions})

    # --- numbers, by which closed forms are checked -----------------------------------------------

    def assemble(self, *, prefer: Any, velocity: Any, t: float, parameters: Any) -> Any:
        """A state on the constraints near preferred values, where formulas hold there alone."""
        if not self.on_constraints:
            raise AssemblyError(
                "closed form of a mechanism",
                must="hold at any state",
                but="was asked for one",
                group=self.contradicting,
            )
        p = np.array([float(parameters[name]) for name in self.definition.parameters])
        q, v = (np.array(list(x.values()), dtype=float) for x in (prefer, velocity["prefer"]))
        positions, rates = self._conditions
        q = _root(lambda x: positions(x, v, t, p), q)
        return State(q, _root(lambda x: rates(q, x, t, p), v), t)

    @computed_once
    def _conditions(self) -> tuple[Any, Any]:
        """What vanishes on constraints with its derivative: by q, and by v."""
        import casadi as ca

        model, s = self.model, self.model.state

        def condition(name: str, e: casadi.SX, x: casadi.SX) -> Any:
            values = [ca.densify(e), ca.densify(ca.jacobian(e, x))]
            return ca.Function(name, [s.q, s.v, s.t, s.p], values)

        return condition("positions", model.position_values, s.q), condition(
            "rates", model.rates, s.v
        )

    def solve(self, q: Any, v: Any, t: Any, *, parameters: Mapping[str, Any]) -> Any:
        """Terms and motion at states."""
        q, v, t = np.atleast_2d(q), np.atleast_2d(v), np.atleast_1d(t)
        p = np.array([float(parameters[name]) for name in self.definition.parameters])
        terms = [self._evaluated(*state, p) for state in zip(q, v, t, strict=True)]
        M, Q, A, b = (np.stack(x) for x in zip(*terms, strict=True))
        names, coordinates = self.model.row_names, self.definition.velocities
        return solve(M, Q[..., 0], A, b[..., 0], names=names, coordinates=coordinates)

    def _evaluated(self, q: FloatArray, v: FloatArray, t: float, p: FloatArray) -> list[FloatArray]:
        return [np.array(x) for x in self._terms(q, v, t, p)]

    @computed_once
    def _terms(self) -> Any:
        import casadi as ca

        model, s = self.model, self.model.state
        terms = [ca.densify(x) for x in (model.M, model.Q, model.A, model.b)]
        return ca.Function("terms", [s.q, s.v, s.t, s.p], terms)


def projected(
    equations: Equations,
    parts: Parts,
    dimensions: tuple[str, ...] = (),
    *,
    on_constraints: bool = False,
    contradicting: Callable[[], tuple[str, ...]] = tuple,
) -> ProjectedMechanism:
    """A mechanism in the coordinates of its joints, for closed forms.

    Parameters
    ----------
    dimensions : parameters of geometry that stay letters.
    on_constraints : whether formulas hold where constraints do, and nowhere else.
    contradicting : finds joints that contradict each other; asked where there are loops.

    Raises
    ------
    NotApplicableError : its equations are not one expression, or depend on reactions.
    """
    what = "closed form in the coordinates of joints"
    if len(parts.bodies) > MOST_BODIES:
        raise NotApplicableError(
            what,
            must=f"have at most {MOST_BODIES} bodies",
            but=f"has {len(parts.bodies)}",
            advice="Formulas of this size serve no reader; simulate it.",
        )
    if equations.model.reaction_dependent:
        raise NotApplicableError(
            what,
            must="be of a mechanism without friction that depends on reactions",
            but="has some",
            advice="Use m.system.derive(), which keeps the reactions of all joints.",
        )
    cache = JointCoordinateCache.of(equations, parts)
    joints = cache.with_values(parts.defaults)
    named = contradicting() if joints.found.tree.constraints else ()
    return ProjectedMechanism(joints, dimensions, on_constraints, named)


def _root(condition: Callable[[FloatArray], Any], x: FloatArray) -> FloatArray:
    """The root near x of as many conditions as there may be, dependent ones included."""
    for _ in range(ITERATIONS):
        values, slopes = (np.array(part) for part in condition(x))
        if np.abs(values).max(initial=0.0) <= CLOSED:
            return x
        x = x - np.linalg.lstsq(slopes, values[:, 0], rcond=None)[0]
    raise AssemblyError(
        "state for a closed form", must="satisfy the constraints", but="none was found"
    )


def _jacobian(recursion: Recursion, bodies: Sequence[FrameOnLink]) -> casadi.SX:
    """J of v = J v̂ for all bodies."""
    import casadi as ca

    tree, nv = recursion.tree, recursion.v.numel()
    blocks = [ca.SX(0, nv)]
    for i, body in enumerate(bodies):
        block = ca.SX(body.v.numel(), nv)
        for k, column in body.B.items():
            block[:, k] = column
        link = tree.link_of[i]
        if link >= 0 and tree.links[link].motion == "free":  # ω′ is its own, and not RᵀR ω′
            for k, (turn, _) in recursion.directions(link).items():
                block[3:, k] = ca.mtimes(recursion.numbers.R[i].T, turn)
        blocks.append(block)
    return ca.vertcat(*blocks)


def _owner(tree: Tree, branch: Branch) -> str:
    """Whose coordinates those of a branch are called: a joint, or a body that is free."""
    return tree.parts.bodies[branch.child].name if branch.joint is None else branch.joint.name


def _coordinate_letters(tree: Tree, branch: Branch) -> list[str]:
    """What the coordinates of a branch are called besides its owner."""
    count = len(branch.links)
    if turns_of(branch):
        return [*("x", "y", "z")[: count - len(TURNS)], *TURNS]
    if branch.steps == STEPS["planar"]:
        plane = tree.parts.kind.plane if branch.joint is None else None
        normal = 2 if plane is None else plane[2]  # the other two in cyclic order, as `_markers`
        return [*("xyz"[(normal + k) % 3] for k in (1, 2)), "theta"]
    kind = None if branch.joint is None else branch.joint.kind
    if kind is not None and kind.name == "universal":
        measured = list(kind.coordinates)  # as the joint calls them
        return measured[::-1] if branch.reverse else measured
    return [str(number) for number in range(1, count + 1)]


def _names(tree: Tree) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Coordinates and velocities of the links: ``theta`` and ``theta_dot`` of a hinge theta."""
    q: list[str] = []
    v: list[str] = []
    for branch in tree.branches:
        owner, links = _owner(tree, branch), [tree.links[k] for k in branch.links]
        for letter, link in zip(_coordinate_letters(tree, branch), links, strict=True):
            nq, nv = MOTIONS[link.motion]
            base = owner if len(links) == 1 else f"{owner}_{letter}"
            if nq == nv == 1:
                q.append(base)
                v.append(f"{base}_dot")
            else:
                q += [f"{base}_q{k}" for k in range(nq)]
                v += [f"{base}_v{k}" for k in range(nv)]
    return tuple(q), tuple(v)


def _by_elements() -> None:
    message = "a mechanism is not traced from functions"
    raise AssertionError(message)
