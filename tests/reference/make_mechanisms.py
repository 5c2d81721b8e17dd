"""Write `mechanisms.json`: motions of mechanisms with one freedom, without any of the package.

    python tests/reference/make_mechanisms.py

Each mechanism has the one coordinate u with ½ I(u) u̇² + V(u) = const, derived here and integrated
in many digits by `extrapolation`; the file holds what follows for its angles, or points, at whole
seconds. `test_mechanisms_file.py` fails when this script would write something else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sympy as sp
from mpmath import mp, mpf

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.extrapolation import integrate

FILE = Path(__file__).with_name("mechanisms.json")

DIGITS = 20
#: Digits asked of each step, so that those stored are right.
WORKING = 24
SECONDS = range(1, 11)

G = mpf("9.81")

CASES: dict[str, Callable[[], dict[str, Any]]] = {}


def case(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Enter a case under the name of its function."""
    CASES[function.__name__] = function
    return function


def digits(x: Any) -> str:
    """A number as it is stored."""
    return mp.nstr(mpf(x), DIGITS, strip_zeros=False)


def second_by_second(f: Callable[[Any, Any], list[Any]], start: list[Any], steps: int) -> list[Any]:
    """The state at whole seconds."""
    y, states = [mpf(x) for x in start], []
    for _ in SECONDS:
        y = integrate(f, y, mpf(1), steps=steps, digits=WORKING)
        states.append(y)
    return states


def pendulum(mechanism: str, options: dict[str, Any], start: tuple[Any, Any], k: Any) -> Any:
    """ü = k sin u, the angle u counted from the upward vertical for k > 0."""
    states = second_by_second(lambda _, y: [y[1], k * mp.sin(y[0])], list(start), steps=6)
    return {
        "mechanism": mechanism,
        "options": options,
        "angle": [digits(y[0]) for y in states],
        "rate": [digits(y[1]) for y in states],
        "acceleration": [digits(k * mp.sin(y[0])) for y in states],
    }


def four_bars(n: int) -> dict[str, Any]:
    """θ clockwise from upright; bars of mass and length 1, the couplers move in parallel.

    I = (N + 1)/3 + N,   V = g cos θ ((N + 1)/2 + N)
    """
    inertia, load = mpf(n + 1) / 3 + n, mpf(n + 1) / 2 + n
    return pendulum("four_bars", {"n": n}, (0, 1), G * load / inertia)


@case
def four_bars_1() -> dict[str, Any]:
    """One linkage."""
    return four_bars(1)


@case
def four_bars_2() -> dict[str, Any]:
    """Two linkages."""
    return four_bars(2)


@case
def four_bars_40() -> dict[str, Any]:
    """Forty linkages."""
    return four_bars(40)


@case
def parallelogram() -> dict[str, Any]:
    """Three cranks of mass and length 1, a beam of mass 1.6; at rest at the angle 1.2 from x.

    φ from x upwards, θ = π/2 − φ:  I = 3/3 + 1.6,   V = g cos θ (3/2 + 1.6)
    """
    beam = mpf(16) / 10
    k = G * (mpf(3) / 2 + beam) / (1 + beam)
    return pendulum("parallelogram", {}, (mp.pi / 2 - mpf(12) / 10, 0), k)


@case
def door() -> dict[str, Any]:
    """A plate of width w and thickness d about its edge, gravity g sin(lean) along x.

    I = m (w² + d²)/12 + m w²/4,   V = −m g sin(lean) (w/2) cos θ
    """
    w, d, lean = mpf(9) / 10, mpf(4) / 100, mpf(1) / 10
    inertia = (w**2 + d**2) / 12 + w**2 / 4
    return pendulum("door", {}, (mpf(12) / 10, 0), -G * mp.sin(lean) * w / 2 / inertia)


# --- Bricard's loop -------------------------------------------------------------------------------

AXES = "yzxyzx"
#: The bars from hinge to hinge with all angles zero, along the edges of the unit cube.
BARS = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0)]


def turn(axis: str, angle: Any) -> sp.Matrix:
    """Rotation about a coordinate axis."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = sp.eye(3)
    R[j, j] = R[k, k] = sp.cos(angle)
    R[j, k], R[k, j] = -sp.sin(angle), sp.sin(angle)
    return R


def loop(a: Any, b: Any) -> tuple[list[sp.Matrix], list[sp.Matrix], sp.Matrix]:
    """Hinges, rotations of the bars, and what closes the loop, with hinge angles a, b, a, b, …"""
    P, R = [sp.zeros(3, 1)], [sp.eye(3)]
    for axis, bar, angle in zip(AXES, BARS, (a, b, a, b, a), strict=False):
        R.append(R[-1] * turn(axis, angle))
        P.append(P[-1] + R[-1] * sp.Matrix(bar))
    return P, R[1:], R[-1] * turn("x", b)


def on_the_curve(a: Any, b: Any) -> Any:
    """The loop closes for sin a + sin b + sin a sin b = 0."""
    return sp.sin(a) + sp.sin(b) + sp.sin(a) * sp.sin(b)


def bricard_equations() -> Callable[..., Any]:
    """(a, b, w) → ȧ, ḃ, ẇ, the point P3, and the force of the ground on the bars.

    The curve F(a, b) = 0 is followed by da/du = F_b, db/du = −F_a, which nowhere vanish together;
    w = u̇ and I(u) ẇ = −½ I′ w² − V′.
    """
    a, b, w = sp.symbols("a b w")
    F = on_the_curve(a, b)
    da, db = sp.diff(F, b), -sp.diff(F, a)

    def along(e: Any) -> Any:
        return sp.diff(e, a) * da + sp.diff(e, b) * db

    P, R, _ = loop(a, b)
    g = sp.Float("9.81", 40)
    across, lengthwise = sp.Rational(101, 1200), sp.Rational(2, 1200)
    inertia, V, momentum = 0, 0, sp.zeros(3, 1)
    for k, bar in enumerate(BARS):
        center = (P[k] + P[k + 1]) / 2
        speed = center.applyfunc(along)
        spin = (R[k].T * R[k].applyfunc(along)).applyfunc(sp.simplify)
        omega = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        J = sp.diag(*[lengthwise if x else across for x in bar])
        inertia += (speed.T * speed)[0] + (omega.T * J * omega)[0]
        V += g * center[1]
        momentum += speed
    rate = (-along(inertia) * w**2 / 2 - along(V)) / inertia
    support = momentum.applyfunc(along) * w**2 + momentum * rate + sp.Matrix([0, 5 * g, 0])
    outputs = [da * w, db * w, rate, *P[2], *support]
    return sp.lambdify((a, b, w), outputs, modules="mpmath", cse=True)


@case
def bricard() -> dict[str, Any]:
    """The benchmark from rest: where P3 is, and what the ground exerts through both hinges."""
    f = bricard_equations()
    states = second_by_second(lambda _, y: f(*y)[:3], [0, 0, 0], steps=4)
    known = [f(*y) for y in states]
    return {
        "mechanism": "bricard",
        "options": {},
        "first": [digits(y[0]) for y in states],
        "second": [digits(y[1]) for y in states],
        "P3": [[digits(x) for x in values[3:6]] for values in known],
        "support": [[digits(x) for x in values[6:]] for values in known],
    }


def entry(name: str) -> dict[str, Any]:
    """A case as it is stored."""
    with mp.workdps(WORKING + 10):
        return {"name": name, **CASES[name]()}


def main() -> None:
    """Write the file."""
    text = json.dumps([entry(name) for name in CASES], indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
