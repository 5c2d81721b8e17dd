"""Ready-made loops in space: Bricard's hinges, a door, a Stewart platform, a suspension, a shaft.

Axes are x, y and z of the world with z upwards, unless a source has others.
"""

from __future__ import annotations

import numpy as np

from zwang.library.mechanisms.shapes import bar, require_count, upright
from zwang.mechanism import Mechanism
from zwang.multibody import inertia
from zwang.multibody.handles import BodyHandle
from zwang.terms import FloatArray

__all__ = ["bricard", "door", "double_wishbone", "stewart_platform", "universal_joint_shaft"]


def bricard(*, mass: float = 1.0, length: float = 1.0, g: float = 9.81) -> Mechanism:
    """Bricard's mechanism: five bars and the ground in a loop of six hinges that moves after all.

    The bars go along the edges of a cube, P1 to P6, and each hinge axis lies across both of its
    bars. 30 equations for 30 velocities would leave nothing to move; one of them is redundant,
    wherever the mechanism is, so that one degree of freedom remains.

    Source: IFToMM library of computational benchmark problems, A04; bars of square section, a
    tenth of the length wide. Gravity acts along −y, as there; it starts at rest.

    Parameters
    ----------
    mass, length : of each bar [kg, m].
    g : gravity [m/s²].

    Examples
    --------
    >>> explanation = bricard().explain()
    >>> explanation.degrees_of_freedom, explanation.redundancy
    (1, 1)
    """
    corners = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    P = length * np.array(corners, dtype=float)
    m = Mechanism(gravity=(0.0, -g, 0.0))
    width = 0.1 * length
    bodies = [m.ground]
    for k in range(5):
        size = np.where(P[k + 1] != P[k], length, width)
        made = inertia.box(mass, size)
        bodies.append(m.body(f"bar{k + 1}", inertia=made, position=(P[k] + P[k + 1]) / 2.0))
    bodies.append(m.ground)
    for k, axis in enumerate("yzxyzx"):
        m.revolute(f"hinge{k + 1}", bodies[k], bodies[k + 1], at=P[k], axis=axis)
    return m


def door(
    hinges: int = 3,
    *,
    mass: float = 20.0,
    width: float = 0.9,
    height: float = 2.0,
    thickness: float = 0.04,
    lean: float = 0.1,
    angle: float = 1.2,
    rate: float = 0.0,
    g: float = 9.81,
) -> Mechanism:
    """A door on coaxial hinges, three by default, in a frame that leans a little.

    The hinges lie along z of the door; the door is a plate along its x axis. The leaning frame
    makes gravity, tilted by `lean` from −z towards x, swing the door about its open position.
    One degree of freedom; 5 equations a hinge, of which one hinge's are enough: with three hinges
    10 of 15 are redundant, and how the hinges share the load is left open by rigid bodies.

    Parameters
    ----------
    hinges : how many, evenly spaced.
    mass, width, height, thickness : of the door [kg, m].
    lean : angle of the hinges' axis against the vertical [rad].
    angle, rate : of the door at the start against the direction in which it leans [rad, rad/s].
    g : gravity [m/s²].

    Examples
    --------
    >>> explanation = door().explain()
    >>> explanation.degrees_of_freedom, explanation.redundancy
    (1, 10)
    """
    count = require_count("hinges of door", hinges)
    m = Mechanism(gravity=(g * np.sin(lean), 0.0, -g * np.cos(lean)))
    panel = inertia.box(mass, (width, thickness, height)).at((width / 2.0, 0.0, height / 2.0))
    c, s = np.cos(angle), np.sin(angle)
    body = m.body(
        "door",
        inertia=panel,
        orientation=((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)),
        angular_velocity=(0.0, 0.0, rate),
    )
    for k in range(count):
        at = (0.0, 0.0, (k + 0.5) / count * height)
        m.revolute(f"hinge{k + 1}", m.ground, body, at=at, axis="z", reference="x")
    return m


def stewart_platform(
    *,
    base: float = 0.8,
    platform: float = 0.4,
    height: float = 0.9,
    mass: float = 10.0,
    stiffness: float = 2.0e3,
    damping: float = 0.0,
    g: float = 9.81,
) -> Mechanism:
    """A Stewart platform: a disk on six legs, each with a universal joint, a slide and a ball.

    A leg is a cylinder on the ground and a piston in it; spring and damper in the leg take the
    place of its actuator. Six degrees of freedom; 72 equations for 78 velocities, none redundant.

    Source: D. Stewart, A platform with six degrees of freedom, Proceedings of the Institution of
    Mechanical Engineers 180 (1965) 371–386, in the usual form with universal joints below.

    Parameters
    ----------
    base, platform : radii of the circles of joints [m].
    height : of the platform at the start [m].
    mass : of the platform [kg]; cylinders and pistons have a twentieth of it each.
    stiffness, damping : of the legs [N/m, N·s/m]; they are placed with their free length.
    g : gravity [m/s²].

    Examples
    --------
    >>> stewart_platform().explain().degrees_of_freedom
    6
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    disk = inertia.cylinder(mass, 1.1 * platform, 0.05)
    plate = m.body("platform", inertia=disk, position=(0.0, 0.0, height))
    for k in range(6):
        pair, side = k // 2, 2 * (k % 2) - 1
        low = _on_circle(base, 2.0 * np.pi * pair / 3.0 + side * 0.2, 0.0)
        # Legs of neighbouring pairs meet above, so that they stand as triangles.
        high = _on_circle(platform, 2.0 * np.pi * pair / 3.0 + side * 0.85, height)
        d = high - low
        length = float(np.linalg.norm(d))
        axes = upright(d)
        part = bar(mass / 20.0, 0.6 * length)
        cylinder = m.body(
            f"cylinder{k + 1}", inertia=part, position=low + 0.3 * d, orientation=axes
        )
        piston = m.body(f"piston{k + 1}", inertia=part, position=low + 0.7 * d, orientation=axes)
        m.universal(f"cross{k + 1}", m.ground, cylinder, at=low, axis="z", axis_b=d)
        m.prismatic(f"slide{k + 1}", cylinder, piston, at=low + 0.5 * d, axis=d)
        m.spherical(f"ball{k + 1}", piston, plate, at=high)
        m.spring_damper(
            f"leg{k + 1}",
            cylinder,
            piston,
            at=(low, high),
            stiffness=stiffness,
            damping=damping,
        )
    return m


def double_wishbone(
    *,
    stiffness: float = 3.0e4,
    damping: float = 2.0e3,
    length: float = 0.40,
    speed: float = 0.0,
    g: float = 9.81,
) -> Mechanism:
    """A car's front wheel on two wishbones, with tie rod and strut.

    x is forward, y to the left, z upwards; the body of the car is the ground. The wishbones turn
    about axes along x, balls join them to the upright, the tie rod is a massless link with a ball
    at each end, the wheel turns in the upright. Two degrees of freedom, bounce and spin of the
    wheel; 22 equations for 24 velocities, none redundant.

    Parameters
    ----------
    stiffness, damping, length : of the strut, from the lower wishbone to the body [N/m, N·s/m, m].
    speed : spin of the wheel at the start [rad/s], as when the car drives forward.
    g : gravity [m/s²], on the parts of the suspension; the car does not weigh on the wheel.

    Examples
    --------
    >>> double_wishbone().explain().degrees_of_freedom
    2
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    inner_low, outer_low = np.array([0.0, 0.40, 0.20]), np.array([0.01, 0.75, 0.18])
    inner_high, outer_high = np.array([-0.02, 0.45, 0.46]), np.array([-0.02, 0.70, 0.48])
    rack, steering_arm = np.array([-0.14, 0.42, 0.24]), np.array([-0.12, 0.73, 0.23])
    hub = np.array([0.0, 0.78, 0.31])

    def wishbone(name: str, inner: FloatArray, outer: FloatArray, mass: float) -> BodyHandle:
        d = outer - inner
        size = (0.3, float(np.linalg.norm(d)), 0.03)
        made = inertia.box(mass, size)
        axes = upright(np.cross(d, [0.0, 0.0, 1.0]))
        return m.body(name, inertia=made, position=(inner + outer) / 2.0, orientation=axes)

    lower = wishbone("lower", inner_low, outer_low, 3.0)
    upper = wishbone("upper", inner_high, outer_high, 2.0)
    carrier = m.body(
        "upright", inertia=inertia.box(5.0, (0.1, 0.08, 0.3)), position=(0, 0.72, 0.33)
    )
    tyre = inertia.tube(15.0, 0.2, 0.31, 0.2, axis="y")
    wheel = m.body("wheel", inertia=tyre, position=hub, angular_velocity=(0.0, speed, 0.0))
    m.revolute("lower_axis", m.ground, lower, at=inner_low, axis="x")
    m.revolute("upper_axis", m.ground, upper, at=inner_high, axis=(1.0, 0.0, 0.05))
    m.spherical("lower_ball", lower, carrier, at=outer_low)
    m.spherical("upper_ball", upper, carrier, at=outer_high)
    m.spherical_link("tie_rod", m.ground, carrier, at=(rack, steering_arm))
    m.revolute("hub", carrier, wheel, at=hub, axis="y")
    foot = 0.3 * inner_low + 0.7 * outer_low
    m.spring_damper(
        "strut",
        m.ground,
        lower,
        at=((0.0, 0.5, 0.6), foot),
        stiffness=stiffness,
        damping=damping,
        length=length,
    )
    return m


def universal_joint_shaft(
    *,
    bend: float = 0.5,
    moments: tuple[float, float] = (0.02, 0.03),
    speed: float = 10.0,
) -> Mechanism:
    """Two shafts in bearings, joined by a universal joint at an angle.

    The first shaft lies along x, the second is bent by `bend` towards y. At a steady speed of the
    first the second runs unevenly: tan φ₂ = cos(bend) tan φ₁, φ₁ counted from where the arm of
    the cross on the first shaft is normal to both, as at the start. One degree of freedom; 14
    equations for 12 velocities, of which 3 are redundant: the bearings alone hold the shafts in
    place.

    Parameters
    ----------
    bend : angle between the shafts [rad].
    moments : of inertia of the shafts about their axes [kg·m²].
    speed : of the first shaft at the start [rad/s].

    Examples
    --------
    >>> explanation = universal_joint_shaft().explain()
    >>> explanation.degrees_of_freedom, explanation.redundancy
    (1, 3)
    """
    m = Mechanism()
    along = np.array([1.0, 0.0, 0.0])
    bent = np.array([np.cos(bend), np.sin(bend), 0.0])
    shafts = []
    for name, axis, at, J, rate in (
        ("input", along, -0.5 * along, moments[0], speed),
        ("output", bent, 0.5 * bent, moments[1], speed * np.cos(bend)),
    ):
        axes = np.column_stack([axis, np.cross([0.0, 0.0, 1.0], axis), [0.0, 0.0, 1.0]])
        body = m.body(
            name,
            mass=2.0,
            inertia=(J, 2.0 * J, 2.0 * J),
            position=at,
            orientation=axes,
            angular_velocity=rate * axis,
        )
        m.revolute(f"{name}_bearing", m.ground, body, at=at, axis=axis, reference="z")
        shafts.append(body)
    m.universal("cross", shafts[0], shafts[1], at=(0.0, 0.0, 0.0), axis=along, axis_b=bent)
    return m


def _on_circle(radius: float, angle: float, height: float) -> FloatArray:
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])
