"""Ready-made chains and nets of any size, for loops and for large numbers of bodies."""

from __future__ import annotations

import numpy as np

from zwang.library.mechanisms.shapes import PlanePoint, fixed, require_count, rod, vertical
from zwang.mechanism import Mechanism
from zwang.multibody.handles import BodyHandle

__all__ = ["chain", "net"]


def chain(
    n: int = 10,
    *,
    length: float = 1.0,
    mass: float = 1.0,
    angle: float = 0.0,
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """An open chain of n equal bars that hangs from the ground at the origin.

    Straight at the start, at an angle to the horizontal. In the plane the bars are pinned to each
    other: n degrees of freedom, 2n equations. In space they have ball joints: 3n degrees of
    freedom, 3n equations.

    Parameters
    ----------
    n : number of bars.
    length, mass : of the whole chain [m, kg].
    angle : from x upwards [rad].
    g : gravity [m/s²].
    planar : in the plane xz, or in space.

    Examples
    --------
    >>> chain(5).explain().degrees_of_freedom, chain(5, planar=False).explain().degrees_of_freedom
    (5, 15)
    """
    count = require_count("n of chain", n)
    m = vertical(planar=planar, g=g)
    steps = np.linspace(0.0, length, count + 1)
    nodes = [fixed(s * np.cos(angle), s * np.sin(angle)) for s in steps]
    last = m.ground
    for k in range(count):
        link = rod(m, f"bar{k + 1}", nodes[k], nodes[k + 1], mass / count)
        _join(m, f"joint{k + 1}", (last, link), nodes[k], planar=planar)
        last = link
    return m


def net(
    n: int = 3,
    m: int = 4,
    *,
    mesh: float = 0.1,
    mass: float = 0.1,
    fold: float = 0.5,
    lean: float = 0.3,
    g: float = 9.81,
    planar: bool = True,
) -> Mechanism:
    """A net of n × m knots that hangs from two of its corners.

        ●─●─●─●
        │ │ │ │
        ●─●─●─●

    The bars of a row go up and down by the angle `fold`, so that the net can give; those of a
    column hang down at the angle `lean`. Each mesh is a loop. At a knot all bars are joined
    to one of them, by pins in the plane: n + m − 4 degrees of freedom; by balls in space: 3nm − 6
    degrees of freedom, of which one for each of the n(m − 1) + (n − 1)m bars is a spin about
    itself.

    Parameters
    ----------
    n, m : numbers of rows and columns of knots, at least 2.
    mesh, mass : length and mass of each bar [m, kg].
    fold, lean : of rows and columns at the start [rad].
    g : gravity [m/s²].
    planar : in the plane xz, or in space.

    Examples
    --------
    >>> net().explain().degrees_of_freedom
    3
    """
    rows, columns = require_count("n of net", n, least=2), require_count("m of net", m, least=2)
    built = vertical(planar=planar, g=g)
    width, rise = mesh * np.cos(fold), mesh * np.sin(fold)
    aside, drop = mesh * np.sin(lean), mesh * np.cos(lean)
    knots = {
        (i, j): fixed(j * width + i * aside, rise * (j % 2) - i * drop)
        for i in range(rows)
        for j in range(columns)
    }
    # Bars that end at a knot, in the order in which they come.
    ends: dict[tuple[int, int], list[BodyHandle]] = {where: [] for where in knots}
    for (i, j), knot in knots.items():
        for name, other in ((f"row{i}_{j}", (i, j + 1)), (f"column{i}_{j}", (i + 1, j))):
            if other in knots:
                link = rod(built, name, knot, knots[other], mass)
                ends[i, j].append(link)
                ends[other].append(link)
    for corner in ((0, 0), (0, columns - 1)):
        ends[corner].insert(0, built.ground)
    for (i, j), bars in ends.items():
        for k, link in enumerate(bars[1:], start=1):
            _join(built, f"knot{i}_{j}_{k}", (bars[0], link), knots[i, j], planar=planar)
    return built


def _join(
    m: Mechanism, name: str, pair: tuple[BodyHandle, BodyHandle], at: PlanePoint, *, planar: bool
) -> None:
    """A pin in the plane, a ball in space."""
    if planar:
        m.revolute(name, *pair, at=at.at, axis="y")
    else:
        m.spherical(name, *pair, at=at.at)
