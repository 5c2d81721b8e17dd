"""Values by actuator, such as efforts and powers: an unknown name is refused by a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, TypeVar

from zwang.errors import UnknownNameError

__all__ = ["ValuesByActuator"]

V = TypeVar("V")


class ValuesByActuator(dict[str, V]):
    """A dictionary that says which actuators there are where another one is asked for.

    Parameters
    ----------
    pairs : of names and values.
    """

    def __init__(self, pairs: Iterable[tuple[str, V]]) -> None:
        super().__init__(pairs)

    def __missing__(self, name: object) -> NoReturn:
        raise UnknownNameError("actuator", str(name), self)

    def __reduce__(self) -> tuple[type[ValuesByActuator[V]], tuple[list[tuple[str, V]]]]:
        return ValuesByActuator, (list(self.items()),)
