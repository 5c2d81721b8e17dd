"""Joint coordinates of a mechanism: its tree of links, and the programs made of it once.

A small tree, and one with loops, becomes one expression (`JointEquations`); a large tree without
loops is evaluated link by link (`by_link`). `zwang.simulation.select_program` decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from zwang.caching import PassedOn, Remembered, computed_once
from zwang.coordinates.embedding import has_massless_motion
from zwang.coordinates.joint.by_link import tree_kernel, tree_program
from zwang.coordinates.joint.from_bodies import FromBodiesByCalls
from zwang.coordinates.joint.link_constants import LinkConstants, link_constants
from zwang.coordinates.joint.system import JointEquations, TreeExpressions
from zwang.coordinates.joint.tree import MOTIONS, Tree, tree_of
from zwang.equations.contract import Equations
from zwang.multibody.constants import ConstantPattern, Pattern
from zwang.multibody.frozen import Parts
from zwang.programs.blocks.call_list_program import TapeProgram
from zwang.programs.blocks.coordinates import CoordinateChangeByCalls
from zwang.programs.elimination import analyse
from zwang.terms import FloatArray

__all__ = ["FOREIGN", "JointConstants", "JointCoordinateCache", "factor_work"]

#: Where bodies are further than this from what the joints allow after that, relative, the state
#: belongs to another assembly of the joints, and is none of this tree.
FOREIGN = 1e-3
#: Sets of parameters for which what is found is remembered.
KEPT = 64


@dataclass
class JointCoordinateCache(PassedOn):
    """What is found of a mechanism once: its tree, and what depends on parameters."""

    mechanism: Equations
    tree: Tree
    structure: ConstantPattern
    values: Remembered[bytes, JointConstants] = field(default_factory=lambda: Remembered(KEPT))
    dimensions: Remembered[bytes, Dimensions] = field(default_factory=lambda: Remembered(KEPT))
    systems: dict[tuple[bytes, Pattern], JointEquations] = field(default_factory=dict)
    programs: dict[tuple[bytes, Pattern, int], TapeProgram] = field(default_factory=dict)
    change_by_link: CoordinateChangeByCalls | None = None

    @classmethod
    def of(cls, equations: Equations, parts: Parts) -> JointCoordinateCache:
        """Kept with the equations of the mechanism."""

        def made() -> JointCoordinateCache:
            return cls(equations, tree_of(parts), ConstantPattern(parts))

        return equations.cache.once(cls, made)

    def with_values(self, p: FloatArray) -> JointConstants:
        """What is found for some parameters."""
        key = p.tobytes()
        found = self.values.get(key)
        if found is None:
            p = p.copy()
            found = self.values[key] = JointConstants(self, p, self._dimensions(p))
        return found

    def _dimensions(self, p: FloatArray) -> Dimensions:
        """What follows from frames and masses, which a controller's output leaves as they are."""
        key = p[self._decisive].tobytes()
        found = self.dimensions.get(key)
        if found is None:
            found = self.dimensions[key] = Dimensions(self, p)
        return found

    @computed_once
    def _decisive(self) -> np.ndarray:
        """Which parameters may decide about frames, masses and zeros: not those of laws alone."""
        parts = self.tree.parts
        slots, decides = parts.slots, np.ones(parts.defaults.size, dtype=bool)
        laws = [f"{e.name}.{number}" for e in parts.forces for number in e.numbers]
        for name in (*parts.parameters, *laws):
            if name in slots:
                decides[slice(*slots[name])] = False
        decides[self.structure.axes] = decides[self.structure.values] = True
        return decides

    def vector_of(self, p: FloatArray) -> FloatArray:
        """The link constants for some parameters, as one array."""
        return self.with_values(p).vector


#: Part of a tensor's trace from which inertia about an axis is no rounding.
MET = 1e-9


@dataclass
class Dimensions:
    """What is found of a mechanism for its frames and masses, whatever its forces are.

    Attributes
    ----------
    p : parameters with these frames and masses.
    """

    found: JointCoordinateCache
    p: FloatArray

    @computed_once
    def numbers(self) -> LinkConstants:
        """The link constants."""
        return link_constants(self.found.tree, self.p)

    @computed_once
    def vector(self) -> FloatArray:
        """The same as one array."""
        return self.numbers.vector

    @computed_once
    def pattern(self) -> tuple[bytes, Pattern]:
        """Which numbers of the mechanism and of its links are structure."""
        return self.found.structure.pattern(self.p), self.numbers.pattern()

    @computed_once
    def has_massless_motion(self) -> bool:
        """Whether a joint may move its body without meeting inertia.

        Where every link has inertia of its own about its axis, or mass along it, none does, though
        bodies lack it about others: links that move each other have no less.
        """
        tree = self.found.tree
        if not has_massless_motion(tree.parts, self.p, None):
            return False
        numbers = self.numbers
        for link, mass, (xx, *_, yy, _, zz) in zip(
            tree.links, numbers.mass, numbers.inertia, strict=True
        ):
            met = zz > MET * (xx + yy + zz) if link.motion == "revolute" else mass > 0.0
            if link.motion not in ("revolute", "prismatic") or not met:
                return True
        return False


@dataclass
class JointConstants:
    """What is found of a mechanism for some parameters.

    Attributes
    ----------
    dimensions : what follows from frames and masses, shared by parameters that agree in these.
    """

    found: JointCoordinateCache
    p: FloatArray
    dimensions: Dimensions

    @property
    def numbers(self) -> LinkConstants:
        """The link constants."""
        return self.dimensions.numbers

    @property
    def vector(self) -> FloatArray:
        """The same as one array."""
        return self.dimensions.vector

    @property
    def has_massless_motion(self) -> bool:
        """Whether a joint may move its body without meeting inertia."""
        return self.dimensions.has_massless_motion

    def program_by_link(self, lanes: int) -> TapeProgram:
        """The program of a large tree link by link."""
        found, tree, first = self.found, self.found.tree, self.p.size
        if found.change_by_link is None:
            entry = FromBodiesByCalls(found.mechanism, tree, found.vector_of)
            entry.carrier = found.change_by_link = CoordinateChangeByCalls(
                "joint", entry.into, entry.scales, lambda name: tree_kernel(tree, first, name)
            )
        key = *self.dimensions.pattern, lanes
        if key not in found.programs:
            constants = dict(found.structure.constants(self.p))
            constants |= {first + k: value for k, value in key[1]}
            found.programs[key] = tree_program(tree, first, constants, found.change_by_link, lanes)
        return found.programs[key]

    @computed_once
    def system(self) -> JointEquations:
        """The mechanism in the coordinates of its joints."""
        found, numbers = self.found, self.numbers
        key = self.dimensions.pattern
        if key not in found.systems:
            constants = found.structure.constants(self.p)
            written = TreeExpressions.of(
                found.mechanism, found.tree, constants, numbers, found.vector_of
            )
            found.systems[key] = JointEquations(written)
        return found.systems[key].for_parameters(self.p, numbers)


def factor_work(tree: Tree, across: int = 0) -> int:
    """Multiplications of factoring M̂ of a tree together with the rows of its loops.

    Velocities meet in M̂ where one carries the other, and in a row where they move one of its bodies
    against another. Of the rows of a constraint, those `across` a plane vanish.
    """
    own = [range(k.v, k.v + MOTIONS[k.motion][1]) for k in tree.links]
    moving = [{j for a in tree.ancestors(k) for j in own[a]} for k in range(len(tree.links))]
    mass = [(i, j) for k, here in enumerate(own) for i in here for j in moving[k]]
    acting, rows, starts = [], 0, tree.parts.row_starts
    for number, element in tree.constraints:
        links = [tree.link_of[body] for body in element.bodies]
        sets = [moving[link] if link >= 0 else set() for link in links]
        between = set().union(*sets).difference(set.intersection(*sets) if sets else ())
        for _ in range(max(starts[number + 1] - starts[number] - across, 1)):
            acting += [(rows, j) for j in between]
            rows += 1
    return analyse(tree.nv, rows, mass, acting).operations
