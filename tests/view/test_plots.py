"""Figures of runs, without a display."""

from itertools import pairwise

import numpy as np
import pytest
from shown_run import pendulum_run

import zwang as zw

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
    saved = np.isin(lines[2].get_xdata(), run.t)
    assert np.allclose(lines[2].get_ydata()[saved], run.reaction("pin").force[:, 2])


def test_what_a_controller_sets_is_plotted_in_steps():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"torque": 0.0})
    arm = m.body("arm", mass=2.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.actuator("motor", "pin.angle", lambda p: p.torque)
    law = zw.controller(lambda sample: {"torque": -sample.t}, 0.1)
    run = m.simulate(until=0.5, save=0.05, controllers={"law": law})
    steps, smooth = (axis.lines[0] for axis in run.plot("torque", "pin.angle").axes)
    assert np.array_equal(steps.get_ydata(), run["torque"])
    assert np.ptp(steps.get_ydata()) > 0.3
    assert (steps.get_drawstyle(), smooth.get_drawstyle()) == ("steps-pre", "default")
    (axis,) = run.plot("pin.angle", against="torque").axes
    assert axis.get_xlabel() == "torque"


def test_what_the_motion_does_not_determine_is_dashed_and_said():
    m = zw.library.door(2)
    run = m.simulate(m.assemble(), until=0.1)
    loose = next(
        n for n in run.channels if n.endswith(".force") and not run.channels.determinate(n)
    )
    figure = run.plot(loose, "energy")
    assert {line.get_linestyle() for line in figure.axes[0].lines} == {"--"}
    assert "indeterminate" in figure.axes[0].get_title(loc="right")
    assert {line.get_linestyle() for line in figure.axes[1].lines} == {"-"}
    assert not figure.axes[1].get_title(loc="right")
    (axis,) = run.plot(f"{loose}.z", against="energy").axes
    assert axis.lines[0].get_linestyle() == "--"


def test_components_are_dashed_one_by_one_and_that_is_said_once():
    """Of a plank on two balls only the forces along the line between them are indeterminate."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    plank = m.body("plank", inertia=zw.inertia.box(2.0, (1.0, 0.2, 0.02)))
    for name, x in (("left", -0.5), ("right", 0.5)):
        m.spherical(name, m.ground, plank, at=(x, 0, 0))
    m.torsion_spring("spring", m.ground, plank, axis="x", stiffness=1.0)
    run = m.simulate(until=0.1)
    figure = run.plot("left.force", "right.force")
    known = [run.channels.determinate(f"left.force.{x}") for x in "xyz"]
    assert known == [False, True, True]
    for axis in figure.axes:
        assert [line.get_linestyle() for line in axis.lines] == ["--", "-", "-", "--"]
    said = [bool(axis.get_title(loc="right")) for axis in figure.axes]
    assert said == [True, False]


@pytest.mark.parametrize("names", [("pin.angle_rate",), ("pin.angle_rate", "rod.center.z")])
def test_phase_plots_for_a_paper_are_a_column_wide(run, names):
    figure = run.plot(*names, against="pin.angle", style="paper")
    assert figure.get_figwidth() == pytest.approx(86.0 / 25.4)
    assert len({axis.get_position().x0 for axis in figure.axes}) == 1


@pytest.mark.parametrize("style", ["screen", "paper"])
@pytest.mark.parametrize("title", ["", "generalized force of the constraint on the rod"])
def test_labels_are_not_cut_off(run, style, title):
    titles = {"pin.moment.z": title} if title else {}
    figure = run.plot("pin.moment.z", "pin.angle", style=style, titles=titles)
    figure.draw_without_rendering()
    for axis in figure.axes:
        box = axis.yaxis.label.get_window_extent()
        assert box.y0 >= 0.0
        assert box.y1 <= figure.bbox.height


def test_a_still_with_traces_fills_the_figure_and_shows_the_whole_path(run):
    figure = run.draw(run.t[0], traces=["rod"])
    (axis,) = figure.axes
    assert axis.get_position().width == 1.0
    path = max((np.column_stack(line.get_data()) for line in axis.lines), key=len)
    assert np.ptp(path, axis=0).max() > 0.5  # of ±1, at the first of all times
    faces = [c for c in axis.collections if "Poly" in type(c).__name__]
    corners = np.concatenate([p.vertices for c in faces for p in c.get_paths()])
    assert np.ptp(np.concatenate([corners, path]), axis=0).max() > 1.9


def test_a_phase_plot_has_one_channel_across_and_one_up(run):
    figure = run.plot("pin.angle_rate", against="pin.angle")
    (axis,) = figure.axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("pin.angle [rad]", "pin.angle_rate [rad/s]")
    assert np.isin(run["pin.angle"], axis.lines[0].get_xdata()).all()


def test_a_figure_for_a_paper_is_a_column_wide_with_titles_in_latex(run):
    plain = matplotlib.rcParams["font.size"]
    figure = run.plot("pin.angle", titles={"pin.angle": r"$\theta$"}, style="paper")
    assert figure.get_figwidth() == pytest.approx(86.0 / 25.4)
    assert figure.axes[0].get_ylabel() == r"$\theta$ [rad]"
    assert figure.axes[0].yaxis.get_label().get_fontsize() == 8.0
    (axis,) = run.plot("pin.angle", titles={"pin.angle": "turn [rad]"}).axes
    assert axis.get_ylabel() == "turn [rad]"
    assert matplotlib.rcParams["font.size"] == plain, "settings of others have changed"
    with pytest.raises(zw.InputError, match="screen, paper"):
        run.plot("pin.angle", style="poster")


@pytest.mark.parametrize("style", ["screen", "paper"])
def test_letters_in_files_for_print_are_true_type(run, tmp_path, style):
    run.plot("pin.angle", style=style).savefig(tmp_path / "a.pdf")
    written = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in written  # a TrueType program
    assert b"/Type3" not in written
    run.plot("pin.angle_rate", against="pin.angle", style=style).savefig(tmp_path / "a.ps")
    assert b"/FontType 3" not in (tmp_path / "a.ps").read_bytes()


def test_actuators_are_worth_a_look():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    arm = m.body("arm", mass=2.0, inertia=0.1, position=(0.5, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.actuator("motor", "pin.angle", lambda: 3.0)
    labels = [a.get_ylabel() for a in m.simulate(until=0.1).plot().axes]
    assert labels == ["pin.angle [rad]", "motor.torque [N m]", "energy [J]"]


def test_titles_of_no_channel_are_refused(run):
    run.plot("pin.angle", titles={"pin.force.x": "a part", "energy": "of another figure"})
    with pytest.raises(zw.InputError, match="Did you mean 'energy'"):
        run.plot("energy", titles={"energi": "E"})


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


def test_panels_with_one_legend_show_it_once(run):
    names = run.system.coordinates[:2]
    for style in ("screen", "paper"):
        figure = run.plot(*names, compare=[run], labels=["first", "second"], style=style)
        legends = [axis.get_legend() for axis in figure.axes]
        assert [legend is not None for legend in legends] == [True, False]


def test_labels_of_a_narrow_figure_do_not_reach_the_next_panel(run):
    figure = run.plot("pin.angle_rate", "pin.force.magnitude", "energy", style="paper")
    figure.canvas.draw()
    boxes = [axis.yaxis.label.get_window_extent() for axis in figure.axes]
    for above, below in pairwise(boxes):
        assert above.y0 > below.y1
    assert figure.axes[1].get_ylabel() == "pin.force.magnitude\n[N]"


def test_between_steps_that_are_far_apart_curves_are_smooth(run):
    """Of a run that is saved at its steps; times that were asked for are drawn as they are."""
    assert len(run) < 30
    (axis,) = run.plot("pin.angle").axes
    t, angle = axis.lines[0].get_data()
    assert np.isin(run.t, t).all()
    assert np.diff(t).max() < 1.01 / 480
    assert np.allclose(angle, run.system.joint_coordinate("pin.angle", run.at(t).q), atol=1e-9)
    (phase,) = run.plot("pin.angle_rate", against="pin.angle").axes
    assert len(phase.lines[0].get_xdata()) == len(t)
    asked = pendulum_run(save=0.25)
    assert np.array_equal(asked.plot("pin.angle").axes[0].lines[0].get_xdata(), asked.t)


def test_a_constant_energy_is_a_line_in_the_middle_with_ticks_in_full(run):
    (axis,) = run.plot("energy").axes
    low, high = axis.get_ylim()
    values = axis.lines[0].get_ydata()
    assert np.ptp(values) < 1e-3 * (high - low)
    assert low < values.min() < values.max() < high
    axis.figure.draw_without_rendering()
    assert axis.yaxis.get_offset_text().get_text() == ""
    (moving,) = run.plot("kinetic_energy").axes
    low, high = moving.get_ylim()
    assert np.ptp(moving.lines[0].get_ydata()) > 0.8 * (high - low)


def test_a_list_of_channels_is_one_panel_with_a_key(run):
    figure = run.plot(["pin.angle", "pin.angle_rate"], "energy", ("pin.force.x", "pin.force"))
    first, second, third = figure.axes
    assert [x.get_text() for x in first.get_legend().get_texts()] == [
        "pin.angle [rad]",
        "pin.angle_rate [rad/s]",
    ]
    assert first.get_ylabel() == ""
    assert second.get_ylabel() == "energy [J]"
    assert third.get_ylabel() == "[N]"
    assert [x.get_text() for x in third.get_legend().get_texts()] == ["pin.force.x", "|pin.force|"]
    saved = np.isin(third.lines[1].get_xdata(), run.t)
    size = np.linalg.norm(run["pin.force"], axis=1)
    assert np.allclose(third.lines[1].get_ydata()[saved], size)
    both = run.plot(["pin.angle", "pin.angle_rate"], compare=run, labels=["a", "b"]).axes[0]
    assert [line.get_label() for line in both.lines][:2] == [
        "a pin.angle [rad]",
        "b pin.angle [rad]",
    ]
    for wrong in ([], [["pin.angle"]], 3):
        with pytest.raises(zw.InputError, match="channel of a plot must be a name, or a list"):
            run.plot(wrong)
    with pytest.raises(zw.InputError, match="which have a panel each"):
        run.plot(["pin.angle", "energy"], against="pin.angle_rate")


def test_labels_of_panels_one_below_the_other_are_aligned(run):
    figure = run.plot("pin.angle", "pin.force", style="paper")
    figure.draw_without_rendering()
    left = [axis.yaxis.label.get_window_extent().x1 for axis in figure.axes]
    assert np.ptp(left) < 0.5


def test_a_stored_run_without_its_system_draws_what_it_has(tmp_path):
    pendulum_run().save(tmp_path / "a.run")
    run = zw.load(tmp_path / "a.run")
    name = run.system.coordinates[0]
    (axis,) = run.plot(name).axes
    assert np.array_equal(axis.lines[0].get_ydata(), run[name])
    assert len(run.plot().axes) == len(run.system.coordinates)
    with pytest.raises(zw.InputError, match="loaded without the system"):
        run.plot("energy")


@pytest.mark.parametrize("style", ["screen", "paper"])
def test_a_dollar_is_money_where_it_begins_no_formula(style):
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.output("cost", lambda c: 2.0 * c["energy"], unit="US$")
    m.output("odd", lambda c: 2.0 * c["energy"], unit=r"$\frac$")
    run = m.simulate(until=0.1)
    titles = {"pin.angle": r"$\theta$", "pin.angle_rate": r"$\nothing$"}
    figure = run.plot("cost", "odd", "pin.angle", "pin.angle_rate", titles=titles, style=style)
    figure.draw_without_rendering()
    assert figure.axes[0].get_ylabel() == "cost [US$]"
    assert [axis.yaxis.label.get_parse_math() for axis in figure.axes] == [True, False, True, False]
    run.plot("pin.angle", against="odd", style=style).draw_without_rendering()


@pytest.mark.parametrize("height", [0.0, 1e6])
@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_the_height_of_a_mechanism_does_not_hide_what_dampers_take(height, damping):
    """A potential is known but for a constant: at 1e6 m it is 2e6 times what swings."""
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0), position=(0.5, height))
    m.revolute("pin", m.ground, rod, at=(0, height))
    m.torsion_spring("damper", m.ground, rod, at=(0, height), damping=damping)
    run = m.simulate(until=1.0)
    (axis,) = run.plot("energy").axes
    low, high = axis.get_ylim()
    assert 0.1 < (high - low) / run.kinetic_energy.max() < 0.3
    if damping:
        assert np.ptp(run.energy) > 0.8 * (high - low)
    else:
        assert np.ptp(run.energy) < 1e-5 * (high - low)


def test_panels_for_a_paper_are_tall_with_keys_above_and_labels_in_one_line(run):
    figure = run.plot("pin.force", "pin.angle", style="paper")
    figure.draw_without_rendering()
    first, second = figure.axes
    width = figure.get_figwidth() * figure.dpi
    assert first.get_window_extent().width > 0.8 * width
    assert first.get_window_extent().height > 0.8 * figure.dpi
    key = first.get_legend().get_window_extent()
    assert key.y0 >= first.get_window_extent().y1 - 1.0
    assert key.x1 <= width
    assert "\n" not in first.get_ylabel() + second.get_ylabel()
    assert min(len(axis.get_yticks()) for axis in figure.axes) > 2
