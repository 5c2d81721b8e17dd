"""Common slips in model files: each message has the words that lead to a line that works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from zwang.cli.app import app
from zwang.errors import ModelError, UnknownNameError
from zwang.model_files.expressions import ExpressionError, evaluate, parse_expression
from zwang.model_files.model import read_model

MODEL = """\
[parameters]
load = "500 kg"

[mechanism]
plane = "xy"
gravity = [0, "-9.81 m/s^2"]

[body.wheel]
mass = "load"
shape = { type = "cylinder", radius = "50 mm", length = "20 mm" }

[body.rack]
mass = "4 kg"
shape = { type = "box", size = [0.6, 0.02, 0.02] }
position = [0, "60 mm"]

[joint.axle]
type = "revolute"
bodies = ["ground", "wheel"]
at = [0, 0]

[joint.slide]
type = "prismatic"
bodies = ["ground", "rack"]
at = [0, "60 mm"]
axis = "x"

[joint.teeth]
type = "rack_and_pinion"
bodies = ["wheel", "rack"]
at = [0, "50 mm"]
axis_b = "-x"
radius = "50 mm"
pressure_angle = "20 deg"

[simulation]
until = "1 s"
"""


def written(folder: Path, old: str = "", new: str = "", more: str = "") -> Path:
    """The model with a slip in it."""
    assert old in MODEL
    path = folder / "model.toml"
    path.write_text(MODEL.replace(old, new) + more, encoding="utf-8")
    return path


def test_the_model_without_a_slip_is_read(tmp_path: Path) -> None:
    assert read_model(written(tmp_path)).mechanism is not None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"500 kg"', '"0,5 t"', "Decimals follow a point"),
        ('"500 kg"', '"1,200 kg"', "thousands have no sign"),
        ("[0.6, 0.02, 0.02]", "[0,6, 0,02, 0,02]", "Decimals follow a point"),
        ("[0.6, 0.02, 0.02]", "[0,6, 0,2, 0,2]", "Decimals follow a point"),
        ('until = "1 s"', "until = 1,5", "Decimals follow a point"),
        ("[body.wheel]", "[body.big wheel]", "without spaces"),
        ('position = [0, "60 mm"]', 'position = [0, "60 mm"', "[ or {, is closed again"),
        ("[body.wheel]", "[body.wheel", "its name in brackets"),
        (
            'plane = "xy"\ngravity = [0, "-9.81 m/s^2"]',
            'plane = "xy"\ngravity = [0, 0, -9.81]',
            "line 6, key mechanism.gravity",
        ),
        ("m/s^2", "m/s2", "Powers of units have the sign ^: m/s^2."),
        ('mass = "load"', 'mass = "load"\nmass = 3', "line 9 has it already"),
        ('"60 mm"]\naxis = "x"', '"0.1 * cos(53 deg)"]\naxis = "x"', "numbers are in SI units"),
        ('"60 mm"]\naxis = "x"', '"sqrt(36 cm) / 100"]\naxis = "x"', "numbers are in SI units"),
        ('"60 mm"]\naxis = "x"', '"0.1 * cos load"]\naxis = "x"', "in parentheses: cos(load)."),
        ('"60 mm"]\naxis = "x"', '"(2 load)"]\naxis = "x"', "Write * for a product."),
        ('axis_b = "-x"', 'axis_b = "x"', "turn 'axis_b' round"),
        (
            'bodies = ["wheel", "rack"]\nat = [0, "50 mm"]\naxis_b = "-x"',
            'bodies = ["rack", "wheel"]\nat = [0, "50 mm"]\naxis = "x"',
            "The pinion is the first body",
        ),
    ],
)
def test_message_leads_to_what_works(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_model(written(tmp_path, old, new))
    assert told in str(caught.value)


@pytest.mark.parametrize("value", ["1.0876 m - 0.1*t", "1.2 m-0.1*t", "3 m < t", "max(0.1, 5 kW)"])
def test_a_unit_before_an_operation_is_no_power(tmp_path: Path, value: str) -> None:
    drive = f'\n[drive.push]\nof = "slide.displacement"\nvalue = "{value}"\n'
    with pytest.raises(ModelError) as caught:
        read_model(written(tmp_path, more=drive))
    assert "In an expression numbers are in SI units" in str(caught.value)
    assert "Powers" not in str(caught.value)


def test_a_table_given_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    path = written(tmp_path, more='\n[joint.axle]  # again\ntype = "fixed"\n')
    lines = path.read_text(encoding="utf-8").splitlines()
    with pytest.raises(ModelError) as caught:
        read_model(path)
    assert caught.value.line == len(lines) - 1
    assert f"line {lines.index('[joint.axle]') + 1} has it already" in str(caught.value)
    assert "quotation marks" not in str(caught.value)


def test_a_name_with_a_known_beginning_is_told_what_that_has(tmp_path: Path) -> None:
    """Of hundreds of channels those of the body, and nothing that only looks alike."""
    path = written(tmp_path, more='\n[event.high]\nfunction = "rack.height"\nat = 1\n')
    with pytest.raises(ModelError) as caught:
        read_model(path)
    said = str(caught.value)
    assert "rack.position.y" in said
    assert "wheel." not in said
    assert "Did you mean" not in said


def test_a_joint_in_place_of_a_channel_is_told_its_channels(tmp_path: Path) -> None:
    run = read_model(written(tmp_path)).simulate(until=0.01)
    with pytest.raises(UnknownNameError) as caught:
        _ = run["axle"]
    assert "one of axle.angle, axle.angle_rate, " in str(caught.value)
    assert "wheel" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "meant"),
    [("mag", "magnitude"), ("norm", "magnitude"), ("X", "x"), ("magnitud", "magnitude")],
)
def test_a_part_of_a_vector_by_another_name_leads_to_its_parts(
    tmp_path: Path, part: str, meant: str
) -> None:
    run = read_model(written(tmp_path)).simulate(until=0.01)
    for ask in (run.__getitem__, run.channels.__getitem__):
        with pytest.raises(UnknownNameError) as caught:
            ask(f"axle.force.{part}")
        said = str(caught.value)
        assert "one of axle.force.x, axle.force.y, axle.force.z, axle.force.magnitude," in said
        assert said.endswith(f"Did you mean 'axle.force.{meant}'?")


def test_a_unit_of_an_output_that_would_be_a_factor_is_refused(tmp_path: Path) -> None:
    """A label kN on newtons would be read as a thousand times the force."""
    output = '\n[output]\npress = {{ value = "{}", unit = "{}" }}\n'
    with pytest.raises(ModelError) as caught:
        read_model(written(tmp_path, more=output.format("axle.force.magnitude", "kN")))
    assert caught.value.key == "output.press.unit"
    assert 'value = "axle.force.magnitude / 1000"' in str(caught.value)
    for value, unit in [
        ("axle.force.magnitude / 1000", "kN"),
        ("axle.force.magnitude", "N"),
        ("axle.moment.z", "N*m"),
    ]:
        assert read_model(written(tmp_path, more=output.format(value, unit))).mechanism


def test_check_reads_all_cases(tmp_path: Path) -> None:
    path = written(tmp_path, more='\n[case.heavy]\nset = { load = "1 m" }\n')
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 1
    assert "'load'" in result.output
    assert "has no errors" not in result.output
    path.write_text(path.read_text(encoding="utf-8").replace('"1 m"', '"1 t"'), encoding="utf-8")
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 0


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("t > 0 & t < 1", "joined by 'and': a > 0 and b > 0"),
        ("t > 0 || t < 1", "joined by 'or': a > 0 or b > 0"),
        ("t > 0 AND t < 1", "'and' in small letters"),
        ("!(t > 0)", "negated by 'not'"),
        ("0 < 2 * t < 1", r"Join two by 'and': 0 < 2 \* t and 2 \* t < …"),
        ("t > 0 == t > 1", r"\(a > 0\) == \(b > 0\)"),
        ("t <> 0", "Unequal is a != b"),
        ("t > 0 xor t > 1", r"\(a > 0\) != \(b > 0\)"),
        ("t ≥ 0", "written >="),
        ("1 + not t > 0", r"and \(not b > 0\)"),
        ("if(t > 0, 1, 2)", r"where\(condition, a, b\)"),
        ("1 if t > 0 else 2", r"where\(condition, a, b\)"),
        ("t > 0 ? 1 : 2", r"where\(condition, a, b\)"),
    ],
)
def test_conditions_of_other_languages_lead_to_those_of_model_files(condition, said):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(f"where({condition}, 1, 2)")
    assert re.search(said, f"{caught.value.expected} {caught.value.advice}")


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("x > 0 and x < 1 or x > 2", lambda x: (x > 0 and x < 1) or x > 2),
        ("x > 0 or x < 1 and x > 2", lambda x: x > 0 or (x < 1 and x > 2)),
        ("not x > 0 and x < 1", lambda x: not x > 0 and x < 1),
        ("not not x", lambda x: x != 0),
        ("not not not x", lambda x: x == 0),
    ],
)
def test_words_bind_as_in_mathematics(condition, value):
    tree = parse_expression(condition)
    for x in (-1.0, 0.0, 0.5, 1.5, 3.0):
        assert evaluate(tree, {"x": x}) == float(value(x))
