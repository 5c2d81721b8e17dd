"""Energies and the ledger of work by compiled kernels, beside closed forms and the full terms."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.results.energies import powers, reference_powers
from zwang.results.quadrature import Antiderivative

#: Sums of the same numbers in another order.
ROUNDING = 1e-13


@pytest.mark.parametrize("name", ["four_bar", "bricard", "door", "spinning_top", "ball_governor"])
def test_energies_are_those_of_the_terms(name: str) -> None:
    run = getattr(library, name)().simulate(until=0.2, tolerance=1e-7, save=0.01)
    M = run.system.terms(run.q, run.v, run.t).mass_matrix
    T = 0.5 * np.einsum("ti,tij,tj->t", run.v, M, run.v)
    _, V = run.system.energy(run.q, run.v, run.t)
    size = np.abs(T).max() + np.abs(V).max()
    assert np.abs(run.kinetic_energy - T).max() <= ROUNDING * size
    assert np.abs(run.potential_energy - V).max() <= ROUNDING * size


def _driven() -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    arm = m.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0), axis="y")
    m.drive("motor", "pin.angle", lambda t: 0.5 * np.sin(3.0 * t))
    return m


def test_work_of_a_driver_is_the_change_of_energy() -> None:
    """All that changes the energy of an arm on a motor is the motor."""
    m = _driven()
    run = m.simulate(until=2.0, tolerance=1e-9, save=0.02)
    gained = run.energy - run.energy[0]
    by_gravity = run.potential_energy[0] - run.potential_energy
    assert np.abs(gained).max() > 1.0
    assert np.allclose(run.work.constraint, gained, rtol=0.0, atol=1e-8)
    assert np.allclose(run.work.applied, by_gravity, rtol=0.0, atol=1e-8)
    assert np.abs(run.work.balance).max() < 1e-8


def test_work_of_friction_is_force_times_way() -> None:
    """A block on a slope: 0.2 of the pressure, along the way."""
    slope = np.arctan(0.8)
    system = zw.System(
        ["x", "y"],
        mass=np.eye(2),
        force=[0.0, -9.81],
        potential=None,
        constraints={"slope": zw.position(lambda q: q[1] + 0.8 * q[0])},
        nonideal={
            "slope": lambda v, reaction: -0.2 * np.sqrt(reaction @ reaction) * v / np.sqrt(v @ v)
        },
    )
    run = system.simulate([0.0, 0.0], [1.0, -0.8], until=0.5, tolerance=1e-9, save=0.01)
    way = np.hypot(run["x"], run["y"])
    pressed = 9.81 * np.cos(slope)
    assert np.allclose(run.work.nonideal, -0.2 * pressed * way, rtol=0.0, atol=1e-8)
    assert np.allclose(run.work.applied, -9.81 * run["y"], rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("name", ["four_bar", "rolling_coin", "stewart_platform"])
def test_powers_are_those_of_the_full_terms(name: str) -> None:
    run = getattr(library, name)().simulate(until=0.3, tolerance=1e-7, save=0.02)
    states = run.q, run.v, run.t
    found = powers(run.system, states, run.parameters)
    wanted = reference_powers(run.system, states, run.parameters)
    size = sum(np.abs(x).max() for x in wanted.values())
    for kind, value in wanted.items():
        assert np.abs(found[kind] - value).max() <= 1e-11 * size, kind


def test_few_saved_states_have_the_same_ledger_as_many() -> None:
    m = library.four_bar()
    start = m.system.assemble()
    many = m.system.simulate(start, until=2.0, tolerance=1e-9, save=0.01)
    few = m.system.simulate(start, until=2.0, tolerance=1e-9, save=0.5)
    assert np.allclose(few.work.applied, many.work.applied[::50], rtol=0.0, atol=1e-8)


def test_integrals_of_functions_in_closed_form() -> None:
    t = np.linspace(0.0, 3.0, 41)
    edges = np.linspace(0.0, 3.0, 13)
    both = Antiderivative(lambda x: np.array([np.cos(x), np.exp(-x)]), edges, 1e-10, 1.0)
    assert np.allclose(both(t), [np.sin(t), 1.0 - np.exp(-t)], rtol=0.0, atol=1e-12)


def test_pieces_are_divided_where_a_function_needs_it() -> None:
    """A narrow bump, which pieces of the first length do not see well."""
    calls = []

    def bump(x: np.ndarray) -> np.ndarray:
        calls.append(len(x))
        return 1.0 / (1e-4 + (x - 1.2345) ** 2)[None]

    found = Antiderivative(bump, np.linspace(0.0, 3.0, 7), 1e-10, 0.0)
    t = np.linspace(0.0, 3.0, 31)
    wanted = 100.0 * (np.arctan(100.0 * (t - 1.2345)) + np.arctan(123.45))
    assert len(calls) > 1
    assert np.allclose(found(t)[0], wanted, rtol=1e-8, atol=0.0)


@pytest.mark.parametrize("begin", [0.0, 1e6])
def test_a_jump_is_found_to_within_a_millionth_of_a_piece(begin):
    """A force that sets in at once, as that of a damper at a stop."""
    at = begin + 1.2345678
    edges = begin + np.linspace(0.0, 3.0, 7)
    found = Antiderivative(lambda x: np.where(x < at, 0.0, 3.0)[None], edges, 1e-10, 0.0)
    end = found(edges[-1:])[0, 0]
    assert end == pytest.approx(3.0 * (edges[-1] - at), abs=max(1e-7, 1e-11 * begin))


def test_the_balance_closes_where_a_damper_jumps():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    load = m.body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1.0))
    m.prismatic("guide", m.ground, load, at=(0, 0, 0), axis="z")
    stop = m.ground.marker((0, 0, 0))
    m.spring_damper(
        "stop",
        m.ground,
        load,
        at=(stop, load.marker((0, 0, 0))),
        force=lambda length, rate: -zw.where(length < 0.5, 50.0 * (0.5 - length) - 9.0 * rate, 0.0),
    )
    run = m.simulate(until=1.0, save=0.02, tolerance=1e-9)
    assert np.abs(run.work.balance).max() < 1e-4


def test_work_prints_what_was_done_and_how_far_it_is_off():
    """A weight of 2 kg is lifted by 1 m at an even pace: its drive does m g h."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    load = m.body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 0, 1))
    m.prismatic("lift", m.ground, load, at=(0, 0, 0), axis="z")
    m.drive("winch", "lift.displacement", lambda t: 1.0 * t)
    run = m.simulate(until=1.0, save=0.1)
    said = str(run.work)
    assert "to the last of 11 states: -19.62 J by applied forces, 19.62 J by constraints" in said
    assert said.endswith(f"balance within {np.abs(run.work.balance).max():.2g} J")
    assert "array of shape" not in repr(run.work)
    assert "impulses" not in said


def test_works_of_impacts_that_accumulate():
    """Between the last of them no time passes, and no work is done."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.torsion_spring("spring", m.ground, rod, at=(0, 0), stiffness=1.0, damping=0.05)
    bounces = {"bounce": zw.event("pin.angle", zw.bounce(0.6), at=1.0)}
    run = m.simulate(until=4.0, events=bounces)
    assert any(s.last - s.first > 1 and np.ptp(run.t[s.first : s.last]) == 0 for s in run.segments)
    assert np.abs(run.work.balance).max() < 1e-6 * run.kinetic_energy.max()
    assert run.work.impulses[-1] < 0.0


def test_the_integral_over_no_time_is_zero():
    whole = Antiderivative(lambda t: np.array([np.cos(t), 1.0 + t]), np.array([2.0]), 1e-9, 1.0)
    assert np.array_equal(whole(np.array([2.0, 2.0])), np.zeros((2, 2)))
