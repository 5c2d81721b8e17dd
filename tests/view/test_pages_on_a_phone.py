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


def test_controls_are_those_of_what_there_is_and_no_tick_is_cut_off(browser, tmp_path):
    bead = zw.System(
        ["x", "y"], mass=lambda: np.eye(2), constraints={"rod": zw.position(lambda q: q @ q - 1.0)}
    )
    free = bead.simulate([1.0, 0.0], [0.0, 1.0], until=0.005, save=0.001)
    shown = {}
    for name, run in (("joined", pendulum_run(0.005)), ("free", free)):
        browser.screen("phone")
        browser.open(run.report(tmp_path / f"{name}.html").as_uri())
        wait(lambda: browser.evaluate("document.documentElement.dataset.ready") == "yes", "scene")
        shown[name] = browser.evaluate(
            "[document.querySelector('.more summary').textContent,"
            "...[...document.querySelectorAll('[data-shows]')].map((x) => x.dataset.shows)]"
        )
        cut = browser.evaluate(
            "[...document.querySelectorAll('svg.chart')].flatMap((chart) => {"
            "const { left, right } = chart.getBoundingClientRect();"
            "return [...chart.querySelectorAll('.tick')].filter((x) => {"
            "const box = x.getBoundingClientRect();"
            "return box.left < left - 0.5 || box.right > right + 0.5;"
            "}).map((x) => x.textContent); })"
        )
        assert cut == []
    browser.usual_screen()
    assert shown["joined"] == ["View and forces", "reaction", "traces", "joints", "names"]
    assert shown["free"] == ["View", "traces", "names"]
