"""SymPy's Kane method with PyDy's generated C (Cython), stepped from Python by SciPy.

Deriving and compiling is the time to build.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sm
from pydy.codegen.ode_function_generators import generate_ode_function

from benchmarks.cases.model import GRAVITY, Work
from benchmarks.engines import kane
from benchmarks.engines.base import CannotError, Ran, Settings
from benchmarks.engines.stepping import Places, Rate, adaptive
from benchmarks.references import known_motion

MODULE, PACKAGES = "sympy", ("sympy", "pydy", "mpmath")
STEPPED = "from Python, RK4 with fixed steps or SciPy's DOP853 and Radau, around generated C"

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
LARGEST = 10
TOO_LARGE = "not tried: deriving grows with the cube of the bodies, four seconds for ten"
CANNOT = {
    "bricard": "cannot: needs as many dependent coordinates as constraints, and one is redundant",
    "door": "cannot: needs as many dependent coordinates as constraints, and ten are redundant",
    "four_bars(40)": TOO_LARGE,
    "skew_chain(10)": "not tried: deriving takes 3 times longer with each rod, 20 s for five",
    "vehicle": TOO_LARGE,
    "bicycle": "not set up: its own test derives and linearises the bicycle in 130 s",
}


def compiled(equations: Any) -> Callable[[np.ndarray], np.ndarray]:
    """State → its rate, through generated C."""
    q, u = list(equations.q), list(equations.u)
    f = generate_ode_function(
        equations.forcing_full,
        q,
        u,
        [kane.WEIGHT],
        mass_matrix=equations.mass_matrix_full,
        generator="cython",
        linear_sys_solver="numpy",
    )
    constants = np.array([GRAVITY])
    return lambda y: f(y, 0.0, constants)


def lambdified(equations: Any) -> Rate:
    """(t, state) → its rate, through NumPy: PyDy's generated C does not know the time."""
    q, u = list(equations.q), list(equations.u)
    f = sm.lambdify(
        [kane.TIME, *q, *u], [equations.mass_matrix_full, equations.forcing_full], cse=True
    )

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        M, forcing = f(t, *y)
        return np.linalg.solve(M, np.ravel(forcing))

    return rate


def centers(work: Work, q: np.ndarray) -> np.ndarray:
    """Centres for the coordinates of all bodies."""
    found, turn = np.zeros((len(work.bodies), 3)), {-1: np.eye(3)}

    def point(k: int, x: np.ndarray) -> np.ndarray:
        return x if k < 0 else found[k] + turn[k] @ (x - work.bodies[k].center)

    for joint in work.tree:
        a, b = joint.a, joint.b
        if joint.kind == "slide":
            turn[b] = turn[a]
            found[b] = point(a, work.bodies[b].center) + q[b] * turn[a] @ joint.axis
            continue
        turn[b] = (np.eye(3) if work.planar else turn[a]) @ _turned(joint.axis, q[b])
        found[b] = point(a, joint.point) + turn[b] @ (work.bodies[b].center - joint.point)
    return found


def _turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def model(work: Work) -> tuple[Rate, np.ndarray, Places]:
    """The rate of the state, the state at the start, and what gives the points of a state."""
    if work.joints:
        f = compiled(kane.mechanism(work))
        return lambda _, y: f(y), kane.start(work), lambda y: centers(work, y)
    motion = known_motion(work.name)
    q, v = motion["q"], motion["v"]
    if work.name == "nonholonomic_particle":  # independent speeds first
        y = np.array([*q, v[0], v[2], v[1]])
        return lambdified(kane.particle()), y, lambda y: y[None, :3]
    if work.name == "car_axis":
        y = np.array([q[1], q[3], q[0], q[2], v[1], v[3], v[0], v[2]])
        return lambdified(kane.car_axis()), y, _axle
    f = compiled(kane.disk())
    y = np.array([*q, *v[2:], *v[:2]])
    return lambda _, y: f(y), y, lambda y: np.array([[y[0], y[1], 0.0]])


def _axle(y: np.ndarray) -> np.ndarray:
    return np.array([[y[2], 0.0, y[0]], [y[3], 0.0, y[1]]])


def settings(work: Work) -> Settings:
    """Both ways of stepping; derivation and compilation once for all."""
    if work.name in CANNOT:
        raise CannotError(CANNOT[work.name])
    if len(work.bodies) > LARGEST:
        raise CannotError(TOO_LARGE)
    begin = time.process_time()
    f, start, places = model(work)
    build = time.process_time() - begin
    ladder: Settings = {}
    for h in (1e-2, 1e-3):
        step = h * min(1.0, work.until)
        name = f"RK4, step {step:g} s"
        ladder[name] = lambda h=step: _fixed(work, f, start, h, build, places)
    # Past a singular position of a loop, runs with error control at 1e-8 do not end.
    tolerances = TOLERANCES[:2] if work.name.startswith("four_bars") else TOLERANCES
    for method in ("Radau", "DOP853") if work.stiff else ("DOP853",):
        for x in tolerances:
            name = f"{method}, tolerance {x:g}"
            ladder[name] = lambda x=x, m=method: adaptive(work, m, f, start, x, build, places)
    return ladder


def _fixed(
    work: Work,
    f: Rate,
    y: np.ndarray,
    h: float,
    build: float,
    places: Places,
) -> Ran:
    found, spent, t = [places(y)], 0.0, 0.0
    for span in np.diff(work.times):
        begin = time.process_time()
        for _ in range(round(span / h)):
            k1 = f(t, y)
            k2 = f(t + h / 2, y + h / 2 * k1)
            k3 = f(t + h / 2, y + h / 2 * k2)
            k4 = f(t + h, y + h * k3)
            t, y = t + h, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        spent += time.process_time() - begin
        found.append(places(y))
    return Ran(spent, np.array(found), build, evaluations=4 * round(work.until / h))


def evaluation(work: Work) -> Callable[[int], None] | None:
    """The generated function, called from Python."""
    if work.name in CANNOT or len(work.bodies) > LARGEST or not work.joints:
        return None
    f, y = compiled(kane.mechanism(work)), kane.start(work)

    def evaluate(count: int) -> None:
        for _ in range(count):
            f(y)

    return evaluate
