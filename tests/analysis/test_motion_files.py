"""Kinematics and inverse dynamics as model files and the command line ask for them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import zwang as zw
from zwang.analysis.columns import read_csv
from zwang.cli.app import app
from zwang.model_files.examples import example_path

QUICK_RETURN = example_path("quick_return")


def called(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def changed(tmp_path, *replacements):
    text = QUICK_RETURN.read_text(encoding="utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "model.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_command_prints_what_the_call_gives(tmp_path):
    table = tmp_path / "out.csv"
    result = called("kinematics", QUICK_RETURN, "--json", "--csv", table)
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    k = zw.read_model(QUICK_RETURN).kinematics()
    np.testing.assert_array_equal(data["outputs"]["ram.position.x"], k["ram.position.x"])
    columns = read_csv(table)
    assert list(columns) == ["drive.angle", "ram.position.x", "ram.velocity.x", "foot.angle"]
    np.testing.assert_array_equal(columns["foot.angle"], k["foot.angle"])


def test_a_locked_mechanism_fails_and_says_where(tmp_path):
    path = changed(
        tmp_path,
        ('along = "drive.angle"', 'along = "bed.displacement"'),
        ('to = "360 deg"', "to = 1.0"),
    )
    result = called("kinematics", path)
    assert result.exit_code == 1
    assert "dead point at bed.displacement" in result.stdout


def test_other_outputs_and_vectors(tmp_path):
    table = tmp_path / "out.csv"
    called("kinematics", QUICK_RETURN, "--output", "ram.position", "--csv", table)
    assert list(read_csv(table))[1:] == ["ram.position.x", "ram.position.y", "ram.position.z"]


def test_a_written_model_keeps_its_table(tmp_path):
    zw.read_model(QUICK_RETURN).write(tmp_path / "again.toml")
    again = zw.read_model(tmp_path / "again.toml")
    assert dict(again.analysis_tables["kinematics"]) == dict(
        zw.read_model(QUICK_RETURN).analysis_tables["kinematics"]
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('along = "drive.angle"', 'along = "drive.angel"'), "Did you mean 'drive.angle'"),
        (("steps = 72", "steps = 7.5"), "whole number of steps"),
        (("steps = 72", "values = [0, 1]"), "beside 'values'"),
        (('to = "360 deg"', ""), "to = …, or values"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, change, words):
    path = changed(tmp_path, change)
    with pytest.raises(zw.ZwangError) as error:
        zw.read_model(path).kinematics()
    assert words in str(error.value)
    assert "line" in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [("a,b\n1,2\n3\n", "line 3"), ("a,b\n", "no lines"), ("a\nx\n", "line 2")],
)
def test_tables_that_cannot_be_read(tmp_path, text, words):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(zw.ZwangError, match=words):
        read_csv(path)


@pytest.fixture
def motion(tmp_path):
    t = np.linspace(0.0, 1.0, 41)
    path = tmp_path / "motion.csv"
    lines = [f"{x!r},{2.0 * np.pi * x!r}" for x in t.tolist()]
    path.write_text("t,drive.angle\n" + "\n".join(lines), encoding="utf-8")
    return path


def test_the_command_gives_the_efforts_of_the_call(motion, tmp_path):
    table = tmp_path / "efforts.csv"
    result = called("inverse", QUICK_RETURN, motion, "--json", "--csv", table)
    assert result.exit_code == 0, result.output
    effort = json.loads(result.stdout)["effort"]["drive.angle"]
    m = zw.read_model(QUICK_RETURN).mechanism
    assert m is not None
    t = np.linspace(0.0, 1.0, 41)
    inv = m.inverse_dynamics((t, {"drive.angle": lambda t: 2.0 * np.pi * t}), ["drive.angle"])
    np.testing.assert_allclose(effort, inv.effort["drive.angle"], atol=1e-7)
    assert "drive.angle effort" in read_csv(table)
    assert "peak effort" in called("inverse", QUICK_RETURN, motion).stdout


def test_what_is_not_reached_fails(motion):
    result = called("inverse", QUICK_RETURN, motion, "--actuator", "lever.position.x")
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("header", "words"),
    [("s,drive.angle", "t, and then names"), ("t,drive.angel", "Did you mean 'drive.angle'")],
)
def test_motions_that_cannot_be_read(motion, header, words):
    motion.write_text(motion.read_text().replace("t,drive.angle", header, 1))
    result = called("inverse", QUICK_RETURN, motion)
    assert result.exit_code == 1
    assert words in " ".join(result.output.split())
