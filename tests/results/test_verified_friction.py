"""Honest runs with friction in joints are called honest."""

import numpy as np

import zwang as zw


def crank_with_friction():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    crank = m.body("crank", inertia=zw.inertia.rod(1.0, 0.4), position=(0.2, 0))
    rod = m.body("rod", inertia=zw.inertia.rod(2.0, 1.0), position=(0.9, 0))
    m.revolute("A", m.ground, crank, at=(0, 0))
    m.revolute("B", crank, rod, at=(0.4, 0))
    m.point_on_line("C", m.ground, rod, at=(1.4, 0), axis="x")
    m.friction("A", coefficient=0.1, radius=0.01)
    return m


def test_an_honest_run_with_friction_is_honest(tmp_path):
    m = crank_with_friction()
    start = m.assemble(
        hold={"A.angle": -np.pi / 6}, velocity={"hold": {"A.angle_rate": 2.0 * np.pi}}
    )
    run = m.simulate(start, until=1.0)
    run.save(tmp_path / "honest.run")
    assert zw.verify(tmp_path / "honest.run", m), zw.verify(tmp_path / "honest.run", m)
