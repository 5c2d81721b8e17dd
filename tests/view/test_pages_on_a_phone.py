"""Scenes and reports on a phone: they fit, their pixels move, and they ask for nothing."""

from io import BytesIO

import numpy as np
import pytest
from chromium import wait
from shown_run import pendulum_run

import zwang as zw
from zwang.model_files.examples import example_path

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    run = pendulum_run()
    crank = zw.read_model(example_path("slider_crank")).simulate(until=0.5)
    return {
        "scene": run.show().save(folder / "scene.html"),
        "pair": run.show(run, title="Two").save(folder / "pair.html"),
        "report": crank.report(folder / "report.html"),
    }


def pixels(browser):
    return np.asarray(Image.open(BytesIO(browser.picture())).convert("RGB"), dtype=int)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["scene", "pair", "report"])
def test_the_picture_moves_and_the_page_fits(browser, pages, name, dark):
    browser.screen("phone", dark=dark)
    browser.open(pages[name].as_uri())
    wait(lambda: browser.evaluate("document.documentElement.dataset.ready") == "yes", "scene")
    before = pixels(browser)
    top, bottom = browser.evaluate(
        "(() => { const c = document.querySelector('canvas').getBoundingClientRect(),"
        "r = devicePixelRatio; return [c.top * r, c.bottom * r]; })()"
    )
    moved = slice(int(top) + 2, int(bottom) - 60)
    browser.evaluate("document.querySelector('button.play').click()")
    wait(lambda: browser.evaluate("Player.state.t") > 0.2, "motion")
    browser.evaluate("document.querySelector('button.play').click()")
    change = np.abs(pixels(browser) - before).max(axis=2)[moved] > 40
    fits = browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    heading = browser.evaluate("document.querySelector('h1').textContent.trim()")
    corner = before[int(top) + 6, 20]
    browser.usual_screen()
    assert change.sum() > 500, "the picture does not move"
    assert fits
    assert heading
    assert (corner.max() < 90) == dark
    assert not browser.errors
    assert not browser.asked
