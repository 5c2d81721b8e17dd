"""What a linearization costs: its kernel, its call, and the modes of a long chain.

    python -m benchmarks.linearization

Processor time. Of chains of hinged rods in space: the kernel of all derivatives, in accelerations
times the number of velocities (goal: 3 of these), and the whole call (goal: 2 ms up to 15 bodies).
Of a planar chain of 1,000 links: linearization and its first 20 modes (goal: 2 s).
Beside them, where they are installed: Pinocchio's derivatives of forward dynamics of the same
chains, which have no constraints in its joint coordinates and give A by themselves; and SymPy's
linearizer of a planar chain of three, derived and evaluated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import zwang as zw
from zwang.analysis.equations_of import EquationsOf

__all__ = ["main"]

SECONDS = 0.5


def chain(links: int, *, plane: bool) -> zw.Mechanism:
    """Rods that hang below each other."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz" if plane else None)
    last: Any = m.ground
    for k in range(links):
        down = -k - 0.5
        rod = m.body(
            f"rod{k}",
            mass=1.0,
            inertia=0.1 if plane else (0.1, 0.12, 0.05),
            position=(0.0, down) if plane else (0.0, 0.0, down),
        )
        at = (0.0, -float(k)) if plane else (0.0, 0.0, -float(k))
        m.revolute(f"pin{k}", last, rod, at=at, axis=None if plane else "xy"[k % 2])
        last = rod
    return m


def seconds_of(act: Callable[[], Any]) -> float:
    """Processor time of a call, in the mean."""
    act()
    began, calls = time.thread_time(), 0
    while time.thread_time() - began < SECONDS:
        act()
        calls += 1
    return (time.thread_time() - began) / calls


def pinocchio_seconds(links: int) -> float | None:
    """One call of Pinocchio's derivatives of the forward dynamics of a chain; None without it."""
    try:
        pin: Any = import_module("pinocchio")
    except ImportError:
        return None
    model, parent = pin.Model(), 0
    for k in range(links):
        joint = pin.JointModelRX() if k % 2 == 0 else pin.JointModelRY()
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.0 if k == 0 else -1.0]))
        parent = model.addJoint(parent, joint, place, f"pin{k}")
        own = pin.Inertia(1.0, np.array([0.0, 0.0, -0.5]), np.diag([0.1, 0.12, 0.05]))
        model.appendBodyToJoint(parent, own, pin.SE3.Identity())
    data, q, rest = model.createData(), np.zeros(model.nq), np.zeros(model.nv)
    return seconds_of(lambda: pin.computeABADerivatives(model, data, q, rest, rest))


def sympy_seconds(links: int) -> tuple[float, float] | None:
    """SymPy's linearizer of a planar chain: deriving it, and one evaluation; None without it."""
    try:
        import sympy as sm
        import sympy.physics.mechanics as me
    except ImportError:
        return None
    began = time.thread_time()
    q, u = me.dynamicsymbols(f"q:{links}"), me.dynamicsymbols(f"u:{links}")
    N = me.ReferenceFrame("N")
    last = me.Point("O")
    last.set_vel(N, 0)
    bodies, loads = [], []
    for k in range(links):
        frame = N.orientnew(f"F{k}", "Axis", [q[k], N.y])
        frame.set_ang_vel(N, u[k] * N.y)
        center, end = last.locatenew(f"C{k}", -frame.z / 2), last.locatenew(f"P{k}", -frame.z)
        center.v2pt_theory(last, N, frame)
        end.v2pt_theory(last, N, frame)
        inertia = me.inertia(frame, 0, sm.Rational(1, 10), 0)
        bodies.append(me.RigidBody(f"rod{k}", center, frame, 1, (inertia, center)))
        loads.append((center, -sm.Float(9.81) * N.z))
        last = end
    kane = me.KanesMethod(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)])
    kane.kanes_equations(bodies, loads)
    at_rest = {x: 0 for v in u for x in (v, v.diff())}
    A, _ = kane.to_linearizer().linearize(A_and_B=True, op_point=at_rest)
    evaluate = sm.lambdify([*q, *u], A, cse=True)
    derived = time.thread_time() - began
    return derived, seconds_of(lambda: evaluate(*[0.0] * (2 * links)))


def main() -> int:
    """Measure and print."""
    derived = sympy_seconds(3)
    if derived is not None:
        print(f"SymPy, 3 links: derived in {derived[0]:.1f} s, A in {1e6 * derived[1]:.0f} µs")
    for bodies in (1, 3, 5, 10, 15):
        m = chain(bodies, plane=False)
        q, system = m.assemble().q, m.system
        equations = EquationsOf(system, 0.0, None)
        rest, lam = np.zeros(equations.nv), np.zeros(equations.rows)
        slopes = seconds_of(lambda e=equations, q=q, v=rest, x=lam: e.slopes(q, v, v, x))
        terms = seconds_of(lambda e=equations, q=q: e.values(q))
        call = seconds_of(lambda s=system, q=q: s.linearize(q))
        print(
            f"{bodies:3} bodies: derivatives {1e6 * slopes:8.1f} µs "
            f"({slopes / terms / equations.nv:.2f} evaluations of the terms for each velocity), "
            f"linearize {1e3 * call:6.2f} ms"
        )
        peer = pinocchio_seconds(bodies)
        if peer is not None:
            print(f"            Pinocchio's derivatives {1e6 * peer:8.1f} µs")
    m = chain(1000, plane=True)
    q = m.assemble().q
    began = time.thread_time()
    lin = m.linearize(q)
    modes = lin.modes(20)
    spent = time.thread_time() - began
    print(f"chain of 1,000 links: {len(modes)} modes in {spent:.2f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
