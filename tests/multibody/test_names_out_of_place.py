"""A name that is known elsewhere is refused with the place where it belongs."""

import re

import pytest

import zwang as zw


@pytest.fixture
def cart_pole():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"u": 0.0})
    cart = m.body("cart", mass=1.0, inertia=0.1)
    pole = m.body("pole", inertia=zw.inertia.rod(0.2, 1.0, axis="z"), position=(0, 0, 0.5))
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0, 0))
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    return m


def test_joint_coordinates_of_a_start_lead_to_assemble(cart_pole):
    with pytest.raises(zw.InputError, match=re.escape("assemble(hold={'pin.angle': …})")):
        cart_pole.simulate({"pin.angle": 0.2}, until=1.0)
    rest = cart_pole.assemble()
    said = re.escape("assemble(velocity={'hold': {'pin.angle_rate': …}})")
    with pytest.raises(zw.InputError, match=said):
        cart_pole.simulate(rest.q, {"pin.angle_rate": 0.2}, until=1.0)
    start = cart_pole.assemble(hold={"pin.angle": 0.2}, velocity={"hold": {"pin.angle_rate": 0.1}})
    run = cart_pole.simulate(start, until=0.1)
    assert (run["pin.angle"][0], run["pin.angle_rate"][0]) == pytest.approx((0.2, 0.1))


@pytest.mark.parametrize("key", ["hold", "prefer"])
@pytest.mark.parametrize("name", ["pin.angle_rate", "cart.vx"])
def test_rates_among_held_positions_lead_to_velocity(cart_pole, key, name):
    with pytest.raises(zw.InputError, match=re.escape(f"velocity={{'{key}': {{'{name}': …}}}}")):
        cart_pole.assemble(**{key: {name: 1.0}})
    cart_pole.assemble(velocity={key: {name: 1.0}})


def test_an_actuator_as_an_input_acts_along_its_coordinate(cart_pole):
    named = cart_pole.linearize(cart_pole.assemble(), inputs=["motor"])
    along = cart_pole.linearize(cart_pole.assemble(), inputs=["rail.displacement"])
    assert (named.B == along.B).all()


def test_a_controller_that_reads_a_reaction_is_told_why_not(cart_pole):
    def law(sample):
        return {"u": sample["pin.force.x"]}

    with pytest.raises(zw.InputError, match="follows from what the controller is to set"):
        cart_pole.simulate(until=0.1, controllers={"force": zw.controller(law, 0.01)})
