"""The equations of a system in closed form, as SymPy expressions.

`derive` turns the traced terms into SymPy (`convert`), brings them to a normal form (`algebra`),
eliminates (`motion`) and chooses the shortest forms (`present`). What comes out is compared with
the system's numbers at sampled states.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.states import refuse_pair, state_arrays
from zwang.closed_form.budget import SECONDS, Budget, DerivationProgress
from zwang.closed_form.decimals import with_decimals
from zwang.closed_form.names import SymbolNames, name_all
from zwang.display import Displayed
from zwang.errors import InputError, MissingExtraError, NotApplicableError, UnknownNameError

if TYPE_CHECKING:
    import sympy as sp

    from zwang.closed_form.samples import Numerical
    from zwang.terms import FloatArray
    from zwang.tracing.traced_model import TracedModel

__all__ = ["LIMIT", "ClosedForm", "derive"]

#: Number of terms an expression may have while equations are solved.
LIMIT = 500
#: Relative difference between a closed form and the system's own numbers that rounding explains.
CHECK_TOLERANCE = 1e-6
CHECK_DIGITS = 60

#: Characters in a line of a note.
NOTE_WIDTH = 80
TERMS = ("M", "Q", "A", "b", "C", "N", "n0")
MOTION = ("acceleration", "constraint_force", "multipliers")
#: What notes have that is no text of LaTeX.
_IN_MATH = {"−π/2": r"$-\pi/2$", "π/2": r"$\pi/2$", "π": r"$\pi$", "−": "$-$"}
_LATEX = {"n0": "n_0", "constraint_force": "Q_c"}


@dataclass(frozen=True, repr=False)
class ClosedForm(Displayed):
    """Terms and motion of a system as SymPy matrices.

    Attributes
    ----------
    M, Q, A, b, C : the terms of M v̇ = Q + Aᵀλ + C and A v̇ = b.
    N, n0 : the kinematics q̇ = N v + n₀.
    names : the symbols they are written with.
    parameters : name of a parameter's symbol → default value.
    notes : sentences on anything a reader must know.
    """

    M: sp.ImmutableDenseMatrix
    Q: sp.ImmutableDenseMatrix
    A: sp.ImmutableDenseMatrix
    b: sp.ImmutableDenseMatrix
    C: sp.ImmutableDenseMatrix
    N: sp.ImmutableDenseMatrix
    n0: sp.ImmutableDenseMatrix
    names: SymbolNames
    parameters: Mapping[str, float]
    notes: tuple[str, ...] = ()
    _motion: Mapping[str, sp.ImmutableDenseMatrix] = field(default_factory=dict, repr=False)

    # --- quantities -------------------------------------------------------------------------------

    @property
    def acceleration(self) -> sp.ImmutableDenseMatrix:
        """v̇, shape (n, 1)."""
        return self["acceleration"]

    @property
    def constraint_force(self) -> sp.ImmutableDenseMatrix:
        """Q_c = Aᵀλ + C, shape (n, 1)."""
        return self["constraint_force"]

    @property
    def multipliers(self) -> sp.ImmutableDenseMatrix:
        """λ, shape (m, 1)."""
        return self["multipliers"]

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of what there is, for `latex`, `at` and square brackets."""
        return (*TERMS, *self._motion)

    def __getitem__(self, name: str) -> sp.ImmutableDenseMatrix:
        if name in MOTION and name not in self._motion:
            raise NotApplicableError(
                name,
                but="is not available, as the terms were not solved",
                advice="Omit solve=False in derive.",
            )
        if name not in self.quantities:
            raise UnknownNameError("quantity", name, self.quantities)
        return self._motion[name] if name in self._motion else getattr(self, name)

    # --- reading ----------------------------------------------------------------------------------

    def equations(self, *, solved: bool = False) -> list[Any]:
        """The equations of motion, one `sympy.Eq` each.

        First q̇ = N v + n₀ where velocities are not the coordinates' own; then M v̇ = Q + Aᵀλ + C
        and A v̇ = b, or what they are solved to: v̇ = … and λ = ….
        """
        import sympy as sp

        n = self.names
        a, lam = sp.Matrix(n.accelerations), sp.Matrix(n.multipliers)
        pairs: list[tuple[Any, Any]] = []
        kinematics = (self.N * sp.Matrix(n.velocities) + self.n0).flat()
        pairs += [(x, e) for x, e in zip(n.rates, kinematics, strict=True) if x != e]
        if solved:
            solution = self.acceleration.flat() + self.multipliers.flat()
            pairs += zip(a.flat() + lam.flat(), solution, strict=True)
        else:
            force = self.Q + self.C
            if len(lam):
                force = force + self.A.T * lam
            pairs += zip((self.M * a).flat(), force.flat(), strict=True)
            pairs += zip((self.A * a).flat(), self.b.flat(), strict=True)
        return [sp.Eq(left, right, evaluate=False) for left, right in pairs]

    def latex(self, quantity: str | None = None, *, notes: bool = True) -> str:
        """LaTeX of one quantity, or of all as an ``aligned`` block.

        Accelerations and multipliers have a line each, and notes stand at the end. Where a
        parameter is called like a matrix, M for example, matrices are bold.

        Parameters
        ----------
        quantity : its name, or None for all.
        notes : False leaves them out.
        """
        if quantity is not None:
            return self._latex(self[quantity])
        clash = {self._latex(s) for s in self._letters()} & {*TERMS, "n_0", "Q_c"}
        lines = []
        left_out = {"C", "N", "n0"} | (set() if len(self["A"]) else {"constraint_force"})
        for name in self.quantities:
            value = self[name]
            trivial = value.is_Identity if name == "N" else value.is_zero_matrix
            if not len(value) or (trivial and name in left_out):
                continue
            if name in ("acceleration", "multipliers"):
                own = getattr(self.names, f"{name}s" if name == "acceleration" else name)
                lines += [
                    f"{self._latex(left)} &= {self._latex(right)}"
                    for left, right in zip(own, value.flat(), strict=True)
                ]
                continue
            label = _LATEX.get(name, name)
            label = rf"\mathbf{{{label[:1]}}}{label[1:]}" if clash else label
            lines.append(f"{label} &= {self._latex(value)}")
        told = self.notes if notes else ()
        lines += [rf"&\text{{{part}}}" for note in told for part in self._latex_lines(note)]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _latex(self, e: Any) -> str:
        import sympy as sp

        return sp.latex(e, symbol_names=dict(self.names.latex), mat_delim="[")

    def _latex_lines(self, note: str) -> list[str]:
        """A sentence as text of LaTeX, in lines that fit a page; coordinates as in formulas."""
        symbols = {s.name: s for s in (*self.names.coordinates, *self.names.velocities)}

        def word(found: re.Match[str]) -> str:
            text = found[0]
            if text in symbols and "_" in text:  # others may be words or axes
                return f"${self._latex(symbols[text])}$".replace(" ", "~")
            if text in _IN_MATH:
                return _IN_MATH[text]
            return re.sub(r"([_&%#${}])", r"\\\1", text)

        plain = re.sub(r"−?π/2|\w+|\W", word, note)
        return textwrap.wrap(f"Note: {plain}.", NOTE_WIDTH, break_on_hyphens=False)

    def _letters(self) -> set[Any]:
        """All symbols in use."""
        return {s for name in self.quantities for s in self[name].free_symbols}

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:  # notebooks typeset what stands between dollars
        return escape(self._repr_latex_())

    def __str__(self) -> str:
        equations = self.equations(solved=bool(self._motion))
        lines = [f"{e.lhs} = {e.rhs}" for e in equations]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    # --- numbers ----------------------------------------------------------------------------------

    def at(
        self,
        quantity: str,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, float] | None = None,
    ) -> FloatArray:
        """A quantity as numbers, to compare with `System.terms` and `System.solve`.

        Parameters
        ----------
        quantity : its name, one of `quantities`.
        q, v, t : one state or many, (…, nq), (…, nv), (…), or a `State` in place of all three; v is
            zero by default.
        parameters : name of a symbol → value in place of the default.

        Returns
        -------
        Array : shape (…, rows, columns), or (…, rows) for a vector.
        """
        if v is None:
            refuse_pair(q, f"at({quantity!r}")
        coordinates = tuple(s.name for s in self.names.coordinates)
        velocities = tuple(s.name for s in self.names.velocities)
        q, v, t = state_arrays(q, v, t, coordinates, velocities)
        values: dict[str, Any] = {s.name: q[..., k] for k, s in enumerate(self.names.coordinates)}
        values |= {s.name: v[..., k] for k, s in enumerate(self.names.velocities)}
        values[self.names.time.name] = t
        for name in parameters or {}:
            if name not in self.parameters:
                raise UnknownNameError("parameter", name, self.parameters)
        values |= {**self.parameters, **(parameters or {})}
        return _evaluated(self[quantity], values)


def _evaluated(matrix: Any, values: Mapping[str, Any]) -> FloatArray:
    """A matrix of expressions with arrays in place of symbols."""
    import sympy as sp

    symbols = sorted(matrix.free_symbols, key=lambda s: s.name)
    missing = [s.name for s in symbols if s.name not in values]
    if missing:
        raise InputError(
            "closed form",
            must="have a number for every symbol",
            but=f"has no value for {', '.join(missing)}",
        )
    function = sp.lambdify(symbols, matrix.flat(), ["scipy", "numpy"], cse=True)
    entries = function(*(values[s.name] for s in symbols))
    shape = np.broadcast_shapes(*(np.shape(x) for x in values.values()))
    flat = [np.broadcast_to(np.asarray(e, dtype=float), shape) for e in entries]
    columns = () if matrix.cols == 1 else (matrix.cols,)
    stacked = np.stack(flat, axis=-1) if flat else np.zeros((*shape, 0))
    return stacked.reshape(*shape, matrix.rows, *columns)


def derive(
    system: Numerical,
    model: TracedModel,
    *,
    simplify: bool = True,
    solve: bool = True,
    use_constraints: bool = False,
    parameters: Mapping[str, Any] | None = None,
    limit: int = LIMIT,
    seconds: float = SECONDS,
    report: Callable[[DerivationProgress], Any] | None = None,
    notes: Sequence[str] = (),
    of_drivers: bool = False,
    acute: Sequence[str] = (),
    owned: Mapping[str, tuple[str, str]] | None = None,
) -> ClosedForm:
    """The closed form of a system; see `zwang.System.derive`.

    Parameters
    ----------
    notes : sentences that stand before those on the solution.
    of_drivers : whether sin(q − f) = 0 is that of a driver, which means q = f.
    acute : angles between −π/2 and π/2.
    owned : coordinate or velocity → its letter, and what it belongs to.
    """
    try:
        import sympy as sp
    except ImportError as error:
        raise MissingExtraError("closed forms", "sympy", "symbolic") from error
    from zwang.closed_form.derivation import Derivation
    from zwang.closed_form.samples import sampled

    names = name_all(model.definition, model.row_names, parameters, owned)
    motion: dict[str, Any] = {}
    with Budget(seconds, report) as budget:
        derivation = Derivation(
            model,
            names,
            budget,
            simplify=simplify,
            use_constraints=use_constraints,
            of_drivers=of_drivers,
            positive=[sp.cos(sp.Symbol(name)) for name in acute],
        )
        if solve:
            samples = sampled(
                system,
                names,
                acute,
                model.unit,
                anywhere=not use_constraints,
                driven=derivation.driven.positions,
            )
            found, more = derivation.motion(samples, limit)
            notes = (*notes, *more)
            motion = {name: _readable(x) for name, x in found.items()}
            _check("acceleration", motion["acceleration"], samples.values, samples.acceleration)
            _check("constraint_force", motion["constraint_force"], samples.values, samples.force)
        terms: dict[str, Any] = {name: _readable(x) for name, x in derivation.terms(TERMS).items()}
    return ClosedForm(
        **terms,
        names=names,
        parameters=names.defaults(model.definition),
        notes=tuple(notes),
        _motion=motion,
    )


def _readable(matrix: Any) -> Any:
    import sympy as sp

    return sp.ImmutableDenseMatrix(matrix.applyfunc(with_decimals))


def _check(name: str, matrix: Any, values: Mapping[str, FloatArray], expected: FloatArray) -> None:
    """Refuse a closed form that disagrees with the system's own numbers."""
    import mpmath
    import sympy as sp

    symbols = sorted(matrix.free_symbols, key=lambda s: s.name)
    function = sp.lambdify(symbols, matrix.flat(), "mpmath", cse=True)
    with mpmath.workdps(CHECK_DIGITS):  # long expressions may lose many digits
        found = [
            [float(x) for x in function(*(mpmath.mpf(float(values[s.name][k])) for s in symbols))]
            for k in range(len(expected))
        ]
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    difference = float(np.abs(np.array(found) - expected).max(initial=0.0)) / size
    if not difference <= CHECK_TOLERANCE:
        raise NotApplicableError(
            f"closed form of the {name.replace('_', ' ')}",
            must="agree with the numerical terms to rounding",
            but=f"differs by {difference:.1e}, relative, at a sampled state",
            advice="Use derive(solve=False) for the terms alone, and please report the system.",
        )
