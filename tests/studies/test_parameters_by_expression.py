"""Parameters of a plan that are expressions of what varies, and masses that vary alone."""

import numpy as np
import pytest

import zwang as zw


def pendulum(plane="xz"):
    m = zw.Mechanism(plane=plane, gravity=(0, 0, -9.81))
    arm = m.body("arm", inertia=zw.inertia.box(1.0, (0.5, 0.1, 0.1)), position=(0.25, 0, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0), axis="y")
    return m


def plan_with(**parameters):
    return {
        "grid": {"arm.mass": [0.5, 1.0, 2.0]},
        "parameters": parameters,
        "until": 0.5,
        "outputs": ["pin.angle", "pin.angle_rate"],
    }


@pytest.mark.parametrize(
    ("plane", "formula", "values"),
    [
        ("xz", "0.03 * arm.mass", lambda mass: 0.03 * mass),
        (None, ["0.01*arm.mass", 0.02, "0.015 + 0.004 * arm.mass"], None),
    ],
)
def test_inertia_varies_with_the_mass(tmp_path, plane, formula, values):
    m = pendulum(plane)
    study = zw.study(m, plan_with(**{"arm.inertia": formula}), tmp_path / "a.zarr")
    assert not study.notes
    study.run(progress=False, workers=1)
    for k, mass in enumerate([0.5, 1.0, 2.0]):
        inertia = [0.01 * mass, 0.02, 0.015 + 0.004 * mass] if values is None else values(mass)
        given = {"arm.mass": [mass], "arm.inertia": [inertia]}
        run = m.simulate_many(parameters=given, until=0.5)[0]
        assert study.dataset["pin.angle"].values[k] == run["pin.angle"][-1]
        assert study.run_of(k)["pin.angle"][-1] == run["pin.angle"][-1]
    again = zw.open_study(tmp_path / "a.zarr")
    assert again.run_of(2)["pin.angle"][-1] == run["pin.angle"][-1]


@pytest.mark.parametrize("compute", ["run", "equilibrium"])
def test_outputs_use_the_values_of_each_run(tmp_path, compute):
    plan = plan_with(**{"arm.inertia": "0.03*arm.mass"}) | {"compute": compute}
    pick = "0 * end(pin.angle) + arm.inertia" if compute == "run" else "0 * pin.angle + arm.inertia"
    plan["outputs"] = [{"name": "J", "value": pick, "value_in": "kg*m^2"}]
    study = zw.study(pendulum(), plan, tmp_path / "a.zarr").run(progress=False, workers=1)
    np.testing.assert_allclose(study.dataset["J"].values, [0.015, 0.03, 0.06], rtol=1e-15)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"arm.inertia": "2 * arm.mas"}, "key parameters.arm.inertia: .*'arm.mas' is neither"),
        ({"arm.inertia": "2 * arm.inertia"}, "'arm.inertia' is neither"),
        ({"arm.inertia": ["arm.mass", 1]}, r"must have shape \(\), .* has shape \(2,\)"),
        ({"arm.inertia": "peak(arm.mass)"}, "function must be one of abs, .*not 'peak'"),
        ({"arm.inertia": "arm.mass *"}, "must be an expression, but in .arm.mass"),
        ({"arm.mass": "0.5"}, "is an expression here, and varies"),
        ({"arm.inertai": "arm.mass"}, "Did you mean 'arm.inertia'"),
    ],
)
def test_what_cannot_be_meant_is_refused(parameters, message):
    with pytest.raises(zw.ZwangError, match=message):
        zw.study(pendulum(), plan_with(**parameters))


def test_expressions_are_taken_in_their_order():
    m = zw.System(["x"], mass=lambda p: [[p.m + p.n]], parameters={"m": 1.0, "n": 1.0, "k": 1.0})
    plan = {"grid": {"k": [1.0, 2.0]}, "until": 0.1, "start": {"x": 0.0}}
    study = zw.study(m, plan | {"parameters": {"m": "2 * k", "n": "3 * m"}})
    values, _ = study.subject.parameters(study.plan, study.plan.rows(0, 2), 2)
    assert values["n"].tolist() == [6.0, 12.0]
    with pytest.raises(zw.ZwangError, match=r"'m' is given after it\. Give 'm' first"):
        zw.study(m, plan | {"parameters": {"n": "3 * m", "m": "2 * k"}})


def test_a_mass_that_varies_alone_is_noted():
    (note,) = zw.study(pendulum(), plan_with()).notes
    assert note.startswith("arm.mass varies and arm.inertia stays: to vary both, give parameters")
    assert note in str(zw.study(pendulum(), plan_with()))
    plan = plan_with() | {"grid": {"arm.mass": [1.0, 2.0], "arm.inertia": [0.1, 0.2]}}
    assert not zw.study(pendulum(), plan).notes
    assert not zw.study(pendulum(), plan_with(**{"arm.inertia": 0.1})).notes
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    arm = m.body("arm", inertia=zw.inertia.point(1.0), position=(0.25, 0, 0))
    m.prismatic("rail", m.ground, arm, at=(0, 0, 0), axis="x")
    assert not zw.study(m, plan_with() | {"outputs": ["rail.displacement"]}).notes


ROD = """
[constants]
m = "1 kg"
L = "1 m"

[mechanism]
plane = "xz"
gravity = [0, 0, "-9.81 m/s^2"]

[body.rod]
mass = "m"
inertia = "m * L^2 / 12"
position = ["0.5 * L", 0, 0]

[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0, 0]
axis = "y"
"""


@pytest.mark.parametrize("compute", ["run", "equilibrium"])
def test_outputs_use_what_follows_from_the_constants_of_each_run(tmp_path, compute):
    """They had used the mass of the model file in every run."""
    (tmp_path / "rod.toml").write_text(ROD)
    angle = "end(pin.angle)" if compute == "run" else "pin.angle"
    J = {"name": "J", "value": f"0 * {angle} + rod.inertia / rod.mass", "value_in": "m^2"}
    mass = {"name": "M", "value": f"0 * {angle} + rod.mass", "value_in": "kg"}
    plan = {"list": {"m": [1.0, 2.0, 4.0], "L": [1.0, 3.0, 2.0]}, "compute": compute}
    plan |= {"outputs": [J, mass], "until": 0.1}
    study = zw.study(tmp_path / "rod.toml", plan, tmp_path / "a.zarr")
    study.run(progress=False, workers=1)
    np.testing.assert_allclose(study.dataset["M"].values, [1.0, 2.0, 4.0], rtol=1e-14)
    np.testing.assert_allclose(study.dataset["J"].values, [1 / 12, 9 / 12, 4 / 12], rtol=1e-14)


def test_a_vector_in_the_expression_of_an_output_is_refused():
    outputs = [{"name": "g", "value": "end(pin.angle) + gravity", "value_in": "1"}]
    with pytest.raises(zw.ZwangError, match=r"name must be one of .*, not 'gravity'"):
        zw.study(pendulum(), plan_with() | {"outputs": outputs})
