"""From CasADi to SymPy, and the algebra that closed forms are simplified with."""

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy import symbols
from sympy.polys.rings import PolyRing

import zwang as zw
from zwang.closed_form.algebra import Algebra
from zwang.closed_form.convert import REFUSED, number, to_sympy
from zwang.closed_form.factors import factored
from zwang.closed_form.present import Presenter
from zwang.codegen.operations import OPERATIONS
from zwang.errors import InputError

# --- conversion ----------------------------------------------------------------------------------


def built(operation, x, y):
    """A CasADi expression with this operation."""
    name = {"sq": "sq", "twice": None, "inv": None, "neg": None}.get(operation, operation)
    simple = {
        "add": lambda: x + y,
        "sub": lambda: x - y,
        "mul": lambda: x * y,
        "div": lambda: x / y,
        "pow": lambda: x**y,
        "constpow": lambda: x**2.5,
        "neg": lambda: -x,
        "sq": lambda: x * x,
        "twice": lambda: 2 * x,
        "inv": lambda: 1 / x,
        "lt": lambda: x < y,
        "le": lambda: x <= y,
        "eq": lambda: x == y,
        "ne": lambda: x != y,
        "and": lambda: ca.logic_and(x < y, x),
        "or": lambda: ca.logic_or(x < y, y - x),
        "not": lambda: ca.logic_not(x < y),
        "if_else_zero": lambda: ca.if_else(x < y, x * y, 3 * x),
    }
    if operation in simple:
        return simple[operation]()
    function = getattr(ca, name)
    return function(x, y) if OPERATIONS[operation] == 2 else function(x)


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - set(REFUSED)))
def test_every_operation_has_its_sympy_form(operation):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    e = built(operation, x, y)
    a, b = symbols("a b")
    result = to_sympy({"e": e}, [(x, [a]), (y, [b])])["e"][0]
    function = ca.Function("f", [x, y], [e])
    inside = {"acosh": (1.2, 1.7), "atanh": (0.3, 0.4), "asin": (0.3, 0.4), "acos": (0.3, -0.4)}
    points = [inside.get(operation, (0.7, 1.9))]
    if operation in {"fmod", "copysign", "sign", "floor", "ceil", "fabs", "atan2", "fmin", "fmax"}:
        points += [(-5.3, 1.9), (5.3, -1.9), (-5.3, -1.9)]
    if operation in {"lt", "le", "eq", "ne", "and", "or", "not", "if_else_zero"}:
        points += [(1.9, 0.7), (0.5, 0.5)]
    for point in points:
        value = float(result.subs({a: sp.Rational(str(point[0])), b: sp.Rational(str(point[1]))}))
        assert value == pytest.approx(float(function(*point)), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("operation", REFUSED)
def test_operations_without_a_readable_form_are_refused_by_name(operation):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    e = ca.remainder(x, y) if operation == "remainder" else ca.erfinv(x)
    with pytest.raises(InputError, match=f"operation '{operation}'"):
        to_sympy({"e": e}, [(x, [sp.Symbol("x")]), (y, [sp.Symbol("y")])])


def test_choices_become_piecewise():
    system = zw.System(
        coordinates=["x"],
        parameters={"k": 2.0},
        mass=lambda: [[1.0]],
        force=lambda q, p: [zw.where(q[0] > 0, -p.k * q[0], 0.0)],
    )
    k, x = symbols("k x")
    force = system.derive().acceleration[0]
    assert sp.simplify(force - sp.Piecewise((-k * x, x > 0), (0, True))) == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, sp.Rational(1, 2)),
        (1 / 3, sp.Rational(1, 3)),
        (-9.81, sp.Rational(-981, 100)),
        (np.pi / 6, sp.pi / 6),
        (np.sqrt(2) / 2, sp.sqrt(2) / 2),
        (-np.sqrt(3), -sp.sqrt(3)),
        (0.123456789, sp.Rational("0.123456789")),
        (6.02214076e23, sp.Integer(602214076) * 10**15),
        (0.0, sp.Integer(0)),
    ],
)
def test_numbers_are_what_was_meant(value, expected):
    assert number(value) == expected
    assert float(number(value)) == pytest.approx(value, rel=3e-16)


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="finite"):
        number(float("inf"))


# --- algebra -------------------------------------------------------------------------------------


def shortest(*expressions):
    algebra = Algebra(expressions)
    presenter = Presenter(algebra)
    return [presenter.expression(algebra.encode(e)) for e in expressions]


def test_algebra_knows_angles_roots_and_exponentials():
    a, b, x, y = symbols("a b x y")
    r = sp.sqrt(x**2 + y**2)
    assert shortest(sp.sin(a) ** 2 + sp.cos(a) ** 2 - 1) == [0]
    assert shortest(sp.cos(a) / (sp.sin(a) ** 2 - 1)) == [-1 / sp.cos(a)]
    assert shortest((1 - sp.cos(a) ** 2) / sp.cos(a) / sp.sin(a)) == [sp.tan(a)]
    assert shortest(r**4 - 2 * x**2 * y**2 - x**4 - y**4) == [0]
    assert shortest((x**3 + x * y**2) / r**3) == [x / r]
    assert shortest(sp.exp(x) * sp.exp(-x) - 1) == [0]
    assert shortest(sp.Abs(x) ** 3 / x**2) == [sp.Abs(x)]
    assert shortest(sp.sqrt(1 + sp.sqrt(x)) ** 4 - 1 - x - 2 * sp.sqrt(x)) == [0]
    assert shortest(sp.sin(2 * a) - 2 * sp.sin(a) * sp.cos(a)) == [0]
    assert shortest(sp.sin(a + b) - sp.sin(a) * sp.cos(b) - sp.cos(a) * sp.sin(b)) == [0]
    assert shortest(sp.cos(a / 2) ** 2 - (1 + sp.cos(a)) / 2) == [0]
    assert shortest(sp.sin(a - b) + sp.sin(b - a)) == [0]
    assert shortest(x ** sp.Rational(2, 3) * x ** sp.Rational(1, 3) - x) == [0]


def test_sums_of_angles_stay_whole_where_nothing_is_gained():
    a, b = symbols("a b")
    assert shortest(sp.sin(a + b) * 2) == [2 * sp.sin(a + b)]


def test_forms_are_grouped_and_factored():
    a, b, x = symbols("a b x")
    assert shortest(a * x + b * x) == [x * (a + b)]
    assert shortest((x**2 - 1) / (x - 1)) == [x + 1]
    assert str(shortest(2 * a * x + 2 * b)[0]) == "2*(a*x + b)"
    assert shortest(-a * b) == [-a * b]


@pytest.mark.parametrize(
    "text",
    [
        "-3*x*y**2",
        "2*x*(y + z)*(x - y)",
        "(x*y - z*w)**2*(a + b)",
        "-m*x*(g*y + x**2 + z**2)/3",
        "(J + m*r**2)*(2*J + m*r**2)",
        "(a + b)*(c + d)*(e + f)*(x + y)*(z + w)",
        "x**2 + y**2 + z**2",
    ],
)
def test_factors_multiply_to_the_polynomial_and_are_all_found(text):
    e = sp.sympify(text)
    R = PolyRing(sorted(e.free_symbols, key=str), sp.QQ)
    polynomial = R.from_expr(e)
    content, powers = factored(polynomial)
    product = R(content)
    for factor, power in powers:
        product *= factor**power
    assert product == polynomial
    assert sum(power for _, power in powers) == sum(k for _, k in polynomial.factor_list()[1])
    for factor, _ in powers:
        assert sum(c > 0 for c in factor.itercoeffs()) >= len(factor) / 2


def test_large_polynomials_are_freed_of_common_symbols_only():
    gens = symbols("x0:6")
    R = PolyRing(gens, sp.QQ)
    rest = R.from_expr((sum(gens) + 1) ** 3) * R.from_expr(sum(gens) + 2)
    assert factored(rest * R.gens[0] ** 2) == (1, [(R.gens[0], 2), (rest, 1)])
