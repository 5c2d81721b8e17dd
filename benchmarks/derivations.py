"""From functions to machine code: the bicycle, a cart with n links; SymPy's methods beside it.

    python -m benchmarks.derivations bicycle        # seconds of one case in this process

Every measurement is a process of its own with empty caches, told in processor time: deriving,
compiling and the first evaluation. SymPy derives only; compiling its result comes on top.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from os import environ
from pathlib import Path
from typing import Any

import numpy as np

import zwang as zw
from zwang.codegen import cache

__all__ = ["CASES", "bicycle", "cart_pendulum", "derivations"]

#: Seconds of processor time after which a derivation is too long, and of waiting for it.
TIMEOUT, WAIT = 60.0, 600.0

# --- the bicycle, from functions ------------------------------------------------------------------

#: Meijaard, Papadopoulos, Ruina & Schwab (2007), table 1; x forward, y to the left, z up.
WHEEL_BASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10.0
REAR, FRONT = 0.3, 0.35
FRAME = [[9.2, 0.0, -2.4], [0.0, 11.0, 0.0], [-2.4, 0.0, 2.8]]
FORK = [[0.05892, 0.0, 0.00756], [0.0, 0.06, 0.0], [0.00756, 0.0, 0.00708]]


def turn(axis: str, angle: Any) -> Any:
    """Rotation about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.zeros((3, 3), dtype=object)
    R[i, i], R[j, j], R[k, k], R[j, k], R[k, j] = 1.0, c, c, -s, s
    return R


def _frames(q: Any, v: Any) -> Any:
    """Of frame, fork and wheels: rotation, angular velocity in body axes, centre, its velocity.

    q = (x, y, z of a point below the rear hub, yaw, roll, pitch about that hub, steer, spins).
    """
    head = turn("y", -TILT)  # the steer axis is z of the tilted frame
    upright = turn("z", q[3]) @ turn("x", q[4])
    main = upright @ turn("y", q[5])
    w_up = turn("x", q[4]).T @ np.array([0.0, 0.0, v[3]]) + np.array([v[4], 0.0, 0.0])
    w_main = turn("y", q[5]).T @ w_up + np.array([0.0, v[5], 0.0])
    steer = head @ turn("z", q[6]) @ head.T
    w_fork = steer.T @ w_main + head @ np.array([0.0, 0.0, v[6]])
    hub = np.array([0.0, 0.0, REAR])
    place = q[:3] + upright @ hub
    rate = v[:3] + upright @ np.cross(w_up, hub)

    def at(R: Any, w: Any, place: Any, rate: Any, arm: Any) -> Any:
        return place + R @ np.array(arm), rate + R @ np.cross(w, np.array(arm))

    frame = (main, w_main, *at(main, w_main, place, rate, [0.3, 0.0, 0.9 - REAR]))
    pin = at(main, w_main, place, rate, [WHEEL_BASE + TRAIL, 0.0, -REAR])
    fork_R = main @ steer
    fork = (fork_R, w_fork, *at(fork_R, w_fork, *pin, [0.9 - WHEEL_BASE - TRAIL, 0.0, 0.7]))
    front = at(fork_R, w_fork, *pin, [-TRAIL, 0.0, FRONT])
    # A wheel's spin about its own axle needs no rotation of its own: it is a body of revolution.
    rear_wheel = (main, w_main + np.array([0.0, v[7], 0.0]), place, rate)
    front_wheel = (fork_R, w_fork + np.array([0.0, v[8], 0.0]), *front)
    return frame, fork, rear_wheel, front_wheel


MASSES = (85.0, 4.0, 2.0, 3.0)
INERTIAS = (np.array(FRAME), np.array(FORK), np.diag([0.0603, 0.12, 0.0603]))
INERTIAS = (*INERTIAS, np.diag([0.1405, 0.28, 0.1405]))


def bicycle() -> zw.System:
    """Whipple's bicycle from its kinetic energy and the wheels' points of contact at rest."""

    def kinetic(q: Any, v: Any) -> Any:
        total = 0.0
        for (_, w, _, rate), mass, I in zip(_frames(q, v), MASSES, INERTIAS, strict=True):
            total = total + mass * (rate @ rate) + w @ (I @ w)
        return total / 2.0

    def potential(q: Any) -> Any:
        parts = zip(_frames(q, 0.0 * q), MASSES, strict=True)
        return 9.81 * sum(mass * body[2][2] for body, mass in parts)

    def contact(number: int, radius: float) -> Callable[..., Any]:
        def slip(q: Any, v: Any) -> Any:
            R, w, _, rate = _frames(q, v)[number]
            n = R[:, 1]
            up = (np.array([0.0, 0.0, 1.0]) - n[2] * n) / np.sqrt(1.0 - n[2] ** 2)
            return rate - radius * np.cross(R @ w, up)

        return slip

    names = ["x", "y", "z", "yaw", "roll", "pitch", "steer", "rear", "front"]
    return zw.System.from_lagrangian(
        names,
        T=kinetic,
        V=potential,
        constraints={
            "rear_contact": zw.velocity(contact(2, REAR)),
            "front_contact": zw.velocity(contact(3, FRONT)),
        },
    )


def cart_pendulum(n: int) -> zw.System:
    """A cart of 1 kg with n links of 1 m and 1 kg one after the other, in absolute angles."""

    def kinetic(q: Any, v: Any) -> Any:
        total, x, y = v[0] ** 2, v[0], 0.0
        for angle, rate in zip(q[1:], v[1:], strict=True):
            dx, dy = np.cos(angle) * rate, -np.sin(angle) * rate
            total = total + (x + dx / 2) ** 2 + (y + dy / 2) ** 2 + rate**2 / 12
            x, y = x + dx, y + dy
        return total / 2.0

    def potential(q: Any) -> Any:
        total, y = 0.0, 0.0
        for angle in q[1:]:
            total, y = total + y + np.cos(angle) / 2, y + np.cos(angle)
        return 9.81 * total

    return zw.System.from_lagrangian(["x", *(f"a{k}" for k in range(n))], T=kinetic, V=potential)


def _ready(system: zw.System, q: np.ndarray, v: np.ndarray) -> None:
    """A first short run: all of the engine's code is compiled."""
    system.simulate(q, v, until=1e-6, save=[1e-6])


def ours_bicycle() -> None:
    """Derive and compile."""
    v = np.array([5.0, 0, 0, 0, 0.5, 0, 0, 5.0 / REAR, 5.0 / FRONT])
    _ready(bicycle(), np.zeros(9), v)


def ours_cart(n: int) -> None:
    """Derive and compile."""
    _ready(cart_pendulum(n), np.linspace(0.0, 1.0, n + 1), np.zeros(n + 1))


# --- SymPy ----------------------------------------------------------------------------------------


def sympy_cart(n: int, method: str) -> None:
    """The same cart by Kane's or Lagrange's method, derived only."""
    import sympy as sm
    import sympy.physics.mechanics as me

    q, u = me.dynamicsymbols(f"q:{n + 1}"), me.dynamicsymbols(f"u:{n + 1}")
    rates = u if method == "kane" else [x.diff() for x in q]
    inertial, g = me.ReferenceFrame("N"), sm.Symbol("g")
    origin = me.Point("O")
    origin.set_vel(inertial, 0)
    pivot = origin.locatenew("P0", q[0] * inertial.x)
    pivot.set_vel(inertial, rates[0] * inertial.x)
    bodies, loads = [me.Particle("cart", pivot, 1)], []
    for k in range(1, n + 1):
        frame = inertial.orientnew(f"B{k}", "Axis", [q[k], inertial.y])
        frame.set_ang_vel(inertial, rates[k] * inertial.y)
        center = pivot.locatenew(f"G{k}", frame.z / 2)
        center.v2pt_theory(pivot, inertial, frame)
        inertia = me.inertia(frame, *[sm.Rational(1, 12)] * 3)
        body = me.RigidBody(f"R{k}", center, frame, 1, (inertia, center))
        body.potential_energy = g * center.pos_from(origin).dot(inertial.z)
        bodies.append(body)
        loads.append((center, -g * inertial.z))
        tip = pivot.locatenew(f"P{k}", frame.z)
        tip.v2pt_theory(pivot, inertial, frame)
        pivot = tip
    if method == "kane":
        kd = [a - b.diff() for a, b in zip(u, q, strict=True)]
        me.KanesMethod(inertial, q_ind=q, u_ind=u, kd_eqs=kd).kanes_equations(bodies, loads)
    else:
        lagrangian = me.Lagrangian(inertial, *bodies)
        me.LagrangesMethod(lagrangian, q).form_lagranges_equations()


def ours_pendulum() -> None:
    """A small system with a constraint, for which the loops are compiled once on a machine."""
    rod = zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)
    pendulum = zw.System(
        ["x", "y"], mass=lambda: np.eye(2), force=lambda: [0.0, -9.81], constraints={"rod": rod}
    )
    _ready(pendulum, np.array([1.0, 0.0]), np.zeros(2))


#: The case that makes ready what is compiled once on a machine.
WARMING = "pendulum"
CASES: dict[str, Callable[[], None]] = {
    "pendulum": ours_pendulum,
    "bicycle": ours_bicycle,
    **{f"cart({n})": lambda n=n: ours_cart(n) for n in (2, 5, 10, 20, 50)},
    **{f"Kane cart({n})": lambda n=n: sympy_cart(n, "kane") for n in (2, 5, 10, 20)},
    **{f"Lagrange cart({n})": lambda n=n: sympy_cart(n, "lagrange") for n in (2, 5, 10, 20)},
}


def derivations(say: Callable[[str], None]) -> dict[str, float | None]:
    """Seconds of each case with empty caches; None where it was given up."""
    found: dict[str, float | None] = {}
    given_up: set[str] = set()
    # Time loops are compiled once on a machine, which is measured apart, see `starting`: they are
    # there already, models are not.
    _child(None, WARMING)
    loops = cache.folder()
    assert loops is not None, "nowhere to keep compiled code"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(loops / cache.LOOPS, Path(folder) / cache.LOOPS)
        for name in CASES:
            if name == WARMING:
                continue
            kind = name.split(" ")[0]
            if kind in given_up:
                found[name] = None
                continue
            found[name] = _child(folder, name)
            if found[name] is None:
                given_up.add(kind)
            told = f"{found[name]:.2f} s" if found[name] is not None else f"more than {TIMEOUT} s"
            say(f"{name:<22} {told}")
    return found


def _child(folder: str | None, name: str) -> float | None:
    command = [sys.executable, "-m", "benchmarks.derivations", name]
    place = {**environ, "ZWANG_CACHE_DIR": folder} if folder else dict(environ)
    try:
        done = subprocess.run(
            command, env=place, capture_output=True, text=True, check=True, timeout=WAIT
        )
    except subprocess.TimeoutExpired:
        return None
    seconds = float(done.stdout.split()[-1])
    return seconds if seconds <= TIMEOUT else None


if __name__ == "__main__":
    begin = time.process_time()
    CASES[sys.argv[1]]()
    print(time.process_time() - begin)
