"""Linearization about rest or steady motion, in independent coordinates.

The small motions of `zwang.analysis.flow` are restricted to a basis of the states that satisfy the
constraints, which is chosen such that its coordinates z are named displacements and velocities:

    ż = A z + B u,    y = C z + D u
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf, Spaces, spaces_of
from zwang.analysis.flow import MovingFrame, Response, SmallMotions, Tangents
from zwang.analysis.independent import Candidate, CoordinateCandidates, chosen, named
from zwang.analysis.massless import Condensed, condensed
from zwang.analysis.mode_motion import ModeOrigin, still_run
from zwang.analysis.modes import Mode, modes_of
from zwang.analysis.ports import Output, checked_names, driver_rows, input_of, output_of
from zwang.analysis.sticking import slopes_at_rest
from zwang.analysis.time_dependence import ChangesWithTime, changes_with_time
from zwang.arguments.keywords import known_keywords_of_methods
from zwang.caching import computed_once
from zwang.errors import InputError, MissingExtraError, NotApplicableError, shown
from zwang.simulation.state_kinds import displacement_sizes
from zwang.state import State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.system import System
    from zwang.view.static import StaticScene

__all__ = ["Linearization", "linearize", "linearized"]

#: Constraints, rates and forces may be off by this, relative to what acts, at a steady state.
STEADY = 1e-7
#: Entries of A beside its largest that are zero where a second-order form is looked for.
SMALL = 1e-9
#: Largest place in a mechanism [m] below which it tells nothing of its size.
NO_LENGTH = 1e-9
#: Eigenvalues below this share of the largest count as zero: a double zero is known to √ε.
ZERO = 1e-6
#: Eigenvalues along symmetries below this share of the largest entry of A are zero: symmetries that
#: commute have no others, those that do not turn at the rate of the motion.
ORBIT = 1e-4


@known_keywords_of_methods
@dataclass(frozen=True)
class Linearization:
    """Linear equations of small motions about a state.

    Attributes
    ----------
    A, B, C, D : ż = A z + B u, y = C z + D u.
    states : names of z: displacements, then velocities.
    inputs, outputs : names of u and y.
    state : that about which it is.
    infinite : number of infinite eigenvalues, of freedoms without mass.
    displacements, velocities : columns of δπ and δv for a unit of each state, shape (n, f).
    positions : how many states, the first, are displacements.
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state: State
    infinite: int
    displacements: FloatArray = field(repr=False)
    velocities: FloatArray = field(repr=False)
    positions: int = field(repr=False)
    _mass: FloatArray = field(repr=False)
    _N: FloatArray = field(repr=False)
    _orbit: FloatArray = field(repr=False)
    _equations: EquationsOf = field(repr=False)
    _light: Condensed | None = field(repr=False)
    _changes: ChangesWithTime | None = field(repr=False, default=None)

    @computed_once
    def eigenvalues(self) -> FloatArray:
        """Of A, sorted by real and imaginary part, complex, shape (f,)."""
        values = _eigenvalues(self.A, self._orbit).astype(complex)
        return values[np.lexsort((values.imag, values.real.round(12)))]

    @property
    def zero(self) -> int:
        """Number of eigenvalues that are zero, to the accuracy to which multiple ones are known."""
        size = np.abs(self.eigenvalues)
        return int(np.count_nonzero(size <= ZERO * size.max(initial=0.0)))

    @computed_once
    def notes(self) -> tuple[str, ...]:
        """What changes with time, how friction is taken, what eigenvalues are zero or infinite."""
        return (*self.notes_on_time, *self._notes_on_friction(), *_notes(self, self._light))

    def _notes_on_friction(self) -> list[str]:
        """That dry friction is taken as viscous at rest, with the slope of its smooth sign."""
        if np.any(self.state.v):
            return []
        return slopes_at_rest(self._equations, np.asarray(self.state.q))

    @property
    def notes_on_time(self) -> tuple[str, ...]:
        """What changes with time, so that eigenvalues do not tell what grows, as sentences."""
        return () if self._changes is None else tuple(self._changes.notes_on_eigenvalues())

    def modes(self, count: int | None = None) -> list[Mode]:
        """Modes by rising frequency, one for each pair of complex eigenvalues.

        Parameters
        ----------
        count : how many of them, all if not given.
        """
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if count is not None and not (whole and count >= 0):
            raise InputError("count", found=shown(count), expected="a number of modes, 0 or more")
        about = ModeOrigin(self._equations, np.asarray(self.state.q), np.zeros(0))
        found = modes_of(self.A, self.states, self.displacements, self._N, about)
        return found if count is None else found[:count]

    # --- second order -----------------------------------------------------------------------------

    @computed_once
    def _second_order(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M, B, K of M z̈ + B ż + K z = 0, z the first displacements."""
        fq, fv = self.positions, len(self.states) - self.positions
        A_qq, A_qv = self.A[:fv, :fq], self.A[:fv, fq:]
        limit = SMALL * max(1.0, float(np.abs(self.A).max(initial=0.0)))
        rate = np.abs(A_qq).max(initial=0.0) <= limit and fq >= fv
        rate = rate and np.abs(A_qv - np.eye(fv)).max(initial=0.0) <= limit
        across = self.A[fq:, fv:fq]
        if not rate or np.abs(across).max(initial=0.0) > limit:
            raise NotApplicableError(
                "second-order form",
                must="have as many displacements as velocities, M z̈ + B ż + K z = 0",
                but=f"there are {fq} displacements and {fv} velocities that are not their rates"
                if not rate
                else "forces depend on displacements without a velocity of their own",
                advice="Use A, the first-order form.",
            )
        M = self._mass
        return M, -M @ self.A[fq:, fq:], -M @ self.A[fq:, :fv]

    @property
    def mass(self) -> FloatArray:
        """M of M z̈ + B ż + K z = 0, z the displacements that have velocities, shape (f, f)."""
        return self._second_order[0]

    @property
    def damping(self) -> FloatArray:
        """B of it: damping and gyroscopic terms."""
        return self._second_order[1]

    @property
    def stiffness(self) -> FloatArray:
        """K of it, geometric stiffness included."""
        return self._second_order[2]

    # --- responses --------------------------------------------------------------------------------

    def frequency_response(self, frequencies: Any) -> FloatArray:
        """G(iω) = C (iω − A)⁻¹ B + D, complex, shape (nω, outputs, inputs); ω in rad/s."""
        self._require_constant("frequency response")
        try:
            w = np.asarray(frequencies, dtype=float)
        except (TypeError, ValueError):
            w = np.array(np.nan)
        if w.ndim != 1 or not np.isfinite(w).all():
            raise InputError(
                "frequencies",
                expected="a list of finite numbers [rad/s]",
                found=shown(frequencies),
            )
        unit = np.eye(len(self.A))
        found = [self.C @ np.linalg.solve(1j * x * unit - self.A, self.B) + self.D for x in w]
        return np.array(found).reshape(len(w), *self.D.shape)

    def to_control(self) -> Any:
        """The same as a ``control.StateSpace`` of python-control; needs the extra ``control``.

        Without outputs, the states are the outputs: C = I and D = 0.
        """
        self._require_constant("control.StateSpace")
        self._require_ports(outputs=False)
        try:
            ss = import_module("control").ss
        except ImportError:
            raise MissingExtraError("to_control", "control", "control") from None
        C, D, outputs = self.C, self.D, self.outputs
        if not outputs:
            C, D, outputs = np.eye(len(self.A)), np.zeros_like(self.B), self.states
        return ss(
            self.A,
            self.B,
            C,
            D,
            states=[_plain(x) for x in self.states],
            inputs=[_plain(x) for x in self.inputs],
            outputs=[_plain(x) for x in outputs],
        )

    def plot_bode(
        self,
        frequencies: Any = None,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        path: Any = None,
    ) -> Any:
        """Gain [dB] and phase [°] over frequency [Hz], as a Matplotlib figure.

        Parameters
        ----------
        frequencies : [rad/s]; around all eigenvalues if not given.
        inputs, outputs : which of them, all if not given.
        path : a file to write it to.
        """
        from zwang.analysis.plots import bode

        self._require_constant("Bode plot")
        self._require_ports()
        return bode(self, frequencies, inputs, outputs, path)

    def _require_constant(self, what: str) -> None:
        """Refuse what A that depends on time does not have."""
        if self._changes is not None and self._changes.linear_terms_vary:
            raise NotApplicableError(
                what,
                must="be made of small motions that are the same at all times",
                but="A depends on time here",
                advice=self.notes[0],
            )

    def _require_ports(self, *, outputs: bool = True) -> None:
        if not self.inputs or (outputs and not self.outputs):
            what = "inputs" if not self.inputs else "outputs"
            raise InputError(
                f"{what} of the linearization",
                must="be given",
                advice=f"Name them: system.linearize(state, {what}=[…]).",
            )

    def as_run(self) -> Run:
        """The state about which it is, as a run of one state, to be drawn."""
        return still_run(self._equations, np.asarray(self.state.q), "linearized here")

    def show(self, *, count: int | None = None, title: str | None = None) -> StaticScene:
        """The modes of a mechanism in three dimensions, with a slider for the amplitude.

        In a notebook it is shown; ``lin.show().save("modes.html")`` is a file that opens without
        Python.

        Parameters
        ----------
        count : how many modes, those of lowest frequency; all by default.
        title : heading.
        """
        from zwang.view.small_motions import show_modes

        return show_modes(self, count=count, title=title)

    def __str__(self) -> str:
        lines = [f"Linearization with {len(self.states)} states: {', '.join(self.states)}."]
        lines += [f"  {mode}" for mode in self.modes()]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        first = ", ".join(self.states[:4]) + (" …" if len(self.states) > 4 else "")
        return f"<Linearization: {len(self.states)} states ({first})>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def _eigenvalues(A: FloatArray, orbit: FloatArray) -> Any:
    """Eigenvalues of A, those along an invariant subspace apart from the others.

    The zeros of symmetries form blocks in which rounding makes them ε^(1/3) and others inaccurate.
    """
    if not A.size:
        return np.zeros(0)
    U, s, _ = np.linalg.svd(orbit) if orbit.size else (np.eye(len(A)), np.zeros(0), None)
    rank = int(np.count_nonzero(s > 1e-9 * s.max(initial=0.0)))
    along, across = U[:, :rank], U[:, rank:]
    own: Any = np.linalg.eigvals(along.T @ A @ along) if rank else np.zeros(0)
    size = float(np.abs(A).max())
    own = np.where(np.abs(own) < ORBIT * size, 0.0, own)
    rest: Any = np.linalg.eigvals(across.T @ A @ across) if rank < len(A) else np.zeros(0)
    return np.concatenate([own, rest])


def _plain(name: str) -> str:
    """python-control keeps dots and brackets for signals of subsystems."""
    return name.replace(".", "_").replace("[", "_").replace("]", "")


def linearize(
    system: System,
    state: Any,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    independent: Sequence[str] | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Linearization:
    """Small motions about rest; see `zwang.System.linearize`."""
    given = parameters if parameters is not None else getattr(state, "parameters", None)
    q, v, time, _ = system.arguments(state, None, t, given)
    if q.ndim > 1:
        raise InputError(
            "state", expected="one state", found=f"an array of states of shape {q.shape[:-1]}"
        )
    equations = EquationsOf(system, float(time), given)
    moving = np.abs(v).max(initial=0.0)
    if moving > 0.0:
        k = int(np.abs(v).argmax())
        raise InputError(
            "state",
            must="be at rest",
            but=f"moves ({system.velocities[k]} = {v[k]:.6g})",
            advice="About a motion that stays the same: steady_motion(rates=…).linearization.",
        )
    if equations.is_large:
        return _large(equations, q, inputs, outputs, independent)
    return linearized(equations, q, v, None, inputs, outputs, independent)


def _large(
    equations: EquationsOf,
    q: FloatArray,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    independent: Sequence[str] | None,
) -> Any:
    """Modes alone: dense matrices of so many states would serve nobody."""
    from zwang.analysis.sparse_modes import sparse_linearization

    for what, names in (("inputs", inputs), ("outputs", outputs), ("independent", independent)):
        if names:
            raise NotApplicableError(
                f"{what} of a linearization",
                must="be of a mechanism with at most 300 velocities; larger ones have modes(count) "
                "and no state space",
                but=f"there are {equations.nv}",
            )
    return sparse_linearization(equations, q)


class Steady(NamedTuple):
    """A symmetry along which a state moves.

    Attributes
    ----------
    acceleration : v̇ there.
    frame : derivatives of its fields.
    orbit : displacements and velocities along all symmetries, one below the other, shape (2n, k):
        small motions that lead to the same motion elsewhere.
    """

    acceleration: FloatArray
    frame: MovingFrame
    orbit: FloatArray


def linearized(
    equations: EquationsOf,
    q: FloatArray,
    v: FloatArray,
    steady: Steady | None,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    independent: Sequence[str] | None,
) -> Linearization:
    """Small motions about rest, or about a steady motion."""
    a = np.zeros(equations.nv) if steady is None else steady.acceleration
    names_in = checked_names("inputs", inputs)
    names_out = checked_names("outputs", outputs)
    drivers = driver_rows(equations, names_in)
    lam, spaces, N = _reactions(equations, q, v, a, in_motion=steady is not None)
    free = ~equations.is_rated
    free[list(drivers.values())] = True
    slopes = equations.slopes(q, v, a, lam)
    motions = SmallMotions(
        equations, slopes, None if steady is None else steady.frame, free, spaces
    )
    system: SmallMotions | Condensed = motions
    light = condensed(motions, q)
    tangents = motions.tangents()
    if light is not None:
        system, tangents = light, light.tangents
    states, S = _states(equations, motions, tangents, q, v, independent)
    T = tangents.times(_inverse(S @ np.vstack([tangents.pi, tangents.v]), tangents.positions))
    columns = system.response(T.pi, T.v)
    A = S @ np.vstack([columns.pi_dot, columns.v_dot])
    fq = tangents.positions
    A[:fq][np.abs(A[:fq]) < 1e-15] = 0.0
    B, by_input = _inputs(equations, system, S, q, v, a, lam, names_in, drivers)
    C, D = _outputs(equations, motions, T, columns, by_input, q, v, lam, names_out)
    T_v = T.v[:, fq:]
    return Linearization(
        A,
        B,
        C,
        D,
        states,
        tuple(names_in),
        tuple(names_out),
        State(q, v, equations.t),
        0 if light is None else light.infinite,
        T.pi,
        T.v,
        fq,
        T_v.T @ slopes.M @ T_v,
        N,
        np.zeros((len(S), 0)) if steady is None else S @ steady.orbit,
        equations,
        light,
        changes_with_time(equations, q, lam).without(drivers) if steady is None else None,
    )


def _inverse(X: FloatArray, k: int) -> FloatArray:
    """X⁻¹ of a matrix whose upper right block, beside its first k rows, is zero."""
    if np.any(X[:k, k:]):
        return np.linalg.inv(X)
    result = np.zeros_like(X)
    result[:k, :k], result[k:, k:] = np.linalg.inv(X[:k, :k]), np.linalg.inv(X[k:, k:])
    if np.any(X[k:, :k]):
        result[k:, :k] = -result[k:, k:] @ X[k:, :k] @ result[:k, :k]
    return result


def _reactions(
    equations: EquationsOf, q: FloatArray, v: FloatArray, a: FloatArray, *, in_motion: bool
) -> tuple[FloatArray, Spaces, FloatArray]:
    """λ of a steady state, with the spaces of its rows and N; one that is none is refused."""
    from zwang.analysis.search import point_at

    if not in_motion:
        at = point_at(equations, q)
        values, spaces, lam = at.values, at.spaces, at.lam
        force = at.force
    else:
        values = equations.values(q, v)
        spaces = spaces_of(values.M, values.A)
        force = values.Q + values.C - values.M @ a
        lam = spaces.multipliers(-force)
    reach = max(1.0, float(np.abs(q).max(initial=0.0)))
    for what, gap, have in (
        ("constraints", values.phi, equations.is_position),
        ("velocities", values.rate, equations.is_rated),
    ):
        if np.abs(gap).max(initial=0.0) > STEADY * reach:
            k = int(np.abs(gap).argmax())
            names = np.array(equations.system.row_names)[have]
            raise InputError(
                "state",
                must="be at rest on its constraints"
                if what == "constraints"
                else "have constraints that allow rest; a driver moves there",
                but=f"{what} are not satisfied ({names[k]} by {gap[k]:.3g})",
                advice=f"{equations.owner}.equilibrium(start=…) finds one."
                if what == "constraints"
                else "Take a time at which it stands still; about motions that stay the same: "
                "steady_motion(rates=…).",
            )
    left = spaces.basis.T @ force
    size = float(np.linalg.norm(spaces.d * force)) + float(np.linalg.norm(spaces.d * values.Q))
    if np.linalg.norm(left) > STEADY * size:
        # Where all forces cancel, they are no measure: what a displacement would make of them is.
        slope = spaces.basis.T @ equations.slopes(q, v, a, lam).E_pi @ spaces.basis
        sizes = displacement_sizes(equations.system.equations, q)
        # Of functions lengths may be angles; others may be what a search left of zero.
        known = sizes >= (NO_LENGTH if equations.parts is not None else 1.0)
        far = np.where(known, sizes, 1.0) / spaces.d
        size += float(np.linalg.norm(slope)) * float(far.max(initial=0.0))
    if np.linalg.norm(left) > STEADY * size:
        direction = spaces.basis @ left
        unit = direction / float(np.abs(direction).max())
        words = equations.motion_in_words(q, direction)
        raise InputError(
            "state",
            must="be an equilibrium",
            but=f"a force of {abs(float(force @ unit)):.6g} is not balanced "
            f"({np.linalg.norm(left) / size:.1e} of all forces) and drives this motion: {words}",
            advice=f"{equations.owner}.equilibrium(start=state) finds a stable one downhill, with "
            f"hold={{…}} one at held values; {equations.owner}.equilibria(starts=[state]) lists "
            "unstable ones, too.",
        )
    return lam, spaces, values.N


def _states(
    equations: EquationsOf,
    motions: SmallMotions,
    tangents: Tangents,
    q: FloatArray,
    v: FloatArray,
    independent: Sequence[str] | None,
) -> tuple[tuple[str, ...], FloatArray]:
    """Names of the states, and rows that give them from (δπ, δv), shape (f, 2n)."""
    pool = CoordinateCandidates(equations, q, v)
    given = named(pool, independent)
    d, fq = motions.spaces.d, tangents.positions
    positions = chosen(
        [(c.name, c.by_pi) for c in given if c.name], [], pool.positions(), tangents.pi[:, :fq], d
    )
    partners = [c for c in map(pool.named, positions) if c.rate]
    rates = [c.rate for c in partners]
    if not _are_rates(partners, tangents):
        rates = chosen(
            [(c.rate, c.rate_by_v) for c in given if not c.name],
            [(c.rate, c.rate_by_v) for c in partners],
            pool.rates(),
            tangents.v[:, fq:],
            d,
        )
    # Displacements whose rates are states come first, in the same order.
    own = {c.rate: c.name for c in partners}
    paired = [own[rate] for rate in rates if rate in own]
    positions = paired + [name for name in positions if name not in paired]
    n = equations.nv
    S = np.zeros((len(positions) + len(rates), 2 * n))
    for k, name in enumerate(positions):
        S[k, :n] = pool.named(name).by_pi
    for k, name in enumerate(rates):
        found = pool.named(name)
        S[len(positions) + k, :n], S[len(positions) + k, n:] = found.rate_by_pi, found.rate_by_v
    return (*positions, *rates), S


def _are_rates(partners: Sequence[Candidate], tangents: Tangents) -> bool:
    """Whether the velocities that belong to displacements are as independent as these are."""
    fq = tangents.positions
    if len(partners) != fq or tangents.v.shape[1] != 2 * fq:
        return False
    if not np.array_equal(tangents.pi[:, :fq], tangents.v[:, fq:]):
        return False
    gap = np.array([c.by_pi - c.rate_by_v for c in partners if c.by_pi is not c.rate_by_v])
    return not np.abs(gap).max(initial=0.0) > SMALL


def _inputs(
    equations: EquationsOf,
    system: SmallMotions | Condensed,
    S: FloatArray,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    lam: FloatArray,
    names: Sequence[str],
    drivers: dict[str, int],
) -> tuple[FloatArray, Response | None]:
    """B, and what a unit of each input causes."""
    n, m, k = equations.nv, equations.rows, len(names)
    if not k:
        return np.zeros((len(S), 0)), None
    found = [input_of(equations, name, q, v, a, lam, drivers) for name in names]
    force = np.array([x.force for x in found]).T.reshape(n, k)
    right = np.array([x.right for x in found]).T.reshape(m, k)
    none = np.zeros((n, k))
    columns = system.response(none, none, force, right)
    return S @ np.vstack([none, columns.v_dot]), columns


def _outputs(
    equations: EquationsOf,
    motions: SmallMotions,
    T: Tangents,
    by_state: Response,
    by_input: Response | None,
    q: FloatArray,
    v: FloatArray,
    lam: FloatArray,
    names: Sequence[str],
) -> tuple[FloatArray, FloatArray]:
    """C and D."""
    inputs = 0 if by_input is None else by_input.v_dot.shape[1]
    C, D = np.zeros((len(names), T.pi.shape[1])), np.zeros((len(names), inputs))
    idle = motions.spaces.idle
    for k, name in enumerate(names):
        row: Output = output_of(equations, name, q, v, lam)
        open_share = row.by_lam @ idle
        if np.abs(open_share).max(initial=0.0) > 1e-8 * np.abs(row.by_lam).max(initial=1e-300):
            raise InputError(
                f"output {name!r}",
                must="be determinate",
                but="is a reaction that the equations leave undetermined",
                advice="passport() of the equilibrium reports which are.",
            )
        C[k] = row.by_pi @ T.pi + row.by_v @ T.v
        if row.by_lam.any():
            C[k] += row.by_lam @ by_state.multipliers
            D[k] = 0.0 if by_input is None else row.by_lam @ by_input.multipliers
    return C, D


def _notes(found: Linearization, light: Condensed | None) -> tuple[str, ...]:
    """Sentences on zero and infinite eigenvalues."""
    notes, fq = [], found.positions
    fv = len(found.states) - fq
    if light is not None:
        how = "two" if not light.damped else "one"
        words = "; ".join(light.words[:3]) + (" …" if len(light.words) > 3 else "")
        notes.append(
            f"{light.infinite} eigenvalues are infinite, {how} for each motion without mass: "
            f"{words}."
        )
    if found.zero:
        extra = fq - fv if light is None or not light.damped else 0
        text = f"{found.zero} of {len(found.states)} eigenvalues are zero"
        if extra > 0:
            text += (
                f": {extra} because rows of velocities leave {fq} displacements to {fv} free "
                "velocities"
            )
        if found.zero > extra:
            rest = found.zero - max(extra, 0)
            text += (", " if extra > 0 else ": ") + (
                f"{rest} because a displacement or a velocity meets no resistance"
                if rest <= 2
                else f"{rest} because displacements or velocities meet no resistance"
            )
        notes.append(f"{text}.")
    return tuple(notes)
