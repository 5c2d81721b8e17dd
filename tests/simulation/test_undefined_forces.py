"""Forces without a value: they are named with what is undefined, and shown as no number."""

import numpy as np
import pytest

import zwang as zw


def cart_pole(law) -> zw.Mechanism:
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    cart = m.body("cart", mass=0.8, inertia=0.01)
    rod = zw.inertia.rod(0.25, 0.6, axis="z")
    pole = m.body("pole", inertia=rod, position=(0, 0.3))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    m.actuator("motor", "rail.displacement", law)
    return m


def test_a_law_without_value_at_the_start_is_refused_by_name():
    m = cart_pole(lambda c: np.sqrt(c["pin.angle"] - 1.0))
    with pytest.raises(zw.InputError) as told:
        m.simulate(m.assemble(hold={"pin.angle": 0.1}), until=1.0)
    assert "effort of actuator 'motor'" in str(told.value)
    assert "square root of a negative number, -0.9" in str(told.value)


def test_a_law_that_loses_its_value_is_named_and_shown_as_no_number():
    m = cart_pole(lambda c: np.sqrt(c["pin.angle"] - 1.0))
    run = m.simulate(m.assemble(hold={"pin.angle": 1.1}), until=10.0)
    assert not run.finished
    assert "the effort of actuator 'motor' is not finite beyond it" in run.status
    assert "square root of a negative number" in run.status
    # The angle jumps by a turn at half of one, where the last state is.
    unknown = np.isnan(run["motor.effort"])
    assert unknown[-1] == np.isnan(run["motor.power"][-1])
    assert unknown[-1]
    assert not unknown[:-1].any()


def test_a_force_of_functions_without_value_is_named():
    root = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [-np.sqrt(q[0])])
    with pytest.raises(zw.InputError, match=r"force on 'x'.*root of a negative number, -1"):
        root.simulate([-1.0], until=1.0)
