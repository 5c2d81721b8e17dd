"""The reference shows docstrings in the form we write them."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "docstrings.py"

GIVEN = """Purpose, in `code`.

    indented : formula
    N(u)   `norm`, `own`  (…)
    ω      omega          (79)

Parameters
----------
M : mass matrix, shape (n, n).
A, b : constraint rows A v̇ = b;
    both or neither.

Raises
------
InputError : a shape is wrong.
"""

SHOWN = """Purpose, in `code`.

    indented : formula
    N(u)   norm, own      (…)
    ω      omega          (79)

Parameters
----------
M
    mass matrix, shape (n, n).
A
    constraint rows A v̇ = b;
    both or neither.
b
    constraint rows A v̇ = b;
    both or neither.

Raises
------
InputError
    a shape is wrong.
"""


def test_descriptions_go_below_names():
    pytest.importorskip("griffe", reason="the docs extra is not installed")
    spec = importlib.util.spec_from_file_location("docstrings", SCRIPT)
    docstrings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(docstrings)
    assert docstrings.rewrite(GIVEN) == SHOWN
