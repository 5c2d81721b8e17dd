"""Units of outputs: a number is converted to the unit beside it, or the plan is refused."""

import numpy as np
import pytest
from tests import rod_on_a_pin

import zwang as zw

OUTPUTS = """
[output]
height = "rod.position.z"
stiff = "25 * rod.position.z"
[output.load]
value = "rod.position.z / 1000"
unit = "km"
"""
#: Two ways to the same number differ by rounding.
ROUNDING = 1e-14


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return rod_on_a_pin.written(tmp_path_factory.mktemp("units"), OUTPUTS)


def kept(model, tmp_path, *outputs, **other):
    """Value and unit of each output, as the dataset has them."""
    plan = {"grid": {"rod.mass": [2.0]}, "outputs": list(outputs), **other}
    data = zw.study(model, plan, output=tmp_path / "a.zarr").run(progress=False).dataset
    return [(float(data[o["name"]].values[0]), data[o["name"]].attrs.get("units")) for o in outputs]


@pytest.mark.parametrize(
    ("value", "unit", "per_unit"),
    [
        ("peak(pin.force.magnitude)", "kN", 1e3),
        ("2 * peak(pin.force.magnitude)", "kN", 1e3),
        ("-peak(pin.force.x) / 3 + max(pin.force.z)", "kN", 1e3),
        ("end(rod.position.z) - 0.1", "mm", 1e-3),
        ("2 * peak(load)", "m", 1e-3),
        ("2 * end(pin.angle)", "deg", np.pi / 180),
        ("end(pin.angle) - pi / 2", "deg", np.pi / 180),
        ("peak(pin.force.x) / pi", "kN", 1e3),
        ("1 / peak(rod.position.x)", "1/mm", 1e3),
        ("2 * end(pin.angle_rate)", "rpm", np.pi / 30),
        ("integral(rod.velocity.x)", "mm", 1e-3),
        ("integral(pin.angle_rate) - end(pin.angle)", "deg", np.pi / 180),
        ("peak(pin.force.x) * peak(rod.position.x) / event_time(low)", "kW", 1e3),
        ("sqrt(2 * peak(kinetic_energy) / rod.mass)", "km/h", 1 / 3.6),
        ("hypot(end(rod.velocity.x), end(rod.velocity.z))", "mm/s", 1e-3),
        ("atan2(end(rod.position.z), end(rod.position.x))", "deg", np.pi / 180),
        ("peak(rod.acceleration.z)^2", "mm^2/s^4", 1e-6),
        ("sin(end(pin.angle)) * end(rod.position.z)", "mm", 1e-3),
    ],
)
def test_expressions_are_converted_to_their_unit(model, tmp_path, value, unit, per_unit):
    if "event_time" in value:
        low = '[event.low]\nfunction = "rod.position.z"\nat = -0.4\n'
        model = rod_on_a_pin.written(tmp_path, OUTPUTS + low)
    plain, converted = kept(
        model,
        tmp_path,
        {"name": "plain", "value": value},
        {"name": "converted", "value": value, "unit": unit},
    )
    assert plain[0] != 0.0
    assert converted[1] == unit
    assert converted[0] == pytest.approx(plain[0] / per_unit, rel=ROUNDING)


def test_a_sum_of_several_kinds_has_no_unit(model):
    with pytest.raises(zw.ModelError, match=r"terms in m and in N.*one unit only"):
        plan_with(model, "end(rod.position.z) - peak(pin.force.x)", unit="mm")


def plan_with(model, value, **other):
    return zw.study(
        model, {"grid": {"rod.mass": [1.0]}, "outputs": [{"name": "o", "value": value, **other}]}
    )


def test_an_output_has_the_unit_that_follows_from_its_channels(model, tmp_path):
    plain, converted = kept(
        model,
        tmp_path,
        {"name": "plain", "value": "end(height)"},
        {"name": "converted", "value": "2 * end(height)", "unit": "mm"},
    )
    assert plain[1] == "m"
    assert converted == (pytest.approx(2000 * plain[0], rel=ROUNDING), "mm")


@pytest.mark.parametrize("value", ["end(stiff)", "2 * end(stiff)", "stiff"])
def test_an_output_without_unit_is_not_labelled(model, tmp_path, value):
    with pytest.raises(zw.ModelError, match=r"outputs\[0\].unit: .*'stiff' has no unit") as caught:
        plan_with(model, value, unit="mm")
    line = f'{{ name = "o", value = "{value}", value_in = "m", unit = "mm" }}'
    assert line in str(caught.value)
    plain, said, labelled = kept(
        model,
        tmp_path,
        {"name": "plain", "value": value},
        {"name": "said", "value": value, "value_in": "m", "unit": "mm"},
        {"name": "labelled", "value": value, "value_in": "m"},
    )
    assert said == (pytest.approx(1000 * plain[0], rel=ROUNDING), "mm")
    assert labelled == (plain[0], "m")


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        ("2 * peak(pin.force.magnitude)", "mm", "a quantity in N"),
        ("peak(pin.force.x) * peak(rod.position.x)", "kN", "a quantity in N m"),
        ("integral(pin.force.x)", "kN", "a quantity in N s"),
        ("2 * peak(pin.angle_rate)", "Hz", "a quantity in rad/s"),
        ("peak(rod.velocity.x) / peak(rod.position.x)", "rpm", "turns or radians"),
        ("2 * peak(rod.position.x)", "mmm", "a quantity in m"),
        ("2 * peak(pin.force.x)", "N>", "a quantity in N"),
        ("peak(rod.position.x) ^ 200", "km^200", "the size of 'km^200' is not known"),
        ("1 / peak(rod.position.x) ^ 30", "1/pm^30", "the size of '1/pm^30' is not known"),
        ("peak(load) ^ 200", "m^200", "a unit that is too large for a number"),
        ("1 / peak(load) ^ -200", "m^200", "a unit that is too large for a number"),
        ("peak(load) ^ ((-8) ^ (1 / 3))", "m", "a power that is no number"),
        ("peak(rod.position.x)^rod.mass", "mm", "a power that is no number"),
        ("exp(peak(rod.position.x))", "mm", "exp is of a quantity in m"),
        ("peak(load) + 1", "m", "terms in km and in plain numbers"),
        ("peak(load) + peak(rod.position.x)", "m", "terms in km and in m"),
        ("peak(pin.force.magnitude) / 1000", "kN", "multiplied by 0.001"),
        ("abs(end(pin.angle)) * 180 / pi", "deg", "multiplied by 57.2958"),
        ("end(pin.angle) / (2 * pi)", "turn", "multiplied by 0.159155"),
        ("end(pin.angle) / (2 * pi)", "deg", "may count turns or radians. Leave out what"),
        ("max(pin.angle) - min(pin.angle) / pi", "deg", "may count turns or radians"),
        ("end(pin.angle_rate) * 180 / pi", "rpm", "may count turns or radians"),
    ],
)
def test_a_unit_of_another_kind_is_refused(model, value, unit, words):
    with pytest.raises(zw.ModelError) as caught:
        plan_with(model, value, unit=unit)
    assert words in str(caught.value)


def test_what_is_said_of_an_expression_must_be_possible(model, tmp_path):
    plain, said = kept(
        model,
        tmp_path,
        {"name": "plain", "value": "peak(pin.force.magnitude)"},
        {"name": "said", "value": "peak(pin.force.magnitude) / 1000", "value_in": "kN"},
    )
    assert plain[1] == "N"
    assert said == (pytest.approx(plain[0] / 1000, rel=ROUNDING), "kN")
    with pytest.raises(
        zw.ModelError,
        match=r"value_in 'kN' must be the unit that .* is in, N, .*Write unit = 'kN' alone",
    ):
        plan_with(model, "peak(pin.force.magnitude)", value_in="kN")
    with pytest.raises(zw.ModelError, match=r"value_in 'm' must be the unit that .* is in, N"):
        plan_with(model, "2 * peak(pin.force.magnitude)", value_in="m", unit="mm")


def test_analyses_convert_expressions_as_well(model, tmp_path):
    plain, converted = kept(
        model,
        tmp_path,
        {"name": "plain", "value": "2 * rod.position.z"},
        {"name": "converted", "value": "2 * rod.position.z", "unit": "mm"},
        compute="equilibrium",
        start={"pin.angle": 1.5},
    )
    assert plain[0] == pytest.approx(-1.0, rel=1e-9)
    assert converted == (pytest.approx(-1000.0, rel=1e-9), "mm")


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("max(pin.force.z) - min(pin.force.x)", "N"),
        ("peak(pin.force.x) * peak(rod.position.x)", "N m"),
        ("end(rod.velocity.x)^2", "m^2/s^2"),
        ("peak(rod.position.x) / peak(height)", None),
        ("25 * end(height)", None),
        ("sin(end(pin.angle))", None),
        ("end(pin.angle) / pi", None),  # half turns
    ],
)
def test_the_unit_of_an_expression_follows_from_its_names(model, tmp_path, value, unit):
    ((_, found),) = kept(model, tmp_path, {"name": "o", "value": value})
    assert found == unit


def test_a_sum_of_several_kinds_is_refused_without_a_unit_too(model):
    with pytest.raises(zw.ModelError, match=r"terms in one unit.*in m and in N"):
        plan_with(model, "end(rod.position.z) - peak(pin.force.x)")
    plan_with(model, "end(rod.position.z) - 0.01 * peak(pin.force.x)")  # of m/N


@pytest.mark.parametrize("said", [{}, {"value_in": "m"}, {"unit": "m"}, {"unit": "mm"}])
@pytest.mark.parametrize("value", ["end(load) + end(height)", "maximum(end(height), end(load))"])
def test_a_sum_in_several_units_of_one_kind_is_refused(model, value, said):
    with pytest.raises(
        zw.ModelError, match=r"terms in (km and in m|m and in km).*in km times 1000 is in m\."
    ):
        plan_with(model, value, **said)
    by_hand = value.replace("end(load)", "1000 * end(load)")
    with_unit = {"value_in": "m"} | said if said else said
    plan_with(model, by_hand, **with_unit)
    if "unit" in said:
        with pytest.raises(zw.ModelError, match='value_in = "m"'):
            plan_with(model, by_hand, **said)


def test_an_integral_has_the_unit_of_its_channel_times_a_second(tmp_path):
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    arm = m.body("arm", mass=2.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.actuator("motor", "pin.angle", -15.0)
    units = {"motor.power": "J", "motor.torque": "N m s", "pin.angle_rate": "rad"}
    plan = {
        "grid": {"arm.mass": [2.0]},
        "until": 0.1,
        "outputs": [f"integral({name})" for name in units],
    }
    data = zw.study(m, plan, output=tmp_path / "a.zarr").run(progress=False).dataset
    assert {n: data[f"integral({n})"].attrs["units"] for n in units} == units
