"""What users ask of the equations at a state: terms, accelerations, forces, diagnosis, energies.

What a user calls, written once: `zwang.System` and `zwang.Mechanism` have them all. Each asks the
`Equations` of the system; without a state a mechanism is taken as placed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords_of_methods
from zwang.errors import InputError
from zwang.solvers.dense import solve_terms
from zwang.solvers.solution import Solution

if TYPE_CHECKING:
    from zwang.diagnosis.explain import Explanation
    from zwang.diagnosis.passport import Passport
    from zwang.diagnosis.splits import Splits
    from zwang.equations.contract import Equations
    from zwang.solvers.certify import Certificate
    from zwang.state import Residuals
    from zwang.system import System
    from zwang.terms import EquationTerms, FloatArray

__all__ = ["Evaluations"]


#: A state that misses its constraints by more than this, relative, is not on them; a simulation
#: would refuse to start there.
OFF = 1e-6


def off_constraints(
    equations: Equations, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
) -> str:
    """A sentence on the constraint that a state misses most; empty if it is on all of them.

    Of many states nothing is said: they may be sampled anywhere.
    """
    if q.ndim > 1 or v.ndim > 1 or np.ndim(t) > 0 or p.ndim > 1:
        return ""
    if equations.largest_miss(np.concatenate([q, v])[None], np.reshape(t, 1), p) <= OFF:
        return ""
    found = equations.residuals_at(q, v, t, p)
    levels = (
        ("position", found.position, found.position_names, q),
        ("velocity", found.velocity, found.velocity_names, v),
    )
    for level, values, names, size in levels:
        worst = int(np.argmax(np.abs(values))) if len(values) else 0
        if len(values) and abs(values[worst]) > OFF * max(1.0, float(np.linalg.norm(size))):
            return (
                f"the state misses constraint {names[worst]!r} by {values[worst]:.3g} at the level "
                f"of {level}: assemble(prefer=…) computes one that does not; parameters= must be "
                "those it was computed with"
            )
    return ""


@known_keywords_of_methods
class Evaluations(ABC):
    """Terms, motion, forces, diagnosis and energies at a state, or at many."""

    @abstractmethod
    def _analyzed(self) -> System:
        """The system that is evaluated."""

    def _placed(self, t: Any, parameters: Mapping[str, Any] | None, velocity: Any = None) -> Any:
        """The state that is taken where none is given."""
        del t, parameters, velocity
        raise InputError(
            "q",
            must="be given",
            but="a system of functions has no placement to take in its place",
            advice="system.assemble computes a state that satisfies the constraints.",
        )

    def _at(
        self, q: Any, v: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Checked arrays of what was given, or of the placement."""
        if q is None:
            q = self._placed(t, parameters)
        return self._analyzed().equations.arguments(q, v, t, parameters)

    # --- motion and forces ------------------------------------------------------------------------

    def terms(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> EquationTerms:
        """M, Q, A, b, C at a state, or at many: q (…, nq), v (…, nv), t (…).

        They are the attributes `mass_matrix`, `applied_force`, `constraint_matrix`,
        `constraint_rhs` and `nonideal_force` of the result; `names` has one name for each row of A.
        A non-ideal law that depends on its reaction is solved for it; see `solve`.

        Parameters
        ----------
        q, v, t : the state, or one object in place of all three; v is zero by default. A mechanism
            without q is taken as placed, assembled.
        parameters : values that replace defaults.
        """
        return self._analyzed().equations.terms_at(*self._at(q, v, t, parameters))

    def ideal_terms(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> EquationTerms:
        """M, Q, A, b as by `terms`, with C = 0 even if laws are given."""
        return self._analyzed().equations.ideal_terms_at(*self._at(q, v, t, parameters))

    def solve(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
        formulation: str = "auto",
        family: bool = False,
    ) -> Solution:
        """Acceleration, constraint force and multipliers at a state, or at many.

        A state that misses its constraints, of positions or velocities, is solved as it is; `notes`
        tells by how much. Many states are not checked.

        Parameters
        ----------
        q, v, t : the state, or one object in place of all three; v is zero by default. A mechanism
            without q is taken as placed, assembled.
        parameters : values that replace defaults.
        formulation : ``"auto"`` or one of `System.formulations`.
        family : where accelerations are not unique, return all of them instead of refusing.
        """
        equations, at = self._analyzed().equations, self._at(q, v, t, parameters)
        found = equations.solve_at(*at, formulation=formulation, family=family)
        off = off_constraints(equations, *at)
        return replace(found, notes=(*found.notes, off)) if off else found

    def reaction_solutions(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Solution]:
        """All motions at a state that agree with non-ideal laws which depend on the reaction.

        Usually there is one, that of `solve`. In a Painlevé situation, where `solve` raises
        `PainleveError`, there are none or several; the largest reaction comes first.
        """
        equations = self._analyzed().equations
        q, v, time, p = self._at(q, v, t, parameters)
        if not equations.model.reaction_dependent:
            return [solve_terms(equations.terms_at(q, v, time, p))]
        terms = equations.ideal_terms_at(q, v, time, p)
        if terms.batch_shape:
            raise InputError(
                "q, v, t", found=f"a batch of shape {terms.batch_shape}", expected="one state"
            )
        from zwang.tracing.nonideal import NonidealLaw, agreeing_reactions, reaction_response

        ideal = solve_terms(terms)
        assert ideal.scaled is not None
        reactions = agreeing_reactions(
            NonidealLaw(equations.evaluator, q, v, float(time), p),
            ideal.multipliers,
            reaction_response(ideal.scaled),
            thorough=True,
        )
        return [solve_terms(terms.with_forces(terms.applied_force, C)) for C in reactions.forces]

    def certify(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """The state's terms through all formulations: spread, Gauss residual, error estimate."""
        from zwang.solvers.certify import certify_terms

        return certify_terms(self.terms(q, v, t, parameters=parameters))

    # --- diagnosis --------------------------------------------------------------------------------

    def explain(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Degrees of freedom, dependent groups and contradictions at a state, by name.

        Without a state, one that satisfies the constraints is found by `assemble`. A state that
        misses its constraints, of positions or velocities, is diagnosed as it is: `notes` tells by
        how much, and `on_constraints` is False.
        """
        system = self._analyzed()
        if q is None:
            q = system.assemble(parameters=parameters, t=t)
        at = system.arguments(q, v, t, parameters)
        found, off = system.equations.explain_at(*at), off_constraints(system.equations, *at)
        return replace(found, notes=(*found.notes, off), on_constraints=False) if off else found

    def degrees_of_freedom(
        self,
        q: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> int:
        """How many independent motions the constraints allow at a state; see `explain`."""
        return self.explain(q, None, t, parameters=parameters).degrees_of_freedom

    def passport(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        groups: Mapping[str, Iterable[int | str] | str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Passport:
        """Which reactions are determinate at a state.

        The groups are the named constraints, or joints, of a mechanism; or yours:
        ``{"both": ["left", "right"]}`` asks for what two of them exert together.
        """
        equations, at = self._analyzed().equations, self._at(q, v, t, parameters)
        found, off = equations.passport_at(*at, groups), off_constraints(equations, *at)
        return replace(found, notes=(*found.notes, off)) if off else found

    def splits(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        weights: ArrayLike | None = None,
        compliance: ArrayLike | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Splits:
        """Ways to distribute an indeterminate reaction among the rows; see `zwang.splits`."""
        terms = self.terms(q, v, t, parameters=parameters)
        from zwang.diagnosis.splits import splits_terms

        return splits_terms(terms, weights=weights, compliance=compliance)

    # --- residuals, energies, velocities ----------------------------------------------------------

    def residuals(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Residuals:
        """φ, φ̇ and ψ at a state, or at many."""
        return self._analyzed().equations.residuals_at(*self._at(q, v, t, parameters))

    def energy(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[FloatArray, FloatArray | None]:
        """Kinetic and potential energy (None when no potential was given), shape (…)."""
        return self._analyzed().equations.energy_at(*self._at(q, v, t, parameters))

    def position_rate(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """q̇ = N v + n₀, shape (…, nq)."""
        return self._analyzed().equations.position_rate_at(*self._at(q, v, t, parameters))

    def velocity_from_rate(
        self,
        q: Any,
        position_rate: Any,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """Quasi-velocities from rates of the coordinates, v = B q̇ + b₀, shape (…, nv).

        The inverse of `position_rate` (Blajer 1992, (2.2)): B = N⁻¹ and b₀ = −N⁻¹n₀. With more
        coordinates than velocities, q̇ must be one that some v gives.

        Examples
        --------
        >>> from zwang import library
        >>> disk, q = library.rolling_disk(r=2.0), [0, 0, 0, 0.3, 0.2, 0]
        >>> v = disk.velocity_from_rate(q, disk.position_rate(q, [1, 2, 3, 4, 5, 6]))
        >>> v.round(12)
        array([1., 2., 3., 4., 5., 6.])
        """
        from zwang.tracing.quasi_velocities import velocity_from_rate

        return velocity_from_rate(self._analyzed().equations, q, position_rate, t, parameters)
