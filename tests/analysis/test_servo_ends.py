"""How far motions that follow a program are from rest, and from their start, at their ends."""

import numpy as np
import pytest

import zwang as zw


def cart_pole() -> zw.Mechanism:
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    cart = m.body("cart", mass=0.8, inertia=0.01)
    rod = zw.inertia.rod(0.25, 0.6, axis="z")
    pole = m.body("pole", inertia=rod, position=(0, 0.3))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    return m


def travel(t):
    u = t / 2.0
    s = 126 * u**5 - 420 * u**6 + 540 * u**7 - 315 * u**8 + 70 * u**9
    return 0.4 * zw.where(t < 0, 0.0, zw.where(t > 2, 1.0, s))


@pytest.fixture(scope="module")
def servo():
    return cart_pole().servo(
        program={"rail.displacement": travel},
        actuators=["rail.displacement"],
        start={"pin.angle": 0.0, "rail.displacement": 0.0},
    )


def test_times_without_rest_are_noted_with_the_distance_from_it(servo):
    cut = servo.solve(np.linspace(0.0, 2.0, 101))
    assert len(cut.notes) == 2
    assert "not at rest at t = 0: pin.angle is 0.00993 from rest there" in cut.notes[0]
    assert "changes by 0.0492 a second" in cut.notes[0]
    assert "not at rest at t = 2" in cut.notes[1]
    assert "Times with about 0.89 s more before it" in cut.notes[0]
    assert servo.solve(np.linspace(-1.0, 3.0, 101)).notes == ()


def test_a_start_that_a_bounded_motion_does_not_have_is_noted(servo):
    m, times = cart_pole(), np.linspace(-2.0, 4.0, 101)
    at_rest = m.assemble(hold={"pin.angle": 0.0, "rail.displacement": 0.0})
    assert servo.solve(times, at_rest).notes == ()
    leaning = m.assemble(hold={"pin.angle": 0.05, "rail.displacement": 0.0})
    (note,) = servo.solve(times, leaning).notes
    assert "the motion does not begin at start: pin.angle" in note
    assert "0.05 from it" in note


@pytest.mark.parametrize(("m", "r"), [(0.2, 0.25), (2.0, 0.25), (0.2, 2.5)])
def test_a_standing_pole_of_functions_is_unstable_whatever_its_mass(m, r):
    """Beside fast derivatives one of two free directions was taken for rounding: marginal."""
    g = 9.81
    pole = zw.System(
        ["x", "a"],
        parameters={"u": 0.0},
        mass=lambda q: [[1.2, m * r * np.cos(q[1])], [m * r * np.cos(q[1]), m * r**2 * 4 / 3]],
        force=lambda q, v, p: [m * r * np.sin(q[1]) * v[1] ** 2 + p.u, m * g * r * np.sin(q[1])],
    )
    found = pole.servo({"x": travel}, ["x"], start={"x": 0.0, "a": 0.0}).realizability
    rate = np.sqrt(0.75 * g / r)
    assert found.internal == "unstable"
    np.testing.assert_allclose(found.internal_eigenvalues, [-rate, rate], rtol=1e-5)


def test_a_plot_has_units_and_draws_what_follows_the_program(servo):
    figure = servo.solve(np.linspace(-1.0, 3.0, 21)).plot()
    above, below = figure.axes
    assert above.get_ylabel() == "effort [N]"
    assert [x.get_text() for x in above.get_legend().get_texts()] == [
        "effort along rail.displacement"
    ]
    assert below.get_ylabel() == "[m]"
    assert [x.get_text() for x in below.get_legend().get_texts()] == ["rail.displacement"]
