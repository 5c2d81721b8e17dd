"""The traced model of a system of functions: one expression for each canonical term.

`Definition` is the data a user gave; `trace` calls every function and returns a `TracedModel`,
from which kernels are compiled, closed forms written and reduced systems built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from zwang.errors import InputError, counted
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import (
    Symbols,
    TracedConstraint,
    depends_on,
    gradient,
    jacobian,
    lagrange,
    rows,
    stabilised,
)
from zwang.tracing.opaque import OpaqueCall, recording
from zwang.tracing.potential_check import require_stated
from zwang.tracing.symbol import Symbol, SymbolArray, expression, symbols_of
from zwang.tracing.symmetric_mass import require_symmetric_mass
from zwang.tracing.trace import call, matrix, parameter_symbols, vector
from zwang.tracing.vanishing_rows import without_vanishing_rows

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.own_output import OwnOutput

__all__ = [
    "DecisiveParameters",
    "Definition",
    "Lagrangian",
    "Pressures",
    "ReactionExpression",
    "TracedModel",
    "trace",
]

Function = Callable[..., Any]


@dataclass(frozen=True)
class Lagrangian:
    """Energies of a system given by them: T(q, v, t, p), V(q, t, p), R(q, v, t, p)."""

    kinetic: Function
    potential: Function | None = None
    dissipation: Function | None = None


class DecisiveParameters(Protocol):
    """Parameters that others follow from."""

    @property
    def names(self) -> tuple[str, ...]:
        """Those that decide."""
        ...

    @property
    def derived(self) -> frozenset[str]:
        """Those that follow."""
        ...

    def expanded(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Values with those that follow from them."""
        ...


@dataclass(frozen=True)
class Definition:
    """What the user gave, checked for names and kinds but not yet traced.

    Attributes
    ----------
    coordinates, velocities : names; velocities are those of the coordinates unless `kinematics`.
    parameters : name → default value, a number or an array.
    mass, force, potential : functions, or None.
    lagrangian : energies in place of a mass function.
    acceleration_energy : S(q, v, a, t, p) in place of a mass function.
    constraints : name → constraint.
    nonideal : name of a constraint → C(q, v, t, p) or C(q, v, t, p, reaction).
    kinematics : (N(q, t, p), n₀(q, t, p)) or None.
    program : names of the constraints that are not physical but programmed.
    outputs : name → output of the user's.
    geometry : parameters that others follow from, as points of joints from a length.
    copied : parameters that are copies of others; nobody gives them.
    """

    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    parameters: Mapping[str, np.ndarray]
    mass: Function | None
    force: Function | None
    potential: Function | None = None
    lagrangian: Lagrangian | None = None
    acceleration_energy: Function | None = None
    constraints: Mapping[str, Constraint] = field(default_factory=dict)
    nonideal: Mapping[str, Function] = field(default_factory=dict)
    kinematics: tuple[Function, Function | None] | None = None
    program: tuple[str, ...] = ()
    outputs: Mapping[str, OwnOutput] = field(default_factory=dict)
    geometry: DecisiveParameters | None = field(default=None, compare=False, repr=False)
    copied: Mapping[str, str] = field(default_factory=dict)


class ReactionExpression(SymbolArray):
    """The force of one constraint as a non-ideal law sees it.

    An array of the generalized force A_gᵀ λ_g, shape (nv,), with the multipliers λ_g of the
    constraint's own rows as attribute `multipliers`.
    """

    multipliers: SymbolArray

    def __array_finalize__(self, obj: Any) -> None:
        """A copy has the multipliers too."""
        if isinstance(obj, ReactionExpression) and hasattr(obj, "multipliers"):
            self.multipliers = obj.multipliers


class Pressures(NamedTuple):
    """A law of reactions by the few numbers that it sees of them, such as what presses in a joint.

    Attributes
    ----------
    symbols : n, shape (k, 1).
    values : n as a function of the state and of λ.
    force : C, linear in n.
    """

    symbols: casadi.SX
    values: casadi.SX
    force: casadi.SX


@dataclass(frozen=True)
class TracedModel:
    """All terms as CasADi expressions of the state's symbols.

    Attributes
    ----------
    state : symbols q, v, t, p and the kinematics q̇ = N v + n₀.
    N, n0 : the kinematics, shapes (nq, nv) and (nq, 1).
    M, Q : mass matrix and applied force.
    T, V : kinetic energy, and potential energy or None.
    blocks : name → traced constraint, in the order of the rows of A.
    multipliers : symbols λ, shape (m, 1), that C may depend on.
    C : non-ideal force, shape (nv, 1).
    unit : groups of coordinates of unit length together, such as Euler parameters, kept by N.
    pressures : the few numbers through which C depends on λ, if they are known.
    owners : block → the constraint whose rows it holds, where that has another name: a joint with
        equations of positions and of velocities has a block of each, one after the other.
    """

    definition: Definition
    state: Symbols
    N: casadi.SX
    n0: casadi.SX
    M: casadi.SX
    Q: casadi.SX
    T: casadi.SX
    V: casadi.SX | None
    blocks: Mapping[str, TracedConstraint]
    multipliers: casadi.SX
    C: casadi.SX
    unit: tuple[tuple[int, ...], ...] = ()
    pressures: Pressures | None = None
    owners: Mapping[str, str] = field(default_factory=dict)

    @property
    def A(self) -> casadi.SX:
        """Constraint matrix, shape (m, nv)."""
        return _stack([block.A for block in self.blocks.values()], len(self.definition.velocities))

    @property
    def b(self) -> casadi.SX:
        """Constraint right side, shape (m, 1)."""
        return _stack([block.b for block in self.blocks.values()], 1)

    @property
    def position_values(self) -> casadi.SX:
        """φ of all position constraints, stacked."""
        return _stack([b.value for b in self.blocks.values() if b.value is not None], 1)

    @property
    def rates(self) -> casadi.SX:
        """φ̇ and ψ of all position and velocity constraints, stacked."""
        return _stack([b.rate for b in self.blocks.values() if b.rate is not None], 1)

    @property
    def rows_of_blocks(self) -> dict[str, list[int]]:
        """Block → its row numbers in A, which are all of one level."""
        result: dict[str, list[int]] = {}
        start = 0
        for name, block in self.blocks.items():
            result[name] = list(range(start, start + block.A.shape[0]))
            start += block.A.shape[0]
        return result

    @property
    def groups(self) -> dict[str, list[int]]:
        """Constraint name → its row numbers in A, of one level or several."""
        result: dict[str, list[int]] = {}
        for name, numbers in self.rows_of_blocks.items():
            result.setdefault(self.owner(name), []).extend(numbers)
        return result

    def owner(self, block: str) -> str:
        """The constraint whose rows a block holds."""
        return self.owners.get(block, block)

    @property
    def levels(self) -> dict[str, str]:
        """Constraint name → position, velocity or acceleration, or several of these."""
        result: dict[str, str] = {}
        for name, block in self.blocks.items():
            owner = self.owner(name)
            result[owner] = f"{result[owner]} and {block.level}" if owner in result else block.level
        return result

    @property
    def row_names(self) -> tuple[str, ...]:
        """``rod`` for a single row, ``pin[0]``, ``pin[1]`` for several."""
        names: list[str] = []
        for name, numbers in self.groups.items():
            names += [name] if len(numbers) == 1 else [f"{name}[{k}]" for k in range(len(numbers))]
        return tuple(names)

    @cached_property
    def ideal(self) -> bool:
        """Whether C vanishes whatever the state."""
        return bool(self.C.is_zero())

    @cached_property
    def reaction_dependent(self) -> bool:
        """Whether C depends on the reactions."""
        return bool(self.multipliers.numel()) and depends_on(self.C, self.multipliers, self.state)

    @property
    def opaque(self) -> tuple[str, ...]:
        """Names of the functions that are called numerically."""
        return tuple(dict.fromkeys(call.name for call in self.state.calls))

    def function(self, name: str, outputs: Mapping[str, casadi.SX]) -> casadi.Function:
        """A CasADi function of (q, v, t, p) with dense outputs.

        Opaque calls have no expression: their kernels are made by `Evaluator.kernel`.
        """
        import casadi as ca

        s = self.state
        expressions = [ca.densify(e) for e in outputs.values()]
        for hidden in s.calls:
            if ca.depends_on(ca.veccat(*expressions), ca.veccat(hidden.values, hidden.jacobian)):
                raise InputError(
                    f"opaque function {hidden.name!r}",
                    must="be traceable where a closed form is needed",
                    but=f"is used in {name}",
                )
        return ca.Function(
            name, [s.q, s.v, s.t, s.p], expressions, ["q", "v", "t", "p"], list(outputs)
        )


def trace(definition: Definition) -> TracedModel:
    """Call every function of the definition once, with symbols."""
    calls: list[OpaqueCall] = []
    with recording(calls):
        return _traced(definition, calls)


def _traced(definition: Definition, calls: list[OpaqueCall]) -> TracedModel:
    import casadi as ca

    nq, nv = len(definition.coordinates), len(definition.velocities)
    q, v = ca.SX.sym("q", nq), ca.SX.sym("v", nv)
    t = ca.SX.sym("t")
    p, parameters = parameter_symbols(definition.parameters)
    arguments = {"q": symbols_of(q), "t": Symbol(t), "p": parameters}
    moving = {"q": arguments["q"], "v": symbols_of(v), "t": arguments["t"], "p": parameters}

    N, n0 = _kinematics(definition, arguments)
    s = Symbols(q, v, t, p, ca.mtimes(N, v) + n0, calls)
    V = None
    if definition.potential is not None:
        V = vector("potential", call("potential", definition.potential, arguments), None)
        V = _scalar("potential", V)
    M, Q, T, V = _dynamics(definition, s, N, V, arguments, moving)
    blocks = {
        name: _block(name, constraint, s, nv, moving)
        for name, constraint in definition.constraints.items()
    }
    if definition.kinematics is not None:
        defaults = [x.ravel() for x in definition.parameters.values()]
        blocks = without_vanishing_rows(blocks, s, N, np.concatenate([np.zeros(0), *defaults]))
    multipliers = ca.SX.sym("lambda", sum(block.A.shape[0] for block in blocks.values()))
    C = _nonideal(definition, blocks, multipliers, moving)
    return TracedModel(definition, s, N, n0, M, Q, T, V, blocks, multipliers, C)


def _kinematics(
    definition: Definition, arguments: Mapping[str, Any]
) -> tuple[casadi.SX, casadi.SX]:
    import casadi as ca

    nq, nv = len(definition.coordinates), len(definition.velocities)
    if definition.kinematics is None:
        return ca.SX.eye(nq), ca.SX.zeros(nq, 1)
    N_function, n0_function = definition.kinematics
    N = matrix("kinematics N", call("kinematics N", N_function, arguments), (nq, nv))
    if n0_function is None:
        return N, ca.SX.zeros(nq, 1)
    n0 = vector("kinematics n0", call("kinematics n0", n0_function, arguments))
    if n0.numel() != nq:
        raise InputError("kinematics n0", must=f"have {nq} values", but=f"has {n0.numel()}")
    return N, n0


def _dynamics(
    definition: Definition,
    s: Symbols,
    N: casadi.SX,
    V: casadi.SX | None,
    arguments: Mapping[str, Any],
    moving: Mapping[str, Any],
) -> tuple[casadi.SX, casadi.SX, casadi.SX, casadi.SX | None]:
    import casadi as ca

    nv = len(definition.velocities)
    force = ca.SX.zeros(nv, 1)
    if definition.force is not None:
        force = vector("force", call("force", definition.force, moving), nv)
    if definition.acceleration_energy is not None:
        M, inertial = _gibbs_appell(definition.acceleration_energy, s, moving)
        if V is not None:
            force = force - ca.mtimes(N.T, gradient(V, s.q, s))
        return M, force - inertial, 0.5 * ca.mtimes([s.v.T, M, s.v]), V
    if definition.lagrangian is None:
        assert definition.mass is not None
        M = matrix("mass", call("mass", definition.mass, arguments), (nv, nv))
        require_symmetric_mass(definition, M, s)
        if V is not None:
            of_potential = -ca.mtimes(N.T, gradient(V, s.q, s))
            if definition.force is None:
                force = of_potential
            else:
                require_stated(definition, force, of_potential, s)
        T = 0.5 * ca.mtimes([s.v.T, M, s.v])
        return M, force, T, V
    given = definition.lagrangian
    T = _scalar("kinetic energy T", vector("T", call("kinetic energy T", given.kinetic, moving)))
    V, R = ca.SX(0), ca.SX(0)
    if given.potential is not None:
        V = _scalar("V", vector("V", call("potential energy V", given.potential, arguments)))
    if given.dissipation is not None:
        R = _scalar("dissipation", vector("R", call("dissipation", given.dissipation, moving)))
    M, Q = lagrange(T, V, R, force, s)
    return M, Q, T, V


def _gibbs_appell(
    function: Function, s: Symbols, moving: Mapping[str, Any]
) -> tuple[casadi.SX, casadi.SX]:
    """M and the rest of ∂S/∂a = M a + rest, for an acceleration energy S quadratic in a = v̇."""
    import casadi as ca

    a = ca.SX.sym("a", s.v.numel())
    what = "acceleration energy S"
    S = _scalar(what, vector(what, call(what, function, {**moving, "a": symbols_of(a)})))
    slope = gradient(S, a, s)
    M = jacobian(slope, a, s)
    if depends_on(M, a, s):
        raise InputError(what, must="be quadratic in a: ½ aᵀ M a + aᵀ s + …", but="is not")
    if depends_on(M, s.v, s):
        raise InputError(
            what, must="have a mass matrix ∂²S/∂a² of q, t and p", but="it depends on v"
        )
    return M, ca.substitute(slope, a, ca.SX.zeros(a.shape))


def _block(
    name: str, constraint: Constraint, s: Symbols, nv: int, moving: Mapping[str, Any]
) -> TracedConstraint:
    import casadi as ca

    what = f"constraint {name!r}"
    if constraint.level == "acceleration":
        A = matrix(f"{what}, A", call(f"{what}, A", constraint.functions[0], moving), (None, nv))
        b = vector(f"{what}, b", call(f"{what}, b", constraint.functions[1], moving))
        if b.numel() != A.shape[0]:
            raise InputError(
                f"{what}, b", must=f"have {counted(A.shape[0])}", but=f"has {b.numel()}"
            )
        return TracedConstraint("acceleration", None, None, A, b)
    function = constraint.functions[0]
    if constraint.level == "detect":
        a = ca.SX.sym("a", nv)
        e = vector(what, call(what, function, {**moving, "a": symbols_of(a)}))
        if depends_on(e, a, s):
            return _acceleration_rows(what, e, a)
        level = "velocity" if depends_on(e, s.v, s) else "position"
    else:
        level = constraint.level
        available = {k: x for k, x in moving.items() if level == "velocity" or k != "v"}
        e = vector(what, call(what, function, available))
    _require_quantities(what, e)
    _require_dependence(what, level, e, s)
    found = rows(level, e, s)
    if constraint.stabilize is None:
        return found
    return stabilised(found, *(expression(moving["p"][name]) for name in constraint.stabilize))


def _require_quantities(what: str, e: casadi.SX) -> None:
    """Refuse a condition in place of a quantity that is to be zero."""
    import casadi as ca

    compared = {ca.OP_EQ: "==", ca.OP_NE: "!=", ca.OP_LT: "<", ca.OP_LE: "<="}
    for x in ca.vertsplit(e):
        if x.is_leaf() or x.op() not in compared:
            continue
        sign = compared[x.op()]
        raise InputError(
            what,
            must="be a quantity that is to be zero",
            but=f"is a comparison with {sign}, which is true or false",
            advice="Write the difference of its sides: q[0] - 1 in place of q[0] == 1."
            if sign == "=="
            else "An inequality does not hold a motion; an event sees where it begins to hold.",
        )


def _acceleration_rows(what: str, e: casadi.SX, a: casadi.SX) -> TracedConstraint:
    import casadi as ca

    A = ca.jacobian(e, a)
    if not ca.depends_on(e, a):
        raise InputError(
            what,
            must="be an expression linear in the accelerations",
            but="calls an opaque function of them",
        )
    if ca.depends_on(A, a):
        raise InputError(what, must="be linear in the accelerations", but="is not")
    b = -ca.substitute(e, a, ca.SX.zeros(a.shape))
    return TracedConstraint("acceleration", None, None, A, b)


def _require_dependence(what: str, level: str, e: casadi.SX, s: Symbols) -> None:
    on, letter = (s.q, "q") if level == "position" else (s.v, "v")
    entries = [e[i] for i in range(e.numel())]
    if not entries:
        raise InputError(what, must="have at least one equation", but="has none")
    for k, entry in enumerate(entries):
        if not depends_on(entry, on, s):
            which = f", equation {k}" if len(entries) > 1 else ""
            hint = None
            if level == "velocity" and depends_on(entry, s.q, s):
                hint = "It restricts positions: state it with zw.position."
            raise InputError(
                f"{what}{which}",
                must=f"be a function of {letter}",
                but=f"is a {level} constraint that does not depend on {letter}",
                advice=hint,
            )


def _nonideal(
    definition: Definition,
    blocks: Mapping[str, TracedConstraint],
    multipliers: casadi.SX,
    moving: Mapping[str, Any],
) -> casadi.SX:
    import casadi as ca

    nv = len(definition.velocities)
    C = ca.SX.zeros(nv, 1)
    start = 0
    for name, block in blocks.items():
        count = block.A.shape[0]
        law = definition.nonideal.get(name)
        if law is not None:
            own = multipliers[start : start + count]
            reaction = symbols_of(ca.mtimes(block.A.T, own)).view(ReactionExpression)
            reaction.multipliers = symbols_of(own)
            what = f"non-ideal law of {name!r}"
            C = C + vector(what, call(what, law, {**moving, "reaction": reaction}), nv)
        start += count
    return C


def _scalar(what: str, e: casadi.SX) -> casadi.SX:
    if e.numel() != 1:
        raise InputError(what, must="be one number", but=f"has {counted(e.numel())}")
    return e


def _stack(parts: list[Any], columns: int) -> casadi.SX:
    import casadi as ca

    return ca.vertcat(*parts) if parts else ca.SX(0, columns)
