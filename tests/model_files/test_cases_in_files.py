"""Several cases in one file: values and settings under a name."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import zwang as zw
from zwang.cli.app import app

MODEL = """
[constants]
half = 0.5
[parameters]
L = 1.0
push = 0.0
[mechanism]
gravity = [0, 0, -9.81]
[body.rod]
mass = 2
shape = { type = "rod", length = "L" }
position = ["half * L", 0, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
axis = "y"
[force.wind]
type = "force"
body = "rod"
force = [0, 0, "push"]
[simulation]
until = 0.1
[case.heavy]
description = "a long rod against the wind"
set = { L = "150 cm", push = 3, "rod.mass" = 4.0 }
[case.long]
simulation = { until = 0.3, tolerance = 1e-8 }
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(MODEL)
    return path


def test_a_case_sets_values_and_settings(path):
    plain, heavy = zw.read_model(path), zw.read_model(path, case="heavy")
    assert plain.simulate().parameters["L"] == 1.0
    run = heavy.simulate()
    assert (run.parameters["L"], run.parameters["push"], run.parameters["rod.mass"]) == (1.5, 3, 4)
    # The tensor is that of the shape, 2 kg; the mass of the case acts at the center.
    want = (4.0 * 9.81 - 3.0) * 0.75 / (2.0 * 1.5**2 / 12 + 4.0 * 0.75**2)
    assert run["pin.angle_acceleration"][0] == pytest.approx(want, rel=1e-6)
    long = zw.read_model(path, case="long")
    assert (long.simulation.until, long.simulation.choices["tolerance"]) == (0.3, 1e-8)
    assert zw.read_model(path, case="heavy", values={"L": 2.0}).simulate().parameters["L"] == 2.0


def test_a_case_from_the_command_line(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    result = CliRunner().invoke(app, ["run", "rod.toml", "--case", "heavy", "--json"])
    assert result.exit_code == 0, result.output
    folder = json.loads(result.output)["run"]
    assert "rod-heavy" in folder
    assert zw.load(folder).parameters["L"] == 1.5
    wrong = CliRunner().invoke(app, ["run", "rod.toml", "--case", "heavi"])
    assert wrong.exit_code != 0
    assert "Did you mean 'heavy'" in wrong.output


def test_mistakes_and_writing(path, tmp_path):
    model = zw.read_model(path)
    model.write(tmp_path / "again.toml")
    again = zw.read_model(tmp_path / "again.toml", case="heavy")
    np.testing.assert_allclose(
        again.simulate().q, zw.read_model(path, case="heavy").simulate().q, atol=1e-12
    )
    path.write_text(MODEL.replace("push = 3", "pusch = 3"))
    with pytest.raises(zw.ModelError, match=r"case\.heavy\.set\.pusch: .*Did you mean 'push'"):
        zw.read_model(path)
