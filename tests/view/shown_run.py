"""A run to look at: a rod in a pin that swings from the horizontal, one second of it."""

import zwang as zw


def pendulum_run(until=1.0, save=None):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m.simulate(m.assemble(), until=until, tolerance=1e-8, save=save)
