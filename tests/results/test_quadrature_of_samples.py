"""Integrals of what is known at saved times, and work that has a potential."""

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.results import energy_ledger
from zwang.results.quadrature import integrals_of_samples

#: What is asked for in a run at 1e-9.
ERROR = 1e-8


def up_to_each(steps):
    return np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)


def sampled(t):
    f = np.array([np.cos(7.0 * t), np.exp(-t), 0.0 * t])
    exact = np.array([np.sin(7.0 * t) / 7.0, 1.0 - np.exp(-t), 0.0 * t])
    return f, exact - exact[:, :1]


def test_even_times():
    f, exact = sampled(t := np.linspace(0.3, 2.0, 120))
    found = integrals_of_samples(t, f, ERROR, 0.0)
    assert found is not None
    assert found[1] == slice(0, 0)
    assert np.abs(up_to_each(found[0]) - exact).max() < 1e-10


def test_even_times_between_events():
    """The first and the last interval are shorter than the others."""
    t = np.concatenate([[0.31234], np.arange(0.32, 1.995, 0.01), [1.9961]])
    f, exact = sampled(t)
    found = integrals_of_samples(t, f, ERROR, 0.0)
    assert found is not None
    assert found[1] == slice(0, 0)
    assert np.abs(up_to_each(found[0]) - exact).max() < 1e-10


def test_a_time_out_of_step():
    """As that of an event among saved times: windows with it have weights of their own."""
    even = np.arange(0.3, 2.0, 0.01)
    t = np.sort(np.append(even, 1.1234))
    f, exact = sampled(t)
    found = integrals_of_samples(t, f, ERROR, 0.0)
    assert found is not None
    assert found[1] == slice(0, 0)
    assert np.abs(up_to_each(found[0]) - exact).max() < 1e-10


@pytest.mark.parametrize(
    "t",
    [
        np.linspace(0.0, 2.0, 12),  # few
        np.sort(np.random.default_rng(1).uniform(0.0, 2.0, 400)),  # uneven
        np.concatenate([np.linspace(0.0, 1.0, 100), np.linspace(1.0, 2.0, 100)]),  # a time twice
    ],
)
def test_times_that_do_not_serve(t):
    assert integrals_of_samples(t, sampled(t)[0], ERROR, 0.0) is None


@pytest.mark.parametrize("jump", [1e-3, 1.0])
def test_where_it_is_not_smooth_is_known(jump):
    """Intervals whose windows have a jump in them; all others are integrated."""
    t = np.linspace(0.0, 2.0, 500)
    f, exact = sampled(t)
    f[0, 250:] += jump
    found = integrals_of_samples(t, f, ERROR, 0.0)
    assert found is not None
    steps, rough = found
    assert rough.start <= 249 < rough.stop
    assert rough.stop - rough.start < 12
    before = steps[:, : rough.start] - np.diff(exact)[:, : rough.start]
    assert np.abs(before).max() < 1e-11


def test_what_is_nowhere_smooth_is_refused():
    t = np.linspace(0.0, 2.0, 500)
    assert integrals_of_samples(t, np.cos(300.0 * t)[None], ERROR, 0.0) is None


def test_work_of_weight_is_the_decrease_of_its_potential():
    run = library.four_bar().simulate(until=1.0, save=0.05)
    fall = run.potential_energy[0] - run.potential_energy
    assert np.array_equal(run.work.applied, fall)
    assert np.abs(run.work.balance).max() < 1e-7 * np.abs(run.kinetic_energy).max()


def damped(**choices):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", mass=1.0, inertia=(0.01, 0.2, 0.2), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.torsion_spring("spring", m.ground, rod, at=(0, 0, 0), axis="y", **choices)
    return m


@pytest.mark.parametrize("forces", [False, True])
def test_work_from_saved_states_is_that_from_nodes_between(monkeypatch, forces):
    """Damping takes what the energy loses, by either rule."""
    run = damped(stiffness=3.0, damping=0.4).simulate(until=2.0, save=0.01, forces=forces)
    work = run.work.applied
    monkeypatch.setattr(energy_ledger, "integrals_of_samples", lambda *_: None)
    again = damped(stiffness=3.0, damping=0.4).simulate(until=2.0, save=0.01).work.applied
    size = np.abs(work).max()
    assert np.abs(work - again).max() < 1e-8 * size
    assert np.abs(run.work.balance).max() < 1e-7 * size
    lost = run.energy - run.energy[0]
    assert lost[-1] < -0.1


def test_a_change_of_method_is_no_change_of_motion(monkeypatch):
    """A governor that begins with a jolt: states between are asked for there alone."""
    run = library.ball_governor().simulate(until=1.0, tolerance=1e-8, save=0.002)
    assert len({s.integrator for s in run.segments}) == 2
    asked = []

    def between(known, times):
        asked.append(times)
        return between_states(known, times)

    between_states = run.between
    watched = energy_ledger.changed(run, between=between)
    work = watched.work
    assert 0 < sum(len(times) for times in asked) < 500
    assert max(times.max() for times in asked) < 0.05
    monkeypatch.setattr(energy_ledger, "integrals_of_samples", lambda *_: None)
    by_nodes = energy_ledger.changed(run).work
    size = np.abs(run.energy).max()
    assert np.abs(work.applied - by_nodes.applied).max() < 1e-9 * size
    assert np.abs(work.balance).max() < 1e-8 * size
