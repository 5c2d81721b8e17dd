"""Joint coordinates: frames of links that have exact numbers, for closed forms.

Computations turn the frame of a hinge to where most numbers vanish (`link_constants`), by the
arctangent of a ratio of dimensions. On paper that makes decimals of numbers that were typed, and of
dimensions that are letters no polynomials. Here frames turn by angles with exact sines alone;
others stay where the joint has them, and its angle is zero as placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.coordinates.joint.link_constants import (
    OF_MARKERS,
    LinkConstants,
    link_constants,
    turns,
)
from zwang.coordinates.joint.programs import JointConstants
from zwang.coordinates.joint.tree import MOTIONS, Tree
from zwang.multibody.formula_letters import STEP, cleaned, is_long
from zwang.terms import FloatArray

__all__ = ["ExactFrames"]

#: Numbers of links by which they are placed.
OF_PLACES = "E", "d", "h", "R", "at"
#: Part of a step within which angles are a multiple of it.
ALIKE = 1e-12


@dataclass(frozen=True)
class ExactFrames:
    """Where the frames of a tree stand that closed forms are written in.

    Attributes
    ----------
    joints : the mechanism in the coordinates that it is computed in.
    tree : the tree of the closed form, with the same branches.
    """

    joints: JointConstants
    tree: Tree

    def links(self, p: FloatArray, unturned: frozenset[int]) -> LinkConstants:
        """Constants of links, with hinges whose frames stay where the joints have them."""
        angles = self._placed_angles(p)
        return link_constants(self.tree, p, {link: angles[link] for link in unturned})

    def inexact(self, tried: Sequence[FloatArray]) -> frozenset[int]:
        """Hinges whose frames are turned by angles without exact sines, or not always the same.

        The angles of those before decide about the others, so that one is found after the other.

        Parameters
        ----------
        tried : parameters of the mechanism for which frames have to be turned alike.
        """
        placed = [self._placed_angles(p) for p in tried]
        found: dict[int, None] = {}
        while True:
            turned = [
                turns(self.tree, p, {link: angles[link] for link in found})
                for p, angles in zip(tried, placed, strict=True)
            ]
            bad = next((k for k, x in enumerate(zip(*turned, strict=True)) if not _exact(x)), None)
            if bad is None:
                return frozenset(found)
            found[bad] = None

    def all_short(self, p: FloatArray, unturned: frozenset[int]) -> bool:
        """Whether no number of places and turns of links becomes a decimal in formulas."""
        numbers = self.links(p, unturned)
        fields = [np.ravel(getattr(numbers, name)) for name in (*OF_PLACES, *OF_MARKERS)]
        parts = *fields, self.origin(p, numbers.offset)
        return not any(is_long(x) for part in parts for x in cleaned(part))

    def origin(self, p: FloatArray, offset: FloatArray) -> FloatArray:
        """Where coordinates are zero: as placed, but for those of free bodies and balls.

        Euler parameters stay as they are, and so do the slides and turns in place of them.
        """
        origin, computed = np.zeros(self.tree.nq), self.joints.found.tree
        placement, angles = self._placement(p), self._placed_angles(p)
        for branch, same in zip(self.tree.branches, computed.branches, strict=True):
            for number, link in ((k, self.tree.links[k]) for k in branch.links):
                if link.motion == "revolute":
                    origin[link.q] = angles[number] + offset[number]
                elif branch.steps != same.steps:
                    origin[link.q] = offset[number]
                elif MOTIONS[link.motion] == (1, 1):
                    origin[link.q] = placement[
                        computed.links[same.links[number - branch.links[0]]].q
                    ]
        return origin

    def _placed_angles(self, p: FloatArray) -> dict[int, float]:
        """Angle of the joint of each hinge as placed; zero for those that stand for others."""
        computed = self.joints.found.tree
        numbers = self.joints.found.with_values(p).numbers
        placement = self._placement(p)
        angles = {k: 0.0 for k, link in enumerate(self.tree.links) if link.motion == "revolute"}
        for branch, same in zip(self.tree.branches, computed.branches, strict=True):
            if branch.steps == same.steps:
                for k, other in zip(branch.links, same.links, strict=True):
                    if k in angles:
                        q = float(placement[computed.links[other].q])
                        angles[k] = q - float(numbers.offset[other])
        return angles

    def _placement(self, p: FloatArray) -> FloatArray:
        """Coordinates of the joints as the mechanism is described with these parameters."""
        system = self.joints.found.with_values(p).system
        return system.carrier.placed(*self.tree.parts.at_vector(p).start, p)[0]


def _exact(turned: Sequence[tuple[float, ...]]) -> bool:
    """Whether angles are multiples of a step, and the same each time, but for full turns."""
    steps = np.array(turned) / STEP
    whole = np.round(steps)
    alike = np.mod(whole - whole[0], 2.0 * np.pi / STEP) == 0.0
    return bool(np.all(alike) and np.abs(steps - whole).max(initial=0.0) <= ALIKE)
