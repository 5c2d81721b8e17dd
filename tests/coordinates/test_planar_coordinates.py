"""Mechanisms in space that are carried in their plane: the same answers as in space."""

import numpy as np
import pytest

import zwang as zw
from compiling import without_llvm
from zwang import library
from zwang.errors import InputError
from zwang.simulation.options import choices_of
from zwang.simulation.select_program import ProgramStart, select_program

TIGHT = 1e-11
#: Motions in two sets of coordinates at that tolerance, over a second or two [m, m/s].
SAME = 2e-8
#: One evaluation against a solve of all equations in space, relative.
EXACT = 1e-10
#: Impacts and accelerations pass errors of the motion on, some ten times each.
AFTER_IMPACTS = 100 * SAME
OF_FORCES = 100 * SAME


def turned(seed):
    """A rotation that puts a plane askew."""
    Q, R = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def double_pendulum(rotation=None, axes=None, **body):
    """Two bodies on hinges about y, all of it turned by `rotation`, bodies by `axes` of theirs."""
    T = np.eye(3) if rotation is None else rotation
    own = [np.eye(3), np.eye(3)] if axes is None else axes
    m = zw.Mechanism(gravity=T @ (0, 0, -9.81), parameters={"k": 3.0})
    tensor = np.array([[0.3, 0.02, 0.01], [0.02, 0.2, 0.03], [0.01, 0.03, 0.25]])
    bodies = [
        m.body(
            name,
            mass=mass,
            inertia=X.T @ tensor @ X,
            position=T @ place,
            orientation=T @ X,
            **body,
        )
        for name, mass, place, X in (
            ("upper", 1.0, (0.5, 0.1, 0.0), own[0]),
            ("lower", 2.0, (1.3, -0.2, 0.2), own[1]),
        )
    ]
    hinge = T @ (0, 1, 0)
    m.revolute("first", m.ground, bodies[0], at=T @ (0, 0, 0), axis=hinge)
    m.revolute("second", bodies[0], bodies[1], at=T @ (1, 0.1, 0.1), axis=hinge)
    return m, bodies


def pulled():
    """With a spring, a force of the user's and a torque that push across the plane too."""
    m, (upper, lower) = double_pendulum()
    m.spring_damper(
        "spring", m.ground, lower, at=((2, 1, 0), (1.3, -0.2, 0.2)), stiffness=30, damping=0.5
    )
    m.force("push", upper, lambda t: (np.sin(t), 5.0, 2.0 * t), at=(0.1, 0.1, 0.0))
    m.user_force(
        "own",
        [lower],
        lambda bodies, p: [(-p.k * bodies[0].velocity, (1.0, p.k, bodies[0].position[0]))],
    )
    return m


CASES = {
    "double pendulum": lambda: double_pendulum()[0],
    "askew": lambda: double_pendulum(turned(1))[0],
    "bodies with axes of their own": lambda: double_pendulum(axes=[turned(2), turned(3)])[0],
    "axes permuted": lambda: double_pendulum(axes=[np.eye(3)[[1, 2, 0]], np.eye(3)[[2, 0, 1]]])[0],
    "both": lambda: double_pendulum(turned(4), [turned(5), turned(6)])[0],
    "pulled": pulled,
    "four-bar": lambda: library.four_bar(planar=False),
    "two four-bars": lambda: library.four_bars(2, planar=False),
    "three cranks": lambda: library.parallelogram(planar=False),
    "slider-crank": lambda: library.slider_crank(planar=False),
    "leg": lambda: library.theo_jansen_leg(planar=False),
}


def program(system, coordinates, state=None):
    q, v = system.parts.start if state is None else state
    settings, _, _ = choices_of(system, until=1.0, start=0.0, coordinates=coordinates)
    return select_program(
        system.equations,
        ProgramStart(np.concatenate([q, v]), 0.0, system.parameter_vector()),
        settings,
    )


def consistent_state(m):
    """Somewhere along a motion."""
    run = m.simulate(until=0.3, tolerance=1e-10, coordinates="absolute", save=[0.3])
    return run.q[-1], run.v[-1]


@pytest.mark.parametrize("name", CASES)
def test_accelerations_are_those_in_space(name):
    m = CASES[name]()
    system, (q, v) = m.system, consistent_state(m)
    carried = program(system, "planar", (q, v))
    assert carried.carrier.name == "planar"
    p = system.parameter_vector()
    y, p_hat = carried.carrier.enter(np.concatenate([q, v])[:, None], 0.3, p[:, None])
    back = carried.carrier.leave(y.T, np.array([0.3]), p_hat[:, 0])[0]
    np.testing.assert_allclose(back, np.concatenate([q, v]), atol=1e-12)
    nq = carried.nq
    _, a = carried.kernel("derivative")(y[:nq, 0], y[nq:, 0], [0.3], p_hat[:, 0])
    # v is linear in v̂ with constant coefficients, and so is v̇.
    moved = np.concatenate([y[:nq, 0], a])[None]
    found = carried.carrier.leave(moved, np.array([0.3]), p_hat[:, 0])[0, len(q) :]
    expected = system.solve(q, v, 0.3).acceleration
    np.testing.assert_allclose(found, expected, atol=EXACT * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", CASES)
def test_motion_and_reactions_are_those_in_space(name):
    m = CASES[name]()
    runs = [
        m.simulate(until=1.0, tolerance=TIGHT, save=0.25, coordinates=c)
        for c in ("planar", "absolute")
    ]
    planar, space = runs
    assert planar.finished
    np.testing.assert_allclose(planar.q, space.q, atol=SAME)
    np.testing.assert_allclose(planar.v, space.v, atol=SAME * max(1.0, np.abs(space.v).max()))
    assert planar.worst_residual < 1e-12
    joint = next(iter(m.system.parts.joints))
    ours, theirs = planar.reaction(joint), space.reaction(joint)
    assert np.array_equal(ours.determinate, theirs.determinate)
    size = max(1.0, np.abs(theirs.force).max())
    np.testing.assert_allclose(ours.force, theirs.force, atol=OF_FORCES * size)


@pytest.mark.parametrize("name", ["four-bar", "three cranks", "leg"])
def test_redundant_rows_are_counted_as_the_mechanisms(name):
    m = CASES[name]()
    run = m.simulate(until=0.1, coordinates="planar")
    space = m.simulate(until=0.1, coordinates="absolute")
    # A row whose share in a dependency vanishes on the way is not left out.
    found = run.ranks[0].dependent_rows
    assert space.ranks[0].dependent_rows <= found <= m.explain().redundancy
    assert set(run.ranks[0].names) >= set(space.ranks[0].names)


def test_explicit_methods_take_the_plane():
    m = CASES["four-bar"]()
    auto, planar = (
        m.simulate(until=0.5, coordinates=c, integrator="order8") for c in ("auto", "planar")
    )
    assert np.array_equal(auto.q, planar.q)
    assert program(library.bricard().system, "auto").carrier.name == "joint"


def test_a_change_of_lengths_compiles_nothing_and_of_an_axis_is_noticed():
    m, _ = double_pendulum()
    system = m.system
    q, v = system.parts.start
    # at nodes trees are taken in joint coordinates, in a plane or not
    settings, _, _ = choices_of(system, until=1.0, start=0.0, integrator="order8")

    def selected(**parameters):
        p = system.parameter_vector(parameters)
        start = ProgramStart(np.concatenate([q, v]), 0.0, p)
        return select_program(system.equations, start, settings)

    first = selected()
    assert first.carrier.name == "planar"
    assert selected(**{"upper.mass": 3.0, "second.at_a": (0.55, 0.0, 0.1)}) is first
    hinge = {f"second.axes_{side}": turned(7) for side in "ab"}
    assert selected(**hinge).carrier.name == "joint"


@pytest.mark.parametrize("integrator", ["gauss", "order8"])
def test_trees_take_the_same_coordinates_however_they_were_built(integrator):
    ways = []
    for plane in ({}, {"plane": "xz"}):
        m = zw.Mechanism(gravity=(0, 0, -9.81), **plane)
        last = m.ground
        for k in range(3):
            rod = m.body(f"rod{k}", 1.0, (0.01, 0.1, 0.1), position=(k + 0.5, 0, 0))
            m.revolute(f"pin{k}", last, rod, at=(k, 0, 0), axis="y")
            last = rod
        run = m.simulate(until=0.5, integrator=integrator, tolerance=1e-11)
        ways.append((without_llvm(run.notes), run["pin2.angle"][-1]))
    (space, angle), (plane, other) = ways
    assert abs(angle - other) <= 1e-8
    # built in the plane, its own coordinates are those of the plane, which is no note
    assert space == (plane or ("integrated in planar coordinates",))


def test_lanes_and_company_change_nothing():
    m = CASES["double pendulum"]()
    q, v = m.system.parts.start
    generator = np.random.default_rng(0)
    spins = generator.uniform(-1, 1, 5)
    masses = generator.uniform(1, 2, 5)
    starts = np.tile(v, (5, 1))
    # About the first hinge as one: ω the same for both, velocities ω × r.
    for row, spin in zip(starts, spins, strict=True):
        for k in range(2):
            r = q[7 * k : 7 * k + 3]
            row[6 * k : 6 * k + 3] = np.cross((0, spin, 0), r)
            row[6 * k + 3 : 6 * k + 6] = (0, spin, 0)
    together = m.simulate_many(
        q, starts, until=1.0, save=0.5, parameters={"upper.mass": masses}, threads=1
    )
    for run, start, mass in zip(together, starts, masses, strict=True):
        alone = m.simulate(
            q, start, until=1.0, save=0.5, parameters={"upper.mass": mass}, integrator="order8"
        )
        assert alone.q.tobytes() == run.q.tobytes()
        assert alone.v.tobytes() == run.v.tobytes()


def bouncing():
    """The lower end strikes a wall, and at a moment its hinge is let go."""
    return {
        "wall": zw.event(lambda q: q[9] + 1.2, zw.bounce(0.8), direction=-1),
        "later": zw.event(lambda t: t - 0.9, then=zw.set_parameters(k=1.0)),
    }


def test_events_and_impulses():
    m = CASES["double pendulum"]()
    runs = [
        m.simulate(until=1.5, tolerance=TIGHT, save=0.5, events=bouncing(), coordinates=c)
        for c in ("planar", "absolute")
    ]
    planar, space = runs
    assert [e.name for e in planar.events] == [e.name for e in space.events]
    assert {"wall", "later"} <= {e.name for e in planar.events}
    for ours, theirs in zip(planar.events, space.events, strict=True):
        assert abs(ours.t - theirs.t) < SAME
        np.testing.assert_allclose(ours.v_after, theirs.v_after, atol=AFTER_IMPACTS)
    np.testing.assert_allclose(planar.q, space.q, atol=AFTER_IMPACTS)


def test_a_joint_that_is_switched_off_lets_bodies_leave_the_plane():
    m = CASES["double pendulum"]()
    events = {"cut": zw.event(lambda t: t - 0.4, then=zw.switch(off=["second"]))}
    planar, space = (
        m.simulate(until=0.8, tolerance=TIGHT, save=0.2, events=events, coordinates=c)
        for c in ("auto", "absolute")
    )
    np.testing.assert_allclose(planar.q, space.q, atol=SAME)


def test_a_stored_run_goes_on_to_the_same_bits(died):
    m = CASES["four-bar"]()
    whole = m.simulate(until=3.0)
    path = died(m, until=3.0)
    resumed = zw.resume(path, m.system)
    assert resumed.q.tobytes() == whole.q.tobytes()
    assert resumed.v.tobytes() == whole.v.tobytes()
    assert zw.verify(path, m.system).ok


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (library.bricard, "body"),
        (library.spinning_top, "axis|body"),
        (library.double_wishbone, "body"),
    ],
)
def test_what_has_no_plane_is_refused_by_name(build, reason):
    m = build()
    with pytest.raises(InputError, match=reason):
        m.simulate(until=0.1, coordinates="planar")
    assert m.simulate(until=0.01).finished


def test_unknown_coordinates_are_named():
    m = CASES["four-bar"]()
    with pytest.raises(zw.errors.UnknownNameError, match="planar"):
        m.simulate(until=0.1, coordinates="plane")


def test_a_massless_coupler_in_the_plane():
    m = library.four_bar(planar=False)
    light = {"coupler.mass": 0.0, "coupler.inertia": np.zeros(3)}
    planar, space = (
        m.simulate(until=0.5, tolerance=1e-10, save=0.25, parameters=light, coordinates=c)
        for c in ("planar", "absolute")
    )
    np.testing.assert_allclose(planar.q, space.q, atol=SAME)
