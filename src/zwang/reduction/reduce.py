"""Independent coordinates and velocities: what is asked for, and the reduced model it gives.

Blajer (1992) section 4 (holonomic: q = g(s, t), the matrix form of Kane's equations) and section 5
(nonholonomic: independent quasi-velocities, Maggi's equations), or a choice among the velocities
there are. `lift` differentiates the map, `reduction` projects the model, `way_back` undoes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.states import named_vector
from zwang.errors import InputError
from zwang.linalg.rank import RowGeometry, mass_spectrum
from zwang.reduction.identities import CheckStates
from zwang.reduction.lift import Lift, basis_lift, coordinate_lift, velocity_lift
from zwang.reduction.partition import (
    Partition,
    leading_columns,
    linear_rows,
    partition_lift,
    rates_of_rows,
)
from zwang.reduction.reduced_model import Reduction, reduce_model
from zwang.reduction.vector_fields import States
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System
    from zwang.tracing.traced_model import TracedModel

__all__ = ["CheckPoints", "ReductionRequest", "reduce"]

#: States at which a map is checked.
CHECKS = 5


@dataclass(frozen=True)
class CheckPoints:
    """Where maps are checked and velocities are chosen.

    Attributes
    ----------
    system : the system to be reduced.
    at : a state, coordinates, or None.
    parameters : values that replace defaults.
    """

    system: System
    at: Any
    parameters: Mapping[str, Any] | None

    @property
    def t(self) -> float:
        """The time."""
        return float(getattr(self.at, "t", 0.0))

    @property
    def p(self) -> FloatArray:
        """All parameters."""
        return self.system.parameter_vector(self.parameters)

    def given(self, names: Sequence[str]) -> FloatArray | None:
        """The given coordinates, if any."""
        if self.at is None:
            return None
        q = self.at.q if hasattr(self.at, "q") else self.at
        if isinstance(q, tuple) and len(q) == 2 and all(np.ndim(x) == 1 for x in q):
            q = q[0]  # (q, v), of which the coordinates decide
        array = named_vector("at", q, tuple(names))
        if array.shape != (len(names),):
            raise InputError(
                "at",
                must=f"have {len(names)} values ({', '.join(names)})",
                but=f"has shape {array.shape}",
            )
        return array

    def consistent(self) -> FloatArray:
        """The given configuration, or one that satisfies the constraints."""
        q = self.given(self.system.coordinates)
        return self._assembled(None, self.t) if q is None else q

    def _assembled(self, start: FloatArray | None, t: float) -> FloatArray:
        return self.system.assemble(start=start, t=t, parameters=self.parameters).q

    def samples(self, coordinates: Sequence[str], velocities: int, *, new: bool) -> CheckStates:
        """Random states of the independent variables; their constraints hold."""
        generator = np.random.default_rng(0)
        t = self.t + np.array([0.0, 0.0, *generator.uniform(0.0, 1.0, CHECKS - 2)])
        n = len(coordinates)
        if new:
            q = generator.uniform(-1.0, 1.0, (4 * CHECKS, n))
            near = self.given(coordinates)
            if near is not None:
                q = near + np.concatenate([np.zeros((1, n)), 0.3 * q[1:]])
            t = np.resize(t, len(q))
        else:
            near = self.consistent()
            shifts = 0.5 * generator.uniform(-1.0, 1.0, (CHECKS, n))
            q = np.array(
                [self._assembled(near + s, time) for s, time in zip(shifts, t, strict=True)]
            )
            q[0] = near
        return CheckStates(q, generator.normal(size=(len(q), velocities)), t, self.p)

    def anywhere(self) -> States:
        """Random states, without regard to position constraints."""
        generator = np.random.default_rng(1)
        n = len(self.system.coordinates)
        near = self.given(self.system.coordinates)
        q = generator.uniform(-1.0, 1.0, (CHECKS, n))
        q = q if near is None else near + 0.5 * q
        return States(q, self.t + generator.uniform(0.0, 1.0, CHECKS), self.p)

    def on_constraints(self) -> States:
        """Random states that satisfy the position constraints."""
        samples = self.samples(self.system.coordinates, 0, new=False)
        return States(samples.q, samples.t, samples.p)

    def rows(self, numbers: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """A of some rows, and M, at the consistent configuration."""
        terms = self.system.terms(self.consistent(), None, self.t, parameters=self.parameters)
        return terms.constraint_matrix[list(numbers)], terms.mass_matrix


@dataclass(frozen=True)
class ReductionRequest:
    """What is asked of `System.reduce`, checked.

    Attributes
    ----------
    coordinates, velocities : names of the independent variables, or None where not given.
    function : the map, or the tangent basis if `tangent`.
    kinematics : Ã and ã₀, or None.
    """

    coordinates: tuple[str, ...] | None
    velocities: tuple[str, ...] | None
    function: Callable[..., Any] | None
    tangent: bool
    kinematics: tuple[Callable[..., Any], Callable[..., Any] | None] | None

    @classmethod
    def of(
        cls,
        coordinates: tuple[str, ...] | None,
        velocities: tuple[str, ...] | None,
        map_: Callable[..., Any] | None,
        basis: Callable[..., Any] | None,
        kinematics: Any,
    ) -> ReductionRequest:
        """Check which arguments go together."""
        if coordinates is not None and map_ is None:
            raise InputError("independent coordinates", must="come with map=lambda s, t, p: […q…]")
        if map_ is not None and basis is not None:
            raise InputError("reduce", must="be given a map or a basis", but="both were given")
        if (map_ is not None or basis is not None) and coordinates is None and velocities is None:
            raise InputError(
                "reduce",
                must="be given the names of the independent coordinates or velocities with a map",
            )
        if coordinates is not None and (velocities is None) != (kinematics is None):
            raise InputError(
                "independent coordinates",
                must="come with velocities and kinematics, or with neither for u = ṡ",
                but="one of them is missing",
            )
        if kinematics is not None:
            if coordinates is None:
                raise InputError("kinematics", must="come with new coordinates and a map")
            pair = kinematics if isinstance(kinematics, tuple | list) else (kinematics, None)
            if len(pair) != 2:
                raise InputError(
                    "kinematics", must="be Ã or (Ã, ã₀)", but=f"there are {len(pair)} functions"
                )
            kinematics = tuple(pair)
        function = map_ if basis is None else basis
        return cls(coordinates, velocities, function, basis is not None, kinematics)

    def lift(
        self, model: TracedModel, keep: Sequence[str], places: CheckPoints
    ) -> tuple[Lift, tuple[str, ...], tuple[str, ...], Partition | None]:
        """The lift, names of the independent coordinates and velocities, and the partition."""
        own_q, own_v = model.definition.coordinates, model.definition.velocities
        if self.coordinates is not None:
            assert self.function is not None
            names = self.velocities or tuple(f"{name}_dot" for name in self.coordinates)
            lift = coordinate_lift(
                model, len(self.coordinates), self.function, self.kinematics, len(names)
            )
            return lift, self.coordinates, names, None
        if self.function is not None:
            assert self.velocities is not None
            count = len(self.velocities)
            if self.tangent:
                lift = self._basis_lift(model, count, keep, places)
            else:
                lift = velocity_lift(model, count, self.function)
            return lift, own_q, self.velocities, None
        numbers = linear_rows(model, keep)
        A, M = places.rows(numbers)
        partition = Partition.at(A, M, numbers, own_v, self.velocities)
        lift = partition_lift(model, partition)
        return lift, own_q, tuple(own_v[j] for j in partition.independent), partition

    def _basis_lift(
        self, model: TracedModel, count: int, keep: Sequence[str], places: CheckPoints
    ) -> Lift:
        import casadi as ca

        assert self.function is not None
        numbers = linear_rows(model, keep)
        A, M = places.rows(numbers)
        rank = RowGeometry.of(A).rank
        chosen = leading_columns(A.T, rank)
        rates = rates_of_rows(model)
        rows = ca.vertcat(ca.SX(0, 1), *(rates[numbers[i]] for i in chosen))
        definite = bool(mass_spectrum(M).rank == len(M))
        return basis_lift(model, count, self.function, rows, mass=definite)


def reduce(
    request: ReductionRequest, places: CheckPoints, keep: Sequence[str]
) -> tuple[Reduction, Partition | None]:
    """The reduced model of a system, and the partition if the choice was among its velocities."""
    model = places.system.model
    lift, coordinates, velocities, partition = request.lift(model, keep, places)
    new = request.coordinates is not None
    samples = places.samples(coordinates, len(velocities), new=new)
    if partition is not None:  # what cannot be solved for velocities stays
        solved = {model.row_names[i] for i in linear_rows(model, keep)}
        groups = model.groups.items()
        keep = [*keep, *(n for n, rows in groups if model.row_names[rows[0]] not in solved)]
    return reduce_model(lift, coordinates, velocities, keep, samples), partition
