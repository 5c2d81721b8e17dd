"""The stored motions of mechanisms are those the script computes; its closed loop is closed."""

import json

import pytest
import sympy as sp

from reference.make_mechanisms import CASES, FILE, entry, loop

STORED = {motion["name"]: motion for motion in json.loads(FILE.read_text(encoding="utf-8"))}


def test_every_mechanism_is_stored():
    assert list(STORED) == list(CASES)


@pytest.mark.campaign
@pytest.mark.parametrize("name", CASES)
def test_stored_mechanism_is_the_computed_one(name):
    assert entry(name) == STORED[name]


def test_bricards_loop_is_closed_along_the_stored_curve():
    a = sp.Rational(7, 10)
    b = -sp.asin(sp.sin(a) / (1 + sp.sin(a)))
    P, _, R = loop(a, b)
    gap = (P[-1] - sp.Matrix([0, 0, 1])).evalf(30)
    assert max(abs(x) for x in gap) < 1e-25
    assert max(abs(x) for x in (R - sp.eye(3)).evalf(30)) < 1e-25
