"""Channels as expressions, which events watch, against the same channels of runs.

A run evaluates forces by compiled lists of calls and by its records; the expressions solve the
equations of motion symbolically.
"""

import numpy as np
import pytest

import zwang as zw
from zwang.results.channel_expressions import ChannelExpressions

#: Two ways of computing the same numbers, relative to the largest of a channel.
AGREE = 1e-9


def machine(*, plane=None):
    """A bit of everything: springs, friction, a driver, a coupler, a condition, outputs."""
    space = plane is None
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane, parameters={"k": 3.0})
    y = {"axis": "y"} if space else {}
    arm = m.body("arm", inertia=zw.inertia.rod(1.0, 1.0).at((0.1, 0, 0)), position=(0.5, 0, 0))
    tip = m.body("tip", inertia=zw.inertia.box(0.5, (0.3, 0.2, 0.1)), position=(1.1, 0, 0.1))
    cart = m.body("cart", inertia=zw.inertia.box(2.0, (0.3, 0.2, 0.1)), position=(0, 0, -2.0))
    bob = m.body("bob", inertia=zw.inertia.sphere(0.7, 0.1), position=(0.0, 0, -2.5))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0), **y)
    m.revolute("wrist", arm, tip, at=(1.0, 0, 0), **y)
    m.prismatic("rail", m.ground, cart, at=(0, 0, -2.0), axis="x")
    m.revolute("hook", cart, bob, at=(0, 0, -2.1), **y)
    m.friction("pin", coefficient=0.1, radius=0.05, viscous=0.1, velocity=0.1)
    m.friction("rail", coefficient=0.2, velocity=0.1)
    m.drive("motor", "wrist.angle", lambda t: 0.3 * np.sin(2 * t) + 0.1 * t)
    m.couple("belt", "rail.displacement", "pin.angle", 0.3)
    m.spring_damper("coil", arm, bob, at=((0.5, 0, 0), (0, 0, -2.5)), stiffness=20, damping=1)
    m.torsion_spring("twist", m.ground, arm, stiffness=2.0, damping=0.1, **y)
    m.bushing("bed", arm, m.ground, at=(0.2, 0, 0), stiffness=(5, 6, 7), damping=(1, 2, 3))
    m.force("wind", tip, lambda t, p: (p.k * np.cos(t), 0, 0.2), at=(0.1, 0, 0))
    three = [arm, tip, bob]
    m.user_force("pull", three, lambda bodies: [(-b.velocity, (0, 0, 0)) for b in bodies])
    m.output("load", lambda c, p: c["pin.force.magnitude"] - p.k * c["wrist.angle_rate"], unit="N")
    m.output("twice", lambda c, t: 2 * c["load"] + c["pin.force"] @ c["tip.velocity"] + t)
    return m


def expressions_along(run, names):
    """Values of the expressions of channels at the saved states of a run."""
    import casadi as ca

    p = run.system.parameter_vector(run.parameters)
    at = run.q[0], run.v[0], np.asarray(0.0), p
    found = ChannelExpressions(run.system, at)
    s = run.system.equations.symbols
    f = ca.Function("f", [s.q, s.v, s.t, s.p], [ca.densify(found[name]) for name in names])
    rows = [f(run.q[i], run.v[i], run.t[i], p) for i in range(len(run))]
    return {n: np.array([np.array(row[k]).ravel() for row in rows]) for k, n in enumerate(names)}


@pytest.mark.parametrize("plane", [None, "xz"])
def test_every_channel_of_a_mechanism_is_an_expression(plane):
    run = machine(plane=plane).simulate(until=1.0, save=0.25)
    names = list(run.channels)
    assert {"pin.friction_torque", "rail.friction_force", "belt.effort", "pull.bob.force"} <= {
        *names
    }
    values = expressions_along(run, names)
    for name in names:
        want, got = run[name].reshape(len(run), -1), values[name].reshape(len(run), -1)
        size = max(1e-3, float(np.abs(want).max()))
        assert np.abs(got - want).max() < AGREE * size, name


def test_friction_and_couplers_against_their_formulas():
    """−(μ r N tanh(θ̇/u₀) + c θ̇) with N the force perpendicular to the axis; power of the belt."""
    run = machine(plane="xz").simulate(until=1.0, save=0.1)
    N, rate = run["pin.force.magnitude"], run["pin.angle_rate"]
    want = -(0.1 * 0.05 * N * np.tanh(rate / 0.1) + 0.1 * rate)
    np.testing.assert_allclose(run["pin.friction_torque"], want, rtol=1e-9, atol=1e-12)
    N, rate = run["rail.force.z"], run["rail.displacement_rate"]
    want = -0.2 * np.abs(N) * np.tanh(rate / 0.1)
    np.testing.assert_allclose(run["rail.friction_force"], want, rtol=1e-9, atol=1e-12)
    rail, pin = run["rail.displacement_rate"], run["pin.angle_rate"]
    np.testing.assert_allclose(rail, 0.3 * pin, atol=1e-9)
    # The cart with its bob: momentum along x changes by belt, friction, coil and the pull on bob.
    cart, bob = run["cart.acceleration.x"], run["bob.acceleration.x"]
    coil = run["coil.force"]
    line = run["bob.position"] - run.body("arm").point((0.0, 0, 0))
    along = line[:, 0] / np.linalg.norm(line, axis=1)
    push = run["belt.effort"] + run["rail.friction_force"] - coil * along - run["bob.velocity.x"]
    np.testing.assert_allclose(2.0 * cart + 0.7 * bob, push, atol=1e-8)


def test_a_joint_acceleration_is_the_derivative_of_its_rate():
    run = machine(plane="xz").simulate(until=1.0, tolerance=1e-12)
    h = 1e-4
    for name in ("pin.angle", "wrist.angle", "rail.displacement"):
        rates = [run.system.joint_coordinate(f"{name}_rate", run.at(0.5 + k * h)) for k in (-1, 1)]
        at = run.at(0.5)
        again = run.system.simulate(at, until=0.5 + 1e-3)
        want = (rates[1] - rates[0]) / (2 * h)
        assert again[f"{name}_acceleration"][0] == pytest.approx(float(want), rel=1e-6, abs=1e-7)


def test_own_conditions_and_forces_are_told_for_each_body():
    """Two balls on a massless condition: action and reaction along the line, weight in balance."""
    m = zw.Mechanism(gravity=(0, 0, -10.0))
    a, b = m.body("a", 1.0, position=(0, 0, 0)), m.body("b", 2.0, position=(0, 0, -1))
    m.spherical("hinge", m.ground, a, at=(0, 0, 0))

    def apart(bodies):
        d = bodies[1].position - bodies[0].position
        return d @ d - 1.0

    m.constraint("rope", [a, b], apart)
    run = m.simulate(until=0.1)
    np.testing.assert_allclose(run["rope.b.force"][0], (0, 0, 20.0), atol=1e-9)
    np.testing.assert_allclose(run["rope.a.force"][0], (0, 0, -20.0), atol=1e-9)
    np.testing.assert_allclose(run["hinge.force"][0], (0, 0, 30.0), atol=1e-9)
    assert run.channels["rope.b.force"].unit == "N"


def test_outputs_of_a_system_of_functions():
    pendulum = zw.System(
        coordinates=["x", "y"],
        parameters={"L": 1.0},
        mass=np.eye(2),
        force=[0.0, -9.81],
        constraints={"rod": zw.position(lambda q, p: (q @ q - p.L**2) / 2)},
        outputs={"tension": lambda c, p: -p.L * c["rod.multiplier"], "height": lambda q: q[1]},
    )
    run = pendulum.simulate([1.0, 0.0], until=1.0)
    # T = 3 g sin θ below the horizontal, released from there.
    np.testing.assert_allclose(run["tension"], -3 * 9.81 * run["y"], atol=1e-7)
    np.testing.assert_array_equal(run["height"], run["y"])
    assert "tension" in run.channels
    stop = zw.event("tension", "stop", at=20.0)
    ended = pendulum.simulate([1.0, 0.0], until=5.0, events={"full": stop})
    assert ended["y"][-1] == pytest.approx(-20.0 / (3 * 9.81), abs=1e-9)
    with pytest.raises(zw.InputError, match=r"Did you mean .rod\.multiplier."):
        zw.System(
            coordinates=["x", "y"],
            mass=np.eye(2),
            constraints={"rod": zw.position(lambda q: q @ q - 1.0)},
            outputs={"tension": lambda c: c["rod.multiplierr"]},
        ).simulate([1.0, 0.0], until=0.1)["tension"]
