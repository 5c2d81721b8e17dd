"""Write `places.json`: where the points of some works must be, without any engine.

    python -m benchmarks.references.make            # all, some minutes for the chain of 10,000
    python -m benchmarks.references.make bicycle    # one of them again

Trees in joint coordinates by the dense recursion of `tree`, integrated by SciPy's DOP853 at a
relative tolerance of 1e-13; Bricard's loop along the null space of its closure, put back on it at
each stored time and between; the bicycle with its wheels' points of contact at rest; the vehicle
by Lagrange's equations; the long chain by `chain`, every hundredth rod.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.cases.chains import chain, skew_chain
from benchmarks.cases.loops import bricard as bricard_work
from benchmarks.cases.model import GRAVITY, Joint, Work
from benchmarks.cases.vehicle import vehicle as vehicle_work
from benchmarks.cases.wheels import FRONT, LEAN_RATE, REAR, SPEED
from benchmarks.cases.wheels import bicycle as bicycle_work
from benchmarks.references import FILE
from benchmarks.references.chain import chain_centers
from benchmarks.references.lagrange import LagrangianMotion
from benchmarks.references.tree import Moving, Tree, cross

RELATIVE, ABSOLUTE = 1e-13, 1e-14
#: The same for stiff motions, whose steps are short for stability, and exact far below that; below
#: 1e-12 rounding in stiff forces is taken for an error.
STIFF = 1e-10
#: Rank of the closure of Bricard's loop on the whole of its path, and what counts as zero there.
RANK, SMALL = 4, 1e-5
#: Times between stored ones at which the loop is put back.
BETWEEN = 4


def moved(f: Callable, y: np.ndarray, span: float, relative: float = RELATIVE) -> np.ndarray:
    """The state after a while."""
    absolute = relative * ABSOLUTE / RELATIVE
    end = solve_ivp(f, (0.0, span), y, method="DOP853", rtol=relative, atol=absolute)
    return end.y[:, -1]


# --- an open chain --------------------------------------------------------------------------------


def skew() -> np.ndarray:
    """Ten rods about axes that turn."""
    work = skew_chain(10)
    tree = Tree(list(work.joints), list(work.bodies), work.gravity)
    n = len(work.joints)

    def f(_: float, y: np.ndarray) -> np.ndarray:
        terms = tree.terms(y[:n], y[n:])
        return np.concatenate([y[n:], np.linalg.solve(terms.M, -terms.h)])

    return along(work, f, lambda y: tree.centers(y[:n]), np.zeros(2 * n))


def along(
    work: Work, f: Callable, places: Callable, y: np.ndarray, relative: float = RELATIVE
) -> np.ndarray:
    """Places at the times of a work."""
    found = [places(y)]
    for span in np.diff(work.times):
        y = moved(f, y, span, relative)
        found.append(places(y))
    return np.array(found)


# --- Bricard's loop -------------------------------------------------------------------------------


class Closed:
    """An open chain with two points of its last rod held."""

    def __init__(self, work: Work) -> None:
        self.n = len(work.bodies)
        self.tree = Tree(work.tree, list(work.bodies), work.gravity)
        (joint,) = work.loops
        self.held = [joint.point, joint.point + joint.axis]

    def closure(self, last: Moving) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gap, rows and what is left of the acceleration of the held points."""
        now = [last.place(start) for start in self.held]
        gap = np.concatenate([x - start for x, start in zip(now, self.held, strict=True)])
        rows = np.vstack([last.rows(x) for x in now])
        return gap, rows, np.concatenate([last.acceleration(x) for x in now])

    def rate(self, _: float, y: np.ndarray) -> np.ndarray:
        """Rates and accelerations of the joints."""
        terms = self.tree.terms(y[: self.n], y[self.n :])
        _, rows, bias = self.closure(terms.moving[-1])
        null = np.linalg.svd(rows)[2][RANK:].T
        part = -np.linalg.pinv(rows, rcond=SMALL) @ bias
        free = np.linalg.solve(null.T @ terms.M @ null, -null.T @ (terms.h + terms.M @ part))
        return np.concatenate([y[self.n :], part + null @ free])

    def closed(self, y: np.ndarray) -> np.ndarray:
        """Angles and rates put back on the closure."""
        q, v = y[: self.n].copy(), y[self.n :]
        for _ in range(2):
            gap, rows, _ = self.closure(self.tree.terms(q, v).moving[-1])
            q -= np.linalg.pinv(rows, rcond=SMALL) @ gap
        _, rows, _ = self.closure(self.tree.terms(q, v).moving[-1])
        return np.concatenate([q, v - np.linalg.pinv(rows, rcond=SMALL) @ (rows @ v)])


def bricard() -> np.ndarray:
    """The loop from rest."""
    work = bricard_work()
    loop = Closed(work)
    y = np.zeros(2 * loop.n)
    found = [loop.tree.centers(y[: loop.n])]
    for span in np.diff(work.times):
        for _ in range(BETWEEN):
            y = loop.closed(moved(loop.rate, y, span / BETWEEN))
        found.append(loop.tree.centers(y[: loop.n]))
    return np.array(found)


# --- the bicycle ----------------------------------------------------------------------------------

X, Y, Z = np.eye(3)


def contact(wheel: Moving, center: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows for the point of a wheel that touches the ground to be at rest, and their bias.

    r = −R w/|w| leads there from the centre, w = z − (z·n) n being upwards in the wheel's plane.
    """
    hub, n = wheel.place(center), wheel.turn @ Y
    n_dot = cross(wheel.omega, n)
    w, w_dot = Z - n[2] * n, -n_dot[2] * n - n[2] * n_dot
    size = np.linalg.norm(w)
    up = w / size
    r, r_dot = -radius * up, -radius * (w_dot - up * (up @ w_dot)) / size
    bias = wheel.acceleration(hub) + cross(wheel.alpha, r) + cross(wheel.omega, r_dot)
    return wheel.rows(hub + r), bias


def bicycle() -> np.ndarray:
    """Upright, straight ahead, with a rate of lean."""
    work = bicycle_work()
    frame, rear, fork, front = work.bodies
    rear_hub, head, front_hub = work.joints
    zero, hub = np.zeros(3), rear_hub.point
    joints = [Joint(k - 1, k, zero, axis, kind="slide") for k, axis in enumerate((X, Y, Z))]
    joints += [Joint(2, 3, zero, Z), Joint(3, 4, zero, X), Joint(4, 5, hub, Y)]
    joints += [replace(rear_hub, a=5, b=6), replace(head, a=5, b=7), replace(front_hub, a=7, b=8)]
    bodies = [None, None, None, None, None, frame, rear, fork, front]
    tree = Tree(joints, bodies, work.gravity)
    n = len(joints)

    def f(_: float, y: np.ndarray) -> np.ndarray:
        terms = tree.terms(y[:n], y[n:])
        one = contact(terms.moving[6], rear.center, REAR)
        two = contact(terms.moving[8], front.center, FRONT)
        B, bias = np.vstack([one[0], two[0]]), np.concatenate([one[1], two[1]])
        saddle = np.block([[terms.M, B.T], [B, np.zeros((6, 6))]])
        right = np.concatenate([-terms.h, -bias])
        return np.concatenate([y[n:], np.linalg.solve(saddle, right)[:n]])

    v = np.array([SPEED, 0, 0, 0, LEAN_RATE, 0, SPEED / REAR, 0, SPEED / FRONT])
    return along(work, f, lambda y: tree.centers(y[:n]), np.concatenate([np.zeros(n), v]))


# --- the vehicle ----------------------------------------------------------------------------------


def vehicle() -> np.ndarray:
    """Landing, by Lagrange's equations."""
    motion = LagrangianMotion(vehicle_work())
    return along(motion.work, motion.rate, motion.centers, motion.start, STIFF)


def long_chain() -> np.ndarray:
    """Every hundredth of 10,000 rods."""
    work = chain(10_000)
    return chain_centers(10_000, GRAVITY, work.times)[:, work.points]


CASES = {
    "skew_chain(10)": skew,
    "bricard": bricard,
    "bicycle": bicycle,
    "vehicle": vehicle,
    "chain(10000)": long_chain,
}


def main() -> None:
    """Write the file, or some of its entries again."""
    chosen = sys.argv[1:] or list(CASES)
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name in chosen:
        kept[name] = {"places": CASES[name]().tolist()}
        entries = [f" {json.dumps(key)}: {json.dumps(kept[key])}" for key in CASES if key in kept]
        FILE.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")
        print(name, "written")


if __name__ == "__main__":
    main()
