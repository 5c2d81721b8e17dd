"""Servo constraints along which actuators push: the same motions as with a driver, soon."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import zwang as zw
from analysis.driven_linkages import circles
from zwang.analysis.derivative_array import DerivativeArray, columns_of
from zwang.analysis.direct_program import DirectProgram
from zwang.analysis.loose_motions import loose_names
from zwang.analysis.quantities import quantity
from zwang.analysis.servo import ServoSolution

#: Runs and solutions agree to the tolerances of both, 1e-12 and 1e-12, which motions enlarge.
AGREE = 1e-8
#: The same of a rod that swings for 20 s.
SWUNG = 1e-9
#: Times at which the derivative array may be solved: the diagnosis takes a dozen.
FEW = 40


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Solutions of the derivative array took minutes where there was one for each stage."""
    solved, newton = [], DerivativeArray._newton

    def counted(*given):
        solved.append(1)
        assert len(solved) < FEW, "the derivative array is solved again and again"
        return newton(*given)

    monkeypatch.setattr(DerivativeArray, "_newton", counted)


class Units(NamedTuple):
    """Numbers of a metre, a kilogram and a second in the units in which a model is written."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def inertia(self) -> float:
        """Number of a kg m²."""
        return self.mass * self.length**2

    @property
    def g(self) -> float:
        """Standard gravity."""
        return 9.81 * self.length / self.time**2

    @property
    def force(self) -> float:
        """Number of a newton."""
        return self.mass * self.length / self.time**2


SI = Units()
#: Millimetres, micrometres, grams, tonnes, milliseconds; a metre in light microscopy and surveying.
UNITS = [
    SI,
    Units(length=1e3),
    Units(length=1e-3),
    Units(length=3e-6),
    Units(length=1e6),
    Units(mass=1e3),
    Units(mass=1e-6),
    Units(time=10.0),
    Units(time=0.1),
    Units(1e-4, 1e-3, 0.3),
]


def pendulum_on_a_cart(links=(0.5,), unit=SI) -> zw.Mechanism:
    """A cart on a rail with rods that hang from each other."""
    m = zw.Mechanism(plane="xz", gravity=(0, -unit.g))
    below = m.body("cart", mass=unit.mass, inertia=0.1 * unit.inertia)
    m.prismatic("rail", m.ground, below, at=(0, 0), axis="x")
    z = 0.0
    for i, link in enumerate(links):
        length = link * unit.length
        inertia = zw.inertia.rod(mass=0.2 * unit.mass, length=length, axis="z")
        rod = m.body(f"rod{i}", inertia=inertia, position=(0, z - length / 2))
        m.revolute(f"pin{i}", below, rod, at=(0, z))
        below, z = rod, z - length
    return m


@pytest.mark.parametrize("links", [(0.5,), (0.4, 0.3)])
@pytest.mark.parametrize("way", ["from rest", "from a moving start"])
def test_a_pushed_cart_moves_as_one_with_a_driver(links, way):
    moves_as_driven(links, way, SI)


@pytest.mark.parametrize("unit", UNITS[1:])
def test_a_pushed_cart_moves_as_one_with_a_driver_in_any_units(unit):
    moves_as_driven((0.5,), "from a moving start", unit)


def moves_as_driven(links, way, unit):
    """Compare a servo with a driver that does the same."""

    def f(t):
        s = t / unit.time
        return unit.length * (
            0.3 * np.sin(5.0 * s) ** 4 if way == "from rest" else 0.2 * np.sin(3.0 * s)
        )

    t = np.linspace(0.0, unit.time, 41)
    servo = pendulum_on_a_cart(links, unit).servo({"rail.displacement": f}, ["rail.displacement"])
    solution = servo.solve(t)
    assert solution.how == "initial value problem"
    driven = pendulum_on_a_cart(links, unit)
    driven.drive("jack", "rail.displacement", f)
    run = driven.simulate(until=unit.time, save=t[1] - t[0], tolerance=1e-12)
    for i in range(len(links)):
        np.testing.assert_allclose(solution[f"pin{i}.angle"], run[f"pin{i}.angle"], atol=AGREE)
    effort = solution.effort["rail.displacement"] / unit.force
    np.testing.assert_allclose(effort, run["jack.effort"] / unit.force, atol=100 * AGREE)


def rod_in_functions(unit=1.0, factor=1.0) -> zw.System:
    """A car on x, and a mass at (y, z) that a rod of half a unit hangs from it."""
    return zw.System(
        ["x", "y", "z"],
        mass=lambda: np.diag([1.0, 0.2, 0.2]),
        force=lambda: [0.0, 0.0, -0.2 * 9.81 * unit],
        constraints={
            "rod": lambda q: factor * ((q[1] - q[0]) ** 2 + q[2] ** 2 - (0.5 * unit) ** 2)
        },
    )


def swung(unit=1.0, factor=1.0) -> ServoSolution:
    """The mass after the car has moved forth and back for 20 s."""
    return (
        rod_in_functions(unit, factor)
        .servo(
            {"x": lambda t: 0.1 * unit * np.sin(2.0 * t) ** 4},
            ["x"],
            start={"x": 0.0, "y": 0.0, "z": -0.5 * unit},
        )
        .solve(np.array([0.0, 10.0, 20.0]))
    )


@pytest.mark.parametrize("unit", [1e9, 1e3, 1e-3, 1e-9, 1e-12])
def test_errors_of_a_motion_do_not_depend_on_the_unit_of_length(unit):
    """An absolute error was allowed, which is all of the motion where a unit is large."""
    found, wanted = swung(unit), swung()
    np.testing.assert_allclose(found["y"] / unit, wanted["y"], atol=SWUNG)
    np.testing.assert_allclose(found.effort["x"] / unit, wanted.effort["x"], atol=100 * SWUNG)


@pytest.mark.parametrize("factor", [1e-12, 1e-7, 1e7, 1e12, 1e20])
def test_a_constraint_may_be_written_with_any_factor(factor):
    """Residuals beside one, and no scaling of rows by more, refused it as out of reach."""
    found, wanted = swung(factor=factor), swung()
    np.testing.assert_allclose(found["y"], wanted["y"], atol=SWUNG)
    np.testing.assert_allclose(found.effort["x"], wanted.effort["x"], atol=100 * SWUNG)


def pole_on_a_cart(unit=SI) -> zw.Mechanism:
    """A cart on a rail with a rod that stands on it."""
    m = zw.Mechanism(plane="xz", gravity=(0, -unit.g))
    cart = m.body("cart", mass=unit.mass, inertia=0.1 * unit.inertia)
    rod = zw.inertia.rod(mass=0.2 * unit.mass, length=0.5 * unit.length, axis="z")
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    pole = m.body("pole", inertia=rod, position=(0, 0.25 * unit.length))
    m.revolute("pin", cart, pole, at=(0, 0))
    return m


@pytest.mark.parametrize(
    "unit", [SI, Units(length=1e3), Units(1e-5, 1e-3, 1.0), Units(time=0.1), Units(time=10.0)]
)
def test_a_standing_pole_leans_before_its_cart_moves(unit):
    """Unstable: the bounded motion, which a driven cart continues from any of its states.

    Steps to rest were bounded by 0.3 of a unit, and derivatives were differences over 1e-6 of one.
    """
    m = pole_on_a_cart(unit)

    def f(t):
        s = t / unit.time
        s = zw.where(s < 0.0, 0.0, zw.where(s > 1.0, 1.0, s))
        smooth = 126 * s**5 - 420 * s**6 + 540 * s**7 - 315 * s**8 + 70 * s**9
        return 0.1 * unit.length * smooth

    solution = m.servo({"rail.displacement": f}, ["rail.displacement"]).solve(
        np.linspace(-1.5, 2.5, 81) * unit.time
    )
    assert solution.how == "boundary value problem"
    angle = solution["pin.angle"]
    assert np.abs(angle[[0, -1]]).max() < 1e-4 < np.abs(angle[29])
    m.drive("jack", "rail.displacement", f)
    part = slice(30, 41)
    t = solution.t[part]
    state = zw.State(solution.q[30], solution.v[30], t[0])
    run = m.simulate(state, start=t[0], until=t[-1], save=t[1] - t[0], tolerance=1e-12)
    np.testing.assert_allclose(angle[part], run["pin.angle"], atol=1e-6)
    effort = solution.effort["rail.displacement"][part]
    np.testing.assert_allclose(effort / unit.force, run["jack.effort"] / unit.force, atol=1e-5)


def test_a_double_zero_is_shown_as_zero():
    """The cart may drift: ±0.0001867 was the root of what rounding left."""
    facts = pole_on_a_cart().servo({"pin.angle": lambda t: 0.0 * t}, ["rail.displacement"])
    np.testing.assert_array_equal(facts.realizability.internal_eigenvalues, [0.0, 0.0])
    assert facts.realizability.internal == "marginal"
    assert str(facts).endswith("internal dynamics marginal, eigenvalues 0, 0")


def test_a_cart_is_pushed_through_its_pendulum():
    """The effort acts at the pin, the program is the cart's: forces along B, not along C."""
    from scipy.integrate import solve_ivp

    M, m, r, J, g = 1.0, 0.2, 0.25, 0.2 * 0.25 / 3.0, 9.81
    system = zw.System(
        ["x", "a"],
        mass=lambda q: [[M + m, m * r * np.cos(q[1])], [m * r * np.cos(q[1]), J]],
        force=lambda q, v: [m * r * np.sin(q[1]) * v[1] ** 2, -m * g * r * np.sin(q[1])],
    )
    t = np.linspace(0.0, 0.3, 16)

    def f(t):
        return 0.05 * t**4

    servo = system.servo({"x": f}, actuators=["a"], start={"x": 0.0, "a": 0.5})
    assert servo.realizability.rank == 1
    solution = servo.solve(t, start=zw.State(np.array([0.0, 0.5]), np.zeros(2)))

    def angle(s, y):
        a, w = y  # the first row without effort gives ä
        return [w, (m * r * np.sin(a) * w**2 - (M + m) * 0.6 * s**2) / (m * r * np.cos(a))]

    own = solve_ivp(angle, (0.0, 0.3), [0.5, 0.0], "DOP853", t, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(solution["a"], own.y[0], atol=1e-9)
    np.testing.assert_allclose(solution["x"], f(t), atol=1e-13)
    a = own.y[0]
    bend = np.array([angle(s, y)[1] for s, y in zip(t, own.y.T, strict=True)])
    needed = m * r * np.cos(a) * 0.6 * t**2 + J * bend + m * g * r * np.sin(a)
    np.testing.assert_allclose(solution.effort["a"], needed, atol=1e-8)


@pytest.mark.parametrize(("cart", "rod", "inertia"), [(1e3, 1e-6, 1e-10 / 12), (1.0, 1e-12, 1e-20)])
def test_a_light_rod_beside_a_heavy_cart_is_not_loose(cart, rod, inertia):
    """Its inertia is small beside that of the cart, and all that resists its motion."""
    m = zw.Mechanism(plane="xz")
    car = m.body("cart", mass=cart, inertia=0.1 * cart)
    m.prismatic("rail", m.ground, car, at=(0, 0), axis="x")
    hanging = m.body("rod", mass=rod, inertia=inertia, position=(0, -1.0))
    m.revolute("pin", car, hanging, at=(0, 0))
    system = m.system
    rail = quantity(system, "rail.displacement")
    B = columns_of(system, (rail,))
    z = np.concatenate([system.assemble().q, np.zeros(len(system.velocities))])
    assert loose_names(system, (rail,), B, z, 0.0, system.parameter_vector(None)) == ()


def five_bar(*, tool: bool = False) -> zw.Mechanism:
    """Two cranks that meet by two rods; perhaps with a tool without inertia on a pin there."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    A, E, P = np.array([0.0, 0.0]), np.array([0.3, 0.0]), np.array([0.15, 0.45])
    B = circles(A, 0.3, P, 0.4, 1.0)
    C = circles(E, 0.3, P, 0.4, -1.0)

    def bar(name, a, b, mass):
        d = b - a
        inertia = zw.inertia.rod(mass, float(np.linalg.norm(d)), axis="x")
        return m.body(name, inertia=inertia, position=(a + b) / 2, angle=np.arctan2(d[1], d[0]))

    left, right = bar("left", A, B, 0.5), bar("right", E, C, 0.5)
    far_left, far_right = bar("far_left", B, P, 0.4), bar("far_right", C, P, 0.4)
    m.revolute("A", m.ground, left, at=A)
    m.revolute("B", left, far_left, at=B)
    m.revolute("E", m.ground, right, at=E)
    m.revolute("C", right, far_right, at=C)
    m.revolute("P", far_left, far_right, at=P)
    if tool:
        m.revolute("wrist", far_left, m.body("tool", mass=0.2, inertia=0.0, position=P), at=P)
    return m


def test_efforts_of_a_five_bar_are_those_of_inverse_dynamics():
    path = {
        "P.angle": lambda t: 0.2 * np.sin(np.pi * t),
        "A.angle": lambda t: 0.1 * (1.0 - np.cos(np.pi * t)),
    }
    t = np.linspace(0.0, 2.0, 101)
    actuators = ["A.angle", "E.angle"]
    solution = five_bar().servo(path, actuators).solve(t)
    assert solution.how == "differentiation"
    inverse = five_bar().inverse_dynamics((t, path), actuators)
    for name in actuators:
        np.testing.assert_allclose(solution.effort[name], inverse.effort[name], atol=1e-11)
    np.testing.assert_allclose(solution.q, inverse.motion.q, atol=1e-12)


def arm(unit=SI) -> zw.Mechanism:
    """Two links with a tip at the end of the second."""
    m, inertia = zw.Mechanism(plane="xy"), 0.1 * unit.inertia
    L = unit.length
    one = m.body("one", mass=unit.mass, inertia=inertia, position=(0.5 * L, 0.0))
    two = m.body("two", mass=unit.mass, inertia=inertia, position=(L, 0.5 * L), angle=np.pi / 2)
    m.revolute("shoulder", m.ground, one, at=(0, 0))
    m.revolute("elbow", one, two, at=(L, 0))
    tip = m.body("tip", mass=0.1 * unit.mass, inertia=0.1 * inertia, position=(L, L))
    m.fixed("f", two, tip, at=(L, L))
    return m


def tip_path(unit=SI):
    """Of the tip, inward and past the base."""
    return {
        "tip.position.x": lambda t: unit.length * (1.0 - 1.5 * (t / unit.time) ** 2),
        "tip.position.y": lambda t: unit.length * (1.0 + 0.1 * (t / unit.time) ** 2),
    }


@pytest.mark.parametrize("unit", [*UNITS, Units(length=1e5), Units(length=1e-5)])
def test_an_arm_is_followed_in_as_many_steps_in_any_units(unit, monkeypatch):
    """Corrections were compared with a tenth of a unit: 94 s where a metre was 1e5 of it."""
    actuators = ["shoulder.angle", "elbow.angle"]
    inverse = arm().inverse_dynamics((np.linspace(0.0, 1.0, 3), tip_path()), actuators)
    steps, followed = [], DirectProgram.followed

    def counted(*given):
        steps.append(1)
        return followed(*given)

    monkeypatch.setattr(DirectProgram, "followed", counted)
    arm().servo(tip_path(), actuators).solve(np.linspace(0.0, 1.0, 3))
    needed = len(steps)
    found = arm(unit).servo(tip_path(unit), actuators).solve(np.linspace(0.0, unit.time, 3))
    assert len(steps) == 2 * needed
    assert needed > 3  # further steps between the times
    moment = unit.inertia / unit.time**2
    for name in actuators:
        np.testing.assert_allclose(found.effort[name] / moment, inverse.effort[name], atol=1e-9)


def test_a_program_that_leaves_the_reach_is_refused_with_the_time():
    servo = arm().servo(
        {"tip.position.x": lambda t: 1.0 + 0.0 * t, "tip.position.y": lambda t: 1.0 + t},
        actuators=["shoulder.angle", "elbow.angle"],
    )
    with pytest.raises(zw.ZwangError) as error:  # the tip is 2 away at √3 − 1
        servo.solve(np.linspace(0.0, 1.0, 41))
    assert f"t = {np.sqrt(3.0) - 1.0:.4g}"[:9] in str(error.value)
    assert "but leaves its reach" in str(error.value)


def test_a_tool_that_nothing_turns_is_named_at_once(monkeypatch):
    servo = five_bar(tool=True).servo(
        {
            "tool.position.x": lambda t: 0.15 + 0.05 * np.sin(t),
            "tool.position.y": lambda t: 0.45 + 0.04 * t**2,
        },
        actuators=["A.angle", "E.angle"],
    )

    def refused(*_):
        raise AssertionError("the equations are differentiated")

    monkeypatch.setattr(DerivativeArray, "_newton", refused)
    facts = servo.realizability
    assert facts.index is None
    assert facts.loose == ("tool",)
    assert "nothing determines a motion of tool, which" in str(facts)
    with pytest.raises(zw.ZwangError, match="nothing determines a motion of tool"):
        servo.solve([0.0, 1.0])


def test_a_program_through_a_dead_position_is_refused_soon():
    """Where x = 1 the mass can go no further; scaled otherwise, steps had crept there for long."""
    system = zw.System(
        ["x", "y", "z"],
        mass=lambda: np.eye(3),
        force=lambda q: [0.0, 0.0, -q[2]],
        constraints={"circle": lambda q: q[0] ** 2 + q[1] ** 2 - 1.0},
    )
    start = {"x": 0.5, "y": np.sqrt(0.75), "z": 1.0}
    servo = system.servo({"x": lambda t: 0.5 + t}, ["x"], start=start)
    with pytest.raises(zw.ZwangError, match=r"cannot be followed beyond t = 0\.5: "):
        servo.solve(np.linspace(0.0, 1.0, 5))
