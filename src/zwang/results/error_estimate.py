"""Estimate of the global error of a run, by a second run with a tighter tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zwang.display import Displayed
from zwang.errors import InputError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["ErrorEstimate", "error_estimate"]

#: The second run of an estimate takes this part of the tolerance, so that its own error is small
#: beside that of the first.
TIGHTER = 0.01
#: Below this rounding takes over from the tolerance, and a tenth must do.
ROUNDING = 1e-12
#: Least tolerance of a simulation.
LEAST = 1e-14
#: An event may stop the second run earlier than the first by this part of its time.
EARLIER = 0.01


@dataclass(frozen=True, repr=False)
class ErrorEstimate(Displayed):
    """Estimated global error of a run at its saved states.

    Attributes
    ----------
    q, v : estimate minus saved state, shapes (nt, nq) and (nt, nv).
    t : saved times, shape (nt,).
    coordinates, velocities : names of the columns.
    stop : how much later an event stopped the second run than this one [s], which is the error of
        that time; infinite where it went on to its end, None for a run that no event stopped.
    """

    q: FloatArray
    v: FloatArray
    t: FloatArray = field(default_factory=lambda: np.zeros(0))
    coordinates: tuple[str, ...] = ()
    velocities: tuple[str, ...] = ()
    stop: float | None = None

    @property
    def worst(self) -> float:
        """Largest entry, in absolute value."""
        return float(max(np.abs(self.q).max(initial=0.0), np.abs(self.v).max(initial=0.0)))

    def __str__(self) -> str:
        """The largest errors of a coordinate and of a velocity, with their names and times."""
        told = []
        for errors, names in ((self.q, self.coordinates), (self.v, self.velocities)):
            if not errors.size:
                continue
            i, k = np.unravel_index(int(np.abs(errors).argmax()), errors.shape)
            name = names[k] if names else f"column {k}"
            at = f" at t = {self.t[i]:.6g} s" if len(self.t) else ""
            told.append(f"{abs(errors[i, k]):.2g} of {name}{at}")
        if not self.worst > 0.0:  # both runs took the same steps
            told = ["rounding"]
        worst = " and ".join(told)
        end = "" if self.stop is None else f"; of the time of its end, {abs(self.stop):.2g} s"
        return f"estimated error at {len(self.q)} saved states: at most {worst}{end}"


def error_estimate(run: Run) -> ErrorEstimate:
    """Difference to a second run at another tolerance."""
    if run.again is None:
        raise InputError(
            "error estimate",
            must="have a run that can be repeated, of simulate or zw.load(path, system)",
        )
    if run.settings.step > 0.0:
        raise InputError(
            "error estimate",
            must="have a run with error control",
            but="this run has a fixed step",
            advice="Compare with a run of half the step.",
        )
    # Two rows at one time are the two sides of an event, whose own time has an error: no place to
    # compare states at. They get the estimate of the row before. So does what comes after an event
    # that stops the second run a little earlier.
    times, first, count = np.unique(run.t, return_index=True, return_counts=True)
    plain = count == 1
    second, common = _second_run(run, run.again, times[plain])
    rows, there = first[plain][common], np.searchsorted(second.t, times[plain][common])
    at = np.clip(np.searchsorted(rows, np.arange(len(run.t)), side="right") - 1, 0, None)
    stop, other = _stop_of(run), _stop_of(second)
    later = None if stop is None else np.inf if other is None else other - stop
    q, v = second.q[there] - run.q[rows], second.v[there] - run.v[rows]
    return ErrorEstimate(
        q[at], v[at], run.t, tuple(run.system.coordinates), tuple(run.system.velocities), later
    )


def _second_run(
    run: Run, again: Callable[[float, FloatArray], Run], times: FloatArray
) -> tuple[Run, np.ndarray]:
    """The first of some other runs that goes as far as this one, and which times it has.

    It is made in the coordinates of the system, where rounding may take over sooner than in those
    of the first.
    """
    told = ""
    for tolerance in _other_tolerances(run.settings.tolerance):
        second = again(tolerance, times)
        common = np.isin(times, second.t)
        if common.all() or _stopped_a_little_earlier(run, second, common):
            return second, common
        told = told or f"the second run {second.status}"
    raise InputError(
        "error estimate", must="have a second run that goes as far as the first", but=told
    )


def _stopped_a_little_earlier(run: Run, second: Run, common: np.ndarray) -> bool:
    """Whether an event stops both runs, and the second by no more than the error of its time."""
    stop, other = _stop_of(run), _stop_of(second)
    if stop is None or other is None or not common.any():
        return False
    return 0.0 <= stop - other <= EARLIER * (stop - run.t[0])


def _stop_of(run: Run) -> float | None:
    """When an event stopped a run; None if none did."""
    stopped = run.finished and run.events and "by event" in run.status
    return run.events[-1].t if stopped else None


def _other_tolerances(tolerance: float) -> list[float]:
    """A hundredth, or a tenth near rounding; ten times as much where no less is possible.

    The difference is then the error of the second run, more than that of the first.
    """
    tighter = max(TIGHTER * tolerance, min(0.1 * tolerance, ROUNDING))
    return [x for x in dict.fromkeys([tighter, 0.1 * tolerance]) if x >= LEAST] + [10.0 * tolerance]
