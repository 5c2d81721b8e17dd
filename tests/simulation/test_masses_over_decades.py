"""Whether rows depend on each other has nothing to do with masses, however far they lie apart."""

import numpy as np
import pytest

import zwang as zw


def ring(count, decades, seed):
    """Bars hinged to each other about axes by chance, in a ring that hangs on a ball."""
    generator = np.random.default_rng(seed)
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    angles = 2.0 * np.pi * np.arange(count) / count
    heights = 0.3 * generator.standard_normal(count)
    corners = np.column_stack([np.cos(angles), np.sin(angles), heights])
    bars = []
    for k in range(count):
        a, b = corners[k], corners[(k + 1) % count]
        mass = 10.0 ** generator.uniform(-decades / 2, decades / 2)
        made = zw.inertia.cylinder(mass, 0.05, float(np.linalg.norm(b - a)), axis=b - a)
        bars.append(m.body(f"bar{k}", inertia=made, position=(a + b) / 2.0))
    m.spherical("ball", m.ground, bars[0], at=corners[0])
    for k in range(count):
        axis = generator.standard_normal(3)
        m.revolute(f"hinge{k}", bars[k - 1], bars[k], at=corners[k], axis=axis)
    return m


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(k, marks=pytest.mark.campaign) for k in (3, 4, 5, 6))]
)
def test_no_independent_row_of_a_ring_of_sixteen_is_left_out(seed):
    m = ring(16, 8.0, seed)
    h = 1e-6
    run = m.simulate(until=h, coordinates="absolute", tolerance=1e-10)
    assert run.finished, run.status
    assert not any("left out" in note for note in run.notes)
    found, expected = (run.v[-1] - run.v[0]) / h, m.solve().acceleration
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_redundant_rows_are_told_whatever_the_masses():
    """Twelve parallelograms in a row, built in space: 36 equations follow from the others."""
    m = zw.library.four_bars(12, planar=False)
    generator = np.random.default_rng(0)
    masses = {
        name: float(value) * 10.0 ** generator.uniform(-3.0, 3.0)
        for name, value in m.system.parameters.items()
        if name.endswith(".mass")
    }
    run = m.simulate(until=1e-3, coordinates="absolute", parameters=masses)
    assert run.finished, run.status
    assert any("36 of 185 constraint rows follow" in note for note in run.notes)
