"""Friction in large mechanisms, element by element: the same numbers as the single expression."""

import numpy as np
import pytest

import zwang as zw
from compiling import without_llvm
from zwang import library
from zwang.equations.elements import ElementEquations
from zwang.equations.mechanism import MechanismExpression
from zwang.errors import PainleveError
from zwang.mechanism import MechanismSystem

#: Two ways to the same root of the same equations, in double precision.
SAME = 1e-10


def rubbed(m, joints):
    """Friction in some joints, of different strength."""
    for i, name in enumerate(joints):
        m.friction(name, coefficient=0.2 + 0.05 * i, radius=0.1, viscous=0.03 * i, velocity=0.1)
    return m


def chain(plane=None, axis="y"):
    """Bodies on pins and one on a slide, the last one on a spring."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane=plane)
    last = m.ground
    for i in range(5):
        moments = 0.2 if plane else (0.1, 0.2, 0.25)
        body = m.body(f"b{i}", mass=1.0 + 0.1 * i, inertia=moments, position=(i + 0.5, 0, 0))
        if i == 3:
            m.prismatic(f"j{i}", last, body, at=(i, 0, 0), axis="x")
        else:
            m.revolute(f"j{i}", last, body, at=(i, 0, 0), axis=axis)
        last = body
    m.spring_damper("spring", m.ground, last, at=((0, 0, 1), (4.5, 0, 0)), stiffness=20.0)
    return rubbed(m, ["j0", "j1", "j3"])


def massless():
    """A coupler without mass between two pendulums, and a hub with more pins than are added up."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    arms = [
        m.body(f"arm{i}", mass=1.0 + i, inertia=0.1, position=(2 * i, 0, -0.5)) for i in range(2)
    ]
    for i, arm in enumerate(arms):
        m.revolute(f"pin{i}", m.ground, arm, at=(2 * i, 0, 0))
    coupler = m.body("coupler", position=(1, 0, -1))
    m.revolute("left", arms[0], coupler, at=(0, 0, -1))
    m.revolute("right", coupler, arms[1], at=(2, 0, -1))
    for i in range(6):
        leaf = m.body(f"leaf{i}", mass=0.2, inertia=0.01, position=(2, 0, -0.5 - 0.1 * i))
        m.revolute(f"leaf_pin{i}", arms[1], leaf, at=(2, 0, -0.1 * i))
    return rubbed(m, ["pin0", "left", "leaf_pin1", "leaf_pin5"])


def viscous_in_part():
    """Pins with dry friction, and one of the same kind that is viscous alone."""
    m = chain(axis=(0.3, 0.8, 0.5))
    m.friction("j2", viscous=0.4)
    return m


TERMS = ("mass_matrix", "applied_force", "constraint_matrix", "constraint_rhs")
CASES = {
    "in space": lambda: chain(axis=(0.3, 0.8, 0.5)),
    "in a plane": lambda: chain("xz"),
    "massless": massless,
    "viscous in part": viscous_in_part,
}


@pytest.mark.parametrize("name", CASES)
def test_blocks_find_the_reaction_that_dense_matrices_give(name):
    parts = CASES[name]().parts
    whole, blocks = (
        MechanismSystem(parts, MechanismExpression),
        MechanismSystem(parts, ElementEquations),
    )
    p, rng, (q0, v0) = whole.parameter_vector(), np.random.default_rng(1), parts.start
    program = blocks.equations.block_program()
    for _ in range(2):
        q, v = q0 + 0.01 * rng.standard_normal(q0.shape), rng.standard_normal(v0.shape)
        dense = whole.solve(q, v)
        _, a = program.kernel("derivative")(q, v, [0.0], p)
        again, lam = program.kernel("forces")(q, v, [0.0], p)
        for ours, theirs in ((a, dense.acceleration), (lam, dense.multipliers)):
            np.testing.assert_allclose(ours, theirs, atol=SAME * np.abs(theirs).max(), rtol=0.0)
        assert np.array_equal(a, again)
        C = blocks.terms(q, v).nonideal_force
        assert np.abs(C).max() > 0.01
        np.testing.assert_allclose(C, dense.terms.nonideal_force, atol=SAME * np.abs(C).max())


def test_rows_that_depend_on_others_share_their_force():
    m = rubbed(library.four_bars(2, planar=False), ["A0", "left1"])
    whole, blocks = (MechanismSystem(m.parts, k) for k in (MechanismExpression, ElementEquations))
    state = whole.assemble()
    kernel = blocks.equations.block_program().kernel("forces")
    a, _ = kernel(state.q, state.v, [0.0], blocks.parameter_vector())
    dense = whole.ideal_terms(state)
    # Whatever the reactions are shared out to be, the motion is that of the friction they cause.
    C = blocks.terms(state).nonideal_force
    expected = zw.solve(*(getattr(dense, x) for x in TERMS), C).acceleration
    np.testing.assert_allclose(a, expected, atol=SAME * np.abs(a).max())
    assert np.abs(C).max() > 1e-3


def test_lanes_give_the_same_bits():
    parts = chain("xz").parts
    blocks = ElementEquations(parts)
    p, (q, v) = blocks.parameter_vector(), parts.start
    v = np.random.default_rng(3).standard_normal(v.shape)
    one = blocks.block_program().kernel("derivative")(q, v, [0.0], p)
    four = blocks.block_program(lanes=4).kernel("derivative")(
        *(np.repeat(np.asarray(x)[:, None], 4, axis=1) for x in (q, v, [0.0], p))
    )
    for a, b in zip(one, four, strict=True):
        assert np.array_equal(np.repeat(a[:, None], 4, axis=1), b)


def test_a_large_chain_with_friction_loses_the_energy_that_friction_takes():
    m = library.chain(40)
    for k in range(0, 40, 2):
        m.friction(f"joint{k + 1}", coefficient=0.2, radius=1e-3, viscous=1e-5, velocity=2.0)
    assert isinstance(m.system.equations, ElementEquations)
    run = m.simulate(until=0.2, tolerance=1e-9)
    work = run.work
    assert work.nonideal[-1] < -1e-4
    lost = run.energy[-1] - run.energy[0]
    assert lost == pytest.approx(work.nonideal[-1], abs=1e-8)  # the error of the run
    assert np.abs(work.balance).max() < 1e-8


def test_a_large_chain_with_viscous_friction_has_no_note_on_reactions():
    m = library.chain(40)
    for k in range(1, 41):
        m.friction(f"joint{k}", viscous=1e-5)
    assert isinstance(m.system.equations, ElementEquations)
    assert without_llvm(m.simulate(until=0.01).notes) == ()


def test_where_no_reaction_agrees_with_friction_its_joints_are_named():
    # Moments of friction far beyond those of forces on links of 25 mm.
    m = library.chain(40)
    for k in range(40):
        m.friction(f"joint{k + 1}", coefficient=20.0, radius=10.0, velocity=1e-6)
    q, v = m.parts.start
    with pytest.raises(PainleveError, match="friction in joint1, joint2"):
        m.terms(q, np.random.default_rng(0).standard_normal(v.shape))
