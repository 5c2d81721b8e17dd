"""When two expressions are the same, and when a closed form gives the numbers of its system."""

import numpy as np
import sympy as sp

#: Closed forms are evaluated in double precision; expanded polynomials lose some digits.
TOLERANCE = 1e-9


def is_zero(e):
    """Whether an expression is identically zero.

    Sines and cosines are written by the tangent of half the angle, which leaves a rational function
    of independent symbols; with roots in it, SymPy is asked.
    """
    e = e.replace(sp.tan, lambda a: sp.sin(a) / sp.cos(a))
    angles = {f.args[0] for f in e.atoms(sp.sin, sp.cos)}
    if e.atoms(sp.Pow) and any(not power.exp.is_Integer for power in e.atoms(sp.Pow)):
        return sp.simplify(e) == 0
    if not all(angle.is_Symbol for angle in angles):
        e = sp.expand_trig(e)
        angles = {f.args[0] for f in e.atoms(sp.sin, sp.cos)}
    half = {angle: sp.Dummy() for angle in angles}
    e = e.subs({sp.sin(a): 2 * x / (1 + x**2) for a, x in half.items()})
    e = e.subs({sp.cos(a): (1 - x**2) / (1 + x**2) for a, x in half.items()})
    return sp.fraction(sp.together(e))[0].expand() == 0


def assert_equal(found, expected):
    """Every entry of the difference is identically zero."""
    difference = sp.Matrix(found) - sp.Matrix(expected)
    assert all(is_zero(e) for e in difference), difference


def assert_same_numbers(form, system, state, names=("acceleration", "constraint_force")):
    """The closed form equals the numbers of the system."""
    solution = system.solve(state)
    for name in names:
        expected = getattr(solution, name)
        size = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(form.at(name, state), expected, atol=TOLERANCE * size)
