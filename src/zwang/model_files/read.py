"""Text of a model file → `Model`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zwang.mechanism import Mechanism
from zwang.model_files.arithmetic import CONSTANTS, FUNCTIONS
from zwang.model_files.cases import require_cases
from zwang.model_files.dimensions import Measured
from zwang.model_files.document import Item, blaming, parse
from zwang.model_files.event_values import (
    require_no_dimensions,
    require_settable,
    require_switchable,
    value_watched,
)
from zwang.model_files.fields import NumberField
from zwang.model_files.formulas import Definitions, names_used, time_formula
from zwang.model_files.geometry import FileConstants
from zwang.model_files.layout import ANALYSIS_TABLES, FILE, MECHANISM_ONLY, SYSTEM_ONLY
from zwang.model_files.mechanisms import mechanism_of
from zwang.model_files.model import Model, SimulationRequest, Start
from zwang.model_files.output_units import unit_of_output
from zwang.model_files.outputs import (
    MechanismNames,
    channel_formula,
    channel_units,
    require_one_value,
)
from zwang.model_files.systems import StateNames, state_formula, system_of
from zwang.model_files.units import dimension_of_text, is_quantity
from zwang.multibody.joint_coordinates import Channels
from zwang.results.channel_catalog import unit_of_state
from zwang.system import System
from zwang.tracing.event import Event, bounce, event, set_parameters, switch
from zwang.tracing.own_output import OwnOutput, outputs_of

__all__ = ["model_of"]


def model_of(
    text: str, file: str, name: str | None = None, kept: Mapping[str, Path] | None = None
) -> Model:
    """The model of a text.

    Parameters
    ----------
    file : its name for messages; paths in the text begin in its folder.
    name : of the model, where the text does not give it.
    kept : path in the text → where that file is kept.
    """
    root = parse(text, file).root
    constants = _with_parameters(root, _constants(root))
    values = FILE.read(root, constants)
    is_system = _require_one_kind(root, values)
    _require_free_names(root, values)
    if "case" in values:
        require_cases(root, values)
    definitions = Definitions.of(values.get("define", {}), constants, constants.measured)
    folder, elsewhere = Path(file).parent, kept or {}

    def files(path: str) -> Path:
        return elsewhere.get(path, folder / path)

    mechanism = None if is_system else mechanism_of(root, values, definitions, files)
    system = system_of(root, values, definitions) if is_system else None
    names = _names(mechanism, system)
    if mechanism is not None:
        _outputs(root, values, mechanism, definitions)
    elif "output" in values:
        assert system is not None
        system = _with_outputs(root, values, system, definitions)
    if mechanism is not None:
        _require_units(root, mechanism)
    events = {
        name: _event(root["event"][name], given, names, (mechanism, system), definitions)
        for name, given in values.get("event", {}).items()
    }
    about = values.get("model", {})
    chosen = dict(values.get("simulation", {}))
    until = chosen.pop("until", None)
    return Model(
        about.get("name", name or Path(file).stem),
        about.get("description", ""),
        mechanism,
        _start(root, values.get("start", {}), is_system=is_system),
        SimulationRequest(until, chosen),
        events,
        text,
        system,
        root,
        _analyses(values, names.parameters, definitions, mechanism),
    )


def _analyses(
    values: Mapping[str, Any],
    parameters: tuple[str, ...],
    definitions: Definitions,
    mechanism: Mechanism | None,
) -> dict[str, Any]:
    """Tables of analyses, with the program of servo constraints as functions of t and p."""
    tables = {name: values[name] for name in ANALYSIS_TABLES if name in values}
    if "servo" in tables:
        parts = None if mechanism is None else mechanism.parts
        units = {} if parts is None else channel_units(MechanismNames(parts, {}), parts)
        program = {
            name: time_formula(item, parameters, definitions, units.get(name) or None)
            for name, item in tables["servo"]["program"].items()
        }
        tables["servo"] = {**tables["servo"], "program": program}
    return tables


def _constants(root: Item) -> dict[str, float]:
    """Numbers by name; each may use those before it."""
    constants: dict[str, float] = {}
    if "constants" not in root:
        return constants
    if not isinstance(root["constants"].value, dict):
        raise root["constants"].error(expected="a table of names and values")
    for item in root["constants"]:
        constants[item.name] = NumberField().read(item, constants)
    return constants


def _with_parameters(root: Item, constants: dict[str, float]) -> FileConstants:
    """Constants with the parameters of the file, which geometry may depend on."""
    measured = {
        item.name: None if dimension is None else Measured(dimension)
        for table in ("constants", "parameters")
        if table in root and isinstance(root[table].value, dict)
        for item in root[table]
        if isinstance(item.value, str)
        for dimension in [dimension_of_text(item.value)]
    }
    declared: dict[str, Any] = {}
    if "parameters" in root:
        declared = FILE.fields["parameters"].kind.read(root["parameters"], constants)
    return FileConstants(constants, declared, measured)


def _require_one_kind(root: Item, values: Mapping[str, Any]) -> bool:
    """Whether the file is of a system; one that is of both, or of none, is refused."""
    if "system" in values:
        for key in ("mechanism", *MECHANISM_ONLY):
            if key in values:
                raise root[key].error(
                    but=f"[{key}] and [system] are both given", expected="a mechanism or a system"
                )
        return True
    for key in SYSTEM_ONLY:
        if key in values:
            raise root[key].error(but="there is none", expected=f"[system] with [{key}]")
    if not values.get("body") and not values.get("coordinate"):
        raise root.error(
            but="there are neither",
            expected="[body.NAME] for a mechanism, or [system]",
            advice="'zwang new NAME' writes a file to start from.",
        )
    return False


def _require_free_names(root: Item, values: Mapping[str, Any]) -> None:
    """Names in expressions mean one thing: constants and definitions may not hide others."""
    taken = {**dict.fromkeys(FUNCTIONS, "a function"), **dict.fromkeys(CONSTANTS, "a constant")}
    taken |= dict.fromkeys(("t", "ground", "gravity"), "a name of every model")
    kinds = ("parameters", "body", "coordinate", "constants", "define")
    for kind in kinds:
        for item in root[kind] if kind in values else ():
            if kind in ("body", "coordinate") and item.name in FUNCTIONS:
                continue  # point(point, …) is hard to read, and clear
            if item.name in taken:
                raise item.error(f"{item.name!r}, {taken[item.name]} too", "a unique name")
            if not item.name.isidentifier():
                first = " that begins with a letter" if item.name[:1].isdigit() else ""
                raise item.error(repr(item.name), f"a name of letters, digits and _{first}")
            taken[item.name] = f"one of [{kind}]"
    for entry in root["system"]["coordinates"] if "system" in values else ():
        if entry.value in taken:
            raise entry.error(f"{entry.value!r}, {taken[entry.value]} too", "a unique name")


def _names(mechanism: Any, system: Any) -> StateNames:
    """What the expressions of events may name."""
    if system is not None:
        d = system.definition
        return StateNames(d.coordinates, d.velocities, tuple(d.parameters))
    parts = mechanism.parts
    return StateNames(parts.coordinates, parts.velocities, tuple(parts.parameters))


def _require_units(root: Item, mechanism: Mechanism) -> None:
    """Refuse values of coordinates and rates with a unit of another kind."""
    if "start" not in root and "equilibrium" not in root:
        return
    parts = mechanism.parts
    known = {*parts.coordinates, *parts.velocities, *Channels(parts).names}
    tables = [("start", key) for key in ("hold", "prefer", "q", "v")]
    tables += [("start", "velocity", key) for key in ("hold", "prefer")]
    tables += [("equilibrium", key) for key in ("hold", "prefer")]
    for way in tables:
        item = root
        for key in way:
            item = item.under(key) if isinstance(item.value, dict) else item
        for entry in _entries_below(item) if item.name == way[-1] else ():
            name = ".".join(map(str, entry.key[len(way) :]))
            unit = unit_of_state(name) if name in known else ""
            if unit and isinstance(entry.value, str) and is_quantity(entry.value):
                NumberField(unit).read(entry, {})


def _entries_below(item: Item) -> Iterator[Item]:
    """Values of a table, those of tables in it included: hold.pin.angle is one in two."""
    for entry in item if isinstance(item.value, dict) else ():
        if isinstance(entry.value, dict):
            yield from _entries_below(entry)
        else:
            yield entry


def _own_outputs(
    root: Item,
    values: Mapping[str, Any],
    known: dict[str, str],
    parameters: Mapping[str, Any],
    given: Definitions,
) -> Iterator[OwnOutput]:
    """Outputs of a file in its order; each may use those before it."""
    for name, table in values.get("output", {}).items():
        entries = table if isinstance(table, dict) else {"value": table}
        item = root["output"][name]
        if name in known:
            raise item.error(f"{name!r}, a channel too", "a unique name")
        function = channel_formula(entries["value"], known, tuple(parameters), given)
        require_one_value(item, function, known, parameters)
        unit = unit_of_output(item, entries.get("unit"), known, given)
        told = entries.get("description", "output")
        with blaming(item):
            yield replace(outputs_of({name: function})[name], unit=unit, description=told)
        known[name] = unit


def _outputs(
    root: Item, values: Mapping[str, Any], mechanism: Mechanism, definitions: Definitions
) -> None:
    """Give a mechanism the outputs of its file."""
    if "output" not in values:
        return
    parts = mechanism.parts
    known = channel_units(MechanismNames(parts, {}), parts)
    for o in _own_outputs(root, values, known, parts.parameters, definitions):
        with blaming(root["output"][o.name]):
            mechanism.output(o.name, o.function, unit=o.unit, description=o.description)


def _with_outputs(
    root: Item, values: Mapping[str, Any], system: System, definitions: Definitions
) -> System:
    """A system of functions with the outputs of its file."""
    known, parameters = channel_units(system, None), system.definition.parameters
    found = {o.name: o for o in _own_outputs(root, values, known, parameters, definitions)}
    return System.of(replace(system.definition, outputs=found))


def _event(
    item: Item,
    given: Mapping[str, Any],
    names: StateNames,
    model: tuple[Mechanism | None, System | None],
    definitions: Definitions,
) -> Event:
    source: Item = given["function"]
    function: Any = _watched(source, names, model, definitions)
    actions: list[Any] = []
    with blaming(item):
        if "bounce" in given:
            actions.append(bounce(given["bounce"]))
        if "set" in given:
            parts = None if model[0] is None else model[0].parts
            if parts is not None:
                require_no_dimensions(item["set"], given["set"], parts)
            names_known = _settable(model)
            require_settable(item["set"], given["set"], names_known, parts, definitions.given)
            actions.append(set_parameters(**given["set"]))
        for key in ("on", "off"):
            if key in given:
                require_switchable(item[key], given[key], _switchable(model))
        if "on" in given or "off" in given:
            actions.append(switch(on=given.get("on", ()), off=given.get("off", ())))
        if given.get("stop"):
            actions.append("stop")
        direction = given.get("direction", 0.0)
        whole = int(direction) if direction == int(direction) else direction
        at = given.get("at", 0.0)
        if "at" in item:
            at = value_watched(item["at"], at, source, _channel_units(model), definitions.given)
        return event(function, actions or "record", at=at, direction=whole)


def _settable(model: tuple[Mechanism | None, System | None]) -> list[str]:
    """Names of the parameters of a model."""
    mechanism, system = model
    if mechanism is None:
        assert system is not None
        return list(system.definition.parameters)
    parts = mechanism.parts
    return [name for name in parts.all_parameters if name not in parts.copied]


def _switchable(model: tuple[Mechanism | None, System | None]) -> list[str]:
    """Names of the constraints of a model."""
    mechanism, system = model
    if mechanism is None:
        assert system is not None
        return list(system.definition.constraints)
    parts = mechanism.parts
    return list(dict.fromkeys(parts.owner(e.name) for e in parts.constraints))


def _channel_units(model: tuple[Mechanism | None, System | None]) -> dict[str, str]:
    """All names of channels with their units, outputs of the file included."""
    mechanism, system = model
    if mechanism is None:
        return channel_units(system, None)
    parts = mechanism.parts
    return channel_units(MechanismNames(parts, parts.outputs), parts)


def _watched(
    source: Item,
    names: StateNames,
    model: tuple[Mechanism | None, System | None],
    definitions: Definitions,
) -> Any:
    """What an event watches: the name of a channel, or a function of the state or of channels."""
    used = () if not isinstance(source.value, str) else names_used(source, definitions)
    plain = [*names.coordinates, *names.velocities, *names.parameters, "q", "v", "t"]
    open_names = [n for n in used if n not in definitions.constants and n not in CONSTANTS]
    if set(plain).issuperset(open_names):
        return state_formula(source, names, definitions)
    known = _channel_units(model)
    if source.value in known:
        return source.value
    if any(name in known for name in used):
        return channel_formula(source, known, names.parameters, definitions)
    wrong = next(name for name in open_names if name not in plain)
    near = dict.fromkeys((*plain, *definitions.entries, *definitions.constants, *known))
    raise source.unknown(wrong, [*near], "a name that is known here")


def _start(root: Item, given: Mapping[str, Any], *, is_system: bool) -> Start:
    if not given:
        return Start()
    item = root["start"]
    refused = ("bodies",) if is_system else ("weights", "near")
    for key in refused:
        if key in given:
            kind = "system" if is_system else "mechanism"
            raise item[key].error(
                f"'{key}'", f"hold, prefer or velocity in the initial state of a {kind}"
            )
    if "q" in given or "v" in given:
        for key in given:
            if key not in ("q", "v", "t"):
                raise item[key].error(
                    but=f"'{key}' is given with 'q' or 'v'",
                    expected="a state, or a request for one",
                )
        if "q" not in given:
            raise item["v"].error(
                but="'q' is missing", expected="both 'q' and 'v', or velocity.hold"
            )
        return Start(q=given["q"], v=given.get("v"), t=given.get("t", 0.0))
    request = {k: given[k] for k in ("hold", "prefer", "weights", "velocity") if k in given}
    if "near" in given:
        request["start"] = given["near"]
    if "bodies" in given:
        request["hold"] = {**request.get("hold", {}), **dict.fromkeys(given["bodies"], True)}
    if not is_system and "weights" in request.get("velocity", {}):
        raise item["velocity"]["weights"].error("'weights'", "hold and prefer, in a mechanism")
    return Start(request, t=given.get("t", 0.0))
