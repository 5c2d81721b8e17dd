"""What the command line says of slips, and units of its tables."""

import json

import pytest
from tests import rod_on_a_pin
from typer.testing import CliRunner

from zwang.cli.app import app

PARAMETERS = """
[parameters]
L = "0.8 m"
heavy = "2 kg"
[body.load]
mass = "heavy"
position = ["L", 0, 0]
inertia = [1, 1, 1]
[joint.strap]
type = "fixed"
bodies = ["rod", "load"]
at = ["L", 0, 0]
"""
PLAN = """
model = "rod.toml"
outputs = ["top = max(rod.position.z)"]
[grid]
L = { from = "0.8 m", to = "1.6 m", count = 5 }
"start.pin.angle" = ["-30 deg", "20 deg"]
"""


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def model(tmp_path):
    return rod_on_a_pin.written(tmp_path, PARAMETERS)


def test_a_mass_of_a_parameter_is_told_with_it_and_its_line(model, tmp_path):
    text = call("run", model, "--set", "load.mass=9", "-o", tmp_path / "a.run", code=1)
    line = 1 + model.read_text().splitlines().index('mass = "heavy"')
    assert f"line {line}, key body.load.mass: parameter 'load.mass' must follow from heavy," in text
    assert "Change heavy instead" in text
    assert " L" not in text


@pytest.mark.parametrize("table", ["case.load", "event.load"])
def test_a_table_with_the_name_of_a_body_is_not_blamed(model, tmp_path, table):
    tables = {
        "case.load": 'set = { heavy = "3 kg" }\n',
        "event.load": 'function = "rod.position.z"\nat = -0.4\n',
    }
    model.write_text(f"[{table}]\n{tables[table]}{model.read_text()}")
    text = call("run", model, "--set", "load.mass=9", "-o", tmp_path / "a.run", code=1)
    line = 1 + model.read_text().splitlines().index('mass = "heavy"')
    assert f"line {line}, key body.load.mass: parameter 'load.mass'" in text
    text = call("run", model, "--set", "load.inertia=9", "-o", tmp_path / "a.run", code=1)
    assert "key body.load" in text


def test_a_name_that_is_not_known_leads_to_what_is_listed(model):
    text = call("check", model, "--set", "strap=3", code=1)
    assert "'strap'" in text
    assert "strap.at" not in text
    assert "'load.mass'" in call("check", model, "--set", "load.mas=3", code=1)


def test_a_parameter_in_a_wrong_unit_is_told_with_its_line(model):
    model.write_text(model.read_text().replace('"2 kg"', '"2 N"'))
    text = call("check", model, code=1)
    lines = model.read_text().splitlines()
    used, given = 1 + lines.index('mass = "heavy"'), 1 + lines.index('heavy = "2 N"')
    assert f"line {used}, key body.load.mass: expected a number [kg]" in text
    assert f"heavy is '2 N' in line {given}." in text


@pytest.mark.parametrize(
    ("kind", "meant"), [("slider", "'prismatic' or 'point_on_line'"), ("Hinge", "'revolute'")]
)
def test_joints_by_other_names_lead_to_the_kind(model, kind, meant):
    model.write_text(model.read_text().replace('"fixed"', f'"{kind}"'))
    assert f"Did you mean {meant}?" in call("check", model, code=1)


def test_a_folder_that_is_not_there_is_told_in_a_sentence(tmp_path):
    text = call("export", tmp_path / "nothere.run", code=1)
    assert "must be the folder of a run, but there is no such folder." in text


def test_times_between_lines_may_have_a_unit(model, tmp_path):
    call("run", model, "-o", tmp_path / "a.run")
    call("export", tmp_path / "a.run", "pin.angle", "--every", "250 ms", "-o", tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["t", "0.0", "0.25", "0.5", "0.75", "1.0"]
    call("export", tmp_path / "a.run", "--every", "1 m", code=2)


def test_tables_of_studies_are_in_the_units_of_the_plan(model, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    table = tmp_path / "a.csv"
    text = call("sweep", plan, "-o", tmp_path / "a.zarr", "--csv", table, "--units")
    head = next(line.split() for line in text.splitlines() if "pin.angle" in line and "[" in line)
    assert head == ["L", "[m]", "start.pin.angle", "[deg]", "top", "[m]"]
    rows = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert {row[2] for row in rows if len(row) == 4} == {"-30", "20"}
    lines = table.read_text().splitlines()
    assert lines[0] == "run,L [m],start.pin.angle [rad],top [m],status,reason"
    assert {line.split(",")[1] for line in lines[1:]} == {"0.8", "1.0", "1.2", "1.4", "1.6"}


def test_numbers_of_parts_may_have_units(model):
    told = call("check", model, "--set", "rod.mass=3000 g", "--set", "heavy=1 kg")
    assert "4 kg: rod 3, load 1" in told
    told = call("check", model, "--set", "rod.mass=3 m", code=1)
    assert "--set rod.mass must be a number in kg, or with a unit: '200 g', not '3 m'" in told
    assert "whose unit is known" in call("check", model, "--set", "rod.mass=two", code=1)


def test_a_name_that_is_like_none_leads_to_dotted_names(model):
    told = call("check", model, "--set", "lengh_of_it=1.5", code=1)
    assert "Numbers of parts have dotted names: rod.mass." in told
    told = call("check", model, "--set", "heavvy=1.5", code=1)
    assert "Did you mean 'heavy'?" in told
    assert "dotted" not in told


@pytest.mark.parametrize(
    ("line", "shown", "noted"),
    [
        ("gravity = [0, 0, -9.81]", "[0, 0, -9.81] m/s^2 along x, y, z", False),
        ("gravity = [0, 0, 9.81]", "[0, 0, 9.81] m/s^2 along x, y, z", True),
        ("gravity = [9.81, 0, 0]", "[9.81, 0, 0] m/s^2 along x, y, z", False),
        ("", "none", False),
    ],
)
def test_check_shows_gravity(model, line, shown, noted):
    """A sign or a forgotten line is an error of no kind, and changes all."""
    text = model.read_text()
    assert "gravity = [0, 0, -9.81]" in text
    model.write_text(text.replace("gravity = [0, 0, -9.81]", line))
    told = call("check", model)
    assert f"gravity              {shown}\n" in told
    assert ("Note: gravity acts along +z: bodies fall toward larger z" in told) == noted
    assert json.loads(call("check", model, "--json"))["gravity"] == json.loads(
        f"[{shown.partition('[')[2].partition(']')[0] or '0, 0, 0'}]"
    )


@pytest.mark.parametrize(("plane", "axes"), [("xz", "x, z"), ("xy", "x, y"), ("yz", "y, z")])
def test_gravity_of_a_plane_is_told_in_its_axes(tmp_path, plane, axes):
    path = tmp_path / "plane.toml"
    path.write_text(
        f'[mechanism]\nplane = "{plane}"\ngravity = [0, 9.81]\n[body.ball]\nmass = 1\n'
        'shape = { type = "sphere", radius = 1 }\nfree = true\n'
    )
    told = call("check", path)
    assert f"[0, 9.81] m/s^2 along {axes}\n" in told
    assert f"gravity acts along +{axes[-1]}" in told
