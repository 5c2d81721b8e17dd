"""Efforts of actuators against Newton–Euler, closed forms and the forward dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from analysis.driven_linkages import circles, four_bar
from analysis.random_mechanisms import Wish, wish
from analysis.robots import Delta, Stewart
from zwang.analysis.actuators import actuators_of
from zwang.analysis.given_motion import GivenMotion
from zwang.analysis.inverse_dynamics import efforts

#: Efforts up to a hundred newtons, from sums of as much.
ROUNDING = 1e-10
#: Forward dynamics of what inverse dynamics gave, relative to the accelerations; the condition of
#: mass matrices and constraints at random takes a few digits.
PROJECTED = 1e-10


def close(found, expected, tolerance=ROUNDING):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


# --- robots ---------------------------------------------------------------------------------------


def test_stewart_platform_with_heavy_legs():
    robot = Stewart()
    k = robot.mechanism(driven=True).kinematics(times=np.linspace(0.0, 1.0, 41))
    names = [f"leg{i}.displacement" for i in range(6)]
    m = robot.mechanism()
    inv = m.inverse_dynamics(k, names)
    expected = np.array([robot.efforts(t) for t in k.t])
    close(np.array(list(inv.effort.values())).T, expected)
    assert inv.unreachable == {}
    assert all(Z.shape == (6, 0) for Z in inv.family)
    # Power of the motors is the rate of energy.
    T, V = m.system.energy(k.q, k.v)
    assert V is not None
    inner = np.gradient(T + V, k.t)[2:-2]
    np.testing.assert_allclose(sum(inv.power.values())[2:-2], inner, atol=0.6)


def test_compiled_and_dense_efforts_agree(monkeypatch):
    robot = Stewart()
    k = robot.mechanism(driven=True).kinematics(times=np.linspace(0.0, 1.0, 9))
    names = [f"leg{i}.displacement" for i in range(6)]
    dense = robot.mechanism().inverse_dynamics(k, names)
    monkeypatch.setattr("zwang.analysis.effort_kernel.WORTHWHILE", 0)
    compiled = robot.mechanism().inverse_dynamics(k, names)
    for name in names:
        close(compiled.effort[name], dense.effort[name])


def test_delta_robot():
    robot = Delta()

    def place(t):
        return [0.1 * np.sin(2 * t), 0.08 * np.sin(3 * t), robot.depth + 0.05 * (1 - np.cos(t))]

    t = np.linspace(0.0, 1.5, 16)
    inv = robot.mechanism().inverse_dynamics(
        (t, {"plate.position": place}), [f"motor{i}.angle" for i in range(3)]
    )
    p = np.stack(place(t), axis=1)
    v = np.stack([0.2 * np.cos(2 * t), 0.24 * np.cos(3 * t), 0.05 * np.sin(t)], axis=1)
    a = np.stack([-0.4 * np.sin(2 * t), -0.72 * np.sin(3 * t), 0.05 * np.cos(t)], axis=1)
    expected = np.array([robot.efforts(*x) for x in zip(p, v, a, strict=True)])
    close(np.array(list(inv.effort.values())).T, expected)


# --- ways to give a motion ------------------------------------------------------------------------


def _pendulum(**more) -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -10.0), **more)
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m


def test_functions_samples_runs_and_kinematics_agree():
    t = np.linspace(0.0, 2.0, 101)
    angle = np.sin(t)
    expected = -np.sin(t) / 3.0 - 5.0 * np.cos(angle)
    m = _pendulum()
    by_function = m.inverse_dynamics((t, {"pin.angle": np.sin}), ["pin.angle"])
    close(by_function.effort["pin.angle"], expected, 1e-12)
    by_samples = m.inverse_dynamics((t, {"pin.angle": angle}), ["pin.angle"])
    close(by_samples.effort["pin.angle"], expected, 1e-6)  # of the spline's second derivative
    driven = _pendulum()
    driven.drive("motor", "pin.angle", lambda t: 1.0 * np.sin(t))
    by_kinematics = m.inverse_dynamics(driven.kinematics(times=t), ["pin.angle"])
    close(by_kinematics.effort["pin.angle"], expected, 1e-12)
    run = driven.simulate(until=2.0, save=t)
    by_run = m.inverse_dynamics(run, ["pin.angle"])
    close(by_run.effort["pin.angle"], expected, 1e-10)
    # The driver of the mechanism itself is let go where an actuator takes its place.
    own = driven.inverse_dynamics(run, ["motor"])
    close(own.effort["motor"], expected, 1e-10)
    close(run.reaction("motor").moment[:, 1], expected, 1e-10)
    close(by_function.reaction("pin").force, run.reaction("pin").force, 1e-9)


def test_figures_of_a_motor():
    t = np.linspace(0.0, 2.0 * np.pi, 2001)
    inv = zw.Mechanism(gravity=(0, 0, 0))
    disk = inv.body("disk", inertia=(1.0, 1.0, 2.0), mass=1.0)
    inv.revolute("axle", inv.ground, disk, at=(0, 0, 0), axis="z")
    found = inv.inverse_dynamics((t, {"axle.angle": np.sin}), ["axle.angle"])
    close(found.peak["axle.angle"], 2.0, 1e-5)
    close(found.rms["axle.angle"], np.sqrt(2.0), 1e-9)
    close(found.power["axle.angle"], -np.sin(2.0 * t), 1e-9)
    curve = found.torque_speed("axle.angle")
    speeds, most = curve.envelope(5)
    close(most, 2.0 * np.sqrt(1.0 - speeds**2), 1e-2)  # an ellipse
    assert not curve.outside(lambda w: 2.1 - 0.0 * w).any()
    assert curve.outside(1.0).any()
    assert "peak effort" in str(found)


def test_torque_free_motions_need_no_torque():
    m = four_bar_with_masses()
    run = m.simulate(m.assemble(velocity={"hold": {"A.angle_rate": 2.0}}), until=1.0, save=0.1)
    inv = m.inverse_dynamics(run, ["A.angle"])
    close(inv.effort["A.angle"], 0.0, 1e-9)
    assert inv.unreachable == {}


def four_bar_with_masses() -> zw.Mechanism:
    from analysis.driven_linkages import circles

    a, b, c, d, angle = 1.0, 3.0, 2.5, 3.2, 0.7
    B = a * np.array([np.cos(angle), np.sin(angle)])
    D = np.array([d, 0.0])
    C = circles(B, b, D, c, 1.0)
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    places = [(0.5 * B, a, B), (0.5 * (B + C), b, C - B), (0.5 * (C + D), c, C - D)]
    bodies = [
        m.body(
            f"link{i}",
            mass=length,
            inertia=length**3 / 12.0,
            position=p,
            angle=np.arctan2(way[1], way[0]),
        )
        for i, (p, length, way) in enumerate(places)
    ]
    m.revolute("A", m.ground, bodies[0], at=(0, 0))
    m.revolute("B", bodies[0], bodies[1], at=B)
    m.revolute("C", bodies[1], bodies[2], at=C)
    m.revolute("D", bodies[2], m.ground, at=D)
    return m


# --- more and fewer actuators than freedoms -------------------------------------------------------


def test_two_motors_on_one_freedom_share_by_rule():
    m = four_bar_with_masses()
    t = np.linspace(0.0, 1.0, 6)
    motion = (t, {"A.angle": lambda t: 0.5 * t**2})
    alone = m.inverse_dynamics(motion, ["A.angle"])
    k = m.kinematics(along=("A.angle", 0.5 * t**2))
    ratio = k.velocity_ratio("D.angle")
    for rule, weights in (
        ("least norm", None),
        ("weights", {"A.angle": 4.0}),
        ("smallest maximum", None),
    ):
        both = m.inverse_dynamics(motion, ["A.angle", "D.angle"], rule=rule, weights=weights)
        first, second = both.effort.values()
        # By the power balance τ_A + ratio τ_D is the same for all.
        close(first + ratio * second, alone.effort["A.angle"], 1e-9)
        total = alone.effort["A.angle"]
        if rule == "least norm":
            close(first, total / (1.0 + ratio**2), 1e-9)
        elif rule == "weights":
            close(first, total / (1.0 + 4.0 * ratio**2), 1e-9)
        else:
            close(np.abs(first), np.abs(total) / (1.0 + np.abs(ratio)), 1e-9)
            close(np.abs(first), np.abs(second), 1e-9)
        assert both.family[0].shape == (2, 1)
        close(both.family[0][0] + ratio[0] * both.family[0][1], 0.0, 1e-9)


def test_what_an_arm_with_a_passive_joint_cannot_do_is_named():
    m = zw.Mechanism(plane="xy")
    one = m.body("one", mass=1.0, inertia=0.1, position=(0.5, 0))
    two = m.body("two", mass=1.0, inertia=0.1, position=(1.5, 0))
    m.revolute("shoulder", m.ground, one, at=(0, 0))
    m.revolute("elbow", one, two, at=(1, 0))
    motion = (
        [0.0, 0.1, 0.2, 0.3],
        {"shoulder.angle": lambda t: t**2, "elbow.angle": lambda t: 0 * t},
    )
    inv = m.inverse_dynamics(motion, ["shoulder.angle"])
    assert set(inv.unreachable) == {"elbow.angle"}
    assert "not reached: elbow.angle" in str(inv)
    full = m.inverse_dynamics(motion, ["shoulder.angle", "elbow.angle"])
    assert full.unreachable == {}
    # Under the efforts, the motion is the one that is reported.
    _forward(m, inv)


def test_reactions_that_change_with_the_rule_are_not_determinate():
    corners = {"A": (0, 0), "B": (-0.2, 0.4), "C": (0.3, 0.9), "D": (0.8, 0.4), "E": (0.6, 0)}
    places = {name: np.array(at, dtype=float) for name, at in corners.items()}
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    bars = []
    for a, b in zip("ABCD", "BCDE", strict=True):
        middle = 0.5 * (places[a] + places[b])
        bars.append(m.body(a.lower() + b.lower(), mass=1.0, inertia=0.02, position=middle))
    follower = m.body("follower", mass=0.5, inertia=0.01, position=(0.0, 2.0))
    m.revolute("apart", m.ground, follower, at=(0.1, 2.0))
    for name, one, other in zip("ABCDE", [m.ground, *bars], [*bars, m.ground], strict=True):
        m.revolute(name, one, other, at=places[name])
    t = np.linspace(0.0, 1.0, 11)
    motion = {"A.angle": 0.3 * np.sin(2 * t), "E.angle": -0.2 * np.sin(3 * t)}
    motion["apart.angle"] = 0.4 * t**2
    enough = ["A.angle", "E.angle", "apart.angle"]
    assert m.inverse_dynamics((t, motion), enough).reaction("C").determinate.all()
    one, other = (
        m.inverse_dynamics((t, motion), [*enough, "C.angle"], rule=rule)
        for rule in ("least norm", "smallest maximum")
    )
    for name in "ABCDE":
        assert np.abs(one.reaction(name).force - other.reaction(name).force).max() > 0.1
        assert not one.reaction(name).determinate.any()
    assert np.allclose(one.reaction("apart").force, other.reaction("apart").force)
    assert one.reaction("apart").determinate.all()


def _forward(m: zw.Mechanism, inv) -> None:
    system = m.system
    for i, t in enumerate(inv.t):
        at = GivenMotion(*(x[i : i + 1] for x in inv.motion[:4]))
        B, _ = inv._actuators.rates(at, inv._p)
        terms = system.terms(at.q[0], at.v[0], float(t))
        tau = np.array([x[i] for x in inv.effort.values()])
        forced = terms.with_forces(terms.applied_force + B[0] @ tau, terms.nonideal_force)
        close(zw.solve(*_matrices(forced)).acceleration, inv.reached_acceleration[i], 1e-9)


def _matrices(terms):
    return (
        terms.mass_matrix,
        terms.applied_force,
        terms.constraint_matrix,
        terms.constraint_rhs,
        terms.nonideal_force,
    )


def test_redundant_joints_leave_reactions_open_and_efforts_known():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    door = m.body("door", inertia=zw.inertia.box(10.0, (1.0, 0.05, 2.0)), position=(0.5, 0, 0))
    m.revolute("upper", m.ground, door, at=(0, 0, 0.8), axis="z")
    m.revolute("lower", m.ground, door, at=(0, 0, -0.8), axis="z")
    inv = m.inverse_dynamics(
        (np.linspace(0, 1, 5), {"upper.angle": lambda t: t**2}), ["upper.angle"]
    )
    inertia = 10.0 * (1.0 + 0.05**2) / 12.0 + 10.0 * 0.25
    close(inv.effort["upper.angle"], 2.0 * inertia)
    assert not inv.reaction("upper").determinate.any()
    both = inv.reaction("upper").force + inv.reaction("lower").force
    close(both[:, 2], 98.1, 1e-9)


# --- forward(inverse(a)) = projection of a --------------------------------------------------------


def _mismatch(w: Wish) -> float:
    """How far forward dynamics of the efforts is from the projection of a, relative."""
    system = w.mechanism.system
    acting = actuators_of(system, w.actuators)
    at = GivenMotion(np.zeros(1), w.q[None], w.v[None], w.a[None])
    p = system.parameter_vector(None)
    found = efforts(acting, at, p, "least norm", np.ones(len(w.actuators)))
    terms, B = system.terms(w.q, w.v), acting.rates(at, p)[0][0]

    def forward(tau):
        forced = terms.with_forces(terms.applied_force + B @ tau, terms.nonideal_force)
        return zw.solve(*_matrices(forced)).acceleration

    none = forward(np.zeros(B.shape[1]))
    responses = np.array([forward(e) - none for e in np.eye(B.shape[1])]).T
    L = np.linalg.cholesky(terms.mass_matrix).T
    scale = np.linalg.norm(L @ responses, axis=0)
    scale = np.where(scale > 1e-12 * scale.max(), scale, 1.0)
    best = np.linalg.lstsq(L @ responses / scale, L @ (w.a - none), rcond=1e-9)[0] / scale
    projected = none + responses @ best
    size = np.linalg.norm(L @ w.a) + np.linalg.norm(L @ none)
    return float(np.linalg.norm(L @ (forward(found.tau[0]) - projected)) / size)


@pytest.fixture
def uncompiled(monkeypatch):
    monkeypatch.setenv("ZWANG_LLVM", "off")  # each mechanism is evaluated a few times


@pytest.mark.parametrize("seed", [*range(10), 54, 155])  # the last: idle actuators
def test_forward_of_inverse_is_the_projection(seed, uncompiled):
    assert _mismatch(wish(seed)) < PROJECTED


@pytest.mark.campaign
def test_forward_of_inverse_is_the_projection_of_a_thousand(uncompiled):
    worst = [(_mismatch(wish(seed)), seed) for seed in range(1000)]
    assert max(worst)[0] < PROJECTED, f"again: _mismatch(wish({max(worst)[1]}))"


# --- mistakes -------------------------------------------------------------------------------------

T = np.linspace(0.0, 1.0, 6)
GOOD = (T, {"pin.angle": np.sin})
MISTAKES = {
    "no actuators": ((GOOD, []), {}, "at least one name"),
    "one string": ((GOOD, "pin.angle"), {}, "a list of names"),
    "unknown actuator": ((GOOD, ["pin.angel"]), {}, "Did you mean 'pin.angle'"),
    "actuator twice": ((GOOD, ["pin.angle", "pin.angle"]), {}, "twice"),
    "vector actuator": ((GOOD, ["rod.position"]), {}, "one component"),
    "unknown rule": ((GOOD, ["pin.angle"]), {"rule": "least"}, "least norm"),
    "no weights": ((GOOD, ["pin.angle"]), {"rule": "weights"}, "positive numbers"),
    "bad weights": ((GOOD, ["pin.angle"]), {"rule": "weights", "weights": [-1.0]}, "positive"),
    "useless weights": ((GOOD, ["pin.angle"]), {"weights": [1.0]}, "rule='weights'"),
    "weights of others": (
        (GOOD, ["pin.angle"]),
        {"rule": "weights", "weights": {"x": 1.0}},
        "actuator of weights",
    ),
    "no motion": ((None, ["pin.angle"]), {}, "a run, kinematics over time"),
    "unknown quantity": (((T, {"pin.angel": np.sin}), ["pin.angle"]), {}, "Did you mean"),
    "few samples": ((([0.0, 1.0], {"pin.angle": [0, 1]}), ["pin.angle"]), {}, "four or more"),
    "wrong samples": (((T, {"pin.angle": [0.0, 1.0]}), ["pin.angle"]), {}, "6 numbers"),
    "an acceleration": (
        ((T, {"rod.acceleration.x": np.sin}), ["pin.angle"]),
        {},
        "a position, an angle",
    ),
    "wrong size": (((T, {"rod.position": np.sin}), ["pin.angle"]), {}, "gives 3 values, not"),
    "falling times": (((T[::-1], {"pin.angle": np.sin}), ["pin.angle"]), {}, "times that grow"),
    "contradiction": (
        ((T, {"pin.angle": np.sin, "rod.position.x": lambda t: 5.0 + t}), ["pin.angle"]),
        {},
        "contradict",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_told_in_one_sentence(case):
    positional, named, words = MISTAKES[case]
    with pytest.raises(zw.ZwangError) as error:
        _pendulum().inverse_dynamics(*positional, **named)
    assert words in str(error.value)


def test_motions_of_others_are_refused():
    m = _pendulum()
    other = four_bar(1, 3, 2.5, 3.2)
    other.drive("motor", "A.angle", lambda t: t)
    with pytest.raises(zw.ZwangError, match="the same bodies"):
        m.inverse_dynamics(other.kinematics(times=[0.0, 1.0]), ["pin.angle"])
    with pytest.raises(zw.ZwangError, match="has no times"):
        m.inverse_dynamics(m.kinematics(along=("pin.angle", [0.0, 1.0])), ["pin.angle"])
    free = zw.Mechanism(gravity=(0, 0, -10.0))
    free.body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.5, 0, 0), free=True)
    run = free.simulate(until=0.1)
    with pytest.raises(zw.ZwangError, match="'pin' does not allow"):
        m.inverse_dynamics(run, ["pin.angle"])


def _driven_pendulum(pin: float = 0.0, unit: float = 1.0, **more) -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -10.0 * unit))
    rod = m.body("rod", mass=1.0, inertia=(unit**2,) * 3, position=((0.5 + pin) * unit, 0, 0))
    m.revolute("pin", m.ground, rod, at=(pin * unit, 0, 0), axis="y")
    for name, law in more.items():
        m.drive(name, "pin.angle", law)
    return m


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("pin", [0.3, 1e-4])
def test_a_motion_about_another_pin_is_refused_by_its_miss_and_time(unit, pin):
    """Its accelerations are those of a pendulum about any pin."""
    theirs = _driven_pendulum(unit=unit, motor=lambda t: 1.0 * np.sin(t))
    motions = (
        theirs.simulate(until=1.0, save=0.25),
        theirs.kinematics(times=np.linspace(0.0, 1.0, 5)),
    )
    for motion in motions:
        with pytest.raises(zw.ZwangError, match=rf"positions that 'pin'.*by {pin * unit:.3g}\."):
            _driven_pendulum(pin, unit).inverse_dynamics(motion, ["pin.angle"])
        _driven_pendulum(unit=unit).inverse_dynamics(motion, ["pin.angle"])


def test_a_motion_of_other_velocities_is_refused():
    """A skate that slides sideways at a constant rate has accelerations that its blade allows."""

    def body(**constraints):
        return zw.System(["x", "y", "angle"], mass=np.eye(3), constraints=constraints or None)

    slides = body().simulate([0.0, 0.0, 0.0], [0.0, 0.5, 0.0], until=1.0, save=0.25)
    skate = body(blade=zw.velocity(lambda q, v: v[1] * np.cos(q[2]) - v[0] * np.sin(q[2])))
    with pytest.raises(zw.ZwangError, match=r"velocities that 'blade' does not allow.*by 0\.5"):
        skate.inverse_dynamics(slides, ["x", "angle"])


def test_rounding_and_tolerances_refuse_no_motion():
    m = _driven_pendulum()
    for tolerance in (1e-3, 1e-12):
        run = m.simulate(until=5.0, save=0.1, tolerance=tolerance)
        assert not m.inverse_dynamics(run, ["pin.angle"]).notes
    at_rest = m.simulate(m.equilibrium().state, until=100.0, save=10.0)
    assert not m.inverse_dynamics(at_rest, ["pin.angle"]).notes
    far = _driven_pendulum(pin=1e6)
    assert not far.inverse_dynamics(far.simulate(until=1.0, save=0.1), ["pin.angle"]).notes


def test_a_run_that_drifts_is_taken_with_a_note():
    m = _driven_pendulum()
    run = m.simulate(until=20.0, save=1.0, tolerance=1e-2, drift="none", coordinates="absolute")
    inv = m.inverse_dynamics(run, ["pin.angle"])
    assert not inv.notes or "the run drifts" in inv.notes[0]


def test_too_few_quantities_name_what_is_open():
    m = zw.Mechanism(plane="xy")
    one = m.body("one", mass=1.0, inertia=0.1, position=(0.5, 0))
    two = m.body("two", mass=1.0, inertia=0.1, position=(1.5, 0))
    m.revolute("shoulder", m.ground, one, at=(0, 0))
    m.revolute("elbow", one, two, at=(1, 0))
    with pytest.raises(zw.ZwangError, match="leaves 1 motion open, of two"):
        m.inverse_dynamics((T, {"shoulder.angle": np.sin}), ["shoulder.angle"])


def test_friction_is_refused_with_the_other_way():
    m = _pendulum()
    m.friction("pin", coefficient=0.1, radius=0.02)
    with pytest.raises(zw.ZwangError, match=r"run\.reaction of the driver"):
        m.inverse_dynamics(GOOD, ["pin.angle"])


def test_bearings_carry_what_teeth_push_apart():
    # Two wheels with a pressure angle of 20°: the mesh transmits F = J α / r, pushes apart by
    # F tan 20°, and each bearing carries both.
    m = zw.Mechanism(plane="xz", gravity=(0, 0, 0))
    a = m.body("a", mass=1.0, inertia=0.5)
    b = m.body("b", mass=1.0, inertia=2.0, position=(0.3, 0.0))
    m.revolute("A", m.ground, a, at=(0, 0))
    m.revolute("B", m.ground, b, at=(0.3, 0))
    m.gear(
        "mesh",
        a,
        b,
        at=((0, 0), (0.3, 0)),
        radius_a=0.1,
        radius_b=0.2,
        pressure_angle=np.radians(20.0),
    )
    t = np.linspace(0.0, 1.0, 5)
    inv = m.inverse_dynamics((t, {"A.angle": lambda t: 2.0 * t**2}), ["A.angle"])
    across = 2.0 * (4.0 * 0.1 / 0.2) / 0.2  # J α / r of the second wheel
    apart = across * np.tan(np.radians(20.0))
    force = np.abs(inv.reaction("B").force)
    np.testing.assert_allclose(force[:, 2], across, rtol=1e-10)
    np.testing.assert_allclose(force[:, 0], apart, rtol=1e-10)
    mesh = np.linalg.norm(inv.reaction("mesh").force, axis=1)
    np.testing.assert_allclose(mesh, across / np.cos(np.radians(20.0)), rtol=1e-10)


def test_the_motor_table_is_a_table_in_notebooks():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    arm = m.body("arm", mass=1.0, inertia=0.1, position=(0.5, 0))
    m.revolute("hub", m.ground, arm, at=(0, 0))
    t = np.linspace(0.0, 1.0, 11)
    inv = m.inverse_dynamics((t, {"hub.angle": lambda t: t**2}), ["hub.angle"])
    html = inv._repr_html_()
    assert html.count("<tr>") == 2
    assert "<td>hub.angle</td>" in html
    assert "RMS effort" in html


@pytest.mark.parametrize("count", [1, 20])
def test_a_uniform_motion_is_not_refused_by_rounding(count: int) -> None:
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    for k in range(count):
        place, along = np.array([0.0, 2.0 * k, 0.0]), np.array([np.cos(0.3), 0.0, np.sin(0.3)])
        shafts = []
        for name, at, axis in (
            ("a", place - (0.25, 0, 0), np.array([1.0, 0.0, 0.0])),
            ("b", place + 0.25 * along, along),
        ):
            inertia = zw.inertia.cylinder(1.0, 0.05, 0.5, axis=axis)
            turn = tuple(4.0 * axis)
            shafts.append(m.body(f"{name}{k}", inertia=inertia, position=at, angular_velocity=turn))
            m.revolute(f"{name}{k}_bearing", m.ground, shafts[-1], at=at, axis=axis)
        m.constant_velocity(f"joint{k}", *shafts, at=place, axis="x", axis_b=along)
    run = m.simulate(until=0.5, save=0.05)
    effort = m.inverse_dynamics(run, actuators=["a0_bearing.angle"]).effort["a0_bearing.angle"]
    assert np.abs(effort).max() < 1e-13  # of moments of some N m


def hanging_pendulums() -> zw.Mechanism:
    """Two rods that hang from a cart on a rail: gravity is across all motions at rest."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    cart = m.body("cart", mass=1.0, inertia=0.1)
    rod = zw.inertia.rod
    one = m.body("one", inertia=rod(0.3, 0.4, axis="z"), position=(0, 0, -0.2))
    two = m.body("two", inertia=rod(0.2, 0.3, axis="z"), position=(0, 0, -0.55))
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("pin", cart, one, at=(0, 0, 0))
    m.revolute("elbow", one, two, at=(0, 0, -0.4))
    return m


def test_rounding_of_gravity_is_not_an_acceleration_that_is_missed():
    driven = hanging_pendulums()
    driven.drive("jack", "rail.displacement", lambda t: 0.1 * t**3 * (1.0 - t))
    run = driven.simulate(until=0.1, save=0.01, tolerance=1e-12)
    found = hanging_pendulums().inverse_dynamics(run, ["rail.displacement"])
    assert not found.unreachable
    # An acceleration of a hundred-millionth of gravity is none of rounding.
    still = {"rail.displacement": lambda t: 0.0 * t, "pin.angle": lambda t: 0.0 * t}
    given = {**still, "elbow.angle": lambda t: 1e-7 * t**2}
    times = np.array([0.0, 0.1])
    slow = hanging_pendulums().inverse_dynamics((times, given), ["rail.displacement"])
    assert "elbow.angle" in slow.unreachable


@pytest.mark.parametrize("speed", [0.1, 0.3])
def test_the_edge_of_the_reach_is_told_by_its_time(speed):
    """Both arms of a five-bar are stretched at once: branches cross where the way turns back."""
    m = zw.Mechanism(plane="xy")
    A, E, P = np.array([0.0, 0.0]), np.array([0.3, 0.0]), np.array([0.15, 0.45])
    ends = []
    for name, foot, side in (("left", A, 1.0), ("right", E, -1.0)):
        knee = circles(foot, 0.3, P, 0.4, side)
        bodies = []
        for part, a, b in (("near", foot, knee), ("far", knee, P)):
            d = b - a
            turn = np.arctan2(d[1], d[0])
            inertia = zw.inertia.rod(0.4, float(np.linalg.norm(d)), axis="x")
            bodies.append(
                m.body(f"{name}_{part}", inertia=inertia, position=(a + b) / 2, angle=turn)
            )
        m.revolute(name, m.ground, bodies[0], at=foot)
        m.revolute(f"{name}_knee", *bodies, at=knee)
        ends.append(bodies[1])
    m.revolute("tip", *ends, at=P)
    tool = m.body("tool", mass=0.2, inertia=0.01, position=P)
    m.fixed("hold", ends[0], tool, at=P)
    edge = (np.sqrt(0.7**2 - 0.15**2) - 0.45) / speed
    path = {
        "tool.position.x": lambda t: 0.15 + 0.0 * t,
        "tool.position.y": lambda t: 0.45 + speed * t,
    }
    t = np.linspace(0.0, 1.3 * edge, 41)
    with pytest.raises(zw.ZwangError) as error:
        m.inverse_dynamics((t, path), ["left.angle", "right.angle"])
    said = str(error.value).partition("but no configuration has them beyond t = ")[2]
    # The time is a maximum along the way, which is known to the square root of what arcs are.
    assert float(said.partition(". ")[0]) == pytest.approx(edge, rel=1e-5)


def flat_arm(plane):
    m = zw.Mechanism(plane=plane, gravity=(0, -9.81))
    one = m.body("one", mass=1.0, inertia=0.1, position=(0.5, 0))
    tip = m.body("tip", mass=1.0, inertia=0.1, position=(1.0, -0.5), angle=-np.pi / 2)
    m.revolute("A", m.ground, one, at=(0, 0))
    m.revolute("B", one, tip, at=(1, 0))
    return m


@pytest.mark.parametrize(("plane", "normal"), [("xz", 1), ("xy", 2), ("yz", 0)])
@pytest.mark.parametrize("quantity", ["tip.position", "tip.center"])
def test_a_motion_in_a_plane_takes_two_numbers(plane, normal, quantity):
    m, t = flat_arm(plane), np.linspace(0.0, 1.0, 11)

    def two(t):
        return [1.0 + 0.1 * np.sin(t), -0.5 + 0.1 * t**2]

    def three(t):
        return np.insert(np.array(two(t), dtype=object), normal, 0.0).tolist()

    samples = np.array([two(x) for x in t])
    actuators = ["A.angle", "B.angle"]
    space = m.inverse_dynamics((t, {quantity: three}), actuators)
    flat = m.inverse_dynamics((t, {quantity: two}), actuators)
    listed = m.inverse_dynamics((t, {quantity: samples}), actuators)
    for name in actuators:
        np.testing.assert_array_equal(flat.effort[name], space.effort[name])
        np.testing.assert_allclose(listed.effort[name], space.effort[name], atol=1e-4)


def test_a_motion_with_other_than_two_or_three_numbers_is_refused():
    m, t = flat_arm("xz"), np.linspace(0.0, 1.0, 11)
    told = (
        r"must be a function that gives two numbers in the plane, or three, not one that gives 1\."
    )
    with pytest.raises(zw.InputError, match=rf"motion of 'tip.position' {told}"):
        m.inverse_dynamics((t, {"tip.position": lambda t: [t]}), ["A.angle"])
    with pytest.raises(zw.InputError, match=r"shape \(11, 3\) or \(11, 2\)"):
        m.inverse_dynamics((t, {"tip.position": np.zeros((11, 4))}), ["A.angle"])
    with pytest.raises(zw.InputError, match=r"that gives 1 value, not one that gives 2\."):
        m.inverse_dynamics((t, {"A.angle": lambda t: [t, t]}), ["A.angle"])
