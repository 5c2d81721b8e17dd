"""The report in a real browser, opened from disk: it plays, and scrubbing shows the right time."""

import base64

import numpy as np
import pytest
from chromium import wait
from contrast import contrast
from shown_run import pendulum_run

#: Poses have 16 bits, linear between frames 4 ms apart: ω² l h²/8 with ω < 6 rad/s is 4e-5.
SHOWN = 1e-4
#: Contrast that WCAG 2.2 asks of graphics is 3; a shaded solid has darker and lighter sides.
STANDS_OUT = 2.5


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
    wait(lambda: browser.evaluate("document.documentElement.dataset.charts") == "yes", "charts")
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
    data = page.evaluate("Player.canvas.toDataURL('image/png')")
    return base64.b64decode(data.split(",")[1])


def test_it_opens_from_disk_without_an_error(page):
    assert page.evaluate("document.title") == "Swing"
    assert page.evaluate("Player.failed === undefined")  # WebGL 2
    assert not page.errors
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("t", [0.0, 0.3, 0.7123, 1.0])
def test_scrubbing_shows_the_time_asked_for(page, run, t):
    page.evaluate(
        f"(() => {{ const s = document.querySelector('input.time'); s.value = {t};"
        "s.dispatchEvent(new Event('input')); })()"
    )
    assert page.evaluate("document.querySelector('.clock').textContent") == f"t = {t:.3f} s"
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
    page.evaluate("document.querySelector('button.play').click()")
    wait(lambda: page.evaluate("Player.state.t") > 0.1, "motion")
    page.evaluate("document.querySelector('button.play').click()")
    assert page.evaluate("Player.position('rod')") != here
    after, t = ink(page), page.evaluate("Player.state.t")
    assert after != before
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate("Player.state.t") == t
    assert "Play" in page.evaluate("document.querySelector('button.play').textContent")


def test_arrows_appear_and_go_with_their_box(page):
    page.evaluate("Player.seek(0.5)")
    with_arrows = ink(page)
    page.evaluate("document.querySelector('[data-shows=reaction]').click()")
    without = ink(page)
    page.evaluate("document.querySelector('[data-shows=reaction]').click()")
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


def click(page, x, y):
    for kind in ("mousePressed", "mouseReleased"):
        page.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1
        )


def test_a_click_names_bodies_and_joints(page):
    page.evaluate("(Player.reset(), Player.seek(0))")
    for point, expected in (([0.7, 0.0, 0.0], "body rod"), ([0.0, 0.0, 0.0], "pin: revolute")):
        x, y = page.evaluate(
            f"(() => {{ const p = Player.project({point}),"
            "b = Player.canvas.getBoundingClientRect();"
            "return [b.left + p[0] / Player.ratio, b.top + p[1] / Player.ratio]; })()"
        )
        click(page, x, y)
        assert page.evaluate("document.querySelector('.said').textContent").startswith(expected)
    page.evaluate("Player.select(null)")


def test_the_force_of_a_joint_that_was_clicked_is_that_of_the_time_shown(page, run):
    page.evaluate("(Player.reset(), Player.seek(0))")
    page.evaluate("Player.select(Player.pick(...Player.project([0, 0, 0])))")
    for t in (0.0, 0.4):
        page.evaluate(f"Player.seek({t})")
        force = float(np.linalg.norm(run.reaction("pin").force[np.abs(run.t - t).argmin()]))
        told = page.evaluate("document.querySelector('.said').textContent")
        assert float(told.split(", ")[1].removesuffix(" N")) == pytest.approx(force, rel=0.1)
    page.evaluate("Player.select(null)")


def test_the_scale_bar_has_the_length_it_says(page):
    page.evaluate("(Player.reset(), Player.draw())")
    bar, pixels = page.evaluate("[Player.scaleShown, Player.frame().k / Player.data.camera.radius]")
    assert 40 < bar * pixels <= 130 * page.evaluate("Player.ratio")
    assert f"{bar:.0e}"[0] in "125"


def test_arrows_stay_in_the_picture_and_say_when_they_are_longer(page):
    page.evaluate("(Player.reset(), Player.seek(0.5), Player.state.force = 1e4, Player.draw())")
    arrows = page.evaluate("Player.arrowsDrawn")
    wide, high = page.evaluate("[Player.canvas.width, Player.canvas.height]")
    page.evaluate("(Player.state.force = 0.5, Player.draw())")
    shorter = page.evaluate("Player.arrowsDrawn")
    page.evaluate("(Player.state.force = 1, Player.draw())")
    assert arrows
    for arrow in arrows:
        assert arrow["longer"]
        assert 0 <= arrow["tip"][0] <= wide
        assert 0 <= arrow["tip"][1] <= high
    assert not any(arrow["longer"] for arrow in shorter)


def test_a_series_is_hidden_and_shown_by_its_button(page):
    style = "document.querySelector('figure.plot path[data-series]').style.display"
    button = "document.querySelector('button.series')"
    page.evaluate(f"{button}.click()")
    assert page.evaluate(style) == "none"
    assert page.evaluate(f"{button}.getAttribute('aria-pressed')") == "false"
    page.evaluate(f"{button}.click()")
    assert page.evaluate(style) == ""


def test_values_are_those_under_the_pointer(page, run):
    x, y = page.evaluate(
        "(() => { const s = document.querySelector('svg.chart'), d = s.dataset,"
        "w = s.viewBox.baseVal.width;"
        "s.scrollIntoView(); const c = s.getBoundingClientRect();"
        "return [c.left + c.width * (+d.left + 0.6 * (d.right - d.left)) / w, c.top + 40]; })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    value = page.evaluate("document.querySelector('button.series output').textContent")
    expected = float(run.system.joint_coordinate("pin.angle", run.at(0.6).q))
    assert float(value.replace("−", "-")) == pytest.approx(expected, abs=0.02)
    page.evaluate("window.scrollTo(0, 0)")


def test_a_chart_as_a_table(page, run):
    text = page.evaluate("ReportCharts.then((c) => c.table([c.charts[0]]))")
    head, *lines = text.strip().split("\n")
    assert head == "t [s],pin.angle [rad]"
    table = np.array([[float(x) for x in line.split(",")] for line in lines])
    angle = run.system.joint_coordinate("pin.angle", run.at(table[:, 0]).q)
    # Half a turn is π or −π, as rounding has it.
    assert np.abs(np.angle(np.exp(1j * (table[:, 1] - angle)))).max() < 1e-5


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone(page, dark):
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    page.call("Emulation.setEmulatedMedia", features=scheme)
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=800,
        deviceScaleFactor=2,
        mobile=True,
    )
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.evaluate("new Promise(requestAnimationFrame)")
    corner = page.evaluate(
        "[...Player.canvas.getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3)"
    )
    lines = page.evaluate(
        "[...document.querySelectorAll('td.n, table.narrow td:first-child')].map((cell) => {"
        "const range = document.createRange(); range.selectNodeContents(cell);"
        "const word = cell.textContent.trim();"
        "return [word, /\\s/.test(word) ? 1 : range.getClientRects().length]; })"
    )
    page.call("Emulation.clearDeviceMetricsOverride")
    page.call("Emulation.setEmulatedMedia", features=[])
    assert wide <= 390
    assert (max(corner) < 90) == dark
    assert lines
    assert not [word for word, count in lines if count > 1], "broken within a number or a word"


@pytest.mark.parametrize("dark", [False, True])
def test_joints_and_arrows_stand_out_from_the_paper(page, dark):
    """Dark paint of joints on dark paper could not be seen."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    page.call("Emulation.setEmulatedMedia", features=scheme)
    page.evaluate("(Player.reset(), Player.seek(0.5))")
    page.evaluate("document.querySelector('[data-shows=reaction]').click()")
    seen, paper = page.evaluate(
        "(() => { const c = Player.canvas.getContext('2d'), [x, y] = Player.project([0, 0, 0]);"
        "const color = (u, w) => [...c.getImageData(u, w, 1, 1).data].slice(0, 3), seen = [];"
        "for (let u = Math.round(x) - 30; u < x + 30; u += 2) {"
        "for (let w = Math.round(y) - 30; w < y + 30; w += 2) {"
        "const at = Player.pick(u, w);"
        "if (at && at.role === 'joint') seen.push(color(u, w)); } }"
        "return [seen, color(2, 2)]; })()"
    )
    page.evaluate("document.querySelector('[data-shows=reaction]').click()")
    arrow = page.evaluate("V.lighter(Player.data.colors.reaction, Player.dark ? 0.3 : 0)")
    key = page.evaluate(
        "(() => { const c = document.createElement('canvas').getContext('2d');"
        "c.fillStyle = getComputedStyle(document.querySelector('.key')).borderTopColor;"
        "c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3); })()"
    )
    page.call("Emulation.setEmulatedMedia", features=[])
    assert len(seen) > 10  # of a disk of radius 5: by where it lies between pixels, 19 or 21
    joint = np.median(seen, axis=0)
    red = [int(part) for part in arrow[4:-1].split(",")]
    for color in (joint, red, key):
        assert contrast(color, paper) > STANDS_OUT
    assert np.abs(np.subtract(key, red)).max() <= 2  # the key has the color of its arrows


def test_what_rounding_leaves_of_a_zero_is_zero(page):
    written = (
        "(() => {{ const c = ReportCharts; return c.then((charts) => {{"
        "const chart = charts.charts[0], values = chart.series[0].values, kept = values[0];"
        "values[0] = {value}; charts.show(0); values[0] = kept;"
        "return document.querySelector('button.series output').textContent; }}); }})()"
    )
    assert page.evaluate(written.format(value=-3e-17)) == "0"
    assert page.evaluate(written.format(value=-1e-3)) == "−0.001"
