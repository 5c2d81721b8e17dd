"""Initial states of the runs of a study, one row each.

Where all coordinates are given, they are taken as such. Otherwise states are assembled: once, if
the state that belongs to the first run satisfies the constraints of the others as well; else each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.errors import InputError, ZwangError
from zwang.simulation.options import UNREMARKABLE
from zwang.studies.expressions import evaluated, names_in, parsed
from zwang.studies.plan import StudyPlan, located
from zwang.studies.subject import Subject
from zwang.terms import FloatArray

__all__ = ["initial_states"]

#: Row number → why there is no state.
Refusals = dict[int, str]


def initial_states(
    subject: Subject,
    plan: StudyPlan,
    rows: Mapping[str, np.ndarray],
    parameters: Mapping[str, FloatArray],
    refusals: Refusals,
) -> tuple[FloatArray, FloatArray]:
    """q (N, nq) and v (N, nv); rows in `refusals` are left out, and those that fail are added."""
    system, count = subject.system, len(next(iter(rows.values())))
    given = _given_values(subject, plan, rows, parameters, count)
    q = np.full((count, len(system.coordinates)), np.nan)
    v = np.zeros((count, len(system.velocities)))
    if all(name in given for name in system.coordinates):
        for k, name in enumerate(system.coordinates):
            q[:, k] = given[name]
        for k, name in enumerate(system.velocities):
            v[:, k] = given.get(name, 0.0)
        return q, v  # parameters that are refused are refused by the ensemble
    P, refused = subject.vectors(parameters, count)
    refusals.update(refused)
    good = [i for i in range(count) if i not in refusals]
    if not good:
        return q, v
    if not any(np.ndim(value) for value in given.values()):
        # The state of the model as it is, wherever the constraints allow it: all begin alike.
        fixed = {name: np.asarray(x)[None] for name, x in subject.fixed_parameters(plan).items()}
        try:
            q[good], v[good] = _assembled(subject, given, fixed, 0)
            Y = np.concatenate([q[good], v[good]], axis=1)
            misses = system.equations.largest_misses(Y, subject.start_time, P[good])
            good = [i for i, miss in zip(good, misses, strict=True) if not miss <= UNREMARKABLE]
        except ZwangError:
            q[good] = np.nan
    for i in good:
        try:
            q[i], v[i] = _assembled(subject, given, parameters, i)
        except ZwangError as error:
            refusals[i], q[i] = str(error), np.nan
    return q, v


def _given_values(
    subject: Subject,
    plan: StudyPlan,
    rows: Mapping[str, np.ndarray],
    parameters: Mapping[str, FloatArray],
    count: int,
) -> dict[str, Any]:
    """Initial values by name: a number, or an array (N,) of what differs from run to run."""
    given: dict[str, Any] = {}
    model = subject.model
    if model is not None and model.start_conditions.q is not None:
        given |= {**model.start_conditions.q, **(model.start_conditions.v or {})}
    known = {**subject.system.parameters, **subject.fixed_parameters(plan)}
    known = {name: x for name, x in known.items() if np.ndim(x) == 0}
    known |= {name: x for name, x in parameters.items() if np.ndim(x) == 1}
    known |= {name: x for name, x in rows.items() if x.dtype.kind == "f"}
    for name, value in plan.start.items():
        if not isinstance(value, str):
            given[name] = value
            continue
        tree = parsed(value, "initial value")
        for used in names_in(tree):
            if used not in known:
                error = InputError(
                    f"initial value {name!r}",
                    expected="an expression of parameters and of what varies",
                    but=f"{used!r} is neither",
                )
                raise located(plan, error, "start", name)
        found = evaluated(tree, known)
        given[name] = np.broadcast_to(found, (count,)) if np.ndim(found) else float(found)
    for name, column in rows.items():
        if subject.kind(name) == "start":
            given[name.partition(".")[2]] = column
    return given


def _assembled(
    subject: Subject,
    given: Mapping[str, Any],
    parameters: Mapping[str, FloatArray],
    i: int,
) -> tuple[FloatArray, FloatArray]:
    """The state of one run."""
    system, t = subject.system, subject.start_time
    request: dict[str, Any] = {}
    if subject.model is not None and subject.model.start_conditions.q is None:
        request = dict(subject.model.start_conditions.request)
    hold, velocity = dict(request.pop("hold", {})), request.pop("velocity", {})
    rates = dict(velocity.get("hold", {}))
    for name, value in given.items():
        number = float(value[i]) if np.ndim(value) else float(value)
        if name in system.velocities or name.endswith("_rate"):
            rates[name] = number
        else:
            hold[name] = number
    motion = {**velocity, "hold": rates} if rates or velocity else None
    values = {name: x[i] for name, x in parameters.items()}
    state = system.assemble(hold=hold, velocity=motion, t=t, parameters=values, **request)
    return state.q, state.v
