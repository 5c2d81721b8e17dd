"""Studies of equilibria, linearizations, kinematics and inverse dynamics."""

import numpy as np

import zwang as zw


def test_frequencies_of_a_pendulum_over_its_length(tmp_path):
    pendulum = zw.library.spherical_pendulum(L=2.0, g=9.81)
    name = next(n for n in pendulum.parameters if n == "L")
    plan = {
        "grid": {name: [0.5, 1.0, 2.0, 4.0]},
        "compute": "linearization",
        "start": {"x": 0.0, "y": name, "z": 0.0},
        "outputs": ["frequency[0]", "largest_real_part", "stable"],
    }
    study = zw.study(pendulum, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    data = study.dataset
    assert not study.failed
    np.testing.assert_allclose(data["frequency[0]"], np.sqrt(9.81 / data["L"].values), rtol=1e-9)
    assert data["stable"].values.tolist() == [1.0] * 4
    assert data["frequency[0]"].attrs["units"] == "rad/s"


def spring() -> zw.Mechanism:
    m = zw.Mechanism(gravity=[0.0, 0.0, -9.81])
    block = m.body("block", mass=2.0, inertia=[0.1, 0.1, 0.1], position=[0.0, 0.0, -1.0])
    m.prismatic("guide", "ground", block, at=[0.0, 0.0, 0.0], axis="z")
    m.spring_damper("spring", "ground", block, at=[[0, 0, 0], [0, 0, -1.0]], stiffness=100.0,
                    length=1.0)  # fmt: skip
    return m


def test_rest_of_a_spring_over_its_stiffness(tmp_path):
    plan = {
        "grid": {"spring.stiffness": [50.0, 100.0, 200.0]},
        "compute": "equilibrium",
        "outputs": ["block.z", "stable", "sag = -1 - block.z"],
    }
    study = zw.study(spring(), plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    assert not study.failed
    sag = 2.0 * 9.81 / study.dataset["spring.stiffness"].values
    np.testing.assert_allclose(study.dataset["sag"], sag, rtol=1e-9)


def test_kinematics_over_link_lengths(tmp_path):
    plan = {
        "grid": {"crank_length": [0.4, 0.5]},
        "compute": "kinematics",
        "until": 2.0,
        "times": 9,
        "outputs": ["D.angle", "max(D.angle)"],
    }
    model = "examples/four_bar.toml"
    study = zw.study(model, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    assert not study.failed
    own = zw.read_model(model, values={"crank_length": 0.4}).kinematics(np.linspace(0, 2.0, 9))
    np.testing.assert_allclose(study.dataset["D.angle"].values[0], own["D.angle"], atol=1e-9)
