"""The starts of an ensemble: checked four at a time, and the program that each of them takes.

Each start meets the same refusals as in a single run. What all of them have in common is computed
at once, in vector lanes; only a start at which there is something to remark is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.choices import UNREMARKABLE, require_law, require_start
from zwang.errors import InputError, ZwangError
from zwang.formulations.rank import equilibrate, mass_spectrum
from zwang.integrators.settings import Settings
from zwang.programs import left_out_of_many, program_of
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["LANES", "Starts"]

#: Trajectories that run side by side in one thread.
LANES = 4


class Starts:
    """Where the trajectories of an ensemble begin, and with which parameters.

    Attributes
    ----------
    system : of all.
    q, v : (N, nq) and (N, nv).
    t : time of all starts.
    P : parameters (N, np).
    refusals : number of a start → why it was refused.
    notes : number of a start → what there is to remark.
    """

    def __init__(
        self, system: System, q: Any, v: Any, t: float, parameters: Mapping[str, Any]
    ) -> None:
        self.system, self.t = system, t
        self.q, self.v, values = _broadcast(system, q, v, parameters)
        # Numbers as such: they are checked faster than arrays.
        self._values = {k: x.tolist() if x.ndim == 1 else x for k, x in values.items()}
        self.refusals: dict[int, str] = {}
        self.notes: dict[int, tuple[str, ...]] = {}
        self.P = np.tile(system.parameter_vector(), (len(self.q), 1))
        if values:
            for i in range(len(self)):
                try:
                    self.P[i] = system.parameter_vector(self.given(i))
                except ZwangError as error:
                    self.refusals[i] = str(error)

    def __len__(self) -> int:
        return len(self.q)

    def given(self, i: int) -> dict[str, Any]:
        """Values of the parameters that were given for a start."""
        return {name: values[i] for name, values in self._values.items()}

    def state(self, i: int) -> FloatArray:
        """Coordinates and velocities of a start as one array."""
        return np.concatenate([self.q[i], self.v[i]])

    def programs(self, settings: Settings) -> dict[int, Any]:
        """Number of a start → its program; starts that are refused have none."""
        if self.system.by_blocks:
            self._check(np.arange(len(self)))
            return {
                i: program_of(self.system, self.state(i), self.t, self.P[i], settings, LANES)
                for i in range(len(self))
                if i not in self.refusals
            }
        misses, M, A = self._screened()
        # Values that are not finite pass no screen.
        plain = np.all(np.abs(misses) <= UNREMARKABLE, axis=1)
        same = self.system.mass_is_constant and not self._values
        regular = _regular(M[:1] if same else M)
        if not regular or self.system.reaction_dependent:
            plain[:] = False
        self._check(np.flatnonzero(~plain))
        good = [i for i in range(len(self)) if i not in self.refusals]
        if not good:
            return {}
        many = np.concatenate([self.q, self.v], axis=1)[good], self.t, self.P[good]
        there = M[good], A[good]
        own = self.system.own_programs(*many, settings, LANES, *there)
        if own[0] is not None:
            return dict(zip(good, own, strict=True))
        known = {"singular": False if regular else None}
        return {
            i: program_of(self.system, y, self.t, p, settings, LANES, left_out=gone, **known)
            for i, y, p, gone in zip(
                good,
                many[0],
                many[2],
                left_out_of_many(self.system, *many, settings, *there),
                strict=True,
            )
        }

    def _check(self, which: np.ndarray) -> None:
        """Look at some of the starts as a single run would."""
        for i in which.tolist():
            if i in self.refusals:
                continue
            notes: list[str] = []
            try:
                q, v, t, _ = self.system.arguments(self.q[i], self.v[i], self.t, None)
                require_start(self.system, q, v, self.t, self.P[i], notes)
                require_law(self.system, q, v, self.t, self.P[i], notes)
                self.system.require_unique(q, v, t, self.P[i])
            except ZwangError as error:
                self.refusals[i] = str(error)
            if notes:
                self.notes[i] = tuple(notes)

    def _screened(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Residuals (N, …), M (N, nv, nv) and A (N, m, nv) at all starts, four at a time."""
        import casadi as ca

        from zwang.kernels.element import compile as compile_kernel

        kernels = self.system.__dict__.setdefault("_screens", {})
        m, s = self.system.model, self.system.model.state
        if not kernels:
            parts = (ca.vertcat(m.position_values, m.rates), m.M.T, m.A.T)
            outputs = [ca.densify(ca.vec(ca.densify(x))) for x in parts]
            function = ca.Function("screen", [s.q, s.v, s.t, s.p], outputs)
            kernels[0] = compile_kernel(function, lanes=LANES)
        count, nv = len(self), len(self.system.velocities)
        parts = [np.empty((count, port.size)) for port in kernels[0].outputs]
        moment = np.full((1, LANES), self.t)
        for k in range(0, count, LANES):
            rows = np.minimum(np.arange(k, k + LANES), count - 1)
            here = kernels[0](self.q[rows].T, self.v[rows].T, moment, self.P[rows].T)
            for part, values in zip(parts, here, strict=True):
                part[rows] = values.T
        return parts[0], parts[1].reshape(count, nv, nv), parts[2].reshape(count, -1, nv)


def _regular(M: FloatArray) -> bool:
    """Whether all mass matrices (N, nv, nv) are regular by a wide margin."""
    if not np.isfinite(M).all():
        return False
    d, _ = equilibrate(M, np.zeros((len(M), 0, M.shape[-1])))
    spectrum = mass_spectrum(M * d[..., None] * d[..., None, :])
    return bool(np.all(spectrum.rank == M.shape[-1]) and spectrum.estimated)


def _broadcast(
    system: System, q: Any, v: Any, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    """Starts (N, nq) and (N, nv), and parameters (N, …), from what was given."""
    if v is None and not hasattr(q, "q") and len(q) and hasattr(q[0], "q"):
        q, v = np.array([s.q for s in q]), np.array([s.v for s in q])
    elif hasattr(q, "q"):
        q, v = q.q, q.v
    q = np.asarray(q, dtype=float)
    v = np.zeros(len(system.velocities)) if v is None else np.asarray(v, dtype=float)
    shapes = {k: x.shape for k, x in system.definition.parameters.items()}
    values = {name: np.asarray(value, dtype=float) for name, value in parameters.items()}
    sizes = {"q": q.shape[0]} if q.ndim == 2 else {}
    sizes |= {"v": v.shape[0]} if v.ndim == 2 else {}
    for name, value in values.items():
        if name in shapes and value.ndim == len(shapes[name]) + 1:
            sizes[f"parameter {name!r}"] = len(value)
    if len(set(sizes.values())) > 1:
        raise InputError(
            "ensemble",
            found=", ".join(f"{count} of {name}" for name, count in sizes.items()),
            expected="the same number of each, or one for all",
        )
    count = next(iter(sizes.values()), 1)
    system.parameter_vector(  # refuses unknown names and wrong shapes
        {k: x[0] if f"parameter {k!r}" in sizes and count else x for k, x in values.items()}
    )
    spread = {
        name: value
        if f"parameter {name!r}" in sizes
        else np.broadcast_to(value, (count, *value.shape))
        for name, value in values.items()
    }
    q, v = (x if x.ndim == 2 else np.broadcast_to(x, (count, x.size)) for x in (q, v))
    for name, array, names in (("q", q, system.coordinates), ("v", v, system.velocities)):
        if array.shape != (count, len(names)):
            raise InputError(
                name, found=f"shape {array.shape}", expected=f"shape ({count}, {len(names)})"
            )
    return q, v, spread
