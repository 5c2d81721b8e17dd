"""Servo constraints: diagnosis and efforts against closed forms, minimal coordinates and runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import zwang as zw
from analysis.driven_linkages import circles
from zwang.analysis.internal_dynamics import require_rest
from zwang.analysis.servo import ServoSolution

#: Tracking and efforts of flat systems: rounding, enlarged by four differentiations.
FLAT = 1e-8
#: The boundary-value problem is solved to 1e-5 of its rates.
BOUNDED = 1e-5


def smooth(t, T=1.0):
    """From 0 to 1 with four derivatives that vanish at both ends."""
    s = t / T
    return 126 * s**5 - 420 * s**6 + 540 * s**7 - 315 * s**8 + 70 * s**9


def rest_to_rest(t):
    """The same with a second of rest before and after it."""
    return zw.where(t < 1.0, 0.0, zw.where(t > 2.0, 1.0, smooth(t - 1.0)))


# --- overhead crane -------------------------------------------------------------------------------

TROLLEY, WINCH, LOAD, G = 10.0, 4.0, 3.0, 9.81


def crane() -> zw.System:
    """Trolley s, rope l, load (x, z): x on the rope from the trolley, z downward negative."""
    return zw.System(
        ["s", "l", "x", "z"],
        mass=lambda: np.diag([TROLLEY, WINCH, LOAD, LOAD]),
        force=lambda: [0.0, 0.0, 0.0, -LOAD * G],
        constraints={"rope": lambda q: (q[2] - q[0]) ** 2 + q[3] ** 2 - q[1] ** 2},
    )


def load_x(t):
    return 2.0 * smooth(t, 3.0)


def load_z(t):
    return -3.0 + 1.5 * smooth(t, 3.0)


START = {"s": 0.0, "l": 3.0, "x": 0.0, "z": -3.0}


def test_an_instant_takes_fewer_than_two_decompositions(monkeypatch):
    """Decompositions of the derivative array are what following a program costs."""
    servo = crane().servo({"x": load_x, "z": load_z}, actuators=["s", "l"], start=START)
    assert servo.realizability.index == 5
    taken, decompose = [], np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *a, **k: taken.append(1) or decompose(*a, **k))
    times = np.linspace(0.0, 3.0, 61)
    servo.solve(times)
    assert len(taken) < 2 * len(times)


def test_overhead_crane_is_flat_with_index_five():
    servo = crane().servo({"x": load_x, "z": load_z}, actuators=["s", "l"], start=START)
    facts = servo.realizability
    assert (facts.rank, facts.index, facts.flat) == (1, 5, True)
    assert facts.relative_degrees == {"x": 4, "z": 2}  # hanging at rest
    assert facts.smoothness == {"x": 4, "z": 4}
    assert "index 5" in str(servo)
    nodes = np.cos(np.pi * (np.arange(90, -1, -1) + 0.5) / 91)  # Chebyshev's, for the fit below
    solution = servo.solve(1.5 + 1.5 * nodes)
    assert solution.how == "differentiation"
    np.testing.assert_allclose(solution["x"], load_x(solution.t), atol=FLAT)
    np.testing.assert_allclose(solution["z"], load_z(solution.t), atol=FLAT)
    expected = _crane_by_hand(solution.t[::9])
    for name, values in expected.items():
        np.testing.assert_allclose(solution.effort[name][::9], values, atol=FLAT)
    # Forward in time under these efforts, the load is where the program says.
    forces = [
        np.polynomial.Chebyshev.fit(solution.t, solution.effort[n], 90, domain=[0, 3])
        for n in ("s", "l")
    ]
    hanging = crane()
    driven = zw.System(
        ["s", "l", "x", "z"],
        mass=lambda: np.diag([TROLLEY, WINCH, LOAD, LOAD]),
        force=lambda t: [_at(forces[0], t), _at(forces[1], t), 0.0, -LOAD * G],
        constraints={"rope": hanging.definition.constraints["rope"]},
    )
    run = driven.simulate(list(START.values()), [0, 0, 0, 0], until=3.0, tolerance=1e-12, save=0.1)
    np.testing.assert_allclose(run["x"], load_x(run.t), atol=FLAT)
    np.testing.assert_allclose(run["z"], load_z(run.t), atol=FLAT)


def _at(series, t):
    """Clenshaw's sum, for symbols."""
    u = (2.0 * t - 3.0) / 3.0
    b1 = b2 = 0.0
    for c in series.coef[:0:-1]:
        b1, b2 = c + 2.0 * u * b1 - b2, b1
    return series.coef[0] + u * b1 - b2


def _crane_by_hand(times):
    """(x − s)/z = ẍ/(z̈ + g) along the rope, then Newton's law for trolley and winch."""
    import mpmath

    def x(t):
        return 2 * smooth(t, 3)

    def z(t):
        return -3 + mpmath.mpf("1.5") * smooth(t, 3)

    def s(t):
        return x(t) - z(t) * mpmath.diff(x, t, 2) / (mpmath.diff(z, t, 2) + G)

    def rope(t):
        return mpmath.sqrt((x(t) - s(t)) ** 2 + z(t) ** 2)

    found = {"s": [], "l": []}
    with mpmath.workdps(60):
        for t in map(mpmath.mpf, times.tolist()):
            tension = -LOAD * (mpmath.diff(z, t, 2) + G) * rope(t) / z(t)
            pull = tension * (x(t) - s(t)) / rope(t)
            found["s"].append(float(TROLLEY * mpmath.diff(s, t, 2, h=mpmath.mpf("1e-12")) - pull))
            found["l"].append(
                float(WINCH * mpmath.diff(rope, t, 2, h=mpmath.mpf("1e-12")) - tension)
            )
    return found


# --- a mass on a car ------------------------------------------------------------------------------


def car(alpha: float, stiffness: float, damping: float) -> tuple[zw.System, object]:
    """A mass that slides at an angle on a car; y is the mass, the force acts on the car."""
    c, s = np.cos(alpha), np.sin(alpha)
    system = zw.System.from_lagrangian(
        ["y", "s"],
        T=lambda v: 0.5 * (v[0] - c * v[1]) ** 2 + 0.5 * (v[0] ** 2 + (s * v[1]) ** 2),
        V=lambda q: 0.5 * stiffness * q[1] ** 2,
        dissipation=lambda v: 0.5 * damping * v[1] ** 2,
    )
    return system, [[1.0], [-c]]


CARS = {
    "index 5, none": (0.0, 50.0, 0.0, 5, "none", []),
    "index 4, stable": (0.0, 50.0, 2.0, 4, "stable", [-25.0]),
    "index 3, stable": (np.pi / 4, 50.0, 2.0, 3, "stable", np.roots([0.5, 2.0, 50.0])),
    "index 3, marginal": (np.pi / 4, 50.0, 0.0, 3, "marginal", np.roots([0.5, 0.0, 50.0])),
    "index 3, unstable": (np.pi / 4, -50.0, 0.5, 3, "unstable", np.roots([0.5, 0.5, -50.0])),
}


@pytest.mark.parametrize("case", CARS)
def test_mass_on_a_car_is_diagnosed(case):
    alpha, stiffness, damping, index, internal, eigenvalues = CARS[case]
    system, B = car(alpha, stiffness, damping)
    facts = system.servo({"y": smooth}, actuators=B).realizability
    assert facts.index == index
    assert facts.internal == internal
    assert facts.relative_degrees == {"y": index - 1}
    assert facts.smoothness == {"y": index - 1}
    expected = np.asarray(eigenvalues, dtype=complex)
    order = np.lexsort((expected.imag, expected.real.round(6)))
    found = facts.internal_eigenvalues[
        np.lexsort((facts.internal_eigenvalues.imag, facts.internal_eigenvalues.real.round(6)))
    ]
    np.testing.assert_allclose(found, expected[order], atol=1e-7)


def test_flat_car_against_its_closed_form():
    system, B = car(0.0, 50.0, 0.0)
    solution = system.servo({"y": smooth}, actuators=B).solve(np.linspace(0.0, 1.0, 41))
    # m₂ ÿ = −k s, so that F = (m₁ + m₂) ÿ − m₁ s̈ with s̈ = −y⁗/k.
    p = np.poly1d([70, -315, 540, -420, 126, 0, 0, 0, 0, 0])
    t = solution.t
    np.testing.assert_allclose(solution["s"], -p.deriv(2)(t) / 50.0, atol=FLAT)
    expected = 2.0 * p.deriv(2)(t) + p.deriv(4)(t) / 50.0
    np.testing.assert_allclose(solution.effort["u0"], expected, atol=1e-6)


def test_stable_internal_dynamics_is_integrated():
    alpha, stiffness, damping = np.pi / 4, 50.0, 2.0
    system, B = car(alpha, stiffness, damping)
    solution = system.servo({"y": smooth}, actuators=B).solve(np.linspace(0.0, 1.0, 21))
    assert solution.how == "initial value problem"
    # ½ s̈ + 2 ṡ + 50 s = −cos α ÿ from rest, by Duhamel's integral.
    p = np.poly1d([70, -315, 540, -420, 126, 0, 0, 0, 0, 0]).deriv(2)
    w = np.sqrt(96.0)

    def s(t):
        g = quad(
            lambda u: np.exp(-2 * (t - u)) * np.sin(w * (t - u)) / w * p(u), 0, t, epsabs=1e-12
        )
        return -2.0 * np.cos(alpha) * g[0]

    np.testing.assert_allclose(solution["s"], [s(t) for t in solution.t], atol=1e-9)


def test_unstable_internal_dynamics_is_inverted_with_boundary_values():
    alpha, stiffness, damping = np.pi / 4, -50.0, 0.5
    system, B = car(alpha, stiffness, damping)
    servo = system.servo({"y": rest_to_rest}, actuators=B)
    solution = servo.solve(np.linspace(-0.5, 3.5, 41))
    assert solution.how == "boundary value problem"
    p2, p1 = np.sort(np.roots([0.5, 0.5, -50.0]))[::-1]  # one grows, one decays
    y2 = np.poly1d([70, -315, 540, -420, 126, 0, 0, 0, 0, 0]).deriv(2)

    def s(t):
        # The bounded solution: past by the decaying root, future by the growing one.
        def part(root, a, b):
            a, b = max(a, 1.0), min(b, 2.0)
            if a >= b:
                return 0.0
            return quad(lambda u: np.exp(root * (t - u)) * y2(u - 1.0), a, b, epsabs=1e-13)[0]

        past, future = part(p1, -np.inf, t), part(p2, t, np.inf)
        return -2.0 * np.cos(alpha) * (past + future) / (p1 - p2)

    np.testing.assert_allclose(solution["s"], [s(t) for t in solution.t], atol=BOUNDED)
    np.testing.assert_allclose(solution["y"], [float(_number(t)) for t in solution.t], atol=1e-9)
    with pytest.raises(zw.ZwangError, match="begins and ends at rest"):
        servo.solve(np.linspace(-1.0, 1.5, 20))


@pytest.mark.parametrize("travel", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("span", [1e-4, 1.0, 1e4])
def test_a_program_rests_in_its_own_travel_and_time(travel, span):
    """Small ways had been taken for rest, and slow rates of large ways for motion."""

    def jets(f):
        x = np.poly1d(f)
        scale = travel / span ** np.arange(3)
        return lambda _, t: (scale * [x.deriv(j)(t / span) for j in range(3)])[:, None]

    times = span * np.linspace(0.0, 1.0, 21)
    smooth = [70, -315, 540, -420, 126, 0, 0, 0, 0, 0]
    for f, said in (([1, 0], "at a rate of"), ([-1, 2, 0], "t = 0,"), ([1, 0, 0], "accel|a rate")):
        with pytest.raises(zw.ZwangError, match=said):
            require_rest(jets(f), times, "'y'")
    require_rest(jets(smooth), times, "'y'")
    require_rest(jets([3.0]), times, "'y'")


def test_a_small_program_that_is_fast_at_its_start_is_refused():
    system, B = car(np.pi / 4, -50.0, 0.5)
    servo = system.servo({"y": lambda t: 1e-8 * np.sin(20.0 * t)}, actuators=B)
    with pytest.raises(zw.ZwangError, match=r"begins and ends at rest.*moves at t = 0, at a rate"):
        servo.solve(np.linspace(0.0, 3.0, 41))


def _number(t):
    return 0.0 if t < 1.0 else 1.0 if t > 2.0 else smooth(t - 1.0)


# --- full actuation, loops, refusals --------------------------------------------------------------


def test_ideal_full_actuation_is_the_control_force():
    particle = zw.System(
        ["x", "y"],
        mass=lambda: 2.0 * np.eye(2),
        force=lambda: [0.0, -20.0],
        constraints={"rail": zw.position(lambda q: q[1] - 0.1 * q[0] ** 2)},
    )
    servo = particle.servo({"x": np.sin}, actuators=["x"])
    assert servo.realizability.index == 3
    solution = servo.solve([0.0, 0.5, 1.0])
    for i, t in enumerate(solution.t):
        control = particle.control_force(
            solution.q[i],
            solution.v[i],
            float(t),
            program={"go": zw.position(lambda q, t: q[0] - np.sin(t))},
            actuators=[[1.0], [0.0]],
        )
        assert control.actuation is not None
        np.testing.assert_allclose(solution.effort["x"][i], control.actuation[0], atol=1e-10)


def test_a_loop_with_redundant_rows():
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    angle, length = 0.9, 1.0
    B = length * np.array([np.cos(angle), np.sin(angle)])
    beam = m.body("beam", mass=3.0, inertia=1.0, position=B + (1.0, 0.0))
    for k in range(3):
        foot = np.array([float(k), 0.0])
        crank = m.body(f"crank{k}", mass=1.0, inertia=0.1, position=foot + 0.5 * B, angle=angle)
        m.revolute(f"foot{k}", m.ground, crank, at=foot)
        m.revolute(f"head{k}", crank, beam, at=foot + B)

    def way(t):
        return 0.2 * t**2

    t = np.linspace(0.0, 0.5, 4)
    servo = m.servo({"foot0.angle": way}, actuators=["foot0.angle"])
    assert servo.realizability.index == 3
    assert servo.realizability.flat
    solution = servo.solve(t)
    inv = m.inverse_dynamics((t, {"foot0.angle": way}), ["foot0.angle"])
    np.testing.assert_allclose(solution.effort["foot0.angle"], inv.effort["foot0.angle"], atol=1e-8)
    np.testing.assert_allclose(solution["foot2.angle"], way(t), atol=1e-10)


def arm() -> zw.Mechanism:
    """Two links in a horizontal plane."""
    m = zw.Mechanism(plane="xy")
    one = m.body("one", mass=1.0, inertia=0.1, position=(0.5, 0))
    end = circles(np.array([1.0, 0.0]), 1.0, np.array([1.0, 2.0]), 1.5, 1.0)
    two = m.body("two", mass=1.0, inertia=0.1, position=0.5 * (end + (1.0, 0.0)))
    m.revolute("shoulder", m.ground, one, at=(0, 0))
    m.revolute("elbow", one, two, at=(1, 0))
    return m


def test_a_robot_with_a_passive_joint_is_refused_with_the_reason():
    with pytest.raises(zw.ZwangError) as error:
        arm().servo({"shoulder.angle": smooth, "elbow.angle": smooth}, actuators=["shoulder.angle"])
    assert "but has 2 quantities and 1 actuator," in str(error.value)
    # With one quantity it is left with internal dynamics that never settles.
    facts = arm().servo({"elbow.angle": smooth}, actuators=["shoulder.angle"]).realizability
    assert facts.index == 3
    assert facts.internal == "marginal"


@pytest.mark.parametrize("faster", [1e-5, 1e-2, 1e3, 1e5])
def test_the_unit_of_time_does_not_matter(faster):
    """The same motions, so many times as fast."""

    def quick(t):
        return smooth(faster * t)

    for alpha, stiffness, damping, index, internal, eigenvalues in CARS.values():
        system, B = car(alpha, stiffness * faster**2, damping * faster)
        facts = system.servo({"y": quick}, actuators=B).realizability
        assert facts.index == index
        assert facts.internal == internal
        sizes = np.sort(np.abs(facts.internal_eigenvalues)) / faster
        np.testing.assert_allclose(sizes, np.sort(np.abs(eigenvalues)), rtol=1e-6)
    facts = arm().servo({"elbow.angle": quick}, actuators=["shoulder.angle"]).realizability
    assert facts.internal == "marginal"


def test_actuators_without_influence_are_refused():
    carts = zw.System(["a", "b"], mass=lambda: np.eye(2))
    servo = carts.servo({"b": smooth}, actuators=["a"])
    assert servo.realizability.index is None
    assert servo.realizability.relative_degrees == {"b": 0}
    with pytest.raises(zw.ZwangError) as error:
        servo.solve([0.0, 1.0])
    assert "the efforts of the actuators 'a' must be determined by the program of 'b'" in str(
        error.value
    )
    assert str(servo).startswith("the efforts of the actuators (a) are not determined by the pro")


MISTAKES = {
    "no program": (({}, ["s", "l"]), "at least one"),
    "unknown quantity": (({"y": smooth}, ["s"]), "quantity of the program"),
    "unknown actuator": (({"x": smooth}, ["t"]), "actuator"),
    "samples": (({"x": [1.0, 2.0]}, ["s"]), "a function of t"),
    "too many actuators": (({"x": smooth}, ["s", "l"]), "share a motion"),
    "matrix of wrong size": (({"x": smooth}, [[1.0], [2.0]]), r"have shape (4, k)"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_told_in_one_sentence(case):
    arguments, words = MISTAKES[case]
    with pytest.raises(zw.ZwangError) as error:
        crane().servo(*arguments)
    assert words in str(error.value)


def test_programs_that_are_not_smooth_enough_are_refused_with_the_time():
    system, B = car(0.0, 50.0, 0.0)

    def ramp(t):
        return zw.where(t < 0.5, 0.0, (t - 0.5) ** 3)

    with pytest.raises(zw.ZwangError, match=r"order 3 jumps at t = 0\.5"):
        system.servo({"y": ramp}, actuators=B).solve(np.linspace(0.0, 1.0, 11))
    with pytest.raises(zw.ZwangError, match="times that grow"):
        system.servo({"y": smooth}, actuators=B).solve([1.0, 0.0])


def test_a_start_names_coordinates_of_joints():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    cart = m.body("cart", mass=2.0, inertia=0.1)
    pole = m.body("pole", mass=0.5, inertia=0.02, position=(0, -0.5))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    start = {"rail.displacement": 0.0, "pin.angle": 0.3}
    found = m.assemble(start=start)
    assert abs(m.system.joint_coordinate("pin.angle", found) - 0.3) < 1e-12
    m.servo({"rail.displacement": lambda t: 0.1 * t**3}, ["rail.displacement"], start=start)
    with pytest.raises(zw.InputError, match=r"start.*'rail.displacmnt'"):
        m.servo({"rail.displacement": np.sin}, ["rail.displacement"], start={"rail.displacmnt": 0})
    times = np.linspace(0.0, 1.0, 5)
    with pytest.raises(zw.ZwangError, match=r"m\.drive .* m\.servo"):
        m.inverse_dynamics((times, {"rail.displacement": np.sin}), ["rail.displacement"])


def hanging_load(unit: float) -> ServoSolution:
    """A point mass that hangs on a rod from a cart, and is moved by 1 m in 2 s."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81 * unit))
    cart = m.body("cart", mass=1.0, inertia=0.1 * unit**2)
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, m.body("load", mass=0.2, position=(0, -0.5 * unit)), at=(0, 0))

    def f(t):
        return unit * smooth(t, 2.0)

    servo = m.servo({"load.position.x": f}, ["rail.displacement"])
    return servo.solve(np.linspace(0.0, 2.0, 11))


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_unit_of_length_of_bodies_does_not_matter(unit):
    """In millimetres ten times as many steps had been taken, and efforts were 0.6 % off."""
    found, wanted = hanging_load(unit), hanging_load(1.0)
    assert found.how == "differentiation"
    effort = found.effort["rail.displacement"] / unit
    np.testing.assert_allclose(effort, wanted.effort["rail.displacement"], atol=1e-6)
    np.testing.assert_allclose(found["pin.angle"], wanted["pin.angle"], atol=1e-8)
