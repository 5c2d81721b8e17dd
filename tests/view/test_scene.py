"""What is drawn of a run is where the mechanics has it."""

import numpy as np
import pytest

import zwang as zw
from zwang.diagnosis.passport import Status
from zwang.results.resample import at_times
from zwang.view.camera import camera_of, painted
from zwang.view.channels import series_of
from zwang.view.scene import scene_of

#: States at other times come from the integrator: they agree to the tolerance of the runs.
TOLERANCE = 1e-8


def swing(**choices):
    """A rod of 1 m in a pin, released at rest from the horizontal, a spring to the ground."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.spring_damper("spring", m.ground, rod, at=((1, 0, 1), (1, 0, 0)), stiffness=10.0, length=0.4)
    return m.simulate(m.assemble(), until=1.0, tolerance=TOLERANCE, **choices)


@pytest.fixture(scope="module")
def run():
    return swing()


@pytest.fixture(scope="module")
def scene(run):
    return scene_of(run, frames=11, traces=["rod"])


def test_frames_are_evenly_spaced_states_of_the_motion(run, scene):
    assert np.allclose(scene.times, np.linspace(0.0, 1.0, 11))
    angle = np.array([run.system.joint_coordinate("pin.angle", run.at(t).q) for t in scene.times])
    end = scene.tracks[1].points(np.array([0.5, 0.0, 0.0]))
    # Right-handed about y: x turns towards −z.
    expected = np.stack([np.cos(angle), np.zeros(11), -np.sin(angle)], axis=1)
    assert np.abs(end - expected).max() < 100 * TOLERANCE


def test_a_sampled_run_gives_what_the_run_gives(run):
    times = run.t[[0, len(run) // 2, -1]]
    few = at_times(run, times)
    rows = np.searchsorted(run.t, times)
    assert np.allclose(few["pin.angle"], run["pin.angle"][rows], atol=1e-12)
    assert np.allclose(few.reaction("pin").force, run.reaction("pin").force[rows], atol=1e-9)


def test_a_sampled_run_keeps_the_parameters_of_each_stretch():
    m = zw.System(
        coordinates=["x"],
        parameters={"g": -1.0},
        mass=lambda q, t, p: [[1.0]],
        force=lambda q, v, t, p: [p.g],
    )
    turn = zw.event(lambda q, v, t, p: t - 0.5, zw.set_parameters(g=1.0))
    run = m.simulate([0.0], [0.0], until=1.0, events={"turn": turn})
    few = at_times(run, np.linspace(0.0, 1.0, 9))
    assert np.allclose(few.acceleration[:, 0], [-1, -1, -1, -1, 1, 1, 1, 1, 1])


def test_arrows_are_the_reactions_and_the_tension_of_the_spring(scene):
    arrows = {a.name: a for a in scene.arrows}
    assert arrows["pin"].role == "reaction"
    assert arrows["pin"].status is Status.DETERMINATE
    assert np.allclose(arrows["pin"].point, 0.0, atol=1e-9)
    assert np.allclose(arrows["pin"].force, scene.run.reaction("pin").force)
    d = np.array([1.0, 0.0, 1.0]) - arrows["spring"].point
    length = np.linalg.norm(d, axis=1, keepdims=True)
    assert np.allclose(arrows["spring"].force, 10.0 * (length - 0.4) * d / length)
    (line,) = scene.lines
    assert (line.role, line.name) == ("spring", "spring")
    assert np.allclose(line.start, [1.0, 0.0, 1.0])


def test_redundant_hinges_are_drawn_as_open():
    m = zw.library.door(2)
    scene = scene_of(m.simulate(m.assemble(), until=0.1), frames=3)
    assert all(a.open for a in scene.arrows)
    assert {a.status for a in scene.arrows} <= {Status.PARTLY, Status.INDETERMINATE}


def test_a_parameter_of_a_joint_moves_its_drawing():
    m = zw.Mechanism()
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, "x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    moved = {"pin.at_a": np.array([0.0, 0.0, 2.0])}
    run = m.simulate(m.assemble(parameters=moved), until=0.1, parameters=moved)
    ground = next(s for s in scene_of(run, frames=2).solids if s.role == "ground")
    corners = ground.mesh.vertices.min(axis=0), ground.mesh.vertices.max(axis=0)
    assert np.allclose(np.mean(corners, axis=0), [0.0, 0.0, 2.0], atol=1e-9)


def test_pictures_show_faces_towards_the_eye_within_the_frame(scene):
    camera = camera_of(scene)
    faces = painted(scene, camera, 3)
    corners = np.concatenate([f.corners for f in faces])
    assert np.abs(corners).max() < 1.1
    assert 0.2 < len(faces) / sum(len(s.mesh.faces) for s in scene.solids) < 0.8
    assert np.allclose(camera.axes @ camera.axes.T, np.eye(3))
    assert np.linalg.det(camera.axes) > 0.0


def test_a_planar_mechanism_is_seen_along_its_normal():
    m = zw.library.four_bar(planar=True)
    scene = scene_of(m.simulate(m.assemble(), until=0.1), frames=2, forces=False)
    axes = camera_of(scene).axes
    assert np.allclose(axes[1], [0, 0, 1])  # against gravity
    assert np.allclose(axes[0], [1, 0, 0])  # x to the right


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"frames": 0}, "frames must be a positive whole number, not 0"),
        ({"end": 9.0}, "times to draw"),
        ({"traces": ["rood"]}, "Did you mean 'rod'"),
        ({"traces": {"rod": (1, 2)}}, "three numbers"),
    ],
)
def test_wrong_choices_are_told(run, choices, message):
    with pytest.raises(zw.ZwangError, match=message):
        scene_of(run, **choices)


def test_systems_of_functions_have_no_bodies_to_draw():
    system = zw.library.spherical_pendulum()
    run = system.simulate(system.assemble(hold={"x": 0.3}), until=0.1)
    with pytest.raises(
        zw.InputError,
        match=r"run must be of a mechanism of bodies.*but is of a system of functions",
    ):
        scene_of(run)


def test_channels_are_the_quantities_of_the_run(run):
    assert {"pin.angle", "pin.force", "pin.moment", "energy"} <= set(run.channels)
    force = run.reaction("pin").force
    assert np.allclose(series_of(run, "pin.force").values[:, :3], force)
    assert np.allclose(series_of(run, "pin.force").values[:, 3], np.linalg.norm(force, axis=1))
    assert np.array_equal(series_of(run, "pin.force.z").values[:, 0], force[:, 2])
    assert series_of(run, "pin.angle_rate").label == "pin.angle_rate [rad/s]"
    with pytest.raises(zw.ZwangError, match=r"Did you mean 'pin\.force"):
        series_of(run, "pin.forc")


# --- meshes of files ------------------------------------------------------------------------------


def ring(folder, around=80, belts=40):
    """A torus about z in millimetres, as an OBJ file of quadrilaterals; radii 200 and 60 mm."""
    a, b = (2.0 * np.pi * np.arange(n) / n for n in (around, belts))
    a, b = a[:, None], b[None, :]
    r = 200.0 + 60.0 * np.cos(b)
    points = np.stack([r * np.cos(a), r * np.sin(a), 60.0 * np.sin(b) + 0.0 * a], axis=-1)
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points.reshape(-1, 3)]
    number = np.arange(around * belts).reshape(around, belts) + 1
    for i in range(around):
        for j in range(belts):
            k, n = (i + 1) % around, (j + 1) % belts
            lines.append(f"f {number[i, j]} {number[k, j]} {number[k, n]} {number[i, n]}")
    path = folder / "ring.obj"
    path.write_text("\n".join(lines))
    return path


def ring_run(path, scale):
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    look = zw.mesh(path, scale=scale, position=(0, 0, 0.01))
    body = m.body(
        "ring", inertia=zw.inertia.cylinder(1.0, 0.2, 0.1), position=(0.5, 0, 0), mesh=look
    )
    m.revolute("pin", m.ground, body, at=(0, 0, 0), axis="y")
    return m.simulate(m.assemble(), until=0.2)


def test_a_mesh_takes_the_place_of_shapes_and_moves_with_its_body(tmp_path):
    run = ring_run(ring(tmp_path), 1e-3)
    scene = scene_of(run, frames=3, forces=False)
    (solid,) = [s for s in scene.solids if s.role == "body"]
    low, high = solid.mesh.vertices.min(axis=0), solid.mesh.vertices.max(axis=0)
    assert high - low == pytest.approx([0.52, 0.52, 0.12], abs=1e-6)
    assert 0.5 * (high + low) == pytest.approx([0.0, 0.0, 0.01], abs=1e-6)
    assert len(solid.mesh.faces) == 2 * 80 * 40
    assert scene.notes == ()
    # What a painter gets is coarser, and still a ring: nothing in its hole, volume 2π²Rr².
    few = solid.painted
    assert 200 < len(few.faces) <= 4000
    assert np.hypot(few.vertices[:, 0], few.vertices[:, 1]).min() > 0.13
    a, b, c = np.moveaxis(few.vertices[few.triangles], 1, 0)
    volume = np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0
    assert volume == pytest.approx(2.0 * np.pi**2 * 0.2 * 0.06**2, rel=0.05)


def test_a_mesh_in_other_units_is_told(tmp_path):
    (note,) = scene_of(ring_run(ring(tmp_path), 1.0), frames=1, forces=False).notes
    assert "the mesh of 'ring' is 7" in note
    assert "the mechanism without it 0." in note


def test_an_open_mesh_is_painted_from_both_sides(tmp_path):
    path = tmp_path / "sheet.obj"
    path.write_text("v 0 -1 -1\nv 0 1 -1\nv 0 0 1\nf 1 2 3\n")
    scene = scene_of(ring_run(path, 0.1), frames=1, forces=False)
    (solid,) = [s for s in scene.solids if s.role == "body"]
    assert len(solid.mesh.faces) == 2
    for azimuth in (0.4, 0.4 + np.pi):
        colors = {face.color for face in painted(scene, camera_of(scene, azimuth, 0.2), 0)}
        blue = [c for c in colors if c[2] > 1.5 * c[0]]
        assert len(blue) == 1  # one side of it, whichever it is


def test_the_force_of_an_actuator_whose_law_reads_another_joint_is_drawn():
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81))
    cart = m.body("cart", mass=2.0, inertia=0.1)
    pole = m.body("pole", mass=1.0, inertia=0.1, position=(0, 0.4))
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, pole, at=(0, 0))
    m.actuator("motor", "rail.displacement", lambda c: 5.0 + 0.0 * c["pin.angle"])
    drawn = scene_of(m.simulate(until=0.1), frames=3, forces=True)
    (arrow,) = [a for a in drawn.arrows if a.name == "motor"]
    assert arrow.role == "applied"
    assert np.allclose(arrow.force, [5.0, 0.0, 0.0])
    assert np.allclose(arrow.point, drawn.tracks[1].points(np.zeros(3)))


def test_point_masses_are_drawn_beside_other_shapes(tmp_path):
    """The balls of a governor had vanished: of a body with a rod the rod alone was drawn."""
    at = (1.0, 0.0, 0.2)
    arm = zw.inertia.rod(1.0, 1.0) + zw.inertia.point(2.0).at(at)
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    body = m.body("arm", inertia=arm)
    m.revolute("pin", m.ground, body, at=(-0.5, 0, 0), axis="y")
    run = m.simulate(until=0.05)
    zw.write_model(m, tmp_path / "arm.toml")
    again = zw.read_model(tmp_path / "arm.toml").simulate(until=0.05)
    for one in (run, again):
        (solid,) = (s for s in scene_of(one).solids if s.role == "body")
        near = np.linalg.norm(solid.mesh.vertices - at, axis=1)
        assert (near < 0.1).sum() > 20
        assert (near < 0.005).sum() == 0  # on its surface
