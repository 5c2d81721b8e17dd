"""What can be plotted of a run, by name: coordinates, joints, reactions, energies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.errors import UnknownNameError
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["Channel", "channel_names", "channel_of", "single"]

#: Quantities of a run as a whole.
ENERGIES = {
    "energy": "energy",
    "kinetic_energy": "kinetic_energy",
    "potential_energy": "potential_energy",
}
PARTS = ("x", "y", "z")


@dataclass(frozen=True)
class Channel:
    """A named quantity over time.

    Attributes
    ----------
    name, unit : for labels; the unit is empty where it is the user's.
    values : shape (nt, k).
    parts : names of the k columns; one empty name for a single quantity.
    """

    name: str
    unit: str
    values: FloatArray
    parts: tuple[str, ...] = ("",)

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def channel_names(run: Run) -> tuple[str, ...]:
    """All names that `channel_of` knows."""
    energies = [n for n in ENERGIES if n != "potential_energy" or run.potential_energy is not None]
    forces = [
        f"{joint}.{what}{part}"
        for joint in reacting_joints(run)
        for what in ("force", "moment")
        for part in ("", *(f".{p}" for p in PARTS))
    ]
    return (*run.names, *forces, *energies)


def reacting_joints(run: Run) -> tuple[str, ...]:
    """Joints whose reaction is a force at a point; none of a system of functions."""
    parts = getattr(run.system, "parts", None)
    if parts is None:
        return ()
    return tuple(j.name for j in parts.joints.values() if j.a is not None and j.b is not None)


def channel_of(run: Run, name: str) -> Channel:
    """A quantity of a run: one of `run.names`, ``"pin.force"``, ``"pin.moment.z"``, ``"energy"``.

    Raises
    ------
    UnknownNameError : there is none of that name; the message lists those there are.
    """
    if name in run.names:
        return Channel(name, _unit(run, name), run[name][:, None])
    if name in ENERGIES:
        values = getattr(run, ENERGIES[name])
        if values is not None:
            return Channel(name, "J" if run.mechanism is not None else "", values[:, None])
    owner, _, rest = name.partition(".")
    what, _, part = rest.partition(".")
    if owner in reacting_joints(run) and what in ("force", "moment") and part in ("", *PARTS):
        reaction = run.reaction(owner)
        values, unit = (reaction.force, "N") if what == "force" else (reaction.moment, "N m")
        if part:
            return Channel(name, unit, values[:, [PARTS.index(part)]])
        size = np.linalg.norm(values, axis=1, keepdims=True)
        return Channel(name, unit, np.concatenate([values, size], axis=1), (*PARTS, "size"))
    raise UnknownNameError("channel", name, channel_names(run))


def single(run: Run, name: str) -> Channel:
    """A quantity as one number at a time: of a vector its size."""
    found = channel_of(run, name)
    if found.values.shape[1] == 1:
        return found
    return Channel(f"|{name}|", found.unit, found.values[:, -1:])


def _unit(run: Run, name: str) -> str:
    """Units of what a mechanism consists of; those of functions are the user's."""
    parts = getattr(run.system, "parts", None)
    if parts is None:
        return ""
    if name in run.system.channels:
        base = "rad" if "angle" in name.partition(".")[2] else "m"
        return f"{base}/s" if name.endswith("_rate") else base
    end = name.rpartition(".")[2]
    if end in PARTS:
        return "m"
    if end in ("vx", "vy", "vz"):
        return "m/s"
    return "rad/s" if end.startswith("omega") else ""
