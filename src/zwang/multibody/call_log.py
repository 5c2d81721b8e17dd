"""A mechanism's description as it was given: the calls that built it, in order.

Whoever repeats the calls builds the same mechanism; model files are written from them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from zwang.arguments.keywords import ArgumentNames, require_keywords
from zwang.multibody.parameter_expression import settled

__all__ = ["BuilderCall", "described"]


@dataclass(frozen=True)
class BuilderCall:
    """A call of a builder's method.

    Attributes
    ----------
    method : its name.
    arguments : what was given, by name; defaults are omitted.
    """

    method: str
    arguments: Mapping[str, Any]


class Describing(Protocol):
    """A builder that keeps a list of its calls."""

    description: list[BuilderCall]

    def with_numbers(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments with numbers in place of expressions of parameters."""
        ...


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Describing)


#: In place of a default, for arguments that have none.
_NONE = object()


def described(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method of a builder note its successful calls in ``self.description``.

    What it calls in its turn is part of it, and not noted.
    """
    known = inspect.getfullargspec(method)
    names, defaults = (*known.args[1:], *known.kwonlyargs), dict(known.kwonlydefaults or {})
    defaults |= dict(zip(reversed(known.args), reversed(known.defaults or ()), strict=False))
    assert known.varargs is None
    assert known.varkw is None
    accepted = ArgumentNames(method)

    @wraps(method)
    def noting(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        if not accepted.known.issuperset(kwargs):
            require_keywords(accepted, kwargs)
        before = len(self.description)
        # As ``inspect.Signature.bind`` has it, in a tenth of the time.
        given = dict(zip(names, args, strict=False)) | kwargs
        numbers = self.with_numbers(given) if len(args) <= len(names) else given
        try:
            if numbers is given:
                result = method(self, *args, **kwargs)
            else:
                result = cast("Callable[..., R]", method)(self, **numbers)
        except TypeError:
            accepted.require_places((self, *args), kwargs)
            raise
        del self.description[before:]
        arguments = {
            name: settled(given[name])
            for name in names
            if name in given and given[name] is not defaults.get(name, _NONE)
        }
        self.description.append(BuilderCall(method.__name__, arguments))
        return result

    noting.notes_calls = True  # type: ignore[attr-defined] - a mark on a function
    return noting
