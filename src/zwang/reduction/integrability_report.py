"""The report on integrability of velocity constraints and quasi-velocities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from zwang.display import Displayed
from zwang.terms import FloatArray

__all__ = ["Combination", "Integrability", "QuasiVelocities", "RowVerdict"]

Kind = Literal["holonomic", "holonomic with others", "nonholonomic", "nonlinear"]


@dataclass(frozen=True)
class RowVerdict:
    """What is known of one velocity constraint row.

    Attributes
    ----------
    name : of the row.
    kind : ``"holonomic"`` by itself, ``"holonomic with others"``, ``"nonholonomic"``, or
        ``"nonlinear"`` in v, which the test does not cover.
    others : the constraints that make it holonomic; none can be omitted.
    """

    name: str
    kind: Kind
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Combination:
    """Velocity constraints of which a combination is holonomic while they are not.

    Attributes
    ----------
    names, coefficients : Σ coefficients · rows; the coefficients at one of the states.
    constant : whether they are the same everywhere.
    """

    names: tuple[str, ...]
    coefficients: FloatArray
    constant: bool

    def __str__(self) -> str:
        if not self.constant:
            return f"a combination of {' and '.join(self.names)}, with varying coefficients"
        terms = zip(self.coefficients, self.names, strict=True)
        text = " ".join(
            f"{'+' if c > 0 else '−'} {'' if abs(abs(c) - 1) < 1e-9 else f'{abs(c):.6g}·'}{name}"
            for c, name in terms
        )
        return text.removeprefix("+ ")


@dataclass(frozen=True, repr=False)
class Integrability(Displayed):
    """Report on the velocity constraints of a system; print it.

    Attributes
    ----------
    rows : row → verdict, for the velocity constraints.
    holonomic, nonholonomic : how many independent linear velocity constraints are of each kind,
        besides the position constraints.
    combinations : holonomic combinations of rows that are not holonomic themselves.
    growth : dimension of the motions allowed in coordinates and time, then with brackets of
        motions, brackets of brackets, … until it no longer grows.
    """

    rows: Mapping[str, RowVerdict]
    holonomic: int
    nonholonomic: int
    combinations: tuple[Combination, ...]
    growth: tuple[int, ...]

    def __str__(self) -> str:
        if not self.rows:
            return "There are no velocity constraints."
        head = "There are no linear velocity constraints."
        if self.growth:
            counts = f"{self.holonomic} can be integrated, {self.nonholonomic} cannot"
            head = f"Of the linear velocity constraints {counts}."
        lines = [head]
        for row in self.rows.values():
            said = {
                "holonomic": "a position constraint in disguise",
                "holonomic with others": (
                    f"a position constraint in disguise together with {', '.join(row.others)}"
                ),
                "nonholonomic": "nonholonomic",
                "nonlinear": "nonlinear in the velocities; the test does not apply",
            }[row.kind]
            lines.append(f"  {row.name}: {said}")
        lines += [f"  {combination} can be integrated" for combination in self.combinations]
        if self.growth:
            dimensions = " → ".join(str(d) for d in self.growth)
            lines.append(f"Directions of motion in coordinates and time: {dimensions}")
        return "\n".join(lines)


@dataclass(frozen=True)
class QuasiVelocities:
    """Which velocities are rates of a function of coordinates and time; print it.

    Attributes
    ----------
    true : names of the true generalized velocities.
    quasi : names of the others.
    """

    true: tuple[str, ...]
    quasi: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"True velocities: {', '.join(self.true) or 'none'}. "
            f"Quasi-velocities: {', '.join(self.quasi) or 'none'}."
        )
