"""Numbers of geometry in model files as expressions of parameters."""

import numpy as np
import pytest

import zwang as zw
from zwang.codegen import compilations

MODEL = """
[constants]
pitch = 0.5
[parameters]
L = "800 mm"
tilt = "10 deg"
home = [0.1, 0.0, 0.2]
[mechanism]
gravity = [0, 0, -9.81]
[body.rod]
mass = "2 * L"
shape = { type = "rod", length = "L" }
position = ["home[0] + L * pitch", "home[1]", "home[2]"]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = "home"
axis = [0, "cos(tilt)", "sin(tilt)"]
[force.coil]
type = "spring_damper"
bodies = ["ground", "rod"]
at = [[0, 0, 1], { body = "rod", at = ["L / 2", 0, 0] }]
stiffness = "3 / L"
[simulation]
until = 0.1
"""


def plain(L=0.8, tilt=np.pi / 18, home=(0.1, 0.0, 0.2)):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    home = np.array(home)
    rod = m.body("rod", inertia=zw.inertia.rod(2 * L, L), position=home + [0.5 * L, 0, 0])
    m.revolute("pin", m.ground, rod, at=home, axis=(0, np.cos(tilt), np.sin(tilt)))
    at = ((0, 0, 1), rod.marker((0.5 * L, 0, 0)))
    m.spring_damper("coil", m.ground, rod, at=at, stiffness=3 / L)
    return m


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(MODEL)
    return zw.read_model(path)


@pytest.mark.parametrize(
    "values", [{}, {"L": 1.3}, {"tilt": 0.4, "home": [0.0, 0.3, 0.0]}, {"L": 0.4, "tilt": 0.0}]
)
def test_a_file_follows_its_parameters(model, values):
    got = model.mechanism.solve(parameters=values)
    np.testing.assert_allclose(got.acceleration, plain(**values).solve().acceleration, rtol=1e-11)


def test_other_values_compile_nothing(model):
    model.simulate(parameters={"L": 0.9})
    before = compilations()
    model.simulate(parameters={"L": 1.1})
    assert compilations() == before


def test_a_written_file_has_the_same_expressions(model, tmp_path):
    again = tmp_path / "again.toml"
    zw.write_model(model, again)
    text = again.read_text()
    assert 'length = "L"' in text
    assert '"home[0] + L * pitch"' in text
    assert "pitch = 0.5" in text
    values = {"L": 1.1, "tilt": 0.2}
    other = zw.read_model(again).mechanism.solve(parameters=values)
    want = model.mechanism.solve(parameters=values)
    np.testing.assert_array_equal(other.acceleration, want.acceleration)


def test_expressions_of_python_are_written_as_text(tmp_path):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    L, a = m.parameter("L", 0.8), m.parameter("a", 0.2)
    bar = zw.inertia.rod(2 * L, L, axis="y").at((0, L / (1 + a), 0)) + zw.inertia.sphere(1.0, a)
    rod = m.body("rod", inertia=bar, position=np.array([np.sin(a) * L, -((L - a) ** 2), 0]))
    m.revolute("pin", m.ground, rod, at=(L * (a + 1), 0, 0), axis=(0, np.cos(a), np.hypot(a, L)))
    zw.write_model(m, tmp_path / "rod.toml")
    values = {"L": 1.2, "a": 0.3}
    got = zw.read_model(tmp_path / "rod.toml").mechanism.solve(parameters=values)
    want = m.solve(parameters=values)
    np.testing.assert_allclose(got.acceleration, want.acceleration, rtol=1e-12)


def test_mistakes_name_their_line(model, tmp_path):
    with pytest.raises(
        zw.ModelError, match=r"line 11, key body.rod.mass: .* not '2 \* L', which is -2"
    ):
        model.simulate(parameters={"L": -1.0})
    with pytest.raises(zw.ModelError, match="zero or a positive number"):
        zw.read_model(_changed(tmp_path, 'mass = "2 * L"', 'mass = "-2 * L"'))
    with pytest.raises(zw.ModelError, match="Did you mean 'home'"):
        zw.read_model(_changed(tmp_path, 'at = "home"', 'at = "hone"'))
    with pytest.raises(zw.ModelError, match="two numbers or three numbers"):
        zw.read_model(_changed(tmp_path, 'at = "home"', 'at = "L"'))
    with pytest.raises(zw.ModelError, match="not the parameter 'L'"):
        zw.read_model(_changed(tmp_path, "until = 0.1", 'until = "L"'))


def _changed(tmp_path, old, new):
    assert old in MODEL
    path = tmp_path / "changed.toml"
    path.write_text(MODEL.replace(old, new))
    return path


@pytest.mark.parametrize("shape", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_point_masses_are_written_and_read(tmp_path, count, shape):
    """A picture has them, of a body that has nothing else too."""
    made = zw.inertia.rod(1.0, 1.0) if shape else zw.inertia.point(1.0, (0.5, 0, 0))
    for k in range(count - 1 + shape):
        made += zw.inertia.point(0.5, (0.0, 0.1 * k, 0.3))
    m = zw.Mechanism()
    m.body("b", inertia=made)
    m.revolute("pin", m.ground, "b", at=(0, 0, 0), axis="y")
    zw.write_model(m, tmp_path / "m.toml")
    again = zw.read_model(tmp_path / "m.toml").mechanism.parts.bodies[0].inertia
    assert len(made.points) == count
    assert np.array_equal(again.points, made.points)
    assert np.array_equal(again.tensor, made.tensor)
    assert len(again.shapes) == shape
