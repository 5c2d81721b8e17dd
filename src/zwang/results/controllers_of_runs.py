"""Controllers that made a run, and the parameters that they set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.results.channels import changed_parameters
from zwang.results.records import StoredRun
from zwang.results.run import Run

__all__ = ["controllers_of", "sampled_of", "set_by_controllers"]


def controllers_of(run: Run) -> dict[str, dict[str, Any]]:
    """Name → `period`, `offset` [s] and names of the `state` of each controller of a run."""
    if isinstance(run, StoredRun):
        return dict(run.stored.header.get("controllers", {}))
    origin = _origin(run)
    return {} if origin is None else {k: c.describe() for k, c in origin.controllers.items()}


def set_by_controllers(run: Run, controllers: Mapping[str, Any]) -> set[str]:
    """Parameters that controllers set: those that change, and those that began as others.

    A stored run knows which; of others these are the parameters that events set, too.
    """
    if not controllers:
        return set()
    if isinstance(run, StoredRun):
        return set(run.stored.commits[-1].get("controllers", {}).get("sets", ()))
    origin, own = _origin(run), run.parameters
    given = {} if origin is None else origin.parameters
    other = {n for n, x in given.items() if not np.array_equal(x, own[n])}
    return {*changed_parameters(run), *other}


def sampled_of(run: Run) -> tuple[Mapping[str, Any], dict[str, dict[str, Any]], list[str]]:
    """What a store keeps: parameters as given, controllers, and the parameters that they set."""
    controllers = controllers_of(run)
    sets = sorted(set_by_controllers(run, controllers))
    if isinstance(run, StoredRun):
        given = {name: np.array(x) for name, x in run.stored.header["parameters"].items()}
    else:
        given = getattr(_origin(run), "parameters", run.parameters)
    first = {name: given[name] for name in sets if name in given}
    return {**run.parameters, **first}, controllers, sets


def _origin(run: Run) -> Any:
    """What a simulation was begun from, if the run has it."""
    arguments = getattr(run.again, "args", ())
    origin = arguments[0] if arguments else None
    return origin if hasattr(origin, "controllers") else None
