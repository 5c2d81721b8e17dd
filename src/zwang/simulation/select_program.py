"""From a system to its compiled program, and which constraints and masses that takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.equations.active_rows import ActiveRows, redundant_rows, redundant_rows_of_many
from zwang.integrators.settings import Drift, Settings
from zwang.programs.contract import Program
from zwang.programs.factor import ProgramExpressions, least_norm
from zwang.programs.whole import fuse
from zwang.simulation.reference import reference_program
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.expression import Equations

__all__ = ["EnsembleStarts", "acting_of_many", "expressions_of", "in_python", "program_of"]


class EnsembleStarts(NamedTuple):
    """Starts of an ensemble that ask for their programs together.

    Attributes
    ----------
    Y, P : states (N, n) and parameters (N, np).
    t : time of all.
    settings, lanes : as for one.
    terms : gives M (N, nv, nv) and A (N, m, nv) there, where they are needed.
    """

    Y: FloatArray
    t: float
    P: FloatArray
    settings: Settings
    lanes: int
    terms: Callable[[], tuple[FloatArray, FloatArray]]


def program_of(
    system: Equations,
    y: FloatArray,
    t: float,
    p: FloatArray,
    settings: Settings,
    lanes: int = 1,
    *,
    singular: bool | None = None,
    acting: ActiveRows | None = None,
) -> Program:
    """The program of a system, kept with it; parameters are inputs, not part of it.

    Whether the mass matrix is `singular` and which rows are `acting` is found at the state y,
    unless it is known.
    """
    own = system.own_program(y, t, p, settings, lanes)
    if own is not None:
        return own
    rate = settings.baumgarte if settings.drift is Drift.BAUMGARTE else 0.0
    if singular is None:
        nq = len(system.coordinates)
        singular = system.mass_is_singular(y[:nq], y[nq:], np.asarray(t), p)
    programs = system.__dict__.setdefault("_programs", {})
    if not in_python(system, settings):
        rows = _acting(system, y, t, p, settings) if acting is None else acting
        key: Any = (lanes, rate, singular, rows)
        if key not in programs:
            e = _with_positive_mass(expressions_of(system, rows, singular=singular))
            programs[key] = fuse(e, lanes=lanes, stabilisation=rate, left_out=rows.gone)
        return programs[key]
    redundant = _redundant_rows(system, y, t, p)
    key = (settings.formulation, rate, singular, redundant)
    if key not in programs:
        programs[key] = reference_program(
            system,
            expressions_of(system, ActiveRows(), singular=singular),
            settings.formulation,
            redundant=redundant and settings.drift is Drift.PROJECTION,
            rate=rate,
        )
    return programs[key]


def in_python(system: Equations, settings: Settings) -> str:
    """Why the equations of a system are evaluated in Python, a note; empty if they are compiled."""
    slower = "the equations of motion were evaluated in Python, which is slower"
    if settings.formulation != "auto":
        return f"accelerations are those of {settings.formulation!r}: {slower}"
    if system.opaque:
        return f"{', '.join(system.opaque)} cannot be traced: {slower}"
    return ""


#: Rows that are this near to dependence, relative, count as redundant: a start may be off its
#: constraints by as much, and redundant rows are dependent on them alone.
NEARLY_DEPENDENT = 1e-5


def _redundant_rows(system: Equations, y: FloatArray, t: float, p: FloatArray) -> bool:
    nq = len(system.coordinates)
    (A,) = system.evaluator("rows", lambda m: {"A": m.A}, y[:nq], y[nq:], np.asarray(t), p)
    A = A.reshape(-1, len(y) - nq)
    length = np.linalg.norm(A, axis=1, keepdims=True)
    A = np.divide(A, length, out=np.zeros_like(A), where=length > 0.0)
    return bool(np.linalg.matrix_rank(A, tol=NEARLY_DEPENDENT) < len(A)) if A.size else False


def _acting(
    system: Equations, y: FloatArray, t: float, p: FloatArray, settings: Settings
) -> ActiveRows:
    """Which constraint rows act in the program."""
    if not _may_be_redundant(system, settings):
        return ActiveRows()
    return redundant_rows(system, y, t, p, settings.until - t)


def acting_of_many(system: Equations, many: EnsembleStarts) -> list[ActiveRows]:
    """Rows that act at each of many starts."""
    Y, t, P, settings, _, terms = many
    if not _may_be_redundant(system, settings) or not len(Y):
        return [ActiveRows()] * len(Y)
    return redundant_rows_of_many(system, Y, t, P, settings.until - t, *terms())


def _may_be_redundant(system: Equations, settings: Settings) -> bool:
    """Whether rows may be left out; methods of fixed steps solve for the multipliers of laws."""
    by_multipliers = system.reaction_dependent and settings.method.fixed_step
    return not (system.rows_independent or by_multipliers)


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
        return [i for i, level in enumerate(levels) if i not in rows.gone and level in at]

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
    )
    if law is None:
        return e
    lam, pressures = model.multipliers, model.pressures
    if not rows.gone:
        return replace(e, multipliers=lam, law=law, pressures=pressures)
    # The law is given the multipliers of least norm, as in `zwang.tracing.nonideal`.
    acting_ones = ca.SX.sym("lambda", len(every))
    X, shared = least_norm(e, A[list(rows.gone), :])
    of_gone = ca.mtimes(shared, acting_ones)
    whole = ca.SX.zeros(lam.numel(), 1)
    whole[list(rows.gone)] = of_gone
    whole[every] = acting_ones - ca.mtimes(X.T, of_gone)
    if pressures is not None:
        n, values, force = pressures
        pressures = n, ca.substitute(values, lam, whole), force
    law = ca.substitute(law, lam, whole)
    return replace(e, multipliers=acting_ones, law=law, pressures=pressures)


def _with_positive_mass(e: ProgramExpressions) -> ProgramExpressions:
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
