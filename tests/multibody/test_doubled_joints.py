"""Joints given twice: each copy's reaction is open, what a pair carries is not."""

import numpy as np
import pytest

import zwang as zw
from zwang.diagnosis.passport import Status

#: Reactions of about ten newtons.
SAME = 1e-9


def pendulums(copies):
    """Two rods, each hinge made of coaxial copies."""
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    rods = [
        m.body(
            f"rod{k}", inertia=zw.inertia.rod(mass=1.0 + k, length=1.0), position=(k + 0.5, 0, 0)
        )
        for k in range(2)
    ]
    for k, (a, b) in enumerate(((m.ground, rods[0]), (rods[0], rods[1]))):
        for copy in range(copies):
            m.revolute(f"pin{k}_{copy}", a, b, at=(k, 0.1 * copy, 0), axis="y")
    return m


def test_a_pair_of_copies_carries_what_the_one_joint_did():
    single, double = pendulums(1), pendulums(2)
    pairs = {f"pin{k}": [f"pin{k}_0", f"pin{k}_1"] for k in range(2)}
    alone, together = single.passport(), double.passport(groups=pairs)
    for k in range(2):
        assert together.groups[f"pin{k}"].status is Status.DETERMINATE
        difference = together.groups[f"pin{k}"].force - alone.groups[f"pin{k}_0"].force
        assert np.abs(difference).max() < SAME
    copies = double.passport().groups
    assert all(group.status is not Status.DETERMINATE for group in copies.values())


def test_what_is_determinate_in_part_does_not_depend_on_the_force_just_now():
    """A wheel in a hinge and on a stop that share the force along the axis, and nothing else."""
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    wheel = m.body("wheel", inertia=zw.inertia.cylinder(1.0, 0.2, 0.1, axis="y"))
    m.revolute("left", m.ground, wheel, at=(0, -0.1, 0), axis="y")
    m.point_on_plane("stop", m.ground, wheel, at=(0, 0.1, 0), axis="y")
    lines = {line.split()[0]: line for line in str(m.passport()).splitlines()}
    assert "determinate along wheel.vx, wheel.vz, wheel.omega1 and wheel.omega3" in lines["left"]


@pytest.mark.parametrize("count", [1, 12], ids=["small", "large"])
def test_balanced_shafts_at_even_speed_contradict_nothing(count):
    # Right sides of all rows cancel to rounding, which agrees with nothing.
    speed, axis = 300.0, np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    m = zw.Mechanism()
    for k in range(count):
        at = np.array([0.1 * k, 0.7, 0.3])
        shaft = m.body(
            f"shaft{k}", 1.0, (0.1, 0.1, 0.1), position=at, angular_velocity=speed * axis
        )
        m.revolute(f"left{k}", m.ground, shaft, at=at + 0.31 * axis, axis=axis)
        m.revolute(f"right{k}", m.ground, shaft, at=at - 0.37 * axis, axis=axis)
    assert (m.system.equations.by_elements is not None) == (count > 1)
    # Rounding of ω × (ω × r), of size 3e4.
    assert np.abs(m.solve().acceleration).max() < 1e-10
    assert not m.explain().contradictions
