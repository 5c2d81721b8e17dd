"""From a traced model to matrices of SymPy expressions: terms, and the motion that follows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zwang.closed_form.algebra import Algebra
from zwang.closed_form.budget import Budget
from zwang.closed_form.convert import to_sympy
from zwang.closed_form.motion import AlgebraMotion, AlgebraTerms, solve
from zwang.closed_form.present import Presenter
from zwang.closed_form.roots import with_short_roots
from zwang.closed_form.substitutions import Driven, driven, known_roots, with_roots
from zwang.diagnosis.wording import listing
from zwang.errors import InputError, NotApplicableError

if TYPE_CHECKING:
    import casadi
    import sympy as sp

    from zwang.closed_form.names import SymbolNames
    from zwang.closed_form.samples import SampledValues
    from zwang.tracing.traced_model import TracedModel

    Matrices = dict[str, sp.MutableDenseMatrix]

__all__ = ["Derivation"]

#: Terms of a constraint that may say outright what a coordinate or a root is.
SHORT = 12


class Derivation:
    """Terms of a model in one algebra.

    Parameters
    ----------
    model : the traced system.
    names : symbols to write it with.
    budget : the time it may take.
    simplify : whether forms are shortened; else they come as traced, or as elimination left them.
    use_constraints : whether φ = 0, φ̇ = 0 and ψ = 0 may be used to shorten the motion.
    of_drivers : whether sin(q − f) = 0 is that of a driver, which means q = f.
    positive : expressions that are their own absolute values.
    """

    def __init__(
        self,
        model: TracedModel,
        names: SymbolNames,
        budget: Budget,
        *,
        simplify: bool,
        use_constraints: bool,
        of_drivers: bool = False,
        positive: Sequence[sp.Expr] = (),
    ) -> None:
        import casadi as ca

        self.model, self.simplify, self._of_drivers = model, simplify, of_drivers
        C, lam = model.C, model.multipliers
        traced = {"M": model.M, "Q": model.Q, "A": model.A, "b": model.b, "C": C}
        traced |= {"N": model.N, "n0": model.n0}
        traced["C_lam"] = ca.jacobian(C, lam)
        traced["C_0"] = ca.substitute(C, lam, ca.SX.zeros(lam.shape))
        self._linear = not ca.depends_on(traced["C_lam"], lam)
        if use_constraints:
            traced |= {"position": model.position_values, "rate": model.rates}
        _require_closed_form(model, traced)
        s = model.state
        inputs = [
            (s.q, names.coordinates),
            (s.v, names.velocities),
            (s.t, [names.time]),
            (s.p, names.flat_parameters),
            (lam, names.multipliers),
        ]
        self._given = with_short_roots(to_sympy(traced, inputs), budget, positive)
        self._budget, self._names = budget, names
        budget.begin(0, sum(len(matrix.flat()) for matrix in self._given.values()))
        given = (e for matrix in self._given.values() for e in matrix.flat())
        self._unit = [[names.coordinates[k] for k in group] for group in model.unit]
        self._algebra = Algebra(given, budget, self._unit)
        self._elements = self._encoded(self._algebra, self._given)
        self._presenter = Presenter(self._algebra)

    def _encoded(self, algebra: Algebra, given: Matrices) -> dict[str, list[Any]]:
        """Elements of an algebra for the entries of matrices."""
        found: dict[str, list[Any]] = {}
        for name, matrix in given.items():
            found[name] = []
            for e in matrix.flat():
                self._budget.step()
                found[name].append(algebra.encode(e))
        return found

    @cached_property
    def _conditions(self) -> list[sp.Expr]:
        """What vanishes on the constraints at the level of positions, if these may be used."""
        short = (x for x in self._elements.get("position", ()) if 0 < len(x.numer) <= SHORT)
        return [self._presenter.expression(x) for x in short]

    @cached_property
    def driven(self) -> Driven:
        """Coordinates that constraints give as functions of time, if these may be used."""
        return driven(self._conditions, self._names)

    def _forms(self) -> list[tuple[Algebra, Matrices, dict[str, list[Any]], list[Any]]]:
        """In which forms terms are solved: algebra, terms, their elements, what else vanishes.

        Where constraints may be used, roots that they give are put in; and in another form the
        coordinates that they give as functions of time.
        """
        names = self._names
        roots, squares = known_roots(self._conditions, {*names.coordinates, *names.velocities})
        forms = [(self._algebra, self._given, self._elements, [])]
        if roots:
            given = {k: m.applyfunc(lambda e: with_roots(e, roots)) for k, m in self._given.items()}
            forms = [self._another(given, squares)]
        if self.driven.values:
            given = {name: m.subs(self.driven.values) for name, m in forms[0][1].items()}
            forms.append(self._another(given, [e.subs(self.driven.values) for e in squares]))
        return forms

    def _another(
        self, given: Matrices, zeros: Sequence[sp.Expr]
    ) -> tuple[Algebra, Matrices, dict[str, list[Any]], list[Any]]:
        every = [*(e for matrix in given.values() for e in matrix.flat()), *zeros]
        algebra = Algebra(every, self._budget, self._unit)
        elements = self._encoded(algebra, given)
        return algebra, given, elements, [algebra.encode(e) for e in zeros]

    def terms(self, names: Sequence[str]) -> dict[str, sp.MutableDenseMatrix]:
        """The named terms, simplified if that was asked for."""
        import sympy as sp

        if not self.simplify:
            return {name: self._given[name] for name in names}
        return {
            name: sp.Matrix(
                *self._given[name].shape,
                [
                    self._presenter.expression(x, given)
                    for x, given in zip(self._elements[name], self._given[name].flat(), strict=True)
                ],
            )
            for name in names
        }

    def motion(
        self, samples: SampledValues, limit: int
    ) -> tuple[dict[str, sp.MutableDenseMatrix], tuple[str, ...]]:
        """Acceleration, constraint force and multipliers, and notes about them."""
        if not self._linear:
            raise NotApplicableError(
                "closed form of the acceleration",
                must="have a force C(q, v, t, p), or one linear in the multipliers",
                but="does not exist for a non-ideal law that is nonlinear in its own reaction",
                advice="Use derive(solve=False) for the terms, with the multipliers as symbols.",
            )
        solved = [self._solved(*form, samples, limit) for form in self._forms()]
        motion, found = solved[0]
        for other, _ in solved[1:]:
            motion = {name: _shorter(matrix, other[name]) for name, matrix in motion.items()}
        notes = self._notes(found.rows, samples.contradicting, least_norm=found.least_norm)
        if motion != solved[0][0] and not self._of_drivers:
            notes += self._chosen_values()
        return motion, notes

    def _chosen_values(self) -> tuple[str, ...]:
        """That one of several values that constraints allow was put in, as sentences."""
        return tuple(
            f"these formulas hold for {q} = {self.driven.values[q]}, and not for other values at "
            "which its constraint, a sine, is zero as well"
            for q in self.driven.of_sines
        )

    def _solved(
        self,
        algebra: Algebra,
        given: Matrices,
        e: dict[str, list[Any]],
        zeros: list[Any],
        samples: SampledValues,
        limit: int,
    ) -> tuple[Matrices, AlgebraMotion]:
        """The motion of terms in one form, as expressions and as elements."""
        import sympy as sp

        def rows(name: str) -> list[list[Any]]:
            height, width = given[name].shape
            return [e[name][i * width : (i + 1) * width] for i in range(height)]

        terms = AlgebraTerms(rows("M"), e["Q"], rows("A"), e["b"], e["C_0"], rows("C_lam"))
        found = solve(terms, samples, algebra, limit)
        zeros = [*(x for name in ("position", "rate") for x in e.get(name, ())), *zeros]
        presenter = Presenter(algebra, zeros)
        form = presenter.expression if self.simplify else presenter.plain
        self._budget.begin(2, 2 * len(found.acceleration) + len(found.multipliers))

        def show(x: Any) -> sp.Expr:
            self._budget.step()
            return form(x)

        motion: Matrices = {
            "acceleration": sp.Matrix([show(x) for x in found.acceleration]),
            "constraint_force": sp.Matrix([show(x) for x in found.force]),
            "multipliers": sp.Matrix(
                len(found.multipliers), 1, [show(x) for x in found.multipliers]
            ),
        }
        return motion, found

    def _notes(
        self, rows: list[int], contradicting: Sequence[str], *, least_norm: bool
    ) -> tuple[str, ...]:
        names = self.model.row_names
        left_out = [name for i, name in enumerate(names) if i not in rows]
        notes = _about_contradiction(contradicting)
        if not left_out:
            return notes
        what = "row follows" if len(left_out) == 1 else "rows follow"
        if {name.partition("[")[0] for name in left_out} & set(contradicting):
            what += ", at the level of accelerations alone,"
        how = (
            "multipliers are the least-norm ones"
            if least_norm
            else "multipliers are those of the other rows, and zero for these"
        )
        return (*notes, f"{what} from the others: {', '.join(left_out)}; {how}")


def _shorter(one: Any, other: Any) -> Any:
    """Of each entry the shorter form, the first of two that are as long."""
    import sympy as sp

    pairs = zip(one.flat(), other.flat(), strict=True)
    return sp.Matrix(*one.shape, [min(pair, key=lambda e: int(e.count_ops())) for pair in pairs])


def _about_contradiction(names: Sequence[str]) -> tuple[str, ...]:
    """That formulas hold for no motion, as a sentence; none where constraints can hold together."""
    if not names:
        return ()
    who = f"{listing(names)} contradict each other" if len(names) > 1 else f"{names[0]} is not met"
    return (f"{who} at all states that were tried: formulas are of accelerations alone",)


def _require_closed_form(model: TracedModel, traced: dict[str, casadi.SX]) -> None:
    """Refuse functions that are called numerically, by name."""
    import casadi as ca

    everything = ca.veccat(*traced.values())
    for call in model.state.calls:
        if ca.depends_on(everything, ca.veccat(call.values, call.jacobian, call.hessian)):
            raise InputError(
                f"opaque function {call.name!r}",
                must="be traceable for a closed form",
                but="is called numerically and has no expression",
                advice="Write it with NumPy functions to derive closed forms.",
            )
