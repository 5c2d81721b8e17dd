"""Values that events watch for are of the kind of what is watched; directions of any one unit."""

import numpy as np
import pytest
from tests import rod_on_a_pin

import zwang as zw

WATCHED = """
[output.height_mm]
value = "rod.position.z * 1000"
unit = "mm"
[output]
height = "rod.position.z"
[event.low]
function = "FUNCTION"
at = AT
stop = true
"""
#: Where an event is found, in seconds.
WHEN = 1e-8


def model(tmp_path, function, at):
    return rod_on_a_pin.read(tmp_path, WATCHED.replace("FUNCTION", function).replace("AT", at))


@pytest.mark.parametrize(
    ("function", "at"),
    [
        ("rod.position.z", '"-400 mm"'),
        ("rod.position.z", "-0.4"),
        ("rod.position.z", '"depth"'),
        ("height", '"-400 mm"'),
        ("height_mm", '"-400 mm"'),
        ("height_mm", '"-0.4 m"'),
        ("height_mm", "-400"),
        ("height_mm", '"depth"'),
        ("rod.position.z - 0.1", '"-50 cm"'),
        ("pin.angle", '"0.9272952180016122 rad"'),
        ("pin.angle", '"53.13010235415598 deg"'),
    ],
)
def test_values_are_in_the_unit_of_what_is_watched(tmp_path, function, at):
    run = model(tmp_path, function, at).simulate()
    assert run.events[0].name == "low"
    assert run.t[-1] == pytest.approx(model(tmp_path, "rod.z", "-0.4").simulate().t[-1], abs=WHEN)
    np.testing.assert_allclose(run["rod.position.z"][-1], -0.4, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("function", "at", "line"),
    [
        ("rod.position.z", "-400 kg", 'at = "-400 m"'),
        ("rod.position.z", "-0.4 rad", 'at = "-0.4 m"'),
        ("pin.angle", "1 m", 'at = "1 rad"'),
        ("pin.angle", "depth", 'at = "1 rad"'),
        ("pin.angle_rate", "1 m/s", 'at = "1 rad/s"'),
        ("pin.force.magnitude", "20 kg", 'at = "20 N"'),
        ("pin.angle_acceleration", "2 m/s^2", 'at = "2 rad/s^2"'),
        ("height_mm", "-400 kg", 'at = "-400 mm"'),
        ("rod.position.z - 0.1", "-400 kg", 'at = "-400 m"'),
        ("rod.z", "-0.4 s", 'at = "-0.4 m"'),
        ("kinetic_energy", "3 N", 'at = "3 J"'),
    ],
)
def test_values_of_another_kind_are_refused_with_the_line_that_works(tmp_path, function, at, line):
    with pytest.raises(zw.ModelError, match=r"line \d+, key event\.low\.at") as caught:
        model(tmp_path, function, f'"{at}"')
    assert repr(at) in str(caught.value)
    assert line in str(caught.value)
    model(tmp_path, function, line.removeprefix("at = "))


LEVER = """
[constants]
a = "300 mm"
b = "0.4 m"
[mechanism]
gravity = [0, 0, -10]
[body.rod]
mass = 1
shape = { type = "rod", length = 1 }
[joint.slide]
type = "prismatic"
bodies = ["ground", "rod"]
axis = AXIS
"""


@pytest.mark.parametrize(
    "axis",
    ['["a", 0, "b"]', '["30 cm", 0, "400 mm"]', '["2*a - a", "0 m", "b"]', "[0.3, 0, 0.4]"],
)
def test_a_direction_may_be_in_any_one_unit(tmp_path, axis):
    path = tmp_path / "lever.toml"
    path.write_text(LEVER.replace("AXIS", axis))
    run = zw.read_model(path).simulate(until=0.1)
    fall = -0.5 * 8.0 * 0.1**2  # along (0.6, 0, 0.8), with that share of gravity
    found = run["rod.position"][-1]
    np.testing.assert_allclose(found, [0.6 * fall, 0, 0.8 * fall], rtol=0, atol=1e-9)


def test_a_direction_in_several_units_is_refused(tmp_path):
    path = tmp_path / "lever.toml"
    path.write_text(LEVER.replace("AXIS", '["a", 0, "2 kg"]'))
    with pytest.raises(zw.ModelError, match=r"slide\.axis\[2\].*component in m.*'2 kg', in kg"):
        zw.read_model(path)


ACTED = """
[parameters]
push = "1 N"
[force.wind]
type = "force"
body = "rod"
force = ["push", 0, 0]
[event.later]
function = "t"
at = "0.1 s"
ACTION
"""


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (
            'set = { push = "2 kg" }',
            r"event.later.set.push: expected a value of push, .* in N, not",
        ),
        ('set = { "rod.mass" = "2 N" }', r"a value of rod.mass, which is in kg, not '2 N'"),
        ('set = { "rod.mass" = "depth" }', r"a value of rod.mass, which is in kg, not 'depth'"),
        ("set = { psh = 2 }", r"event.later.set.psh: .*Did you mean 'push'"),
        (
            'off = ["pn"]',
            r"event.later.off: expected a joint, driver or constraint .pin., not 'pn'",
        ),
    ],
)
def test_actions_on_what_is_not_there_or_of_another_kind_are_refused(tmp_path, action, words):
    with pytest.raises(zw.ModelError, match=words):
        rod_on_a_pin.read(tmp_path, ACTED.replace("ACTION", action))


@pytest.mark.parametrize(
    "action", ['set = { push = "2 kN" }', "set = { push = 2 }", 'off = ["pin"]']
)
def test_actions_of_their_kind_are_taken(tmp_path, action):
    assert rod_on_a_pin.read(tmp_path, ACTED.replace("ACTION", action)).simulate(until=0.2).finished


def test_reactions_have_their_points_beside_drivers_and_events(tmp_path):
    """The driver looks at the points of the joint, whose values an event takes along."""
    m = zw.Mechanism(plane="xy", gravity=(0, 0), parameters={"push": 1.0})
    cart = m.body("cart", mass=2.0, inertia=1.0)
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.drive("motor", "rail.displacement", lambda t: 0.2 * t**3)
    m.force("f", cart, lambda p: (p.push, 0.0))
    events = {"release": zw.event(lambda t: t - 1.0, zw.set_parameters(push=2.0))}
    run = m.simulate(until=2.0, save=0.5, events=events)
    point = run.reaction("motor").point
    np.testing.assert_allclose(point[:, 0], 0.2 * run.t**3, atol=1e-12)
    run.report(tmp_path / "run.html")
