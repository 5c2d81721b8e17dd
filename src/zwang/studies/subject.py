"""What a study is of: a system, a mechanism or a model file, and what names of a plan mean there.

A name that varies is a parameter of the system (``gravity[2]`` for one entry), a constant of the
model file, an initial value (``start.pin.angle``) or a setting (``settings.tolerance``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import angle_notes
from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.mechanism import Mechanism
from zwang.model_files.document import Item
from zwang.model_files.given_values import TABLES
from zwang.model_files.model import Model, read_model
from zwang.model_files.units_of_parts import unit_of_part
from zwang.multibody.pose import SCALAR
from zwang.results.channel_catalog import unit_of_state
from zwang.results.model_digest import describe_events, describe_model
from zwang.simulation.start import parameter_rows
from zwang.studies.expressions import (
    FUNCTIONS,
    calls_in,
    evaluated,
    function_name,
    names_in,
    parsed,
)
from zwang.studies.outputs import TAKEN
from zwang.studies.plan import SETTINGS, StudyPlan, located
from zwang.studies.quantities import (
    given_unit,
    require_kind,
    unit_of_value,
    written_unit,
)
from zwang.studies.uses_of_constants import constants_in_expressions
from zwang.system import System
from zwang.terms import FloatArray
from zwang.tracing.event import Event, Watched, events_of

if TYPE_CHECKING:
    from zwang.multibody.frozen import Parts

__all__ = ["Subject", "subject_of", "unit_in_plan"]

#: Rows of what varies in which initial angles are looked at.
LOOKED_AT = 1000
_ENTRY = re.compile(r"(?P<name>.+)\[(?P<place>\d{1,6})\]")


def subject_of(given: Any, events: Mapping[str, Watched] | None = None) -> Subject:
    """From a system, a mechanism, a model or the path of a model file; with events of the call."""
    found = _subject_of(given)
    if not events:
        return found
    if found.model is not None:
        raise InputError(
            "events of a study",
            must="be given for a System or a Mechanism",
            but="the model is a file, which has its own",
            advice="Write them there, under [events].",
        )
    return replace(found, own_events=events_of(events))


def _subject_of(given: Any) -> Subject:
    if isinstance(given, Subject):
        return given
    if isinstance(given, str | PathLike):
        given = read_model(given)
    if isinstance(given, Model):
        return Subject(given.system, given.mechanism, given)
    if isinstance(given, Mechanism):
        return Subject(given.system, given, None)
    if isinstance(given, System):
        return Subject(given, None, None)
    raise InputError(
        "model of a study",
        found=shown(given),
        expected="a System, a Mechanism, a Model or the path of a model file",
    )


@dataclass(frozen=True)
class Subject:
    """What a study is of.

    Attributes
    ----------
    system : all runs are of this one; only numbers vary.
    mechanism, model : what it was made from, if there is such.
    own_events : of a system or mechanism, which has none of its own.
    held : constants that vary in the plan and that the model was read with.
    """

    system: System
    mechanism: Mechanism | None
    model: Model | None
    own_events: Mapping[str, Event] = field(default_factory=dict)
    held: frozenset[str] = frozenset()

    @property
    def events(self) -> Mapping[str, Event]:
        """What is watched in all runs."""
        return self.own_events if self.model is None else self.model.events

    # --- names ------------------------------------------------------------------------------------

    def kind(self, name: str) -> str:
        """What a name that varies is: "parameter", "constant", "start", "setting", "analysis".

        Raises
        ------
        UnknownNameError : it is none of them.
        """
        head, _, rest = name.partition(".")
        if head == "settings":
            if rest not in SETTINGS:
                raise UnknownNameError("setting", rest, SETTINGS)
            return "setting"
        parameters, constants = self.system.parameters, self.constants
        if name in parameters:
            if np.ndim(parameters[name]):
                raise InputError(
                    f"parameter {name!r}",
                    must="vary by one of its entries",
                    but=f"has shape {np.shape(parameters[name])}",
                    advice=f"Write {name}[0] for the first.",
                )
            return "parameter"
        if name in constants:
            return "constant"
        match = _ENTRY.fullmatch(name)
        if match and match["name"] in parameters:
            size = np.size(parameters[match["name"]])
            if np.ndim(parameters[match["name"]]) != 1 or int(match["place"]) >= size:
                raise InputError(f"entry {name!r}", must=f"be one of {size} in a list")
            return "parameter"
        if head == "start":
            if rest not in self.start_names:
                raise UnknownNameError("initial value", rest, self.start_names)
            return "start"
        if head == "analysis" and rest:
            return "analysis"
        known = [*constants, *parameters, "start.…", "settings.…"]
        more = (
            f"A number of the mechanism that is to vary is a parameter: m.parameter({name!r}, …), "
            "used where the number was."
            if self.mechanism is not None and self.model is None and name.isidentifier()
            else ""
        )
        raise UnknownNameError("parameter", name, known, more)

    @property
    def constants(self) -> tuple[str, ...]:
        """Constants of the file of a mechanism, whose dimensions may depend on them."""
        if self.model is None or self.mechanism is None:
            return ()
        return self.model.text_constants

    @property
    def start_names(self) -> tuple[str, ...]:
        """What a start may be given by."""
        system = self.system
        return (*system.coordinates, *system.velocities, *getattr(system, "channels", ()))

    def check(self, plan: StudyPlan) -> None:
        """Refuse names of a plan that this has no meaning for, with their places."""
        for block in ("grid", "list", "table", "random", "sobol", "latin_hypercube"):
            if block not in plan.root:
                continue
            inside = plan.root[block].value
            for name in plan.names if block == "table" else inside:
                self._require(plan, block, name)
        for name, value in plan.parameters.items():
            formula = name in plan.formulas
            try:
                self.system.parameter_vector({name: np.ones(np.shape(value)) if formula else value})
            except InputError as error:
                raise located(plan, error, "parameters", name) from None
            if formula and name in plan.names:
                raise (
                    plan.root.under("parameters")
                    .under(name)
                    .error(but="it is an expression here, and varies", expected="one of both")
                )
        if plan.formulas:
            self.parameters(plan, plan.rows(0, 1), 1)
        for name in plan.start:
            if name not in self.start_names:
                error = UnknownNameError("initial value", name, self.start_names)
                raise located(plan, error, "start", name)
        if self.until(plan) is None and plan.compute == "run":
            raise plan.root.error(but="'until' is missing", expected="the end of the runs [s]")

    def _require(self, plan: StudyPlan, block: str, name: str) -> None:
        try:
            kind = self.kind(name)
        except InputError as error:
            raise located(plan, error, block, name) from None
        if kind == "analysis" and plan.compute == "run":
            raise (
                plan.root.under(block)
                .under(name)
                .error(but="the plan computes runs", expected='compute = "equilibrium" or another')
            )
        item = plan.root.under(block).under(name)
        if name in TAKEN or "/" in name:
            raise item.error(but=f"the dataset has {name!r} for itself", expected="another name")
        if block != "table":
            require_kind(item, self.unit(name))
        values = plan.rows(0, 1)[name]
        text = values.dtype.kind in "US"
        if text != (kind == "setting" and SETTINGS[name.partition(".")[2]] is str):
            expected = "numbers" if text else "words, such as 'order8'"
            raise plan.root.under(block).under(name).error(expected=expected)

    def unit(self, name: str) -> str:
        """The SI unit of a name that varies, where it is known."""
        kind = self.kind(name)
        tables = {} if self.model is None else self.model.tables
        for table in TABLES:
            written = tables.get(table, {})
            if kind != "start" and name in written:
                return unit_of_value(written[name])
        if self.mechanism is None:
            return ""
        if kind == "start":
            return unit_of_state(name.partition(".")[2])
        return unit_of_part(self.mechanism.parts, name)

    @property
    def digest(self) -> str:
        """Equal for the same equations and parameters, begun and simulated alike.

        Of a model file all tables count but its name and description: where the motion begins and
        ends, how it is computed, what is an event.
        """
        system = self.system
        values = hashlib.sha256(system.parameter_vector().tobytes()).hexdigest()
        found = f"{describe_model(system)['digest']} {values}"
        if self.model is None:
            watched = describe_events(system, self.own_events)
            return f"{found} {json.dumps(watched, sort_keys=True)}" if watched else found
        tables = {name: x for name, x in self.model.tables.items() if name != "model"}
        text = json.dumps(tables, sort_keys=True, default=str)
        return f"{found} {hashlib.sha256(text.encode()).hexdigest()}"

    # --- values -----------------------------------------------------------------------------------

    def until(self, plan: StudyPlan) -> float | None:
        """End of the runs [s], of the plan or the model."""
        if plan.until is not None or self.model is None:
            return plan.until
        return self.model.simulation.until

    @property
    def start_time(self) -> float:
        """When runs begin [s]."""
        return 0.0 if self.model is None else self.model.start_conditions.t

    def settings(self, plan: StudyPlan) -> dict[str, Any]:
        """Arguments of `simulate`, of the model and the plan."""
        given = {} if self.model is None else self.model.simulation.choices
        chosen = {name: given[name] for name in SETTINGS if name in given}
        return {**chosen, **plan.settings}

    def fixed_parameters(self, plan: StudyPlan) -> dict[str, Any]:
        """Values that are the same in all runs and not the defaults."""
        given = {} if self.model is None else self.model.simulation.choices.get("parameters", {})
        return {**given, **plan.fixed}

    def parameters(
        self, plan: StudyPlan, rows: Mapping[str, np.ndarray], count: int
    ) -> tuple[dict[str, FloatArray], dict[int, str]]:
        """Name → values of the parameters (N, …) that are not defaults, and refusals by row."""
        values: dict[str, FloatArray] = {}
        for name, value in self.fixed_parameters(plan).items():
            array = np.asarray(value, dtype=float)
            values[name] = np.broadcast_to(array, (count, *array.shape))
        refusals: dict[int, str] = {}
        constants = [name for name in rows if self.kind(name) == "constant"]
        if constants and not self.held:
            found, refusals = self._by_constants({name: rows[name] for name in constants}, count)
            values = {**found, **values}
        for name, column in rows.items():
            if self.kind(name) != "parameter":
                continue
            match = _ENTRY.fullmatch(name) if name not in self.system.parameters else None
            if match is None:
                values[name] = column
                continue
            owner = match["name"]
            default = np.asarray(self.system.parameters[owner], dtype=float)
            whole = np.array(values.get(owner, np.broadcast_to(default, (count, default.size))))
            whole[:, int(match["place"])] = column
            values[owner] = whole
        return values | self._by_formulas(plan, rows, values, count), refusals

    def _by_formulas(
        self,
        plan: StudyPlan,
        rows: Mapping[str, np.ndarray],
        values: Mapping[str, FloatArray],
        count: int,
    ) -> dict[str, FloatArray]:
        """Parameters (N, …) that the plan gives as expressions, in the order of the plan."""
        formulas = plan.formulas
        if not formulas:
            return {}
        known: dict[str, Any] = {**self.system.parameters, **values}
        known = {name: x for name, x in known.items() if np.ndim(x) == (name in values)}
        known |= {name: x for name, x in rows.items() if x.dtype.kind == "f"}
        known = {name: x for name, x in known.items() if name not in formulas}
        result: dict[str, FloatArray] = {}
        for name, formula in formulas.items():
            entries = formula if isinstance(formula, list) else [formula]
            columns = [
                np.broadcast_to(self._value_of(plan, name, e, known), (count,)) for e in entries
            ]
            result[name] = np.stack(columns, axis=1) if isinstance(formula, list) else columns[0]
            if result[name].ndim == 1:
                known[name] = result[name]
        return result

    def _value_of(self, plan: StudyPlan, name: str, entry: Any, known: Mapping[str, Any]) -> Any:
        """A number, or the values (N,) of an expression."""
        if not isinstance(entry, str):
            return float(entry)
        tree = parsed(entry, "parameter")
        for used in names_in(tree):
            if used in known:
                continue
            later = used in plan.formulas and used != name
            raise located(
                plan,
                InputError(
                    f"parameter {name!r}",
                    expected="an expression of parameters and of what varies",
                    but=f"{used!r} is {'given after it' if later else 'neither'}",
                    advice=f"Give {used!r} first." if later else None,
                ),
                "parameters",
                name,
            )
        for call in calls_in(tree):
            unknown = UnknownNameError("function", function_name(call), FUNCTIONS)
            raise located(plan, unknown, "parameters", name)
        return evaluated(tree, known)

    def notes(self, plan: StudyPlan) -> list[str]:
        """What is to be said of a plan: what it perhaps means otherwise than it says."""
        return [*self._masses_alone(plan), *_far_angles(plan)]

    def _masses_alone(self, plan: StudyPlan) -> list[str]:
        """Of masses that vary while moments of inertia stay."""
        if self.mechanism is None:
            return []
        given = {name.partition("[")[0] for name in (*plan.names, *plan.parameters)}
        return [
            f"{body.name}.mass varies and {body.name}.inertia stays: to vary both, give "
            f'parameters = {{"{body.name}.inertia": "k * {body.name}.mass"}}, or list the two'
            for body in self.mechanism.parts.bodies
            if f"{body.name}.mass" in plan.names
            and f"{body.name}.inertia" not in given
            and body.kind is not SCALAR
            and body.inertia.tensor.any()
        ]

    def vectors(
        self, values: Mapping[str, FloatArray], count: int
    ) -> tuple[FloatArray, dict[int, str]]:
        """Parameters (N, np) as flat arrays, and refusals by row."""
        return parameter_rows(self.system, values, count)

    def _by_constants(
        self, rows: Mapping[str, np.ndarray], count: int
    ) -> tuple[dict[str, FloatArray], dict[int, str]]:
        """Numbers of the mechanism with other constants of its file; equations stay the same."""
        assert self.mechanism is not None
        base = self.mechanism.parts
        names = list(base.all_parameters)
        values = {
            name: np.tile(np.asarray(x, dtype=float), (count, *[1] * np.ndim(x)))
            for name, x in base.all_parameters.items()
        }
        refusals: dict[int, str] = {}
        known: dict[tuple[float, ...], Parts | str] = {}
        for i in range(count):
            key = tuple(float(column[i]) for column in rows.values())
            if key not in known:
                known[key] = self._parts_with(dict(zip(rows, key, strict=True)), base)
            parts = known[key]
            if isinstance(parts, str):
                refusals[i] = parts
                continue
            for name in names:
                values[name][i] = parts.all_parameters[name]
        changed = {
            name: column
            for name, column in values.items()
            if not np.array_equal(column, np.broadcast_to(base.all_parameters[name], column.shape))
        }
        return changed, refusals

    def constants_read_anew(self, rows: Mapping[str, np.ndarray]) -> tuple[str, ...]:
        """Constants that vary for which the file is read anew.

        All where dimensions depend on parameters, too: the mechanism knows these with one set of
        constants. Otherwise those in laws, outputs, events and settings.
        """
        if self.mechanism is None or self.model is None or self.held:
            return ()
        names = tuple(name for name in rows if self.kind(name) == "constant")
        if not names or self.mechanism.parts.geometry is not None:
            return names
        used = constants_in_expressions(self.model.text)
        return names if used.intersection(names) else ()

    def of_row(self, rows: Mapping[str, np.ndarray]) -> Subject:
        """What the first row is of: this itself, or the file with the constants of that row."""
        names = self.constants_read_anew(rows)
        return self.with_constants({n: float(rows[n][0]) for n in names}) if names else self

    def with_constants(self, constants: Mapping[str, float]) -> Subject:
        """The same of the file with other constants."""
        model = self._model_with(constants)
        return replace(
            self,
            system=model.system,
            mechanism=model.mechanism,
            model=model,
            held=frozenset(constants),
        )

    def _model_with(self, constants: Mapping[str, float]) -> Model:
        from zwang.model_files.given_values import with_values
        from zwang.model_files.read import model_of

        assert self.model is not None
        text, _ = with_values(self.model.text, self.model.path, constants)
        return model_of(text, self.model.path, self.model.name)

    def _parts_with(self, constants: Mapping[str, float], base: Parts) -> Parts | str:
        """The mechanism of the file with other constants, or why there is none."""
        try:
            model = self._model_with(constants)
            assert model.mechanism is not None
            parts = model.mechanism.parts
        except ZwangError as error:
            return str(error)
        shapes = {name: np.shape(x) for name, x in parts.all_parameters.items()}
        if shapes != {name: np.shape(x) for name, x in base.all_parameters.items()}:
            return (
                "the constants change which numbers the mechanism has, such as a tensor that is "
                "no longer diagonal; make them parameters of the file"
            )
        return parts

    # --- sending ----------------------------------------------------------------------------------

    def payload(self) -> bytes:
        """How this is made again elsewhere."""
        import pickle

        if self.model is not None:
            given: Any = ("text", self.model.text, self.model.path, self.model.name)
            return pickle.dumps(given)
        made_from = self.system if self.mechanism is None else self.mechanism
        given = ("object", made_from, dict(self.own_events))
        try:
            return pickle.dumps(given)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            try:
                import cloudpickle

                return cloudpickle.dumps(given)
            except (ImportError, pickle.PicklingError, AttributeError, TypeError):
                raise InputError(
                    "model of a study",
                    must="be one that other processes can make again",
                    but=f"cannot be sent ({error})",
                    advice="Write it as a model file, or define its functions in a module.",
                ) from None

    @classmethod
    def of_payload(cls, payload: bytes) -> Subject:
        """Made again from `payload`."""
        import pickle

        from zwang.model_files.read import model_of

        kind, *given = pickle.loads(payload)  # noqa: S301 - our own, sent by the study
        return subject_of(model_of(*given)) if kind == "text" else subject_of(*given)

    @property
    def text(self) -> str | None:
        """The model file, where there is one or it can be written."""
        from zwang.model_files.write import text_of

        if self.model is not None:
            return self.model.text
        if self.own_events:
            return None
        try:
            return text_of(self.system if self.mechanism is None else self.mechanism)
        except ZwangError:
            return None


def unit_in_plan(subject: Subject, plan: StudyPlan, name: str) -> str:
    """The unit of a parameter or of what varies: its own, or that in which the plan has it."""
    item = _in_plan(plan, name)
    return subject.unit(name) or ("" if item is None else given_unit(item))


def unit_as_written(plan: StudyPlan, name: str) -> str:
    """The unit that a plan writes the values of what varies in; empty where it is none."""
    item = _in_plan(plan, name)
    return "" if item is None else written_unit(item)


def _far_angles(plan: StudyPlan) -> list[str]:
    """Of initial angles that are plain numbers: degrees may have been given for radians."""
    notes = []
    if "start" in plan.root:
        plain = {item.name: item.value for item in plan.root["start"]}
        notes += angle_notes({f"start.{name}": value for name, value in plain.items()})
    for block in plan.samples:
        some = np.unique(np.linspace(0, block.count - 1, LOOKED_AT).astype(np.int64))
        for name, column in block.values(some).items():
            item = _in_plan(plan, name)
            if name.startswith("start.") and (item is None or not given_unit(item)):
                told = (angle_notes({name: value}) for value in column)
                notes += next(filter(None, told), [])
    return notes


def _in_plan(plan: StudyPlan, name: str) -> Item | None:
    blocks = [b for b in plan.root if isinstance(b.value, dict) and name in b.value]
    return blocks[0][name] if blocks else None
