"""Studies of equilibria, linearizations, kinematics and inverse dynamics.

Each against a closed form, against the single call, and from a plan in a file.
"""

from pathlib import Path

import numpy as np
import pytest
from tests.studies.study_models import digest

import zwang as zw


def computed(model, plan, path) -> zw.Study:
    study = zw.study(model, plan, output=path / "a.zarr").run(workers=1, progress=False)
    assert not study.failed
    return study


# --- linearization --------------------------------------------------------------------------------


def test_frequencies_of_a_pendulum_over_its_length(tmp_path):
    pendulum = zw.library.spherical_pendulum(L=2.0, g=9.81)
    plan = {
        "grid": {"L": [0.5, 1.0, 2.0, 4.0]},
        "compute": "linearization",
        "start": {"x": 0.0, "y": "L", "z": 0.0},
        "outputs": [
            "frequency[0]",
            "largest_real_part",
            "stable",
            {"name": "speed", "value": "frequency[0]", "unit": "rpm"},
            "period = 2 * pi / frequency[0]",
        ],
    }
    data = computed(pendulum, plan, tmp_path).dataset
    expected = np.sqrt(9.81 / data["L"].values)
    np.testing.assert_allclose(data["frequency[0]"], expected, rtol=1e-9)
    np.testing.assert_allclose(data["speed"], 30.0 / np.pi * expected, rtol=1e-9)
    np.testing.assert_allclose(data["period"], 2 * np.pi / expected, rtol=1e-9)
    assert data["stable"].values.tolist() == [1.0] * 4
    assert data["frequency[0]"].attrs["units"] == "rad/s"
    assert data["speed"].attrs["units"] == "rpm"


def test_linearizations_are_those_of_single_calls(tmp_path):
    m = arm()
    m.torsion_spring("damper", m.ground, "arm", stiffness=0.0, damping=1.0)
    dampings = [0.0, 0.5, 1.0]
    plan = {
        "grid": {"damper.damping": dampings},
        "compute": "linearization",
        "start": {"pin.angle": 1.5},
        "outputs": ["real[0]", "imag[0]", "damping[0]", "largest_real_part"],
    }
    data = computed(m, plan, tmp_path).dataset
    start = m.assemble(hold={"pin.angle": 1.5})
    for i, damping in enumerate(dampings):
        rest = m.equilibrium(start, parameters={"damper.damping": damping})
        (upper,) = [x for x in rest.linearize().eigenvalues if x.imag > 0.0]
        assert data["real[0]"].values[i] == upper.real
        assert data["imag[0]"].values[i] == upper.imag
        assert data["largest_real_part"].values[i] == upper.real
        # I x'' + c x' + m g r x = 0
        inertia, decay = 0.1 + 2.0 * 0.25, damping / (2 * (0.1 + 2.0 * 0.25))
        assert upper.real == pytest.approx(-decay, abs=1e-9)
        assert upper.imag == pytest.approx(np.sqrt(9.81 / inertia - decay**2), rel=1e-9)


# --- equilibrium ----------------------------------------------------------------------------------


def spring() -> zw.Mechanism:
    m = zw.Mechanism(gravity=[0.0, 0.0, -9.81])
    block = m.body("block", mass=2.0, inertia=[0.1, 0.1, 0.1], position=[0.0, 0.0, -1.0])
    m.prismatic("guide", "ground", block, at=[0.0, 0.0, 0.0], axis="z")
    m.spring_damper("spring", "ground", block, at=[[0, 0, 0], [0, 0, -1.0]], stiffness=100.0,
                    damping=0.0, length=1.0)  # fmt: skip
    return m


def test_rest_of_a_spring_over_its_stiffness(tmp_path):
    plan = {
        "grid": {"spring.stiffness": [50.0, 100.0, 200.0]},
        "compute": "equilibrium",
        "outputs": [
            "block.z",
            "stable",
            "sag = -1 - block.z",
            "work = spring.stiffness * block.mass",
        ],
    }
    m = spring()
    data = computed(m, plan, tmp_path).dataset
    stiffness = data["spring.stiffness"].values
    np.testing.assert_allclose(data["sag"], 2.0 * 9.81 / stiffness, rtol=1e-9)
    np.testing.assert_array_equal(data["work"], 2.0 * stiffness)
    for i, k in enumerate(stiffness):
        assert (
            data["block.z"].values[i]
            == m.equilibrium(parameters={"spring.stiffness": k})["block.z"]
        )


# --- kinematics -----------------------------------------------------------------------------------

FOUR_BAR = Path("examples/four_bar.toml")
BASE, COUPLER, ROCKER, SPEED = 2.0, 1.8, 1.2, np.pi


def rocker_center(crank: float, angle: np.ndarray) -> np.ndarray:
    """By the intersection of two circles: x and z of the middle of the rocker."""
    angle = angle - np.radians(57.0)  # where the crank is placed; angles are from z to x
    pin = crank * np.stack([np.cos(angle), -np.sin(angle)])
    across = np.array([[BASE], [0.0]]) - pin
    d = np.linalg.norm(across, axis=0)
    along = (COUPLER**2 - ROCKER**2 + d**2) / (2 * d)
    height = np.sqrt(COUPLER**2 - along**2)
    unit = across / d
    joint = pin + along * unit + height * np.stack([-unit[1], unit[0]])
    return 0.5 * (joint + np.array([[BASE], [0.0]]))


def test_kinematics_over_link_lengths(tmp_path):
    plan = {
        "grid": {"crank_length": [0.4, 0.5, 0.6]},
        "compute": "kinematics",
        "until": 2.0,
        "times": 9,
        "outputs": [
            "D.angle",
            "max(D.angle)",
            "rocker.center.x",
            {"name": "height", "value": "rocker.center.z", "unit": "mm"},
            "A.angle",
        ],
    }
    data = computed(FOUR_BAR, plan, tmp_path).dataset
    times = np.linspace(0, 2.0, 9)
    own = zw.read_model(FOUR_BAR, values={"crank_length": 0.4}).kinematics(times)
    np.testing.assert_allclose(data["D.angle"].values[0], own["D.angle"], atol=1e-9)
    for i, crank in enumerate([0.4, 0.5, 0.6]):
        x, z = rocker_center(crank, SPEED * times)
        np.testing.assert_allclose(data["rocker.center.x"].values[i], x, atol=1e-9)
        np.testing.assert_allclose(data["height"].values[i], 1e3 * z, atol=1e-6)
    np.testing.assert_allclose(data["A.angle"], np.tile(SPEED * times, (3, 1)), atol=1e-9)
    assert data["height"].attrs["units"] == "mm"


def test_a_path_that_cannot_be_followed_is_a_row_with_its_sentence(tmp_path):
    plan = {
        "grid": {"crank_length": [0.5, 1.3]},  # the longer crank does not turn
        "compute": "kinematics",
        "until": 2.0,
        "times": 9,
        "outputs": ["D.angle"],
    }
    study = zw.study(FOUR_BAR, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    data = study.dataset
    assert np.isfinite(data["D.angle"].values[0]).all()
    assert np.isnan(data["D.angle"].values[1]).any()


# --- inverse dynamics -----------------------------------------------------------------------------

TIMES = np.linspace(0.0, 1.0, 201)
ANGLE, RATE, ACCELERATION = (
    0.3 * np.sin(2 * TIMES), 0.6 * np.cos(2 * TIMES), -1.2 * np.sin(2 * TIMES),
)  # fmt: skip


def arm() -> zw.Mechanism:
    """A mass on an arm that turns about a pin; its angle is from z to x."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    rod = m.body("arm", mass=2.0, inertia=0.1, position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    return m


def inverse_plan(motion) -> dict:
    return {
        "grid": {"arm.mass": [1.0, 2.0, 4.0]},
        "compute": "inverse_dynamics",
        "analysis": {"actuators": ["pin.angle"], "motion": motion},
        "outputs": [
            "pin.angle.effort",
            "pin.angle.power",
            "pin.angle.speed",
            "load = peak(pin.force.magnitude)",
            {"name": "largest", "value": "peak(pin.angle.effort)", "unit": "kN*m"},
        ],
    }


def test_motor_torques_over_masses(tmp_path):
    motion = {"t": TIMES, "pin.angle": ANGLE}
    m = arm()
    data = computed(m, inverse_plan(motion), tmp_path).dataset
    # The spline of degree five through samples 5 ms apart has accelerations good to 1e-7.
    for i, mass in enumerate([1.0, 2.0, 4.0]):
        torque = (0.1 + mass * 0.25) * ACCELERATION - mass * 9.81 * 0.5 * np.cos(ANGLE)
        np.testing.assert_allclose(data["pin.angle.effort"].values[i], torque, atol=1e-5)
        np.testing.assert_allclose(data["pin.angle.power"].values[i], torque * RATE, atol=1e-5)
        tangent = mass * (0.5 * ACCELERATION - 9.81 * np.cos(ANGLE))
        radial = mass * (-0.5 * RATE**2 + 9.81 * np.sin(ANGLE))
        load = np.hypot(tangent, radial).max()
        assert data["load"].values[i] == pytest.approx(load, rel=1e-6)
        single = m.inverse_dynamics(
            (TIMES, {"pin.angle": ANGLE}), ["pin.angle"], parameters={"arm.mass": mass}
        )
        assert np.array_equal(data["pin.angle.effort"].values[i], single.effort["pin.angle"])
        assert data["largest"].values[i] == pytest.approx(np.abs(torque).max() / 1e3, rel=1e-5)
    units = [data[f"pin.angle.{part}"].attrs["units"] for part in ("effort", "speed", "power")]
    assert units == ["N m", "rad/s", "W"]
    assert data["largest"].attrs["units"] == "kN*m"


# --- from files -----------------------------------------------------------------------------------

MODEL = """
[mechanism]
gravity = [0, -9.81]
plane = "xz"

[body.arm]
mass = 2.0
inertia = 0.1
position = [0.5, 0]

[joint.pin]
type = "revolute"
bodies = ["ground", "arm"]
at = [0, 0]

[equilibrium]
prefer = { "pin.angle" = "80 deg" }
"""
ROWS = '[grid]\n"arm.mass" = [1.0, "2000 g", 4.0]\n'
PLANS = {
    "inverse_dynamics": (
        'outputs = ["pin.angle.effort"]\n' + ROWS
        + '[analysis]\nactuators = ["pin.angle"]\nmotion = "motion.csv"\n'
    ),
    "kinematics": (
        'outputs = ["arm.center.z"]\n' + ROWS
        + '[analysis]\nalong = "pin.angle"\nvalues = [0.0, "30 deg", "1 rad"]\n'
    ),
    "equilibrium": 'outputs = ["pin.angle", "pin.force.z", "stable"]\n' + ROWS,
    "linearization": 'outputs = ["frequency[0]", "stable"]\n' + ROWS,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "arm.toml").write_text(MODEL)
    np.savetxt(tmp_path / "motion.csv", np.stack([TIMES, ANGLE], axis=1), delimiter=",",
               header="t,pin.angle", comments="", fmt="%.17g")  # fmt: skip
    return tmp_path


def from_file(folder, compute) -> zw.Study:
    plan = folder / "PLAN.toml"
    plan.write_text(f'model = "arm.toml"\ncompute = "{compute}"\n{PLANS[compute]}')
    return computed(None, plan, folder)


def test_plans_in_files_give_what_single_calls_give(folder):
    mass = np.array([1.0, 2.0, 4.0])
    data = from_file(folder, "inverse_dynamics").dataset
    torque = np.multiply.outer(mass, -9.81 * 0.5 * np.cos(ANGLE) + 0.25 * ACCELERATION)
    expected = torque + 0.1 * ACCELERATION
    np.testing.assert_allclose(data["pin.angle.effort"], expected, atol=1e-5)


def test_kinematics_along_a_coordinate_in_a_file(folder):
    data = from_file(folder, "kinematics").dataset
    expected = -0.5 * np.sin([0.0, np.pi / 6, 1.0])
    np.testing.assert_allclose(data["arm.center.z"], np.tile(expected, (3, 1)), atol=1e-12)
    assert data["arm.center.z"].dims == ("run", "position")


def test_rests_and_frequencies_in_files(folder):
    data = from_file(folder, "equilibrium").dataset
    np.testing.assert_allclose(data["pin.angle"], np.pi / 2, atol=1e-9)
    np.testing.assert_allclose(data["pin.force.z"], 9.81 * data["arm.mass"].values, rtol=1e-9)
    assert data["stable"].values.tolist() == [1.0] * 3


def test_frequencies_in_files(folder):
    data = from_file(folder, "linearization").dataset
    mass = data["arm.mass"].values
    expected = np.sqrt(mass * 9.81 * 0.5 / (0.1 + mass * 0.25))
    np.testing.assert_allclose(data["frequency[0]"], expected, rtol=1e-9)


def test_a_motion_is_kept_with_the_study(folder):
    """Workers elsewhere, and a later resume, need no other file; another motion is another plan."""
    study = from_file(folder, "inverse_dynamics")
    before = digest(study.path)
    (folder / "motion.csv").unlink()
    again = zw.open_study(study.path)
    for name in list((study.path / "record" / "done").iterdir()):
        name.unlink()
    again.run(workers=1, progress=False)
    assert digest(study.path) == before
    np.savetxt(folder / "motion.csv", np.stack([TIMES, 2 * ANGLE], axis=1), delimiter=",",
               header="t,pin.angle", comments="")  # fmt: skip
    with pytest.raises(zw.StoreError, match="another plan"):
        from_file(folder, "inverse_dynamics")


#: Plan → words of its refusal.
WRONG = {
    'compute = "inverse_dynamics"\noutputs = ["pin.angle.effort"]\n' + ROWS: ("'motion'",),
    'compute = "inverse_dynamics"\noutputs = ["pin.angle.effort"]\n' + ROWS
    + '[analysis]\nmotion = "none.csv"\n': ("analysis.motion", "line 7", "none.csv"),
    'compute = "inverse_dynamics"\noutputs = ["pin.torque"]\n' + ROWS
    + '[analysis]\nactuators = ["pin.angle"]\nmotion = "motion.csv"\n':
        ("outputs[0]", "line 3", "pin.angle.effort"),
    'compute = "inverse_dynamics"\noutputs = ["pin.angle.effort"]\n' + ROWS
    + '[analysis]\nmotion = { t = [0, 1], "pin.angle" = [1] }\n': ("motion.pin.angle", "1 values"),
    'compute = "kinematics"\noutputs = ["pin.angle"]\n' + ROWS: ("no path",),
    'compute = "kinematics"\noutputs = ["pin.angel"]\ntimes = 3\nuntil = 1\n' + ROWS:
        ("outputs[0]", "line 3", "pin.angle"),
    'compute = "kinematics"\noutputs = ["a = 2 * pin.angle"]\ntimes = 3\nuntil = 1\n' + ROWS:
        ("outputs[0]", "pin.angle", "peak"),
    'compute = "equilibrium"\noutputs = ["peak(pin.angle)"]\n' + ROWS: ("outputs[0]", "over time"),
    'compute = "equilibrium"\noutputs = ["stabel"]\n' + ROWS: ("outputs[0]", "stable"),
    'compute = "linearization"\noutputs = ["frequency"]\n' + ROWS:
        ("outputs[0]", "line 3", "frequency[0]"),
    'compute = "linearization"\noutputs = [{ name = "f", value = "frequency[0]", unit = "mm" }]\n'
    + ROWS: ("outputs[0]", "'mm'", "rad/s"),
    'compute = "linearization"\noutputs = [{ name = "f", value = "frequency[0]", unit = "Hz" }]\n'
    + ROWS: ("outputs[0]", "'Hz'", "rad/s"),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_an_analysis_has_not_is_refused_with_its_place(folder, text):
    (folder / "PLAN.toml").write_text(f'model = "arm.toml"\n{text}')
    with pytest.raises(zw.ModelError) as caught:
        zw.study(None, folder / "PLAN.toml")
    for words in WRONG[text]:
        assert words in str(caught.value), str(caught.value)
