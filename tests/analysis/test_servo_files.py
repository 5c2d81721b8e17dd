"""Servo constraints as model files and the command line ask for them."""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pytest
from typer.testing import CliRunner

import zwang as zw
from zwang.analysis.columns import read_csv
from zwang.cli.app import app
from zwang.model_files.examples import example_path

ARM = example_path("flexible_joint")
#: Efforts by four differentiations, against 60 digits.
FLAT = 1e-10


def called(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def changed(tmp_path, *replacements):
    text = ARM.read_text(encoding="utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "model.toml"
    path.write_text(text, encoding="utf-8")
    return path


def by_hand(times, stiffness):
    """Effort and angle of the motor: J θ̈ + m g a sin θ = k (φ − θ), τ = J_m φ̈ + k (φ − θ)."""
    J, weight, rotor = 2.0 * 0.6**2 / 3.0, 2.0 * 9.81 * 0.3, 0.5 * 8.0 * 0.1**2
    powers = {5: 126, 6: -420, 7: 540, 8: -315, 9: 70}

    def theta(t):
        return mpmath.pi / 2 * sum(c * t**k for k, c in powers.items())

    def moment(t):
        return J * mpmath.diff(theta, t, 2) + weight * mpmath.sin(theta(t))

    def phi(t):
        return theta(t) + moment(t) / stiffness

    with mpmath.workdps(60):
        at = [mpmath.mpf(float(t)) for t in times]
        h = mpmath.mpf("1e-12")
        effort = [float(rotor * mpmath.diff(phi, t, 2, h=h) + moment(t)) for t in at]
        return np.array(effort), np.array([float(phi(t)) for t in at])


@pytest.mark.parametrize("stiffness", [40.0, 4e6])
def test_a_soft_and_a_stiff_joint_are_diagnosed_and_solved_alike(stiffness):
    model = zw.read_model(ARM, values={"gear_stiffness": stiffness})
    servo = model.servo()
    facts = servo.realizability
    assert (facts.rank, facts.index, facts.flat) == (0, 5, True)
    assert facts.relative_degrees == {"shoulder.angle": 4}
    assert facts.smoothness == {"shoulder.angle": 4}
    solution = servo.solve(model.servo_times[::10])
    effort, angle = by_hand(solution.t, stiffness)
    np.testing.assert_allclose(solution.effort["motor.angle"], effort, atol=FLAT)
    np.testing.assert_allclose(solution["motor.angle"], angle, atol=FLAT)


def test_the_command_gives_what_the_call_gives(tmp_path):
    pytest.importorskip("matplotlib")
    table, figure = tmp_path / "efforts.csv", tmp_path / "efforts.png"
    path = changed(tmp_path, ("steps = 50", "steps = 4"))
    result = called("servo", path, "--json", "--csv", table, "--plot", figure)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["index"], data["how"], data["internal"]) == (5, "differentiation", "none")
    model = zw.read_model(path)
    solution = model.servo().solve(model.servo_times)
    np.testing.assert_array_equal(data["effort"]["motor.angle"], solution.effort["motor.angle"])
    columns = read_csv(table)
    assert list(columns) == ["t", "motor.angle effort", "motor.angle", "arm.position.x"]
    np.testing.assert_array_equal(columns["motor.angle effort"], solution.effort["motor.angle"])
    assert figure.stat().st_size > 5000
    text = called("servo", path).stdout
    assert "index 5" in text
    assert "effort of motor.angle" in text


def test_parameters_of_the_file_are_those_of_its_program(tmp_path):
    path = changed(
        tmp_path,
        ("[define]", "[parameters]\nheight = 1.0\n\n[define]"),
        ('"pi/2 * smooth"', '"height * smooth"'),
        ("steps = 50", "steps = 2"),
    )
    model = zw.read_model(path)
    for height, given in ((1.0, {}), (0.5, {"height": 0.5})):
        solution = model.servo(parameters=given).solve(model.servo_times)
        np.testing.assert_allclose(solution["shoulder.angle"], [0, height / 2, height], atol=FLAT)


def test_a_written_model_keeps_its_program(tmp_path):
    zw.read_model(ARM).write(tmp_path / "again.toml")
    again = zw.read_model(tmp_path / "again.toml")
    first = zw.read_model(ARM)
    np.testing.assert_array_equal(again.servo_times, first.servo_times)
    one, other = (m.analysis_tables["servo"]["program"]["shoulder.angle"] for m in (again, first))
    assert one(0.3, {}) == other(0.3, {})
    assert one.source == "pi/2 * smooth"


@pytest.mark.parametrize(
    ("change", "words", "key"),
    [
        (('"shoulder.angle" = "pi', '"shoulder.angel" = "pi'), "Did you mean", "shoulder.angel"),
        (("pi/2 * smooth", "pi/2 * smoth"), "smoth", "shoulder.angle"),
        (("pi/2 * smooth", "where(t < 0.5, 0, 1)"), "not smooth enough", "shoulder.angle"),
        (("pi/2 * smooth", "arm.position"), "arm.position", "shoulder.angle"),
        (
            ('actuators = ["motor.angle"]', 'actuators = ["motr.angle"]'),
            "Did you mean",
            "servo.actuators",
        ),
        (('actuators = ["motor.angle"]', "actuators = []"), "a list of names", "servo.actuators"),
        (('["motor.angle"]\n', '["motor.angle", "shoulder.angle"]\n'), "as many", "servo"),
        (('actuators = ["motor.angle"]\n', ""), "actuators", "servo"),
        (('to = "duration"\n', ""), "to = …, or times", "servo"),
        (("steps = 50", "steps = 7.5"), "whole number of steps", "servo.steps"),
        (("steps = 50", "times = [0, 1]"), "beside 'times'", "servo"),
        (('outputs = ["motor.angle"', 'outputs = ["motor.angel"'), "Did you mean", "servo.outputs"),
    ],
)
def test_mistakes_are_told_with_file_line_and_key(tmp_path, change, words, key):
    path = changed(tmp_path, change)
    result = called("servo", path)
    assert result.exit_code == 1
    told = " ".join(result.output.split())
    assert words in told
    assert str(path.name) in told
    assert "line" in told
    assert key in told
    assert "Traceback" not in told


def test_a_file_without_the_table_says_so(tmp_path):
    result = called("servo", example_path("pendulum"))
    assert result.exit_code == 1
    assert "[servo]" in " ".join(result.output.split())
