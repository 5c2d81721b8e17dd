"""Rows left out at the start act again where those chosen in their place lose rank.

A block is guided along x, y = z = 0, by three equations that are redundant everywhere: two slanted
guides s(x) y ± z = 0, s = (x − 10)/2, and a floor y = 0. Near the start the guides are the clearer
two, and the floor is left out. At x = 10 both guides say the same, and only the floor holds y.
"""

import numpy as np
import pytest

import zwang as zw
from zwang.integrators.collocation.step import CLEAR_PIVOT

PLACE = 10.0
#: Positions off the guides [m]; the block would fall by hundreds of metres.
OFF = 1e-12
#: Where the run notices: pivots of the guides are s², 1e-5 counts as dependent (RANK_PIVOT), of the
#: largest size of the rows of late; at the start it is s² + 1 = 26.
NOTICED = 2.0 * np.sqrt(26.0 * 1e-5)


def slope(x):
    return 0.5 * (x - PLACE)


@pytest.fixture(scope="module")
def block():
    """Drawn to x = 10 by a spring and a damper, where it comes to rest; weight across."""
    return zw.System(
        coordinates=["x", "y", "z"],
        parameters={"k": 4.0, "c": 4.0},
        mass=lambda: np.eye(3),
        force=lambda q, v, p: [-p.k * (q[0] - PLACE) - p.c * v[0], -9.81, 0.3],
        constraints={
            "left": zw.position(lambda q: slope(q[0]) * q[1] + q[2]),
            "right": zw.position(lambda q: slope(q[0]) * q[1] - q[2]),
            "floor": zw.position(lambda q: q[1]),
        },
    )


def assert_held(run):
    assert run.finished, run.status
    assert abs(run.q[-1, 0] - PLACE) < 1e-4
    assert np.abs(run.q[:, 1:]).max() < OFF
    first, second = run.ranks
    assert (first.t, first.dependent_rows, second.dependent_rows) == (0.0, 1, 1)
    x = float(run.at(second.t).q[0])
    assert 0.0 < PLACE - x < NOTICED
    assert set(second.names) == {"left", "right"}
    assert [note.rsplit(": ")[-1] for note in run.notes if "left out of" in note] == [
        "floor",
        "right",
    ]
    assert any("had to act in place of others" in note for note in run.notes)


@pytest.mark.parametrize(
    "choices",
    [
        {"integrator": "order8", "tolerance": 1e-6},
        {"integrator": "order8", "tolerance": 1e-11},
        {"integrator": "order5"},
        {"integrator": "radau5", "tolerance": 1e-7},
        {"integrator": "rattle", "step": 0.01},
        {"integrator": "generalized_alpha", "step": 0.01},
        {"step": 0.05},
    ],
)
def test_the_floor_holds_the_block_where_the_guides_do_not(block, choices):
    assert_held(block.simulate([0.0, 0.0, 0.0], until=20.0, **choices))


def test_the_forces_are_those_of_the_floor_alone(block):
    run = block.simulate([0.0, 0.0, 0.0], until=20.0, save=20.0)
    total = sum(run.constraint_force(name)[-1] for name in ("left", "right", "floor"))
    np.testing.assert_allclose(total, [0.0, 9.81, -0.3], atol=1e-6)


def test_it_is_no_singular_position(block):
    run = block.simulate([0.0, 0.0, 0.0], until=20.0, on_singular="stop", integrator="order8")
    assert_held(run)


#: Least relative pivot, the square of s to that of the rows, at which collocation goes on.
LEFT_BY_NODES = 2.0 * np.sqrt(26.0 * CLEAR_PIVOT)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-11])
@pytest.mark.parametrize("place", [0.0, 1.0, 3.0])
def test_collocation_goes_on_with_other_rows_before_they_have_to_act(block, tolerance, place):
    run = block.simulate([place, 0.0, 0.0], until=20.0, tolerance=tolerance)
    assert run.finished, run.status
    assert abs(run.q[-1, 0] - PLACE) < 1e-3
    assert np.abs(run.q[:, 1:]).max() < OFF
    if tolerance > 1e-10:  # its last step is shorter otherwise, and the place still far
        assert {s.integrator for s in run.segments} <= {"", "gauss"}
    assert any("had to act in place of others" in note for note in run.notes)
    left_at = run.ranks[1].t
    assert PLACE - float(run.at(left_at).q[0]) > LEFT_BY_NODES / 4.0


def test_an_event_in_the_same_step_is_not_lost(block):
    explicit = {"until": 20.0, "integrator": "order8"}
    times = [r.t for r in block.simulate([0.0] * 3, **explicit).ranks]
    until = {**explicit, "until": times[1]}
    near = float(block.simulate([0.0] * 3, **until, save=[times[1]]).q[-1, 0])
    run = block.simulate(
        [0.0] * 3, **explicit, events={"here": zw.event(lambda q: q[0] - (near - 1e-9))}
    )
    assert [e.name for e in run.events] == ["here"]
    assert_held(run)


#: Without the damper the block swings past x = 10: x = 10 (1 − cos 2t).
SWINGING = {"until": 5.0, "tolerance": 1e-7, "parameters": {"c": 0.0}}
#: Of states and times of that swing: some times the tolerance of ten metres.
SWING_ERROR = 1e-5


@pytest.mark.parametrize("integrator", ["order8", "order5", "auto", "radau5"])
def test_states_between_saved_ones_are_found_past_the_place(block, integrator):
    run = block.simulate([0.0] * 3, **SWINGING, integrator=integrator, save=0.5)
    times = np.linspace(0.0, 5.0, 41)
    exact = PLACE * (1.0 - np.cos(2.0 * times))
    np.testing.assert_allclose(run.at(times).q[:, 0], exact, atol=SWING_ERROR)


def test_states_between_saved_ones_choose_rows_again_as_the_run_does(block):
    run = block.simulate([0.0] * 3, until=20.0, save=20.0)
    between = run.at([4.0, 8.0, 12.0, 16.0]).q
    assert np.abs(between[:, 1:]).max() < OFF
    assert abs(between[-1, 0] - PLACE) < 1e-4


@pytest.mark.parametrize(
    ("integrator", "beyond"), [("order5", -0.4), ("order5", -0.05), ("auto", 0.8), ("order8", 0.5)]
)
def test_events_in_steps_past_the_place_are_met_in_time(block, integrator, beyond):
    """Rank is lost within these steps; repeated up to the event, they do not end there."""
    run = block.simulate(
        [0.0] * 3,
        **SWINGING,
        integrator=integrator,
        events={"here": zw.event(lambda q: q[0] - (PLACE + beyond))},
    )
    first = 0.5 * np.arccos(-beyond / PLACE)
    exact = [first, np.pi - first, np.pi + first]
    np.testing.assert_allclose([event.t for event in run.events], exact, atol=SWING_ERROR)


def test_ensembles_and_resumed_runs_choose_alike(block, tmp_path, monkeypatch):
    springs = np.array([4.0, 3.0, 5.0, 4.0, 2.0])
    together = block.simulate_many(
        np.zeros((5, 3)), np.zeros((5, 3)), until=20.0, parameters={"k": springs}
    )
    for k, run in zip(springs, together, strict=True):
        alone = block.simulate([0.0] * 3, until=20.0, parameters={"k": k}, integrator="order8")
        assert run.q.tobytes() == alone.q.tobytes()
        assert run.ranks == alone.ranks
    whole = block.simulate([0.0] * 3, until=20.0)
    monkeypatch.setattr("zwang.integrators.chunk_size.FIRST_STEPS", 1)
    monkeypatch.setattr("zwang.integrators.chunk_size.GROWTH", 1.0)

    def stop_late(progress):
        if progress.t > whole.ranks[1].t + 1.0:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        block.simulate(
            [0.0] * 3, until=20.0, store=tmp_path / "run", store_every=0.0, progress=stop_late
        )
    resumed = zw.resume(tmp_path / "run", block)
    assert resumed.q.tobytes() == whole.q.tobytes()
    assert resumed.ranks == whole.ranks
    assert resumed.notes == whole.notes


def test_a_mechanism_chooses_again():
    m = zw.Mechanism(gravity=(0, -9.81, 0))
    cube = m.body(
        "cube", inertia=zw.inertia.box(mass=1.0, size=(0.1, 0.1, 0.1)), position=(0, 0, 0)
    )
    m.constraint("upright", [cube], lambda bodies, t, p: bodies[0].rotation[[0, 0, 1], [1, 2, 2]])
    for sign, name in ((1.0, "left"), (-1.0, "right")):
        m.constraint(
            name,
            [cube],
            lambda bodies, t, p, sign=sign: (
                slope(bodies[0].position[0]) * bodies[0].position[1] + sign * bodies[0].position[2]
            ),
        )
    m.constraint("floor", [cube], lambda bodies, t, p: bodies[0].position[1])
    m.spring_damper(
        "pull", m.ground, cube, at=((-PLACE, 0, 0), (0, 0, 0)), stiffness=0.0, damping=4.0
    )
    m.force("drawn", cube, lambda body, t, p: (4.0 * (PLACE - body.position[0]), 0.0, 0.0))
    run = m.simulate(until=20.0)
    assert run.finished, run.status
    position = run.body("cube").position
    assert abs(position[-1, 0] - PLACE) < 1e-4
    assert np.abs(position[:, 1:]).max() < OFF
    assert any("had to act in place of others" in note for note in run.notes)


# --- stopping ------------------------------------------------------------------------------------


@pytest.fixture
def rail(monkeypatch):
    """y = 0 said twice where x < 0; beyond, the second row holds z as well. Both rows act."""
    for name in ("LEAST_SHARE", "LEAST_SHARE_NEAR"):
        monkeypatch.setattr(f"zwang.equations.active_rows.{name}", 2.0)

    def beyond(x):
        return 0.5 * (x + abs(x))

    return zw.System(
        coordinates=["x", "y", "z"],
        mass=lambda: np.eye(3),
        force=lambda: [0.0, -1.0, 0.0],
        constraints={
            "first": zw.position(lambda q: q[1]),
            "second": zw.position(lambda q: q[1] + beyond(q[0]) ** 2 * q[2]),
        },
    )


@pytest.mark.parametrize("integrator", ["order8", "radau5"])
def test_a_run_stops_where_rank_is_lost_and_not_where_it_is_regained(rail, integrator):
    choices = {"until": 2.0, "on_singular": "stop", "integrator": integrator, "largest_step": 0.1}
    gaining = rail.simulate([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], **choices)
    assert gaining.finished, gaining.status
    assert [c.dependent_rows for c in gaining.ranks] == [1, 0]
    assert gaining.ranks[0].t == 0.0
    assert 1.0 < gaining.ranks[1].t < 1.4
    losing = rail.simulate([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], **choices)
    assert not losing.finished
    assert "a singular position: constraints first, second are dependent" in losing.status
    assert 0.7 < losing.ranks[-1].t < 1.3


def test_a_row_that_says_something_of_its_own_in_the_end_is_told_from_a_contradiction():
    def beyond(x):
        return 0.5 * (x + abs(x))

    rail = zw.System(
        coordinates=["x", "y", "z"],
        mass=lambda: np.eye(3),
        constraints={
            "first": zw.position(lambda q: q[1]),
            "second": zw.position(lambda q: q[1] + beyond(q[0] - 20.0) ** 2 * q[2]),
        },
    )
    run = rail.simulate([0.0, 0.0, 1.0], [10.0, 0.0, 0.0], until=3.0, largest_step=0.1)
    assert not run.finished
    assert "'second' followed from other constraints near the start and was left out; from" in (
        run.status
    )
