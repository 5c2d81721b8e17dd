"""Sums over the stages of a tableau, written out: coefficients are constants, zeros are left out.

A loop over a table of coefficients spends more time on the table than on the numbers. Here each sum
is one line of generated code that the compiler sees through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from zwang.integrators.tableaus import Tableau
from zwang.kernels.jit import loop

__all__ = ["estimates_of", "interpolation_of", "stages_of"]


def stages_of(tableau: Tableau, derivative: Callable[..., int]) -> Callable[..., int]:
    """The stages of a step and its solution.

    Returns ``stages(y, t, h, K, point, new, *rest)``, which for s = 1, 2, … writes x[point] =
    y + h Σⱼ A[s, j] K[j] and ts = t + C[s] h, and lets ``derivative(K[s], *rest)`` write K[s] from
    them; at last it writes the solution to x[new]. It gives the sum of what `derivative` returned.
    The arrays ts and x and the tuple lanes are among the rest.
    """
    rest = ", ".join(list(signature(derivative).parameters)[1:])
    lines = [
        f"def stages(y, t, h, K, point, new, {rest}):",
        "    n, W, done = y.shape[0], len(lanes), 0",
    ]
    for s in range(1, tableau.stages):
        lines += [
            "    for lane in range(W):",
            f"        ts[0, lane] = t[0, lane] + {float(tableau.C[s])!r} * h[lane]",
            *_increment(tableau.A[s], "point"),
            f"    done += derivative(K[{s}], {rest})",
        ]
    lines += [*_increment(tableau.B, "new"), "    return done"]
    return _function("stages", lines, derivative=derivative)


def interpolation_of(tableau: Tableau) -> Callable[..., None]:
    """``increment(s, K, y, h, x, row, lanes)``: x[row] as above, for stages of the interpolant."""
    lines = [
        "def increment(s, K, y, h, x, row, lanes):",
        "    n, W = y.shape[0], len(lanes)",
    ]
    for s in range(tableau.stages + 1, len(tableau.A)):
        lines += [f"    if s == {s}:", *("    " + line for line in _increment(tableau.A[s], "row"))]
    return _function("increment", lines)


def estimates_of(tableau: Tableau) -> Callable[..., tuple[float, float]]:
    """``estimates(K, i, lane)``: both error estimates of an entry, divided by h."""
    first, second = (_sum(row) for row in tableau.E)
    return _function("estimates", ["def estimates(K, i, lane):", f"    return {first}, {second}"])


def _increment(coefficients: Iterable[Any], row: str) -> list[str]:
    return [
        "    for i in range(n):",
        "        for lane in range(W):",
        f"            x[{row}, i, lane] = y[i, lane] + h[lane] * ({_sum(coefficients)})",
    ]


def _sum(coefficients: Iterable[Any]) -> str:
    # Newest stages last: only their terms have to wait for the evaluation before.
    terms = [f"{float(a)!r} * K[{j}, i, lane]" for j, a in enumerate(coefficients) if a != 0.0]
    return " + ".join(terms) or "0.0"


def _function(name: str, lines: list[str], **names: Any) -> Callable[..., Any]:
    code = compile("\n".join(lines), f"<{name}, written out>", "exec")
    exec(code, names)  # noqa: S102 - our own text, from our own numbers
    return loop(names[name])
