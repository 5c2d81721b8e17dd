"""Mechanisms of nanometers and of planets: motion and forces are those of one of meters, scaled."""

import numpy as np
import pytest

import zwang as zw

#: Length [m], mass [kg] and time [s] in which a four-bar moves as one of 1 m, 1 kg and 1 s does.
SIZES = [
    (1e-9, 1e-24, 1e-9),
    (1e-6, 1e-15, 1e-6),
    (1e-3, 1e3, 1e3),
    (1e5, 1.0, 300.0),
    (1e8, 1.0, 1e4),
    (1e9, 1e24, 1e4),
]
#: Coordinates of joints and of bodies take other steps; both to 1e-9 of a tolerance, and forces
#: divide what is left by the square of a step.
PLACES, FORCES = 1e-7, 1e-5


def four_bar(length, mass, time, *, planar):
    g = 9.81 * length / time**2
    m = zw.Mechanism(gravity=(0, 0, -g), **({"plane": "xz"} if planar else {}))
    points = length * np.array([(0, 0, 0), (0.3, 0, 0.4), (1.1, 0, 0.9), (1.0, 0, 0)])
    last = m.ground
    for k in range(3):
        a, b = points[k], points[k + 1]
        rod = zw.inertia.rod(mass * (1 + k), float(np.linalg.norm(b - a)), axis=b - a)
        body = m.body(f"b{k}", inertia=rod, position=(a + b) / 2)
        m.revolute(f"pin{k}", last, body, at=a, axis="y")
        last = body
    m.revolute("pin3", last, m.ground, at=points[3], axis="y")
    return m


def motion(length, mass, time, *, planar, coordinates):
    m = four_bar(length, mass, time, planar=planar)
    run = m.simulate(until=2 * time, save=0.5 * time, coordinates=coordinates)
    places = run.body("b1").position / length
    return run, places, run.reaction("pin3").force / (mass * length / time**2)


@pytest.fixture(scope="module")
def of_meters():
    return motion(1.0, 1.0, 1.0, planar=True, coordinates="absolute")


@pytest.mark.parametrize("coordinates", ["auto", "absolute"])
@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]:g} m")
def test_motion_and_forces_of_any_size(size, planar, coordinates, of_meters):
    run, places, forces = motion(*size, planar=planar, coordinates=coordinates)
    assert run.finished, run.status
    _, expected, of_pin = of_meters
    assert np.abs(places - expected).max() < PLACES
    assert np.abs(forces - of_pin).max() < FORCES * np.abs(of_pin).max()
    if coordinates == "auto":  # no size makes one of them impossible
        assert "integrated in joint coordinates" in run.notes


def ladder(length, *, hinged):
    """A rod that slides along a wall and a floor, pushed along the floor; a hinge would hold it."""
    start = np.pi / 6
    along = 0.5 * length * np.array([np.cos(start), np.sin(start)])
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81 * length))
    shape = zw.inertia.rod(2.0, length, axis="x")
    rod = m.body("rod", inertia=shape, position=tuple(along), angle=-start)
    ends = [rod.marker((side * 0.5 * length, 0)) for side in (-1, 1)]
    m.point_on_line("wall", m.ground, rod, at=((0, 0), ends[0]), axis="y")
    m.point_on_line("rail", m.ground, rod, at=((0, 0), ends[1]), axis="x")
    m.drive("push", "rail.displacement", lambda t: length * (np.cos(start) + 0.1 * t**3))
    if hinged:
        m.revolute("extra", m.ground, rod, at=(length * np.cos(start), 0))
    return m


@pytest.mark.parametrize("save", [0.01, None], ids=["between steps", "at steps"])
@pytest.mark.parametrize("length", [1e-6, 1e-5, 1e-3, 1.0])
def test_contradictions_that_come_later_are_found_at_any_size(length, save):
    """A micrometer was no miss: the rod was pushed away from its hinge."""
    assert ladder(length, hinged=False).simulate(until=1.0, save=save).finished
    run = ladder(length, hinged=True).simulate(until=1.0, save=save)
    assert not run.finished
    assert "constraints push and extra[0] contradict each other" in run.status
    assert run.t[-1] < 0.3
    assert np.abs(run.q[:, :2] - run.q[0, :2]).max() < 1e-2 * length
