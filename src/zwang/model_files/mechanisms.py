"""Tables of a model file → a `zwang.Mechanism`, by the calls that Python would make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.mechanism import Mechanism
from zwang.model_files.document import Item, blaming
from zwang.model_files.formulas import (
    Definitions,
    Formula,
    Scope,
    UserForces,
    names_used,
    of_time,
)
from zwang.model_files.inertia_tables import inertia_of, orientation_of
from zwang.model_files.layout import CURVE, MECHANISM_ONLY
from zwang.model_files.outputs import channel_formula
from zwang.multibody.builder import STANDARD, in_space
from zwang.multibody.handles import BodyHandle, MarkerHandle
from zwang.multibody.inertia import rotation
from zwang.multibody.mesh import MeshFile, mesh
from zwang.multibody.parameter_expression import deferred, parameters_in
from zwang.multibody.pose import PLANES
from zwang.results.channel_catalog import unit_of_state

__all__ = ["Files", "mechanism_of"]


#: What a run has of the reaction of a joint, which force laws have not.
REACTION = ("force", "moment", "reaction")

#: Units of what acts on a body, or along and about the line between two.
ACTING = {"force": "N", "torque": "N*m", "moment": "N*m"}
#: Unit of a joint's coordinate → unit of an effort along it.
EFFORTS = {"m": "N", "rad": "N*m"}
#: Force elements with a law of the user's: its key, and what it is a function of, with units.
OWN_LAWS = {
    "spring_damper": ("force", {"length": "m", "rate": "m/s"}),
    "torsion_spring": ("moment", {"twist": "rad", "rate": "rad/s"}),
}

#: Path as it is written in a model file → where that file is.
Files = Callable[[str], Path]


def mechanism_of(
    root: Item, values: Mapping[str, Any], definitions: Definitions, files: Files
) -> Mechanism:
    """The mechanism of a file.

    Parameters
    ----------
    values : what `FILE` has read.
    files : where the files are that it names.
    """
    settings = values.get("mechanism", {})
    try:
        m = Mechanism(
            settings.get("gravity", (0.0, 0.0, 0.0)),
            parameters=values.get("parameters"),
            plane=settings.get("plane"),
        )
    except InputError as error:
        table = "mechanism" if error.what in settings else "parameters"
        raise root.under(table).blamed(error) from None
    build = _Building(m, root, values, definitions, files)
    for kind, name in _in_order(root, values):
        with blaming(root[kind][name]):
            getattr(build, kind)(name, values[kind][name])
    try:
        _ = m.parts  # all is there: whether it is connected can be checked
    except InputError as error:
        raise root.named_in(error).blamed(error) from None
    return m


def _in_order(root: Item, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Entries in the order of the file, which is that of coordinates and rows.

    One that names a body or a joint that stands further down waits until that has come.
    """
    kinds = (*MECHANISM_ONLY, "constraint")
    entries = [entry for kind in kinds if kind in root for entry in root[kind]]
    entries.sort(key=lambda entry: entry.line)
    parts = {name for kind in ("body", "coordinate", "joint") for name in values.get(kind, {})}
    done: set[str] = set()
    waiting: list[tuple[str, str, set[str]]] = []
    for entry in entries:
        kind, name = str(entry.key[0]), entry.name
        needs = (_mentioned(kind, name, values[kind][name]) & parts) - {name}
        waiting.append((kind, name, needs))
        while (ready := next((w for w in waiting if w[2] <= done), None)) is not None:
            waiting.remove(ready)
            if ready[0] in ("body", "coordinate", "joint"):
                done.add(ready[1])
            yield ready[:2]
    for kind, name, _ in waiting:
        raise root[kind][name].error(
            but="these refer to each other", expected="parts of which one comes first"
        )


def _mentioned(kind: str, name: str, given: Mapping[str, Any]) -> set[str]:
    """Names of bodies and joints that an entry refers to."""
    told = [given.get(key, "") for key in ("of", "first", "second", "body", "relative_to")]
    names = {text.partition(".")[0] for text in told if isinstance(text, str)}
    at = given.get("at")
    markers = [given.get("relative_to"), *(at if isinstance(at, tuple) else [at])]
    names |= {marker["body"] for marker in markers if isinstance(marker, dict)}
    if kind == "friction":
        names.add(name)
    if given.get("type") == "actuator":
        names |= set(re.findall(r"\w+", str(given["effort"].value)))
    return names | set(given.get("bodies", ()))


class _Building:
    """One method for each table of the file."""

    def __init__(
        self,
        m: Mechanism,
        root: Item,
        values: Mapping[str, Any],
        definitions: Definitions,
        files: Files,
    ) -> None:
        self.m, self.root, self.definitions, self.files = m, root, definitions, files
        plane = values.get("mechanism", {}).get("plane")
        self.in_space = partial(in_space, None if plane is None else PLANES[plane])
        self.parameters = tuple(values.get("parameters", {}))
        self.bodies = tuple(values.get("body", {}))
        self.joints = tuple(values.get("joint", {}))
        curves = [n for n, j in values.get("joint", {}).items() if j["type"] == CURVE]
        self.coordinates = (*values.get("coordinate", {}), *(f"{name}_s" for name in curves))

    # --- bodies -----------------------------------------------------------------------------------

    def body(self, name: str, given: dict[str, Any]) -> None:
        item = self.root["body"][name]
        place = {
            key: given[key]
            for key in ("position", "angle", "velocity", "angular_velocity", "free")
            if key in given
        }
        if "orientation" in given:
            place["orientation"] = deferred(orientation_of, given["orientation"])
        if "relative_to" in given:
            place["relative_to"] = self._frame(item["relative_to"], given["relative_to"])
        if "mesh" in given:
            place["mesh"] = self._mesh(given["mesh"])
        self.m.body(name, *inertia_of(item, given, self.in_space), **place)

    def _mesh(self, given: str | dict[str, Any]) -> MeshFile:
        table: dict[str, Any] = {"file": given} if isinstance(given, str) else dict(given)
        if "orientation" in table:
            table["orientation"] = orientation_of(table["orientation"])
        if "position" in table:
            table["position"] = self.m.in_space(table["position"])
        return mesh(self.files(table.pop("file")), **table)

    def _frame(self, item: Item, given: Any) -> BodyHandle | MarkerHandle:
        if isinstance(given, str):
            return self._handle(item, given)
        if isinstance(given, dict):
            return self._marker(item, given)
        raise item.error(expected="a body, or a marker { body = …, at = … }")

    def _handle(self, item: Item, name: str) -> BodyHandle:
        if name == "ground":
            return self.m.ground
        if name not in self.bodies:
            raise item.unknown(name, ["ground", *self.bodies], "a body")
        return BodyHandle(name, self.m)

    def _marker(self, item: Item, given: dict[str, Any]) -> MarkerHandle:
        body = self._handle(item["body"], given["body"])
        at = given.get("at", (0.0, 0.0, 0.0))
        if "axes" in given:
            if next(parameters_in(given), None) is not None:
                raise item["axes"].error(
                    "'axes' beside parameters", "axis and reference, which may depend on parameters"
                )
            with blaming(item):
                axes = rotation(given["axes"])
            return MarkerHandle(body, np.array(self.m.in_space(at), dtype=float), axes)
        return body.marker(at, given.get("axis"), given.get("reference"))

    def coordinate(self, name: str, given: dict[str, Any]) -> None:
        self.m.coordinate(name, **given)

    # --- joints -----------------------------------------------------------------------------------

    def joint(self, name: str, given: dict[str, Any]) -> None:
        item = self.root["joint"][name]
        kind, rest = given["type"], {k: v for k, v in given.items() if k not in ("type", "bodies")}
        a, b = self._pair(item["bodies"], given["bodies"])
        if kind == CURVE:
            if "curve" not in given:
                raise item.error(
                    but="there is no key 'curve'", expected="curve = …, three expressions of s"
                )
            scope = Scope(("s", "t", *self.parameters))
            rest["curve"] = self._formula(rest["curve"], ("s", "t", "p"), scope, of_time)
        if isinstance(rest.get("pressure_angle"), bool):
            rest["pressure_angle"] = STANDARD if rest["pressure_angle"] else None
        getattr(self.m, kind)(name, a, b, **self._placed(item, rest))

    def _pair(self, item: Item, names: list[str]) -> list[BodyHandle]:
        known = ["ground", *self.bodies]
        for entry, name in zip(item, names, strict=True):
            if name not in known and name not in self.coordinates:
                raise entry.unknown(name, known, "a body")
        return [self.m.ground if n == "ground" else BodyHandle(n, self.m) for n in names]

    def _placed(self, item: Item, given: dict[str, Any]) -> dict[str, Any]:
        """Arguments with the markers among them in place of their tables."""
        if "at" not in given:
            return given
        at = given["at"]
        if isinstance(at, tuple):
            at = tuple(
                self._marker(item["at"][k], p) if isinstance(p, dict) else p
                for k, p in enumerate(at)
            )
        elif isinstance(at, dict):
            at = self._marker(item["at"], at)
        return {**given, "at": at}

    def constraint(self, name: str, given: dict[str, Any]) -> None:
        item = self.root["constraint"][name]
        for key in given:
            if key not in ("bodies", "equations"):
                raise item[key].error(f"'{key}'", "the keys bodies and equations, in a mechanism")
        for key in ("bodies", "equations"):
            if key not in given:
                raise item.error(but="there is no such key", expected=f"{key} = …")
        handles = self._pair(item["bodies"], given["bodies"])
        f = self._of_bodies(given["equations"], given["bodies"])
        self.m.constraint(name, handles, f)

    def drive(self, name: str, given: dict[str, Any]) -> None:
        scope, unit = Scope(("t", *self.parameters)), self._unit_driven(given["of"])
        value = self._formula(given["value"], ("t", "p"), scope, of_time, unit)
        place = {"at": given["at"]} if "at" in given else {}
        self.m.drive(name, given["of"], value, **place)

    def couple(self, name: str, given: dict[str, Any]) -> None:
        self.m.couple(name, given["first"], given["second"], given["ratio"])

    def _unit_driven(self, what: str) -> str | None:
        """Unit of what a driver prescribes; None where it is the user's own.

        And where the joint has no such coordinate, which is told before any unit is compared.
        """
        owner, _, quantity = what.partition(".")
        if owner in self.joints and what not in self.m.joint_coordinate_names():
            return None
        return "m" if quantity == "position" else unit_of_state(what) or None

    # --- forces -----------------------------------------------------------------------------------

    def force(self, name: str, given: dict[str, Any]) -> None:
        item, kind = self.root["force"][name], given["type"]
        rest = {k: v for k, v in given.items() if k not in ("type", "bodies", "body")}
        if kind == "force":
            (body,) = self._pair_of_one(item["body"], given["body"])
            for key in ("force", "torque"):
                if key in rest:
                    rest[key] = self._on_body(rest[key], given["body"], ACTING[key])
            self.m.force(name, body, **rest)
        elif kind == "user":
            self._user_force(item, name, given)
        elif kind == "actuator":
            source = given["effort"]
            plain = _plain(source.value)
            names = self.m.joint_coordinate_names()
            known = {n: unit_of_state(n) for c in names for n in (c, f"{c}_rate")}
            unit = EFFORTS.get(self._unit_driven(given["of"]) or "")
            law = plain
            if plain is None:
                self._require_no_reaction(source)
                law = channel_formula(source, known, self.parameters, self.definitions, unit)
            self.m.actuator(name, given["of"], law)
        else:
            if kind in OWN_LAWS and OWN_LAWS[kind][0] in rest:
                own, units = OWN_LAWS[kind]
                scope = Scope((*units, "t", *self.parameters), units=units)
                names = (*units, "t", "p")
                rest[own] = self._formula(rest[own], names, scope, of_time, ACTING[own])
            a, b = self._pair(item["bodies"], given["bodies"])
            if kind != "torsion_spring" and "at" not in rest:
                raise item.error(
                    but="there is no key 'at'", expected="at = …, a pair of points or markers"
                )
            getattr(self.m, kind)(name, a, b, **self._placed(item, rest))

    def _pair_of_one(self, item: Item, name: str) -> list[BodyHandle]:
        if name not in self.bodies:
            raise item.unknown(name, self.bodies, "a body that moves")
        return [BodyHandle(name, self.m)]

    def _user_force(self, item: Item, name: str, given: dict[str, Any]) -> None:
        names = given["bodies"]
        for body in given["on"]:
            if body not in names:
                raise item["on"][body].unknown(body, names, "one of its bodies")
        parts = {
            body: {k: self._of_bodies(value, names, ACTING.get(k)) for k, value in acting.items()}
            for body, acting in given["on"].items()
        }
        for body, acting in given["on"].items():
            wanted = ("effort",) if body in self.coordinates else ("force", "moment")
            for key in acting:
                if key not in wanted:
                    what = "a coordinate" if body in self.coordinates else "a body"
                    raise item["on"][body][key].error(
                        f"'{key}' on {what}", f"{' and '.join(wanted)}"
                    )
        self.m.user_force(name, self._pair(item["bodies"], names), UserForces(names, parts))

    def friction(self, name: str, given: dict[str, Any]) -> None:
        rest = dict(given)
        if "effort" in rest:
            names = ("pressure", "rate", "t", "p")
            scope = Scope((*names[:-1], *self.parameters))
            rest["effort"] = Formula(
                rest["effort"],
                names,
                scope,
                self.definitions,
                partial(of_time, self.parameters),
            )
        self.m.friction(name, **rest)

    # --- expressions ------------------------------------------------------------------------------

    def _formula(
        self,
        item: Item,
        arguments: tuple[str, ...],
        scope: Scope,
        values: Callable[[tuple[str, ...], Mapping[str, Any]], dict[str, Any]],
        unit: str | None = None,
    ) -> Any:
        """A function, or plain numbers where there is nothing else."""
        plain = _plain(item.value)
        if plain is not None:
            return plain
        self._require_no_reaction(item)
        of = partial(values, self.parameters)
        return Formula(item, arguments, scope, self.definitions, of, unit)

    def _require_own(self, item: Item, name: str) -> None:
        """Lead an expression of other bodies or of joints to the force that may use them."""
        plain = isinstance(item.value, str | list)
        for used in names_used(item, self.definitions) if plain else ():
            owner = used.partition(".")[0]
            if owner in self.bodies and owner != name:
                raise item.error(
                    f"the body {owner!r}",
                    f"an expression of {name!r} alone",
                    f'Write type = "user", bodies = ["{name}", "{owner}"] and '
                    f"on.{name}.force = […].",
                )
            if used in self.m.joint_coordinate_names():
                raise item.error(
                    f"the joint coordinate {used!r}",
                    f"an expression of {name!r} alone",
                    f'Write type = "actuator", of = "{used}" and effort = "…".',
                )

    def _require_no_reaction(self, item: Item) -> None:
        """Lead a law that uses a joint's reaction to the table that may."""
        for used in names_used(item, self.definitions):
            owner, _, quantity = used.partition(".")
            of_joint = owner in self.joints and quantity.partition(".")[0] in REACTION
            if of_joint or (owner == "reaction" and owner not in self.parameters):
                joint = owner if of_joint else "JOINT"
                raise item.error(
                    f"the reaction {used!r}",
                    "an expression of positions, velocities and t",
                    "A law of the force across the axis of a joint is friction: write "
                    f'[friction.{joint}] with effort = "…" of pressure and rate.',
                )

    def _of_bodies(self, item: Item, names: list[str], unit: str | None = None) -> Formula:
        self._require_no_reaction(item)
        bodies = tuple(n for n in names if n in self.bodies)
        scalars = tuple(n for n in names if n in self.coordinates)

        values = partial(_of_these, tuple(names), scalars, self.parameters)
        scope = Scope(("t", *self.parameters), bodies, scalars)
        return Formula(item, ("bodies", "t", "p"), scope, self.definitions, values, unit)

    def _on_body(self, item: Item, name: str, unit: str) -> Any:
        self._require_own(item, name)
        scope = Scope(("t", *self.parameters), (name,))
        return self._formula(item, ("body", "t", "p"), scope, partial(_of_one, name), unit)


def _of_these(
    names: tuple[str, ...],
    scalars: tuple[str, ...],
    parameters: tuple[str, ...],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Several bodies and extra generalized coordinates by name."""
    result = of_time(parameters, given)
    for name, pose in zip(names, given["bodies"], strict=True):
        result[name] = pose
        if name in scalars:
            result[f"{name}.value"], result[f"{name}.rate"] = pose.value, pose.rate
            result[name] = pose.value
    return result


def _of_one(name: str, names: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """One body by its name."""
    return {**of_time(names, given), name: given["body"]}


def _plain(value: Any) -> Any:
    """Numbers and lists of numbers as floats; None if there is an expression among them."""
    if isinstance(value, str):
        return None
    if not isinstance(value, list):
        return float(value)
    entries = [_plain(entry) for entry in value]
    return None if any(entry is None for entry in entries) else entries
