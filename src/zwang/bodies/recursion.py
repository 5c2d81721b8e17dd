"""Motion and forces of a tree of links, from link to link, as expressions.

Everything of a link is written in its own axes, at its own origin, so that turns about z and what
vanishes in these axes cost nothing. With the placement E, d, h of a link and its own turn T and
slide s (see `link_numbers`), the way from the parent and back to it is

    ω = Tᵀ Eᵀ ω_P + ω_rel
    Ω = α̃ + ω̃ω̃,  a = Tᵀ (Eᵀ (a_P + Ω_P d) + Ω_m z (h + s) + 2 ω_m × z ṡ)     m: axes of the joint
    n_P += E T n + d × f, …

First the accelerations α₀, a₀ that the links have where v̂̇ = 0, in a frame that falls with gravity,
and the wrench that each link needs for them,

    n = J α₀ + ω × J ω + c × a₀ − n_applied,   f = m a₀ + Ω c − f_applied,      c: mass moment.

Then either

* v̂̇ itself, for trees without further constraints, by articulated bodies (Featherstone): from the
  leaves inwards, the inertia [[A, B], [Bᵀ, C]] and the wrench of all that hangs on a link, each
  freedom k eliminated by  I ← I − U Uᵀ/D,  p ← p + U u/D,  U = I e_k,  D = U_k,  u = −p_k;  then
  outwards  v̂̇_k = (u − Uᵀ δ)/D  with δ the acceleration beyond α₀, a₀;
* M̂ and Q̂ = −Bᵀ(…) with the composite inertia of what hangs on a link, for trees with loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zwang.bodies.element import Element
from zwang.bodies.link_numbers import LinkNumbers, marked
from zwang.bodies.pose import SCALAR, kinematics
from zwang.bodies.tree import MOTIONS, Tree
from zwang.functions.derive import Rows

if TYPE_CHECKING:
    import casadi

__all__ = ["Recursion", "Seen"]


@dataclass(frozen=True)
class Seen:
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


class Recursion:
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
        numbers: LinkNumbers,
    ) -> None:
        import casadi as ca

        self.tree, self.q, self.v, self.t, self.p, self.numbers = tree, q, v, t, p, numbers
        start, end = tree.parts.slots["gravity"]
        self.gravity = p[start:end]
        self.zero, self.z = ca.SX.zeros(3, 1), ca.SX(ca.DM([0, 0, 1]))
        self._worlds: dict[int, tuple[casadi.SX, casadi.SX]] = {-1: (ca.SX.eye(3), self.zero)}
        self._origins: dict[int, casadi.SX] = {-1: self.zero}
        self._seen: dict[Any, Seen] = {}
        self._outwards()

    # --- outwards: turns, spins, accelerations at v̂̇ = 0 -------------------------------------------

    def _outwards(self) -> None:
        import casadi as ca

        self.turns: list[casadi.SX | None] = []
        self._ways: dict[int, tuple[tuple[Turn | None, casadi.SX], ...]] = {}
        self.spins: dict[int, casadi.SX] = {-1: self.zero}
        #: α₀, a₀ and Ω of each link; the ground rises with −g.
        self.rest = {-1: (self.zero, -self.gravity, ca.SX.zeros(3, 3))}
        for i, link in enumerate(self.tree.links):
            self.turns.append(self._turn(i))
            if link.motion == "scalar":
                continue
            E, d = self.numbers.E[i], self.numbers.d[i]
            alpha, a, Omega = self.rest[link.parent]
            spin = self.spins[link.parent]
            alpha, a, spin = (ca.mtimes(E.T, x) for x in (alpha, _plus_product(a, Omega, d), spin))
            along = self._along(i)
            if not along.is_zero():
                a = a + (self._omega_square(alpha, spin)[:, 2] * along)
            if link.motion == "prismatic":
                a = a + 2.0 * ca.cross(spin, self.z * self.v[link.v])
            alpha, a, spin = (self._inwards(i, x) for x in (alpha, a, spin))
            relative = self._relative_spin(i)
            alpha = alpha + ca.cross(spin, relative)
            spin = spin + relative
            self.spins[i] = spin
            self.rest[i] = alpha, a, self._omega_square(alpha, spin)

    def _turn(self, i: int) -> casadi.SX | None:
        """T of a link, None where it does not turn."""
        import casadi as ca

        link = self.tree.links[i]
        if link.motion == "revolute":
            c, s = ca.cos(self.q[link.q]), ca.sin(self.q[link.q])
            return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
        if link.motion in ("spherical", "free"):
            return rotation(self.q[link.q + MOTIONS[link.motion][0] - 4 :][:4])
        return None

    def _along(self, i: int) -> casadi.SX:
        """Place along z of the joint's axes: h + s."""
        link = self.tree.links[i]
        h = self.numbers.h[i]
        return h + self.q[link.q] if link.motion == "prismatic" else h

    def _relative_spin(self, i: int) -> casadi.SX:
        link = self.tree.links[i]
        if link.motion == "revolute":
            return self.z * self.v[link.v]
        if link.motion in ("spherical", "free"):
            end = link.v + MOTIONS[link.motion][1]
            return self.v[end - 3 : end]
        return self.zero

    @staticmethod
    def _omega_square(alpha: casadi.SX, w: casadi.SX) -> casadi.SX:
        """Ω = α̃ + ω̃ω̃."""
        import casadi as ca

        x, y, z = w[0], w[1], w[2]
        xy, xz, yz, xx, yy, zz = x * y, x * z, y * z, x * x, y * y, z * z
        return ca.vertcat(
            ca.horzcat(-(yy + zz), xy - alpha[2], xz + alpha[1]),
            ca.horzcat(xy + alpha[2], -(xx + zz), yz - alpha[0]),
            ca.horzcat(xz - alpha[1], yz + alpha[0], -(xx + yy)),
        )

    def _inwards(self, i: int, x: casadi.SX) -> casadi.SX:
        """Tᵀ x: from the axes of the joint to those of the link."""
        import casadi as ca

        T = self.turns[i]
        return x if T is None else ca.mtimes(T.T, x)

    def _tensor(self, i: int) -> casadi.SX:
        import casadi as ca

        j = self.numbers.inertia[i]
        return ca.vertcat(
            ca.horzcat(j[0], j[1], j[2]),
            ca.horzcat(j[1], j[3], j[4]),
            ca.horzcat(j[2], j[4], j[5]),
        )

    def wrenches(self) -> list[tuple[casadi.SX, casadi.SX]]:
        """What each link needs to move by α₀, a₀, less the forces applied to it: n, f."""
        import casadi as ca

        applied = self._applied()
        result = []
        for i, link in enumerate(self.tree.links):
            n, f = applied.get(i, (self.zero, self.zero))
            if link.motion != "scalar":
                alpha, a, Omega = self.rest[i]
                w, c, J = self.spins[i], self.numbers.moment[i], self._tensor(i)
                n = _plus_cross(_plus_cross(ca.mtimes(J, alpha) - n, w, ca.mtimes(J, w)), c, a)
                f = _plus_product(self.numbers.mass[i] * a - f, Omega, c)
            else:
                n = -n
            result.append((n, f))
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

    # --- v̂̇ by articulated bodies ------------------------------------------------------------------

    def accelerations(self) -> casadi.SX:
        """v̂̇ of a tree that nothing else constrains."""
        import casadi as ca

        links, wrenches = self.tree.links, self.wrenches()
        inertias = [self._spatial(i) for i in range(len(links))]
        steps: dict[int, list[tuple[int, casadi.SX, casadi.SX, casadi.SX]]] = {}
        for i in reversed(range(len(links))):
            link, I, p = links[i], inertias[i], ca.vertcat(*wrenches[i])
            steps[i] = []
            for k in _freedoms(link.motion):
                if link.motion == "scalar":
                    break
                U = I[:, k]
                inverse, u = 1.0 / U[k], -p[k]
                I = _symmetric(I - ca.mtimes(U * inverse, U.T))
                p = p + U * (inverse * u)
                for j in range(6):
                    I[j, k] = I[k, j] = 0
                p[k] = 0
                steps[i].append((k, U, inverse, u))
            if link.parent >= 0:
                I, p = self._carried_inertia(i, I), ca.vertcat(*self._carried(i, p[:3], p[3:]))
                inertias[link.parent] = inertias[link.parent] + I
                n, f = wrenches[link.parent]
                wrenches[link.parent] = n + p[:3], f + p[3:]
        result, beyond = ca.SX(self.tree.nv, 1), {-1: ca.SX.zeros(6, 1)}
        for i, link in enumerate(links):
            if link.motion == "scalar":
                result[link.v] = -wrenches[i][0][0] / self.numbers.mass[i]
                continue
            delta = self._reached(i, beyond[link.parent])
            found: dict[int, casadi.SX] = {}
            for k, U, inverse, u in reversed(steps[i]):
                found[k] = inverse * _plus_product(u, -U.T, delta)
                delta[k] = delta[k] + found[k]
            beyond[i] = delta
            values = [found[k] for k in _freedoms(link.motion)]
            if link.motion == "free":  # r̈ in axes of the world
                turn, _ = self._way(i)[0]
                assert turn is not None
                values = [*ca.vertsplit(turn.vector(ca.vertcat(*values[3:]))), *values[:3]]
            for k, value in enumerate(values):
                result[link.v + k] = value
        return result

    def _spatial(self, i: int) -> casadi.SX:
        """[[J, c̃], [c̃ᵀ, m]] of a link alone."""
        import casadi as ca

        c = ca.skew(self.numbers.moment[i])
        m = self.numbers.mass[i] * ca.SX.eye(3)
        return ca.densify(ca.vertcat(ca.horzcat(self._tensor(i), c), ca.horzcat(c.T, m)))

    def _carried_inertia(self, i: int, I: casadi.SX) -> casadi.SX:
        """The inertia of what hangs on a link, at the origin and in the axes of its parent."""
        import casadi as ca

        A, B, C = I[:3, :3], I[:3, 3:], I[3:, 3:]
        for turn, shift in self._way(i):
            if turn is not None:
                A, B, C = turn.symmetric(A), turn.tensor(B), turn.symmetric(C)
            if not shift.is_zero():
                moved = ca.horzcat(*(_plus_cross(B[:, k], shift, C[:, k]) for k in range(3)))
                A = ca.vertcat(*(_plus_cross(A[k, :].T, shift, B[k, :].T).T for k in range(3)))
                A = ca.horzcat(*(_plus_cross(A[:, k], shift, moved[k, :].T) for k in range(3)))
                A, B = _symmetric(A), moved
        return ca.vertcat(ca.horzcat(A, B), ca.horzcat(B.T, C))

    def _way(self, i: int) -> tuple[tuple[Turn | None, casadi.SX], ...]:
        """Turns, and the shifts after them, from a link's own axes to its parent's origin."""
        if i not in self._ways:
            T = self.turns[i]
            axis = 2 if self.tree.links[i].motion == "revolute" else None
            self._ways[i] = (
                (None if T is None else Turn(T, axis), self.z * self._along(i)),
                (Turn(self.numbers.E[i]), self.numbers.d[i]),
            )
        return self._ways[i]

    def _carried(self, i: int, n: casadi.SX, f: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        """A wrench on a link, at the origin and in the axes of its parent."""
        for turn, shift in self._way(i):
            if turn is not None:
                n, f = turn.vector(n), turn.vector(f)
            n = _plus_cross(n, shift, f)
        return n, f

    def _reached(self, i: int, delta: casadi.SX) -> casadi.SX:
        """A change of the parent's acceleration, at the origin and in the axes of a link."""
        import casadi as ca

        alpha, a = delta[:3], delta[3:]
        for turn, shift in reversed(self._way(i)):
            a = _plus_cross(a, alpha, shift)
            if turn is not None:
                alpha, a = turn.back(alpha), turn.back(a)
        return ca.vertcat(alpha, a)

    # --- M̂ and Q̂ by composite bodies --------------------------------------------------------------

    def mass_and_force(self) -> tuple[casadi.SX, casadi.SX]:
        """M̂ and Q̂ of M̂ v̂̇ = Q̂ + …, the forces of elements and of gravity among them."""
        import casadi as ca

        tree, links, wrenches = self.tree, self.tree.links, self.wrenches()
        nv = tree.nv
        M, Q = ca.SX(nv, nv), ca.SX.zeros(nv, 1)
        masses = list(self.numbers.mass)
        moments, tensors = list(self.numbers.moment), [self._tensor(i) for i in range(len(links))]
        for i in reversed(range(len(links))):
            link = links[i]
            if link.motion == "scalar":
                M[link.v, link.v], Q[link.v] = masses[i], -wrenches[i][0][0]
                continue
            m, c, J = masses[i], moments[i], tensors[i]
            n, f = wrenches[i]
            directions = self._directions(i)
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
                    wrench = self._carried(below, *wrench)  # noqa: PLW2901 - on its way inwards
                    below = links[below].parent
                    for j, (alpha, a) in self._directions(below).items():
                        M[k, j] = M[j, k] = _power(alpha, a, *wrench)
            if link.parent < 0:
                continue
            for turn, shift in self._way(i):
                if turn is not None:
                    c, J = turn.vector(c), turn.symmetric(J)
                if not shift.is_zero():
                    x, y = ca.skew(shift), ca.skew(c)
                    J = J - _symmetric(ca.mtimes(y, x) + ca.mtimes(x, y) + m * ca.mtimes(x, x))
                    c = c + m * shift
            up = link.parent
            masses[up], moments[up], tensors[up] = masses[up] + m, moments[up] + c, tensors[up] + J
            n, f = self._carried(i, n, f)
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
        first, free = self.tree.links[i].v, self.tree.links[i].motion == "free"
        for k, (n, f) in columns.items():
            for j in range(first, k + 1):
                if free and k < first + 3:  # translations in axes of the world: m, whatever T
                    value = m if j == k else None
                else:
                    value = _power(*directions[j], n, f)
                if value is not None and not value.is_zero():
                    M[k, j] = M[j, k] = value

    def _directions(self, i: int) -> dict[int, tuple[casadi.SX, casadi.SX]]:
        """Velocity number → (α, a) that one unit of v̂̇ gives the link, in its own axes."""
        import casadi as ca

        link, T = self.tree.links[i], self.turns[i]
        if link.motion == "revolute":
            return {link.v: (self.z, self.zero)}
        if link.motion == "prismatic":
            return {link.v: (self.zero, self.z)}
        unit = ca.SX(ca.DM.eye(3))
        if link.motion == "spherical":
            return {link.v + k: (unit[:, k], self.zero) for k in range(3)}
        assert T is not None  # a free link turns
        moves = {link.v + k: (self.zero, T[k, :].T) for k in range(3)}
        return {**moves, **{link.v + 3 + k: (unit[:, k], self.zero) for k in range(3)}}

    # --- bodies and markers as elements see them --------------------------------------------------

    def world(self, i: int) -> tuple[casadi.SX, casadi.SX]:
        """R_WL and the origin of a link."""
        import casadi as ca

        if i not in self._worlds:
            link = self.tree.links[i]
            R, o = self.world(link.parent)
            o = o + ca.mtimes(R, self.numbers.d[i])
            R = ca.mtimes(R, self.numbers.E[i])
            o = o + R[:, 2] * self._along(i)
            if link.motion == "free":
                o = self.q[link.q : link.q + 3]
            T = self.turns[i]
            self._worlds[i] = R if T is None else ca.mtimes(R, T), o
        return self._worlds[i]

    def _origin_velocity(self, i: int) -> casadi.SX:
        """Velocity of a link's origin, in its own axes."""
        import casadi as ca

        if i not in self._origins:
            link = self.tree.links[i]
            if link.motion == "free":
                u = self.v[link.v : link.v + 3]
            else:
                E, d, spin = self.numbers.E[i], self.numbers.d[i], self.spins[link.parent]
                u = ca.mtimes(E.T, self._origin_velocity(link.parent) + ca.cross(spin, d))
                u = u + ca.cross(ca.mtimes(E.T, spin), self.z * self._along(i))
                if link.motion == "prismatic":
                    u = u + self.z * self.v[link.v]
            self._origins[i] = self._inwards(i, u)
        return self._origins[i]

    def body(self, body: int) -> Seen:
        """A body by its number."""
        import casadi as ca

        if body < 0:
            return Seen(ca.SX(0, 1), ca.SX(0, 1), {}, ca.SX(0, 1))
        link = self.tree.link_of[body]
        if self.tree.parts.bodies[body].kind is SCALAR:
            at = self.tree.links[link]
            return Seen(self.q[at.q], self.v[at.v], {at.v: ca.SX(1)}, ca.SX(0))
        return self._frame(body, self.numbers.R[body], self.numbers.at[body], ("body", body))

    def _frame(self, body: int, R_LF: casadi.SX, at: casadi.SX, key: Any) -> Seen:
        """A frame on the link of a body, seen as that body."""
        import casadi as ca

        if key in self._seen:
            return self._seen[key]
        i, kind = self.tree.link_of[body], self.tree.parts.bodies[body].kind
        R_L, o = self.world(i)
        R, arm = ca.mtimes(R_L, R_LF), ca.mtimes(R_L, at)
        P, spin = o + arm, self.spins[i]
        alpha, a, Omega = self.rest[i]
        velocity = ca.mtimes(R_L, self._origin_velocity(i) + ca.cross(spin, at))
        rest = ca.mtimes(R_L, a + ca.mtimes(Omega, at)) + self.gravity
        B = {}
        for j in self.tree.ancestors(i):
            link, (R_j, o_j) = self.tree.links[j], self.world(j)
            for k, (turn, move) in self._directions(j).items():
                if link.motion == "free" and k < link.v + 3:
                    B[k] = ca.vertcat(ca.SX(ca.DM.eye(3)[:, k - link.v]), self.zero)
                    continue
                axis = ca.mtimes(R_j, turn)
                linear = ca.cross(axis, P - o_j) + ca.mtimes(R_j, move)
                B[k] = ca.vertcat(linear, ca.mtimes(R.T, axis))
        found = Seen(
            ca.vertcat(P, ca.vec(R.T)),
            ca.vertcat(velocity, ca.mtimes(R_LF.T, spin)),
            B,
            ca.vertcat(rest, ca.mtimes(R_LF.T, alpha)),
        )
        if kind.plane is not None:
            i, j, k = kind.plane
            a, b, places = (k + 1) % 3, (k + 2) % 3, [i, j, 3 + k]
            config = ca.vertcat(P[i], P[j], R[a, a], R[b, a])
            found = Seen(
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
        self, element: Element, seen: Sequence[Seen], numbers: dict[str, casadi.SX]
    ) -> list[casadi.SX]:
        import casadi as ca

        slots, parts = self.tree.parts.slots, []
        for name in element.law.shapes:
            start, end = slots[f"{element.name}.{name}"]
            parts.append(numbers.get(name, self.p[start:end]))
        user = sum(x.size for x in self.tree.parts.parameters.values())
        own = ca.vertcat(*parts) if parts else ca.SX(0, 1)
        return [*(s.config for s in seen), *(s.v for s in seen), self.t, own, self.p[:user]]

    def rows(self, number: int, element: Element) -> Rows:
        """The equations of a constraint element in v̂: Â = A B, b̂ = b − A v̇(v̂̇ = 0)."""
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
            for k, column in s.B.items():
                A[:, k] = A[:, k] + ca.mtimes(block, column)
            if s.rest.numel():
                b = b - ca.mtimes(block, s.rest)
        value = phi if traced.level == "position" else None
        return Rows(traced.level, value, psi, ca.sparsify(A), b)

    # --- the way back to the coordinates of the mechanism -----------------------------------------

    def state(self) -> tuple[casadi.SX, casadi.SX]:
        """q and v of the mechanism: of each body its place, Euler parameters and velocities."""
        import casadi as ca

        parameters = self._parameters()
        q, v = [], []
        for i, body in enumerate(self.tree.parts.bodies):
            seen = self.body(i)
            v.append(seen.v)
            if body.kind is SCALAR or body.kind.plane is not None:
                q.append(seen.config)
                continue
            link = self.tree.link_of[i]
            e = product(parameters[link], self.numbers.parameters[i])
            q.append(ca.vertcat(seen.config[:3], e))
        none = ca.SX(0, 1)
        return ca.vertcat(none, *q), ca.vertcat(none, *v)

    def _parameters(self) -> dict[int, casadi.SX]:
        """Euler parameters of each link."""
        import casadi as ca

        found = {-1: ca.SX(ca.DM([1, 0, 0, 0]))}
        for i, link in enumerate(self.tree.links):
            e = product(found[link.parent], self.numbers.E_parameters[i])
            if link.motion == "revolute":
                half = 0.5 * self.q[link.q]
                e = product(e, ca.vertcat(ca.cos(half), 0, 0, ca.sin(half)))
            elif link.motion in ("spherical", "free"):
                e = product(e, self.q[link.q + MOTIONS[link.motion][0] - 4 :][:4])
            found[i] = e
        return found

    def kinematics(self) -> casadi.SX:
        """N of q̂̇ = N v̂."""
        import casadi as ca

        from zwang.bodies.pose import SPATIAL

        N = ca.SX(self.tree.nq, self.tree.nv)
        for link in self.tree.links:
            if link.motion in ("spherical", "free"):
                nq, nv = MOTIONS[link.motion]
                rows = range(link.q, link.q + nq)
                e = self.q[link.q + nq - 4 : link.q + nq]
                whole = kinematics(SPATIAL, ca.vertcat(self.zero, e))
                N[list(rows), list(range(link.v, link.v + nv))] = whole[7 - nq :, 6 - nv :]
            else:
                N[link.q, link.v] = 1
        return N


def _freedoms(motion: str) -> range:
    """Which of α (0, 1, 2) and a (3, 4, 5) a link has against its parent, in its own axes."""
    return {"revolute": range(2, 3), "prismatic": range(5, 6), "spherical": range(3)}.get(
        motion, range(6)
    )


def _symmetric(M: casadi.SX) -> casadi.SX:
    """The lower half twice, so that it is computed once."""
    import casadi as ca

    return ca.tril2symm(ca.tril(M))


# Sums are written so that each product is added to what there is already: two products that meet
# in one sum cannot be joined with it to one operation (see `zwang.kernels.schedule`).


def _plus_cross(x: casadi.SX, a: casadi.SX, b: casadi.SX) -> casadi.SX:
    """x + a × b."""
    first, second = [1, 2, 0], [2, 0, 1]
    return x + a[first] * b[second] - a[second] * b[first]


def _plus_product(x: casadi.SX, A: casadi.SX, b: casadi.SX) -> casadi.SX:
    """x + A b."""
    for k in range(A.shape[1]):
        x = x + A[:, k] * b[k]
    return x


class Turn:
    """A change of axes by a rotation matrix, cheap where that is a turn about one of the axes.

    Parameters
    ----------
    axis : 0, 1 or 2 where that is known; constants are looked at.
    """

    def __init__(self, R: casadi.SX, axis: int | None = None) -> None:
        self.R, self.axis = R, axis
        for k in range(3):
            others = [R[k, i] for i in range(3) if i != k] + [R[i, k] for i in range(3) if i != k]
            if axis is None and R[k, k].is_one() and all(x.is_zero() for x in others):
                self.axis = k

    def vector(self, x: casadi.SX) -> casadi.SX:
        """R x."""
        import casadi as ca

        return ca.mtimes(self.R, x)

    def back(self, x: casadi.SX) -> casadi.SX:
        """Rᵀ x."""
        import casadi as ca

        return ca.mtimes(self.R.T, x)

    def symmetric(self, M: casadi.SX) -> casadi.SX:
        """R M Rᵀ of a symmetric M."""
        return _symmetric(self.tensor(M))

    def tensor(self, M: casadi.SX) -> casadi.SX:
        """R M Rᵀ.

        In the plane across its axis a turn by θ leaves the trace and the antimetric part of M as
        they are, and turns the rest, (M_ii − M_jj)/2 and (M_ij + M_ji)/2, like a vector by 2θ.
        """
        import casadi as ca

        R, k = self.R, self.axis
        if k is None:
            return ca.mtimes([R, M, R.T])
        i, j = (k + 1) % 3, (k + 2) % 3
        c, s = R[i, i], R[j, i]
        half_cos, half_sin = c * c - 0.5, c * s  # of 2θ, halved
        apart, both = M[i, i] - M[j, j], M[i, j] + M[j, i]
        p, q = apart * half_cos - both * half_sin, apart * half_sin + both * half_cos
        mean, twist = 0.5 * (M[i, i] + M[j, j]), 0.5 * (M[i, j] - M[j, i])
        result = ca.SX.zeros(3, 3)
        result[i, i], result[j, j] = mean + p, mean - p
        result[i, j], result[j, i] = q + twist, q - twist
        result[i, k], result[j, k] = c * M[i, k] - s * M[j, k], s * M[i, k] + c * M[j, k]
        result[k, i], result[k, j] = c * M[k, i] - s * M[k, j], s * M[k, i] + c * M[k, j]
        result[k, k] = M[k, k]
        return result


def _power(alpha: casadi.SX, a: casadi.SX, n: casadi.SX, f: casadi.SX) -> casadi.SX:
    import casadi as ca

    return ca.dot(alpha, n) + ca.dot(a, f)


def rotation(e: casadi.SX) -> casadi.SX:
    """The rotation matrix of Euler parameters."""
    import casadi as ca

    from zwang.bodies.pose import SPATIAL, config_of

    return ca.reshape(config_of(SPATIAL, ca.vertcat(0, 0, 0, e))[3:], 3, 3).T


def product(a: casadi.SX, b: casadi.SX) -> casadi.SX:
    """Euler parameters of a rotation b followed by a: R(a b) = R(a) R(b)."""
    import casadi as ca

    w, x = a[0], a[1:]
    return ca.vertcat(w * b[0] - ca.dot(x, b[1:]), w * b[1:] + b[0] * x + ca.cross(x, b[1:]))
