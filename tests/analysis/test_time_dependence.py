"""Rest of what moves: a system held as it stands tells nothing on its stability."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import zwang as zw
from zwang.cli.app import app

GRAVITY = 9.81
MASS, RADIUS, OMEGA = 0.3, 0.7, 4.5
#: Growth rate at the bottom of the hoop: Ω² − g/R = 2.497² s⁻².
GROWTH = np.sqrt(OMEGA**2 - GRAVITY / RADIUS)
HOOP = """
[parameters]
m = 0.3
g = 9.81
R = 0.7
Omega = 4.5
[system]
coordinates = ["x", "y", "z"]
mass = ["m", "m", "m"]
potential = "m*g*z"
[constraint.hoop]
position = "x^2+y^2+z^2-R^2"
[constraint.plane]
position = "y*cos(Omega*t)-x*sin(Omega*t)"
[start]
hold = { x = 0.0 }
near = { z = -0.7 }
"""


def hoop(**further):
    """A bead on a hoop whose plane turns, in Cartesian coordinates."""
    return zw.System(
        ["x", "y", "z"],
        parameters={"m": MASS, "g": GRAVITY, "R": RADIUS, "Omega": OMEGA},
        mass=lambda p: p.m * np.eye(3),
        potential=lambda q, p: p.m * p.g * q[2],
        constraints={
            "hoop": zw.position(lambda q, p: q @ q - p.R**2),
            "plane": zw.position(
                lambda q, t, p: q[1] * np.cos(p.Omega * t) - q[0] * np.sin(p.Omega * t)
            ),
        },
        **further,
    )


def test_the_bottom_of_a_turning_hoop_is_not_called_stable():
    s = hoop()
    rest = s.equilibrium()
    assert rest["z"] == pytest.approx(-RADIUS)
    # The referee: a simulation from next to the bottom leaves it at the rate of the true equations.
    angle = 1e-6
    q = [RADIUS * np.sin(angle), 0.0, -RADIUS * np.cos(angle)]
    v = [0.0, OMEGA * q[0], 0.0]
    run = s.simulate(q, v, until=3.0, tolerance=1e-10)
    far = np.arccos(-run["z"][-1] / RADIUS)
    assert far == pytest.approx(angle * np.cosh(GROWTH * 3.0), rel=1e-3)
    assert rest.stability == "undecided"
    assert any("Constraint 'plane' changes with time" in note for note in rest.notes)
    assert any("in which it is stable" in note for note in rest.notes)
    assert not any("hoop" in note for note in rest.notes)
    assert {one.stability for one in s.equilibria(count=6)} == {"undecided"}


def test_what_is_linear_says_that_it_is_of_one_instant():
    s = hoop()
    lin = s.linearize([0.0, 0.0, -RADIUS], inputs=["x"])
    assert "'plane'" in lin.notes[0]
    assert "this instant alone" in str(lin)
    for refused in (lin.to_control, lambda: lin.frequency_response([1.0]), lin.plot_bode):
        with pytest.raises(zw.NotApplicableError, match="'plane' changes with time"):
            refused()
    locus = s.root_locus("g", [8.0, 9.0], start=[0.0, 0.0, -RADIUS])
    assert "'plane'" in locus.notes[0]
    assert locus.notes[0] in str(locus)


def test_reduced_coordinates_that_are_free_of_time_are_decided():
    def turned(s, t, p):
        across = p.R * np.sin(s[0])
        turn = p.Omega * t
        return [across * np.cos(turn), across * np.sin(turn), -p.R * np.cos(s[0])]

    r = hoop().reduce(["theta"], map=turned, at=[0.1])
    rest = r.equilibrium(start=[0.0])
    assert (rest.stability, rest.notes[1:]) == ("unstable", ())
    assert rest.linearization.eigenvalues.real.max() == pytest.approx(GROWTH, rel=1e-9)
    assert rest.linearization.notes == ()
    up = r.equilibrium(start=[1.0])
    assert np.cos(up["theta"]) == pytest.approx(GRAVITY / OMEGA**2 / RADIUS)
    assert up.stability == "stable"


def test_a_turning_wire_is_told_for_functions_and_mechanisms():
    s = zw.System(
        ["x", "y"],
        parameters={"W": 3.0},
        mass=lambda: np.eye(2),
        potential=lambda q: 2.0 * (q @ q),
        constraints={
            "wire": zw.position(lambda q, t, p: q[1] * np.cos(p.W * t) - q[0] * np.sin(p.W * t))
        },
    )
    run = s.simulate([1e-6, 0.0], [0.0, 3e-6], until=5.0, tolerance=1e-10)
    distance = np.hypot(run["x"][-1], run["y"][-1])
    assert distance == pytest.approx(1e-6 * np.cosh(np.sqrt(5.0) * 5.0), rel=1e-3)
    assert s.equilibrium(start=[0.1, 0.0]).stability == "undecided"
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    bead = m.body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0))
    m.prismatic("x", m.ground, m.body("frame", mass=1.0, inertia=(0.1, 0.1, 0.1)), axis="x")
    m.constraint(
        "wire",
        [bead],
        lambda bodies, t: (
            bodies[0].position[1] * np.cos(3 * t) - bodies[0].position[0] * np.sin(3 * t)
        ),
    )
    m.constraint("plane", [bead], lambda bodies: bodies[0].position[2])
    m.spring_damper("k", m.ground, bead, at=((0, 0, 1), (0, 0, 0)), stiffness=4.0, length=0.0)
    rest = m.equilibrium()
    assert rest.stability == "undecided"
    assert any("Constraint 'wire' changes with time" in note for note in rest.notes)
    lin = m.linearize()
    assert "'wire'" in lin.notes[0]
    assert "'plane'" not in lin.notes[0]


def pendulum(drive, **options):
    """A pendulum below a cart that is driven."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY), **options)
    cart = m.body("cart", mass=2.0, inertia=1.0)
    bob = m.body("bob", mass=0.5, inertia=0.0, position=(0, -1))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, bob, at=(0, 0))
    m.drive("motor", "rail.displacement", drive)
    return m


@pytest.mark.parametrize(
    "drive",
    [0.3, lambda p: 0.3 + 0.0 * p.F, lambda t: 0.0 * t, lambda t: np.cos(t) ** 2 + np.sin(t) ** 2],
    ids=["number", "parameter", "zero of time", "constant in time"],
)
def test_what_is_held_stays_decided(drive):
    rest = pendulum(drive, parameters={"F": 1.0}).equilibrium()
    assert rest.stability == "stable"
    assert not any("t = " in note for note in rest.notes)
    omega = np.sqrt(GRAVITY)
    assert rest.linearization.modes()[0].frequency == pytest.approx(omega, rel=1e-12)
    assert rest.linearization.notes == ()


def test_a_driver_that_stands_still_for_now_is_taken_as_held():
    smooth = pendulum(lambda t: 0.5 * t**3 * (10.0 - 15.0 * t + 6.0 * t**2))
    rest = smooth.equilibrium()
    assert rest.stability == "stable"
    told = "Driver 'motor' stands still at t = 0, and changes at other times: it is taken as held."
    assert told in rest.notes
    assert rest.linearization.notes[0] == told
    rest.linearization.frequency_response([1.0])  # which A has: it does not change now


@pytest.mark.parametrize(
    ("drive", "words"),
    [
        (lambda t: 2.0 * t, "Driver 'motor' moves at t = 0."),
        (lambda t: 0.5 * t**2, "Driver 'motor' is accelerated at t = 0."),
        (lambda t: np.cos(8.0 * t), "Driver 'motor' is accelerated at t = 0."),
    ],
    ids=["rate", "acceleration", "turning point"],
)
def test_a_driver_that_moves_leaves_stability_undecided(drive, words):
    rest = pendulum(drive).equilibrium()
    assert rest.stability == "undecided"
    assert any(note.startswith(words) for note in rest.notes)


def test_a_driver_that_is_an_input_is_none_that_changes():
    m = pendulum(lambda t: 0.5 * t**2)
    assert "'motor'" in m.linearize().notes[0]
    lin = m.linearize(inputs=["motor"])
    assert not any("'motor'" in note for note in lin.notes)


def test_a_driven_hoop_is_decided_as_a_steady_motion():
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY), parameters={"Omega": OMEGA})
    frame = m.body("frame", mass=1.0, inertia=(0.1, 0.1, 0.1))
    bead = m.body("bead", mass=MASS, inertia=(0, 0, 0), position=(0, 0, -RADIUS))
    m.revolute("axle", m.ground, frame, at=(0, 0, 0), axis="z")
    m.revolute("theta", frame, bead, at=(0, 0, 0), axis="y")
    m.drive("motor", "axle.angle", lambda t, p: p.Omega * t)
    assert m.equilibrium().stability == "undecided"
    steady = m.steady_motion({"axle.angle": OMEGA})
    assert steady.stability == "unstable"
    assert steady.linearization.eigenvalues.real.max() == pytest.approx(GROWTH, rel=1e-9)
    assert steady.linearization.notes == ()


def test_a_surface_that_bends_in_time_counts_though_it_passes_through_the_point():
    """A bead in a bowl z = k(t) x²/2: slope and place at the bottom are the same at all times."""
    s = zw.System(
        ["x", "z"],
        mass=np.eye(2),
        potential=lambda q: GRAVITY * q[1],
        constraints={
            "bowl": zw.position(lambda q, t: q[1] - 0.5 * (1.0 - 1.5 * np.sin(t)) * q[0] ** 2)
        },
    )
    rest = s.equilibrium(start=[0.1, 0.0])
    assert rest.stability == "undecided"
    assert any("'bowl' changes with time" in note for note in rest.notes)
    assert "'bowl'" in s.linearize(rest).notes[0]


def test_forces_mass_and_kinematics_that_change_are_named():
    spring = zw.System(["x"], mass=np.eye(1), force=lambda q, t: -(2.0 + np.sin(t)) * q)
    rest = spring.equilibrium()
    assert rest.stability == "undecided"
    assert any(note.startswith("The force changes with time at t = 0.") for note in rest.notes)
    growing = zw.System(["x"], mass=lambda t: np.eye(1) * (2.0 + np.sin(t)), force=lambda q: -q)
    assert any("The mass matrix changes" in note for note in growing.equilibrium().notes)
    later = zw.System(["x"], mass=np.eye(1), force=lambda q, t: zw.where(t > 5.0, 1.0, 0.0) - q)
    rest = later.equilibrium()
    assert rest.stability == "stable"
    assert any("The force stands still at t = 0" in note for note in rest.notes)
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    bob = m.body("bob", mass=0.5, inertia=0.0, position=(0, -1))
    m.revolute("pin", m.ground, bob, at=(0, 0))
    m.force("wind", bob, lambda t: (0.1 * t, 0.0))
    rest = m.equilibrium()
    assert rest.stability == "undecided"
    assert any(note.startswith("Force 'wind' changes with time at t = 0.") for note in rest.notes)
    # An additive force leaves A as it is: responses to inputs are those of any time.
    lin = rest.linearization
    assert "does not stay one" in lin.notes[0]
    assert lin.frequency_response([1.0]).shape == (1, 0, 0)


def blown(wind):
    """A pendulum in wind, f(t)."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    bob = m.body("bob", mass=1.0, inertia=0.1, position=(0, -0.5))
    m.revolute("pin", m.ground, bob, at=(0, 0))
    m.force("wind", bob, lambda t: (wind(t), 0.0))
    return m


def shaken(force):
    """A mass on a spring, pushed by f(t)."""
    return zw.System(["x"], mass=np.eye(1), force=lambda q, t: [force(t) - 9.81 * q[0]])


@pytest.mark.parametrize("make", [blown, shaken])
@pytest.mark.parametrize("size", [1.0, 1e3])
def test_forces_that_cancel_at_all_times_do_not_change(make, size):
    """What is left of them, 1e-13 N, is rounding of what was summed."""

    def none(t):
        return size * np.cos(3.0 * t) + size * np.cos(3.0 * t + np.pi)

    rest = make(none).equilibrium()
    assert rest.stability == "stable"
    assert not any("change" in note for note in rest.notes)
    later = make(lambda t: none(t) + zw.where(t > 3.0, 1.0, 0.0)).equilibrium()
    assert later.stability == "stable"
    assert any("stands still at t = 0" in note for note in later.notes)
    little = make(lambda t: none(t) + 1e-9 * size * np.sin(t)).equilibrium()
    assert little.stability == "undecided"


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6, 1e9, 1e-6])
@pytest.mark.parametrize("springs", [False, True])
def test_the_unit_of_time_decides_nothing(unit, springs):
    """The same motion in other units of time, so many of which are a second."""
    if springs:
        accelerated = zw.System(
            ["x"],
            mass=np.eye(1),
            force=lambda q, v, t: [(3.0 * (t / unit) ** 2 - 4.0 * q[0]) / unit**2],
        )
    else:
        accelerated = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY / unit**2))
        cart = accelerated.body("cart", mass=1.0, inertia=1.0)
        rod = zw.inertia.rod(1.0, 1.0, axis="z")
        bob = accelerated.body("bob", inertia=rod, position=(0, -0.5))
        accelerated.prismatic("rail", accelerated.ground, cart, at=(0, 0), axis="x")
        accelerated.revolute("pin", cart, bob, at=(0, 0))
        accelerated.drive("d", "rail.displacement", lambda t: 3.0 * (t / unit) ** 2)
    assert accelerated.equilibrium().stability == "undecided"


def test_a_force_of_time_that_cannot_be_traced_is_named_too():
    pull = zw.opaque(lambda x: float(np.sin(x[0]) * x[1]), name="pull")
    s = zw.System(["x"], mass=np.eye(1), force=lambda q, t: [pull(t, q[0]) - 2.0 * q[0]])
    rest = s.equilibrium()
    assert rest.stability == "undecided"
    assert any("The force changes" in note for note in rest.notes)


def test_a_path_of_equilibria_is_as_undecided_as_each_of_them():
    s = hoop()
    path = s.load_path("g", [9.0, 10.0], start=[0.0, 0.0, -RADIUS])
    assert set(path.stability) == {"undecided"}


def test_large_mechanisms_name_it_too():
    from zwang.library import chain

    m = chain(110)
    m.drive("motor", "joint1.angle", lambda t: 0.1 * t)
    rest = m.equilibrium()
    assert rest.stability == "undecided"
    assert any("Driver 'motor' moves" in note for note in rest.notes)
    assert "'motor'" in rest.linearization.notes[0]


def test_the_command_line_says_it(tmp_path):
    path = tmp_path / "hoop.toml"
    path.write_text(HOOP)
    told = CliRunner().invoke(app, ["equilibrium", str(path)])
    assert told.exit_code == 0, told.output
    assert "undecided" in told.output
    assert "Constraint 'plane' changes with time" in " ".join(told.output.split())
    as_json = json.loads(CliRunner().invoke(app, ["equilibrium", str(path), "--json"]).output)
    assert as_json["stability"] == "undecided"
    small = CliRunner().invoke(app, ["linearize", str(path)])
    assert "'plane' changes with time" in " ".join(small.output.split())
    small = json.loads(CliRunner().invoke(app, ["linearize", str(path), "--json"]).output)
    assert any("'plane'" in note for note in small["notes"])
