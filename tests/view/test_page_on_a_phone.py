"""The served page on a phone and in the dark: the mechanism is seen, all of it, and it moves."""

from io import BytesIO

import numpy as np
import pytest
from axe import axe_source, findings
from chromium import wait
from contrast import contrast
from shown_run import pendulum_run

pytest.importorskip("viser")
Image = pytest.importorskip("PIL.Image")

#: A small phone, higher than wide: software WebGL takes its time for every pixel.
WIDE, HIGH = 300, 540
#: Part of the height that the panel, folded, must leave free.
PANEL = 0.62
#: Contrast that WCAG 2.2 asks of graphics.
SEEN = 3.0


@pytest.fixture(scope="module")
def page(browser):
    with pendulum_run(0.5).view(port=0, plot="pin.force", forces=False) as found:
        found._show("trace", visible=False)
        browser.screen("phone", dark=True)
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=WIDE,
            height=HIGH,
            deviceScaleFactor=1,
            mobile=True,
        )
        found.seek(0.0)
        browser.open(found.address)
        wait(lambda: len(found._page.get_clients()) > 0, "a browser on the page")
        wait(lambda: browser.evaluate("document.body.innerText.includes('Play')"), "controls")
        wait(lambda: len(blue(browser)) > 60, "a picture of the rod")
        yield found
        browser.call("Page.navigate", url="about:blank")
        browser.usual_screen()


def pixels(browser):
    return np.asarray(Image.open(BytesIO(browser.picture())).convert("RGB"), dtype=int)


def blue(browser):
    """Rows and columns of the pixels with the colour of the rod, above the panel."""
    image = pixels(browser)[: int(PANEL * HIGH)]
    return np.argwhere(image[..., 2] - image[..., 0] > 60)


def height_of(browser, folder):
    return browser.evaluate(
        "[...document.querySelectorAll('#root div')].filter((x) => "
        f"x.textContent.trim() === '{folder}').map((x) => x.parentElement.offsetHeight)[0]"
    )


def test_the_panel_leaves_the_mechanism_free(browser, page):
    wait(lambda: height_of(browser, "charts") < 60, "charts folded")  # asked for, and unfolded
    assert height_of(browser, "view, forces") < 60
    seen = f"document.elementFromPoint({WIDE / 2}, {PANEL * HIGH}).tagName"
    wait(lambda: browser.evaluate(seen) == "CANVAS", "the picture there")  # folding takes its time
    page.seek(0.0)

    def whole():
        """The rod is there, and neither cut off nor below the panel."""
        pixels = blue(browser)
        rows, columns = pixels.T
        inside = len(pixels) > 60 and rows.max() < PANEL * HIGH - 5
        return inside and columns.min() > 5 and columns.max() < WIDE - 5

    wait(whole, "rod in full")  # the camera comes after the first picture on a busy machine


def test_the_rod_moves_and_its_joint_is_seen_in_the_dark(browser, page):
    page.seek(0.0)
    wait(lambda: len(blue(browser)) > 60, "the rod")
    before = blue(browser).mean(axis=0)
    image = pixels(browser)
    page.seek(0.4)
    wait(lambda: blue(browser).mean(axis=0)[0] > before[0] + 8, "the rod further down")
    paper = np.median(image[HIGH // 4 : HIGH // 3].reshape(-1, 3), axis=0)
    assert paper.max() < 60
    greys = image[: int(0.6 * HIGH), :, :]
    solid = (np.ptp(greys, axis=2) < 30) & (greys.min(axis=2) > 80)
    left = int(np.argwhere(image[..., 2] - image[..., 0] > 60)[:, 1].min())
    joint = greys[:, left - 12 : left + 6][solid[:, left - 12 : left + 6]]
    assert len(joint) > 15
    assert contrast(np.median(joint, axis=0), paper) > SEEN


def test_it_asks_for_nothing_and_fails_nowhere(browser, page):
    own = (page.address, page.address.replace("http", "ws"))
    assert not [a for a in browser.asked if not a.startswith(own)]
    assert not browser.errors


def test_no_serious_finding(browser, page):
    source = axe_source()
    named = "[...document.querySelectorAll('[role=slider]')].every((x) => x.ariaLabel)"
    wait(lambda: browser.evaluate(named), "names of sliders")
    assert browser.evaluate("document.querySelector('[role=slider]').ariaLabel") == "t [s]"
    assert findings(browser, source) == []
