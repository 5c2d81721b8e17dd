"""Joint coordinates of a large tree: call lists with one function for each kind of link.

    turns ─► outward from the ground ─► inward from the leaves ─► outward again

Force elements need to know where bodies are, so that places come before the forces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from zwang.codegen.expression import Port
from zwang.codegen.kernel import Kernel
from zwang.coordinates.joint import link_kernels as of
from zwang.coordinates.joint.link_constants import OF_LINKS, LinkConstants
from zwang.coordinates.joint.relative_poses import entered_branch, marker_names
from zwang.coordinates.joint.tree import MOTIONS, Branch, Tree
from zwang.multibody.element import Element
from zwang.multibody.pose import GROUND, SCALAR, BodyKind
from zwang.programs.blocks import algebra
from zwang.programs.blocks.call_list import OUT, CallList, P, Place, Q, T, V, place
from zwang.programs.blocks.call_list_program import TapeProgram
from zwang.programs.blocks.derivative_calls import RateTape
from zwang.programs.blocks.run_calls import CallListKernel
from zwang.programs.coordinate_change import CoordinateChange

if TYPE_CHECKING:
    import casadi

__all__ = ["tree_kernel", "tree_program"]

#: Hinges whose angles are turned into cosines and sines in one call: a vector of them.
TOGETHER = 4
#: In place of what the ground does not have; nobody looks there.
NOWHERE = place(T, 0)
#: So many children or forces of a link are added in one call.
SUMMANDS = 4


def tree_program(
    tree: Tree, first: int, constants: Mapping[int, float], carrier: CoordinateChange, lanes: int
) -> TapeProgram:
    """The equations of motion of a tree that nothing else constrains.

    Parameters
    ----------
    first : where the link constants begin in p̂.
    constants : entries of p̂ that are structure.
    """
    writers: dict[str, Callable[[CallList], object]] = {
        "derivative": lambda tape: TreeTape(tree, first, tape).accelerate((OUT, OUT + 1)),
        "rates": lambda tape: TreeTape(tree, first, tape).rates(),
        "acceleration": lambda tape: TreeTape(tree, first, tape).accelerate((None, OUT)),
        "forces": lambda tape: TreeTape(tree, first, tape).accelerate((None, OUT)),
        "project": lambda tape: TreeTape(tree, first, tape).project(),
        "residual": lambda tape: TreeTape(tree, first, tape).residual(OUT),
    }
    rows = (0, len(tree.unit), 0)
    count = first + LinkConstants.count(tree)
    return TapeProgram(
        *(tree.nq, tree.nv, rows, lanes, count, writers),
        carrier=carrier,
        constants=constants,
        plain_rates=not tree.unit,
    )


def tree_kernel(tree: Tree, first: int, name: str) -> Kernel:
    """The way into the coordinates of a tree, ``enter``, or back, ``leave``, or ``rates`` of that.

    The last takes each of q̂ and v̂ with its rate after it.
    """
    nq, nv = tree.nq, tree.nv
    outer = [Port("q", len(tree.parts.coordinates)), Port("v", len(tree.parts.velocities))]
    inner = [Port("q", nq), Port("v", nv)]
    tape = CallList(1)
    if name == "enter":
        TreeTape(tree, first, tape).enter()
        inner, outer = outer, inner
    elif name == "leave":
        TreeTape(tree, first, tape).leave()
    else:
        tape = RateTape({Q: nq, V: nv})
        TreeTape(tree, first, tape).leave()
        inner = [Port("q", 2 * nq), Port("v", 2 * nv)]
    inputs = (*inner, Port("t", 1), Port("p", first + LinkConstants.count(tree)))
    return CallListKernel(name, inputs, tuple(outer), 1, tape.stream())


class TreeTape:
    """One tape over a tree in the making.

    Parameters
    ----------
    first : where the link constants begin in p̂.
    """

    def __init__(self, tree: Tree, first: int, tape: CallList) -> None:
        self.tree, self.tape, self.links = tree, tape, tree.links
        self._links = first
        self._bodies = first + of.LINK * len(tree.links)
        self._turns: dict[int, Place] = {}
        self._placed = False
        self._bodies_seen: set[int] = set()

    # --- places of arguments ----------------------------------------------------------------------

    def q(self, i: int) -> Place:
        """Coordinates of a link."""
        return place(Q, self.links[i].q)

    def v(self, i: int) -> Place:
        """Velocities of a link."""
        return place(V, self.links[i].v)

    def numbers(self, i: int) -> Place:
        """The record of a link."""
        return place(P, self._links + of.LINK * i)

    def body_numbers(self, body: int) -> Place:
        """The record of a body."""
        return place(P, self._bodies + of.BODY * body)

    def _at(self, what: str, i: int, size: int) -> Place:
        return self.tape.work.at((what, i), size)

    def turn(self, i: int) -> Place:
        """What the turn of a link is made of; any place where it does not turn."""
        return self._turns.get(i, NOWHERE)

    def turns(self) -> None:
        """All turns, those of hinges whose angles are neighbours together."""
        hinges: list[int] = []

        def write() -> None:
            if hinges:
                results = [self._turns[i] for i in hinges]
                self.tape.call(of.turned_together(len(hinges)), self.q(hinges[0]), *results)
                hinges.clear()

        for i, link in enumerate(self.links):
            size = of.turn_size(link.motion)
            if not size:
                continue
            self._turns[i] = self._at("turn", i, size)
            if link.motion != "revolute":
                self.tape.call(of.turned(link.motion), self.q(i), self._turns[i])
                continue
            if hinges and (len(hinges) == TOGETHER or link.q != self.links[hinges[-1]].q + 1):
                write()
            hinges.append(i)
        write()

    # --- places of links and bodies, and forces on them -------------------------------------------

    def place(self, i: int) -> Place:
        """Place and velocity of a link; the first that is asked for brings all, needed or not."""
        if not self._placed:
            self._placed = True
            self.tape.call(of.ground(), self._at("place", -1, of.PLACE))
            for k, link in enumerate(self.links):
                if link.motion == "scalar":
                    continue
                root = link.parent < 0
                above = [] if root else [self._at("place", link.parent, of.PLACE)]
                given = [self.turn(k), self.q(k), self.v(k), self.numbers(k)]
                at = self._at("place", k, of.PLACE)
                self.tape.call(of.placed(link.motion, root=root), *above, *given, at)
        return self._at("place", i, of.PLACE)

    def _seen(self, body: int) -> tuple[Place, Place]:
        """Configuration and velocities of a body; any place for the ground."""
        if body < 0:
            return NOWHERE, NOWHERE
        kind, link = self.tree.parts.bodies[body].kind, self.tree.link_of[body]
        if kind is SCALAR:
            return self.q(link), self.v(link)
        config, v = self._at("config", body, kind.config), self._at("v", body, kind.nv)
        if body not in self._bodies_seen:
            self._bodies_seen.add(body)
            place = self.place(link)
            self.tape.call(of.seen(kind), place, self.body_numbers(body), config, v)
        return config, v

    def _exerted(self) -> dict[int, list[Place]]:
        """Wrenches of the force elements on each link."""
        parts, found = self.tree.parts, {}
        functions: dict[object, casadi.Function] = {}
        user = place(P, 0)
        for k, element in enumerate(parts.forces):
            law, moving = element.law, [b for b in element.bodies if b >= 0]
            seen = [self._seen(b) for b in element.bodies]
            names = [parts.slots[f"{element.name}.{name}"][0] for name in law.shapes]
            numbers = place(P, names[0] if names else 0)
            forces = [
                self.tape.work.at(("force", k, n), parts.bodies[b].kind.nv)
                for n, b in enumerate(moving)
            ]
            key = (law.key, tuple(b >= 0 for b in element.bodies))
            if key not in functions:
                functions[key] = _on_bodies(parts.traced[law.key].function, element)
            given = [*(c for c, _ in seen), *(v for _, v in seen), place(T, 0), numbers, user]
            self.tape.call(functions[key], *given, *forces)
            for n, (body, force) in enumerate(zip(moving, forces, strict=True)):
                kind, link = parts.bodies[body].kind, self.tree.link_of[body]
                if link < 0:
                    continue
                wrench = self.tape.work.at(("applied", k, n), of.WRENCH)
                where = [] if kind is SCALAR else [self.place(link), self.body_numbers(body)]
                self.tape.call(of.applied(kind), force, *where, wrench)
                found.setdefault(link, []).append(wrench)
        return found

    # --- accelerations ----------------------------------------------------------------------------

    def accelerate(self, spaces: tuple[int | None, int]) -> None:
        """Rates of q̂, if asked for, and v̂̇, to these outputs."""
        self._rates, self._accelerations = spaces
        self.turns()
        gravity = place(P, self.tree.parts.slots["gravity"][0])
        for i, link in enumerate(self.links):
            if link.motion == "scalar":
                continue
            root = link.parent < 0
            above = gravity if root else self._at("motion", link.parent, of.MOTION)
            self.tape.call(
                of.outward(link.motion, root=root),
                *(above, self.turn(i), self.q(i), self.v(i), self.numbers(i)),
                *(self._at("motion", i, of.MOTION), self._at("wrench", i, of.WRENCH)),
                self._rate(i),
            )
        self._inwards()
        for i, link in enumerate(self.links):
            if link.motion == "scalar":
                continue
            root = link.parent < 0
            beyond = [] if root else [self._at("beyond", link.parent, of.WRENCH)]
            self.tape.call(
                of.answer(link.motion, root=root),
                *(self.numbers(i), self.turn(i), self.q(i), self._steps(i), *beyond),
                *(place(self._accelerations, link.v), self._at("beyond", i, of.WRENCH)),
            )

    def _rate(self, i: int) -> Place:
        link = self.links[i]
        if self._rates is None:
            return self._at("rate", i, MOTIONS[link.motion][0])
        return place(self._rates, link.q)

    def _steps(self, i: int) -> Place:
        return self._at("steps", i, of.steps_size(self.links[i].motion))

    def _inwards(self) -> None:
        exerted = self._exerted()
        children: list[list[Place]] = [[] for _ in self.links]
        for i in reversed(range(len(self.links))):
            link = self.links[i]
            forces = self._few(exerted.get(i, []), ("applied sum", i), of.WRENCH)
            if link.motion == "scalar":
                given = [self.v(i), self.numbers(i), *forces]
                results = [self._rate(i), place(self._accelerations, link.v)]
                self.tape.call(of.scalar(len(forces)), *given, *results)
                continue
            handed = self._few(children[i], ("handed sum", i), of.HANDED)
            last = link.parent < 0
            results = [self._steps(i)]
            if not last:
                results.append(self._at("handed", i, of.HANDED))
                children[link.parent].append(results[-1])
            self.tape.call(
                of.inward(link.motion, len(handed), len(forces), last=last),
                *(self.numbers(i), self.turn(i), self.q(i)),
                *(self._at("wrench", i, of.WRENCH), *handed, *forces, *results),
            )

    def _few(self, terms: list[Place], name: tuple[str, int], size: int) -> list[Place]:
        """Terms of a sum, added until they are few enough for one call."""
        count = 0
        while len(terms) > SUMMANDS:
            total = self.tape.work.at((*name, count), size)
            self.tape.call(algebra.reduce_sum(size, SUMMANDS), *terms[:SUMMANDS], total)
            terms, count = [total, *terms[SUMMANDS:]], count + 1
        return terms

    def rates(self) -> None:
        """Rates of q̂, to the first output."""
        for i, link in enumerate(self.links):
            self.tape.call(of.rate(link.motion), self.q(i), self.v(i), place(OUT, link.q))

    # --- unit lengths -----------------------------------------------------------------------------

    def project(self) -> None:
        """Q̂ with its unit groups of unit length, v̂ as it is."""
        for i, link in enumerate(self.links):
            function = of.unit_length(link.motion)
            results = place(OUT, link.q), place(OUT + 1, link.v)
            self.tape.call(function, self.q(i), self.v(i), *results)

    def residual(self, space: int) -> None:
        """How far unit groups are from unit length."""
        turning = [i for i, link in enumerate(self.links) if link.motion in ("spherical", "free")]
        for k, i in enumerate(turning):
            self.tape.call(of.unit_miss(self.links[i].motion), self.q(i), place(space, k))

    # --- the way into these coordinates and back --------------------------------------------------

    def leave(self) -> None:
        """Q and v of the mechanism, to the first two outputs."""
        self.turns()
        starts, v_starts = self.tree.parts.places
        for i, body in enumerate(self.tree.parts.bodies):
            link = self.tree.link_of[i]
            results = place(OUT, starts[i]), place(OUT + 1, v_starts[i])
            if body.kind is SCALAR:
                self.tape.call(algebra.reduce_sum(1, 1), self.q(link), results[0])
                self.tape.call(algebra.reduce_sum(1, 1), self.v(link), results[1])
                continue
            given = [self.place(link), self.body_numbers(i)]
            self.tape.call(of.state(body.kind), *given, *results)

    def enter(self) -> None:
        """Q̂ and v̂ from q and v of the mechanism, which are the inputs of this tape."""
        parts, (starts, v_starts) = self.tree.parts, self.tree.parts.places
        functions: dict[object, casadi.Function] = {}
        for branch in self.tree.branches:
            if not branch.steps:
                continue
            ends = (branch.parent, branch.child)
            kinds = [GROUND if i < 0 else parts.bodies[i].kind for i in ends]
            layout = None if branch.joint is None else branch.joint.layout
            normal = layout is not None and layout.normal
            plane = layout is not None and layout.plane
            key = (branch.steps, branch.oblique, *kinds, layout is None, plane, normal)
            if key not in functions:
                functions[key] = _entry(self.tree, branch, kinds)
            bodies = []
            for i in ends:
                moving = i >= 0
                bodies.append(place(Q, starts[i]) if moving else NOWHERE)
                bodies.append(place(V, v_starts[i]) if moving else NOWHERE)
            marks = [place(P, parts.slots[name][0]) for name in marker_names(branch)]
            at = list(OF_LINKS).index("offset")
            before = sum(math.prod(shape) for shape in list(OF_LINKS.values())[:at])
            offsets = [place(P, self._links + of.LINK * k + before) for k in branch.links]
            link = self.links[branch.links[0]]
            results = place(OUT, link.q), place(OUT + 1, link.v)
            self.tape.call(functions[key], *bodies, *marks, *offsets, *results)


def _on_bodies(function: casadi.Function, element: Element) -> casadi.Function:
    """The forces of an element on those of its bodies that are no ground."""
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    _, *forces = function.call(inputs)
    kept = [ca.densify(f) for f, b in zip(forces, element.bodies, strict=True) if b >= 0]
    return ca.Function("force", inputs, kept)


def _entry(tree: Tree, branch: Branch, kinds: list[BodyKind]) -> casadi.Function:
    """(q, v of parent, q, v of child, marks…, offsets…) → q̂, v̂ of a branch."""
    import casadi as ca

    states = [(ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)) for kind in kinds]
    slots = tree.parts.slots
    spans = [slots[name] for name in marker_names(branch)]
    marks = [ca.SX.sym(f"m{k}", end - start) for k, (start, end) in enumerate(spans)]
    offsets = [ca.SX.sym(f"offset{k}") for k in branch.links]
    outputs = entered_branch(tree, branch, states, marks, offsets)
    inputs = [x for state in states for x in state] + marks + offsets
    return ca.Function("enter", inputs, [ca.densify(x) for x in outputs])
