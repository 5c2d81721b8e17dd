"""Least, greatest, mean and RMS of channels that are undefined at some states."""

import numpy as np
import pytest
from tests import rod_on_a_pin

import zwang as zw
from zwang.results.channel_summary import (
    mean_over_time,
    rms_over_time,
    summary_of,
    summary_table,
)

#: The rod begins at rest: the ratio of two rates is 0/0 there, and −1/2 from then on.
OUTPUTS = """
[output]
ratio = "rod.velocity.z / pin.angle_rate / cos(pin.angle)"
never = "sqrt(-1 - pin.angle^2)"
"""


def test_defined_values_are_summed_up_and_the_others_counted(tmp_path):
    run = rod_on_a_pin.read(tmp_path, OUTPUTS).simulate(save=0.01)
    assert np.isnan(run["ratio"]).sum() == 1
    found = summary_of(run, ["ratio", "pin.angle", "never"])
    ratio, never = found["ratio"], found["never"]
    assert [ratio[k] for k in ("least", "greatest", "mean")] == pytest.approx([-0.5] * 3, abs=1e-6)
    assert ratio["rms"] == pytest.approx(0.5, abs=1e-6)
    assert (ratio["undefined"], ratio["values"], found["pin.angle"]["undefined"]) == (1, 101, 0)
    assert np.isnan([never[k] for k in ("least", "greatest", "mean", "rms")]).all()
    table = summary_table(found)
    assert "ratio: 1 of 101 undefined" in table
    assert "never: 101 of 101 undefined" in table
    assert "pin.angle:" not in table


def test_infinite_values_are_extremes_and_counted(tmp_path):
    outputs = """
[output]
one = "1 / (t - 0.5)"
down = "-1 / abs(t - 0.5)"
"""
    run = rod_on_a_pin.read(tmp_path, outputs).simulate(until=1.0, save=0.25)
    found = summary_of(run, ["one", "down"])
    assert (found["one"]["infinite"], found["one"]["undefined"]) == (1, 0)
    assert (found["one"]["greatest"], found["one"]["at_greatest"]) == (np.inf, 0.5)
    assert found["one"]["least"] == -4.0
    assert (found["down"]["least"], found["down"]["greatest"]) == (-np.inf, -2.0)
    assert np.isfinite([found["down"]["mean"], found["down"]["rms"]]).all()
    table = summary_table(found)
    assert "one: 1 of 5 infinite" in table
    assert "undefined" not in table


def test_times_at_which_channels_are_unbounded_are_in_order():
    facts = {"unit": "N", **dict.fromkeys(("least", "greatest", "mean", "rms"), 1.0)}
    facts |= {"at_least": 0.0, "at_greatest": 0.0}
    found = {f"c{t:g}": {**facts, "unbounded_at": t} for t in (10.5, 2.25, 2.25000001)}
    last = summary_table(found).splitlines()[-1]
    assert "t = 2.25 and 10.5 s" in last
    assert last.endswith("its numbers depend on which times were saved.")


def test_time_next_to_undefined_values_does_not_count():
    t = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    y = np.array([np.nan, 2.0, 2.0, np.inf, 7.0])
    assert mean_over_time(t, y) == 2.0
    assert rms_over_time(t, y) == 2.0
    assert mean_over_time(t[:2], y[:2]) == 2.0
    assert mean_over_time(t, t) == 2.5


def test_means_of_studies_are_of_the_defined_values(tmp_path):
    path = rod_on_a_pin.written(tmp_path, OUTPUTS)
    plan = {"grid": {"rod.mass": [1.0, 2.0]}, "outputs": ["mean(ratio)", "rms(ratio)"]}
    data = zw.study(path, plan, output=tmp_path / "a.zarr").run(progress=False).dataset
    np.testing.assert_allclose(data["mean(ratio)"].values, -0.5, rtol=0, atol=1e-5)
    np.testing.assert_allclose(data["rms(ratio)"].values, 0.5, rtol=0, atol=1e-5)
