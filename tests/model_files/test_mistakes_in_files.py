"""Planted mistakes in model files: each is told with file, line, key, found and expected.

A case is a sound file with one edit; `line` and `key` are where the mistake stands.
"""

import re

import pytest
from typer.testing import CliRunner

import zwang as zw
from zwang.cli.app import app
from zwang.model_files.read import model_of

MECHANISM = """\
[constants]
L = 1.0
[parameters]
push = 2.0
[define]
wave = "push * sin(t)"
[mechanism]
gravity = [0, 0, -9.81]
[body.rod]
mass = 1.0
shape = { type = "rod", length = "L", axis = "x" }
position = [0.5, 0, 0]
[body.block]
mass = 2.0
inertia = [0.1, 0.1, 0.1]
position = [2, 0, 0]
[coordinate.s]
mass = 1.0
[joint.pin]
type = "revolute"
bodies = ["ground", "rod"]
at = [0, 0, 0]
axis = "y"
[joint.slide]
type = "prismatic"
bodies = ["ground", "block"]
at = [2, 0, 0]
axis = "x"
[constraint.tie]
bodies = ["rod", "s"]
equations = "rod.position[2] - s"
[drive.motor]
of = "slide.displacement"
value = "0.1 * wave"
[force.spring]
type = "spring_damper"
bodies = ["rod", "block"]
at = [[1, 0, 0], [2, 0, 0]]
stiffness = 10.0
force = "0.1 * rate"
[force.wind]
type = "force"
body = "rod"
force = ["wave", 0, 0]
[friction]
pin = { coefficient = 0.1, radius = 0.1 }
[start]
hold = { "pin.angle" = 0.1 }
[event.end]
function = "rod.x - 5"
stop = true
[simulation]
until = 0.1
save = 0.01
"""

SYSTEM = """\
[parameters]
m = 1.0
L = 2.0
[system]
coordinates = ["x", "y"]
mass = ["m", "m"]
force = ["0", "-m * 9.81"]
[constraint.rod]
position = "x^2 + y^2 - L^2"
[nonideal.rod]
force = ["-0.1 * x_dot", 0]
[start]
hold = { x = 1.0 }
near = { y = -1.7 }
[simulation]
until = 0.1
"""

#: Edit (what stands there → what is put in its place), line, key, found, expected; all of the
#: latter as patterns.
CASES = {
    # the text itself
    "unclosed string": (MECHANISM, 'axis = "y"', 'axis = "y', 23, "axis", r'axis = "y', "TOML"),
    "no value": (MECHANISM, "mass = 2.0", "mass =", 14, "mass", "mass =", "TOML"),
    "text without quotes": (MECHANISM, '"revolute"', "revolute", 20, "type", "revolute", "TOML"),
    "key twice": (
        MECHANISM,
        "mass = 2.0",
        "mass = 2.0\nmass = 3.0",
        15,
        "body.block.mass",
        "line 14 has it already",
        "each key once",
    ),
    "table twice": (
        MECHANISM,
        "[joint.slide]",
        "[joint.pin]",
        24,
        "joint.pin",
        "line 19 has it already",
        "each table once",
    ),
    "unclosed list": (
        MECHANISM,
        "[2, 0, 0]\n[c",
        "[2, 0, 0\n[c",
        17,
        "coordinate.s",
        "coordinate",
        "TOML",
    ),
    # keys
    "misspelt table": (MECHANISM, "[body.block]", "[bdy.block]", 13, "bdy", "'bdy'", "body"),
    "misspelt key": (
        MECHANISM,
        "position = [2",
        "positions = [2",
        16,
        "body.block.positions",
        "'positions'",
        "position",
    ),
    "key of another table": (
        MECHANISM,
        "stiffness",
        "pitch",
        39,
        "force.spring.pitch",
        "'pitch'",
        "stiffness",
    ),
    "joint without type": (
        MECHANISM,
        'type = "revolute"\n',
        "",
        19,
        "joint.pin",
        "no key 'type'",
        "type",
    ),
    "joint without bodies": (
        MECHANISM,
        'bodies = ["ground", "block"]\n',
        "",
        24,
        "joint.slide",
        "no key 'bodies'",
        "bodies",
    ),
    "value where a table is meant": (
        MECHANISM,
        "pin = { coefficient = 0.1, radius = 0.1 }",
        "pin = 0.1",
        46,
        "friction.pin",
        "0.1",
        "table",
    ),
    "table where a value is meant": (
        MECHANISM,
        "mass = 2.0",
        "mass = { kg = 2 }",
        14,
        "body.block.mass",
        "kg",
        "number",
    ),
    # numbers and units
    "text for a number": (
        MECHANISM,
        "mass = 2.0",
        'mass = "heavy"',
        14,
        "body.block.mass",
        "heavy",
        "number",
    ),
    "true for a number": (
        MECHANISM,
        "mass = 2.0",
        "mass = true",
        14,
        "body.block.mass",
        "True",
        "number",
    ),
    "unit of another kind": (
        MECHANISM,
        "mass = 2.0",
        'mass = "2 m"',
        14,
        "body.block.mass",
        "'2 m', of length",
        "kg",
    ),
    "unknown unit": (
        MECHANISM,
        "mass = 2.0",
        'mass = "2 kgg"',
        14,
        "body.block.mass",
        "2 kgg",
        "kg",
    ),
    "negative mass": (
        MECHANISM,
        "mass = 2.0",
        "mass = -2.0",
        14,
        "body.block.mass",
        "-2",
        "positive",
    ),
    "infinite number": (
        MECHANISM,
        "mass = 2.0",
        "mass = inf",
        14,
        "body.block.mass",
        "inf",
        "finite",
    ),
    "unknown constant": (
        MECHANISM,
        'length = "L"',
        'length = "l"',
        11,
        "body.rod.shape.length",
        "'l'",
        "constants and parameters: L",
    ),
    "two entries of three": (
        MECHANISM,
        "inertia = [0.1, 0.1, 0.1]",
        "inertia = [0.1, 0.1]",
        15,
        "body.block.inertia",
        r"\[0.1, 0.1\]",
        "three numbers",
    ),
    "a point of four": (
        MECHANISM,
        "at = [2, 0, 0]",
        "at = [2, 0, 0, 1]",
        27,
        "joint.slide.at",
        r"\[2, 0, 0, 1\]",
        "point",
    ),
    "unlike entries": (
        MECHANISM,
        "position = [2, 0, 0]",
        'position = [2, "0 kg", 0]',
        16,
        r"body.block.position\[1\]",
        "0 kg",
        "number",
    ),
    "wrong gravity": (
        MECHANISM,
        "gravity = [0, 0, -9.81]",
        "gravity = -9.81",
        8,
        "mechanism.gravity",
        "-9.81",
        "three numbers",
    ),
    "Hz for an angular velocity": (
        MECHANISM,
        "position = [2, 0, 0]",
        'position = [2, 0, 0]\nangular_velocity = [0, 0, "2 Hz"]',
        17,
        r"body.block.angular_velocity\[2\]",
        "2 Hz",
        "rad/s",
    ),
    # reactions in force laws
    "the reaction of a joint in a spring": (
        MECHANISM,
        '"0.1 * rate"',
        '"0.1 * pin.force.magnitude"',
        40,
        "force.spring.force",
        "the reaction 'pin.force.magnitude'",
        r"\[friction.pin\] with effort = \"…\" of pressure and rate",
    ),
    "the reaction in a force": (
        MECHANISM,
        '["wave", 0, 0]',
        '["-0.1 * reaction[0]", 0, 0]',
        44,
        "force.wind.force",
        "the reaction 'reaction'",
        "A law of the force across the axis of a joint is friction",
    ),
    "a name that friction does not have": (
        MECHANISM,
        "pin = { coefficient = 0.1, radius = 0.1 }",
        'pin = { effort = "-0.1 * force * rate" }',
        46,
        "friction.pin.effort",
        "'force'",
        "pressure, rate, t",
    ),
    # bodies
    "moments no body has": (
        MECHANISM,
        "inertia = [0.1, 0.1, 0.1]",
        "inertia = [0.1, 0.1, 0.5]",
        15,
        "body.block.inertia",
        "0.5",
        "sum of the other two",
    ),
    "a shape that is none": (
        MECHANISM,
        'type = "rod"',
        'type = "rodd"',
        11,
        "body.rod.shape.type",
        "'rodd'",
        "rod",
    ),
    "a rod without length": (
        MECHANISM,
        ', length = "L"',
        "",
        11,
        "body.rod.shape",
        "no key 'length'",
        "length",
    ),
    "a radius of a rod": (
        MECHANISM,
        'length = "L"',
        'length = "L", radius = 1',
        11,
        "body.rod.shape.radius",
        "'radius'",
        "a key of a rod",
    ),
    "a shape without mass": (
        MECHANISM,
        "mass = 1.0\nshape",
        "shape",
        10,
        "body.rod.shape",
        "none",
        "mass",
    ),
    "shape and inertia": (
        MECHANISM,
        "position = [0.5, 0, 0]",
        "inertia = [1, 1, 1]",
        12,
        "body.rod.inertia",
        "both",
        "'inertia' or 'shape'",
    ),
    "a quaternion of three": (
        MECHANISM,
        "position = [2, 0, 0]",
        "orientation = [1, 0, 0]",
        16,
        "body.block.orientation",
        r"\[1, 0, 0\]",
        "four numbers",
    ),
    "an angle in space": (
        MECHANISM,
        "position = [2, 0, 0]",
        'angle = "3 deg"',
        16,
        "body.block.angle",
        "in space",
        "orientation",
    ),
    "a mass that is not symmetric": (
        SYSTEM,
        'mass = ["m", "m"]',
        'mass = [["m", 0.1], [0.2, "m"]]',
        6,
        "system.mass",
        r"M\[0, 1\] = 0.1 and M\[1, 0\] = 0.2",
        "symmetric",
    ),
    "a body named as a parameter": (
        MECHANISM,
        "push = 2.0",
        "push = 2.0\nrod = 1.0",
        10,
        "body.rod",
        "parameters",
        "a unique name",
    ),
    "a body on its own": (
        MECHANISM,
        "[coordinate.s]",
        "[body.lost]\nmass = 1.0\n[coordinate.s]",
        17,
        "body.lost",
        "no joint or force",
        "connected",
    ),
    # joints
    "unknown kind of joint": (
        MECHANISM,
        '"revolute"',
        '"revolut"',
        20,
        "joint.pin.type",
        "'revolut'",
        "revolute",
    ),
    "unknown body": (
        MECHANISM,
        '["ground", "rod"]',
        '["ground", "rood"]',
        21,
        r"joint.pin.bodies\[1\]",
        "'rood'",
        "rod",
    ),
    "a joint of one body": (
        MECHANISM,
        '["ground", "rod"]',
        '["rod"]',
        21,
        "joint.pin.bodies",
        r"\['rod'\]",
        "2 names",
    ),
    "a body on both sides": (
        MECHANISM,
        '["ground", "rod"]',
        '["rod", "rod"]',
        21,
        "joint.pin.bodies",
        "both sides",
        "different bodies",
    ),
    "no axis": (MECHANISM, 'axis = "y"\n', "", 19, "joint.pin", "", "axis"),
    "an axis that is none": (
        MECHANISM,
        'axis = "y"',
        'axis = "w"',
        23,
        "joint.pin.axis",
        "'w'",
        "'x', 'y', 'z'",
    ),
    "an axis of length zero": (
        MECHANISM,
        'axis = "y"',
        "axis = [0, 0, 0]",
        23,
        "joint.pin.axis",
        "",
        "nonzero direction",
    ),
    "a coordinate in a joint": (
        MECHANISM,
        '["ground", "rod"]',
        '["ground", "s"]',
        21,
        "joint.pin.bodies",
        "coordinate 's'",
        "bodies",
    ),
    "a marker on nothing": (
        MECHANISM,
        "at = [2, 0, 0]",
        "at = [[2, 0, 0], { at = [0, 0, 0] }]",
        27,
        r"joint.slide.at\[1\]",
        "no key 'body'",
        "body",
    ),
    # expressions
    "unknown name": (
        MECHANISM,
        "rod.position[2] - s",
        "rod.position[2] - z",
        31,
        "constraint.tie.equations",
        "'z'",
        "s",
    ),
    "unknown property": (
        MECHANISM,
        "rod.position[2] - s",
        "rod.place[2] - s",
        31,
        "constraint.tie.equations",
        "'rod.place'",
        "rod.position",
    ),
    "a body that is not listed": (
        MECHANISM,
        "rod.position[2] - s",
        "block.position[2] - s",
        31,
        "constraint.tie.equations",
        "block.position",
        "rod",
    ),
    "unknown function": (
        MECHANISM,
        "push * sin(t)",
        "push * sine(t)",
        6,
        "define.wave",
        "'sine'",
        "sin",
    ),
    "too many arguments": (
        MECHANISM,
        "push * sin(t)",
        "push * sin(t, 1)",
        6,
        "define.wave",
        "sin of 2",
        "1 argument",
    ),
    "unclosed bracket": (
        MECHANISM,
        "push * sin(t)",
        "push * sin(t",
        6,
        "define.wave",
        "the end",
        r"\)",
    ),
    "forgotten product": (
        MECHANISM,
        "0.1 * rate",
        "0.1 rate",
        40,
        "force.spring.force",
        "'rate'",
        "operation",
    ),
    "an equation with =": (
        MECHANISM,
        "rod.position[2] - s",
        "rod.position[2] = s",
        31,
        "constraint.tie.equations",
        "'='",
        "numbers, names",
    ),
    "Python in an expression": (
        MECHANISM,
        "push * sin(t)",
        "__import__('os').system('ls')",
        6,
        "define.wave",
        '"\'"',
        "numbers, names",
    ),
    "an attribute of Python": (
        MECHANISM,
        "rod.position[2] - s",
        "rod.__class__",
        31,
        "constraint.tie.equations",
        "__class__",
        "rod.position",
    ),
    "an empty expression": (
        MECHANISM,
        "push * sin(t)",
        "",
        6,
        "define.wave",
        "nothing",
        "expression",
    ),
    "a power without end": (
        MECHANISM,
        "push * sin(t)",
        "9^9^9^9",
        6,
        "define.wave",
        "a power of 9",
        "finite",
    ),
    "a division by zero": (
        MECHANISM,
        "push * sin(t)",
        "push / 0",
        6,
        "define.wave",
        "by zero",
        "not zero",
    ),
    "an entry too far": (
        MECHANISM,
        "rod.position[2] - s",
        "rod.position[3] - s",
        31,
        "constraint.tie.equations",
        r"entry \[3\]",
        "0 to 2",
    ),
    "a vector for a number": (
        MECHANISM,
        "rod.position[2] - s",
        "rod.position - s",
        31,
        "constraint.tie.equations",
        "a vector of 3 minus a number",
        "same kind",
    ),
    "two components of a force": (
        MECHANISM,
        '["wave", 0, 0]',
        '["wave", 0]',
        44,
        "force.wind.force",
        "2",
        "three values",
    ),
    "a definition of a later one": (
        MECHANISM,
        'wave = "push * sin(t)"',
        'a = "wave"\nwave = "push"',
        6,
        "define.a",
        "'wave'",
        "before",
    ),
    "nothing restricted": (
        MECHANISM,
        '"rod.position[2] - s"',
        '"push - 2"',
        29,
        "constraint.tie",
        "no motion",
        "restrict",
    ),
    # forces, drivers, friction
    "unknown kind of force": (
        MECHANISM,
        '"spring_damper"',
        '"spring"',
        36,
        "force.spring.type",
        "'spring'",
        "spring_damper",
    ),
    "a force without place": (
        MECHANISM,
        "at = [[1, 0, 0], [2, 0, 0]]\n",
        "",
        35,
        "force.spring",
        "no key 'at'",
        "at",
    ),
    "a driver of nothing": (
        MECHANISM,
        '"slide.displacement"',
        '"slide.angle"',
        33,
        "drive.motor.of",
        "slide.angle",
        "slide.displacement",
    ),
    "friction in nothing": (
        MECHANISM,
        "pin = { coefficient",
        "pim = { coefficient",
        46,
        "friction.pim",
        "'pim'",
        "pin",
    ),
    "friction that pushes": (
        MECHANISM,
        "coefficient = 0.1",
        "coefficient = -0.1",
        46,
        "friction.pin.coefficient",
        "-0.1",
        "zero or a positive",
    ),
    "friction on no bearing": (
        MECHANISM,
        ", radius = 0.1",
        "",
        46,
        "friction.pin",
        "",
        "radius",
    ),
    # start and simulation
    "a start of nothing": (
        MECHANISM,
        '"pin.angle" = 0.1',
        '"pin.angel" = 0.1',
        48,
        "start.hold.pin.angel",
        "pin.angel",
        "pin.angle",
    ),
    "a start of a system": (
        MECHANISM,
        "[start]\n",
        "[start]\nnear = { s = 1 }\n",
        48,
        "start.near",
        "'near'",
        "hold",
    ),
    "unknown integrator": (
        MECHANISM,
        "save = 0.01",
        'integrator = "order9"',
        54,
        "simulation.integrator",
        "'order9'",
        "order8",
    ),
    "a tolerance below zero": (
        MECHANISM,
        "save = 0.01",
        "tolerance = -1",
        54,
        "simulation.tolerance",
        "-1",
        "positive",
    ),
    "a length of time in metres": (
        MECHANISM,
        "until = 0.1",
        'until = "3 m"',
        53,
        "simulation.until",
        "3 m",
        "s",
    ),
    "a restitution of two": (
        MECHANISM,
        "stop = true",
        "bounce = 2.0",
        51,
        "event.end.bounce",
        "2",
        "0 to 1",
    ),
    "an event of nothing": (
        MECHANISM,
        "rod.x - 5",
        "rod.w - 5",
        50,
        "event.end.function",
        "'rod.w'",
        "rod.x",
    ),
    # systems
    "a system without mass": (
        SYSTEM,
        'mass = ["m", "m"]\n',
        "",
        4,
        "system",
        "neither",
        "'mass' or 'kinetic_energy'",
    ),
    "a mass of another size": (
        SYSTEM,
        'mass = ["m", "m"]',
        'mass = ["m", "m", "m"]',
        6,
        "system.mass",
        r"\(3, 3\)",
        r"\(2, 2\)",
    ),
    "forces of another number": (
        SYSTEM,
        '["0", "-m * 9.81"]',
        '["0"]',
        7,
        "system.force",
        "1 value",
        "2",
    ),
    "a velocity in a position": (
        SYSTEM,
        "x^2 + y^2 - L^2",
        "x^2 + x_dot",
        9,
        "constraint.rod.position",
        "'x_dot'",
        "x",
    ),
    "two forms of a constraint": (
        SYSTEM,
        'position = "x^2',
        'velocity = "x_dot"\nposition = "x^2',
        8,
        "constraint.rod",
        "'velocity' and 'position'",
        "one of",
    ),
    "friction of nothing": (
        SYSTEM,
        "[nonideal.rod]",
        "[nonideal.rot]",
        10,
        "nonideal.rot",
        "'rot'",
        "rod",
    ),
    "bodies beside a system": (
        SYSTEM,
        "[start]",
        "[body.a]\nmass = 1\n[start]",
        12,
        "body",
        r"\[body\] and",
        "a mechanism or a system",
    ),
    "a mesh that is not there": (
        MECHANISM,
        "position = [2, 0, 0]",
        'position = [2, 0, 0]\nmesh = "no_such.stl"',
        17,
        "body.block.mesh",
        "no such file",
        "a file with a mesh",
    ),
    "a mesh of another kind": (
        MECHANISM,
        "position = [2, 0, 0]",
        'position = [2, 0, 0]\nmesh = { file = "block.step", scale = "1 mm" }',
        17,
        "body.block.mesh",
        "'.step'",
        r"\.stl or \.obj",
    ),
    "a mesh with a scale that is no length": (
        MECHANISM,
        "position = [2, 0, 0]",
        'position = [2, 0, 0]\nmesh = { file = "a.stl", scale = "2 kg" }',
        17,
        "body.block.mesh.scale",
        "mass",
        "a number in m",
    ),
    "nothing described": (
        SYSTEM,
        SYSTEM,
        "[simulation]\nuntil = 1.0\n",
        0,
        "",
        "neither",
        "body.NAME",
    ),
    "a coordinate twice": (
        SYSTEM,
        '["x", "y"]',
        '["x", "x"]',
        5,
        "system.coordinates",
        "twice",
        "distinct",
    ),
    "a coordinate named as a parameter": (
        SYSTEM,
        '["x", "y"]',
        '["x", "m"]',
        5,
        r"system.coordinates\[1\]",
        "'m'",
        "a unique name",
    ),
}


def edited(case):
    text, old, new = case[:3]
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


def start(text, file="planted.toml"):
    """Read, freeze and start a model."""
    model = model_of(text, file)
    _ = model.system
    return model.start()


def fault_of(text):
    """The error that this raises."""
    with pytest.raises(zw.ModelError) as caught:
        start(text)
    return caught.value


@pytest.mark.parametrize("text", [MECHANISM, SYSTEM])
def test_the_file_without_mistakes_is_sound(text):
    start(text)


def test_there_are_sixty():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_mistake_is_told_with_its_place(name):
    _, _, _, line, key, found, expected = CASES[name]
    error = fault_of(edited(CASES[name]))
    assert error.file == "planted.toml"
    assert error.line == line
    assert re.fullmatch(key, error.key), f"key {error.key}"
    assert re.search(found, error.found or ""), error.found
    assert re.search(expected, f"{error.expected} {error.advice}"), error.expected
    message = str(error)
    assert message.startswith(f"planted.toml, line {line}" if line else "planted.toml: ")
    assert "Traceback" not in message
    assert len(message) < 1200


@pytest.mark.parametrize("name", ["misspelt key", "unknown kind of joint", "unknown body"])
def test_near_miss_is_suggested(name):
    assert "Did you mean" in str(fault_of(edited(CASES[name])))


@pytest.mark.parametrize("name", list(CASES)[::6])
def test_command_line_tells_it_without_traceback_and_writes_nothing(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planted.toml").write_text(edited(CASES[name]), encoding="utf-8")
    result = CliRunner().invoke(app, ["run", "planted.toml"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: planted.toml, line ")
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["planted.toml"]


#: Contradictions and open motions are no mistakes of one key: what is told, and of which entries.
CONTRADICTIONS = {
    "a held value out of reach": (
        SYSTEM.replace("x = 1.0", "x = 3.0"),
        zw.AssemblyError,
        ["start.hold.x", "constraint.rod"],
    ),
    "two constraints": (
        SYSTEM.replace("hold = { x = 1.0 }\n", "") + '[constraint.far]\nposition = "x + y - 30"\n',
        zw.AssemblyError,
        ["constraint.far", "constraint.rod"],
    ),
    "a joint that does not reach": (
        MECHANISM.replace(
            "[constraint.tie]",
            '[joint.end]\ntype = "spherical"\nbodies = ["ground", "rod"]\n'
            "at = [[5, 0, 0], [1, 0, 0]]\n[constraint.tie]",
        ),
        zw.AssemblyError,
        ["joint.end", "joint.pin"],  # whatever angle is held
    ),
    "neither mass nor constraint": (
        MECHANISM.replace("[coordinate.s]", "[coordinate.w]\n[coordinate.s]"),
        zw.NotUniqueError,
        ["coordinate.w"],
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_told_with_the_places_of_all_they_are_about(name, tmp_path, monkeypatch):
    text, kind, keys = CONTRADICTIONS[name]
    model = model_of(text, "planted.toml")
    with pytest.raises(kind) as caught:
        model.simulate(until=0.01)
    error, lines = caught.value, text.splitlines()
    assert (error.file, error.key) == ("planted.toml", keys[0])
    assert keys[0].rpartition(".")[2] in lines[error.line - 1]
    assert str(error).startswith(f"planted.toml, line {error.line}, key {keys[0]}: ")
    for key in keys[1:]:
        line = lines.index(f"[{key}]") + 1
        assert f"{key} (line {line})" in str(error)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planted.toml").write_text(text, encoding="utf-8")
    told = CliRunner().invoke(app, ["check", "planted.toml"])
    assert told.exit_code == 1
    assert told.stderr.startswith(f"Error: planted.toml, line {error.line}, key {keys[0]}: ")


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path):
    path = tmp_path / "model.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(zw.ModelError, match="UTF-8"):
        zw.read_model(path)
    with pytest.raises(zw.ModelError, match=r"Did you mean 'model\.toml'"):
        zw.read_model(tmp_path / "model_.toml")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('until = "3 s"\n', "[simulation]"),
        ("gravity = [0, 0, -9.81]\n", "[mechanism]"),
        ('[case.slow]\nuntil = "1 s"\n', "[case.slow.simulation]"),
    ],
)
def test_a_key_in_the_wrong_table_is_told_where_it_belongs(text, place, tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(zw.ModelError, match=f"Write it in {re.escape(place)}"):
        zw.read_model(path)
