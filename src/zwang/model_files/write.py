"""A mechanism, a system or a model as the text of a model file.

A mechanism is written from its description, the calls that built it with the numbers they were
given: whoever reads the file repeats them, and gets the same numbers to the last bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import InputError, shown
from zwang.mechanism import Mechanism
from zwang.model_files.expression_text import inertia_entries, written
from zwang.model_files.expressions import names_in
from zwang.model_files.fields import Direction
from zwang.model_files.formulas import Formula, UserForces
from zwang.model_files.geometry import FileExpression
from zwang.model_files.inertia_tables import made_of_table
from zwang.model_files.layout import CURVE
from zwang.model_files.model import Model
from zwang.multibody import inertia as shapes
from zwang.multibody.call_log import BuilderCall
from zwang.multibody.handles import BodyHandle, MarkerExpression, MarkerHandle
from zwang.multibody.inertia import Inertia, Shape, direction
from zwang.multibody.joint_methods import NUMBERS
from zwang.multibody.mesh import MeshFile
from zwang.multibody.parameter_expression import (
    InertiaExpression,
    ParameterExpression,
    expressions_in,
)
from zwang.system import DefinedSystem, System
from zwang.terms import FloatArray
from zwang.tracing.event import Bounce, SetParameters, Switch

__all__ = ["text_of"]

Tables = dict[str, Any]

_HEADER = "# Written by zwang. Units are SI, angles radians.\n"


def text_of(model: Mechanism | System | Model, folder: Path | None = None) -> str:
    """The text of a model file.

    Parameters
    ----------
    folder : where it will be: paths to meshes begin there.

    Raises
    ------
    InputError
        Something is given by a Python function, which has no form in a file.
    """
    tables: Tables = {}
    subject: Any = model
    if isinstance(model, Model):
        about = {"name": model.name, "description": model.description}
        tables["model"] = {k: v for k, v in about.items() if v}
        subject = model.mechanism or model.system
    writer = _FileWriter(folder)
    if isinstance(subject, Mechanism):
        tables |= writer.mechanism(subject)
    elif type(subject) in (System, DefinedSystem):
        tables |= writer.system(subject)
    else:
        raise InputError(
            "model to write",
            found=shown(subject),
            expected="a Mechanism, a System of functions, or a Model",
        )
    if isinstance(model, Model):
        tables |= writer.motion(model)
    first = {k: v for k, v in {"model": tables.pop("model", {})}.items() if v}
    named = {"constants": writer.constants, "define": writer.definitions}
    return _HEADER + _emit({**first, **{k: v for k, v in named.items() if v}, **tables})


class _FileWriter:
    """Tables of a file, and the definitions and constants that its expressions need."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.constants: dict[str, float] = {}
        self.definitions: dict[str, Any] = {}

    # --- mechanisms -------------------------------------------------------------------------------

    def mechanism(self, m: Mechanism) -> Tables:
        parts = m.parts
        tables: Tables = {"parameters": {k: _numbers(v) for k, v in parts.parameters.items()}}
        tables["mechanism"] = {"gravity": _numbers(parts.gravity)}
        if parts.kind.plane is not None:
            tables["mechanism"]["plane"] = parts.kind.name
        self.meshes = {b.name: b.mesh for b in parts.bodies if b.mesh is not None}
        for call in m.description:
            for e in expressions_in(dict(call.arguments)):
                self._note(call.method, self.constants, _constants_of(e))
        tables[""] = [self._entry(call) for call in m.description]
        _require_described(m, {name for _, name, _ in tables[""]})
        return {k: v for k, v in tables.items() if v}

    def _entry(self, call: BuilderCall) -> tuple[str, str, Tables]:
        """Table, name and entries of a call."""
        given = dict(call.arguments)
        if call.method == "body" and given.pop("mesh", None) is not None:
            given["mesh"] = self.meshes[given["name"]]
        if call.method == "output":
            return "output", given.pop("name"), self._output(given)
        if call.method == "friction":
            name, effort = given.pop("joint"), given.pop("effort", None)
            what = f"effort of friction in {name!r}"
            law = {} if effort is None else {"effort": self.formula(what, effort)}
            return "friction", name, _all_numbers(given) | law
        name = given.pop("name")
        what = f"{call.method.replace('_', ' ')} {name!r}"
        if call.method in ("spring_damper", "torsion_spring", "bushing", "cartesian_spring"):
            return "force", name, {"type": call.method, **self._spring(what, given)}
        entries = getattr(self, f"_{call.method}")(what, given)
        if call.method in ("force", "user_force", "actuator"):
            kind = "user" if call.method == "user_force" else call.method
            return "force", name, {"type": kind, **entries}
        return "joint" if call.method == CURVE else call.method, name, entries

    def _body(self, _: str, given: Tables) -> Tables:
        made, entries = given.pop("inertia", None), {}
        mass = given.pop("mass", None)
        if isinstance(made, InertiaExpression) or _is_table(made):
            entries |= inertia_entries(made)
        elif isinstance(made, Inertia):
            entries |= _shape_of(made) or _tensor_of(made)
        else:
            entries |= {} if mass is None else {"mass": _numbers(mass)}
            entries |= {} if made is None else {"inertia": _numbers(made)}
        frame = given.pop("relative_to", None)
        if frame is not None:
            entries["relative_to"] = (
                _name(frame) if isinstance(frame, BodyHandle | str) else _place(frame)
            )
        if given.get("free") is not None:
            entries["free"] = bool(given.pop("free"))
        look = given.pop("mesh", None)
        entries |= _all_numbers(given)
        return entries if look is None else entries | {"mesh": self._mesh(look)}

    def _mesh(self, look: MeshFile) -> Any:
        """A path from the folder of the model file, with what belongs to it."""
        path = look.file
        if self.folder is not None and path.anchor == self.folder.resolve().anchor:
            path = Path(os.path.relpath(path, self.folder.resolve()))
        entries: Tables = {"file": path.as_posix()}
        entries |= {} if look.scale == 1.0 else {"scale": look.scale}
        entries |= {"position": _numbers(look.position)} if np.any(look.position) else {}
        if not np.array_equal(look.rotation, np.eye(3)):
            entries["orientation"] = _numbers(look.rotation)
        return entries if len(entries) > 1 else entries["file"]

    def _coordinate(self, _: str, given: Tables) -> Tables:
        return _all_numbers(given)

    def _joint(self, what: str, given: Tables) -> Tables:
        entries = {"type": given["kind"], "bodies": [_name(given["a"]), _name(given["b"])]}
        numbers = {name: given[name] for name in NUMBERS if name in given}
        if callable(numbers.get("length")):
            raise _no_expression(f"length of {what}")
        if "pressure_angle" in numbers and numbers["pressure_angle"] is None:
            entries["pressure_angle"] = False
        return entries | _placed(given) | _all_numbers(numbers)

    def _point_on_curve(self, what: str, given: Tables) -> Tables:
        entries: Tables = {"type": CURVE, "bodies": [_name(given["a"]), _name(given["b"])]}
        entries |= _placed(given) | {"curve": self.formula(what, given["curve"])}
        return entries | ({"start": _numbers(given["start"])} if "start" in given else {})

    def _constraint(self, what: str, given: Tables) -> Tables:
        bodies = given["bodies"]
        names = [_name(b) for b in bodies] if isinstance(bodies, list | tuple) else [_name(bodies)]
        return {"bodies": names, "equations": self.formula(what, given["f"])}

    def _drive(self, what: str, given: Tables) -> Tables:
        entries = {"of": given["what"], "value": self.formula(what, given["value"])}
        return entries | ({"at": _numbers(given["at"])} if given.get("at") is not None else {})

    def _couple(self, _: str, given: Tables) -> Tables:
        ratio = _numbers(given["ratio"])
        return {"first": given["first"], "second": given["second"], "ratio": ratio}

    def _spring(self, what: str, given: Tables) -> Tables:
        """A spring, a torsion spring or a bushing."""
        entries: Tables = {"bodies": [_name(given.pop("a")), _name(given.pop("b"))]}
        entries |= _placed(given)
        for key in ("at", "axis", "reference"):
            given.pop(key, None)
        for key in ("force", "moment"):
            own = given.pop(key, None)
            if own is not None:
                entries[key] = self.formula(what, own)
        return entries | _all_numbers(given)

    def _force(self, what: str, given: Tables) -> Tables:
        entries: Tables = {"body": _name(given["body"])}
        for key in ("force", "torque"):
            if given.get(key) is not None:
                entries[key] = self.formula(what, given[key])
        if "at" in given:
            entries["at"] = _numbers(given["at"])
        return entries | ({"axes": given["axes"]} if "axes" in given else {})

    def _output(self, given: Tables) -> Tables:
        value = self.formula("output", given.pop("function"))
        return {"value": value, **{k: v for k, v in given.items() if v}}

    def _actuator(self, what: str, given: Tables) -> Tables:
        return {"of": given["of"], "effort": self.formula(what, given["effort"])}

    def _user_force(self, what: str, given: Tables) -> Tables:
        f = given["f"]
        if not isinstance(f, UserForces):
            raise _no_expression(what)
        on = {
            body: {key: self.formula(what, part) for key, part in acting.items()}
            for body, acting in f.parts.items()
        }
        return {"bodies": list(f.names), "on": on}

    # --- systems ----------------------------------------------------------------------------------

    def system(self, system: System) -> Tables:
        d = system.definition
        table: Tables = {"coordinates": list(d.coordinates)}
        if d.kinematics is not None:
            table["velocities"] = list(d.velocities)
            N, n0 = d.kinematics
            table["kinematics"] = self.formula("kinematics", N)
            table |= {} if n0 is None else {"drift": self.formula("kinematics", n0)}
        if d.lagrangian is not None:
            functions = {
                "kinetic_energy": d.lagrangian.kinetic,
                "potential": d.lagrangian.potential,
                "force": d.force,
                "dissipation": d.lagrangian.dissipation,
            }
        else:
            functions = {
                "mass": d.mass,
                "acceleration_energy": d.acceleration_energy,  # no key of the files: refused
                "force": d.force,
                "potential": d.potential,
            }
        for key, f in functions.items():
            if f is not None:
                table[key] = self.formula(key.replace("_", " "), f)
        tables: Tables = {"parameters": {k: _numbers(v) for k, v in d.parameters.items()}}
        tables["system"] = table
        constraints = {}
        for name, c in d.constraints.items():
            texts = [self.formula(f"constraint {name!r}", f) for f in c.functions]
            keys = {"acceleration": ("A", "b"), "detect": ("equations",)}.get(c.level, (c.level,))
            constraints[name] = dict(zip(keys, texts, strict=True))
        tables["constraint"] = constraints
        tables["output"] = {
            o.name: {"value": self.formula(f"output {o.name!r}", o.function), **_labels(o)}
            for o in d.outputs.values()
        }
        tables["nonideal"] = {
            name: {"force": self.formula(f"non-ideal law of {name!r}", f)}
            for name, f in d.nonideal.items()
        }
        return {k: v for k, v in tables.items() if v}

    # --- motion -----------------------------------------------------------------------------------

    def motion(self, model: Model) -> Tables:
        """Start, events and simulation of a model."""
        start, tables = model.start_conditions, {}
        request = dict(start.request)
        entries: Tables = {} if not start.t else {"t": start.t}
        if start.q is not None:
            entries |= {"q": dict(start.q)} | ({} if start.v is None else {"v": dict(start.v)})
        if "start" in request:
            entries["near"] = request.pop("start")
        held = dict(request.pop("hold", {}))
        bodies = [name for name, value in held.items() if value is True]
        if bodies:
            entries["bodies"] = bodies
        held = {name: value for name, value in held.items() if value is not True}
        entries |= ({"hold": held} if held else {}) | request
        if entries:
            tables["start"] = entries
        if model.events:
            tables["event"] = {n: self._event(f"event {n!r}", e) for n, e in model.events.items()}
        simulation = dict(model.simulation.choices)
        if model.simulation.until is not None:
            simulation = {"until": model.simulation.until, **simulation}
        if simulation:
            tables["simulation"] = simulation
        tables |= {name: dict(values) for name, values in model.analysis_tables.items()}
        if "servo" in tables:
            tables["servo"]["program"] = {
                name: self.formula(f"program of {name!r}", f)
                for name, f in tables["servo"]["program"].items()
            }
        return tables

    def _event(self, what: str, event: Any) -> Tables:
        named = isinstance(event.function, str)
        written = event.function if named else self.formula(what, event.function)
        entries: Tables = {"function": written}
        entries |= {"at": event.at} if event.at else {}
        entries |= {"direction": float(event.direction)} if event.direction else {}
        for action in event.actions:
            if isinstance(action, Bounce):
                entries["bounce"] = action.restitution
            elif isinstance(action, SetParameters):
                entries["set"] = dict(action.values)
            elif isinstance(action, Switch):
                entries |= {k: list(v) for k, v in (("on", action.on), ("off", action.off)) if v}
            elif action == "stop":
                entries["stop"] = True
        return entries

    # --- expressions ------------------------------------------------------------------------------

    def formula(self, what: str, f: Any) -> Any:
        """An expression as it was written, or numbers."""
        f = getattr(f, "formula", f)  # the diagonal of a mass matrix
        if isinstance(f, Formula):
            self._note(what, self.definitions, f.definitions)
            self._note(what, self.constants, f.constants)
            return f.source
        if callable(f):
            raise _no_expression(what)
        return _numbers(f)

    def _note(self, what: str, known: dict[str, Any], new: Mapping[str, Any]) -> None:
        for name, value in new.items():
            if known.setdefault(name, value) != value:
                raise InputError(
                    f"definition {name!r} of {what}",
                    must="have one meaning in a file",
                    but="has another meaning elsewhere in the model",
                )


def _require_described(m: Mechanism, told: set[str]) -> None:
    """Refuse a mechanism with parts that no call of its description covers."""
    parts = m.parts
    names = [body.name for body in parts.bodies] + [*parts.joints]
    names += [force.name for force in parts.forces]
    for name in names:
        if name not in told and name.removesuffix("_s") not in told:  # s of a point on a curve
            raise InputError(
                f"part {name!r}",
                must="be made by a method of Mechanism to be written to a file",
                but="has no such call",
            )


def _no_expression(what: str) -> InputError:
    return InputError(
        what,
        must="be an expression to be written to a file",
        but="is a Python function",
        advice="Write it as an expression in the file that is read with zw.read_model.",
    )


def _labels(output: Any) -> Tables:
    """Unit and description of an output, where it has some."""
    told = {"unit": output.unit, "description": output.description}
    return {k: v for k, v in told.items() if v and v != "output"}


# --- numbers and places --------------------------------------------------------------------------


def _constants_of(e: ParameterExpression) -> dict[str, float]:
    """Constants of a file that an expression of its parameters uses."""
    if isinstance(e, FileExpression):
        names = {name.text for name in names_in(e.tree)}
        return {name: value for name, value in e.constants.items() if name in names}
    found: dict[str, float] = {}
    for inner in expressions_in((*e.arguments, *e.keywords.values())):
        found |= _constants_of(inner)
    return found


def _numbers(value: Any) -> Any:
    if next(expressions_in(value), None) is not None:
        return written(value)
    return np.asarray(value, dtype=float).tolist()


def _all_numbers(given: Mapping[str, Any]) -> Tables:
    return {key: _numbers(value) for key, value in given.items() if value is not None}


def _name(handle: Any) -> str:
    return handle if isinstance(handle, str) else handle.name


def _direction(value: Any) -> Any:
    if isinstance(value, str):
        return value if value in Direction.NAMES else _numbers(direction("axis", value))
    return _numbers(value)


def _placed(given: Mapping[str, Any]) -> Tables:
    """Point and axes of a joint or a force."""
    entries: Tables = {}
    at = given.get("at")
    if isinstance(at, MarkerHandle | MarkerExpression):
        entries["at"] = _place(at)
    elif isinstance(at, ParameterExpression):
        entries["at"] = _numbers(at)
    elif at is not None:
        pair = not isinstance(at, np.ndarray) and len(at) == 2
        pair = pair and not all(np.isscalar(x) or _is_number(x) for x in at)
        entries["at"] = [_place(x) for x in at] if pair else _numbers(at)
    for key in ("axis", "axis_b", "reference"):
        if given.get(key) is not None:
            entries[key] = _direction(given[key])
    return entries


def _place(where: Any) -> Any:
    if isinstance(where, MarkerExpression) or not isinstance(where, MarkerHandle):
        return _numbers(where)
    axes = {} if where.axes is None else {"axes": _numbers(where.axes)}
    return {"body": where.body.name, "at": _numbers(where.at), **axes}


def _is_table(made: Any) -> bool:
    """Whether an inertia is that of a table of a file."""
    return isinstance(made, ParameterExpression) and made.function is made_of_table


def _is_number(value: Any) -> bool:
    """Whether a value is an expression of one number, and no marker."""
    return isinstance(value, ParameterExpression) and not isinstance(value, MarkerExpression)


def _shape_of(made: Inertia) -> Tables | None:
    """The shape that gives exactly this inertia, if one does."""
    if len(made.shapes) != 1:
        return None
    (s,) = made.shapes
    names = {
        "rod": ("length",),
        "cylinder": ("radius", "length"),
        "tube": ("inner", "outer", "length"),
        "sphere": ("radius",),
    }.get(s.kind)
    sizes: Tables = dict(zip(names, s.size, strict=True)) if names else {}
    sizes |= {"box": {"size": list(s.size)}, "plate": {"sides": list(s.size)}}.get(s.kind, {})
    axis = {"plate": "normal", "rod": "axis", "cylinder": "axis", "tube": "axis"}.get(s.kind)
    for candidate in ("x", "y", "z", s.axes[:, 2].tolist()) if axis else (None,):
        entries = sizes if axis is None else {**sizes, axis: candidate}
        again = getattr(shapes, s.kind)(made.mass, **entries)
        if _same(again, made):
            return {"mass": made.mass, "shape": {"type": s.kind, **entries}}
    return None


def _same(a: Inertia, b: Inertia) -> bool:
    arrays = [(a.center, b.center), (a.tensor, b.tensor)]
    arrays += [(x.axes, y.axes) for x, y in zip(a.shapes, b.shapes, strict=True)]
    arrays += [(x.center, y.center) for x, y in zip(a.shapes, b.shapes, strict=True)]
    return a.mass == b.mass and all(np.array_equal(x, y) for x, y in arrays)


def _tensor_of(made: Inertia) -> Tables:
    def drawn(s: Shape) -> Tables:
        return {
            "kind": s.kind,
            "size": _numbers(s.size),
            "center": _numbers(s.center),
            "axes": _numbers(s.axes),
        }

    def weight(place: FloatArray) -> Tables:
        axes = _numbers(np.eye(3))
        return {"kind": "point", "size": [0.0], "center": _numbers(place), "axes": axes}

    J = _numbers(made.tensor)
    entries: Tables = {"mass": made.mass}
    entries["inertia"] = J if made.check else {"tensor": J, "check": False}
    entries["center"] = _numbers(made.center)
    seen = [*map(drawn, made.shapes), *map(weight, made.points)]
    return entries | ({"drawn": seen} if seen else {})


# --- TOML ----------------------------------------------------------------------------------------


def _emit(tables: Tables) -> str:
    """Text of tables; those under the key "" are (table, name, entries) in the order of calls."""
    lines: list[str] = []

    def section(header: str, entries: Mapping[str, Any]) -> None:
        lines.extend(["", f"[{header}]"])
        lines.extend(f"{_key(k)} = {_value(v)}" for k, v in entries.items())

    for name, entries in tables.items():
        if name == "":
            for table, key, values in entries:
                section(f"{table}.{_key(key)}", values)
        elif name in ("constraint", "nonideal", "event", "output"):
            for key, values in entries.items():
                section(f"{name}.{_key(key)}", values)
        else:
            section(name, entries)
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return repr(float(value)).replace(".0", "") if _whole(value) else repr(float(value))


def _whole(value: Any) -> bool:
    """Whether a number reads better without a point: 2 and not 2.0, but never 1e20 or -0.0."""
    number = float(value)
    return (
        number.is_integer() and abs(number) < 1e9 and not (number == 0.0 and str(number)[0] == "-")
    )
