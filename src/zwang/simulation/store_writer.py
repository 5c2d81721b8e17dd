"""Simulation in a store: what its header says of a simulation that has begun."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from zwang.results.force_record import ForceLayout
from zwang.results.model_digest import describe_events
from zwang.results.records import header_of
from zwang.results.store import Store
from zwang.results.writer import RunWriter

if TYPE_CHECKING:
    from zwang.integrators.settings import Settings
    from zwang.simulation.origin import Origin

__all__ = ["store_writer"]


def store_writer(
    origin: Origin,
    settings: Settings,
    path: str | PathLike[str],
    every: float,
    companions: Mapping[str, bytes] | None,
    *,
    forces: bool,
) -> RunWriter:
    """A new store for a simulation, and what writes to it, forces too if they are asked for.

    Parameters
    ----------
    settings : with coordinates that are not doubted.
    every : seconds between commits.
    companions : files that go along with it, name → content.
    """
    system, t = origin.system, origin.t
    q, v = np.split(origin.y, [len(system.coordinates)])
    start = {"t": t, "q": q, "v": v, "inactive": sorted(origin.inactive)}
    described = describe_events(system, origin.events)
    layout = ForceLayout.of_system(system) if forces else None
    given = origin.parameters
    header = header_of(system, settings, origin.scales, start, given, described, layout)
    if origin.controllers:
        header["controllers"] = {k: c.describe() for k, c in origin.controllers.items()}
    return RunWriter(Store.create(path, header, origin.times, companions), every, layout)
