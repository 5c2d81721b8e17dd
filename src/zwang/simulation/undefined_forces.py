"""Simulation that meets a force without a value: which one it is, and what is undefined in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError
from zwang.multibody.element_batches import Bulk
from zwang.results.event_rows import changed
from zwang.terms import FloatArray
from zwang.tracing.non_finite import culprit, undefined_operation

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.system import System

__all__ = ["explained", "undefined_force"]

#: What the status of a run says that ended where an acceleration is not finite.
GENERAL = "the acceleration is not finite beyond it, "
#: Shares of the time of a run, beyond its last state, at which a force is looked at.
BEYOND = (0.0, *np.geomspace(1e-12, 1e-3, 10))


def undefined_force(
    system: System, q: FloatArray, v: FloatArray, t: float, p: FloatArray
) -> tuple[str, str] | None:
    """The force that is not finite at a state, and what in it has no value, or None.

    The second is empty where it is not known, as in functions that are called numerically.
    """
    parts = system.mechanism
    if parts is not None:
        found = _of_elements(Bulk(parts), (q[None], v[None], np.array([t])), p)
        if found is not None:
            return found
    if system.equations.by_elements is not None:
        return None
    return _of_functions(system, (q, v, np.array([t]), p))


def _of_elements(
    bulk: Bulk, state: tuple[FloatArray, FloatArray, FloatArray], p: FloatArray
) -> tuple[str, str] | None:
    for element in bulk.parts.forces:
        function = bulk.parts.traced[element.law.key].function
        configs = bulk.configs(state[0], [i for i in element.bodies if i >= 0])
        values = bulk.evaluate(element.law.key, function, [element], state, p, configs)
        if all(np.isfinite(x).all() for x in values):
            continue
        columns, user = bulk.arguments([element], state, p, configs)
        what = "effort" if element.law.what == "actuator" else "force"
        name = f"the {what} of {element.law.what} {element.name!r}"
        return name, _operation(function, [*columns, user])
    return None


def _of_functions(system: System, arguments: tuple[FloatArray, ...]) -> tuple[str, str] | None:
    """The force of a system of functions."""
    import casadi as ca

    model = system.model
    q, v, t, p = arguments
    (Q,) = system.equations.evaluator("undefined", lambda m: {"Q": m.Q}, q, v, t[0], p)
    if np.isfinite(Q).all():
        return None
    name = culprit(model, "Q", Q, 0)
    s = model.state
    if system.opaque:
        return name, ""
    return name, _operation(
        ca.Function("Q", [s.q, s.v, s.t, s.p], [ca.densify(model.Q)]), arguments
    )


def _operation(function: object, inputs: object) -> str:
    try:
        return undefined_operation(function, inputs)  # pyright: ignore[reportArgumentType]
    except (AttributeError, KeyError, NotImplementedError, RuntimeError):
        return ""  # a function is called in it, which nothing can be followed through


def explained(run: Run) -> Run:
    """A run whose status names the force that is not finite where it ended.

    Raises
    ------
    InputError : it is not finite at the start.
    """
    if GENERAL not in run.status or not len(run):
        return run
    system, segment = run.system, run.segments[-1]
    p = system.parameter_vector(segment.parameters)
    q, v, t = run.q[-1], run.v[-1], float(run.t[-1])
    rate = system.equations.position_rate_at(q, v, np.asarray(t), p)
    for share in BEYOND:
        h = share * max(run.settings.until - float(run.t[0]), 0.0)
        found = undefined_force(system, q + h * rate, v, t + h, p)
        if found is None:
            continue
        name, why = found
        if not share and run.t[-1] == run.t[0]:
            raise InputError(
                name,
                must="be finite",
                but=f"has no value at the start, t = {t:.6g}{f': {why}' if why else ''}",
                advice="Limit its argument, np.maximum(x, 0.0), or choose by zw.where(x > 0.0, …).",
            )
        before, _, after = run.status.partition(GENERAL)
        work = after[after.rfind("(") :]
        because = f", {why}" if why else ""
        return changed(run, status=f"{before}{name} is not finite beyond it{because} {work}")
    return run
