"""Bodies whose mass or moments of inertia the file does not give are named, and masses listed."""

import json

import pytest
from tests import rod_on_a_pin
from typer.testing import CliRunner

import zwang as zw
from zwang.cli.app import app

LOAD = """
[body.load]
position = [1, 0, 0]
{}
[joint.strap]
type = "fixed"
bodies = ["rod", "load"]
at = [1, 0, 0]
"""
MASSLESS = "body 'load' has no mass: neither weight nor inertia"
POINT = "body 'load' has mass but no moment of inertia: a point mass"


def said(command, path, *options):
    result = CliRunner().invoke(app, [command, str(path), *options])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("keys", "note"),
    [
        ("", MASSLESS),
        ("mass = 2", POINT),
        ("mass = 0", None),
        ('mass = 2\nshape = { type = "point" }', None),
        ("mass = 2\ninertia = [0, 0, 0]", None),
        ('mass = 2\nshape = { type = "sphere", radius = 0.1 }', None),
        ('shape = { type = "sphere", radius = 0.1, mass = 2 }', None),
    ],
)
def test_what_is_missing_is_told_by_name(tmp_path, keys, note):
    path = rod_on_a_pin.written(tmp_path, LOAD.format(keys))
    told = [
        said("check", path),
        said("run", path, "-o", str(tmp_path / "a.run")),
        said("explain", path),
    ]
    for text in told:
        assert ("'load'" in text) == (note is not None)
        assert note is None or note in text
    notes = json.loads(said("check", path, "--json"))["notes"]
    assert [n.partition(" (")[0] for n in notes] == ([note] if note else [])


def test_check_lists_masses(tmp_path):
    parameters = '[parameters]\nheavy = "2 kg"\n'
    keys = 'mass = "heavy"\ninertia = [1, 1, 1]'
    path = rod_on_a_pin.written(tmp_path, LOAD.format(keys) + parameters)
    assert "mass 3 kg: rod 1, load 2 " in said("check", path)
    assert "mass 6 kg: rod 1, load 5 " in said("check", path, "--set", "heavy=5")
    assert "mass 2.5 kg: rod 0.5, load 2 " in said("check", path, "--set", "rod.mass=0.5")


def test_explain_names_what_the_mass_matrix_is_singular_for(tmp_path):
    two = LOAD.format("") + LOAD.format("mass = 1").replace("load", "ball").replace("strap", "tie")
    model = rod_on_a_pin.read(tmp_path, two)
    text = str(model.system.explain(model.start()))
    assert "M is singular: rank" in text
    assert "Without a moment of inertia about their axes: rod" in text
    assert "without mass: load" in text
    assert "without moments of inertia: ball" in text
    assert "ithout" not in str(zw.read_model("examples/four_bar.toml").mechanism.explain())
