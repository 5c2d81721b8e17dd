"""Joint coordinates: the equations of a mechanism with letters for its numbers, for closed forms.

The full terms of the mechanism are projected on the motions that the joints of its tree allow
(Blajer 1992, (3.5)): with v = J(q̂) v̂,

    Jᵀ M J v̂̇ = Jᵀ (Q − M J̇ v̂) + (A J)ᵀ λ,    A J v̂̇ = b − A J̇ v̂,

with the rows A of what closes loops, drives or is the user's own. Masses, moments of inertia,
gravity, numbers of forces and the user's parameters stay letters; dimensions become numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.coordinates.joint.programs import JointConstants, JointCoordinateCache
from zwang.coordinates.joint.tree import MOTIONS, Tree
from zwang.equations.contract import Equations
from zwang.errors import AssemblyError, NotApplicableError
from zwang.multibody.frozen import Parts
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
class ProjectedMechanism:
    """A mechanism in the coordinates of its joints, as `zwang.closed_form` takes a system.

    Attributes
    ----------
    full : the traced terms of the mechanism in the coordinates of its bodies.
    joints : its tree and link constants.
    """

    full: TracedModel
    joints: JointConstants

    @property
    def parts(self) -> Parts:
        """The mechanism."""
        return self.joints.found.tree.parts

    @computed_once
    def letters(self) -> dict[str, tuple[str, float, int]]:
        """Letter → what it stands for: name and sign in the mechanism, and place among its numbers.

        One for each number that is kept, with +1, or −1 for g, which points down.
        """
        parts, kept = self.parts, {}
        for name, value in parts.all_parameters.items():
            start = parts.slots[name][0]
            flat = np.ravel(value)
            if name == "gravity":
                acting = np.flatnonzero(flat)
                for k in acting:
                    letter = "g" if len(acting) == 1 else f"g_{'xyz'[k]}"
                    kept[letter] = (name, float(np.sign(flat[k])), start + int(k))
                continue
            for k, letter in enumerate(self._letters_of(name, flat)):
                if letter:
                    kept[letter] = (name, 1.0, start + k)
        return kept

    def _letters_of(self, name: str, flat: FloatArray) -> list[str]:
        """A letter for each entry of a number of the mechanism, none for dimensions."""
        if name in self.parts.parameters:
            return [name] if flat.size == 1 else [f"{name}_{k}" for k in range(flat.size)]
        owner, _, number = name.rpartition(".")
        if number not in LETTERS or not np.any(flat):
            return [""] * flat.size
        base = f"{LETTERS[number]}_{re.sub(r'[^0-9A-Za-z]+', '', owner)}"
        return [base] if flat.size == 1 else [f"{base}{k + 1}" for k in range(flat.size)]

    @property
    def definition(self) -> Definition:
        """Names: of a joint with one coordinate its own, of others with what it measures."""
        return self._definition

    @computed_once
    def _definition(self) -> Definition:
        tree = self.joints.found.tree
        q, v = _names(tree)
        parts = self.parts
        values = parts.defaults
        return Definition(
            coordinates=q,
            velocities=v,
            parameters={
                letter: np.array(sign * values[place])
                for letter, (_, sign, place) in self.letters.items()
            },
            mass=None,
            force=None,
            constraints={
                element.name: Constraint(parts.traced[element.law.key].level, (_by_elements,))
                for _, element in tree.constraints
                if element.name in self.full.blocks
            },
        )

    @computed_once
    def model(self) -> TracedModel:
        """M̂, Q̂, Â and b̂ as expressions of the joints' coordinates and the letters."""
        import casadi as ca

        equations = self.joints.system
        q_joint, v_hat, t, p_joint = equations.carrier.inputs
        numbers = ca.DM(_cleaned(np.concatenate([self.joints.p, self.joints.vector])))
        theta = ca.SX.sym("theta", q_joint.shape[0])  # zero as placed

        def baked(e: casadi.SX) -> casadi.SX:
            placed = theta + ca.DM(_origin(equations.tree, equations.placement[0]))
            return ca.substitute(ca.substitute(e, p_joint, numbers), q_joint, placed)

        q, v = map(baked, equations.recursion.state())
        N = baked(equations.recursion.kinematics())
        q_dot, J = ca.mtimes(N, v_hat), ca.jacobian(v, v_hat)
        drift = ca.jtimes(v, theta, q_dot)  # J̇ v̂
        p = ca.SX.sym("p", len(self.letters))
        state = self.full.state
        given = ca.vertcat(q, v, t, self._parameters(p))
        asked = ca.vertcat(state.q, state.v, state.t, state.p)

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

        M, Q = put(self.full.M), put(self.full.Q + self.full.C)
        blocks = {name: rows(self.full.blocks[name]) for name in self.definition.constraints}
        reduced = ca.mtimes([J.T, M, J])
        return TracedModel(
            self.definition,
            Symbols(theta, v_hat, t, p, q_dot),
            N,
            ca.SX.zeros(theta.shape[0], 1),
            reduced,
            ca.mtimes(J.T, Q - ca.mtimes(M, drift)),
            0.5 * ca.mtimes([v_hat.T, reduced, v_hat]),
            None,
            blocks,
            ca.SX.sym("lambda", sum(block.A.shape[0] for block in blocks.values())),
            ca.SX.zeros(v_hat.shape[0], 1),
            unit=equations.tree.unit,
        )

    def _parameters(self, p: casadi.SX) -> casadi.SX:
        """All numbers of the mechanism: letters, and dimensions as they are."""
        import casadi as ca

        values = ca.SX(ca.DM(_cleaned(self.parts.defaults)))
        for k, (_, sign, place) in enumerate(self.letters.values()):
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
    return ProjectedMechanism(equations.model, cache.with_values(parts.defaults))


def _names(tree: Tree) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Coordinates and velocities of the links: ``theta`` and ``theta_dot`` of a hinge theta."""
    q: list[str] = []
    v: list[str] = []
    for branch in tree.branches:
        owner = tree.parts.bodies[branch.child].name if branch.joint is None else branch.joint.name
        links = [tree.links[k] for k in branch.links]
        for number, link in enumerate(links, start=1):
            nq, nv = MOTIONS[link.motion]
            base = owner if len(links) == 1 else f"{owner}_{number}"
            if nq == nv == 1:
                q.append(base)
                v.append(f"{base}_dot")
            else:
                q += [f"{base}_q{k}" for k in range(nq)]
                v += [f"{base}_v{k}" for k in range(nv)]
    return tuple(q), tuple(v)


def _origin(tree: Tree, placement: FloatArray) -> FloatArray:
    """Where angles and displacements are zero: as placed; Euler parameters stay as they are."""
    origin = np.zeros_like(placement)
    for link in tree.links:
        if MOTIONS[link.motion] == (1, 1):
            origin[link.q] = placement[link.q]
    return _cleaned(origin)


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
