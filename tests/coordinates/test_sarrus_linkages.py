"""Rows that vanish on all configurations of a loop, and on none beside them, hold nothing.

In Sarrus's linkage the platform cannot turn, whatever the rows against its turning say: they are
zero there, and what rounding leaves of them is no constraint.
"""

import numpy as np
import pytest
from overconstrained import Sarrus, at_random

TIMES = np.linspace(0.0, 0.3, 4)
#: Of heights at a tolerance of 1e-10 [m].
ERROR = 1e-8


def some(count, seed):
    """Linkages by chance; of every other the axes are those of the world."""
    generator = np.random.default_rng(seed)
    found = []
    for k in range(count):
        first = generator.uniform(0.0, 6.0)
        spread = generator.uniform(1.2, 1.9)
        chains = 2 + k % 2
        found.append(
            Sarrus(
                length=generator.uniform(0.3, 1.2),
                angle=generator.uniform(0.7, 1.2),
                radius=generator.uniform(0.2, 0.8),
                directions=tuple(first + spread * i for i in range(chains)),
                frame=at_random(generator) if k % 4 > 1 else None,
            )
        )
    return found


GEOMETRIES = [Sarrus(), *some(4, seed=1)]
MORE = [pytest.param(x, marks=pytest.mark.campaign) for x in some(12, seed=2)]


def rise(linkage, **choices):
    run = linkage.mechanism().simulate(until=0.3, save=TIMES, tolerance=1e-10, **choices)
    assert run.finished, run.status
    up = np.array([0.0, 0.0, 1.0]) if linkage.frame is None else linkage.frame[:, 2]
    return run.body("top").position @ up, run


@pytest.mark.parametrize("integrator", ["order8", "gauss", "auto"])
@pytest.mark.parametrize("linkage", [*GEOMETRIES, *MORE], ids=lambda _: "")
def test_the_platform_falls_as_one_freedom_does(linkage, integrator):
    found, run = rise(linkage, integrator=integrator)
    np.testing.assert_allclose(found, linkage.height(TIMES), atol=ERROR)
    assert any("joint coordinates" in note for note in run.notes)


@pytest.mark.parametrize("linkage", [GEOMETRIES[0], *MORE[:4]], ids=lambda _: "")
def test_absolute_coordinates_agree(linkage):
    found, _ = rise(linkage, coordinates="absolute")
    np.testing.assert_allclose(found, linkage.height(TIMES), atol=ERROR)


def test_many_starts_at_once_are_judged_alike():
    m = GEOMETRIES[0].mechanism()
    start = m.assemble()
    runs = m.simulate_many([start] * 3, until=0.3, save=TIMES, tolerance=1e-10)
    for run in runs:
        height = run.body("top").position[:, 2]
        np.testing.assert_allclose(height, GEOMETRIES[0].height(TIMES), atol=ERROR)
