"""Channels of a run as series to be drawn: columns with labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.results.channel_catalog import PARTS
from zwang.results.determined import PASSPORT_ROWS, determined
from zwang.results.parameter_entries import entry_of_parameter
from zwang.results.records import AbsentSystem
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["PASSPORT_ROWS", "Series", "determined", "reacting_joints", "series_of", "single"]


@dataclass(frozen=True)
class Series:
    """A named quantity over time.

    Attributes
    ----------
    name, unit : for labels; the unit is empty where it is the user's.
    values : shape (nt, k).
    parts : names of the k columns; one empty name for a single quantity.
    known : of each column, whether the motion determines it; else it is one admissible value among
        many. Empty if it determines all.
    held : whether a value holds since the saved state before, as a parameter does that a controller
        sets, and the effort of an actuator that follows from such; then it is drawn in steps.
    """

    name: str
    unit: str
    values: FloatArray
    parts: tuple[str, ...] = ("",)
    known: tuple[bool, ...] = ()
    held: bool = False

    @property
    def determinate(self) -> bool:
        """Whether the motion determines all columns."""
        return all(self.known)

    def is_known(self, column: int) -> bool:
        """Whether the motion determines a column."""
        return not self.known or self.known[column]

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def reacting_joints(run: Run) -> tuple[str, ...]:
    """Joints whose reaction is a force at a point; none of a system of functions."""
    parts = run.mechanism
    if parts is None:
        return ()
    return tuple(j.name for j in parts.joints.values() if j.a is not None and j.b is not None)


def series_of(run: Run, name: str, *, degrees: bool = False) -> Series:
    """A channel to be drawn; a vector with its components and its magnitude.

    A parameter is drawn with the values that events and controllers gave it.

    Raises
    ------
    UnknownNameError : there is none of that name; the message lists those there are.
    """
    if entry_of_parameter(run.parameters, name) is not None and name not in run.channels:
        return Series(name, "", run[name][:, None], held=True)
    values, known = run[name], run.channels
    if name in run.parameters and (name not in known or known[name].parameter):
        places = [",".join(map(str, at)) for at in np.ndindex(values.shape[1:])]
        entries = tuple(f"[{place}]" if place else "" for place in places)
        return Series(name, "", values.reshape(len(values), -1), entries, held=True)
    channel = known[name] if name in known else known[name.rpartition(".")[0]]
    unit = channel.unit
    if degrees and unit.startswith("rad"):
        values, unit = np.rad2deg(values), "deg" + unit.removeprefix("rad")
    all_known = determined(run, name)
    if values.ndim == 1:
        return Series(name, unit, values[:, None], known=(all_known,), held=_is_held(run, name))
    magnitude = np.linalg.norm(values, axis=1, keepdims=True)
    columns = np.concatenate([values, magnitude], axis=1)
    if all_known:
        return Series(name, unit, columns, PARTS)
    components = (determined(run, f"{name}.{part}") for part in PARTS[:-1])
    return Series(name, unit, columns, PARTS, (*components, False))


def _is_held(run: Run, name: str) -> bool:
    """Whether it is the effort of an actuator that depends on parameters alone."""
    if isinstance(run.system, AbsentSystem):
        return False
    parts, (owner, _, quantity) = run.mechanism, name.rpartition(".")
    if parts is None or owner not in parts.actuated or quantity not in ("torque", "effort"):
        return False
    law = parts.effort_laws.get(owner)
    return law is None or law.is_held


def single(run: Run, name: str, *, degrees: bool = False) -> Series:
    """A channel as one number at a time: of a vector its magnitude."""
    found = series_of(run, name, degrees=degrees)
    if found.values.shape[1] == 1:
        return found
    return Series(f"|{name}|", found.unit, found.values[:, -1:], known=found.known[-1:])
