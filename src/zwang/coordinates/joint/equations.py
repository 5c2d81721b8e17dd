"""Joint coordinates: equations of motion of a tree of links, its forces and constraints.

From the passes of `articulated_body` either

* v̂̇ itself, for trees without further constraints, by articulated bodies;
* M̂ and Q̂ = −Bᵀ(…) with the composite inertia of what hangs on a link, for trees with loops,
  and rows Â = A B, b̂ = b − A v̇(v̂̇ = 0) of the constraints that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zwang.codegen.casadi_operators import written_once
from zwang.coordinates.joint.articulated_body import (
    Base,
    EliminatedFreedom,
    Links,
    product,
    symmetric,
)
from zwang.coordinates.joint.link_constants import LinkConstants, marked
from zwang.coordinates.joint.tree import Tree
from zwang.multibody.element import Element
from zwang.multibody.pose import SCALAR
from zwang.tracing.differentiate import TracedConstraint

if TYPE_CHECKING:
    import casadi

__all__ = ["FrameOnLink", "Recursion"]


@dataclass(frozen=True)
class FrameOnLink:
    """A frame that moves with a link, as elements see it.

    Attributes
    ----------
    config, v : configuration and velocities of the body's kind.
    B : v = B v̂; by the numbers of velocities that move it.
    rest : v̇ where v̂̇ = 0.
    """

    config: casadi.SX
    v: casadi.SX
    B: dict[int, casadi.SX]
    rest: casadi.SX


class Recursion(Links):
    """The passes over a tree, for symbols of its coordinates and numbers.

    Parameters
    ----------
    q, v, t : coordinates and velocities of the links, time.
    p : parameters of the mechanism, those folded that are structure.
    numbers : of the links, each entry as an SX.
    """

    def __init__(
        self,
        tree: Tree,
        q: casadi.SX,
        v: casadi.SX,
        t: casadi.SX,
        p: casadi.SX,
        numbers: LinkConstants,
    ) -> None:
        self.tree, self.t, self.p = tree, t, p
        start, end = tree.parts.slots["gravity"]
        self.gravity = p[start:end]
        self._seen: dict[Any, FrameOnLink] = {}
        self._rows: dict[int, TracedConstraint] = {}
        super().__init__(tree.links, q, v, numbers, Base.ground(self.gravity))

    # --- v̂̇ by articulated bodies ------------------------------------------------------------------

    def wrenches(self) -> list[tuple[casadi.SX, casadi.SX]]:
        """What each link needs to move by α₀, a₀, less the forces applied to it: n, f."""
        result = [self.own_wrench(i) for i in range(len(self.links))]
        for i, (moment, force) in self._applied().items():
            n, f = result[i]
            result[i] = n - moment, f - force
        return result

    def _applied(self) -> dict[int, tuple[casadi.SX, casadi.SX]]:
        """Moments and forces of the force elements on each link."""
        import casadi as ca

        parts, total = self.tree.parts, {}
        for element in parts.forces:
            _, *forces = parts.traced[element.law.key].function.call(self.columns(element))
            for body, force in zip(element.bodies, forces, strict=True):
                i = self.tree.link_of[body]
                if body < 0 or i < 0:
                    continue
                kind = parts.bodies[body].kind
                n, f = total.get(i, (self.zero, self.zero))
                if kind is SCALAR:
                    total[i] = n + ca.vertcat(force, 0, 0), f
                    continue
                F, moment = force[:3], force[3:]
                if kind.plane is not None:
                    a, b, k = kind.plane
                    F, moment = ca.SX.zeros(3, 1), ca.SX.zeros(3, 1)
                    F[a], F[b], moment[k] = force[0], force[1], force[2]
                R, _ = self.world(i)
                own = ca.mtimes(R.T, F)
                about = ca.mtimes(self.numbers.R[body], moment) + ca.cross(
                    self.numbers.at[body], own
                )
                total[i] = n + about, f + own
        return total

    def accelerations(self) -> casadi.SX:
        """v̂̇ of a tree that nothing else constrains."""
        import casadi as ca

        links, wrenches = self.links, self.wrenches()
        inertias = [self.spatial(i) for i in range(len(links))]
        steps: dict[int, list[EliminatedFreedom]] = {}
        for i in reversed(range(len(links))):
            link = links[i]
            if link.motion == "scalar":
                continue
            steps[i], I, p = self.eliminated(i, inertias[i], ca.vertcat(*wrenches[i]))
            if link.parent >= 0:
                inertias[link.parent] = inertias[link.parent] + self.carried_inertia(i, I)
                n, f = self.carried(i, p[:3], p[3:])
                more = wrenches[link.parent]
                wrenches[link.parent] = more[0] + n, more[1] + f
        result, beyond = ca.SX(self.tree.nv, 1), {-1: ca.SX.zeros(6, 1)}
        for i, link in enumerate(links):
            if link.motion == "scalar":
                result[link.v] = -wrenches[i][0][0] / self.numbers.mass[i]
                continue
            values, beyond[i] = self.answered(i, steps[i], beyond[link.parent])
            result[link.v : link.v + values.numel()] = values
        return result

    # --- M̂ and Q̂ by composite bodies --------------------------------------------------------------

    def mass_and_force(self) -> tuple[casadi.SX, casadi.SX]:
        """M̂ and Q̂ of M̂ v̂̇ = Q̂ + …, the forces of elements and of gravity among them."""
        import casadi as ca

        tree, links, wrenches = self.tree, self.links, self.wrenches()
        nv = tree.nv
        M, Q = ca.SX(nv, nv), ca.SX.zeros(nv, 1)
        masses = list(self.numbers.mass)
        moments, tensors = list(self.numbers.moment), [self.tensor(i) for i in range(len(links))]
        for i in reversed(range(len(links))):
            link = links[i]
            if link.motion == "scalar":
                M[link.v, link.v], Q[link.v] = masses[i], -wrenches[i][0][0]
                continue
            m, c, J = masses[i], moments[i], tensors[i]
            n, f = wrenches[i]
            directions = self.directions(i)
            columns = {}
            for k, (alpha, a) in directions.items():
                Q[k] = -_power(alpha, a, n, f)
                columns[k] = (
                    ca.mtimes(J, alpha) + ca.cross(c, a),
                    m * a - ca.cross(c, alpha),
                )
            self._own_block(i, M, directions, columns, m)
            for k, wrench in columns.items():
                below = i
                while links[below].parent >= 0:
                    wrench = self.carried(below, *wrench)  # noqa: PLW2901 - on its way inwards
                    below = links[below].parent
                    for j, (alpha, a) in self.directions(below).items():
                        M[k, j] = M[j, k] = _power(alpha, a, *wrench)
            if link.parent < 0:
                continue
            for turn, shift in self.way(i):
                if turn is not None:
                    c, J = turn.vector(c), turn.symmetric(J)
                if not shift.is_zero():
                    c, J = _shifted(m, c, J, shift)
            up = link.parent
            masses[up], moments[up], tensors[up] = masses[up] + m, moments[up] + c, tensors[up] + J
            n, f = self.carried(i, n, f)
            wrenches[up] = wrenches[up][0] + n, wrenches[up][1] + f
        return M, Q

    def _own_block(
        self,
        i: int,
        M: casadi.SX,
        directions: dict[int, tuple[casadi.SX, casadi.SX]],
        columns: dict[int, tuple[casadi.SX, casadi.SX]],
        m: casadi.SX,
    ) -> None:
        """M̂ among the freedoms of one link."""
        first, free = self.links[i].v, self.links[i].motion == "free"
        for k, (n, f) in columns.items():
            for j in range(first, k + 1):
                if free and k < first + 3:  # translations in axes of the world: m, whatever T
                    value = m if j == k else None
                else:
                    value = _power(*directions[j], n, f)
                if value is not None and not value.is_zero():
                    M[k, j] = M[j, k] = value

    # --- bodies and markers as elements see them --------------------------------------------------

    def body(self, body: int) -> FrameOnLink:
        """A body by its number."""
        import casadi as ca

        if body < 0:
            return FrameOnLink(ca.SX(0, 1), ca.SX(0, 1), {}, ca.SX(0, 1))
        link = self.tree.link_of[body]
        if self.tree.parts.bodies[body].kind is SCALAR:
            at = self.links[link]
            return FrameOnLink(self.q[at.q], self.v[at.v], {at.v: ca.SX(1)}, ca.SX(0))
        return self._frame(body, self.numbers.R[body], self.numbers.at[body], ("body", body))

    def _frame(self, body: int, R_LF: casadi.SX, at: casadi.SX, key: Any) -> FrameOnLink:
        """A frame on the link of a body, seen as that body."""
        import casadi as ca

        if key in self._seen:
            return self._seen[key]
        i, kind = self.tree.link_of[body], self.tree.parts.bodies[body].kind
        motion = self.origin_velocity(i), self.spins[i], *self.rest[i], self.gravity
        P, R, v, rest = _frame_on_link(*self.world(i), *motion, R_LF, at)
        B = {}
        for j in self.tree.ancestors(i):
            link, (R_j, o_j) = self.links[j], self.world(j)
            for k, (turn, move) in self.directions(j).items():
                if link.motion == "free" and k < link.v + 3:
                    B[k] = ca.vertcat(ca.SX(ca.DM.eye(3)[:, k - link.v]), self.zero)
                    continue
                B[k] = _moved_by(R_j, o_j, turn, move, P, R)
        found = FrameOnLink(ca.vertcat(P, ca.vec(R.T)), v, B, rest)
        if kind.plane is not None:
            i, j, k = kind.plane
            a, b, places = (k + 1) % 3, (k + 2) % 3, [i, j, 3 + k]
            config = ca.vertcat(P[i], P[j], R[a, a], R[b, a])
            found = FrameOnLink(
                config,
                found.v[places],
                {n: column[places] for n, column in B.items()},
                found.rest[places],
            )
        self._seen[key] = found
        return found

    def columns(self, element: Element) -> list[casadi.SX]:
        """Arguments of an element's traced function at its bodies."""
        return self._arguments(element, [self.body(b) for b in element.bodies], {})

    def _arguments(
        self, element: Element, seen: Sequence[FrameOnLink], numbers: dict[str, casadi.SX]
    ) -> list[casadi.SX]:
        import casadi as ca

        slots, parts = self.tree.parts.slots, []
        for name in element.law.shapes:
            start, end = slots[f"{element.name}.{name}"]
            parts.append(numbers.get(name, self.p[start:end]))
        user = sum(x.size for x in self.tree.parts.parameters.values())
        own = ca.vertcat(*parts) if parts else ca.SX(0, 1)
        return [*(s.config for s in seen), *(s.v for s in seen), self.t, own, self.p[:user]]

    def rows(self, number: int, element: Element) -> TracedConstraint:
        """The equations of a constraint element in v̂: Â = A B, b̂ = b − A v̇(v̂̇ = 0)."""
        if number not in self._rows:
            self._rows[number] = self._rows_written(number, element)
        return self._rows[number]

    def _rows_written(self, number: int, element: Element) -> TracedConstraint:
        import casadi as ca

        seen, numbers = [self.body(b) for b in element.bodies], {}
        for k, (other, _, side) in enumerate(marked(self.tree)):
            if other == number:
                body, end = element.bodies[side], "ab"[side]
                R, at = self.numbers.marker_R[k], self.numbers.marker_at[k]
                seen[side] = self._frame(body, R, at, ("marker", k))
                numbers[f"at_{end}"] = self.zero
                numbers[f"axes_{end}"] = ca.vec(ca.SX(ca.DM.eye(3)))
        traced = self.tree.parts.traced[element.law.key]
        phi, psi, b, *blocks = traced.function.call(self._arguments(element, seen, numbers))
        A = ca.SX(traced.rows, self.tree.nv)
        for s, block in zip(seen, blocks, strict=True):
            if s.B:
                places = list(s.B)
                A[:, places] = A[:, places] + ca.mtimes(block, ca.horzcat(*s.B.values()))
            if s.rest.numel():
                b = b - ca.mtimes(block, s.rest)
        value = phi if traced.level == "position" else None
        return TracedConstraint(traced.level, value, psi, ca.sparsify(A), b)

    # --- the way back to the coordinates of the mechanism -----------------------------------------

    def state(self) -> tuple[casadi.SX, casadi.SX]:
        """q and v of the mechanism: of each body its place, Euler parameters and velocities."""
        import casadi as ca

        q, v = [], []
        for i, body in enumerate(self.tree.parts.bodies):
            seen = self.body(i)
            v.append(seen.v)
            if body.kind is SCALAR or body.kind.plane is not None:
                q.append(seen.config)
                continue
            link = self.tree.link_of[i]
            e = product(self.parameters(link), self.numbers.parameters[i])
            q.append(ca.vertcat(seen.config[:3], e))
        none = ca.SX(0, 1)
        return ca.vertcat(none, *q), ca.vertcat(none, *v)


@written_once((3, 3), 3, 3, 3, 3, 3, (3, 3), 3, (3, 3), 3)
def _frame_on_link(
    R_L: casadi.SX,
    o: casadi.SX,
    velocity: casadi.SX,
    spin: casadi.SX,
    alpha: casadi.SX,
    a: casadi.SX,
    Omega: casadi.SX,
    gravity: casadi.SX,
    R_LF: casadi.SX,
    at: casadi.SX,
) -> tuple[casadi.SX, ...]:
    """Place, axes, velocities and accelerations at v̂̇ = 0 of a frame, from those of its link."""
    import casadi as ca

    speed = ca.mtimes(R_L, velocity + ca.cross(spin, at))
    rest = ca.mtimes(R_L, a + ca.mtimes(Omega, at)) + gravity
    v = ca.vertcat(speed, ca.mtimes(R_LF.T, spin))
    rest = ca.vertcat(rest, ca.mtimes(R_LF.T, alpha))
    return o + ca.mtimes(R_L, at), ca.mtimes(R_L, R_LF), v, rest


@written_once((3, 3), 3, 3, 3, 3, (3, 3))
def _moved_by(
    R_j: casadi.SX, o_j: casadi.SX, turn: casadi.SX, move: casadi.SX, P: casadi.SX, R: casadi.SX
) -> casadi.SX:
    """Velocities of a frame at P with axes R by one of a link that carries it."""
    import casadi as ca

    axis = ca.mtimes(R_j, turn)
    linear = ca.cross(axis, P - o_j) + ca.mtimes(R_j, move)
    return ca.vertcat(linear, ca.mtimes(R.T, axis))


@written_once(1, 3, (3, 3), 3)
def _shifted(
    m: casadi.SX, c: casadi.SX, J: casadi.SX, shift: casadi.SX
) -> tuple[casadi.SX, casadi.SX]:
    """Mass moment and tensor about a point from which their own is at `shift`."""
    import casadi as ca

    x, y = ca.skew(shift), ca.skew(c)
    J = J - symmetric(ca.mtimes(y, x) + ca.mtimes(x, y) + m * ca.mtimes(x, x))
    return c + m * shift, J


@written_once(3, 3, 3, 3)
def _power(alpha: casadi.SX, a: casadi.SX, n: casadi.SX, f: casadi.SX) -> casadi.SX:
    import casadi as ca

    return ca.dot(alpha, n) + ca.dot(a, f)
