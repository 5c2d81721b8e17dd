"""The report of a study in a real browser, opened from disk, on a desktop and a phone."""

from io import BytesIO

import numpy as np
import pytest
from axe import axe_source, findings
from chromium import SCREENS, wait

import zwang as zw

Image = pytest.importorskip("PIL.Image")
LOOKS = [(screen, dark) for screen in SCREENS for dark in (False, True)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    arm = m.body("arm", inertia=zw.inertia.rod(1.0, 0.5), position=(0.25, 0, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0))
    plan = {
        "grid": {"arm.mass": [0.5, 1.0, 2.0], "gravity[2]": [-9.81, -5.0]},
        "until": 0.1,
        "outputs": ["load = peak(pin.force.magnitude)"],
    }
    study = zw.study(m, plan, output=folder / "arm.zarr")
    return study.run(progress=False).report(folder / "arm.html")


@pytest.fixture
def opened(browser, path):
    def show(screen, dark):
        browser.screen(screen, dark=dark)
        browser.open(path.as_uri())
        wait(lambda: browser.evaluate("charts.every((chart) => chart.ticks)"), "charts")
        return browser

    yield show
    browser.usual_screen()


def pixels(browser):
    return np.asarray(Image.open(BytesIO(browser.picture())).convert("RGB"), dtype=int)


@pytest.mark.parametrize(("screen", "dark"), LOOKS)
def test_it_fits_and_marks_a_run_that_is_clicked(opened, screen, dark):
    page = opened(screen, dark)
    page.evaluate("document.querySelector('canvas').scrollIntoView()")
    before = pixels(page)
    page.evaluate(
        "(() => { const [x, y] = charts[0].at(4), c = charts[0].canvas,"
        "b = c.getBoundingClientRect();"
        "c.dispatchEvent(new MouseEvent('click', {clientX: b.left + x, clientY: b.top + y})); })()"
    )
    assert page.evaluate("document.querySelector('#run h3').textContent") == "Run 4: finished"
    assert (np.abs(pixels(page) - before).max(axis=2) > 40).sum() > 50, "no mark"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not page.errors
    assert not page.asked


def test_its_axes_have_round_numbers_and_no_point_lies_on_the_frame(opened):
    page = opened("desktop", dark=False)
    across, up = page.evaluate("charts[0].ticks.map((t) => t.map((x) => Number(x.toPrecision(9))))")
    assert across == pytest.approx(np.arange(0.5, 2.01, across[1] - across[0]))
    assert len(across) > 3
    assert len(up) > 3
    frame = page.evaluate("[charts[0].canvas.clientWidth, charts[0].canvas.clientHeight]")
    places = np.array(page.evaluate("D.run.map((_, i) => charts[0].at(i))"))
    assert np.all(places > [64 + 5, 14 + 5])
    assert np.all(places < np.subtract(frame, [16 + 5, 44 + 5]))


def test_without_failures_both_charts_have_an_output(opened):
    page = opened("desktop", dark=False)
    shown = page.evaluate("charts.map((c) => [c.y.value, c.x.value])")
    assert shown == [["load", "arm.mass"], ["load", "gravity[2]"]]


@pytest.mark.parametrize("dark", [False, True])
def test_no_serious_finding_of_axe(opened, dark):
    source = axe_source()
    page = opened("phone", dark)
    page.evaluate("choose(2)")
    assert findings(page, source) == []


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Three lengths, of which one is refused, and an output over time."""
    folder = tmp_path_factory.mktemp("refused")
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    arm = m.body("arm", inertia=zw.inertia.rod(1.0, 0.5), position=(0.25, 0, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0, 0))
    plan = {
        "grid": {"arm.mass": [-1.0, 1.0, 2.0]},
        "until": 0.1,
        "times": 3,
        "outputs": ["pin.angle"],
    }
    study = zw.study(m, plan, output=folder / "arm.zarr").run(progress=False)
    assert study.counts()["refused"] == 1
    return study.report(folder / "arm.html")


@pytest.mark.parametrize("dark", [False, True])
def test_a_refused_run_is_a_red_mark_on_the_lower_frame(browser, refused, dark):
    browser.screen("phone", dark=dark)
    browser.open(refused.as_uri())
    wait(lambda: browser.evaluate("charts.every((chart) => chart.ticks)"), "charts")
    x, y, high = browser.evaluate("[...charts[0].at(0), charts[0].canvas.clientHeight]")
    assert y == high - 44
    color = browser.evaluate(
        "(() => { const c = charts[0].canvas, r = devicePixelRatio;"
        f"return [...c.getContext('2d').getImageData({x} * r, ({y} - 5) * r, 1, 1).data]; }})()"
    )
    assert color[0] > color[1] + 60  # red
    browser.evaluate(
        "(() => { const [x, y] = charts[0].at(0), c = charts[0].canvas,"
        "b = c.getBoundingClientRect();"
        "c.dispatchEvent(new MouseEvent('click', {clientX: b.left + x, clientY: b.top + y})); })()"
    )
    assert browser.evaluate("document.querySelector('#run h3').textContent") == "Run 0: refused"
    assert "mass" in browser.evaluate("document.querySelector('#run .bad').textContent")
    said = browser.evaluate("charts[0].canvas.ariaLabel")
    assert said.startswith("pin.angle at the end [rad] over arm.mass")
    fits = browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    browser.usual_screen()
    assert fits
    assert not browser.errors
    assert not browser.asked
