"""Cases of a model file: sets of values and settings under a name, ``[case.heavy]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zwang.model_files.document import Item, parse
from zwang.model_files.fields import Constants, FieldKind

if TYPE_CHECKING:
    from zwang.model_files.model import Model

__all__ = ["GivenValue", "case_values", "require_cases", "with_case"]


class GivenValue(FieldKind):
    """A value in place of another one of the file: a number, a list, or text with a unit."""

    def read(self, item: Item, constants: Constants) -> Any:  # noqa: ARG002 - one signature
        """The value as it is written; it is checked where it takes its place."""
        value = item.value
        if isinstance(value, bool) or not isinstance(value, int | float | str | list):
            raise item.error(expected="a number, a list of numbers, or text with a unit")
        return value

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"type": ["number", "string", "array"]}


def require_cases(root: Item, values: Mapping[str, Any]) -> None:
    """Refuse names in cases that the file has no place for."""
    known = [*values.get("constants", {}), *values.get("parameters", {})]
    for name, case in values["case"].items():
        for key in case.get("set", {}):
            if key not in known and "." not in key:
                raise root["case"][name]["set"][key].unknown(
                    key, known, "a constant or a parameter of the file"
                )


def case_values(text: str, file: str, case: str) -> dict[str, Any]:
    """Name → value that a case sets."""
    root = parse(text, file).root
    cases = root["case"].value if "case" in root and isinstance(root["case"].value, dict) else {}
    if case not in cases:
        raise root.under("case").unknown(case, cases, "a case")
    table = root["case"][case]
    return _flat(table["set"]) if "set" in table else {}


def _flat(item: Item, before: str = "") -> dict[str, Any]:
    """Values by dotted name: ``rod.mass = 2`` is a table in a table."""
    result: dict[str, Any] = {}
    for entry in item:
        name = f"{before}{entry.name}"
        if isinstance(entry.value, dict):
            result |= _flat(entry, f"{name}.")
        else:
            result[name] = entry.value
    return result


def with_case(model: Model, case: str) -> Model:
    """The model with the settings that a case has of its own."""
    table = model.analysis_tables["case"][case]
    settings = dict(table.get("simulation", {}))
    until = settings.pop("until", model.simulation.until)
    choices = {**model.simulation.choices, **settings}
    return replace(
        model,
        name=f"{model.name}, {case}",
        simulation=replace(model.simulation, until=until, choices=choices),
    )
