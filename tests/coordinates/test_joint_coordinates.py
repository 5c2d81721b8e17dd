"""Mechanisms carried in the coordinates of their joints: the same answers as those of bodies."""

import casadi as ca
import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.coordinates.joint.tree import tree_of
from zwang.errors import InputError
from zwang.integrators.registry import start_loop
from zwang.simulation.options import choices_of
from zwang.simulation.select_program import ProgramStart, select_program

TIGHT = 1e-11
#: Motions in two sets of coordinates at that tolerance, over half a second [m, m/s].
SAME = 2e-8
#: One evaluation against a dense solve of all equations of bodies, relative.
EXACT = 1e-11
#: The way into the coordinates and back: a few roundings for each body on the way.
ROUNDING = 1e-13

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "fixed")
#: A universal joint whose arms meet at another angle than a right one.
OBLIQUE = "oblique universal"


def tree(*arguments, **options):
    """A mechanism of `grown`."""
    return grown(*arguments, **options)[0]


def grown(kinds, seed, bodies, *, floating=False):
    """Bodies on joints of given kinds, each on any body before it, in any direction."""
    r = np.random.default_rng(seed)
    m = zw.Mechanism(gravity=(0.3, -1.0, -9.81))
    placed = [m.body("base", mass=2.0, inertia=(0.3, 0.4, 0.5)) if floating else m.ground]
    for i in range(bodies):
        X = r.standard_normal((3, 3))
        body = m.body(
            f"b{i}",
            mass=r.uniform(0.5, 2.0),
            inertia=0.1 * (X @ X.T + np.trace(X @ X.T) * np.eye(3)),
            position=r.standard_normal(3),
        )
        kind, at = kinds[i % len(kinds)], r.standard_normal(3)
        where = {"at": at}
        if kind in ("universal", OBLIQUE):
            z = r.standard_normal(3)
            where |= {"axis": z, "axis_b": np.cross(z, r.standard_normal(3))}
            where |= {"arm_angle": r.uniform(0.4, 2.7)} if kind == OBLIQUE else {}
        elif kind not in ("fixed", "spherical"):
            where |= {"axis": r.standard_normal(3)}
        pair = [placed[r.integers(len(placed))], body]
        a, b = pair if r.uniform() < 0.5 else pair[::-1]
        getattr(m, kind.split()[-1])(f"j{i}", a, b, **where)
        placed.append(body)
    return m, placed


def pulled():
    """A floating tree with a spring, a torsion spring and forces of the user's."""
    m, (base, b0, b1, *_) = grown(("revolute", "spherical"), 3, 3, floating=True)
    m.spring_damper(
        "spring", base, b1, at=((0, 0.2, 0), (1, 1, 1)), stiffness=30.0, damping=0.5, length=1.0
    )
    m.force("push", b0, lambda t: (np.sin(t), 5.0, 2.0 * t), at=(0.1, 0.1, 0.0))
    m.user_force("own", [b1], lambda bodies: [(-3.0 * bodies[0].velocity, (1.0, 2.0, 3.0))])
    return m


TREES = {
    **{kind: lambda kind=kind: tree((kind,), 5, 3) for kind in KINDS if kind != "fixed"},
    OBLIQUE: lambda: tree((OBLIQUE, "universal"), 6, 4),
    "all": lambda: tree(KINDS, 1, 9),
    "all, again": lambda: tree(KINDS[::-1], 2, 9),
    "floating": lambda: tree(KINDS, 4, 6, floating=True),
    "pulled": pulled,
}
CASES = {
    **TREES,
    "bricard": library.bricard,
    "door": library.door,
    "wishbone": library.double_wishbone,
    "shaft": library.universal_joint_shaft,
    "bicycle": library.whipple_bicycle,
    "governor": library.ball_governor,
    "satellite": library.satellite,
    "gyroscope": library.gyroscope,
    "four-bar": lambda: library.four_bar(planar=False),
    "slider-crank in its plane": library.slider_crank,
    "leg": lambda: library.theo_jansen_leg(planar=False),
}


def carried(system, y, t=0.0, coordinates="joint"):
    settings, _, _ = choices_of(system, until=1.0, start=0.0, coordinates=coordinates)
    return select_program(
        system.equations,
        ProgramStart(y, t, system.parameter_vector()),
        settings,
    )


def terms(system, q, v):
    """M, Q, A and b of bodies at a state, without compiling them."""
    model, state = system.model, system.model.state
    outputs = [ca.densify(x) for x in (model.M, model.Q, model.A, model.b)]
    found = ca.Function("terms", [state.q, state.v, state.t, state.p], outputs)
    M, Q, A, b = (np.array(x) for x in found(q, v, 0.0, system.parameter_vector()))
    return M, Q.ravel(), A, b.ravel()


def some_state(m, seed=0):
    """The placement, or anywhere for trees, at any velocity, with any signs of parameters."""
    r = np.random.default_rng(seed)
    system = m.system
    q, v = (x.copy() for x in system.parts.start)
    p = system.parameter_vector()
    program = carried(system, np.concatenate([q, v]))
    if not program.rows[2]:
        c = program.carrier
        y, p_hat = c.enter(np.concatenate([q, v])[:, None], 0.0, p[:, None])
        y[:, 0] += r.uniform(-0.7, 0.7, len(y))
        for group in tree_of(system.parts).unit:
            y[list(group)] /= np.linalg.norm(y[list(group)])
        q = c.leave(y.T, np.zeros(1), p_hat[:, 0])[0, : len(q)]
    starts, _ = system.parts.places
    for i, body in enumerate(system.parts.bodies):
        if body.kind.nq == 7 and r.uniform() < 0.5:
            q[starts[i] + 3 : starts[i] + 7] *= -1.0
    _, _, A, _ = terms(system, q, v)
    v = r.standard_normal(len(v))
    return q, v - np.linalg.lstsq(A, A @ v, rcond=1e-9)[0]


def rates(program, y, t, p):
    """q̇ and v̇ of the mechanism from those of the program, by differentiating its way back."""
    c = program.carrier
    y_hat, p_hat = c.enter(y[:, None], t, p[:, None])
    q, v = y_hat[: program.nq, 0], y_hat[program.nq :, 0]
    q_dot, v_dot = program.outputs["derivative"]()
    state, motion = ca.vertcat(*c.inputs[:2]), ca.vertcat(q_dot, v_dot)
    along = ca.jtimes(ca.vertcat(c.q, c.v), state, motion)
    found = ca.Function("rates", list(c.inputs), [along, ca.vertcat(c.q, c.v)])
    return (np.array(x).ravel() for x in found(q, v, t, p_hat[:, 0]))


def plain_acceleration(M, Q, A, b):
    """a₀ + N y with A a₀ = b, A N = 0 and NᵀM (a₀ + N y) = NᵀQ.

    Where b is zero on paper it holds rounding alone, which contradicts itself as rounding does;
    the least squares of it are rounding too.
    """
    U, sizes, Vt = np.linalg.svd(A)
    rank = int(np.sum(sizes > 1e-9 * sizes[0]))
    a, N = Vt[:rank].T @ (U[:, :rank].T @ b / sizes[:rank]), Vt[rank:].T
    return a + N @ np.linalg.solve(N.T @ M @ N, N.T @ (Q - M @ a))


@pytest.mark.parametrize("name", CASES)
def test_accelerations_are_those_of_bodies_and_the_way_back_leads_to_the_start(name):
    m = CASES[name]()
    system, (q, v) = m.system, some_state(m)
    y, p = np.concatenate([q, v]), system.parameter_vector()
    program = carried(system, y)
    assert program.carrier.name == "joint"
    motion, back = rates(program, y, 0.0, p)
    np.testing.assert_allclose(back, y, atol=ROUNDING * max(1.0, np.abs(y).max()) * 10)
    expected = plain_acceleration(*terms(system, q, v))
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(motion[len(q) :], expected, atol=EXACT * size)
    np.testing.assert_allclose(
        motion[: len(q)], system.position_rate(q, v), atol=EXACT * max(1.0, np.abs(v).max())
    )


LONG = pytest.mark.campaign  # compiling all that reactions of bodies need takes seconds


@pytest.mark.parametrize(
    "name",
    ["bricard", *(pytest.param(name, marks=LONG) for name in ("universal", "pulled", "all"))],
)
def test_motion_and_reactions_are_those_of_bodies(name):
    m = CASES[name]()
    q, v = some_state(m)
    joint, bodies = (
        m.simulate(q, v, until=0.5, tolerance=TIGHT, save=0.25, coordinates=c)
        for c in ("joint", "absolute")
    )
    assert joint.finished
    np.testing.assert_allclose(joint.q, bodies.q, atol=SAME)
    np.testing.assert_allclose(joint.v, bodies.v, atol=SAME * max(1.0, np.abs(bodies.v).max()))
    assert joint.worst_residual < 1e-12
    first = next(iter(m.system.parts.joints))
    ours, theirs = joint.reaction(first), bodies.reaction(first)
    assert np.array_equal(ours.determinate, theirs.determinate)
    size = max(1.0, np.abs(theirs.force).max())
    np.testing.assert_allclose(ours.force, theirs.force, atol=100 * SAME * size)


def test_what_is_chosen():
    def choice(m):
        found = carried(m.system, np.concatenate(m.system.parts.start), coordinates="auto").carrier
        return None if found is None else found.name

    assert choice(library.bricard()) == "joint"
    assert choice(tree(KINDS, 1, 9)) == "joint"
    assert choice(library.rolling_coin()) is None  # no joint carries it
    for planar in (True, False):
        assert choice(library.four_bar(planar=planar)) == "joint"
        assert choice(library.four_bars(40, planar=planar)) == "joint"  # its factor stays sparse
    assert choice(library.net(5)) is None  # that of a net fills up


def test_loops_are_cut_where_the_tree_stays_shallow():
    found = tree_of(library.bricard().system.parts)
    assert len(found.links) == 5
    assert len(found.constraints) == 1
    assert max(len(found.ancestors(i)) for i in range(5)) == 3


def test_as_many_rows_are_left_out_as_follow_from_others():
    for m in (library.bricard(), library.door(), library.universal_joint_shaft()):
        run = m.simulate(until=0.05, coordinates="joint")
        assert run.ranks[0].dependent_rows == m.explain().redundancy


def test_many_turns_change_neither_steps_nor_accuracy():
    """An angle is known to the same error however often it has gone round."""
    m = zw.Mechanism()
    rotor = m.body("rotor", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(0, 0, 3.0))
    m.revolute("axle", m.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1))
    m.torsion_spring("swing", m.ground, rotor, axis=(0, 0, 1), stiffness=2.0)
    system = m.system
    y, p = np.concatenate(system.parts.start), system.parameter_vector()
    program = carried(system, y)
    settings, _, sizes = choices_of(system, until=3.0, start=0.0, tolerance=1e-8)
    y_hat, p_hat = program.carrier.enter(y[:, None], 0.0, p[:, None])
    ends = []
    for turns in (0, 1000):
        shifted = y_hat + np.array([[4.0 * np.pi * turns], [0.0]])
        loop = start_loop(
            program,
            settings,
            0.0,
            shifted,
            p_hat,
            times=None,
            scales=program.carrier.scales(sizes),
            carried=True,
        )
        loop.advance()
        assert loop.finished
        ends.append((loop.work_done()[0], loop.present[:, 0].copy()))
    assert ends[0][0] == ends[1][0]
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=1e-10)


def test_velocities_off_the_joints_are_put_on_them_as_masses_weigh_them():
    m = CASES["all"]()
    system, (q, v) = m.system, some_state(m)
    v = v + 0.3 * np.random.default_rng(1).standard_normal(len(v))
    p = system.parameter_vector()
    program = carried(system, np.concatenate([q, v]))
    y, p_hat = program.carrier.enter(np.concatenate([q, v])[:, None], 0.0, p[:, None])
    found = program.carrier.leave(y.T, np.zeros(1), p_hat[:, 0])[0, len(q) :]
    M, _, A, _ = terms(system, q, v)
    W = np.linalg.solve(M, A.T)
    expected = v - W @ np.linalg.solve(A @ W, A @ v)
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_events_impulses_and_joints_that_are_switched():
    m = tree(("revolute", "spherical", "universal"), 7, 3)
    q, v = some_state(m)
    height = float(q[16])
    events = {
        "floor": zw.event(lambda q: q[16] - height + 0.2, zw.bounce(0.7), direction=-1),
        "free": zw.event(lambda t: t - 0.35, then=zw.switch(off=["j2"])),
    }
    joint, bodies = (
        m.simulate(q, v, until=0.5, tolerance=TIGHT, save=0.1, events=events, coordinates=c)
        for c in ("joint", "absolute")
    )
    assert [e.name for e in joint.events] == [e.name for e in bodies.events]
    assert {"floor", "free"} <= {e.name for e in joint.events}
    for ours, theirs in zip(joint.events, bodies.events, strict=True):
        assert abs(ours.t - theirs.t) < SAME
        np.testing.assert_allclose(ours.v_after, theirs.v_after, atol=100 * SAME)
    np.testing.assert_allclose(joint.q, bodies.q, atol=100 * SAME)


def test_a_joint_that_is_switched_on_takes_its_velocity_away():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    arm = m.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    tip = m.body("tip", mass=0.5, inertia=(0.1, 0.1, 0.2), position=(1.5, 0, 0))
    m.revolute("shoulder", m.ground, arm, at=(0, 0, 0), axis=(0.2, 1, 0.1))
    m.spherical("elbow", arm, tip, at=(1, 0, 0))
    m.revolute("lock", arm, tip, at=(1, 0, 0), axis=(0, 0.3, 1))
    events = {"catch": zw.event(lambda t: t - 1e-9, then=zw.switch(on=["lock"]))}
    _, v = m.system.parts.start
    v = v.copy()
    v[9:] = (1.0, 2.0, 3.0)
    v[6:9] = np.cross(v[9:], (0.5, 0, 0))
    joint, bodies = (
        m.simulate(
            m.system.parts.start[0],
            v,
            until=0.3,
            tolerance=TIGHT,
            save=0.1,
            events=events,
            inactive=["lock"],
            coordinates=c,
        )
        for c in ("joint", "absolute")
    )
    np.testing.assert_allclose(joint.events[0].v_after, bodies.events[0].v_after, atol=1e-9)
    np.testing.assert_allclose(joint.q, bodies.q, atol=SAME)


def test_lanes_and_company_change_nothing():
    m = tree(("revolute", "spherical"), 7, 3)
    q, v = some_state(m)
    factors, masses = np.linspace(0.5, 1.5, 5), np.linspace(1.0, 2.0, 5)
    together = m.simulate_many(
        q,
        v * factors[:, None],
        until=0.5,
        save=0.25,
        parameters={"b0.mass": masses},
        threads=1,
        coordinates="joint",
    )
    for run, factor, mass in zip(together, factors, masses, strict=True):
        alone = m.simulate(
            q,
            v * factor,
            until=0.5,
            save=0.25,
            parameters={"b0.mass": mass},
            coordinates="joint",
            integrator="order8",
        )
        assert alone.q.tobytes() == run.q.tobytes()
        assert alone.v.tobytes() == run.v.tobytes()


def test_a_stored_run_goes_on_to_the_same_bits(died):
    m = library.bricard()
    whole = m.simulate(until=6.0, coordinates="joint")
    path = died(m, until=6.0, coordinates="joint")
    resumed = zw.resume(path, m.system)
    assert resumed.q.tobytes() == whole.q.tobytes()
    assert resumed.v.tobytes() == whole.v.tobytes()


@LONG
def test_stiff_motions_by_the_implicit_method():
    m = library.satellite()
    joint, bodies = (
        m.simulate(until=0.2, tolerance=1e-9, save=0.1, integrator="radau5", coordinates=c)
        for c in ("joint", "absolute")
    )
    np.testing.assert_allclose(joint.q, bodies.q, atol=1e-6)


def test_what_cannot_be_carried_is_refused_by_name():
    m = tree(KINDS, 1, 4)
    with pytest.raises(InputError, match="formulation"):
        m.simulate(until=0.1, coordinates="joint", formulation="projection")
    with pytest.raises(InputError, match="baumgarte"):
        m.simulate(until=0.1, coordinates="joint", drift="baumgarte")
    with pytest.raises(InputError, match="more than"):
        library.net(8, 8, planar=False).simulate(until=0.1, coordinates="joint")


@pytest.mark.parametrize("coordinates", ["joint", "planar"])
def test_a_constraint_without_a_row_at_rest_acts_in_fewer_coordinates(coordinates):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rods = [
        m.body(f"rod{k}", inertia=zw.inertia.rod(1.0, 1.0), position=(k + 0.5, 0, 0))
        for k in range(2)
    ]
    m.revolute("shoulder", m.ground, rods[0], at=(0, 0, 0), axis="y")
    m.revolute("elbow", *rods, at=(1, 0, 0), axis="y")
    speed = 2.0
    m.constraint(
        "pace", [rods[1]], lambda bodies: bodies[0].velocity @ bodies[0].velocity - speed**2
    )
    start = m.assemble(velocity={"prefer": {"shoulder.angle_rate": -1.5}})
    run = m.simulate(start, until=1.0, save=0.1, coordinates=coordinates)
    whole = m.simulate(start, until=1.0, save=0.1, coordinates="absolute")
    assert f"integrated in {coordinates} coordinates" in run.notes
    np.testing.assert_allclose(np.linalg.norm(run.body("rod1").velocity, axis=1), speed, rtol=1e-9)
    np.testing.assert_allclose(run.q, whole.q, atol=1e-7)


# --- rows that vanish -----------------------------------------------------------------------------


def across(m, law):
    """A linkage in the plane xz with a condition across it on one of its bodies."""
    m.constraint("across", ["coupler"], law)
    return m


def program_of(m):
    return carried(m.system, np.concatenate(m.system.parts.start), coordinates="auto")


def test_rows_across_a_plane_are_fulfilled_and_not_watched():
    m = library.four_bar(planar=False)
    program = program_of(m)
    assert program.left_out == ()
    assert len(program.fulfilled) == 3 == len(program.idle_rows)
    assert program_of(across(m, lambda bodies, t: bodies[0].position[1])).left_out == ()


def test_a_row_that_vanishes_but_changes_with_time_is_watched():
    """y = t³: nothing moves along y, and all is well at the start."""
    m = across(library.four_bar(planar=False), lambda bodies, t: bodies[0].position[1] - t**3)
    program = program_of(m)
    assert len(program.left_out) == 1
    assert len(program.fulfilled) == 3
    run = m.simulate(until=1.0)
    assert not run.finished
    assert run.status.startswith("stopped at t = 0.0")
