"""Caching: what is computed once, remembered for a while, or passed on to equals.

`computed_once` has not the lock that `functools.cached_property` takes before 3.12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["PassedOn", "Remembered", "computed_once"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")


class Remembered(dict[K, T]):
    """Results by what they were computed from; emptied when so many are in it."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: T) -> None:
        if len(self) >= self.most:
            self.clear()
        super().__setitem__(key, value)


class PassedOn:
    """What equal equations of another mechanism may have too, as it depends on no run before.

    Kernels, and what is remembered by all that decided about it.
    """

    def for_another(self) -> Self:
        """What those equations get: this, or what of it depends on no run."""
        return self


class computed_once(Generic[T_co]):  # noqa: N801 - used as a decorator, like property
    """Decorator: the method runs on first access and its result replaces it on the instance.

    By the name of the method, or by another where it is given.
    """

    def __init__(self, method: Callable[[Any], T_co], name: str = "") -> None:
        self.method = method
        self.__doc__ = method.__doc__
        self.name = name or method.__name__
        self.__isabstractmethod__ = getattr(method, "__isabstractmethod__", False)

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[T_co]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T_co: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.method(instance)
        return value
