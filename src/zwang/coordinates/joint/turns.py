"""Joint coordinates: free bodies and balls by slides and three turns, for closed forms.

Euler parameters have no singular position, which is why motions are computed with them; on paper
their squares add up to one and hide what is simple. Three turns, the last about an axis of
symmetry, leave a wheel's spin out of the equations, and their rates are the velocities.
"""

from __future__ import annotations

import numpy as np

from zwang.coordinates.joint.tree import Branch, Step, Tree
from zwang.multibody.formula_letters import principal_moments
from zwang.multibody.frozen import Parts
from zwang.rotation.quaternion import rotation_matrix

__all__ = ["TURNS", "equal_moments", "in_turns", "turns_of"]

#: Letters of the three angles, in the order of the turns.
TURNS = "psi", "theta", "phi"
#: Axis of the last turn → all three.
ABOUT = {0: (2, 1, 0), 1: (2, 0, 1), 2: (0, 1, 2)}
#: Sine of the second angle above which a body as placed is too near to where the others are one.
STEEP = 0.9
#: Share of the largest moment of inertia within which two are equal.
EQUAL = 1e-13


def in_turns(tree: Tree) -> Tree:
    """The same tree with slides and turns in place of Euler parameters."""
    found = Tree(tree.parts)
    for branch in tree.branches:
        steps = tuple(step for old in branch.steps for step in _replaced(old, tree.parts, branch))
        found.grow(branch.joint, branch.parent, branch.child, steps)
    found.constraints = tree.constraints
    return found


def turns_of(branch: Branch) -> tuple[int, ...]:
    """Axes of the three turns that stand for Euler parameters in a branch, or none."""
    turns = tuple(axis for motion, axis in branch.steps if motion == "revolute")
    return turns if len(turns) == 3 else ()


def _replaced(step: Step, parts: Parts, branch: Branch) -> tuple[Step, ...]:
    motion, _ = step
    if motion == "spherical":  # the axes of the markers, which lie on each other as placed
        return tuple(("revolute", axis) for axis in ABOUT[2])
    if motion != "free":
        return (step,)
    slides: tuple[Step, ...] = tuple(("prismatic", axis) for axis in range(3))
    return (*slides, *(("revolute", axis) for axis in _sequence(parts, branch.child)))


def _sequence(parts: Parts, body: int) -> tuple[int, int, int]:
    """About which axes a body turns: the last is one of symmetry where that is possible."""
    start = parts.places[0][body]
    R = rotation_matrix(parts.start[0][start + 3 : start + 7])
    moments = equal_moments(parts, parts.bodies[body].name)
    alone = [k for k in range(3) if moments.count(moments[k]) == 1]
    wanted = [*(alone if len(alone) == 1 else ()), 0, 1, 2]

    def steep(axis: int) -> float:
        first, _, last = ABOUT[axis]
        return float(abs(R[first, last]))

    usable = [axis for axis in wanted if steep(axis) <= STEEP]
    return ABOUT[usable[0] if usable else min(wanted, key=steep)]


def equal_moments(parts: Parts, name: str) -> list[int]:
    """For each moment of inertia of a body about its axes the first that is equal to it.

    That of a tensor whose products of inertia are zero is equal up to rounding, as it may be
    computed from parameters.
    """
    moments = principal_moments(np.ravel(parts.all_parameters[f"{name}.inertia"]))
    if moments is None:
        return [0, 1, 2]
    near = np.abs(moments[:, None] - moments) <= EQUAL * np.abs(moments).max()
    return [int(k) for k in near.argmax(axis=1)]
