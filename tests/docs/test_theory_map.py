"""The theory map is complete: every row has its function and a test that proves it."""

import re
from pathlib import Path

import pytest

import theory_map

THEORY = theory_map.load()
PROOFS = theory_map.proofs()
ROWS = {row.id: row for row in THEORY.rows}


def ids(prefix, first, last):
    return [f"{prefix}-{number:02d}" for number in range(first, last + 1)]


# What the formulations and the diagnosis offer. These rows may not be put off.
FOUNDATION = [
    *ids("UK", 1, 25),
    *ids("US", 1, 27),
    "US-46",
    *ids("UM", 1, 31),
    *ids("BL", 1, 15),
    *ids("BL", 51, 54),
    "XX-01",
    "XX-02",
    "XX-05",
]


def test_every_row_of_the_documents_is_in_the_map_once():
    assert sorted(row.id for row in THEORY.rows) == sorted(THEORY.ids)


@pytest.mark.parametrize("row_id", FOUNDATION)
def test_foundation_rows_are_not_put_off(row_id):
    assert ROWS[row_id].later is None


@pytest.mark.parametrize("row", THEORY.rows, ids=lambda row: row.id)
def test_rows_say_where_and_what(row):
    assert row.where
    assert row.says
    assert row.later is None or row.later in {
        "systems from functions",
        "simulation",
        "mechanisms",
    }


OFFERED = [row.id for row in THEORY.rows if row.later is None]


@pytest.mark.parametrize("row_id", OFFERED)
def test_row_names_functions_that_exist(row_id):
    assert ROWS[row_id].offers
    for name in ROWS[row_id].offers:
        theory_map.resolve(name)  # raises LookupError


def test_functions_of_the_rows_are_in_the_reference():
    pages = sorted((theory_map.ROOT / "docs" / "reference").glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"^::: ([\w.]+)", text, re.MULTILINE))
    names = {theory_map.anchor(name) for row_id in OFFERED for name in ROWS[row_id].offers}
    missing = {n for n in names if not any(n == s or n.startswith(f"{s}.") for s in shown)}
    assert not missing


@pytest.mark.parametrize("row_id", OFFERED)
def test_row_is_proved_by_a_test(row_id):
    assert PROOFS.get(row_id), f'no test carries @pytest.mark.inventory("{row_id}")'


def test_marks_name_known_rows():
    unknown = {row_id: tests for row_id, tests in PROOFS.items() if row_id not in ROWS}
    assert not unknown


def test_names_of_later_rows_exist_too():
    for row in THEORY.rows:
        if row.later is not None:
            for name in row.offers:
                theory_map.resolve(name)


# ---------------------------------------------------------------------------- the script itself


def test_marks_are_found_on_functions_classes_parameters_and_modules(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_some.py").write_text(
        "import pytest\n"
        'pytestmark = [pytest.mark.inventory("A-01")]\n'
        '@pytest.mark.inventory("A-02", "A-03")\n'
        "def test_one(): ...\n"
        '@pytest.mark.inventory("A-04")\n'
        "class TestMany:\n"
        '    @pytest.mark.inventory("A-05")\n'
        "    def test_two(self): ...\n"
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.inventory("A-06"))])\n'
        "def test_three(x): ...\n"
        '@pytest.mark.campaign\n@pytest.mark.inventory("A-07")\n'
        "def test_long(): ...\n"
    )
    assert theory_map.proofs(tests) == {
        "A-01": ["tests/test_some.py"],
        "A-02": ["tests/test_some.py::test_one"],
        "A-03": ["tests/test_some.py::test_one"],
        "A-04": ["tests/test_some.py::TestMany"],
        "A-05": ["tests/test_some.py::TestMany::test_two"],
        "A-06": ["tests/test_some.py::test_three"],
    }


def test_a_mark_with_a_computed_id_is_refused(tmp_path):
    (tmp_path / "test_some.py").write_text(
        'import pytest\n@pytest.mark.inventory("A" + "1")\ndef test_one(): ...\n'
    )
    with pytest.raises(TypeError, match=r"test_some\.py:2"):
        theory_map.proofs(tmp_path)


def test_a_name_that_does_not_exist_is_reported_with_its_missing_part():
    assert theory_map.resolve("pathlib.Path.exists") is Path.exists
    with pytest.raises(LookupError, match="no 'nothing'"):
        theory_map.resolve("pathlib.Path.nothing")
    with pytest.raises(LookupError, match="no module"):
        theory_map.resolve("no_such_package.name")


def test_the_pages_have_a_section_for_each_row():
    text = "\n".join(
        theory_map.markdown(THEORY, source.prefix, PROOFS, {}) for source in THEORY.sources
    )
    for row_id in THEORY.ids:
        assert text.count(f"{{ #{row_id} }}") == 1


@pytest.mark.parametrize(
    ("says", "html"),
    [
        ("M_s⁺ = V2", "M<sub>s</sub>⁺ = V2"),
        ("Q^c_{A,z} and q̈_N", "Q<sup>c</sup><sub>A,z</sub> and q̈<sub>N</sub>"),
        ("M^(−1/2)A, Ma_u", "M<sup>−1/2</sup>A, Ma<sub>u</sub>"),
        ("benchmarks.real_time", "benchmarks.real&#95;time"),
    ],
)
def test_indices_are_below_the_line_and_words_stay(says, html):
    assert theory_map._set(says) == html
