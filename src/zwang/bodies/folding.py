"""Numbers of a mechanism that are structure rather than values: zeros, and the ones of axes.

Parameters are inputs of kernels, never part of them. But a hinge along y of two bodies is more than
nine numbers each: that six of them vanish decides which products there are at all. So the entries
of markers, tensors and gravity that are zero, and those of axes that are one, are made part of the
expressions, and which ones these are is part of what a program is known by. A sweep over lengths or
masses compiles nothing; turning an axis away from y does, once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from zwang.bodies.parts import Parts
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["NEGLIGIBLE", "Pattern", "constants", "folded", "pattern_of"]

#: Entries of axes and, relative to the largest of their kind, of points and tensors below this are
#: zero: what a rotation by π/2 leaves in place of it is smaller.
NEGLIGIBLE = 1e-14

#: Which entries of p are constants, and their values 0, 1 or −1.
Pattern = tuple[tuple[int, float], ...]


def pattern_of(parts: Parts, p: FloatArray) -> Pattern:
    """The entries of a mechanism's parameters that are structure."""
    found: list[tuple[int, float]] = []
    for name, (start, end) in parts.slots.items():
        ending = name.rpartition(".")[2]
        values = p[start:end]
        if ending in ("axes_a", "axes_b"):
            found += [(start + k, c) for k, c in constants(values, ones=True)]
        elif ending in ("at_a", "at_b", "inertia") or name == "gravity":
            found += [(start + k, c) for k, c in constants(values, ones=False)]
    return tuple(found)


def constants(values: FloatArray, *, ones: bool) -> Iterable[tuple[int, float]]:
    """Entries that vanish, and where `ones` count those that are one or minus one."""
    size = 1.0 if ones else float(np.abs(values).max(initial=0.0))
    for k, value in enumerate(values.tolist()):
        if abs(value) <= NEGLIGIBLE * size:
            yield k, 0.0
        elif ones and abs(abs(value) - 1.0) <= NEGLIGIBLE:
            yield k, float(np.sign(value))


def folded(x: casadi.SX, entries: Iterable[tuple[int, float]]) -> casadi.SX:
    """A column with some entries replaced by constants."""
    import casadi as ca

    result = ca.densify(x)
    for k, value in entries:
        result[k] = value
    return result
