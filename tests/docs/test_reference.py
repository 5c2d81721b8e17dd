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


@pytest.fixture
def docstrings():
    pytest.importorskip("griffe", reason="the docs extra is not installed")
    spec = importlib.util.spec_from_file_location("docstrings", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_signatures_of_dataclasses_have_no_private_fields(docstrings):
    import griffe

    code = (
        "from dataclasses import dataclass\n@dataclass\nclass Motion:\n"
        "    t: float\n    _path: str\n    notes: tuple = ()\n"
    )
    extensions = griffe.load_extensions("dataclasses", docstrings.HouseStyle())
    with griffe.temporary_visited_package("p", {"__init__.py": code}, extensions=extensions) as p:
        names = [parameter.name for parameter in p["Motion"].parameters]
    assert [name for name in names if name != "self"] == ["t", "notes"]


def test_descriptions_go_below_names(docstrings):
    assert docstrings.rewrite(GIVEN) == SHOWN
