"""The model in independent variables: minimal equations, and which constraints are left.

With v̇ = Dᵀ u̇ + a_u (`lift`) the projection of the dynamics on the partial velocities is

    M_d u̇ = D (h − M a_u),      M_d = D M Dᵀ                       Blajer (4.10), (5.6); Kane, Maggi

Constraints that the map satisfies for all values drop out, with

    A Dᵀ = 0      and      A a_u = b                               (4.7), (4.8)

and the others stay, written in the new variables. All this is checked on sample states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, NotApplicableError, UnknownNameError
from zwang.reduction.identities import CheckStates, Identities
from zwang.reduction.lift import Lift
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import TracedConstraint, depends_on, jacobian, rows
from zwang.tracing.opaque import recording
from zwang.tracing.outputs import arguments_of
from zwang.tracing.symbol import expression, symbols_of
from zwang.tracing.trace import call, vector
from zwang.tracing.traced_model import Definition, ReactionExpression, TracedModel

if TYPE_CHECKING:
    import casadi

__all__ = ["Reduction", "reduce_model"]


@dataclass(frozen=True)
class Reduction:
    """A model in independent variables.

    Attributes
    ----------
    lift : the map to all variables.
    model : the reduced model.
    eliminated : eliminated rows of the model, by name.
    invariants : position constraints among them that were met at velocity level only: they hold
        along a motion that starts on them.
    linear : whether v is linear in u.
    """

    lift: Lift
    model: TracedModel
    eliminated: tuple[str, ...]
    invariants: tuple[str, ...]
    linear: bool


def reduce_model(
    lift: Lift,
    coordinates: Sequence[str],
    velocities: Sequence[str],
    keep: Sequence[str],
    samples: CheckStates,
) -> Reduction:
    """Project the model; see the head of this module.

    Raises
    ------
    InputError : the map violates a constraint it should satisfy, or its variables are not
        independent, or too few.
    """
    model = lift.model
    for name in keep:
        if name not in model.groups:
            raise UnknownNameError("constraint to keep", name, model.groups)
    found = Identities(lift, samples)
    gone = found.satisfied(keep)
    found.require_independent(velocities, gone)

    kept_rows: dict[str, list[int]] = {}
    for name, numbers in model.rows_of_blocks.items():
        left = [k for k, row in enumerate(numbers) if not gone[row]]
        if left:
            kept_rows[name] = left
    reduced = _project(lift, coordinates, velocities, kept_rows)
    names = np.array(model.row_names, dtype=object)
    levels = [b.level for b in model.blocks.values() for _ in range(b.A.shape[0])]
    at_position = np.array([level == "position" for level in levels], dtype=bool)
    invariants = names[gone & at_position] if not lift.coordinates else ()
    s = lift.state
    return Reduction(
        lift,
        reduced,
        tuple(names[gone]),
        tuple(invariants),
        not depends_on(lift.partial_velocities, s.v, s),
    )


# --- the projected model --------------------------------------------------------------------------


def _project(
    lift: Lift,
    coordinates: Sequence[str],
    velocities: Sequence[str],
    kept_rows: Mapping[str, list[int]],
) -> TracedModel:
    import casadi as ca

    model, s = lift.model, lift.state
    blocks = {name: _kept_block(name, lift, numbers) for name, numbers in kept_rows.items()}
    multipliers = ca.SX.sym("lambda", sum(block.A.shape[0] for block in blocks.values()))
    laws, removed = _nonideal(lift, kept_rows, multipliers)
    M, Q, T = lift(model.M, model.Q, model.T)
    V = None if model.V is None else lift(model.V)[0]
    Dt = lift.partial_velocities
    # (4.10), (5.6): M_d u̇ = D (h − M a_u)
    M_d = ca.mtimes([Dt.T, M, Dt])
    Q_d = ca.mtimes(Dt.T, Q + removed - ca.mtimes(M, lift.bias))
    N = jacobian(s.q_dot, s.v, s)
    n0 = s.q_dot - ca.mtimes(N, s.v)
    if not depends_on(N, s.v, s):
        (n0,) = ca.substitute([s.q_dot], [s.v], [ca.SX.zeros(s.v.shape)])
    plain = lift.coordinates and ca.is_equal(s.q_dot, s.v, 2)
    C = sum(laws.values(), ca.SX.zeros(s.v.shape))
    definition = Definition(
        coordinates=tuple(coordinates),
        velocities=tuple(velocities),
        parameters=model.definition.parameters,
        mass=_function(M_d, lift, matrix=True),
        force=_moving(Q_d, lift),
        potential=None if V is None else _function(V, lift),
        constraints={name: _constraint(block, lift) for name, block in blocks.items()},
        nonideal={
            name: _law(law, multipliers[_numbers(blocks, name)], lift) for name, law in laws.items()
        },
        kinematics=None if plain else (_function(N, lift, matrix=True), _function(n0, lift)),
        geometry=model.definition.geometry,
        copied=model.definition.copied,
    )
    owners = {name: model.owner(name) for name in blocks}
    return TracedModel(definition, s, N, n0, M_d, Q_d, T, V, blocks, multipliers, C, owners=owners)


def _numbers(blocks: Mapping[str, TracedConstraint], name: str) -> list[int]:
    """Row numbers of a constraint among all that are left."""
    start = 0
    for other, block in blocks.items():
        if other == name:
            break
        start += block.A.shape[0]
    return list(range(start, start + blocks[name].A.shape[0]))


def _kept_block(name: str, lift: Lift, numbers: list[int]) -> TracedConstraint:
    import casadi as ca

    block, s = lift.model.blocks[name], lift.state
    if block.level == "acceleration":
        A, b = lift(block.A[numbers, :], block.b[numbers])
        Dt = lift.partial_velocities
        return TracedConstraint(
            "acceleration", None, None, ca.mtimes(A, Dt), b - ca.mtimes(A, lift.bias)
        )
    given = block.value if block.level == "position" else block.rate
    assert given is not None
    (e,) = lift(given[numbers])
    on = s.q if block.level == "position" else s.v
    if not all(depends_on(e[i], on, s) for i in range(e.numel())):
        raise InputError(
            f"constraint {name!r}",
            must="be satisfied by the map, or restrict the independent variables",
            but="the map makes it a constant other than zero",
        )
    return rows(block.level, e, s)


def _nonideal(
    lift: Lift, kept_rows: Mapping[str, list[int]], multipliers: casadi.SX
) -> tuple[dict[str, casadi.SX], casadi.SX]:
    """D C of each remaining constraint, and C of the eliminated ones."""
    import casadi as ca

    model, s = lift.model, lift.state
    own = arguments_of(model)
    moving = {"q": symbols_of(lift.q), "v": symbols_of(lift.v), "t": own["t"], "p": own["p"]}
    laws: dict[str, casadi.SX] = {}
    removed = ca.SX.zeros(model.Q.shape)
    start = 0
    for name, block in model.blocks.items():
        left = kept_rows.get(name, [])
        law = model.definition.nonideal.get(name)
        if law is not None:
            unknown = ca.SX.sym("lambda", block.A.shape[0])
            for k, row in enumerate(left):
                unknown[row] = multipliers[start + k]
            (A,) = lift(block.A)
            reaction = symbols_of(ca.mtimes(A.T, unknown)).view(ReactionExpression)
            reaction.multipliers = symbols_of(unknown)
            what = f"non-ideal law of {name!r}"
            with recording(s.calls):
                C = vector(what, call(what, law, {**moving, "reaction": reaction}), A.shape[1])
            gone = [row for row in range(block.A.shape[0]) if row not in left]
            if gone and depends_on(C, unknown[gone], s):
                raise NotApplicableError(
                    what,
                    must="depend on the state, or on reactions that remain",
                    but="depends on a reaction which the map removes",
                    advice="Solve the system with all its coordinates.",
                )
            if left:
                laws[name] = ca.mtimes(lift.partial_velocities.T, C)
            else:
                removed = removed + C
        start += len(left)
    if not model.definition.nonideal:
        removed = removed + _of_elements(lift)
    return laws, removed


def _of_elements(lift: Lift) -> casadi.SX:
    """C of a model that has no laws by name: a mechanism's elements have given it."""
    model = lift.model
    if model.reaction_dependent:
        raise NotApplicableError(
            "friction of a mechanism",
            must="depend on the state alone where reactions are eliminated",
            but="depends on reactions which the map removes",
            advice="Simulate the mechanism with all its coordinates.",
        )
    (C,) = lift(model.C)
    return C


# --- a definition that can be traced again --------------------------------------------------------


def _function(e: casadi.SX, lift: Lift, *, matrix: bool = False) -> Callable[..., Any]:
    """The expression as a function of (q, t, p), as a user would have written it."""

    def function(q: Any, t: Any, p: Any) -> Any:
        return _shaped(_put(e, lift, q, None, t, p), matrix=matrix)

    return function


def _moving(e: casadi.SX, lift: Lift, *, matrix: bool = False) -> Callable[..., Any]:
    """The same as a function of (q, v, t, p)."""

    def function(q: Any, v: Any, t: Any, p: Any) -> Any:
        return _shaped(_put(e, lift, q, v, t, p), matrix=matrix)

    return function


def _shaped(e: casadi.SX, *, matrix: bool) -> np.ndarray:
    """Symbols in the shape a user's function returns."""
    entries = symbols_of(e.reshape((e.numel(), 1)))
    return entries.reshape(e.shape, order="F") if matrix else entries


def _law(e: casadi.SX, own: casadi.SX, lift: Lift) -> Callable[..., Any]:
    def function(q: Any, v: Any, t: Any, p: Any, reaction: Any) -> casadi.SX:
        import casadi as ca

        given = ca.vertcat(*(expression(x) for x in reaction.multipliers))
        return _put(ca.substitute(e, own, given), lift, q, v, t, p)

    return function


def _constraint(block: TracedConstraint, lift: Lift) -> Constraint:
    if block.level == "acceleration":
        return Constraint(
            "acceleration", (_moving(block.A, lift, matrix=True), _moving(block.b, lift))
        )
    if block.level == "position":
        assert block.value is not None
        return Constraint("position", (_function(block.value, lift),))
    assert block.rate is not None
    return Constraint("velocity", (_moving(block.rate, lift),))


def _put(e: casadi.SX, lift: Lift, q: Any, v: Any, t: Any, p: Any) -> casadi.SX:
    import casadi as ca

    s = lift.state
    if s.calls:
        raise NotApplicableError(
            "reduced system",
            must="have functions that can be traced",
            but="some are called numerically",
        )
    if v is None and depends_on(e, s.v, s):
        raise NotApplicableError(
            "reduced system",
            must="have a mass matrix and kinematics of the coordinates alone",
            but="the velocities are not linear in the independent ones",
            advice="Use its model as it is.",
        )
    values = [x for name in lift.model.definition.parameters for x in np.ravel(p[name])]
    old, new = [s.q, s.t, s.p], [_column(q), expression(t), _column(values)]
    if v is not None:
        old, new = [*old, s.v], [*new, _column(v)]
    return ca.substitute([e], old, new)[0]


def _column(values: Any) -> casadi.SX:
    import casadi as ca

    return ca.vertcat(ca.SX(0, 1), *(expression(x) for x in values))
