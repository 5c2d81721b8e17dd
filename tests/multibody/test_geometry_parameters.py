"""Dimensions as expressions of parameters: changing one is building anew, and compiles nothing.

The reference is the same mechanism built with plain numbers, and closed forms of the pendulum.
"""

import pickle

import numpy as np
import pytest

import zwang as zw
from zwang.codegen import compilations

#: Positions of two runs that compute the same sums in another order.
SAME = 1e-13


def four_bar(a=0.1, d=0.4, *, parametric=False):
    """Crank and base of other lengths; by parameters or by numbers."""
    m = zw.Mechanism(gravity=(0, -9.81), plane="xy")
    if parametric:
        a, d = m.parameter("a", a), m.parameter("d", d)
    crank = m.body("crank", inertia=zw.inertia.rod(1.0, a).at((a / 2, 0, 0)), position=(0, 0))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 0.35), position=(a + 0.1, 0.1), angle=0.3)
    rocker = m.body(
        "rocker", inertia=zw.inertia.rod(1.0, 0.3), position=(d, 0.15), angle=0.5 * np.pi
    )
    m.revolute("A", m.ground, crank, at=(0, 0))
    m.revolute("B", crank, rod, at=(crank.marker((a, 0)), rod.marker((-0.175, 0))))
    m.revolute("C", rod, rocker, at=(rod.marker((0.175, 0)), rocker.marker((0.15, 0))))
    m.revolute("D", m.ground, rocker, at=((d, 0), rocker.marker((-0.15, 0))))
    return m


@pytest.mark.parametrize("values", [{"a": 0.13}, {"d": 0.45}, {"a": 0.07, "d": 0.42}])
def test_a_changed_length_is_the_mechanism_built_with_it(values):
    m, plain = four_bar(parametric=True), four_bar(**values)
    run = m.simulate(until=0.3, parameters=values)
    want = plain.simulate(until=0.3, save=run.t)
    np.testing.assert_allclose(run.q, want.q, atol=1e-8)  # steps differ by the tolerance 1e-9
    solved, wanted = m.solve(parameters=values), plain.solve()
    np.testing.assert_allclose(solved.acceleration, wanted.acceleration, rtol=1e-11)
    for name in "ABCD":
        got, reference = m.passport(parameters=values).groups[name], plain.passport().groups[name]
        np.testing.assert_allclose(got.resultant, reference.resultant, atol=1e-9)
    # The origin of the crank is at its bearing, whatever its length and centre of mass are.
    assert np.abs(run["crank.position"]).max() < 1e-12
    assert run.mechanism.bodies[0].inertia.center[0] == values.get("a", 0.1) / 2
    force = run.reaction("B").force[0]
    np.testing.assert_allclose(force, want.reaction("B").force[0], atol=1e-8)


def test_a_sweep_over_lengths_compiles_once():
    m = four_bar(parametric=True)
    m.simulate_many(until=0.05, parameters={"a": np.linspace(0.09, 0.11, 4)})
    m.simulate(until=0.05, parameters={"a": 0.105})
    before = compilations()
    runs = m.simulate_many(until=0.05, parameters={"a": np.linspace(0.06, 0.14, 20)})
    one = m.simulate(until=0.05, parameters={"a": 0.123})
    assert compilations() == before
    assert all(run.t[-1] == 0.05 for run in runs)
    assert one.parameters["a"] == 0.123


@pytest.mark.campaign
def test_a_thousand_lengths_compile_once():
    m = four_bar(parametric=True)
    m.simulate_many(until=0.05, parameters={"a": np.linspace(0.09, 0.11, 4)})
    before = compilations()
    runs = m.simulate_many(until=0.05, parameters={"a": np.linspace(0.05, 0.15, 1000)})
    assert compilations() == before
    assert len(runs) == 1000


def test_another_default_shares_what_is_compiled():
    m = four_bar(parametric=True)
    m.simulate(until=0.05)
    before = compilations()
    longer = m.with_parameters(a=0.12)
    run = longer.simulate(until=0.05)
    assert compilations() == before
    same = m.simulate(until=0.05, parameters={"a": 0.12})
    np.testing.assert_array_equal(run.q, same.q)
    with pytest.raises(zw.InputError, match="one of a, d"):
        m.with_parameters(b=1.0)


def test_impossible_lengths_are_told_in_a_sentence():
    m = four_bar(parametric=True)
    with pytest.raises(zw.AssemblyError, match="cannot be closed"):
        m.simulate(until=0.1, parameters={"a": 2.0})
    with pytest.raises(zw.InputError, match=r"length of 'crank' .* positive number, not -0\.1"):
        m.simulate(until=0.1, parameters={"a": -0.1})
    with pytest.raises(zw.InputError, match="must have shape"):
        m.simulate(until=0.1, parameters={"a": [1.0, 2.0]})


def test_numbers_that_follow_from_a_parameter_are_not_given_beside_it():
    m = four_bar(parametric=True)
    run = m.simulate(until=0.05, parameters={"a": 0.12})
    again = m.simulate(until=0.05, parameters=run.parameters)  # all of them, and they agree
    np.testing.assert_array_equal(run.q, again.q)
    with pytest.raises(zw.InputError, match="must follow from a, but is given"):
        m.simulate(until=0.05, parameters={**run.parameters, "a": 0.1})
    event = zw.event("A.angle", zw.set_parameters(a=0.2))
    with pytest.raises(zw.InputError, match="dimensions of the mechanism follow from"):
        m.simulate(until=0.05, events={"longer": event})


def pendulum():
    """A thin rod on a pin, its length and the place of the pin on it as parameters; in space."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    L, s, tilt = m.parameter("L", 1.0), m.parameter("s", 0.0), m.parameter("tilt", 0.0)
    rod = m.body("rod", inertia=zw.inertia.rod(2.0, L), position=(0.5 * L - s, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis=(0, np.cos(tilt), np.sin(tilt)))
    m.force("push", rod, (0, 0, 3.0 * L), at=(L / 2, 0, 0))
    return m


@pytest.mark.parametrize(("L", "s", "tilt"), [(1.0, 0.0, 0.0), (0.6, 0.1, 0.0), (1.7, 0.2, 0.5)])
def test_lengths_axes_points_and_forces_of_a_pendulum(L, s, tilt):
    """θ̈ = (g (L/2 − s) m − F (L − s)) cos(tilt) / (m L²/12 + m (L/2 − s)²), F = 3 L upwards."""
    m, values = pendulum(), {"L": L, "s": s, "tilt": tilt}
    c = L / 2 - s
    moment = 9.81 * 2.0 * c - 3.0 * L * (L - s)
    want = moment * np.cos(tilt) / (2.0 * L**2 / 12 + 2.0 * c**2)
    channel = m.solve(parameters=values).acceleration[4:]  # about the body's y and z
    assert channel @ [np.cos(tilt), np.sin(tilt)] == pytest.approx(want, rel=1e-12)


def test_laws_of_ones_own_see_the_changed_body():
    """A constraint, a force and a driver of a body whose centre of mass moves with a parameter."""

    def build(L, m):
        disk = m.body("disk", inertia=zw.inertia.sphere(1.0, 0.1).at((L, 0, 0)), position=(0, 0, L))
        m.constraint("height", [disk], lambda bodies: bodies[0].point((0, 0, 0))[2] - 0.3)
        m.user_force("wind", [disk], lambda bodies: [(-bodies[0].position, (0, 0, 0))])
        m.drive("turn", "disk.orientation", np.eye(3))
        return m

    m = zw.Mechanism(gravity=(0, 0, -9.81))
    build(m.parameter("L", 0.2), m)
    plain = build(0.5, zw.Mechanism(gravity=(0, 0, -9.81)))
    np.testing.assert_allclose(m.assemble(parameters={"L": 0.5}).q, plain.assemble().q, atol=SAME)
    got, want = m.solve(parameters={"L": 0.5}), plain.solve()
    np.testing.assert_allclose(got.acceleration, want.acceleration, atol=1e-12)


def test_a_rod_between_moving_points_is_as_long_as_placed():
    m = zw.Mechanism()
    L = m.parameter("L", 0.5)
    ball = m.body("ball", 1.0, position=(L, 0, 0))
    m.spherical_link("link", m.ground, ball, at=((0, 0, 0), (L, 0, 0)))
    m.spring_damper("coil", m.ground, ball, at=((0, 1, 0), (L, 0, 0)), stiffness=1.0)
    values = m.system.parameter_values({"L": 2.0})
    assert values["link.length"] == 2.0
    assert values["coil.length"] == np.hypot(1.0, 2.0)


def test_expressions_refuse_what_needs_their_value():
    m = zw.Mechanism()
    L = m.parameter("L", 0.5)
    for use in (lambda: float(L), lambda: bool(L > 1), lambda: list(L)):
        with pytest.raises(zw.InputError, match="expression of 'L'"):
            use()
    assert repr(2 * L) == "<expression of L>"
    with pytest.raises(zw.InputError, match="one of L"):
        m.parameter("M")
    other = zw.Mechanism(parameters={"k": 1.0})
    with pytest.raises(zw.InputError, match="'L'"):
        other.body("rod", 1.0, position=(L, 0, 0))


def test_a_value_that_changes_the_equations_is_refused():
    m = zw.Mechanism(plane="xy")
    a = m.parameter("a", 0.0)
    rod = m.body("rod", 1.0, 1.0)
    m.revolute("pin", m.ground, rod, axis=(0, 0, 1))
    m.torsion_spring("coil", m.ground, rod, axis=(np.sin(a), 0, np.cos(a)))
    with pytest.raises(zw.InputError):
        m.solve(parameters={"a": 0.5 * np.pi})


def test_kinematics_loads_and_linearization_follow_the_parameter():
    m, plain = four_bar(parametric=True), four_bar(a=0.12)
    along, values = ("A.angle", np.linspace(0.0, 1.0, 4)), {"a": 0.12}
    k, want = m.kinematics(along=along, parameters=values), plain.kinematics(along=along)
    np.testing.assert_allclose(k["crank.position"], want["crank.position"], atol=1e-12)
    tip = k.coupler_curve("crank", (0.12, 0))
    np.testing.assert_allclose(tip, want.coupler_curve("crank", (0.12, 0)), atol=1e-12)
    rest, rested = m.equilibrium(parameters=values), plain.equilibrium()
    np.testing.assert_allclose(rest.q, rested.q, atol=1e-9)
    force = rest.reaction("B").force
    np.testing.assert_allclose(force, rested.reaction("B").force, atol=1e-8)


def test_a_mechanism_of_parameters_can_be_sent_to_another_process():
    m = pickle.loads(pickle.dumps(four_bar(parametric=True)))
    system = pickle.loads(pickle.dumps(m.system))
    want = m.assemble(parameters={"a": 0.12}).q
    np.testing.assert_array_equal(system.assemble(parameters={"a": 0.12}).q, want)


VECTORS = {
    "vector times number": lambda a, r: np.array([0.5, -0.1, 0.0]) * a,
    "number times vector": lambda a, r: a * np.array([0.5, -0.1, 0.0]),
    "shifted": lambda a, r: np.array([1.0, 0.0, 0.0]) - np.array([0.5, 0.1, 0.0]) / a,
    "two parameters": lambda a, r: np.array([0.5, 0.1, 0.0]) * r + a,
    "turned": lambda a, r: np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) @ r,
    "functions": lambda a, r: np.arctan2(np.array([0.5, 0.1, 0.2]), a),
    "entries": lambda a, r: list(a * np.array(list(r))),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_of_parameters_are_built_studied_and_written(name, tmp_path):
    point, r = VECTORS[name], np.array([0.3, 0.2, 0.1])

    def built(a, at):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        a, at = (m.parameter("a", a), m.parameter("r", at)) if at is not r else (a, at)
        rod = m.body("rod", inertia=zw.inertia.sphere(1.0, 0.1), position=point(a, at))
        m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        return m

    free = built(1.0, r.copy())
    right = [built(a, r).simulate(until=0.1).q[-1] for a in (1.0, 1.2)]
    np.testing.assert_allclose(free.simulate(until=0.1).q[-1], right[0], rtol=1e-12, atol=1e-14)
    plan = {"grid": {"a": [1.0, 1.2]}, "until": 0.1, "outputs": ["rod.x", "rod.z"]}
    data = zw.study(free, plan, output=tmp_path / "a.zarr").run(progress=False).dataset
    np.testing.assert_allclose(data["rod.z"], [q[2] for q in right], rtol=1e-9, atol=1e-12)
    zw.write_model(free, tmp_path / "a.toml")
    read = zw.read_model(tmp_path / "a.toml", values={"a": 1.2})
    np.testing.assert_allclose(read.simulate(until=0.1).q[-1], right[1], rtol=1e-9, atol=1e-12)


def test_one_number_is_not_taken_apart():
    m = zw.Mechanism()
    with pytest.raises(zw.InputError, match="'a' must not be taken apart, as it is one number"):
        list(m.parameter("a", 1.0))
    assert len(list(m.parameter("r", (1.0, 2.0, 3.0)))) == 3


#: Functions of parameters, their defaults, other values, and what a change of all by one share, or
#: none of the changes, tells nothing of.
FUNCTIONS = {
    "quotient": (lambda a, b: b / a, (3.0, 4.0), (3.0, 9.0)),
    "quotient of both": (lambda a, b: b / a, (3.0, 4.0), (5.0, 6.0)),
    "angle": (np.arctan2, (0.5, 0.7), (3.0, 0.7)),
    "difference of equal ones": (lambda a, b: a - b, (1.0, 1.0), (3.0, 1.0)),
    "bound": (lambda a, _: np.maximum(a, 1.0), (0.5, 1.0), (3.0, 1.0)),
    "root": (lambda a, b: np.sqrt(a * a + b * b) - 5.0, (3.0, 4.0), (5.0, 12.0)),
    "flat at the default": (lambda a, b: (a - 3.0) ** 3 + b, (3.0, 1.0), (4.0, 1.0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whatever_function_of_parameters_a_number_is_it_follows(name):
    f, defaults, values = FUNCTIONS[name]

    def built(a, b):
        m = zw.Mechanism(plane="xz", gravity=(0, 0, 0))
        one, other = m.parameter("a", a), m.parameter("b", b)
        body = m.body("body", mass=1.0, inertia=0.1)
        m.prismatic("rail", m.ground, body, at=(0, 0, 0), axis="x")
        m.force("push", body, (f(one, other), 0, 0))
        return m

    m, given = built(*defaults), dict(zip("ab", values, strict=True))
    wanted = 0.5 * f(*values)  # x = F t²/2m
    runs = m.simulate_many(until=1.0, parameters={k: [x] for k, x in given.items()})
    states = m.solve(parameters=given).acceleration[0]
    ends = [m.simulate(until=1.0, parameters=given)["body.x"][-1], runs[0]["body.x"][-1]]
    np.testing.assert_allclose([*ends, 0.5 * states], wanted, rtol=1e-12, atol=1e-14)


def test_an_axis_by_two_legs_of_a_slope_turns():
    """g sin α cos α t²/2 along x and g sin² α t²/2 down, of slopes of any size."""

    def built(rise=3.0, run=4.0):
        m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
        h, w = m.parameter("rise", rise), m.parameter("run", run)
        box = m.body("box", mass=2.0, inertia=0.1)
        m.prismatic("rail", m.ground, box, at=(0, 0, 0), axis=(w, 0, -h))
        return m

    for rise, run in ((1.0, 1.0), (4.0, 4.0), (3.0, 1.0)):
        end = built().simulate(until=1.0, parameters={"rise": rise, "run": run})["box.position"][-1]
        sine, cosine = rise / np.hypot(rise, run), run / np.hypot(rise, run)
        wanted = 0.5 * 9.81 * sine * np.array([cosine, 0.0, -sine])
        np.testing.assert_allclose(end, wanted, atol=1e-9)


def test_closed_forms_refuse_letters_that_enter_by_a_quotient():
    sympy = pytest.importorskip("sympy")
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    s, c = m.parameter("s", 0.6), m.parameter("c", 0.8)
    box = m.body("box", mass=2.0, inertia=0.18)
    m.prismatic("u", m.ground, box, at=(0, 0, 0), axis=(c, 0, -s))
    with pytest.raises(zw.ZwangError, match="polynomial"):
        m.derive(parameters={"s": sympy.Symbol("s"), "c": sympy.Symbol("c")})


def cart():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    m.body("cart", mass=0.8, inertia=0.01)
    m.prismatic("rail", m.ground, "cart", at=(0, 0), axis="x")
    return m


MOVED = {"rail.at_a": (0.1, 0.0)}


def test_the_law_of_a_motor_reads_the_joint_as_its_points_are():
    m = cart()
    m.actuator("motor", "rail.displacement", lambda c: -10.0 * c["rail.displacement"])
    run = m.simulate(until=0.5, save=0.25, parameters=MOVED)
    np.testing.assert_allclose(run["rail.displacement"][0], -0.1)
    np.testing.assert_allclose(run["motor.effort"], -10.0 * run["rail.displacement"], atol=1e-9)
    np.testing.assert_allclose(
        run["rail.displacement"], -0.1 * np.cos(np.sqrt(12.5) * run.t), atol=1e-7
    )
    assert abs(m.equilibrium(parameters=MOVED)["rail.displacement"]) < 1e-12
    many = m.simulate_many(until=0.5, save=0.25, parameters={"rail.at_a": [(0.0, 0.0), (0.1, 0.0)]})
    np.testing.assert_allclose(many[1].q, run.q, atol=1e-10)  # within the tolerance, 1e-9


def test_drivers_and_couplers_hold_the_joint_as_its_points_are():
    m = cart()
    m.drive("jack", "rail.displacement", lambda t: 0.2 + 0.0 * t)
    assert m.simulate(until=0.1, parameters=MOVED)["rail.displacement"][-1] == pytest.approx(0.2)
    m = zw.Mechanism(plane="xy", gravity=(0, 0))
    for name, y in (("one", 0.0), ("two", 1.0)):
        m.body(name, mass=1.0, inertia=1.0, position=(0, y))
        m.revolute(f"pin_{name}", m.ground, name, at=(0, y))
    m.couple("belt", "pin_one.angle", "pin_two.angle", 2.0)
    m.force("push", "one", (0, 1.0), at=(1.0, 0))
    moved = m.simulate(until=1.0, parameters={"pin_one.at_b": (0.3, 0.0)})
    np.testing.assert_allclose(moved["pin_one.angle_rate"], 2 * moved["pin_two.angle_rate"])


def test_copies_of_a_joints_points_are_not_given():
    m = cart()
    m.actuator("motor", "rail.displacement", lambda c: -10.0 * c["rail.displacement"])
    assert not any(name.startswith("motor") for name in m.system.parameters)
    with pytest.raises(
        zw.InputError, match=r"'motor.at_a_0' must be that of the joint, 'rail.at_a'"
    ):
        m.simulate(until=0.1, parameters={"motor.at_a_0": (0.1, 0.0)})
    with pytest.raises(zw.InputError) as refused:
        m.simulate(until=0.1, parameters={"rail.at_c": (0.1, 0.0)})
    assert "motor" not in str(refused.value)
    stored = {**m.system.parameters, **MOVED, "motor.at_a_0": (0.1, 0.0)}  # as of earlier versions
    np.testing.assert_array_equal(
        m.simulate(until=0.1, parameters=stored).q, m.simulate(until=0.1, parameters=MOVED).q
    )


def test_an_expression_in_many_others_is_evaluated_once():
    """Each of sixty sums has the one before twice: 2⁶⁰ evaluations otherwise."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    place = m.parameter("a", 0.5)
    for _ in range(60):
        place = 0.5 * (place + place)
    m.body("ball", mass=1.0, inertia=1.0, position=(place, 0), free=True)
    assert m.simulate(until=0.1, parameters={"a": 0.7})["ball.x"][0] == 0.7


def test_the_note_of_a_closed_form_names_letters_that_can_be_kept():
    sympy = pytest.importorskip("sympy")
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    alpha, R = m.parameter("alpha", 0.4), m.parameter("R", 0.3)
    box = m.body("box", mass=2.0, inertia=0.18, position=(R, 0, 0))
    m.prismatic("u", m.ground, box, at=(R, 0, 0), axis=(np.sin(alpha), 0, np.cos(alpha)))
    (note,) = m.derive().notes
    assert 'parameters={"R": sympy.Symbol("R")} keeps a letter; alpha enters by other' in note
    (note,) = m.derive(parameters={"R": sympy.Symbol("R")}).notes
    assert "sympy" not in note
