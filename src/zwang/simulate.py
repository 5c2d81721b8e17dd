"""Simulation: the one place where model, engine, integrator and result meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.engine.fused import Expressions
from zwang.engine.program import Program, fuse
from zwang.errors import InputError, UnknownNameError
from zwang.formulations.rank import equilibrate, mass_spectrum
from zwang.integrators import explicit as ex
from zwang.integrators.loop import Loop
from zwang.integrators.settings import Drift, Settings
from zwang.run.run import Counts, RankChange, Run
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["program_of", "simulate", "states_between"]

#: A start may miss its constraints by this much, relative; it is then put on them and the run says
#: so. What is further off is a mistake of the user's.
START_TOLERANCE = 1e-6


def simulate(
    system: System,
    q: Any,
    v: Any = None,
    *,
    until: float,
    start: float = 0.0,
    tolerance: float = 1e-9,
    integrator: str = "order8",
    drift: str = "projection",
    baumgarte: float = 20.0,
    step: float = 0.0,
    largest_step: float = float("inf"),
    save: Any = None,
    scales: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Run:
    """Integrate a system; `zwang.System.simulate` documents the arguments."""
    if hasattr(q, "t"):
        start = float(q.t)
    settings = Settings(
        until=float(until),
        tolerance=tolerance,
        integrator=integrator,
        drift=Drift(drift),
        baumgarte=baumgarte,
        step=step,
        largest_step=largest_step,
    )
    if not settings.until >= start:
        raise InputError(
            "until", found=repr(until), expected=f"a time not before the start, {start:g}"
        )
    q, v, _, p = system._arguments(q, v, start, parameters)  # noqa: SLF001 - joining module
    notes: list[str] = []
    y = _consistent_start(system, q, v, start, parameters, notes)
    program = program_of(system, y, start, p, settings)
    times = _save_times(save, start, settings.until)
    loop = Loop(
        program,
        settings,
        start,
        y[:, None],
        p[:, None],
        times=times,
        scales=_scales(system, scales),
    )
    loop.project()
    return _collect(system, loop, start, parameters, notes, every_step=times is None)


def _collect(
    system: System,
    loop: Loop,
    start: float,
    parameters: Mapping[str, Any] | None,
    notes: list[str],
    *,
    every_step: bool,
) -> Run:
    """Run the loop to its end, or as far as it goes."""
    nq = loop.program.nq
    t, y = [np.array([start])], [loop.state[:, 0][None].copy()]
    if not every_step and (len(loop.times) == 0 or loop.times[0] > start):
        t, y = [], []
    ranks: list[RankChange] = []
    status, finished = "", False
    while True:
        try:
            chunk = loop.advance()
        except KeyboardInterrupt:
            status = f"stopped by the user at t = {loop.t[0]:.6g} s"
            break
        t.append(chunk.t[0])
        y.append(chunk.y[0])
        ranks += [RankChange(a, b) for a, b in chunk.ranks[0]]
        if chunk.code in (ex.FULL, ex.BUDGET):
            continue
        finished = chunk.code == ex.DONE
        status = _status(loop, chunk.code)
        break
    c = loop.counts[:, 0]
    counts = Counts(
        int(c[ex.ACCEPTS]), int(c[ex.REJECTS]), int(c[ex.EVALUATIONS]), int(c[ex.PROJECTIONS])
    )
    states = np.concatenate(y)
    return Run(
        system,
        np.concatenate(t),
        states[:, :nq],
        states[:, nq:],
        status,
        finished,
        loop.settings,
        {**system.parameters, **(parameters or {})},
        counts,
        states_between,
        tuple(ranks),
        tuple(notes),
    )


def _status(loop: Loop, code: int) -> str:
    c, t = loop.counts[:, 0], loop.t[0]
    done = f"{c[ex.ACCEPTS]} steps, {c[ex.REJECTS]} rejected, {c[ex.EVALUATIONS]} evaluations"
    if code == ex.DONE:
        return f"reached t = {t:.6g} s: {done}"
    if code == ex.NOT_FINITE:
        return (
            f"stopped at t = {t:.6g} s: the acceleration is not finite beyond it, a division by "
            f"zero or an overflow in the model ({done})"
        )
    return (
        f"stopped at t = {t:.6g} s: no step is small enough for tolerance "
        f"{loop.settings.tolerance:g}; the motion may be singular there, or stiff ({done})"
    )


def program_of(
    system: System, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int = 1
) -> Program:
    """The compiled program of a system, kept with it; parameters are inputs, not part of it."""
    rate = settings.baumgarte if settings.drift is Drift.BAUMGARTE else 0.0
    singular = _singular_mass(system, y, t, p)
    key = (lanes, rate, singular)
    programs = system.__dict__.setdefault("_programs", {})
    if key not in programs:
        programs[key] = fuse(
            _expressions(system, singular=singular), lanes=lanes, stabilisation=rate
        )
    return programs[key]


def _singular_mass(system: System, y: FloatArray, t: float, p: FloatArray) -> bool:
    nq = len(system.coordinates)
    terms = system._ideal_terms(y[:nq], y[nq:], np.asarray(t), p)  # noqa: SLF001 - joining module
    M = terms.mass_matrix
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
        singular_mass=singular,
        multipliers=model.multipliers if law is not None else None,
        law=law,
    )


def _consistent_start(
    system: System,
    q: FloatArray,
    v: FloatArray,
    t: float,
    parameters: Mapping[str, Any] | None,
    notes: list[str],
) -> FloatArray:
    """The start, refused by name when it violates a constraint."""
    residuals = system.residuals(q, v, t, parameters=parameters)
    kinds = (
        ("position", residuals.position, residuals.position_names, q),
        ("velocity", residuals.velocity, residuals.velocity_names, v),
    )
    for level, values, names, size in kinds:
        limit = START_TOLERANCE * max(1.0, float(np.linalg.norm(size)))
        for value, name in zip(values, names, strict=True):
            if abs(value) > limit:
                raise InputError(
                    f"start, constraint {name!r} at the level of {level}",
                    found=f"a violation of {value:.3g}",
                    expected="a start that satisfies all constraints",
                    advice="system.assemble(prefer=…) finds one near by.",
                )
            if abs(value) > 1e-9:
                note = f"the start missed {name!r} by {value:.1e} at the level of {level}"
                notes.append(f"{note} and was put on it")
    return np.concatenate([q, v])


def _save_times(save: Any, start: float, until: float) -> FloatArray | None:
    """Times to save at: None for every step, a number of seconds between, or the times."""
    if save is None or (isinstance(save, str) and save == "steps"):
        return None
    if isinstance(save, str):
        raise InputError("save", found=repr(save), expected="'steps', an interval or times")
    times = np.asarray(save, dtype=float)
    if times.ndim == 0:
        if not times > 0.0:
            raise InputError("save", found=repr(save), expected="a positive interval in seconds")
        count = int(np.floor((until - start) / float(times) * (1.0 + 1e-12)))
        times = start + float(times) * np.arange(count + 1)
    if times.ndim != 1 or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise InputError("save", found="times that do not increase", expected="increasing times")
    if times.size and (times[0] < start or times[-1] > until * (1.0 + 1e-12) + 1e-300):
        raise InputError(
            "save",
            found=f"times from {times[0]:g} to {times[-1]:g}",
            expected=f"times from {start:g} to {until:g}",
        )
    return np.minimum(times, until)


def _scales(system: System, scales: Mapping[str, float] | None) -> FloatArray:
    names = system.coordinates + system.velocities
    result = np.ones(len(names))
    for name, value in (scales or {}).items():
        if name not in names:
            raise UnknownNameError("scale", name, names)
        if not value > 0.0:
            raise InputError(f"scale of {name!r}", found=repr(value), expected="a positive number")
        result[names.index(name)] = value
    return result


def states_between(run: Run, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States of a run at any times within it, integrated from the saved state before each."""
    system = run.system
    p = system.parameter_vector(run.parameters)
    q, v = np.empty((len(times), run.q.shape[1])), np.empty((len(times), run.v.shape[1]))
    index = np.clip(np.searchsorted(run.t, times, side="right") - 1, 0, len(run.t) - 1)
    for start in np.unique(index):
        wanted = np.flatnonzero(index == start)
        order = wanted[np.argsort(times[wanted])]
        exact = times[order] == run.t[start]
        q[order[exact]], v[order[exact]] = run.q[start], run.v[start]
        order = order[~exact]
        if not order.size:
            continue
        unique, back = np.unique(times[order], return_inverse=True)
        y = np.concatenate([run.q[start], run.v[start]])
        settings = replace(run.settings, until=float(unique[-1]))
        program = program_of(system, y, float(run.t[start]), p, settings)
        loop = Loop(
            program,
            settings,
            float(run.t[start]),
            y[:, None],
            p[:, None],
            times=unique,
            scales=np.ones(len(y)),
        )
        states = []
        while not loop.finished:
            chunk = loop.advance()
            states.append(chunk.y[0])
            if chunk.code not in (ex.FULL, ex.BUDGET, ex.DONE):
                raise InputError(
                    "state between saved times",
                    found=_status(loop, chunk.code),
                    expected="a motion",
                )
        found = np.concatenate(states)[back]
        q[order], v[order] = found[:, : q.shape[1]], found[:, q.shape[1] :]
    return q, v
