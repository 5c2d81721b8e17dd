"""Actuators at joints: efforts by laws of joint coordinates, against closed forms."""

import numpy as np
import pytest
from scipy.integrate import simpson

import zwang as zw

#: Relative error of trapezoids of 0.01 s on a power that changes within a second.
OF_TRAPEZOIDS = 1e-4


def arm(effort, plane=None):
    """A rod without weight on a hinge, J = 1/3 about it, at 0.4 rad."""
    m = zw.Mechanism(plane=plane, parameters={"k": 3.0, "target": 0.1})
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), **({} if plane else {"axis": "y"}))
    m.actuator("motor", "pin.angle", effort)
    return m


def controller(c, p):
    return -p.k * (c["pin.angle"] - p.target) - 0.5 * c["pin.angle_rate"]


@pytest.mark.parametrize("plane", [None, "xz"])
def test_a_controller_is_a_damped_oscillator(plane, tmp_path):
    """θ̈ + 2δ θ̇ + ω²(θ − θ₀) = 0 with ω² = k/J, δ = d/2J."""
    m = arm(controller, plane)
    file = tmp_path / "arm.toml"
    where = f'plane = "{plane}"' if plane else ""
    axis = "" if plane else 'axis = "y"'
    file.write_text(f"""
[parameters]
k = 3.0
target = 0.1
[mechanism]
{where}
[force.motor]
type = "actuator"
of = "pin.angle"
effort = "-k * (pin.angle - target) - 0.5 * pin.angle_rate"
[body.rod]
mass = 1
shape = {{ type = "rod", length = 1 }}
position = [0.5, 0, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0, 0]
{axis}
""")
    zw.read_model(file).write(tmp_path / "again.toml")
    models = [m, zw.read_model(file).mechanism, zw.read_model(tmp_path / "again.toml").mechanism]
    for mechanism in models:
        start = mechanism.assemble(hold={"pin.angle": 0.4})
        run = mechanism.simulate(start, until=2.0, save=0.5, tolerance=1e-11)
        d, w = 0.75, np.sqrt(9.0 - 0.75**2)
        want = 0.1 + 0.3 * np.exp(-d * run.t) * (np.cos(w * run.t) + d / w * np.sin(w * run.t))
        np.testing.assert_allclose(run["pin.angle"], want, atol=1e-9)
        torque = -3.0 * (run["pin.angle"] - 0.1) - 0.5 * run["pin.angle_rate"]
        np.testing.assert_allclose(run["motor.torque"], torque, atol=1e-10)


def test_a_number_is_a_parameter():
    m = arm(2.0)
    assert m.solve().acceleration[4] == pytest.approx(6.0)  # 2 / (1/3)
    assert m.solve(parameters={"motor.effort": 1.0}).acceleration[4] == pytest.approx(3.0)


def test_a_law_may_read_other_joints_and_stop_a_run():
    """A cart pushed in proportion to the angle of its pendulum; action and reaction at the rail."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    cart = m.body("cart", 2.0, (1, 1, 1), position=(0, 0, 0))
    bob = m.body("bob", 1.0, (0.0, 0.0, 0.0), position=(0.6, 0, -0.8))
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("hinge", cart, bob, at=(0, 0, 0), axis="y")
    m.actuator("push", "rail.displacement", lambda c: 5.0 * c["hinge.angle_rate"] + 4.0)
    events = {"zero": zw.event("push.effort", at=10.0)}
    run = m.simulate(until=1.0, save=0.05, events=events)
    want = 5.0 * run["hinge.angle_rate"] + 4.0
    np.testing.assert_allclose(run["push.effort"], want, atol=1e-10)
    # The momentum along x changes by the push alone.
    momentum = 2.0 * run["cart.acceleration.x"] + run["bob.acceleration.x"]
    np.testing.assert_allclose(momentum, want, atol=1e-9)
    assert len(run.events) >= 1
    rate = run.system.joint_coordinate("hinge.angle_rate", run.events[0].q, run.events[0].v)
    assert rate == pytest.approx(1.2, abs=1e-9)


def test_mistakes_are_told():
    with pytest.raises(zw.InputError, match=r"Did you mean 'pin\.angle'"):
        arm(lambda c: c["pin.angel"])
    m = zw.Mechanism()
    rod = m.body("rod", 1.0, (1, 1, 1))
    m.revolute("pin", m.ground, rod, axis="y")
    with pytest.raises(
        zw.InputError, match=r"coordinate of actuator 'motor' must be one of pin\.angle"
    ):
        m.actuator("motor", "rod.angle", 1.0)


@pytest.mark.parametrize(
    ("joint", "of", "effort"),
    [("revolute", "j.angle", "torque"), ("prismatic", "j.displacement", "effort")],
)
def test_speed_and_power_of_an_actuator_are_channels(joint, of, effort):
    """As of a driver: the power over time is the work, here the kinetic energy."""
    m = zw.Mechanism()
    body = m.body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    getattr(m, joint)("j", m.ground, body, at=(0, 0, 0), axis="x")
    m.actuator("motor", of, lambda t: 3.0 * np.cos(t))
    m.output("double", lambda c: 2.0 * c["motor.power"])
    passes = zw.event("motor.power", at=0.5, direction=1)
    run = m.simulate(until=1.0, save=0.01, events={"passes": passes})
    np.testing.assert_array_equal(run["motor.speed"], run[f"{of}_rate"])
    np.testing.assert_allclose(run["motor.power"], run[f"motor.{effort}"] * run[f"{of}_rate"])
    np.testing.assert_allclose(run["double"], 2.0 * run["motor.power"])
    work = np.trapezoid(run["motor.power"], run.t)
    assert work == pytest.approx(run["kinetic_energy"][-1], rel=OF_TRAPEZOIDS)
    assert [event.name for event in run.events] == ["passes"]
    units = [run.channels[f"motor.{name}"].unit for name in ("speed", "power")]
    assert units == [run.channels[f"{of}_rate"].unit, "W"]


@pytest.mark.parametrize("plane", [None, "xz"])
def test_speed_and_power_of_actuators_are_channels(plane):
    """As of drivers: effort times rate, whose integral is what the energy grows by.

    An event, an output and a sample of a controller read the same power.
    """
    m = zw.Mechanism(plane=plane, gravity=(0, 0, -9.81), parameters={"push": 0.0})
    cart = m.body("cart", 2.0, (1, 1, 1) if plane is None else 1.0)
    bob = m.body("bob", 1.0, (0.1, 0.1, 0.1) if plane is None else 0.1, position=(0, 0, -0.8))
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("hinge", cart, bob, at=(0, 0, 0), axis="y")
    m.actuator("servo", "rail.displacement", lambda c, t: 3.0 * np.cos(t) - c["hinge.angle_rate"])
    m.actuator("motor", "hinge.angle", lambda c, t: 2.0 * np.sin(3.0 * t))
    m.output("fed", lambda c: c["servo.power"] + c["motor.power"], unit="W")
    read = []

    def look(sample):
        read.append(sample["servo.power"])

    events = {"strong": zw.event("servo.power", at=0.4)}
    controllers = {"look": zw.controller(look, 0.1)}
    run = m.simulate(until=1.0, save=0.001, events=events, controllers=controllers)
    np.testing.assert_array_equal(run["servo.speed"], run["rail.displacement_rate"])
    power = run["servo.effort"] * run["rail.displacement_rate"]
    np.testing.assert_allclose(run["servo.power"], power, atol=1e-12)
    turning = run["motor.torque"] * run["hinge.angle_rate"]
    np.testing.assert_allclose(run["fed"], power + turning, atol=1e-12)
    # Simpson's rule over steps of 1 ms leaves far less than the tolerance of the run, 1e-9.
    fed = simpson(run["fed"], x=run.t)
    assert fed == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-7)
    np.testing.assert_allclose(read, run["servo.power"][:-1:100][: len(read)], atol=1e-12)
    at = run.events[0].t
    np.testing.assert_allclose(np.interp(at, run.t, run["servo.power"]), 0.4, atol=1e-5)
    units = {name: run.channels[name].unit for name in ("servo.speed", "motor.speed", "fed")}
    assert units == {"servo.speed": "m/s", "motor.speed": "rad/s", "fed": "W"}
