"""Parallel robots, and their inverse dynamics by Newton and Euler, written apart."""

from __future__ import annotations

import numpy as np

import zwang as zw

__all__ = ["Delta", "Stewart"]

G = np.array([0.0, 0.0, -9.81])


class Stewart:
    """A platform on six legs, each a thin heavy rod below and one above that slides in it."""

    mass, inertia = 12.0, np.array([0.9, 1.1, 1.8])
    lower, upper = 3.0, 2.0
    length_lower, length_upper = 0.6, 0.7

    def __init__(self) -> None:
        base = np.radians([0, 20, 120, 140, 240, 260])
        top = np.radians([-50, 70, 70, 190, 190, 310]) + np.radians([8, -8, 8, -8, 8, -8])
        self.base = np.stack([1.0 * np.cos(base), 1.0 * np.sin(base), 0 * base], axis=1)
        self.top = np.stack([0.5 * np.cos(top), 0.5 * np.sin(top), 0 * top - 0.05], axis=1)
        self.home = np.array([0.0, 0.0, 1.1])

    def mechanism(self, *, driven: bool = False) -> zw.Mechanism:
        """The robot at home; driven, its platform follows `pose`."""
        m = zw.Mechanism(gravity=G)
        plate = m.body("plate", mass=self.mass, inertia=self.inertia, position=self.home)
        for i, (B, P) in enumerate(zip(self.base, self.home + self.top, strict=True)):
            s = (P - B) / np.linalg.norm(P - B)
            rods = []
            for name, mass, length, center in (
                ("lower", self.lower, self.length_lower, B + 0.5 * self.length_lower * s),
                ("upper", self.upper, self.length_upper, P - 0.5 * self.length_upper * s),
            ):
                J = mass * length**2 / 12.0 * (np.eye(3) - np.outer(s, s))
                rods.append(m.body(f"{name}{i}", mass=mass, inertia=J, position=center))
            m.universal(f"foot{i}", m.ground, rods[0], at=B, axis="z", axis_b=s)
            m.prismatic(f"leg{i}", rods[0], rods[1], at=B, axis=s)
            m.spherical(f"ball{i}", rods[1], plate, at=P)
        if driven:
            m.drive("place", "plate.position", lambda t: self.position(t, np))
            m.drive("turn", "plate.orientation", lambda t: self.quaternion(t, np))
        return m

    @staticmethod
    def position(t, xp):
        """Where the plate goes."""
        return [0.1 * xp.sin(2.0 * t), 0.08 * (1 - xp.cos(3.0 * t)), 1.1 + 0.05 * xp.sin(4.0 * t)]

    @staticmethod
    def quaternion(t, xp):
        """How it turns: about an axis that is fixed, by an angle that is not."""
        axis = np.array([0.36, 0.48, 0.8])
        half = 0.15 * xp.sin(3.0 * t)
        return [xp.cos(half), *(axis[k] * xp.sin(half) for k in range(3))]

    def efforts(self, t: float) -> np.ndarray:
        """Forces that push the legs apart, by Newton and Euler."""
        h = [np.array(x) for x in self._position(t)]
        axis, turn = np.array([0.36, 0.48, 0.8]), 0.3 * np.sin(3.0 * t)
        w, alpha = 0.9 * np.cos(3.0 * t) * axis, -2.7 * np.sin(3.0 * t) * axis
        R = rotation(axis, turn)
        wrench = np.zeros((6, 6))
        known = np.zeros(6)
        legs = []
        for k, (B, local) in enumerate(zip(self.base, self.top, strict=True)):
            arm = R @ local
            P = h[0] + arm
            V = h[1] + np.cross(w, arm)
            A = h[2] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
            L = np.linalg.norm(P - B)
            s = (P - B) / L
            rate = V @ s
            s1 = (V - rate * s) / L
            s2 = (A - (A @ s) * s - 2 * rate * s1) / L - (s1 @ s1) * s
            # s2 is the second derivative of the unit vector s: L̈ s + 2 L̇ ṡ + L s̈ = A.
            L2 = A @ s + L * (s1 @ s1)
            s2 = (A - L2 * s - 2 * rate * s1) / L
            c1, c2 = 0.5 * self.length_lower, L - 0.5 * self.length_upper
            a2 = L2 * s + 2 * rate * s1 + c2 * s2
            m1, m2 = self.lower, self.upper
            J1 = m1 * self.length_lower**2 / 12.0 + m1 * c1**2
            J2 = m2 * self.length_upper**2 / 12.0
            spin = J1 * np.cross(s, s2) + m2 * np.cross(c2 * s, a2) + J2 * np.cross(s, s2)
            weight = m1 * c1 * np.cross(s, G) + m2 * c2 * np.cross(s, G)
            across = np.cross(spin - weight, s) / L  # of the force on the leg at its ball
            known[:3] -= across
            known[3:] -= np.cross(arm, across)
            wrench[:3, k], wrench[3:, k] = -s, -np.cross(arm, s)
            legs.append((s, a2))
        J = R @ np.diag(self.inertia) @ R.T
        needed = np.concatenate([self.mass * (h[2] - G), J @ alpha + np.cross(w, J @ w)])
        axial = np.linalg.solve(wrench, needed - known)
        return np.array(
            [self.upper * (a2 - G) @ s - f for (s, a2), f in zip(legs, axial, strict=True)]
        )

    @staticmethod
    def _position(t):
        return (
            [0.1 * np.sin(2 * t), 0.08 * (1 - np.cos(3 * t)), 1.1 + 0.05 * np.sin(4 * t)],
            [0.2 * np.cos(2 * t), 0.24 * np.sin(3 * t), 0.2 * np.cos(4 * t)],
            [-0.4 * np.sin(2 * t), 0.72 * np.cos(3 * t), -0.8 * np.sin(4 * t)],
        )


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Delta:
    """Clavel's robot: three arms, each with two parallel rods without mass to the platform."""

    arm, rod, base, plate = 0.3, 0.7, 0.2, 0.06
    mass_arm, mass = 1.5, 2.0
    half = 0.05  # of the distance between the two rods of a pair
    depth = -0.75

    def directions(self):
        """Outward and along the axis of each arm."""
        angles = np.radians([0.0, 120.0, 240.0])
        out = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
        return out, np.stack([-np.sin(angles), np.cos(angles), 0 * angles], axis=1)

    def angle(self, p: np.ndarray, out: np.ndarray) -> float:
        """Angle of an arm below the horizontal for a place of the platform."""
        # Elbow: base out + arm (out cos θ − z sin θ); |p + plate out − elbow| = rod.
        d = p + (self.plate - self.base) * out
        a, b = d @ out, d[2]
        c = (d @ d + self.arm**2 - self.rod**2) / (2 * self.arm)
        return float(np.arctan2(-b, a) - np.arccos(c / np.hypot(a, b)))

    def mechanism(self) -> zw.Mechanism:
        """The robot with its platform at (0, 0, depth)."""
        m = zw.Mechanism(gravity=G)
        home = np.array([0.0, 0.0, self.depth])
        plate = m.body("plate", mass=self.mass, inertia=(0.01, 0.01, 0.02), position=home)
        for i, (out, side) in enumerate(zip(*self.directions(), strict=True)):
            theta = self.angle(home, out)
            foot = self.base * out
            along = np.cos(theta) * out - np.sin(theta) * np.array([0.0, 0.0, 1.0])
            J = self.mass_arm * self.arm**2 / 12.0 * (np.eye(3) - np.outer(along, along))
            arm = m.body(
                f"arm{i}", mass=self.mass_arm, inertia=J, position=foot + 0.5 * self.arm * along
            )
            m.revolute(f"motor{i}", m.ground, arm, at=foot, axis=side)
            for k, sign in enumerate((1.0, -1.0)):
                shift = sign * self.half * side
                ends = foot + self.arm * along + shift, home + self.plate * out + shift
                m.spherical_link(f"rod{i}{k}", arm, plate, at=ends, length=self.rod)
        return m

    def efforts(self, p: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Torques about the axes of the arms, positive downward, by Newton and Euler."""
        z = np.array([0.0, 0.0, 1.0])
        rods, arms = [], []
        for out, side in zip(*self.directions(), strict=True):
            theta = self.angle(p, out)
            e = np.cos(theta) * out - np.sin(theta) * z
            e1 = -np.sin(theta) * out - np.cos(theta) * z  # de/dθ
            d = p + (self.plate - self.base) * out - self.arm * e
            # d·ḋ = 0 and d·d̈ + ḋ·ḋ = 0 give θ̇ and θ̈.
            rate = (d @ v) / (self.arm * (d @ e1))
            d1 = v - self.arm * rate * e1
            second = (d @ a + d1 @ d1 + self.arm * rate**2 * (d @ e)) / (self.arm * (d @ e1))
            rods.append(d / self.rod)
            arms.append((e, e1, second))
            del side
        push = np.linalg.solve(np.array(rods).T, self.mass * (a - G))
        inertia = self.mass_arm * self.arm**2 / 3.0
        return np.array(
            [
                inertia * second
                - self.mass_arm * 0.5 * self.arm * (G @ e1)
                + f * self.arm * (s @ e1)
                for (e, e1, second), s, f in zip(arms, rods, push, strict=True)
            ]
        )
