"""The report holds everything it needs, tells the truth, and trusts no name."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from shown_run import pendulum_run

import zwang as zw
from zwang.view.chart import chart, ticks
from zwang.view.report import report_html


class Reader(HTMLParser):
    """Tags, attributes that point elsewhere, and the text."""

    def __init__(self):
        super().__init__()
        self.tags, self.links, self.text, self.open = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "srcset", "action", "data")]
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def html():
    m = zw.library.door(2)
    return report_html(m.simulate(m.assemble(), until=0.2), frames=5, title="A door")


def test_it_is_one_file_that_asks_for_nothing(html):
    reader = read(html)
    assert reader.links == []
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", html)
    assert "default-src 'none'" in html


def test_it_tells_the_account_of_the_run(html):
    text = " ".join(read(html).text)
    for told in ("A door", "reached t = 0.2 s", "5 of 10 constraint rows", "1 degree of freedom"):
        assert told in text
    assert "5 of them redundant; 1 freedom" in text
    assert "partly" in text or "indeterminate" in text
    assert zw.__version__ in text


def test_the_player_gets_the_poses_of_the_run():
    import base64

    run = pendulum_run()
    html = report_html(run, frames=3)
    data = json.loads(re.search(r'id="scene">(.*?)</script>', html, re.DOTALL)[1])
    assert data["times"] == [0.0, 0.5, 1.0]
    rod = next(t for t in data["tracks"] if t["name"] == "rod")
    poses = np.frombuffer(base64.b64decode(rod["poses"]), "<f4").reshape(3, 12)
    angle = run.system.joint_coordinate("pin.angle", run.at([0.0, 0.5, 1.0]).q)
    middle = 0.5 * np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1)
    assert np.abs(poses[:, :3] - middle).max() < 1e-6  # 32 bits


def test_names_cannot_break_out_of_the_page():
    html = report_html(pendulum_run(0.1), frames=2, title="</title><script>alert(1)</script>")
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_a_system_of_functions_gets_charts_in_place_of_bodies(tmp_path):
    system = zw.library.spherical_pendulum()
    run = system.simulate(system.assemble(hold={"x": 0.3}), until=0.3)
    path = run.report(tmp_path / "new folder" / "pendulum.html")
    reader = read(path.read_text(encoding="utf-8"))
    assert "canvas" not in reader.tags
    assert reader.tags.count("svg") == 5  # x, y, z, energy, residuals
    assert "Run of a system in 3 coordinates" in reader.text


def test_a_ledger_that_would_take_long_is_left_out(monkeypatch):
    from zwang.view import report

    run = pendulum_run(0.1)
    assert "largest imbalance" in report_html(run, frames=2)
    monkeypatch.setattr(report, "LEDGER_WORK", 10.0)
    assert "run.work computes it" in report_html(run, frames=2)


def test_reactions_that_cannot_be_computed_are_a_note_and_no_failure(monkeypatch):
    from zwang.results.run import Run

    def refuse(*_, **__):
        raise zw.InputError("reactions", found="none", expected="some")

    run = pendulum_run(0.1)
    monkeypatch.setattr(Run, "reaction", refuse)
    assert "reactions are not drawn: reactions must be some, not none" in report_html(run, frames=2)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), (-3.0, 12.0, [0.0, 5.0, 10.0])],
)
def test_ticks_are_round_numbers_within_the_range(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


def test_charts_break_where_there_is_no_value_and_bear_constants():
    t = np.linspace(0.0, 1.0, 5)
    svg = chart("a < b", t, {"y": np.array([0.0, 1.0, np.nan, 1.0, 2.0])})
    assert "a &lt; b" in svg
    assert svg.count("M") == 2
    assert "nan" not in chart("constant", t, {"y": np.full(5, 3.0)}).lower()
    assert "nan" not in chart("none", t[:1], {"y": np.zeros(1)}, log=True).lower()


SHIPPED = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_every_shipped_model_has_a_report(path):
    model = zw.read_model(path)
    run = model.simulate(until=0.02)
    read(report_html(run, frames=2))


#: Mechanisms that take seconds to compile, and have no kind of joint that others lack.
SLOW = {"double_wishbone", "net", "stewart_platform", "whipple_bicycle"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.campaign] if name in SLOW else [])
        for name in zw.library.mechanism_names()
    ],
)
def test_every_mechanism_of_the_library_has_a_report(name):
    m = getattr(zw.library, name)()
    read(report_html(m.simulate(m.assemble(), until=0.01), frames=2))


def test_what_drives_and_ties_is_told_for_what_it_is():
    """Drivers, couplers and own constraints stand among the joints, under no false kind."""
    m = zw.Mechanism(gravity=(0, -9.81), plane="xy")
    left, right = (m.body(k, 1.0, 0.1, position=(x, 0)) for k, x in (("left", 0), ("right", 2)))
    m.revolute("pin", m.ground, left, at=(0, 0))
    m.revolute("axle", m.ground, right, at=(2, 0))
    m.couple("belt", "axle.angle", "pin.angle", 2.0)
    m.drive("motor", "pin.angle", lambda t: 3.0 * t)
    html = report_html(m.simulate(m.assemble(), until=0.1), frames=2)
    assert "2 revolute, 1 coupler, 1 driver" in html
    assert "<td>motor</td><td>driver</td><td>ground – left</td>" in html
