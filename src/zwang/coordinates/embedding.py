"""Coordinates to integrate a mechanism in that are fewer than those of its bodies.

Bodies held to a plane, or hung on each other by joints, move as functions of fewer numbers: with

    c = c(q̂),   v = B v̂,   v̇ = B v̂̇

for each body, its configuration c of `zwang.multibody.pose` and its velocities v, the equations in
q̂ and v̂ are (Blajer 1992, section 3, with B in the place of his D)

    M̂ = Σ BᵀM B,   Q̂ = Σ BᵀQ,   Â = A B,   b̂ = b.

Rows of A that B makes vanish hold whatever q̂ and v̂ are, and drop out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.casadi_operators import plus
from zwang.multibody.constants import Pattern, folded
from zwang.multibody.element import Element
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import BodyKind, kinematics
from zwang.multibody.terms import (
    MechanismSymbols,
    body_slots,
    body_terms,
    definition_of,
    unit_groups,
)
from zwang.terms import FloatArray
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import Symbols, TracedConstraint
from zwang.tracing.traced_model import Definition, TracedModel

if TYPE_CHECKING:
    import casadi

__all__ = [
    "Embedded",
    "Moving",
    "RotatedWorld",
    "as_it_is",
    "embedded",
    "has_massless_motion",
    "in_any_axes",
    "on_ground",
]

#: Eigenvalues of an inertia tensor with unit diagonal below this are zero.
REGULAR = 1e-12


@dataclass(frozen=True)
class Moving:
    """The motion of one body as expressions of q̂ and v̂.

    Attributes
    ----------
    config : c, see `zwang.multibody.pose.BodyKind`.
    v : its velocities.
    columns : which of v̂ they depend on, and no other body does.
    B : ∂v/∂v̂ of these, which is constant, shape (nv, len(columns)).
    """

    config: casadi.SX
    v: casadi.SX
    columns: Sequence[int]
    B: casadi.SX


@dataclass(frozen=True)
class RotatedWorld:
    """Bodies seen in other axes of the world.

    Attributes
    ----------
    W : these axes as columns.
    bodies : their motion, with r and R in these axes.
    """

    W: FloatArray
    bodies: Sequence[Moving]


def in_any_axes(parts: Parts) -> frozenset[str]:
    """Constraint elements that say the same in all axes of the world: those of joints."""
    joints = (joint for joint in parts.joints.values() if joint.kind is not None)
    return frozenset(name for joint in joints for name in joint.elements)


def on_ground(element: Element, number: str) -> bool:
    """Whether a number of a joint is a point or are axes on the ground, given in world axes."""
    what, _, side = number.rpartition("_")
    return what in ("at", "axes") and element.bodies["ab".index(side)] < 0


@dataclass(frozen=True)
class Embedded:
    """A mechanism in fewer coordinates.

    Attributes
    ----------
    model : its terms.
    rows : numbers, among the mechanism's, of the constraint rows that are left.
    """

    model: TracedModel
    rows: tuple[int, ...]


def embedded(
    parts: Parts,
    state: Symbols,
    p: casadi.SX,
    N: casadi.SX,
    bodies: Sequence[Moving],
    *,
    seen: RotatedWorld | None = None,
    coordinates: Sequence[str],
    velocities: Sequence[str],
    numbers: Mapping[str, np.ndarray],
    unit: tuple[tuple[int, ...], ...] = (),
    held: frozenset[int] = frozenset(),
) -> Embedded:
    """The terms of a mechanism whose bodies move as given.

    Parameters
    ----------
    state : symbols q̂, v̂, t, p̂, and q̂̇ = N v̂.
    p : the mechanism's parameters, with constants in the places of some, see `constants`.
    seen : the same bodies in other world axes, in which joints are evaluated.
    numbers : further parameters in p̂, name → value.
    unit : coordinates of unit length together.
    held : numbers of the constraint rows that hold whatever q̂ and v̂ are.
    """
    import casadi as ca

    nq, nv = state.q.numel(), state.v.numel()
    here = _PlanarSymbols(parts, state.t, p, bodies, seen)
    masses, given, V = [], [], ca.SX(0)
    start, end = parts.slots["gravity"]
    gravity = p[start:end]
    for body, moving in zip(parts.bodies, bodies, strict=True):
        first, last = body_slots(parts.slots, body.name)
        function = _of_body(body.kind, last - first, _pattern(moving.B))
        block, force, potential = function.call(
            [moving.config, moving.v, p[first:last], gravity, moving.B]
        )
        masses.append(block)
        given.append(force)
        V = plus(V, potential)
    for element in parts.forces:
        potential, *forces = here.call(element)
        V = V + potential
        for i, force in zip(element.bodies, forces, strict=True):
            if i >= 0:
                given[i] = given[i] + ca.mtimes(bodies[i].B.T, force)
    M, Q = ca.diagcat(*masses), ca.vertcat(*given)
    blocks, rows = _constraints(parts, here, nv, held)
    definition = _definition(parts, blocks, coordinates, velocities, numbers)
    multipliers = ca.SX.sym("lambda", len(rows))
    T = 0.5 * ca.mtimes([state.v.T, M, state.v])
    still, ideal = ca.SX.zeros(nq, 1), ca.SX.zeros(nv, 1)
    model = TracedModel(
        definition, state, N, still, M, ca.densify(Q), T, V, blocks, multipliers, ideal, unit
    )
    return Embedded(model, tuple(rows))


@cache
def _of_body(kind: BodyKind, numbers: int, pattern: tuple[int, ...]) -> casadi.Function:
    """(c, v, numbers, gravity, B) → BᵀM B, BᵀQ and V of a body; `pattern` says where B has entries.

    Called for all bodies of a kind: product by product it takes five times as long.
    """
    import casadi as ca

    config, v = ca.SX.sym("c", kind.config), ca.SX.sym("v", kind.nv)
    data, gravity = ca.SX.sym("numbers", numbers), ca.SX.sym("gravity", 3)
    B = ca.SX.sym("B", ca.Sparsity.compressed(pattern))
    M, force, V = body_terms(kind, config, v, data, gravity)
    found = [ca.mtimes([B.T, M, B]), ca.densify(ca.mtimes(B.T, force)), V]
    return ca.Function("of_body", [config, v, data, gravity, B], found)


def as_it_is(parts: Parts, pattern: Pattern) -> Embedded:
    """A mechanism in its own coordinates, with its numbers that are structure folded in."""
    import casadi as ca

    s = MechanismSymbols.of(parts)
    starts_q, starts_v = parts.places
    N, bodies = ca.SX(s.q.numel(), s.v.numel()), []
    for i, (body, config) in enumerate(zip(parts.bodies, s.configs, strict=True)):
        rows, columns = range(*starts_q[i : i + 2]), range(*starts_v[i : i + 2])
        N[list(rows), list(columns)] = kinematics(body.kind, s.q[list(rows)])
        bodies.append(Moving(config, s.v[list(columns)], columns, ca.SX.eye(body.kind.nv)))
    return embedded(
        parts,
        Symbols(s.q, s.v, s.t, s.p, ca.mtimes(N, s.v)),
        folded(s.p, pattern),
        N,
        bodies,
        coordinates=parts.coordinates,
        velocities=parts.velocities,
        numbers={},
        unit=unit_groups(parts),
    )


def has_massless_motion(parts: Parts, p: FloatArray, spins: FloatArray | None) -> bool:
    """Whether a body can move without inertia.

    Parameters
    ----------
    spins : the only axis that each body in space turns about, body axes; None if it is any.
    """
    spatial = 0
    for body in parts.bodies:
        first, last = body_slots(parts.slots, body.name)
        mass, inertia = p[first], p[first + 1 : last]
        J = np.diag(inertia) if inertia.size in (1, 3) else inertia.reshape(-1, 3)
        if inertia.size > 1 and spins is not None:
            J = (spins[spatial] @ J @ spins[spatial]).reshape(1, 1)
        spatial += inertia.size > 1
        if not mass > 0.0 or (J.size and _singular(J)):
            return True
    return False


def _singular(J: FloatArray) -> bool:
    size = np.diagonal(J)
    if not np.all(size > 0.0):
        return True
    if np.count_nonzero(J) == len(J):
        return False  # diagonal, as most are
    scale = 1.0 / np.sqrt(size)
    return bool(np.linalg.eigvalsh(J * scale * scale[:, None])[0] <= REGULAR)


@dataclass(frozen=True)
class _PlanarSymbols:
    """What elements are functions of, where bodies move as given."""

    parts: Parts
    t: casadi.SX
    p: casadi.SX
    bodies: Sequence[Moving]
    seen: RotatedWorld | None

    @cached_property
    def _joints(self) -> frozenset[str]:
        """Elements that are the same whatever the world's axes are."""
        return in_any_axes(self.parts)

    def moving(self, element: Element) -> Sequence[Moving]:
        """The bodies as an element sees them."""
        if self.seen is not None and element.name in self._joints:
            return self.seen.bodies
        return self.bodies

    def call(
        self,
        element: Element,
        function: casadi.Function | None = None,
        further: Sequence[casadi.SX] = (),
    ) -> list[casadi.SX]:
        """An element's traced function at its bodies, or one that takes further inputs."""
        import casadi as ca

        nothing, moving, slots = ca.SX(0, 1), self.moving(element), self.parts.slots
        configs = [nothing if i < 0 else moving[i].config for i in element.bodies]
        velocities = [nothing if i < 0 else moving[i].v for i in element.bodies]
        places = [slots[f"{element.name}.{n}"] for n in element.law.shapes]
        numbers = self.p[places[0][0] : places[-1][1]] if places else nothing  # one after the other
        if moving is not self.bodies:
            assert self.seen is not None
            W = ca.sparsify(ca.DM(self.seen.W))
            own = [self.p[slice(*place)] for place in places]
            own = [
                ca.vec(ca.mtimes(ca.reshape(x, -1, 3), W)) if on_ground(element, n) else x
                for x, n in zip(own, element.law.shapes, strict=True)
            ]
            numbers = ca.vertcat(*own) if own else nothing
        function = function or self.parts.traced[element.law.key].function
        return function.call([*configs, *velocities, self.t, numbers, self._user, *further])

    @cached_property
    def _user(self) -> casadi.SX:
        """The user's parameters, which all elements see."""
        return self.p[: sum(x.size for x in self.parts.parameters.values())]


def _constraints(
    parts: Parts, here: _PlanarSymbols, nv: int, held: frozenset[int]
) -> tuple[dict[str, TracedConstraint], list[int]]:
    """Blocks of the rows that are left, and their numbers in the mechanism."""
    import casadi as ca

    blocks: dict[str, TracedConstraint] = {}
    numbers: list[int] = []
    functions: dict[Any, casadi.Function] = {}
    for k, element in enumerate(parts.constraints):
        start = parts.row_starts[k]
        if held.issuperset(range(start, parts.row_starts[k + 1])):
            continue
        order = sorted({i for i in element.bodies if i >= 0})
        if not order:
            continue
        moving = here.moving(element)
        own = [moving[i].B for i in order]
        places = tuple(order.index(i) if i >= 0 else -1 for i in element.bodies)
        key = element.law.key, places, tuple(_pattern(B) for B in own)
        if key not in functions:
            functions[key] = _acting(parts.traced[element.law.key].function, *key[1:])
        phi, psi, b, A = here.call(element, functions[key], own)
        A = ca.sparsify(A)
        kept = [i for i in sorted(set(A.sparsity().row())) if start + i not in held]
        if not kept:
            continue
        A = _some(A, kept)
        columns = [column for i in order for column in moving[i].columns]
        A.enlarge(len(kept), nv, list(range(len(kept))), columns)
        level = parts.traced[element.law.key].level
        value = _some(phi, kept) if level == "position" else None
        rate, b = _some(psi, kept), _some(b, kept)
        blocks[element.name] = TracedConstraint(level, value, rate, A, b)
        numbers += [start + row for row in kept]
    return blocks, numbers


def _acting(
    function: casadi.Function, places: tuple[int, ...], patterns: tuple[tuple[int, ...], ...]
) -> casadi.Function:
    """φ, ψ, b and A B of an element, from what its own function takes and the B of its bodies.

    Parameters
    ----------
    places : which B is that of each body, −1 for the ground.
    patterns : where the B have entries.
    """
    import casadi as ca

    given = [ca.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    phi, psi, b, *blocks = function.call(given)
    B = [ca.SX.sym(f"B{k}", ca.Sparsity.compressed(x)) for k, x in enumerate(patterns)]
    own: dict[int, casadi.SX] = {}
    for k, block in zip(places, blocks, strict=True):
        if k >= 0:
            share = ca.mtimes(block, B[k])
            own[k] = own[k] + share if k in own else share
    A = ca.horzcat(*(own[k] for k in range(len(B))))
    found = [ca.densify(phi), ca.densify(psi), ca.densify(b), A]
    return ca.Function("acting", [*given, *B], found)


def _pattern(x: casadi.SX) -> tuple[int, ...]:
    """Where a matrix has entries, as CasADi counts them."""
    return tuple(x.sparsity().compress())


def _some(x: casadi.SX, rows: list[int]) -> casadi.SX:
    """Some rows; all of them as they are, which is quicker."""
    return x if len(rows) == x.size1() else x[rows, :]


def _definition(
    parts: Parts,
    blocks: Mapping[str, TracedConstraint],
    coordinates: Sequence[str],
    velocities: Sequence[str],
    numbers: Mapping[str, np.ndarray],
) -> Definition:
    whole = definition_of(parts)
    kept: dict[str, Constraint] = {n: c for n, c in whole.constraints.items() if n in blocks}
    return replace(
        whole,
        coordinates=tuple(coordinates),
        velocities=tuple(velocities),
        parameters={**whole.parameters, **numbers},
        constraints=kept,
    )
