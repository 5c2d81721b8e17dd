"""Simulation with sampled controllers: Python functions called at exact times, outputs held.

A controller reads the state at its sampling times t₀ + offset + k · period and sets parameters,
which stay until the next sample (zero-order hold). Between samples the compiled loop runs as in any
other simulation: each sampling interval is a segment of the run with its own values, so that
forces, energies, storage and verification know them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.keywords import known_keywords
from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.multibody.frozen import require_no_geometry
from zwang.terms import EPSILON, FloatArray
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["Controller", "Sample", "Sampling", "controller", "controllers_of"]

#: Samples that are closer than this, relative to the period, are one instant.
SAME_INSTANT = 1e-9
#: Times of samples and of saved states are multiples of two numbers, off by so many roundings.
ROUNDINGS = 8.0
#: Sampling intervals whose states are compared with the full terms; later ones at powers of two.
LOOKED_AT = 4
#: What a law has given so far, besides nothing at all: None, nothing to set, or a parameter.
NONE, EMPTY, SET = "none", "empty", "set"


@dataclass(frozen=True)
class Controller:
    """A control law with a period, and what it remembers at first; see `controller`.

    Attributes
    ----------
    law : a function of (sample, state), or of the sample alone.
    period : between samples [s].
    offset : of the first sample from the start of the simulation [s].
    state : name → number or array that the law may change.
    """

    law: Callable[..., Any]
    period: float
    offset: float = 0.0
    state: Mapping[str, Any] = field(default_factory=dict)

    @property
    def takes_state(self) -> bool:
        """Whether the law is called with its state, too.

        A second argument with a default is the state only if there is one: it may be a gain.
        """
        try:
            signature = inspect.signature(self.law)
        except (TypeError, ValueError):  # a callable that tells nothing of its arguments
            return True
        alone, both = _takes(signature, 1), _takes(signature, 2)
        return not alone or (both and bool(self.state))

    def describe(self) -> dict[str, Any]:
        """What a stored run remembers of it; the law itself is not part of that."""
        return {"period": self.period, "offset": self.offset, "state": sorted(self.state)}


@known_keywords()
def controller(
    law: Callable[..., Any],
    period: float,
    *,
    offset: float = 0.0,
    state: Mapping[str, Any] | None = None,
) -> Controller:
    """A sampled controller for ``simulate(controllers={name: …})``.

    Parameters
    ----------
    law : a function of (sample, state) that returns parameter → value; it is an ordinary Python
        function and may branch. ``sample.t``, ``sample["pin.angle"]``, ``sample.q``, ``sample.v``
        and ``sample.parameters`` are what it reads; `state` is a dictionary that it may change,
        and that it finds again at the next sample. A law without memory may take the sample alone,
        beside arguments with a default value.
    period : between samples [s]; outputs are held in between.
    offset : of the first sample from the start of the simulation [s].
    state : what the law remembers at first: numbers and arrays by name.

    Examples
    --------
    >>> import zwang as zw
    >>> def law(sample, state):
    ...     error = 1.0 - sample["x"]
    ...     state["sum"] += 0.01 * error
    ...     return {"u": 20.0 * error + 4.0 * state["sum"] - 8.0 * sample["x_dot"]}
    >>> plant = zw.System(["x"], parameters={"u": 0.0}, mass=lambda: [[1.0]], force=lambda p: [p.u])
    >>> pid = zw.controller(law, 0.01, state={"sum": 0.0})
    >>> run = plant.simulate([0.0], until=8.0, controllers={"pid": pid})
    >>> bool(abs(run["x"][-1] - 1.0) < 0.05)
    True
    """
    if not callable(law):
        raise InputError("law of a controller", found=shown(law), expected="a function")
    for name, value, least in (("period", period, 0.0), ("offset", offset, None)):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not np.isfinite(value) or (least is not None and not value > least):
            raise InputError(
                f"{name} of a controller",
                found=shown(value),
                expected="a positive number of seconds" if least is not None else "seconds",
            )
    if float(offset) < 0.0:
        raise InputError("offset of a controller", found=shown(offset), expected="zero or positive")
    if state is not None and not isinstance(state, Mapping):
        raise InputError(
            "state of a controller", found=shown(state), expected="a dictionary of numbers by name"
        )
    values = {str(k): _number(f"state {k!r} of a controller", x) for k, x in (state or {}).items()}
    return Controller(law, float(period), float(offset), values)


def controllers_of(given: Any) -> dict[str, Controller]:
    """Controllers by name, as a user gives them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            "controllers", found=shown(given), expected="a dictionary of names and zw.controller(…)"
        )
    for name, one in given.items():
        if not isinstance(one, Controller):
            raise InputError(
                f"controller {name!r}", found=shown(one), expected="zw.controller(law, period)"
            )
    return dict(given)


def _takes(signature: inspect.Signature, count: int) -> bool:
    """Whether so many arguments without names are enough and not too many."""
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def _number(what: str, given: Any) -> Any:
    """A number, or an array of numbers of its own; texts are none, though NumPy reads "3" as 3."""
    try:
        value = np.array(given, dtype=float)
    except (TypeError, ValueError):
        value = np.array(np.nan)
    if type(given) is not float and np.asarray(given).dtype.kind in "USO":
        value = np.array(np.nan)
    if not np.isfinite(value).all():
        raise InputError(what, found=shown(given), expected="a finite number, or an array of them")
    return float(value) if value.ndim == 0 else value


class Sample:
    """What a controller reads at a sampling time.

    Attributes
    ----------
    t : the time [s].
    number : 0 for the first sample of this controller.
    q, v : coordinates and velocities.
    parameters : values that are held now.
    """

    def __init__(
        self, readings: _Readings, instant: _Instant, t: float, y: FloatArray, number: int
    ) -> None:
        nq = len(readings.system.coordinates)
        self.t, self.number, self.parameters = t, number, dict(instant.held)
        self.q, self.v = y[:nq].copy(), y[nq:].copy()
        self._readings, self._instant = readings, instant

    def __getitem__(self, name: str) -> float:
        """A coordinate, a velocity, or a channel of the state; angles of joints without jumps.

        Channels are those of a run that follow from the state alone: motion of bodies, coordinates
        of joints, energies, forces of springs. Reactions and accelerations, which the values that
        the controller is to give decide, are none of them.
        """
        return self._readings.value(name, self._instant, self.t, self.q, self.v)


class _Instant:
    """What samples of one instant share, for as long as any of them is kept.

    Parameters
    ----------
    held : values of the parameters.
    angles : those of joints that were read last, before or at this instant.
    """

    def __init__(
        self, system: System, held: Mapping[str, Any], angles: Mapping[str, float]
    ) -> None:
        self.held, self.angles = held, dict(angles)
        self._system, self._p = system, None

    @property
    def p(self) -> FloatArray:
        """The parameters as one array: made once, when it is first asked for."""
        if self._p is None:
            self._p = self._system.parameter_vector(self.held)
        return self._p


class _Readings:
    """Values of channels by name, compiled when they are first read."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.angles: dict[str, float] = {}
        self._kernels: dict[str, Any] = {}

    def begin(self, held: Mapping[str, Any]) -> _Instant:
        """An instant at which these parameters are held; what is read in it is remembered."""
        instant = _Instant(self.system, held, self.angles)
        self.angles = instant.angles
        return instant

    def value(self, name: str, instant: _Instant, t: float, q: FloatArray, v: FloatArray) -> float:
        system = self.system
        if name in system.coordinates:
            return float(q[system.coordinates.index(name)])
        if name in system.velocities:
            return float(v[system.velocities.index(name)])
        if name not in system.channels:
            return self._of_state(name, instant, t, q, v)
        own = name.removesuffix("_rate")
        if own not in self._kernels:
            s = system.equations.symbols
            inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
            expression, _ = system.channel(own)
            self._kernels[own] = staged("sampled", inputs, {"values": expression}, s.calls)
        (found,) = self._kernels[own](q, v, [t], instant.p)
        if name != own:
            return float(found[-1])
        if len(found) == 2:
            return float(found[0])
        angle = float(np.arctan2(found[0], found[1]))
        before = instant.angles.get(own, angle)
        angle += 2.0 * np.pi * round((before - angle) / (2.0 * np.pi))
        instant.angles[own] = angle
        return angle

    def _of_state(
        self, name: str, instant: _Instant, t: float, q: FloatArray, v: FloatArray
    ) -> float:
        """A channel that follows from the state: an energy, a position, the force of a spring."""
        from zwang.results.channel_expressions import ChannelExpressions, needs_forces

        if name not in self._kernels:
            channels, s = ChannelExpressions(self.system), self.system.equations.symbols
            known = {n: e for n, e in channels.entries.items() if not needs_forces(e)}
            part = name if isinstance(name, str) else ""
            if part not in known and part.rpartition(".")[0] not in known:
                solved = part in channels.entries or part.rpartition(".")[0] in channels.entries
                more = "It follows from what the controller is to set." if solved else ""
                raise UnknownNameError("channel that a controller reads", str(name), known, more)
            expression = channels[part]
            if expression.numel() != 1:
                raise InputError(
                    f"channel {name!r} that a controller reads",
                    expected="a number",
                    found="a vector",
                    advice=f"Its parts are {name}.x, {name}.y, {name}.z and {name}.magnitude.",
                )
            inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
            self._kernels[name] = staged("sampled", inputs, {"values": expression}, s.calls)
        (found,) = self._kernels[name](q, v, [t], instant.p)
        return float(found[0])


def nearly(t: float, times: FloatArray) -> float:
    """A time, or the one of ascending times that is the same but for rounding."""
    k = int(np.searchsorted(times, t))
    for other in times[max(k - 1, 0) : k + 1].tolist():
        if abs(other - t) <= ROUNDINGS * EPSILON * abs(t):
            return other
    return t


class Sampling:
    """Controllers of a simulation under way: when they are called next, and what they remember.

    Parameters
    ----------
    start : time of the simulation's start [s].
    saved : times at which states are saved, if they are given.
    """

    def __init__(
        self,
        system: System,
        controllers: Mapping[str, Controller],
        start: float,
        saved: FloatArray | None = None,
    ) -> None:
        self.system, self.controllers, self.start = system, controllers, start
        self.saved = saved
        self.readings = _Readings(system)
        self.done = dict.fromkeys(controllers, 0)
        self.states = {name: _copied(c.state) for name, c in controllers.items()}
        self.sets: set[str] = set()
        #: What each controller has given so far: nothing, None or {} alone, or a parameter.
        self.gave = dict.fromkeys(controllers, "")
        self._takes_state = {name: one.takes_state for name, one in controllers.items()}

    def _time(self, name: str, number: int) -> float:
        one = self.controllers[name]
        return self.start + one.offset + number * one.period

    @property
    def next(self) -> float:
        """Time of the next sample [s]; that of a saved state where rounding alone is between."""
        t = min(self._time(name, k) for name, k in self.done.items())
        return t if self.saved is None else nearly(t, self.saved)

    def act(self, t: float, y: FloatArray, held: Mapping[str, Any]) -> dict[str, Any]:
        """Call the controllers that are due at a time; the parameters from then on.

        Where one fails all are as they were before, so that one may go on from there.
        """
        before = self._memory()
        try:
            return self._acted(t, y, held)
        except ZwangError:
            self.done, self.states, self.readings.angles, self.sets, self.gave = before
            raise

    def _memory(self) -> tuple[Any, ...]:
        """Copies of all that changes when controllers are called."""
        states = {
            name: {k: x.copy() if isinstance(x, np.ndarray) else x for k, x in state.items()}
            for name, state in self.states.items()
        }
        own = dict(self.done), states, dict(self.readings.angles), set(self.sets), dict(self.gave)
        return own

    def _acted(self, t: float, y: FloatArray, held: Mapping[str, Any]) -> dict[str, Any]:
        result, set_by = dict(held), dict[str, str]()
        instant = self.readings.begin(held)
        for name, one in self.controllers.items():
            due = self._time(name, self.done[name])
            if due - t > SAME_INSTANT * one.period:
                continue
            sample = Sample(self.readings, instant, t, y, self.done[name])
            given = self._given(name, sample)
            outputs = self._outputs(name, given)
            self._remember(name, given)
            for key in outputs:
                if set_by.setdefault(key, name) != name:
                    raise InputError(
                        f"parameter {key!r}",
                        must="be set by one controller at a time",
                        but=f"{set_by[key]!r} and {name!r} both set it at t = {t:.6g} s",
                        advice="Give each a parameter of its own and add them in the force, or "
                        "let the law that is not in charge return None.",
                    )
            result.update(outputs)
            self.sets.update(outputs)
            self._require_state(name)
            self.done[name] += 1
        return result

    def _given(self, name: str, sample: Sample) -> Any:
        """What a law returns; a mistake in it is told with its controller and the time."""
        one = self.controllers[name]
        try:
            if self._takes_state[name]:
                return one.law(sample, self.states[name])
            return one.law(sample)
        except ZwangError:
            raise
        except Exception as error:
            raise InputError(
                f"law of controller {name!r}",
                but=f"raised {type(error).__name__} at t = {sample.t:.6g} s: {error}",
            ) from error

    def _remember(self, name: str, given: Any) -> None:
        """Whether a law has set anything so far."""
        if self.gave[name] != SET:
            new = SET if given else NONE if given is None else EMPTY
            self.gave[name] = new if self.gave[name] in ("", NONE) or new == SET else EMPTY

    def idle(self) -> list[str]:
        """What is to be said at the end of controllers that never set a parameter."""
        notes = []
        for name, gave in self.gave.items():
            times = "its one sample" if self.done[name] == 1 else f"{self.done[name]} samples"
            if gave == NONE:
                notes.append(
                    f"controller {name!r} set no parameter: it returned None at {times}. Is a "
                    "'return' missing?"
                )
            elif gave == EMPTY:
                notes.append(
                    f"controller {name!r} set no parameter: it returned an empty dictionary, or "
                    f"None, at {times}"
                )
        return notes

    def _outputs(self, name: str, given: Any) -> dict[str, Any]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InputError(
                f"law of controller {name!r}",
                must="return a dictionary, parameter → value",
                but=f"returned {shown(given)}",
            )
        known = self.system.definition.parameters
        require_no_geometry(self.system.mechanism, given, f"controller {name!r}")
        found = {}
        for key, value in given.items():
            if key not in known:
                self._require_no_actuator(name, str(key))
                raise UnknownNameError(f"parameter that controller {name!r} sets", str(key), known)
            found[key] = _number(f"parameter {key!r} that controller {name!r} sets", value)
            wanted, shape = np.shape(known[key]), np.shape(found[key])
            if shape != wanted:
                one = wanted == () and np.size(found[key]) == 1
                raise InputError(
                    f"parameter {key!r} that controller {name!r} sets",
                    must=f"have shape {wanted}, as in the model" if wanted else "be a number",
                    but=f"has shape {shape}" if shape else "is a number",
                    advice="float(x.item()) makes a number of an array with one." if one else None,
                )
        return found

    def _require_no_actuator(self, name: str, key: str) -> None:
        """Refuse the name of an actuator, or its effort, in place of a parameter of its law."""
        parts = self.system.mechanism
        owner = key if parts is not None and key in parts.actuated else key.rpartition(".")[0]
        if parts is None or owner not in parts.actuated:
            return
        parameter = f"{owner}_effort"
        raise InputError(
            f"controller {name!r}",
            must="set parameters",
            but=f"sets {key!r}, of an actuator",
            advice=f"Give the actuator a law of a parameter, m.parameter({parameter!r}, 0.0) and "
            f"m.actuator({owner!r}, {parts.actuated[owner]!r}, lambda p: p.{parameter}), and set "
            f"that: return {{{parameter!r}: …}}.",
        )

    def _require_state(self, name: str) -> None:
        state, first = self.states[name], self.controllers[name].state
        if set(state) != set(first):
            other = sorted(set(state) ^ set(first))
            raise InputError(
                f"state of controller {name!r}",
                must=f"keep its names ({', '.join(sorted(first)) or 'none'})",
                but=f"differs in {', '.join(other)}",
                advice="Give first values to all of them: zw.controller(…, state={…}).",
            )
        for key, value in state.items():
            state[key] = _number(f"state {key!r} of controller {name!r}", value)

    def is_looked_at(self, *, ended: bool) -> bool:
        """Whether the states of a sampling interval are compared with the full terms.

        Those of the first intervals, and of fewer and fewer later ones: values of the same inputs
        change, the program does not.
        """
        number = max(self.done.values())
        return not ended or number < LOOKED_AT or number & (number - 1) == 0

    def to_dict(self) -> dict[str, Any]:
        """All that it takes to go on, as plain values."""
        plain = {
            name: {k: np.asarray(x).tolist() for k, x in state.items()}
            for name, state in self.states.items()
        }
        return {
            "done": dict(self.done),
            "states": plain,
            "angles": dict(self.readings.angles),
            "sets": sorted(self.sets),
            "gave": dict(self.gave),
        }

    def restore(self, plain: Mapping[str, Any]) -> None:
        """As it stood when `to_dict` was called."""
        self.done = {name: int(k) for name, k in plain["done"].items()}
        self.states = {name: _copied(state) for name, state in plain["states"].items()}
        self.readings.angles = dict(plain["angles"])
        self.sets = set(plain["sets"])
        # Earlier versions did not store it; then nothing is said.
        self.gave = {name: plain.get("gave", {}).get(name, SET) for name in self.controllers}


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _number(f"state {k!r}", x) for k, x in state.items()}
