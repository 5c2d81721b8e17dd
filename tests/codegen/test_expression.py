"""Reading CasADi functions: values, equal subexpressions, outputs, errors."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from builders import random_function, run

from zwang import codegen
from zwang.codegen.casadi_operators import inverse, minus, plus, times
from zwang.codegen.casadi_vm import to_function
from zwang.codegen.expression import Port, _read_at_once, _read_one_by_one, read
from zwang.errors import InputError


def test_equal_subexpressions_are_computed_once():
    x = casadi.SX.sym("x", 2)
    product, turned = x[0] * x[1], x[1] * x[0]
    expression = read(casadi.Function("f", [x], [casadi.sin(product) + casadi.sin(turned)]))
    assert [operation for operation, _ in expression.instructions].count("mul") == 1
    assert [operation for operation, _ in expression.instructions].count("sin") == 1


@pytest.mark.parametrize("seed", range(3))
def test_no_more_operations_are_left_than_casadis_own_elimination_leaves(seed):
    function = random_function(800, seed=seed)
    symbols = function.sx_in()
    reduced = casadi.Function("reduced", symbols, casadi.cse(function.call(symbols)))
    assert read(function).operation_count <= read(reduced).operation_count


def test_not_a_number_and_infinity_are_constants_like_others():
    x = casadi.SX.sym("x")
    nan, inf = casadi.SX(float("nan")), casadi.SX(float("inf"))
    function = casadi.Function("f", [x], [casadi.vertcat(x + nan, x * nan, x - inf, x + 0.5)])
    (found,) = codegen.compile(function)(2.0)
    np.testing.assert_array_equal(found, [np.nan, np.nan, -np.inf, 2.5])


def test_neighbouring_constants_are_not_confused():
    x = casadi.SX.sym("x")
    near = np.nextafter(1.5, 2)
    (found,) = codegen.compile(casadi.Function("f", [x], [casadi.vertcat(x * 1.5, x * near)]))(1.0)
    assert found.tolist() == [1.5, near]


def test_the_digest_tells_expressions_apart_and_not_names():
    def digest(constant: float, name: str) -> str:
        x = casadi.SX.sym(name, 2)
        return read(casadi.Function(name, [x], [x[0] * constant], [name], ["out"])).digest

    assert digest(1.5, "a") == digest(1.5, "b")
    assert digest(1.5, "a") != digest(np.nextafter(1.5, 2), "a")


def test_ports_have_names_and_sizes():
    function = random_function(50, seed=1)
    expression = read(function)
    assert expression.inputs == (Port("x", 12), Port("y", 3))
    assert expression.outputs == (Port("many", 9), Port("last", 1))


def test_sparse_inputs_and_outputs_are_their_nonzeros_in_casadis_order():
    A = casadi.SX.sym("A", casadi.Sparsity.lower(3))
    x = casadi.SX.sym("x", 3)
    function = casadi.Function("f", [A, x], [A.T, casadi.mtimes(A, x), casadi.jacobian(x[1], x)])
    kernel = codegen.compile(function)
    assert [port.size for port in kernel.outputs] == [6, 3, 1]
    nonzeros, vector = np.arange(1.0, 7.0), np.array([1.0, -2.0, 0.5])
    matrix = casadi.DM(casadi.Sparsity.lower(3), nonzeros)
    for found, expected in zip(kernel(nonzeros, vector), function(matrix, vector), strict=True):
        np.testing.assert_array_equal(found, np.array(expected.nonzeros()))


def test_outputs_may_be_inputs_constants_repeated_or_empty():
    x = casadi.SX.sym("x", 2)
    empty, unused = casadi.SX(0, 1), casadi.SX.sym("unused", 0)
    outputs = [x[1], casadi.SX([0.0, 3.5]), casadi.vertcat(x[0], x[0] + 1, x[0] + 1), empty]
    kernel = codegen.compile(casadi.Function("f", [x, unused], outputs))
    found = kernel([7.0, 8.0], np.empty(0))
    for value, expected in zip(found, ([8.0], [0.0, 3.5], [7.0, 8.0, 8.0], []), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_thousands_of_constant_outputs_compile():
    x = casadi.SX.sym("x", 100)
    dense = casadi.densify(casadi.jacobian(casadi.sin(x), x))
    (found,) = codegen.compile(casadi.Function("f", [x], [dense]))(np.zeros(100))
    np.testing.assert_array_equal(found.reshape(100, 100), np.eye(100))


def test_a_function_of_matrix_symbols_is_expanded():
    x = casadi.MX.sym("x", 3)
    function = casadi.Function("f", [x], [casadi.mtimes(x.T, x), casadi.sin(x)])
    squared, sine = codegen.compile(function)([1.0, 2.0, 3.0])
    assert squared == 14.0
    np.testing.assert_allclose(sine, np.sin([1.0, 2.0, 3.0]), rtol=0, atol=2e-16)


def test_a_function_that_cannot_be_expanded_is_refused_with_casadis_reason():
    x = casadi.MX.sym("x", 3)
    function = casadi.Function("search", [x], [casadi.find(x)])
    with pytest.raises(
        InputError,
        match=r"'search' must be a function of SX.*but is a CasADi function of type.*eval_sx",
    ):
        codegen.compile(function)


@pytest.mark.parametrize("seed", range(3))
def test_an_expression_goes_back_to_casadi_unchanged(seed):
    function = random_function(400, seed=seed)
    again = to_function(read(function))
    rng = np.random.default_rng(seed)
    inputs = [rng.normal(size=12), rng.normal(size=3)]
    for found, expected in zip(again(*inputs), function(*inputs), strict=True):
        np.testing.assert_array_equal(np.array(found), np.array(expected))


def test_without_fused_operations_arithmetic_is_casadis_bit_by_bit():
    x = casadi.SX.sym("x", 6)
    value = x[0] * x[1] + x[2] * x[3] - x[4] / (1 + x[5] ** 2)
    for k in range(60):
        value = casadi.sqrt(value**2 + x[k % 6] ** 2) - x[(k + 1) % 6] / (2 + value * value)
    function = casadi.Function("f", [x], [value])
    inputs = np.random.default_rng(0).normal(size=6)
    (found,) = run(read(function), [inputs[:, None]], lanes=1, fma=False)
    assert found[0, 0] == float(function(inputs))


def of_constants() -> casadi.Function:
    """The first instruction is a constant, some are no numbers, and two zeros differ by a sign."""
    x = casadi.SX.sym("x", 2)
    terms = [casadi.sin(k * x[0]) + float("nan") + k * x[1] * -0.0 for k in range(40)]
    return casadi.Function("constants", [x], [casadi.vertcat(1.5, *terms, casadi.SX(0.0))])


def of_copies() -> casadi.Function:
    x = casadi.SX.sym("x", 2)
    return casadi.Function("copies", [x], [x, x[::-1]] * 40)


@pytest.mark.parametrize(
    "function",
    [of_constants(), of_copies(), *(random_function(n, seed=n) for n in (100, 900, 4000))],
    ids=lambda f: f"{f.name()} {f.n_instructions()}",
)
def test_instructions_are_the_same_all_at_once_and_one_by_one(function):
    at_once, one_by_one = _read_at_once(function), _read_one_by_one(function)
    assert at_once is not None
    np.testing.assert_array_equal(at_once.code, one_by_one.code)
    np.testing.assert_array_equal(at_once.targets, one_by_one.targets)
    np.testing.assert_array_equal(
        np.array(at_once.constants).view(np.int64), np.array(one_by_one.constants).view(np.int64)
    )
    assert (at_once.inputs, at_once.outputs) == (one_by_one.inputs, one_by_one.outputs)
    assert (at_once.key, at_once.digest) == (one_by_one.key, one_by_one.digest)


def test_an_operation_that_is_spelled_out_is_not_read_at_once():
    x = casadi.SX.sym("x", 60)
    function = casadi.Function("f", [x], [casadi.erfinv(0.01 * x)])
    assert _read_at_once(function) is None
    assert "erf" in {operation for operation, _ in read(function).instructions}


def test_quick_sums_and_products_are_those_of_the_operators():
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    zero, one, vector = casadi.SX(0.0), casadi.SX(1.0), casadi.SX.sym("v", 3)
    structural = casadi.SX(1, 1)
    terms = (x, y, zero, one, -x, x * y, casadi.SX(2.5), structural, vector)
    for a in terms:
        for b in terms:
            for quick, slow in ((plus, a + b), (minus, a - b), (times, a * b)):
                found = quick(a, b)
                assert found.sparsity() == slow.sparsity()
                assert str(found) == str(slow)
        if not (a.is_zero() or a.nnz() == 0):
            assert str(inverse(a)) == str(1.0 / a)
