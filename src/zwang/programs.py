"""From a system to its compiled program, and which constraints and masses that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.engine.fused import Expressions
from zwang.engine.program import Program, fuse
from zwang.errors import InputError
from zwang.formulations.rank import equilibrate, mass_spectrum
from zwang.integrators.settings import Drift, Settings
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["program_of"]


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
    """The compiled program of a system, kept with it; parameters are inputs, not part of it.

    Whether the mass matrix is `singular` is found at the state y, unless it is known.
    """
    if system.model.opaque:
        raise InputError(
            "simulation",
            found=f"functions called numerically: {', '.join(system.model.opaque)}",
            expected="functions that can be traced and compiled",
            advice="Write them with NumPy on the arguments in place of zw.opaque.",
        )
    rate = settings.baumgarte if settings.drift is Drift.BAUMGARTE else 0.0
    if singular is None:
        singular = _singular_mass(system, y, t, p)
    key = (lanes, rate, singular)
    programs = system.__dict__.setdefault("_programs", {})
    if key not in programs:
        expressions = _expressions(system, singular=singular)
        programs[key] = fuse(expressions, lanes=lanes, stabilisation=rate)
    return programs[key]


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
