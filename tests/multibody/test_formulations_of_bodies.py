"""Every formulation of every joint: the same accelerations and reactions at consistent states."""

import numpy as np
import pytest
from test_every_joint import ON_GROUND, momenta, pair

import zwang as zw
from zwang.equations.euler_parameters import OF_BODIES
from zwang.errors import UnknownNameError
from zwang.multibody import nikravesh as nk
from zwang.multibody.joints import KINDS
from zwang.multibody.nikravesh import Bodies
from zwang.rotation.quaternion import angular_velocity, rotation_matrix, second_rate

#: Relative to the largest number of a state; the systems are well conditioned, reached is 1e-13.
AGREEMENT = 1e-10
#: Energy and momenta, of size about one, over a short motion at a local tolerance of 1e-9.
INVARIANT = 1e-8


def random_states(system, count=2, seed=1, spread=0.3):
    """Consistent states near the placement, some half a radian away."""
    rng = np.random.default_rng(seed)
    q, v = system.parts.start
    found = []
    for _ in range(count):
        start = system.of_bodies.on_unit_length(q + spread * rng.standard_normal(len(q)))
        rates = v + rng.standard_normal(len(v))
        found.append(system.assemble(start=zw.State(start, rates, 0.0)))
    return np.array([s.q for s in found]), np.array([s.v for s in found])


def assert_agreement(system, q, v, names=None):
    """All formulations against the default one, in accelerations, multipliers and forces."""
    expected = system.solve(q, v)
    for name in names or system.formulations:
        found = system.solve(q, v, formulation=name)
        for what in ("acceleration", "multipliers", "constraint_force"):
            a, b = getattr(found, what), getattr(expected, what)
            size = np.maximum(1.0, np.abs(b).max(axis=-1, keepdims=True, initial=0.0))
            assert (np.abs(a - b) / size).max(initial=0.0) < AGREEMENT, (name, what)
        assert found.formulation == name


@pytest.mark.inventory("NI-14", "NI-24", "NI-25", "NI-28", "NI-47", "XX-04")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_formulations_agree_for_every_kind_of_joint(kind):
    system = wheels(kind).system if kind in ON_GROUND else pair(kind).system
    q, v = random_states(system, spread=0.3 if kind not in ON_GROUND else 0.05)
    assert_agreement(system, q, v)


def wheels(kind):
    """A gear, or a rack with its pinion, whose shafts have bearings of their own."""
    m = zw.Mechanism()
    a = m.body("a", mass=1.0, inertia=(0.1, 0.1, 0.2))
    b = m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.05), position=(0.3, 0, 0))
    m.revolute("left", m.ground, a, at=(0, 0, 0), axis="z")
    if kind == "gear":
        m.revolute("right", m.ground, b, at=(0.3, 0, 0), axis="z")
        m.gear("joint", a, b, axis="z", radius_a=0.2, radius_b=0.1)
    else:
        m.prismatic("right", m.ground, b, axis="x", at=(0.3, 0, 0))
        m.rack_and_pinion("joint", a, b, axis="z", axis_b="x", radius=0.1)
    m.force("motor", a, torque=(0, 0, 1.0))
    return m


def door():
    """Three hinges where one would do: ten of fifteen rows are redundant."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    leaf = m.body(
        "leaf", inertia=zw.inertia.box(mass=20.0, size=(0.8, 0.04, 2.0)), position=(0.4, 0, 1.0)
    )
    for k, z in enumerate((0.2, 1.0, 1.8)):
        m.revolute(f"hinge{k}", m.ground, leaf, at=(0, 0, z), axis="z")
    return m


def planar():
    """Two bars in a plane, a spring, and a further coordinate tied to the second bar."""
    m = zw.Mechanism(gravity=(0, -9.81), plane="xz")
    a = m.body("crank", mass=1.0, inertia=0.1, position=(0.5, 0))
    b = m.body("coupler", mass=2.0, inertia=0.4, position=(1.0, 1.0), angle=0.3)
    u = m.coordinate("u", 0.7, value=0.2, rate=0.1)
    m.revolute("A", m.ground, a, at=(0, 0))
    m.revolute("B", a, b, at=(1.0, 0))
    m.spring_damper(
        "spring", m.ground, b, at=((0, 1), (1, 2)), stiffness=30.0, damping=0.4, length=0.5
    )
    m.constraint("tie", [b, u], lambda bodies: bodies[0].position[0] - 0.8 - bodies[1].value)
    return m


def massless_coupler():
    """A four-bar in space whose coupler weighs nothing: M is singular in (ṙ, ω′) already."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    a = m.body("a", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    c = m.body("c", position=(1.0, 0, 0.5))
    b = m.body("b", mass=1.5, inertia=(0.3, 0.2, 0.3), position=(1.5, 0, 1.0))
    m.revolute("A", m.ground, a, at=(0, 0, 0), axis="y")
    m.revolute("B", a, c, at=(1, 0, 0), axis="y")
    m.revolute("C", c, b, at=(1, 0, 1), axis="y")
    m.revolute("D", b, m.ground, at=(2, 0, 1), axis="y")
    return m


def large_chain():
    """Twelve links in space, carried by blocks elsewhere."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    last, inertia = m.ground, zw.inertia.cylinder(mass=1.0, radius=0.1, length=1.0, axis="x")
    for k in range(12):
        link = m.body(f"link{k}", inertia=inertia, position=(k + 0.5, 0, 0))
        m.revolute(f"pin{k}", last, link, at=(k, 0, 0), axis="y" if k % 2 else "z")
        last = link
    return m


def free_bodies():
    """No joints at all: (11.25), (11.33), (11.37)."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    for name in "ab":
        m.body(name, mass=2.0, inertia=(0.3, 0.4, 0.5), free=True, angular_velocity=(1, 2, 3))
    return m


def driven():
    m = planar()
    m.drive("motor", "A.angle", lambda t: 2.0 * t + 0.3 * t**2)
    return m


def rubbing():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=(0.02, 0.1, 0.1), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.friction("pin", coefficient=0.3, radius=0.1)
    return m


@pytest.mark.inventory("NI-47", "XX-04")
@pytest.mark.parametrize(
    "make",
    [
        free_bodies,
        door,
        planar,
        massless_coupler,
        driven,
        rubbing,
        pytest.param(large_chain, marks=pytest.mark.campaign),
    ],
)
def test_formulations_agree_for_redundant_massless_driven_rubbing_and_large_ones(make):
    system = make().system
    singular = make is massless_coupler
    names = [n for n in system.formulations if not (singular and n == "udwadia_kalaba")]
    q, v = random_states(system, spread=0.02)
    assert_agreement(system, q, v, names)


@pytest.mark.inventory("XX-04")
def test_minimal_equations_of_a_loop_give_the_same():
    # Blajer (4.10): v = D u + …, and Dᵀ M D u̇ = Dᵀ (Q − M A⁺b), with D a basis of the null space
    system = massless_coupler().system
    state = system.assemble(velocity={"hold": {"A.angle_rate": 1.7}})
    M, Q, A, b = (
        getattr(system.terms(state), name)
        for name in ("mass_matrix", "applied_force", "constraint_matrix", "constraint_rhs")
    )
    _, sizes, Vt = np.linalg.svd(A)
    rank = int((sizes > 1e-10).sum())
    D, given = Vt[rank:].T, np.linalg.lstsq(A, b, rcond=1e-10)[0]
    assert D.shape[1] == 1
    u_dot = np.linalg.solve(D.T @ M @ D, D.T @ (Q - M @ given))
    expected = given + D @ u_dot
    for name in ("nikravesh_1", "nikravesh_2", "nikravesh_3", "singular_mass", "projection"):
        found = system.solve(state, formulation=name).acceleration
        assert np.abs(found - expected).max() < AGREEMENT * np.abs(expected).max()


@pytest.mark.inventory("XX-04")
@pytest.mark.parametrize("kind", ["revolute", "universal"])
def test_reduced_systems_of_bodies_move_as_the_augmented_equations_say(kind):
    # Blajer (4.10) by `reduce`, in the best independent velocities, against Nikravesh's three.
    system = pair(kind).system
    q, v = random_states(system, count=1)
    reduced = system.reduce(at=zw.State(q[0], v[0], 0.0))
    assert reduced.constraints == ()
    assert len(reduced.velocities) == 12 - {"revolute": 5, "universal": 4}[kind]
    back = reduced.way_back(reduced.way_in(q[0], v[0]))
    assert back.v == pytest.approx(v[0], abs=1e-12)
    for name in ("nikravesh_1", "nikravesh_2", "nikravesh_3", "projection"):
        solution = system.solve(q[0], v[0], formulation=name)
        assert np.abs(solution.acceleration).max() > 0.1
        assert np.abs(back.acceleration - solution.acceleration).max() < AGREEMENT
        assert np.abs(back.constraint_force - solution.constraint_force).max() < AGREEMENT
    # The same in rates of Euler parameters: M* is singular there, p̈ and r̈ are not.
    rates = system.in_euler_parameters()
    state = rates.way_in(q[0], v[0])
    in_rates = rates.solve(state).acceleration.reshape(2, 7)
    own = back.acceleration.reshape(2, 6)
    p, p_dot = (x.reshape(2, 7)[:, 3:] for x in (state.q, state.v))
    assert np.abs(in_rates[:, :3] - own[:, :3]).max() < AGREEMENT
    p_ddot = second_rate(p, angular_velocity(p, p_dot), own[:, 3:])
    assert np.abs(in_rates[:, 3:] - p_ddot).max() < AGREEMENT


@pytest.mark.inventory("NI-30")
def test_velocity_equations_with_the_modified_jacobian_are_what_residuals_report():
    # (11.51): [Φ_r, ½Φ_pLᵀ] h, here at velocities that break the joint
    system = pair("universal").system
    q, _ = random_states(system)
    h = np.random.default_rng(5).standard_normal((len(q), len(system.velocities)))
    rates = system.in_euler_parameters()
    state = rates.way_in(q, h)
    terms = rates.singular_terms(state)
    m = system.terms(q, h).constraint_count
    p = state.q.reshape(-1, 2, 7)[..., 3:]
    modified = nk.modified_jacobian(p, terms.constraint_matrix[:, :m])
    expected = np.einsum("kij,kj->ki", modified, h)
    found = system.residuals(q, h)
    assert np.abs(expected).max() > 0.1
    assert np.abs(found.velocity - expected).max() < 1e-12
    assert np.abs(found.position).max() < 1e-12
    # A body moved away by d breaks a spherical joint by d itself.
    joined = pair("spherical").system
    q, v = random_states(joined, count=1)
    q[0, 7:10] += [0.01, -0.02, 0.03]
    moved = joined.residuals(q, v).position[0]
    assert np.abs(moved) == pytest.approx([0.01, 0.02, 0.03], abs=1e-12)
    assert np.abs(np.sort(moved) - np.sort([0.01, -0.02, 0.03])).max() < 1e-12


@pytest.mark.inventory("XX-06")
def test_energy_violation_and_reactions_of_a_run_are_those_of_a_pendulum():
    # A particle-like bob on a pin, θ from the vertical: all known in closed form.
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body(
        "bob",
        mass=2.0,
        inertia=(0.01, 0.3, 0.3),
        position=(0.5, 0, 0),
        velocity=(0, 0, -0.5),
        angular_velocity=(0, 1, 0),
    )
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis="y")
    run = m.simulate(until=0.5, tolerance=1e-10, save=0.1)
    assert run.finished
    assert np.ptp(run.energy) < 1e-8
    assert np.abs(run.kinetic_energy[-1]) > 1.0
    assert run.energy == pytest.approx(0.5 * 0.8, abs=1e-8)
    # Coarse steps without projection leave the joint: what is recorded is what the states miss.
    left = m.simulate(
        until=0.5, integrator="order5", step=0.1, drift="none", coordinates="absolute"
    )
    missed = m.system.residuals(left.q, left.v)
    assert np.abs(missed.position).max() > 1e-9
    assert left.residuals[0].position == pytest.approx(missed.position, abs=1e-15)
    assert left.residuals[0].velocity == pytest.approx(missed.velocity, abs=1e-15)
    assert len(run.residuals) == 1
    assert run.worst_residual < 1e-12
    assert np.abs(run.residuals[0].position).shape == (len(run.t), 5)
    # The pin gives what the weight does not: m (a + g e_z); J_y about the pin is 0.8, and the
    # energy tells θ̇², so that a of the centre is known without any constraint.
    x, z = run.q[:, 0], run.q[:, 2]
    speed = run.kinetic_energy / (0.5 * 0.8)
    turn = 2.0 * 9.81 * x / 0.8  # θ̈ about +y: the weight at the arm x
    centre = np.stack([turn * z - speed * x, 0 * x, -turn * x - speed * z], axis=1)
    assert run.acceleration[:, :3] == pytest.approx(centre, abs=1e-7)
    expected = 2.0 * centre + [0.0, 0.0, 2.0 * 9.81]
    assert np.abs(expected).max() > 10.0
    assert run.reaction("pin").force == pytest.approx(expected, abs=1e-7)
    assert run.constraint_force("pin")[:, :3] == pytest.approx(expected, abs=1e-7)


@pytest.mark.inventory("NI-15", "NI-24", "NI-25", "NI-28", "NI-45", "NI-47")
def test_problem_11_7():
    # Two bodies, a spherical joint at P, gravity, a moment on each and a force along y on the first
    mass, g, f = (3.0, 2.0), 9.81, np.array([0.0, 25.0, 0.0])
    n = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 2.0]])  # world axes
    J = [np.diag([0.3, 0.4, 0.5]), np.diag([0.2, 0.25, 0.1])]
    m = zw.Mechanism(gravity=(0, 0, -g))
    P = np.array([0.6, 0.2, 0.1])
    one = m.body("one", mass=mass[0], inertia=J[0], angular_velocity=(0.4, -1.0, 0.7))
    two = m.body("two", mass=mass[1], inertia=J[1], position=(1.1, 0.5, -0.3))
    m.spherical("P", one, two, at=P)
    m.force("f1", one, f, torque=n[0])
    m.force("n2", two, torque=n[1])
    state = m.assemble()
    centers, R = (
        state.q.reshape(2, 7)[:, :3],
        np.array([rotation_matrix(x) for x in quaternions(state.q)]),
    )
    omega = state.v.reshape(2, 6)[:, 3:]
    # (11.36) and (11.40): f + weight and n′ − ω̃′J′ω′ of each body
    force = [f + [0, 0, -mass[0] * g], [0, 0, -mass[1] * g]]
    moments = [r.T @ x - np.cross(w, j @ w) for r, x, w, j in zip(R, n, omega, J, strict=True)]
    expected = np.concatenate([force[0], moments[0], force[1], moments[1]])
    assert np.abs(m.terms(state).applied_force - expected).max() < 1e-12
    for formulation in m.system.formulations:
        s = m.solve(state, formulation=formulation)
        acceleration = s.acceleration.reshape(2, 6)
        # The reaction from Newton's law of the first body; at P on the second it is the opposite.
        reaction = mass[0] * acceleration[0, :3] - force[0]
        assert np.abs(mass[1] * acceleration[1, :3] - force[1] + reaction).max() < 1e-12
        for i, sign in enumerate((1.0, -1.0)):
            arm = R[i].T @ (P - centers[i])
            turning = np.cross(arm, R[i].T @ (sign * reaction))  # s̃′Aᵀλ
            assert np.abs(J[i] @ acceleration[i, 3:] - moments[i] - turning).max() < 1e-12
        # Row by row the multipliers are that force; the joint counts from the first to the second.
        assert np.abs(s.multipliers + reaction).max() < 1e-12


def quaternions(q):
    return q.reshape(-1, 7)[:, 3:]


def test_formulations_agree_where_a_parameter_vanishes():
    # At p = (1, ε, ε, ε) a diagonal entry of 4LᵀJL is of the size ε², which must scale nothing.
    system = door().system
    for tiny in (0.0, 1e-17, 1e-12, 1e-8, 1e-4):
        start = zw.State(system.parts.start[0].copy(), np.zeros(6), 0.0)
        start.q[6] = tiny
        state = system.assemble(start=start, velocity={"hold": {"hinge0.angle_rate": 1.3}})
        assert_agreement(system, state.q, state.v)


@pytest.mark.inventory("NI-23", "NI-27")
def test_terms_in_euler_parameters_are_those_of_the_book():
    # M*, g* − b*, P, c, Φ_q and γ traced, against NumPy: (11.26)–(11.32), (11.46), (11.48)
    system = pair("universal").system
    rates = system.in_euler_parameters()
    q, v = random_states(system)
    state = rates.way_in(q, v)
    terms, own = rates.singular_terms(state), system.terms(q, v)
    p, p_dot = (x.reshape(-1, 2, 7)[..., 3:] for x in (state.q, state.v))
    mass, J = [2.0, 1.0], [np.diag([0.5, 0.6, 0.7]), np.diag([0.2, 0.3, 0.25])]
    zero = np.zeros((*p.shape[:-1], 3))
    book = Bodies(mass, J, p, p_dot, zero, zero)
    m = own.constraint_count
    B, gamma = terms.constraint_matrix[:, :m], terms.constraint_rhs[:, :m]
    for found, expected in (
        (terms.mass_matrix, book.M_star),
        (terms.applied_force, book.g_star - book.b_star),
        (terms.constraint_matrix[:, m:], book.P),
        (terms.constraint_rhs[:, m:], -book.c),
        (own.mass_matrix, np.broadcast_to(book.M, own.mass_matrix.shape)),
        (own.applied_force, book.g - book.b),
        (own.constraint_matrix, nk.modified_jacobian(p, B)),
        (own.constraint_rhs, nk.modified_rhs(p, p_dot, B, gamma)),
    ):
        assert np.abs(found - expected).max() < 1e-13
    # The book's own A(p): rows have a part along p, and γ is not γ#.
    assert np.abs(gamma - own.constraint_rhs).max() > 1e-3
    assert np.abs(rates.way_back(state).v - v).max() < 1e-14


@pytest.mark.inventory("XX-03", "XX-06")
@pytest.mark.parametrize("make", [lambda: pair("spherical"), planar, door])
def test_motion_in_rates_of_euler_parameters_is_the_same(make):
    m = make()
    rates = m.system.in_euler_parameters()
    start = m.assemble()
    until, tolerance = 0.3, 1e-10
    own = m.simulate(start, until=until, tolerance=tolerance)
    run = rates.simulate(rates.way_in(start), until=until, tolerance=tolerance)
    assert np.abs(run.q[-1] - own.q[-1]).max() < 1e-8
    assert np.abs(run.energy[-1] - own.energy[-1]) < 1e-8
    assert run.worst_residual < 1e-12


@pytest.mark.parametrize("formulation", OF_BODIES)
def test_simulate_by_name(formulation):
    m = planar()
    start = m.assemble(velocity={"prefer": {"A.angle_rate": 1.7}})
    compiled = m.simulate(start, until=0.05, tolerance=1e-10)
    for choices in ({}, {"drift": "baumgarte", "baumgarte": 10.0}):
        run = m.simulate(start, until=0.05, tolerance=1e-10, formulation=formulation, **choices)
        assert np.abs(run.q[-1] - compiled.q[-1]).max() < 1e-9
    assert any(formulation in note for note in run.notes)


def by_every_formulation():
    """Every kind of joint with every formulation; with each change only one kind."""
    system = pair("spherical").system
    for kind in sorted(set(KINDS) - ON_GROUND):
        for formulation in system.formulations:
            quick = kind == "spherical" and formulation in OF_BODIES
            marks = [] if quick else [pytest.mark.campaign]
            yield pytest.param(kind, formulation, marks=marks)


@pytest.mark.inventory("NI-47", "XX-06")
@pytest.mark.parametrize(("kind", "formulation"), list(by_every_formulation()))
def test_energy_and_momentum_are_kept_by_every_formulation(kind, formulation):
    # On: two bodies in space, a joint, spin. Off: gravity, springs, ground.
    run = pair(kind).simulate(until=0.1, tolerance=1e-9, save=0.05, formulation=formulation)
    assert run.finished
    assert np.ptp(run.energy) < INVARIANT
    assert np.ptp(momenta(run), axis=0).max() < INVARIANT
    assert run.worst_residual < 1e-12


@pytest.mark.campaign
@pytest.mark.parametrize("kind", sorted(set(KINDS) - ON_GROUND))
def test_motion_in_rates_of_euler_parameters_keeps_energy_for_every_joint(kind):
    m = pair(kind)
    rates = m.system.in_euler_parameters()
    start = m.assemble()
    own = m.simulate(start, until=1.0, tolerance=1e-10)
    run = rates.simulate(rates.way_in(start), until=1.0, tolerance=1e-10)
    assert np.ptp(run.energy) < INVARIANT
    assert np.abs(run.q[-1] - own.q[-1]).max() < 1e-8
    assert run.worst_residual < 1e-12


def test_unknown_names_and_families_are_refused_in_a_sentence():
    m = door()
    for ask in (m.solve, lambda **c: m.simulate(until=0.1, **c)):
        with pytest.raises(UnknownNameError, match="nikravesh_3") as error:
            ask(formulation="nikravesh_4")
        assert "nikravesh_1" in str(error.value)
    with pytest.raises(zw.InputError, match="family"):
        m.solve(formulation="nikravesh_1", family=True)


def test_what_has_no_motion_is_refused_by_every_formulation():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ghost = m.body("ghost", position=(0.5, 0, 0))
    m.spherical("ball", m.ground, ghost, at=(0, 0, 0))
    for formulation in OF_BODIES:
        with pytest.raises(zw.NotUniqueError, match="ghost"):
            m.solve(formulation=formulation)


def test_leaving_out_a_joint_keeps_the_norms():
    rates = planar().system.in_euler_parameters()
    less = rates.without(["tie"])
    assert less.constraints == ("A", "B", "crank.norm", "coupler.norm")
    assert rates.without([]) is rates


def test_a_free_body_follows_eulers_equations_by_every_formulation():
    # J ω̇ = −ω × Jω, without a single constraint
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    m.body("top", mass=2.0, inertia=(1, 2, 3), angular_velocity=(1, 2, 3), free=True)
    J, w = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    wanted = [0.0, 0.0, -9.81, *np.linalg.solve(J, -np.cross(w, J @ w))]
    for name in m.system.formulations:
        found = m.solve(formulation=name).acceleration
        assert found == pytest.approx(wanted, abs=AGREEMENT), name
    assert m.system.in_euler_parameters().constraints == ("top.norm",)


def test_rates_of_coordinates_after_an_assembly():
    # Both ask for kinematics, one for N and one for N v.
    system = planar().system
    state = system.assemble(prefer={"crank.x": 0.4})
    assert system.position_rate(state).shape == (len(system.coordinates),)
