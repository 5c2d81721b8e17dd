"""Public calls show what they take, wrappers stay in step, names are spelled one way."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import typer

import zwang as zw
from zwang.cli.app import app
from zwang.control import program
from zwang.diagnosis.splits import Split
from zwang.formulations import constraint_rows
from zwang.integrators.settings import METHODS, Coordinates, Drift, OnSingular
from zwang.mechanism import MechanismSystem
from zwang.model_files.schema import schema
from zwang.multibody.builder import TOOTHED, WHERE
from zwang.multibody.joint_methods import NUMBERS
from zwang.multibody.joints import KINDS
from zwang.multibody.pose import PLANES
from zwang.results.run import Counts
from zwang.simulation import ensemble, resume, simulate
from zwang.tracing.constraint import Constraint
from zwang.view import page, plots, report, video

CHANGELOG = (Path(__file__).resolve().parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")

#: What is public though it is not in `zwang.__all__`: it is returned, or a module of `zwang`.
FURTHER = [MechanismSystem, ensemble.Runs, Counts, Constraint, zw.library, zw.inertia, zw.rotation]

#: Calls whose further names are the user's own, or those of what they name.
OPEN = {
    "set_parameters": "parameters of the user",
    "with_parameters": "parameters of the user",
    "states": "options of the constructor that is named",
    "start": "options of the constructor that is named",
}


def callables_of(owner, name):
    """Public callables of a class or module, and itself."""
    if inspect.isfunction(owner):
        yield name, owner
        return
    if inspect.isclass(owner) and issubclass(owner, Exception):
        return
    if inspect.isclass(owner):
        yield name, owner
    for key in dir(owner):
        if key.startswith("_"):
            continue
        found = inspect.getattr_static(owner, key, None)
        found = getattr(owner, key) if found is None else found
        found = getattr(found, "__func__", found)  # class methods
        ours = getattr(found, "__module__", "") or ""
        if callable(found) and ours.startswith("zwang"):
            yield f"{name}.{key}", found


def public():
    named = {name: getattr(zw, name) for name in zw.__all__}
    named |= {owner.__name__.rpartition(".")[2]: owner for owner in FURTHER}
    found = {}
    for name, owner in named.items():
        if callable(owner) or inspect.ismodule(owner):
            found |= dict(callables_of(owner, name))
    return found


PUBLIC = public()


def test_the_walk_over_the_public_surface_finds_what_users_call():
    wanted = {"solve", "Mechanism.revolute", "Mechanism.body", "System.of", "Run.plot", "Model"}
    assert wanted <= set(PUBLIC)
    assert {"library.four_bar", "inertia.rod", "MechanismSystem.assemble"} <= set(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_call_lists_what_it_takes(name):
    if name.rpartition(".")[2] in OPEN:
        return
    for parameter in inspect.signature(PUBLIC[name]).parameters.values():
        assert parameter.kind is not parameter.VAR_KEYWORD, f"{name} hides **{parameter.name}"


# --- wrappers -------------------------------------------------------------------------------------


def parameters_of(function):
    """Name → parameter, without what a method or function is called on."""
    shown = dict(inspect.signature(function).parameters)
    for owner in ("self", "run", "system"):
        if next(iter(shown), None) == owner:
            del shown[owner]
    return shown


#: A wrapper and what it wraps, with the names that one of them has alone, and those
#: whose defaults or types differ.
PAIRS = [
    (zw.System.simulate, simulate.simulate, {"companions", "velocity"}, {"q"}),
    (zw.System.simulate_many, ensemble.simulate_many, set(), {"q"}),
    (
        zw.System.simulate_many,
        zw.System.simulate,
        {"threads", "store", "store_every", "controllers", "velocity"},
        set(),
    ),
    (zw.Mechanism.explain, zw.System.explain, set(), set()),
    (zw.System.degrees_of_freedom, zw.System.explain, {"v"}, set()),
    (zw.System.ideal_terms, zw.System.terms, set(), set()),
    (zw.System.certify, zw.System.explain, set(), set()),
    (program.control_force, zw.System.control_force, set(), {"*"}),
    (zw.Model.resume, zw.resume, {"system"}, set()),
    (zw.resume, resume.resume, set(), {"system"}),
    (zw.Run.draw, plots.draw, set(), set()),
    (zw.Run.animate, video.animate, set(), set()),
    (zw.Run.report, report.report, set(), set()),
    (report.report, report.report_html, {"path", "overwrite"}, set()),
    (zw.Run.view, page.view, set(), {"live"}),
]


def label(pair):
    return " and ".join(f"{f.__module__.partition('.')[2]}.{f.__qualname__}" for f in pair[:2])


@pytest.mark.parametrize("pair", PAIRS, ids=map(label, PAIRS))
def test_wrappers_stay_in_step(pair):
    first, second, alone, other = pair
    mine, theirs = parameters_of(first), parameters_of(second)
    assert set(mine) ^ set(theirs) == alone
    for name in mine.keys() & theirs.keys():
        assert mine[name].kind == theirs[name].kind, name
        if name not in other and "*" not in other:
            assert mine[name].default == theirs[name].default, name
            assert mine[name].annotation == theirs[name].annotation, name
    shared = [name for name in mine if name in theirs]
    assert shared == [name for name in theirs if name in mine], "in another order"


def test_a_model_takes_what_simulate_takes_and_leaves_the_rest_to_its_file():
    mine, theirs = parameters_of(zw.Model.simulate), parameters_of(zw.System.simulate)
    assert list(mine) == [name for name in theirs if name != "velocity"]  # its start has it
    for name, parameter in mine.items():
        assert parameter.default is None, name
        wanted = theirs[name].annotation
        assert parameter.annotation in (wanted, f"{wanted} | None"), name


# --- joints ---------------------------------------------------------------------------------------


#: Numbers of other equations that a kind of joint may have, all of which may be omitted.
VARIANTS = {"universal": ("arm_angle",)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_method_of_a_joint_offers_the_numbers_of_its_kind(kind):
    offered = set(parameters_of(getattr(zw.Mechanism, kind))) - {"name", "a", "b", *WHERE}
    more = ["pressure_angle"] if kind in TOOTHED else VARIANTS.get(kind, ())
    assert offered == {*KINDS[kind].numbers, *more}


def test_joint_offers_the_numbers_of_all_kinds():
    offered = set(parameters_of(zw.Mechanism.joint)) - {"kind", "name", "a", "b", *WHERE}
    plain = {n for k in KINDS.values() for n in k.numbers}
    more = {n for names in VARIANTS.values() for n in names}
    assert offered == set(NUMBERS) == plain | more | {NUMBERS[-1]}


def test_a_joint_is_the_same_by_its_method_and_by_its_kind():
    mine, theirs = parameters_of(zw.Mechanism.gear), parameters_of(zw.Mechanism.joint)
    for name in ("at", "axis", "axis_b", "reference", "pressure_angle"):
        assert mine[name] == theirs[name]


# --- docstrings -----------------------------------------------------------------------------------


def described_in(function):
    """Names in the section Parameters of a docstring."""
    text = inspect.cleandoc(function.__doc__)
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n|\Z)", text, re.DOTALL)
    assert section, "no section Parameters"
    entries = re.findall(r"^(\w[\w, ]*?(?:,\n    [\w, ]+)*?) :", section[1], re.MULTILINE)
    return [name.strip() for entry in entries for name in entry.split(",")]


DESCRIBED = [
    zw.System.simulate,
    zw.System.simulate_many,
    zw.System.solve,
    zw.System.terms,
    zw.Mechanism.assemble,
    zw.Model.simulate,
    zw.Model.resume,
    zw.resume,
    zw.Run.draw,
    zw.Run.animate,
    zw.Run.report,
    zw.Run.view,
    zw.Mechanism.joint,
    *(getattr(zw.Mechanism, kind) for kind in KINDS),
]


@pytest.mark.parametrize("function", DESCRIBED, ids=lambda f: f.__qualname__)
def test_docstrings_describe_exactly_what_there_is(function):
    told, there = described_in(function), list(parameters_of(function))
    assert sorted(told) == sorted(there)


# --- refusals -------------------------------------------------------------------------------------


def pendulum():
    return zw.System(
        ["x", "y"],
        mass=np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"rod": zw.position(lambda q: q @ q - 1.0)},
    )


def rod():
    m = zw.Mechanism(gravity=(0.0, 0.0, -9.81))
    body = m.body("rod", 1.0, (1.0, 1.0, 1.0), position=(0.5, 0.0, 0.0))
    return m, body


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: pendulum().simulate([1.0, 0.0], untl=1.0),
            r"argument of simulate: 'untl' is not known.*'until'\?.*one of until, start,",
        ),
        (lambda: pendulum().simulate([1.0, 0.0]), "simulate must be given until="),
        (
            lambda: rod()[0].simulate(until=1.0, tolerans=1e-9),
            r"argument of simulate: 'tolerans' is not known.*'tolerance'\?.*one of until, start,",
        ),
        (
            lambda: pendulum().simulate_many([[1.0, 0.0]], until=1.0, store="x"),
            r"argument of simulate_many 'store' is not accepted.*run\.save",
        ),
        (
            lambda: rod()[0].body("other", mas=1.0),
            r"argument of body must be one of position,.*not 'mas'.*'mass'\?",
        ),
        (
            lambda: rod()[0].revolute("pin", "ground", "rod", axes="y"),
            r"joint 'pin' must be one of at, axis, axis_b,.*not 'axes'.*'axis'",
        ),
        (
            lambda: rod()[0].screw("nut", "ground", "rod", axis="z"),
            "screw joint 'nut' must be given pitch=, a number",
        ),
        (
            lambda: rod()[0].joint("revolute", "pin", "ground", "rod", axis="y", radius=1.0),
            r"joint 'pin' must be one of at, axis, axis_b,.*not 'radius'",
        ),
        (
            lambda: rod()[0].joint("revolute", "pin", "ground", "rod", pressure_angle=None),
            r"joint 'pin' must be one of at, axis, axis_b,.*not 'pressure_angle'",
        ),
        (
            lambda: rod()[0].spherical_link(
                "leg", "ground", "rod", at=((0, 0, 1), (0, 0, 0)), length=lambda t: 1.0, axis="z"
            ),
            r"joint 'leg' must be given at=, a pair of.*but axis or reference was given too",
        ),
    ],
)
def test_a_slip_of_the_pen_is_told_in_a_sentence(call, words):
    with pytest.raises(zw.InputError, match=words):
        call()


def test_a_refused_joint_leaves_its_name_free():
    m, body = rod()
    with pytest.raises(zw.InputError):
        m.revolute("pin", m.ground, body, axes="y")
    m.revolute("pin", m.ground, body, axis="y")
    assert [call.method for call in m.description] == ["body", "joint"]


# --- names ----------------------------------------------------------------------------------------

#: Endings and roots that have an American form.
BRITISH = re.compile(
    r"(?<!no)(?<!wise)is(e|es|ed|er|ing|ation|ations)$|ys(e|es|ed|ing)$|colour|favour|behaviour"
    r"|neighbour|centre|metre|fibre|grey|licence|labell|travell|catalogue|dialogue"
)
#: Words that end alike and are spelled so everywhere.
ALIKE = {"noise", "otherwise", "elementwise", "raise", "rise", "precise", "wise", "promise", "else"}


def british(name):
    words = [word for word in re.split(r"[\W_]+", name.lower()) if word not in ALIKE]
    return [word for word in words if BRITISH.search(word)]


def choices_and_keys(plain):
    """Keys and choices in a schema of model files."""
    if isinstance(plain, dict):
        yield from (x for x in plain.get("enum", ()) if isinstance(x, str))
        yield from plain.get("properties", {})
        for value in plain.values():
            yield from choices_and_keys(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from choices_and_keys(value)


def public_names():
    yield from dir(zw)
    for name, function in PUBLIC.items():
        yield from [name, *inspect.signature(function).parameters]
    for owner in [getattr(zw, name) for name in zw.__all__] + FURTHER:
        yield from (name for name in dir(owner) if not name.startswith("_"))
        yield from getattr(owner, "__dataclass_fields__", ())
    yield from [*METHODS, *KINDS, *PLANES, *zw.FORMULATIONS, *Drift, *OnSingular, *Coordinates]
    yield from constraint_rows.__all__
    yield from choices_and_keys(schema())
    for name, command in typer.main.get_command(app).commands.items():
        yield from [name, *(option for p in command.params for option in (*p.opts, p.name))]


def test_public_names_are_spelled_the_american_way():
    for name in ("stabilise", "stabilised_rhs", "factorisations", "body.centre", "colour"):
        assert british(name)
    assert not british("stabilize_noise")
    names = set(public_names())
    assert {"until", "gravity", "--resume", "generalized_alpha", "on_singular"} <= names
    assert not {name for name in names if british(name)}


#: Old name → new name, and a call that uses the old one.
RENAMED = {
    ("System.with_program(stabilise=…)", "stabilize"): lambda: pendulum().with_program(
        {"line": lambda q: q[0]}, stabilise=1.0
    ),
    ("System.control_force(stabilise=…)", "stabilize"): lambda: pendulum().control_force(
        [0.0, -1.0], program={"line": lambda q: q[0]}, stabilise=1.0
    ),
    ("run.counts.factorisations", "factorizations"): lambda: Counts().factorisations,
    ("Split.minimises", "minimizes"): lambda: Split("a", "b", np.zeros(1)).minimises,
    ("Constraint.stabilise", "stabilize"): lambda: zw.position(lambda q: q[0]).stabilise,
    ("zwang.formulations.constraint_rows.stabilised_rhs", "stabilized_rhs"): lambda: (
        constraint_rows.stabilised_rhs
    ),
    ("Mechanism.simulate(start=state)", "q"): lambda: rod()[0].simulate(
        start=zw.State(np.zeros(7), np.zeros(6), 0.0), until=1.0
    ),
    ("Model.simulate(state=…)", "q"): lambda: zw.Model.simulate(None, state=None),
}


@pytest.mark.parametrize(("names", "call"), RENAMED.items(), ids=[old for old, _ in RENAMED])
def test_an_old_name_is_refused_with_the_new_one_and_stands_in_the_changelog(names, call):
    old, new = names
    with pytest.raises((zw.InputError, AttributeError), match=rf"\b{new}\b"):
        call()
    row = next(line for line in CHANGELOG.splitlines() if line.startswith(f"| `{old}`"))
    assert re.search(rf"\b{new}\b", row.split("|")[2])


def test_counts_of_runs_stored_under_old_names_are_read():
    assert Counts.of({"steps": 3, "factorisations": 2}) == Counts(steps=3, factorizations=2)
    assert not hasattr(Counts(), "factorisations")


def test_dir_shows_the_public_names_alone():
    assert set(dir(zw)) == {*zw.__all__, "cache", "inertia", "library", "rotation"}
    for name in dir(zw):
        assert getattr(zw, name) is not None
