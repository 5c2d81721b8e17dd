"""Results of studies where neither xarray nor pandas is installed."""

import csv
import json
import sys

import numpy as np
import pytest
from tests.rod_on_a_pin import PLANAR
from tests.studies.study_models import pendulum, pendulum_plan
from typer.testing import CliRunner

import zwang as zw
from zwang.cli.app import app

ROD = f"""{PLANAR}[simulation]
until = 0.2
"""
PLAN = """
model = "rod.toml"
times = 3
outputs = ["fall = end(pin.angle)", "pin.angle_rate"]
[list]
"rod.mass" = [1, -1, 2]
"""


@pytest.fixture
def plain(monkeypatch):
    """An installation without the extra `data`."""
    for name in ("xarray", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)


def test_a_sweep_prints_exports_and_reports(plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.toml").write_text(ROD)
    (tmp_path / "plan.toml").write_text(PLAN)
    told = CliRunner().invoke(app, ["sweep", "plan.toml", "--csv", "table.csv"])
    assert told.exit_code == 0, told.output
    assert "rod.mass [kg]" in told.output
    assert "refused" in told.output
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["time"] for row in rows] == ["0.0", "0.1", "0.2"] * 3
    assert (rows[3]["fall"], rows[3]["status"]) == ("", "refused")
    assert float(rows[2]["fall"]) < -0.1
    for command in (["report", "plan.zarr"], ["export", "plan.zarr", "--summary"]):
        told = CliRunner().invoke(app, command)
        assert told.exit_code == 0, told.output
    told = CliRunner().invoke(app, ["export", "plan.zarr", "--summary", "--json"])
    assert json.loads(told.output)["statistics"]["fall"]["runs"] == 2


def test_tables_are_those_of_xarray(tmp_path):
    study = zw.study(pendulum(), pendulum_plan(), output=tmp_path / "a.zarr")
    study.run(workers=1, progress=False)
    data = study.dataset
    frame = data[["x", "end(y)"]].to_dataframe().reset_index()
    table = study.to_pandas(["x", "end(y)"]).reset_index()
    for name in ("run", "L", "start.x_dot", "time", "x", "end(y)"):
        np.testing.assert_array_equal(table[name], frame[name])
    assert set(data.variables) == set(study.arrays)
    for name, array in study.arrays.items():
        assert array.dims == data[name].dims
        assert array.values.tolist() == data[name].values.tolist()
