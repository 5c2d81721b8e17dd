"""Expressions of model files as functions, in place of Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from zwang.model_files.arithmetic import CONSTANTS, FUNCTIONS, listed
from zwang.model_files.dimensions import Measured, NamesMeasured, require_unit
from zwang.model_files.document import Item
from zwang.model_files.expressions import (
    ExpressionError,
    Name,
    Node,
    NumberLiteral,
    Room,
    evaluate,
    names_in,
    parse_expression,
)
from zwang.model_files.fields import NumberField, expression_error
from zwang.model_files.units import (
    dimension_of_text,
    dimension_of_unit,
    is_quantity,
    quantity,
)
from zwang.multibody.equal_descriptions import Comparable, exact_key
from zwang.tracing.symbol import ValueNeededError

__all__ = ["Definitions", "Formula", "Scope", "UserForces", "names_used", "of_time", "time_formula"]

#: What an expression may ask of a body, and its unit.
OF_A_BODY = {
    "position": "m",
    "rotation": "",
    "velocity": "m/s",
    "angular_velocity": "rad/s",
    "omega": "rad/s",
}
OF_A_COORDINATE = ("value", "rate")


@dataclass(frozen=True)
class Scope:
    """The names an expression may use.

    Attributes
    ----------
    plain : numbers and vectors.
    bodies : names of bodies.
    coordinates : names of extra generalized coordinates of a mechanism.
    units : of those among `plain` that are measured in something.
    """

    plain: tuple[str, ...]
    bodies: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether a name, possibly dotted, may be used."""
        return name in self.plain or name in CONSTANTS or name in self._of_bodies()

    def _of_bodies(self) -> set[str]:
        names = {*self.bodies, *self.coordinates}
        names |= {f"{body}.{what}" for body in self.bodies for what in OF_A_BODY}
        return names | {f"{c}.{what}" for c in self.coordinates for what in OF_A_COORDINATE}

    def measured(self, name: str) -> Measured | None:
        """What a name is measured in; None where that is not known."""
        owner, _, what = name.partition(".")
        unit = OF_A_BODY.get(what, "") if owner in self.bodies else self.units.get(name)
        unit = "s" if name == "t" else unit
        dimension = dimension_of_unit(unit) if unit else None
        return None if dimension is None else Measured(dimension, given=False)

    def listed(self, near: str) -> list[str]:
        """Names for a message."""
        owner, dot, _ = near.partition(".")
        if dot and owner in self.bodies:
            return [f"{owner}.{what}" for what in OF_A_BODY]
        if dot and owner in self.coordinates:
            return [f"{owner}.{what}" for what in OF_A_COORDINATE]
        return [*self.bodies, *self.coordinates, *self.plain, *CONSTANTS]


@dataclass(frozen=True)
class Entries:
    """An expression with its place, or a list of such."""

    item: Item
    tree: Node | None
    parts: tuple[Entries, ...] = ()

    @classmethod
    def of(cls, item: Item) -> Entries:
        """Parse what stands at a place."""
        value = item.value
        if isinstance(value, list):
            return cls(item, None, tuple(cls.of(entry) for entry in item))
        if isinstance(value, str):
            return cls(item, _parsed(item))
        number = float(value) if abs(value) < 1e308 else float("inf")
        if number - number != 0.0:
            raise item.error(expected="a finite number")
        return cls(item, NumberLiteral(number))

    def leaves(self) -> Iterable[Entries]:
        """All single expressions."""
        if self.tree is not None:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def names(self) -> Iterable[Name]:
        """Names in a single expression."""
        return () if self.tree is None else names_in(self.tree)

    def measured(self, names: NamesMeasured, unit: str | None = None) -> Measured | None:
        """What a single expression is measured in; one that cannot be in a unit is refused."""
        for part in self.parts:
            part.measured(names, unit)
        text = self.item.value
        if self.tree is None or not isinstance(text, str):
            return None
        try:
            if is_quantity(text):
                quantity(text, unit)
                dimension = dimension_of_text(text)
                return None if dimension is None else Measured(dimension)
            return require_unit(text, self.tree, names, unit, NumberField(unit).words)
        except ExpressionError as error:
            raise expression_error(self.item, error) from None

    def evaluate(self, values: Mapping[str, Any], room: Room) -> Any:
        """Value, or nested lists of values."""
        if self.tree is None:
            return [part.evaluate(values, room) for part in self.parts]
        try:
            return evaluate(self.tree, values, room)
        except ExpressionError as error:
            raise expression_error(self.item, error) from None
        except (ValueNeededError, ArithmeticError, TypeError, ValueError) as error:
            raise self.item.error(
                but=str(error), expected="an expression that can be computed"
            ) from None


def _parsed(item: Item) -> Node:
    try:
        return parse_expression(item.value)
    except ExpressionError as error:
        if is_quantity(item.value):
            try:
                return NumberLiteral(quantity(item.value, None))
            except ExpressionError:
                pass  # the first message is the better one
        raise expression_error(item, error) from None


@dataclass(frozen=True)
class Definitions:
    """Names for expressions, in the order of the file: each may use those before it.

    Attributes
    ----------
    entries : name → expression.
    constants : name → number.
    given : what constants and parameters are measured in that were given with a unit.
    """

    entries: Mapping[str, Entries] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    given: NamesMeasured = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        items: Mapping[str, Item],
        constants: Mapping[str, float],
        given: NamesMeasured | None = None,
    ) -> Definitions:
        """Parse definitions; each may use those before it."""
        entries: dict[str, Entries] = {}
        for name, item in items.items():
            if name in constants or name in FUNCTIONS or name in CONSTANTS:
                raise item.error(repr(name), "a name that is not in use")
            entry = Entries.of(item)
            for leaf in entry.leaves():
                for used in leaf.names():
                    if used.text in items and used.text not in entries:
                        raise leaf.item.error(
                            f"the definition {used.text!r}",
                            "definitions that stand before it",
                        )
            entries[name] = entry
        result = cls(entries, constants, given or {})
        result.measured(entries, Scope(()))
        return result

    def measured(self, names: Iterable[str], scope: Scope) -> NamesMeasured:
        """What names are measured in, definitions among them, whose own terms must agree."""
        known = _ScopeMeasured(scope, self.given)
        for name in names:
            known[name] = self.entries[name].measured(known)
        return known

    def needed(self, entry: Entries, scope: Scope) -> tuple[str, ...]:
        """Definitions that an expression needs, in order; unknown names are refused."""
        found: set[str] = set()
        waiting = [(leaf, leaf.item, "") for leaf in entry.leaves()]
        while waiting:
            leaf, item, way = waiting.pop()
            for name in leaf.names():
                text = name.text
                if text in self.entries:
                    if text not in found:
                        found.add(text)
                        waiting += [(x, item, text) for x in self.entries[text].leaves()]
                elif not scope.has(text) and text not in self.constants:
                    known = [*scope.listed(text), *self.entries, *self.constants]
                    error = item.unknown(text, known, "a name that is known here")
                    if way:
                        found_text = f"{text!r}, through the definition {way!r}"
                        error = item.error(found_text, error.expected, error.advice)
                    raise error
        return tuple(name for name in self.entries if name in found)


class _ScopeMeasured(dict[str, Measured | None]):
    """What names are measured in; what the scope has is looked up when it is needed."""

    def __init__(self, scope: Scope, known: NamesMeasured) -> None:
        super().__init__(known)
        self.scope = scope

    def get(self, name: str, default: Any = None) -> Measured | None:
        """What a name is measured in; None where that is not known."""
        return self[name] if name in self else self.scope.measured(name) or default


def names_used(item: Item, definitions: Definitions) -> tuple[str, ...]:
    """Names in an expression, with those of the definitions that it uses in place of them."""
    found: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [*Entries.of(item).leaves()]
    while waiting:
        for name in waiting.pop().names():
            if name.text not in definitions.entries:
                found[name.text] = None
            elif name.text not in seen:
                seen.add(name.text)
                waiting += definitions.entries[name.text].leaves()
    return tuple(found)


class Formula(Comparable):
    """An expression, or a list of them, as a function of the arguments that the library passes.

    Parameters
    ----------
    unit : its value is measured in; None for any.

    Attributes
    ----------
    source : the value as it is written in the file.
    used : definitions that it needs.
    """

    def __init__(
        self,
        item: Item,
        arguments: tuple[str, ...],
        scope: Scope,
        definitions: Definitions,
        values: Callable[[Mapping[str, Any]], dict[str, Any]],
        unit: str | None = None,
    ) -> None:
        self._entries = Entries.of(item)
        self._arguments = arguments
        self._definitions = definitions
        self._values = values
        self.source = item.value
        self.used = definitions.needed(self._entries, scope)
        self._entries.measured(definitions.measured(self.used, scope), unit)
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in arguments]
        )

    @property
    def definitions(self) -> dict[str, Any]:
        """Those it needs, as they are written."""
        return {name: self._definitions.entries[name].item.value for name in self.used}

    @property
    def constants(self) -> Mapping[str, float]:
        """Constants of its file."""
        return self._definitions.constants

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Its value, or nested lists of values, for numbers or symbols."""
        given = {**dict(zip(self._arguments, positional, strict=False)), **named}
        values = _NamedValues({**self._definitions.constants, **self._values(given)})
        room = Room()
        for name in self.used:
            entries = self._definitions.entries[name]
            try:
                values[name] = _array(entries.evaluate(values, room), room)
            except ExpressionError as error:
                raise expression_error(entries.item, error) from None
        return self._entries.evaluate(values, room)

    def exact_key(self) -> Hashable:
        """Its place in its file, with all of that, and how names get their values."""
        return exact_key((self._entries.item, self._arguments, self._values))

    def __repr__(self) -> str:
        return f"Formula({self.source!r})"


def time_formula(
    item: Item, parameters: tuple[str, ...], definitions: Definitions, unit: str | None = None
) -> Formula:
    """An expression of time and parameters, as a function of (t, p)."""
    scope = Scope(("t", *parameters))
    return Formula(item, ("t", "p"), scope, definitions, partial(of_time, parameters), unit)


def of_time(names: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Time, parameters, and what else is a number among the arguments."""
    p = given["p"]
    values = {name: p[name] for name in names}
    values |= {k: v for k, v in given.items() if k not in ("p", "body", "bodies")}
    return values


class _NamedValues(dict[str, Any]):
    """Values by name; ``crank.position`` is asked of the body when it is needed."""

    def __missing__(self, name: str) -> Any:
        owner, _, what = name.partition(".")
        # The scope has let the name pass, so that `what` is one of OF_A_BODY.
        value = self[name] = getattr(self[owner], what)
        return value


def _array(result: Any, room: Room) -> Any:
    if not isinstance(result, list):
        return result
    entries = [_array(entry, room) for entry in result]
    room.take(sum(entry.size if isinstance(entry, np.ndarray) else 1 for entry in entries))
    return listed(entries)


class UserForces(Comparable):
    """Expressions for forces and moments on several bodies, as one function of (bodies, t, p).

    Attributes
    ----------
    names : of the bodies, in order.
    parts : body → what acts on it: force and moment, or effort.
    """

    def __init__(self, names: list[str], parts: Mapping[str, Mapping[str, Formula]]) -> None:
        self.names, self.parts = names, parts

    def exact_key(self) -> Hashable:
        """Those of its expressions."""
        return exact_key((list(self.names), {k: dict(x) for k, x in self.parts.items()}))

    def __call__(self, bodies: Any, t: Any, p: Any) -> list[Any]:
        """A pair (force, moment) for each body, or one number for an extra coordinate."""
        results: list[Any] = []
        for name in self.names:
            acting = self.parts.get(name, {})
            if "effort" in acting:
                results.append(acting["effort"](bodies, t, p))
            else:
                pair = [
                    acting[key](bodies, t, p) if key in acting else [0.0, 0.0, 0.0]
                    for key in ("force", "moment")
                ]
                results.append(pair)
        return results
