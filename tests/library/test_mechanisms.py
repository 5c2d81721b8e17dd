"""Every mechanism of the library: counts, invariants, agreement of formulations and of builds."""

import numpy as np
import pytest
from mechanism_cases import CASES, every

import zwang as zw
from zwang import library
from zwang.errors import InputError, UnknownNameError

TOLERANCE = 1e-10
#: Energy over a fraction of a second at that local tolerance, relative to its parts' size.
ENERGY = 1e-8
#: Residual limit of saved states.
RESIDUAL = 1e-13
#: Formulations against each other at one state, relative.
AGREEMENT = 1e-10
#: The same mechanism in the plane and in space after a short motion [m].
SAME_MOTION = 1e-9


def test_every_mechanism_is_among_the_cases():
    assert {case.name for case in CASES} == set(library.mechanism_names())


@pytest.mark.parametrize("case", every(CASES))
def test_it_is_placed_where_its_joints_are_closed(case):
    m = case.build()
    assert worst(m, m.system.parts.start) < RESIDUAL


def worst(m, state):
    """Largest residual of joints and of their rates, these relative to the velocities."""
    q, v = state
    residuals = m.system.residuals(q, v)
    rates = np.abs(residuals.velocity).max() / max(1.0, np.abs(v).max())
    return max(np.abs(residuals.position).max(), rates)


@pytest.mark.parametrize("case", every(CASES))
def test_freedoms_and_redundant_rows_are_those_counted_by_hand(case):
    explanation = case.build().explain()
    assert explanation.constraint_count == case.rows
    assert explanation.coordinate_count == case.velocities
    assert explanation.degrees_of_freedom == case.freedoms
    assert explanation.redundancy == case.redundancy
    assert explanation.consistent
    assert explanation.undetermined.shape[1] == 0


@pytest.mark.parametrize("case", every([c for c in CASES if c.lossless is not None]))
def test_energy_and_joints_hold_over_a_short_motion(case):
    m = case.build(**case.lossless)
    run = m.simulate(until=case.until, tolerance=TOLERANCE)
    assert run.finished
    assert np.ptp(run.energy) < ENERGY * size_of_energy(run)
    assert run.worst_residual < RESIDUAL
    assert np.abs(run.v - run.v[0]).max() > 1e-6  # it moves, and not uniformly


def size_of_energy(run):
    """Energies that are exchanged, at least the largest kinetic one."""
    terms = run.system.terms(run.q, run.v, run.t)
    kinetic = 0.5 * np.einsum("ti,tij,tj->t", run.v, terms.mass_matrix, run.v)
    return max(1.0, kinetic.max())


@pytest.mark.parametrize("case", every(CASES))
def test_formulations_agree_at_random_states(case):
    m = case.build()
    state = library.states(case.name, np.random.default_rng(5), 5, **case.options)
    assert worst(m, state) < 10 * RESIDUAL
    answers = [m.solve(state, formulation=name) for name in m.system.formulations]
    for what in ("acceleration", "constraint_force"):
        values = np.array([getattr(answer, what) for answer in answers])
        size = np.maximum(1.0, np.abs(values).max(axis=(0, 2)))
        assert (np.ptp(values, axis=0).max(axis=1) / size).max() < AGREEMENT


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("four_bar", {"rate": 2.0}),
        *(
            pytest.param(name, options, marks=pytest.mark.campaign)
            for name, options in (
                ("four_bars", {"n": 2}),
                ("parallelogram", {"rate": 1.0}),
                ("slider_crank", {"rate": 3.0}),
                ("theo_jansen_leg", {"rate": 3.0}),
                ("andrews", {}),
                ("chain", {"n": 5}),
                ("net", {"n": 2, "m": 3}),
            )
        ),
    ],
)
def test_the_same_in_the_plane_and_in_space(name, options):
    until = 0.01 if name == "andrews" else 0.5
    choices = {"until": until, "tolerance": 1e-12, "save": until / 5}
    flat, spatial = (
        getattr(library, name)(**options, planar=planar).simulate(**choices)
        for planar in (True, False)
    )
    for body in flat.system.parts.bodies:
        a, b = flat.body(body.name), spatial.body(body.name)
        assert np.abs(a.position - b.position).max() < SAME_MOTION
        assert np.abs(a.rotation - b.rotation).max() < SAME_MOTION * 10


# --- what a source or a closed form says about one of them ----------------------------------------


def test_four_bars_move_as_the_system_of_functions():
    functions, start = library.n_four_bar(1), library.start("n_four_bar", n=1)
    choices = {"until": 2.0, "tolerance": 1e-11, "save": 0.2}
    expected = functions.simulate(start, **choices)
    run = library.four_bars(1).simulate(**choices)
    tip = run.body("crank0").point((0.5, 0.0, 0.0))
    assert np.abs(tip[:, [0, 2]] - expected.q[:, :2]).max() < 1e-8


def test_jansens_foot_walks_level():
    """More than half of a turn it is on the ground, and goes a stride of two thirds of a metre.

    Corners of the lower triangle from the middles of its three sides.
    """
    feet = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False):
        body = next(
            b for b in library.theo_jansen_leg(angle=angle).parts.bodies if b.name == "lower"
        )
        first, second, third = (shape.center for shape in body.inertia.shapes)
        feet.append(body.placement.point(second + third - first))
    x, z = np.array(feet)[:, [0, 2]].T
    on_ground = z < z.min() + 0.03
    assert on_ground.mean() > 0.5
    assert 0.6 < np.ptp(x[on_ground]) < 0.7
    assert z.max() - z.min() > 0.2


@pytest.mark.campaign
def test_andrews_moves_as_the_system_of_functions():
    """Over the whole of the published 0.03 s; the crank makes two and a half turns."""
    functions, start = library.andrews_squeezer(), library.start("andrews_squeezer")
    choices = {"until": 0.03, "tolerance": 1e-12, "save": 0.003}
    expected = functions.simulate(start, **choices)
    run = library.andrews().simulate(**choices)
    assert np.abs(run["O.angle"] + start.q[0] - expected["beta"]).max() < 1e-7
    assert np.abs(run["B.angle"] + start.q[2] - expected["gamma"]).max() < 1e-7
    supplied = 0.033 * (run["O.angle"] - run["O.angle"][0])
    assert np.abs(run.energy - run.energy[0] - supplied).max() < 1e-9


def test_top_precesses_steadily():
    """A Ω² cos θ − C ω₃ Ω + m g h = 0, with A about the tip, ω₃ = spin + Ω cos θ."""
    mass, (across, about), h, tilt, g = 0.1, (2e-4, 1e-4), 0.05, 0.4, 9.81
    rate = 6.0
    A = across + mass * h**2
    omega3 = (A * rate**2 * np.cos(tilt) + mass * g * h) / (about * rate)
    m = library.spinning_top(spin=omega3 - rate * np.cos(tilt), precession=rate)
    run = m.simulate(until=1.0, tolerance=1e-11, save=0.1)
    center = run.body("top").center
    expected = h * np.array(
        [
            np.sin(tilt) * np.cos(rate * run.t),
            np.sin(tilt) * np.sin(rate * run.t),
            np.full(len(run.t), np.cos(tilt)),
        ]
    )
    assert np.abs(center - expected.T).max() < 1e-9


def test_coin_moves_as_the_system_of_functions():
    """Blajer's disk has its axis along ζ, which is −y here: ψ̇ = −spin. It leans by θ towards y."""
    mass, r, lean, spin, turn = 1.0, 0.5, 0.3, 6.0, 0.5
    choices = {"until": 1.0, "tolerance": 1e-11, "save": 0.1}
    coin = library.rolling_coin(mass=mass, radius=r, lean=lean, spin=spin, turn=turn)
    motion = coin.simulate(**choices).body("disk")
    disk = library.rolling_disk("velocities", m=mass, r=r)
    expected = disk.simulate([0.0, 0.0, 0.0, lean, 0.0], [turn, 0.0, -spin], **choices)
    phi, theta = expected["phi"], expected["theta"]
    zeta = [np.sin(phi) * np.cos(theta), -np.cos(phi) * np.cos(theta), np.sin(theta)]
    assert np.abs(motion.rotation[:, :, 1] + np.transpose(zeta)).max() < 1e-8
    assert np.abs(motion.position[:, 2] - r * np.cos(theta)).max() < 1e-8


@pytest.mark.campaign
def test_governor_moves_as_the_system_of_functions():
    functions, start = library.flyball_governor(), library.start("flyball_governor")
    choices = {"until": 0.5, "tolerance": 1e-9, "save": 0.05, "integrator": "radau5"}
    expected = functions.simulate(start, **choices)
    run = library.ball_governor().simulate(**choices)
    assert np.abs(run.body("slider").position[:, 2] - expected["s"]).max() < 1e-7
    assert np.abs(run["base.angle"] - expected["psi"]).max() < 1e-6


@pytest.mark.campaign
def test_universal_joint_runs_unevenly():
    bend = 0.7
    run = library.universal_joint_shaft(bend=bend).simulate(until=2.0, tolerance=1e-11, save=0.05)
    first, second = run["input_bearing.angle"], run["output_bearing.angle"]
    closed = np.sin(second) * np.cos(first) - np.cos(bend) * np.sin(first) * np.cos(second)
    assert np.abs(closed).max() < 1e-10
    assert first[-1] > 4.0 * np.pi


def test_shaft_at_even_speed_has_reactions_though_right_sides_are_rounding():
    """Both shafts spin about their own axes: b is rounding, and must not pass for contradictions.

    A balanced shaft at even speed needs no force: that of the joint is zero at the start, where the
    second shaft neither speeds up nor slows down.
    """
    run = library.universal_joint_shaft().simulate(until=0.1)
    terms = run.system.terms(run.q[0], run.v[0])
    assert np.abs(terms.constraint_rhs).max() < 1e-13
    reaction = run.reaction("cross")
    assert np.abs(reaction.force[0]).max() < 1e-12


def test_drivers_that_disagree_are_found_beside_rounding():
    """A wheel at 100 rad/s, asked for two angular accelerations that differ by a millionth."""
    m = zw.Mechanism()
    wheel = m.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    m.revolute("axle", m.ground, wheel, axis=(1.0, 2.0, 3.0))
    m.drive("first", "axle.angle", lambda t: 100.0 * t)
    m.drive("second", "axle.angle", lambda t: 100.0 * t + 0.5e-6 * t**2)
    start = m.assemble()
    with pytest.raises(zw.InconsistentConstraintsError, match="first and second"):
        m.system.solve(start)


@pytest.mark.campaign
def test_satellite_keeps_its_angular_momentum_whatever_its_motors_do():
    torques = (lambda t, p: 0.5 * np.sin(t), None, lambda t, p: 0.2)
    m = library.satellite(torques=torques)
    run = m.simulate(until=5.0, tolerance=1e-11, save=0.5)
    total = np.zeros((len(run.t), 3))
    for body in m.parts.bodies:
        motion = run.body(body.name)
        R, J = motion.rotation, body.inertia.tensor
        total += np.einsum("tij,jk,tlk,tl->ti", R, J, R, motion.angular_velocity)
        total += body.inertia.mass * np.cross(motion.center, motion.velocity)
    assert np.ptp(total, axis=0).max() < 1e-9
    assert np.ptp(run["spindle_x.angle_rate"]) > 10.0


def test_rates_of_coordinates_are_those_of_a_body_that_turns():
    """ė = ½ ω for a body in its reference position; asked for after the joints were closed."""
    m = library.door(angle=0.0, rate=2.0)
    state = m.assemble()
    assert np.allclose(m.system.position_rate(state)[3:], [0.0, 0.0, 0.0, 1.0], atol=1e-14)


def test_counts_must_be_whole_and_large_enough():
    for build, given, names in (
        (library.chain, {"n": 0}, "n of chain"),
        (library.four_bars, {"n": 1.5}, "n of four_bars"),
        (library.net, {"m": 1}, "m of net"),
        (library.parallelogram, {"cranks": 1}, "cranks of parallelogram"),
        (library.door, {"hinges": "three"}, "hinges of door"),
        (
            library.four_bar,
            {"coupler": 0.1},
            r"lengths must reach from one point to the.*but lengths of 0\.1 and 1\.2 cannot join",
        ),
    ):
        with pytest.raises(InputError, match=names):
            build(**given)
    with pytest.raises(UnknownNameError, match="bricard"):
        library.states("briccard", np.random.default_rng(0), 1)
