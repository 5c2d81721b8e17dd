"""Equations that are one traced expression: terms, residuals and energies by compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.diagnosis.explain import indefinite_error, not_unique_error
from zwang.equations.contract import Equations
from zwang.linalg.rank import DEFAULT_TOLERANCES, own_spectrum
from zwang.linalg.scaling import ScaledTerms
from zwang.solvers.dense import solve_terms
from zwang.state import Residuals
from zwang.terms import EquationTerms, FloatArray, finite, require_symmetric
from zwang.tracing.differentiate import depends_on
from zwang.tracing.open_laws import OpenLaws, open_laws_of
from zwang.tracing.switches import TimeSwitch, expressions_jump, time_switches
from zwang.tracing.traced_model import Definition, TracedModel

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel

__all__ = ["ExpressionEquations"]

#: Right sides of dependent rows that miss each other by more than this, relative, contradict.
DISAGREEMENT = 1e-6


class ExpressionEquations(Equations):
    """Equations as one expression, traced from functions or put together from elements.

    Parameters
    ----------
    definition : what the system was described by.
    write : gives the traced expressions of its terms, when they are first asked for.
    """

    def __init__(self, definition: Definition, write: Callable[[], TracedModel]) -> None:
        super().__init__(definition)
        self._write = write
        #: What `mass_is_singular` answered last, and to what.
        self._last_singular_mass: tuple[Any, bool] | None = None

    @classmethod
    def of_model(cls, model: TracedModel) -> ExpressionEquations:
        """The equations of an expression that is there."""
        return cls(model.definition, lambda: model)

    @computed_once
    def model(self) -> TracedModel:
        """The traced expressions of the terms."""
        return self._write()

    @computed_once
    def _jumps(self) -> bool:
        return expressions_jump(self.model.Q, self.model.b, self.model.C)

    @property
    def jumps(self) -> bool:
        """Whether forces or constraints are switched by comparisons, so that v̇ can jump."""
        return self._jumps

    @computed_once
    def _time_switches(self) -> tuple[TimeSwitch, ...]:
        model, s = self.model, self.model.state
        constraints = [model.position_values, model.rates, model.b]
        return time_switches([model.Q, model.C, *constraints], s.t, s.p)

    @property
    def time_switches(self) -> tuple[TimeSwitch, ...]:
        """Functions of time and parameters alone by which forces or constraints switch."""
        return self._time_switches

    # --- names and kind ---------------------------------------------------------------------------

    @property
    def levels(self) -> dict[str, str]:
        """Constraint name → position, velocity or acceleration, as found; or several of these."""
        return self.model.levels

    @property
    def groups(self) -> dict[str, list[int]]:
        """Constraint name → its row numbers in A."""
        return self.model.groups

    @computed_once
    def _row_levels(self) -> list[str]:
        return [b.level for b in self.model.blocks.values() for _ in range(b.A.shape[0])]

    @computed_once
    def opaque(self) -> tuple[str, ...]:
        """Names of the functions that are called numerically, see `zwang.opaque`."""
        return self.model.opaque

    @property
    def reaction_dependent(self) -> bool:
        """Whether a non-ideal law depends on its reaction."""
        return self.model.reaction_dependent

    # --- terms and motion at a state --------------------------------------------------------------

    def ideal_terms_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """M, Q, A, b, with C = 0 even if laws are given."""
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
            return self._with_reaction_law(terms, q, v, t, p)[0]
        (C,) = self.evaluated("nonideal", lambda m: {"C": m.C}, q, v, t, p)
        return terms.with_forces(terms.applied_force, C)

    def _with_reaction_law(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[EquationTerms, OpenLaws]:
        """Ideal terms with the C that agrees with its reaction, and what the law leaves open."""
        from zwang.tracing.nonideal import solve_reaction_law

        ideal = solve_terms(terms)  # refuses by name what has no unique motion anyway
        assert ideal.scaled is not None
        return solve_reaction_law(
            self.evaluator, terms, ideal.multipliers, ideal.scaled, q, v, t, p
        )

    def _impulse_response(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, normal: FloatArray
    ) -> tuple[FloatArray, float]:
        """What an impulse along `normal` does to the velocities, and a mean mass."""
        from zwang.integrators.events import response

        terms = self.ideal_terms_at(q, v, t, p)
        kept = [i for i, level in enumerate(self.row_levels()) if level != "acceleration"]
        M = terms.mass_matrix
        return response(M, terms.constraint_matrix[kept], normal), float(M.diagonal().mean())

    def energy_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[FloatArray, FloatArray | None]:
        """Kinetic and potential energy (None when no potential was given), shape (…)."""

        def energies(m: TracedModel) -> dict[str, Any]:
            return {"T": m.T} if m.V is None else {"T": m.T, "V": m.V}

        values = [x[..., 0] for x in self.evaluated("energy", energies, q, v, t, p)]
        return values[0], (values[1] if len(values) > 1 else None)

    # --- refusals ---------------------------------------------------------------------------------

    def require_law(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> OpenLaws:
        """Refuse a state at which a law of the reaction has no solution, or several."""
        return self._with_reaction_law(self.ideal_terms_at(q, v, t, p), q, v, t, p)[1]

    def open_laws_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> OpenLaws:
        """Which laws use a reaction that is not determinate, without a search for solutions."""
        from zwang.tracing.nonideal import NonidealLaw

        law = NonidealLaw(self.evaluator, q, v, float(t), p)
        return open_laws_of(law, self.ideal_terms_at(q, v, t, p))

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
        from zwang.programs.at_states import disagreements

        kernel = self.evaluator.disagreement
        return disagreements(kernel, Y, t, P, a, len(self.coordinates)) <= DISAGREEMENT

    # --- residuals --------------------------------------------------------------------------------

    def residuals_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> Residuals:
        """φ, φ̇ and ψ."""
        position, rate = self.evaluated("residuals", _position_and_rates, q, v, t, p)
        return Residuals(position, rate, *self.residual_names)

    def largest_miss(self, y: FloatArray, t: FloatArray, p: FloatArray) -> float:
        """Largest of |φ| and |ψ| at states y (rows, n), times (rows,); infinite if not finite."""
        if not self.opaque:
            return self._largest_miss(y, t, p)
        nq = len(self.coordinates)
        found = self.evaluator("residuals", _position_and_rates, y[:, :nq], y[:, nq:], t, p)
        most = max(float(np.abs(x).max(initial=0.0)) for x in found)
        return most if all(finite(x) for x in found) else np.inf

    def largest_misses(self, Y: FloatArray, t: float, P: FloatArray) -> FloatArray:
        """`largest_miss` of each of many states (N, n) with parameters (N, np) at one time."""
        if self.opaque:
            return super().largest_misses(Y, t, P)
        from zwang.programs.at_states import evaluated

        found = evaluated(self._misses, Y, t, P, len(self.coordinates))
        most = np.max([np.abs(x).max(axis=1, initial=0.0) for x in found], axis=0)
        return np.where(np.isfinite(most), most, np.inf)

    @computed_once
    def _largest_miss(self) -> Callable[[FloatArray, FloatArray, FloatArray], float]:
        from zwang.programs.at_states import largest_miss

        return partial(largest_miss, self._misses, len(self.coordinates))

    @computed_once
    def _misses(self) -> Kernel:
        """(q, v, t, p) → (φ, ψ), compiled."""
        return self.evaluator.kernel("residuals", _position_and_rates)


def _terms(model: TracedModel) -> dict[str, Any]:
    """What accelerations of the ideal system are computed from."""
    return {"M": model.M, "Q": model.Q, "A": model.A, "b": model.b}


def _position_and_rates(model: TracedModel) -> dict[str, Any]:
    """What the residuals of a system are computed from."""
    return {"position": model.position_values, "velocity": model.rates}
