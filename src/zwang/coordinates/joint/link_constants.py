"""Joint coordinates: link constants, where each link is placed on its parent and what it weighs.

A link frame stands on its parent by a constant placement and then its own motion,

    R_WL = R_WP E turn,   o_L = o_P + R_WP (d + E z (h + s)),

with the turn θ about z or the slide s. A hinge fixes its frame only up to a turn about z and a
place along z. Both are used, as Denavit and Hartenberg did: the frame of a link stands where the
common normal to the next axis begins, with x along that normal. Then E is a turn about x and d lies
along x, for one of the links that hang on it; what vanishes so costs nothing.

All are functions of the parameters alone and computed once for a start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.coordinates.joint.tree import Branch, Tree
from zwang.multibody.constants import NEGLIGIBLE, Pattern
from zwang.multibody.element import Element
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR
from zwang.multibody.terms import body_slots
from zwang.rotation.quaternion import from_rotation_matrix
from zwang.terms import FloatArray

__all__ = ["OF_BODIES", "OF_LINKS", "LinkConstants", "link_constants", "marked", "turns"]

#: Axes whose directions differ by less than this are parallel; lengths below it, relative, vanish.
PARALLEL = 1e-13
#: Sine of the angle of two axes from which the foot of their common normal is well defined.
SKEW = 0.1
#: x, y, z → y, z, x as columns: turns a frame so that the next axis is z.
CYCLE = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
#: Its powers.
CYCLES = np.eye(3), CYCLE, CYCLE @ CYCLE
#: Entries of the records of links, of bodies on them and of markers, and their shapes.
OF_LINKS: dict[str, tuple[int, ...]] = {
    "E": (3, 3),
    "d": (3,),
    "h": (),
    "offset": (),
    "mass": (),
    "moment": (3,),
    "inertia": (6,),
    "E_parameters": (4,),
}
OF_BODIES: dict[str, tuple[int, ...]] = {"R": (3, 3), "at": (3,), "parameters": (4,)}
OF_MARKERS: dict[str, tuple[int, ...]] = {"marker_R": (3, 3), "marker_at": (3,)}


@dataclass(frozen=True)
class LinkConstants:
    """Numbers of links (n, …), of bodies on them (nb, …) and of the markers of constraints (nm, …).

    Attributes
    ----------
    E, d, h : placement of a link's frame on its parent, see the module.
    offset : what a link's angle is more than that of its joint.
    mass, moment, inertia : of all bodies on a link: m, m c and the six entries 00, 01, 02, 11, 12,
        22 of the tensor about the origin of the link.
    E_parameters : Euler parameters of E.
    R, at : axes of a body in its link, and its centre of mass there.
    parameters : Euler parameters of R, of the sign that the body's own take.
    marker_R, marker_at : the same for the markers of constraints, see `marked`.
    """

    E: Any
    d: Any
    h: Any
    offset: Any
    mass: Any
    moment: Any
    inertia: Any
    E_parameters: Any
    R: Any
    at: Any
    parameters: Any
    marker_R: Any
    marker_at: Any

    @property
    def vector(self) -> FloatArray:
        """All, flat: the records of the links one after the other, those of bodies, of markers."""
        return self._in_records(vars(self))

    @staticmethod
    def _in_records(values: Mapping[str, Any]) -> Any:
        """Arrays of entries by name, as one of records."""
        groups = []
        for fields in (OF_LINKS, OF_BODIES, OF_MARKERS):
            count = len(values[next(iter(fields))])
            columns = [
                np.reshape(values[name], (count, int(np.prod(shape))))
                for name, shape in fields.items()
            ]
            groups.append(np.concatenate(columns, axis=1).ravel())
        return np.concatenate(groups)

    @staticmethod
    def count(tree: Tree) -> int:
        """Length of `vector`."""
        return sum(places.size for places in LinkConstants.places(tree).values())

    @staticmethod
    def places(tree: Tree) -> dict[str, np.ndarray]:
        """Name → where its entries are in `vector`, an array of its shape."""
        counts = (len(tree.links), len(tree.parts.bodies), len(marked(tree)))
        found, start = {}, 0
        for count, fields in zip(counts, (OF_LINKS, OF_BODIES, OF_MARKERS), strict=True):
            sizes = [int(np.prod(shape)) for shape in fields.values()]
            record = sum(sizes)
            first = start + np.cumsum([0, *sizes])
            for (name, shape), size, at in zip(fields.items(), sizes, first, strict=False):
                places = at + record * np.arange(count)[:, None] + np.arange(size)
                found[name] = places.reshape(count, *shape)
            start += count * record
        return found

    def pattern(self) -> Pattern:
        """Entries of `vector` that are structure: zeros, and ones of axes; see `constants`.

        Lengths are compared with the largest of all, mass moments with mass times that length, and
        tensors with their own largest entry.
        """
        lengths = [np.abs(x).max(initial=0.0) for x in (self.d, self.h, self.at, self.marker_at)]
        length = max(lengths)
        sizes: Mapping[str, Any] = {
            "E": 1.0,
            "R": 1.0,
            "marker_R": 1.0,
            "d": length,
            "h": length,
            "at": length,
            "marker_at": length,
            "mass": 0.0,
            "moment": self.mass[:, None] * length,
            "inertia": np.abs(self.inertia).max(axis=-1, initial=0.0)[:, None],
        }
        constants: dict[str, Any] = {}
        for name, values in vars(self).items():
            constants[name] = np.full(np.shape(values), np.nan)
            if name in sizes:
                constants[name][np.abs(values) <= NEGLIGIBLE * sizes[name]] = 0.0
            if name in ("E", "R", "marker_R"):
                ones = np.abs(np.abs(values) - 1.0) <= NEGLIGIBLE
                constants[name][ones] = np.sign(values[ones])
        flat = self._in_records(constants)
        known = np.flatnonzero(~np.isnan(flat))
        return tuple(zip(known.tolist(), flat[known].tolist(), strict=True))


def marked(tree: Tree) -> list[tuple[int, Element, int]]:
    """Constraint elements of frames in space, with each body that has a frame there, and its side.

    At its marker a body is seen best by such an element: without an arm, and with its axes.
    """
    return [
        (number, element, side)
        for number, element in tree.constraints
        if {"at_a", "axes_a", "at_b", "axes_b"} <= set(element.law.shapes)
        for side in range(2)
        if element.bodies[side] >= 0
    ]


def link_constants(
    tree: Tree, p: FloatArray, placed: Mapping[int, float] | None = None
) -> LinkConstants:
    """The numbers of a tree for the parameters p of its mechanism.

    Parameters
    ----------
    placed : hinge → angle of its joint as placed, for hinges whose frames are to have an angle of
        zero there instead of standing where most numbers vanish.
    """
    return _Placing(tree, p, placed).result()


def turns(tree: Tree, p: FloatArray, placed: Mapping[int, float]) -> list[tuple[float, ...]]:
    """For each hinge by which angles its frame, and that of the next hinge, were turned about z.

    None for others, and for those in `placed`.
    """
    return _Placing(tree, p, placed).turns


class _Placing:
    """Frames of links and bodies, first at the markers of the joints, then as they are best."""

    def __init__(
        self, tree: Tree, p: FloatArray, placed: Mapping[int, float] | None = None
    ) -> None:
        self.tree, self.p, n, nb = tree, p, len(tree.links), len(tree.parts.bodies)
        self.placed = placed or {}
        self.turns: list[tuple[float, ...]] = [()] * n
        self.E, self.d = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
        self.h, self.offset = np.zeros(n), np.zeros(n)
        self.R, self.at = np.tile(np.eye(3), (nb + 1, 1, 1)), np.zeros((nb + 1, 3))
        for branch in tree.branches:
            self._place(branch)
        self.bodies: list[list[int]] = [[] for _ in range(n)]
        self.children: list[list[int]] = [[] for _ in range(n)]
        for body, link in tree.link_of.items():
            if body >= 0 and link >= 0:
                self.bodies[link].append(body)
        for k, link in enumerate(tree.links):
            if link.parent >= 0:
                self.children[link.parent].append(k)
        self.size = max(np.abs(self.d).max(initial=0.0), np.abs(self.at).max(initial=0.0))
        for k, link in enumerate(tree.links):
            if link.motion == "revolute":
                self._turn(k)

    def _place(self, branch: Branch) -> None:
        """The frames of a branch, at the markers of its joint."""
        tree, child = self.tree, branch.child
        (arm, axes), (own_arm, own_axes) = _markers(tree.parts, self.p, branch)
        R, at = self.R[branch.parent], self.at[branch.parent]
        E, d = R @ axes, at + R @ arm
        turned = 0
        for link, (motion, axis) in zip(branch.links, branch.steps, strict=True):
            turn = (axis + 1) % 3 if motion in ("revolute", "prismatic") else 0
            self.E[link] = E @ CYCLES[(turn - turned) % 3]
            self.d[link] = d
            E, d, turned = np.eye(3), np.zeros(3), turn
        if branch.oblique:
            self._oblique(branch)
        if not branch.steps:  # fixed: on the parent's link
            self.R[child] = E @ own_axes.T
            self.at[child] = d - self.R[child] @ own_arm
        elif branch.steps[-1][0] in ("spherical", "free", "scalar"):  # keeps the axes of the body
            link = branch.links[-1]
            self.E[link] = self.E[link] @ axes.T
            self.at[child] = -own_arm
        else:
            own = own_axes @ CYCLES[turned]
            self.R[child] = own.T
            self.at[child] = -own.T @ own_arm

    def _oblique(self, branch: Branch) -> None:
        """Rotate the second of two axes in the plane of both, from the right angle to its own."""
        joint, second = branch.joint, branch.links[-1]
        assert joint is not None
        angle = self.p[self.tree.parts.slots[f"{joint.elements[0]}.arm_angle"][0]]
        s, c = -np.cos(angle), np.sin(angle)  # of angle − π/2, which rotates y towards −x
        s = -s if branch.reverse else s  # and the other way round x towards y
        about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        back = np.linalg.matrix_power(CYCLE, (branch.steps[0][1] + 1) % 3)
        self.E[second] = back.T @ about_z @ back @ self.E[second]

    def _turn(self, link: int) -> None:
        """Turn the frame of a hinge about z, and move it along z, to where most numbers vanish."""
        tree = self.tree
        if link in self.placed:
            angle = -self.placed[link] - self.offset[link]
            self._move(link, np.array([np.cos(angle), np.sin(angle), 0.0]), 0.0)
            return
        bodies, children = self.bodies[link], self.children[link]
        hinges = [k for k in children if tree.links[k].motion == "revolute"]
        if hinges:
            w, d = self.E[hinges[0]][:, 2], self.d[hinges[0]]
        elif children:
            return
        else:
            w, d = np.array([0.0, 0.0, 1.0]), self._center(bodies)
        sine, sigma, kappa = float(np.hypot(w[0], w[1])), 0.0, 0.0
        if sine > PARALLEL:
            x = np.array([-w[1], w[0], 0.0]) / sine
            if sine > SKEW:  # d − σ z − κ w lies along x, across both axes
                both = np.array([[1.0, w[2]], [w[2], 1.0]])
                sigma, kappa = np.linalg.solve(both, np.array([d[2], w @ d]))
        else:
            x, sigma = np.array([d[0], d[1], 0.0]), float(d[2])
            length = float(np.linalg.norm(x))
            x = x / length if length > PARALLEL * self.size else np.array([1.0, 0.0, 0.0])
        self._move(link, x, sigma)
        back = self._turn_placement(hinges[0], kappa) if hinges else 0.0
        self.turns[link] = (float(np.arctan2(x[1], x[0])), back)

    def _move(self, link: int, x: FloatArray, sigma: float) -> None:
        """Turn the frame of a hinge about z so that x is its own, and move it along z."""
        bodies, children = self.bodies[link], self.children[link]
        turn = np.array([[x[0], -x[1], 0.0], [x[1], x[0], 0.0], [0.0, 0.0, 1.0]])
        self.offset[link] += np.arctan2(x[1], x[0])
        self.h[link] += sigma
        z = np.array([0.0, 0.0, sigma])
        for body in bodies:
            self.R[body], self.at[body] = turn.T @ self.R[body], turn.T @ (self.at[body] - z)
        for k in children:
            self.E[k], self.d[k] = turn.T @ self.E[k], turn.T @ (self.d[k] - z)

    def _turn_placement(self, link: int, kappa: float) -> float:
        """Let x of a hinge's placement be the parent's, and slide it along its axis.

        Returns
        -------
        Angle : by which it is turned for that.
        """
        w = self.E[link][:, 2]
        self.d[link] = self.d[link] - kappa * w
        self.h[link] += kappa
        E = np.array([[1.0, 0.0, 0.0], [0.0, w[2], w[1]], [0.0, -w[1], w[2]]])
        back = E.T @ self.E[link]  # a turn about z, which the angle takes over
        angle = float(np.arctan2(back[1, 0], back[0, 0]))
        self.offset[link] += angle
        self.E[link] = E
        return angle

    def _center(self, bodies: list[int]) -> FloatArray:
        masses = [self._inertia(b)[0] for b in bodies]
        total = sum(masses)
        if not total > 0.0:
            return np.zeros(3)
        return (
            sum((m * self.at[b] for m, b in zip(masses, bodies, strict=True)), np.zeros(3)) / total
        )

    def _inertia(self, body: int) -> tuple[float, FloatArray]:
        """Mass and tensor of a body, in its own axes about its centre of mass."""
        parts, kind = self.tree.parts, self.tree.parts.bodies[body].kind
        start, end = body_slots(parts.slots, parts.bodies[body].name)
        mass, numbers = float(self.p[start]), self.p[start + 1 : end]
        if kind is SCALAR:
            return mass, np.zeros((3, 3))
        if kind.plane is not None:
            J = np.zeros((3, 3))
            J[kind.plane[2], kind.plane[2]] = numbers[0]
        elif len(numbers) == 3:
            J = np.diag(numbers)
        else:
            J = np.triu(numbers.reshape(3, 3))
            J = J + np.triu(J, 1).T
        return mass, J

    def result(self) -> LinkConstants:
        tree, n = self.tree, len(self.tree.links)
        mass, moment, tensor = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
        for body, link in tree.link_of.items():
            if body >= 0 and link >= 0:
                m, J = self._inertia(body)
                c, R = self.at[body], self.R[body]
                mass[link] += m
                moment[link] += m * c
                tensor[link] += R @ J @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
        rows, columns = np.triu_indices(3)
        frames = list(_marker_frames(tree, self.p, self.R, self.at))
        nb = len(tree.parts.bodies)
        return LinkConstants(
            self.E,
            self.d,
            self.h,
            self.offset,
            mass,
            moment,
            tensor[:, rows, columns],
            np.array([from_rotation_matrix(E) for E in self.E]).reshape(n, 4),
            self.R[:nb],
            self.at[:nb],
            np.array([from_rotation_matrix(R) for R in self.R[:nb]]).reshape(nb, 4),
            np.array([R for R, _ in frames]).reshape(-1, 3, 3),
            np.array([at for _, at in frames]).reshape(-1, 3),
        )


def _marker_frames(
    tree: Tree, p: FloatArray, R: FloatArray, at: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Axes and place of each marker of `marked`, in the frame of its body's link."""
    for _, element, side in marked(tree):
        body, end = element.bodies[side], "ab"[side]
        arm = _values(tree.parts, p, f"{element.name}.at_{end}")
        axes = _values(tree.parts, p, f"{element.name}.axes_{end}").reshape(3, 3)
        yield R[body] @ axes, at[body] + R[body] @ arm


def _markers(parts: Parts, p: FloatArray, branch: Branch) -> list[tuple[FloatArray, FloatArray]]:
    """Arm and axes of the markers on parent and child, body axes."""
    joint = branch.joint
    if joint is None:
        plane = parts.bodies[branch.child].kind.plane
        k = 2 if plane is None else plane[2]
        axes = CYCLES[(k + 1) % 3]
        return [(np.zeros(3), axes), (np.zeros(3), axes)]
    assert joint.layout is not None
    found, plane = [], joint.layout.plane
    for end in "ba" if branch.reverse else "ab":
        at = _values(parts, p, f"{joint.elements[0]}.at_{end}")
        if plane is None:
            axes = _values(parts, p, f"{joint.elements[0]}.axes_{end}").reshape(3, 3)
        else:
            i, j, k = plane
            arm, along, normal = np.zeros(3), np.zeros(3), np.eye(3)[k]
            arm[[i, j]] = at
            along[[i, j]] = _values(parts, p, f"{joint.elements[0]}.along_{end}")
            x, z = (along, normal) if joint.layout.normal[0] else (normal, along)
            at, axes = arm, np.array([x, _cross(z, x), z]).T
        found.append((at, axes))
    return found


def _cross(a: FloatArray, b: FloatArray) -> list[float]:
    """a × b of two vectors, of which NumPy's needs twenty times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return [y * w - z * v, z * u - x * w, x * v - y * u]


def _values(parts: Parts, p: FloatArray, name: str) -> FloatArray:
    start, end = parts.slots[name]
    return p[start:end]
