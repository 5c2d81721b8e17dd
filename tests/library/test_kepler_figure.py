"""Fig. 1 of Udwadia & Kalaba: the ellipse and equal areas in equal times, from a run."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import zwang as zw
from zwang import library
from zwang.library.kepler_figure import kepler_figure, swept_area, swept_sector

EPSILON, P, C = 0.5, 1.2, 0.9
AXIS = P / (1 - EPSILON**2)  # half the long axis; the short one is AXIS √(1 − ε²)
AREA = np.pi * AXIS**2 * np.sqrt(1 - EPSILON**2)
PERIOD = 2 * AREA / C
#: The arc is drawn by 400 chords.
CHORDS = 1e-4


@pytest.fixture(scope="module")
def run():
    planet = library.kepler_laws(epsilon=EPSILON, p=P, c=C)
    far = AXIS * (1 + EPSILON)
    return planet.simulate([far, 0.0], [0.0, C / far], until=PERIOD)


@pytest.mark.inventory("UK-27")
def test_equal_areas_in_equal_times(run):
    for start in (0.0, 0.31, 0.52):
        area = swept_area(run, start * PERIOD, (start + 0.1) * PERIOD)
        assert area == pytest.approx(0.5 * C * 0.1 * PERIOD, rel=CHORDS)
    assert swept_area(run, 0.0, PERIOD) == pytest.approx(AREA, rel=CHORDS)


@pytest.mark.inventory("UK-27")
def test_the_picture_shows_ellipse_focus_and_sectors(run):
    figure = kepler_figure(run, [(0.0, 0.1 * PERIOD), (0.5 * PERIOD, 0.6 * PERIOD)])
    (ax,) = figure.axes
    x, y = ax.lines[0].get_data()
    # r = εx + p, with one focus at the origin and the other at 2εa
    assert np.hypot(x, y) == pytest.approx(EPSILON * x + P, abs=1e-8)
    assert np.hypot(x, y) + np.hypot(x - 2 * EPSILON * AXIS, y) == pytest.approx(2 * AXIS)
    assert np.ptp(x) == pytest.approx(2 * AXIS, rel=CHORDS)
    assert np.ravel(ax.lines[1].get_data()).tolist() == [0.0, 0.0]
    for sector, start in zip(ax.patches, (0.0, 0.5), strict=True):
        drawn = sector.get_xy()
        expected = swept_sector(run, start * PERIOD, (start + 0.1) * PERIOD)
        assert drawn[: len(expected)] == pytest.approx(expected)
        assert drawn[0] == pytest.approx([0.0, 0.0])
        assert drawn[1] == pytest.approx(run.at(start * PERIOD).q, abs=1e-9)
    assert [float(t.get_text()) for t in ax.texts] == pytest.approx(
        [0.05 * C * PERIOD] * 2, rel=1e-3
    )
    mpl.pyplot.close(figure)


def test_a_sector_needs_a_later_end(run):
    with pytest.raises(
        zw.InputError, match="sector must end after it starts, but goes from 2 to 1"
    ):
        swept_area(run, 2.0, 1.0)
