"""Effort, speed and power of drivers of joint coordinates along a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.linalg.products import dot
from zwang.results.mechanism_run import channel, joint_rates
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.multibody.marker import Joint
    from zwang.results.run import Run

__all__ = ["driver_effort", "driver_power", "driver_speed", "effort_along"]


def driver_effort(run: Run, driver: Joint) -> FloatArray:
    """Torque or force of a driver along the coordinate it drives, (nt,).

    The generalized force of the driver is Q = Jᵀe with the rate J v + r₀ of its coordinate, so that
    J Q = |J|² e and |Q|² = |J|² e²; hence e = |Q|² / (J Q). The sign is that of the coordinate,
    whatever the sign of the driver's own equation.
    """
    return effort_along(run, f"{driver.drives}_rate", run.constraint_force(driver.name))


def effort_along(run: Run, rate: str, Q: FloatArray) -> FloatArray:
    """e of a generalized force Q = Jᵀe (nt, nv) along a joint coordinate with this rate, (nt,).

    Where the force has no value the effort is not a number.
    """
    finite = np.asarray(np.isfinite(Q).all(axis=1))
    if not finite.all():
        effort = effort_along(run, rate, np.where(finite[:, None], Q, 0.0))
        return np.where(finite, effort, np.nan)
    largest = np.abs(Q).max(axis=1, initial=0.0)
    acting = largest > 0.0
    unit = np.divide(Q, largest[:, None], out=np.zeros_like(Q), where=acting[:, None])
    along = joint_rates(run, rate, unit) - joint_rates(run, rate, np.zeros_like(Q))
    return np.divide(largest * dot(unit, unit), along, out=np.zeros(len(run)), where=acting)


def driver_speed(run: Run, driver: Joint) -> FloatArray:
    """Rate of the coordinate that a driver drives, (nt,)."""
    return channel(run, f"{driver.drives}_rate")


def driver_power(run: Run, driver: Joint) -> FloatArray:
    """What a driver feeds into the mechanism, (nt,)."""
    return driver_effort(run, driver) * driver_speed(run, driver)
