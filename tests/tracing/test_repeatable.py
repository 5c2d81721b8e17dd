"""Functions that draw random numbers, count, or look at a clock are no functions of the state."""

import itertools
import random
import time

import numpy as np
import pytest

import zwang as zw

GENERATOR = np.random.default_rng(7)
COUNTER = itertools.count()


class Sensor:
    def __init__(self):
        self.generator = np.random.default_rng(1)

    def law(self, c):
        return -c["rail.displacement"] + self.generator.normal()


def helper():
    return GENERATOR.normal()


def cart(law):
    m = zw.Mechanism(plane="xz")
    body = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, body, at=(0, 0, 0), axis="x")
    m.actuator("motor", "rail.displacement", law)
    return m


@pytest.mark.parametrize(
    "law",
    [
        lambda t: np.random.normal(),  # noqa: NPY002 - what is often written
        lambda t: random.gauss(0.0, 1.0),
        lambda c: -3.0 * (c["rail.displacement"] + GENERATOR.normal()),
        lambda c: c["rail.displacement"] * helper(),
        lambda t: np.random.default_rng().normal() * t,
        lambda t: t * time.perf_counter(),
        lambda t: t + next(COUNTER),
        Sensor().law,
    ],
)
def test_a_law_that_is_no_function_of_its_arguments_is_refused(law):
    words = r"actuator 'motor' must be a function of its arguments, but gives something else"
    with pytest.raises(zw.InputError, match=words) as caught:
        cart(law).simulate(until=0.1)
    assert "zw.controller" in str(caught.value)


def test_forces_constraints_and_drivers_are_looked_at_too():
    def noise(q):
        return [GENERATOR.normal() - q[0]]

    with pytest.raises(zw.InputError, match="force must be a function of its arguments"):
        zw.System(["x"], mass=lambda: [[1.0]], force=noise)
    m = zw.Mechanism(plane="xz")
    arm = m.body("arm", mass=1.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0))
    m.drive("motor", "pin.angle", lambda t: t * random.random())
    with pytest.raises(zw.InputError, match="driver 'motor' must be a function of its arguments"):
        m.simulate(until=0.1)


def test_numbers_drawn_before_belong_to_a_law():
    phases = GENERATOR.uniform(size=5)
    run = cart(lambda t: sum(np.sin(3.0 * t + x) for x in phases)).simulate(until=0.1)
    assert run.finished


def test_a_long_expression_is_compared_at_once():
    def law(c):
        x = c["rail.displacement"]
        for k in range(3000):
            x = np.sin(x) + 1e-3 * k
        return x

    assert cart(law).explain()


def test_opaque_functions_are_still_called():
    force = zw.opaque(lambda x: -x)
    pendulum = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [force(q[0])])
    assert pendulum.simulate([1.0], until=0.1).finished
