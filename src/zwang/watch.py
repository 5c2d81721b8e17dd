"""Watching for events: their functions compiled, the moments found, impacts worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.engine.carrier import Carrier
from zwang.functions.event import Event
from zwang.integrators import shared as sh
from zwang.integrators.choose import start_loop
from zwang.integrators.events import crossing
from zwang.integrators.loop import Loop
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["Met", "Watch"]


class Met:
    """An event found: its name, its time, the state there, and whether its function rises."""

    def __init__(self, name: str, t: float, y: FloatArray, *, rising: bool) -> None:
        self.name, self.t, self.y, self.rising = name, t, y, rising


class Watch:
    """The event functions of a system, compiled, as a loop in a carrier's coordinates sees them."""

    def __init__(
        self, system: System, events: Mapping[str, Event], carrier: Carrier | None = None
    ) -> None:
        import casadi as ca

        from zwang.functions.derive import rate
        from zwang.functions.extra import trace_extra
        from zwang.functions.staged import staged

        self.system, self.events = system, events
        model, s = system.model, system.model.state
        values = [
            trace_extra(model, f"event {name!r}", e.function, 1) for name, e in events.items()
        ]
        inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
        self.kernel = staged("events", inputs, {"values": ca.vertcat(*values)}, s.calls)
        if carrier is not None:
            carried = carrier.of_inputs(ca.vertcat(*values), (s.q, s.v, s.t, s.p))
            self.kernel = carrier.kernel("events", [carried])
        rates = [rate(g, s) for g in values]
        normals = [ca.densify(ca.jacobian(r, s.v)).T for r in rates]
        outputs = {"rates": ca.vertcat(*rates), "normals": ca.horzcat(*normals)}
        self.rates = staged("event_rates", inputs, outputs, s.calls)

    def value(self, loop: Loop, t: float, y: FloatArray) -> FloatArray:
        """All event functions at a state of the loop."""
        nq = loop.program.nq
        return self.kernel(y[:nq], y[nq:], [t], loop.parameters[:, 0])[0]

    def crossings(self, loop: Loop, dormant: Callable[[Event], bool]) -> list[Met]:
        """Events within the last step of a loop, first ones first, dormant ones left out."""
        t0, y0 = float(loop.previous[0, 0, 0]), loop.previous[1, :, 0].copy()
        t1 = float(loop.t[0])
        states: dict[float, FloatArray] = {t0: y0, t1: loop.state[:, 0].copy()}

        def state(t: float) -> FloatArray:
            if t not in states:
                trial = start_loop(
                    loop.program,
                    replace(loop.settings, until=t),
                    t0,
                    y0[:, None],
                    loop.parameters,
                    times=None,
                    scales=loop.scales,
                    carried=True,
                )
                code = sh.BUDGET
                while code in (sh.BUDGET, sh.FULL):
                    code = trial.advance().code
                states[t] = trial.state[:, 0].copy()
            return states[t]

        before = loop.event_before[:, 0]
        after = self.value(loop, t1, states[t1])
        found = []
        for k, (name, e) in enumerate(self.events.items()):
            if not before[k] * after[k] < 0.0 and not (after[k] == 0.0 and before[k] != 0.0):
                continue
            if dormant(e):
                continue
            rising = bool(before[k] < 0.0)
            if e.direction and (e.direction > 0) != rising:
                continue
            t = crossing(lambda t, k=k: float(self.value(loop, t, state(t))[k]), t0, t1)
            y = loop.in_system(state(t)[None], np.array([t]))[0]
            found.append(Met(name, t, y, rising=rising))
        return sorted(found, key=lambda met: met.t)

    def _rates(self, loop: Loop, t: float, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        nq, count = len(self.system.coordinates), self.rates.inputs[3].size
        return self.rates(y[:nq], y[nq:], [t], loop.parameters[:count, 0])  # type: ignore[return-value]

    def impact(
        self, loop: Loop, name: str, y: FloatArray, t: float, parameters: Mapping[str, Any]
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """ġ, its gradient in v, and M and the rows of A that hold velocities, at an event."""
        k, nq = list(self.events).index(name), len(self.system.coordinates)
        rates, normals = self._rates(loop, t, y)
        terms = self.system.terms(y[:nq], y[nq:], t, parameters=parameters)
        levels = [b.level for b in self.system.model.blocks.values() for _ in range(b.A.shape[0])]
        kept = [i for i, level in enumerate(levels) if level != "acceleration"]
        normal = normals.reshape(len(self.events), -1)[k]
        return float(rates[k]), normal, terms.mass_matrix, terms.constraint_matrix[kept]

    def after(self, loop: Loop, name: str) -> None:
        """Tell the loop on which side of zero the motion leaves the event that just happened."""
        k = list(self.events).index(name)
        rates, _ = self._rates(loop, float(loop.t[0]), loop.present[:, 0])
        loop.event_values[k, 0] = np.sign(rates[k]) * 1e-300
