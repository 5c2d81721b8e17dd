"""Motions of CSV files: in SI units, or in the units behind the names of their columns."""

import numpy as np
import pytest
from tests.rod_on_a_pin import PLANAR

import zwang as zw

ROD = f"""{PLANAR}[inverse_dynamics]
actuators = ["pin.angle"]
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(ROD)
    return zw.read_model(path)


def written(folder, head, factor=1.0, times=1.0):
    t = np.linspace(0.0, 1.0, 21)
    path = folder / "motion.csv"
    rows = [f"{times * a},{factor * 0.3 * a**3}" for a in t]
    path.write_text("\n".join([head, *rows]))
    return path


@pytest.mark.parametrize(
    ("head", "factor", "times"),
    [
        ("t [s],pin.angle [deg]", 180.0 / np.pi, 1.0),
        ("t [ms],pin.angle [rad]", 1.0, 1e3),
        ("t [s],pin.angle [rev] (indeterminate)", 0.5 / np.pi, 1.0),
    ],
)
def test_units_behind_names_convert(model, tmp_path, head, factor, times):
    plain = model.inverse_dynamics(written(tmp_path, "t,pin.angle"))
    found = model.inverse_dynamics(written(tmp_path, head, factor, times))
    np.testing.assert_allclose(found.effort["pin.angle"], plain.effort["pin.angle"], rtol=1e-9)
    assert not found.notes


@pytest.mark.parametrize("unit", ["mm", "degg"])
def test_a_unit_of_another_kind_is_refused_with_the_line(model, tmp_path, unit):
    path = written(tmp_path, f"t [s],pin.angle [{unit}]")
    with pytest.raises(zw.InputError, match=r"unit of pin.angle of CSV file .*line 1.*rad"):
        model.inverse_dynamics(path)


def test_angles_beyond_a_turn_without_a_unit_are_noted(model, tmp_path):
    found = model.inverse_dynamics(written(tmp_path, "t,pin.angle", 180.0 / np.pi))
    (note,) = [n for n in found.notes if "pin.angle" in n]
    assert "write pin.angle [deg] for degrees" in note
    assert note in str(found)
