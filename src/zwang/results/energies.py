"""Energies and powers at all states of a segment of a run, by one compiled call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import PassedOn, computed_once
from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.linalg.products import dot
from zwang.multibody.pose import BodyKind, config_of
from zwang.multibody.terms import body_slots, body_terms
from zwang.programs.at_states import SIDE_BY_SIDE, at_states
from zwang.programs.blocks.energies import energy_kernel
from zwang.results.forces import forces_of
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.equations.contract import Equations
    from zwang.system import System
    from zwang.tracing.traced_model import TracedModel

__all__ = [
    "acting_powers",
    "constraints_do_work",
    "energies",
    "only_potential_forces",
    "powers",
    "reference_powers",
]

States = tuple[FloatArray, FloatArray, FloatArray]


def energies(
    system: System, states: States, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray | None]:
    """T and V at states, each (n,); V is None where a system has no potential."""
    equations = system.equations
    p = equations.parameter_vector(parameters)
    if equations.of_bodies is not None:
        T, V, _ = at_states(EnergyKernels.of(equations).sums, *states, p)
        return T, V
    if equations.opaque:
        return system.energy(*states, parameters=parameters)
    found = at_states(EnergyKernels.of(equations).energy, *states, p)
    return found[0], found[1] if len(found) > 1 else None


def powers(system: System, states: States, parameters: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Powers whose sum is the rate of the kinetic energy, each (n,).

    They are those of the applied, constraint and non-ideal forces, and `inertia`: ½ vᵀ Ṁ v. Where
    no constraint moves, none of its forces does work, and it is not solved for.
    """
    v, none = states[1], np.zeros(len(states[1]))
    equations = system.equations
    p = equations.parameter_vector(parameters)
    if equations.opaque:
        return reference_powers(system, states, parameters)
    kernels = EnergyKernels.of(equations)
    if equations.of_bodies is not None:
        applied, inertia = at_states(kernels.sums, *states, p)[2], none  # masses are constant
        nonideal = none
        if equations.of_bodies.parts.frictions and not equations.reaction_dependent:
            unseen = np.zeros((len(v), len(equations.row_names)))  # by a law of the state alone
            nonideal = dot(_nonideal(equations, states, p, unseen), v)
    else:
        applied, inertia, nonideal = at_states(kernels.power, *states, p)
    constraint = none
    if constraints_do_work(system):
        forces = forces_of(equations, *states, parameters)
        if equations.reaction_dependent:
            nonideal = dot(_nonideal(equations, states, p, forces.multipliers), v)
        constraint = dot(forces.constraint_force, v) - nonideal
    return {
        "applied": applied,
        "constraint": constraint,
        "nonideal": nonideal,
        "inertia": inertia,
    }


def acting_powers(system: System) -> tuple[str, ...]:
    """Those of `powers` that are not zero for any state."""
    equations, parts = system.equations, system.mechanism
    if equations.opaque or parts is None:
        return ("applied", "constraint", "nonideal", "inertia")
    rubs = equations.reaction_dependent or bool(parts.frictions)
    constraint = ("constraint",) if constraints_do_work(system) else ()
    return ("applied", *constraint, *(("nonideal",) if rubs else ()))


def only_potential_forces(system: System) -> bool:
    """Whether all applied forces have a potential, as weight does: their work is its decrease."""
    parts = system.mechanism
    return parts is not None and not parts.forces


def constraints_do_work(system: System) -> bool:
    """Whether forces of constraints may do work: where some move, or joints rub."""
    equations, parts = system.equations, system.mechanism
    rubs = equations.reaction_dependent or (parts is not None and bool(parts.frictions))
    return rubs or EnergyKernels.of(equations).some_constraint_moves


def reference_powers(
    system: System, states: States, parameters: Mapping[str, Any]
) -> dict[str, FloatArray]:
    """The same from the full terms, solved for every constraint: what checks a run by.

    Where functions cannot be traced there is no other way.
    """
    equations = system.equations
    if equations.by_elements is not None:
        found = equations.by_elements.balance(*states, parameters)
        return {
            "applied": found.applied_power,
            "constraint": found.constraint_power,
            "nonideal": found.nonideal_power,
            "inertia": np.zeros(len(states[0])),  # masses of bodies are constant
        }
    s, v = system.solve(*states, parameters=parameters), states[1]
    arguments = equations.arguments(*states, parameters)
    (inertia,) = equations.evaluator("inertia_power", lambda m: {"power": _inertia(m)}, *arguments)
    return {
        "applied": dot(s.terms.applied_force, v),
        "constraint": dot(s.constraint_force - s.terms.nonideal_force, v),
        "nonideal": dot(s.terms.nonideal_force, v),
        "inertia": inertia[..., 0],
    }


def _nonideal(
    equations: Equations, states: States, p: FloatArray, multipliers: FloatArray
) -> FloatArray:
    """C of a law of the reaction, shape (n, nv)."""
    if equations.of_bodies is not None:
        return equations.of_bodies.bulk.friction(*states, p, multipliers)
    law, pairs = equations.evaluator.law, zip(*states, multipliers, strict=True)
    return np.array([law(q, v, np.asarray(t), p, lam)[0] for q, v, t, lam in pairs])


def _inertia(model: TracedModel) -> casadi.SX:
    """dT/dt at fixed v: ½ vᵀ Ṁ v."""
    from zwang.tracing.differentiate import rate

    return rate(model.T, model.state)


class EnergyKernels(PassedOn):
    """Compiled energies and powers of some equations, made when they are first asked for."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    @classmethod
    def of(cls, equations: Equations) -> EnergyKernels:
        """Those of some equations, kept with them."""
        return equations.cache.once(cls, lambda: cls(equations))

    @computed_once
    def energy(self) -> Kernel:
        """Of functions: (q, v, t, p) → T, V."""
        m = self.equations.model
        return self._compiled("energy", [m.T] if m.V is None else [m.T, m.V])

    @computed_once
    def power(self) -> Kernel:
        """Of functions: (q, v, t, p) → Q·v, ½ vᵀ Ṁ v and C·v."""
        import casadi as ca

        m = self.equations.model
        v = m.state.v
        C = ca.SX(0) if m.reaction_dependent else ca.dot(m.C, v)
        return self._compiled("power", [ca.dot(m.Q, v), _inertia(m), C])

    def _compiled(self, name: str, parts: list[casadi.SX]) -> Kernel:
        import casadi as ca

        s = self.equations.model.state
        function = ca.Function(name, [s.q, s.v, s.t, s.p], [ca.densify(ca.vertcat(*parts))])
        return compile_kernel(function, lanes=SIDE_BY_SIDE, shared=[3])

    @computed_once
    def sums(self) -> Kernel:
        """Of a mechanism: (q, v, t, p) → T, V and Q·v."""
        bodies = self.equations.of_bodies
        assert bodies is not None
        parts = bodies.parts
        places = [body_slots(parts.slots, body.name) for body in parts.bodies]
        pairs = zip(parts.bodies, places, strict=True)
        functions = [_of_body(body.kind, end - start) for body, (start, end) in pairs]
        return energy_kernel(bodies.block_layout, functions)

    @computed_once
    def some_constraint_moves(self) -> bool:
        """Whether the rate of some constraint is not A v, linear in v: its force may do work."""
        return any(_rate_moves(*rate) for rate in _rates(self.equations))


@cache
def _of_body(kind: BodyKind, numbers: int) -> casadi.Function:
    """(q, v, data, gravity) → T, V and the power of weight and gyroscopic moment of a body."""
    import casadi as ca

    q, v = ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)
    data, gravity = ca.SX.sym("data", numbers), ca.SX.sym("gravity", 3)
    M, force, V = body_terms(kind, config_of(kind, q), v, data, gravity)
    sums = ca.vertcat(0.5 * ca.mtimes([v.T, M, v]), V, ca.dot(force, v))
    return ca.Function("energy", [q, v, data, gravity], [ca.densify(sums)])


# --- constraints that move ------------------------------------------------------------------------


def _rates(equations: Equations) -> list[tuple[casadi.SX | None, casadi.SX]]:
    """ψ of each kind of constraint, None at the level of accelerations, and what v is in it."""
    import casadi as ca

    parts, found = equations.mechanism, []
    if parts is None:
        model = equations.model
        return [(block.rate, model.state.v) for block in model.blocks.values()]
    for key in {element.law.key: None for element in parts.constraints}:
        function = parts.traced[key].function
        inputs = [ca.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
        count = (function.n_in() - 3) // 2  # configurations, velocities, t, numbers, parameters
        velocities = [x for x in inputs[count : 2 * count] if x.numel()]
        found.append((function.call(inputs)[1], ca.vertcat(*velocities)))
    return found


def _rate_moves(psi: casadi.SX | None, v: casadi.SX) -> bool:
    import casadi as ca

    if psi is None:
        return True
    slope = ca.jacobian(psi, v)
    at_rest = ca.simplify(ca.substitute(psi, v, ca.SX.zeros(v.shape)))
    return bool(ca.depends_on(slope, v)) or not bool(at_rest.is_zero())
