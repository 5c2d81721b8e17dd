"""``integrator="auto"``: stiff motions go on by an implicit method, others do not."""

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.results.store import Store

TOLERANCES = [1e-3, 1e-6, 1e-9]
#: Explicit steps that a stiff run may take at most, to find out and where it is not stiff.
EXPLORED = 600
#: What a turn costs whose narrow layer of steep friction, 2e-4 m/s, a step passes unseen: at 1e-6
#: one in ten does with explicit steps, one in thirty with implicit ones.
MISSED = {"friction": 1e-3}


def damper():
    """A mass that a strong damper ties to a moving point; x is known where it has settled."""
    return zw.System(
        ["x"],
        parameters={"c": 1e5},
        mass=lambda: [[1.0]],
        force=lambda q, v, t, p: [-p.c * (v[0] + np.sin(t))],
    )


def stiff_spring():
    """Two masses, one on a stiff damped spring between them, hanging from a soft one."""
    return zw.System(
        ["x", "y"],
        parameters={"k": 1e8, "c": 2e4},
        mass=lambda: np.eye(2),
        force=lambda q, v, p: [
            -4.0 * q[0] + p.k * (q[1] - q[0]) + p.c * (v[1] - v[0]),
            -p.k * (q[1] - q[0]) - p.c * (v[1] - v[0]),
        ],
    )


def friction():
    """A block that sticks and slips, by a steep tanh."""
    return zw.System(
        ["x"],
        parameters={"steep": 1e4},
        mass=lambda: [[1.0]],
        force=lambda q, v, t, p: [3.0 * np.sin(t) - 2.0 * np.tanh(p.steep * v[0]) - q[0]],
    )


def bushing():
    """A rigid body on four bushings, stiff and damped in three directions, on a moving ground."""
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    body = m.body("frame", mass=500.0, inertia=[200.0, 300.0, 400.0])
    for i, x in enumerate((1.0, -1.0)):
        for j, y in enumerate((0.5, -0.5)):
            m.bushing(
                f"mount{i}{j}",
                m.ground,
                body,
                at=(x, y, 0.0),
                stiffness=(5e6, 5e6, 5e6),
                damping=(2e5, 2e5, 2e5),
            )
    m.force("engine", body, lambda t: [2e3 * np.sin(3.0 * t), 0.0, 1e3 * np.cos(2.0 * t)])
    return m


STIFF = {
    "damper": (damper, [1.0], [0.0], 20.0),
    "stiff spring": (stiff_spring, [1.0, 1.0], [0.0, 0.0], 20.0),
    "friction": (friction, [0.0], [0.0], 20.0),
}


def stiff_parts(run):
    return [s.integrator for s in run.segments]


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("case", STIFF)
def test_stiff_motions_go_on_by_the_implicit_method(case, tolerance):
    build, q, v, until = STIFF[case]
    system, times = build(), np.linspace(0.0, until, 41)
    run = system.simulate(q, v, until=until, tolerance=tolerance, save=times)
    implicit = system.simulate(
        q, v, until=until, tolerance=1e-2 * tolerance, integrator="radau5", save=times
    )
    assert run.finished
    assert "radau5" in stiff_parts(run)
    assert any(note.startswith("stiff from t = ") for note in run.notes)
    explicit = system.simulate(q, v, until=0.05 * until, tolerance=tolerance, integrator="order8")
    assert run.counts.steps < EXPLORED + implicit.counts.steps + 2.0 * explicit.counts.steps
    # A tolerance of 1e-3 is coarser than the speeds at which friction turns: compare with that.
    same = system.simulate(q, v, until=until, tolerance=tolerance, integrator="radau5", save=times)
    size = 1.0 + np.abs(implicit.q)
    error, usual = (np.max(np.abs(r.q - implicit.q) / size) for r in (run, same))
    assert error < max(100.0 * tolerance, 3.0 * usual, MISSED.get(case, 0.0))


def test_a_settled_damper_follows_its_closed_form():
    # ẍ = −c (ẋ + sin t): ẋ = −(c² sin t − c cos t)/(c² + 1) once e^(−ct) is gone.
    c, t = 1e5, 15.0
    run = damper().simulate([1.0], [0.0], until=t, tolerance=1e-9)
    expected = -(c * c * np.sin(t) - c * np.cos(t)) / (c * c + 1.0)
    assert run.v[-1, 0] == pytest.approx(expected, abs=1e-8)
    assert stiff_parts(run)[-1] == "radau5"


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_the_governor_is_seen_to_be_stiff(tolerance):
    system, start = library.flyball_governor(), library.start("flyball_governor")
    run = system.simulate(start, until=10.0, tolerance=tolerance)
    assert stiff_parts(run) == ["", "radau5"]  # collocation sees it, without explicit steps
    explicit = system.simulate(start, until=1.0, tolerance=tolerance, integrator="order8")
    assert run.counts.steps < 2.5 * explicit.counts.steps  # for a tenth of the time


def test_a_mechanism_on_bushings_is_seen_to_be_stiff():
    m = bushing()
    run = m.simulate(until=10.0, tolerance=1e-6, save=0.5)
    implicit = m.simulate(until=10.0, tolerance=1e-8, integrator="radau5", save=0.5)
    assert stiff_parts(run)[-1] == "radau5"
    assert np.abs(run.q - implicit.q).max() < 1e-4


#: What is not stiff, how long, and with which of the tolerances.
NOT_STIFF = [
    ("four_bar", 5.0),
    ("bricard", 5.0),
    ("door", 5.0),
    ("spinning_top", 5.0),
    ("rolling_coin", 10.0),
    ("gyroscope", 10.0),
    ("slider_crank", 5.0),
    ("theo_jansen_leg", 5.0),
    ("whipple_bicycle", 5.0),
    ("universal_joint_shaft", 5.0),
    ("satellite", 5.0),
    ("andrews", 0.05),
    ("parallelogram", 5.0),
    ("chain", 10.0),
    ("double_wishbone", 5.0),
]


@pytest.mark.parametrize(("name", "until"), NOT_STIFF)
def test_mechanisms_of_the_library_are_not_called_stiff(name, until):
    m = getattr(library, name)(*([4] if name == "chain" else []))
    for tolerance in TOLERANCES:
        run = m.simulate(until=until, tolerance=tolerance, save=[until])
        assert run.finished
        assert "radau5" not in stiff_parts(run)
        assert not any("stiff" in note for note in run.notes)


@pytest.mark.parametrize("name", ["car_axis", "andrews_squeezer", "kepler_laws", "rolling_disk"])
def test_systems_of_the_library_are_not_called_stiff(name):
    system, until = getattr(library, name)(), {"car_axis": 3.0, "andrews_squeezer": 0.05}
    try:
        start = library.start(name)
    except zw.ZwangError:
        found = library.states(name, np.random.default_rng(4), 1)
        start = zw.State(found.q[0], found.v[0])
    for tolerance in TOLERANCES:
        run = system.simulate(start, until=until.get(name, 5.0), tolerance=tolerance)
        assert "radau5" not in stiff_parts(run)


def test_an_oscillation_that_is_seen_is_not_stiff():
    # At 1e-3 explicit steps are near the limit of stability as they are for accuracy.
    system = zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda q: [-1e4 * q[0], -q[1]],
    )
    for tolerance in TOLERANCES:
        run = system.simulate([1.0, 1.0], [0.0, 0.0], until=50.0, tolerance=tolerance, save=[50.0])
        assert "radau5" not in stiff_parts(run)
        assert run.q[-1, 0] == pytest.approx(np.cos(5000.0), abs=1e4 * tolerance)


def test_where_stiffness_ends_explicit_steps_go_on():
    # y is tied to cos t until t = 2, and free to oscillate with x from there on.
    system = zw.System(
        ["x", "y"],
        parameters={"c": 1e5},
        mass=lambda: np.eye(2),
        force=lambda q, v, t, p: [
            -25.0 * q[0],
            -p.c * 0.5 * (1.0 - np.tanh(10.0 * (t - 2.0))) * (v[1] + np.sin(t)) - 25.0 * q[1],
        ],
    )
    start, times = ([0.5, 0.5], [0.0, 0.0]), np.linspace(0.0, 12.0, 25)
    run = system.simulate(*start, until=12.0, tolerance=1e-6, save=times)
    assert stiff_parts(run) == ["", "radau5", "order8"]
    assert any(note.startswith("no longer stiff from t = ") for note in run.notes)
    exact = system.simulate(*start, until=12.0, tolerance=1e-9, integrator="radau5", save=times)
    np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=1e-4)
    np.testing.assert_allclose(run.at(7.3).q, exact.at(7.3).q, rtol=0, atol=1e-4)


def test_methods_that_are_named_do_not_change():
    system, start = library.flyball_governor(), library.start("flyball_governor")
    for method in ("order8", "order5", "gauss", "radau5"):
        run = system.simulate(start, until=1.0, tolerance=1e-5, integrator=method)
        assert stiff_parts(run) == [""]


def small_chunks(monkeypatch):
    limits = {"FIRST_STEPS": 40, "FIRST_ENTRIES": 0, "GROWTH": 1.0, "SMALLEST_ROWS": 64}
    for name, value in limits.items():
        monkeypatch.setattr(f"zwang.integrators.chunk_size.{name}", value)


@pytest.mark.parametrize("chunk", [1, 2, 4, 6, 9])
def test_a_run_that_changed_its_method_goes_on_to_the_same_bits(chunk, tmp_path, monkeypatch):
    system, start = library.flyball_governor(), library.start("flyball_governor")
    events = {"down": zw.event(lambda q: q[1] - 0.49)}
    choices = {"until": 2.0, "tolerance": 1e-6, "save": 0.01, "events": events}
    whole = system.simulate(start, **choices)
    assert stiff_parts(whole)[-1] == "radau5"
    small_chunks(monkeypatch)
    commit = Store.commit

    def dying(self, *arguments):
        if self._commits == chunk:
            raise KeyboardInterrupt
        commit(self, *arguments)

    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", dying)
        with pytest.raises(KeyboardInterrupt):
            system.simulate(start, **choices, store=path, store_every=0.0)
    resumed = zw.resume(path, system, events=events)
    for run in (resumed, zw.load(path, system)):
        assert run.q.tobytes() == whole.q.tobytes()
        assert run.v.tobytes() == whole.v.tobytes()
        assert (run.counts, run.notes) == (whole.counts, whole.notes)
        assert stiff_parts(run) == stiff_parts(whole)
        assert [e.t for e in run.events] == [e.t for e in whole.events]
    assert zw.verify(path, system, sample=2, intervals=10)


def test_events_are_met_before_and_after_a_change_of_method():
    system = friction()
    events = {
        "turns": zw.event(lambda v: v[0], direction=1),
        "kick": zw.event(lambda t: t - 9.0, zw.set_parameters(steep=2e4)),
    }
    runs = [
        system.simulate([0.0], [0.0], until=20.0, tolerance=1e-8, integrator=name, events=events)
        for name in ("auto", "radau5")
    ]
    assert "radau5" in stiff_parts(runs[0])
    assert [e.name for e in runs[0].events] == [e.name for e in runs[1].events]
    times = [[e.t for e in run.events] for run in runs]
    np.testing.assert_allclose(*times, rtol=0, atol=1e-5)


def test_trajectories_are_the_same_alone_and_in_company():
    system = stiff_spring()
    stiffness = [1e2, 1e8, 1e4, 3e7, 1e6, 1e1, 1e3, 1e5, 1e7, 2e8]
    parameters = {"k": stiffness, "c": [2e-4 * k for k in stiffness]}
    choices = {"until": 10.0, "tolerance": 1e-6, "save": 0.5}
    runs = system.simulate_many([1.0, 1.0], [0.0, 0.0], parameters=parameters, **choices)
    assert runs.finished.all()
    methods = [run.segments[-1].integrator for run in runs]
    assert set(methods) == {"", "radau5"}
    assert methods[1] == "radau5"
    for i, k in enumerate(stiffness):
        given = {"k": k, "c": 2e-4 * k}
        single = system.simulate_many(
            [[1.0, 1.0]], [[0.0, 0.0]], parameters={n: [x] for n, x in given.items()}, **choices
        )[0]
        method = "order8" if methods[i] == "" else "auto"
        alone = system.simulate(
            [1.0, 1.0], [0.0, 0.0], parameters=given, integrator=method, **choices
        )
        for other in (single, alone):
            assert runs[i].q.tobytes() == other.q.tobytes()
            assert runs[i].counts == other.counts


def test_forces_that_jump_are_not_integrated_between_few_nodes():
    """Collocation steps over a short push; the explicit method with its error control does not."""
    push = zw.System(
        ["x", "z"],
        mass=lambda: np.eye(2),
        force=lambda q: [zw.where(q[0] < 0.1, 23.0, 0.0), -9.81],
        constraints={"rod": lambda q: q @ q - 1.0},
    )
    smooth = zw.library.four_bar()
    assert push.equations.jumps
    assert not smooth.system.equations.jumps
    run = push.simulate([1.0, 0.0], until=1.0, tolerance=1e-7, save=0.1)
    assert run.settings.integrator == "order8"
    fine = push.simulate([1.0, 0.0], until=1.0, tolerance=1e-11, save=0.1)
    assert np.abs(run.q - fine.q).max() < 1e-4
