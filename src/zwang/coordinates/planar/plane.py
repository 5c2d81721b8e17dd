"""Planar coordinates: which mechanisms in space cannot but move parallel to a plane.

With W = (u₁, u₂, n) the axes of the plane and its normal, and C those of a body's own plane, the
pose of a body that moves in it is

    r = W (x₁, x₂, d),   R = W R_z(θ) C,        ṙ = W (ẋ₁, ẋ₂, 0),   ω′ = Cᵀ (0, 0, ω)

with d and C fixed. Coordinates are x₁, x₂ and the cosine and sine of θ/2, which are the two Euler
parameters that are left: no trigonometry, and the way back to four is linear.

A body is held to the plane if some joint's equations alone leave it no other motion against a body
that is held, the ground being the first. What forces and inertia do across the plane is then the
business of reactions, and the motion is that in the plane.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.casadi_operators import minus, times
from zwang.coordinates.embedding import (
    Embedded,
    Moving,
    RotatedWorld,
    embedded,
    in_any_axes,
    on_ground,
)
from zwang.multibody.constants import NEGLIGIBLE, Pattern, folded
from zwang.multibody.element import Element
from zwang.multibody.frozen import Parts
from zwang.multibody.inertia import axes_along
from zwang.multibody.pose import SCALAR
from zwang.rotation.quaternion import from_rotation_matrix, rotation_matrix
from zwang.terms import FloatArray
from zwang.tracing.differentiate import Symbols

if TYPE_CHECKING:
    import casadi

__all__ = ["Plane", "find_plane"]

#: A tilt, or a motion across the plane, smaller than this, relative, is rounding.
ACROSS = 1e-9
#: Singular values of a joint's equations across the plane above this, relative, hold a body.
HOLDS = 1e-6


@dataclass(frozen=True)
class Plane:
    """The plane of a mechanism, and its motion there.

    Attributes
    ----------
    W : axes of the plane and its normal as columns, (3, 3).
    C : of each body in space, in order, its own axes as rows in body axes, (bodies, 3, 3).
    across : numbers of the constraint rows that no motion in the plane changes.
    """

    parts: Parts = field(repr=False)
    W: FloatArray
    C: FloatArray
    across: frozenset[int] = frozenset()

    @classmethod
    def along(cls, parts: Parts, normal: FloatArray, q: FloatArray) -> Plane:
        """The plane across a direction, for bodies turned as they are at a state."""
        W = _rounded(axes_along(normal, np.roll(np.eye(3)[int(np.argmax(np.abs(normal)))], 1)))
        turned = np.einsum("i,bij->bj", W[:, 2], rotation_matrix(q[_places(parts)[0][:, 3:]]))
        return cls(parts, W, np.array([_own_axes(W, m) for m in turned]).reshape(-1, 3, 3))

    @property
    def key(self) -> bytes:
        """Equal for planes that make the same expressions."""
        return self.W.tobytes() + self.C.tobytes()

    @cached_property
    def askew(self) -> bool:
        """Whether the normal is no axis of the world.

        Equations along the axes of the world then mix what is in the plane with what is across it:
        joints are evaluated in the axes of the plane, and their rows are not those in space.
        """
        return not np.all((self.W == 0.0) | (np.abs(self.W) == 1.0))

    @cached_property
    def _turns(self) -> FloatArray:
        """e = E (cos θ/2, sin θ/2) of each body, (bodies, 4, 2)."""
        first = from_rotation_matrix(self.W)
        half = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
        distinct: dict[bytes, list[FloatArray]] = {}  # most bodies have the same axes
        for C in self.C:
            if C.tobytes() not in distinct:
                e = from_rotation_matrix(C)
                distinct[C.tobytes()] = [_product(_product(first, h), e) for h in half]
        turns = [distinct[C.tobytes()] for C in self.C]
        return _rounded(np.swapaxes(np.array(turns).reshape(-1, 2, 4), 1, 2))

    @cached_property
    def own_axes(self) -> dict[int, FloatArray]:
        """C of each body in space, by its number."""
        return dict(zip(_spatial(self.parts), self.C, strict=True))

    # --- at a state -------------------------------------------------------------------------------

    def reason_against(self, q: FloatArray, v: FloatArray) -> str:
        """Why a state is not one of motion in the plane; empty if it is."""
        tilt, wrong = self._departures(q, v)
        wrong = np.flatnonzero(wrong)
        if not wrong.size:
            return ""
        name = [b.name for b in self.parts.bodies if b.kind is not SCALAR][wrong[0]]
        what = "is turned out of the plane" if tilt[wrong[0]] > ACROSS else "moves across it"
        return f"body {name!r}, which {what}"

    def holds(self, Y: FloatArray) -> np.ndarray:
        """Which of many states (N, n) are of motion in the plane."""
        nq = len(self.parts.coordinates)
        return np.logical_not(self._departures(Y[:, :nq], Y[:, nq:])[1].any(axis=-1))

    def _departures(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, np.ndarray]:
        """By how much bodies are tilted, and whether they are, or move, out of the plane."""
        at_q, at_v = self._outer
        n, own = self.W[:, 2], self.C[:, 2]
        turned = np.einsum("i,...bij->...bj", n, rotation_matrix(q[..., at_q[:, 3:]]))
        tilt = np.abs(turned - own).max(axis=-1, initial=0.0)
        turn = v[..., at_v[:, 3:]]
        about = np.einsum("...bj,bj->...b", turn, own)[..., None] * own
        spin = np.abs(turn - about).max(axis=-1, initial=0.0)
        out = np.maximum(np.abs(v[..., at_v[:, :3]] @ n), spin)
        limit = ACROSS * np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))
        return tilt, (tilt > ACROSS) | (out > limit[..., None])

    def enter(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q̂ (…, n̂q), v̂ (…, n̂v) and the distances d (…, bodies) along the normal."""
        at_q, at_v = self._outer
        placed = _mapped(q[..., at_q[:, :3]], self.W[None])
        halves = _mapped(q[..., at_q[:, 3:]], self._turns)
        speeds = _mapped(v[..., at_v[:, :3]], self.W[None, :, :2])
        spins = _mapped(v[..., at_v[:, 3:]], self.C[:, 2, :, None])[..., 0]
        inner_q, inner_v = self._inner
        leading = q.shape[:-1]
        q_hat, v_hat = np.empty((*leading, self._counts[0])), np.empty((*leading, self._counts[1]))
        q_hat[..., inner_q[:, :2]], q_hat[..., inner_q[:, 2:]] = placed[..., :2], halves
        v_hat[..., inner_v[:, :2]], v_hat[..., inner_v[:, 2]] = speeds, spins
        for i, a, b, c in self._scalars:
            q_hat[..., a], v_hat[..., b] = q[..., i], v[..., c]
        return q_hat, v_hat, placed[..., 2]

    def scales(self, scales: FloatArray) -> FloatArray:
        """Sizes of q̂ and v̂ from those of q and v: the least of those they stand for."""
        at_q, at_v = self._outer
        nq = len(self.parts.coordinates)
        of_q, of_v = scales[:nq], scales[nq:]
        inner_q, inner_v = self._inner
        found_q, found_v = np.empty(self._counts[0]), np.empty(self._counts[1])
        found_q[inner_q[:, :2]] = of_q[at_q[:, :3]].min(axis=1, keepdims=True)
        found_q[inner_q[:, 2:]] = of_q[at_q[:, 3:]].min(axis=1, keepdims=True)
        found_v[inner_v[:, :2]] = of_v[at_v[:, :3]].min(axis=1, keepdims=True)
        found_v[inner_v[:, 2]] = of_v[at_v[:, 3:]].min(axis=1)
        for i, a, b, c in self._scalars:
            found_q[a], found_v[b] = of_q[i], of_v[c]
        return np.concatenate([found_q, found_v])

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """Where q̂ and v̂ of each body begin, and their numbers at the end."""
        q, v = [0], [0]
        for body in self.parts.bodies:
            more = (1, 1) if body.kind is SCALAR else (4, 3)
            q.append(q[-1] + more[0])
            v.append(v[-1] + more[1])
        return q, v

    @property
    def _counts(self) -> tuple[int, int]:
        return self._starts[0][-1], self._starts[1][-1]

    @cached_property
    def _outer(self) -> tuple[np.ndarray, np.ndarray]:
        """Where q and v of each body in space are, (bodies, 7) and (bodies, 6)."""
        return _places(self.parts)

    @cached_property
    def _inner(self) -> tuple[np.ndarray, np.ndarray]:
        """Where q̂ and v̂ of each body in space are, (bodies, 4) and (bodies, 3)."""
        q, v = (np.array(starts)[_spatial(self.parts)] for starts in self._starts)
        return q[:, None] + np.arange(4), v[:, None] + np.arange(3)

    @cached_property
    def _scalars(self) -> list[tuple[int, int, int, int]]:
        """Where further coordinates are: in q, in q̂, in v̂, in v."""
        (outer_q, outer_v), (q, v) = self.parts.places, self._starts
        bodies = enumerate(self.parts.bodies)
        return [(outer_q[i], q[i], v[i], outer_v[i]) for i, b in bodies if b.kind is SCALAR]

    def somewhere(self, q: FloatArray) -> FloatArray:
        """Bodies put anywhere in the plane, at the distances d of a state."""
        q, (at_q, _) = q.copy(), self._outer
        generator, count = np.random.default_rng(0), len(self.C)
        placed = np.column_stack(
            [generator.standard_normal((count, 2)), q[at_q[:, :3]] @ self.W[:, 2]]
        )
        angle = generator.uniform(-np.pi, np.pi, count)
        q[at_q[:, :3]] = placed @ self.W.T
        q[at_q[:, 3:]] = np.einsum("bij,jb->bi", self._turns, [np.cos(angle), np.sin(angle)])
        return q

    # --- as expressions ---------------------------------------------------------------------------

    def motion(self, pattern: Pattern) -> tuple[Embedded, casadi.SX, casadi.SX]:
        """The mechanism in the plane, and q and v of its bodies in space as expressions of q̂, v̂.

        Parameters
        ----------
        pattern : entries of p that are constants, see `constants`.
        """
        import casadi as ca

        parts, (nq, nv) = self.parts, self._counts
        known = parts.defaults.size
        q, v, t = ca.SX.sym("q", nq), ca.SX.sym("v", nv), ca.SX.sym("t")
        p = ca.SX.sym("p", known + len(self.C))
        N, unit = ca.SX(nq, nv), []
        bodies: list[Moving] = []
        seen: list[Moving] = []
        wholes: list[tuple[casadi.SX, casadi.SX]] = []
        k = 0
        for body, at_q, at_v in zip(parts.bodies, *self._starts, strict=False):
            if body.kind is SCALAR:
                bodies.append(Moving(q[at_q], v[at_v], [at_v], ca.SX.eye(1)))
                seen.append(bodies[-1])
                wholes.append((q[at_q], v[at_v]))
                N[at_q, at_v] = 1
                continue
            x, half, speed = q[at_q : at_q + 2], q[at_q + 2 : at_q + 4], v[at_v : at_v + 3]
            placed = ca.vertcat(x, p[known + k])
            columns = range(at_v, at_v + 3)
            bodies.append(self._moving(k, self.W, (placed, half, speed), columns))
            if self.askew:
                seen.append(self._moving(k, np.eye(3), (placed, half, speed), columns))
            r = bodies[-1].config[:3]
            e = ca.mtimes(ca.sparsify(ca.DM(self._turns[k])), half)
            wholes.append((ca.vertcat(r, ca.densify(e)), bodies[-1].v))
            N[at_q, at_v] = N[at_q + 1, at_v + 1] = 1
            N[at_q + 2, at_v + 2], N[at_q + 3, at_v + 2] = -0.5 * half[1], 0.5 * half[0]
            unit.append((at_q + 2, at_q + 3))
            k += 1
        state = Symbols(q, v, t, p, ca.mtimes(N, v))
        found = embedded(
            parts,
            state,
            folded(p[:known], pattern),
            N,
            bodies,
            seen=RotatedWorld(self.W, seen) if self.askew else None,
            coordinates=[f"q{i}" for i in range(nq)],
            velocities=[f"v{i}" for i in range(nv)],
            numbers={"distances": np.zeros(len(self.C))},
            unit=tuple(unit),
            held=self.across,
        )
        return found, ca.vertcat(*(w for w, _ in wholes)), ca.vertcat(*(w for _, w in wholes))

    def _moving(
        self, k: int, axes: FloatArray, state: tuple[casadi.SX, ...], columns: range
    ) -> Moving:
        """The motion of body k in world axes, at (x, half, speed).

        `axes` are those of the plane in the world's, `columns` where its v̂ is.
        """
        import casadi as ca

        key = axes.tobytes(), self.C[k].tobytes()
        if key not in self._poses:
            self._poses[key] = _pose_in_plane(axes, self.C[k])
        pose, B = self._poses[key]
        config, v = pose.call(state)
        return Moving(config, v, columns, ca.SX(B))

    @cached_property
    def _poses(self) -> dict[tuple[bytes, bytes], tuple[casadi.Function, casadi.DM]]:
        """What `_pose_in_plane` found, by the axes of plane and body."""
        return {}


def _pose_in_plane(axes: FloatArray, own: FloatArray) -> tuple[casadi.Function, casadi.DM]:
    """(x, half, speed) → configuration and velocities v of a body with its axes, and ∂v/∂speed."""
    import casadi as ca

    x, half, speed = ca.SX.sym("x", 3), ca.SX.sym("half", 2), ca.SX.sym("speed", 3)
    W, C = ca.sparsify(ca.DM(axes)), ca.sparsify(ca.DM(own))
    a, b = half[0], half[1]
    c, s = minus(times(a, a), times(b, b)), times(2 * a, b)
    turn = ca.SX.eye(3)
    turn[0, 0] = turn[1, 1] = c
    turn[0, 1], turn[1, 0] = -s, s
    R = ca.mtimes([W, turn, C])
    config = ca.vertcat(ca.densify(ca.mtimes(W, x)), ca.vec(ca.densify(R).T))
    B = ca.DM.zeros(6, 3)
    B[:3, :2], B[3:, 2] = W[:, :2], own[2]
    B = ca.sparsify(B)
    v = ca.densify(ca.mtimes(B, speed))
    return ca.Function("pose", [x, half, speed], [config, v]), B


def find_plane(parts: Parts, q: FloatArray, v: FloatArray, p: FloatArray) -> Plane | str:
    """The plane that all bodies are held to at a state, or why there is none."""
    if parts.kind.plane is not None or all(b.kind is SCALAR for b in parts.bodies):
        return "bodies that are not in space"
    reason = "joints, none of which has an axis"
    for normal in _normals(parts, q):
        plane = Plane.along(parts, normal, q)
        blocks = _blocks_across(plane, q, p)
        reason = plane.reason_against(q, v) or _not_held(plane, blocks)
        if not reason:
            elsewhere = _blocks_across(plane, plane.somewhere(q), p)
            both = zip(parts.row_starts, blocks, elsewhere, strict=False)
            across = [start + int(i) for start, a, b in both for i in np.flatnonzero(a[1] & b[1])]
            return replace(plane, across=frozenset(across))
    return reason


def _normals(parts: Parts, q: FloatArray) -> Iterator[FloatArray]:
    """Directions that may be normals: axes of joints, the first two that differ."""
    seen: list[FloatArray] = []
    starts, _ = parts.places
    for joint in parts.joints.values():
        if joint.a is None or joint.kind is None or not joint.kind.axis:
            continue
        axis = joint.a.axes[:, 2]
        if joint.a.body >= 0:
            first = starts[joint.a.body]
            axis = rotation_matrix(q[first + 3 : first + 7]) @ axis
        axis = axis * (1.0 if axis[np.argmax(np.abs(axis))] > 0.0 else -1.0)
        if all(abs(abs(axis @ other) - 1.0) > ACROSS for other in seen):
            seen.append(axis)
            yield axis
        if len(seen) == 2:
            # sliders alone: the plane that both lie in
            normal = np.cross(seen[0], seen[1])
            yield normal / np.linalg.norm(normal)
            return


def _not_held(plane: Plane, blocks: list[_Block]) -> str:
    """Which body no joint holds to the plane; empty if all are."""
    parts = plane.parts
    held = {-1} | {i for i, b in enumerate(parts.bodies) if b.kind is SCALAR}
    beside: dict[int, list[tuple[int, FloatArray]]] = {}
    for bodies, across, rows in blocks:
        for place, i in enumerate(bodies):
            others = {j for j in bodies if j != i}
            if i >= 0 and len(others) == 1:
                beside.setdefault(others.pop(), []).append((i, rows[place][across]))
    waiting = deque(held)
    while waiting:
        for i, rows in beside.get(waiting.popleft(), ()):
            if i not in held:
                s = np.linalg.svd(rows, compute_uv=False) if len(rows) >= 3 else np.zeros(3)
                if s[2] > HOLDS * max(s[0], 1e-300):
                    held.add(i)
                    waiting.append(i)
    for i, body in enumerate(parts.bodies):
        if i not in held:
            return f"body {body.name!r}, which no joint holds to the plane"
    return ""


#: The bodies of a constraint; which of its rows do not see motion in the plane; and the derivative
#: of its rows by the motion of each body across the plane.
_Block = tuple[tuple[int, ...], np.ndarray, list[FloatArray]]


def _blocks_across(plane: Plane, q: FloatArray, p: FloatArray) -> list[_Block]:
    """What each constraint sees of motion across the plane, constraints of one kind together."""
    parts, joints = plane.parts, in_any_axes(plane.parts) if plane.askew else frozenset[str]()
    kinds: dict[Any, list[int]] = {}
    for k, element in enumerate(parts.constraints):
        bodies = tuple(None if i < 0 else parts.bodies[i].kind for i in element.bodies)
        kinds.setdefault((element.law.key, bodies, element.name in joints), []).append(k)
    blocks: dict[int, _Block] = {}
    for (_, bodies, in_plane), members in kinds.items():
        elements, W = [parts.constraints[k] for k in members], plane.W if in_plane else np.eye(3)
        A = _rows_of(elements, q, p, parts, W)
        size = np.sqrt(sum((a**2).sum(axis=2) for a in A))
        along, across = np.zeros(size.shape), [np.zeros((*size.shape, 3)) for _ in bodies]
        axes = W.T @ plane.W  # those of the plane as the elements see it
        for place, (kind, a) in enumerate(zip(bodies, A, strict=True)):
            if kind is None or kind is SCALAR:
                along += np.abs(a).sum(axis=2)
                continue
            C = np.array([plane.own_axes[e.bodies[place]] for e in elements])
            turn = np.einsum("krj,kij->kri", a[:, :, 3:], C)
            along += np.abs(a[:, :, :3] @ axes[:, :2]).sum(axis=2) + np.abs(turn[:, :, 2])
            across[place][:, :, 0] = a[:, :, :3] @ axes[:, 2]
            across[place][:, :, 1:] = turn[:, :, :2]
        # What no motion changes at rest, neither in the plane nor across it, is nonlinear in v.
        blind = (along <= ACROSS * size) & (size > 0.0)
        for j, (k, element) in enumerate(zip(members, elements, strict=True)):
            blocks[k] = element.bodies, blind[j], [x[j] for x in across]
    return [blocks[k] for k in range(len(parts.constraints))]


def _rows_of(
    elements: Sequence[Element], q: FloatArray, p: FloatArray, parts: Parts, W: FloatArray
) -> list[FloatArray]:
    """A of elements of one kind, by the velocities of each of its bodies, (elements, rows, nv).

    At rest, in the axes W of the world.
    """
    (starts, _), first, count = parts.places, elements[0], len(elements)
    configs, velocities = [], []
    for place in range(len(first.bodies)):
        bodies = [e.bodies[place] for e in elements]
        kind = parts.kind_of(bodies[0])
        nq = kind.nq if bodies[0] >= 0 else 0
        here = np.array([q[starts[i] : starts[i] + nq] for i in bodies]).reshape(count, nq)
        configs.append(_config(here, W).T)
        velocities.append(np.zeros((kind.nv, count)))
    numbers = []
    for name in first.law.shapes:
        own = np.array([p[slice(*parts.slots[f"{e.name}.{name}"])] for e in elements])
        if on_ground(first, name):
            own = np.swapaxes(np.swapaxes(own.reshape(count, 3, -1), 1, 2) @ W, 1, 2)
        numbers.append(own.reshape(count, -1).T)
    user = np.tile(p[: sum(x.size for x in parts.parameters.values()), None], (1, count))
    traced = parts.traced[first.law.key]
    function = traced.function if count == 1 else traced.function.map(count)
    own = np.concatenate([np.zeros((0, count)), *numbers])
    _, _, _, *found = function.call([*configs, *velocities, np.zeros((1, count)), own, user])
    blocks = [np.array(a.full()).reshape(traced.rows, count, -1) for a in found]
    return [np.swapaxes(a, 0, 1) for a in blocks]


def _config(q: FloatArray, W: FloatArray) -> FloatArray:
    """Configurations of bodies with coordinates (bodies, nq), in the axes W of the world."""
    if q.shape[1] != 7:
        return q
    return np.column_stack([q[:, :3] @ W, (W.T @ rotation_matrix(q[:, 3:])).reshape(-1, 9)])


def _spatial(parts: Parts) -> list[int]:
    return [i for i, body in enumerate(parts.bodies) if body.kind is not SCALAR]


def _mapped(x: FloatArray, matrices: FloatArray) -> FloatArray:
    """Σᵢ xᵢ Mᵢⱼ of vectors (…, bodies, m) and matrices (bodies, m, k).

    Term by term, so that a state is entered by the same bits alone and among many.
    """
    result = x[..., 0, None] * matrices[:, 0]
    for i in range(1, x.shape[-1]):
        result = result + x[..., i, None] * matrices[:, i]
    return result


def _places(parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Where q and v of each body in space are, (bodies, 7) and (bodies, 6)."""
    q, v = (np.array(starts)[_spatial(parts)] for starts in parts.places)
    return q[:, None] + np.arange(7), v[:, None] + np.arange(6)


def _own_axes(W: FloatArray, m: FloatArray) -> FloatArray:
    """Rows of C for a body that has the normal along m, in its axes: those of W if it can be."""
    if np.abs(W[:, 2] - m).max() <= ACROSS:
        return W.T
    m = _rounded(m)
    first = int(np.argmin(np.abs(m)))
    return _rounded(axes_along(m, np.eye(3)[first])).T


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """The product of two quaternions."""
    return np.concatenate(
        [[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]
    )


def _rounded(x: FloatArray) -> FloatArray:
    """With zeros and ones exact, as structure needs them."""
    x = np.where(np.abs(x) <= 10.0 * NEGLIGIBLE, 0.0, x)
    return np.where(np.abs(np.abs(x) - 1.0) <= 10.0 * NEGLIGIBLE, np.sign(x), x)
