"""Joint coordinates: motion and articulated bodies of links, from link to link, as expressions.

Everything of a link is written in its own axes, at its own origin, so that turns about z and what
vanishes in these axes cost nothing. With the placement E, d, h of a link and its own turn T and
slide s (see `link_constants`), the way from the parent and back to it is

    ω = Tᵀ Eᵀ ω_P + ω_rel
    Ω = α̃ + ω̃ω̃,  a = Tᵀ (Eᵀ (a_P + Ω_P d) + Ω_m z (h + s) + 2 ω_m × z ṡ)     m: axes of the joint
    n_P += E T n + d × f, …

First the accelerations α₀, a₀ that the links have where v̂̇ = 0, in a frame that falls with gravity,
and the wrench that each link needs for them,

    n = J α₀ + ω × J ω + c × a₀,   f = m a₀ + Ω c,      c: mass moment.

Then v̂̇ by articulated bodies (Featherstone 1983): from the leaves inwards, the inertia
[[A, B], [Bᵀ, C]] and the wrench p of all that hangs on a link, each freedom k eliminated by
I ← I − U Uᵀ/D,  p ← p + U u/D,  U = I e_k,  D = U_k,  u = −p_k;  then outwards
v̂̇_k = (u − Uᵀ δ)/D  with δ the acceleration beyond α₀, a₀.

A `Links` may be a whole tree, or one link on a parent of which symbols stand for all that is known:
the first becomes one expression, the second a kernel that is called for each link of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zwang.codegen.casadi_operators import minus, plus, times, written_once
from zwang.coordinates.joint.tree import MOTIONS, Link

if TYPE_CHECKING:
    import casadi

__all__ = ["Base", "EliminatedFreedom", "Links", "plus_product", "product", "rotation", "symmetric"]


@dataclass(frozen=True)
class Base:
    """What a tree of links stands on, or one link's parent, in axes and at the origin of its own.

    Attributes
    ----------
    spin, velocity : ω, and the velocity of the origin.
    alpha, a, Omega : α₀, a₀ and Ω = α̃ + ω̃ω̃; a ground in gravity rises with a = −g.
    R, o : axes and origin in the world.
    parameters : Euler parameters of R.
    """

    spin: casadi.SX
    velocity: casadi.SX
    alpha: casadi.SX
    a: casadi.SX
    Omega: casadi.SX
    R: casadi.SX
    o: casadi.SX
    parameters: casadi.SX

    @classmethod
    def ground(cls, gravity: casadi.SX) -> Base:
        """At rest in the world."""
        import casadi as ca

        zero, nothing = ca.SX.zeros(3, 1), ca.SX.zeros(3, 3)
        one = ca.SX(ca.DM([1, 0, 0, 0]))
        return cls(zero, zero, zero, -gravity, nothing, ca.SX.eye(3), zero, one)


@dataclass(frozen=True)
class EliminatedFreedom:
    """A freedom eliminated: its place k among (α, a), U = I e_k, 1/D and u."""

    k: int
    U: casadi.SX
    inverse: casadi.SX
    u: casadi.SX


class Links:
    """The passes over links, for symbols of their coordinates and numbers.

    Parameters
    ----------
    links : parents first; a parent of −1 is the base.
    q, v : coordinates and velocities.
    numbers : of `LinkConstants`, each entry an SX.
    turns : T of each link where it is known, None where it does not turn; else found from q.
    """

    def __init__(
        self,
        links: Sequence[Link],
        q: casadi.SX,
        v: casadi.SX,
        numbers: Any,
        base: Base,
        turns: Sequence[casadi.SX | None] | None = None,
    ) -> None:
        import casadi as ca

        self.links, self.q, self.v, self.numbers = links, q, v, numbers
        self.zero, self.z = ca.SX.zeros(3, 1), ca.SX(ca.DM([0, 0, 1]))
        self.one = ca.densify(ca.SX.eye(3))
        own = range(len(links))
        self.turns = [self._turn(i) for i in own] if turns is None else list(turns)
        self._ways: dict[int, tuple[tuple[Turn | None, casadi.SX], ...]] = {}
        self._worlds = {-1: (base.R, base.o)}
        self._origins = {-1: base.velocity}
        self._parameters = {-1: base.parameters}
        self.spins = {-1: base.spin}
        #: α₀, a₀ and Ω of each link.
        self.rest = {-1: (base.alpha, base.a, base.Omega)}
        self._outwards()

    # --- outwards: turns, spins, accelerations at v̂̇ = 0 -------------------------------------------

    def _outwards(self) -> None:
        for i, link in enumerate(self.links):
            if link.motion == "scalar":
                continue
            spin, (alpha, a, Omega) = self.spins[link.parent], self.rest[link.parent]
            placed, turn = (self.numbers.E[i], self.numbers.d[i]), self.turns[i]
            turn = self.one if turn is None else turn
            moving = self._relative_spin(i), self._along(i), self._sliding(i)
            spin, *rest = _moved_on(spin, alpha, a, Omega, *placed, turn, *moving)
            self.spins[i], self.rest[i] = spin, tuple(rest)

    def _turn(self, i: int) -> casadi.SX | None:
        """T of a link, None where it does not turn."""
        link = self.links[i]
        if link.motion == "revolute":
            return _about_z(self.q[link.q])
        if link.motion in ("spherical", "free"):
            return rotation(self.q[link.q + MOTIONS[link.motion][0] - 4 :][:4])
        return None

    def _along(self, i: int) -> casadi.SX:
        """Place along z of the joint's axes: h + s."""
        link = self.links[i]
        h = self.numbers.h[i]
        return h + self.q[link.q] if link.motion == "prismatic" else h

    def _relative_spin(self, i: int) -> casadi.SX:
        link = self.links[i]
        if link.motion == "revolute":
            return self.z * self.v[link.v]
        if link.motion in ("spherical", "free"):
            end = link.v + MOTIONS[link.motion][1]
            return self.v[end - 3 : end]
        return self.zero

    def _sliding(self, i: int) -> casadi.SX:
        """ṡ z of a link."""
        link = self.links[i]
        return self.z * self.v[link.v] if link.motion == "prismatic" else self.zero

    def tensor(self, i: int) -> casadi.SX:
        """Moments of inertia of a link about its origin."""
        return _tensor(self.numbers.inertia[i])

    def own_wrench(self, i: int) -> tuple[casadi.SX, casadi.SX]:
        """What a link needs to move by α₀, a₀: n, f."""
        if self.links[i].motion == "scalar":
            return self.zero, self.zero
        weight = self.numbers.mass[i], self.numbers.moment[i], self.numbers.inertia[i]
        return _own_wrench(*weight, *self.rest[i], self.spins[i])

    # --- inwards and out again: articulated bodies ------------------------------------------------

    def eliminated(
        self, i: int, I: casadi.SX, p: casadi.SX
    ) -> tuple[list[EliminatedFreedom], casadi.SX, casadi.SX]:
        """The freedoms of a link taken out of the inertia and the wrench that hang on it."""
        import casadi as ca

        steps = []
        for k in freedoms(self.links[i].motion):
            U = I[:, k]
            inverse, u = 1.0 / U[k], -p[k]
            I = symmetric(I - ca.mtimes(U * inverse, U.T))
            p = p + U * (inverse * u)
            for j in range(6):
                I[j, k] = I[k, j] = 0
            p[k] = 0
            steps.append(EliminatedFreedom(k, U, inverse, u))
        return steps, I, p

    def answered(
        self, i: int, steps: Sequence[EliminatedFreedom], beyond: casadi.SX
    ) -> tuple[casadi.SX, casadi.SX]:
        """v̂̇ of a link and its own δ, from that of its parent."""
        import casadi as ca

        delta = self.reached(i, beyond)
        found: dict[int, casadi.SX] = {}
        for step in reversed(steps):
            k = step.k
            found[k] = step.inverse * plus_product(step.u, -step.U.T, delta)
            delta[k] = delta[k] + found[k]
        values = [found[k] for k in freedoms(self.links[i].motion)]
        if self.links[i].motion == "free":  # r̈ in axes of the world
            turn, _ = self.way(i)[0]
            assert turn is not None
            values = [*ca.vertsplit(turn.vector(ca.vertcat(*values[3:]))), *values[:3]]
        return ca.vertcat(*values), delta

    def spatial(self, i: int) -> casadi.SX:
        """[[J, c̃], [c̃ᵀ, m]] of a link alone."""
        import casadi as ca

        c = ca.skew(self.numbers.moment[i])
        m = self.numbers.mass[i] * ca.SX.eye(3)
        return ca.densify(ca.vertcat(ca.horzcat(self.tensor(i), c), ca.horzcat(c.T, m)))

    def carried_inertia(self, i: int, I: casadi.SX) -> casadi.SX:
        """The inertia of what hangs on a link, at the origin and in the axes of its parent."""
        import casadi as ca

        A, B, C = I[:3, :3], I[:3, 3:], I[3:, 3:]
        for turn, shift in self.way(i):
            if turn is not None:
                A, B, C = turn.symmetric(A), turn.tensor(B), turn.symmetric(C)
            if not shift.is_zero():
                moved = ca.horzcat(*(plus_cross(B[:, k], shift, C[:, k]) for k in range(3)))
                A = ca.vertcat(*(plus_cross(A[k, :].T, shift, B[k, :].T).T for k in range(3)))
                A = ca.horzcat(*(plus_cross(A[:, k], shift, moved[k, :].T) for k in range(3)))
                A, B = symmetric(A), moved
        return ca.vertcat(ca.horzcat(A, B), ca.horzcat(B.T, C))

    def way(self, i: int) -> tuple[tuple[Turn | None, casadi.SX], ...]:
        """Turns, and the shifts after them, from a link's own axes to its parent's origin."""
        if i not in self._ways:
            T = self.turns[i]
            axis = 2 if self.links[i].motion == "revolute" else None
            self._ways[i] = (
                (None if T is None else Turn(T, axis), self.z * self._along(i)),
                (Turn(self.numbers.E[i]), self.numbers.d[i]),
            )
        return self._ways[i]

    def carried(self, i: int, n: casadi.SX, f: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        """A wrench on a link, at the origin and in the axes of its parent."""
        for turn, shift in self.way(i):
            n, f = _wrench_carried(self.one if turn is None else turn.R, shift, n, f)
        return n, f

    def reached(self, i: int, delta: casadi.SX) -> casadi.SX:
        """A change of the parent's acceleration, at the origin and in the axes of a link."""
        import casadi as ca

        alpha, a = delta[:3], delta[3:]
        for turn, shift in reversed(self.way(i)):
            a = plus_cross(a, alpha, shift)
            if turn is not None:
                alpha, a = turn.back(alpha), turn.back(a)
        return ca.vertcat(alpha, a)

    # --- places and velocities --------------------------------------------------------------------

    def directions(self, i: int) -> dict[int, tuple[casadi.SX, casadi.SX]]:
        """Velocity number → (α, a) that one unit of v̂̇ gives the link, in its own axes."""
        import casadi as ca

        link, T = self.links[i], self.turns[i]
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

    def world(self, i: int) -> tuple[casadi.SX, casadi.SX]:
        """R_WL and the origin of a link."""
        if i not in self._worlds:
            link, turn = self.links[i], self.turns[i]
            placed = self.numbers.E[i], self.numbers.d[i]
            turn = self.one if turn is None else turn
            R, o = _placed_on(*self.world(link.parent), *placed, turn, self._along(i))
            if link.motion == "free":
                o = self.q[link.q : link.q + 3]
            self._worlds[i] = R, o
        return self._worlds[i]

    def origin_velocity(self, i: int) -> casadi.SX:
        """Velocity of a link's origin, in its own axes."""
        import casadi as ca

        if i not in self._origins:
            link, turn = self.links[i], self.turns[i]
            if link.motion == "free":
                assert turn is not None  # a free link turns
                self._origins[i] = ca.mtimes(turn.T, self.v[link.v : link.v + 3])
            else:
                base = self.origin_velocity(link.parent), self.spins[link.parent]
                placed = self.numbers.E[i], self.numbers.d[i]
                turn = self.one if turn is None else turn
                moving = self._along(i), self._sliding(i)
                self._origins[i] = _velocity_on(*base, *placed, turn, *moving)
        return self._origins[i]

    def parameters(self, i: int) -> casadi.SX:
        """Euler parameters of a link."""
        import casadi as ca

        if i not in self._parameters:
            link = self.links[i]
            e = product(self.parameters(link.parent), self.numbers.E_parameters[i])
            if link.motion == "revolute":
                half = 0.5 * self.q[link.q]
                e = product(e, ca.vertcat(ca.cos(half), 0, 0, ca.sin(half)))
            elif link.motion in ("spherical", "free"):
                e = product(e, self.q[link.q + MOTIONS[link.motion][0] - 4 :][:4])
            self._parameters[i] = e
        return self._parameters[i]

    def kinematics(self) -> casadi.SX:
        """N of q̂̇ = N v̂."""
        import casadi as ca

        from zwang.multibody.pose import SPATIAL, kinematics

        N = ca.SX(self.q.numel(), self.v.numel())
        for link in self.links:
            if link.motion in ("spherical", "free"):
                nq, nv = MOTIONS[link.motion]
                rows = range(link.q, link.q + nq)
                e = self.q[link.q + nq - 4 : link.q + nq]
                whole = kinematics(SPATIAL, ca.vertcat(self.zero, e))
                N[list(rows), list(range(link.v, link.v + nv))] = whole[7 - nq :, 6 - nv :]
            else:
                N[link.q, link.v] = 1
        return N


def freedoms(motion: str) -> range:
    """Which of α (0, 1, 2) and a (3, 4, 5) a link has against its parent, in its own axes."""
    return {"revolute": range(2, 3), "prismatic": range(5, 6), "spherical": range(3)}.get(
        motion, range(6)
    )


def symmetric(M: casadi.SX) -> casadi.SX:
    """The lower half twice, so that it is computed once."""
    import casadi as ca

    return ca.tril2symm(ca.tril(M))


# Sums are written so that each product is added to what there is already: two products that meet
# in one sum cannot be joined with it to one operation (see `zwang.codegen.schedule`).


def plus_cross(x: casadi.SX, a: casadi.SX, b: casadi.SX) -> casadi.SX:
    """x + a × b."""
    first, second = [1, 2, 0], [2, 0, 1]
    x = plus(x, times(a[first], b[second]))
    return minus(x, times(a[second], b[first]))


def plus_product(x: casadi.SX, A: casadi.SX, b: casadi.SX) -> casadi.SX:
    """x + A b."""
    for k in range(A.shape[1]):
        x = plus(x, times(A[:, k], b[k]))
    return x


class Turn:
    """A change of axes by a rotation matrix, cheap where that is a turn about one of the axes.

    Parameters
    ----------
    axis : 0, 1 or 2 where that is known; constants are looked at.
    """

    def __init__(self, R: casadi.SX, axis: int | None = None) -> None:
        self.R, self.axis = R, axis
        entries: list[Any] = R.elements() if axis is None else []  # by columns
        for k in range(3) if entries else ():
            others = [entries[3 * i + k] for i in range(3) if i != k]
            others += [entries[3 * k + i] for i in range(3) if i != k]
            if entries[4 * k].is_one() and all(x.is_zero() for x in others):
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
        return symmetric(self.tensor(M))

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
        half_cos, half_sin = times(c, c) - 0.5, times(c, s)  # of 2θ, halved
        m = {(a, b): M[a, b] for a in range(3) for b in range(3)}
        apart, both = minus(m[i, i], m[j, j]), plus(m[i, j], m[j, i])
        p = minus(times(apart, half_cos), times(both, half_sin))
        q = plus(times(apart, half_sin), times(both, half_cos))
        mean, twist = 0.5 * plus(m[i, i], m[j, j]), 0.5 * minus(m[i, j], m[j, i])
        result = ca.SX.zeros(3, 3)
        result[i, i], result[j, j] = plus(mean, p), minus(mean, p)
        result[i, j], result[j, i] = plus(q, twist), minus(q, twist)
        result[i, k] = minus(times(c, m[i, k]), times(s, m[j, k]))
        result[j, k] = plus(times(s, m[i, k]), times(c, m[j, k]))
        result[k, i] = minus(times(c, m[k, i]), times(s, m[k, j]))
        result[k, j] = plus(times(s, m[k, i]), times(c, m[k, j]))
        result[k, k] = m[k, k]
        return result


# What is written for each link, once for all of them. A link that does not turn has T = 1, one that
# does not slide ṡ = 0, and what these take away is not written down.


@written_once(1)
def _about_z(angle: casadi.SX) -> casadi.SX:
    """T of a turn about z."""
    import casadi as ca

    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))


@written_once(6)
def _tensor(j: casadi.SX) -> casadi.SX:
    """The tensor of six entries 00, 01, 02, 11, 12, 22."""
    import casadi as ca

    return ca.vertcat(
        ca.horzcat(j[0], j[1], j[2]),
        ca.horzcat(j[1], j[3], j[4]),
        ca.horzcat(j[2], j[4], j[5]),
    )


def _omega_square(alpha: casadi.SX, w: casadi.SX) -> casadi.SX:
    """Ω = α̃ + ω̃ω̃."""
    import casadi as ca

    (x, y, z), (a, b, c) = (w[0], w[1], w[2]), (alpha[0], alpha[1], alpha[2])
    xy, xz, yz = times(x, y), times(x, z), times(y, z)
    xx, yy, zz = times(x, x), times(y, y), times(z, z)
    return ca.blockcat(
        [
            [-plus(yy, zz), minus(xy, c), plus(xz, b)],
            [plus(xy, c), -plus(xx, zz), minus(yz, a)],
            [minus(xz, b), plus(yz, a), -plus(xx, yy)],
        ]
    )


@written_once(3, 3, 3, (3, 3), (3, 3), 3, (3, 3), 3, 1, 3)
def _moved_on(
    spin: casadi.SX,
    alpha: casadi.SX,
    a: casadi.SX,
    Omega: casadi.SX,
    E: casadi.SX,
    d: casadi.SX,
    T: casadi.SX,
    relative: casadi.SX,
    along: casadi.SX,
    sliding: casadi.SX,
) -> tuple[casadi.SX, ...]:
    """ω, α₀, a₀ and Ω of a link from those of its parent."""
    import casadi as ca

    alpha, a, spin = (ca.mtimes(E.T, x) for x in (alpha, plus_product(a, Omega, d), spin))
    a = a + (_omega_square(alpha, spin)[:, 2] * along) + 2.0 * ca.cross(spin, sliding)
    alpha, a, spin = (ca.mtimes(T.T, x) for x in (alpha, a, spin))
    alpha, spin = alpha + ca.cross(spin, relative), spin + relative
    return spin, alpha, a, _omega_square(alpha, spin)


@written_once(1, 3, 6, 3, 3, (3, 3), 3)
def _own_wrench(
    m: casadi.SX,
    c: casadi.SX,
    tensor: casadi.SX,
    alpha: casadi.SX,
    a: casadi.SX,
    Omega: casadi.SX,
    w: casadi.SX,
) -> tuple[casadi.SX, casadi.SX]:
    """n = J α₀ + ω × J ω + c × a₀ and f = m a₀ + Ω c."""
    import casadi as ca

    J = _tensor(tensor)
    n = plus_cross(plus_cross(ca.mtimes(J, alpha), w, ca.mtimes(J, w)), c, a)
    return n, plus_product(m * a, Omega, c)


@written_once((3, 3), 3, 3, 3)
def _wrench_carried(
    R: casadi.SX, shift: casadi.SX, n: casadi.SX, f: casadi.SX
) -> tuple[casadi.SX, casadi.SX]:
    """A wrench in other axes, and then about a point from which its own is at `shift`."""
    import casadi as ca

    n, f = ca.mtimes(R, n), ca.mtimes(R, f)
    return plus_cross(n, shift, f), f


@written_once((3, 3), 3, (3, 3), 3, (3, 3), 1)
def _placed_on(
    R: casadi.SX, o: casadi.SX, E: casadi.SX, d: casadi.SX, T: casadi.SX, along: casadi.SX
) -> tuple[casadi.SX, casadi.SX]:
    """R_WL and the origin of a link from those of its parent."""
    import casadi as ca

    o = o + ca.mtimes(R, d)
    R = ca.mtimes(R, E)
    return ca.mtimes(R, T), o + R[:, 2] * along


@written_once(3, 3, (3, 3), 3, (3, 3), 1, 3)
def _velocity_on(
    velocity: casadi.SX,
    spin: casadi.SX,
    E: casadi.SX,
    d: casadi.SX,
    T: casadi.SX,
    along: casadi.SX,
    sliding: casadi.SX,
) -> casadi.SX:
    """Velocity of a link's origin from those of its parent, in its own axes."""
    import casadi as ca

    arm = ca.vertcat(0, 0, along)
    u = ca.mtimes(E.T, velocity + ca.cross(spin, d))
    return ca.mtimes(T.T, u + ca.cross(ca.mtimes(E.T, spin), arm) + sliding)


def rotation(e: casadi.SX) -> casadi.SX:
    """The rotation matrix of Euler parameters."""
    import casadi as ca

    from zwang.multibody.pose import SPATIAL, config_of

    return ca.reshape(config_of(SPATIAL, ca.vertcat(0, 0, 0, e))[3:], 3, 3).T


@written_once(4, 4)
def product(a: casadi.SX, b: casadi.SX) -> casadi.SX:
    """Euler parameters of a rotation b followed by a: R(a b) = R(a) R(b)."""
    import casadi as ca

    w, x = a[0], a[1:]
    return ca.vertcat(w * b[0] - ca.dot(x, b[1:]), w * b[1:] + b[0] * x + ca.cross(x, b[1:]))
