"""A mode as a motion that can be drawn: its shape over a cycle, on the constraints.

Displacements Re(a π e^{iθ}) in the directions of the velocities, π the complex shape, are added to
the state about which the system was linearized, and the configuration is put back on its position
constraints: what is drawn satisfies them, and agrees with the mode to first order in a. Damping is
left out, so that a cycle closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf, spaces_of
from zwang.errors import InputError, shown
from zwang.integrators.settings import Settings
from zwang.results.run import Counts, Run
from zwang.results.segments import Segment

if TYPE_CHECKING:
    from zwang.terms import FloatArray

__all__ = ["ModeOrigin", "still_run"]

#: By how much a default amplitude turns bodies [rad], and moves them, relative to the mechanism.
TURN, SHIFT = 0.3, 0.1
#: Frames of a mode that does not oscillate are those of a cycle of this length [s].
SLOW = 1.0
#: Parts of a displacement after each of which it is put back on the constraints.
PARTS = 4


@dataclass(frozen=True)
class ModeOrigin:
    """A state about which a system was linearized, and the shape of a mode there.

    Attributes
    ----------
    equations : of the system, with its parameters as numbers.
    q : coordinates of the state, shape (nq,).
    pi : displacements in the directions of the velocities, complex, shape (n,).
    """

    equations: EquationsOf
    q: FloatArray
    pi: FloatArray

    def default_amplitude(self) -> float:
        """That turns no body by more than 0.3 rad and moves none by more than a tenth."""
        parts = self.equations.parts
        size = np.abs(self.pi)
        if parts is None:
            reach = max(1.0, float(np.abs(self.q).max(initial=0.0)))
            return SHIFT * reach / max(float(size.max(initial=0.0)), 1e-300)
        shares, extent = [1e-300], _extent(parts)
        starts = parts.places[1]
        for body in parts.bodies:
            for k, ending in enumerate(body.kind.v):
                turns = "omega" in ending
                own = float(size[starts[body.index] + k])
                shares.append(own / (TURN if turns else SHIFT * extent))
        return 1.0 / float(max(shares))

    def configuration(self, amplitude: float, angle: float) -> FloatArray:
        """q at an angle of the cycle."""
        step = np.real(amplitude * self.pi * np.exp(1j * angle))
        if self.equations.is_large:
            from zwang.multibody.element_batches import Bulk

            moved = self.q + Bulk(self.equations.parts).rates(self.q, np.ascontiguousarray(step))
            return self.equations.on_unit_length(moved)
        q = self.q
        for _ in range(PARTS):
            moved = self.equations.moved(q, step / PARTS)
            q, met = self.equations.corrected(moved)
            if not met:
                return self.equations.moved(self.q, step)
        return q

    def _velocity(self, amplitude: float, rate: float, angle: float, q: FloatArray) -> FloatArray:
        """v at an angle of the cycle, as the constraints at q allow it."""
        v = np.real(1j * rate * amplitude * self.pi * np.exp(1j * angle))
        if self.equations.is_large:
            return v
        values = self.equations.values(q)
        return v - spaces_of(values.M, values.A).particular(values.A @ v)

    def run(
        self, eigenvalue: complex, amplitude: float | None, cycles: float, frames: int, title: str
    ) -> Run:
        """The motion as a run, which can be drawn, plotted and exported like any other."""
        a = self.default_amplitude() if amplitude is None else _number("amplitude", amplitude)
        turns = _number("cycles", cycles)
        if isinstance(frames, bool) or not isinstance(frames, int | np.integer) or frames < 2:
            raise InputError("frames", found=shown(frames), expected="a whole number, 2 or more")
        rate = eigenvalue.imag or 2.0 * np.pi / SLOW

        def states(_: Run | None, times: FloatArray) -> tuple[FloatArray, FloatArray]:
            angles = rate * np.asarray(times, dtype=float)
            q = np.array([self.configuration(a, x) for x in angles])
            v = np.array([self._velocity(a, rate, x, y) for x, y in zip(angles, q, strict=True)])
            return q.reshape(len(angles), -1), v.reshape(len(angles), -1)

        t = np.linspace(0.0, turns * 2.0 * np.pi / rate, int(frames))
        q, v = states(None, t)
        return _run(self.equations, t, q, v, f"{title}, drawn with amplitude {a:.3g}", states)


def still_run(equations: EquationsOf, q: FloatArray, title: str) -> Run:
    """One state at rest as a run."""
    v = np.zeros((1, equations.nv))

    def states(_: Run | None, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.repeat(q[None], len(times), axis=0), np.repeat(v, len(times), axis=0)

    return _run(equations, np.array([equations.t]), q[None].copy(), v, title, states)


def _run(
    equations: EquationsOf, t: FloatArray, q: FloatArray, v: FloatArray, status: str, between: Any
) -> Run:
    system = equations.system
    values = system.parameter_values(equations.parameters)
    return Run(
        system,
        t,
        q,
        v,
        status,
        finished=True,
        settings=Settings(until=float(t[-1])),
        segments=(Segment(0, len(t), system, values),),
        counts=Counts(),
        between=between,
    )


def _extent(parts: Any) -> float:
    """How far the mechanism spreads as placed [m]."""
    points = [b.placement.point(b.inertia.center) for b in parts.bodies if b.kind.nv > 1]
    for joint in parts.joints.values():
        for marker in (joint.a, joint.b):
            if marker is None:
                continue
            if marker.body < 0:
                points.append(marker.arm)
                continue
            body = parts.bodies[marker.body]
            points.append(body.placement.point(body.inertia.center + marker.arm))
    if len(points) < 2:
        return 1.0
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) or 1.0


def _number(what: str, given: Any) -> float:
    number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not number or not np.isfinite(given) or not given > 0.0:
        raise InputError(what, found=shown(given), expected="a positive number")
    return float(given)
