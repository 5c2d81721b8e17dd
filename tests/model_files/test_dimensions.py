"""Expressions of parameters and constants have the dimension that their place asks for."""

import pytest

import zwang as zw
from zwang.errors import UnknownNameError
from zwang.model_files.units import dimension_of_unit, in_units

ROD = """
[parameters]
L = "{L}"
alpha = "30 deg"
w = "2 cm"
load = "3 kg"

[mechanism]
gravity = [0, 0, "-9.81 m/s^2"]

[body.rod]
mass = "{mass}"
shape = {{ type = "rod", length = "{length}", axis = "x" }}
position = ["{x}", 0, 0]

[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
axis = "y"
"""
RIGHT = {"L": "1.2 m", "mass": "load", "length": "L", "x": "L / 2"}


@pytest.fixture
def read(tmp_path):
    def written(**changed):
        file = tmp_path / "rod.toml"
        file.write_text(ROD.format(**{**RIGHT, **changed}), encoding="utf-8")
        return zw.read_model(file)

    return written


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"L": "1.2"},  # without a unit it may be anything
        {"mass": "40 + load"},
        {"mass": "7850 * L * w * w"},  # a density without its unit
        {"mass": "load * cos(alpha)"},
        {"mass": "load * w / L"},
        {"x": "max(L, w) * sin(alpha)"},
        {"x": "sqrt(L * w)"},
        {"x": "cos(alpha)"},  # of a metre
        {"x": "L / L"},
        {"x": "L * alpha"},  # an angle has no dimension
        {"length": "L^2"},  # powers are not followed
    ],
)
def test_what_may_be_right_is_taken(read, changed):
    assert read(**changed).system is not None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"L": "1.2 kg"}, "in kg"),
        ({"length": "load"}, r"'load', which is in kg \(load in kg\)"),
        ({"x": "L * w"}, r"in m\^2"),
        ({"x": "-L * cos(alpha) * load"}, "in m kg"),
        ({"mass": "L"}, "in m"),
    ],
)
def test_what_is_of_another_dimension_is_refused_with_its_place(read, changed, said):
    with pytest.raises(zw.ModelError, match=said) as caught:
        read(**changed)
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        ("N", "m kg/s^2"),
        ("N*m/rad", "m^2 kg/s^2"),
        ("rpm", "1/s"),
        ("deg", "plain numbers"),
        ("bar", "kg/m/s^2"),  # by the library of units
    ],
)
def test_units_have_the_dimensions_of_the_si(unit, shown):
    dimension = dimension_of_unit(unit)
    assert dimension is not None
    assert in_units(dimension) == shown


def test_units_of_nothing_mechanical_have_none():
    assert dimension_of_unit("volt") is None
    assert dimension_of_unit("nonsense") is None


def test_a_unit_within_an_expression_gets_advice_of_its_own(read):
    with pytest.raises(zw.ModelError, match="In an expression numbers are in SI units"):
        read(mass="40 kg + load")


def test_a_name_in_other_letters_is_recalled():
    error = UnknownNameError("parameter", "l", ["L", "alpha"])
    assert "Did you mean 'L'?" in str(error)
