"""Planted mistakes: each is refused by one sentence that names the thing."""

import numpy as np
import pytest

import zwang as zw


def pendulum():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"wind": 0.0, "L": 1.0})
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(0.5, 0.0))
    m.revolute("pin", m.ground, rod, at=(0.0, 0.0))
    m.force("push", rod, lambda p: (p.wind, 0.0))
    return m


def ball():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), free=True)
    return m


def driven():
    m = pendulum()
    m.drive("motor", "pin.angle", lambda t: 0.3 * t)
    return m


def conveyor():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    m.body("box", mass=1.0, inertia=0.1)
    m.constraint("belt", ["box"], lambda bodies: bodies[0].velocity[0] - 0.5)
    return m


def massless():
    return zw.System(["x", "y"], mass=np.diag([1.0, 0.0]), force=lambda q: [-q[0], 0.0 * q[1]])


def welded_twice():
    m = pendulum()
    m.revolute("pin2", m.ground, "rod", at=(0.0, 0.0))
    return m


def turned():
    t = np.linspace(0.0, 1.0, 5)
    return pendulum().inverse_dynamics((t, {"pin.angle": lambda t: t**2}), ["pin.angle"])


def two_links():
    m = pendulum()
    two = m.body("two", mass=1.0, inertia=0.1, position=(1.5, 0.0))
    m.revolute("elbow", "rod", two, at=(1.0, 0.0))
    return m


MISTAKES = {
    "a spread below zero": (lambda: pendulum().equilibria(spread=-1.0), ["spread", "positive"]),
    "a seed that is no number": (lambda: pendulum().equilibria(seed="x"), ["seed", "'x'"]),
    "a path of no points": (
        lambda: pendulum().load_path("wind", [0.0, 1.0], limit=0),
        ["limit", "2 or more"],
    ),
    "a path of steps below zero": (
        lambda: pendulum().load_path("wind", [0.0, 1.0], largest_step=-0.1),
        ["largest_step", "positive"],
    ),
    "frequencies that are text": (
        lambda: (
            pendulum().linearize(inputs=["pin.angle"], outputs=["rod.x"]).frequency_response("high")
        ),
        ["frequencies", "'high'"],
    ),
    "modes that are not counted": (lambda: pendulum().linearize().modes(-1), ["count", "-1"]),
    "a locus over nothing known": (
        lambda: pendulum().root_locus("wnd", [0.0, 1.0]),
        ["parameter or rate", "wind"],
    ),
    "effort of an unknown actuator": (lambda: turned().effort["pin.angel"], ["pin.angle"]),
    "a motion that leaves a body open": (
        lambda: two_links().inverse_dynamics(
            (np.linspace(0.0, 1.0, 5), {"pin.angle": lambda t: t}), ["pin.angle"]
        ),
        ["motion of 'pin.angle'", "two", "Give quantities"],
    ),
    "reactions by text": (
        lambda: pendulum().equilibrium().reaction("pin", "stiff"),
        ["multipliers", "splits"],
    ),
    "nothing holds a body": (lambda: ball().equilibrium(), ["body 'ball'", "along z", "9.81"]),
    "held value of an unknown name": (
        lambda: pendulum().equilibrium(hold={"pin.angel": 0.3}),
        ["pin.angel"],
    ),
    "hold is no dictionary": (lambda: pendulum().equilibrium(hold=["pin.angle"]), ["hold"]),
    "a belt does not rest": (lambda: conveyor().equilibrium(), ["belt", "0.5", "steady_motion"]),
    "not an equilibrium": (
        lambda: pendulum().linearize(pendulum().assemble()),
        ["be an equilibrium", "rod turns about y", " m.equilibrium(start=state)", "hold={…}"],
    ),
    "a state that moves": (
        lambda: pendulum().linearize(
            pendulum().assemble(velocity={"hold": {"pin.angle_rate": 1.0}})
        ),
        ["moves", "steady_motion"],
    ),
    "off the constraints": (
        lambda: pendulum().system.linearize([0.5, 0.3, 1.0, 0.0]),
        ["constraints are not satisfied", "pin"],
    ),
    "several states": (
        lambda: pendulum().system.linearize(np.zeros((2, 4)) + [0.5, 0.0, 1.0, 0.0]),
        ["one state"],
    ),
    "a driver that moves": (
        lambda: driven().linearize(driven().assemble().q),
        ["motor", "not satisfied"],
    ),
    "unknown input": (lambda: pendulum().linearize(inputs=["pin.angel"]), ["input", "pin.angle"]),
    "unknown output": (lambda: pendulum().linearize(outputs=["pin.fource.x"]), ["pin.force.x"]),
    "unknown independent": (
        lambda: pendulum().linearize(independent=["rod.turn1"]),
        ["independent coordinate", "rod.turn"],
    ),
    "too many independent": (
        lambda: pendulum().linearize(independent=["pin.angle", "rod.x"]),
        ["at most 1", "at most 1"],
    ),
    "coordinate that cannot change": (
        lambda: pendulum().linearize(independent=["rod.z"]),
        ["'rod.z'", "fixed by the constraints"],
    ),
    "name given twice": (
        lambda: pendulum().linearize(outputs=["pin.angle", "pin.angle"]),
        ["more than once"],
    ),
    "one name in place of a list": (
        lambda: pendulum().linearize(inputs="pin.angle"),
        ["a list of names"],
    ),
    "reaction that is open": (
        lambda: welded_twice().linearize(outputs=["pin.force.x"]),
        ["pin.force.x", "leave undetermined"],
    ),
    "parameter of a constraint": (
        lambda: zw.library.spherical_pendulum().linearize([0.0, 2.0, 0.0], inputs=["L"]),
        ["'L'", "moves a constraint", "driver"],
    ),
    "freedom without mass or spring": (
        lambda: massless().linearize([0.0, 0.0]),
        ["without mass", "y moves alone", "spring"],
    ),
    "no ports for a Bode plot": (
        lambda: pendulum().linearize().plot_bode(),
        ["inputs", "must be given", "linearize(state, inputs=[…])"],
    ),
    "frequencies that are none": (
        lambda: pendulum().linearize().frequency_response([[1.0]]),
        ["frequencies"],
    ),
    "unknown reaction": (lambda: pendulum().equilibrium().reaction("pim"), ["pim", "pin"]),
    "multipliers of another length": (
        lambda: pendulum().equilibrium().multipliers("pin", lam=[1.0]),
        ["one for each row"],
    ),
    "second-order form of a turning motion": (
        lambda: zw.library.rolling_coin().steady_motion({"yaw": 1.0}).linearization.mass,
        ["second-order form"],
    ),
    "linearization of what is held": (
        lambda: pendulum().equilibrium(hold={"pin.angle": 0.2}).linearization,
        ["held coordinates", "pin.angle"],
    ),
    "rates that are none": (lambda: pendulum().steady_motion({}), ["rates"]),
    "rate of an unknown name": (
        lambda: zw.library.rolling_coin().steady_motion({"coin.spin": 1.0}),
        ["coin", "disk"],
    ),
    "rate that is no number": (
        lambda: zw.library.rolling_coin().steady_motion({"yaw": "fast"}),
        ["yaw", "finite number"],
    ),
    "functions without a symmetry": (
        lambda: zw.library.spherical_pendulum().steady_motion({"yaw": 1.0}, start=[0, 2.0, 0]),
        ["cyclic coordinate"],
    ),
    "spin of what is not round": (
        lambda: _brick().steady_motion({"brick.spin": 1.0}),
        ["brick", "round"],
    ),
    "count of starts": (lambda: pendulum().equilibria(count=-1), ["count"]),
    "parameter that is a vector": (
        lambda: pendulum().root_locus("gravity", [1.0, 2.0]),
        ["gravity", "3 numbers"],
    ),
    "values of a root locus": (lambda: pendulum().root_locus("wind", []), ["wind", "list"]),
}


def _brick():
    m = zw.Mechanism()
    m.body("brick", mass=1.0, inertia=(1.0, 2.0, 2.5), free=True)
    return m


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_refused_in_one_sentence_that_names_it(mistake):
    act, words = MISTAKES[mistake]
    with pytest.raises(zw.ZwangError) as caught:
        act()
    text = str(caught.value)
    for word in words:
        assert word in text, text
    assert len(text) < 900
    assert "\n" not in text
