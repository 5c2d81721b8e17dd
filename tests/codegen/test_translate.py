"""What loops may say means the same compiled as in Python; what they may not is named."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from zwang.codegen.jit import inlined, loop
from zwang.codegen.loops import entry
from zwang.codegen.loops.values import LoopError

TABLE = np.array([[1.0, -2.0], [0.5, 4.0]])
PAIR = (3, 0.25)


@loop
def arithmetic(a, b, i, j):
    return a + b * a - b / a + i / j + (i // j) * 2.0 + i % j + a**2 - b**3 + abs(a - b) ** 0.5


@loop
def whole(i, j):
    return i // j * 1000 + i % j + abs(i) - (i * j) ** 2


@loop
def conditions(a, b, i):
    found = 0
    if a < b < 2.0 or (i and not a <= b):
        found += 1
    elif a != a:  # noqa: PLR0124 - not a number
        found += 2
    if i > 2 and b > 0.0 and a > 0.0:
        found += 4
    return found + (8 if a >= b else 16 if i else 32)


@loop
def extremes(a, b):
    return max(a, b, -1.0) - 3.0 * min(a, b) + max(b, a)


@loop
def searched(x, wanted):
    """The first place, counted from behind and from the front, and turns that were taken."""
    turns, place = 0, -1
    for i in range(x.shape[0] - 1, -1, -1):
        turns += 1
        if x[i] != wanted:
            continue
        place = i
        break
    k = 0
    while k < len(x) and x[k] < wanted:
        k += 1
    for m in range(2, 11, 3):
        turns += m
    return 10000 * turns + 100 * k + place


@inlined
def both_ends(x):
    if x.shape[0] == 0:
        return 0.0, 0
    return x[0] - x[x.shape[0] - 1], x.shape[0]


@loop
def shifted(x, out, by):
    for i in range(x.shape[0]):
        out[i] = x[i] + by
    by = 2.0 * by  # its own
    return by, x.shape[0]


@loop
def calls(table, out):
    total, by = 0.0, 1.5
    for k in range(table.shape[0]):
        difference, count = both_ends(table[k])
        twice, length = shifted(table[k], out[k], by)
        total += difference * count + twice * length + by
        both_ends(table[k])
    return total


@loop
def tables(x, i):
    first, second = x[:2], x[2:]
    a, b = first, second
    for _ in range(i):
        a, b = b, a
    rest = (a, 2)
    return (4.0, -2)[i] * TABLE[i, 1] * a[0] + TABLE[0, 1] * PAIR[0] + PAIR[1] * total_of(*rest)


@loop
def total_of(x, weight):
    total = 0.0
    for i in range(x.shape[0]):
        total += weight * x[i]
    return total


@loop
def marks(flags, counts, values):
    for i in range(flags.shape[0]):
        flags[i] = values[i] > 0.0 and not flags[i]
        if flags[i]:
            counts[i] += 1
    flags[0], flags[1] = flags[1], flags[0]
    return flags[0]


@loop
def complex_numbers(z, w):
    for k in range(z.shape[0]):
        w[k] = (z[k] * (1.5 - 2.0j) - z[0] / z[k] + 2 * z[k]) / complex(1.0, z[k].real)
        if z[k] == z[0]:
            w[k] -= 1.0
    return abs(w[1]) + w[1].imag


@loop
def new_arrays(n):
    squares, kept = np.empty((n, 2)), np.empty(n, np.bool_)
    if n == 0:
        return 0.0
    like = np.empty_like(squares)
    total = 0.0
    for i in range(n):
        squares[i, 0], squares[i, 1] = i * i, -i
        kept[i] = i % 2 == 0
        like[i, 0] = squares[i, 0] + squares[i, 1]
    for i in range(n):
        total += like[i, 0] if kept[i] else squares[i, 1]
    return total


@loop
def over_tuples(stages):
    total = 0.0
    for stage in stages:
        if stage[1] == 0:
            continue
        total += stage[0][0] * stage[1]
    return total


@loop
def functions(a):
    return np.exp(a) + np.log(abs(a)) + np.sqrt(a * a) + np.sin(a) + 1.0 / float(2)


def compared(function, *arguments):
    """Results and arrays of a loop, compiled and as plain Python."""

    def copies(value):
        if isinstance(value, tuple):
            entries = map(copies, value)
            return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
        return value.copy() if isinstance(value, np.ndarray) else value

    for _ in range(2):
        plain, compiled = copies(arguments), copies(arguments)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ZWANG_LLVM", "kernels")  # for the loops that it calls
            expected = function.function(*plain)
        found = function(*compiled)
        np.testing.assert_array_equal(found, expected)
        for a, b in zip(compiled, plain, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_array_equal(a, b)


PAIRS = [(0.3, 1.7), (-2.5, 0.75), (1.0, 1.0), (4.0, -1e-3)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize(("i", "j"), [(7, 3), (-7, 3), (7, -3), (0, 5)])
def test_arithmetic(a, b, i, j):
    found, expected = arithmetic(a, b, i, j), arithmetic.function(a, b, i, j)
    assert found == pytest.approx(expected, rel=1e-15)  # b³ and roots may round otherwise
    compared(whole, i, j)


@pytest.mark.parametrize(("a", "b"), [*PAIRS, (np.nan, 1.0), (1.0, np.nan), (np.inf, -np.inf)])
def test_conditions_and_extremes(a, b):
    for i in (0, 1, 5):
        compared(conditions, a, b, i)
    compared(extremes, a, b)


def test_division_by_zero_is_infinite_as_in_kernels():
    @loop
    def inverse(x):
        return 1.0 / x

    assert inverse(0.0) == np.inf


@pytest.mark.parametrize("wanted", [0.0, 3.0, 9.0])
def test_loops_leave_and_go_on_where_they_should(wanted):
    compared(searched, np.array([0.0, 1.0, 3.0, 3.0, 4.0]), wanted)


def test_other_loops_written_in_place_or_called():
    compared(calls, np.arange(6.0).reshape(2, 3), np.zeros((2, 3)))
    compared(calls, np.zeros((2, 0)), np.zeros((2, 0)))


def test_parts_of_arrays_names_that_change_and_known_tables():
    for i in (0, 1):
        compared(tables, np.array([1.0, 2.0, 4.0, 8.0]), i)


def test_flags_and_counts():
    compared(marks, np.array([True, False, True]), np.array([3, 4, 5]), np.array([1.0, 2.0, -1.0]))


def test_complex_numbers():
    z = np.array([1.0 + 2.0j, -3.0 + 0.5j, 1e-3 - 4.0j, 1.0 + 2.0j])
    plain, compiled = np.zeros(4, complex), np.zeros(4, complex)
    expected, found = complex_numbers.function(z, plain), complex_numbers(z, compiled)
    np.testing.assert_allclose(compiled, plain, rtol=1e-15)  # division rounds otherwise
    assert found == pytest.approx(expected, rel=1e-15)


def test_new_arrays_and_tuples():
    for n in (0, 1, 7):
        compared(new_arrays, n)
    compared(over_tuples, ((np.array([2.0]), 3), (np.array([5.0]), 0), (np.array([7.0]), 1)))


def test_functions_of_the_c_library():
    for a in (0.5, -1.25):
        assert functions(a) == pytest.approx(functions.function(a), rel=1e-15)


class Spring(NamedTuple):
    stiffness: float
    length: float


class Rope(NamedTuple):  # equal to a spring as a tuple, with its fields exchanged
    length: float
    stiffness: float


@loop
def force(link, x):
    return link.stiffness * (x - link.length)


@loop
def forces(links, x, out):
    for k in range(out.shape[0]):
        out[k] = force(links[0], x[k]) + force(links[1]._replace(length=0.0), x[k])
    return force(Rope(1.0, 2.0), 5.0) - force(Spring(1.0, 2.0), 5.0)


def test_records_are_known_by_their_fields():
    x = np.array([1.0, -2.0, 0.5])
    compared(forces, (Spring(3.0, 0.5), Rope(0.25, 7.0)), x, np.zeros(3))
    assert forces((Spring(3.0, 0.5), Rope(0.25, 7.0)), x, np.zeros(3)) == 8.0 - 3.0


def test_records_of_two_classes_have_code_of_their_own():
    for _ in range(2):
        assert force(Spring(10.0, 1.0), 4.0) == 30.0
        assert force(Rope(10.0, 1.0), 4.0) == -6.0


def test_a_tuple_is_not_taken_for_a_record():
    force(Spring(10.0, 1.0), 4.0)
    with pytest.raises(LoopError, match="stiffness has no compiled form"):
        force((10.0, 1.0), 4.0)


def test_fields_of_arrays_are_where_compiled_code_reads_them(monkeypatch):
    entry.check_layout()
    entry.check_layout.cache_clear()
    monkeypatch.setattr(entry, "_FLAGS", entry._FLAGS + 4)
    with pytest.raises(RuntimeError, match="another layout in memory"):
        entry.check_layout()
    entry.check_layout.cache_clear()


@loop
def product_and_sum(a, b, c):
    return a * b + c


def test_products_and_sums_are_rounded_one_by_one_on_every_processor():
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30  # a b is 1 − 2⁻⁶⁰, which rounds to 1
    assert product_and_sum(a, b, -1.0) == 0.0


def wrong_record(x):
    link = Spring(x[0], 1.0)
    if x[1] > 0.0:
        link = Rope(x[0], 1.0)
    return link.length


def wrong_field(x):
    return Spring(x[0], 1.0).colour


def wrong_type(x):
    total = 0
    for i in range(3):
        total = total + x[i]
    return total


def wrong_statement(x):
    with x:
        pass


def wrong_expression(x):
    return [x[0]]


def wrong_function(x):
    return np.sum(x)


def wrong_index(x):
    return x[-1]


def wrong_slice(x):
    return total_of(x[::2], 1.0)


def wrong_result(x):
    return x[0], x[1]


def wrong_ends(x):  # noqa: RET503
    if x[0] > 0.0:
        return 1.0


def wrong_count(x):
    return total_of(x)


def wrong_name(x):
    return x[0] + nobody  # noqa: F821


def wrong_for(x):
    for i in range(3):
        if x[i] > 0.0:
            break
    else:
        return 1.0
    return 2.0


def wrong_while(x):
    k = 0
    while x[k] > 0.0:
        k += 1
    else:  # noqa: PLW0120 - what the loops' language refuses
        k = 7
    return k


def wrong_comparison(x):
    return x[0] in (1.0, 2.0)


def wrong_operator(x):
    k = 1
    k |= 2
    return k + x[0]


def wrong_target(x):
    x[:] = 1.0


def wrong_array(x):
    y = np.empty(3, np.float32)
    return x[0] + y[0]


def wrong_word(x):
    return max(x[0], 1.0, key=abs)


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (wrong_record, 3, "link: the record Rope of 2 values where there was the record Spring"),
        (wrong_field, 1, ".colour has no compiled form"),
        (wrong_for, 5, "an else of a loop has no compiled form"),
        (wrong_while, 5, "an else of a loop has no compiled form"),
        (wrong_comparison, 1, "this operator has no compiled form"),
        (wrong_operator, 2, "this operator has no compiled form"),
        (wrong_target, 1, "only single numbers of arrays can be written"),
        (wrong_array, 1, "arrays of .*float32.* have no compiled form"),
        (wrong_word, 1, "max with named arguments has no compiled form"),
        (wrong_type, 3, "total: a number that is float cannot become int"),
        (wrong_statement, 1, "this statement has no compiled form"),
        (wrong_expression, 1, "this expression has no compiled form"),
        (wrong_function, 1, "sum has no compiled form"),
        (wrong_index, 1, "count from the beginning"),
        (wrong_slice, 1, "would leave gaps"),
        (wrong_result, None, "more than a number"),
        (wrong_ends, 0, "a value here and nothing there"),
        (wrong_count, 1, "takes 2 arguments, not 1"),
        (wrong_name, 1, "nothing is known as nobody"),
    ],
)
def test_what_has_no_compiled_form_is_named_with_its_line(function, line, message):
    with pytest.raises(LoopError, match=message) as found:
        loop(function)(np.zeros(3))
    assert function.__name__ in str(found.value)
    if line is not None:
        assert f"line {function.__code__.co_firstlineno + line}:" in str(found.value)
