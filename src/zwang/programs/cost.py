"""Costs of programs: the one table of measured sizes at which one kind overtakes another.

Where a choice has nothing but speed to it, it is made from these numbers. They were measured on one
machine and are far from any edge: half or twice as much costs little.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COST", "CostModel"]


@dataclass(frozen=True)
class CostModel:
    """Sizes that decide between ways of evaluating the same equations.

    Attributes
    ----------
    element_unknowns : velocities plus constraint rows from which a mechanism is evaluated element
        by element. Measured: in space blocks win from 10 bodies on (110 here); in a plane the
        single expression is still ahead there, but its build time grows faster than its size.
    planar_bodies : bodies up to which a mechanism in its plane is one expression. Beyond, compiling
        takes longer than blocks in space cost.
    joint_links, joint_loop_velocities : links of a tree, and velocities of one with loops, up to
        which it may be one expression. Measured: a hundred hinges about skew axes are 29,000
        operations and take 3 s to compile, once, and 1.5 s to write down, each time; they are four
        times as fast as blocks in absolute coordinates. With loops, M̂ fills up: a platform on six
        legs, 21 velocities, is twice as fast as in absolute coordinates, a net with 51 hardly, at
        forty times the time to get ready.
    joint_loop_factor : multiplications for each velocity, of factoring M̂ with the rows of loops, up
        to which a tree with more velocities than that may be one expression. Measured: forty
        four-bars in a row, 81 velocities with 18 multiplications each, take a quarter of the time
        that blocks of their bodies take; a net with 31 velocities has 170 of them.
    link_by_link : links of a tree without loops beyond which it is evaluated link by link, in a
        plane too. Measured, hinges in a plane, built in space: 20 to 40 of them take 8.5 ns a link
        and evaluation so, and 15 to 18 ns as one expression in the plane.
        Measured, hinges about skew axes: 10 of them take 0.55 µs so, and 0.49 µs as one expression;
        20 1.18 and 1.55 µs; 100 6.7 and 8.8 µs, ready after 0.3 and 4.7 s; at eight nodes 11.1 and
        12.3 µs. One expression no longer fits the first cache. In a plane both take the same time,
        within a tenth.
    dense_velocities : velocities up to which answers at one state come from dense matrices, which
        tell more.
    pivot_velocities : velocities from which dependent rows of one expression are found by their
        pivots rather than by singular values.
    walk_velocities : velocities from which a walk in search of dependent rows looks at few states.
    jacobian_freedoms : coordinates and velocities up to which a Jacobian is one expression; as one,
        n equations are n solves.
    """

    element_unknowns: int = 110
    planar_bodies: int = 100
    joint_links: int = 110
    joint_loop_velocities: int = 30
    joint_loop_factor: int = 40
    link_by_link: int = 15
    dense_velocities: int = 300
    pivot_velocities: int = 60
    walk_velocities: int = 200
    jacobian_freedoms: int = 60


#: As measured.
COST = CostModel()
