"""A four-bar linkage in fifteen lines: three bars, four pins, and what they carry.

The bars are placed roughly and pinned by their own points; `assemble` closes the loop. One rate of
one joint then decides the motion, and the force in each pin is read from the run.
"""

import numpy as np

import zwang as zw

m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
crank = m.body("crank", inertia=zw.inertia.rod(1.0, 0.5), position=(0.25, 0.0))
coupler = m.body("coupler", inertia=zw.inertia.rod(2.0, 1.6), position=(1.2, 0.3), angle=-0.3)
rocker = m.body("rocker", inertia=zw.inertia.rod(1.5, 1.0), position=(2.0, 0.4), angle=-1.5)
m.revolute("A", m.ground, crank, at=(0.0, 0.0))
m.revolute("B", crank, coupler, at=(crank.marker((0.25, 0.0)), coupler.marker((-0.8, 0.0))))
m.revolute("C", coupler, rocker, at=(coupler.marker((0.8, 0.0)), rocker.marker((0.5, 0.0))))
m.revolute("D", m.ground, rocker, at=((2.0, 0.0), rocker.marker((-0.5, 0.0))))


def main() -> zw.Run:
    """Close the loop from rough placements, start the crank, simulate, and print the reactions."""
    start = m.assemble(hold={"A.angle": 0.0}, velocity={"hold": {"A.angle_rate": -8.0}})
    run = m.simulate(start, until=3.0, save=0.01)
    print(m.explain(start))
    print(run.status)
    print(f"the crank turned by {run['A.angle'][-1]:.3f} rad")
    print(f"the rocker swings through {np.ptp(run['D.angle']):.3f} rad")
    for pin in "ABCD":
        force = np.linalg.norm(run.reaction(pin).force, axis=1)
        print(f"pin {pin} carries up to {force.max():.2f} N")
    return run


if __name__ == "__main__":
    main()
