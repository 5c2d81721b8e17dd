"""Whether and how a mechanism is carried in the coordinates of its joints.

A small tree, and one with loops, becomes one expression (`JointSystem`); a large tree without loops
is evaluated link by link (`by_link`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.caching import Remembered, computed_once
from zwang.coordinates.constants import ConstantPattern, Pattern
from zwang.coordinates.joint.by_link import tree_kernel, tree_program
from zwang.coordinates.joint.from_bodies import TapeEntry
from zwang.coordinates.joint.link_constants import LinkNumbers, link_numbers
from zwang.coordinates.joint.system import JointSystem
from zwang.coordinates.joint.tree import Tree, tree_of
from zwang.coordinates.planar.embedding import has_massless_motion
from zwang.equations.active_rows import redundant_rows_of_many, verdict_at
from zwang.integrators.settings import Coordinates, Settings
from zwang.programs.blocks.call_list_program import TapeProgram
from zwang.programs.blocks.coordinates import CoordinateChangeByCalls
from zwang.programs.contract import Program
from zwang.programs.cost import COST
from zwang.programs.whole import WholeProgram
from zwang.simulation.select_program import EnsembleStarts, program_of
from zwang.simulation.start import all_regular, terms_at
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.mechanism_system import MechanismSystem

__all__ = ["joint_program", "joint_programs"]

#: Where bodies are further than this from what the joints allow after that, relative, the state
#: belongs to another assembly of the joints, and is none of this tree.
FOREIGN = 1e-3
#: Sets of parameters for which what is found is remembered.
KEPT = 64

CHEAPER_IN_PLANE = "a plane, in which the coordinates of bodies are cheaper"
UNREACHED = "a state that its joints, as placed, do not reach"


@dataclass
class JointCoordinateCache:
    """What is found of a mechanism once: its tree, and what depends on parameters."""

    mechanism: MechanismSystem
    tree: Tree
    structure: ConstantPattern
    values: Remembered[bytes, _JointConstants] = field(default_factory=lambda: Remembered(KEPT))
    systems: dict[tuple[bytes, Pattern], JointSystem] = field(default_factory=dict)
    tapes: dict[tuple[bytes, Pattern, int], TapeProgram] = field(default_factory=dict)
    tape_carrier: CoordinateChangeByCalls | None = None

    @classmethod
    def of(cls, system: MechanismSystem) -> JointCoordinateCache:
        """Kept with the mechanism."""
        if "_in_joints" not in system.__dict__:
            found = cls(system, tree_of(system.parts), ConstantPattern(system.parts))
            system.__dict__["_in_joints"] = found
        return system.__dict__["_in_joints"]

    def with_values(self, p: FloatArray) -> _JointConstants:
        """What is found for some parameters."""
        key = p.tobytes()
        found = self.values.get(key)
        if found is None:
            found = self.values[key] = _JointConstants(self, p.copy())
        return found

    def vector_of(self, p: FloatArray) -> FloatArray:
        """The numbers of the links for some parameters, as one array."""
        return self.with_values(p).vector


@dataclass
class _JointConstants:
    """What is found of a mechanism for some parameters."""

    found: JointCoordinateCache
    p: FloatArray

    @computed_once
    def numbers(self) -> LinkNumbers:
        """The numbers of the links."""
        return link_numbers(self.found.tree, self.p)

    @computed_once
    def vector(self) -> FloatArray:
        """The same as one array."""
        return self.numbers.vector

    @computed_once
    def has_massless_motion(self) -> bool:
        """Whether a body can move without inertia."""
        return has_massless_motion(self.found.tree.parts, self.p, None)

    def tape(self, lanes: int) -> TapeProgram:
        """The program of a large tree link by link."""
        found, tree, first = self.found, self.found.tree, self.p.size
        if found.tape_carrier is None:
            entry = TapeEntry(found.mechanism, tree, found.vector_of)
            entry.carrier = found.tape_carrier = CoordinateChangeByCalls(
                "joint", entry.into, entry.scales, lambda name: tree_kernel(tree, first, name)
            )
        key = found.structure.pattern(self.p), self.numbers.pattern(), lanes
        if key not in found.tapes:
            constants = dict(found.structure.constants(self.p))
            constants |= {first + k: value for k, value in key[1]}
            found.tapes[key] = tree_program(tree, first, constants, found.tape_carrier, lanes)
        return found.tapes[key]

    @computed_once
    def system(self) -> JointSystem:
        """The mechanism in the coordinates of its joints."""
        found, numbers = self.found, self.numbers
        key = found.structure.pattern(self.p), numbers.pattern()
        if key not in found.systems:
            constants = found.structure.constants(self.p)
            found.systems[key] = JointSystem.of_tree(
                found.mechanism, found.tree, constants, numbers, found.vector_of
            )
        return found.systems[key].for_parameters(self.p, numbers)


def joint_program(
    system: MechanismSystem, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int
) -> Program | str:
    """The program of a mechanism in the coordinates of its joints, or what speaks against it."""
    asked = settings.coordinates is Coordinates.JOINT
    if system.parts.kind.plane is not None and not asked and not settings.method.nodes:
        return CHEAPER_IN_PLANE  # told without the tree
    values = JointCoordinateCache.of(system).with_values(p)
    tree, by_link = values.found.tree, _link_by_link(values, settings)
    against = _too_large(tree, by_link=by_link) or _not_worth(tree, settings)
    if against:
        return against
    if by_link:
        program = values.tape(lanes)
        assert program.carrier is not None
        return UNREACHED if program.carrier.reached(y, t, p, FOREIGN) is None else program
    found = values.system
    entered = found.carrier.reached(y, t, p, FOREIGN)
    if entered is None:
        return UNREACHED
    start, hat = entered
    light, n = not found.rows and values.has_massless_motion, found.tree.nq
    if light and found.mass_is_singular(start[:n], start[n:], np.asarray(t), hat):
        return "a motion of its joints that meets no inertia"
    if not found.rows:
        return _outer(found, program_of(found, start, t, hat, settings, lanes))
    verdict = verdict_at(found, start, t, hat, settings.until - t)
    if not (verdict.here and verdict.acting.distinct) and not asked:
        # In absolute coordinates there are more rows to choose those from that need not act.
        return "redundant equations of its loops of which none can be left out everywhere"
    return _outer(found, program_of(found, start, t, hat, settings, lanes, acting=verdict.acting))


def _outer(found: JointSystem, inner: Program) -> WholeProgram:
    """The program with rows numbered as the mechanism's."""
    assert isinstance(inner, WholeProgram)
    programs: dict[int, tuple[WholeProgram, WholeProgram]] = found.__dict__.setdefault("_outer", {})
    if id(inner) not in programs:
        gone = tuple(sorted([*found.vanished, *(found.rows[i] for i in inner.left_out)]))
        programs[id(inner)] = inner, replace(inner, carrier=found.carrier, left_out=gone)
    return programs[id(inner)][1]


def joint_programs(system: MechanismSystem, many: EnsembleStarts) -> Sequence[Program] | None:
    """The programs of many starts with equal parameters; None if one needs a closer look."""
    Y, t, P, settings, lanes, _ = many
    values = JointCoordinateCache.of(system).with_values(P[0])
    tree, by_link = values.found.tree, _link_by_link(values, settings)
    if by_link or _too_large(tree, by_link=False) or _not_worth(tree, settings):
        return None
    found = values.system
    entered = found.carrier.all_reached(Y, t, P, FOREIGN)
    if entered is None:
        return None
    starts, hats = entered
    if not found.rows:
        if values.has_massless_motion:
            return None
        inner = [program_of(found, starts[0], t, hats[0], settings, lanes)] * len(Y)
    else:
        M, A = terms_at(found, starts, t, hats)
        if not all_regular(M):
            return None
        rows = redundant_rows_of_many(found, starts, t, hats, settings.until - t, M, A)
        if settings.coordinates is not Coordinates.JOINT and not all(x.distinct for x in rows):
            return None
        given = (starts[0], t, hats[0], settings, lanes)
        chosen = {
            acting: program_of(found, *given, singular=False, acting=acting) for acting in {*rows}
        }
        inner = [chosen[acting] for acting in rows]
    return [_outer(found, x) for x in inner]


def _link_by_link(values: _JointConstants, settings: Settings) -> bool:
    """Whether a tree is evaluated by one kernel for each kind of link.

    Where bodies lack inertia, only the mass matrix as a whole tells whether the tree does.
    """
    tree, method = values.found.tree, settings.method
    large = len(tree.links) > COST.link_by_link and not tree.constraints
    wanted = large and values.found.mechanism.by_blocks and (method.lanes or method.nodes)
    return wanted and not values.has_massless_motion


def _too_large(tree: Tree, *, by_link: bool) -> str:
    """That a tree would take too long to compile, or has nothing to move; empty if not."""
    if not tree.nv:
        return "joints that leave no freedom"
    if len(tree.links) > COST.joint_links and not by_link:
        return (
            f"{len(tree.links)} freedoms, more than {COST.joint_links}, with loops, bodies that "
            "lack inertia or an implicit method"
        )
    if tree.constraints and tree.nv > COST.joint_loop_velocities:
        return f"{tree.nv} freedoms with loops, more than {COST.joint_loop_velocities}"
    return ""


def _not_worth(tree: Tree, settings: Settings) -> str:
    """Why a choice left open falls on other coordinates; empty if not."""
    if settings.coordinates is Coordinates.JOINT:
        return ""
    if tree.parts.kind.plane is not None and (tree.constraints or not settings.method.nodes):
        # At nodes, where sums over them cost as much as equations, fewer coordinates are cheaper.
        # But where loops lie flat, rows of angles vanish as a whole, and no pivot tells.
        return CHEAPER_IN_PLANE
    if all(branch.joint is None for branch in tree.branches):
        return "no joints that carry a body"
    return ""
