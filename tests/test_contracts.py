"""Equations are a declared type, systems have them, and objects are made by their `__init__`."""

import ast
from pathlib import Path

import pytest

import zwang as zw
from zwang.analysis.analyses import Analyses
from zwang.coordinates.joint.system import JointEquations
from zwang.coordinates.planar.equations import PlanarEquations
from zwang.equations.contract import Equations
from zwang.equations.elements import ElementEquations
from zwang.equations.euler_parameters import EulerParameterEquations
from zwang.equations.evaluations import Evaluations
from zwang.equations.expression import ExpressionEquations
from zwang.equations.mechanism import MechanismEquations, MechanismExpression
from zwang.mechanism import MechanismSystem
from zwang.programs.contract import Program
from zwang.programs.coordinate_change import CoordinateChange
from zwang.simulation.motions import Motions

ROOT = Path(zw.__file__).parent
#: Files that write to the `__dict__` of another object.
ALLOWED = {"caching.py": "computed_once keeps its result where functools.cached_property does"}


@pytest.mark.parametrize("kind", [Equations, MechanismEquations, Program, CoordinateChange])
def test_contracts_are_abstract(kind):
    assert kind.__abstractmethods__
    with pytest.raises(TypeError):
        kind()


@pytest.mark.parametrize(
    "kind",
    [
        ExpressionEquations,
        MechanismExpression,
        ElementEquations,
        EulerParameterEquations,
        PlanarEquations,
        JointEquations,
    ],
)
def test_equations_implement_all_of_theirs(kind):
    assert issubclass(kind, Equations)
    assert not kind.__abstractmethods__


def test_a_system_has_equations_and_is_none():
    assert not issubclass(zw.System, Equations)
    pendulum = zw.library.spherical_pendulum()
    assert type(pendulum.equations) is ExpressionEquations
    small, large = zw.library.chain(3).system, zw.library.chain(40).system
    assert type(small) is type(large) is MechanismSystem
    assert type(small.equations) is MechanismExpression
    assert type(large.equations) is ElementEquations
    assert type(large.without(["joint40"]).equations) is ElementEquations


def test_equations_of_a_large_mechanism_are_those_of_its_expression():
    """What is asked as one expression is in the symbols that events are traced with."""
    equations = ElementEquations(zw.library.chain(3).parts)
    assert "model" not in equations.__dict__
    assert equations.model.state.q is equations.element_symbols.q
    assert equations.evaluator is equations.whole.evaluator
    for name in ("groups", "levels", "row_names", "opaque", "reaction_dependent"):
        assert getattr(equations, name) == getattr(equations.whole, name), name
    assert equations.row_levels() == equations.whole.row_levels()


@pytest.mark.parametrize(
    ("calls", "some"),
    [
        (Analyses, {"equilibrium", "linearize", "kinematics", "inverse_dynamics", "servo"}),
        (Motions, {"simulate", "simulate_many"}),
        (Evaluations, {"terms", "solve", "passport", "splits", "residuals", "energy"}),
    ],
)
def test_calls_are_written_once(calls, some):
    names = {name for name in vars(calls) if not name.startswith("_")}
    assert some <= names
    for name in names - {"explain"}:  # that of a mechanism promises more
        for kind in (zw.System, zw.Mechanism, MechanismSystem):
            assert getattr(kind, name) is getattr(calls, name), name
    for name in ("explain", "assemble"):
        assert getattr(zw.Mechanism, name) is getattr(MechanismSystem, name), name


def writes_around(tree):
    """Lines that make an object without its `__init__`, or write to the `__dict__` of another."""
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if called and (node.func.attr == "__new__" or of_another(node.func.value)):
            yield node.lineno
        stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if stored and of_another(node.value):
            yield node.lineno


def of_another(node):
    """Whether an expression is the `__dict__` of something else than self."""
    if not (isinstance(node, ast.Attribute) and node.attr == "__dict__"):
        return False
    return not (isinstance(node.value, ast.Name) and node.value.id == "self")


def test_objects_are_made_by_their_init_and_keep_what_they_know():
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        lines = list(writes_around(ast.parse(file.read_text(encoding="utf-8"))))
        if lines:
            found[file.relative_to(ROOT).as_posix()] = lines
    assert set(found) == set(ALLOWED), found


def test_such_writes_are_seen():
    lines = [
        "x = K.__new__(K)",
        "x.__dict__['a'] = 1",
        "y = x.__dict__.setdefault('b', {})",
        "z = x.__dict__['a']",
        "self.__dict__.update(a=1)",
    ]
    assert sorted(writes_around(ast.parse("\n".join(lines)))) == [1, 2, 3]
