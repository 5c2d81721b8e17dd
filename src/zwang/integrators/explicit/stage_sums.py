"""Sums over the stages of a tableau, written out: coefficients are constants, zeros are left out.

A loop over a table of coefficients spends more time on the table than on the numbers. Here each sum
is a formula of its own, for several entries of the state at once.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from numpy.typing import NDArray

from zwang.codegen.elementwise import elementwise, greater, weighted
from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import side_by_side
from zwang.integrators.explicit.tableaus import Tableau

__all__ = ["errors_of", "interpolation_of", "shifts_of", "stages_of"]


def stages_of(tableau: Tableau, derivative: Callable[..., int]) -> Callable[..., int]:
    """The stages of a step and its solution.

    Returns ``stages(equations, y, t, h, K, ts, point, new, *rest)``, which for s = 1, 2, … writes
    point = y + h Σⱼ A[s, j] K[j] and ts = t + C[s] h, and lets ``derivative(equations, point, ts,
    K[s], *rest)`` write K[s] from them; at last it writes the solution to `new`. It returns the sum
    of what `derivative` returned.
    """
    rest = ", ".join(list(signature(derivative).parameters)[4:])
    names: dict[str, Any] = {"derivative": derivative, "solution": _increment(tableau.B)}
    names["side_by_side"] = side_by_side
    lines = [f"def stages(equations, y, t, h, K, ts, point, new, {rest}):"]
    lines += ["    done, lanes = 0, equations.lanes"]
    for s in range(1, tableau.stages):
        names[f"increment_{s}"] = _increment(tableau.A[s])
        lines += [
            "    for lane in side_by_side(lanes):",
            f"        ts[0, lane] = t[0, lane] + {float(tableau.C[s])!r} * h[lane]",
            f"    increment_{s}(lanes, (point,), y, h, K)",
            f"    done += derivative(equations, point, ts, K[{s}], {rest})",
        ]
    lines += ["    solution(lanes, (new,), y, h, K)", "    return done"]
    return _function("stages", lines, names, inlined)


def interpolation_of(tableau: Tableau) -> Callable[..., None]:
    """``increment(s, lanes, (point,), y, h, K)``: point as above, for stages of the interpolant."""
    names, lines = {}, ["def increment(s, lanes, point, y, h, K):"]
    for s in range(tableau.stages + 1, len(tableau.A)):
        names[f"increment_{s}"] = _increment(tableau.A[s])
        lines += [f"    if s == {s}:", f"        increment_{s}(lanes, point, y, h, K)"]
    return _function("increment", lines, names, loop)


def errors_of(tableau: Tableau) -> Callable[..., None]:
    """``errors(lanes, (first, second), K, y, new, size, share, tolerance)``: squares of estimates.

    Of each entry, divided by h and by what is allowed, tolerance (size + share max(|y|, |new|)).
    """
    first, second = tableau.E

    def errors(K: Any, y: Any, new: Any, size: Any, share: Any, tolerance: Any) -> tuple[Any, Any]:
        part = 1.0 / (tolerance * (size + share * greater(abs(y), abs(new))))
        a, b = part * weighted(first, K), part * weighted(second, K)
        return a * a, b * b

    return elementwise(errors)


def shifts_of(tableau: Tableau) -> tuple[Callable[..., None], Callable[..., None]]:
    """Two functions (lanes, (point,), y, h, K): y plus the first or the second error estimate."""
    first, second = tableau.E
    return _increment(first), _increment(second)


def _increment(coefficients: NDArray[Any]) -> Callable[..., None]:
    """The formula y + h Σⱼ coefficients[j] K[j]."""
    return elementwise(lambda y, h, K: y + h * weighted(coefficients, K))


def _function(
    name: str, lines: list[str], names: dict[str, Any], compiled: Callable[..., Any]
) -> Callable[..., Any]:
    text = "\n".join(lines)
    exec(compile(text, f"<{name}, written out>", "exec"), names)  # noqa: S102 - our own text
    return compiled(names[name], text=text)
