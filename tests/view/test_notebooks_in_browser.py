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

    def show(*outputs, screen="desktop", dark=False):
        cells = "".join(f'<div class="jp-OutputArea-output">{text}</div>' for text in outputs)
        path = tmp_path / "notebook.html"
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Notebook</title>'
        head += '<meta name="viewport" content="width=device-width"><meta name="color-scheme" '
        head += 'content="light dark">'
        path.write_text(f"{head}<body>{cells}</body></html>", encoding="utf-8")
        browser.screen(screen, dark=dark)
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


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_and_tables_fit_a_phone(opened, run, dark):
    m = zw.library.door(2)
    held = m.simulate(m.assemble(), until=0.05)
    assert held.notes  # long ones
    system = zw.System(["x"], mass=[[1.0]], parameters={"length": 0.1 + 0.2})
    outputs = [one._repr_html_() for one in (held, m, system, m.solve(), run, m.explain())]
    browser = opened(*outputs, screen="phone", dark=dark)
    wide = browser.evaluate(
        "[...document.querySelectorAll('.jp-OutputArea-output')]"
        ".map((x) => x.scrollWidth - x.clientWidth)"
    )
    assert max(wide) <= 0, "cut off"
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert browser.evaluate("getComputedStyle(document.querySelector('svg')).display") != "none"
    image = pixels(browser)
    assert ((image[..., 2] - image[..., 0]) > 60).sum() > 300  # the door
    assert (np.median(image[:, -20:], axis=(0, 1)).max() < 90) == dark
    assert not browser.errors
    assert not browser.asked


def test_long_notes_stay_beside_the_picture_on_a_desktop(opened):
    m = zw.library.door(2)
    browser = opened(m.simulate(m.assemble(), until=0.05)._repr_html_())
    picture, note = browser.evaluate(
        "['svg', 'pre'].map((x) => document.querySelector(x).getBoundingClientRect())"
        ".map((b) => [b.left, b.top, b.right, b.bottom])"
    )
    assert note[0] >= picture[2]
    assert note[1] < picture[3]
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_no_hairlines_between_the_faces_of_a_still(opened):
    """Pale lines where faces meet: pixels that are lighter than those to their left and right."""
    image = pixels(opened(zw.library.bricard()._repr_html_()))
    pale, count = 0, 0
    for row in image:
        colored = np.flatnonzero(row[:, 2] - row[:, 0] > 40)
        if len(colored) > 20:
            light = row[colored[0] + 3 : colored[-1] - 3].sum(axis=1)
            around = np.lib.stride_tricks.sliding_window_view(np.pad(light, 3, mode="edge"), 7)
            pale += int((light > np.median(around, axis=1) + 25).sum())
            count += len(light)
    assert count > 3000
    assert pale < 0.006 * count


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


@pytest.mark.parametrize(
    ("names", "choices"),
    [
        (("pin.angle_rate",), {"against": "pin.angle"}),
        (("pin.force",), {"labels": ["one", "other"]}),
        (("pin.force", "pin.angle"), {"style": "paper", "titles": {"pin.angle": r"$\varphi$"}}),
    ],
)
def test_phase_comparison_and_paper_are_drawn(browser, run, tmp_path, names, choices):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    path = tmp_path / "plot.svg"
    others = [pendulum_run(0.8)] if "labels" in choices else []
    figure = run.plot(*names, compare=others, **choices)
    figure.savefig(path)
    plt.close(figure)
    browser.open(path.as_uri())
    assert not browser.errors
    assert not browser.asked
    first = np.abs(pixels(browser) - [0x1F, 0x77, 0xB4]).max(axis=2) < 60
    rows, columns = np.nonzero(first)
    assert np.ptp(rows) > 40
    assert np.ptp(columns) > 100
