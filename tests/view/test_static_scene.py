"""The scene as one file: complete in itself, right in a browser, and in the frame of a notebook."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from chromium import wait
from shown_run import pendulum_run

import zwang as zw
from zwang.errors import InputError
from zwang.view.packing import Packer
from zwang.view.player import poses_of
from zwang.view.scene import frame_count, scene_of
from zwang.view.static import POLICY


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


def opened(browser, path):
    browser.open(path.as_uri())
    wait(
        lambda: (
            browser.errors or browser.evaluate("document.documentElement.dataset.ready") == "yes"
        ),
        "scene",
    )
    assert not browser.errors
    assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
    return browser


def test_it_is_complete_and_asks_for_nothing(run):
    html = run.show(title="A <b>swing</b>").html
    assert POLICY in html
    assert "A &lt;b&gt;swing&lt;/b&gt;" in html
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", html)
    assert len(html) < 100_000


def test_a_notebook_gets_the_page_in_a_frame(run):
    scene = run.show(height=300)
    frame = scene._repr_html_()
    assert unescape(re.search(r'srcdoc="(.*?)"', frame, re.DOTALL)[1]) == scene.html
    assert 'height="300"' in frame
    assert len(repr(scene)) < 60


def test_a_path_in_the_place_of_a_run_is_told_how_a_file_is_written(run):
    with pytest.raises(InputError, match=r'another run, not .*run.show\(\).save\("motion.html"\)'):
        run.show("motion.html")


def test_only_pages_are_replaced(run, tmp_path):
    path = tmp_path / "motion.html"
    scene = run.show(frames=2)
    scene.save(path)
    scene.save(path)
    path.write_text("something of mine")
    with pytest.raises(zw.InputError, match="overwrite=True"):
        scene.save(path)
    scene.save(path, overwrite=True)
    with pytest.raises(zw.InputError, match="a file that can be written"):
        scene.save(path / "below" / "a-file.html")


def test_quaternions_are_those_of_the_rotations():
    rng = np.random.default_rng(5)
    axes = rng.normal(size=(60, 3))
    angles = np.cumsum(rng.uniform(0.2, 0.5, 60))
    axes[:20] = [0.0, 1.0, 0.0]  # through half turns, where the signs of components change
    R = zw.rotation.quaternion.rotation_matrix(zw.rotation.quaternion.from_axis_angle(axes, angles))
    poses = poses_of(np.zeros((60, 3)), R)
    assert np.allclose(zw.rotation.quaternion.rotation_matrix(poses[:, 3:]), R, atol=1e-14)
    assert np.all(np.sum(poses[1:20, 3:] * poses[:19, 3:], axis=1) > 0.0)


def test_fast_rotations_get_more_frames_and_large_mechanisms_fewer():
    m = zw.Mechanism(gravity=(0, 0, 0))
    top = m.body("top", inertia=zw.inertia.cylinder(1.0, 0.2, 0.1))
    m.revolute("axle", m.ground, top, axis="z")
    assert frame_count(pendulum_run()) == 241
    fast = m.simulate(m.assemble(velocity={"hold": {"axle.angle_rate": 100.0}}), until=1.0)
    assert frame_count(fast) == 401  # a quarter of a radian each
    long = m.simulate(m.assemble(velocity={"hold": {"axle.angle_rate": 100.0}}), until=1e3)
    assert frame_count(long) == 2401


def test_packed_motions_are_within_half_a_step():
    rng = np.random.default_rng(1)
    values = np.cumsum(rng.normal(size=(50, 3)), axis=0) * [1.0, 1e-6, 1e6]
    ref = Packer().motion(values)
    low, step = np.array(ref["low"]), np.array(ref["step"])
    whole = np.rint((values - low) / step)
    assert np.all((whole >= 0) & (whole <= 65535))
    assert np.all(np.abs(low + step * whole - values) <= 0.5001 * step)


def test_arrows_have_a_bound(run):
    scene = scene_of(run, frames=101)
    force = scene.arrows[0].force.copy()
    force[2] *= 1e9  # as at a singular position
    arrow = replace(scene.arrows[0], force=force)
    scene = replace(scene, arrows=(arrow,))
    tip = scene.arrow_tip(arrow, 2)
    assert np.linalg.norm(tip - arrow.point[2]) == pytest.approx(scene.longest_arrow)
    assert np.linalg.norm(scene.arrow_tips - scene.center, axis=1).max() < 3.0 * scene.radius


def test_a_ramp_a_floor_a_rail_and_a_curve_are_drawn():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ball = m.body("ball", inertia=zw.inertia.sphere(1.0, 0.1), position=(0, 0, 0.1))
    m.rolling_sphere("contact", m.ground, ball, at=((0, 0, 0), (0, 0, 0.1)), axis="z", radius=0.1)
    scene = scene_of(m.simulate(m.assemble(), until=0.1), frames=2, forces=False)
    assert scene.ground_level == 0.0
    assert not any(s.role == "surface" for s in scene.solids)

    m = zw.Mechanism(gravity=(0, 0, -9.81))
    n = np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    ball = m.body("ball", inertia=zw.inertia.sphere(1.0, 0.1), position=0.1 * n)
    m.rolling_sphere("contact", m.ground, ball, at=((0, 0, 0), 0.1 * n), axis=n, radius=0.1)
    scene = scene_of(m.simulate(m.assemble(), until=0.5), frames=5, forces=False)
    (ramp,) = [s for s in scene.solids if s.role == "surface"]
    heights = ramp.mesh.vertices @ n
    assert heights.max() == pytest.approx(0.0, abs=1e-12)  # the plane itself, and below it
    way = scene.tracks[1].position
    assert ramp.mesh.vertices[:, 0].max() > way[:, 0].max()

    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bead = m.body("bead", inertia=zw.inertia.sphere(0.1, 0.02), position=(1, 0, 0))
    m.point_on_curve(
        "wire", m.ground, bead, curve=lambda s: (np.cos(s), np.sin(s), 0.1 * s), at=(1, 0, 0)
    )
    scene = scene_of(m.simulate(m.assemble(), until=0.5), frames=9, forces=False)
    (curve,) = scene.paths
    assert np.allclose(np.hypot(curve.points[:, 0], curve.points[:, 1]), 1.0, atol=1e-9)


# --- in a browser ---------------------------------------------------------------------------------


def test_two_runs_share_their_time(browser, run, tmp_path):
    path = run.show(pendulum_run(0.5), labels=["long", "short"]).save(tmp_path / "two.html")
    page = opened(browser, path)
    times = "Players.then((p) => p.map((x) => x.state.t))"
    page.evaluate("Player.seek(0.4)")
    assert page.evaluate(times) == pytest.approx([0.4, 0.4])
    page.evaluate("Player.seek(0.8)")  # the other has ended
    assert page.evaluate(times) == pytest.approx([0.8, 0.5])


def test_the_camera_follows_a_body(browser, run, tmp_path):
    page = opened(browser, run.show().save(tmp_path / "follow.html"))
    page.evaluate("Player.followBody(Player.data.tracks.indexOf('rod'))")
    place = "Player.project(Player.position('rod')).slice(0, 2)"
    before = page.evaluate(place)
    page.evaluate("Player.seek(0.7)")
    assert page.evaluate(place) == pytest.approx(before, abs=0.5)
    page.evaluate("Player.followBody(-1)")
    page.evaluate("Player.seek(0.1)")
    assert np.abs(np.subtract(page.evaluate(place), before)).max() > 5.0


def test_the_middle_of_the_picture_is_painted_as_the_body_is(browser, run, tmp_path):
    """WebGL and the projection of labels agree: at the rod's middle there is the rod's colour."""
    page = opened(browser, run.show(forces=False, traces=[]).save(tmp_path / "paint.html"))
    for t in (0.1, 0.5, 0.9):
        page.evaluate(f"Player.seek({t})")
        pixel = page.evaluate(
            "(() => { const [x, y] = Player.project(Player.position('rod'));"
            "return [...Player.canvas.getContext('2d')"
            ".getImageData(Math.round(x), Math.round(y), 1, 1).data]; })()"
        )
        red, _, blue, _ = pixel
        assert blue > 1.5 * red  # #3b7dbd in any light


def test_modes_have_a_menu_and_an_amplitude(browser, tmp_path):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "z"), position=(0, 0, -0.5))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    lin = m.equilibrium().linearization
    page = opened(browser, lin.show(title="swing").save(tmp_path / "modes.html"))
    away = "Math.abs(Player.position('rod')[0])"
    page.evaluate("(Player.state.amplitude = 1, Player.seek(0))")
    one = page.evaluate(away)
    page.evaluate("(Player.state.amplitude = 2, Player.seek(0))")
    assert page.evaluate(away) == pytest.approx(2.0 * one, rel=1e-3)
    page.evaluate("(Player.state.amplitude = 0, Player.seek(0))")
    assert page.evaluate(away) == pytest.approx(0.0, abs=1e-4)
    assert "Hz" in page.evaluate("Player.clip.note")


def test_an_equilibrium_shows_its_reactions():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(2.0, 1.0, "z"), position=(0, 0, -0.5))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    from zwang.view.small_motions import equilibrium_scene

    (arrow,) = equilibrium_scene(m.equilibrium()).arrows
    assert arrow.force == pytest.approx(np.array([[0.0, 0.0, 2.0 * 9.81]]), abs=1e-9)
    assert arrow.point == pytest.approx(np.zeros((1, 3)), abs=1e-12)


def test_a_report_shows_modes_and_equilibria(browser, tmp_path):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "z"), position=(0, 0, -0.5))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    rest = m.equilibrium()
    run = m.simulate(m.assemble(), until=0.2)
    path = run.report(tmp_path / "all.html", modes=rest.linearization, equilibria=[rest])
    page = opened(browser, path)
    shown = page.evaluate("Players.then((p) => p.map((x) => [x.clip.count, !!x.data.amplitude]))")
    assert [s[1] for s in shown] == [False, False, True]
    assert shown[1][0] == 1
    assert "Hz" in page.evaluate("document.body.innerText")


def test_runs_beside_each_other_have_one_scale_of_arrows(tmp_path):
    """Equal arrows of a light and a heavy pendulum had told nothing."""

    def swing(mass):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        rod = m.body("rod", inertia=zw.inertia.rod(mass, 1.0), position=(0.5, 0, 0))
        m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        return m.simulate(until=0.2)

    light, heavy = swing(1.0), swing(10.0)
    scales = re.findall(r'"newton": ?([-+.e0-9]+)', light.show(heavy).html)
    assert len(scales) == 2
    assert len(set(scales)) == 1
    assert float(scales[0]) == pytest.approx(scene_of(heavy).newton, rel=0.02)
    pytest.importorskip("viser")
    with light.view(heavy, port=0) as page:
        first, second = page._drawn
        assert first.newton == second.newton == pytest.approx(scene_of(heavy).newton)


def test_runs_beside_each_other_have_one_scale():
    """Each to its own scale, a short and a long rod had looked alike."""

    def swing(length, axis="y"):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        rod = m.body("rod", inertia=zw.inertia.rod(1.0, length), position=(length / 2, 0, 0))
        m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis=axis)
        return m.simulate(until=0.2)

    def half_sizes(page):
        found = re.findall(
            r'"radius": ?([-+.e0-9]+), ?"extent": ?\[([-+.e0-9]+), ?([-+.e0-9]+)\]', page.html
        )
        return [(float(r) * float(wide), float(r) * float(tall)) for r, wide, tall in found]

    short, long = swing(1.0), swing(2.0)
    (own,), (longer,) = half_sizes(short.show()), half_sizes(long.show())
    assert longer[0] > 1.5 * own[0]
    first, second = half_sizes(short.show(long))
    assert first == second
    assert first == pytest.approx(np.maximum(own, longer), rel=1e-3)


def test_names_do_not_cover_each_other(browser, tmp_path):
    m = zw.Mechanism()
    for name in ("shaft", "slider", "collar"):  # all in one place
        m.body(name, inertia=zw.inertia.box(1.0, (1.0, 1.0, 1.0)), free=True)
    page = opened(browser, m.simulate(until=0.1).show().save(tmp_path / "names.html"))
    page.evaluate(
        "[...document.querySelectorAll('input[type=checkbox]')]"
        ".find((x) => x.parentElement.textContent.includes('names')).click()"
    )
    page.evaluate("Player.draw()")
    boxes, high = page.evaluate("[Overlay.boxes, 20 * Player.ratio]")
    assert len(boxes) == 3
    tops = sorted(top for _, top, _ in boxes)
    assert min(np.diff(tops)) >= high
