"""Large trees, evaluated link by link: the same answers as those of one expression."""

import numpy as np
import pytest
from test_joint_coordinates import OBLIQUE, ROUNDING, SAME, TIGHT, TREES, grown

import zwang as zw
from zwang import library
from zwang.coordinates.joint.link_constants import LinkConstants
from zwang.coordinates.joint.programs import JointCoordinateCache
from zwang.programs.blocks.call_list_program import TapeProgram
from zwang.simulation.options import choices_of
from zwang.simulation.select_program import ProgramStart, select_program

#: Two orders of the same sums, relative to the largest acceleration.
SUMS = 1e-11


def both(m, lanes=1):
    """The program of one expression, the one link by link, and parameters."""
    system = m.system
    p = system.parameter_vector()
    kept = JointCoordinateCache.of(system.equations, system.parts).with_values(p)
    whole = kept.system
    program = whole.tree_program(1)
    p_joint = np.concatenate([p, kept.vector])
    return whole, program, kept.program_by_link(lanes), p_joint


def state(tree, seed):
    """Any q̂ with Euler parameters of unit length, and any v̂."""
    r = np.random.default_rng(seed)
    q, v = r.uniform(-1.5, 1.5, tree.nq), r.uniform(-2, 2, tree.nv)
    for group in tree.unit:
        q[list(group)] /= np.linalg.norm(q[list(group)])
    return q, v


@pytest.mark.parametrize("name", TREES)
def test_links_one_by_one_move_as_all_at_once(name):
    whole, program, tape, p = both(TREES[name]())
    for seed in range(3):
        q, v = state(whole.tree, seed)
        given = (q, v, [0.3], p)
        for kernel in ("derivative", *(["project"] if program.rows[1] else [])):
            expected, found = (x.kernel(kernel)(*given)[:2] for x in (program, tape))
            for a, b in zip(expected, found, strict=True):
                np.testing.assert_allclose(b, a, rtol=0, atol=SUMS * max(1.0, np.abs(a).max()))
        v_dot = tape.kernel("derivative")(*given)[1]
        np.testing.assert_array_equal(tape.kernel("forces")(*given)[0], v_dot)
        if program.rows[1]:
            *rates, ratios = tape.kernel("arrival")(*given)
            np.testing.assert_array_equal(ratios, tape.kernel("residual")(*given)[0])
            np.testing.assert_array_equal(rates[1], v_dot)


@pytest.mark.parametrize("name", TREES)
def test_the_way_in_and_back_is_that_of_one_expression(name):
    whole, _, tape, p = both(TREES[name]())
    q, v = state(whole.tree, 7)
    outside = tape.carrier.leave(np.concatenate([q, v])[None], np.zeros(1), p)
    np.testing.assert_allclose(
        outside, whole.carrier.leave(np.concatenate([q, v])[None], np.zeros(1), p), atol=ROUNDING
    )
    given = outside, 0.0, p[None, : -LinkConstants.count(whole.tree)]
    for a, b in zip(whole.carrier.into(*given), tape.carrier.into(*given), strict=True):
        np.testing.assert_allclose(b, a, atol=100 * ROUNDING)


@pytest.mark.parametrize("name", TREES)
def test_bodies_accelerate_as_in_one_expression(name):
    whole, _, tape, p = both(TREES[name]())
    y = np.concatenate(state(whole.tree, 5))
    rates = np.random.default_rng(6).uniform(-1.0, 1.0, len(y))  # any: both are linear in them
    expected, found = (
        x.carrier.accelerations(y[None], rates[None], 0.0, p[None]) for x in (whole, tape)
    )
    np.testing.assert_allclose(found, expected, atol=SUMS * np.abs(expected).max())


@pytest.mark.parametrize("name", ["pulled", "spherical"])
def test_each_node_is_a_state_of_its_own(name):
    whole, _, tape, p = both(TREES[name]())
    states = [state(whole.tree, seed) for seed in range(8)]
    q, v = (np.stack(x, axis=1) for x in zip(*states, strict=True))
    given = q, v, np.full((1, 8), 0.3), p
    together = [tape.at_nodes(kernel)(*given)[0] for kernel in ("rates", "acceleration")]
    for k, (one_q, one_v) in enumerate(states):
        single = tape.kernel("derivative")(one_q, one_v, [0.3], p)
        for a, b in zip(together, single, strict=True):
            np.testing.assert_array_equal(a[:, k], b)


@pytest.mark.parametrize("lanes", [4, 8])
def test_each_lane_is_a_run_of_its_own(lanes):
    whole, _, tape, p = both(TREES["pulled"](), lanes)
    _, _, alone, _ = both(TREES["pulled"]())
    states = [state(whole.tree, seed) for seed in range(lanes)]
    q, v = (np.stack(x, axis=1) for x in zip(*states, strict=True))
    P = np.repeat(p[:, None], lanes, axis=1)
    together = tape.kernel("derivative")(q, v, np.full((1, lanes), 0.3), P)
    for k, (one_q, one_v) in enumerate(states):
        single = alone.kernel("derivative")(one_q, one_v, [0.3], p)
        for a, b in zip(together, single, strict=True):
            np.testing.assert_array_equal(a[:, k], b)


def long_tree():
    """A tree of thirty bodies on joints of many kinds."""
    return grown(("revolute", OBLIQUE, "spherical", "universal", "prismatic"), 11, 30)[0]


@pytest.fixture(scope="module")
def long_run():
    m = long_tree()
    return m, m.simulate(until=0.3, tolerance=TIGHT, save=0.05)


def test_a_large_tree_moves_as_its_bodies_do(long_run):
    m, run = long_run
    assert "integrated in joint coordinates" in run.notes
    settings, _, _ = choices_of(m.system, until=1.0, start=0.0)
    y = np.concatenate([run.q[0], run.v[0]])
    assert (
        type(
            select_program(
                m.system.equations,
                ProgramStart(y, 0.0, m.system.parameter_vector()),
                settings,
            )
        )
        is TapeProgram
    )
    bodies = m.simulate(until=0.3, tolerance=TIGHT, save=0.05, coordinates="absolute")
    np.testing.assert_allclose(run.q, bodies.q, atol=SAME)
    np.testing.assert_allclose(run.v, bodies.v, atol=10 * SAME)
    for name in ("j0", "j7", "j29"):
        size = np.abs(bodies.reaction(name).force).max()
        np.testing.assert_allclose(
            run.reaction(name).force, bodies.reaction(name).force, atol=1e-6 * size
        )


def test_a_start_beside_its_joints_is_put_on_them(long_run):
    m, run = long_run
    q, v = run.q[0].copy(), run.v[0].copy()
    q[:3] += 1e-7
    shifted = m.simulate(q, v, until=0.01, tolerance=1e-6)
    residuals = m.system.residuals(shifted.q[-1], shifted.v[-1], shifted.t[-1])
    assert np.abs(residuals.position).max() < 1e-12
    assert np.abs(shifted.q[0] - run.q[0]).max() < 1e-6


def test_an_event_on_a_large_tree_is_found_where_bodies_have_it():
    m = library.chain(22, planar=False)
    events = {"low": zw.event(lambda q: q[2] + 0.01)}
    moments = [
        [e.t for e in m.simulate(until=0.2, tolerance=1e-9, events=events, coordinates=x).events]
        for x in ("joint", "absolute")
    ]
    assert moments[0]
    np.testing.assert_allclose(moments[0], moments[1], atol=SAME)


def test_a_large_tree_goes_on_bit_for_bit(died):
    m = long_tree()
    choices = {"until": 0.5, "tolerance": 1e-8, "save": 0.01}
    whole = m.simulate(**choices)
    rest = zw.resume(died(m, **choices), m.system)
    assert rest.q.tobytes() == whole.q.tobytes()
    assert rest.v.tobytes() == whole.v.tobytes()


@pytest.mark.parametrize("integrator", ["order8", "gauss"])
def test_a_chain_of_many_bodies_keeps_its_energy(integrator):
    m = library.chain(150, planar=False)
    choices = {"integrator": integrator, "tolerance": 1e-9}
    run = m.simulate(until=0.2, save=0.05, coordinates="joint", **choices)
    assert run.settings.integrator == integrator
    size = 150 * 9.81 * np.abs(run.q[:, 2::7]).max()  # of what potential energy gives
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("about_itself", [False, True])
def test_a_link_without_inertia_about_its_axis_keeps_a_tree_in_one_expression(about_itself):
    """Thin rods lack it about themselves, which matters where a hinge is along one of them."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    before = m.ground
    for k in range(20):
        # Five rods along x, the others along y: these give the tree inertia about the fifth.
        x, y = min(k, 5), max(k - 5, 0)
        inertia = (0.0, 0.1, 0.1) if k < 5 else (0.1, 0.0, 0.1)
        center = (k + 0.5, 0, 0) if k < 5 else (5, y + 0.5, 0)
        body = m.body(f"b{k}", mass=1.0, inertia=inertia, position=center)
        axis = (0, np.cos(k), np.sin(k)) if k < 5 else (np.cos(k), 0, np.sin(k))
        axis = (1, 0, 0) if about_itself and k == 4 else axis
        m.revolute(f"j{k}", before, body, at=(x, y, 0), axis=axis)
        before = body
    settings, _, _ = choices_of(m.system, until=1.0, start=0.0)
    y, p = np.concatenate(m.system.equations.placement), m.system.parameter_vector()
    program = select_program(m.system.equations, ProgramStart(y, 0.0, p), settings)
    assert program.carrier.name == "joint"
    assert (type(program) is TapeProgram) is not about_itself
