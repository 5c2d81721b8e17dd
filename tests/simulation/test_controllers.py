"""Sampled controllers: exact times, zero-order hold, memory, storage, verification."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import zwang as zw
from zwang.coordinates.joint.programs import JointCoordinateCache
from zwang.results.verify import Verdict
from zwang.simulation.controllers import Controller, Sample

PERIOD = 0.02


def cart() -> zw.System:
    """ẍ = −4 x − 0.3 ẋ + u."""
    return zw.System(
        ["x"],
        parameters={"u": 0.0},
        mass=lambda: np.eye(1),
        force=lambda q, v, p: [-4.0 * q[0] - 0.3 * v[0] + p.u],
    )


def pid(period: float = PERIOD) -> Controller:
    def law(sample: Sample, state: dict[str, Any]) -> dict[str, float]:
        error = 1.0 - sample["x"]
        state["sum"] += period * error
        return {"u": 30.0 * error + 12.0 * state["sum"] - 5.0 * sample["x_dot"]}

    return zw.controller(law, period, state={"sum": 0.0})


def exact(steps: int) -> np.ndarray:
    """States at the samples: the exact discretization of the loop, by matrix exponentials."""
    F = np.array([[0.0, 1.0, 0.0], [-4.0, -0.3, 1.0], [0.0, 0.0, 0.0]])
    G = expm(F * PERIOD)
    x, total, states = np.zeros(2), 0.0, [np.zeros(2)]
    for _ in range(steps):
        error = 1.0 - x[0]
        total += PERIOD * error
        u = 30.0 * error + 12.0 * total - 5.0 * x[1]
        x = (G @ np.array([*x, u]))[:2]
        states.append(x)
    return np.array(states)


def test_a_sampled_loop_is_its_exact_discretization() -> None:
    times = PERIOD * np.arange(101)
    run = cart().simulate([0.0], until=2.0, controllers={"pid": pid()}, save=times, tolerance=1e-12)
    found = np.column_stack([run["x"], run["x_dot"]])
    np.testing.assert_allclose(found, exact(100), atol=1e-10)
    assert len(run.segments) == 100


@pytest.mark.parametrize("integrator", ["order5", "gauss", "radau5"])
def test_every_integrator_stops_at_the_samples(integrator: str) -> None:
    run = cart().simulate(
        [0.0], until=1.0, controllers={"pid": pid()}, integrator=integrator, tolerance=1e-10
    )
    assert run["x"][-1] == pytest.approx(exact(50)[-1, 0], abs=1e-7)


def test_samples_are_at_exact_times_and_outputs_are_held_between_them() -> None:
    seen = []

    def law(sample: Sample) -> dict[str, float]:
        seen.append((sample.number, sample.t))
        return {"u": float(sample.number)}

    run = cart().simulate(
        [0.0], until=1.0, start=0.0, controllers={"steps": zw.controller(law, 0.1, offset=0.05)}
    )
    assert seen == [(k, 0.05 + k * 0.1) for k in range(10)]
    begun = [0.0 if s.began is None else s.began.t for s in run.segments]
    assert begun == [0.0, *(t for _, t in seen)]
    assert [float(s.parameters["u"]) for s in run.segments] == [0.0, *map(float, range(10))]


def test_controllers_of_different_periods_meet() -> None:
    calls: dict[str, list[float]] = {"fast": [], "slow": []}

    def of(name: str, parameter: str) -> Controller:
        def law(sample: Sample) -> dict[str, float]:
            calls[name].append(sample.t)
            return {parameter: sample.t}

        return zw.controller(law, {"fast": 0.1, "slow": 0.3}[name])

    system = zw.System(
        ["x"],
        parameters={"u": 0.0, "w": 0.0},
        mass=lambda: np.eye(1),
        force=lambda p: [p.u + p.w],
    )
    system.simulate(
        [0.0], until=0.95, controllers={"fast": of("fast", "u"), "slow": of("slow", "w")}
    )
    assert calls["fast"] == pytest.approx([0.1 * k for k in range(10)])
    assert calls["slow"] == pytest.approx([0.3 * k for k in range(4)])


def test_a_controller_reads_joints_of_a_mechanism_and_angles_do_not_jump() -> None:
    m = zw.Mechanism(plane="xz", gravity=(0, 0, 0), parameters={"torque": 0.0})
    wheel = m.body("wheel", mass=1.0, inertia=0.5)
    m.revolute("hub", m.ground, wheel, at=(0, 0))
    m.force("motor", wheel, torque=lambda p: p.torque)
    angles: list[float] = []

    def law(sample: Sample) -> dict[str, float]:
        angles.append(sample["hub.angle"])
        assert sample["hub.angle_rate"] == pytest.approx(sample["wheel.omega"])
        return {"torque": 0.5 * (6.0 - sample["hub.angle_rate"])}

    run = m.simulate(until=4.0, controllers={"speed": zw.controller(law, 0.05)})
    assert run["hub.angle_rate"][-1] == pytest.approx(6.0, rel=0.05)
    assert max(angles) > 2 * np.pi
    assert np.abs(np.diff(angles)).max() < 0.5


def test_events_and_samples_do_not_disturb_each_other() -> None:
    floor = zw.event("x", zw.bounce(0.8), direction=-1)
    system = zw.System(
        ["x"], parameters={"u": 0.0}, mass=lambda: np.eye(1), force=lambda p: [p.u - 9.81]
    )
    none = zw.controller(lambda sample: {"u": 0.0}, 0.013)
    with_samples = system.simulate(
        [1.0], until=2.0, events={"floor": floor}, controllers={"none": none}, tolerance=1e-11
    )
    without = system.simulate([1.0], until=2.0, events={"floor": floor}, tolerance=1e-11)
    bounces = [e.t for e in with_samples.events if e.name == "floor"]
    np.testing.assert_allclose(bounces, [e.t for e in without.events], atol=1e-9)
    assert with_samples["x"][-1] == pytest.approx(without["x"][-1], abs=1e-8)


def test_the_energy_balance_knows_what_was_held() -> None:
    run = cart().simulate([0.0], until=1.0, controllers={"pid": pid()}, tolerance=1e-11)
    work = run.work
    gained = run.kinetic_energy[-1] - run.kinetic_energy[0]
    assert work.applied[-1] == pytest.approx(gained, abs=1e-8)


def test_states_between_saved_ones_follow_the_held_values() -> None:
    times = np.array([0.0, 0.5, 1.0])
    run = cart().simulate([0.0], until=1.0, controllers={"pid": pid()}, save=times, tolerance=1e-11)
    assert run.at(15 * PERIOD).q[0] == pytest.approx(exact(50)[15, 0], abs=1e-8)


def interrupted(path: Path, controllers: Mapping[str, Controller]) -> None:
    """A stored run that stops by an error of its law after some commits."""
    with pytest.raises(KeyboardInterrupt):
        cart().simulate(
            [0.0], until=2.0, controllers=controllers, store=path, store_every=0.0, tolerance=1e-11
        )


def test_a_resumed_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    whole = cart().simulate([0.0], until=2.0, controllers={"pid": pid()}, tolerance=1e-11)
    good, calls = pid(), 0

    def failing(sample: Sample, state: dict[str, Any]) -> dict[str, float]:
        nonlocal calls
        calls += 1
        if calls == 57:
            raise KeyboardInterrupt
        return good.law(sample, state)

    interrupted(tmp_path / "run", {"pid": zw.controller(failing, PERIOD, state={"sum": 0.0})})
    run = zw.resume(tmp_path / "run", cart(), controllers={"pid": good})
    np.testing.assert_array_equal(run.t, whole.t)
    np.testing.assert_array_equal(run.q, whole.q)
    assert [s.parameters for s in run.segments] == [s.parameters for s in whole.segments]


def test_resume_refuses_other_controllers(tmp_path: Path) -> None:
    calls = 0

    def failing(sample: Sample) -> dict[str, float]:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt
        return {"u": 1.0}

    interrupted(tmp_path / "run", {"pid": zw.controller(failing, PERIOD)})
    with pytest.raises(zw.InputError, match=r"controllers for the run .* differ in pid"):
        zw.resume(tmp_path / "run", cart(), controllers={"pid": pid(0.5)})
    with pytest.raises(zw.InputError, match="controllers"):
        zw.resume(tmp_path / "run", cart())


def test_verify_calls_the_laws_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    cart().simulate([0.0], until=1.0, controllers={"pid": pid()}, store=path)
    plain = zw.verify(path, cart())
    assert plain.ok
    assert any("controllers (pid) were not given" in note for note in plain.notes)
    checked = zw.verify(path, cart(), controllers={"pid": pid()})
    assert checked.ok
    assert checked.checked["samples"] == 50
    other = pid()

    def biased(sample: Sample, state: dict[str, Any]) -> dict[str, float]:
        found = other.law(sample, state)
        return {"u": found["u"] + (1e-9 if sample.number == 30 else 0.0)}

    wrong = zw.verify(
        path, cart(), controllers={"pid": zw.controller(biased, PERIOD, state={"sum": 0.0})}
    )
    assert wrong.verdict is Verdict.MISMATCH
    assert "at t = 0.6 s 'u' is stored as" in wrong.findings[-1]


def test_a_run_can_be_made_twice_with_the_same_controller() -> None:
    one = pid()
    first = cart().simulate([0.0], until=1.0, controllers={"pid": one})
    second = cart().simulate([0.0], until=1.0, controllers={"pid": one})
    np.testing.assert_array_equal(first.q, second.q)
    assert first.error_estimate().worst < 1e-6


BAD: list[tuple[Any, str]] = [
    (lambda: zw.controller(3, 0.1), "law of a controller"),  # type: ignore[arg-type] - on purpose
    (lambda: zw.controller(print, 0.0), "period"),
    (lambda: zw.controller(print, 0.1, offset=-1.0), "offset"),
    (lambda: zw.controller(print, 0.1, state={"a": "b"}), "state 'a'"),
    (lambda: cart().simulate([0.0], until=1.0, controllers=[pid()]), "controllers"),  # type: ignore[arg-type] - on purpose
    (lambda: cart().simulate([0.0], until=1.0, controllers={"a": print}), "controller 'a'"),  # type: ignore[arg-type] - on purpose
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_controllers_are_refused(call: Any, words: str) -> None:
    with pytest.raises(zw.InputError, match=words):
        call()


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda sample: {"force": 1.0}, "that controller 'c' sets must be one of u, not 'force'"),
        (lambda sample: 3.0, "must return a dictionary"),
        (lambda sample: {"u": float("nan")}, "finite number"),
        (lambda sample: {"u": sample["y"]}, "channel that a controller reads"),
        (lambda sample, state: state.update(b=1.0), "keep its names"),
    ],
)
def test_what_a_law_does_wrong_is_said_at_the_first_sample(law: Any, words: str) -> None:
    with pytest.raises(zw.ZwangError, match=words):
        cart().simulate([0.0], until=1.0, controllers={"c": zw.controller(law, 0.1)})


def test_a_law_that_fails_later_keeps_what_there_is() -> None:
    def law(sample: Sample) -> dict[str, float]:
        return {"u": 1.0 if sample.number < 5 else float("inf")}

    run = cart().simulate([0.0], until=1.0, controllers={"c": zw.controller(law, 0.1)})
    assert "by a controller" in run.status
    assert run.t[-1] == pytest.approx(0.5)
    assert not run.finished


@pytest.mark.parametrize("first", [0, 3])
def test_a_mistake_in_a_law_is_told_with_its_controller_and_time(first: int) -> None:
    def law(sample: Sample) -> dict[str, float]:
        return {"u": 1.0 if sample.number < first else {}["gain"]}

    with pytest.raises(zw.InputError) as caught:
        cart().simulate([0.0], until=1.0, controllers={"lqr": zw.controller(law, 0.1)})
    words = f"law of controller 'lqr' raised KeyError at t = {0.1 * first:g} s: 'gain'."
    assert str(caught.value) == words
    assert isinstance(caught.value.__cause__, KeyError)


def pushed() -> zw.Mechanism:
    """A body on a rail, pushed by a parameter, with a wheel that turns at 10 rad/s."""
    m = zw.Mechanism(plane="xz", parameters={"F": 1.0})
    b = m.body("b", mass=1.0, inertia=1.0)
    wheel = m.body("wheel", mass=1.0, inertia=1.0)
    m.prismatic("rail", m.ground, b, at=(0, 0), axis="x")
    m.revolute("pin", m.ground, wheel, at=(0, 0))
    m.actuator("push", "rail.displacement", lambda p: p.F)
    return m


def test_a_sample_that_is_kept_reads_the_values_of_its_own_time() -> None:
    kept: list[Sample] = []
    angles: list[float] = []

    def law(sample: Sample) -> dict[str, float]:
        for old in kept:
            assert old["push.effort"] == old.parameters["F"]
        angles.append(sample["pin.angle"])
        kept.append(sample)
        assert kept[0]["pin.angle"] == pytest.approx(0.0, abs=1e-9)  # and takes no turn back
        return {"F": 10.0 * len(kept)}

    m = pushed()
    state = m.assemble(velocity={"hold": {"pin.angle_rate": 10.0}})
    m.simulate(state, until=1.0, controllers={"c": zw.controller(law, 0.1)})
    assert [old.parameters["F"] for old in kept[:3]] == [1.0, 10.0, 20.0]
    np.testing.assert_allclose(angles, np.arange(len(angles)), atol=1e-6)


def test_samples_of_one_instant_share_the_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take longer than a channel does, and many laws may read many channels."""
    calls: list[Any] = []
    make = zw.System.parameter_vector
    shared = []

    def counted(self: zw.System, given: Any = None) -> Any:
        calls.append(given)
        return make(self, given)

    def law(sample: Sample) -> None:
        before = len(calls)
        for _ in range(3):
            assert sample["push.effort"] == sample.parameters["F"]
        shared.append(len(calls) - before)

    m = pushed()
    assert m.system is not None
    monkeypatch.setattr(zw.System, "parameter_vector", counted)
    m.simulate(until=0.15, controllers={name: zw.controller(law, 0.1) for name in "ab"})
    assert shared[2:] == [1, 0]


def test_a_second_argument_with_a_default_is_the_state_only_where_there_is_one() -> None:
    seen: list[Any] = []

    def law(sample: Sample, second: Any = 2.0) -> None:
        seen.append(second)

    cart().simulate([0.0], until=0.05, controllers={"c": zw.controller(law, 0.1)})
    known = zw.controller(law, 0.1, state={"sum": 3.0})
    cart().simulate([0.0], until=0.05, controllers={"c": known})
    assert seen == [2.0, {"sum": 3.0}]


def rod_of_length() -> zw.System:
    """A point on a rod whose length is a parameter."""
    return zw.System(
        ["x", "y"],
        parameters={"l": 1.0, "u": 0.0},
        mass=lambda: np.eye(2),
        force=lambda p: [p.u, -9.81],
        constraints={"rod": lambda q, p: q[0] ** 2 + q[1] ** 2 - p.l**2},
    )


def test_a_controller_does_not_move_the_state_with_a_constraint() -> None:
    def later(sample: Sample) -> dict[str, float]:
        return {"l": 1.5 if sample.t > 0.1 else 1.0}

    run = rod_of_length().simulate(
        [1.0, 0.0], until=0.3, save=0.05, controllers={"c": zw.controller(later, 0.05)}
    )
    assert not run.finished
    assert "constraint 'rod' must be satisfied" in run.status
    np.testing.assert_allclose(np.hypot(*run.q.T), 1.0, rtol=1e-12)
    at_once = zw.controller(lambda _: {"l": 1.5}, 0.05)
    with pytest.raises(zw.InputError, match="constraint 'rod' must be satisfied"):
        rod_of_length().simulate([1.0, 0.0], until=0.3, controllers={"c": at_once})
    force = zw.controller(lambda sample: {"u": -sample["x_dot"], "l": 1.0}, 0.05)
    assert rod_of_length().simulate([1.0, 0.0], until=0.3, controllers={"c": force}).finished


def test_a_controller_does_not_change_dimensions() -> None:
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    length = m.parameter("length", 1.0)
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5 * length, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    law = zw.controller(lambda _: {"length": 1.5}, 0.05)
    with pytest.raises(zw.InputError, match="'length' of controller 'c' must not be one that dim"):
        m.simulate(until=0.3, controllers={"c": law})


def test_two_controllers_do_not_set_one_parameter_at_once() -> None:
    def push(sample: Sample) -> dict[str, float] | None:
        return {"u": 1.0} if sample.t < 0.1 else None

    def brake(sample: Sample) -> dict[str, float] | None:
        return {"u": -1.0} if sample.t >= 0.1 else None

    laws = {"push": zw.controller(push, 0.05), "brake": zw.controller(brake, 0.05)}
    assert cart().simulate([0.0], until=0.2, controllers=laws).finished  # one after the other
    laws["brake"] = zw.controller(lambda sample: {"u": -1.0}, 0.05)
    with pytest.raises(zw.InputError, match="'push' and 'brake' both set it at t = 0 s"):
        cart().simulate([0.0], until=0.2, controllers=laws)


def test_a_controller_reads_energies_and_motions_of_bodies():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"u": 0.0})
    cart = m.body("cart", mass=2.0, inertia=0.1, velocity=(1.0, 0, 0))
    m.prismatic("rail", m.ground, cart, axis="x")
    m.spring_damper("spring", m.ground, cart, at=((-1, 0, 0), (0, 0, 0)), stiffness=50.0)
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    read = []

    def law(sample):
        read.append((sample["energy"], sample["cart.position.x"], sample["spring.force"], sample.t))
        return {"u": 0.0}

    run = m.simulate(until=0.2, save=0.1, controllers={"c": zw.controller(law, 0.1)})
    for energy, x, force, t in read:
        state = run.at(t)
        assert energy == pytest.approx(float(np.interp(t, run.t, run.energy)), abs=1e-8)
        assert x == pytest.approx(state.q[0], abs=1e-9)
        assert force == pytest.approx(float(np.interp(t, run.t, run["spring.force"])), abs=1e-6)
    with pytest.raises(zw.InputError, match=r"cart.position.x"):
        m.simulate(
            until=0.1, controllers={"c": zw.controller(lambda s: {"u": s["cart.position"]}, 0.1)}
        )
    with pytest.raises(zw.InputError, match=r"one of .*energy"):
        m.simulate(
            until=0.1, controllers={"c": zw.controller(lambda s: {"u": s["rail.force.x"]}, 0.1)}
        )


def test_a_rate_given_for_a_period_is_noted():
    slow = zw.controller(lambda sample: {"u": 1.0}, 50)
    run = cart().simulate([0.0], until=1.0, controllers={"slow": slow})
    assert any("acts once; 50 samples a second are a period of 0.02 s" in n for n in run.notes)
    assert not [
        n
        for n in cart().simulate([0.0], until=1.0, controllers={"pid": pid()}).notes
        if "once" in n
    ]


def test_a_parameter_that_a_controller_sets_is_a_channel():
    counting = zw.controller(lambda sample: {"u": 1.0 + sample.number}, 0.1)
    run = cart().simulate([0.0], until=0.5, save=0.1, controllers={"counting": counting})
    assert run["u"].tolist() == [1.0, 1.0, 2.0, 3.0, 4.0, 5.0]  # held until each saved state


def wrong_at(number: int) -> Controller:
    """The controller `pid`, whose sensor fails at one sample."""
    good = pid()

    def law(sample: Sample, state: dict[str, Any]) -> Any:
        outputs = good.law(sample, state)  # which changes the state before the mistake
        if sample.number == number:
            raise ValueError("sensor broken")
        return outputs

    return zw.controller(law, PERIOD, state={"sum": 0.0})


def test_an_error_in_a_law_carries_the_run_so_far() -> None:
    whole = cart().simulate([0.0], until=1.0, controllers={"pid": pid()})
    with pytest.raises(zw.InputError, match="sensor broken") as caught:
        cart().simulate([0.0], until=1.0, controllers={"pid": wrong_at(30)})
    run = caught.value.run
    assert run.t[-1] == pytest.approx(30 * PERIOD)
    assert "sensor broken" in run.status
    assert not run.finished
    np.testing.assert_array_equal(run["x"], whole["x"][: len(run)])
    np.testing.assert_array_equal(run["u"], whole["u"][: len(run)])


@pytest.mark.parametrize("number", [1, 30])
def test_a_stored_run_goes_on_where_a_law_raised_an_error(tmp_path: Path, number: int) -> None:
    whole = cart().simulate([0.0], until=1.0, controllers={"pid": pid()})
    with pytest.raises(zw.InputError, match="sensor broken") as caught:
        cart().simulate(
            [0.0],
            until=1.0,
            controllers={"pid": wrong_at(number)},
            store=tmp_path / "run",
            store_every=60.0,
        )
    assert caught.value.run.t[-1] == pytest.approx(number * PERIOD)
    assert zw.load(tmp_path / "run", cart()).t[-1] == pytest.approx(number * PERIOD)
    run = zw.resume(tmp_path / "run", cart(), controllers={"pid": pid()})
    assert run.finished
    np.testing.assert_array_equal(run.t, whole.t)
    np.testing.assert_array_equal(run.q, whole.q)
    assert run.counts == whole.counts
    assert [s.parameters for s in run.segments] == [s.parameters for s in whole.segments]
    assert zw.verify(tmp_path / "run", cart(), controllers={"pid": pid()}).ok


@pytest.mark.parametrize(
    ("given", "words"),
    [(None, "returned None at 10 samples. Is a 'return' missing?"), ({}, "an empty dictionary")],
)
def test_a_controller_that_sets_nothing_is_noted(given: Any, words: str) -> None:
    idle = zw.controller(lambda sample: given, 0.1)
    run = cart().simulate([0.0], until=1.0, controllers={"idle": idle, "pid": pid()})
    (note,) = [n for n in run.notes if "controller" in n]
    assert note.startswith("controller 'idle' set no parameter")
    assert words in note


def test_a_controller_that_sets_something_once_is_not_noted() -> None:
    late = zw.controller(lambda sample: {"u": 1.0} if sample.number == 7 else None, 0.1)
    run = cart().simulate([0.0], until=1.0, controllers={"late": late})
    assert not [n for n in run.notes if "controller" in n]


def test_outputs_of_a_controller_leave_what_follows_from_dimensions() -> None:
    """Frames of links and which numbers vanish are found once, not at each sample."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"u": 0.0})
    slider = m.body("slider", mass=1.0, inertia=0.1)
    pole = m.body("pole", inertia=zw.inertia.rod(0.2, 1.0, axis="z"), position=(0, 0, 0.5))
    m.prismatic("rail", m.ground, slider, at=(0, 0, 0), axis="x")
    m.revolute("pin", slider, pole, at=(0, 0, 0))
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    push = zw.controller(lambda sample: {"u": 1.0 + sample["rail.displacement"]}, 0.01)
    run = m.simulate(until=0.5, controllers={"push": push})
    assert len({s.parameters["u"] for s in run.segments}) == 50
    cache = JointCoordinateCache.of(run.system.equations, run.system.mechanism)
    assert len(cache.values) > 40
    assert len(cache.dimensions) == 1
    other = m.simulate(until=0.1, parameters={"pole.mass": 0.3})
    assert other["energy"][0] != run["energy"][0]
    assert len(cache.dimensions) == 2


def giving(first: Any, later: Any) -> Controller:
    """A law that gives one value at its first three samples, and another one later."""
    return zw.controller(lambda sample: {"u": later if sample.number > 2 else first}, PERIOD)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.array([3.0]), r"be a number, but has shape \(1,\)\. float\(x\.item\(\)\)"),
        ([1.0, 2.0], r"be a number, but has shape \(2,\)\."),
        ("3", "be a finite number, or an array of them, not '3'"),
        (["3"], r"be a finite number, or an array of them, not \['3'\]"),
        (float("nan"), "be a finite number, or an array of them, not nan"),
    ],
)
def test_a_value_that_is_none_names_its_controller(value: Any, sentence: str) -> None:
    told = rf"parameter 'u' that controller 'pid' sets must {sentence}"
    with pytest.raises(zw.InputError, match=told):
        cart().simulate([0.0], until=0.1, controllers={"pid": giving(value, value)})
    run = cart().simulate([0.0], until=0.2, controllers={"pid": giving(1.0, value)})
    assert not run.finished
    assert run.t[-1] == 3 * PERIOD
    assert re.search(told, run.status)
    assert run.notes == ("what a controller gave ended the run at t = 0.06 s: run.status says why",)


def test_an_array_parameter_is_given_in_its_shape() -> None:
    system = zw.System(
        ["x"], parameters={"w": [1.0, 2.0]}, mass=lambda: np.eye(1), force=lambda p: [p.w[0]]
    )
    for value, found in ((1.0, "is a number"), ([1.0, 2.0, 3.0], r"has shape \(3,\)")):
        law = zw.controller(partial(_same, value), PERIOD)
        with pytest.raises(
            zw.InputError, match=rf"'w' that controller 'c' sets must have shape \(2,\).* {found}"
        ):
            system.simulate([0.0], until=0.1, controllers={"c": law})


def _same(value: Any, sample: Sample) -> dict[str, Any]:
    return {"w": value}


def test_work_of_a_sampled_actuator_is_that_of_its_intervals() -> None:
    m = zw.Mechanism(plane="xz", parameters={"u": 0.0})
    body = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, body, at=(0, 0, 0), axis="x")
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    law = zw.controller(lambda sample: {"u": 5.0 * np.cos(20.0 * sample.t)}, 0.1)
    run = m.simulate(until=1.0, save=0.05, controllers={"law": law})
    gained = run.kinetic_energy[-1] - run.kinetic_energy[0]
    assert abs(run.work.applied[-1] - gained) < 1e-10
    assert abs(np.trapezoid(run["motor.power"], run.t) - gained) > 1e-2


@pytest.mark.parametrize(
    ("period", "save", "offset"), [(0.02, 0.1, 0.0), (0.01, 0.05, 0.0), (0.02, 0.01, 0.01)]
)
def test_states_saved_at_samples_have_what_was_held_until_then(period, save, offset, tmp_path):
    """Three tenths are 0.30000000000000004, and fifteen fiftieths 0.3: which comes first?"""
    m = zw.Mechanism(plane="xz", parameters={"u": 0.0})
    cart = m.body("cart", mass=1.0, inertia=1.0)
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    given = {"offset": offset} if offset else {}
    law = zw.controller(lambda sample: {"u": float(sample.number)}, period, **given)
    path = tmp_path / "run"
    run = m.simulate(until=2.0, save=save, controllers={"law": law}, store=path)
    held = np.maximum(np.ceil(np.round((run.t - offset) / period, 6)) - 1, 0)
    np.testing.assert_array_equal(run["motor.effort"], held)
    assert zw.verify(path, m, controllers={"law": law}).ok
    fine = m.simulate(until=2.0, save=period, controllers={"law": law})
    table = fine.to_pandas(["u", "motor.effort"], every=5 * period)
    held = np.maximum(np.ceil(np.round((table.index.to_numpy() - offset) / period, 6)) - 1, 0)
    np.testing.assert_array_equal(table["u"], held)
    np.testing.assert_array_equal(table["motor.effort"], held)
