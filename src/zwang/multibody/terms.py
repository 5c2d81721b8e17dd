"""Multibody equations: from bodies, joints and forces to canonical terms, element by element.

    M = diag(m I, J′),   Q = (m g, −ω′ × J′ω′) + forces,   q̇ = N v,   A v̇ = b

in the velocities ṙ and ω′ of Formulation III (Nikravesh 11.28 ff.). Each element is traced and
differentiated once for its kind; here its function is placed on the bodies it acts on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from zwang.multibody.element import Element, TracedLaw
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR, BodyKind, config_of, kinematics
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import Symbols, TracedConstraint
from zwang.tracing.traced_model import Definition, Pressures, TracedModel

if TYPE_CHECKING:
    import casadi

__all__ = [
    "MechanismSymbols",
    "body_slots",
    "body_terms",
    "definition_of",
    "model_of",
    "unit_groups",
]


@dataclass(frozen=True)
class MechanismSymbols:
    """The state of a mechanism as symbols, and what its elements are functions of."""

    parts: Parts
    q: casadi.SX
    v: casadi.SX
    t: casadi.SX
    p: casadi.SX

    @classmethod
    def of(cls, parts: Parts) -> MechanismSymbols:
        """Fresh symbols for a mechanism."""
        import casadi as ca

        count = parts.defaults.size
        return cls(
            parts,
            ca.SX.sym("q", len(parts.coordinates)),
            ca.SX.sym("v", len(parts.velocities)),
            ca.SX.sym("t"),
            ca.SX.sym("p", count),
        )

    @cached_property
    def slots(self) -> dict[str, tuple[int, int]]:
        """Parameter name → its place in p."""
        return self.parts.slots

    @cached_property
    def configs(self) -> list[casadi.SX]:
        """Configuration of each body."""
        starts, _ = self.parts.places
        return [
            config_of(b.kind, self.q[starts[i] : starts[i] + b.kind.nq])
            for i, b in enumerate(self.parts.bodies)
        ]

    def state(self) -> Symbols:
        """The state alone, without terms, with q̇ = N v body by body."""
        import casadi as ca

        (q, v), rates = self.parts.places, [ca.SX(0, 1)]
        for i, body in enumerate(self.parts.bodies):
            N = kinematics(body.kind, self.q[q[i] : q[i + 1]])
            rates.append(ca.mtimes(N, self.v[v[i] : v[i + 1]]))
        return Symbols(self.q, self.v, self.t, self.p, ca.vertcat(*rates))

    def parameter(self, name: str) -> casadi.SX:
        """Symbols of a parameter, flat."""
        start, end = self.slots[name]
        return self.p[start:end]

    def body_numbers(self, name: str) -> casadi.SX:
        """Symbols of a body's mass and inertia, flat."""
        start, end = body_slots(self.slots, name)
        return self.p[start:end]

    def numbers(self, element: Element) -> casadi.SX:
        """Symbols of an element's numbers, flat."""
        import casadi as ca

        parts = [self.parameter(f"{element.name}.{n}") for n in element.law.shapes]
        return ca.vertcat(*parts) if parts else ca.SX(0, 1)

    def columns(self, element: Element) -> list[casadi.SX]:
        """Arguments of an element's traced function at its bodies."""
        import casadi as ca

        nothing = ca.SX(0, 1)
        _, starts = self.parts.places
        configs = [nothing if i < 0 else self.configs[i] for i in element.bodies]
        velocities = [
            nothing if i < 0 else self.v[starts[i] : starts[i + 1]] for i in element.bodies
        ]
        user = sum(x.size for x in self.parts.parameters.values())
        return [*configs, *velocities, self.t, self.numbers(element), self.p[:user]]


def body_slots(slots: Mapping[str, tuple[int, int]], name: str) -> tuple[int, int]:
    """Where the mass and, right after it, the inertia of a body are in p."""
    start, end = slots[f"{name}.mass"]
    return start, slots.get(f"{name}.inertia", (start, end))[1]


def model_of(parts: Parts, symbols: MechanismSymbols | None = None) -> TracedModel:
    """The terms of a mechanism as expressions of its state, of these symbols if they are given."""
    import casadi as ca

    s = MechanismSymbols.of(parts) if symbols is None else symbols
    traced = parts.traced
    q_starts, v_starts = parts.places
    nq, nv = len(parts.coordinates), len(parts.velocities)
    N, M, Q, V = ca.SX(nq, nv), ca.SX(nv, nv), ca.SX.zeros(nv, 1), ca.SX(0)
    gravity = s.parameter("gravity")
    for i, body in enumerate(parts.bodies):
        rows, columns = slice(q_starts[i], q_starts[i + 1]), slice(v_starts[i], v_starts[i + 1])
        N[rows, columns] = kinematics(body.kind, s.q[rows])
        numbers = s.body_numbers(body.name)
        block, force, potential = body_terms(
            body.kind, s.configs[i], s.v[columns], numbers, gravity
        )
        M[columns, columns] = block
        Q[columns] += force
        V = V + potential
    for element in parts.forces:
        potential, *forces = traced[element.law.key].function.call(s.columns(element))
        V = V + potential
        for i, force in zip(element.bodies, forces, strict=True):
            if i >= 0:
                Q[v_starts[i] : v_starts[i + 1]] += force
    blocks = {e.name: _rows(s, e, traced[e.law.key]) for e in parts.constraints}
    multipliers = ca.SX.sym("lambda", sum(block.A.shape[0] for block in blocks.values()))
    state = Symbols(s.q, s.v, s.t, s.p, ca.mtimes(N, s.v))
    T = 0.5 * ca.mtimes([s.v.T, M, s.v])
    C, pressures = _friction(parts, s, multipliers)
    return TracedModel(
        definition_of(parts),
        state,
        N,
        ca.SX.zeros(nq, 1),
        M,
        Q,
        T,
        V,
        blocks,
        multipliers,
        C,
        unit=unit_groups(parts),
        pressures=pressures,
        owners=parts.owners,
    )


def body_terms(
    kind: BodyKind, config: casadi.SX, v: casadi.SX, numbers: casadi.SX, gravity: casadi.SX
) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    """Mass block, weight with gyroscopic moment, and potential of one body.

    Parameters
    ----------
    numbers : mass, then its inertia: one moment in a plane, three or nine entries in space.
    """
    import casadi as ca

    mass, inertia = numbers[0], numbers[1:]
    if kind is SCALAR:
        return mass, ca.SX(0), ca.SX(0)
    if kind.plane is not None:
        a, b, _ = kind.plane
        g = ca.vertcat(gravity[a], gravity[b])
        block = ca.diagcat(mass, mass, inertia)
        return block, ca.vertcat(mass * g, 0), -mass * ca.dot(g, config[:2])
    J = ca.diag(inertia)
    if inertia.numel() == 9:
        # The tensor is symmetric: its upper half serves both.
        J = ca.SX(3, 3)
        for row in range(3):
            for column in range(3):
                J[row, column] = inertia[3 * min(row, column) + max(row, column)]
    spin = ca.cross(v[3:], ca.mtimes(J, v[3:]))
    block = ca.diagcat(mass * ca.SX.eye(3), J)
    return block, ca.vertcat(mass * gravity, -spin), -mass * ca.dot(gravity, config[:3])


def _rows(s: MechanismSymbols, element: Element, traced: TracedLaw) -> TracedConstraint:
    """An element's equations with its blocks of A placed at the velocities of its bodies."""
    import casadi as ca

    phi, psi, b, *blocks = traced.function.call(s.columns(element))
    _, starts = s.parts.places
    A = ca.SX(traced.rows, s.v.numel())
    for i, block in zip(element.bodies, blocks, strict=True):
        if i >= 0:
            A[:, starts[i] : starts[i + 1]] += block
    value = phi if traced.level == "position" else None
    return TracedConstraint(traced.level, value, psi, A, b)


def unit_groups(parts: Parts) -> tuple[tuple[int, ...], ...]:
    """Coordinates of unit length together."""
    starts, _ = parts.places
    return tuple(
        tuple(starts[i] + k for k in body.kind.unit)
        for i, body in enumerate(parts.bodies)
        if body.kind.unit
    )


def _friction(
    parts: Parts, s: MechanismSymbols, multipliers: casadi.SX
) -> tuple[casadi.SX, Pressures | None]:
    """C: forces of friction, which depend on the reactions of the joints they act in."""
    import casadi as ca

    C = ca.SX.zeros(s.v.numel(), 1)
    if not parts.frictions:
        return C, None
    from zwang.multibody.forces.friction import friction_force

    return friction_force(parts, s, multipliers, C)


def definition_of(parts: Parts) -> Definition:
    """Names and parameters; the functions of a mechanism are its elements."""
    return Definition(
        coordinates=parts.coordinates,
        velocities=parts.velocities,
        parameters=parts.all_parameters,
        mass=None,
        force=None,
        constraints={
            parts.owner(e.name): Constraint(parts.traced[e.law.key].level, (_by_elements,))
            for e in parts.constraints
        },
        kinematics=(_by_elements, None),
        outputs=parts.outputs,
        geometry=parts.geometry,
        copied=parts.copied,
    )


def _by_elements() -> None:
    message = "a mechanism is not traced from functions"
    raise AssertionError(message)
