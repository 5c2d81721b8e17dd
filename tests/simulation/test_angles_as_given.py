"""Angles that may have been given in degrees are noted: large ones, and whole numbers."""

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


@pytest.mark.parametrize(("angle", "degrees"), [(5, 286), (-4.0, -229), (6.2, None), (3, None)])
def test_whole_numbers_beyond_half_a_turn_are_noted(angle, degrees):
    notes = pendulum().assemble(hold={"pin.angle": angle}).notes
    told = f"pin.angle = {angle:g} is in radians, {degrees}°: {angle:g}° are np.deg2rad({angle:g})"
    assert notes == (() if degrees is None else (told,))


@pytest.mark.parametrize(
    ("angle", "noted"),
    [(4 * np.pi, False), (12.5664, False), (-3 * np.pi, False), (12.6, True), (44, True)],
)
def test_whole_multiples_of_pi_are_wanted(angle, noted):
    assert bool(pendulum().assemble(hold={"pin.angle": angle}).notes) == noted


@pytest.mark.parametrize(
    ("rows", "start", "number"),
    [
        ({"start.pin.angle": [0.0, 5.0, 90.0]}, {}, 5),
        ({"start.pin.angle": {"from": 0, "to": 90, "count": 4}}, {}, 30),
        ({"rod.mass": [1.0]}, {"pin.angle": 90}, 90),
        ({"start.pin.angle": ["0 deg", "720 deg"]}, {"pin.angle_rate": 30}, None),
        ({"start.pin.angle_rate": [30, 60]}, {"pin.angle": 0.5}, None),
    ],
)
def test_starts_of_a_study_in_degrees_are_noted(rows, start, number):
    plan = {"grid": rows, "start": start, "until": 0.1, "parameters": {"rod.inertia": 0.1}}
    notes = zw.study(pendulum(), plan).notes
    assert len(notes) == (number is not None)
    assert all(f"start.pin.angle = {number} is in radians" in note for note in notes)


def test_an_event_at_twelve_radians_is_noted():
    m = pendulum()
    run = m.simulate(until=0.1, events={"over": zw.event("pin.angle", at=12)})
    assert any("event 'over': pin.angle = 12 is in radians, 688°" in note for note in run.notes)
    run = m.simulate(until=0.1, events={"over": zw.event("pin.angle_rate", at=12)})
    assert not any("radians" in note for note in run.notes)


def test_resume_says_how_to_go_further(tmp_path):
    with pytest.raises(zw.InputError, match=r"simulate\(run\[-1\], until=…\)"):
        zw.resume(tmp_path, until=3.0)
