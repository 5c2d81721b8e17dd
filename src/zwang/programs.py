"""From a system to its compiled program, and which constraints and masses that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.engine.fused import Expressions
from zwang.engine.program import Program, fuse
from zwang.formulations.rank import equilibrate, mass_spectrum
from zwang.integrators.settings import Drift, Settings
from zwang.reference import reference_program
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["in_python", "program_of"]


def program_of(
    system: System,
    y: FloatArray,
    t: float,
    p: FloatArray,
    settings: Settings,
    lanes: int = 1,
    *,
    singular: bool | None = None,
) -> Program:
    """The program of a system, kept with it; parameters are inputs, not part of it.

    Whether the mass matrix is `singular` is found at the state y, unless it is known.
    """
    rate = settings.baumgarte if settings.drift is Drift.BAUMGARTE else 0.0
    if singular is None:
        singular = _singular_mass(system, y, t, p)
    programs = system.__dict__.setdefault("_programs", {})
    if not in_python(system, settings):
        key: Any = (lanes, rate, singular)
        if key not in programs:
            expressions = _expressions(system, singular=singular)
            programs[key] = fuse(expressions, lanes=lanes, stabilisation=rate)
        return programs[key]
    redundant = _redundant_rows(system, y, t, p)
    key = (settings.formulation, rate, singular, redundant)
    if key not in programs:
        programs[key] = reference_program(
            system,
            _expressions(system, singular=singular),
            settings.formulation,
            redundant=redundant and settings.drift is Drift.PROJECTION,
            rate=rate,
        )
    return programs[key]


def in_python(system: System, settings: Settings) -> str:
    """Why the equations of a system are evaluated in Python, a note; empty if they are compiled."""
    slower = "the equations of motion were evaluated in Python, which is slower"
    if settings.formulation != "auto":
        return f"accelerations are those of {settings.formulation!r}: {slower}"
    if system.model.opaque:
        return f"{', '.join(system.model.opaque)} cannot be traced: {slower}"
    return ""


#: Rows that are this near to dependence, relative, count as redundant: a start may be off its
#: constraints by as much, and redundant rows are dependent on them alone.
NEARLY_DEPENDENT = 1e-5


def _redundant_rows(system: System, y: FloatArray, t: float, p: FloatArray) -> bool:
    nq = len(system.coordinates)
    (A,) = system.evaluator("rows", lambda m: {"A": m.A}, y[:nq], y[nq:], np.asarray(t), p)
    A = A.reshape(-1, len(y) - nq)
    length = np.linalg.norm(A, axis=1, keepdims=True)
    A = np.divide(A, length, out=np.zeros_like(A), where=length > 0.0)
    return bool(np.linalg.matrix_rank(A, tol=NEARLY_DEPENDENT) < len(A)) if A.size else False


def _singular_mass(system: System, y: FloatArray, t: float, p: FloatArray) -> bool:
    nq = len(system.coordinates)
    (M,) = system.evaluator("mass", lambda m: {"M": m.M}, y[:nq], y[nq:], np.asarray(t), p)
    M = M.reshape(len(y) - nq, len(y) - nq)
    d, _ = equilibrate(M, np.zeros((0, M.shape[-1])))
    return bool(mass_spectrum(M * d * d[:, None]).rank < M.shape[-1])


def _expressions(system: System, *, singular: bool) -> Expressions:
    import casadi as ca

    model, state = system.model, system.model.state
    nv = state.v.numel()

    def stack(parts: list[Any], columns: int) -> Any:
        return ca.vertcat(*parts) if parts else ca.SX(0, columns)

    def or_zero(part: Any, count: int) -> Any:
        return ca.SX.zeros(count, 1) if part is None else part

    blocks = list(model.blocks.values())
    law = model.C if model.reaction_dependent else None
    return Expressions(
        q=state.q,
        v=state.v,
        t=state.t,
        p=state.p,
        N=model.N,
        q_dot=state.q_dot,
        M=model.M,
        force=model.Q if law is not None else model.Q + model.C,
        A=model.A,
        b=model.b,
        phi=model.position_values,
        A_position=stack([b.A for b in blocks if b.value is not None], nv),
        psi=model.rates,
        A_rate=stack([b.A for b in blocks if b.rate is not None], nv),
        value_of_row=stack([or_zero(b.value, b.A.shape[0]) for b in blocks], 1),
        rate_of_row=stack(
            [
                or_zero(b.rate, b.A.shape[0]) * (1.0 if b.level == "position" else 0.5)
                for b in blocks
            ],
            1,
        ),
        levels=tuple(b.level for b in blocks for _ in range(b.A.shape[0])),
        singular_mass=singular,
        multipliers=model.multipliers if law is not None else None,
        law=law,
    )
