"""Mechanisms of hundreds and thousands of bodies: built, put together and moved by blocks."""

import numpy as np
import pytest
from scipy.linalg import solve_banded

import zwang as zw
from zwang import library
from zwang.equations.elements import ElementEquations

G = 9.81
#: Accelerations of a chain released from rest, relative to gravity.
ACCELERATION = 1e-9
#: Both sides of the equations of motion, element by element, relative.
BALANCE = 1e-10


def bars(n, plane=None):
    """Bars of 1 kg and 1 m on pins, in a horizontal line at rest."""
    m = zw.Mechanism(gravity=(0, 0, -G), plane=plane)
    previous = m.ground
    for i in range(n):
        made = zw.inertia.principal(1.0, (1e-4, 1 / 12, 1 / 12))
        body = m.body(f"b{i}", inertia=made, position=(i + 0.5, 0, 0))
        m.revolute(f"j{i}", previous, body, at=(i, 0, 0), axis="y")
        previous = body
    return m


def released(n):
    """Vertical accelerations of the centres of such bars, from the forces in their pins.

    Bar i is held by Y_i at its left end and pulled by −Y_{i+1} at its right one:

        a = −g + Y_i − Y_{i+1},   α = −6 (Y_i + Y_{i+1}),   a_i + α_i/2 = a_{i+1} − α_{i+1}/2

    and the first end rests, the last one is free: a tridiagonal system for Y_0 … Y_{n−1}.
    """
    lower, diagonal, upper = np.full(n, -2.0), np.full(n, -8.0), np.full(n, -2.0)
    right = np.zeros(n)
    diagonal[0], upper[0], right[0] = 4.0, 2.0, G
    Y = solve_banded((1, 1), np.array([np.roll(upper, 1), diagonal, np.roll(lower, -1)]), right)
    return -G + Y - np.append(Y[1:], 0.0)


@pytest.mark.parametrize(
    ("n", "plane"),
    [
        (300, None),
        (300, "xz"),
        pytest.param(10_000, None, marks=pytest.mark.campaign),
        pytest.param(10_000, "xz", marks=pytest.mark.campaign),
    ],
)
def test_a_chain_falls_as_the_forces_in_its_pins_say(n, plane):
    system = bars(n, plane).system
    assert isinstance(system.equations, ElementEquations)
    start = system.assemble()
    a, _ = system.equations.fast_forces(start.q[None], start.v[None], np.zeros(1), {})
    vertical = a[0].reshape(n, -1)[:, 1 if plane else 2]
    assert np.abs(vertical - released(n)).max() < ACCELERATION * G


@pytest.mark.campaign
def test_a_chain_of_10_000_moves():
    m = bars(10_000)
    run = m.simulate(until=0.02, tolerance=1e-6, save=0.01)
    assert run.finished
    assert run.worst_residual < 1e-12
    found = run.system.equations.balance(run.q[-1:], run.v[-1:], run.t[-1:], {})
    assert max(found.force.max(), found.constraint.max()) < BALANCE


@pytest.mark.parametrize("size", [5, pytest.param(32, marks=pytest.mark.campaign)])
def test_a_net_of_loops_moves(size):
    m = library.net(size, size)
    assert isinstance(m.system.equations, ElementEquations)
    run = m.simulate(until=0.05, tolerance=1e-7, save=0.025)
    assert run.finished
    assert run.worst_residual < 1e-12
    found = run.system.equations.balance(run.q[-1:], run.v[-1:], run.t[-1:], {})
    assert max(found.force.max(), found.constraint.max()) < BALANCE
    size_of_energies = np.abs(run.kinetic_energy).max() + 1.0
    assert np.ptp(run.energy) < 1e-5 * size_of_energies
