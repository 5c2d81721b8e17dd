"""Large mechanisms by blocks: the same numbers as the single expression, at any lane width."""

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.codegen.node_sums import NODES
from zwang.equations.elements import ElementEquations
from zwang.equations.mechanism import MechanismExpression
from zwang.integrators.settings import Coordinates, Settings
from zwang.mechanism import MechanismSystem
from zwang.programs.blocks.order import block_order
from zwang.simulation.select_program import ProgramStart, select_program

#: In the coordinates of bodies, as blocks are.
ABSOLUTE = Settings(until=1.0, coordinates=Coordinates.ABSOLUTE)
#: Two ways to add up the same numbers; more for the loops, whose blocks are less well conditioned.
SAME = 1e-10


def chain(n, plane=None, axis="y"):
    """Rods on pins, the last one tied to the first by a spring."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane)
    bodies = [m.ground]
    for i in range(n):
        inertia = zw.inertia.tensor(1.0 + 0.1 * i, [[0.1, 0.01, 0], [0.01, 0.2, 0], [0, 0, 0.25]])
        bodies.append(m.body(f"b{i}", inertia=inertia, position=(i + 0.5, 0, 0)))
        m.revolute(f"j{i}", bodies[-2], bodies[-1], at=(i, 0, 0), axis=axis)
    m.spring_damper(
        "spring",
        bodies[1],
        bodies[-1],
        at=((0.3, 0, 0), (n - 0.2, 0, 0)),
        stiffness=3.0,
        damping=0.5,
    )
    return m


def net():
    """A loop of rods with balls, a driver, a rolling ball, a screw, a constraint of one's own."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), parameters={"rate": 2.0})
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    rods = []
    for i in range(4):
        a, b = np.array(corners[i], float), np.array(corners[(i + 1) % 4], float)
        rods.append(m.body(f"rod{i}", mass=1.0, inertia=(0.1, 0.12, 0.09), position=(a + b) / 2))
    for i in range(4):
        m.spherical(f"ball{i}", rods[i], rods[(i + 1) % 4], at=corners[(i + 1) % 4])
    wheel = m.body("wheel", mass=2.0, inertia=(0.3, 0.3, 0.4), position=(3, 0, 0))
    m.revolute("shaft", m.ground, wheel, at=(3, 0, 0), axis="z")
    m.drive("motor", "shaft.angle", lambda t, p: p.rate * t)
    nut = m.body("nut", mass=0.5, inertia=(0.02, 0.02, 0.03), position=(3, 0, 1))
    m.screw("thread", m.ground, nut, at=(3, 0, 1), axis="z", pitch=0.1)
    ball = m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(5, 0, 0.5))
    m.rolling_sphere("floor", m.ground, ball, at=((0, 0, 0), (5, 0, 0.5)), axis="z", radius=0.5)
    m.constraint(
        "tie", [rods[0], ball], lambda bodies: bodies[0].position[2] - bodies[1].position[0] + 5
    )
    return m


def linked(plane=None):
    """Pendulums joined by couplers without mass, one with a thin rod and one with a point mass.

    In space a cross at one end keeps a coupler from spinning about itself.
    """
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane)
    arms = []
    for i in range(3):
        moments = 0.1 if plane else (0.1, 0.12, 0.05)
        arms.append(m.body(f"arm{i}", mass=1.0 + i, inertia=moments, position=(2 * i, 0, -0.5)))
        m.revolute(f"pin{i}", m.ground, arms[-1], at=(2 * i, 0, 0), axis="y")
    for i in range(2):
        coupler = m.body(f"coupler{i}", position=(2 * i + 1, 0, -1))
        ends = ((2 * i, 0, -1), (2 * i + 2, 0, -1))
        if plane:
            m.revolute(f"left{i}", arms[i], coupler, at=ends[0])
            m.revolute(f"right{i}", coupler, arms[i + 1], at=ends[1])
        else:
            m.universal(f"left{i}", arms[i], coupler, at=ends[0], axis="y", axis_b="x")
            m.spherical(f"right{i}", coupler, arms[i + 1], at=ends[1])
    rod = m.body("rod", inertia=zw.inertia.rod(0.5, 1.0, "z"), position=(4, 0, -1.5))
    m.revolute("elbow", arms[2], rod, at=(4, 0, -1), axis="y")
    bob = m.body("bob", mass=0.3, position=(4, 0, -2))
    m.fixed("weld", rod, bob, at=(4, 0, -2))
    return m


def states(parts, count=3, off=0.01):
    """States off the constraints: the programs need not agree on them only."""
    rng = np.random.default_rng(1)
    q, v = parts.start
    for _ in range(count):
        yield q + off * rng.standard_normal(q.shape), rng.standard_normal(v.shape)


def coupled():
    """Two joints of one body tied by their rates: the tie meets that body in two places."""
    m = chain(4)
    m.couple("tie", "j1.angle", "j2.angle", 1.7)
    return m


def star():
    """A loaded plate with more joints than are added up at once, and as many springs."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    plate = m.body("plate", inertia=zw.inertia.cylinder(3.0, 1.0, 0.1))
    for i in range(6):
        end = np.array([np.cos(i), np.sin(i), 0.0])
        leg = m.body(f"leg{i}", mass=1.0, inertia=(0.1, 0.12, 0.09), position=1.5 * end)
        m.spherical(f"ball{i}", leg, plate, at=end)
        m.spring_damper(f"spring{i}", m.ground, plate, at=(2 * end, 0.5 * end), stiffness=7.0)
    m.force("load", plate, (0, 0, -50.0), at=(0.3, 0, 0))
    return m


MECHANISMS = {
    "coupled": coupled(),
    "star": star(),
    "chain": chain(6),
    "skew chain": chain(5, axis=(0.3, 0.8, 0.5)),
    "planar chain": chain(8, plane="xz"),
    "net": net(),
    "massless couplers": linked(),
    "massless couplers in a plane": linked("xz"),
}


class _Dense:
    """The derivative by dense formulations with no mass added anywhere."""

    def __init__(self, system):
        self.system = system

    def kernel(self, name):
        assert name == "derivative"
        return lambda q, v, t, _: (
            self.system.position_rate(q, v, t[0]),
            self.system.solve(q, v, t[0]).acceleration,
        )


@pytest.mark.parametrize("name", MECHANISMS)
def test_blocks_give_what_the_whole_expression_gives(name):
    parts = MECHANISMS[name].parts
    whole, blocks = (
        MechanismSystem(parts, MechanismExpression),
        MechanismSystem(parts, ElementEquations),
    )
    p = whole.parameter_vector()
    program = blocks.equations.block_program()
    for q, v in states(parts):
        t = [0.3]
        y = np.concatenate([q, v])
        other = select_program(whole.equations, ProgramStart(y, 0.3, p), ABSOLUTE)
        if any(body.singular for body in parts.bodies):
            other = _Dense(whole)
        mine, theirs = (x.kernel("derivative")(q, v, t, p) for x in (program, other))
        for a, b in zip(mine, theirs, strict=True):
            assert np.abs(a - b).max() <= SAME * max(1.0, np.abs(b).max())
        a, lam = program.kernel("forces")(q, v, t, p)
        terms = whole.ideal_terms(q, v, 0.3)
        balance = terms.mass_matrix @ a - terms.applied_force - terms.constraint_matrix.T @ lam
        assert np.abs(balance).max() < SAME * max(1.0, np.abs(lam).max())
        assert np.abs(terms.constraint_matrix @ a - terms.constraint_rhs).max() < 1e-9


@pytest.mark.parametrize("name", ["coupled", "net"])
def test_pivots_kept_from_zero_give_what_regularised_ones_give(name):
    parts = MECHANISMS[name].parts
    blocks = ElementEquations(parts)
    p = blocks.parameter_vector()
    for q, v in states(parts):
        acting = blocks.active_rows(q, 0.3, p)
        assert acting.distinct
        regularised, kept = (
            blocks.block_program(acting.inactive, distinct=distinct).kernel("derivative")(
                q, v, [0.3], p
            )
            for distinct in (False, True)
        )
        for a, b in zip(kept, regularised, strict=True):
            assert np.abs(a - b).max() <= SAME * max(1.0, np.abs(b).max())


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "massless couplers"])
def test_corrections_agree_to_first_order(name):
    # Where rows are evaluated differs, before or after unit lengths are restored: second order.
    parts = MECHANISMS[name].parts
    whole, blocks = (
        MechanismSystem(parts, MechanismExpression),
        MechanismSystem(parts, ElementEquations),
    )
    p = whole.parameter_vector()
    for q, v in states(parts, off=1e-6):
        other = select_program(
            whole.equations,
            ProgramStart(np.concatenate([q, v]), 0.0, p),
            ABSOLUTE,
        )
        mine = blocks.equations.block_program().kernel("project")(q, v, [0.0], p)
        theirs = other.kernel("project")(q, v, [0.0], p)
        # By blocks corrections of positions also keep to the velocity constraints.
        assert np.abs(mine[0] - theirs[0]).max() < (1e-5 if name in ("net", "coupled") else 1e-10)
        assert np.abs(mine[1] - theirs[1]).max() < 1e-4
        (ratios,) = blocks.equations.block_program().kernel("residual")(*mine[:2], [0.0], p)
        assert np.abs(ratios).max() < 1e-4


@pytest.mark.parametrize("name", MECHANISMS)
def test_terms_residuals_and_energy_agree(name):
    parts = MECHANISMS[name].parts
    whole, blocks = (
        MechanismSystem(parts, MechanismExpression),
        MechanismSystem(parts, ElementEquations),
    )
    q, v = (np.array(x) for x in zip(*states(parts), strict=True))
    t = np.array([0.1, 0.2, 0.3])
    mine, theirs = blocks.terms(q, v, t), whole.terms(q, v, t)
    for field in ("mass_matrix", "applied_force", "constraint_matrix", "constraint_rhs"):
        assert np.abs(getattr(mine, field) - getattr(theirs, field)).max() < 1e-12
    assert mine.names == theirs.names
    one, two = blocks.residuals(q, v, t), whole.residuals(q, v, t)
    assert np.abs(one.position - two.position).max() < 1e-13
    assert np.abs(one.velocity - two.velocity).max() < 1e-13
    assert one.position_names == two.position_names
    for a, b in zip(blocks.energy(q, v, t), whole.energy(q, v, t), strict=True):
        assert np.abs(a - b).max() < 1e-12


def test_lanes_give_the_same_bits():
    parts = MECHANISMS["net"].parts
    system = ElementEquations(parts)
    p = system.parameter_vector()
    alone, together = (system.block_program(lanes=w).kernel("derivative") for w in (1, 4))
    some = list(states(parts, 4))
    q, v = np.stack([q for q, _ in some], axis=1), np.stack([v for _, v in some], axis=1)
    result = together(q, v, np.full((1, 4), 0.3), np.repeat(p[:, None], 4, axis=1))
    for k, (qk, vk) in enumerate(some):
        for a, b in zip(result, alone(qk, vk, [0.3], p), strict=True):
            assert np.array_equal(a[:, k], b)


def test_nodes_give_the_same_bits():
    parts = MECHANISMS["net"].parts
    system = ElementEquations(parts)
    p, program = system.parameter_vector(), system.block_program()
    some = list(states(parts, NODES))
    q, v = np.stack([q for q, _ in some], axis=1), np.stack([v for _, v in some], axis=1)
    t = np.linspace(0.0, 0.7, NODES)[None]
    for name in ("acceleration", "rates", "project"):
        together = program.at_nodes(name)(q, v, t, p)
        for k, (qk, vk) in enumerate(some):
            alone = program.kernel(name)(qk, vk, t[:, k], p)
            for a, b in zip(together, alone, strict=True):
                assert np.array_equal(a[:, k], b)
            if name != "project":
                derivative = program.kernel("derivative")(qk, vk, t[:, k], p)
                assert np.array_equal(alone[0], derivative[name == "acceleration"])


def test_collocation_moves_a_net_as_the_explicit_method_does():
    system = MechanismSystem(library.net(4, 3).parts, ElementEquations)
    choices = {"until": 0.4, "tolerance": 1e-11, "save": 0.1, "coordinates": "absolute"}
    runs = [
        system.simulate(system.assemble(), integrator=name, **choices)
        for name in ("order8", "gauss")
    ]
    # Errors of steps, and of both methods, add up.
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert max(run.worst_residual for run in runs) < 1e-12
    assert runs[1].counts.steps < runs[0].counts.steps


def test_a_large_mechanism_moves_like_its_small_description():
    m = chain(12)
    assert isinstance(m.system.equations, ElementEquations)
    run = m.simulate(until=0.5, tolerance=1e-9, save=0.1)
    small = MechanismSystem(m.parts, MechanismExpression)
    other = small.simulate(small.assemble(), until=0.5, tolerance=1e-9, save=0.1)
    assert np.abs(run.q - other.q).max() < 1e-9
    assert np.abs(run.reaction("j0").force - other.reaction("j0").force).max() < 1e-7
    assert np.abs(run.energy - other.energy).max() < 1e-9
    assert run.worst_residual < 1e-12


def test_doubled_joints_of_a_large_mechanism_change_nothing():
    def doubled(copies):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        previous = m.ground
        for i in range(10):
            body = m.body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0))
            for c in range(copies):
                m.revolute(f"j{i}_{c}", previous, body, at=(i, 0, 0), axis="y")
            previous = body
        return m

    once, twice = (doubled(k).simulate(until=0.5, tolerance=1e-10, save=0.1) for k in (1, 2))
    assert np.abs(once.q - twice.q).max() < 1e-9
    assert any("50 of 100" in note for note in twice.notes)
    wrench = twice.reaction("j0_0").force + twice.reaction("j0_1").force
    assert np.abs(wrench - once.reaction("j0_0").force).max() < 1e-6


def test_massless_couplers_of_a_large_mechanism_move_as_links_do():
    """Pendulums side by side, coupled by bars without mass or by equations of length."""

    def row(couple):
        m = zw.Mechanism(gravity=(3.0, 0, -9.81), plane="xz")
        arms = []
        for i in range(14):
            place = (i, 0, -0.5)
            arms.append(m.body(f"arm{i}", mass=1.0 + 0.1 * i, inertia=0.1, position=place))
            m.revolute(f"pin{i}", m.ground, arms[-1], at=(i, 0, 0))
        for i in range(0, 14, 2):
            couple(m, i, arms[i], arms[i + 1], (i, 0, -0.7), (i + 1, 0, -0.9))
        return m

    def by_body(m, i, a, b, P, Q):
        coupler = m.body(f"coupler{i}", position=np.add(P, Q) / 2)
        m.revolute(f"left{i}", a, coupler, at=P)
        m.revolute(f"right{i}", coupler, b, at=Q)

    def by_link(m, i, a, b, P, Q):
        m.spherical_link(f"link{i}", a, b, at=(P, Q))

    coupled, linked_ = row(by_body), row(by_link)
    assert isinstance(coupled.system.equations, ElementEquations)
    a, b = (m.simulate(until=1.0, tolerance=1e-12, save=0.25) for m in (coupled, linked_))
    assert a.finished
    for i in range(14):
        assert np.abs(a.body(f"arm{i}").position - b.body(f"arm{i}").position).max() < 1e-10
    assert np.abs(a.reaction("right0").force - b.reaction("link0").force).max() < 1e-8


def test_an_undetermined_body_of_a_large_mechanism_is_refused_by_name():
    m = chain(12)
    ghost = m.body("ghost", position=(12.5, 0, 0))
    m.spherical("ball", "b11", ghost, at=(12, 0, 0))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "x"), position=(0.5, 1, 0))
    m.spherical("socket", m.ground, rod, at=(0, 1, 0))  # spins about itself, which nothing notices
    assert isinstance(m.system.equations, ElementEquations)
    with pytest.raises(zw.NotUniqueError, match="body 'ghost'"):
        m.simulate(until=0.1)


def test_order_of_a_chain_has_no_fill():
    order = block_order([5] * 50, [(i, i + 1) for i in range(49)])
    assert max(len(below) for below in order.below.values()) == 1
