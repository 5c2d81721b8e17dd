"""Constraints that users state as functions: a level, and the function to trace.

    position      φ(q, t, p) = 0                differentiated twice
    velocity      ψ(q, v, t, p) = 0             once; linear in v or not
    acceleration  A(q, v, t, p) v̇ = b(q, v, t, p)

A function may return one value or several. It names the arguments it uses among those of its
level, in any order: ``lambda q: …`` is as good as ``lambda q, t, p: …``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from zwang.arguments.keywords import known_keywords, no_longer
from zwang.errors import InputError, shown

__all__ = [
    "Constraint",
    "Level",
    "acceleration",
    "constraint",
    "named_constraint",
    "position",
    "velocity",
]

Level = Literal["position", "velocity", "acceleration", "detect"]


@dataclass(frozen=True)
class Constraint:
    """One named condition of a system, not yet traced.

    Attributes
    ----------
    level : what the functions state; ``"detect"`` leaves it to what they turn out to depend on.
    functions : φ or ψ alone, or A and b.
    stabilize : names of the parameters k₁, k₂ with which φ̈ + k₁ φ̇ + k₂ φ = 0, or ψ̇ + k₁ ψ = 0,
        takes the place of the constraint, or None.
    """

    level: Level
    functions: tuple[Callable[..., Any], ...]
    stabilize: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for function in self.functions:
            if not callable(function):
                raise InputError(
                    f"{self.level} constraint",
                    found=shown(function),
                    expected="a function, such as lambda q, t, p: q[0] - p.L",
                )

    def __getattr__(self, name: str) -> Any:
        no_longer("Constraint", name, {"stabilise": "stabilize"})


def named_constraint(kind: str, name: str, given: Any) -> Constraint:
    """A constraint as it was given, or of a bare function, whose level is then found."""
    if isinstance(given, Constraint):
        return given
    if not callable(given):
        raise InputError(
            f"{kind} {name!r}",
            found=shown(given),
            expected="a function, or zw.position, zw.velocity or zw.acceleration of one",
        )
    return Constraint("detect", (given,))


@known_keywords()
def position(f: Callable[..., Any]) -> Constraint:
    """A constraint on positions, φ(q, t, p) = 0.

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.position(lambda q, t, p: q[0] ** 2 + q[1] ** 2 - p.L**2)
    """
    return Constraint("position", (f,))


@known_keywords()
def velocity(f: Callable[..., Any]) -> Constraint:
    """A constraint on velocities, ψ(q, v, t, p) = 0, linear in v or not.

    Examples
    --------
    >>> import zwang as zw
    >>> knife_edge = zw.velocity(lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2]))
    """
    return Constraint("velocity", (f,))


@known_keywords()
def acceleration(A: Callable[..., Any], b: Callable[..., Any]) -> Constraint:
    """A constraint on accelerations, A(q, v, t, p) v̇ = b(q, v, t, p)."""
    return Constraint("acceleration", (A, b))


@known_keywords()
def constraint(f: Callable[..., Any]) -> Constraint:
    """A constraint f(q, v, t, p) = 0 whose level is found from what f depends on.

    Without v it is a position constraint, with v a velocity constraint. A function that also names
    ``a``, the accelerations v̇, and is linear in them is an acceleration constraint.
    """
    return Constraint("detect", (f,))
