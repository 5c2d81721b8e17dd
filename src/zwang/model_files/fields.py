"""What may stand at a key of a model file: kinds of values, each read with a check and a message.

The same description makes the JSON schema for editors: each kind gives its own part of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.display import typeset
from zwang.errors import ModelError
from zwang.model_files.arithmetic import CONSTANTS
from zwang.model_files.document import Item
from zwang.model_files.expressions import (
    DECIMALS,
    ExpressionError,
    Node,
    evaluate,
    names_in,
    parse_expression,
)
from zwang.model_files.units import (
    Dimension,
    dimension_of_text,
    in_units,
    is_quantity,
    quantity,
)
from zwang.multibody.parameter_expression import ParameterExpression

__all__ = [
    "Choice",
    "Constants",
    "Direction",
    "Field",
    "FieldKind",
    "Flag",
    "Formulas",
    "Map",
    "NameList",
    "NumberArrayField",
    "NumberField",
    "OneOf",
    "Orientation",
    "PlaceField",
    "TableField",
    "TableList",
    "Text",
    "expression_error",
]

#: Values of the constants of a file by name.
Constants = Mapping[str, float]


def _parameters(constants: Constants) -> Mapping[str, Any]:
    """Parameters that numbers of a file may depend on: `FileConstants` has some."""
    return getattr(constants, "parameters", {})


def expression_error(item: Item, error: ExpressionError, expected: str | None = None) -> ModelError:
    """An error of an expression or a unit, with its place."""
    if error.near is not None:
        name, known = error.near
        near = item.unknown(name, list(known), "a known name")
        return item.error(error.found, expected or error.expected, near.advice)
    return item.error(error.found, expected or error.expected, error.advice)


class FieldKind(ABC):
    """A kind of value."""

    @abstractmethod
    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""


@dataclass(frozen=True)
class NumberField(FieldKind):
    """A number, in SI units or as text with a unit, or an expression of the file's constants.

    Attributes
    ----------
    unit : it is measured in, ``""`` for none, None for any.
    least : it may not be below this.
    """

    unit: str | None = None
    least: float | None = None

    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked; in tables of geometry it may be an expression of parameters."""
        value = item.value
        if isinstance(value, str):
            value = self._of_text(item, constants)
            if isinstance(value, ParameterExpression):
                return value
        return self.checked(item, value)

    def checked(self, item: Item, value: Any) -> float:
        """A number that is finite and within its limits."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise item.error(expected=self.words)
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if number - number != 0.0:  # infinite, or not a number
            raise item.error(expected="a finite number")
        if self.least is not None and number < self.least:
            what = "zero or a positive number" if self.least == 0.0 else f"at least {self.least:g}"
            raise item.error(expected=what)
        return number

    def _of_text(self, item: Item, constants: Constants) -> Any:
        try:
            if is_quantity(item.value):
                return quantity(item.value, self.unit)
            tree = parse_expression(item.value)
            self._require_constants(item, tree, constants)
            of_parameters = getattr(constants, "number", None)
            found = None if of_parameters is None else of_parameters(item, tree, self)
            if found is not None:
                found.value(_parameters(constants))
                return found
            value = evaluate(tree, constants)
        except ExpressionError as error:
            raise expression_error(item, error) from None
        if not isinstance(value, float):
            raise item.error(expected=self.words)
        return value

    def _require_constants(self, item: Item, tree: Node, constants: Constants) -> None:
        parameters = getattr(constants, "parameters", {})
        known = [*constants, *parameters]
        of_file = item.document.values.get("parameters", {})
        for name in names_in(tree):
            if name.text not in known and name.text not in CONSTANTS:
                kinds = "constants and parameters" if parameters else "constants"
                if isinstance(of_file, dict) and name.text in of_file:
                    raise ExpressionError(
                        f"the parameter {name.text!r}",
                        f"{self.words}, or an expression of constants",
                        f"A parameter may change from run to run, and this is read once: move "
                        f"{name.text} from [parameters] to [constants], or write its value here.",
                    )
                raise ExpressionError(
                    f"the name {name.text!r} in {item.value!r}",
                    f"{self.words}, or an expression of {kinds}: "
                    f"{', '.join(known) or '(there are none)'}",
                    near=(name.text, known),
                )

    @property
    def words(self) -> str:
        """For messages."""
        if self.unit:
            return f"a number [{typeset(self.unit)}], or text with a unit"
        return "a number"

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        note = f" [{typeset(self.unit)}]" if self.unit else ""
        number: dict[str, Any] = {"type": "number"}
        if self.least is not None:
            number["minimum"] = self.least
        text = {"type": "string", "description": f"number with a unit{note}, or of constants"}
        return {"anyOf": [number, text]}


@dataclass(frozen=True)
class NumberArrayField(FieldKind):
    """A vector or matrix of numbers of one unit.

    Attributes
    ----------
    shapes : those allowed; ``()`` is a number, 0 stands for any length.
    """

    unit: str | None
    shapes: tuple[tuple[int, ...], ...]

    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked."""
        value, shape = self._nested(item, constants)
        if not any(_fits(shape, allowed) for allowed in self.shapes):
            # [0,1, 0,2, 0,3] is six whole numbers in place of three.
            doubled = len(shape) == 1 and shape[0] in {2 * one[0] for one in self.shapes if one}
            whole = doubled and all(isinstance(entry, int) for entry in item.value)
            raise item.error(expected=self.words, advice=DECIMALS if whole else None)
        return value

    def _nested(self, item: Item, constants: Constants, depth: int = 0) -> tuple[Any, Any]:
        if not isinstance(item.value, list):
            value = NumberField(self.unit).read(item, constants)
            if isinstance(value, ParameterExpression):
                return value, np.shape(value.value(_parameters(constants)))
            return value, ()
        if depth > 2:
            raise item.error(expected=self.words)
        entries = [self._nested(entry, constants, depth + 1) for entry in item]
        shapes = {shape for _, shape in entries}
        if len(shapes) > 1:
            raise item.error(expected=self.words)
        inner = shapes.pop() if shapes else ()
        return [value for value, _ in entries], (len(entries), *inner)

    @property
    def words(self) -> str:
        """For messages."""
        names = {
            (): "a number",
            (0,): "a list of numbers",
            (0, 0): "rows of numbers",
            (2,): "two numbers",
            (3,): "three numbers",
            (4,): "four numbers",
            (3, 3): "three rows of three numbers",
        }
        unit = f" [{typeset(self.unit)}]" if self.unit else ""
        return " or ".join(names[shape] for shape in self.shapes) + unit

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""

        def of(shape: tuple[int, ...]) -> dict[str, Any]:
            if not shape:
                return {"$ref": "#/$defs/number"}
            size = {"minItems": shape[0], "maxItems": shape[0]} if shape[0] else {}
            return {"type": "array", "items": of(shape[1:]), **size}

        options = [of(shape) for shape in self.shapes]
        return options[0] if len(options) == 1 else {"anyOf": options}


def _fits(shape: tuple[int, ...], allowed: tuple[int, ...]) -> bool:
    return len(shape) == len(allowed) and all(
        n == wanted or (wanted == 0 and n > 0) for n, wanted in zip(shape, allowed, strict=True)
    )


class Direction(FieldKind):
    """``"x"``, ``"-z"`` or numbers, in any one unit: the difference of two points is one."""

    NAMES = ("x", "y", "z", "-x", "-y", "-z")

    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked."""
        if isinstance(item.value, str) and item.value in self.NAMES:
            return item.value
        if not isinstance(item.value, list):
            raise item.error(expected="'x', 'y', 'z', '-x', '-y', '-z' or three numbers")
        found = NumberArrayField(None, ((2,), (3,))).read(item, constants)
        self._require_one_unit(item, constants)
        return found

    def _require_one_unit(self, item: Item, constants: Constants) -> None:
        """Refuse components in units of several kinds."""
        measured = getattr(constants, "dimension", None)
        found = [(entry, entry.value) for entry in item if isinstance(entry.value, str)]
        known: dict[Dimension, Item] = {}
        for entry, text in found:
            if is_quantity(text):
                dimension = dimension_of_text(text)
            else:
                dimension = None if measured is None else measured(text)
            if dimension is not None and any(dimension):
                known.setdefault(dimension, entry)
        if len(known) > 1:
            (first, _), (other, entry) = list(known.items())[:2]
            told = f"{entry.value!r}, in {in_units(other)}"
            raise entry.error(told, f"a component in {in_units(first)}, as the one before it")

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"anyOf": [{"enum": list(self.NAMES)}, NumberArrayField("", ((2,), (3,))).schema()]}


class Orientation(FieldKind):
    """A quaternion (w, x, y, z), a rotation matrix, or a rotation by an angle about an axis."""

    @property
    def turn(self) -> TableField:
        """A rotation about an axis."""
        return TableField(
            {
                "axis": Field(Direction(), "of the rotation, world axes", required=True),
                "angle": Field(NumberField("rad"), "of the rotation", required=True),
            }
        )

    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked."""
        if isinstance(item.value, dict):
            return self.turn.read(item, constants)
        if not isinstance(item.value, list):
            raise item.error(
                expected="a quaternion of four numbers (w, x, y, z), three rows of three numbers, "
                "or { axis = …, angle = … }"
            )
        return NumberArrayField("", ((4,), (3, 3))).read(item, constants)

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"anyOf": [NumberArrayField("", ((4,), (3, 3))).schema(), self.turn.schema()]}


class PlaceField(FieldKind):
    """A point, a marker on a body, or a pair of these."""

    def __init__(self, *, pair: bool = True) -> None:
        self.pair = pair

    @property
    def marker(self) -> TableField:
        """A point of a body, with axes."""
        return TableField(
            {
                "body": Field(Text(), "the body, or ground", required=True),
                "at": Field(_POINT, "in the body's frame"),
                "axis": Field(Direction(), "z axis of the marker, body axes"),
                "reference": Field(Direction(), "x axis as far as that can be, body axes"),
                "axes": Field(
                    NumberArrayField("", ((3, 3),)), "x, y, z as columns, in place of these"
                ),
            }
        )

    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked."""
        expected = "a point of two or three numbers [m]"
        if self.pair:
            expected += ", a marker { body = …, at = … }, or a pair of these"
        value = item.value
        if isinstance(value, dict):
            return self.marker.read(item, constants)
        if isinstance(value, str) and getattr(constants, "parameters", {}):
            return _POINT.read(item, constants)  # a parameter that is a vector
        if not isinstance(value, list):
            raise item.error(expected=expected)
        if self.pair and len(value) == 2 and all(isinstance(x, list | dict) for x in value):
            return tuple(PlaceField(pair=False).read(entry, constants) for entry in item)
        if any(isinstance(x, list | dict) for x in value) or len(value) not in (2, 3):
            raise item.error(expected=expected)
        return _POINT.read(item, constants)

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        one = {"anyOf": [_POINT.schema(), self.marker.schema()]}
        if not self.pair:
            return one
        both = {"type": "array", "items": one, "minItems": 2, "maxItems": 2}
        return {"anyOf": [*one["anyOf"], both]}


_POINT = NumberArrayField("m", ((2,), (3,)))


@dataclass(frozen=True)
class Text(FieldKind):
    """A text that is not empty."""

    def read(self, item: Item, constants: Constants) -> str:  # noqa: ARG002 - one signature
        """The value, checked."""
        if not isinstance(item.value, str) or not item.value:
            raise item.error(expected="text in quotation marks")
        return item.value

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"type": "string"}


@dataclass(frozen=True)
class Choice(FieldKind):
    """One of some words.

    Attributes
    ----------
    known_as : what others call them → the words of the options.
    """

    options: tuple[str, ...]
    known_as: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, item: Item, constants: Constants) -> str:  # noqa: ARG002 - the contract of all kinds
        """The value, checked."""
        if not isinstance(item.value, str):
            raise item.error(expected=f"one of {', '.join(self.options)}, in quotation marks")
        if item.value not in self.options:
            named = self.known_as.get(item.value.lower().replace(" ", "_"), ())
            meant = f"Did you mean {' or '.join(map(repr, named))}?" if named else None
            raise item.unknown(item.value, self.options, "one of the options", meant)
        return item.value

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"enum": list(self.options)}


@dataclass(frozen=True)
class Flag(FieldKind):
    """true or false."""

    def read(self, item: Item, constants: Constants) -> bool:  # noqa: ARG002 - the contract of all kinds
        """The value, checked."""
        if not isinstance(item.value, bool):
            raise item.error(expected="true or false")
        return item.value

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class NameList(FieldKind):
    """A list of names, of a given number if that is fixed."""

    count: int | None = None

    def read(self, item: Item, constants: Constants) -> list[str]:
        """The value, checked."""
        value = item.value
        right = isinstance(value, list) and value and all(isinstance(x, str) for x in value)
        if not right or (self.count is not None and len(value) != self.count):
            number = "" if self.count is None else f"{self.count} "
            raise item.error(expected=f"a list of {number}names, such as ['a', 'b']")
        return [Text().read(entry, constants) for entry in item]

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        size = {} if self.count is None else {"minItems": self.count, "maxItems": self.count}
        return {"type": "array", "items": {"type": "string"}, **size}


@dataclass(frozen=True)
class Formulas(FieldKind):
    """An expression, a list of them, or rows of them; read later, when its names are known.

    Attributes
    ----------
    depth : 0 for one, 1 for a list too, 2 for rows too.
    """

    depth: int = 1

    def read(self, item: Item, constants: Constants) -> Item:  # noqa: ARG002 - the contract of all kinds
        """The value, checked."""
        self._check(item, self.depth)
        return item

    def _check(self, item: Item, depth: int) -> None:
        value = item.value
        if isinstance(value, list) and depth and value:
            for entry in item:
                self._check(entry, depth - 1)
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            more = ("", ", or a list of these", ", or rows of these")[self.depth]
            raise item.error(expected=f"an expression in quotation marks or a number{more}")

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        options: list[dict[str, Any]] = [{"type": ["string", "number"]}]
        for _ in range(self.depth):
            options.append({"type": "array", "items": options[-1], "minItems": 1})
        return options[0] if len(options) == 1 else {"anyOf": options}


@dataclass(frozen=True)
class OneOf(FieldKind):
    """A table, or a value of another kind.

    Attributes
    ----------
    first, other : the two kinds.
    type : Python's type that distinguishes the first; that of tables by default.
    """

    first: FieldKind
    other: FieldKind
    type: type = dict

    def read(self, item: Item, constants: Constants) -> Any:
        """The value, checked."""
        return (self.first if isinstance(item.value, self.type) else self.other).read(
            item, constants
        )

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"anyOf": [self.first.schema(), self.other.schema()]}


@dataclass(frozen=True)
class Field:
    """A key of a table.

    Attributes
    ----------
    kind : of its value.
    help : what it means, for the schema.
    required : whether it must be there.
    """

    kind: FieldKind
    help: str
    required: bool = False


@dataclass(frozen=True)
class TableField(FieldKind):
    """A table with known keys."""

    fields: Mapping[str, Field] = field(default_factory=dict)
    help: str = ""

    def read(self, item: Item, constants: Constants) -> dict[str, Any]:
        """The value, checked."""
        if not isinstance(item.value, dict):
            raise item.error(expected=f"a table with keys of {', '.join(self.fields)}")
        for key in item.value:
            if key not in self.fields:
                where = f" of {item.dotted}" if item.key else ""
                raise item[key].unknown(key, self.fields, f"a key{where}", self._place(item, key))
        for name, wanted in self.fields.items():
            if wanted.required and name not in item.value:
                raise item.error(
                    but=f"there is no key '{name}'", expected=f"{name} = …, {wanted.help}"
                )
        return {key: self.fields[key].kind.read(item[key], constants) for key in item.value}

    def _place(self, item: Item, key: str) -> str | None:
        """Where a key that is not of this table would be one: in a table within it."""
        tables = [
            f"[{item.dotted}.{name}]" if item.key else f"[{name}]"
            for name, entry in self.fields.items()
            if isinstance(entry.kind, TableField) and key in entry.kind.fields
        ]
        return f"Write it in {' or '.join(tables)}." if tables else None

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        properties = {
            name: {"description": entry.help, **entry.kind.schema()}
            for name, entry in self.fields.items()
        }
        required = [name for name, entry in self.fields.items() if entry.required]
        result: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }
        if required:
            result["required"] = required
        return result


@dataclass(frozen=True)
class TableList(FieldKind):
    """A table, or a list of tables."""

    kind: FieldKind

    def read(self, item: Item, constants: Constants) -> list[Any]:
        """The values, checked; of one table a list of one."""
        if isinstance(item.value, list):
            return [self.kind.read(entry, constants) for entry in item]
        return [self.kind.read(item, constants)]

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        one = self.kind.schema()
        return {"anyOf": [one, {"type": "array", "items": one}]}


@dataclass(frozen=True)
class Map(FieldKind):
    """A table whose keys are names of the user's."""

    kind: FieldKind

    def read(self, item: Item, constants: Constants) -> dict[str, Any]:
        """The value, checked."""
        if not isinstance(item.value, dict):
            raise item.error(expected="a table of names and values")
        return {entry.name: self.kind.read(entry, constants) for entry in item}

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return {"type": "object", "additionalProperties": self.kind.schema()}
