"""Text of a model file → `Model`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zwang.model_files.arithmetic import CONSTANTS, FUNCTIONS
from zwang.model_files.document import Item, parse
from zwang.model_files.fields import NumberField
from zwang.model_files.formulas import Definitions
from zwang.model_files.layout import ANALYSIS_TABLES, FILE, MECHANISM_ONLY, SYSTEM_ONLY
from zwang.model_files.mechanisms import blaming, mechanism_of
from zwang.model_files.model import Model, SimulationRequest, Start
from zwang.model_files.systems import StateNames, state_formula, system_of
from zwang.multibody.joint_coordinates import Channels
from zwang.tracing.event import Event, bounce, event, set_parameters, switch

__all__ = ["model_of"]


def model_of(
    text: str, file: str, name: str | None = None, kept: Mapping[str, Path] | None = None
) -> Model:
    """The model of a text.

    Parameters
    ----------
    file : its name for messages; paths in the text begin in its folder.
    name : of the model, where the text does not say.
    kept : path in the text → where that file is kept.
    """
    root = parse(text, file).root
    constants = _constants(root)
    values = FILE.read(root, constants)
    is_system = _require_one_kind(root, values)
    _require_free_names(root, values)
    definitions = Definitions.of(values.get("define", {}), constants)
    folder, elsewhere = Path(file).parent, kept or {}

    def files(path: str) -> Path:
        return elsewhere.get(path, folder / path)

    mechanism = None if is_system else mechanism_of(root, values, definitions, files)
    system = system_of(root, values, definitions) if is_system else None
    names = _names(mechanism, system)
    channels = () if mechanism is None else Channels(mechanism.parts).names
    events = {
        name: _event(root["event"][name], given, names, channels, definitions)
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
        {name: values[name] for name in ANALYSIS_TABLES if name in values},
    )


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


def _require_one_kind(root: Item, values: Mapping[str, Any]) -> bool:
    """Whether the file is of a system; one that is of both, or of none, is refused."""
    if "system" in values:
        for key in ("mechanism", *MECHANISM_ONLY):
            if key in values:
                raise root[key].error(f"[{key}] beside [system]", "a mechanism or a system")
        return True
    for key in SYSTEM_ONLY:
        if key in values:
            raise root[key].error(f"[{key}] without [system]", "a system with constraints")
    if not values.get("body") and not values.get("coordinate"):
        raise root.error(
            "neither bodies nor a system",
            "[body.NAME] for a mechanism, or [system]",
            "'zwang new NAME' writes a file to start from.",
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
                raise item.error(f"{item.name!r}, {taken[item.name]} too", "a name of its own")
            if not item.name.isidentifier():
                raise item.error(repr(item.name), "a name of letters, digits and _")
            taken[item.name] = f"one of [{kind}]"
    for entry in root["system"]["coordinates"] if "system" in values else ():
        if entry.value in taken:
            raise entry.error(f"{entry.value!r}, {taken[entry.value]} too", "a name of its own")


def _names(mechanism: Any, system: Any) -> StateNames:
    """What the expressions of events may name."""
    if system is not None:
        d = system.definition
        return StateNames(d.coordinates, d.velocities, tuple(d.parameters))
    parts = mechanism.parts
    return StateNames(parts.coordinates, parts.velocities, tuple(parts.parameters))


def _event(
    item: Item,
    given: Mapping[str, Any],
    names: StateNames,
    channels: tuple[str, ...],
    definitions: Definitions,
) -> Event:
    source: Item = given["function"]
    named = source.value in channels  # a joint's coordinate stands by itself
    function = source.value if named else state_formula(source, names, definitions)
    actions: list[Any] = []
    with blaming(item):
        if "bounce" in given:
            actions.append(bounce(given["bounce"]))
        if "set" in given:
            actions.append(set_parameters(**given["set"]))
        if "on" in given or "off" in given:
            actions.append(switch(on=given.get("on", ()), off=given.get("off", ())))
        if given.get("stop"):
            actions.append("stop")
        direction = given.get("direction", 0.0)
        whole = int(direction) if direction == int(direction) else direction
        at = given.get("at", 0.0)
        return event(function, actions or "record", at=at, direction=whole)


def _start(root: Item, given: Mapping[str, Any], *, is_system: bool) -> Start:
    if not given:
        return Start()
    item = root["start"]
    refused = ("bodies",) if is_system else ("weights", "near")
    for key in refused:
        if key in given:
            kind = "system" if is_system else "mechanism"
            raise item[key].error(f"'{key}' in the start of a {kind}", "hold, prefer, velocity")
    if "q" in given or "v" in given:
        for key in given:
            if key not in ("q", "v", "t"):
                raise item[key].error(f"'{key}' beside 'q' or 'v'", "a state, or wishes")
        if "q" not in given:
            raise item["v"].error("'v' without 'q'", "both, or velocity.hold")
        return Start(q=given["q"], v=given.get("v"), t=given.get("t", 0.0))
    wishes = {k: given[k] for k in ("hold", "prefer", "weights", "velocity") if k in given}
    if "near" in given:
        wishes["start"] = given["near"]
    if "bodies" in given:
        wishes["hold"] = {**wishes.get("hold", {}), **dict.fromkeys(given["bodies"], True)}
    if not is_system and "weights" in wishes.get("velocity", {}):
        raise item["velocity"]["weights"].error("'weights'", "hold and prefer, in a mechanism")
    return Start(wishes, t=given.get("t", 0.0))
