"""Simulation notes: angles that pass half a turn where the law of an actuator jumps.

``run["axle.angle"]`` goes on over full turns, a law sees angles in (−π, π]. A wheel that is to turn
by 10 rad under a torque in proportion to what is missing would turn forever; its run says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.multibody.forces.angle_laws import AngleLaw
    from zwang.system import System

__all__ = ["HalfTurns"]

FULL_TURN = 2.0 * np.pi


class HalfTurns:
    """What a run says of its angles, from its saved states as they come.

    Parameters
    ----------
    system : of a mechanism, or another.
    """

    def __init__(self, system: System) -> None:
        parts = getattr(system, "mechanism", None)
        laws = {} if parts is None else parts.effort_laws
        self._system: Any = system
        self._open: list[tuple[AngleLaw, str]] = [(x, a) for x in laws.values() for a in x.angles]
        self._last: tuple[FloatArray, FloatArray] | None = None

    def notes(self, t: FloatArray, y: FloatArray, parameters: Mapping[str, Any]) -> list[str]:
        """Sentences on states (rows, n) that follow those before; each law and angle once."""
        if not self._open or not len(t):
            return []
        if self._last is not None:
            t, y = np.append(self._last[0], t), np.concatenate([self._last[1], y])
        self._last = t[-1:], y[-1:]
        found = {}
        for law, angle in self._open:
            row = self._passed(angle, t, y, parameters)
            if row is not None and self._jumps(law, angle, float(t[row]), y[row], parameters):
                found[law, angle] = (
                    f"{angle} passes half a turn after t = {t[row]:.6g} s, where the effort of "
                    f"actuator {law.actuator} jumps: laws read angles within half a turn, "
                    f"run[{angle!r}] goes on. Use np.sin and np.cos of the angle, or a sampled "
                    "zw.controller, whose angles go on"
                )
        self._open = [x for x in self._open if x not in found]
        return list(found.values())

    def _passed(
        self, angle: str, t: FloatArray, y: FloatArray, parameters: Mapping[str, Any]
    ) -> int | None:
        """The last row before an angle passes ±π, by the mean of the rates at both rows."""
        nq = len(self._system.coordinates)
        value, rate = self._system.joint_states(
            angle, y[:, :nq], y[:, nq:], t, parameters=parameters
        )
        step = np.diff(value)
        guess = 0.5 * (rate[1:] + rate[:-1]) * np.diff(t)
        turned = step + FULL_TURN * np.round((guess - step) / FULL_TURN)
        passed = np.flatnonzero(np.abs(value[:-1] + turned) > np.pi)
        return int(passed[0]) if len(passed) else None

    def _jumps(
        self, law: AngleLaw, angle: str, t: float, y: FloatArray, parameters: Mapping[str, Any]
    ) -> bool:
        nq = len(self._system.coordinates)
        read = {
            name: float(
                self._system.joint_coordinate(name, y[:nq], y[nq:], t, parameters=parameters)
            )
            for name in law.reads
        }
        return law.jumps(angle, read, t, parameters)
