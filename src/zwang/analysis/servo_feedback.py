"""Analysis of servo constraints: a sampled feedback law around the motion that follows them.

At a sample the efforts are those of the program in the middle of the interval over which they are
held, and a correction by the difference between the state and that of the program there:

    u = u*(t + T/2) − K (z(t) − z*(t))

K is given, or that of least Σ zᵀQz + uᵀRu for the linearization about the state of rest at the end
of the program, discretized with zero-order hold (the linear-quadratic regulator).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.quantities import quantity
from zwang.errors import InputError, NotApplicableError, UnknownNameError, shown
from zwang.simulation.controllers import Controller, Sample, controller
from zwang.state import State
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian

if TYPE_CHECKING:
    from zwang.analysis.linearization import Linearization
    from zwang.analysis.servo import Servo, ServoSolution
    from zwang.system import System

__all__ = ["servo_feedback"]

#: A parameter acts as an actuator does if their forces differ by less, relative.
SAME_FORCE = 1e-9


def servo_feedback(
    servo: Servo,
    solution: ServoSolution,
    period: float,
    given: Mapping[str, str] | None,
    gains: Mapping[str, Mapping[str, float]] | None,
    state_weights: Mapping[str, float] | None,
    effort_weight: float,
    *,
    moves: bool,
) -> Controller:
    """See `zwang.analysis.servo.Servo.feedback`.

    Parameters
    ----------
    moves : whether the program does so at the last time.
    """
    from scipy.interpolate import CubicSpline

    controller(print, period)  # refuses a period that is none
    outputs = _checked(servo, given)
    parameters = _outputs(servo, solution, outputs)
    if gains is None:
        held = {p: float(solution.effort[a][-1]) for a, p in outputs.items()}
        lin = _about_the_end(servo, solution, held, moves=moves)
        names, K = _regulator(lin, float(period), state_weights, effort_weight)
    else:
        names, K = _given(servo, gains)
    t = solution.t
    efforts = CubicSpline(t, np.column_stack([solution.effort[a] for a in servo.actuators]))
    wanted = CubicSpline(t, np.column_stack([solution[name] for name in names])) if names else None
    last = float(t[-1])
    # Angles are the same a turn farther, where the motion of the program may have begun.
    kinds = [quantity(servo.system, name) for name in names]
    turns = np.array([kind.angle and kind.order == 0 for kind in kinds], dtype=bool)

    def law(sample: Sample) -> dict[str, float]:
        now, middle = min(sample.t, last), min(sample.t + 0.5 * period, last)
        u = efforts(middle)
        if wanted is not None:
            off = np.array([sample[name] for name in names]) - wanted(now)
            u = u - K @ np.where(turns, (off + np.pi) % (2.0 * np.pi) - np.pi, off)
        return dict(zip(parameters, u.tolist(), strict=True))

    return controller(law, period)


def _checked(servo: Servo, outputs: Any) -> Mapping[str, str]:
    """Outputs with a name for each actuator."""
    if isinstance(outputs, Mapping) and set(outputs) == set(servo.actuators):
        return outputs
    first = servo.actuators[0]
    parts = servo.system.mechanism
    along = first if parts is None else parts.actuated.get(first, first)
    made = (
        "force=lambda p: [p.u, …], parameters={'u': 0.0}"
        if parts is None
        else f"m.parameter('u', 0.0) and m.actuator('motor', {along!r}, lambda p: p.u)"
    )
    raise InputError(
        "outputs of a feedback law",
        found="given" if outputs is None else shown(outputs),
        expected=f"a parameter for each actuator, outputs={{{first!r}: 'u'}}",
        advice=f"Make the parameter where there is none: {made}.",
    )


def _outputs(servo: Servo, solution: ServoSolution, outputs: Mapping[str, str]) -> list[str]:
    """The parameter of each actuator; it must act as the actuator does."""
    system = servo.system
    found = []
    for k, name in enumerate(servo.actuators):
        parameter = outputs[name]
        known = system.definition.parameters
        if parameter not in known:
            raise UnknownNameError(f"parameter of actuator {name!r}", str(parameter), known)
        acts, asked = _forces(system, servo, parameter, k, solution)
        if np.abs(acts - asked).max(initial=0.0) > SAME_FORCE * np.abs(asked).max(initial=1e-300):
            raise InputError(
                f"parameter {parameter!r} of actuator {name!r}",
                must="act on the system as the actuator does, one newton or newton metre a unit",
                but="exerts another force",
                advice="Let the force of the system contain it: force=lambda p: … + p.u.",
            )
        found.append(str(parameter))
    return found


def _forces(
    system: System, servo: Servo, parameter: str, actuator: int, solution: ServoSolution
) -> tuple[FloatArray, FloatArray]:
    """Forces of one unit of a parameter, and of an actuator, at the start of a solution."""
    import casadi as ca

    model, first = system.model, 0
    for name, value in system.definition.parameters.items():
        if name == parameter:
            break
        first += int(np.size(value))
    s = model.state
    columns = [jacobian(model.Q, s.p[first], s), servo.input_matrix[:, actuator]]
    function = ca.Function("f", [s.q, s.v, s.t, s.p], [ca.densify(ca.SX(x)) for x in columns])
    at = solution.q[0], solution.v[0], solution.t[0], servo.values
    acts, asked = (np.asarray(x.full())[:, 0] for x in function(*at))
    return acts, asked


def _given(servo: Servo, gains: Any) -> tuple[list[str], FloatArray]:
    """Names of quantities and K from actuator → {quantity: gain}."""
    if not isinstance(gains, Mapping) or not all(isinstance(x, Mapping) for x in gains.values()):
        raise InputError(
            "gains", found=shown(gains), expected="actuator → {quantity: gain}, or None for optimal"
        )
    for name in gains:
        if name not in servo.actuators:
            raise UnknownNameError("actuator of the gains", str(name), servo.actuators)
    names = list(dict.fromkeys(n for own in gains.values() for n in own))
    _require_readable(servo.system, names)
    K = np.array([[gains.get(a, {}).get(n, 0.0) for n in names] for a in servo.actuators])
    return names, K.astype(float).reshape(len(servo.actuators), len(names))


def _require_readable(system: System, names: Sequence[str]) -> None:
    known = [*system.coordinates, *system.velocities, *system.channels]
    for name in names:
        if name not in known:
            raise UnknownNameError("quantity of the gains", str(name), known)


def _about_the_end(
    servo: Servo, solution: ServoSolution, held: Mapping[str, float], *, moves: bool
) -> Linearization:
    """The linearization about the end of the program, with the efforts that hold it there."""
    system = servo.system
    end = State(solution.q[-1], np.zeros(len(system.velocities)), float(solution.t[-1]))
    values = {**system.parameters, **servo.parameters, **held}
    gains = "give gains={actuator: {quantity: gain}}"
    what, must = "feedback by optimal gains", "have a program that ends at rest"
    if moves:
        raise NotApplicableError(
            what,
            must=must,
            but=f"it moves at t = {end.t:.6g}",
            advice=f"End the program at rest, or {gains}.",
        )
    internal = servo.realizability.internal
    never = internal in ("marginal", "not hyperbolic")
    try:
        lin = system.linearize(end, inputs=list(held), t=end.t, parameters=values)
    except InputError as error:
        settled = f"what the program leaves free has not settled at its end: {error}"
        if never:
            settled = (
                f"what the program leaves free never settles, as internal dynamics is {internal}"
            )
        rest = "No time of rest helps:" if never else "Give more time of rest at its end, or"
        raise NotApplicableError(what, must=must, but=settled, advice=f"{rest} {gains}.") from error
    _require_readable(system, lin.states)
    return lin


def _regulator(
    lin: Linearization,
    period: float,
    state_weights: Mapping[str, float] | None,
    effort_weight: float,
) -> tuple[list[str], FloatArray]:
    """States and gains of the linear-quadratic regulator of a linearization."""
    from scipy.linalg import expm, solve_discrete_are

    n, k = lin.B.shape
    both = expm(np.block([[lin.A, lin.B], [np.zeros((k, n + k))]]) * period)
    F, G = both[:n, :n], both[:n, n:]
    weights = dict(state_weights or {})
    for name in weights:
        if name not in lin.states:
            raise UnknownNameError("state of the weights", str(name), lin.states)
    Q = np.diag([float(weights.get(name, 1.0)) for name in lin.states])
    R = np.eye(k) * float(effort_weight)
    try:
        P = solve_discrete_are(F, G, Q, R)
    except np.linalg.LinAlgError:
        raise NotApplicableError(
            "feedback by optimal gains",
            must="have actuators that act on all motions about the end of the program",
            but="some are not reached",
            advice="Give gains={actuator: {quantity: gain}}.",
        ) from None
    return list(lin.states), np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F)
