"""Servo constraints: prescribed trajectories kept by a control force, and their stabilization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.control.control_force import Control, ControlForce, control_forces
from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.constraint import Constraint, named_constraint
from zwang.tracing.definition import define, joined
from zwang.tracing.differentiate import depends_on
from zwang.tracing.nonideal import NonidealLaw
from zwang.tracing.trace import ParameterSymbols, call
from zwang.tracing.traced_model import Definition, TracedModel

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["GAINS", "control_force", "gains", "named_program", "programmed", "require_used"]

#: How many programs a system keeps traced; functions written anew at each call are new programs.
REMEMBERED = 8

#: Parameters of a stabilised program.
GAINS = ("program_k1", "program_k2")


def named_program(program: Any) -> dict[str, Constraint]:
    """Name → constraint, of a mapping, a list, a single constraint or a bare function."""
    if isinstance(program, Constraint) or callable(program):
        program = {"program": program}
    elif isinstance(program, Sequence) and not isinstance(program, str):
        program = {f"program{k}": given for k, given in enumerate(program)}
    if not isinstance(program, Mapping) or not program:
        raise InputError(
            "program",
            expected="a dictionary of constraints by name, with at least one",
            found=shown(program),
        )
    return {name: named_constraint("program", name, given) for name, given in program.items()}


def gains(stabilize: Any) -> tuple[float, float]:
    """k₁, k₂ of φ̈ + k₁ φ̇ + k₂ φ = 0, from the pair or from a time constant T.

    The time constant gives critical damping, φ ~ (1 + t/T) exp(−t/T).
    """
    if stabilize is None:
        return 0.0, 0.0
    try:
        values = [float(k) for k in np.ravel(stabilize)]
    except (TypeError, ValueError):
        values = []
    if len(values) == 1 and np.isfinite(values[0]) and values[0] > 0.0:
        return 2.0 / values[0], 1.0 / values[0] ** 2
    if len(values) == 2 and all(np.isfinite(k) and k >= 0.0 for k in values):
        return values[0], values[1]
    raise InputError(
        "stabilize",
        expected="a positive time constant, or two numbers (k1, k2) that are not negative",
        found=repr(stabilize),
    )


def programmed(
    given: Definition, program: Any, stabilize: Any, parameters: Mapping[str, Any]
) -> tuple[Definition, dict[str, Constraint]]:
    """The definition of a system that follows a program, and the program by names.

    Parameters
    ----------
    given : definition of the system without it.
    stabilize : as of `System.with_program`.
    parameters : further ones that the program uses.
    """
    if given.mass is None and given.lagrangian is None and given.acceleration_energy is None:
        raise InputError(
            "program",
            must="be given to a system made from functions",
            but="this is a mechanism, whose equations come from its bodies and joints",
            advice="Efforts of a mechanism for a motion are given by inverse_dynamics, for a "
            "program of other quantities by servo; drive and constraint prescribe a motion, and "
            "their reactions maintain it.",
        )
    named, added = named_program(program), dict(parameters)
    for name in added:
        if name in given.parameters:
            raise InputError(
                f"parameter {name!r} of the program",
                must="have a new name",
                but="the system has a parameter of this name",
                advice="Parameters of the system can be used as they are.",
            )
    gain_values: dict[str, float] = {}
    if stabilize is not None:
        gain_values = dict(zip(GAINS, gains(stabilize), strict=True))
        named = {name: replace(c, stabilize=GAINS) for name, c in named.items()}
    definition = define(
        given.coordinates,
        joined("program", named, given.constraints),
        {**given.parameters, **added, **gain_values},
        given.nonideal,
        None if given.kinematics is None else given.velocities,
        given.kinematics,
        mass=given.mass,
        force=given.force,
        potential=given.potential,
        lagrangian=given.lagrangian,
        acceleration_energy=given.acceleration_energy,
    )
    names = (*given.program, *named)
    return replace(definition, program=names, geometry=given.geometry), named


def require_used(model: TracedModel, added: Iterable[str], program: Iterable[str]) -> None:
    """Every added parameter occurs in the program: one that does not is a slip of the pen."""
    start, names = 0, set(added)
    blocks = [model.blocks[name] for name in program]
    rows = [x for b in blocks for x in (b.value, b.rate, b.A, b.b) if x is not None]
    for name, value in model.definition.parameters.items():
        symbols = model.state.p[start : start + value.size]
        start += value.size
        if name in names and not any(depends_on(x, symbols, model.state) for x in rows):
            known = [other for other in model.definition.parameters if other != name]
            raise UnknownNameError("parameter that no program uses", name, known)


def control_force(
    system: System,
    q: Any,
    v: Any,
    t: Any,
    *,
    program: Any,
    weight: Any,
    actuators: Any,
    stabilize: Any,
    parameters: Mapping[str, Any] | None,
) -> ControlForce:
    """`zwang.System.control_force` documents the arguments."""
    system, values, own_gains = _controlled(system, program, dict(parameters or {}))
    q, v, t, p = system.arguments(q, v, t, values)
    follows_reaction = system.model.reaction_dependent
    state = {"q": q, "v": v, "t": t, "parameters": values}
    terms = (system.ideal_terms if follows_reaction else system.terms)(**state)
    errors = _ServoErrors(system, state)
    terms = errors.stabilised(terms, *(own_gains if stabilize is None else gains(stabilize)))
    given = _Given(system, q, v, t, values)
    found = control_forces(
        terms,
        errors.rows,
        lambda i: given.weight(weight, actuators, i),
        lambda i: given.actuators(actuators, i),
        (lambda i: NonidealLaw(system.equations.evaluator, *given.state(i), p))
        if follows_reaction
        else None,
    )
    return _collected(found, terms, errors, actuated=actuators is not None)


class ControlledSystems(dict[Any, Any]):
    """A system with its programs as plain constraints, by these."""


def _controlled(
    system: System, program: Any, parameters: dict[str, Any]
) -> tuple[System, dict[str, Any], tuple[float, float]]:
    """The system with its program as plain constraints, its parameters, and its own gains."""
    cache = system.equations.cache.once(ControlledSystems, ControlledSystems)
    if program is not None:
        named = named_program(program)
        extra = {k: x for k, x in parameters.items() if k not in system.definition.parameters}
        key = (*named.items(), *((k, np.shape(x)) for k, x in extra.items()))
        if key not in cache:
            while len(cache) >= REMEMBERED:
                del cache[next(iter(cache))]
            cache[key] = system.with_program(named, parameters=extra)
        return cache[key], parameters, (0.0, 0.0)
    if not system.program:
        raise InputError(
            "program",
            must="name the constraints to follow, unless the system was made by with_program",
        )
    values = {**system.parameters, **parameters}
    own_gains = (float(values.get(GAINS[0], 0.0)), float(values.get(GAINS[1], 0.0)))
    if () not in cache:
        plain = {k: replace(c, stabilize=None) for k, c in system.definition.constraints.items()}
        cache[()] = system.of(replace(system.definition, constraints=plain))
    return cache[()], parameters, own_gains


class _ServoErrors:
    """Rows of a program, and how far a state is off it."""

    def __init__(self, system: System, state: Mapping[str, Any]) -> None:
        groups, levels = system.model.groups, list(enumerate(system.row_levels()))
        programmed = set(system.program)
        self.rows = [row for name in system.program for row in groups[name]]
        found = system.residuals(**state)
        valued = [row for row, level in levels if level == "position"]
        rated = [row for row, level in levels if level != "acceleration"]
        own = {row for name in programmed for row in groups[name]}
        first = [k for k, row in enumerate(valued) if row in own]
        second = [k for k, row in enumerate(rated) if row in own]
        self.valued, self.rated = [valued[k] for k in first], [rated[k] for k in second]
        self.value, self.rate = found.position[..., first], found.velocity[..., second]
        self.value_names = tuple(found.position_names[k] for k in first)
        self.rate_names = tuple(found.velocity_names[k] for k in second)

    def stabilised(self, terms: EquationTerms, k1: float, k2: float) -> EquationTerms:
        """b − k₁ φ̇ − k₂ φ on the program's rows."""
        b = np.array(terms.constraint_rhs)
        b[..., self.rated] -= k1 * self.rate
        b[..., self.valued] -= k2 * self.value
        return replace(terms, constraint_rhs=b)


class _Given:
    """Weights and actuators at the states of a batch, from arrays or functions."""

    def __init__(
        self, system: System, q: FloatArray, v: FloatArray, t: FloatArray, values: dict[str, Any]
    ) -> None:
        self.q, self.v = q.reshape(-1, q.shape[-1]), v.reshape(-1, v.shape[-1])
        self.t = np.ravel(t)
        self.n = len(system.velocities)
        numbers = {k: np.array(x) for k, x in {**system.parameters, **values}.items()}
        self.p = ParameterSymbols({k: x if x.ndim else float(x) for k, x in numbers.items()})

    def state(self, i: int) -> tuple[FloatArray, FloatArray, float]:
        """State number i."""
        return self.q[i], self.v[i], float(self.t[i])

    def _value(self, what: str, given: Any, i: int) -> Any:
        if not callable(given):
            return given
        q, v, t = self.state(i)
        return call(what, given, {"q": q, "v": v, "t": t, "p": self.p})

    def actuators(self, given: Any, i: int) -> FloatArray | None:
        """B (n, k) at state i."""
        if given is None:
            return None
        return _matrix("actuators", self._value("actuators", given, i), self.n, None)

    def weight(self, given: Any, actuators: Any, i: int) -> FloatArray | None:
        """W at state i, of forces (n, n) or of actuators (k, k)."""
        if given is None:
            return None
        B = self.actuators(actuators, i)
        size = self.n if B is None else B.shape[1]
        return _matrix("weight", self._value("weight", given, i), size, size)


def _matrix(what: str, value: Any, rows: int, columns: int | None) -> FloatArray:
    """Finite numbers (rows, columns); a vector is a diagonal where square, else one column."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(what, found=shown(value), expected="numbers") from error
    if array.ndim == 1 and array.size == rows:
        array = array[:, None] if columns is None else np.diag(array)
    if array.ndim != 2 or array.shape[0] != rows or columns not in (None, array.shape[1]):
        wanted = f"({rows}, {'k' if columns is None else columns})"
        raise InputError(what, must=f"have shape {wanted}", but=f"has shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(what, must="be finite", but="has a value that is not finite")
    return array


def _collected(
    found: list[Control], terms: EquationTerms, errors: _ServoErrors, *, actuated: bool
) -> ControlForce:
    batch = terms.batch_shape

    def stacked(name: str) -> FloatArray:
        values = np.array([getattr(one, name) for one in found])
        return values.reshape((*batch, *values.shape[1:]))

    return ControlForce(
        stacked("force"),
        stacked("acceleration"),
        stacked("reaction"),
        stacked("multipliers"),
        stacked("cost"),
        stacked("actuation") if actuated else None,
        errors.value,
        errors.rate,
        errors.value_names,
        errors.rate_names,
        terms.notes,
    )
