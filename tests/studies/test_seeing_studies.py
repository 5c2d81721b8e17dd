"""Pictures, reports, sensitivities, boundaries and joins of studies."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.studies.study_models import pendulum, pendulum_plan

import zwang as zw
from zwang.model_files.examples import example_path
from zwang.studies.concatenate import concatenate
from zwang.studies.plots import KINDS
from zwang.studies.reasons import by_reason
from zwang.studies.refine import refine
from zwang.studies.sensitivity import morris_plan, sobol_plan


@pytest.fixture(scope="module")
def system():
    return pendulum()


@pytest.fixture(scope="module")
def swings(system, tmp_path_factory):
    path = tmp_path_factory.mktemp("seeing") / "a.zarr"
    return zw.study(system, pendulum_plan(), output=path).run(workers=1, progress=False)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_plot_shows_all_runs(swings, kind):
    figure = swings.plot("x" if kind == "envelope" else "peak(x)", kind=kind)
    text = " ".join(
        t.get_text() for ax in figure.axes for t in (ax.xaxis.label, ax.yaxis.label, ax.title)
    )
    words = {"map": "start.x_dot", "scatter": "L", "envelope": "time [s]", "histogram": "peak(x)"}
    assert words.get(kind, "") in text
    if kind == "map":
        values = figure.axes[0].collections[0].get_array()
        expected = swings.on_grid["peak(x)"].values.T
        np.testing.assert_array_equal(np.asarray(values).reshape(expected.shape), expected)


def test_a_line_joins_the_runs_of_one_quantity_in_order(system, tmp_path):
    lengths = [1.2, 0.8, 1.0]
    plan = {**pendulum_plan(), "grid": {"L": lengths, "g": [9.81, 1.62]}}
    plan.pop("random", None)
    study = zw.study(system, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    (ax,) = study.plot("peak(x)", kind="line", against=["L", "g"]).axes
    assert [line.get_label() for line in ax.lines] == ["1.62", "9.81"]
    values = study.on_grid["peak(x)"].sel(g=9.81)
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), np.sort(lengths))
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), values.sortby("L").values)
    with pytest.raises(zw.InputError, match="be over one quantity"):
        study.plot("peak(x)", kind="line", against=["L", "g", "L"])


@pytest.mark.parametrize("style", ["screen", "paper"])
def test_the_legend_of_an_envelope_covers_none_of_it(swings, style):
    figure = swings.plot("x", kind="envelope", style=style)
    figure.savefig(io.BytesIO())
    (ax,) = figure.axes
    (legend,) = figure.legends
    legend, picture = legend.get_window_extent(), ax.get_window_extent()
    assert legend.y0 >= picture.y1
    assert legend.x0 >= 0.0
    assert legend.x1 <= figure.bbox.x1
    assert legend.y1 <= figure.bbox.y1


def test_pictures_for_a_paper_have_titles_and_fit_its_columns(swings, tmp_path):
    figure = swings.plot(
        "peak(x)", kind="histogram", titles={"peak(x)": r"$\hat x$"}, style="paper"
    )
    assert figure.get_figwidth() == pytest.approx(86.0 / 25.4)
    assert figure.axes[0].get_xlabel().startswith(r"$\hat x$")
    assert swings.plot("peak(x)", kind="histogram").axes[0].get_xlabel().startswith("peak(x)")
    figure.savefig(tmp_path / "a.pdf")
    assert b"/Type3" not in (tmp_path / "a.pdf").read_bytes()
    wide = swings.plot("peak(x)", kind="scatter", style="paper")
    assert wide.get_figwidth() == pytest.approx(178.0 / 25.4)
    with pytest.raises(zw.InputError, match=r"Did you mean 'peak\(x\)'"):
        swings.plot("peak(x)", titles={"peek(x)": "x"})


def test_plots_of_what_there_is_not_are_refused(swings):
    with pytest.raises(zw.InputError, match="peak"):
        swings.plot("peek(x)")
    with pytest.raises(zw.InputError, match="histogram"):
        swings.plot("x", kind="histograms")
    with pytest.raises(zw.InputError, match="over time"):
        swings.plot("peak(x)", kind="envelope")


@pytest.mark.parametrize("kind", KINDS)
def test_plots_of_runs_that_all_failed_are_refused_or_empty(tmp_path, kind):
    plan = {
        "list": {"m": [-1.0, -2.0], "L": [1.0, 2.0]},
        "start": {"x": 0.0, "y": "-L"},
        "until": 0.1,
        "times": 2,
        "outputs": ["x"],
    }
    heavy = zw.System(
        ["x", "y"],
        mass=lambda p: p.m * np.eye(2),
        constraints={"rod": lambda q, p: q @ q - p.L**2},
        parameters={"m": 1.0, "L": 1.0},
    )
    study = zw.study(heavy, plan, output=tmp_path / "a.zarr").run(progress=False)
    assert study.counts()["refused"] == 2
    if kind in ("map", "scatter", "line"):
        study.plot("x", kind=kind)
    else:
        with pytest.raises(zw.InputError, match="no run that finished has any"):
            study.plot("x", kind=kind)
    study.report(tmp_path / "a.html")


def test_a_map_has_each_value_at_its_place_in_whatever_order_they_are_listed(tmp_path):
    system = zw.System(["x"], mass=[[1.0]], parameters={"c": 1.0, "d": 1.0})
    plan = {
        "grid": {"c": [2.0, 0.5, 1.0], "d": [3.0, 1.0]},
        "start": {"x": 0.1},
        "until": 0.1,
        "outputs": ["both = c + 10 * d"],
    }
    study = zw.study(system, plan, output=tmp_path / "a.zarr").run(progress=False)
    drawn = study.plot("both", kind="map").axes[0].collections[0]
    edges = drawn.get_coordinates()
    assert (np.diff(edges[0, :, 0]) > 0.0).all()
    assert (np.diff(edges[:, 0, 1]) > 0.0).all()
    expected = np.add.outer([10.0, 30.0], [0.5, 1.0, 2.0])
    np.testing.assert_allclose(np.asarray(drawn.get_array()).reshape(2, 3), expected)


def test_plots_leave_out_what_runs_had_until_they_failed(tmp_path):
    """A four-bar that cannot go on has forces out of all proportion there."""
    plan = {
        "grid": {"crank_length": [0.3, 0.4, 1.7], "speed": ["20 rpm", "30 rpm"]},
        "until": 0.5,
        "times": 3,
        "outputs": ["D.angle", "load = peak(A.force.magnitude)"],
    }
    study = zw.study(example_path("four_bar"), plan, output=tmp_path / "a.zarr")
    data = study.run(progress=False).dataset
    failed = sorted(study.failed)
    assert len(failed) == 2
    assert np.isfinite(data["load"].values[failed]).all()
    colors = study.plot("load", kind="map").axes[0].collections[0].get_array()
    assert np.ma.masked_invalid(np.asarray(colors)).count() == 4
    figure = study.plot("load", kind="map")
    figure.savefig(io.BytesIO())
    legend = figure.axes[0].get_legend().get_window_extent()
    assert legend.y0 >= figure.axes[0].get_window_extent().y1  # beside the colors, not on them
    assert legend.y1 <= figure.bbox.y1
    heights = [p.get_height() for p in study.plot("load", kind="histogram").axes[0].patches]
    assert sum(heights[:-1]) == 4  # the last is the span of 90 %
    ((reason, numbers),) = by_reason(study.failed)
    assert numbers == failed
    assert reason == study.failed[failed[0]]


def test_the_page_of_a_study_is_safe_and_fits_phones(tmp_path):
    system = zw.System(["x"], mass=[[1.0]], parameters={"c": 1.0})
    plan = {
        "grid": {"c": [1.0, 2.0], "settings.integrator": ["order5", "order8"]},
        "start": {"x": 0.0, "x_dot": 1.0},
        "until": 1.0,
        "outputs": ["<i> = end(x)"],
    }
    with pytest.raises(zw.ModelError, match="name of a variable"):
        zw.study(system, plan)
    study = zw.study(system, {**plan, "outputs": ["end(x)"]}, output=tmp_path / "a.zarr")
    page = study.run(progress=False).report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert "innerHTML" not in page
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["words"]["settings.integrator"] == ["order5", "order8"] * 2
    assert data["stored"] is False  # a model of Python functions has to be given again
    assert data["runs_again"] is True


def test_words_that_vary_are_an_axis(system, tmp_path):
    plan = {
        "grid": {"settings.integrator": ["order5", "order8"]},
        "start": {"x": 0.0, "y": -1.0, "x_dot": 1.0},
        "until": 0.1,
        "outputs": ["end(x)"],
    }
    study = zw.study(system, plan, output=tmp_path / "a.zarr").run(progress=False)
    (ax,) = study.plot().axes
    assert [t.get_text() for t in ax.get_xticklabels()] == ["order5", "order8"]
    study.report(tmp_path / "a.html")


def test_the_report_has_the_values_of_its_runs(swings, tmp_path):
    path = swings.report(tmp_path / "a.html")
    page = path.read_text(encoding="utf-8")
    content = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert content is not None
    data = json.loads(content[1])
    assert data["run"] == list(range(40))
    np.testing.assert_allclose(
        data["columns"]["peak(x)"], swings.dataset["peak(x)"].values, rtol=1e-5
    )
    assert "data:image/png" in page
    with pytest.raises(zw.InputError, match="overwrite"):
        swings.report(path)


def additive(tmp_path, plan):
    """A study whose output is known: y = a + 2 b, of a and b from (0, 1), c without effect."""
    system = zw.System(["x"], mass=[[1.0]], parameters={"a": 0.0, "b": 0.0, "c": 0.0})
    return zw.study(system, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)


KNOWN = {
    "sobol": {"a": [0, 1], "b": [0, 1], "c": [0, 1]},
    "samples": 256,
    "seed": 4,
    "start": {"x": 0.0},
    "until": 0.0,
    "outputs": ["y = a + 2 * b + 0 * end(x)"],
}


def test_sobol_indices_of_a_sum(tmp_path):
    found = additive(tmp_path, sobol_plan(KNOWN)).sobol_indices("y")
    # Variances are 1/12 and 4/12; errors of 256 quasi-random samples are below 0.02 here.
    np.testing.assert_allclose(found.first, [0.2, 0.8, 0.0], atol=0.02)
    np.testing.assert_allclose(found.total, [0.2, 0.8, 0.0], atol=0.02)
    assert "first order" in str(found)


def test_morris_effects_of_a_sum(tmp_path):
    found = additive(tmp_path, morris_plan({**KNOWN, "samples": 8})).morris_effects("y")
    spread = 0.75  # of four levels, half a level inside the range
    np.testing.assert_allclose(found.mean, [spread, 2 * spread, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.deviation, 0.0, atol=1e-12)


def test_the_boundary_between_swinging_and_turning_is_found(system, tmp_path):
    """A pendulum on a rod turns over where v² > 4 g L."""
    plan = {
        "grid": {
            "L": {"from": 0.5, "to": 1.5, "count": 3},
            "start.x_dot": {"from": 3.0, "to": 9.0, "count": 4},
        },
        "start": {"x": 0.0, "y": "-L"},
        "until": 3.0,
        "outputs": ["over = max(y) / L"],
        "settings": {"tolerance": 1e-6},
    }
    found = refine(system, plan, tmp_path / "rounds", of="over", level=0.999, tolerance=0.07)
    L, v = found.points.T
    # Within a cell of the curve; near it the top is reached slowly, beyond the end of the runs.
    assert np.abs(v - np.sqrt(4 * 9.81 * L)).max() < 0.2
    assert len(L) > 10
    assert found.runs < 65 * 97 / 10  # of a grid with cells of this size
    again = refine(system, plan, tmp_path / "rounds", of="over", level=0.999, tolerance=0.07)
    assert np.array_equal(again.points, found.points)


def edge_plan(**other):
    return {
        "grid": {
            "L": {"from": 0.5, "to": 1.5, "count": 5},
            "start.x_dot": {"from": 4.0, "to": 8.0, "count": 9},
        },
        "start": {"x": 0.0, "y": "-L"},
        "until": 3.0,
        "outputs": ["over = max(y) / L"],
        "settings": {"tolerance": 1e-6},
        **other,
    }


def test_a_boundary_that_would_take_too_many_runs_is_told_as_far_as_it_is_known(system, tmp_path):
    wanted = {"of": "over", "level": 0.999, "tolerance": 0.05}
    found = refine(system, edge_plan(), tmp_path / "a", **wanted, most_runs=150)
    assert not found.reached
    assert found.runs <= 150
    assert "too many" in str(found)
    # Its cells are those of the last round that was computed, and the boundary is in each of them.
    rows = [s.plan.rows(0, len(s)) for s in found.studies]
    computed = {
        (round(L, 9), round(v, 9))
        for row in rows
        for L, v in zip(row["L"], row["start.x_dot"], strict=True)
    }
    for L, v in found.points:
        a, b = found.size / 2
        for corner in ((L - a, v - b), (L + a, v - b), (L - a, v + b), (L + a, v + b)):
            assert (round(corner[0], 9), round(corner[1], 9)) in computed
    with pytest.raises(zw.InputError, match=r"most_runs.*at least 45"):
        refine(system, edge_plan(), tmp_path / "b", **wanted, most_runs=10)


def test_a_plan_says_itself_what_boundary_to_follow(system, tmp_path):
    table = {"of": "over", "level": 0.999, "tolerance": {"L": 0.3, "start.x_dot": 0.5}}
    said = refine(system, edge_plan(refine=table), tmp_path / "a")
    asked = refine(system, edge_plan(), tmp_path / "b", **table)
    assert np.array_equal(said.points, asked.points)
    assert zw.study(system, edge_plan(refine=table)).digest == zw.study(system, edge_plan()).digest


@pytest.mark.parametrize(
    ("change", "wanted", "words"),
    [
        ({"grid": {"L": [1.0, 1.1, 1.5]}}, {}, "increase evenly"),
        ({"grid": {"L": [1.0]}}, {}, "increase evenly"),
        ({"grid": {"settings.integrator": ["order5", "order8"]}}, {}, "increase evenly"),
        ({}, {"tolerance": {"L": 0.1}}, "each name"),
        ({}, {"tolerance": {"l": 0.1}}, "tolerance of a name"),
        ({}, {"tolerance": -1.0}, "positive"),
        ({}, {"of": "top"}, "output of single values"),
        ({}, {"of": None}, "neither the call nor the plan"),
    ],
)
def test_boundaries_that_cannot_be_followed_are_refused(system, tmp_path, change, wanted, words):
    chosen = {"of": "over", "level": 0.999, "tolerance": 0.1, **wanted}
    with pytest.raises(zw.InputError, match=words):
        refine(system, edge_plan(**change), tmp_path / "a", **chosen)


def test_studies_are_joined_without_computing_again(system, swings, tmp_path):
    plan = pendulum_plan()
    plan["grid"] = {"L": [2.0, 2.5], "start.x_dot": [1.0]}
    other = zw.study(system, plan, output=tmp_path / "b.zarr").run(workers=1, progress=False)
    whole = concatenate([swings, other], tmp_path / "c.zarr")
    data = whole.dataset
    assert whole.complete
    assert len(whole) == 42
    joined = np.concatenate([swings.dataset["x"].values, other.dataset["x"].values])
    assert np.array_equal(data["x"].values, joined)
    assert whole.run_of(41, save=[1.0]).q[-1, 0] == data["x"].values[41, -1]
    longer = zw.study(system, {**plan, "until": 2.0}, output=tmp_path / "d.zarr")
    longer.run(workers=1, progress=False)
    with pytest.raises(zw.InputError, match="study 1"):
        concatenate([swings, longer], tmp_path / "e.zarr")


def test_few_runs_are_drawn_as_large_points_and_counted_in_whole_numbers(tmp_path):
    plan = {**pendulum_plan(8), "times": None, "outputs": ["e = end(y)"]}
    plan.pop("times")
    found = zw.study(pendulum(), plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    (points,) = found.plot("e", kind="scatter").axes[0].lines
    assert points.get_markersize() > 5
    ticks = found.plot("e", kind="histogram").axes[0].get_yticks()
    assert np.array_equal(ticks, np.round(ticks))
    page = found.report(tmp_path / "a.html").read_text()
    assert page.count("<img") == 1  # no histogram of eight runs


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript without a browser")
def test_an_output_may_be_called_as_a_method_of_objects():
    """`constructor` is known to every object of JavaScript, and was shown in place of the name."""
    script = (Path(zw.__file__).parent / "studies" / "report.js").read_text(encoding="utf-8")
    flags = re.MULTILINE | re.DOTALL
    functions = re.search(r"^function own.*?^}\n(?=\nfunction color)", script, flags)[0]
    data = "const D = { labels: {}, units: {} };"
    said = ["node", "-e", f"{data} {functions} console.log(label('constructor'))"]
    shown = subprocess.run(said, capture_output=True, text=True, timeout=60, check=True).stdout
    assert shown == "constructor\n"
