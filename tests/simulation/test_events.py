"""Events are found to rounding and do what they say."""

import numpy as np
import pytest

import zwang as zw
from zwang.integrators.registry import LOOPS

G = 9.81
FOUND = 1e-10  # the accuracy promised for the time of an event
ROUNDED_HEIGHT = 16 * 5.0 * np.finfo(float).eps  # some roundings of a height of 5


@pytest.fixture(scope="module")
def ball():
    return zw.System(
        ["x", "y"],
        parameters={"g": G},
        mass=lambda: np.eye(2),
        force=lambda p: [0.0, -p.g],
        potential=lambda q, p: p.g * q[1],
    )


def test_bounces_follow_the_geometric_series(ball):
    floor = zw.event(lambda q: q[1], zw.bounce(0.8), direction=-1)
    run = ball.simulate([0.0, 1.0], [1.0, 0.0], until=2.0, events={"floor": floor})
    fall = np.sqrt(2.0 / G)
    expected = [fall, fall * (1 + 1.6), fall * (1 + 1.6 + 1.28)]
    assert np.abs(np.array([e.t for e in run.events]) - expected).max() < FOUND
    first = run.events[0]
    assert abs(first.v_after[1] + 0.8 * first.v[1]) < 1e-12
    assert first.v_after[0] == first.v[0]


def test_bounces_that_accumulate_end_the_run_with_a_sentence(ball):
    floor = zw.event(lambda q: q[1], zw.bounce(0.5), direction=-1)
    run = ball.simulate([0.0, 1.0], until=20.0, events={"floor": floor})
    assert "accumulate" in run.status
    assert not run.finished
    assert abs(run.t[-1] - 3.0 * np.sqrt(2.0 / G)) < 1e-6


def test_recorded_events_do_not_disturb_the_motion(ball):
    top = zw.event(lambda v: v[1], direction=-1)
    with_event = ball.simulate([0.0, 0.0], [0.0, 5.0], until=1.0, events={"top": top})
    without = ball.simulate([0.0, 0.0], [0.0, 5.0], until=1.0)
    assert np.array_equal(with_event.q, without.q)
    assert abs(with_event.events[0].t - 5.0 / G) < FOUND


def test_direction_selects_crossings(pendulum):
    counted = {
        direction: len(
            pendulum.simulate(
                [1.0, 0.0],
                until=5.0,
                events={"low": zw.event(lambda q: q[0], direction=direction)},
            ).events
        )
        for direction in (-1, 0, 1)
    }
    assert counted[0] == counted[1] + counted[-1]
    assert abs(counted[1] - counted[-1]) <= 1


def test_stop_ends_at_the_event(pendulum):
    run = pendulum.simulate([1.0, 0.0], until=9.0, events={"low": zw.event(lambda q: q[0], "stop")})
    assert run.finished
    assert "'low'" in run.status
    assert abs(run.q[-1, 0]) < FOUND
    assert run.t[-1] == run.events[0].t


def test_parameters_change_at_an_event_and_the_forces_know(pendulum):
    run = pendulum.simulate(
        [1.0, 0.0],
        until=1.2,
        tolerance=1e-10,
        events={"low": zw.event(lambda q: q[0], zw.set_parameters(g=1.6))},
    )
    first, second = run.segments
    assert (first.parameters["g"], second.parameters["g"]) == (G, 1.6)
    k = second.first
    assert np.array_equal(run.q[k], run.q[k - 1])
    tension = -2.0 * run.multipliers("rod")[:, 0] / 1.3
    speed = np.sum(run.v**2, axis=1)
    assert abs(tension[k - 1] - (speed[k - 1] + G)) < 1e-8
    assert abs(tension[k] - (speed[k] + 1.6)) < 1e-8


def test_slack_rod_becomes_taut_with_a_plastic_impulse(pendulum):
    taut = zw.event(lambda q, p: q @ q - p.L**2, zw.switch(on="rod"), direction=1)
    run = pendulum.simulate([0.3, 0.0], until=2.0, inactive=["rod"], events={"taut": taut})
    (event,) = run.events
    assert abs(event.q @ event.q - 1.0) < FOUND
    radial = event.q * (event.q @ event.v)
    assert np.abs(event.v_after - (event.v - radial)).max() < 1e-9
    assert not run.multipliers("rod")[: run.segments[0].last].any()
    assert run.multipliers("rod")[run.segments[1].first :].all()
    assert run.worst_residual < 1e-12


def test_bounce_keeps_the_constraints(pendulum):
    wall = zw.event(lambda q: q[0], zw.bounce(0.6), direction=-1)
    run = pendulum.simulate([1.0, 0.0], until=2.0, events={"wall": wall})
    event = run.events[0]
    assert abs(event.v_after[0] + 0.6 * event.v[0]) < 1e-10
    assert abs(event.q @ event.v_after) < 1e-10
    assert run.worst_residual < 1e-12


def test_saved_times_are_kept_across_events(ball):
    floor = zw.event(lambda q: q[1], zw.bounce(1.0), direction=-1)
    run = ball.simulate([0.0, 1.0], until=3.0, save=np.linspace(0, 3, 31), events={"floor": floor})
    assert np.array_equal(run.t, np.linspace(0, 3, 31))
    assert np.ptp(run.energy) < 1e-7


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zw.event(lambda q: q[0], "halt"), "'stop'"),
        (lambda: zw.event(lambda q: q[0], direction=2), "direction"),
        (lambda: zw.bounce(1.5), "restitution"),
    ],
)
def test_mistakes_in_events_are_named(make, words):
    with pytest.raises(zw.InputError, match=words):
        make()


def test_unknown_names_in_events_are_named(pendulum):
    events = {"low": zw.event(lambda q: q[0], zw.set_parameters(mass=2.0))}
    with pytest.raises(zw.ZwangError, match="mass"):
        pendulum.simulate([1.0, 0.0], until=2.0, events=events)
    events = {"low": zw.event(lambda q: q[0], zw.switch(off="rope"))}
    with pytest.raises(zw.ZwangError, match="rope"):
        pendulum.simulate([1.0, 0.0], until=2.0, events=events)


def test_unknown_names_are_refused_before_anything_runs(pendulum):
    never = {"never": zw.event(lambda t: t - 9.0, zw.switch(off="rope"))}
    with pytest.raises(zw.ZwangError, match="rope"):
        pendulum.simulate([1.0, 0.0], until=1.0, events=never)


@pytest.mark.parametrize("action", [zw.switch(on="floor"), zw.set_parameters(L=2.0)])
def test_events_move_nothing(action):
    system = zw.System(
        ["x", "y"],
        parameters={"L": 1.0},
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -G],
        constraints={
            "rod": zw.position(lambda q, p: q @ q - p.L**2),
            "floor": zw.position(lambda q: q[1] + 0.5),
        },
    )
    events = {"early": zw.event(lambda t: t - 0.1, action)}
    run = system.simulate([1.0, 0.0], until=1.0, events=events, inactive="floor")
    assert not run.finished
    assert "stopped at t = 0.1 s by event 'early'" in run.status
    assert "is violated by" in run.status
    assert abs(run.t[-1] - 0.1) < FOUND


def test_a_function_may_cross_another_value_than_zero(ball):
    run = ball.simulate([0.0, 0.0], [0.0, 5.0], until=1.0, events={"v": zw.event("y_dot", at=2.0)})
    same = ball.simulate(
        [0.0, 0.0], [0.0, 5.0], until=1.0, events={"v": zw.event(lambda v: v[1], at=2.0)}
    )
    assert abs(run.events[0].t - 3.0 / G) < FOUND
    assert run.events[0].t == same.events[0].t


RATE, SPEED = 9.0, 0.7


@pytest.fixture(scope="module")
def spinner():
    """A wheel that turns evenly, and a slider that moves evenly."""
    m = zw.Mechanism()
    wheel = m.body("wheel", inertia=zw.inertia.cylinder(1.0, radius=0.2, length=0.1))
    slider = m.body("slider", inertia=zw.inertia.sphere(1.0, radius=0.1))
    m.revolute("pin", m.ground, wheel, at=(0, 0, 0), axis="z")
    m.prismatic("rail", m.ground, slider, at=(0, 0, 0), axis="x")
    return m


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_joint_coordinates_may_be_watched_by_name(spinner, coordinates):
    rates = {"pin.angle_rate": RATE, "rail.displacement_rate": SPEED}
    run = spinner.simulate(
        spinner.assemble(velocity={"hold": rates}),
        until=2.0,
        coordinates=coordinates,
        events={
            "turned": zw.event("pin.angle", at=1.0),
            "never": zw.event("pin.angle", at=1.0, direction=-1),
            "there": zw.event("rail.displacement", "stop", at=1.05),
        },
    )
    turned = [e.t for e in run.events if e.name == "turned"]
    # Once a turn: half a turn away the sine of the angle is zero as well.
    assert np.abs(turned - (1.0 + 2.0 * np.pi * np.arange(len(turned))) / RATE).max() < FOUND
    assert len(turned) == 1 + int((1.5 * RATE - 1.0) / (2.0 * np.pi))
    assert {e.name for e in run.events} == {"turned", "there"}
    assert abs(run.t[-1] - 1.05 / SPEED) < FOUND


def test_a_rate_may_be_watched(spinner):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    weight = m.body("weight", inertia=zw.inertia.sphere(1.0, radius=0.1))
    m.prismatic("guide", m.ground, weight, at=(0, 0, 0), axis="z")
    run = m.simulate(until=1.0, events={"fast": zw.event("guide.displacement_rate", at=-3.0)})
    assert abs(run.events[0].t - 3.0 / 9.81) < FOUND


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: zw.event("pin.angel"), "Did you mean 'pin.angle'"),
        (lambda: zw.event(3.0), "a function of (q, v, t, p), or the name"),
        (lambda: zw.event("pin.angle", at="left"), "must be a number"),
        (lambda: zw.event("pin.angle", at=np.inf), "must be a number"),
    ],
)
def test_what_cannot_be_watched_is_refused(spinner, make, sentence):
    with pytest.raises(zw.InputError) as error:
        spinner.simulate(until=1.0, events={"turned": make()})
    assert sentence in str(error.value)


@pytest.mark.parametrize("integrator", ["order8", "gauss"])
@pytest.mark.parametrize("part", [0.03, 0.2, 0.5, 0.97])
def test_what_a_step_sees_is_found(integrator, part):
    """A quantity that is beyond its value for a thirtieth of one long step, wherever a look falls.

    The motion is even, so that steps are as long as they may be.
    """
    free = zw.System(["x"], mass=lambda: [[1.0]])
    run = free.simulate([0.0], [1.0], until=40.0, integrator=integrator)
    k = int(np.argmax(np.diff(run.t)))
    start, length = run.t[k], run.t[k + 1] - run.t[k]
    looks = np.array(LOOPS[integrator].LOOKS)
    seen = start + length * looks[np.argmin(np.abs(looks - part))]
    wide = length / 60.0
    peak = zw.event(lambda q, p: (q[0] - p.at) ** 2 - wide**2)
    watched = zw.System(["x"], mass=lambda: [[1.0]], parameters={"at": seen})
    found = watched.simulate([0.0], [1.0], until=40.0, integrator=integrator, events={"p": peak})
    assert np.abs([e.t for e in found.events] - (seen + wide * np.array([-1.0, 1.0]))).max() < FOUND


def test_what_events_are_given_as():
    fall = zw.System(["x"], mass=[[1.0]], force=[-G])
    choices = {"until": 1.0, "save": [1.0]}
    runs = [
        fall.simulate([1.0], events={"floor": watched}, **choices)
        for watched in (zw.event("x"), "x", lambda q: q[0])
    ]
    assert [run.events[0].t for run in runs] == [runs[0].events[0].t] * 3
    for wrong in ([zw.event("x")], zw.event("x"), "x"):
        with pytest.raises(
            zw.InputError, match=r"events must be a dictionary of names and zw\.event\(…\), not"
        ):
            fall.simulate([1.0], events=wrong, **choices)
    with pytest.raises(zw.InputError, match=r"event must be a function of \(q, v, t,.*not 3"):
        fall.simulate([1.0], events={"floor": 3}, **choices)


# --- at once, at the start, at rest ---------------------------------------------------------------

BY_STEPS = {"rattle": {"step": 0.01}, "generalized_alpha": {"step": 0.01}}


@pytest.fixture(scope="module")
def falling():
    return zw.System(["h"], parameters={"g": 10.0}, mass=lambda: [[1.0]], force=lambda p: [-p.g])


@pytest.mark.parametrize("integrator", list(LOOPS))
@pytest.mark.parametrize("order", [1, -1])
def test_events_that_come_at_once_all_happen(falling, integrator, order):
    events = {
        "floor": zw.event("h", zw.bounce(0.5), direction=-1),
        "lighter": zw.event("h", zw.set_parameters(g=1.0)),
        "seen": zw.event("h"),
        "clock": zw.event(lambda t: t - 1.0),
    }
    events = dict(list(events.items())[::order])
    choices = {"integrator": integrator, **BY_STEPS.get(integrator, {})}
    run = falling.simulate([5.0], until=1.5, events=events, **choices)
    assert sorted(e.name for e in run.events) == sorted(events)
    assert np.abs(run.q[-1] - (5.0 * 0.5 - 0.5 * 0.5**2)) < FOUND


def test_a_corner_sends_back_whatever_comes_into_it():
    particle = zw.System(["x", "y"], mass=lambda: np.eye(2), force=lambda: [0.0, 0.0])
    alpha = 0.5  # π / α = 6.3: six impacts
    walls = {
        "low": zw.event("y", zw.bounce(1.0), direction=-1),
        "high": zw.event(
            lambda q: np.sin(alpha) * q[0] - np.cos(alpha) * q[1], zw.bounce(1.0), direction=-1
        ),
    }
    run = particle.simulate([1.0, 0.3], [-1.0, -0.3], until=2.5, events=walls)
    assert len(run.events) == 6
    assert np.linalg.norm(run.v[-1]) == pytest.approx(np.hypot(1.0, 0.3), rel=1e-12)
    assert 0.0 < run["y"][-1] < np.tan(alpha) * run["x"][-1]


@pytest.mark.parametrize("integrator", list(LOOPS))
def test_an_impact_without_restitution_does_not_let_through(falling, integrator):
    floor = {"floor": zw.event("h", zw.bounce(0.0), direction=-1)}
    choices = {"events": floor, "integrator": integrator, **BY_STEPS.get(integrator, {})}
    run = falling.simulate([5.0], until=3.0, **choices)
    assert "accumulate" in run.status
    assert abs(run.t[-1] - 1.0) < 1e-7
    assert abs(run["h"][-1]) < 1e-12
    resting = falling.simulate([0.0], until=1.0, **choices)
    assert (resting.t[-1], resting["h"][-1]) == (0.0, 0.0)
    pulled = falling.simulate([0.0], until=1.0, parameters={"g": -2.0}, **choices)
    assert pulled["h"][-1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("height", [0.0, -1e-16, 1e-16])
def test_what_begins_on_the_floor_hits_it(falling, height):
    floor = {"floor": zw.event("h", zw.bounce(1.0), direction=-1)}
    run = falling.simulate([height], [-5.0], until=0.5, events=floor)
    assert [e.name for e in run.events] == ["floor"]
    assert run["h"][-1] == pytest.approx(5.0 * 0.5 - 5.0 * 0.25, abs=1e-12)


@pytest.mark.parametrize("integrator", ["order8", "order5", "gauss", "radau5"])
@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-10])
def test_what_goes_beyond_zero_for_a_moment_is_seen(falling, integrator, depth):
    top = zw.event("h", at=5.0 - depth)
    run = falling.simulate([0.0], [10.0], until=3.0, events={"top": top}, integrator=integrator)
    moment = np.sqrt(2.0 * depth / 10.0)
    rounding = ROUNDED_HEIGHT / (10.0 * moment)  # of a height, at the speed of the crossing
    times = pytest.approx([1 - moment, 1 + moment], abs=FOUND + rounding)
    assert np.array([e.t for e in run.events]) == times


@pytest.mark.parametrize("above", [0.0, 1e-9, 1e-2])
def test_what_touches_zero_is_no_event(falling, above):
    run = falling.simulate([0.0], [10.0], until=3.0, events={"top": zw.event("h", at=5.0 + above)})
    assert not run.events


# --- conditions -----------------------------------------------------------------------------------

#: Conditions of a point at x = t, y = −t, and when each begins to hold.
CONDITIONS = {
    "above": (lambda q: q[0] > 0.7, 0.7),
    "below": (lambda q: q[1] <= -0.7, 0.7),
    "not": (lambda q: np.logical_not(q[0] < 0.7), 0.7),
    "both": (lambda q, t: np.logical_and(q[0] > 0.3, t >= 0.7), 0.7),
    "either": (lambda q, t: np.logical_or(q[0] > 0.7, t >= 0.9), 0.7),
    "and": (lambda q: (q[0] > 0.7) & (q[1] < 0.1), 0.7),
    "or": (lambda q: (q[0] > 0.7) | (q[1] < -0.9), 0.7),
    "large": (lambda q: abs(q[1]) >= 0.7, 0.7),
}


@pytest.fixture(scope="module")
def point():
    return zw.System(["x", "y"], mass=lambda: np.eye(2), force=lambda: [0.0, 0.0])


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_met_where_it_begins_to_hold(point, name):
    """It never was: true and false do not cross zero."""
    condition, when = CONDITIONS[name]
    run = point.simulate([0, 0], [1, -1], until=2.0, events={"met": zw.event(condition, "stop")})
    assert run.status.endswith("by event 'met'")
    assert abs(run.t[-1] - when) < FOUND


#: Conditions of an oscillator, x = sin t, and when each begins to hold in two turns.
NARROW = {
    "a band": (lambda q: (q[0] > 0.5) & (q[0] < 0.501), [0.5, 0.501]),
    "two bands": (
        lambda q: ((q[0] > 0.5) & (q[0] < 0.501)) | ((q[0] > 0.5005) & (q[0] < 0.5015)),
        [0.5, 0.5015],
    ),
    "not outside": (lambda q: np.logical_not((q[0] < 0.5) | (q[0] > 0.501)), [0.5, 0.501]),
    "a channel": (lambda c: (c["x"] > 0.5) & (c["x"] < 0.501), [0.5, 0.501]),
}


@pytest.mark.parametrize("integrator", ["order5", "order8", "gauss", "radau5"])
@pytest.mark.parametrize("name", NARROW)
def test_a_condition_that_holds_for_a_moment_is_met_every_time(name, integrator):
    """Between two looks it begins and ceases to hold, and its margin has a kink in between."""
    system = zw.System(["x"], mass=lambda: np.eye(1), force=lambda q: [-q[0]])
    condition, (up, down) = NARROW[name]
    first = np.array([np.arcsin(up), np.pi - np.arcsin(down)])
    run = system.simulate(
        [0.0], [1.0], until=4 * np.pi, integrator=integrator, events={"in": zw.event(condition)}
    )
    met = [e.t for e in run.events]
    np.testing.assert_allclose(met, [*first, *(first + 2 * np.pi)], atol=1e-6)
    for e in run.events:
        assert min(abs(e.q[0] - up), abs(e.q[0] - down)) < FOUND


JUMPS = {
    "a product": lambda q, v: (q[0] > 0.5) * (v[0] < 0),
    "a sum": lambda q, v: (q[0] > 0.5) + (v[0] < 0) - 1.5,
    "a choice": lambda q: zw.where(q[0] > 0.5, 1.0, 0.0),
    "a sign": lambda q: np.sign(q[0] - 0.5),
}


@pytest.mark.parametrize("name", JUMPS)
def test_a_number_that_only_jumps_is_refused_as_an_event(point, name):
    """Zero for as long as the conditions do not hold, it gave events where nothing happened."""
    with pytest.raises(zw.InputError, match=r"is a number that jumps.*join conditions with & and"):
        point.simulate([0, 0], [1, -1], until=1.0, events={"e": zw.event(JUMPS[name])})


def test_a_condition_that_ceases_to_hold_is_no_event_unless_asked_for(point):
    events = {
        "begins": zw.event(lambda q: q[0] < 0.7),
        "ceases": zw.event(lambda q: q[0] < 0.7, direction=-1),
    }
    run = point.simulate([0, 0], [1, -1], until=2.0, events=events)
    assert [e.name for e in run.events] == ["ceases"]
    assert abs(run.events[0].t - 0.7) < FOUND


def test_a_condition_on_a_joint_angle_is_met_at_that_angle():
    """Half a turn further on, where the angle jumps, it had stopped."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(0, 0.5))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    start = m.assemble(hold={"pin.angle": 0.05}, velocity={"hold": {"pin.angle_rate": 0.5}})
    seen = zw.event(lambda c: c["pin.angle"] > 0.5, "stop")
    run = m.simulate(start, until=3.0, events={"seen": seen})
    assert abs(run["pin.angle"][-1] - 0.5) < FOUND


def test_a_condition_may_be_the_floor_of_a_bounce(ball):
    events = {"floor": zw.event(lambda q: q[1] < 0.0, zw.bounce(0.8))}
    run = ball.simulate([0.0, 1.0], until=1.5, events=events)
    fall = np.sqrt(2.0 / G)
    assert np.abs([e.t for e in run.events] - fall * np.array([1, 2.6])).max() < FOUND


@pytest.mark.parametrize(
    ("condition", "at", "told"),
    [
        (lambda q: q[0] == 1.0, 0.0, "equality"),
        (lambda q: np.logical_and(q[0], q[1] > 1.0), 0.0, "one side is a number"),
        (lambda q: q[0] > 1.0, 0.5, "must have no value at="),
    ],
)
def test_conditions_that_begin_nowhere_are_refused(point, condition, at, told):
    with pytest.raises(zw.InputError, match=told):
        point.simulate([0, 0], until=1.0, events={"e": zw.event(condition, at=at)})


NEEDS_VALUES = {
    "and": lambda q: q[0] < 1 and q[1] > 0,
    "or": lambda q: abs(q[0]) < 0.1 or abs(q[1]) < 1,
    "not": lambda q: not q[0] < 1,
    "chain": lambda q: 0 < q[0] < 1,
}


@pytest.mark.parametrize("name", NEEDS_VALUES)
def test_conditions_joined_by_words_are_told_of_signs(point, name):
    told = (
        r"Join conditions with & and \|, negate them with ~, .*: \(a < 1\) & \(b > 0\); .*zw.where"
    )
    with pytest.raises(zw.errors.TraceError, match=told):
        point.simulate([0, 0], until=1.0, events={"e": zw.event(NEEDS_VALUES[name], "stop")})


@pytest.mark.parametrize(
    "choice",
    [
        lambda q: 1.0 if q[0] < 1 else 0.0,
        lambda q: max(q[0], 1.0),
        lambda q: q[0] or 1.0,
    ],
)
def test_choices_are_not_told_of_signs(point, choice):
    with pytest.raises(zw.errors.TraceError, match=r"Use zw.where") as caught:
        point.simulate([0, 0], until=1.0, events={"e": zw.event(choice, "stop")})
    assert "Join" not in str(caught.value)
