"""The page in three dimensions: what it shows is the run, and a browser can play it."""

import builtins

import numpy as np
import pytest
from chromium import wait
from shown_run import pendulum_run

import zwang as zw
from zwang.errors import MissingExtraError

pytest.importorskip("viser")

#: Poses lie on chords between frames 4 ms apart.
SHOWN = 1e-4


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


@pytest.fixture(scope="module")
def page(run):
    with run.view(
        pendulum_run(0.5), port=0, plot="pin.force", live={"rod.mass": (0.5, 4.0)}
    ) as found:
        yield found


def rod(page, k=0):
    return np.array(page._drawn[k].frames[1].position)


def expected(run, t):
    angle = float(run.system.joint_coordinate("pin.angle", run.at(t).q))
    return np.array([0.5 * np.cos(angle), 0.0, -0.5 * np.sin(angle)])


def test_seeking_places_the_bodies_of_all_runs(page, run):
    page.seek(0.4)
    assert np.abs(rod(page) - expected(run, 0.4)).max() < SHOWN
    page.seek(0.9)
    assert np.abs(rod(page) - expected(run, 0.9)).max() < SHOWN
    # The second run ends before: it stays where it ended.
    assert np.abs(rod(page, 1) - expected(run, 0.5)).max() < SHOWN
    page.seek(-3.0)
    assert page.t == 0.0


def test_arrows_have_the_length_of_their_force(page, run):
    page.seek(0.4)
    page._rescale(2.0)
    tail, tip = page._drawn[0].arrows["reaction"].points[0].copy()
    scene = page._drawn[0].scene
    force = np.interp(0.4, scene.times, scene.arrows[0].force[:, 2])
    page._rescale(1.0)
    assert (tip - tail)[2] == pytest.approx(2.0 * scene.newton * force, rel=1e-3)


def test_playing_moves_and_pausing_stops(page):
    page.seek(0.0)
    page.play()
    wait(lambda: page.t > 0.05, "motion")
    page.pause()
    wait(lambda: not page.playing, "a pause")
    page.seek(page.t)
    here = rod(page)
    page._stopped.wait(0.1)
    assert np.array_equal(rod(page), here)


def test_hiding_and_showing(page):
    page._show("reaction", visible=False)
    assert not page._drawn[0].arrows["reaction"].visible
    page._show("reaction", visible=True)
    assert page._drawn[0].arrows["reaction"].visible


def test_a_moved_slider_makes_the_run_anew(page, run):
    page.seek(0.4)
    before = page._drawn[0].scene.arrows[0].force
    page._simulate(run, {"rod.mass": 2.0})
    after = page._drawn[0].scene.arrows[0].force
    # Another mass but the same inertia tensor: another motion, another reaction.
    assert np.abs(after - before).max() > 1.0
    assert len(page._charts[0].curves) == 3
    page._simulate(run, {"rod.mass": 1.0})
    assert np.allclose(page._drawn[0].scene.arrows[0].force, before, atol=1e-5)


def test_in_a_notebook_it_is_a_frame(page):
    assert page._repr_html_().startswith(f'<iframe src="http://127.0.0.1:{page.server.port}"')
    assert repr(page) == f"<View at {page.address}>"


def blue(picture):
    """How many pixels have the colour of the first body."""
    from io import BytesIO

    image = pytest.importorskip("matplotlib.image").imread(BytesIO(picture))
    red, _, blue = np.moveaxis(image[..., :3], -1, 0)
    return int(np.count_nonzero(blue - red > 0.25))


@pytest.mark.campaign  # half a minute where WebGL is software
def test_a_browser_shows_the_page_and_its_motion(browser, page):
    page.seek(0.0)
    # Software WebGL takes its time for every pixel.
    small = {"width": 640, "height": 400, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **small)
    browser.open(page.address)
    wait(lambda: len(page._page.get_clients()) > 0, "a browser on the page")
    wait(lambda: browser.evaluate("document.body.innerText.includes('Play')"), "controls")
    assert "share" not in browser.evaluate("document.body.innerText").lower()

    wait(lambda: blue(browser.picture()) > 60, "a picture of the rod")
    before = browser.picture()
    page.seek(0.5)
    wait(lambda: browser.picture() != before, "motion in the browser")
    assert not [e for e in browser.errors if "exception" in str(e).lower()]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"plot": "pin.forc"}, "Did you mean 'pin.force"),
        ({"live": {"rod.mas": (0, 1)}}, "Did you mean 'rod.mass'"),
        ({"live": {"rod.mass": (1, 1)}}, "the least and the largest value"),
    ],
)
def test_wrong_choices_are_told_before_a_server_starts(run, choices, message, monkeypatch):
    monkeypatch.setattr("zwang.view.page.PageServer", lambda *_: pytest.fail("a server"))
    with pytest.raises(zw.ZwangError, match=message):
        run.view(**choices)


def test_a_missing_extra_is_named(run, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] == "viser":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"zwang\[view\]"):
        run.view(port=0)
