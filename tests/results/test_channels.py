"""Channels of a run by name, against closed forms and differences of the motion."""

import csv

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.results.channel_catalog import PARTS
from zwang.results.resample import at_times
from zwang.view.channels import series_of

#: What is computed directly agrees to rounding; forces of a run are as good as its states.
ROUNDING, FORCES = 1e-12, 1e-9
#: Central differences of states with errors of 1e-12 over steps of 1e-4 s.
STEP, DIFFERENCES = 1e-4, 1e-6
G, MASS, LENGTH = 9.81, 2.0, 0.8


def crank(value=lambda t: 0.3 + 2.0 * t):
    """A driven crank about y: torque, reaction and power are closed forms."""
    m = zw.Mechanism(gravity=(0, 0, -G))
    rod = m.body(
        "rod",
        inertia=zw.inertia.rod(MASS, LENGTH, axis=(1, 0, 0)),
        position=(LENGTH / 2, 0, 0),
    )
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.drive("motor", "pin.angle", value)
    return m


def elastic():
    """A block on a slide between a spring and the ground, with a bushing and a push beside."""
    m = zw.Mechanism(gravity=(0, 0, 0))
    block = m.body("block", mass=MASS, inertia=zw.inertia.sphere(MASS, 0.1), position=(1.5, 0, 0))
    m.prismatic("slide", m.ground, block, axis="x", at=(1.5, 0, 0))
    m.spring_damper(
        "spring",
        m.ground,
        block,
        at=[(0, 0, 0), (1.5, 0, 0)],
        stiffness=40.0,
        damping=3.0,
        length=1.0,
    )
    m.bushing("bush", m.ground, block, at=(1.5, 0, 0), stiffness=(7.0, 8.0, 9.0))
    m.force("push", block, force=(2.0, 1.0, 0.0), at=(0.0, 0.1, 0.0))
    return m


@pytest.fixture(scope="module")
def driven():
    return crank().simulate(until=1.0, save=0.1)


@pytest.fixture(scope="module")
def sprung():
    return elastic().simulate(until=0.5, save=0.05)


def test_torque_of_a_driver_is_that_of_gravity_at_constant_speed(driven):
    # About y an angle is positive from z towards x: the rod along x falls with a growing angle.
    angle = 0.3 + 2.0 * driven.t
    torque = -MASS * G * LENGTH / 2 * np.cos(angle)
    np.testing.assert_allclose(driven["motor.torque"], torque, atol=FORCES)
    np.testing.assert_allclose(driven["motor.speed"], 2.0, atol=FORCES)
    np.testing.assert_allclose(driven["motor.power"], 2.0 * torque, atol=FORCES)


def test_the_sign_of_a_torque_is_that_of_the_angle_half_a_rotation_off():
    """sin(θ − f) = 0 holds for θ = f + π as well, and there its multiplier has the other sign."""
    here = crank(lambda t: 0.3 + 2.0 * t)
    there = crank(lambda t: 0.3 + np.pi + 2.0 * t)
    start = here.simulate(until=0.1)[0]
    near, off = (m.simulate(start, until=0.1, save=0.05) for m in (here, there))
    np.testing.assert_allclose(off["pin.angle"], near["pin.angle"], atol=FORCES)
    np.testing.assert_allclose(off["motor.torque"], near["motor.torque"], atol=FORCES)
    assert np.all(np.abs(near["motor.torque"]) > 1.0)


def test_effort_of_a_driver_of_a_displacement():
    m = zw.Mechanism(gravity=(0, 0, -G))
    lift = m.body("lift", mass=MASS, inertia=zw.inertia.sphere(MASS, 0.1))
    m.prismatic("guide", m.ground, lift, axis="z", at=(0, 0, 0))
    m.drive("jack", "guide.displacement", lambda t: 0.5 * 3.0 * t * t)
    run = m.simulate(until=0.4, save=0.1)
    np.testing.assert_allclose(run["jack.effort"], MASS * (G + 3.0), atol=FORCES)
    np.testing.assert_allclose(run["jack.power"], MASS * (G + 3.0) * 3.0 * run.t, atol=FORCES)
    assert run.channels["jack.effort"].unit == "N"


def test_motion_of_a_body_is_that_of_its_states(driven):
    t = np.array([0.31, 0.52])
    before, after = (driven.at(t + sign * STEP) for sign in (-1.0, 1.0))
    x = driven.system.coordinates.index("rod.x")
    for k, part in enumerate("xyz"):
        # The origin of the rod is its center.
        velocity = (after.q[:, x + k] - before.q[:, x + k]) / (2.0 * STEP)
        at = at_times(driven, t)
        np.testing.assert_allclose(at[f"rod.velocity.{part}"], velocity, atol=DIFFERENCES)
    r = np.array([[np.cos(a), 0.0, -np.sin(a)] for a in 0.3 + 2.0 * t]) * LENGTH / 2
    np.testing.assert_allclose(at["rod.position"], r, atol=FORCES)
    np.testing.assert_allclose(at["rod.acceleration"], -4.0 * r, atol=FORCES)
    np.testing.assert_allclose(at["rod.angular_velocity"], [[0, 2, 0]] * 2, atol=FORCES)
    np.testing.assert_allclose(at["rod.angular_acceleration"], np.zeros((2, 3)), atol=FORCES)


def test_acceleration_of_an_origin_off_the_center():
    """A free body that spins: its center is at rest, its origin runs around it."""
    m = zw.Mechanism(gravity=(0, 0, 0))
    inertia = zw.inertia.box(1.0, (0.2, 0.4, 0.6)).at((0.3, 0.0, 0.0))
    m.body(
        "box", free=True, inertia=inertia, angular_velocity=(0, 0, 2.0), velocity=(0.0, -0.6, 0.0)
    )
    run = m.simulate(until=0.5, save=0.1)
    arm = run["box.position"] - run["box.center"]
    np.testing.assert_allclose(np.linalg.norm(arm, axis=1), 0.3, atol=FORCES)
    np.testing.assert_allclose(run["box.acceleration"], -4.0 * arm, atol=FORCES)


def test_forces_of_elements(sprung):
    x, v = sprung["slide.displacement"] + 1.5, sprung["slide.displacement_rate"]
    tension = 40.0 * (x - 1.0) + 3.0 * v
    np.testing.assert_allclose(sprung["spring.force"], tension, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sprung["bush.force.x"], -7.0 * (x - 1.5), atol=ROUNDING)
    np.testing.assert_allclose(sprung["push.force"], [[2.0, 1.0, 0.0]] * len(sprung))
    acceleration = (2.0 - tension - 7.0 * (x - 1.5)) / MASS
    np.testing.assert_allclose(sprung["block.acceleration.x"], acceleration, atol=FORCES)


def test_moment_of_a_torsion_spring_has_the_sign_of_its_twist():
    m = zw.Mechanism(gravity=(0, 0, 0))
    wheel = m.body("wheel", inertia=zw.inertia.cylinder(1.0, 0.2, 0.1, axis=(0, 1, 0)))
    m.revolute("pin", m.ground, wheel, axis="y", at=(0, 0, 0))
    m.torsion_spring("coil", m.ground, wheel, axis="y", stiffness=5.0, angle=-0.4, damping=0.2)
    run = m.simulate(until=0.3, save=0.1)
    moment = 5.0 * (run["pin.angle"] + 0.4) + 0.2 * run["pin.angle_rate"]
    np.testing.assert_allclose(run["coil.moment"], moment, rtol=1e-11, atol=1e-11)
    assert run["coil.moment"][0] > 1.9


def test_a_vector_has_components_and_a_magnitude(driven):
    force = driven.reaction("pin").force
    assert np.array_equal(driven["pin.force"], force)
    assert np.array_equal(driven["pin.force.z"], force[:, 2])
    np.testing.assert_allclose(driven["pin.force.magnitude"], np.linalg.norm(force, axis=1))
    with pytest.raises(zw.InputError, match=r"'pin\.force\.w'"):
        driven["pin.force.w"]
    with pytest.raises(zw.InputError, match=r"energy\.x"):
        driven["energy.x"]


def test_channels_are_listed_with_units_and_determinacy():
    run = zw.library.bricard().simulate(until=0.05)
    name = next(n for n in run.channels if n.endswith(".force"))
    assert run.channels[name].unit == "N"
    assert not run.channels.determinate(name)
    assert "indeterminate" in str(run.channels)
    assert run.channels.determinate("energy")
    assert len(repr(run.channels)) < 120


def test_outputs_of_indeterminate_reactions_are_not_called_determinate():
    """A beam on two fixed bearings: what pulls along it may be shared in any way."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    beam = m.body("beam", inertia=zw.inertia.box(2.0, (1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    m.revolute("left", m.ground, beam, at=(0, 0, 0), axis="x")
    m.revolute("right", m.ground, beam, at=(1, 0, 0), axis="x")
    m.output("pull", lambda c: c["left.force.x"], unit="N")
    m.output("twice", lambda c: 2.0 * c["pull"], unit="N")
    m.output("size", lambda c: c["right.force.magnitude"], unit="N")
    m.output("height", lambda c: c["beam.position"][2] + c["left.angle"], unit="m")
    run = m.simulate(until=0.1)
    assert not run.channels.determinate("left.force")
    assert [run.channels.determinate(n) for n in ("pull", "twice", "size")] == [False] * 3
    assert run.channels.determinate("height")
    marked = [row.split()[0] for row in str(run.channels).splitlines() if "of indet" in row]
    assert marked == ["pull", "twice", "size"]
    assert not series_of(run, "twice").determinate


def test_systems_of_functions_have_multipliers():
    system = zw.library.spherical_pendulum()
    run = system.simulate(system.assemble(hold={"x": 0.3}), until=0.2)
    assert np.array_equal(run["rod.multiplier"], run.multipliers("rod")[:, 0])
    assert "potential_energy" in run.channels


def test_a_coordinate_comes_before_a_channel_of_the_same_name():
    system = zw.System(coordinates=["energy"], mass=[[1.0]], force=[0.0])
    run = system.simulate([2.0], [0.0], until=0.1)
    assert np.all(run["energy"] == 2.0)
    assert list(run.channels).count("energy") == 1


# --- tables ---------------------------------------------------------------------------------------


def test_csv_has_names_then_numbers(driven, tmp_path):
    path = driven.to_csv(tmp_path / "run.csv", ["pin.angle", "pin.force"], every=0.25, units=True)
    with path.open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["t [s]", "pin.angle [rad]"] + [f"pin.force.{k} [N]" for k in "xyz"]
    values = np.array(rows, dtype=float)
    np.testing.assert_allclose(values[:, 0], [0.0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(values[:, 1], 0.3 + 2.0 * values[:, 0], atol=FORCES)


def test_numbers_of_a_csv_are_those_of_the_run_to_the_bit(driven, tmp_path):
    path = driven.to_csv(tmp_path / "run.csv", "pin.angle")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    assert np.array_equal(values[:, 1], driven["pin.angle"])


def test_degrees_on_request(driven):
    frame = driven.to_pandas(["pin.angle", "pin.angle_rate", "pin.force.x"], degrees=True)
    np.testing.assert_allclose(frame["pin.angle"], np.rad2deg(driven["pin.angle"]))
    assert frame.attrs["units"]["pin.angle_rate"] == "deg/s"
    assert np.array_equal(frame["pin.force.x"], driven["pin.force.x"])


def test_xarray_has_units_reactions_and_energies(driven):
    data = driven.to_xarray()
    assert data["pin.force.x"].attrs["units"] == "N"
    assert {"motor.torque", "energy", "rod.position.z"} <= set(data.data_vars)
    assert np.array_equal(data["pin.angle"], driven["pin.angle"])


def test_matlab_reads_variables_by_plain_names(driven, tmp_path):
    from scipy.io import loadmat

    path = driven.to_mat(tmp_path / "run.mat", ["pin.angle", "pin.force"])
    found = loadmat(path)
    assert np.array_equal(found["pin_angle"][:, 0], driven["pin.angle"])
    assert np.array_equal(found["pin_force_y"][:, 0], driven["pin.force.y"])
    assert next(str(row[1][0]) for row in found["channels"]) == "pin.angle"


@pytest.mark.parametrize("every", [0.0, -1.0, np.nan, "often", True, 1e-12])
def test_intervals_that_make_no_table_are_refused(driven, every, tmp_path):
    with pytest.raises(zw.InputError, match="every"):
        driven.to_csv(tmp_path / "run.csv", "pin.angle", every=every)


def test_a_folder_that_is_not_there_is_named(driven, tmp_path):
    with pytest.raises(zw.StoreError, match="nowhere"):
        driven.to_csv(tmp_path / "nowhere" / "run.csv", "pin.angle")
    with pytest.raises(zw.StoreError, match="nowhere"):
        driven.to_mat(tmp_path / "nowhere" / "run.mat", "pin.angle")


def test_a_run_without_a_stored_model_asks_for_its_system(driven, tmp_path):
    driven.save(tmp_path / "driven")
    for call in (zw.verify, zw.resume):
        with pytest.raises(zw.InputError, match="has no model file stored with it, so the system"):
            call(tmp_path / "driven")
        with pytest.raises(zw.ZwangError, match="nowhere"):
            call(tmp_path / "nowhere")
    assert set(zw.load(tmp_path / "driven").channels) == {
        *driven.system.coordinates,
        *driven.system.velocities,
    }
    with pytest.raises(zw.InputError, match=r"Joint angles.*need it.*zw.load\(path, system\)"):
        zw.load(tmp_path / "driven")["pin.angle"]


def test_components_of_indeterminate_reactions_are_judged_one_by_one():
    """A four-bar in the x-z plane: forces in the plane are determinate, those across are not."""
    run = library.four_bar(planar=False).simulate(until=0.5, save=0.1)
    known = {part: run.channels.determinate(f"A.force.{part}") for part in PARTS}
    assert known == {"x": True, "y": False, "z": True, "magnitude": False}
    assert not run.channels.determinate("A.force")
    assert run.channels.determinate("A.moment.y")  # none, about the axis of the hinge
    assert not run.channels.determinate("A.moment.x")
    assert series_of(run, "A.force.x").determinate
    assert not series_of(run, "A.force.y").determinate
    assert "(x and z determinate; else the value of least norm)" in str(run.channels)


def test_entries_of_parameters_have_the_names_that_tables_give_them(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    run = sampled()
    assert np.array_equal(run["gain[0]"], run["gain"][:, 0])
    assert np.ptp(run["gain[0]"]) > 0.0
    assert list(run.to_pandas(["gain[0]", "u"]).columns) == ["gain[0]", "u"]
    text = run.to_csv(tmp_path / "a.csv", ["gain[2]"]).read_text(encoding="utf-8").split()
    assert text[:2] == ["t,gain[2]", "0.0,3.0"]
    (axis,) = run.plot("gain[0]").axes
    assert axis.get_ylabel() == "gain[0]"
    assert axis.lines[0].get_drawstyle() == "steps-pre"
    for name in ("gain[3]", "gain[0,0]", "gain[-1]", "lift[0]"):
        with pytest.raises(zw.InputError, match=r"^channel"):
            run[name]


def sampled():
    """A cart whose push is set by a controller, and three gains by another."""
    m = zw.Mechanism(plane="xz", parameters={"u": 0.0, "gain": np.zeros(3)})
    cart = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.actuator("motor", "rail.displacement", lambda p: p.u + p.gain[0])
    push = zw.controller(lambda sample: {"u": 1.0 + sample.number}, 0.1)
    gains = zw.controller(lambda sample: {"gain": [sample.number, 2.0, 3.0]}, 0.2)
    return m.simulate(until=0.5, save=0.1, controllers={"push": push, "gains": gains})


def test_tables_have_parameters_that_a_controller_sets(tmp_path):
    run = sampled()
    frame = run.to_pandas(["u", "motor.effort", "gain"])
    assert list(frame.columns) == ["u", "motor.effort", "gain[0]", "gain[1]", "gain[2]"]
    np.testing.assert_array_equal(frame["u"], run["u"])
    np.testing.assert_array_equal(frame["gain[0]"], run["gain"][:, 0])
    np.testing.assert_allclose(frame["motor.effort"], frame["u"] + frame["gain[0]"], atol=1e-12)
    with run.to_csv(tmp_path / "run.csv", ["u"], units=True).open() as file:
        head, *rows = csv.reader(file)
    assert head == ["t [s]", "u"]
    assert [float(row[1]) for row in rows] == run["u"].tolist()
    assert run.to_xarray(["u"])["u"].attrs["long_name"].startswith("parameter u")
    from scipy.io import loadmat

    assert loadmat(run.to_mat(tmp_path / "run.mat", "u"))["u"].ravel().tolist() == run["u"].tolist()
    # Between saved states it is what was held there.
    fine = run.to_pandas("u", every=0.05)["u"]
    assert fine.iloc[1::2].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_parameters_that_change_are_channels_and_columns(tmp_path):
    run = sampled()
    assert [name for name, c in run.channels.items() if c.parameter] == ["gain", "u"]
    assert "gravity" not in run.channels  # a constant
    np.testing.assert_array_equal(run.channels["gain"].values(run), run["gain"])
    frame = run.to_pandas()
    assert list(frame.columns)[-4:] == ["gain[0]", "gain[1]", "gain[2]", "u"]
    np.testing.assert_array_equal(frame["u"], run["u"])
    assert "u    " in str(run.channels)
    run.save(tmp_path / "run")
    assert list(zw.load(tmp_path / "run").to_pandas().columns)[-4:] == list(frame.columns)[-4:]


def test_parameters_that_events_change_are_channels():
    ball = zw.System(
        ["x"], parameters={"u": 1.0, "w": 2.0}, mass=lambda: np.eye(1), force=lambda p: [p.u]
    )
    passed = zw.event(lambda q: q[0] - 0.1, zw.set_parameters(u=-1.0), direction=1)
    run = ball.simulate([0.0], until=1.0, save=0.1, events={"passed": passed})
    assert [name for name, c in run.channels.items() if c.parameter] == ["u"]
    assert set(run.to_pandas()["u"]) == {1.0, -1.0}
    alone = ball.simulate([0.0], until=1.0, save=0.1)
    assert "u" not in alone.channels
    assert "u" not in alone.to_pandas()
    assert set(alone["u"]) == {1.0}


def test_what_follows_from_parameters_alone_is_drawn_in_steps():
    from zwang.view.channels import series_of

    m = zw.Mechanism(plane="xz", parameters={"u": 0.0, "gain": np.zeros(3)})
    cart = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    m.actuator("timed", "rail.displacement", lambda t, p: p.u + t)
    m.actuator("spring", "rail.displacement", lambda c, p: p.u * c["rail.displacement"])
    push = {"push": zw.controller(lambda sample: {"u": 1.0 + sample.number}, 0.1)}
    run = m.simulate(until=0.3, save=0.1, controllers=push)
    held = {"u", "gain", "motor.effort"}
    drawn = [*held, "timed.effort", "spring.effort", "motor.power", "motor.speed", "rail.force"]
    assert {name for name in drawn if series_of(run, name).held} == held
    assert series_of(run, "gain").parts == ("[0]", "[1]", "[2]")


def test_an_unknown_name_in_a_table_is_named():
    with pytest.raises(zw.ZwangError, match=r"'uu' is not known\. Did you mean 'u'"):
        sampled().to_pandas(["uu"])


def test_outputs_and_events_read_parameters_as_such():
    m = zw.Mechanism(plane="xz", parameters={"u": 0.0})
    cart = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    push = {"push": zw.controller(lambda sample: {"u": 1.0 + sample.number}, 0.1)}
    m.output("twice", lambda p: 2.0 * p.u)
    m.output("wrong", lambda c: 2.0 * c["u"])
    run = m.simulate(until=0.5, save=0.1, controllers=push)
    np.testing.assert_array_equal(run["twice"], 2.0 * run["u"])
    with pytest.raises(zw.InputError, match=r"not 'u'.* 'u' is a parameter, .* p.u"):
        _ = run["wrong"]
    with pytest.raises(zw.InputError, match=r"not 'u'.* 'u' is a parameter, .* p.u"):
        m.simulate(until=0.5, controllers=push, events={"full": zw.event("u", "stop", at=3.0)})


def test_a_table_knows_what_was_held_between_coarsely_saved_states():
    m = zw.Mechanism(plane="xz", parameters={"u": 0.0})
    cart = m.body("cart", mass=1.0, inertia=0.1)
    m.prismatic("rail", m.ground, cart, at=(0, 0, 0), axis="x")
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    push = {"push": zw.controller(lambda sample: {"u": 1.0 + sample.number}, 0.1)}
    run = m.simulate(until=1.0, save=0.5, controllers=push)
    assert run.to_pandas("u", every=0.25)["u"].tolist() == [1.0, 3.0, 5.0, 8.0, 10.0]


@pytest.mark.parametrize("coordinates", ["joint", "planar", "absolute"])
def test_a_table_at_sampling_times_has_what_was_held_until_then(coordinates: str):
    """Both sides of a sample are put on the constraints each, and differ in their last bits."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81), parameters={"u": 0.0})
    cart = m.body("cart", mass=1.0, inertia=0.01)
    pole = m.body("pole", inertia=zw.inertia.rod(0.2, 0.6, axis="z"), position=(0, 0.3))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    m.actuator("motor", "rail.displacement", lambda p: p.u)
    push = {"push": zw.controller(lambda sample: {"u": float(sample.number)}, 0.01)}
    start = m.assemble(hold={"pin.angle": 3.0})
    run = m.simulate(start, until=0.3, save=0.01, coordinates=coordinates, controllers=push)
    table = run.to_pandas(["u", "motor.effort"], every=0.02)
    assert table["u"].tolist() == run["u"][::2].tolist()
    assert table["motor.effort"].tolist() == run["u"][::2].tolist()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("motor.force", "'motor.effort'"),
        ("motor.torque", "'motor.effort'"),
        ("rail.torque", "'rail.force' or 'rail.moment'"),
        ("rail.forc", "'rail.force'"),
        ("cart.x_dot", "'cart.vx'"),
        ("rail.displacement_dot", "'rail.displacement_rate'"),
        ("moter.effort", "'motor.effort'"),
    ],
)
def test_names_of_the_same_owner_are_suggested(given, meant):
    run = sampled()
    with pytest.raises(zw.errors.UnknownNameError) as caught:
        run[given]
    assert str(caught.value.advice).startswith(f"Did you mean {meant}")
