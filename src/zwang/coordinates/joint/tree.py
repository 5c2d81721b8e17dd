"""Joint coordinates: the tree of links that joints make, rooted in the ground.

Joints that let two bodies move against each other by given freedoms become branches of the tree: a
body is where its parent is, moved by the joint's own coordinates. What remains, the joints that
close loops, drivers and a user's own conditions, stays a constraint.

A branch is a sequence of links, one for each freedom: a cylindrical joint is a slide followed by a
turn, a universal joint two turns, and the links between have no mass. A link moves against its
parent in one of these ways, z being its axis:

    revolute     turn θ about z              q̂ = θ,          v̂ = θ̇
    prismatic    slide s along z             q̂ = s,          v̂ = ṡ
    spherical    any turn, by parameters e   q̂ = e (4),      v̂ = ω relative, axes of the link
    free         any motion from the ground  q̂ = (r, e),     v̂ = (ṙ, ω′)
    scalar       no body, a coordinate       q̂ = value,      v̂ = rate
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from zwang.multibody.element import Element
from zwang.multibody.frozen import Parts
from zwang.multibody.joints.couplings import OBLIQUE_UNIVERSAL
from zwang.multibody.marker import Joint
from zwang.multibody.pose import SCALAR

__all__ = ["MOTIONS", "Branch", "Link", "Tree", "tree_of"]

#: Motion of a link → numbers of its coordinates and velocities.
MOTIONS = {"revolute": (1, 1), "prismatic": (1, 1), "spherical": (4, 3), "free": (7, 6)}
MOTIONS["scalar"] = (1, 1)

#: Motion and axis (x, y, z of the parent's marker as 0, 1, 2) of each link of a branch, in turn.
Step = tuple[str, int]
STEPS: dict[str, tuple[Step, ...]] = {
    "fixed": (),
    "revolute": (("revolute", 2),),
    "prismatic": (("prismatic", 2),),
    "cylindrical": (("prismatic", 2), ("revolute", 2)),
    "screw": (("prismatic", 2), ("revolute", 2)),
    "universal": (("revolute", 0), ("revolute", 1)),
    "planar": (("prismatic", 0), ("prismatic", 1), ("revolute", 2)),
    "spherical": (("spherical", 2),),
}
#: The same for mechanisms in a plane, where a ball is a pin; by whether z is the plane's normal.
PLANE_STEPS: dict[tuple[str, bool], tuple[Step, ...]] = {
    ("fixed", True): (),
    ("fixed", False): (),
    ("revolute", True): STEPS["revolute"],
    ("spherical", True): STEPS["revolute"],
    ("cylindrical", True): STEPS["revolute"],
    ("prismatic", False): STEPS["prismatic"],
    ("cylindrical", False): STEPS["prismatic"],
}


@dataclass(frozen=True)
class Branch:
    """What carries one body: a joint, or its own freedom where no joint does.

    Attributes
    ----------
    joint : the joint, or None.
    parent, child : bodies; −1 is the ground.
    reverse : whether the child is the first body of the joint.
    steps : motion and axis of each link; none for bodies that are fixed to their parent.
    links : numbers of these links; the child sits on the last one.
    """

    joint: Joint | None
    parent: int
    child: int
    reverse: bool
    steps: tuple[Step, ...]
    links: range

    @property
    def oblique(self) -> bool:
        """Whether the axes of its two turns meet at an angle other than a right one."""
        kind = None if self.joint is None else self.joint.kind
        return kind is OBLIQUE_UNIVERSAL


@dataclass(frozen=True)
class Link:
    """A moving frame of the tree.

    Attributes
    ----------
    parent : number of the link it moves against, −1 for the ground.
    motion : see the module.
    q, v : where its coordinates and velocities begin.
    """

    parent: int
    motion: str
    q: int
    v: int


@dataclass
class Tree:
    """Links in an order in which parents come first.

    Attributes
    ----------
    link_of : body → link it sits on; −1 for bodies fixed to the ground.
    constraints : elements that are no part of the tree, with their numbers among all elements.
    """

    parts: Parts
    links: list[Link] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    link_of: dict[int, int] = field(default_factory=lambda: {-1: -1})
    constraints: list[tuple[int, Element]] = field(default_factory=list)
    nq: int = 0
    nv: int = 0

    def ancestors(self, link: int) -> list[int]:
        """A link and those that carry it, the outermost first."""
        found = []
        while link >= 0:
            found.append(link)
            link = self.links[link].parent
        return found

    @property
    def unit(self) -> tuple[tuple[int, ...], ...]:
        """Coordinates that have unit length together."""
        last = [(k.q + MOTIONS[k.motion][0], k) for k in self.links]
        return tuple(
            tuple(range(end - 4, end)) for end, k in last if k.motion in ("spherical", "free")
        )

    @property
    def angles(self) -> tuple[int, ...]:
        """Coordinates that are angles and grow with every turn."""
        return tuple(k.q for k in self.links if k.motion == "revolute")

    def grow(self, joint: Joint | None, parent: int, child: int, steps: tuple[Step, ...]) -> None:
        """Put a child on its parent."""
        first, below = len(self.links), self.link_of[parent]
        for motion, _ in steps:
            self.links.append(Link(below, motion, self.nq, self.nv))
            nq, nv = MOTIONS[motion]
            self.nq, self.nv, below = self.nq + nq, self.nv + nv, len(self.links) - 1
        self.link_of[child] = below
        reverse = joint is not None and joint.bodies[0] == child
        links = range(first, len(self.links))
        self.branches.append(Branch(joint, parent, child, reverse, steps, links))


def tree_of(parts: Parts) -> Tree:
    """The spanning tree of a mechanism, breadth first, so that it is shallow.

    Of the joints at one depth those with the fewest freedoms come first: the loops are then cut
    where a joint has the fewest equations. A body that is reached by no joint moves freely, and
    those that hang on it follow.
    """
    acting = {element.name for element in parts.constraints}
    usable: dict[int, list[tuple[Joint, tuple[Step, ...]]]] = {}
    for joint in parts.joints.values():
        steps = _steps(joint)
        if steps is None or joint.elements[0] not in acting:
            continue
        for body in joint.bodies:
            usable.setdefault(body, []).append((joint, steps))
    tree, used = Tree(parts), set()

    def spread(root: int) -> None:
        queue = deque([root])
        while queue:
            parent = queue.popleft()
            for joint, steps in sorted(usable.get(parent, ()), key=lambda item: len(item[1])):
                a, b = joint.bodies
                child = b if parent == a else a
                if child not in tree.link_of:
                    own = steps if child == b else _reversed(steps)
                    tree.grow(joint, parent, child, own)
                    used.add(joint.elements[0])
                    queue.append(child)

    spread(-1)
    by_joints = sorted(range(len(parts.bodies)), key=lambda i: -len(usable.get(i, ())))
    for body in by_joints:
        if body not in tree.link_of:
            kind = parts.bodies[body].kind
            free: tuple[Step, ...] = (("free", 2),)
            if kind is SCALAR:
                free = (("scalar", 2),)
            elif kind.plane is not None:
                free = STEPS["planar"]
            tree.grow(None, -1, body, free)
            spread(body)
    tree.constraints = [(i, e) for i, e in enumerate(parts.constraints) if e.name not in used]
    return tree


def _steps(joint: Joint) -> tuple[Step, ...] | None:
    """The freedoms of a joint, or None where it is no branch of a tree."""
    if joint.kind is None or joint.layout is None or len(joint.bodies) != 2:
        return None
    if joint.bodies[0] == joint.bodies[1]:
        return None
    if joint.layout.plane is not None:
        first, second = joint.layout.normal
        return PLANE_STEPS.get((joint.kind.name, first)) if first == second else None
    return STEPS.get(joint.kind.name)


def _reversed(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps from the second body of a joint to its first: two turns change their order."""
    return steps[::-1] if all(motion == "revolute" for motion, _ in steps) else steps
