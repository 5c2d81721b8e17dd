"""Keyword arguments: a call with an unknown or renamed argument is refused with a sentence.

Public calls write out all that they take, so that ``help`` and editors show it; Python's own
`TypeError` for a slip of the pen gives way to an error that lists the names, and gives the new one
where a name has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from types import FunctionType
from typing import Any, NoReturn, ParamSpec, TypeVar

from zwang.errors import InputError, UnknownNameError

__all__ = [
    "ArgumentNames",
    "known_keywords",
    "known_keywords_of_methods",
    "no_longer",
    "require_keywords",
]

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

#: Flag of functions with ``**values``: `inspect.CO_VARKEYWORDS`, without loading `inspect`.
ANY_KEYWORDS = 0x08
#: Flag of functions with ``*values``: `inspect.CO_VARARGS`.
ANY_PLACES = 0x04
#: What a call is about, by the arguments it was given: "screw joint 'nut'".
Subject = Callable[[tuple[Any, ...], Mapping[str, Any]], str]


class ArgumentNames:
    """Names of a function's arguments.

    Attributes
    ----------
    function : what it is called.
    all : all of them but ``self``, those that are given by name alone first.
    known : the same and ``self``, to be looked up.
    needed : those that are given by name and have no default.
    """

    def __init__(self, function: Callable[..., Any], called: str = "") -> None:
        code: Any = function.__code__
        by_place = code.co_varnames[: code.co_argcount]
        by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        self.function = called or function.__name__
        self.all = (*by_name, *(name for name in by_place if name not in ("self", "cls")))
        self.known = frozenset((*by_name, *by_place))
        self.needed = frozenset(by_name) - frozenset(function.__kwdefaults__ or ())
        self._by_place, self._by_name = by_place, by_name
        self._defaults = len(function.__defaults__ or ())
        self._any_places = bool(code.co_flags & ANY_PLACES)

    def require_places(
        self, given: tuple[Any, ...], named: Mapping[str, Any], what: str = ""
    ) -> None:
        """Refuse more values than there are places for, or fewer than have no default."""
        own = 1 if self._by_place[:1] in (("self",), ("cls",)) else 0
        places, count = self._by_place[own:], len(given) - own
        if count > len(places) and not self._any_places:
            most = f"{len(places)} value{'s' * (len(places) != 1)}"
            listed = f" without a name: {', '.join(places)}" if places else " without a name"
            raise InputError(
                what or self.function,
                must=f"be given at most {most}{listed}",
                but=f"is given {count}",
                advice=f"Give others by name: {', '.join(self._by_name)}."
                if self._by_name
                else None,
            ) from None
        needed = places[count : len(places) - self._defaults] if count >= 0 else ()
        missing = [name for name in needed if name not in named]
        if missing:
            raise InputError(
                what or self.function,
                must=f"be given {' and '.join(missing)}",
                advice=f"Its values in order: {', '.join(places)}." if len(places) > 1 else None,
            ) from None


def known_keywords(
    *,
    about: Subject | None = None,
    renamed: Mapping[str, str] | None = None,
    refused: Mapping[str, str] | None = None,
    called: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function refuse arguments that it does not know in a sentence.

    Parameters
    ----------
    called : what the function is called, where its own name is not that.
    about : what a call is about, where the function's name does not show it.
    renamed : old name → new name.
    refused : name that one might expect → what to do in its place.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        names = ArgumentNames(function, called)

        @wraps(function)
        def calling(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError:  # looked at only then: calls in loops pay nothing for it
                what = about(args, kwargs) if about else ""
                require_keywords(names, kwargs, what, renamed, refused)
                names.require_places(args, kwargs, what)
                raise

        return calling

    return decorate


def known_keywords_of_methods(owner: type[C]) -> type[C]:
    """Let all public methods that a class defines, and its constructor, refuse such arguments."""
    for name, found in list(vars(owner).items()):
        if name.startswith("_") and (name != "__init__" or is_dataclass(owner)):
            continue
        kind = type(found) if isinstance(found, classmethod | staticmethod) else None
        function: Any = found if kind is None else found.__func__
        if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
            continue
        if function.__code__.co_flags & ANY_KEYWORDS:  # nothing is unknown to it
            continue
        # Builders are what the class of their name consists of.
        called = owner.__name__.removesuffix("Builder") if name == "__init__" else name
        checked = known_keywords(called=called)(function)
        setattr(owner, name, checked if kind is None else kind(checked))
    return owner


def require_keywords(
    names: ArgumentNames,
    given: Iterable[str],
    what: str = "",
    renamed: Mapping[str, str] | None = None,
    refused: Mapping[str, str] | None = None,
) -> None:
    """Refuse what is not among the names of a function's arguments, or is missing there.

    Any error that is being handled is Python's own about the same, and not shown.
    """
    argument = f"argument of {what}" if what else f"argument of {names.function}"
    for name in given:
        if name in names.known:
            continue
        if renamed and name in renamed:
            raise InputError(
                argument,
                expected=f"{renamed[name]!r}",
                found=f"{name!r}, its former name",
                advice=f"Write {renamed[name]}= instead.",
            ) from None
        if refused and name in refused:
            advice = refused[name]
            raise InputError(argument, but=f"{name!r} is not accepted", advice=advice) from None
        raise UnknownNameError(argument, name, names.all) from None
    for name in names.all:
        if name in names.needed and name not in given:
            number = ", a number" if what else ""
            raise InputError(what or names.function, must=f"be given {name}={number}") from None


def no_longer(owner: str, name: str, renamed: Mapping[str, str]) -> NoReturn:
    """Refuse an attribute that does not exist; for ``__getattr__`` of what has changed names."""
    if name in renamed:
        message = f"{owner} has no {name!r}: it is called {renamed[name]!r} now"
    else:
        message = f"{owner} has no attribute {name!r}"
    raise AttributeError(message)
