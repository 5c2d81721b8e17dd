"""``np.interp`` of symbols against NumPy's own, and a mechanism under a table of torques."""

import numpy as np
import pytest

import zwang as zw

#: Ramps are sums of as many terms as the table has points, each rounded.
ROUNDING = 1e-13


def _acceleration(force, x):
    system = zw.System(["x"], mass=lambda: [[1.0]], force=lambda q: [force(q[0])])
    return system.solve(q=np.reshape(x, (-1, 1))).acceleration.ravel()


@pytest.mark.parametrize("ends", [{}, {"left": -3.0, "right": 7.0}])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_interp_of_a_symbol_is_that_of_numpy(ends, count):
    rng = np.random.default_rng(3)
    points, values = np.sort(rng.normal(size=count)), rng.normal(size=count)
    x = np.concatenate([points, np.linspace(-4.0, 4.0, 57), [1e6, -1e6]])
    found = _acceleration(lambda q: np.interp(q, points, values, **ends), x)
    np.testing.assert_allclose(found, np.interp(x, points, values, **ends), atol=ROUNDING)


def test_interp_of_several_symbols_and_of_values_that_are_parameters():
    points = np.array([0.0, 1.0, 3.0])
    system = zw.System(
        ["x", "y"],
        parameters={"table": np.array([1.0, 2.0, -1.0])},
        mass=np.eye(2),
        force=lambda q, p: np.interp(q, points, p.table),
    )
    found = system.solve(q=[0.5, 2.5]).acceleration
    np.testing.assert_allclose(found, [1.5, -0.25], atol=ROUNDING)
    other = system.solve(q=[0.5, 2.5], parameters={"table": [0.0, 4.0, 0.0]}).acceleration
    np.testing.assert_allclose(other, [2.0, 1.0], atol=ROUNDING)


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda q: np.interp(q, [0.0, 1.0], [0.0, 1.0], period=2.0), "remainder"),
        (lambda q: np.interp(q, [1.0, 0.0], [0.0, 1.0]), "increase"),
        (lambda q: np.interp(q, [0.0, 1.0], [0.0, 1.0, 2.0]), "as many values as points"),
        (lambda q: np.interp(0.5, [0.0, q], [0.0, 1.0]), "must be numbers"),
    ],
)
def test_tables_that_cannot_be_traced_say_why(force, message):
    with pytest.raises(zw.TraceError, match=message):
        _acceleration(force, [0.0])


def test_a_motor_follows_a_table_of_torques():
    """A flywheel under torques by a table: rate and angle are its integrals, at the points exact.

    Steps end at the points of the table, between which the torque is linear.
    """
    times, torques = np.array([0.0, 0.4, 0.5, 0.501, 1.2]), np.array([0.0, 3.0, -1.0, 8.0, 2.0])
    inertia = 0.25
    m = zw.Mechanism(plane="xz")
    wheel = m.body("wheel", mass=1.0, inertia=inertia)
    m.revolute("axle", m.ground, wheel, at=(0, 0))
    m.actuator("motor", "axle.angle", lambda t: np.interp(t, times, torques))
    run = m.simulate(until=1.5, save=times)
    steps = np.diff(times)
    impulses = np.cumsum(0.5 * (torques[1:] + torques[:-1]) * steps)
    np.testing.assert_allclose(run["motor.torque"], torques, atol=ROUNDING)
    np.testing.assert_allclose(run["axle.angle_rate"][1:], impulses / inertia, rtol=1e-12)
    assert not any("switch" in note for note in run.notes)
