"""Sampled feedback around a servo solution."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.analysis.servo import Servo, ServoSolution

OUTPUTS = {"s": "trolley", "l": "winch"}


def smooth(t: Any) -> Any:
    u = t / 3.0
    return 126 * u**5 - 420 * u**6 + 540 * u**7 - 315 * u**8 + 70 * u**9


@pytest.fixture(scope="module")
def crane() -> tuple[zw.System, Servo, ServoSolution]:
    system = zw.System(
        ["s", "l", "x", "z"],
        parameters={"trolley": 0.0, "winch": 0.0, "wind": 0.0},
        mass=lambda: np.diag([10.0, 4.0, 3.0, 3.0]),
        force=lambda p: [p.trolley, p.winch, p.wind, -3.0 * 9.81],
        constraints={"rope": lambda q: (q[2] - q[0]) ** 2 + q[3] ** 2 - q[1] ** 2},
    )
    servo = system.servo(
        program={"x": lambda t: 2.0 * smooth(t), "z": lambda t: -3.0 + smooth(t)},
        actuators=["s", "l"],
        start={"s": 0.0, "l": 3.0, "x": 0.0, "z": -3.0},
    )
    return system, servo, servo.solve(np.linspace(0.0, 3.0, 301))


def wanted(t: np.ndarray) -> np.ndarray:
    return 2.0 * smooth(np.minimum(t, 3.0))


def test_feedback_tracks_and_removes_a_deviation(
    crane: tuple[zw.System, Servo, ServoSolution],
) -> None:
    system, servo, solution = crane
    law = servo.feedback(solution, 0.01, OUTPUTS)
    on = system.simulate([0.0, 3.0, 0.0, -3.0], until=4.0, controllers={"c": law}, save=0.02)
    # Zero-order hold in place of continuous efforts: an error of second order in the period.
    assert np.abs(on["x"] - wanted(on.t)).max() < 1e-4
    q = system.assemble(hold={"s": 0.1, "l": 3.0, "x": 0.0}, prefer={"z": -3.0}).q
    off = system.simulate(q, until=8.0, controllers={"c": law}, save=0.05)
    assert abs(off["x"][-1] - 2.0) < 1e-3
    open_loop = servo.feedback(solution, 0.01, OUTPUTS, gains={})
    left = system.simulate(q, until=8.0, controllers={"c": open_loop}, save=0.05)
    assert np.abs(left["x"][-40:] - 2.0).max() > 1e-2


def test_held_efforts_have_an_error_of_second_order(
    crane: tuple[zw.System, Servo, ServoSolution],
) -> None:
    system, servo, solution = crane
    errors = []
    for period in (0.04, 0.02):
        law = servo.feedback(solution, period, OUTPUTS)
        run = system.simulate([0.0, 3.0, 0.0, -3.0], until=3.0, controllers={"c": law}, save=0.04)
        errors.append(np.abs(run["x"] - wanted(run.t)).max())
    assert 3.0 < errors[0] / errors[1] < 5.5


def test_given_gains(crane: tuple[zw.System, Servo, ServoSolution]) -> None:
    system, servo, solution = crane
    gains = {"s": {"s": 200.0, "s_dot": 150.0}, "l": {"l": 400.0, "l_dot": 100.0}}
    law = servo.feedback(solution, 0.01, OUTPUTS, gains=gains)
    run = system.simulate([0.0, 3.0, 0.0, -3.0], until=3.0, controllers={"c": law}, save=0.05)
    assert np.abs(run["x"] - wanted(run.t)).max() < 1e-3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"outputs": {"s": "trolley"}}, "a parameter for each actuator"),
        ({"outputs": {"s": "trolley", "l": "motor"}}, "parameter of actuator 'l'"),
        ({"outputs": {"s": "wind", "l": "winch"}}, "exerts another force"),
        ({"gains": {"s": {"phi": 1.0}}}, "quantity of the gains"),
        ({"gains": {"w": {"s": 1.0}}}, "actuator of the gains"),
        ({"state_weights": {"phi": 1.0}}, "state of the weights"),
        ({"period": 0.0}, "period"),
    ],
)
def test_bad_feedback_is_refused(
    crane: tuple[zw.System, Servo, ServoSolution], given: dict[str, Any], words: str
) -> None:
    _, servo, solution = crane
    choices: dict[str, Any] = {"period": 0.01, "outputs": OUTPUTS, **given}
    with pytest.raises(zw.ZwangError, match=words):
        servo.feedback(solution, **choices)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (1.0, "what the program leaves free has not settled at its end: "),
        (-1.0, "but it moves at t = 1"),
    ],
)
def test_an_end_that_has_not_settled_asks_for_more_rest(end: float, words: str) -> None:
    """A pole still leans where the program is at rest, which had been told as no rest at all."""
    m, r, g = 0.2, 0.25, 9.81
    pole = zw.System(
        ["x", "a"],
        parameters={"u": 0.0},
        mass=lambda q: [[1.2, m * r * np.cos(q[1])], [m * r * np.cos(q[1]), m * r**2 * 4 / 3]],
        force=lambda q, v, p: [
            m * r * np.sin(q[1]) * v[1] ** 2 + p.u,
            m * g * r * np.sin(q[1]),
        ],
    )

    def moved(t: Any) -> Any:
        s = zw.where(t < 0.0, 0.0, zw.where(t > 2.0, 2.0, t))
        return 0.5 * smooth(1.5 * s)

    servo = pole.servo({"x": moved}, ["x"], start={"x": 0.0, "a": 0.0})
    if end > 0.0:
        solution = servo.solve(np.linspace(-1.0, 2.0 + end, 81))
    else:
        solution = servo.solve(np.linspace(-1.0, 3.0, 81))
        part = slice(0, 41)
        solution = replace(
            solution,
            t=solution.t[part],
            q=solution.q[part],
            v=solution.v[part],
            acceleration=solution.acceleration[part],
            effort={name: x[part] for name, x in solution.effort.items()},
        )
    with pytest.raises(zw.ZwangError) as error:
        servo.feedback(solution, 0.01, {"x": "u"})
    assert words in str(error.value)
    assert ("Give more time of rest" in str(error.value)) == (end > 0.0)


def test_a_solution_that_begins_a_turn_away_is_followed_as_it_is() -> None:
    """A pole placed upright hangs at π, and the solution of the boundary problem begins at −π."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81), parameters={"u": 0.0})
    cart = m.body("cart", mass=1.2, inertia=0.1)
    pole = m.body("pole", inertia=zw.inertia.rod(0.3, 0.8, axis="z"), position=(0, 0.4))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("hinge", cart, pole, at=(0, 0))
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    m.output("tip", lambda c: c["rail.displacement"] + 0.8 * np.sin(c["hinge.angle"]), unit="m")
    down = m.assemble(hold={"hinge.angle": np.pi, "rail.displacement": 0.0})

    def program(t: Any) -> Any:
        u = (t - 4.0) / 3.0
        u = zw.where(u < 0.0, 0.0, zw.where(u > 1.0, 1.0, u))
        return 0.5 * smooth(3.0 * u)

    servo = m.servo(program={"tip": program}, actuators=["motor"], start=down)
    solution = servo.solve(np.arange(0.0, 10.001, 0.02))
    effort = np.abs(solution.effort["motor"]).max()
    law = servo.feedback(solution, 0.02, {"motor": "u"})
    run = m.simulate(down, until=10.0, save=0.02, controllers={"c": law})
    assert np.abs(run["motor.effort"]).max() < 1.01 * effort
    assert np.abs(run["tip"] - [float(program(t)) for t in run.t]).max() < 1e-3
