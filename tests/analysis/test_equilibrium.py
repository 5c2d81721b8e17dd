"""Equilibria against closed forms, with redundant rows, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import brentq

import zwang as zw
from zwang.analysis import statics
from zwang.analysis.equations_of import Held
from zwang.analysis.search import point_at

GRAVITY = 9.81
#: Equilibria are polished to rounding; coordinates lose what the condition of K takes.
CLOSE = 1e-11


def chain(links, span, doubled=False):
    """Rigid links of length 1 between two points at one height, in the plane xz."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    # Placed as a polygon that closes: two straight halves.
    angle = np.arccos(span / links)
    points = [np.zeros(2)]
    for k in range(links):
        sign = -1.0 if k < links // 2 else 1.0
        points.append(points[-1] + [np.cos(angle), sign * np.sin(angle)])
    bodies = []
    for k in range(links):
        a, b = points[k], points[k + 1]
        # Angles are positive about y, from z to x.
        turn = -np.arctan2(b[1] - a[1], b[0] - a[0])
        bodies.append(
            m.body(f"link{k}", mass=0.7, inertia=0.05, position=tuple((a + b) / 2), angle=turn)
        )
    ends = [m.ground, *bodies, m.ground]
    for k in range(links + 1):
        m.revolute(f"pin{k}", ends[k], ends[k + 1], at=tuple(points[k]))
        if doubled:
            m.revolute(f"again{k}", ends[k], ends[k + 1], at=tuple(points[k]))
    return m


@pytest.mark.parametrize("doubled", [False, True])
def test_hanging_chain_has_its_closed_form(doubled):
    """tan θ_k = (n + 1 − 2k) W/(2H) with H from Σ cos θ_k = span; the pins carry H and the rest."""
    n, span, W = 6, 4.5, 0.7 * GRAVITY
    k = np.arange(1, n + 1)

    def slopes(H):
        return (n + 1 - 2 * k) * W / (2.0 * H)

    H = brentq(lambda H: np.sum(1.0 / np.sqrt(1.0 + slopes(H) ** 2)) - span, 0.1, 100.0, xtol=1e-14)
    rest = chain(n, span, doubled).equilibrium()
    theta = -np.arctan(slopes(H))
    z = np.concatenate([[0.0], np.cumsum(np.sin(theta))])
    x = np.concatenate([[0.0], np.cumsum(np.cos(theta))])
    for i in range(n):
        assert rest[f"link{i}.z"] == pytest.approx((z[i] + z[i + 1]) / 2, abs=CLOSE)
        assert rest[f"link{i}.x"] == pytest.approx((x[i] + x[i + 1]) / 2, abs=CLOSE)
    force = rest.reaction("pin0").force
    if doubled:
        force = force + rest.reaction("again0").force
        assert not rest.reaction("pin0").determinate
    else:
        assert rest.reaction("pin0").determinate
    assert np.abs(force - [-H, 0.0, n * W / 2]).max() < 1e-10 * n * W
    assert rest.stability == "stable"
    assert rest.residual < 1e-12


def test_doubling_every_row_changes_nothing():
    once, twice = (chain(6, 4.5, doubled).equilibrium() for doubled in (False, True))
    assert np.abs(once.q - twice.q).max() < CLOSE
    assert np.abs(once.stiffness - twice.stiffness).max() < CLOSE * once.stiffness.max()
    assert once.stability == twice.stability
    one, two = (e.linearization.eigenvalues for e in (once, twice))
    assert np.abs(np.sort(one.imag) - np.sort(two.imag)).max() < CLOSE * np.abs(one).max()
    assert not any("depends" in note for note in twice.notes)


def table(x=0.3, y=0.1, legs=((1, 1), (-1, 1), (-1, -1), (1, -1))):
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    top = m.body("top", mass=8.0, inertia=(1.0, 1.0, 2.0))
    m.body("cup", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(x, y, 0.0))
    m.fixed("glue", top, "cup", at=(x, y, 0.0))
    for k, (a, b) in enumerate(legs):
        m.point_on_plane(f"leg{k}", m.ground, top, at=(a, b, 0.0), axis="z")
    for k, axis in enumerate("xy"):
        m.point_on_plane(f"edge{k}", m.ground, top, at=(0.0, 0.0, 0.0), axis=axis)
    m.point_on_plane("stop", m.ground, top, at=(1.0, 0.0, 0.0), axis="y")
    return m


def test_table_on_four_legs_by_compliance():
    """Equal legs at (±1, ±1): F_k = W/4 + M_x-share + M_y-share, and the sum is the weight."""
    rest = table().equilibrium()
    assert any("indeterminate by 1" in note for note in rest.notes)
    names = rest.passport().names
    rows = [names.index(f"leg{k}") for k in range(4)]
    compliance = np.full(len(names), 1e-12)
    compliance[rows] = 1e-6
    shared = rest.splits(compliance=compliance)
    lam = shared["compliance-weighted"]
    W, moment_x, moment_y = 10.0 * GRAVITY, 2.0 * GRAVITY * 0.1, 2.0 * GRAVITY * 0.3
    for k, (a, b) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        expected = W / 4 + a * moment_y / 4 + b * moment_x / 4
        assert rest.reaction(f"leg{k}", lam=lam).force[2] == pytest.approx(expected, rel=1e-6)
        assert rest.reaction(f"leg{k}").force[2] == pytest.approx(expected, rel=1e-10)
    total = sum(rest.reaction(f"leg{k}").force[2] for k in range(4))
    assert total == pytest.approx(W, rel=1e-12)


def test_beam_on_many_elastic_supports():
    """A rigid beam on supports of compliance c_k: F_k = (u + θ x_k)/c_k with force and moment."""
    x = np.array([0.0, 0.7, 1.5, 2.2, 3.0])
    c = np.array([2.0, 1.0, 3.0, 1.0, 2.0]) * 1e-5
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    beam = m.body("beam", mass=20.0, inertia=5.0, position=(1.8, 0.0))
    for k, at in enumerate(x):
        m.point_on_line(f"support{k}", m.ground, beam, at=(at, 0.0), axis="x")
    m.coordinate("anchor", mass=1.0)
    m.constraint(
        "stop",
        ["beam", "anchor"],
        lambda bodies: bodies[0].point((0.0, 0.0))[0] - 1.8 + bodies[1].value,
    )
    m.constraint("hold", ["anchor"], lambda bodies: bodies[0].value)
    rest = m.equilibrium()
    names = rest.passport().names
    compliance = np.full(len(names), 1e-14)
    for k in range(5):
        compliance[names.index(f"support{k}")] = c[k]
    shared = rest.splits(compliance=compliance)
    lam = shared["compliance-weighted"].multipliers
    weights = 1.0 / c
    K = np.array([[weights.sum(), weights @ x], [weights @ x, weights @ x**2]])
    u, theta = np.linalg.solve(K, 20.0 * GRAVITY * np.array([1.0, 1.8]))
    for k in range(5):
        found = abs(rest.reaction(f"support{k}", lam=lam).generalized[1])
        assert found == pytest.approx((u + theta * x[k]) / c[k], rel=1e-7)


def test_scissor_lift_is_held_by_the_force_of_virtual_work():
    """n stages of arms of length L at an angle θ: F = n W cot θ, W the load on top."""
    stages, L, theta, load = 3, 1.0, 0.6, 50.0
    m = zw.Mechanism(plane="xy", gravity=(0, 0, 0), parameters={"W": load})
    x, y = L * np.cos(theta), L * np.sin(theta)
    left, right = m.ground, None
    for k in range(stages):
        a = m.body(f"rise{k}", mass=0.1, inertia=0.1, position=(x / 2, (k + 0.5) * y), angle=theta)
        b = m.body(f"fall{k}", mass=0.1, inertia=0.1, position=(x / 2, (k + 0.5) * y), angle=-theta)
        m.revolute(f"middle{k}", a, b, at=(x / 2, (k + 0.5) * y))
        if k == 0:
            m.revolute("foot", m.ground, a, at=(0.0, 0.0))
            slider = m.body("slider", mass=0.1, inertia=0.1, position=(x, 0.0))
            m.prismatic("slide", m.ground, slider, at=(x, 0.0), axis="x")
            m.revolute("wheel", slider, b, at=(x, 0.0))
        else:
            m.revolute(f"left{k}", left, a, at=(0.0, k * y))
            m.revolute(f"right{k}", right, b, at=(x, k * y))
        left, right = b, a
    m.force("load", right, lambda p: (0.0, -p.W), at=(L / 2, 0.0))
    rest = m.equilibrium(hold={"slide.displacement": 0.0})
    assert rest.holding["slide.displacement"] == pytest.approx(
        -stages * load / np.tan(theta), rel=1e-11
    )


def prism(cables):
    """The simplex tensegrity: three bars, nine cables; heights and twist of its known form."""
    R, h, twist = 1.0, 1.5, np.radians(150.0)
    bottom = [np.array([R * np.cos(a), R * np.sin(a), 0.0]) for a in 2 * np.pi / 3 * np.arange(3)]
    top = [
        np.array([R * np.cos(a + twist), R * np.sin(a + twist), h])
        for a in 2 * np.pi / 3 * np.arange(3)
    ]
    m = zw.Mechanism()
    nodes = {}
    for name, points in (("b", bottom), ("t", top)):
        for k, point in enumerate(points):
            nodes[f"{name}{k}"] = point
    bodies = {}
    for name, point in nodes.items():
        bodies[name] = m.body(name, mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=tuple(point))
        m.constraint(
            f"{name}_upright",
            [name],
            lambda bodies: [
                bodies[0].rotation[1, 0],
                bodies[0].rotation[2, 0],
                bodies[0].rotation[2, 1],
            ],
        )
    for k in range(3):
        m.spherical_link(f"bar{k}", f"b{k}", f"t{k}", at=(tuple(bottom[k]), tuple(top[k])))
    pairs = [(f"b{k}", f"b{(k + 1) % 3}", np.sqrt(3.0)) for k in range(3)]
    pairs += [(f"t{k}", f"t{(k + 1) % 3}", np.sqrt(3.0)) for k in range(3)]
    # The strings run from each bottom node to the top node next to the end of its bar.
    pairs += [(f"b{k}", f"t{(k - 1) % 3}", None) for k in range(3)]
    for i, (a, b, _) in enumerate(pairs):
        at = (tuple(nodes[a]), tuple(nodes[b]))
        if cables == "rigid":
            m.spherical_link(f"cable{i}", a, b, at=at)
        else:
            length = float(np.linalg.norm(nodes[a] - nodes[b]))
            # Tension / length of the self-stress: 1 along the triangles, √3 in the strings.
            density = (1.0 if i < 6 else np.sqrt(3.0)) * 10.0
            m.spring_damper(
                f"cable{i}", a, b, at=at, stiffness=1000.0, length=length * (1 - density / 1000.0)
            )
    return m


def test_tensegrity_with_prestressed_cables_is_stable_up_to_moving_as_a_whole():
    rest = prism("springs").equilibrium()
    assert rest.method == "the start is at rest"
    assert rest.residual < 1e-12
    assert rest.stability == "marginal"
    assert len(rest.families) == 6  # it floats: three shifts and three turns
    assert (rest.stiffness > -1e-9 * rest.stiffness.max()).all()
    assert np.count_nonzero(rest.stiffness > 1e-6 * rest.stiffness.max()) == 9  # 18 − 3 bars − 6


def test_stability_of_a_tensegrity_of_rods_depends_on_its_prestress():
    rest = prism("rigid").equilibrium()
    assert rest.stability == "undecided"
    assert any("prestress" in note for note in rest.notes)


def test_bricard_at_rest():
    m = zw.library.bricard()
    rest = m.equilibrium()
    assert rest.stability == "stable"
    assert any("indeterminate by 1" in note for note in rest.notes)
    assert not any("prestress" in note for note in rest.notes)
    a = m.solve(rest.state).acceleration
    assert np.abs(a).max() < 1e-9
    # The energy along the one freedom is least here: runs from either side swing about it.
    V = [m.system.energy(rest.q)[1]]
    moved = m.simulate(rest.state, until=0.5)
    assert np.abs(moved.q - rest.q).max() < 1e-7
    V0 = m.system.energy(m.assemble().q)[1]
    assert V[0] < V0


def test_double_pendulum_has_four_equilibria():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    a = m.body("a", mass=1.0, inertia=0.1, position=(0.5, 0.0))
    b = m.body("b", mass=2.0, inertia=0.2, position=(1.5, 0.0))
    m.revolute("pin", m.ground, a, at=(0.0, 0.0))
    m.revolute("elbow", a, b, at=(1.0, 0.0))
    found = m.equilibria(count=40)
    assert sorted(e.stability for e in found) == ["stable", "unstable", "unstable", "unstable"]
    assert m.equilibrium().stability == "stable"


@pytest.mark.parametrize("stiffness", [0.0, 3.0])
def test_full_turns_of_an_angle_are_one_configuration_unless_a_spring_counts_them(stiffness):
    """With k θ = m g l sin θ wound up, the turns are different; without it they repeat."""
    pendulum = zw.System.from_lagrangian(
        ["theta"],
        T=lambda q, v: 0.5 * v[0] ** 2,
        V=lambda q: -100.0 * np.cos(q[0]) + 0.5 * stiffness * q[0] ** 2,
    )
    found = np.array([e.q[0] for e in pendulum.equilibria(count=60, spread=12.0)])
    if stiffness == 0.0:
        assert np.abs(np.abs(found) - [0.0, np.pi]).max() < 1e-9
    else:
        assert np.sum(np.abs(found) > np.pi) >= 2
    assert np.abs(100.0 * np.sin(found) + stiffness * found).max() < 1e-9


def test_a_coordinate_that_nothing_depends_on_is_no_angle():
    from zwang.analysis.equations_of import EquationsOf
    from zwang.analysis.turning import turning_coordinates

    cart = zw.System.from_lagrangian(
        ["x", "theta", "s"],
        T=lambda q, v: v[0] ** 2 + v[0] * v[1] * np.cos(q[1]) + v[1] ** 2 + v[2] ** 2,
        V=lambda q: -np.cos(q[1]) + q[2] ** 2,
    )
    found = turning_coordinates(EquationsOf(cart, 0.0, None), np.zeros(3), np.random.default_rng(1))
    assert found.tolist() == [False, True, False]


def test_held_coordinate_takes_the_torque_of_statics():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY))
    a = m.body("a", mass=3.0, inertia=0.1, position=(0.5, 0.0))
    m.revolute("pin", m.ground, a, at=(0.0, 0.0))
    rest = m.equilibrium(hold={"pin.angle": 0.4})
    assert rest.holding["pin.angle"] == pytest.approx(-3.0 * GRAVITY * 0.5 * np.cos(0.4), rel=1e-12)


def test_forces_without_a_potential_are_balanced_by_newton():
    """A follower force on a rod with a torsion spring: k θ = F a, whatever θ."""
    m = zw.Mechanism(plane="xy", gravity=(0, 0, 0))
    rod = m.body("rod", mass=1.0, inertia=0.3, position=(0.5, 0.0))
    m.revolute("pin", m.ground, rod, at=(0.0, 0.0))
    m.torsion_spring("spring", m.ground, rod, stiffness=4.0)
    tip = m.body("tip", mass=1.0, inertia=0.3, position=(1.5, 0.0))
    m.revolute("elbow", rod, tip, at=(1.0, 0.0))
    m.torsion_spring("spring2", rod, tip, at=(1.0, 0.0), stiffness=4.0)
    m.force("push", tip, (-1.0, 0.5), at=(0.5, 0.0), axes="body")
    rest = m.equilibrium()
    assert rest.method in {"Newton", "continuation", "dynamic relaxation"}
    assert rest.residual < 1e-12
    bend = 0.5 * 1.0 / 4.0
    assert rest["elbow.angle"] == pytest.approx(bend, rel=1e-11)
    # About the first pin: moment of a force (−1, ½) in axes of the tip at its end.
    moment = 0.5 * 1.0 + (0.5 * np.cos(bend) - np.sin(bend)) * 1.0
    assert rest["pin.angle"] == pytest.approx(moment / 4.0, rel=1e-11)


def test_free_directions_are_told_as_families():
    m = zw.Mechanism(gravity=(0, 0, -GRAVITY))
    ball = m.body("puck", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0))
    m.planar("table", m.ground, ball, at=(0, 0, 0), axis="z")
    rest = m.equilibrium()
    assert rest.stability == "marginal"
    assert len(rest.families) == 3
    assert any("turns about z" in words for words in rest.families)


def test_constraint_on_velocities_makes_families_of_positions():
    """A skate at rest: three positions, no force, and all of them are at rest."""
    skate = zw.System(
        ["x", "y", "phi"],
        mass=np.diag([1.0, 1.0, 0.2]),
        constraints={"edge": lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2])},
    )
    rest = skate.equilibrium(start=[0.1, 0.2, 0.3])
    assert rest.family_directions.shape == (3, 3)
    assert rest.stability in {"marginal", "undecided"}


def test_equilibrium_agrees_with_a_simulation_that_comes_to_rest():
    m = zw.library.four_bar()
    rest = m.equilibrium()
    assert rest.stability == "stable"
    assert np.abs(m.solve(rest.state).acceleration).max() < 1e-9
    run = m.simulate(rest.state, until=2.0)
    assert np.abs(run.q - rest.q).max() < 1e-7


def test_system_of_functions_and_mechanism_agree():
    bead = zw.System(
        ["x", "y"],
        mass=np.eye(2),
        parameters={"k": 5.0},
        potential=lambda q, p: 9.81 * q[1] + 0.5 * p.k * (q[0] - 1.0) ** 2,
        constraints={"bowl": zw.position(lambda q: q[1] - q[0] ** 2)},
    )
    rest = bead.equilibrium(start={"x": 2.0, "y": 4.0})
    x = 5.0 / (5.0 + 2.0 * 9.81)
    assert rest.q == pytest.approx([x, x**2], rel=1e-12)
    assert rest.multipliers("bowl") == pytest.approx([9.81], rel=1e-12)
    # One displacement along (1, 2x): K = k + 2 g in x, divided by the scaled length.
    assert rest.stability == "stable"
    assert rest.linearization.eigenvalues.imag.max() == pytest.approx(
        np.sqrt((5.0 + 2.0 * 9.81) / (1.0 + 4.0 * x**2)), rel=1e-12
    )


def test_parameters_and_time_are_those_given():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -GRAVITY), parameters={"F": 0.0})
    a = m.body("a", mass=1.0, inertia=0.1, position=(0.5, 0.0))
    m.revolute("pin", m.ground, a, at=(0.0, 0.0))
    m.force("push", a, lambda t, p: (p.F * t, 0.0))
    rest = m.equilibrium(t=2.0, parameters={"F": GRAVITY / 2.0})
    assert rest["pin.angle"] == pytest.approx(np.pi / 4, rel=1e-11)  # angles about y go down
    lin = m.linearize(rest)
    omega = np.sqrt(np.sqrt(2.0) * GRAVITY * 0.5 / (0.1 + 0.25))
    assert lin.modes()[0].frequency == pytest.approx(omega, rel=1e-11)


def test_texts_are_short_and_say_what_there_is():
    rest = chain(4, 3.0).equilibrium()
    assert "Equilibrium, stable" in str(rest)
    assert "<pre>" in rest._repr_html_()
    assert len(repr(rest)) < 1500


def _cart_pole():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    cart = m.body("cart", mass=1.0, inertia=0.1)
    pole = m.body("pole", mass=0.2, inertia=0.2 / 12.0, position=(0, 0.5))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    return m


def test_a_held_pole_leaves_its_free_cart_where_the_assembly_put_it():
    """The cart is neutral: its stiffness is rounding, by which no step may be divided."""
    m = _cart_pole()
    for angle in np.linspace(-3.0, 3.0, 41):
        start = m.assemble(hold={"pin.angle": angle, "rail.displacement": 0.0})
        put = m.assemble(start=start, hold={"pin.angle": 0.0})
        rest = m.equilibrium(start=start, hold={"pin.angle": 0.0})
        assert abs(rest["pin.angle"]) <= 1e-12, angle
        assert np.abs(rest.q - put.q).max() <= 1e-12, angle
        assert rest.residual <= 1e-12
        assert rest.families
        assert rest.method == "the start is at rest"


def test_residual_tells_what_held_values_and_constraints_miss():
    m = _cart_pole()
    rest = m.equilibrium(hold={"pin.angle": 0.3})
    equations = rest._equations
    held = Held(equations, rest.q, ["pin.angle"])
    assert statics._missed(rest._point, held) <= 1e-15
    held.targets[0] = 0.31
    assert statics._missed(rest._point, held) == pytest.approx(0.01)
    off = rest.q.copy()
    off[1] += 0.02  # the cart above its rail
    assert statics._missed(point_at(equations, off), None) == pytest.approx(0.02, rel=0.1)
