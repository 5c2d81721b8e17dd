"""From equations to the expressions that a program is made of, with the rows that act."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zwang.programs.factor import ProgramExpressions, least_norm

if TYPE_CHECKING:
    from zwang.equations.active_rows import ActiveRows
    from zwang.equations.contract import Equations
    from zwang.tracing.traced_model import TracedModel

__all__ = ["expressions_of", "with_positive_mass"]


def expressions_of(system: Equations, rows: ActiveRows, *, singular: bool) -> ProgramExpressions:
    """What the program of a system computes from, and which of its rows act."""
    import casadi as ca

    model, state = system.model, system.model.state
    nv = state.v.numel()
    blocks = list(model.blocks.values())
    levels = [b.level for b in blocks for _ in range(b.A.shape[0])]

    def column(parts: list[Any]) -> Any:
        return ca.vertcat(*parts) if parts else ca.SX(0, 1)

    def or_zero(part: Any, count: int) -> Any:
        return ca.SX.zeros(count, 1) if part is None else part

    def acting(*at: str) -> list[int]:
        """Rows that act, of some levels."""
        return [i for i, level in enumerate(levels) if i not in rows.inactive and level in at]

    A, b = model.A, model.b
    value = column([or_zero(b.value, b.A.shape[0]) for b in blocks])
    rate = column([or_zero(b.rate, b.A.shape[0]) for b in blocks])
    half = [0.5 if level == "velocity" else 1.0 for level in levels]
    every = acting("position", "velocity", "acceleration")
    placed, moving = acting("position"), acting("position", "velocity")
    law = model.C if model.reaction_dependent else None
    e = ProgramExpressions(
        q=state.q,
        v=state.v,
        t=state.t,
        p=state.p,
        N=model.N,
        q_dot=state.q_dot,
        M=model.M,
        force=model.Q if law is not None else model.Q + model.C,
        A=_rows(A, every, nv),
        b=_rows(b, every, 1),
        phi=_rows(value, placed, 1),
        A_position=_rows(A, placed, nv),
        psi=_rows(rate, moving, 1),
        A_rate=_rows(A, moving, nv),
        value_of_row=_rows(value, every, 1),
        rate_of_row=_rows(rate * ca.DM(half), every, 1),
        levels=tuple(levels[i] for i in every),
        checked=(model.position_values, model.rates),
        unit=model.unit,
        independent=system.rows_independent,
        distinct=rows.distinct,
        singular_mass=singular,
        of_body=tuple(a for a, b in pairwise(system.body_starts) for _ in range(a, b)),
    )
    return e if law is None else _with_law(e, model, rows, every)


def _with_law(
    e: ProgramExpressions, model: TracedModel, rows: ActiveRows, every: list[int]
) -> ProgramExpressions:
    """The same with a law that depends on reactions, given the multipliers of `every` active row.

    The law is given the multipliers of least norm, as in `zwang.tracing.nonideal`.
    """
    import casadi as ca

    lam, pressures, law = model.multipliers, model.pressures, model.C
    if not rows.inactive:
        return replace(e, multipliers=lam, law=law, pressures=pressures)
    acting_ones = ca.SX.sym("lambda", len(every))
    X, shared = least_norm(e, model.A[list(rows.inactive), :])
    of_inactive = ca.mtimes(shared, acting_ones)
    whole = ca.SX.zeros(lam.numel(), 1)
    whole[list(rows.inactive)] = of_inactive
    whole[every] = acting_ones - ca.mtimes(X.T, of_inactive)
    if pressures is not None:
        n, values, force = pressures
        pressures = n, ca.substitute(values, lam, whole), force
    law = ca.substitute(law, lam, whole)
    return replace(e, multipliers=acting_ones, law=law, pressures=pressures)


def with_positive_mass(e: ProgramExpressions) -> ProgramExpressions:
    """Forces that are no numbers where an entry on the diagonal of M that varies is not positive.

    Integrators end before such a place. Where masses depend on parameters alone nothing is added;
    they are looked at once, where a simulation begins; those of bodies are positive.
    """
    import casadi as ca

    symbols = ca.veccat(e.q, e.v, e.t)
    varying = [x for x in ca.vertsplit(ca.densify(ca.diag(e.M))) if ca.depends_on(x, symbols)]
    if not varying or e.acceleration is not None:
        return e
    least = ca.mmin(ca.vertcat(*varying))
    wrong = least < 0.0 if e.singular_mass else ca.logic_not(least > 0.0)
    return replace(e, force=e.force + ca.if_else(wrong, ca.SX(float("nan")), 0.0))


def _rows(matrix: Any, numbers: list[int], columns: int) -> Any:
    import casadi as ca

    return matrix[numbers, :] if numbers else ca.SX(0, columns)
