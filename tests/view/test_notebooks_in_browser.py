"""What notebooks show, in a browser: cells with pictures and tables, a motion in a frame, plots."""

import re
from io import BytesIO

import numpy as np
import pytest
from chromium import SCREENS, wait
from shown_run import pendulum_run

import zwang as zw

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


@pytest.fixture
def opened(browser, tmp_path):
    """Outputs of cells on a page, as exports of notebooks have them."""

    def show(*outputs, screen="desktop"):
        cells = "".join(f'<div class="jp-OutputArea-output">{text}</div>' for text in outputs)
        path = tmp_path / "notebook.html"
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Notebook</title>'
        path.write_text(f"{head}<body>{cells}</body></html>", encoding="utf-8")
        browser.screen(screen)
        browser.open(path.as_uri())
        return browser

    yield show
    browser.usual_screen()


def pixels(browser):
    return np.asarray(Image.open(BytesIO(browser.picture())).convert("RGB"), dtype=int)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_motion_plays_in_its_frame(opened, run, screen):
    browser = opened(run.show(height=420)._repr_html_(), screen=screen)
    player = "document.querySelector('iframe').contentWindow"
    ready = "contentDocument.documentElement.dataset.ready"
    wait(lambda: browser.evaluate(f"document.querySelector('iframe').{ready}") == "yes", "scene")
    before = pixels(browser)
    browser.evaluate(f"{player}.document.querySelector('button.play').click()")
    clock = f"{player}.document.querySelector('.clock').textContent"
    wait(lambda: float(browser.evaluate(clock).split()[2]) > 0.3, "motion")
    browser.evaluate(f"{player}.document.querySelector('button.play').click()")
    changed = np.abs(pixels(browser) - before).max(axis=2) > 40
    assert changed.sum() > 500, "the picture does not move"
    assert not browser.errors
    assert not browser.asked
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_results_show_tables_and_pictures(opened, run):
    m = zw.library.door(2)
    shown = [m, m.system, m.explain(), m.passport(), m.solve(), m.equilibrium(), run, run.channels]
    outputs = [one._repr_html_() for one in shown]
    browser = opened(*outputs)
    heights = browser.evaluate(
        "[...document.querySelectorAll('.jp-OutputArea-output')].map((x) => x.offsetHeight)"
    )
    assert min(heights) > 20
    assert browser.evaluate("document.querySelectorAll('svg').length") == 2  # mechanism and run
    polygons = browser.evaluate("document.querySelectorAll('svg polygon').length")
    assert polygons > 20
    blue = pixels(browser)
    assert ((blue[..., 2] - blue[..., 0]) > 60).sum() > 300  # the door
    assert not browser.errors
    assert not browser.asked


def test_plots_are_drawn_with_their_lines_and_labels(browser, run, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    path = tmp_path / "plot.svg"
    figure = run.plot("pin.angle", "pin.force", degrees=True)
    figure.savefig(path)
    plt.close(figure)
    browser.open(path.as_uri())
    assert not browser.errors
    assert not browser.asked
    image = pixels(browser)
    first = np.abs(image - [0x1F, 0x77, 0xB4]).max(axis=2) < 30  # Matplotlib's first colour
    assert first.sum() > 200
    rows = np.flatnonzero(first.any(axis=1))
    assert np.ptp(rows) > 100  # a curve, not a line along the border
    text = path.read_text(encoding="utf-8")
    assert not re.search(r'(href|src)="https?:', text)
