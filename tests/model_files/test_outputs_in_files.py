"""Outputs of one's own and events on channels in model files."""

import numpy as np
import pytest

import zwang as zw

LADDER = """
[parameters]
share = 0.5
[define]
push = "wall.force.x * share"
[mechanism]
plane = "xy"
gravity = [0, -9.81]
[body.ladder]
mass = 3
shape = { type = "rod", length = 2 }
position = ["cos(70 * pi / 180)", "sin(70 * pi / 180)"]
angle = "110 deg"
[joint.floor]
type = "point_on_line"
bodies = ["ground", "ladder"]
at = [[0, 0], { body = "ladder", at = [-1, 0] }]
axis = "x"
[joint.wall]
type = "point_on_line"
bodies = ["ground", "ladder"]
at = [[0, 0], { body = "ladder", at = [1, 0] }]
axis = "y"
[output]
total = "wall.force.x + floor.force.y"
half = "push - 0 * total"
[output.reach]
value = "norm(ladder.position)"
unit = "m"
description = "distance from the corner"
[event.leaves]
function = "FUNCTION"
direction = -1
stop = true
[simulation]
until = 2
"""


def model(tmp_path, function="wall.force.x"):
    path = tmp_path / "ladder.toml"
    path.write_text(LADDER.replace("FUNCTION", function))
    return zw.read_model(path)


@pytest.mark.parametrize(
    "function", ["wall.force.x", "half", "push", "wall.force.x + 0 * ladder.velocity.x"]
)
def test_a_ladder_leaves_the_wall(tmp_path, function):
    run = model(tmp_path, function).simulate()
    height = run["ladder.position.y"][-1]
    assert height == pytest.approx(2 / 3 * np.sin(np.radians(70)), abs=1e-8)
    np.testing.assert_allclose(run["total"], run["wall.force.x"] + run["floor.force.y"], atol=1e-12)
    np.testing.assert_allclose(run["half"], 0.5 * run["wall.force.x"], atol=1e-12)
    np.testing.assert_allclose(run["reach"], 1.0, atol=1e-8)
    channel = run.channels["reach"]
    assert (channel.unit, channel.description) == ("m", "distance from the corner")


def test_a_written_file_has_them(tmp_path):
    first = model(tmp_path, "wall.force.x + 0 * total")
    first.write(tmp_path / "again.toml")
    again = zw.read_model(tmp_path / "again.toml")
    a, b = first.simulate(), again.simulate()
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a["half"], b["half"])
    assert b.channels["reach"].unit == "m"


def test_mistakes_are_told(tmp_path):
    with pytest.raises(
        zw.ModelError, match=r"event\.leaves\.function: .*Did you mean 'wall\.force"
    ):
        model(tmp_path, "wall.force.q")
    path = tmp_path / "wrong.toml"
    path.write_text(LADDER.replace("norm(ladder.position)", "norm(lader.position)"))
    with pytest.raises(zw.ModelError, match=r"output\.reach\.value: .*Did you mean 'ladder\.posi"):
        zw.read_model(path)
    path.write_text(LADDER.replace('total = "', 'energy = "'))
    with pytest.raises(zw.ModelError, match=r"output\.energy"):
        zw.read_model(path)


def test_outputs_of_a_system(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text("""
[parameters]
g = 9.81
[system]
coordinates = ["x", "y"]
mass = [1, 1]
force = [0, "-g"]
[constraint.rod]
position = "(x^2 + y^2 - 1) / 2"
[output]
tension = "-rod.multiplier"
[event.full]
function = "tension"
at = 20
stop = true
[start.q]
x = 1
y = 0
[simulation]
until = 3
""")
    run = zw.read_model(path).simulate()
    assert run["y"][-1] == pytest.approx(-20 / (3 * 9.81), abs=1e-8)
    np.testing.assert_allclose(run["tension"], -3 * 9.81 * run["y"], atol=1e-6)
    zw.write_model(zw.read_model(path), tmp_path / "again.toml")
    assert zw.read_model(tmp_path / "again.toml").simulate().t[-1] == run.t[-1]


@pytest.mark.parametrize(
    ("force", "advice"),
    [
        ("-stone.position[2]", 'type = "user", bodies = ["rod", "stone"] and on.rod.force'),
        ("-3 * pin.angle", 'type = "actuator", of = "pin.angle" and effort'),
    ],
)
def test_a_force_that_needs_more_is_led_to_a_line_that_works(tmp_path, force, advice):
    text = """
[body.rod]
mass = 1
shape = { type = "rod", length = 1 }
[body.stone]
mass = 1
shape = { type = "sphere", radius = 0.1 }
free = true
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
axis = "y"
[force.pull]
type = "force"
body = "rod"
force = [0, 0, "FORCE"]
"""
    path = tmp_path / "rod.toml"
    path.write_text(text.replace("FORCE", force))
    with pytest.raises(zw.ModelError) as caught:
        zw.read_model(path)
    assert "force.pull.force" in str(caught.value)
    assert advice in str(caught.value)


def test_a_definition_may_use_the_reaction(tmp_path):
    """A sliding block: ẍ = F/m − μ g, with the normal force by a name of the file's."""
    path = tmp_path / "block.toml"
    path.write_text("""
[parameters]
mu = 0.05
[define]
normal = "sqrt(dot(reaction, reaction))"
[system]
coordinates = ["x", "y"]
mass = [1, 1]
force = [1, -9.81]
[constraint.floor]
position = "y"
[nonideal.floor]
force = ["-mu * normal * tanh(x_dot / 1e-4)", 0]
[start]
hold = { x = 0 }
velocity = { hold = { x_dot = 1 } }
[simulation]
until = 0.5
""")
    run = zw.read_model(path).simulate()
    assert run["x_dot"][-1] == pytest.approx(1 + 0.5 * (1 - 0.05 * 9.81), rel=1e-8)


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("pin.force / 1000", "Write pin.force.magnitude, or pin.force.x for a component."),
        ("[pin.angle, 2]", "Give each entry an output of its own."),
    ],
)
def test_a_vector_is_refused_where_the_file_is_read(value, advice, tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(f"""
[mechanism]
plane = "xy"
[body.rod]
mass = 1
inertia = 0.1
position = [0.5, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0]
[output]
whole = {{ value = "norm(pin.force) / 1000", unit = "kN" }}
F = {{ value = "{value}" }}
""")
    with pytest.raises(zw.ModelError, match=r"line 14, key output.F.value") as caught:
        zw.read_model(path)
    assert advice in str(caught.value)
