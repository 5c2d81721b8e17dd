"""Tests where nothing is compiled: those of the compiler are skipped, others leave its note out."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

#: Whether LLVM compiles kernels and loops, as is asked for when the tests begin.
COMPILES = os.environ.get("ZWANG_LLVM", "").strip().lower() in {"", "on"}

#: For a test of compiled code itself: how it is made, kept, shared and stopped, or how fast it is.
#: Results are right without it, so no test of results has this mark.
needs_compiler = pytest.mark.skipif(
    not COMPILES, reason=f"asks for compiled code, and ZWANG_LLVM is {os.environ.get('ZWANG_LLVM')}"
)


def without_llvm(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes of a run but the one that not all is compiled."""
    return tuple(note for note in notes if not note.startswith("ZWANG_LLVM="))
