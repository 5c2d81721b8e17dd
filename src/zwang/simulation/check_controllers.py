"""Verification after a simulation: whether controllers give the values that were stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.display import counted
from zwang.errors import ZwangError
from zwang.results.channel_catalog import unit_of_state
from zwang.results.verify import Verdict, Verification
from zwang.simulation.controllers import Controller, Sampling
from zwang.terms import EPSILON, FloatArray

if TYPE_CHECKING:
    from zwang.results.records import StoredRun
    from zwang.system import System

__all__ = ["Spread", "with_controllers"]

#: The state that a law saw was that of the coordinates that the run was made in, and is found again
#: within so many roundings of the largest entry of its kind.
ROUNDINGS = 16.0
#: Pairs of states at which laws are called to see what that does, and how many times what these few
#: make of it is taken for rounding.
PAIRS, FACTOR = 4, 8.0
#: Samples this near to the end, relative, need not be there.
LAST = 1e-9


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


class _Visit(NamedTuple):
    """A sampling time of a stored run.

    Attributes
    ----------
    t, y : when, and the state that the laws saw, but for rounding.
    held, stored : values of the parameters until then, and from then on.
    """

    t: float
    y: FloatArray
    held: Mapping[str, Any]
    stored: Mapping[str, Any]


def _visits(run: StoredRun) -> Iterator[_Visit]:
    """Beginnings of all segments: sampling times, and events between them."""
    header = run.stored.header
    start = header["start"]
    held: Mapping[str, Any] = {k: np.array(v) for k, v in header["parameters"].items()}
    for k, segment in enumerate(run.segments):
        if k == 0:
            t, y = float(start["t"]), np.array([*start["q"], *start["v"]], dtype=float)
        elif segment.began is None:
            continue
        else:
            t, y = float(segment.began.t), np.asarray(segment.began.found)
        yield _Visit(t, y, held, segment.parameters)
        held = segment.parameters


def _replayed(
    run: StoredRun, system: System, controllers: Mapping[str, Controller]
) -> tuple[int, str]:
    """How many sampling times were repeated, and what differs first beyond rounding."""
    visits = list(_visits(run))
    begun = np.unique([visit.t for visit in visits])

    def sampling() -> Sampling:
        return Sampling(system, controllers, visits[0].t, begun)

    nominal, samples, wrong = sampling(), [], ""
    given: list[Mapping[str, Any]] = []
    for visit in visits:
        if nominal.next > visit.t:  # an event between samples
            continue
        if nominal.next < visit.t:
            wrong = f"a sample at t = {nominal.next:.6g} s is missing"
            break
        try:
            given.append(nominal.act(visit.t, visit.y, visit.held))
        except ZwangError as error:
            wrong = f"a controller fails at t = {visit.t:.6g} s: {error}"
            break
        samples.append(visit)
    end = float(run.t[-1]) if len(run.t) else -np.inf
    if not wrong and nominal.next < end - LAST * abs(end):
        wrong = f"a sample at t = {nominal.next:.6g} s is missing"
    differing = [k for k, x in enumerate(samples) if _differ(x.stored, given[k])]
    if differing:
        last = differing[-1] + 1
        spread = Spread(system, sampling)
        try:
            found = _beyond_rounding(samples[:last], given, spread)
        except ZwangError as error:
            found = f"a controller fails at a state that differs by rounding: {error}"
        return len(samples), found or wrong
    return len(samples), wrong


def _beyond_rounding(
    samples: Sequence[_Visit], given: Sequence[Mapping[str, Any]], spread: Spread
) -> str:
    """What differs first from what the laws give, by more than rounding makes of it."""
    wrong, others = "", 0
    for visit, expected in zip(samples, given, strict=False):
        allowed, same = spread.at(visit, expected)
        here = ""
        for name, value in visit.stored.items():
            stored, own = np.asarray(value, float), np.asarray(expected[name], float)
            # So that a difference of NaN is one.
            if not np.all((stored == own) | (np.abs(stored - own) <= allowed[name])):
                here = here or (
                    f"at t = {visit.t:.6g} s {name!r} is stored as {_shown(value, own)}, and the "
                    f"laws of the controllers give {_shown(own, value)}"
                )
        if here and not same:
            here += "; called with the same sample once more they give something else: what they "
            here += "remember belongs into the state of zw.controller(…, state={…})"
        others += bool(wrong and here)
        wrong = wrong or here
    if others:
        wrong += f", and so at {counted(others, 'later sample')}"
    return wrong


class Spread:
    """What rounding of the states that laws see makes of what they give, and of their memories.

    Laws are called at states that differ by some roundings, from the start on, each time with the
    memory that they then have: sampled control integrates, switches, and counts. Differences come
    in pairs of opposite signs, so that a law that switches at a state does it in one of both.
    """

    def __init__(self, system: System, sampling: Callable[[], Sampling]) -> None:
        self._random = np.random.default_rng(0)
        self._plain = sampling()
        self._others = [sampling() for _ in range(2 * PAIRS)]
        names = (*system.coordinates, *system.velocities)
        self._velocities = np.arange(len(names)) >= len(system.coordinates)
        self._units = [unit_of_state(name) for name in names]

    def at(self, visit: _Visit, expected: Mapping[str, Any]) -> tuple[dict[str, FloatArray], bool]:
        """By how much values may differ, and whether the laws give the same twice."""
        same = not _differ(self._plain.act(visit.t, visit.y, visit.held), expected)
        signs = self._random.choice([-1.0, 1.0], (PAIRS, len(visit.y)))
        most = ROUNDINGS * EPSILON * self.sizes(visit.y)
        values = [
            other.act(visit.t, visit.y + sign * most, visit.held)
            for other, sign in zip(self._others, [*signs, *-signs], strict=True)
        ]
        allowed = {}
        for name in visit.stored:
            own = np.asarray(expected[name], float)
            off = [np.abs(np.asarray(x[name], float) - own) for x in values] if same else [0.0]
            allowed[name] = FACTOR * np.max(off, axis=0) + FACTOR * EPSILON * np.abs(own)
        return allowed, same

    def sizes(self, y: FloatArray) -> FloatArray:
        """Sizes of entries, that of the largest of a kind: rounding of one is that of another.

        Angles are those of directions, whose rounding is that of one.
        """
        sizes = np.abs(y)
        for unit in set(self._units):
            for velocities in (False, True):
                own = self._velocities == velocities
                own &= np.array([x == unit for x in self._units])
                if own.any():
                    sizes[own] = sizes[own].max()
                    if unit == "rad":
                        sizes[own] = np.maximum(sizes[own], 1.0)
        return sizes


def _differ(stored: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether values differ in any bit."""
    return any(
        not np.array_equal(np.asarray(x, float), np.asarray(given[name], float))
        for name, x in stored.items()
    )


def _shown(value: Any, other: Any) -> str:
    """A value with as many digits as tell it from another."""
    if np.size(value) != 1:
        return str(np.asarray(value))
    here, there = np.asarray(value, float).item(), np.asarray(other, float).item()
    short = f"{here:.9g}"
    return short if short != f"{there:.9g}" else f"{here:.17g}"
