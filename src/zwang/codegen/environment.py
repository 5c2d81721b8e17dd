"""Settings of the environment that say how code is compiled, and what to do where LLVM fails.

``ZWANG_LLVM`` says what LLVM compiles: ``on`` (everything), ``off`` (nothing: kernels run on
CasADi's machine and time loops as the plain Python they are written in), ``kernels`` or ``loops``
(these alone). ``ZWANG_LLVM_TARGET`` names the processor to compile for, see `zwang.codegen.llvm`.
``ZWANG_BACKGROUND=off`` compiles every kernel before it is first used; otherwise it is interpreted
at first and compiled in the background, see `zwang.codegen.background`.
They are read when a kernel is made or a loop is first called.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from zwang.errors import InputError

__all__ = [
    "BACKGROUND",
    "FAILURES",
    "LLVM",
    "TARGET",
    "in_background",
    "llvm_failed",
    "llvm_works",
    "noted",
    "settings",
    "target",
    "uses_llvm",
]

LLVM, TARGET, BACKGROUND = "ZWANG_LLVM", "ZWANG_LLVM_TARGET", "ZWANG_BACKGROUND"
#: What is raised where there is no llvmlite, where LLVM refuses, or where it knows no such machine.
FAILURES = (ImportError, OSError, RuntimeError, AttributeError)

_LOG = logging.getLogger("zwang.codegen")
_USES = {
    "on": frozenset({"kernels", "loops"}),
    "off": frozenset(),
    "kernels": frozenset({"kernels"}),
    "loops": frozenset({"loops"}),
}
_failures: list[str] = []  # the first one is told


def uses_llvm(part: str) -> bool:
    """Whether LLVM compiles a part, ``kernels`` or ``loops``."""
    chosen = os.environ.get(LLVM, "").strip().lower() or "on"
    if chosen not in _USES:
        raise InputError(
            f"environment variable {LLVM}",
            expected=f"one of {', '.join(_USES)}",
            found=repr(chosen),
        )
    return part in _USES[chosen]


def llvm_works(part: str) -> bool:
    """The same, as far as LLVM has not failed before."""
    return uses_llvm(part) and not _failures


def in_background() -> bool:
    """Whether kernels are compiled in the background."""
    chosen = os.environ.get(BACKGROUND, "").strip().lower() or "on"
    if chosen not in {"on", "off"}:
        raise InputError(
            f"environment variable {BACKGROUND}", expected="'on' or 'off'", found=repr(chosen)
        )
    return chosen == "on"


def target() -> str:
    """The processor that is asked for; ``native`` is the one at hand."""
    return os.environ.get(TARGET, "").strip().lower() or "native"


def settings() -> tuple[str | None, ...]:
    """All of them, as they are now."""
    return tuple(map(os.environ.get, (LLVM, TARGET, BACKGROUND)))


def llvm_failed(error: Exception) -> None:
    """Say, once a process, that something is not compiled because LLVM fails."""
    if not _failures:
        _failures.append(f"{type(error).__name__}: {error}")
        _LOG.warning(
            "LLVM fails on this platform (%s); kernels run on CasADi's machine and time loops as "
            "plain Python: same results, slower",
            _failures[0],
        )


def noted(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes of a run, and a last one where LLVM does not compile everything."""
    notes = tuple(notes)
    if not _failures and LLVM not in os.environ:
        return notes
    if _failures:
        note = f"LLVM failed ({_failures[0]}): not all is compiled, and slower"
    elif not (uses_llvm("kernels") and uses_llvm("loops")):
        note = f"{LLVM}={os.environ[LLVM].strip()}: not all is compiled, and slower"
    else:
        return notes
    return (*(other for other in notes if other != note), note)
