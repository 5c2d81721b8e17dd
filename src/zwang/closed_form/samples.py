"""Closed forms: numerical samples of a system that choose pivots and check results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from zwang.closed_form.names import SymbolNames
from zwang.diagnosis.wording import listing
from zwang.errors import (
    AssemblyError,
    InconsistentConstraintsError,
    InputError,
    NotApplicableError,
    NotUniqueError,
    ZwangError,
)

if TYPE_CHECKING:
    from zwang.terms import FloatArray
    from zwang.tracing.traced_model import Definition

__all__ = ["Numerical", "SampledValues", "sampled"]

#: How many states are sampled. Pivots must differ from zero at all of them.
COUNT = 3
#: Attempts for each of them to find one on the constraints, and attempts in all.
ON_CONSTRAINTS, ATTEMPTS = 7, 10
#: What to do about accelerations that are not determined.
UNDETERMINED = (
    "Give what moves freely inertia, or take a joint without this motion, such as a universal "
    "joint for a point that a ball joint holds; derive(solve=False) gives the terms alone."
)


class Numerical(Protocol):
    """What is asked of a system, or of a mechanism in other coordinates: states and motion."""

    @property
    def definition(self) -> Definition:
        """Names and parameters."""
        ...

    def assemble(self, *, prefer: Any, velocity: Any, t: float, parameters: Any) -> Any:
        """A consistent state near the preferred values."""
        ...

    def solve(self, q: Any, v: Any, t: Any, *, parameters: Any) -> Any:
        """Terms and motion at states."""
        ...


@dataclass(frozen=True)
class SampledValues:
    """Numbers at k states.

    Attributes
    ----------
    values : name of a symbol → its values, shape (k,).
    M, A : shapes (k, n, n), (k, m, n).
    acceleration, force, multipliers : the motion, shapes (k, n), (k, n), (k, m).
    contradicting : constraints that no state satisfies together; empty where all states do.
    """

    values: Mapping[str, FloatArray]
    M: FloatArray
    A: FloatArray
    acceleration: FloatArray
    force: FloatArray
    multipliers: FloatArray
    contradicting: tuple[str, ...] = ()


def sampled(
    system: Numerical,
    names: SymbolNames,
    acute: Sequence[str] = (),
    unit: Sequence[Sequence[int]] = (),
    *,
    anywhere: bool = True,
    driven: Mapping[int, Any] | None = None,
) -> SampledValues:
    """Random states that satisfy the constraints, and the motion there.

    Parameters take their default values, or those of what was put in their place; symbols that
    came in that way take the default of the entry they stand for, or random values. Acute angles
    stay between −π/2 and π/2, and groups of coordinates of unit length have it. Where no state on
    the constraints is found, one anywhere will do, unless formulas hold on the constraints alone.
    Driven coordinates are looked for near what drives them, a SymPy expression of time and letters:
    sin(q − f) vanishes half a turn from there too.
    """
    rng = np.random.default_rng(0)
    parameters, extra = _parameters(system.definition, names, rng)

    def near(t: float) -> dict[int, float]:
        numbers = {**extra, names.time.name: t}
        return {
            k: float(f.subs({s: numbers[s.name] for s in f.free_symbols}))
            for k, f in (driven or {}).items()
        }

    states = [
        _state(system, rng, parameters, acute, unit, near, anywhere=anywhere) for _ in range(COUNT)
    ]
    groups = [s[3] for s in states]
    q, v, t = (np.array([s[k] for s in states], dtype=float) for k in range(3))
    solution = system.solve(q, v, t, parameters=parameters)
    values = {s.name: q[:, k] for k, s in enumerate(names.coordinates)}
    values |= {s.name: v[:, k] for k, s in enumerate(names.velocities)}
    values[names.time.name] = t
    values |= {name: np.full(COUNT, x) for name, x in extra.items()}
    return SampledValues(
        values,
        solution.terms.mass_matrix,
        solution.terms.constraint_matrix,
        solution.acceleration,
        solution.constraint_force,
        solution.multipliers,
        # One state on all constraints shows that they can hold together.
        groups[0] if all(groups) else (),
    )


def _parameters(
    definition: Definition, names: SymbolNames, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, float]]:
    """Values of parameters, and of the symbols in them."""
    values = names.defaults(definition)
    parameters = {}
    for name, default in definition.parameters.items():
        numbers = np.empty(default.size)
        for k, entry in enumerate(np.ravel(names.parameters[name])):
            for symbol in sorted(entry.free_symbols, key=lambda s: s.name):
                values.setdefault(symbol.name, float(rng.uniform(1, 2)))
            numbers[k] = float(entry.subs({s: values[s.name] for s in entry.free_symbols}))
        parameters[name] = numbers.reshape(default.shape)
    return parameters, values


def _state(
    system: Numerical,
    rng: np.random.Generator,
    parameters: Mapping[str, Any],
    acute: Sequence[str],
    unit: Sequence[Sequence[int]],
    near: Callable[[float], Mapping[int, float]],
    *,
    anywhere: bool,
) -> tuple[Any, Any, float, tuple[str, ...]]:
    """A random state on the constraints; after some failures, one anywhere, and who is to blame."""
    definition = system.definition
    failure: ZwangError | None = None
    off = True
    contradicting: tuple[str, ...] = ()
    for attempt in range(ATTEMPTS):
        q = rng.normal(size=len(definition.coordinates))
        q = np.where([name in acute for name in definition.coordinates], np.arctan(q), q)
        for group in unit:
            q[list(group)] /= np.linalg.norm(q[list(group)])
        v = rng.normal(size=len(definition.velocities))
        t = float(rng.uniform())
        for k, value in near(t).items():
            q[k] = value
        assembled = False
        try:
            if definition.constraints and (attempt < ON_CONSTRAINTS or not anywhere):
                preferred = dict(zip(definition.coordinates, q, strict=True))
                speed = {"prefer": dict(zip(definition.velocities, v, strict=True))}
                state = system.assemble(
                    prefer=preferred, velocity=speed, t=t, parameters=parameters
                )
                q, v, assembled = state.q, state.v, True
            system.solve(q, v, t, parameters=parameters)
        except (AssemblyError, InputError, InconsistentConstraintsError) as error:
            failure = error  # no such state, no number there, or constraints that contradict there
            off = off and not (assembled and isinstance(error, InconsistentConstraintsError))
            if isinstance(error, AssemblyError):
                contradicting = error.group
        except NotUniqueError as error:
            raise NotUniqueError(
                error.what, directions=error.directions, **{**error.facts, "advice": UNDETERMINED}
            ) from None
        else:
            return q, v, t, contradicting if attempt >= ON_CONSTRAINTS else ()
    assert failure is not None
    if isinstance(failure, InconsistentConstraintsError):
        raise _overconstrained(failure, off=off) from failure
    raise failure.alone()


def _overconstrained(error: InconsistentConstraintsError, *, off: bool) -> NotApplicableError:
    """Redundant rows that agree where loops are closed, and nowhere else.

    Parameters
    ----------
    off : whether no state that was tried satisfies the constraints.
    """
    owners = list(dict.fromkeys(name.partition("[")[0] for name in error.names))
    return NotApplicableError(
        "closed form of the motion",
        must="be of constraints that agree at any state",
        but=f"those of {listing(owners)} contradict each other at all states that were tried"
        + (", which are off the constraints" if off else ", some of them on the constraints"),
        advice="If they agree on the constraints, as where loops are closed, some are redundant: "
        "formulas that hold there alone, derive(use_constraints=True), may exist, or leave these "
        "out, or use derive(solve=False) for the terms alone."
        if off
        else "Leave out what contradicts, or use derive(solve=False) for the terms alone.",
    )
