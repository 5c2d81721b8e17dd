"""The result of a simulation: named arrays, what follows from them, and an honest account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.errors import InputError, UnknownNameError
from zwang.formulations.lazy import computed_once
from zwang.formulations.linear import dot, transpose_matvec
from zwang.integrators.settings import Settings
from zwang.solution import Solution
from zwang.state import Residuals, State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["Counts", "RankChange", "Run"]


@dataclass(frozen=True)
class RankChange:
    """A moment at which constraint rows became dependent, or independent again.

    Attributes
    ----------
    t : end of the step that saw it.
    dependent_rows : how many position rows depend on others from then on.
    """

    t: float
    dependent_rows: int


@dataclass(frozen=True)
class Counts:
    """Work done: accepted and rejected steps, evaluations of v̇, projections."""

    steps: int
    rejected: int
    evaluations: int
    projections: int


@dataclass(frozen=True)
class Run:
    """States of a system along its motion, and what follows from them.

    Attributes
    ----------
    t : saved times, shape (nt,).
    q, v : states, shapes (nt, nq) and (nt, nv).
    status : how the simulation ended, a sentence.
    finished : whether it reached its end.
    settings : all choices that decide the numbers.
    parameters : name → value used.
    counts : work done.
    between : gives the states at times between the saved ones, for `at`.
    ranks : changes of rank, in order.
    notes : sentences on anything approximated or doubtful.
    """

    system: System = field(repr=False)
    t: FloatArray
    q: FloatArray
    v: FloatArray
    status: str
    finished: bool
    settings: Settings
    parameters: Mapping[str, Any]
    counts: Counts
    between: Callable[[Run, FloatArray], tuple[FloatArray, FloatArray]] = field(repr=False)
    ranks: tuple[RankChange, ...] = ()
    notes: tuple[str, ...] = ()

    # --- names ------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """What ``run[name]`` knows: coordinates, then velocities."""
        return self.system.coordinates + self.system.velocities

    def __getitem__(self, name: str) -> FloatArray:
        """A coordinate or velocity over time, shape (nt,)."""
        if name in self.system.coordinates:
            return self.q[:, self.system.coordinates.index(name)]
        if name in self.system.velocities:
            return self.v[:, self.system.velocities.index(name)]
        raise UnknownNameError("channel", name, self.names)

    def __len__(self) -> int:
        return len(self.t)

    def __str__(self) -> str:
        return "\n".join([self.status, *(f"note: {note}" for note in self.notes)])

    # --- states -----------------------------------------------------------------------------------

    def at(self, t: ArrayLike) -> State:
        """The state at one time or several, to the accuracy of the run.

        Integrated from the last saved state before, so that nothing is lost between saved times.
        """
        wanted = np.asarray(t, dtype=float)
        first, last = self.t[0], self.t[-1]
        if not np.all((wanted >= first) & (wanted <= last)):
            raise InputError(
                "time", found=str(t), expected=f"times from {first:g} to {last:g}, as simulated"
            )
        q, v = self.between(self, wanted.ravel())
        shape = wanted.shape
        return State(
            q.reshape(*shape, -1), v.reshape(*shape, -1), wanted if shape else float(wanted)
        )

    # --- forces -----------------------------------------------------------------------------------

    @computed_once
    def solution(self) -> Solution:
        """Acceleration, constraint force, multipliers and ranks at all saved states."""
        return self.system.solve(self.q, self.v, self.t, parameters=self.parameters)

    @property
    def acceleration(self) -> FloatArray:
        """v̇ at the saved states, shape (nt, nv)."""
        return self.solution.acceleration

    def multipliers(self, name: str | None = None) -> FloatArray:
        """λ of one constraint, or of all rows, shape (nt, rows)."""
        lam = self.solution.multipliers
        return lam if name is None else lam[:, self._rows(name)]

    def constraint_force(self, name: str | None = None) -> FloatArray:
        """Generalized force of one constraint, A_gᵀ λ_g, or Q_c of all, shape (nt, nv)."""
        if name is None:
            return self.solution.constraint_force
        rows = self._rows(name)
        A = self.solution.terms.constraint_matrix[:, rows]
        return transpose_matvec(A, self.solution.multipliers[:, rows])

    def _rows(self, name: str) -> list[int]:
        groups = self.system.model.groups
        if name not in groups:
            raise UnknownNameError("constraint", name, groups)
        return groups[name]

    # --- account ----------------------------------------------------------------------------------

    @computed_once
    def residuals(self) -> Residuals:
        """φ, φ̇ and ψ at the saved states."""
        return self.system.residuals(self.q, self.v, self.t, parameters=self.parameters)

    @computed_once
    def kinetic_energy(self) -> FloatArray:
        """½ vᵀ M v, shape (nt,)."""
        return self.system.energy(self.q, self.v, self.t, parameters=self.parameters)[0]

    @computed_once
    def potential_energy(self) -> FloatArray | None:
        """V, shape (nt,), or None when the system has no potential."""
        return self.system.energy(self.q, self.v, self.t, parameters=self.parameters)[1]

    @property
    def energy(self) -> FloatArray:
        """Kinetic plus potential energy; kinetic alone when the system has no potential."""
        V = self.potential_energy
        return self.kinetic_energy if V is None else self.kinetic_energy + V

    @computed_once
    def power(self) -> dict[str, FloatArray]:
        """Power of applied, constraint and non-ideal forces at the saved states, each (nt,)."""
        s = self.solution
        ideal = s.constraint_force - s.terms.nonideal_force
        return {
            "applied": dot(s.terms.applied_force, self.v),
            "constraint": dot(ideal, self.v),
            "nonideal": dot(s.terms.nonideal_force, self.v),
        }
