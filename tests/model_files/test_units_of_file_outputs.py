"""Units of outputs in model files: the one that is given is that of the value, or it is refused."""

import re

import numpy as np
import pytest
from tests import rod_on_a_pin

import zwang as zw
from zwang.model_files.units import quantity

TABLES = """
[parameters]
lever = "5 mm"
yarn = "5 Nm"
start_angle = "25 deg"
plain = 3.0
[define]
turned = "pin.angle + start_angle"
[output.load_kN]
value = "pin.force.magnitude / 1000"
unit = "kN"
"""


def output(folder, value, unit=None):
    """Unit of an output that is read."""
    given = "" if unit is None else f'unit = "{unit}"\n'
    tables = f'{TABLES}[output.o]\nvalue = "{value}"\n{given}'
    return rod_on_a_pin.read(folder, tables).mechanism.parts.outputs["o"].unit


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("pin.moment.z", "N m"),
        ("pin.force.x / 1000", "kN"),
        ("-(pin.force.x + pin.force.z) / 2 / 1000", "kN"),
        ("turned * 180 / pi", "deg"),
        ("pin.angle * 57.3", "deg"),
        ("pin.angle_rate * 60 / (2 * pi)", "rpm"),
        ("pin.angle_rate / (2 * pi)", "Hz"),
        ("rod.position.z * 1000 + 5", "mm"),
        ("100 * rod.position.z / lever", "%"),
        ("pin.force.magnitude / 100", "1"),  # of a limit of 100 N
        ("pin.force.magnitude / 1000", "1"),
        ("pin.force.magnitude / 1e6", "MN"),
        ("pin.force.magnitude * 1000", "mN"),
        ("2 * pin.force.x / 1e3", "kN"),
        ("pin.force.x / 2000", "N"),  # a ratio
        ("0.1 * pin.angle_rate", "N m"),  # damping of 0.1 N m s
        ("60 * pin.angle_rate", "rad/s"),  # of gears
        ("pin.angle * 57.3 * 2", "deg"),
        ("rod.velocity.x * 3.6", "km/h"),
        ("rod.velocity.x * 1000", "mm/s"),
        ("pin.moment.z / 10^3", "kN m"),
        ("energy / 1000", "kJ"),
        ("energy / 3.6e6", "kWh"),
        ("plain * energy / 1000", "A"),
        ("9.81 * rod.position.z", "J"),  # of a kilogram
        ("0.3 * sin(pin.angle)", "m"),
        ("plain * rod.position.z", "N"),
        ("rod.position.z - 0.05 * pin.angle", "m"),
        ("where(rod.position.z < 0, rod.position.z, 0)", "m"),
        ("sqrt(rod.position.x^2 + rod.position.z^2)", "m"),
        ("atan2(rod.position.z, rod.position.x)", "rad"),
        ("kinetic_energy + pin.force.z * lever", "J"),
        ("load_kN * 1000", "N"),
        ("2 * load_kN", "kN"),
        ("pin.force.x * lever", "Nm"),
        ("plain", "A"),
        ("pin.moment.z * 1000", "mNm"),
        ("pin.moment.z / 10", "daNm"),
        ("pin.moment.z * 1e6", "µNm"),
        ("pin.moment.z / 1e9", "GNm"),
        ("pin.force.x * t", "Ns"),
        ("pin.moment.z * t", "Nms"),
        ("pin.force.x / rod.velocity.x", "Ns/m"),
        ("energy", "Ws"),
        ("pin.angle / (2 * pi)", "rev"),
        ("pin.angle_rate / (2 * pi)", "rev/s"),
        ("pin.angle_rate / (2 * pi)", "1/s"),
        ("pin.angle_rate", "1/s"),
        ("pin.angle_rate * 30 / pi", "1/min"),
        ("pin.angle_rate * 30 / pi", "min^-1"),
        ("0.001 / rod.position.x", "1/mm"),
    ],
)
def test_a_unit_that_the_value_may_be_in_is_taken(tmp_path, value, unit):
    assert output(tmp_path, value, unit) == unit


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("pin.force.magnitude", "N"),
        ("-2 * pin.force.x / pi", "N"),
        ("turned", "rad"),
        ("rod.velocity.x^2", "m^2/s^2"),
        ("pin.force.x * lever", "N m"),
        ("max(rod.position.z, -lever)", "m"),
        ("2 * load_kN", "kN"),
        ("load_kN * lever", ""),
        ("25 * rod.position.z", ""),  # N/m, or a scale
        ("rod.position.z * 1000", ""),
        ("plain * rod.position.z", ""),
        ("rod.position.z / lever", ""),
        ("sin(pin.angle)", ""),
        ("3 * t", ""),
        ("pin.angle + pi / 2", "rad"),
        ("pin.angle / (2 * pi)", ""),  # turns
        ("1 + turned / pi / 2", ""),
        ("pin.angle_rate / (2 * pi)", ""),
        ("pin.angle_acceleration * pi", ""),
        ("turned * 180 / pi", "deg"),
        ("2 * pin.angle_rate * 180 / pi", "deg/s"),
        ("pin.angle_rate * 60 / (2 * pi)", "rpm"),
        ("pin.angle_rate * 57.3", ""),  # may be a damping
        ("energy / (2 * pi)", "J"),
        # beyond what numbers reach
        ("load_kN ^ 200", ""),
        ("1 / load_kN ^ -200", ""),
        ("1e308 * load_kN", ""),
        ("1e-320 * load_kN", ""),
        ("pin.force.x ^ 1e308", ""),
    ],
)
def test_the_unit_follows_from_what_the_value_is_made_of(tmp_path, value, unit):
    assert output(tmp_path, value) == unit


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        ("pin.moment.z", "m", "expected 'N m', the unit of pin.moment.z, not 'm'"),
        ("pin.moment.z", "Newton", "not 'Newton', which is no unit"),
        ("pin.force.x", "kN", 'write value = "pin.force.x / 1000" for kN'),
        ("pin.force.x - pin.force.z", "kN", '"(pin.force.x - pin.force.z) / 1000" for kN'),
        ("rod.position.x", "mm", '"rod.position.x * 1000" for mm'),
        ("turned", "deg", '"turned * 180 / pi" for deg'),
        ("pin.angle + start_angle", "deg", '"(pin.angle + start_angle) * 180 / pi" for deg'),
        ("2 * pin.angle_rate", "rpm", '"2 * pin.angle_rate * 30 / pi" for rpm'),
        ("pin.angle_rate", "Hz", '"pin.angle_rate / (2 * pi)" for Hz'),
        ("atan2(rod.position.z, rod.position.x)", "deg", "* 180 / pi"),
        ("-pin.force.x * yarn / (2 * pi)", "N m", "pin.force.x in N, yarn in N m"),
        ("pin.force.x^2", "N", "a value in"),
        ("load_kN", "N", '"load_kN * 1000" for N'),
        ("rod.position.z * 7", "mm", ": for mm convert from m: rod.position.z * 1000."),
        ("(pin.force.x - 9.81) / 3000", "MN", ": for MN convert from N: pin.force.x / 1000000."),
        ("7 * load_kN", "MN", ": for MN convert from kN: load_kN / 1000."),
        ("turned / (2 * pi)", "deg", ": for deg convert from rad: turned * 180 / pi."),
        ("7 * lever * pin.force.x", "kN m", "not converted. A number that has a unit can be"),
        (
            "energy / 1000",
            "kg",
            "a value in kJ, as energy / 1000 is, not 'kg'. Write unit = \"kJ\"",
        ),
        ("energy / 1000", "g", "expected one for a value in kJ"),
        ("energy / 1000", "foo", "not 'foo', which is no unit"),
        ("energy / 1000", "KJ", "not 'KJ', which is no unit"),
        ("energy / 1000", "kN", 'Write unit = "kJ". A number that has a unit can be a constant'),
        ("pin.force.x / 1000", "N", 'unit = "kN", or value = "pin.force.x" for N'),
        ("pin.force.x / 1000", "MN", "expected 'kN', the unit of pin.force.x / 1000"),
        ("pin.force.x / 1000", "MN", "or for MN convert from N: pin.force.x / 1000000."),
        ("rod.velocity.x * 3.6", "mph", "for mph convert from m/s: rod.velocity.x / 0.44704."),
        ("2 * pin.force.x / 1000", "N", 'write unit = "kN".'),
        ("(pin.force.x - pin.force.z) / 1000", "N", 'write unit = "kN".'),
        ("rod.position.z * 100", "m", 'unit = "cm", or value = "rod.position.z" for m'),
        ("rod.position.z * 1000", "N", 'Write unit = "mm"'),
        ("pin.angle * 180 / pi", "rad", 'write unit = "deg".'),
        ("turned * 57.3", "N", 'Write unit = "deg"'),
        ("pin.angle_rate * 60 / (2 * pi)", "Hz", 'write unit = "rpm", or for Hz convert'),
        ("rod.velocity.x * 3.6", "m/s", 'unit = "km/h", or value = "rod.velocity.x" for m/s'),
        ("load_kN * 1000", "kN", 'unit = "N", or value = "load_kN" for kN'),
        ("plain", "apples", "not 'apples', which is no unit"),
        ("0.3 * sin(pin.angle)", "Mm ^", "which is no unit"),
        ("plain", "KW", "Did you mean 'kW'?"),
        ("pin.moment.z", "mNm", '"pin.moment.z * 1000" for mNm'),
        ("pin.moment.z", "daNm", '"pin.moment.z / 10" for daNm'),
        ("pin.moment.z / pin.angle_rate", "kNms", 'pin.angle_rate / 1000" for kNms'),
        ("pin.angle_rate", "1/min", '"pin.angle_rate * 30 / pi" for 1/min'),
        ("pin.angle_rate * 30 / pi", "1/s", 'write unit = "rpm"'),
        ("rod.position.z / rod.position.x^2", "1/mm", "/ 1000"),
        ("pin.angle", "rev", '"pin.angle / (2 * pi)" for rev'),
        ("pin.force.x", "rev", "the unit of pin.force.x, not 'rev'."),
        ("pin.force.x", "A", "not 'A', which is no unit of mechanics"),
        ("pin.force.x", "N>", "not 'N>', which is no unit. Did you mean 'N'?"),
        ("plain", "N>", "not 'N>', which is no unit. Did you mean 'N'?"),
        ("pin.force.x", "<b>N</b>", "not '<b>N</b>', which is no unit."),
        ("pin.angle", " ", "not ' ', which is no unit."),
        ("pin.force.x", "km^200", "the unit of pin.force.x, not 'km^200'"),
        ("rod.position.x^200", "km^200", "'km^200', whose size is not known"),
        ("1 / rod.position.x^30", "1/pm^30", "'1/pm^30', whose size is not known"),
    ],
)
def test_a_unit_of_another_kind_or_size_is_refused_with_the_line_to_write(
    tmp_path, value, unit, words
):
    with pytest.raises(zw.ModelError) as caught:
        output(tmp_path, value, unit)
    assert caught.value.key == "output.o.unit"
    assert caught.value.line > 0
    assert words in str(caught.value)
    if "write value" in str(caught.value):
        line = str(caught.value).partition('write value = "')[2].partition('"')[0]
        assert output(tmp_path, line, unit) == unit
    if "convert from" in str(caught.value):
        line = str(caught.value).partition("convert from ")[2].partition(": ")[2].removesuffix(".")
        assert output(tmp_path, line, unit) == unit


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ("pin.force.x + rod.position.z", "N and m"),
        ("pin.moment.z + lever", "N m and m"),
        ("min(pin.angle, rod.position.z)", "rad and m"),
        ("where(t < 1, pin.angle_rate, lever)", "rad/s and m"),
        ("load_kN + pin.force.x", "kN and N"),
        ("rod.position.x < pin.force.x", "m and N"),
        ("sqrt(rod.position.x + lever * lever)", "m and m^2"),
    ],
)
@pytest.mark.parametrize("unit", [None, "N"])
def test_a_sum_of_several_kinds_is_refused(tmp_path, value, kinds, unit):
    with pytest.raises(zw.ModelError, match=re.escape(f"terms in {kinds}")) as caught:
        output(tmp_path, value, unit)
    assert caught.value.key == "output.o.value"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("where(pin.angle > 0, pin.force.x, rod.x)", "(pin.force.x in N, rod.x in m)"),
        ("where(rod.x < pin.angle, pin.force.x, rod.y)", "(rod.x in m, pin.angle in rad)"),
        ("2 * pin.angle_rate * (rod.x - pin.force.x)", "(rod.x in m, pin.force.x in N)"),
    ],
)
def test_the_terms_alone_are_told_with_their_units(tmp_path, value, told):
    with pytest.raises(zw.ModelError, match="terms in ") as caught:
        output(tmp_path, value)
    assert told in str(caught.value)


def test_turns_are_no_angles_that_a_table_converts(tmp_path):
    turns = '[output.turns]\nvalue = "pin.angle / (2 * pi)"\n'
    run = rod_on_a_pin.read(tmp_path, turns + '[start.hold]\n"pin.angle" = "90 deg"').simulate()
    plain, degrees = (
        run.to_csv(tmp_path / f"{given}.csv", ["turns"], degrees=given).read_text()
        for given in (False, True)
    )
    assert plain == degrees
    assert float(plain.splitlines()[1].split(",")[1]) == pytest.approx(0.25, rel=1e-12)


def test_newton_metres_may_be_written_without_a_sign(tmp_path):
    model = rod_on_a_pin.read(tmp_path, '[parameters]\nstrong = "5 Nm"\nweak = "7 kNmm"\n')
    assert model.system.parameters["strong"] == 5.0
    assert model.system.parameters["weak"] == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("5 mNm", "N*m", 5e-3),
        ("5 µNm", "N*m", 5e-6),
        ("5 daNm", "N*m", 50.0),
        ("5 MNm", "N*m", 5e6),
        ("5 Ns", "N*s", 5.0),
        ("5 Nms", "N*m*s", 5.0),
        ("5 kNs/m", "N*s/m", 5e3),
        ("5 Nms/rad", "N*m*s/rad", 5.0),
        ("5 mPas", "Pa*s", 5e-3),
        ("2 rev/min", "rad/s", np.pi / 15),
        ("5 Nm", "mNm", 5e3),  # a label of an output
        ("5 mNm", "kNm", 5e-6),
        ("5 kg*cm^2", "kg m²", 5e-4),
    ],
)
def test_symbols_may_be_joined_with_any_prefix(text, unit, value):
    assert quantity(text, unit) == pytest.approx(value, rel=1e-14)
