"""Light bodies beside massless and heavy ones: right motion and forces, or a guard that notices."""

import numpy as np
import pytest

import zwang as zw

LENGTH, ANGLE = 0.5, 1.0
#: Relative errors of a motion at tolerance 1e-9, and of forces at rest, which rounding alone makes.
OF_MOTION, OF_FORCES = 1e-8, 1e-10


def trammel(mass):
    """A massless bar on sliders of 1 and 2 kg, with a light rod hung from its middle."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    middle = 0.3 * np.array([np.cos(0.4), np.sin(0.4)])
    bar = m.body("bar", position=middle)
    for k, axis in enumerate("xy"):
        at = np.zeros(2)
        at[k] = 2.0 * middle[k]
        slider = m.body(f"slider{k}", mass=1.0 + k, inertia=0.01, position=at)
        m.prismatic(f"rail{k}", m.ground, slider, at=((0, 0), at), axis=axis)
        m.revolute(f"pin{k}", slider, bar, at=at)
    hangs = middle + LENGTH * np.array([np.sin(ANGLE), -np.cos(ANGLE)])
    rod = m.body("rod", mass=mass, inertia=mass * LENGTH**2 / 3.0, position=hangs)
    m.revolute("hinge", bar, rod, at=middle)
    return m


def cart(mass, *, through_a_rod=False):
    """A light point that swings from a cart of 1 kg, by its own arm or by a massless rod."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    body = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, body, at=(0, 0), axis="x")
    tip = LENGTH * np.array([np.sin(ANGLE), -np.cos(ANGLE)])
    point = m.body("point", inertia=zw.inertia.point(mass), position=tip)
    if through_a_rod:
        rod = m.body("rod", position=tip / 2.0)
        m.revolute("pin", body, rod, at=(0, 0))
        m.fixed("tip", rod, point, at=tip)
    else:
        m.revolute("pin", body, point, at=(0, 0))
    return m


@pytest.mark.parametrize("mass", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_light_rod_on_a_massless_bar_moves_as_the_full_terms_say(mass):
    """The reference solves dense terms in every evaluation and has no mass added anywhere."""
    m = trammel(mass)
    choices = {"until": 0.5, "save": 0.25}
    found, reference = (m.simulate(**choices, formulation=how) for how in ("auto", "saddle_point"))
    assert found.finished
    np.testing.assert_allclose(found.q, reference.q, rtol=0, atol=OF_MOTION)


@pytest.mark.parametrize("coordinates", ["auto", "absolute"])
@pytest.mark.parametrize("mass", [1e-2, 1e-6, 1e-10, 1e-12])
def test_a_light_point_and_the_force_that_holds_it(mass, coordinates):
    """At rest T = e (g cos θ − ẍ sin θ), with ẍ = e g sin θ cos θ/(1 + e sin²θ) of the cart."""
    run = cart(mass).simulate(until=0.2, save=0.1, coordinates=coordinates)
    sine, cosine = np.sin(ANGLE), np.cos(ANGLE)
    of_cart = mass * 9.81 * sine * cosine / (1.0 + mass * sine**2)
    tension = mass * (9.81 * cosine - of_cart * sine)
    assert run.finished
    assert run["pin.force.magnitude"][0] == pytest.approx(tension, rel=OF_FORCES)
    down = tension * cosine / mass - 9.81
    assert run["point.acceleration"][0, 2] == pytest.approx(down, rel=OF_FORCES)


@pytest.mark.parametrize("mass", [1e-6, 1e-8])
def test_the_guard_notices_accelerations_of_a_light_point_that_are_off(mass):
    """A massless rod gets a part of the mean mass, in absolute coordinates, which outweighs what
    hangs on it: the part of the forces that this is of is far below all limits for forces.
    """
    m = cart(mass, through_a_rod=True)
    run = m.simulate(until=0.2, coordinates="absolute")
    assert not run.finished
    assert run.status.startswith("stopped by a check")
    right = m.simulate(until=0.2, save=0.1)
    alone = cart(mass).simulate(until=0.2, save=0.1)
    assert right.finished
    np.testing.assert_allclose(right["point.x"], alone["point.x"], rtol=0, atol=OF_MOTION)


def toggle(handle=0.0):
    """A toggle of two bars of 10 cm, the second without mass, whose knee is pushed flat."""
    angle = np.radians(20.0)
    knee, jaw_at = 0.1 * np.array([np.cos(angle), np.sin(angle)]), (0.2 * np.cos(angle), 0.0)
    m = zw.Mechanism(plane="xy")
    first = m.body("handle", mass=handle, inertia=1e-3 * handle, angle=angle)
    link = m.body("link", position=(1.5 * knee[0], 0.5 * knee[1]), angle=-angle)
    jaw = m.body("jaw", mass=0.2, inertia=1e-5, position=jaw_at)
    m.revolute("A", m.ground, first, at=(0, 0))
    m.revolute("knee", first, link, at=knee)
    m.revolute("B", link, jaw, at=jaw_at)
    m.prismatic("guide", m.ground, jaw, at=((0, 0), jaw_at), axis="x")
    m.drive("hand", "A.angle", lambda t: -0.45 * t**3 * (10 - 15 * t + 6 * t**2))
    return m


@pytest.mark.parametrize("handle", [0.0, 0.1])
@pytest.mark.parametrize("integrator", ["gauss", "order8"])
def test_small_pivots_of_massless_bars_are_no_singular_position(handle, integrator):
    """Both bars in line are a dead point of the jaw alone: the rows keep their rank all the way."""
    m = toggle(handle)
    run = m.simulate(until=1.0, integrator=integrator, on_singular="stop")
    assert run.finished
    assert run.ranks == ()
