"""Angles beyond a full turn, where degrees may have been given for radians, are noted."""

import numpy as np
import pytest

import zwang as zw


def pendulum():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="x"), position=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    return m


def test_a_held_angle_of_thirty_radians_is_noted():
    m = pendulum()
    found = m.assemble(hold={"pin.angle": 30})
    (note,) = found.notes
    assert note == "pin.angle = 30 is in radians, 1719°: 30° are np.deg2rad(30)"
    assert note in m.simulate(found, until=0.1).notes
    assert not m.assemble(hold={"pin.angle": np.deg2rad(30)}).notes
    assert not m.assemble(hold={"pin.angle": -6.2}).notes


def test_an_event_at_twelve_radians_is_noted():
    m = pendulum()
    run = m.simulate(until=0.1, events={"over": zw.event("pin.angle", at=12)})
    assert any("event 'over': pin.angle = 12 is in radians, 688°" in note for note in run.notes)
    run = m.simulate(until=0.1, events={"over": zw.event("pin.angle_rate", at=12)})
    assert not any("radians" in note for note in run.notes)


def test_resume_says_how_to_go_further(tmp_path):
    with pytest.raises(zw.InputError, match=r"simulate\(run\[-1\], until=…\)"):
        zw.resume(tmp_path, until=3.0)
