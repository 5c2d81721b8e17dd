"""Closed forms of mechanisms in the coordinates of their joints, against textbooks and by hand."""

from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang.rotation import quaternion

sp = pytest.importorskip("sympy")

ROOT = Path(__file__).resolve().parents[2]
#: Two evaluations of the same formula in double precision.
ROUNDING = 1e-12


def plane() -> zw.Mechanism:
    return zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))


def pendulum() -> zw.Mechanism:
    m = plane()
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="z"), position=(0, 0, -0.5))
    m.revolute("theta", m.ground, rod, at=(0, 0, 0))
    return m


def cart_pole() -> zw.Mechanism:
    m = plane()
    cart = m.body("cart", mass=2.0, inertia=0.1)
    bob = m.body("bob", mass=0.5, inertia=0.0, position=(0, 0, -1))
    m.prismatic("x", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("theta", cart, bob, at=(0, 0, 0))
    return m


def double_pendulum() -> zw.Mechanism:
    m = plane()
    a = m.body("a", mass=1.0, inertia=0.0, position=(0, 0, -1))
    b = m.body("b", mass=2.0, inertia=0.0, position=(0, 0, -2))
    m.revolute("alpha", m.ground, a, at=(0, 0, 0))
    m.revolute("beta", a, b, at=(0, 0, -1))
    return m


def test_a_planar_pendulum_has_the_sine_of_its_angle_alone():
    form = pendulum().derive()
    theta, g, m, J = sp.symbols("theta g m_rod J_rod")
    expected = -m * g * sp.Rational(1, 2) * sp.sin(theta) / (J + m / 4)
    assert sp.simplify(form.acceleration[0] - expected) == 0
    assert not form.acceleration[0].has(sp.cos)


def test_letters_can_be_replaced():
    form = pendulum().derive(parameters={"J_rod": sp.Symbol("m_rod") / 12})
    theta, g = sp.symbols("theta g")
    assert sp.simplify(form.acceleration[0] + sp.Rational(3, 2) * g * sp.sin(theta)) == 0
    with pytest.raises(zw.InputError, match="g, m_rod, J_rod"):
        pendulum().derive(parameters={"mass": 1.0})


def test_a_cart_with_a_pole_is_that_of_textbooks():
    form = cart_pole().derive()
    theta, rate, g, M, m = sp.symbols("theta theta_dot g m_cart m_bob")
    # An angle about y is positive from z to x: the bob is at x − sin θ … with the right-hand rule.
    ahead = form.M[0, 1] / (m * sp.cos(theta))
    assert ahead in (1, -1)
    D = M + m * sp.sin(theta) ** 2
    x_ddot = ahead * m * sp.sin(theta) * (rate**2 + g * sp.cos(theta)) / D
    theta_ddot = -(m * rate**2 * sp.cos(theta) + (M + m) * g) * sp.sin(theta) / D
    assert sp.simplify(form.acceleration[0] - x_ddot) == 0
    assert sp.simplify(form.acceleration[1] - theta_ddot) == 0


def test_a_double_pendulum_agrees_with_its_lagrangian_at_random_states():
    form = double_pendulum().derive()

    def position(q):
        return (
            np.array([np.sin(q[0]), -np.cos(q[0])]),
            np.array([np.sin(q[0]) + np.sin(q[0] + q[1]), -np.cos(q[0]) - np.cos(q[0] + q[1])]),
        )

    def kinetic(q, v):
        first = v[0] ** 2
        w = v[0] + v[1]
        second = v[0] ** 2 + w**2 + 2 * v[0] * w * np.cos(q[1])
        return 0.5 * 1.0 * first + 0.5 * 2.0 * second

    lagrangian = zw.System.from_lagrangian(
        ["alpha", "beta"],
        T=kinetic,
        V=lambda q: 9.81 * (1.0 * position(q)[0][1] + 2.0 * position(q)[1][1]),
    )
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-3, 3, (20, 2)), rng.uniform(-3, 3, (20, 2))
    expected = lagrangian.solve(q, v).acceleration
    assert np.allclose(form.at("acceleration", q, v), expected, rtol=0, atol=100 * ROUNDING)


def test_a_spring_and_a_damper_keep_their_letters():
    m = cart_pole()
    m.spring_damper("coil", m.ground, "cart", at=((-1, 0, 0), (0, 0, 0)), stiffness=50, damping=3)
    form = m.derive(solve=False)
    assert {"k_coil", "c_coil"} <= {s.name for s in form.Q.free_symbols}
    at_rest = form.at("Q", [0.2, 0.0], [0.0, 0.0])
    assert np.allclose(at_rest, [-50.0 * 0.2, 0.0], rtol=0, atol=ROUNDING * 50)


def test_a_loop_keeps_its_closing_joint_as_a_constraint():
    m = zw.library.four_bar()
    form = m.derive(solve=False)
    start = m.assemble(velocity={"hold": {"A.angle_rate": 2.0}})
    run = m.simulate(start, until=0.3, save=0.1, tolerance=1e-11)
    names = [s.name for s in form.names.coordinates]
    q = np.stack([run[f"{name}.angle"] for name in names], axis=1)
    v = np.stack([run[f"{name}.angle_rate"] for name in names], axis=1)
    motion = zw.solve(*(form.at(term, q, v) for term in "MQAb"))
    i = names.index("A")
    # About the normal of the plane, as seen from the ground: independent of joint coordinates.
    crank = run["crank.angular_acceleration.y"]
    assert np.allclose(np.abs(motion.acceleration[:, i]), np.abs(crank), rtol=1e-8)
    assert form.A.shape[0] == 2


def test_what_cannot_be_written_down_is_refused_by_name():
    with pytest.raises(zw.NotApplicableError, match="at most 10 bodies"):
        zw.library.chain(30).derive()
    m = pendulum()
    m.friction("theta", coefficient=0.1, radius=0.01)
    with pytest.raises(zw.NotApplicableError, match=r"m\.system\.derive"):
        m.derive()


def test_a_loop_in_a_plane_leaves_no_rounding_in_rows_that_are_zero():
    # Angles and lengths have 13 digits there, which leave 1e-13 of rows that vanish on paper; as
    # constraints of their own they would contradict the others.
    across, length = 0.17, 0.18
    up, slope = np.sqrt(length**2 - across**2), np.arccos(across / length)
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    screw = m.body("screw", mass=0.6, inertia=1e-4 * np.eye(3), position=(0, 0, up))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = m.body(
            f"{side}_arm",
            inertia=zw.inertia.rod(0.4, length, axis="x"),
            position=(sign * across / 2, 0, up / 2),
            orientation=(np.cos(slope / 2), 0, -sign * np.sin(slope / 2), 0),
        )
        end = (sign * across, 0, up)
        nut = m.body(f"{side}_nut", mass=0.2, inertia=1e-4 * np.eye(3), position=end)
        m.revolute(f"{side}_foot", m.ground, arm, at=(0, 0, 0), axis="y")
        m.revolute(f"{side}_pin", arm, nut, at=end, axis="y")
        m.screw(f"{side}_thread", nut, screw, at=(end, (0, 0, up)), axis="x", pitch=sign * 0.003)
    form = m.derive(solve=False)
    whole = [k for k in range(form.A.rows) if not form.A[k, :].is_zero_matrix]
    assert len(whole) == 4  # two in the plane, and one of each thread
    assert form.b.rows == 6
    assert all(form.b[k] == 0 for k in range(6) if k not in whole)


def test_constraints_that_contradict_everywhere_are_named():
    m = pendulum()
    m.drive("slow", "theta.angle", lambda t: t)
    m.drive("fast", "theta.angle", lambda t: t * t)
    with pytest.raises(zw.NotApplicableError, match="slow and fast contradict each other"):
        m.derive()


@pytest.fixture(scope="module")
def rolling_disk():
    """The example's mechanism, and its closed form."""
    m = zw.read_model(ROOT / "examples" / "rolling_disk.toml").mechanism
    return m, m.derive()


def test_a_rolling_disk_of_bodies_is_that_of_the_paper(rolling_disk):
    _, form = rolling_disk
    paper = zw.library.rolling_disk("velocities").derive()
    m, J, g = sp.symbols("m_disk J_disk1 g")
    letters = {"m": m, "J": J, "g": g, "r": sp.Rational(1, 2), "theta": sp.Symbol("disk_theta")}
    turns = ("psi", "theta", "phi")
    letters |= {f"omega{k}": sp.Symbol(f"disk_{x}_dot") for k, x in enumerate(turns, start=1)}
    thin = {sp.Symbol("J_disk2"): 2 * J}
    for own, expected in zip(form.acceleration[3:], paper.acceleration, strict=True):
        assert sp.simplify(own.subs(thin) - expected.subs(letters)) == 0


def test_a_rolling_disk_of_bodies_agrees_with_its_mechanism_at_random_states(rolling_disk):
    m, form = rolling_disk
    rng = np.random.default_rng(8)
    for _ in range(5):
        r, (psi, phi), theta = rng.normal(size=3), rng.uniform(-3, 3, 2), rng.uniform(-1.2, 1.2)
        rates = rng.normal(size=6)
        about = quaternion.from_axis_angle
        e = _times(about([0, 0, 1], psi), _times(about([1, 0, 0], theta), about([0, 1, 0], phi)))
        c, s = np.cos(phi), np.sin(phi)
        leaning = np.array(
            [rates[4], rates[5] + rates[3] * np.sin(theta), rates[3] * np.cos(theta)]
        )
        omega = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) @ leaning
        r[2] = 0.5 * np.cos(theta)
        solution = m.system.solve([*r, *e], [*rates[:3], *omega])
        q = [*r, psi, theta, phi]
        expected = solution.acceleration[:3]
        assert np.allclose(form.at("acceleration", q, rates)[:3], expected, rtol=0, atol=1e-9)
        assert np.allclose(form.at("multipliers", q, rates), solution.multipliers, atol=1e-9)


def _times(a, b):
    """Product of two quaternions."""
    return np.array(
        [a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))]
    )


def test_what_the_turns_of_a_body_are_is_said(rolling_disk):
    _, form = rolling_disk
    assert "disk_psi about z, then by disk_theta, between −π/2 and π/2, about its own x" in str(
        form
    )
    assert form.N.is_Identity
    assert not form.acceleration.has(sp.Symbol("disk_phi"))  # spin and place change nothing
    assert not form.A.has(sp.Abs)
    assert all(power.exp.is_Integer for power in form.A.atoms(sp.Pow))


def test_a_ball_whose_body_a_rod_holds_turns_as_the_mechanism_does():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bar = m.body("bar", mass=2.0, inertia=(0.3, 0.4, 0.2), position=(0.3, 0.1, -0.4))
    m.spherical("ball", m.ground, bar, at=(0, 0, 0))
    m.spherical_link("rod", m.ground, bar, at=((1, 0.5, 0), (0.6, 0.2, -0.8)))
    form = m.derive(solve=False)
    assert [s.name for s in form.names.coordinates] == ["ball_psi", "ball_theta", "ball_phi"]
    placed = zw.solve(*(form.at(term, np.zeros(3)) for term in "MQAb"))
    expected = m.solve(m.assemble())
    # At rest, and where all angles are zero, their accelerations are those of the body's axes.
    assert np.allclose(placed.acceleration, expected.acceleration[3:], rtol=0, atol=1e-10)


def test_a_free_body_alone_keeps_eulers_equations():
    m = zw.Mechanism(gravity=(0, 0, 0))
    m.body("top", mass=1.0, inertia=(1.0, 2.0, 3.0), free=True)
    form = m.derive()
    J1, J2, J3, w2, w3 = sp.symbols("J_top1 J_top2 J_top3 top_v4 top_v5")
    assert sp.simplify(form.acceleration[3] - (J2 - J3) * w2 * w3 / J1) == 0
    assert sp.simplify(form.M[0, 0] - sp.Symbol("m_top")) == 0  # not m (e·e)²


@pytest.fixture(scope="module")
def sleigh():
    """A body on a blade, 0.4 behind its centre of mass."""
    m = zw.Mechanism(plane="xy")
    body = m.body("s", mass=2.0, inertia=0.3, position=(0.4, 0))
    m.knife_edge("blade", m.ground, body, at=(0, 0), reference="x")
    return m


def test_constraints_of_velocities_are_used_where_they_hold(sleigh):
    form, plain = sleigh.derive(use_constraints=True), sleigh.derive()
    assert [s.name for s in form.names.coordinates] == ["s_x", "s_y", "s_theta"]
    angle, speed, rate = 0.3, -0.7, 0.5
    v = [speed * np.cos(angle) - 0.4 * rate * np.sin(angle)]
    v += [speed * np.sin(angle) + 0.4 * rate * np.cos(angle), rate]
    for name in ("acceleration", "multipliers"):
        got, want = (f.at(name, [0.1, 0.2, angle], v) for f in (form, plain))
        np.testing.assert_allclose(got, want, rtol=1e-12)
    assert not np.allclose(form.at("acceleration", [0, 0, 0.3], [1, 2, 3])[1], 0.0)


@pytest.mark.parametrize("plane", ["xy", "xz", "yz"])
def test_a_free_body_of_a_plane_falls_along_the_axis_of_gravity(plane):
    down = plane[1]
    m = zw.Mechanism(plane=plane, gravity=[-9.81 * (axis == down) for axis in "xyz"])
    m.body("s", mass=2.0, inertia=0.3, free=True)
    found = {str(e.lhs): e.rhs for e in m.derive().equations(solved=True)}
    falls = {f"s_{axis}_ddot": -sp.Symbol("g") * int(axis == down) for axis in plane}
    assert found == {**falls, "s_theta_ddot": 0}


def test_a_hoop_on_a_floor_rolls_along_it():
    radius = 0.5
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    hoop = m.body("hoop", mass=2.0, inertia=0.5, position=(0, 0, radius))
    floor = ((0, 0, 0), (0, 0, radius))
    m.rolling_sphere("floor", m.ground, hoop, at=floor, axis="z", radius=radius)
    bob = m.body("bob", mass=1.0, inertia=0.0, position=(0, 0, radius / 2))
    m.fixed("glue", hoop, bob, at=(0, 0, radius / 2))
    found = {str(e.lhs): e.rhs for e in m.derive().equations(solved=True)}
    assert found["hoop_z_ddot"] == 0
    assert sp.simplify(found["hoop_x_ddot"] - found["hoop_theta_ddot"] / 2) == 0
    # By Lagrange, the bob a quarter below the center: at the height R − r cos θ, at R θ − r sin θ.
    r, R = sp.Rational(1, 4), sp.Rational(1, 2)
    angle, rate, m_h, m_b, J, g = sp.symbols("hoop_theta hoop_theta_dot m_hoop m_bob J_hoop g")
    inertia = J + m_h * R**2 + m_b * (R**2 + r**2 - 2 * R * r * sp.cos(angle))
    own = -m_b * r * sp.sin(angle) * (g + R * rate**2) / inertia
    assert sp.simplify(found["hoop_theta_ddot"] - own) == 0


def trammel(angle):
    """Two sliders on perpendicular guides, and a rod of length 2 between them."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    x, z = 2.0 * np.cos(angle), 2.0 * np.sin(angle)
    a = m.body("a", mass=1.0, inertia=0.01, position=(x, 0, 0))
    b = m.body("b", mass=1.5, inertia=0.01, position=(0, 0, z))
    rod = m.body("rod", mass=0.7, inertia=0.2, position=(x / 2, 0, z / 2))
    m.prismatic("x", m.ground, a, at=(x, 0, 0), axis="x")
    m.prismatic("z", m.ground, b, at=(0, 0, z), axis="z")
    m.revolute("alpha", a, rod, at=(x, 0, 0))
    m.revolute("beta", b, rod, at=(0, 0, z))
    return m


@pytest.mark.parametrize("turn", [sp.S.Zero, sp.pi / 6, sp.pi / 4])
def test_a_placement_at_a_simple_angle_gives_no_decimals(turn):
    form = trammel(float(turn)).derive()
    found = dict(zip(map(str, form.names.accelerations), form.acceleration, strict=True))
    assert not form.acceleration.atoms(sp.Float)
    assert not form.multipliers.atoms(sp.Float)
    # By Lagrange: the angle from the horizontal is θ = α + turn, the rod has half length 1.
    alpha, rate, g, J, m_a, m_b, m_rod = sp.symbols("alpha alpha_dot g J_rod m_a m_b m_rod")
    theta = alpha + turn
    inertia = J + m_rod + 4 * m_a * sp.sin(theta) ** 2 + 4 * m_b * sp.cos(theta) ** 2
    half_slope = 4 * (m_a - m_b) * sp.sin(theta) * sp.cos(theta)
    own = (-half_slope * rate**2 - g * (m_rod + 2 * m_b) * sp.cos(theta)) / inertia
    assert sp.simplify(found["alpha_ddot"] - own) == 0


def test_decimals_do_not_stand_before_letters_that_have_no_factor():
    text = str(trammel(0.9273).derive(solve=False).equations())
    assert "alpha - 2.214" in text
    assert "1.0*" not in text


def test_coordinates_of_bodies_are_written_with_the_same_letters(sleigh):
    form, joints = sleigh.system.derive(), sleigh.derive()
    assert set(form.parameters) == {"m_s", "J_s"}
    assert {s.name for s in form.names.velocities} == {"s_vx", "s_vy", "s_omega"}
    angle = sp.Symbol("s_theta")
    as_turn = {sp.Symbol("s_cos"): sp.cos(angle), sp.Symbol("s_sin"): sp.sin(angle)}
    as_turn |= {sp.Symbol(f"s_v{k}"): sp.Symbol(f"s_{k}_dot") for k in "xy"}
    as_turn[sp.Symbol("s_omega")] = sp.Symbol("s_theta_dot")
    assert sp.simplify(form.acceleration.subs(as_turn) - joints.acceleration).is_zero_matrix
    # Squares of cosine and sine add up to one.
    assert form.acceleration[0].count_ops() <= joints.acceleration[0].count_ops()


def test_gravity_has_a_letter_in_the_coordinates_of_bodies():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    m.body("ball", mass=2.0, inertia=0.1, free=True)
    form = m.system.derive()
    assert form.parameters == {"g": 9.81, "m_ball": 2.0, "J_ball": 0.1}
    assert list(form.acceleration) == [0, -sp.Symbol("g"), 0]
    assert list(m.system.derive(parameters={"g": 10}).acceleration) == [0, -10, 0]
    with pytest.raises(zw.InputError, match="'nothing'"):
        m.system.derive(parameters={"nothing": 1})


def test_words_are_upright_and_letters_are_not():
    """In italics a word reads as the product of its letters."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"push": 1.0})
    link = m.body("link", mass=1.0, inertia=0.0, position=(0, 0, -1))
    m.revolute("elbow2", m.ground, link, at=(0, 0, 0))
    m.actuator("motor", "elbow2.angle", lambda p: p.push)
    text = m.derive().latex()
    assert r"\sin{\left(\mathrm{elbow}_{2} \right)}" in text
    assert r"\ddot{\mathrm{elbow}}_{2} &= " in text
    assert r"\mathrm{push}" in text
    assert r"\mathrm{g}" not in text


def rotating_hoop() -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -9.81), parameters={"Omega": 3.0})
    hoop = m.body("hoop", inertia=zw.inertia.sphere(1.0, 0.1))
    bead = m.body("bead", mass=0.2, inertia=(0, 0, 0), position=(0, 0, -1))
    m.revolute("spin", m.ground, hoop, at=(0, 0, 0), axis="z")
    m.revolute("theta", hoop, bead, at=(0, 0, 0), axis="y")
    m.drive("motor", "spin.angle", lambda t, p: p.Omega * t)
    return m


def test_an_acceleration_that_vanishes_on_the_constraints_is_zero():
    """A bead on a hoop that a driver turns: its driven angle has none."""
    form = rotating_hoop().derive(use_constraints=True)
    assert form.acceleration[0] == 0
    g, theta, rate = sp.symbols("g theta spin_dot")
    wanted = (rate**2 * sp.cos(theta) - g) * sp.sin(theta)
    assert sp.simplify(form.acceleration[1] - wanted) == 0


def test_dots_stand_over_the_letter_and_the_owner_below(sleigh, rolling_disk):
    assert r"\ddot{\theta}_{s}" in sleigh.derive().latex()
    assert r"\ddot{\psi}_{disk}" in rolling_disk[1].latex()
    assert r"\theta_{disk}" in rolling_disk[1].latex("A")
    assert r"\dot{v}_{s,x}" in sleigh.system.derive().latex()


def test_a_point_on_a_ball_joint_is_refused_without_the_batch_of_its_samples():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=(0, 0, 0), position=(0, 0, -1))
    m.spherical("ball", m.ground, bob, at=(0, 0, 0))
    with pytest.raises(zw.NotUniqueError, match=r"^acceleration must be determined.*ball_phi_dot"):
        m.derive()


def offset_bob(center: bool = False, **joint) -> zw.Mechanism:
    """A body whose center is beside the hinge by a parameter, and 0.7 below it."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    c = m.parameter("c", 0.3)
    if center:
        tensor = np.diag((0.1, 0.2, 0.15))
        b = m.body("bob", inertia=zw.inertia.tensor(0.5, tensor, center=(c, 0, -0.7)))
    else:
        b = m.body("bob", mass=0.5, inertia=(0.1, 0.2, 0.15), position=(c, 0, -0.7))
    m.revolute("theta", m.ground, b, at=(0, 0, 0), axis="y", **joint)
    return m


@pytest.mark.parametrize(
    "given", [{}, {"reference": "z"}, {"center": True}], ids=["plain", "reference", "center"]
)
def test_an_offset_from_a_hinge_is_exact_and_can_be_a_letter(given):
    m = offset_bob(**given)
    c, g, mass, J, theta = sp.symbols("c g m_bob J_bob2 theta")
    own = mass * g * (c * sp.cos(theta) - sp.Rational(7, 10) * sp.sin(theta))
    own /= J + mass * (c**2 + sp.Rational(49, 100))
    form = m.derive(parameters={"c": c})
    assert sp.simplify(form.acceleration[0] - own) == 0
    number = m.derive().acceleration[0]
    assert not number.atoms(sp.Float)
    assert sp.simplify(number - own.subs(c, sp.Rational(3, 10))) == 0


def offset_arms() -> zw.Mechanism:
    m = plane()
    c, L = m.parameter("c", 0.1), m.parameter("L", 1.0)
    one = m.body("one", mass=1.0, inertia=0.2, position=(c, 0, -L / 2))
    two = m.body("two", mass=1.0, inertia=0.2, position=(c, 0, -3 * L / 2))
    m.revolute("a", m.ground, one, at=(0, 0, 0))
    m.revolute("b", one, two, at=(c, 0, -L))
    return m


@pytest.mark.parametrize("letters", [False, True], ids=["numbers", "letters"])
def test_two_offset_arms_move_as_the_mechanism_does(letters):
    m = offset_arms()
    kept = {name: sp.Symbol(name) for name in "cL"} if letters else None
    form = m.derive(parameters=kept)
    assert not form.acceleration.atoms(sp.Float)
    assert not any(f.args[0].has(sp.pi) for f in form.acceleration.atoms(sp.sin, sp.cos))
    values = {"c": 0.37, "L": 0.83} if letters else {}
    moved, rng = m.with_parameters(**values), np.random.default_rng(1)
    for _ in range(5):
        q, v = rng.normal(size=8), rng.normal(size=6)
        system = moved.system
        state = system.assemble(
            prefer=dict(zip(system.coordinates, q, strict=True)),
            velocity={"prefer": dict(zip(system.velocities, v, strict=True))},
        )
        one, two = (np.arctan2(state.q[k + 1], state.q[k]) for k in (2, 6))
        turns = np.array([one, two - one]), np.array([state.v[2], state.v[5] - state.v[2]])
        found = moved.solve(state).acceleration
        wanted = np.array([found[2], found[5] - found[2]])
        difference = np.abs(form.at("acceleration", *turns, parameters=values) - wanted)
        assert difference.max() <= ROUNDING * max(1.0, np.abs(wanted).max())


def test_a_coin_whose_tensor_follows_from_letters_is_derived():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    r, mu = m.parameter("r", 0.3), m.parameter("mu", 2.0)
    tensor = [[mu * r * r / 4, 0, 0], [0, mu * r * r / 2, 0], [0, 0, mu * r * r / 4]]
    coin = m.body("coin", inertia=zw.inertia.tensor(mu, tensor), position=(0, 0, r))
    at = ((0, 0, 0), (0, 0, r))
    m.rolling_disk("road", m.ground, coin, at=at, axis="z", axis_b="y", radius=r)
    form = m.derive(parameters={"r": sp.Symbol("r"), "mu": sp.Symbol("m")}, seconds=30)
    # As the coin of functions, with J = m r²/4 across and twice that about the axis.
    psi, theta, phi = (sp.Symbol(f"coin_{x}_dot") for x in ("psi", "theta", "phi"))
    lean, g, radius = sp.symbols("coin_theta g r")
    own = [
        -2 * phi * theta / sp.cos(lean),
        psi * (6 * phi + 5 * psi * sp.sin(lean)) * sp.cos(lean) / 5
        + 4 * g * sp.sin(lean) / (5 * radius),
        theta * (2 * phi * sp.tan(lean) - sp.Rational(5, 3) * psi * sp.cos(lean)),
    ]
    for one, other in zip(form.acceleration[3:], own, strict=True):
        assert sp.simplify(one - other) == 0
    rng = np.random.default_rng(2)
    values = {"r": 0.45, "m": 1.3, "g": 9.81}
    q, v = rng.uniform(-1, 1, size=(2, 6))
    moved = m.with_parameters(r=0.45, mu=1.3).derive(solve=False)
    terms = [moved.at(name, q, v) for name in "MQAb"]
    wanted = zw.solve(*terms).acceleration
    found = form.at("acceleration", q, v, parameters=values)
    assert np.abs(found - wanted).max() <= ROUNDING * np.abs(wanted).max()


def test_a_cylinder_of_a_radius_that_is_a_letter_is_derived_without_decimals():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    r = m.parameter("r", 0.3)
    inertia = zw.inertia.cylinder(2.0, r, 0.01, axis="y")
    coin = m.body("coin", inertia=inertia, position=(0, 0, r))
    at = ((0, 0, 0), (0, 0, r))
    m.rolling_disk("road", m.ground, coin, at=at, axis="z", axis_b="y", radius=r)
    form = m.derive(parameters={"r": sp.Symbol("r")}, seconds=30)
    assert not form.acceleration.atoms(sp.Float)
    assert not any(name.startswith("J_") for name in form.parameters)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_universal_joint_has_the_angles_that_it_measures(reverse):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body("bob", inertia=zw.inertia.point(1.0), position=(0, 0, -1))
    bodies = (bob, m.ground) if reverse else (m.ground, bob)
    m.universal("cross", *bodies, at=(0, 0, 0), axis="z", reference="x")
    found = {str(e.lhs): e.rhs for e in m.derive().equations(solved=True)}
    first, second = "ba" if reverse else "ab"  # from the ground on
    one, two = (sp.Symbol(f"cross_angle_{k}") for k in (first, second))
    u, w = (sp.Symbol(f"cross_angle_{k}_dot") for k in (first, second))
    g = sp.Symbol("g")
    own = {
        first: (2 * u * w * sp.sin(two) - g * sp.sin(one)) / sp.cos(two),
        second: -(u**2 * sp.cos(two) + g * sp.cos(one)) * sp.sin(two),
    }
    for k, wanted in own.items():
        assert sp.simplify(found[f"cross_angle_{k}_ddot"] - wanted) == 0


def test_a_point_on_a_ball_joint_is_told_what_helps():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body("bob", inertia=zw.inertia.point(1.0), position=(0, 0, -1))
    m.spherical("ball", m.ground, bob, at=(0, 0, 0))
    with pytest.raises(zw.NotUniqueError, match="universal joint") as caught:
        m.derive()
    assert "family" not in str(caught.value)
    assert "needs rank [M; A] = 3" in str(caught.value)


def test_letters_keep_the_underscores_of_bodies():
    m = plane()
    arm = m.body("left_arm", mass=1.0, inertia=0.2, position=(0, 0, -0.5))
    m.revolute("a", m.ground, arm, at=(0, 0, 0))
    form = m.derive()
    assert set(form.parameters) == {"g", "m_left_arm", "J_left_arm"}
    assert r"m_{left arm}" in form.latex()


def test_notes_are_text_that_latex_reads(rolling_disk):
    text = rolling_disk[1].latex()
    notes = text[text.index("Note:") :]
    assert text.isascii()
    assert r"$-\pi/2$" in notes
    assert r"$\psi_{disk}$" in notes
    assert "disk_psi" not in notes.replace("\\", "")


def test_a_driven_hinge_is_what_its_driver_says_on_the_constraints():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    wheel = m.body("wheel", mass=2.0, inertia=(0.3, 0.3, 0.5))
    bob = m.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.3, 0, -0.5))
    m.revolute("axle", m.ground, wheel, at=(0, 0, 0), axis="z")
    m.revolute("pin", wheel, bob, at=(0.3, 0, 0), axis="y")
    m.drive("motor", "axle.angle", lambda t: 6 * t)
    form, plain = m.derive(use_constraints=True), m.derive()
    assert form.acceleration[0] == 0
    assert form.multipliers[0].count_ops() < plain.multipliers[0].count_ops() / 4
    assert not form.multipliers.has(sp.Symbol("axle"))
    rng = np.random.default_rng(5)
    t = rng.uniform(size=10)
    q, v = (np.stack([x, rng.normal(size=10)], axis=-1) for x in (6 * t, np.full(10, 6.0)))
    for name in ("acceleration", "multipliers"):
        difference = np.abs(form.at(name, q, v, t) - plain.at(name, q, v, t)).max()
        assert difference <= ROUNDING * np.abs(plain.at(name, q, v, t)).max()


def two_hinges(first, second):
    """Two bars in space whose hinges have the names."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    arm = m.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0, 0, -1))
    bob = m.body("bob", mass=2.0, inertia=(0.5, 0.6, 0.7), position=(0, 0, -2))
    m.revolute(first, m.ground, arm, at=(0, 0, 0), axis="x")
    m.revolute(second, arm, bob, at=(0, 0, -1), axis="y")
    return m


@pytest.mark.parametrize("names", [("alpha", "s"), ("s", "c"), ("c", "s"), ("s", "b")])
def test_hinges_may_be_called_s_and_c(names):
    """A hinge s became sin(s) in the cosine of another angle, or of itself."""
    found = two_hinges(*names).derive(solve=False)
    usual = two_hinges("alpha", "beta").derive(solve=False)
    state = [0.3, -0.7], [0.5, 1.1]
    for name in ("M", "Q"):
        np.testing.assert_allclose(found.at(name, *state), usual.at(name, *state), rtol=1e-13)


@pytest.mark.parametrize("name", ["g", "m_bob", "J_bob"])
def test_a_hinge_by_the_name_of_a_letter_is_refused(name):
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=0.1, position=(0, -1))
    m.revolute(name, m.ground, bob, at=(0, 0))
    with pytest.raises(zw.InputError, match=f"coordinate '{name}'.* stands for"):
        m.derive()


def test_joints_that_are_given_against_the_tree_are_noted():
    """Their coordinates have the opposite sign of those in a run."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=0.1, position=(0.4, 0, -1))
    m.revolute("theta", bob, m.ground, at=(0, 0, 0))
    form, run = m.derive(), m.simulate(until=0.2, save=0.1)
    (note,) = (note for note in form.notes if "theta" in note)
    assert "measured from ground to bob, with the opposite sign" in note
    found = form.at("acceleration", [0.0], [0.0])
    np.testing.assert_allclose(found, -run["theta.angle_acceleration"][:1], rtol=1e-9)
