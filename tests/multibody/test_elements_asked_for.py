"""Elements that models of other programs have: each against a formula of its own."""

import numpy as np
import pytest

import zwang as zw


@pytest.fixture
def written(tmp_path):
    """A mechanism as it comes back from a model file."""

    def again(m):
        zw.write_model(m, tmp_path / "m.toml", overwrite=True)
        return zw.read_model(tmp_path / "m.toml").mechanism

    return again


def test_a_spring_in_world_axes_has_three_oscillations(written):
    """A body on a spring of zero length: x = x₀ cos ω t along each axis, ω² = k/m, damped in y."""
    m = zw.Mechanism()
    ball = m.body("ball", 2.0, position=(0.1, 0.2, 0.0), free=True)
    m.cartesian_spring(
        "bed",
        m.ground,
        ball,
        at=((0, 0, 0), ball.marker()),
        stiffness=(8, 18, 0),
        damping=(0, 4, 0),
    )
    for mechanism in (m, written(m)):
        run = mechanism.simulate(until=2.0, save=0.5, tolerance=1e-11)
        t = run.t
        np.testing.assert_allclose(run["ball.x"], 0.1 * np.cos(2 * t), atol=1e-9)
        w = np.sqrt(9.0 - 1.0)  # ω² = 9, δ = c/2m = 1
        want = 0.2 * np.exp(-t) * (np.cos(w * t) + np.sin(w * t) / w)
        np.testing.assert_allclose(run["ball.y"], want, atol=1e-9)
        np.testing.assert_allclose(run["bed.force.x"], -8 * run["ball.x"], atol=1e-9)
        np.testing.assert_allclose(run.energy[0], 0.5 * 8 * 0.01 + 0.5 * 18 * 0.04, rtol=1e-12)


def test_a_spring_in_world_axes_pulls_each_body_at_its_own_point():
    """Turned bodies: forces stay along the world's axes, moments are arm × force on both."""
    m = zw.Mechanism()
    a = m.body("a", 1.0, (1, 1, 1), position=(0, 0, 0), free=True)
    b = m.body("b", 1.0, (1, 1, 1), position=(1, 0.5, 0.2), free=True)
    at = (a.marker((0, 0.3, 0)), b.marker((0, 0, 0.4)))
    k, offset = np.array([2.0, 3.0, 5.0]), np.array([0.1, 0.0, 0.2])
    m.cartesian_spring("c", a, b, at=at, stiffness=k, offset=offset)
    v = m.solve().acceleration
    d = np.array([1, 0.5, 0.6]) - np.array([0, 0.3, 0]) - offset
    F = -k * d
    np.testing.assert_allclose(v[:3], -F, atol=1e-13)
    np.testing.assert_allclose(v[6:9], F, atol=1e-13)
    np.testing.assert_allclose(v[3:6], np.cross((0, 0.3, 0), -F), atol=1e-13)
    np.testing.assert_allclose(v[9:], np.cross((0, 0, 0.4), F), atol=1e-13)


def test_a_spring_between_points_that_meet_is_led_to_it():
    m = zw.Mechanism()
    ball = m.body("ball", 1.0)
    with pytest.raises(zw.InputError, match=r"m\.cartesian_spring"):
        m.spring_damper("s", m.ground, ball, at=((0, 0, 0), (0, 0, 0)), length=0.0, stiffness=1.0)


def test_a_bushing_has_its_x_axis_along_the_reference(written):
    """Stiffness 1, 2, 4 along axes turned by 30° about z: F = −R diag(k) Rᵀ d."""
    m = zw.Mechanism()
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    ball = m.body("ball", 1.0, (1, 1, 1))
    m.bushing(
        "bed", m.ground, ball, at=(0, 0, 0), axis="z", reference=(c, s, 0), stiffness=(1, 2, 4)
    )
    d = np.array([0.1, 0.2, 0.3])
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for mechanism in (m, written(m)):
        q = mechanism.assemble().q.copy()
        q[:3] = d
        got = mechanism.solve(q).acceleration[:3]
        np.testing.assert_allclose(got, -R @ np.diag([1.0, 2.0, 4.0]) @ R.T @ d, atol=1e-14)
    with pytest.raises(zw.InputError, match="axis="):
        m.bushing("other", m.ground, ball, at=(0, 0, 0), reference="x")


def test_moments_that_no_body_has_are_accepted_when_asked_for(written):
    J = np.diag([1.0, 1.0, 5.0])
    with pytest.raises(zw.InputError, match="check=False"):
        zw.inertia.tensor(1.0, J)
    m = zw.Mechanism()
    inertia = zw.inertia.tensor(1.0, J, check=False)
    m.body("top", inertia=inertia, angular_velocity=(0.1, 0.0, 2.0), free=True)
    for mechanism in (m, written(m)):
        run = mechanism.simulate(until=1.0, tolerance=1e-11)
        assert any("'top' has principal moments 1, 1 and 5" in note for note in run.notes)
        # ω₁ + i ω₂ rotates with Ω = (J₃ − J₁) ω₃ / J₁.
        rate = (5.0 - 1.0) * 2.0
        np.testing.assert_allclose(run["top.omega1"], 0.1 * np.cos(rate * run.t), atol=1e-8)
    with pytest.raises(zw.InputError, match="principal moments of zero or more"):
        zw.inertia.tensor(1.0, np.diag([1.0, -1.0, 5.0]), check=False)


def test_a_knife_edge_in_the_plane_needs_no_axis(written):
    """A sled with a blade at its center, pushed: it glides along the blade alone."""
    m = zw.Mechanism(plane="xy")
    sled = m.body("sled", 2.0, 0.5, position=(0, 0), angle=0.3, velocity=(0.0, 0.0))
    m.knife_edge("blade", m.ground, sled, at=(0, 0), reference=(np.cos(0.3), np.sin(0.3)))
    m.force("push", sled, (1.0, 0.0))
    for mechanism in (m, written(m)):
        a = mechanism.solve().acceleration
        along = np.cos(0.3) / 2.0
        np.testing.assert_allclose(a, [along * np.cos(0.3), along * np.sin(0.3), 0], atol=1e-14)


def test_a_relative_orientation_is_driven(written):
    """The second body of a ball joint turns about x of the first, which turns about z."""

    def rotation(t):
        c, s = np.cos(2 * t), np.sin(2 * t)
        return [[1, 0, 0], [0, c, -s], [0, s, c]]

    m = zw.Mechanism()
    base = m.body("base", 1.0, (1, 1, 1))
    hand = m.body("hand", 1.0, (1, 2, 2.5), position=(1, 0, 0))
    m.revolute("column", m.ground, base, at=(0, 0, 0), axis="z")
    m.spherical("ball", base, hand, at=(1, 0, 0))
    m.drive("turn", "column.angle", lambda t: 0.5 * t)
    m.drive("twist", "ball.orientation", rotation)
    run = m.simulate(until=1.0, save=0.25)
    for k, t in enumerate(run.t):
        c, s = np.cos(0.5 * t), np.sin(0.5 * t)
        want = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ rotation(t)
        np.testing.assert_allclose(run.body("hand").rotation[k], want, atol=1e-9)
    # Steady about x: ω = (2, 0.5 sin …) and so on; the moment of the driver keeps it.
    assert np.abs(run["twist.moment"]).max() > 0.1
    with pytest.raises(zw.InputError, match=r"column\.angle"):
        m.drive("wrong", "column.orientation", rotation)
