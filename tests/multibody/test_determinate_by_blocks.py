"""Which reactions of large mechanisms are determinate: sparse probes against dense ranks."""

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.diagnosis.passport import Status
from zwang.equations.elements import ElementEquations
from zwang.mechanism import MechanismSystem

KINDS = ("revolute", "spherical", "cylindrical", "universal", "fixed", "prismatic")


def random_mechanism(seed):
    """A tree of bodies on random joints, and joints more that may double others or close loops."""
    rng = np.random.default_rng(seed)
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bodies, places = [m.ground], [np.zeros(3)]

    def join(name, i, j, at):
        kind = KINDS[rng.integers(len(KINDS))]
        axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.standard_normal(3)
        where = {"axis_b": np.cross(axis, rng.standard_normal(3))} if kind == "universal" else {}
        needs_axis = kind not in ("spherical", "fixed")
        where |= {"axis": axis} if needs_axis else {}
        m.joint(kind, name, bodies[i], bodies[j], at=at, **where)

    for k in range(1, 6):
        places.append(rng.standard_normal(3))
        bodies.append(m.body(f"b{k}", mass=1.0, inertia=(0.1, 0.12, 0.15), position=places[k]))
        i = int(rng.integers(k))
        join(f"tree{k}", i, k, (places[i] + places[k]) / 2)
    for k in range(int(rng.integers(1, 4))):
        i, j = rng.choice(6, 2, replace=False)
        join(f"more{k}", int(i), int(j), (places[i] + places[j]) / 2)
    return m


def both(m):
    """What dense ranks say, and what sparse probes say, of all joints as they are placed."""
    system, (q, v) = MechanismSystem(m.parts, ElementEquations), m.parts.start
    groups = system.passport(q, v).groups
    dense = {name: group.status is Status.DETERMINATE for name, group in groups.items()}
    return dense, system.determinate(q, v, 0.0, {})


def test_probes_find_what_ranks_tell_of_random_mechanisms():
    kinds = set()
    for seed in range(12):
        dense, sparse = both(random_mechanism(seed))
        assert dense == sparse, f"seed {seed}"
        kinds |= set(dense.values())
    assert kinds == {True, False}


@pytest.mark.parametrize(("planar", "known"), [(True, True), (False, False)])
def test_hinges_of_four_bars_are_determinate_in_a_plane_alone(planar, known):
    dense, sparse = both(library.four_bars(2, planar=planar))
    assert dense == sparse
    assert set(sparse.values()) == {known}


def test_a_doubled_joint_of_a_net_is_the_only_one_that_is_not_determinate():
    # 180 bars. Their meshes hold each other without a row too many, until a knot is tied twice.
    m = library.net(10, 10)
    assert all(m.system.determinate(*m.parts.start, 0.0, {}).values())
    knot = m._joints["knot5_5_2"]
    names = [b.name for b in m.parts.bodies]
    at = m.parts.bodies[knot.bodies[0]].placement.point(knot.a.arm)
    m.revolute("twice", *(names[i] for i in knot.bodies), at=at)
    system = m.system
    assert isinstance(system.equations, ElementEquations)
    found = system.determinate(*m.parts.start, 0.0, {})
    assert {name for name, known in found.items() if not known} == {"knot5_5_2", "twice"}
    run = system.simulate(system.assemble(), until=1e-4, save=1e-4)
    assert not run.reaction("twice").determinate.any()
    assert run.reaction("knot0_0_1").determinate.all()


def test_long_loops_are_not_taken_for_dependent():
    # A ring of 120 bars on balls: small singular values, and none that vanishes.
    m = zw.Mechanism()
    turn = 2 * np.pi * np.arange(120) / 120
    corners = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(120)])
    middles = (corners + np.roll(corners, -1, axis=0)) / 2
    bars = [
        m.body(f"b{i}", mass=0.01, inertia=(1e-6, 1e-6, 1e-6), position=at)
        for i, at in enumerate(middles)
    ]
    for i, bar in enumerate(bars):
        m.spherical(f"j{i}", bars[i - 1], bar, at=corners[i])
    assert all(m.system.determinate(*m.parts.start, 0.0, {}).values())
