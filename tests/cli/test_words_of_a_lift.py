"""Words of the command line that a user of a driven scissor lift met."""

import re

import pytest
from typer.testing import CliRunner

from zwang.cli.app import app

#: A crank and a slider that a driver moves; the second hinge says what the rail says already.
DRIVEN = """
[mechanism]
plane = "xy"
gravity = [0, -9.81]
[body.rod]
mass = 1
inertia = 0.1
position = [0.5, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0]
[joint.again]
type = "revolute"
bodies = ["rod", "ground"]
at = [0, 0]
[drive.motor]
of = "pin.angle"
value = "0.2 * t^2"
[simulation]
until = 1
[equilibrium]
t = 1
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(command, text=DRIVEN, code=0):
        (tmp_path / "lift.toml").write_text(text)
        found = CliRunner().invoke(app, [command, "lift.toml"])
        assert found.exit_code == code, found.output
        return re.sub(r"\s+", " ", found.output)

    return call


def test_check_names_the_joints_of_redundant_rows(told):
    assert "redundant rows 2, among those of pin and again" in told("check")


def test_rest_without_freedom_is_told_as_that_and_coordinates_once(told):
    text = DRIVEN.replace("[joint.again]", "[joint.other]").replace("2 * t^2", "2 * t")
    output = told("equilibrium", text)
    assert "without a degree of freedom: nothing moves by itself." in output
    assert "undecided" not in output
    assert output.count("pin.angle") == 1


def test_held_values_against_a_driver_are_told_at_their_line(told):
    text = DRIVEN.replace("t = 1\n", 'hold = { "pin.angle" = "5 deg" }\n')
    output = told("equilibrium", text, code=1)
    assert "line 23, key equilibrium.hold.pin.angle" in output
    assert "drive.motor (line 17)" in output
    assert "rad" in output


def test_friction_on_a_line_says_what_to_do_instead(told):
    text = DRIVEN.replace(
        'type = "revolute"\nbodies = ["rod', 'type = "point_on_line"\nbodies = ["rod'
    )
    text = text.replace("at = [0, 0]\n[drive", 'at = [0, 0]\naxis = "x"\n[drive')
    text += "[friction.again]\ncoefficient = 0.1\n"
    assert "slide in a prismatic joint with friction" in told("check", text, code=1)
