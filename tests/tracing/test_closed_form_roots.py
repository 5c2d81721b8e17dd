"""Roots in closed forms: of squares none is left, and what is left is short."""

import numpy as np
import pytest

import zwang as zw

sp = pytest.importorskip("sympy")


def roots(e):
    """Roots and absolute values in an expression."""
    return {p for p in e.atoms(sp.Pow) if p.exp == sp.S.Half} | e.atoms(sp.Abs)


def form_of(force):
    return zw.System(["x", "y"], mass=lambda: np.eye(2), force=force).derive(solve=False)


def test_the_root_of_a_square_is_an_absolute_value():
    form = form_of(lambda q: [np.sqrt(1.0 - np.sin(q[0]) ** 2), 0.0])
    assert form.Q[0] == sp.Abs(sp.cos(sp.Symbol("x")))


def test_a_square_stands_before_the_root_of_the_rest():
    x, y = sp.symbols("x y")
    form = form_of(lambda q: [np.sqrt(q[0] ** 2 * q[1] + q[0] ** 2), 0.0])
    assert form.Q[0] == sp.Abs(x) * sp.sqrt(y + 1)


def test_a_distance_stays_as_it_is():
    x, y = sp.symbols("x y")
    form = form_of(lambda q: [q[0] / np.sqrt(q[0] ** 2 + q[1] ** 2) ** 3, 0.0])
    assert roots(form.Q) <= {sp.sqrt(x**2 + y**2)}
    at = np.array([[0.3, -0.4], [1.0, 2.0]])
    expected = at[:, 0] / np.hypot(at[:, 0], at[:, 1]) ** 3
    assert np.allclose(form.at("Q", at)[:, 0], expected, rtol=1e-14)


def test_a_root_within_a_root_is_shortened_too():
    form = form_of(lambda q: [np.sqrt(q[1] ** 2 + np.sqrt(np.cos(q[0]) ** 2)), 0.0])
    x, y = sp.symbols("x y")
    assert form.Q[0] == sp.sqrt(y**2 + sp.Abs(sp.cos(x)))
