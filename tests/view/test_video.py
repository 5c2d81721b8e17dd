"""Videos of runs: the right pictures, each as if it had been painted alone."""

import builtins

import numpy as np
import pytest
from shown_run import pendulum_run

import zwang as zw
from zwang.errors import MissingExtraError
from zwang.view.camera import camera_of
from zwang.view.raster import Rasterizer
from zwang.view.scene import scene_of

pytest.importorskip("PIL")


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


@pytest.mark.parametrize(("name", "codec"), [("swing.mp4", "h264"), ("swing.gif", "gif")])
def test_a_video_has_the_frames_of_the_run_and_moves(run, tmp_path, name, codec):
    av = pytest.importorskip("av")
    path = run.animate(tmp_path / name, fps=10, speed=2.0, size=(160, 160), forces=False)
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        pictures = [f.to_ndarray(format="rgb24").astype(int) for f in file.decode(video=0)]
        assert stream.codec_context.name == codec
    assert len(pictures) == 6  # 1 s at twice the speed, ten a second, both ends
    assert pictures[0].shape == (160, 160, 3)
    assert np.abs(pictures[0] - pictures[-1]).max() > 50


def test_webp_moves(run, tmp_path):
    from PIL import Image

    path = run.animate(tmp_path / "swing.webp", fps=10, size=(120, 80))
    with Image.open(path) as image:
        assert image.n_frames == 11
        assert image.size == (120, 80)
        first = np.asarray(image.convert("RGB"), dtype=int)
        image.seek(8)
        assert np.abs(np.asarray(image.convert("RGB"), dtype=int) - first).max() > 50


@pytest.mark.parametrize("fps", [12, 30, 60, 100])
@pytest.mark.parametrize("name", ["swing.gif", "swing.webp"])
def test_an_animated_picture_plays_as_fast_as_asked(run, tmp_path, name, fps):
    """A GIF counts in 10 ms, and browsers show pictures below 20 ms for 100 ms."""
    from PIL import Image

    path = run.animate(tmp_path / name, fps=fps, size=(60, 60), forces=False)
    with Image.open(path) as image:
        times = []
        for k in range(image.n_frames):
            image.seek(k)
            image.load()  # WebP knows the time of a picture when it has read it
            times.append(image.info["duration"])
    shown = min(fps, 50)
    assert min(times) >= 20
    assert abs(sum(times) / 1000.0 - (run.t[-1] + 1.0 / shown)) <= 0.005 + 1e-9


def test_each_picture_is_as_if_painted_alone(run):
    """Only what changed is painted again: nothing of an earlier picture may stay."""
    scene = scene_of(run, frames=9)
    camera = camera_of(scene)
    series = Rasterizer(scene, camera, (200, 140))
    for frame in (0, 1, 4, 8, 2):
        alone = Rasterizer(scene, camera, (200, 140))
        shown = np.asarray(series.picture(frame)).copy()
        assert np.array_equal(shown, np.asarray(alone.picture(frame)))


def test_the_body_is_where_the_run_has_it(run):
    scene = scene_of(run, frames=5, forces=False)
    camera = camera_of(scene)
    raster = Rasterizer(scene, camera, (300, 200))
    for frame in (1, 3):
        seen = camera.project(scene.tracks[1].position[frame][None])[:, :2]
        x, y = np.rint(raster._on_page(seen)[0] / 2).astype(int)
        red, _, blue = np.asarray(raster.picture(frame))[y, x].astype(int)
        assert blue > 1.5 * red  # the colour of the rod


def test_a_trace_grows(run):
    scenes = [scene_of(run, frames=9, traces=t, forces=False) for t in (["rod"], None)]
    traced, plain = (Rasterizer(s, camera_of(s), (200, 140)) for s in scenes)
    inked = []
    for frame in (0, 4, 8):
        both = [np.asarray(r.picture(frame)).astype(int) for r in (traced, plain)]
        inked.append(int(np.sum(np.abs(both[0] - both[1]).max(axis=2) > 40)))
    assert inked[0] == 0 < inked[1] < inked[2]


def test_other_endings_are_refused(run, tmp_path):
    with pytest.raises(
        zw.InputError, match=r"a name ending in \.mp4 or \.gif or \.webp, not 'run\.avi'"
    ):
        run.animate(tmp_path / "run.avi")
    with pytest.raises(zw.InputError, match="speed must be a positive number, not 0"):
        run.animate(tmp_path / "run.mp4", speed=0)


@pytest.mark.parametrize("package", ["PIL", "av"])
def test_a_missing_extra_is_named(run, tmp_path, package, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"zwang\[plot\]"):
        run.animate(tmp_path / "run.mp4", fps=1)
    assert not list(tmp_path.iterdir())
