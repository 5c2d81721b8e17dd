"""Runs in a loop that was there are those of a new one: the same bits, words and refusals."""

import copy
from dataclasses import fields, replace

import numpy as np
import pytest

import zwang as zw
from compiling import needs_compiler
from zwang.errors import InputError
from zwang.simulation import guard, simulation
from zwang.simulation.guard import FOR_EACH, Account, Guard
from zwang.simulation.plain_run import PlainRun, UnfinishedRun
from zwang.simulation.prepared_run import PreparedRun, PreparedRuns

#: Mechanism, end and whether rows are left out: in joints, in a plane, in loops, by functions.
CASES = {
    "chain": (lambda: zw.library.chain(4).system, 0.5),
    "four_bar": (lambda: zw.library.four_bar().system, 0.7),
    "bricard": (lambda: zw.library.bricard().system, 0.5),
    "spherical_pendulum": (zw.library.spherical_pendulum, 0.5),
}


def start_of(system):
    """A state off the placement."""
    placed = system.assemble(start=system.equations.placement[0]) if system.mechanism else None
    if placed is None:
        return system.assemble(hold={"x": 0.3, "y": 0.1})
    return system.simulate(placed, until=0.05).at(0.05)


def words(run):
    """What a run says of itself."""
    said = [(s.first, s.last, dict(s.parameters), s.integrator) for s in run.segments]
    ranks = [(r.t, r.dependent_rows, r.lasting, r.names) for r in run.ranks]
    return (
        run.status,
        run.finished,
        run.settings,
        run.counts,
        run.notes,
        ranks,
        repr(said),
        str(run),
    )


def assert_same(found, expected):
    """Bits and words."""
    for name in ("t", "q", "v", "scales"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert words(found) == words(expected)
    for a, b in zip(found.segments, expected.segments, strict=True):
        assert (a.began is None) == (b.began is None)
        if a.began is not None:
            assert all(np.array_equal(x, y) for x, y in zip(a.began, b.began, strict=True))
    assert repr(found) == repr(expected)


@pytest.fixture
def no_further_looks(monkeypatch):
    """Lets the guard look at first runs alone: how often else depends on time."""
    monkeypatch.setattr(guard, "SHARE", 0.0)
    monkeypatch.setattr(guard, "FOR_EACH", 0.0)


@pytest.fixture
def unprepared(monkeypatch, no_further_looks):
    """Makes runs as if each were the first."""

    def run(system, *arguments, **choices):
        with monkeypatch.context() as patch:
            patch.setattr(PreparedRuns, "find", lambda *_: None)
            return system.simulate(*arguments, **choices)

    return run


@needs_compiler
@pytest.mark.parametrize("integrator", ["auto", "gauss", "order8", "order5", "radau5"])
@pytest.mark.parametrize("name", CASES)
def test_runs_in_a_row_are_those_of_new_loops(name, integrator, unprepared):
    make, until = CASES[name]
    system = make()
    start = start_of(system)
    q, v = start
    rows = {"tolerance": 1e-7, "integrator": integrator}
    for k, (end, save) in enumerate(
        [
            (until, 0.1),
            (until, 0.1),
            (until, [until]),
            (0.7 * until, np.linspace(0.0, 0.5 * until, 7)),
            (until, [until]),
            (until, None),
            (until, "steps"),
        ]
    ):
        choices = {"until": end, "save": save, **rows}
        slower = (1.0 - 0.125 * k) * v if not system.mechanism else v
        found = system.simulate(q, slower, **choices)
        assert_same(found, unprepared(system, q, slower, **choices))
    assert isinstance(found, PlainRun)


@needs_compiler
def test_a_start_is_checked_once_and_another_one_again(no_further_looks, monkeypatch):
    """Bricard's loop, whose row that is left out has to agree with the others at a start."""
    system = zw.library.bricard().system
    first, second = start_of(system), system.assemble(start=system.equations.placement[0])
    for start in (first, second):
        system.simulate(start, until=0.1)
        system.simulate(start, until=0.1)
    asked, agree = [], type(system.equations).agree

    def counted(*arguments):
        asked.append(arguments)
        return agree(*arguments)

    monkeypatch.setattr(type(system.equations), "agree", counted)
    system.simulate(second, until=0.1)
    assert not asked
    system.simulate(first, until=0.1)
    assert len(asked) == 1
    system.simulate(first, until=0.1)
    assert len(asked) == 1
    with pytest.raises(InputError, match="constraint"):
        system.simulate(first.q + 1e-2, first.v, until=0.1)


@needs_compiler
def test_other_parameters_and_times_of_the_start(unprepared):
    system = zw.library.chain(4).system
    start = start_of(system)
    for k in range(6):
        choices = {
            "until": 0.2 + 0.1 * k,
            "start": 0.1 * k,
            "save": [0.1 * k, 0.15 + 0.1 * k],
            "parameters": {"gravity": [0.0, 0.0, -9.0 - k % 2]},
        }
        found = system.simulate(start.q, start.v, **choices)
        assert_same(found, unprepared(system, start.q, start.v, **choices))
    assert isinstance(found, PlainRun)


@needs_compiler
@pytest.mark.parametrize("coordinates", ["auto", "absolute"])
def test_changes_of_rank_are_told_though_the_loop_has_gone_on(unprepared, coordinates):
    """A folding linkage lies flat on its way; what was written there is looked at when asked."""
    system = zw.library.four_bars(2).system
    start = start_of(system)
    choices = {"until": 3.0, "save": 0.5, "tolerance": 1e-7, "coordinates": coordinates}
    expected = unprepared(system, start, **choices)
    system.simulate(start, **choices)
    found = system.simulate(start, **choices)
    system.simulate(start, **{**choices, "until": 0.1})
    assert isinstance(found, PlainRun)
    assert len([r for r in found.ranks if not r.lasting]) > 0
    assert_same(found, expected)


@needs_compiler
def test_a_run_that_is_not_over_goes_on_in_the_simulation(unprepared, monkeypatch):
    system = zw.library.four_bar().system
    start = start_of(system)
    choices = {"until": 2.0, "save": [1.0, 2.0], "tolerance": 1e-8}
    expected = unprepared(system, start, **choices)
    system.simulate(start, **choices)
    monkeypatch.setattr(PreparedRun, "_met", lambda *_: False)
    taken = []
    over = simulation.Simulation._take_over
    monkeypatch.setattr(
        simulation.Simulation, "_take_over", lambda *a: taken.append(a[1]) or over(*a)
    )
    found = system.simulate(start, **choices)
    assert isinstance(taken[0], UnfinishedRun)
    assert not isinstance(found, PlainRun)
    assert_same(found, expected)


@needs_compiler
def test_a_run_that_is_looked_at_leaves_its_loop_to_the_next(unprepared, monkeypatch):
    system = zw.library.bricard().system
    start = start_of(system)
    choices = {"until": 0.5, "save": [0.25, 0.5], "tolerance": 1e-8}
    expected = unprepared(system, start, **choices)
    system.simulate(start, **choices)
    account, looked = Account.of(system.equations), []
    look = guard.look
    monkeypatch.setattr(guard, "look", lambda *a: looked.append(a[2]) or look(*a))
    monkeypatch.setattr(
        PreparedRuns, "keep", lambda *_: pytest.fail("the loop that is there was not gone on with")
    )
    account.allowance, account.cost = 10.0, 4.0  # two of them are affordable, and due
    found = system.simulate(start, **choices)
    assert not isinstance(found, PlainRun)
    assert looked
    assert_same(found, expected)
    account.allowance, account.cost = 0.0, 4.0
    after = system.simulate(start, **choices)
    assert isinstance(after, PlainRun)
    assert_same(after, expected)


def test_singular_positions_are_reported_in_a_row(unprepared):
    system = zw.library.parallelogram().system
    start = system.assemble(start=system.equations.placement[0])
    choices = {"until": 3.0, "save": 0.5, "tolerance": 1e-8}
    for _ in range(3):
        found = system.simulate(start, **choices)
    assert_same(found, unprepared(system, start, **choices))


@needs_compiler
def test_what_is_given_may_change_afterwards(unprepared):
    system = zw.library.chain(4).system
    q, v = (x.copy() for x in start_of(system))
    times = np.array([0.1, 0.2])
    choices = {"until": 0.3, "save": times, "tolerance": 1e-7}
    for _ in range(2):
        run = system.simulate(q, v, **choices)
    run.times[:], run.scales[:], run.q[:] = -1.0, -1.0, -1.0
    times[:] = 0.15, 0.25
    found = system.simulate(q, v, **choices)
    assert isinstance(found, PlainRun)
    assert found.t.tolist() == [0.15, 0.25]
    assert_same(found, unprepared(system, q, v, **choices))
    before = found.q.copy()
    system.simulate(q, 0.0 * v, **choices)
    assert np.array_equal(found.q, before)


def test_refusals_are_those_of_a_first_call():
    system = zw.library.chain(4).system
    q, v = start_of(system)
    choices = {"until": 0.3, "save": [0.1]}
    for _ in range(2):
        system.simulate(q, v, **choices)
    off = q.copy()
    off[0] += 0.1
    for given, more in (
        ((np.where(q == q[0], np.nan, q), v), {}),
        ((off, v), {}),
        ((q[1:], v), {}),
        ((q, v), {"until": np.inf}),
        ((q, v), {"until": -1.0}),
        ((q, v), {"until": "soon"}),
        ((q, v), {"tolerance": np.array([1e-3, 1e-4])}),
        ((q, v), {"save": [0.2, 0.1]}),
        ((q, v), {"save": [np.zeros(3)]}),
        ((q, v), {"progress": 0}),
        ((q, v), {"parameters": {"gravty": 1.0}}),
    ):
        said = []
        for subject in (system, zw.library.chain(4).system):
            with pytest.raises(InputError) as refused:
                subject.simulate(*given, **{**choices, **more})
            said.append(str(refused.value))
        assert said[0] == said[1]


@needs_compiler
@pytest.mark.usefixtures("no_further_looks")
def test_all_fields_of_a_run_are_there():
    system = zw.library.chain(4).system
    start = start_of(system)
    for _ in range(2):
        run = system.simulate(start, until=0.2, save=[0.1, 0.2])
    assert isinstance(run, PlainRun)
    first = zw.library.chain(4).system.simulate(start, until=0.2, save=[0.1, 0.2])
    for field in fields(zw.Run):
        assert type(getattr(run, field.name)) is type(getattr(first, field.name)), field.name


def test_the_guard_looks_at_runs_in_a_row(monkeypatch):
    system = zw.library.chain(4).system
    start = start_of(system)
    looks = []
    look = Guard.look
    monkeypatch.setattr(Guard, "look", lambda *a: looks.append(1) or look(*a))
    for k in range(2):
        before = len(looks)
        parameters = {"gravity": [0.0, 0.0, -9.0 - k]}
        system.simulate(start, until=0.2, save=[0.2], parameters=parameters)
        assert len(looks) == before + 2  # the first run with these parameters
    before, account = len(looks), Account.of(system.equations)
    account.allowance, account.cost = 0.0, 3.5 * FOR_EACH
    monkeypatch.setattr(
        Guard, "_charge", lambda *_: setattr(account, "allowance", 0.0) or 3.5 * FOR_EACH
    )
    for _ in range(41):
        system.simulate(start, until=0.06, save=[0.06])
    assert before + 5 <= len(looks) < before + 41  # each run adds to what looks may cost


@needs_compiler
@pytest.mark.usefixtures("no_further_looks")
def test_a_run_in_a_row_takes_other_fields():
    system = zw.library.chain(4).system
    start = start_of(system)
    for _ in range(2):
        run = system.simulate(start, until=0.2, save=[0.1, 0.2])
    assert isinstance(run, PlainRun)
    other = replace(run, notes=("changed",))
    assert other.notes == ("changed",)
    np.testing.assert_array_equal(other.q, run.q)
    assert other.status == run.status
    assert other.reaction("joint1").force.shape == (2, 3)
    assert copy.copy(run).counts == run.counts
