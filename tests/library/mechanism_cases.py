"""What is known beforehand about the mechanisms of the library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from zwang import library

__all__ = ["CASES", "Case", "every"]


@dataclass(frozen=True)
class Case:
    """A mechanism of the library, and numbers counted by hand.

    Attributes
    ----------
    name, options : how it is built.
    rows, velocities, freedoms : numbers of equations, of velocities, and of ways to move.
    until : over which it is simulated [s].
    lossless : options under which nothing takes energy away, or None.
    quick : whether it is small enough to run with every change.
    """

    name: str
    rows: int
    velocities: int
    freedoms: int
    options: dict[str, Any] = field(default_factory=dict)
    until: float = 0.5
    lossless: dict[str, Any] | None = field(default_factory=dict)
    quick: bool = False

    @property
    def redundancy(self) -> int:
        """Rows that say nothing new."""
        return self.rows - (self.velocities - self.freedoms)

    def build(self, **options: Any) -> Any:
        """A fresh mechanism."""
        return getattr(library, self.name)(**{**self.options, **options})

    def __str__(self) -> str:
        return ",".join([self.name, *(f"{k}={v}" for k, v in self.options.items())])


SPACE = {"planar": False}

CASES = [
    Case("four_bar", 8, 9, 1, {"rate": 2.0}, quick=True),
    Case("four_bar", 20, 18, 1, {"rate": 2.0, **SPACE}),
    Case("four_bars", 8, 9, 1, {"n": 1}, quick=True),
    Case("four_bars", 20, 21, 1, {"n": 3}),
    Case("four_bars", 35, 30, 1, {"n": 2, **SPACE}),
    Case("parallelogram", 12, 12, 1, quick=True),
    Case("parallelogram", 30, 24, 1, SPACE),
    Case("slider_crank", 8, 9, 1, {"rate": 3.0}, quick=True),
    Case("slider_crank", 20, 18, 1, {"rate": 3.0, **SPACE}),
    Case("theo_jansen_leg", 20, 21, 1, {"rate": 3.0}),
    Case("theo_jansen_leg", 50, 42, 1, {"rate": 3.0, **SPACE}),
    Case("andrews", 20, 21, 1, until=0.01, lossless=None),
    Case("andrews", 50, 42, 1, SPACE, until=0.01, lossless=None),
    Case("bricard", 30, 30, 1),
    Case("door", 15, 6, 1, quick=True),
    Case("stewart_platform", 72, 78, 6, until=0.2),
    Case("double_wishbone", 22, 24, 2, {"speed": 60.0}, until=0.1, lossless={"damping": 0.0}),
    Case("universal_joint_shaft", 14, 12, 1),
    Case("spinning_top", 3, 6, 3, until=0.1, quick=True),
    Case("rolling_coin", 3, 6, 3, quick=True),
    Case("gyroscope", 15, 18, 3, until=0.1),
    Case("ball_governor", 20, 24, 4, until=0.02, lossless={"damping": 0.0}),
    Case("satellite", 15, 24, 9),
    Case("chain", 10, 15, 5, {"n": 5}),
    Case("chain", 15, 30, 15, {"n": 5, **SPACE}),
    Case("net", 48, 51, 3),
    Case("net", 30, 42, 12, {"n": 2, "m": 3, **SPACE}),
    Case("whipple_bicycle", 21, 24, 3, {"lean_rate": 0.5}),
]


def every(cases: list[Case], only: tuple[str, ...] = ()) -> list[Any]:
    """All as parameters of a test; the quick ones, or only those named, run with every change."""
    return [
        pytest.param(
            c,
            id=str(c),
            marks=() if c.quick and (not only or c.name in only) else pytest.mark.campaign,
        )
        for c in cases
    ]
