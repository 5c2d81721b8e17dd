"""Values by name, such as efforts by actuator: an unknown name is refused by a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, TypeVar

from zwang.errors import UnknownNameError

__all__ = ["ByName"]

V = TypeVar("V")


class ByName(dict[str, V]):
    """A dictionary that says which names there are where one is asked for that is not among them.

    Parameters
    ----------
    what : kind of the names, for the message.
    pairs : of names and values.
    """

    def __init__(self, what: str, pairs: Iterable[tuple[str, V]]) -> None:
        super().__init__(pairs)
        self.what = what

    def __missing__(self, name: object) -> NoReturn:
        raise UnknownNameError(self.what, str(name), self)

    def __reduce__(self) -> tuple[type[ByName[V]], tuple[str, list[tuple[str, V]]]]:
        return ByName, (self.what, list(self.items()))
