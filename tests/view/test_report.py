"""The report holds everything it needs, tells the truth, and trusts no name."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
from contrast import contrast
from shown_run import pendulum_run

import zwang as zw
from zwang.model_files.examples import example_path
from zwang.view.camera import floor, floor_of
from zwang.view.chart import COLORS, ChartSheet, chart, ticks
from zwang.view.points import named_points, point_scene
from zwang.view.report import report_html
from zwang.view.report_tables import (
    drivers,
    energy_balance,
    history,
    made_with,
    reactions,
    summary,
)
from zwang.view.scene import farthest_body


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


def test_indeterminate_reactions_are_dashed_and_said(html):
    door = re.search(r'<svg class="chart"[^>]*><title>reaction forces</title>.*?</figure>', html)[0]
    assert "stroke-dasharray" in door
    assert door.count("dashed: indeterminate, one of many values") == 1
    assert door.count('<i class="open"') + door.count('" class="open"></i>') >= 2  # dashed keys
    swing = report_html(pendulum_run(0.1), frames=3, title="Swing")
    assert "stroke-dasharray" not in swing


def test_the_table_names_the_components_that_are_determinate():
    run = zw.library.four_bar(planar=False).simulate(until=0.2, save=0.1)
    assert "determinate: force x, z; moment y" in reactions(run, run)


def test_of_an_indeterminate_reaction_no_component_is_called_determinate():
    run = zw.library.door(3).simulate(until=0.2, save=0.1)
    assert (
        reactions(run, run).count('<span class="tag indeterminate">indeterminate</span></td>') == 3
    )


def test_rows_that_depend_on_others_later_are_not_told_of_the_start():
    run = zw.library.four_bars(2).simulate(until=1.0, save=0.1)
    assert run.ranks  # where it lies flat
    assert run.ranks[0].t > run.t[0]
    assert "14; 1 degree of freedom at the start" in summary(run)


def test_what_has_no_constraints_has_no_residual_and_no_tables_of_forces():
    swing = zw.System(["theta"], mass=lambda: np.eye(1), force=lambda q: [-q[0]])
    run = swing.simulate([0.3], until=1.0, save=0.1)
    page = report_html(run, frames=3)
    assert "largest residual" not in page
    assert "tables of forces" not in page
    assert "extreme forces" not in page
    assert history(run) == "<p>There are no constraints, and no event happened.</p>"


def test_ticks_end_within_the_picture_with_the_letters_of_a_phone_too():
    for end in (2.0, 0.5, 0.005):
        t = np.linspace(0.0, end, 5)
        last = re.findall(
            r'<text class="tick" x="([^"]*)" y="181" text-anchor="([^"]*)">([^<]*)<',
            chart("a", t, {"a": t}),
        )[-2]
        assert last[2] == f"{end:g}"
        assert last[:2] == (("550.0", "middle") if end == 2.0 else ("560", "end"))
    tiny = chart("a", t, {"a": np.linspace(0.0, 2.45e-11, 5)})
    assert 'class="tick long"' in tiny
    assert 'class="tick long"' not in chart("a", t, {"a": t})


def test_a_body_whose_center_stays_leaves_no_trace():
    run = zw.read_model(example_path("gear_train")).simulate(until=0.05)
    assert farthest_body(run) == []
    assert farthest_body(pendulum_run(0.1)) == ["rod"]


def test_it_tells_the_account_of_the_run(html):
    text = " ".join(read(html).text)
    for told in ("A door", "reached t = 0.2 s", "5 of 10 constraint rows", "1 degree of freedom"):
        assert told in text
    assert "5 of them redundant; 1 degree of freedom" in text
    assert "partly" in text or "indeterminate" in text
    assert zw.__version__ in text


def data_of(html, which=0):
    """A packed block of a page, unpacked by the rules that ``reader.js`` goes by."""
    text = re.findall(r'<script type="application/json".*?>(.*?)</script>', html, re.DOTALL)[which]
    data = json.loads(text)
    blob = zlib.decompress(base64.b64decode(data.pop("arrays")))

    def array(ref):
        count, at = ref["n"], ref["at"]
        if ref["kind"] != "motion":
            kind = {"numbers": "<f4", "short": "<u2", "wide": "<u4"}[ref["kind"]]
            return np.frombuffer(blob, kind, count, at)
        size = count * len(ref["low"])
        low, high = np.frombuffer(blob, np.uint8, 2 * size, at).reshape(2, size).astype(int)
        steps = np.cumsum((low + 256 * high).reshape(-1, count), axis=1) % 65536
        return (np.array(ref["low"])[:, None] + np.array(ref["step"])[:, None] * steps).T

    def fill(thing):
        if isinstance(thing, dict):
            if "at" in thing and "kind" in thing:
                return array(thing)
            return {k: fill(v) for k, v in thing.items()}
        return [fill(x) for x in thing] if isinstance(thing, list) else thing

    return fill(data)


#: Poses are stored in 65535 steps of the range of each of their numbers, here at most 2.
STEP = 0.5 * 2.0 / 65535


def test_the_player_gets_the_poses_of_the_run():
    run = pendulum_run()
    data = data_of(report_html(run, frames=3))
    (clip,) = data["clips"]
    assert (clip["first"], clip["last"], clip["count"]) == (0.0, 1.0, 3)
    poses = clip["poses"][data["tracks"].index("rod")]
    angle = run.system.joint_coordinate("pin.angle", run.at([0.0, 0.5, 1.0]).q)
    middle = 0.5 * np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1)
    assert np.abs(poses[:, :3] - middle).max() < STEP
    turned = np.stack([np.cos(angle / 2), 0 * angle, np.sin(angle / 2), 0 * angle], axis=1)
    assert np.abs(np.abs(np.sum(poses[:, 3:] * turned, axis=1)) - 1.0).max() < 4 * STEP


@pytest.mark.parametrize("frames", [5, 101])
def test_charts_have_the_numbers_of_the_run(frames):
    run = pendulum_run()
    charts = data_of(report_html(run, frames=frames), 1)["charts"]
    angle = next(c for c in charts if c["title"] == "joint angles")
    # Those of pictures too, where saved states are farther apart.
    times = run.t if frames == 5 else np.union1d(run.t, np.linspace(0.0, 1.0, frames))
    assert np.allclose(angle["t"], times)
    expected = run.system.joint_coordinate("pin.angle", run.at(times).q)
    assert np.allclose(angle["series"][0]["values"], expected, rtol=1e-6)  # 32 bits


def test_own_outputs_are_the_first_charts():
    m = zw.Mechanism(gravity=(0, 0, -10.0))
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.output("height", lambda c: 100.0 * c["rod.position.z"], unit="cm")
    run = m.simulate(until=0.5, save=0.125)
    first = data_of(report_html(run, frames=5), 1)["charts"][0]
    assert (first["title"], first["unit"]) == ("height", "cm")
    expected = 100.0 * run.body("rod").position[:, 2]
    assert np.allclose(first["series"][0]["values"], expected, rtol=1e-6, atol=1e-6)  # 32 bits


def test_all_own_outputs_are_drawn_and_those_without_values_named():
    m = zw.Mechanism(gravity=(0, 0, -10.0))
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    names = [f"height{k}" for k in range(14)]
    for name in names:
        m.output(name, lambda c: c["rod.position.z"], unit="m")
    m.output("load", lambda c: c["pin.force"])
    html = report_html(m.simulate(until=0.5, save=0.125), frames=5)
    charts = data_of(html, 1)["charts"]
    assert [chart["title"] for chart in charts[:14]] == names
    assert "Not drawn: output &#x27;load&#x27; must return one value" in html


def driven_wheel():
    """A wheel that a motor brings from rest to 6 rad/s in one second: constant torque J·6."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    wheel = m.body("wheel", inertia=zw.inertia.cylinder(2.0, 0.5, 0.1), position=(0, 0, 1))
    m.revolute("axle", m.ground, wheel, at=(0, 0, 1), axis="z")
    m.drive("motor", "axle.angle", lambda t: 3.0 * t * t)
    return m.simulate(m.assemble(), until=1.0)


def test_drivers_have_peak_and_root_mean_square():
    html = report_html(driven_wheel(), frames=401)
    inertia = 0.5 * 2.0 * 0.5**2
    rows = re.findall(r"<tr>(.*?)</tr>", html.split("<h2>Drivers</h2>")[1].split("<h2>")[0])
    cells = {}
    for row in rows[1:]:
        texts = re.findall(r"<td.*?>(.*?)</td>", row)
        cells[texts[2].split(" [")[0]] = [float(x) for x in texts[3:]]
    torque = 6.0 * inertia
    assert cells["torque"] == pytest.approx([torque, cells["torque"][1], torque, torque], rel=1e-3)
    # ω = 6 t: peak 6 at the end, RMS 6/√3, mean 3; power τω likewise.
    assert cells["speed"] == pytest.approx([6.0, 1.0, 6.0 / np.sqrt(3.0), 3.0], rel=1e-3)
    assert cells["power"] == pytest.approx(
        [6.0 * torque, 1.0, 6.0 * torque / np.sqrt(3.0), 3.0 * torque], rel=1e-3
    )


def test_actuators_stand_with_drivers_and_works_add_up():
    """A constant torque τ on a wheel of inertia J: ω = τt/J, and its work is the gain of energy."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    wheel = m.body("wheel", inertia=zw.inertia.cylinder(2.0, 0.5, 0.1), position=(0.2, 0, 1))
    m.revolute("axle", m.ground, wheel, at=(0, 0, 1), axis="y")
    m.actuator("motor", "axle.angle", lambda: 3.0)
    run = m.simulate(m.assemble(), until=1.0)
    html = report_html(run, frames=101)
    table = html.split("<h2>Actuators</h2>")[1].split("<h2>")[0]
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    cells = {row[2].split(" [")[0]: [float(x) for x in row[3:]] for row in rows[1:]}
    assert [cells["torque"][k] for k in (0, 2, 3)] == pytest.approx([3.0, 3.0, 3.0])
    assert cells["speed"][0] == pytest.approx(np.abs(run["axle.angle_rate"]).max(), rel=1e-3)
    assert cells["power"][0] == pytest.approx(3.0 * cells["speed"][0], rel=1e-3)
    for title in ("torque of actuators", "speed of actuators", "power of actuators"):
        assert f"<title>{title}</title>" in html
    balance = dict(re.findall(r"<td>([^<]*)</td><td class=n>([^<]*)</td>", html))
    gain = float(balance["sum, end minus start"])
    assert gain == pytest.approx(3.0 * run["axle.angle"][-1], rel=1e-2)
    of_that = [float(x) for name, x in balance.items() if name.startswith("of that, ")]
    assert sum(of_that) == pytest.approx(gain, rel=1e-2)


def test_charts_that_leave_joints_out_say_so():
    chain = zw.library.chain(10)
    html = report_html(chain.simulate(chain.assemble(), until=0.05), frames=3)
    assert re.search(r"reaction forces, the 8 largest of \d\d</title>", html)
    assert "joint angles, 8 of 10</title>" in html


def test_a_logarithmic_axis_ends_at_rounding():
    values = np.array([0.0, 1e-300, 3e-17, 1e-15])
    svg = chart("residual", np.arange(4.0), {"a": values}, log=True)
    powers = [int(p.replace("−", "-")) for p in re.findall(r"<tspan[^>]*>([−\d]+)</tspan>", svg)]
    assert powers
    assert min(powers) >= -18


def test_names_cannot_break_out_of_the_page():
    html = report_html(pendulum_run(0.1), frames=2, title="</title><script>alert(1)</script>")
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_a_system_of_functions_gets_charts_forces_and_its_points(tmp_path):
    system = zw.library.spherical_pendulum()
    # So many states that some residual is not zero to the last bit, and is drawn.
    run = system.simulate(system.assemble(hold={"x": 0.3}), until=2.0, save=0.05)
    path = run.report(tmp_path / "new folder" / "pendulum.html")
    html = path.read_text(encoding="utf-8")
    reader = read(html)
    assert reader.tags.count("canvas") == 1
    assert reader.tags.count("svg") == 6  # x, y, z, multiplier, energy, residuals
    assert "Run of a system in 3 coordinates" in reader.text
    assert "Forces of constraints" in reader.text
    assert "sum, end minus start" in reader.text
    data = data_of(html)
    place = data["clips"][0]["poses"][1][-1, :3]
    assert place == pytest.approx(run.q[-1], abs=1e-4)


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (("x", "y"), {"": {"x": "x", "y": "y"}}),
        (("x1", "y1", "x2", "y2"), {"1": {"x": "x1", "y": "y1"}, "2": {"x": "x2", "y": "y2"}}),
        (("cart.x", "cart.z", "phi"), {"cart": {"x": "cart.x", "z": "cart.z"}}),
        (("x_a", "y_a", "z_a"), {"a": {"x": "x_a", "y": "y_a", "z": "z_a"}}),
        (("x", "theta"), {}),
        (("phi1", "phi2"), {}),
    ],
)
def test_coordinates_that_are_positions_are_points(names, points):
    assert named_points(names) == points


def test_a_system_without_points_has_charts_alone():
    mass = np.diag([1.0, 2.0])
    system = zw.System(coordinates=["a", "b"], mass=lambda: mass, potential=lambda q: q[0] ** 2)
    html = report_html(system.simulate(system.assemble(), until=0.1), frames=3)
    assert "canvas" not in read(html).tags


def test_a_ledger_that_would_take_long_is_left_out(monkeypatch):
    from zwang.view import report_tables as report

    run = pendulum_run(0.1)
    assert "largest imbalance" in report_html(run, frames=2)
    monkeypatch.setattr(report, "LEDGER_WORK", 10.0)
    html = report_html(run, frames=2)
    assert "would take long for a system of this size" in html
    assert "sum, end minus start" in html


def test_a_ledger_of_many_states_is_made_from_some_of_them(monkeypatch):
    from zwang.view import report_tables as report

    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.torsion_spring("damper", m.ground, rod, at=(0, 0, 0), axis="y", damping=0.4)
    m.drive("motor", "pin.angle", lambda t: 0.3 * t + t**2)
    run = m.simulate(until=1.0, save=0.01)

    def works():
        cells = re.findall(r"<tr><td>([^<]*)</td><td class=n>([^<]*)</td>", energy_balance(run))
        numbers = {name: float(x.replace("\N{MINUS SIGN}", "-")) for name, x in cells}
        assert numbers.pop("largest imbalance") < 1e-6
        return numbers

    every = works()
    assert min(abs(x) for name, x in every.items() if "work" in name) > 0.1
    rows = sum(len(r) for r in run.system.groups.values())
    size = (len(run.system.velocities) + rows) ** 2
    monkeypatch.setattr(report, "LEDGER_STATES", 3)
    monkeypatch.setattr(report, "LEDGER_WORK", 3.0 * size)
    counts = []
    taken = report.at_times
    monkeypatch.setattr(report, "at_times", lambda r, t: counts.append(len(t)) or taken(r, t))
    some = works()
    assert counts == [3]
    assert some.keys() == every.keys()
    for name, value in every.items():
        assert np.isclose(some[name], value, rtol=1e-5, atol=1e-6), name


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


def test_moments_that_are_rounding_are_zero(tmp_path):
    """A table on scissors: where bars slide, forces of a kN act through the point."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    x, z = 1.2 * np.cos(0.3), 1.2 * np.sin(0.3)
    rod, top = zw.inertia.rod(8.0, 1.2), zw.inertia.box(150.0, (1.2, 0.5, 0.05))
    up = m.body("up", inertia=rod, position=(x / 2, z / 2), angle=-0.3)
    down = m.body("down", inertia=rod, position=(x / 2, z / 2), angle=0.3)
    table = m.body("table", inertia=top, position=(0.6, z))
    m.revolute("A", m.ground, up, at=(0, 0))
    m.revolute("mid", up, down, at=(x / 2, z / 2))
    m.point_on_line("base", m.ground, down, at=((0, 0), (x, 0)), axis="x")
    m.revolute("B", down, table, at=(0, z))
    m.point_on_line("slot", table, up, at=((0, z), (x, z)), axis="x")
    m.drive("jack", "A.angle", lambda t: -0.3 * t**3)
    page = m.simulate(until=1.0).report(tmp_path / "a.html").read_text(encoding="utf-8")
    rows = page[page.index("largest moment") :]
    assert not re.search(r"\de-[12]\d<", rows[: rows.index("</table>")])


@pytest.mark.parametrize(
    ("top", "told"),
    [
        (2600.0, ["500", "1000", "1500", "2000", "2500"]),
        (-1.3e4, ["−10000", "−5000"]),
        (4e6, ["1e6", "2e6", "3e6", "4e6"]),
    ],
)
def test_numbers_at_an_axis_are_written_alike(top, told):
    svg = chart("force", np.linspace(0.0, 1.0, 5), {"F": np.linspace(0.0, top, 5)})
    found = re.findall(r'text-anchor="end">([^<]*)</text>', svg)
    assert [text for text in found if text not in ("0", "t [s]")] == told


def test_charts_break_where_there_is_no_value_and_bear_constants():
    t = np.linspace(0.0, 1.0, 5)
    svg = chart("a < b", t, {"y": np.array([0.0, 1.0, np.nan, 1.0, 2.0])})
    assert "a &lt; b" in svg
    assert svg.count("M") == 2
    assert "nan" not in chart("constant", t, {"y": np.full(5, 3.0)}).lower()
    assert "nan" not in chart("none", t[:1], {"y": np.zeros(1)}, log=True).lower()


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


def test_energies_of_a_lagrangian_system_are_those_of_its_forces(tmp_path):
    """Velocity terms that come with M(q) do no work, and are not told as changing masses."""
    ring = zw.System.from_lagrangian(
        ["r", "phi"],
        T=lambda q, v: 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2),
        V=lambda q: 9.81 * q[0],
    )
    run = ring.simulate([1.0, 0.0], [0.0, 2.0], until=0.2)
    text = run.report(tmp_path / "ring.html").read_text(encoding="utf-8")
    assert "changing masses" not in text
    assert "masses that change" not in text
    assert "work of applied forces without a potential</td><td class=n>0</td>" in text


def test_masses_that_change_with_time_are_told(tmp_path):
    tank = zw.System(["x"], mass=lambda t: [[2.0 - t]], force=lambda: [1.0])
    run = tank.simulate([0.0], [1.0], until=0.5)
    text = run.report(tmp_path / "tank.html").read_text(encoding="utf-8")
    assert "taken up by masses that change with time" in text


def test_tables_of_forces_look_at_all_saved_states_and_charts_keep_their_peaks():
    """A push of 1000 N on a guide for some milliseconds, which few even times would meet."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ram = m.body("ram", inertia=zw.inertia.box(1.0, (0.1, 0.1, 0.1)))
    m.prismatic("guide", m.ground, ram, at=(0, 0, 0), axis="z")
    m.force("push", ram, lambda t: [1000.0 * np.exp(-(((t - 0.3113) / 0.002) ** 2)), 0, 0])
    run = m.simulate(m.assemble(), until=1.0, save=5e-4)
    exact = 1000.0 * np.exp(-(((run.t - 0.3113) / 0.002) ** 2)).max()
    html = report_html(run, frames=11)
    row = re.search(r"<tr><td>guide</td>.*?</tr>", html)[0]
    assert np.isclose(float(re.findall(r"<td class=n>([^<]*)</td>", row)[0]), exact, rtol=1e-3)
    charts = data_of(html, 1)["charts"]
    forces = next(c for c in charts if c["title"] == "reaction forces")["series"][0]["values"]
    assert len(forces) < len(run)
    assert np.isclose(forces.max(), exact, rtol=1e-6)


@pytest.mark.parametrize(
    ("potential", "up"),
    [
        (lambda q: 9.81 * q[1], (0, 1, 0)),
        (lambda q: -9.81 * q[0], (-1, 0, 0)),
        (None, None),
        (lambda q: 2.0 * (q[0] ** 2 + q[1] ** 2 + q[2] ** 2), None),
        (lambda q: 50.0 * q[0] ** 2 + 9.81 * q[1], (0, 1, 0)),
        (lambda q: 1e6 + 9.81 * q[1] + 50.0 * (q[0] - 3.0) ** 2 + q[2] ** 4, (0, 1, 0)),
        (lambda q: 50.0 * q[0] ** 2, None),
        (lambda q: -1.0 / np.sqrt((q[0] + 5.0) ** 2 + (0.1 * q[1]) ** 2 + (0.1 * q[2]) ** 2), None),
    ],
)
def test_the_floor_of_points_is_normal_to_gravity(potential, up):
    """It had been normal to z, whatever pulled the points; where nothing tells there is none."""
    system = zw.System(["x", "y", "z"], mass=np.eye(3), potential=potential)
    run = system.simulate([1.0, 1.0, 1.0], [0.0, 1.0, 0.0], until=0.2)
    scene = point_scene(run)
    if up is None:
        assert floor_of(scene) is None
        assert floor(scene) == []
        assert re.search(r'"floor": ?null', run.show().html)
    else:
        assert np.array_equal(scene.up, up)
        assert floor_of(scene)["up"] == list(up)


def test_a_report_and_its_explanation_count_bodies_alike():
    """Own coordinates are no bodies, and constraints of the user's are no joints."""
    model = zw.read_model(example_path("own_constraint"))
    html = report_html(model.simulate(until=0.05))
    assert "1 body, 1 extra coordinate, in space" in html
    assert "1 body, 1 extra coordinate, 0 joints, 2 own constraints" in html
    assert "<td>2 own constraints</td>" in html
    assert "2 bodies" not in html


def cells_of(html, joint):
    row = re.search(rf"<tr><td>{joint}</td>.*?</tr>", html)[0]
    return re.findall(r"<td class=n>(.*?)</td>", row)


def test_forces_that_are_rounding_beside_others_are_zero_and_have_no_time():
    """A force holds the weight of a block across its guide: nothing pushes it there."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    block = m.body("block", inertia=zw.inertia.box(1.0, (0.1, 0.1, 0.1)))
    m.prismatic("guide", m.ground, block, at=(0, 0, 0), axis=(0.36, 0.48, -0.8))
    m.force("across", block, (9.81 * 0.36 * 0.8, 9.81 * 0.48 * 0.8, 9.81 * 0.36))
    run = m.simulate(until=0.1)
    assert 0.0 < np.abs(run["guide.force"]).max() < 1e-13
    assert cells_of(reactions(run, run), "guide")[:2] == ["0", "–"]


def test_the_force_of_a_light_body_by_itself_is_no_rounding_of_others():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    light = m.body("light", inertia=zw.inertia.rod(1e-12, 1.0), position=(5.0, 0, 0))
    m.revolute("held", m.ground, light, at=(4.5, 0, 0), axis="y")
    run = m.simulate(until=0.1)
    html = reactions(run, run)
    pin, held = (
        float(cells_of(html, joint)[0].replace("\N{MINUS SIGN}", "-")) for joint in ("pin", "held")
    )
    assert pin > 1.0
    assert np.isclose(held, 1e-12 * pin, rtol=1e-2, atol=0.0)


def test_charts_are_seen_on_light_and_dark_cards():
    cards = [(0xF6, 0xF8, 0xFA), (0x1E, 0x26, 0x2E)]
    for color in COLORS:
        paint = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
        assert min(contrast(paint, card) for card in cards) > 3.0, color


def test_a_logarithmic_axis_has_two_powers_of_ten_at_least():
    t = np.linspace(0.0, 1.0, 5)
    for values in (np.full(5, 3e-15), np.geomspace(2e-15, 6e-15, 5), np.geomspace(9e-16, 2e-15, 5)):
        text = chart("residual", t, {"position": values}, log=True)
        assert len(re.findall(r"10<tspan ", text)) >= 2


def test_an_axis_within_a_power_of_ten_has_both_ends_to_read():
    values = np.geomspace(2.2e-17, 6.7e-16, 50)
    text = chart("residual", np.linspace(0.0, 1.0, 50), {"velocity": values}, log=True)
    assert len(re.findall(r"10<tspan ", text)) >= 2


def test_numbers_of_tables_have_the_minus_of_charts():
    html = energy_balance(pendulum_run(0.2))
    assert "\N{MINUS SIGN}" in html
    assert not re.search(r"<td class=n>[^<]*-", html)
    facts = summary(pendulum_run(0.2))
    assert "tolerance 1e\N{MINUS SIGN}8" in facts
    assert not re.search(r"\de-", facts)


def test_errors_of_a_run_have_two_digits_among_energies():
    html = energy_balance(pendulum_run(1.0))
    cells = dict(re.findall(r"<td>([^<]*)</td><td class=n>([^<]*)</td>", html))
    change = cells["sum, end minus start"]
    assert change == "0" or len(change.partition("e")[0].strip("\N{MINUS SIGN}")) <= 3
    assert cells["of that, work of ideal constraint forces"] == "0"


def test_work_of_a_driver_is_told_as_that():
    html = energy_balance(driven_wheel())
    cells = dict(re.findall(r"<td>([^<]*)</td><td class=n>([^<]*)</td>", html))
    # ½ J ω², with ω = 6 rad/s at the end.
    assert float(cells["of that, work of drivers"].split()[0]) == pytest.approx(
        0.25 * 36 / 2, rel=1e-3
    )


def test_curves_upon_each_other_are_seen_and_named():
    t = np.linspace(0.0, 1.0, 11)
    svg = ChartSheet().add("forces", t, {"a": t, "b": 1.0 - t, "c": t + 1e-6, "d": t})
    widths = dict(re.findall(r'data-series="(\d)"[^>]*stroke-width:([\d.]+)', svg))
    assert float(widths["0"]) > float(widths["2"]) > 1.5
    assert set(widths) == {"0", "2"}
    assert "on one curve: a, c, d" in svg
    assert "on one curve" not in ChartSheet().add("forces", t, {"a": t, "b": 1.0 - t})


def test_a_constant_is_largest_at_the_start():
    model = zw.read_model(example_path("four_bar"))
    run = model.simulate(until=1.0)
    row = drivers(run).partition("speed [rad/s]")[2].partition("</tr>")[0]
    assert re.findall(r"<td class=n>(.*?)</td>", row)[1] == "0"


def test_joints_of_which_no_component_is_determinate_say_what_is():
    bricard = zw.library.bricard()
    run = bricard.simulate(bricard.assemble(), until=0.1, save=0.05)
    told = re.findall(r"partly</span>([^<]*)<", reactions(run, run))
    assert told
    assert all(text.strip() for text in told)


def test_parameters_are_written_as_numbers():
    text = made_with(pendulum_run(0.1))
    assert "<td>[0, 0, \N{MINUS SIGN}9.81]</td>" in text
    assert "<td>1</td>" in text
    assert "parameters, in SI units" in text
    assert "<td>1e\N{MINUS SIGN}8</td>" in text


def test_forces_of_springs_have_a_chart_and_a_table():
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    block = m.body("block", mass=1.0, inertia=0.1, position=(0, -1.0))
    m.prismatic("guide", m.ground, block, at=(0, 0), axis="y")
    ends = (m.ground.marker((0, 0)), block.marker((0, 0)))
    m.spring_damper("buffer", m.ground, block, at=ends, stiffness=100.0, length=1.0)
    run = m.simulate(until=1.0, save=0.01)
    html = report_html(run, frames=3)
    assert "forces of springs and dampers [N]" in html
    peak = float(np.abs(run["buffer.force"]).max())
    row = html.partition("<h2>Springs and dampers</h2>")[2].partition("</table>")[0]
    assert "buffer.force" in row
    assert f"{peak:.3g}"[:4] in row
    assert "Springs and dampers" not in report_html(pendulum_run(0.1), frames=2)


@pytest.mark.parametrize("points", [False, True])
def test_a_run_without_saved_states_is_told_of_in_a_sentence(tmp_path, points):
    if points:
        system = zw.System(["x", "y"], mass=np.eye(2), force=lambda q: -q)
        run = system.simulate([1.0, 0.0], [0.0, 1.0], until=0.1, save=[])
    else:
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        m.body("b", mass=1.0, inertia=(1, 2, 3), free=True)
        run = m.simulate(until=0.1, save=[])
    calls = [
        lambda: run.to_csv(tmp_path / "a.csv"),
        lambda: run.to_csv(tmp_path / "a.csv", every=0.01),
        run.to_xarray,
        run.plot,
        lambda: run.report(tmp_path / "a.html"),
        run.show,
        run.draw,
    ]
    for call in calls:
        with pytest.raises(zw.InputError, match="must have at least one saved state, but has none"):
            call()
