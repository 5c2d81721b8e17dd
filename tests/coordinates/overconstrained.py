"""Loops that move though their equations are too many, with their motion from one equation.

Each has one freedom s: with T = ½ I(s) ṡ² and V(s), its motion is I s̈ + ½ I′ ṡ² + V′ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

import zwang as zw

G = 9.81


def turned(axis, angle):
    """The matrix of a turn about an axis; the angle may be complex."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def at_random(generator):
    """A turn of the world by chance."""
    return turned(generator.standard_normal(3), generator.uniform(0.3, 3.0))


def moved(inertia, slope, potential_slope, start, times):
    """The freedom s of a motion from rest at some times; I, I′ and V′ are functions of s."""

    def rates(_, y):
        s, rate = y
        return [rate, -(0.5 * slope(s) * rate**2 + potential_slope(s)) / inertia(s)]

    found = solve_ivp(
        rates, (0.0, times[-1]), [start, 0.0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-12
    )
    return found.y[0]


@dataclass(frozen=True)
class Sarrus:
    """A platform on chains of two equal links and three parallel hinges each: it rises straight.

    Attributes
    ----------
    length, angle : of the links, and of the lower ones against the horizontal at the start.
    radius, directions : where the chains stand around the platform.
    frame : axes of the linkage, with the rise along their z.
    """

    length: float = 0.6
    angle: float = 1.1
    radius: float = 0.4
    directions: tuple[float, ...] = (0.0, np.pi / 2)
    frame: np.ndarray = None

    PLATE, LINK = 2.0, 0.5

    def mechanism(self):
        R = np.eye(3) if self.frame is None else self.frame
        m = zw.Mechanism(gravity=-G * R[:, 2])
        L, rise = self.length, np.array([0.0, 0.0, 2.0 * self.length * np.sin(self.angle)])
        top = m.body(
            "top",
            inertia=zw.inertia.box(self.PLATE, (0.8, 0.8, 0.05)),
            position=R @ rise,
            orientation=R,
        )
        for k, direction in enumerate(self.directions):
            out = np.array([np.cos(direction), np.sin(direction), 0.0])
            axis = R @ np.cross([0.0, 0.0, 1.0], out)
            foot, head = self.radius * out, self.radius * out + rise
            knee = (foot + head) / 2.0 + L * np.cos(self.angle) * out
            foot, knee, head = R @ foot, R @ knee, R @ head
            links = [
                m.body(
                    f"{name}{k}",
                    inertia=zw.inertia.rod(self.LINK, L, axis=b - a),
                    position=(a + b) / 2.0,
                )
                for name, a, b in (("low", foot, knee), ("high", knee, head))
            ]
            m.revolute(f"foot{k}", m.ground, links[0], at=foot, axis=axis)
            m.revolute(f"knee{k}", links[0], links[1], at=knee, axis=axis)
            m.revolute(f"head{k}", links[1], top, at=head, axis=axis)
        return m

    def height(self, times):
        """Of the platform, from the angle of the lower links."""
        L, n, c = self.length, len(self.directions), np.cos
        around = self.LINK * L**2 * n

        def inertia(s):  # the lower link turns about its foot, the upper one's centre moves as well
            return 4.0 * self.PLATE * L**2 * c(s) ** 2 + around * (2.0 / 3.0 + 2.0 * c(s) ** 2)

        def slope(s):
            return -np.sin(2.0 * s) * (4.0 * self.PLATE * L**2 + 2.0 * around)

        def weight(s):
            return 2.0 * G * L * c(s) * (self.PLATE + n * self.LINK)

        return 2.0 * L * np.sin(moved(inertia, slope, weight, self.angle, times))


@dataclass(frozen=True)
class Bennett:
    """Four bars in space, opposite ones alike, with a/sin α = b/sin β; it moves nevertheless.

    Attributes
    ----------
    alpha, beta : twists of the bars, between their hinges; the first bar has unit length.
    angle : of the first hinge at the start.
    """

    alpha: float = np.pi / 4
    beta: float = np.pi / 2
    angle: float = 1.2
    frame: np.ndarray = None

    MASS, RADIUS = 1.0, 0.05

    def places(self, s):
        """Turns and origins of the frames at the hinges, from the angle of the first."""
        R, at = np.eye(3) if self.frame is None else self.frame, np.zeros(3)
        across = np.sin((self.alpha + self.beta) / 2.0) / np.sin((self.beta - self.alpha) / 2.0)
        other = 2.0 * np.arctan(across / np.tan(s / 2.0))
        b = np.sin(self.beta) / np.sin(self.alpha)
        found = [(R, at)]
        for angle, length, twist in (
            (s, 1.0, self.alpha),
            (other, b, self.beta),
            (-s, 1.0, self.alpha),
            (-other, b, self.beta),
        ):
            R = R @ turned([0, 0, 1], angle)
            at = at + length * R[:, 0]
            R = R @ turned([1, 0, 0], twist)
            found.append((R, at))
        return found

    def mechanism(self):
        m = zw.Mechanism(gravity=(0.0, 0.0, -G))
        frames = self.places(self.angle)
        bodies = [m.ground]
        for k in range(3):
            a, b = frames[k][1], frames[k + 1][1]
            bodies.append(m.body(f"bar{k}", inertia=self._bar(a, b), position=(a + b) / 2.0))
        bodies.append(m.ground)
        for k in range(4):
            R, at = frames[k]
            m.revolute(f"hinge{k}", bodies[k], bodies[k + 1], at=at, axis=R[:, 2])
        return m

    def _bar(self, a, b):
        length = float(np.linalg.norm(b - a))
        return zw.inertia.cylinder(self.MASS, self.RADIUS, length, axis=b - a)

    def tips(self, times):
        """Where the second hinge is, (times, 3)."""
        first = self.places(self.angle)
        tensors = [np.diag([0.0] * 3)] * 3
        for k in range(3):
            a, b = first[k][1], first[k + 1][1]
            tensors[k] = first[k + 1][0].T @ self._bar(a, b).tensor @ first[k + 1][0]

        def energy(s):  # I by complex steps
            frames = self.places(s + 1e-30j)
            total, potential = 0.0, 0.0
            for k in range(3):
                R, center = frames[k + 1][0], (frames[k][1] + frames[k + 1][1]) / 2.0
                rate = center.imag / 1e-30
                spin = R.real.T @ (R.imag / 1e-30)  # in axes of the bar
                w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
                total += self.MASS * rate @ rate + w @ tensors[k] @ w
                potential += self.MASS * G * rate[2]
            return total, potential

        def slope(s):
            return (energy(s + 1e-5)[0] - energy(s - 1e-5)[0]) / 2e-5

        s = moved(lambda s: energy(s)[0], slope, lambda s: energy(s)[1], self.angle, times)
        return np.array([self.places(x)[2][1] for x in s])
