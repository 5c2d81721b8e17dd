"""Model files and the command line ask for rest and small motions."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import zwang as zw
from zwang.cli.app import app

PENDULUMS = """
[mechanism]
gravity = [0, 0, -9.81]
plane = "xz"

[parameters]
wind = 0.0

[body.a]
mass = 1.0
inertia = 0.1
position = [0.5, 0]

[body.b]
mass = 2.0
inertia = 0.2
position = [1.5, 0]

[joint.pin]
type = "revolute"
bodies = ["ground", "a"]
at = [0, 0]

[joint.elbow]
type = "revolute"
bodies = ["a", "b"]
at = [1, 0]

[force.breeze]
type = "force"
body = "b"
force = ["wind", 0]
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "model.toml"
        path.write_text(PENDULUMS + text, encoding="utf-8")
        return path

    return write


def command(*arguments):
    return CliRunner().invoke(app, [str(x) for x in arguments])


def test_equilibrium_of_a_file(written):
    result = command("equilibrium", written(""), "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["stability"] == "stable"
    assert found["reactions"]["pin"]["force"][2] == pytest.approx(3.0 * 9.81)
    assert found["reactions"]["pin"]["determinate"]
    shown = command("equilibrium", written(""))
    assert "Equilibrium, stable" in shown.output
    assert "29.43" in shown.output


def test_table_of_the_equilibrium_is_used(written):
    path = written('[equilibrium]\nhold = { "pin.angle" = 0.3 }\n')
    found = json.loads(command("equilibrium", path, "--json").output)
    expected = -(0.5 * 1.0 + 1.0 * 2.0) * 9.81 * np.cos(0.3)
    assert found["holding"]["pin.angle"] == pytest.approx(expected, rel=1e-10)
    model = zw.read_model(path)
    assert model.equilibrium(hold={}).stability == "stable"


def test_linearization_of_a_file(written, tmp_path):
    path = written(
        '[linearize]\ninputs = ["wind"]\noutputs = ["pin.angle"]\n'
        'independent = ["pin.angle", "elbow.angle"]\nmodes = 1\n'
    )
    found = json.loads(command("linearize", path, "--json").output)
    assert found["states"][:2] == ["pin.angle", "elbow.angle"]
    assert len(found["modes"]) == 1
    assert np.shape(found["A"]) == (4, 4)
    assert np.shape(found["B"]) == (4, 1)
    pytest.importorskip("matplotlib")
    plain = command("linearize", path, "--bode", tmp_path / "bode.png")
    assert plain.exit_code == 0, plain.output
    assert (tmp_path / "bode.png").exists()
    assert "Hz" in plain.output


def test_mistakes_in_the_tables_are_told_with_their_line(written):
    result = command("linearize", written('[linearize]\ninputs = ["wimd"]\n'))
    assert result.exit_code == 1
    assert "wimd" in result.stderr
    assert "line" in result.stderr
    result = command("equilibrium", written("[equilibrium]\nholds = 3\n"))
    assert result.exit_code == 1
    assert "holds" in result.stderr


def test_steady_motion_of_a_file(tmp_path):
    path = tmp_path / "coin.toml"
    path.write_text(
        """
[mechanism]
gravity = [0, 0, -9.81]
[body.coin]
mass = 1.0
inertia = [0.0625, 0.125, 0.0625]
position = [0, 0, 0.5]
[joint.contact]
type = "rolling_disk"
bodies = ["ground", "coin"]
at = [[0, 0, 0], [0, 0, 0.5]]
axis = "z"
axis_b = "y"
radius = 0.5
[equilibrium]
rates = { "coin.spin" = 6.0, yaw = 0.0 }
""",
        encoding="utf-8",
    )
    found = json.loads(command("equilibrium", path, "--json").output)
    assert found["stability"] == "marginal"
    assert found["rates"]["shift x"] == pytest.approx(3.0)
    lin = zw.read_model(path).linearize()
    assert np.abs(lin.eigenvalues.imag).max() > 1.0


def test_tables_are_written_as_they_were_read(written, tmp_path):
    path = written('[linearize]\ninputs = ["wind"]\n[equilibrium]\nt = 1.5\n')
    model = zw.read_model(path)
    model.write(tmp_path / "again.toml")
    again = zw.read_model(tmp_path / "again.toml")
    assert again.analysis_tables == model.analysis_tables
