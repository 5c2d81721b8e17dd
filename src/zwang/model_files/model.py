"""A model file in memory: the system it describes, its initial state, what to simulate.

`read_model` makes a `Model` of a file, whose `simulate` gives a run; `write_model` writes a
mechanism or a system back to a file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.arguments.values import is_folder, path_of
from zwang.errors import (
    DamageError,
    InputError,
    ModelError,
    StoreError,
    UnknownNameError,
    ZwangError,
    near_names,
)
from zwang.state import State

if TYPE_CHECKING:
    from zwang.analysis.effort_result import InverseDynamics
    from zwang.analysis.kinematics_result import Kinematics
    from zwang.analysis.linearization import Linearization
    from zwang.analysis.servo import Servo
    from zwang.analysis.statics import Equilibrium
    from zwang.analysis.steady_motion import SteadyMotion
    from zwang.assembly.result import Assembly
    from zwang.mechanism import Mechanism
    from zwang.model_files.document import Item
    from zwang.results.run import Run
    from zwang.simulation.controllers import Controller
    from zwang.simulation.progress import Report
    from zwang.system import System
    from zwang.terms import FloatArray
    from zwang.tracing.event import Event, Watched

__all__ = ["Model", "SimulationRequest", "Start", "read_model", "write_model"]

#: Name of the model within the folder of a run that was made from one.
IN_A_RUN = "model.toml"
#: The same for its meshes: path as it is written in the model → name.
MESHES_IN_A_RUN = "meshes.json"


@dataclass(frozen=True)
class Start:
    """The initial state that the file specifies.

    Attributes
    ----------
    request : arguments of `System.assemble`.
    q, v : coordinates and velocities by name, in place of a request.
    t : time [s].
    """

    request: Mapping[str, Any] = field(default_factory=dict)
    q: Mapping[str, float] | None = None
    v: Mapping[str, float] | None = None
    t: float = 0.0


@dataclass(frozen=True)
class SimulationRequest:
    """What to simulate, as the file specifies.

    Attributes
    ----------
    until : end [s], or None where the file does not give it.
    choices : further arguments of `System.simulate`.
    """

    until: float | None = None
    choices: Mapping[str, Any] = field(default_factory=dict)


@known_keywords_of_methods
@dataclass(frozen=True)
class Model:
    """What a model file describes.

    Attributes
    ----------
    name, description : from the table ``model``; the name is that of the file if it has none.
    mechanism : the mechanism, or None for a system of functions.
    start_conditions : where the motion begins.
    simulation : what to simulate.
    events : name → event.
    text : the file.
    analysis_tables : what the file says of analyses, such as ``kinematics``: name → key → value.

    Examples
    --------
    >>> import zwang as zw
    >>> from zwang.model_files.examples import example_path
    >>> model = zw.read_model(example_path("pendulum"))
    >>> model.mechanism
    <Mechanism in space: 1 body, 1 joint, 0 forces>
    >>> run = model.simulate(until=0.1)
    >>> run.finished
    True
    """

    name: str
    description: str
    mechanism: Mechanism | None
    start_conditions: Start
    simulation: SimulationRequest
    events: Mapping[str, Event]
    text: str = field(repr=False)
    _system: System | None = field(repr=False)
    _root: Item = field(repr=False)
    analysis_tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    @property
    def system(self) -> System:
        """The system of functions, or that of the mechanism."""
        if self._system is not None:
            return self._system
        assert self.mechanism is not None
        try:
            return self.mechanism.system
        except InputError as error:
            raise self._root.named_in(error).blamed(error) from None

    def __copy__(self) -> Model:
        """The same, with a mechanism and tables of its own, which may be changed."""
        start, simulation, document = self.start_conditions, self.simulation, self._root.document
        return replace(
            self,
            mechanism=copy(self.mechanism),
            start_conditions=Start(_own(start.request), _own(start.q), _own(start.v), start.t),
            simulation=SimulationRequest(simulation.until, _own(simulation.choices)),
            events=dict(self.events),
            _root=replace(document, values=_own(document.values)).root,
            analysis_tables=_own(self.analysis_tables),
        )

    @property
    def path(self) -> str:
        """File it was read from."""
        return self._root.document.file

    @property
    def text_constants(self) -> tuple[str, ...]:
        """Names of the file's constants."""
        return tuple(self._root["constants"].value) if "constants" in self._root else ()

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the file, as they are written."""
        return self._root.value

    @property
    def acting(self) -> System:
        """The system with the constraints that act at the start, by ``[simulation] inactive``."""
        return self.system.without(self.simulation.choices.get("inactive", ()))

    def start(
        self,
        parameters: Mapping[str, Any] | None = None,
        inactive: Iterable[str] | str | None = None,
    ) -> Assembly | State:
        """The state at which the motion begins, on the constraints that act there.

        Parameters
        ----------
        parameters : values in place of those of the file.
        inactive : constraints that do not act, in place of those of the file.
        """
        values = {**self.simulation.choices.get("parameters", {}), **(parameters or {})}
        names = [inactive] if isinstance(inactive, str) else inactive
        wanted = self.start_conditions
        system = self.acting if names is None else self.system.without(names)
        with self.telling("start"):
            if wanted.q is None:
                return system.assemble(**wanted.request, t=wanted.t, parameters=values)
            v = {**dict.fromkeys(system.velocities, 0.0), **(wanted.v or {})}
            q, velocities, _, _ = system.arguments(wanted.q, v, wanted.t, values)
        return State(np.array(q), np.array(velocities), wanted.t)

    @known_keywords(renamed={"state": "q"})
    def simulate(
        self,
        q: Any = None,
        v: Any = None,
        *,
        until: float | None = None,
        start: float | None = None,
        tolerance: float | None = None,
        integrator: str | None = None,
        drift: str | None = None,
        baumgarte: float | None = None,
        step: float | None = None,
        largest_step: float | None = None,
        spectral_radius: float | None = None,
        formulation: str | None = None,
        on_singular: str | None = None,
        coordinates: str | None = None,
        save: Any = None,
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        events: Mapping[str, Watched] | None = None,
        controllers: Mapping[str, Controller] | None = None,
        inactive: Iterable[str] | str | None = None,
        store: str | PathLike[str] | None = None,
        store_every: float | None = None,
        progress: bool | Report | None = None,
        certify: bool | float | None = None,
        forces: bool | None = None,
    ) -> Run:
        """Integrate the motion as the file specifies; arguments replace its values.

        All are those of `zwang.System.simulate`; what is not given, or None, is as the file
        specifies, and the default there otherwise. A run that is stored or saved takes the file
        with it, so that ``read_model(folder)`` gives the model again.

        Parameters
        ----------
        q, v : start, or one state in place of both; that of the file if not given.
        until : end of the simulation [s].
        start : time of the start [s], unless the state knows it.
        tolerance, integrator, drift, baumgarte, step, largest_step, spectral_radius : how the
            motion is integrated.
        formulation, on_singular, coordinates : how equations are solved, and in what.
        save : ``"steps"`` for every accepted step, an interval [s], with the
            end as the last, or the times.
        scales : name → size below which the error of a coordinate or velocity counts as absolute.
        parameters : name → value in place of that of the file.
        events : in place of all those of the file; an empty dictionary for none.
        controllers : name → `zwang.controller`.
        inactive : constraints that do not act at the start.
        store, store_every : path of a new folder to write the run to, and seconds between commits.
        progress, certify : what is reported meanwhile, and whether accelerations are certified.
        forces : whether forces and energies are computed and kept with the states.
        """
        from zwang.simulation.simulate import simulate

        choices = {
            "until": until,
            "start": start,
            "tolerance": tolerance,
            "integrator": integrator,
            "drift": drift,
            "baumgarte": baumgarte,
            "step": step,
            "largest_step": largest_step,
            "spectral_radius": spectral_radius,
            "formulation": formulation,
            "on_singular": on_singular,
            "coordinates": coordinates,
            "save": save,
            "scales": scales,
            "events": events,
            "controllers": controllers,
            "inactive": inactive,
            "store": store,
            "store_every": store_every,
            "progress": progress,
            "certify": certify,
            "forces": forces,
        }
        choices = {name: value for name, value in choices.items() if value is not None}
        given = {"until": self.simulation.until, **self.simulation.choices, **choices}
        if given["until"] is None:
            raise ModelError(
                self.path,
                0,
                "simulation.until",
                expected="until = … in [simulation], or simulate(until=…)",
                but="the simulation has no end",
            )
        if parameters is not None:
            choices["parameters"] = parameters
            given["parameters"] = {**self.simulation.choices.get("parameters", {}), **parameters}
        if self.events:
            given.setdefault("events", self.events)
        if q is None:
            q = self.start(given.get("parameters"), inactive)
        companions = None if store is None else self._companions()
        with self.telling("simulation", given=choices):
            run = simulate(self.system, q, v, companions=companions, **given)
        return run if companions else replace(run, companions=self._companions)

    @known_keywords()
    def resume(
        self,
        path: str | PathLike[str],
        *,
        events: Mapping[str, Watched] | None = None,
        controllers: Mapping[str, Controller] | None = None,
        store_every: float = 1.0,
        progress: bool | Report | None = None,
        certify: bool | float = False,
    ) -> Run:
        """Go on with a stored run of this model; see `zwang.resume`.

        Parameters
        ----------
        path : of ``simulate(…, store=path)``.
        events : those it was made with, of the file if not given.
        controllers : those it was made with.
        store_every : seconds between commits.
        progress, certify : as in `zwang.System.simulate`.
        """
        from zwang.simulation.resume import resume

        return resume(
            path,
            self.system,
            events=self.events if events is None else events,
            controllers=controllers,
            store_every=store_every,
            progress=progress,
            certify=certify,
        )

    def kinematics(
        self,
        times: ArrayLike | None = None,
        along: tuple[str, ArrayLike] | None = None,
        start: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Kinematics:
        """Kinematics as the table ``[kinematics]`` says; arguments replace what it says.

        Parameters
        ----------
        times, along, start : those of `zwang.Mechanism.kinematics`; the start is that of the file
            if not given.
        parameters : name → value in place of that of the file.
        """
        values = {**self.simulation.choices.get("parameters", {}), **(parameters or {})}
        if times is None and along is None:
            times, along = self._path()
        given = self.start_conditions
        if start is None and (given.request or given.q is not None):
            start = self.start(parameters)
        with self.telling("kinematics"):
            return self.system.kinematics(times, along, start, parameters=values)

    def inverse_dynamics(
        self,
        motion: Any,
        actuators: Sequence[str] | None = None,
        rule: str | None = None,
        weights: Any = None,
        *,
        start: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> InverseDynamics:
        """Efforts for a motion; what is not given is as the table ``[inverse_dynamics]`` says.

        Parameters
        ----------
        motion : as for `zwang.Mechanism.inverse_dynamics`, or the path of a CSV file with times in
            its first column and quantities in the others, by the names of its first line.
        actuators, rule, weights, start : as there; the start is that of the file if not given.
        parameters : name → value in place of that of the file.
        """
        table = self.analysis_tables.get("inverse_dynamics", {})
        if actuators is None and "inverse_dynamics" not in self._root:
            raise self._root.error(
                expected="[inverse_dynamics] with actuators = […]", but="there is no such table"
            )
        values = {**self.simulation.choices.get("parameters", {}), **(parameters or {})}
        notes: list[str] = []
        if isinstance(motion, str | PathLike):
            from zwang.model_files.motion_tables import motion_of_table

            motion, notes = motion_of_table(motion)
        given = self.start_conditions
        if start is None and (given.request or given.q is not None):
            start = self.start(parameters)
        with self.telling("inverse_dynamics", given=("motion", "quantity", "times")):
            found = self.system.inverse_dynamics(
                motion,
                table.get("actuators", ()) if actuators is None else actuators,
                rule or table.get("rule", "least norm"),
                table.get("weights") if weights is None else weights,
                start=start,
                parameters=values,
            )
        return replace(found, notes=(*notes, *found.notes)) if notes else found

    def _path(self) -> tuple[Any, Any]:
        """Times, or a driver with its values, of the table ``[kinematics]``."""
        values = self._range(
            "kinematics",
            "values",
            "They are times [s], or values of the driver or coordinate that along = … names.",
        )
        table = self.analysis_tables.get("kinematics", {})
        return (None, (table["along"], values)) if "along" in table else (values, None)

    def _range(self, name: str, key: str, advice: str) -> FloatArray:
        """The values of a table: all under one key, or steps from one to another."""
        table, item = self.analysis_tables.get(name, {}), self._root.under(name)
        if key in table:
            for other in ("from", "to", "steps"):
                if other in table:
                    raise item[other].error(f"'{other}' beside '{key}'", "one or the other")
            return np.asarray(table[key])
        if "to" not in table:
            expected = f"to = …, or {key} = […], in [{name}]"
            but = "there is neither" if name in self._root else "there is no such table"
            raise item.error(expected=expected, advice=advice, but=but)
        steps = table.get("steps", 100.0)
        if steps != int(steps):
            raise item["steps"].error(expected="a whole number of steps")
        return np.linspace(table.get("from", 0.0), table["to"], int(steps) + 1)

    def servo(
        self,
        program: Mapping[str, Any] | None = None,
        actuators: Any = None,
        *,
        start: Any = None,
        t: float | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Servo:
        """Servo constraints as the table ``[servo]`` says; arguments replace what it says.

        ``model.servo().solve(model.servo_times)`` gives motion and efforts.

        Parameters
        ----------
        program, actuators, start : those of `zwang.Mechanism.servo`; the start is that of the file
            if not given.
        t : time of the start [s]; the first of the table if not given.
        parameters : name → value in place of that of the file.
        """
        table = self.analysis_tables.get("servo", {})
        if program is None or actuators is None:
            for key in ("program", "actuators"):
                if key not in table:
                    there = f"no '{key}'" if "servo" in self._root else "no such table"
                    raise self._root.under("servo").error(
                        but=f"there is {there}", expected=f"[servo] with {key} = …"
                    )
        values = {**self.simulation.choices.get("parameters", {}), **(parameters or {})}
        if t is None:
            t = float(np.min(self.servo_times)) if table.keys() & {"to", "times"} else 0.0
        given = self.start_conditions
        if start is None and (given.request or given.q is not None):
            start = self.start(parameters)
        with self.telling("servo"):
            if program is None:
                p = {**self.system.parameters, **values}
                program = {
                    name: _with_values(formula, p) for name, formula in table["program"].items()
                }
            return self.system.servo(
                program,
                table["actuators"] if actuators is None else actuators,
                start=start,
                t=t,
                parameters=values,
            )

    @property
    def servo_times(self) -> FloatArray:
        """Times of the table ``[servo]`` [s]."""
        return self._range("servo", "times", "Or give times to solve().")

    def equilibrium(
        self,
        start: Any = None,
        *,
        hold: Mapping[str, Any] | None = None,
        prefer: Mapping[str, Any] | None = None,
        t: float | None = None,
        rates: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Equilibrium | SteadyMotion:
        """Rest, or a steady motion where rates are given, as ``[equilibrium]`` says.

        Parameters
        ----------
        start, hold, prefer, t : those of `zwang.System.equilibrium`, in place of the file's; the
            search begins at the start of the file if not given.
        rates : those of `zwang.System.steady_motion`.
        parameters : name → value in place of that of the file.
        """
        table = self.analysis_tables.get("equilibrium", {})
        values = {**self.simulation.choices.get("parameters", {}), **(parameters or {})}
        hold = table.get("hold") if hold is None else hold
        prefer = table.get("prefer") if prefer is None else prefer
        time = float(table.get("t", 0.0)) if t is None else t
        rates = table.get("rates") if rates is None else rates
        given = self.start_conditions
        if start is None and not hold and not prefer and (given.request or given.q is not None):
            start = self.start(parameters)
        with self.telling("equilibrium"):
            if rates:
                return self.system.steady_motion(rates, start, hold, time, values)
            return self.system.equilibrium(start, hold, prefer, time, values)

    def linearize(
        self,
        state: Any = None,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        independent: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Linearization:
        """Small motions about rest or a steady motion, as ``[linearize]`` says.

        Parameters
        ----------
        state : an `Equilibrium` or a `SteadyMotion`; that of `equilibrium` if not given.
        inputs, outputs, independent : those of `zwang.System.linearize`, in place of the file's.
        parameters : name → value in place of that of the file.
        """
        table = self.analysis_tables.get("linearize", {})
        at = self.equilibrium(parameters=parameters) if state is None else state
        ports: dict[str, Any] = {
            "inputs": table.get("inputs") if inputs is None else inputs,
            "outputs": table.get("outputs") if outputs is None else outputs,
            "independent": table.get("independent") if independent is None else independent,
        }
        with self.telling("linearize"):
            if hasattr(at, "linearize"):
                return at.linearize(**ports)
            values = {**self.simulation.choices.get("parameters", {}), **(parameters or {})}
            return self.system.linearize(at, **ports, parameters=values)

    @contextmanager
    def telling(self, table: str, given: Iterable[str] = ()) -> Iterator[None]:
        """Give errors of the library, raised in this context, their place in the file.

        Parameters
        ----------
        table : the one whose keys wrong arguments come from.
        given : arguments that do not come from the file.
        """
        try:
            yield
        except InputError as error:
            if error.what.partition(" ")[0] in given:
                raise
            place = _of_parameter(self._root, error) or _narrowed(self._root.under(table), error)
            raise place.blamed(error) from None
        except StoreError:
            raise  # about a folder, and nothing in the file
        except ZwangError as error:
            raise self._root.located(error, table) from None

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the file anew, from what was read."""
        write_model(self, path, overwrite=overwrite)

    def _companions(self) -> dict[str, bytes]:
        """What goes into the folder of a stored run: the file, and the meshes that it names."""
        files = {IN_A_RUN: self.text.encode()}
        parts = () if self.mechanism is None else self.mechanism.parts.bodies
        names: dict[str, str] = {}
        for body in parts:
            if body.mesh is None:
                continue
            written = self._root["body"][body.name]["mesh"].value
            path = written if isinstance(written, str) else written["file"]
            if path not in names:
                names[path] = f"mesh-{len(names)}{body.mesh.file.suffix.lower()}"
                files[names[path]] = body.mesh.content
        return {**files, MESHES_IN_A_RUN: json.dumps(names).encode()} if names else files


def _own(value: Any) -> Any:
    """Tables, lists and arrays anew; what is in them, numbers and formulas, is not changed."""
    if isinstance(value, dict):
        return {key: _own(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_own, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _with_values(formula: Any, p: Mapping[str, Any]) -> Any:
    """An expression of t and parameters as a function of t alone."""
    return lambda t: formula(t, p)


#: Tables of what has numbers by dotted names; a case may have the name of a body.
_PARTS = ("body", "coordinate", "joint", "constraint", "drive", "couple", "force", "friction")


def _of_parameter(root: Item, error: InputError) -> Item | None:
    """Where the file has what ``parameter 'crank.mass'`` is a number of."""
    found = re.match(r"parameter '(\w+)\.(\w+)'", error.what)
    if found is None:
        return None
    owner, key = found.groups()
    parts = [root[kind][owner] for kind in _PARTS if kind in root and owner in root[kind]]
    with_it = [part for part in parts if key in part]
    if with_it:
        return with_it[0][key]
    return parts[0] if len(parts) == 1 else None


def _narrowed(place: Item, error: InputError) -> Item:
    """The key within a table that an error names, however deep it stands."""
    name = getattr(error, "name", None)
    names = [name] if name is not None else re.findall("'([^']+)'", error.what)
    waiting = [place]
    while waiting:
        item = waiting.pop()
        for name in names:
            if name in item:
                return item[name]
            for entry in item:
                if isinstance(entry.value, list) and name in entry.value:
                    return entry
        waiting += [entry for entry in item if isinstance(entry.value, dict)]
    return place


@known_keywords()
def read_model(
    path: str | PathLike[str],
    *,
    values: Mapping[str, Any] | None = None,
    case: str | None = None,
) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : of a TOML file, or of the folder of a run that was made from one.
    values : name → value in place of that in the file: its constants, on which geometry may depend,
        its parameters, and any parameter of the mechanism such as ``"crank.mass"``.
    case : one of the tables ``[case.NAME]`` of the file, whose values and settings are taken.

    Raises
    ------
    ModelError
        Something in the file cannot be meant: the message has file, line, key, what was found and
        what was expected.
    """
    from zwang.model_files.cases import case_values, with_case
    from zwang.model_files.document import read_text
    from zwang.model_files.given_values import unfit_values, with_values
    from zwang.model_files.read import model_of
    from zwang.model_files.read_again import read_again

    where = path_of(path, "model file")
    folder = is_folder(where)
    file = where
    if folder:
        from zwang.results.store import companion

        file = companion(where, IN_A_RUN)
    if folder and _missing(file):
        raise ModelError(
            str(where),
            0,
            "",
            expected="a model file, or the folder of a run that was made from one",
            found="a folder without a model",
            advice="zwang verify and zwang report take the model by --model.",
        )
    text, rest = read_text(file), {}
    if case is not None:
        values = {**case_values(text, str(file), case), **(values or {})}
    if values:
        text, rest = with_values(text, str(file), values)
    kept = _kept_meshes(where) if folder else {}
    try:
        model = read_again(text, str(file), where.stem, kept)
    except ModelError as error:
        if values:
            model_of(read_text(file), str(file), where.stem, kept)  # raises if the file is wrong
            raise unfit_values(values, error) from None
        raise
    model = _with_parameters(model, rest) if rest else model
    return model if case is None else with_case(model, case)


def _with_parameters(model: Model, values: Mapping[str, Any]) -> Model:
    """The model with other values of parameters that the file does not name."""
    known = model.system.parameters
    own = [*model.text_constants, *(n for n in known if "." not in n and n != "gravity")]
    for name in values:
        if name not in known:
            # Numbers of parts are not listed: there are too many to say to a name without a part.
            near = [*own, *(n for n in known if "." in name and n not in own)]
            dotted = [n for n in known if n.endswith(".mass")] if not near_names(name, near) else []
            more = f"Numbers of parts have dotted names: {dotted[0]}." if dotted else ""
            raise UnknownNameError("constant or parameter", name, near, more, listed=own)
    values = {name: _of_part(model, name, value) for name, value in values.items()}
    choices = dict(model.simulation.choices)
    choices["parameters"] = {**choices.get("parameters", {}), **values}
    return replace(model, simulation=replace(model.simulation, choices=choices))


def _of_part(model: Model, name: str, value: Any) -> Any:
    """A value of a number of a body, joint or force; text with a unit where its own is known."""
    from zwang.model_files.arithmetic import ExpressionError
    from zwang.model_files.units import is_quantity, quantity
    from zwang.model_files.units_of_parts import unit_of_part

    if not isinstance(value, str):
        return value
    unit = "" if model.mechanism is None else unit_of_part(model.mechanism.parts, name)
    if not (unit and is_quantity(value)):
        raise InputError(
            f"value of {name!r}",
            found=repr(value),
            expected="a number or a list of numbers, in SI units",
            advice="Units are understood for the constants and parameters of the file, and for "
            "numbers of bodies, joints and forces whose unit is known.",
        )
    try:
        return quantity(value, unit)
    except ExpressionError as error:
        raise InputError(f"value of {name!r}", found=error.found, expected=error.expected) from None


def _missing(file: Path) -> bool:
    """Whether there is nothing; of what may not be looked at, no: reading it says why."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _kept_meshes(store: Path) -> dict[str, Path]:
    """Path of a mesh as the model has it → where the stored run has it."""
    from zwang.results.store import companion

    index = companion(store, MESHES_IN_A_RUN)
    try:
        if not index.is_file():
            return {}
        names = json.loads(index.read_bytes())
        return {path: companion(store, name) for path, name in names.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise DamageError(
            f"store {str(store)!r}, list of meshes", but=f"cannot be read ({error})"
        ) from None


@known_keywords()
def write_model(
    model: Mechanism | System | Model, path: str | PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a mechanism or a system to a model file, from which the same can be read.

    Functions must be expressions that came from a model file: a Python function is refused by the
    name of what it belongs to, and nothing is written.

    Parameters
    ----------
    model : what to write; a `Model` is written with its start and simulation.
    path : of the file.
    overwrite : whether a file that is there may be replaced.

    Raises
    ------
    InputError
        Something has no form in a file, or the file exists.
    """
    from zwang.model_files.write import text_of

    where = path_of(path, "model file")
    text = text_of(model, where.parent)
    if os.path.lexists(where) and not overwrite:
        raise InputError(
            f"file '{where}'",
            must="not exist yet",
            but="does",
            advice="overwrite=True replaces it.",
        )
    try:
        where.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"model file '{where}'",
            must="be a file that can be written",
            but=(error.strerror or str(error)).lower(),
            advice="Choose another place.",
        ) from None
