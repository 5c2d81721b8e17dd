"""Energies and powers at all states of a stretch of a run, by one compiled call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.linalg.products import dot
from zwang.multibody.pose import BodyKind, config_of
from zwang.multibody.terms import body_slots, body_terms
from zwang.programs.at_states import SIDE_BY_SIDE, at_states
from zwang.programs.blocks.energies import energy_kernel
from zwang.results.forces import forces_of
from zwang.results.sparse_run import ByElements
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.frozen import Parts
    from zwang.system import System
    from zwang.tracing.traced_model import TracedModel

__all__ = ["energies", "powers", "reference_powers"]

States = tuple[FloatArray, FloatArray, FloatArray]


def energies(
    system: System, states: States, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray | None]:
    """T and V at states, each (n,); V is None where a system has no potential."""
    if hasattr(system, "block_layout"):
        T, V, _ = _sums(system, states, parameters)
        return T, V
    if system.opaque:
        return system.energy(*states, parameters=parameters)
    found = at_states(_kernel(system, "energy"), *states, system.parameter_vector(parameters))
    return found[0], found[1] if len(found) > 1 else None


def powers(system: System, states: States, parameters: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Powers whose sum is the rate of the kinetic energy, each (n,).

    They are those of the applied, constraint and non-ideal forces, and `inertia`: ½ vᵀ Ṁ v. Where
    no constraint moves, none of its forces does work, and it is not solved for.
    """
    v, none = states[1], np.zeros(len(states[1]))
    p = system.parameter_vector(parameters)
    if system.opaque:
        return reference_powers(system, states, parameters)
    if hasattr(system, "block_layout"):
        applied, inertia = _sums(system, states, parameters)[2], none  # masses are constant
        nonideal = none
    else:
        applied, inertia, nonideal = at_states(_kernel(system, "power"), *states, p)
    constraint = none
    if _moves(system) or system.reaction_dependent:
        forces = forces_of(system, *states, parameters)
        if system.reaction_dependent:
            nonideal = dot(_nonideal(system, states, p, forces.multipliers), v)
        constraint = dot(forces.constraint_force, v) - nonideal
    return {
        "applied": applied,
        "constraint": constraint,
        "nonideal": nonideal,
        "inertia": inertia,
    }


def reference_powers(
    system: System, states: States, parameters: Mapping[str, Any]
) -> dict[str, FloatArray]:
    """The same from the full terms, solved for every constraint: what checks a run by.

    Where functions cannot be traced there is no other way.
    """
    if isinstance(system, ByElements):
        found = system.balance(*states, parameters)
        return {
            "applied": found.applied_power,
            "constraint": found.constraint_power,
            "nonideal": found.nonideal_power,
            "inertia": np.zeros(len(states[0])),  # masses of bodies are constant
        }
    s, v = system.solve(*states, parameters=parameters), states[1]
    arguments = system.arguments(*states, parameters)
    (inertia,) = system.evaluator("inertia_power", lambda m: {"power": _inertia(m)}, *arguments)
    return {
        "applied": dot(s.terms.applied_force, v),
        "constraint": dot(s.constraint_force - s.terms.nonideal_force, v),
        "nonideal": dot(s.terms.nonideal_force, v),
        "inertia": inertia[..., 0],
    }


def _nonideal(system: Any, states: States, p: FloatArray, multipliers: FloatArray) -> FloatArray:
    """C of a law of the reaction, shape (n, nv)."""
    if hasattr(system, "block_layout"):
        return system.bulk.friction(*states, p, multipliers)
    pairs = zip(*states, multipliers, strict=True)
    return np.array(
        [system.evaluator.law(q, v, np.asarray(t), p, lam)[0] for q, v, t, lam in pairs]
    )


def _inertia(model: TracedModel) -> casadi.SX:
    """dT/dt at fixed v: ½ vᵀ Ṁ v."""
    from zwang.tracing.differentiate import rate

    return rate(model.T, model.state)


def _kept(system: Any, name: str) -> Any:
    return system.__dict__.setdefault("_energy_kernels", {}).get(name)


def _kernel(system: System, name: str) -> Kernel:
    """Of a system of functions: (q, v, t, p) → its energies, or its powers."""
    import casadi as ca

    kernel = _kept(system, name)
    if kernel is None:
        m, s = system.model, system.model.state
        if name == "energy":
            parts = [m.T] if m.V is None else [m.T, m.V]
        else:
            C = ca.SX(0) if m.reaction_dependent else ca.dot(m.C, s.v)
            parts = [ca.dot(m.Q, s.v), _inertia(m), C]
        output = ca.densify(ca.vertcat(*parts))
        function = ca.Function(name, [s.q, s.v, s.t, s.p], [output])
        kernel = compile_kernel(function, lanes=SIDE_BY_SIDE, shared=[3])
        system.__dict__["_energy_kernels"][name] = kernel
    return kernel


def _sums(system: Any, states: States, parameters: Mapping[str, Any]) -> FloatArray:
    """T, V and Q·v of a mechanism, shape (3, n)."""
    kernel = _kept(system, "sums")
    if kernel is None:
        parts: Parts = system.parts
        places = [body_slots(parts.slots, body.name) for body in parts.bodies]
        pairs = zip(parts.bodies, places, strict=True)
        functions = [_of_body(body.kind, end - start) for body, (start, end) in pairs]
        kernel = energy_kernel(system.block_layout, functions)
        system.__dict__["_energy_kernels"]["sums"] = kernel
    return at_states(kernel, *states, system.parameter_vector(parameters))


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


def _moves(system: Any) -> bool:
    """Whether forces of some constraint may do work: unless its rate is A v, linear in v."""
    known = _kept(system, "moves")
    if known is None:
        known = any(_rate_moves(*rate) for rate in _rates(system))
        system.__dict__["_energy_kernels"]["moves"] = known
    return known


def _rates(system: Any) -> list[tuple[casadi.SX | None, casadi.SX]]:
    """ψ of each kind of constraint, None at the level of accelerations, and what v is in it."""
    import casadi as ca

    if not hasattr(system, "block_layout"):
        model = system.model
        return [(block.rate, model.state.v) for block in model.blocks.values()]
    parts: Parts = system.parts
    found = []
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
