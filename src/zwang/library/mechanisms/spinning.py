"""Ready-made bodies that spin: top, coin, gyroscope, governor, satellite with reaction wheels.

z is upwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.mechanism import Mechanism
from zwang.multibody import inertia
from zwang.rotation.quaternion import from_axis_angle

__all__ = ["ball_governor", "gyroscope", "rolling_coin", "satellite", "spinning_top"]


def spinning_top(
    *,
    mass: float = 0.1,
    moments: tuple[float, float] = (2.0e-4, 1.0e-4),
    height: float = 0.05,
    tilt: float = 0.4,
    spin: float = 200.0,
    precession: float = 0.0,
    g: float = 9.81,
) -> Mechanism:
    """Lagrange's top: a symmetric body on its tip.

    Three degrees of freedom, 3 equations for 6 velocities. Constant are the energy and the angular
    momentum about the vertical and about the axis of the top. It precesses steadily at the rate Ω
    when

        A Ω² cos θ − C ω₃ Ω + m g h = 0,   ω₃ = spin + Ω cos θ

    with C about the axis, A across it through the tip.

    Parameters
    ----------
    mass : [kg].
    moments : of inertia about the centre of mass, perpendicular to the axis and about it [kg·m²].
    height : of the centre of mass above the tip, along the axis [m].
    tilt : of the axis against the vertical, towards x [rad].
    spin : about the axis, relative to the frame that precesses [rad/s].
    precession : about the vertical [rad/s].
    g : gravity [m/s²].

    Examples
    --------
    >>> spinning_top().explain().degrees_of_freedom
    3
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    made = inertia.principal(mass, (moments[0], moments[0], moments[1])).at((0.0, 0.0, height))
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    top = m.body(
        "top",
        inertia=made,
        orientation=from_axis_angle((0.0, 1.0, 0.0), tilt),
        angular_velocity=spin * axis + np.array([0.0, 0.0, precession]),
    )
    m.spherical("tip", m.ground, top)
    return m


def rolling_coin(
    *,
    mass: float = 1.0,
    radius: float = 0.5,
    lean: float = 0.3,
    spin: float = 6.0,
    turn: float = 0.5,
    g: float = 9.81,
) -> Mechanism:
    """A thin disk that rolls without slipping on the plane z = 0.

    Three equations for six velocities, one of positions (it touches the plane) and two of
    velocities (it does not slip): three degrees of freedom in velocity, five of position.
    `zwang.library.rolling_disk` is the same as systems of functions, in the forms of Blajer.

    Parameters
    ----------
    mass, radius : of the disk [kg, m].
    lean : from the upright position, towards y [rad].
    spin : about its axis at the start [rad/s]: it rolls towards x.
    turn : about the vertical [rad/s].
    g : gravity [m/s²].

    Examples
    --------
    >>> rolling_coin().explain().degrees_of_freedom
    3
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    across, about = mass * radius**2 / 4.0, mass * radius**2 / 2.0
    axis = np.array([0.0, np.cos(lean), -np.sin(lean)])
    center = radius * np.array([0.0, np.sin(lean), np.cos(lean)])
    omega = spin * axis + np.array([0.0, 0.0, turn])
    disk = m.body(
        "disk",
        mass=mass,
        inertia=(across, about, across),
        position=center,
        orientation=from_axis_angle((1.0, 0.0, 0.0), -lean),
        velocity=np.cross(omega, center),
        angular_velocity=omega,
    )
    at = ((0.0, 0.0, 0.0), center)
    m.rolling_disk("contact", m.ground, disk, at=at, axis="z", axis_b=axis, radius=radius)
    return m


def gyroscope(
    *,
    spin: float = 100.0,
    tilt: float = 0.3,
    rates: tuple[float, float] = (0.5, 0.2),
    load: float = 0.2,
    g: float = 9.81,
) -> Mechanism:
    """A gyroscope in two gimbals.

    The outer ring turns about z, the inner one about an axis across it, the rotor in the inner
    ring. All centres lie in one point; a `load` on the inner ring, a tenth of a metre along the
    rotor's axis, makes it precess. Three degrees of freedom, 15 equations for 18 velocities.

    Parameters
    ----------
    spin : of the rotor [rad/s].
    tilt : of the rotor's axis above the horizontal [rad].
    rates : of the outer and of the inner ring at the start [rad/s].
    load : mass of the load [kg].
    g : gravity [m/s²].

    Examples
    --------
    >>> gyroscope().explain().degrees_of_freedom
    3
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    ring = (2.0e-3, 2.0e-3, 3.0e-3)
    turn = np.array([0.0, 0.0, rates[0]])
    outer = m.body("outer", mass=0.5, inertia=ring, angular_velocity=turn)
    # The inner ring turns about y by −tilt; its x axis is that of the rotor.
    pose = from_axis_angle((0.0, 1.0, 0.0), -tilt)
    axis = np.array([np.cos(tilt), 0.0, np.sin(tilt)])
    omega = turn + np.array([0.0, -rates[1], 0.0])
    loaded = inertia.principal(0.4, (1.0e-3, 1.5e-3, 1.0e-3)) + inertia.point(load, (0.1, 0.0, 0.0))
    inner = m.body("inner", inertia=loaded, orientation=pose, angular_velocity=omega)
    wheel = inertia.cylinder(1.0, 0.06, 0.02, axis="x")
    rotor = m.body("rotor", inertia=wheel, orientation=pose, angular_velocity=omega + spin * axis)
    m.revolute("bearing", m.ground, outer, axis="z")
    m.revolute("gimbal", outer, inner, axis="-y")
    m.revolute("spindle", inner, rotor, axis=axis)
    return m


def ball_governor(
    *,
    stiffness: float = 8.0e5,
    damping: float = 4.0e4,
    speed: float = 2.0 * np.pi,
    g: float = 9.81,
) -> Mechanism:
    """A governor: two arms with balls on a shaft, coupled by stiff springs to a sliding block.

    The shaft turns about z; the arms are hinged to it at its upper end, the block slides on it
    without turning, springs and dampers lead from the block to the middle of each arm. Four
    degrees of freedom: the shaft, the block and the two arms; 20 equations for 24 velocities.
    Stiff: a simulation changes to ``"radau5"``. `zwang.library.flyball_governor` is the same as
    a system of functions.

    Source: IFToMM library of computational benchmark problems, A05, "flyball governor"; at the
    start the arms are 30° below the horizontal and all turns as one body.

    Parameters
    ----------
    stiffness, damping : of the springs [N/m, N·s/m]; their free length is 0.5 m.
    speed : of the shaft [rad/s].
    g : gravity [m/s²].

    Examples
    --------
    >>> ball_governor().explain().degrees_of_freedom
    4
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    omega = np.array([0.0, 0.0, speed])
    column = inertia.box(0.3, (0.01, 0.01, 1.0)).at((0.0, 0.0, 0.5))
    shaft = m.body("shaft", inertia=column, angular_velocity=omega)
    block = inertia.box(3.0, (0.1, 0.1, 0.1))
    slider = m.body("slider", inertia=block, position=(0.0, 0.0, 0.5), angular_velocity=omega)
    m.revolute("base", m.ground, shaft, axis="z")
    m.prismatic("slide", shaft, slider, at=(0.0, 0.0, 0.0), axis="z")
    for name, side in (("right", 1.0), ("left", -1.0)):
        hinge = np.array([0.05 * side, 0.0, 1.0])
        down = np.array([side * np.cos(np.pi / 6.0), 0.0, -0.5])
        stick = inertia.box(0.3, (1.0, 0.01, 0.01)).at((0.5, 0.0, 0.0))
        arm = m.body(
            name,
            inertia=stick + inertia.point(5.0, (1.0, 0.0, 0.0)),
            position=hinge,
            orientation=np.column_stack([down, [0.0, 1.0, 0.0], np.cross(down, [0.0, 1.0, 0.0])]),
            velocity=np.cross(omega, hinge),
            angular_velocity=omega,
        )
        m.revolute(f"{name}_hinge", shaft, arm, at=hinge, axis=(0.0, side, 0.0))
        m.spring_damper(
            f"{name}_spring",
            slider,
            arm,
            at=((0.05 * side, 0.0, 0.5), hinge + 0.5 * down),
            stiffness=stiffness,
            damping=damping,
            length=0.5,
        )
    return m


def satellite(
    *,
    mass: float = 50.0,
    moments: tuple[float, float, float] = (4.0, 5.0, 6.0),
    wheel: float = 0.02,
    spin: tuple[float, float, float] = (0.02, -0.01, 0.03),
    speeds: tuple[float, float, float] = (100.0, 0.0, -50.0),
    torques: tuple[Callable[..., Any] | None, ...] = (None, None, None),
) -> Mechanism:
    """A satellite with three reaction wheels along its axes, free in space.

    Nine degrees of freedom, 15 equations for 24 velocities. Whatever the motors of the wheels do,
    angular momentum is kept; without them energy too.

    Parameters
    ----------
    mass, moments : of the body [kg, kg·m²].
    wheel : moment of inertia of each wheel about its axis [kg·m²].
    spin : angular velocity of the body at the start, its own axes [rad/s].
    speeds : of the wheels relative to the body [rad/s].
    torques : of each motor on its wheel [N·m], a function of (t, p), or None.

    Examples
    --------
    >>> satellite().explain().degrees_of_freedom
    9
    """
    m = Mechanism()
    omega = np.array(spin, dtype=float)
    hull = m.body("hull", mass=mass, inertia=moments, angular_velocity=omega, free=True)
    for k, axis in enumerate("xyz"):
        e = np.eye(3)[k]
        at = 0.2 * e
        J = np.full(3, 0.55 * wheel)
        J[k] = wheel
        rotor = m.body(
            f"wheel_{axis}",
            mass=2.0,
            inertia=J,
            position=at,
            velocity=np.cross(omega, at),
            angular_velocity=omega + speeds[k] * e,
        )
        m.revolute(f"spindle_{axis}", hull, rotor, at=at, axis=axis)
        motor = torques[k]
        if motor is not None:
            m.torsion_spring(f"motor_{axis}", hull, rotor, at=at, axis=axis, moment=_against(motor))
    return m


def _against(motor: Callable[..., Any]) -> Callable[..., Any]:
    """A motor's torque as a moment against the turn."""

    def moment(_twist: Any, _rate: Any, t: Any, p: Any) -> Any:
        return -motor(t, p)

    return moment
