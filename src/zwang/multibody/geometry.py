"""Mechanisms whose dimensions depend on parameters: the same calls with other values.

Numbers of bodies and elements are inputs of kernels. For other values of its parameters a mechanism
is therefore described anew by the same calls, which costs no more than describing it, and the
numbers that come out are handed to the kernels that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.states import parameter_value
from zwang.caching import Remembered
from zwang.errors import InputError, ModelError
from zwang.multibody.pickling import Recipe

if TYPE_CHECKING:
    from zwang.multibody.frozen import Parts

__all__ = ["GeometryParameters"]

#: Mechanisms of other dimensions that are remembered.
KEPT = 1024
#: By which shares parameters are changed to see which numbers follow from them.
SHIFTS = (2.0**-6, -(2.0**-6), 2.0**-12, -(2.0**-12))
#: Of each parameter another part of a share is taken, the fractional part of its number times this,
#: so that quotients and differences change, too.
SPREAD = (5.0**0.5 - 1.0) / 2.0


class GeometryParameters:
    """Parameters that numbers of a mechanism follow from.

    Parameters
    ----------
    names : of the parameters.
    recipe : how the mechanism was built.
    build : parts of the mechanism that a recipe describes.
    """

    def __init__(
        self, names: tuple[str, ...], recipe: Recipe, build: Callable[[Recipe], Parts]
    ) -> None:
        self.names, self._recipe, self._build = names, recipe.freed, build
        self._parts: Remembered[bytes, Parts] = Remembered(KEPT)
        self._seen: frozenset[str] = frozenset()

    def parts(self, values: Mapping[str, Any]) -> Parts:
        """The mechanism with these values of the parameters, with the same equations.

        Raises
        ------
        InputError : some value makes no such mechanism.
        """
        given = {name: parameter_value(name, values[name]) for name in self.names}
        key = b"".join(value.tobytes() for value in given.values())
        if key not in self._parts:
            self._parts[key] = self._built(given)
        return self._parts[key]

    def _built(self, given: Mapping[str, np.ndarray]) -> Parts:
        defaults = self._recipe.given["parameters"]
        for name, value in given.items():
            if value.shape != np.shape(defaults[name]):
                raise InputError(
                    f"parameter {name!r}",
                    must=f"have shape {np.shape(defaults[name])}, as in the model",
                    but=f"has shape {value.shape}",
                )
        recipe = Recipe(
            {**self._recipe.given, "parameters": {**defaults, **given}}, self._recipe.calls
        )
        told = " and ".join(f"{name} = {_short(value)}" for name, value in given.items())
        try:
            parts = self._build(recipe)
        except ModelError:
            raise  # it has its place in a file
        except InputError as error:
            raise error.about(f"the mechanism with {told}") from None
        self._require_alike(parts, told)
        return parts

    @cached_property
    def _base(self) -> Parts:
        return self._build(self._recipe)

    def _require_alike(self, parts: Parts, told: str) -> None:
        """Refuse values that change which equations there are."""
        for one, other in zip(self._base.elements, parts.elements, strict=False):
            if one.law.key != other.law.key or one.name != other.name:
                raise InputError(
                    f"{one.law.what} {one.name!r} with {told}",
                    must="have the same equations as with the default values",
                    but="has others",
                    advice="Build another mechanism for such values.",
                )
        for name, (start, end) in self._base.slots.items():
            if parts.slots.get(name) != (start, end):
                raise InputError(
                    f"{name} with {told}",
                    must="have as many numbers as with the default values",
                    but="has not",
                    advice="Build another mechanism for such values.",
                )

    @property
    def derived(self) -> frozenset[str]:
        """Numbers of bodies and elements that follow from the parameters: ``pin.at_a``.

        Those that some values have been seen to change; others may, where no value has been near.
        """
        return self._near_defaults | self._seen

    @cached_property
    def _near_defaults(self) -> frozenset[str]:
        base = self._base.all_parameters
        found: set[str] = set()
        tried = 0
        for shift in SHIFTS:
            values = {
                n: _shifted(base[n], shift * (1.0 + (k + 1) * SPREAD % 1.0))
                for k, n in enumerate(self.names)
            }
            try:
                other = self.parts(values).all_parameters
            except InputError:
                continue
            found |= _differing(base, other)
            tried += 1
        if tried:
            return frozenset(found) - frozenset(self.names)
        return frozenset(base) - frozenset(self._recipe.given["parameters"]) - {"gravity"}

    def following(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Numbers that follow from the parameters, for values of these."""
        base, numbers = self._base.all_parameters, self.parts(values).all_parameters
        self._seen |= _differing(base, numbers) - frozenset(self.names)
        return {name: numbers[name] for name in self.derived}

    def expanded(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with the numbers that follow from those of geometry.

        Raises
        ------
        InputError : a number that follows from a parameter is given with another value.
        """
        base = self._base.all_parameters
        own = {name: given.get(name, base[name]) for name in self.names}
        numbers = self.following(own)
        result = dict(given)
        for name in sorted(numbers):
            number = numbers[name]
            result[name] = number if number.ndim else float(number)
        for name in sorted(numbers.keys() & given.keys()):
            value = np.asarray(given[name], dtype=float)
            if value.shape != numbers[name].shape or not np.array_equal(value, numbers[name]):
                sources = self.sources(name, own)
                raise InputError(
                    f"parameter {name!r}",
                    must=f"follow from {' and '.join(sources)}",
                    but=f"is given as {_short(value)} beside {_short(numbers[name])}",
                    advice=f"Change {' or '.join(sources)} instead, and omit it.",
                )
        return result

    def sources(self, name: str, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Parameters that a number follows from, near some values; all where that is not seen."""
        number = self.parts(values).all_parameters[name]
        found = []
        for source in self.names:
            for shift in SHIFTS:
                changed = {**values, source: _shifted(np.asarray(values[source]), shift)}
                try:
                    other = self.parts(changed).all_parameters[name]
                except InputError:
                    continue
                if not np.array_equal(other, number):
                    found.append(source)
                break
        return tuple(found) or self.names


def _differing(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> frozenset[str]:
    """Names of the numbers that differ."""
    return frozenset(n for n, x in one.items() if not np.array_equal(x, other[n]))


def _shifted(value: np.ndarray, share: float) -> np.ndarray:
    return np.where(value == 0.0, share, value * (1.0 + share))


def _short(value: Any) -> str:
    array = np.asarray(value)
    return f"{float(array):g}" if array.ndim == 0 else str(array.tolist())
