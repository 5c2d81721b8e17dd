"""Measured order of the integrators with error control, at fixed steps, against closed forms.

Each motion is known by other means: elliptic functions, elementary functions. Errors are taken at
steps h and h/2 so short that the leading term of the error decides, and so long that rounding does
not.
"""

import mpmath
import numpy as np
import pytest

import zwang as zw

G = 9.81
#: How far a measured order may be from the method's.
MISS = 0.2
#: With a fixed step the tolerance only says how well implicit stages are solved.
SOLVED = 1e-13

UNTIL = 2.0
TIMES = np.linspace(0.4, UNTIL, 5)

SLOPE, TURN, SPEED = 4.0, 1.3, -1.5  # down the plane, of the turning skate, along it at first


def elliptic_angle(t, amplitude):
    """Angle of a pendulum of length 1 released at rest, by Jacobi's elliptic functions."""
    k = mpmath.sin(mpmath.mpf(amplitude) / 2)
    phase = mpmath.ellipk(k**2) - mpmath.sqrt(mpmath.mpf(G)) * mpmath.mpf(t)
    return float(2 * mpmath.asin(k * mpmath.ellipfun("sn", phase, m=k**2)))


def pendulum_angle():
    system = zw.System(["a"], mass=lambda: [[1.0]], force=lambda q: [-G * np.sin(q[0])])
    return system, ([2.0], [0.0]), lambda t: [elliptic_angle(t, 2.0)]


def pendulum_rod():
    system = zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -G],
        constraints={"rod": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
    )

    def place(t):
        a = elliptic_angle(t, 2.0)
        return [np.sin(a), -np.cos(a)]

    return system, (place(0.0), [0.0, 0.0]), place


def circle():
    """A position constraint: a bead that no force drives goes round steadily."""
    system = zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"circle": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 1.0)},
    )
    return system, ([1.0, 0.0], [0.0, 2.0]), lambda t: [np.cos(2.0 * t), np.sin(2.0 * t)]


def turning_tube():
    """A moving constraint: in a tube that turns once in 2π s the distance is cosh t + ½ sinh t."""
    system = zw.System(
        ["x", "y"],
        mass=lambda: np.eye(2),
        constraints={"tube": zw.position(lambda q, t: q[0] * np.sin(t) - q[1] * np.cos(t))},
    )

    def place(t):
        distance = np.cosh(t) + 0.5 * np.sinh(t)
        return [distance * np.cos(t), distance * np.sin(t)]

    return system, ([1.0, 0.0], [0.5, 1.0]), place


def skate_place(t):
    """A skate on an inclined plane that turns steadily: part of a circle and a cycloid."""
    radius, turned = SLOPE / (2.0 * TURN**2), TURN * t
    x = SPEED / TURN * np.sin(turned) + radius * np.sin(turned) ** 2
    y = SPEED / TURN * (1.0 - np.cos(turned)) + radius * (turned - 0.5 * np.sin(2.0 * turned))
    return [x, y, turned]


def skate():
    """A velocity constraint: the skate does not slip sideways."""
    system = zw.System(
        ["x", "y", "turned"],
        mass=lambda: np.diag([1.0, 1.0, 0.3]),
        force=lambda: [SLOPE, 0.0, 0.0],
        constraints={
            "edge": zw.velocity(lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2])),
        },
    )
    return system, ([0.0, 0.0, 0.0], [SPEED, 0.0, TURN]), skate_place


def skate_in_its_own_velocities():
    """The same in quasi-velocities (speed along the edge, rate of turning)."""
    system = zw.System(
        ["x", "y", "turned"],
        velocities=["u", "w"],
        kinematics=(lambda q: [[np.cos(q[2]), 0], [np.sin(q[2]), 0], [0, 1]], None),
        mass=lambda: np.diag([1.0, 0.3]),
        force=lambda q: [SLOPE * np.cos(q[2]), 0.0],
    )
    return system, ([0.0, 0.0, 0.0], [SPEED, TURN]), skate_place


#: Motion → the longer of the two steps for order 5, order 8 and Radau.
MOTIONS = {
    circle: (0.025, 0.2, 0.1),
    turning_tube: (0.05, 0.2, 0.05),
    skate: (0.05, 0.2, 0.1),
    skate_in_its_own_velocities: (0.1, 0.4, 0.1),
}
ORDERS = {"order5": 5, "order8": 8, "radau5": 5}


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("motion", MOTIONS)
def test_order(motion, method):
    system, start, place = motion()
    step = MOTIONS[motion][list(ORDERS).index(method)]
    errors = []
    for h in (step, step / 2):
        run = system.simulate(*start, until=UNTIL, step=h, tolerance=SOLVED, integrator=method)
        assert run.finished
        assert len(run) == round(UNTIL / h) + 1
        every = round(TIMES[0] / h)
        errors.append(np.linalg.norm(run.q[every::every] - [place(t) for t in TIMES]))
    assert abs(np.log2(errors[0] / errors[1]) - ORDERS[method]) < MISS, errors


@pytest.mark.parametrize("motion", [pendulum_angle, pendulum_rod])
def test_states_within_implicit_steps_lose_one_order_in_a_step_and_none_over_many(motion):
    system, start, place = motion()
    times = np.linspace(0.0, UNTIL, 18)[1:-1]  # nowhere near the ends of steps
    errors = []
    for h in (0.02, 0.01):
        run = system.simulate(
            *start, until=UNTIL, step=h, tolerance=SOLVED, integrator="radau5", save=times
        )
        errors.append(np.abs(run.q - [place(t) for t in times]).max())
    assert np.log2(errors[0] / errors[1]) > 5 - MISS, errors


@pytest.mark.parametrize("save", [None, 0.013])
@pytest.mark.parametrize("motion", [pendulum_angle, pendulum_rod, skate])
def test_error_of_the_implicit_method_is_proportional_to_the_tolerance(motion, save):
    system, start, place = motion()
    tolerances = np.array([1e-5, 1e-7, 1e-9])
    errors = []
    for tolerance in tolerances:
        run = system.simulate(
            *start, until=UNTIL, tolerance=tolerance, integrator="radau5", save=save
        )
        some = slice(1, None, max(len(run) // 20, 1))
        errors.append(np.abs(run.q[some] - [place(t) for t in run.t[some]]).max())
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.85 < slope < 1.25
    assert np.all(np.array(errors) < 10.0 * tolerances)  # a few local errors add up
