"""Verification after a simulation: whether controllers give the values that were stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import ZwangError
from zwang.results.verify import Verdict, Verification
from zwang.simulation.controllers import Controller, Sampling

if TYPE_CHECKING:
    from zwang.results.records import StoredRun
    from zwang.system import System

__all__ = ["with_controllers"]


def with_controllers(
    found: Verification, run: StoredRun, system: System, controllers: Mapping[str, Controller]
) -> Verification:
    """A verification with what the controllers of a run say."""
    known = run.stored.header.get("controllers", {})
    if not controllers:
        if not known:
            return found
        note = (
            f"controllers ({', '.join(known)}) were not given: the motion was checked with the "
            "values that are stored, but not that the laws give these values; "
            "verify(…, controllers={…}) does"
        )
        return replace(found, notes=(*found.notes, note))
    count, wrong = _replayed(run, system, controllers)
    checked = {**found.checked, "samples": count}
    if not wrong:
        return replace(found, checked=checked)
    verdict = Verdict.MISMATCH if found.ok else found.verdict
    return replace(found, verdict=verdict, findings=(*found.findings, wrong), checked=checked)


def _replayed(
    run: StoredRun, system: System, controllers: Mapping[str, Controller]
) -> tuple[int, str]:
    """How many sampling times were repeated, and what differs first."""
    header = run.stored.header
    start = header["start"]
    begun = np.array([float(s.began.t) for s in run.segments if s.began is not None])
    sampling = Sampling(system, controllers, float(start["t"]), np.unique(begun))
    held: Mapping[str, Any] = {k: np.array(v) for k, v in header["parameters"].items()}
    count = 0
    for k, segment in enumerate(run.segments):
        if k == 0:
            t, y = float(start["t"]), np.array([*start["q"], *start["v"]], dtype=float)
        elif segment.began is None:
            continue
        else:
            t, y = float(segment.began.t), np.asarray(segment.began.found)
        if sampling.next > t:  # an event between samples
            held = segment.parameters
            continue
        if sampling.next < t:
            return count, f"a sample at t = {sampling.next:.6g} s is missing"
        try:
            expected = sampling.act(t, y, held)
        except ZwangError as error:
            return count, f"a controller fails at t = {t:.6g} s: {error}"
        count += 1
        for name, value in segment.parameters.items():
            if not np.array_equal(np.asarray(value, float), np.asarray(expected[name], float)):
                return count, (
                    f"at t = {t:.6g} s {name!r} is stored as {_shown(value)}, and the laws of the "
                    f"controllers give {_shown(expected[name])}"
                )
        held = segment.parameters
    return count, ""


def _shown(value: Any) -> str:
    return f"{float(value):.9g}" if np.size(value) == 1 else str(np.asarray(value))
