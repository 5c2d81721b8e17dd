"""Rows of a study that are not runs: equilibria, linearizations, kinematics, inverse dynamics.

Each row is one call of the analysis with its parameters. What varies may be an argument of it as
well: ``analysis.rates.wheel.spin`` or ``analysis.hold.pin.angle``.

| compute | names of outputs |
| --- | --- |
| equilibrium | coordinates, ``pin.angle``, ``pin.force.z``, ``stable`` (1 or 0), ``residual`` |
| linearization | ``real[k]``, ``imag[k]`` of an eigenvalue, ``frequency[k]``, ``damping[k]`` |
| | ``largest_real_part``, ``stable`` |
| kinematics | quantities along the path, and reductions of them |
| inverse_dynamics | ``j1.angle.effort``, ``.speed``, ``.power``, ``pin.force.x``, and reductions |
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from zwang.analysis.at_rest import HOLDING, effort_unit, value_at_rest
from zwang.analysis.quantities import quantity
from zwang.errors import InputError, UnknownNameError, ZwangError
from zwang.results.channels import PARTS, Channel, channels_of
from zwang.studies.compute import (
    FINISHED,
    REFUSED,
    TaskResult,
    Variable,
    blank_run,
)
from zwang.studies.expressions import calls_in, dotted, evaluated, function_name, names_in
from zwang.studies.output_units import output_factor, own_unit
from zwang.studies.outputs import OutputRequest
from zwang.studies.plan import StudyPlan
from zwang.studies.reductions import REDUCTIONS
from zwang.studies.subject import Subject, unit_in_plan
from zwang.terms import FloatArray

__all__ = ["AnalysisOutputs"]

_MODE = re.compile(r"(real|imag|frequency|damping)\[(\d{1,4})\]")
_PARTS = {"x": 0, "y": 1, "z": 2}
_OF_LINEARIZATION = (
    "real[0]", "imag[0]", "frequency[0]", "damping[0]", "largest_real_part", "stable",
)  # fmt: skip
#: Eigenvalues with a real part up to this, relative to the largest, count as not growing.
NEUTRAL = 1e-9
#: What an output that no channel gives is measured in.
_UNITS = {"frequency": "rad/s", "real": "1/s", "imag": "rad/s", "largest_real_part": "1/s"}

#: Name → its value in one row: a number, or an array (nt,).
Lookup = Callable[[str], Any]


class AnalysisOutputs:
    """What is kept of an analysis of each row; see `zwang.studies.compute.RunOutputs`."""

    time_unit = ""

    def __init__(self, subject: Subject, plan: StudyPlan) -> None:
        self.subject, self.plan = subject, plan
        self.known: Mapping[str, Channel] = channels_of(blank_run(subject.system))
        self.begin = subject.start_time
        self.until = self.begin if plan.until is None else plan.until
        self.motion: Any = None
        self.path = self._path()
        self.times, self.time_name = self.path
        self.requests = self._requests()
        for place, request in enumerate(plan.outputs):
            self._require(request, place)

    @property
    def bytes_per_run(self) -> int:
        """So that a task has a few hundred rows, which take some milliseconds each."""
        return 2**19

    def _path(self) -> tuple[FloatArray | None, str]:
        """What quantities are followed along, and its name."""
        plan, given = self.plan, self.plan.analysis
        if plan.compute == "kinematics":
            if "along" in given:
                if "values" not in given:
                    raise plan.root["analysis"].error(
                        but="'values' is missing", expected="the values of the driver"
                    )
                return np.array(given["values"]), "position"
            if plan.times is None or (isinstance(plan.times, int) and plan.until is None):
                raise plan.root.error(
                    but="there is no path", expected="times and until, or analysis.along and values"
                )
            if isinstance(plan.times, int):
                return np.linspace(self.begin, self.until, plan.times), "time"
            return np.array(plan.times), "time"
        if plan.compute == "inverse_dynamics":
            if "motion" not in given:
                raise plan.root.under("analysis").error(
                    but="'motion' is missing", expected="the CSV file of a motion"
                )
            columns = {name: np.array(values) for name, values in given["motion"].items()}
            times = columns.pop("t")
            self.motion = times, columns
            return times, "time"
        return None, "time"

    def _requests(self) -> list[OutputRequest]:
        if self.plan.outputs:
            over = self.times is not None
            return [replace(r, channel=dotted(r.tree) if over else None) for r in self.plan.outputs]
        names = {
            "equilibrium": [*self.subject.system.coordinates, "stable"],
            "linearization": ["largest_real_part", "stable"],
        }.get(self.plan.compute)
        if names is None:
            raise self.plan.root.error(
                but="'outputs' is missing", expected="the quantities that are kept"
            )
        return [OutputRequest(n, n, ast.Constant(n), None, None) for n in names]

    def _require(self, request: OutputRequest, place: int) -> None:
        """Refuse what this kind of analysis has not, with its place in the plan."""
        try:
            self._check(request)
        except InputError as error:
            raise self.plan.root["outputs"][place].blamed(error) from None

    def _check(self, request: OutputRequest) -> None:
        for call in calls_in(request.tree):
            kind = function_name(call)
            if self.times is None or REDUCTIONS[kind].of in ("event", "energy"):
                raise InputError(
                    f"function {kind!r}",
                    must="be of a motion over time",
                    but=f"the plan computes {self.plan.compute}",
                )
            self._require_name(dotted(call.args[0]) or "")
        constants = {*self._constants({}), *self.plan.names}
        for name in names_in(request.tree):
            if name in constants and dotted(request.tree) is None:
                continue
            if self.times is not None and dotted(request.tree) is None:
                raise UnknownNameError("name", name, [*constants, "end(…)", "peak(…)"])
            self._require_name(name)
        output_factor(request, self._unit_of)

    def _require_name(self, name: str) -> None:
        """Refuse a name that the analysis gives no value of."""
        compute, system = self.plan.compute, self.subject.system
        if compute == "linearization":
            if not _MODE.fullmatch(name) and name not in ("largest_real_part", "stable"):
                raise UnknownNameError("output", name, _OF_LINEARIZATION)
        elif compute == "kinematics":
            found = quantity(system, name, "output")
            if not found.part and name in self.known and self.known[name].vector:
                raise InputError(f"output {name!r}", must="be a component such as .x")
        elif not self._is_reaction(name):
            owner, _, part = name.rpartition(".")
            if compute == "equilibrium":
                if not self._is_at_rest(name):
                    of_holding = [f"{n}{HOLDING}" for n in self._held]
                    scalars = [n for n, c in self.known.items() if not c.vector]
                    known = [*scalars, *of_holding, "stable", "residual"]
                    raise UnknownNameError("output", name, known)
            elif part not in ("effort", "speed", "power") or owner not in self._actuators:
                known = [f"{a}.{part}" for a in self._actuators for part in ("effort", "power")]
                raise UnknownNameError("output", name, [*known, "JOINT.force.x"])

    def _is_at_rest(self, name: str) -> bool:
        """Whether an equilibrium has a value of that name."""
        own, owner = self.known.get(name), name.rpartition(".")[0]
        if own is not None and not own.vector:
            return True
        part = name.rpartition(".")[2] in PARTS and owner in self.known
        held = name.removesuffix(HOLDING)
        return part or name in ("stable", "residual") or (held != name and held in self._held)

    @property
    def _held(self) -> list[str]:
        """Coordinates that are held, by the plan or by what varies."""
        own = dict.fromkeys(self.plan.names, 0.0)
        return list(self._arguments(own).get("hold") or ())

    def _is_reaction(self, name: str) -> bool:
        owner, _, part = name.rpartition(".")
        kind, found = owner.rpartition(".")[2], self.known.get(owner)
        return kind in ("force", "moment") and part in PARTS and found is not None

    @property
    def _actuators(self) -> list[str]:
        return list(self._arguments({}).get("actuators", ()))

    def _constants(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Numbers that an expression may use besides results: parameters, and what varies."""
        parameters = self.subject.system.parameters
        fixed = self.subject.fixed_parameters(self.plan)
        return {n: x for n, x in {**parameters, **fixed}.items() if np.ndim(x) == 0} | dict(own)

    def variables(self) -> list[Variable]:
        """All variables of the dataset."""
        size = {} if self.times is None else {self.time_name: len(self.times)}
        return [
            Variable(r.name, r.unit or self._unit(r), r.text, size if r.channel else {})
            for r in self.requests
        ]

    def _unit(self, request: OutputRequest) -> str:
        """The unit of an output for which none is asked, where it follows from its names."""
        return own_unit(request, self._unit_of, self._unit_of)

    @cached_property
    def factors(self) -> dict[str, float]:
        """By what values are multiplied for their unit, for each output."""
        return {r.name: output_factor(r, self._unit_of) for r in self.requests}

    def _unit_of(self, name: str) -> str:
        if name not in self.known and (name in self._constants({}) or name in self.plan.names):
            return unit_in_plan(self.subject, self.plan, name)
        owner, _, part = name.rpartition(".")
        if self.plan.compute == "inverse_dynamics" and part in ("effort", "speed", "power"):
            along = self.known[owner].unit if owner in self.known else ""
            effort = {"rad": "N m", "m": "N"}.get(along, "")
            return {"effort": effort, "speed": along and f"{along}/s", "power": "W"}[part]
        for known in (name, owner):
            if known in self.known and part != "holding":
                return self.known[known].unit
        if part == "holding":
            return effort_unit(owner)
        return _UNITS.get(name.partition("[")[0], "")

    # --- values -----------------------------------------------------------------------------------

    def simulate(self, rows: Mapping[str, np.ndarray]) -> TaskResult:
        """Analyse all rows, each with its values."""
        count = len(next(iter(rows.values())))
        parameters, refusals = self.subject.parameters(self.plan, rows, count)
        result = TaskResult(
            {x.name: np.full((count, *x.dimensions.values()), np.nan) for x in self.variables()},
            np.full(count, REFUSED, dtype=np.uint8),
            [refusals.get(i, "") for i in range(count)],
            np.zeros((count, 3), dtype=np.int64),
        )
        for i in range(count):
            if i in refusals:
                continue
            own = {name: column[i].item() for name, column in rows.items()}
            values = {
                name: float(x[i]) if np.ndim(x[i]) == 0 else x[i] for name, x in parameters.items()
            }
            try:
                lookup = self._analysed(own, values)
                of_run = {n: x for n, x in values.items() if np.ndim(x) == 0}
                known = self._constants({**of_run, **own})
                for request in self.requests:
                    value = self._value(request, lookup, known)
                    result.values[request.name][i] = self.factors[request.name] * value
                result.status[i] = FINISHED
            except ZwangError as error:
                result.reason[i] = str(error)
                for request in self.requests:
                    result.values[request.name][i] = np.nan
        return result

    def _value(self, request: OutputRequest, lookup: Lookup, known: Mapping[str, Any]) -> Any:
        name = dotted(request.tree)
        if name is not None:
            return lookup(name)

        def call(node: ast.Call) -> Any:
            reduction = REDUCTIONS[function_name(node)]
            series = np.asarray(lookup(dotted(node.args[0]) or ""))[None]
            further = [float(evaluated(part, {})) for part in node.args[1:]]
            return float(reduction.function(series, self.times, *further)[0])

        return evaluated(request.tree, _Names(lookup, known), call)

    def _analysed(self, own: Mapping[str, Any], values: Mapping[str, Any]) -> Lookup:
        """The analysis of one row: what gives its quantities by name."""
        system, given = self.subject.system, self._arguments(own)
        start = self._start(own, values)
        if self.plan.compute == "kinematics":
            assert self.times is not None
            along = (given["along"], self.times) if "along" in given else None
            times = None if along else self.times
            found = system.kinematics(times, along, start, parameters=values)
            return lambda name: _padded(found[name], self.times)
        if self.plan.compute == "inverse_dynamics":
            inverse = system.inverse_dynamics(
                self.motion,
                given.get("actuators", ()),
                given.get("rule", "least norm"),
                given.get("weights"),
                start=start,
                parameters=values,
            )
            return lambda name: _of_inverse(inverse, name)
        time = given.get("t", 0.0)
        if given.get("rates"):
            rest: Any = system.steady_motion(given["rates"], start, given.get("hold"), time, values)
        else:
            rest = system.equilibrium(start, given.get("hold"), given.get("prefer"), time, values)
        if self.plan.compute == "equilibrium":
            return lambda name: _of_rest(rest, name)
        ports = {k: given[k] for k in ("inputs", "outputs", "independent") if k in given}
        if hasattr(rest, "linearize"):
            small = rest.linearize(**ports)
        else:
            small = system.linearize(rest, **ports, parameters=values)
        return lambda name: _of_linearization(small, name)

    def _arguments(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the analysis, with those that vary; the tables of a model file first."""
        model, tables = self.subject.model, {"linearization": "linearize"}
        result: dict[str, Any] = {}
        if model is not None:
            for name in ("equilibrium", tables.get(self.plan.compute, self.plan.compute)):
                result |= model.analysis_tables.get(name, {})
        result |= self.plan.analysis
        for name, value in own.items():
            head, _, rest = name.partition(".")
            if head == "analysis":
                table, _, key = rest.partition(".")
                result[table] = {**result.get(table, {}), key: value} if key else value
        return result

    def _start(self, own: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
        """Where a search begins, if the plan or the model says."""
        wanted = {**self.plan.start}
        for name, value in own.items():
            head, _, rest = name.partition(".")
            if head == "start":
                wanted[rest] = value
        numbers = {n: float(evaluated_text(x, {**values, **own})) for n, x in wanted.items()}
        system, model = self.subject.system, self.subject.model
        if not numbers:
            if model is None or not (
                model.start_conditions.request or model.start_conditions.q is not None
            ):
                return None
            return model.start(values)
        rates = {n: x for n, x in numbers.items() if n in system.velocities or n.endswith("_rate")}
        hold = {n: x for n, x in numbers.items() if n not in rates}
        motion = {"hold": rates} if rates else None
        return system.assemble(hold=hold, velocity=motion, parameters=values)


def evaluated_text(value: float | str, known: Mapping[str, Any]) -> Any:
    """A number, or the value of an expression of what is known."""
    from zwang.studies.expressions import parsed

    if not isinstance(value, str):
        return value
    try:
        return evaluated(parsed(value, "initial value"), known)
    except KeyError as error:
        raise UnknownNameError("name", str(error.args[0]), known) from None


class _Names(dict[str, Any]):
    """Names of an expression: what varies and parameters, then quantities of the analysis."""

    def __init__(self, lookup: Lookup, known: Mapping[str, Any]) -> None:
        super().__init__(known)
        self._lookup = lookup

    def __missing__(self, name: str) -> Any:
        return self._lookup(name)


def _padded(values: FloatArray, path: FloatArray | None) -> FloatArray:
    """Values over the whole path, NaN beyond where it ended."""
    assert path is not None
    if values.ndim > 1:
        raise InputError("output", must="be a component such as .x", but="is a vector")
    return np.concatenate([values, np.full(len(path) - len(values), np.nan)])


def _component(vector: Any, part: str, name: str) -> Any:
    if part == "magnitude":
        return np.linalg.norm(vector, axis=-1)
    if part not in _PARTS or vector is None:
        raise UnknownNameError("output", name, [f"{name.rpartition('.')[0]}.{p}" for p in _PARTS])
    return vector[..., _PARTS[part]]


def _reaction(of: Any, name: str) -> Any:
    """A component of a reaction, ``pin.force.x``; None if the name is no such."""
    owner, _, part = name.rpartition(".")
    joint, _, quantity = owner.rpartition(".")
    if quantity not in ("force", "moment") or not joint:
        return None
    return _component(getattr(of.reaction(joint), quantity), part, name)


def _of_rest(rest: Any, name: str) -> Any:
    if name == "stable":
        return _flag(rest.stability)
    if name == "residual":
        return rest.residual
    found = _reaction(rest, name) if name.rpartition(".")[0] in _reacting(rest) else None
    if found is not None:
        return found
    system = rest.system
    if name in (*system.coordinates, *system.velocities, *system.channels):
        return rest[name]
    return value_at_rest(rest, name)


def _reacting(rest: Any) -> set[str]:
    """Channels of reactions, which an equilibrium has of its own."""
    return {f"{name}.{kind}" for name in rest.system.groups for kind in ("force", "moment")}


def _flag(stability: str) -> float:
    return {"stable": 1.0, "marginal": 1.0, "unstable": 0.0}.get(stability, np.nan)


def _of_linearization(small: Any, name: str) -> float:
    eigenvalues: Any = np.asarray(small.eigenvalues)
    if name in ("largest_real_part", "stable"):
        largest = float(eigenvalues.real.max(initial=-np.inf))
        size = float(np.abs(eigenvalues).max(initial=1.0))
        return largest if name != "stable" else float(largest <= NEUTRAL * size)
    match = _MODE.fullmatch(name)
    if match is None:
        raise UnknownNameError("output", name, _OF_LINEARIZATION)
    kind, k = match[1], int(match[2])
    if kind in ("real", "imag"):
        # Of pairs the one above; by the imaginary, then the real part, which rounding of equal
        # ones does not turn round.
        upper = eigenvalues[eigenvalues.imag >= -1e-12 * max(1.0, np.abs(eigenvalues).max())]
        ordered = upper[np.lexsort((upper.real.round(9), upper.imag.round(9)))]
        return float(getattr(ordered[k], kind)) if k < len(ordered) else np.nan
    modes = small.modes()
    return float(getattr(modes[k], kind)) if k < len(modes) else np.nan


def _of_inverse(inverse: Any, name: str) -> FloatArray:
    owner, _, quantity = name.rpartition(".")
    if quantity in ("effort", "speed", "power") and owner in inverse.actuators:
        return getattr(inverse, quantity)[owner]
    found = _reaction(inverse, name)
    if found is None:
        raise UnknownNameError(
            "output", name, [f"{a}.effort" for a in inverse.actuators] + ["JOINT.force.x"]
        )
    return found
