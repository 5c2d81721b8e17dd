"""Events during a simulation: their functions compiled, their moments found, impacts worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.integrators import memory as sh
from zwang.integrators.contract import Loop
from zwang.integrators.events import crossing, with_dips
from zwang.integrators.registry import start_loop
from zwang.programs.coordinate_change import CoordinateChange
from zwang.terms import FloatArray
from zwang.tracing.event import Bounce, Event

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["EventCrossing", "Watch", "Watches"]

#: What stands for zero, approached from one side.
JUST = 1e-300
#: An impact after which this part of its speed still goes on could not act.
PASSES = 1e-6
#: Next to the jump of an angle, a function that is this part of its values on both sides crosses
#: zero by itself.
CONTINUOUS = 1e-3
#: A start misses a floor that it lies on by rounding.
TOUCHES = 1e-12


class EventCrossing:
    """An event found: its name, its time, the state there, and whether its function rises."""

    def __init__(self, name: str, t: float, y: FloatArray, *, rising: bool) -> None:
        self.name, self.t, self.y, self.rising = name, t, y, rising


class Watch:
    """The event functions of a system, compiled, as a loop in a carrier's coordinates sees them."""

    def __init__(
        self,
        system: System,
        events: Mapping[str, Event],
        carrier: CoordinateChange | None = None,
        at: tuple[Any, ...] | None = None,
        whole: System | None = None,
    ) -> None:
        import casadi as ca

        from zwang.results.event_expression import watched
        from zwang.tracing.differentiate import rate
        from zwang.tracing.mixed_kernel import staged

        self.system, self.events, self.carrier = system, events, carrier
        s = system.equations.symbols
        found = [watched(system, name, e, at, whole) for name, e in events.items()]
        #: In which direction each crosses zero, of which 0 is both.
        self.directions = [x.direction for x in found]
        #: Whether the equations of motion are solved for one of them, with rows chosen at a state.
        self.solves = any(x.solved for x in found)
        #: Where some have no value, a singular position, and which these are.
        self._undefined = None if at is None else float(at[2]), [x.undefined_here for x in found]
        values = [x.value for x in found]
        #: Which further functions change sign where a comparison in the condition of one changes.
        self._parts: list[range] = []
        for x in found:
            self._parts.append(range(len(values), len(values) + len(x.parts)))
            values += x.parts
        inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
        self.kernel = staged("events", inputs, {"values": ca.vertcat(*values)}, s.calls)
        if carrier is not None:
            self.kernel = carrier.seen("events", ca.vertcat(*values), (s.q, s.v, s.t, s.p))
        rates = [rate(x.value, s) if x.rated else ca.SX(0) for x in found]
        normals = [ca.densify(ca.jacobian(r, s.v)).T for r in rates]
        facing = [ca.SX(1) if x.facing is None else x.facing for x in found]
        cuts = [ca.SX(-1) if x.cut is None else x.cut for x in found]
        outputs = {
            "rates": ca.vertcat(*rates),
            "normals": ca.horzcat(*normals),
            "facing": ca.densify(ca.vertcat(*facing)),
            "cuts": ca.densify(ca.vertcat(*cuts)),
        }
        self.rates = staged("event_rates", inputs, outputs, s.calls)

    def value(self, loop: Loop, t: float, y: FloatArray) -> FloatArray:
        """All event functions at a state of the loop, and after them parts of conditions."""
        nq = loop.program.nq
        return self.kernel(y[:nq], y[nq:], [t], loop.parameters[:, 0])[0]

    def crossings(self, loop: Loop, dormant: Callable[[Event], bool]) -> list[EventCrossing]:
        """Events within the last step of a loop, first ones first, dormant ones left out."""
        step = _LastStep(loop)
        ends = step.parts()
        values = [self.value(loop, t, step.state(t)) for t in ends]
        values[0] = loop.event_before[:, 0]  # knows on which side an event before was left
        found = []
        for k, (name, e) in enumerate(self.events.items()):
            direction = self.directions[k]
            if dormant(e):
                continue

            def g(t: float, k: int = k) -> float:
                return float(self.value(loop, t, step.state(t))[k])

            self._require_number(name, [x[k] for x in values], ends)
            if self._parts[k]:
                looks = self._looks_at_condition(loop, step, k, ends, values)
            else:
                looks = with_dips(g, ends, [float(x[k]) for x in values])
            for (a, was), (b, now) in pairwise(looks):
                if not _crosses(was, now):
                    continue
                rising = was < 0.0
                if direction and (direction > 0) != rising:
                    continue
                t = crossing(g, a, b)
                y = loop.in_system(step.state(t)[None], np.array([t]))[0]
                _, _, facing, cuts = self._rates(loop, t, y)
                jumps = cuts[k] > 0.0 and abs(g(t)) > CONTINUOUS * max(abs(was), abs(now))
                if facing[k] > 0.0 and not jumps:
                    found.append(EventCrossing(name, t, y, rising=rising))
        return sorted(found, key=lambda met: met.t)

    def _looks_at_condition(
        self,
        loop: Loop,
        step: _LastStep,
        k: int,
        ends: list[float],
        values: list[FloatArray],
    ) -> list[tuple[float, float]]:
        """Times and values of a condition that joins comparisons, of which it changes at any.

        Its margin has kinks, of which neighboring values tell little. Those of the comparisons are
        smooth; between two moments at which one changes the condition stays as it is.
        """
        moments = {ends[0], ends[-1]}
        for j in self._parts[k]:

            def part(t: float, j: int = j) -> float:
                return float(self.value(loop, t, step.state(t))[j])

            looks = with_dips(part, ends, [float(x[j]) for x in values])
            for (a, was), (b, now) in pairwise(looks):
                if _crosses(was, now):
                    moments.add(crossing(part, a, b))
        known = {t: float(x[k]) for t, x in zip(ends, values, strict=True)}
        for a, b in pairwise(sorted(moments)):
            middle = 0.5 * (a + b)
            known.setdefault(middle, float(self.value(loop, middle, step.state(middle))[k]))
        return sorted(known.items())

    @staticmethod
    def _require_number(name: str, values: Sequence[float], times: Sequence[float]) -> None:
        """Refuse an event function that is no number at one of some times."""
        for value, t in zip(values, times, strict=True):
            if np.isnan(value):
                raise InputError(
                    f"function of event {name!r}",
                    must="be a number along the whole motion",
                    but=f"is not a number at t = {t:.6g} s",
                    advice="Look for a root or a logarithm of something negative, or 0/0.",
                )

    def _rates(self, loop: Loop, t: float, y: FloatArray) -> tuple[FloatArray, ...]:
        """Rates of all event functions, their gradients in v, whether zeros are events, and
        whether an angle in them jumps by 2π.
        """
        nq, count = len(self.system.coordinates), self.rates.inputs[3].size
        return tuple(self.rates(y[:nq], y[nq:], [t], loop.parameters[:count, 0]))

    def impact(self, loop: Loop, name: str, y: FloatArray, t: float) -> tuple[float, FloatArray]:
        """ġ and its gradient in v, at an event."""
        rates, normals, *_ = self._rates(loop, t, y)
        k = list(self.events).index(name)
        return float(rates[k]), normals.reshape(len(self.events), -1)[k]

    def after(self, loop: Loop, met: EventCrossing) -> None:
        """Tell the loop on which side of zero the motion leaves the event that just happened.

        An impact leaves it on the side it came from, also without a rate; unless no impulse could
        act, as where constraints prescribe the quantity.
        """
        k, t = list(self.events).index(met.name), float(loop.t[0])
        rate = float(self._rates(loop, t, loop.present[:, 0])[0][k])
        side = np.sign(rate)
        if _is_impact(self.events[met.name]):
            found, through = float(self._rates(loop, t, met.y)[0][k]), 1.0 if met.rising else -1.0
            side = through if rate * through > PASSES * abs(found) else -through
        loop.event_values[k, 0] = side * JUST

    def begin(self, loop: Loop) -> None:
        """Put a start that touches an impact's zero on the side that the impact leads back to.

        So what lies on a floor, or falls from it, hits it. Other events must leave zero first.
        """
        at, undefined = self._undefined
        for k, (name, e) in enumerate(self.events.items()):
            if undefined[k] and loop.t[0] == at:
                loop.event_values[[k, *self._parts[k]], 0] = 0.0  # it is on neither side
            value = loop.event_values[k, 0]
            self._require_number(name, [value], loop.t[:1].tolist())
            outside = -float(self.directions[k])
            touches = abs(value) <= TOUCHES * max(1.0, abs(e.at))
            if _is_impact(e) and outside and touches and not value * outside > 0.0:
                loop.event_values[k, 0] = outside * JUST


class Watches:
    """The event functions of a simulation, by the constraints that act, compiled when these do.

    Parameters
    ----------
    whole : the system with all of its constraints.
    """

    def __init__(self, whole: System, events: Mapping[str, Event]) -> None:
        self._whole, self._events = whole, events
        self._known: dict[frozenset[str], Watch] = {}

    def of(
        self,
        active: System,
        inactive: frozenset[str],
        carrier: CoordinateChange | None,
        start: tuple[FloatArray, float, FloatArray],
    ) -> Watch:
        """Those of the constraints that act from a start y, t, p, as a carrier's loop sees them."""
        known = self._known.get(inactive)
        if known is None or known.carrier is not carrier:
            (y, t, p), nq = start, len(active.coordinates)
            at = y[:nq], y[nq:], np.asarray(t), p
            known = Watch(active, self._events, carrier, at, self._whole)
            self._known[inactive] = known
        return known

    def forget_solved(self) -> None:
        """Forget those for which equations of motion are solved, with rows chosen at a state."""
        self._known = {key: watch for key, watch in self._known.items() if not watch.solves}


def _crosses(was: float, now: float) -> bool:
    """Whether a value has come to zero or changed its sign."""
    return was * now < 0.0 or (now == 0.0 and was != 0.0)


def _is_impact(event: Event) -> bool:
    return any(isinstance(action, Bounce) for action in event.actions)


class _LastStep:
    """The last step of a loop: states within it, in the loop's coordinates.

    Attributes
    ----------
    start, end : of the step [s].
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.start, self.end = float(loop.previous[0, 0, 0]), float(loop.t[0])
        self.first, self.last = loop.previous[1, :, 0].copy(), loop.state[:, 0].copy()
        self._states: dict[float, FloatArray] = {self.start: self.first, self.end: self.last}

    def _again(self, until: float, times: FloatArray | None) -> tuple[Loop, list[FloatArray]]:
        """A loop that has gone from the start to a time, and the states that it saved."""
        loop = self.loop
        again = start_loop(
            loop.program,
            replace(loop.settings, until=until),
            self.start,
            self.first[:, None],
            loop.parameters,
            times=times,
            scales=loop.scales,
            carried=True,
        )
        saved, code = [], sh.BUDGET
        while code in sh.UNDER_WAY:
            chunk = again.advance()
            saved += list(chunk.saved_in_own()[1])
            code = chunk.code
        return again, saved

    def state(self, t: float) -> FloatArray:
        """The state at a time, integrated to there."""
        if t not in self._states:
            self._states[t] = self._again(t, None)[0].state[:, 0].copy()
        return self._states[t]

    def parts(self) -> list[float]:
        """Where the method looked for events; states there are interpolated, enough for signs."""
        times = self.start + (self.end - self.start) * np.array(self.loop.LOOKS)
        _, states = self._again(self.end, times)
        self._states.update(zip(times.tolist(), states, strict=False))
        return sorted(self._states)  # fewer where the motion could not be repeated
