"""Loops as the plain Python they are written in, to the results of compiled ones.

Python's own numbers raise where machine numbers go on: 1.0 / 0.0, 1e200 ** 2. So a loop works on
NumPy's: in arguments, in the constants of its code, and in all that follows from them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from zwang.codegen.loops.kinds import alike

__all__ = ["in_python", "inside", "plain_function"]

_thread = threading.local()  # `inside`: a plain loop is running, this one is called by it


def plain_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with NumPy's numbers for the constants in its code."""
    assert isinstance(function, FunctionType)
    code = function.__code__.replace(co_consts=_machine_numbers(function.__code__.co_consts))
    names = function.__globals__
    if "float" in code.co_names:
        names = {**names, "float": np.float64}
    return FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)


def inside() -> bool:
    """Whether a plain loop is running in this thread: what it calls is plain too."""
    return getattr(_thread, "inside", False)


def in_python(plain: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a `plain_function` gives; numbers go back as Python has them."""
    assert not inside()
    _thread.inside = True
    try:
        with np.errstate(all="ignore"):
            result = plain(*_machine_numbers(arguments))
    finally:
        _thread.inside = False
    return result.item() if isinstance(result, np.generic) else result


def _machine_numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return alike(value, map(_machine_numbers, value))
    return np.float64(value) if type(value) is float else value
