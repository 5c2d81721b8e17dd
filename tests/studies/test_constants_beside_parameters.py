"""Constants of a file that vary in a study, where dimensions depend on its parameters, too."""

import numpy as np
import pytest

import zwang as zw
from zwang.studies.compute import FINISHED, REFUSED

#: The center of a rod is beside its middle by a parameter; its length is a constant.
ROD = """
[constants]
L = "1 m"
[parameters]
ecc = "0 mm"
[mechanism]
plane = "xy"
gravity = [0, -9.81]
[body.rod]
mass = 1
shape = { type = "rod", length = "L", position = ["ecc", 0, 0] }
position = ["L / 2", 0]
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0]
[simulation]
until = 0.3
"""
PLAN = {
    "outputs": ["pin.angle", "peak(pin.force.magnitude)"],
    "grid": {"ecc": [0.0, 0.01], "L": [1.0, 1.2]},
}


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(ROD)
    return zw.study(path, PLAN, output=tmp_path / "rod.zarr").run(workers=1, progress=False)


def test_rows_are_those_of_the_file_with_these_constants(study, tmp_path):
    data = study.dataset
    assert data["status"].values.tolist() == [FINISHED] * 4
    for i in range(4):
        L, ecc = float(data["L"][i]), float(data["ecc"][i])
        path = tmp_path / f"alone{i}.toml"
        path.write_text(ROD.replace('"1 m"', str(L)).replace('"0 mm"', str(ecc)))
        run = zw.read_model(path).simulate()
        assert float(data["pin.angle"][i]) == pytest.approx(run["pin.angle"][-1], abs=1e-8)


def test_a_run_of_them_is_had_again(study):
    run = study.run_of(3)
    assert run.at(0.3).q.tolist() == pytest.approx(run.q[-1].tolist())
    assert run["pin.angle"][-1] == float(study.dataset["pin.angle"][3])


def test_a_constant_that_makes_no_mechanism_is_a_row_with_its_sentence(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(ROD)
    plan = {**PLAN, "grid": {"ecc": [0.0, 0.01], "L": [1.0, -1.0]}}
    data = zw.study(path, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False).dataset
    assert data["status"].values.tolist() == [FINISHED, REFUSED, FINISHED, REFUSED]
    assert "length" in str(data["reason"].values[1])
    assert np.isfinite(data["pin.angle"].values[[0, 2]]).all()
