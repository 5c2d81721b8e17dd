"""Ready-made planar linkages, each also in space, where the same hinges are redundant.

The plane is xz with z upwards. Angles of joints are positive about y, from z towards x: seen with
x to the right, clockwise.
"""

from __future__ import annotations

import numpy as np

from zwang.library.mechanisms.shapes import (
    PlanePoint,
    circling,
    fixed,
    meeting,
    plate,
    require_count,
    rod,
    vertical,
)
from zwang.mechanism import Mechanism
from zwang.multibody import inertia

__all__ = ["four_bar", "four_bars", "parallelogram", "slider_crank", "theo_jansen_leg"]


def four_bar(
    *,
    ground: float = 2.0,
    crank: float = 0.5,
    coupler: float = 1.8,
    rocker: float = 1.2,
    angle: float = 1.0,
    rate: float = 0.0,
    density: float = 1.0,
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """A four-bar linkage: crank, coupler and rocker between two pins on the ground.

          B────────coupler──────────C
         ╱                           ╲
        A crank                       D rocker

    ``A`` is at the origin, ``D`` at (ground, 0). One degree of freedom; in the plane 8 equations
    for 9 velocities, in space 20 for 18, of which 3 are redundant.

    Parameters
    ----------
    ground, crank, coupler, rocker : lengths [m].
    angle, rate : of the crank at the start, counted from x upwards [rad, rad/s].
    density : of the bars [kg/m].
    g : gravity [m/s²].
    planar : in the plane xz, or in space with hinges about y.

    Examples
    --------
    >>> four_bar().explain().degrees_of_freedom
    1
    """
    m = vertical(planar=planar, g=g)
    A, D = fixed(0.0, 0.0), fixed(ground, 0.0)
    B = circling(A, crank, angle, rate)
    C = meeting(B, coupler, D, rocker, 1)
    first = rod(m, "crank", A, B, density * crank)
    second = rod(m, "coupler", B, C, density * coupler)
    third = rod(m, "rocker", D, C, density * rocker)
    m.revolute("A", m.ground, first, at=A.at, axis="y")
    m.revolute("B", first, second, at=B.at, axis="y")
    m.revolute("C", second, third, at=C.at, axis="y")
    m.revolute("D", m.ground, third, at=D.at, axis="y")
    return m


def four_bars(
    n: int = 2,
    *,
    mass: float = 1.0,
    length: float = 1.0,
    rate: float = 1.0,
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """N four-bar linkages in a row, each sharing a crank with the next, all bars alike.

        B0───B1───B2 …
        │    │    │
        A0   A1   A2

    The cranks stand upright at the start and turn clockwise. One degree of freedom as long as all
    stay parallelograms; where they lie flat the equations lose rank, N + 1 degrees of freedom for
    an instant. In the plane 6N + 2 equations for 6N + 3 velocities, in space 15N + 5 for 12N + 6,
    of which 3N are redundant. `zwang.library.n_four_bar` is the same as a system of functions in
    the coordinates of B0, B1, ….

    Source: IFToMM library of computational benchmark problems, A02; M. González, D. Dopico,
    U. Lugrís, J. Cuadrado, Multibody System Dynamics 16 (2006) 179–190.

    Parameters
    ----------
    n : number of linkages N.
    mass, length : of each bar [kg, m].
    rate : of all cranks at the start, clockwise [rad/s].
    g, planar : as for `four_bar`.

    Examples
    --------
    >>> four_bars(2).assemble().v[:3].round(12) + 0.0  # the middle of the first crank
    array([0.5, 0. , 1. ])
    """
    count = require_count("n of four_bars", n)
    m = vertical(planar=planar, g=g)
    feet = [fixed(i * length, 0.0) for i in range(count + 1)]
    tops = [circling(foot, length, np.pi / 2.0, -rate) for foot in feet]
    cranks = [rod(m, f"crank{i}", feet[i], tops[i], mass) for i in range(count + 1)]
    for i, crank in enumerate(cranks):
        m.revolute(f"A{i}", m.ground, crank, at=feet[i].at, axis="y")
    for i in range(1, count + 1):
        coupler = rod(m, f"coupler{i}", tops[i - 1], tops[i], mass)
        m.revolute(f"left{i}", cranks[i - 1], coupler, at=tops[i - 1].at, axis="y")
        m.revolute(f"right{i}", coupler, cranks[i], at=tops[i].at, axis="y")
    return m


def parallelogram(
    cranks: int = 3,
    *,
    mass: float = 1.0,
    length: float = 1.0,
    spacing: float = 0.8,
    angle: float = 1.2,
    rate: float = 0.0,
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """A beam on parallel cranks, three of them by default: one more than it needs.

           B0───B1───B2  beam
          ╱    ╱    ╱
        A0   A1   A2

    One degree of freedom. With three cranks in the plane 12 equations for 12 velocities, 1
    redundant: how the cranks share the weight of the beam is left open by rigid bodies. In space 30
    for 24, of which 7 are redundant.

    Parameters
    ----------
    cranks : how many.
    mass, length : of each crank [kg, m]; the beam has the same mass a metre.
    spacing : between the cranks [m].
    angle, rate : of the cranks at the start, counted from x upwards [rad, rad/s].
    g, planar : as for `four_bar`.

    Examples
    --------
    >>> explanation = parallelogram().explain()
    >>> explanation.degrees_of_freedom, explanation.redundancy
    (1, 1)
    """
    count = require_count("cranks of parallelogram", cranks, least=2)
    m = vertical(planar=planar, g=g)
    feet = [fixed(i * spacing, 0.0) for i in range(count)]
    tops = [circling(foot, length, angle, rate) for foot in feet]
    beam = rod(m, "beam", tops[0], tops[-1], mass / length * (count - 1) * spacing)
    for i, (foot, top) in enumerate(zip(feet, tops, strict=True)):
        crank = rod(m, f"crank{i}", foot, top, mass)
        m.revolute(f"A{i}", m.ground, crank, at=foot.at, axis="y")
        m.revolute(f"B{i}", crank, beam, at=top.at, axis="y")
    return m


def slider_crank(
    *,
    crank: float = 0.15,
    rod_length: float = 0.5,
    offset: float = 0.0,
    angle: float = 0.6,
    rate: float = 0.0,
    masses: tuple[float, float, float] = (0.5, 0.8, 1.0),
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """A slider-crank: crank, connecting rod and a slider along x at the height `offset`.

          B────rod────[C]─→ x  slider
         ╱
        A crank

    One degree of freedom; in the plane 8 equations for 9 velocities, in space 20 for 18, 3
    redundant.

    Parameters
    ----------
    crank, rod_length, offset : lengths [m].
    angle, rate : of the crank at the start, counted from x upwards [rad, rad/s].
    masses : of crank, rod and slider [kg].
    g, planar : as for `four_bar`.

    Examples
    --------
    >>> slider_crank().explain().degrees_of_freedom
    1
    """
    m = vertical(planar=planar, g=g)
    A = fixed(0.0, 0.0)
    B = circling(A, crank, angle, rate)
    rise = offset - B.at[2]
    reach = np.sqrt(rod_length**2 - rise**2)
    C = fixed(B.at[0] + reach, offset)
    # The rod keeps its length: (C − B)·(v_C − v_B) = 0, v_C along x.
    C = PlanePoint(C.at, np.array([(C.at - B.at) @ B.velocity / reach, 0.0, 0.0]))
    first, second = rod(m, "crank", A, B, masses[0]), rod(m, "rod", B, C, masses[1])
    block = inertia.box(masses[2], (0.12, 0.08, 0.08))
    slider = m.body("slider", inertia=block, position=C.at, velocity=C.velocity)
    m.revolute("A", m.ground, first, at=A.at, axis="y")
    m.revolute("B", first, second, at=B.at, axis="y")
    m.revolute("C", second, slider, at=C.at, axis="y")
    m.prismatic("guide", m.ground, slider, at=C.at, axis="x")
    return m


#: Theo Jansen's thirteen "holy numbers", here in centimetres.
HOLY_NUMBERS = {
    "a": 38.0,
    "b": 41.5,
    "c": 39.3,
    "d": 40.1,
    "e": 55.8,
    "f": 39.4,
    "g": 36.7,
    "h": 65.7,
    "i": 49.0,
    "j": 50.0,
    "k": 61.9,
    "l": 7.8,
    "m": 15.0,
}


def theo_jansen_leg(
    *,
    scale: float = 0.01,
    angle: float = 0.3,
    rate: float = 0.0,
    density: float = 1.0,
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """A leg of Theo Jansen's beach animals: eight links, one crank, the foot walks level.

    The crank ``m`` turns about the origin; its pin drives the rods ``j`` and ``k``. ``upper`` is
    the triangle b–d–e about the fixed pivot at (−a, −l), ``c`` hangs from the same pivot, ``f``
    joins the outer corner of ``upper`` to ``lower``, the triangle g–h–i with the foot, which turns
    about the end of ``c``. One degree of freedom; in the plane 20 equations for 21 velocities, in
    space 50 for 42, of which 9 are redundant.

    Source: T. Jansen, The Great Pretender (2007), the "holy numbers".

    Parameters
    ----------
    scale : metres for one unit of the holy numbers.
    angle, rate : of the crank at the start, counted from x upwards [rad, rad/s].
    density : of all bars [kg/m].
    g, planar : as for `four_bar`.

    Examples
    --------
    >>> theo_jansen_leg().explain().degrees_of_freedom
    1
    """
    size = {name: scale * value for name, value in HOLY_NUMBERS.items()}
    m = vertical(planar=planar, g=g)
    axle, pivot = fixed(0.0, 0.0), fixed(-size["a"], -size["l"])
    pin = circling(axle, size["m"], angle, rate)
    top = meeting(pin, size["j"], pivot, size["b"], -1)
    knee = meeting(pin, size["k"], pivot, size["c"], 1)
    outer = meeting(pivot, size["d"], top, size["e"], 1)
    ankle = meeting(outer, size["f"], knee, size["g"], -1)
    foot = meeting(ankle, size["h"], knee, size["i"], -1)
    crank = rod(m, "crank", axle, pin, density * size["m"])
    j, k = rod(m, "j", pin, top, density * size["j"]), rod(m, "k", pin, knee, density * size["k"])
    c, f = rod(m, "c", pivot, knee), rod(m, "f", outer, ankle)
    upper = plate(m, "upper", (pivot, top, outer), density)
    lower = plate(m, "lower", (knee, ankle, foot), density)
    for name, first, second, at in (
        ("axle", m.ground, crank, axle),
        ("pin_j", crank, j, pin),
        ("pin_k", crank, k, pin),
        ("pivot_upper", m.ground, upper, pivot),
        ("pivot_c", m.ground, c, pivot),
        ("top", j, upper, top),
        ("outer", upper, f, outer),
        ("knee_k", c, k, knee),
        ("knee", c, lower, knee),
        ("ankle", f, lower, ankle),
    ):
        m.revolute(name, first, second, at=at.at, axis="y")
    return m
