"""Mistakes in the functions of a system: one clear sentence that names the culprit.

Every case is a mistake someone makes. The message must hold the words given, must be a ZwangError,
and must not show the insides of NumPy, CasADi or Python.
"""

import math
import re

import numpy as np
import pytest

import zwang as zw

STATE = ([0.0, -1.0], [1.0, 0.0])

GIVEN = {
    "coordinates": ["x", "y"],
    "parameters": {"m": 2.0, "L": 1.0, "box": np.zeros(3)},
    "mass": lambda p: np.diag([p.m, p.m]),
    "force": lambda p: [0.0, -9.81 * p.m],
    "constraints": {"rod": zw.position(lambda q, p: q @ q - p.L**2)},
}


def pendulum(**changes):
    return zw.System(**{**GIVEN, **changes})


def rod(f, level=zw.position):
    return {"constraints": {"rod": level(f)}}


def branches(q):
    if q[0] > 0:
        return q[0]
    return q[1]


def forgets_to_return(q):
    length = q @ q
    length - 1.0


def loops_while(q):
    x = q[0]
    while x < 1.0:
        x = x + 1.0
    return x - q[1]


def fills_an_array(q):
    out = np.zeros(2)
    out[0] = q[0]
    return out


def writes_a_parameter(q, p):
    p.L = 2.0
    return q[0] - p.L


def tries_and_fails(q):
    return {}["missing"] + q[0]


# (what is changed, words of the message in order)
DEFINITIONS = {
    "branch on a symbol": (rod(branches), "'rod' .*if q\\[0\\] > 0.*value of a symbol.*zw.where"),
    "while loop": (rod(loops_while), "'rod' .*while x < 1.0.*value of a symbol"),
    "math.sin": (rod(lambda q: math.sin(q[0])), "'rod' .*math.sin.*plain number.*np.sin"),
    "float()": (rod(lambda q: float(q[0])), "'rod' .*float.*plain number"),
    "max()": (rod(lambda q: max(q[0], q[1])), "'rod' .*max.*value of a symbol"),
    "symbol into a float array": (rod(fills_an_array), "'rod' .*out\\[0\\] = q\\[0\\]"),
    "round": (rod(lambda q: round(q[0])), "'rod' .*round"),
    "no return": (
        rod(forgets_to_return),
        "constraint 'rod' must return a value, but returned None",
    ),
    "None inside a list": (rod(lambda q: [q[0], None]), "'rod'.*None among"),
    "a string": (rod(lambda q: "x = 1"), "'rod'.*str"),
    "a string in a list": (rod(lambda q: [q[0], "y"]), "'rod'.*str"),
    "a complex number": (rod(lambda q: q[0] * 1j), "'rod' .*with a complex number"),
    "a complex constant": (rod(lambda q: [q[0], 1j]), "'rod'.*complex"),
    "a dictionary": (rod(lambda q: {"a": q[0]}), "'rod'.*dict"),
    "a generator": (rod(lambda q: (x for x in q)), "'rod'.*generator"),
    "ragged rows": (rod(lambda q: [[q[0], q[1]], [q[0]]]), "'rod'.*unequal length"),
    "a matrix as a constraint": (
        rod(lambda q: [[q[0], 1.0], [q[1], 2.0]]),
        "'rod'.*shape \\(2, 2\\)",
    ),
    "no equations": (
        rod(lambda q: []),
        "constraint 'rod' must have at least one equation, but has none",
    ),
    "NaN": (rod(lambda q: q[0] + math.nan), "'rod'.*nan"),
    "a constant": (rod(lambda: 1.0), "'rod'.*does not depend on q"),
    "only time": (rod(lambda t: np.sin(2 * t)), "'rod'.*does not depend on q"),
    "only the second equation": (
        rod(lambda q, p: [q[0], p.L]),
        "'rod', equation 1.*does not depend on q",
    ),
    "index out of range": (rod(lambda q: q[2]), "'rod' .*q\\[2\\].*size 2"),
    "unknown parameter": (rod(lambda q, p: q[0] - p.l), "'rod' .*p\\.l.*'l'.*m, L, box"),
    "unknown parameter by key": (rod(lambda q, p: q[0] - p["K"]), "'rod' .*'K'"),
    "wrong argument": (
        rod(lambda x: x[0]),
        r"constraint 'rod' must be a function of \(q, t, p\),.*not a function of \(x\)",
    ),
    "too many arguments": (rod(lambda q, v, t, p, z: q[0]), "'rod'.*\\(q, v, t, p, z\\)"),
    "velocity in a position constraint": (
        rod(lambda q, v: v[0]),
        r"constraint 'rod' must be a function of \(q, t, p\),.*not a function of \(q, v\)",
    ),
    "velocity constraint without velocities": (
        rod(lambda q: q[0], zw.velocity),
        "'rod'.*does not depend on v.*zw.position",
    ),
    "nonlinear in the accelerations": (
        rod(lambda a: a[0] ** 2, zw.constraint),
        "constraint 'rod' must be linear in the accelerations, but is not",
    ),
    "A of the wrong width": (
        {"constraints": {"rod": zw.acceleration(lambda: [[1.0, 2.0, 3.0]], lambda: [0.0])}},
        r"constraint 'rod', A must return a matrix of shape.*but returned shape \(1, 3\)",
    ),
    "b of the wrong length": (
        {"constraints": {"rod": zw.acceleration(lambda: [[1.0, 2.0]], lambda: [0.0, 1.0])}},
        "constraint 'rod', b must have 1 value, but has 2",
    ),
    "parameters are read only": (rod(writes_a_parameter), "'rod' .*p\\.L = 2.*assignment.*'L'"),
    "an error of its own": (rod(tries_and_fails), "'rod' .*KeyError"),
    "not a function": (
        {"constraints": {"rod": 3.0}},
        r"constraint 'rod' must be a function, or.*not 3\.0",
    ),
    "force of the wrong length": (
        {"force": lambda: [0.0, 1.0, 2.0]},
        "force must return 2 values, one for each velocity, but returned 3 values",
    ),
    "force of one number": (
        {"force": lambda: 1.0},
        "force must return 2 values, one for each velocity, but returned 1 value",
    ),
    "mass of the wrong shape": (
        {"mass": lambda: np.eye(3)},
        r"mass must return a matrix of shape \(2, 2\), but returned shape \(3, 3\)",
    ),
    "mass as a number": ({"mass": lambda p: p.m}, "mass.*\\(2, 2\\)"),
    "mass as a list of numbers": (
        {"mass": lambda p: [p.m, p.m]},
        r"mass must return a matrix of shape \(2, 2\), but returned shape \(2,\)",
    ),
    "mass that wants velocities": (
        {"mass": lambda q, v: np.eye(2)},
        r"mass must be a function of \(q, t, p\),.*not a function of \(q, v\)",
    ),
    "mass is neither function nor numbers": ({"mass": "heavy"}, "mass.*function"),
    "constant mass of the wrong shape": (
        {"mass": np.eye(3)},
        r"mass must return a matrix of shape \(2, 2\), but returned shape \(3, 3\)",
    ),
    "mass that is not symmetric": (
        {"mass": lambda q: [[1.0, q[1]], [0.0, 1.0]]},
        r"mass must be symmetric.*but M\[0, 1\] = 0\.769.* and M\[1, 0\] = 0.*\(M \+ M.T\) / 2",
    ),
    "mass that is not symmetric at times": (
        {"mass": lambda t: [[1.0, 0.0], [zw.where(t < 0.5, 0.0, 0.5), 1.0]]},
        r"mass must be symmetric, but M\[0, 1\] = 0 and M\[1, 0\] = 0\.5 at t = 0\.9",
    ),
    "numbers that are not symmetric": (
        {"mass": [[1.0, 0.1], [0.2, 1.0]]},
        r"mass must be symmetric, but M\[0, 1\] = 0\.1 and M\[1, 0\] = 0\.2",
    ),
    "force that leaves out its potential": (
        {"potential": lambda q, p: 9.81 * p.m * q[1], "force": lambda v: [-v[0], -v[1]]},
        r"force must include all forces, also.*but lacks that of the potential along.*Add it",
    ),
    "potential of two numbers": (
        {"potential": lambda q: q},
        "potential must be one number, but has 2 values",
    ),
    "law of an unknown constraint": (
        {"nonideal": {"rodd": lambda: [0.0, 0.0]}},
        r"non-ideal law of constraint must be one of rod, not 'rodd'.*'rod'",
    ),
    "law of the wrong length": (
        {"nonideal": {"rod": lambda reaction: [reaction[0]]}},
        r"non-ideal law of 'rod' must return 2 values, one for.*but returned 1 value",
    ),
    "law with a wrong argument": (
        {"nonideal": {"rod": lambda q, force: [0.0, 0.0]}},
        r"non-ideal law of 'rod' must be a function of \(q, v, t,.*not a function of \(q, force\)",
    ),
    "conditions joined without parentheses": (
        {"force": lambda q: [zw.where(q[0] > 0 & q[1] > 0, 1.0, 2.0), 0.0]},
        r"force .*bind more closely than comparisons.*\(a < 1\) & \(b > 0\)",
    ),
    "one condition without parentheses": (
        {"force": lambda q: [zw.where((q[0] > 0) & q[1] < 1, 1.0, 2.0), 0.0]},
        r"force .*bind more closely than comparisons.*\(a < 1\) & \(b > 0\)",
    ),
    "a negated number that is compared": (
        {"force": lambda q: [zw.where(~q[0] > 0, 1.0, 2.0), 0.0]},
        r"force .*bind more closely than comparisons.*negate them with ~, each in parentheses",
    ),
    "a power as in other languages": (
        {"force": lambda q: [q[0] ^ 2, 0.0]},
        r"force .*\^ between numbers. A power is a\*\*b",
    ),
    "law without the name of its constraint": (
        {"nonideal": lambda v: -v},
        r"nonideal must be a dictionary of names and laws, not <function.*nonideal=\{'rod': lambda",
    ),
    "laws in a list": ({"nonideal": [lambda v: -v]}, "nonideal must be a dictionary.*not \\[<"),
    "laws in an array": ({"nonideal": np.eye(2)}, "nonideal must be a dictionary.*not array"),
    "law that is a number": (
        {"nonideal": {"rod": 3.0}},
        r"non-ideal law of 'rod' must be a function of \(q, v, t, p, reaction\).*not 3\.0",
    ),
    "constraints in a list": (
        {"constraints": [lambda q: q[0]]},
        r"constraints must be a dictionary of names and functions, not \[<.*Write constraints=\{'",
    ),
    "constraint without a name": (
        {"constraints": zw.position(lambda q: q[0])},
        "constraints must be a dictionary of names and functions, not Constraint",
    ),
    "no constraint by a number": ({"constraints": 0}, "constraints must be a dictionary.*not 0"),
    "parameters in a list": (
        {"parameters": [("m", 2.0)]},
        r"parameters must be a dictionary of names and values, not \[\('m', 2\.0\)\].*Write param",
    ),
    "coordinates by their number": (
        {"coordinates": 2},
        r"coordinates must be a list of names, not 2\. Write \['x', 'y'\]",
    ),
    "coordinates in a set": (
        {"coordinates": {"x"}},
        "list of names, not {'x'}. A set has no order",
    ),
    "velocities by a function": (
        {"velocities": lambda: 0.0, "kinematics": lambda: np.eye(2)},
        "velocities must be a list of names, not <function",
    ),
    "no mass": ({"mass": None}, r"mass must be a function of \(q, t, p\),.*not None"),
    "force in words": (
        {"force": ["down", "down"]},
        r"force must be a function of \(q, v, t, p\),.*or numbers, not \['down', 'down'\]",
    ),
    "kinematics in a list": (
        {"velocities": ["u", "w"], "kinematics": [lambda: np.eye(2)]},
        r"kinematics must be a function of \(q, t, p\) that returns N.*not a list of one",
    ),
    "velocities without kinematics": ({"velocities": ["u", "w"]}, "velocities.*no kinematics"),
    "kinematics without velocities": (
        {"kinematics": lambda: np.eye(2)},
        "kinematics.*no velocities",
    ),
    "kinematics of the wrong shape": (
        {"velocities": ["u"], "kinematics": lambda: np.eye(2)},
        r"kinematics N must return a matrix of shape.*but returned shape \(2, 2\)",
    ),
    "drift of the wrong length": (
        {"velocities": ["u", "w"], "kinematics": (lambda: np.eye(2), lambda: [0.0])},
        "kinematics n0 must have 2 values, but has 1",
    ),
    "kinematics with three functions": (
        {"velocities": ["u"], "kinematics": (np.eye, np.eye, np.eye)},
        "kinematics.*3 functions",
    ),
    "names as one string": ({"coordinates": "xy"}, "coordinates.*'xy'.*\\['xy'\\]"),
    "no coordinates": ({"coordinates": []}, "coordinates.*none"),
    "a name twice": (
        {"coordinates": ["x", "x"]},
        "coordinates must be distinct, but 'x' occurs twice",
    ),
    "a name that is no word": ({"coordinates": ["x 1", "y"]}, "coordinates.*'x 1'"),
    "a keyword as a name": ({"coordinates": ["lambda", "y"]}, "coordinates.*'lambda'"),
    "parameter named like a coordinate": (
        {"parameters": {**GIVEN["parameters"], "x": 1.0}},
        r"parameter 'x' must have a name of its own.*but a coordinate has the same name",
    ),
    "parameter named like an energy": (
        {"parameters": {**GIVEN["parameters"], "energy": 1.0}},
        r"parameter 'energy' must have a name of its own.*potential energy of every run",
    ),
    "output named like an energy": (
        {"outputs": {"kinetic_energy": lambda q: q[0]}},
        r"output 'kinetic_energy' must have a name of its own.*kinetic energy of every run",
    ),
    "constraint named like a velocity": (
        {"constraints": {"x_dot": lambda q: q[0]}},
        r"constraint 'x_dot' must have a name of its own.*but a velocity has the same name",
    ),
    "NaN in a parameter": (
        {"parameters": {**GIVEN["parameters"], "m": math.nan}},
        "parameter 'm' must be finite numbers, not nan",
    ),
    "a word in a parameter": (
        {"parameters": {**GIVEN["parameters"], "m": "two"}},
        "parameter 'm' must be numbers, not 'two'",
    ),
    "ragged parameter": (
        {"parameters": {**GIVEN["parameters"], "m": [[1.0], [2.0, 3.0]]}},
        "parameter 'm'.*numbers",
    ),
    "complex parameter": (
        {"parameters": {**GIVEN["parameters"], "m": 1j}},
        "parameter 'm'.*numbers",
    ),
}

#: Words of other people's insides.
FOREIGN = re.compile(
    r"casadi|SX\(|MX\(|numpy\.core|_ufunc|setting an array element|broadcast"
    r"|Traceback|0x[0-9a-f]{6}",
    re.IGNORECASE,
)


def check(error, words):
    text = str(error.value)
    assert re.search(words, text, re.DOTALL), text
    assert not FOREIGN.search(text), text
    assert len(text) < 420, text
    assert "\n" not in text


@pytest.mark.parametrize("case", DEFINITIONS)
def test_a_mistake_in_a_definition_names_the_culprit(case):
    change, words = DEFINITIONS[case]
    with pytest.raises(zw.ZwangError) as error:
        pendulum(**change)
    check(error, words)


SINGULAR = {"parameters": {"a": 0.0}}

# (what is changed, how it is used, words of the message in order)
USES = {
    "too few coordinates": (
        {},
        lambda s: s.terms([1.0], [0.0, 0.0]),
        r"q must have 2 values \(x, y\), but has 1 value",
    ),
    "too many velocities": (
        {},
        lambda s: s.terms([0.0, 1.0], [0.0] * 3),
        r"v must have 2 values \(x_dot, y_dot\), but has 3 values",
    ),
    "a matrix of the wrong width": (
        {},
        lambda s: s.terms(np.ones((4, 3))),
        r"q must have 2 values \(x, y\), but has shape \(4, 3\)",
    ),
    "a number for a state": (
        {},
        lambda s: s.terms(1.0),
        r"q must have 2 values \(x, y\), but has shape \(\)",
    ),
    "words for a state": (
        {},
        lambda s: s.terms(["a", "b"]),
        r"q must be numbers, not \['a', 'b'\]",
    ),
    "NaN in the state": (
        {},
        lambda s: s.terms([math.nan, 1.0]),
        "q of 'x' must be a finite number, not nan",
    ),
    "infinite velocity": ({}, lambda s: s.terms([0.0, 1.0], [0.0, math.inf]), "v of 'y_dot'.*inf"),
    "NaN in the time": ({}, lambda s: s.terms(*STATE, math.nan), "time t.*nan"),
    "a word for the time": ({}, lambda s: s.terms(*STATE, "now"), "time t.*'now'"),
    "batches that do not fit": (
        {},
        lambda s: s.terms(np.ones((3, 2)), np.ones((4, 2))),
        "\\(3,\\).*\\(4,\\)",
    ),
    "unknown name in a state": (
        {},
        lambda s: s.terms({"x": 1.0, "Y": 0.0}),
        "q must be one of x, y, not 'Y'",
    ),
    "missing name in a state": ({}, lambda s: s.terms({"x": 1.0}), "q.*no value for y"),
    "unknown parameter": (
        {},
        lambda s: s.terms(*STATE, parameters={"mass": 1.0}),
        "parameter must be one of m, L, box, not 'mass'",
    ),
    "parameter of the wrong shape": (
        {},
        lambda s: s.terms(*STATE, parameters={"box": [1.0, 2.0]}),
        r"parameter 'box' must have shape \(3,\), as in the model, but has shape \(2,\)",
    ),
    "NaN in a changed parameter": (
        {},
        lambda s: s.terms(*STATE, parameters={"L": math.nan}),
        "parameter 'L'.*nan",
    ),
    "division by zero in the force": (
        {"force": lambda q, p: [1.0 / q[0], 0.0]},
        lambda s: s.terms(*STATE),
        "force on 'x'.*not finite.*division by zero",
    ),
    "root of a negative number in a constraint": (
        rod(lambda q: np.sqrt(q[1]) - q[0]),
        lambda s: s.terms(*STATE),
        "'rod'.*not finite",
    ),
    "logarithm in the potential": (
        {"potential": lambda q: np.log(q[0]), "force": lambda: [-1.0, 0.0]},
        lambda s: s.energy(*STATE),
        "potential.*not finite",
    ),
    "mass whose parameters make it not symmetric": (
        {
            "mass": lambda p: [[1.0, p.k], [p.j, 1.0]],
            "parameters": {"m": 1.0, "L": 1.0, "k": 0.1, "j": 0.1},
        },
        lambda s: s.terms(*STATE, parameters={"j": -0.2}),
        r"mass matrix M must be symmetric.*but M\[0, 1\] = 0\.1 and -0\.2 across the",
    ),
    "mass that is not positive": (
        {"mass": lambda q: np.diag([1.0, q[1]])},
        lambda s: s.solve(*STATE),
        r"mass matrix M must be positive semi-definite.*but gives the kinetic energy −1/2 for",
    ),
    "no mass and no constraint": (
        {"mass": lambda: np.diag([1.0, 0.0]), "constraints": {}},
        lambda s: s.solve(*STATE),
        r"acceleration must be determined by mass or.*but there is a direction with neither",
    ),
    "contradicting constraints": (
        {"constraints": {"one": lambda q, t: q[0] - t**2, "two": lambda q: q[0]}},
        lambda s: s.solve(*STATE),
        "one.*two",
    ),
    "unknown formulation": (
        {},
        lambda s: s.solve(*STATE, formulation="newton"),
        r"formulation must be one of auto,.*not 'newton'",
    ),
    "law that is not finite": (
        {"nonideal": {"rod": lambda q: [1.0 / q[0], 0.0]}},
        lambda s: s.solve(*STATE),
        "law of 'rod'.*not finite",
    ),
    "many reactions of a batch": (
        {"nonideal": {"rod": lambda reaction: [-0.1 * abs(reaction[1]), 0.0]}},
        lambda s: s.reaction_solutions([STATE[0]] * 2),
        r"q, v, t must be one state, not a batch of shape \(2,\)",
    ),
}


@pytest.mark.parametrize("case", USES)
def test_a_mistake_in_use_names_the_culprit(case):
    change, use, words = USES[case]
    system = pendulum(**change)
    with pytest.raises(zw.ZwangError) as error:
        use(system)
    check(error, words)


LAGRANGIANS = {
    "kinetic energy of two numbers": (
        {"T": lambda v: v},
        "kinetic energy T must be one number, but has 2 values",
    ),
    "kinetic energy without return": (
        {"T": lambda v: None},
        "T must return a value, but returned None",
    ),
    "potential of velocities": ({"V": lambda q, v: v[0]}, "V.*\\(q, v\\)"),
    "branch in the dissipation": (
        {"dissipation": lambda v: v[0] if v[0] > 0 else 0.0},
        "dissipation .*value of a symbol",
    ),
    "forces of the wrong length": (
        {"forces": lambda: [1.0]},
        "force must return 2 values, one for each velocity, but returned 1 value",
    ),
}


@pytest.mark.parametrize("case", LAGRANGIANS)
def test_a_mistake_in_a_lagrangian_names_the_culprit(case):
    change, words = LAGRANGIANS[case]
    given = {"T": lambda v: 0.5 * v @ v, "V": lambda q: q[1], **change}
    with pytest.raises(zw.ZwangError) as error:
        zw.System.from_lagrangian(["x", "y"], **given)
    check(error, words)


def test_a_force_that_holds_its_potential_may_hold_more():
    both = pendulum(
        potential=lambda q, p: 9.81 * p.m * q[1],
        force=lambda v, t, p: [np.cos(t) - v[0], -9.81 * p.m - v[1]],
    )
    assert both.energy(*STATE)[1] == pytest.approx(-2.0 * 9.81)


def test_there_are_more_than_forty():
    assert len(DEFINITIONS) + len(USES) + len(LAGRANGIANS) > 40


def test_the_offending_line_is_told_to_programs_too():
    with pytest.raises(zw.TraceError) as error:
        pendulum(**rod(branches))
    assert error.value.line == "if q[0] > 0:"
    assert error.value.filename.endswith("test_bad_functions.py")
    assert error.value.lineno == branches.__code__.co_firstlineno + 1


def test_a_function_may_not_change_what_another_sees():
    # Arguments are handed out anew, so that an assignment in one function stays in it.
    def spoils(q):
        q[0] = 0.0
        return q[1] - 1.0

    system = pendulum(constraints={"first": spoils, "second": lambda q: q[0] - q[1]})
    np.testing.assert_array_equal(system.terms(*STATE).constraint_matrix, [[0.0, 1.0], [1.0, -1.0]])


def test_dictionaries_given_are_not_kept():
    parameters = {"m": 2.0, "L": 1.0, "box": np.zeros(3)}
    constraints = dict(GIVEN["constraints"])
    system = pendulum(parameters=parameters, constraints=constraints)
    parameters["m"] = 5.0
    parameters["box"][0] = 7.0
    constraints.clear()
    assert system.parameters["m"] == 2.0
    assert system.parameters["box"][0] == 0.0
    assert system.constraints == ("rod",)
    system.parameters["box"][0] = 9.0
    assert system.parameters["box"][0] == 0.0


PAIR_CALLS = {
    "solve": lambda system, pair: system.solve(pair),
    "terms": lambda system, pair: system.terms(pair),
    "explain": lambda system, pair: system.explain(pair),
    "energy": lambda system, pair: system.energy(pair),
    "simulate": lambda system, pair: system.simulate(pair, until=0.1),
    "simulate_many": lambda system, pair: system.simulate_many(pair, until=0.1),
    "linearize": lambda system, pair: system.linearize(pair),
    "at": lambda system, pair: system.derive().at("acceleration", pair),
}


@pytest.mark.parametrize("call", PAIR_CALLS)
def test_a_pair_in_place_of_a_state_is_refused_with_the_line_that_works(call):
    """It would be read as two positions at rest: shapes fit wherever there are two of them."""
    q, v = np.array([0.0, -1.0]), [1.0, 0.0]
    for pair in ((q, v), (q, v, 0.0), ({"x": 0.0, "y": -1.0}, v)):
        with pytest.raises(zw.InputError, match=r"tuple like \(q, v") as caught:
            PAIR_CALLS[call](pendulum(), pair)
        assert ", v" in caught.value.args[0].split("as in")[1]


def test_states_that_are_no_pair_are_taken():
    system, (q, v) = pendulum(), STATE
    form = system.derive()
    one = system.solve(q, v)
    assert system.solve(tuple(q), tuple(v)).acceleration.tolist() == one.acceleration.tolist()
    for many in (([q, q], [v, v]), ((q, q), (v, v)), (np.array([q, q]), v)):
        assert np.allclose(system.solve(*many).acceleration, one.acceleration)
        assert np.allclose(form.at("acceleration", *many), one.acceleration)
    assert system.solve([q, q]).acceleration.shape == (2, 2)
    assert system.solve((q, q, q)).acceleration.shape == (3, 2)
    state = zw.State(q=np.array(q), v=np.array(v), t=0.0)
    assert np.allclose(form.at("acceleration", state), one.acceleration)
    by_name = form.at("acceleration", {"x": 0.0, "y": -1.0}, {"x_dot": 1.0, "y_dot": 0.0})
    assert np.allclose(by_name, one.acceleration)


def test_a_closed_form_refuses_states_of_another_size():
    with pytest.raises(zw.InputError, match="must have 2 values"):
        pendulum().derive().at("acceleration", [0.0, -1.0, 0.0])
