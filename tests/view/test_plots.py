"""Figures and videos of runs, without a display."""

import builtins

import numpy as np
import pytest
from shown_run import pendulum_run

import zwang as zw
from zwang.errors import MissingExtraError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def run():
    return pendulum_run()


@pytest.fixture(autouse=True)
def _closed():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def test_reactions_and_joints_are_plotted_by_name(run):
    figure = run.plot("pin.force", "pin.angle", "energy")
    assert [a.get_ylabel() for a in figure.axes] == [
        "pin.force [N]",
        "pin.angle [rad]",
        "energy [J]",
    ]
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == ["x", "y", "z", "magnitude"]
    assert np.allclose(lines[2].get_ydata(), run.reaction("pin").force[:, 2])


def test_a_phase_plot_has_one_channel_across_and_one_up(run):
    figure = run.plot("pin.angle_rate", against="pin.angle")
    (axis,) = figure.axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("pin.angle [rad]", "pin.angle_rate [rad/s]")
    assert np.array_equal(axis.lines[0].get_xdata(), run["pin.angle"])


def test_a_still_shows_the_rod_where_it_hangs(run):
    # A quarter of the period from rest at the horizontal: K(½) √(2L/3g), K(½) = 1.8541.
    figure = run.draw(1.8541 * np.sqrt(2.0 / 3.0 / 9.81))
    (faces,) = [c for c in figure.axes[0].collections if "Poly" in type(c).__name__]
    corners = np.concatenate([p.vertices for p in faces.get_paths()])
    extent = np.ptp(corners, axis=0)
    assert extent[1] > 5.0 * extent[0]


def test_stills_take_traces_arrows_and_axes_of_others(run):
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2)
    assert run.draw(1.0, axes=axes[0], traces=["rod"], forces=True) is figure
    assert axes[0].lines
    assert axes[0].texts  # the arrow of the pin
    assert not axes[1].collections


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


def test_other_endings_are_refused(run, tmp_path):
    with pytest.raises(
        zw.InputError, match=r"'run\.avi'; expected a name ending in \.mp4 or \.gif"
    ):
        run.animate(tmp_path / "run.avi")
    with pytest.raises(zw.InputError, match="speed: found 0"):
        run.animate(tmp_path / "run.mp4", speed=0)


@pytest.mark.parametrize("package", ["matplotlib", "av"])
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
