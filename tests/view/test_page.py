"""The page in three dimensions: what it shows is the run, and a browser can play it."""

import builtins
from itertools import pairwise

import numpy as np
import pytest
from chromium import wait
from shown_run import pendulum_run

import zwang as zw
from zwang.errors import MissingExtraError
from zwang.view.page_recording import camera_at

pytest.importorskip("viser")

#: Poses lie on chords between frames 4 ms apart.
SHOWN = 1e-4


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


@pytest.fixture(scope="module")
def page(run):
    with run.view(pendulum_run(0.5), port=0, plot="pin.force") as found:
        yield found


def rod(page, k=0):
    return np.array(page._drawn[k]._frames[1].position)


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
    tail, tip = page._drawn[0]._arrows["reaction"].points[0].copy()
    scene = page._drawn[0].scene
    force = np.interp(0.4, scene.times, scene.arrows[0].force[:, 2])
    page._rescale(1.0)
    newton = page._drawn[0].newton  # one of both runs
    assert (tip - tail)[2] == pytest.approx(2.0 * newton * force, rel=1e-3)


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
    assert not page._drawn[0]._arrows["reaction"].visible
    page._show("reaction", visible=True)
    assert page._drawn[0]._arrows["reaction"].visible


def test_the_scale_of_arrows_is_told(page):
    newton, size = page._drawn[0].newton, page._drawn[0].scene.size
    page._rescale(10.0)
    words = page._legend.content.split()
    page._rescale(1.0)
    length, force = float(words[3]), float(words[6])
    assert length == pytest.approx(0.1 * size, rel=0.05)
    assert length / force == pytest.approx(10.0 * newton, rel=0.05)


def test_the_camera_goes_along_with_a_body(page):
    page.seek(0.1)
    page.follow("rod")
    here = rod(page)
    page.seek(0.8)
    # Everything moves the other way, and the rod stays where it was.
    assert np.allclose(np.array(page._world.position) + rod(page), here, atol=1e-12)
    page.follow(None)
    page.seek(0.9)
    assert not np.any(page._world.position)
    with pytest.raises(zw.ZwangError, match="Did you mean 'rod'"):
        page.follow("rods")


def test_a_click_names_a_body_and_a_second_one_takes_the_name_away(page):
    drawn = page._drawn[0]
    rod, pin = (next(s for s, _ in drawn._nodes if s.name == name) for name in ("rod", "pin"))
    page._pick(drawn, rod)
    assert page._picked[1].text == "body rod"
    page._pick(drawn, pin)
    assert page._picked[1].text == "pin: revolute"
    page._pick(drawn, pin)
    assert page._picked is None


def test_names_are_written_on_request(page):
    (label,) = page._drawn[0]._names
    assert label.text == "rod"
    assert not label.visible
    page._show("name", visible=True)
    assert label.visible
    page._show("name", visible=False)


def test_runs_stand_beside_each_other(page):
    page.side_by_side(beside=True)
    first, second = (np.array(d._place.position) for d in page._drawn)
    assert np.allclose(first, -second)
    cloud = page._drawn[0].scene.cloud
    along = second / np.linalg.norm(second)
    assert np.linalg.norm(second - first) > np.ptp(cloud @ along)  # they do not touch
    assert page._drawn[1]._nodes[0][1].opacity is None
    page.side_by_side(beside=False)
    assert not np.any(page._drawn[1]._place.position)
    assert page._drawn[1]._nodes[0][1].opacity == pytest.approx(0.35)


def test_charts_are_added_and_taken_away(page):
    charts = page._charts
    charts.add("rod.x")
    assert [c.name for c in charts._charts] == ["pin.force", "rod.x"]
    page.seek(0.5)
    for chart in charts._charts:  # all of them up to the same time
        times, bold = chart.node.data[0], chart.node.data[-1]
        assert np.array_equal(np.isfinite(bold), times <= 0.5)
    assert all(c.node.padding[0] >= 8 for c in charts._charts)  # numbers at the top are whole
    charts.drop()
    charts.drop()
    assert [c.name for c in charts._charts] == ["pin.force"]


def test_a_recording_shows_what_the_camera_of_a_browser_sees():
    """A point at the edge of a browser's picture is at the edge of the video."""
    eye, middle, up = np.array([0.0, -4.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, 1.0])
    camera = camera_at(eye, middle, up, 0.8)
    top = np.array([[0.0, 0.0, 4.0 * np.tan(0.4)]])
    seen = camera.project(top)[0]
    assert 0.44 * seen[1] == pytest.approx(0.5)  # half the height of the picture
    assert camera.axes[0] == pytest.approx([1.0, 0.0, 0.0])


def test_a_page_records_a_video(page, tmp_path):
    av = pytest.importorskip("av")
    path = tmp_path / "page.mp4"
    page.speed = 10.0
    path.write_bytes(page.record())
    page.speed = 1.0
    with av.open(str(path)) as file:
        assert sum(1 for _ in file.decode(video=0)) == 4  # 1 s ten times as fast, both ends


def test_a_motion_waits_until_somebody_looks():
    with pendulum_run(0.1).view(port=0) as page:
        page.play_when_seen()
        opened, closed = page._page._client_connect_cb[-1], page._page._client_disconnect_cb[-1]
        assert not page.playing
        opened(None)
        assert page.playing
        closed(None)
        assert not page.playing


# --- live -----------------------------------------------------------------------------------------


@pytest.fixture
def live():
    with pendulum_run(0.1).view(port=0, live={"rod.mass": (0.5, 4.0)}) as found:
        yield found


def play_to(page, t):
    page.play()
    wait(lambda: page.t > t, f"a motion beyond {t} s")
    page.pause()


def test_a_live_motion_goes_on_as_a_long_run_would(live, run):
    play_to(live, 0.5)
    with live._work:
        scene = live._drawn[0].scene
    assert live.end > 0.5
    assert np.all(np.diff(scene.times) > 0.0)
    assert np.array_equal(scene.run.t, scene.times)
    inside = scene.times <= 1.0
    known = np.array([expected(run, t) for t in scene.times[inside]])
    assert np.abs(scene.tracks[1].position[inside] - known).max() < SHOWN
    # Charts have all of it.
    times, values = live._charts._charts[0].curves[:2]
    assert np.array_equal(times, scene.times)
    assert np.allclose(values, scene.run["pin.angle"], atol=1e-12)


def test_a_moved_slider_acts_from_the_time_that_is_shown(live):
    play_to(live, 0.3)
    live.seek(0.2)
    before = live._drawn[0].scene
    live.set_parameters({"rod.mass": 2.0})
    after = live._drawn[0].scene
    assert live.end == live.t == after.times[-1] <= 0.2
    assert np.array_equal(after.run.q, before.run.q[: len(after.times)])
    play_to(live, 0.5)
    scene = live._drawn[0].scene
    masses = [segment.parameters["rod.mass"] for segment in scene.run.segments]
    assert masses[0] == 1.0
    assert masses[-1] == 2.0
    # m ḧ = −m g + R at the centre of mass: the reaction is that of the new mass.
    t, z, force = scene.times, scene.tracks[1].position[:, 2], scene.arrows[0].force[:, 2]
    k = len(after.times) + 4
    h = t[k + 1] - t[k]
    acceleration = (z[k + 1] - 2.0 * z[k] + z[k - 1]) / h**2
    assert force[k] == pytest.approx(2.0 * (9.81 + acceleration), rel=2e-2)


def test_restart_begins_again_with_the_parameters_of_now(live):
    play_to(live, 0.3)
    live.set_parameters({"rod.mass": 3.0})
    live.restart()
    assert live.t == live.start == 0.0
    assert len(live._drawn[0].scene.times) == 1
    play_to(live, 0.2)
    assert {s.parameters["rod.mass"] for s in live._drawn[0].scene.run.segments} == {3.0}


def test_a_motion_that_cannot_go_on_says_so(monkeypatch):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ball = m.body("ball", inertia=zw.inertia.sphere(1.0, 0.1), position=(0, 0, 1))
    m.prismatic("rail", m.ground, ball, at=(0, 0, 1), axis="z")
    floor = zw.event(lambda q, v, t, p: q[2] - 0.5, "stop")
    start = m.simulate(m.assemble(), until=0.05, events={"floor": floor})
    with start.view(port=0, live=True, events={"floor": floor}) as page:
        page.play()
        wait(lambda: "floor" in page._told.content, "the end of the motion")
        page.restart()
        assert page.t == 0.0


def test_old_frames_are_let_go(run, monkeypatch):
    from zwang.view import live as module

    monkeypatch.setattr(module, "MOST_FRAMES", 30)
    motion = module.Live(pendulum_run(0.1), {}, {"traces": ["rod"], "frames": 10})
    scene = motion.begin()
    for _ in range(4):
        scene = module.joined(scene, motion.go_on(0.2))
    assert len(scene.times) == len(scene.run.t) == len(scene.traces[0].points) == 30
    assert scene.times[-1] == pytest.approx(0.9)
    bounds = [(s.first, s.last) for s in scene.run.segments]
    assert bounds[0][0] == 0
    assert bounds[-1][1] == 30
    assert all(a[1] == b[0] for a, b in pairwise(bounds))
    for t, place in zip(scene.times, scene.tracks[1].position, strict=True):
        assert np.abs(place - expected(run, t)).max() < SHOWN


def test_sliders_are_chosen_where_nobody_says_which():
    from zwang.view.live import slider_limits

    assert slider_limits(pendulum_run(0.1), wanted=True) == {"rod.mass": (0.25, 4.0)}
    m = zw.Mechanism(parameters={"push": 0.0, "pull": -2.0, "many": [1.0, 2.0]})
    m.body("rod", 1.0, (1.0, 1.0, 1.0), free=True)
    run = m.simulate(m.assemble(), until=0.1)
    assert slider_limits(run, wanted=True) == {"push": (-1.0, 1.0), "pull": (-8.0, -0.5)}
    assert slider_limits(run, wanted=False) == {}


def test_parameters_of_a_run_that_is_over_stay(page):
    with pytest.raises(
        zw.ZwangError,
        match=r"set_parameters must be called on a live page.*but this page shows a finished run",
    ):
        page.set_parameters({"rod.mass": 2.0})


def test_in_a_notebook_it_is_a_frame(page):
    assert page._repr_html_().startswith(f'<iframe src="http://127.0.0.1:{page.server.port}"')
    assert repr(page) == f"<View at {page.address}>"


# --- in a real browser ----------------------------------------------------------------------------


def opened(browser, page, width, height):
    """The page in a window of this size: software WebGL takes its time for every pixel."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    browser.open(page.address)
    wait(lambda: len(page._page.get_clients()) > 0, "a browser on the page")
    wait(lambda: browser.evaluate("document.body.innerText.includes('Play')"), "controls")


def left(browser):
    """Leave the page, so that nothing is drawn for nobody, and give the window its size again."""
    browser.call("Page.navigate", url="about:blank")
    browser.call("Emulation.clearDeviceMetricsOverride")


def click(browser, label):
    """Press the button of a label."""
    find = f"[...document.querySelectorAll('button')].find(b => b.innerText.trim() === '{label}')"
    browser.evaluate(f"{find}.click()")


def test_a_browser_plays_and_pauses_the_page(browser, page):
    page.pause()
    page.seek(0.0)
    opened(browser, page, 360, 240)
    assert "share" not in browser.evaluate("document.body.innerText").lower()
    click(browser, "Play")
    wait(lambda: page.playing and page.t > 0.02, "motion")
    wait(lambda: browser.evaluate("document.body.innerText.includes('Pause')"), "a label Pause")
    click(browser, "Pause")
    wait(lambda: not page.playing, "a pause")
    elsewhere = [a for a in browser.asked if not a.startswith((page.address, "ws://127.0.0.1"))]
    assert not elsewhere
    left(browser)
    assert not [e for e in browser.errors if "exception" in str(e).lower()]


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_has_the_colors_that_a_browser_prefers(browser, page, dark):
    page.pause()
    browser.screen("desktop", dark=dark)
    opened(browser, page, 360, 240)
    scheme = browser.evaluate("document.documentElement.dataset.mantineColorScheme")
    left(browser)
    browser.usual_screen()
    assert scheme == ("dark" if dark else "light")
    assert not [e for e in browser.errors if "exception" in str(e).lower()]


#: Columns of a window of 1000 × 400 with nothing but the scene: notices are left, controls right.
BETWEEN = slice(300, 650)


def pixels(browser):
    from io import BytesIO

    picture = browser.picture()
    image = pytest.importorskip("matplotlib.image").imread(BytesIO(picture))
    return np.moveaxis(image[:, BETWEEN, :3], -1, 0)


def blue(browser):
    """Where the pixels have the colour of the first body: how many, and their mean place."""
    red, _, blue = pixels(browser)
    there = np.argwhere(blue - red > 0.25)
    return len(there), there.mean(axis=0) if len(there) else np.zeros(2)


def red(browser):
    """How many pixels have the colour of reactions."""
    red, green, blue = pixels(browser)
    return int(np.count_nonzero((red - green > 0.15) & (red - blue > 0.1)))


@pytest.mark.campaign  # half a minute where WebGL is software
def test_a_browser_shows_the_bodies_their_motion_and_arrows(browser, page, tmp_path):
    page.seek(0.0)
    opened(browser, page, 1000, 400)
    wait(lambda: blue(browser)[0] > 60, "a picture of the rod")
    _, before = blue(browser)
    page.seek(0.4)  # down by half a metre
    wait(lambda: blue(browser)[1][0] > before[0] + 10, "the rod further down")
    page._show("reaction", visible=True)
    wait(lambda: red(browser) > 20, "arrows")
    page._show("reaction", visible=False)
    wait(lambda: red(browser) == 0, "no arrows")
    page._show("reaction", visible=True)
    browser.picture(tmp_path / "page.png")
    left(browser)
    assert not [e for e in browser.errors if "exception" in str(e).lower()]


@pytest.mark.campaign
def test_a_browser_shows_a_live_motion(browser, live):
    opened(browser, live, 360, 240)
    assert browser.evaluate("document.body.innerText.includes('rod.mass')")
    click(browser, "Play")
    wait(lambda: live.t > 0.3, "a motion beyond the end of the run")
    click(browser, "Restart")
    wait(lambda: live._drawn[0].scene.times[0] == 0.0 and live.t < 0.3, "a new start")
    click(browser, "Pause")
    left(browser)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"plot": "pin.forc"}, "Did you mean 'pin.force"),
        ({"live": {"rod.mas": (0, 1)}}, "Did you mean 'rod.mass'"),
        ({"live": {"rod.mass": (1, 1)}}, "the least and the largest value"),
        ({"live": {"rod.mass": "high"}}, "the least and the largest value"),
        ({"follow": "rods"}, "Did you mean 'rod'"),
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
