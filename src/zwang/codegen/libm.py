"""Addresses of the C library's mathematical functions, for machine code.

Compiled kernels and CasADi's machine then call the same functions, and kernels do not depend on
how a platform's loader resolves names.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

__all__ = ["FUNCTIONS", "addresses", "stack_probes"]

FUNCTIONS = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "expm1", "log", "log1p", "pow", "hypot", "erf", "fmod", "remainder"),
    *("malloc", "free"),
)
_CANDIDATES: dict[str, tuple[str | None, ...]] = {
    "win32": ("ucrtbase", "msvcrt"),
    "darwin": (None, "libSystem.dylib"),
}


@cache
def addresses() -> dict[str, int]:
    """Name and address of every function in `FUNCTIONS`.

    Raises
    ------
    OSError
        Some function is nowhere to be found.
    """
    for candidate in _CANDIDATES.get(sys.platform, (None, "libm.so.6", "libm.so")):
        try:
            library = ctypes.CDLL(candidate)
            return {name: _address(library, name) for name in FUNCTIONS}
        except (OSError, AttributeError):
            continue
    raise OSError("the C library's mathematical functions were not found")


def stack_probes(platform: str = sys.platform) -> dict[str, int]:
    """Name and address of what LLVM calls where a stack frame is longer than a page.

    On Windows memory of the stack exists page by page, each made when the one before is touched;
    frames of large kernels, with their spilled registers, would step over it.
    """
    if platform != "win32":
        return {}
    return {"__chkstk": _address(ctypes.CDLL("ntdll"), "__chkstk")}


def _address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    if address is None:
        raise AttributeError(name)
    return address
