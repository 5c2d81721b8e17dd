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
        {"length": "L^2 / w"},
        {"length": "(L^0.1 * L^0.2 + L^0.3) * L^0.7"},
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
        ({"length": "L^2"}, r"in m\^2"),
        ({"length": "L + load"}, r"terms in m and kg \(L in m, load in kg\)"),
        ({"length": "max(L, load)"}, "terms in m and kg"),
        ({"length": "L * sin(load)"}, r"sin of an angle or a number, not .* in kg \(load in kg\)"),
        ({"length": "L * cos(w)"}, r"not cos of something in m \(w in m\)"),
        ({"length": "L * exp(-load)"}, "exp of a number, not exp of something in kg"),
        ({"length": "L * log10(L)"}, "log10 of a number, not log10 of something in m"),
        ({"length": "L * 2^load"}, "a power of a number as its exponent"),
        ({"length": "L * where(not L < load, 1, 2)"}, "terms in m and kg"),
    ],
)
def test_what_is_of_another_dimension_is_refused_with_its_place(read, changed, said):
    with pytest.raises(zw.ModelError, match=said) as caught:
        read(**changed)
    assert caught.value.line is not None


def test_a_definition_that_nothing_uses_is_checked_with_its_place(tmp_path):
    path = tmp_path / "model.toml"
    head = '[parameters]\nL = "0.5 m"\nF = "3 N"\n[define]\n'
    tail = '[system]\ncoordinates = ["x"]\nmass = [[1]]\n'
    for value in ('"sin(L)"', '["exp(F)", 0]', '"atan2(L, F)"'):
        path.write_text(f"{head}u = {value}\n{tail}", encoding="utf-8")
        with pytest.raises(zw.ModelError) as caught:
            zw.read_model(path)
        assert (caught.value.line, caught.value.key[:8]) == (5, "define.u")
    path.write_text(f'{head}u = "sin(L / (2 * L)) * exp(-t)"\n{tail}', encoding="utf-8")
    zw.read_model(path)


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        ("N", "N"),
        ("N*m/rad", "N m"),
        ("rpm", "1/s"),
        ("deg", "plain numbers"),
        ("bar", "Pa"),  # by the library of units
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


SLIDER = """
[constants]
stroke = "5 cm"

[parameters]
omega = "40 rpm"
load = "3 kg"
k = "200 N/m"

[define]
{define}

[mechanism]
gravity = [0, 0, "-9.81 m/s^2"]

[body.block]
mass = 1.0

[body.wheel]
mass = 1.0
inertia = [1.0, 1.0, 1.0]

[joint.rail]
type = "prismatic"
bodies = ["ground", "block"]
axis = "x"

[joint.pin]
type = "revolute"
bodies = ["ground", "wheel"]
axis = "y"

{more}
"""


@pytest.fixture
def slider(tmp_path):
    def written(more, define=""):
        file = tmp_path / "slider.toml"
        file.write_text(SLIDER.format(more=more, define=define), encoding="utf-8")
        return zw.read_model(file)

    return written


def driven(of, value):
    return f"[drive.motor]\nof = {of!r}\nvalue = {value}"


SPRING = """[force.s]
type = "spring_damper"
bodies = ["ground", "block"]
at = [[0, 0, 0], [0.1, 0, 0]]
force = "{}"
"""
RAIL, PIN = "rail.displacement", "pin.angle"


@pytest.mark.parametrize(
    ("more", "define"),
    [
        (driven(RAIL, '"stroke * sin(omega * t)"'), ""),
        (driven(RAIL, '"0.1 * load"'), ""),  # a plain number may be of any dimension
        (driven(RAIL, '"12 mm"'), ""),
        (driven(RAIL, '"reach"'), 'reach = "stroke * cos(omega * t)"'),
        (driven(RAIL, '"sin(omega * t)"'), ""),  # of a metre
        (driven(PIN, '"omega * t"'), ""),
        (driven(PIN, '"90 deg"'), ""),
        (driven(PIN, '"t"'), ""),  # a radian a second
        (driven(PIN, '"omega * t + t^2"'), ""),
        (driven("block.position", '["stroke", 0, "20 mm"]'), ""),
        (
            '[force.push]\ntype = "force"\nbody = "block"\nforce = ["-k*block.position[0]", 0, 0]',
            "",
        ),
        ('[force.push]\ntype = "actuator"\nof = "pin.angle"\neffort = "-k*stroke^2*pin.angle"', ""),
        ('[output.lift]\nvalue = "rail.displacement * k"\nunit = "N"', ""),
        ('[output.lift]\nvalue = "rail.displacement * k / 1000"\nunit = "kN"', ""),
        (SPRING.format("-(length - 1) - 0.1 * rate^3"), ""),  # of a newton
        (SPRING.format("-k * (length - stroke) - rate"), ""),
        ('[output.part]\nvalue = "100 * rail.displacement / stroke"\nunit = "%"', ""),
    ],
)
def test_laws_of_the_right_dimension_are_taken(slider, more, define):
    assert slider(more, define).mechanism is not None


@pytest.mark.parametrize(
    ("more", "define", "key", "said"),
    [
        (driven(RAIL, '"load * t"'), "", "drive.motor.value", "in kg s"),
        (driven(RAIL, '"20 deg"'), "", "drive.motor.value", "'20 deg'"),
        (driven(PIN, '"omega"'), "", "drive.motor.value", "in 1/s"),
        (driven(PIN, '"12 mm"'), "", "drive.motor.value", "'12 mm'"),
        (driven(RAIL, '"reach"'), 'reach = "load * t"', "drive.motor.value", "reach in kg s"),
        (driven(RAIL, '"stroke + omega"'), "", "drive.motor.value", "terms in m and 1/s"),
        (driven("block.position", '["stroke", 0, "load"]'), "", "drive.motor.value", "in kg"),
        ("", 'reach = "stroke + load"', "define.reach", r"\(stroke in m, load in kg\)"),
        ("", 'a = "2 mm"\nb = "a + load"', "define.b", "terms in m and kg"),
        (
            '[force.push]\ntype = "force"\nbody = "block"\nforce = ["k", 0, 0]',
            "",
            "force.push.force",
            "in N/m",
        ),
        (
            '[force.push]\ntype = "force"\nbody = "block"\nforce = ["k*block.velocity[0]", 0, 0]',
            "",
            "force.push.force",
            "block.velocity in m/s",
        ),
        (
            '[force.push]\ntype = "actuator"\nof = "pin.angle"\neffort = "-k*stroke*pin.angle"',
            "",
            "force.push.effort",
            r"a number \[N m\]",
        ),
        (
            SPRING.format("-k*(length - stroke)*length"),
            "",
            "force.s.force",
            "which is in",
        ),
        (
            '[output.lift]\nvalue = "rail.displacement * k"\nunit = "N m"',
            "",
            "output.lift.unit",
            "rail.displacement in m",
        ),
        (
            '[output.lift]\nvalue = "rail.displacement * k"\nunit = "kN"',
            "",
            "output.lift.unit",
            r'value = "rail.displacement \* k / 1000"',
        ),
        (
            '[servo]\nactuators = ["pin.angle"]\nprogram = { "pin.angle" = "stroke * t" }\nto = 1',
            "",
            "servo.program",
            "in m s",
        ),
    ],
)
def test_laws_of_another_dimension_are_refused_with_their_place(slider, more, define, key, said):
    with pytest.raises(zw.ModelError, match=said) as caught:
        slider(more, define)
    assert caught.value.key.startswith(key)


def test_a_coordinate_that_a_joint_has_not_is_told_before_units(tmp_path):
    text = """
[constants]
L = "1 m"
[mechanism]
plane = "xy"
[body.ram]
mass = 1
shape = { type = "box", size = [0.1, 0.1, 0.1] }
[joint.slide]
type = "prismatic"
bodies = ["ground", "ram"]
axis = "x"
[drive.screw]
of = "slide.angle"
value = "L"
"""
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(zw.ModelError, match=r"slide\.displacement"):
        zw.read_model(tmp_path / "a.toml")


def test_a_parameter_where_constants_are_wanted_is_called_one(tmp_path):
    text = """
[parameters]
T = "5 s"
[mechanism]
[body.ram]
mass = 1
inertia = [1, 1, 1]
[simulation]
until = "T"
"""
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(zw.ModelError, match=r"the parameter 'T'.*\[constants\]"):
        zw.read_model(tmp_path / "a.toml")


def test_the_condition_is_not_told_among_the_terms(read):
    with pytest.raises(zw.ModelError) as caught:
        read(length="where(alpha > 1, L, load)")
    assert "terms in m and kg (L in m, load in kg)" in str(caught.value)
