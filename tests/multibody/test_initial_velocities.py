"""Velocities that joints do not allow are changed as by a blow, wherever the origin is."""

import numpy as np
import pytest

import zwang as zw


def rod_on_a_pin(x, plane=None, **motion):
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane)
    rod = m.body(
        "rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(x + 0.5, 0, 0), **motion
    )
    m.revolute("pin", m.ground, rod, at=(x, 0, 0), axis="y")
    return m


@pytest.mark.parametrize("plane", [None, "xz"])
@pytest.mark.parametrize("x", [0.0, 1.0, 100.0, -1e4])
def test_a_rod_starts_as_after_a_blow_wherever_its_pin_is(x, plane):
    """m v d = (J + m d²) ω about the pin: 1.5 = (1/12 + 1/4) ω, downwards about y."""
    m = rod_on_a_pin(x, plane, velocity=(0, 0, 3))
    run = m.simulate(until=0.01, save=0.01)
    assert run["pin.angle_rate"][0] == pytest.approx(-4.5, abs=1e-9)
    (note,) = [n for n in run.notes if "impulse" in n]
    assert "violate pin (by 3)" in note
    assert "rod by 0.75 m/s and 4.5 rad/s" in note
    assert m.assemble().moved["rod.vz"] == pytest.approx(-0.75, abs=1e-9)


def test_velocities_that_fit_are_left_alone_and_nothing_is_said():
    m = rod_on_a_pin(2.0, velocity=(0, 0, 1.0), angular_velocity=(0, -2.0, 0))
    start = m.assemble(velocity="exact")
    assert start.notes == ()
    assert np.abs(start.v - m.parts.start[1]).max() < 1e-14
    assert m.assemble().notes == ()


def test_exact_refuses_by_name():
    m = rod_on_a_pin(1.0, velocity=(0, 0, 3))
    for ask in (
        lambda: m.assemble(velocity="exact"),
        lambda: m.simulate(until=1, velocity="exact"),
    ):
        with pytest.raises(
            zw.InputError,
            match=r"of body 'rod' must satisfy all joints and.*but violate revolute joint pin by 3",
        ):
            ask()
    with pytest.raises(zw.InputError, match="'exact', or a dictionary"):
        m.assemble(velocity="strict")
    with pytest.raises(zw.InputError, match="velocity"):
        m.simulate(m.assemble(), until=1, velocity="exact")


def test_nothing_is_said_of_bodies_at_rest_that_a_driver_moves():
    m = rod_on_a_pin(1.0)
    m.drive("motor", "pin.angle", lambda t: 2.0 * t)
    start = m.assemble()
    assert start.notes == ()
    assert m.system.joint_coordinate("pin.angle_rate", start.q, start.v) == pytest.approx(2.0)


def chain(n, x, large=False):
    """Links hinged at their ends along x, each with a velocity of its own."""
    rng = np.random.default_rng(3)
    m = zw.Mechanism()
    last = m.ground
    for k in range(n):
        link = m.body(
            f"link{k}",
            mass=1.0 + k % 3,
            inertia=(0.15, 0.2 + 0.1 * (k % 2), 0.2),
            position=(x + k + 0.5, 0, 0),
            velocity=rng.standard_normal(3),
            angular_velocity=rng.standard_normal(3),
        )
        m.spherical(f"ball{k}", last, link, at=(x + k, 0, 0))
        last = link
    assert (m.system.equations.by_elements is not None) is large
    return m


def by_numpy(n, m):
    """v − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A v with A written out here: bodies lie along x, axes of the world."""
    v = m.parts.start[1]
    A, M = np.zeros((3 * n, 6 * n)), np.zeros(6 * n)
    skew = 0.5 * np.array([[0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # of (0.5, 0, 0)
    for k in range(n):
        rows = slice(3 * k, 3 * k + 3)
        A[rows, 6 * k : 6 * k + 3] = np.eye(3)
        A[rows, 6 * k + 3 : 6 * k + 6] = skew  # v + ω × (−0.5, 0, 0)
        if k:
            A[rows, 6 * k - 6 : 6 * k - 3] = -np.eye(3)
            A[rows, 6 * k - 3 : 6 * k] = skew  # −(v + ω × (0.5, 0, 0))
        M[6 * k : 6 * k + 6] = [1.0 + k % 3] * 3 + [0.15, 0.2 + 0.1 * (k % 2), 0.2]
    return v - A.T @ np.linalg.solve((A / M) @ A.T, A @ v) / M


@pytest.mark.parametrize(("n", "large"), [(3, False), (15, True)])
@pytest.mark.parametrize("x", [0.0, 50.0])
def test_chains_small_and_large_start_as_plain_numpy_says(n, large, x):
    m = chain(n, x, large)
    start = m.assemble()
    assert np.abs(start.v - by_numpy(n, m)).max() < 1e-9
    assert len(start.notes) == 1
    if large:
        assert f"… and {n - 3} more" in start.notes[0]
        held = m.assemble(velocity={"prefer": {}})
        assert np.abs(held.v - start.v).max() < 1e-8


def test_what_has_no_mass_follows_what_has_some():
    """A rod on a massless arm: the arm takes no part in the blow."""
    m = zw.Mechanism(plane="xz")
    arm = m.body("arm", position=(0.5, 0), velocity=(5.0, -7.0))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(1.5, 0), velocity=(0, 3.0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.fixed("weld", arm, rod, at=(1, 0))
    start = m.assemble()
    # about the pin: 1 · 3 · 1.5 = (1/12 + 1.5²) ω
    rate = m.system.joint_coordinate("pin.angle_rate", start.q, start.v)
    assert rate == pytest.approx(-4.5 / (1 / 12 + 2.25), rel=1e-8)


def test_ensembles_and_model_files_say_it_too(tmp_path):
    m = rod_on_a_pin(1.0, velocity=(0, 0, 3))
    runs = m.simulate_many(parameters={"rod.mass": [1.0, 1.0]}, until=0.01, save=[0.0, 0.01])
    assert all(any("impulse" in note for note in run.notes) for run in runs)
    path = tmp_path / "rod.toml"
    zw.write_model(m, path)
    run = zw.read_model(path).simulate(until=0.01)
    assert any("impulse" in note for note in run.notes)
    path.write_text(path.read_text() + '\n[start]\nvelocity = "exact"\n')
    with pytest.raises(
        zw.ZwangError,
        match=r"of body 'rod' must satisfy all joints and.*but violate revolute joint pin by 3",
    ):
        zw.read_model(path).simulate(until=0.01)


def turning(speed=3.0):
    m = zw.Mechanism(gravity=(0, -9.81), plane="xy")
    rod = m.body("rod", 1.0, 0.1, position=(0.5, 0.0))
    m.revolute("pin", m.ground, rod, at=(0.0, 0.0))
    m.drive("motor", "pin.angle", lambda t: speed * t)
    return m


def test_a_mechanism_without_a_state_is_put_together_at_the_time_that_is_asked_for():
    m, t = turning(), 0.4
    c, s = np.cos(3.0 * t), np.sin(3.0 * t)
    # The torque of the motor holds the weight at the angle of that time, m g L/2 cos.
    np.testing.assert_allclose(m.solve(t=t).multipliers[-1], 4.905 * c)
    run = m.simulate(until=0.5, start=t, integrator="order8")
    assert run.t[0] == t
    np.testing.assert_allclose(run.body("rod").position[0, :2], [0.5 * c, 0.5 * s], atol=1e-12)
    (one,) = m.simulate_many([m.assemble(t=t)], until=0.5)
    np.testing.assert_array_equal(one.q, run.q)


def test_a_prescribed_speed_at_rest_asks_for_a_direction():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.constraint("speed", [rod], lambda bodies: bodies[0].velocity @ bodies[0].velocity - 4.0)
    # Velocities that satisfy it exist: none is nearest to rest.
    with pytest.raises(zw.AssemblyError, match=r"speed has no slope at these.*velocity=") as error:
        m.simulate(until=0.1)
    assert error.value.group == ("speed",)
    start = m.assemble(velocity={"prefer": {"pin.angle_rate": 1.0}})
    run = m.simulate(start, until=0.5, save=0.1)
    np.testing.assert_allclose(run["pin.angle_rate"], 4.0, rtol=1e-9)
