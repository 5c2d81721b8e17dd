"""Where a new user of servo and linearize came to an end: each message says how to go on."""

import numpy as np
import pytest

import zwang as zw

TIMES = np.linspace(-1.0, 3.0, 81)


def cart_pole(*, motor: bool = False) -> zw.Mechanism:
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    cart = m.body("cart", mass=0.8, inertia=0.01)
    rod = zw.inertia.rod(0.25, 0.6, axis="z")
    pole = m.body("pole", inertia=rod, position=(0, 0.3))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    if motor:
        m.parameter("u", 0.0)
        m.actuator("motor", "rail.displacement", lambda p: p.u)
    return m


def travel(t):
    u = t / 2.0
    s = 126 * u**5 - 420 * u**6 + 540 * u**7 - 315 * u**8 + 70 * u**9
    return 0.4 * zw.where(t < 0, 0.0, zw.where(t > 2, 1.0, s))


def test_dry_friction_is_noted_as_viscous_with_its_slope():
    m = cart_pole()
    m.friction("rail", coefficient=0.05, velocity=1e-3)
    lin = m.linearize(m.assemble(hold={"pin.angle": 0.0}))
    slope = 0.05 * (0.8 + 0.25) * 9.81 / 1e-3
    assert f"Friction in rail is taken as viscous about rest, {slope:.6g} N s/m" in lin.notes[0]
    without = m.linearize(
        m.assemble(hold={"pin.angle": 0.0}), parameters={"rail.friction.coefficient": 0.0}
    )
    assert not any("Friction" in note for note in without.notes)
    assert abs(without.eigenvalues.real.min() + 5.46411) < 1e-4


def test_an_output_of_positions_may_be_programmed():
    m = cart_pole()
    m.output("tip", lambda c: c["pole.position.x"] + 0.3 * np.sin(c["pin.angle"]))
    m.output("speed", lambda c: c["pole.velocity.x"])
    servo = m.servo({"tip": travel}, ["rail.displacement"])
    solution = servo.solve(TIMES)
    np.testing.assert_allclose(solution["tip"], [float(travel(t)) for t in TIMES], atol=1e-9)
    with pytest.raises(zw.InputError, match="'speed' must be a function of positions and time"):
        m.servo({"speed": travel}, ["rail.displacement"])


def test_an_actuator_may_be_named_for_its_coordinate():
    m = cart_pole(motor=True)
    by_name = m.servo({"rail.displacement": travel}, ["motor"]).solve(TIMES)
    by_coordinate = m.servo({"rail.displacement": travel}, ["rail.displacement"]).solve(TIMES)
    np.testing.assert_array_equal(
        by_name.effort["motor"], by_coordinate.effort["rail.displacement"]
    )
    state = m.assemble(hold={"pin.angle": 0.0})
    lin = m.linearize(state, inputs=["motor"])
    assert lin.inputs == ("motor",)
    np.testing.assert_array_equal(lin.B, m.linearize(state, inputs=["rail.displacement"]).B)


def test_internal_motion_that_never_settles_is_not_asked_for_more_rest():
    servo = cart_pole(motor=True).servo({"pin.angle": travel}, ["motor"])
    solution = servo.solve(TIMES)
    with pytest.raises(zw.NotApplicableError) as told:
        servo.feedback(solution, 0.01, {"motor": "u"})
    assert "never settles, as internal dynamics is marginal" in str(told.value)
    assert "gains=" in str(told.value)
    assert "more time of rest" not in str(told.value)


def test_friction_is_refused_by_the_name_of_its_joint():
    m = cart_pole()
    m.friction("rail", coefficient=0.05)
    with pytest.raises(zw.NotApplicableError, match=r"friction in rail.*m\.drive"):
        m.servo({"rail.displacement": travel}, ["rail.displacement"])


def test_feedback_without_outputs_says_how_to_make_them():
    servo = cart_pole(motor=True).servo({"rail.displacement": travel}, ["motor"])
    with pytest.raises(zw.InputError, match=r"outputs=\{'motor': 'u'\}.*m\.actuator"):
        servo.feedback(servo.solve(TIMES), 0.01)


@pytest.mark.parametrize("key", ["motor", "motor.effort"])
def test_a_controller_that_sets_an_actuator_is_told_of_a_parameter(key):
    law = zw.controller(lambda sample: {key: 3.0}, 0.01)
    with pytest.raises(zw.InputError) as told:
        cart_pole(motor=True).simulate(until=0.1, controllers={"c": law})
    line = "m.actuator('motor', 'rail.displacement', lambda p: p.motor_effort)"
    assert line in str(told.value)


@pytest.mark.parametrize("call", ["simulate", "simulate_many"])
def test_a_state_that_is_given_as_start_is_told_by_that_name(call):
    with pytest.raises(zw.InputError, match=r"start must be a time \[s\], not \[0\.0, 1\.0\]"):
        getattr(cart_pole(), call)(start=[0.0, 1.0], until=1.0)
