"""Programs at many states: a kernel in one compiled call, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.jit import inlined, loop
from zwang.codegen.kernel import address
from zwang.codegen.transpose import LINE, STREAMED, WIDTH, apart, apart_to_memory, beside

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel
    from zwang.terms import FloatArray

__all__ = [
    "SIDE_BY_SIDE",
    "at_states",
    "disagreements",
    "evaluated",
    "joined",
    "largest_miss",
    "told_at_states",
]

#: States that are evaluated side by side.
SIDE_BY_SIDE = WIDTH
#: Numbers that the output of a kernel of forces begins with: squares of an error and of what it is
#: an error of, twice, and 0, or a mark of the state: of the kernel that is for it.
DOUBTS = 5
#: Bytes of tables from which on they are written past the caches: second ones hold 1 to 2 MB, and
#: what is asked for next are states, which are of that size, too. From 10 to 24 MB a sixth is won.
LARGE = 8e6
#: Numbers of states, of which there are none, and their marks.
NO_STATE, NO_MARK = np.zeros(0, dtype=np.int64), np.zeros(0)


def at_states(
    kernel: Kernel, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
) -> FloatArray:
    """The one output of a kernel (q, v, t, p) at states (nt, nq), (nt, nv), (nt,).

    Its shape is (size, nt): what is asked for is seldom all of it, and then lies together.

    Parameters
    ----------
    kernel : with `SIDE_BY_SIDE` lanes that have p in common.
    """
    found = np.empty((kernel.outputs[0].size, len(q)))
    sizes = kernel.lanes, q.shape[1], v.shape[1], len(found)
    t, p = np.ascontiguousarray(t, dtype=float), np.ascontiguousarray(p, dtype=float)
    _at_states(kernel.address, joined(q, v), t, p, found, sizes, kernel.work())
    return found


def told_at_states(
    kernel: Kernel, y: FloatArray, t: FloatArray, p: FloatArray, limits: FloatArray, columns: int
) -> tuple[FloatArray, np.ndarray, FloatArray]:
    """The same of a kernel of forces, whose output begins with its doubts.

    Parameters
    ----------
    y : states as of `joined`.
    limits : of errors, see `in_doubt`.
    columns : numbers after the doubts that belong together.

    Returns
    -------
    tables : shape (tables, nt, columns).
    doubtful : numbers of the states in doubt.
    marks : of these states what the kernel says of them, and −1 where errors are too large.
    """
    (q, v, *_), size, count = kernel.inputs, kernel.outputs[0].size, len(y)
    shape, marks = ((size - DOUBTS) // columns, count, columns), np.empty(count)
    large = columns == STREAMED and np.prod(shape) * marks.itemsize >= LARGE
    tables = _in_lines(*shape) if large else np.empty(shape)
    told = _told_to_memory if large else _told_at_states
    sizes, work = (kernel.lanes, q.size, v.size, size), kernel.work()
    given = y, np.ascontiguousarray(t, dtype=float), p
    found = told(kernel.address, *given, tables, marks, limits, sizes, work)
    tables = tables[:, :count]
    if found:
        doubtful = np.flatnonzero(marks)
        return tables, doubtful, marks[doubtful]
    return tables, NO_STATE, NO_MARK


def _in_lines(tables: int, count: int, columns: int) -> FloatArray:
    """Tables of so many rows, and more, up to whole blocks that begin where lines of memory do."""
    rows = -(-count // WIDTH) * WIDTH
    size, spare = tables * rows * columns, LINE // 8
    flat = np.empty(size + spare)
    begin = -address(flat) % LINE // 8
    return flat[begin : begin + size].reshape(tables, rows, columns)


def joined(q: FloatArray, v: FloatArray) -> FloatArray:
    """States (nt, nq + nv): without a copy where both are parts of one array, as in a run."""
    both, nq = q.base, q.shape[1]
    row = 8 * (nq + v.shape[1])
    together = q.strides == v.strides == (row, 8) and q.dtype == v.dtype == np.float64
    if together and nq and v.size and address(v[0]) == address(q[0]) + 8 * nq:
        shape = len(q), row // 8
        if isinstance(both, np.ndarray) and both.dtype == np.float64 and both.shape == shape:
            return both
        return np.lib.stride_tricks.as_strided(q, shape, q.strides)
    return np.concatenate([q, v], axis=1, dtype=float)


@loop
def _at_states(kernel, y, t, p, found, sizes, work):
    """`at_states` by address; the last block goes on with the last state."""
    lanes, nq, nv, size = sizes
    Q, V, T = np.empty((nq, lanes)), np.empty((nv, lanes)), np.empty((1, lanes))
    side = np.empty((size, lanes))
    count, first = y.shape[0], 0
    while first < count:
        put_beside(y, t, first, Q, V, T)
        call(kernel, Q, V, T, p, side, work)
        last = min(lanes, count - first)
        for j in range(size):
            for k in range(last):
                found[j, first + k] = side[j, k]
        first += lanes


@loop
def _told_at_states(kernel, y, t, p, tables, marks, limits, sizes, work):
    """`told_at_states` by address: marks of states in doubt, and how many there are."""
    lanes, nq, nv, size = sizes
    Q, V, T = np.empty((nq, lanes)), np.empty((nv, lanes)), np.empty((1, lanes))
    side = np.empty((size + WIDTH, lanes))
    first, doubtful = 0, 0
    while first < y.shape[0]:
        put_beside(y, t, first, Q, V, T)
        call(kernel, Q, V, T, p, side, work)
        doubtful += mark_doubts(side, first, limits, marks)
        for n in range(tables.shape[0]):
            apart(tables[n], first, side, DOUBTS + n * tables.shape[2])
        first += lanes
    return doubtful


@loop
def _told_to_memory(kernel, y, t, p, tables, marks, limits, sizes, work):
    """The same for tables of `_in_lines`."""
    lanes, nq, nv, size = sizes
    Q, V, T = np.empty((nq, lanes)), np.empty((nv, lanes)), np.empty((1, lanes))
    side = np.empty((size, lanes))
    first, doubtful = 0, 0
    while first < y.shape[0]:
        put_beside(y, t, first, Q, V, T)
        call(kernel, Q, V, T, p, side, work)
        doubtful += mark_doubts(side, first, limits, marks)
        for n in range(tables.shape[0]):
            apart_to_memory(tables[n], first, side, DOUBTS + n * STREAMED)
        first += lanes
    return doubtful


@inlined
def mark_doubts(side, first, limits, marks):
    """What a kernel says of the states from the first on, and how many are in doubt."""
    doubtful = 0
    for k in range(min(side.shape[1], marks.shape[0] - first)):
        mark = side[4, k]
        if mark == 0.0 and in_doubt(side, k, limits):
            mark = -1.0
        marks[first + k] = mark
        if mark != 0.0:
            doubtful += 1
    return doubtful


@inlined
def put_beside(y, t, first, Q, V, T):
    """States from the first on, side by side; the last one goes on."""
    beside(Q, y, first, 0)
    beside(V, y, first, Q.shape[0])
    for k in range(T.shape[1]):
        T[0, k] = t[min(first + k, t.shape[0] - 1)]


@inlined
def in_doubt(side, k, limits):
    """Whether errors exceed what they are errors of times a limit, or are no numbers.

    Squares of both, twice.
    """
    return not (side[0, k] <= limits[0] * side[1, k] and side[2, k] <= limits[1] * side[3, k])


# --- residuals, state by state --------------------------------------------------------------------


def largest_miss(kernel: Kernel, nq: int, y: FloatArray, t: FloatArray, p: FloatArray) -> float:
    """Largest of |φ| and |ψ| at states y (rows, n) and times (rows,); infinite if one is no number.

    Parameters
    ----------
    kernel : (q, v, t, p) → (φ, ψ).
    """
    phi, psi = kernel.outputs
    sizes = nq, phi.size, psi.size, kernel.work_size
    y, t, p = np.ascontiguousarray(y), np.ascontiguousarray(t), np.ascontiguousarray(p)
    return _largest(kernel.address, y, t, p, sizes)


def evaluated(
    kernel: Kernel, Y: FloatArray, t: float, P: FloatArray, nq: int
) -> tuple[FloatArray, FloatArray]:
    """Both outputs (N, …) of a kernel (q, v, t, p) at N states with their parameters."""
    one, two = (np.empty((len(Y), port.size)) for port in kernel.outputs)
    Y, P = np.ascontiguousarray(Y), np.ascontiguousarray(P)
    _evaluated(kernel.address, Y, np.array([t]), P, nq, one, two, kernel.work())
    return one, two


def disagreements(
    kernel: Kernel, Y: FloatArray, t: float, P: FloatArray, a: FloatArray, nq: int
) -> FloatArray:
    """Largest |b − A v̇|, relative to |b| or 1, of accelerations (N, nv) at states (N, n).

    Parameters
    ----------
    kernel : (q, v, t, p, v̇) → (b − A v̇, b).
    P : parameters (N, np).
    """
    miss, b = (np.empty(port.size) for port in kernel.outputs)
    found = np.empty(len(Y))
    Y, P, a = np.ascontiguousarray(Y), np.ascontiguousarray(P), np.ascontiguousarray(a)
    _disagreements(kernel.address, Y, np.array([t]), P, a, nq, miss, b, found, kernel.work())
    return found


@inlined
def larger(values, most):
    """The largest of |values| and most."""
    for i in range(values.shape[0]):
        size = abs(values[i])
        if not size <= most:
            most = size if size < np.inf else np.inf  # noqa: FURB136 - NaN too
    return most


@loop
def _largest(kernel, y, t, p, sizes):
    """`largest_miss` by address; sizes are those of q, φ, ψ and the work array."""
    most, nq = 0.0, sizes[0]
    phi, psi, work = np.empty(sizes[1]), np.empty(sizes[2]), np.empty(sizes[3])
    for k in range(y.shape[0]):
        call(kernel, y[k, :nq], y[k, nq:], t[k:], p, phi, psi, work)
        most = larger(psi, larger(phi, most))
    return most


@loop
def _disagreements(kernel, Y, t, P, a, nq, miss, b, found, work):
    """`disagreements` by address."""
    for k in range(Y.shape[0]):
        call(kernel, Y[k, :nq], Y[k, nq:], t, P[k], a[k], miss, b, work)
        found[k] = larger(miss, 0.0) / larger(b, 1.0)


@loop
def _evaluated(kernel, Y, t, P, nq, one, two, work):
    """`evaluated` by address."""
    for k in range(Y.shape[0]):
        call(kernel, Y[k, :nq], Y[k, nq:], t, P[k], one[k], two[k], work)
