"""Dimensions in a model file that are expressions of its parameters: ``position = ["L/2", 0]``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from zwang.errors import ModelError
from zwang.model_files.dimensions import Measured, require_unit
from zwang.model_files.document import Item
from zwang.model_files.expressions import (
    ExpressionError,
    Node,
    evaluate,
    names_in,
    parse_expression,
)
from zwang.model_files.fields import Constants, Map, NumberField, expression_error
from zwang.model_files.units import Dimension
from zwang.multibody.equal_descriptions import Comparable
from zwang.multibody.parameter_expression import ParameterExpression

__all__ = ["FileConstants", "FileExpression", "GeometryMap"]


class FileConstants(dict[str, float]):
    """Constants of a file, with the parameters that numbers may depend on.

    Attributes
    ----------
    parameters : name → default value, in tables of geometry; empty in others.
    declared : the same for the whole file.
    measured : what names are measured in that were given with a unit.
    """

    def __init__(
        self,
        constants: Mapping[str, float],
        declared: Mapping[str, Any],
        measured: dict[str, Measured | None],
    ) -> None:
        super().__init__(constants)
        self.declared, self.measured = declared, measured
        self.parameters: Mapping[str, Any] = {}

    def dimension(self, text: str) -> Dimension | None:
        """What an expression is certainly measured in; None where that is not known."""
        found = require_unit(text, parse_expression(text), self.measured, None, "")
        return found.dimension if found is not None and found.given else None

    def number(self, item: Item, tree: Node, field: NumberField) -> FileExpression | None:
        """The expression of parameters at a place, checked; None if no parameter is in it."""
        try:
            require_unit(item.value, tree, self.measured, field.unit, field.words)
        except ExpressionError as error:
            advice = self._given(item, tree)
            raise ExpressionError(error.found, error.expected, advice) from None
        used = [name.text for name in names_in(tree) if name.text in self.parameters]
        if not used:
            return None
        return FileExpression(item, tree, dict(self), tuple(dict.fromkeys(used)), field)

    def _given(self, item: Item, tree: Node) -> str:
        """Where the names of an expression have their units, in a sentence."""
        tables = [item.document.root.under(table) for table in ("constants", "parameters")]
        names = dict.fromkeys(name.text for name in names_in(tree))
        items = [table[n] for n in names for table in tables if self.measured.get(n) and n in table]
        told = [f"{i.name} is {i.value!r} in line {i.line}" for i in items]
        return f"{', '.join(told)}." if told else ""


class FileExpression(ParameterExpression, Comparable):
    """An expression of parameters where a number stands.

    Attributes
    ----------
    source : as it is written in the file.
    constants : of the file, by name.
    """

    def __init__(
        self,
        item: Item,
        tree: Node,
        constants: Mapping[str, float],
        used: tuple[str, ...],
        field: NumberField,
    ) -> None:
        super().__init__(evaluate, (item, tree, constants, used, field))
        self.item, self.tree, self.used, self.field = item, tree, used, field
        self.constants, self.source = constants, item.value

    def names(self) -> Iterator[str]:
        """Names of the parameters it depends on."""
        yield from self.used

    def exact_key(self) -> Hashable:
        """Its place in its file, with all of that."""
        return self.item.exact_key()

    def value(self, values: Mapping[str, Any]) -> Any:
        """Its value, checked as a number at this place is."""
        given = {name: _plain(values[name]) for name in self.used}
        try:
            result = evaluate(self.tree, {**self.constants, **given})
        except ExpressionError as error:
            raise expression_error(self.item, error) from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.item.error(
                but=str(error), expected="an expression that can be computed"
            ) from None
        if isinstance(result, np.ndarray):
            return np.array(result, dtype=float)
        try:
            return self.field.checked(self.item, result)
        except ModelError as error:
            found = f"{self.source!r}, which is {float(result):g}"
            raise self.item.error(found, error.expected) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return FileExpression, self.arguments


def _plain(value: Any) -> Any:
    array = np.asarray(value, dtype=float)
    return float(array) if array.ndim == 0 else array


class GeometryMap(Map):
    """A table of parts, whose numbers may be expressions of the file's parameters."""

    def read(self, item: Item, constants: Constants) -> dict[str, Any]:
        """The value, checked."""
        if isinstance(constants, FileConstants):
            allowed = FileConstants(constants, constants.declared, constants.measured)
            allowed.parameters = constants.declared
            return super().read(item, allowed)
        return super().read(item, constants)
