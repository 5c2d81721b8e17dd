"""Universal joints whose arms are not perpendicular, against the closed form of spherical linkages.

Two shafts at the angle β and a cross with the arms u(θ) ⟂ first shaft, w(φ) ⟂ second shaft are a
spherical linkage: u·w = cos γ is one equation for φ, linear in cos φ and sin φ.
"""

import numpy as np
import pytest

import zwang as zw
from zwang.errors import InputError

TIGHT = 1e-11
#: Motions at that tolerance over a second, against closed forms and other models of the same [rad].
SAME = 1e-8
BEND, ARMS = 0.6, 1.25


def unit(v):
    return np.asarray(v, float) / np.linalg.norm(v)


def shafts(arms=ARMS, bend=BEND, speed=2.0):
    """Two shafts on bearings at an angle, the first driven."""
    along = np.array([np.cos(bend), np.sin(bend), 0.0])
    m = zw.Mechanism()
    first = m.body("first", mass=1.0, inertia=(0.02, 0.03, 0.04), position=(-0.5, 0, 0))
    second = m.body("second", mass=1.0, inertia=(0.02, 0.03, 0.04), position=0.5 * along)
    m.revolute("input", m.ground, first, at=(-0.5, 0, 0), axis="x", reference="z")
    m.cylindrical("output", m.ground, second, at=0.5 * along, axis=along, reference="z")
    m.universal("cross", first, second, axis="x", axis_b=along, arm_angle=arms)
    m.drive("motor", "input.angle", lambda t: speed * t)
    return m


def output_angle(theta, arms=ARMS, bend=BEND):
    """φ of the second shaft and dφ/dθ; the arms are at z and at γ from it when θ = φ = 0."""
    a, b = np.array([1.0, 0, 0]), np.array([np.cos(bend), np.sin(bend), 0.0])
    z = np.array([0.0, 0, 1.0])  # the common normal of both shafts: u at θ = 0
    side = np.cross(b, z)

    def w(phi):  # at φ = 0 the arm cos γ z + sin γ (b × z), rotated about b
        angle = phi + arms
        return np.cos(angle) * z + np.sin(angle) * side

    u = np.cos(theta) * z + np.sin(theta) * np.cross(a, z)
    P, S = u @ z, u @ side  # P cos(φ + γ) + S sin(φ + γ) = cos γ
    phi = np.arctan2(S, P) + np.arccos(np.cos(arms) / np.hypot(P, S)) - arms
    slope = np.cross(a, u) @ w(phi) / -(u @ np.cross(b, w(phi)))
    return phi, slope


def test_shafts_follow_the_closed_form_of_the_spherical_linkage():
    run = shafts().simulate(until=4.0, tolerance=TIGHT, save=0.05)
    expected = np.array([output_angle(x) for x in run["input.angle"]])
    gap = (run["output.angle"] - expected[:, 0] + np.pi) % (2.0 * np.pi) - np.pi
    assert np.abs(gap).max() < SAME
    assert np.abs(run["output.angle_rate"] / run["input.angle_rate"] - expected[:, 1]).max() < SAME
    assert np.ptp(expected[:, 1]) > 0.3  # and it is uneven
    right = np.array([output_angle(x, arms=0.5 * np.pi)[0] for x in run["input.angle"]])
    assert np.abs(np.sin(right - expected[:, 0])).max() > 0.05  # unlike a cross at the right angle


def test_torque_of_the_motor_is_what_the_second_shaft_asks_for():
    """By energy: τ θ̇ is the rate of ½ J φ̇², with J of the second shaft about its axis."""
    run = shafts().simulate(until=1.0, tolerance=TIGHT, save=0.05)
    b = np.array([np.cos(BEND), np.sin(BEND), 0.0])
    J, h = b @ (np.array([0.02, 0.03, 0.04]) * b), 1e-5
    for theta, torque in zip(run["input.angle"], run["motor.torque"], strict=True):
        _, slope = output_angle(theta)
        rates = [output_angle(theta + s * h)[1] for s in (-1, 1)]
        bend = (rates[1] - rates[0]) / (2.0 * h)  # central difference: error about h² = 1e-10
        assert abs(torque - J * slope * bend * 2.0**2) < 1e-7


def pendulum(way):
    """A body on two axes that meet: on an oblique cross, or on two pins and a massless body."""
    u, w = unit((1.0, 0.2, 0.1)), unit((0.5, 1.0, -0.3))
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.3, 0.2, -0.8))
    if way == "cross":
        angle = float(np.arccos(u @ w))
        m.universal("cross", m.ground, bob, axis=np.cross(u, w), reference=u, arm_angle=angle)
    else:
        yoke = m.body("yoke")
        m.revolute("first", m.ground, yoke, axis=u)
        m.revolute("second", yoke, bob, axis=w)
    return m


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_two_pins_on_a_massless_body_are_an_oblique_cross(coordinates):
    choices = {"until": 1.0, "tolerance": TIGHT, "save": 0.1}
    expected = pendulum("pins").simulate(**choices)
    run = pendulum("cross").simulate(**choices, coordinates=coordinates)
    assert np.abs(run.body("bob").position - expected.body("bob").position).max() < SAME
    assert np.abs(run["cross.angle_a_rate"] - expected["first.angle_rate"]).max() < SAME
    assert np.abs(run["cross.angle_b_rate"] - expected["second.angle_rate"]).max() < SAME
    turned = run["cross.angle_a"] - run["cross.angle_a"][0]
    assert np.abs(turned - expected["first.angle"]).max() < SAME
    assert np.ptp(run.energy) < SAME
    assert "2 degrees of freedom" in str(pendulum("cross").explain())


@pytest.mark.parametrize("order", [1, -1])
def test_angles_compose_to_the_rotation_from_either_body(order):
    """R_x(α) R_z(γ − π/2) R_y(β), with the ground as first or as second body."""
    m = zw.Mechanism(gravity=(1.0, 0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.3, 0.2, -0.8))
    pair = [m.ground, bob][::order]
    m.universal("cross", *pair, axis=(0.2, 1, 0.1), axis_b=(0.1, 0.7, 0.9), arm_angle=ARMS)
    run = m.simulate(until=0.5, tolerance=TIGHT, save=0.1, coordinates="joint")
    absolute = m.simulate(until=0.5, tolerance=TIGHT, save=0.1, coordinates="absolute")
    assert np.abs(run.q - absolute.q).max() < SAME
    marker_a, marker_b = (getattr(run.system.parts.joints["cross"], s).axes for s in "ab")
    delta = ARMS - 0.5 * np.pi
    c, s = np.cos(delta), np.sin(delta)
    Z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for R, x, y in zip(
        run.body("bob").rotation, run["cross.angle_a"], run["cross.angle_b"], strict=True
    ):
        X = [[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]
        Y = [[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]
        R_a, R_b = (np.eye(3), R) if order == 1 else (R, np.eye(3))
        found = (R_a @ marker_a).T @ R_b @ marker_b
        assert np.abs(found - np.array(X) @ Z @ np.array(Y)).max() < 1e-11


def test_a_right_angle_given_as_a_number_is_the_plain_joint():
    runs = [
        shafts(arms=arms).simulate(until=1.0, tolerance=TIGHT, save=0.1)
        for arms in (0.5 * np.pi, None)
    ]
    assert np.abs(runs[0]["output.angle"] - runs[1]["output.angle"]).max() < SAME


@pytest.mark.parametrize("angle", [0.0, np.pi, -1.0, 4.0])
def test_arms_that_coincide_are_refused(angle):
    with pytest.raises(InputError, match=r"arm_angle of universal joint 'cross'.*between 0 and pi"):
        shafts(arms=angle)


def test_the_angle_is_a_dimension_and_is_written_to_files(tmp_path):
    """Another value of a parameter rotates the arms anew; a file has the angle as a key."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.3, 0.2, -0.8))
    m.universal(
        "cross", m.ground, bob, axis="z", reference="x", arm_angle=m.parameter("arms", ARMS)
    )
    changed = m.system.parts.joints["cross"]
    other = m.with_parameters(arms=0.9).system.parts.joints["cross"]
    for joint, angle in ((changed, ARMS), (other, 0.9)):
        u, w = joint.a.axes[:, 0], joint.b.axes[:, 1]  # the body is placed without a rotation
        assert abs(np.arccos(u @ w) - angle) < 1e-14
    path = tmp_path / "bob.toml"
    zw.write_model(m, path)
    assert 'arm_angle = "arms"' in path.read_text(encoding="utf-8")
    choices = {"until": 0.5, "tolerance": 1e-9, "save": 0.5}
    again = zw.read_model(path).simulate(**choices)
    assert np.abs(again.q - m.simulate(**choices).q).max() < 1e-12
