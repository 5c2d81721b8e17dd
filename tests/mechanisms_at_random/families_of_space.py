"""Loops in space: general, spherical, over-constrained, and parallel robots."""

from __future__ import annotations

from functools import partial

import numpy as np
from closed_linkages import bennett, closed
from drawing import Draft, Drawn, turn, unit
from families_of_trees import JOINTS, join

__all__ = ["FAMILIES"]


def placed(d: Draft, points: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lines of a linkage anywhere in the world, each point anywhere along its line."""
    R = turn(d.direction(), d.rng.uniform(0.0, 3.0))
    along = d.rng.uniform(-0.2, 0.2, len(points))
    return d.point() + (points + along[:, None] * axes) @ R.T, axes @ R.T


def hinge_loop(rng: np.random.Generator, points: np.ndarray, axes: np.ndarray) -> Drawn:
    """One freedom."""
    d = Draft(rng)
    d.loop(*placed(d, points, axes))
    return d.done(1)


def seven_hinges(rng: np.random.Generator) -> Drawn:
    """Seven hinges anywhere: one freedom, nothing redundant."""
    d = Draft(rng)
    angles = 2.0 * np.pi * np.arange(7) / 7.0
    points = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(7)])
    points += rng.uniform(-0.3, 0.3, (7, 3))
    d.loop(points, [d.direction() for _ in range(7)])
    return d.done(1)


#: Loops of joints with seven or eight freedoms in all, of which one or two remain.
LOOPS = [
    ("revolute", "spherical", "cylindrical", "revolute"),
    ("revolute", "universal", "universal", "cylindrical"),
    ("revolute", "cylindrical", "cylindrical", "cylindrical"),
    ("revolute", "spherical", "universal", "revolute"),
    ("revolute", "screw", "spherical", "universal"),
    ("revolute", "prismatic", "spherical", "universal"),
    ("revolute", "spherical", "spherical", "revolute"),  # with a coupler that turns about itself
]


def mixed_loop(rng: np.random.Generator) -> Drawn:
    """Four joints of several kinds in a loop."""
    d = Draft(rng)
    kinds = LOOPS[rng.integers(len(LOOPS))]
    corners = np.array([[0, 0, 0], [0.2, 0.1, 0.8], [1.0, 0.3, 0.9], [1.1, 0.0, 0.1]])
    P = corners + rng.uniform(-0.2, 0.2, (4, 3))
    bodies = [d.link(f"link{k}", P[k - 1], P[k]) for k in range(1, 4)]
    around = [d.ground, *bodies, d.ground]
    for k, kind in enumerate(kinds):
        join(d, kind, f"joint{k}", around[k], around[k + 1], P[k], d.direction())
    return d.done(sum(JOINTS[kind] for kind in kinds) - 6)


def spherical_loop(rng: np.random.Generator, hinges: int) -> Drawn:
    """Hinges whose axes meet in a point."""
    d = Draft(rng)
    at = d.point()
    angles = 2.0 * np.pi * (np.arange(hinges) + rng.uniform(-0.15, 0.15, hinges)) / hinges
    tilt = rng.uniform(0.5, 0.9)
    R = turn(d.direction(), rng.uniform(0.0, 3.0))
    axes = [R @ unit([np.cos(a) * tilt, np.sin(a) * tilt, 1.0]) for a in angles]
    d.loop([at + rng.uniform(0.4, 0.8) * axis for axis in axes], axes)
    return d.done(hinges - 3)


def spherical_3rrr(rng: np.random.Generator) -> Drawn:
    """A plate on three legs of three hinges, all of whose axes meet in a point."""
    d = Draft(rng)
    at = d.point()
    plate = d.body("plate", at + d.point(0.2))
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        feet, knees, heads = (
            unit([np.cos(angle + a) * r, np.sin(angle + a) * r, h])
            for a, r, h in (
                (rng.uniform(-0.1, 0.1), 1.0, -0.6),
                (rng.uniform(0.4, 0.7), 1.0, 0.1),
                (rng.uniform(-0.1, 0.1), 1.0, 0.8),
            )
        )
        points = [at + rng.uniform(0.4, 0.7) * axis for axis in (feet, knees, heads)]
        low, high = d.link(f"low{k}", *points[:2]), d.link(f"high{k}", *points[1:])
        d.m.revolute(f"foot{k}", d.ground, low, at=points[0], axis=feet)
        d.m.revolute(f"knee{k}", low, high, at=points[1], axis=knees)
        d.m.revolute(f"head{k}", high, plate, at=points[2], axis=heads)
    return d.done(3)


def bennett_loop(rng: np.random.Generator) -> Drawn:
    """Bennett's linkage."""
    a, alpha = 1.0, rng.uniform(0.4, 1.2)
    b = rng.uniform(0.5, 0.95)
    return hinge_loop(rng, *bennett(a, alpha, b, rng.uniform(0.8, 2.3)))


def goldberg(rng: np.random.Generator, *, myard: bool = False) -> Drawn:
    """Five hinges: two of Bennett's linkages with a common link, which goes, and welded at Q.

    M. Goldberg, New five-bar and six-bar linkages in three dimensions, Transactions of the ASME
    65 (1943) 649. F. E. Myard's plane-symmetric one (1931) has two that mirror each other, with a
    right angle as twist of the common link.
    """
    while True:
        if myard:
            a, alpha = 1.0, np.pi / 2.0
            b = c = rng.uniform(0.4, 0.8)
        else:
            a, alpha = 1.0, rng.uniform(0.5, 1.2)
            b, c = rng.uniform(0.5, 0.95, 2)
        P1, Z1 = bennett(a, alpha, b, rng.uniform(0.8, 2.2))
        P2, Z2 = bennett(a, alpha, c, -rng.uniform(0.8, 2.2))
        points = np.array([P1[0], P1[3], P1[2], P2[2], P2[3]])
        axes = np.array([Z1[0], Z1[3], Z1[2], Z2[2], Z2[3]])
        if np.linalg.norm(P1[2] - P2[2]) > 0.3:
            return hinge_loop(rng, points, axes)


def plane_symmetric(rng: np.random.Generator) -> Drawn:
    """R. Bricard's plane-symmetric linkage: hinges 1 and 4 in a plane, 2 and 6, 3 and 5 mirrored.

    Half of it has three angles, and two conditions keep its last hinge in the plane.
    """
    mirror = np.diag([1.0, -1.0, 1.0])
    while True:
        P, Z = np.zeros((6, 3)), np.zeros((6, 3))
        for k, corner in enumerate([(0, 0, 0), (0.3, 0.6, 0.2), (0.9, 0.6, 0.1), (1.2, 0, 0)]):
            P[k] = corner + rng.uniform(-0.2, 0.2, 3)
            Z[k] = unit(rng.standard_normal(3))
        for k in (0, 3):
            P[k, 1] = Z[k, 1] = 0.0
            Z[k] = unit(Z[k])
        for k, image in ((1, 5), (2, 4)):
            P[image], Z[image] = mirror @ P[k], mirror @ Z[k]
        if mobility(P, Z) == 1:
            return hinge_loop(rng, P, Z)


def bricard(rng: np.random.Generator, kind: str) -> Drawn:
    """Further kinds of R. Bricard (1927) of linkages with six hinges that move.

    Conditions as in J. E. Baker, An analysis of the Bricard linkages, Mechanism and Machine Theory
    15 (1980) 267; link i lies between hinges i and i + 1.
    """
    for _ in range(100):
        x, y, z = rng.uniform(0.4, 1.0, 3), rng.uniform(0.5, 1.6, 3), rng.uniform(-0.5, 0.5, 3)
        if kind == "trihedral":
            a = rng.uniform(0.6, 1.0, 6)
            last = a[0] ** 2 + a[2] ** 2 + a[4] ** 2 - a[1] ** 2 - a[3] ** 2
            if last < 0.2:
                continue
            a[5] = np.sqrt(last)
            alpha, d = np.tile([np.pi / 2, -np.pi / 2], 3), np.zeros(6)
        elif kind == "line":  # a₁₂ = a₄₅, … and the same of α and d
            a, alpha, d = np.tile(x, 2), np.tile(y, 2), np.tile(z, 2)
        else:  # octahedral and line-symmetric: neighbors meet, d₁ + d₄ = … = 0
            z = rng.choice([-1.0, 1.0], 3) * rng.uniform(0.4, 1.0, 3)
            a, alpha, d = np.zeros(6), np.tile(y, 2), np.concatenate([z, -z])
        try:
            points, axes = closed(rng, d, a, alpha)
        except ArithmeticError:
            continue
        if mobility(points, axes) == 1:
            return hinge_loop(rng, points, axes)
    message = f"no {kind} linkage of Bricard was found"
    raise ArithmeticError(message)


def mobility(points: np.ndarray, axes: np.ndarray) -> int:
    """Freedoms of a loop of hinges, by the rank of its screws; none where that is unclear."""
    screws = np.hstack([axes, np.cross(points, axes)])
    sizes = np.linalg.svd(screws, compute_uv=False)
    free = len(points) - int(np.sum(sizes > 1e-9))
    return free if sizes[len(points) - free - 1] > 0.05 else 0


def delta(rng: np.random.Generator) -> Drawn:
    """Delta robot: arms on hinges, each with two parallel rods without mass to the platform."""
    d = Draft(rng)
    R = turn(d.direction(), rng.uniform(0.0, 3.0)) if rng.random() < 0.5 else np.eye(3)
    at, height = d.point(), rng.uniform(0.6, 0.9)
    low, wide = rng.uniform(0.1, 0.2), rng.uniform(0.1, 0.2)
    plate = d.body("plate", at - height * R[:, 2])
    base, arm = rng.uniform(0.25, 0.35), rng.uniform(0.3, 0.45)
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        out, side = (R @ [np.cos(x), np.sin(x), 0.0] for x in (angle, angle + np.pi / 2.0))
        shoulder = at + base * out
        tilt = rng.uniform(-0.3, 0.5)
        elbow = shoulder + arm * (np.cos(tilt) * out - np.sin(tilt) * R[:, 2])
        wrist = at - height * R[:, 2] + low * out
        body = d.link(f"arm{k}", shoulder, elbow)
        d.m.revolute(f"shoulder{k}", d.ground, body, at=shoulder, axis=side)
        for j, sign in enumerate((-1.0, 1.0)):
            ends = elbow + sign * wide * side, wrist + sign * wide * side
            d.m.spherical_link(f"rod{k}{j}", body, plate, at=ends)
    return d.done(3)


def upu(rng: np.random.Generator) -> Drawn:
    """A platform on three legs, each a universal joint, a slide, and a universal joint."""
    d = Draft(rng)
    R = turn(d.direction(), rng.uniform(0.0, 3.0)) if rng.random() < 0.5 else np.eye(3)
    at = d.point()
    plate = d.body("plate", at + R @ [0.05, 0.1, rng.uniform(0.8, 1.1)])
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0 + rng.uniform(-0.1, 0.1)
        out, side = (R @ [np.cos(x), np.sin(x), 0.0] for x in (angle, angle + np.pi / 2.0))
        foot = at + rng.uniform(0.6, 0.8) * out
        head = at + rng.uniform(0.2, 0.4) * out + 0.9 * R[:, 2]
        along = unit(head - foot)
        low = d.body(f"low{k}", foot + 0.3 * (head - foot))
        high = d.body(f"high{k}", foot + 0.7 * (head - foot))
        # Crosses with one arm along `side`, parallel on base and platform.
        shaft = across_leg(side, along)
        d.m.universal(f"base{k}", d.ground, low, at=foot, axis=shaft, axis_b=along)
        d.m.prismatic(f"slide{k}", low, high, at=(foot + head) / 2.0, axis=along)
        d.m.universal(f"top{k}", high, plate, at=head, axis=along, axis_b=shaft)
    return d.done(3)


def across_leg(side: np.ndarray, along: np.ndarray) -> np.ndarray:
    """A shaft normal to `side`, bent against the leg."""
    return unit(along + 0.8 * np.cross(side, along))


def platform_on_legs(rng: np.random.Generator, legs: int) -> Drawn:
    """A platform on six legs of fixed length, or more: nothing moves."""
    d = Draft(rng)
    at = d.point()
    plate = d.body("plate", at + [0.0, 0.0, 1.0])
    for k in range(legs):
        low, high = 2.0 * np.pi * (k // 2) / 3.0, 2.0 * np.pi * ((k + 1) // 2) / 3.0
        feet = at + np.array([np.cos(low), np.sin(low), 0.0]) + d.point(0.15)
        head = at + np.array([0.5 * np.cos(high + 0.5), 0.5 * np.sin(high + 0.5), 1.0])
        d.m.spherical_link(f"leg{k}", d.ground, plate, at=(feet, head + d.point(0.1)))
    return d.done(0, carried=False)


FAMILIES = {
    "seven_hinges": seven_hinges,
    "mixed_loop": mixed_loop,
    "spherical_four_bar": partial(spherical_loop, hinges=4),
    "spherical_five_bar": partial(spherical_loop, hinges=5),
    "spherical_3rrr": spherical_3rrr,
    "bennett": bennett_loop,
    "goldberg": goldberg,
    "myard": partial(goldberg, myard=True),
    "bricard_trihedral": partial(bricard, kind="trihedral"),
    "bricard_line": partial(bricard, kind="line"),
    "bricard_plane": plane_symmetric,
    "bricard_octahedral": partial(bricard, kind="octahedral"),
    "delta": delta,
    "upu": upu,
    "platform_on_six_legs": partial(platform_on_legs, legs=6),
    "platform_on_seven_legs": partial(platform_on_legs, legs=7),
}
