"""Analysis of servo constraints: whether and how given actuators follow a prescribed motion.

Where program and derivatives determine everything, efforts follow by differentiation: the
derivative array is solved at each instant. Otherwise internal dynamics is integrated forward if it
is stable, and found as a boundary-value problem if it is not (stable inversion: Devasia, Chen &
Paden 1996); what is neither is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.analysis.actuators import acts_along, actuators_of
from zwang.analysis.at_rest import effort_unit
from zwang.analysis.bounded_motion import bounded_states
from zwang.analysis.columns import expanded, write_csv
from zwang.analysis.derivative_array import DerivativeArray, columns_of, matrix_of
from zwang.analysis.direct_program import DirectProgram
from zwang.analysis.ends_of_motion import note_on_start, notes_on_rest
from zwang.analysis.internal_dynamics import MARGINAL, REST, Inversion, require_rest
from zwang.analysis.loose_motions import loose_names
from zwang.analysis.quantities import Quantity, derivatives, quantity, quantity_names, values_of
from zwang.analysis.realizability import Realizability, realizability
from zwang.analysis.smoothness import require_smooth
from zwang.analysis.time_functions import TimeFunction, time_function
from zwang.analysis.values_by_actuator import ValuesByActuator
from zwang.caching import computed_once
from zwang.errors import InputError, NotApplicableError, UnreachableError, shown
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian

if TYPE_CHECKING:
    import casadi

    from zwang.simulation.controllers import Controller
    from zwang.system import System

__all__ = ["Servo", "ServoSolution", "servo"]

#: Times at which is looked how fast a program is, beside its end.
SAMPLES = 200


@dataclass(frozen=True, repr=False)
class ServoSolution:
    """A motion that follows a program, and the efforts that make it.

    Attributes
    ----------
    t : times, shape (nt,).
    q, v, acceleration : states and v̇, shapes (nt, nq), (nt, nv), (nt, nv).
    effort : actuator → effort, positive along its coordinate, shape (nt,).
    how : ``"differentiation"``, ``"initial value problem"`` or ``"boundary value problem"``.
    notes : sentences.
    programs : quantities that follow the program.
    """

    system: System = field(repr=False)
    t: FloatArray
    q: FloatArray
    v: FloatArray
    acceleration: FloatArray
    effort: dict[str, FloatArray]
    how: str
    notes: tuple[str, ...]
    programs: tuple[str, ...]
    _p: FloatArray = field(repr=False)

    def __getitem__(self, name: str) -> FloatArray:
        """A quantity over time, as of `Kinematics`; angles without jumps."""
        of = quantity(self.system, name)
        found = derivatives(self.system, of, self.q, self.v, self.t, self._p)
        values = values_of(of, found, self.acceleration)
        return np.unwrap(values) if of.angle and of.order == 0 else values

    @property
    def parameter_values(self) -> FloatArray:
        """Values of the parameters, as one array."""
        return self._p

    @property
    def names(self) -> tuple[str, ...]:
        """What ``solution[name]`` knows."""
        return quantity_names(self.system)

    def to_csv(self, path: str | PathLike[str], names: Iterable[str] = ()) -> None:
        """Write times, efforts and quantities to a file.

        Parameters
        ----------
        path : of the file.
        names : quantities beside the efforts, such as ``"load.position"``.
        """
        efforts = {f"{name} effort": x for name, x in self.effort.items()}
        write_csv(path, {"t": self.t, **efforts, **expanded(self.__getitem__, names)})

    def plot(self, names: Iterable[str] = (), *, path: str | PathLike[str] | None = None) -> Any:
        """Efforts over time, and quantities below them; needs the extra ``plot``.

        Parameters
        ----------
        names : quantities, such as ``"load.position.x"``; those of the program if not given.
        path : file to write the figure to.
        """
        from zwang.analysis.plots import over_time
        from zwang.results.channel_catalog import unit_of_state

        panels: dict[str, dict[str, FloatArray]] = {}
        for name, values in self.effort.items():
            along = acts_along(self.system, name)
            unit = effort_unit(along)
            label = f"effort [{unit}]" if unit else "effort"
            panels.setdefault(label, {})[f"effort {'along' if along == name else 'of'} {name}"] = (
                values
            )
        for name, values in expanded(self.__getitem__, list(names) or self.programs).items():
            unit = unit_of_state(name)
            panels.setdefault(f"[{unit}]" if unit else "", {})[name] = values
        return over_time(self.t, panels, path)

    def __repr__(self) -> str:
        names = ", ".join(self.effort)
        return f"<ServoSolution by {names}: {len(self.t)} times, by {self.how}>"

    def __str__(self) -> str:
        peaks = [f"{n}: up to {np.abs(x).max(initial=0.0):.5g}" for n, x in self.effort.items()]
        return "\n".join([f"efforts by {self.how}", *peaks, *(f"note: {n}" for n in self.notes)])


@dataclass(frozen=True, repr=False)
class Servo:
    """A program, the actuators that are to follow it, and what that takes.

    Attributes
    ----------
    system : the system that is to follow it.
    programs, actuators : names.
    input_matrix : B of the efforts, as an expression of the symbols of the system.
    values, parameters : of the parameters, as one array, and those that replace defaults.
    """

    system: System
    programs: tuple[str, ...]
    actuators: tuple[str, ...]
    _quantities: tuple[Quantity, ...]
    _functions: tuple[TimeFunction, ...]
    input_matrix: casadi.SX
    values: FloatArray
    parameters: Mapping[str, Any]
    _start: FloatArray
    _t: float

    def __repr__(self) -> str:
        return f"<Servo: {', '.join(self.programs)} by {', '.join(self.actuators)}>"

    def __str__(self) -> str:
        return str(self.realizability)

    @computed_once
    def realizability(self) -> Realizability:
        """Ranks, relative degrees, index, internal dynamics and smoothness, at the start."""
        return realizability(
            self.programs,
            self.actuators,
            self._array,
            lambda order: self._wanted(order, self._t),
            self._start,
            self._t,
            _linearized(
                self.system, self._quantities, self.input_matrix, self._start, self._t, self.values
            ),
            loose_names(
                self.system, self._quantities, self.input_matrix, self._start, self._t, self.values
            ),
        )

    @computed_once
    def _arrays(self) -> dict[int, DerivativeArray]:
        return {}

    def _array(self, order: int) -> DerivativeArray:
        if order not in self._arrays:
            self._arrays[order] = DerivativeArray(
                self.system, self._quantities, self.input_matrix, self.values, order
            )
        return self._arrays[order]

    def _wanted(self, order: int, t: float) -> FloatArray:
        """The program and its derivatives at a time, shape (order + 1, programs)."""
        return np.concatenate([f.jet(t, order) for f in self._functions], axis=1)

    def solve(self, times: ArrayLike, start: Any = None) -> ServoSolution:
        """Motion and efforts at times.

        Parameters
        ----------
        times : increasing times [s]. Where internal dynamics is unstable, they begin and end with
            the program at rest, long enough for the motion before and after it.
        start : the state at the first time, where internal dynamics leaves it open; at rest on
            the program if not given. A note says where the motion cannot begin there.

        Raises
        ------
        UnreachableError : the actuators cannot follow the program.
        NotApplicableError : internal dynamics is unstable and cannot be inverted.
        InputError : the program is not smooth enough.
        """
        t = np.asarray(times, dtype=float)
        if t.ndim != 1 or len(t) < 2 or not bool((np.diff(t) > 0.0).all()):
            raise InputError("times", found=shown(times), expected="two or more times that grow")
        facts = self.realizability
        if facts.index is None:
            raise UnreachableError(
                f"the efforts of the actuators {_listed(self.actuators)}",
                must=f"be determined by the program of {_listed(self.programs)}",
                but=f"are not: {facts.why}",
                names=self.programs,
            )
        for name, f in zip(self.programs, self._functions, strict=True):
            require_smooth(name, f, t, facts.smoothness[name])
        z = self._start if start is None else _state(self.system, start, self._start)
        solution = self._directly(facts, z, t) or self._inverted(facts, z, t)
        notes = list(solution.notes)
        if solution.how == "boundary value problem":
            rest = {k: self._rest(solution, k) for k in (0, -1)}
            notes += notes_on_rest(solution, rest, facts)
        if start is not None:
            nq, nv = len(self.system.coordinates), len(self.system.velocities)
            notes += note_on_start(solution, z[:nq], z[nq : nq + nv])
        return replace(solution, notes=tuple(notes))

    def _rest(self, solution: ServoSolution, k: int) -> FloatArray | None:
        """The configuration at rest on the program near the first or the last state."""
        array, t = self._array(0), float(solution.t[k])
        z, nq = np.zeros(array.nz), len(self.system.coordinates)
        z[:nq] = solution.q[k]
        found = array.at_rest(z, self._wanted(0, t), t)
        return None if found is None else found[:nq]

    def _inverted(self, facts: Realizability, z: FloatArray, t: FloatArray) -> ServoSolution:
        """The solution from the derivative array."""
        assert facts.index is not None
        inversion = Inversion(self._array(facts.index), self._wanted, facts, t, z)
        jets, how, notes = inversion.solve()
        nq, nv = len(self.system.coordinates), len(self.system.velocities)
        k = len(self.actuators)
        return ServoSolution(
            self.system,
            t,
            jets[:, 0, :nq],
            jets[:, 0, nq : nq + nv],
            jets[:, 1, nq : nq + nv],
            ValuesByActuator(zip(self.actuators, jets[:, 0, -k:].T, strict=True)),
            how,
            tuple(notes),
            self.programs,
            self.values,
        )

    def _directly(self, facts: Realizability, z: FloatArray, t: FloatArray) -> ServoSolution | None:
        """The solution where actuators push along the program; None where they do not."""
        if facts.internal == "not hyperbolic":
            return None
        nq, nv = len(self.system.coordinates), len(self.system.velocities)
        q, v = z[:nq], z[nq : nq + nv]
        program = DirectProgram(
            self.system,
            self._quantities,
            self.input_matrix,
            self.values,
            self._wanted,
            q,
            v,
            t,
            _listed(self.programs),
        )
        if not program.regular or (facts.flat and not program.determined):
            return None
        how = "differentiation" if program.determined else "initial value problem"
        if facts.internal == "unstable":
            require_rest(self._wanted, t, _listed(self.programs))
            how, rate = "boundary value problem", float(np.abs(facts.internal_eigenvalues).max())
            found = bounded_states(program, q, v, t, rate)
        else:
            found = program.all_states(q, v, t)
        if found is None:
            return None
        notes = (MARGINAL,) if facts.internal == "marginal" else ()
        efforts = np.array([x.effort for x in found])
        return ServoSolution(
            self.system,
            t,
            np.array([x.q for x in found]),
            np.array([x.v for x in found]),
            np.array([x.acceleration for x in found]),
            ValuesByActuator(zip(self.actuators, efforts.T, strict=True)),
            how,
            notes,
            self.programs,
            self.values,
        )

    def feedback(
        self,
        solution: ServoSolution,
        period: float,
        outputs: Mapping[str, str] | None = None,
        *,
        gains: Mapping[str, Mapping[str, float]] | None = None,
        state_weights: Mapping[str, float] | None = None,
        effort_weight: float = 1e-3,
    ) -> Controller:
        """A sampled feedback law around a solution, for ``simulate(controllers=…)``.

        At each sample it sets the efforts of the solution, in the middle of the interval over which
        they are held, minus gains times the difference from its state.

        Parameters
        ----------
        solution : of `solve`.
        period : between samples [s].
        outputs : actuator → parameter of the system that is its effort; it must be given.
        gains : actuator → {quantity: gain}; if not given, those of the linear-quadratic regulator
            about the end of the program, which must be at rest.
        state_weights : of the regulator, by state; 1 where not given.
        effort_weight : of the regulator, of the square of each effort.
        """
        from zwang.analysis.servo_feedback import servo_feedback

        some = np.append(solution.t[:: max(1, len(solution.t) // SAMPLES)], solution.t[-1])
        rates = np.abs([self._wanted(1, float(t))[1] for t in some])
        moves = bool((rates[-1] > REST * rates.max(axis=0)).any())
        return servo_feedback(
            self, solution, period, outputs, gains, state_weights, effort_weight, moves=moves
        )


def servo(
    system: System,
    program: Mapping[str, Any],
    actuators: Any,
    *,
    start: Any = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Servo:
    """See `zwang.System.servo`."""
    if not isinstance(program, Mapping) or not program:
        raise InputError(
            "program", found=shown(program), expected="quantity → function of t, at least one"
        )
    _require_smooth_equations(system)
    quantities, functions = _programmed(system, program)
    names, B = _actuation(system, actuators)
    if len(names) != len(program):
        fewer = len(names) < len(program)
        raise UnreachableError(
            f"program {_listed(tuple(program))}",
            must="have as many actuators as quantities",
            but=f"has {_number(len(program), 'quantity', 'quantities')} and "
            f"{_number(len(names), 'actuator', 'actuators')}, {_listed(names)}",
            advice="Give up a quantity, or add an actuator."
            if fewer
            else "inverse_dynamics and control_force share a motion among more actuators.",
            names=tuple(program),
        )
    p = system.parameter_vector(parameters)
    held = {
        name: float(f(np.array(t))[0])
        for name, f, of in zip(program, functions, quantities, strict=True)
        if of.order == 0 and (name in system.coordinates or name in system.channels)
    }
    q = system.assemble(hold=held, start=start, t=t, parameters=parameters).q
    m = len(system.row_names)
    z = np.concatenate([q, np.zeros(len(system.velocities) + m + len(names))])
    wanted = np.array([[float(f(np.array(t))[0]) for f in functions]])
    rest = DerivativeArray(system, tuple(quantities), B, p, 0).at_rest(z, wanted, float(t))
    return Servo(
        system,
        tuple(program),
        names,
        tuple(quantities),
        tuple(functions),
        B,
        p,
        dict(parameters or {}),
        z if rest is None else rest,
        float(t),
    )


def _require_smooth_equations(system: System) -> None:
    """Refuse friction, other non-ideal laws, and functions that are called numerically."""
    if not (system.equations.reaction_dependent or not system.model.ideal or system.opaque):
        return
    parts = system.mechanism
    rough = [e.name.removesuffix(".friction") for e in parts.friction] if parts else []
    laws = list(system.definition.nonideal) if parts is None else []
    why = [
        f"friction in {', '.join(rough)} is none of these" if rough else "",
        f"non-ideal laws of {', '.join(laws)} are none of these" if laws else "",
    ]
    found = " and ".join(filter(None, why)) or (
        "functions that are called numerically are none of these"
        if system.opaque
        else "there are non-ideal laws"
    )
    raise NotApplicableError(
        "servo constraints",
        must="have equations that can be differentiated several times",
        but=found,
        advice="m.drive along an actuator's own coordinate and m.simulate follow a program with "
        "friction, and give the effort. Or take the program of a mechanism without it: viscous "
        "friction may be an m.actuator whose law is -d * c['…_rate'], and what friction takes is "
        "added to the effort, or left to feedback."
        if rough
        else None,
    )


def _programmed(
    system: System, program: Mapping[str, Any]
) -> tuple[list[Quantity], list[TimeFunction]]:
    """The quantities of a program, and what each is to be as a function of time."""
    quantities, functions = [], []
    for name, given in program.items():
        of = quantity(system, name, "quantity of the program")
        if of.order == 2 or of.part == "magnitude" or (of.rate.numel() > 1 and not of.part):
            raise InputError(
                f"quantity {name!r} of the program",
                found="an acceleration, a magnitude or a vector",
                expected="one coordinate, or one component such as 'load.position.x'",
            )
        if not callable(given):
            raise InputError(
                f"program of {name!r}",
                found=shown(given),
                expected="a function of t, which can be differentiated several times",
            )
        quantities.append(of)
        functions.append(time_function(f"program of {name!r}", given, np.zeros(1), 1))
    return quantities, functions


def _actuation(system: System, given: Any) -> tuple[tuple[str, ...], Any]:
    """Names of actuators and their matrix B as an expression."""
    if isinstance(given, list | tuple) and all(isinstance(x, str) for x in given):
        acting = actuators_of(system, given)
        if acting.system is not system:
            raise InputError(
                "actuators",
                must="be on coordinates that are free",
                but="one of these has a driver",
                advice="Leave the driver out of the mechanism; the program takes its place.",
            )
        return acting.names, columns_of(system, acting.quantities)
    B = matrix_of(system, given, system.parameters)
    return tuple(f"u{i}" for i in range(B.shape[1])), B


def _state(system: System, given: Any, z: FloatArray) -> FloatArray:
    """z with the coordinates and velocities of a state."""
    q, v, _, _ = system.arguments(given, getattr(given, "v", None), 0.0, None)
    z = z.copy()
    z[: len(q)], z[len(q) : len(q) + len(v)] = q, v
    return z


def _linearized(
    system: System, programs: tuple[Quantity, ...], B: Any, z: FloatArray, t: float, p: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A, B, C of small motions about a state at rest, in independent coordinates."""
    import casadi as ca

    model = system.model
    s, nq, nv = model.state, len(system.coordinates), len(system.velocities)
    m = model.A.shape[0]
    lam, tau = ca.SX.sym("lambda", m), ca.SX.sym("tau", B.shape[1])
    force = model.Q + ca.mtimes(model.A.T, lam) + ca.mtimes(B, tau)
    rates = [of.rate["xyz".index(of.part)] if of.part else of.rate for of in programs]
    C = jacobian(ca.vertcat(*rates), s.v, s)
    outputs = [model.M, model.A, B, C, model.Q]
    inputs = [s.q, s.v, s.t, s.p]
    q, v = z[:nq], z[nq : nq + nv]
    M, A, Bn, Cn, Q = (
        np.asarray(x.full())
        for x in ca.Function("f", inputs, [ca.densify(ca.SX(x)) for x in outputs])(q, v, t, p)
    )
    held = np.linalg.lstsq(np.hstack([A.T, Bn]), -Q[:, 0], rcond=1e-10)[0]
    slopes = ca.Function(
        "g",
        [*inputs, lam, tau],
        [
            ca.densify(ca.mtimes(ca.jacobian(force, s.q), model.N)),
            ca.densify(ca.jacobian(force, s.v)),
        ],
    )
    K, R = (np.asarray(x.full()) for x in slopes(q, v, t, p, held[:m], held[m:]))
    _, values, Vt = np.linalg.svd(A) if m else (None, np.zeros(0), np.eye(nv))
    D = Vt[int(np.sum(values > 1e-10 * values.max(initial=1.0))) :].T
    S = np.linalg.pinv(D.T @ M @ D, rcond=1e-10)
    d = D.shape[1]
    state = np.block([[np.zeros((d, d)), np.eye(d)], [S @ D.T @ K @ D, S @ D.T @ R @ D]])
    return (
        state,
        np.vstack([np.zeros((d, Bn.shape[1])), S @ D.T @ Bn]),
        np.hstack([Cn @ D, np.zeros((len(Cn), d))]),
    )


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(n) for n in names)
