"""Options of a simulation that users choose, checked: settings, times, scales and the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zwang.arguments.states import single_time
from zwang.equations.evaluations import OFF
from zwang.errors import InputError, UnknownNameError, shown
from zwang.integrators.settings import Coordinates, Drift, OnSingular, Settings
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System
    from zwang.tracing.open_laws import OpenLaws

__all__ = [
    "AT_A_SAMPLE",
    "AT_A_SWITCH",
    "JUMP_NOTE",
    "UNREMARKABLE",
    "as_number",
    "choices_of",
    "listed_states",
    "require_end",
    "require_flag",
    "require_law",
    "require_pause",
    "require_position",
    "require_single",
    "require_start",
    "require_time_of_start",
    "save_times",
    "start_time",
]

Choice = TypeVar("Choice", bound=StrEnum)

#: A start may miss its constraints by this much, relative; it is then put on them and the run says
#: so. What is further off is a mistake of the user's.
START_TOLERANCE = OFF

#: A start that misses its constraints by less is put on them without a note.
UNREMARKABLE = 1e-9

#: Times that may be saved; more would not fit into memory.
MOST_TIMES = 10**9
#: The end counts as a multiple of an interval that differs from one by this share of it.
AT_END = 1e-9

#: Choices that are numbers, and such as are names.
_NUMBERS = ("tolerance", "baumgarte", "step", "largest_step", "spectral_radius")
_NAMES = ("integrator", "drift", "formulation", "on_singular", "coordinates")

#: Words for saving every step. With these a run is dense: `Run.at` integrates less than a step.
EVERY_STEP = {"steps", "dense"}

#: What to do where a parameter, or a switch, moves a constraint away from the motion.
AT_AN_EVENT = "Place the event where the constraint is satisfied."
AT_A_SAMPLE = (
    "A controller sets forces and speeds; what positions follow must change continuously, as a "
    "function of time or of an extra coordinate."
)
AT_A_SWITCH = (
    "A driver may not jump: let its position change continuously in time, and its speed too where "
    "no impact is meant."
)

#: What collocation does where forces jump.
JUMP_NOTE = (
    "forces of this system jump, and a jump between the last node of a step of 'gauss' and the "
    "first of the next is not seen: velocities may be off by a fiftieth of a step times the jump "
    "of the acceleration; integrator='auto', 'order8' or 'radau5' keep the tolerance"
)

#: What the compiled loop does not look for.
LAW_NOTE = (
    "a non-ideal law depends on its reaction; that it has one solution is checked where the run "
    "and its stretches begin, and along the way one solution is followed"
)
#: What is not looked for at all where many joints have friction.
LAW_NOTE_OF_MANY = (
    "friction depends on the reactions of joints: of a mechanism this large one solution is "
    "followed, and others are not looked for"
)


def choices_of(
    system: System,
    *,
    until: float,
    start: float,
    save: Any = None,
    scales: Mapping[str, float] | None = None,
    drift: str = "projection",
    on_singular: str = "continue",
    coordinates: str = "auto",
    watches: bool = False,
    **choices: Any,
) -> tuple[Settings, FloatArray | None, FloatArray]:
    """Settings, times to save at and scales from what a user gave, checked.

    Where events are watched and states are saved at an interval, one that stops is saved as well.
    """
    end = as_number("until", until)
    for name in _NUMBERS:
        if name in choices:
            choices[name] = as_number(name, choices[name])
    named = {"drift": drift, "on_singular": on_singular, "coordinates": coordinates}
    try:
        settings = _settings(end, **named, **choices)
    except TypeError:  # what cannot be looked up among earlier choices is no name either
        _require_names({**named, **choices})
        raise
    if settings.formulation != "auto" and settings.formulation not in system.formulations:
        raise UnknownNameError("formulation", settings.formulation, ["auto", *system.formulations])
    if settings.integrator == "auto" and system.equations.jumps:
        settings = settings.by_states  # long steps between few nodes may not see a jump
    require_end(settings, start, until)
    if watches and _is_interval(save):
        settings = replace(settings, stop_saved=True)
    return settings, save_times(save, start, settings.until), _scales(system, scales)


def require_end(settings: Settings, start: float, until: Any) -> None:
    """Refuse an end, as it was given, that is infinite or before the start."""
    if not start <= settings.until < float("inf"):
        raise InputError(
            "until",
            expected=f"a finite time not before the initial time, {start:g}",
            found=repr(until),
        )


def _require_names(given: Mapping[str, Any]) -> None:
    for name in _NAMES:
        if not isinstance(given.get(name, ""), str):
            raise InputError(name, found=repr(given[name]), expected="a name")


@lru_cache
def _settings(
    until: float, drift: str, on_singular: str, coordinates: str, **choices: Any
) -> Settings:
    """Settings; equal choices are checked once."""
    _require_names(
        {"drift": drift, "on_singular": on_singular, "coordinates": coordinates, **choices}
    )
    return Settings(
        until=until,
        drift=_chosen("drift", drift, Drift),
        on_singular=_chosen("on_singular", on_singular, OnSingular),
        coordinates=_chosen("coordinates", coordinates, Coordinates),
        **choices,
    )


def as_number(name: str, value: Any) -> float:
    """A choice that is a number; NaN and infinity are for others to refuse."""
    if type(value) is float:
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(name, found=repr(value), expected="a number") from None


def require_pause(store_every: Any) -> None:
    """Refuse what is no time between commits."""
    if not as_number("store_every", store_every) >= 0.0:
        raise InputError(
            "store_every", expected="a number of seconds, zero or positive", found=repr(store_every)
        )


def require_flag(name: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(name, expected="True or False", found=shown(value))


def _chosen(what: str, name: str, known: type[Choice]) -> Choice:
    try:
        return known(name)
    except ValueError:
        raise UnknownNameError(what, name, [choice.value for choice in known]) from None


def _is_interval(save: Any) -> bool:
    """Whether states are to be saved so many seconds apart."""
    return save is not None and not isinstance(save, str) and np.ndim(save) == 0


def save_times(save: Any, start: float, until: float) -> FloatArray | None:
    """Times to save at: None for every step, a number of seconds between, or the times.

    The end is the last of times that are so many seconds apart, whether it is a multiple or not.
    """
    if save is None or (isinstance(save, str) and save in EVERY_STEP):
        return None
    if isinstance(save, str):
        raise InputError(
            "save",
            found=repr(save),
            expected="'steps', 'dense', an interval or times",
            advice="run.at(t) gives states at all times between those saved.",
        )
    try:
        times = np.asarray(save, dtype=float)
    except (TypeError, ValueError):
        raise InputError("save", found=shown(save), expected="an interval or times") from None
    if times.ndim == 0:
        if not 0.0 < times < np.inf:
            raise InputError("save", found=repr(save), expected="a positive interval in seconds")
        count = int(np.floor((until - start) / float(times) * (1.0 + 1e-12)))
        if count > MOST_TIMES:
            raise InputError(
                "save", must="ask for fewer than 1e9 times", but=f"asks for {count:.1e}"
            )
        apart = float(times)
        times = start + apart * np.arange(count + 1)
        if until - times[-1] > AT_END * apart:
            times = np.append(times, until)
    if times.ndim != 1 or not _increase(times):
        raise InputError("save", must="be increasing times")
    if times.size and (times.item(0) < start or times.item(-1) > until + 1e-12 * abs(until)):
        raise InputError(
            "save",
            expected=f"times from {start:g} to {until:g}",
            found=f"from {times[0]:g} to {times[-1]:g}",
        )
    return np.minimum(times, until)


def _increase(times: FloatArray) -> bool:
    """Whether times are finite and increase: then so are all between the first and the last."""
    if not times.size:
        return True
    ends = isfinite(times.item(0)) and isfinite(times.item(-1))
    return ends and np.count_nonzero(times[1:] > times[:-1]) == times.size - 1


def _scales(system: System, scales: Mapping[str, float] | None) -> FloatArray:
    result = np.empty(len(system.coordinates) + len(system.velocities))
    result.fill(1.0)
    if scales is None:
        return result
    if not isinstance(scales, Mapping):
        raise InputError(
            "scales", expected="a dictionary of names and magnitudes", found=shown(scales)
        )
    names = system.coordinates + system.velocities
    for name, value in scales.items():
        if name not in names:
            raise UnknownNameError("scale", name, names)
        size = as_number(f"scale of {name!r}", value)
        if not 0.0 < size < np.inf:
            raise InputError(f"scale of {name!r}", found=repr(value), expected="a positive number")
        result[names.index(name)] = size
    return result


def require_single(q: FloatArray, v: FloatArray) -> None:
    """Refuse many states in place of one."""
    if q.ndim != 1 or v.ndim != 1:
        raise InputError(
            "start",
            expected="one state",
            found=f"states of shapes {q.shape} and {v.shape}",
            advice="simulate_many takes several.",
        )


def require_start(system: System, y: FloatArray, t: float, p: FloatArray, notes: list[str]) -> None:
    """Refuse a start y = (q, v) that violates a constraint, by name."""
    if system.equations.largest_miss(y[None], np.array([t]), p) <= UNREMARKABLE:
        return  # as nearly all do
    q, v = y[: len(system.coordinates)], y[len(system.coordinates) :]
    residuals = system.equations.residuals_at(q, v, np.asarray(t), p)
    kinds = (
        ("position", residuals.position, residuals.position_names, q),
        ("velocity", residuals.velocity, residuals.velocity_names, v),
    )
    for level, values, names, size in kinds:
        limit = START_TOLERANCE * max(1.0, float(np.linalg.norm(size)))
        for value, name in zip(values, names, strict=True):
            if abs(value) > limit:
                raise InputError(
                    f"constraint {name!r} at {level} level",
                    must="be satisfied by the initial state",
                    but=f"is violated by {value:.3g}",
                    advice="assemble(prefer=…) computes a consistent state nearby, for other "
                    "parameters with the same parameters={…}.",
                )
            if abs(value) > UNREMARKABLE:
                note = f"the start missed {name!r} by {value:.1e} at the level of {level}"
                notes.append(f"{note} and was put on it")


def require_position(
    system: System, y: FloatArray, t: float, p: FloatArray, advice: str = AT_AN_EVENT
) -> None:
    """Refuse a state y = (q, v) off a position constraint, by name; velocities may be off."""
    if system.equations.largest_miss(y[None], np.array([t]), p) <= UNREMARKABLE:
        return
    q, v = y[: len(system.coordinates)], y[len(system.coordinates) :]
    residuals = system.equations.residuals_at(q, v, np.asarray(t), p)
    limit = START_TOLERANCE * max(1.0, float(np.linalg.norm(q)))
    for value, name in zip(residuals.position, residuals.position_names, strict=True):
        if abs(value) > limit:
            raise InputError(
                f"constraint {name!r}",
                must="be satisfied when it becomes active or its parameters change",
                but=f"is violated by {value:.3g}",
                advice=advice,
            )


def require_law(
    system: System, q: FloatArray, v: FloatArray, t: float, p: FloatArray, notes: list[str]
) -> OpenLaws | None:
    """Refuse a state at which a law that depends on its reaction has no solution, or several.

    What the laws use there of reactions that are not determinate; None where there are no laws.
    """
    if not system.equations.reaction_dependent:
        return None
    found = system.equations.require_law(q, v, np.asarray(t), p)
    large = system.equations.by_elements
    note = LAW_NOTE if large is None else LAW_NOTE_OF_MANY
    if large is not None and not any(x.of_reaction for x in large.parts.frictions):
        return None  # viscous alone
    if note not in notes:
        notes.append(note)
    return found


def require_time_of_start(start: Any) -> None:
    """Refuse a state, or its coordinates, that is given as the time of the start."""
    if start is None or (np.ndim(start) == 0 and not hasattr(start, "q")):
        return
    raise InputError(
        "start",
        found="a state" if hasattr(start, "q") else shown(start),
        expected="a time [s]",
        advice="A state is given first, or as q=: simulate(state, …); assemble(hold={…}) of the "
        "mechanism makes one.",
    )


def start_time(q: Any, start: float | None) -> float:
    """When all begin: as their states say or as asked for, which must not differ; else zero."""
    if start is None and isinstance(getattr(q, "t", None), float):  # one state, as mostly
        return single_time(q.t)
    states = listed_states(q) or ([q] if hasattr(q, "t") else [])
    known = {single_time(t) for s in states for t in np.ravel(s.t)}
    if start is not None:
        known.add(single_time(start))
    if len(known) > 1:
        listed = ", ".join(f"{t:g}" for t in sorted(known)[:4])
        raise InputError(
            "start",
            must="be one time for all",
            but=f"the states and start= have times {listed}",
            advice="Give q and v of the states, and start=….",
        )
    return known.pop() if known else 0.0


def listed_states(q: Any) -> list[Any]:
    """The states in a list of them; none if it is something else."""
    listed = isinstance(q, Sequence) and len(q) and all(hasattr(s, "q") for s in q)
    return list(q) if listed else []
