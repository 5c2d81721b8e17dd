"""The report in a real browser, opened from disk: it plays, and scrubbing shows the right time."""

import base64

import numpy as np
import pytest
from chromium import wait
from shown_run import pendulum_run

#: Poses are 32-bit numbers, linear between frames 4 ms apart: ω² l h²/8 with ω < 6 rad/s is 4e-5.
SHOWN = 1e-4


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


@pytest.fixture(scope="module")
def page(browser, run, tmp_path_factory):
    path = run.report(tmp_path_factory.mktemp("report") / "swing.html", title="Swing")
    browser.call(
        "Network.emulateNetworkConditions",
        offline=True,
        latency=0,
        downloadThroughput=0,
        uploadThroughput=0,
    )
    browser.open(path.as_uri())
    yield browser
    browser.call(
        "Network.emulateNetworkConditions",
        offline=False,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )


def ink(page):
    """How the canvas looks: its pixels, coarse, as numbers."""
    data = page.evaluate("document.getElementById('view').toDataURL('image/png')")
    return base64.b64decode(data.split(",")[1])


def test_it_opens_from_disk_without_an_error(page):
    assert page.evaluate("document.title") == "Swing"
    assert page.evaluate("document.getElementById('still')") is None  # the canvas took its place
    assert not page.errors
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("t", [0.0, 0.3, 0.7123, 1.0])
def test_scrubbing_shows_the_time_asked_for(page, run, t):
    page.evaluate(
        f"(() => {{ const s = document.getElementById('time'); s.value = {t};"
        "s.dispatchEvent(new Event('input')); })()"
    )
    assert page.evaluate("document.getElementById('clock').textContent") == f"t = {t:.3f} s"
    angle = float(run.system.joint_coordinate("pin.angle", run.at(t).q))
    expected = [0.5 * np.cos(angle), 0.0, -0.5 * np.sin(angle)]
    assert np.abs(np.array(page.evaluate("Player.position('rod')")) - expected).max() < SHOWN


def test_charts_follow_the_time(page):
    page.evaluate("Player.seek(0.25)")
    place = "(c => (c.querySelector('.cursor').getAttribute('x1') - c.dataset.left)"
    share = page.evaluate(
        f"{place} / (c.dataset.right - c.dataset.left))(document.querySelector('svg.chart'))"
    )
    assert share == pytest.approx(0.25)


def test_play_moves_the_body_and_pause_stops_it(page):
    page.evaluate("Player.seek(0)")
    before, here = ink(page), page.evaluate("Player.position('rod')")
    page.evaluate("document.getElementById('play').click()")
    wait(lambda: page.evaluate("Player.state.t") > 0.1, "motion")
    page.evaluate("document.getElementById('play').click()")
    assert page.evaluate("Player.position('rod')") != here
    after, t = ink(page), page.evaluate("Player.state.t")
    assert after != before
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate("Player.state.t") == t
    assert "Play" in page.evaluate("document.getElementById('play').textContent")


def test_arrows_appear_and_go_with_their_box(page):
    page.evaluate("Player.seek(0.5)")
    with_arrows = ink(page)
    page.evaluate("document.getElementById('reactions').click()")
    without = ink(page)
    page.evaluate("document.getElementById('reactions').click()")
    assert without != with_arrows
    assert ink(page) == with_arrows


def test_dragging_turns_the_view(page):
    before = ink(page)
    for kind, x in (("mousePressed", 300), ("mouseMoved", 380), ("mouseReleased", 380)):
        page.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=300,
            button="left",
            buttons=1,
            clickCount=1,
        )
    assert ink(page) != before
