"""Works that every engine gets: rods, pins and gravity, and where their centres must be.

A work is stated in world coordinates at the start. Engines build it in their own way and hand back
the positions of all centres of mass at given times; the error is the largest distance to a
reference that owes nothing to any engine.

    chain(n)     rods on pins about y, from the horizontal at rest, 1 s
    four_bars(n) IFToMM A02: parallelograms in a row through their flat positions, 10 s
    bricard      IFToMM A04 on the edges of a cube, slender rods, 10 s
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

__all__ = ["GRAVITY", "INERTIA", "MASS", "Pin", "Rod", "Work", "bricard", "chain", "four_bars"]

GRAVITY, MASS = 9.81, 1.0
#: Principal moments of a rod of 1 m along its x axis, slender but not without axial inertia.
INERTIA = np.array([1e-4, 1.0 / 12.0, 1.0 / 12.0])
Y = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Rod:
    """A rod: centre, axes as columns with x along it, velocity and angular velocity."""

    center: np.ndarray
    axes: np.ndarray
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    omega: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True)
class Pin:
    """A hinge between two rods, −1 the ground; `closing` ones are cut from the tree."""

    a: int
    b: int
    point: np.ndarray
    axis: np.ndarray
    rate: float = 0.0
    closing: bool = False


@dataclass(frozen=True)
class Work:
    """A mechanism of rods and pins, and how long it is watched."""

    name: str
    rods: list[Rod]
    pins: list[Pin]
    gravity: np.ndarray
    until: float
    samples: int
    reference: np.ndarray  # (samples + 1, rods, 3)
    planar: bool

    @property
    def times(self) -> np.ndarray:
        """When positions are compared."""
        return np.linspace(0.0, self.until, self.samples + 1)

    def error(self, centers: np.ndarray) -> float:
        """Largest distance of a centre from where it must be [m]."""
        if not np.isfinite(centers).all():
            return float("inf")
        return float(np.linalg.norm(centers - self.reference, axis=2).max())


def _rod(p: object, q: object, **motion: np.ndarray) -> Rod:
    a, b = np.asarray(p, float), np.asarray(q, float)
    x = (b - a) / np.linalg.norm(b - a)
    helper = Y if abs(x[1]) < 0.5 else np.array([0.0, 0.0, 1.0])
    z = np.cross(x, helper)
    z /= np.linalg.norm(z)
    return Rod((a + b) / 2, np.column_stack([x, np.cross(z, x), z]), **motion)


def _integrated(f: object, y: np.ndarray, times: np.ndarray) -> np.ndarray:
    result = solve_ivp(
        f, (0.0, times[-1]), y, method="DOP853", rtol=3e-14, atol=1e-14, t_eval=times
    )
    return result.y.T


def chain(n: int) -> Work:
    """Rods on pins from the horizontal. Reference: absolute angles, Lagrange's equations."""
    until, samples = 1.0, 20
    i = np.arange(n)
    coupling = n - np.maximum.outer(i, i) - 0.5
    coupling[i, i] = n - i - 1 + 1.0 / 3.0
    weight = GRAVITY * (n - i - 0.5)

    def f(_: float, y: np.ndarray) -> np.ndarray:
        angle, rate = y[:n], y[n:]
        d = angle[:, None] - angle[None, :]
        right = weight * np.cos(angle) - (coupling * np.sin(d)) @ rate**2
        return np.concatenate([rate, np.linalg.solve(coupling * np.cos(d), right)])

    angles = _integrated(f, np.zeros(2 * n), np.linspace(0.0, until, samples + 1))[:, :n]
    x, z = np.cos(angles), -np.sin(angles)
    centers = np.zeros((samples + 1, n, 3))
    centers[:, :, 0] = np.cumsum(x, axis=1) - x / 2
    centers[:, :, 2] = np.cumsum(z, axis=1) - z / 2
    return Work(
        f"chain({n})",
        [_rod((k, 0, 0), (k + 1, 0, 0)) for k in range(n)],
        [Pin(k - 1, k, np.array([k, 0.0, 0.0]), Y) for k in range(n)],
        np.array([0.0, 0.0, -GRAVITY]),
        until,
        samples,
        centers,
        planar=True,
    )


def four_bars(n: int) -> Work:
    """N parallelograms. Reference: on its branch the mechanism is one pendulum."""
    until, samples = 10.0, 100
    rods = [
        _rod((k, 0, 0), (k, 0, 1), velocity=np.array([0.5, 0, 0]), omega=Y) for k in range(n + 1)
    ]
    rods += [_rod((k, 0, 1), (k + 1, 0, 1), velocity=np.array([1.0, 0, 0])) for k in range(n)]
    pins = [Pin(-1, k, np.array([k, 0.0, 0.0]), Y, rate=1.0) for k in range(n + 1)]
    pins += [Pin(k, n + 1 + k, np.array([k, 0.0, 1.0]), Y, rate=-1.0) for k in range(n)]
    pins += [Pin(k + 1, n + 1 + k, np.array([k + 1, 0.0, 1.0]), Y, closing=True) for k in range(n)]
    factor = GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    times = np.linspace(0.0, until, samples + 1)
    angle = _integrated(
        lambda _, y: np.array([y[1], factor * np.sin(y[0])]), np.array([0.0, 1.0]), times
    )[:, 0]
    tip = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    centers = np.zeros((samples + 1, 2 * n + 1, 3))
    for k in range(n + 1):
        centers[:, k] = np.array([k, 0, 0]) + tip / 2
    for k in range(n):
        centers[:, n + 1 + k] = np.array([k + 0.5, 0, 0]) + tip
    gravity = np.array([0.0, 0.0, -GRAVITY])
    return Work(f"four_bars({n})", rods, pins, gravity, until, samples, centers, planar=True)


def bricard() -> Work:
    """Six pins in a loop. Reference: joint angles of the open chain, moved along the null space."""
    points = np.array(
        [[0, 0, 1], [0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1]], dtype=float
    )
    rods = [_rod(points[k], points[(k + 1) % 6]) for k in range(1, 6)]
    pins = []
    for k in range(1, 7):
        before, here, after = points[k - 1], points[k % 6], points[(k + 1) % 6]
        axis = np.cross(here - before, after - here)
        a, b = (k - 2, k - 1) if k < 6 else (-1, 4)
        pins.append(Pin(a, b, here, axis, closing=k == 6))
    until, samples = 10.0, 100
    gravity = np.array([0.0, -GRAVITY, 0.0])
    centers = _bricard_centers(rods, pins, gravity, np.linspace(0.0, until, samples + 1))
    return Work("bricard", rods, pins, gravity, until, samples, centers, planar=False)


def _bricard_centers(
    rods: list[Rod], pins: list[Pin], gravity: np.ndarray, times: np.ndarray
) -> np.ndarray:
    chain_ = _Serial(rods, pins, gravity)
    n = len(rods)
    y, found = np.zeros(2 * n), []
    for k, t in enumerate(times):
        found.append(chain_.terms(y[:n], y[n:]).centers)
        if k + 1 == len(times):
            break
        for _ in range(4):
            span = (times[k + 1] - t) / 4
            y = solve_ivp(chain_.rate, (0.0, span), y, method="DOP853", rtol=1e-12, atol=1e-13).y[
                :, -1
            ]
            y = chain_.closed(y)
    return np.array(found)


@dataclass(frozen=True)
class _Terms:
    """Mass matrix, bias force, closure, its rows and its bias, centres."""

    M: np.ndarray
    h: np.ndarray
    gap: np.ndarray
    rows: np.ndarray
    bias: np.ndarray
    centers: list[np.ndarray]


class _Serial:
    """An open chain in joint angles with two points of its last rod held, for the reference."""

    def __init__(self, rods: list[Rod], pins: list[Pin], gravity: np.ndarray) -> None:
        self.rods, self.gravity = rods, gravity
        self.pins = [pin for pin in pins if not pin.closing]
        self.closing = next(pin for pin in pins if pin.closing)

    def rate(self, _: float, y: np.ndarray) -> np.ndarray:
        """Angles' rates and accelerations; the rows have rank four on the whole path."""
        n = len(self.rods)
        t = self.terms(y[:n], y[n:])
        null = np.linalg.svd(t.rows)[2][4:].T
        part = -np.linalg.pinv(t.rows, rcond=1e-5) @ t.bias
        free = np.linalg.solve(null.T @ t.M @ null, -null.T @ (t.h + t.M @ part))
        return np.concatenate([y[n:], part + null @ free])

    def closed(self, y: np.ndarray) -> np.ndarray:
        """Angles and rates put back on the closure."""
        n = len(self.rods)
        q, v = y[:n].copy(), y[n:].copy()
        for _ in range(2):
            t = self.terms(q, v)
            q = q - np.linalg.pinv(t.rows, rcond=1e-5) @ t.gap
        t = self.terms(q, v)
        return np.concatenate([q, v - np.linalg.pinv(t.rows, rcond=1e-5) @ (t.rows @ v)])

    def terms(self, q: np.ndarray, v: np.ndarray) -> _Terms:
        """Everything at a state, by the recursion of Newton and Euler with dense Jacobians."""
        n = len(self.rods)
        turn, origin = np.eye(3), np.zeros(3)  # world = turn · start + origin
        M, h = np.zeros((n, n)), np.zeros(n)
        omega, omega_dot, a = np.zeros(3), np.zeros(3), np.zeros(3)
        spin = np.zeros((3, n))
        points, axes, centers = [], [], []
        for k, (pin, rod) in enumerate(zip(self.pins, self.rods, strict=True)):
            point, axis = turn @ pin.point + origin, turn @ pin.axis
            if k:
                r = point - points[-1]
                a = a + np.cross(omega_dot, r) + np.cross(omega, np.cross(omega, r))
            points.append(point)
            axes.append(axis)
            omega_dot = omega_dot + np.cross(omega, axis * v[k])
            omega = omega + axis * v[k]
            R = _rotation(axis * q[k])
            turn, origin = R @ turn, R @ (origin - point) + point
            center = turn @ rod.center + origin
            centers.append(center)
            r = center - point
            a_center = a + np.cross(omega_dot, r) + np.cross(omega, np.cross(omega, r))
            spin = spin.copy()
            spin[:, k] = axis
            shift = self._point_rows(points, axes, center)
            world = turn @ rod.axes
            J = world @ np.diag(INERTIA) @ world.T
            M += MASS * shift.T @ shift + spin.T @ J @ spin
            gyro = J @ omega_dot + np.cross(omega, J @ omega)
            h += MASS * shift.T @ (a_center - self.gravity) + spin.T @ gyro
        gap, rows, bias = [], [], []
        for along in (0.0, 1.0):
            start = self.closing.point + along * self.closing.axis
            x = turn @ start + origin
            r = x - points[-1]
            gap.append(x - start)
            rows.append(self._point_rows(points, axes, x))
            bias.append(a + np.cross(omega_dot, r) + np.cross(omega, np.cross(omega, r)))
        return _Terms(M, h, np.concatenate(gap), np.vstack(rows), np.concatenate(bias), centers)

    def _point_rows(
        self, points: list[np.ndarray], axes: list[np.ndarray], x: np.ndarray
    ) -> np.ndarray:
        rows = np.zeros((3, len(self.rods)))
        for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
            rows[:, k] = np.cross(axis, x - point)
        return rows


def _rotation(vector: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(vector)
    if angle < 1e-300:
        return np.eye(3)
    x, y, z = vector / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
