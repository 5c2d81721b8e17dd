"""Many runs at once: each as it is alone, and none in the way of others."""

import numpy as np
import pytest
from pendulums import EVENTS, START, driven, pendulum

import zwang as zw
from zwang import library
from zwang.equations.many_states import determined
from zwang.simulation.start import Starts

SYSTEM = pendulum()
RNG = np.random.default_rng(7)
COUNT = 11  # two full groups and one that is not
ANGLES = RNG.uniform(-2.5, 2.5, COUNT)
LENGTHS = RNG.uniform(0.5, 2.0, COUNT)
Q = LENGTHS[:, None] * np.stack([np.sin(ANGLES), -np.cos(ANGLES)], axis=1)
V = np.zeros((COUNT, 2))


def same(run, alone):
    for name in ("t", "q", "v"):
        assert getattr(run, name).tobytes() == getattr(alone, name).tobytes()
    assert run.finished == alone.finished
    assert run.counts == alone.counts
    assert run.status == alone.status


@pytest.mark.parametrize("save", [None, 0.01])
@pytest.mark.parametrize("threads", [1, 2])
def test_each_run_is_the_same_alone_and_in_company(save, threads):
    runs = SYSTEM.simulate_many(
        Q, V, until=5.0, parameters={"L": LENGTHS}, save=save, threads=threads
    )
    assert len(runs) == COUNT
    assert runs.finished.all()
    for i, run in enumerate(runs):
        same(
            run,
            SYSTEM.simulate(
                Q[i], V[i], until=5.0, parameters={"L": LENGTHS[i]}, save=save, integrator="order8"
            ),
        )
        assert run.parameters["L"] == LENGTHS[i]
    assert 0.0 < runs[3].error_estimate().worst < 1e-6


@pytest.mark.parametrize(
    "given",
    [
        {"integrator": "order8"},
        {"integrator": "order5"},
        {"integrator": "gauss"},
        {"integrator": "radau5"},
        {"integrator": "generalized_alpha", "step": 0.01},
        {"integrator": "rattle", "step": 0.01},
    ],
    ids=lambda given: given["integrator"],
)
def test_an_integrator_by_name_gives_the_bits_of_simulate_and_the_text_says_so(given):
    runs = SYSTEM.simulate_many(Q[:3], until=0.5, parameters={"L": LENGTHS[:3]}, **given)
    for q, length, run in zip(Q, LENGTHS, runs, strict=False):
        same(run, SYSTEM.simulate(q, until=0.5, parameters={"L": length}, **given))
    text = " ".join(str(zw.Mechanism.simulate_many.__doc__).split())
    assert "With an integrator by name each is the same, bit for bit, as `simulate`" in text
    assert "agree to the tolerance" in text


def test_one_start_with_many_parameters():
    runs = SYSTEM.simulate_many(*START, until=2.0, parameters={"g": [1.0, 5.0, 9.81]})
    assert len(runs) == 3
    same(runs[1], SYSTEM.simulate(*START, until=2.0, parameters={"g": 5.0}, integrator="order8"))
    q, _ = runs.last
    assert np.array_equal(q[2], runs[2].q[-1])


def test_states_in_a_list():
    states = [zw.State(Q[i], V[i]) for i in (0, 1)]
    runs = SYSTEM.simulate_many(states, until=1.0, parameters={"L": LENGTHS[:2]})
    same(
        runs[1],
        SYSTEM.simulate(Q[1], V[1], until=1.0, parameters={"L": LENGTHS[1]}, integrator="order8"),
    )


def test_a_start_off_its_constraints_stops_no_other():
    bad = Q.copy()
    bad[4] *= 1.1
    runs = SYSTEM.simulate_many(bad, V, until=1.0, parameters={"L": LENGTHS})
    assert list(np.flatnonzero(~runs.finished)) == [4]
    assert "rod" in runs.status[4]
    assert len(runs[4]) == 0
    assert np.isnan(runs.last[0][4]).all()
    same(
        runs[5],
        SYSTEM.simulate(Q[5], V[5], until=1.0, parameters={"L": LENGTHS[5]}, integrator="order8"),
    )


def test_a_motion_that_breaks_down_stops_no_other():
    """ẍ = x² goes to infinity in finite time from the larger starts."""
    system = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [q[0] ** 2])
    starts = np.array([[0.1], [40.0], [0.2], [0.3], [0.4]])
    runs = system.simulate_many(starts, np.zeros((5, 1)), until=1.0)
    assert list(runs.finished) == [True, False, True, True, True]
    assert "stopped at t" in runs.status[1]
    for i in range(5):
        same(runs[i], system.simulate(starts[i], [0.0], until=1.0, integrator="order8"))


def test_events_in_company():
    runs = SYSTEM.simulate_many(
        *START, until=2.0, parameters={"g": [5.0, 9.81]}, events=EVENTS, threads=2
    )
    alone = SYSTEM.simulate(*START, until=2.0, parameters={"g": 5.0}, events=EVENTS)
    same(runs[0], alone)
    assert [e.t for e in runs[0].events] == [e.t for e in alone.events]


def test_numbers_that_do_not_fit_are_told():
    with pytest.raises(zw.InputError, match="11 of q, 11 of v, 3 of parameter 'L'"):
        SYSTEM.simulate_many(Q, V, until=1.0, parameters={"L": [1.0, 2.0, 3.0]})
    for files in ({"store": "somewhere"}, {"companions": {"model.toml": b""}}):
        with pytest.raises(zw.InputError, match="one path for many runs"):
            SYSTEM.simulate_many(Q, V, until=1.0, **files)
    for threads in (0, -1, 1.5, "two"):
        with pytest.raises(
            zw.InputError, match=f"threads must be a positive whole number, not {threads!r}"
        ):
            SYSTEM.simulate_many(Q, V, until=1.0, threads=threads)
    with pytest.raises(zw.ZwangError, match="'M'"):
        driven().simulate_many(Q, V, until=1.0, parameters={"M": 1.0})


def test_a_start_in_a_painleve_situation_is_refused_as_by_simulate():
    """λ = (1 − C)/2 with C = μ|λ| has one solution up to μ = 2, and two beyond."""
    slide = zw.System(
        ["x", "y"],
        parameters={"mu": 0.5},
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -1.0],
        constraints={"ramp": zw.position(lambda q: q[0] + q[1])},
        nonideal={"ramp": lambda p, reaction: [p.mu * np.abs(reaction[0]), 0.0]},
    )
    runs = slide.simulate_many([0.0, 0.0], until=1.0, parameters={"mu": [0.5, 3.0, 1.0]})
    assert list(runs.finished) == [True, False, True]
    with pytest.raises(zw.PainleveError) as caught:
        slide.simulate([0.0, 0.0], until=1.0, parameters={"mu": 3.0})
    assert runs.status[1] == str(caught.value)
    assert "one solution is followed" in runs[0].notes[0]


def test_motions_that_are_not_determined_are_refused_as_by_simulate():
    pair = zw.System(["x", "y"], parameters={"m": 1.0}, mass=lambda p: np.diag([1.0, p.m]))
    runs = pair.simulate_many([0.0, 0.0], until=1.0, parameters={"m": [1.0, 0.0, 2.0]})
    assert list(runs.finished) == [True, False, True]
    with pytest.raises(zw.NotUniqueError) as caught:
        pair.simulate([0.0, 0.0], until=1.0, parameters={"m": 0.0})
    assert runs.status[1] == str(caught.value)


def test_values_that_no_body_can_have_stop_no_other():
    top = zw.Mechanism()
    top.body("rotor", inertia=zw.inertia.principal(1.0, [1.0, 1.0, 1.5]), free=True)
    values = {"rotor.inertia": [[1.0, 1.0, 1.5], [1.0, 1.0, 2.5], [2.0, 2.0, 2.0]]}
    start = top.assemble()
    runs = top.simulate_many(start.q, start.v, until=0.1, parameters=values)
    assert list(runs.finished) == [True, False, True]
    with pytest.raises(zw.InputError) as caught:
        top.simulate(start, until=0.1, parameters={"rotor.inertia": [1.0, 1.0, 2.5]})
    assert runs.status[1] == str(caught.value)


@pytest.mark.parametrize("coordinates", ["auto", "absolute"])
def test_redundant_rows_are_left_out_alike_alone_and_in_company(coordinates):
    """A door on three hinges, from places along its swing; each start is given alone as well."""
    door = library.door()
    swing = door.simulate(until=1.0)
    starts = swing.at([0.0, 0.3, 0.7, 1.0, 0.5])
    runs = door.simulate_many(starts.q, starts.v, until=1.0, coordinates=coordinates)
    for i, run in enumerate(runs):
        start = starts.q[i], starts.v[i]
        alone = library.door().simulate(
            *start, until=1.0, coordinates=coordinates, integrator="order8"
        )
        same(run, alone)
        assert run.notes == alone.notes
        assert "10 of 15 constraint rows" in run.notes[0]
        assert [(r.t, r.dependent_rows, r.names) for r in run.ranks] == [
            (r.t, r.dependent_rows, r.names) for r in alone.ranks
        ]


def test_rows_that_part_on_the_way_stop_no_other():
    """x = t² and x = t² + c t⁴ agree at the start, up to accelerations, and then no more."""
    slide = zw.System(
        ["x", "y"],
        parameters={"c": 0.0},
        mass=lambda: np.eye(2),
        constraints={
            "first": zw.position(lambda q, t: q[0] - t**2),
            "second": zw.position(lambda q, t, p: q[0] - t**2 - p.c * t**4),
        },
    )
    runs = slide.simulate_many([0.0, 0.0], until=1.0, parameters={"c": [0.0, 1.0, 0.0]})
    assert list(runs.finished) == [True, False, True]
    alone = slide.simulate([0.0, 0.0], until=1.0, parameters={"c": 1.0}, integrator="order8")
    assert "contradict each other" in alone.status
    assert runs.status[1] == alone.status


def test_a_misspelled_argument_is_told():
    with pytest.raises(zw.InputError, match=r"argument of simulate\b.*'tolerance'.*\?"):
        SYSTEM.simulate(*START, until=1.0, tolerances=1e-6)
    with pytest.raises(zw.InputError, match=r"argument of simulate_many.*'threads'\?"):
        SYSTEM.simulate_many(Q, V, until=1.0, thread=2)


def test_passing_singular_positions_is_the_same_alone_and_in_company():
    # A flat position comes up at another time in each lane; step lengths depend on its pivots,
    # and lanes take different numbers of corrections.
    a, b, c, ground = 1.8, 1.0, 3.0, 2.2
    system = zw.System(
        ["crank", "coupler", "rocker"],
        mass=lambda: np.eye(3),
        force=lambda: [0.3, 0.0, 0.0],
        constraints={
            "loop": zw.position(
                lambda q: [
                    a * np.cos(q[0]) + b * np.cos(q[1]) - c * np.cos(q[2]) - ground,
                    a * np.sin(q[0]) + b * np.sin(q[1]) - c * np.sin(q[2]),
                ]
            )
        },
    )
    starts = [
        system.assemble(
            hold={"crank": angle},
            prefer={"coupler": 0.5, "rocker": 1.5},
            velocity={"hold": {"crank_dot": 1.0}},
        )
        for angle in np.linspace(1.2, 2.8, 11)
    ]
    for integrator in ("order8", "order5"):
        choices = {"until": 20.0, "integrator": integrator}
        runs = system.simulate_many(starts, **choices)
        assert sum(len(run.ranks) for run in runs) > len(starts)
        for run, start in zip(runs, starts, strict=True):
            same(run, system.simulate(start, **choices))


@pytest.mark.parametrize("save", [None, 0.25])
@pytest.mark.parametrize("rows", [5, 4096])
def test_trajectories_that_take_over_from_each_other_are_as_alone(save, rows, monkeypatch):
    # Short and long ones, some that break down, buffers that are full in the middle of them.
    monkeypatch.setattr("zwang.integrators.chunk_size.SMALLEST_ROWS", rows)
    monkeypatch.setattr("zwang.integrators.chunk_size.MOST_FIRST_STEPS", rows)
    system = zw.System(
        ["x"],
        parameters={"k": 1.0, "growth": 0.0},
        mass=lambda: [[1.0]],
        force=lambda q, p: [p.growth * q[0] ** 3 - p.k * q[0]],
    )
    count = 27
    k, growth = np.linspace(1.0, 100.0, count), np.zeros(count)
    growth[[3, 9, 10, 20]] = 1000.0  # infinite after a while
    given = {"k": k, "growth": growth}
    runs = system.simulate_many([1.0], [0.0], until=2.0, parameters=given, save=save, threads=1)
    assert 4 < runs.finished.sum() < count
    for i, run in enumerate(runs):
        own = {"k": k[i], "growth": growth[i]}
        same(
            run,
            system.simulate(
                [1.0], [0.0], until=2.0, parameters=own, save=save, integrator="order8"
            ),
        )


def test_what_was_rejected_before_a_buffer_was_full_is_counted(monkeypatch):
    # Jumps of the force reject steps of some lanes while others find their buffers full.
    monkeypatch.setattr("zwang.integrators.chunk_size.SMALLEST_ROWS", 5)
    monkeypatch.setattr("zwang.integrators.chunk_size.MOST_FIRST_STEPS", 5)
    system = zw.System(
        ["x"],
        parameters={"k": 1.0},
        mass=lambda: [[1.0]],
        force=lambda q, t, p: [np.sign(np.sin(p.k * t)) - q[0]],
    )
    k, choices = np.linspace(3.0, 30.0, 11), {"until": 2.0, "save": 0.05}
    runs = system.simulate_many([1.0], [0.0], parameters={"k": k}, threads=1, **choices)
    assert runs[0].counts.rejected > 10
    for i, run in enumerate(runs):
        same(
            run,
            system.simulate([1.0], [0.0], parameters={"k": k[i]}, **choices, integrator="order8"),
        )


def test_many_changes_of_rank_take_no_more_memory():
    # A hundred turns of a parallelogram, flat twice in each; a buffer holds 256 changes of a lane.
    system, start = library.n_four_bar(1), library.start("n_four_bar", n=1)
    v = np.outer(np.linspace(1.0, 1.1, 8), start.v)
    choices = {"until": 600.0, "save": [600.0], "tolerance": 1e-5}
    runs = system.simulate_many(start.q, v, threads=1, **choices)
    assert runs.finished.all()
    assert min(len(run.ranks) for run in runs) > 2 * 256
    assert runs[3].ranks == system.simulate(start.q, v[3], **choices, integrator="order8").ranks
    rows = [out.t.shape[1] for out, _ in runs._parts[0].relay.noted]
    assert max(rows) == rows[0]


def test_a_simulation_of_no_length_has_its_starts():
    runs = SYSTEM.simulate_many(Q, V, until=0.0, parameters={"L": LENGTHS})
    assert runs.finished.all()
    for i, run in enumerate(runs):
        same(
            run,
            SYSTEM.simulate(
                Q[i], V[i], until=0.0, parameters={"L": LENGTHS[i]}, integrator="order8"
            ),
        )


def test_a_mechanism_begins_each_run_from_its_own_placement():
    m = library.slider_crank()
    at = m.system.definition.parameters["guide.at_a"]
    guides = [at, at + [0.0, 0.02], at + [0.0, 100.0]]  # the last is out of reach
    runs = m.simulate_many(parameters={"guide.at_a": guides}, until=0.2)
    for i in range(2):
        alone = m.simulate(parameters={"guide.at_a": guides[i]}, until=0.2, integrator="order8")
        assert runs[i].q.tobytes() == alone.q.tobytes()
    assert runs.finished.tolist() == [True, True, False]
    assert len(m.simulate_many(until=0.1)) == 1
    with pytest.raises(zw.InputError, match="the same number of each"):
        m.simulate_many(parameters={"guide.at_a": guides, "rod.mass": [1.0, 2.0]}, until=0.1)


def test_states_bring_their_time_and_names_their_places():
    pushed = zw.System(["x"], mass=lambda: [[1.0]], force=lambda t: [np.cos(t)])
    state = zw.State(np.zeros(1), np.zeros(1), 1.0)
    alone = pushed.simulate(state, until=2.0, integrator="order8")
    for runs in (
        pushed.simulate_many([state, state], until=2.0),
        pushed.simulate_many({"x": 0.0}, {"x_dot": 0.0}, start=1.0, until=2.0),
        pushed.simulate_many([state], [[0.0]], until=2.0),
    ):
        assert np.array_equal(runs[0].t, alone.t)
        assert np.array_equal(runs[0].q, alone.q)
    later = zw.State(np.zeros(1), np.zeros(1), 1.5)
    with pytest.raises(zw.InputError, match="one time for all"):
        pushed.simulate_many([state, later], until=2.0)
    with pytest.raises(zw.InputError, match="one time for all"):
        pushed.simulate_many([state], start=0.5, until=2.0)


def test_saved_runs_of_an_ensemble_are_honest(tmp_path):
    system = pendulum()
    runs = system.simulate_many([[1.0, 0.0], [0.6, -0.8]], until=1.0, save=[0.25, 0.75])
    runs[1].save(tmp_path / "run")
    assert zw.verify(tmp_path / "run", system)


def _thin_rods():
    """A rod without thickness on a ball: it spins about itself, and nothing notices."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    return m.system


def test_starts_with_singular_masses_are_looked_at_together(monkeypatch):
    """All those whose motion is determined; others one by one, with their sentence."""
    system = _thin_rods()
    looked = []
    single = Starts._check

    def check(self, which):
        looked.append(len(which))
        single(self, which)

    monkeypatch.setattr(Starts, "_check", check)
    masses = np.linspace(1.0, 2.0, 40)
    masses[7] = 0.0  # a body without any mass is held by its pin but for the rotation about it
    start = system.assemble()
    runs = system.simulate_many(
        start.q, start.v, until=0.1, save=[0.1], parameters={"rod.mass": masses}, progress=False
    )
    assert looked
    assert max(looked) <= 1
    assert [run.finished for run in runs] == [
        system.simulate(start, until=0.1, save=[0.1], parameters={"rod.mass": x}).finished
        for x in masses
    ]


@pytest.mark.parametrize("seed", range(20))
def test_determined_is_what_a_single_start_says(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(0, 4))
    factors = rng.normal(size=(30, n, n))
    factors[::2, :, : int(rng.integers(1, n))] = 0.0  # of lower rank
    M = factors @ factors.mT * 10.0 ** rng.uniform(-6, 6)
    M = 0.5 * (M + M.mT)
    A = rng.normal(size=(30, m, n))
    A[1::3] = A[1::3, :1] if m else A[1::3]  # rows that repeat each other
    M[3] -= 2.0 * np.eye(n) * M[3].max()
    M[5, 0, -1] = np.nan
    M[6] += np.triu(np.ones((n, n)), 1) * np.abs(M[6]).max()
    found = determined(M, A)
    for i in range(30):
        if not np.isfinite(M[i]).all() or i == 6:
            assert not found[i]
            continue
        stacked = np.linalg.matrix_rank(np.concatenate([M[i] / np.abs(M[i]).max(), A[i]]), tol=1e-9)
        definite = np.linalg.eigvalsh(M[i])[0] >= -1e-9 * np.abs(M[i]).max()
        assert found[i] == (stacked == n and definite), i


@pytest.mark.parametrize("values", [[1.0, -1.0], [-1.0, 1.0], [np.nan, 1.0]])
def test_a_wrong_value_of_one_trajectory_leaves_the_others(values):
    """The first was taken for an example of all."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    arm = m.body("arm", mass=1.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    runs = m.simulate_many(parameters={"arm.mass": values}, until=0.1)
    assert runs.finished.tolist() == [x > 0.0 for x in values]
    with pytest.raises(zw.InputError, match=r"arm\.mass"):
        m.simulate_many(parameters={"arm.mass": [-1.0, np.nan]}, until=0.1)
    with pytest.raises(zw.ZwangError, match=r"'arm\.mas'"):
        m.simulate_many(parameters={"arm.mas": [1.0, 1.0]}, until=0.1)
