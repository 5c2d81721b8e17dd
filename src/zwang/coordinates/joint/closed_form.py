"""Joint coordinates: the equations of a mechanism with letters for its numbers, for closed forms.

The full terms of the mechanism are projected on the motions that the joints of its tree allow
(Blajer 1992, (3.5)): with v = J(q̂) v̂,

    Jᵀ M J v̂̇ = Jᵀ (Q − M J̇ v̂) + (A J)ᵀ λ,    A J v̂̇ = b − A J̇ v̂,

with the rows A of what closes loops, drives or is the user's own. Masses, moments of inertia,
gravity, numbers of forces and the user's parameters stay letters; dimensions become numbers. Free
bodies that are part of something, and balls, have three turns in place of Euler parameters
(`turns`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.coordinates.joint.equations import FrameOnLink, Recursion
from zwang.coordinates.joint.from_bodies import symbolic
from zwang.coordinates.joint.link_constants import link_constants
from zwang.coordinates.joint.programs import JointConstants, JointCoordinateCache
from zwang.coordinates.joint.tree import MOTIONS, Branch, Tree
from zwang.coordinates.joint.turns import TURNS, equal_moments, in_turns, turns_of
from zwang.equations.contract import Equations
from zwang.errors import AssemblyError, NotApplicableError
from zwang.multibody.frozen import Parts
from zwang.multibody.terms import MechanismSymbols, model_of
from zwang.solvers.dense import solve
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
#: Dimensions are written with so many digits, and are zero below this share of the largest.
DIGITS, NOTHING = 13, 1e-14
#: What so few digits leave of a sum that cancels, as a share of what was summed: a row of a loop in
#: a plane that is zero on paper. Some hundred numbers go into an entry.
CANCELLED = 100.0 * 10.0**-DIGITS
#: Multiples of this angle are kept as such: cos(θ + π/2) is −sin θ.
STEP = np.pi / 12
#: Letters of the numbers of bodies and forces, before the name of what they belong to.
LETTERS = {"mass": "m", "inertia": "J", "stiffness": "k", "damping": "c"}


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
    """

    joints: JointConstants

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
        """What the angles are that stand for Euler parameters."""
        found = []
        for branch in self.tree.branches:
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
        parts, kept = self.parts, {}
        for name, value in parts.all_parameters.items():
            start = parts.slots[name][0]
            flat = np.ravel(value)
            if name == "gravity":
                acting = np.flatnonzero(flat)
                for k in acting:
                    letter = "g" if len(acting) == 1 else f"g_{'xyz'[k]}"
                    kept[letter] = (name, float(np.sign(flat[k])), (start + int(k),))
                continue
            for k, letter in enumerate(self._letters_of(name, flat)):
                if letter:
                    places = kept[letter][2] if letter in kept else ()
                    kept[letter] = (name, 1.0, (*places, start + k))
        return kept

    def _letters_of(self, name: str, flat: FloatArray) -> list[str]:
        """A letter for each entry of a number of the mechanism, none for dimensions."""
        if name in self.parts.parameters:
            return [name] if flat.size == 1 else [f"{name}_{k}" for k in range(flat.size)]
        owner, _, number = name.rpartition(".")
        if number not in LETTERS or not np.any(flat):
            return [""] * flat.size
        base = f"{LETTERS[number]}_{re.sub(r'[^0-9A-Za-z]+', '', owner)}"
        if flat.size == 1:
            return [base]
        order = equal_moments(self.parts, owner) if owner in self._turned else range(flat.size)
        return [f"{base}{k + 1}" for k in order]

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
        recursion = self._recursion(theta, v_hat, t, self._parameters(p))
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
        """The passes over the tree with numbers for its dimensions."""
        import casadi as ca

        numbers = link_constants(self.tree, self.joints.p)
        vector = _cleaned(numbers.vector)
        for place, value in numbers.pattern():
            vector[place] = value
        placed = theta + ca.DM(_cleaned(self._origin(numbers.offset)))
        return Recursion(self.tree, placed, v_hat, t, p, symbolic(self.tree, ca.SX(ca.DM(vector))))

    def _origin(self, offset: FloatArray) -> FloatArray:
        """Where coordinates are zero: as placed, but for those of free bodies and balls.

        Euler parameters stay as they are, and so do the slides and turns in place of them.
        """
        origin, computed = np.zeros(self.tree.nq), self.joints.found.tree
        placement, _ = self.joints.system.placement
        for branch, same in zip(self.tree.branches, computed.branches, strict=True):
            for k, link in enumerate(self.tree.links[i] for i in branch.links):
                if branch.steps != same.steps:
                    origin[link.q] = offset[branch.links[k]]
                elif MOTIONS[link.motion] == (1, 1):
                    origin[link.q] = placement[computed.links[same.links[k]].q]
        return origin

    def _parameters(self, p: casadi.SX) -> casadi.SX:
        """All numbers of the mechanism: letters, and dimensions as they are."""
        import casadi as ca

        values = ca.SX(ca.DM(_cleaned(self.parts.defaults)))
        for k, (_, sign, places) in enumerate(self.letters.values()):
            for place in places:
                values[place] = sign * p[k]
        return values

    # --- numbers, by which closed forms are checked -----------------------------------------------

    def assemble(self, **_asked: Any) -> Any:
        """None is needed: the closed form holds off the constraints of loops, too."""
        raise AssemblyError(
            "closed form of a mechanism", must="hold at any state", but="was asked for one"
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


def projected(equations: Equations, parts: Parts) -> ProjectedMechanism:
    """A mechanism in the coordinates of its joints, for closed forms.

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
    return ProjectedMechanism(cache.with_values(parts.defaults))


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


def _names(tree: Tree) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Coordinates and velocities of the links: ``theta`` and ``theta_dot`` of a hinge theta."""
    q: list[str] = []
    v: list[str] = []
    for branch in tree.branches:
        owner, links = _owner(tree, branch), [tree.links[k] for k in branch.links]
        letters = [str(number) for number in range(1, len(links) + 1)]
        if turns_of(branch):
            letters = [*("x", "y", "z")[: len(links) - len(TURNS)], *TURNS]
        for letter, link in zip(letters, links, strict=True):
            nq, nv = MOTIONS[link.motion]
            base = owner if len(links) == 1 else f"{owner}_{letter}"
            if nq == nv == 1:
                q.append(base)
                v.append(f"{base}_dot")
            else:
                q += [f"{base}_q{k}" for k in range(nq)]
                v += [f"{base}_v{k}" for k in range(nv)]
    return tuple(q), tuple(v)


def _cleaned(values: FloatArray) -> FloatArray:
    """Without the last digits, which rounding made."""
    limit = NOTHING * np.abs(values).max(initial=1.0)
    turns = np.round(values / STEP) * STEP
    return np.array(
        [
            0.0 if abs(x) <= limit else turn if abs(x - turn) <= limit else float(f"{x:.{DIGITS}g}")
            for x, turn in zip(values, turns, strict=True)
        ]
    )


def _by_elements() -> None:
    message = "a mechanism is not traced from functions"
    raise AssertionError(message)
