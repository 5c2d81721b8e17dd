"""The equations of a system with numbers put in: what all other parts ask of it.

    names ─► arguments (checked arrays) ─► evaluated (a compiled kernel) ─► terms, residuals

`zwang.System` is this and what users do with it; mechanisms answer the same questions by elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.diagnosis.explain import indefinite_error, not_unique_error
from zwang.errors import InputError, UnknownNameError
from zwang.linalg.rank import DEFAULT_TOLERANCES, own_spectrum
from zwang.linalg.scaling import ScaledTerms
from zwang.programs.cache import ProgramCache
from zwang.solvers.dense import FORMULATIONS, solve_terms
from zwang.solvers.solution import Solution
from zwang.state import Residuals
from zwang.terms import EquationTerms, FloatArray, finite, require_symmetric
from zwang.tracing.arguments import state_arrays
from zwang.tracing.differentiate import depends_on
from zwang.tracing.non_finite import culprit
from zwang.tracing.parameters import Parameters
from zwang.tracing.rhs_rounding import rhs_rounding
from zwang.tracing.traced_model import Definition, TracedModel

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.kernel import Kernel
    from zwang.multibody.frozen import Parts
    from zwang.tracing.differentiate import Symbols
    from zwang.tracing.evaluator import Evaluator

__all__ = ["Equations"]

#: Right sides of dependent rows that miss each other by more than this, relative, contradict.
DISAGREEMENT = 1e-6


class Equations:
    """Names, terms and residuals of a system; what ends in ``_at`` takes arrays as checked.

    Attributes
    ----------
    definition : what the system was described by.
    model : the traced expressions of its terms.
    """

    definition: Definition
    model: TracedModel
    #: What `mass_is_singular` answered last, and to what.
    _last_singular_mass: tuple[Any, bool] | None = None

    @computed_once
    def cache(self) -> ProgramCache:
        """Programs, and what else is made of these equations once."""
        return ProgramCache()

    # --- names and sizes --------------------------------------------------------------------------

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q."""
        return self.definition.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of v."""
        return self.definition.velocities

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return tuple(self.definition.constraints)

    @property
    def levels(self) -> dict[str, str]:
        """Constraint name → position, velocity or acceleration, as found; or several of these."""
        return self.model.levels

    @property
    def groups(self) -> dict[str, list[int]]:
        """Constraint name → its row numbers in A."""
        return self.model.groups

    @computed_once
    def row_names(self) -> tuple[str, ...]:
        """``rod`` for a single row, ``pin[0]``, ``pin[1]`` for several."""
        return self.model.row_names

    def row_levels(self) -> list[str]:
        """Position, velocity or acceleration, for each row of A."""
        return list(self._row_levels)

    @computed_once
    def _row_levels(self) -> list[str]:
        return [b.level for b in self.model.blocks.values() for _ in range(b.A.shape[0])]

    @property
    def parameters(self) -> dict[str, Any]:
        """Default values of the parameters."""
        return {
            name: value if isinstance(value, float) else value.copy()
            for name, value in self._parameters.by_name().items()
        }

    def parameter_values(self, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All parameters by name, defaults replaced by the given values."""
        return self._parameters.by_name(parameters)

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array, defaults replaced by the given values."""
        return self._parameters.vector(parameters)

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded: its own, or that of the vector it belongs to."""
        return np.abs(p)

    @computed_once
    def _parameters(self) -> Parameters:
        return Parameters(self.definition.parameters)

    # --- what kind of system it is ----------------------------------------------------------------

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names that `solve` and `simulate` take for ``formulation``, besides ``"auto"``."""
        return tuple(FORMULATIONS)

    @property
    def opaque(self) -> tuple[str, ...]:
        """Names of the functions that are called numerically, see `zwang.opaque`."""
        return self.model.opaque

    @property
    def reaction_dependent(self) -> bool:
        """Whether a non-ideal law depends on its reaction."""
        return self.model.reaction_dependent

    @property
    def rows_independent(self) -> bool:
        """Whether no constraint can ever depend on others; of functions that is not known."""
        return False

    @property
    def mechanism(self) -> Parts | None:
        """Bodies, joints and forces as data; functions have none."""
        return None

    @property
    def by_blocks(self) -> bool:
        """Whether equations are not written down as a whole."""
        return False

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray] | None:
        """The q and v that a mechanism was described at; functions have none."""
        return None

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of what a run gives besides coordinates and velocities; see `MechanismSystem`."""
        return ()

    def channel(self, name: str) -> tuple[casadi.SX, bool]:
        """A channel as (value, rate) or (sin, cos, rate), and whether the rate is meant."""
        raise UnknownNameError("channel", name, self.channels)

    @computed_once
    def symbols(self) -> Symbols:
        """The symbols that further functions of the state are traced with, events for one."""
        return self.model.state

    # --- numbers in -------------------------------------------------------------------------------

    def arguments(
        self, q: Any, v: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Checked arrays q (…, nq), v (…, nv), t (…) and p of whatever may be given for them."""
        state = state_arrays(q, v, t, self.coordinates, self.velocities)
        return *state, self.parameter_vector(parameters)

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
                    found="a value that is not finite at this state",
                    expected="finite numbers",
                    advice="Look for a division by zero, a root or a logarithm of the coordinates.",
                )
        return values

    # --- terms and motion at a state --------------------------------------------------------------

    def terms_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> EquationTerms:
        """`terms` for what `arguments` returns."""
        return self._with_nonideal(self.ideal_terms_at(q, v, t, p), q, v, t, p)

    def ideal_terms_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """`ideal_terms` for what `arguments` returns."""
        M, Q, A, b = self.evaluated("terms", _terms, q, v, t, p)
        nv = len(self.velocities)
        # A matrix of one column comes back as a vector.
        M, A = M.reshape(*q.shape[:-1], nv, nv), A.reshape(*q.shape[:-1], -1, nv)
        columns = self.coordinates if self.definition.kinematics is None else self.velocities
        terms = EquationTerms.of(M, Q, A, b, names=self.row_names, coordinates=columns)
        terms = replace(terms, at_state=True)
        if not self.opaque:
            terms = self._with_rounding(terms, q, v, t, p)
        return replace(terms, notes=(*terms.notes, *self._opaque_notes())) if self.opaque else terms

    def _with_rounding(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """Terms that know the rounding in b, where rows may depend on each other."""
        if self.rows_independent or not terms.constraint_count:
            return terms
        found = rhs_rounding(
            lambda shifted: self._right_sides(q, shifted, t, p),
            terms.mass_matrix,
            v,
            terms.constraint_rhs,
        )
        return replace(terms, rhs_rounding=found)

    def _right_sides(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """b alone, by the kernel of all terms."""
        return self.evaluated("terms", _terms, q, v, t, p)[3]

    def _opaque_notes(self) -> list[str]:
        """How functions that are called numerically were differentiated in the terms."""
        parts = []
        for name, report in self.evaluator.opaque_reports("terms").items():
            how = " and ".join(sorted(report.methods))
            error = f", estimated error {report.error:.0e}" if report.error else ""
            parts.append(f"{name} (derivatives by {how}{error})" if how else name)
        return [f"contains functions called numerically: {', '.join(parts)}"] if parts else []

    def _with_nonideal(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        if self.model.ideal:
            return terms
        if self.model.reaction_dependent:
            from zwang.tracing.nonideal import solve_reaction_law

            ideal = solve_terms(terms)  # refuses by name what has no unique motion anyway
            assert ideal.scaled is not None
            return solve_reaction_law(
                self.evaluator, terms, ideal.multipliers, ideal.scaled, q, v, t, p
            )
        (C,) = self.evaluated("nonideal", lambda m: {"C": m.C}, q, v, t, p)
        return terms.with_forces(terms.applied_force, C)

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
        """`solve` for what `arguments` returns.

        Parameters
        ----------
        shift : added to the right sides of the constraints, shape (…, m).
        """
        terms = self.terms_at(q, v, t, p)
        if shift is not None:
            terms = replace(terms, constraint_rhs=terms.constraint_rhs + shift)
        return solve_terms(terms, formulation=formulation, family=family)

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

        direction, mass = self._response(q, v, t, p, normal)
        return along(direction, normal, v, change, mass)

    def _response(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, normal: FloatArray
    ) -> tuple[FloatArray, float]:
        """What an impulse along `normal` does to the velocities, and a mean mass."""
        from zwang.integrators.events import response

        terms = self.ideal_terms_at(q, v, t, p)
        kept = [i for i, level in enumerate(self.row_levels()) if level != "acceleration"]
        M = terms.mass_matrix
        return response(M, terms.constraint_matrix[kept], normal), float(M.diagonal().mean())

    # --- refusals ---------------------------------------------------------------------------------

    def require_law(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse a state at which a law of the reaction has no solution, or several."""
        self.terms_at(q, v, t, p)

    def require_unique(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse a state whose acceleration is not determined, by name; for one state."""
        if not self.mass_is_singular(q, v, t, p):
            return
        terms = self.ideal_terms_at(q, v, t, p)
        try:
            np.linalg.cholesky(terms.mass_matrix)
        except np.linalg.LinAlgError:
            scaled = ScaledTerms.of(terms, DEFAULT_TOLERANCES)
            if scaled.mass.smallest < -DEFAULT_TOLERANCES.definite * max(scaled.mass.largest, 1.0):
                raise indefinite_error(scaled) from None
            if not scaled.unique:
                raise not_unique_error(scaled) from None

    def mass_is_singular(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> bool:
        """Whether M is singular at one state; the last answer is remembered with what it needs.

        One that is not symmetric is refused.
        """
        key = (p.tobytes(), *(() if self.mass_is_constant else (q.tobytes(), float(t))))
        last = self._last_singular_mass
        if last is None or last[0] != key:
            (M,) = self.evaluator("mass", lambda m: {"M": m.M}, q, v, t, p)
            M = M.reshape(len(v), len(v))
            require_symmetric(M)
            rank = own_spectrum(M).rank
            last = self._last_singular_mass = key, bool(rank < len(v))
        return last[1]

    @computed_once
    def mass_is_constant(self) -> bool:
        """Whether M depends on parameters alone."""
        s = self.model.state
        return not any(depends_on(self.model.M, x, s) for x in (s.q, s.t))

    def require_agreement(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse constraints that contradict each other about accelerations, by name."""
        _, _, A, b = self.evaluator("terms", _terms, q, v, t, p)
        A = A.reshape(-1, len(v))
        miss = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
        if np.abs(miss).max(initial=0.0) > DISAGREEMENT * max(1.0, np.abs(b).max(initial=0.0)):
            # This tells the group that contradicts itself.
            solve_terms(self.ideal_terms_at(q, v, t, p))

    def agree(self, Y: FloatArray, t: float, P: FloatArray, a: FloatArray) -> np.ndarray:
        """Whether all constraints are met by accelerations (N, nv) that some of them gave.

        Parameters
        ----------
        Y, P : states (N, n) and parameters (N, np), at one time.
        """
        from zwang.programs.residuals import disagreements

        kernel = self.evaluator.disagreement
        return disagreements(kernel, Y, t, P, a, len(self.coordinates)) <= DISAGREEMENT

    # --- residuals --------------------------------------------------------------------------------

    def residuals_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> Residuals:
        """`residuals` for what `arguments` returns."""
        position, rate = self.evaluated("residuals", _position_and_rates, q, v, t, p)
        return Residuals(position, rate, *self._residual_names)

    def largest_miss(self, y: FloatArray, t: FloatArray, p: FloatArray) -> float:
        """Largest of |φ| and |ψ| at states y (rows, n), times (rows,); infinite if not finite."""
        if not self.opaque:
            return self._largest_miss(y, t, p)
        nq = len(self.coordinates)
        found = self.evaluator("residuals", _position_and_rates, y[:, :nq], y[:, nq:], t, p)
        most = max(float(np.abs(x).max(initial=0.0)) for x in found)
        return most if all(finite(x) for x in found) else np.inf

    @computed_once
    def _largest_miss(self) -> Callable[[FloatArray, FloatArray, FloatArray], float]:
        from zwang.programs.residuals import largest_miss

        return partial(largest_miss, self._misses, len(self.coordinates))

    @computed_once
    def _misses(self) -> Kernel:
        """(q, v, t, p) → (φ, ψ), compiled."""
        return self.evaluator.kernel("residuals", _position_and_rates)

    @computed_once
    def _residual_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the rows that have residuals of position, and of velocity."""
        names = list(zip(self.row_names, self.row_levels(), strict=True))
        return (
            tuple(name for name, level in names if level == "position"),
            tuple(name for name, level in names if level != "acceleration"),
        )


def _terms(model: TracedModel) -> dict[str, Any]:
    """What accelerations of the ideal system are computed from."""
    return {"M": model.M, "Q": model.Q, "A": model.A, "b": model.b}


def _position_and_rates(model: TracedModel) -> dict[str, Any]:
    """What the residuals of a system are computed from."""
    return {"position": model.position_values, "velocity": model.rates}
