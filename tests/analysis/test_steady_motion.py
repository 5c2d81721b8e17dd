"""Steady motions and small motions about them, against formulas derived apart."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import zwang as zw

BENCHMARK = json.loads((Path(__file__).parent / "whipple_bicycle.json").read_text(encoding="utf-8"))
#: Published matrices have 14 digits; those of the mechanism are solved with a condition of 1e3.
MATRICES = 1e-11
#: Eigenvalues lose what the condition of a mode takes, a factor of ten.
EIGENVALUES = 1e-10
#: Speeds [m/s] at which an eigenvalue crosses the axis, at slopes of about 1 per m/s.
CRITICAL = 1e-9
#: Published eigenvalues are printed with twelve digits.
PRINTED = 1e-11
GRAVITY = 9.81


def canonical(speed):
    """Eigenvalues of the published equations, from the published matrices."""
    M, C1, K0, K2 = (np.array(BENCHMARK[k]) for k in ("M", "C1", "K0", "K2"))
    K = GRAVITY * K0 + speed**2 * K2
    A = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-np.linalg.solve(M, K), -np.linalg.solve(M, speed * C1)],
        ]
    )
    return np.sort_complex(np.linalg.eigvals(A))


def doubled_bicycle():
    """The bicycle with every joint given twice."""
    m = zw.library.whipple_bicycle(speed=0.0)
    again = zw.library.whipple_bicycle(speed=0.0).parts
    frame, fork, rear, front = "frame", "fork", "rear_wheel", "front_wheel"
    tilt = np.pi / 10.0
    m.revolute("rear_hub2", frame, rear, at=(0.0, 0.0, 0.3), axis="y")
    m.revolute("head2", frame, fork, at=(1.1, 0.0, 0.0), axis=(-np.sin(tilt), 0.0, np.cos(tilt)))
    m.revolute("front_hub2", fork, front, at=(1.02, 0.0, 0.35), axis="y")
    for name, body, x, radius in (("rear2", rear, 0.0, 0.3), ("front2", front, 1.02, 0.35)):
        at = ((0.0, 0.0, 0.0), (x, 0.0, radius))
        m.rolling_disk(name, m.ground, body, at=at, axis="z", axis_b="y", radius=radius)
    assert len(m.parts.joints) == 2 * len(again.joints)
    return m


@pytest.fixture(scope="module", params=["as given", "every joint doubled"])
def bicycle(request):
    return (
        zw.library.whipple_bicycle(speed=0.0) if request.param == "as given" else doubled_bicycle()
    )


def small_motions(bicycle, speed):
    motion = bicycle.steady_motion({"rear_hub.angle": speed / 0.3})
    return motion.linearize(independent=["frame.turn1", "head.angle"])


def significant(lin):
    """The four eigenvalues of lean and steer: those of the first two states, and their rates."""
    places = [
        lin.states.index(n)
        for n in ("frame.turn1", "head.angle", "frame.omega1", "head.angle_rate")
    ]
    return np.sort_complex(np.linalg.eigvals(lin.A[np.ix_(places, places)]))


@pytest.mark.parametrize("speed", [0.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0, 3.3])
def test_bicycle_has_the_published_matrices_and_eigenvalues(bicycle, speed):
    lin = small_motions(bicycle, speed)
    # Steering is positive about the axis that points down there, and up here.
    flip = np.diag([1.0, -1.0])
    M, C1, K0, K2 = (np.array(BENCHMARK[k]) for k in ("M", "C1", "K0", "K2"))
    scale = np.abs(M).max()
    assert np.abs(flip @ lin.mass[:2, :2] @ flip - M).max() < MATRICES * scale
    assert np.abs(flip @ lin.damping[:2, :2] @ flip - speed * C1).max() < MATRICES * scale * 10.0
    K = GRAVITY * K0 + speed**2 * K2
    assert np.abs(flip @ lin.stiffness[:2, :2] @ flip - K).max() < MATRICES * np.abs(K).max()
    expected = canonical(speed)
    assert np.abs(significant(lin) - expected).max() < EIGENVALUES * np.abs(expected).max()
    published = BENCHMARK["eigenvalues_by_speed"].get(f"{speed:g}")
    if published is not None:
        listed = np.sort_complex([complex(*x) for x in published])
        assert np.abs(expected - listed).max() < PRINTED * 100.0
    # 7 displacements, 3 velocities; lean and steer are four states of ten.
    assert len(lin.states) == 10
    assert any("4 because rows of velocities" in note for note in lin.notes)


def critical_speeds() -> tuple[Any, Any]:
    """Weave and capsize from the published matrices: Hurwitz' determinant and det K vanish."""
    M, C1, K0, K2 = (np.array(BENCHMARK[k]) for k in ("M", "C1", "K0", "K2"))

    def coefficients(v):
        """Of det(M s² + v C₁ s + g K₀ + v² K₂), s⁴ first."""
        entries = np.stack([M, v * C1, GRAVITY * K0 + v**2 * K2], axis=-1)
        return np.polymul(entries[0, 0], entries[1, 1]) - np.polymul(entries[0, 1], entries[1, 0])

    def hurwitz(v):
        a4, a3, a2, a1, a0 = coefficients(v)
        return a1 * a2 * a3 - a0 * a3**2 - a4 * a1**2

    return (
        brentq(hurwitz, 4.2, 4.4, xtol=1e-13),
        brentq(lambda v: coefficients(v)[-1], 5.9, 6.1, xtol=1e-13),
    )


def test_weave_and_capsize_speeds_of_the_bicycle(bicycle):
    def weave(eigenvalues):
        return max((s.real for s in eigenvalues if abs(s.imag) > 1.0), default=1.0)

    def capsize(eigenvalues):
        real = [s.real for s in eigenvalues if abs(s.imag) < 1e-6]
        return min(real, key=abs)

    for measure, expected in zip((weave, capsize), critical_speeds(), strict=True):
        found: Any = brentq(
            lambda v, f=measure: f(significant(small_motions(bicycle, v))),
            expected - 0.05,
            expected + 0.04,
            xtol=1e-12,
        )
        assert abs(found - expected) < CRITICAL


def test_root_locus_of_the_bicycle_finds_both_crossings():
    bicycle = zw.library.whipple_bicycle(speed=0.0)
    speeds = np.linspace(4.0, 6.5, 11)
    locus = bicycle.root_locus("rear_hub.angle", speeds / 0.3)
    found = 0.3 * np.array(locus.crossings())
    assert np.abs(found[:, None] - [4.2924, 6.0243]).min(axis=0).max() < 0.02


# --- disk and hoop --------------------------------------------------------------------------------


def disk(kind, radius=0.5, lean=0.0):
    if kind == "disk":
        return zw.library.rolling_coin(mass=1.3, radius=radius, lean=lean, spin=0.0, turn=0.0)
    m = zw.Mechanism(gravity=(0.0, 0.0, -GRAVITY))
    J = 1.3 * radius**2
    hoop = m.body("disk", mass=1.3, inertia=(J / 2, J, J / 2), position=(0.0, 0.0, radius))
    at = ((0.0, 0.0, 0.0), (0.0, 0.0, radius))
    m.rolling_disk("contact", m.ground, hoop, at=at, axis="z", axis_b="y", radius=radius)
    return m


def moments(kind, radius=0.5, mass=1.3):
    """Across the axis and about it."""
    J = mass * radius**2
    return (J / 4, J / 2) if kind == "disk" else (J / 2, J)


@pytest.mark.parametrize("kind", ["disk", "hoop"])
@pytest.mark.parametrize("share", [0.4, 1.6])
def test_straight_rolling_has_the_eigenvalues_of_the_textbook(kind, share):
    """s² = m g r/(I₁ + m r²) − ω² I₃(I₃ + m r²)/(I₁(I₁ + m r²)) (Neimark and Fufaev)."""
    mass, r = 1.3, 0.5
    across, about = moments(kind)
    critical = np.sqrt(mass * GRAVITY * r * across / (about * (about + mass * r**2)))
    assert critical**2 == pytest.approx(GRAVITY / r / (3.0 if kind == "disk" else 4.0))
    omega = share * critical
    motion = disk(kind).steady_motion({"disk.spin": omega})
    square = (mass * GRAVITY * r * across - omega**2 * about * (about + mass * r**2)) / (
        across * (across + mass * r**2)
    )
    expected = np.emath.sqrt(square)
    values = motion.linearization.eigenvalues
    for s in (expected, -expected):
        assert np.abs(values - s).min() < EIGENVALUES * abs(s)
    assert motion.stability == ("unstable" if share < 1.0 else "marginal")


def disk_equations(x, mass, r, across, about):
    """Accelerations of lean, turn and roll of a disk, by Newton and Euler in the frame of its lean.

    x = (lean θ, θ̇, turn rate Ω, roll rate ω₃): e1 along the track, e3 the axis, e2 up in the plane.
    Written with arrays that may be complex, for derivatives by a complex step.
    """
    theta, rate, turn, roll = x
    zero = 0.0 * theta
    # Angular velocity of the frame and of the disk, components along e1, e2, e3. The vertical is
    # cos θ e2 − sin θ e3 for a lean by θ about e1.
    up = np.array([zero, np.cos(theta), -np.sin(theta)])
    frame = np.array([rate + zero, turn * np.cos(theta), -turn * np.sin(theta)])
    omega = np.array([rate + zero, turn * np.cos(theta), roll + zero])
    J = np.array([across, across, about])
    arm = np.array([0.0, r, 0.0])  # from the contact to the centre

    def residual(a):
        """Moment balance about the contact for (θ̈, Ω̇, ω̇₃) = a."""
        lean2, turn2, roll2 = a
        omega_dot = np.array(
            [lean2, turn2 * np.cos(theta) - turn * rate * np.sin(theta), roll2]
        )  # components' rates
        velocity_dot = np.cross(omega_dot, arm)  # of v = ω × arm, components' rates
        velocity = np.cross(omega, arm)
        acceleration = velocity_dot + np.cross(frame, velocity)
        spin = J * omega_dot + np.cross(frame, J * omega)
        weight = -mass * GRAVITY * up
        return spin + np.cross(arm, mass * acceleration - weight)

    base = residual(np.zeros(3))
    columns = np.array([residual(e) - base for e in np.eye(3)]).T
    return np.concatenate([[rate + zero], np.linalg.solve(columns, -base)])


def test_disk_in_a_turn_leans_and_wobbles_as_derived_apart():
    mass, r, lean, turn = 1.3, 0.5, 0.35, 1.7
    across, about = moments("disk")

    def balance(roll):
        return disk_equations(np.array([lean, 0.0, turn, roll]), mass, r, across, about)[1]

    roll = brentq(balance, -40.0, 40.0, xtol=1e-14)
    x = np.array([lean, 0.0, turn, roll])
    J = np.array(
        [disk_equations(x + 1e-30j * e, mass, r, across, about).imag / 1e-30 for e in np.eye(4)]
    ).T
    expected = np.linalg.eigvals(J)
    coin = disk("disk", lean=-lean)
    motion = coin.steady_motion({"yaw": turn}, hold={"disk.e0": float(coin.assemble().q[3])})
    omega = motion.v[3:]
    assert abs(abs(omega[1]) - abs(roll)) < 1e-10 * abs(roll)
    values = motion.linearization.eigenvalues
    for s in expected[np.abs(expected) > 1e-3]:
        assert np.abs(values - s).min() < EIGENVALUES * abs(s)


# --- tops and governors ---------------------------------------------------------------------------


def test_sleeping_top_is_stable_above_the_critical_spin():
    """ω_c² = 4 A m g h/C²; upright, s = i(C ω ± √(C²ω² − 4 A m g h))/(2 A) in a turning frame."""
    mass, (J, C), h = 0.1, (2.0e-4, 1.0e-4), 0.05
    A = J + mass * h**2
    critical = np.sqrt(4.0 * A * mass * GRAVITY * h) / C
    for share, verdict in ((0.7, "unstable"), (1.3, "marginal")):
        spin = share * critical
        top = zw.library.spinning_top(tilt=0.0, spin=0.0)
        motion = top.steady_motion({"top.spin": spin, "yaw": 0.0})
        assert motion.stability == verdict
        root = np.emath.sqrt(C**2 * spin**2 - 4.0 * A * mass * GRAVITY * h)
        expected = [1j * (C * spin + k * root) / (2.0 * A) for k in (1.0, -1.0)]
        values = motion.linearization.eigenvalues
        for s in expected:
            assert np.abs(values - s).min() < EIGENVALUES * abs(s) * 10.0


@pytest.mark.parametrize(
    ("start", "rates", "expected"),
    [(0.0, {"top.spin": 700.0}, 700.0), (700.0, {"yaw": 0.0}, 700.0), (0.0, {"yaw": 0.0}, 0.0)],
)
def test_an_upright_top_spins_by_itself_and_not_with_its_frame(start, rates, expected):
    """Its spin and a turn of the whole are the same motion: one must not undo the other."""
    motion = zw.library.spinning_top(tilt=0.0, spin=start).steady_motion(rates)
    assert motion.v[-1] == pytest.approx(expected, abs=1e-9)
    assert abs(motion.rates["turn z"]) < 1e-9
    assert motion.stability == ("marginal" if expected else "unstable")


@pytest.mark.parametrize("which", [0, 1])
def test_fast_top_precesses_at_both_rates_of_the_textbook(which):
    mass, (J, C), h, tilt, omega3 = 0.1, (2.0e-4, 1.0e-4), 0.05, 0.4, 300.0
    A = J + mass * h**2
    slow_and_fast = np.sort(np.roots([A * np.cos(tilt), -C * omega3, mass * GRAVITY * h]).real)
    rate = slow_and_fast[which]
    top = zw.library.spinning_top(tilt=tilt, spin=omega3 - rate * np.cos(tilt), precession=rate)
    start = top.assemble()
    motion = top.steady_motion(
        {"top.omega3": omega3}, start=start, hold={"top.e0": float(start.q[3])}
    )
    assert motion.rates["turn z"] == pytest.approx(rate, rel=1e-9)
    # Nutation, s² = −(C²ω₃² − 4 A m g h cos θ … ) for the steady motion: A²s² = −(m g h/Ω)² + …
    nutation = np.sqrt(
        (mass * GRAVITY * h / (A * rate)) ** 2
        - 2.0 * mass * GRAVITY * h * np.cos(tilt) / A
        + rate**2
    )
    values = motion.linearization.eigenvalues
    assert np.abs(values - 1j * nutation).min() < 1e-9 * nutation


def test_governor_opens_as_far_as_its_rate_demands():
    """A bob on an arm about a vertical shaft: cos θ = g/(ω²L); ω_small = ω sin θ."""
    omega, length = 8.0, float(np.hypot(0.35, 0.2))
    m = zw.Mechanism(gravity=(0.0, 0.0, -GRAVITY))
    shaft = m.body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    bob = m.body("bob", mass=0.5, inertia=(0.0, 0.0, 0.0), position=(0.35, 0.0, -0.2))
    m.revolute("bearing", m.ground, shaft, at=(0, 0, 0), axis="z")
    m.revolute("arm", shaft, bob, at=(0, 0, 0), axis="y")
    m.drive("motor", "bearing.angle", lambda t: omega * t)
    motion = m.steady_motion({"bearing.angle": omega})
    x, z = np.hypot(*motion.q[7:9]), motion.q[9]
    assert -z / length == pytest.approx(GRAVITY / (omega**2 * length), rel=1e-11)
    small = omega * x / length
    assert np.abs(motion.linearization.eigenvalues - 1j * small).min() < 1e-9 * small
    assert motion.stability == "marginal"


def test_satellite_spins_stably_about_the_largest_and_smallest_moment_only():
    for axis, verdict in ((0, "marginal"), (1, "unstable"), (2, "marginal")):
        m = zw.Mechanism()
        m.body("satellite", mass=2.0, inertia=(1.0, 2.0, 2.5), free=True)
        I, w = np.array([1.0, 2.0, 2.5]), 3.0
        spin = [0.0, 0.0, 0.0]
        spin[axis] = w
        motion = m.steady_motion({f"satellite.omega{k + 1}": s for k, s in enumerate(spin)})
        assert motion.stability == verdict
        j, k = (axis + 1) % 3, (axis + 2) % 3
        square = w**2 * (I[axis] - I[k]) * (I[j] - I[axis]) / (I[j] * I[k])
        s = np.emath.sqrt(square)
        assert np.abs(motion.linearization.eigenvalues - s).min() < EIGENVALUES * abs(s) * 10.0


@pytest.mark.parametrize(
    "start", [[0.9, 0.0], zw.State(np.array([0.9, 0.0]), np.array([0.0, 6.0]))]
)
def test_cyclic_coordinate_of_a_system_of_functions(start):
    """A bead on a hoop that turns freely about its vertical diameter: cos θ = g/(ω²R)."""
    R, mass, J, omega = 0.5, 0.2, 0.05, 6.0
    system = zw.System.from_lagrangian(
        ["theta", "phi"],
        parameters={"g": GRAVITY},
        T=lambda q, v: (
            0.5 * mass * R**2 * (v[0] ** 2 + (np.sin(q[0]) * v[1]) ** 2) + 0.5 * J * v[1] ** 2
        ),
        V=lambda q, p: -mass * p.g * R * np.cos(q[0]),
    )
    motion = system.steady_motion({"phi": omega}, start=start)
    assert np.cos(motion.q[0]) == pytest.approx(GRAVITY / (omega**2 * R), rel=1e-12)
    assert motion.v[1] == pytest.approx(omega)
    s, c = np.sin(motion.q[0]), np.cos(motion.q[0])
    hoop = J + mass * R**2 * s**2
    square = omega**2 * s**2 + 4.0 * mass * R**2 * (s * c * omega) ** 2 / hoop
    expected = 1j * np.sqrt(square)
    assert np.abs(motion.linearization.eigenvalues - expected).min() < 1e-10 * abs(expected)


def test_simulation_of_a_steady_motion_stays_steady():
    coin = zw.library.rolling_coin(spin=0.0, turn=0.0)
    start = coin.assemble()
    motion = coin.steady_motion({"yaw": 1.5}, hold={"disk.e0": float(start.q[3])})
    run = coin.simulate(motion.state, until=2.0, tolerance=1e-11)
    assert np.abs(run.q[:, 2] - motion.q[2]).max() < 1e-9


def test_without_symmetry_there_is_no_steady_motion():
    with pytest.raises(zw.ZwangError, match="cyclic coordinate"):
        zw.library.four_bar().steady_motion({"A.angle": 1.0})


def test_rates_that_do_not_belong_together_are_refused_with_what_is_left():
    coin = zw.library.rolling_coin(lean=0.0, spin=0.0, turn=0.0)
    with pytest.raises(zw.ZwangError, match="steady motion"):
        coin.steady_motion({"disk.spin": 3.0, "disk.vz": 1.0})


def governor(angle, length=0.4):
    """Two balls on arms that are placed at an angle to the shaft."""
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    shaft = m.body("shaft", inertia=zw.inertia.cylinder(1.0, 0.05, 0.3, axis="z"))
    m.revolute("axle", m.ground, shaft, at=(0, 0, 0), axis="z")
    for name, side in (("left", -1), ("right", 1)):
        place = (side * length * np.sin(angle), 0, -length * np.cos(angle))
        ball = m.body(name, inertia=zw.inertia.point(0.8), position=place)
        m.revolute(f"hinge_{name}", shaft, ball, at=(0, 0, 0), axis="y")
    return m


@pytest.mark.parametrize("placed", [0.8, 0.95, 1.0, 1.3])
def test_a_governor_swings_out_from_starts_around_the_stable_branch(placed):
    """cos θ = g / (ω² L): found from wherever it is nearer than the hanging state."""
    motion = governor(placed).steady_motion({"axle.angle": 7.0})
    wanted = np.arccos(GRAVITY / (7.0**2 * 0.4))
    assert abs(abs(motion["hinge_right.angle"]) - abs(wanted - placed)) < 1e-9
    assert motion.stability == "marginal"
    assert motion.notes == ()


def test_a_steady_motion_far_from_its_start_is_noted():
    """Too slow to swing out, a governor hangs down; nothing else is left for it to do."""
    motion = governor(1.2).steady_motion({"axle.angle": 3.0})
    assert abs(abs(motion["hinge_right.angle"]) - 1.2) < 1e-9
    (note,) = motion.notes
    assert "right by 0.45 m" in note
    assert "turned by 69°" in note
    assert note in str(motion)
