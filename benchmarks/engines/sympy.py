"""SymPy's Kane method with PyDy's generated C (Cython), stepped from Python by SciPy's DOP853.

Deriving and compiling is the time to build. Absolute angles, as in PyDy's own chain of links.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from pydy.codegen.ode_function_generators import generate_ode_function
from scipy.integrate import solve_ivp

from benchmarks.engines.base import CannotError, Ran, Settings
from benchmarks.references import known_motion
from benchmarks.works.model import GRAVITY, Work

MODULE, PACKAGES = "sympy", ("sympy", "pydy", "mpmath")
STEPPED = "from Python, RK4 with fixed steps or SciPy's DOP853, around generated C"

#: A constant is needed: PyDy 0.9.4 does not generate code without one.
WEIGHT = sm.Symbol("g")
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
LARGEST = 10
TOO_LARGE = "not tried: deriving grows with the cube of the bodies, four seconds for ten"
CANNOT = {
    "bricard": "cannot: needs as many dependent coordinates as constraints, and one is redundant",
    "door": "cannot: needs as many dependent coordinates as constraints, and ten are redundant",
    "four_bars(40)": TOO_LARGE,
    "car_axis": "not set up",
    "andrews": "not set up",
    "governor": "not set up",
    "slider_crank": "not set up",
    "skew_chain(10)": "not set up",
    "rolling_disk": "not set up",
    "bicycle": "not set up: its own test of the bicycle derives for minutes",
}


def derive(work: Work) -> Any:
    """Kane's equations of a planar mechanism of pins, in absolute angles about y."""
    n = len(work.bodies)
    q, u = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}")
    inertial, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(inertial, 0)
    frames = []
    for k in range(n):
        frame = inertial.orientnew(f"B{k}", "Axis", [q[k], inertial.y])
        frame.set_ang_vel(inertial, u[k] * inertial.y)
        frames.append(frame)
    centers: dict[int, Any] = {}

    def vector(frame: Any, x: np.ndarray) -> Any:
        parts = zip(x, frame, strict=True)
        return sum((sm.nsimplify(v) * e for v, e in parts if abs(v) > 1e-14), me.Vector(0))

    def point(number: int, x: np.ndarray) -> Any:
        """The point of a body that was at x when the frames were those of the world."""
        made = origin.locatenew("P", vector(inertial, x))
        if number < 0:
            made.set_vel(inertial, 0)
            return made
        arm = vector(frames[number], x - work.bodies[number].center)
        made = centers[number].locatenew("P", arm)
        made.v2pt_theory(centers[number], inertial, frames[number])
        return made

    bodies, loads = [], []
    for joint in work.tree:
        pivot, k = point(joint.a, joint.point), joint.b
        arm = vector(frames[k], work.bodies[k].center - joint.point)
        centers[k] = pivot.locatenew(f"G{k}", arm)
        centers[k].v2pt_theory(pivot, inertial, frames[k])
        moments = [sm.nsimplify(work.bodies[k].inertia[1])] * 3  # only that about y matters
        inertia = (me.inertia(frames[k], *moments), centers[k])
        bodies.append(me.RigidBody(f"R{k}", centers[k], frames[k], sm.Integer(1), inertia))
        loads.append((centers[k], -WEIGHT * inertial.z))
    gaps, rates = [], []
    for joint in work.loops:
        a, b = point(joint.a, joint.point), point(joint.b, joint.point)
        gap, rate = b.pos_from(origin) - a.pos_from(origin), b.vel(inertial) - a.vel(inertial)
        gaps += [gap.dot(e) for e in (inertial.x, inertial.z)]
        rates += [rate.dot(e) for e in (inertial.x, inertial.z)]
    own = n - len(gaps)
    kane = me.KanesMethod(
        inertial,
        q_ind=q[:own],
        u_ind=u[:own],
        q_dependent=q[own:],
        u_dependent=u[own:],
        configuration_constraints=gaps,
        velocity_constraints=rates,
        kd_eqs=[a - b.diff() for a, b in zip(u, q, strict=True)],
    )
    kane.kanes_equations(bodies, loads)
    return kane


def particle() -> Any:
    """The nonholonomic particle: Kane's equations with a constraint that depends on time."""
    x, y, z, u, v, w = me.dynamicsymbols("x y z u v w")
    t, frame, origin = me.dynamicsymbols._t, me.ReferenceFrame("N"), me.Point("O")  # noqa: SLF001 - its documented name of time
    origin.set_vel(frame, 0)
    point = origin.locatenew("P", x * frame.x + y * frame.y + z * frame.z)
    point.set_vel(frame, u * frame.x + v * frame.y + w * frame.z)
    kane = me.KanesMethod(
        frame,
        q_ind=[x, y, z],
        u_ind=[u, w],
        u_dependent=[v],
        velocity_constraints=[v - z * u - sm.sin(t)],
        kd_eqs=[u - x.diff(), v - y.diff(), w - z.diff()],
    )
    force = sm.cos(t) * frame.x + (1 + sm.sin(2 * t)) * frame.y + (t - 1) * frame.z
    kane.kanes_equations([me.Particle("p", point, 1)], [(point, force)])
    return kane


def compiled(kane: Any) -> Callable[[np.ndarray], np.ndarray]:
    """State → its rate, through generated C."""
    q, u = list(kane.q), list(kane.u)
    f = generate_ode_function(
        kane.forcing_full,
        q,
        u,
        [WEIGHT],
        mass_matrix=kane.mass_matrix_full,
        generator="cython",
        linear_sys_solver="numpy",
    )
    constants = np.array([GRAVITY])
    return lambda y: f(y, 0.0, constants)


def lambdified(kane: Any) -> Callable[[float, np.ndarray], np.ndarray]:
    """(t, state) → its rate, through NumPy: PyDy's generated C does not know the time."""
    t, q, u = me.dynamicsymbols._t, list(kane.q), list(kane.u)  # noqa: SLF001 - as above
    f = sm.lambdify([t, *q, *u], [kane.mass_matrix_full, kane.forcing_full], cse=True)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        M, forcing = f(t, *y)
        return np.linalg.solve(M, np.ravel(forcing))

    return rate


def centers(work: Work, angle: np.ndarray) -> np.ndarray:
    """Centres for the angles of all bodies."""
    found = np.zeros((len(work.bodies), 3))

    def turned(k: int, x: np.ndarray) -> np.ndarray:
        c, s = np.cos(angle[k]), np.sin(angle[k])
        return np.array([c * x[0] + s * x[2], x[1], -s * x[0] + c * x[2]])

    for joint in work.tree:
        a, b = joint.a, joint.b
        pivot = joint.point
        if a >= 0:
            pivot = found[a] + turned(a, joint.point - work.bodies[a].center)
        found[b] = pivot + turned(b, work.bodies[b].center - joint.point)
    return found


def settings(work: Work) -> Settings:
    """Both ways of stepping; derivation and compilation once for all."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])
    if len(work.bodies) > LARGEST:
        raise CannotError(TOO_LARGE)
    begin = time.process_time()
    if work.name == "nonholonomic_particle":
        motion = known_motion(work.name)
        rate, y0 = lambdified(particle()), np.array([*motion["q"], *_in_its_order(motion["v"])])
        build = time.process_time() - begin
        names = {f"DOP853, tolerance {x:g}": x for x in TOLERANCES}
        return {
            name: lambda x=x: _adaptive(work, rate, y0, x, build, lambda y: y[None, :3])
            for name, x in names.items()
        }
    f, n = compiled(derive(work)), len(work.bodies)
    build = time.process_time() - begin
    start = np.concatenate([np.zeros(n), [body.omega[1] for body in work.bodies]])

    def places(y: np.ndarray) -> np.ndarray:
        return centers(work, y[:n])

    ladder: Settings = {}
    for h in (1e-2, 1e-3):
        ladder[f"RK4, step {h:g} s"] = lambda h=h: _fixed(work, f, start, h, build, places)
    # Past a singular position of a loop, runs with error control at 1e-8 do not end.
    for x in TOLERANCES[:2] if work.loops else TOLERANCES:
        ladder[f"DOP853, tolerance {x:g}"] = lambda x=x: _adaptive(
            work, lambda _, y: f(y), start, x, build, places
        )
    return ladder


def _in_its_order(v: list[float]) -> list[float]:
    """Independent speeds first."""
    return [v[0], v[2], v[1]]


def _adaptive(
    work: Work,
    f: Callable[[float, np.ndarray], np.ndarray],
    y: np.ndarray,
    tolerance: float,
    build: float,
    places: Callable[[np.ndarray], np.ndarray],
) -> Ran:
    found, spent, count = [places(y)], 0.0, 0
    for begin_time, end_time in zip(work.times[:-1], work.times[1:], strict=True):
        begin = time.process_time()
        span = (float(begin_time), float(end_time))
        done = solve_ivp(f, span, y, method="DOP853", rtol=tolerance, atol=tolerance)
        y, count = done.y[:, -1], count + done.nfev
        spent += time.process_time() - begin
        found.append(places(y))
    return Ran(spent, np.array(found), build, evaluations=count)


def _fixed(
    work: Work,
    f: Callable[[np.ndarray], np.ndarray],
    y: np.ndarray,
    h: float,
    build: float,
    places: Callable[[np.ndarray], np.ndarray],
) -> Ran:
    found, spent = [places(y)], 0.0
    for span in np.diff(work.times):
        begin = time.process_time()
        for _ in range(round(span / h)):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            k4 = f(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        spent += time.process_time() - begin
        found.append(places(y))
    return Ran(spent, np.array(found), build, evaluations=4 * round(work.until / h))


def evaluation(work: Work) -> Callable[[int], None] | None:
    """The generated function, called from Python."""
    if work.name in CANNOT or len(work.bodies) > LARGEST or not work.bodies:
        return None
    f, n = compiled(derive(work)), len(work.bodies)
    y = np.concatenate([np.zeros(n), [body.omega[1] for body in work.bodies]])

    def evaluate(count: int) -> None:
        for _ in range(count):
            f(y)

    return evaluate
