"""Assembly: consistent initial coordinates and velocities that satisfy all constraints.

    coordinates   nearest to the preferred values, subject to φ(q, t) = 0 and the held values
    velocities    nearest to the preferred values in the metric of M, subject to φ̇ = 0, ψ = 0

(Blajer 1992, after (2.6), asks f = 0, ḟ = 0, φ = 0 of a start.) Free values follow; where the
constraints leave them a choice they stay near their start. When no such state exists, the error
carries the nearest configuration and an irreducible group of what contradicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.assembly.conditions import StartConditions
from zwang.assembly.configuration import ConfigurationSearch
from zwang.assembly.request import RequestedValues, generic_values, start_values
from zwang.assembly.result import Assembly, FindConflict
from zwang.assembly.velocities import consistent_velocity
from zwang.diagnosis.wording import listing
from zwang.errors import InputError, UnknownNameError
from zwang.terms import FloatArray

__all__ = ["Assembly", "AssemblyRequest", "StartConditions"]


@dataclass(frozen=True)
class AssemblyRequest:
    """What is asked of a start, checked.

    Attributes
    ----------
    coordinates, velocities : what is held, preferred and free.
    started : whether the user gave a point to search from.
    """

    coordinates: RequestedValues
    velocities: RequestedValues
    started: bool

    @classmethod
    def of(
        cls,
        model: StartConditions,
        hold: Mapping[str, Any] | None,
        prefer: Mapping[str, Any] | None,
        weights: Mapping[str, Any] | None,
        velocity: Mapping[str, Any] | None,
        start: Any,
    ) -> AssemblyRequest:
        """Check names and numbers of a call of `System.assemble`."""
        definition = model.model.definition
        q_names, v_names = definition.coordinates, definition.velocities
        velocity = {} if velocity is None else velocity
        if not isinstance(velocity, Mapping):
            raise InputError(
                "velocity",
                found=repr(velocity),
                expected="a mapping such as {'hold': {'x_dot': 1.0}}",
            )
        for key in velocity:
            if key not in ("hold", "prefer", "weights"):
                raise UnknownNameError("velocity", key, ["hold", "prefer", "weights"])
        q0, v0 = start, None
        if hasattr(start, "q") and hasattr(start, "v"):  # a state
            q0, v0 = start.q, start.v
        near, started = start_values("coordinate", q_names, q0, generic_values(len(q_names)))
        moving, _ = start_values("velocity", v_names, v0, np.zeros(len(v_names)))
        return cls(
            RequestedValues.of("coordinate", q_names, hold, prefer, weights, near),
            RequestedValues.of(
                "velocity",
                v_names,
                velocity.get("hold"),
                velocity.get("prefer"),
                velocity.get("weights"),
                moving,
            ),
            started,
        )

    def assemble(
        self, model: StartConditions, t: float, p: FloatArray, find_conflict: FindConflict
    ) -> Assembly:
        """The nearest state."""
        with np.errstate(all="ignore"):  # searches look at far-off places too
            search = ConfigurationSearch(model, self.coordinates, t, p, started=self.started)
            best = search.best() or search.after_all()
            if best is None:
                raise search.impossible(find_conflict)
            return self._state(search, best.x, model, t, p, find_conflict)

    def branches(
        self, model: StartConditions, t: float, p: FloatArray, find_conflict: FindConflict
    ) -> list[Assembly]:
        """Several states, each the nearest of its neighbourhood, the nearest of all first."""
        with np.errstate(all="ignore"):
            search = ConfigurationSearch(model, self.coordinates, t, p, started=self.started)
            found = search.every() or [point for point in [search.after_all()] if point]
            if not found:
                raise search.impossible(find_conflict)
            return [self._state(search, point.x, model, t, p, find_conflict) for point in found]

    def _state(
        self,
        search: ConfigurationSearch,
        x: FloatArray,
        model: StartConditions,
        t: float,
        p: FloatArray,
        find_conflict: FindConflict,
    ) -> Assembly:
        q = search.whole(x)
        v, evaluations = consistent_velocity(model, q, self.velocities, t, p, find_conflict)
        return Assembly(
            q,
            v,
            t,
            self.coordinates.moved(q) | self.velocities.moved(v),
            search.distance(x),
            search.conditions.evaluations + evaluations,
            self._undecided(search, q),
        )

    def _undecided(self, search: ConfigurationSearch, q: FloatArray) -> tuple[str, ...]:
        """That coordinates which no constraint of positions contains have values by chance."""
        asked = self.coordinates
        chosen = np.union1d(asked.held, asked.preferred)
        slopes = search.all_conditions(q).jacobian
        free = [j for j in range(len(q)) if j not in chosen and not slopes[:, j].any()]
        if self.started or not free:
            return ()
        values = listing([f"{asked.names[j]} = {q[j]:.4g}" for j in free])
        what = "hold or prefer other values if these are not wanted"
        return (f"no constraint of positions decides {values}: {what}",)
