"""What drives joint coordinates: effort, speed and power of drivers and actuators, to be shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["EffortSeries", "effort_series", "effort_words"]


class EffortSeries(NamedTuple):
    """Torque or force, speed and power of one driver or actuator over a run.

    Attributes
    ----------
    name : of the driver or actuator.
    along : the joint coordinate.
    quantity, unit : such as "torque" and "N m".
    values : shape (nt,).
    channel : the name by which a run has them.
    """

    name: str
    along: str
    quantity: str
    unit: str
    values: FloatArray
    channel: str


def effort_words(run: Run) -> str:
    """What there is of both, as words of a heading; empty if there is neither."""
    parts = run.mechanism
    if parts is None:
        return ""
    driven = any(j.drives for j in parts.joints.values())
    return " and ".join(["drivers"] * driven + ["actuators"] * bool(parts.actuated))


def effort_series(run: Run) -> Iterator[EffortSeries]:
    """Three series of each driver, then of each actuator; a `ZwangError` where there are none."""
    parts = run.mechanism
    if parts is None:
        return
    driven = {j.name: j.drives for j in parts.joints.values() if j.drives}
    for name, along in (driven | dict(parts.actuated)).items():
        angle = "angle" in along.partition(".")[2]
        channel, unit, speed_unit = ("torque", "N m", "rad/s") if angle else ("effort", "N", "m/s")
        effort, speed = run[f"{name}.{channel}"], run[f"{along}_rate"]
        yield EffortSeries(
            name, along, "torque" if angle else "force", unit, effort, f"{name}.{channel}"
        )
        yield EffortSeries(name, along, "speed", speed_unit, speed, f"{along}_rate")
        yield EffortSeries(name, along, "power", "W", effort * speed, f"{name}.power")
