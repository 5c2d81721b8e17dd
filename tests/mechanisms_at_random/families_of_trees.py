"""Open trees, contacts, gears, and doors: families without loops of links."""

from __future__ import annotations

from functools import partial

import numpy as np
from drawing import GRAVITY, Draft, Drawn, across, geared, unit

__all__ = ["FAMILIES"]

#: Joints of a tree and how many freedoms each leaves.
JOINTS = {
    "revolute": 1,
    "prismatic": 1,
    "cylindrical": 2,
    "screw": 1,
    "spherical": 3,
    "planar": 3,
    "universal": 2,
    "constant_velocity": 2,
    "fixed": 0,
}
#: Which follow one another; together all of them. A few sequences share their compiled equations.
SEQUENCES = [
    ("revolute", "prismatic", "spherical"),
    ("cylindrical", "revolute", "universal"),
    ("spherical", "screw", "revolute"),
    ("planar", "revolute", "fixed"),
    ("universal", "cylindrical", "revolute"),
    ("prismatic", "constant_velocity", "revolute"),
]


def join(d: Draft, kind: str, name: str, a, b, at, axis) -> None:
    """A joint of a kind, with all that it needs besides a place and an axis."""
    more = {}
    if kind in {"spherical", "fixed"}:
        axis = None
    if kind == "screw":
        more["pitch"] = float(d.rng.uniform(0.05, 0.3))
    if kind in {"universal", "constant_velocity"}:
        more["axis_b"] = unit(axis + 0.6 * across(axis))
    if axis is not None:
        more["axis"] = axis
    d.m.joint(kind, name, a, b, at=at, **more)


def hinged_tree(rng: np.random.Generator) -> Drawn:
    """Four bodies on hinges, one of them branching."""
    d = Draft(rng)
    before = [d.ground]
    for k, parent in enumerate((0, 1, 1, 2)):
        body = d.body(f"body{k}", d.point())
        d.m.revolute(f"hinge{k}", before[parent], body, at=d.point(), axis=d.direction())
        before.append(body)
    return d.done(4)


def mixed_tree(rng: np.random.Generator) -> Drawn:
    """Three bodies in a row, on joints of three kinds."""
    d = Draft(rng)
    kinds = SEQUENCES[rng.integers(len(SEQUENCES))]
    before = d.ground
    for k, kind in enumerate(kinds):
        body = d.body(f"body{k}", d.point())
        join(d, kind, f"joint{k}", before, body, d.point(), d.direction())
        before = body
    return d.done(sum(JOINTS[kind] for kind in kinds))


def floating_tree(rng: np.random.Generator) -> Drawn:
    """A free body with two arms."""
    d = Draft(rng)
    d.masses["hub"] = float(rng.uniform(1.0, 3.0))
    hub = d.m.body("hub", mass=d.masses["hub"], inertia=(0.3, 0.2, 0.25), free=True)
    for k in range(2):
        arm = d.body(f"arm{k}", d.point())
        d.m.revolute(f"hinge{k}", hub, arm, at=d.point(), axis=d.direction())
    return d.done(8)


def doubled_tree(rng: np.random.Generator) -> Drawn:
    """Two bodies on hinges, each hinge there twice on its axis, and a doubled slide."""
    d = Draft(rng)
    first, second = d.body("first", d.point()), d.body("second", d.point())
    for name, a, b in (("foot", d.ground, first), ("knee", first, second)):
        at, axis = d.point(), d.direction()
        kind = d.m.prismatic if name == "knee" and rng.random() < 0.5 else d.m.revolute
        for k, way in enumerate(rng.uniform(-0.5, 0.5, 2)):
            kind(f"{name}{k}", a, b, at=at + way * axis, axis=axis)
    return d.done(2)


def door(rng: np.random.Generator, *, friction: bool = False, driven: str = "") -> Drawn:
    """A panel on two to four hinges along one axis; the motion is that of a pendulum."""
    d = Draft(rng, parameters={"rate": rng.uniform(0.3, 2.0)} if driven == "rate" else {})
    axis = d.direction() if rng.random() < 0.7 else np.array([0.0, 0.0, 1.0])
    at = d.point()
    center = at + float(rng.uniform(0.3, 0.6)) * across(axis) + 0.3 * axis
    panel = d.body("panel", center)
    count = int(rng.integers(2, 5))
    for k in range(count):
        place = at + (k + rng.uniform(0.0, 0.5)) * 0.3 * axis
        d.m.revolute(f"hinge{k}", d.ground, panel, at=place, axis=axis)
        if friction:
            d.rub(f"hinge{k}", None, "panel", axis)
    if driven == "rest":
        d.m.drive("held", "hinge0.angle", 0.0)
    elif driven:
        d.m.drive("driven", "hinge0.angle", lambda t, p: p.rate * t)
    if friction or driven:
        return d.done(0 if driven else 1, lossless=False)
    swing = d.swinging("panel", at, axis, center)
    exact = lambda t: np.array([swing.position(a) for a in geared([swing], [1.0], t)])  # noqa: E731
    return d.done(1, exact=("panel", exact) if rng.random() < 0.5 else None)


def uniform_motion(rng: np.random.Generator) -> Drawn:
    """Without gravity: a carriage on two parallel rails, with a rotor in two bearings on it."""
    d = Draft(rng, gravity=np.zeros(3))
    along, axis = d.direction(), d.direction()
    at = d.point()
    carriage = d.body("carriage", d.point())
    d.m.prismatic("rail0", d.ground, carriage, at=d.point(), axis=along)
    d.m.prismatic("rail1", d.ground, carriage, at=d.point(), axis=along)
    rotor = d.body("rotor", at)
    for k in range(2):
        d.m.revolute(f"bearing{k}", carriage, rotor, at=at + (k - 0.5) * axis, axis=axis)
    return d.done(2)


def welded_twice(rng: np.random.Generator) -> Drawn:
    """Two bodies, each welded to what holds it at two places: nothing moves."""
    d = Draft(rng)
    before = d.ground
    for k in range(2):
        body = d.body(f"body{k}", d.point())
        for j in range(2):
            d.m.fixed(f"weld{k}{j}", before, body, at=d.point())
        before = body
    return d.done(0)


def rolling_ball(rng: np.random.Generator) -> Drawn:
    """A ball of any inertia rolls on a slope; a homogeneous one by 5/7 of g sin φ."""
    d = Draft(rng)
    n = unit(np.array([rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), 1.0]))
    radius, at = float(rng.uniform(0.2, 0.8)), d.point()
    mass, share = float(rng.uniform(0.5, 3.0)), float(rng.uniform(0.2, 0.6))
    J = share * mass * radius**2
    center = at + radius * n
    d.masses["ball"] = mass
    ball = d.m.body("ball", mass=mass, inertia=(J, J, J), position=center)
    d.m.rolling_sphere("road", d.ground, ball, at=(at, center), axis=n, radius=radius)
    slope = (GRAVITY - (GRAVITY @ n) * n) / (1.0 + share)
    exact = lambda t: center + 0.5 * slope * t[:, None] ** 2  # noqa: E731
    return d.done(3, carried=False, exact=("ball", exact))


def rolling_wheel(rng: np.random.Generator) -> Drawn:
    """A thin wheel rolls on a plane, leaning, with a weight on a hinge at its center or without."""
    d = Draft(rng)
    radius, at = float(rng.uniform(0.2, 0.6)), d.point()
    lean = rng.uniform(0.1, 0.7)
    axis = np.array([np.cos(lean), 0.0, np.sin(lean)])
    center = at + radius * np.array([-np.sin(lean), 0.0, np.cos(lean)])
    mass = float(rng.uniform(0.5, 2.0))
    J = 0.5 * mass * radius**2
    d.masses["wheel"] = mass
    axes = np.column_stack([np.cross([0.0, 1.0, 0.0], axis), [0.0, 1.0, 0.0], axis])
    wheel = d.m.body(
        "wheel", mass=mass, inertia=(J / 2, J / 2, J), position=center, orientation=axes
    )
    d.m.rolling_disk("road", d.ground, wheel, at=(at, center), axis="z", axis_b=axis, radius=radius)
    if rng.random() < 0.5:
        weight = d.body("weight", center + d.point(0.2))
        d.m.revolute("hub", wheel, weight, at=center, axis=axis)
        return d.done(4, carried=False)
    return d.done(3, carried=False)


def knife_edge(rng: np.random.Generator) -> Drawn:
    """A sledge on a tilted plane with a blade."""
    d = Draft(rng)
    n = unit(np.array([rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), 1.0]))
    sledge = d.body("sledge", d.point())
    at = d.point()
    d.m.planar("ice", d.ground, sledge, at=at, axis=n)
    blade = np.cross(n, d.direction())
    d.m.knife_edge("blade", d.ground, sledge, at=at, axis=n, reference=unit(blade))
    return d.done(2, carried=False)


def gear_pair(rng: np.random.Generator, kind: str) -> Drawn:
    """Wheels in bearings that mesh: spur, with a ring, or bevel; without gravity they run on."""
    d = Draft(rng)
    axis, at = d.direction(), d.point()
    r, s = float(rng.uniform(0.1, 0.3)), float(rng.uniform(0.35, 0.6))
    if kind == "bevel":
        other = unit(axis + 0.8 * across(axis))
        place = at
        radii = {"radius_a": r, "radius_b": s}
        where = {"axis": axis, "axis_b": other}
    else:
        other, sign = axis, -1.0 if kind == "ring" else 1.0
        place = at + (r + sign * s) * across(axis)
        radii = {"radius_a": r, "radius_b": sign * s}
        where = {"axis": axis}
    wheels, swings = [], []
    for name, center, along in (("pinion", at, axis), ("wheel", place, other)):
        middle = center + 0.2 * d.direction()
        body = d.body(name, middle)
        d.m.revolute(f"{name}_bearing", d.ground, body, at=center, axis=along)
        wheels.append(body)
        swings.append(d.swinging(name, center, along, middle))
    d.m.gear("teeth", *wheels, **where, **radii)
    if kind == "bevel" or rng.random() < 0.5:
        return d.done(1)
    ratios = [1.0, -radii["radius_a"] / radii["radius_b"]]  # the same way with a ring
    exact = lambda t: np.array([swings[0].position(a) for a in geared(swings, ratios, t)])  # noqa: E731
    return d.done(1, exact=("pinion", exact))


def planetary(rng: np.random.Generator) -> Drawn:
    """A planet on an arm rolls on a sun that turns, or inside a ring that does; two freedoms."""
    d = Draft(rng)
    axis, at = d.direction(), d.point()
    ring = rng.random() < 0.5
    r = float(rng.uniform(0.1, 0.2))
    s = float(rng.uniform(0.35, 0.5)) * (-1.0 if ring else 1.0)
    center = at + (abs(s) - r if ring else s + r) * across(axis)
    sun, arm = d.body("sun", at + 0.1 * d.direction()), d.link("arm", at, center)
    planet = d.body("planet", center + 0.05 * d.direction())
    d.m.revolute("sun_bearing", d.ground, sun, at=at, axis=axis)
    d.m.revolute("arm_bearing", d.ground, arm, at=at, axis=axis)
    d.m.revolute("planet_bearing", arm, planet, at=center, axis=axis)
    d.m.gear("teeth", sun, planet, axis=axis, radius_a=s, radius_b=r)
    return d.done(2)


def rack(rng: np.random.Generator) -> Drawn:
    """A pinion in a bearing drives a rack on its slide."""
    d = Draft(rng)
    axis, at = d.direction(), d.point()
    along = across(axis)
    radius = float(rng.uniform(0.1, 0.4))
    pinion, bar = d.body("pinion", at + 0.1 * d.direction()), d.body("rack", d.point())
    d.m.revolute("bearing", d.ground, pinion, at=at, axis=axis)
    d.m.prismatic("slide", d.ground, bar, at=at + radius * np.cross(axis, along), axis=along)
    d.m.rack_and_pinion("teeth", pinion, bar, axis=axis, axis_b=along, radius=radius)
    return d.done(1)


FAMILIES = {
    "hinged_tree": hinged_tree,
    "mixed_tree": mixed_tree,
    "floating_tree": floating_tree,
    "doubled_tree": doubled_tree,
    "door": door,
    "door_with_friction": partial(door, friction=True),
    "door_held": partial(door, driven="rest"),
    "door_driven": partial(door, driven="rate"),
    "uniform_motion": uniform_motion,
    "welded_twice": welded_twice,
    "rolling_ball": rolling_ball,
    "rolling_wheel": rolling_wheel,
    "knife_edge": knife_edge,
    "spur_gears": partial(gear_pair, kind="spur"),
    "ring_gear": partial(gear_pair, kind="ring"),
    "bevel_gears": partial(gear_pair, kind="bevel"),
    "planetary": planetary,
    "rack_and_pinion": rack,
}
