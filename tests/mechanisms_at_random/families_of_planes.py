"""Linkages that move in a plane: built in it, built in space, and in two planes at once."""

from __future__ import annotations

from functools import partial

import numpy as np
from drawing import GRAVITY, Draft, Drawn, turn, unit
from scipy.integrate import solve_ivp

__all__ = ["FAMILIES"]


def quadrilateral(rng: np.random.Generator) -> np.ndarray:
    """Four points of a linkage far from its flat positions, shape (4, 2)."""
    while True:
        P = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [rng.uniform(0.8, 1.4), 0.0]])
        P[1] = rng.uniform(0.3, 0.8) * _way(rng.uniform(0.6, 2.2))
        P[2] = P[3] + rng.uniform(0.4, 0.9) * _way(rng.uniform(0.6, 2.2))
        sides = np.roll(P, -1, axis=0) - P
        sides /= np.linalg.norm(sides, axis=1)[:, None]
        after = np.roll(sides, -1, axis=0)
        bent = np.abs(sides[:, 0] * after[:, 1] - sides[:, 1] * after[:, 0])
        if np.linalg.norm(P[2] - P[1]) > 0.3 and bent.min() > 0.3:
            return P


def _way(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def in_space(d: Draft, P: np.ndarray, E: np.ndarray, at: np.ndarray, heights: bool = False):
    """Points of a plane in the world, at different heights above it if asked for."""
    up = d.rng.uniform(-0.2, 0.2, len(P)) if heights else np.zeros(len(P))
    return at + P @ E[:, :2].T + up[:, None] * E[:, 2]


def four_bar(rng: np.random.Generator) -> Drawn:
    """In its plane."""
    d = Draft(rng, plane="xz")
    d.loop(quadrilateral(rng), None)
    return d.done(1)


def massless_coupler(rng: np.random.Generator) -> Drawn:
    """The same with a coupler without mass."""
    d = Draft(rng, plane="xz")
    P = quadrilateral(rng)
    left, right = d.link("left", P[0], P[1]), d.link("right", P[2], P[3])
    coupler = d.m.body("coupler", position=(P[1] + P[2]) / 2.0)
    for k, (a, b) in enumerate(
        [(d.ground, left), (left, coupler), (coupler, right), (right, d.ground)]
    ):
        d.m.revolute(f"hinge{k}", a, b, at=P[k])
    return d.done(1)


def five_bar(rng: np.random.Generator) -> Drawn:
    """In its plane, with two freedoms."""
    d = Draft(rng, plane="xz")
    P = np.insert(quadrilateral(rng), 2, [rng.uniform(0.3, 0.7), rng.uniform(1.0, 1.3)], axis=0)
    d.loop(P, None)
    return d.done(2)


def slider_crank(rng: np.random.Generator) -> Drawn:
    """In its plane, with a slide in any direction."""
    d = Draft(rng, plane="xz")
    P = quadrilateral(rng)
    crank, rod = d.link("crank", P[0], P[1]), d.link("rod", P[1], P[2])
    slider = d.body("slider", P[2])
    d.m.revolute("bearing", d.ground, crank, at=P[0])
    d.m.revolute("pin", crank, rod, at=P[1])
    d.m.revolute("wrist", rod, slider, at=P[2])
    d.m.prismatic("slide", d.ground, slider, at=P[2], axis=_tilted(rng, P))
    return d.done(1)


def _tilted(rng: np.random.Generator, P: np.ndarray) -> np.ndarray:
    """A direction not across the rod."""
    rod = (P[2] - P[1]) / np.linalg.norm(P[2] - P[1])
    angle = rng.uniform(-0.9, 0.9)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * rod[0] - s * rod[1], s * rod[0] + c * rod[1]])


def ring_of_masses(rng: np.random.Generator) -> Drawn:
    """A ring of bars in its plane whose masses differ by up to eight decades."""
    d = Draft(rng, plane="xz")
    n = int(rng.choice([6, 8, 12, 16]))
    angles = 2.0 * np.pi * (np.arange(n + 1) + rng.uniform(-0.2, 0.2, n + 1)) / (n + 1)
    P = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.8, 1.2, n + 1)[:, None]
    masses = 10.0 ** rng.uniform(-4.0, 4.0, n)
    bodies = [d.link(f"link{k}", P[k], P[k + 1], float(masses[k])) for k in range(n)]
    around = [d.ground, *bodies, d.ground]
    for k in range(n + 1):
        d.m.revolute(f"hinge{k}", around[k], around[k + 1], at=P[k])
    return d.done(n - 2, spread=float(masses.max() / masses.min()))


def four_bar_in_space(
    rng: np.random.Generator, *, friction: str = "", driven: bool = False, doubled: bool = False
) -> Drawn:
    """Hinges about the normal of any plane, at any height along it."""
    d = Draft(rng, parameters={"rate": rng.uniform(-2.0, 2.0)} if driven else {})
    E, at = d.plane_axes(), d.point()
    P = in_space(d, quadrilateral(rng), E, at, heights=bool(rng.random() < 0.5))
    around = [d.ground, *d.loop(P, [E[:, 2]] * 4), d.ground]
    names = [None, "link1", "link2", "link3", None]
    if doubled:
        k = int(rng.integers(4))
        d.m.revolute("again", around[k], around[k + 1], at=P[k] + 0.3 * E[:, 2], axis=E[:, 2])
    if friction:
        for k in range(3):
            d.rub(f"hinge{k}", names[k], names[k + 1], E[:, 2], 0.2 if friction == "dry" else 0.0)
    if driven:
        d.m.drive("driven", "hinge0.angle", lambda t, p: p.rate * t)
    return d.done(
        0 if driven else 1,
        planar=True,
        redundant_in_plane=doubled,
        lossless=not (friction or driven),
    )


def slider_crank_in_space(rng: np.random.Generator) -> Drawn:
    """The same with a slide in any direction of the plane."""
    d = Draft(rng)
    E, at = d.plane_axes(), d.point()
    flat = quadrilateral(rng)
    P = in_space(d, flat, E, at)
    crank, rod = d.link("crank", P[0], P[1]), d.link("rod", P[1], P[2])
    slider = d.body("slider", P[2])
    d.m.revolute("bearing", d.ground, crank, at=P[0], axis=E[:, 2])
    d.m.revolute("pin", crank, rod, at=P[1], axis=E[:, 2])
    d.m.revolute("wrist", rod, slider, at=P[2], axis=E[:, 2])
    d.m.prismatic("slide", d.ground, slider, at=P[2], axis=E[:, :2] @ _tilted(rng, flat))
    return d.done(1, planar=True)


def cranks(rng: np.random.Generator) -> Drawn:
    """A coupler on three or four equal cranks; it swings like a pendulum.

    With θ the angle of all cranks, masses m at s along the crank and M of the coupler,
    (Σ(J + m s²) + M L²) θ̈ = (Σ m s + M L) g·∂e/∂θ.
    """
    d = Draft(rng)
    E, at = d.plane_axes(), d.point()
    n, L, start = int(rng.integers(3, 5)), rng.uniform(0.5, 1.0), rng.uniform(0.5, 1.3)
    feet = np.column_stack([np.sort(rng.uniform(0.0, 1.5, n)), rng.uniform(-0.3, 0.3, n)])
    feet[:, 0] += 0.4 * np.arange(n)
    heads = feet + L * _way(start)
    F, H = in_space(d, feet, E, at), in_space(d, heads, E, at)
    center = H.mean(axis=0)
    coupler = d.body("coupler", center)
    inertia, moment = d.masses["coupler"] * L**2, d.masses["coupler"] * L
    for k in range(n):
        # Balls, so that their inertia about the normal is known whatever the plane.
        mass, share = float(rng.uniform(0.5, 2.0)), float(rng.uniform(0.3, 0.7))
        J = mass * 0.02
        d.masses[f"crank{k}"] = mass
        crank = d.m.body(
            f"crank{k}", mass=mass, inertia=(J, J, J), position=F[k] + share * (H[k] - F[k])
        )
        d.m.revolute(f"foot{k}", d.ground, crank, at=F[k], axis=E[:, 2])
        d.m.revolute(f"head{k}", crank, coupler, at=H[k], axis=E[:, 2])
        inertia += J + mass * (share * L) ** 2
        moment += mass * share * L
    g = E[:, :2].T @ GRAVITY

    def exact(t: np.ndarray) -> np.ndarray:
        rate = lambda _, y: [  # noqa: E731
            y[1],
            moment / inertia * (g @ [-np.sin(y[0]), np.cos(y[0])]),
        ]
        kept = solve_ivp(rate, (0.0, t[-1]), [start, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12).y[0]
        moved = L * (np.column_stack([np.cos(kept), np.sin(kept)]) - _way(start))
        return center + moved @ E[:, :2].T

    return d.done(1, planar=True, redundant_in_plane=True, exact=("coupler", exact))


def peaucellier(rng: np.random.Generator) -> Drawn:
    """Peaucellier's inversor: a rhombus on two long arms, a crank through the center's circle."""
    d = Draft(rng)
    E, at = d.plane_axes(), d.point()
    arm, side, spread = rng.uniform(1.0, 1.3), rng.uniform(0.5, 0.65), rng.uniform(0.2, 0.35)
    tilt = rng.uniform(-0.4, 0.4)
    # O the center; A, B ends of the long arms; C, D on the line of symmetry; Q under the crank.
    foot, rest = arm * np.cos(spread), np.sqrt(side**2 - (arm * np.sin(spread)) ** 2)
    turned = np.column_stack([_way(tilt), _way(tilt + np.pi / 2)])
    flat = (
        np.array(
            [
                [0.0, 0.0],
                [foot, arm * np.sin(spread)],
                [foot, -arm * np.sin(spread)],
                [foot - rest, 0.0],
                [foot + rest, 0.0],
            ]
        )
        @ turned.T
    )
    C = flat[3]
    Q = np.array([0.5 * (C @ C) / C[0], 0.0])  # |QO| = |QC|: the circle passes through O
    O, A, B, C, D = in_space(d, flat, E, at)
    (Q,) = in_space(d, Q[None], E, at)
    n = E[:, 2]
    bars = {
        name: d.link(name, p, q)
        for name, p, q in (
            ("oa", O, A),
            ("ob", O, B),
            ("ac", A, C),
            ("bc", B, C),
            ("ad", A, D),
            ("bd", B, D),
            ("crank", Q, C),
        )
    }
    for name, a, b, point in (
        ("O1", None, "oa", O),
        ("O2", None, "ob", O),
        ("Q", None, "crank", Q),
        ("A1", "oa", "ac", A),
        ("A2", "oa", "ad", A),
        ("B1", "ob", "bc", B),
        ("B2", "ob", "bd", B),
        ("C1", "ac", "bc", C),
        ("C2", "ac", "crank", C),
        ("D", "ad", "bd", D),
    ):
        first = d.ground if a is None else bars[a]
        d.m.revolute(name, first, bars[b], at=point, axis=n)
    return d.done(1, planar=True)


def planar_3rrr(rng: np.random.Generator) -> Drawn:
    """A plate on three legs of three hinges each, in any plane; three freedoms."""
    d = Draft(rng)
    E, at = d.plane_axes(), d.point()
    plate = d.body("plate", at)
    for k in range(3):
        out = _way(2.0 * np.pi * k / 3.0 + rng.uniform(-0.2, 0.2))
        flat = np.array([rng.uniform(0.9, 1.1) * out, [0.0, 0.0], 0.3 * out])
        flat[1] = 0.6 * out + rng.uniform(0.25, 0.4) * np.array([-out[1], out[0]])
        P = in_space(d, flat, E, at)
        low, high = d.link(f"low{k}", P[0], P[1]), d.link(f"high{k}", P[1], P[2])
        d.m.revolute(f"foot{k}", d.ground, low, at=P[0], axis=E[:, 2])
        d.m.revolute(f"knee{k}", low, high, at=P[1], axis=E[:, 2])
        d.m.revolute(f"head{k}", high, plate, at=P[2], axis=E[:, 2])
    return d.done(3, planar=True)


def crossing_planes(rng: np.random.Generator) -> Drawn:
    """Four-bars in two planes whose cranks are coupled."""
    d = Draft(rng)
    for name, E in (("a", d.plane_axes()), ("b", d.plane_axes())):
        P = in_space(d, quadrilateral(rng), E, d.point())
        d.loop(P, [E[:, 2]] * 4, name)
    d.m.couple("belt", "ahinge0.angle", "bhinge0.angle", float(rng.uniform(0.4, 1.5)))
    return d.done(1)


def locked_triangle(rng: np.random.Generator) -> Drawn:
    """Two bars and the ground in a triangle of hinges: nothing moves, and rows are redundant."""
    d = Draft(rng)
    E, at = d.plane_axes(), d.point()
    flat = np.array([[0.0, 0.0], [rng.uniform(0.3, 0.7), rng.uniform(0.5, 0.9)], [1.0, 0.0]])
    d.loop(in_space(d, flat, E, at), [E[:, 2]] * 3)
    return d.done(0, planar=True)


def sarrus(rng: np.random.Generator, *, chains: int, friction: bool = False) -> Drawn:
    """A platform on two or three chains of three parallel hinges each: it moves straight.

    P. F. Sarrus, Comptes rendus 36 (1853) 1036. Axes lie across the way of the platform; knees,
    feet and heads are anywhere.
    """
    d = Draft(rng)
    aligned = rng.random() < 0.4
    way = np.array([0.0, 0.0, 1.0]) if aligned else d.direction()
    side = across_of(way)
    top = d.body("top", rng.uniform(0.8, 1.2) * way, mass=float(rng.uniform(1.0, 3.0)))
    for k in range(chains):
        angle = k * np.pi / chains + (0.0 if aligned else rng.uniform(-0.3, 0.3))
        out = turn(way, angle) @ side
        axis = np.cross(way, out)
        foot = rng.uniform(0.3, 0.5) * out + 0.1 * rng.standard_normal() * axis
        head = rng.uniform(0.3, 0.5) * out + rng.uniform(0.8, 1.2) * way
        knee = (foot + head) / 2.0 + rng.uniform(0.25, 0.5) * out
        low, high = d.link(f"low{k}", foot, knee), d.link(f"high{k}", knee, head)
        d.m.revolute(f"foot{k}", d.ground, low, at=foot, axis=axis)
        d.m.revolute(f"knee{k}", low, high, at=knee, axis=axis)
        d.m.revolute(f"head{k}", high, top, at=head, axis=axis)
        if friction:
            d.rub(f"foot{k}", None, f"low{k}", axis)
    return d.done(1)


def across_of(way: np.ndarray) -> np.ndarray:
    """A direction normal to another, exactly along x if that is z."""
    return unit(np.cross([0.0, 1.0, 0.0], way))


FAMILIES = {
    "four_bar": four_bar,
    "massless_coupler": massless_coupler,
    "five_bar": five_bar,
    "slider_crank": slider_crank,
    "ring_of_masses": ring_of_masses,
    "four_bar_in_space": four_bar_in_space,
    "four_bar_with_a_joint_twice": partial(four_bar_in_space, doubled=True),
    "four_bar_driven": partial(four_bar_in_space, driven=True),
    "four_bar_viscous": partial(four_bar_in_space, friction="viscous"),
    "four_bar_dry": partial(four_bar_in_space, friction="dry"),
    "four_bar_dry_driven": partial(four_bar_in_space, friction="dry", driven=True),
    "slider_crank_in_space": slider_crank_in_space,
    "cranks": cranks,
    "peaucellier": peaucellier,
    "planar_3rrr": planar_3rrr,
    "crossing_planes": crossing_planes,
    "locked_triangle": locked_triangle,
    "sarrus_of_two": partial(sarrus, chains=2),
    "sarrus_of_three": partial(sarrus, chains=3),
    "sarrus_with_friction": partial(sarrus, chains=2, friction=True),
}
