"""Joint coordinates: the passes over a tree, one function for each kind of link and pass.

A large tree is not written down as a whole. Each function here is one link on a parent of which
symbols stand for what is known, see `articulated_body`; they are called for one link after the
other:

    turned      q̂ → T
    outward     parent's motion, T, v̂ → motion, the wrench that the link needs, q̂̇
    inward      wrench, what its children hand down → freedoms eliminated, what it hands down
    answer      parent's δ → v̂̇, δ
    placed      parent's place → place and velocity
    seen        place → configuration and velocities of a body, as elements see them
    state       place → q and v of a body
    applied     force on a body → wrench on its link

Arguments are columns; matrices are laid out row by row, symmetric ones by their lower half.
"""

from __future__ import annotations

from functools import cache
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from zwang.coordinates.joint.articulated_body import (
    Base,
    EliminatedFreedom,
    Links,
    freedoms,
    product,
)
from zwang.coordinates.joint.link_constants import OF_BODIES, OF_LINKS
from zwang.coordinates.joint.tree import MOTIONS, Link
from zwang.multibody.pose import SCALAR, BodyKind

if TYPE_CHECKING:
    import casadi

__all__ = [
    "BODY",
    "HANDED",
    "LINK",
    "MOTION",
    "PLACE",
    "WRENCH",
    "answer",
    "applied",
    "ground",
    "inward",
    "outward",
    "placed",
    "rate",
    "scalar",
    "seen",
    "state",
    "steps_size",
    "turn_size",
    "turned",
    "turned_together",
    "unit_length",
    "unit_miss",
]

#: Sizes of what is handed on: spin, α₀, a₀, Ω; n, f; I and p; R, o, spin, velocity, parameters.
MOTION, WRENCH, HANDED, PLACE = 18, 6, 27, 22
_LOWER = [(i, j) for j in range(6) for i in range(j, 6)]


def turn_size(motion: str) -> int:
    """Numbers that T is made of: cos and sin of a hinge, or all nine."""
    return {"revolute": 2, "spherical": 9, "free": 9}.get(motion, 0)


def steps_size(motion: str) -> int:
    """Numbers that are kept of the freedoms eliminated: U, 1/D and u of each."""
    return 8 * len(freedoms(motion))


def _symbols(*sizes: int) -> list[casadi.SX]:
    import casadi as ca

    return [ca.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]


def _matrix(x: casadi.SX) -> casadi.SX:
    import casadi as ca

    return ca.reshape(x, 3, 3).T


def _flat(R: casadi.SX) -> casadi.SX:
    import casadi as ca

    return ca.vec(R.T)


def _numbers(x: casadi.SX, fields: dict[str, tuple[int, ...]]) -> Any:
    """The record of a link or body, each entry a list of one."""
    values, start = {}, 0
    for name, shape in fields.items():
        size = prod(shape)
        part = x[start : start + size]
        values[name] = [_matrix(part) if size == 9 else part]
        start += size
    return SimpleNamespace(**values)


def _size(fields: dict[str, tuple[int, ...]]) -> int:
    return sum(map(prod, fields.values()))


class _One:
    """One link as symbols: q̂, v̂, what its turn is made of, and its numbers."""

    def __init__(self, motion: str) -> None:
        import casadi as ca

        self.motion = motion
        nq, nv = MOTIONS[motion]
        self.q, self.v, self.turn, self.numbers = _symbols(nq, nv, turn_size(motion), LINK)
        T: casadi.SX | None = None
        if motion == "revolute":
            c, s = self.turn[0], self.turn[1]
            T = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
        elif self.turn.numel():
            T = _matrix(self.turn)
        self._turns = [T]

    def on(self, base: Base) -> Links:
        """The link on its parent."""
        link = Link(-1, self.motion, 0, 0)
        numbers = _numbers(self.numbers, OF_LINKS)
        return Links([link], self.q, self.v, numbers, base, self._turns)


#: Sizes of the records of links and of bodies.
LINK, BODY = _size(OF_LINKS), _size(OF_BODIES)


@cache
def turned_together(count: int) -> casadi.Function:
    """(θ of several hinges) → cos and sin of each: together they are one stretch of vector code."""
    import casadi as ca

    (q,) = _symbols(count)
    outputs = [ca.vertcat(ca.cos(q[k]), ca.sin(q[k])) for k in range(count)]
    return ca.Function("turned", [q], outputs)


@cache
def turned(motion: str) -> casadi.Function:
    """(q̂) → T of a ball or a free link."""
    import casadi as ca

    from zwang.coordinates.joint.articulated_body import rotation

    (q,) = _symbols(MOTIONS[motion][0])
    return ca.Function("turned", [q], [_flat(rotation(q[-4:]))])


def _moving(x: casadi.SX) -> Base:
    """A parent with the motion x."""
    import casadi as ca

    none = ca.SX.zeros(3, 1)
    return Base(x[:3], none, x[3:6], x[6:9], _matrix(x[9:]), ca.SX.eye(3), none, none)


@cache
def outward(motion: str, *, root: bool) -> casadi.Function:
    """(parent's motion, or gravity, T, q̂, v̂, numbers) → motion, wrench, q̂̇."""
    import casadi as ca

    one = _One(motion)
    (above,) = _symbols(3 if root else MOTION)
    links = one.on(Base.ground(above) if root else _moving(above))
    alpha, a, Omega = links.rest[0]
    moving = ca.vertcat(links.spins[0], alpha, a, _flat(Omega))
    wrench = ca.vertcat(*links.own_wrench(0))
    q_dot = ca.mtimes(links.kinematics(), one.v)
    inputs = [above, one.turn, one.q, one.v, one.numbers]
    return ca.Function("outward", inputs, [ca.densify(x) for x in (moving, wrench, q_dot)])


def _spread(x: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
    """I and p of what is handed down."""
    import casadi as ca

    I = ca.SX.zeros(6, 6)
    for k, (i, j) in enumerate(_LOWER):
        I[i, j] = I[j, i] = x[k]
    return I, x[len(_LOWER) :]


@cache
def inward(motion: str, children: int, forces: int, *, last: bool) -> casadi.Function:
    """(numbers, T, q̂, wrench, handed by children…, applied…) → steps, and what is handed down.

    The last link, which stands on the ground, hands nothing down.
    """
    import casadi as ca

    one, links = _one(motion)
    (wrench,) = _symbols(WRENCH)
    handed = [ca.SX.sym(f"handed{k}", HANDED) for k in range(children)]
    exerted = [ca.SX.sym(f"applied{k}", WRENCH) for k in range(forces)]
    I, p = links.spatial(0), wrench
    for x in handed:
        more = _spread(x)
        I, p = I + more[0], p + more[1]
    for x in exerted:
        p = p - x
    steps, I, p = links.eliminated(0, I, p)
    outputs = [ca.vertcat(*(ca.vertcat(s.U, s.inverse, s.u) for s in steps))]
    if not last:
        I, p = links.carried_inertia(0, I), ca.vertcat(*links.carried(0, p[:3], p[3:]))
        outputs.append(ca.vertcat(*(I[i, j] for i, j in _LOWER), p))
    inputs = [one.numbers, one.turn, one.q, wrench, *handed, *exerted]
    return ca.Function("inward", inputs, [ca.densify(x) for x in outputs])


def _one(motion: str) -> tuple[_One, Links]:
    """A link on a parent whose motion does not matter."""
    import casadi as ca

    one = _One(motion)
    return one, one.on(Base.ground(ca.SX.zeros(3, 1)))


@cache
def rate(motion: str) -> casadi.Function:
    """(q̂, v̂) → q̂̇."""
    import casadi as ca

    one, links = _one(motion)
    q_dot = ca.mtimes(links.kinematics(), one.v)
    return ca.Function("rate", [one.q, one.v], [ca.densify(q_dot)])


@cache
def answer(motion: str, *, root: bool) -> casadi.Function:
    """(numbers, T, q̂, steps, parent's δ unless that is the ground) → v̂̇, δ."""
    import casadi as ca

    one, links = _one(motion)
    kept, beyond = _symbols(steps_size(motion), WRENCH)
    steps = [
        EliminatedFreedom(k, kept[8 * n : 8 * n + 6], kept[8 * n + 6], kept[8 * n + 7])
        for n, k in enumerate(freedoms(motion))
    ]
    still = ca.SX.zeros(6, 1)
    values, delta = links.answered(0, steps, still if root else beyond)
    inputs = [one.numbers, one.turn, one.q, kept, *([] if root else [beyond])]
    return ca.Function("answer", inputs, [ca.densify(values), ca.densify(delta)])


@cache
def scalar(forces: int) -> casadi.Function:
    """(v̂, numbers, applied…) → q̂̇, v̂̇ of a coordinate that is no body's."""
    import casadi as ca

    one = _One("scalar")
    exerted = [ca.SX.sym(f"applied{k}", WRENCH) for k in range(forces)]
    total = sum((x[0] for x in exerted), ca.SX.zeros(1, 1))
    mass = _numbers(one.numbers, OF_LINKS).mass[0]
    inputs = [one.v, one.numbers, *exerted]
    return ca.Function("scalar", inputs, [one.v, ca.densify(total / mass)])


def _standing(x: casadi.SX) -> Base:
    """A parent at the place x."""
    import casadi as ca

    none, nothing = ca.SX.zeros(3, 1), ca.SX.zeros(3, 3)
    R, o, spin, velocity = _matrix(x[:9]), x[9:12], x[12:15], x[15:18]
    return Base(spin, velocity, none, none, nothing, R, o, x[18:])


@cache
def placed(motion: str, *, root: bool) -> casadi.Function:
    """(parent's place unless that is the ground, T, q̂, v̂, numbers) → place."""
    import casadi as ca

    one = _One(motion)
    (above,) = _symbols(PLACE)
    links = one.on(Base.ground(ca.SX.zeros(3, 1)) if root else _standing(above))
    R, o = links.world(0)
    place = [_flat(R), o, links.spins[0], links.origin_velocity(0), links.parameters(0)]
    inputs = [*([] if root else [above]), one.turn, one.q, one.v, one.numbers]
    return ca.Function("placed", inputs, [ca.densify(ca.vertcat(*place))])


def _body(kind: BodyKind) -> tuple[list[casadi.SX], Any, Base, casadi.SX, casadi.SX, casadi.SX]:
    """Inputs (place, numbers), the numbers, the link, and r, R, v of a body on it."""
    import casadi as ca

    place, record = _symbols(PLACE, BODY)
    numbers, link = _numbers(record, OF_BODIES), _standing(place)
    R_LB, at = numbers.R[0], numbers.at[0]
    velocity = ca.mtimes(link.R, link.velocity + ca.cross(link.spin, at))
    r, R = link.o + ca.mtimes(link.R, at), ca.mtimes(link.R, R_LB)
    v = ca.vertcat(velocity, ca.mtimes(R_LB.T, link.spin))
    if kind.plane is not None:
        i, j, k = kind.plane
        v = v[[i, j, 3 + k]]
    return [place, record], numbers, link, r, R, v


def _config(kind: BodyKind, r: casadi.SX, R: casadi.SX) -> casadi.SX:
    import casadi as ca

    if kind.plane is None:
        return ca.vertcat(r, _flat(R))
    i, j, k = kind.plane
    a, b = (k + 1) % 3, (k + 2) % 3
    return ca.vertcat(r[i], r[j], R[a, a], R[b, a])


@cache
def seen(kind: BodyKind) -> casadi.Function:
    """(place, numbers of the body) → config, v."""
    import casadi as ca

    inputs, _, _, r, R, v = _body(kind)
    return ca.Function("seen", inputs, [ca.densify(_config(kind, r, R)), ca.densify(v)])


@cache
def state(kind: BodyKind) -> casadi.Function:
    """(place, numbers of the body) → q, v."""
    import casadi as ca

    inputs, numbers, link, r, R, v = _body(kind)
    q = _config(kind, r, R)
    if kind.plane is None:
        q = ca.vertcat(r, product(link.parameters, numbers.parameters[0]))
    return ca.Function("state", inputs, [ca.densify(q), ca.densify(v)])


@cache
def applied(kind: BodyKind) -> casadi.Function:
    """(force on a body, place, numbers of the body) → wrench on its link, in the link's axes."""
    import casadi as ca

    (force,) = _symbols(kind.nv)
    if kind is SCALAR:
        return ca.Function("applied", [force], [ca.vertcat(force, ca.SX.zeros(5, 1))])
    inputs, numbers, link, *_ = _body(kind)
    F, moment = force[:3], force[3:]
    if kind.plane is not None:
        i, j, k = kind.plane
        F, moment = ca.SX.zeros(3, 1), ca.SX.zeros(3, 1)
        F[i], F[j], moment[k] = force[0], force[1], force[2]
    own = ca.mtimes(link.R.T, F)
    about = ca.mtimes(numbers.R[0], moment) + ca.cross(numbers.at[0], own)
    return ca.Function("applied", [force, *inputs], [ca.densify(ca.vertcat(about, own))])


@cache
def ground() -> casadi.Function:
    """The place of the ground."""
    import casadi as ca

    place = [_flat(ca.SX.eye(3)), ca.SX.zeros(9, 1), ca.SX(ca.DM([1, 0, 0, 0]))]
    return ca.Function("ground", [], [ca.densify(ca.vertcat(*place))])


@cache
def unit_length(motion: str) -> casadi.Function:
    """(q̂, v̂) → q̂ with Euler parameters of unit length, v̂."""
    import casadi as ca

    q, v = _symbols(*MOTIONS[motion])
    scaled = ca.SX(q)
    if motion in ("spherical", "free"):
        scaled[-4:] = q[-4:] / ca.norm_2(q[-4:])
    return ca.Function("unit_length", [q, v], [scaled, v])


@cache
def unit_miss(motion: str) -> casadi.Function:
    """(|e|² − 1)/2."""
    import casadi as ca

    (q,) = _symbols(MOTIONS[motion][0])
    return ca.Function("unit_miss", [q], [0.5 * (ca.sumsqr(q[-4:]) - 1.0)])
