"""Friction by a law of the user's, of what presses in a joint and of its rate."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import zwang as zw
from zwang.errors import InputError

G, HALF = 9.81, 0.5
#: Motions at tolerances of 1e-10 here and 1e-9 there.
SAME = 1e-7


def squeezed(pressure, rate, p):
    """More than in proportion to what presses: no law of Coulomb's."""
    return -p.k * pressure**1.5 * np.tanh(rate / 0.5)


def rod(effort=squeezed, k=0.01):
    m = zw.Mechanism(gravity=(0, 0, -G), parameters={"k": k})
    body = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=2 * HALF), position=(HALF, 0, 0))
    m.revolute("pin", m.ground, body, at=(0, 0, 0), axis="y")
    m.friction("pin", effort=effort)
    return m


def pin_force(angle, rate, acceleration):
    """|force| in the pin of a rod at an angle below the horizontal, by its center's motion."""
    radial = np.array([np.cos(angle), -np.sin(angle)])  # x, z
    tangent = np.array([-np.sin(angle), -np.cos(angle)])
    a = HALF * (acceleration * tangent - rate**2 * radial)
    return np.linalg.norm(a + np.array([0.0, G]))


def expected(times, k=0.01):
    """The rod by one equation: J θ̈ = m g l cos θ + τ(N(θ̈), θ̇), solved for θ̈ at each instant."""
    J = (2 * HALF) ** 2 / 3.0

    def acceleration(angle, rate):
        def gap(x):
            torque = -k * pin_force(angle, rate, x) ** 1.5 * np.tanh(rate / 0.5)
            return J * x - G * HALF * np.cos(angle) - torque

        return brentq(gap, -50.0, 50.0, xtol=1e-12)

    found = solve_ivp(
        lambda _, y: (y[1], acceleration(*y)),
        (0.0, times[-1]),
        (0.0, 0.0),
        t_eval=times,
        rtol=1e-9,
        atol=1e-10,
        method="DOP853",
    )
    return found.y


def test_a_rod_follows_the_equation_with_its_own_law():
    run = rod().simulate(until=0.8, tolerance=1e-10, save=0.1)
    angle, rate = expected(run.t)
    assert np.abs(run["pin.angle"] - angle).max() < SAME
    assert np.abs(run["pin.angle_rate"] - rate).max() < SAME
    pressure = np.linalg.norm(run["pin.force"][:, [0, 2]], axis=1)
    torque = -0.01 * pressure**1.5 * np.tanh(run["pin.angle_rate"] / 0.5)
    assert np.abs(run["pin.friction_torque"] - torque).max() < 1e-9
    assert run.work.nonideal[-1] < -0.1


@pytest.mark.parametrize("bodies", [3, 40])
def test_coulomb_by_a_law_is_coulomb(bodies):
    """One expression and a call list alike, with another coefficient in each joint."""

    def chain(*, own):
        m, last = zw.Mechanism(gravity=(0, 0, -G), plane="xz"), "ground"
        for i in range(bodies):
            body = m.body(
                f"b{i}", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5 + i, 0, 0)
            )
            m.revolute(f"j{i}", last, body, at=(i, 0, 0))
            last, mu = body, 0.1 + 0.05 * (i % 3)
            if own:
                m.friction(
                    f"j{i}",
                    effort=lambda pressure, rate, mu=mu: (
                        -mu * 0.05 * pressure * np.tanh(rate / 1e-2)
                    ),
                )
            else:
                m.friction(f"j{i}", coefficient=mu, radius=0.05, velocity=1e-2)
        return m.simulate(until=0.2, save=0.1)

    ours, theirs = chain(own=True), chain(own=False)
    assert np.abs(ours.q - theirs.q).max() < 1e-12
    for name in ("j1.friction_torque", "j2.friction_torque"):
        assert np.abs(ours[name] - theirs[name]).max() < 1e-11 * max(1.0, bodies)


def test_a_law_in_a_file_is_that_of_python(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(
        f"""
[parameters]
k = 0.01
[define]
squeezed = "k * pressure^1.5"
[mechanism]
gravity = [0, 0, -{G}]
[body.rod]
mass = 1
shape = {{ type = "rod", length = 1 }}
position = [0.5, 0, 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0, 0]
axis = "y"
[friction.pin]
effort = "-squeezed * tanh(rate / 0.5)"
""",
        encoding="utf-8",
    )
    model = zw.read_model(path)
    run = model.simulate(until=0.5, save=0.1)
    assert np.abs(run.q - rod().simulate(until=0.5, save=0.1).q).max() < 1e-12
    zw.write_model(model, tmp_path / "again.toml")
    again = zw.read_model(tmp_path / "again.toml").simulate(until=0.5, save=0.1)
    assert np.array_equal(again.q, run.q)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"effort": 3.0}, r"effort of friction in 'pin'.*a function of pressure and rate, not 3.0"),
        ({"effort": squeezed, "coefficient": 0.1}, r"but effort and coefficient were given"),
    ],
)
def test_what_is_no_law_is_refused(given, told):
    m = zw.Mechanism()
    m.revolute("pin", m.ground, m.body("rod", mass=1.0, inertia=(1, 1, 1)), axis="y")
    with pytest.raises(InputError, match=told):
        m.friction("pin", **given)


def test_a_joint_with_two_rates_takes_no_law():
    m = zw.Mechanism()
    m.cylindrical("sleeve", m.ground, m.body("rod", mass=1.0, inertia=(1, 1, 1)), axis="y")
    with pytest.raises(InputError, match=r"be in a revolute or prismatic joint, but this is a cyl"):
        m.friction("sleeve", effort=squeezed)
