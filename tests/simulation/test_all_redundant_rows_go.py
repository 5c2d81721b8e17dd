"""No redundant row is left to act: Bennett's linkage, three of whose fifteen rows say nothing new.

No three of its rows may go everywhere. Three are chosen near the start, and others when those that
act come to depend on each other.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "coordinates"))
from overconstrained import Bennett, at_random

TIMES = np.linspace(0.0, 0.6, 4)


def some(count, seed):
    generator = np.random.default_rng(seed)
    return [
        Bennett(
            alpha=generator.uniform(0.4, 1.2),
            beta=generator.uniform(1.3, 2.2),
            angle=generator.uniform(0.7, 2.0),
            frame=at_random(generator),
        )
        for _ in range(count)
    ]


GEOMETRIES = [Bennett(), *some(3, seed=1)]
MORE = [pytest.param(x, marks=pytest.mark.campaign) for x in some(12, seed=2)]


def tips(linkage, **choices):
    run = linkage.mechanism().simulate(until=TIMES[-1], save=TIMES, **choices)
    assert run.finished, run.status
    bar = linkage.places(linkage.angle)
    end = (bar[2][1] - bar[1][1]) / 2.0  # from the centre of the second bar to the second hinge
    return run.body("bar1").point(end)


@pytest.mark.parametrize("coordinates", ["auto", "absolute"])
@pytest.mark.parametrize("integrator", ["order8", "gauss", "auto"])
@pytest.mark.parametrize("linkage", [*GEOMETRIES, *MORE], ids=lambda _: "")
def test_it_moves_as_one_freedom_does(linkage, integrator, coordinates):
    found = tips(linkage, integrator=integrator, coordinates=coordinates, tolerance=1e-10)
    np.testing.assert_allclose(found, linkage.tips(TIMES), atol=1e-8)


@pytest.mark.parametrize(
    ("integrator", "tolerance", "error"),
    [
        ("order8", 1e-9, 5e-9),
        ("order8", 1e-11, 1e-10),
        ("order8", 1e-12, 3e-11),
        ("order8", 1e-13, 3e-11),
        ("gauss", 1e-13, 3e-11),
    ],
)
def test_the_error_follows_the_tolerance_in_absolute_coordinates(integrator, tolerance, error):
    """Down to what closing the loop and the reference leave."""
    linkage = Bennett()
    best = tips(linkage, coordinates="joint", tolerance=1e-13)
    found = tips(linkage, coordinates="absolute", integrator=integrator, tolerance=tolerance)
    np.testing.assert_allclose(found, best, atol=error)


def test_rows_are_chosen_again_where_those_that_act_lose_rank():
    """Which rows are chosen first, and so when others must act, differs between processors."""
    run = (
        Bennett().mechanism().simulate(until=4.0, save=0.5, tolerance=1e-10, coordinates="absolute")
    )
    assert run.finished, run.status
    assert any("had to act in place of others" in note for note in run.notes)
