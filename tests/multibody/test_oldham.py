"""An Oldham coupling: shafts out of line turn alike, whichever way one of them is moved."""

import numpy as np
import pytest

import zwang as zw
from zwang.model_files.model import read_model

OFFSET = 0.05


def coupled(offset=OFFSET):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    motor = m.body("motor", mass=2.0, inertia=(0.02, 0.01, 0.01))
    pump = m.body("pump", mass=1.0, inertia=(0.03, 0.02, 0.02), position=(0.2, offset, 0))
    m.revolute("bearing", m.ground, motor, at=(0, 0, 0), axis="x")
    m.revolute("seat", m.ground, pump, at=(0.2, offset, 0), axis="x")
    m.oldham("coupling", motor, pump, at=((0.1, 0, 0), (0.1, offset, 0)), axis="x")
    return m, motor, pump


@pytest.mark.parametrize("offset", [0.0, OFFSET, -0.3])
def test_shafts_turn_alike_under_a_torque(offset):
    m, motor, _ = coupled(offset)
    m.force("drive", motor, torque=(0.5, 0, 0))
    run = m.simulate(until=0.8, save=0.2)
    assert run.finished
    assert m.degrees_of_freedom() == 1
    expected = 0.5 / (0.02 + 0.03) * run.t  # the inertias of both turn as one
    for name in ("bearing.angle_rate", "seat.angle_rate"):
        np.testing.assert_allclose(run[name], expected, rtol=0.0, atol=1e-8)


def test_the_coupling_passes_on_a_moment_and_no_force_across():
    m, motor, _ = coupled()
    m.force("drive", motor, torque=(0.5, 0, 0))
    run = m.simulate(until=0.4, save=0.2)
    found = run.reaction("coupling")
    np.testing.assert_allclose(found.force[:, 1:], 0.0, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found.moment[:, 0], 0.03 * 0.5 / 0.05, rtol=1e-9)


def test_the_second_shaft_may_move_across_the_first():
    """On a slide it is pushed by its weight while both go on turning alike."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    motor = m.body("motor", mass=2.0, inertia=(0.02, 0.01, 0.01), angular_velocity=(3.0, 0, 0))
    pump = m.body("pump", mass=1.0, inertia=(0.03, 0.02, 0.02), position=(0.2, 0, 0))
    m.revolute("bearing", m.ground, motor, at=(0, 0, 0), axis="x")
    m.oldham("coupling", motor, pump, at=(0.1, 0, 0), axis="x")
    assert m.degrees_of_freedom() == 3
    run = m.simulate(until=0.3, save=0.1)
    np.testing.assert_allclose(run.body("pump").position[:, 2], -4.905 * run.t**2, atol=1e-8)
    spins = [run.body(name).angular_velocity[:, 0] for name in ("motor", "pump")]
    np.testing.assert_allclose(spins[0], spins[1], rtol=0.0, atol=1e-9)


def test_the_coupling_in_a_model_file_moves_alike(tmp_path):
    m, motor, _ = coupled()
    m.force("drive", motor, torque=(0.5, 0, 0))
    path = tmp_path / "oldham.toml"
    zw.write_model(m, path)
    assert 'type = "oldham"' in path.read_text(encoding="utf-8")
    again = read_model(path).simulate(until=0.2, save=0.1)
    np.testing.assert_allclose(again.q, m.simulate(until=0.2, save=0.1).q, rtol=0.0, atol=1e-12)
