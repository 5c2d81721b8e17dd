"""Linkages without masses, for kinematics, placed from their closed forms."""

from __future__ import annotations

import numpy as np

import zwang as zw

__all__ = ["circles", "four_bar", "rssr", "slider_crank"]


def slider_crank(r: float = 1.0, length: float = 3.0, angle: float = 0.4) -> zw.Mechanism:
    """Crank, rod and slider on the x axis; displacements count from the placement."""
    pin = r * np.array([np.cos(angle), np.sin(angle)])
    tilt = -np.arcsin(pin[1] / length)
    x = pin[0] + length * np.cos(tilt)
    m = zw.Mechanism(plane="xy")
    crank = m.body("crank", position=(0, 0), angle=angle)
    rod = m.body("rod", position=pin, angle=tilt)
    slider = m.body("slider", position=(x, 0))
    m.revolute("main", m.ground, crank, at=(0, 0))
    m.revolute("pin", crank, rod, at=pin)
    m.revolute("gudgeon", rod, slider, at=(x, 0))
    m.prismatic("guide", m.ground, slider, at=(x, 0), axis="x")
    return m


def circles(p: np.ndarray, a: float, q: np.ndarray, b: float, side: float) -> np.ndarray:
    """Where circles about p and q meet, on the left (side 1) or right (−1) of the way p to q."""
    d = q - p
    distance = np.hypot(*d)
    along = (a**2 - b**2 + distance**2) / (2.0 * distance)
    across = side * np.sqrt(a**2 - along**2)
    unit = d / distance
    return p + along * unit + across * np.array([-unit[1], unit[0]])


def four_bar(
    crank: float,
    coupler: float,
    rocker: float,
    ground: float,
    *,
    side: float = 1.0,
    angle: float = 0.7,
    cranks: int = 1,
) -> zw.Mechanism:
    """A planar four-bar; bodies have their frames at A and B with x along the link.

    More cranks stand between both ends, parallel to the first: redundant if it is a parallelogram.
    """
    B = crank * np.array([np.cos(angle), np.sin(angle)])
    D = np.array([ground, 0.0])
    C = circles(B, coupler, D, rocker, side)
    m = zw.Mechanism(plane="xy")
    first = m.body("crank", position=(0, 0), angle=angle)
    second = m.body("coupler", position=B, angle=np.arctan2(*(C - B)[::-1]))
    third = m.body("rocker", position=D, angle=np.arctan2(*(C - D)[::-1]))
    m.revolute("A", m.ground, first, at=(0, 0))
    m.revolute("B", first, second, at=B)
    m.revolute("C", second, third, at=C)
    m.revolute("D", m.ground, third, at=D)
    for k in range(1, cranks):
        foot = k / cranks * D
        extra = m.body(f"crank{k}", position=foot, angle=angle)
        m.revolute(f"foot{k}", m.ground, extra, at=foot)
        m.revolute(f"head{k}", extra, second, at=foot + B)
    return m


def rssr(a: float, length: float, b: float, foot: np.ndarray, angle: float = 0.3) -> zw.Mechanism:
    """Crank about z at the origin, rocker about x at `foot`, joined by a rod with two balls."""
    P = a * np.array([np.cos(angle), np.sin(angle), 0.0])
    output = rssr_output(a, length, b, foot, np.array([angle]))[0]
    S = foot + b * np.array([0.0, np.cos(output), np.sin(output)])
    m = zw.Mechanism()
    crank = m.body("crank")
    rod = m.body("rod", position=0.5 * (P + S))
    rocker = m.body("rocker", position=foot)
    m.revolute("input", m.ground, crank, at=(0, 0, 0), axis="z")
    m.spherical("first", crank, rod, at=P)
    m.spherical("second", rod, rocker, at=S)
    m.revolute("output", m.ground, rocker, at=foot, axis="x")
    return m


def rssr_output(
    a: float, length: float, b: float, foot: np.ndarray, angle: np.ndarray
) -> np.ndarray:
    """Angle of the rocker from y towards z: |foot + b (0, cos ψ, sin ψ) − P|² = length²."""
    P = a * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    d = foot - P
    # 2 b (d_y cos ψ + d_z sin ψ) = length² − b² − |d|²
    right = (length**2 - b**2 - np.sum(d * d, axis=1)) / (2.0 * b)
    return np.arctan2(d[:, 2], d[:, 1]) + np.arccos(right / np.hypot(d[:, 1], d[:, 2]))
