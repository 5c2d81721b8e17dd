"""Model files describe what Python would, and Python writes files that describe the same."""

import inspect
import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.integrators.settings import Settings
from zwang.model_files.examples import example_names, example_path
from zwang.model_files.layout import FILE, FORCES
from zwang.model_files.read import model_of
from zwang.model_files.schema import SCHEMA_FILE, schema_text
from zwang.model_files.starter import starter
from zwang.model_files.write import text_of
from zwang.multibody.joints import KINDS
from zwang.simulation.simulate import simulate

ROOT = Path(__file__).resolve().parents[2]


def same_parts(a, b):
    """Elements, numbers and start of two mechanisms are equal to the bit."""
    assert [(e.name, e.law.key, e.bodies) for e in a.elements] == [
        (e.name, e.law.key, e.bodies) for e in b.elements
    ]
    assert list(a.all_parameters) == list(b.all_parameters)
    for name, value in a.all_parameters.items():
        assert np.array_equal(value, b.all_parameters[name]), name
    for x, y in zip(a.start, b.start, strict=True):
        assert np.array_equal(x, y)
    for x, y in zip(a.bodies, b.bodies, strict=True):
        assert repr(x.inertia.shapes) == repr(y.inertia.shapes)
        assert (x.mesh is None) == (y.mesh is None)
        if x.mesh is not None:
            assert np.array_equal(x.mesh.vertices, y.mesh.vertices)
            assert np.array_equal(x.mesh.triangles, y.mesh.triangles)


def read_back(thing):
    return model_of(text_of(thing), "written.toml")


# --- a mechanism from a file, and from Python -----------------------------------------------------

MECHANISM = """
[constants]
L = "1.2 m"
[parameters]
push = 3.0
bed = [1.0, 2.0, 3.0]
[define]
wave = "push * sin(2 * t)"
[mechanism]
gravity = [0, 0, "-9.81 m/s^2"]
[body.rod]
mass = "800 g"
shape = { type = "rod", length = "L", axis = "x" }
position = ["L / 2", 0, 0]
[body.block]
mass = 2.0
inertia = [0.01, 0.02, 0.025]
position = [0.3, 0.4, 0.5]
orientation = { axis = "z", angle = "90 deg" }
velocity = [1, 0, 0]
[coordinate.s]
mass = 0.5
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0, 0]
axis = "y"
[constraint.tie]
bodies = ["rod", "s"]
equations = "dot(rod.position, [0, 0, 1]) - 2 * s"
[joint.slide]
type = "prismatic"
bodies = ["ground", "block"]
at = [0.3, 0.4, 0.5]
axis = "x"
[drive.motor]
of = "slide.displacement"
value = "0.1 * sin(3 * t) * push"
[force.spring]
type = "spring_damper"
bodies = ["rod", "block"]
at = [{ body = "rod", at = [0.5, 0, 0] }, { body = "block", at = [0.1, 0, 0] }]
stiffness = "12 N/cm"
length = "50 cm"
force = "push * rate^3 + length - 1"
[force.wind]
type = "force"
body = "rod"
force = ["wave", 0, "-0.1 * rod.velocity[2]"]
torque = "[0, bed[1], 0] - 0.01 * rod.angular_velocity"
axes = "body"
[force.pull]
type = "user"
bodies = ["rod", "s"]
[force.pull.on]
rod = { moment = [0, "s", 0] }
s = { effort = "-3 * s - s.rate + norm(point_velocity(rod, L, 0, 0))" }
[friction.pin]
coefficient = 0.2
radius = "1 cm"
[start]
hold = { "pin.angle" = "10 deg" }
velocity = { prefer = { "pin.angle_rate" = "5 rpm" } }
[simulation]
until = "250 ms"
save = 0.05
"""


def by_python():
    m = zw.Mechanism(gravity=(0, 0, -9.81), parameters={"push": 3.0, "bed": [1.0, 2.0, 3.0]})
    rod = m.body("rod", inertia=zw.inertia.rod(0.8, 1.2, "x"), position=(0.6, 0, 0))
    block = m.body(
        "block",
        2.0,
        (0.01, 0.02, 0.025),
        position=(0.3, 0.4, 0.5),
        orientation=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)),
        velocity=(1, 0, 0),
    )
    s = m.coordinate("s", 0.5)
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    m.constraint("tie", [rod, s], lambda bodies: bodies[0].position[2] - 2 * bodies[1].value)
    m.prismatic("slide", m.ground, block, at=(0.3, 0.4, 0.5), axis="x")
    m.drive("motor", "slide.displacement", lambda t, p: 0.1 * np.sin(3 * t) * p.push)
    m.spring_damper(
        "spring",
        rod,
        block,
        at=(rod.marker((0.5, 0, 0)), block.marker((0.1, 0, 0))),
        stiffness=1200.0,
        length=0.5,
        force=lambda length, rate, t, p: p.push * rate**3 + length - 1,
    )
    m.force(
        "wind",
        rod,
        lambda body, t, p: [p.push * np.sin(2 * t), 0.0, -0.1 * body.velocity[2]],
        torque=lambda body, p: np.array([0.0, p.bed[1], 0.0]) - 0.01 * body.angular_velocity,
        axes="body",
    )
    m.user_force(
        "pull",
        [rod, s],
        lambda bodies: [
            ([0.0, 0.0, 0.0], [0.0, bodies[1].value, 0.0]),
            -3 * bodies[1].value
            - bodies[1].rate
            + np.linalg.norm(bodies[0].point_velocity((1.2, 0, 0))),
        ],
    )
    m.friction("pin", coefficient=0.2, radius=0.01)
    return m


def test_a_file_and_python_make_the_same_mechanism():
    model, m = model_of(MECHANISM, "test.toml"), by_python()
    assert model.mechanism is not None
    rng = np.random.default_rng(5)
    state = m.assemble()
    # Small velocities off the constraints: terms are compared, not motions.
    v = state.v + 0.1 * rng.normal(size=len(state.v))
    for mine, other in zip(
        _arrays(model.system.terms(state.q, v, 0.3)), _arrays(m.terms(state.q, v, 0.3)), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-13)
    assert model.simulation.until == 0.25
    start = model.start()
    angle = model.system.joint_coordinate("pin.angle", start.q)
    assert abs(angle - np.radians(10)) < 1e-12


def _arrays(terms):
    return (
        terms.mass_matrix,
        terms.applied_force,
        terms.constraint_matrix,
        terms.constraint_rhs,
        terms.nonideal_force,
    )


def test_a_model_with_expressions_is_written_and_read_without_loss():
    first = model_of(MECHANISM, "test.toml")
    second = read_back(first)
    same_parts(first.mechanism.parts, second.mechanism.parts)
    assert text_of(second) == text_of(first)
    assert second.simulation == first.simulation
    assert second.start_conditions == first.start_conditions
    q, v = first.start()
    for mine, other in zip(
        _arrays(second.system.terms(q, v, 0.2)), _arrays(first.system.terms(q, v, 0.2)), strict=True
    ):
        assert np.array_equal(mine, other)


@pytest.mark.parametrize("name", library.mechanism_names())
def test_library_mechanism_survives_the_way_through_a_file(name):
    m = getattr(library, name)()
    same_parts(m.parts, read_back(m).mechanism.parts)


@pytest.mark.parametrize("name", ["four_bar", "bricard", "rolling_coin", "double_wishbone"])
def test_right_hand_sides_are_identical(name):
    m = getattr(library, name)()
    again = read_back(m).mechanism
    q, v = m.assemble()
    assert np.array_equal(m.solve(q, v).acceleration, again.solve(q, v).acceleration)


def test_markers_planes_and_frames_survive():
    m = zw.Mechanism(plane="xz", parameters={"a": [[1.0, 2.0], [3.0, 4.0]]})
    first = m.body("first", 1.0, 0.1, position=(1, 2), angle=0.3, angular_velocity=0.2, free=True)
    marker = first.marker((0.1, 0.2), axis=(0, 1, 0), reference=(1, 0, 0))
    second = m.body("second", 2.0, 0.2, position=(0.1, 0.1), relative_to=first.marker((0.1, 0.2)))
    m.revolute("pin", first, second, at=(marker, second.marker((0, 0))))
    m.prismatic("slide", m.ground, first, axis=(0.6, -0.8), at=(1, 2))
    m.couple("tie", "pin.angle", "slide.displacement", 0.7)
    m.bushing("bed", m.ground, second, at=(0, 0), stiffness=(1, 2, 3))
    m.torsion_spring("spring", first, second, stiffness=3.0, angle=0.1)
    same_parts(m.parts, read_back(m).mechanism.parts)


def test_a_curve_and_what_stands_before_its_parts():
    text = """
    [parameters]
    depth = 0.3
    [drive.push]
    of = "slide.displacement"
    value = "0.1 * t"
    [joint.rail]
    type = "point_on_curve"
    bodies = ["ground", "car"]
    at = { body = "car", at = [0, 0, -0.1] }
    curve = ["s", 0, "depth * cos(s)"]
    start = 0.4
    [body.car]
    mass = 1.0
    inertia = [0.1, 0.1, 0.1]
    position = [0.4, 0, 0.4]
    [constraint.pace]
    bodies = ["rail_s", "car"]
    equations = "rail_s.rate - car.velocity[0] - 0.1 * rail_s"
    [joint.slide]
    type = "prismatic"
    bodies = ["ground", "block"]
    axis = "y"
    [body.block]
    mass = 2.0
    inertia = [0.1, 0.1, 0.1]
    """
    model = model_of(text, "curve.toml")
    again = read_back(model)
    same_parts(model.mechanism.parts, again.mechanism.parts)
    assert model.system.coordinates[7] == "rail_s"
    m = zw.Mechanism(parameters={"depth": 0.3})
    car = m.body("car", 1.0, (0.1, 0.1, 0.1), position=(0.4, 0, 0.4))
    m.point_on_curve(
        "rail",
        m.ground,
        car,
        curve=lambda s, p: [s, 0.0, p.depth * np.cos(s)],
        at=car.marker((0, 0, -0.1)),
        start=0.4,
    )
    with pytest.raises(
        zw.InputError,
        match=r"point on curve 'rail' must be an expression to be.*but is a Python function",
    ):
        text_of(m)
    q = model.mechanism.parts.start[0]
    rows = model.system.terms(q).constraint_matrix[model.system.groups["rail"]]
    np.testing.assert_allclose(rows[:, :7], m.terms(m.parts.start[0]).constraint_matrix, atol=1e-15)


# --- systems --------------------------------------------------------------------------------------

SYSTEM = """
[constants]
half = 0.5
[parameters]
m = 2.0
g = 10.0
mu = 0.1
W = [[1.0, 0.5], [0.5, 2.0]]
[define]
speed = "hypot(x_dot, y_dot)"
[system]
coordinates = ["x", "y"]
mass = [["m", "half * W[0][1]"], ["half * W[0][1]", "m"]]
force = ["-mu * speed * x_dot", "-m * g"]
[constraint.line]
position = "x - 2 * y"
[constraint.pace]
velocity = "y_dot^2 - x_dot * y_dot / 2"
[constraint.pull]
A = [["1", "t"]]
b = ["sin(t)"]
[nonideal.line]
force = ["-mu * abs(reaction[0]) * tanh(x_dot / 0.1)", 0]
"""


def test_a_system_from_a_file_is_that_of_python():
    system = model_of(SYSTEM, "s.toml").system
    python = zw.System(
        ["x", "y"],
        parameters={"m": 2.0, "g": 10.0, "mu": 0.1, "W": [[1.0, 0.5], [0.5, 2.0]]},
        mass=lambda p: [[p.m, 0.5 * p.W[0, 1]], [0.5 * p.W[0, 1], p.m]],
        force=lambda v, p: [-p.mu * np.hypot(v[0], v[1]) * v[0], -p.m * p.g],
        constraints={
            "line": zw.position(lambda q: q[0] - 2 * q[1]),
            "pace": zw.velocity(lambda v: v[1] ** 2 - v[0] * v[1] / 2),
            "pull": zw.acceleration(lambda t: [[1.0, t]], lambda t: [np.sin(t)]),
        },
        nonideal={
            "line": lambda v, p, reaction: [
                -p.mu * np.abs(reaction[0]) * np.tanh(v[0] / 0.1),
                0.0,
            ]
        },
    )
    assert system.levels == python.levels
    assert system.equations.reaction_dependent
    mine, other = (s.ideal_terms([1.0, 0.5], [2.0, 1.0], 0.4) for s in (system, python))
    for a, b in zip(_arrays(mine), _arrays(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-15, atol=1e-15)
    assert text_of(read_back(system).system) == text_of(system)


@pytest.mark.parametrize("pressure", ["abs(reaction[1])", "abs(reaction.multipliers[0])"])
def test_definitions_may_use_the_reaction_and_its_multipliers(pressure):
    """A block of 2 kg on a floor: μ N against it, with N its weight."""
    text = f"""
[parameters]
mu = 0.3
[define]
pressure = "{pressure}"
grip = "mu * pressure"
[system]
coordinates = ["x", "y"]
mass = [[2, 0], [0, 2]]
force = [0, "-2 * 9.81"]
[constraint.floor]
position = "y"
[nonideal.floor]
force = ["-grip * tanh(x_dot / 1e-3)", 0]
"""
    system = model_of(text, "s.toml").system
    assert system.equations.reaction_dependent
    found = system.solve([0.0, 0.0], [1.0, 0.0])
    np.testing.assert_allclose(found.acceleration, [-0.3 * 9.81, 0.0], atol=1e-12)


def test_energies_are_written_and_read():
    model = zw.read_model(example_path("bouncing_pendulum"))
    again = read_back(model)
    assert text_of(again) == text_of(model)
    q, v = model.start()
    mine, other = (m.system.solve(q, v + 0.1).acceleration for m in (again, model))
    assert np.array_equal(mine, other)


def test_energies_quasi_velocities_and_events_survive():
    text = """
    [system]
    coordinates = ["a", "b"]
    velocities = ["u"]
    kinematics = [["cos(a)"], ["sin(a)"]]
    drift = [0.5, "t"]
    mass = [["2 + b^2"]]
    [event.end]
    function = "u - 3"
    direction = 1
    stop = true
    [event.kick]
    function = "a"
    bounce = 0.5
    [start]
    q = { a = 1, b = 2 }
    v = { u = 0.25 }
    t = 0.5
    [simulation]
    until = 3.0
    save = [0.5, 1.0, 3.0]
    """
    model = model_of(text, "s.toml")
    again = read_back(model)
    assert text_of(again) == text_of(model)
    assert set(again.events) == {"end", "kick"}
    state = again.start()
    assert state.t == 0.5
    assert state.v.tolist() == [0.25]
    rate = again.system.position_rate(state)
    np.testing.assert_allclose(rate, [0.25 * np.cos(1) + 0.5, 0.25 * np.sin(1) + 0.5])


def test_events_of_joint_coordinates_survive():
    text = """
    [mechanism]
    plane = "xz"
    [body.rod]
    mass = 1.0
    inertia = 0.1
    position = [0.5, 0]
    [joint.pin]
    type = "revolute"
    bodies = ["ground", "rod"]
    at = [0, 0]
    [event.turned]
    function = "pin.angle"
    at = "90 deg"
    stop = true
    [start]
    velocity.hold = { "pin.angle_rate" = 3.0 }
    [simulation]
    until = 3.0
    """
    model = model_of(text, "m.toml")
    again = read_back(model)
    assert text_of(again) == text_of(model)
    run = again.simulate()
    assert abs(run.t[-1] - np.pi / 6.0) < 1e-10


# --- refusals of the writer -----------------------------------------------------------------------


def test_a_python_function_is_refused_by_name_and_nothing_is_written(tmp_path):
    m = zw.Mechanism()
    rod = m.body("rod", 1.0, (1.0, 1.0, 1.0))
    m.constraint("mine", [rod], lambda bodies: bodies[0].position[2])
    with pytest.raises(
        zw.InputError,
        match=r"constraint 'mine' must be an expression to be.*but is a Python function",
    ):
        zw.write_model(m, tmp_path / "m.toml")
    assert not list(tmp_path.iterdir())
    with pytest.raises(
        zw.InputError, match=r"mass must be an expression to be.*but is a Python function"
    ):
        zw.write_model(library.spherical_pendulum(), tmp_path / "m.toml")


def test_a_part_that_is_not_described_is_not_lost_in_silence():
    m = library.four_bar()
    m.description.pop()
    with pytest.raises(
        zw.InputError, match=r"part 'D' must be made by a method of.*but has no such call"
    ):
        text_of(m)


def test_a_file_is_replaced_only_when_told_so(tmp_path):
    path = tmp_path / "chain.toml"
    zw.write_model(library.chain(2), path)
    with pytest.raises(zw.InputError, match=r"must not exist yet.*but does"):
        zw.write_model(library.chain(3), path)
    zw.write_model(library.chain(3), path, overwrite=True)
    assert len(zw.read_model(path).mechanism.parts.bodies) == 3


# --- what comes with the package ------------------------------------------------------------------


@pytest.mark.parametrize("name", example_names())
def test_example_is_sound(name):
    model = zw.read_model(example_path(name))
    assert model.simulation.until
    state = model.start()
    residuals = model.system.residuals(state)
    for values in (residuals.position, residuals.velocity):
        assert np.abs(values).max(initial=0.0) < 1e-9
    assert np.isfinite(model.system.solve(state).acceleration).all()


def test_examples_travel_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert sorted(included) == [f"examples/{name}.toml" for name in example_names()]
    assert len(example_names()) >= 6


@pytest.mark.parametrize("kind", ["mechanism", "system"])
def test_starter_is_sound_with_all_its_comments_switched_on_or_off(kind):
    model = model_of(starter("first", kind), "first.toml")
    assert model.name == "first"
    assert np.isfinite(model.start().q).all()


def test_schema_is_up_to_date():
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m zwang.model_files.schema"
    )


def test_schema_allows_the_keys_of_all_examples():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    for name in example_names():
        values = tomllib.loads(example_path(name).read_text(encoding="utf-8"))
        for table, entries in values.items():
            known = schema["properties"][table]
            if known.get("additionalProperties"):
                known = known["additionalProperties"]
                groups = list(entries.values())
            else:
                groups = [entries]
            options = [o["properties"] for o in known.get("anyOf", [known]) if "properties" in o]
            for group in groups:
                if options and isinstance(group, dict):
                    assert any(set(group) <= set(option) for option in options), (name, table)


@pytest.mark.parametrize("later", [False, True])
def test_a_stored_run_has_its_model(tmp_path, later):
    model = zw.read_model(example_path("pendulum"))
    run = model.simulate(until=0.1, store=None if later else tmp_path / "run")
    if later:
        run.save(tmp_path / "first")
        zw.load(tmp_path / "first", model.system).save(tmp_path / "run")
    again = zw.read_model(tmp_path / "run")
    assert again.text == model.text
    assert zw.verify(tmp_path / "run", again.system)
    assert np.array_equal(zw.load(tmp_path / "run", again.system).q, run.q)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to be killed in the middle")
def test_a_run_that_was_killed_has_its_model(tmp_path):
    """Killed by the first report of progress: nothing that comes at the end has happened."""
    model = zw.read_model(example_path("pendulum"))
    script = (
        "import os, signal, zwang as zw\n"
        f"model = zw.read_model({str(example_path('pendulum'))!r})\n"
        "kill = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"model.simulate(until=1e6, store={str(tmp_path / 'run')!r}, progress=kill)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], check=False)
    assert killed.returncode == -9
    again = zw.read_model(tmp_path / "run")
    assert again.text == model.text
    assert zw.verify(tmp_path / "run", again.system)


# --- everything that Python can say ---------------------------------------------------------------


def keys_of(*tables):
    """Keys of a table of the file, by its name and the names below it."""
    found = FILE
    for name in tables:
        kind = found.fields[name].kind
        found = getattr(kind, "kind", kind)
    return set(found.fields)


#: What stands elsewhere in a file: its key is the name of a table, or goes by another name.
ELSEWHERE = {
    "self": "",
    "name": "the table",
    "a": "bodies",
    "b": "bodies",
    "kind": "type",
    "f": "equations, or on",
    "what": "of",
    "joint": "the table",
}


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ("body", keys_of("body")),
        ("coordinate", keys_of("coordinate")),
        ("joint", keys_of("joint")),
        ("point_on_curve", keys_of("joint")),
        ("constraint", keys_of("constraint")),
        ("drive", keys_of("drive")),
        ("couple", keys_of("couple")),
        ("friction", keys_of("friction")),
        *((name, set(FORCES[name].fields)) for name in FORCES if name != "user"),
        ("user_force", set(FORCES["user"].fields)),
    ],
)
def test_every_argument_of_a_builder_has_a_key(method, keys):
    arguments = set(inspect.signature(getattr(zw.Mechanism, method)).parameters)
    assert arguments - keys <= set(ELSEWHERE)


def test_every_number_of_a_joint_has_a_key():
    numbers = {number for kind in KINDS.values() for number in kind.numbers}
    assert numbers <= keys_of("joint")


def test_every_method_of_a_builder_has_a_table():
    methods = {name: getattr(zw.Mechanism, name) for name in dir(zw.Mechanism)}
    described = {name for name, f in methods.items() if hasattr(f, "notes_calls")}
    assert "joint" in described
    named = {"body", "coordinate", "joint", "constraint", "drive", "couple", "friction", "output"}
    assert described <= named | set(FORCES) | {"user_force", "point_on_curve"}


def test_every_choice_of_a_simulation_has_a_key():
    choices = set(inspect.signature(simulate).parameters)
    process = {"system", "q", "v", "start", "events", "store", "store_every", "progress"}
    process |= {"companions", "unknown", "controllers"}  # functions of Python have no key
    assert choices - process <= keys_of("simulation")
    follow = {"stop_saved"}  # from save and events
    assert {field.name for field in fields(Settings)} - follow <= keys_of("simulation")


def test_every_argument_of_a_system_has_a_key():
    wanted = set(inspect.signature(zw.System).parameters)
    wanted |= set(inspect.signature(zw.System.from_lagrangian).parameters)
    other_names = {"T": "kinetic_energy", "V": "potential", "forces": "force"}
    tables = {"constraints": "constraint", "parameters": "parameters", "nonideal": "nonideal"}
    tables["outputs"] = "output"
    for name in wanted - {"cls"}:
        if name in tables:
            assert tables[name] in FILE.fields
        else:
            assert other_names.get(name, name) in keys_of("system")


def test_choices_of_a_simulation_reach_it():
    text = example_path("pendulum").read_text(encoding="utf-8")
    more = 'on_singular = "stop"\ncoordinates = "absolute"\ncertify = 0.05\n'
    model = model_of(text.replace("save = 0.02", f"save = 0.02\n{more}"), "p.toml")
    run = model.simulate(until=0.1)
    assert (run.settings.on_singular, run.settings.coordinates) == ("stop", "absolute")
    assert run.certificate is not None
    assert text_of(read_back(model)) == text_of(model)


def test_a_tensor_about_another_point_in_other_axes():
    """The one of the page on bodies: Steiner's theorem and a turn of 0.4 about z."""
    J = [[0.30, -0.02, 0.0], [-0.02, 0.25, 0.01], [0.0, 0.01, 0.40]]
    text = f"""
[body.casting]
mass = 2.0
center = [0.1, 0.0, 0.05]
inertia = {{ tensor = {J}, about = [0, 0, 0], axes = {{ axis = "z", angle = 0.4 }} }}
free = true
"""
    made = model_of(text, "c.toml").mechanism.parts.bodies[0].inertia
    c, s = np.cos(0.4), np.sin(0.4)
    R, d = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array([0.1, 0.0, 0.05])
    expected = R @ J @ R.T - 2.0 * ((d @ d) * np.eye(3) - np.outer(d, d))
    assert np.allclose(made.tensor, expected, atol=1e-15)
    with pytest.raises(zw.ModelError, match=r"line 5, key body\.casting\.inertia\.about"):
        model_of(text.replace("about = [0, 0, 0]", "about = 3"), "c.toml")


def test_an_event_sets_vectors_and_numbers_of_parts():
    text = example_path("pendulum").read_text(encoding="utf-8") + "[parameters]\nL = [0, 0]\n"
    text += "[event.wall]\nfunction = 't - 0.05'\nset = { L = [1, 2], 'rod.mass' = 3 }\n"
    values = model_of(text, "s.toml").events["wall"].actions[0].values
    assert values == {"L": [1.0, 2.0], "rod.mass": 3.0}


# --- meshes ---------------------------------------------------------------------------------------

#: A triangle that is seen from both sides is a mesh.
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def rod_with_mesh(folder):
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "rod.obj").write_text(TRIANGLE)
    entry = 'mesh = { file = "parts/rod.obj", scale = "1 mm", position = [0, 0, 0.1] }\n[joint.pin]'
    text = example_path("pendulum").read_text(encoding="utf-8")
    assert "[joint.pin]" in text
    (folder / "model.toml").write_text(text.replace("[joint.pin]", entry), encoding="utf-8")
    return zw.read_model(folder / "model.toml")


def test_paths_to_meshes_begin_beside_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mesh = rod_with_mesh(tmp_path / "a").mechanism.parts.bodies[0].mesh
    assert mesh.file == (tmp_path / "a" / "parts" / "rod.obj").resolve()
    expected = [(0.0, 0.0, 0.1), (0.001, 0.0, 0.1), (0.0, 0.001, 0.1)]
    assert np.allclose(sorted(map(tuple, mesh.vertices)), sorted(expected), atol=1e-15)


def test_a_mesh_goes_through_files_in_other_folders(tmp_path):
    model = rod_with_mesh(tmp_path / "a")
    (tmp_path / "b").mkdir()
    zw.write_model(model.mechanism, tmp_path / "b" / "again.toml")
    assert "../a/parts/rod.obj" in (tmp_path / "b" / "again.toml").read_text(encoding="utf-8")
    again = zw.read_model(tmp_path / "b" / "again.toml")
    same_parts(again.mechanism.parts, model.mechanism.parts)


def test_python_to_toml_keeps_a_mesh(tmp_path):
    (tmp_path / "rod.obj").write_text(TRIANGLE)
    m = zw.Mechanism()
    look = zw.mesh(tmp_path / "rod.obj", scale=0.5, orientation=(0.8, 0, 0.6, 0))
    m.body("rod", 1.0, (1.0, 1.0, 1.0), mesh=look, free=True)
    m.body("other", 1.0, mesh=str(tmp_path / "rod.obj"), free=True)
    same_parts(read_back(m).mechanism.parts, m.parts)


def test_a_stored_run_can_be_drawn_when_its_meshes_are_gone(tmp_path):
    model = rod_with_mesh(tmp_path / "a")
    model.simulate(until=0.1, store=tmp_path / "run")
    shutil.rmtree(tmp_path / "a")
    again = zw.read_model(tmp_path / "run")
    same_parts(again.mechanism.parts, model.mechanism.parts)
    assert zw.verify(tmp_path / "run", again.system)
    (tmp_path / "run" / "time" / "record" / "meshes.json").write_text("[]")
    with pytest.raises(zw.DamageError, match="list of meshes"):
        zw.read_model(tmp_path / "run")


def test_a_run_of_something_else_is_left_alone(tmp_path):
    pendulum, blade = (zw.read_model(example_path(n)) for n in ("pendulum", "knife_edge"))
    pendulum.system.simulate(pendulum.start(), until=0.1, store=tmp_path / "run")
    with pytest.raises(zw.InputError):
        blade.simulate(store=tmp_path / "run")
    with pytest.raises(zw.InputError):
        blade.resume(tmp_path / "run")
    with pytest.raises(
        zw.ModelError,
        match=r"expected a model file, or the folder of a.*not a folder without a model\. zwang",
    ):
        zw.read_model(tmp_path / "run")


def test_constraints_that_do_not_act_at_the_start_do_not_hold_it(tmp_path):
    path = tmp_path / "door.toml"
    path.write_text(
        """
[mechanism]
plane = "xz"
gravity = [0, -9.81]
[body.leaf]
mass = 1
shape = { type = "rod", length = 1 }
position = [0.5, 0]
[joint.hinge]
type = "revolute"
bodies = ["ground", "leaf"]
at = [0, 0]
[joint.latch]
type = "point_on_line"
bodies = ["ground", "leaf"]
at = [[0, 0], [1, 0]]
axis = [0, 1]
[event.shut]
function = "hinge.angle"
at = "90 deg"
direction = 1
on = ["latch"]
[simulation]
until = 0.6
inactive = ["latch"]
""",
        encoding="utf-8",
    )
    model = zw.read_model(path)
    run = model.simulate()
    assert run["hinge.angle"][0] == pytest.approx(0.0, abs=1e-12)
    assert [event.name for event in run.events] == ["shut"]
    assert "latch" not in model.acting.constraints
    assert abs(model.simulate(inactive=[], until=0.1)["hinge.angle"][0]) > 1.5
