"""Tables of a model file → a `zwang.System` of functions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from zwang.arguments.values import checked_names
from zwang.errors import InputError
from zwang.model_files.document import Item, blaming
from zwang.model_files.formulas import Definitions, Formula, Scope, names_used
from zwang.system import System
from zwang.tracing.constraint import Constraint, Level

__all__ = ["StateNames", "state_formula", "system_of"]


#: What a law may ask of the reaction: the generalized force, and λ of the constraint's equations.
OF_REACTION = ("reaction", "reaction.multipliers")


class StateNames(NamedTuple):
    """Names that functions of a state may use."""

    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    parameters: tuple[str, ...]


def state_formula(
    item: Item,
    names: StateNames,
    definitions: Definitions,
    arguments: tuple[str, ...] = ("q", "v", "t", "p"),
) -> Formula:
    """An expression of coordinates, velocities, time and parameters by name."""
    coordinates, velocities, parameters = names
    plain = list(coordinates) if "q" in arguments else []
    plain += velocities if "v" in arguments else []
    plain += [*parameters, *(["t"] if "t" in arguments else [])]
    plain += OF_REACTION if "reaction" in arguments else ()
    vectors = [a for a in ("q", "v") if a in arguments and a not in plain]

    values = partial(_values, names, tuple(vectors))
    return Formula(item, arguments, Scope((*plain, *vectors)), definitions, values)


def _values(
    names: StateNames, vectors: tuple[str, ...], given: Mapping[str, Any]
) -> dict[str, Any]:
    """What the names stand for."""
    result = {name: given["p"][name] for name in names.parameters}
    if "q" in given:
        result |= dict(zip(names.coordinates, given["q"], strict=True))
    if "v" in given:
        result |= dict(zip(names.velocities, given["v"], strict=True))
    result |= {a: given[a] for a in ("t", "reaction", *vectors) if a in given}
    return result


def system_of(root: Item, values: Mapping[str, Any], definitions: Definitions) -> System:
    """The system of a file."""
    given, table = values["system"], root["system"]
    with blaming(table):
        coordinates = checked_names("coordinates", given["coordinates"])
    velocities = tuple(given.get("velocities", [f"{name}_dot" for name in coordinates]))
    names = StateNames(coordinates, velocities, tuple(values.get("parameters", {})))
    by_energy = "kinetic_energy" in given
    _require_one_form(table, given, by_energy=by_energy)

    def formula(item: Item, *arguments: str) -> Formula:
        return state_formula(item, names, definitions, (*arguments, "p"))

    def function(key: str, *arguments: str) -> Formula | None:
        return formula(table[key], *arguments) if key in given else None

    constraints = {}
    for name, entry in values.get("constraint", {}).items():
        constraints[name] = _constraint(root["constraint"][name], entry, formula)
    laws = {}
    for name in values.get("nonideal", {}):
        item = root["nonideal"][name]["force"]
        uses = any(name in OF_REACTION for name in names_used(item, definitions))
        laws[name] = formula(item, "q", "v", "t", *(("reaction",) if uses else ()))
    common = {
        "constraints": constraints,
        "parameters": values.get("parameters"),
        "nonideal": laws,
    }
    try:
        if by_energy:
            T = function("kinetic_energy", "q", "v", "t")
            assert T is not None
            return System.from_lagrangian(
                coordinates,
                T=T,
                V=function("potential", "q", "t"),
                forces=function("force", "q", "v", "t"),
                dissipation=function("dissipation", "q", "v", "t"),
                **common,
            )
        mass = function("mass", "q", "t")
        assert mass is not None
        N, n0 = function("kinematics", "q", "t"), function("drift", "q", "t")
        if isinstance(given["mass"].value, list) and not isinstance(given["mass"].value[0], list):
            mass = _Diagonal(mass)
        return System(
            coordinates,
            mass=mass,
            force=function("force", "q", "v", "t"),
            potential=function("potential", "q", "t"),
            velocities=given.get("velocities"),
            kinematics=None if N is None else (N, n0),
            **common,
        )
    except InputError as error:
        place = root.named_in(error)
        raise (table if place is root else place).blamed(error) from None


def _require_one_form(table: Item, given: Mapping[str, Any], *, by_energy: bool) -> None:
    if not by_energy and "mass" not in given:
        raise table.error(but="there is neither", expected="'mass' or 'kinetic_energy'")
    with_energy, without = ("dissipation",), ("mass", "velocities", "kinematics", "drift")
    for key in without if by_energy else with_energy:
        if key in given:
            beside = "beside 'kinetic_energy'" if by_energy else "without 'kinetic_energy'"
            raise table[key].error(f"'{key}' {beside}", "mass or kinetic_energy, not a mixture")
    if "drift" in given and "kinematics" not in given:
        raise table["drift"].error(but="'kinematics' is missing", expected="both, or neither")


def _constraint(item: Item, given: Mapping[str, Any], formula: Any) -> Constraint:
    if "bodies" in given:
        raise item["bodies"].error("'bodies'", "position, velocity, or A and b, in a system")
    forms = [set(given) & {key} for key in ("equations", "position", "velocity")]
    if len(given) == 1 and any(forms):
        (key,) = given
        arguments = ("q", "t") if key == "position" else ("q", "v", "t")
        levels: dict[str, Level] = {"equations": "detect", "position": "position"}
        level = levels.get(key, "velocity")
        return Constraint(level, (formula(item[key], *arguments),))
    if set(given) == {"A", "b"}:
        return Constraint(
            "acceleration",
            (formula(item["A"], "q", "v", "t"), formula(item["b"], "q", "v", "t")),
        )
    found = " and ".join(f"'{key}'" for key in given) or "no keys"
    raise item.error(found, "one of equations, position, velocity; or A and b")


class _Diagonal:
    """A mass matrix of which the diagonal is given."""

    def __init__(self, formula: Formula) -> None:
        self.formula, self.source = formula, formula.source
        self.__signature__ = formula.__signature__

    def __call__(self, **arguments: Any) -> list[list[Any]]:
        entries = self.formula(**arguments)
        return [[x if i == k else 0.0 for k in range(len(entries))] for i, x in enumerate(entries)]
