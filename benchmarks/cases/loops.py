"""Closed loops: folding parallelograms, Bricard's loop, a slider-crank, a door."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.model import GRAVITY, INERTIA, Body, Joint, Work, Y, rod
from benchmarks.references import stored
from benchmarks.references.one_freedom import pendulum, slider_crank_angles

__all__ = ["bricard", "door", "four_bars", "slider_crank"]

TIMES = np.linspace(0.0, 10.0, 101)


def four_bars(n: int) -> Work:
    """IFToMM A02: N parallelograms in a row, at each quarter turn flat and free to fold."""
    bodies = [
        rod((k, 0, 0), (k, 0, 1), velocity=np.array([0.5, 0, 0]), omega=Y) for k in range(n + 1)
    ]
    bodies += [rod((k, 0, 1), (k + 1, 0, 1), velocity=np.array([1.0, 0, 0])) for k in range(n)]
    joints = [Joint(-1, k, np.array([k, 0.0, 0.0]), Y, rate=1.0) for k in range(n + 1)]
    joints += [Joint(k, n + 1 + k, np.array([k, 0.0, 1.0]), Y, rate=-1.0) for k in range(n)]
    joints += [
        Joint(k + 1, n + 1 + k, np.array([k + 1, 0.0, 1.0]), Y, closing=True) for k in range(n)
    ]

    def centers() -> np.ndarray:
        factor = GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
        angle = pendulum(factor, 0.0, 1.0, TIMES)
        tip = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
        cranks = [np.array([k, 0, 0]) + tip / 2 for k in range(n + 1)]
        couplers = [np.array([k + 0.5, 0, 0]) + tip for k in range(n)]
        return np.stack([*cranks, *couplers], axis=1)

    return Work(
        f"four_bars({n})",
        f"IFToMM A02: {n} four-bar linkage{'s' * (n > 1)} through singular positions, 10 s",
        TIMES,
        centers,
        "on its branch the mechanism is one pendulum; DOP853 at 3e-14",
        None,
        tuple(bodies),
        tuple(joints),
        planar=True,
    )


def bricard() -> Work:
    """IFToMM A04 on the edges of a cube, with slender rods."""
    points = np.array(
        [[0, 0, 1], [0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1]], dtype=float
    )
    joints = []
    for k in range(1, 7):
        before, here, after = points[k - 1], points[k % 6], points[(k + 1) % 6]
        axis = np.cross(here - before, after - here)
        a, b = (k - 2, k - 1) if k < 6 else (-1, 4)
        joints.append(Joint(a, b, here, axis, closing=k == 6))
    return Work(
        "bricard",
        "IFToMM A04: Bricard's loop of five moving rods, one row redundant, 10 s",
        TIMES,
        lambda: stored("bricard"),
        "joint angles of the open chain, moved along the null space, put back; DOP853",
        None,
        tuple(rod(points[k], points[(k + 1) % 6]) for k in range(1, 6)),
        tuple(joints),
        gravity=np.array([0.0, -GRAVITY, 0.0]),
    )


#: Lengths of crank and rod [m]; angle [rad] and rate [rad/s] of the crank at the start.
CRANK, ROD, ANGLE, RATE = 0.5, 1.0, np.pi / 2, 2.0


def slider_crank() -> Work:
    """A crank from upright, a rod and a slider along x, each of 1 kg."""
    times = np.linspace(0.0, 5.0, 51)
    tip = CRANK * np.array([np.cos(ANGLE), 0.0, np.sin(ANGLE)])
    end = np.array([np.sqrt(ROD**2 - tip[2] ** 2) + tip[0], 0.0, 0.0])
    tip_velocity = RATE * CRANK * np.array([-np.sin(ANGLE), 0.0, np.cos(ANGLE)])
    # The rod turns by ψ, sin ψ = −(r/l) sin φ: about −y, as angles are counted from x to z here.
    turn = -CRANK * np.cos(ANGLE) * RATE / (end - tip)[0]
    end_velocity = tip_velocity + turn * np.array([-(end - tip)[2], 0.0, (end - tip)[0]])
    bodies = (
        rod((0, 0, 0), tip, velocity=tip_velocity / 2, omega=-RATE * Y),
        rod(tip, end, velocity=(tip_velocity + end_velocity) / 2, omega=-turn * Y),
        Body(end, np.eye(3), velocity=end_velocity),
    )
    joints = (
        Joint(-1, 0, np.zeros(3), Y, rate=-RATE),
        Joint(0, 1, tip, Y, rate=RATE - turn),
        Joint(-1, 2, end, np.array([1.0, 0.0, 0.0]), rate=float(end_velocity[0]), kind="slide"),
        Joint(1, 2, end, Y, closing=True),
    )

    def centers() -> np.ndarray:
        crank, bar = slider_crank_angles(CRANK, ROD, INERTIA[1], GRAVITY, (ANGLE, RATE), times)
        one = CRANK * np.stack([np.cos(crank), 0 * crank, np.sin(crank)], axis=1)
        two = ROD * np.stack([np.cos(bar), 0 * bar, np.sin(bar)], axis=1)
        return np.stack([one / 2, one + two / 2, one + two], axis=1)

    return Work(
        "slider_crank",
        "crank, rod and slider under gravity, full turns, 5 s",
        times,
        centers,
        "one freedom: ½ I(φ) φ̇² + V(φ) = const; DOP853 at 3e-14",
        None,
        bodies,
        joints,
        planar=True,
    )


def door() -> Work:
    """A plate on three hinges in a frame that leans: ten of fifteen rows are redundant."""
    width, thickness, height, mass, lean, open_ = 0.9, 0.04, 2.0, 20.0, 0.1, 1.2
    square = np.array([thickness**2 + height**2, width**2 + height**2, width**2 + thickness**2])
    inertia = mass * square / 12.0
    c, s = np.cos(open_), np.sin(open_)
    axes = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    z = np.array([0.0, 0.0, 1.0])
    body = Body(axes @ np.array([width / 2, 0.0, height / 2]), axes, mass=mass, inertia=inertia)
    moment = inertia[2] + mass * width**2 / 4

    def centers() -> np.ndarray:
        factor = -mass * GRAVITY * np.sin(lean) * width / 2 / moment
        angle = pendulum(factor, open_, 0.0, TIMES)
        x, y = np.cos(angle) * width / 2, np.sin(angle) * width / 2
        return np.stack([x, y, 0 * x + height / 2], axis=1)[:, None]

    return Work(
        "door",
        "a door on three hinges, 10 of 15 rows redundant, 10 s",
        TIMES,
        centers,
        "a pendulum about the hinges; DOP853 at 3e-14",
        None,
        (body,),
        tuple(Joint(-1, 0, h * z, z, closing=k > 0) for k, h in enumerate((1 / 3, 1.0, 5 / 3))),
        gravity=GRAVITY * np.array([np.sin(lean), 0.0, -np.cos(lean)]),
    )
