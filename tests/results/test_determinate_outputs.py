"""Outputs of indeterminate reactions: sums that the motion determines, and what it does not."""

import numpy as np
import pytest
from scipy.io import loadmat

import zwang as zw
from zwang.results.channel_summary import summary_of


def door():
    """A leaf on two hinges: along the axis and across, how they share is left open."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    m.body("leaf", mass=20.0, inertia=(1, 1, 1), position=(0.4, 0, 1))
    for name, height in (("low", 0.2), ("high", 1.8)):
        m.revolute(name, m.ground, "leaf", at=(0, 0, height), axis="z")
    m.drive("closer", "low.angle", lambda t: 0.5 * t**2)
    outputs = {
        "both": lambda c: c["low.force.z"] + c["high.force.z"],
        "vectors": lambda c: 2.0 * c["low.force"][2] + 2.0 * c["high.force"][2],
        "difference": lambda c: c["low.force.z"] - c["high.force.z"],
        "turned": lambda c, t: np.cos(t) * (c["low.force.x"] + c["high.force.x"]),
        "one": lambda c: c["low.force.z"],
        "tilt": lambda c: c["low.moment.x"] + c["high.moment.x"] - 1.6 * c["high.force.y"],
        "tilt_wrong": lambda c: c["low.moment.x"] + c["high.moment.x"],
        "of_outputs": lambda c: c["both"] + 3.0 * c["turned"],
        "half_of_outputs": lambda c: c["both"] + c["one"],
        "square": lambda c: (c["low.force.z"] + c["high.force.z"]) ** 2,
        "squares": lambda c: c["low.force.z"] ** 2 + c["high.force.z"] ** 2,
        "level": lambda c: c["low.force.x"] + c["high.force.x"],
        "across": lambda c: c["low.force.y"] + c["high.force.y"],
        "net": lambda c: np.sqrt(c["level"] ** 2 + c["across"] ** 2 + c["both"] ** 2),
        "net_of_one": lambda c: np.sqrt(c["level"] ** 2 + c["one"] ** 2),
        "heavy": lambda c: zw.where(c["both"] > 60.0, 1.0, 0.0),
        "where": lambda c: zw.where(c["low.force.z"] > 60.0, 1.0, 0.0),
        "far": lambda c: zw.where(c["low.force.z"] > 1e9, 1.0, 0.0),
        "sign": lambda c: np.sign(c["low.force.z"] - 60.0),
        "which": lambda c: zw.where(
            c["low.force.z"] > c["high.force.z"] + 50.0, c["low.angle"], 7.0
        ),
        "whole": lambda c: np.floor(c["low.force.z"]),
        "most": lambda c: np.maximum(c["low.force.z"], 1e9),
        "switched": lambda c, t: zw.where((t > 0.33) & (t < 0.37), c["low.force.z"], 0.0),
        "beside_much": lambda c: 1e10 * (c["low.force.z"] + c["high.force.z"]) + c["low.force.z"],
        "much_of_one": lambda c: (
            1e10 * c["low.force.z"] + c["low.force.z"] + 1e10 * c["high.force.z"]
        ),
        "closing": lambda c: c["closer.torque"],
        "place": lambda c: c["leaf.position.x"],
    }
    for name, function in outputs.items():
        m.output(name, function)
    return m


DETERMINATE = (
    *("both", "vectors", "turned", "tilt", "of_outputs", "closing", "place"),
    *("square", "net", "heavy"),
)
OPEN = (
    *("difference", "one", "tilt_wrong", "half_of_outputs", "squares", "net_of_one"),
    *("where", "far", "sign", "which", "whole", "most", "switched", "beside_much", "much_of_one"),
)


@pytest.fixture(scope="module")
def run():
    return door().simulate(until=1.0, save=0.1)


@pytest.mark.parametrize("name", DETERMINATE)
def test_a_sum_that_no_admissible_forces_change_is_determinate(run, name):
    assert run.channels.determinate(name)


@pytest.mark.parametrize("name", OPEN)
def test_what_they_change_is_not(run, name):
    assert not run.channels.determinate(name)


def test_both_hinges_carry_the_leaf_together(run):
    np.testing.assert_allclose(run["both"], 20.0 * 9.81, rtol=1e-12)
    # The same question, of the passport.
    both = run.system.passport(run.at(0.5), groups={"both": ["low", "high"]}).groups["both"]
    assert both.determinate_components[run.system.velocities.index("leaf.vz")]


def test_tables_and_studies_say_the_same(run, tmp_path):
    found = summary_of(run, ["both", "one"])
    assert found["both"]["determinate"]
    assert not found["one"]["determinate"]
    path = run.to_csv(tmp_path / "a.csv", channels=["both", "one"], units=True)
    head = path.read_text(encoding="utf-8").splitlines()[0]
    assert head.split(",")[1:] == ["both", "one (indeterminate)"]
    mat = loadmat(run.to_mat(tmp_path / "a.mat", ["both", "one", "low.force"]))
    listed = [str(x[0]) for x in mat["indeterminate"].ravel()]
    assert listed == ["one", "low_force_x", "low_force_y", "low_force_z"]
    plan = {"list": {"leaf.mass": [20.0]}, "until": 0.1, "outputs": ["peak(both)", "peak(one)"]}
    study = zw.study(door(), plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    data = study.dataset
    assert data["peak(both)"].attrs.get("determinate", 1)
    assert not data["peak(one)"].attrs["determinate"]


def test_a_stored_run_says_the_same(run, tmp_path):
    run.save(tmp_path / "a.run")
    loaded = zw.load(tmp_path / "a.run", door())
    assert loaded.channels.determinate("both")
    assert not loaded.channels.determinate("one")
