"""The contract of equations: what other parts may ask of a system, with numbers put in.

    names ─► arguments (checked arrays) ─► terms, residuals, energies at states

| equations | are evaluated |
| --- | --- |
| `equations.expression.ExpressionEquations` | as one traced expression |
| `equations.mechanism.MechanismExpression` | the same, of a mechanism |
| `equations.elements.ElementEquations` | element by element, of a large mechanism |

`zwang.System` has equations, and is what users do with them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.arguments.states import Parameters, state_arrays
from zwang.caching import computed_once
from zwang.diagnosis.explain import Explanation, explain_terms
from zwang.diagnosis.passport import Groups, Passport, passport_terms
from zwang.errors import InputError
from zwang.programs.cache import ProgramCache
from zwang.solvers.dense import FORMULATIONS, solve_terms
from zwang.solvers.solution import Solution
from zwang.state import Residuals
from zwang.terms import EquationTerms, FloatArray, finite
from zwang.tracing.non_finite import culprit
from zwang.tracing.rhs_rounding import rhs_rounding
from zwang.tracing.traced_model import Definition, TracedModel

if TYPE_CHECKING:
    from zwang.equations.elements import ElementEquations
    from zwang.equations.mechanism import MechanismEquations
    from zwang.multibody.frozen import Parts
    from zwang.tracing.differentiate import Symbols
    from zwang.tracing.evaluator import Evaluator
    from zwang.tracing.open_laws import OpenLaws
    from zwang.tracing.switches import TimeSwitch

__all__ = ["Equations", "SolveRequest"]


class SolveRequest(NamedTuple):
    """How accelerations are asked for, besides the state.

    Attributes
    ----------
    formulation : ``"auto"`` or one of `Equations.formulations`.
    family : where accelerations are not unique, whether all of them are returned.
    shift : added to the right sides of the constraints, shape (…, m).
    """

    formulation: str = "auto"
    family: bool = False
    shift: FloatArray | None = None


class Equations(ABC):
    """Names, terms and residuals; what ends in ``_at`` takes arrays as `arguments` returns them.

    Parameters
    ----------
    definition : what the system was described by.

    Attributes
    ----------
    coordinates, velocities, constraints : names of q, of v, and of the constraints.
    cache : programs, and what else is made of these equations once.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.coordinates: tuple[str, ...] = definition.coordinates
        self.velocities: tuple[str, ...] = definition.velocities
        self.constraints: tuple[str, ...] = tuple(definition.constraints)
        self.cache = ProgramCache()

    @property
    def jumps(self) -> bool:
        """Whether forces or constraints are switched by comparisons, so that v̇ can jump."""
        return False

    @property
    def time_switches(self) -> tuple[TimeSwitch, ...]:
        """Functions of time and parameters alone by which forces or constraints switch."""
        return ()

    # --- names and sizes --------------------------------------------------------------------------

    @property
    @abstractmethod
    def levels(self) -> dict[str, str]:
        """Constraint name → position, velocity or acceleration, as found; or several of these."""

    @property
    @abstractmethod
    def groups(self) -> dict[str, list[int]]:
        """Constraint name → its row numbers in A."""

    @computed_once
    def row_names(self) -> tuple[str, ...]:
        """``rod`` for a single row, ``pin[0]``, ``pin[1]`` for several."""
        names: list[str] = []
        for name, rows in self.groups.items():
            names += [name] if len(rows) == 1 else [f"{name}[{k}]" for k in range(len(rows))]
        return tuple(names)

    def row_levels(self) -> list[str]:
        """Position, velocity or acceleration, for each row of A."""
        return list(self._row_levels)

    @computed_once
    @abstractmethod
    def _row_levels(self) -> list[str]: ...

    @computed_once
    def residual_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the rows that have residuals of position, and of velocity."""
        names = list(zip(self.row_names, self.row_levels(), strict=True))
        return (
            tuple(name for name, level in names if level == "position"),
            tuple(name for name, level in names if level != "acceleration"),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Default values of the parameters."""
        return {
            name: value if isinstance(value, float) else value.copy()
            for name, value in self._parameters.by_name().items()
        }

    def parameter_values(self, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All parameters by name, defaults replaced by the given values."""
        return self._parameters.by_name(self._with_geometry(parameters))

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array, defaults replaced by the given values."""
        return self._parameters.vector(self._with_geometry(parameters))

    def _with_geometry(self, parameters: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Parameters with the numbers that follow from those of geometry."""
        geometry = self.definition.geometry
        if geometry is None or not isinstance(parameters, Mapping) or not parameters:
            return parameters
        if self._parameters.are_defaults(parameters):
            return parameters
        decisive = {*geometry.names, *geometry.derived}
        return geometry.expanded(parameters) if decisive & parameters.keys() else parameters

    def free_parameter(self, name: str) -> bool:
        """Whether a parameter may be any finite number, from which no other follows."""
        geometry, copied = self.definition.geometry, self.definition.copied
        if geometry is not None and (name in geometry.names or name in geometry.derived):
            return False
        if name in copied or name in copied.values():
            return False
        return name in self.definition.parameters

    def consistent_parameters(self, p: FloatArray) -> FloatArray:
        """The flat array p with the numbers that follow from its parameters of geometry."""
        geometry = self.definition.geometry
        if geometry is None:
            return self._parameters.changed(p, {})
        return self._parameters.changed(
            p, geometry.expanded({name: self._parameters.of(p, name) for name in geometry.names})
        )

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded: its own, or that of the vector it belongs to."""
        return np.abs(p)

    @computed_once
    def _parameters(self) -> Parameters:
        return Parameters(self.definition.parameters, self.definition.copied)

    def arguments(
        self, q: Any, v: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Checked arrays q (…, nq), v (…, nv), t (…) and p of whatever may be given for them."""
        state = state_arrays(q, v, t, self.coordinates, self.velocities)
        return *state, self.parameter_vector(parameters)

    # --- what kind of equations they are ----------------------------------------------------------

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names that `solve` and `simulate` take for ``formulation``, besides ``"auto"``."""
        return tuple(FORMULATIONS)

    @computed_once
    @abstractmethod
    def opaque(self) -> tuple[str, ...]:
        """Names of the functions that are called numerically, see `zwang.opaque`."""

    @property
    @abstractmethod
    def reaction_dependent(self) -> bool:
        """Whether a non-ideal law depends on its reaction."""

    @property
    def rows_independent(self) -> bool:
        """Whether no constraint can ever depend on others; of functions that is not known."""
        return False

    @property
    def mechanism(self) -> Parts | None:
        """Bodies, joints and forces as data; functions have none."""
        return None

    @property
    def body_starts(self) -> Sequence[int]:
        """Where the velocities of each body begin, and the end; empty where they are of none."""
        return ()

    @property
    def of_bodies(self) -> MechanismEquations | None:
        """These, if they are those of a mechanism in the coordinates of its bodies."""
        return None

    @property
    def driver_names(self) -> tuple[str, ...]:
        """Names of the constraints that prescribe motion, of a mechanism."""
        bodies = self.of_bodies
        elements = () if bodies is None else bodies.parts.constraints
        return tuple(element.name for element in elements if element.law.what == "driver")

    @property
    def by_elements(self) -> ElementEquations | None:
        """These, if they are evaluated element by element."""
        return None

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray] | None:
        """The q and v that a mechanism was described at; functions have none."""
        return None

    # --- one expression ---------------------------------------------------------------------------

    @computed_once
    @abstractmethod
    def model(self) -> TracedModel:
        """All terms as one traced expression; of a large mechanism slow to make, seldom needed."""

    @computed_once
    def symbols(self) -> Symbols:
        """The symbols that further functions of the state are traced with, events for one."""
        return self.model.state

    @computed_once
    def evaluator(self) -> Evaluator:
        """The compiled kernels of the model, made on first use."""
        from zwang.tracing.evaluator import Evaluator

        return Evaluator(self.model)

    def evaluated(
        self, name: str, outputs: Callable[[TracedModel], Mapping[str, Any]], *arguments: FloatArray
    ) -> list[FloatArray]:
        """Outputs of the model for what `arguments` returns, by a kernel that is compiled once.

        Values that are not finite are refused, with the name of the function that gives them.
        """
        values = self.evaluator(name, outputs, *arguments)
        for k, value in enumerate(values):
            if not finite(value):
                output = list(outputs(self.model))[k]
                raise InputError(
                    culprit(self.model, output, value, arguments[0].ndim - 1),
                    must="be finite",
                    but="has a value that is not finite at this state",
                    advice="Look for a division by zero, a root or a logarithm of the coordinates.",
                )
        return values

    def position_rate_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """q̇ = N v + n₀, shape (…, nq)."""
        return self.evaluated("kinematics", lambda m: {"q_dot": m.state.q_dot}, q, v, t, p)[0]

    # --- terms and motion at a state --------------------------------------------------------------

    @abstractmethod
    def ideal_terms_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """M, Q, A, b, with C = 0 even if laws are given."""

    def terms_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> EquationTerms:
        """M, Q, A, b, C."""
        return self._with_nonideal(self.ideal_terms_at(q, v, t, p), q, v, t, p)

    @abstractmethod
    def _with_nonideal(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """Ideal terms with the forces C of non-ideal constraints."""

    @abstractmethod
    def _right_sides(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """b alone."""

    def _with_rounding(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """Terms that know the rounding in b, where rows may depend on each other."""
        if self.rows_independent or not terms.constraint_count:
            return terms
        M = terms.mass_matrix  # sparse of large mechanisms, at one state
        inertia = M.diagonal(axis1=-2, axis2=-1) if isinstance(M, np.ndarray) else M.diagonal()
        found = rhs_rounding(
            lambda shifted: self._right_sides(q, shifted, t, p), inertia, v, terms.constraint_rhs
        )
        return replace(terms, rhs_rounding=found)

    def solve_at(
        self,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        p: FloatArray,
        *,
        formulation: str = "auto",
        family: bool = False,
        shift: FloatArray | None = None,
    ) -> Solution:
        """Acceleration, constraint force and multipliers; `SolveRequest` lists the choices."""
        return self._solved(q, v, t, p, SolveRequest(formulation, family, shift))

    def _solved(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, request: SolveRequest
    ) -> Solution:
        """What `solve_at` returns, of equations of this kind."""
        terms = self.terms_at(q, v, t, p)
        if request.shift is not None:
            terms = replace(terms, constraint_rhs=terms.constraint_rhs + request.shift)
        return solve_terms(terms, formulation=request.formulation, family=request.family)

    def explain_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> Explanation:
        """Degrees of freedom, dependent groups and contradictions, by name.

        Of the ideal system: where it has no unique motion, a law of the reaction has no meaning.
        """
        return explain_terms(self.ideal_terms_at(q, v, t, p))

    def passport_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, groups: Groups | None
    ) -> Passport:
        """Which reactions are determinate, of the constraints or of groups of them."""
        terms = self.terms_at(q, v, t, p)
        return passport_terms(terms, groups=self.groups if groups is None else groups)

    def after_impulse(
        self,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        p: FloatArray,
        normal: FloatArray,
        change: float,
    ) -> FloatArray:
        """Velocities after an impulse along `normal` that changes normal·v by `change`.

        Constraints that hold velocities go on to hold them; see `zwang.integrators.events`.
        """
        from zwang.integrators.events import along

        direction, mass = self._impulse_response(q, v, t, p, normal)
        return along(direction, normal, v, change, mass)

    @abstractmethod
    def _impulse_response(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, normal: FloatArray
    ) -> tuple[FloatArray, float]:
        """What an impulse along `normal` does to the velocities, and a mean mass."""

    @abstractmethod
    def energy_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[FloatArray, FloatArray | None]:
        """Kinetic and potential energy (None when no potential was given), shape (…)."""

    # --- refusals ---------------------------------------------------------------------------------

    @abstractmethod
    def mass_is_singular(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> bool:
        """Whether M is singular at one state; one that is not symmetric is refused."""

    @computed_once
    @abstractmethod
    def mass_is_constant(self) -> bool:
        """Whether M depends on parameters alone."""

    @abstractmethod
    def require_law(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> OpenLaws:
        """Refuse a state at which a law of the reaction has no solution, or several.

        What is returned is that of `open_laws_at`.
        """

    @abstractmethod
    def open_laws_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> OpenLaws:
        """Which laws use a reaction that is not determinate, without a search for solutions."""

    @abstractmethod
    def require_unique(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse a state whose acceleration is not determined, by name; for one state."""

    @abstractmethod
    def require_agreement(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse constraints that contradict each other about accelerations, by name."""

    @abstractmethod
    def agree(self, Y: FloatArray, t: float, P: FloatArray, a: FloatArray) -> np.ndarray:
        """Whether all constraints are met by accelerations (N, nv) that some of them gave.

        Parameters
        ----------
        Y, P : states (N, n) and parameters (N, np), at one time.
        """

    # --- residuals --------------------------------------------------------------------------------

    @abstractmethod
    def residuals_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> Residuals:
        """φ, φ̇ and ψ."""

    @abstractmethod
    def largest_miss(self, y: FloatArray, t: FloatArray, p: FloatArray) -> float:
        """Largest of |φ| and |ψ| at states y (rows, n), times (rows,); infinite if not finite."""

    def largest_misses(self, Y: FloatArray, t: float, P: FloatArray) -> FloatArray:
        """`largest_miss` of each of many states (N, n) with parameters (N, np) at one time."""
        at = np.array([t])
        return np.array([self.largest_miss(Y[i : i + 1], at, P[i]) for i in range(len(Y))])
